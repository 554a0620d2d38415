// Label propagation (hopwave/linalg/algorithms/structure.py): the most frequent label among the neighbours of a vertex.
//
//   f        the label of every vertex          rank      the index of every label in the order that breaks ties
//   stale    whether a vertex must be updated: a neighbour's label or its own has changed
//   wins     the label that a vertex would adopt; -1 if its own is among the most frequent
//
// A score is frequency << 32 | tie; the tie is n for the vertex's own label, otherwise the label's rank. Rows of up to
// 32 arcs are counted within a warp, longer rows in a hash table with two slots per arc.
#pragma once
#include "common/rows.cuh"

namespace hopwave::linalg {

constexpr int NO_LABEL = -1;

__device__ inline u64 score(u32 frequency, int label, int own, int n, const int *rank) {
  return (u64)frequency << 32 | (u32)(label == own ? n : rank[label]);
}
__device__ inline int winner(u64 best, int n, const int *label_at) {
  const u32 tie = (u32)best;
  return best == 0 || tie == (u32)n ? NO_LABEL : label_at[tie];
}

template <class Offset>
__global__ void look_short(const Offset *offsets, const int *neighbours, int n, const int *f, const int *rank,
                           const int *label_at, const u8 *stale, int *wins) {
  for (u64 i = thread_number() / WARP; i < n; i += thread_count() / WARP) {
    const int v = (int)i;
    if (!stale[v] || degree(offsets, v) > WARP) continue;
    const u64 arc = offsets[v] + lane();
    const int u = arc < (u64)offsets[v + 1] ? neighbours[arc] : v;
    const int label = u == v ? NO_LABEL : f[u];
    const u32 same = __match_any_sync(ALL_LANES, label);
    const u64 best = warp_max(label == NO_LABEL ? 0ull : score(__popc(same), label, f[v], n, rank));
    if (lane() == 0) wins[v] = winner(best, n, label_at);
  }
}

// Counts the labels of long rows; `pieces` are the pieces of all rows with more than 32 arcs.
template <class Offset>
__global__ void count_labels(const Offset *offsets, const int *neighbours, const u64 *pieces, u64 count, const int *f,
                             const u8 *stale, int *labels, u32 *frequencies) {
  for (u64 i = thread_number() / WARP; i < count; i += thread_count() / WARP) {
    const u64 entry = pieces[i];
    const int v = (int)(entry >> 32);
    if (!stale[v]) continue;
    const u64 row = offsets[v], begin = row + (u32)entry * ROW_PIECE, end = min((u64)offsets[v + 1], begin + ROW_PIECE);
    const u64 slots = 2 * degree(offsets, v);
    for (u64 first = begin; first < end; first += WARP) {
      const u64 arc = first + lane();
      const int u = arc < end ? neighbours[arc] : v;
      const int label = u == v ? NO_LABEL : f[u];
      const u32 same = __match_any_sync(ALL_LANES, label);
      if (label == NO_LABEL || __ffs(same) - 1 != (int)lane()) continue;  // one lane per label
      u64 slot = (splitmix(label + WEYL) >> 32) * slots >> 32;
      while (true) {
        const int there = *(volatile int *)(labels + 2 * row + slot);
        if (there == label || (there == NO_LABEL && atomicCAS(labels + 2 * row + slot, NO_LABEL, label) == NO_LABEL))
          break;
        if (*(volatile int *)(labels + 2 * row + slot) == label) break;  // another warp was faster
        slot = slot + 1 < slots ? slot + 1 : 0;
      }
      atomicAdd(frequencies + 2 * row + slot, (u32)__popc(same));
    }
  }
}

template <class Offset>
__global__ void best_labels(const Offset *offsets, const u64 *pieces, u64 count, int n, const int *f, const int *rank,
                            const u8 *stale, const int *labels, const u32 *frequencies, u64 *best) {
  for (u64 i = thread_number() / WARP; i < count; i += thread_count() / WARP) {
    const u64 entry = pieces[i];
    const int v = (int)(entry >> 32), own = f[v];
    if (!stale[v]) continue;
    const u64 begin = offsets[v] + (u32)entry * ROW_PIECE, end = min((u64)offsets[v + 1], begin + ROW_PIECE);
    u64 mine = 0;
    for (u64 slot = 2 * begin + lane(); slot < 2 * end; slot += WARP)
      if (labels[slot] != NO_LABEL) mine = max(mine, score(frequencies[slot], labels[slot], own, n, rank));
    mine = warp_max(mine);
    if (lane() == 0 && mine) atomicMax(best + v, mine);
  }
}

template <class Offset>
__global__ void look_long(const Offset *offsets, int n, const int *label_at, u8 *stale, u64 *best, int *wins,
                          u32 *restless) {
  u32 found = 0;
  for (u64 v = thread_number(); v < n; v += thread_count()) {
    if (stale[v] && degree(offsets, (int)v) > WARP) wins[v] = winner(best[v], n, label_at);
    stale[v] = 0;
    best[v] = 0;
    found += wins[v] != NO_LABEL;
  }
  add_warp_sum(restless, found);
}

// Vertices that would change their label do so if their coins (LabelRounds in hopwave/planning/jobs.py) are 1.
template <class Offset>
__global__ void move(int n, u64 start, const int *wins, int *f, u8 *moved, u8 *stale) {
  for (u64 v = thread_number(); v < n; v += thread_count()) {
    moved[v] = wins[v] != NO_LABEL && splitmix(start + (v + 1) * WEYL) >> 63;
    if (moved[v]) f[v] = wins[v], stale[v] = 1;
  }
}
template <class Offset>
__global__ void spoil(const Offset *offsets, const int *neighbours, int n, u64 arcs, const u8 *moved, u8 *stale) {
  each_arc(offsets, n, arcs, [=](int v, u64 arc) {
    if (moved[neighbours[arc]]) stale[v] = 1;
  });
}

template <class Offset>
__global__ void list_long(const Offset *offsets, int n, u64 *pieces, u32 *count) {
  for (u64 v = thread_number(); v < n; v += thread_count()) {
    const u64 arcs = degree(offsets, (int)v);
    if (arcs <= WARP) continue;
    const u32 first = atomicAdd(count, pieces_of(arcs));
    for (u32 i = 0; i < pieces_of(arcs); ++i) pieces[first + i] = piece((int)v, i);
  }
}

}  // namespace hopwave::linalg
