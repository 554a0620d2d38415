// What the files of the wide regime share (betweenness/wide.cuh); vertices sorted by level and length of row.
#pragma once
#include "betweenness/brandes.cuh"
#include "one_launch/levels.cuh"

namespace hopwave::betweenness {

using one_launch::grid_warp;
using one_launch::grid_warps;
using one_launch::THREADS;

// How many lanes share a row: one, eight, a warp, or a warp for each piece.
enum RowClass { SINGLE, EIGHTH, WARPED, LONG_ROW };
constexpr int MAX_LEVELS = 48;            // regimes.MAX_BATCH_LEVELS
constexpr int LEVELS = MAX_LEVELS + 1;    // with the source's level
constexpr int MAPPED = 16;                // levels that have a bitmap
constexpr u32 PIECE = 1024;               // arcs of a long row that one warp takes at a time (regimes.PIECE_ARCS)
constexpr int LISTED = 3 * LEVELS;        // buckets of vertices: three row classes per level
constexpr int BUCKETS = LISTED + LEVELS;  // plus one per level for the pieces of long rows
constexpr int AT_ONCE = 4;                // words of 32 vertices that a warp sorts at a time
constexpr u8 UNREACHED = 255;
constexpr int EXACT_BITS = 53;  // whole numbers below 2^53 are exact in float64
enum Way { PUSH_OUT, PULL_OUT, PULL_BACK, PUSH_BACK };

// One piece of a long row. A row's pieces lie side by side; `first` is the place of its first piece.
struct __align__(16) Piece {
  int v;
  u32 index, pieces, first;
};

// What blocks share. Everything but `depth` and `found` is zero between launches.
struct Shared {
  int depth;  // the level at which the search ended, and how many vertices it found
  u32 found;
  u32 arrived, left;       // blocks: at the barrier; at the end
  u32 counts[2][BUCKETS];  // for in-rows and out-rows, per bucket: vertices, or pieces of long rows
  u32 exponents[2];        // of a level's pushed shares: the greatest exponent, and 2047 - the least
  u64 due, reached;        // Σ (d - 1), or Σ d if arcs are scored, over the targets reached; their number
};

// What the kernel reports to the host.
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
  u32 *tickets;      // per long row, at its first piece: pieces that are done; zero between launches
  double *X, *delta;
  u64 *sums;      // per vertex that shares are pushed to: two words (struct ExactSum)
  double *parts;  // Σ δ per block
  Shared *shared;
  Told *told;  // in host memory
  i64 words;   // words per bitmap
  i64 directed, max_levels, degree_bits;
  i64 push_cost, push_back_cost;  // cost of a pushed arc, relative to a pulled arc
};

// The parameters of the job that a walk needs.
struct One {
  double *total;
  const u8 *targets;  // null: every vertex is a target
  bool edges;         // arcs are scored
};

// The answer that the search writes (see Hops in one_launch/state.cuh).
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

// Where every bucket begins in the lists of vertices and of pieces; each block has a copy.
struct Starts {
  u32 listed[2][LISTED + 1], pieces[2][LEVELS + 1];
};

// The part of the lists that belongs to one level: vertices of class c from at[c] to at[c + 1], and pieces of long
// rows.
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

// The lanes whose vertices are in the same bucket as this lane's. Pieces of long rows are counted separately.
struct Peers {
  u32 lanes;
  int leader;
  __device__ __forceinline__ Peers(bool mine, int bucket)
      : lanes(__match_any_sync(ALL_LANES, mine ? bucket : -1)), leader(__ffs(lanes) - 1) {}
};

template <class Offset>
struct Sorting {
  const one_launch::Graph<Offset> &graph;
  const Wide &wide;
  u32 (*buckets)[BUCKETS];  // this block's, in shared memory: vertices counted, later the next free place

  __device__ __forceinline__ const Offset *offsets(int which) const { return which ? graph.offsets : graph.in_offsets; }

  // Calls visit(first, level) for every 32 vertices from `first` on; `level` is the level of the lane's vertex, or
  // UNREACHED. Whole warps call it.
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
    const Peers peers(listed, bucket);
    if (listed && lane() == peers.leader) atomicAdd(&buckets[which][bucket], (u32)__popc(peers.lanes));
  }

  __device__ __forceinline__ void place(int which, i64 v, int level) {
    const bool mine = level != UNREACHED;
    const i64 arcs = mine ? arcs_of(which, v) : 0;
    const int row_class = class_of(arcs), bucket = bucket_of(level, row_class);
    const bool listed = mine && row_class != LONG_ROW;
    const Peers peers(listed, bucket);
    u32 at = 0;
    if (listed && lane() == peers.leader) at = atomicAdd(&buckets[which][bucket], (u32)__popc(peers.lanes));
    at = __shfl_sync(ALL_LANES, at, peers.leader) + __popc(peers.lanes & lanes_below());
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

// Exclusive prefix sums of `length` counts, and their total. One warp calls this.
__device__ __forceinline__ void sum_counts(const u32 *counts, int length, u32 *starts) {
  u32 before = 0;
  for (int base = 0; base < length; base += 32) {
    const u32 count = base + lane() < length ? __ldcg(counts + base + lane()) : 0, end = inclusive_scan(count);
    if (base + lane() < length) starts[base + lane()] = before + end - count;
    before += __shfl_sync(ALL_LANES, end, 31);
  }
  if (lane() == 0) starts[length] = before;
}

}  // namespace hopwave::betweenness
