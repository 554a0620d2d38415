// Two forms of adjacency rows. Plain rows store one int per arc. Packed rows store groups of 32 arcs with as few bits
// per arc as the group needs. Unsigned offsets select packed rows.
//
// Packed: the arcs of all rows, end to end, are cut into groups of 32. Each arc has `width` bits, its difference from
// the group's smallest neighbour, `base`. Any arc can be read on its own: first the head of its group, then the one or
// two words with its bits. Groups form blocks of 65536 with contiguous words, on the GPU or in host memory.
//
//   heads, per block   address of the block's words (64 bits), then a head for each of its groups
//   head               63 ... 32   31 ... 5                            4 ... 0
//                      base        first word, counted in the block    width, 1 ... 31
#pragma once
#include "common/threads.cuh"

namespace hopwave {

struct Packed {
  u64 head;
};
constexpr u32 GROUP_BITS = 5, BLOCK_BITS = 16, WIDTH_BITS = 5, BASE_BIT = 32;
constexpr u32 BLOCK_GROUPS = 1u << BLOCK_BITS, HEADS = BLOCK_GROUPS + 1;  // groups and heads per block

template <class Offset>
struct RowsOf {
  using Neighbours = const int *;
};
template <>
struct RowsOf<u64> {
  using Neighbours = const Packed *;
};
template <class Offset>
using Neighbours = typename RowsOf<Offset>::Neighbours;

// Arc e + k. Plain rows add k to an address: a 32-bit sum would be sign-extended once for every k.
template <class Id, class Offset>
__device__ __forceinline__ Id neighbour(const Id *rows, Offset e, int k = 0) {
  return __ldg(rows + e + k);
}
template <class Offset>
__device__ __forceinline__ int neighbour(const Packed *rows, Offset e, int k = 0) {
  const u64 group = (u64)(e += k) >> GROUP_BITS;
  const u64 *block = &rows->head + (group >> BLOCK_BITS) * HEADS;
  const u64 head = __ldg(block + 1 + (group & (BLOCK_GROUPS - 1)));
  const u32 *words = (const u32 *)__ldg(block) + ((u32)head >> WIDTH_BITS);
  const u32 width = (u32)head & 31, bit = ((u32)e & 31) * width, shift = bit & 31;
  const u32 low = __ldg(words + (bit >> 5)), high = __ldg(words + (bit >> 5) + (shift + width > 32));
  return (int)((u32)(head >> BASE_BIT) + (__funnelshift_r(low, high, shift) & ((1u << width) - 1)));
}

// The neighbours starting at arc `begin`; each is not read again soon.
struct PackedStretch {
  const Packed *rows;
  i64 begin;
};
__device__ __forceinline__ const int *stretch(const int *rows, i64 begin) { return rows + begin; }
__device__ __forceinline__ PackedStretch stretch(const Packed *rows, i64 begin) { return {rows, begin}; }
__device__ __forceinline__ int neighbour_once(const int *from, int i) { return __ldcs(from + i); }
__device__ __forceinline__ int neighbour_once(PackedStretch from, int i) {
  return neighbour(from.rows, from.begin + i);
}

// ---- All arcs of a graph with their rows, and work lists of rows, both in shares of bounded length, despite hubs.

template <class Offset>
__device__ inline int row_of_arc(const Offset *offsets, int low, int high, u64 arc) {
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    if ((u64)offsets[middle] <= arc) low = middle;
    else high = middle;
  }
  return low;
}

// Calls visit(row, arc) for all arcs of n rows. A warp processes consecutive arcs.
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

// Calls visit(v, arc) for the arcs of a piece; the full warp calls this function.
template <class Offset, class Visit>
__device__ inline void each_arc_of(u64 entry, const Offset *offsets, Visit visit) {
  const int v = (int)(entry >> 32);
  const u64 begin = (u64)offsets[v] + (entry & 0xffffffffu) * ROW_PIECE;
  const u64 end = min((u64)offsets[v + 1], begin + ROW_PIECE);
  for (u64 arc = begin + lane(); arc < end; arc += WARP) visit(v, arc);
}

}  // namespace hopwave
