// Betweenness along weights, one block or a team of blocks per source, many sources at a time.
//
//   tight   an arc u -> v with d(u) + w == d(v), exactly: shortest paths use only these arcs, as in NetworkX
//   wave    maximum number of tight arcs on a path from the source to a vertex
//   h(v)    the mean number of arcs on the shortest paths to v: Σ δ must equal Σ (h(t) - 1) over the targets
//
// The search first computes all distances (common/shortest.cuh), then the tight arcs. In the forward pass, a vertex
// adds up σ over its tight in-arcs once all are done; in the backward pass, the shares of its tight out-arcs. One group
// of lanes adds each row in order: bitwise identical results in every run. A vertex whose tight in-arcs are never all
// done is on or behind a cycle of arcs that add nothing to a distance; its shortest paths cannot be counted.
//
//   X        σ in the forward pass, share in the backward pass
//   tight    two bitmaps of `words` words: the tight arcs in the order of in-arcs, and in the order of out-arcs
//   status   1: σ · h exceeds float64, repeat the source with Extended numbers; 2: a cycle exists
//   cycle    the smallest u * n + v of all arcs u -> v between vertices that wait for each other
#pragma once
#include "betweenness/brandes.cuh"
#include "common/shortest.cuh"

namespace hopwave::betweenness {

enum Status { COUNTED, TOO_MANY, CYCLE };

struct Weighted {
  const int *sources, *which;  // which: indices of the rows of scores to compute, one source each; null: all
  u32 *ticket;                 // number of sources claimed so far
  const double *targets;       // weight of a path to each vertex; null: 1
  const Span *spans;           // per source; null: all vertices
  const i64 *places;           // per source: the first and the end of its component's scores; null: all scores
  double *rows;                // per source, zero before: one score per vertex or per arc (row_of)
  double *due;                 // per source: Σ (h - 1) or Σ h over the targets reached, and their number
  int *status;                 // per source
  u64 *cycle;                  // per source, all bits set before
  void *X;                     // per team: S.room numbers
  double *hops;                // per team: h of S.room vertices
  u32 *tight;                  // per team: 2 * words, zero before and after each source
  double *parts;               // per block: its part of due
  i64 count, width, words;     // number of sources; scores per row; words per bitmap of arcs
  i64 endpoints, edges, directed;
};

// Sums over the targets, with the operation that adds the threads' parts.
struct Due {
  double sum, targets;
  __device__ __forceinline__ Due from(int step) const {
    return {__shfl_xor_sync(ALL_LANES, sum, step), __shfl_xor_sync(ALL_LANES, targets, step)};
  }
};

__device__ __forceinline__ double product(double sigma, double x) { return sigma * x; }
__device__ __forceinline__ double ratio(double x, double y) { return x / y; }
__device__ __forceinline__ bool too_large(double x) { return !(x <= 0x1p1000); }

__device__ inline Extended product(Extended sigma, double x) {
  int e = 0;
  const double m = frexp(sigma.m * x, &e);
  return {m, sigma.e + e};
}
__device__ inline double ratio(Extended x, Extended y) { return x.m / y.m * two_to(x.e - y.e); }
__device__ __forceinline__ bool too_large(Extended) { return false; }

template <class Offset, class Number, bool TEAM>
struct WeightedThreads : PathThreads<Offset, TEAM> {
  using Base = PathThreads<Offset, TEAM>;
  using Base::board, Base::distance, Base::each_arc, Base::each_row, Base::everyone, Base::G, Base::me, Base::wait;
  const Weighted &R;
  Number *X;
  double *hops;
  u32 *tight_in, *tight_out;
  int *const begins, *const queue, *unready;  // start of each wave; all waves; tight in-arcs not yet done
  Span span;

  __device__ __forceinline__ WeightedThreads(const WeightedGraph<Offset> &G, const PathState &S, PathBoard *own,
                                             const Weighted &R)
      : Base(G, S, own), R(R), begins(this->list(0)), queue(this->list(2)) {}

  __device__ __forceinline__ void begin_with(Span its) {
    span = its;
    Base::begin_with(span.begin);
    const i64 shift = this->team * this->S.room - span.begin;
    X = (Number *)R.X + shift, hops = R.hops + shift, unready = this->list(3) - span.begin;
    tight_in = R.tight + (this->team * 2 * R.words - ((i64)G.in_offsets[span.begin] >> 5));
    tight_out = R.tight + ((this->team * 2 + 1) * R.words - ((i64)G.offsets[span.begin] >> 5));
  }

  template <class Arc>
  __device__ __forceinline__ void each_marked(const u32 *bits, const Offset *offsets, int v, int sub, int width,
                                              Arc arc) const {
    const Offset begin = offsets[v], stop = offsets[v + 1];
    for (Offset first = (begin & ~31) + 32 * sub; first < stop; first += 32 * width) {
      u32 word = bits[first >> 5];
      if (first < begin) word &= ~0u << (begin & 31);
      if (stop - first < 32) word &= (1u << (stop & 31)) - 1;
      for (; word; word &= word - 1) arc(first + __ffs(word) - 1);
    }
  }

  __device__ __forceinline__ void mark(u32 *bits, Offset j) const { atomicOr(bits + (j >> 5), 1u << (j & 31)); }

  __device__ __forceinline__ void clear_marks(u32 *bits, const Offset *offsets) const {
    const i64 stop = (i64)offsets[span.end] + 31 >> 5;
    for (i64 w = ((i64)offsets[span.begin] >> 5) + me; w < stop; w += everyone) bits[w] = 0;
  }

  __device__ __forceinline__ void mark_tight() {
    u32 reached = 0;
    each_row(G.in_offsets, nullptr, span.begin, span.end, [&](int v, int sub, int width, u32 mates) {
      const double here = distance[v];
      if (here == infinite()) return;
      int tight = 0;
      each_arc(G.in_offsets, G.in_neighbours, G.in_lengths, v, sub, width,
               [&](Offset j, int x, double length, double d) {
                 if (x == v) return;  // no shortest path uses a loop
                 if (d + length == here) mark(tight_in, j), ++tight;
                 if (!R.directed && here + length == d) mark(tight_out, j);
               });
      for (int step = width / 2; step; step /= 2) tight += __shfl_xor_sync(mates, tight, step);
      if (sub == 0) unready[v] = tight, ++reached;
    });
    if (R.directed) {
      each_row(G.offsets, nullptr, span.begin, span.end, [&](int v, int sub, int width, u32) {
        const double here = distance[v];
        if (here == infinite()) return;
        each_arc(G.offsets, G.neighbours, G.lengths, v, sub, width, [&](Offset j, int x, double length, double d) {
          if (here + length == d && x != v) mark(tight_out, j);
        });
      });
    }
    reached = warp_sum(reached);
    if (lane() == 0 && reached) atomicAdd(&board->reached, (int)reached);
    wait();
  }

  // Marks the tight out-arcs of v as done; a head whose tight in-arcs are all done joins the next wave.
  __device__ __forceinline__ void pass_on(int v, int sub, int width, int end, int *tail) const {
    each_marked(tight_out, G.offsets, v, sub, width, [&](Offset j) {
      const int x = G.neighbours[j];
      if (atomicSub(unready + x, 1) == 1) queue[end + this->place(tail)] = x;
    });
  }

  __device__ __forceinline__ int wave(int number, int begin, int end) {
    int *const tail = &board->found[number % 3];
    if (me == 0) board->found[(number + 1) % 3] = 0;
    if (R.directed) {  // lengths of out-rows differ from those of in-rows
      each_row(G.offsets, queue, begin, end,
               [&](int v, int sub, int width, u32) { pass_on(v, sub, width, end, tail); });
    }
    each_row(G.in_offsets, queue, begin, end, [&](int v, int sub, int width, u32 mates) {
      if (!R.directed) pass_on(v, sub, width, end, tail);
      Number sigma, arcs;  // path count, and total number of arcs on these paths
      clear(sigma), clear(arcs);
      each_marked(tight_in, G.in_offsets, v, sub, width, [&](Offset j) {
        const int u = G.in_neighbours[j];
        const Number more = X[u];
        sigma = add(sigma, more), arcs = add(arcs, product(more, hops[u] + 1.0));
      });
      sigma = group_sum(sigma, width, mates), arcs = group_sum(arcs, width, mates);
      if (sub == 0 && number) {
        X[v] = sigma, hops[v] = ratio(arcs, sigma);
        if (too_large(arcs)) atomicOr(&board->overflowed, 1);
      }
    });
    wait();
    return *tail;
  }

  __device__ __forceinline__ Status forward(int source, int &last) {
    if (unready[source]) return CYCLE;
    int begin = 0, end = 1;
    last = 0;
    while (const int found = wave(last, begin, end)) {
      begin = end, end += found, ++last;
      if (me == 0) begins[last + 1] = end;
    }
    if (board->overflowed) return TOO_MANY;
    return end < board->reached ? CYCLE : COUNTED;
  }

  // Backward pass: writes δ of every vertex, or the dependency of every arc, to `row`.
  __device__ __forceinline__ void backward(int last, double *row) {
    for (int number = last; number >= (R.edges ? 0 : 1); --number) {
      each_row(G.offsets, queue, begins[number], begins[number + 1], [&](int u, int sub, int width, u32 mates) {
        const Number sigma = X[u];
        Number sum;
        clear(sum);
        each_marked(tight_out, G.offsets, u, sub, width, [&](Offset j) {
          const Number share = X[G.neighbours[j]];
          sum = add(sum, share);
          if (R.edges) row[j] = times(sigma, share);
        });
        sum = group_sum(sum, width, mates);
        if (sub == 0) {
          const double t = weight(R.targets, u), delta = times(sigma, sum);
          X[u] = share_of(t + delta, sigma);
          if (number && !R.edges) row[u] = R.endpoints ? delta + t : delta;
        }
      });
      wait();
    }
  }

  __device__ __forceinline__ void find_cycle(u64 *cycle) {
    each_row(G.in_offsets, nullptr, span.begin, span.end, [&](int v, int sub, int width, u32) {
      const double here = distance[v];
      if (here == infinite() || unready[v] == 0) return;
      each_marked(tight_in, G.in_offsets, v, sub, width, [&](Offset j) {
        const int u = G.in_neighbours[j];
        if (unready[u] && distance[u] == here) atomicMin(cycle, (u64)u * (u64)G.n + (u64)v);
      });
    });
    wait();
  }

  // Clears distances and marks. Returns the sums for the certificate in thread 0 of the team.
  __device__ __forceinline__ Due finish(int source, Due *warps) {
    Due mine{0.0, 0.0};
    const double inner = R.edges ? 0.0 : 1.0;  // a path of h arcs has h - 1 inner vertices
    for (i64 v = span.begin + me; v < span.end; v += everyone) {
      if (distance[v] == infinite()) continue;
      distance[v] = infinite();
      if (v == source) continue;
      const double t = weight(R.targets, (int)v);
      mine.sum += (hops[v] - inner) * t, mine.targets += t;
    }
    clear_marks(tight_in, G.in_offsets), clear_marks(tight_out, G.offsets);
    const auto both = [](Due x, Due y) { return Due{x.sum + y.sum, x.targets + y.targets}; };
    return this->total(mine, warps, R.parts, both);
  }
};

// TEAM: launched cooperatively.
template <class Offset, class Number, bool TEAM>
__global__ void __launch_bounds__(1024) sources_weighted(WeightedGraph<Offset> G, PathState S, Weighted R) {
  __shared__ PathBoard own;
  __shared__ Due warps[WARP];
  WeightedThreads<Offset, Number, TEAM> threads(G, S, &own, R);
  PathBoard *const board = threads.board;
  const int me = threads.me;
  for (;;) {
    if (me == 0) {
      board->item = atomicAdd(R.ticket, 1);
      board->found[0] = board->found[1] = board->found[2] = 0;
      board->reached = board->overflowed = 0;
    }
    threads.wait();
    const u32 item = board->item;
    if (item >= R.count) return;
    const i64 number = R.which ? R.which[item] : item;
    const int source = R.sources[number];
    double *const row = row_of(R.rows, number, R.width, R.places);
    threads.begin_with(span_of(R.spans, number, G.n));
    threads.search(source, [] { return false; });
    if (me == 0) {
      threads.queue[0] = source;
      threads.begins[0] = 0, threads.begins[1] = 1;
      set_one(threads.X[source]);
      threads.hops[source] = 0.0;
    }
    threads.mark_tight();
    int last = 0;
    const Status status = threads.forward(source, last);
    if (status == COUNTED) threads.backward(last, row);
    if (status == CYCLE) threads.find_cycle(R.cycle + number);
    const Due due = threads.finish(source, warps);
    if (me == 0) {
      R.status[number] = status;
      R.due[2 * number] = due.sum, R.due[2 * number + 1] = due.targets;
      if (R.endpoints && status == COUNTED) row[source] = due.targets;
    }
    threads.wait();
  }
}

}  // namespace hopwave::betweenness
