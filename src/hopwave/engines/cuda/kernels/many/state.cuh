// Searches from many groups of sources in one cooperative launch. A level of a small or deep graph does not fill a GPU,
// so the grid is cut into subgrids, which take one group at a time and never wait for one another.
//
//   group       the sources that are searched from at once, up to 64 · WORDS of them
//   row         WORDS words of 64 bits for a vertex; bit b of word w stands for source 64 w + b of the group
//   seen        rows: the sources that have reached a vertex
//   front       rows: the sources that did in the level before      fresh   rows: those that do in this level
//   subwarp     WORDS threads of a warp, which take a row together, one word each; a warp has SUBWARPS of them
//   subgrid     some blocks of the grid, which take a group together
//   turn        levels so far, of all groups that a subgrid has searched
//
// Rows of front and fresh are never cleared: bits left by an earlier level are in the neighbours' rows of seen, and
// bits in seen are masked out. All threads of a warp stay in a loop together, so that the warp can use ballots.
#pragma once
#include "common/rows.cuh"
#include "common/threads.cuh"

namespace hopwave::many {

enum Keep { SUMS = 1, COLUMNS = 2, ROWS = 4, PAIRS = 8 };  // hopwave/engines/cuda/many.py

constexpr int STAGE = 1024;   // vertices that a block keeps in shared memory before it uses the list in global memory
constexpr int IN_FLIGHT = 4;  // neighbours whose rows a thread loads at a time
constexpr int PIECE = 64;     // neighbours of a long row that a subwarp takes before it checks what the others found
constexpr int PLANES = 6;     // bits of a counter (see Findings::count): up to 63 additions

// The sums of one level over a subgrid.
struct __align__(128) LevelSums {
  u64 arcs, checked, pairs;  // out-arcs of the vertices found; in-arcs read; new (source, vertex) pairs
  u32 tail, longs;           // vertices found; vertices found that have long rows
};

struct Counters {
  LevelSums sums[3];  // of this turn, of the one before, and one being cleared for the next
  __align__(128) u32 arrived;
  __align__(128) u64 listed;  // pairs found, even if there was no room to write them
};

// All arguments of a launch. Arrays marked "each" exist once per subgrid, one after another.
template <class Offset>
struct Many {
  const Offset *offsets;
  Neighbours<Offset> neighbours;
  const Offset *in_offsets;
  Neighbours<Offset> in_neighbours;
  const int *long_rows;       // the vertices with long in-rows
  u64 *state;                 // each: seen, even, odd; the last two take turns as front and fresh
  u32 *touched;               // each: bitmap of the vertices in the list; all 0 between levels
  int *lists, *longs;         // each, two by turn: the vertices found; the ones with long out-rows
  u32 *counts;                // each, two by turn: vertices new to each source
  Counters *counters;         // each: one
  const int *sources;         // of all groups, one after another
  const i64 *places, *reach;  // a source's row in `rows`; the most pairs that a group can find
  i64 *reached, *total, *farthest;
  double *inverse;
  i64 *histogram, *columns;
  int *rows;
  u64 *pairs;
  i64 n, grids, first, last, width, count;  // groups [first, last) of the `count` sources, `width` sources per group
  i64 long_count, long_row, long_room, limit, keep;
  i64 hops, shift;  // the weight of a distance d in columns: d, or 2^shift / d
  i64 upwards, room, vertex_bits, depth_bits;
  i64 push_cost, expected;
};

// One group and its subgrid's memory.
struct Group {
  u64 *seen, *even, *odd;
  u32 *touched;
  int *list[2], *longs[2];
  u32 *counts[2];
  Counters *counters;
  i64 first, count;  // its sources
};

// A block's shared memory.
template <int WORDS>
struct BlockState {
  u32 counts[64 * WORDS];
  int stage[STAGE];
  u32 staged, base;
  u64 sums[BLOCK / WARP][3];
  u64 gathered[WORDS];
  Group group;
};

// This block's subgrid, and its place there. Subgrids are interleaved, so that each has blocks on every multiprocessor.
struct Subgrid {
  u32 index, block, blocks;

  __device__ Subgrid(i64 grids)
      : index(blockIdx.x % (u32)grids), block(blockIdx.x / (u32)grids), blocks(gridDim.x / (u32)grids) {}
  __device__ u64 thread() const { return (u64)block * BLOCK + threadIdx.x; }
  __device__ u64 threads() const { return (u64)blocks * BLOCK; }
};

// ---- What a block finds in a level: the vertices, their number, and what is kept of them (enum Keep).

template <class Offset, int WORDS>
struct Findings {
  static constexpr int SUBWARPS = WARP / WORDS;
  static constexpr int STEPS = SUBWARPS == 2 ? 1 : 4;             // log2(SUBWARPS)
  static constexpr u64 SHARE = ~0ull / ((1ull << SUBWARPS) - 1);  // every SUBWARPS-th bit
  static_assert(1 << STEPS == SUBWARPS, "WORDS is 2 or 16");

  const Many<Offset> &job;
  BlockState<WORDS> &block;
  const Group &group;
  const int depth, turn;
  LevelSums &sums;
  u64 arcs = 0, checked = 0, pairs = 0;
  u64 plane[PLANES] = {};  // one counter for each of a word's 64 sources: bit p of each is in plane[p]
  int added = 0;

  __device__ Findings(const Many<Offset> &job, BlockState<WORDS> &block, int depth, int turn)
      : job(job),
        block(block),
        group(block.group),
        depth(depth),
        turn(turn),
        sums(block.group.counters->sums[turn % 3]) {}

  static __device__ int my_word() { return lane() % WORDS; }
  static __device__ int my_subwarp() { return lane() / WORDS; }
  static __device__ u64 place(int v) { return (u64)v * WORDS + my_word(); }

  // Whether `yes` holds in any thread of the subwarp. The whole warp calls this and every function below except `note`.
  static __device__ bool subwarp_any(bool yes) {
    return __ballot_sync(ALL_LANES, yes) >> (my_subwarp() * WORDS) & (ALL_LANES >> (WARP - WORDS));
  }

  // Puts a vertex on this level's list. One thread of a subwarp calls this.
  __device__ void note(int v) {
    const u32 at = atomicAdd(&block.staged, 1u);
    if (at < STAGE) block.stage[at] = v;
    else group.list[turn % 2][atomicAdd(&sums.tail, 1u)] = v;
  }

  // The sources in `fresh` reach v in this level; `found`: whether any thread of the subwarp has one.
  __device__ void keep(int v, bool found, u64 fresh) {
    pairs += __popcll(fresh);
    if (found && my_word() == 0) {
      const u64 out = degree(job.offsets, v);
      arcs += out;
      if (out > job.long_row) group.longs[turn % 2][atomicAdd(&sums.longs, 1u)] = v;
    }
    if (job.keep & SUMS) count(fresh);
    if (job.keep & COLUMNS) add_column(v, found, fresh);
    if (job.keep & ROWS) fill_rows(v, fresh);
    if (job.keep & PAIRS && depth) list_pairs(v, fresh);
  }

  // Adds 1 to the counter of every source in `fresh`: 64 counters at once, with carries from plane to plane.
  __device__ void count(u64 fresh) {
    for (int p = 0; p < PLANES; ++p) {
      const u64 carry = plane[p] & fresh;
      plane[p] ^= fresh;
      fresh = carry;
    }
    if (++added == (1 << PLANES) - 1) spill();
  }

  // Empties the counters: subwarps add up their planes, then divide the sources among themselves.
  __device__ void spill() {
    u64 sum[PLANES + STEPS], any = 0;
    for (int p = 0; p < PLANES; ++p) sum[p] = plane[p], plane[p] = 0;
    for (int step = 0; step < STEPS; ++step) {
      u64 carry = 0;
      for (int p = 0; p < PLANES + STEPS; ++p) {
        if (p >= PLANES + step) continue;
        const u64 other = __shfl_xor_sync(ALL_LANES, sum[p], WORDS << step), half = sum[p] ^ other;
        const u64 both = sum[p] & other;
        sum[p] = half ^ carry;
        carry = both | (half & carry);
      }
      sum[PLANES + step] = carry;
    }
    for (int p = 0; p < PLANES + STEPS; ++p) any |= sum[p];
    for (u64 left = any & (SHARE << my_subwarp()); left; left &= left - 1) {
      const int bit = __ffsll((i64)left) - 1;
      u32 times = 0;
      for (int p = 0; p < PLANES + STEPS; ++p) times |= (u32)(sum[p] >> bit & 1) << p;
      atomicAdd(&block.counts[bit * WORDS + my_word()], times);
    }
    added = 0;
  }

  // Sums of whole numbers, whose order does not matter; engines/cpu/many/kernels.weights has the weights.
  __device__ void add_column(int v, bool found, u64 fresh) {
    int sources = __popcll(fresh);
    for (int step = 1; step < WORDS; step *= 2) sources += __shfl_xor_sync(ALL_LANES, sources, step);
    if (!found || my_word()) return;
    i64 weight = depth, square = (i64)depth * depth;
    if (!job.hops && depth) {
      const double unit = (double)(1ll << job.shift), d = depth;
      weight = (i64)rint(unit / d), square = (i64)rint(unit / (d * d));
    }
    u64 *column = (u64 *)job.columns + 3ll * v;  // other subgrids add to it too
    atomicAdd(column, (u64)sources);
    atomicAdd(column + 1, (u64)(sources * weight));
    atomicAdd(column + 2, (u64)(sources * square));
  }

  __device__ void fill_rows(int v, u64 fresh) {
    for (; fresh; fresh &= fresh - 1) {
      const int source = 64 * my_word() + __ffsll((i64)fresh) - 1;
      job.rows[job.places[group.first + source] * job.n + v] = depth;
    }
  }

  __device__ void list_pairs(int v, u64 fresh) {
    if (job.upwards)
      for (u64 left = fresh; left; left &= left - 1) {
        const int bit = __ffsll((i64)left) - 1;
        if (job.sources[group.first + 64 * my_word() + bit] > v) fresh &= ~(1ull << bit);
      }
    const u32 mine = __popcll(fresh);
    const u32 through = inclusive_scan(mine);
    u64 at = 0;
    if (lane() == WARP - 1 && through) at = atomicAdd(&group.counters->listed, (u64)through);
    at = __shfl_sync(ALL_LANES, at, WARP - 1) + through - mine;
    for (; fresh; fresh &= fresh - 1, ++at) {
      const u64 source = 64 * my_word() + __ffsll((i64)fresh) - 1;
      if (at < job.room) job.pairs[at] = (source << job.depth_bits | depth) << job.vertex_bits | v;
    }
  }

  // Adds the block's sums to its subgrid's. The whole block calls this; a barrier must follow.
  __device__ void finish() {
    if (added) spill();
    const u64 counts[3] = {arcs, checked, pairs};
    for (int i = 0; i < 3; ++i) {
      const u64 sum = warp_sum(counts[i]);
      if (lane() == 0) block.sums[block_warp()][i] = sum;
    }
    __syncthreads();
    if (threadIdx.x < 3) {
      u64 sum = 0;
      for (int warp = 0; warp < BLOCK / WARP; ++warp) sum += block.sums[warp][threadIdx.x];
      if (sum) atomicAdd(&sums.arcs + threadIdx.x, sum);
    }
    const u32 staged = block.staged < STAGE ? block.staged : STAGE;
    if (threadIdx.x == 0 && staged) block.base = atomicAdd(&sums.tail, staged);
    if (job.keep & SUMS)
      for (int i = threadIdx.x; i < 64 * WORDS; i += BLOCK)
        if (block.counts[i]) atomicAdd(&group.counts[turn % 2][i], block.counts[i]), block.counts[i] = 0;
    __syncthreads();
    for (u32 i = threadIdx.x; i < staged; i += BLOCK) group.list[turn % 2][block.base + i] = block.stage[i];
    if (threadIdx.x == 0) block.staged = 0;
  }
};

}  // namespace hopwave::many
