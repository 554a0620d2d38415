// Connected components by hooking: Sutton, Ben-Nun and Barak, "Optimizing Parallel Graph Connectivity Computation via
// Subgraph Sampling" (Afforest, 2018), with the compare-and-swap of Jaiganesh and Burtscher (ECL-CC, 2018).
//
//   parent   a tree a component, every vertex's parent no higher than itself: a root is its tree's lowest vertex
#pragma once
#include "common/atoms.cuh"

namespace hopwave {

// Others may hook this root meanwhile: then it is an ancestor still, which is all that join needs.
__device__ inline int root_of(int* parent, int v) {
    int above = status(parent, v);
    while (above != v) {
        const int next = status(parent, above);
        if (next != above) parent[v] = next;  // on the way, the path is halved
        v = above, above = next;
    }
    return v;
}

__device__ inline void join(int* parent, int u, int v) {
    int high = root_of(parent, u), low = root_of(parent, v);
    while (high != low) {
        if (high < low) {
            const int other = high;
            high = low, low = other;
        }
        const int was = atomicCAS(parent + high, high, low);
        if (was == high) return;
        high = root_of(parent, was), low = root_of(parent, low);
    }
}

// The first arcs of every vertex: enough to show most of a giant component.
template <class Offset>
__global__ void hook_first(const Offset* offsets, const int* neighbours, int n, int few, int* parent) {
    for (number v = thread_number(); v < n; v += thread_count()) {
        const Offset begin = offsets[v], end = offsets[v + 1];
        for (Offset arc = begin; arc < end && arc < begin + few; ++arc) join(parent, (int)v, neighbours[arc]);
    }
}

// The other arcs, a warp a row, then all threads on each long row. Rows of the tree `giant` are left out: in an
// undirected graph each of their arcs has a reverse elsewhere, or within.
template <class Offset>
__global__ void hook_rest(
    const Offset* offsets, const int* neighbours, int n, int few, int giant, const int* long_rows, number longs,
    number long_row, int* parent) {
    const number warps = thread_count() / WARP;
    for (number v = thread_number() / WARP; v < n; v += warps) {
        if (status(parent, (int)v) == giant || degree(offsets, (int)v) > long_row) continue;
        for (Offset arc = offsets[v] + few + lane(); arc < offsets[v + 1]; arc += WARP)
            join(parent, (int)v, neighbours[arc]);
    }
    for (number i = 0; i < longs; ++i) {
        const int v = long_rows[i];
        if (status(parent, v) == giant) continue;
        for (number arc = offsets[v] + few + thread_number(); arc < offsets[v + 1]; arc += thread_count())
            join(parent, v, neighbours[arc]);
    }
}

// Every vertex right under its root. Each thread writes its own vertices alone: halved paths would undo others' work.
template <class Offset>
__global__ void flatten(int n, int* parent) {
    for (number v = thread_number(); v < n; v += thread_count()) {
        int root = status(parent, (int)v);
        for (int above = status(parent, root); above != root; above = status(parent, root)) root = above;
        parent[v] = root;
    }
}

}  // namespace hopwave
