// Products by rows: y(i) = ⊕ₖ A(i,k) ⊗ x(k) (push-pull, Algorithm 2), and C(i,j) = ⊕ₖ A(i,k) ⊗ B(k,j) at the positions
// of a mask. Rows that the mask excludes are skipped.
#pragma once
#include "linalg/products.cuh"

namespace hopwave::linalg {

// Returns a value if the arithmetic reads it, otherwise 1. Without structure-only (`weighs`), unused values are loaded.
template <bool reads, bool weighs, class T>
__device__ inline T value_at(const T *values, u64 place) {
  if (weighs) (void)*(const volatile T *)(values + place);
  return reads ? values[place] : (T)1;
}

template <class Ring, class Offset>
struct RowSource {
  const Offset *indptr;
  const int *indices;
  const typename Ring::A *a;
  const typename Ring::X *x;
  const bool *present;  // null: x has a value everywhere

  struct Row {
    int i = 0;
    __device__ Row from(int source) const { return {from_lane(i, source)}; }
  };

  __device__ void open(int i, Row &row, Offset &begin, Offset &end) const {
    row.i = i, begin = indptr[i], end = indptr[i + 1];
  }
  __device__ bool term(const Row &row, Offset entry, typename Ring::Sum &t) const {
    const int k = indices[entry];
    if (present && !present[k]) return false;
    const auto left = value_at<Ring::reads_a, Ring::weighs_a>(a, entry);
    t = Ring::term(left, value_at<Ring::reads_x, Ring::weighs_x>(x, k), row.i, k, 0);
    return true;
  }
};

// pieces: whether this is the second launch, which computes the pieces of cut rows; the same in all kernels below.
template <class Ring, class Offset, bool pieces, bool listed>
__global__ void __launch_bounds__(BLOCK)
    pull(const Offset *indptr, const int *indices, const typename Ring::A *a, const typename Ring::X *x,
         const bool *present, const int *rows, const bool *bits, bool complement, u64 count, int group,
         typename Ring::Sum *values, bool *found, int *list, int *ledger, int cut_rows, int cut_pieces,
         typename Ring::Sum *partial, Progress *progress, u64 *host) {
  sums_of<Ring, Offset, pieces, listed>(
      RowSource<Ring, Offset>{indptr, indices, a, x, present}, Wanted{rows, bits, complement, count, group},
      Sums<Ring, listed>{values, found, list}, Ledger{ledger, cut_rows, cut_pieces}, partial, progress, host);
}

// Row i of A times column j of B. Each entry of the shorter list is looked up in the longer list.
template <class Ring, class Offset>
struct DotSource {
  const int *mask_rows, *mask_columns;
  const Offset *left_indptr;
  const int *left_indices;
  const typename Ring::A *a;
  const Offset *right_indptr;
  const int *right_indices;
  const typename Ring::X *x;

  struct Row {
    int i = 0, j = 0, swapped = 0;  // swapped: the column is the shorter one
    Offset begin = 0, end = 0;      // the longer list
    __device__ Row from(int source) const {
      return {from_lane(i, source), from_lane(j, source), from_lane(swapped, source), from_lane(begin, source),
              from_lane(end, source)};
    }
  };

  __device__ void open(int entry, Row &row, Offset &begin, Offset &end) const {
    row.i = mask_rows[entry], row.j = mask_columns[entry];
    begin = left_indptr[row.i], end = left_indptr[row.i + 1];
    row.begin = right_indptr[row.j], row.end = right_indptr[row.j + 1];
    row.swapped = row.end - row.begin < end - begin;
    if (!row.swapped) return;
    const Offset left_begin = begin, left_end = end;
    begin = row.begin, end = row.end, row.begin = left_begin, row.end = left_end;
  }
  __device__ bool term(const Row &row, Offset entry, typename Ring::Sum &t) const {
    const int *longer = row.swapped ? left_indices : right_indices;
    const int k = (row.swapped ? right_indices : left_indices)[entry];
    Offset low = row.begin, high = row.end;
    while (low < high) {
      const Offset middle = low + (high - low) / 2;
      if (longer[middle] < k) low = middle + 1;
      else high = middle;
    }
    if (low == row.end || longer[low] != k) return false;
    const auto left = value_at<Ring::reads_a, Ring::weighs_a>(a, row.swapped ? low : entry);
    t = Ring::term(left, value_at<Ring::reads_x, Ring::weighs_x>(x, row.swapped ? entry : low), row.i, k, row.j);
    return true;
  }
};

template <class Ring, class Offset, bool pieces>
__global__ void __launch_bounds__(BLOCK)
    dots(const int *mask_rows, const int *mask_columns, u64 count, int group, const Offset *left_indptr,
         const int *left_indices, const typename Ring::A *a, const Offset *right_indptr, const int *right_indices,
         const typename Ring::X *x, typename Ring::Sum *values, bool *found, int *ledger, int cut_rows, int cut_pieces,
         typename Ring::Sum *partial, Progress *progress, u64 *host) {
  sums_of<Ring, Offset, pieces, false>(
      DotSource<Ring, Offset>{mask_rows, mask_columns, left_indptr, left_indices, a, right_indptr, right_indices, x},
      Wanted{nullptr, nullptr, false, count, group}, Sums<Ring, false>{values, found, nullptr},
      Ledger{ledger, cut_rows, cut_pieces}, partial, progress, host);
}

// Adds up terms that a sort has made adjacent, one segment per sum (push-pull, section 6.2).
template <class Ring>
struct SegmentSource {
  const i64 *starts, *order;
  const typename Ring::Sum *terms;

  struct Row {
    __device__ Row from(int) const { return Row(); }
  };

  __device__ void open(int segment, Row &, i64 &begin, i64 &end) const {
    begin = starts[segment], end = starts[segment + 1];
  }
  __device__ bool term(const Row &, i64 entry, typename Ring::Sum &t) const {
    t = terms[order[entry]];
    return true;
  }
};

template <class Ring>
__global__ void __launch_bounds__(BLOCK)
    segments(const i64 *starts, const i64 *order, const typename Ring::Sum *terms, u64 count, int group,
             typename Ring::Sum *values, bool *found, Progress *progress, u64 *host) {
  sum_rows<Ring, i64, false>(SegmentSource<Ring>{starts, order, terms}, Wanted{nullptr, nullptr, false, count, group},
                             Sums<Ring, false>{values, found, nullptr}, Ledger{nullptr, 0, 0}, progress, host);
}

// ---- Products by columns: scattered if x has a value (push-pull, section 6.2, with claims, not a sort).

// A row's first term claims the row with this launch's stamp; no array is cleared, and ⊕ needs no identity.
template <class Ring, class Offset>
struct ColumnSource {
  const Offset *indptr;
  const int *indices;
  const typename Ring::A *a;
  const int *places;
  const typename Ring::X *x;
  const bool *bits;
  bool complement;
  u32 *marks;
  u32 stamp;  // a row's mark: stamp (even) while its first term is being written, stamp + 1 afterwards
  typename Ring::Sum *totals;
  int *list;
  typename Ring::Sum *values;
  Progress *progress;

  struct Row {
    int place = 0, u = 0;
    __device__ Row from(int source) const { return {from_lane(place, source), from_lane(u, source)}; }
  };

  __device__ void open(int place, Row &row, Offset &begin, Offset &end) const {
    row.place = place, row.u = places[place], begin = indptr[row.u], end = indptr[row.u + 1];
  }

  __device__ void visit(const Row &row, Offset entry) const {
    const int v = indices[entry];
    const u32 ready = stamp + 1;
    volatile u32 *mark = marks + v;
    u32 seen = *mark;
    if (Ring::any && seen == ready) return;  // before the mask is read: most entries of a large frontier return here
    if (bits && bits[v] == complement) return;
    const auto left = value_at<Ring::reads_a, Ring::weighs_a>(a, entry);
    const auto right = value_at<Ring::reads_x, Ring::weighs_x>(x, row.place);
    const typename Ring::Sum t = Ring::term(left, right, v, row.u, 0);
    if (Ring::any) {
      if (atomicExch(marks + v, ready) == ready) return;
      const u64 slot = enqueue_at(&progress->found);
      list[slot] = v;
      if (Ring::carries) values[slot] = t;
      return;
    }
    if (seen != ready) {
      seen = atomicMax(marks + v, stamp);
      if (seen < stamp) {
        *(volatile typename Ring::Sum *)(totals + v) = t;
        __threadfence();
        atomicExch(marks + v, ready);
        list[enqueue_at(&progress->found)] = v;
        return;
      }
      while (*mark != ready) __nanosleep(32);
      __threadfence();
    }
    combine<Ring>(totals + v, t);
  }
};

template <class Ring, class Offset, bool pieces>
__global__ void __launch_bounds__(BLOCK)
    push(const Offset *indptr, const int *indices, const typename Ring::A *a, const int *places,
         const typename Ring::X *x, const bool *bits, bool complement, u32 *marks, u32 stamp,
         typename Ring::Sum *totals, int *list, typename Ring::Sum *values, u64 count, int group, int *ledger,
         int cut_rows, int cut_pieces, Progress *progress, u64 *host) {
  const ColumnSource<Ring, Offset> source{indptr, indices, a,      places, x,      bits,    complement,
                                          marks,  stamp,   totals, list,   values, progress};
  visit_all<Offset, pieces>(source, count, group, Ledger{ledger, cut_rows, cut_pieces}, progress, host);
}

// All terms of A · B: entry (i, k) of A times every entry (k, j) of B, each keyed by the number of (i, j).
template <class Ring, class Offset>
struct ExpandSource {
  const int *left_rows, *left_indices;
  const typename Ring::A *a;
  const Offset *right_indptr;
  const int *right_indices;
  const typename Ring::X *x;
  const i64 *starts;  // start of the terms of each entry
  i64 columns;
  i64 *keys;
  typename Ring::Sum *terms;

  struct Row {
    int entry = 0, k = 0;
    Offset begin = 0;
    __device__ Row from(int source) const {
      return {from_lane(entry, source), from_lane(k, source), from_lane(begin, source)};
    }
  };

  __device__ void open(int entry, Row &row, Offset &begin, Offset &end) const {
    row.entry = entry, row.k = left_indices[entry];
    row.begin = begin = right_indptr[row.k], end = right_indptr[row.k + 1];
  }
  __device__ void visit(const Row &row, Offset entry) const {
    const i64 slot = starts[row.entry] + (i64)(entry - row.begin);
    const int i = left_rows[row.entry], j = right_indices[entry];
    const auto left = value_at<Ring::reads_a, Ring::weighs_a>(a, row.entry);
    keys[slot] = i * columns + j;
    terms[slot] = Ring::term(left, value_at<Ring::reads_x, Ring::weighs_x>(x, entry), i, row.k, j);
  }
};

template <class Ring, class Offset, bool pieces>
__global__ void __launch_bounds__(BLOCK)
    expand(const int *left_rows, const int *left_indices, const typename Ring::A *a, const Offset *right_indptr,
           const int *right_indices, const typename Ring::X *x, const i64 *starts, i64 columns, i64 *keys,
           typename Ring::Sum *terms, u64 count, int group, int *ledger, int cut_rows, int cut_pieces,
           Progress *progress, u64 *host) {
  const ExpandSource<Ring, Offset> source{left_rows, left_indices, a,       right_indptr, right_indices,
                                          x,         starts,       columns, keys,         terms};
  visit_all<Offset, pieces>(source, count, group, Ledger{ledger, cut_rows, cut_pieces}, progress, host);
}

}  // namespace hopwave::linalg
