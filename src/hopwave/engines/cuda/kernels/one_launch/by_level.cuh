// The vertices that a search reached, level by level, and sums over the rows of a level: path counts, and sums of
// masked products (linalg/waves.cuh). Within a level, vertices are sorted by class of in-degree, longest rows first: a
// counting sort in which a warp needs one atomic operation per bin. The order within a bin may differ between runs;
// sums do not, because each sum is over one vertex's own row.
#pragma once
#include "common/counts.cuh"
#include "one_launch/state.cuh"

namespace hopwave::one_launch {

constexpr i64 BLOCK_ROW = 2048, LANE_ROW = 16;       // row length (arcs): minimum for a block, maximum for a lane
constexpr i64 SMALL_ARCS = 4096, SMALL_ROWS = 2048;  // maximum arcs and rows of a level for one block
constexpr int CLASSES = 4;                           // classes of in-degree per level; a bin is one class of one level
constexpr int FEW_BINS = 1024;
static_assert(CLASSES <= WARP && FEW_BINS % CLASSES == 0);

// Classes: rows for a full block, for a warp, for a lane, and short rows for a lane (see sum_level).
__device__ __forceinline__ int class_of(u64 arcs) {
  return arcs >= BLOCK_ROW ? 0 : arcs > LANE_ROW ? 1 : arcs > 4 ? 2 : 3;
}

// Calls visit(level, v, class, arcs) for every level among the 32 vertices of a warp; class -1: in another level.
template <class Offset, class Visit>
__device__ __forceinline__ void for_levels(const Offset *in_offsets, const int *distance, u64 n, Visit visit) {
  for (u64 v = thread_number(); v < (n + WARP - 1) / WARP * WARP; v += thread_count()) {
    const int depth = v < n ? distance[v] : -1;
    const u64 arcs = depth < 0 ? 0 : degree(in_offsets, (int)v);
    for (u32 left = __ballot_sync(ALL_LANES, depth >= 0); left;) {
      const int level = __shfl_sync(ALL_LANES, depth, __ffs(left) - 1);
      const bool here = depth == level;
      left &= ~__ballot_sync(ALL_LANES, here);
      visit(level, (int)v, here ? class_of(arcs) : -1, arcs);
    }
  }
}

__device__ __forceinline__ void count_classes(u32 *bins, int kind) {
  u32 mine = 0;
  for (int c = 0; c < CLASSES; ++c) {
    const u32 found = __popc(__ballot_sync(ALL_LANES, kind == c));
    if (lane() == c) mine = found;
  }
  if (mine) atomicAdd(bins + lane(), mine);
}

// Counts the vertices of every bin and the in-arcs of every level; both arrays are 0 before.
template <class Offset>
__global__ void count_levels(const Offset *in_offsets, const int *distance, u64 n, u64 levels, u32 *bins, u64 *arcs) {
  __shared__ u32 my_bins[FEW_BINS];
  __shared__ u64 my_arcs[FEW_BINS / CLASSES];
  const bool few = levels * CLASSES <= FEW_BINS;
  if (few) {
    for (u64 i = threadIdx.x; i < levels * CLASSES; i += BLOCK) my_bins[i] = 0;
    for (u64 i = threadIdx.x; i < levels; i += BLOCK) my_arcs[i] = 0;
    __syncthreads();
  }
  u32 *to_bins = few ? my_bins : bins;
  u64 *to_arcs = few ? my_arcs : arcs;
  for_levels(in_offsets, distance, n, [=](int level, int, int kind, u64 length) {
    count_classes(to_bins + (u64)level * CLASSES, kind);
    add_warp_sum(to_arcs + level, kind < 0 ? 0 : length);
  });
  if (!few) return;
  __syncthreads();
  for (u64 i = threadIdx.x; i < levels * CLASSES; i += BLOCK)
    if (my_bins[i]) atomicAdd(bins + i, my_bins[i]);
  for (u64 i = threadIdx.x; i < levels; i += BLOCK)
    if (my_arcs[i]) atomicAdd(arcs + i, my_arcs[i]);
}

// bins[i] becomes the first index of bin i, starts[l] of level l; starts[levels] is the end. One block.
template <class Offset>
__global__ void scan_levels(u32 *bins, u64 levels, i64 *starts) {
  u64 before = 0;
  for (u64 turn = 0; turn < levels * CLASSES; turn += BLOCK) {
    const u64 i = turn + threadIdx.x;
    const bool there = i < levels * CLASSES;
    u64 total;
    const u64 begin = before + block_scan(there ? (u64)bins[i] : 0, total);
    if (there) bins[i] = (u32)begin;
    if (there && i % CLASSES == 0) starts[i / CLASSES] = (i64)begin;
    before += total;
  }
  if (threadIdx.x == 0) starts[levels] = (i64)before;
}

template <class Offset>
__global__ void fill_levels(const Offset *in_offsets, const int *distance, u64 n, u64 levels, u32 *bins, int *order) {
  __shared__ u32 next[FEW_BINS];
  const bool few = levels * CLASSES <= FEW_BINS;
  if (few) {  // the block reserves its indices in every bin with one addition
    for (u64 i = threadIdx.x; i < levels * CLASSES; i += BLOCK) next[i] = 0;
    __syncthreads();
    for_levels(in_offsets, distance, n,
               [&](int level, int, int kind, u64) { count_classes(next + level * CLASSES, kind); });
    __syncthreads();
    for (u64 i = threadIdx.x; i < levels * CLASSES; i += BLOCK)
      if (next[i]) next[i] = atomicAdd(bins + i, next[i]);
    __syncthreads();
  }
  u32 *places = few ? next : bins;
  for_levels(in_offsets, distance, n, [=](int level, int v, int kind, u64) {
    for (int c = 0; c < CLASSES; ++c) {
      const u32 those = __ballot_sync(ALL_LANES, kind == c);
      if (!those) continue;
      u32 first = 0;
      if (lane() == 0) first = atomicAdd(places + (u64)level * CLASSES + c, __popc(those));
      first = __shfl_sync(ALL_LANES, first, 0);
      if (kind == c) order[first + __popc(those & lanes_below())] = v;
    }
  });
}

struct ScalingState {
  u64 greatest[2];  // largest count of this level and of the next, as bits, which compare like the numbers
  int overflowed;
  int bound;  // upper bound on log2 of a level's counts
  i64 shift;
};

struct Levels {
  const int *order;   // reached vertices, level by level
  const i64 *starts;  // start of each level, then the end of the last
  const i64 *arcs;    // per level: number of in-arcs
  i64 *shifts;        // per level, for the host; null if counts are not scaled
  i64 count;
  i64 degree_bits;  // no vertex has 2^degree_bits in-arcs
  ScalingState *scaling;

  __device__ __forceinline__ bool small(i64 depth) const {
    return arcs[depth] <= SMALL_ARCS && starts[depth + 1] - starts[depth] <= SMALL_ROWS;
  }
};

// Adds up a level's rows, in an order that depends only on a row's length, on block `rank` of `team`.
//   Total              contains `sum`, `here` (whether it has a term), add(x), and over_warp()
//   add(total, v, e)   adds the term of entry e of the row of v, if it has one
//   put(v, sum)        is called once for every vertex of the level
template <class Total, class Offset, class Add, class Put>
__device__ __forceinline__ void sum_level(const Levels &levels, int depth, const Offset *offsets, u32 rank, u32 team,
                                          Add add, Put put) {
  __shared__ decltype(Total::sum) sums[WARPS];
  __shared__ int filled[WARPS];
  const i64 begin = levels.starts[depth], end = levels.starts[depth + 1];
  for (i64 i = begin + rank; i < end; i += team) {  // long rows: one block per row
    const int v = levels.order[i];
    i64 e = __ldg(offsets + v), last = __ldg(offsets + v + 1);
    if (last - e < BLOCK_ROW) break;
    Total total;
    for (e += threadIdx.x; e < last; e += THREADS) add(total, v, e);
    total.over_warp();
    if (lane() == 0) filled[block_warp()] = total.here;
    if (lane() == 0 && total.here) sums[block_warp()] = total.sum;
    __syncthreads();
    if (threadIdx.x < WARP) {
      Total whole;
      if (lane() < WARPS && filled[lane()]) whole.add(sums[lane()]);
      whole.over_warp();
      if (lane() == 0) put(v, whole.sum);
    }
    __syncthreads();
  }
  // Shorter rows, 32 per warp: one lane adds up each of the shortest; the full warp adds up each of the others.
  for (i64 base = begin + (block_warp() * team + rank) * 32; base < end; base += (i64)team * THREADS) {
    const i64 at = base + lane();
    const int v = at < end ? levels.order[at] : -1;
    i64 e = 0, last = 0;
    if (v >= 0) e = __ldg(offsets + v), last = __ldg(offsets + v + 1);
    const bool done = last - e >= BLOCK_ROW;
    Total total;
    if (last - e <= LANE_ROW)
      for (i64 k = e; k < last; k++) add(total, v, k);
    for (u32 wide = __ballot_sync(ALL_LANES, last - e > LANE_ROW && !done); wide; wide &= wide - 1) {
      const int lead = __ffs(wide) - 1, its = __shfl_sync(ALL_LANES, v, lead);
      const i64 first = __shfl_sync(ALL_LANES, e, lead), stop = __shfl_sync(ALL_LANES, last, lead);
      Total its_total;
      for (i64 k = first + lane(); k < stop; k += 32) add(its_total, its, k);
      its_total.over_warp();
      if (lane() == lead) total = its_total;
    }
    if (v >= 0 && !done) put(v, total.sum);
  }
}

// The last block to finish clears the barrier's counters for the next launch.
__device__ __forceinline__ void leave_grid(Counters *counters) {
  __syncthreads();
  if (threadIdx.x == 0 && atomicAdd(&counters->left, 1) == gridDim.x - 1) counters->left = counters->arrived = 0;
}

// ---- path counts: sigma(v) = Σ sigma(u) over v's in-neighbours u in the previous level, scaled (common/counts.cuh).

struct PathTotal {
  static constexpr bool here = true;
  double sum = 0.0;
  __device__ __forceinline__ void add(double x) { sum += x; }
  __device__ __forceinline__ void over_warp() { sum = warp_sum(sum); }
};

template <class Offset>
struct Counting {
  const Graph<Offset> &graph;
  const Levels &levels;
  const int *distance;
  double *sigma;
  u32 rank, team;

  // Computes the counts of one level. Returns the warp's largest count, as bits.
  __device__ __forceinline__ u64 level(int depth) {
    double greatest = 0.0;
    sum_level<PathTotal>(
        levels, depth, graph.in_offsets, rank, team,
        [&](PathTotal &total, int, i64 e) {
          const int u = neighbour(graph.in_neighbours, e);
          total.add(distance[u] == depth - 1 ? sigma[u] : 0.0);  // branch-free, so that several loads are in flight
        },
        [&](int v, double sum) { sigma[v] = sum, greatest = max(greatest, sum); });
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

// One level, by a team of blocks with the barrier `wait`. Bound and shift are equal in all threads.
template <class Offset, class Wait>
__device__ void count_level(Counting<Offset> counting, int depth, int &bound, i64 &shift, Wait wait) {
  const Levels &levels = counting.levels;
  ScalingState *scaling = levels.scaling;
  const int bits = (int)levels.degree_bits;
  const bool lead = counting.rank == 0 && threadIdx.x == 0;
  const u64 greatest = counting.level(depth);
  bound += bits;
  if (might_overflow(bound, bits)) {  // `bound` is rough: measure the counts
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
  for (int depth = 1; depth < levels.count;) {
    if (!levels.small(depth)) {
      Counting<Offset> counting{graph, levels, distance, sigma, blockIdx.x, gridDim.x};
      count_level(counting, depth++, bound, shift, [&] { grid_barrier(counters, target, false, [] {}); });
      continue;
    }
    Counting<Offset> counting{graph, levels, distance, sigma, 0, 1};
    while (depth < levels.count && levels.small(depth)) {
      if (blockIdx.x == 0) count_level(counting, depth, bound, shift, [] { __syncthreads(); });
      depth++;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) scaling->bound = bound, scaling->shift = shift;
    grid_barrier(counters, target, blockIdx.x != 0, [] {});
    bound = scaling->bound, shift = scaling->shift;
  }
  leave_grid(counters);
}

}  // namespace hopwave::one_launch
