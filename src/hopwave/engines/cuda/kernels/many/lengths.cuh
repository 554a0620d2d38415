// Distances along weights from many sources, one block or a team of blocks per source (common/shortest.cuh), and sums
// over each source's targets.
//
// Each sum carries its rounding error along (Knuth's exact sum of two floats), as on the CPU: the result is the exact
// sum rounded to float64, or close to it.
#pragma once
#include "common/shortest.cuh"

namespace hopwave::many {

struct Lengths {
  const int *sources;
  u32 *ticket;   // sources taken so far
  double *rows;  // per source: n distances, infinite before; null if only sums are kept
  i64 *reached;  // per source; null if no sums are kept
  double *total, *inverse, *farthest;
  void *parts;  // per block: its part of the sums
  i64 count;
};

struct ExactSum {
  double total, lost;
  __device__ __forceinline__ void add(double x) {
    const double rounded = total + x, share = rounded - total;
    lost += (total - (rounded - share)) + (x - share);
    total = rounded;
  }
  __device__ __forceinline__ void add(ExactSum other) { add(other.total), lost += other.lost; }
  __device__ __forceinline__ double value() const { return total < infinite() ? total + lost : total; }
  __device__ __forceinline__ ExactSum from(int step) const {
    return {__shfl_xor_sync(ALL_LANES, total, step), __shfl_xor_sync(ALL_LANES, lost, step)};
  }
};

// The sums of one thread, block or team for one source.
struct Sums {
  ExactSum total, inverse;  // Σ d and Σ 1/d over d > 0
  double farthest;
  i64 reached;
  __device__ __forceinline__ Sums from(int step) const {
    return {total.from(step), inverse.from(step), __shfl_xor_sync(ALL_LANES, farthest, step),
            __shfl_xor_sync(ALL_LANES, reached, step)};
  }
};

__device__ __forceinline__ Sums both(Sums x, Sums y) {
  x.total.add(y.total), x.inverse.add(y.inverse);
  x.farthest = max(x.farthest, y.farthest), x.reached += y.reached;
  return x;
}

// TEAM: launched cooperatively.
template <class Offset, bool TEAM>
__global__ void __launch_bounds__(1024) search_lengths(WeightedGraph<Offset> G, PathState S, Lengths R) {
  __shared__ PathBoard own;
  __shared__ Sums warps[WARP];
  PathThreads<Offset, TEAM> threads(G, S, &own);
  PathBoard *const board = threads.board;
  const int me = threads.me;
  for (;;) {
    if (me == 0) board->item = atomicAdd(R.ticket, 1);
    threads.wait();
    const u32 item = board->item;
    if (item >= R.count) return;
    double *const row = R.rows ? R.rows + item * G.n : nullptr;
    if (row) threads.distance = row;
    threads.search(R.sources[item]);
    if (R.reached) {
      Sums mine{{0.0, 0.0}, {0.0, 0.0}, 0.0, 0};
      for (i64 v = me; v < G.n; v += threads.everyone) {
        const double d = threads.distance[v];
        if (d == infinite()) continue;
        if (!row) threads.distance[v] = infinite();
        ++mine.reached;
        mine.farthest = max(mine.farthest, d);
        if (d > 0.0) mine.total.add(d), mine.inverse.add(1.0 / d);
      }
      mine = block_total(mine, warps, both);
      if (TEAM) {
        Sums *const parts = (Sums *)R.parts + threads.team * threads.blocks;
        if (threadIdx.x == 0) parts[blockIdx.x % threads.blocks] = mine;
        threads.wait();
        for (u32 b = 1; b < threads.blocks && me == 0; ++b) mine = both(mine, parts[b]);
      }
      if (me == 0) {
        R.reached[item] = mine.reached, R.farthest[item] = mine.farthest;
        R.total[item] = mine.total.value(), R.inverse[item] = mine.inverse.value();
      }
    }
    threads.wait();
  }
}

// Adds to every vertex's column the number of sources that reach it, Σ w(d) and Σ w(d)², source after source. Each
// product and each sum is rounded separately, as in the CPU engine.
template <class Offset>
__global__ void add_columns(const double *rows, i64 count, i64 n, i64 inverse, i64 shift, double *columns) {
  const double unit = ldexp(1.0, (int)shift);
  for (i64 v = signed_thread_number(); v < n; v += signed_thread_count()) {
    double reached = columns[3 * v], sum = columns[3 * v + 1], squares = columns[3 * v + 2];
#pragma unroll 8
    for (i64 r = 0; r < count; ++r) {
      const double d = rows[r * n + v];
      const bool apart = d > 0.0 && d < infinite();
      const double w = !apart ? 0.0 : inverse ? unit / d : ldexp(d, (int)shift);
      reached += d < infinite() ? 1.0 : 0.0;
      sum = __dadd_rn(sum, w), squares = __dadd_rn(squares, __dmul_rn(w, w));
    }
    columns[3 * v] = reached, columns[3 * v + 1] = sum, columns[3 * v + 2] = squares;
  }
}

}  // namespace hopwave::many
