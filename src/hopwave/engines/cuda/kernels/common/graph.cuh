// Reading a graph and the state of its vertices.
//
//   n          vertices                       distance   int per vertex, -1 = not visited: the papers' status array
//   depth      of the frontier                parent     int per vertex, or null: no predecessors are wanted
//   offsets    n + 1, where each row starts   bitmaps    bit v % 32 of word v / 32 is vertex v
//
// Memory that a kernel writes is never read through __ldg or __restrict__ const in the same kernel: the read-only cache
// is not kept coherent within a launch.
#pragma once
#include "common/threads.cuh"

namespace hopwave {

// The status of v, which other threads of this launch may be writing: read from memory each time, never kept in a
// register.
__device__ inline int status(const int *distance, int v) { return *(const volatile int *)(distance + v); }

__device__ inline bool has(const u32 *bits, int v) { return bits[v / 32] >> (v % 32) & 1; }

template <class Offset>
__device__ inline u64 degree(const Offset *offsets, int v) {
  return (u64)(offsets[v + 1] - offsets[v]);
}

}  // namespace hopwave
