// hopwave's own search: all levels in one cooperative launch, the direction chosen on the device.
//
// Two tiers. One block takes runs of small levels alone (hopwave_small.cuh) while the others wait at a barrier; the grid
// takes the large ones with one barrier a level, by pushing (hopwave_push.cuh) or pulling (hopwave_pull.cuh).
//
// State: two visited bitmaps (a pull reads one and writes the other), one queue in which every vertex stands at most
// once, and chunks of long lists. Distances are written when a vertex is found; what was never found is set to -1 at the
// end, so nothing of size n has to be cleared before, but one bitmap.
#pragma once
#include "hopwave_paths.cuh"
#include "hopwave_pull.cuh"
#include "hopwave_push.cuh"
#include "hopwave_small.cuh"

// Block 0 sets the sources and counts what a rule wants to know of them.
template <class Offset, bool PARENTS>
__device__ void stand_at(const Graph<Offset> &graph, const Work &work, Answer answer, const int *sources, int count,
                         Standing &here) {
  __shared__ u64 arcs;
  __shared__ u32 closed;
  if (threadIdx.x == 0) arcs = closed = 0;
  __syncthreads();
  for (u32 i = threadIdx.x; i < ((count + 31) & ~31u); i += BLOCK) {
    int s = i < count ? sources[i] : 0;
    i64 begin = 0, degree = 0;
    if (i < count) {
      begin = __ldg(graph.offsets + s), degree = __ldg(graph.offsets + s + 1) - begin;
      atomicOr(work.even + (s >> 5), 1u << (s & 31));
      answer.distance[s] = 0;
      if (PARENTS) answer.parent[s] = s;
      work.queue[i] = s;
      if (graph.closed[s >> 5] >> (s & 31) & 1) atomicAdd(&closed, 1);  // nobody could have found it
      atomicAdd(&arcs, (u64)degree);
    }
    cut(degree >= work.chunk, s, begin, degree, work.chunks, &work.counters->chunk_tail, work.chunk);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    here = Standing{};
    here.nf = here.reached = here.tail = count;
    here.mf = arcs, here.mu = graph.m - arcs;
    here.findable = graph.findable + closed;
    here.last = -1, here.queued = 1;
    here.chunk_tail = atomicAdd(&work.counters->chunk_tail, 0);
    work.counters->tail = count;
    if (work.trace) work.trace[(work.trace_rows + 1) * TRACE_COLUMNS - 1] = nanoseconds();
  }
  __syncthreads();
}

template <class Offset, bool PARENTS>
__global__ void __launch_bounds__(BLOCK, HOPWAVE_BLOCKS_PER_SM)
search(const __grid_constant__ Graph<Offset> graph, const __grid_constant__ Work work, int *distance, int *parent,
       const int *sources, int source_count, int depth_limit, double alpha, double beta, Standing *out) {
  __shared__ __align__(16) unsigned char room[ROOM];
  __shared__ Standing here;
  const Answer answer{distance, parent};
  Counters *counters = work.counters;
  const u32 thread = blockIdx.x * BLOCK + threadIdx.x, threads = gridDim.x * BLOCK;
  const u32 words = (u32)((graph.n + 31) / 32);
  u32 target = 0;
  int slot = 0;

  for (u32 i = thread; i < (words + 3) / 4; i += threads) ((uint4 *)work.even)[i] = make_uint4(0, 0, 0, 0);
  if (thread < 3) counters->sums[thread] = Sums{};
  if (thread == 0) counters->tail = counters->chunk_tail = 0;
  meet(counters, target, false, [] {});

  auto small = [&](const Standing &s) {
    return s.nf <= VERTICES && (i64)s.mf <= min((i64)Small<Offset>::ARCS, work.take);
  };
  auto read_standing = [&] { here = counters->standing; };
  if (blockIdx.x == 0) {
    stand_at<Offset, PARENTS>(graph, work, answer, sources, source_count, here);
    if (small(here) && !over(here, depth_limit) && growing(alpha, beta, graph.n, here) == PUSH)
      small_levels<Offset, PARENTS>(graph, work, answer, here, alpha, beta, depth_limit, room);
    if (threadIdx.x == 0) counters->standing = here;
  }
  meet(counters, target, blockIdx.x != 0, read_standing);

  while (!over(here, depth_limit)) {
    const int choice = growing(alpha, beta, graph.n, here);
    if (choice == PUSH && !here.queued) {
      queue_frontier(graph, work, here);
      meet(counters, target, false, [&] {
        here.begin = here.tail, here.tail += here.nf;
        here.chunk_begin = here.chunk_tail, here.chunk_tail = __ldcg(&counters->chunk_tail);
        here.queued = 1;
      });
    }
    if (choice == PUSH && small(here)) {
      if (blockIdx.x == 0) {
        small_levels<Offset, PARENTS>(graph, work, answer, here, alpha, beta, depth_limit, room);
        if (threadIdx.x == 0) counters->standing = here;
      }
      meet(counters, target, blockIdx.x != 0, read_standing);
      continue;
    }
    Sums *sums = counters->sums + slot;
    slot = slot == 2 ? 0 : slot + 1;
    if (thread == 0) counters->sums[slot] = Sums{};
    if (choice == PUSH) {
      push_level<Offset, PARENTS>(graph, work, answer, here, sums, room);
      meet(counters, target, false, [&] {
        const u32 tail = __ldcg(&counters->tail), chunk_tail = __ldcg(&counters->chunk_tail);
        const u64 mf = __ldcg(&sums->mf);
        step_forward(here, work, PUSH, tail - here.tail, mf, here.mf, GRID_TIER);
        here.begin = here.tail, here.tail = tail;
        here.chunk_begin = here.chunk_tail, here.chunk_tail = chunk_tail;
      });
    } else {
      __shared__ u32 pieces;
      pull_level<Offset, PARENTS>(graph, work, answer, here, sums, room);
      meet(counters, target, false, [&] { pieces = __ldcg(&sums->rest); });
      if (pieces) {
        pull_rest<Offset, PARENTS>(graph, work, answer, here, sums, pieces);
        meet(counters, target, false, [] {});
      }
      if (threadIdx.x == 0) {
        step_forward(here, work, PULL, __ldcg(&sums->found), __ldcg(&sums->mf), __ldcg(&sums->checked), GRID_TIER);
        here.which ^= 1, here.queued = 0;
      }
      __syncthreads();
    }
  }

  // Nobody found these.
  const u32 *visited = work.visited(here.which);
  for (u32 w = grid_warp(); w < words; w += grid_warps()) {
    const i64 v = (i64)w * 32 + lane();
    if (v < graph.n && !(visited[w] >> lane() & 1)) {
      answer.distance[v] = -1;
      if (PARENTS) answer.parent[v] = -1;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    if (blockIdx.x == 0) *out = here;
    if (atomicAdd(&counters->left, 1) == gridDim.x - 1) counters->left = counters->arrived = 0;
  }
}

// Once a graph: every vertex's first in-neighbour, and a bitmap of those that have none. Whole words: threads past n too.
template <class Offset>
__global__ void prepare(const Offset *in_offsets, const int *in_neighbours, i64 n, int *hub, u32 *closed, u64 *findable) {
  const i64 v = (i64)blockIdx.x * blockDim.x + threadIdx.x;
  const bool open = v < n && in_offsets[v] < in_offsets[v + 1];
  if (v < n) hub[v] = open ? in_neighbours[in_offsets[v]] : -1;
  const u32 all = __ballot_sync(ALL, open);
  if (lane() == 0) {
    closed[v >> 5] = ~all;
    if (all) atomicAdd(findable, (u64)__popc(all));
  }
}
