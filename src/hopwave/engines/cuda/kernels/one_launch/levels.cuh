// All levels of a search, in one cooperative launch, the direction chosen on the device.
//
// Small levels are a team's (one_launch/team.cuh): one block alone, some blocks, or all, whatever suffices; the other blocks
// wait at a barrier. Large levels are the grid's, with one barrier a level, by pushing (one_launch/push.cuh) or pulling
// (one_launch/pull.cuh). Thread-block clusters are not used: their barrier takes 0.33 µs on an H200, a team's word in global
// memory little more, and a team may be as large as the level wants, on any GPU.
//
// State: two visited bitmaps (a pull reads one and writes the other), one queue in which every vertex stands at most
// once, and chunks of long lists. The answer is written when a vertex is found, and for what was never found at the
// end, where also one bitmap and the sums are cleared for the search to come: nothing has to be cleared before a search.
#pragma once
#include "one_launch/pull.cuh"
#include "one_launch/push.cuh"
#include "one_launch/team.cuh"

// Block 0 sets the sources and counts what a rule wants to know of them.
template <class Offset, class Answer>
__device__ void stand_at(const Graph<Offset> &graph, const Work &work, Answer answer, int count, Standing &here) {
  u64 arcs = 0;
  u32 closed = 0, big = 0;
  for (u32 i = threadIdx.x; i < count; i += BLOCK) {
    const int s = answer.source(i);
    const i64 degree = __ldg(graph.offsets + s + 1) - __ldg(graph.offsets + s);
    atomicOr(work.even + (s >> 5), 1u << (s & 31));
    answer.begin(i, s);
    work.queue[i] = s;
    arcs += degree, big += degree >= work.chunk;
    closed += graph.closed[s >> 5] >> (s & 31) & 1;  // nobody could have found it
  }
  const Three all = block_sum(arcs, closed, big);
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
  __shared__ __align__(16) unsigned char room[ROOM];
  __shared__ Standing here;
  __shared__ u32 pieces, target, slot;  // in shared memory, for a barrier would fetch spilled registers from far away
  Counters *counters = work.counters;
  const u32 words = (u32)((graph.n + 31) / 32);
  const u32 some = min(gridDim.x, (u32)work.team), all = min(gridDim.x, MOST_BLOCKS);
  if (threadIdx.x == 0) target = slot = 0;

  // Each phase, from one grid barrier to another, has sums and words of its own, those of `slot`, cleared a phase ahead.
  auto clear = [&](int i) { counters->sums[i] = Sums{}, counters->word[i][0][0] = counters->word[i][1][0] = 0; };
  auto following = [&] { return slot == 2 ? 0 : slot + 1; };
  auto new_phase = [&] {
    if (blockIdx.x == 0 && threadIdx.x == 0) clear(following());
    return slot;
  };
  // The blocks that would make the best team for this frontier, or 0.
  auto team_for = [&](const Standing &s) -> u32 {
    if (s.nf <= VERTICES && (i64)s.mf <= min((i64)ALONE_ARCS, work.alone)) return 1;
    if (s.big || s.refused == s.depth) return 0;
    if (s.nf <= some * VERTICES && (i64)s.mf <= work.few) return some;
    return s.nf <= all * VERTICES && (i64)s.mf <= all * work.share ? all : 0;
  };
  auto team_level = [&](u32 blocks, u32 phase) {
    Task<Offset, Answer> task{graph, work, answer, blocks, alpha, depth_limit, 0, 0, counters->sums + phase,
                              counters->word[phase], counters->standing + phase};
    if (blocks == 1) {
      task.most = (u32)(2 * work.alone);
      team_levels<Offset, Answer, true>(task, here, room);
    } else {
      task.fewest = (u32)max(0ll, (blocks == some ? work.alone : work.few) / 2);
      task.most = (u32)(blocks == some ? 2 * work.few : 2 * all * work.share);
      team_levels<Offset, Answer, false>(task, here, room);
    }
  };
  auto read_standing = [&](u32 phase) {
    const Sums *sums = counters->sums + phase;
    here = counters->standing[phase];
    here.mf = __ldcg(&sums->mf), here.mu -= here.mf;
    here.big = __ldcg(&sums->big), here.chunks = __ldcg(&sums->chunks);
    slot = following();
  };

  __syncthreads();
  const u32 first = new_phase();
  if (blockIdx.x == 0) {
    stand_at(graph, work, answer, source_count, here);
    if (team_for(here) == 1 && !over(here, depth_limit) && growing(alpha, beta, graph.n, graph.m, here) == PUSH)
      team_level(1, first);
    else if (threadIdx.x == 0) {
      counters->sums[first].mf = here.mf, counters->sums[first].big = here.big;
      Standing start = here;  // not `here` itself: others may still be asking the rule about it
      start.mu += start.mf;
      counters->standing[first] = start;
    }
  }
  meet(counters, target, blockIdx.x != 0, [&] { read_standing(first); });

  while (!over(here, depth_limit)) {
    const int choice = growing(alpha, beta, graph.n, graph.m, here);
    u32 blocks = choice == PUSH ? team_for(here) : 0;
    // After a pull, a team that is large enough looks for the frontier in the bitmaps itself.
    if (choice == PUSH && !here.queued && words > blocks * BLOCK * 8) {
      Sums *sums = counters->sums + new_phase();
      queue_frontier(graph, work, here, sums);
      meet(counters, target, false, [&] {
        here.begin = here.tail, here.tail += here.nf;
        here.big = __ldcg(&sums->big), here.chunks = __ldcg(&sums->chunks), here.queued = 1;
        slot = following();
      });
      blocks = team_for(here);
    }
    const u32 phase = new_phase();
    Sums *sums = counters->sums + phase;
    if (blocks) {
      if (blockIdx.x < blocks) team_level(blocks, phase);
      meet(counters, target, blockIdx.x >= blocks, [&] { read_standing(phase); });
    } else if (choice == PUSH) {
      if (here.big && !here.chunks) {
        cut_frontier(graph, work, here, sums);
        meet(counters, target, false, [&] { here.chunks = __ldcg(&sums->chunks); });
      }
      push_level(graph, work, answer, here, here.chunks, sums, room);
      meet(counters, target, false, [&] {
        const u32 found = __ldcg(&sums->found), big = __ldcg(&sums->big);
        step_forward(here, work, PUSH, found, __ldcg(&sums->mf), here.mf, gridDim.x);
        here.begin = here.tail, here.tail += found, here.big = big, here.chunks = 0;
        slot = following();
      });
    } else {
      auto settle = [&](u32 found, u64 mf, u64 checked) {
        step_forward(here, work, PULL, found, mf, checked, gridDim.x);
        here.which ^= 1, here.queued = here.big = here.chunks = 0;
        slot = following();
      };
      pull_level(graph, work, answer, here, sums, room);
      meet(counters, target, false, [&] {
        const u32 found = __ldcg(&sums->found);
        const u64 mf = __ldcg(&sums->mf), checked = __ldcg(&sums->checked);
        pieces = __ldcg(&sums->rest);
        if (!pieces) settle(found, mf, checked);
      });
      if (pieces) {
        pull_rest(graph, work, answer, here, sums, pieces);
        meet(counters, target, false,
             [&] { settle(__ldcg(&sums->found), __ldcg(&sums->mf), __ldcg(&sums->checked)); });
      }
    }
  }

  // Nobody found these. What the next search needs to be 0 is set to 0 here, where nobody has to wait for it.
  const u32 *visited = work.visited(here.which), size = min(32u, max(1u, words / grid_warps()));
  for (u32 first = grid_warp() * size; first < words; first += grid_warps() * size) {
    const u32 w = first + lane(), missing = lane() < size && w < words ? ~visited[w] : 0;
    if (lane() < size && w < words) work.even[w] = 0;
    for (u32 some = __ballot_sync(ALL, Answer::EVERY ? lane() < size && w < words : missing); some; some &= some - 1) {
      const int j = __ffs(some) - 1;
      const i64 v = (i64)(first + j) * 32 + lane();
      const bool lacks = __shfl_sync(ALL, missing, j) >> lane() & 1;
      if ((Answer::EVERY || lacks) && v < graph.n) answer.close(v, !lacks);
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    if (blockIdx.x == 0) answer.tell(here);
    if (atomicAdd(&counters->left, 1) == gridDim.x - 1) {
      counters->left = counters->arrived = 0;
      for (int i = 0; i < 3; i++) clear(i);
    }
  }
}
