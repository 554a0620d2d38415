// Sparse products y = Aᵀx over the pattern of a graph, for searches and for betweenness. Every thread has several arcs
// in flight: with one at a time, the row of a hub would keep the whole grid waiting.
#pragma once
#include "common/threads.cuh"

namespace hopwave {

constexpr int PRODUCT_IN_FLIGHT = 4;  // arcs that a thread loads at a time; betweenness/turbobc.py has it too

struct Always {
  __device__ __forceinline__ bool operator()(int) const { return true; }
};

// add(u, value(u)) for every u of neighbours[begin, end) for which there(u) holds, in this order, by 1 or WARP lanes.
template <int WIDTH, class Offset, class There, class Value, class Add>
__device__ __forceinline__ void gather(const int *neighbours, Offset begin, Offset end, There there, Value value,
                                       Add add) {
  Offset arc = begin + (WIDTH == 1 ? 0 : (int)lane());
  // Whole groups need no test of the end; with a test, a thread per row takes up to twice as long.
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

// add(arc, u, value(u)), by whole warps, for 32 arcs of which some pass there(u); the other lanes get u = -1 and 0.
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

// Σ x over the lanes up to this one that have the same key, and whether it is the `last` of them. Keys ascend.
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

}  // namespace hopwave
