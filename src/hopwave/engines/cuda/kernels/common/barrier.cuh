// A barrier between blocks that are all running at the same time: those of a cooperative launch, or some of them.
#pragma once
#include "common/threads.cuh"

namespace hopwave {

// Returns once `blocks` blocks have called it. What any of them wrote before, all of them see afterwards. All threads
// of a block call it; thread 0 calls wait() as long as other blocks are missing, and after() before its block goes on.
//
//   arrived   how many blocks have ever arrived: one counter in global memory, 0 at first
//   target    how many will have when this barrier opens; only thread 0 uses it, so it may be in shared memory
template <class Wait, class After>
__device__ __forceinline__ void barrier(u32 *arrived, u32 &target, u32 blocks, Wait wait, After after) {
  __syncthreads();
  if (threadIdx.x == 0) {
    target += blocks;
    __threadfence();
    atomicAdd(arrived, 1);
    while ((int)(*(volatile u32 *)arrived - target) < 0) wait();
    __threadfence();  // also empties this multiprocessor's L1 cache, so that plain loads are right from here on
    after();
  }
  __syncthreads();
}

}  // namespace hopwave
