// What products over any semiring share. Rows are dealt to warps, a few rows each; a long one is cut into pieces that a
// second launch deals out. So a product costs what its entries cost, whichever rows they are in.
//
//   Ring    the arithmetic, written by hopwave/engines/cuda/linalg/semiring_source.py: types Sum, A, X (of sums, the matrix's values and
//           the vector's), term, plus, stops, and what must be read
//   Source  where terms come from: open(i, row, begin, end) says what row i is made of, term(row, entry, t) makes one
//
// Sums of a row are added in an order that depends on its length alone: they are the same in every run.
#pragma once
#include "common/atoms.cuh"

namespace hopwave {

constexpr int PIECE = 512;  // entries of a piece; a row of more is cut
constexpr int SHORT = 64;   // shorter rows are packed side by side, longer ones have the warp to themselves
constexpr int LOOK = 8;     // entries a lane looks at by itself where it may stop early

// What a product counts: zero between launches. `cut` has rows in its upper half, pieces in its lower.
struct Progress {
    number found, touched, cut, done;
};

// The rows that were cut and their pieces, which are numbered through.
struct Ledger {
    int *place, *first, *arrived, *stopped, *owner, *filled;
    int rows;  // room for so many; 0: nothing is long enough to be cut

    __device__ Ledger(int* base, int rows, int pieces) : rows(rows) {
        place = base, first = place + rows, arrived = first + rows, stopped = arrived + rows;
        owner = stopped + rows, filled = owner + pieces;
    }

    __device__ void cut(Progress* progress, int i, number length) const {
        const unsigned pieces = (unsigned)((length + PIECE - 1) / PIECE);
        const number before = atomicAdd(&progress->cut, (1ull << 32) + pieces);
        const int row = (int)(before >> 32), begin = (int)(unsigned)before;
        place[row] = i, first[row] = begin, arrived[row] = 0, stopped[row] = 0;
        for (unsigned piece = 0; piece < pieces; ++piece) owner[begin + piece] = row;
    }
};

template <class T>
__device__ inline T from_lane(T value, int source) {
    return (T)__shfl_sync(EVERYONE, value, source);
}

// A sum that may still be without a term.
template <class Ring>
struct Total {
    typename Ring::Sum sum;
    bool here = false;

    __device__ void add(typename Ring::Sum t) {
        sum = here ? Ring::plus(sum, t) : t;
        here = true;
    }
    __device__ void add(const Total& other) {
        if (other.here) add(other.sum);
    }
    __device__ Total from(int source) const {
        Total other;
        other.sum = from_lane(sum, source), other.here = from_lane((int)here, source);
        return other;
    }
    __device__ bool stops() const { return here && Ring::stops(sum); }

    // The sum over the warp, in every lane.
    __device__ void over_warp() {
        for (int step = WARP / 2; step; step /= 2) {
            const Total other = from((lane() + step) % WARP);
            if (lane() < step) add(other);
        }
        *this = from(0);
    }
};

// The entries of 32 rows, a row a lane, laid end to end; each step hands 32 of them to the lanes. The whole warp calls
// each(owner, entry, valid, base, before, through): the lane whose row it is, the entry, whether there is one for this
// lane, and where the step and this lane's own row begin and end.
template <class Offset, class Each>
__device__ inline void packed(Offset begin, Offset end, Each each) {
    const unsigned length = (unsigned)(end - begin);
    unsigned through = length;
    for (int step = 1; step < WARP; step *= 2) {
        const unsigned other = __shfl_up_sync(EVERYONE, through, step);
        if (lane() >= step) through += other;
    }
    const unsigned before = through - length, total = from_lane(through, WARP - 1);
    for (unsigned base = 0; base < total; base += WARP) {
        const unsigned e = base + lane();
        int owner = 0;  // how many rows end at or before e
        for (int step = WARP / 2; step; step /= 2)
            if (from_lane(through, owner + step - 1) <= e) owner += step;
        const Offset first = from_lane(begin, owner);
        each(owner, first + (Offset)(e - from_lane(before, owner)), e < total, base, before, through);
    }
}

// Adds up a block's counts, then the grid's. The last block tells the host and clears them, unless rows were cut: then
// it says how many pieces there are, and leaves the rest to the launch that computes those.
__device__ inline void finish(number found, number touched, Progress* progress, number* host, bool pieces_are_in = false) {
    __shared__ number sums[2][BLOCK / WARP];
    for (int step = WARP / 2; step; step /= 2) {
        found += __shfl_down_sync(EVERYONE, found, step);
        touched += __shfl_down_sync(EVERYONE, touched, step);
    }
    if (lane() == 0) sums[0][threadIdx.x / WARP] = found, sums[1][threadIdx.x / WARP] = touched;
    __syncthreads();
    if (threadIdx.x) return;
    for (int warp = 1; warp < BLOCK / WARP; ++warp) found += sums[0][warp], touched += sums[1][warp];
    if (found) atomicAdd(&progress->found, found);
    if (touched) atomicAdd(&progress->touched, touched);
    __threadfence();
    if (atomicAdd(&progress->done, 1ull) != gridDim.x - 1) return;
    progress->done = 0;
    const number pieces = pieces_are_in ? 0 : (unsigned)*(volatile number*)&progress->cut;
    host[2] = pieces;
    if (pieces) return;
    host[0] = atomicExch(&progress->found, 0ull);
    host[1] = atomicExch(&progress->touched, 0ull);
    progress->cut = 0;
}

// Which rows are wanted: those of a list, those whose bit differs from `complement`, or all `count`.
struct Wanted {
    const int* rows;
    const bool* bits;
    bool complement;
    number count;
    int group;  // rows a warp takes at a time

    // This lane's row of the warp's next few, -1 for none.
    __device__ int row(number base) const {
        const number place = base + lane();
        if (lane() >= group || place >= count) return -1;
        return rows ? rows[place] : (int)place;
    }
    __device__ bool lets(int i) const { return i >= 0 && (!bits || bits[i] != complement); }
};

// Where sums go: value and bit of their row, or the end of a list.
template <class Ring, bool listed>
struct Sums {
    typename Ring::Sum* values;
    bool* found;
    int* list;

    // Called by a whole warp; i < 0 in lanes without a row. Returns 1 where a sum was counted for `finish`.
    __device__ number put(int i, const Total<Ring>& total, Progress* progress) const {
        const bool here = i >= 0 && total.here;
        if (listed) {
            const unsigned all = __ballot_sync(EVERYONE, here);
            if (!all) return 0;
            number first = 0;
            if (lane() == 0) first = atomicAdd(&progress->found, (number)__popc(all));
            first = from_lane(first, 0) + __popc(all & ((1u << lane()) - 1));
            if (here) list[first] = i;
            if (here && Ring::carries) values[first] = total.sum;
            return 0;
        }
        if (i >= 0) found[i] = here;
        if (here && Ring::carries) values[i] = total.sum;
        return here;
    }
};

// One row's entries [begin, end) by the whole warp, into every lane.
template <class Ring, class Offset, class Source>
__device__ inline Total<Ring> sum_by_warp(
    const Source& source, const typename Source::Row& row, Offset begin, Offset end, number& touched) {
    Total<Ring> total;
    if (Ring::exits) {
        for (Offset first = begin; first < end; first += WARP) {
            const Offset entry = first + lane();
            typename Ring::Sum t;
            if (entry < end && source.term(row, entry, t)) total.add(t);
            touched += entry < end;
            if (__any_sync(EVERYONE, total.stops())) break;
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

// Every wanted row's sum.
template <class Ring, class Offset, bool listed, class Source>
__device__ inline void sum_rows(
    const Source& source, const Wanted& wanted, const Sums<Ring, listed>& sums, const Ledger& ledger,
    Progress* progress, number* host) {
    number found = 0, touched = 0;
    const number warps = thread_count() / WARP * wanted.group;
    for (number base = thread_number() / WARP * wanted.group; base < wanted.count; base += warps) {
        int i = wanted.row(base);
        const bool let = wanted.lets(i);
        Total<Ring> total;
        typename Source::Row row;
        Offset begin = 0, end = 0;
        if (__any_sync(EVERYONE, let)) {
            if (let) source.open(i, row, begin, end);
            bool cut = ledger.rows && end - begin > PIECE;
            Offset done = begin;  // entries before this one are in the sum
            if (Ring::exits) {
                for (; done < end && done - begin < LOOK && !total.stops(); ++done) {
                    typename Ring::Sum t;
                    if (source.term(row, done, t)) total.add(t);
                    touched += 1;
                }
                if (total.stops()) done = end, cut = false;
            } else {
                const bool by_lane = end - begin < SHORT;
                packed(begin, by_lane ? end : begin, [&](int owner, Offset entry, bool valid, unsigned step_base,
                                                         unsigned before, unsigned through) {
                    Total<Ring> part;
                    const typename Source::Row its = row.from(owner);
                    typename Ring::Sum t;
                    if (valid && source.term(its, entry, t)) part.add(t);
                    touched += valid;
                    for (int step = 1; step < WARP; step *= 2) {  // a scan within each row's stretch of lanes
                        const int from = max((int)lane() - step, 0);
                        Total<Ring> other = part.from(from);
                        const int its_owner = from_lane(owner, from);
                        if (lane() >= step && its_owner == owner && other.here) other.add(part), part = other;
                    }
                    const bool mine = through > before && before < step_base + WARP && through > step_base;
                    const Total<Ring> stretch = part.from(mine ? min(through - step_base, (unsigned)WARP) - 1 : 0);
                    if (mine) total.add(stretch);
                });
                if (by_lane) done = end;
            }
            // Rows that are left, one after the other: with early exit, of a long one the first piece before it is cut.
            unsigned waiting = __ballot_sync(EVERYONE, done < end && (Ring::exits || !cut));
            for (; waiting; waiting &= waiting - 1) {
                const int leader = __ffs(waiting) - 1;
                const Offset first = from_lane(done, leader), its_end = from_lane(end, leader);
                const Total<Ring> part = sum_by_warp<Ring>(
                    source, row.from(leader), first, ledger.rows ? min(its_end, first + (Offset)PIECE) : its_end, touched);
                if (lane() != leader) continue;
                total.add(part);
                if (total.stops()) cut = false;
            }
            if (cut) {  // from its beginning again
                ledger.cut(progress, i, (number)(end - begin));
                i = -1;
            }
        }
        found += sums.put(i, total, progress);
    }
    finish(found, touched, progress, host);
}

// The pieces of the rows that were cut. Whoever finishes a row's last piece adds them up, in their order.
template <class Ring, class Offset, bool listed, class Source>
__device__ inline void sum_pieces(
    const Source& source, const Sums<Ring, listed>& sums, const Ledger& ledger, typename Ring::Sum* partial,
    Progress* progress, number* host) {
    number found = 0, touched = 0;
    const number pieces = (unsigned)progress->cut, warps = thread_count() / WARP;
    if (!pieces) return;  // all has been told already
    for (number piece = thread_number() / WARP; piece < pieces; piece += warps) {
        const int number_ = ledger.owner[piece], i = ledger.place[number_], first = ledger.first[number_];
        typename Source::Row row;
        Offset begin, end;
        source.open(i, row, begin, end);
        const int count = (int)((end - begin + PIECE - 1) / PIECE);
        const Offset from = begin + (Offset)(piece - first) * PIECE;
        Total<Ring> total;
        const bool stopped = Ring::exits && from_lane(*(volatile int*)&ledger.stopped[number_], 0);
        if (!stopped) total = sum_by_warp<Ring>(source, row, from, min(end, from + (Offset)PIECE), touched);
        int arrived = 0;
        if (lane() == 0) {
            if (total.here) *(volatile typename Ring::Sum*)&partial[piece] = total.sum;
            *(volatile int*)&ledger.filled[piece] = total.here;
            if (Ring::exits && total.stops()) *(volatile int*)&ledger.stopped[number_] = 1;
            __threadfence();
            arrived = atomicAdd(&ledger.arrived[number_], 1) + 1;
        }
        if (from_lane(arrived, 0) < count) continue;
        __threadfence();
        Total<Ring> whole;
        for (int part = lane(); part < count; part += WARP)
            if (*(volatile int*)&ledger.filled[first + part])
                whole.add(*(volatile typename Ring::Sum*)&partial[first + part]);
        whole.over_warp();
        found += sums.put(lane() == 0 ? i : -1, whole, progress);
    }
    finish(found, touched, progress, host, true);
}

// visit(row, entry) for every entry of `count` lists; long ones are cut.
template <class Offset, class Source>
__device__ inline void visit_lists(
    const Source& source, number count, int group, const Ledger& ledger, Progress* progress, number* host) {
    number touched = 0;
    const number warps = thread_count() / WARP * group;
    for (number base = thread_number() / WARP * group; base < count; base += warps) {
        const number place = base + lane();
        typename Source::Row row;
        Offset begin = 0, end = 0;
        if (lane() < group && place < count) source.open((int)place, row, begin, end);
        touched += (number)(end - begin);
        if (ledger.rows && end - begin > PIECE) {
            ledger.cut(progress, (int)place, (number)(end - begin));
            end = begin;
        }
        packed(begin, end, [&](int owner, Offset entry, bool valid, unsigned, unsigned, unsigned) {
            const typename Source::Row its = row.from(owner);
            if (valid) source.visit(its, entry);
        });
    }
    finish(0, touched, progress, host);
}

template <class Offset, class Source>
__device__ inline void visit_pieces(const Source& source, const Ledger& ledger, Progress* progress, number* host) {
    const number pieces = (unsigned)progress->cut, warps = thread_count() / WARP;
    if (!pieces) return;  // all has been told already
    for (number piece = thread_number() / WARP; piece < pieces; piece += warps) {
        const int number_ = ledger.owner[piece];
        typename Source::Row row;
        Offset begin, end;
        source.open(ledger.place[number_], row, begin, end);
        begin += (Offset)(piece - ledger.first[number_]) * PIECE;
        end = min(end, begin + (Offset)PIECE);
        for (Offset entry = begin + lane(); entry < end; entry += WARP) source.visit(row, entry);
    }
    finish(0, 0, progress, host, true);
}

}  // namespace hopwave
