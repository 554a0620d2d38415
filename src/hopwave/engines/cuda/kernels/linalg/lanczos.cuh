// Takes out of y what orthogonal vectors of length 1 have of it (hopwave/linalg/algorithms/hubs.py).
//
// A pass subtracts the parts that the pass before it found, and adds up those that y then has: each block writes its
// sums, and every block of the next pass adds up all of them in their order, so that the result has the same bits in
// every run. The last pass adds up the squares of y instead.
#pragma once
#include "common/threads.cuh"

namespace hopwave::linalg {

constexpr int LANCZOS_MOST = 20;  // vectors

//   Q        `count` rows of n numbers         before   the sums of all blocks of the last pass; null in the first
//   after    this pass's sums: LANCZOS_MOST per block, or one in the last pass       parts    those of `before` in all
template <class Offset>
__global__ void __launch_bounds__(BLOCK) take_out(const double *Q, i64 n, int count, double *y, const double *before,
                                                  double *after, double *parts, int last) {
  __shared__ double part[LANCZOS_MOST], of_warp[BLOCK / WARP][LANCZOS_MOST];
  for (int i = block_warp(); i < LANCZOS_MOST; i += BLOCK / WARP) {
    double sum = 0;
    if (before && i < count)
      for (u32 block = lane(); block < gridDim.x; block += WARP) sum += before[block * LANCZOS_MOST + i];
    sum = warp_sum(sum);
    if (lane() == 0) part[i] = sum;
    if (lane() == 0 && parts && blockIdx.x == 0) parts[i] = sum;
  }
  __syncthreads();
  double mine[LANCZOS_MOST] = {};
  for (i64 v = signed_thread_number(); v < n; v += signed_thread_count()) {
    double q[LANCZOS_MOST], rest = y[v];
#pragma unroll
    for (int i = 0; i < LANCZOS_MOST; ++i) q[i] = i < count ? Q[i * n + v] : 0.0;
#pragma unroll
    for (int i = 0; i < LANCZOS_MOST; ++i) rest -= part[i] * q[i];
    if (before) y[v] = rest;
    if (last) mine[0] += rest * rest;
#pragma unroll
    for (int i = 0; i < LANCZOS_MOST; ++i)
      if (!last) mine[i] += q[i] * rest;
  }
#pragma unroll
  for (int i = 0; i < LANCZOS_MOST; ++i) {
    const double sum = warp_sum(mine[i]);
    if (lane() == 0) of_warp[block_warp()][i] = sum;
  }
  __syncthreads();
  if (threadIdx.x >= (last ? 1 : LANCZOS_MOST)) return;
  double sum = 0;
  for (int warp = 0; warp < BLOCK / WARP; ++warp) sum += of_warp[warp][threadIdx.x];
  after[last ? blockIdx.x : blockIdx.x * LANCZOS_MOST + threadIdx.x] = sum;
}

// q = y / its length, which is written too; squares: the last pass's sums, one per block of it.
template <class Offset>
__global__ void __launch_bounds__(BLOCK)
    scale(const double *y, i64 n, const double *squares, int count, double *q, double *length) {
  __shared__ double all;
  if (block_warp() == 0) {
    double sum = 0;
    for (int block = lane(); block < count; block += WARP) sum += squares[block];
    sum = sqrt(warp_sum(sum));
    if (lane() == 0) all = sum;
    if (lane() == 0 && blockIdx.x == 0) *length = sum;
  }
  __syncthreads();
  const double rest = all;
  for (i64 v = signed_thread_number(); v < n; v += signed_thread_count()) q[v] = y[v] / rest;
}

}  // namespace hopwave::linalg
