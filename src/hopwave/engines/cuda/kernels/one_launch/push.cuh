// A push by the whole grid: warps take chunks of long lists, and tiles of up to 32 vertices with shorter lists.
#pragma once
#include "one_launch/state.cuh"

namespace hopwave::one_launch {

constexpr int PUSH_IN_FLIGHT = 4;  // arcs that a lane loads at a time
constexpr u32 FULL = 128;          // vertices that a warp collects before it queues them
constexpr u32 BUFFER = FULL + 32 * PUSH_IN_FLIGHT;
static_assert(BUFFER * WARPS * 4 <= SCRATCH_BYTES, "the warps' buffers must fit");

// The vertices that a warp has found and not yet queued.
struct Finds {
  int *buffer;
  u32 count, big, queued;
  u64 edges;
};

// One warp's view of a level's push.
template <class Offset, class Answer>
struct Pushing {
  const Graph<Offset> &graph;
  const Work &work;
  Answer answer;
  u32 *visited;
  int depth;
  Finds finds;

  // Claims the lanes' neighbours; u[k] < 0 stands for no neighbour. No branches, so that loads are issued together.
  __device__ __forceinline__ void take(const int (&u)[PUSH_IN_FLIGHT], const int (&from)[PUSH_IN_FLIGHT]) {
    u32 bit[PUSH_IN_FLIGHT], old[PUSH_IN_FLIGHT];
    Degree<Offset> degrees[PUSH_IN_FLIGHT];
    for (int k = 0; k < PUSH_IN_FLIGHT; k++) old[k] = __ldcg(visited + word_of(u[k]));
    for (int k = 0; k < PUSH_IN_FLIGHT; k++) bit[k] = bit_of(u[k]) & ~old[k];
    for (int k = 0; k < PUSH_IN_FLIGHT; k++) old[k] = claim(visited + word_of(u[k]), bit[k]);
    for (int k = 0; k < PUSH_IN_FLIGHT; k++) {
      bit[k] &= ~old[k];  // from here on: whether the vertex is new
      degrees[k].load(graph, u[k], bit[k]);
    }
    for (int k = 0; k < PUSH_IN_FLIGHT; k++) {
      const u32 all = __ballot_sync(ALL_LANES, bit[k]);
      if (bit[k]) {
        answer.reach(u[k], from[k], depth);
        finds.buffer[finds.count + __popc(all & lanes_below())] = u[k];
      }
      finds.count += __popc(all);
    }
    for (int k = 0; k < PUSH_IN_FLIGHT; k++) {
      const Offset degree = degrees[k].get(graph, u[k], bit[k]);
      finds.edges += degree, finds.big += degree >= work.chunk;
    }
    __syncwarp();
    if (finds.count >= FULL) {
      u32 at = 0;
      if (lane() == 0) at = atomicAdd(&work.counters->tail, finds.count);
      write_out(__shfl_sync(ALL_LANES, at, 0));
      finds.queued += finds.count, finds.count = 0;
    }
  }

  __device__ __forceinline__ void write_out(u32 at) {
    for (u32 i = lane(); i < finds.count; i += 32) work.queue[at + i] = finds.buffer[i];
    __syncwarp();
  }

  __device__ __forceinline__ void one_list(int v, i64 begin, i64 length) {
    for (i64 e = 0; e < length; e += 32 * PUSH_IN_FLIGHT) {
      int u[PUSH_IN_FLIGHT], from[PUSH_IN_FLIGHT];
      for (int k = 0; k < PUSH_IN_FLIGHT; k++) {
        i64 i = e + k * 32 + lane();
        u[k] = i < length ? neighbour(graph.neighbours, begin + i) : -1;
        from[k] = v;
      }
      take(u, from);
    }
  }

  // Takes up to 32 vertices, one per lane; the lanes share their arcs evenly.
  __device__ __forceinline__ void tile(bool mine, int v, i64 begin, i64 degree) {
    u32 end = inclusive_scan(mine ? (u32)degree : 0);
    u32 total = __shfl_sync(ALL_LANES, end, 31);
    i64 base = begin - (end - (mine ? (u32)degree : 0));
    for (u32 e = 0; e < total; e += 32 * PUSH_IN_FLIGHT) {
      int u[PUSH_IN_FLIGHT], from[PUSH_IN_FLIGHT];
      for (int k = 0; k < PUSH_IN_FLIGHT; k++) {
        u32 i = e + k * 32 + lane();
        int owner = 0;
        for (int step = 16; step; step >>= 1)
          if (__shfl_sync(ALL_LANES, end, owner + step - 1) <= i) owner += step;
        i64 at = __shfl_sync(ALL_LANES, base, owner) + i;
        from[k] = __shfl_sync(ALL_LANES, v, owner);
        u[k] = i < total ? neighbour(graph.neighbours, at) : -1;
      }
      take(u, from);
    }
  }
};

// Adds up what a block has found, and queues its vertices with one addition for all its warps.
template <class Offset, class Answer>
__device__ __forceinline__ void block_finish(Pushing<Offset, Answer> &pushing, LevelSums *sums) {
  __shared__ u32 begins[WARPS];
  if (lane() == 0) begins[block_warp()] = pushing.finds.count;
  const Finds &finds = pushing.finds;
  const BlockSums all = block_sum(finds.edges, finds.big, lane() == 0 ? finds.queued + finds.count : 0);
  if (threadIdx.x < 32) {
    u32 count = lane() < WARPS ? begins[lane()] : 0, end = inclusive_scan(count), at = 0;
    if (lane() == 31 && end) at = atomicAdd(&pushing.work.counters->tail, end);
    if (lane() == 0 && all.a) atomicAdd(&sums->mf, all.a);
    if (lane() == 0 && all.b) atomicAdd(&sums->big, all.b);
    if (lane() == 0 && all.c) atomicAdd(&sums->found, all.c);
    at = __shfl_sync(ALL_LANES, at, 31);
    if (lane() < WARPS) begins[lane()] = at + end - count;
  }
  __syncthreads();
  pushing.write_out(begins[block_warp()]);
}

template <class Offset, class Answer>
__device__ void push_level(const Graph<Offset> &graph, const Work &work, Answer answer, const Standing &here,
                           u32 chunks, LevelSums *sums, u8 *scratch) {
  Pushing<Offset, Answer> pushing{graph,          work,
                                  answer,         work.visited(here.which),
                                  here.depth + 1, {(int *)scratch + block_warp() * BUFFER, 0, 0, 0, 0}};
  u32 warps = grid_warps();
  u32 size = min(32u, (here.nf + warps - 1) / warps), tiles = (here.nf + size - 1) / size;
  for (u32 task = grid_warp(); task < chunks + tiles; task += warps) {
    if (task < chunks) {
      Chunk chunk = work.chunks[task];
      pushing.one_list(chunk.v, chunk.begin, chunk.length);
      continue;
    }
    u32 i = (task - chunks) * size + lane();
    bool mine = lane() < size && i < here.nf;
    int v = mine ? work.queue[here.begin + i] : 0;
    i64 begin = mine ? (i64)__ldg(graph.offsets + v) : 0;
    i64 degree = mine ? (i64)__ldg(graph.offsets + v + 1) - begin : 0;
    if (degree >= work.chunk) degree = 0;  // its chunks are separate tasks
    if (size == 1)
      pushing.one_list(__shfl_sync(ALL_LANES, v, 0), __shfl_sync(ALL_LANES, begin, 0),
                       __shfl_sync(ALL_LANES, degree, 0));
    else pushing.tile(mine, v, begin, degree);
  }
  block_finish(pushing, sums);
}

// Cuts the long lists of a frontier into chunks, before a push.
template <class Offset>
__device__ void cut_frontier(const Graph<Offset> &graph, const Work &work, const Standing &here, LevelSums *sums) {
  for (u32 base = grid_warp() * 32; base < here.nf; base += grid_warps() * 32) {
    u32 i = base + lane();
    int v = i < here.nf ? work.queue[here.begin + i] : 0;
    i64 begin = 0, degree = 0;
    if (i < here.nf) begin = __ldg(graph.offsets + v), degree = __ldg(graph.offsets + v + 1) - begin;
    cut_long(v, begin, degree, work, sums);
  }
}

// After a pull the frontier is the difference of the two bitmaps; a push needs it in the queue, and long lists cut.
template <class Offset>
__device__ void queue_frontier(const Graph<Offset> &graph, const Work &work, const Standing &here, LevelSums *sums) {
  u32 words = (u32)((graph.n + 31) / 32), big = 0;
  for (u32 base = grid_warp() * 32; base < words; base += grid_warps() * 32) {
    u32 w = base + lane();
    u32 bits = w < words ? work.visited(here.which)[w] & ~work.visited(here.which ^ 1)[w] : 0;
    u32 count = __popc(bits), end = inclusive_scan(count), at = 0;
    if (lane() == 31 && end) at = atomicAdd(&work.counters->tail, end);
    at = __shfl_sync(ALL_LANES, at, 31) + end - count;
    for (; __any_sync(ALL_LANES, bits); bits &= bits - 1) {
      int v = w * 32 + __ffs(bits) - 1;
      i64 begin = 0, degree = 0;
      if (bits) {
        begin = __ldg(graph.offsets + v), degree = __ldg(graph.offsets + v + 1) - begin;
        big += degree >= work.chunk;
        work.queue[at++] = v;
      }
      cut_long(v, begin, degree, work, sums);
    }
  }
  big = warp_sum(big);
  if (lane() == 0 && big) atomicAdd(&sums->big, big);
}

}  // namespace hopwave::one_launch
