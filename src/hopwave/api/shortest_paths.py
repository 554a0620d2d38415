"""Shortest paths along weights: from one source to all vertices or to the nearest, or from many in turn.

The lengths of the arcs are the graph's own weights, if it has any. Here G may also be a `linalg.Matrix`; device="auto"
is then the device of the matrix.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from hopwave.algebra.matrix import Matrix
from hopwave.algorithms import shortest_paths as _paths
from hopwave.algorithms.shortest_paths import METHODS, MethodName
from hopwave.api.arguments import check_distance, listed_vertices, source_ids
from hopwave.api.choice import choose_device, product_device, search_work
from hopwave.api.weights import weighted
from hopwave.arrays import Deferred
from hopwave.checks.numbers import is_whole
from hopwave.checks.options import flag, one_of
from hopwave.errors import EngineError, GraphError
from hopwave.graph import Graph
from hopwave.linalg.algorithms.operands import check_lengths
from hopwave.planning.jobs import ShortestPathsJob
from hopwave.results.search import ShortestPaths


def sssp(
    G: Any,
    source: Any,
    weights: Any = None,
    method: MethodName = "auto",
    delta: float | None = None,
    *,
    limit: float | None = None,
    targets: Iterable[Any] | None = None,
    device: str = "auto",
    threads: int | None = None,
    trace: bool = False,
) -> ShortestPaths:
    """Single-source shortest paths: the length of a shortest path from a source, or from the nearest of several.

    `bfs` counts hops faster; `sssp_each` searches from one source after another, `sssp_many` makes a table, `nearest`
    finds only the nearest vertices, and `shortest_path` one path between two vertices.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix, linalg.Matrix or NetworkX graph
        The graph; the shortest of parallel edges counts.
        Weights are followed; `weights=False` leaves them out.
    source : vertex or list of vertices
        Vertex where paths start: an id, or a label if the graph has labels.
    method : {"auto", "dijkstra", "delta-stepping", "near-far", "bellman-ford"}, optional
        Algorithm. All of them give bitwise identical results.
    delta : float, optional
        Width of the buckets of Δ-stepping and near-far.
    limit : float, optional
        Maximum length of a path. Vertices farther away are not reached.
    targets : list of vertices, optional
        The search ends when it has settled these. Vertices farther away than all of them are not reached; if one of
        them cannot be reached, the search continues to the end.
    device : {"auto", "cpu", "cuda"}, optional
        Where to compute. "auto" is a GPU if there is one and the graph is on it or has a million arcs, else the CPU; a
        `linalg.Matrix` is searched where it is.
    trace : bool, optional
        Whether to record each bucket. Δ-stepping on the CPU and near-far on a GPU have a trace, so this selects one of
        them.

    Returns
    -------
    ShortestPaths
        `distances`, `predecessors`, paths by `path_to`, the `plan` that ran, and `trace` if requested.

    Notes
    -----
    Dijkstra's algorithm always settles the nearest vertex next, on one core of the CPU. Δ-stepping settles one bucket
    of distances after another: on the CPU by compiled code on several threads, on a GPU by matrix products. Near-far is
    the same idea in one launch on a GPU. In every round, Bellman-Ford relaxes all arcs of vertices whose distance
    became shorter, by matrix products. "auto" is Δ-stepping on the CPU, or Dijkstra's algorithm for small graphs; on a
    GPU, near-far. Methods that use matrix products compute all distances and then drop those beyond `limit` or the
    farthest of the `targets`; the others do not search beyond the limit, nor beyond the bucket of the last target.

    If the graph is on a GPU (`G.to("cuda")`), distances and predecessors are CuPy arrays; otherwise they are copied to
    the host when they are first read.

    For several calls with an array on one graph, attach the weights once: `G.with_weights(weights)`.

    Examples
    --------
    >>> G = hw.Graph.from_edges(["a", "a", "b"], ["b", "c", "c"], weights=[1.0, 5.0, 2.0])
    >>> r = hw.sssp(G, "a")
    >>> r.distances.tolist(), r.path_to("c")
    ([0.0, 1.0, 3.0], ['a', 'b', 'c'])
    >>> hw.sssp(G, "a", limit=2).distances.tolist()
    [0.0, 1.0, inf]
    >>> hw.sssp(G, "a", targets=["b"]).distances.tolist()
    [0.0, 1.0, inf]
    """
    graph, A = weighted(G, weights, parallel="min")
    device = _device(G, graph, A, method, device, threads)
    aims: tuple[int, ...] = ()
    if targets is not None:
        aims = tuple(np.unique(listed_vertices(graph, targets)).tolist())
        if not aims:
            raise GraphError("targets=[] has no vertex to search for; give at least one, or leave it out")
    return _searcher(graph, A, method, delta, limit, device, threads, trace, aims)(source_ids(graph, source))


def sssp_each(
    G: Any,
    sources: Iterable[Any],
    weights: Any = None,
    method: MethodName = "auto",
    delta: float | None = None,
    *,
    limit: float | None = None,
    device: str = "auto",
    threads: int | None = None,
) -> Iterator[ShortestPaths]:
    """Shortest paths from one source after another. The graph is prepared once, for all searches.

    Weights are followed; `weights=False` leaves them out.

    Parameters
    ----------
    sources : list of vertices
        Vertices where the searches start. All of them are checked before the first search.
    method, delta, limit
        As for `sssp`.

    Returns
    -------
    iterator of ShortestPaths
        One result per source, in the order given.

    Examples
    --------
    >>> roads = hw.Graph.from_edges([0, 1], [1, 2], weights=[1.5, 2.0])
    >>> [r.distances.tolist() for r in hw.sssp_each(roads, [0, 2])]
    [[0.0, 1.5, 3.5], [3.5, 2.0, 0.0]]
    """
    graph, A = weighted(G, weights, parallel="min")
    ids = [(vertex,) for vertex in listed_vertices(graph, sources).tolist()]
    device = _device(G, graph, A, method, device, threads)
    return map(_searcher(graph, A, method, delta, limit, device, threads, False), ids)


def _searcher(
    graph: Graph,
    A: Matrix,
    method: str,
    delta: float | None,
    limit: float | None,
    device: str,
    threads: int | None,
    trace: bool,
    targets: tuple[int, ...] = (),
) -> Callable[[tuple[int, ...]], ShortestPaths]:
    """Check and choose once. Returns a function that searches from some sources and wraps what it found."""
    check_lengths(A, graph.label)
    way = _paths.choose(graph, method, delta, device, threads, flag("trace", trace))
    longest = _longest(limit)

    def search(sources: tuple[int, ...]) -> ShortestPaths:
        found = _paths.distances(A, ShortestPathsJob(sources, longest, targets), way)
        d, choose = found.distances, found.predecessors
        if choose is not None and graph.device != "cuda":  # copied to the host when first read
            d, choose = Deferred(partial(found.to_host, d)), partial(_fetched, choose, found.to_host)
        return ShortestPaths(d, sources, way.method, found.plan, graph, A, found.buckets, choose)

    return search


def nearest(
    G: Any, source: Any, k: int | None = None, *, limit: float | None = None, weights: Any = None
) -> dict[Any, float]:
    """The nearest vertices and their distances: the k nearest, all within a length, or both.

    Dijkstra's algorithm on one core of the CPU searches no farther than it must; a GPU does not offer this. `k_hop`
    finds all vertices within some hops. Weights are followed; `weights=False` leaves them out.

    Parameters
    ----------
    source : vertex or list of vertices
        Vertex where paths start. Distances are those from the nearest.
    k : int, optional
        Number of vertices, the sources included; fewer if no more can be reached. Among vertices at the same distance,
        those with the lowest ids come first.
    limit : float, optional
        Maximum distance.

    Returns
    -------
    dict
        Distance by label or id, nearest first, then lowest id first.

    Raises
    ------
    GraphError
        Neither `k` nor `limit` is given.

    Examples
    --------
    >>> roads = hw.Graph.from_edges(["a", "a", "b"], ["b", "c", "c"], weights=[1.0, 5.0, 2.0])
    >>> hw.nearest(roads, "a", 2)
    {'a': 0.0, 'b': 1.0}
    >>> hw.nearest(roads, "c", limit=2)
    {'c': 0.0, 'b': 2.0}
    """
    graph, A = weighted(G, weights, parallel="min")
    sources = source_ids(graph, source)
    if k is None and limit is None:
        raise GraphError("nearest needs k= or limit=, or both; for the distance of every vertex call sssp")
    if k is not None and (not is_whole(k) or k < 1):
        raise GraphError(f"k={k!r} is not a number of vertices; give a whole number from 1, or None for all")
    most = None if k is None else min(int(k), graph.n)
    check_lengths(A, graph.label)
    ids, lengths = _paths.nearest(A, ShortestPathsJob(sources, _longest(limit), most=most))
    return dict(zip(map(graph.label, ids.tolist()), lengths.tolist(), strict=True))


def _fetched(compute: Callable[[], Any], to_host: Callable[[Any], Any]) -> Any:
    """Compute an array on the GPU, and copy it to the host."""
    return to_host(compute())


def _device(G: Any, graph: Graph, A: Matrix, method: str, device: str, threads: int | None) -> str:
    """Where to search: as device= says, or the best place for the method."""
    one_of("method", method, METHODS)
    if not isinstance(device, str):
        raise EngineError(f"device {device!r} is not known; use 'auto', 'cuda' or 'cpu'")
    if device != "auto":
        return device
    if method in ("dijkstra", "near-far"):
        return "cpu" if method == "dijkstra" else "cuda"
    if isinstance(G, Matrix):
        return "cpu" if threads is not None else A.device
    if method == "auto" and threads is None and product_device(graph, device) == "cuda":
        return "cuda"
    return choose_device(search_work(graph), device, graph, threads) if method == "auto" else "cpu"


def _longest(limit: Any) -> float:
    """The greatest length of a path; infinite if there is no limit."""
    found = check_distance("limit", limit, weighted=True)
    return math.inf if found is None else found
