"""Distances along weights from many sources: one search by Dijkstra's algorithm per source, one source per worker.

    d        distances, infinite everywhere before and after a search, unless they are a row of the answer
    order    the vertices in the order in which they were settled: nearest bucket first (many/waiting.py)

With targets, a search ends when it has settled all that its source can reach, and a row has their distances alone.
Sums over the targets of a source are taken in that order, and what rounding loses is carried along (Knuth's exact sum
of two floats): they are as exact as float64 allows. The order depends on the graph and the source alone, so threads
change no bit. Sums over the sources of a target are added row by row, in the order of the sources, block by block.
"""

from collections import namedtuple
from dataclasses import replace

import numpy as np

from hopwave.engines.cpu import policy
from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.crew import thread_count
from hopwave.engines.cpu.intrinsics import COMPILED, INNER, atomic_add, ordered_load
from hopwave.engines.cpu.many.run import component_labels, with_room_for_pairs
from hopwave.engines.cpu.many.settling import ENDLESS, Arcs, settle
from hopwave.engines.cpu.many.values import add_values, new_values, plus
from hopwave.engines.cpu.many.waiting import new_waiting, waiting_arrays
from hopwave.engines.cpu.short_arcs import ShortArcs
from hopwave.engines.cpu.views import allocate, allocated, unsigned_rows
from hopwave.engines.cpu.workers import FINISHED, NEXT_BATCH, STOP, new_control, run_workers
from hopwave.engines.host_memory import check_memory, workers_that_fit
from hopwave.engines.ledger import Array, declare, total
from hopwave.planning.many_sources import Swept
from hopwave.system.numba_cache import njit

SUMS, ROWS, PAIRS, CHOSEN, VALUES = 1, 2, 4, 8, 16  # CHOSEN: rows of the targets alone
KEEP = {"sums": SUMS, "columns": SUMS | ROWS, "rows": ROWS, "pairs": PAIRS, "values": VALUES}

# One worker's arrays; d is empty where distances are written to the rows of the answer.
WorkerState = namedtuple("WorkerState", "d order waiting sums lost")
# What all workers share. starts: where the pairs of each source begin; limit: the greatest length; wanted, ahead: which
# vertices are targets, and how many of them each source may reach.
SharedState = namedtuple(
    "SharedState",
    "sources reached total farthest inverse rows starts pair_vertex pair_distance control keep upwards limit targets "
    "wanted ahead valued",
)


# ------------------------------------------------------------------ compiled


@njit(**INNER)
def sum_up(d, order, count, shared, number):
    """Σ d, Σ 1/d and the greatest d of one source."""
    total, lost, inverse, lost_of_inverse, farthest = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(count):
        x = d[order[i]]
        farthest = max(farthest, x)
        if x > 0.0:
            total, lost = plus(total, lost, x)
            inverse, lost_of_inverse = plus(inverse, lost_of_inverse, 1.0 / x)
    shared.total[number] = total + lost
    shared.inverse[number] = inverse + lost_of_inverse if inverse < np.inf else inverse
    shared.farthest[number] = farthest


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
            shared.pair_distance[pair] = d[v]
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
        if keep & ROWS:  # by all workers: new memory takes long to fill
            d[:] = np.inf
        ahead = shared.ahead[number] if keep & CHOSEN else -1
        count = 0
        if ahead != 0:
            count = settle(A, d, own, sources[number], shared.limit, shared.wanted, ahead)
        shared.reached[number] = count
        if keep & CHOSEN:
            row, targets = shared.rows[number], shared.targets
            for i in range(targets.size):
                row[i] = d[targets[i]]
        if keep & VALUES:
            add_values(d, order, count, own, shared.valued, number)
        if keep & SUMS:
            sum_up(d, order, count, shared, number)
        if keep & PAIRS:
            fill_pairs(d, order, count, shared, number)
        if not keep & ROWS:
            for i in range(count):
                d[order[i]] = np.inf
        atomic_add(control, FINISHED, 1)


# ------------------------------------------------------------------ runs


def vertex_arrays(n, table, sums=0):
    """The arrays of a WorkerState, except `waiting`. table: whether distances are written to rows of the answer."""
    return {"d": Array(0 if table else n, fill=np.inf), "order": Array(n, np.uint32)} | declare(
        np.float64, sums=sums, lost=sums
    )


def source_arrays(k):
    """What is kept of every source."""
    return declare(np.int64, fill=0, reached=k) | declare(np.float64, fill=0, total=k, farthest=k, inverse=k)


def aim_arrays(n, k, targets):
    """Targets: their ids, a mark for each vertex that is one, and how many each source may reach."""
    return declare(np.uint32, targets=targets) | declare(np.bool_, fill=0, wanted=n) | declare(np.int64, ahead=k)


def table_array(n, k, table):
    """The distances of k sources, if they are wanted: to all n vertices or targets. Workers fill them."""
    return Array((k, n) if table else (0, 0))


def sweep(loaded, job, poll, threads):
    """All searches of the job; poll(sources done) is called now and then. See hopwave.algorithms.many_sources."""
    if job.keep == "columns":
        return _by_columns(loaded, job, poll, threads)
    shared = _run(loaded, job.sources, job, poll, threads)
    return replace(_swept([shared], np.zeros((0, 3)), shared.rows), values=shared.valued.found)


def _by_columns(loaded, job, poll, threads):
    """Sums over sources: one block of rows after another, each added up in the order of the sources."""
    n, count, runs = loaded.n, max(1, len(job.sources)), []
    columns = np.zeros((n, 3))
    size = job.block or count
    for begin in range(0, count, size):
        block = job.sources[begin : begin + size]
        shared = _run(loaded, block, job, lambda done, begin=begin: poll(begin + done), threads)
        of_block = np.zeros((n, 3))
        for row in shared.rows:
            weight = column_weights(row, job)
            of_block[:, 0] += np.isfinite(row)
            of_block[:, 1] += weight
            of_block[:, 2] += weight * weight
        columns += of_block
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
    keep = KEEP[job.keep] if job.targets is None else CHOSEN
    columns = n if job.targets is None else len(job.targets)
    valued = new_values(job.valued, k)
    own = vertex_arrays(n, keep & ROWS, valued.found[:1].size)
    table = table_array(columns, k, keep & (ROWS | CHOSEN))
    check_memory(table.nbytes, f"a table of {k:,} × {columns:,} distances")
    each = total(own) + total(waiting_arrays(loaded.m))
    workers = workers_that_fit(max(1, min(thread_count(threads), k)), table.nbytes, each)
    shared = SharedState(
        sources=sources.astype(np.uint32),
        **allocate(source_arrays(k)),
        rows=allocated(table),
        starts=np.zeros(k if keep & PAIRS else 0, np.int64),
        pair_vertex=np.empty(0, np.int32),
        pair_distance=np.empty(0),
        control=new_control(),
        keep=keep,
        upwards=job.upwards,
        limit=np.inf if job.limit is None else float(job.limit),
        **_aims(loaded.graph, sources, job.targets),
        valued=valued,
    )
    states = [WorkerState(waiting=new_waiting(loaded.m), **allocate(own)) for _ in range(workers)]
    per_length, in_any_order = policy.length_buckets(*loaded.length_range)
    in_any_order = in_any_order and not keep & PAIRS  # which are listed nearest first
    A = _arcs(loaded, k, threads, per_length, in_any_order)
    with compiling(take_sources):
        run_workers(take_sources, A, states, shared, poll)
        if keep & PAIRS:
            shared = with_room_for_pairs(shared, shared.reached, np.float64)
            if shared.pair_vertex.size:
                run_workers(take_sources, A, states, shared, poll)
    return shared


def _arcs(loaded, k, threads, per_length, in_any_order):
    """The arcs for k searches, with the short ones apart if that pays."""
    rows = ShortArcs(*unsigned_rows(loaded.graph), loaded.lengths)
    short, span = rows, ENDLESS
    if policy.short_arcs_first(loaded.n, loaded.m, loaded.graph.directed, k, loaded.graph.is_mapped):
        apart, delta = loaded.short_arcs(threads)
        if delta * per_length >= 2.0:
            short, span = apart, np.uint64(int(delta * per_length) - 1)  # one bucket less: products are rounded
    return Arcs(*rows, per_length, in_any_order, short, span)


def _aims(graph, sources, targets):
    """Which vertices are targets, and how many of them are in the component of each source."""
    if targets is None:
        return allocate(aim_arrays(0, 0, 0))
    labels, made = component_labels(graph, strong=False), allocate(aim_arrays(graph.n, len(sources), len(targets)))
    made["targets"][:], made["wanted"][targets] = targets, True
    made["ahead"][:] = np.bincount(labels[targets], minlength=labels.max(initial=0) + 1)[labels[sources]]
    return made


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
        pairs=(runs[0].pair_vertex, runs[0].pair_distance),
    )
