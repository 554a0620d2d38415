// Betweenness of one source on the full GPU, in one cooperative launch.
//
//   search   hopwave's search (one_launch/search.cuh) writes the level of every vertex, in one byte
//   sort     vertices by level, and within a level by the length of their rows (enum RowClass)
//   out      path counts σ, level by level: the level pulls counts along its in-arcs, or, if the previous level has
//            far fewer arcs, the previous level pushes counts along its out-arcs
//   back     dependencies δ, deepest level first: pulled along out-arcs, or pushed along in-arcs
//   scores   total[v] += δ(v), and both sides of the certificate
//
// The result is bitwise identical in every run. Only a row's length decides how many lanes share it, and the pieces of
// a long row are added in order. Pushed sums are exact: path counts are integers below 2^53, shares have 128 bits
// (struct ExactSum). The block regime takes searches of more than `max_levels` levels, so counts need no scaling.
//
//   X        σ in the forward pass, share in the backward pass (betweenness/brandes.cuh)
//   bits     a bitmap for each of the first MAPPED levels
#pragma once
#include "betweenness/brandes.cuh"
#include "one_launch/search.cuh"

namespace hopwave::betweenness {

using one_launch::grid_warp;
using one_launch::grid_warps;
using one_launch::THREADS;

enum RowClass { SINGLE, EIGHTH, WARPED, LONG_ROW };
constexpr int MAX_LEVELS = 48;            // regimes.MAX_BATCH_LEVELS
constexpr int LEVELS = MAX_LEVELS + 1;    // including the source's level
constexpr int MAPPED = 16;                // levels that have a bitmap
constexpr u32 PIECE = 1024;               // arcs per piece of a long row: one warp at a time (regimes.PIECE_ARCS)
constexpr int LISTED = 3 * LEVELS;        // buckets of vertices: three row classes per level
constexpr int BUCKETS = LISTED + LEVELS;  // plus one per level for the pieces of long rows
constexpr int AT_ONCE = 4;                // words of 32 vertices that a warp sorts at a time
constexpr u8 UNREACHED = 255;
constexpr int EXACT_BITS = 53;  // integers below 2^53 are exact in float64
enum Way { PUSH_OUT, PULL_OUT, PULL_BACK, PUSH_BACK };

// One piece of a long row. The pieces of a row are adjacent; `first` is the index of its first piece.
struct __align__(16) Piece {
  int v;
  u32 index, pieces, first;
};

// Shared by all blocks. Every field except `depth` and `found` is zero between launches.
struct Shared {
  int depth;  // the last level of the search; the number of vertices found
  u32 found;
  u32 arrived, left;       // number of blocks at the barrier; number of blocks that have finished
  u32 counts[2][BUCKETS];  // for in-rows and out-rows, per bucket: number of vertices, or of pieces of long rows
  u32 exponents[2];        // of a level's pushed shares: the largest exponent, and 2047 - the smallest
  u64 due, reached;        // Σ (d - 1), or Σ d if arcs are scored, over the targets reached; number of these targets
};

struct Told {
  double found;  // Σ δ
  u64 due, reached;
  i64 depth, too_deep;
};

struct Wide {
  u8 *level;
  u32 *bits;         // MAPPED bitmaps, one after another
  int *lists[2];     // vertices by level and class of their in-rows, and of their out-rows; one array if undirected
  Piece *pieces[2];  // pieces of long rows, in the same order
  double *partials;  // per piece
  u32 *tickets;      // per long row, at its first piece: number of finished pieces; zero between launches
  double *X, *delta;
  u64 *sums;      // per vertex that receives pushed shares: two words (struct ExactSum)
  double *parts;  // Σ δ per block
  Shared *shared;
  Told *told;  // in host memory
  i64 words;   // words per bitmap
  i64 directed, max_levels, degree_bits;
  i64 push_cost, push_back_cost;  // cost of a pushed arc, relative to a pulled arc
};

struct One {
  double *total;
  const u8 *targets;  // null: every vertex is a target
  bool edges;         // whether arcs are scored
};

// The result type of the search (see Hops in one_launch/state.cuh).
struct ByteLevels {
  static constexpr bool FROM = false, EVERY = false, FILLS = false;
  static constexpr int HUB = 1;
  int from;
  u8 *level;
  Shared *shared;

  __device__ __forceinline__ int source(u32) const { return from; }
  __device__ __forceinline__ void begin(u32, int s) const { level[s] = 0; }
  __device__ __forceinline__ void reach(int v, int, int depth) const { level[v] = (u8)depth; }
  template <bool ONCE>
  __device__ __forceinline__ void fill(int, int, int) const {}
  __device__ __forceinline__ void close(i64 v, bool) const { level[v] = UNREACHED; }
  __device__ __forceinline__ void tell(const one_launch::Standing &here) const {
    shared->depth = here.depth, shared->found = here.nf;
  }
};

__device__ __forceinline__ int class_of(i64 arcs) {
  return arcs <= 4 ? SINGLE : arcs <= 32 ? EIGHTH : arcs <= PIECE ? WARPED : LONG_ROW;
}
__device__ __forceinline__ u32 pieces_of(i64 arcs) { return (u32)((arcs + PIECE - 1) / PIECE); }
__device__ __forceinline__ int bucket_of(int level, int row_class) {
  return row_class == LONG_ROW ? LISTED + level : 3 * level + row_class;
}

// Start of every bucket in the lists of vertices and of pieces; each block has a copy.
struct Starts {
  u32 listed[2][LISTED + 1], pieces[2][LEVELS + 1];
};

// One level's section of the lists: vertices of class c from at[c] to at[c + 1], and pieces of long rows.
struct Stretch {
  const int *list;
  const Piece *pieces;
  u32 at[4], first_piece, last_piece;

  __device__ __forceinline__ Stretch(const Wide &wide, const Starts &starts, int which, int level)
      : list(wide.lists[which]),
        pieces(wide.pieces[which]),
        first_piece(starts.pieces[which][level]),
        last_piece(starts.pieces[which][level + 1]) {
#pragma unroll
    for (int c = 0; c < 4; ++c) at[c] = starts.listed[which][3 * level + c];
  }
  // Estimates the level's arcs from the classes of its rows.
  __device__ __forceinline__ u64 arcs() const {
    return 2ull * (at[1] - at[0]) + 16ull * (at[2] - at[1]) + 256ull * (at[3] - at[2]) +
           (u64)PIECE * (last_piece - first_piece);
  }
};

template <class Offset>
struct Sorting {
  const one_launch::Graph<Offset> &graph;
  const Wide &wide;
  u32 (*buckets)[BUCKETS];  // per block, in shared memory: number of vertices, later the next free index

  __device__ __forceinline__ const Offset *offsets(int which) const { return which ? graph.offsets : graph.in_offsets; }

  // Full warps call visit(first, level) for every 32 vertices, the lowest being `first`; `level`: of the lane's vertex.
  template <class Visit>
  __device__ __forceinline__ void vertices(Visit visit) const {
    const i64 step = (i64)grid_warps() * 32 * AT_ONCE;
    for (i64 base = (i64)grid_warp() * 32 * AT_ONCE; base < graph.n; base += step) {
      int level[AT_ONCE];
#pragma unroll
      for (int k = 0; k < AT_ONCE; ++k) {
        const i64 v = base + 32 * k + lane();
        level[k] = v < graph.n ? wide.level[v] : UNREACHED;
      }
#pragma unroll
      for (int k = 0; k < AT_ONCE; ++k)
        if (base + 32 * k < graph.n) visit(base + 32 * k, level[k]);
    }
  }

  __device__ __forceinline__ i64 arcs_of(int which, i64 v) const {
    return (i64)(__ldg(offsets(which) + v + 1) - __ldg(offsets(which) + v));
  }

  __device__ __forceinline__ void count(int which, i64 v, int level) {
    const bool mine = level != UNREACHED;
    const i64 arcs = mine ? arcs_of(which, v) : 0;
    const int row_class = class_of(arcs), bucket = bucket_of(level, row_class);
    if (mine && row_class == LONG_ROW) atomicAdd(&buckets[which][bucket], pieces_of(arcs));
    const bool listed = mine && row_class != LONG_ROW;
    const u32 peers = __match_any_sync(ALL_LANES, listed ? bucket : -1);  // lanes with the same bucket
    if (listed && lane() == __ffs(peers) - 1) atomicAdd(&buckets[which][bucket], (u32)__popc(peers));
  }

  __device__ __forceinline__ void place(int which, i64 v, int level) {
    const bool mine = level != UNREACHED;
    const i64 arcs = mine ? arcs_of(which, v) : 0;
    const int row_class = class_of(arcs), bucket = bucket_of(level, row_class);
    const bool listed = mine && row_class != LONG_ROW;
    const u32 peers = __match_any_sync(ALL_LANES, listed ? bucket : -1);
    const int leader = __ffs(peers) - 1;
    u32 at = 0;
    if (listed && lane() == leader) at = atomicAdd(&buckets[which][bucket], (u32)__popc(peers));
    at = __shfl_sync(ALL_LANES, at, leader) + __popc(peers & lanes_below());
    if (listed) wide.lists[which][at] = (int)v;
    const u32 pieces = mine && row_class == LONG_ROW ? pieces_of(arcs) : 0;
    if (pieces) at = atomicAdd(&buckets[which][bucket], pieces);
    for (u32 todo = __ballot_sync(ALL_LANES, pieces); todo; todo &= todo - 1) {
      const int from = __ffs(todo) - 1, row = (int)__shfl_sync(ALL_LANES, v, from);
      const u32 first = __shfl_sync(ALL_LANES, at, from), all = __shfl_sync(ALL_LANES, pieces, from);
      for (u32 i = lane(); i < all; i += 32) wide.pieces[which][first + i] = {row, i, all, first};
    }
  }
};

// Exclusive prefix sums of `length` counts, and their total. One warp calls this function.
__device__ __forceinline__ void sum_counts(const u32 *counts, int length, u32 *starts) {
  u32 before = 0;
  for (int base = 0; base < length; base += 32) {
    const u32 count = base + lane() < length ? __ldcg(counts + base + lane()) : 0, end = inclusive_scan(count);
    if (base + lane() < length) starts[base + lane()] = before + end - count;
    before += __shfl_sync(ALL_LANES, end, 31);
  }
  if (lane() == 0) starts[length] = before;
}

// A sum of float64 numbers in 128 bits, without rounding. The numbers are positive and their exponents differ by at
// most SPREAD. The largest numbers are shifted left by LEFT bits and use 96 bits, so that a sum of 2^31 numbers fits.
struct ExactSum {
  static constexpr int SPREAD = 40, LEFT = 43;
  static constexpr u64 MANTISSA = (1ull << 52) - 1;
  u64 *words;    // low word, then high word
  int greatest;  // largest exponent of the numbers, with float64's bias

  static __device__ __forceinline__ u32 exponent(double x) { return (u32)(__double_as_longlong(x) >> 52); }
  __device__ __forceinline__ void add(double x) const {
    const u64 whole = (__double_as_longlong(x) & MANTISSA) | (MANTISSA + 1);
    const int shift = LEFT - (greatest - (int)exponent(x));
    const u64 low = whole << shift, before = atomicAdd(words, low);
    const u64 high = (whole >> (64 - shift)) + (before + low < before);
    if (high) atomicAdd(words + 1, high);
  }
  __device__ __forceinline__ double value() const {
    return ldexp((double)__ldcg(words + 1) * 0x1p64 + (double)__ldcg(words), greatest - 1075 - LEFT);
  }
};

template <class F>
__device__ __forceinline__ void each_vertex(const Stretch &rows, F f) {
  const u32 listed = rows.at[3] - rows.at[0], all = listed + rows.last_piece - rows.first_piece;
  for (u32 i = (u32)thread_number(); i < all; i += (u32)thread_count()) {
    if (i < listed) {
      f(rows.list[rows.at[0] + i]);
    } else {
      const Piece &piece = rows.pieces[rows.first_piece + i - listed];
      if (piece.index == 0) f(piece.v);
    }
  }
}

// One warp's pass over a level's rows. WAY: what to do with a neighbour that is in the other level.
template <class Offset, int WAY>
struct Walk {
  const Offset *offsets;
  Neighbours<Offset> neighbours;
  const Wide &wide;
  const One &one;
  const u32 *map;  // bitmap of the neighbours' level; null: read the byte of each neighbour
  int other;       // the neighbours' level
  int greatest;    // PUSH_BACK: largest exponent of the rows' shares
  static constexpr bool PUSHES = WAY == PUSH_OUT || WAY == PUSH_BACK;

  // Σ over the entries e, e + WIDTH, … below `end` whose neighbour is in the other level; `mine` is X of the vertex.
  template <int WIDTH>
  __device__ __forceinline__ double along(Offset e, Offset end, double mine) const {
    double sum = 0.0;
    for (; e < end; e += WIDTH * IN_FLIGHT) {
      int u[IN_FLIGHT];
      bool hit[IN_FLIGHT];
#pragma unroll
      for (int k = 0; k < IN_FLIGHT; ++k) u[k] = e + k * WIDTH < end ? neighbour(neighbours, e + k * WIDTH) : -1;
      if (map) {
        u32 word[IN_FLIGHT];
#pragma unroll
        for (int k = 0; k < IN_FLIGHT; ++k) word[k] = map[one_launch::word_of(u[k])];
#pragma unroll
        for (int k = 0; k < IN_FLIGHT; ++k) hit[k] = word[k] & one_launch::bit_of(u[k]);
      } else {
#pragma unroll
        for (int k = 0; k < IN_FLIGHT; ++k) hit[k] = u[k] >= 0 && wide.level[u[k]] == other;
      }
      if constexpr (WAY == PUSH_OUT) {
#pragma unroll
        for (int k = 0; k < IN_FLIGHT; ++k)
          if (hit[k]) atomicAdd(wide.X + u[k], mine);
      } else if constexpr (WAY == PUSH_BACK) {
#pragma unroll
        for (int k = 0; k < IN_FLIGHT; ++k)
          if (hit[k] && mine != 0.0) ExactSum{wide.sums + 2 * (i64)u[k], greatest}.add(mine);
      } else {
        double x[IN_FLIGHT];
#pragma unroll
        for (int k = 0; k < IN_FLIGHT; ++k) x[k] = hit[k] ? wide.X[u[k]] : 0.0;
#pragma unroll
        for (int k = 0; k < IN_FLIGHT; ++k) {
          sum += x[k];
          if (WAY == PULL_BACK && one.edges && hit[k]) one.total[e + k * WIDTH] += mine * x[k];
        }
      }
    }
    return sum;
  }

  __device__ __forceinline__ double own(int v) const { return WAY == PULL_OUT ? 0.0 : wide.X[v]; }

  __device__ __forceinline__ void finish(int v, double sum, double mine) const {
    if (WAY == PULL_OUT) wide.X[v] = sum;
    if (WAY == PULL_BACK) {
      const double d = mine * sum;
      wide.delta[v] = d, wide.X[v] = (weight(one.targets, v) + d) / mine;
    }
  }

  // One piece of a long row. The warp that completes the last piece of a row adds up all its pieces, in order.
  __device__ __forceinline__ void piece(const Piece &p, u32 at) const {
    const double mine = own(p.v);
    const Offset begin = __ldg(offsets + p.v) + (Offset)p.index * PIECE, stop = __ldg(offsets + p.v + 1);
    double sum = along<32>(begin + lane(), min(stop, (Offset)(begin + PIECE)), mine);
    if (PUSHES) return;
    sum = warp_sum(sum);
    u32 done = 0;
    if (lane() == 0) {
      wide.partials[at] = sum;
      __threadfence();
      done = atomicAdd(wide.tickets + p.first, 1);
    }
    if (__shfl_sync(ALL_LANES, done, 0) + 1 < p.pieces) return;
    __threadfence();
    sum = 0.0;
    for (u32 i = lane(); i < p.pieces; i += 32) sum += __ldcg(wide.partials + p.first + i);
    sum = warp_sum(sum);
    if (lane() == 0) finish(p.v, sum, mine), wide.tickets[p.first] = 0;
  }

  // Rows of up to PIECE arcs, one full warp per row; the lanes jointly read begin and end of up to 32 rows.
  __device__ __forceinline__ void warped(const int *list, u32 count) const {
    int v = 0;
    Offset begin = 0, end = 0;
    double mine = 0.0;
    if (lane() < count) {
      v = list[lane()];
      begin = __ldg(offsets + v), end = __ldg(offsets + v + 1), mine = own(v);
    }
    double sum = 0.0;
    for (u32 todo = __ballot_sync(ALL_LANES, lane() < count); todo; todo &= todo - 1) {
      const int from = __ffs(todo) - 1;
      const Offset first = __shfl_sync(ALL_LANES, begin, from), stop = __shfl_sync(ALL_LANES, end, from);
      const double all = warp_sum(along<32>(first + lane(), stop, __shfl_sync(ALL_LANES, mine, from)));
      if (lane() == from) sum = all;
    }
    if (lane() < count) finish(v, sum, mine);
  }

  __device__ __forceinline__ void eighth(const int *list, u32 count) const {
    const u32 row = lane() / 8;
    double sum = 0.0, mine = 0.0;
    int v = 0;
    if (row < count) {
      v = list[row], mine = own(v);
      sum = along<8>(__ldg(offsets + v) + (Offset)(lane() % 8), __ldg(offsets + v + 1), mine);
    }
    for (int step = 4; step; step /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, step);
    if (row < count && lane() % 8 == 0) finish(v, sum, mine);
  }

  __device__ __forceinline__ void single(const int *list, u32 count) const {
    if (lane() >= count) return;
    const int v = list[lane()];
    const double mine = own(v);
    finish(v, along<1>(__ldg(offsets + v), __ldg(offsets + v + 1), mine), mine);
  }

  // All rows of a level, distributed over the warps of the grid: pieces of long rows first.
  __device__ __forceinline__ void level(const Stretch &rows) const {
    const u32 warps = grid_warps(), pieces = rows.last_piece - rows.first_piece;
    const u32 together = min(32u, max(1u, (rows.at[3] - rows.at[2]) / (2 * warps)));
    const u32 wide_tasks = pieces + (rows.at[3] - rows.at[2] + together - 1) / together;
    const u32 eighth_tasks = wide_tasks + (rows.at[2] - rows.at[1] + 3) / 4;
    const u32 tasks = eighth_tasks + (rows.at[1] - rows.at[0] + 31) / 32;
    for (u32 task = grid_warp(); task < tasks; task += warps) {
      if (task < pieces) {
        piece(rows.pieces[rows.first_piece + task], rows.first_piece + task);
      } else if (task < wide_tasks) {
        const u32 at = rows.at[2] + (task - pieces) * together;
        warped(rows.list + at, min(together, rows.at[3] - at));
      } else if (task < eighth_tasks) {
        const u32 at = rows.at[1] + (task - wide_tasks) * 4;
        eighth(rows.list + at, min(4u, rows.at[2] - at));
      } else {
        const u32 at = rows.at[0] + (task - eighth_tasks) * 32;
        single(rows.list + at, min(32u, rows.at[1] - at));
      }
    }
  }
};

// Returns Σ x over a block in thread 0, always added in the same order.
__device__ __forceinline__ double sum_of_block(double x) {
  __shared__ double of_warp[THREADS / 32];
  x = warp_sum(x);
  if (lane() == 0) of_warp[block_warp()] = x;
  __syncthreads();
  return threadIdx.x < 32 ? warp_sum(lane() < THREADS / 32 ? of_warp[lane()] : 0.0) : 0.0;
}

template <class Offset>
__global__ void __launch_bounds__(THREADS, 1)
    one_source(const __grid_constant__ one_launch::Graph<Offset> graph, const __grid_constant__ one_launch::Work work,
               const __grid_constant__ Wide wide, double *total, const u8 *targets, Neighbours<Offset> back_neighbours,
               i64 source, i64 depth_limit, i64 endpoints, i64 squares, i64 edges, double alpha, double beta) {
  __shared__ u32 buckets[2][BUCKETS];
  __shared__ Starts starts;
  __shared__ u32 arrivals;
  Shared *const shared = wide.shared;
  const One one{total, targets, edges != 0};
  u8 *level = wide.level;
  asm volatile("" : "+l"(level));  // otherwise NVRTC 13 mistakes a struct with the same first field for `wide` itself
  one_launch::all_levels(graph, work, ByteLevels{(int)source, level, shared}, 1, (int)depth_limit, alpha, beta);
  if (threadIdx.x == 0) arrivals = 0;
  auto wait = [&] { barrier(&shared->arrived, arrivals, gridDim.x, [] {}, [] {}); };
  // Every block calls this function at its end with its own sum; the last block reports to the host.
  auto leave = [&](double found, int depth, bool too_deep) {
    __shared__ bool last;
    found = sum_of_block(found);
    if (threadIdx.x == 0) {
      wide.parts[blockIdx.x] = found;
      __threadfence();
      last = atomicAdd(&shared->left, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    if (threadIdx.x < 32) {
      found = 0.0;
      for (u32 i = lane(); i < gridDim.x; i += 32) found += __ldcg(wide.parts + i);
      found = warp_sum(found);
      if (lane() == 0) {
        *wide.told = {found, __ldcg(&shared->due), __ldcg(&shared->reached), depth, too_deep};
        shared->arrived = shared->left = 0, shared->due = shared->reached = 0;
      }
    }
    for (u32 i = threadIdx.x; i < 2 * BUCKETS; i += THREADS) shared->counts[i / BUCKETS][i % BUCKETS] = 0;
  };

  for (u32 i = threadIdx.x; i < 2 * BUCKETS; i += THREADS) buckets[i / BUCKETS][i % BUCKETS] = 0;
  wait();
  const int depth = shared->depth - (shared->found == 0 && shared->depth > 0);
  if (depth > wide.max_levels) {
    leave(0.0, depth, true);
    return;
  }

  const int lists = wide.directed ? 2 : 1, mapped = min(depth + 1, MAPPED);
  Sorting<Offset> sorting{graph, wide, buckets};
  u64 due = 0;
  u32 reached = 0;
  sorting.vertices([&](i64 first, int level) {
    u32 word = 0;
    for (int l = 0; l < mapped; ++l) {
      const u32 those = __ballot_sync(ALL_LANES, level == l);
      if (lane() == l) word = those;
    }
    if (lane() < mapped) wide.bits[lane() * wide.words + first / 32] = word;
    const i64 v = first + lane();
    if (level != UNREACHED) wide.X[v] = v == source;
    if (level != UNREACHED && level && (!targets || targets[v])) due += edges ? level : level - 1, ++reached;
    for (int which = 0; which < lists; ++which) sorting.count(which, v, level);
  });
  const one_launch::BlockSums all = one_launch::block_sum(due, reached, 0);
  if (threadIdx.x == 0 && all.b) atomicAdd(&shared->due, all.a), atomicAdd(&shared->reached, (u64)all.b);
  __syncthreads();
  for (u32 i = threadIdx.x; i < lists * BUCKETS; i += THREADS) {
    u32 &bucket = buckets[i / BUCKETS][i % BUCKETS];
    if (bucket) bucket = atomicAdd(&shared->counts[i / BUCKETS][i % BUCKETS], bucket);
  }
  wait();
  if (block_warp() < 2 * lists) {
    const int which = block_warp() / 2;
    if (block_warp() % 2) sum_counts(shared->counts[which] + LISTED, LEVELS, starts.pieces[which]);
    else sum_counts(shared->counts[which], LISTED, starts.listed[which]);
  }
  __syncthreads();
  for (u32 i = threadIdx.x; i < lists * BUCKETS; i += THREADS) {
    const u32 which = i / BUCKETS, at = i % BUCKETS;
    buckets[which][at] += at < LISTED ? starts.listed[which][at] : starts.pieces[which][at - LISTED];
  }
  __syncthreads();
  sorting.vertices([&](i64 first, int level) {
    for (int which = 0; which < lists; ++which) sorting.place(which, first + lane(), level);
  });
  wait();

  const int out_rows = lists - 1;  // in an undirected graph, out-rows are in-rows
  auto map_of = [&](int level) { return level < MAPPED ? wide.bits + level * wide.words : nullptr; };

  for (int d = 1; d <= depth; ++d) {
    const Stretch rows(wide, starts, 0, d), before(wide, starts, out_rows, d - 1);
    if (d * wide.degree_bits <= EXACT_BITS && before.arcs() * wide.push_cost < rows.arcs()) {
      Walk<Offset, PUSH_OUT>{graph.offsets, graph.neighbours, wide, one, map_of(d), d}.level(before);
    } else {
      Walk<Offset, PULL_OUT>{graph.in_offsets, graph.in_neighbours, wide, one, map_of(d - 1), d - 1}.level(rows);
    }
    wait();
  }
  for (int d = depth; d >= (edges ? 0 : 1); --d) {
    const Walk<Offset, PULL_BACK> walk{graph.offsets, back_neighbours, wide, one, map_of(d + 1), d + 1};
    const Stretch rows(wide, starts, out_rows, d);
    if (d == depth) {  // vertices of the deepest level have no successors
      each_vertex(rows, [&](int v) { walk.finish(v, 0.0, wide.X[v]); });
      wait();
      continue;
    }
    const Stretch after(wide, starts, 0, d + 1);
    if (edges || after.arcs() * wide.push_back_cost >= rows.arcs()) {
      walk.level(rows);
      wait();
      continue;
    }
    // The next level pushes if the exponents of its shares differ little enough.
    each_vertex(rows, [&](int v) { wide.sums[2 * (i64)v] = wide.sums[2 * (i64)v + 1] = 0; });
    u32 highest = 0, lowest = 0;  // lowest: as 2047 - exponent
    each_vertex(after, [&](int v) {
      const double share = wide.X[v];
      if (share == 0.0) return;
      highest = max(highest, ExactSum::exponent(share)), lowest = max(lowest, 2047 - ExactSum::exponent(share));
    });
    for (int step = 16; step; step /= 2) {
      highest = max(highest, __shfl_xor_sync(ALL_LANES, highest, step));
      lowest = max(lowest, __shfl_xor_sync(ALL_LANES, lowest, step));
    }
    if (lane() == 0 && highest) atomicMax(shared->exponents, highest), atomicMax(shared->exponents + 1, lowest);
    wait();
    const int greatest = __ldcg(shared->exponents), least = 2047 - __ldcg(shared->exponents + 1);
    const bool exact = greatest - least <= ExactSum::SPREAD;
    if (exact) {
      Walk<Offset, PUSH_BACK>{graph.in_offsets, graph.in_neighbours, wide, one, map_of(d), d, greatest}.level(after);
    } else {
      walk.level(rows);
    }
    wait();
    if (exact)
      each_vertex(rows, [&](int v) { walk.finish(v, ExactSum{wide.sums + 2 * (i64)v, greatest}.value(), wide.X[v]); });
    if (blockIdx.x == 0 && threadIdx.x == 0) shared->exponents[0] = shared->exponents[1] = 0;
    wait();
  }

  double found = 0.0;
  const double ends = (double)__ldcg(&shared->reached);
  for (i64 v = signed_thread_number(); v < graph.n; v += signed_thread_count()) {
    double x = 0.0;
    if (wide.level[v] != UNREACHED) {
      if (edges || v != source) x = wide.delta[v];
      found += x;
      if (endpoints) x += v == source ? ends : weight(targets, (int)v);
    }
    if (edges) continue;
    total[v] += x;
    if (squares) total[graph.n + v] += x * x;
  }
  leave(found, depth, false);
}

}  // namespace hopwave::betweenness
