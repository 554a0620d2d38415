// A rank's part of a graph with lengths, on its GPU: the kernels of shortest paths (distributed/delta_stepping.py).
//
// Lengths and distances are whole numbers, so that sums are exact and atomicMin finds the shorter of two paths.
#pragma once
#include "common/hash.cuh"
#include "rank/part.cuh"

namespace hopwave::rank {

constexpr i64 NEVER = 1ll << 62;  // the distance of a vertex that was not reached

// A group of ranks names its vertices by slots, in ranges: from slot starts[i] on, id = slot + shifts[i].
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

// Computes graph500.shortest.lengths for every arc: a hash of its two ends, the same in both directions. One warp per
// row.
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

// For every arc of these rows, takes the path through its row if it is shorter; one thread per arc. Writes each head
// that got a shorter path to `found` once.
template <class Slot>
__global__ void relax(const i64 *offsets, const Slot *heads, const u32 *lengths, const i64 *rows, const i64 *distances,
                      const i64 *ends, i64 count, i64 arcs, u64 *best, u64 *touched, i64 *found, u64 *tail) {
  for (i64 e = signed_thread_number(); e < arcs; e += signed_thread_count()) {
    const i64 i = row_of(e, ends, count), at = offsets[rows[i]] + e - (i ? ends[i - 1] : 0);
    const Slot head = heads[at];
    const u64 offer = (u64)(distances[i] + lengths[at]);
    if (offer >= best[head] || offer >= atomicMin(best + head, offer)) continue;
    const u64 bit = 1ull << (head & 63);
    if (!(atomicOr(touched + (head >> 6), bit) & bit)) found[atomicAdd(tail, 1ull)] = (i64)head;
  }
}

// Once every head has its shortest distance: writes a row that its path comes through; any is right.
template <class Slot>
__global__ void name_parents(const i64 *offsets, const Slot *heads, const u32 *lengths, const i64 *rows,
                             const i64 *distances, const i64 *ends, i64 count, i64 arcs, const u64 *best,
                             const u64 *touched, i64 *who) {
  for (i64 e = signed_thread_number(); e < arcs; e += signed_thread_count()) {
    const i64 i = row_of(e, ends, count), at = offsets[rows[i]] + e - (i ? ends[i - 1] : 0);
    const Slot head = heads[at];
    if ((u64)(distances[i] + lengths[at]) == best[head] && is_set(touched, head)) who[head] = rows[i];
  }
}

// Counts the arcs that break each of three rules: no arc gives a shorter path; its head was reached; a tree arc has the
// right length. One warp per row.
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
