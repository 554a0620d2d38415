// Packs neighbours, and unpacks them (common/rows.cuh has the format). One warp per group.
#pragma once
#include "common/rows.cuh"

namespace hopwave::build {

// The arcs of groups [first, first + groups) begin at values[0]; the last group may be short, and repeats its last arc.
__device__ __forceinline__ u32 value_of(const int *values, i64 count, i64 group) {
  return (u32)values[min(group * 32 + lane(), count - 1)];
}

__device__ __forceinline__ u64 *head_of(Packed *rows, u64 group) {
  return &rows->head + (group >> BLOCK_BITS) * HEADS + 1 + (group & (BLOCK_GROUPS - 1));
}

// Writes the base and the width of every group.
template <class Offset>
__global__ void measure_groups(const int *values, i64 count, i64 first, i64 groups, Packed *rows) {
  for (i64 g = signed_thread_number() / WARP; g < groups; g += signed_thread_count() / WARP) {
    const u32 x = value_of(values, count, g), most = warp_max(x), least = ~warp_max(~x);
    if (lane() == 0) *head_of(rows, first + g) = (u64)least << BASE_BIT | max(1, 32 - __clz(most - least));
  }
}

// Writes the first word of every group; sizes[b] becomes the number of words of block first + b. One thread block per
// block of groups.
template <class Offset>
__global__ void place_groups(i64 first, i64 blocks, i64 groups, Packed *rows, u64 *sizes) {
  for (i64 b = blockIdx.x; b < blocks; b += gridDim.x) {
    u64 *heads = &rows->head + (first + b) * HEADS + 1;
    const i64 here = min((i64)BLOCK_GROUPS, groups - b * BLOCK_GROUPS);
    u32 before = 0;
    for (i64 base = 0; base < here; base += BLOCK) {
      const i64 g = base + threadIdx.x;
      const u64 head = g < here ? heads[g] : 0;
      u32 total;
      const u32 at = before + block_scan((u32)head & 31, total);
      if (g < here) heads[g] = head | (u64)at << WIDTH_BITS;
      before += total;
    }
    if (threadIdx.x == 0) sizes[b] = before;
  }
}

// Writes the words of every group; the heads have the address of each block's words.
template <class Offset>
__global__ void pack_groups(const int *values, i64 count, i64 first, i64 groups, Packed *rows) {
  for (i64 g = signed_thread_number() / WARP; g < groups; g += signed_thread_count() / WARP) {
    const u64 head = *head_of(rows, first + g);
    u32 *words = (u32 *)(&rows->head)[((u64)(first + g) >> BLOCK_BITS) * HEADS] + ((u32)head >> WIDTH_BITS);
    const u32 width = (u32)head & 31, x = value_of(values, count, g) - (u32)(head >> BASE_BIT);
    u32 word = 0;
    for (u32 k = 0, bit = 0; k < 32; k++, bit += width) {
      const u32 bits = __shfl_sync(ALL_LANES, x, k), shift = bit & 31;
      if (lane() == bit >> 5) word |= bits << shift;
      else if (lane() == (bit >> 5) + 1 && shift) word |= bits >> (32 - shift);
    }
    if (lane() < width) words[lane()] = word;
  }
}

// Writes the arcs of rows [from, to), given by id, as keys: the row's number above the neighbour's number. Leaves out
// rows whose numbers are not in [first, last). `neighbours` begin at arc `begin` of the graph; places[number] is where
// a row begins if rows are in the order of their numbers. One warp per row.
template <class Offset>
__global__ void number_keys(const Offset *offsets, const int *neighbours, i64 from, i64 to, i64 begin,
                            const int *numbers, const i64 *places, i64 first, i64 last, u64 *keys) {
  for (i64 v = from + signed_thread_number() / WARP; v < to; v += signed_thread_count() / WARP) {
    const i64 number = numbers[v];
    if (number < first || number >= last) continue;
    u64 *row = keys + (places[number] - places[first]);
    const i64 arcs = offsets[v + 1] - offsets[v];
    for (i64 k = lane(); k < arcs; k += WARP)
      row[k] = (u64)(number - first) << 32 | (u64)numbers[neighbours[offsets[v] - begin + k]];
  }
}

template <class Offset>
__global__ void unpack(const Packed *rows, i64 first, i64 count, int *values) {
  for (i64 i = signed_thread_number(); i < count; i += signed_thread_count()) values[i] = neighbour(rows, first + i);
}

}  // namespace hopwave::build
