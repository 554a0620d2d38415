// Neighbour lists cut into chunks for batches (batch.cuh): chunks of at most `most` arcs, the longest first.
//
// A chunk's key sorts it by descending length, then by vertex, then by its place in the list; everything else about the
// chunk follows from the key.
#pragma once
#include "betweenness/batch.cuh"
#include "common/graph.cuh"
#include "common/scan.cuh"

namespace hopwave::betweenness {

constexpr int PLACE_BITS = 23, VERTEX_BITS = 31;  // the other 10 are for the length

// An empty list is a chunk too, since the way back ends there.
template <class Offset>
__device__ __forceinline__ u64 pieces(const Offset *offsets, u64 v, int most) {
  return max((u64)1, (degree(offsets, (int)v) + most - 1) / most);
}

// Sums per tile of lists: chunks; slots, which are the chunks of lists of several; and such lists.
template <class Offset>
__global__ void sum_pieces(const Offset *offsets, u64 n, int most, u64 tiles, u64 *sums) {
  sum_tiles(n, sums, [=](u64 v) { return pieces(offsets, v, most); });
  sum_tiles(n, sums + tiles, [=](u64 v) {
    const u64 count = pieces(offsets, v, most);
    return count > 1 ? count : 0;
  });
  sum_tiles(n, sums + 2 * tiles, [=](u64 v) { return (u64)(pieces(offsets, v, most) > 1); });
}

// One block for each of the three sums: it scans them, and says how much they are.
template <class Offset>
__global__ void scan_pieces(u64 *sums, u64 tiles, u64 *totals) {
  const u64 total = scan_in_place(sums + blockIdx.x * tiles, tiles);
  if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

// The keys of all chunks; the lists of several chunks, and where the slots of each begin.
template <class Offset>
__global__ void write_pieces(const Offset *offsets, u64 n, int most, u64 tiles, const u64 *sums, u64 *keys, int *slots,
                             Long *longs) {
  write_tiles(
      n, sums, [=](u64 v) { return pieces(offsets, v, most); },
      [=](u64 v, u64 before) {
        const u64 arcs = degree(offsets, (int)v), count = pieces(offsets, v, most);
        for (u64 place = 0; place < count; ++place) {
          const u64 length = min((u64)most, arcs - place * most);
          keys[before + place] = ((u64)most - length) << (VERTEX_BITS + PLACE_BITS) | v << PLACE_BITS | place;
        }
      });
  write_tiles(
      n, sums + tiles,
      [=](u64 v) {
        const u64 count = pieces(offsets, v, most);
        return count > 1 ? count : 0;
      },
      [=](u64 v, u64 before) { slots[v] = (int)before; });
  write_tiles(
      n, sums + 2 * tiles, [=](u64 v) { return (u64)(pieces(offsets, v, most) > 1); },
      [=](u64 v, u64 before) {
        const u64 count = pieces(offsets, v, most);
        if (count > 1) longs[before] = {(int)v, slots[v], (int)count};
      });
}

// The chunks, from their sorted keys.
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
