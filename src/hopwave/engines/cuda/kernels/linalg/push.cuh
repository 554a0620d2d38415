// Products by columns: the columns where x has a value are scattered (push-pull, section 6.2, with claims instead of
// its sort). Also writes the terms of a product of matrices, to be sorted.
#pragma once
#include "linalg/combine.cuh"
#include "linalg/pull.cuh"

namespace hopwave::linalg {

// The first term of a row claims the row with this launch's stamp and puts it on the list; further terms are added to
// it. So nothing has to be cleared beforehand, and ⊕ needs no identity.
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
  u32 stamp;  // a row's mark: stamp (even) while its first term is being written, stamp + 1 when it is written
  typename Ring::Sum *totals;
  int *list;
  typename Ring::Sum *values;
  Progress *progress;

  struct Row {
    int place = 0, u = 0;
    __device__ Row from(int source) const {
      Row other;
      other.place = from_lane(place, source), other.u = from_lane(u, source);
      return other;
    }
  };

  __device__ void open(int place, Row &row, Offset &begin, Offset &end) const {
    row.place = place, row.u = places[place], begin = indptr[row.u], end = indptr[row.u + 1];
  }

  __device__ void visit(const Row &row, Offset entry) const {
    const int v = indices[entry];
    const u32 ready = stamp + 1;
    volatile u32 *mark = marks + v;
    u32 seen = *mark;
    if (Ring::any && seen == ready) return;  // before the mask is read: most entries of a large frontier end here
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
  visit_all<Offset, pieces>(source, count, group, Ledger(ledger, cut_rows, cut_pieces), progress, host);
}

// All terms of A · B: entry (i, k) of A times every entry (k, j) of B. Each term gets its own place, and the number of
// (i, j) as its key.
template <class Ring, class Offset>
struct ExpandSource {
  const int *left_rows, *left_indices;
  const typename Ring::A *a;
  const Offset *right_indptr;
  const int *right_indices;
  const typename Ring::X *x;
  const i64 *starts;  // where the terms of each entry begin
  i64 columns;
  i64 *keys;
  typename Ring::Sum *terms;

  struct Row {
    int entry = 0, k = 0;
    Offset begin = 0;
    __device__ Row from(int source) const {
      Row other;
      other.entry = from_lane(entry, source), other.k = from_lane(k, source);
      other.begin = from_lane(begin, source);
      return other;
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
  visit_all<Offset, pieces>(source, count, group, Ledger(ledger, cut_rows, cut_pieces), progress, host);
}

}  // namespace hopwave::linalg
