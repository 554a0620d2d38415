"""Triangles on the CPU: the masked product L · Lᵀ, summed up as it is made, from the rows of A as they are.

For every vertex i and every neighbour j before it, the neighbours before j that they have in common are counted. Where
rows are long, those of i are marked as bits, and the rows of its neighbours look them up. Where they are short, as in
meshes, two rows are walked side by side, or the shorter one is searched for in the longer: nothing is prepared.
"""

from __future__ import annotations

import numpy as np

from hopwave.engines.cpu.crew import FOUND, NEXT_CHUNK, NEXT_WORKER, share, thread_count
from hopwave.engines.cpu.integers import U0, U1, U6, U63
from hopwave.engines.cpu.intrinsics import COMPILED, INNER, atomic_add, ordered_add
from hopwave.engines.cpu.linalg.vector_kernels import locate
from hopwave.engines.cpu.policy import HALVINGS, MUCH_LONGER, SHORT_ROWS
from hopwave.engines.cpu.views import unsigned_rows
from hopwave.system.numba_cache import njit

LONGER = np.uint64(MUCH_LONGER)
SHORT = 16  # entries left of a row from which on they are looked at one by one


@njit(**INNER)
def count_in_long_row(indices, p, stop, j, begin, end):
    """How many of a short row's entries p to stop that lie before j are in the long row begin to end, each searched
    for."""
    count = U0
    while p < stop and indices[p] < j:
        begin = locate(indices, begin, end, indices[p])
        if begin == end:
            break
        count += np.uint64(indices[begin] == indices[p])
        p += U1
    return count


@njit(**INNER)
def count_side_by_side(indices, p, p_end, q, q_end, j):
    """How many entries before j two rows have in common, the row that ends at p_end being that of j's neighbour."""
    count = U0
    while q < q_end:
        k = indices[q]
        if k >= j:
            break
        while indices[p] < k:  # it has j itself, which is greater
            p += U1
        count += np.uint64(indices[p] == k)
        q += U1
    return count


@njit(**COMPILED)
def add_up_short(indptr, indices, end, size, board):
    """Count where rows are short."""
    total = U0
    while True:
        begin = atomic_add(board, NEXT_CHUNK, size)
        if begin >= end:
            break
        for i in range(np.uint64(begin), np.uint64(min(begin + size, end))):
            first, last = np.uint64(indptr[i]), np.uint64(indptr[i + U1])
            place = first + U1  # with its first neighbour a vertex has none before in common
            while place < last and np.uint64(indices[place]) < i:
                j = indices[place]
                q, q_end = np.uint64(indptr[j]), np.uint64(indptr[np.uint64(j) + U1])
                if last - first > LONGER * (q_end - q):
                    total += count_in_long_row(indices, q, q_end, j, first, place)
                elif q_end - q > LONGER * (last - first):
                    total += count_in_long_row(indices, first, place, j, q, q_end)
                else:
                    total += count_side_by_side(indices, first, last, q, q_end, j)
                place += U1
    ordered_add(board, FOUND, np.int64(total))


@njit(**COMPILED)
def add_up(indptr, indices, lengths, marks, end, size, board):
    """Count by bits.

    lengths     how many of a row's entries lie below the diagonal; they come first
    marks       one row of bits per worker, all 0 before and after
    """
    bits = marks[atomic_add(board, NEXT_WORKER, 1)]
    total = U0
    while True:
        begin = atomic_add(board, NEXT_CHUNK, size)
        if begin >= end:
            break
        for i in range(begin, min(begin + size, end)):
            if lengths[i] < 2:
                continue
            first = np.uint64(indptr[i])
            last = first + np.uint64(lengths[i])
            for place in range(first, last):
                k = np.uint64(indices[place])
                bits[k >> U6] |= U1 << (k & U63)
            for place in range(first, last):
                j = indices[place]
                q = np.uint64(indptr[j])
                stop = q + np.uint64(lengths[j])
                if lengths[j] > MUCH_LONGER * lengths[i]:
                    total += count_in_long_row(indices, first, place, j, q, stop)
                    continue
                while q < stop:
                    k = np.uint64(indices[q])
                    total += (bits[k >> U6] >> (k & U63)) & U1
                    q += U1
            for place in range(first, last):
                bits[np.uint64(indices[place]) >> U6] = U0
    ordered_add(board, FOUND, np.int64(total))


@njit(**COMPILED)
def measure(indptr, indices, lengths, end, size, board):
    """The lengths of rows below the diagonal, and how many entries `add_up` would look at without halving."""
    looks = np.int64(0)
    while True:
        begin = atomic_add(board, NEXT_CHUNK, size)
        if begin >= end:
            break
        for i in range(np.uint64(begin), np.uint64(min(begin + size, end))):
            first, last = np.uint64(indptr[i]), np.uint64(indptr[i + U1])
            low, high = first, last
            while high - low > np.uint64(SHORT):
                middle = (low + high) >> U1
                if np.uint64(indices[middle]) < i:
                    low = middle + U1
                else:
                    high = middle
            while low < high and np.uint64(indices[low]) < i:
                low += U1
            lengths[i] = np.int64(low - first)
            looks += np.int64(low - first) * np.int64(last - low)
    ordered_add(board, FOUND, looks)


@njit(**COMPILED)
def count_looks(indptr, indices, lengths):
    """How many entries `add_up` will look at."""
    looks = np.int64(0)
    for i in range(lengths.size):
        first = np.int64(indptr[i])
        for j in indices[first : first + lengths[i]]:
            if lengths[j] > MUCH_LONGER * lengths[i]:
                looks += lengths[i] * HALVINGS
            else:
                looks += lengths[j]
    return looks


def count_triangles(part, most):
    """How many triangles there are; None where that would take more than `most` looks at entries."""
    rows, n, m = unsigned_rows(part), len(part.indptr) - 1, len(part.indices)
    if m <= SHORT_ROWS * n:
        return int(share(add_up_short, rows, n, m, None)[FOUND])
    lengths = np.empty(n, np.int64)
    looks = int(share(measure, (*rows, lengths), n, m, None)[FOUND])
    if looks > most:
        looks = count_looks(*rows, lengths)
        if looks > most:
            return None
    workers = thread_count(None)
    marks = np.zeros((workers, n // 64 + 1), np.uint64)
    board = share(add_up, (*rows, lengths, marks), n, looks, workers)
    return int(board[FOUND])
