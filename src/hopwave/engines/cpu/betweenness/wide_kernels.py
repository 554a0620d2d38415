"""Betweenness from one source on all threads, compiled. See betweenness/wide.py.

    A   the graph, an Adjacency        W   the arrays of this source, a WideState

`front` holds the values that the next level gathers, and 0 for all other vertices: σ of the frontier on the way out,
the shares of the level behind on the way back. A vertex then adds up front over its whole row, without a look at
depths.
Every sum is in the order of its row, whichever thread makes it: the number of threads changes no bit.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from hopwave.engines.cpu.crew import (
    EDGES,
    JOB_CHUNK,
    JOB_DEPTH,
    JOB_END,
    JOB_FLAGS,
    JOB_KIND,
    NEXT_CHUNK,
    TAIL,
    close_job,
    dismiss,
    join_job,
    leave_job,
    open_job,
)
from hopwave.engines.cpu.intrinsics import (
    COMPILED,
    INNER,
    ONE,
    U0,
    U1,
    U6,
    U8,
    U16,
    U63,
    atomic_add,
    noinline,
    ordered_add,
    prefetch,
    trailing_zeros,
)
from hopwave.engines.cpu.path_counts import LARGEST, rescale_level
from hopwave.engines.cpu.search.frontier import choose
from hopwave.engines.cpu.search.loop import copy_chunk, gather_chunk, pull_chunk, push_chunk
from hopwave.engines.cpu.search.steps import flush, mark_up, push_shared
from hopwave.engines.cpu.team import (
    ADDRESS,
    CLAIMED,
    PRESENT,
    READERS,
    WANTED,
    await_offer,
    borrow,
    close_offer,
    lend,
    open_offer,
)
from hopwave.machine_code import njit

# parent, queue, buffers: as in a search (search/steps.py); scratch: a bitmap that nobody reads; sums: one row per
# worker, with the columns below; levels: where each begins in the queue, and the shift of its σ̂.
WideState = namedtuple("WideState", "parent queue visited scratch buffers sigma front total targets sums levels")
FOUND_SUM, DUE, COUNTED, GREATEST = range(4)
SUM_COLUMNS = 16  # two cache lines
BEGINS, SHIFT = range(2)

# Cells of limits; EXACT: stop where a path count does not fit into the 53 bits of a float64.
CUTOFF, THREADS, ENDPOINTS, DEGREE_BITS, FINDABLE, PULLS, EXACT = range(7)
LIMIT_CELLS = 7
MOST_EXACT = 2.0**53

# Cells of `done`: sources that are in the total, and how the last one ended.
DONE, OUTCOME = range(2)
ADDED, TOO_WIDE = np.int64(0), np.int64(1)

INIT, PUSH, MARK, PULL, COUNT, TURN, BACK = (np.int64(kind) for kind in range(7))


@njit(**INNER)
def pull_counting(A, W, board, me, end, size):
    """Unvisited vertices add up the counts of their in-neighbours in the frontier."""
    noinline()
    in_indptr, in_indices, front, sigma = A.in_indptr, A.in_indices, W.front, W.sigma
    visited, parent, queue, buffer = W.visited, W.parent, W.queue, W.buffers[me]
    capacity, kept, edges, greatest = np.uint64(buffer.size), U0, 0, W.sums[me, GREATEST]
    while True:
        begin = atomic_add(board, NEXT_CHUNK, size)
        if begin >= end:
            break
        for w in range(np.uint64(begin), np.uint64(min(begin + size, end))):
            rows = ~visited[w]
            fresh = U0
            base = w << U6
            while rows != U0:
                bit = trailing_zeros(rows)
                rows &= rows - U1
                v = base + bit
                paths = 0.0
                for j in range(np.uint64(in_indptr[v]), np.uint64(in_indptr[v + U1])):
                    paths += front[in_indices[j]]
                if paths > 0.0:
                    sigma[v] = paths
                    greatest = max(greatest, paths)
                    edges -= parent[v] + 1
                    parent[v] = 0
                    fresh |= U1 << bit
                    if kept == capacity:
                        flush(buffer, kept, queue, board)
                        kept = U0
                    buffer[kept] = np.uint32(v)
                    kept += U1
            visited[w] |= fresh
    flush(buffer, kept, queue, board)
    ordered_add(board, EDGES, edges)
    W.sums[me, GREATEST] = greatest


@njit(**INNER)
def count_found(A, W, board, me, end, size):
    """The same for vertices that a push has found."""
    noinline()
    in_indptr, in_indices, queue, front, sigma = A.in_indptr, A.in_indices, W.queue, W.front, W.sigma
    greatest = W.sums[me, GREATEST]
    last = np.uint64(end)
    while True:
        begin = atomic_add(board, NEXT_CHUNK, size)
        if begin >= end:
            break
        for i in range(np.uint64(begin), np.uint64(min(begin + size, end))):
            if i + U16 < last:
                prefetch(in_indptr, queue[i + U16])
                prefetch(in_indices, in_indptr[queue[i + U8]])
            v = queue[i]
            paths = 0.0
            for j in range(np.uint64(in_indptr[v]), np.uint64(in_indptr[v + ONE])):
                paths += front[in_indices[j]]
            sigma[v] = paths
            greatest = max(greatest, paths)
    W.sums[me, GREATEST] = greatest


@njit(**INNER)
def gather_back(A, W, board, me, end, size, level, flags):
    """δ of a level is added to the total; sigma becomes what its predecessors take their share of.

    flags: 1 where the level has successors, 2 for endpoints.
    """
    noinline()
    indptr, indices, queue, front, sigma, total = A.indptr, A.indices, W.queue, W.front, W.sigma, W.total
    targets, shift = W.targets, W.levels[level, SHIFT]
    factor = 2.0 ** np.float64(-shift) if shift else 1.0
    extra = 1.0 if flags & 2 else 0.0
    found, due, counted = 0.0, 0.0, 0.0
    last = np.uint64(end)
    while True:
        begin = atomic_add(board, NEXT_CHUNK, size)
        if begin >= end:
            break
        for i in range(np.uint64(begin), np.uint64(min(begin + size, end))):
            if i + U16 < last:
                prefetch(indptr, queue[i + U16])
                prefetch(indices, indptr[queue[i + U8]])
                prefetch(sigma, queue[i + U8])
                prefetch(total, queue[i + U8])
            u = queue[i]
            gathered = 0.0
            if flags & 1:
                for j in range(np.uint64(indptr[u]), np.uint64(indptr[u + ONE])):
                    gathered += front[indices[j]]
            paths = sigma[u]
            delta = paths * gathered
            weight = 1.0 if targets.size == 0 else targets[u]
            sigma[u] = (weight + delta) / paths * factor
            total[u] += delta + extra * weight
            found += delta
            due += (level - 1) * weight
            counted += weight
    W.sums[me, FOUND_SUM] += found
    W.sums[me, DUE] += due
    W.sums[me, COUNTED] += counted


@njit(**INNER)
def turn(W, begin, end, middle, first_is_new):
    """front of queue[begin:end]: σ for the new level, 0 for the old one. The two meet at `middle`."""
    noinline()
    queue, front, sigma = W.queue, W.front, W.sigma
    for i in range(np.uint64(begin), np.uint64(end)):
        v = queue[i]
        front[v] = sigma[v] if (np.int64(i) < middle) == first_is_new else 0.0


@njit(**INNER)
def forget(parent, front, unvisited, begin, end):
    noinline()
    for v in range(begin, end):
        parent[v] = unvisited[v]
    for v in range(begin, end):
        front[v] = 0.0


@njit(**INNER)
def work(A, W, board, me):
    """One worker's share of the open job."""
    noinline()
    kind, end, size = board[JOB_KIND], board[JOB_END], board[JOB_CHUNK]
    if kind == PUSH:
        push_shared(A, W, board, me, end, size)
    elif kind == PULL:
        pull_counting(A, W, board, me, end, size)
    elif kind == COUNT:
        count_found(A, W, board, me, end, size)
    elif kind == BACK:
        gather_back(A, W, board, me, end, size, board[JOB_DEPTH], board[JOB_FLAGS])
    else:
        while True:
            begin = atomic_add(board, NEXT_CHUNK, size)
            if begin >= end:
                return
            stop = min(begin + size, end)
            if kind == TURN:
                turn(W, begin, stop, board[JOB_DEPTH], board[JOB_FLAGS] != 0)
            elif kind == MARK:
                mark_up(W.parent, W.visited, W.scratch, A.closed, begin, stop)
            else:
                forget(W.parent, W.front, A.unvisited, np.uint64(begin), np.uint64(stop))


@njit(**INNER)
def together(A, W, board, kind, begin, end, size, depth, flags):
    """A job, from its opening to its end."""
    noinline()
    open_job(board, kind, begin, end, size, depth, flags, np.int64(0))
    work(A, W, board, np.int64(0))
    close_job(board)


@njit(**INNER)
def way_out(A, W, board, source, limits, rule):
    """Path counts, level after level. Returns how many levels there are; 0 where a level is too wide."""
    noinline()
    queue, levels, sums = W.queue, W.levels, W.sums
    n, words, threads, bits = W.parent.size, W.visited.size, limits[THREADS], limits[DEGREE_BITS]
    m = np.int64(A.indptr[n])
    together(A, W, board, INIT, np.int64(0), n, copy_chunk(n, threads), np.int64(0), np.int64(0))
    sums[:, :] = 0.0
    nf, mf = np.int64(1), -np.int64(W.parent[source]) - 1
    W.parent[source], W.sigma[source], W.front[source], queue[0] = np.int32(source), 1.0, 1.0, np.uint32(source)
    levels[0, BEGINS], levels[1, BEGINS], levels[0, SHIFT] = 0, 1, 0
    mu, nf0, mf0, last, bound, marked = m - mf, np.int64(0), np.int64(0), np.int64(-1), np.int64(0), np.int64(0)
    v = np.uint64(source)
    findable = limits[FINDABLE] + np.int64((A.closed[v >> U6] >> (v & U63)) & U1)
    count = np.int64(1)
    while count <= limits[CUTOFF] and levels[count, BEGINS] < findable:
        begin, end = levels[count - 1, BEGINS], levels[count, BEGINS]
        choice = limits[PULLS] // 2
        if limits[PULLS] == 1:
            choice = choose(np.int64(rule[0]), rule[1], rule[2], n, m, nf, mf, mu, nf0, mf0, last)
        board[TAIL] = end
        if choice:
            if marked != end:
                together(A, W, board, MARK, np.int64(0), words, pull_chunk(words, threads), np.int64(0), np.int64(0))
            together(A, W, board, PULL, np.int64(0), words, pull_chunk(words, threads), np.int64(0), np.int64(0))
        else:
            together(A, W, board, PUSH, begin, end, push_chunk(nf, mf, threads), np.int64(0), np.int64(0))
        tail, edges = board[TAIL], board[EDGES]
        nf0, mf0, last, nf, mf = nf, mf, choice, tail - end, edges
        if nf == 0:
            break
        if choice:
            marked = tail
        else:
            together(A, W, board, COUNT, end, tail, gather_chunk(nf, threads), np.int64(0), np.int64(0))
        mu -= mf
        bound += bits
        levels[count, SHIFT] = 0
        if limits[EXACT] and sums[:, GREATEST].max() >= MOST_EXACT:
            return np.int64(0)
        if bound + bits > LARGEST:
            bound, shift = rescale_level(W.sigma, queue, end, tail, bits)
            if shift < 0:
                return np.int64(0)
            levels[count, SHIFT] = shift
        together(A, W, board, TURN, begin, tail, copy_chunk(tail - begin, threads), end, np.int64(0))
        count += 1
        levels[count, BEGINS] = tail
    return count


@njit(**INNER)
def way_back(A, W, board, count, limits):
    """From the last level to the first behind the source."""
    noinline()
    levels, threads, endpoints = W.levels, limits[THREADS], limits[ENDPOINTS]
    stop = levels[count, BEGINS]
    # What the way out left in front are path counts of the last level.
    for level in range(count - 1, 0, -1):
        begin, end = levels[level, BEGINS], levels[level + 1, BEGINS]
        flags = np.int64(level < count - 1) | endpoints << 1
        together(A, W, board, BACK, begin, end, gather_chunk(end - begin, threads), np.int64(level), flags)
        together(A, W, board, TURN, begin, stop, copy_chunk(stop - begin, threads), end, np.int64(1))
        stop = end


@njit(**INNER)
def assist(team, me, A, W, board):
    """A helper's part in one source. A, W and board tell only the types."""
    noinline()
    A, W, board = borrow(team, ADDRESS, (A, W, board))
    ordered_add(team, READERS, -1)
    joined = np.int64(0)
    while True:
        joined = join_job(board, joined, me)
        if joined < 0:
            return
        work(A, W, board, me)
        leave_job(board)


@njit(**COMPILED)
def take_part(A, W, board, source, limits, rule, certificate, done, team, helpers, me):
    """One thread's part: number 0 leads, others help with one source after another."""
    if me == 0:
        if helpers:
            lend(team, ADDRESS, (A, W, board))
            open_offer(team, helpers)
        count = way_out(A, W, board, source, limits, rule)
        done[OUTCOME] = TOO_WIDE
        if count:
            way_back(A, W, board, count, limits)
            sums = W.sums
            counted = 0.0
            for i in range(sums.shape[0]):
                certificate[0] += sums[i, FOUND_SUM]
                certificate[1] += sums[i, DUE]
                counted += sums[i, COUNTED]
            if limits[ENDPOINTS]:
                W.total[source] += counted  # the source is an end of every path
            done[OUTCOME] = ADDED
            done[DONE] += 1
        dismiss(board)
        if helpers:
            close_offer(team)
        return
    ordered_add(team, PRESENT, 1)
    offer = np.int64(0)
    while True:
        offer = await_offer(team, offer)
        if offer < 0:
            break
        number = ordered_add(team, CLAIMED, 1) + 1
        if number > team[WANTED]:
            ordered_add(team, READERS, -1)
        else:
            assist(team, number, A, W, board)
    ordered_add(team, PRESENT, -1)
