// Power iterations in one launch: PageRank, eigenvector and Katz centrality (hopwave/linalg/algorithms).
//
// A round is one product by rows and one barrier of all blocks, which distributes the blocks' sums. Rows, and sums over
// rows, are added in an order that depends only on the matrix: bitwise identical in every run. A warp processes one
// tile at a time: 32 short rows with one thread each, 16 rows with two threads each, … one row with the full warp, or a
// piece of a longer row. The warp that completes a row's last piece adds up all pieces, in order.
//
//   x        the current numbers: x of a row is read and written only by the thread that computes the row
//   w        the factors of the matrix entries: x · factor / total, or x itself. Two arrays: a round
//            reads one and writes the other.
//   order    rows are numbered by descending length if that balances tiles, so order[row] is its vertex. The columns
//            that are read most then share cache lines.
#pragma once
#include "common/rows.cuh"

namespace hopwave::linalg {

constexpr int POWER_THREADS = 1024, POWER_WARPS = POWER_THREADS / WARP;  // threads and warps per block
constexpr int POWER_BLOCKS = 1;                                          // blocks per multiprocessor
constexpr int TILE_KINDS = 7;  // pieces; then rows with 32, 16, 8, 4, 2 threads and 1 thread each
constexpr int WAITING = 6;     // warps per block that wait for other blocks
constexpr int CUT_WARPS = 2;   // warps per block that add up the sums of cut rows
// Entries that a thread loads at a time: of short rows, of long rows, and of any row if entries have values.
constexpr int AHEAD = 6, AHEAD_LONG = 8, AHEAD_VALUES = 4;
constexpr double GREATEST = 1.7976931348623157e308;  // largest float64

template <class Offset>
struct DealtRows {
  const Offset *offsets;               // of the rows, in tile order
  Neighbours<Offset> columns;          // numbered like rows
  const double *values;                // null: all are 1
  const int *order;                    // the vertex of each row; null: the row's number
  const int *piece_row, *first_piece;  // the row of every piece; the first piece of every cut row, then the end
  const double *inverse;               // per vertex: 1 / the sum of its out-weights, 0 at dead ends; null: 1
  i64 n, cut_rows, piece;              // piece: maximum entries of a piece
  i64 together;                        // whether adjacent tiles go to one block: near rows share its L1 cache
  i64 hot;                             // entries of w that each block keeps in shared memory
  i64 tiles[TILE_KINDS];               // number of tiles of this kind and of the previous kinds
  i64 rows[TILE_KINDS + 1];            // the first row of each kind; the last entry is n
};

// What to compute. If a pointer is null, one number applies to all vertices.
struct Powers {
  const double *start, *base, *dead;  // in the order of vertices
  double *base_row, *dead_row;        // base and dead in the order of rows
  double *x, *out;                    // in the order of rows, and of vertices; one array if order is null
  void *even, *odd;                   // w of even and of odd rounds
  double *partial;                    // per piece
  u32 *brought;                       // per cut row: number of finished pieces, 0 between rounds
  double *sums;                       // per cut row: two numbers, for odd and even rounds
  ulonglong2 *slots;                  // per block: two words, for odd and even rounds
  u64 *host;                          // number of rounds, and the bits of the last change
  double start_all, base_all, dead_all, factor, enough;
  i64 most_rounds;
  u64 meeting;  // number of the first barrier, higher than that of any earlier barrier
};

struct __align__(16) TwoSums {
  double change, other;  // Σ |change|; Σ x at dead ends, or Σ x² if x is normalised
};

__device__ __forceinline__ void publish(ulonglong2 *slot, double number, u64 meeting) {
  asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" ::"l"(slot), "l"(__double_as_longlong(number)), "l"(meeting)
               : "memory");
}
__device__ __forceinline__ TwoSums awaited(const ulonglong2 *slots, u64 meeting) {
  u64 change, of, other, of_other;
  do {  // both loads are in flight
    asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%4];\n ld.volatile.global.v2.u64 {%2, %3}, [%4 + 16];"
                 : "=l"(change), "=l"(of), "=l"(other), "=l"(of_other)
                 : "l"(slots)
                 : "memory");
  } while (of != meeting || of_other != meeting);
  return {__longlong_as_double(change), __longlong_as_double(other)};
}

// Σ over all blocks and cut rows, in every thread. Thread i waits for block i, so that blocks need no counter.
__device__ __forceinline__ TwoSums meet(TwoSums mine, const Powers &powers, i64 cut_rows, u64 meeting) {
  __shared__ TwoSums of_warp[POWER_WARPS], parts[WAITING + CUT_WARPS];
  const int turn = meeting & 1, warp = block_warp();
  ulonglong2 *slots = powers.slots + turn * 2 * gridDim.x;
  mine = {warp_sum(mine.change), warp_sum(mine.other)};
  if (lane() == 0) of_warp[warp] = mine;
  __syncthreads();
  if (warp == 0) {
    mine = lane() < POWER_WARPS ? of_warp[lane()] : TwoSums{0, 0};
    mine = {warp_sum(mine.change), warp_sum(mine.other)};
    if (lane() == 0) {
      __threadfence();
      publish(slots + 2 * blockIdx.x, mine.change, meeting), publish(slots + 2 * blockIdx.x + 1, mine.other, meeting);
    }
  }
  TwoSums all = {0, 0};
  if (warp < WAITING) {
    for (u32 block = threadIdx.x; block < gridDim.x; block += WAITING * WARP) {
      const TwoSums its = awaited(slots + 2 * block, meeting);
      all.change += its.change, all.other += its.other;
    }
    __threadfence();  // also invalidates this multiprocessor's L1 cache, so that plain loads see other blocks' writes
  }
  if (cut_rows) {
    __syncthreads();
    const double *sums = powers.sums + turn * 2 * cut_rows;
    if (warp >= WAITING && warp < WAITING + CUT_WARPS)
      for (i64 i = threadIdx.x - WAITING * WARP; i < cut_rows; i += CUT_WARPS * WARP)
        all.change += __ldcg(sums + 2 * i), all.other += __ldcg(sums + 2 * i + 1);
  }
  if (warp < WAITING + CUT_WARPS) {
    all = {warp_sum(all.change), warp_sum(all.other)};
    if (lane() == 0) parts[warp] = all;
  }
  __syncthreads();
  all = parts[0];
  for (int i = 1; i < WAITING + CUT_WARPS; ++i) all.change += parts[i].change, all.other += parts[i].other;
  return all;
}

// One round, or the preparation of the first. Word: the type of w; sums and x are always float64.
template <class Offset, bool VALUES, bool NORMED, class Word>
struct Round {
  const DealtRows<Offset> &rows;
  const Powers &powers;
  static constexpr int SHORT = VALUES ? AHEAD_VALUES : AHEAD, LONG = VALUES ? AHEAD_VALUES : AHEAD_LONG;
  const Word *w;
  Word *next_w;
  double *sums;
  u32 hot;       // shared-memory address of the cached part of w
  double other;  // α Σ x at dead ends, or 1 / the length of w
  TwoSums mine;

  // w of a column, 0 for column -1; branch-free, because branches would delay the next loads.
  __device__ __forceinline__ double carried(int column) const {
    Word found = 0;
    if constexpr (sizeof(Word) == 4) {
      asm volatile("{\n .reg .pred near, far;\n setp.lt.u32 near, %1, %2;\n setp.ge.s32 far, %1, %2;\n"
                   " @near ld.shared.f32 %0, [%3];\n @far ld.global.f32 %0, [%4];\n}"
                   : "+f"(found)
                   : "r"(column), "r"((int)rows.hot), "r"(hot + 4 * column), "l"(w + column)
                   : "memory");
    } else {
      asm volatile("{\n .reg .pred near, far;\n setp.lt.u32 near, %1, %2;\n setp.ge.s32 far, %1, %2;\n"
                   " @near ld.shared.f64 %0, [%3];\n @far ld.global.f64 %0, [%4];\n}"
                   : "+d"(found)
                   : "r"(column), "r"((int)rows.hot), "r"(hot + 8 * column), "l"(w + column)
                   : "memory");
    }
    return found;
  }

  template <int IN_FLIGHT>
  __device__ __forceinline__ double gathered(i64 begin, int first, int length, int step) const {
    const auto columns = stretch(rows.columns, begin);
    const double *values = VALUES ? rows.values + begin : nullptr;
    double sum = 0;
#pragma unroll 1
    for (int j = first; j < length; j += IN_FLIGHT * step) {
      int column[IN_FLIGHT];
      double value[IN_FLIGHT];
      for (int i = 0; i < IN_FLIGHT; ++i) {
        const bool there = j + i * step < length;
        column[i] = there ? neighbour_once(columns, j + i * step) : -1;
        if (VALUES) value[i] = there ? __ldcs(values + j + i * step) : 0.0;
      }
      Word x[IN_FLIGHT];
      for (int i = 0; i < IN_FLIGHT; ++i) x[i] = carried(column[i]);
      for (int i = 0; i < IN_FLIGHT; ++i) sum += VALUES ? value[i] * x[i] : x[i];
    }
    return sum;
  }

  // A row's own numbers, loaded before its entries so that no later step waits for them.
  struct Own {
    double before, base, dead, inverse;
  };
  __device__ __forceinline__ Own own(i64 row) const {
    if (NORMED) return {powers.x[row], w[row], 0, 1};
    return {powers.x[row], powers.base_row ? powers.base_row[row] : powers.base_all,
            powers.dead_row ? powers.dead_row[row] : powers.dead_all, rows.inverse ? rows.inverse[row] : 1.0};
  }

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
    powers.x[row] = y, next_w[row] = (Word)(y * (powers.factor * own.inverse));
  }

  __device__ __forceinline__ void piece(i64 tile) {
    const int row = rows.piece_row[tile];
    const int first = rows.first_piece[row], pieces = rows.first_piece[row + 1] - first;
    const i64 begin = rows.offsets[row] + (tile - first) * rows.piece;
    const i64 length = min(rows.piece, (i64)rows.offsets[row + 1] - begin);
    const double sum = warp_sum(gathered<LONG>(begin, lane(), (int)length, WARP));
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
    const TwoSums others = mine;  // which warp finishes last is random, so the cut row's sums are separate
    mine = {0, 0};
    finish(row, all, own(row));
    sums[2 * row] = mine.change, sums[2 * row + 1] = mine.other;
    mine = others;
  }

  // A warp's tile, and this lane's part of it: the row (-1: no row), its first entry and the number of its entries.
  struct Tile {
    int kind, length, row;
    Offset begin;
  };
  __device__ __forceinline__ Tile found(u32 tile, int kind) const {
    while (tile >= rows.tiles[kind]) ++kind;
    Tile it{kind, 0, -1, 0};
    if (kind == 0) return it;
    const int log_lanes = TILE_KINDS - 1 - kind;
    const i64 row = rows.rows[kind] + ((tile - rows.tiles[kind - 1]) << (5 - log_lanes)) + (lane() >> log_lanes);
    if (row >= rows.rows[kind + 1]) return it;
    it.row = (int)row, it.begin = rows.offsets[row], it.length = (int)(rows.offsets[row + 1] - it.begin);
    return it;
  }

  struct Share {
    u32 tile, end, step;
  };
  __device__ __forceinline__ Share share() const {
    const u32 tiles = (u32)rows.tiles[TILE_KINDS - 1], each = (tiles + gridDim.x - 1) / gridDim.x;
    if (!rows.together) return {block_warp() * gridDim.x + blockIdx.x, tiles, gridDim.x * POWER_WARPS};
    return {blockIdx.x * each + block_warp(), min(tiles, (blockIdx.x + 1) * each), POWER_WARPS};
  }

  // All tiles of this warp. The first tile is known in advance: in small graphs it is the only one.
  __device__ __forceinline__ void all_tiles(const Tile &first_tile) {
    Tile it = first_tile;
    const Share share = this->share();
    for (u32 tile = share.tile; tile < share.end;) {
      if (it.kind == 0) {
        piece(tile);
      } else {
        const int lanes = 1 << (TILE_KINDS - 1 - it.kind), place = lane() & (lanes - 1);
        const bool first = it.row >= 0 && place == 0;
        const Own numbers = first ? own(it.row) : Own{};
        double sum = lanes == WARP ? gathered<LONG>(it.begin, place, it.length, WARP)
                                   : gathered<SHORT>(it.begin, place, it.length, lanes);
        for (int i = lanes / 2; i; i /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, i);
        if (first) finish(it.row, sum, numbers);
      }
      tile += share.step;
      if (tile < share.end) it = found(tile, it.kind);
    }
  }

  __device__ __forceinline__ void begin() {
    for (i64 row = signed_thread_number(); row < rows.n; row += signed_thread_count()) {
      const i64 v = rows.order ? rows.order[row] : row;
      const double x = powers.start ? powers.start[v] : powers.start_all;
      const double inverse = rows.inverse ? rows.inverse[row] : 1.0;
      if (inverse == 0) mine.other += x;
      powers.x[row] = x, next_w[row] = (Word)(NORMED ? x : x * (powers.factor * inverse));
      if (rows.order && powers.base) powers.base_row[row] = powers.base[v];
      if (rows.order && powers.dead) powers.dead_row[row] = powers.dead[v];
    }
    for (i64 row = signed_thread_number(); row < rows.cut_rows; row += signed_thread_count())
      sums[2 * row] = sums[2 * row + 1] = 0;
  }
};

// NORMED: x = x (A + I), divided by its length. The length is known only after the round: w is not yet normalised, and
// each round computes the change of the previous one. Otherwise: x = factor · (x / total) A + base + lost · dead.
template <class Offset, bool VALUES, bool NORMED, class Word>
__global__ void __launch_bounds__(POWER_THREADS, POWER_BLOCKS)
    power(const __grid_constant__ DealtRows<Offset> rows, const __grid_constant__ Powers powers) {
  extern __shared__ double shared[];
  Word *const hot = (Word *)shared;
  u64 meeting = powers.meeting;
  Word *even = (Word *)powers.even, *odd = (Word *)powers.odd;
  Round<Offset, VALUES, NORMED, Word> round{rows, powers, odd, even, nullptr, (u32)__cvta_generic_to_shared(hot),
                                            0,    {0, 0}};
  round.sums = powers.sums + (meeting & 1) * 2 * rows.cut_rows;
  round.begin();
  TwoSums all = meet(round.mine, powers, rows.cut_rows, meeting);
  if (NORMED) all.other = 1;
  i64 rounds = NORMED ? -1 : 0;
  const auto share = round.share();
  const auto first_tile = share.tile < share.end ? round.found(share.tile, 0) : typename decltype(round)::Tile{};
  do {
    ++meeting;
    round.w = round.next_w, round.next_w = round.w == even ? odd : even;
    round.sums = powers.sums + (meeting & 1) * 2 * rows.cut_rows;
    round.other = NORMED ? 1 / sqrt(all.other) : powers.factor * all.other;
    round.mine = {0, 0};
    if (rows.hot) {
      for (int i = threadIdx.x; i < rows.hot; i += POWER_THREADS) hot[i] = round.w[i];
      __syncthreads();
    }
    round.all_tiles(first_tile);
    all = meet(round.mine, powers, rows.cut_rows, meeting);
    ++rounds;
  } while (rounds == 0 || (rounds < powers.most_rounds && !(all.change < powers.enough) && all.change <= GREATEST));
  if (powers.out != powers.x)
    for (i64 row = signed_thread_number(); row < rows.n; row += signed_thread_count())
      powers.out[rows.order[row]] = powers.x[row];
  if (threadIdx.x == 0 && blockIdx.x == 0) powers.host[0] = rounds, powers.host[1] = __double_as_longlong(all.change);
}

// 1 / the total of each vertex, or 1 / the length of its row; 0 if that is 0. `order`: the vertex of each row, or null.
template <class Offset>
__global__ void invert(const Offset *offsets, const double *totals, const int *order, u64 n, double *inverse) {
  for (u64 i = thread_number(); i < n; i += thread_count()) {
    const int v = order ? order[i] : (int)i;
    const double total = totals ? totals[v] : (double)degree(offsets, v);
    inverse[i] = total > 0 ? 1 / total : 0;
  }
}

// Keys that sort rows by descending number of threads, or length; `longer` counts rows by threads, 0 before.
template <class Offset>
__global__ void length_keys(const Offset *offsets, u64 n, u64 cut, u64 *keys, u64 *longer) {
  constexpr int WIDTHS = TILE_KINDS - 2;
  u64 mine[WIDTHS + 1] = {};
  for (u64 v = thread_number(); v < n; v += thread_count()) {
    const u64 length = degree(offsets, (int)v);
    u32 width = 0;
    mine[0] += length > cut;
    for (int i = 0; i < WIDTHS; i++) {
      const bool more = length > (u64)AHEAD << i;
      width += more, mine[WIDTHS - i] += more;
    }
    keys[v] = (u64)(0xffffffffu - (width == WIDTHS ? (u32)length : width)) << 32 | v;
  }
  for (int i = 0; i <= WIDTHS; i++) add_warp_sum(longer + i, mine[i]);
}

template <class Offset>
__global__ void number_arcs(const Offset *offsets, const int *columns, i64 n, const int *rank, int *tails, int *heads) {
  for (i64 v = signed_thread_number() / WARP; v < n; v += signed_thread_count() / WARP)
    for (Offset arc = offsets[v] + lane(); arc < offsets[v + 1]; arc += WARP)
      tails[arc] = rank[v], heads[arc] = rank[columns[arc]];
}

// ---- Makes y orthogonal to orthonormal vectors, with a second pass against rounding, and normalises it.

constexpr int LANCZOS_MOST = 20;  // maximum number of vectors

__device__ __forceinline__ double sum_of_blocks(const double *sums, int i) {
  double sum = 0;
  for (u32 block = lane(); block < gridDim.x; block += WARP) sum += __ldcg(sums + block * LANCZOS_MOST + i);
  return warp_sum(sum);
}

//   Q, q     the vectors, `count` rows of n; the result       sums   3 · LANCZOS_MOST numbers per block
//   found    LANCZOS_MOST products of the first pass; then the length
template <class Offset>
__global__ void __launch_bounds__(BLOCK)
    orthogonal(const double *Q, i64 n, i64 count, double *y, double *sums, double *found, double *q, u32 *arrived) {
  __shared__ double part[LANCZOS_MOST], of_warp[BLOCK / WARP][LANCZOS_MOST];
  __shared__ u32 target;
  if (threadIdx.x == 0) target = 0;
  const double *before = nullptr;
  for (int pass = 0; pass < 3; ++pass) {
    for (int i = block_warp(); i < LANCZOS_MOST; i += BLOCK / WARP) {
      const double sum = before && i < count ? sum_of_blocks(before, i) : 0.0;
      if (lane() == 0) part[i] = sum;
      if (lane() == 0 && pass == 1 && blockIdx.x == 0) found[i] = sum;
    }
    __syncthreads();
    const bool last = pass == 2;
    double mine[LANCZOS_MOST] = {};
    for (i64 v = signed_thread_number(); v < n; v += signed_thread_count()) {
      double from[LANCZOS_MOST], rest = y[v];
      for (int i = 0; i < LANCZOS_MOST; ++i) from[i] = i < count ? Q[i * n + v] : 0.0;
      for (int i = 0; i < LANCZOS_MOST; ++i) rest -= part[i] * from[i];
      if (before) y[v] = rest;
      if (last) mine[0] += rest * rest;
      for (int i = 0; i < LANCZOS_MOST; ++i)
        if (!last) mine[i] += from[i] * rest;
    }
    for (int i = 0; i < LANCZOS_MOST; ++i) {
      const double sum = warp_sum(mine[i]);
      if (lane() == 0) of_warp[block_warp()][i] = sum;
    }
    __syncthreads();
    before = sums + pass * LANCZOS_MOST * gridDim.x;
    if (threadIdx.x < LANCZOS_MOST) {
      double sum = 0;
      for (int warp = 0; warp < BLOCK / WARP; ++warp) sum += of_warp[warp][threadIdx.x];
      sums[(pass * gridDim.x + blockIdx.x) * LANCZOS_MOST + threadIdx.x] = sum;
    }
    barrier(arrived, target, gridDim.x, [] {}, [] {});
  }
  const double length = sqrt(sum_of_blocks(before, 0));
  if (thread_number() == 0) found[LANCZOS_MOST] = length;
  for (i64 v = signed_thread_number(); v < n; v += signed_thread_count()) q[v] = y[v] / length;
}

}  // namespace hopwave::linalg
