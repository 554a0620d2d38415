// Connected components by hooking: Sutton, Ben-Nun and Barak, "Optimizing Parallel Graph Connectivity Computation via
// Subgraph Sampling" (Afforest, 2018), with the compare-and-swap of Jaiganesh and Burtscher (ECL-CC, 2018).
//
//   parent   one tree per component; parent[v] <= v, so a root is the lowest vertex of its tree
#pragma once
#include "common/rows.cuh"

namespace hopwave::components {

// The root of v's tree, or an ancestor of v if another thread hooks that root meanwhile: sufficient for join.
__device__ inline int root_of(int *parent, int v) {
  int above = status(parent, v);
  while (above != v) {
    const int next = status(parent, above);
    if (next != above) parent[v] = next;  // path halving
    v = above, above = next;
  }
  return v;
}

__device__ inline void join(int *parent, int u, int v) {
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

template <class Offset>
__global__ void plant(int n, int *parent) {
  for (u64 v = thread_number(); v < n; v += thread_count()) parent[v] = (int)v;
}

// Joins the first `few` arcs of every vertex: sufficient to join most of a giant component.
template <class Offset>
__global__ void hook_first(const Offset *offsets, Neighbours<Offset> neighbours, int n, int few, int *parent) {
  for (u64 v = thread_number(); v < n; v += thread_count()) {
    const Offset begin = offsets[v], end = offsets[v + 1];
    for (Offset arc = begin; arc < end && arc < begin + few; ++arc) join(parent, (int)v, neighbour(neighbours, arc));
  }
}

// Joins the other arcs. Rows of the tree `giant` are skipped: their arcs stay in it, or another row has the reverse.
template <class Offset>
__global__ void hook_rest(const Offset *offsets, Neighbours<Offset> neighbours, int n, int few, int giant,
                          const int *long_rows, u64 longs, u64 long_row, int *parent) {
  const u64 warps = thread_count() / WARP;
  for (u64 v = thread_number() / WARP; v < n; v += warps) {
    if (status(parent, (int)v) == giant || degree(offsets, (int)v) > long_row) continue;
    for (Offset arc = offsets[v] + few + lane(); arc < offsets[v + 1]; arc += WARP)
      join(parent, (int)v, neighbour(neighbours, arc));
  }
  for (u64 i = 0; i < longs; ++i) {
    const int v = long_rows[i];
    if (status(parent, v) == giant) continue;
    for (u64 arc = offsets[v] + few + thread_number(); arc < offsets[v + 1]; arc += thread_count())
      join(parent, v, neighbour(neighbours, arc));
  }
}

// Sets every vertex's parent to its root. Path halving here would undo the work of other threads.
template <class Offset>
__global__ void flatten(int n, int *parent) {
  for (u64 v = thread_number(); v < n; v += thread_count()) {
    int root = status(parent, (int)v);
    for (int above = status(parent, root); above != root; above = status(parent, root)) root = above;
    parent[v] = root;
  }
}

// Bipartition. Every vertex v is two nodes, 2v on side 0 and 2v + 1 on side 1; an arc joins each node of one endpoint
// with the other endpoint's node on the other side. The graph is bipartite if no tree contains both nodes of a vertex.
template <class Offset>
__device__ inline void join_sides(int *parent, int u, int v) {
  join(parent, 2 * u, 2 * v + 1);
  join(parent, 2 * u + 1, 2 * v);
}
template <class Offset>
__global__ void hook_sides_first(const Offset *offsets, Neighbours<Offset> neighbours, int n, int few, int *parent) {
  for (u64 v = thread_number(); v < n; v += thread_count()) {
    const Offset begin = offsets[v], end = offsets[v + 1];
    for (Offset arc = begin; arc < end && arc < begin + few; ++arc)
      join_sides<Offset>(parent, (int)v, neighbour(neighbours, arc));
  }
}
template <class Offset>
__global__ void hook_sides(const Offset *offsets, Neighbours<Offset> neighbours, int n, u64 arcs, int *parent) {
  each_arc(offsets, n, arcs, [=](int v, u64 arc) { join_sides<Offset>(parent, v, neighbour(neighbours, arc)); });
}

// Sets `odd` if a tree contains both nodes of a vertex; writes every vertex's side. The trees are flat.
template <class Offset>
__global__ void write_sides(int n, const int *parent, signed char *sides, int *odd) {
  for (u64 v = thread_number(); v < n; v += thread_count()) {
    sides[v] = parent[2 * v] & 1;
    if (parent[2 * v] == parent[2 * v + 1]) *odd = 1;
  }
}

template <class Offset>
__global__ void sample_roots(u64 n, const int *parent, u64 count, int *roots) {
  for (u64 i = thread_number(); i < count; i += thread_count()) roots[i] = parent[i * n / count];
}

// Components are numbered in the order of their roots; a root's parent becomes the complement of its number.
template <class Offset>
__global__ void count_roots(u64 n, const int *parent, u64 *sums) {
  sum_tiles(n, sums, [=](u64 v) { return parent[v] == v; });
}
template <class Offset>
__global__ void scan_roots(u64 *sums, u64 tiles) {
  scan_in_place(sums, tiles);
}
template <class Offset>
__global__ void number_roots(u64 n, const u64 *sums, int *parent) {
  write_tiles(
      n, sums, [=](u64 v) { return parent[v] == v; },
      [=](u64 v, u64 before) {
        if (parent[v] == v) parent[v] = ~(int)before;
      });
}
template <class Offset>
__global__ void write_labels(u64 n, const int *parent, int *labels) {
  for (u64 v = thread_number(); v < n; v += thread_count()) {
    const int above = parent[v];
    labels[v] = ~(above < 0 ? above : parent[above]);
  }
}

// ---- Biconnected blocks: the steps of engines/cpu/blocks.py that read all arcs.
//   parent   parent of every vertex in the breadth-first search tree
//   first    a number for every vertex, consecutive within each subtree

// The smallest and largest number among v and its neighbours except its parent; low[v] and high[v] start as first[v].
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

template <class Offset>
__global__ void join_others(const Offset *offsets, Neighbours<Offset> neighbours, int n, u64 arcs, const int *parent,
                            int *above) {
  each_arc(offsets, n, arcs, [=](int v, u64 arc) {
    const int w = neighbour(neighbours, arc);
    if (w < v && w != parent[v] && v != parent[w]) join(above, v, w);
  });
}

}  // namespace hopwave::components
