"""Betweenness from one source on all threads, compiled. See betweenness/wide.py.

    A   the graph, an Adjacency        W   the arrays of this source, a WideState

Path counts σ̂ of even levels are in one row of `sigma`, those of odd levels in the other; elsewhere a row is 0. So a
vertex that adds up the counts of all its in-neighbours in the other row adds up those of its predecessors alone: of all
that are counted, none is closer to the source than they are, and those further away are not counted yet. On the way
back a share with a minus sign takes the place of σ̂, and the sign tells successors from predecessors. No level is looked
up, and no thread writes what others read.

The way out pushes while that looks at fewer arcs. A pushed level is counted when it is pushed in turn, or before it is
pulled from. The way back gathers along rows, or, where the level behind has far fewer arcs, sorts those by the vertices
they come from. Large levels are gone through in the order of vertices, each thread its own part.

Every sum is in the order of its row, whichever thread makes it: the number of threads changes no bit.
"""

from collections import namedtuple

import numpy as np

from hopwave.engines.cpu import crew
from hopwave.engines.cpu.betweenness import wide_levels
from hopwave.engines.cpu.integers import U1, U6, U63
from hopwave.engines.cpu.intrinsics import COMPILED, INNER, noinline, uncounted
from hopwave.engines.cpu.path_counts import LARGEST, rescale_level
from hopwave.engines.cpu.policy import LARGE_SHARE, PULL_ALWAYS, PULL_BY_RULE, PULL_WIDE
from hopwave.engines.cpu.policy import worth_sorting as _worth_sorting
from hopwave.engines.cpu.search.loop import pull_chunk, push_chunk, region_chunk
from hopwave.engines.cpu.search.state import BUFFER, choose
from hopwave.engines.cpu.search.steps import mark_up
from hopwave.engines.cpu.team import assistance, close_offer, lend, open_offer, regions
from hopwave.system.numba_cache import njit

# pulls: see policy.pulls_of; bucket_bits: arcs are sorted into buckets of 2^bucket_bits vertices.
Limits = namedtuple("Limits", "cutoff threads endpoints degree_bits findable pulls bucket_bits")

# Cells of `done`: sources that are in the total, and how the last one ended.
DONE, OUTCOME = range(2)
ADDED, TOO_WIDE = np.int64(0), np.int64(1)

INIT, OUT, MARK, PULL, BACK, SORT, ADD_SORTED = (np.int64(kind) for kind in range(7))
ZERO, ONE_EACH = np.int64(0), np.int64(1)
WORDS_COLLECTED = np.int64(BUFFER // 64)  # at most, so that a worker's buffer holds their vertices
worth_sorting = njit(**INNER)(_worth_sorting)


@njit(**INNER)
def work(A, W, board, me):
    """One worker's share of the open job."""
    noinline()
    kind, level, flags = board[crew.JOB_KIND], board[crew.JOB_DEPTH], board[crew.JOB_FLAGS]
    if kind == OUT and flags & wide_levels.BY_WORDS:
        wide_levels.count_by_words(A, W, board, me, level)
    elif kind == OUT:
        wide_levels.count_and_push(A, W, board, me, level, flags)
    elif kind == PULL:
        wide_levels.pull_counting(A, W, board, me, level)
    elif kind == BACK and flags & wide_levels.BY_WORDS:
        wide_levels.finish_by_words(A, W, board, me, level, flags)
    elif kind == BACK:
        wide_levels.finish_level(A, W, board, me, level, flags)
    elif kind == SORT:
        wide_levels.sort_arcs(A, W, board, me, level, flags & wide_levels.FLAGS, flags >> wide_levels.FLAG_BITS)
    elif kind == ADD_SORTED:
        wide_levels.add_sorted(A, W, board, me, level, flags & wide_levels.FLAGS, flags >> wide_levels.FLAG_BITS)
    else:
        region = me
        while True:
            begin, stop, region = crew.next_of_regions(board, region)
            if region < 0:
                return
            if kind == MARK:
                mark_up(W.parent, W.visited, W.visited, A.closed, begin, stop)
            else:
                last = min(np.uint64(stop) << U6, np.uint64(W.parent.size))
                wide_levels.forget(W.parent, W.sigma, A.unvisited, np.uint64(begin) << U6, last)


divided, assist = regions(work), assistance(work)  # a job over words or buckets; a helper's part


@njit(**INNER)
def by_level(A, W, board, kind, level, flags, arcs, threads):
    """Post a job over a level, work on it, and wait. A large level is found among all words, others in the queue."""
    noinline()
    begin, end, n = W.levels[level, wide_levels.BEGINS], W.levels[level + 1, wide_levels.BEGINS], W.parent.size
    pushes = kind == OUT and flags & wide_levels.PUSHES != 0
    if (end - begin) * LARGE_SHARE >= n and not pushes:
        words = np.int64(W.visited.size)
        size = min(WORDS_COLLECTED, region_chunk(words, threads))
        divided(A, W, board, kind, words, size, level, flags | wide_levels.BY_WORDS, ZERO, threads)
        return
    size = push_chunk(end - begin, arcs, threads)
    if end - begin <= size:  # nothing to share
        crew.describe_job(board, kind, begin, end, size, level, flags, ZERO)
        work(A, W, board, ZERO)
        return
    crew.open_job(board, kind, begin, end, size, level, flags, ZERO)
    work(A, W, board, ZERO)
    crew.close_job(board)


@njit(**INNER)
def by_sorted_arcs(A, W, board, from_level, level, flags, limits):
    """Carry values from one level to a level beside it, along the sorted arcs of the former.

    Returns False if nothing was done: sorting would take longer, or there is no room for that many arcs.
    """
    noinline()
    levels, buckets, threads = W.levels, np.int64(W.runs.shape[0]), limits.threads
    arcs, fewer = levels[level, wide_levels.ARCS], levels[from_level, wide_levels.ARCS]
    if fewer > W.getters.size or not worth_sorting(arcs, fewer, W.parent.size):
        return False
    flags |= limits.bucket_bits << wide_levels.FLAG_BITS
    board[crew.TAIL] = 0
    divided(A, W, board, SORT, buckets, ONE_EACH, from_level, flags, ZERO, threads)
    if board[crew.FOUND]:
        return False
    divided(A, W, board, ADD_SORTED, buckets, ONE_EACH, level, flags, ZERO, threads)
    return True


@njit(**INNER)
def settle(W, level, bound, bits):
    """Scale a counted level down if its successors might overflow. Returns a bound on the exponents of its counts, or
    -1 if it is too wide. The rule is that of betweenness/forward.py, so that both refuse the same sources."""
    if bound + 2 * bits <= LARGEST:
        return bound + bits
    begin, end = W.levels[level, wide_levels.BEGINS], W.levels[level + 1, wide_levels.BEGINS]
    bound, shift = rescale_level(W.sigma[level % 2], W.queue, begin, end, bits)
    W.levels[level, wide_levels.SHIFT] = shift
    return bound if shift >= 0 else np.int64(-1)


@njit(**INNER)
def way_out(A, W, board, source, limits, rule):
    """Path counts, level after level. Returns the number of levels, or 0 if one is too wide for float64.

    A pushed level is found first and counted later, once: along sorted arcs, when it is pushed in turn, or before it is
    pulled from. A pulled level is counted as it is found. `counted` is the last level whose paths are counted.
    """
    noinline()
    queue, levels, sums = W.queue, W.levels, W.sums
    n, words, threads, bits = W.parent.size, np.int64(W.visited.size), limits.threads, limits.degree_bits
    m = np.int64(A.indptr[n])
    divided(A, W, board, INIT, words, region_chunk(words, threads), ZERO, ZERO, ZERO, threads)
    sums[:, :] = 0.0
    nf, mf = np.int64(1), -np.int64(W.parent[source]) - 1
    W.parent[source], W.sigma[0, source], queue[0] = 0, 1.0, np.uint32(source)
    v = np.uint64(source)
    levels[0, wide_levels.BEGINS], levels[1, wide_levels.BEGINS] = 0, 1
    levels[0, wide_levels.SHIFT], levels[0, wide_levels.ARCS] = 0, mf
    mu, nf0, mf0, last, bound, marked, counted = m - mf, ZERO, ZERO, np.int64(-1), ZERO, ZERO, ZERO
    findable = limits.findable + np.int64((A.closed[v >> U6] >> (v & U63)) & U1)
    count = np.int64(1)  # of levels
    while count <= limits.cutoff and levels[count, wide_levels.BEGINS] < findable:
        level, end = count - 1, levels[count, wide_levels.BEGINS]
        if counted < level and by_sorted_arcs(A, W, board, level - 1, level, wide_levels.OUTWARDS, limits):
            counted, bound = level, settle(W, level, bound, bits)
        choice, is_new = np.int64(limits.pulls == PULL_ALWAYS), counted < level
        if limits.pulls == PULL_BY_RULE:
            choice = choose(np.int64(rule[0]), rule[1], rule[2], n, m, nf, mf, mu, nf0, mf0, last)
            choice = np.int64(choice != 0 or mf * PULL_WIDE > mu)  # what a push finds must still be counted
        if choice:
            if is_new:
                by_level(A, W, board, OUT, level, wide_levels.COUNTS, mf, threads)
                counted, bound = level, settle(W, level, bound, bits)
            size = pull_chunk(words, threads)
            if marked != end:
                divided(A, W, board, MARK, words, size, ZERO, ZERO, ZERO, threads)
            board[crew.TAIL] = end
            divided(A, W, board, PULL, words, size, count, ZERO, ZERO, threads)
        else:
            board[crew.TAIL] = end
            flags = wide_levels.PUSHES | wide_levels.COUNTS if is_new else wide_levels.PUSHES
            by_level(A, W, board, OUT, level, flags, mf, threads)
            if is_new:
                counted, bound = level, settle(W, level, bound, bits)
        tail, edges = board[crew.TAIL], board[crew.EDGES]
        nf0, mf0, last, nf, mf = nf, mf, choice, tail - end, edges
        if bound < 0:
            return ZERO
        if nf == 0:
            return count
        levels[count, wide_levels.SHIFT], levels[count, wide_levels.ARCS] = 0, mf
        levels[count + 1, wide_levels.BEGINS] = tail
        if choice:
            marked, counted, bound = tail, count, settle(W, count, bound, bits)
            if bound < 0:
                return ZERO
        mu -= mf
        count += 1
    level = count - 1
    if counted < level:
        if not by_sorted_arcs(A, W, board, level - 1, level, wide_levels.OUTWARDS, limits):
            by_level(A, W, board, OUT, level, wide_levels.COUNTS, mf, threads)
        if settle(W, level, bound, bits) < 0:
            return ZERO
    return count


@njit(**INNER)
def way_back(A, W, board, count, limits):
    """Dependencies, from the last level back to the first one after the source."""
    noinline()
    for level in range(count - 1, 0, -1):
        level_, flags = np.int64(level), wide_levels.WITH_ENDPOINTS * limits.endpoints
        if level < count - 1:
            flags |= wide_levels.HAS_SUCCESSORS
            if by_sorted_arcs(A, W, board, level_ + 1, level_, flags, limits):
                continue
        by_level(A, W, board, BACK, level_, flags, W.levels[level, wide_levels.ARCS], limits.threads)


@njit(**COMPILED)
def commit(total, row, done):
    """Add the row of one source to the total."""
    for v in range(total.size):
        total[v] += row[v]
    done[DONE] += 1


@njit(**INNER)
def lead(A, W, board, source, limits, rule, certificate, done):
    """The leader's part: out from the source, back, and both sides of the certificate."""
    noinline()
    count = way_out(A, W, board, source, limits, rule)
    done[OUTCOME] = TOO_WIDE
    if count == 0:
        return
    way_back(A, W, board, count, limits)
    counted = 0.0
    for i in range(W.sums.shape[0]):
        certificate[0] += W.sums[i, wide_levels.FOUND_SUM]
        certificate[1] += W.sums[i, wide_levels.DUE]
        counted += W.sums[i, wide_levels.COUNTED]
    if limits.endpoints:
        W.total[source] += counted  # the source is an end of every path
    done[OUTCOME] = ADDED
    done[DONE] += 1


@njit(**COMPILED)
def take_part(A, W, board, source, limits, rule, certificate, done, team, helpers, me):
    """One thread's part: number 0 leads, others help with one source after another."""
    if me != 0:
        assist(team, A, W, board)
        return
    lend(team, (A, W, board))
    open_offer(team, helpers)
    lead(uncounted(A), uncounted(W), board, source, limits, rule, certificate, done)
    close_offer(team, helpers, board)
