"""Breadth-first searches: one search, or one after another."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hopwave.algorithms import bfs as _bfs
from hopwave.api.arguments import as_graph, check_hops, in_direction, listed_vertices, required_hops, source_ids
from hopwave.api.choice import choose_engine, choose_plan, search_work
from hopwave.arrays import on_host
from hopwave.checks.options import flag
from hopwave.graph import Graph
from hopwave.planning.jobs import SearchJob
from hopwave.planning.plan import Plan, PlanUsed
from hopwave.planning.trace import Level, Trace
from hopwave.results.search import BFSResult

AHEAD = 2  # searches that bfs_each starts on a GPU before it returns the first, which keeps the GPU busy


def bfs(
    G: Any,
    source: Any,
    predecessors: bool = True,
    path_counts: bool = False,
    depth_limit: int | None = None,
    direction: Literal["out", "in"] = "out",
    plan: str | Plan = "auto",
    device: str = "auto",
    trace: bool = False,
    *,
    threads: int | None = None,
) -> BFSResult:
    """Breadth-first search: hops from a source, or from the nearest of several, to every vertex.

    Weights are ignored: distances count hops. `bfs_each` searches from one source after another, `bfs_many` returns a
    table of distances, and `sssp` uses weights.

    Parameters
    ----------
    predecessors : bool, optional
        Whether to return, for every vertex, its predecessor on a shortest path.
    path_counts : bool, optional
        Whether to count the shortest paths to every vertex. Counts never overflow.
    depth_limit : int, optional
        Maximum number of hops.
    plan : str or Plan, optional
        Name of a search plan of `hopwave.plans()`: the algorithm of a paper, or one of hopwave's own.
    trace : bool, optional
        Whether to record each level.

    Returns
    -------
    BFSResult
        `distances`, and `predecessors`, `path_counts` and `trace` if requested.

    Raises
    ------
    PlanError
        The plan is unknown, or does not support the call.

    Examples
    --------
    >>> r = hw.bfs(hw.generate.grid(3, 3), 0, path_counts=True)
    >>> r.distances.tolist()
    [0, 1, 2, 1, 2, 3, 2, 3, 4]
    >>> r.path_counts[8]
    np.float64(6.0)
    """
    graph = as_graph(G)
    followed = in_direction(graph, direction)
    limit = check_hops("depth_limit", depth_limit)
    sources = source_ids(graph, source)
    return _searcher(followed, predecessors, path_counts, plan, device, threads, trace).search(followed, sources, limit)


def bfs_each(
    G: Any,
    sources: Iterable[Any],
    predecessors: bool = True,
    path_counts: bool = False,
    depth_limit: int | None = None,
    direction: Literal["out", "in"] = "out",
    plan: str | Plan = "auto",
    device: str = "auto",
    *,
    threads: int | None = None,
) -> Iterator[BFSResult]:
    """Breadth-first searches, one after another, each from its own source. They share the upload and all buffers.

    `bfs_many` returns only distances, but is much faster for many sources. Weights are ignored: distances count hops.

    Parameters
    ----------
    sources : list of vertices
        Vertices where the searches start. All of them are checked before the first search.
    predecessors, path_counts, depth_limit, plan
        See `bfs`.

    Examples
    --------
    >>> [r.depth for r in hw.bfs_each(hw.generate.path(4), [0, 1])]
    [3, 2]
    """
    graph = as_graph(G)
    followed = in_direction(graph, direction)
    limit = check_hops("depth_limit", depth_limit)
    ids = [(vertex,) for vertex in listed_vertices(graph, sources).tolist()]
    searcher = _searcher(followed, predecessors, path_counts, plan, device, threads, trace=False)
    return searcher.ahead(followed, ids, limit)


class Searcher:
    """Searches of one graph, cached with the graph without a reference to it. Several threads may share a Searcher."""

    __slots__ = ("_ahead", "_direct", "_engine", "_plan", "_question", "_threads", "_trace", "_used", "_used_directly")

    def __init__(
        self, graph: Graph, question: SearchJob, plan: str | Plan, device: str, threads: int | None, trace: bool
    ) -> None:
        trace = flag("trace", trace)
        packed = str(plan) in ("auto", "hopwave-dense") and not question.path_counts
        self._engine = engine = choose_engine(search_work(graph), device, graph, threads, packed=packed)
        self._question, self._threads, self._trace = question, threads, trace
        self._plan, why = choose_plan(plan, question, graph, engine)
        self._direct = None if trace else engine.direct_search(graph, question, self._plan, plan != "auto", threads)
        self._ahead = AHEAD if self._direct and engine.name == "cuda" else 0
        self._used = PlanUsed(self._plan, why, engine.without(self._plan))
        self._used_directly = self._used
        if self._direct:
            self._used_directly = replace(self._used, without=(*self._used.without, *self._direct.without))

    def search(self, graph: Graph, sources: tuple[int, ...], limit: int | None) -> BFSResult:
        """Search this searcher's graph from some sources, up to a limit of hops."""
        levels: list[Level] = []
        used, found = self._used_directly, None
        if self._direct:
            found = self._direct(sources, limit)  # None if the direct search does not support this search
        if found is None:
            used = self._used
            question = self._question if limit is None else replace(self._question, depth_limit=limit)
            found, levels = _bfs.search(self._engine, graph, sources, question, self._plan, self._trace, self._threads)
        return BFSResult(
            **found,
            sources=sources,
            plan=used,
            engine=self._engine.name,
            trace=Trace(levels) if self._trace else None,
            graph=graph,
        )

    def ahead(self, graph: Graph, each: Iterable[tuple[int, ...]], limit: int | None) -> Iterator[BFSResult]:
        """Yield one result after another. On a GPU, a few searches start before the first result is returned."""
        begun: deque[BFSResult] = deque()
        for sources in each:
            begun.append(self.search(graph, sources, limit))
            if len(begun) > self._ahead:
                yield begun.popleft()
        yield from begun


class Searchers(dict[Any, Searcher]):
    """The cached searchers of a graph, by the caller's arguments."""

    MOST = 64  # maximum cached searchers per graph; calls with other arguments choose engine and plan again


def _searcher(
    graph: Graph, predecessors: bool, path_counts: bool, plan: str | Plan, device: str, threads: int | None, trace: bool
) -> Searcher:
    """The searcher for these arguments: cached with the graph, or new."""
    kept = graph._prepared.record(Searchers)
    chosen = (predecessors, path_counts, plan, device, threads, trace)
    hashable = True
    try:
        found = kept.get(chosen)
    except TypeError:  # a user's plan that contains a list is not hashable
        found, hashable = None, False
    if found is None:
        question = SearchJob(flag("predecessors", predecessors), flag("path_counts", path_counts))
        found = Searcher(graph, question, plan, device, threads, trace)
        if hashable and len(kept) < Searchers.MOST:
            kept[chosen] = found
    return found


def k_hop(
    G: Any,
    vertex: Any,
    k: int,
    direction: Literal["out", "in"] = "out",
    device: str = "auto",
    *,
    threads: int | None = None,
) -> npt.NDArray[Any]:
    """All vertices within k hops of a vertex, or of the nearest of several. Weights are ignored.

    The result includes the vertex itself. It is an array of labels, or of ids (int64) without labels, in vertex order.

    Parameters
    ----------
    vertex : vertex or list of vertices
        Vertices where the search starts.
    k : int
        Maximum number of hops.

    Examples
    --------
    >>> hw.k_hop(hw.generate.path(6), 2, 1).tolist()
    [1, 2, 3]
    >>> hw.k_hop(hw.Graph.from_edges(["ann", "bob"], ["bob", "cyd"]), "ann", 1).tolist()
    ['ann', 'bob']
    """
    limit = required_hops("k", k)
    found = bfs(G, vertex, predecessors=False, depth_limit=limit, direction=direction, device=device, threads=threads)
    near = (found.distances >= 0).nonzero()[0].astype(np.int64)  # a CuPy array if the distances are one
    return near if found.graph.labels is None else found.graph.labels[on_host(near)]
