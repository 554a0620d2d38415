// The column product of push-pull (Algorithm 3): scan, gather all neighbours, radix sort (radix.cuh), segmented reduce,
// mask.
#pragma once
#include "common/products.cuh"
#include "steps/gather.cuh"
#include "steps/radix.cuh"
#include "steps/report.cuh"

namespace hopwave::steps {

// Lines 6-10: writes every neighbour v as a key. In a structure-only product keys have no values; the predecessor is
// then written here, where any writer is right. In a key-value product the value of a key is A(u, v) · u, for the
// reduction to choose from (ANY) or to look up path counts with (PLUS). `values` is null if all A(u, v) are 1.
template <class Offset>
__device__ inline void gather_values(const Offset *offsets, const int *neighbours, const int *values, const int *queue,
                                     const i64 *sums, u64 lists, u64 arcs, const int *distance, int *keys, int *sources,
                                     int *parent, u64 *counters) {
  Tally mine;
  gather_shares(offsets, queue, sums, lists, arcs, [&](int u, Offset arc, u64 slot) {
    const int v = neighbours[arc];
    mine.checked += 1;
    keys[slot] = v;
    if (sources) sources[slot] = values ? values[arc] * u : u;
    if (parent && distance[v] < 0) parent[v] = u;
  });
  report(mine, counters);
}

// Equal keys lie side by side, and are one vertex found. With PLUS the sum over them is its path count, with ANY one of
// their values is its predecessor. The mask is applied to the result. `sources` is null for keys without values.
template <class Offset>
__device__ inline void reduce_keys(const Offset *offsets, const int *keys, const int *sources, u64 arcs, int depth,
                                   u32 *visited, int *distance, int *parent, double *sigma, int *next, u64 *counters) {
  Tally mine;
  const u64 padded = (arcs + WARP - 1) / WARP * WARP;
  for (u64 i = thread_number(); i < padded; i += thread_count()) {
    const int v = i < arcs ? keys[i] : -1;
    const int d = v >= 0 ? status(distance, v) : 0;
    const bool unmasked = v >= 0 && (d < 0 || d == depth + 1);  // the second: found by an equal key
    if (sigma) {
      bool last;
      const double sum = run_sum(v, unmasked ? sigma[sources[i]] : 0.0, last);
      if (unmasked && last) atomicAdd(&sigma[v], sum);
    }
    int value = unmasked && sources ? sources[i] : -1;
    if (sources && !sigma) {  // the greatest of the values of equal keys, at the first lane that has the key
      for (int step = 1; step < WARP; step *= 2) {
        const int other = __shfl_down_sync(ALL_LANES, value, step), its = __shfl_down_sync(ALL_LANES, v, step);
        if (lane() + step < WARP && its == v) value = max(value, other);
      }
    }
    if (unmasked && (i == 0 || keys[i - 1] != v) && (!sources || value >= 0)) {
      distance[v] = depth + 1;
      atomicOr(&visited[v / 32], 1u << (v % 32));  // so that a row product finds its mask and operand ready
      if (sources && parent) parent[v] = value;
      next[enqueue_at(&counters[TAIL])] = v;
      mine.found += 1;
      mine.edges += degree(offsets, v);
    }
  }
  report(mine, counters);
}

template <class Offset>
__global__ void gather_pairs(const Offset *offsets, const int *neighbours, const int *values, const int *queue,
                             const i64 *sums, u64 lists, u64 arcs, const int *distance, int *keys, int *sources,
                             int *parent, u64 *counters) {
  gather_values(offsets, neighbours, values, queue, sums, lists, arcs, distance, keys, sources, parent, counters);
}

template <class Offset>
__global__ void reduce_sorted(const Offset *offsets, const int *keys, const int *sources, u64 arcs, int depth,
                              u32 *visited, int *distance, int *parent, double *sigma, int *next, u64 *counters) {
  reduce_keys(offsets, keys, sources, arcs, depth, visited, distance, parent, sigma, next, counters);
}

// The whole product of a small frontier in one block: a barrier between two steps instead of a launch. `sources` is
// null unless `pairs`; there are at most SORT_TILE arcs.
template <class Offset, bool pairs>
__global__ void push_tile(const Offset *offsets, const int *neighbours, const int *values, const int *queue, u64 lists,
                          u64 arcs, i64 *ends, int *keys, int *sources, int bits, int width, int depth, u32 *visited,
                          int *distance, int *parent, double *sigma, int *next, u64 *counters) {
  write_ends(offsets, queue, lists, ends);
  __syncthreads();
  int *any_parent = pairs ? nullptr : parent;
  gather_values(offsets, neighbours, values, queue, ends, lists, arcs, distance, keys, sources, any_parent, counters);
  __syncthreads();
  sort_in_place<pairs>((u32 *)keys, (u32 *)sources, arcs, bits, width);
  __syncthreads();
  reduce_keys(offsets, keys, sources, arcs, depth, visited, distance, parent, sigma, next, counters);
}

}  // namespace hopwave::steps
