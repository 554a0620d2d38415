// Core numbers by peeling, in one cooperative launch (Dasari, Desh and Zubair, ParK, 2014). All vertices with the
// fewest remaining neighbours, k, are listed. Warps claim entries and remove arcs; a vertex that drops to k is listed,
// too, without rounds (Kabir and Madduri, PKC, 2017). When no entry is pending, the next k begins.
//
//   left       a vertex's number of remaining neighbours; at the end, its core number
//   list       pieces of the rows of vertices that were removed; EMPTY: not yet written
//   Peeling    head: the next entry to claim; tail: the next free entry; pending: unfinished entries
#pragma once
#include "common/rows.cuh"

namespace hopwave::linalg {

constexpr u64 EMPTY = ~0ull;

struct Peeling {
  u32 arrived, least[2];  // of the barrier; smallest `left` above k, in this iteration and the next
  u32 head, tail, pending;
};

// The rows of a graph; for a directed graph also its columns, otherwise null.
template <class Offset>
struct PeeledArcs {
  const Offset *offsets, *in_offsets;
  const int *neighbours, *in_neighbours;
};

// Whether an arc counts: loops do not, and of parallel arcs only the first does. Rows ascend.
template <class Offset>
__device__ inline bool counts(const Offset *offsets, const int *neighbours, int v, u64 arc) {
  const int u = neighbours[arc];
  return u != v && (arc == (u64)offsets[v] || neighbours[arc - 1] != u);
}

// Lists the removed vertex v: the pieces of its row, then of its column.
template <class Offset>
__device__ inline void remove(const PeeledArcs<Offset> &arcs, int v, u64 *list, Peeling *at) {
  const u32 out = pieces_of(degree(arcs.offsets, v)), in = arcs.in_offsets ? pieces_of(degree(arcs.in_offsets, v)) : 0;
  if (out + in == 0) return;
  atomicAdd(&at->pending, out + in);
  const u32 first = atomicAdd(&at->tail, out + in);
  for (u32 i = 0; i < out + in; ++i) *(volatile u64 *)(list + first + i) = piece(v, i);
}

template <class Offset>
__device__ inline void cut(const PeeledArcs<Offset> &arcs, u64 entry, int k, int *left, u64 *list, Peeling *at) {
  const int removed = (int)(entry >> 32);
  const u32 out = pieces_of(degree(arcs.offsets, removed));
  const bool back = (u32)entry >= out;
  const Offset *offsets = back ? arcs.in_offsets : arcs.offsets;
  const int *neighbours = back ? arcs.in_neighbours : arcs.neighbours;
  each_arc_of(back ? entry - out : entry, offsets, [&](int v, u64 arc) {
    const int u = neighbours[arc];
    if (!counts(offsets, neighbours, v, arc) || status(left, u) <= k) return;
    const int before = atomicSub(left + u, 1);
    if (before == k + 1) remove(arcs, u, list, at);
    else if (before <= k) atomicAdd(left + u, 1);  // another warp was faster
  });
}

template <class Offset>
__global__ void __launch_bounds__(BLOCK, 4)
    peel(const Offset *offsets, const int *neighbours, const Offset *in_offsets, const int *in_neighbours, int n,
         u64 entries, int *left, u64 *list, Peeling *at, i64 *core) {
  const PeeledArcs<Offset> arcs{offsets, in_offsets, neighbours, in_neighbours};
  u32 target = 0;
  auto wait = [&] { barrier(&at->arrived, target, gridDim.x, [] {}, [] {}); };
  for (u64 i = thread_number(); i < entries; i += thread_count()) list[i] = EMPTY;
  for (u64 v = thread_number() / WARP; v < n; v += thread_count() / WARP) {
    u32 mine = 0;
    for (u64 arc = offsets[v] + lane(); arc < (u64)offsets[v + 1]; arc += WARP)
      mine += counts(offsets, neighbours, (int)v, arc);
    if (in_offsets)
      for (u64 arc = in_offsets[v] + lane(); arc < (u64)in_offsets[v + 1]; arc += WARP)
        mine += counts(in_offsets, in_neighbours, (int)v, arc);
    mine = warp_sum(mine);
    if (lane() == 0) left[v] = (int)mine;
  }
  wait();
  int k = -1;
  u32 ticket = EMPTY;  // the entry that this warp claims next, once it is written
  for (int turn = 0;; turn ^= 1) {
    u32 least = ~0u;
    for (u64 v = thread_number(); v < n; v += thread_count()) {
      const int now = status(left, (int)v);
      if (now > k) least = min(least, (u32)now);
    }
    for (int step = WARP / 2; step; step /= 2) least = min(least, __shfl_xor_sync(ALL_LANES, least, step));
    if (lane() == 0 && least != ~0u) atomicMin(&at->least[turn], least);
    wait();
    least = *(volatile u32 *)&at->least[turn];
    if (least == ~0u) break;
    k = (int)least;
    for (u64 v = thread_number(); v < n; v += thread_count())
      if (status(left, (int)v) == k) remove(arcs, (int)v, list, at);
    wait();
    if (thread_number() == 0) at->least[turn] = ~0u;  // every block has read it
    while (true) {
      u64 entry = EMPTY;
      if (lane() == 0) {
        if (ticket == (u32)EMPTY) ticket = atomicAdd(&at->head, 1u);
        while (true) {
          entry = ticket < entries ? *(volatile u64 *)(list + ticket) : EMPTY;
          if (entry != EMPTY || *(volatile u32 *)&at->pending == 0) break;
          __nanosleep(100);
        }
        if (entry != EMPTY) ticket = (u32)EMPTY;
      }
      entry = __shfl_sync(ALL_LANES, entry, 0);
      if (entry == EMPTY) break;
      cut(arcs, entry, k, left, list, at);
      __syncwarp();
      if (lane() == 0) {
        __threadfence();
        atomicSub(&at->pending, 1u);
      }
    }
    wait();
  }
  for (u64 v = thread_number(); v < n; v += thread_count()) core[v] = status(left, (int)v);
}

}  // namespace hopwave::linalg
