// All levels of a search in one cooperative launch, with the direction chosen on the device.
//
// A team (one_launch/team.cuh) of as many blocks as needed computes small levels; the other blocks wait at a barrier.
// The full grid computes large levels, with one barrier per level, by pushing or pulling.
//
// State: two visited bitmaps (a pull reads one and writes the other), one queue that holds every vertex at most once,
// and chunks of long lists. Work between two grid barriers, and what every block does after the second barrier:
//
//   start   block 0 sets the sources, computes the first small levels; others wait   reads the standing
//   team    the team computes levels while they suit it; others wait                 reads the standing
//   queue   all move the frontier from the bitmaps to the queue                      knows the number of long lists
//   cut     all cut long lists into chunks                                           knows the number of chunks
//   push    all compute one level                                                    adds up the level
//   pull    all compute one level, but only the beginnings of long rows              adds up, if no rests remain
//   rest    all search the rests of those rows                                       adds up the level
//
// Each line is a phase, except that cut and push form one phase, and so do pull and rest. Phases rotate through three
// slots of sums, team words and standings (struct Counters): the current phase adds to `slot`, a slow block may still
// read the previous slot, and thread 0 of block 0 clears the next one.
#pragma once
#include "one_launch/by_level.cuh"
#include "one_launch/grid.cuh"
#include "one_launch/team.cuh"

namespace hopwave::one_launch {

// Sets the sources and computes the rule's inputs for them. Block 0 calls this function.
template <class Offset, class Answer>
__device__ void set_sources(const Graph<Offset> &graph, const Work &work, Answer answer, int count, Standing &here) {
  u64 arcs = 0;
  u32 closed = 0, big = 0;
  for (u32 i = threadIdx.x; i < count; i += THREADS) {
    const int s = answer.source(i);
    const i64 degree = __ldg(graph.offsets + s + 1) - __ldg(graph.offsets + s);
    atomicOr(work.even + (s >> 5), 1u << (s & 31));
    answer.begin(i, s);
    work.queue[i] = s;
    arcs += degree, big += degree >= work.chunk;
    closed += graph.closed[s >> 5] >> (s & 31) & 1;  // reached, but not counted in graph.findable
  }
  const BlockSums all = block_sum(arcs, closed, big);
  if (threadIdx.x == 0) {
    here = Standing{};
    here.nf = here.reached = here.tail = count;
    here.mf = all.a, here.mu = graph.m - all.a;
    here.findable = graph.findable + all.b;
    here.big = all.c;
    here.last = here.refused = -1, here.queued = 1;
    work.counters->tail = count;
    if (work.trace) work.trace[(work.trace_rows + 1) * TRACE_COLUMNS - 1] = nanoseconds();
  }
  __syncthreads();
}

template <class Offset, class Answer>
__device__ __forceinline__ void all_levels(const Graph<Offset> &graph, const Work &work, const Answer answer,
                                           int source_count, int depth_limit, double alpha, double beta) {
  __shared__ __align__(16) u8 scratch[SCRATCH_BYTES];
  __shared__ Standing here;
  // In shared memory: registers would be spilled around a barrier, which is slower.
  __shared__ u32 pieces, target, slot;
  __shared__ bool filled;  // whether a pull has written a result for every vertex
  Counters *counters = work.counters;
  const u32 words = (u32)((graph.n + 31) / 32);
  const u32 some = min(gridDim.x, (u32)work.team), all = min(gridDim.x, MAX_TEAM_BLOCKS);
  if (threadIdx.x == 0) target = slot = 0, filled = false;

  auto clear = [&](int i) {
    counters->sums[i] = LevelSums{}, counters->team_word[i][0][0] = counters->team_word[i][1][0] = 0;
  };
  auto following = [&] { return slot == 2 ? 0 : slot + 1; };
  auto new_phase = [&] {
    if (blockIdx.x == 0 && threadIdx.x == 0) clear(following());
    return slot;
  };
  // Returns the number of blocks of the best team for this frontier, or 0 if it is too large for a team.
  auto team_for = [&](const Standing &s) -> u32 {
    if (s.nf <= MAX_VERTICES && (i64)s.mf <= min((i64)MAX_ALONE_ARCS, work.alone)) return 1;
    if (s.big || s.refused == s.depth) return 0;
    if (s.nf <= some * MAX_VERTICES && (i64)s.mf <= work.few) return some;
    return s.nf <= all * MAX_VERTICES && (i64)s.mf <= all * work.share ? all : 0;
  };
  auto team_level = [&](u32 blocks, u32 phase) {
    Task<Offset, Answer> task{graph,
                              work,
                              answer,
                              blocks,
                              alpha,
                              depth_limit,
                              0,
                              0,
                              counters->sums + phase,
                              counters->team_word[phase],
                              counters->standing + phase};
    if (blocks > 1) task.min_arcs = (u32)max(0ll, (blocks == some ? work.alone : work.few) / 2);
    task.max_arcs = (u32)(blocks == 1 ? 2 * work.alone : blocks == some ? 2 * work.few : 2 * all * work.share);
    team_levels<Offset, Answer>(task, here, scratch);
  };
  auto read_standing = [&](u32 phase) {
    const LevelSums *sums = counters->sums + phase;
    here = counters->standing[phase];
    here.mf = __ldcg(&sums->mf), here.mu -= here.mf;
    here.big = __ldcg(&sums->big), here.chunks = __ldcg(&sums->chunks);
    slot = following();
  };

  __syncthreads();
  // One iteration per level, or per team. All team code is called at one point below, because every call is inlined.
  for (bool start = true; start || !finished(here, depth_limit); start = false) {
    int choice = PUSH;
    u32 blocks = 1;
    if (!start) {
      choice = growing(alpha, beta, graph.n, graph.m, here);
      blocks = choice == PUSH ? team_for(here) : 0;
    }
    // After a pull the frontier is only in the bitmaps. A team that is large enough reads the bitmaps itself.
    if (!start && choice == PUSH && !here.queued && words > blocks * THREADS * 8) {
      LevelSums *sums = counters->sums + new_phase();
      queue_frontier(graph, work, here, sums);
      grid_barrier(counters, target, false, [&] {
        here.begin = here.tail, here.tail += here.nf;
        here.big = __ldcg(&sums->big), here.chunks = __ldcg(&sums->chunks), here.queued = 1;
        slot = following();
      });
      blocks = team_for(here);
    }
    const u32 phase = new_phase();
    LevelSums *sums = counters->sums + phase;
    if (blocks) {
      bool suits = true;
      if (start && blockIdx.x == 0) {
        set_sources(graph, work, answer, source_count, here);
        suits =
            team_for(here) == 1 && !finished(here, depth_limit) && growing(alpha, beta, graph.n, graph.m, here) == PUSH;
        if (!suits && threadIdx.x == 0) {
          counters->sums[phase].mf = here.mf, counters->sums[phase].big = here.big;
          Standing begun = here;  // a copy: other threads may still be evaluating the rule for `here`
          begun.mu += begun.mf;
          counters->standing[phase] = begun;
        }
      }
      if (suits && blockIdx.x < blocks) team_level(blocks, phase);
      grid_barrier(counters, target, blockIdx.x >= blocks, [&] { read_standing(phase); });
    } else if (choice == PUSH) {
      if (here.big && !here.chunks) {
        cut_frontier(graph, work, here, sums);
        grid_barrier(counters, target, false, [&] { here.chunks = __ldcg(&sums->chunks); });
      }
      push_level(graph, work, answer, here, here.chunks, sums, scratch);
      grid_barrier(counters, target, false, [&] {
        const u32 found = __ldcg(&sums->found), big = __ldcg(&sums->big);
        step_forward(here, work, PUSH, found, __ldcg(&sums->mf), here.mf, gridDim.x);
        here.begin = here.tail, here.tail += found, here.big = big, here.chunks = 0;
        slot = following();
      });
    } else {
      auto settle = [&](u32 found, u64 mf, u64 checked) {
        step_forward(here, work, PULL, found, mf, checked, gridDim.x);
        here.which ^= 1, here.queued = here.big = here.chunks = 0;
        filled = Answer::FILLS;
        slot = following();
      };
      pull_level(graph, work, answer, here, !filled, sums, scratch);
      grid_barrier(counters, target, false, [&] {
        const u32 found = __ldcg(&sums->found);
        const u64 mf = __ldcg(&sums->mf), checked = __ldcg(&sums->checked);
        pieces = __ldcg(&sums->rest);
        if (!pieces) settle(found, mf, checked);
      });
      if (pieces) {
        pull_rest(graph, work, answer, here, sums, pieces);
        grid_barrier(counters, target, false,
                     [&] { settle(__ldcg(&sums->found), __ldcg(&sums->mf), __ldcg(&sums->checked)); });
      }
    }
  }

  // Two threads report to the host and clear the counters, once all blocks have finished.
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == THREADS - WARP) answer.tell(here);
  if (threadIdx.x == THREADS - 2 * WARP && atomicAdd(&counters->left, 1) == gridDim.x - 1) {
    counters->left = counters->arrived = 0;
    for (int i = 0; i < 3; i++) clear(i);
  }
  // Writes the results of unreached vertices. Also clears the bitmap that must be 0 for the next search.
  const u32 *visited = work.visited(here.which), size = min(32u, max(1u, words / grid_warps()));
  for (u32 first = grid_warp() * size; first < words; first += grid_warps() * size) {
    const u32 w = first + lane(), missing = lane() < size && w < words ? ~visited[w] : 0;
    if (lane() < size && w < words) work.even[w] = 0;
    for (u32 some = __ballot_sync(ALL_LANES, Answer::EVERY ? lane() < size && w < words : missing); some && !filled;
         some &= some - 1) {
      const int j = __ffs(some) - 1;
      const i64 v = (i64)(first + j) * 32 + lane();
      const bool lacks = __shfl_sync(ALL_LANES, missing, j) >> lane() & 1;
      if ((Answer::EVERY || lacks) && v < graph.n) answer.close(v, !lacks);
    }
  }
}

template <class Offset, bool PARENTS, bool FILL>
__global__ void __launch_bounds__(THREADS, 1)
    search(const __grid_constant__ Graph<Offset> graph, const __grid_constant__ Work work, int *distance, int *parent,
           const int *sources, int only, int source_count, int depth_limit, double alpha, double beta, Told *out,
           u32 stamp) {
  const Hops<PARENTS, FILL> answer{distance, parent, sources, only, out, stamp};
  all_levels(graph, work, answer, source_count, depth_limit, alpha, beta);
}

// Once per graph: every first in-neighbour, the bitmap of vertices without one or past n, and out-degrees, if wanted.
template <class Offset>
__global__ void prepare(const Offset *in_offsets, Neighbours<Offset> in_neighbours, const Offset *offsets, i64 n,
                        int *hub, u32 *closed, u64 *findable, u16 *degrees) {
  const i64 end = (n + 31) / 32 * 32;
  for (i64 v = signed_thread_number(); v < end; v += signed_thread_count()) {
    const bool open = v < n && in_offsets[v] < in_offsets[v + 1];
    if (v < n) hub[v] = open ? neighbour(in_neighbours, in_offsets[v]) : -1;
    if (v < n && degrees) degrees[v] = (u16)min((i64)(offsets[v + 1] - offsets[v]), (i64)MANY_ARCS);
    const u32 all = __ballot_sync(ALL_LANES, open);
    if (lane() == 0) {
      closed[v >> 5] = ~all;
      if (all) atomicAdd(findable, (u64)__popc(all));
    }
  }
}

}  // namespace hopwave::one_launch
