// Distances along weights from many sources, one block or a team of blocks per source (common/shortest.cuh), and sums
// over each source's targets. Sums carry their rounding errors (Knuth's exact sum of two floats), as on the CPU.
#pragma once
#include "common/shortest.cuh"

namespace hopwave::many {

struct Lengths {
  const int *sources;
  const Span *spans;  // per source; null: all vertices
  u32 *ticket;        // number of sources claimed so far
  double *rows;       // per source: n distances, infinite before; null if only sums are wanted
  i64 *reached;       // per source; null if no sums are wanted
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
    const Span span = span_of(R.spans, item, G.n);
    threads.begin_with(span.begin);
    if (row) threads.distance = row;
    threads.search(R.sources[item], [] { return false; });
    if (R.reached) {
      Sums mine{{0.0, 0.0}, {0.0, 0.0}, 0.0, 0};
      for (i64 v = span.begin + me; v < span.end; v += threads.everyone) {
        const double d = threads.distance[v];
        if (d == infinite()) continue;
        if (!row) threads.distance[v] = infinite();
        ++mine.reached;
        mine.farthest = max(mine.farthest, d);
        if (d > 0.0) mine.total.add(d), mine.inverse.add(1.0 / d);
      }
      mine = threads.total(mine, warps, R.parts, both);
      if (me == 0) {
        R.reached[item] = mine.reached, R.farthest[item] = mine.farthest;
        R.total[item] = mine.total.value(), R.inverse[item] = mine.inverse.value();
      }
    }
    threads.wait();
  }
}

// Adds to every vertex's column the number of sources that reach it, Σ w(d) and Σ w(d)², rounded as in the CPU engine.
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

// ---- Distances along weights to some targets, and sums of the values at the vertices that each source reaches.

// Claims sources in turn. After a search, after(item) must reset every distance to infinity; over() may end the search.
template <class Threads, class Over, class After>
__device__ __forceinline__ void each_source(Threads &threads, const int *sources, u32 *ticket, i64 count, Over over,
                                            After after) {
  for (;;) {
    if (threads.me == 0) threads.board->item = atomicAdd(ticket, 1);
    threads.wait();
    const u32 item = threads.board->item;
    if (item >= count) return;
    threads.search(sources[item], over);
    after(item);
    threads.wait();
  }
}

struct Chosen {
  const int *sources, *targets;
  u32 *ticket;   // number of sources claimed so far
  double *rows;  // per source: distances to the targets
  i64 count, width;
};

// A search ends when all targets are within the bound; `settled`, the first target beyond it, advances by warps.
template <class Offset, bool TEAM>
__global__ void __launch_bounds__(1024) search_targets(WeightedGraph<Offset> G, PathState S, Chosen R) {
  __shared__ PathBoard own;
  PathThreads<Offset, TEAM> threads(G, S, &own);
  const int me = threads.me;
  i64 settled = 0;
  const auto over = [&] {
    for (u32 all = ALL_LANES; me < WARP && all == ALL_LANES && settled < R.width;) {
      const i64 i = settled + me;
      all = __ballot_sync(ALL_LANES, i >= R.width || threads.distance[R.targets[i]] <= threads.bound);
      settled += all == ALL_LANES ? WARP : __ffs(~all) - 1;
    }
    if (me == 0) threads.board->reached = settled >= R.width;
    threads.wait();
    return threads.board->reached != 0;
  };
  each_source(threads, R.sources, R.ticket, R.count, over, [&](u32 item) {
    settled = 0;
    double *const row = R.rows + item * R.width;
    for (i64 t = me; t < R.width; t += threads.everyone) row[t] = threads.distance[R.targets[t]];
    threads.wait();
    for (i64 v = me; v < G.n; v += threads.everyone)
      if (threads.distance[v] < infinite()) threads.distance[v] = infinite();
  });
}

constexpr int SUMS_AT_ONCE = 4;  // sums that a thread stores; more sums need more passes over the vertices

struct Values {
  const int *sources;
  u32 *ticket;
  const double *columns, *limits;  // n values per column; limits ascend
  double *sums;                    // per source, column and limit
  void *parts;                     // per block: its part of some sums
  double scale, least;             // parameters of the decay
  i64 count, width, limit_count, decay;
};

struct SomeSums {
  ExactSum sum[SUMS_AT_ONCE];
  __device__ __forceinline__ SomeSums from(int step) const {
    SomeSums there;
    for (int q = 0; q < SUMS_AT_ONCE; ++q) there.sum[q] = sum[q].from(step);
    return there;
  }
};

__device__ __forceinline__ SomeSums joined(SomeSums x, const SomeSums &y) {
  for (int q = 0; q < SUMS_AT_ONCE; ++q) x.sum[q].add(y.sum[q]);
  return x;
}

// f(d) by kind, as defined in planning/many_sources.py.
__device__ __forceinline__ double faded(double d, const Values &R) {
  if (R.decay == 0) return 1.0;
  if (R.decay == 1) return exp(-d / R.scale);
  if (R.decay == 2) return exp(-0.5 * (d / R.scale) * (d / R.scale));
  return pow(max(d, R.least), -R.scale);
}

template <class Offset, bool TEAM>
__global__ void __launch_bounds__(1024) search_values(WeightedGraph<Offset> G, PathState S, Values R) {
  __shared__ PathBoard own;
  __shared__ SomeSums warps[WARP];
  PathThreads<Offset, TEAM> threads(G, S, &own);
  const int me = threads.me;
  const i64 outputs = R.width * R.limit_count;
  each_source(
      threads, R.sources, R.ticket, R.count, [] { return false; },
      [&](u32 item) {
        for (i64 first = 0; first < outputs; first += SUMS_AT_ONCE) {
          const double *column[SUMS_AT_ONCE];
          double limit[SUMS_AT_ONCE];
          for (int q = 0; q < SUMS_AT_ONCE; ++q) {
            const i64 output = min(first + q, outputs - 1);
            column[q] = R.columns + output / R.limit_count * G.n;
            limit[q] = first + q < outputs ? R.limits[output % R.limit_count] : -1.0;
          }
          const bool last = first + SUMS_AT_ONCE >= outputs;
          SomeSums mine{};
          for (i64 v = me; v < G.n; v += threads.everyone) {
            const double d = threads.distance[v];
            if (d == infinite()) continue;
            if (last) threads.distance[v] = infinite();
            const double share = faded(d, R);
            for (int q = 0; q < SUMS_AT_ONCE; ++q)
              if (d <= limit[q]) mine.sum[q].add(__dmul_rn(column[q][v], share));
          }
          mine = threads.total(mine, warps, R.parts, [](SomeSums x, const SomeSums &y) { return joined(x, y); });
          for (int q = 0; q < SUMS_AT_ONCE && me == 0 && first + q < outputs; ++q)
            R.sums[item * outputs + first + q] = mine.sum[q].value();
        }
      });
}

}  // namespace hopwave::many
