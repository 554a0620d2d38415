// Merrill's two-phase push, as Hiragushi builds on it (section 3.2): expand enumerates the neighbours of the frontier
// into a list of arcs in memory, contract keeps those seen for the first time.
#pragma once
#include "steps/gather.cuh"

namespace hopwave {

// Block, warp and scan gathering by list length; one atomic operation a tile reserves its stretch of the list.
template <class Offset>
__global__ void expand(
    const Offset* offsets, const int* neighbours, const int* queue, number length, int* targets, int* sources,
    number* counters) {
    __shared__ number first;
    Tally mine;
    const Share share(length);
    for (number tile = share.begin; tile < share.end; tile += BLOCK) {
        const number i = Share::mine(tile);
        int u = -1;
        Offset begin = 0, end = 0;
        if (i < share.end) u = queue[i], begin = offsets[u], end = offsets[u + 1];
        number total;
        const number before = block_scan((number)(end - begin), total);
        if (threadIdx.x == 0) first = atomicAdd(&counters[GATHERED], total);
        __syncthreads();
        mine.checked += (number)(end - begin);
        gather_tile<Mapping::twc>(u, begin, end, first + before - (number)begin, [&](int from, Offset arc, number slot) {
            targets[slot] = neighbours[arc];
            if (sources) sources[slot] = from;
        });
        __syncthreads();
    }
    report(mine, counters);
}

template <class Offset>
__device__ inline void keep(
    const Offset* offsets, number arc, int v, const int* sources, int depth, int* distance, int* parent, int* next,
    number* counters, Tally& mine) {
    distance[v] = depth + 1;
    if (parent) parent[v] = sources[arc];
    next[enqueue_at(&counters[TAIL])] = v;
    mine.found += 1;
    mine.edges += degree(offsets, v);
}

// claim = atomic (Hiragushi): the bitmap is set by atomic operations, so that it is exact and the bottom-up kernel can
// use it as it is; who sets a bit first keeps the vertex.
template <class Offset>
__global__ void contract(
    const Offset* offsets, const int* targets, const int* sources, number arcs, int depth, word* visited, int* distance,
    int* parent, int* next, number* counters) {
    Tally mine;
    for (number i = thread_number(); i < arcs; i += thread_count()) {
        const int v = targets[i];
        const word bit = 1u << (v % 32);
        if (*(volatile word*)&visited[v / 32] & bit) continue;
        if (atomicOr(&visited[v / 32], bit) & bit) continue;
        keep(offsets, i, v, sources, depth, distance, parent, next, counters, mine);
    }
    report(mine, counters);
}

// claim = benign (Merrill): no atomic operation but the queue's. The bitmap is set by plain stores, which may undo one
// another, so the status has the last word. Merrill lets the duplicates that remain live on; here they would make nf
// and mf wrong, so every arc writes its number to its target, and a second look keeps the arc whose number stayed.
template <class Offset>
__global__ void cull(
    const int* targets, number arcs, word* visited, const int* distance, unsigned* owner) {
    for (number i = thread_number(); i < arcs; i += thread_count()) {
        const int v = targets[i];
        volatile word* place = &visited[v / 32];
        const word bits = *place, bit = 1u << (v % 32);
        if (bits & bit) continue;
        if (distance[v] >= 0) *place = bits | bit;
        else owner[v] = (unsigned)i;
    }
}

template <class Offset>
__global__ void keep_owners(
    const Offset* offsets, const int* targets, const int* sources, number arcs, int depth, const unsigned* owner,
    int* distance, int* parent, int* next, number* counters) {
    Tally mine;
    for (number i = thread_number(); i < arcs; i += thread_count()) {
        const int v = targets[i];
        // An owner left from an earlier level belongs to a vertex with a distance.
        if (owner[v] != (unsigned)i || status(distance, v) >= 0) continue;
        keep(offsets, i, v, sources, depth, distance, parent, next, counters, mine);
    }
    report(mine, counters);
}

// Every arc into the new level adds its source's paths.
template <class Offset>
__global__ void count_arcs(
    const int* targets, const int* sources, number arcs, int depth, const int* distance, double* sigma) {
    for (number i = thread_number(); i < arcs; i += thread_count())
        if (distance[targets[i]] == depth + 1) atomicAdd(&sigma[targets[i]], sigma[sources[i]]);
}

}  // namespace hopwave
