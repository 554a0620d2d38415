// Pushes that claim vertices at once: XBFS's top-down (section 4.1), and hopwave's equal shares.
#pragma once
#include "steps/gather.cuh"
#include "steps/report.cuh"

namespace hopwave::steps {

// u reaches v; returns true to the first thread that claims v. The claim is a compare-and-swap on the status array,
// after a plain read that settles most arcs. With path counts every u of the frontier adds its count, first or not.
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
//   output = reuse   as queue, but reads the pull's list of unvisited vertices, of which only those that the pull found
//                    are in the frontier (Observation 2)
//   output = scan    plain stores: all writers write the same depth, and any of their parents is right; a scan of the
//                    status array then makes the queue
template <class Offset, Mapping mapping, Output output, bool counting>
__global__ void push(const Offset *offsets, const int *neighbours, const int *queue, u64 length, int depth,
                     int *distance, int *parent, double *sigma, int *next, u64 *counters) {
  Tally mine;
  const QueueShare share(length);
  for (u64 tile = share.begin; tile < share.end; tile += BLOCK) {
    const u64 i = QueueShare::mine(tile);
    int u = -1;
    Offset begin = 0, end = 0;
    if (i < share.end) {
      u = queue[i];
      if (output != Output::reuse || status(distance, u) == depth) begin = offsets[u], end = offsets[u + 1];
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
        mine.found += 1;
        mine.edges += degree(offsets, v);
      }
    });
  }
  report(mine, counters);
}

// Equal shares of the frontier's arcs.
template <class Offset, bool counting>
__global__ void push_shares(const Offset *offsets, const int *neighbours, const int *queue, const i64 *sums, u64 lists,
                            u64 arcs, int depth, int *distance, int *parent, double *sigma, int *next, u64 *counters) {
  Tally mine;
  gather_shares(offsets, queue, sums, lists, arcs, [&](int u, Offset arc, u64) {
    const int v = neighbours[arc];
    mine.checked += 1;
    if (!claim<counting>(u, v, depth, distance, parent, sigma)) return;
    next[enqueue_at(&counters[TAIL])] = v;
    mine.found += 1;
    mine.edges += degree(offsets, v);
  });
  report(mine, counters);
}

}  // namespace hopwave::steps
