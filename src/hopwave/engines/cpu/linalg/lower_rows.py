"""Rows of the neighbours before every vertex, in which triangles are looked for by marks.

Where rows would be looked at too often, vertices are numbered by descending degree. A triangle is then found at its
corner of least degree, where rows of neighbours before a vertex are short. Most of the work of such a graph is among
its hubs, whose rows are long: the first vertices, the core, have their rows as bits, too, and 64 of their entries are
compared at once.
"""

from collections import namedtuple

import numpy as np

from hopwave.engines.cpu.integers import U0, U1, U6, U63
from hopwave.engines.cpu.intrinsics import INNER, count_ones, noinline, prefetch, uncounted
from hopwave.system.numba_cache import njit

AHEAD = np.uint64(2)  # neighbours ahead whose rows are fetched into the cache

# order, rank: the vertex of each row and the row of each vertex, empty where rows are in order; begins, lower: the rows
# core: the first of them as bits; marks: a row of bits for each thread, all 0 before and after
LowerRows = namedtuple("LowerRows", "order rank begins lower core marks")


@njit(**INNER)
def measure_rows(indptr, indices, order, rank, begins, begin, end):
    """begins[i + 1] = how many neighbours come before i; returns how often their rows would be looked at."""
    noinline()
    looks = U0
    for i in range(begin, end):
        v = np.uint64(order[i]) if order.size else i
        first, last, found = np.uint64(indptr[v]), np.uint64(indptr[v + U1]), U0
        for j in range(first, last):
            found += np.uint64((rank[indices[j]] if rank.size else indices[j]) < i)
        begins[i + U1] = found
        looks += found * (last - first - found)
    return looks


@njit(**INNER)
def take_rows(indptr, indices, order, rank, begins, lower, core, begin, end):
    """Write the neighbours before every vertex, by their new numbers, from begins[i] on, and the core's as bits."""
    noinline()
    for i in range(begin, end):
        v = np.uint64(order[i]) if order.size else i
        j, place, stop = np.uint64(indptr[v]), np.uint64(begins[i]), np.uint64(begins[i + U1])
        while place < stop:
            k = np.uint64(rank[indices[j]] if rank.size else indices[j])
            lower[place] = np.uint32(k)  # without a branch, which would often be guessed wrong
            place += np.uint64(k < i)
            j += U1
        if i < np.uint64(core.shape[0]):
            for place in range(np.uint64(begins[i]), stop):
                k = np.uint64(lower[place])
                core[i, k >> U6] |= U1 << (k & U63)


@njit(**INNER)
def mark(begins, lower, bits, first, last):
    """Mark the neighbours of a vertex, and fetch where their rows begin."""
    for place in range(first, last):
        k = np.uint64(lower[place])
        bits[k >> U6] |= U1 << (k & U63)
        prefetch(begins, k)


@njit(**INNER)
def unmark(lower, bits, first, last):
    for place in range(first, last):
        bits[np.uint64(lower[place]) >> U6] = U0


@njit(**INNER)
def fetch(begins, lower, core, place, last):
    """Fetch the row of a neighbour that comes soon."""
    if place + AHEAD < last:
        j = np.uint64(lower[place + AHEAD])
        if j < np.uint64(core.shape[0]):
            prefetch(core, j)
        else:
            prefetch(lower, begins[j])


@njit(**INNER)
def row_of(begins, core, j):
    """Where the row of a vertex begins and ends, and how many words of bits it has, 0 where its list is shorter."""
    first, last, words = np.uint64(begins[j]), np.uint64(begins[j + U1]), (j >> U6) + U1
    return first, last, words if j < np.uint64(core.shape[0]) and words < last - first else U0


@njit(**INNER)
def marked_rows(begins, lower, core, bits, begin, end):
    """How many triangles are found at these vertices."""
    noinline()
    total, (begins, lower, core, bits) = U0, uncounted((begins, lower, core, bits))
    for i in range(begin, end):
        first, last = np.uint64(begins[i]), np.uint64(begins[i + U1])
        if last - first <= U1:
            continue
        mark(begins, lower, bits, first, last)
        for place in range(first, last):
            fetch(begins, lower, core, place, last)
            j = np.uint64(lower[place])
            p, stop, words = row_of(begins, core, j)
            if words:
                found = np.int64(0)
                for w in range(words):
                    found += count_ones(core[j, w] & bits[w])
                total += np.uint64(found)
            else:
                for other in range(p, stop):
                    k = np.uint64(lower[other])
                    total += (bits[k >> U6] >> (k & U63)) & U1
        unmark(lower, bits, first, last)
    return total
