// Merrill's two-phase push, as Hiragushi builds on it (section 3.2): `expand` writes the neighbours of the frontier
// into a list of arcs in memory, `contract` keeps those seen for the first time.
#pragma once
#include "steps/gather.cuh"
#include "steps/report.cuh"

namespace hopwave::steps {

// Lists are gathered by a block, a warp or a scan, by length. One atomic operation per tile reserves its stretch of the
// list of arcs.
template <class Offset>
__global__ void expand(const Offset *offsets, const int *neighbours, const int *queue, u64 length, int *targets,
                       int *sources, u64 *counters) {
  __shared__ u64 first;
  Tally mine;
  const QueueShare share(length);
  for (u64 tile = share.begin; tile < share.end; tile += BLOCK) {
    const u64 i = QueueShare::mine(tile);
    int u = -1;
    Offset begin = 0, end = 0;
    if (i < share.end) u = queue[i], begin = offsets[u], end = offsets[u + 1];
    u64 total;
    const u64 before = block_scan((u64)(end - begin), total);
    if (threadIdx.x == 0) first = atomicAdd(&counters[GATHERED], total);
    __syncthreads();
    mine.checked += (u64)(end - begin);
    gather_tile<Mapping::twc>(u, begin, end, first + before - (u64)begin, [&](int from, Offset arc, u64 slot) {
      targets[slot] = neighbours[arc];
      if (sources) sources[slot] = from;
    });
    __syncthreads();
  }
  report(mine, counters);
}

template <class Offset>
__device__ inline void keep(const Offset *offsets, u64 arc, int v, const int *sources, int depth, int *distance,
                            int *parent, int *next, u64 *counters, Tally &mine) {
  distance[v] = depth + 1;
  if (parent) parent[v] = sources[arc];
  next[enqueue_at(&counters[TAIL])] = v;
  mine.found += 1;
  mine.edges += degree(offsets, v);
}

// claim = atomic (Hiragushi): the bitmap is set by atomic operations, so that it is exact and the bottom-up kernel can
// use it as it is. The first to set a bit keeps the vertex.
template <class Offset>
__global__ void contract(const Offset *offsets, const int *targets, const int *sources, u64 arcs, int depth,
                         u32 *visited, int *distance, int *parent, int *next, u64 *counters) {
  Tally mine;
  for (u64 i = thread_number(); i < arcs; i += thread_count()) {
    const int v = targets[i];
    const u32 bit = 1u << (v % 32);
    if (*(volatile u32 *)&visited[v / 32] & bit) continue;
    if (atomicOr(&visited[v / 32], bit) & bit) continue;
    keep(offsets, i, v, sources, depth, distance, parent, next, counters, mine);
  }
  report(mine, counters);
}

// claim = benign (Merrill): no atomic operation except the queue's. The bitmap is set by plain stores, which may undo
// one another, so the status array decides. Merrill keeps the duplicates that remain. Here they would make nf and mf
// wrong, so every arc writes its number to its target, and keep_owners keeps the arc whose number stayed.
template <class Offset>
__global__ void cull(const int *targets, u64 arcs, u32 *visited, const int *distance, u32 *owner) {
  for (u64 i = thread_number(); i < arcs; i += thread_count()) {
    const int v = targets[i];
    volatile u32 *place = &visited[v / 32];
    const u32 bits = *place, bit = 1u << (v % 32);
    if (bits & bit) continue;
    if (distance[v] >= 0) *place = bits | bit;
    else owner[v] = (u32)i;
  }
}

template <class Offset>
__global__ void keep_owners(const Offset *offsets, const int *targets, const int *sources, u64 arcs, int depth,
                            const u32 *owner, int *distance, int *parent, int *next, u64 *counters) {
  Tally mine;
  for (u64 i = thread_number(); i < arcs; i += thread_count()) {
    const int v = targets[i];
    // An owner left from an earlier level belongs to a vertex that has a distance.
    if (owner[v] != (u32)i || status(distance, v) >= 0) continue;
    keep(offsets, i, v, sources, depth, distance, parent, next, counters, mine);
  }
  report(mine, counters);
}

// Every arc into the new level adds its source's path count.
template <class Offset>
__global__ void count_arcs(const int *targets, const int *sources, u64 arcs, int depth, const int *distance,
                           double *sigma) {
  for (u64 i = thread_number(); i < arcs; i += thread_count())
    if (distance[targets[i]] == depth + 1) atomicAdd(&sigma[targets[i]], sigma[sources[i]]);
}

}  // namespace hopwave::steps
