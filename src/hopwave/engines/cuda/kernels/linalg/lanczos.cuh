// Makes y orthogonal to orthogonal vectors of length 1, and divides it by its own length (linalg/algorithms/power.py).
// Three passes over y with a barrier after each: the products of y with the vectors; what remains of them by rounding;
// the length. Every block adds up the sums of all blocks in their order.
#pragma once
#include "common/threads.cuh"

namespace hopwave::linalg {

constexpr int LANCZOS_MOST = 20;  // vectors

// Σ over all blocks of their i-th sum, in every lane of the warp.
__device__ __forceinline__ double sum_of_blocks(const double *sums, int i) {
  double sum = 0;
  for (u32 block = lane(); block < gridDim.x; block += WARP) sum += __ldcg(sums + block * LANCZOS_MOST + i);
  return warp_sum(sum);
}

//   Q        the vectors, `count` rows of n    sums     3 · LANCZOS_MOST numbers per block
//   q        the result                        found    LANCZOS_MOST products, of the first pass; then the length
//   arrived  the barrier's counter, 0 before
template <class Offset>
__global__ void __launch_bounds__(BLOCK)
    orthogonal(const double *Q, i64 n, i64 count, double *y, double *sums, double *found, double *q, u32 *arrived) {
  __shared__ double part[LANCZOS_MOST], of_warp[BLOCK / WARP][LANCZOS_MOST];
  __shared__ u32 target;
  if (threadIdx.x == 0) target = 0;
  const double *before = nullptr;
  for (int pass = 0; pass < 3; ++pass) {
    for (int i = block_warp(); i < LANCZOS_MOST; i += BLOCK / WARP) {
      const double sum = before && i < count ? sum_of_blocks(before, i) : 0.0;
      if (lane() == 0) part[i] = sum;
      if (lane() == 0 && pass == 1 && blockIdx.x == 0) found[i] = sum;
    }
    __syncthreads();
    const bool last = pass == 2;
    double mine[LANCZOS_MOST] = {};
    for (i64 v = signed_thread_number(); v < n; v += signed_thread_count()) {
      double from[LANCZOS_MOST], rest = y[v];
      for (int i = 0; i < LANCZOS_MOST; ++i) from[i] = i < count ? Q[i * n + v] : 0.0;
      for (int i = 0; i < LANCZOS_MOST; ++i) rest -= part[i] * from[i];
      if (before) y[v] = rest;
      if (last) mine[0] += rest * rest;
      for (int i = 0; i < LANCZOS_MOST; ++i)
        if (!last) mine[i] += from[i] * rest;
    }
    for (int i = 0; i < LANCZOS_MOST; ++i) {
      const double sum = warp_sum(mine[i]);
      if (lane() == 0) of_warp[block_warp()][i] = sum;
    }
    __syncthreads();
    before = sums + pass * LANCZOS_MOST * gridDim.x;
    if (threadIdx.x < LANCZOS_MOST) {
      double sum = 0;
      for (int warp = 0; warp < BLOCK / WARP; ++warp) sum += of_warp[warp][threadIdx.x];
      sums[(pass * gridDim.x + blockIdx.x) * LANCZOS_MOST + threadIdx.x] = sum;
    }
    barrier(arrived, target, gridDim.x, [] {}, [] {});
  }
  const double length = sqrt(sum_of_blocks(before, 0));
  if (thread_number() == 0) found[LANCZOS_MOST] = length;
  for (i64 v = signed_thread_number(); v < n; v += signed_thread_count()) q[v] = y[v] / length;
}

}  // namespace hopwave::linalg
