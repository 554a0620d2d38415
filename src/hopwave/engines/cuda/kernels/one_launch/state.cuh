#pragma once
#include "common/rows.cuh"

namespace hopwave::one_launch {

constexpr int THREADS = 1024, WARPS = THREADS / 32;  // threads and warps per block
constexpr int PUSH = 0, PULL = 1;                    // the plan's two steps, as the rule numbers them
constexpr int SCRATCH_BYTES = 43008;                 // shared memory (bytes), reused by teams, pushes and pulls in turn
constexpr int TRACE_COLUMNS = 9;                     // depth, choice, nf, mf, mu, found, checked, blocks, nanoseconds

// Consecutive neighbours of one vertex: long lists are cut into chunks, which warps process one at a time.
struct __align__(16) Chunk {
  int v, length;
  i64 begin;
};

template <class Offset>
struct Graph {
  const Offset *offsets;  // out-arcs, for a push
  Neighbours<Offset> neighbours;
  const Offset *in_offsets;  // in-arcs, neighbours by descending in-degree, for a pull
  Neighbours<Offset> in_neighbours;
  const int *hub;      // first in-neighbour: most vertices that a pull finds need only this one
  const u32 *closed;   // vertices without in-arcs, and the bits past n: a pull skips them
  const u16 *degrees;  // out-degrees, at most MANY_ARCS; null if offsets have 32 bits, which are as fast to read
  i64 n, m;
  i64 findable;  // vertices with in-arcs
};

// The out-degree of a vertex, loaded in two steps so that many loads are in flight together.
constexpr u32 MANY_ARCS = 0xffff;
template <class Offset>
struct Degree {
  static constexpr bool SHORT = false;
  Offset begin, end;

  __device__ __forceinline__ void load(const Graph<Offset> &graph, int v, bool wanted) {
    begin = __ldg(graph.offsets + (wanted ? v : 0)), end = __ldg(graph.offsets + (wanted ? v + 1 : 0));
  }
  __device__ __forceinline__ Offset get(const Graph<Offset> &, int, bool wanted) const {
    return wanted ? end - begin : 0;
  }
  __device__ __forceinline__ bool at_least(u32) const { return true; }  // not known before get()
};
// A 64-bit offset has four times the bytes that nearly every degree needs.
template <class Offset>
struct WideDegree {
  static constexpr bool SHORT = true;
  u32 arcs;

  __device__ __forceinline__ void load(const Graph<Offset> &graph, int v, bool wanted) {
    arcs = graph.degrees ? __ldcs(graph.degrees + (wanted ? v : 0)) : MANY_ARCS;
  }
  __device__ __forceinline__ Offset get(const Graph<Offset> &graph, int v, bool wanted) const {
    if (wanted && arcs == MANY_ARCS) return __ldg(graph.offsets + v + 1) - __ldg(graph.offsets + v);
    return wanted ? arcs : 0;
  }
  __device__ __forceinline__ bool at_least(u32 some) const { return arcs >= some; }
};
template <>
struct Degree<i64> : WideDegree<i64> {};
template <>
struct Degree<u64> : WideDegree<u64> {};

// On a large graph, data that is used once is marked for early eviction, so that the bitmaps stay in the caches.
template <bool ONCE>
__device__ __forceinline__ int read_once(const int *at) {
  return ONCE ? __ldcs(at) : __ldg(at);
}
template <bool ONCE>
__device__ __forceinline__ void write_once(int *at, int x) {
  if (ONCE) __stcs(at, x);
  else *at = x;
}

struct __align__(128) LevelSums {
  u64 mf, checked;
  u32 found;
  u32 rest;         // pieces of rows that a pull defers to the full grid
  u32 chunks, big;  // see Standing
};

//   nf, nf0   vertices of the frontier, and of the previous frontier       mf   arcs of the frontier
//   mu        arcs of the unvisited vertices (letters as in hopwave/planning/rules.py)
struct Standing {
  u64 mf, mu, findable;
  u32 nf, nf0, reached;
  u32 begin, tail;          // range of the frontier in the queue, if it is queued
  u32 big, chunks;          // vertices of the frontier with long lists; chunks of these lists (0: not cut yet)
  int depth, last, levels;  // last: direction of the last level, or -1
  int which;                // index of the current visited bitmap; the other one is one pull behind
  int queued;               // whether the frontier is in the queue; after a pull it is only in the bitmaps
  int refused;              // depth at which a team rejected the frontier, or -1
};

// In host memory. Each word has the search's stamp in its upper half: the host waits until all words have it.
struct Told {
  u64 depth, nf, reached, levels;
};

struct Counters {
  __align__(128) u32 arrived;              // number of arrivals at the grid barrier since the start
  __align__(128) u32 left;                 // number of blocks that have finished the search
  __align__(128) u32 tail;                 // end of the queue: every vertex is queued at most once
  __align__(128) u64 team_word[3][2][16];  // by phase: the two words of a team's barriers, each in its own cache line
  LevelSums sums[3];                       // by phase: current, next, and one being cleared
  // Data read after a barrier must not be written in the next phase, when a slow block may still be reading it. So
  // there are three standings, one per phase, and no block reads `tail` above.
  __align__(128) Standing standing[3];
};

struct Work {
  u32 *even, *odd;  // the visited bitmaps
  int *queue;
  Chunk *chunks, *rest;
  Counters *counters;
  i64 *trace;
  i64 trace_rows;
  i64 chunk, long_row;  // minimum arcs of a long list; minimum arcs of a row's rest for the full grid
  // Maximum arcs of a level for one block (alone), a team of `team` blocks (few), and all blocks (share, per block).
  i64 alone, few, share, team;

  __device__ __forceinline__ u32 *visited(int which) const { return which ? odd : even; }
};

// Template parameter `Answer`: where a search begins and what it writes: hops here, values in linalg/waves.cuh.
//   FROM               whether reach() uses u
//   EVERY              whether close() is called for every vertex, or only for those not reached
//   HUB                entries at the start of a row that graph.hub replaces: 1 if it is the first entry, else 0
//   begin(i, s)        starts at the i-th source, s = source(i)
//   reach(v, u, d)     v is reached from u at depth d
//   close(v, reached)  at the end: v was reached, or not
//   FILLS              whether the first pull calls fill() instead of close() for every vertex not visited before it,
//                      so that whole cache lines are written
//   fill<ONCE>(v, u, d)  v is reached from u at depth d, or not yet (u < 0); ONCE: see write_once
//   tell(here)         reports the end of the search to the host
template <bool PARENTS, bool FILL>
struct Hops {
  static constexpr bool FROM = PARENTS, EVERY = false, FILLS = FILL;
  static constexpr int HUB = 1;
  int *distance, *parent;
  const int *sources;  // null if there is only one source
  int only;
  Told *out;
  u32 stamp;

  __device__ __forceinline__ int source(u32 i) const { return sources ? sources[i] : only; }
  __device__ __forceinline__ void begin(u32, int s) const { reach(s, s, 0); }
  __device__ __forceinline__ void reach(int v, int from, int depth) const {
    distance[v] = depth;
    if (PARENTS) parent[v] = from;
  }
  template <bool ONCE>
  __device__ __forceinline__ void fill(int v, int from, int depth) const {
    write_once<ONCE>(distance + v, from < 0 ? -1 : depth);
    if (PARENTS) write_once<ONCE>(parent + v, from);
  }
  __device__ __forceinline__ void close(i64 v, bool) const {
    distance[v] = -1;
    if (PARENTS) parent[v] = -1;
  }
  __device__ __forceinline__ void tell(const Standing &here) const {
    const u64 high = (u64)stamp << 32;
    *out = {high | (u32)here.depth, high | here.nf, high | here.reached, high | (u32)here.levels};
    __threadfence_system();  // without it the launch ends 1 µs later, waiting for these writes
  }
};

// Consecutive tasks go to different multiprocessors, so that few tasks still use all of them.
__device__ __forceinline__ u32 grid_warp() { return block_warp() * gridDim.x + blockIdx.x; }
__device__ __forceinline__ u32 grid_warps() { return gridDim.x * WARPS; }

// A vertex's word and bit in a bitmap. For a negative u (no vertex): a readable word, and no bit.
__device__ __forceinline__ u32 word_of(int u) { return (u32)max(u, 0) >> 5; }
__device__ __forceinline__ u32 bit_of(int u) { return u < 0 ? 0 : 1u << (u & 31); }

// Sets a bit, if it is not 0, and returns the old word; branch-free, because a branch would delay the next loads.
__device__ __forceinline__ u32 claim(u32 *word, u32 bit) {
  u32 old = ALL_LANES;
  asm volatile("{\n .reg .pred p;\n setp.ne.u32 p, %2, 0;\n @p atom.global.or.b32 %0, [%1], %2;\n}"
               : "+r"(old)
               : "l"(word), "r"(bit)
               : "memory");
  return old;
}

constexpr double MAX_HUB_FACTOR = 4.0;  // maximum speedup of a pull by hubs in the frontier

// The rule hopwave.planning.rules.growing.
__device__ __forceinline__ int growing(double a, double b, i64 n, i64 m, const Standing &s) {
  if (s.last == PULL) return s.nf < s.nf0 && s.nf * b <= (double)n && s.mf * 64 < s.mu * 64 + (u64)n ? PUSH : PULL;
  if (s.nf <= s.nf0 || s.mf * 64 <= (u64)n) return PUSH;
  const double hubs = min(MAX_HUB_FACTOR, max(1.0, ((double)s.mf / (double)s.nf) * ((double)n / (double)max(m, 1ll))));
  return (double)s.mf * a * hubs > (double)s.mu ? PULL : PUSH;
}

// A bound for teams, which have no time to evaluate the rule: after a push, the rule can choose a pull only if the
// frontier has grown and has more arcs than this bound. `mu` is from before the push; `share` is pull_share(a).
__device__ __forceinline__ float pull_share(double a) {
  float times = (float)(a * MAX_HUB_FACTOR);
  asm volatile("" : "+f"(times));  // otherwise the compiler keeps the quotient in a register and spills another
  return __fdividef(0.999f, 1 + times);
}
__device__ __forceinline__ u32 may_pull_from(float share, i64 n, u64 mu) {
  return max((u32)min(n >> 6, 1ll << 31), (u32)min(4e9f, (float)mu * share));
}

__device__ __forceinline__ bool finished(const Standing &s, int depth_limit) {
  return s.nf == 0 || s.reached == s.findable || s.depth >= depth_limit;
}

__device__ __forceinline__ void step_forward(Standing &s, const Work &work, int choice, u32 found, u64 mf, u64 checked,
                                             int blocks) {
  if (work.trace && blockIdx.x == 0 && s.levels < work.trace_rows) {
    i64 *row = work.trace + (i64)s.levels * TRACE_COLUMNS;
    row[0] = s.depth + 1, row[1] = choice, row[2] = s.nf, row[3] = s.mf, row[4] = s.mu;
    row[5] = found, row[6] = checked, row[7] = blocks, row[8] = nanoseconds();
  }
  s.nf0 = s.nf, s.last = choice;
  s.nf = found, s.mf = mf, s.mu -= mf;
  s.reached += found, s.depth++, s.levels++;
}

// A block that may wait long is `patient`: it sleeps between reads of the counter.
template <class After>
__device__ __forceinline__ void grid_barrier(Counters *counters, u32 &target, bool patient, After after) {
  auto wait = [&] {
    if (patient) __nanosleep(100);
  };
  barrier(&counters->arrived, target, gridDim.x, wait, after);
}

// Cuts the lists of the lanes' flagged vertices into chunks of `size` arcs. The full warp calls this function.
__device__ __forceinline__ void cut(bool flagged, int v, i64 begin, i64 length, Chunk *chunks, u32 *tail, i64 size) {
  u32 todo = __ballot_sync(ALL_LANES, flagged);
  if (!todo) return;
  u32 pieces = flagged ? (u32)((length + size - 1) / size) : 0, end = inclusive_scan(pieces), at = 0;
  if (lane() == 31) at = atomicAdd(tail, end);
  at = __shfl_sync(ALL_LANES, at, 31) + end - pieces;
  while (todo) {
    int from = __ffs(todo) - 1;
    todo &= todo - 1;
    int w = __shfl_sync(ALL_LANES, v, from);
    u32 count = __shfl_sync(ALL_LANES, pieces, from), to = __shfl_sync(ALL_LANES, at, from);
    i64 first = __shfl_sync(ALL_LANES, begin, from), total = __shfl_sync(ALL_LANES, length, from);
#pragma unroll 1
    for (u32 i = lane(); i < count; i += 32) {
      i64 done = (i64)i * size;
      chunks[to + i] = {w, (int)min(size, total - done), first + done};
    }
  }
}

__device__ __forceinline__ void cut_long(int v, i64 begin, i64 degree, const Work &work, LevelSums *sums) {
  cut(degree >= work.chunk, v, begin, degree, work.chunks, &sums->chunks, work.chunk / 2);
}

// Sums up to three numbers over a block; thread 0 receives the sums. Costs two barriers.
struct BlockSums {
  u64 a;
  u32 b, c;
};
__device__ __forceinline__ BlockSums block_sum(u64 a, u32 b, u32 c) {
  __shared__ BlockSums of_warp[WARPS];
  a = warp_sum(a), b = warp_sum(b), c = warp_sum(c);
  if (lane() == 0) of_warp[block_warp()] = {a, b, c};
  __syncthreads();
  if (threadIdx.x < 32) {
    BlockSums mine = lane() < WARPS ? of_warp[lane()] : BlockSums{0, 0, 0};
    a = warp_sum(mine.a), b = warp_sum(mine.b), c = warp_sum(mine.c);
  }
  return {a, b, c};
}

}  // namespace hopwave::one_launch
