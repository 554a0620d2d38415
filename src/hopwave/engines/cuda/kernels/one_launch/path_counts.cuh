// Path counts along a finished search: sigma(v) = Σ sigma(u) over v's in-neighbours u in the level before.
//
// Vertices come in the order of their levels, each level by descending in-degree, so that long rows come first and rows
// of similar length are side by side. One cooperative launch; one block takes runs of small levels, as in the search.
//
// Counts are scaled: sigma / 2^shift, with one shift per level (common/counts.cuh).
#pragma once
#include "common/counts.cuh"
#include "one_launch/state.cuh"

namespace hopwave::one_launch {

constexpr i64 BLOCK_ROW = 2048;                      // in-arcs from which a whole block adds up one row
constexpr i64 SMALL_ARCS = 4096, SMALL_ROWS = 2048;  // a level with at most this many goes to one block

// What blocks share about the scale of a level.
struct ScalingState {
  u64 greatest[2];  // the greatest count of this level and of the next, as bits, which compare like the numbers
  int overflowed;
  int bound;  // upper bound of log2 of a level's counts
  i64 shift;
};

struct Levels {
  const int *order;   // reached vertices, level after level
  const i64 *starts;  // where each level begins, and the end of the last
  const i64 *arcs;    // per level: its in-arcs
  i64 *shifts;        // per level, for the host
  i64 count;
  i64 degree_bits;  // no vertex has 2^degree_bits in-arcs
  ScalingState *scaling;
};

template <class Offset>
struct Counting {
  const Graph<Offset> &graph;
  const Levels &levels;
  const int *distance;
  double *sigma;
  u32 rank, team;  // this block is number `rank` of the `team` blocks that share these levels

  __device__ __forceinline__ double term(i64 e, int depth) const {
    int u = neighbour(graph.in_neighbours, e);
    return distance[u] == depth - 1 ? sigma[u] : 0.0;
  }

  // Computes the counts of one level. Sums are added in a fixed order, so that counts are the same in every run.
  // Returns the warp's greatest count, as bits.
  __device__ __forceinline__ u64 level(int depth) {
    __shared__ double sums[WARPS];
    const i64 begin = levels.starts[depth], end = levels.starts[depth + 1];
    double greatest = 0.0;
    i64 i = begin + rank;
    for (; i < end; i += team) {  // long rows: one block per row
      int v = levels.order[i];
      i64 e = __ldg(graph.in_offsets + v), last = __ldg(graph.in_offsets + v + 1);
      if (last - e < BLOCK_ROW) break;
      double sum = 0.0;
      for (e += threadIdx.x; e < last; e += THREADS) sum += term(e, depth);
      sum = warp_sum(sum);
      if (lane() == 0) sums[block_warp()] = sum;
      __syncthreads();
      if (threadIdx.x < 32) {
        sum = warp_sum(lane() < WARPS ? sums[lane()] : 0.0);
        if (lane() == 0) sigma[v] = sum;
        greatest = max(greatest, sum);
      }
      __syncthreads();
    }
    // Shorter rows, 32 per warp: a lane adds up each of the shortest alone; the whole warp adds up each of the others.
    for (i64 base = begin + (block_warp() * team + rank) * 32; base < end; base += (i64)team * THREADS) {
      i64 at = base + lane();
      int v = at < end ? levels.order[at] : -1;
      i64 e = 0, last = 0;
      if (v >= 0) e = __ldg(graph.in_offsets + v), last = __ldg(graph.in_offsets + v + 1);
      double sum = 0.0;
      bool done = last - e >= BLOCK_ROW;
      if (last - e <= 16)
        for (i64 k = e; k < last; k++) sum += term(k, depth);
      u32 wide = __ballot_sync(ALL_LANES, last - e > 16 && !done);
      while (wide) {
        int from = __ffs(wide) - 1;
        wide &= wide - 1;
        i64 first = __shfl_sync(ALL_LANES, e, from), stop = __shfl_sync(ALL_LANES, last, from);
        double its_sum = 0.0;
        for (i64 k = first + lane(); k < stop; k += 32) its_sum += term(k, depth);
        its_sum = warp_sum(its_sum);
        if (lane() == from) sum = its_sum;
      }
      if (v >= 0 && !done) sigma[v] = sum, greatest = max(greatest, sum);
    }
    return (u64)__double_as_longlong(warp_max(greatest));
  }

  __device__ __forceinline__ void scale(int depth, i64 shift) {
    const double factor = ldexp(1.0, (int)-shift), least = ldexp(1.0, SMALLEST);
    for (i64 i = levels.starts[depth] + rank * THREADS + threadIdx.x; i < levels.starts[depth + 1];
         i += team * THREADS) {
      double scaled = sigma[levels.order[i]] *= factor;
      if (scaled < least) levels.scaling->overflowed = 1;
    }
  }
};

// One level, by a team of blocks with the barrier `wait`. All threads keep the same bound and shift.
template <class Offset, class Wait>
__device__ void count_level(Counting<Offset> counting, int depth, int &bound, i64 &shift, Wait wait) {
  const Levels &levels = counting.levels;
  ScalingState *scaling = levels.scaling;
  const int bits = (int)levels.degree_bits;
  const bool lead = counting.rank == 0 && threadIdx.x == 0;
  const u64 greatest = counting.level(depth);
  bound += bits;
  if (might_overflow(bound, bits)) {  // the bound is rough: measure
    u64 *most = scaling->greatest + (depth & 1);
    if (lane() == 0 && greatest) atomicMax(most, greatest);
    wait();
    const double found = __longlong_as_double((i64)__ldcg(most));
    const int exponent = found > 0 ? (int)ceil(log2(found)) : 0;
    bound = exponent;
    if (might_overflow(exponent, bits)) {
      bound = scaled_bound(bits);
      counting.scale(depth, exponent - bound);
      shift += exponent - bound;
    }
  }
  if (lead) levels.shifts[depth] = shift, scaling->greatest[~depth & 1] = 0;  // the next level's, which is not in use
  wait();
}

template <class Offset>
__global__ void __launch_bounds__(THREADS, 1)
    count_paths(const __grid_constant__ Graph<Offset> graph, const __grid_constant__ Levels levels, Counters *counters,
                const int *distance, double *sigma) {
  u32 target = 0;
  int bound = 0;
  i64 shift = 0;
  ScalingState *scaling = levels.scaling;
  for (i64 i = blockIdx.x * THREADS + threadIdx.x; i < graph.n; i += gridDim.x * THREADS) sigma[i] = distance[i] == 0;
  if (blockIdx.x == 0 && threadIdx.x == 0) *scaling = ScalingState{}, levels.shifts[0] = 0;
  grid_barrier(counters, target, false, [] {});
  auto small = [&](int depth) {
    return levels.arcs[depth] <= SMALL_ARCS && levels.starts[depth + 1] - levels.starts[depth] <= SMALL_ROWS;
  };
  for (int depth = 1; depth < levels.count;) {
    if (!small(depth)) {
      Counting<Offset> counting{graph, levels, distance, sigma, blockIdx.x, gridDim.x};
      count_level(counting, depth++, bound, shift, [&] { grid_barrier(counters, target, false, [] {}); });
      continue;
    }
    Counting<Offset> counting{graph, levels, distance, sigma, 0, 1};
    while (depth < levels.count && small(depth)) {
      if (blockIdx.x == 0) count_level(counting, depth, bound, shift, [] { __syncthreads(); });
      depth++;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) scaling->bound = bound, scaling->shift = shift;
    grid_barrier(counters, target, blockIdx.x != 0, [] {});
    bound = scaling->bound, shift = scaling->shift;
  }
  __syncthreads();
  if (threadIdx.x == 0 && atomicAdd(&counters->left, 1) == gridDim.x - 1) counters->left = counters->arrived = 0;
}

}  // namespace hopwave::one_launch
