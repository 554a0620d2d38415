"""Δ-stepping on the CPU: what is prepared, and the run (loop.py).

Where one core is faster than all, buckets are as narrow as the shortest arc, or hold a heap, and no arc is followed
twice: that is Dijkstra's algorithm (one_core.py; many/settling.py with the heap). The distances are the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hopwave.arrays import ignoring
from hopwave.engines.cpu import policy, team
from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.crew import POOL_NEXT, new_board, thread_count
from hopwave.engines.cpu.many import settling, weighted
from hopwave.engines.cpu.short_arcs import ShortArcs
from hopwave.engines.cpu.shortest_paths import bins, loop, one_core
from hopwave.engines.cpu.shortest_paths.dijkstra import dijkstra
from hopwave.engines.cpu.views import allocate, new_array, read_only, unsigned_rows

TRACE_ROWS, AT_ONCE = 4096, 1 << 16  # lengths at once, which stay in a cache
NARROWEST, WIDEST = 1e-300, 1e300  # buckets; so that neither Δ nor 1/Δ is infinite
NO_LENGTHS, ALL_ONE = read_only(np.empty(0)), read_only(np.ones(1, np.uint32))
BEYOND = {np.dtype(np.float64): np.inf, np.dtype(np.uint32): 2**32 - 1}  # all distances, by their type


@dataclass
class PreparedPaths:
    """Kept with a matrix: for it and its transpose, the arcs as kernels read them and Δ; arrays between two runs."""

    arcs: dict[bool, Any] = field(default_factory=dict)
    bucket_arcs: dict[bool, Any] = field(default_factory=dict)
    hubs: dict[bool, bool] = field(default_factory=dict)
    arcs_for_one: dict[bool, settling.Arcs] = field(default_factory=dict)
    width: dict[bool, float] = field(default_factory=dict)
    pools: list[Any] = field(default_factory=list)
    states: list[weighted.WorkerState] = field(default_factory=list)


def arcs_of(A):
    """The rows of a matrix with lengths as float64, kept with it."""
    kept = A._prepared.record(PreparedPaths).arcs
    if A._turned not in kept:
        part = A.rows
        lengths = NO_LENGTHS if part.values is None else read_only(part.values.astype(np.float64, copy=False))
        kept[A._turned] = bins.Arcs(*unsigned_rows(part), lengths)
    return kept[A._turned]


def bucket_arcs(A):
    """The rows of a matrix with lengths as Δ-stepping reads them (loop.py), kept with it."""
    kept = A._prepared.record(PreparedPaths).bucket_arcs
    if A._turned not in kept:
        values = A.rows.values
        whole = ALL_ONE if values is None else whole_lengths(values, A.shape[0])
        kept[A._turned] = arcs_of(A) if whole is None else bins.Arcs(*unsigned_rows(A.rows), read_only(whole))
    return kept[A._turned]


def whole_lengths(values, n):
    """The lengths as uint32; None if one is not whole, or a path through n vertices may be as long as 2³².

    >>> whole_lengths(np.array([3.0, 1.0]), 9).tolist(), whole_lengths(np.array([2.5]), 9), whole_lengths([2.0**31], 9)
    ([3, 1], None, None)
    """
    made = new_array(len(values), np.uint32)
    for begin in range(0, len(values), AT_ONCE):
        some = values[begin : begin + AT_ONCE]
        if not float(np.max(some)) * n < BEYOND[made.dtype] or (np.floor(some) != some).any():
            return None
        made[begin : begin + AT_ONCE] = some
    return made


def width_of(A):
    """The width of buckets for a matrix, from some of its lengths; kept with it."""
    kept = A._prepared.record(PreparedPaths).width
    if A._turned not in kept:
        typical = typical_length(ALL_ONE if A.rows.values is None else A.rows.values)
        kept[A._turned] = policy.bucket_width(typical, len(A.rows.indices) / max(1, A.shape[0]), has_hubs(A))
    return kept[A._turned]


@ignoring("over")  # between two lengths, the median may overflow to infinity
def typical_length(values):
    """The median of some of the lengths above 0."""
    some = values[:: max(1, len(values) // policy.LENGTHS_LOOKED_AT)]
    some = some[some > 0]
    return float(np.median(some)) if len(some) else 1.0


def has_hubs(A):
    """Whether some vertices have far more arcs than others; kept with a matrix."""
    kept = A._prepared.record(PreparedPaths).hubs
    if A._turned not in kept:
        degrees = np.diff(A.rows.indptr)
        kept[A._turned] = int(degrees.max(initial=0)) * len(degrees) > policy.IRREGULAR * len(A.rows.indices)
    return kept[A._turned]


def delta_stepping(A, job, delta, threads, trace):
    """Distances of a ShortestPathsJob; Δ; if traced one row per bucket, as loop.TRACE_COLUMNS says; whether it was
    Dijkstra's algorithm on one core instead."""
    n, m, given, sources = A.shape[0], len(A.rows.indices), delta, job.sources
    workers = min(thread_count(threads), policy.path_threads(m), policy.MAX_TEAM + 1)
    delta = min(max(policy.shared_width(width_of(A), workers) if delta is None else delta, NARROWEST), WIDEST)
    free = given is None and not trace and len(sources) == 1 and A.rows.values is not None and m > 0
    if free and policy.one_core_is_faster(m / n, workers):
        return on_one_core(A, job), delta, [], True
    arcs, kept, blocks = bucket_arcs(A), A.prepared.record(PreparedPaths), policy.first_blocks(n, len(sources), workers)
    try:
        pool = kept.pools.pop()
    except IndexError:  # the first run, or another thread has it
        pool = None
    if pool is None or len(pool.link) < blocks:
        pool = bins.new_pool(blocks, arcs.lengths.dtype)
    run = _Run(pool, n, workers, trace, (1 / delta, has_hubs(A)), job)
    start = np.asarray(sources, np.uint32)
    with compiling(loop.take_part):
        while run.here[loop.PHASE] != loop.OVER:
            run.go_on(arcs, start)
    kept.pools[:] = [run.pool]  # one is enough, however many threads search this graph at once
    return run.answer if len(run.answer) else run.d, delta, run.trace, False


def on_one_core(A, job):
    """Distances from one source, the nearest vertices first."""
    kept, plain = A._prepared.record(PreparedPaths), arcs_of(A)
    if A._turned not in kept.arcs_for_one:
        buckets = policy.length_buckets(plain.lengths.min(), plain.lengths.max())
        kept.arcs_for_one[A._turned] = settling.Arcs(*plain, *buckets, ShortArcs(*plain), settling.ENDLESS)
    n, m, (source,), targets = A.shape[0], len(plain.indices), job.sources, np.array(job.targets, np.uint32)
    if job.targets and not kept.arcs_for_one[A._turned].in_any_order:
        return dijkstra(plain, job.sources, job.limit, job.targets, None)[1]
    search = one_core.search if kept.arcs_for_one[A.turned].in_any_order else settling.search
    try:
        state = kept.states.pop()
    except IndexError:  # the first run, or another thread has it
        state = weighted.WorkerState(waiting=weighted.new_waiting(m), **allocate(weighted.vertex_arrays(n, True)))
    d, arcs = np.full(n, np.inf), kept.arcs_for_one[A._turned]
    with compiling(search):
        if arcs.in_any_order:
            search(arcs, d, state.waiting, np.uint32(source), float(job.limit), targets)
        else:
            search(arcs, d, state, np.uint32(source), float(job.limit))
    kept.states[:] = [state]  # one is enough, however many threads search this graph at once
    return d


class _Run:
    """The arrays of one run."""

    def __init__(self, pool, n, workers, trace, numbers, job):
        kind = pool.distance.dtype
        self.pool, self.d, self.trace, self.numbers = pool, new_array(n, kind), [], np.array(numbers, float)
        self.F, self.targets = np.empty(len(pool.link), np.uint32), np.array(job.targets, np.uint32)
        beyond = np.nextafter(job.limit, np.inf) if kind == np.float64 else np.floor(job.limit) + 1
        self.beyond = np.array([min(beyond, BEYOND[kind])], kind)
        self.answer = new_array(n, np.float64) if kind != np.float64 else self.d if beyond < np.inf else np.empty(0)
        self.rows = np.zeros((workers, bins.ROW_CELLS), np.uint64)
        self.here = np.zeros(loop.HERE_CELLS, np.int64)
        self.buffer = np.empty((TRACE_ROWS if trace else 0, loop.TRACE_COLUMNS), np.int64)
        self.board = new_board()
        self.board[POOL_NEXT] = 1

    def go_on(self, arcs, sources):
        """Until all is done, or the trace is full, or the pool is empty."""
        here, board, pool = self.here, self.board, self.pool
        here[loop.TRACED] = 0
        W = loop.Run(self.d, self.beyond, self.answer, pool, self.rows, self.F, here, self.numbers, self.targets)
        kind = arcs.indptr.itemsize, self.d.itemsize
        team.lead(len(self.rows) - 1, loop.take_part, (arcs, W, board, sources, self.buffer), kind)
        self.trace += self.buffer[: here[loop.TRACED]].tolist()
        self.board = new_board()  # helpers were sent away by the old one
        self.board[POOL_NEXT] = min(board[POOL_NEXT], len(pool.link))
        if here[loop.PHASE] == loop.STOPPED and here[loop.BLOCKS]:
            self.pool = bins.new_pool(2 * len(pool.link), self.d.dtype, pool)
            F, self.F = self.F, np.empty(len(self.pool.link), np.uint32)
            self.F[: len(F)] = F
