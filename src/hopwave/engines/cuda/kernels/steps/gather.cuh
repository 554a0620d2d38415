// How threads are assigned the lists of a frontier: visit(u, arc, slot) is called once for every arc of every list;
// `arc` is its index in the adjacency, `slot` its index among all arcs of the frontier.
#pragma once
#include "common/threads.cuh"

namespace hopwave::steps {

// One u64 each; hopwave/engines/cuda/search/state.py reads them in this order.
enum Counter { FOUND, EDGES, CHECKED, AHEAD, AHEAD_EDGES, TAIL, GATHERED, TICKET, GREATEST, LEAST, COUNTERS };

// Whether the previous level found no vertex: this level, launched ahead, then has no work. `before` may be null.
__device__ inline bool ended(const u64 *before) { return before && !before[FOUND]; }

struct Tally {
  u64 found = 0, edges = 0, checked = 0, ahead = 0, ahead_edges = 0;

  template <class Offset>
  __device__ __forceinline__ void add(const Offset *offsets, int v) {
    found += 1, edges += degree(offsets, v);
  }
};

// Adds up the tallies of a block and then, with one atomic operation each, of the grid. The full block calls this.
__device__ inline void report(const Tally &mine, u64 *counters) {
  __shared__ u64 sums[5];
  const u64 counts[5] = {mine.found, mine.edges, mine.checked, mine.ahead, mine.ahead_edges};
  if (threadIdx.x < 5) sums[threadIdx.x] = 0;
  __syncthreads();
  for (int i = 0; i < 5; ++i) add_warp_sum(&sums[i], counts[i]);
  __syncthreads();
  if (threadIdx.x < 5 && sums[threadIdx.x]) atomicAdd(&counters[FOUND + threadIdx.x], sums[threadIdx.x]);
}

// ---- The words of a plan's steps (hopwave/planning/plan.py), with a trailing underscore for C++ keywords.

enum class Mapping { thread, warp, twc, merge, edge };  // warp: only in pulls
enum class Output { queue, scan, dense, sort, reuse };
enum class Claim { atomic, benign };
enum class Rows { all, unvisited, compacted };
enum class Operand { frontier, visited };
enum class Balance { static_, thread, warp, donate };

constexpr int SCRATCH = 4 * BLOCK;  // arcs that a block processes at a time

// A block's even share of a queue (Merrill et al., section 4.2); consecutive vertices go to different warps.
struct QueueShare {
  u64 length;
  u64 share = (length + gridDim.x - 1) / gridDim.x, begin = min(blockIdx.x * share, length);
  u64 end = min(begin + share, length);

  __device__ static u64 mine(u64 tile) { return tile + lane() * (BLOCK / WARP) + threadIdx.x / WARP; }
};

// A tile of lists, one per thread of the block. mapping = thread: each thread reads its own list. twc: the length
// decides who gathers the list (Merrill et al., section 4; Hiragushi, section 3.2): the block if it has at least BLOCK
// arcs, a warp if at least WARP; a scan packs shorter lists into shared memory.
template <Mapping mapping, class Source, class Offset, class Visit>
__device__ inline void gather_tile(Source u, Offset begin, Offset end, u64 shift, Visit visit) {
  if constexpr (mapping == Mapping::thread) {
    for (; begin < end; ++begin) visit(u, begin, shift + (u64)begin);
    return;
  }
  __shared__ Offset shared_begin, shared_end;
  __shared__ u64 shared_shift;
  __shared__ Source shared_u;
  __shared__ int chosen;
  while (__syncthreads_or(end - begin >= BLOCK)) {
    if (threadIdx.x == 0) chosen = -1;
    __syncthreads();
    if (end - begin >= BLOCK) atomicMax(&chosen, (int)threadIdx.x);
    __syncthreads();
    if (chosen == threadIdx.x) {
      shared_u = u, shared_begin = begin, shared_end = end, shared_shift = shift;
      begin = end;
    }
    __syncthreads();
    for (Offset arc = shared_begin + threadIdx.x; arc < shared_end; arc += BLOCK)
      visit(shared_u, arc, shared_shift + (u64)arc);
  }
  while (const u32 waiting = __ballot_sync(ALL_LANES, end - begin >= WARP)) {
    const int leader = __ffs(waiting) - 1;
    const Source its_u = __shfl_sync(ALL_LANES, u, leader);
    const Offset its_begin = __shfl_sync(ALL_LANES, begin, leader);
    const Offset its_end = __shfl_sync(ALL_LANES, end, leader);
    const u64 its_shift = __shfl_sync(ALL_LANES, shift, leader);
    for (Offset arc = its_begin + lane(); arc < its_end; arc += WARP) visit(its_u, arc, its_shift + (u64)arc);
    if (lane() == leader) begin = end;
    __syncwarp();
  }
  __shared__ Offset arcs[SCRATCH];
  __shared__ u64 shifts[SCRATCH];
  __shared__ Source sources[SCRATCH];
  u32 total;
  u32 place = block_scan((u32)(end - begin), total);
  for (u32 done = 0; done < total; done += SCRATCH) {
    for (; begin < end && place < done + SCRATCH; ++begin, ++place)
      arcs[place - done] = begin, shifts[place - done] = shift, sources[place - done] = u;
    __syncthreads();
    const u32 packed = min(total - done, (u32)SCRATCH);
    for (u32 i = threadIdx.x; i < packed; i += BLOCK) visit(sources[i], arcs[i], shifts[i] + (u64)arcs[i]);
    __syncthreads();
  }
}

// Returns the first index i in [low, high) with sums[i] > value, or high.
template <class Sum>
__device__ inline u64 first_above(const Sum *sums, u64 low, u64 high, u64 value) {
  while (low < high) {
    const u64 middle = (low + high) / 2;
    if ((u64)sums[middle] > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

// Equal shares of the arcs of all lists (push-pull, section 6.2: IntervalGather); `sums`: running sum of their lengths.
template <class Offset, class Visit>
__device__ inline void gather_shares(const Offset *offsets, const int *queue, const i64 *sums, u64 lists, u64 arcs,
                                     Visit visit) {
  __shared__ u64 first_list, last_list;
  for (u64 begin = (u64)blockIdx.x * SCRATCH; begin < arcs; begin += (u64)gridDim.x * SCRATCH) {
    const u64 end = min(begin + SCRATCH, arcs);
    __syncthreads();
    if (threadIdx.x == 0) first_list = first_above(sums, 0, lists, begin);
    if (threadIdx.x == WARP) last_list = first_above(sums, 0, lists, end - 1);
    __syncthreads();
    for (u64 i = begin + threadIdx.x; i < end; i += BLOCK) {
      const u64 list = first_above(sums, first_list, last_list, i);
      const u64 before = list ? (u64)sums[list - 1] : 0;
      const int u = queue[list];
      visit(u, offsets[u] + (Offset)(i - before), i);
    }
  }
}

template <class Offset>
__global__ void list_lengths(const Offset *offsets, const int *queue, u64 lists, i64 *lengths) {
  for (u64 i = thread_number(); i < lists; i += thread_count()) lengths[i] = (i64)degree(offsets, queue[i]);
}

// Writes the end of each list of a short queue, all lists concatenated: lengths and running sum in one block.
template <class Offset>
__device__ inline void write_ends(const Offset *offsets, const int *queue, u64 lists, i64 *ends) {
  i64 before = 0;
  for (u64 tile = 0; tile < lists; tile += BLOCK) {
    const u64 i = tile + threadIdx.x;
    const i64 length = i < lists ? (i64)degree(offsets, queue[i]) : 0LL;
    i64 total;
    const i64 sum = block_scan(length, total);
    if (i < lists) ends[i] = before + sum + length;
    before += total;
  }
}

template <class Offset>
__global__ void list_ends(const Offset *offsets, const int *queue, u64 lists, i64 *ends) {
  write_ends(offsets, queue, lists, ends);
}

}  // namespace hopwave::steps
