"""Distances along weights from many sources: one search by Dijkstra's algorithm per source, one source per worker.

    d        distances, infinite everywhere before and after a search, unless they are a row of the answer
    order    the vertices in the order in which they were settled: nearest first

Sums over the targets of a source are taken in ascending order of the distances, and what rounding loses is carried
along (Knuth's exact sum of two floats). So they depend on the distances alone: neither threads nor the order of equally
near vertices change a bit of them. Sums over the sources of a target are added row by row, in the order of the sources.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np
from numba import njit

from hopwave.engines.cpu import policy
from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.crew import FINISHED, NEXT_BATCH, STOP, new_control, run_workers, thread_count
from hopwave.engines.cpu.heap import NOWHERE, rise, sink
from hopwave.engines.cpu.intrinsics import COMPILED, INNER, ONE, U0, U1, atomic_add, noinline, ordered_load
from hopwave.engines.cpu.views import unsigned_rows
from hopwave.engines.host_memory import check_memory, workers_that_fit
from hopwave.jobs import Swept

SUMS, ROWS, PAIRS = 1, 2, 4
KEEP = {"sums": SUMS, "columns": SUMS | ROWS, "rows": ROWS, "pairs": PAIRS}

Arcs = namedtuple("Arcs", "indptr indices lengths")
# One worker's arrays; d is empty where distances are written to the rows of the answer.
WorkerState = namedtuple("WorkerState", "d heap place_of order")
# What all workers share. starts: where the pairs of each source begin; limit: the greatest length.
SharedState = namedtuple(
    "SharedState",
    "sources reached total farthest inverse rows starts pair_vertex pair_length control keep upwards limit",
)


# ------------------------------------------------------------------ compiled


@njit(**INNER)
def settle(A, d, own, source, limit):
    """Fill d with the distances up to the limit, and order with the vertices there. Returns how many they are."""
    noinline()
    indptr, indices, lengths = A.indptr, A.indices, A.lengths
    heap, place_of, order = own.heap, own.place_of, own.order
    d[source] = 0.0
    heap[0] = source
    size, count = U1, 0
    while size > U0:
        u = heap[U0]
        size -= U1
        if size > U0:
            sink(heap, place_of, d, size, heap[size])
        place_of[u] = NOWHERE
        order[count] = u
        count += 1
        for j in range(np.uint64(indptr[u]), np.uint64(indptr[u + ONE])):
            v = indices[j]
            offer = d[u] + lengths[j]
            if offer < d[v] and offer <= limit:
                d[v] = offer
                if place_of[v] == NOWHERE:
                    heap[size] = v
                    place_of[v] = np.uint32(size)
                    size += U1
                rise(heap, place_of, d, np.uint64(place_of[v]))
    return count


@njit(**INNER)
def plus(total, lost, x):
    """total + x, and `lost` with the rounding error of this addition."""
    rounded = total + x
    share = rounded - total
    return rounded, lost + ((total - (rounded - share)) + (x - share))


@njit(**INNER)
def sum_up(d, order, count, shared, number):
    """Σ d, Σ 1/d and the greatest d of one source."""
    total, lost, inverse, lost_of_inverse = 0.0, 0.0, 0.0, 0.0
    for i in range(count):
        x = d[order[i]]
        if x > 0.0:
            total, lost = plus(total, lost, x)
            inverse, lost_of_inverse = plus(inverse, lost_of_inverse, 1.0 / x)
    shared.total[number] = total + lost
    shared.inverse[number] = inverse + lost_of_inverse if inverse < np.inf else inverse
    shared.farthest[number] = d[order[count - 1]]


@njit(**INNER)
def fill_pairs(d, order, count, shared, number):
    """Write the pairs of one source, or only count them while the arrays for them are empty."""
    source, vertices = shared.sources[number], shared.pair_vertex
    pair = shared.starts[number]
    for i in range(1, count):
        v = order[i]
        if shared.upwards and v < source:
            continue
        if vertices.size:
            vertices[pair] = np.int32(v)
            shared.pair_length[pair] = d[v]
        pair += 1
    shared.reached[number] = pair - shared.starts[number]


@njit(**COMPILED)
def take_sources(A, own, shared):
    """A worker: source after source until none is left."""
    control, sources, keep, order = shared.control, shared.sources, shared.keep, own.order
    while ordered_load(control, STOP) == 0:
        number = atomic_add(control, NEXT_BATCH, 1)
        if number >= sources.size:
            break
        d = shared.rows[number] if keep & ROWS else own.d
        count = settle(A, d, own, sources[number], shared.limit)
        shared.reached[number] = count
        if keep & SUMS:
            sum_up(d, order, count, shared, number)
        if keep & PAIRS:
            fill_pairs(d, order, count, shared, number)
        if not keep & ROWS:
            for i in range(count):
                d[order[i]] = np.inf
        atomic_add(control, FINISHED, 1)


# ------------------------------------------------------------------ runs


def sweep(loaded, job, poll, threads):
    """All searches of the job; poll(sources done) is called now and then. See hopwave.algorithms.many_sources."""
    if job.keep == "columns":
        return _by_columns(loaded, job, poll, threads)
    shared = _run(loaded, job.sources, job, poll, threads)
    return _swept([shared], np.zeros((0, 3)), shared.rows)


def _by_columns(loaded, job, poll, threads):
    """Sums over sources: one block of rows after another, each added up in the order of the sources."""
    n, runs = loaded.n, []
    columns = np.zeros((n, 3))
    size = max(1, policy.COLUMN_BLOCK_BYTES // (8 * max(1, n)))
    for begin in range(0, max(1, len(job.sources)), size):
        block = job.sources[begin : begin + size]
        shared = _run(loaded, block, job, lambda done, begin=begin: poll(begin + done), threads)
        for row in shared.rows:
            weight = column_weights(row, job)
            columns[:, 0] += np.isfinite(row)
            columns[:, 1] += weight
            columns[:, 2] += weight * weight
        runs.append(shared._replace(rows=np.empty((0, 0))))
    return _swept(runs, columns, np.empty((0, 0)))


def column_weights(row, job):
    """w(d) for one row of distances, in units of 2^-shift; 0 where there is no path."""
    there = np.isfinite(row) & (row > 0)
    if job.weight == "inverse":
        return np.divide(np.ldexp(1.0, job.shift), row, out=np.zeros(len(row)), where=there)
    return np.ldexp(np.where(there, row, 0.0), job.shift)


def _run(loaded, sources, job, poll, threads):
    """The state that all workers share, after they are done."""
    n, k = loaded.n, len(sources)
    keep = KEEP[job.keep]
    answer = 8 * n * k if keep & ROWS else 0
    check_memory(answer, f"a table of {k:,} × {n:,} distances")
    workers = workers_that_fit(max(1, min(thread_count(threads), k)), answer, 20 * n)
    shared = SharedState(
        sources=sources.astype(np.uint32),
        reached=np.zeros(k, np.int64),
        total=np.zeros(k),
        farthest=np.zeros(k),
        inverse=np.zeros(k),
        rows=np.full((k, n) if keep & ROWS else (0, 0), np.inf),
        starts=np.zeros(k if keep & PAIRS else 0, np.int64),
        pair_vertex=np.empty(0, np.int32),
        pair_length=np.empty(0),
        control=new_control(),
        keep=keep,
        upwards=job.upwards,
        limit=np.inf if job.limit is None else float(job.limit),
    )
    states = [
        WorkerState(
            d=np.full(0 if keep & ROWS else n, np.inf),
            heap=np.empty(n, np.uint32),
            place_of=np.full(n, NOWHERE, np.uint32),
            order=np.empty(n, np.uint32),
        )
        for _ in range(workers)
    ]
    A = Arcs(*unsigned_rows(loaded.graph), loaded.lengths)
    with compiling(take_sources):
        run_workers(take_sources, A, states, shared, poll)
        if keep & PAIRS:
            shared = _with_room_for_pairs(shared)
            if shared.pair_vertex.size:
                run_workers(take_sources, A, states, shared, poll)
    return shared


def _with_room_for_pairs(shared):
    """Pairs were counted by a first run; for a second one that writes them, arrays and where each source begins."""
    ends = np.cumsum(shared.reached)
    total = int(ends[-1]) if len(ends) else 0
    check_memory(12 * total, f"{total:,} pairs")
    return shared._replace(
        starts=ends - shared.reached,
        pair_vertex=np.empty(total, np.int32),
        pair_length=np.empty(total),
        control=new_control(),
    )


def _swept(runs, columns, rows):
    reached, total, farthest, inverse = (
        np.concatenate([getattr(run, name) for run in runs]) for name in ("reached", "total", "farthest", "inverse")
    )
    return Swept(
        reached=reached,
        total=total,
        farthest=farthest,
        inverse=inverse,
        histogram=np.zeros(0, np.int64),
        columns=columns,
        rows=rows,
        pairs=(runs[0].pair_vertex, runs[0].pair_length),
    )
