// The start of a search, and the forms of a frontier: queue, bitmap, status array.
#pragma once
#include "common/counts.cuh"
#include "steps/gather.cuh"

namespace hopwave::steps {

// Sources have distance 0, are their own parents and have one path. `sources` is null if there is only one.
template <class Offset>
__global__ void set_sources(const int *sources, int single, u64 count, int *distance, int *parent, double *sigma,
                            int *queue) {
  for (u64 i = thread_number(); i < count; i += thread_count()) {
    const int s = sources ? sources[i] : single;
    distance[s] = 0;
    if (parent) parent[s] = s;
    if (sigma) sigma[s] = 1.0;
    queue[i] = s;
  }
}

template <class Offset>
__global__ void status_to_bits(const int *distance, int n, int depth, u32 *visited, u32 *frontier) {
  const u64 padded = ((u64)n + 31) / 32 * 32;
  for (u64 v = thread_number(); v < padded; v += thread_count()) {
    const int d = v < n ? distance[v] : -1;
    const u32 seen = __ballot_sync(ALL_LANES, d >= 0);
    const u32 front = __ballot_sync(ALL_LANES, d == depth);
    if (lane() == 0) visited[v / 32] = seen, frontier[v / 32] = front;
  }
}

template <class Offset>
__global__ void queue_to_bits(const int *queue, u64 length, u32 *bits) {
  for (u64 i = thread_number(); i < length; i += thread_count()) atomicOr(&bits[queue[i] / 32], 1u << (queue[i] % 32));
}

// Bitmap to queue by population count and scan, with one atomic operation per block (Hiragushi, sections 3.5 and 4.2).
template <class Offset>
__global__ void bits_to_queue(const u32 *bits, u64 words, int *queue, u64 *counters) {
  __shared__ u64 first;
  for (u64 tile = (u64)blockIdx.x * BLOCK; tile < words; tile += (u64)gridDim.x * BLOCK) {
    const u64 w = tile + threadIdx.x;
    u32 left = w < words ? bits[w] : 0;
    u32 total;
    const u32 before = block_scan((u32)__popc(left), total);
    if (threadIdx.x == 0) first = atomicAdd(&counters[TAIL], (u64)total);
    __syncthreads();
    for (u64 place = first + before; left; left &= left - 1) queue[place++] = (int)(32 * w + __ffs(left) - 1);
    __syncthreads();
  }
}

// Queues the vertices of one level from the status array: XBFS's single scan, with atomic operations (section 4.1).
template <class Offset>
__global__ void single_scan(const Offset *offsets, const int *distance, int n, int level, int *queue, u64 *counters) {
  Tally mine;
  for (u64 v = thread_number(); v < n; v += thread_count()) {
    if (distance[v] != level) continue;
    queue[enqueue_at(&counters[TAIL])] = (int)v;
    mine.add(offsets, (int)v);
  }
  report(mine, counters);
}

// visited |= found, after a pull that reads visited as its operand.
template <class Offset>
__global__ void merge_bits(u32 *visited, const u32 *found, u64 words) {
  for (u64 w = thread_number(); w < words; w += thread_count()) visited[w] |= found[w];
}

// Marks the vertices without in-arcs, which no search finds (Hiragushi, section 3.4), and the bits past n.
template <class Offset>
__global__ void closed_bits(const Offset *in_offsets, int n, u32 *closed) {
  const u64 padded = ((u64)n + 31) / 32 * 32;
  for (u64 v = thread_number(); v < padded; v += thread_count()) {
    const u32 bits = __ballot_sync(ALL_LANES, v >= n || degree(in_offsets, (int)v) == 0);
    if (lane() == 0) closed[v / 32] = bits;
  }
}

// Writes the row of every arc: the coordinate form that one thread per arc needs (TurboBFS, section III-B).
template <class Offset>
__global__ void arc_rows(const Offset *offsets, int n, int *rows) {
  const u64 warps = thread_count() / WARP;
  for (u64 v = thread_number() / WARP; v < n; v += warps)
    for (Offset arc = offsets[v] + lane(); arc < offsets[v + 1]; arc += WARP) rows[arc - offsets[0]] = (int)v;
}

// ---- Path counts of a search whose levels Python launches (common/counts.cuh explains their encoding).

// Extremes as bits: positive floats compare like their bits. LEAST is stored inverted, so that both start at 0.
template <class Offset>
__global__ void level_extent(const int *distance, int n, int depth, const double *sigma, u64 *counters) {
  u64 greatest = 0, least = 0;
  for (u64 v = thread_number(); v < n; v += thread_count()) {
    if (distance[v] != depth) continue;
    const u64 bits = (u64)__double_as_longlong(sigma[v]);
    greatest = max(greatest, bits);
    least = max(least, ~bits);
  }
  greatest = warp_max(greatest), least = warp_max(least);
  if (lane() == 0 && greatest) {
    atomicMax(&counters[GREATEST], greatest);
    atomicMax(&counters[LEAST], least);
  }
}

template <class Offset>
__global__ void scale_level(const int *distance, int n, int depth, double factor, double *sigma) {
  for (u64 v = thread_number(); v < n; v += thread_count())
    if (distance[v] == depth) sigma[v] *= factor;
}

// Extended counts of one level from those of the previous level: one thread per vertex of `level`.
template <class Offset>
__global__ void count_extended(const Offset *in_offsets, const int *in_neighbours, const int *level, u64 length,
                               int depth, const int *distance, double *mantissa, i64 *exponent) {
  for (u64 i = thread_number(); i < length; i += thread_count()) {
    const int v = level[i];
    Extended sum{};
    if (depth == 0) set_one(sum);
    else
      for (Offset arc = in_offsets[v]; arc < in_offsets[v + 1]; ++arc) {
        const int u = in_neighbours[arc];
        if (distance[u] == depth - 1) sum = add(sum, Extended{mantissa[u], exponent[u]});
      }
    mantissa[v] = sum.m, exponent[v] = sum.e;
  }
}

}  // namespace hopwave::steps
