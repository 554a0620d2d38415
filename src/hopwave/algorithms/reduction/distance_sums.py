"""Closeness, harmonic centrality and eccentricity without a search from every vertex.

Trees. Sums of distances of a tree's vertices follow from the sums of its attachment vertex, on any engine; Σ 1/d does
not. Trees and chains (CPU, one process, with lengths or in deep graphs): searches start only in the core, the vertices
of degree at least three; other sums follow from the distances of two core vertices (engines/cpu/many/core_sums.py).
"""

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from hopwave.algorithms import many_sources
from hopwave.algorithms.reduction import Reduction
from hopwave.algorithms.reduction.union import as_whole
from hopwave.checks.options import flag
from hopwave.engines import Engine
from hopwave.graph import Graph
from hopwave.planning.jobs import Integers, Progress
from hopwave.planning.many_sources import Sweep, Swept

LEAST_SOURCES = 1000
LEAST_SHARE = 1 / 8  # minimum share of sources among vertices: few sources are seldom in the same tree
LEAST_WORK = {"cpu": 1 << 30, "cuda": 1 << 36}  # minimum sources × arcs: less work ends before the trees are found
LEAST_GAIN = 1.15  # minimum ratio of sources without and with the reduction
LEAST_CORE_GAIN = 2.0  # minimum ratio of arcs in all searches to arcs in fewer searches plus passes over distances
PER_VERTEX = {"total": 0.1, "farthest": 0.1, "inverse": 0.3}  # cost of a pass, relative to one arc of a search

What = Literal["total", "farthest", "inverse"]  # the requested sum of a Swept


def sums(
    engine: Engine,
    graph: Graph,
    job: Sweep,
    what: What,
    title: str,
    progress: Progress,
    threads: int | None,
    alone: bool = True,
    reduce: bool = True,
) -> tuple[Swept, Reduction | None]:
    """The result of sweep(job) and the reduction; a reduced result, if allowed and cheaper, contains only `what`."""
    may = flag("reduce", reduce) and may_pay(engine, graph, job)
    if may and (not job.weighted or as_whole(graph) is not None):
        found = by_core(engine, graph, job, what, title, progress, threads) if alone else None
        if found is None and what == "total":
            found = by_trees(engine, graph, job, title, progress, threads)
        if found is not None:
            return found
    return many_sources.sweep(engine, graph, job, title, progress, threads), None


def may_pay(engine: Engine, graph: Graph, job: Sweep) -> bool:
    """Whether a job is large enough, and its graph undirected with enough vertices of degree at most two."""
    k = len(job.sources)
    few = k < LEAST_SOURCES or k < LEAST_SHARE * graph.n
    if few or k * graph.m < LEAST_WORK.get(engine.name, np.inf) or graph.directed:
        return False
    low = np.count_nonzero(np.diff(graph.indptr) <= 2)
    return bool(low * LEAST_GAIN >= (LEAST_GAIN - 1) * graph.n) and not graph.has_parallel_arcs


def by_trees(
    engine: Engine, graph: Graph, job: Sweep, title: str, progress: Progress, threads: int | None
) -> tuple[Swept, Reduction] | None:
    """Search from the attachment vertices of trees instead of all their vertices, if these are much fewer."""
    from hopwave.engines.cpu.many.core_sums import down_the_trees, hanging_trees  # compiled code

    trees = hanging_trees(graph, job.weighted)
    roots: Integers = np.unique(trees.root[job.sources])
    if len(job.sources) < LEAST_GAIN * len(roots):
        return None
    found = many_sources.sweep(engine, graph, replace(job, sources=roots), title, progress, threads)
    reached, total = np.zeros(graph.n), np.zeros(graph.n)
    reached[roots], total[roots] = found.reached, found.total
    reached = reached[trees.root]
    down_the_trees(*trees[:3], *trees[5:], reached, total, np.zeros(graph.n))
    about = _about(graph, len(roots), graph.m, 0, len(job.sources) / len(roots))
    return _swept(job, reached, total=total), about


def core_sums(engine: Engine, graph: Graph, job: Sweep, what: What, threads: int | None) -> Any:
    """The run with searches only from the core, if that is much less work."""
    lengths = as_whole(graph) if job.weighted else None
    if engine.name != "cpu" or (lengths is None and (job.weighted or _shallow(engine, graph, threads))):
        return None
    from hopwave.engines.cpu.many.core_sums import CoreSums, hanging_trees  # compiled code, imported when first used

    run = CoreSums(graph, hanging_trees(graph, job.weighted), lengths)
    passes = PER_VERTEX[what] * graph.n * graph.n
    run.gain = len(job.sources) * graph.m / (run.rows * max(run.graph.m, 1) + passes)
    return None if run.gain < LEAST_CORE_GAIN else run


def by_core(
    engine: Engine, graph: Graph, job: Sweep, what: What, title: str, progress: Progress, threads: int | None
) -> tuple[Swept, Reduction] | None:
    """Sums from searches of only the core."""
    run = core_sums(engine, graph, job, what, threads)
    if run is None:
        return None

    def rows_of(part: Graph, sources: Integers) -> Any:
        asked = Sweep(sources, "rows", weighted=job.weighted)
        return many_sources.sweep(engine, part, asked, title, False, threads).rows

    with many_sources.polled(title, run.searched, progress) as poll:
        reached, *found = run.run(rows_of, what == "inverse", threads, poll)
    about = _about(graph, run.searched, run.graph.m, run.chains, run.gain)
    names = ("inverse",) if what == "inverse" else ("total", "farthest")
    return _swept(job, reached, **dict(zip(names, found, strict=True))), about


def _shallow(engine: Engine, graph: Graph, threads: int | None) -> bool:
    """Whether searches in hops share most of their steps, even from sources far from each other."""
    depth = many_sources.probed_depth(engine, graph, threads)
    return many_sources.together(graph.n, depth, many_sources.FEW_SOURCES)


def _swept(job: Sweep, reached: Any, **sums: Any) -> Swept:
    """The sums of the job's sources, in the types of a Swept."""
    kinds = {"reached": np.int64, "inverse": np.float64}
    found = {
        name: one[job.sources].astype(kinds.get(name, np.float64 if job.weighted else np.int64))
        for name, one in (sums | {"reached": reached}).items()
    }
    return Swept.of(len(job.sources), job.weighted, **found)


def _about(graph: Graph, searched: int, arcs: int, chains: int, gain: float) -> Reduction:
    return Reduction(0, 0, searched, arcs // 2, 0, chains, float(gain), (graph.n, graph.m // 2))
