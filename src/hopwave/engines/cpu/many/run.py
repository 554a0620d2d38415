"""Searches from many sources on the CPU: workers take batches, each with arrays of its own.

No answer depends on which sources share a batch or on which worker takes it: lanes do not affect each other, and what
several workers add to is whole numbers. So batches may be made as suits the machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from hopwave.engines.cpu import policy
from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.crew import lead, new_board, thread_count
from hopwave.engines.cpu.integers import ONE
from hopwave.engines.cpu.intrinsics import COMPILED
from hopwave.engines.cpu.many import kernels, side_by_side
from hopwave.engines.cpu.many.side_by_side import sum_arrays
from hopwave.engines.cpu.views import allocate, allocated
from hopwave.engines.cpu.workers import new_control, run_workers
from hopwave.engines.host_memory import check_memory, workers_that_fit
from hopwave.engines.ledger import Array, declare, total
from hopwave.planning.many_sources import Swept
from hopwave.prepared import Structure
from hopwave.system.numba_cache import njit

KEEP = {"sums": kernels.SUMS, "columns": kernels.SUMS | kernels.COLUMNS, "rows": kernels.ROWS, "pairs": kernels.PAIRS}
NO_LIMIT = np.iinfo(np.int32).max
SUMS = "histogram", "columns"  # the last of a worker's arrays, which begin at 0 in every run


def sweep(loaded, job, poll, threads):
    """All searches of the job; poll(sources done) is called now and then. See hopwave.algorithms.many_sources."""
    n, k, threads = loaded.n, len(job.sources), thread_count(threads)
    together = job.together and job.keep != "pairs"
    workers = max(1, min(threads, k // policy.SOURCES_PER_WORKER if together else k))
    alone = k * (n + loaded.m) <= policy.SMALL_JOB
    if together and not alone and policy.side_by_side(job.depth, k, threads):
        return _side_by_side(loaded, job, poll, threads)
    workers = 1 if alone else _fitting(workers, n, k, job, together)
    width = policy.batch_width(k, workers, together)
    arranged = together and loaded.irregular and k >= policy.SOURCES_BEFORE_ARRANGING
    A = loaded.adjacency("paper" if arranged else "any", searches=k if together else 1)
    shared = _shared_state(loaded, job, width, together)
    kind = "searches", together, together or job.keep == "rows"  # states that differ by their sums alone
    states = _worker_states(loaded, kind, job.keep, together, workers)
    with compiling(kernels.take_batches):
        run_workers(kernels.take_batches, A, states, shared, poll, alone)
        if job.keep == "pairs":
            shared = with_room_for_pairs(shared, shared.sums[:, kernels.REACHED], np.int32)
            if shared.pair_vertex.size:
                run_workers(kernels.take_batches, A, states, shared, poll, alone)
    loaded.leave(kind, states, len(states) * sum(array.nbytes for array in states[0][: -len(SUMS)]))
    return _swept(shared, states)


def _side_by_side(loaded, job, poll, threads):
    """The same, batch after batch, all threads on each."""
    n, k = loaded.n, len(job.sources)
    check_memory(table_array(n, k, job.keep).nbytes, f"a table of {k:,} × {n:,} distances")
    A = loaded.adjacency("any", searches=k)
    shared = _shared_state(loaded, job, kernels.LANES, True)
    kind = "side by side", job.keep
    own = loaded.spare(kind) or side_by_side.State(**allocate(side_by_side.arrays(n, job.keep)))
    own = own._replace(**allocate(sum_arrays(n, job.keep)))
    with compiling(side_by_side.search):
        for first in range(0, k, kernels.LANES):
            board, count = new_board(), min(kernels.LANES, k - first)
            given = A, own, shared, first, count, side_by_side.MOST_PUSHED, board
            lead(threads - 1, board, side_by_side.search, given)
            if poll(first + count):
                break
    loaded.leave(kind, own, sum(array.nbytes for array in own[: -len(SUMS)]))
    return _swept(shared, [own])


def _swept(shared, states):
    """What the searches found."""
    return Swept(
        reached=shared.sums[:, kernels.REACHED],
        total=shared.sums[:, kernels.TOTAL],
        farthest=shared.sums[:, kernels.FARTHEST],
        inverse=shared.inverse,
        histogram=sum(state.histogram for state in states),
        columns=sum(state.columns for state in states),
        rows=shared.rows,
        pairs=(shared.pair_vertex, shared.pair_distance),
    )


def _worker_states(loaded, kind, keep, together, workers):
    """Arrays for each worker: those that an earlier run left, whose pages exist already, and sums from 0."""
    left, sums = loaded.spare(kind) or [], sum_arrays(loaded.n, keep)
    states = [state._replace(**allocate(sums)) for state in left[:workers]]
    while len(states) < workers:
        states.append(kernels.WorkerState(**allocate(worker_arrays(loaded.n, keep, together))))
    return states


def _shared_state(loaded, job, width, together):
    """The answer's arrays, and the sources in the order in which they are searched from: neighbours in one batch."""
    n, k = loaded.n, len(job.sources)
    places = np.arange(k, dtype=np.int64)
    if together and k > width:
        places = np.argsort(neighbourhood_rank(loaded)[job.sources], kind="stable")
    sources = job.sources[places]
    limits = kernels.Limits(
        width=width,
        limit=NO_LIMIT if job.limit is None else int(job.limit),
        keep=KEEP[job.keep],
        shift=int(job.shift),
        weight=kernels.INVERSE if job.weight == "inverse" else kernels.HOPS,
        upwards=bool(job.upwards),
        pull_share=policy.PULL_SHARE,
        push_cost=policy.PUSH_COST,
    )
    return kernels.SharedState(
        sources=sources,
        places=places,
        reach=reachable(loaded, sources),
        sums=np.zeros((k, 3), np.int64),
        inverse=np.zeros(k),
        rows=loaded.table(k, np.int32) if job.keep == "rows" else allocated(table_array(n, k, job.keep)),
        starts=np.zeros(k if job.keep == "pairs" else 0, np.int64),
        pair_vertex=np.empty(0, np.int32),
        pair_distance=np.empty(0, np.int32),
        control=new_control(),
        limits=limits,
    )


def with_room_for_pairs(shared, counts, dtype):
    """The shared state for a second run that writes the pairs, with room for those that a first run counted."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    check_memory((4 + np.dtype(dtype).itemsize) * total, f"{total:,} pairs")
    room = {"pair_vertex": np.empty(total, np.int32), "pair_distance": np.empty(total, dtype)}
    return shared._replace(starts=ends - counts, control=new_control(), **room)


def worker_arrays(n, keep, together):
    """The arrays of a WorkerState; untouched pages cost nothing, and of a histogram few are touched."""
    words = n if together else 0
    return (
        declare(np.uint64, seen=words, front=words, fresh=words)
        | declare(np.uint32, active=n, found=words)
        | declare(np.int32, fill=-1, depth=0 if together or keep == "rows" else n)
        | declare(np.int64, fill=0, lanes=kernels.LANES)
        | sum_arrays(n, keep)
    )


@lru_cache(maxsize=64)  # a call on a small graph takes no longer than the list of its arrays
def bytes_per_worker(n, keep, together):
    """Of the arrays of a WorkerState."""
    return total(worker_arrays(n, keep, together))


def table_array(n, k, keep):
    """The distances of k sources, if they are wanted; workers fill them."""
    return Array((k, n) if keep == "rows" else (0, 0), np.int32)


def _fitting(workers, n, k, job, together):
    """As many workers as there is memory for, the answer itself counted first."""
    answer = table_array(n, k, job.keep).nbytes
    check_memory(answer, f"a table of {k:,} × {n:,} distances")
    return workers_that_fit(workers, answer, bytes_per_worker(n, job.keep, together))


def reachable(loaded, sources):
    """At most how many vertices each source reaches. A search that has found that many is over."""
    if loaded.graph.directed:
        return loaded.findable + (loaded.graph.in_degrees[sources] == 0).astype(np.int64)
    labels = component_labels(loaded.graph, strong=False)
    return np.bincount(labels)[labels[sources]].astype(np.int64)


def component_labels(graph, strong):
    """Component numbers, kept with the graph."""
    kept = graph._prepared.record(Structure).components
    if strong not in kept:
        own_component_labels(graph, strong)
    return kept[strong]


def own_component_labels(graph, strong):
    """Component numbers in an array that the caller may keep and change."""
    kept = graph._prepared.record(Structure).components
    if strong in kept:
        return kept[strong].copy()
    from hopwave.engines.cpu.components import components

    kept[strong], own = components(graph, strong)
    return own


@dataclass(frozen=True)
class NeighbourhoodRank:
    """The place of each vertex in the order of neighbourhoods."""

    rank: np.ndarray


def neighbourhood_rank(loaded):
    """The place of each vertex in the order of neighbourhoods, kept with the graph."""
    kept = loaded.graph._prepared.find(NeighbourhoodRank)
    if kept is None:
        A = loaded.adjacency("any")
        order = np.empty(loaded.n, np.uint32)
        neighbourhoods(A.indptr, A.indices, order)
        rank = np.empty(loaded.n, np.int64)
        rank[order] = np.arange(loaded.n)
        kept = loaded.graph._prepared.keep(NeighbourhoodRank(rank))
    return kept.rank


@njit(**COMPILED)
def neighbourhoods(indptr, indices, order):
    """Fill order with all vertices: every 64 are grown around their first by breadth-first search, next to the last 64.

    Sources that lie close together are active for the same vertices at almost the same time, which is what makes 64
    searches at once cheap where levels are many.
    """
    n = order.size
    state = np.zeros(n, np.uint8)  # 1: waiting, next to a placed vertex; 2: placed
    waiting = np.empty(n, np.uint32)
    first, last, lowest, placed = 0, 0, 0, 0
    while placed < n:
        group = placed
        stop = min(group + kernels.LANES, n)
        head = group
        while placed < stop:
            if head == placed:  # nothing to grow from: take the next that waits, else any
                while first < last and state[waiting[first]] == 2:
                    first += 1
                if first < last:
                    v = waiting[first]
                else:
                    while state[lowest] == 2:
                        lowest += 1
                    v = np.uint32(lowest)
                state[v] = 2
                order[placed] = v
                placed += 1
                continue
            u = order[head]
            head += 1
            for j in range(np.int64(indptr[u]), np.int64(indptr[u + ONE])):
                w = indices[j]
                if state[w] != 2 and placed < stop:
                    state[w] = 2
                    order[placed] = w
                    placed += 1
        for i in range(group, placed):
            u = order[i]
            for j in range(np.int64(indptr[u]), np.int64(indptr[u + ONE])):
                w = indices[j]
                if state[w] == 0:
                    state[w] = 1
                    waiting[last] = w
                    last += 1
