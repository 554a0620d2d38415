// Searches from many groups of up to 64 · WORDS sources in one cooperative launch; many/state.cuh explains the words.
//
// A level of a small or deep graph does not fill a GPU and spends its time at barriers. So the grid is cut into
// subgrids, which take one group at a time and never wait for one another.
#pragma once
#include "many/steps.cuh"

namespace hopwave::many {

// What happens between two barriers. PUSH is followed by SETTLE; PULL does both.
enum Phase { CLEAR, BEGIN, PUSH, SETTLE, PULL };

template <class Offset, int WORDS>
__device__ inline void open_group(const Many<Offset> &job, Group &group, u32 subgrid, i64 index) {
  group.seen = job.state + 3ull * WORDS * job.n * subgrid;
  group.even = group.seen + (u64)WORDS * job.n;
  group.odd = group.even + (u64)WORDS * job.n;
  group.touched = job.touched + (job.n + 31) / 32 * subgrid;
  for (int side = 0; side < 2; ++side) {
    group.list[side] = job.lists + job.n * (2ll * subgrid + side);
    group.longs[side] = job.longs + job.long_room * (2ll * subgrid + side);
    group.counts[side] = job.counts + 64ll * WORDS * (2ll * subgrid + side);
  }
  group.counters = job.counters + subgrid;
  group.first = index * job.width;
  group.count = job.count - group.first < job.width ? job.count - group.first : job.width;
}

// Adds a level's counts to the sums of the sources, with exactly the arithmetic of engines/cpu/many/kernels.fill_sums.
template <class Offset, int WORDS>
__device__ inline void add_up(const Many<Offset> &job, const Group &group, Subgrid at, int depth, int turn, u64 pairs) {
  for (u64 i = at.thread(); i < 64 * WORDS; i += at.threads()) {
    u32 *counts = group.counts[turn % 2] + i;
    const u32 fresh = __ldcg(counts);
    if (!fresh) continue;
    *counts = 0;
    const u64 source = group.first + i % WORDS * 64 + i / WORDS;
    job.reached[source] += fresh;
    job.total[source] += (i64)fresh * depth;
    job.farthest[source] = depth;
    if (depth) job.inverse[source] = __dadd_rn(job.inverse[source], __dmul_rn((double)fresh, 1.0 / (double)depth));
  }
  if (at.thread() == 0) atomicAdd((u64 *)job.histogram + depth, pairs);
}

template <class Offset, int WORDS>
__global__ void __launch_bounds__(BLOCK, 4) search_many(const Many<Offset> job) {
  __shared__ BlockState<WORDS> block;
  for (int i = threadIdx.x; i < 64 * WORDS; i += BLOCK) block.counts[i] = 0;
  if (threadIdx.x == 0) block.staged = 0;
  const Subgrid at(job.grids);
  Counters &counters = job.counters[at.index];
  u32 target = 0;
  int turn = 0;
  for (i64 index = job.first + at.index; index < job.last; index += job.grids, ++turn) {
    __syncthreads();  // other threads may still be using the last group
    if (threadIdx.x == 0) open_group<Offset, WORDS>(job, block.group, at.index, index);
    __syncthreads();
    u32 active = 0, longs = 0;
    u64 left = job.reach[index], expected = job.expected;
    Phase phase = CLEAR;
    int depth = 0;
    while (true) {
      Steps<Offset, WORDS> steps(job, block, depth, turn, at);
      if (phase == CLEAR) steps.clear();
      if (phase == BEGIN) steps.begin();
      if (phase == PUSH) steps.push(active, longs);
      if (phase == SETTLE || phase == PULL) steps.settle(phase == PULL, active);
      steps.finish();
      barrier(&counters.arrived, target, at.blocks, [] { __nanosleep(20); }, [] {});
      const LevelSums *here = &counters.sums[turn % 3];
      active = __ldcg(&here->tail);
      if (phase < SETTLE) {
        phase = phase == CLEAR ? BEGIN : SETTLE;
        continue;
      }
      const u64 arcs = __ldcg(&here->arcs), pairs = __ldcg(&here->pairs);
      longs = __ldcg(&here->longs);
      if (job.keep & SUMS) add_up<Offset, WORDS>(job, block.group, at, depth, turn, pairs);
      left -= pairs;
      if (phase == PULL) expected = __ldcg(&here->checked) + job.n;  // the next pull rarely reads more
      // Every block has read these by now: clear them for the turn after next, which may belong to another group.
      if (at.thread() == 0) counters.sums[(turn + 2) % 3] = LevelSums();
      if (!active || !left || depth >= job.limit) break;
      phase = arcs * job.push_cost > expected ? PULL : PUSH;
      ++depth, ++turn;
    }
  }
}

}  // namespace hopwave::many
