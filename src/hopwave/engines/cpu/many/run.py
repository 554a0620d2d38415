"""Searches from many sources on the CPU: batches dealt to workers, each with arrays of its own.

No answer depends on which sources share a batch or on who takes it: a lane never sees another, and what several workers
add to is whole numbers. So batches may be made as suits the machine.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np

from hopwave.engines.cpu.betweenness.run import NO_CUTOFF, POLL_SECONDS, Team
from hopwave.engines.cpu.betweenness.source import STOP
from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.crew import thread_count
from hopwave.engines.cpu.many import kernels
from hopwave.engines.host_memory import available_memory, check_room
from hopwave.jobs import Swept
from hopwave.prepared import Structure

KEEP = {"sums": kernels.SUMS, "columns": kernels.SUMS | kernels.COLUMNS, "rows": kernels.ROWS, "pairs": kernels.PAIRS}
PULL_SHARE = 2  # a first pull is expected to look at this part of the arcs; measured, and flat around it
ARRANGED_FROM = 256  # sources that earn back the ordering of neighbours by degree, which ends a pull sooner


def batch_width(sources, workers, together):
    """Sources a batch: 64, or as many as give every worker the same number of batches where those are few.

    >>> batch_width(100, 2, together=True), batch_width(10_000, 2, together=True), batch_width(9, 2, together=False)
    (50, 64, 1)
    """
    if not together:
        return 1
    if sources >= 8 * workers * kernels.LANES:
        return kernels.LANES
    rounds = max(1, -(-sources // (workers * kernels.LANES)))
    return max(2, -(-sources // (workers * rounds)))


def sweep(loaded, job, poll, threads):
    """All searches of the job; poll(sources done) is called now and then. See hopwave.algorithms.many_sources."""
    n, k = loaded.n, len(job.sources)
    together = job.together and job.keep != "pairs"
    workers = max(1, min(thread_count(threads), k // 32 if together else k))
    workers = fitting(workers, n, k, job, together)
    width = batch_width(k, workers, together)
    A = loaded.adjacency("paper" if together and loaded.irregular and k >= ARRANGED_FROM else "any")
    places = np.arange(k, dtype=np.int64)
    if together and k > width:
        places = np.argsort(neighbourhood_rank(loaded)[job.sources], kind="stable")
    sources = job.sources[places]
    control = np.zeros(64, np.int64)
    limits = np.zeros(7, np.int64)
    limits[kernels.WIDTH] = width
    limits[kernels.LIMIT] = NO_CUTOFF if job.limit is None else job.limit
    limits[kernels.KEEP] = KEEP[job.keep]
    limits[kernels.SHIFT] = job.shift
    limits[kernels.WEIGHT] = kernels.INVERSE if job.weight == "inverse" else kernels.HOPS
    limits[kernels.UPWARDS] = job.upwards
    limits[kernels.PULL_SHARE] = PULL_SHARE
    no_pairs = np.empty(0, np.int32)
    task = kernels.Task(
        sources=sources,
        places=places,
        reach=reachable(loaded, sources),
        sums=np.zeros((k, 3), np.int64),
        inverse=np.zeros(k),
        rows=np.full((k, n) if job.keep == "rows" else (0, 0), -1, np.int32),
        starts=np.zeros(k if job.keep == "pairs" else 0, np.int64),
        pair_vertex=no_pairs,
        pair_depth=no_pairs,
        control=control,
        limits=limits,
    )
    desks = [desk(n, job.keep, together) for _ in range(workers)]
    work(A, desks, task, poll)
    if job.keep == "pairs":  # counted; now that they have a place each, written down
        ends = np.cumsum(task.sums[:, kernels.REACHED])
        room = int(ends[-1]) if k else 0
        check_room(8 * room, f"{room:,} pairs")
        if room:
            control[:] = 0
            task = task._replace(
                starts=ends - task.sums[:, kernels.REACHED],
                pair_vertex=np.empty(room, np.int32),
                pair_depth=np.empty(room, np.int32),
            )
            work(A, desks, task, poll)
    return Swept(
        reached=task.sums[:, kernels.REACHED],
        total=task.sums[:, kernels.TOTAL],
        farthest=task.sums[:, kernels.FARTHEST],
        inverse=task.inverse,
        histogram=sum(one.histogram for one in desks),
        columns=sum(one.columns for one in desks),
        rows=task.rows,
        pairs=(task.pair_vertex, task.pair_depth),
    )


def work(A, desks, task, poll):
    """Workers at their desks until all batches are done."""
    with compiling(kernels.take_batches):
        attend(kernels.take_batches, A, desks, task, poll)


def attend(function, A, desks, task, poll):
    """function(A, desk, task) in a thread for every desk, with a look at the clock and at Ctrl-C in between.

    Threads of its own: a short question does not wait behind a run of hours.
    """
    team = Team(len(desks))
    for number in range(1, len(desks) + 1):
        threading.Thread(target=team.work, args=(function, A, desks, task, number), daemon=True).start()
    try:
        while not team.finished.wait(POLL_SECONDS):
            poll(int(task.control[kernels.DONE]))
    except BaseException:
        task.control[STOP] |= 1
        team.wait()
        raise
    if team.error:
        raise team.error


def desk(n, keep, together):
    """One worker's arrays; pages that are never touched cost nothing."""
    words = n if together else 0
    return kernels.Desk(
        seen=np.empty(words, np.uint64),
        front=np.empty(words, np.uint64),
        fresh=np.empty(words, np.uint64),
        active=np.empty(n, np.uint32),
        found=np.empty(words, np.uint32),
        depth=np.full(0 if together or keep == "rows" else n, -1, np.int32),
        lanes=np.zeros(kernels.LANES, np.int64),
        histogram=np.zeros(n + 1 if keep in ("sums", "columns") else 0, np.int64),
        columns=np.zeros((n if keep == "columns" else 0, 3), np.int64),
    )


def fitting(workers, n, k, job, together):
    """As many workers as there is memory for, the answer itself counted first."""
    answer = 4 * n * k if job.keep == "rows" else 0
    check_room(answer, f"a table of {k:,} × {n:,} distances")
    room = available_memory()
    if room is None:
        return workers
    each = n * ((32 if together else 8) + {"sums": 8, "columns": 32}.get(job.keep, 0))
    return max(1, min(workers, (room - answer) * 3 // 4 // max(1, each)))


def reachable(loaded, sources):
    """How many vertices each source can reach at most: a search that has found them all need not look for more."""
    if loaded.graph.directed:
        return loaded.findable + (loaded.graph.in_degrees[sources] == 0).astype(np.int64)
    labels = component_labels(loaded, strong=False)
    return np.bincount(labels)[labels[sources]].astype(np.int64)


def component_labels(loaded, strong):
    """Component numbers, kept with the graph."""
    from hopwave.engines.cpu.components import components

    kept = loaded.graph._prepared.record(Structure).components
    if strong not in kept:
        kept[strong] = components(loaded, strong)
    return kept[strong]


@dataclass(frozen=True)
class NeighbourhoodRank:
    """Where each vertex stands in the order of neighbourhoods."""

    rank: np.ndarray


def neighbourhood_rank(loaded):
    """Where each vertex stands in the order of neighbourhoods, kept with the graph."""
    from hopwave.engines.cpu.many.source_order import neighbourhoods

    kept = loaded.graph._prepared.find(NeighbourhoodRank)
    if kept is None:
        A = loaded.adjacency("any")
        order = np.empty(loaded.n, np.uint32)
        neighbourhoods(A.indptr, A.indices, order)
        rank = np.empty(loaded.n, np.int64)
        rank[order] = np.arange(loaded.n)
        kept = loaded.graph._prepared.keep(NeighbourhoodRank(rank))
    return kept.rank
