// Basics of every kernel: types, numbers of threads and lanes, sums and scans over a warp or a block. Every kernel is a
// template over Offset, even if it reads no offsets: a template is compiled only if Python requests it.
#pragma once

namespace hopwave {

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using i64 = long long;

constexpr int WARP = 32;
constexpr int BLOCK = 256;  // threads per block, unless a kernel overrides it
constexpr u32 ALL_LANES = 0xffffffffu;

__device__ __forceinline__ u32 lane() { return threadIdx.x % WARP; }
__device__ __forceinline__ u32 lanes_below() { return (1u << lane()) - 1; }  // as a mask
__device__ __forceinline__ u32 block_warp() { return threadIdx.x / WARP; }
__device__ __forceinline__ u64 thread_number() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ __forceinline__ u64 thread_count() { return (u64)gridDim.x * blockDim.x; }
// Signed, for loop counters: signed overflow is undefined, so the compiler may unroll the loops.
__device__ __forceinline__ i64 signed_thread_number() { return (i64)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ __forceinline__ i64 signed_thread_count() { return (i64)gridDim.x * blockDim.x; }

__device__ __forceinline__ i64 nanoseconds() {
  i64 t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

// The vertices that a search can reach: those of the source's component, if every component is such a range.
struct Span {
  int begin, end;
};
__device__ __forceinline__ Span span_of(const Span *spans, i64 number, i64 n) {
  return spans ? spans[number] : Span{0, (int)n};
}

// Returns Σ x over the warp in every lane. The order is fixed, so floating-point sums are deterministic.
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

// Adds Σ x over the warp to a sum, by one lane.
template <class T>
__device__ __forceinline__ void add_warp_sum(T *sum, T x) {
  x = warp_sum(x);
  if (lane() == 0 && x) atomicAdd(sum, x);
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

// Σ value over the threads before this one; `total`: over the block. Ends with a barrier.
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

// Returns the next free index at the end of a queue. Converged threads share one atomic operation.
template <class T>
__device__ __forceinline__ T enqueue_at(T *tail) {
  const u32 together = __activemask();
  const int leader = __ffs(together) - 1;
  T first = 0;
  if (lane() == leader) first = atomicAdd(tail, (T)__popc(together));
  return __shfl_sync(together, first, leader) + __popc(together & lanes_below());
}

// ---- A barrier between blocks that run at the same time: all blocks of a cooperative launch, or some of them.

// Returns once `blocks` blocks have called it. Every block then sees all earlier writes of the others. All threads of a
// block call it; thread 0 calls wait() while other blocks are missing, and after() before its block continues.
//   arrived   number of arrivals so far: one counter in global memory, 0 at first
//   target    the value of `arrived` at which this barrier opens; only thread 0 uses it, so it may be in shared memory
template <class Wait, class After>
__device__ __forceinline__ void barrier(u32 *arrived, u32 &target, u32 blocks, Wait wait, After after) {
  __syncthreads();
  if (threadIdx.x == 0) {
    target += blocks;
    __threadfence();
    atomicAdd(arrived, 1);
    while ((int)(*(volatile u32 *)arrived - target) < 0) wait();
    __threadfence();  // also invalidates this multiprocessor's L1 cache, so that plain loads see other blocks' writes
    after();
  }
  __syncthreads();
}

// ---- Reading a graph and the state of its vertices.
//   n          vertices                       distance   int per vertex, -1 = unvisited: the papers' status array
//   depth      of the frontier                parent     int per vertex, or null: predecessors are not wanted
//   offsets    n + 1, start of each row       bitmaps    bit v % 32 of word v / 32 is vertex v
// Memory that a kernel writes is never read via __ldg or __restrict__ const in it: that cache is not coherent.

// The status of v, which other threads of this launch may be writing.
__device__ inline int status(const int *distance, int v) { return *(const volatile int *)(distance + v); }

__device__ inline bool has(const u32 *bits, int v) { return bits[v / 32] >> (v % 32) & 1; }

template <class Offset>
__device__ inline u64 degree(const Offset *offsets, int v) {
  return (u64)(offsets[v + 1] - offsets[v]);
}

// ---- SplitMix64: counter-based random numbers, identical to hopwave/generate/counter.py.

constexpr u64 WEYL = 0x9E3779B97F4A7C15ull;  // step from one state of the stream to the next

__device__ __forceinline__ u64 splitmix(u64 state) {
  state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9ull;
  state = (state ^ (state >> 27)) * 0x94D049BB133111EBull;
  return state ^ (state >> 31);
}

// ---- Prefix sums over more items than a block has threads: sum the tiles, scan the sums, then scan the items.

constexpr int TILE = 4096;  // items per tile

// Exclusive prefix sum in place, by the full block; returns the total.
__device__ inline u64 scan_in_place(u64 *counts, u64 count) {
  u64 before = 0;
  for (u64 turn = 0; turn < count; turn += BLOCK) {
    const u64 i = turn + threadIdx.x;
    const u64 mine = i < count ? counts[i] : 0;
    u64 total;
    const u64 sum = block_scan(mine, total);
    if (i < count) counts[i] = before + sum;
    before += total;
  }
  return before;
}

// sums[t] = Σ value(i) over the items i of tile t. Blocks have BLOCK threads.
template <class Value>
__device__ inline void sum_tiles(u64 count, u64 *sums, Value value) {
  for (u64 tile = blockIdx.x; tile * TILE < count; tile += gridDim.x) {
    u64 mine = 0, total;
    for (u64 i = tile * TILE + threadIdx.x; i < min(count, (tile + 1) * TILE); i += BLOCK) mine += value(i);
    block_scan(mine, total);
    if (threadIdx.x == 0) sums[tile] = total;
  }
}

// Calls write(i, Σ value(j) over all j < i) for every item, from the scanned tile sums; reads each value once, before.
template <class Value, class Write>
__device__ inline void write_tiles(u64 count, const u64 *sums, Value value, Write write) {
  for (u64 tile = blockIdx.x; tile * TILE < count; tile += gridDim.x) {
    u64 before = sums[tile];
    for (u64 turn = tile * TILE; turn < min(count, (tile + 1) * TILE); turn += BLOCK) {
      const u64 i = turn + threadIdx.x;
      u64 total;
      const u64 sum = block_scan(i < count ? (u64)value(i) : 0, total);
      if (i < count) write(i, before + sum);
      before += total;
    }
  }
}

}  // namespace hopwave
