// Path counts along a search that is done: sigma(v) is the sum of sigma(u) over v's in-neighbours u one level before.
//
// Vertices come in the order of their levels, each level by descending in-degree, so that long rows stand first and rows
// of like length side by side. One cooperative launch; runs of small levels are one block's, as in the search.
//
// Counts are kept as sigma / 2^shift with one shift a level. A level is scaled down when the next one might pass
// 2^LARGEST, and by no more than it must: what is below 2^SMALLEST afterwards would lose its ratio to its neighbours.
#pragma once
#include "one_launch/state.cuh"

constexpr int LARGEST = 1000, SMALLEST = -900;
constexpr i64 BLOCK_ROW = 2048;                         // in-arcs from which a whole block adds up one row
constexpr i64 SMALL_ARCS = 4096, SMALL_ROWS = 2048;     // a level with no more is one block's

struct Tally {
  u64 greatest[2];      // of a level's counts, as bits: they order as the numbers do
  int overflowed;
  int bound;            // log2 of what a level's counts may be at most
  i64 shift;
};

struct Levels {
  const int *order;     // reached vertices, level after level
  const i64 *starts;    // where each level begins; one more than there are levels
  const i64 *arcs;      // in-arcs of each level
  i64 *shifts;          // of each level, for whoever reads the counts
  i64 count;
  i64 degree_bits;
  Tally *tally;
};

__device__ __forceinline__ double warp_sum(double x) {
  for (int step = 16; step; step >>= 1) x += __shfl_xor_sync(ALL, x, step);
  return x;
}

template <class Offset>
struct Counting {
  const Graph<Offset> &graph;
  const Levels &levels;
  const int *distance;
  double *sigma;
  u32 rank, team;       // which of how many blocks share these levels

  __device__ __forceinline__ double term(i64 e, int depth) const {
    int u = __ldg(graph.in_neighbours + e);
    return distance[u] == depth - 1 ? sigma[u] : 0.0;
  }

  // Rows of one level. Sums are always made in the same way, so that a count never depends on who was faster.
  __device__ __forceinline__ u64 level(int depth) {
    __shared__ double parts[WARPS];
    const i64 begin = levels.starts[depth], end = levels.starts[depth + 1];
    double greatest = 0.0;
    i64 i = begin + rank;
    for (; i < end; i += team) {  // long rows, a block each
      int v = levels.order[i];
      i64 e = __ldg(graph.in_offsets + v), last = __ldg(graph.in_offsets + v + 1);
      if (last - e < BLOCK_ROW) break;
      double sum = 0.0;
      for (e += threadIdx.x; e < last; e += BLOCK) sum += term(e, depth);
      sum = warp_sum(sum);
      if (lane() == 0) parts[block_warp()] = sum;
      __syncthreads();
      if (threadIdx.x < 32) {
        sum = warp_sum(lane() < WARPS ? parts[lane()] : 0.0);
        if (lane() == 0) sigma[v] = sum;
        greatest = max(greatest, sum);
      }
      __syncthreads();
    }
    // Shorter ones, 32 to a warp: a lane adds up the shortest alone, the warp the others together.
    for (i64 base = begin + (block_warp() * team + rank) * 32; base < end; base += (i64)team * BLOCK) {
      i64 at = base + lane();
      int v = at < end ? levels.order[at] : -1;
      i64 e = 0, last = 0;
      if (v >= 0) e = __ldg(graph.in_offsets + v), last = __ldg(graph.in_offsets + v + 1);
      double sum = 0.0;
      bool done = last - e >= BLOCK_ROW;
      if (last - e <= 16)
        for (i64 k = e; k < last; k++) sum += term(k, depth);
      u32 wide = __ballot_sync(ALL, last - e > 16 && !done);
      while (wide) {
        int from = __ffs(wide) - 1;
        wide &= wide - 1;
        i64 first = __shfl_sync(ALL, e, from), stop = __shfl_sync(ALL, last, from);
        double part = 0.0;
        for (i64 k = first + lane(); k < stop; k += 32) part += term(k, depth);
        part = warp_sum(part);
        if (lane() == from) sum = part;
      }
      if (v >= 0 && !done) sigma[v] = sum, greatest = max(greatest, sum);
    }
    for (int step = 16; step; step >>= 1) greatest = max(greatest, __shfl_xor_sync(ALL, greatest, step));
    return (u64)__double_as_longlong(greatest);
  }

  __device__ __forceinline__ void scale(int depth, i64 shift) {
    const double factor = ldexp(1.0, (int)-shift), least = ldexp(1.0, SMALLEST);
    for (i64 i = levels.starts[depth] + rank * BLOCK + threadIdx.x; i < levels.starts[depth + 1]; i += team * BLOCK) {
      double scaled = sigma[levels.order[i]] *= factor;
      if (scaled < least) levels.tally->overflowed = 1;
    }
  }
};

// One level by a team of blocks whose barrier is `wait`; every thread keeps the same bound and shift.
template <class Offset, class Wait>
__device__ void count_level(Counting<Offset> counting, int depth, int &bound, i64 &shift, Wait wait) {
  const Levels &levels = counting.levels;
  Tally *tally = levels.tally;
  const int bits = (int)levels.degree_bits;
  const bool lead = counting.rank == 0 && threadIdx.x == 0;
  const u64 greatest = counting.level(depth);
  bound += bits;
  if (bound + bits > LARGEST) {  // the bound is rough: look
    u64 *most = tally->greatest + (depth & 1);
    if (lane() == 0 && greatest) atomicMax(most, greatest);
    wait();
    const double found = __longlong_as_double((i64)__ldcg(most));
    const int exponent = found > 0 ? (int)ceil(log2(found)) : 0;
    bound = exponent;
    if (exponent + bits > LARGEST) {
      bound = max(LARGEST / 2, LARGEST - 64 * bits);  // some way down, so that it is not needed at every level
      counting.scale(depth, exponent - bound);
      shift += exponent - bound;
    }
  }
  if (lead) levels.shifts[depth] = shift, tally->greatest[~depth & 1] = 0;  // the next level's: nobody's just now
  wait();
}

template <class Offset>
__global__ void __launch_bounds__(BLOCK, 1)
count_paths(const __grid_constant__ Graph<Offset> graph, const __grid_constant__ Levels levels, Counters *counters,
            const int *distance, double *sigma) {
  u32 target = 0;
  int bound = 0;
  i64 shift = 0;
  Tally *tally = levels.tally;
  for (i64 i = blockIdx.x * BLOCK + threadIdx.x; i < graph.n; i += gridDim.x * BLOCK) sigma[i] = distance[i] == 0;
  if (blockIdx.x == 0 && threadIdx.x == 0) *tally = Tally{}, levels.shifts[0] = 0;
  meet(counters, target, false, [] {});
  auto small = [&](int depth) {
    return levels.arcs[depth] <= SMALL_ARCS && levels.starts[depth + 1] - levels.starts[depth] <= SMALL_ROWS;
  };
  for (int depth = 1; depth < levels.count;) {
    if (!small(depth)) {
      Counting<Offset> counting{graph, levels, distance, sigma, blockIdx.x, gridDim.x};
      count_level(counting, depth++, bound, shift, [&] { meet(counters, target, false, [] {}); });
      continue;
    }
    Counting<Offset> counting{graph, levels, distance, sigma, 0, 1};
    while (depth < levels.count && small(depth)) {
      if (blockIdx.x == 0) count_level(counting, depth, bound, shift, [] { __syncthreads(); });
      depth++;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) tally->bound = bound, tally->shift = shift;
    meet(counters, target, blockIdx.x != 0, [] {});
    bound = tally->bound, shift = tally->shift;
  }
  __syncthreads();
  if (threadIdx.x == 0 && atomicAdd(&counters->left, 1) == gridDim.x - 1) counters->left = counters->arrived = 0;
}
