// What a block finds in a level: the vertices, their number, and what is kept of them (enum Keep).
#pragma once
#include "many/state.cuh"

namespace hopwave::many {

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

  // Records that the sources in `fresh` reach v in this level; `found`: whether any thread of the subwarp has such a
  // source.
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
#pragma unroll
    for (int p = 0; p < PLANES; ++p) {
      const u64 carry = plane[p] & fresh;
      plane[p] ^= fresh;
      fresh = carry;
    }
    if (++added == (1 << PLANES) - 1) spill();
  }

  // Empties the counters: subwarps add up their planes, and then divide the sources among themselves for the last
  // addition.
  __device__ void spill() {
    u64 sum[PLANES + STEPS], any = 0;
#pragma unroll
    for (int p = 0; p < PLANES; ++p) sum[p] = plane[p], plane[p] = 0;
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
      u64 carry = 0;
#pragma unroll
      for (int p = 0; p < PLANES + STEPS; ++p) {
        if (p >= PLANES + step) continue;
        const u64 other = __shfl_xor_sync(ALL_LANES, sum[p], WORDS << step), half = sum[p] ^ other;
        const u64 both = sum[p] & other;
        sum[p] = half ^ carry;
        carry = both | (half & carry);
      }
      sum[PLANES + step] = carry;
    }
#pragma unroll
    for (int p = 0; p < PLANES + STEPS; ++p) any |= sum[p];
    for (u64 left = any & (SHARE << my_subwarp()); left; left &= left - 1) {
      const int bit = __ffsll((i64)left) - 1;
      u32 times = 0;
#pragma unroll
      for (int p = 0; p < PLANES + STEPS; ++p) times |= (u32)(sum[p] >> bit & 1) << p;
      atomicAdd(&block.counts[bit * WORDS + my_word()], times);
    }
    added = 0;
  }

  // Sums of whole numbers, whose order does not matter; engines/cpu/many/kernels.weights has the weights.
  __device__ void add_column(int v, bool found, u64 fresh) {
    int sources = __popcll(fresh);
#pragma unroll
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

  // Encodes a pair as one number that sorts by source, then distance, then vertex.
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
