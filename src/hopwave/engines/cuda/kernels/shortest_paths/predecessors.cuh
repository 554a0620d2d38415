// Finds every vertex's predecessor on a shortest path when distances are final, in one cooperative launch. An arc u → v
// is tight if d(u) plus its length is d(v). Of the tight arcs from nearer vertices, the lowest u wins. Tight arcs
// between equally distant vertices (of length 0, or lost in rounding) could form a cycle. A vertex uses them only if it
// has no other tight arc, in rounds: it chooses the lowest u whose own predecessor was set before the round.
#pragma once
#include "shortest_paths/state.cuh"

namespace hopwave::shortest_paths {

//   parent      the result; -1 for no path
//   step        the round in which a vertex's predecessor was set; LATER before
//   lists       two lists of n vertices each; counts: their lengths, of this and the next round, and one being cleared
constexpr int LATER = 0x7fffffff;
constexpr i64 INFINITY_BITS = 0x7ff0000000000000ll;
__device__ __forceinline__ bool has_path(double d) { return d < __longlong_as_double(INFINITY_BITS); }

template <class Offset>
__device__ __forceinline__ int row_of(const Offset *offsets, int low, int high, i64 arc) {
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    if ((i64)__ldg(offsets + middle) <= arc) low = middle;
    else high = middle;
  }
  return low;
}

// Calls visit(u, v, d(u), d(u) plus length) for every arc u → v of a vertex that has a path.
template <class Offset, class Length, class Visit>
__device__ __forceinline__ void every_arc(const Offset *offsets, const int *neighbours, const Length *lengths, i64 n,
                                          i64 m, const double *d, Visit visit) {
  constexpr i64 STRETCH = 1024;  // arcs that a warp processes at a time
  const i64 warp = signed_thread_number() / WARP, warps = signed_thread_count() / WARP;
  for (i64 begin = warp * STRETCH; begin < m; begin += warps * STRETCH) {
    const i64 end = min(begin + STRETCH, m);
    const int low = row_of(offsets, 0, (int)n, begin), high = row_of(offsets, low, (int)n, end - 1) + 1;
    for (i64 arc = begin + lane(); arc < end; arc += WARP) {
      const int u = row_of(offsets, low, high, arc), v = __ldg(neighbours + arc);
      const double from = __ldg(d + u);
      if (has_path(from)) visit(u, v, from, from + (lengths ? __ldg(lengths + arc) : 1));
    }
  }
}

template <class Offset, class Length>
__global__ void __launch_bounds__(THREADS)
    choose(const Offset *offsets, const int *neighbours, const Length *lengths, i64 n, i64 m, const double *d,
           const int *sources, int first_source, i64 count, int *parent, int *step, int *lists, Counters *counters) {
  const i64 me = signed_thread_number(), all = signed_thread_count();
  u32 target = 0;
  auto meet = [&] { barrier(&counters->arrived, target, gridDim.x, [] {}, [] {}); };
  for (i64 v = me; v < n; v += all) parent[v] = LATER, step[v] = LATER;
  meet();
  every_arc(offsets, neighbours, lengths, n, m, d, [&](int u, int v, double from, double to) {
    const double there = __ldg(d + v);
    if (to == there && from < there && has_path(there)) atomicMin(parent + v, u);
  });
  meet();
  for (i64 i = me; i < count; i += all) {
    const int s = sources ? sources[i] : first_source;
    parent[s] = s, step[s] = 0;
  }
  for (i64 v = me; v < n; v += all) {
    const int u = __ldcg(parent + v);
    if (u != LATER) step[v] = 0;
    else if (has_path(__ldg(d + v))) atomicAdd(&counters->far[0], 1);
  }
  meet();
  u32 missing = __ldcg(&counters->far[0]);
  meet();
  // A source may be counted as missing if its parent is not set yet; that costs only one more pass.
  if (missing) {
    // The first round reads all arcs, later rounds only the arcs of the vertices found in the previous round.
    every_arc(offsets, neighbours, lengths, n, m, d, [&](int u, int v, double from, double to) {
      if (to == from && __ldg(d + v) == to && __ldcg(step + u) == 0 && __ldcg(step + v) > 0) {
        atomicMin(parent + v, u);
        if (atomicMin(step + v, 1) == LATER) lists[enqueue_at(&counters->near[1])] = v;
      }
    });
    meet();
    for (u32 round = 1;; round++) {
      const u32 found = __ldcg(&counters->near[round % 3]);
      if (!found) break;
      const int *list = lists + (round % 2 ? 0 : n);
      int *next = lists + (round % 2 ? n : 0);
      if (me == 0) counters->near[(round + 2) % 3] = 0;
      for (i64 i = me / WARP; i < found; i += all / WARP) {
        const int u = __ldcg(list + i);
        const double from = __ldg(d + u);
        const i64 end = (i64)__ldg(offsets + u + 1);
        for (i64 arc = (i64)__ldg(offsets + u) + lane(); arc < end; arc += WARP) {
          const int v = __ldg(neighbours + arc);
          const double to = from + (lengths ? __ldg(lengths + arc) : 1);
          if (to == from && __ldg(d + v) == to && __ldcg(step + v) > (int)round) {
            atomicMin(parent + v, u);
            if (atomicMin(step + v, (int)round + 1) == LATER) next[enqueue_at(&counters->near[(round + 1) % 3])] = v;
          }
        }
      }
      meet();
    }
  }
  for (i64 v = me; v < n; v += all)
    if (__ldcg(parent + v) == LATER) parent[v] = -1;
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence();
  if (atomicAdd(&counters->left, 1) == gridDim.x - 1) {
    counters->left = counters->arrived = counters->far[0] = 0;
    for (int i = 0; i < 3; i++) counters->near[i] = 0;
  }
}

// Walks from a vertex back to the source along the predecessors of `choose`, in one block.
//   path    number of vertices, then the vertices; 0 if no path exists, -1 if it has more than `most` vertices or needs
//           arcs between equally distant vertices
template <class Offset, class Length>
__global__ void __launch_bounds__(THREADS)
    walk_back(const Offset *offsets, const int *neighbours, const Length *lengths, const double *d, int source, int v,
              int most, int *path) {
  __shared__ int lowest;
  int count = has_path(d[v]) ? 1 : 0;
  if (threadIdx.x == 0) path[1] = v;
  while (count && v != source) {
    if (threadIdx.x == 0) lowest = LATER;
    __syncthreads();
    const double there = d[v];
    const i64 end = (i64)offsets[v + 1];
    for (i64 arc = (i64)offsets[v] + threadIdx.x; arc < end; arc += THREADS) {
      const int u = neighbours[arc];
      const double from = d[u];
      if (from < there && from + (lengths ? lengths[arc] : 1) == there) atomicMin(&lowest, u);
    }
    __syncthreads();
    v = lowest;
    if (v == LATER || count == most) {
      count = -1;
      break;
    }
    ++count;
    if (threadIdx.x == 0) path[count] = v;
    __syncthreads();  // all threads have read `lowest`
  }
  if (threadIdx.x == 0) path[0] = count;
}

}  // namespace hopwave::shortest_paths
