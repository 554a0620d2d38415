// One round of Luby's algorithm (hopwave/linalg/algorithms/structure.py).
//
//   rank     drawn for the candidates of this round; -1 for other vertices        state    OPEN, WON or OUT
#pragma once
#include "common/threads.cuh"

namespace hopwave::linalg {

constexpr u8 OPEN = 0, WON = 1, OUT = 2;

// Draws the candidates' ranks like priorities() of hopwave/generate/counter.py: 32 random bits, then the vertex.
template <class Offset>
__global__ void draw(const int *candidates, u64 count, u64 start, i64 *rank) {
  for (u64 i = thread_number(); i < count; i += thread_count()) {
    const u64 v = candidates[i];
    rank[v] = (i64)(splitmix(start + (v + 1) * WEYL) >> 32 << 31 | v);
  }
}

template <class Offset, class Decides>
__device__ inline bool some_neighbour(const Offset *offsets, const int *neighbours, int v, Decides decides) {
  const Offset end = offsets[v + 1];
  for (Offset first = offsets[v]; first < end; first += WARP) {
    const Offset arc = first + (Offset)lane();
    if (__any_sync(ALL_LANES, arc < end && decides(neighbours[arc]))) return true;
  }
  return false;
}

// A candidate wins if no neighbour has a higher rank. A loop compares it with its own rank, which is not higher.
template <class Offset>
__global__ void choose(const Offset *offsets, const int *neighbours, const int *candidates, u64 count, const i64 *rank,
                       u8 *state) {
  for (u64 i = thread_number() / WARP; i < count; i += thread_count() / WARP) {
    const int v = candidates[i];
    const i64 mine = rank[v];
    const bool lost = some_neighbour(offsets, neighbours, v, [=](int u) { return rank[u] > mine; });
    if (!lost && lane() == 0) state[v] = WON;
  }
}

template <class Offset>
__global__ void leave(const Offset *offsets, const int *neighbours, const int *candidates, u64 count, i64 *rank,
                      u8 *state) {
  for (u64 i = thread_number() / WARP; i < count; i += thread_count() / WARP) {
    const int v = candidates[i];
    const bool won = state[v] == WON;
    const bool out =
        !won && some_neighbour(offsets, neighbours, v, [=](int u) { return *(volatile u8 *)(state + u) == WON; });
    if (lane() == 0 && out) state[v] = OUT;
    if (lane() == 0 && (won || out)) rank[v] = -1;
  }
}

}  // namespace hopwave::linalg
