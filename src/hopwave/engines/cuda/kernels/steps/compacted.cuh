// Hiragushi's bottom-up kernel (Figure 3): unvisited vertices packed in shared memory, updates gathered from there, so
// that no thread idles beside a visited vertex and no global atomic operation is needed.
#pragma once
#include "common/atoms.cuh"

namespace hopwave {

constexpr int PACKED = 4 * BLOCK;

// A thread owns one word of 32 vertices. Rounds of at most PACKED vertices: write the unvisited ones of the own word
// side by side into scratch; take vertices from there, whoever wrote them, and look for a visited neighbour; write the
// bit back into the same place (section 3.4, "Reducing the use of shared memory"); collect the bits of the own word.
// visited is written by nobody here, so it may come through the read-only cache (the paper's texture cache). closed
// leaves out the vertices that nothing reaches.
template <class Offset>
__global__ void pull_compacted(
    const Offset* __restrict__ in_offsets, const int* __restrict__ in_neighbours, const Offset* __restrict__ offsets,
    number words, int depth, const word* __restrict__ visited, const word* __restrict__ closed, word* next,
    int* distance, int* parent, number* counters) {
    __shared__ int scratch[PACKED];
    Tally mine;
    for (number tile = (number)blockIdx.x * BLOCK; tile < words; tile += (number)gridDim.x * BLOCK) {
        const number w = tile + threadIdx.x;
        word unvisited = w < words ? ~(visited[w] | closed[w]) : 0;
        unsigned count;
        unsigned place = block_scan((unsigned)__popc(unvisited), count);
        word modified = 0;
        for (unsigned done = 0; done < count; done += PACKED) {
            const unsigned begin = place;
            for (; unvisited && place < done + PACKED; ++place) {
                const int bit = 31 - __clz((int)unvisited);
                scratch[place - done] = (int)(32 * w + bit);
                unvisited ^= 1u << bit;
            }
            __syncthreads();
            const unsigned packed = min(count - done, (unsigned)PACKED);
            for (unsigned i = threadIdx.x; i < packed; i += BLOCK) {
                const int v = scratch[i];
                const Offset end = in_offsets[v + 1];
                scratch[i] = 0;
                for (Offset arc = in_offsets[v]; arc < end; ++arc) {
                    const int u = in_neighbours[arc];
                    mine.checked += 1;
                    if (!(__ldg(&visited[u / 32]) >> (u % 32) & 1)) continue;
                    scratch[i] = 1 << (v % 32);
                    distance[v] = depth + 1;
                    if (parent) parent[v] = u;
                    mine.found += 1;
                    mine.edges += degree(offsets, v);
                    break;
                }
            }
            __syncthreads();
            for (unsigned i = begin; i < place; ++i) modified |= (word)scratch[i - done];
            __syncthreads();
        }
        if (w < words) next[w] = modified;
    }
    report(mine, counters);
}

}  // namespace hopwave
