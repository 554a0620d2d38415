"""Triangles of every vertex on the CPU: found as in triangles.py, and counted for all three corners by each thread."""

from __future__ import annotations

import numpy as np

from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.crew import NEXT_CHUNK, NEXT_WORKER, crew_size, share
from hopwave.engines.cpu.integers import U0, U1, U6, U63
from hopwave.engines.cpu.intrinsics import COMPILED, INNER, atomic_add
from hopwave.engines.cpu.linalg.tril import split_rows
from hopwave.engines.cpu.linalg.vector_kernels import locate
from hopwave.engines.cpu.policy import HALVINGS, MUCH_LONGER, WORTH_SORTING
from hopwave.engines.cpu.views import unsigned_rows
from hopwave.system.numba_cache import njit


@njit(**INNER)
def common(indices, row, bits, begin, end, j, is_long, own):
    """The neighbours before j that are in indices[begin:end] and in row, whose bits are set; each is counted in own."""
    count = np.int64(0)
    if is_long:  # its entries are searched for
        for k in row:
            if k >= j:
                break
            begin = locate(indices, begin, end, k)
            if begin == end:
                break
            if indices[begin] == k:
                own[k] += 1
                count += 1
        return count
    while begin < end:
        k = np.uint64(indices[begin])
        if (bits[k >> U6] >> (k & U63)) & U1:
            own[k] += 1
            count += 1
        begin += U1
    return count


@njit(**COMPILED)
def count_corners(indptr, indices, lengths, marks, counts, end, size, board):
    """For every vertex i and every neighbour j before it, count the neighbours before j that they have in common.

    lengths     how many of a row's entries lie below the diagonal; they come first
    marks       one row of bits per worker, all 0 before and after        counts     one row of numbers per worker
    """
    worker = atomic_add(board, NEXT_WORKER, 1)
    bits, own = marks[worker], counts[worker]
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
                first = np.uint64(indptr[j])
                is_long = lengths[j] > MUCH_LONGER * lengths[i]
                found = common(indices, row, bits, first, first + np.uint64(lengths[j]), j, is_long, own)
                own[j] += found
                own[i] += found
            for k in row:
                bits[np.uint64(k) >> U6] = U0


@njit(**COMPILED)
def count_looks(indptr, indices, lengths):
    """How many entries `count_corners` will look at."""
    looks = np.int64(0)
    for i in range(lengths.size):
        first = np.int64(indptr[i])
        for j in indices[first : first + lengths[i]]:
            looks += lengths[i] * HALVINGS if lengths[j] > MUCH_LONGER * lengths[i] else lengths[j]
    return looks


def triangles_each(part):
    """How many triangles each vertex is in, int64; None where sorting the vertices first would pay."""
    n = len(part.indptr) - 1
    begins, ends = np.empty(n, np.int64), np.empty(n + 1, np.int64)
    split_rows(*unsigned_rows(part), -1, True, begins, ends)
    lengths = np.diff(ends)
    looks = count_looks(*unsigned_rows(part), lengths)
    if looks > WORTH_SORTING * len(part.indices):
        return None
    workers = crew_size(looks, None)
    marks, counts = np.zeros((workers, n // 64 + 1), np.uint64), np.zeros((workers, n), np.int64)
    with compiling(count_corners):
        share(count_corners, (*unsigned_rows(part), lengths, marks, counts), n, looks, None)
    return counts.sum(axis=0)
