"""The full search, compiled: levels by the plan's rule, until the frontier is empty.

The leader computes levels that are too small to share; all other work is a job on the board (crew.py): INIT, then

    PUSH, or PULL (before the first: MARK_UP, if many vertices enter its bitmaps), then GATHER if paths are counted

and at the end FILL and MARK_UNREACHED (search/steps.py).

The frontier is queue[begin:end] if `in_queue`, and bitmaps[which] if `in_bitmap`. queue[:marked] is in the bitmap of
visited vertices; no such bitmap exists while `marked` is negative.
"""

import numpy as np

from hopwave.engines.cpu import crew
from hopwave.engines.cpu.integers import U1, U6, U63
from hopwave.engines.cpu.intrinsics import call_address, inner, nanoseconds, noinline, outer
from hopwave.engines.cpu.path_counts import LARGEST, rescale_level
from hopwave.engines.cpu.policy import CHUNK_SIZES, LARGE_SHARE, MANY_MARKS, SMALL_LEVEL
from hopwave.engines.cpu.search import state, steps
from hopwave.engines.cpu.team import chunks, led, regions

ZERO = np.int64(0)  # not Python's 0, for which Numba would compile a separate version

push_chunk, pull_chunk, gather_chunk, copy_chunk, region_chunk = (inner(function) for function in CHUNK_SIZES)
by_regions, together = regions(steps.work), chunks(steps.work)  # jobs over words of 64 vertices, and over the queue


@inner
def visit_sources(A, W, sources):
    """Put the sources into the queue. Returns their number of out-arcs, and how many of them have no in-arcs."""
    parent, sigma, arcs, without_in_arcs = W.parent, W.sigma, ZERO, ZERO
    for i in range(sources.size):
        s = np.uint64(sources[i])
        arcs -= np.int64(parent[s]) + 1
        parent[s] = np.int32(s)
        W.distance[s] = 0
        W.queue[i] = np.uint32(s)
        if sigma.size:
            sigma[s] = 1.0
        without_in_arcs += np.int64((A.closed[s >> U6] >> (s & U63)) & U1)
    return arcs, without_in_arcs


@inner
def add_segment(segments, count, begin, depth):
    """A level of that depth starts in the queue, with path counts scaled as before. Returns the number of segments."""
    segments[count, 0], segments[count, 1], segments[count, 2] = begin, depth, segments[count - 1, 2]
    return count + 1


@inner
def mark_level(A, W, board, begin, end, marked, in_bitmap, depth, flags, which, threads):
    """Create a pull's bitmaps. Returns whether it also wrote the frontier's distances, `depth` each (-1: known)."""
    noinline()
    n, words = W.parent.size, W.visited.size
    if marked < 0 and end - begin > max(begin, MANY_MARKS if threads > 1 else n // LARGE_SHARE):
        by_regions(A, W, board, steps.MARK_UP, words, pull_chunk(words, threads), depth, flags, which, threads)
        return depth >= 0
    if marked < 0:
        # Vertices without in-arcs are never found, so they count as visited, unless a step looks for visited vertices.
        W.visited[:] = A.padding if flags & steps.KEEPS_OPEN else A.closed
        marked = ZERO
    if not in_bitmap:
        state.mark_frontier(W.visited, W.bitmaps[which], W.queue, marked, begin, end)
    return False


@inner
def pull_level(A, W, board, kind, depth, flags, which, early, early_arcs, threads):
    """Level `depth` from bitmaps[which] into the other row, plus the vertices found early."""
    noinline()
    words = W.visited.size
    by_regions(A, W, board, kind, words, pull_chunk(words, threads), depth, flags, which, threads)
    new = W.bitmaps[1 - which]
    if flags & steps.OPERAND_VISITED:
        state.merge_words(W.visited, new)
    if early:
        state.merge_words(new, W.bitmaps[2 + which])
    found, arcs, ahead, arcs_ahead = board[crew.FOUND], board[crew.EDGES], board[crew.AHEAD], board[crew.EDGES_AHEAD]
    return state.Found(
        found + early, arcs + early_arcs, found + ahead, arcs + arcs_ahead, board[crew.CHECKED], ahead, arcs_ahead
    )


@inner
def lead(A, W, board, here, sources, plan, rule, limits, trace):
    """The leader's part, with pushes inlined: a call that passes records takes longer than a small level."""
    noinline()
    limit, threads, bits = limits[state.DEPTH_LIMIT], limits[state.THREADS], limits[state.DEGREE_BITS]
    indptr, indices, parent, queue, bitmaps = A.indptr, A.indices, W.parent, W.queue, W.bitmaps
    segments, sigma, n, words = W.segments, W.sigma, W.parent.size, W.visited.size
    m, counting = np.int64(indptr[n]), sigma.size > 0
    fill_now, own_rule = limits[state.READS_DISTANCES] != 0 or counting, limits[state.OWN_RULE]
    size = region_chunk(words, threads)
    by_regions(A, W, board, steps.INIT, words, size, ZERO, np.int64(fill_now), ZERO, threads)
    mf, without_in_arcs = visit_sources(A, W, sources)
    findable = limits[state.WITH_IN_ARCS] + without_in_arcs
    depth, nf, reached = ZERO, sources.size, sources.size
    mu, nf0, mf0, last = m - mf, ZERO, ZERO, np.int64(-1)
    begin, end, marked, in_queue, in_bitmap, which = ZERO, nf, np.int64(-1), True, False, ZERO
    early, early_arcs = ZERO, ZERO  # vertices that an asynchronous pull found one level early, and their out-arcs
    filled_from, filled_to = ZERO, ZERO  # a range of the queue whose distances are written
    exponent, overflowed = ZERO, False  # bound: path counts < 2^exponent; whether they exceed float64
    segments[0, 0], segments[0, 1], segments[0, 2] = 0, 0, 0
    count, traced = np.int64(1), ZERO  # number of segments, and of rows of the trace
    while nf != 0 and reached != findable and depth < limit and not overflowed:
        began = nanoseconds() if trace.size else ZERO
        if own_rule:
            choice = call_address(own_rule, (n, m, nf, mf, mu, nf0, mf0, last))
            if choice < 0:  # the rule failed
                break
        else:
            choice = state.choose(np.int64(rule[0]), rule[1], rule[2], n, m, nf, mf, mu, nf0, mf0, last)
        flags = plan[choice, state.STEP_FLAGS]
        if plan[choice, state.IS_PULL]:
            level = np.int64(-1) if fill_now else depth
            if mark_level(A, W, board, begin, end, marked, in_bitmap, level, flags, which, threads):
                filled_from, filled_to = begin, end
            marked = end
            # An asynchronous pull must not look ahead past the limit.
            kind = steps.PULL_AHEAD if plan[choice, state.IS_ASYNCHRONOUS] and depth + 1 < limit else steps.PULL
            found = pull_level(A, W, board, kind, depth + 1, flags, which, early, early_arcs, threads)
            which, in_bitmap, in_queue = 1 - which, True, counting
            if counting:  # the queue stores every level, for the counts and for the backward pass
                begin, end = end, state.append_bits(bitmaps[which], queue, end)
                marked, count = end, add_segment(segments, count, begin, depth + 1)
        else:
            if not in_queue:
                begin, end = end, state.append_bits(bitmaps[which], queue, end)
                marked, count = end, add_segment(segments, count, begin, depth)
            first = state.append_bits(bitmaps[2 + which], queue, end) if early else end
            if threads > 1 and mf + nf >= SMALL_LEVEL:
                board[crew.TAIL] = first
                together(A, W, board, steps.PUSH, begin, end, push_chunk(nf, mf, threads), depth + 1, flags, which)
                tail, arcs = board[crew.TAIL], board[crew.EDGES]
            else:
                tail, arcs = steps.push_alone(indptr, indices, parent, queue, begin, end, first)
            found = state.Found(tail - end, arcs + early_arcs, tail - first, arcs, mf, ZERO, ZERO)
            count = add_segment(segments, count, end, depth + 1)
            if fill_now:
                steps.fill_distances(segments, queue, W.distance, count, end, end + found.nf)
            begin, end, in_queue, in_bitmap = end, end + found.nf, True, False
        if counting and found.nf:
            size = gather_chunk(found.nf, threads)
            together(A, W, board, steps.GATHER, begin, end, size, depth + 1, flags, which)
            exponent += bits
            if exponent + bits > LARGEST:  # the next level might overflow; the bound is rough: measure
                exponent, shift = rescale_level(sigma, queue, begin, end, bits)
                segments[count - 1, 2] += shift
                overflowed = shift < 0
        if trace.size:
            row = trace[traced]
            row[0], row[1], row[2], row[3], row[4], row[5] = depth + 1, choice, nf, mf, mu, found.new
            row[6], row[7], row[8] = found.checked, found.early, nanoseconds() - began
            traced += 1
        nf0, mf0, last, nf, mf = nf, mf, choice, found.nf, found.mf
        early, early_arcs = found.early, found.early_arcs
        mu -= found.new_arcs
        reached += found.new
        depth += 1
    if not fill_now:
        for first, stop in ((ZERO, filled_from), (filled_to, end)):
            if first < stop:
                together(A, W, board, steps.FILL, first, stop, copy_chunk(stop - first, threads), ZERO, count, ZERO)
    if reached < n:
        size = region_chunk(words, threads)
        by_regions(A, W, board, steps.MARK_UNREACHED, words, size, ZERO, ZERO, ZERO, threads)
    here[state.DEPTH], here[state.NF], here[state.REACHED], here[state.SEGMENTS] = depth, nf, reached, count
    here[state.QUEUE_END], here[state.OVERFLOWED], here[state.TRACED] = end, overflowed, traced


part_of = led(lead, steps.work)


@outer
def take_part(A, W, board, here, sources, plan, rule, limits, trace, team, helpers, me):
    """One thread's part: number 0 leads a search, others help with one search after another."""
    part_of(A, W, board, (here, sources, plan, rule, limits, trace), team, helpers, me)
