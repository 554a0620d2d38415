// Small levels by a team: one block alone, some blocks, or all of them. Roads and meshes have thousands of these levels.
//
// Each block keeps its part of the frontier in its shared memory, lists cut into pieces of four or eight arcs: a thread
// has one arc of one piece, so a level is balanced whatever its degrees, and a vertex found is one piece more, or two.
// What a block finds is its part of the next frontier; nothing is exchanged but sums. A team whose parts have become
// uneven leaves its frontier in the queue, and the next team starts with even parts.
//
// A block has workers and one messenger. While the messenger meets those of the other blocks, the workers ask for all
// that may be known of the level to come: neighbours, whether they are visited already, where their own lists begin. So
// a level costs the meeting and one more trip to memory, the claim. After that it is instructions that take the time,
// one after another: hence the care about every one of them here.
//
// A team's barrier is one 64-bit word to which each block adds itself, its wish to leave, its vertices and its arcs: who
// sees all blocks there also has the sums. The words only grow; two take turns, so a fast block cannot disturb a slow
// one. There is no fence: a block arrives when its claims have been answered, and claims, made where all blocks meet in
// the L2 cache, are all that teams share. What workers see of other blocks' claims before the meeting may be old, which
// costs a claim in vain and nothing else: bits are only ever set.
#pragma once
#include "hopwave_state.cuh"

#ifndef HOPWAVE_WORKERS
#define HOPWAVE_WORKERS 992
#endif
#ifndef HOPWAVE_UNEVEN
#define HOPWAVE_UNEVEN 992
#endif
#ifndef HOPWAVE_UNEVEN_TIMES
#define HOPWAVE_UNEVEN_TIMES 3
#endif
#ifndef HOPWAVE_EIGHT
#define HOPWAVE_EIGHT 5
#endif
constexpr u32 WORKERS = HOPWAVE_WORKERS;  // threads of a block with arcs; the warp after them is the messenger's
constexpr u32 VERTICES = 2048;            // nor may a block begin with many more vertices, though they had no arcs
constexpr u32 ALONE_ARCS = 608;           // with so many, pieces fit into one block whatever the degrees
constexpr u32 UNEVEN = HOPWAVE_UNEVEN;            // lanes from which a block with three times its share wishes to leave
constexpr int RENT = 8;                   // levels too small for a team before it leaves: that many cost what a change does
constexpr u32 MOST_BLOCKS = 255;

template <class Offset>
struct Team {
  static constexpr u32 LANES = sizeof(Offset) == 4 ? 4096 : 3072;  // of a block's part of a frontier, at most
  static constexpr u32 PIECES = LANES / 4;
  Offset begin[2][PIECES];
  int length[2][PIECES];        // arcs to the list's end
  int from[2][PIECES];
  int found[LANES];
};
static_assert(sizeof(Team<int>) <= ROOM && sizeof(Team<i64>) <= ROOM, "both frontiers must fit");
static_assert(ALONE_ARCS / 4 * 5 <= Team<i64>::PIECES, "the pieces of a frontier for one block must fit");

// A block's vertices and pieces in one number, so that one addition finds a place for both; and its arcs.
struct Size {
  u32 places, arcs;
};
constexpr int VERTEX_BIT = 18;
constexpr u32 PIECE_BITS = (1u << VERTEX_BIT) - 1;
// What a block tells its team: itself, its wish to leave, vertices, arcs.
constexpr u64 ONE_BLOCK = 1ull << 56, ONE_WISH = 1ull << 48;
constexpr int TEAM_VERTEX_BIT = 26;
constexpr u64 TEAM_ARC_BITS = (1ull << TEAM_VERTEX_BIT) - 1;
constexpr u32 MOST_ARCS = 1u << 17;

// Append the lists of the lanes' fresh vertices to a frontier, as far as they fit; note the vertices in `found`.
template <class Offset, bool PARENTS, bool NOTED>
__device__ __forceinline__ void append(bool fresh, int u, Offset begin, Offset end, int shift, Size &size,
                                       Team<Offset> &team, int side) {
  constexpr u32 LANES = Team<Offset>::LANES, FEW = 8;
  const u32 all = __ballot_sync(ALL, fresh);
  if (!all) return;
  const u32 degree = fresh ? (u32)min((i64)(end - begin), (i64)LANES + 1) : 0;
  u32 pieces = (degree + (1u << shift) - 1) >> shift;
  // A sum by the bits of small numbers: shorter than five shuffles.
  const u32 one = __ballot_sync(ALL, pieces & 1), two = __ballot_sync(ALL, pieces & 2);
  u32 before = __popc(one & below()) + 2 * __popc(two & below()), total = __popc(one) + 2 * __popc(two);
  const bool many = __any_sync(ALL, pieces > 3);
  if (many) {
    before = inclusive_scan(pieces) - pieces;
    total = min(__shfl_sync(ALL, before + pieces, 31), LANES / 4 + 1);
  }
  const u32 arcs = warp_sum(degree);
  u32 at = 0;
  if (lane() == 0) {
    at = atomicAdd(&size.places, (__popc(all) << VERTEX_BIT) + total);
    atomicAdd(&size.arcs, arcs);
  }
  at = __shfl_sync(ALL, at, 0);
  if (NOTED && fresh) team.found[(at >> VERTEX_BIT) + __popc(all & below())] = u;
  const u32 place = (at & PIECE_BITS) + before;
  if (place + pieces > LANES >> shift) pieces = 0;
  auto write = [&](u32 to, int v, Offset first, int length) {
    team.begin[side][to] = first, team.length[side][to] = length;
    if (PARENTS) team.from[side][to] = v;
  };
  if (pieces) write(place, u, begin, degree);
  if (!__any_sync(ALL, pieces > 1)) return;
  const u32 own = pieces <= FEW ? pieces : 0;
#pragma unroll 1
  for (u32 i = 1; i < own; i++) write(place + i, u, begin + (i << shift), degree - (i << shift));
  if (!many) return;
  for (u32 todo = __ballot_sync(ALL, pieces > FEW); todo; todo &= todo - 1) {  // by the whole warp, one after another
    const int lead = __ffs(todo) - 1, v = __shfl_sync(ALL, u, lead);
    const u32 to = __shfl_sync(ALL, place, lead), length = __shfl_sync(ALL, degree, lead);
    const Offset first = __shfl_sync(ALL, begin, lead);
    for (u32 i = lane(); i << shift < length; i += 32) write(to + i, v, first + (i << shift), length - (i << shift));
  }
}

// Loads that stay where they are written: the compiler would put them off until they are needed, after a barrier.
__device__ __forceinline__ int load_now(const int *at) {
  int x;
  asm volatile("ld.global.nc.b32 %0, [%1];" : "=r"(x) : "l"(at));
  return x;
}
__device__ __forceinline__ i64 load_now(const i64 *at) {
  i64 x;
  asm volatile("ld.global.nc.b64 %0, [%1];" : "=l"(x) : "l"(at));
  return x;
}
__device__ __forceinline__ u32 load_now(const u32 *at) {  // what others may be writing: from the L2 cache
  u32 x;
  asm volatile("ld.relaxed.gpu.global.b32 %0, [%1];" : "=r"(x) : "l"(at));
  return x;
}

// A worker's part in the levels of a team.
template <class Offset, bool PARENTS, bool ALONE>
struct Worker {
  const Graph<Offset> &graph;
  Answer answer;
  u32 *visited;
  Team<Offset> &team;
  int shift, side;              // of the pieces' size; of the frontier at hand
  u32 lanes;                    // of this frontier: pieces, times their size
  int u;                        // the neighbour at hand,
  u32 bit;                      // its bit, if it may be fresh,
  Offset begin, end;            // and its own list

  // Ask for what can be known of this thread's arc, from `first` on.
  __device__ __forceinline__ void look(u32 first) {
    const u32 i = first + threadIdx.x, j = i & ((1u << shift) - 1), piece = min(i, lanes - 1) >> shift;
    if ((i & ~31u) >= lanes) return;
    const Offset arc = team.begin[side][piece] + j;
    const bool mine = i < lanes && (int)j < team.length[side][piece];
    u = load_now(graph.neighbours + (mine ? arc : 0));
    if (!mine) u = -1;
    bit = bit_of(u);
    if (!ALONE) bit &= ~load_now((const u32 *)visited + word_of(u));
    const Offset *list = graph.offsets + (bit ? u : 0);
    begin = load_now(list), end = load_now(list + 1);
  }

  __device__ __forceinline__ void level(int depth, Size &size) {
    for (u32 first = 0; first < lanes; first += WORKERS) {
      if (first) look(first);
      const u32 i = first + threadIdx.x;
      if ((i & ~31u) >= lanes) return;
      const bool fresh = bit & ~claim(visited + word_of(u), bit);
      if (fresh) {
        answer.distance[u] = depth;
        if (PARENTS) answer.parent[u] = team.from[side][i >> shift];
      }
      append<Offset, PARENTS, true>(fresh, u, begin, end, shift, size, team, side ^ 1);
    }
  }
};

// Workers and the messenger.
__device__ __forceinline__ void team_sync() { asm volatile("bar.sync 1, %0;" ::"n"(WORKERS + 32) : "memory"); }

// All blocks of a team meet; returns the sum of what they brought. `before` is the word's value when all had met there
// last. For one thread a block.
__device__ __forceinline__ u64 team_meet(u64 *word, u64 &before, u64 brought, u32 blocks) {
  asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(word), "l"(ONE_BLOCK + brought) : "memory");
  u64 now;
  do now = *(volatile u64 *)word - before;
  while (now >> 56 != blocks);
  before += now;
  return now & (ONE_BLOCK - 1);
}

// What a team is to do, and where it is.
template <class Offset>
struct Task {
  const Graph<Offset> &graph;
  const Work &work;
  Answer answer;
  u32 blocks;
  double alpha;
  int depth_limit;
  u32 fewest, most;     // arcs below and above which a frontier does not suit this team
  Sums *sums;           // gets what the grid must know of the frontier that the team leaves
  u64 (*word)[16];
  Standing *standing;
};

// This block's part of the frontier, from the queue, or after a pull from the difference of the bitmaps.
template <class Offset, bool PARENTS>
__device__ __forceinline__ void deal(const Task<Offset> &task, const Standing &at, int shift, Size &size,
                                     Team<Offset> &team) {
  const Graph<Offset> &graph = task.graph;
  auto take = [&](bool mine, int v) {
    const Offset begin = __ldg(graph.offsets + (mine ? v : 0)), end = __ldg(graph.offsets + (mine ? v + 1 : 0));
    append<Offset, PARENTS, false>(mine, v, begin, end, shift, size, team, 0);
  };
  if (at.queued) {
    const u32 part = at.nf / task.blocks + (blockIdx.x < at.nf % task.blocks);
    for (u32 i = threadIdx.x; i < ((part + 31) & ~31u); i += BLOCK)
      take(i < part, i < part ? __ldcg(task.work.queue + at.begin + blockIdx.x + i * task.blocks) : 0);
    return;
  }
  const u32 words = (u32)((graph.n + 31) / 32), warps = task.blocks * WARPS;
  const u32 each = min(32u, (words + warps - 1) / warps);
  for (u32 first = (block_warp() * task.blocks + blockIdx.x) * each; first < words; first += warps * each) {
    const u32 w = first + lane();
    u32 bits = 0;
    if (lane() < each && w < words) bits = task.work.visited(at.which)[w] & ~task.work.visited(at.which ^ 1)[w];
    for (; __any_sync(ALL, bits); bits &= bits - 1) take(bits, w * 32 + __ffs(bits) - 1);
  }
}

// The team takes levels as long as they suit it and the rule surely pushes. A grid barrier must follow.
template <class Offset, bool PARENTS, bool ALONE>
__device__ void team_levels(const Task<Offset> &task, const Standing &at, unsigned char *room) {
  const Graph<Offset> &graph = task.graph;
  const Work &work = task.work;
  const u32 blocks = ALONE ? 1 : task.blocks;
  Team<Offset> &team = *(Team<Offset> *)room;
  __shared__ Size sizes[3];             // of the frontier at hand, of the coming one, and one being cleared
  __shared__ u32 shared_found, base;
  __shared__ int stop, refused;
  u64 *word = task.word[1], *other = task.word[0];  // take turns; and what was there when the team met there last
  u64 before = 0, other_before = 0;
  const int shift = at.mf > (u64)HOPWAVE_EIGHT * at.nf ? 3 : 2;
  const u32 most_pieces = Team<Offset>::LANES >> shift;
  if (threadIdx.x < 3) sizes[threadIdx.x] = Size{};
  __syncthreads();
  deal<Offset, PARENTS>(task, at, shift, sizes[2], team);
  __syncthreads();
  if (!ALONE) {  // does every block's part fit?
    if (threadIdx.x == WORKERS)
      refused = team_meet(other, other_before, (sizes[2].places & PIECE_BITS) > most_pieces ? ONE_WISH : 0, blocks) != 0;
    __syncthreads();
    if (refused) {
      if (blockIdx.x == 0 && threadIdx.x == 0) {
        task.sums->mf = at.mf, task.sums->big = at.big;
        Standing same = at;
        same.refused = same.depth;
        same.mu += same.mf;  // taken off again after the barrier
        *task.standing = same;
      }
      return;
    }
  }

  int next = 0;  // sizes[next] counts the coming frontier
  if (threadIdx.x < WORKERS) {
    Worker<Offset, PARENTS, ALONE> worker{graph, task.answer, work.visited(at.which), team, shift, 0,
                                          (sizes[2].places & PIECE_BITS) << shift};
    int depth = at.depth;
    worker.look(0);
    do {
      worker.level(++depth, sizes[next]);
      team_sync();
      const u32 pieces = sizes[next].places & PIECE_BITS;
      worker.lanes = pieces <= most_pieces ? pieces << shift : 0;  // an overfull frontier has gaps; the team will leave
      worker.side ^= 1;
      next = next == 2 ? 0 : next + 1;
      worker.look(0);
      team_sync();
    } while (!stop);
  } else if (threadIdx.x < WORKERS + 32) {
    Standing here = at;
    int rent = 0;
    bool on = true;
    while (on) {
      team_sync();
      if (lane() == 0) {
        const Size size = sizes[next];
        const u32 found = size.places >> VERTEX_BIT, pieces = size.places & PIECE_BITS, arcs = min(size.arcs, MOST_ARCS);
        next = next == 2 ? 0 : next + 1;
        sizes[next] = Size{};
        u32 new_found = found;
        u64 new_arcs = arcs;
        bool wish = pieces > most_pieces;
        if (!ALONE) {
          wish |= pieces << shift > UNEVEN && (u64)arcs * blocks > HOPWAVE_UNEVEN_TIMES * here.mf;
          const u64 brought = (wish ? ONE_WISH : 0) + ((u64)found << TEAM_VERTEX_BIT) + arcs;
          const u64 all = team_meet(word, before, brought, blocks), used = before;
          u64 *const used_word = word;
          word = other, other = used_word, before = other_before, other_before = used;
          wish = all >= ONE_WISH;
          new_found = (u32)((all & (ONE_WISH - 1)) >> TEAM_VERTEX_BIT), new_arcs = all & TEAM_ARC_BITS;
        }
        step_forward(here, work, PUSH, new_found, new_arcs, here.mf, blocks);
        rent = new_arcs < task.fewest ? rent + 1 : 0;
        on = !(wish || new_arcs > task.most || rent > RENT || over(here, task.depth_limit) ||
               may_pull(task.alpha, graph.n, here));
        stop = !on;
        if (!on) {
          shared_found = found;
          if (found) base = atomicAdd(&work.counters->tail, found);
          if (blockIdx.x == 0) {
            Standing left = at;  // what the loop never touches need not be kept in registers
            left.nf = here.nf, left.nf0 = here.nf0, left.reached = here.reached;
            left.mu = here.mu + new_arcs;  // the exact number is taken off after the barrier
            left.depth = here.depth, left.last = PUSH, left.levels = here.levels;
            left.begin = at.tail, left.tail = at.tail + here.nf, left.queued = 1;
            *task.standing = left;
          }
        }
      }
      on = __shfl_sync(ALL, on, 0);
      team_sync();
    }
  }
  __syncthreads();

  // Leave the frontier in the queue, and what a rule and a grid want to know of it, exactly.
  u64 edges = 0;
  u32 big = 0;
  for (u32 i = threadIdx.x; i < ((shared_found + 31) & ~31u); i += BLOCK) {
    const int v = i < shared_found ? team.found[i] : 0;
    i64 begin = 0, degree = 0;
    if (i < shared_found) {
      begin = __ldg(graph.offsets + v), degree = __ldg(graph.offsets + v + 1) - begin;
      work.queue[base + i] = v;
    }
    edges += degree, big += degree >= work.chunk;
    cut_long(v, begin, degree, work, task.sums);
  }
  const Three all = block_sum(edges, big, 0);
  if (threadIdx.x == 0) {
    if (all.a) atomicAdd(&task.sums->mf, all.a);
    if (all.b) atomicAdd(&task.sums->big, all.b);
  }
}
