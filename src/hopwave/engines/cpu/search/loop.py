"""The whole search, compiled: levels by the plan's rule, until the frontier is empty.

Where a search stands is a row of numbers, `here`. The master reads it to post the next job, does that job with whoever
joins, and comes back; so a search can also stop when its trace is full, and go on.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from hopwave import rules
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
)
from hopwave.engines.cpu.intrinsics import (
    COMPILED,
    INNER,
    ONE,
    U0,
    U1,
    U6,
    U63,
    kept_apart,
    nanoseconds,
    trailing_zeros,
)
from hopwave.engines.cpu.search.steps import (
    FILL,
    FIX,
    GATHER,
    INIT,
    OPERAND_VISITED,
    PULL,
    PULL_AHEAD,
    PUSH,
    fill_distances,
    push_alone,
    work,
)

SMALL = 1024  # arcs and vertices below which a level is not worth sharing

# The cells of `here`. A frontier is a stretch of the queue, a bitmap, or both.
DEPTH, NF, MF, MU, NF0, MF0, LAST, REACHED = range(8)
QUEUE_BEGIN, QUEUE_END, FIRST, MARKED, HAS_QUEUE, HAS_BITMAP, HAS_VISITED, WHICH = range(8, 16)
EARLY, EARLY_EDGES, SEGMENTS, BOUND, OVERFLOWED, PHASE, CHOICE, FLAGS = range(16, 24)
NEXT_NF, NEXT_MF, NEW, NEW_MF, LEVEL_CHECKED, LEVEL_AHEAD, TRACED, BEGAN = range(24, 32)
FINDABLE = 32  # when so many are reached, nothing is left to look for
HERE_CELLS = 33
TRACE_COLUMNS = 9  # depth, choice, nf, mf, mu, found, checked, ahead, nanoseconds

# What the job just done was for, and so how the master goes on.
BEGIN, STAND, LEVEL, PUSHED, PULLED, FOUND_LEVEL, COUNTED, FILLING, FIXING, OVER = (np.int64(p) for p in range(10))
ZERO = np.int64(0)

# Path counts are kept as σ̂ = σ / 2^shift with one shift a level. A level is scaled down when the next one might pass
# 2^LARGEST, and by no more than it must: what is below 2^SMALLEST afterwards would lose its ratio to its neighbours.
LARGEST, SMALLEST = 1000, -900

_always, _beamer, _one_way, _ratio, _xbfs, _growing, _fewer = (njit(**INNER)(function) for function in rules.FUNCTIONS)


@njit(**INNER)
def choose(code, a, b, n, m, nf, mf, mu, nf0, mf0, last):
    """hopwave.rules, compiled."""
    if code == 1:
        return _beamer(a, b, n, m, nf, mf, mu, nf0, mf0, last)
    if code == 2:
        return _one_way(a, b, n, m, nf, mf, mu, nf0, mf0, last)
    if code == 3:
        return _ratio(a, b, n, m, nf, mf, mu, nf0, mf0, last)
    if code == 4:
        return _xbfs(a, b, n, m, nf, mf, mu, nf0, mf0, last)
    if code == 5:
        return _growing(a, b, n, m, nf, mf, mu, nf0, mf0, last)
    if code == 6:
        return _fewer(a, b, n, m, nf, mf, mu, nf0, mf0, last)
    return _always(a, b, n, m, nf, mf, mu, nf0, mf0, last)


@njit(**INNER)
def set_bits(words, queue, begin, end):
    kept_apart()
    for i in range(np.uint64(begin), np.uint64(end)):
        v = np.uint64(queue[i])
        words[v >> U6] |= U1 << (v & U63)


@njit(**INNER)
def append_bits(words, queue, tail):
    """The vertices of a bitmap, ascending, at the end of the queue."""
    kept_apart()
    place = np.uint64(tail)
    for w in range(np.uint64(words.size)):
        x = words[w]
        base = w << U6
        while x != U0:
            queue[place] = np.uint32(base + trailing_zeros(x))
            place += U1
            x &= x - U1
    return np.int64(place)


@njit(**INNER)
def add_segment(W, here, begin, depth, shift):
    W.segments[here[SEGMENTS], 0] = begin
    W.segments[here[SEGMENTS], 1] = depth
    W.segments[here[SEGMENTS], 2] = shift
    here[SEGMENTS] += 1


@njit(**INNER)
def rescale_level(sigma, queue, begin, end, degree_bits):
    """Bring a level's greatest σ̂ down if need be. Returns its exponent and the shift (-1: the level spans too much)."""
    kept_apart()
    greatest = 0.0
    for i in range(begin, end):
        greatest = max(greatest, sigma[queue[i]])
    exponent = np.int64(np.ceil(np.log2(greatest))) if greatest > 0 else 0
    if exponent + degree_bits <= LARGEST:
        return exponent, 0
    target = max(LARGEST // 2, LARGEST - 64 * degree_bits)  # some way down, so that it is not needed at every level
    shift = exponent - target
    factor, least = 2.0 ** np.float64(-shift), 2.0**SMALLEST
    for i in range(begin, end):
        v = queue[i]
        sigma[v] *= factor
        if sigma[v] < least:
            return target, -1
    return target, shift


@njit(**INNER)
def post(board, here, kind, begin, end, size, next_phase):
    """Open a job, and remember how to go on after it."""
    here[PHASE] = next_phase
    open_job(board, kind, begin, end, max(1, size), here[DEPTH] + 1, here[FLAGS], here[WHICH])


@njit(**INNER)
def stand_at(A, W, here, sources):
    """The search before its first level."""
    for i in range(sources.size):
        s = sources[i]
        here[MF] -= A.unvisited[s] + 1
        W.parent[s] = np.int32(s)
        W.distance[s] = 0
        W.queue[i] = np.uint32(s)
        if W.sigma.size:
            W.sigma[s] = 1.0
        v = np.uint64(s)
        here[FINDABLE] += np.int64((A.closed[v >> U6] >> (v & U63)) & U1)  # nobody could have found it
    here[NF] = here[REACHED] = here[QUEUE_END] = sources.size
    here[MU] = np.int64(A.indptr[W.parent.size]) - here[MF]
    here[LAST] = -1
    here[HAS_QUEUE] = 1
    add_segment(W, here, ZERO, ZERO, ZERO)


@njit(**INNER)
def make_queue(W, here):
    """The frontier as a stretch of the queue, and before the place where its finds will go, what was found early."""
    if not here[HAS_QUEUE]:
        here[QUEUE_BEGIN] = here[QUEUE_END]
        here[QUEUE_END] = append_bits(W.bitmaps[here[WHICH]], W.queue, here[QUEUE_END])
        here[MARKED] = here[QUEUE_END]
        add_segment(W, here, here[QUEUE_BEGIN], here[DEPTH], ZERO)
    here[FIRST] = here[QUEUE_END]
    if here[EARLY]:
        here[FIRST] = append_bits(W.bitmaps[2 + here[WHICH]], W.queue, here[QUEUE_END])


@njit(**INNER)
def make_bitmap(A, W, here):
    """The frontier as a bitmap, and the visited vertices up to date."""
    if not here[HAS_VISITED]:
        # Vertices without in-arcs are never found, so they count as visited, unless visited is what is looked for.
        before = A.padding if here[FLAGS] & OPERAND_VISITED else A.closed
        visited = W.visited
        for w in range(before.size):
            visited[w] = before[w]
        here[HAS_VISITED] = 1
        here[MARKED] = 0
    if not here[HAS_BITMAP]:
        visited, front = W.visited, W.bitmaps[here[WHICH]]
        for w in range(front.size):
            front[w] = U0
        set_bits(front, W.queue, here[QUEUE_BEGIN], here[QUEUE_END])
        set_bits(visited, W.queue, here[MARKED], here[QUEUE_BEGIN])
        for w in range(front.size):
            visited[w] |= front[w]
    here[MARKED] = here[QUEUE_END]


@njit(**INNER)
def after_push(W, here, tail, edges, fill_now):
    """The queue has grown to tail by vertices with that many arcs."""
    end = here[QUEUE_END]
    add_segment(W, here, end, here[DEPTH] + 1, W.segments[here[SEGMENTS] - 1, 2])
    if fill_now:
        fill_distances(W, here[SEGMENTS], end, tail)
    here[QUEUE_BEGIN], here[QUEUE_END] = end, tail
    here[HAS_QUEUE], here[HAS_BITMAP] = 1, 0
    here[NEXT_NF], here[NEXT_MF] = tail - end, edges + here[EARLY_EDGES]
    here[NEW], here[NEW_MF] = tail - here[FIRST], edges
    here[EARLY] = here[EARLY_EDGES] = 0


@njit(**INNER)
def after_pull(W, board, here):
    """The next frontier is a bitmap; merge into it and into the visited vertices what the pull kept apart."""
    which = here[WHICH]
    new = W.bitmaps[1 - which]
    visited, early = W.visited, W.bitmaps[2 + which]
    if here[FLAGS] & OPERAND_VISITED:
        for w in range(new.size):
            visited[w] |= new[w]
    here[NEXT_NF], here[NEXT_MF] = board[FOUND] + here[EARLY], board[EDGES] + here[EARLY_EDGES]
    if here[EARLY]:
        for w in range(new.size):
            new[w] |= early[w]
    here[EARLY], here[EARLY_EDGES] = board[AHEAD], board[EDGES_AHEAD]
    here[NEW], here[NEW_MF] = board[FOUND] + board[AHEAD], board[EDGES] + board[EDGES_AHEAD]
    here[WHICH] = 1 - which
    here[HAS_BITMAP], here[HAS_QUEUE] = 1, 0
    if W.sigma.size:  # the queue keeps every level, for the counts and for the way back
        here[QUEUE_BEGIN] = here[QUEUE_END]
        here[QUEUE_END] = append_bits(new, W.queue, here[QUEUE_END])
        here[MARKED] = here[QUEUE_END]
        here[HAS_QUEUE] = 1
        add_segment(W, here, here[QUEUE_BEGIN], here[DEPTH] + 1, W.segments[here[SEGMENTS] - 1, 2])


@njit(**INNER)
def after_counting(W, here, degree_bits):
    """Scale the level just counted where the next one might overflow."""
    here[BOUND] += degree_bits
    if here[BOUND] + degree_bits > LARGEST:  # the bound is rough: look
        here[BOUND], shift = rescale_level(W.sigma, W.queue, here[QUEUE_BEGIN], here[QUEUE_END], degree_bits)
        W.segments[here[SEGMENTS] - 1, 2] += shift
        here[OVERFLOWED] |= shift < 0


@njit(**INNER)
def account(here, trace, checked, ahead, clock):
    """A level is over: step forward."""
    if trace.size:
        now = nanoseconds(clock)
        row = trace[here[TRACED]]
        row[0], row[1], row[2] = here[DEPTH] + 1, here[CHOICE], here[NF]
        row[3], row[4], row[5] = here[MF], here[MU], here[NEW]
        row[6], row[7], row[8] = checked, ahead, now - here[BEGAN]
        here[TRACED] += 1
        here[BEGAN] = now
    here[NF0], here[MF0], here[LAST] = here[NF], here[MF], here[CHOICE]
    here[NF], here[MF] = here[NEXT_NF], here[NEXT_MF]
    here[MU] -= here[NEW_MF]
    here[REACHED] += here[NEW]
    here[DEPTH] += 1


@njit(**INNER)
def next_job(A, W, board, here, sources, steps, rule, limits, trace, clock):
    """What the master does between jobs, which includes all levels too small to share. False: nothing is left to do,
    or the trace is full. limits: depth limit, crew, bits of the greatest in-degree, fill distances now?, findable."""
    kept_apart()
    n, crew = W.parent.size, limits[1]
    fill_now = limits[3] != 0 or W.sigma.size > 0
    if here[PHASE] == BEGIN:
        here[FLAGS] = fill_now
        post(board, here, INIT, ZERO, n, max(4096, n // (8 * crew)), STAND)
        return True
    if here[PHASE] == STAND:
        here[FINDABLE] = limits[4]
        stand_at(A, W, here, sources)
        here[BEGAN] = nanoseconds(clock) if trace.size else 0
        here[PHASE] = LEVEL
    elif here[PHASE] == PUSHED:
        after_push(W, here, board[TAIL], board[EDGES], fill_now)
        here[PHASE] = FOUND_LEVEL
    elif here[PHASE] == PULLED:
        after_pull(W, board, here)
        here[PHASE] = FOUND_LEVEL
    elif here[PHASE] == COUNTED:
        after_counting(W, here, limits[2])
        account(here, trace, here[LEVEL_CHECKED], here[LEVEL_AHEAD], clock)
        here[PHASE] = LEVEL
    while True:
        if here[PHASE] == FOUND_LEVEL:
            pulled = steps[here[CHOICE], 0] != 0
            here[LEVEL_CHECKED] = board[CHECKED] if pulled else here[MF]
            here[LEVEL_AHEAD] = board[AHEAD] if pulled else 0
            if W.sigma.size and here[NEXT_NF]:
                size = max(16, min(512, here[NEXT_NF] // (8 * crew)))
                post(board, here, GATHER, here[QUEUE_BEGIN], here[QUEUE_END], size, COUNTED)
                return True
            account(here, trace, here[LEVEL_CHECKED], here[LEVEL_AHEAD], clock)
            here[PHASE] = LEVEL
        if here[PHASE] != LEVEL:
            break
        if here[NF] == 0 or here[REACHED] == here[FINDABLE] or here[DEPTH] >= limits[0] or here[OVERFLOWED]:
            here[PHASE] = FILLING
            break
        if trace.size and here[TRACED] == trace.shape[0]:
            return False
        m = np.int64(A.indptr[n])
        choice = choose(
            np.int64(rule[0]), rule[1], rule[2], n, m, here[NF], here[MF], here[MU], here[NF0], here[MF0], here[LAST]
        )
        here[CHOICE] = choice
        here[FLAGS] = steps[choice, 1]
        if steps[choice, 0]:
            make_bitmap(A, W, here)
            words = W.visited.size
            # No look ahead past the limit.
            kind = PULL_AHEAD if steps[choice, 2] and here[DEPTH] + 1 < limits[0] else PULL
            post(board, here, kind, ZERO, words, min(256, words // (8 * crew)), PULLED)
            return True
        make_queue(W, here)
        if crew > 1 and here[MF] + here[NF] >= SMALL:
            # Chunks of some thousand arcs: few vertices where they are hubs, many where they are not.
            size = min(2048, min(4096 * here[NF] // max(1, here[MF]), here[NF] // (4 * crew)))
            board[TAIL] = here[FIRST]
            post(board, here, PUSH, here[QUEUE_BEGIN], here[QUEUE_END], size, PUSHED)
            return True
        tail, edges = push_alone(A, W.parent, W.queue, here[QUEUE_BEGIN], here[QUEUE_END], here[FIRST])
        after_push(W, here, tail, edges, fill_now)
        here[PHASE] = FOUND_LEVEL
    if here[PHASE] == FILLING and not fill_now:
        here[FLAGS] = here[SEGMENTS]
        post(board, here, FILL, ZERO, here[QUEUE_END], max(SMALL, here[QUEUE_END] // (8 * crew)), FIXING)
        return True
    if here[PHASE] <= FIXING and here[REACHED] < n:
        post(board, here, FIX, ZERO, n, max(4096, n // (8 * crew)), OVER)
        return True
    here[PHASE] = OVER
    return False


@njit(**COMPILED)
def take_part(A, W, board, here, sources, steps, rule, limits, trace, clock, me):
    """One thread's part in a search: worker 0 leads, the others help. One function for both, so compiled once."""
    joined = 0
    while True:
        if me == 0:
            if not next_job(A, W, board, here, sources, steps, rule, limits, trace, clock):
                break
        else:
            joined = join_job(board, joined)
            if joined < 0:
                break
        work(A, W, board, me)
        if me == 0:
            close_job(board)
        else:
            leave_job(board)
    if me == 0 and here[PHASE] == OVER:
        dismiss(board)


@njit(**COMPILED)
def count_extended(A, order, distance, mantissa, exponent):
    """σ as mantissa · 2^exponent a vertex, for levels that span more than float64 does. order: by distance."""
    in_indptr, in_indices = A.in_indptr, A.in_indices
    for i in range(order.size):
        v = order[i]
        depth = distance[v]
        if depth == 0:
            mantissa[v], exponent[v] = 0.5, 1
            continue
        total, power = 0.0, np.int64(0)
        for j in range(np.int64(in_indptr[v]), np.int64(in_indptr[v + ONE])):
            u = in_indices[j]
            if distance[u] == depth - 1:
                gap = exponent[u] - power
                if total == 0.0:
                    total, power = mantissa[u], exponent[u]
                elif gap > 0:
                    total, power = total * two_to(-gap) + mantissa[u], exponent[u]
                else:
                    total += mantissa[u] * two_to(gap)
        mantissa[v], carried = math.frexp(total)
        exponent[v] = power + carried


@njit(**INNER)
def two_to(power):
    """2^power for power ≤ 0, exactly; 0 where that is too small to matter beside 1."""
    return 0.0 if power < -1000 else math.ldexp(1.0, power)
