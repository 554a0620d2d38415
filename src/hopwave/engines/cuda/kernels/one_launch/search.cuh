// hopwave's own search, for hops and predecessors: all levels in one launch (one_launch/levels.cuh).
#pragma once
#include "one_launch/by_level.cuh"
#include "one_launch/levels.cuh"

namespace hopwave::one_launch {

template <class Offset, bool PARENTS, bool FILL>
__global__ void __launch_bounds__(THREADS, 1)
    search(const __grid_constant__ Graph<Offset> graph, const __grid_constant__ Work work, int *distance, int *parent,
           const int *sources, int only, int source_count, int depth_limit, double alpha, double beta, Told *out,
           u32 stamp) {
  const Hops<PARENTS, FILL> answer{distance, parent, sources, only, out, stamp};
  all_levels(graph, work, answer, source_count, depth_limit, alpha, beta);
}

// Once per graph: writes every vertex's first in-neighbour; the bitmap of vertices without in-neighbours, with the bits
// past n set; and, if `degrees` is not null, every out-degree.
template <class Offset>
__global__ void prepare(const Offset *in_offsets, Neighbours<Offset> in_neighbours, const Offset *offsets, i64 n,
                        int *hub, u32 *closed, u64 *findable, u16 *degrees) {
  const i64 end = (n + 31) / 32 * 32;
  for (i64 v = signed_thread_number(); v < end; v += signed_thread_count()) {
    const bool open = v < n && in_offsets[v] < in_offsets[v + 1];
    if (v < n) hub[v] = open ? neighbour(in_neighbours, in_offsets[v]) : -1;
    if (v < n && degrees) degrees[v] = (u16)min((i64)(offsets[v + 1] - offsets[v]), (i64)MANY_ARCS);
    const u32 all = __ballot_sync(ALL_LANES, open);
    if (lane() == 0) {
      closed[v >> 5] = ~all;
      if (all) atomicAdd(findable, (u64)__popc(all));
    }
  }
}

}  // namespace hopwave::one_launch
