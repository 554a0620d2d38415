"""Triangles on the CPU: the masked product L · Lᵀ, summed up as it is made, from the rows of A as they are.

For every vertex i and every neighbour j before it, the neighbours before j that they have in common are counted:

    WALK    in short rows, as in meshes, by walking two rows side by side; nothing is prepared
    LONG    in long rows by marking those of i as bits, which the rows of its neighbours look up; it pays to know first
            how many entries of a row lie before the vertex (MEASURE)

Where one row is much longer than the other, the entries of the shorter one are searched for in it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hopwave.engines.cpu import crew, policy, team
from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.integers import U0, U1, U6, U63
from hopwave.engines.cpu.intrinsics import COMPILED, INNER, noinline, ordered_add, prefetch, uncounted
from hopwave.engines.cpu.linalg.vector_kernels import locate
from hopwave.engines.cpu.policy import HALVINGS, MUCH_LONGER
from hopwave.engines.cpu.views import new_array, unsigned_rows
from hopwave.system.numba_cache import njit

WALK, LONG, MEASURE, LOOKS = range(4)  # jobs
LONGER = np.uint64(MUCH_LONGER)
FEW = np.uint64(16)  # entries left of a row from which on they are looked at one by one
AHEAD = np.uint64(4)  # vertices ahead whose neighbours' rows are fetched into the cache
FAR = np.uint64(4096)  # vertices between two that share no cache line


class Counting(NamedTuple):
    """The arrays of one run."""

    lengths: Any  # how many of a row's entries lie below the diagonal, where rows are long
    marks: Any  # one row of bits per thread, all 0 before and after


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
def long_rows(indptr, indices, lengths, bits, begin, end):
    noinline()
    total = U0
    for i in range(begin, end):
        first = np.uint64(indptr[i])
        last = first + np.uint64(lengths[i])
        if last - first <= U1:
            continue
        for place in range(first, last):
            k = np.uint64(indices[place])
            bits[k >> U6] |= U1 << (k & U63)
        for place in range(first, last):
            j = indices[place]
            q = np.uint64(indptr[j])
            stop = q + np.uint64(lengths[j])
            if stop - q > LONGER * (last - first):
                total += count_in_long_row(indices, first, place, j, q, stop)
                continue
            while q < stop:
                k = np.uint64(indices[q])
                total += (bits[k >> U6] >> (k & U63)) & U1
                q += U1
        for place in range(first, last):
            bits[np.uint64(indices[place]) >> U6] = U0
    return total


@njit(**INNER)
def measure_rows(indptr, indices, lengths, begin, end):
    """Find the lengths of rows below the diagonal; returns how many entries are looked at without searching any."""
    noinline()
    looks = U0
    for i in range(begin, end):
        first, last = np.uint64(indptr[i]), np.uint64(indptr[i + U1])
        low, high = first, last
        while high - low > FEW:
            middle = (low + high) >> U1
            if np.uint64(indices[middle]) < i:
                low = middle + U1
            else:
                high = middle
        while low < high and np.uint64(indices[low]) < i:
            low += U1
        lengths[i] = np.uint32(low - first)
        looks += (low - first) * (last - low)
    return looks


@njit(**INNER)
def looks_of_rows(indptr, indices, lengths, begin, end):
    """How many entries are looked at, about."""
    noinline()
    looks = U0
    for i in range(begin, end):
        first, length = np.uint64(indptr[i]), np.uint64(lengths[i])
        for place in range(first, first + length):
            other = np.uint64(lengths[indices[place]])
            looks += length * np.uint64(HALVINGS) if other > LONGER * length else other
    return looks


@njit(**INNER)
def work(A, W, board, me):
    """One thread's part in a job."""
    noinline()
    kind, total, n = board[crew.JOB_KIND], U0, board[crew.JOB_END]
    indptr, indices, lengths, bits = A.indptr, A.indices, W.lengths, W.marks[me]
    while True:
        first, stop = crew.next_chunk(board)
        if first >= n:
            break
        begin, end = np.uint64(first), np.uint64(stop)
        if kind == WALK:
            total += walk_rows(indptr, indices, begin, end)
        elif kind == LONG:
            total += long_rows(indptr, indices, lengths, bits, begin, end)
        elif kind == MEASURE:
            total += measure_rows(indptr, indices, lengths, begin, end)
        else:
            total += looks_of_rows(indptr, indices, lengths, begin, end)
    ordered_add(board, crew.FOUND, np.int64(total))


@njit(**INNER)
def together(A, W, board, kind, threads):
    """Post a job over all rows, work on it, and wait for the helpers. Returns the sum over all rows."""
    noinline()
    n = A.indptr.size - 1
    size = max(64, min(policy.MAX_ROWS_PER_CHUNK, n // (policy.CHUNKS_PER_THREAD_OF_ROWS * threads)))
    crew.open_job(board, kind, 0, n, size, 0, 0, 0)
    work(A, W, board, np.int64(0))
    crew.close_job(board)
    return board[crew.FOUND]


@njit(**INNER)
def lead(A, W, board, kind, most, threads):
    """How many triangles there are; -1 where long rows would be looked at too often."""
    long = kind == LONG and together(A, W, board, MEASURE, threads) > most
    if long and together(A, W, board, LOOKS, threads) > most:
        return np.int64(-1)
    return together(A, W, board, kind, threads)


assist = team.assistance(work)


@njit(**COMPILED)
def count(A, W, board, kind, most, threads, found, cells, helpers, me):
    """One thread's part: number 0 leads, others help."""
    if me != 0:
        assist(cells, A, W, board)
        return
    team.lend(cells, (A, W, board))
    team.open_offer(cells, helpers)
    found[0] = lead(uncounted(A), uncounted(W), board, kind, most, threads)
    team.close_offer(cells, helpers, board)


def count_triangles(part, most):
    """How many triangles there are; None where that would take more than `most` looks at entries."""
    n, m = len(part.indptr) - 1, len(part.indices)
    kind = WALK if m <= policy.SHORT_ROWS * n else LONG
    threads = min(crew.crew_size(m, None), policy.MAX_TEAM + 1)
    A, found = unsigned_rows(part), np.zeros(1, np.int64)
    words = 0 if kind == WALK else n // 64 + 1
    W = Counting(new_array(n if kind == LONG else 0, np.uint32), np.zeros((threads, words), np.uint64))
    with compiling(count):
        team.lead(threads - 1, count, (A, W, crew.new_board(), kind, most, threads, found), A.indptr.itemsize)
    return None if found[0] < 0 else int(found[0])
