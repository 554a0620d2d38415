"""Searches from many sources, and what is kept of them.

    s, t   source and target        d(s, t)   hops from s to t, where there is a way        n, k   vertices, sources

An engine answers a `Sweep` by a `Swept`: sums over the targets of each source, sums over the sources of each target, or
the distances themselves. Everything in hopwave that looks at many distances asks for one of these, block by block, so
that no more of the n × n distances is ever held than the block.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from hopwave.engines import Engine
from hopwave.graph import Graph
from hopwave.jobs import Integers, Poll, Progress, Sweep, Swept
from hopwave.prepared import Structure
from hopwave.progress import Meter

BLOCK_BYTES = 1 << 26  # of distances held at a time, where not all of them are asked for

# Where searches share their steps, a vertex is handled once for every level at which some source of the batch reaches
# it: a few times in shallow graphs, up to once a source in deep ones. Measured on meshes and roads.
FEW_SOURCES = 3

DEEP_SCATTERED = 150  # levels from which searches go alone when their sources lie anywhere

DEEP_CROWDED = 1000  # and when most vertices are sources, so that those of a batch are neighbours

CROWDED = 0.25  # sources a vertex from which they are


def together(n: int, depth: int, sources: int) -> bool:
    """Whether searches on a graph of n vertices that is that deep gain by sharing their steps.

    >>> together(36_692, 9, 100), together(1_000_000, 2000, 100)
    (True, False)
    """
    if sources < FEW_SOURCES:
        return False
    return depth < (DEEP_CROWDED if sources >= CROWDED * n else DEEP_SCATTERED)


def probed_depth(engine: Engine, graph: Graph, threads: int | None) -> int:
    """Levels of a search from the vertex of highest degree, found once for every graph."""
    known = graph._prepared.record(Structure)
    if known.depth is None:
        probe = np.array([np.argmax(graph.degrees)], np.int64)
        found = engine.sweep(graph, Sweep(probe, "sums", together=False), _ignore, threads)
        known.depth = int(found.farthest[0])
    return known.depth


def sweep(
    engine: Engine, graph: Graph, job: Sweep, title: str, progress: Progress = None, threads: int | None = None
) -> Swept:
    """Run a job, searches sharing their steps where that pays, with progress shown as the caller wants it."""
    k = len(job.sources)
    if k >= FEW_SOURCES and job.keep != "pairs":
        depth = _depth(engine, graph, job, threads)
        job = replace(job, together=together(graph.n, depth, k), depth=depth)
    else:
        job = replace(job, together=False)
    with polled(title, k, progress) as poll:
        return engine.sweep(graph, job, poll, threads)


@contextmanager
def polled(title: str, count: int, progress: Progress) -> Iterator[Poll]:
    """What an engine tells how far it is, shown as the caller wants it."""
    with Meter(title, count, None if callable(progress) else progress) as meter:

        def poll(done: int) -> None:
            meter.update(done)
            if callable(progress):
                progress(done, count)

        yield poll
        if callable(progress):
            progress(count, count)


def _depth(engine: Engine, graph: Graph, job: Sweep, threads: int | None) -> int:
    depth = probed_depth(engine, graph, threads)
    return depth if job.limit is None else min(depth, job.limit)


def distance_blocks(
    engine: Engine,
    graph: Graph,
    sources: Integers,
    threads: int | None,
    limit: int | None = None,
    block: int = BLOCK_BYTES,
) -> Iterator[tuple[Integers, npt.NDArray[np.int32]]]:
    """Distances a block of sources at a time: (sources of the block, one row each)."""
    size = block_rows(graph.n, block)
    for begin in range(0, len(sources), size):
        some = sources[begin : begin + size]
        yield some, sweep(engine, graph, Sweep(some, "rows", limit), "distances", False, threads).rows


def block_rows(n: int, block: int = BLOCK_BYTES) -> int:
    """How many rows of distances fit into a block of so many bytes; at least one.

    >>> block_rows(1 << 20), block_rows(1000, block=1)
    (16, 1)
    """
    return max(1, block // (4 * max(1, n)))


def _ignore(done: int) -> None:
    """Nobody is looking."""
