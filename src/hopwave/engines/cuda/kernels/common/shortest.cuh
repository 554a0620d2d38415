// Distances along weights from one source: near and far piles (Davidson et al., IPDPS 2014), by one block or a team of
// blocks with its own barriers. Hundreds of such searches run at a time, each with its own arrays.
//
//   d(v)    the minimum of d(u) + w over the arcs u -> v, in float64: bitwise identical for any order of the arcs
//   near    vertices whose distance fell and is within the bound: this round relaxes their arcs
//   far     vertices beyond the bound. When the near pile is empty, the bound becomes their smallest distance + delta.
//   distance    all infinite before a search. Non-negative float64 numbers compare like their bits, so minima are u64.
//   stamps      the last round, or far pile, that listed the vertex; numbers continue across searches
#pragma once
#include "common/threads.cuh"

namespace hopwave {

constexpr int ARCS_IN_FLIGHT = 4;  // arcs that a lane loads at a time
constexpr int LISTS = 4;           // room + 2 vertices each: two near piles, two far piles

__device__ __forceinline__ double infinite() { return __longlong_as_double(0x7ff0000000000000ll); }

template <class Offset>
struct WeightedGraph {
  const Offset *offsets;  // out-arcs
  const int *neighbours;
  const double *lengths;
  const Offset *in_offsets;  // in-arcs; the same arrays as the out-arcs if the graph is undirected
  const int *in_neighbours;
  const double *in_lengths;
  i64 n, m;
};

struct __align__(128) PathBoard {
  u64 low[2];  // smallest distance in the far pile, as bits
  u32 item, arrived;
  int near[3];   // vertices in the near pile of this round, of the next round; a counter being cleared
  int far[2];    // vertices in this far pile and in the next
  int found[3];  // betweenness: vertices found by this wave, by the previous wave; a counter being cleared
  int reached, overflowed;
};

struct PathState {
  double *distance;             // per team: room, unless distances are written elsewhere
  u32 *near_stamp, *far_stamp;  // per team: room, zero before
  int *lists;                   // per team: LISTS * (room + 2)
  PathBoard *boards;            // per team, zero before
  double delta, limit;          // minimum step of the bound; maximum distance
  i64 group, long_row, team;    // lanes per row; minimum arcs of a row for a full warp; blocks per search
  i64 room;                     // vertices that a search reaches at most: n, or those of the largest component
};

// Returns Σ x over a block in thread 0, always added in the same order. The full block calls this function.
template <class T, class Add>
__device__ __forceinline__ T block_total(T x, T *warps, Add add) {
  for (int step = WARP / 2; step; step /= 2) x = add(x, x.from(step));
  if (lane() == 0) warps[block_warp()] = x;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int w = 1; w < blockDim.x / WARP; ++w) x = add(x, warps[w]);
  __syncthreads();
  return x;
}

template <class Offset, bool TEAM>
struct PathThreads {
  const WeightedGraph<Offset> &G;
  const PathState &S;
  PathBoard *const board;
  const u32 blocks, team;
  const int me, everyone;  // index of this thread; number of threads
  u32 *near_stamp, *far_stamp;
  int *const lists;
  double *distance;
  u32 arrivals = 0, round = 1, pile = 1;  // for barrier(); index of the round; index of the far pile
  double bound = 0.0, lowest = 0.0;       // bound of near distances; this thread's smallest distance on the far pile

  __device__ __forceinline__ PathThreads(const WeightedGraph<Offset> &G, const PathState &S, PathBoard *own)
      : G(G),
        S(S),
        board(TEAM ? S.boards + blockIdx.x / (u32)S.team : own),
        blocks(TEAM ? (u32)S.team : 1),
        team(blockIdx.x / (TEAM ? (u32)S.team : 1)),
        me(blockIdx.x % (TEAM ? (u32)S.team : 1) * blockDim.x + threadIdx.x),
        everyone((TEAM ? (u32)S.team : 1) * blockDim.x),
        lists(S.lists + team * LISTS * (S.room + 2)) {
    begin_with(0);
  }

  // Arrays with one entry per vertex now begin with that of `first`, the first vertex that the next search may reach.
  __device__ __forceinline__ void begin_with(int first) {
    const i64 shift = team * S.room - first;
    near_stamp = S.near_stamp + shift, far_stamp = S.far_stamp + shift;
    distance = S.distance ? S.distance + shift : nullptr;
  }

  __device__ __forceinline__ void wait() {
    if (TEAM) barrier(&board->arrived, arrivals, blocks, [] {}, [] {});
    else __syncthreads();
  }

  // Returns Σ x over this search's threads in thread 0. `parts`: one per block, in global memory.
  template <class T, class Add>
  __device__ __forceinline__ T total(T x, T *warps, void *parts, Add add) {
    x = block_total(x, warps, add);
    if (!TEAM) return x;
    T *const here = (T *)parts + team * blocks;
    if (threadIdx.x == 0) here[blockIdx.x % blocks] = x;
    wait();
    for (u32 b = 1; b < blocks && me == 0; ++b) x = add(x, here[b]);
    wait();
    return x;
  }

  __device__ __forceinline__ int *list(int number) const { return lists + number * (S.room + 2); }
  __device__ __forceinline__ int *near_pile(u32 round) const { return list(round & 1); }
  __device__ __forceinline__ int *far_pile(u32 pile) const { return list(2 + (pile & 1)); }

  __device__ __forceinline__ int place(int *tail) const { return TEAM ? enqueue_at(tail) : atomicAdd(tail, 1); }

  // Calls row(v, sub, width, mates) for every v of vertices[begin, end), or of [begin, end) if `vertices` is null. The
  // caller is lane `sub` of `width` lanes with the mask `mates` that share a row: a full warp if the row is long.
  template <class Row>
  __device__ __forceinline__ void each_row(const Offset *offsets, const int *vertices, int begin, int end, Row row) {
    const int width = (int)S.group, sub = lane() % width, per_warp = WARP / width;
    const u32 mates = width == WARP ? ALL_LANES : ((1u << width) - 1) << (lane() / width * width);
    for (int first = begin + me / WARP * per_warp; first < end; first += everyone / WARP * per_warp) {
      const int i = first + lane() / width;
      const int v = i >= end ? -1 : vertices ? vertices[i] : i;
      const bool is_long = v >= 0 && offsets[v + 1] - offsets[v] > S.long_row;
      // Each group processes its own row if it is short; then all lanes process the long rows, one by one.
      u32 waiting = __ballot_sync(ALL_LANES, is_long && sub == 0);
      int u = is_long ? -1 : v, number = sub, lanes = width;
      u32 together = mates;
      for (;;) {
        if (u >= 0) row(u, number, lanes, together);
        if (!waiting) break;
        __syncwarp();
        u = __shfl_sync(ALL_LANES, v, __ffs(waiting) - 1);
        waiting &= waiting - 1;
        number = (int)lane(), lanes = WARP, together = ALL_LANES;
      }
    }
  }

  // Some arcs of one row: their heads (-1 past the row's end), lengths, and the heads' distances.
  struct ArcsInFlight {
    int head[ARCS_IN_FLIGHT];
    double length[ARCS_IN_FLIGHT], known[ARCS_IN_FLIGHT];
  };

  // Calls some(j, arcs) for this lane's arcs of one row, several at a time; arc k of them is j + k * width.
  template <class Some>
  __device__ __forceinline__ void some_arcs(const Offset *offsets, const int *neighbours, const double *lengths, int v,
                                            int sub, int width, Some some) const {
    const Offset stop = offsets[v + 1];
    for (Offset j = offsets[v] + sub; j < stop; j += ARCS_IN_FLIGHT * width) {
      ArcsInFlight arcs;
      for (int k = 0; k < ARCS_IN_FLIGHT; ++k) {
        const bool there = j + k * width < stop;
        arcs.head[k] = there ? neighbours[j + k * width] : -1;
        arcs.length[k] = there ? lengths[j + k * width] : 0.0;
      }
      for (int k = 0; k < ARCS_IN_FLIGHT; ++k) arcs.known[k] = arcs.head[k] < 0 ? 0.0 : distance[arcs.head[k]];
      some(j, arcs);
    }
  }

  template <class Arc>
  __device__ __forceinline__ void each_arc(const Offset *offsets, const int *neighbours, const double *lengths, int v,
                                           int sub, int width, Arc arc) const {
    some_arcs(offsets, neighbours, lengths, v, sub, width, [&](Offset j, const ArcsInFlight &arcs) {
      for (int k = 0; k < ARCS_IN_FLIGHT; ++k)
        if (arcs.head[k] >= 0) arc(j + k * width, arcs.head[k], arcs.length[k], arcs.known[k]);
    });
  }

  // Puts heads whose distance falls onto a pile. All atomic minima are issued together, then all stamps.
  __device__ __forceinline__ void relax(double here, const ArcsInFlight &arcs) {
    bool nearer[ARCS_IN_FLIGHT];
    u64 offer[ARCS_IN_FLIGHT], old[ARCS_IN_FLIGHT];
    u32 before[ARCS_IN_FLIGHT];
    for (int k = 0; k < ARCS_IN_FLIGHT; ++k) {
      const double sum = here + arcs.length[k];
      nearer[k] = arcs.head[k] >= 0 && sum < arcs.known[k] && sum <= S.limit;
      offer[k] = (u64)__double_as_longlong(sum), old[k] = 0;
      if (nearer[k]) old[k] = atomicMin((u64 *)distance + arcs.head[k], offer[k]);
    }
    const u64 last = (u64)__double_as_longlong(bound);
    for (int k = 0; k < ARCS_IN_FLIGHT; ++k) {
      nearer[k] = nearer[k] && offer[k] < old[k];
      const bool near = offer[k] <= last;
      if (nearer[k] && !near) lowest = min(lowest, __longlong_as_double((i64)offer[k]));
      before[k] = near ? round + 1 : pile;
      if (nearer[k]) before[k] = atomicExch((near ? near_stamp : far_stamp) + arcs.head[k], before[k]);
    }
    for (int k = 0; k < ARCS_IN_FLIGHT; ++k) {
      if (!nearer[k]) continue;
      if (offer[k] <= last) {
        if (before[k] != round + 1) near_pile(round + 1)[place(&board->near[(round + 1) % 3])] = arcs.head[k];
      } else if (before[k] != pile) {
        far_pile(pile)[place(&board->far[pile & 1])] = arcs.head[k];
      }
    }
  }

  // Writes the distances from a source, up to the limit. The caller has called the barrier since the last search. The
  // search ends early if over() is true; over() is called whenever all distances within the bound are final.
  template <class Over>
  __device__ __forceinline__ void search(int source, Over over) {
    ++round, ++pile;
    bound = S.delta, lowest = infinite();
    if (me == 0) {
      distance[source] = 0.0;
      near_pile(round)[0] = source;
      board->near[round % 3] = 1, board->near[(round + 1) % 3] = 0;
      board->far[pile & 1] = 0;
      board->low[pile & 1] = ~0ull;
    }
    wait();
    for (;;) {
      while (const int count = board->near[round % 3]) {
        if (me == 0) board->near[(round + 2) % 3] = 0;
        each_row(G.offsets, near_pile(round), 0, count, [&](int v, int sub, int width, u32) {
          const double here = distance[v];
          some_arcs(G.offsets, G.neighbours, G.lengths, v, sub, width,
                    [&](Offset, const ArcsInFlight &arcs) { relax(here, arcs); });
        });
        wait();
        ++round;
      }
      const int waiting = board->far[pile & 1];
      if (waiting == 0 || over()) return;
      split(waiting);
    }
  }

  // Moves the bound past the nearest vertices of the far pile, and moves vertices within the bound to the near pile.
  __device__ __forceinline__ void split(int waiting) {
    for (int step = WARP / 2; step; step /= 2) lowest = min(lowest, __shfl_xor_sync(ALL_LANES, lowest, step));
    if (lane() == 0 && lowest < infinite()) atomicMin(&board->low[pile & 1], (u64)__double_as_longlong(lowest));
    if (me == 0) board->far[(pile + 1) & 1] = 0, board->low[(pile + 1) & 1] = ~0ull;
    wait();
    const double before = bound;
    bound = __longlong_as_double((i64)board->low[pile & 1]) + S.delta;
    lowest = infinite();
    const int *const from = far_pile(pile);
    ++pile;
    for (int i = me; i < waiting; i += everyone) {
      const int v = from[i];
      const double here = distance[v];
      if (here <= before) continue;  // its distance fell, and it has been on the near pile since
      if (here <= bound) {
        near_pile(round)[place(&board->near[round % 3])] = v;
      } else {
        lowest = min(lowest, here);
        far_stamp[v] = pile;
        far_pile(pile)[place(&board->far[pile & 1])] = v;
      }
    }
    wait();
  }
};

}  // namespace hopwave
