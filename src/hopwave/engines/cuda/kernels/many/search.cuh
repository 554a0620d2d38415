#pragma once
#include "many/state.cuh"

namespace hopwave::many {

// ---- The steps of a level. A push passes rows on, and `settle` finds what is new in them; a pull does both at once.

template <class Offset, int WORDS>
struct Steps : Findings<Offset, WORDS> {
  using Base = Findings<Offset, WORDS>;
  using Base::job, Base::block, Base::group, Base::turn, Base::checked, Base::note, Base::keep, Base::place,
      Base::subwarp_any, Base::my_word, Base::my_subwarp;
  static constexpr int SUBWARPS = Base::SUBWARPS, BLOCK_SUBWARPS = BLOCK / WORDS;

  u64 *const all_seen, *const front, *const fresh;
  const Subgrid at;

  __device__ Steps(const Many<Offset> &job, BlockState<WORDS> &block, int depth, int turn, Subgrid at)
      : Base(job, block, depth, turn),
        all_seen(block.group.seen),
        front(turn % 2 ? block.group.even : block.group.odd),
        fresh(turn % 2 ? block.group.odd : block.group.even),
        at(at) {}

  // The number of this warp's first subwarp in the subgrid, and the number of all subwarps.
  __device__ u64 first_subwarp() const { return at.thread() / WARP * SUBWARPS; }
  __device__ u64 all_subwarps() const { return at.threads() / WORDS; }

  // Adds bits to v's row of fresh; one thread of the subwarp puts v on the list unless it is there already.
  __device__ void pass_on(int v, u64 bits) {
    if (bits) atomicOr(fresh + place(v), bits);
    if (!subwarp_any(bits) || my_word()) return;
    u32 *touched = group.touched + v / 32;
    const u32 bit = 1u << v % 32;
    if (!(__ldcg(touched) & bit) && !(atomicOr(touched, bit) & bit)) note(v);
  }

  __device__ void clear() {
    const u64 words = 3ull * WORDS * job.n;  // an even number
    ulonglong2 *rows = (ulonglong2 *)all_seen;
    for (u64 i = at.thread(); i < words / 2; i += at.threads()) rows[i] = make_ulonglong2(0, 0);
  }

  // Every source reaches itself.
  __device__ void begin() {
    for (u64 i = first_subwarp(); i < group.count; i += all_subwarps()) {
      const u64 source = i + my_subwarp();
      const bool there = source < group.count;
      const bool mine = there && source / 64 == my_word();
      pass_on(there ? job.sources[group.first + source] : 0, mine ? 1ull << source % 64 : 0);
    }
  }

  // Passes the bits on to the neighbours [e, end), IN_FLIGHT of them at a time.
  __device__ void push_arcs(u64 bits, Offset e, Offset end) {
    while (__any_sync(ALL_LANES, e < end)) {
      int v[IN_FLIGHT];
      u64 got[IN_FLIGHT];
      for (int k = 0; k < IN_FLIGHT; ++k) v[k] = e + k < end ? neighbour(job.neighbours, e + k) : -1;
      for (int k = 0; k < IN_FLIGHT; ++k) got[k] = v[k] >= 0 && bits ? bits & ~all_seen[place(v[k])] : 0;
      for (int k = 0; k < IN_FLIGHT; ++k)
        if (got[k]) got[k] &= ~__ldcg(fresh + place(v[k]));
      for (int k = 0; k < IN_FLIGHT; ++k) pass_on(v[k], got[k]);
      e += IN_FLIGHT;
    }
  }

  // Vertices found before pass on their rows: one subwarp per vertex, and all subwarps on each long list.
  __device__ void push(u32 active, u32 longs) {
    const int *list = group.list[(turn + 1) % 2];
    for (u64 i = first_subwarp(); i < active; i += all_subwarps()) {
      const bool there = i + my_subwarp() < active;
      const int u = there ? list[i + my_subwarp()] : 0;
      Offset e = there ? __ldg(job.offsets + u) : 0, end = there ? __ldg(job.offsets + u + 1) : 0;
      if (end - e > job.long_row) end = e;
      push_arcs(e < end ? front[place(u)] : 0, e, end);
    }
    for (u32 i = 0; i < longs; ++i) {
      const int u = group.longs[(turn + 1) % 2][i];
      const u64 bits = front[place(u)], begin = __ldg(job.offsets + u), end = __ldg(job.offsets + u + 1);
      // Each list starts at a different warp, so that many lists of medium length keep all warps busy.
      const u64 first = (first_subwarp() + (u64)i * SUBWARPS) % all_subwarps();
      for (u64 e = begin + first * PIECE; e < end; e += all_subwarps() * PIECE) {
        const u64 mine = e + my_subwarp() * PIECE;
        push_arcs(bits, (Offset)(mine < end ? mine : end), (Offset)(mine + PIECE < end ? mine + PIECE : end));
      }
    }
  }

  // Returns `left` without the bits that the rows of neighbours [e, end) have. Stops when the subwarp has no bits left.
  __device__ u64 look(u64 left, Offset e, Offset end, bool open) {
    int u[IN_FLIGHT], ahead[IN_FLIGHT];
    const Offset begin = e;
    for (int k = 0; k < IN_FLIGHT; ++k) u[k] = open && e + k < end ? neighbour(job.in_neighbours, e + k) : -1;
    while (__any_sync(ALL_LANES, open && e < end)) {
      u64 got = 0;
      for (int k = 0; k < IN_FLIGHT; ++k)
        ahead[k] = open && e + IN_FLIGHT + k < end ? neighbour(job.in_neighbours, e + IN_FLIGHT + k) : -1;
      for (int k = 0; k < IN_FLIGHT; ++k) got |= u[k] >= 0 && left ? front[place(u[k])] : 0;
      if (open && e < end) e += IN_FLIGHT;
      left &= ~got;
      open = subwarp_any(left) && open;
      for (int k = 0; k < IN_FLIGHT; ++k) u[k] = open ? ahead[k] : -1;
    }
    if (my_word() == 0) checked += (u64)((e < end ? e : end) - begin);
    return left;
  }

  // After a push: returns the new bits in v's row of fresh; one subwarp per vertex.
  __device__ u64 settle_row(int v, bool there) {
    if (!there) return 0;
    const u64 seen = all_seen[place(v)], bits = fresh[place(v)] & ~seen;
    fresh[place(v)] = bits;
    if (bits) all_seen[place(v)] = seen | bits;
    group.touched[v / 32] = 0;
    return bits;
  }

  // In a pull: returns the bits that v lacks and its in-neighbours have. Leaves long rows to pull_long.
  __device__ u64 pull_row(int v, bool there, u64 full) {
    const u64 missing = there ? full & ~all_seen[place(v)] : 0;
    bool open = subwarp_any(missing);
    Offset e = open ? __ldg(job.in_offsets + v) : 0, end = open ? __ldg(job.in_offsets + v + 1) : 0;
    if (end - e > job.long_row) end = e, open = false;
    return write_row(v, missing & ~look(missing, e, end, open));
  }

  // All subwarps of the block read one long row; the first subwarp returns the bits.
  __device__ u64 pull_long(int v, u64 full) {
    const u64 missing = full & ~all_seen[place(v)];
    if (!subwarp_any(missing)) return 0;  // the same in all subwarps
    if (threadIdx.x < WORDS) block.gathered[threadIdx.x] = 0;
    __syncthreads();
    const u64 begin = __ldg(job.in_offsets + v), end = __ldg(job.in_offsets + v + 1);
    u64 left = missing;
    for (u64 first = begin + threadIdx.x / WARP * SUBWARPS * PIECE; first < end; first += BLOCK_SUBWARPS * PIECE) {
      const u64 e = first + my_subwarp() * PIECE;
      left &= ~*(volatile u64 *)&block.gathered[my_word()];
      const bool open = subwarp_any(left) && e < end;
      const u64 after = look(left, (Offset)(e < end ? e : end), (Offset)(e + PIECE < end ? e + PIECE : end), open);
      if (left & ~after) atomicOr(&block.gathered[my_word()], left & ~after);
      left = after;
      if (!__any_sync(ALL_LANES, left != 0)) break;
    }
    __syncthreads();
    const u64 bits = threadIdx.x < WORDS ? missing & block.gathered[my_word()] : 0;
    __syncthreads();
    return write_row(v, bits);
  }

  __device__ u64 write_row(int v, u64 bits) {
    if (bits) all_seen[place(v)] |= bits;
    if (!subwarp_any(bits)) return 0;
    fresh[place(v)] = bits;
    if (my_word() == 0) note(v);
    return bits;
  }

  // After a push, takes the vertices on the list; in a pull, every vertex, one subwarp each, and then the long rows.
  __device__ void settle(bool pulling, u32 tail) {
    const i64 sources = group.count - 64ll * my_word();
    const u64 full = sources >= 64 ? ~0ull : sources > 0 ? (1ull << sources) - 1 : 0;
    const u64 size = pulling ? job.n : tail, longs = pulling ? job.long_count : 0;
    u64 i = first_subwarp(), row = at.block;
    while (i < size || row < longs) {
      const bool shared = i >= size;
      const bool there = !shared && i + my_subwarp() < size;
      int v = 0;
      u64 bits;
      if (shared) {
        v = __ldg(job.long_rows + row);
        bits = pull_long(v, full);
        row += at.blocks;
      } else {
        if (there) v = pulling ? (int)(i + my_subwarp()) : group.list[turn % 2][i + my_subwarp()];
        bits = pulling ? pull_row(v, there, full) : settle_row(v, there);
        i += all_subwarps();
      }
      keep(v, subwarp_any(bits), bits);
    }
  }
};

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
