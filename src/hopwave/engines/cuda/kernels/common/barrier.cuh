// A barrier between blocks that run at the same time: all blocks of a cooperative launch, or some of them.
#pragma once
#include "common/threads.cuh"

namespace hopwave {

// Returns once `blocks` blocks have called it. Afterwards all of them see what any of them wrote before. All threads of
// a block call it; thread 0 calls wait() while other blocks are missing, and after() before its block goes on.
//
//   arrived   how many blocks have ever arrived: one counter in global memory, 0 at first
//   target    the value of `arrived` at which this barrier opens; only thread 0 uses it, so it may be in shared memory
template <class Wait, class After>
__device__ __forceinline__ void barrier(u32 *arrived, u32 &target, u32 blocks, Wait wait, After after) {
  __syncthreads();
  if (threadIdx.x == 0) {
    target += blocks;
    __threadfence();
    atomicAdd(arrived, 1);
    while ((int)(*(volatile u32 *)arrived - target) < 0) wait();
    __threadfence();  // also empties this multiprocessor's L1 cache, so that plain loads see other blocks' writes
    after();
  }
  __syncthreads();
}

}  // namespace hopwave
