// What a level reports to the host.
#pragma once
#include "common/threads.cuh"

namespace hopwave::steps {

// One u64 each; hopwave/engines/cuda/search/state.py reads them in this order.
enum Counter { FOUND, EDGES, CHECKED, AHEAD, AHEAD_EDGES, TAIL, GATHERED, TICKET, GREATEST, LEAST, COUNTERS };

// Whether the level before found nothing: then this one, launched ahead, has nothing to do. `before` may be null.
__device__ inline bool ended(const u64 *before) { return before && !before[FOUND]; }

// A thread's part of the first five counters.
struct Tally {
  u64 found = 0, edges = 0, checked = 0, ahead = 0, ahead_edges = 0;

  template <class Offset>
  __device__ __forceinline__ void add(const Offset *offsets, int v) {
    found += 1, edges += degree(offsets, v);
  }
};

// Adds up the tallies of a block and then, with one atomic operation each, of the grid. The whole block calls this.
__device__ inline void report(const Tally &mine, u64 *counters) {
  __shared__ u64 sums[5];
  const u64 counts[5] = {mine.found, mine.edges, mine.checked, mine.ahead, mine.ahead_edges};
  if (threadIdx.x < 5) sums[threadIdx.x] = 0;
  __syncthreads();
  for (int i = 0; i < 5; ++i) {
    const u64 sum = warp_sum(counts[i]);
    if (lane() == 0 && sum) atomicAdd(&sums[i], sum);
  }
  __syncthreads();
  if (threadIdx.x < 5 && sums[threadIdx.x]) atomicAdd(&counters[FOUND + threadIdx.x], sums[threadIdx.x]);
}

// ---- The words of a plan's steps (hopwave/planning/plan.py); a C++ keyword gets an underscore after it.

enum class Mapping { thread, warp, twc, merge, edge };  // warp: only in pulls
enum class Output { queue, scan, dense, sort, reuse };
enum class Claim { atomic, benign };
enum class Rows { all, unvisited, compacted };
enum class Operand { frontier, visited };
enum class Balance { static_, thread, warp, donate };

}  // namespace hopwave::steps
