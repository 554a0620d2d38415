"""Searches of the core from eight neighbouring vertices at a time, and the way back. See core_rows.py.

    d, s      distances and path counts: tables of one lane per source (engines/cpu/lanes.py)
    x         (demand + dependency) / s, of every vertex in every lane
    order     vertices by their distance from the first source; `at`: the place of each
    bits      one per place: vertices that have to be looked at
    low, high the component's vertices

Neighbours see the core in nearly the same order. So vertices have their turn in the order of the first source, all
lanes at once, and what this order gets wrong for another lane is done again: on a path from another source, lengths of
arcs that lead back in the order add up to at most twice the distance of the two sources. Sources too far from each
other (TURNS) are searched from one by one: then the order is right, and every vertex has one turn.

A sum is made of a vertex's arcs in their order, and made again as a whole: it does not depend on the turns.
"""

import numpy as np

from hopwave.engines.cpu.intrinsics import INNER, noinline, prefetch, trailing_zeros
from hopwave.engines.cpu.lanes import (
    LANES,
    add_tight,
    any_lane,
    mark_tight,
    no_lane,
    put,
    row_of,
    shorten,
    sum_tight,
    where_zero,
)
from hopwave.system.numba_cache import njit

FAR = np.int32(2**30)  # more than any distance; and a length can be added to it
AHEAD = 12  # turns: the rows of whoever has its turn then are requested now
TURNS = 4  # for every vertex, on average
ONE, ALL = np.uint64(1), np.uint64(2**64 - 1)
NEAR = 32  # mean lengths of arcs: sources farther from the first are no neighbours of it


@njit(**INNER)
def put_in_order(C, e, low, high, d, order, at, buckets, following, vertices):
    """Vertices by distance from e.

    Buckets by distance (Dial), no wider than the shortest arc: whatever is in one bucket is final.
    """
    noinline()
    indptr, heads, lengths, shift = C.indptr, C.heads, C.lengths, C.shift[0]
    for v in range(low, high):
        d[v], at[v] = FAR, -1
    mask, entries, waiting, settled, here = buckets.size - 1, 1, 1, 0, 0
    d[e] = 0
    vertices[0], following[0], buckets[0] = e, -1, 0
    while waiting > 0:
        entry = buckets[here & mask]
        if entry < 0:
            here += 1
            continue
        buckets[here & mask] = following[entry]
        waiting -= 1
        v = vertices[entry]
        if at[v] >= 0:
            continue
        reached = np.int64(d[v])
        order[settled], at[v] = v, settled
        settled += 1
        for j in range(indptr[v], indptr[v + 1]):
            w, there = heads[j], reached + np.int64(lengths[j])
            if there < d[w]:
                d[w] = there
                slot = (there >> shift) & mask
                vertices[entries], following[entries] = w, buckets[slot]
                buckets[slot] = entries
                entries += 1
                waiting += 1


@njit(**INNER)
def all_bits(bits, size):
    """Every place has a turn."""
    for word in range((size + 63) >> 6):
        bits[word] = ALL
    if size & 63:
        bits[size >> 6] = (ONE << np.uint64(size & 63)) - ONE


@njit(**INNER)
def had_turn(bits, place):
    """−1 if no turn is left at this place, else 0."""
    return -np.int64(~(bits[place >> 6] >> np.uint64(place & 63)) & ONE)


@njit(**INNER)
def find_distances(C, sources, low, high, order, at, bits, d):
    """Distances from all sources; whether the turns were enough."""
    noinline()
    indptr, heads, lengths, turns = C.indptr, C.heads, C.lengths, TURNS * (high - low)
    for v in range(low, high):
        for lane in range(LANES):
            d[v, lane] = FAR
    words, here, last = (high - low + 63) >> 6, 0, high - low - 1
    bits[:words] = 0
    for lane in range(LANES):
        place = np.int64(at[sources[lane]])
        d[sources[lane], lane] = 0
        bits[place >> 6] |= ONE << np.uint64(place & 63)
    while here < words:
        word = bits[here]
        if word == 0:
            here += 1
            continue
        bits[here] = word & (word - ONE)
        place = 64 * here + np.int64(trailing_zeros(word))
        v, then = np.int64(order[place]), order[min(place + AHEAD, last)]
        prefetch(d, then)
        prefetch(heads, indptr[then])
        prefetch(lengths, indptr[then])
        turns -= 1
        if turns < 0:
            return False
        here_d = row_of(d, v)
        for j in range(indptr[v], indptr[v + 1]):
            w = np.int64(heads[j])
            less, place = shorten(here_d, d, w, lengths[j]), np.int64(at[w])
            bits[place >> 6] |= np.uint64(less) << np.uint64(place & 63)  # without branches, which nobody could predict
            here = min(here, place >> 6 if less else here)
    return True


@njit(**INNER)
def count_paths(C, low, high, order, at, bits, d, s):
    """Path counts of all sources; whether the turns were enough."""
    noinline()
    indptr, heads, lengths, counts, turns = C.indptr, C.heads, C.lengths, C.counts, TURNS * (high - low)
    s[low:high] = 0.0
    words, here, last = (high - low + 63) >> 6, 0, high - low - 1
    all_bits(bits, high - low)
    while here < words:
        word = bits[here]
        if word == 0:
            here += 1
            continue
        bits[here] = word & (word - ONE)
        place = 64 * here + np.int64(trailing_zeros(word))
        v, then = np.int64(order[place]), order[min(place + AHEAD, last)]
        prefetch(d, then)
        prefetch(s, then)
        prefetch(heads, indptr[then])
        prefetch(lengths, indptr[then])
        prefetch(counts, indptr[then])
        turns -= 1
        if turns < 0:
            return False
        d_v, late = row_of(d, v), no_lane()
        total = where_zero(d_v)
        for j in range(indptr[v], indptr[v + 1]):
            w = np.int64(heads[j])
            d_w, place = row_of(d, w), np.int64(at[w])
            total = add_tight(total, row_of(s, w), counts[j], d_w, lengths[j], d_v)
            late = mark_tight(late, had_turn(bits, place), d_v, lengths[j], d_w)
        if put(s, v, total) and any_lane(late):  # for some vertex after v, which has had its turn
            for j in range(indptr[v], indptr[v + 1]):
                w = np.int64(heads[j])
                place = np.int64(at[w])
                bit = ONE << np.uint64(place & 63)
                if any_lane(mark_tight(no_lane(), had_turn(bits, place), d_v, lengths[j], row_of(d, w))):
                    bits[place >> 6] |= bit
                    here = min(here, place >> 6)
    return True


@njit(**INNER)
def go_back(C, low, high, order, at, bits, d, start, x):
    """x of all vertices, beginning with `start`, demand / s, from the last vertex of the order to the first.

    Where the turns are not enough, the rest is done in rounds over all vertices.
    """
    noinline()
    indptr, heads, lengths, counts, turns = C.indptr, C.heads, C.lengths, C.counts_back, TURNS * (high - low)
    x[low:high] = 0.0
    words, here, last, left = (high - low + 63) >> 6, 0, high - low - 1, False
    all_bits(bits, high - low)
    while here < words or left:
        if here == words:
            here, left = 0, False
        word = bits[here]
        if word == 0:
            here += 1
            continue
        bits[here] = word & (word - ONE)
        place = last - 64 * here - np.int64(trailing_zeros(word))
        v, then = np.int64(order[place]), order[max(place - AHEAD, 0)]
        prefetch(d, then)
        prefetch(x, then)
        prefetch(start, then)
        prefetch(heads, indptr[then])
        prefetch(lengths, indptr[then])
        prefetch(counts, indptr[then])
        turns -= 1
        d_v, total, late = row_of(d, v), row_of(start, v), no_lane()
        for j in range(indptr[v], indptr[v + 1]):
            w = np.int64(heads[j])
            d_w, place = row_of(d, w), last - np.int64(at[w])
            total = add_tight(total, row_of(x, w), counts[j], d_v, lengths[j], d_w)
            late = mark_tight(late, had_turn(bits, place), d_w, lengths[j], d_v)
        if put(x, v, total) and any_lane(late):
            for j in range(indptr[v], indptr[v + 1]):
                w = np.int64(heads[j])
                place = last - np.int64(at[w])
                bit = ONE << np.uint64(place & 63)
                if any_lane(mark_tight(no_lane(), had_turn(bits, place), row_of(d, w), lengths[j], d_v)):
                    bits[place >> 6] |= bit
                    if turns > 0:
                        here = min(here, place >> 6)
                    left = left or place >> 6 < here


@njit(**INNER)
def add_flows(C, e, lanes, low, high, d, s, x, V, flow):
    """Dependencies of all vertices on the sources from e on are added to V, and the flows of arcs to flow."""
    noinline()
    indptr, heads, lengths, counts = C.indptr, C.heads, C.lengths, C.counts_back
    for v in range(low, high):
        total, d_v, s_v = 0.0, row_of(d, v), row_of(s, v)
        for j in range(indptr[v], indptr[v + 1]):
            w = np.int64(heads[j])
            part = sum_tight(s_v, row_of(x, w), d_v, lengths[j], row_of(d, w)) * counts[j]
            flow[j] += part
            if e <= v < e + lanes:  # without what begins there
                part = 0.0
                for lane in range(lanes):
                    if lane != v - e and d[v, lane] + lengths[j] == d[w, lane]:
                        part += s[v, lane] * x[w, lane] * counts[j]
            total += part
        V[v] += total


@njit(**INNER)
def write_rows(row, lanes, low, high, d, s, rows_d, rows_s):
    """Distances and path counts of every source as a row. Returns the greatest path count."""
    noinline()
    most = 0.0
    for v in range(low, high):
        for lane in range(lanes):
            rows_d[row + lane, v], rows_s[row + lane, v] = d[v, lane], s[v, lane]
            most = max(most, s[v, lane])
    return most


@njit(**INNER)
def read_rows(row, lanes, low, high, rows_d, rows_s, T, d, s, start):
    """Distances and path counts of rows as lanes, and T / s; lanes that are left over are the first without demand."""
    noinline()
    for v in range(low, high):
        for lane in range(lanes):
            d[v, lane], s[v, lane] = rows_d[row + lane, v], rows_s[row + lane, v]
            start[v, lane] = T[lane, v] / s[v, lane]
        for lane in range(lanes, LANES):
            d[v, lane], s[v, lane], start[v, lane] = d[v, 0], s[v, 0], 0.0
