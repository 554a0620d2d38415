// Path counts of a search whose levels Python launches (common/counts.cuh explains their encoding).
#pragma once
#include "common/counts.cuh"
#include "steps/report.cuh"

namespace hopwave::steps {

// The greatest and the least scaled count of a level, as bits: positive floats compare like their bits. LEAST is stored
// inverted, so that both start from 0.
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

// Extended counts of one level from those of the level before: one thread per vertex of `level`.
template <class Offset>
__global__ void count_extended(const Offset *in_offsets, const int *in_neighbours, const int *level, u64 length,
                               int depth, const int *distance, double *mantissa, i64 *exponent) {
  for (u64 i = thread_number(); i < length; i += thread_count()) {
    const int v = level[i];
    Extended sum;
    clear(sum);
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
