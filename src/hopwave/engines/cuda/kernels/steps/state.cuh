// Where a search stands: its start, and the forms a frontier can take (queue, bitmap, status array).
#pragma once
#include "common/atoms.cuh"

namespace hopwave {

// The sources: visited, their own parents, one path each, the first frontier. A single one needs no array.
template <class Offset>
__global__ void stand(
    const int* sources, int single, number count, int* distance, int* parent, double* sigma, int* queue) {
    for (number i = thread_number(); i < count; i += thread_count()) {
        const int s = sources ? sources[i] : single;
        distance[s] = 0;
        if (parent) parent[s] = s;
        if (sigma) sigma[s] = 1.0;
        queue[i] = s;
    }
}

// Bitmaps of the visited vertices and of the frontier, from the status array; a ballot makes a word.
template <class Offset>
__global__ void status_to_bits(const int* distance, int n, int depth, word* visited, word* frontier) {
    const number padded = ((number)n + 31) / 32 * 32;
    for (number v = thread_number(); v < padded; v += thread_count()) {
        const int d = v < n ? distance[v] : -1;
        const word seen = __ballot_sync(EVERYONE, d >= 0);
        const word front = __ballot_sync(EVERYONE, d == depth);
        if (lane() == 0) visited[v / 32] = seen, frontier[v / 32] = front;
    }
}

// Sparse to dense: the bitmap was cleared before.
template <class Offset>
__global__ void queue_to_bits(const int* queue, number length, word* bits) {
    for (number i = thread_number(); i < length; i += thread_count())
        atomicOr(&bits[queue[i] / 32], 1u << (queue[i] % 32));
}

// Dense to sparse by population count and scan, one atomic operation a block (Hiragushi, sections 3.5 and 4.2).
template <class Offset>
__global__ void bits_to_queue(const word* bits, number words, int* queue, number* counters) {
    __shared__ number first;
    for (number tile = (number)blockIdx.x * BLOCK; tile < words; tile += (number)gridDim.x * BLOCK) {
        const number w = tile + threadIdx.x;
        word left = w < words ? bits[w] : 0;
        unsigned total;
        const unsigned before = block_scan((unsigned)__popc(left), total);
        if (threadIdx.x == 0) first = atomicAdd(&counters[TAIL], (number)total);
        __syncthreads();
        for (number place = first + before; left; left &= left - 1) queue[place++] = (int)(32 * w + __ffs(left) - 1);
        __syncthreads();
    }
}

// The vertices of one level, from the status array: XBFS's single scan, enqueued by atomic operations (section 4.1).
template <class Offset>
__global__ void single_scan(
    const Offset* offsets, const int* distance, int n, int level, int* queue, number* counters) {
    Tally mine;
    for (number v = thread_number(); v < n; v += thread_count()) {
        if (distance[v] != level) continue;
        queue[enqueue_at(&counters[TAIL])] = (int)v;
        mine.found += 1;
        mine.edges += degree(offsets, (int)v);
    }
    report(mine, counters);
}

// Those of a list that are of one level, appended to the queue: what an asynchronous pull found early.
template <class Offset>
__global__ void list_of_level(const int* list, number length, const int* distance, int level, int* queue, number* counters) {
    for (number i = thread_number(); i < length; i += thread_count())
        if (distance[list[i]] == level) queue[enqueue_at(&counters[TAIL])] = list[i];
}

// visited |= found, after a pull that looked at visited itself.
template <class Offset>
__global__ void merge_bits(word* visited, const word* found, number words) {
    for (number w = thread_number(); w < words; w += thread_count()) visited[w] |= found[w];
}

// Vertices that no search finds, and the bits past n: in-degree 0 (Hiragushi, section 3.4).
template <class Offset>
__global__ void closed_bits(const Offset* in_offsets, int n, word* closed) {
    const number padded = ((number)n + 31) / 32 * 32;
    for (number v = thread_number(); v < padded; v += thread_count()) {
        const word bits = __ballot_sync(EVERYONE, v >= n || degree(in_offsets, (int)v) == 0);
        if (lane() == 0) closed[v / 32] = bits;
    }
}

// The row of every arc of n rows: the coordinate form that a thread an arc needs (TurboBFS, section III-B).
template <class Offset>
__global__ void arc_rows(const Offset* offsets, int n, int* rows) {
    const number warps = thread_count() / WARP;
    for (number v = thread_number() / WARP; v < n; v += warps)
        for (Offset arc = offsets[v] + lane(); arc < offsets[v + 1]; arc += WARP) rows[arc - offsets[0]] = (int)v;
}

}  // namespace hopwave
