// XBFS's bottom-up: a sorted queue of unvisited vertices by double scan (section 4.2), rows dealt to threads in three
// ways (section 5.1), and the asynchronous look ahead (section 5.2, Algorithm 3).
#pragma once
#include "common/atoms.cuh"

namespace hopwave {

// A bottom-up frontier: not visited before this level (Definition 2.1). What the level before found early, at this
// depth + 1, is still in it, so that the queue holds all that a push from it will need (Observation 2).
__device__ inline bool waits(const int* distance, number v, number n, int depth) {
    return v < n && (distance[v] == -1 || distance[v] == depth + 1);
}

// One of the two scans. A thread owns a segment, but a warp goes through the segments of its threads together, 32
// vertices at a time, so that reads coalesce; a ballot tells all, and the owner alone makes use of it. scan = 1 counts
// the waiting vertices of every segment: places[segment] says how many stand before it in its block, sums[block] how
// many the block has. Once sums are running sums, scan = 2 writes the vertices to their places.
template <class Offset, int scan>
__global__ void scan_segments(
    const int* distance, number n, int depth, number segments, number segment_length, unsigned* places,
    long long* sums, int* queue) {
    const number segment = thread_number(), first_segment = segment - lane();
    unsigned count = 0;
    number place = scan == 2 && segment < segments ? (number)sums[blockIdx.x] + places[segment] : 0;
    for (int owner = 0; owner < WARP; ++owner) {
        if (first_segment + owner >= segments) break;  // the same for the whole warp
        const number begin = (first_segment + owner) * segment_length;
        for (number first = begin; first < begin + segment_length && first < n; first += WARP) {
            unsigned waiting = __ballot_sync(EVERYONE, waits(distance, first + lane(), n, depth));
            if (lane() != owner) continue;
            if (scan == 1) count += __popc(waiting);
            else
                for (; waiting; waiting &= waiting - 1) queue[place++] = (int)(first + __ffs(waiting) - 1);
        }
    }
    if (scan == 1) {
        unsigned total;
        const unsigned before = block_scan(count, total);
        if (segment < segments) places[segment] = before;
        if (threadIdx.x == 0) sums[blockIdx.x] = total;
    }
}

// Each block's sum becomes that of the blocks before it; one block does it, as they are few.
template <class Offset>
__global__ void prefix_sum(long long* sums, number blocks) {
    long long before = 0;
    for (number tile = 0; tile < blocks; tile += BLOCK) {
        const number i = tile + threadIdx.x;
        long long total;
        const long long place = block_scan(i < blocks ? sums[i] : 0LL, total);
        if (i < blocks) sums[i] = before + place;
        before += total;
    }
}

// One row: depth is the papers' l - 1. A neighbour in the frontier ends the search for a parent. With asynchronous,
// a row without one but with a neighbour found during this very launch belongs to the level after (Lemma 2); whether
// it is seen in time is luck, what it says is always right.
template <class Offset, bool asynchronous>
__device__ inline void traverse(
    int v, const Offset* in_offsets, const int* in_neighbours, const Offset* offsets, int depth, int* distance,
    int* parent, Tally& mine) {
    if (status(distance, v) != -1) return;  // found early, by the level before
    const Offset end = in_offsets[v + 1];
    int beside = -1;
    for (Offset arc = in_offsets[v]; arc < end; ++arc) {
        const int u = in_neighbours[arc];
        const int level = status(distance, u);
        mine.checked += 1;
        if (level == depth) {
            *(volatile int*)&distance[v] = depth + 1;
            if (parent) parent[v] = u;
            mine.found += 1;
            mine.edges += degree(offsets, v);
            return;
        }
        if (asynchronous && level == depth + 1) beside = u;
    }
    if (asynchronous && beside >= 0) {
        *(volatile int*)&distance[v] = depth + 2;
        if (parent) parent[v] = beside;
        mine.ahead += 1;
        mine.ahead_edges += degree(offsets, v);
    }
}

// balance = static: thread t takes rows t, t + threads, ... thread: its first row by number, each further one from a
// shared counter (Algorithm 1). warp: the same, 32 rows at a time for the warp (Algorithm 2).
template <class Offset, Balance balance, bool asynchronous>
__global__ void pull_queue(
    const Offset* in_offsets, const int* in_neighbours, const Offset* offsets, const int* queue, number length,
    int depth, int* distance, int* parent, number* counters) {
    Tally mine;
    number i = thread_number();
    const number threads = thread_count();
    if (balance == Balance::warp) {
        while (__any_sync(EVERYONE, i < length)) {
            if (i < length)
                traverse<Offset, asynchronous>(queue[i], in_offsets, in_neighbours, offsets, depth, distance, parent, mine);
            __syncwarp();
            number first = 0;
            if (lane() == 0) first = threads + atomicAdd(&counters[TICKET], (number)WARP);
            i = __shfl_sync(EVERYONE, first, 0) + lane();
        }
    } else {
        while (i < length) {
            traverse<Offset, asynchronous>(queue[i], in_offsets, in_neighbours, offsets, depth, distance, parent, mine);
            i = balance == Balance::static_ ? i + threads : threads + atomicAdd(&counters[TICKET], 1ull);
        }
    }
    report(mine, counters);
}

}  // namespace hopwave
