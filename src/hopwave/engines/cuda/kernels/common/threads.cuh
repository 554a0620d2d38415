// What every kernel is made of: types, threads and lanes by number, sums and scans over a warp or a block.
//
// Every kernel is a template over Offset (int or i64), even where it reads no offsets: a template is compiled only
// where Python asks for one of its instances.
#pragma once

namespace hopwave {

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using i64 = long long;

constexpr int WARP = 32;
constexpr int BLOCK = 256;  // threads per block unless a kernel says otherwise
constexpr u32 ALL_LANES = 0xffffffffu;

__device__ __forceinline__ u32 lane() { return threadIdx.x % WARP; }
__device__ __forceinline__ u32 lanes_below() { return (1u << lane()) - 1; }  // as a mask
__device__ __forceinline__ u32 block_warp() { return threadIdx.x / WARP; }
__device__ __forceinline__ u64 thread_number() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ __forceinline__ u64 thread_count() { return (u64)gridDim.x * blockDim.x; }
// Signed, for loop counters: signed overflow is undefined, so the compiler may unroll the loops.
__device__ __forceinline__ i64 signed_thread_number() { return (i64)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ __forceinline__ i64 signed_thread_count() { return (i64)gridDim.x * blockDim.x; }

// Returns Σ x over the warp in every lane. The order is fixed, so sums of fractions are the same in every run.
template <class T>
__device__ __forceinline__ T warp_sum(T x) {
  for (int step = WARP / 2; step; step /= 2) x += __shfl_xor_sync(ALL_LANES, x, step);
  return x;
}
__device__ __forceinline__ u32 warp_sum(u32 x) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(ALL_LANES, x);
#else
  return warp_sum<u32>(x);
#endif
}

template <class T>
__device__ __forceinline__ T warp_max(T x) {
  for (int step = WARP / 2; step; step /= 2) x = max(x, __shfl_xor_sync(ALL_LANES, x, step));
  return x;
}

// Σ x over the lanes up to and including this one.
template <class T>
__device__ __forceinline__ T inclusive_scan(T x) {
  for (int step = 1; step < WARP; step *= 2) {
    const T other = __shfl_up_sync(ALL_LANES, x, step);
    if (lane() >= step) x += other;
  }
  return x;
}

// Returns Σ value over the threads before this one; `total` becomes Σ value over the block, of up to BLOCK threads. The
// whole block calls this. It ends with a barrier, so that it can be called again at once.
template <class T>
__device__ inline T block_scan(T value, T &total) {
  __shared__ T sums[BLOCK / WARP];
  const T through = inclusive_scan(value);
  if (lane() == WARP - 1) sums[block_warp()] = through;
  __syncthreads();
  T before = 0;
  total = 0;
  for (int warp = 0; warp < blockDim.x / WARP; ++warp) {
    if (warp == block_warp()) before = total;
    total += sums[warp];
  }
  __syncthreads();
  return before + through - value;
}

// Returns the next free place at a queue's end. Threads that call this together share one atomic operation.
template <class T>
__device__ __forceinline__ T enqueue_at(T *tail) {
  const u32 together = __activemask();
  const int leader = __ffs(together) - 1;
  T first = 0;
  if (lane() == leader) first = atomicAdd(tail, (T)__popc(together));
  return __shfl_sync(together, first, leader) + __popc(together & lanes_below());
}

}  // namespace hopwave
