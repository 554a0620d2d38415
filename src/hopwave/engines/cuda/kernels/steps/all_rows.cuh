// The product by all rows, unmasked, in equal shares of the arcs: push-pull's operation 1 (section 6.3), for which the
// paper uses ModernGPU's SpMV. The mask is applied afterwards.
#pragma once
#include "common/products.cuh"
#include "steps/gather.cuh"
#include "steps/report.cuh"

namespace hopwave::steps {

// product(v) ⊕= u for every arc from a vertex u of the operand to v. A block takes SCRATCH consecutive arcs and finds
// their rows; each thread finds its arc's row among these. With ANY, any writer is right. With PLUS, lanes of the same
// row first add up their path counts.
template <class Offset, bool counting>
__global__ void all_rows(const Offset *in_offsets, const int *in_neighbours, int n, u64 arcs, const u32 *operand,
                         const double *sigma, int *product, double *sums, u64 *counters) {
  __shared__ u64 first_row, last_row;
  const u64 base = (u64)in_offsets[0];
  const Offset *ends = in_offsets + 1;
  Tally mine;
  for (u64 begin = (u64)blockIdx.x * SCRATCH; begin < arcs; begin += (u64)gridDim.x * SCRATCH) {
    const u64 end = min(begin + SCRATCH, arcs);
    __syncthreads();
    if (threadIdx.x == 0) first_row = first_above(ends, 0, n, base + begin);
    if (threadIdx.x == WARP) last_row = first_above(ends, 0, n, base + end - 1);
    __syncthreads();
    for (u64 i = begin + threadIdx.x; i < begin + SCRATCH; i += BLOCK) {  // whole warps, for the shuffles
      const bool inside = i < end;
      const int u = inside ? in_neighbours[base + i] : 0;
      const bool here = inside && has(operand, u);
      mine.checked += inside;
      if (!counting && !here) continue;
      const int v = inside ? (int)first_above(ends, first_row, last_row, base + i) : -1;
      if (here) product[v] = u;
      if (!counting) continue;
      bool last;
      const double sum = run_sum(v, here ? sigma[u] : 0.0, last);
      if (inside && last && sum != 0.0) atomicAdd(&sums[v], sum);
    }
  }
  report(mine, counters);
}

// The vertices of the product that were not visited are the new frontier; the product is cleared for the next level. A
// warp takes the 32 vertices of a word, so that it can write the bitmaps too.
template <class Offset, bool counting>
__global__ void mask_rows(const Offset *offsets, int n, int depth, int *product, double *sums, u32 *visited, u32 *next,
                          int *distance, int *parent, double *sigma, u64 *counters) {
  Tally mine;
  const u64 padded = ((u64)n + WARP - 1) / WARP * WARP;
  for (u64 v = thread_number(); v < padded; v += thread_count()) {
    const u32 seen = visited[v / WARP];
    const int u = v < n ? product[v] : -1;
    const bool found = u >= 0 && !(seen >> lane() & 1);
    if (found) {
      distance[v] = depth + 1;
      if (parent) parent[v] = u;
      if (counting) sigma[v] = sums[v];
      mine.found += 1;
      mine.edges += degree(offsets, (int)v);
    }
    if (u >= 0) {
      product[v] = -1;
      if (counting) sums[v] = 0.0;
    }
    const u32 bits = __ballot_sync(ALL_LANES, found);
    if (lane() == 0) {
      next[v / WARP] = bits;
      visited[v / WARP] = seen | bits;
    }
  }
  report(mine, counters);
}

}  // namespace hopwave::steps
