// Triangles of a symmetric pattern. Every edge is directed from the endpoint with fewer neighbours to the other, so
// that no vertex has more than √2m out-arcs (Chiba and Nishizeki, 1985). The out-arcs of a vertex go into a hash table
// in shared memory, in which the out-arcs of their heads are looked up (Pandey et al., TRUST, 2021).
#pragma once
#include "common/threads.cuh"

namespace hopwave::linalg {

constexpr int NOBODY = -1;
constexpr u32 WARP_SLOTS = 1024;           // slots of a warp's table
constexpr u32 WARP_ARCS = WARP_SLOTS / 2;  // maximum out-arcs of a vertex for one warp; a block processes the others

template <class Offset>
__device__ inline bool leads_up(const Offset *offsets, int u, int v) {
  const u64 mine = degree(offsets, u), theirs = degree(offsets, v);
  return mine < theirs || (mine == theirs && u < v);
}

// Counts the out-arcs of every vertex; lists vertices with more than WARP_ARCS, and finds the maximum.
template <class Offset>
__global__ void count_up(const Offset *offsets, const int *neighbours, u64 n, u32 *ups, int *longs, u32 *counts) {
  for (u64 u = thread_number() / WARP; u < n; u += thread_count() / WARP) {
    u32 mine = 0;
    for (Offset arc = offsets[u] + lane(); arc < offsets[u + 1]; arc += WARP)
      mine += leads_up(offsets, (int)u, neighbours[arc]);
    const u32 all = warp_sum(mine);
    if (lane()) continue;
    ups[u] = all;
    if (all <= WARP_ARCS) continue;
    longs[atomicAdd(counts, 1u)] = (int)u;
    atomicMax(counts + 1, all);
  }
}

template <class Offset>
__global__ void write_up(const Offset *offsets, const int *neighbours, u64 n, const Offset *up, int *heads) {
  for (u64 u = thread_number() / WARP; u < n; u += thread_count() / WARP) {
    const Offset end = offsets[u + 1];
    int *to = heads + up[u];
    for (Offset first = offsets[u]; first < end; first += WARP) {
      const Offset arc = first + (Offset)lane();
      const int v = arc < end ? neighbours[arc] : 0;
      const bool kept = arc < end && leads_up(offsets, (int)u, v);
      const u32 all = __ballot_sync(ALL_LANES, kept);
      if (kept) to[__popc(all & lanes_below())] = v;
      to += __popc(all);
    }
  }
}

// The first of two slots that are read together: a lane that reads further slots makes the other lanes wait.
__device__ inline u32 slot_of(int v, int bits) { return (u32)v * 2654435769u >> (32 - bits) & ~1u; }

// The triangles of u: an arc from u to another vertex, and arcs from both to the third; by a warp or a block (WHOLE).
// With EACH, adds them to each of their vertices in `each`; returns this lane's share of their number.
template <class Offset, bool EACH, bool WHOLE>
__device__ inline u64 triangles_of(const Offset *up, const int *heads, int u, int *table, u32 *hits, u32 room,
                                   u64 *each) {
  const u32 me = WHOLE ? threadIdx.x : lane(), all = WHOLE ? blockDim.x : WARP;
  auto wait = [] {
    if (WHOLE) __syncthreads();
    else __syncwarp();
  };
  const Offset begin = up[u];
  const u32 count = (u32)(up[u + 1] - begin);
  if (count < 2) return 0;
  int bits = 5;
  while ((1u << bits) < room && (1u << bits) < 4 * count) ++bits;
  const u32 slots = 1u << bits, mask = slots - 1;
  for (u32 i = me; i < slots; i += all) {
    table[i] = NOBODY;
    if (EACH) hits[i] = 0;
  }
  wait();
  for (u32 i = me; i < count; i += all) {
    const int v = heads[begin + i];
    u32 slot = slot_of(v, bits);
    while (atomicCAS(table + slot, NOBODY, v) != NOBODY) slot = slot + 1 & mask;
  }
  wait();
  u64 mine = 0;
  // A warp processes 32 heads at a time: each lane loads begin and end of one head's row.
  for (u32 first = (WHOLE ? block_warp() : 0) * WARP; first < count; first += all) {
    const u32 some = min((u32)WARP, count - first);
    const int head_of_lane = lane() < some ? heads[begin + first + lane()] : u;
    const Offset row_of_lane = up[head_of_lane], stop_of_lane = up[head_of_lane + 1];
    for (u32 i = 0; i < some; ++i) {
      const Offset row = __shfl_sync(ALL_LANES, row_of_lane, i), stop = __shfl_sync(ALL_LANES, stop_of_lane, i);
      u32 found = 0;
      for (Offset arc = row + (Offset)lane(); arc < stop; arc += WARP) {
        const int w = heads[arc];
        u32 slot = slot_of(w, bits);
        int2 there = *(const int2 *)(table + slot);
        while (there.x != w && there.y != w && there.y != NOBODY)  // y is filled after x
          slot = slot + 2 & mask, there = *(const int2 *)(table + slot);
        if (there.x != w && there.y != w) continue;
        ++found;
        if (EACH) atomicAdd(hits + slot + (there.y == w), 1u);
      }
      mine += found;
      if (EACH) {
        found = warp_sum(found);
        const int v = __shfl_sync(ALL_LANES, head_of_lane, i);
        if (lane() == 0 && found) atomicAdd(each + v, (u64)found);
      }
    }
  }
  if (EACH) {
    wait();
    for (u32 i = me; i < slots; i += all)
      if (hits[i]) atomicAdd(each + table[i], (u64)hits[i]);
    add_warp_sum(each + u, mine);
  }
  wait();
  return mine;
}

// One warp per vertex; `ticket` is the next vertex.
template <class Offset, bool EACH>
__global__ void count_short(const Offset *up, const int *heads, u32 n, u32 *ticket, u64 *each, u64 *total) {
  extern __shared__ int tables[];
  int *table = tables + block_warp() * WARP_SLOTS * (EACH ? 2 : 1);
  u64 mine = 0;
  while (true) {
    u32 first = lane() == 0 ? atomicAdd(ticket, 4u) : 0;
    first = __shfl_sync(ALL_LANES, first, 0);
    if (first >= n) break;
    for (u32 u = first; u < min(n, first + 4); ++u)
      if ((u64)(up[u + 1] - up[u]) <= WARP_ARCS)
        mine +=
            triangles_of<Offset, EACH, false>(up, heads, (int)u, table, (u32 *)table + WARP_SLOTS, WARP_SLOTS, each);
  }
  add_warp_sum(total, mine);
}

// One block per vertex with many out-arcs; `ticket` is the next of `longs`, `room`: slots of a table.
template <class Offset, bool EACH>
__global__ void count_long(const Offset *up, const int *heads, const int *longs, u32 count, u32 room, u32 *ticket,
                           u64 *each, u64 *total) {
  extern __shared__ int tables[];
  __shared__ u32 next;
  u64 mine = 0;
  while (true) {
    __syncthreads();  // all threads have read the last ticket
    if (threadIdx.x == 0) next = atomicAdd(ticket, 1u);
    __syncthreads();
    const u32 i = next;
    if (i >= count) break;
    mine += triangles_of<Offset, EACH, true>(up, heads, longs[i], tables, (u32 *)tables + room, room, each);
  }
  add_warp_sum(total, mine);
}

}  // namespace hopwave::linalg
