// Betweenness of one source by the whole GPU, in one cooperative launch.
//
//   search   hopwave's own search (one_launch/levels.cuh) gives every vertex its level, in one byte
//   sort     vertices by level, and within a level by the length of their rows (enum RowClass)
//   out      path counts σ, level by level: the level pulls them along its in-arcs, or, if the level before has far
//            fewer arcs, that level pushes them along its out-arcs
//   back     dependencies δ, from the deepest level on: pulled along out-arcs, or pushed along in-arcs
//   scores   total[v] += δ(v), and both sides of the certificate
//
// The result has the same bits in every run: a row's length alone decides how many lanes share it, the pieces of a long
// row are added in order, and pushed sums are exact: path counts are whole numbers below 2^53, shares have 128 bits
// (struct ExactSum). Searches of more than `max_levels` levels are left to the block regime, so counts need no scaling.
//
//   X        σ on the way out, share on the way back (betweenness/brandes.cuh)
//   bits     a bitmap for each of the first MAPPED levels
#pragma once
#include "betweenness/wide_walk.cuh"

namespace hopwave::betweenness {

// Returns Σ x over a block in thread 0, always in the same order.
__device__ __forceinline__ double sum_of_block(double x) {
  __shared__ double of_warp[THREADS / 32];
  x = warp_sum(x);
  if (lane() == 0) of_warp[block_warp()] = x;
  __syncthreads();
  return threadIdx.x < 32 ? warp_sum(lane() < THREADS / 32 ? of_warp[lane()] : 0.0) : 0.0;
}

template <class Offset>
__global__ void __launch_bounds__(THREADS, 1)
    one_source(const __grid_constant__ one_launch::Graph<Offset> graph, const __grid_constant__ one_launch::Work work,
               const __grid_constant__ Wide wide, double *total, const u8 *targets, Neighbours<Offset> back_neighbours,
               i64 source, i64 depth_limit, i64 endpoints, i64 squares, i64 edges, double alpha, double beta) {
  __shared__ u32 buckets[2][BUCKETS];
  __shared__ Starts starts;
  __shared__ u32 arrivals;
  Shared *const shared = wide.shared;
  const One one{total, targets, edges != 0};
  u8 *level = wide.level;
  asm volatile("" : "+l"(level));  // else NVRTC 13 mistakes a struct with the same first field for `wide` itself
  one_launch::all_levels(graph, work, ByteLevels{(int)source, level, shared}, 1, (int)depth_limit, alpha, beta);
  if (threadIdx.x == 0) arrivals = 0;
  auto wait = [&] { barrier(&shared->arrived, arrivals, gridDim.x, [] {}, [] {}); };
  // Every block calls this at its end with its own sum; the last one reports to the host.
  auto leave = [&](double found, int depth, bool too_deep) {
    __shared__ bool last;
    found = sum_of_block(found);
    if (threadIdx.x == 0) {
      wide.parts[blockIdx.x] = found;
      __threadfence();
      last = atomicAdd(&shared->left, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    if (threadIdx.x < 32) {
      found = 0.0;
      for (u32 i = lane(); i < gridDim.x; i += 32) found += __ldcg(wide.parts + i);
      found = warp_sum(found);
      if (lane() == 0) {
        *wide.told = {found, __ldcg(&shared->due), __ldcg(&shared->reached), depth, too_deep};
        shared->arrived = shared->left = 0, shared->due = shared->reached = 0;
      }
    }
    for (u32 i = threadIdx.x; i < 2 * BUCKETS; i += THREADS) shared->counts[i / BUCKETS][i % BUCKETS] = 0;
  };

  for (u32 i = threadIdx.x; i < 2 * BUCKETS; i += THREADS) buckets[i / BUCKETS][i % BUCKETS] = 0;
  wait();
  const int depth = shared->depth - (shared->found == 0 && shared->depth > 0);
  if (depth > wide.max_levels) {
    leave(0.0, depth, true);
    return;
  }

  // Sort: count, then place.
  const int lists = wide.directed ? 2 : 1, mapped = min(depth + 1, MAPPED);
  Sorting<Offset> sorting{graph, wide, buckets};
  u64 due = 0;
  u32 reached = 0;
  sorting.vertices([&](i64 first, int level) {
    u32 word = 0;
    for (int l = 0; l < mapped; ++l) {
      const u32 those = __ballot_sync(ALL_LANES, level == l);
      if (lane() == l) word = those;
    }
    if (lane() < mapped) wide.bits[lane() * wide.words + first / 32] = word;
    const i64 v = first + lane();
    if (level != UNREACHED) wide.X[v] = v == source;
    if (level != UNREACHED && level && (!targets || targets[v])) due += edges ? level : level - 1, ++reached;
    for (int which = 0; which < lists; ++which) sorting.count(which, v, level);
  });
  const one_launch::BlockSums all = one_launch::block_sum(due, reached, 0);
  if (threadIdx.x == 0 && all.b) atomicAdd(&shared->due, all.a), atomicAdd(&shared->reached, (u64)all.b);
  __syncthreads();
  for (u32 i = threadIdx.x; i < lists * BUCKETS; i += THREADS) {
    u32 &bucket = buckets[i / BUCKETS][i % BUCKETS];
    if (bucket) bucket = atomicAdd(&shared->counts[i / BUCKETS][i % BUCKETS], bucket);
  }
  wait();
  if (block_warp() < 2 * lists) {
    const int which = block_warp() / 2;
    if (block_warp() % 2) sum_counts(shared->counts[which] + LISTED, LEVELS, starts.pieces[which]);
    else sum_counts(shared->counts[which], LISTED, starts.listed[which]);
  }
  __syncthreads();
  for (u32 i = threadIdx.x; i < lists * BUCKETS; i += THREADS) {
    const u32 which = i / BUCKETS, at = i % BUCKETS;
    buckets[which][at] += at < LISTED ? starts.listed[which][at] : starts.pieces[which][at - LISTED];
  }
  __syncthreads();
  sorting.vertices([&](i64 first, int level) {
    for (int which = 0; which < lists; ++which) sorting.place(which, first + lane(), level);
  });
  wait();

  const int out_rows = lists - 1;  // in an undirected graph, out-rows are in-rows
  auto map_of = [&](int level) { return level < MAPPED ? wide.bits + level * wide.words : nullptr; };

  for (int d = 1; d <= depth; ++d) {
    const Stretch rows(wide, starts, 0, d), before(wide, starts, out_rows, d - 1);
    if (d * wide.degree_bits <= EXACT_BITS && before.arcs() * wide.push_cost < rows.arcs()) {
      Walk<Offset, PUSH_OUT>{graph.offsets, graph.neighbours, wide, one, map_of(d), d}.level(before);
    } else {
      Walk<Offset, PULL_OUT>{graph.in_offsets, graph.in_neighbours, wide, one, map_of(d - 1), d - 1}.level(rows);
    }
    wait();
  }
  for (int d = depth; d >= (edges ? 0 : 1); --d) {
    const Walk<Offset, PULL_BACK> walk{graph.offsets, back_neighbours, wide, one, map_of(d + 1), d + 1};
    const Stretch rows(wide, starts, out_rows, d);
    if (d == depth) {  // vertices of the deepest level have no successors
      each_vertex(rows, [&](int v) { walk.finish(v, 0.0, wide.X[v]); });
      wait();
      continue;
    }
    const Stretch after(wide, starts, 0, d + 1);
    if (edges || after.arcs() * wide.push_back_cost >= rows.arcs()) {
      walk.level(rows);
      wait();
      continue;
    }
    // The level after pushes, if the exponents of its shares differ little enough.
    each_vertex(rows, [&](int v) { wide.sums[2 * (i64)v] = wide.sums[2 * (i64)v + 1] = 0; });
    u32 highest = 0, lowest = 0;  // lowest: as 2047 - exponent
    each_vertex(after, [&](int v) {
      const double share = wide.X[v];
      if (share == 0.0) return;
      highest = max(highest, ExactSum::exponent(share)), lowest = max(lowest, 2047 - ExactSum::exponent(share));
    });
    for (int step = 16; step; step /= 2) {
      highest = max(highest, __shfl_xor_sync(ALL_LANES, highest, step));
      lowest = max(lowest, __shfl_xor_sync(ALL_LANES, lowest, step));
    }
    if (lane() == 0 && highest) atomicMax(shared->exponents, highest), atomicMax(shared->exponents + 1, lowest);
    wait();
    const int greatest = __ldcg(shared->exponents), least = 2047 - __ldcg(shared->exponents + 1);
    const bool exact = greatest - least <= ExactSum::SPREAD;
    if (exact) {
      Walk<Offset, PUSH_BACK>{graph.in_offsets, graph.in_neighbours, wide, one, map_of(d), d, greatest}.level(after);
    } else {
      walk.level(rows);
    }
    wait();
    if (exact)
      each_vertex(rows, [&](int v) { walk.finish(v, ExactSum{wide.sums + 2 * (i64)v, greatest}.value(), wide.X[v]); });
    if (blockIdx.x == 0 && threadIdx.x == 0) shared->exponents[0] = shared->exponents[1] = 0;
    wait();
  }

  // Scores, and both sides of the certificate.
  double found = 0.0;
  const double ends = (double)__ldcg(&shared->reached);
  for (i64 v = signed_thread_number(); v < graph.n; v += signed_thread_count()) {
    double x = 0.0;
    if (wide.level[v] != UNREACHED) {
      if (edges || v != source) x = wide.delta[v];
      found += x;
      if (endpoints) x += v == source ? ends : weight(targets, (int)v);
    }
    if (edges) continue;
    total[v] += x;
    if (squares) total[graph.n + v] += x * x;
  }
  leave(found, depth, false);
}

}  // namespace hopwave::betweenness
