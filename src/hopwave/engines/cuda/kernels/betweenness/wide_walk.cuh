// The wide regime's walk along the rows of one level (betweenness/wide.cuh).
//
// How many lanes share a row depends on its length alone, so that its terms are always added in the same order. Pushed
// terms arrive in any order, so they are added exactly.
#pragma once
#include "betweenness/wide_sort.cuh"

namespace hopwave::betweenness {

// A sum of float64 numbers in 128 bits, without rounding. The numbers are positive and their exponents differ by at
// most SPREAD. The greatest numbers are shifted left by LEFT bits and take 96 bits, so that a sum of 2^31 numbers fits.
struct ExactSum {
  static constexpr int SPREAD = 40, LEFT = 43;
  static constexpr u64 MANTISSA = (1ull << 52) - 1;
  u64 *words;    // the low one and the high one
  int greatest;  // the greatest exponent of the numbers, with float64's bias

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

// Calls f(v) for every vertex of a level, one thread per vertex.
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

// One warp's view of the walk along a level's rows. WAY: what to do with a neighbour that is in the other level.
template <class Offset, int WAY>
struct Walk {
  const Offset *offsets;
  Neighbours<Offset> neighbours;
  const Wide &wide;
  const One &one;
  const u32 *map;  // bitmap of the neighbours' level; null: read the byte of each neighbour
  int other;       // the neighbours' level
  int greatest;    // PUSH_BACK: the greatest exponent of the rows' shares
  static constexpr bool PUSHES = WAY == PUSH_OUT || WAY == PUSH_BACK;

  // Σ over the entries e, e + WIDTH, … below `end` whose neighbour is in the other level; `mine` is the row's own X.
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

  // What the row reads of its own vertex.
  __device__ __forceinline__ double own(int v) const { return WAY == PULL_OUT ? 0.0 : wide.X[v]; }

  // Stores the complete sum of v's row; `mine` is own(v).
  __device__ __forceinline__ void finish(int v, double sum, double mine) const {
    if (WAY == PULL_OUT) wide.X[v] = sum;
    if (WAY == PULL_BACK) {
      const double d = mine * sum;
      wide.delta[v] = d, wide.X[v] = (weight(one.targets, v) + d) / mine;
    }
  }

  // One piece of a long row. The warp that completes the row's last piece adds up all pieces, in order.
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

  // Rows of up to PIECE arcs, each by the whole warp; the lanes together read where up to 32 rows begin and end.
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

  // Rows of up to 32 arcs: eight lanes per row, four rows per warp.
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

  // Rows of up to four arcs: one lane per row.
  __device__ __forceinline__ void single(const int *list, u32 count) const {
    if (lane() >= count) return;
    const int v = list[lane()];
    const double mine = own(v);
    finish(v, along<1>(__ldg(offsets + v), __ldg(offsets + v + 1), mine), mine);
  }

  // All rows of a level, shared out among the warps of the grid: pieces of long rows first.
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

}  // namespace hopwave::betweenness
