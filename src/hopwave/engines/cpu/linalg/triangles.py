"""Triangles on the CPU: the masked product L · Lᵀ, summed up as it is made, from the rows of A as they are."""

from __future__ import annotations

import numpy as np

from hopwave.engines.cpu.crew import FOUND, NEXT_CHUNK, NEXT_WORKER, share, thread_count
from hopwave.engines.cpu.integers import U0, U1, U6, U63
from hopwave.engines.cpu.intrinsics import COMPILED, INNER, atomic_add, ordered_add
from hopwave.engines.cpu.linalg.tril import split_rows
from hopwave.engines.cpu.linalg.vector_kernels import locate
from hopwave.engines.cpu.policy import HALVINGS, MUCH_LONGER
from hopwave.engines.cpu.views import unsigned_rows
from hopwave.system.numba_cache import njit


@njit(**INNER)
def count_in_long_row(row, j, indices, begin, end):
    """How many of a short row's entries before j are in the long row indices[begin:end], each searched for."""
    count = U0
    for k in row:
        if k >= j:
            break
        begin = locate(indices, begin, end, k)
        if begin == end:
            break
        count += np.uint64(indices[begin] == k)
    return count


@njit(**COMPILED)
def add_up(indptr, indices, lengths, marks, end, size, board):
    """For every vertex i and every neighbour j before it, count the neighbours before j that they have in common.

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
            row = indices[np.int64(indptr[i]) : np.int64(indptr[i]) + lengths[i]]
            for k in row:
                bits[np.uint64(k) >> U6] |= U1 << (np.uint64(k) & U63)
            for j in row:
                q = np.uint64(indptr[j])
                stop = q + np.uint64(lengths[j])
                if lengths[j] > MUCH_LONGER * lengths[i]:
                    total += count_in_long_row(row, j, indices, q, stop)
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
