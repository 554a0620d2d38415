"""Triangles on the CPU, of a graph or of every vertex.

For every vertex i and every earlier neighbour j, the common neighbours before j are counted: in short rows by merging
both, in long rows by marking the neighbours of i as bits. If rows would be read too often, vertices are numbered by
descending degree; the rows of the first vertices, the core, are also stored as bits.
"""

from collections import namedtuple
from math import isqrt

import numpy as np

from hopwave.engines.cpu import crew, policy, team
from hopwave.engines.cpu import intrinsics as asm
from hopwave.engines.cpu.integers import U0, U1, U6, U63
from hopwave.engines.cpu.intrinsics import inner, noinline, outer
from hopwave.engines.cpu.linalg.vector_kernels import locate
from hopwave.engines.cpu.views import new_array, unsigned_rows

WALK, MEASURE, TAKE, MARK = range(4)  # jobs
LONGER = np.uint64(policy.MUCH_LONGER)
FEW = np.uint64(16)  # remaining entries of a row that are read one by one
VERTICES_AHEAD = np.uint64(4)  # prefetch distance (vertices) for the neighbours' rows
SAMPLED = 256  # sampled arcs that show whether rows are long
FAR = np.uint64(4096)  # minimum difference of vertices that share no cache line
AHEAD = np.uint64(2)  # prefetch distance (neighbours) for their rows

# order, rank: the vertex of each row and the row of each vertex, empty if rows are in order; begins, lower: the rows;
# core: the first rows as bits; marks: a row of bits per thread, all 0 before and after
LowerRows = namedtuple("LowerRows", "order rank begins lower core marks")


@inner
def count_in_long_row(indices, p, stop, j, begin, end):
    """The number of entries p to stop, below j, that are among the entries begin to end; each is searched for."""
    count = U0
    while p < stop and indices[p] < j:
        begin = locate(indices, begin, end, indices[p])
        if begin == end:
            break
        count += np.uint64(indices[begin] == indices[p])
        p += U1
    return count


@inner
def is_scattered(indptr, indices, begin, end):
    far, step = U0, (end - begin) // FEW + U1
    for i in range(begin, end, step):
        if indptr[i] < indptr[i + U1]:
            far += np.uint64(np.uint64(indices[indptr[i]]) + FAR < i)
    return far * step * np.uint64(2) > end - begin


@inner
def walk_rows(indptr, indices, begin, end):
    noinline()
    total, scattered = U0, is_scattered(indptr, indices, begin, end)
    for i in range(begin, end):
        if scattered and i + VERTICES_AHEAD + VERTICES_AHEAD < end:
            v = i + VERTICES_AHEAD + VERTICES_AHEAD
            for place in range(np.uint64(indptr[v]), np.uint64(indptr[v + U1])):
                if np.uint64(indices[place]) >= v:
                    break
                asm.prefetch(indptr, indices[place])
            v = i + VERTICES_AHEAD
            for place in range(np.uint64(indptr[v]), np.uint64(indptr[v + U1])):
                if np.uint64(indices[place]) >= v:
                    break
                asm.prefetch(indices, indptr[indices[place]])
        first, last = np.uint64(indptr[i]), np.uint64(indptr[i + U1])
        place = first + U1  # the first neighbour has no earlier neighbour, so no triangle has it as j
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
                    while indices[p] < k:  # the row contains j itself, which is larger
                        p += U1
                    total += np.uint64(indices[p] == k)
                    q += U1
            place += U1
    return total


# ------------------------------------------------------------------ rows of earlier neighbours


@inner
def measure_rows(indptr, indices, order, rank, begins, begin, end):
    """begins[i + 1] = the number of neighbours before i; returns how often their rows would be read."""
    noinline()
    looks = U0
    for i in range(begin, end):
        v = np.uint64(order[i]) if order.size else i
        first, last, found = np.uint64(indptr[v]), np.uint64(indptr[v + U1]), U0
        for j in range(first, last):
            found += np.uint64((rank[indices[j]] if rank.size else indices[j]) < i)
        begins[i + U1] = found
        looks += found * (last - first - found)
    return looks


@inner
def take_rows(indptr, indices, order, rank, begins, lower, core, begin, end):
    """Write the earlier neighbours of every vertex, by new numbers, starting at begins[i], and the core's as bits."""
    noinline()
    for i in range(begin, end):
        v = np.uint64(order[i]) if order.size else i
        j, place, stop = np.uint64(indptr[v]), np.uint64(begins[i]), np.uint64(begins[i + U1])
        while place < stop:
            k = np.uint64(rank[indices[j]] if rank.size else indices[j])
            lower[place] = np.uint32(k)  # branch-free: a branch would often be mispredicted
            place += np.uint64(k < i)
            j += U1
        if i < np.uint64(core.shape[0]):
            for place in range(np.uint64(begins[i]), stop):
                k = np.uint64(lower[place])
                core[i, k >> U6] |= U1 << (k & U63)


@inner
def mark(begins, lower, bits, first, last):
    """Mark the neighbours of a vertex, and prefetch the starts of their rows."""
    for place in range(first, last):
        k = np.uint64(lower[place])
        bits[k >> U6] |= U1 << (k & U63)
        asm.prefetch(begins, k)


@inner
def unmark(lower, bits, first, last):
    for place in range(first, last):
        bits[np.uint64(lower[place]) >> U6] = U0


@inner
def fetch(begins, lower, core, place, last):
    if place + AHEAD < last:
        j = np.uint64(lower[place + AHEAD])
        if j < np.uint64(core.shape[0]):
            asm.prefetch(core, j)
        else:
            asm.prefetch(lower, begins[j])


@inner
def row_of(begins, core, j):
    """Start and end of a vertex's row, and its number of words of bits, 0 if its list is shorter."""
    first, last, words = np.uint64(begins[j]), np.uint64(begins[j + U1]), (j >> U6) + U1
    return first, last, words if j < np.uint64(core.shape[0]) and words < last - first else U0


@inner
def marked_rows(begins, lower, core, bits, begin, end):
    noinline()
    total, (begins, lower, core, bits) = U0, asm.uncounted((begins, lower, core, bits))
    for i in range(begin, end):
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
                    found += asm.count_ones(core[j, w] & bits[w])
                total += np.uint64(found)
            else:
                for other in range(p, stop):
                    k = np.uint64(lower[other])
                    total += (bits[k >> U6] >> (k & U63)) & U1
        unmark(lower, bits, first, last)
    return total


# ------------------------------------------------------------------ all triangles


@inner
def work(A, W, board, me):
    noinline()
    kind, total, n = board[crew.JOB_KIND], U0, board[crew.JOB_END]
    bits = asm.uncounted(W.marks[me])
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
    asm.ordered_add(board, crew.FOUND, np.int64(total))


part_of = team.led(team.chunks(work), work)


@outer
def run(A, W, board, kind, size, cells, helpers, me):
    part_of(A, W, board, (kind, 0, A.indptr.size - 1, size, 0, 0, 0), cells, helpers, me)


def together(kind, A, W):
    n, threads, board = len(A.indptr) - 1, len(W.marks), crew.new_board()
    size = max(64, min(policy.MAX_ROWS_PER_CHUNK, n // (policy.CHUNKS_PER_THREAD_OF_ROWS * threads)))
    part = A, W, board, kind, policy.ROWS_OF_TRIANGLES if kind == MARK else size
    team.lead(threads - 1, run, part, A.indptr.itemsize)
    return int(board[crew.FOUND])


def lower_rows(part):
    """The rows of a symmetric pattern, and the earlier neighbours of every vertex."""
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
    threads, none = team.size_for(m), np.empty(0, np.uint32)
    marks = np.zeros((threads, words), np.uint64)
    return LowerRows(none, none, np.empty(0, np.int64), none, np.empty((0, 0), np.uint64), marks)


def count_triangles(part):
    m = len(part.indices)
    some = part.indices[:: m // SAMPLED + 1]  # a sample of neighbours, in which hubs are likely
    if (part.indptr[some + 1] - part.indptr[some]).sum() > policy.SHORT_ROWS * len(some):
        return together(MARK, *lower_rows(part))
    return together(WALK, unsigned_rows(part), unprepared(m, 0))


# ------------------------------------------------------------------ the triangles of every vertex


@outer
def count_corners(begins, lower, core, marks, common, counts, end, size, board):
    """Count triangles at each corner; per worker: marks, 0 between rows, space for common neighbours, and counts."""
    worker = asm.atomic_add(board, crew.NEXT_WORKER, 1)
    begins, lower, core = asm.uncounted((begins, lower, core))
    bits, both, own = asm.uncounted(marks[worker]), common[worker], counts[worker]
    while True:
        begin = asm.atomic_add(board, crew.NEXT_CHUNK, size)
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
                        both[found] = np.uint32((w << U6) + asm.trailing_zeros(shared))
                        found += U1
                        shared &= shared - U1
                for other in range(p, p if words else stop):
                    k = np.uint64(lower[other])
                    both[found] = np.uint32(k)  # branch-free: a branch would often be mispredicted
                    found += (bits[k >> U6] >> (k & U63)) & U1
                for other in range(found):
                    own[both[other]] += U1
                own[j] += found
                of_all += found
            own[i] += of_all
            unmark(lower, bits, first, last)


@outer
def add_up(counts, order, found, end, size, board):
    """found = the sums of all workers' counts, by the old numbers."""
    while True:
        begin = asm.atomic_add(board, crew.NEXT_CHUNK, size)
        if begin >= end:
            return
        for i in range(begin, min(begin + size, end)):
            total = U0
            for worker in range(counts.shape[0]):
                total += counts[worker, i]
            found[order[i] if order.size else i] = total


def triangles_each(part):
    """The number of triangles at each vertex, int64. One thread finds each once and counts it at its corners."""
    n, m = len(part.indptr) - 1, len(part.indices)
    found, (_, W) = np.empty(n, np.int64), lower_rows(part)
    workers, longest = len(W.marks), int(np.diff(W.begins).max(initial=0))
    counts = np.zeros((workers, n), np.uint64)
    common = np.empty((workers, longest + 64), np.uint32)  # one more than the longest row, and no shared cache line
    rows = W.begins, W.lower, W.core, W.marks
    crew.share(count_corners, (*rows, common, counts), n, m, workers, policy.ROWS_OF_TRIANGLES)
    crew.share(add_up, (counts, W.order, found.view(np.uint64)), n, workers * n, workers)
    return found
