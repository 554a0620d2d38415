// Searches from many sources of a deep graph, one block per source: a level of such a graph is too little work for
// more. A block's visited set is a bitmap in shared memory; its two lists begin there and continue in global memory.
#pragma once
#include "common/rows.cuh"

namespace hopwave::many {

constexpr int EACH_AHEAD = 4;  // arcs that a thread loads at a time

struct Each {
  const int *sources;
  const Span *spans;                // per source; null: all vertices
  u32 *ticket;                      // index of the next source
  int *spill;                       // per block: two lists of entries that do not fit into shared memory
  i64 *reached, *total, *farthest;  // per source
  double *inverse;                  // per source, Σ 1/d
  u64 *histogram;                   // per distance
  int *rows;                        // per source, the distance of every vertex, -1 before; may be null
  i64 n, most, count, limit;        // most: vertices that a search reaches at most
  i64 words, room;                  // words of the bitmap; capacity of a list in shared memory
};

template <class Offset>
__global__ void __launch_bounds__(1024)
    search_each(const Offset *offsets, Neighbours<Offset> neighbours, const __grid_constant__ Each job) {
  extern __shared__ u32 shared[];
  u32 *visited = shared;
  int *lists = (int *)(shared + job.words);
  int *spill = job.spill + 2 * job.most * blockIdx.x;
  __shared__ u32 counts[3], taken;
  const u32 room = (u32)job.room;
  auto entry = [&](int side, u32 i) -> int & { return i < room ? lists[side * room + i] : spill[side * job.most + i]; };
  while (true) {
    __syncthreads();
    if (threadIdx.x == 0) taken = atomicAdd(job.ticket, 1u);
    for (u32 w = threadIdx.x; w < job.words; w += blockDim.x) visited[w] = 0;
    __syncthreads();
    const u32 number = taken;
    if (number >= job.count) return;
    const int source = job.sources[number], base = span_of(job.spans, number, job.n).begin;
    int *row = job.rows ? job.rows + number * job.n : nullptr;
    if (threadIdx.x == 0) {
      visited[(source - base) / 32] = 1u << (source - base) % 32;
      entry(0, 0) = source;
      counts[0] = 1, counts[1] = 0;
      if (row) row[source] = 0;
    }
    i64 reached = 0, total = 0, depth = 0;
    double inverse = 0;
    while (true) {
      __syncthreads();
      const u32 count = counts[depth % 3];
      if (!count) break;
      if (threadIdx.x == 0) {
        counts[(depth + 2) % 3] = 0;
        reached += count, total += count * depth;
        // Same arithmetic as engines/cpu/many/kernels.fill_sums.
        if (depth) inverse = __dadd_rn(inverse, __dmul_rn((double)count, 1.0 / (double)depth));
        if (job.histogram) atomicAdd(job.histogram + depth, (u64)count);
      }
      if (depth == job.limit) {
        ++depth;
        break;
      }
      const int side = depth % 2;
      u32 *tail = counts + (depth + 1) % 3;
      for (u32 i = threadIdx.x; i < count; i += blockDim.x) {
        const int v = entry(side, i);
        const Offset end = offsets[v + 1];
        for (Offset arc = offsets[v]; arc < end; arc += EACH_AHEAD) {
          int next[EACH_AHEAD];
          for (int j = 0; j < EACH_AHEAD; ++j)
            next[j] = arc + j < end ? neighbour(neighbours, arc, j) : v;  // v is visited
          for (int j = 0; j < EACH_AHEAD; ++j) {
            const int u = next[j];
            const u32 place = u - base, bit = 1u << place % 32;
            if (*(volatile u32 *)(visited + place / 32) & bit || atomicOr(visited + place / 32, bit) & bit) continue;
            entry(side ^ 1, atomicAdd(tail, 1u)) = u;
            if (row) row[u] = (int)depth + 1;
          }
        }
      }
      ++depth;
    }
    if (threadIdx.x == 0 && job.reached) {
      job.reached[number] = reached, job.total[number] = total;
      job.farthest[number] = depth - 1, job.inverse[number] = inverse;
    }
  }
}

}  // namespace hopwave::many
