"""Rows of the neighbours before every vertex, in which triangles are looked for by marks.

Where rows would be looked at too often, vertices are numbered by descending degree. A triangle is then found at its
corner of least degree, where rows of neighbours before a vertex are short. Most of the work of such a graph is among
its hubs, whose rows are long: the first vertices, the core, have their rows as bits, too, and 64 of their entries are
compared at once.
"""

from collections import namedtuple
from math import isqrt

import numpy as np

from hopwave.engines.cpu import policy
from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.crew import FOUND, NEXT_CHUNK, crew_size, share
from hopwave.engines.cpu.integers import U0, U1, U6, U63
from hopwave.engines.cpu.intrinsics import COMPILED, INNER, atomic_add, ordered_add, prefetch
from hopwave.engines.cpu.views import new_array, unsigned_rows
from hopwave.system.numba_cache import njit

AHEAD = np.uint64(2)  # neighbours ahead whose rows are fetched into the cache

LowerRows = namedtuple(
    "LowerRows", "rows order longest"
)  # rows: (begins, lower, core); order: the vertex of each row, empty if they are in order


@njit(**COMPILED)
def count_lower(indptr, indices, order, rank, begins, end, size, board):
    """begins[i + 1] = how many neighbours come before i; adds up how often their rows would be looked at."""
    looks = U0
    while True:
        begin = atomic_add(board, NEXT_CHUNK, size)
        if begin >= end:
            break
        for i in range(np.uint64(begin), np.uint64(min(begin + size, end))):
            v = np.uint64(order[i]) if order.size else i
            first, last, found = np.uint64(indptr[v]), np.uint64(indptr[v + U1]), U0
            for j in range(first, last):
                found += np.uint64((rank[indices[j]] if rank.size else indices[j]) < i)
            begins[i + U1] = found
            looks += found * (last - first - found)
    ordered_add(board, FOUND, np.int64(looks))


@njit(**COMPILED)
def take_lower(indptr, indices, order, rank, begins, lower, core, end, size, board):
    """Write the neighbours before every vertex, by their new numbers, from begins[i] on, and the core's as bits."""
    inner = np.uint64(core.shape[0])
    while True:
        begin = atomic_add(board, NEXT_CHUNK, size)
        if begin >= end:
            return
        for i in range(np.uint64(begin), np.uint64(min(begin + size, end))):
            v = np.uint64(order[i]) if order.size else i
            j, place, stop = np.uint64(indptr[v]), np.uint64(begins[i]), np.uint64(begins[i + U1])
            while place < stop:
                k = np.uint64(rank[indices[j]] if rank.size else indices[j])
                lower[place] = np.uint32(k)  # without a branch, which would often be guessed wrong
                place += np.uint64(k < i)
                j += U1
            if i < inner:
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


def lower_rows(part):
    """The neighbours before every vertex of a symmetric pattern."""
    n, m = len(part.indptr) - 1, len(part.indices)
    rows, begins, order = unsigned_rows(part), np.zeros(n + 1, np.int64), np.empty(0, np.uint32)
    rank, inner = order, min(n, policy.MOST_OF_CORE, isqrt(policy.BITS_OF_CORE * m))
    core = np.zeros((inner, inner // 64 + 1), np.uint64)
    with compiling(take_lower):
        if share(count_lower, (*rows, order, rank, begins), n, m, None)[FOUND] > policy.LOOKS_WORTH_SORTING * m:
            shortest_last = 65535 - np.minimum(np.diff(part.indptr), 65535).astype(np.uint16)
            order = np.argsort(shortest_last, kind="stable").astype(np.uint32)
            rank = np.empty(n, np.uint32)
            rank[order] = np.arange(n, dtype=np.uint32)
            share(count_lower, (*rows, order, rank, begins), n, m, None)
        longest = int(begins.max())
        np.cumsum(begins, out=begins)
        lower = new_array(int(begins[-1]), np.uint32)
        share(take_lower, (*rows, order, rank, begins, lower, core), n, m, None)
    return LowerRows((begins, lower, core), order, longest)


def new_marks(n, m):
    """A row of bits for each thread that works on m entries."""
    return np.zeros((crew_size(m, None), n // 64 + 1), np.uint64)
