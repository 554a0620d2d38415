// Betweenness by the core of a graph, one warp or block per core vertex. engines/cpu/betweenness/core_rows.py explains
// method, names and arithmetic. A row belongs to one core vertex e: all pairs whose paths enter the core at e.
//
//   forward    distances from e, then path counts wave by wave: a vertex's wave follows its predecessors' waves
//   demand     T: demand of these pairs from e to each core vertex
//   backward   the waves in reverse: scores of core vertices, flows through core arcs
//
// Rows add to common sums by atomics. A sum is two integers: `high` counts units of 2^-60 of the largest possible sum,
// `low` counts 2^-30 of such a unit. The order does not matter: results are bitwise identical in every run.
//
//   T          marks of the search; then the number of arcs a vertex waits for; then the demand; backward: (T + δ) / σ
//   begins     begins[0]: number of waves; begins[k]: end of wave k in the queue
#pragma once
#include "common/threads.cuh"

namespace hopwave::betweenness {

constexpr int FAR = 0x7fffffff;
constexpr double TOO_MANY_PATHS = 0x1p1000;
constexpr int ROW_WARPS = 4;  // rows per block of a kernel with one warp per row

struct Sum {
  u64 high, low;
};

__device__ __forceinline__ void add_to(Sum *sum, double x, double scale) {
  const double units = x * scale, whole = floor(units);
  atomicAdd(&sum->high, (u64)(i64)whole);
  const u64 rest = (u64)rint((units - whole) * 0x1p30);
  if (rest) atomicAdd(&sum->low, rest);
}

struct Core {
  const int *indptr;
  const int2 *arcs;  // core arcs: head and length
  const double *counts;
  const int *component, *first_vertex, *first_chain;
  const int *at, *chains;  // chains p that begin at each vertex
  const int *end, *begin, *size, *length;
  const int *twice;
  const double *sent, *taken, *own_sent, *own_taken;
  const int *table, *table_begin, *table_shift;
  const double *demand_out, *demand_in;
  const int *needed, *place;  // vertices with a row in this batch, members first; index of each vertex's row
  int *d;                     // per row and core vertex
  double *s, *T;
  int *queue, *begins;                    // begins: one more entry per row
  Sum *V, *flow, *first, *single, *into;  // sums
  Sum *inner;       // per block and core vertex: the part of T that continues to inner vertices of chains
  double *between;  // per chain: distance and path count between its endpoints
  int *status;      // 1: some path count exceeds float64
  i64 vertices, rows, members;
  double pairs, targets, origins;  // units of a sum per 1: for demand of pairs, of targets only, of sources only
  i64 delta;                       // width of a distance bucket
};

__device__ __forceinline__ i64 row_of_warp() { return (i64)blockIdx.x * ROW_WARPS + block_warp(); }

// Distances from e. The nearest bucket is relaxed until no distance changes; vertices beyond it wait in a list.
__device__ inline void find_distances(const Core &C, int e, int low, int high, int *d, int *near, int *next, int *far,
                                      int *marks, int *tails) {
  constexpr int NEAR = 1, WAITS = 2;  // marks: a vertex is in each list at most once
  for (int v = low + lane(); v < high; v += WARP) d[v] = FAR, marks[v] = 0;
  __syncwarp();
  if (lane() == 0) d[e] = 0, near[0] = e, tails[0] = tails[1] = 0;
  __syncwarp();
  int count = 1, waiting = 0, limit = (int)C.delta;
  for (;;) {
    while (count) {
      for (int first = 0; first < count; first += WARP) {
        const bool mine = first + lane() < count;
        const int v = mine ? near[first + lane()] : e;
        if (mine) marks[v] &= ~NEAR;
        __syncwarp();
        const int here = d[v];
        __syncwarp();  // a thread that lowers d[v] from here on lists v again
        if (mine)
          for (int j = C.indptr[v]; j < C.indptr[v + 1]; ++j) {
            const int2 arc = C.arcs[j];
            const int w = arc.x, there = here + arc.y;
            if (there >= d[w] || there >= atomicMin(d + w, there)) continue;
            const int mark = there < limit ? NEAR : WAITS;
            if (atomicOr(marks + w, mark) & mark) continue;
            (mark == NEAR ? next : far)[atomicAdd(tails + (mark == NEAR ? 0 : 1), 1)] = w;
          }
        __syncwarp();
      }
      count = tails[0];
      __syncwarp();
      if (lane() == 0) tails[0] = 0;
      int *const other = near;
      near = next, next = other;
      __syncwarp();
    }
    waiting = tails[1];
    int least = FAR;
    for (int i = lane(); i < waiting; i += WARP) {
      const int there = d[far[i]];
      if (there >= limit) least = min(least, there);
    }
    least = -warp_max(-least);
    if (least == FAR) return;
    const int old = limit;
    limit = least - least % (int)C.delta + (int)C.delta;
    __syncwarp();
    if (lane() == 0) tails[1] = 0;
    __syncwarp();
    for (int first = 0; first < waiting; first += WARP) {
      const bool mine = first + lane() < waiting;
      const int v = mine ? far[first + lane()] : e, there = d[v];
      __syncwarp();  // all lanes have read: the list is compacted in place
      if (mine) {
        if (there >= limit) {
          far[atomicAdd(tails + 1, 1)] = v;
        } else if (there >= old) {
          marks[v] = NEAR, near[atomicAdd(tails, 1)] = v;
        } else {
          marks[v] = 0;
        }
      }
      __syncwarp();
    }
    count = tails[0];
    __syncwarp();
    if (lane() == 0) tails[0] = 0;
    __syncwarp();
  }
}

template <class Offset>
__global__ void __launch_bounds__(ROW_WARPS *WARP) core_forward(Core C) {
  __shared__ int all_tails[ROW_WARPS][2];
  int *const tails = all_tails[block_warp()];
  const i64 row = row_of_warp();
  if (row >= C.rows) return;
  const int e = C.needed[row], component = C.component[e];
  const int low = C.first_vertex[component], high = C.first_vertex[component + 1];
  int *const d = C.d + row * C.vertices, *const queue = C.queue + row * C.vertices;
  int *const begins = C.begins + row * (C.vertices + 1), *const unready = (int *)(C.T + row * C.vertices);
  double *const s = C.s + row * C.vertices;
  // The lists of the search use the memory of path counts and of the queue, which are written later.
  find_distances(C, e, low, high, d, (int *)s, (int *)s + C.vertices, queue, unready, tails);
  __syncwarp();
  for (int v = low + lane(); v < high; v += WARP) {
    int before = 0;
    for (int j = C.indptr[v]; j < C.indptr[v + 1]; ++j) before += d[C.arcs[j].x] + C.arcs[j].y == d[v];
    unready[v] = before;
  }
  if (lane() == 0) queue[0] = e;
  int begin = 0, end = 1, wave = 0;
  bool too_many = false;
  while (begin < end) {
    ++wave;
    if (lane() == 0) tails[0] = end, begins[wave] = end;
    __syncwarp();
    for (int i = begin + lane(); i < end; i += WARP) {
      const int v = queue[i], here = d[v];
      double paths = v == e ? 1.0 : 0.0;
      for (int j = C.indptr[v]; j < C.indptr[v + 1]; ++j) {
        const int2 arc = C.arcs[j];
        const int w = arc.x, there = d[w];
        if (there + arc.y == here) {
          paths += s[w] * C.counts[j];
        } else if (here + arc.y == there) {
          if (atomicSub(unready + w, 1) == 1) queue[atomicAdd(tails, 1)] = w;
        }
      }
      s[v] = paths;
      too_many |= paths > TOO_MANY_PATHS;
    }
    __syncwarp();
    begin = end, end = tails[0];
    __syncwarp();
  }
  if (lane() == 0) begins[0] = wave;
  if (too_many) *C.status = 1;
}

// Number of inner vertices of p at less than h / 2 from its beginning.
__device__ __forceinline__ int nearer(const Core &C, int p, int h) {
  int found = C.table[C.table_begin[p] + (h >> C.table_shift[p])];
  const int *const twice = C.twice + C.begin[p];
  while (twice[found] < h) ++found;
  return found;
}

// 2 × the number of inner vertices of p whose shortest paths to z use p's beginning, plus 1 if those of one
// more vertex use both ends.
__device__ __forceinline__ int code_of(const Core &C, int p, int z, const int *d, const int *there) {
  const int h = C.length[p] + there[z] - d[z], found = nearer(C, p, h);
  return 2 * found + (C.twice[C.begin[p] + found] == h);
}

// The shortest paths of one inner source to an endpoint of another chain: count, share through e, length.
struct Route {
  double paths, share;
  int length;
};

__device__ __forceinline__ Route route_to(int z, int i, int code, int nearby, int farther, const int *d,
                                          const double *s, const int *there_d, const double *there_s) {
  if (2 * i < code - 1) return {s[z], 1.0, nearby + d[z]};
  if (2 * i + 1 == code) {
    const double paths = s[z] + there_s[z];
    return {paths, s[z] / paths, nearby + d[z]};
  }
  return {there_s[z], 0.0, farther + there_d[z]};
}

// The pairs of this row whose targets are inner vertices of chain c. Returns the part of their demand that passes e.
__device__ inline double to_chain(const Core &C, int e, int c, const int *d, const double *s, Sum *inner) {
  const int q = 2 * c, x = C.end[q], y = C.end[q + 1], length = C.length[q];
  const int begin_x = C.begin[q], begin_y = C.begin[q + 1] + C.size[q];
  const double whole = C.taken[begin_x + C.size[q]];
  double demand = 0.0, passes = 0.0;
  for (int slot = C.at[e]; slot < C.at[e + 1]; ++slot) {
    const int p = C.chains[slot];
    if (p >> 1 == c) continue;
    const i64 there = C.place[C.end[p ^ 1]] * C.vertices;
    const int *const there_d = C.d + there;
    const double *const there_s = C.s + there;
    const int code_x = code_of(C, p, x, d, there_d), code_y = code_of(C, p, y, d, there_d);
    const int least = min(code_x, code_y) >> 1, most = (max(code_x, code_y) + 1) >> 1;
    demand += C.sent[C.begin[p] + least];
    add_to(C.first + C.begin[p] + least, whole, C.targets);
    for (int i = least; i < most; ++i) {  // these vertices have different routes to x and y
      const int at = C.begin[p] + i, nearby = C.twice[at] >> 1, farther = C.length[p] - nearby;
      const Route by_x = route_to(x, i, code_x, nearby, farther, d, s, there_d, there_s);
      const Route by_y = route_to(y, i, code_y, nearby, farther, d, s, there_d, there_s);
      const int h = length + by_y.length - by_x.length, found = nearer(C, q, h), from_x = begin_x + found;
      const double alone = C.own_sent[at];
      int from_y = begin_y - found;
      double sent_x, sent_y;
      if (C.twice[from_x] == h) {
        --from_y;
        const double both = 1.0 / (by_x.paths + by_y.paths), middle = C.own_taken[from_x];
        const double tie_x = by_x.share * by_x.paths * both, tie_y = by_y.share * by_y.paths * both;
        sent_x = C.taken[from_x] * by_x.share + middle * tie_x;
        sent_y = C.taken[from_y] * by_y.share + middle * tie_y;
        add_to(C.into + from_x + 1, alone * tie_x, C.origins);
        add_to(C.into + from_y + 1, alone * tie_y, C.origins);
        add_to(C.into + from_x, alone * (by_x.share - tie_x), C.origins);
        add_to(C.into + from_y, alone * (by_y.share - tie_y), C.origins);
      } else {
        sent_x = C.taken[from_x] * by_x.share, sent_y = C.taken[from_y] * by_y.share;
        add_to(C.into + from_x, alone * by_x.share, C.origins);
        add_to(C.into + from_y, alone * by_y.share, C.origins);
      }
      add_to(inner + x, alone * sent_x, C.pairs);
      add_to(inner + y, alone * sent_y, C.pairs);
      add_to(C.single + at, sent_x + sent_y, C.targets);
      passes += alone * (sent_x + sent_y);
    }
  }
  passes += demand * whole;
  demand += C.demand_out[e];
  const int h = length + d[y] - d[x], found = nearer(C, q, h), from_x = begin_x + found;
  int from_y = begin_y - found;
  double share_x = 1.0, middle_x = 0.0, middle_y = 0.0;
  if (C.twice[from_x] == h) {
    --from_y;
    share_x = s[x] / (s[x] + s[y]);
    middle_x = C.own_taken[from_x] * share_x, middle_y = C.own_taken[from_x] * (1.0 - share_x);
    add_to(C.into + from_x, demand * (1.0 - share_x), C.origins);
    add_to(C.into + from_x + 1, demand * share_x, C.origins);
    add_to(C.into + from_y, demand * share_x, C.origins);
    add_to(C.into + from_y + 1, demand * (1.0 - share_x), C.origins);
  } else {
    add_to(C.into + from_x, demand, C.origins);
    add_to(C.into + from_y, demand, C.origins);
  }
  add_to(inner + x, demand * (C.taken[from_x] + middle_x), C.pairs);
  add_to(inner + y, demand * (C.taken[from_y] + middle_y), C.pairs);
  return passes;
}

// Pairs of inner vertices of p whose paths leave p at e and return at its other end. Returns their demand through e.
__device__ inline double go_around(const Core &C, int p, const int *d, const double *s, Sum *inner) {
  const int begin = C.begin[p], size = C.size[p], f = C.end[p ^ 1], other = C.begin[p ^ 1];
  const int *const twice = C.twice + begin;
  const double share = s[f] / (1.0 + s[f]);
  double passes = 0.0;
  if (!(p & 1)) C.between[p] = d[f], C.between[p + 1] = s[f];
  for (int i = 0, low = 0; i < size; ++i) {
    const i64 farther = (i64)twice[i] + C.length[p] + d[f];
    while (low < size && twice[low] < farther) ++low;
    const int rest = other + size - low;
    const double alone = C.own_sent[begin + i];
    double amount;
    if (low < size && twice[low] == farther) {  // to this vertex, both directions are equally long
      amount = C.own_taken[begin + low] * share + C.taken[rest - 1];
      add_to(C.into + rest - 1, alone * (1.0 - share), C.origins);
      add_to(C.into + rest, alone * share, C.origins);
    } else {
      amount = C.taken[rest];
      add_to(C.into + rest, alone, C.origins);
    }
    add_to(C.single + begin + i, amount, C.targets);
    add_to(inner + f, alone * amount, C.pairs);
    passes += alone * amount;
  }
  return passes;
}

template <class Offset>
__global__ void __launch_bounds__(BLOCK) core_demand(Core C) {
  Sum *const inner = C.inner + (i64)blockIdx.x * C.vertices;
  for (i64 row = blockIdx.x; row < C.members; row += gridDim.x) {
    const int e = C.needed[row], component = C.component[e];
    const int low = C.first_vertex[component], high = C.first_vertex[component + 1];
    const int *const d = C.d + row * C.vertices;
    const double *const s = C.s + row * C.vertices;
    double *const T = C.T + row * C.vertices, demand = C.demand_out[e];
    double passes = 0.0;
    for (int z = low + threadIdx.x; z < high; z += blockDim.x) inner[z] = {0, 0};
    __syncthreads();
    for (int slot = C.at[e] + threadIdx.x; slot < C.at[e + 1]; slot += blockDim.x)
      passes += go_around(C, C.chains[slot], d, s, inner);
    for (int c = C.first_chain[component] + threadIdx.x; c < C.first_chain[component + 1]; c += blockDim.x)
      passes += to_chain(C, e, c, d, s, inner);
    __syncthreads();
    for (int z = low + threadIdx.x; z < high; z += blockDim.x) {
      const double amount = C.demand_in[z];
      double through = 0.0, leave = 0.0;  // demand of inner vertices behind z; demand of z from inner vertices
      for (int slot = C.at[e]; slot < C.at[e + 1]; ++slot) {
        const int p = C.chains[slot], begin = C.begin[p];
        const i64 there = C.place[C.end[p ^ 1]] * C.vertices;
        const int h = C.length[p] + C.d[there + z] - d[z], at = begin + nearer(C, p, h);
        leave += C.sent[at];
        if (C.twice[at] == h) {
          const double share = s[z] / (s[z] + C.s[there + z]);
          leave += C.own_sent[at] * share;
          add_to(C.first + at, amount * (1.0 - share), C.targets);
          add_to(C.first + at + 1, amount * share, C.targets);
        } else {
          add_to(C.first + at, amount, C.targets);
        }
      }
      if (z != e) {
        const Sum sum = inner[z];
        through = ((double)(i64)sum.high + (double)sum.low * 0x1p-30) / C.pairs;
        add_to(C.V + z, through, C.pairs);
        passes += leave * amount;
      }
      T[z] = through + (demand + leave) * amount;
    }
    passes = warp_sum(passes);
    if (lane() == 0) add_to(C.V + e, passes, C.pairs);
    __syncthreads();
  }
}

template <class Offset>
__global__ void __launch_bounds__(ROW_WARPS *WARP) core_backward(Core C) {
  const i64 row = row_of_warp();
  if (row >= C.members) return;
  const int *const d = C.d + row * C.vertices, *const queue = C.queue + row * C.vertices;
  const int *const begins = C.begins + row * (C.vertices + 1);
  const double *const s = C.s + row * C.vertices;
  double *const T = C.T + row * C.vertices;
  for (int wave = begins[0]; wave; --wave) {
    for (int i = (wave > 1 ? begins[wave - 1] : 0) + lane(); i < begins[wave]; i += WARP) {
      const int v = queue[i], here = d[v];
      double share = 0.0;
      for (int j = C.indptr[v]; j < C.indptr[v + 1]; ++j) {
        const int2 arc = C.arcs[j];
        const int w = arc.x;
        if (here + arc.y != d[w]) continue;
        const double part = C.counts[j] * T[w];
        share += part;
        if (part > 0.0) add_to(C.flow + j, s[v] * part, C.pairs);
      }
      if (wave == 1) continue;
      const double delta = share * s[v];
      if (delta > 0.0) add_to(C.V + v, delta, C.pairs);
      T[v] = (T[v] + delta) / s[v];
    }
    __syncwarp();
  }
}

}  // namespace hopwave::betweenness
