// One MPI rank's part of a graph on its GPU: the levels of a search over several ranks (hopwave/distributed/search.py),
// by Hiragushi's kernels (section 4), or by equal shares of arcs and one warp per 32 rows. Rows are tails with their
// heads (out), and heads with their tails (into), by slots; a warp processes half a 64-bit word of a bitmap.
#pragma once
#include "common/rows.cuh"
#include "steps/pull.cuh"
#include "steps/push.cuh"

namespace hopwave::rank {

// ---------------------------------------------------------------- Hiragushi's kernels

// Section 3.2, after Merrill et al.: one atomic operation per tile reserves its range in the list of arcs.
template <class Slot>
__global__ void expand(const i64 *offsets, const Slot *heads, const i64 *frontier, u64 rows, Slot *targets,
                       Slot *sources, u64 *gathered) {
  steps::expand_lists<Slot>(offsets, frontier, rows, gathered, [&](Slot from, i64 arc, u64 place) {
    targets[place] = heads[arc];
    sources[place] = from;
  });
}

constexpr int HISTORY = 1024;  // heads that a block remembers

// The targets that this rank has never sent before, with one source each, by the tests of steps/push.cuh.
template <class Slot>
__global__ void contract(const Slot *targets, const Slot *sources, u64 arcs, u64 *sent, Slot *found, Slot *parents,
                         u64 *count) {
  __shared__ Slot history[HISTORY];
  for (int i = threadIdx.x; i < HISTORY; i += BLOCK) history[i] = ~(Slot)0;
  __syncthreads();
  const steps::QueueShare share{arcs};
  for (u64 tile = share.begin; tile < share.end; tile += BLOCK) {
    const u64 i = tile + threadIdx.x;
    const Slot v = i < share.end ? targets[i] : 0;
    const u64 bit = 1ull << (v & 63);
    bool live = i < share.end && !(*(volatile u64 *)&sent[v >> 6] & bit);
    if (live && v != ~(Slot)0) live = atomicExch(&history[v % HISTORY], v) != v;
    const u32 same = __match_any_sync(ALL_LANES, v) & __ballot_sync(ALL_LANES, live);
    if (!live || (same & lanes_below()) || atomicOr(&sent[v >> 6], bit) & bit) continue;
    const u64 at = enqueue_at(count);
    found[at] = v;
    parents[at] = sources[i];
  }
}

// Figure 3, for one segment, which begins at slot `first`. A thread owns half a word of `closed`.
template <class Slot>
__global__ void pull_compacted(const i64 *__restrict__ offsets, const Slot *__restrict__ tails, i64 first, u64 halves,
                               u32 *closed, const u64 *__restrict__ front, Slot *parents, u64 *sums) {
  u64 found = 0, checked = 0;
  for (u64 tile = (u64)blockIdx.x * BLOCK; tile < halves; tile += (u64)gridDim.x * BLOCK) {
    const u64 half = tile + threadIdx.x;
    const u32 before = half < halves ? closed[half] : ~0u;
    const u32 modified = steps::compacted(~before, [&](u32 number) {
      const i64 row = (i64)(32 * tile + number), end = offsets[first + row + 1];
      for (i64 e = offsets[first + row]; e < end; ++e) {
        const Slot tail = tails[e];
        checked += 1;
        if (!(__ldg(&front[tail >> 6]) >> (tail & 63) & 1)) continue;
        parents[row] = tail;
        found += 1;
        return true;
      }
      return false;
    });
    if (modified) closed[half] = before | modified;
  }
  found = warp_sum(found), checked = warp_sum(checked);
  if (lane() == 0 && checked) atomicAdd(sums, found), atomicAdd(sums + 1, checked);
}

// ---------------------------------------------------------------- equal shares of arcs, and rows by warps

constexpr int PATIENCE = 32;  // neighbours that a thread reads before its warp helps

__device__ __forceinline__ bool is_set(const u64 *bits, u64 slot) { return bits[slot >> 6] >> (slot & 63) & 1; }

// One thread per arc of the frontier. A head that was not sent before is claimed and written with its row.
template <class Slot>
__global__ void push(const i64 *offsets, const Slot *heads, const i64 *frontier, const i64 *ends, i64 rows, i64 arcs,
                     u64 *sent, Slot *found, Slot *parents, u64 *count) {
  for (i64 e = signed_thread_number(); e < arcs; e += signed_thread_count()) {
    const i64 row = (i64)steps::first_above(ends, 0, rows, e), tail = frontier[row];
    const Slot head = heads[offsets[tail] + e - (row ? ends[row - 1] : 0)];
    const u64 bit = 1ull << (head & 63);
    if (sent[head >> 6] & bit || atomicOr(sent + (head >> 6), bit) & bit) continue;
    const u64 at = atomicAdd(count, 1ull);
    found[at] = head;
    parents[at] = (Slot)tail;
  }
}

// The open rows of one segment, which begins at slot `first`, search for a tail in the frontier: one row per lane.
template <class Slot>
__global__ void pull(const i64 *offsets, const Slot *tails, i64 first, i64 halves, u32 *closed, const u64 *front,
                     Slot *parents, u64 *sums) {
  u64 found = 0, checked = 0;
  for (i64 half = signed_thread_number() / 32; half < halves; half += signed_thread_count() / 32) {
    const u32 before = closed[half], open = ~before;
    if (!open) continue;
    const i64 row = half * 32 + lane();
    i64 e = 0, end = 0;
    if (open >> lane() & 1) e = offsets[first + row], end = offsets[first + row + 1];
    bool hit = false;
    Slot parent = 0;
    for (const i64 stop = min(end, e + PATIENCE); e < stop && !hit; e++, checked++) {
      parent = tails[e];
      hit = is_set(front, parent);
    }
    u32 left = __ballot_sync(ALL_LANES, !hit && e < end);
    while (left) {  // long rows: the full warp searches the rest of each
      const int from = __ffs(left) - 1;
      left &= left - 1;
      const i64 last = __shfl_sync(ALL_LANES, end, from);
      for (i64 i = __shfl_sync(ALL_LANES, e, from); i < last; i += 32) {
        const bool mine = i + lane() < last;
        const Slot tail = mine ? tails[i + lane()] : 0;
        checked += mine;
        const u32 hits = __ballot_sync(ALL_LANES, mine && is_set(front, tail));
        if (hits) {
          const Slot got = __shfl_sync(ALL_LANES, tail, __ffs(hits) - 1);
          if (lane() == from) hit = true, parent = got;
          break;
        }
      }
    }
    if (hit) parents[row] = parent;
    const u32 got = __ballot_sync(ALL_LANES, hit);
    if (lane() == 0 && got) closed[half] = before | got;
    found += hit;
  }
  found = warp_sum(found), checked = warp_sum(checked);
  if (lane() == 0 && checked) atomicAdd(sums, found), atomicAdd(sums + 1, checked);
}

// Keeps the unvisited vertices among this rank's vertices that some rank found, with their parents.
template <class Id>
__global__ void claim(const i64 *heads, const Id *ids, i64 count, u64 *visited, Id *parent, i64 *kept, u64 *tail) {
  for (i64 i = signed_thread_number(); i < count; i += signed_thread_count()) {
    const i64 v = heads[i];
    const u64 bit = 1ull << (v & 63);
    if (visited[v >> 6] & bit || atomicOr(visited + (v >> 6), bit) & bit) continue;
    if (parent) parent[v] = ids[i];
    kept[atomicAdd(tail, 1ull)] = v;
  }
}

// Moves every row's heaviest neighbour to the front, where a pull starts. One warp per row.
template <class Slot, class Weight>
__global__ void hubs_first(const i64 *offsets, Slot *neighbours, i64 rows, const Weight *weight) {
  for (i64 row = signed_thread_number() / 32; row < rows; row += signed_thread_count() / 32) {
    const i64 begin = offsets[row], end = offsets[row + 1];
    if (end - begin < 2) continue;
    i64 best = begin;
    Weight most = 0;
    for (i64 e = begin + lane(); e < end; e += 32) {
      const Weight here = weight[neighbours[e]];
      if (here > most) most = here, best = e;
    }
    for (int step = 16; step; step >>= 1) {
      const Weight other = __shfl_xor_sync(ALL_LANES, most, step);
      const i64 place = __shfl_xor_sync(ALL_LANES, best, step);
      if (other > most || (other == most && place < best)) most = other, best = place;
    }
    if (lane() == 0 && best > begin) {
      const Slot swapped = neighbours[begin];
      neighbours[begin] = neighbours[best];
      neighbours[best] = swapped;
    }
  }
}

// `wrong`: (count, row, tail) per rule: arcs that skip a level, missed vertices, tree arcs between wrong levels.
template <class Slot, class Level>
struct Judge {
  const i64 *offsets;
  const Slot *tails;
  i64 first;
  const Level *levels, *tail_levels;
  const i64 *parents;
  u8 *linked;
  u64 *wrong;

  __device__ __forceinline__ void note(int rule, i64 row, i64 tail) const {  // the first case is stored as an example
    if (atomicAdd(wrong + 3 * rule, 1ull) == 0) wrong[3 * rule + 1] = row, wrong[3 * rule + 2] = tail;
  }

  __device__ __forceinline__ void look(i64 row, i64 start, i64 step) const {
    const i64 level = levels[row], parent = parents[row], end = offsets[first + row + 1];
    for (i64 e = offsets[first + row] + start; e < end; e += step) {
      const i64 tail = neighbour(tails, e), above = tail_levels[tail];
      if (above >= 0 && (level < 0 || level > above + 1)) note(level < 0 ? 1 : 0, row, tail);
      if (tail == parent) {
        linked[row] = 1;
        if (level >= 0 && above + 1 != level) note(2, row, tail);
      }
    }
  }
};

// One warp per row; check_long processes rows of more than `longest` arcs.
template <class Slot, class Level>
__global__ void check(const i64 *offsets, const Slot *tails, i64 first, i64 rows, i64 longest, const Level *levels,
                      const Level *tail_levels, const i64 *parents, u8 *linked, u64 *wrong) {
  const Judge<Slot, Level> judge{offsets, tails, first, levels, tail_levels, parents, linked, wrong};
  for (i64 row = signed_thread_number() / 32; row < rows; row += signed_thread_count() / 32)
    if (offsets[first + row + 1] - offsets[first + row] <= longest) judge.look(row, lane(), 32);
}

// One block per row: the largest hubs have millions of arcs, on which one warp would work long after all others finish.
template <class Slot, class Level>
__global__ void check_long(const i64 *offsets, const Slot *tails, i64 first, const i64 *rows, i64 count,
                           const Level *levels, const Level *tail_levels, const i64 *parents, u8 *linked, u64 *wrong) {
  const Judge<Slot, Level> judge{offsets, tails, first, levels, tail_levels, parents, linked, wrong};
  for (i64 i = blockIdx.x; i < count; i += gridDim.x) judge.look(rows[i], threadIdx.x, blockDim.x);
}

// ---- Shortest paths (distributed/delta_stepping.py). Distances are integers: atomicMin selects the shorter path.

constexpr i64 NEVER = 1ll << 62;  // distance of an unreached vertex

// A group of ranks names its vertices by slots, in ranges: range i starts at slot starts[i]; id = slot + shifts[i].
struct Names {
  const i64 *starts, *shifts;
  i64 count;

  __device__ __forceinline__ u64 id(i64 slot) const {
    i64 low = 0, high = count - 1;
    while (low < high) {
      const i64 middle = (low + high + 1) / 2;
      if (starts[middle] <= slot) low = middle;
      else high = middle - 1;
    }
    return (u64)(slot + shifts[low]);
  }
};

// graph500.shortest.lengths of every arc: a hash of its two endpoints, equal in both directions.
template <class Slot>
__global__ void draw_lengths(const i64 *offsets, const Slot *neighbours, i64 rows,
                             const __grid_constant__ Names row_names, const __grid_constant__ Names names, u64 n,
                             u64 start, u32 *lengths) {
  for (i64 row = signed_thread_number() / 32; row < rows; row += signed_thread_count() / 32) {
    const u64 u = row_names.id(row);
    const i64 end = offsets[row + 1];
    for (i64 e = offsets[row] + lane(); e < end; e += 32) {
      const u64 v = names.id((i64)neighbours[e]);
      lengths[e] = (u32)(splitmix((min(u, v) * n + max(u, v)) * WEYL + start + WEYL) >> 40) + 1;
    }
  }
}

// One thread per arc. Writes each head with a shorter path to `found` once.
template <class Slot>
__global__ void relax(const i64 *offsets, const Slot *heads, const u32 *lengths, const i64 *rows, const i64 *distances,
                      const i64 *ends, i64 count, i64 arcs, u64 *best, u64 *touched, i64 *found, u64 *tail) {
  for (i64 e = signed_thread_number(); e < arcs; e += signed_thread_count()) {
    const i64 i = (i64)steps::first_above(ends, 0, count, e), at = offsets[rows[i]] + e - (i ? ends[i - 1] : 0);
    const Slot head = heads[at];
    const u64 offer = (u64)(distances[i] + lengths[at]);
    if (offer >= best[head] || offer >= atomicMin(best + head, offer)) continue;
    const u64 bit = 1ull << (head & 63);
    if (!(atomicOr(touched + (head >> 6), bit) & bit)) found[atomicAdd(tail, 1ull)] = (i64)head;
  }
}

// Runs when all distances are final. Writes one parent row of each touched head; any row on a shortest path is correct.
template <class Slot>
__global__ void name_parents(const i64 *offsets, const Slot *heads, const u32 *lengths, const i64 *rows,
                             const i64 *distances, const i64 *ends, i64 count, i64 arcs, const u64 *best,
                             const u64 *touched, i64 *who) {
  for (i64 e = signed_thread_number(); e < arcs; e += signed_thread_count()) {
    const i64 i = (i64)steps::first_above(ends, 0, count, e), at = offsets[rows[i]] + e - (i ? ends[i - 1] : 0);
    const Slot head = heads[at];
    if ((u64)(distances[i] + lengths[at]) == best[head] && is_set(touched, head)) who[head] = rows[i];
  }
}

// Rules: no arc yields a shorter path; its head was reached; a tree arc has the right length. One warp per row.
template <class Slot>
__global__ void check_lengths(const i64 *offsets, const Slot *tails, const u32 *lengths, i64 rows, const i64 *distances,
                              const i64 *tail_distances, const i64 *parents, u8 *linked, u64 *wrong) {
  for (i64 row = signed_thread_number() / 32; row < rows; row += signed_thread_count() / 32) {
    const i64 here = distances[row], parent = parents[row], end = offsets[row + 1];
    for (i64 e = offsets[row] + lane(); e < end; e += 32) {
      const i64 tail = (i64)tails[e], above = tail_distances[tail], by = above + lengths[e];
      if (above != NEVER && here > by) atomicAdd(wrong + (here == NEVER), 1ull);
      if (tail == parent) {
        linked[row] = 1;
        if (here != NEVER && (above == NEVER || by != here)) atomicAdd(wrong + 2, 1ull);
      }
    }
  }
}

}  // namespace hopwave::rank
