// Small levels by one block alone, with its own barrier only: roads and meshes have thousands of them.
//
// The frontier is kept as arcs, not vertices, in shared memory: thread i takes arc i, so a level is balanced whatever
// its degrees, and costs two dependent trips to memory (the neighbour; then the claim, with its offsets in flight).
#pragma once
#include "hopwave_state.cuh"

template <class Offset>
struct Small {
  static constexpr u32 ARCS = sizeof(Offset) == 4 ? 2048 : 1536;  // a frontier with more arcs is not small
  Offset arc[2][ARCS];
  int from[2][ARCS];
};
static_assert(sizeof(Small<int>) <= ROOM && sizeof(Small<i64>) <= ROOM, "both frontiers must fit");
constexpr u32 VERTICES = 4096;   // nor is one with more vertices, though they had no arcs
constexpr u32 EAGER = 512;      // arcs up to which offsets are fetched before the claim is answered

// Vertices and arcs in one number, so that one addition finds a place for both.
constexpr u32 ONE_VERTEX = 1u << 20, ARC_BITS = ONE_VERTEX - 1;

// Queue the lanes' fresh vertices (unless they stand there already) and append their arcs to the next frontier, as far as they fit.
template <class Offset, bool PARENTS>
__device__ __forceinline__ void append(bool fresh, int u, Offset begin, u32 degree, u32 *sizes, Small<Offset> &small,
                                       int side, int *queue) {
  constexpr u32 ARCS = Small<Offset>::ARCS;
  u32 all = __ballot_sync(ALL, fresh);
  if (!all) return;
  u32 mine = fresh ? degree : 0, before, total;
  if (__any_sync(ALL, mine > 15)) {
    u32 end = inclusive_scan(mine);
    before = end - mine, total = __shfl_sync(ALL, end, 31);
  } else {  // the same sum, a bit of the degrees at a time: shorter than five shuffles
    before = total = 0;
#pragma unroll
    for (int b = 0; b < 4; b++) {
      u32 with = __ballot_sync(ALL, mine >> b & 1);
      before += __popc(with & below()) << b, total += __popc(with) << b;
    }
  }
  u32 at = 0;
  if (lane() == 0) at = atomicAdd(sizes, __popc(all) * ONE_VERTEX + min(total, ARCS + 1));
  at = __shfl_sync(ALL, at, 0);
  u32 place = (at & ARC_BITS) + before;
  if (fresh && queue) queue[at / ONE_VERTEX + __popc(all & below())] = u;
  bool fits = fresh && place + mine <= ARCS;
  if (fits && mine <= 32)
    for (u32 k = 0; k < mine; k++) {
      small.arc[side][place + k] = begin + k;
      if (PARENTS) small.from[side][place + k] = u;
    }
  u32 wide = __ballot_sync(ALL, fits && mine > 32);
  while (wide) {
    int lead = __ffs(wide) - 1;
    wide &= wide - 1;
    u32 to = __shfl_sync(ALL, place, lead), count = __shfl_sync(ALL, mine, lead);
    Offset first = __shfl_sync(ALL, begin, lead);
    int v = __shfl_sync(ALL, u, lead);
    for (u32 k = lane(); k < count; k += 32) {
      small.arc[side][to + k] = first + k;
      if (PARENTS) small.from[side][to + k] = v;
    }
  }
}

// Block 0 takes levels as long as they stay small and the rule pushes; `here` is where it stands afterwards.
template <class Offset, bool PARENTS>
__device__ void small_levels(const Graph<Offset> &graph, const Work &work, Answer answer, Standing &shared_here,
                             double alpha, double beta, int depth_limit, unsigned char *room) {
  constexpr u32 ARCS = Small<Offset>::ARCS;
  Small<Offset> &small = *(Small<Offset> *)room;
  __shared__ u32 sizes[3];
  Standing here = shared_here;
  u32 *visited = work.visited(here.which);
  u32 leave = (u32)min((i64)ARCS, work.leave);
  if (threadIdx.x < 3) sizes[threadIdx.x] = 0;
  __syncthreads();
  for (u32 i = threadIdx.x; i < ((here.nf + 31) & ~31u); i += BLOCK) {
    bool mine = i < here.nf;
    int v = mine ? __ldcg(work.queue + here.begin + i) : 0;
    Offset begin = mine ? __ldg(graph.offsets + v) : 0;
    u32 degree = mine ? (u32)(__ldg(graph.offsets + v + 1) - begin) : 0;
    append<Offset, PARENTS>(mine, v, begin, degree, sizes + 2, small, 0, nullptr);
  }
  int side = 0, next = 0;  // sizes[next] counts the coming frontier
  bool exact = true;       // whether here.mf is the frontier's
  __syncthreads();
  while (true) {
    u32 arcs = (u32)here.mf;
    if (threadIdx.x == 0) sizes[next == 2 ? 0 : next + 1] = 0;
    for (u32 i = threadIdx.x; i < ((arcs + 31) & ~31u); i += BLOCK) {
      bool mine = i < arcs, fresh = false;
      int u = mine ? __ldg(graph.neighbours + small.arc[side][i]) : 0;
      Offset begin = 0, end = 0;
      if (mine && arcs <= EAGER) begin = __ldg(graph.offsets + u), end = __ldg(graph.offsets + u + 1);
      if (mine) {
        u32 bit = 1u << (u & 31);
        fresh = !(atomicOr(visited + (u >> 5), bit) & bit);
      }
      if (fresh) {
        if (arcs > EAGER) begin = __ldg(graph.offsets + u), end = __ldg(graph.offsets + u + 1);
        answer.distance[u] = here.depth + 1;
        if (PARENTS) answer.parent[u] = small.from[side][i];
      }
      append<Offset, PARENTS>(fresh, u, begin, (u32)min((i64)(end - begin), (i64)ARCS + 1), sizes + next, small,
                              side ^ 1, work.queue + here.tail);
    }
    __syncthreads();
    u32 found = sizes[next] / ONE_VERTEX, found_arcs = sizes[next] & ARC_BITS;
    exact = found_arcs <= ARCS;
    step_forward(here, work, PUSH, found, exact ? found_arcs : 0, here.mf, SMALL_TIER);
    here.begin = here.tail, here.tail += found;
    side ^= 1;
    next = next == 2 ? 0 : next + 1;
    if (found_arcs > leave || over(here, depth_limit) || growing(alpha, beta, graph.n, here) == PULL) break;
  }
  // What the grid needs to go on: the frontier's arcs, all of them, and long lists in chunks.
  __shared__ u64 arcs;
  if (threadIdx.x == 0) arcs = 0;
  __syncthreads();
  u64 sum = 0;
  for (u32 i = threadIdx.x; i < ((here.nf + 31) & ~31u); i += BLOCK) {
    int v = i < here.nf ? __ldcg(work.queue + here.begin + i) : 0;
    i64 begin = 0, degree = 0;
    if (i < here.nf) begin = __ldg(graph.offsets + v), degree = __ldg(graph.offsets + v + 1) - begin;
    sum += degree;
    cut(degree >= work.chunk, v, begin, degree, work.chunks, &work.counters->chunk_tail, work.chunk);
  }
  sum = warp_sum(sum);
  if (lane() == 0 && sum) atomicAdd(&arcs, sum);
  __syncthreads();
  if (threadIdx.x == 0) {
    if (!exact) here.mf = arcs, here.mu -= arcs;
    here.chunk_begin = here.chunk_tail;
    here.chunk_tail = atomicAdd(&work.counters->chunk_tail, 0);
    work.counters->tail = here.tail;
    shared_here = here;
  }
  __syncthreads();
}
