"""Betweenness from one source on all threads, compiled. See betweenness/wide.py.

    A   the graph, an Adjacency        W   the arrays of this source, a WideState

The way out pushes while that looks at fewer arcs. Path counts below 2^53 are exact in any order, so a push adds them up
by atomics. Beyond, vertices that were found gather them along their rows, as they do in a pull.

The way back gathers along rows. Where the level behind has far fewer arcs, every thread goes through all of these and
adds up what belongs to its own part of the vertices.

Two bitmaps take turns: one of the level whose values are gathered, one of the level that gathers them. On the way out
the values are path counts σ̂, on the way back shares of dependencies, both in `sigma`. Every sum that is rounded is in
the order of its row, whichever thread makes it: the number of threads changes no bit.
"""

from __future__ import annotations

import numpy as np

from hopwave.engines.cpu.betweenness.wide_levels import (
    ARCS,
    BEGINS,
    COUNTED,
    DUE,
    FOUND_SUM,
    GREATEST,
    HAS_SUCCESSORS,
    IS_GATHERED,
    SHIFT,
    WITH_ENDPOINTS,
    count_found,
    forget,
    gather_back,
    pull_counting,
    push_adding,
    spread_back,
)
from hopwave.engines.cpu.crew import (
    EDGES,
    JOB_CHUNK,
    JOB_DEPTH,
    JOB_END,
    JOB_FLAGS,
    JOB_KIND,
    JOB_WHICH,
    TAIL,
    close_job,
    dismiss,
    join_job,
    leave_job,
    next_of_regions,
    open_job,
    open_regions,
)
from hopwave.engines.cpu.intrinsics import (
    COMPILED,
    INNER,
    U1,
    U6,
    U63,
    noinline,
    ordered_add,
    uncounted,
)
from hopwave.engines.cpu.path_counts import LARGEST, rescale_level
from hopwave.engines.cpu.policy import worth_spreading as _worth_spreading
from hopwave.engines.cpu.search.frontier import choose, clear_words, set_bits
from hopwave.engines.cpu.search.loop import gather_chunk, pull_chunk, push_chunk, region_chunk
from hopwave.engines.cpu.search.push import push_shared
from hopwave.engines.cpu.search.steps import mark_up
from hopwave.engines.cpu.team import (
    ADDRESS,
    PRESENT,
    READERS,
    await_offer,
    borrow,
    claim,
    close_offer,
    lend,
    open_offer,
)
from hopwave.machine_code import njit

# Cells of limits; EXACT: stop where a path count does not fit into the 53 bits of a float64.
CUTOFF, THREADS, ENDPOINTS, DEGREE_BITS, FINDABLE, PULLS, EXACT = range(7)
LIMIT_CELLS = 7
EXACT_BITS = 53
MOST_EXACT = 2.0**EXACT_BITS

# Cells of `done`: sources that are in the total, and how the last one ended.
DONE, OUTCOME = range(2)
ADDED, TOO_WIDE = np.int64(0), np.int64(1)

INIT, PUSH, MARK, PULL, COUNT, BACK, ADD, SPREAD = (np.int64(kind) for kind in range(8))
ZERO = np.int64(0)
worth_spreading = njit(**INNER)(_worth_spreading)


@njit(**INNER)
def work(A, W, board, me):
    """One worker's share of the open job."""
    noinline()
    kind, end, size, which = board[JOB_KIND], board[JOB_END], board[JOB_CHUNK], board[JOB_WHICH]
    if kind == ADD:
        push_adding(A, W, board, me, end, size, board[JOB_DEPTH])
    elif kind == PUSH:
        push_shared(A, W, board, me, end, size)
    elif kind == SPREAD:
        spread_back(A, W, board, me, which)
    elif kind == PULL:
        pull_counting(A, W, board, me, which)
    elif kind == COUNT:
        count_found(A, W, board, me, end, size, which)
    elif kind == BACK:
        gather_back(A, W, board, me, end, size, board[JOB_DEPTH], board[JOB_FLAGS], which)
    else:
        region = me
        while True:
            begin, stop, region = next_of_regions(board, region)
            if region < 0:
                return
            if kind == MARK:
                mark_up(W.parent, W.visited, W.bitmaps[which], A.closed, begin, stop)
            else:
                last = min(np.uint64(stop) << U6, np.uint64(W.parent.size))
                forget(W.parent, W.sigma, A.unvisited, np.uint64(begin) << U6, last)


@njit(**INNER)
def together(A, W, board, kind, begin, end, size, depth, flags, which):
    """A job, from its opening to its end."""
    noinline()
    open_job(board, kind, begin, end, size, depth, flags, which)
    work(A, W, board, ZERO)
    close_job(board)


@njit(**INNER)
def by_regions(A, W, board, kind, size, which, threads):
    """The same for a job over all words of 64 vertices."""
    noinline()
    open_regions(board, kind, np.int64(W.visited.size), size, ZERO, ZERO, which, threads)
    work(A, W, board, ZERO)
    close_job(board)


@njit(**INNER)
def way_out(A, W, board, source, limits, rule):
    """Path counts, level after level. Returns how many levels there are; 0 where a level is too wide."""
    noinline()
    queue, levels, sums, bitmaps = W.queue, W.levels, W.sums, W.bitmaps
    n, words, threads, bits = W.parent.size, W.visited.size, limits[THREADS], limits[DEGREE_BITS]
    m = np.int64(A.indptr[n])
    by_regions(A, W, board, INIT, region_chunk(words, threads), ZERO, threads)
    sums[:, :] = 0.0
    nf, mf = np.int64(1), -np.int64(W.parent[source]) - 1
    W.parent[source], W.sigma[source], queue[0] = 0, 1.0, np.uint32(source)
    v = np.uint64(source)
    clear_words(bitmaps[0])
    bitmaps[0, v >> U6] = U1 << (v & U63)
    levels[0, BEGINS], levels[1, BEGINS], levels[0, SHIFT], levels[0, ARCS] = 0, 1, 0, mf
    has_bits, adds = True, True  # whether bitmaps[which] is the frontier; whether pushes still add
    mu, nf0, mf0, last, bound, marked, which = m - mf, ZERO, ZERO, np.int64(-1), ZERO, ZERO, ZERO
    findable = limits[FINDABLE] + np.int64((A.closed[v >> U6] >> (v & U63)) & U1)
    count = np.int64(1)
    while count <= limits[CUTOFF] and levels[count, BEGINS] < findable:
        begin, end = levels[count - 1, BEGINS], levels[count, BEGINS]
        choice = limits[PULLS] // 2
        if limits[PULLS] == 1:
            choice = choose(np.int64(rule[0]), rule[1], rule[2], n, m, nf, mf, mu, nf0, mf0, last)
        board[TAIL] = end
        if choice:
            size = pull_chunk(words, threads)
            if marked != end:
                by_regions(A, W, board, MARK, size, which, threads)
            by_regions(A, W, board, PULL, size, which, threads)
        else:
            adds = adds and (limits[EXACT] != 0 or bound + bits <= EXACT_BITS)
            kind = ADD if adds else PUSH
            together(A, W, board, kind, begin, end, push_chunk(nf, mf, threads), count, ZERO, which)
        tail, edges = board[TAIL], board[EDGES]
        nf0, mf0, last, nf, mf = nf, mf, choice, tail - end, edges
        if nf and choice:
            marked, has_bits = tail, True
        elif nf and adds:
            has_bits = False
        elif nf:
            if not has_bits:
                clear_words(bitmaps[which])
                set_bits(bitmaps[which], queue, begin, end)
            clear_words(bitmaps[1 - which])
            together(A, W, board, COUNT, end, tail, gather_chunk(nf, threads), ZERO, ZERO, which)
            has_bits = True
        if limits[EXACT] and sums[:, GREATEST].max() >= MOST_EXACT:
            return ZERO
        if nf == 0:
            return count
        mu -= mf
        bound += bits
        levels[count, SHIFT], levels[count, ARCS] = 0, mf
        if bound + bits > LARGEST:
            bound, shift = rescale_level(W.sigma, queue, end, tail, bits)
            if shift < 0:
                return ZERO
            levels[count, SHIFT] = shift
        which = 1 - which
        count += 1
        levels[count, BEGINS] = tail
    if limits[EXACT] and bound > EXACT_BITS and last == 0:  # nobody has looked at the counts of the last level
        for i in range(levels[count - 1, BEGINS], levels[count, BEGINS]):
            if W.sigma[queue[i]] >= MOST_EXACT:
                return ZERO
    return count


@njit(**INNER)
def way_back(A, W, board, count, limits):
    """From the last level to the first behind the source."""
    noinline()
    levels, threads, endpoints, which = W.levels, limits[THREADS], limits[ENDPOINTS], ZERO
    for level in range(count - 1, 0, -1):
        begin, end = levels[level, BEGINS], levels[level + 1, BEGINS]
        flags, size = WITH_ENDPOINTS * endpoints, gather_chunk(end - begin, threads)
        if level < count - 1:
            flags |= HAS_SUCCESSORS
            if worth_spreading(levels[level, ARCS], levels[level + 1, ARCS], threads):
                words = np.int64(W.visited.size)
                by_regions(A, W, board, SPREAD, (words + threads - 1) // threads, which, threads)
                flags |= IS_GATHERED
        clear_words(W.bitmaps[1 - which])
        together(A, W, board, BACK, begin, end, size, np.int64(level), flags, which)
        which = 1 - which


@njit(**INNER)
def assist(team, me, A, W, board):
    """A helper's part in one source. A, W and board tell only the types."""
    noinline()
    A, W, board = borrow(team, ADDRESS, (A, W, board))
    ordered_add(team, READERS, -1)
    joined = ZERO
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
        A, W = uncounted(A), uncounted(W)
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
    offer = number = ZERO
    while True:
        offer = await_offer(team, offer)
        if offer < 0:
            break
        claimed = claim(team, number)
        if claimed:
            number = claimed
            assist(team, number, A, W, board)
