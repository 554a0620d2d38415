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
#ifndef HOPWAVE_TWO
#define HOPWAVE_TWO 3
#endif
constexpr u32 WORKERS = HOPWAVE_WORKERS;  // threads of a block with arcs; the warp after them is the messenger's
constexpr u32 VERTICES = 2048;            // nor may a block begin with many more vertices, though they had no arcs
constexpr u32 ALONE_ARCS = 512;           // with so many, pieces fit into one block whatever the degrees
constexpr u32 UNEVEN = HOPWAVE_UNEVEN;    // lanes from which a block with three times its share wishes to leave
constexpr int RENT = 8;                   // levels too small for a team before it leaves: that many cost what a change does
constexpr u32 MOST_BLOCKS = 255;

// A block's part of a frontier.
template <class Offset>
struct Part {
  static constexpr u32 LANES = sizeof(Offset) == 4 ? 4096 : 3072, PIECES = LANES / 4;  // at most
  Offset begin[PIECES];
  int length[PIECES];           // arcs to the list's end
  int from[PIECES];
};
template <class Offset>
struct Team {
  Part<Offset> part[2];
  int found[Part<Offset>::LANES];
};
static_assert(sizeof(Team<int>) <= ROOM && sizeof(Team<i64>) <= ROOM, "both parts must fit");
static_assert(ALONE_ARCS / 2 * 3 <= Part<i64>::PIECES, "the pieces of a frontier for one block must fit");

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

// Shared memory by addresses that stay in registers: left to itself, the compiler computes them at every use.
__device__ __forceinline__ u32 address_of(const void *shared) {
  u32 address = (u32)__cvta_generic_to_shared(shared);
  asm volatile("" : "+r"(address));
  return address;
}
template <int AT>
__device__ __forceinline__ void put(u32 address, int x) {
  asm volatile("st.shared.b32 [%0+%1], %2;" ::"r"(address), "n"(AT), "r"(x) : "memory");
}
template <int AT>
__device__ __forceinline__ void put(u32 address, i64 x) {
  asm volatile("st.shared.b64 [%0+%1], %2;" ::"r"(address), "n"(AT), "l"(x) : "memory");
}
template <int AT>
__device__ __forceinline__ void get(u32 address, int &x) {
  asm volatile("ld.shared.b32 %0, [%1+%2];" : "=r"(x) : "r"(address), "n"(AT) : "memory");
}
template <int AT>
__device__ __forceinline__ void get(u32 address, i64 &x) {
  asm volatile("ld.shared.b64 %0, [%1+%2];" : "=l"(x) : "r"(address), "n"(AT) : "memory");
}

// Where a warp's fresh vertices and their pieces go.
struct Places {
  u32 all, pieces, place, found;
  int degree;
};

// Find places for the lists of the lanes' fresh vertices; `size` is the shared address of a Size.
template <class Offset>
__device__ __forceinline__ Places reserve(bool fresh, Offset begin, Offset end, int shift, u32 size) {
  constexpr u32 LANES = Part<Offset>::LANES, PIECES = Part<Offset>::PIECES;
  Places my{__ballot_sync(ALL, fresh)};
  if (!my.all) return my;
  my.degree = fresh ? (int)min((i64)(end - begin), (i64)LANES + 1) : 0;
  my.pieces = (u32)(my.degree + (1 << shift) - 1) >> shift;
  // A sum by the bits of small numbers: shorter than five shuffles.
  const u32 one = __ballot_sync(ALL, my.pieces & 1), two = __ballot_sync(ALL, my.pieces & 2);
  u32 before = __popc(one & below()) + 2 * __popc(two & below()), total = __popc(one) + 2 * __popc(two);
  if (__any_sync(ALL, my.pieces > 3)) {
    before = inclusive_scan(my.pieces) - my.pieces;
    total = min(__shfl_sync(ALL, before + my.pieces, 31), PIECES + 1);
  }
  const u32 arcs = warp_sum((u32)my.degree);
  u32 at = 0;
  asm volatile("{\n .reg .pred p;\n setp.eq.u32 p, %4, 0;\n @p atom.shared.add.u32 %0, [%1], %2;\n"
               " @p red.shared.add.u32 [%1+4], %3;\n}"
               : "+r"(at)
               : "r"(size), "r"((__popc(my.all) << VERTEX_BIT) + total), "r"(arcs), "r"(lane())
               : "memory");
  at = __shfl_sync(ALL, at, 0);
  my.place = (at & PIECE_BITS) + before, my.found = (at >> VERTEX_BIT) + __popc(my.all & below());
  return my;
}

// Write them there, as far as they fit; `part` is the shared address of a Part.
template <class Offset, bool PARENTS>
__device__ __forceinline__ void store(Places my, int u, Offset begin, int shift, u32 most_pieces, u32 part) {
  using P = Part<Offset>;
  constexpr u32 FEW = 8;
  auto write = [&](u32 to, int v, Offset first, int length) {
    put<0>(part + to * (u32)sizeof(Offset), first);
    put<P::PIECES * sizeof(Offset)>(part + to * 4, length);
    if (PARENTS) put<P::PIECES * (sizeof(Offset) + 4)>(part + to * 4, v);
  };
  if (my.place + my.pieces > most_pieces) my.pieces = 0;
  if (my.pieces) write(my.place, u, begin, my.degree);
  if (!__any_sync(ALL, my.pieces > 1)) return;
  const u32 own = my.pieces <= FEW ? my.pieces : 0;
#pragma unroll 1
  for (u32 i = 1; i < own; i++) write(my.place + i, u, begin + (i << shift), my.degree - (i << shift));
  for (u32 todo = __ballot_sync(ALL, my.pieces > FEW); todo; todo &= todo - 1) {  // long ones by the whole warp
    const int lead = __ffs(todo) - 1, v = __shfl_sync(ALL, u, lead);
    const u32 to = __shfl_sync(ALL, my.place, lead), length = __shfl_sync(ALL, my.degree, lead);
    const Offset first = __shfl_sync(ALL, begin, lead);
#pragma unroll 1
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

// A block's barriers: its workers among themselves; they have counted their finds, as the messenger must know; and it
// has met the others.
__device__ __forceinline__ void workers_meet() { asm volatile("bar.sync 1, %0;" ::"n"(WORKERS) : "memory"); }
__device__ __forceinline__ void counted() { asm volatile("bar.arrive 2, %0;" ::"n"(WORKERS + 32) : "memory"); }
__device__ __forceinline__ void await_counts() { asm volatile("bar.sync 2, %0;" ::"n"(WORKERS + 32) : "memory"); }
__device__ __forceinline__ void await_team() { asm volatile("bar.sync 3, %0;" ::"n"(WORKERS + 32) : "memory"); }

// A worker's part in the levels of a team.
template <class Offset, bool PARENTS, bool ALONE>
struct Worker {
  using P = Part<Offset>;
  const Graph<Offset> &graph;
  Answer answer;
  u32 *visited;
  u32 here, there, found;       // shared addresses: this part of the frontier, the coming one, the vertices found
  int shift;                    // of the pieces' size
  u32 most_pieces, lanes;       // of this part: pieces, times their size
  int u;                        // the neighbour at hand,
  u32 *word, bit;               // its place in the bitmap, and its bit there if it may be fresh,
  Offset begin, end;            // and its own list

  // Ask for what can be known of this thread's arc, from `first` on.
  __device__ __forceinline__ void look(u32 first) {
    const u32 i = first + lane(), j = i & ((1u << shift) - 1), piece = min(i, lanes - 1) >> shift;
    if (first >= lanes) return;
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

  // Claim it; a find is counted first, then written.
  __device__ __forceinline__ void level(int depth, u32 size) {
    u32 first = threadIdx.x & ~31u;
    if (first >= lanes) return counted();
    while (true) {
      const bool fresh = bit & ~claim(word, bit), last = first + WORKERS >= lanes;
      const Places my = reserve<Offset>(fresh, begin, end, shift, size);
      if (last) counted();
      if (my.all) {
        store<Offset, PARENTS>(my, u, begin, shift, most_pieces, there);
        if (fresh) {
          put<0>(found + my.found * 4, u);
          answer.distance[u] = depth;
          if (PARENTS) {
            int v;
            get<P::PIECES * (sizeof(Offset) + 4)>(here + ((first + lane()) >> shift) * 4, v);
            answer.parent[u] = v;
          }
        }
      }
      if (last) return;
      look(first += WORKERS);
    }
  }
};

// All blocks of a team meet: tell them, then wait for the sum of what all brought. `before` is the word's value when all
// had met there last. For one thread a block.
__device__ __forceinline__ void tell_team(u64 *word, u64 brought) {
  asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(word), "l"(ONE_BLOCK + brought) : "memory");
}
__device__ __forceinline__ u64 hear_team(u64 *word, u64 &before, u32 blocks) {
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
__device__ __forceinline__ void deal(const Task<Offset> &task, const Standing &at, int shift, u32 most_pieces, u32 size,
                                     u32 part) {
  const Graph<Offset> &graph = task.graph;
  auto take = [&](bool mine, int v) {
    const Offset begin = __ldg(graph.offsets + (mine ? v : 0)), end = __ldg(graph.offsets + (mine ? v + 1 : 0));
    const Places my = reserve<Offset>(mine, begin, end, shift, size);
    if (my.all) store<Offset, PARENTS>(my, v, begin, shift, most_pieces, part);
  };
  if (at.queued) {
    const u32 count = at.nf / task.blocks + (blockIdx.x < at.nf % task.blocks);
    for (u32 i = threadIdx.x; i < ((count + 31) & ~31u); i += BLOCK)
      take(i < count, i < count ? __ldcg(task.work.queue + at.begin + blockIdx.x + i * task.blocks) : 0);
    return;
  }
  const u32 words = (u32)((graph.n + 31) / 32), warps = task.blocks * WARPS;
  const u32 each = min(32u, (words + warps - 1) / warps);
  for (u32 first = (block_warp() * task.blocks + blockIdx.x) * each; first < words; first += warps * each) {
    const u32 w = first + lane();
    u32 bits = 0;
    if (lane() < each && w < words) bits = task.work.visited(at.which)[w] & ~task.work.visited(at.which ^ 1)[w];
    for (u32 some = __ballot_sync(ALL, bits); some; some &= some - 1) {
      const int j = __ffs(some) - 1;
      take(__shfl_sync(ALL, bits, j) >> lane() & 1, (first + j) * 32 + lane());
    }
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
  const u32 size = address_of(sizes), flag = address_of(&stop), part = address_of(team.part);
  u64 *word = task.word[1], *other = task.word[0];  // take turns; and what was there when the team met there last
  u64 before = 0, other_before = 0;
  const int shift = at.mf > (u64)HOPWAVE_EIGHT * at.nf ? 3 : at.mf > (u64)HOPWAVE_TWO * at.nf ? 2 : 1;
  const u32 most_pieces = min(Part<Offset>::LANES >> shift, Part<Offset>::PIECES);
  if (threadIdx.x < 3) sizes[threadIdx.x] = Size{};
  __syncthreads();
  deal<Offset, PARENTS>(task, at, shift, most_pieces, size + 16, part);
  __syncthreads();
  if (!ALONE) {  // does every block's part fit?
    if (threadIdx.x == WORKERS) {
      tell_team(other, (sizes[2].places & PIECE_BITS) > most_pieces ? ONE_WISH : 0);
      refused = hear_team(other, other_before, blocks) != 0;
    }
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

  u32 next = size;  // the address of the coming frontier's size
  if (threadIdx.x < WORKERS) {
    Worker<Offset, PARENTS, ALONE> worker{graph, task.answer, work.visited(at.which), part,
                                          part + (u32)sizeof(Part<Offset>), address_of(team.found), shift, most_pieces,
                                          (sizes[2].places & PIECE_BITS) << shift};
    int depth = at.depth, leave;
    worker.look(threadIdx.x & ~31u);
    do {
      worker.level(++depth, next);
      const u32 used = worker.here;
      worker.here = worker.there, worker.there = used;
      workers_meet();
      int pieces;
      get<0>(next, pieces);
      pieces &= PIECE_BITS;
      worker.lanes = (u32)pieces <= most_pieces ? pieces << shift : 0;  // an overfull part has gaps: the team will leave
      next = next == size + 16 ? size : next + 8;
      worker.look(threadIdx.x & ~31u);
      await_team();
      get<0>(flag, leave);
    } while (!leave);
  } else if (threadIdx.x < WORKERS + 32) {
    const float share = pull_share(task.alpha);
    Standing here = at;
    int rent = 0, leave;
    do {
      u32 found = 0, new_found = 0, new_arcs = 0;
      await_counts();
      if (lane() == 0) {
        int places, arcs;
        get<0>(next, places), get<4>(next, arcs);
        const u32 pieces = places & PIECE_BITS;
        found = new_found = (u32)places >> VERTEX_BIT, new_arcs = min((u32)arcs, MOST_ARCS);
        bool wish = pieces > most_pieces;
        if (!ALONE) {
          wish |= pieces << shift > UNEVEN && (u64)new_arcs * blocks > HOPWAVE_UNEVEN_TIMES * here.mf;
          tell_team(word, (wish ? ONE_WISH : 0) + ((u64)found << TEAM_VERTEX_BIT) + new_arcs);
        }
        // What need not wait for the others: a new size, when the search is over, and when the rule may pull.
        next = next == size + 16 ? size : next + 8;
        put<0>(next, 0), put<4>(next, 0);
        u64 mu = here.mu;
        asm volatile("" : "+l"(mu));  // not before the others have been told
        const bool deepest = here.depth + 1 >= task.depth_limit;
        const u32 missing = (u32)(here.findable - here.reached), pull_from = may_pull_from(share, graph.n, mu);
        if (!ALONE) {
          const u64 all = hear_team(word, before, blocks), used = before;
          u64 *const used_word = word;
          word = other, other = used_word, before = other_before, other_before = used;
          wish = all >= ONE_WISH;
          new_found = (u32)((all & (ONE_WISH - 1)) >> TEAM_VERTEX_BIT), new_arcs = (u32)(all & TEAM_ARC_BITS);
        }
        rent = new_arcs < task.fewest ? rent + 1 : 0;
        put<0>(flag, (int)(wish || deepest || new_found == 0 || new_found == missing || new_arcs > task.most ||
                           rent > RENT || (new_found > here.nf && new_arcs > pull_from)));
      }
      __syncwarp();
      await_team();
      get<0>(flag, leave);
      if (lane() == 0) {
        step_forward(here, work, PUSH, new_found, new_arcs, here.mf, blocks);
        if (leave) {
          shared_found = found;
          if (found) base = atomicAdd(&work.counters->tail, found);
        }
        if (leave && blockIdx.x == 0) {
          Standing left = at;  // what the loop never touches need not be kept in registers
          left.nf = here.nf, left.nf0 = here.nf0, left.reached = here.reached;
          left.mu = here.mu + new_arcs;  // the exact number is taken off after the barrier
          left.depth = here.depth, left.last = PUSH, left.levels = here.levels;
          left.begin = at.tail, left.tail = at.tail + here.nf, left.queued = 1;
          *task.standing = left;
        }
      }
    } while (!leave);
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
