// Sums over both directions of arcs, the subgraph of some vertices, and Graph500's validation rules.
#pragma once
#include "common/rows.cuh"

namespace hopwave::build {

// values[arc] + the reverse arc's value, in an undirected graph with ascending rows; parallel arcs pair up in order.
template <class Offset>
__global__ void add_reverse(const Offset *offsets, const int *neighbours, int n, u64 arcs, const double *values,
                            double *sums) {
  each_arc(offsets, n, arcs, [=](int v, u64 arc) {
    const int u = neighbours[arc];
    u64 low = offsets[u], high = offsets[u + 1];  // the first index of v in u's row is in [low, high]
    while (low < high) {
      const u64 middle = (low + high) / 2;
      if (neighbours[middle] < v) low = middle + 1;
      else high = middle;
    }
    u64 same = arc;
    while (same > (u64)offsets[v] && neighbours[same - 1] == u) --same;
    sums[arc] = values[arc] + values[low + (arc - same)];
  });
}

// scaled[i] = values[i] · factor / divisor; one of the two is 1, which leaves the result exact.
template <class Offset>
__global__ void scale_values(const double *values, u64 count, double factor, double divisor, double *scaled) {
  for (u64 i = thread_number(); i < count; i += thread_count()) scaled[i] = values[i] * factor / divisor;
}

// Counts, per row, the arcs between chosen vertices; numbers[v] is v's index among the chosen vertices, or -1.
template <class Offset>
__global__ void count_inside(const Offset *offsets, const int *neighbours, const int *vertices, u64 count,
                             const int *numbers, u32 *degrees) {
  for (u64 i = thread_number() / WARP; i < count; i += thread_count() / WARP) {
    u32 mine = 0;
    for (Offset arc = offsets[vertices[i]] + lane(); arc < offsets[vertices[i] + 1]; arc += WARP)
      mine += numbers[neighbours[arc]] >= 0;
    mine = warp_sum(mine);
    if (lane() == 0) degrees[i] = mine;
  }
}

// Writes these arcs, renumbered, in their original order. `weights` have `size` bytes each: 0, 4 or 8.
template <class Offset>
__global__ void write_inside(const Offset *offsets, const int *neighbours, const int *vertices, u64 count,
                             const int *numbers, const Offset *new_offsets, int *new_neighbours, int size,
                             const void *weights, void *new_weights) {
  for (u64 i = thread_number() / WARP; i < count; i += thread_count() / WARP) {
    const Offset end = offsets[vertices[i] + 1];
    Offset to = new_offsets[i];
    for (Offset first = offsets[vertices[i]]; first < end; first += WARP) {
      const Offset arc = first + (Offset)lane();
      const int number = arc < end ? numbers[neighbours[arc]] : -1;
      const u32 kept = __ballot_sync(ALL_LANES, number >= 0);
      if (number >= 0) {
        const Offset place = to + __popc(kept & lanes_below());
        new_neighbours[place] = number;
        if (size == 4) ((u32 *)new_weights)[place] = ((const u32 *)weights)[arc];
        if (size == 8) ((u64 *)new_weights)[place] = ((const u64 *)weights)[arc];
      }
      to += __popc(kept);
    }
  }
}

// The rules of api/validate.py. found[v] becomes 1 if v's level needs no arc as evidence; the tree may be null.
template <class Offset>
__global__ void judge_vertices(int n, const int *levels, const int *tree, const u8 *sources, i64 limit, u8 *found,
                               u32 *broken) {
  u32 wrong = 0;
  for (u64 i = thread_number(); i < n; i += thread_count()) {
    const int v = (int)i, level = levels[v];
    const bool source = sources[v];
    wrong += level < -1 || level > limit || source != (level == 0);
    found[v] = source || level < 0;
    if (tree) {
      const int from = tree[v];
      if (source || from < 0 || from >= n) wrong += from != (source ? v : -1) || (level >= 0) != source;
      else wrong += level < 1 || levels[from] != level - 1;
    }
  }
  add_warp_sum(broken, wrong);
}

// No arc may skip a level or leave the reached set. found[v] becomes 1 if an arc comes from v's predecessor or,
// without a tree, from the level above.
template <class Offset>
__global__ void judge_arcs(const Offset *offsets, const int *neighbours, int n, u64 arcs, const int *levels,
                           const int *tree, i64 limit, u8 *found, u32 *broken) {
  u32 wrong = 0;
  each_arc(offsets, n, arcs, [&](int u, u64 arc) {
    const int v = neighbours[arc], from = levels[u], to = levels[v];
    wrong += from >= 0 && (to > (i64)from + 1 || (to < 0 && from < limit));
    if (tree ? tree[v] == u : from >= 0 && to == from + 1) found[v] = 1;
  });
  add_warp_sum(broken, wrong);
}

template <class Offset>
__global__ void judge_found(int n, const u8 *found, u32 *broken) {
  u32 wrong = 0;
  for (u64 v = thread_number(); v < n; v += thread_count()) wrong += !found[v];
  add_warp_sum(broken, wrong);
}

}  // namespace hopwave::build
