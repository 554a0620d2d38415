// A stable radix sort of keys below 2^bits, each with a value or without: push-pull sorts log M bits (section 6.2), least
// significant digit first. Per digit, every tile counts its digits, a running sum over all tiles says where each tile's
// keys of each digit go, and the tile is sorted in shared memory before it is written, so that writes are side by side.
#pragma once
#include "common/threads.cuh"

namespace hopwave::steps {

constexpr int DIGITS = BLOCK;            // values of a digit, one per thread; a digit has up to 8 bits
constexpr int KEYS = 16;                 // keys per thread
constexpr int SORT_TILE = KEYS * BLOCK;  // keys per block
constexpr u32 NO_KEY = 0xffffffffu;      // sorts after every key

// Shared memory of a tile that is being sorted.
struct SortTile {
  u32 counts[BLOCK / WARP][DIGITS];  // of each warp; then where its keys of a digit begin among the tile's
  u32 starts[DIGITS];                // where a digit begins in the tile
  u32 swap[SORT_TILE];
};

// The number in the tile of the thread's key j: a warp has KEYS * WARP keys side by side.
__device__ inline u32 key_number(int j) { return block_warp() * KEYS * WARP + j * WARP + lane(); }

// Where each of the tile's keys goes when the tile is sorted by the digit at `shift`. The whole block calls this.
__device__ inline void rank_keys(const u32 (&keys)[KEYS], int shift, u32 mask, u32 (&places)[KEYS], SortTile &tile) {
  for (int i = threadIdx.x; i < BLOCK / WARP * DIGITS; i += BLOCK) tile.counts[i / DIGITS][i % DIGITS] = 0;
  __syncthreads();
  u32 *counts = tile.counts[block_warp()];
#pragma unroll
  for (int j = 0; j < KEYS; ++j) {
    const u32 digit = keys[j] >> shift & mask;
    const u32 same = __match_any_sync(ALL_LANES, digit);
    const u32 before = counts[digit];
    __syncwarp();
    places[j] = before + __popc(same & lanes_below());
    if (lane() == __ffs(same) - 1) counts[digit] = before + __popc(same);
    __syncwarp();
  }
  __syncthreads();
  u32 total = 0;
  for (int warp = 0; warp < BLOCK / WARP; ++warp) {
    const u32 count = tile.counts[warp][threadIdx.x];
    tile.counts[warp][threadIdx.x] = total;
    total += count;
  }
  u32 all;
  tile.starts[threadIdx.x] = block_scan(total, all);
  __syncthreads();
#pragma unroll
  for (int j = 0; j < KEYS; ++j) {
    const u32 digit = keys[j] >> shift & mask;
    places[j] += tile.starts[digit] + counts[digit];
  }
}

// How many keys of each digit every tile has: counts[digit * tiles + tile]. One block per tile.
template <class Offset>
__global__ void digit_counts(const u32 *keys, u64 count, int shift, u32 mask, i64 *counts) {
  __shared__ u32 found[DIGITS];
  found[threadIdx.x] = 0;
  __syncthreads();
  const u64 begin = (u64)blockIdx.x * SORT_TILE;
#pragma unroll
  for (int j = 0; j < KEYS; ++j) {
    const u64 i = begin + j * BLOCK + threadIdx.x;
    if (i < count) atomicAdd(&found[keys[i] >> shift & mask], 1u);
  }
  __syncthreads();
  if (threadIdx.x <= mask) counts[(u64)threadIdx.x * gridDim.x + blockIdx.x] = found[threadIdx.x];
}

// Writes every tile's keys, and values if `pairs`, to their places by one digit. `sums` are running sums of the counts.
template <class Offset, bool pairs>
__global__ void digit_scatter(const u32 *keys, const u32 *values, u64 count, int shift, u32 mask, const i64 *sums,
                              u32 *sorted_keys, u32 *sorted_values) {
  __shared__ SortTile tile;
  __shared__ i64 firsts[DIGITS];  // where the tile's keys of a digit go, less where they begin in the tile
  const u64 begin = (u64)blockIdx.x * SORT_TILE;
  u32 mine[KEYS], places[KEYS];
#pragma unroll
  for (int j = 0; j < KEYS; ++j) {
    const u64 i = begin + key_number(j);
    mine[j] = i < count ? keys[i] : NO_KEY;
  }
  rank_keys(mine, shift, mask, places, tile);
  if (threadIdx.x <= mask) {
    const u64 at = (u64)threadIdx.x * gridDim.x + blockIdx.x;
    firsts[threadIdx.x] = (at ? sums[at - 1] : 0) - (i64)tile.starts[threadIdx.x];
  }
#pragma unroll
  for (int j = 0; j < KEYS; ++j) tile.swap[places[j]] = mine[j];
  __syncthreads();
  const u32 valid = (u32)min((u64)SORT_TILE, count - begin);
  i64 targets[KEYS];
#pragma unroll
  for (int j = 0; j < KEYS; ++j) {
    const u32 i = j * BLOCK + threadIdx.x;
    if (i >= valid) continue;
    const u32 key = tile.swap[i];
    targets[j] = firsts[key >> shift & mask] + i;
    sorted_keys[targets[j]] = key;
  }
  if (!pairs) return;
  __syncthreads();
#pragma unroll
  for (int j = 0; j < KEYS; ++j) {
    const u64 i = begin + key_number(j);
    tile.swap[places[j]] = i < count ? values[i] : 0;
  }
  __syncthreads();
#pragma unroll
  for (int j = 0; j < KEYS; ++j) {
    const u32 i = j * BLOCK + threadIdx.x;
    if (i < valid) sorted_values[targets[j]] = tile.swap[i];
  }
}

// All digits of up to SORT_TILE keys, in place, by one block.
template <class Offset, bool pairs>
__global__ void sort_tile(u32 *keys, u32 *values, u64 count, int bits, int width) {
  __shared__ SortTile tile;
  u32 mine[KEYS], its[KEYS], places[KEYS];
#pragma unroll
  for (int j = 0; j < KEYS; ++j) {
    const u32 i = key_number(j);
    mine[j] = i < count ? keys[i] : NO_KEY;
    its[j] = pairs && i < count ? values[i] : 0;
  }
  for (int shift = 0; shift < bits; shift += width) {
    rank_keys(mine, shift, (1u << width) - 1, places, tile);
#pragma unroll
    for (int j = 0; j < KEYS; ++j) tile.swap[places[j]] = mine[j];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < KEYS; ++j) mine[j] = tile.swap[key_number(j)];
    __syncthreads();
    if (!pairs) continue;
#pragma unroll
    for (int j = 0; j < KEYS; ++j) tile.swap[places[j]] = its[j];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < KEYS; ++j) its[j] = tile.swap[key_number(j)];
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < KEYS; ++j) {
    const u32 i = key_number(j);
    if (i >= count) continue;
    keys[i] = mine[j];
    if (pairs) values[i] = its[j];
  }
}

}  // namespace hopwave::steps
