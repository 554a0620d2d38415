"""Distances along weights from many sources: a worker searches from one source, or from 32 at once (at_once.py)."""

import math
from collections import namedtuple
from dataclasses import replace

import numpy as np

from hopwave.engines.cpu import policy
from hopwave.engines.cpu.crew import thread_count
from hopwave.engines.cpu.integers import U1
from hopwave.engines.cpu.intrinsics import atomic_add, inner, noinline, outer
from hopwave.engines.cpu.many.at_once import at_once_arrays, forget_rows, new_at_once, settle_at_once, take_column
from hopwave.engines.cpu.many.run import component_labels, with_room_for_pairs
from hopwave.engines.cpu.many.settling import ENDLESS, Arcs, ShortArcs, new_waiting, settle, waiting_arrays
from hopwave.engines.cpu.views import allocate, unsigned_rows
from hopwave.engines.cpu.workers import FINISHED, new_control, next_batch, run_workers
from hopwave.engines.host_memory import check_memory, workers_that_fit
from hopwave.engines.ledger import Array, declare, total
from hopwave.planning.many_sources import EXPONENTIAL, GAUSSIAN, NONE, Decay, Swept

# ------------------------------------------------------------------ sums of values at reached vertices

# columns: one row per vertex; found: sources × columns × limits.
Values = namedtuple("Values", "columns limits kind scale least found")


def new_values(valued, k):
    """Shared state of a job that sums values, for k sources; empty for other jobs."""
    if valued is None:
        nothing = Decay()
        return Values(np.empty((0, 0)), np.empty(0), nothing.kind, nothing.scale, nothing.least, np.empty((0, 0, 0)))
    columns, limits, decay = valued.columns, valued.limits, valued.decay
    by_vertex, found = np.array(columns.T, np.float64, order="C"), np.zeros((k, len(columns), len(limits)))
    return Values(by_vertex, limits, decay.kind, float(decay.scale), float(decay.least), found)


@inner
def plus(total, lost, x):
    """total + x, and `lost` plus the rounding error of this addition."""
    rounded = total + x
    share = rounded - total
    return rounded, lost + ((total - (rounded - share)) + (x - share))


@inner
def faded(d, kind, scale, least):
    if kind == EXPONENTIAL:
        return math.exp(-d / scale)
    if kind == GAUSSIAN:
        return math.exp(-0.5 * (d / scale) ** 2)
    return max(d, least) ** -scale


@inner
def add_values(d, order, count, own, valued, number):
    columns, limits, kind, found = valued.columns, valued.limits, valued.kind, valued.found
    sums, lost, most = own.sums, own.lost, limits.size
    sums[:] = 0.0
    lost[:] = 0.0
    for i in range(count):
        v = order[i]
        x = d[v]
        within = 0
        while x > limits[within]:
            within += 1
        share = 1.0 if kind == NONE else faded(x, kind, valued.scale, valued.least)
        for c in range(columns.shape[1]):
            place = c * most + within
            sums[place], lost[place] = plus(sums[place], lost[place], columns[v, c] * share)
    for c in range(columns.shape[1]):
        total, small = 0.0, 0.0
        for within in range(most):
            place = c * most + within
            total, small = plus(total, small + lost[place], sums[place])
            found[number, c, within] = total + small


SUMS, ROWS, PAIRS, CHOSEN, VALUES = 1, 2, 4, 8, 16  # CHOSEN: rows of the targets only
KEEP = {"sums": SUMS, "columns": SUMS | ROWS, "rows": ROWS, "pairs": PAIRS, "values": VALUES}

# One worker's arrays. d: distances, infinite between searches, or empty if they are rows of the result; order: vertices
# in the order in which they were settled or visited.
WorkerState = namedtuple("WorkerState", "d order waiting sums lost at_once", defaults=[None])
# width: sources at once; starts: start of the pairs of each source; limit: the maximum length; wanted, ahead: whether
# each vertex is a target, and the number of targets that each source may reach.
SharedState = namedtuple(
    "SharedState",
    "sources width reached total farthest inverse rows starts pair_vertex pair_distance control keep upwards limit "
    "targets wanted ahead valued",
)


# ------------------------------------------------------------------ compiled

LANES = policy.SOURCES_AT_ONCE


@inner
def sum_up(cells, lanes, beyond, order, count, shared, first, sums):
    """Sums over the rows of `lanes` distances of the vertices in order, for as many sources from number `first`."""
    noinline()
    sums[:] = 0.0
    for i in range(np.uint64(count)):
        row = np.uint64(order[i]) * lanes
        for s in range(lanes):  # vectors; of each source, six sums LANES apart: two of them are rounding errors
            x = cells[row + s]
            near = x < beyond
            sums[s] += 1.0 if near else 0.0
            x = x if near else 0.0
            sums[s + LANES] = max(x, sums[s + LANES])
            sums[s + 2 * LANES], sums[s + 3 * LANES] = plus(sums[s + 2 * LANES], sums[s + 3 * LANES], x)
            x = 1.0 / x if x > 0.0 else 0.0
            sums[s + 4 * LANES], sums[s + 5 * LANES] = plus(sums[s + 4 * LANES], sums[s + 5 * LANES], x)
    for s in range(min(np.int64(lanes), shared.reached.size - first)):
        inverse = sums[s + 4 * LANES]
        shared.reached[first + s], shared.farthest[first + s] = np.int64(sums[s]), sums[s + LANES]
        shared.total[first + s] = sums[s + 2 * LANES] + sums[s + 3 * LANES]
        shared.inverse[first + s] = inverse + sums[s + 5 * LANES] if inverse < np.inf else inverse


@inner
def fill_pairs(d, order, count, shared, number):
    """Write the pairs of one source, or only count them while the pair arrays are empty."""
    source, vertices = shared.sources[number], shared.pair_vertex
    pair = shared.starts[number]
    for i in range(1, count):
        v = order[i]
        if shared.upwards and v < source:
            continue
        if vertices.size:
            vertices[pair] = np.int32(v)
            shared.pair_distance[pair] = d[v]
        pair += 1
    shared.reached[number] = pair - shared.starts[number]


@outer
def take_sources(A, own, shared):
    control, sources, keep, order, at_once = shared.control, shared.sources, shared.keep, own.order, own.at_once
    sums, found = np.empty(6 * LANES), -1
    at_once.cells[:] = at_once.beyond  # on all workers, like the rows below: filling new memory takes long
    while True:
        first, stop = next_batch(control, shared.width, sources.size)
        if first == stop:
            return
        if shared.width > 1:
            found = settle_at_once(A, at_once, sources[first:stop])
            if found >= 0 and keep & SUMS:
                sum_up(at_once.cells, np.uint64(LANES), at_once.beyond, at_once.reached, found, shared, first, sums)
        for number in range(first, stop if found < 0 or keep != SUMS else first):
            d = shared.rows[number] if keep & ROWS else own.d
            if keep & ROWS:
                d[:] = np.inf
            ahead = shared.ahead[number] if keep & CHOSEN else -1
            count = 0
            if found >= 0:
                count = take_column(at_once, number - first, found, d, order)
            elif ahead != 0:
                count = settle(A, d, own, sources[number], shared.limit, shared.wanted, ahead)
            shared.reached[number] = count
            if keep & CHOSEN:
                row, targets = shared.rows[number], shared.targets
                for i in range(targets.size):
                    row[i] = d[targets[i]]
            if keep & VALUES:
                add_values(d, order, count, own, shared.valued, number)
            if keep & SUMS and found < 0:
                sum_up(d, U1, np.inf, order, count, shared, number, sums)
            if keep & PAIRS:
                fill_pairs(d, order, count, shared, number)
            if not keep & ROWS:
                for i in range(count):
                    d[order[i]] = np.inf
        forget_rows(at_once, found)
        atomic_add(control, FINISHED, stop - first)


# ------------------------------------------------------------------ runs


def vertex_arrays(n, table, sums=0):
    """Arrays of a WorkerState. table: whether distances are written to rows of the result."""
    return {"d": Array(0 if table else n, fill=np.inf), "order": Array(n, np.uint32)} | declare(
        np.float64, sums=sums, lost=sums
    )


def sweep(loaded, job, poll, threads):
    """All searches of the job; poll(sources done) is called from time to time. See hopwave.algorithms.many_sources."""
    if job.keep == "columns":
        return _by_columns(loaded, job, poll, threads)
    shared = _run(loaded, job.sources, job, poll, threads)
    return replace(_swept([shared], np.zeros((0, 3)), shared.rows), values=shared.valued.found)


def _by_columns(loaded, job, poll, threads):
    """Sums over sources: by blocks of rows, each added up in the order of the sources."""
    n, count, runs = loaded.n, max(1, len(job.sources)), []
    columns = np.zeros((n, 3))
    size = job.block or count
    for begin in range(0, count, size):
        block = job.sources[begin : begin + size]
        shared = _run(loaded, block, job, lambda done, begin=begin: poll(begin + done), threads)
        of_block = np.zeros((n, 3))
        for row in shared.rows:
            there = np.isfinite(row) & (row > 0)
            if job.weight == "inverse":
                weight = np.divide(np.ldexp(1.0, job.shift), row, out=np.zeros(n), where=there)
            else:
                weight = np.ldexp(np.where(there, row, 0.0), job.shift)
            of_block[:, 0] += np.isfinite(row)
            of_block[:, 1] += weight
            of_block[:, 2] += weight * weight
        columns += of_block
        runs.append(shared._replace(rows=np.empty((0, 0))))
    return _swept(runs, columns, np.empty((0, 0)))


def _run(loaded, sources, job, poll, threads):
    n, k = loaded.n, len(sources)
    keep = KEEP[job.keep] if job.targets is None else CHOSEN
    columns = n if job.targets is None else len(job.targets)
    valued = new_values(job.valued, k)
    own = vertex_arrays(n, keep & ROWS, valued.found[:1].size)
    table = (k, columns) if keep & (ROWS | CHOSEN) else (0, 0)
    check_memory(8 * table[0] * table[1], f"a table of {k:,} × {columns:,} distances")
    workers, per_length, in_any_order = (
        max(1, min(thread_count(threads), k)),
        *policy.length_buckets(*loaded.length_range),
    )
    split = policy.short_arcs_first(n, loaded.m, loaded.graph.directed, k, loaded.graph.is_mapped)
    width = policy.width_at_once(n, k // workers, split) if job.together and not keep & (PAIRS | CHOSEN) else 1
    limit, beside = np.inf if job.limit is None else float(job.limit), n if width > 1 else 0
    each = total(own) + total(waiting_arrays(loaded.m)) + total(at_once_arrays(beside))
    workers = workers_that_fit(workers, 8 * table[0] * table[1], each)
    shared = SharedState(
        sources=sources.astype(np.uint32),
        width=width,
        reached=np.zeros(k, np.int64),
        total=np.zeros(k),
        farthest=np.zeros(k),
        inverse=np.zeros(k),
        rows=np.empty(table),
        starts=np.zeros(k if keep & PAIRS else 0, np.int64),
        pair_vertex=np.empty(0, np.int32),
        pair_distance=np.empty(0),
        control=new_control(),
        keep=keep,
        upwards=job.upwards,
        limit=limit,
        valued=valued,
        **_aims(loaded.graph, sources, job.targets),
    )
    searches = [{"waiting": new_waiting(loaded.m), "at_once": new_at_once(beside, limit)} for _ in range(workers)]
    states = [WorkerState(**one, **allocate(own)) for one in searches]
    per_length, in_any_order = policy.length_buckets(*loaded.length_range)
    in_any_order = in_any_order and not keep & PAIRS  # pairs are listed nearest first
    A = _arcs(loaded, split and width == 1, threads, per_length, in_any_order)
    run_workers(take_sources, A, states, shared, poll)
    if keep & PAIRS:
        shared = with_room_for_pairs(shared, shared.reached, np.float64)
        if shared.pair_vertex.size:
            run_workers(take_sources, A, states, shared, poll)
    return shared


def _arcs(loaded, split, threads, per_length, in_any_order):
    """The arcs for searches; with `split`, the short arcs are separate unless all are in one bucket."""
    rows = ShortArcs(*unsigned_rows(loaded.graph), loaded.lengths)
    short, span = rows, ENDLESS
    if split:
        apart, delta = loaded.short_arcs(threads)
        if delta * per_length >= 2.0:
            short, span = apart, np.uint64(int(delta * per_length) - 1)  # one bucket less: products are rounded
    return Arcs(*rows, per_length, in_any_order, bool(loaded.scattered), short, span)


def _aims(graph, sources, targets):
    """Whether each vertex is a target, and the number of targets in the component of each source."""
    if targets is None:
        return {"targets": np.empty(0, np.uint32), "wanted": np.empty(0, np.bool_), "ahead": np.empty(0, np.int64)}
    labels, wanted = component_labels(graph, strong=False), np.zeros(graph.n, np.bool_)
    wanted[targets] = True
    ahead = np.bincount(labels[targets], minlength=labels.max(initial=0) + 1)[labels[sources]]
    return {"targets": np.array(targets, np.uint32), "wanted": wanted, "ahead": ahead}


def _swept(runs, columns, rows):
    sums = (np.concatenate([getattr(run, of) for run in runs]) for of in ("reached", "total", "farthest", "inverse"))
    pairs = runs[0].pair_vertex, runs[0].pair_distance
    return Swept(*sums, histogram=np.zeros(0, np.int64), columns=columns, rows=rows, pairs=pairs)
