"""The whole search, compiled: levels by the plan's rule, until the frontier is empty.

One thread leads. Between two jobs it runs `next_job`, which finishes the job just done, computes all levels that are
too small to share, and posts the next job. A search goes through these phases (search/state.py):

    START ──INIT──▶ INITIALISED ──▶ level after level:                           PUSH ──▶ PUSHED ─┐
                                    (before the first:  MARK_UP ──▶ MARKED_UP ──▶)  PULL ──▶ PULLED ─┴▶ GATHER ──▶ COUNTED
                                                                                             (if paths are counted)
                                    then:  FILL ──▶ FILLED ──MARK_UNREACHED──▶ OVER

    A   the graph, an Adjacency      W   the arrays of this search, a Workspace      here   where it stands
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
)
from hopwave.engines.cpu.intrinsics import (
    COMPILED,
    INLINED,
    INNER,
    U1,
    U6,
    U63,
    nanoseconds,
    noinline,
    ordered_add,
)
from hopwave.engines.cpu.path_counts import LARGEST, rescale_level
from hopwave.engines.cpu.policy import CHUNK_SIZES, MANY_MARKS, SMALL_LEVEL
from hopwave.engines.cpu.search.frontier import add_segment, append_bits, choose, clear_bits, make_bitmap, make_queue
from hopwave.engines.cpu.search.state import (
    BEGAN,
    BETWEEN_LEVELS,
    BOUND,
    CHOICE,
    COUNTED,
    DEGREE_BITS,
    DEPTH,
    DEPTH_LIMIT,
    EARLY,
    EARLY_EDGES,
    FILLED,
    FINDABLE,
    FIRST,
    FLAGS,
    HAS_BITMAP,
    HAS_QUEUE,
    HAS_VISITED,
    INITIALISED,
    IS_ASYNCHRONOUS,
    IS_PULL,
    LAST,
    LEVEL_AHEAD,
    LEVEL_CHECKED,
    MARKED,
    MARKED_UP,
    MF,
    MF0,
    MU,
    NEW,
    NEW_MF,
    NEXT_MF,
    NEXT_NF,
    NF,
    NF0,
    OVER,
    OVERFLOWED,
    PHASE,
    PULLED,
    PUSHED,
    QUEUE_BEGIN,
    QUEUE_END,
    REACHED,
    READS_DISTANCES,
    SEGMENTS,
    START,
    STEP_FLAGS,
    THREADS,
    TRACED,
    WHICH,
    WITH_IN_ARCS,
)
from hopwave.engines.cpu.search.steps import (
    FILL,
    GATHER,
    INIT,
    MARK_UNREACHED,
    MARK_UP,
    OPERAND_VISITED,
    PULL,
    PULL_AHEAD,
    PUSH,
    fill_distances,
    push_alone,
    work,
)
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

ZERO = np.int64(0)

push_chunk, pull_chunk, gather_chunk, copy_chunk = (njit(**INNER)(function) for function in CHUNK_SIZES)


# ------------------------------------------------------------------ jobs, and what is left to do after each


@njit(**INNER)
def post(board, here, kind, begin, end, size, next_phase):
    """Open a job; its phase tells how to go on after it."""
    here[PHASE] = next_phase
    open_job(board, kind, begin, end, size, here[DEPTH] + 1, here[FLAGS], here[WHICH])


@njit(**INLINED)
def after_init(A, W, here, sources, limits):
    """The search stands at its sources."""
    here[FINDABLE] = limits[WITH_IN_ARCS]
    for i in range(sources.size):
        s = sources[i]
        here[MF] -= A.unvisited[s] + 1
        W.parent[s] = np.int32(s)
        W.distance[s] = 0
        W.queue[i] = np.uint32(s)
        if W.sigma.size:
            W.sigma[s] = 1.0
        v = np.uint64(s)
        here[FINDABLE] += np.int64((A.closed[v >> U6] >> (v & U63)) & U1)  # visited, though no arc leads to it
    here[NF] = here[REACHED] = here[QUEUE_END] = sources.size
    here[MU] = np.int64(A.indptr[W.parent.size]) - here[MF]
    here[LAST] = -1
    here[HAS_QUEUE] = 1
    add_segment(W, here, ZERO, ZERO, ZERO)


@njit(**INLINED)
def begins_bitmaps(here, threads):
    """Whether the first bitmaps are worth sharing: the frontier is large, and more than all that came before."""
    return threads > 1 and not here[HAS_VISITED] and here[NF] > max(MANY_MARKS, here[QUEUE_BEGIN])


@njit(**INLINED)
def after_marking(W, here):
    """Both bitmaps hold all that was visited; the frontier is what came last."""
    clear_bits(W.bitmaps[here[WHICH]], W.queue, here[QUEUE_BEGIN])
    here[HAS_VISITED] = here[HAS_BITMAP] = 1


@njit(**INLINED)
def post_pull(A, W, board, here, steps, limits):
    make_bitmap(A, W, here)
    words = W.visited.size
    # An asynchronous pull must not look ahead past the limit.
    ahead = steps[here[CHOICE], IS_ASYNCHRONOUS] and here[DEPTH] + 1 < limits[DEPTH_LIMIT]
    post(board, here, PULL_AHEAD if ahead else PULL, ZERO, words, pull_chunk(words, limits[THREADS]), PULLED)


@njit(**INLINED)
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
    here[LEVEL_CHECKED], here[LEVEL_AHEAD] = board[CHECKED], board[AHEAD]
    here[WHICH] = 1 - which
    here[HAS_BITMAP], here[HAS_QUEUE] = 1, 0
    if W.sigma.size:  # the queue keeps every level, for the counts and for the way back
        here[QUEUE_BEGIN] = here[QUEUE_END]
        here[QUEUE_END] = append_bits(new, W.queue, here[QUEUE_END])
        here[MARKED] = here[QUEUE_END]
        here[HAS_QUEUE] = 1
        add_segment(W, here, here[QUEUE_BEGIN], here[DEPTH] + 1, W.segments[here[SEGMENTS] - 1, 2])


@njit(**INLINED)
def post_push(board, here, threads):
    board[TAIL] = here[FIRST]
    size = push_chunk(here[NF], here[MF], threads)
    post(board, here, PUSH, here[QUEUE_BEGIN], here[QUEUE_END], size, PUSHED)


@njit(**INLINED)
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
    here[LEVEL_CHECKED], here[LEVEL_AHEAD] = here[MF], 0
    here[EARLY] = here[EARLY_EDGES] = 0


@njit(**INLINED)
def post_gather(board, here, threads):
    size = gather_chunk(here[NEXT_NF], threads)
    post(board, here, GATHER, here[QUEUE_BEGIN], here[QUEUE_END], size, COUNTED)


@njit(**INLINED)
def after_gather(W, here, degree_bits):
    """Scale the level just counted where the next one might overflow."""
    here[BOUND] += degree_bits
    if here[BOUND] + degree_bits > LARGEST:  # the bound is rough: look
        here[BOUND], shift = rescale_level(W.sigma, W.queue, here[QUEUE_BEGIN], here[QUEUE_END], degree_bits)
        W.segments[here[SEGMENTS] - 1, 2] += shift
        here[OVERFLOWED] |= shift < 0


@njit(**INLINED)
def step_forward(here, trace, clock):
    """A level is complete: note it in the trace, and make the next frontier the current one."""
    if trace.size:
        now = nanoseconds(clock)
        row = trace[here[TRACED]]
        row[0], row[1], row[2] = here[DEPTH] + 1, here[CHOICE], here[NF]
        row[3], row[4], row[5] = here[MF], here[MU], here[NEW]
        row[6], row[7], row[8] = here[LEVEL_CHECKED], here[LEVEL_AHEAD], now - here[BEGAN]
        here[TRACED] += 1
        here[BEGAN] = now
    here[NF0], here[MF0], here[LAST] = here[NF], here[MF], here[CHOICE]
    here[NF], here[MF] = here[NEXT_NF], here[NEXT_MF]
    here[MU] -= here[NEW_MF]
    here[REACHED] += here[NEW]
    here[DEPTH] += 1


# ------------------------------------------------------------------ the loop


@njit(**INLINED)
def has_next_level(here, limits):
    """Whether there is something to look for, and leave to do so."""
    more = here[NF] != 0 and here[REACHED] != here[FINDABLE]
    return more and here[DEPTH] < limits[DEPTH_LIMIT] and not here[OVERFLOWED]


@njit(**INLINED)
def choose_step(A, W, here, steps, rule):
    """The plan's rule picks a step for the next level."""
    n, m = W.parent.size, np.int64(A.indptr[W.parent.size])
    here[CHOICE] = choose(
        np.int64(rule[0]), rule[1], rule[2], n, m, here[NF], here[MF], here[MU], here[NF0], here[MF0], here[LAST]
    )
    here[FLAGS] = steps[here[CHOICE], STEP_FLAGS]


@njit(**INNER)
def next_job(A, W, board, here, sources, steps, rule, limits, trace, clock):
    """What the leader does between jobs. Returns whether it posted one: not if the search is over or the trace is full.

    For steps, rule and limits see search/state.py.
    """
    noinline()
    n, threads, phase = W.parent.size, limits[THREADS], here[PHASE]
    fill_now = limits[READS_DISTANCES] != 0 or W.sigma.size > 0
    if phase == START:
        here[FLAGS] = fill_now
        post(board, here, INIT, ZERO, n, copy_chunk(n, threads), INITIALISED)
        return True
    if phase == INITIALISED:
        after_init(A, W, here, sources, limits)
        here[BEGAN] = nanoseconds(clock) if trace.size else 0
        phase = BETWEEN_LEVELS
    tail, edges = board[TAIL], board[EDGES]
    while phase < FILLED:
        if phase > MARKED_UP:
            if phase == PUSHED:
                after_push(W, here, tail, edges, fill_now)
            elif phase == PULLED:
                after_pull(W, board, here)
            if phase == COUNTED:
                after_gather(W, here, limits[DEGREE_BITS])
            elif W.sigma.size and here[NEXT_NF]:
                post_gather(board, here, threads)
                return True
            step_forward(here, trace, clock)
        if phase != MARKED_UP:
            if not has_next_level(here, limits):
                break
            if trace.size and here[TRACED] == trace.shape[0]:  # Python takes the rows and calls again
                here[PHASE] = BETWEEN_LEVELS
                return False
            choose_step(A, W, here, steps, rule)
        if steps[here[CHOICE], IS_PULL]:
            if phase == MARKED_UP:
                after_marking(W, here)
            elif begins_bitmaps(here, threads):
                words = W.visited.size
                post(board, here, MARK_UP, ZERO, words, pull_chunk(words, threads), MARKED_UP)
                return True
            post_pull(A, W, board, here, steps, limits)
            return True
        make_queue(W, here)
        if threads > 1 and here[MF] + here[NF] >= SMALL_LEVEL:
            post_push(board, here, threads)
            return True
        tail, edges = push_alone(A, W.parent, W.queue, here[QUEUE_BEGIN], here[QUEUE_END], here[FIRST])
        phase = PUSHED
    if phase < FILLED and not fill_now:
        here[FLAGS] = here[SEGMENTS]
        post(board, here, FILL, ZERO, here[QUEUE_END], copy_chunk(here[QUEUE_END], threads), FILLED)
        return True
    if phase < OVER and here[REACHED] < n:
        post(board, here, MARK_UNREACHED, ZERO, n, copy_chunk(n, threads), OVER)
        return True
    here[PHASE] = OVER
    return False


@njit(**INNER)
def assist(team, me, A, W, board):
    """A helper's part in one search: jobs until the leader sends all away. A, W and board tell only the types."""
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
def take_part(A, W, board, here, sources, steps, rule, limits, trace, clock, team, helpers, me):
    """One thread's part: number 0 leads a search, others help in one after another. One function, so compiled once."""
    if me == 0:
        if helpers:
            lend(team, ADDRESS, (A, W, board))
            open_offer(team, helpers)
        while next_job(A, W, board, here, sources, steps, rule, limits, trace, clock):
            work(A, W, board, 0)
            close_job(board)
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
