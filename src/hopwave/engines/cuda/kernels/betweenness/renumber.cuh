// Renumbers the vertices of a graph by the Morton order of two distances (engines/cuda/renumber.py).
//
//   order   order[new number] = old number                fresh   offsets of the renumbered graph
//   rank    rank[old number] = new number
#pragma once
#include "common/threads.cuh"

namespace hopwave::betweenness {

// Counts the arcs whose endpoint numbers differ by less than `reach`; one warp per row. `count` is 0 before.
template <class Offset>
__global__ void count_near(const Offset *offsets, const int *neighbours, i64 n, int reach, u64 *count) {
  u64 near = 0;
  for (i64 v = signed_thread_number() / WARP; v < n; v += signed_thread_count() / WARP)
    for (Offset arc = offsets[v] + lane(); arc < offsets[v + 1]; arc += WARP)
      near += abs((int)v - neighbours[arc]) < reach;
  add_warp_sum(count, near);
}

// The v of the largest min(one[v], other[v]), the lowest if tied, as (distance + 1) << 32 | ~v. *farthest begins as 0.
template <class Offset>
__global__ void find_farthest(const int *one, const int *other, u64 n, u64 *farthest) {
  u64 mine = 0;
  for (u64 v = thread_number(); v < n; v += thread_count()) {
    const u64 distance = (u64)(min(one[v], other[v]) + 1);
    mine = max(mine, distance << 32 | (0xffffffffu - (u32)v));
  }
  mine = warp_max(mine);
  if (lane() == 0) atomicMax(farthest, mine);
}

// Spreads the low 16 bits of x to the even bit positions, with zeros in between.
__device__ inline u32 spread_bits(u32 x) {
  x = (x | x << 8) & 0x00ff00ffu;
  x = (x | x << 4) & 0x0f0f0f0fu;
  x = (x | x << 2) & 0x33333333u;
  return (x | x << 1) & 0x55555555u;
}

// Sort keys: both distances in units of `step`, interleaved, in the high bits; v in the low bits. Unreached: most + 1.
template <class Offset>
__global__ void morton_keys(const int *one, const int *other, u64 n, int most_one, int most_other, int step,
                            u64 *keys) {
  for (u64 v = thread_number(); v < n; v += thread_count()) {
    const int x = one[v] < 0 ? most_one + 1 : one[v], y = other[v] < 0 ? most_other + 1 : other[v];
    keys[v] = (u64)(spread_bits(x / step) | spread_bits(y / step) << 1) << 32 | v;
  }
}

template <class Offset>
__global__ void ranks_and_lengths(const u64 *keys, const Offset *offsets, u64 n, int *order, int *rank, u32 *lengths) {
  for (u64 i = thread_number(); i < n; i += thread_count()) {
    const int v = (int)(keys[i] & 0xffffffffu);
    order[i] = v, rank[v] = (int)i, lengths[i] = (u32)degree(offsets, v);
  }
}

template <class Offset>
__global__ void row_lengths(const int *order, const Offset *offsets, u64 n, u32 *lengths) {
  for (u64 i = thread_number(); i < n; i += thread_count()) lengths[i] = (u32)degree(offsets, order[i]);
}

// Copies every row to its new position. Neighbours are renumbered and keep their order; one warp per row.
template <class Offset>
__global__ void move_rows(const Offset *fresh, const Offset *offsets, const int *neighbours, const int *order,
                          const int *rank, i64 n, int *moved) {
  for (i64 i = signed_thread_number() / WARP; i < n; i += signed_thread_count() / WARP) {
    const Offset begin = offsets[order[i]];
    for (Offset arc = fresh[i] + lane(); arc < fresh[i + 1]; arc += WARP)
      moved[arc] = rank[neighbours[begin + (arc - fresh[i])]];
  }
}

template <class Offset>
__global__ void old_places(const Offset *fresh, const Offset *offsets, const int *order, i64 n, i64 *places) {
  for (i64 i = signed_thread_number() / WARP; i < n; i += signed_thread_count() / WARP)
    for (Offset arc = fresh[i] + lane(); arc < fresh[i + 1]; arc += WARP)
      places[arc] = (i64)offsets[order[i]] + (arc - fresh[i]);
}

// Permute scores from the old order to the new one, and back; `places` contains vertices (int) or arcs (i64).
template <class Place>
__global__ void to_new_order(const double *scores, const Place *places, u64 width, u64 count, double *moved) {
  for (u64 i = thread_number(); i < count; i += thread_count())
    moved[i] = scores[i / width * width + places[i % width]];
}
template <class Place>
__global__ void to_old_order(const double *moved, const Place *places, u64 width, u64 count, double *scores) {
  for (u64 i = thread_number(); i < count; i += thread_count())
    scores[i / width * width + places[i % width]] = moved[i];
}

}  // namespace hopwave::betweenness
