// Sparse products y = Aᵀx over the pattern of a graph, for searches and for betweenness. Every thread has several arcs
// in flight: with one at a time, the full grid would wait for the row of a hub. TurboBFS and TurboBC share the products
// of path counts at the end of this file.
#pragma once
#include "common/threads.cuh"

namespace hopwave {

constexpr int PRODUCT_IN_FLIGHT = 4;  // arcs that a thread loads at a time; also in betweenness/turbobc.py

struct Always {
  __device__ __forceinline__ bool operator()(int) const { return true; }
};

// Calls add(u, value(u)) for every u of neighbours[begin, end) with there(u), in this order, on 1 or WARP lanes.
template <int WIDTH, class Offset, class There, class Value, class Add>
__device__ __forceinline__ void gather(const int *neighbours, Offset begin, Offset end, There there, Value value,
                                       Add add) {
  Offset arc = begin + (WIDTH == 1 ? 0 : (int)lane());
  // Full groups need no test of the end; with a test, a thread per row takes up to twice as long.
  for (; end - arc > (PRODUCT_IN_FLIGHT - 1) * WIDTH; arc += PRODUCT_IN_FLIGHT * WIDTH) {
    int u[PRODUCT_IN_FLIGHT];
    bool here[PRODUCT_IN_FLIGHT];
    decltype(value(0)) x[PRODUCT_IN_FLIGHT];
    for (int k = 0; k < PRODUCT_IN_FLIGHT; ++k) u[k] = neighbours[arc + k * WIDTH];
    for (int k = 0; k < PRODUCT_IN_FLIGHT; ++k) here[k] = there(u[k]);
    for (int k = 0; k < PRODUCT_IN_FLIGHT; ++k)
      if (here[k]) x[k] = value(u[k]);
    for (int k = 0; k < PRODUCT_IN_FLIGHT; ++k)
      if (here[k]) add(u[k], x[k]);
  }
  for (; arc < end; arc += WIDTH) {
    const int u = neighbours[arc];
    if (there(u)) add(u, value(u));
  }
}

// Full warps call add(arc, u, value(u)) for 32 arcs if there(u) holds for any; the other lanes pass u = -1 and 0.
template <class There, class Value, class Add>
__device__ __forceinline__ void scatter(const int *tails, u64 arcs, There there, Value value, Add add) {
  constexpr u64 TAKEN = PRODUCT_IN_FLIGHT * WARP;
  const u64 warp = thread_number() / WARP, warps = thread_count() / WARP;
  for (u64 first = warp * TAKEN + lane(); first - lane() < arcs; first += warps * TAKEN) {
    int u[PRODUCT_IN_FLIGHT];
    decltype(value(0)) x[PRODUCT_IN_FLIGHT];
    for (int k = 0; k < PRODUCT_IN_FLIGHT; ++k) u[k] = first + k * WARP < arcs ? tails[first + k * WARP] : -1;
    for (int k = 0; k < PRODUCT_IN_FLIGHT; ++k) u[k] = u[k] >= 0 && there(u[k]) ? u[k] : -1;
    for (int k = 0; k < PRODUCT_IN_FLIGHT; ++k) x[k] = u[k] >= 0 ? value(u[k]) : decltype(value(0))(0);
    for (int k = 0; k < PRODUCT_IN_FLIGHT; ++k)
      if (__any_sync(ALL_LANES, u[k] >= 0)) add(first + k * WARP, u[k], x[k]);
  }
}

// Σ x over the lanes up to this one that have the same key; `last`: whether this lane is the last of them. Keys ascend.
template <class T>
__device__ __forceinline__ T run_sum(int key, T x, bool &last) {
  for (int step = 1; step < WARP; step *= 2) {
    const T other = __shfl_up_sync(ALL_LANES, x, step);
    const int its = __shfl_up_sync(ALL_LANES, key, step);
    if (lane() >= step && its == key) x += other;
  }
  const int after = __shfl_down_sync(ALL_LANES, key, 1);
  last = lane() == WARP - 1 || after != key;
  return x;
}

// ---------------------------------------------------------------- ft ← fA: scCOOC, scCSC, veCSC
//
// sigma: path counts, 0 = undiscovered. f: path counts of the frontier, or sigma itself, because all discovered
// neighbours of an undiscovered vertex are in the frontier. In the first level of TurboBC (lines 15-18) the frontier is
// only `source`; otherwise `source` is -1. A level launched ahead returns at once if `before`, the number of vertices
// that the previous level found, is 0; `before` may be null. A sum that exceeds its type sets `overflowed`.

// Row sums have 64 bits; a count stores 32 of them, or reports an overflow.
__device__ inline u64 sum_of(u32) { return 0; }
__device__ inline double sum_of(double) { return 0.0; }

__device__ inline u32 counted(u64 sum, u64 *overflowed) {
  if (sum > 0xffffffffu) *overflowed = 1;
  return (u32)sum;
}
__device__ inline double counted(double sum, u64 *) { return sum; }

// Adds to a scattered sum. Returns whether the sum exceeds 32 bits.
__device__ inline bool carried(u32 *place, u64 term) {
  return term > 0xffffffffu || atomicAdd(place, (u32)term) + (u32)term < (u32)term;
}
__device__ inline bool carried(double *place, double term) { return atomicAdd(place, term), false; }

template <class Count>
__device__ inline Count frontier(const Count *f, int u, int source) {
  return u == source ? Count(1) : f[u];
}

// Returns `sum` plus Σ value(u) over a column's rows u, in every lane; WIDTH: 1 (scCSC), WARP (veCSC).
template <int WIDTH, class Offset, class Sum, class Value>
__device__ inline Sum column_sum(const int *rows, Offset begin, Offset end, Sum sum, Value value) {
  gather<WIDTH>(rows, begin, end, Always(), value, [&](int, decltype(value(0)) term) { sum += term; });
  return WIDTH == 1 ? sum : warp_sum(sum);
}

// One thread per arc: scCOOC. The mask follows the product, so a sum that will be masked out may overflow, too.
template <class Offset, class Count>
__global__ void forward_arcs(const int *rows, const int *columns, u64 arcs, int source, const Count *f, Count *ft,
                             Count *sigma, u64 *overflowed, const u64 *before) {
  if (before && !*before) return;
  if (thread_number() == 0 && source >= 0) sigma[source] = 1;
  const auto count = [&](int u) { return frontier(f, u, source); };
  scatter(rows, arcs, Always(), count, [&](u64 arc, int, Count term) {
    if (!__any_sync(ALL_LANES, term > 0)) return;
    const int v = arc < arcs ? columns[arc] : -1;
    bool last;
    const auto sum = run_sum(v, sum_of(Count()) + term, last);
    if (last && sum > 0 && carried(&ft[v], sum) && sigma[v] == 0) *overflowed = 1;
  });
}

// One thread or one warp per column. `all`: includes discovered columns, for a mask that follows the product.
template <class Offset, class Count, int WIDTH>
__global__ void forward_columns(const Offset *offsets, const int *rows, int n, int source, const Count *f, Count *ft,
                                Count *sigma, u64 *overflowed, const u64 *before, bool all) {
  if (before && !*before) return;
  const bool first = WIDTH == 1 || lane() == 0;
  for (u64 v = thread_number() / WIDTH; v < n; v += thread_count() / WIDTH) {
    if (v == source && first) sigma[v] = 1;
    if (v == source || (sigma[v] != 0 && !all)) continue;
    const auto sum = column_sum<WIDTH>(rows, offsets[v], offsets[v + 1], sum_of(Count()),
                                       [&](int u) { return frontier(f, u, source); });
    if (first && sum > 0) ft[v] = counted(sum, overflowed);
  }
}

}  // namespace hopwave
