// Power iterations in one launch: PageRank, eigenvector and Katz centrality (hopwave/linalg/algorithms).
//
// A round is one product by rows, and one barrier of the grid. Each row is added up in an order that depends on the
// matrix alone, and so are the sums over all rows: the same numbers give the same bits on every run.
//
// Tiles. A warp takes one tile of the rows at a time. A tile is 32 short rows with one thread each, 16 rows with two
// threads each, … one row with the whole warp, or a piece of a row that is cut because it is too long for one warp.
// The warp that brings the last piece of a row adds all of them up, in their order.
//
//   x        the numbers now: of each row, read and written by the thread that computes the row
//   w        what the entries of the matrix are multiplied with: x · factor / total, or x itself. Two arrays: a round
//            reads one and writes the other.
//   order    rows are numbered by descending length where that balances tiles, so order[row] is its vertex. Rows with
//            many entries are then near each other in w: the ones most read share cache lines.
#pragma once
#include "common/barrier.cuh"

#ifndef HOPWAVE_POWER_THREADS
#define HOPWAVE_POWER_THREADS 1024  // per block
#endif
#ifndef HOPWAVE_POWER_BLOCKS
#define HOPWAVE_POWER_BLOCKS 1  // per multiprocessor
#endif

namespace hopwave::linalg {

constexpr int POWER_THREADS = HOPWAVE_POWER_THREADS, POWER_WARPS = POWER_THREADS / WARP;
constexpr int POWER_BLOCKS = HOPWAVE_POWER_BLOCKS;
constexpr int TILE_KINDS = 7;  // pieces; then rows with 32, 16, 8, 4, 2 threads and 1 thread each
#ifndef HOPWAVE_POWER_AHEAD
#define HOPWAVE_POWER_AHEAD 4
#endif
#ifndef HOPWAVE_POWER_LOAD
#define HOPWAVE_POWER_LOAD __ldcs
#endif
constexpr int AHEAD = HOPWAVE_POWER_AHEAD;  // entries that a thread reads before it waits for any of them
constexpr double GREATEST = 1.7976931348623157e308;  // of float64

// A matrix by rows, as its tiles are dealt out.
template <class Offset>
struct DealtRows {
  const Offset *offsets;  // of the rows, in the order of their tiles
  const int *columns;     // numbered as rows are
  const double *values;   // or null: all are 1
  const int *order;       // the vertex of each row, or null: its own number
  const int *piece_row, *first_piece;  // of every piece, and of every cut row and one more
  const double *inverse;               // 1 / the sum of a vertex's out-weights, 0 at dead ends; null: 1
  i64 n, cut_rows, piece;              // piece: entries of one
  i64 together;                        // whether tiles side by side go to the same block: near rows then share its L1
  i64 hot;                             // entries of w that each block keeps in shared memory
  i64 tiles[TILE_KINDS];               // how many there are of each kind and those before it
  i64 rows[TILE_KINDS + 1];            // the first row of each kind; at last n
};

// What is computed. Where a pointer is null, one number serves all vertices.
struct Powers {
  const double *start, *base, *dead;  // in the order of vertices
  double *base_row, *dead_row;        // the same in the order of rows
  double *x, *out;                    // in the order of rows, and of vertices; the same array where order is null
  double *even, *odd;                 // w
  double *partial;                    // of each piece
  u32 *brought;                       // pieces of each cut row, 0 between rounds
  double *sums;                       // two numbers of each block and each cut row, for odd and even rounds
  u32 *barrier;                       // blocks that have arrived and blocks that have left, 0 between launches
  u64 *host;                          // the rounds made, and the bits of the last change
  double start_all, base_all, dead_all, factor, enough;
  i64 most_rounds;
};

struct TwoSums {
  double change, other;  // Σ |change|; Σ x at dead ends, or Σ x² where x is divided by its length
};

// Over a block, in every thread. The whole block calls this.
__device__ __forceinline__ TwoSums block_sums(TwoSums mine) {
  __shared__ TwoSums of_warp[POWER_WARPS];
  mine = {warp_sum(mine.change), warp_sum(mine.other)};
  if (lane() == 0) of_warp[block_warp()] = mine;
  __syncthreads();
  mine = lane() < POWER_WARPS ? of_warp[lane()] : TwoSums{0, 0};
  mine = {warp_sum(mine.change), warp_sum(mine.other)};
  __syncthreads();
  return mine;
}

// One round, or the beginning of the first.
template <class Offset, bool VALUES, bool NORMED>
struct Round {
  const DealtRows<Offset> &rows;
  const Powers &powers;
  const double *w, *hot;
  double *next_w, *sums;
  double other;  // α Σ x at dead ends; 1 / the length of w
  TwoSums mine;

  // What one thread adds up: entries first, first + step, … of a stretch.
  __device__ __forceinline__ double gathered(i64 begin, int first, int length, int step) const {
    const int *columns = rows.columns + begin;
    const double *values = VALUES ? rows.values + begin : nullptr;
    const int warm = (int)rows.hot;
    double sum = 0;
#pragma unroll 1
    for (int j = first; j < length; j += AHEAD * step) {
      int column[AHEAD];
      double value[AHEAD];
#pragma unroll
      for (int i = 0; i < AHEAD; ++i) {
        const bool there = j + i * step < length;
        column[i] = there ? HOPWAVE_POWER_LOAD(columns + j + i * step) : -1;
        if (VALUES) value[i] = there ? HOPWAVE_POWER_LOAD(values + j + i * step) : 0.0;
      }
#pragma unroll
      for (int i = 0; i < AHEAD; ++i) {
        double carried = 0;
        if (column[i] >= 0) carried = column[i] < warm ? hot[column[i]] : w[column[i]];
        sum += VALUES ? value[i] * carried : carried;
      }
    }
    return sum;
  }

  // A row's own numbers, read before its entries, so that nothing waits for them later.
  struct Own {
    double before, base, dead, inverse;
  };
  __device__ __forceinline__ Own own(i64 row) const {
    if (NORMED) return {powers.x[row], w[row], 0, 1};
    return {powers.x[row], powers.base_row ? powers.base_row[row] : powers.base_all,
            powers.dead_row ? powers.dead_row[row] : powers.dead_all, rows.inverse ? rows.inverse[row] : 1.0};
  }

  // x of a row from the sum of its entries. One thread calls this.
  __device__ __forceinline__ void finish(i64 row, double sum, const Own &own) {
    if (NORMED) {
      const double now = own.base * other, y = now + sum * other;
      mine.change += fabs(now - own.before), mine.other += y * y;
      powers.x[row] = now, next_w[row] = y;
      return;
    }
    const double y = sum + own.base + other * own.dead;
    mine.change += fabs(y - own.before);
    if (own.inverse == 0) mine.other += y;
    powers.x[row] = y, next_w[row] = y * (powers.factor * own.inverse);
  }

  // A piece of a row. The whole warp calls this.
  __device__ __forceinline__ void piece(i64 tile) {
    const int row = rows.piece_row[tile];
    const int first = rows.first_piece[row], pieces = rows.first_piece[row + 1] - first;
    const i64 begin = rows.offsets[row] + (tile - first) * rows.piece;
    const i64 length = min(rows.piece, (i64)rows.offsets[row + 1] - begin);
    const double sum = warp_sum(gathered(begin, lane(), (int)length, WARP));
    u32 before = 0;
    if (lane() == 0) {
      powers.partial[tile] = sum;
      __threadfence();
      before = atomicAdd(powers.brought + row, 1);
    }
    if (__shfl_sync(ALL_LANES, before, 0) + 1 < pieces) return;
    __threadfence();
    double all = 0;
    for (int i = lane(); i < pieces; i += WARP) all += __ldcg(powers.partial + first + i);
    all = warp_sum(all);
    if (lane() != 0) return;
    powers.brought[row] = 0;
    const TwoSums others = mine;  // who brings the last piece is chance, so its sums are kept apart
    mine = {0, 0};
    finish(row, all, own(row));
    sums[2 * (gridDim.x + row)] = mine.change, sums[2 * (gridDim.x + row) + 1] = mine.other;
    mine = others;
  }

  // All tiles of this warp.
  __device__ __forceinline__ void all_tiles() {
    const i64 tiles = rows.tiles[TILE_KINDS - 1], share = (tiles + gridDim.x - 1) / gridDim.x;
    i64 tile = (i64)block_warp() * gridDim.x + blockIdx.x, end = tiles, step = (i64)gridDim.x * POWER_WARPS;
    if (rows.together) {
      tile = blockIdx.x * share + block_warp(), end = min(tiles, (blockIdx.x + 1) * share), step = POWER_WARPS;
    }
    int kind = 0;
    for (; tile < end; tile += step) {
      while (tile >= rows.tiles[kind]) ++kind;
      if (kind == 0) {
        piece(tile);
        continue;
      }
      const int log_lanes = TILE_KINDS - 1 - kind, lanes = 1 << log_lanes;
      const i64 row = rows.rows[kind] + ((tile - rows.tiles[kind - 1]) << (5 - log_lanes)) + (lane() >> log_lanes);
      const bool there = row < rows.rows[kind + 1];
      const i64 begin = there ? rows.offsets[row] : 0, length = there ? rows.offsets[row + 1] - begin : 0;
      const bool first = there && (lane() & (lanes - 1)) == 0;
      const Own numbers = first ? own(row) : Own{};
      double sum = gathered(begin, lane() & (lanes - 1), (int)length, lanes);
      for (int i = lanes / 2; i; i /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, i);
      if (first) finish(row, sum, numbers);
    }
  }

  // x, w and the other arrays in the order of rows; Σ x at dead ends.
  __device__ __forceinline__ void begin() {
    for (i64 row = signed_thread_number(); row < rows.n; row += signed_thread_count()) {
      const i64 v = rows.order ? rows.order[row] : row;
      const double x = powers.start ? powers.start[v] : powers.start_all;
      const double inverse = rows.inverse ? rows.inverse[row] : 1.0;
      if (inverse == 0) mine.other += x;
      powers.x[row] = x, next_w[row] = NORMED ? x : x * (powers.factor * inverse);
      if (rows.order && powers.base) powers.base_row[row] = powers.base[v];
      if (rows.order && powers.dead) powers.dead_row[row] = powers.dead[v];
    }
    for (i64 row = signed_thread_number(); row < rows.cut_rows; row += signed_thread_count())
      sums[2 * (gridDim.x + row)] = sums[2 * (gridDim.x + row) + 1] = 0;
  }
};

// Σ over all blocks and cut rows, in every thread, after a barrier. Returns once all blocks' numbers are there.
__device__ __forceinline__ TwoSums grid_sums(TwoSums mine, double *sums, i64 cut_rows, u32 *arrived, u32 &target) {
  mine = block_sums(mine);
  if (threadIdx.x == 0) sums[2 * blockIdx.x] = mine.change, sums[2 * blockIdx.x + 1] = mine.other;
  barrier(arrived, target, gridDim.x, [] {}, [] {});
  TwoSums all = {0, 0};
  for (i64 i = threadIdx.x; i < gridDim.x + cut_rows; i += POWER_THREADS)
    all.change += __ldcg(sums + 2 * i), all.other += __ldcg(sums + 2 * i + 1);
  return block_sums(all);
}

// NORMED: x = x (A + I), divided by its length. The length is known only after the round, so w is what must still be
// divided, and a round finds the change of the round before it. Otherwise: x = factor x/total A + base + lost dead.
template <class Offset, bool VALUES, bool NORMED>
__global__ void __launch_bounds__(POWER_THREADS, POWER_BLOCKS)
    power(const __grid_constant__ DealtRows<Offset> rows, const __grid_constant__ Powers powers) {
  extern __shared__ double hot[];
  __shared__ u32 target;
  if (threadIdx.x == 0) target = 0;
  const i64 places = 2 * (gridDim.x + rows.cut_rows);  // numbers of a round in powers.sums
  u32 *arrived = powers.barrier, *left = powers.barrier + 1;
  double *even = powers.even, *odd = powers.odd;
  Round<Offset, VALUES, NORMED> round{rows, powers, odd, hot, even, powers.sums + places, 0, {0, 0}};
  round.begin();
  TwoSums all = grid_sums(round.mine, round.sums, rows.cut_rows, arrived, target);
  if (NORMED) all.other = 1;
  i64 rounds = NORMED ? -1 : 0;
  do {
    round.w = round.next_w, round.next_w = round.w == even ? odd : even;
    round.sums = round.sums == powers.sums ? powers.sums + places : powers.sums;
    round.other = NORMED ? 1 / sqrt(all.other) : powers.factor * all.other;
    round.mine = {0, 0};
    if (rows.hot) {
      for (int i = threadIdx.x; i < rows.hot; i += POWER_THREADS) hot[i] = round.w[i];
      __syncthreads();
    }
    round.all_tiles();
    all = grid_sums(round.mine, round.sums, rows.cut_rows, arrived, target);
    ++rounds;
  } while (rounds == 0 || (rounds < powers.most_rounds && !(all.change < powers.enough) && all.change <= GREATEST));
  if (powers.out != powers.x)
    for (i64 row = signed_thread_number(); row < rows.n; row += signed_thread_count())
      powers.out[rows.order[row]] = powers.x[row];
  if (threadIdx.x == 0) {
    if (blockIdx.x == 0) powers.host[0] = rounds, powers.host[1] = __double_as_longlong(all.change);
    if (atomicAdd(left, 1) + 1 == gridDim.x) *arrived = *left = 0;
  }
}

}  // namespace hopwave::linalg
