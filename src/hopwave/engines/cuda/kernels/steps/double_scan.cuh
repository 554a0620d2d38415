// XBFS's bottom-up step: a sorted queue of unvisited vertices by double scan (section 4.2), three assignments of rows
// to threads (section 5.1), and the asynchronous look-ahead (section 5.2, Algorithm 3).
#pragma once
#include "steps/gather.cuh"

namespace hopwave::steps {

// Whether v was unvisited before this level (Definition 2.1), or was found ahead: a push then needs v (Observation 2).
__device__ inline bool waits(const int *distance, u64 v, u64 n, int depth) {
  return v < n && (distance[v] == -1 || distance[v] == depth + 1);
}

constexpr int AHEAD_READS = 8;  // words of statuses that a warp loads at a time

// A thread owns a segment; a warp scans its segments together, so that reads coalesce.
//   scan = 1   counts the waiting vertices before each segment in its block, and in the block
//   scan = 2   writes the vertices to their positions, after prefix_sum has turned `sums` into running sums
template <class Offset, int scan>
__global__ void scan_segments(const int *distance, u64 n, int depth, u64 segments, u64 segment_length, u32 *places,
                              i64 *sums, int *queue) {
  const u64 segment = thread_number(), first_segment = segment - lane();
  u32 count = 0;
  u64 place = scan == 2 && segment < segments ? (u64)sums[blockIdx.x] + places[segment] : 0;
  for (u64 word = 0; word < segment_length && first_segment < segments; word += WARP) {  // uniform within a warp
    u32 mine = 0;
    for (int first = 0; first < WARP; first += AHEAD_READS) {
      bool here[AHEAD_READS];
      for (int i = 0; i < AHEAD_READS; ++i)
        here[i] = waits(distance, (first_segment + first + i) * segment_length + word + lane(), n, depth);
      for (int i = 0; i < AHEAD_READS; ++i) {
        const u32 waiting = __ballot_sync(ALL_LANES, here[i]);
        if (lane() == first + i) mine = waiting;
      }
    }
    if (scan == 1) count += __popc(mine);
    else
      for (; mine; mine &= mine - 1) queue[place++] = (int)(segment * segment_length + word + __ffs(mine) - 1);
  }
  if (scan == 1) {
    u32 total;
    const u32 before = block_scan(count, total);
    if (segment < segments) places[segment] = before;
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
  }
}

template <class Offset>
__global__ void prefix_sum(i64 *sums, u64 blocks) {
  i64 before = 0;
  for (u64 tile = 0; tile < blocks; tile += BLOCK) {
    const u64 i = tile + threadIdx.x;
    i64 total;
    const i64 place = block_scan(i < blocks ? sums[i] : 0LL, total);
    if (i < blocks) sums[i] = before + place;
    before += total;
  }
}

// depth is the paper's l - 1. With `asynchronous`, a row without a neighbour in the frontier, but with one that was
// found in this launch, belongs to the next level (Lemma 2). Its entry in the queue becomes ~v: a push that reads the
// queue (Observation 2) lists it. Listing it here with an atomic operation would cost more than looking ahead saves.
template <class Offset, bool asynchronous>
__device__ inline void write_row(int v, int source, int beside, const Offset *offsets, int depth, int *distance,
                                 int *parent, int *entry, Tally &mine) {
  if (source >= 0) {
    *(volatile int *)&distance[v] = depth + 1;
    if (parent) parent[v] = source;
    mine.add(offsets, v);
  } else if (asynchronous && beside >= 0) {
    *(volatile int *)&distance[v] = depth + 2;
    if (parent) parent[v] = beside;
    *entry = ~v;
    mine.ahead += 1;
    mine.ahead_edges += degree(offsets, v);
  }
}

template <class Offset, bool asynchronous>
__device__ inline void traverse(int *entry, const Offset *in_offsets, const int *in_neighbours, const Offset *offsets,
                                int depth, int *distance, int *parent, Tally &mine) {
  const int v = *entry;
  if (status(distance, v) != -1) return;  // found early, by the previous level
  const Offset end = in_offsets[v + 1];
  int source = -1, beside = -1;
  for (Offset arc = in_offsets[v]; arc < end; ++arc) {
    const int u = in_neighbours[arc];
    const int level = status(distance, u);
    mine.checked += 1;
    if (level == depth) {
      source = u;
      break;
    }
    if (asynchronous && level == depth + 1) beside = u;
  }
  write_row<Offset, asynchronous>(v, source, beside, offsets, depth, distance, parent, entry, mine);
}

constexpr int TURN = 5;  // neighbours between two checks for finished lanes (section 5.1.2)

// 32 rows per warp (null: no row), with work donation: when 31 lanes have finished, all lanes share the last row.
template <class Offset, bool asynchronous>
__device__ inline void traverse_together(int *entry, const Offset *in_offsets, const int *in_neighbours,
                                         const Offset *offsets, int depth, int *distance, int *parent, Tally &mine) {
  const int v = entry ? *entry : -1;
  const bool waiting = v >= 0 && status(distance, v) == -1;
  Offset arc = waiting ? in_offsets[v] : 0;
  Offset end = waiting ? in_offsets[v + 1] : 0;
  int source = -1, beside = -1;
  const auto look = [&](Offset at) {
    const int u = in_neighbours[at];
    const int level = status(distance, u);
    mine.checked += 1;
    if (level == depth) source = u;
    else if (asynchronous && level == depth + 1) beside = u;
  };
  while (const u32 left = __ballot_sync(ALL_LANES, arc < end)) {
    if (__popc(left) == 1) {
      const int owner = __ffs(left) - 1;
      const Offset last = __shfl_sync(ALL_LANES, end, owner);
      const int own_source = source, own_beside = beside;
      source = -1;
      if (lane() != owner) beside = -1;
      for (Offset first = __shfl_sync(ALL_LANES, arc, owner); first < last; first += WARP) {
        if (last - first > (Offset)lane()) look(first + (Offset)lane());
        if (__any_sync(ALL_LANES, source >= 0)) break;
      }
      const u32 finders = __ballot_sync(ALL_LANES, source >= 0), besides = __ballot_sync(ALL_LANES, beside >= 0);
      const int found = __shfl_sync(ALL_LANES, source, finders ? __ffs(finders) - 1 : 0);
      const int seen = __shfl_sync(ALL_LANES, beside, besides ? __ffs(besides) - 1 : 0);
      source = lane() == owner ? found : own_source;
      beside = lane() == owner ? seen : own_beside;
      break;
    }
    for (int turn = 0; turn < TURN && arc < end; ++turn) {
      look(arc);
      arc = source >= 0 ? end : arc + 1;
    }
  }
  if (waiting) write_row<Offset, asynchronous>(v, source, beside, offsets, depth, distance, parent, entry, mine);
  __syncwarp();
}

// Assignment of rows to threads:
//   balance = static   thread t processes rows t, t + threads, ...
//   balance = thread   thread t starts with row t, then claims rows from a shared counter (Algorithm 1)
//   balance = warp     like thread, but a warp claims 32 rows at a time (Algorithm 2)
//   balance = donate   like warp, and all lanes of a warp share its last row
template <class Offset, Balance balance, bool asynchronous>
__global__ void pull_queue(const Offset *in_offsets, const int *in_neighbours, const Offset *offsets, int *queue,
                           u64 length, int depth, int *distance, int *parent, u64 *counters) {
  Tally mine;
  u64 i = thread_number();
  const u64 threads = thread_count();
  if (balance == Balance::warp || balance == Balance::donate) {
    while (__any_sync(ALL_LANES, i < length)) {
      if (balance == Balance::donate)
        traverse_together<Offset, asynchronous>(i < length ? queue + i : nullptr, in_offsets, in_neighbours, offsets,
                                                depth, distance, parent, mine);
      else if (i < length)
        traverse<Offset, asynchronous>(queue + i, in_offsets, in_neighbours, offsets, depth, distance, parent, mine);
      __syncwarp();
      u64 first = 0;
      if (lane() == 0) first = threads + atomicAdd(&counters[TICKET], (u64)WARP);
      i = __shfl_sync(ALL_LANES, first, 0) + lane();
    }
  } else {
    while (i < length) {
      traverse<Offset, asynchronous>(queue + i, in_offsets, in_neighbours, offsets, depth, distance, parent, mine);
      i = balance == Balance::static_ ? i + threads : threads + atomicAdd(&counters[TICKET], 1ull);
    }
  }
  report(mine, counters);
}

}  // namespace hopwave::steps
