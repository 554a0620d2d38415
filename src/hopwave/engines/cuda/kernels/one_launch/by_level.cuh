// The vertices that a search reached, in the order in which path counts are added up: level after level, and within a
// level by classes of in-degree, the longest rows first.
//
// A counting sort: bins are counted, scanned, and filled. A warp takes 32 vertices and goes through the levels among
// them, so that it needs one atomic operation per bin; if there are few bins, blocks count in shared memory first. The
// order within a bin may differ from run to run. Path counts do not: each is the sum over one vertex's own row.
#pragma once
#include "common/graph.cuh"
#include "common/scan.cuh"
#include "one_launch/path_counts.cuh"

namespace hopwave::one_launch {

constexpr int CLASSES = 4;  // classes of in-degree per level; a bin is one class of one level
constexpr int FEW_BINS = 1024;
static_assert(CLASSES <= WARP && FEW_BINS % CLASSES == 0);

// Classes: rows for a whole block, for a warp, for a lane, and short rows for a lane (see Counting::level).
__device__ __forceinline__ int class_of(u64 arcs) { return arcs >= BLOCK_ROW ? 0 : arcs > 16 ? 1 : arcs > 4 ? 2 : 3; }

// Calls visit(level, v, class, arcs) once for every level among the 32 vertices of a warp; lanes whose vertex is in
// another level get class -1.
template <class Offset, class Visit>
__device__ __forceinline__ void for_levels(const Offset *in_offsets, const int *distance, u64 n, Visit visit) {
  for (u64 v = thread_number(); v < (n + WARP - 1) / WARP * WARP; v += thread_count()) {
    const int depth = v < n ? distance[v] : -1;
    const u64 arcs = depth < 0 ? 0 : degree(in_offsets, (int)v);
    for (u32 left = __ballot_sync(ALL_LANES, depth >= 0); left;) {
      const int level = __shfl_sync(ALL_LANES, depth, __ffs(left) - 1);
      const bool here = depth == level;
      left &= ~__ballot_sync(ALL_LANES, here);
      visit(level, (int)v, here ? class_of(arcs) : -1, arcs);
    }
  }
}

// Adds a warp's vertices of one level to its bins.
__device__ __forceinline__ void count_classes(u32 *bins, int kind) {
  u32 mine = 0;
  for (int c = 0; c < CLASSES; ++c) {
    const u32 found = __popc(__ballot_sync(ALL_LANES, kind == c));
    if (lane() == c) mine = found;
  }
  if (mine) atomicAdd(bins + lane(), mine);
}

// Counts the vertices of every bin and the in-arcs of every level; both arrays are 0 before.
template <class Offset>
__global__ void count_levels(const Offset *in_offsets, const int *distance, u64 n, u64 levels, u32 *bins, u64 *arcs) {
  __shared__ u32 my_bins[FEW_BINS];
  __shared__ u64 my_arcs[FEW_BINS / CLASSES];
  const bool few = levels * CLASSES <= FEW_BINS;
  if (few) {
    for (u64 i = threadIdx.x; i < levels * CLASSES; i += BLOCK) my_bins[i] = 0;
    for (u64 i = threadIdx.x; i < levels; i += BLOCK) my_arcs[i] = 0;
    __syncthreads();
  }
  u32 *to_bins = few ? my_bins : bins;
  u64 *to_arcs = few ? my_arcs : arcs;
  for_levels(in_offsets, distance, n, [=](int level, int, int kind, u64 length) {
    count_classes(to_bins + (u64)level * CLASSES, kind);
    const u64 sum = warp_sum(kind < 0 ? 0 : length);
    if (lane() == 0 && sum) atomicAdd(to_arcs + level, sum);
  });
  if (!few) return;
  __syncthreads();
  for (u64 i = threadIdx.x; i < levels * CLASSES; i += BLOCK)
    if (my_bins[i]) atomicAdd(bins + i, my_bins[i]);
  for (u64 i = threadIdx.x; i < levels; i += BLOCK)
    if (my_arcs[i]) atomicAdd(arcs + i, my_arcs[i]);
}

// bins[i] becomes the first place of bin i, starts[l] the first place of level l; starts[levels] is the end. One block.
template <class Offset>
__global__ void scan_levels(u32 *bins, u64 levels, i64 *starts) {
  u64 before = 0;
  for (u64 turn = 0; turn < levels * CLASSES; turn += BLOCK) {
    const u64 i = turn + threadIdx.x;
    const bool there = i < levels * CLASSES;
    u64 total;
    const u64 begin = before + block_scan(there ? (u64)bins[i] : 0, total);
    if (there) bins[i] = (u32)begin;
    if (there && i % CLASSES == 0) starts[i / CLASSES] = (i64)begin;
    before += total;
  }
  if (threadIdx.x == 0) starts[levels] = (i64)before;
}

// Writes every vertex to its bin; bins[i] is the next free place of bin i.
template <class Offset>
__global__ void fill_levels(const Offset *in_offsets, const int *distance, u64 n, u64 levels, u32 *bins, int *order) {
  __shared__ u32 next[FEW_BINS];
  const bool few = levels * CLASSES <= FEW_BINS;
  if (few) {  // the block reserves its places in every bin at once
    for (u64 i = threadIdx.x; i < levels * CLASSES; i += BLOCK) next[i] = 0;
    __syncthreads();
    for_levels(in_offsets, distance, n,
               [&](int level, int, int kind, u64) { count_classes(next + level * CLASSES, kind); });
    __syncthreads();
    for (u64 i = threadIdx.x; i < levels * CLASSES; i += BLOCK)
      if (next[i]) next[i] = atomicAdd(bins + i, next[i]);
    __syncthreads();
  }
  u32 *places = few ? next : bins;
  for_levels(in_offsets, distance, n, [=](int level, int v, int kind, u64) {
    for (int c = 0; c < CLASSES; ++c) {
      const u32 those = __ballot_sync(ALL_LANES, kind == c);
      if (!those) continue;
      u32 first = 0;
      if (lane() == 0) first = atomicAdd(places + (u64)level * CLASSES + c, __popc(those));
      first = __shfl_sync(ALL_LANES, first, 0);
      if (kind == c) order[first + __popc(those & lanes_below())] = v;
    }
  });
}

}  // namespace hopwave::one_launch
