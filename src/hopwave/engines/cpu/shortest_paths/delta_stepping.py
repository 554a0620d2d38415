"""Δ-stepping on the CPU: preparation and the run (loop.py)."""

from functools import partial

import numpy as np

from hopwave.arrays import ignoring
from hopwave.engines.cpu import policy, team
from hopwave.engines.cpu.crew import POOL_NEXT, new_board, thread_count
from hopwave.engines.cpu.graph import is_scattered
from hopwave.engines.cpu.integers import ONE, U0, U1, U2, U32
from hopwave.engines.cpu.intrinsics import inner, outer, prefetch
from hopwave.engines.cpu.many import settling, weighted
from hopwave.engines.cpu.many.settling import LAST, NONE, ShortArcs, forget, put, take_bucket
from hopwave.engines.cpu.policy import CHAIN_DEGREE
from hopwave.engines.cpu.shortest_paths import bins, loop
from hopwave.engines.cpu.views import allocate, kept, left_or_new, new_array, read_only, unsigned_rows
from hopwave.system.compile_notice import First

TRACE_ROWS, AT_ONCE = 4096, 1 << 16  # lengths processed at a time, which fit into a cache
NARROWEST, WIDEST = 1e-300, 1e300  # bucket widths for which neither Δ nor 1/Δ is infinite
NO_LENGTHS = read_only(np.empty(0))
FIRST = First(loop.take_part)
BEYOND = {np.dtype(np.float64): np.inf, np.dtype(np.uint32): 2**32 - 1}  # larger than all distances, by type


@kept
def arcs_of(A):
    """The rows of a matrix with lengths as float64."""
    values = A.rows.values
    lengths = NO_LENGTHS if values is None else read_only(values.astype(np.float64, copy=False))
    return bins.Arcs(*unsigned_rows(A.rows), lengths)


@kept
def bucket_arcs(A):
    indptr, indices = unsigned_rows(A.rows)
    both = indices if A.rows.values is None else with_whole_lengths(indices, A.rows.values, A.shape[0])
    return arcs_of(A) if both is None else bins.Arcs(indptr, read_only(both), None)


@kept
def arcs_for_one(A):
    arcs = arcs_of(A)
    buckets = policy.length_buckets(arcs.lengths.min(), arcs.lengths.max())
    scattered = is_scattered(A.rows.indptr, A.rows.indices)
    return settling.Arcs(*arcs, *buckets, scattered, ShortArcs(*arcs), settling.ENDLESS)


def with_whole_lengths(indices, values, n):
    """Heads and lengths (bins.Arcs); None if a length is not an integer, or a path through n vertices may reach 2³²."""
    made = new_array(len(indices), np.uint64)
    for begin in range(0, len(indices), AT_ONCE):
        some = values[begin : begin + AT_ONCE]
        if not float(np.max(some)) * n < BEYOND[np.dtype(np.uint32)] or (np.floor(some) != some).any():
            return None
        lengths = some.astype(np.uint64) ^ U1
        made[begin : begin + AT_ONCE] = lengths << U32 | indices[begin : begin + AT_ONCE]
    return made


@kept
def width_of(A):
    """The width of buckets: wide without hubs, or if vertices have few arcs, since few distances are then corrected."""
    typical = typical_length(np.ones(1) if A.rows.values is None else A.rows.values)
    degree, power = len(A.rows.indices) / max(1, A.shape[0]), policy.BUCKET_POWER
    width = typical * policy.BUCKET_WIDTH / max(degree, 1.0) ** power
    return width if has_hubs(A) else width * max(1.0, degree / policy.REGULAR_DEGREE) ** (power / 2)


@ignoring("over")  # between two lengths, the median may overflow to infinity
def typical_length(values):
    some = values[:: max(1, len(values) // policy.LENGTHS_LOOKED_AT)]
    some = some[some > 0]
    return float(np.median(some)) if len(some) else 1.0


@kept
def has_hubs(A):
    degrees = np.diff(A.rows.indptr)
    return int(degrees.max(initial=0)) * len(degrees) > policy.IRREGULAR * len(A.rows.indices)


def delta_stepping(A, job, delta, threads, trace):
    """Distances; Δ; a row per bucket if traced (loop.TRACE_COLUMNS); whether one core ran Dijkstra's algorithm."""
    n, m, given, sources = A.shape[0], len(A.rows.indices), delta, job.sources
    workers = min(thread_count(threads), policy.path_threads(m), policy.MAX_TEAM + 1)
    shared = width_of(A) * (1 + workers / 8)  # each thread finds work in a bucket; distances are corrected more often
    delta = min(max(shared if delta is None else delta, NARROWEST), WIDEST)
    free = given is None and not trace and len(sources) == 1 and A.rows.values is not None and m > 0
    on_threads = partial(by_buckets, A, job, delta, workers, trace)
    if free and (
        (workers == 1 and n <= policy.CACHED_VERTICES)
        or (workers <= policy.FEW_WORKERS and m / n < policy.THIN_DEGREE)
        or FIRST.avoids(m * policy.SECONDS_PER_SETTLED_ARC, on_threads)
    ):
        return on_one_core(A, job), delta, [], True
    return on_threads()


def by_buckets(A, job, delta, workers, trace):
    n, arcs, spare = A.shape[0], bucket_arcs(A), A._prepared.made(bins.Pool, list)
    blocks = 64 + (policy.ENTRIES_PER_VERTEX * n + len(job.sources)) // 64 + policy.BLOCKS_PER_WORKER * workers
    pool = left_or_new(spare, lambda: None)
    if pool is None or len(pool.link) < blocks:
        pool = bins.new_pool(blocks, np.dtype(np.uint32) if arcs.lengths is None else arcs.lengths.dtype)
    run = _Run(pool, n, workers, trace, 1 / delta, job)
    while run.here[loop.PHASE] != loop.OVER:
        run.go_on(arcs, np.asarray(job.sources, np.uint32))
    spare[:] = [run.pool]  # one suffices, for any number of concurrent searches
    return run.answer if len(run.answer) else run.d, delta, run.trace, False


def on_one_core(A, job):
    spare, arcs = A._prepared.made(weighted.WorkerState, list), arcs_for_one(A)
    n, m, (source,), targets = A.shape[0], len(arcs.indices), job.sources, np.array(job.targets, np.uint32)
    state = left_or_new(
        spare,
        lambda: weighted.WorkerState(waiting=weighted.new_waiting(m), **allocate(weighted.vertex_arrays(n, True))),
    )
    d = np.full(n, np.inf)
    if arcs.in_any_order:
        search(arcs, d, state.waiting, np.uint32(source), float(job.limit), targets)
    else:
        settling.search(arcs, d, state, np.uint32(source), float(job.limit))
    spare[:] = [state]  # one suffices, for any number of concurrent searches
    return d


class _Run:
    def __init__(self, pool, n, workers, trace, per_length, job):
        kind = pool.distance.dtype
        self.pool, self.d, self.trace, self.per_length = pool, new_array(n, kind), [], np.array([per_length])
        self.targets = np.array(job.targets, np.uint32)
        beyond = np.nextafter(job.limit, np.inf) if kind == np.float64 else np.floor(job.limit) + 1
        self.beyond = np.array([min(beyond, BEYOND[kind])], kind)
        self.answer = new_array(n, np.float64) if kind != np.float64 else self.d if beyond < np.inf else np.empty(0)
        self.rows = np.zeros((workers, bins.ROW_CELLS), np.uint64)
        self.here = np.zeros(loop.HERE_CELLS, np.int64)
        self.buffer = np.empty((TRACE_ROWS if trace else 0, loop.TRACE_COLUMNS), np.int64)
        self.board = new_board()
        self.board[POOL_NEXT] = 1

    def go_on(self, arcs, sources):
        """Run until all buckets are done, or the trace is full, or the pool is empty."""
        here, board, pool = self.here, self.board, self.pool
        here[loop.TRACED] = 0
        W = loop.Run(self.d, self.beyond, self.answer, pool, self.rows, here, self.per_length, self.targets)
        kind = arcs.indptr.itemsize, self.d.itemsize
        team.lead(len(self.rows) - 1, loop.take_part, (arcs, W, board, sources, self.buffer), kind)
        self.trace += self.buffer[: here[loop.TRACED]].tolist()
        self.board = new_board()  # the old board dismissed its helpers
        self.board[POOL_NEXT] = min(board[POOL_NEXT], len(pool.link))
        if here[loop.LEFT]:
            self.pool = bins.new_pool(2 * len(pool.link), self.d.dtype, pool)


# ------------------------------------------------------------------ one core

# Dijkstra's algorithm with a ring of buckets (many/settling.py). No weight is narrower than a bucket: no heap.
# In sparse graphs, a search that reaches a vertex with two neighbours continues to the other: only chain ends wait.


@inner
def walk(A, d, bucket, limit, before, v, offer):
    """Walk from v, reached from `before`, along a chain. Returns its end and distance, negative if none must wait."""
    indptr, indices, lengths = A.indptr, A.indices, A.lengths
    while True:
        j, end = np.uint64(indptr[v]), np.uint64(indptr[v + ONE])
        if end - j > U2:
            return v, offer
        if end - j == U2:
            if indices[j] == before:
                j += U1
            elif indices[j + U1] != before:
                return v, offer
        elif end == j or indices[j] == before:
            return v, -1.0
        farther = offer + lengths[j]
        if np.uint64(farther * A.per_length) - bucket >= LAST:
            return v, offer
        if farther >= d[indices[j]] or farther > limit:
            return v, -1.0
        before, v, offer = v, indices[j], farther
        d[v] = offer


@outer
def search(A, d, waiting, source, limit, targets):
    """Fill d, infinite before, with distances to the limit, or to the bucket of the last target. A: settling.Arcs."""
    indptr, indices, lengths = A.indptr, A.indices, A.lengths
    first, marks, following = waiting.first, waiting.marks, waiting.following
    vertex, key = waiting.vertex, waiting.key
    chains = indices.size < CHAIN_DEGREE * indptr.size
    d[source] = 0.0
    vertex[U1], key[U1], following[U1] = source, 0.0, NONE
    entry, free, entries, filled, bucket, settled = U1, NONE, U1, U0, U0, 0
    while True:
        if entry == NONE:
            if filled == U0:
                break
            bucket, entry = take_bucket(first, marks, bucket)
            filled -= U1
            while settled < targets.size and d[targets[settled]] * A.per_length < bucket:
                settled += 1
            if targets.size > 0 and settled == targets.size:
                forget(d, waiting, entry, bucket, filled)
                break
            after = entry
            while after != NONE:
                prefetch(indptr, vertex[after])
                prefetch(d, vertex[after])
                after = np.uint64(following[after])
        u, here, after = vertex[entry], key[entry], np.uint64(following[entry])
        following[entry] = free
        free, entry = entry, after
        if after != NONE:
            row = np.uint64(indptr[vertex[after]])
            prefetch(indices, row)
            prefetch(lengths, row)
        if here != d[u]:
            continue  # its distance fell later, and it was settled with that distance
        for j in range(np.uint64(indptr[u]), np.uint64(indptr[u + ONE])):
            v = indices[j]
            offer = here + lengths[j]
            if offer >= d[v] or offer > limit:
                continue
            d[v] = offer
            if chains:
                v, offer = walk(A, d, bucket, limit, u, v, offer)
                if offer < 0.0:
                    continue
            if free != NONE:
                new = free
                free = np.uint64(following[free])
            else:
                entries += U1
                new = entries
            into = np.uint64(offer * A.per_length)
            filled += put(first, marks, vertex, key, following, new, v, offer, into)
