"""Triangles on the CPU: for every vertex i and every neighbour j before it, the neighbours before j that they have in
common are counted. In short rows, as in meshes, by walking two rows side by side; nothing is prepared. In long rows by
marking those of i as bits (lower_rows.py).
"""

from __future__ import annotations

import numpy as np

from hopwave.engines.cpu import crew, policy, team
from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.integers import U0, U1, U6, U63
from hopwave.engines.cpu.intrinsics import (
    COMPILED,
    INNER,
    atomic_add,
    count_ones,
    noinline,
    ordered_add,
    prefetch,
    uncounted,
)
from hopwave.engines.cpu.linalg.lower_rows import fetch, lower_rows, mark, new_marks, row_of, unmark
from hopwave.engines.cpu.linalg.vector_kernels import locate
from hopwave.engines.cpu.views import unsigned_rows
from hopwave.system.numba_cache import njit

LONGER = np.uint64(policy.MUCH_LONGER)
FEW = np.uint64(16)  # entries left of a row from which on they are looked at one by one
AHEAD = np.uint64(4)  # vertices ahead whose neighbours' rows are fetched into the cache
SAMPLED = 256  # arcs that tell whether rows are long
FAR = np.uint64(4096)  # vertices between two that share no cache line


@njit(**INNER)
def count_in_long_row(indices, p, stop, j, begin, end):
    """How many of the entries p to stop that lie before j are among the entries begin to end, each searched for."""
    count = U0
    while p < stop and indices[p] < j:
        begin = locate(indices, begin, end, indices[p])
        if begin == end:
            break
        count += np.uint64(indices[begin] == indices[p])
        p += U1
    return count


@njit(**INNER)
def is_scattered(indptr, indices, begin, end):
    """Whether the first neighbours of vertices are mostly far away."""
    far, step = U0, (end - begin) // FEW + U1
    for i in range(begin, end, step):
        if indptr[i] < indptr[i + U1]:
            far += np.uint64(np.uint64(indices[indptr[i]]) + FAR < i)
    return far * step * np.uint64(2) > end - begin


@njit(**INNER)
def walk_rows(indptr, indices, begin, end):
    noinline()
    total, scattered = U0, is_scattered(indptr, indices, begin, end)
    for i in range(begin, end):
        if scattered and i + AHEAD + AHEAD < end:
            v = i + AHEAD + AHEAD
            for place in range(np.uint64(indptr[v]), np.uint64(indptr[v + U1])):
                if np.uint64(indices[place]) >= v:
                    break
                prefetch(indptr, indices[place])
            v = i + AHEAD
            for place in range(np.uint64(indptr[v]), np.uint64(indptr[v + U1])):
                if np.uint64(indices[place]) >= v:
                    break
                prefetch(indices, indptr[indices[place]])
        first, last = np.uint64(indptr[i]), np.uint64(indptr[i + U1])
        place = first + U1  # no triangle has the first neighbour as j: no neighbour comes before it
        while place < last and np.uint64(indices[place]) < i:
            j = indices[place]
            p, q, stop = first, np.uint64(indptr[j]), np.uint64(indptr[np.uint64(j) + U1])
            if last - first > LONGER * (stop - q):
                total += count_in_long_row(indices, q, stop, j, first, place)
            elif stop - q > LONGER * (last - first):
                total += count_in_long_row(indices, first, place, j, q, stop)
            else:
                while q < stop:
                    k = indices[q]
                    if k >= j:
                        break
                    while indices[p] < k:  # the row has j itself, which is greater
                        p += U1
                    total += np.uint64(indices[p] == k)
                    q += U1
            place += U1
    return total


@njit(**INNER)
def work(A, _, board, me):
    """One thread's part."""
    noinline()
    total, n = U0, board[crew.JOB_END]
    while True:
        begin, end = crew.next_chunk(board)
        if begin >= n:
            break
        total += walk_rows(A.indptr, A.indices, np.uint64(begin), np.uint64(end))
    ordered_add(board, crew.FOUND, np.int64(total))


assist = team.assistance(work)


@njit(**COMPILED)
def walk(A, board, threads, cells, helpers, me):
    """One thread's part: number 0 leads, others help."""
    if me != 0:
        assist(cells, A, A, board)
        return
    team.lend(cells, (A, A, board))
    team.open_offer(cells, helpers)
    n = A.indptr.size - 1
    size = max(64, min(policy.MAX_ROWS_PER_CHUNK, n // (policy.CHUNKS_PER_THREAD_OF_ROWS * threads)))
    crew.open_job(board, 0, 0, n, size, 0, 0, 0)
    work(uncounted(A), A, board, np.int64(0))
    crew.close_job(board)
    team.close_offer(cells, helpers, board)


@njit(**COMPILED)
def count_marked(begins, lower, core, marks, end, size, board):
    """For every vertex i and every neighbour j before it, count the neighbours before j that they have in common.

    marks: one row of bits per thread, all 0 before and after.
    """
    begins, lower, core = uncounted((begins, lower, core))
    bits, total = uncounted(marks[atomic_add(board, crew.NEXT_WORKER, 1)]), U0
    while True:
        begin = atomic_add(board, crew.NEXT_CHUNK, size)
        if begin >= end:
            break
        for i in range(np.uint64(begin), np.uint64(min(begin + size, end))):
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
    ordered_add(board, crew.FOUND, np.int64(total))


def count_triangles(part, _most):
    """How many triangles there are."""
    n, m = len(part.indptr) - 1, len(part.indices)
    some = part.indices[:: m // SAMPLED + 1]  # neighbours: hubs are found where they matter
    if (part.indptr[some + 1] - part.indptr[some]).sum() > policy.SHORT_ROWS * len(some):
        L = lower_rows(part)
        with compiling(count_marked):
            board = crew.share(count_marked, (*L.rows, new_marks(n, m)), n, m, None, policy.ROWS_OF_TRIANGLES)
        return int(board[crew.FOUND])
    threads = min(crew.crew_size(m, None), policy.MAX_TEAM + 1)
    A, board = unsigned_rows(part), crew.new_board()
    with compiling(walk):
        team.lead(threads - 1, walk, (A, board, threads), A.indptr.itemsize)
    return int(board[crew.FOUND])
