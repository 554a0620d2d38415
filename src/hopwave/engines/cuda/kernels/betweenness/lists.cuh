// Neighbour lists cut into chunks for batches (batch.cuh): chunks of at most `most` arcs, the longest first.
//
// A chunk's key sorts it by descending length, then by vertex, then by its place in the list; everything else about the
// chunk follows from the key.
#pragma once
#include "betweenness/batch.cuh"
#include "common/graph.cuh"
#include "common/scan.cuh"

namespace hopwave::betweenness {

constexpr int PLACE_BITS = 23, VERTEX_BITS = 31;  // the other 10 bits are the length

// An empty list is a chunk too: on the way back its vertex must still get its δ.
template <class Offset>
__device__ __forceinline__ u64 pieces(const Offset *offsets, u64 v, int most) {
  return max((u64)1, (degree(offsets, (int)v) + most - 1) / most);
}

// For a list that is cut: its number of chunks (one slot each) in the upper bits, 1 in the lower bits; 0 for any other
// list. Prefix sums of these numbers give each cut list its number and its first slot. They also give where chunks
// begin, since every other list is one chunk.
template <class Offset>
__device__ __forceinline__ u64 slots_and_list(const Offset *offsets, u64 v, int most) {
  const u64 count = pieces(offsets, v, most);
  return count > 1 ? count << 32 | 1 : 0;
}

template <class Offset>
__global__ void sum_pieces(const Offset *offsets, u64 n, int most, u64 *sums) {
  sum_tiles(n, sums, [=](u64 v) { return slots_and_list(offsets, v, most); });
}
template <class Offset>
__global__ void scan_pieces(u64 *sums, u64 tiles, u64 *total) {  // one block
  const u64 all = scan_in_place(sums, tiles);
  if (threadIdx.x == 0) *total = all;
}

// Writes the keys of all chunks, the lists that were cut, and the first slot of each.
template <class Offset>
__global__ void write_pieces(const Offset *offsets, u64 n, int most, const u64 *sums, u64 *keys, int *slots,
                             Long *longs) {
  write_tiles(
      n, sums, [=](u64 v) { return slots_and_list(offsets, v, most); },
      [=](u64 v, u64 before) {
        const u64 slot = before >> 32, list = before & 0xffffffffu;
        const u64 arcs = degree(offsets, (int)v), count = pieces(offsets, v, most);
        slots[v] = (int)slot;
        if (count > 1) longs[list] = {(int)v, (int)slot, (int)count};
        for (u64 place = 0; place < count; ++place) {
          const u64 length = min((u64)most, arcs - place * most);
          keys[v + slot - list + place] = (most - length) << (VERTEX_BITS + PLACE_BITS) | v << PLACE_BITS | place;
        }
      });
}

// Makes the chunks from their sorted keys.
template <class Offset>
__global__ void write_chunks(const Offset *offsets, const u64 *keys, u64 count, int most, const int *slots,
                             Chunk *chunks) {
  for (u64 i = thread_number(); i < count; i += thread_count()) {
    const u64 key = keys[i], place = key & ((1ull << PLACE_BITS) - 1);
    const int v = (int)(key >> PLACE_BITS & ((1ull << VERTEX_BITS) - 1));
    const int length = most - (int)(key >> (VERTEX_BITS + PLACE_BITS));
    const int slot = pieces(offsets, v, most) > 1 ? slots[v] + (int)place : -1;
    chunks[i] = {(i64)offsets[v] + (i64)place * most, v, length, slot, 0};
  }
}

}  // namespace hopwave::betweenness
