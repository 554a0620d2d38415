// Sums along known levels, for semirings that need every term or the matrix's values: the value of a place is ⊕ over
// the entries of its row whose column is one level up. One cooperative launch, after linalg/waves.cuh has found the
// levels over any_pair: the levels do not depend on the semiring.
//
//   bins     2 · level: places of the level with long rows; 2 · level + 1: places with shorter rows
//   starts   where each bin begins in `order`, and the end of the last
//
// Each row's terms are added in an order that depends only on its length: sums are the same in every run.
#pragma once
#include "linalg/products.cuh"
#include "one_launch/state.cuh"

namespace hopwave::linalg {

using one_launch::Counters, one_launch::grid_barrier, one_launch::grid_warp, one_launch::grid_warps;
using one_launch::THREADS, one_launch::WARPS;

constexpr i64 LONG_ROW = 2048;     // entries from which a whole block adds up one row
constexpr i64 LANE_ROW = 16;       // entries up to which a single lane adds up one row
constexpr u64 SMALL_LEVEL = 4096;  // entries up to which one block takes a level, if it has at most half as many rows

struct Order {
  int *order;          // places by level
  u32 *starts, *next;  // where each bin begins; where its next place goes
  u64 *entries;        // per level: entries of its rows
};

// Adds the lanes' rows to the counts of their bins, and their lengths to `entries` of their levels (if not null).
// Returns the lane's own place in its bin.
__device__ __forceinline__ u32 count_bins(bool mine, u32 bin, u32 *counts, u64 *entries, u64 length) {
  u32 place = 0;
  for (u32 left = __ballot_sync(ALL_LANES, mine); left;) {
    const int lead = __ffs(left) - 1;
    const u32 its = __shfl_sync(ALL_LANES, bin, lead), same = __ballot_sync(ALL_LANES, mine && bin == its);
    const u64 sum = entries ? warp_sum(same >> lane() & 1 ? length : 0) : 0;
    u32 first = 0;
    if (lane() == lead) {
      first = atomicAdd(counts + its, (u32)__popc(same));
      if (entries) atomicAdd(entries + its / 2, sum);
    }
    first = __shfl_sync(ALL_LANES, first, lead);
    if (same >> lane() & 1) place = first + __popc(same & lanes_below());
    left &= ~same;
  }
  return place;
}

// Turns the counts of bins into their beginnings. One block calls this.
__device__ __forceinline__ void begin_bins(const Order &by, u32 bins) {
  __shared__ u32 ends[WARPS];
  u32 before = 0;
  for (u32 base = 0; base <= bins; base += THREADS) {
    const u32 i = base + threadIdx.x, count = i < bins ? by.starts[i] : 0;
    u32 end = inclusive_scan(count);
    if (lane() == 31) ends[block_warp()] = end;
    __syncthreads();
    u32 all = before;
    for (int warp = 0; warp < WARPS; warp++) {
      if (warp == block_warp()) end += all;
      all += ends[warp];
    }
    if (i <= bins) by.starts[i] = by.next[i] = end - count;
    before = all;
    __syncthreads();
  }
}

template <class Ring, class Offset>
struct Summing {
  using Sum = typename Ring::Sum;
  using Total = linalg::Total<Ring>;
  const Offset *offsets;
  const int *indices;
  const typename Ring::A *a;
  const int *levels;
  const bool *present;
  Sum *values;
  const Order &by;
  u32 rank, team;  // this block is number `rank` of the `team` blocks that share these levels

  __device__ __forceinline__ void add(Total &total, int v, i64 e, int before) const {
    const int u = __ldg(indices + e);
    if (__ldg(levels + u) != before || !present[u]) return;
    const typename Ring::A left = Ring::reads_a ? a[e] : (typename Ring::A)1;
    total.add(Ring::term(left, Ring::reads_x ? values[u] : (Sum)1, v, u, 0));
  }

  __device__ __forceinline__ void level(u32 depth) const {
    __shared__ Sum sums[WARPS];
    __shared__ int filled[WARPS];
    const u32 begin = by.starts[2 * depth], middle = by.starts[2 * depth + 1], end = by.starts[2 * depth + 2];
    for (u32 i = begin + rank; i < middle; i += team) {  // long rows: one block per row
      const int v = by.order[i];
      const i64 last = __ldg(offsets + v + 1);
      Total total;
      for (i64 e = __ldg(offsets + v) + threadIdx.x; e < last; e += THREADS) add(total, v, e, (int)depth - 1);
      total.over_warp();
      if (lane() == 0) filled[block_warp()] = total.here;
      if (lane() == 0 && total.here) sums[block_warp()] = total.sum;
      __syncthreads();
      if (threadIdx.x == 0) {
        Total whole;
        for (int warp = 0; warp < WARPS; warp++)
          if (filled[warp]) whole.add(sums[warp]);
        values[v] = whole.sum;
      }
      __syncthreads();
    }
    // Shorter rows, 32 per warp: a lane adds up each of the shortest alone; the whole warp adds up each of the others.
    for (u32 base = middle + (block_warp() * team + rank) * 32; base < end; base += team * THREADS) {
      const u32 i = base + lane();
      const int v = i < end ? by.order[i] : -1;
      i64 e = 0, last = 0;
      if (v >= 0) e = __ldg(offsets + v), last = __ldg(offsets + v + 1);
      Total total;
      if (last - e <= LANE_ROW)
        for (i64 k = e; k < last; k++) add(total, v, k, (int)depth - 1);
      for (u32 wide = __ballot_sync(ALL_LANES, last - e > LANE_ROW); wide; wide &= wide - 1) {
        const int lead = __ffs(wide) - 1, its = __shfl_sync(ALL_LANES, v, lead);
        const i64 first = __shfl_sync(ALL_LANES, e, lead), stop = __shfl_sync(ALL_LANES, last, lead);
        Total its_total;
        for (i64 k = first + lane(); k < stop; k += 32) add(its_total, its, k, (int)depth - 1);
        its_total.over_warp();
        if (lane() == lead) total = its_total;
      }
      if (v >= 0) values[v] = total.sum;
    }
  }
};

// host[1] is the number of products, which linalg/waves.cuh has written there.
template <class Ring, class Offset>
__global__ void __launch_bounds__(THREADS, HOPWAVE_BLOCKS_PER_SM)
    sum_levels(const Offset *offsets, const int *indices, const typename Ring::A *a, i64 n, const int *levels,
               const bool *present, typename Ring::Sum *values, const int *places, const typename Ring::Sum *x,
               int only, typename Ring::Sum only_value, int count, int *order, u32 *starts, u32 *next, u64 *entries,
               Counters *counters, const u64 *host) {
  __shared__ u32 target, products;
  const Order by{order, starts, next, entries};
  if (threadIdx.x == 0)
    target = 0, products = static_cast<u32>(*(const volatile u64 *)(host + 1));  // one read of host memory per block
  __syncthreads();
  const u32 deepest = products, bins = 2 * (deepest + 1);
  const u32 threads = gridDim.x * THREADS, me = blockIdx.x * THREADS + threadIdx.x;
  auto wait = [&](bool patient) { grid_barrier(counters, target, patient, [] {}); };

  for (u32 i = me; i <= bins; i += threads) starts[i] = 0;
  for (u32 i = me; i <= deepest; i += threads) entries[i] = 0;
  for (u32 i = me; i < count; i += threads) values[places ? places[i] : only] = places ? x[i] : only_value;
  wait(false);
  auto each = [&](bool counts) {
    for (i64 base = (i64)grid_warp() * 32; base < n; base += (i64)grid_warps() * 32) {
      const i64 v = base + lane();
      const int depth = v < n && present[v] ? levels[v] : 0;
      const u64 length = depth ? (u64)(__ldg(offsets + v + 1) - __ldg(offsets + v)) : 0;
      const u32 bin = 2 * depth + ((i64)length < LONG_ROW);
      const u32 place = count_bins(depth, bin, counts ? starts : next, counts ? entries : nullptr, length);
      if (depth && !counts) order[place] = (int)v;
    }
  };
  each(true);
  wait(false);
  if (blockIdx.x == 0) begin_bins(by, bins);
  wait(blockIdx.x != 0);
  each(false);
  wait(false);

  auto small = [&](u32 depth) {
    return entries[depth] <= SMALL_LEVEL && starts[2 * depth + 2] - starts[2 * depth] <= SMALL_LEVEL / 2;
  };
  for (u32 depth = 1; depth <= deepest;) {
    if (!small(depth)) {
      Summing<Ring, Offset>{offsets, indices, a, levels, present, values, by, blockIdx.x, gridDim.x}.level(depth++);
      wait(false);
      continue;
    }
    const Summing<Ring, Offset> alone{offsets, indices, a, levels, present, values, by, 0, 1};
    for (; depth <= deepest && small(depth); depth++) {
      if (blockIdx.x == 0) {
        alone.level(depth);
        __syncthreads();
      }
    }
    wait(blockIdx.x != 0);
  }
  __syncthreads();
  if (threadIdx.x == 0 && atomicAdd(&counters->left, 1) == gridDim.x - 1) counters->left = counters->arrived = 0;
}

}  // namespace hopwave::linalg
