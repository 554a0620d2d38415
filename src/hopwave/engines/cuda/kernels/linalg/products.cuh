// Shared by products over any semiring. A warp processes a few rows at a time; a long row is cut into pieces, which a
// second launch computes, one warp per piece. A row's terms are added in an order that depends only on its length.
//
//   Ring    the arithmetic, written by hopwave/engines/cuda/linalg/semiring_source.py: types Sum, A, X (of sums, the
//           matrix's values and the vector's), term, plus, stops, and which values must be read
//   Source  open(i, row, begin, end) finds the entries of row i, term(row, entry, t) computes one term
#pragma once
#include "common/threads.cuh"

namespace hopwave::linalg {

// ---- Adds a term to a sum that other threads also add to, for any ⊕; float sums depend on the order.

template <class To, class From>
__device__ inline To same_bits(From from) {
  To to = 0;
  memcpy(&to, &from, sizeof(To) < sizeof(From) ? sizeof(To) : sizeof(From));
  return to;
}

// Compare-and-swap on the word that contains the target, repeated until no other thread interferes.
template <class Ring, class Word, class Sum>
__device__ inline void exchange(Word *word, int shift, Sum t) {
  const Word mask = (sizeof(Sum) < sizeof(Word) ? ((Word)1 << 8 * sizeof(Sum) % (8 * sizeof(Word))) - 1 : ~(Word)0)
                    << shift;
  Word old = *(volatile Word *)word;
  while (true) {
    const Sum before = same_bits<Sum>((Word)((old & mask) >> shift));
    const Word next = (old & ~mask) | (same_bits<Word>((Sum)Ring::plus(before, t)) << shift);
    if (next == old) return;
    const Word seen = atomicCAS(word, old, next);
    if (seen == old) return;
    old = seen;
  }
}

template <class T>
__device__ inline void add_to(T *target, T t) {
  atomicAdd(target, t);
}
__device__ inline void add_to(i64 *target, i64 t) { atomicAdd((u64 *)target, (u64)t); }

template <class Ring, class Sum>
__device__ inline void combine(Sum *target, Sum t) {
  if constexpr (Ring::adds && sizeof(Sum) >= 4) {  // the GPU has no atomic addition of bytes
    add_to(target, t);
  } else if constexpr (sizeof(Sum) == 8) {
    exchange<Ring>((u64 *)target, 0, t);
  } else if constexpr (sizeof(Sum) == 4) {
    exchange<Ring>((u32 *)target, 0, t);
  } else {
    const u64 address = (u64)target;
    exchange<Ring>((u32 *)(address & ~3ull), 8 * (int)(address & 3), t);
  }
}

constexpr int PIECE = 512;  // maximum entries of a piece; longer rows are cut
constexpr int SHORT = 64;   // rows shorter than this are packed into a warp; each longer row uses the full warp
constexpr int LOOK = 8;     // entries that each lane tries first if an early exit is possible

// Counts of a product; zero between launches. `cut`: rows in the upper 32 bits, pieces in the lower 32.
struct Progress {
  u64 found, touched, cut, done;
};

// The cut rows, and their pieces, which are numbered consecutively.
//   of each cut row   place: its number; first: its first piece; arrived: finished pieces; stopped: by an early exit
//   of each piece     owner: its cut row; filled: whether its sum exists
struct Ledger {
  int *place;
  int rows, pieces;  // capacity; 0 if no row is long enough to be cut
  int *first = place + rows, *arrived = first + rows, *stopped = arrived + rows;
  int *owner = stopped + rows, *filled = owner + pieces;

  __device__ void cut(Progress *progress, int i, u64 length) const {
    const u32 pieces = (u32)((length + PIECE - 1) / PIECE);
    const u64 before = atomicAdd(&progress->cut, (1ull << 32) + pieces);
    const int row = (int)(before >> 32), begin = (int)(u32)before;
    place[row] = i, first[row] = begin, arrived[row] = 0, stopped[row] = 0;
    for (u32 piece = 0; piece < pieces; ++piece) owner[begin + piece] = row;
  }
};

template <class T>
__device__ inline T from_lane(T value, int source) {
  return (T)__shfl_sync(ALL_LANES, value, source);
}

template <class Ring>
struct Total {
  typename Ring::Sum sum;
  bool here = false;

  __device__ void add(typename Ring::Sum t) {
    sum = here ? Ring::plus(sum, t) : t;
    here = true;
  }
  __device__ void add(const Total &other) {
    if (other.here) add(other.sum);
  }
  __device__ Total from(int source) const { return {from_lane(sum, source), (bool)from_lane((int)here, source)}; }
  __device__ bool stops() const { return here && Ring::stops(sum); }

  __device__ void over_warp() {
    for (int step = WARP / 2; step; step /= 2) {
      const Total other = from((lane() + step) % WARP);
      if (lane() < step) add(other);
    }
    *this = from(0);
  }
};

// The entries of 32 rows, one row per lane, concatenated; each step assigns 32 of them to the lanes. The full warp
// calls each(owner, entry, valid, base, before, through):
//   owner, entry      the lane whose row contains the entry, and the entry; valid: whether this lane has one
//   base              number of entries before this step
//   before, through   number of entries in the rows before this lane's row; and up to and including it
template <class Offset, class Each>
__device__ inline void packed(Offset begin, Offset end, Each each) {
  const u32 length = (u32)(end - begin);
  const u32 through = inclusive_scan(length);
  const u32 before = through - length, total = from_lane(through, WARP - 1);
  for (u32 base = 0; base < total; base += WARP) {
    const u32 e = base + lane();
    int owner = 0;  // number of rows that end at or before e
    for (int step = WARP / 2; step; step /= 2)
      if (from_lane(through, owner + step - 1) <= e) owner += step;
    const Offset first = from_lane(begin, owner);
    each(owner, first + (Offset)(e - from_lane(before, owner)), e < total, base, before, through);
  }
}

// The last block reports the grid's counts and clears them. If rows were cut, the launch for the pieces does.
//   host   [0] sums found, [1] entries touched, [2] pieces still to compute
__device__ inline void finish(u64 found, u64 touched, Progress *progress, u64 *host, bool pieces_are_done = false) {
  __shared__ u64 sums[2][BLOCK / WARP];
  found = warp_sum(found), touched = warp_sum(touched);
  if (lane() == 0) sums[0][block_warp()] = found, sums[1][block_warp()] = touched;
  __syncthreads();
  if (threadIdx.x) return;
  for (int warp = 1; warp < BLOCK / WARP; ++warp) found += sums[0][warp], touched += sums[1][warp];
  if (found) atomicAdd(&progress->found, found);
  if (touched) atomicAdd(&progress->touched, touched);
  __threadfence();
  if (atomicAdd(&progress->done, 1ull) != gridDim.x - 1) return;
  progress->done = 0;
  const u64 pieces = pieces_are_done ? 0 : (u32) * (volatile u64 *)&progress->cut;
  host[2] = pieces;
  if (pieces) return;
  host[0] = atomicExch(&progress->found, 0ull);
  host[1] = atomicExch(&progress->touched, 0ull);
  progress->cut = 0;
}

// The wanted rows: listed rows (rows), rows whose bit differs from `complement` (bits), or all `count`.
struct Wanted {
  const int *rows;
  const bool *bits;
  bool complement;
  u64 count;
  int group;  // rows that a warp processes at a time

  __device__ int row(u64 base) const {
    const u64 place = base + lane();
    if (lane() >= group || place >= count) return -1;
    return rows ? rows[place] : (int)place;
  }
  __device__ bool allows(int i) const { return i >= 0 && (!bits || bits[i] != complement); }
};

template <class Ring, bool listed>
struct Sums {
  typename Ring::Sum *values;
  bool *found;
  int *list;

  // The full warp calls this function; i < 0 in lanes without a row. Returns 1 if `finish` must count the sum.
  __device__ u64 put(int i, const Total<Ring> &total, Progress *progress) const {
    const bool here = i >= 0 && total.here;
    if (listed) {
      const u32 all = __ballot_sync(ALL_LANES, here);
      if (!all) return 0;
      u64 first = 0;
      if (lane() == 0) first = atomicAdd(&progress->found, (u64)__popc(all));
      first = from_lane(first, 0) + __popc(all & lanes_below());
      if (here) list[first] = i;
      if (here && Ring::carries) values[first] = total.sum;
      return 0;
    }
    if (i >= 0) found[i] = here;
    if (here && Ring::carries) values[i] = total.sum;
    return here;
  }
};

template <class Ring, class Offset, class Source>
__device__ inline Total<Ring> sum_by_warp(const Source &source, const typename Source::Row &row, Offset begin,
                                          Offset end, u64 &touched) {
  Total<Ring> total;
  if (Ring::exits) {
    for (Offset first = begin; first < end; first += WARP) {
      const Offset entry = first + lane();
      typename Ring::Sum t;
      if (entry < end && source.term(row, entry, t)) total.add(t);
      touched += entry < end;
      if (__any_sync(ALL_LANES, total.stops())) break;
    }
  } else {
#pragma unroll 4
    for (Offset entry = begin + lane(); entry < end; entry += WARP) {
      typename Ring::Sum t;
      if (source.term(row, entry, t)) total.add(t);
      touched += 1;
    }
  }
  total.over_warp();
  return total;
}

template <class Ring, class Offset, bool listed, class Source>
__device__ inline void sum_rows(const Source &source, const Wanted &wanted, const Sums<Ring, listed> &sums,
                                const Ledger &ledger, Progress *progress, u64 *host) {
  u64 found = 0, touched = 0;
  const u64 warps = thread_count() / WARP * wanted.group;
  for (u64 base = thread_number() / WARP * wanted.group; base < wanted.count; base += warps) {
    int i = wanted.row(base);
    const bool allowed = wanted.allows(i);
    Total<Ring> total;
    typename Source::Row row;
    Offset begin = 0, end = 0;
    if (__any_sync(ALL_LANES, allowed)) {
      if (allowed) source.open(i, row, begin, end);
      bool cut = ledger.rows && end - begin > PIECE;
      Offset done = begin;  // the entries before this one are in the sum
      if (Ring::exits) {
        for (; done < end && done - begin < LOOK && !total.stops(); ++done) {
          typename Ring::Sum t;
          if (source.term(row, done, t)) total.add(t);
          touched += 1;
        }
        if (total.stops()) done = end, cut = false;
      } else {
        const bool by_lane = end - begin < SHORT;
        packed(begin, by_lane ? end : begin,
               [&](int owner, Offset entry, bool valid, u32 step_base, u32 before, u32 through) {
                 Total<Ring> part;
                 const typename Source::Row its = row.from(owner);
                 typename Ring::Sum t;
                 if (valid && source.term(its, entry, t)) part.add(t);
                 touched += valid;
                 for (int step = 1; step < WARP; step *= 2) {  // a scan over the lanes of each row
                   const int from = max((int)lane() - step, 0);
                   Total<Ring> other = part.from(from);
                   const int its_owner = from_lane(owner, from);
                   if (lane() >= step && its_owner == owner && other.here) other.add(part), part = other;
                 }
                 const bool mine = through > before && before < step_base + WARP && through > step_base;
                 const Total<Ring> stretch = part.from(mine ? min(through - step_base, (u32)WARP) - 1 : 0);
                 if (mine) total.add(stretch);
               });
        if (by_lane) done = end;
      }
      // The remaining entries. With early exit, the first piece of a long row is tried before the row is cut.
      u32 waiting = __ballot_sync(ALL_LANES, done < end && (Ring::exits || !cut));
      for (; waiting; waiting &= waiting - 1) {
        const int leader = __ffs(waiting) - 1;
        const Offset first = from_lane(done, leader), its_end = from_lane(end, leader);
        const Total<Ring> part = sum_by_warp<Ring>(
            source, row.from(leader), first, ledger.rows ? min(its_end, first + (Offset)PIECE) : its_end, touched);
        if (lane() != leader) continue;
        total.add(part);
        if (total.stops()) cut = false;
      }
      if (cut) {  // its pieces start again at its first entry
        ledger.cut(progress, i, (u64)(end - begin));
        i = -1;
      }
    }
    found += sums.put(i, total, progress);
  }
  finish(found, touched, progress, host);
}

// The pieces of cut rows, one warp each; the warp that finishes a row's last piece adds up the pieces, in order.
template <class Ring, class Offset, bool listed, class Source>
__device__ inline void sum_pieces(const Source &source, const Sums<Ring, listed> &sums, const Ledger &ledger,
                                  typename Ring::Sum *partial, Progress *progress, u64 *host) {
  u64 found = 0, touched = 0;
  const u64 pieces = (u32)progress->cut, warps = thread_count() / WARP;
  if (!pieces) return;  // the first launch has reported all counts to the host
  for (u64 piece = thread_number() / WARP; piece < pieces; piece += warps) {
    const int cut_row = ledger.owner[piece], i = ledger.place[cut_row], first = ledger.first[cut_row];
    typename Source::Row row;
    Offset begin, end;
    source.open(i, row, begin, end);
    const int count = (int)((end - begin + PIECE - 1) / PIECE);
    const Offset from = begin + (Offset)(piece - first) * PIECE;
    Total<Ring> total;
    const bool stopped = Ring::exits && from_lane(*(volatile int *)&ledger.stopped[cut_row], 0);
    if (!stopped) total = sum_by_warp<Ring>(source, row, from, min(end, from + (Offset)PIECE), touched);
    int arrived = 0;
    if (lane() == 0) {
      if (total.here) *(volatile typename Ring::Sum *)&partial[piece] = total.sum;
      *(volatile int *)&ledger.filled[piece] = total.here;
      if (Ring::exits && total.stops()) *(volatile int *)&ledger.stopped[cut_row] = 1;
      __threadfence();
      arrived = atomicAdd(&ledger.arrived[cut_row], 1) + 1;
    }
    if (from_lane(arrived, 0) < count) continue;
    __threadfence();
    Total<Ring> whole;
    for (int part = lane(); part < count; part += WARP)
      if (*(volatile int *)&ledger.filled[first + part])
        whole.add(*(volatile typename Ring::Sum *)&partial[first + part]);
    whole.over_warp();
    found += sums.put(lane() == 0 ? i : -1, whole, progress);
  }
  finish(found, touched, progress, host, true);
}

// The sum of every wanted row; in the second launch, of the rows that the first launch cut.
template <class Ring, class Offset, bool pieces, bool listed, class Source>
__device__ inline void sums_of(const Source &source, const Wanted &wanted, const Sums<Ring, listed> &sums,
                               const Ledger &ledger, typename Ring::Sum *partial, Progress *progress, u64 *host) {
  if constexpr (pieces) sum_pieces<Ring, Offset, listed>(source, sums, ledger, partial, progress, host);
  else sum_rows<Ring, Offset, listed>(source, wanted, sums, ledger, progress, host);
}

// Calls source.visit(row, entry) for every entry of `count` lists; long lists are cut.
template <class Offset, class Source>
__device__ inline void visit_lists(const Source &source, u64 count, int group, const Ledger &ledger, Progress *progress,
                                   u64 *host) {
  u64 touched = 0;
  const u64 warps = thread_count() / WARP * group;
  for (u64 base = thread_number() / WARP * group; base < count; base += warps) {
    const u64 place = base + lane();
    typename Source::Row row;
    Offset begin = 0, end = 0;
    if (lane() < group && place < count) source.open((int)place, row, begin, end);
    touched += (u64)(end - begin);
    if (ledger.rows && end - begin > PIECE) {
      ledger.cut(progress, (int)place, (u64)(end - begin));
      end = begin;
    }
    packed(begin, end, [&](int owner, Offset entry, bool valid, u32, u32, u32) {
      const typename Source::Row its = row.from(owner);
      if (valid) source.visit(its, entry);
    });
  }
  finish(0, touched, progress, host);
}

template <class Offset, class Source>
__device__ inline void visit_pieces(const Source &source, const Ledger &ledger, Progress *progress, u64 *host) {
  const u64 pieces = (u32)progress->cut, warps = thread_count() / WARP;
  if (!pieces) return;  // the first launch has reported all counts to the host
  for (u64 piece = thread_number() / WARP; piece < pieces; piece += warps) {
    const int cut_row = ledger.owner[piece];
    typename Source::Row row;
    Offset begin, end;
    source.open(ledger.place[cut_row], row, begin, end);
    begin += (Offset)(piece - ledger.first[cut_row]) * PIECE;
    end = min(end, begin + (Offset)PIECE);
    for (Offset entry = begin + lane(); entry < end; entry += WARP) source.visit(row, entry);
  }
  finish(0, 0, progress, host, true);
}

template <class Offset, bool pieces, class Source>
__device__ inline void visit_all(const Source &source, u64 count, int group, const Ledger &ledger, Progress *progress,
                                 u64 *host) {
  if constexpr (pieces) visit_pieces<Offset>(source, ledger, progress, host);
  else visit_lists<Offset>(source, count, group, ledger, progress, host);
}

}  // namespace hopwave::linalg
