// The lengths of a graph's rows: the greatest length, and the long rows.
#pragma once
#include "common/graph.cuh"

namespace hopwave::build {

// Finds the length of the longest row; `greatest` is 0 before.
template <class Offset>
__global__ void greatest_length(const Offset *offsets, u64 n, u64 *greatest) {
  u64 mine = 0;
  for (u64 v = thread_number(); v < n; v += thread_count()) mine = max(mine, degree(offsets, (int)v));
  mine = warp_max(mine);
  if (lane() == 0 && mine) atomicMax(greatest, mine);
}

// Lists the rows of more than `length` arcs, in any order, as keys that sort by descending length, then by row.
template <class Offset>
__global__ void find_long(const Offset *offsets, u64 n, u64 length, u64 *keys, u64 *count) {
  for (u64 v = thread_number(); v < n; v += thread_count()) {
    const u64 arcs = degree(offsets, (int)v);
    if (arcs > length) keys[enqueue_at(count)] = (u64)(0xffffffffu - (u32)arcs) << 32 | v;
  }
}

// From sorted keys back to rows.
template <class Offset>
__global__ void rows_of_keys(const u64 *keys, u64 count, int *rows) {
  for (u64 i = thread_number(); i < count; i += thread_count()) rows[i] = (int)(keys[i] & 0xffffffffu);
}

}  // namespace hopwave::build
