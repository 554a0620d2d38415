// Lengths of spurs, one warp per spur, thousands at a time. A spur leaves a known path at one of its vertices, does not
// return to the path up to there, and does not begin with certain arcs. Vertices whose distance plus rest to the target
// is within a bound are relaxed first, as in engines/cpu/shortest_paths/deviations.py (bitwise identical).
//
//   near, next  vertices whose distance fell within the bound: of this round and of the next round
//   far         vertices beyond the bound. Once no near vertex remains, the bound becomes their smallest plus a step.
#pragma once
#include "common/shortest.cuh"

namespace hopwave::shortest_paths {

constexpr int SPUR_LISTS = 4;  // n vertices each: near, next, far, and vertices with a distance
constexpr u32 BARRED = ~0u;    // near_stamp of the path's vertices before the spur, which the spur must not visit

struct SpurSearches {
  const int *offsets, *neighbours;       // of the remaining graph
  const double *lengths, *rest;          // per arc; per vertex: distance to the target
  const u32 *vertices;                   // of all paths, concatenated
  const double *so_far;                  // their distances
  const i64 *begins;                     // per path
  const i64 *known_path, *known_before;  // per known spur: the path that it leaves, the previous spur or -1
  const i64 *path, *at, *before;         // per wanted spur: path, index of the spur vertex, previous spur
  double *found;                         // per spur: its length; infinite if none exists
  double *distance;                      // per warp: n, infinite before and after
  u32 *near_stamp, *far_stamp;  // per warp: n; the last round that listed the vertex; whether it is on the far list
  int *lists;                   // per warp: SPUR_LISTS * n
  u32 *rounds;                  // per warp: continues across launches, so stamps need no clearing
  u32 *ticket;                  // index of the next spur
  double most, slack, steps;    // maximum length; factor by which two sums of it may differ; step of the bound
  i64 n, count, target;
};

__device__ inline bool is_closed(const SpurSearches &S, u32 item, u32 v) {
  i64 path = S.path[item], before = S.before[item];
  const i64 next = S.at[item] + 1;
  for (;;) {
    const i64 j = S.begins[path] + next;
    if (j < S.begins[path + 1] && S.vertices[j] == v) return true;
    if (before < 0) return false;
    path = S.known_path[before], before = S.known_before[before];
  }
}

__device__ __forceinline__ int append(int *list, int length, bool wanted, int v) {
  const u32 lanes = __ballot_sync(ALL_LANES, wanted);
  if (wanted) list[length + __popc(lanes & lanes_below())] = v;
  return length + __popc(lanes);
}

template <class Offset>
__global__ void __launch_bounds__(WARP) find_spurs(const __grid_constant__ SpurSearches S) {
  const int me = (int)lane(), target = (int)S.target;
  const i64 n = S.n, base = blockIdx.x * n;
  double *const distance = S.distance + base;
  u32 *const near_stamp = S.near_stamp + base, *const far_stamp = S.far_stamp + base;
  int *near_list = S.lists + SPUR_LISTS * base, *next_list = near_list + n;
  int *const far_list = next_list + n, *const touched = far_list + n;
  u32 round = S.rounds[blockIdx.x];
  for (;;) {
    u32 item = 0;
    if (me == 0) item = atomicAdd(S.ticket, 1u);
    item = __shfl_sync(ALL_LANES, item, 0);
    if (item >= S.count) break;
    const i64 begin = S.begins[S.path[item]], at = S.at[item];
    const int start = (int)S.vertices[begin + at];
    for (i64 i = me; i < at; i += WARP) near_stamp[S.vertices[begin + i]] = BARRED;
    if (me == 0) distance[start] = S.so_far[begin + at], near_list[0] = touched[0] = start;
    __syncwarp();
    int near = 1, far = 0, seen = 1;
    double bound = S.so_far[begin + at] + S.rest[start];
    const double step = max(min(S.most, 2 * bound) - bound, 0.0) / S.steps;
    bound += step;
    for (;;) {
      while (near) {
        ++round;
        int next = 0;
        for (int first = 0; first < near; first += WARP) {
          // Up to 32 vertices, one per lane, and then their arcs, one per lane.
          const double last = distance[target] * S.slack;
          int u = first + me < near ? near_list[first + me] : -1;
          const double here = u < 0 ? 0.0 : distance[u];
          if (u >= 0 && here + S.rest[u] >= last) u = -1;
          const int row = u < 0 ? 0 : S.offsets[u], size = u < 0 ? 0 : S.offsets[u + 1] - row;
          const int through = inclusive_scan(size), arcs = __shfl_sync(ALL_LANES, through, WARP - 1);
          for (int some = 0; some < arcs; some += WARP) {
            const int k = some + me;
            int owner = 0;  // the lane whose row contains arc k
            for (int half = WARP / 2; half; half /= 2)
              if (__shfl_sync(ALL_LANES, through, owner + half - 1) <= k) owner += half;
            const double from = __shfl_sync(ALL_LANES, here, owner);
            const int tail = __shfl_sync(ALL_LANES, u, owner);
            const int arc = __shfl_sync(ALL_LANES, row + size - through, owner) + k;
            int v = -1;
            bool nearer = false, fresh = false;
            double key = 0.0;
            if (k < arcs) {
              v = S.neighbours[arc];
              const double offer = from + S.lengths[arc];
              key = offer + S.rest[v];
              if (key <= S.most && offer < distance[v] && near_stamp[v] != BARRED &&
                  !(tail == start && is_closed(S, item, (u32)v))) {
                const u64 bits = (u64)__double_as_longlong(offer), old = atomicMin((u64 *)distance + v, bits);
                nearer = bits < old, fresh = old == (u64)__double_as_longlong(infinite());
              }
            }
            seen = append(touched, seen, fresh, v);
            nearer = nearer && v != target;
            const bool close = key <= bound;
            const bool listed =
                nearer && (close ? atomicExch(near_stamp + v, round) == round : atomicExch(far_stamp + v, 1u) == 1u);
            next = append(next_list, next, nearer && close && !listed, v);
            far = append(far_list, far, nearer && !close && !listed, v);
            __syncwarp();
          }
        }
        near = next;
        int *const other = near_list;
        near_list = next_list, next_list = other;
        __syncwarp();
      }
      // The bound moves past the nearest far vertex; far vertices within the old bound have been near since.
      const double before = bound, last = distance[target] * S.slack;
      double least = infinite();
      for (int i = me; i < far; i += WARP) {
        const double key = distance[far_list[i]] + S.rest[far_list[i]];
        if (key > before && key < last) least = min(least, key);
      }
      for (int lanes = WARP / 2; lanes; lanes /= 2) least = min(least, __shfl_xor_sync(ALL_LANES, least, lanes));
      bound = least + step;
      int kept = 0;
      for (int first = 0; first < far; first += WARP) {
        const bool there = first + me < far;
        const int v = there ? far_list[first + me] : 0;
        const double key = there ? distance[v] + S.rest[v] : 0.0;
        const bool waits = there && key > before && key < last;
        __syncwarp();
        if (there && !(waits && key > bound)) far_stamp[v] = 0;
        near = append(near_list, near, waits && key <= bound, v);
        kept = append(far_list, kept, waits && key > bound, v);
        __syncwarp();
      }
      far = kept;
      if (!near) break;
    }
    __syncwarp();
    if (me == 0) S.found[item] = distance[target];
    __syncwarp();
    for (int i = me; i < seen; i += WARP) distance[touched[i]] = infinite();
    for (i64 i = me; i < at; i += WARP) near_stamp[S.vertices[begin + i]] = 0;
    __syncwarp();
  }
  if (me == 0) S.rounds[blockIdx.x] = round;
}

}  // namespace hopwave::shortest_paths
