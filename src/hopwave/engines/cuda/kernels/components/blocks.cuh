// Biconnected blocks: the steps of engines/cpu/blocks.py that read all arcs. Vertices are joined as in
// components/hooking.cuh.
//
//   parent   of every vertex, in the tree of a breadth-first search
//   first    a number for every vertex, so that those of a subtree are consecutive
#pragma once
#include "components/hooking.cuh"

namespace hopwave::components {

// The least and the greatest number among a vertex and its neighbours, but for its parent; both begin with its own.
template <class Offset>
__global__ void neighbour_range(const Offset *offsets, Neighbours<Offset> neighbours, int n, u64 arcs,
                                const int *parent, const int *first, int *low, int *high) {
  each_arc(offsets, n, arcs, [=](int v, u64 arc) {
    const int w = neighbour(neighbours, arc);
    if (w == parent[v]) return;
    const int number = first[w];
    if (number < low[v]) atomicMin(low + v, number);
    if (number > high[v]) atomicMax(high + v, number);
  });
}

// Joins the ends of edges that are not in the tree.
template <class Offset>
__global__ void join_others(const Offset *offsets, Neighbours<Offset> neighbours, int n, u64 arcs, const int *parent,
                            int *above) {
  each_arc(offsets, n, arcs, [=](int v, u64 arc) {
    const int w = neighbour(neighbours, arc);
    if (w < v && w != parent[v] && v != parent[w]) join(above, v, w);
  });
}

}  // namespace hopwave::components
