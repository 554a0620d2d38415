// What every part of hopwave's own search shares: the graph, the buffers, where the search stands, and the barrier.
#pragma once

typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

#ifndef HOPWAVE_BLOCK
#define HOPWAVE_BLOCK 1024  // threads a block
#endif
#ifndef HOPWAVE_BLOCKS_PER_SM
#define HOPWAVE_BLOCKS_PER_SM 1
#endif

constexpr int BLOCK = HOPWAVE_BLOCK, WARPS = BLOCK / 32;
constexpr u32 ALL = 0xffffffffu;
constexpr int PUSH = 0, PULL = 1;               // the plan's steps, as the rule numbers them
constexpr int ROOM = 43008;                     // bytes of shared memory that the tiers take turns in
constexpr int TRACE_COLUMNS = 9;                // depth, choice, nf, mf, mu, found, checked, blocks, nanoseconds

// A stretch of one vertex's neighbours: long lists are dealt out to warps in pieces.
struct __align__(16) Chunk {
  int v, length;
  i64 begin;
};

template <class Offset>
struct Graph {
  const Offset *offsets;        // out-arcs: what a push walks along
  const int *neighbours;
  const Offset *in_offsets;     // in-arcs, neighbours by descending in-degree: what a pull looks through
  const int *in_neighbours;
  const int *hub;               // a vertex's first in-neighbour, so that most pulls need no list at all
  const u32 *closed;            // vertices without in-arcs, and the bits past n: never looked at
  i64 n, m, findable;
};

struct __align__(128) Sums {    // what a level adds up to, over the grid
  u64 mf, checked;
  u32 found, rest, chunks, big;
};

// Where a search stands between two levels; the letters are those of hopwave/rules.py.
struct Standing {
  u64 mf, mu, findable;
  u32 nf, nf0, reached;
  u32 begin, tail;              // the frontier's stretch of the queue, when it is queued
  u32 big, chunks;              // how many of its vertices have long lists; into how many chunks those are cut (0: not yet)
  int depth, last, levels;
  int which;                    // the visited bitmap that holds; the other one lags by one pull
  int queued;
  int refused;                  // a team would not take the level to this depth
};

struct Counters {
  __align__(128) u32 arrived;   // blocks at the barrier, ever
  __align__(128) u32 left;      // blocks that are done
  __align__(128) u32 tail;      // the queue's end: every vertex is queued at most once
  __align__(128) u64 word[3][2][16];  // a team's two barriers, each in a line of its own; by phases as the sums
  Sums sums[3];                 // of this phase, the next, and one being cleared
  // What is read after a barrier must not be written in the phase that follows it, when a slow block may still read: so
  // this too goes by phases, and nobody reads the tail above.
  __align__(128) Standing standing[3];
};

struct Work {
  u32 *even, *odd;              // the visited bitmaps
  int *queue;
  Chunk *chunks, *rest;
  Counters *counters;
  i64 *trace;
  i64 trace_rows;
  i64 chunk, long_row;          // arcs from which a list is long; in-arcs after which a row is left to the grid
  i64 alone, few, share, team;  // arcs that one block takes, that some take, and a block when all do; how many `some` are

  __device__ __forceinline__ u32 *visited(int which) const { return which ? odd : even; }
};

// Where a search begins and what it writes down are its template parameter `Answer`: hops here, sums over a semiring in
// linalg/waves.cuh.
//   FROM     whether it must be told from where a vertex was reached
//   EVERY    whether every vertex is closed, or those that were not reached
//   HUB      how many entries at the beginning of a row its hub stands for: 1 if it is the first, 0 if it is anywhere
//   source   the i-th of them       begin    at it             reach   a vertex, from a neighbour, at a depth
//   close    a vertex, at the end: was it reached?             tell    where the search ended
template <bool PARENTS>
struct Hops {
  static constexpr bool FROM = PARENTS, EVERY = false;
  static constexpr int HUB = 1;
  int *distance, *parent;
  const int *sources;
  Standing *out;

  __device__ __forceinline__ int source(u32 i) const { return sources[i]; }
  __device__ __forceinline__ void begin(u32, int s) const { reach(s, s, 0); }
  __device__ __forceinline__ void reach(int v, int from, int depth) const {
    distance[v] = depth;
    if (PARENTS) parent[v] = from;
  }
  __device__ __forceinline__ void close(i64 v, bool) const {
    distance[v] = -1;
    if (PARENTS) parent[v] = -1;
  }
  __device__ __forceinline__ void tell(const Standing &here) const { *out = here; }
};

__device__ __forceinline__ u32 lane() { return threadIdx.x & 31; }
__device__ __forceinline__ u32 below() { return (1u << lane()) - 1; }
__device__ __forceinline__ u32 block_warp() { return threadIdx.x >> 5; }
// Neighbouring tasks go to different multiprocessors, so that few tasks still use all of them.
__device__ __forceinline__ u32 grid_warp() { return block_warp() * gridDim.x + blockIdx.x; }
__device__ __forceinline__ u32 grid_warps() { return gridDim.x * WARPS; }

// A vertex's word and bit in a bitmap; a vertex below 0 is none, and has a word that may be read but no bit.
__device__ __forceinline__ u32 word_of(int u) { return (u32)max(u, 0) >> 5; }
__device__ __forceinline__ u32 bit_of(int u) { return u < 0 ? 0 : 1u << (u & 31); }

// Set a bit, if there is one, and return the word from before. No branch: a branch would wait for the answer, and so
// keep the next claims and loads from being on their way at the same time.
__device__ __forceinline__ u32 claim(u32 *word, u32 bit) {
  u32 old = ALL;
  asm volatile("{\n .reg .pred p;\n setp.ne.u32 p, %2, 0;\n @p atom.global.or.b32 %0, [%1], %2;\n}"
               : "+r"(old)
               : "l"(word), "r"(bit)
               : "memory");
  return old;
}

__device__ __forceinline__ u64 warp_sum(u64 x) {
  for (int step = 16; step; step >>= 1) x += __shfl_xor_sync(ALL, x, step);
  return x;
}

__device__ __forceinline__ u32 warp_sum(u32 x) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(ALL, x);
#else
  for (int step = 16; step; step >>= 1) x += __shfl_xor_sync(ALL, x, step);
  return x;
#endif
}

__device__ __forceinline__ u32 inclusive_scan(u32 x) {
  for (int step = 1; step < 32; step <<= 1) {
    u32 y = __shfl_up_sync(ALL, x, step);
    if (lane() >= step) x += y;
  }
  return x;
}

__device__ __forceinline__ i64 nanoseconds() {
  i64 t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

constexpr double HUBS = 4.0;  // how many times sooner a frontier of hubs is pulled, at most
// rules.growing, word for word.
__device__ __forceinline__ int growing(double a, double b, i64 n, i64 m, const Standing &s) {
  if (s.last == PULL)
    return s.nf < s.nf0 && s.nf * b <= (double)n && s.mf * 64 < s.mu * 64 + (u64)n ? PUSH : PULL;
  if (s.nf <= s.nf0 || s.mf * 64 <= (u64)n) return PUSH;
  const double hubs = min(HUBS, max(1.0, ((double)s.mf / (double)s.nf) * ((double)n / (double)max(m, 1ll))));
  return (double)s.mf * a * hubs > (double)s.mu ? PULL : PUSH;
}

// After a push of mf arcs, of mu that were left before it: the rule may want a pull if the frontier has grown and mf is
// greater than this. Rather too low than too high; `share` is pull_share(a), for which a team has no time.
__device__ __forceinline__ float pull_share(double a) {
  float times = (float)(a * HUBS);
  asm volatile("" : "+f"(times));  // else the compiler keeps the quotient for good, in a register that it has not got
  return __fdividef(0.999f, 1 + times);
}
__device__ __forceinline__ u32 may_pull_from(float share, i64 n, u64 mu) {
  return max((u32)min(n >> 6, 1ll << 31), (u32)min(4e9f, (float)mu * share));
}

__device__ __forceinline__ bool over(const Standing &s, int depth_limit) {
  return s.nf == 0 || s.reached == s.findable || s.depth >= depth_limit;
}

// A level is done that found so many vertices with so many arcs. For one thread a block.
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

// All blocks meet here; what was written before is seen after. Thread 0 of each block then does `after`, which its
// block sees. A block that waits for others' long work is patient and leaves the memory alone meanwhile. `target` is how
// many arrivals there will have been; it is thread 0's alone, so that it may be in shared memory.
template <class After>
__device__ __forceinline__ void meet(Counters *counters, u32 &target, bool patient, After after) {
  __syncthreads();
  if (threadIdx.x == 0) {
    target += gridDim.x;
    __threadfence();
    atomicAdd(&counters->arrived, 1);
    while ((int)(*(volatile u32 *)&counters->arrived - target) < 0)
      if (patient) __nanosleep(100);
    __threadfence();  // also empties this multiprocessor's L1, so that plain loads are right from here on
    after();
  }
  __syncthreads();
}

// Cut the lists of the lanes' flagged vertices into chunks of that size. The whole warp must be here.
__device__ __forceinline__ void cut(bool flagged, int v, i64 begin, i64 length, Chunk *chunks, u32 *tail, i64 size) {
  u32 todo = __ballot_sync(ALL, flagged);
  if (!todo) return;
  u32 pieces = flagged ? (u32)((length + size - 1) / size) : 0, end = inclusive_scan(pieces), at = 0;
  if (lane() == 31) at = atomicAdd(tail, end);
  at = __shfl_sync(ALL, at, 31) + end - pieces;
  while (todo) {
    int from = __ffs(todo) - 1;
    todo &= todo - 1;
    int w = __shfl_sync(ALL, v, from);
    u32 count = __shfl_sync(ALL, pieces, from), to = __shfl_sync(ALL, at, from);
    i64 first = __shfl_sync(ALL, begin, from), total = __shfl_sync(ALL, length, from);
    for (u32 i = lane(); i < count; i += 32) {
      i64 done = (i64)i * size;
      chunks[to + i] = {w, (int)min(size, total - done), first + done};
    }
  }
}

// Cut the lanes' long lists for a push: into pieces of half the length that makes a list long.
__device__ __forceinline__ void cut_long(int v, i64 begin, i64 degree, const Work &work, Sums *sums) {
  cut(degree >= work.chunk, v, begin, degree, work.chunks, &sums->chunks, work.chunk / 2);
}

// A block's warps add up to three numbers each; thread 0 gets the sums. Costs two barriers.
struct Three {
  u64 a;
  u32 b, c;
};
__device__ __forceinline__ Three block_sum(u64 a, u32 b, u32 c) {
  __shared__ Three parts[WARPS];
  a = warp_sum(a), b = warp_sum(b), c = warp_sum(c);
  if (lane() == 0) parts[block_warp()] = {a, b, c};
  __syncthreads();
  if (threadIdx.x < 32) {
    Three mine = lane() < WARPS ? parts[lane()] : Three{0, 0, 0};
    a = warp_sum(mine.a), b = warp_sum(mine.b), c = warp_sum(mine.c);
  }
  return {a, b, c};
}
