// Strongly connected components: vertices on no cycle are trimmed; a forward and a backward search find one large
// component (Fleischer, Hendrickson and Pınar, 2000; McLendon et al., 2005); colours find the rest (Orzan, 2004).
//
//   part     the component of a vertex, named by one of its vertices; OPEN while unknown
//   group    vertices of one component have the same group; arcs between groups are ignored
//   colour   the highest priority of all vertices that reach a vertex within its group
//
// A vertex whose colour is its own priority is the root of its component: the vertices of its colour that reach it. All
// other vertices of that colour become a group. Priorities are random in every round: with fixed priorities, a chain of
// components could need one round per component.
#pragma once
#include "common/rows.cuh"

namespace hopwave::components {

constexpr int OPEN = -1;

// Two alternating lists of pieces of rows; counts: entries of this round, of the next round, and one being cleared.
struct Rounds {
  u64 *lists;
  u64 room;
  u32 *counts, *arrived;
};

// The arcs between open vertices of one group: out-arcs if built from rows, in-arcs if built from columns.
template <class Offset>
struct OpenArcs {
  const Offset *offsets;
  const int *neighbours;
  const int *part, *group;

  __device__ bool leads(int v, int u) const { return u != v && status(part, u) == OPEN && group[u] == group[v]; }
};

template <class Offset>
__device__ inline void enlist(const Rounds &rounds, u32 round, const Offset *offsets, int v) {
  const u32 pieces = pieces_of(degree(offsets, v));
  if (!pieces) return;
  u64 *list = rounds.lists + round % 2 * rounds.room + atomicAdd(rounds.counts + round % 3, pieces);
  for (u32 i = 0; i < pieces; ++i) list[i] = piece(v, i);
}

// Full warps call work(entry, next round) for all entries of a round, until a round is empty; round 0 is listed before.
template <class Work>
__device__ inline void in_rounds(const Rounds &rounds, u32 &target, Work work) {
  for (u32 round = 0;; ++round) {
    barrier(rounds.arrived, target, gridDim.x, [] {}, [] {});
    const u32 listed = __ldcg(rounds.counts + round % 3);
    if (!listed) return;
    if (thread_number() == 0) rounds.counts[(round + 2) % 3] = 0;
    const u64 *list = rounds.lists + round % 2 * rounds.room;
    for (u64 i = thread_number() / WARP; i < listed; i += thread_count() / WARP) work(__ldcg(list + i), round + 1);
  }
}

template <class Offset>
__global__ void count_open(const Offset *offsets, const int *neighbours, int n, u64 arcs, const int *part,
                           const int *group, int *out, int *in) {
  const OpenArcs<Offset> open{offsets, neighbours, part, group};
  each_arc(offsets, n, arcs, [=](int v, u64 arc) {
    const int u = neighbours[arc];
    if (part[v] != OPEN || !open.leads(v, u)) return;
    atomicAdd(out + v, 1);
    atomicAdd(in + u, 1);
  });
}

// An open vertex without out-arcs or without in-arcs is a component. Entries are pieces of rows, then of columns.
template <class Offset>
__global__ void trim(const Offset *offsets, const int *neighbours, const Offset *in_offsets, const int *in_neighbours,
                     int n, const int *group, int *part, int *out, int *in, const Rounds rounds) {
  const OpenArcs<Offset> rows{offsets, neighbours, part, group}, columns{in_offsets, in_neighbours, part, group};
  u32 target = 0;
  auto close = [&](int v, u32 round) {
    if (atomicCAS(part + v, OPEN, v) != OPEN) return;
    const u32 ahead = pieces_of(degree(offsets, v)), all = ahead + pieces_of(degree(in_offsets, v));
    if (!all) return;
    u64 *list = rounds.lists + round % 2 * rounds.room + atomicAdd(rounds.counts + round % 3, all);
    for (u32 i = 0; i < all; ++i) list[i] = piece(v, i);
  };
  for (u64 v = thread_number(); v < n; v += thread_count())
    if (part[v] == OPEN && (!out[v] || !in[v])) close((int)v, 0);
  in_rounds(rounds, target, [&](u64 entry, u32 next) {
    const u32 ahead = pieces_of(degree(offsets, (int)(entry >> 32)));
    const bool back = (u32)entry >= ahead;
    const OpenArcs<Offset> &arcs = back ? columns : rows;
    int *left = back ? out : in;
    each_arc_of(back ? entry - ahead : entry, arcs.offsets, [&](int v, u64 arc) {
      const int u = arcs.neighbours[arc];
      if (arcs.leads(v, u) && atomicSub(left + u, 1) == 1) close(u, next);
    });
  });
}

// Marks with a bit the open vertices of the pivot's group that it reaches, by rows or by columns.
template <class Offset>
__global__ void reach(const Offset *offsets, const int *neighbours, int pivot, u32 bit, const int *part,
                      const int *group, u32 *marks, const Rounds rounds) {
  const OpenArcs<Offset> open{offsets, neighbours, part, group};
  u32 target = 0;
  if (thread_number() == 0) {
    atomicOr(marks + pivot, bit);
    enlist(rounds, 0, offsets, pivot);
  }
  in_rounds(rounds, target, [&](u64 entry, u32 next) {
    each_arc_of(entry, offsets, [&](int v, u64 arc) {
      const int u = neighbours[arc];
      if (!open.leads(v, u) || *(volatile u32 *)(marks + u) & bit) return;
      if (!(atomicOr(marks + u, bit) & bit)) enlist(rounds, next, offsets, u);
    });
  });
}

// The open vertices with both marks are one component; each other combination of marks becomes a group.
template <class Offset>
__global__ void close_reached(int n, int pivot, const u32 *marks, int *part, int *group) {
  for (u64 v = thread_number(); v < n; v += thread_count()) {
    if (part[v] == OPEN && marks[v] == 3) part[v] = pivot;
    group[v] = (int)marks[v];
  }
}

template <class Offset>
__global__ void spread_colours(const Offset *offsets, const int *neighbours, int n, u64 seed, const int *part,
                               const int *group, u64 *colour, u32 *listed, const Rounds rounds) {
  const OpenArcs<Offset> open{offsets, neighbours, part, group};
  u32 target = 0;
  for (u64 v = thread_number(); v < n; v += thread_count()) {
    if (part[v] != OPEN) continue;
    colour[v] = splitmix(seed + v * WEYL) << 32 | v;
    listed[v] = 0;
    enlist(rounds, 0, offsets, (int)v);
  }
  in_rounds(rounds, target, [&](u64 entry, u32 next) {
    const u64 mine = *(volatile u64 *)(colour + (entry >> 32));
    each_arc_of(entry, offsets, [&](int v, u64 arc) {
      const int u = neighbours[arc];
      if (!open.leads(v, u) || *(volatile u64 *)(colour + u) >= mine || atomicMax(colour + u, mine) >= mine) return;
      if (atomicExch(listed + u, next) != next) enlist(rounds, next, offsets, u);
    });
  });
}

// Every root's component: the vertices of its colour that reach it, found by columns.
template <class Offset>
__global__ void close_colours(const Offset *in_offsets, const int *in_neighbours, int n, int *part, const int *group,
                              const u64 *colour, const Rounds rounds) {
  const OpenArcs<Offset> open{in_offsets, in_neighbours, part, group};
  u32 target = 0;
  for (u64 v = thread_number(); v < n; v += thread_count())
    if (part[v] == OPEN && (colour[v] & 0xffffffffu) == v) {
      part[v] = (int)v;
      enlist(rounds, 0, in_offsets, (int)v);
    }
  in_rounds(rounds, target, [&](u64 entry, u32 next) {
    const int root = status(part, (int)(entry >> 32));
    each_arc_of(entry, in_offsets, [&](int v, u64 arc) {
      const int u = in_neighbours[arc];
      if (open.leads(v, u) && colour[u] == colour[v] && atomicCAS(part + u, OPEN, root) == OPEN)
        enlist(rounds, next, in_offsets, u);
    });
  });
}

template <class Offset>
__global__ void regroup(int n, const int *part, const u64 *colour, int *group, u32 *count) {
  u32 mine = 0;
  for (u64 v = thread_number(); v < n; v += thread_count())
    if (part[v] == OPEN) {
      if (colour) group[v] = (int)(colour[v] & 0xffffffffu);
      ++mine;
    }
  add_warp_sum(count, mine);
}

// Components are named by one of their vertices; these two kernels find the lowest, and rename them by it.
template <class Offset>
__global__ void find_lowest(int n, const int *part, int *lowest) {
  for (u64 v = thread_number(); v < n; v += thread_count()) atomicMin(lowest + part[v], (int)v);
}
template <class Offset>
__global__ void name_by_lowest(int n, const int *lowest, int *part) {
  for (u64 v = thread_number(); v < n; v += thread_count()) part[v] = lowest[part[v]];
}

}  // namespace hopwave::components
