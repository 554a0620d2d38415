"""Label propagation on the CPU: the label that most neighbours of a vertex have, counted in an array of each thread.

All rounds are one compiled call, in which helpers stay (team.py): a round of a large graph takes a few milliseconds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hopwave.engines.cpu import crew, policy, team
from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.integers import ONE, U1, U63
from hopwave.engines.cpu.intrinsics import COMPILED, INNER, noinline, ordered_add
from hopwave.engines.cpu.splitmix import WEYL, mix
from hopwave.engines.cpu.views import unsigned_rows
from hopwave.generate.counter import start
from hopwave.system.numba_cache import njit

LOOK, MOVE = range(2)  # jobs
ROUNDS, SETTLED, ARCS = range(3)  # the cells of `now`: rounds made, whether no vertex would move, arcs looked at
MOST_ARCS, ROUNDS_AT_ONCE = 1 << 28, 64  # looked at, and made, in one call: Ctrl-C is heard between two
STREAM = "labels"  # of coins, as in linalg/algorithms/labels.py


class Labelling(NamedTuple):
    """The arrays of one run."""

    f: Any  # the label of every vertex
    order: Any  # of labels: of equally frequent ones, the last wins
    stale: Any  # whether the neighbours of a vertex have other labels than when its favourite was found
    best: Any  # the favourite of every vertex, -1 if it has no neighbours
    scratch: Any  # of each thread: how often each label was seen, 0 between two vertices; the labels seen
    starts: Any  # where the coins of each round begin
    now: Any  # see ROUNDS


@njit(**INNER)
def favourite(row, v, f, order, counts, seen):
    """The most frequent label among the neighbours: v's own if it is one, else the last in the order; -1 if no label.

    counts is 0 everywhere before and after; seen has room for the row.
    """
    size = 0
    most = np.int32(0)
    for u in row:
        if u != v:
            label = f[u]
            if counts[label] == 0:
                seen[size] = label
                size += 1
            counts[label] += np.int32(1)
            most = max(most, counts[label])
    best, place = np.int32(-1), np.int64(-1)
    own = f[v]
    if size and counts[own] == most:
        best = own
    for i in range(size):
        label = seen[i]
        if counts[label] == most and best != own and np.int64(order[label]) > place:
            best, place = label, np.int64(order[label])
        counts[label] = 0
    return best


@njit(**INNER)
def look(A, W, begin, end, me):
    """The favourites of stale vertices. Returns how many of [begin, end) would move, and the arcs looked at."""
    noinline()
    counts, seen = W.scratch[me, 0], W.scratch[me, 1]
    moves, arcs = 0, 0
    for v in range(begin, end):
        v = np.uint32(v)
        if W.stale[v]:
            W.stale[v] = 0
            row = A.indices[np.uint64(A.indptr[v]) : np.uint64(A.indptr[v + ONE])]
            W.best[v] = favourite(row, v, W.f, W.order, counts, seen)
            arcs += row.size
        moves += W.best[v] >= 0 and W.best[v] != W.f[v]
    return moves, arcs


@njit(**INNER)
def move(A, W, begin, end, first):
    """Vertices that would move do so if their coins, those of generate.counter.coins, show heads; neighbours are stale.

    first: where this round's coins begin.
    """
    noinline()
    for v in range(begin, end):
        v = np.uint32(v)
        if W.best[v] < 0 or W.best[v] == W.f[v]:
            continue
        if mix(first + (np.uint64(v) + U1) * WEYL) >> U63:
            W.f[v] = W.best[v]
            for j in range(np.uint64(A.indptr[v]), np.uint64(A.indptr[v + ONE])):
                W.stale[A.indices[j]] = 1


@njit(**INNER)
def work(A, W, board, me):
    """One thread's part in a job: the vertices of its own region first."""
    kind, region, moves, arcs = board[crew.JOB_KIND], me, 0, 0
    while True:
        begin, end, region = crew.next_of_regions(board, region)
        if region < 0:
            break
        if kind == LOOK:
            more = look(A, W, begin, end, me)
            moves += more[0]
            arcs += more[1]
        else:
            move(A, W, begin, end, W.starts[W.now[ROUNDS]])
    ordered_add(board, crew.FOUND, moves)
    ordered_add(board, crew.EDGES, arcs)


by_regions = team.regions(work)


@njit(**INNER)
def lead(A, W, board, threads):
    """Rounds until the labels are settled, no coins are left, or Ctrl-C should be heard."""
    noinline()
    now, n = W.now, np.int64(W.f.size)
    size = max(np.int64(64), min(np.int64(1024), n // (32 * threads)))
    while True:
        by_regions(A, W, board, np.int64(LOOK), n, size, 0, 0, 0, threads)
        now[ARCS] += board[crew.EDGES]
        now[SETTLED] = board[crew.FOUND] == 0
        if now[SETTLED] or now[ROUNDS] == W.starts.size:
            return
        by_regions(A, W, board, np.int64(MOVE), n, size, 0, 0, 0, threads)
        now[ROUNDS] += 1
        if now[ARCS] > MOST_ARCS and now[ROUNDS] < W.starts.size:
            return


part_of = team.led(lead, work)


@njit(**COMPILED)
def take_rounds(A, W, board, threads, team_cells, helpers, me):
    """One thread's part: number 0 leads, others help."""
    part_of(A, W, board, (threads,), team_cells, helpers, me)


class Labels:
    """See planning.jobs.LabelRounds."""

    def __init__(self, A, order):
        part, n, m = A.rows, A.shape[0], A.nnz
        self.f = np.arange(n, dtype=np.int32)
        self._threads = min(crew.crew_size(m, None), policy.MAX_TEAM + 1)
        self._arcs = unsigned_rows(part)
        scratch = np.zeros((self._threads, 2, n), np.int32)
        self._arrays = self.f, order.astype(np.int32), np.ones(n, np.uint8), self.f.copy(), scratch

    def settle(self, seed, most):
        """At most `most` rounds, until no vertex would move; returns whether none would."""
        done = 0
        while True:
            rounds = range(done, min(most, done + ROUNDS_AT_ONCE))
            starts = np.array([start(seed + number, STREAM) for number in rounds], np.uint64)
            now = np.zeros(3, np.int64)
            part = self._arcs, Labelling(*self._arrays, starts, now), crew.new_board(), self._threads
            with compiling(take_rounds):
                team.lead(self._threads - 1, take_rounds, part, self._arcs.indptr.itemsize)
            done += int(now[ROUNDS])
            if now[SETTLED] or done == most:
                return bool(now[SETTLED])
