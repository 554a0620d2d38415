// Prefix sums over more items than a block has threads: sum the tiles, scan these sums by one block, then scan the
// items.
#pragma once
#include "common/threads.cuh"

namespace hopwave {

constexpr int TILE = 4096;  // items per tile

// Exclusive prefix sum in place: counts[i] becomes Σ counts[j] over j < i. Returns the total. The whole block calls
// this.
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

// write(i, Σ value(j) over all j < i) for every item, from the scanned sums of tiles. write(i) may change what value(i)
// reads: each value is read once, before it is written.
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
