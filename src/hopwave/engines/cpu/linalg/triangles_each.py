"""Triangles of every vertex on the CPU: each is found once, by one thread, and counted at its three corners.

Where vertices are numbered by descending degree, most counts go to few vertices, which stay in a cache.
"""

import numpy as np

from hopwave.engines.cpu import policy
from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.crew import NEXT_CHUNK, NEXT_WORKER, share
from hopwave.engines.cpu.integers import U0, U1, U6, U63
from hopwave.engines.cpu.intrinsics import COMPILED, atomic_add, trailing_zeros, uncounted
from hopwave.engines.cpu.linalg.lower_rows import fetch, mark, row_of, unmark
from hopwave.engines.cpu.linalg.triangles import lower_rows
from hopwave.system.numba_cache import njit


@njit(**COMPILED)
def count_corners(begins, lower, core, marks, common, counts, end, size, board):
    """For every vertex i and every neighbour j before it, count the neighbours before j that they have in common.

    Arrays have one row per worker: marks, bits that are all 0 before and after; common, room for those neighbours;
    counts, how many triangles of each vertex this worker has found.
    """
    worker = atomic_add(board, NEXT_WORKER, 1)
    begins, lower, core = uncounted((begins, lower, core))
    bits, both, own = uncounted(marks[worker]), common[worker], counts[worker]
    while True:
        begin = atomic_add(board, NEXT_CHUNK, size)
        if begin >= end:
            return
        for i in range(np.uint64(begin), np.uint64(min(begin + size, end))):
            first, last = np.uint64(begins[i]), np.uint64(begins[i + U1])
            if last < first + np.uint64(2):
                continue
            mark(begins, lower, bits, first, last)
            of_all = U0
            for place in range(first, last):
                fetch(begins, lower, core, place, last)
                j = np.uint64(lower[place])
                found = U0
                p, stop, words = row_of(begins, core, j)
                for w in range(words):
                    shared = core[j, w] & bits[w]
                    while shared:
                        both[found] = np.uint32((w << U6) + trailing_zeros(shared))
                        found += U1
                        shared &= shared - U1
                for other in range(p, p if words else stop):
                    k = np.uint64(lower[other])
                    both[found] = np.uint32(k)  # without a branch, which would often be guessed wrong
                    found += (bits[k >> U6] >> (k & U63)) & U1
                for other in range(found):
                    own[both[other]] += U1
                own[j] += found
                of_all += found
            own[i] += of_all
            unmark(lower, bits, first, last)


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
            found[order[i] if order.size else i] = total


def triangles_each(part):
    """How many triangles each vertex is in, int64."""
    n, m = len(part.indptr) - 1, len(part.indices)
    found, (_, W) = np.empty(n, np.int64), lower_rows(part)
    workers, longest = len(W.marks), int(np.diff(W.begins).max(initial=0))
    counts = np.zeros((workers, n), np.uint64)
    common = np.empty((workers, longest + 64), np.uint32)  # one more than the longest row, and no shared cache line
    with compiling(count_corners):
        rows = W.begins, W.lower, W.core, W.marks
        share(count_corners, (*rows, common, counts), n, m, workers, policy.ROWS_OF_TRIANGLES)
        share(add_up, (counts, W.order, found.view(np.uint64)), n, workers * n, workers)
    return found
