// Small levels by a team: one block alone, some blocks, or all of them. Roads and meshes have thousands of these levels.
//
// Each block keeps its part of the frontier in its shared memory, lists cut into pieces of four or eight arcs: a thread
// has one arc of one piece, so a level is balanced whatever its degrees, and a vertex found is one piece more, or two.
// What a block finds is its part of the next frontier; nothing is exchanged but sums. A team whose parts have become
// uneven puts its frontier into the queue and deals it out anew.
//
// A block has workers and one messenger. While the messenger meets those of the other blocks, the workers ask for all
// that may be known of the level to come: neighbours, whether they are visited already, where their own lists begin. So
// a level costs the meeting and one more trip to memory, the claim. After that it is instructions that take the time,
// one after another: hence the care about every one of them here.
//
// A team's barrier is one 64-bit word to which each block adds itself, its wish for change, its vertices and its arcs:
// who sees all blocks there also has the sums. The words only grow; two take turns, so a fast block cannot disturb a slow
// one. A level needs no fence: a block arrives when its claims have been answered, and claims, made where all blocks meet
// in the L2 cache, are all that it shares. What workers see of other blocks' claims before the meeting may be old, which
// costs a claim in vain and nothing else: bits are only ever set.
#pragma once
#include "one_launch/part.cuh"

constexpr u32 WORKERS = BLOCK - 32;       // threads of a block with arcs; the last warp is the messenger's
constexpr u32 VERTICES = 2048;            // nor may a block begin with many more vertices, though they had no arcs
constexpr u32 ALONE_ARCS = 512;           // with so many, pieces fit into one block whatever the degrees
constexpr int RENT = 8;                   // levels too small for a team before it leaves; a change costs about as much
constexpr u32 UNEVEN = WORKERS;           // lanes from which a block with twice its share wishes for even parts
constexpr u32 MOST_BLOCKS = 255;
static_assert(ALONE_ARCS / 4 * 5 <= Part<i64>::PIECES, "the pieces of a frontier for one block must fit");

// What a block tells its team: itself, its wish for change, vertices, arcs.
constexpr u64 ONE_BLOCK = 1ull << 56, ONE_WISH = 1ull << 48;
constexpr int TEAM_VERTEX_BIT = 26;
constexpr u64 TEAM_ARC_BITS = (1ull << TEAM_VERTEX_BIT) - 1;
constexpr u32 MOST_ARCS = 1u << 17;       // that a block tells of: one with more cannot hold them anyway

// What a block's threads tell each other.
struct Board {
  Size sizes[4];                // of parts: three take turns, the coming one's is counted up; and of one just dealt out
  int next;                     // what to do next
  u32 found, base;              // vertices of the coming part, and their place in the queue
  u32 begin, count, tail;       // a frontier in the queue; the queue's end when all that this team has queued is there
  // The messenger's own.
  Standing here;
  u64 *word, *other, before, other_before;  // two words take turns; and what was there when the team met there last
  float share;
  int rent, pending;            // how many levels on end were too small; whether a level has yet to be written down
  u32 new_found, new_arcs;
};
enum { ON, LEAVE, AGAIN, REFUSE };  // the next level; leave; deal the frontier out anew; this team cannot take it

// A worker's part in the levels of a team.
template <class Offset, class Answer, bool ALONE>
struct Worker {
  using P = Part<Offset>;
  const Graph<Offset> &graph;
  Answer answer;
  u32 *visited;
  u32 here;                     // shared address of this part of the frontier; the coming one is the other
  int shift;                    // of the pieces' size
  u32 most_pieces, lanes;       // of this part: pieces, times their size
  int u;                        // the neighbour at hand,
  u32 *word, bit;               // its place in the bitmap, and its bit there if it may be fresh,
  Offset begin, end;            // and its own list

  // Ask for what can be known of this thread's arc, from `first` on.
  __device__ __forceinline__ void look(u32 first) {
    if (first >= lanes) return;
    const u32 i = first + lane(), j = i & ((1u << shift) - 1), piece = min(i, lanes - 1) >> shift;
    Offset arc;
    int length;
    get<0>(here + piece * (u32)sizeof(Offset), arc);
    get<P::PIECES * sizeof(Offset)>(here + piece * 4, length);
    const bool mine = i < lanes && (int)j < length;
    u = load_now(graph.neighbours + (mine ? arc + j : 0));
    if (!mine) u = -1;
    word = visited + word_of(u), bit = bit_of(u);
    if (!ALONE) bit &= ~load_now((const u32 *)word);
    const Offset *list = graph.offsets + (bit ? u : 0);
    begin = load_now(list), end = load_now(list + 1);
  }

  // The part at hand is of that size; an overfull one has gaps, and the team will leave.
  __device__ __forceinline__ void look_at(u32 size, u32 first) {
    int pieces;
    get<0>(size, pieces);
    pieces &= PIECE_BITS;
    lanes = (u32)pieces <= most_pieces ? pieces << shift : 0;
    look(first);
  }

  // Claim it and write down what is found. The other part is then at hand.
  __device__ __forceinline__ void level(int depth, u32 size, u32 parts) {
    const u32 there = 2 * parts + (u32)sizeof(P) - here;
    for (u32 first = threadIdx.x & ~31u; first < lanes; first += WORKERS) {
      if (first >= WORKERS) look(first);
      const bool fresh = bit & ~claim(word, bit);
      const Places my = reserve<Offset>(fresh, begin, end, shift, size);
      if (!my.all) continue;
      store<Offset, Answer::FROM>(my, u, begin, shift, most_pieces, there);
      if (!fresh) continue;
      put<2 * sizeof(P)>(parts + my.found * 4, u);
      int v = -1;
      if (Answer::FROM) get<P::PIECES * (sizeof(Offset) + 4)>(here + ((first + lane()) >> shift) * 4, v);
      answer.reach(u, v, depth);
    }
    here = there;
  }
};

// What a team is to do, and where it is.
template <class Offset, class Answer>
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

// The workers' part of the frontier, from the queue, or after a pull from the difference of the bitmaps.
template <class Offset, class Answer>
__device__ __forceinline__ void deal(const Task<Offset, Answer> &task, bool queued, u32 begin, u32 count, int which, int shift,
                                     u32 most_pieces, u32 size, u32 part) {
  const Graph<Offset> &graph = task.graph;
  auto take = [&](bool mine, int v) {
    const Offset first = __ldg(graph.offsets + (mine ? v : 0)), end = __ldg(graph.offsets + (mine ? v + 1 : 0));
    const Places my = reserve<Offset>(mine, first, end, shift, size);
    if (my.all) store<Offset, Answer::FROM>(my, v, first, shift, most_pieces, part);
  };
  if (queued) {
    const u32 mine = count / task.blocks + (blockIdx.x < count % task.blocks);
    for (u32 i = threadIdx.x; i < ((mine + 31) & ~31u); i += WORKERS)
      take(i < mine, i < mine ? __ldcg(task.work.queue + begin + blockIdx.x + i * task.blocks) : 0);
    return;
  }
  const u32 words = (u32)((graph.n + 31) / 32), warps = task.blocks * (WORKERS / 32);
  const u32 each = min(32u, (words + warps - 1) / warps);
  for (u32 first = (block_warp() * task.blocks + blockIdx.x) * each; first < words; first += warps * each) {
    const u32 w = first + lane();
    u32 bits = 0;
    if (lane() < each && w < words) bits = task.work.visited(which)[w] & ~task.work.visited(which ^ 1)[w];
    for (u32 some = __ballot_sync(ALL, bits); some; some &= some - 1) {
      const int j = __ffs(some) - 1;
      take(__shfl_sync(ALL, bits, j) >> lane() & 1, (first + j) * 32 + lane());
    }
  }
}

// The messenger of a block: one thread that meets those of the other blocks, and decides. What it knows is in shared
// memory, for the registers are the workers'.
template <class Offset, class Answer, bool ALONE>
struct Messenger {
  const Task<Offset, Answer> &task;
  Board &board;
  const int shift;
  const u32 blocks, most_pieces;

  __device__ __forceinline__ void begin(const Standing &at) {
    board.here = at;
    board.begin = at.begin, board.count = at.nf, board.tail = at.tail;
    board.word = task.word[0], board.other = task.word[1], board.before = board.other_before = 0;
    board.rent = 0, board.pending = 0;
    board.share = pull_share(task.alpha);
  }

  // The sum of what all blocks bring; `meanwhile` is done while they answer.
  template <class Meanwhile>
  __device__ __forceinline__ u64 meet(u64 brought, Meanwhile meanwhile) {
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

  // A frontier was dealt out: does every block's part fit? If it was the team's own, its arcs were known before.
  __device__ __forceinline__ void dealt(bool own) {
    if (ALONE) {
      board.next = ON;
      return;
    }
    const Size size = board.sizes[3];
    const bool fits = (size.places & PIECE_BITS) <= most_pieces;
    const u64 all = meet((fits ? 0 : ONE_WISH) + min(size.arcs, MOST_ARCS), [] {});
    board.next = all == board.here.mf ? ON : own ? LEAVE : REFUSE;
  }

  // A level is done, of whose finds this block has those in `size`.
  __device__ __forceinline__ void settle(const Size &size, Size &cleared) {
    const Standing &here = board.here;
    const u32 pieces = size.places & PIECE_BITS, found = size.places >> VERTEX_BIT;
    u32 new_found = found, new_arcs = min(size.arcs, MOST_ARCS), missing, pull_from, nf;
    int rent;
    bool wish = pieces > most_pieces, deepest;
    auto meanwhile = [&] {
      u64 mu = here.mu;
      asm volatile("" : "+l"(mu));  // not before the others have been told
      missing = (u32)(here.findable - here.reached), pull_from = may_pull_from(board.share, task.graph.n, mu);
      deepest = here.depth + 1 >= task.depth_limit, nf = here.nf, rent = board.rent + 1;
      cleared = Size{};
      board.found = found, board.pending = 1;
    };
    if (ALONE) {
      meanwhile();
    } else {
      wish |= pieces << shift > UNEVEN && (u64)new_arcs * blocks > 2 * here.mf;
      const u64 all = meet((wish ? ONE_WISH : 0) + ((u64)found << TEAM_VERTEX_BIT) + new_arcs, meanwhile);
      wish = all >= ONE_WISH;
      new_found = (u32)((all & (ONE_WISH - 1)) >> TEAM_VERTEX_BIT), new_arcs = (u32)(all & TEAM_ARC_BITS);
    }
    rent = new_arcs < task.fewest ? rent : 0;
    const bool leave = deepest || new_found == 0 || new_found == missing || new_arcs > task.most || rent > RENT ||
                       (new_found > nf && new_arcs > pull_from);
    board.next = leave ? LEAVE : !wish ? ON : ALONE ? LEAVE : AGAIN;
    board.rent = rent, board.new_found = new_found, board.new_arcs = new_arcs;
    if (leave || wish) {
      if (found) board.base = atomicAdd(&task.work.counters->tail, found);
      board.begin = board.tail, board.count = new_found, board.tail += new_found;
    }
  }

  // What can wait until the workers are at work again.
  __device__ __forceinline__ void step() {
    if (board.pending)
      step_forward(board.here, task.work, PUSH, board.new_found, board.new_arcs, board.here.mf, blocks);
    board.pending = 0;
  }

  // The frontier stands in the queue, for all to see.
  __device__ __forceinline__ void queued() {
    board.sizes[3] = Size{};
    __threadfence();
    meet(0, [] {});
    __threadfence();
  }
};

// The team takes levels as long as they suit it and the rule surely pushes. A grid barrier must follow.
template <class Offset, class Answer, bool ALONE>
__device__ void team_levels(const Task<Offset, Answer> &task, const Standing &at, unsigned char *room) {
  const Graph<Offset> &graph = task.graph;
  const Work &work = task.work;
  Team<Offset> &team = *(Team<Offset> *)room;
  __shared__ Board board;
  const int shift = at.mf > 5ull * at.nf ? 3 : 2;  // of the pieces' size, by the mean degree
  const u32 most_pieces = Part<Offset>::LANES >> shift;
  const bool works = threadIdx.x < WORKERS, leads = threadIdx.x == WORKERS;
  const u32 sizes = address_of(board.sizes), part = address_of(team.part), warp_first = threadIdx.x & ~31u;
  Worker<Offset, Answer, ALONE> worker{graph, task.answer, work.visited(at.which), part, shift, most_pieces};
  Messenger<Offset, Answer, ALONE> messenger{task, board, shift, ALONE ? 1 : task.blocks, most_pieces};
  int depth = at.depth, turn = 0, next = ON;
  if (threadIdx.x < 4) board.sizes[threadIdx.x] = Size{};
  if (leads) messenger.begin(at);
  __syncthreads();
  do {
    const bool own = next == AGAIN;
    if (works)
      deal<Offset, Answer>(task, own || at.queued, board.begin, board.count, at.which, shift, most_pieces, sizes + 24,
                            worker.here);
    __syncthreads();
    if (works)
      worker.look_at(sizes + 24, warp_first);
    else if (leads)
      messenger.dealt(own);
    __syncthreads();
    while ((next = board.next) == ON) {
      const u32 coming = sizes + turn * 8;
      depth++;
      if (works)
        worker.level(depth, coming, part);
      else if (leads)
        messenger.step();
      __syncthreads();
      const int after = turn == 2 ? 0 : turn + 1;
      if (works)
        worker.look_at(coming, warp_first);
      else if (leads)
        messenger.settle(board.sizes[turn], board.sizes[after]);
      turn = after;
      __syncthreads();
    }
    if (leads) messenger.step();
    if (next == AGAIN) {
      for (u32 i = threadIdx.x; i < board.found; i += BLOCK) work.queue[board.base + i] = team.found[i];
      __syncthreads();
      if (leads) messenger.queued();
      __syncthreads();
    }
  } while (next == AGAIN);
  if (leads && blockIdx.x == 0) {
    const Standing &here = board.here;
    Standing left = at;
    if (next == REFUSE) {
      task.sums->mf = at.mf, task.sums->big = at.big;
      left.refused = at.depth;
      left.mu += at.mf;  // taken off again after the barrier
    } else {
      left = here;
      left.mu += here.mf;  // the exact number is taken off after the barrier
      left.begin = board.begin, left.tail = board.tail, left.queued = 1;
    }
    *task.standing = left;
  }
  if (next == REFUSE) return;

  // Leave the frontier in the queue, and what a rule and a grid want to know of it, exactly.
  u64 edges = 0;
  u32 big = 0;
  for (u32 i = threadIdx.x; i < ((board.found + 31) & ~31u); i += BLOCK) {
    const int v = i < board.found ? team.found[i] : 0;
    i64 begin = 0, degree = 0;
    if (i < board.found) {
      begin = __ldg(graph.offsets + v), degree = __ldg(graph.offsets + v + 1) - begin;
      work.queue[board.base + i] = v;
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
