"""Triangles on the CPU: for every vertex i and every neighbour j before it, the neighbours before j that they have in
common are counted. In short rows, as in meshes, by walking two rows side by side; nothing is prepared. In long rows by
marking those of i as bits (lower_rows.py).
"""

from __future__ import annotations

from math import isqrt

import numpy as np

from hopwave.engines.cpu import crew, policy, team
from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.integers import U0, U1
from hopwave.engines.cpu.intrinsics import COMPILED, INNER, noinline, ordered_add, prefetch, uncounted
from hopwave.engines.cpu.linalg.lower_rows import LowerRows, marked_rows, measure_rows, take_rows
from hopwave.engines.cpu.linalg.vector_kernels import locate
from hopwave.engines.cpu.views import new_array, unsigned_rows
from hopwave.system.numba_cache import njit

WALK, MEASURE, TAKE, MARK = range(4)  # jobs
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
def work(A, W, board, me):
    """One thread's part in a job."""
    noinline()
    kind, total, n = board[crew.JOB_KIND], U0, board[crew.JOB_END]
    bits = uncounted(W.marks[me])
    while True:
        first, stop = crew.next_chunk(board)
        if first >= n:
            break
        begin, end = np.uint64(first), np.uint64(stop)
        if kind == WALK:
            total += walk_rows(A.indptr, A.indices, begin, end)
        elif kind == MEASURE:
            total += measure_rows(A.indptr, A.indices, W.order, W.rank, W.begins, begin, end)
        elif kind == TAKE:
            take_rows(A.indptr, A.indices, W.order, W.rank, W.begins, W.lower, W.core, begin, end)
        else:
            total += marked_rows(W.begins, W.lower, W.core, bits, begin, end)
    ordered_add(board, crew.FOUND, np.int64(total))


@njit(**INNER)
def lead(A, W, board, kind, size):
    """One job over all rows."""
    crew.open_job(board, kind, 0, A.indptr.size - 1, size, 0, 0, 0)
    work(A, W, board, np.int64(0))
    crew.close_job(board)


part_of = team.led(lead, work)


@njit(**COMPILED)
def run(A, W, board, kind, size, cells, helpers, me):
    """One thread's part: number 0 leads, others help."""
    part_of(A, W, board, (kind, size), cells, helpers, me)


def together(kind, A, W):
    """One job by all threads: the sum of what they found."""
    n, threads, board = len(A.indptr) - 1, len(W.marks), crew.new_board()
    size = max(64, min(policy.MAX_ROWS_PER_CHUNK, n // (policy.CHUNKS_PER_THREAD_OF_ROWS * threads)))
    with compiling(run):
        team.lead(
            threads - 1, run, (A, W, board, kind, policy.ROWS_OF_TRIANGLES if kind == MARK else size), A.indptr.itemsize
        )
    return int(board[crew.FOUND])


def lower_rows(part):
    """The rows of a symmetric pattern and the neighbours before every vertex."""
    A, n, m = unsigned_rows(part), len(part.indptr) - 1, len(part.indices)
    inner = min(n, policy.MOST_OF_CORE, isqrt(policy.BITS_OF_CORE * m))
    core = np.zeros((inner, inner // 64 + 1), np.uint64)
    W = unprepared(m, n // 64 + 1)._replace(begins=np.zeros(n + 1, np.int64), core=core)
    if together(MEASURE, A, W) > policy.LOOKS_WORTH_SORTING * m:
        shortest_last = 65535 - np.minimum(np.diff(part.indptr), 65535).astype(np.uint16)
        order, rank = np.argsort(shortest_last, kind="stable").astype(np.uint32), np.empty(n, np.uint32)
        rank[order] = np.arange(n, dtype=np.uint32)
        W = W._replace(order=order, rank=rank)
        together(MEASURE, A, W)
    np.cumsum(W.begins, out=W.begins)
    W = W._replace(lower=new_array(int(W.begins[-1]), np.uint32))
    together(TAKE, A, W)
    return A, W


def unprepared(m, words):
    """Marks for all threads, and no rows."""
    threads, none = min(crew.crew_size(m, None), policy.MAX_TEAM + 1), np.empty(0, np.uint32)
    marks = np.zeros((threads, words), np.uint64)
    return LowerRows(none, none, np.empty(0, np.int64), none, np.empty((0, 0), np.uint64), marks)


def count_triangles(part):
    """How many triangles there are."""
    m = len(part.indices)
    some = part.indices[:: m // SAMPLED + 1]  # neighbours: hubs are found where they matter
    if (part.indptr[some + 1] - part.indptr[some]).sum() > policy.SHORT_ROWS * len(some):
        return together(MARK, *lower_rows(part))
    return together(WALK, unsigned_rows(part), unprepared(m, 0))
