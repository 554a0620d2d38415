"""Questions that products over a semiring answer: check what was asked, run the algorithm of `hopwave.linalg`, wrap.

Everywhere G is a Graph, a SciPy sparse matrix, a `linalg.Matrix` or a NetworkX graph; a vertex is an id, or a label
where the graph has labels; `device` is "cpu", "cuda", or "auto": where the matrix is.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hopwave.api.arguments import as_graph, is_whole, source_ids
from hopwave.api.weights import per_vertex, weighted
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.linalg import algorithms
from hopwave.linalg.algorithms.dijkstra import dijkstra
from hopwave.matrix import Matrix
from hopwave.results.components import Communities
from hopwave.results.scores import VertexScores
from hopwave.results.shortest_paths import ShortestPaths
from hopwave.vector import Vector

METHODS = ("auto", "dijkstra", "delta-stepping", "bellman-ford")
MANY_ARCS = 1 << 21  # from which rounds on several threads are faster than one core that follows no arc twice


def sssp(
    G: Any,
    source: Any,
    weights: Any = None,
    method: Literal["auto", "dijkstra", "delta-stepping", "bellman-ford"] = "auto",
    delta: float | None = None,
    *,
    device: str = "auto",
) -> ShortestPaths:
    """The length of a shortest path from a source, or from the nearest of several, to every vertex.

    `weights` are the arcs' lengths, none of them negative: an array, one a stored arc in the order of `G.indices` (an
    undirected edge is two arcs, which may differ); the name of an edge attribute of a NetworkX graph; a matrix has its
    values. Without any, every arc is 1 long (`hopwave.bfs` is the faster way to count hops).

    Dijkstra's algorithm takes the nearest vertex next, on one core of the CPU. Δ-stepping goes bucket by bucket of
    distances, each `delta` wide, and Bellman-Ford in rounds, whatever the distance: products, for any device and many
    threads. "auto" takes Dijkstra's, but rounds for large graphs with hubs, and products on a GPU. The answer is the
    same, to the last bit.

    For several calls on one graph, make the matrix once: `linalg.Matrix.from_graph(G, weights)`.

    >>> import hopwave as hw
    >>> G = hw.Graph.from_edges(["a", "a", "b"], ["b", "c", "c"], directed=True)
    >>> r = hw.sssp(G, "a", weights=[1.0, 5.0, 2.0])
    >>> r.distances.tolist(), r.path_to("c")
    ([0.0, 1.0, 3.0], ['a', 'b', 'c'])
    """
    graph, A = weighted(G, weights)
    sources = source_ids(graph, source)
    if method not in METHODS:
        raise GraphError(f"method={method!r} is not known; use {', '.join(map(repr, METHODS))}")
    if delta is not None and method not in ("auto", "delta-stepping"):
        raise GraphError("delta= is the width of Δ-stepping's buckets; leave it out, or use method='delta-stepping'")
    place = A.device if device == "auto" else device
    if method == "dijkstra" and place != "cpu":
        raise GraphError(f"Dijkstra's algorithm runs on the CPU, not on {place!r}; use method='delta-stepping'")
    chosen = method if method != "auto" else "delta-stepping" if delta is not None else _method(graph, place)
    if chosen == "dijkstra":
        distances = dijkstra(A, sources)
    elif chosen == "bellman-ford":
        distances = _numbers(algorithms.sssp(A, sources, device=device))
    else:
        distances = _numbers(algorithms.delta_stepping(A, sources, delta, device=device))
    return ShortestPaths(distances, sources, chosen, graph, A)


def _method(graph: Graph, place: str) -> str:
    """With a hub, which most are near to, few rounds reach everybody; else nearest first."""
    hubs = graph.n > 0 and int(graph.degrees.max()) ** 2 > graph.n
    if place == "cpu":
        return "bellman-ford" if hubs and graph.m >= MANY_ARCS else "dijkstra"
    return "bellman-ford" if hubs else "delta-stepping"


def pagerank(
    G: Any,
    alpha: float = 0.85,
    personalization: Any = None,
    max_iter: int = 100,
    tol: float = 1e-6,
    nstart: Any = None,
    weights: Any = None,
    dangling: Any = None,
    *,
    adaptive: bool = False,
    device: str = "auto",
) -> VertexScores:
    """How often a walk that follows arcs at random is at every vertex, as NetworkX 3.6.1 computes it.

    With probability `alpha` the walk follows an arc, by `weights` (as for `sssp`) where there are any; else it starts
    anew, at vertices drawn by `personalization`: a mapping from vertices, or an array of all. From vertices without
    arcs it goes on by `dangling`, which is `personalization` unless given. `nstart` is where the ranks start. It is
    over when they change by less than n · `tol` in all; an error, if that takes more than `max_iter` rounds.

    `adaptive` leaves out ranks that have settled: the same stopping rule, less work in graphs where most settle early,
    and ranks that are as near to the limit but not the same bits.

    >>> import hopwave as hw
    >>> web = hw.Graph.from_edges([0, 1, 2, 3], [2, 2, 0, 2], directed=True)
    >>> hw.pagerank(web).scores.round(3).tolist()
    [0.445, 0.038, 0.48, 0.038]
    """
    graph, A = weighted(G, weights)
    found = algorithms.pagerank(
        A,
        alpha,
        per_vertex(graph, personalization, "personalization"),
        per_vertex(graph, dangling, "dangling"),
        per_vertex(graph, nstart, "nstart"),
        tol,
        max_iter,
        adaptive=adaptive,
        device=device,
    )
    return _scores("pagerank", found, graph)


def triangles(G: Any, *, device: str = "auto") -> VertexScores:
    """How many triangles of an undirected graph each vertex is in, as NetworkX counts them; loops do not count.

    >>> import hopwave as hw
    >>> hw.triangles(hw.generate.complete(4)).to_dict()
    {0: 3, 1: 3, 2: 3, 3: 3}
    """
    graph = _undirected(G, "triangles")
    return _scores("triangles", algorithms.triangles(graph, device=device), graph)


def triangle_count(G: Any, *, device: str = "auto") -> int:
    """How many triangles an undirected graph has.

    >>> import hopwave as hw
    >>> hw.triangle_count(hw.generate.complete(4))
    4
    """
    return algorithms.triangle_count(_undirected(G, "triangles"), device=device)


def core_numbers(G: Any, *, device: str = "auto") -> VertexScores:
    """For every vertex the largest k such that it is in a subgraph in which all have k neighbours or more.

    As NetworkX's `core_number`: in a directed graph, arcs in and arcs out both count. Loops do not count (NetworkX
    refuses them). The k-core is where the score is at least k.

    >>> import hopwave as hw
    >>> hw.core_numbers(hw.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])).scores.tolist()
    [2, 2, 2, 1]
    """
    graph = _pattern(G)
    return _scores("core number", algorithms.core_numbers(graph, graph.directed, device=device), graph)


def maximal_independent_set(G: Any, seed: Any = None, *, device: str = "auto") -> npt.NDArray[np.int32]:
    """Vertices of an undirected graph of which no two are neighbours, and to which none can be added; ids, ascending.

    Drawn by Luby's algorithm: the same seed gives the same set, on every machine. Loops do not count.

    >>> import hopwave as hw
    >>> hw.maximal_independent_set(hw.generate.star(5), seed=2).tolist()
    [1, 2, 3, 4]
    """
    found = algorithms.maximal_independent_set(_undirected(G, "independence"), seed, device=device)
    return np.asarray(found.to("cpu").indices, np.int32)


def label_propagation(G: Any, seed: Any = None, max_rounds: int = 100, *, device: str = "auto") -> Communities:
    """Communities of an undirected graph: everybody takes on the label that most of its neighbours have.

    To begin with, everybody has a label of its own. In a round, a vertex whose label is not among the most frequent of
    its neighbours' takes on the one of these that is first in an order drawn by the seed, if a coin, drawn by the seed
    too, says so. Over when nobody would move, or after `max_rounds`; `settled` says which. The same seed gives the same
    communities, on every machine.

    >>> import hopwave as hw
    >>> two = hw.Graph.from_edges([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3])
    >>> hw.label_propagation(two, seed=1).sets()
    [{0, 1, 2}, {3, 4, 5}]
    """
    if not is_whole(max_rounds) or max_rounds < 0:
        raise GraphError(f"max_rounds={max_rounds!r} is no number of rounds; give a whole number from 0")
    graph = _undirected(G, "label propagation")
    found, settled = algorithms.label_propagation(graph, seed, max_rounds, device=device)
    return Communities(_by_lowest_vertex(_numbers(found)), graph, settled)


def _by_lowest_vertex(label: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """The same parts, numbered in the order of their lowest vertices."""
    _, first, part = np.unique(label, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first, kind="stable"), kind="stable")[part].astype(np.int32)


def _pattern(G: Any) -> Graph:
    """The graph, undirected where a matrix is symmetric."""
    return Graph.from_scipy(G.to("cpu").to_scipy()) if isinstance(G, Matrix) else as_graph(G)


def _undirected(G: Any, what: str) -> Graph:
    graph = _pattern(G)
    if graph.directed:
        raise GraphError(
            f"{what} is asked of undirected graphs; forget directions with Graph.from_edges(*G.to_edges(), n=G.n)"
        )
    return graph


def _numbers(found: Vector) -> npt.NDArray[Any]:
    """A vector with an entry everywhere, as a NumPy array."""
    return np.asarray(found.to("cpu").to_dense())


def _scores(name: str, found: Vector, graph: Graph) -> VertexScores:
    return VertexScores(name, _numbers(found), np.arange(graph.n, dtype=np.int64), graph)
