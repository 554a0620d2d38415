"""Clustering coefficients of triangles and squares, transitivity, modularity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.algorithms import clustering as _clustering
from hopwave.algorithms import components as _components
from hopwave.api.arguments import as_graph, listed_vertices, undirected, vertex_ids
from hopwave.api.choice import product_device
from hopwave.api.weights import as_lengths, weighted
from hopwave.arrays import on_host
from hopwave.checks.numbers import is_number, is_whole, shown
from hopwave.checks.options import flag
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.graph.columns import as_column
from hopwave.graph.naming import by_index
from hopwave.results.components import Components
from hopwave.results.scores import VertexScores


def clustering(G: Any, *, weights: Any = None, device: str = "auto") -> VertexScores:
    """Clustering coefficients: the share of a vertex's pairs of neighbours that are neighbours themselves.

    The scores are between 0 and 1, as in NetworkX; 0 for a vertex without two neighbours. In a directed graph, every
    pair of arcs counts.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        The graph, without parallel arcs. Loops do not count.
        Weights are ignored unless `weights=` says otherwise.
    weights : bool, array or str, optional
        Weights by which a triangle counts: the geometric mean of its three weights over the largest weight of the
        graph. By default every triangle counts 1.
    device : {"auto", "cpu", "cuda"}, optional
        Where to multiply. "auto" is the CPU, also for a graph on a GPU; the scores are on the host.

    Examples
    --------
    >>> hw.clustering(hw.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])).scores.round(3).tolist()
    [1.0, 1.0, 0.333, 0.0]
    """
    graph, along_weights = as_lengths(G, False if weights is None else weights)
    scores = _clustering.shares(*_clustering.corners(graph, along_weights, product_device(graph, device)))
    there = scores if graph.device == "cuda" else on_host(scores)
    return VertexScores("clustering", there, vertex_ids(graph, None), graph)


def average_clustering(G: Any, count_zeros: bool = True, *, weights: Any = None, device: str = "auto") -> float:
    """Mean of the clustering coefficients. Weights are ignored unless `weights=` says otherwise.

    Parameters
    ----------
    count_zeros : bool, optional
        Whether vertices without triangles are part of the mean.
    G, weights, device
        As for `clustering`; the graph has at least one vertex.

    Examples
    --------
    >>> round(hw.average_clustering(hw.datasets.load("karate")), 4)
    0.5706
    """
    scores = clustering(G, weights=weights, device=device).scores
    remedy = "count_zeros=True" if len(scores) else "a graph with one"
    if not flag("count_zeros", count_zeros):
        scores = scores[scores > 0]
    if not len(scores):
        raise GraphError(f"no vertex is there to take the mean over; give {remedy}")
    return float(scores.mean())


def transitivity(G: Any, *, device: str = "auto") -> float:
    """Transitivity of an undirected graph: three times the triangles over the pairs of edges with a common endpoint.

    It is 0 if there are no such pairs. Loops do not count, and parallel edges are rejected. Weights are ignored.
    `average_clustering` counts vertices of low degree as much as others.

    Examples
    --------
    >>> hw.transitivity(hw.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3]))
    0.6
    """
    graph = undirected(as_graph(G), "transitivity")
    closed, possible = _clustering.corners(graph, False, product_device(graph, device))
    return int(closed.sum()) / max(1, int(possible.sum()))


def square_clustering(G: Any) -> VertexScores:
    """Square clustering: the share of the possible squares at a vertex that exist, between 0 and 1, as in NetworkX.

    The graph is undirected and has no parallel edges; loops do not count. Weights are ignored. The CPU computes it.

    Examples
    --------
    >>> hw.square_clustering(hw.generate.cycle(4)).scores.tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    from hopwave.engines.cpu.many.neighbours import count_squares  # compiled, so imported when first needed

    graph = undirected(as_graph(G), "square clustering")
    if graph.has_parallel_arcs:
        raise GraphError("square clustering counts an edge once, and some are there twice; build it without repeats=")
    squares, possible = count_squares(graph)
    scores = _clustering.shares(squares, possible)
    return VertexScores("square clustering", scores, vertex_ids(graph, None), graph)


def modularity(
    G: Any,
    communities: Components | npt.ArrayLike | Mapping[Any, Any] | Iterable[Iterable[Any]],
    resolution: float = 1.0,
    *,
    weights: Any = None,
) -> float:
    """Modularity of a partition: the share of edges within communities, minus its expectation at random.

    It is between −½ and 1, as in NetworkX. `label_propagation` finds communities.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        A graph with at least one edge.
        Weights are followed; `weights=False` leaves them out.
    communities : Communities, Components, array of int, dictionary, or list of sets of vertices
        Partition: a result of `label_propagation` or of components, one number per vertex in vertex order, a number or
        name by vertex (a dictionary, or a Series by its index), or the sets. It must cover every vertex once.
    resolution : float, optional
        Weight of the expectation: below 1 favours large communities, above 1 small ones.

    Raises
    ------
    GraphError
        The communities are not a partition.

    Examples
    --------
    >>> two = hw.Graph.from_edges([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3])
    >>> round(hw.modularity(two, [{0, 1, 2}, {3, 4, 5}]), 4)
    0.3571
    """
    if not is_number(resolution) or not resolution >= 0:
        raise GraphError(f"resolution={resolution!r} is not a factor; give a number from 0, 1 as usual")
    if hasattr(G, "tocsr"):  # undirected where it is symmetric
        G = Graph.from_scipy(G)
    graph, matrix = weighted(G, weights, "sum")
    values = matrix.to("cpu").rows.values if matrix.has_values else None
    return _components.modularity(graph, values, _labels(graph, communities), float(resolution))


def _labels(graph: Graph, communities: Any) -> npt.NDArray[Any]:
    """The number of every vertex's community."""
    if isinstance(communities, Components):
        communities = communities.labels
    communities = by_index(graph, communities, "communities")
    if isinstance(communities, Mapping):
        return _labels_by_vertex(graph, communities)
    if hasattr(communities, "to_numpy") or (isinstance(communities, list) and any(map(is_whole, communities))):
        communities = as_column(communities, "communities")
    if isinstance(communities, np.ndarray):
        if communities.shape != (graph.n,) or communities.dtype.kind not in "iu":
            raise GraphError(
                f"communities has shape {communities.shape}, type {communities.dtype}; give one whole number for each "
                f"of the {graph.n} vertices"
            )
        return np.unique(communities, return_inverse=True)[1]
    if not isinstance(communities, Iterable):
        raise GraphError(
            f"communities is a {type(communities).__name__}; give lists of vertices, one per community, or the number "
            "of every vertex's community"
        )
    members = [listed_vertices(graph, some) for some in communities]
    times = np.bincount(np.concatenate([np.zeros(0, np.int64), *members]), minlength=graph.n)
    wrong = np.flatnonzero(times != 1)
    if len(wrong):
        vertex = int(wrong[0])
        raise GraphError(
            f"vertex {graph.label(vertex)!r} is in {times[vertex]} communities; in a partition every vertex is in one"
        )
    label = np.empty(graph.n, np.int64)
    for number, some in enumerate(members):
        label[some] = number
    return label


def _labels_by_vertex(graph: Graph, communities: Mapping[Any, Any]) -> npt.NDArray[Any]:
    """The number of every vertex's community, given by vertex; a community is a number or a name."""
    label, numbers = np.full(graph.n, -1), dict[Any, int]()
    for vertex, community in communities.items():
        if not isinstance(community, str) and not is_whole(community):
            raise GraphError(
                f"communities[{vertex!r}] is {shown(community)}; give a whole number or a name for every vertex, or "
                "lists of vertices, one per community"
            )
        label[graph.index(vertex)] = numbers.setdefault(community, len(numbers))
    if (label < 0).any():
        vertex = graph.label(int(label.argmin()))
        raise GraphError(f"communities has none for vertex {vertex!r}; give it one: a partition has all vertices")
    return label
