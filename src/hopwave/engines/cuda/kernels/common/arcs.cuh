// All arcs of a graph with the rows they are in, and work lists of rows, both in shares that no hub makes long.
#pragma once
#include "common/threads.cuh"

namespace hopwave {

// The row of [low, high) that holds an arc.
template <class Offset>
__device__ inline int row_of_arc(const Offset *offsets, int low, int high, u64 arc) {
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    if ((u64)offsets[middle] <= arc) low = middle;
    else high = middle;
  }
  return low;
}

// visit(row, arc) for all arcs of n rows. A warp takes some consecutive arcs at a time.
template <class Offset, class Visit>
__device__ inline void each_arc(const Offset *offsets, int n, u64 arcs, Visit visit) {
  constexpr u64 SHARE = 8 * WARP;
  for (u64 begin = thread_number() / WARP * SHARE; begin < arcs; begin += thread_count() / WARP * SHARE) {
    const u64 end = min(arcs, begin + SHARE);
    const int first = row_of_arc(offsets, 0, n, begin), last = row_of_arc(offsets, first, n, end - 1);
    for (u64 arc = begin + lane(); arc < end; arc += WARP) visit(row_of_arc(offsets, first, last + 1, arc), arc);
  }
}

// An entry of a work list is a piece of a row: up to ROW_PIECE arcs for one warp.
constexpr u64 ROW_PIECE = 512;

__device__ inline u32 pieces_of(u64 arcs) { return (u32)((arcs + ROW_PIECE - 1) / ROW_PIECE); }
__device__ inline u64 piece(int v, u32 number) { return (u64)v << 32 | number; }

// visit(v, arc) for the arcs of a piece; the whole warp calls it.
template <class Offset, class Visit>
__device__ inline void each_arc_of(u64 entry, const Offset *offsets, Visit visit) {
  const int v = (int)(entry >> 32);
  const u64 begin = (u64)offsets[v] + (entry & 0xffffffffu) * ROW_PIECE;
  const u64 end = min((u64)offsets[v + 1], begin + ROW_PIECE);
  for (u64 arc = begin + lane(); arc < end; arc += WARP) visit(v, arc);
}

}  // namespace hopwave
