// Small levels by a team: one block alone, some blocks, or all of them. Roads and meshes have thousands of these levels.
//
// Each block keeps its part of the frontier as arcs in its shared memory: thread i takes arc i, so a level is balanced
// whatever its degrees, and costs two dependent trips to memory (the neighbour; then the claim, with its offsets in
// flight). What a block finds is its part of the next frontier; nothing is exchanged but sums. A team whose parts have
// become uneven leaves its frontier in the queue, and the next team starts with even parts.
//
// A team's barrier is one 64-bit word to which each block adds itself, its wish to leave, its vertices and its arcs: who
// sees all blocks there also has the sums. The words only grow; two take turns, so a fast block cannot disturb a slow
// one. There is no fence: a block arrives when its claims have been answered, and claims, made where all blocks meet in
// the L2 cache, are all that teams share.
#pragma once
#include "hopwave_state.cuh"

template <class Offset>
struct Team {
  static constexpr u32 ARCS = sizeof(Offset) == 4 ? 2048 : 1536;  // a block's part of a frontier, at most
  Offset arc[2][ARCS];
  int from[2][ARCS];
  int found[ARCS];
};
static_assert(sizeof(Team<int>) <= ROOM && sizeof(Team<i64>) <= ROOM, "both frontiers must fit");
#ifndef HOPWAVE_TEAM_THREADS
#define HOPWAVE_TEAM_THREADS 512
#endif
constexpr u32 THREADS = HOPWAVE_TEAM_THREADS;  // of a block that take part: more would cost their bookkeeping
constexpr u32 VERTICES = 2048;   // nor may a block have many more vertices, though they had no arcs
constexpr u32 EAGER = 512;       // arcs up to which offsets are fetched before the claim is answered
constexpr u32 UNEVEN = 1024;     // arcs from which a block with four times its share wishes to leave
constexpr u32 MOST_BLOCKS = 255;

// Vertices and arcs of a block in one number, so that one addition finds a place for both; and of a team.
constexpr u32 ONE_VERTEX = 1u << 20, ARC_BITS = ONE_VERTEX - 1;
constexpr u64 ONE_BLOCK = 1ull << 56, ONE_WISH = 1ull << 48;
constexpr int TEAM_VERTEX_BIT = 26;
constexpr u64 TEAM_ARC_BITS = (1ull << TEAM_VERTEX_BIT) - 1;

// What a lane brings: vertices, whether they are fresh, and their lists.
template <class Offset, int N>
struct Lane {
  int u[N];
  u32 fresh[N], degree[N];
  Offset begin[N];
};

// Append the lanes' fresh vertices' arcs to the next frontier, as far as they fit; note the vertices in `found`.
template <class Offset, bool PARENTS, bool NOTED, int N>
__device__ __forceinline__ void append(const Lane<Offset, N> &mine, u32 *sizes, Team<Offset> &team, int side) {
  constexpr u32 ARCS = Team<Offset>::ARCS;
  u32 all[N], before[N], degree[N], count = 0, total = 0, long_ones = 0;
#pragma unroll
  for (int k = 0; k < N; k++) {
    all[k] = __ballot_sync(ALL, mine.fresh[k]);
    degree[k] = mine.fresh[k] ? mine.degree[k] : 0;
    long_ones |= degree[k] > 7;
    count += __popc(all[k]);
  }
  if (!count) return;
  long_ones = __any_sync(ALL, long_ones);
#pragma unroll
  for (int k = 0; k < N; k++) {
    if (!long_ones) {  // a sum by the bits of the degrees: shorter than five shuffles
      const u32 one = __ballot_sync(ALL, degree[k] & 1), two = __ballot_sync(ALL, degree[k] & 2),
                four = __ballot_sync(ALL, degree[k] & 4);
      before[k] = total + __popc(one & below()) + 2 * __popc(two & below()) + 4 * __popc(four & below());
      total += __popc(one) + 2 * __popc(two) + 4 * __popc(four);
    } else {
      const u32 end = inclusive_scan(degree[k]);
      before[k] = total + end - degree[k];
      total += __shfl_sync(ALL, end, 31);
    }
  }
  u32 at = 0;  // by lane 0, without a branch
  asm volatile("{\n .reg .pred p;\n setp.eq.u32 p, %3, 0;\n @p atom.shared.add.u32 %0, [%1], %2;\n}"
               : "+r"(at)
               : "r"((u32)__cvta_generic_to_shared(sizes)), "r"(count * ONE_VERTEX + min(total, ARCS + 1)), "r"(lane())
               : "memory");
  at = __shfl_sync(ALL, at, 0);
  u32 place = at / ONE_VERTEX;
#pragma unroll
  for (int k = 0; k < N; k++) {
    if (NOTED && mine.fresh[k]) team.found[place + __popc(all[k] & below())] = mine.u[k];
    place += __popc(all[k]);
    before[k] += at & ARC_BITS;
    if (before[k] + degree[k] > ARCS) degree[k] = 0;
    if (!long_ones) {
#pragma unroll
      for (int i = 0; i < 7; i++)
        if (i < degree[k]) {
          team.arc[side][before[k] + i] = mine.begin[k] + i;
          if (PARENTS) team.from[side][before[k] + i] = mine.u[k];
        }
      continue;
    }
    u32 todo = __ballot_sync(ALL, degree[k]);
    while (todo) {  // by the whole warp, one list after another
      const int lead = __ffs(todo) - 1;
      todo &= todo - 1;
      const u32 to = __shfl_sync(ALL, before[k], lead), length = __shfl_sync(ALL, degree[k], lead);
      const Offset first = __shfl_sync(ALL, mine.begin[k], lead);
      const int v = __shfl_sync(ALL, mine.u[k], lead);
      for (u32 i = lane(); i < length; i += 32) {
        team.arc[side][to + i] = first + i;
        if (PARENTS) team.from[side][to + i] = v;
      }
    }
  }
}

// One round of a level: each thread's N neighbours are claimed, all at once, and what is fresh is appended.
template <class Offset, bool PARENTS, int N>
__device__ __forceinline__ void team_round(const Graph<Offset> &graph, Answer answer, u32 *visited, const int *u,
                                           const int *from, bool eager, int depth, u32 *sizes, Team<Offset> &team,
                                           int side) {
  constexpr u32 ARCS = Team<Offset>::ARCS;
  Lane<Offset, N> mine;
  Offset end[N];
  u32 bit[N], old[N];
#pragma unroll
  for (int k = 0; k < N; k++) {
    mine.u[k] = u[k], bit[k] = bit_of(u[k]);
    if (eager) mine.begin[k] = __ldg(graph.offsets + max(u[k], 0)), end[k] = __ldg(graph.offsets + max(u[k], 0) + 1);
  }
#pragma unroll
  for (int k = 0; k < N; k++) old[k] = claim(visited + word_of(u[k]), bit[k]);
#pragma unroll
  for (int k = 0; k < N; k++) {
    mine.fresh[k] = bit[k] & ~old[k];
    const int w = mine.fresh[k] ? u[k] : 0;
    if (!eager) mine.begin[k] = __ldg(graph.offsets + w), end[k] = __ldg(graph.offsets + w + 1);
  }
#pragma unroll
  for (int k = 0; k < N; k++) {
    if (mine.fresh[k]) {
      answer.distance[u[k]] = depth;
      if (PARENTS) answer.parent[u[k]] = team.from[side ^ 1][from[k]];
    }
    mine.degree[k] = (u32)min((i64)(end[k] - mine.begin[k]), (i64)ARCS + 1);
  }
  append<Offset, PARENTS, true, N>(mine, sizes, team, side);
}

// The threads that take part.
__device__ __forceinline__ void team_sync() { asm volatile("bar.sync 1, %0;" ::"n"(THREADS) : "memory"); }

// All blocks of a team meet; returns the sum of what they brought. `before` is the word's value when all had met there
// last. For one thread a block.
__device__ __forceinline__ u64 team_meet(u64 *word, u64 &before, u64 brought, u32 blocks) {
  atomicAdd(word, ONE_BLOCK + brought);
  u64 now;
  do now = *(volatile u64 *)word - before;
  while (now >> 56 != blocks);
  before += now;
  return now & (ONE_BLOCK - 1);
}

// What a team is to do, and where it is.
template <class Offset>
struct Task {
  const Graph<Offset> &graph;
  const Work &work;
  Answer answer;
  u32 blocks;
  double alpha;
  int depth_limit;
  u32 fewest, most;     // arcs below and above which a frontier does not suit this team
  Sums *sums;           // gets what the grid must know of the frontier that the team leaves
  u64 (*word)[16];
  Standing *standing;
};

// The team takes levels as long as they suit it and the rule surely pushes. A grid barrier must follow.
template <class Offset, bool PARENTS, bool ALONE>
__device__ void team_levels(const Task<Offset> &task, const Standing &at, unsigned char *room) {
  constexpr u32 ARCS = Team<Offset>::ARCS;
  constexpr int TWO = 2;  // arcs a thread has in flight
  const Graph<Offset> &graph = task.graph;
  const Work &work = task.work;
  const u32 blocks = ALONE ? 1 : task.blocks;
  Counters *counters = work.counters;
  Team<Offset> &team = *(Team<Offset> *)room;
  __shared__ u32 sizes[3], shared_found, base;
  __shared__ u64 total, before[2];
  Standing here = at;
  if (threadIdx.x < 2) before[threadIdx.x] = 0;
  if (threadIdx.x < 3) sizes[threadIdx.x] = 0;
  __syncthreads();

  const u32 part = here.nf / blocks + (blockIdx.x < here.nf % blocks);
  for (u32 i = threadIdx.x; i < ((part + 31) & ~31u); i += BLOCK) {
    Lane<Offset, 1> mine{{0}, {i < part}, {0}, {0}};
    if (i < part) {
      mine.u[0] = __ldcg(work.queue + here.begin + blockIdx.x + i * blocks);
      mine.begin[0] = __ldg(graph.offsets + mine.u[0]);
      mine.degree[0] = (u32)(__ldg(graph.offsets + mine.u[0] + 1) - mine.begin[0]);
    }
    append<Offset, PARENTS, false, 1>(mine, sizes + 2, team, 0);
  }
  __syncthreads();
  u32 arcs = sizes[2] & ARC_BITS;
  if (!ALONE) {  // does every block's part fit?
    if (threadIdx.x == 0) total = team_meet(task.word[0], before[0], arcs > ARCS ? ONE_WISH : 0, blocks);
    __syncthreads();
    if (total) {
      if (blockIdx.x == 0 && threadIdx.x == 0) {
        task.sums->mf = here.mf, task.sums->big = here.big;
        here.refused = here.depth;
        here.mu += here.mf;  // taken off again after the barrier
        *task.standing = here;
      }
      return;
    }
  }

  if (threadIdx.x < THREADS) {
    u32 *visited = work.visited(here.which), found;
    int side = 0, next = 0, turn = 1;  // sizes[next] counts the coming frontier
    u64 new_arcs;
    int ahead[TWO];
#pragma unroll
    for (int k = 0; k < TWO; k++) {
      const u32 i = threadIdx.x + k * THREADS;
      ahead[k] = i < arcs ? __ldg(graph.neighbours + team.arc[0][i]) : -1;
    }
    while (true) {
      if (threadIdx.x == 0) sizes[next == 2 ? 0 : next + 1] = 0;
      const bool eager = arcs <= EAGER;
      for (u32 first = 0; first < arcs; first += TWO * THREADS) {
        const u32 warp_first = first + (threadIdx.x & ~31u);
        int from[TWO];
#pragma unroll
        for (int k = 0; k < TWO; k++) {
          const u32 i = first + threadIdx.x + k * THREADS;
          if (first) ahead[k] = i < arcs ? __ldg(graph.neighbours + team.arc[side][i]) : -1;
          from[k] = i;
        }
        // Most warps have one arc a thread, or none.
        if (warp_first + THREADS < arcs)
          team_round<Offset, PARENTS, TWO>(graph, task.answer, visited, ahead, from, eager, here.depth + 1, sizes + next,
                                           team, side ^ 1);
        else if (warp_first < arcs)
          team_round<Offset, PARENTS, 1>(graph, task.answer, visited, ahead, from, eager, here.depth + 1, sizes + next,
                                         team, side ^ 1);
      }
      team_sync();
      const u32 size = sizes[next];
      found = size / ONE_VERTEX, arcs = size & ARC_BITS;
      // While the level is being settled, the next one's neighbours are on their way (an overfull frontier has gaps).
      side ^= 1;
#pragma unroll
      for (int k = 0; k < TWO; k++) {
        const u32 i = threadIdx.x + k * THREADS;
        ahead[k] = i < arcs && arcs <= ARCS ? __ldg(graph.neighbours + team.arc[side][i]) : -1;
      }
      u32 new_found = found;
      bool wish = arcs > ARCS;
      new_arcs = arcs;
      if (!ALONE) {
        if (threadIdx.x == 0) {
          const bool uneven = wish || (arcs > UNEVEN && (u64)arcs * blocks > 4 * here.mf);
          const u64 brought = (uneven ? ONE_WISH : 0) + ((u64)found << TEAM_VERTEX_BIT) + arcs;
          total = team_meet(task.word[turn], before[turn], brought, blocks);
        }
        team_sync();
        const u64 all = total;
        wish = all >= ONE_WISH;
        new_found = (u32)((all & (ONE_WISH - 1)) >> TEAM_VERTEX_BIT), new_arcs = all & TEAM_ARC_BITS;
        turn ^= 1;
      }
      next = next == 2 ? 0 : next + 1;
      step_forward(here, work, PUSH, new_found, new_arcs, here.mf, blocks);
      if (wish || new_arcs > task.most || new_arcs < task.fewest || over(here, task.depth_limit) ||
          may_pull(task.alpha, graph.n, here))
        break;
    }
    if (threadIdx.x == 0) {
      shared_found = found;
      if (found) base = atomicAdd(&counters->tail, found);
      if (blockIdx.x == 0) {
        Standing left = at;  // what the loop never touches need not be kept in registers
        left.nf = here.nf, left.nf0 = here.nf0, left.reached = here.reached;
        left.mu = here.mu + new_arcs;  // the exact number is taken off after the barrier
        left.depth = here.depth, left.last = PUSH, left.levels = here.levels;
        left.begin = at.tail, left.tail = at.tail + here.nf;
        *task.standing = left;
      }
    }
  }
  __syncthreads();

  // Leave the frontier in the queue, and what a rule and a grid want to know of it, exactly.
  u64 edges = 0;
  u32 big = 0;
  for (u32 i = threadIdx.x; i < ((shared_found + 31) & ~31u); i += BLOCK) {
    const int v = i < shared_found ? team.found[i] : 0;
    i64 begin = 0, degree = 0;
    if (i < shared_found) {
      begin = __ldg(graph.offsets + v), degree = __ldg(graph.offsets + v + 1) - begin;
      work.queue[base + i] = v;
    }
    edges += degree, big += degree >= work.chunk;
    cut_long(v, begin, degree, work, task.sums);
  }
  const Three all = block_sum(edges, big, 0);
  if (threadIdx.x == 0) {
    if (all.a) atomicAdd(&task.sums->mf, all.a);
    if (all.b) atomicAdd(&task.sums->big, all.b);
  }
}
