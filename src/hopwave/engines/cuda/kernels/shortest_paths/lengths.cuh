// Properties of the lengths of arcs, and their conversion to whole numbers of 32 bits.
#pragma once
#include "common/threads.cuh"

namespace hopwave::shortest_paths {

struct Summary {
  double greatest, sum;
  u64 fractions;  // how many are not whole numbers
};

// One summary per block; the host adds them up in a fixed order, so that sums are the same in every run.
template <class T>
__global__ void __launch_bounds__(BLOCK) measure(const T *lengths, u64 count, Summary *of_block) {
  __shared__ Summary of_warp[BLOCK / WARP];
  Summary mine = {0, 0, 0};
  for (u64 i = thread_number(); i < count; i += thread_count()) {
    const double length = (double)lengths[i];
    mine.greatest = fmax(mine.greatest, length), mine.sum += length, mine.fractions += floor(length) != length;
  }
  mine = {warp_max(mine.greatest), warp_sum(mine.sum), warp_sum(mine.fractions)};
  if (lane() == 0) of_warp[block_warp()] = mine;
  __syncthreads();
  if (threadIdx.x) return;
  for (int i = 1; i < BLOCK / WARP; ++i) {
    mine.greatest = fmax(mine.greatest, of_warp[i].greatest);
    mine.sum += of_warp[i].sum, mine.fractions += of_warp[i].fractions;
  }
  of_block[blockIdx.x] = mine;
}

template <class T>
__global__ void to_whole(const T *lengths, u64 count, u32 *whole) {
  for (u64 i = thread_number(); i < count; i += thread_count()) whole[i] = (u32)lengths[i];
}

}  // namespace hopwave::shortest_paths
