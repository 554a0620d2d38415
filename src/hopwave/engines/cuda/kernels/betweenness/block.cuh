// Betweenness, one block per source, or a team of blocks if sources are few and levels wide. Hundreds of searches run
// at a time, each with its own state and its own barriers.
//
// In the forward pass, a vertex adds up σ over its in-neighbours one level up and claims its unvisited out-neighbours;
// in an undirected graph, one pass over its adjacency list does both. The queue stores all levels. One group of lanes
// adds up each list in order, so results are bitwise identical in every run.
//
//   codes    two bits per vertex: 0 unvisited, else 1 + depth % 3. Neighbours in an undirected graph are at most one
//            level apart. In the backward pass of a directed graph, this memory holds two bitmaps, of the next
//            deeper level and of the current one.
//   X        σ in the forward pass, share in the backward pass
//   shifts   a level whose counts might exceed 2^LARGEST is divided by 2^shift (common/counts.cuh)
#pragma once
#include "betweenness/brandes.cuh"

namespace hopwave::betweenness {

struct __align__(128) Board {
  double due, counted;
  u32 item, arrived;
  int found[3];   // vertices found in this level; in the previous level; a counter being cleared
  int high, low;  // largest and smallest exponent of a level
};

struct Alone {
  const int *sources, *which;    // which: indices of the rows of scores to compute, one source each; null: all
  u32 *ticket;                   // number of sources claimed so far
  const double *targets;         // weight of a path to each vertex; null: 1
  const i64 *places;             // per source: the first and the end of its component's scores; null: all scores
  double *rows;                  // per source, zero before: one score per vertex or per arc (row_of)
  double *due;                   // per source: Σ (d - 1) t or Σ d t over the vertices reached, and Σ t
  int *status;                   // per source: 1 if float64 cannot hold a level's counts
  int *queue, *begins, *shifts;  // per block or team: n, n + 2 and n + 2 entries
  void *X;                       // per block or team: n numbers
  u32 *codes;                    // per block or team, unless they are in shared memory
  Board *boards;                 // per team, zero before
  i64 count, width, words;       // number of sources; scores per row; words of codes
  i64 cutoff, endpoints, edges, directed, degree_bits;
  i64 group, team;  // lanes per vertex; blocks per source
};

__device__ __forceinline__ u32 code_of(int depth) { return 1 + (u32)depth % 3; }
__device__ __forceinline__ u32 code_at(const u32 *codes, int v) { return codes[v >> 4] >> ((v & 15) * 2) & 3; }
__device__ __forceinline__ bool bit_at(const u32 *bits, int v) { return bits[v >> 5] >> (v & 31) & 1; }

template <class Offset, class Number, bool PLAIN, bool TEAM>
struct Threads {
  using Scale = Scaling<Number>;
  const Graph<Offset> &G;
  const Alone &R;
  const bool directed, edges;  // edges: whether arcs are scored instead of vertices
  Board *const board;
  u32 *const codes;
  int *const queue, *const begins, *const shifts;
  Number *const X;
  const u32 blocks;
  const int me, everyone;   // index of this thread; number of threads
  const int width, sub;     // lanes per group; index of this lane in its group
  const int first, groups;  // index of this group; number of groups
  const u32 mates;          // mask of this group's lanes
  u32 arrivals;             // for barrier()

  __device__ __forceinline__ void wait() {
    if (TEAM) barrier(&board->arrived, arrivals, blocks, [] {}, [] {});
    else __syncthreads();
  }

  __device__ __forceinline__ void claim(int v, u32 code, int end, int *tail) {
    const u32 shift = (v & 15) * 2;
    if (atomicOr(&codes[v >> 4], code << shift) >> shift & 3) return;
    queue[end + (TEAM ? enqueue_at(tail) : atomicAdd(tail, 1))] = v;
  }

  __device__ __forceinline__ int forward_level(int depth, int begin, int end) {
    const u32 before = depth ? code_of(depth + 2) : 4, next = code_of(depth + 1);
    const bool further = depth < R.cutoff;
    int *const tail = &board->found[depth % 3];
    if (me == 0) board->found[(depth + 1) % 3] = 0;
    for (int i = begin + first; i < end; i += groups) {
      const int u = queue[i];
      Number sum;
      clear(sum);
      const Offset stop = G.in_offsets[u + 1];
      for (Offset j = G.in_offsets[u] + sub; j < stop; j += IN_FLIGHT * width) {
        int v[IN_FLIGHT];
        u32 code[IN_FLIGHT];
        Number x[IN_FLIGHT];
        for (int k = 0; k < IN_FLIGHT; ++k)
          v[k] = j + k * width < stop ? neighbour(G.in_neighbours, j + k * width) : -1;
        for (int k = 0; k < IN_FLIGHT; ++k) code[k] = v[k] < 0 ? 5 : code_at(codes, v[k]);
        for (int k = 0; k < IN_FLIGHT; ++k) {
          clear(x[k]);
          if (code[k] == before) x[k] = X[v[k]];
        }
        if (further && !directed) {
          for (int k = 0; k < IN_FLIGHT; ++k)
            if (code[k] == 0) claim(v[k], next, end, tail);
        }
        for (int k = 0; k < IN_FLIGHT; ++k) sum = add(sum, x[k]);
      }
      sum = group_sum(sum, width, mates);
      if (sub == 0 && depth) X[u] = sum;
      if (further && directed) {
        const Offset stop = G.offsets[u + 1];
        for (Offset j = G.offsets[u] + sub; j < stop; j += width) {
          const int v = neighbour(G.neighbours, j);
          if (code_at(codes, v) == 0) claim(v, next, end, tail);
        }
      }
    }
    wait();
    return *tail;
  }

  // Scales a level down if the next might overflow; log2 of its counts is below `bound`. False: float64 is too small.
  __device__ __forceinline__ bool rescale(int depth, int begin, int end, int &bound) {
    int shift = 0;
    bool fits = true;
    bound += (int)R.degree_bits;
    if (might_overflow(bound, (int)R.degree_bits)) {  // `bound` is rough: measure the counts
      if (me == 0) board->high = -100000, board->low = 100000;
      wait();
      for (int i = begin + me; i < end; i += everyone) {
        const int e = Scale::exponent(X[queue[i]]);
        atomicMax(&board->high, e), atomicMin(&board->low, e);
      }
      wait();
      bound = board->high + 1;
      if (might_overflow(bound, (int)R.degree_bits)) {
        const int target = scaled_bound((int)R.degree_bits);
        shift = bound - target, bound = target;
        fits = board->low - shift >= SMALLEST;
        for (int i = begin + me; i < end; i += everyone) X[queue[i]] = Scale::scaled(X[queue[i]], shift);
      }
      wait();
    }
    if (me == 0) shifts[depth] = shift;
    return fits;
  }

  // Computes σ and all levels; the last one is `depth`. Returns whether float64 can represent the counts.
  __device__ __forceinline__ bool forward(int &depth) {
    int begin = 0, end = 1, bound = 0;
    depth = 0;
    for (;;) {
      const int found = forward_level(depth, begin, end);
      if (Scale::NEEDED && depth && !rescale(depth, begin, end, bound)) return false;
      if (!found) return true;
      begin = end, end += found, ++depth;
      if (me == 0) begins[depth + 1] = end;
    }
  }

  // Backward pass: writes δ of every vertex, or the dependency of every arc, to `row`.
  __device__ __forceinline__ void backward(int deepest, double *row) {
    u32 *const bits[2] = {codes, codes + R.words / 2};
    if (directed) {
      wait();
      for (i64 w = me; w < R.words; w += everyone) codes[w] = 0;
    }
    wait();
    double my_due = 0.0, my_count = 0.0;  // without demand, sums of integers: their order does not matter
    for (int depth = deepest; depth >= (edges ? 0 : 1); --depth) {
      const int begin = begins[depth], end = begins[depth + 1];
      const int shift = Scale::NEEDED ? shifts[depth] : 0;
      const u32 after = code_of(depth + 1), *behind = bits[(depth + 1) & 1];
      if (directed && depth + 2 <= deepest) {
        for (int i = begins[depth + 2] + me; i < begins[depth + 3]; i += everyone)
          atomicAnd(&bits[depth & 1][queue[i] >> 5], ~(1u << (queue[i] & 31)));
        wait();
      }
      for (int i = begin + first; i < end; i += groups) {
        const int u = queue[i];
        const Number sigma = X[u];
        Number sum;
        clear(sum);
        const Offset stop = depth < deepest ? G.offsets[u + 1] : 0;
        for (Offset j = depth < deepest ? G.offsets[u] + sub : 0; j < stop; j += IN_FLIGHT * width) {
          int v[IN_FLIGHT];
          bool mine[IN_FLIGHT];
          Number x[IN_FLIGHT];
          for (int k = 0; k < IN_FLIGHT; ++k) v[k] = j + k * width < stop ? neighbour(G.neighbours, j + k * width) : -1;
          for (int k = 0; k < IN_FLIGHT; ++k)
            mine[k] = v[k] >= 0 && (directed ? bit_at(behind, v[k]) : code_at(codes, v[k]) == after);
          for (int k = 0; k < IN_FLIGHT; ++k) {
            clear(x[k]);
            if (mine[k]) x[k] = X[v[k]];
          }
          for (int k = 0; k < IN_FLIGHT; ++k) {
            sum = add(sum, x[k]);
            if (edges && mine[k]) row[j + k * width] = times(sigma, x[k]);
          }
        }
        sum = group_sum(sum, width, mates);
        if (sub == 0) {
          const double t = weight(R.targets, u), delta = times(sigma, sum);
          X[u] = Scale::scaled(share_of(t + delta, sigma), shift);
          if (depth) {
            if (!edges) row[u] = R.endpoints ? delta + t : delta;
            my_due += t * (edges ? depth : depth - 1), my_count += t;
          }
          if (directed) atomicOr(&bits[depth & 1][u >> 5], 1u << (u & 31));
        }
      }
      wait();
    }
    if (my_count > 0.0) atomicAdd(&board->due, my_due), atomicAdd(&board->counted, my_count);
    wait();
  }
};

// PLAIN: vertex scores of an undirected graph, with fewer registers. TEAM: launched cooperatively.
template <class Offset, class Number, bool SHARED, bool PLAIN, bool TEAM>
__global__ void __launch_bounds__(1024) sources_alone(Graph<Offset> G, Alone R) {
  extern __shared__ u32 shared_codes[];
  __shared__ Board own;
  const u32 blocks = TEAM ? (u32)R.team : 1, team = blockIdx.x / blocks;
  const int me = blockIdx.x % blocks * blockDim.x + threadIdx.x, everyone = blocks * blockDim.x;
  const int width = (int)R.group;
  Threads<Offset, Number, PLAIN, TEAM> threads{
      G,
      R,
      !PLAIN && R.directed,
      !PLAIN && R.edges,
      TEAM ? R.boards + team : &own,
      SHARED ? shared_codes : R.codes + team * R.words,
      R.queue + team * G.n,
      R.begins + team * (G.n + 2),
      R.shifts + team * (G.n + 2),
      (Number *)R.X + team * G.n,
      blocks,
      me,
      everyone,
      width,
      (int)(threadIdx.x % width),
      me / width,
      everyone / width,
      width == 32 ? ALL_LANES : ((1u << width) - 1) << (lane() / width * width),
      0};
  Board *const board = threads.board;
  u32 *const codes = threads.codes;

  for (;;) {
    if (me == 0) {
      board->item = atomicAdd(R.ticket, 1);
      board->found[0] = board->found[1] = board->found[2] = 0;
      board->due = board->counted = 0.0;
    }
    for (i64 w = me; w < R.words; w += everyone) codes[w] = 0;
    threads.wait();
    const u32 item = board->item;
    if (item >= R.count) return;
    const i64 number = R.which ? R.which[item] : item;
    const int source = R.sources[number];
    double *const row = row_of(R.rows, number, R.width, R.places);
    if (me == 0) {
      codes[source >> 4] = code_of(0) << ((source & 15) * 2);
      threads.queue[0] = source;
      set_one(threads.X[source]);
      threads.begins[0] = threads.shifts[0] = 0, threads.begins[1] = 1;
    }
    threads.wait();
    int deepest;
    if (!threads.forward(deepest)) {
      if (me == 0) R.status[number] = 1;
      continue;
    }
    threads.backward(deepest, row);
    if (me == 0) {
      R.due[2 * number] = board->due, R.due[2 * number + 1] = board->counted;
      if (R.endpoints) row[source] = board->counted;
    }
    threads.wait();
  }
}

// total[v] += the score of v in every row, then, if wanted, its square. Row r has weight origins[r]; null: 1. `places`,
// as of sources_alone, ascend.
template <class Offset>
__global__ void add_rows(double *rows, const double *origins, const i64 *places, i64 count, i64 width, i64 scores,
                         i64 squares, double *total) {
  // The first row whose component begins (side 0) or ends (side 1) after v.
  const auto first_after = [&](i64 v, int side) {
    i64 low = 0, high = count;
    while (low < high) {
      const i64 middle = (low + high) / 2;
      if (places[2 * middle + side] > v) high = middle;
      else low = middle + 1;
    }
    return low;
  };
  for (i64 v = signed_thread_number(); v < scores; v += signed_thread_count()) {
    const i64 begin = places ? first_after(v, 1) : 0, end = places ? first_after(v, 0) : count;
    const double *const column = row_of(rows, begin, width, begin < end ? places : nullptr) + v;
    double sum = total[v], square = squares ? total[scores + v] : 0.0;
#pragma unroll 16
    for (i64 r = begin; r < end; ++r) {
      const double x = column[(r - begin) * width] * weight(origins, (int)r);
      sum += x;
      if (squares) square += x * x;
    }
    total[v] = sum;
    if (squares) total[scores + v] = square;
  }
}

template <class Offset>
__global__ void sum_rows(const double *rows, i64 count, i64 width, double *sums) {
  __shared__ double warps[32];
  for (i64 r = blockIdx.x; r < count; r += gridDim.x) {
    double sum = 0.0;
    for (i64 v = threadIdx.x; v < width; v += blockDim.x) sum += rows[r * width + v];
    sum = warp_sum(sum);
    if (lane() == 0) warps[block_warp()] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int w = 1; w < blockDim.x / 32; ++w) sum += warps[w];
      sums[r] = sum;
    }
    __syncthreads();
  }
}

}  // namespace hopwave::betweenness
