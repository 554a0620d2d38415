// Shortest paths between random pairs (s, t), each drawn uniformly from the shortest paths of its pair, by one warp per
// pair. The paths are identical to those of engines/cpu/betweenness/sampled_paths.py, which explains the method. The
// queue therefore has the CPU's order, and sums of path counts above 2^53 are added in that order.
//
//   level[v]   0: unvisited; 1 + d(s, v) on the forward side; -1 - d(v, t) on the backward side
//   sigma[v]   path counts, of visited vertices only
//   queue      both sides in one array: forward from the front, backward from the end
//
// If path counts may exceed 2^MAX_BITS, the kernel lists the pair's number, and the CPU draws its path.
#pragma once
#include "common/threads.cuh"

namespace hopwave::betweenness {

constexpr int PATH_THREADS = 256, PATH_WARPS = PATH_THREADS / WARP;
constexpr int MAX_BITS = 480;                 // as on the CPU: products of two path counts stay within float64
constexpr int LONG = 64, SEARCHED = 16;       // list lengths that select the method of a walk step: as on the CPU
constexpr double ROUNDING = 1e-9;             // as on the CPU
constexpr double EXACT = 9007199254740992.0;  // 2^53
constexpr int ARCS = 0, INNER_VERTICES = 1, UNCONNECTED = 2, WRONG = 4;  // indices: jobs.PATH_SUMS; the CPU uses 3

template <class Offset>
struct PathGraph {
  const Offset *offsets[2];  // the arcs that side 0 (forward) and side 1 (backward) follow
  const int *neighbours[2];
  i64 n, ascending;    // ascending: whether adjacency lists are sorted
  i64 degree_bits[2];  // per side: bits of the maximum number of arcs into a vertex
};

struct PathWork {
  int *level, *queue, *path;  // n entries per warp; level is 0 between pairs
  double *sigma;
  u64 *counts;  // per vertex: number of paths with this inner vertex
  u64 *sums;
  u64 *next;  // number of the next pair
  i64 *left;  // pairs that the CPU must draw, and their number
  u32 *left_count;
  u64 start;
  i64 last, cutoff;  // end of the range of pairs (exclusive); maximum path length, in hops
};

// State of one side: its last level in the queue, the end of its queue, and the number of arcs out of the last level.
struct Side {
  int begin, end, tail, depth;
  i64 leaving, bits;
};

template <class Offset>
struct PairSearch {
  const PathGraph<Offset> &graph;
  int *level, *queue, *path;
  double *sigma;
  Side *sides;  // in shared memory
  u64 key;

  __device__ __forceinline__ double fraction(int number) const {
    return (double)(splitmix(key + (u64)(number + 1) * WEYL) >> 11) * 0x1p-53;
  }
  __device__ __forceinline__ i64 place(int side, int k) const { return side ? graph.n - 1 - k : k; }
  __device__ __forceinline__ i64 degree(int side, int v) const {
    return (i64)graph.offsets[side][v + 1] - (i64)graph.offsets[side][v];
  }
  // Whether an arc of this side leads to the other side; `at` is the level of the arc's head.
  __device__ __forceinline__ static bool crosses(int at, int side) { return side ? at > 0 : at < 0; }

  // Calls visit(valid, i, u, v) with the full warp for 32 arcs of the last level at a time, until it returns true.
  template <class Visit>
  __device__ __forceinline__ void arcs(int side, Visit visit) const {
    const Offset *offsets = graph.offsets[side];
    const int *neighbours = graph.neighbours[side];
    const int begin = sides[side].begin, end = sides[side].end;
    for (int group = begin; group < end; group += WARP) {
      const int mine = group + lane();
      const int tail = mine < end ? queue[place(side, mine)] : 0;
      const i64 first = mine < end ? (i64)offsets[tail] : 0, length = mine < end ? (i64)offsets[tail + 1] - first : 0;
      const i64 through = inclusive_scan(length), all = __shfl_sync(ALL_LANES, through, WARP - 1);
      const i64 base = first - (through - length);  // base + a is arc number a of this group
      for (i64 from = 0; from < all; from += WARP) {
        const i64 a = from + lane();
        int k = 0;  // number of lanes whose arcs all precede arc a
        for (int step = WARP / 2; step; step /= 2)
          if (__shfl_sync(ALL_LANES, through, k + step - 1) <= a) k += step;
        const int u = __shfl_sync(ALL_LANES, tail, k);
        const i64 arc = __shfl_sync(ALL_LANES, base, k) + a;
        const bool valid = a < all;
        if (visit(valid, group + k, u, valid ? neighbours[arc] : 0)) return;
      }
    }
  }

  // Expands one level of one side. Returns Σ σ(u) σ(v) over the arcs (u, v) to the other side: 0 until the sides meet.
  __device__ __forceinline__ double expand(int side) {
    Side &here = sides[side];
    const int fresh_level = side ? -2 - here.depth : 2 + here.depth;
    double weight = 0;
    i64 leaving = 0;
    int tail = here.end;
    bool met = false;
    arcs(side, [&](bool valid, int, int u, int v) {
      const int at = valid ? level[v] : 0;
      const double share = valid ? sigma[u] : 0.0;
      const bool across = valid && crosses(at, side);
      if (across) weight += share * sigma[v];
      met = __any_sync(ALL_LANES, across) || met;  // vertices found after the sides met are on no shortest path
      const bool takes = valid && !met && (at == 0 || at == fresh_level);
      const u32 taking = __ballot_sync(ALL_LANES, takes);
      if (!taking) return false;
      int rank = 0;  // index of this lane among lanes whose arcs lead to the same vertex
      if (takes) rank = __popc(__match_any_sync(taking, v) & lanes_below());
      const bool fresh = takes && at == 0 && rank == 0;
      const u32 found = __ballot_sync(ALL_LANES, fresh);
      if (fresh) {
        queue[place(side, tail + __popc(found & lanes_below()))] = v;
        level[v] = fresh_level, sigma[v] = share;
        leaving += degree(side, v);
      }
      tail += __popc(found);
      __syncwarp();
      bool waits = takes && !fresh;
      for (int turn = 0; __any_sync(ALL_LANES, waits); ++turn) {
        if (waits && rank == turn) sigma[v] += share, waits = false;
        __syncwarp();
      }
      return false;
    });
    __syncwarp();
    if (lane() == 0) here.tail = tail;
    leaving = warp_sum(leaving), weight = warp_sum(weight);
    if (weight == 0) {
      if (lane() == 0) {
        here.begin = here.end, here.end = tail, here.leaving = leaving;
        here.depth += 1, here.bits += graph.degree_bits[side];
      }
    }
    __syncwarp();
    return weight;
  }

  // Σ σ(u) σ(v) over the arcs to the other side, in the CPU's order: first over the arcs of each u. Stops at the u
  // whose terms raise the sum above `chosen`; `at` becomes its index in the queue. Returns the sum before u.
  __device__ __forceinline__ double ordered(int side, double chosen, int &at) const {
    double total = 0, across = 0, share = 0;
    at = -1;
    bool passed = false;
    arcs(side, [&](bool valid, int i, int u, int v) {
      const bool is = valid && crosses(level[v], side);
      const double mine = is ? sigma[u] : 0.0, other = is ? sigma[v] : 0.0;
      for (u32 todo = __ballot_sync(ALL_LANES, is); todo; todo &= todo - 1) {
        const int from = __ffs(todo) - 1, of = __shfl_sync(ALL_LANES, i, from);
        if (of != at) {
          const double through = __dadd_rn(total, __dmul_rn(share, across));
          if (through > chosen) return passed = true;
          total = through, across = 0, at = of;
        }
        share = __shfl_sync(ALL_LANES, mine, from), across += __shfl_sync(ALL_LANES, other, from);
      }
      return false;
    });
    const double through = __dadd_rn(total, __dmul_rn(share, across));
    return passed || through > chosen ? total : through;
  }

  // Adds all lanes' terms to `running`; returns the first lane that raises it above `chosen`, or -1.
  __device__ __forceinline__ static int passing(bool is, double term, bool exact, double chosen, double &running) {
    u32 todo = __ballot_sync(ALL_LANES, is);
    if (!todo) return -1;
    if (exact) {
      const double through = inclusive_scan(term);
      const u32 passed = __ballot_sync(ALL_LANES, is && running + through > chosen);
      running += __shfl_sync(ALL_LANES, through, WARP - 1);
      return __ffs(passed) - 1;
    }
    int passed = -1;
    for (; todo; todo &= todo - 1) {
      running += __shfl_sync(ALL_LANES, term, __ffs(todo) - 1);
      if (passed < 0 && running > chosen) passed = __ffs(todo) - 1;
    }
    return passed;
  }

  __device__ __forceinline__ int2 meeting(int side, double total, double chosen) {
    int2 found = {-1, -1};
    double running = 0;
    int at = -1;
    const bool exact = total < EXACT;
    if (!exact) running = ordered(side, chosen, at);
    arcs(side, [&](bool valid, int i, int u, int v) {
      const bool is = valid && (exact || i == at) && crosses(level[v], side);
      const int from = passing(is, is ? sigma[u] * sigma[v] : 0.0, exact, chosen, running);
      const u32 those = __ballot_sync(ALL_LANES, is);
      const int last = from >= 0 ? from : WARP - 1 - __clz(those);
      if (those) found = {__shfl_sync(ALL_LANES, u, last), __shfl_sync(ALL_LANES, v, last)};
      return from >= 0;
    });
    return found;
  }

  // The first index in a side's queue, which is ordered by level, whose vertex is at level `wanted` or deeper.
  __device__ __forceinline__ int place_of(int side, int wanted) const {
    int low = 0, high = sides[side].tail;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (abs(level[queue[place(side, middle)]]) < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  __device__ __forceinline__ int arcs_between(int side, int u, int v) const {
    const int *neighbours = graph.neighbours[side];
    const i64 last = graph.offsets[side][u + 1];
    i64 low = graph.offsets[side][u], high = last;
    while (low < high) {
      const i64 middle = (low + high) / 2;
      if (neighbours[middle] < v) low = middle + 1;
      else high = middle;
    }
    int many = 0;
    for (; low < last && neighbours[low] == v; ++low) ++many;
    return many;
  }

  // Draws a predecessor in proportion to σ; candidate(k, many) sets its number of arcs. -1: counts do not add up to σ.
  template <class Candidate>
  __device__ __forceinline__ int predecessor(int candidates, double count, double chosen, Candidate candidate) const {
    double running = 0;
    int found = -1;
    bool taken = false;
    for (int k = 0; k < candidates; k += WARP) {
      int many = 0;
      const int u = k + lane() < candidates ? candidate(k + lane(), many) : -1;
      const double term = many ? many * sigma[u] : 0.0;
      if (taken) {
        running += warp_sum(term);
        continue;
      }
      const int from = passing(many > 0, term, count < EXACT, chosen, running);
      const u32 those = __ballot_sync(ALL_LANES, many > 0);
      if (those) found = __shfl_sync(ALL_LANES, u, from >= 0 ? from : WARP - 1 - __clz(those));
      taken = from >= 0;
    }
    return fabs(running - count) <= ROUNDING * count ? found : -1;
  }

  // Walks from path[at] to the root of its side, as on the CPU. Returns the root's index, or -1 if a count is wrong.
  __device__ __forceinline__ int walk(int side, int at, int number) {
    const int step = side ? -1 : 1;
    const Offset *offsets = graph.offsets[1 - side];
    const int *neighbours = graph.neighbours[1 - side];
    int v = path[at];
    while (level[v] != step) {
      const int nearer = level[v] - step, depth = abs(nearer);
      const double count = sigma[v], chosen = fraction(number++) * count;
      const i64 first = offsets[v];
      const int length = (int)((i64)offsets[v + 1] - first);
      int begin = 0, end = 0, found;
      if (nearer != step && graph.ascending && length > LONG)
        begin = place_of(side, depth), end = place_of(side, depth + 1);
      if (nearer == step) found = queue[place(side, 0)];  // the root is the only vertex of its level
      else if (end > begin && (i64)(end - begin) * SEARCHED < length)
        found = predecessor(end - begin, count, chosen, [&](int k, int &many) {
          const int u = queue[place(side, begin + k)];
          many = arcs_between(side, u, v);
          return u;
        });
      else
        found = predecessor(length, count, chosen, [&](int k, int &many) {
          const int u = neighbours[first + k];
          many = level[u] == nearer;
          return u;
        });
      at -= step;
      if (found < 0 || at < 0 || at >= graph.n) return -1;
      v = found;
      if (lane() == 0) path[at] = v;
    }
    __syncwarp();
    return at;
  }

  __device__ __forceinline__ bool has_arc(int u, int v) const {
    if (graph.ascending) return arcs_between(0, u, v) > 0;
    i64 low = graph.offsets[0][u], high = graph.offsets[0][u + 1];
    while (low < high && graph.neighbours[0][low] != v) ++low;
    return low < high;
  }

  __device__ __forceinline__ void draw(int side, double total, u64 *counts, u64 *sums) {
    int ignored;
    if (total >= EXACT) total = ordered(side, __longlong_as_double(0x7ff0000000000000ll), ignored);
    const int2 arc = meeting(side, total, fraction(2) * total);
    const int at = sides[0].depth, distance = at + sides[1].depth + 1;
    bool right = arc.x >= 0;
    if (right) {
      if (lane() == 0) path[at + side] = arc.x, path[at + 1 - side] = arc.y;
      __syncwarp();
      const int first = walk(0, at, 3), last = walk(1, at + 1, 3 + at);
      right = first == 0 && last == distance && path[0] == queue[place(0, 0)] && path[last] == queue[place(1, 0)];
    }
    if (right) {
      bool there = true;
      for (int i = lane(); i < distance; i += WARP) {
        there = there && has_arc(path[i], path[i + 1]);
        if (i) atomicAdd(counts + path[i], 1ull);
      }
      right = __all_sync(ALL_LANES, there);
    }
    if (lane() == 0) {
      atomicAdd(sums + INNER_VERTICES, (u64)(distance - 1));
      if (!right) atomicAdd(sums + WRONG, 1ull);
    }
  }

  // Returns an upper bound on log2 of the largest σ in a side's last level.
  __device__ __forceinline__ i64 bits_of(int side) const {
    double greatest = 1;
    for (int i = sides[side].begin + lane(); i < sides[side].end; i += WARP)
      greatest = max(greatest, sigma[queue[place(side, i)]]);
    greatest = warp_max(greatest);
    return isinf(greatest) ? 2000 : ilogb(greatest) + 1;
  }

  // Draws one pair and, if it has a path of at most `cutoff` hops, a shortest path. False: the CPU must draw this pair.
  __device__ __forceinline__ bool sample(const PathWork &work) {
    const i64 n = graph.n, s = min((i64)(fraction(0) * n), n - 1);
    i64 t = min((i64)(fraction(1) * (n - 1)), n - 2);
    t += t >= s;
    if (lane() < 2) {
      const int side = lane(), root = (int)(side ? t : s);
      sides[side] = {0, 1, 1, 0, degree(side, root), 0};
      queue[place(side, 0)] = root, level[root] = side ? -1 : 1, sigma[root] = 1;
    }
    __syncwarp();
    double total = 0;
    bool wide = false;
    i64 looked_at = 0;
    while (!wide && sides[0].leaving > 0 && sides[1].leaving > 0 && sides[0].depth + sides[1].depth < work.cutoff) {
      const int side = sides[0].leaving > sides[1].leaving;
      looked_at += sides[side].leaving;
      __syncwarp();
      total = expand(side);
      if (total > 0) {
        draw(side, total, work.counts, work.sums);
        break;
      }
      if (sides[side].bits > MAX_BITS) {
        const i64 bits = bits_of(side);
        wide = bits > MAX_BITS;
        __syncwarp();
        if (lane() == 0) sides[side].bits = bits;
        __syncwarp();
      }
    }
    if (lane() == 0 && !wide) {
      atomicAdd(work.sums + ARCS, (u64)looked_at);
      if (total == 0) atomicAdd(work.sums + UNCONNECTED, 1ull);
    }
    __syncwarp();
    for (int side = 0; side < 2; ++side)
      for (int i = lane(); i < sides[side].tail; i += WARP) level[queue[place(side, i)]] = 0;
    __syncwarp();
    return !wide;
  }
};

template <class Offset>
__global__ void __launch_bounds__(PATH_THREADS)
    sample_paths(const __grid_constant__ PathGraph<Offset> graph, const __grid_constant__ PathWork work, i64 searches) {
  __shared__ Side sides[PATH_WARPS][2];
  const i64 warp = (i64)blockIdx.x * PATH_WARPS + block_warp(), at = warp * graph.n;
  if (warp >= searches) return;
  while (true) {
    u64 pair = 0;
    if (lane() == 0) pair = atomicAdd(work.next, 1ull);
    pair = __shfl_sync(ALL_LANES, pair, 0);
    if ((i64)pair >= work.last) return;
    const u64 key = splitmix(work.start + (pair + 1) * WEYL);
    PairSearch<Offset> search{
        graph, work.level + at, work.queue + at, work.path + at, work.sigma + at, sides[block_warp()], key};
    const bool done = search.sample(work);
    if (!done && lane() == 0) work.left[atomicAdd(work.left_count, 1)] = (i64)pair;
  }
}

}  // namespace hopwave::betweenness
