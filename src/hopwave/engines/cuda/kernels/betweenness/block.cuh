// Betweenness, a block a source: hundreds of searches at a time, each with state of its own and no barrier but its block's.
// Where sources are few and levels wide, a team of some blocks takes a source, and meets at a counter in memory.
//
// Forward, a vertex of the level that is being looked at adds up σ over its in-neighbours one level up and claims the
// out-neighbours that nobody has; in an undirected graph one walk along its row does both. The queue keeps all levels, so
// that the way back searches nothing. Every sum is made by one group of lanes in the order of a row, and every source's
// dependencies go to a row of their own: no bit of a result depends on who came first.
//
// Encodings
//   code     two bits a vertex: 0 not visited, else 1 + depth % 3. Neighbours in an undirected graph are one level apart at
//            most, so three codes tell levels apart. On the way back through a directed graph an out-neighbour may lie any
//            number of levels up; there the same memory holds two bitmaps, of the level behind and of this one.
//   X        σ on the way forward, share on the way back.
//   shifts   a level whose counts might pass 2^LARGEST is divided by 2^shift (docs/betweenness.md).
#pragma once
#include "betweenness/brandes.cuh"

namespace hopwave {
namespace brandes {

constexpr int LARGEST = 1000, SMALLEST = -900;
constexpr int AT_ONCE = 4;  // neighbours that a lane has on their way to it

// What a source's threads have in common: in shared memory, or for a team in global memory.
struct __align__(128) Board {
  u64 due, counted;
  u32 item, arrived;
  int found[3];   // of the level before, this one, and one being cleared
  int high, low;  // a level's greatest and least exponents
};

struct Alone {
  const int *sources, *which;  // a source for every row of scores; the rows to do, or null: all
  u32 *ticket;                 // how many were taken
  const u8 *targets;           // or null
  double *rows;                // scores of each source, zero before: one for a vertex, or for an arc
  i64 *due;                    // of each source: Σ (d - 1) or Σ d over the targets reached, and their number
  int *status;                 // of each source: 1 where float64 cannot hold a level's counts
  int *queue, *begins, *shifts;  // each block's: n, n + 2, n + 2
  void *X;                     // each block's: n numbers
  u32 *codes;                  // each block's, where they are not in shared memory
  Board *boards;               // each team's, zero before
  i64 count, width, words;     // sources; scores a row; words of codes
  i64 cutoff, endpoints, edges, directed, degree_bits;
  i64 group, team;             // lanes that share a vertex; blocks that share a source
};

__device__ __forceinline__ u32 code_of(int depth) { return 1 + (u32)depth % 3; }
__device__ __forceinline__ u32 code_at(const u32 *codes, int v) { return codes[v >> 4] >> ((v & 15) * 2) & 3; }
__device__ __forceinline__ bool bit_at(const u32 *bits, int v) { return bits[v >> 5] >> (v & 31) & 1; }

// The next free place of a queue. In global memory, threads that come here together share one atomic operation.
template <bool TEAM>
__device__ __forceinline__ int place(int *tail) {
  if (!TEAM) return atomicAdd(tail, 1);
  const u32 together = __activemask();
  const int leader = __ffs(together) - 1;
  int at = 0;
  if (lane() == leader) at = atomicAdd(tail, __popc(together));
  return __shfl_sync(together, at, leader) + __popc(together & below());
}

template <class Number>
struct Scaling {
  static constexpr bool NEEDED = false;
  __device__ static int exponent(Number) { return 0; }
  __device__ static Number scaled(Number x, int) { return x; }
};
template <>
struct Scaling<double> {
  static constexpr bool NEEDED = true;
  __device__ static int exponent(double x) { return ilogb(x); }
  __device__ static double scaled(double x, int shift) { return x * two_to(-shift); }
};

// PLAIN: vertices of an undirected graph, the common case, in fewer registers. TEAM: launched cooperatively.
template <class Offset, class Number, bool SHARED, bool PLAIN, bool TEAM>
__global__ void __launch_bounds__(1024) sources_alone(Graph<Offset> G, Alone R) {
  extern __shared__ u32 shared_codes[];
  __shared__ Board own;

  const i64 n = G.n;
  const bool directed = !PLAIN && R.directed, edges = !PLAIN && R.edges;
  const u32 blocks = TEAM ? (u32)R.team : 1, team = blockIdx.x / blocks;
  const int me = blockIdx.x % blocks * blockDim.x + threadIdx.x, everyone = blocks * blockDim.x;
  Board *const board = TEAM ? R.boards + team : &own;
  u32 *codes = SHARED ? shared_codes : R.codes + team * R.words;
  int *queue = R.queue + team * n;
  int *begins = R.begins + team * (n + 2), *shifts = R.shifts + team * (n + 2);
  Number *X = (Number *)R.X + team * n;
  const int width = (int)R.group, sub = threadIdx.x % width, first = me / width, groups = everyone / width;
  const u32 mates = width == 32 ? ALL : ((1u << width) - 1) << (lane() / width * width);

  u32 meetings = 0;
  auto meet = [&] {
    __syncthreads();
    if (!TEAM) return;
    meetings += blocks;
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(&board->arrived, 1);
      while ((int)(*(volatile u32 *)&board->arrived - meetings) < 0) {}
      __threadfence();  // also empties this multiprocessor's L1, so that plain loads are right from here on
    }
    __syncthreads();
  };

  for (;;) {
    if (me == 0) {
      board->item = atomicAdd(R.ticket, 1);
      board->found[0] = board->found[1] = board->found[2] = 0;
      board->due = board->counted = 0;
    }
    for (i64 w = me; w < R.words; w += everyone) codes[w] = 0;
    meet();
    const u32 item = board->item;
    if (item >= R.count) return;
    const i64 number = R.which ? R.which[item] : item;
    const int source = R.sources[number];
    double *row = R.rows + number * R.width;
    if (me == 0) {
      codes[source >> 4] = code_of(0) << ((source & 15) * 2);
      queue[0] = source;
      set_one(X[source]);
      begins[0] = shifts[0] = 0, begins[1] = 1;
    }
    meet();

    // ---- forward
    int depth = 0, begin = 0, end = 1, bound = 0;
    bool overflowed = false;
    for (;;) {
      const u32 before = depth ? code_of(depth + 2) : 4, next = code_of(depth + 1);
      const bool further = depth < R.cutoff;
      int *const tail = &board->found[depth % 3];
      if (me == 0) board->found[(depth + 1) % 3] = 0;

      auto claim = [&](int v) {
        const u32 shift = (v & 15) * 2;
        if (!(atomicOr(&codes[v >> 4], next << shift) >> shift & 3)) queue[end + place<TEAM>(tail)] = v;
      };
      for (int i = begin + first; i < end; i += groups) {
        const int u = queue[i];
        Number sum;
        clear(sum);
        const Offset stop = G.in_offsets[u + 1];
        for (Offset j = G.in_offsets[u] + sub; j < stop; j += AT_ONCE * width) {
          int v[AT_ONCE];
          u32 code[AT_ONCE];
          Number x[AT_ONCE];
#pragma unroll
          for (int k = 0; k < AT_ONCE; ++k) v[k] = j + k * width < stop ? G.in_neighbours[j + k * width] : -1;
#pragma unroll
          for (int k = 0; k < AT_ONCE; ++k) code[k] = v[k] < 0 ? 5 : code_at(codes, v[k]);
#pragma unroll
          for (int k = 0; k < AT_ONCE; ++k) {
            clear(x[k]);
            if (code[k] == before) x[k] = X[v[k]];
          }
          if (further && !directed) {
#pragma unroll
            for (int k = 0; k < AT_ONCE; ++k)
              if (code[k] == 0) claim(v[k]);
          }
#pragma unroll
          for (int k = 0; k < AT_ONCE; ++k) sum = add(sum, x[k]);
        }
        for (int step = width / 2; step; step /= 2) sum = add(sum, from(mates, sum, step));
        if (sub == 0 && depth) X[u] = sum;
        if (further && directed) {
          const Offset stop = G.offsets[u + 1];
          for (Offset j = G.offsets[u] + sub; j < stop; j += width) {
            const int v = G.neighbours[j];
            if (code_at(codes, v) == 0) claim(v);
          }
        }
      }
      meet();
      const int more = *tail;
      if (Scaling<Number>::NEEDED && depth) {
        int shift = 0;
        bound += (int)R.degree_bits;
        if (bound + R.degree_bits > LARGEST) {  // the bound is rough: look
          if (me == 0) board->high = -100000, board->low = 100000;
          meet();
          for (int i = begin + me; i < end; i += everyone) {
            const int e = Scaling<Number>::exponent(X[queue[i]]);
            atomicMax(&board->high, e), atomicMin(&board->low, e);
          }
          meet();
          bound = board->high + 1;
          if (bound + R.degree_bits > LARGEST) {
            const int target = max(LARGEST / 2, LARGEST - 64 * (int)R.degree_bits);  // so that it is not every level
            shift = bound - target, bound = target;
            overflowed = board->low - shift < SMALLEST;
            for (int i = begin + me; i < end; i += everyone)
              X[queue[i]] = Scaling<Number>::scaled(X[queue[i]], shift);
          }
          meet();
        }
        if (me == 0) shifts[depth] = shift;
      }
      if (overflowed || !more) break;
      begin = end, end += more, ++depth;
      if (me == 0) begins[depth + 1] = end;
    }
    if (overflowed) {
      if (me == 0) R.status[number] = 1;
      continue;
    }

    // ---- back
    u32 *const bits[2] = {codes, codes + R.words / 2};
    if (directed) {
      meet();
      for (i64 w = me; w < R.words; w += everyone) codes[w] = 0;
    }
    meet();
    u64 my_due = 0, my_count = 0;
    const int deepest = depth;
    for (; depth >= (edges ? 0 : 1); --depth) {
      begin = begins[depth], end = begins[depth + 1];
      const int shift = Scaling<Number>::NEEDED ? shifts[depth] : 0;
      const u32 after = code_of(depth + 1), *behind = bits[(depth + 1) & 1];
      if (directed && depth + 2 <= deepest) {
        for (int i = begins[depth + 2] + me; i < begins[depth + 3]; i += everyone)
          atomicAnd(&bits[depth & 1][queue[i] >> 5], ~(1u << (queue[i] & 31)));
        meet();
      }
      for (int i = begin + first; i < end; i += groups) {
        const int u = queue[i];
        const Number sigma = X[u];
        Number sum;
        clear(sum);
        const Offset stop = depth < deepest ? G.offsets[u + 1] : 0;
        for (Offset j = depth < deepest ? G.offsets[u] + sub : 0; j < stop; j += AT_ONCE * width) {
          int v[AT_ONCE];
          bool mine[AT_ONCE];
          Number x[AT_ONCE];
#pragma unroll
          for (int k = 0; k < AT_ONCE; ++k) v[k] = j + k * width < stop ? G.neighbours[j + k * width] : -1;
#pragma unroll
          for (int k = 0; k < AT_ONCE; ++k)
            mine[k] = v[k] >= 0 && (directed ? bit_at(behind, v[k]) : code_at(codes, v[k]) == after);
#pragma unroll
          for (int k = 0; k < AT_ONCE; ++k) {
            clear(x[k]);
            if (mine[k]) x[k] = X[v[k]];
          }
#pragma unroll
          for (int k = 0; k < AT_ONCE; ++k) {
            sum = add(sum, x[k]);
            if (edges && mine[k]) row[j + k * width] = times(sigma, x[k]);
          }
        }
        for (int step = width / 2; step; step /= 2) sum = add(sum, from(mates, sum, step));
        if (sub == 0) {
          const double t = weight(R.targets, u), delta = times(sigma, sum);
          X[u] = Scaling<Number>::scaled(share_of(t + delta, sigma), shift);
          if (depth) {
            if (!edges) row[u] = R.endpoints ? delta + t : delta;
            my_due += (u64)t * (edges ? depth : depth - 1), my_count += (u64)t;
          }
          if (directed) atomicOr(&bits[depth & 1][u >> 5], 1u << (u & 31));
        }
      }
      meet();
    }
    if (my_count) atomicAdd(&board->due, my_due), atomicAdd(&board->counted, my_count);
    meet();
    if (me == 0) {
      R.due[2 * number] = (i64)board->due, R.due[2 * number + 1] = (i64)board->counted;
      if (R.endpoints) row[source] = (double)board->counted;
    }
    meet();
  }
}

// total[v] += every row's score of v, row after row; behind them, where asked for, their squares.
template <class Offset>
__global__ void add_rows(const double *rows, i64 count, i64 width, i64 squares, double *total) {
  for (i64 v = (i64)blockIdx.x * blockDim.x + threadIdx.x; v < width; v += (i64)gridDim.x * blockDim.x) {
    double sum = total[v], square = squares ? total[width + v] : 0.0;
#pragma unroll 16
    for (i64 r = 0; r < count; ++r) {
      const double x = rows[r * width + v];
      sum += x;
      if (squares) square += x * x;
    }
    total[v] = sum;
    if (squares) total[width + v] = square;
  }
}

// Σ of every row, a block a row, in an order that is always the same.
template <class Offset>
__global__ void sum_rows(const double *rows, i64 count, i64 width, double *sums) {
  __shared__ double parts[32];
  for (i64 r = blockIdx.x; r < count; r += gridDim.x) {
    double sum = 0.0;
    for (i64 v = threadIdx.x; v < width; v += blockDim.x) sum += rows[r * width + v];
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(ALL, sum, step);
    if (lane() == 0) parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int w = 1; w < blockDim.x / 32; ++w) sum += parts[w];
      sums[r] = sum;
    }
    __syncthreads();
  }
}

}  // namespace brandes
}  // namespace hopwave
