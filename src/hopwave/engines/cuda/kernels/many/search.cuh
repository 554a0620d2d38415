// Searches from many groups of sources in one cooperative launch. A level of a small or deep graph does not fill a GPU,
// so the grid is cut into subgrids. A subgrid searches from one group at a time and never waits for other subgrids.
//
//   group       the sources of one search, up to 64 · WORDS
//   row         WORDS words of 64 bits for a vertex; bit b of word w stands for source 64 w + b of the group
//   seen        rows: sources that have reached a vertex
//   front       rows: sources that reached it in the previous level   fresh   rows: in this level
//   subwarp     WORDS threads of a warp that share a row, one word each; a warp has SUBWARPS of them
//   subgrid     some blocks of the grid that share a group
//   turn        number of levels so far, over all groups that a subgrid has searched
//
// Rows of front and fresh are never cleared: bits of an earlier level are in the neighbours' rows of seen, and bits in
// seen are masked out. All threads of a warp stay converged in a loop, so that the warp can use ballots.
#pragma once
#include "common/rows.cuh"

namespace hopwave::many {

enum Keep { SUMS = 1, COLUMNS = 2, ROWS = 4, PAIRS = 8 };  // what to store: hopwave/engines/cuda/many.py

constexpr int STAGE = 1024;   // vertices that a block buffers in shared memory before it uses the list in global memory
constexpr int IN_FLIGHT = 4;  // neighbours whose rows a thread loads at a time
constexpr int PIECE = 64;     // neighbours of a long row that a subwarp reads before it checks the others' finds
constexpr int PLANES = 6;     // bits of a counter (see Findings::count): up to 63 additions

struct __align__(128) LevelSums {
  u64 arcs, checked, pairs;  // out-arcs of the vertices found; in-arcs read; new (source, vertex) pairs
  u32 tail, longs;           // vertices found; vertices found with long rows
};

struct Counters {
  LevelSums sums[3];  // of this turn, of the previous turn, and one being cleared for the next
  __align__(128) u32 arrived;
  __align__(128) u64 listed;  // number of pairs found, even without space to write them
};

// All arguments of a launch. Arrays marked "each" exist once per subgrid, one after another.
template <class Offset>
struct Many {
  const Offset *offsets;
  Neighbours<Offset> neighbours;
  const Offset *in_offsets;
  Neighbours<Offset> in_neighbours;
  const int *long_rows;       // vertices with long in-rows
  u64 *state;                 // each: seen, even, odd; the last two alternate as front and fresh
  u32 *touched;               // each: bitmap of the vertices in the list; 0 between levels
  int *lists, *longs;         // each, two alternating: the vertices found; vertices found with long out-rows
  u32 *counts;                // each, two alternating: vertices new to each source
  Counters *counters;         // each: one
  const int *sources;         // of all groups, concatenated
  const i64 *places, *reach;  // index of a source's row in `rows`; maximum pairs that a group can find
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

struct Group {
  u64 *seen, *even, *odd;
  u32 *touched;
  int *list[2], *longs[2];
  u32 *counts[2];
  Counters *counters;
  i64 first, count;  // sources of the group
};

template <int WORDS>
struct BlockState {
  u32 counts[64 * WORDS];
  int stage[STAGE];
  u32 staged, base;
  u64 sums[BLOCK / WARP][3];
  u64 gathered[WORDS];
  Group group;
};

// This block's subgrid, and its index there. Subgrids are interleaved, so that each has blocks on every multiprocessor.
struct Subgrid {
  u32 grids;
  u32 index = blockIdx.x % grids, block = blockIdx.x / grids, blocks = gridDim.x / grids;

  __device__ u64 thread() const { return (u64)block * BLOCK + threadIdx.x; }
  __device__ u64 threads() const { return (u64)blocks * BLOCK; }
};

// ---- What a block finds in a level: the vertices, their number, and the data to store (enum Keep).

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
  u64 plane[PLANES] = {};  // one counter for each of a word's 64 sources: bit p of each counter is in plane[p]
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

  // Whether `yes` holds in any thread of the subwarp. Full warps call this and every function below except `note`.
  static __device__ bool subwarp_any(bool yes) {
    return __ballot_sync(ALL_LANES, yes) >> (my_subwarp() * WORDS) & (ALL_LANES >> (WARP - WORDS));
  }

  // Adds a vertex to this level's list. One thread of a subwarp calls this.
  __device__ void note(int v) {
    const u32 at = atomicAdd(&block.staged, 1u);
    if (at < STAGE) block.stage[at] = v;
    else group.list[turn % 2][atomicAdd(&sums.tail, 1u)] = v;
  }

  // The sources in `fresh` reach v in this level; `found`: whether any thread of the subwarp has such a source.
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

  // Adds 1 to the counter of every source in `fresh`: 64 counters at a time, with carries between planes.
  __device__ void count(u64 fresh) {
    for (int p = 0; p < PLANES; ++p) {
      const u64 carry = plane[p] & fresh;
      plane[p] ^= fresh;
      fresh = carry;
    }
    if (++added == (1 << PLANES) - 1) spill();
  }

  // Flushes the counters: subwarps add up their planes, then divide the sources among themselves.
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

  // Integer sums, whose order does not matter; weights as in engines/cpu/many/kernels.weights.
  __device__ void add_column(int v, bool found, u64 fresh) {
    int sources = __popcll(fresh);
    for (int step = 1; step < WORDS; step *= 2) sources += __shfl_xor_sync(ALL_LANES, sources, step);
    if (!found || my_word()) return;
    i64 weight = depth, square = (i64)depth * depth;
    if (!job.hops && depth) {
      const double unit = (double)(1ll << job.shift), d = depth;
      weight = (i64)rint(unit / d), square = (i64)rint(unit / (d * d));
    }
    u64 *column = (u64 *)job.columns + 3ll * v;  // other subgrids also add to it
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

  // Adds the block's sums to its subgrid's. The full block calls this function; a barrier must follow.
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

// ---- The steps of a level. A push sends rows, and `settle` finds the new bits in them; a pull does both in one step.

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

  // The index of this warp's first subwarp in the subgrid, and the number of subwarps.
  __device__ u64 first_subwarp() const { return at.thread() / WARP * SUBWARPS; }
  __device__ u64 all_subwarps() const { return at.threads() / WORDS; }

  // Adds bits to v's row of fresh; one thread of the subwarp lists v unless it is already listed.
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

  __device__ void begin() {
    for (u64 i = first_subwarp(); i < group.count; i += all_subwarps()) {
      const u64 source = i + my_subwarp();
      const bool there = source < group.count;
      const bool mine = there && source / 64 == my_word();
      pass_on(there ? job.sources[group.first + source] : 0, mine ? 1ull << source % 64 : 0);
    }
  }

  __device__ void push_arcs(u64 bits, Offset e, Offset end) {
    while (__any_sync(ALL_LANES, e < end)) {
      int v[IN_FLIGHT];
      u64 got[IN_FLIGHT];
      for (int k = 0; k < IN_FLIGHT; ++k) v[k] = e + k < end ? neighbour(job.neighbours, e, k) : -1;
      for (int k = 0; k < IN_FLIGHT; ++k) got[k] = v[k] >= 0 && bits ? bits & ~all_seen[place(v[k])] : 0;
      for (int k = 0; k < IN_FLIGHT; ++k)
        if (got[k]) got[k] &= ~__ldcg(fresh + place(v[k]));
      for (int k = 0; k < IN_FLIGHT; ++k) pass_on(v[k], got[k]);
      e += IN_FLIGHT;
    }
  }

  // Vertices of the previous level send their rows: one subwarp per vertex, and all subwarps on each long list.
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
      // Each list starts at a different warp, so that many lists of medium length occupy all warps.
      const u64 first = (first_subwarp() + (u64)i * SUBWARPS) % all_subwarps();
      for (u64 e = begin + first * PIECE; e < end; e += all_subwarps() * PIECE) {
        const u64 mine = e + my_subwarp() * PIECE;
        push_arcs(bits, (Offset)(mine < end ? mine : end), (Offset)(mine + PIECE < end ? mine + PIECE : end));
      }
    }
  }

  // Returns `left` without the bits in the rows of neighbours [e, end). Stops when the subwarp has no remaining bits.
  __device__ u64 look(u64 left, Offset e, Offset end, bool open) {
    int u[IN_FLIGHT], ahead[IN_FLIGHT];
    const Offset begin = e;
    for (int k = 0; k < IN_FLIGHT; ++k) u[k] = open && e + k < end ? neighbour(job.in_neighbours, e, k) : -1;
    while (__any_sync(ALL_LANES, open && e < end)) {
      u64 got = 0;
      for (int k = 0; k < IN_FLIGHT; ++k)
        ahead[k] = open && e + IN_FLIGHT + k < end ? neighbour(job.in_neighbours, e, IN_FLIGHT + k) : -1;
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

  // In a pull: returns the bits that v lacks and its in-neighbours have. pull_long processes long rows.
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
    if (!subwarp_any(missing)) return 0;  // equal in all subwarps
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

  // After a push, processes the listed vertices; in a pull, every vertex, one subwarp each, and then the long rows.
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

// What happens between two barriers. SETTLE follows PUSH; PULL does both.
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

// Adds a level's counts to the sums of the sources, with the exact arithmetic of engines/cpu/many/kernels.fill_sums.
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
  const Subgrid at{(u32)job.grids};
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
      // Every block has read these sums by now: clear them for the turn after next, which may belong to another group.
      if (at.thread() == 0) counters.sums[(turn + 2) % 3] = LevelSums();
      if (!active || !left || depth >= job.limit) break;
      phase = arcs * job.push_cost > expected ? PULL : PUSH;
      ++depth, ++turn;
    }
  }
}

}  // namespace hopwave::many
