// Small levels by a team of one block, some blocks, or all blocks. Roads and meshes have thousands of such levels.
//
// Each block keeps its share of the frontier in shared memory, with lists cut into pieces of four or eight arcs, one
// lane per arc. The vertices that a block finds are its share of the next frontier; blocks exchange only sums. While a
// block's messenger synchronises with the other messengers, its workers load the data already known of the next level.
// A level therefore costs one synchronisation and one more memory access, the claim.
//
// Timeline of a level ( | is __syncthreads() )
//
//   workers     | claim_level()                       | prefetch_share()                          | next level
//               |   claim the prefetched vertices,        |   of the coming share: neighbour,         |
//               |   write vertices and pieces found   |   visited?, begin and end of its list     |
//   messenger   | step()                              | settle()                                  | step()
//               |   trace and standing of             |   add to the team's word, wait for all    |
//               |   the level before                  |   blocks, decide what comes next          |
//
// After a level the team continues (NEXT_LEVEL), leaves the frontier to the grid (LEAVE) or, if shares have become
// uneven, queues the frontier and starts again (REDISTRIBUTE). At the start it rejects shares that do not fit (REFUSE).
//
// The team's word: 64 bits in global memory to which every block adds once per synchronisation.
//
//   bits       63 ... 56   55 ... 48                47 ... 26        25 ... 0
//   sum of     blocks      votes to redistribute    vertices found   their arcs
//   at most    255         255                      255 · (2^14-1)   255 · 2^17
//
// Within a phase the word is never cleared: the sums of a synchronisation are its difference, modulo 2^64, from the
// previous value. Two words alternate, so that a fast block cannot disturb a slow one. A level needs no fence: blocks
// share only claims, which are made in the common L2 cache, and a block arrives after its claims have returned.
#pragma once
#include "one_launch/state.cuh"

namespace hopwave::one_launch {

// ---- A block's share of a small frontier, in shared memory: lists cut into pieces of 2^shift arcs. With one addition,
// a warp reserves space for all pieces of the vertices it found.

template <class Offset>
struct FrontierShare {
  static constexpr u32 LANES = sizeof(Offset) == 4 ? 4096 : 3072, PIECES = LANES / 4;  // capacity
  Offset begin[PIECES];                                                                // first arc of a piece
  int length[PIECES];  // number of arcs from there to the end of the list
  int from[PIECES];    // the vertex that owns the list
  static constexpr int BEGIN_AT = 0, LENGTH_AT = PIECES * sizeof(Offset), FROM_AT = LENGTH_AT + 4 * PIECES;
};

// Scratch memory of a team block: its share of this frontier and of the next one, and the vertices of the next one.
template <class Offset>
struct TeamScratch {
  FrontierShare<Offset> share[2];
  int found[FrontierShare<Offset>::LANES];
  static constexpr int FOUND_AT = 2 * sizeof(FrontierShare<Offset>);
};

static_assert(sizeof(TeamScratch<int>) <= SCRATCH_BYTES && sizeof(TeamScratch<i64>) <= SCRATCH_BYTES, "must fit");

// Fill level of a share. `places`: vertices in bits 31 ... 18, pieces in bits 17 ... 0; one addition reserves both.
struct Size {
  u32 places, arcs;
  static constexpr int ARCS_AT = 4;
};
constexpr int VERTEX_BIT = 18;
constexpr u32 PIECE_BITS = (1u << VERTEX_BIT) - 1;

// Shared-memory addresses that stay in registers: otherwise the compiler computes them at every use.
__device__ __forceinline__ u32 address_of(const void *shared) {
  u32 address = (u32)__cvta_generic_to_shared(shared);
  asm volatile("" : "+r"(address));
  return address;
}
template <int AT, class T>
__device__ __forceinline__ void put(u32 address, T x) {
  if constexpr (sizeof(T) == 4) asm volatile("st.shared.b32 [%0+%1], %2;" ::"r"(address), "n"(AT), "r"(x) : "memory");
  else asm volatile("st.shared.b64 [%0+%1], %2;" ::"r"(address), "n"(AT), "l"(x) : "memory");
}
template <int AT, class T>
__device__ __forceinline__ void get(u32 address, T &x) {
  if constexpr (sizeof(T) == 4) asm volatile("ld.shared.b32 %0, [%1+%2];" : "=r"(x) : "r"(address), "n"(AT) : "memory");
  else asm volatile("ld.shared.b64 %0, [%1+%2];" : "=l"(x) : "r"(address), "n"(AT) : "memory");
}

// Where a warp writes its new vertices and their pieces.
struct Places {
  u32 all, pieces, place, found;
  int degree;
};

// Reserves space for the lists of the lanes' new vertices; `size` is the shared address of a Size.
template <class Offset>
__device__ __forceinline__ Places reserve(bool fresh, Offset begin, Offset end, int shift, u32 size) {
  constexpr u32 LANES = FrontierShare<Offset>::LANES, PIECES = FrontierShare<Offset>::PIECES;
  Places my{__ballot_sync(ALL_LANES, fresh)};
  if (!my.all) return my;
  my.degree = fresh ? (int)min((i64)(end - begin), (i64)LANES + 1) : 0;
  my.pieces = (u32)(my.degree + (1 << shift) - 1) >> shift;
  // Prefix sums of numbers up to 3, by their bits: cheaper than five shuffles.
  const u32 one = __ballot_sync(ALL_LANES, my.pieces & 1), two = __ballot_sync(ALL_LANES, my.pieces & 2);
  u32 before = __popc(one & lanes_below()) + 2 * __popc(two & lanes_below()), total = __popc(one) + 2 * __popc(two);
  if (__any_sync(ALL_LANES, my.pieces > 3)) {
    before = inclusive_scan(my.pieces) - my.pieces;
    total = min(__shfl_sync(ALL_LANES, before + my.pieces, 31), PIECES + 1);
  }
  const u32 arcs = warp_sum((u32)my.degree);
  u32 at = 0;
  asm volatile("{\n .reg .pred p;\n setp.eq.u32 p, %4, 0;\n @p atom.shared.add.u32 %0, [%1], %2;\n"
               " @p red.shared.add.u32 [%1+%5], %3;\n}"
               : "+r"(at)
               : "r"(size), "r"((__popc(my.all) << VERTEX_BIT) + total), "r"(arcs), "r"(lane()), "n"(Size::ARCS_AT)
               : "memory");
  at = __shfl_sync(ALL_LANES, at, 0);
  my.place = (at & PIECE_BITS) + before, my.found = (at >> VERTEX_BIT) + __popc(my.all & lanes_below());
  return my;
}

// Writes the pieces that fit; `share` is the shared address of a FrontierShare.
template <class Offset, bool FROM>
__device__ __forceinline__ void store(Places my, int u, Offset begin, int shift, u32 most_pieces, u32 share) {
  using Share = FrontierShare<Offset>;
  constexpr u32 FEW = 8;
  auto write = [&](u32 to, int v, Offset first, int length) {
    put<Share::BEGIN_AT>(share + to * (u32)sizeof(Offset), first);
    put<Share::LENGTH_AT>(share + to * 4, length);
    if (FROM) put<Share::FROM_AT>(share + to * 4, v);
  };
  if (my.place + my.pieces > most_pieces) my.pieces = 0;
  if (my.pieces) write(my.place, u, begin, my.degree);
  if (!__any_sync(ALL_LANES, my.pieces > 1)) return;
  const u32 own = my.pieces <= FEW ? my.pieces : 0;
#pragma unroll 1
  for (u32 i = 1; i < own; i++) write(my.place + i, u, begin + (i << shift), my.degree - (i << shift));
  // Lists of many pieces: the full warp writes them, one list after another.
  for (u32 todo = __ballot_sync(ALL_LANES, my.pieces > FEW); todo; todo &= todo - 1) {
    const int lead = __ffs(todo) - 1, v = __shfl_sync(ALL_LANES, u, lead);
    const u32 to = __shfl_sync(ALL_LANES, my.place, lead), length = __shfl_sync(ALL_LANES, my.degree, lead);
    const Offset first = __shfl_sync(ALL_LANES, begin, lead);
#pragma unroll 1
    for (u32 i = lane(); i << shift < length; i += 32) write(to + i, v, first + (i << shift), length - (i << shift));
  }
}

// Loads that stay in program order: otherwise the compiler delays them past a barrier, until their use.
template <class T>
__device__ __forceinline__ T load_now(const T *at) {
  T x;
  if constexpr (sizeof(T) == 4) asm volatile("ld.global.nc.b32 %0, [%1];" : "=r"(x) : "l"(at));
  else asm volatile("ld.global.nc.b64 %0, [%1];" : "=l"(x) : "l"(at));
  return x;
}
__device__ __forceinline__ int neighbour_now(const int *rows, i64 e) { return load_now(rows + e); }
__device__ __forceinline__ int neighbour_now(const Packed *rows, i64 e) { return neighbour(rows, e); }
__device__ __forceinline__ u32 load_now(const u32 *at) {  // other blocks may be writing it: read from the L2 cache
  u32 x;
  asm volatile("ld.relaxed.gpu.global.b32 %0, [%1];" : "=r"(x) : "l"(at));
  return x;
}

constexpr u32 WORKERS = THREADS - 32;  // threads per block that process arcs; the last warp is the messenger
constexpr u32 MAX_VERTICES = 2048;     // maximum vertices with which a block begins, even without arcs
constexpr u32 MAX_ALONE_ARCS = 512;    // maximum arcs whose pieces fit into one block for any degrees
constexpr u32 UNEVEN_LANES = WORKERS;  // minimum lanes at which a block with twice its share votes to redistribute
constexpr u32 MAX_TEAM_BLOCKS = 255;   // the word counts blocks in 8 bits
// Maximum consecutive levels too small for a team before it leaves (ski-rental: at most twice the optimal cost).
constexpr int MAX_SMALL_LEVELS = 8;
static_assert(MAX_ALONE_ARCS / 4 * 5 <= FrontierShare<i64>::PIECES, "the pieces of a frontier for one block must fit");

constexpr u64 ONE_BLOCK = 1ull << 56, ONE_VOTE = 1ull << 48;
constexpr int TEAM_VERTEX_BIT = 26;
constexpr u64 TEAM_ARC_BITS = (1ull << TEAM_VERTEX_BIT) - 1;
constexpr u32 MAX_TOLD_ARCS = 1u << 17;  // maximum arcs that a block adds to the word: a share cannot store more

enum Next { NEXT_LEVEL, LEAVE, REDISTRIBUTE, REFUSE };

// Shared by a block's threads.
struct Board {
  Size sizes[4];           // of shares: three alternate, one of them being counted; the fourth is DISTRIBUTED
  int next;                // next action: enum Next
  u32 found, base;         // vertices of the next share, and their first index in the queue
  u32 begin, count, tail;  // range of the frontier in the queue; end of the queue after all blocks of this team
  // The remaining fields are for the messenger only.
  Standing here;
  u64 *word, *other, before, other_before;  // the two alternating words, and their values at the last synchronisation
  float share;                              // see pull_share
  int small_levels, pending;                // consecutive levels that were too small; whether `here` lacks a level
  u32 new_found, new_arcs;                  // vertices and arcs of that level
};
constexpr int DISTRIBUTED = 3;  // index in `sizes` of a share just distributed

// Whether a team has one block is not a template parameter: this code, the largest of a search, would compile twice.
template <class Offset, class Answer>
struct Worker {
  using Share = FrontierShare<Offset>;
  const Graph<Offset> &graph;
  Answer answer;
  u32 *visited;
  bool alone;
  u32 here;                // shared address of the current share; the next share is the other one
  int shift;               // a piece has 2^shift lanes
  u32 most_pieces, lanes;  // capacity of a share; lanes of the current one: pieces times 2^shift
  int u;                   // the neighbour, or -1
  u32 *word, bit;          // its word in the bitmap; its bit there, or 0 if it is visited
  Offset begin, end;       // its own adjacency list

  // Prefetches for 32 arcs, starting at lane `first` of the share: all data known before the claim.
  __device__ __forceinline__ void prefetch(u32 first) {
    if (first >= lanes) return;
    const u32 i = first + lane(), j = i & ((1u << shift) - 1), piece = min(i, lanes - 1) >> shift;
    Offset arc;
    int length;
    get<Share::BEGIN_AT>(here + piece * (u32)sizeof(Offset), arc);
    get<Share::LENGTH_AT>(here + piece * 4, length);
    const bool mine = i < lanes && (int)j < length;
    u = neighbour_now(graph.neighbours, mine ? arc + j : 0);
    if (!mine) u = -1;
    word = visited + word_of(u), bit = bit_of(u);
    if (!alone) bit &= ~load_now((const u32 *)word);
    const Offset *list = graph.offsets + (bit ? u : 0);
    begin = load_now(list), end = load_now(list + 1);
  }

  // `size` is the shared address of the share's Size. A share that was too full has gaps: the team will leave.
  __device__ __forceinline__ void prefetch_share(u32 size, u32 first) {
    int pieces;
    get<0>(size, pieces);
    pieces &= PIECE_BITS;
    lanes = (u32)pieces <= most_pieces ? pieces << shift : 0;
    prefetch(first);
  }

  // Claims the prefetched neighbours; vertices found go to the other share, which then becomes the current one.
  __device__ __forceinline__ void claim_level(int depth, u32 size, u32 shares) {
    const u32 second = shares + (u32)sizeof(Share), there = shares + second - here;  // shares are adjacent
    for (u32 first = threadIdx.x & ~31u; first < lanes; first += WORKERS) {
      if (first >= WORKERS) prefetch(first);
      const bool fresh = bit & ~claim(word, bit);
      const Places my = reserve<Offset>(fresh, begin, end, shift, size);
      if (!my.all) continue;
      store<Offset, Answer::FROM>(my, u, begin, shift, most_pieces, there);
      if (!fresh) continue;
      put<TeamScratch<Offset>::FOUND_AT>(shares + my.found * 4, u);
      int v = -1;
      if (Answer::FROM) get<Share::FROM_AT>(here + ((first + lane()) >> shift) * 4, v);
      answer.reach(u, v, depth);
    }
    here = there;
  }
};

template <class Offset, class Answer>
struct Task {
  const Graph<Offset> &graph;
  const Work &work;
  Answer answer;
  u32 blocks;
  double alpha;
  int depth_limit;
  u32 min_arcs, max_arcs;  // a frontier with fewer or more arcs does not suit this team
  LevelSums *sums;         // receives what the grid must know about the frontier when the team leaves
  u64 (*word)[16];
  Standing *standing;
};

// From the queue or, after a pull, from the difference of the bitmaps. `size` and `share` are shared addresses.
template <bool QUEUED, class Offset, class Answer>
__device__ __forceinline__ void distribute(const Task<Offset, Answer> &task, u32 begin, u32 count, int which, int shift,
                                           u32 most_pieces, u32 size, u32 share) {
  const Graph<Offset> &graph = task.graph;
  auto take = [&](bool mine, int v) {
    const Offset first = __ldg(graph.offsets + (mine ? v : 0)), end = __ldg(graph.offsets + (mine ? v + 1 : 0));
    const Places my = reserve<Offset>(mine, first, end, shift, size);
    if (my.all) store<Offset, Answer::FROM>(my, v, first, shift, most_pieces, share);
  };
  if constexpr (QUEUED) {  // every blocks-th vertex
    const u32 mine = count / task.blocks + (blockIdx.x < count % task.blocks);
    for (u32 first = threadIdx.x & ~31u; first < mine; first += WORKERS) {
      const u32 i = first + lane();
      take(i < mine, i < mine ? __ldcg(task.work.queue + begin + blockIdx.x + i * task.blocks) : 0);
    }
  } else {  // a warp reads up to 32 words at a time, one per lane
    const u32 words = (u32)((graph.n + 31) / 32), warps = task.blocks * (WORKERS / 32);
    const u32 each = min(32u, (words + warps - 1) / warps);
    for (u32 first = (block_warp() * task.blocks + blockIdx.x) * each; first < words; first += warps * each) {
      const u32 w = first + lane();
      u32 bits = 0;
      if (lane() < each && w < words) bits = task.work.visited(which)[w] & ~task.work.visited(which ^ 1)[w];
      for (u32 some = __ballot_sync(ALL_LANES, bits); some; some &= some - 1) {
        const int j = __ffs(some) - 1;
        take(__shfl_sync(ALL_LANES, bits, j) >> lane() & 1, (int)((first + j) * 32 + lane()));
      }
    }
  }
}

// Synchronises with the other messengers and decides. Its data is in shared memory: the workers need the registers.
template <class Offset, class Answer>
struct Messenger {
  const Task<Offset, Answer> &task;
  Board &board;
  const int shift;
  const u32 blocks, most_pieces;
  const bool alone;

  __device__ __forceinline__ void begin(const Standing &at) {
    board.here = at;
    board.begin = at.begin, board.count = at.nf, board.tail = at.tail;
    board.word = task.word[0], board.other = task.word[1], board.before = board.other_before = 0;
    board.small_levels = 0, board.pending = 0;
    board.share = pull_share(task.alpha);
  }

  // Returns Σ `brought` over the blocks of the team. Calls `meanwhile` before it waits for the others.
  template <class Meanwhile>
  __device__ __forceinline__ u64 team_sum(u64 brought, Meanwhile meanwhile) {
    u64 *const word = board.word;
    asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(word), "l"(ONE_BLOCK + brought) : "memory");
    const u64 before = board.before;
    board.word = board.other, board.other = word, board.before = board.other_before;
    meanwhile();
    u64 now;
    do now = *(volatile u64 *)word - before;
    while (now >> 56 != blocks);
    board.other_before = before + now;
    return now & (ONE_BLOCK - 1);
  }

  // After distributing a frontier: continues if every block's share fits. `own`: the team itself found the frontier.
  __device__ __forceinline__ void distributed(bool own) {
    if (alone) {
      board.next = NEXT_LEVEL;
      return;
    }
    const Size size = board.sizes[DISTRIBUTED];
    const bool fits = (size.places & PIECE_BITS) <= most_pieces;
    const u64 all = team_sum((fits ? 0 : ONE_VOTE) + min(size.arcs, MAX_TOLD_ARCS), [] {});
    board.next = all == board.here.mf ? NEXT_LEVEL : own ? LEAVE : REFUSE;
  }

  // After a level, decides what comes next. `size` counts the vertices this block found; `cleared` is the next counter.
  __device__ __forceinline__ void settle(const Size &size, Size &cleared) {
    const Standing &here = board.here;
    const u32 pieces = size.places & PIECE_BITS, found = size.places >> VERTEX_BIT;
    u32 new_found = found, new_arcs = min(size.arcs, MAX_TOLD_ARCS), missing, pull_from, nf;
    int small_levels;
    bool vote = pieces > most_pieces, deepest;
    auto meanwhile = [&] {
      u64 mu = here.mu;
      asm volatile("" : "+l"(mu));  // not before this block has added to the word
      missing = (u32)(here.findable - here.reached), pull_from = may_pull_from(board.share, task.graph.n, mu);
      deepest = here.depth + 1 >= task.depth_limit, nf = here.nf, small_levels = board.small_levels + 1;
      cleared = Size{};
      board.found = found, board.pending = 1;
    };
    if (alone) {
      meanwhile();
    } else {
      vote |= pieces << shift > UNEVEN_LANES && (u64)new_arcs * blocks > 2 * here.mf;
      const u64 all = team_sum((vote ? ONE_VOTE : 0) + ((u64)found << TEAM_VERTEX_BIT) + new_arcs, meanwhile);
      vote = all >= ONE_VOTE;
      new_found = (u32)((all & (ONE_VOTE - 1)) >> TEAM_VERTEX_BIT), new_arcs = (u32)(all & TEAM_ARC_BITS);
    }
    small_levels = new_arcs < task.min_arcs ? small_levels : 0;
    const bool over = deepest || new_found == 0 || new_found == missing;
    const bool unsuited = new_arcs > task.max_arcs || small_levels > MAX_SMALL_LEVELS;
    const bool may_pull = new_found > nf && new_arcs > pull_from;
    const bool leave = over || unsuited || may_pull;
    board.next = leave ? LEAVE : !vote ? NEXT_LEVEL : alone ? LEAVE : REDISTRIBUTE;
    board.small_levels = small_levels, board.new_found = new_found, board.new_arcs = new_arcs;
    if (leave || vote) {
      if (found) board.base = atomicAdd(&task.work.counters->tail, found);
      board.begin = board.tail, board.count = new_found, board.tail += new_found;
    }
  }

  // Accounts for the last level. Called while the workers are busy again, so that no thread waits for it.
  __device__ __forceinline__ void step() {
    if (board.pending)
      step_forward(board.here, task.work, PUSH, board.new_found, board.new_arcs, board.here.mf, blocks);
    board.pending = 0;
  }

  // Returns when the frontiers of all blocks are in the queue and visible to all blocks.
  __device__ __forceinline__ void queued() {
    board.sizes[DISTRIBUTED] = Size{};
    __threadfence();
    team_sum(0, [] {});
    __threadfence();
  }
};

// The team computes levels while they suit it and the rule is sure to push. A grid barrier must follow.
template <class Offset, class Answer>
__device__ void team_levels(const Task<Offset, Answer> &task, const Standing &at, u8 *scratch) {
  const Graph<Offset> &graph = task.graph;
  const Work &work = task.work;
  TeamScratch<Offset> &team = *(TeamScratch<Offset> *)scratch;
  __shared__ Board board;
  const int shift = at.mf > 5ull * at.nf ? 3 : 2;  // chosen by the mean degree
  const u32 most_pieces = FrontierShare<Offset>::LANES >> shift;
  const bool works = threadIdx.x < WORKERS, leads = threadIdx.x == WORKERS;
  const u32 sizes = address_of(board.sizes), shares = address_of(team.share), warp_first = threadIdx.x & ~31u;
  constexpr u32 DISTRIBUTED_AT = DISTRIBUTED * sizeof(Size);
  const bool alone = task.blocks == 1;
  Worker<Offset, Answer> worker{graph, task.answer, work.visited(at.which), alone, shares, shift, most_pieces};
  Messenger<Offset, Answer> messenger{task, board, shift, task.blocks, most_pieces, alone};
  int depth = at.depth, turn = 0, next = NEXT_LEVEL;
  if (threadIdx.x < 4) board.sizes[threadIdx.x] = Size{};
  if (leads) messenger.begin(at);
  __syncthreads();
  do {
    const bool own = next == REDISTRIBUTE;
    if (works && (own || at.queued))
      distribute<true>(task, board.begin, board.count, at.which, shift, most_pieces, sizes + DISTRIBUTED_AT,
                       worker.here);
    else if (works)
      distribute<false>(task, board.begin, board.count, at.which, shift, most_pieces, sizes + DISTRIBUTED_AT,
                        worker.here);
    __syncthreads();
    if (works) worker.prefetch_share(sizes + DISTRIBUTED_AT, warp_first);
    else if (leads) messenger.distributed(own);
    __syncthreads();
    while ((next = board.next) == NEXT_LEVEL) {
      const u32 coming = sizes + turn * (int)sizeof(Size);
      depth++;
      if (works) worker.claim_level(depth, coming, shares);
      else if (leads) messenger.step();
      __syncthreads();
      const int after = turn == 2 ? 0 : turn + 1;
      if (works) worker.prefetch_share(coming, warp_first);
      else if (leads) messenger.settle(board.sizes[turn], board.sizes[after]);
      turn = after;
      __syncthreads();
    }
    if (leads) messenger.step();
    if (next == REDISTRIBUTE) {
      for (u32 i = threadIdx.x; i < board.found; i += THREADS) work.queue[board.base + i] = team.found[i];
      __syncthreads();
      if (leads) messenger.queued();
      __syncthreads();
    }
  } while (next == REDISTRIBUTE);
  if (leads && blockIdx.x == 0) {
    const Standing &here = board.here;
    Standing left = at;
    if (next == REFUSE) {
      task.sums->mf = at.mf, task.sums->big = at.big;
      left.refused = at.depth;
      left.mu += at.mf;  // subtracted again after the barrier
    } else {
      left = here;
      left.mu += here.mf;  // the exact number is subtracted after the barrier
      left.begin = board.begin, left.tail = board.tail, left.queued = 1;
    }
    *task.standing = left;
  }
  if (next == REFUSE) return;

  // Leaves the frontier in the queue, with the exact numbers that the rule and the grid need.
  u64 edges = 0;
  u32 big = 0;
  for (u32 i = threadIdx.x; i < ((board.found + 31) & ~31u); i += THREADS) {
    const int v = i < board.found ? team.found[i] : 0;
    i64 begin = 0, degree = 0;
    if (i < board.found) {
      begin = __ldg(graph.offsets + v), degree = __ldg(graph.offsets + v + 1) - begin;
      work.queue[board.base + i] = v;
    }
    edges += degree, big += degree >= work.chunk;
    cut_long(v, begin, degree, work, task.sums);
  }
  const BlockSums all = block_sum(edges, big, 0);
  if (threadIdx.x == 0) {
    if (all.a) atomicAdd(&task.sums->mf, all.a);
    if (all.b) atomicAdd(&task.sums->big, all.b);
  }
}

}  // namespace hopwave::one_launch
