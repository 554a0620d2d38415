"""Triangles on the CPU: the masked product L · Lᵀ summed up as it is made, from the rows of A as they stand."""

from __future__ import annotations

import numpy as np
from numba import njit

from hopwave.engines.cpu.crew import CHUNK, FOUND, share, thread_count, unsigned_rows
from hopwave.engines.cpu.intrinsics import COMPILED, INNER, U0, U1, U6, U63, atomic_add, ordered_add
from hopwave.engines.cpu.linalg.tril import split_rows

MUCH_LONGER = 16  # times as long: then halving is fewer looks than reading
HALVINGS = 8  # looks that halving takes, about
WORKER = np.int64(112)  # the board's cell that numbers workers as they come


@njit(**INNER)
def looked_up(row, j, indices, begin, end):
    """How many of a short row's entries before j are in the long one, each looked for by halving."""
    count = U0
    for k in row:
        if k >= j:
            break
        low, high = begin, end
        while low < high:
            middle = (low + high) >> U1
            if indices[middle] < k:
                low = middle + U1
            else:
                high = middle
        if low < end and indices[low] == k:
            count += U1
        begin = low
    return count


@njit(**COMPILED)
def add_up(indptr, indices, lengths, marks, end, size, board):
    """For every vertex i and every neighbour j before it, how many neighbours before j they have in common.

    lengths     how many of a row's entries lie below the diagonal; they come first
    marks       a row of bits for every worker, all 0 before and after
    """
    bits = marks[atomic_add(board, WORKER, 1)]
    total = U0
    while True:
        begin = atomic_add(board, CHUNK, size)
        if begin >= end:
            break
        for i in range(begin, min(begin + size, end)):
            if lengths[i] < 2:
                continue
            row = indices[np.int64(indptr[i]) : np.int64(indptr[i]) + lengths[i]]
            for k in row:
                bits[np.uint64(k) >> U6] |= U1 << (np.uint64(k) & U63)
            for j in row:
                q = np.uint64(indptr[j])
                stop = q + np.uint64(lengths[j])
                if lengths[j] > MUCH_LONGER * lengths[i]:
                    total += looked_up(row, j, indices, q, stop)
                    continue
                while q < stop:
                    k = np.uint64(indices[q])
                    total += (bits[k >> U6] >> (k & U63)) & U1
                    q += U1
            for k in row:
                bits[np.uint64(k) >> U6] = U0
    ordered_add(board, FOUND, np.int64(total))


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
    n = len(part.indptr) - 1
    begins, ends = np.empty(n, np.int64), np.empty(n + 1, np.int64)
    split_rows(*unsigned_rows(part), -1, True, begins, ends)
    lengths = np.diff(ends)
    after = np.diff(part.indptr) - lengths
    looks = int(after @ lengths)  # without halving
    if looks > most:
        looks = count_looks(*unsigned_rows(part), lengths)
        if looks > most:
            return None
    workers = thread_count(None)
    marks = np.zeros((workers, n // 64 + 1), np.uint64)
    board = share(add_up, (*unsigned_rows(part), lengths, marks), n, looks, workers)
    return int(board[FOUND])
