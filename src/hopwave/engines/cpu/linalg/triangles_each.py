"""Triangles of every vertex on the CPU: each is found once, by one thread, and counted at its three corners.

Vertices are numbered by descending degree where degrees differ much. A triangle is then found at its corner of least
degree, where rows of neighbours before a vertex are short, and most counts go to few vertices, which stay in a cache.
"""

import numpy as np

from hopwave.engines.cpu import policy
from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.crew import NEXT_CHUNK, NEXT_WORKER, crew_size, share
from hopwave.engines.cpu.integers import U0, U1, U6, U63
from hopwave.engines.cpu.intrinsics import COMPILED, atomic_add
from hopwave.engines.cpu.views import new_array, unsigned_rows
from hopwave.system.numba_cache import njit


@njit(**COMPILED)
def take_lower(indptr, indices, order, rank, begins, lower, end, size, board):
    """Write the neighbours before every vertex, by their new numbers, from begins[i] on; without room for them, count
    them in begins[i + 1]."""
    counts = lower.size == 0
    while True:
        begin = atomic_add(board, NEXT_CHUNK, size)
        if begin >= end:
            return
        for i in range(np.uint64(begin), np.uint64(min(begin + size, end))):
            v = np.uint64(order[i])
            place = U0 if counts else np.uint64(begins[i])
            for j in range(np.uint64(indptr[v]), np.uint64(indptr[v + U1])):
                k = np.uint64(rank[indices[j]])
                if k < i:
                    if not counts:
                        lower[place] = np.uint32(k)
                    place += U1
            if counts:
                begins[i + U1] = place


@njit(**COMPILED)
def count_corners(begins, lower, marks, common, counts, end, size, board):
    """For every vertex i and every neighbour j before it, count the neighbours before j that they have in common.

    Arrays have one row per worker: marks, bits that are all 0 before and after; common, room for those neighbours;
    counts, how many triangles of each vertex this worker has found.
    """
    worker = atomic_add(board, NEXT_WORKER, 1)
    bits, both, own = marks[worker], common[worker], counts[worker]
    while True:
        begin = atomic_add(board, NEXT_CHUNK, size)
        if begin >= end:
            return
        for i in range(np.uint64(begin), np.uint64(min(begin + size, end))):
            first, last = np.uint64(begins[i]), np.uint64(begins[i + U1])
            if last < first + np.uint64(2):
                continue
            for place in range(first, last):
                k = np.uint64(lower[place])
                bits[k >> U6] |= U1 << (k & U63)
            of_all = U0
            for place in range(first, last):
                j = np.uint64(lower[place])
                found = U0
                for other in range(np.uint64(begins[j]), np.uint64(begins[j + U1])):
                    k = np.uint64(lower[other])
                    both[found] = np.uint32(k)  # without a branch, which would often be guessed wrong
                    found += (bits[k >> U6] >> (k & U63)) & U1
                for other in range(found):
                    own[both[other]] += U1
                own[j] += found
                of_all += found
            own[i] += of_all
            for place in range(first, last):
                bits[np.uint64(lower[place]) >> U6] = U0


@njit(**COMPILED)
def add_up(counts, order, found, end, size, board):
    """found = the sums of all workers' counts, by the old numbers."""
    while True:
        begin = atomic_add(board, NEXT_CHUNK, size)
        if begin >= end:
            return
        for i in range(begin, min(begin + size, end)):
            total = U0
            for worker in range(counts.shape[0]):
                total += counts[worker, i]
            found[order[i]] = total


def triangles_each(part):
    """How many triangles each vertex is in, int64."""
    n, m = len(part.indptr) - 1, len(part.indices)
    degrees = np.diff(part.indptr)
    order = rank = np.arange(n, dtype=np.uint32)
    if int(degrees.max(initial=0)) * n > policy.IRREGULAR * m:
        order = np.argsort(65535 - np.minimum(degrees, 65535).astype(np.uint16), kind="stable").astype(np.uint32)
        rank = np.empty(n, np.uint32)
        rank[order] = np.arange(n, dtype=np.uint32)
    begins, found, rows = np.zeros(n + 1, np.int64), np.empty(n, np.int64), unsigned_rows(part)
    with compiling(take_lower):
        share(take_lower, (*rows, order, rank, begins, new_array(0, np.uint32)), n, m, None)
        longest = int(begins.max())
        np.cumsum(begins, out=begins)
        lower = new_array(int(begins[-1]), np.uint32)
        share(take_lower, (*rows, order, rank, begins, lower), n, m, None)
    workers = crew_size(m, None)
    marks, counts = np.zeros((workers, n // 64 + 1), np.uint64), np.zeros((workers, n), np.uint64)
    common = np.empty((workers, longest + 64), np.uint32)  # one more than the longest row, and no shared cache line
    with compiling(count_corners):
        share(count_corners, (begins, lower, marks, common, counts), n, m, None, policy.ROWS_OF_TRIANGLES)
        share(add_up, (counts, order, found.view(np.uint64)), n, workers * n, None)
    return found
