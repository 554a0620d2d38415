"""The whole search, compiled: levels by the plan's rule, until the frontier is empty.

One thread leads. It runs `lead`, which computes levels too small to share by itself and makes all else a job on the
board (crew.py). Helpers join in its jobs: INIT, then level after level

    PUSH, or PULL (before the first: MARK_UP, where many vertices go into its bitmaps), then GATHER if paths are counted

and at the end FILL and MARK_UNREACHED. See search/steps.py for what each of them does.

    A   the graph, an Adjacency      W   the arrays of this search, a Workspace      here   what Python reads afterwards
"""

from __future__ import annotations

import numpy as np

from hopwave.engines.cpu.crew import (
    AHEAD,
    CHECKED,
    EDGES,
    EDGES_AHEAD,
    FOUND,
    TAIL,
    close_job,
    dismiss,
    join_job,
    leave_job,
    open_job,
    open_regions,
)
from hopwave.engines.cpu.intrinsics import COMPILED, INNER, U1, U6, U63, nanoseconds, noinline, ordered_add, uncounted
from hopwave.engines.cpu.path_counts import LARGEST, rescale_level
from hopwave.engines.cpu.policy import CHUNK_SIZES, LARGE_SHARE, MANY_MARKS, SMALL_LEVEL
from hopwave.engines.cpu.search.frontier import append_bits, choose, copy_words, mark_frontier, merge_words
from hopwave.engines.cpu.search.push import push_alone
from hopwave.engines.cpu.search.state import (
    DEGREE_BITS,
    DEPTH,
    DEPTH_LIMIT,
    IS_ASYNCHRONOUS,
    IS_PULL,
    NF,
    OVERFLOWED,
    QUEUE_END,
    REACHED,
    READS_DISTANCES,
    SEGMENTS,
    STEP_FLAGS,
    THREADS,
    TRACED,
    WITH_IN_ARCS,
)
from hopwave.engines.cpu.search.steps import (
    FILL,
    GATHER,
    INIT,
    KEEPS_OPEN,
    MARK_UNREACHED,
    MARK_UP,
    OPERAND_VISITED,
    PULL,
    PULL_AHEAD,
    PUSH,
    fill_distances,
    work,
)
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
from hopwave.system.numba_cache import njit

ZERO = np.int64(0)  # not Python's 0, of which Numba would compile a version of its own

push_chunk, pull_chunk, gather_chunk, copy_chunk, region_chunk = (njit(**INNER)(function) for function in CHUNK_SIZES)


@njit(**INNER)
def together(A, W, board, kind, begin, end, size, depth, flags, which):
    """A job, from its opening to its end."""
    noinline()
    open_job(board, kind, begin, end, size, depth, flags, which)
    work(A, W, board, ZERO)
    close_job(board)


@njit(**INNER)
def by_regions(A, W, board, kind, words, size, depth, flags, which, threads):
    """The same for a job over all words of 64 vertices."""
    noinline()
    open_regions(board, kind, words, size, depth, flags, which, threads)
    work(A, W, board, ZERO)
    close_job(board)


@njit(**INNER)
def lead(A, W, board, here, sources, steps, rule, limits, trace, clock):
    """The leader's part. For steps, rule and limits see search/state.py.

    nf, mf, mu, nf0, mf0 and last are what a rule looks at (planning/rules.py). The frontier is queue[begin:end], or
    bitmaps[which], or both. queue[:marked] is in the bitmap of visited vertices. early, early_edges: vertices that an
    asynchronous pull found one level early, and the arcs that leave them. queue[done:undone] has its distances.
    """
    noinline()
    parent, queue, visited, bitmaps, segments, sigma = W.parent, W.queue, W.visited, W.bitmaps, W.segments, W.sigma
    indptr, indices = A.indptr, A.indices
    n, words, threads, bits = parent.size, visited.size, limits[THREADS], limits[DEGREE_BITS]
    m, counting = np.int64(indptr[n]), sigma.size > 0
    fill_now = limits[READS_DISTANCES] != 0 or counting
    by_regions(A, W, board, INIT, words, region_chunk(words, threads), ZERO, np.int64(fill_now), ZERO, threads)
    mf, findable = ZERO, limits[WITH_IN_ARCS]
    for i in range(sources.size):
        s = np.uint64(sources[i])
        mf -= np.int64(parent[s]) + 1
        parent[s] = np.int32(s)
        W.distance[s] = 0
        queue[i] = np.uint32(s)
        if counting:
            sigma[s] = 1.0
        findable += np.int64((A.closed[s >> U6] >> (s & U63)) & U1)  # visited, though no arc leads to it
    nf = reached = end = sources.size
    mu, nf0, mf0, last = m - mf, ZERO, ZERO, np.int64(-1)
    depth = begin = which = marked = early = early_edges = bound = traced = done = undone = ZERO
    has_queue, has_bitmap, has_visited, overflowed = True, False, False, False
    segments[0, 0], segments[0, 1], segments[0, 2] = 0, 0, 0
    count = np.int64(1)  # of segments
    while nf != 0 and reached != findable and depth < limits[DEPTH_LIMIT] and not overflowed:
        began = nanoseconds(clock) if trace.size else ZERO
        choice = choose(np.int64(rule[0]), rule[1], rule[2], n, m, nf, mf, mu, nf0, mf0, last)
        flags, front = steps[choice, STEP_FLAGS], bitmaps[which]
        if steps[choice, IS_PULL]:
            size = pull_chunk(words, threads)
            if not has_visited and nf > max(begin, MANY_MARKS if threads > 1 else n // LARGE_SHARE):
                as_far = np.int64(-1) if fill_now else depth
                by_regions(A, W, board, MARK_UP, words, size, as_far, flags, which, threads)
                if not fill_now:
                    done, undone = begin, end
            else:
                if not has_visited:
                    # Vertices without in-arcs are never found, so they count as visited, unless a step looks for
                    # visited vertices.
                    copy_words(visited, A.padding if flags & KEEPS_OPEN else A.closed)
                    marked = ZERO
                if not has_bitmap:
                    mark_frontier(visited, front, queue, marked, begin, end)
            has_visited, marked = True, end
            # An asynchronous pull must not look ahead past the limit.
            ahead = steps[choice, IS_ASYNCHRONOUS] and depth + 1 < limits[DEPTH_LIMIT]
            kind = PULL_AHEAD if ahead else PULL
            by_regions(A, W, board, kind, words, size, depth + 1, flags, which, threads)
            new = bitmaps[1 - which]
            if flags & OPERAND_VISITED:
                merge_words(visited, new)
            next_nf, next_mf = board[FOUND] + early, board[EDGES] + early_edges
            if early:
                merge_words(new, bitmaps[2 + which])
            early, early_edges = board[AHEAD], board[EDGES_AHEAD]
            found, found_mf, checked = board[FOUND] + early, board[EDGES] + early_edges, board[CHECKED]
            which = 1 - which
            has_bitmap, has_queue = True, False
            if counting:  # the queue keeps every level, for the counts and for the way back
                begin, end = end, append_bits(new, queue, end)
                marked, has_queue = end, True
                segments[count, 0], segments[count, 1], segments[count, 2] = begin, depth + 1, segments[count - 1, 2]
                count += 1
        else:
            if not has_queue:
                begin, end = end, append_bits(front, queue, end)
                marked = end
                segments[count, 0], segments[count, 1], segments[count, 2] = begin, depth, 0
                count += 1
            first = append_bits(bitmaps[2 + which], queue, end) if early else end
            if threads > 1 and mf + nf >= SMALL_LEVEL:
                board[TAIL] = first
                together(A, W, board, PUSH, begin, end, push_chunk(nf, mf, threads), depth + 1, flags, which)
                tail, edges = board[TAIL], board[EDGES]
            else:
                tail, edges = push_alone(indptr, indices, parent, queue, begin, end, first)
            segments[count, 0], segments[count, 1], segments[count, 2] = end, depth + 1, segments[count - 1, 2]
            count += 1
            if fill_now:
                fill_distances(segments, queue, W.distance, count, end, tail)
            next_nf, next_mf, found, found_mf, checked = tail - end, edges + early_edges, tail - first, edges, mf
            begin, end, early, early_edges = end, tail, ZERO, ZERO
            has_queue, has_bitmap = True, False
        if counting and next_nf:
            together(A, W, board, GATHER, begin, end, gather_chunk(next_nf, threads), depth + 1, flags, which)
            bound += bits
            if bound + bits > LARGEST:  # the next level might overflow; the bound is rough: look
                bound, shift = rescale_level(sigma, queue, begin, end, bits)
                segments[count - 1, 2] += shift
                overflowed = shift < 0
        if trace.size:
            row = trace[traced]
            row[0], row[1], row[2], row[3], row[4], row[5] = depth + 1, choice, nf, mf, mu, found
            row[6], row[7], row[8] = checked, early, nanoseconds(clock) - began
            traced += 1
        nf0, mf0, last, nf, mf = nf, mf, choice, next_nf, next_mf
        mu -= found_mf
        reached += found
        depth += 1
    if not fill_now:
        for first, last in ((ZERO, done), (undone, end)):
            if first < last:
                together(A, W, board, FILL, first, last, copy_chunk(last - first, threads), ZERO, count, ZERO)
    if reached < n:
        by_regions(A, W, board, MARK_UNREACHED, words, region_chunk(words, threads), ZERO, ZERO, ZERO, threads)
    here[DEPTH], here[NF], here[REACHED], here[SEGMENTS] = depth, nf, reached, count
    here[QUEUE_END], here[OVERFLOWED], here[TRACED] = end, overflowed, traced


@njit(**INNER)
def assist(team, me, A, W, board):
    """A helper's part in one search: jobs until the leader sends all away. A, W and board tell only the types."""
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
def take_part(A, W, board, here, sources, steps, rule, limits, trace, clock, team, helpers, me):
    """One thread's part: number 0 leads a search, others help in one after another. One function, so compiled once."""
    if me == 0:
        if helpers:
            lend(team, ADDRESS, (A, W, board))
            open_offer(team, helpers)
        A, W = uncounted(A), uncounted(W)
        lead(A, W, board, here, sources, steps, rule, limits, trace, clock)
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
