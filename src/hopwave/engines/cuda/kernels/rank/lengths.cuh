// Arcs with lengths in a rank's part of a graph, on its GPU: the kernels of shortest paths (distributed/delta_stepping.py).
//
// Lengths and distances are whole numbers, so that sums are exact and the shorter of two ways is atomicMin's. A group of
// ranks names its vertices by slots; `starts` are the slots where its ranges begin, `shifts` what makes an id of a slot.
#pragma once
#include "rank/part.cuh"

namespace hopwave_part {

constexpr i64 NEVER = 1ll << 62;  // the distance of what was not reached
constexpr u64 WEYL = 0x9E3779B97F4A7C15ull;

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

// graph500.shortest.lengths of every arc: a hash of its ends (SplitMix64), the same both ways. A warp a row.
template <class Slot>
__global__ void draw_lengths(const i64 *offsets, const Slot *neighbours, i64 rows, const __grid_constant__ Names row_names,
                             const __grid_constant__ Names names, u64 n, u64 start, u32 *lengths) {
  for (i64 row = thread() / 32; row < rows; row += threads() / 32) {
    const u64 u = row_names.id(row);
    const i64 end = offsets[row + 1];
    for (i64 e = offsets[row] + lane(); e < end; e += 32) {
      const u64 v = names.id((i64)neighbours[e]);
      u64 z = (min(u, v) * n + max(u, v)) * WEYL + start + WEYL;
      z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
      z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
      lengths[e] = (u32)((z ^ (z >> 31)) >> 40) + 1;
    }
  }
}

// The row among those whose lengths have these running sums that the e-th of their arcs is in.
__device__ __forceinline__ i64 row_of(i64 e, const i64 *ends, i64 rows) {
  i64 low = 0, high = rows - 1;
  while (low < high) {
    const i64 middle = (low + high) / 2;
    if (ends[middle] > e) high = middle;
    else low = middle + 1;
  }
  return low;
}

// Offer every head of these rows the way by its row. A thread an arc; heads that got a shorter way are written down once.
template <class Slot>
__global__ void relax(const i64 *offsets, const Slot *heads, const u32 *lengths, const i64 *rows, const i64 *distances,
                      const i64 *ends, i64 count, i64 arcs, u64 *best, u64 *touched, i64 *found, u64 *tail) {
  for (i64 e = thread(); e < arcs; e += threads()) {
    const i64 i = row_of(e, ends, count), at = offsets[rows[i]] + e - (i ? ends[i - 1] : 0);
    const Slot head = heads[at];
    const u64 offer = (u64)(distances[i] + lengths[at]);
    if (offer >= best[head] || offer >= atomicMin(best + head, offer)) continue;
    const u64 bit = 1ull << (head & 63);
    if (!(atomicOr(touched + (head >> 6), bit) & bit)) found[atomicAdd(tail, 1ull)] = (i64)head;
  }
}

// Once every head has its best way: by whom. Of several rows with ways of one length any will do.
template <class Slot>
__global__ void name_parents(const i64 *offsets, const Slot *heads, const u32 *lengths, const i64 *rows,
                             const i64 *distances, const i64 *ends, i64 count, i64 arcs, const u64 *best,
                             const u64 *touched, i64 *who) {
  for (i64 e = thread(); e < arcs; e += threads()) {
    const i64 i = row_of(e, ends, count), at = offsets[rows[i]] + e - (i ? ends[i - 1] : 0);
    const Slot head = heads[at];
    if ((u64)(distances[i] + lengths[at]) == best[head] && is_set(touched, head)) who[head] = rows[i];
  }
}

// How many arcs break a rule: a way that would be shorter, a head left out, a link that is longer or shorter. A warp a row.
template <class Slot>
__global__ void check_lengths(const i64 *offsets, const Slot *tails, const u32 *lengths, i64 rows, const i64 *distances,
                              const i64 *tail_distances, const i64 *parents, unsigned char *linked, u64 *wrong) {
  for (i64 row = thread() / 32; row < rows; row += threads() / 32) {
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

}  // namespace hopwave_part
