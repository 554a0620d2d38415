"""Searches from many sources: sums over their distances, or all distances.

    s, t   source and target        d(s, t)   hops from s to t, or the length of a shortest path along weights
    n, k   vertices, sources

All functions of hopwave that need many distances run a `Sweep` on an engine, block by block, so that only one block of
the n × n distances is in memory at a time.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.algorithms.apart import Way, parts_of
from hopwave.algorithms.bfs import hops
from hopwave.arrays import Structure, ignoring
from hopwave.engines import Engine
from hopwave.graph import Graph
from hopwave.planning.jobs import Integers, Progress
from hopwave.planning.many_sources import Poll, Sweep, Swept
from hopwave.system.progress import Meter, quietly

BLOCK_BYTES = 1 << 26  # bytes of distances in memory at a time, unless the caller wants all distances

# If searches share their steps, a vertex is handled once for every level at which some source of the batch reaches it:
# a few times in shallow graphs, up to once per source in deep ones. Above these depths, measured on meshes and roads,
# searches are faster one by one.
FEW_SOURCES = 3  # minimum sources for sharing steps
DEEP_SCATTERED = 150  # maximum shared levels if the sources are far from each other
DEEP_CROWDED = 1000  # maximum shared levels if many vertices are sources: those of a batch are then neighbours
FEW_WEIGHTED = 32  # minimum searches along weights that share steps
SHALLOW_WEIGHTED = 32  # maximum levels of a graph for that, in hops
SMALL_WEIGHTED = 1 << 10  # maximum vertices of components for that at any depth
CROWDED = 0.25  # minimum share of vertices for sources to count as crowded


def together(n: int, depth: int, sources: int) -> bool:
    """Whether `sources` searches of `depth` levels on n vertices are faster if they share their steps."""
    if sources < FEW_SOURCES:
        return False
    return depth < (DEEP_CROWDED if sources >= CROWDED * n else DEEP_SCATTERED)


def probed_depth(engine: Engine, graph: Graph, threads: int | None) -> int:
    """The number of levels of a search from the vertex of highest degree, found once per graph."""
    known = graph._prepared.record(Structure)
    if known.depth is None and not graph.n:
        known.depth = 0
    if known.depth is None:
        probe = np.array([np.argmax(graph.degrees)], np.int64)
        if engine.name == "cuda":
            found = engine.sweep(graph, Sweep(probe, "sums", together=False), lambda done: None, threads).farthest
        else:  # a search that compiles faster, on all threads
            found = hops(engine, graph, (int(probe[0]),), threads)
        known.depth = int(found.max())
    return known.depth


@ignoring("over")  # scores beyond float64 are infinite
def sweep(
    engine: Engine, graph: Graph, job: Sweep, title: str, progress: Progress = None, threads: int | None = None
) -> Swept:
    """Run a job, in parts if the graph has many components and only sums are requested. Shows progress."""
    k = len(job.sources)
    way: Way = "alike" if engine.name == "cuda" else "within" if job.weighted else "whole"
    parts = parts_of(engine, graph, job.sources, way, not job.weighted) if job.keep == "sums" else None
    with polled(title, k, quietly(progress, k * (graph.n + graph.m))) as poll:
        if parts is None:
            return engine.sweep(graph, prepared(engine, graph, job, threads), poll, threads)
        found = Swept.of(k, job.weighted, reached=np.ones(k, np.int64), histogram=np.zeros(graph.n + 1, np.int64))
        found.histogram[0] = k - parts.ends[-1]  # every other source reaches only itself
        for number in range(len(parts.ends)):
            part, before = parts[number], parts.begin(number)
            here = replace(job, sources=part.sources, components=part.components)
            later = partial(lambda before, done: poll(before + done), before)
            swept = engine.sweep(part.graph, prepared(engine, part.graph, here, threads), later, threads)
            for name in ("reached", "total", "farthest", "inverse"):
                getattr(found, name)[part.places] = getattr(swept, name)
            found.histogram[: len(swept.histogram)] += swept.histogram
        return replace(found, histogram=found.histogram[:0]) if job.weighted else found


def prepared(engine: Engine, graph: Graph, job: Sweep, threads: int | None) -> Sweep:
    """The job for the engine: searches share their steps if this is faster."""
    k = len(job.sources)
    if job.weighted:
        shared = engine.name == "cpu" and k >= FEW_WEIGHTED and _few_rounds(engine, graph, threads)
        return replace(job, together=shared, block=block_rows(graph.n, weighted=True))
    if k < FEW_SOURCES or job.keep == "pairs":
        job = replace(job, together=False)
    elif job.components is None and (graph.n > DEEP_SCATTERED or engine.name != "cpu"):  # a small graph is not deep
        depth = probed_depth(engine, graph, threads)
        depth = depth if job.limit is None else min(depth, int(job.limit))
        job = replace(job, together=together(graph.n, depth, k), depth=depth)
    return job


def _few_rounds(engine: Engine, graph: Graph, threads: int | None) -> bool:
    """Whether shortest paths along weights have few arcs: components are small, or few hops wide."""
    label = graph._prepared.record(Structure).components.get(False)
    largest = graph.n if label is None or not graph.n else int(np.bincount(label).max())
    return largest <= SMALL_WEIGHTED or probed_depth(engine, graph, threads) <= SHALLOW_WEIGHTED


@contextmanager
def polled(title: str, count: int, progress: Progress) -> Iterator[Poll]:
    """Yield a function that an engine calls with the number of completed sources; it shows progress."""
    with Meter(title, count, None if callable(progress) else progress) as meter:

        def poll(done: int) -> None:
            meter.update(done)
            if callable(progress):
                progress(done, count)

        yield poll
        if callable(progress):
            progress(count, count)


def distance_blocks(
    engine: Engine,
    graph: Graph,
    sources: Integers,
    threads: int | None,
    limit: float | None = None,
    block: int = BLOCK_BYTES,
    weighted: bool = False,
) -> Iterator[tuple[Integers, npt.NDArray[Any]]]:
    """Yield (sources of a block, their distances, one row per source), block by block."""
    size = block_rows(graph.n, block, weighted)
    for begin in range(0, len(sources), size):
        some = sources[begin : begin + size]
        job = Sweep(some, "rows", limit, weighted=weighted)
        yield some, sweep(engine, graph, job, "distances", False, threads).rows


def block_rows(n: int, block: int = BLOCK_BYTES, weighted: bool = False) -> int:
    """The number of rows of distances that fit into `block` bytes; at least one."""
    return max(1, block // ((8 if weighted else 4) * max(1, n)))
