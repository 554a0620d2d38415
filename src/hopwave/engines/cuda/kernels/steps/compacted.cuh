// Hiragushi's bottom-up kernel (Figure 3): unvisited vertices are packed in shared memory, so that no thread idles.
#pragma once
#include "common/threads.cuh"
#include "steps/report.cuh"

namespace hopwave::steps {

constexpr int PACKED = 4 * BLOCK;  // vertices that a block packs at a time

// A thread owns one word of 32 vertices, of which `open` are not visited. In rounds of at most PACKED vertices, a block
//   1. writes the open vertices side by side into scratch;
//   2. takes any vertices from scratch, and writes the bits of those found to their places (section 3.4);
//   3. collects the bits of each thread's own word.
// look(number) says whether a vertex is found; number: 32 times a thread of the block, and the bit of its word.
template <class Look>
__device__ inline u32 compacted(u32 open, Look look) {
  __shared__ u32 scratch[PACKED];
  u32 count, found = 0;
  u32 place = block_scan((u32)__popc(open), count);
  for (u32 done = 0; done < count; done += PACKED) {
    const u32 begin = place;
    for (; open && place < done + PACKED; ++place) {
      const int bit = 31 - __clz((int)open);
      scratch[place - done] = 32 * threadIdx.x + bit;
      open ^= 1u << bit;
    }
    __syncthreads();
    const u32 packed = min(count - done, (u32)PACKED);
    for (u32 i = threadIdx.x; i < packed; i += BLOCK) scratch[i] = look(scratch[i]) ? 1u << (scratch[i] % 32) : 0;
    __syncthreads();
    for (u32 i = begin; i < place; ++i) found |= scratch[i - done];
    __syncthreads();
  }
  return found;
}

// This kernel does not write `visited`, so it may be read through the read-only cache (the paper's texture cache).
// `closed` leaves out the vertices that no arc leads to.
template <class Offset>
__global__ void pull_compacted(const Offset *__restrict__ in_offsets, const int *__restrict__ in_neighbours,
                               const Offset *__restrict__ offsets, u64 words, int depth,
                               const u32 *__restrict__ visited, const u32 *__restrict__ closed, u32 *next,
                               int *distance, int *parent, u64 *counters) {
  Tally mine;
  for (u64 tile = (u64)blockIdx.x * BLOCK; tile < words; tile += (u64)gridDim.x * BLOCK) {
    const u64 w = tile + threadIdx.x;
    const u32 found = compacted(w < words ? ~(visited[w] | closed[w]) : 0, [&](u32 number) {
      const int v = (int)(32 * tile + number);
      const Offset end = in_offsets[v + 1];
      for (Offset arc = in_offsets[v]; arc < end; ++arc) {
        const int u = in_neighbours[arc];
        mine.checked += 1;
        if (!(__ldg(&visited[u / 32]) >> (u % 32) & 1)) continue;
        distance[v] = depth + 1;
        if (parent) parent[v] = u;
        mine.add(offsets, v);
        return true;
      }
      return false;
    });
    if (w < words) next[w] = found;
  }
  report(mine, counters);
}

}  // namespace hopwave::steps
