// Pushes that claim vertices immediately: XBFS's top-down step (section 4.1), and hopwave's equal shares.
#pragma once
#include "steps/gather.cuh"

namespace hopwave::steps {

// u reaches v; returns true to the first thread that claims v. The claim is a compare-and-swap on the status array,
// after a plain read that decides most arcs. With path counts, every u of the frontier adds its count, first or not.
template <bool counting>
__device__ inline bool claim(int u, int v, int depth, int *distance, int *parent, double *sigma) {
  int seen = status(distance, v);
  bool first = false;
  if (seen == -1) {
    seen = atomicCAS(&distance[v], -1, depth + 1);
    first = seen == -1;
  }
  if (counting && (first || seen == depth + 1)) atomicAdd(&sigma[v], sigma[u]);
  if (first && parent) parent[v] = u;
  return first;
}

// One level by lists.
//   output = queue   the thread that claims a vertex enqueues it; no scan
//   output = reuse   like queue, but reads the pull's list of unvisited vertices: only vertices that the pull found
//                    are in the frontier (Observation 2); ~v is in the next frontier, found early
//   output = scan    plain stores: all writers write the same depth, and any of their parents is correct; a scan of the
//                    status array then creates the queue
template <class Offset, Mapping mapping, Output output, bool counting>
__global__ void push(const Offset *offsets, const int *neighbours, const int *queue, u64 length, int depth,
                     int *distance, int *parent, double *sigma, int *next, u64 *counters) {
  Tally mine;
  const QueueShare share{length};
  for (u64 tile = share.begin; tile < share.end; tile += BLOCK) {
    const u64 i = QueueShare::mine(tile);
    int u = -1;
    Offset begin = 0, end = 0;
    if (i < share.end) {
      u = queue[i];
      if (output == Output::reuse && u < 0) next[enqueue_at(&counters[TAIL])] = ~u;
      else if (output != Output::reuse || status(distance, u) == depth) begin = offsets[u], end = offsets[u + 1];
    }
    mine.checked += (u64)(end - begin);
    gather_tile<mapping>(u, begin, end, 0, [&](int from, Offset arc, u64) {
      const int v = neighbours[arc];
      if (output == Output::scan) {
        const int seen = status(distance, v);
        if (seen == -1) {
          distance[v] = depth + 1;
          if (parent) parent[v] = from;
        }
        if (counting && (seen == -1 || seen == depth + 1)) atomicAdd(&sigma[v], sigma[from]);
      } else if (claim<counting>(from, v, depth, distance, parent, sigma)) {
        next[enqueue_at(&counters[TAIL])] = v;
        mine.add(offsets, v);
      }
    });
  }
  report(mine, counters);
}

template <class Offset, bool counting>
__global__ void push_shares(const Offset *offsets, const int *neighbours, const int *queue, const i64 *sums, u64 lists,
                            u64 arcs, int depth, int *distance, int *parent, double *sigma, int *next, u64 *counters) {
  Tally mine;
  gather_shares(offsets, queue, sums, lists, arcs, [&](int u, Offset arc, u64) {
    const int v = neighbours[arc];
    mine.checked += 1;
    if (!claim<counting>(u, v, depth, distance, parent, sigma)) return;
    next[enqueue_at(&counters[TAIL])] = v;
    mine.add(offsets, v);
  });
  report(mine, counters);
}

// ---- Merrill's two-phase push (Hiragushi, section 3.2): `expand` writes neighbours, `contract` keeps new vertices.

// Calls write(u, arc, place) for every arc of a queue's lists. Returns the number of arcs in this thread's own lists.
template <class Source, class Offset, class Item, class Write>
__device__ inline u64 expand_lists(const Offset *offsets, const Item *queue, u64 length, u64 *gathered, Write write) {
  __shared__ u64 first;
  u64 mine = 0;
  const QueueShare share{length};
  for (u64 tile = share.begin; tile < share.end; tile += BLOCK) {
    const u64 i = QueueShare::mine(tile);
    Item u = 0;
    Offset begin = 0, end = 0;
    if (i < share.end) u = queue[i], begin = offsets[u], end = offsets[u + 1];
    mine += (u64)(end - begin);
    u64 total;
    const u64 before = block_scan((u64)(end - begin), total);
    if (threadIdx.x == 0) first = atomicAdd(gathered, total);
    __syncthreads();
    gather_tile<Mapping::twc>((Source)u, begin, end, first + before - (u64)begin, write);
    __syncthreads();
  }
  return mine;
}

template <class Offset>
__global__ void expand(const Offset *offsets, const int *neighbours, const int *queue, u64 length, int *targets,
                       int *sources, u64 *counters) {
  Tally mine;
  mine.checked = expand_lists<int>(offsets, queue, length, &counters[GATHERED], [&](int from, Offset arc, u64 slot) {
    targets[slot] = neighbours[arc];
    if (sources) sources[slot] = from;
  });
  report(mine, counters);
}

constexpr int HISTORY = 2048;  // vertices that a block remembers: 8 KB of shared memory, for eight blocks at a time

// Keeps the targets seen for the first time. The tests, cheapest first, follow Merrill et al. (section 4.3), on which
// Hiragushi (section 3.2) builds.
//   bitmap    a visited vertex is dropped
//   label     without an exact bitmap: the status array is read, and written immediately
//   history   a table of the vertices that the block kept last, index = v % HISTORY
//   warp      one lane continues for all equal vertices of a warp
//   claim     exact: an atomic operation sets the bit (Hiragushi). Otherwise, plain stores may undo one another,
//             and two blocks may keep the same vertex: duplicates stay in the queue (Merrill); `next` has room
//             for `capacity` vertices, and the host checks whether that was sufficient.
template <class Offset, bool exact>
__global__ void contract(const Offset *offsets, const int *targets, const int *sources, u64 arcs, int depth,
                         u32 *visited, int *distance, int *parent, int *next, u64 capacity, u64 *counters) {
  __shared__ int history[HISTORY];
  for (int i = threadIdx.x; i < HISTORY; i += BLOCK) history[i] = -1;
  __syncthreads();
  Tally mine;
  const QueueShare share{arcs};
  u64 i = share.begin + threadIdx.x;
  int coming = i < share.end ? targets[i] : -1;
  for (u64 tile = share.begin; tile < share.end; tile += BLOCK, i += BLOCK) {
    int v = coming;
    coming = i + BLOCK < share.end ? targets[i + BLOCK] : -1;  // loading while v is tested
    volatile u32 *place = v < 0 ? nullptr : &visited[v / 32];
    const u32 bits = place ? *place : 0, bit = 1u << (v & 31);
    if (bits & bit) v = -1;
    if (!exact && v >= 0) {
      *place = bits | bit;
      if (status(distance, v) >= 0) v = -1;
      else distance[v] = depth + 1;
    }
    if (v >= 0 && atomicExch(&history[v % HISTORY], v) == v) v = -1;
    const u32 same = __match_any_sync(ALL_LANES, v);
    if (v < 0 || (same & lanes_below())) continue;
    if (exact) {
      if (atomicOr((u32 *)place, bit) & bit) continue;
      distance[v] = depth + 1;
    }
    if (parent) parent[v] = sources[i];
    const u64 slot = enqueue_at(&counters[TAIL]);
    if (slot < capacity) next[slot] = v;
    mine.add(offsets, v);
  }
  report(mine, counters);
}

template <class Offset>
__global__ void count_arcs(const int *targets, const int *sources, u64 arcs, int depth, const int *distance,
                           double *sigma) {
  for (u64 i = thread_number(); i < arcs; i += thread_count())
    if (distance[targets[i]] == depth + 1) atomicAdd(&sigma[targets[i]], sigma[sources[i]]);
}

}  // namespace hopwave::steps
