"""Triangles, cores, communities, independent sets; clustering coefficients, transitivity, modularity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.algebra.matrix import Matrix
from hopwave.algebra.vector import Vector
from hopwave.algorithms import clustering as _clustering
from hopwave.algorithms import components as _components
from hopwave.api.arguments import as_graph, listed_vertices, undirected, vertex_ids
from hopwave.api.choice import product_device
from hopwave.api.weights import as_lengths, weighted
from hopwave.arrays import Array, Deferred, module_of, on_host
from hopwave.checks.numbers import is_number, is_whole, shown
from hopwave.checks.options import flag
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.graph.columns import as_column
from hopwave.graph.naming import by_index
from hopwave.linalg import algorithms
from hopwave.results.components import Communities, Components
from hopwave.results.scores import VertexScores
from hopwave.results.tables import named


def triangles(G: Any, *, device: str = "auto") -> VertexScores:
    """Number of triangles that contain each vertex of an undirected graph, as in NetworkX.

    Self-loops do not count. Weights are ignored.

    Examples
    --------
    >>> hw.triangles(hw.generate.complete(4)).to_dict()
    {0: 3, 1: 3, 2: 3, 3: 3}
    """
    graph = undirected(_pattern(G), "counting triangles")
    return vertex_scores("triangles", algorithms.triangles(graph, device=product_device(graph, device)), graph)


def triangle_count(G: Any, *, device: str = "auto") -> int:
    """Number of triangles of an undirected graph. Self-loops do not count. Weights are ignored.

    Examples
    --------
    >>> hw.triangle_count(hw.generate.complete(4))
    4
    """
    graph = undirected(_pattern(G), "counting triangles")
    return algorithms.triangle_count(graph, device=product_device(graph, device))


def core_numbers(G: Any, *, device: str = "auto") -> VertexScores:
    """Core numbers: for each vertex, the largest k such that the vertex belongs to the k-core.

    The k-core is the largest subgraph in which every vertex has at least k neighbours. In a directed graph, in- and
    out-arcs both count. Self-loops do not count (NetworkX's `core_number` rejects them), parallel arcs count as one.
    Weights are ignored.

    Examples
    --------
    >>> hw.core_numbers(hw.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])).scores.tolist()
    [2, 2, 2, 1]
    """
    graph = _pattern(G)
    found = algorithms.core_numbers(graph, graph.directed, device=product_device(graph, device))
    return vertex_scores("core number", found, graph)


def k_core(G: Any, k: int | None = None, *, device: str = "auto") -> Graph:
    """The k-core: the largest subgraph in which every vertex has at least k neighbours; see `core_numbers`.

    Weights are ignored. The result keeps labels and loops, and the weights if G is a `Graph`. Without labels, ids
    become labels (see `Graph.subgraph`).

    Parameters
    ----------
    k : int, optional
        Minimum number of neighbours; default: the largest core number, which gives the innermost core.

    Examples
    --------
    >>> hw.k_core(hw.Graph.from_edges(["a", "b", "c", "c"], ["b", "c", "a", "d"])).labels.tolist()
    ['a', 'b', 'c']
    """
    if k is not None and (not is_whole(k) or k < 0):
        raise GraphError(f"k={k!r} is not a number of neighbours; pass an integer of at least 0, or None")
    graph = _pattern(G)
    cores = on_host(core_numbers(graph, device=device).scores)
    return graph._induced(np.flatnonzero(cores >= (cores.max(initial=0) if k is None else k)))


def maximal_independent_set(G: Any, seed: Any = None, *, device: str = "auto") -> npt.NDArray[Any]:
    """Maximal independent set of an undirected graph: no two vertices are neighbours, and no vertex can be added.

    By Luby's algorithm. Self-loops do not count. Weights are ignored. The result is an array of labels, or of ids
    (int32) if the graph has no labels, in vertex order. The same seed gives the same set on every machine.

    Examples
    --------
    >>> hw.maximal_independent_set(hw.generate.star(5), seed=2).tolist()
    [1, 2, 3, 4]
    """
    graph = undirected(_pattern(G), "an independent set")
    found = algorithms.maximal_independent_set(graph, seed, device=product_device(graph, device))
    return named(graph, np.asarray(found.to("cpu").indices, np.int32))


def label_propagation(G: Any, seed: Any = None, max_rounds: int = 100, *, device: str = "auto") -> Communities:
    """Communities of an undirected graph by label propagation. Weights are ignored.

    Parameters
    ----------
    max_rounds : int, optional
        Maximum number of rounds.

    Returns
    -------
    Communities
        `labels`, the number of the community of each vertex; the same seed gives the same labels on every machine.
        `settled` is whether the algorithm ended before `max_rounds`, and `modularity` the quality of the partition.

    Notes
    -----
    Initially, every vertex has its own label. In each round, a vertex finds the most frequent labels among its
    neighbours. If its own label is not among them, it adopts, with probability ½, the one that is last in a random
    order of labels. The algorithm ends when no vertex would change its label.

    Examples
    --------
    >>> two = hw.Graph.from_edges([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3])
    >>> hw.label_propagation(two, seed=1).sets()
    [{0, 1, 2}, {3, 4, 5}]
    """
    graph = undirected(_pattern(G), "label propagation")
    found, settled = algorithms.label_propagation(graph, seed, max_rounds, device=product_device(graph, device))
    return Communities(_by_lowest_vertex(found.arrays()[0]), graph, settled)


def _by_lowest_vertex(label: Array) -> npt.NDArray[np.int32]:
    """Renumber the communities by their lowest vertices, on the device of the labels."""
    n, xp = len(label), module_of(label)
    vertices, first = xp.arange(n, dtype=np.int32), xp.full(n, n, np.int32)
    if xp is np:
        first[label[::-1]] = vertices[::-1]  # the lowest vertex with each label is written last
    else:
        xp.minimum.at(first, label, vertices)
    lowest = first[label]
    return on_host((xp.cumsum(lowest == vertices, dtype=np.int32) - 1)[lowest])


def _pattern(G: Any) -> Graph:
    """The graph; only a Graph keeps its weights. A matrix becomes an undirected graph if its pattern is symmetric."""
    return Graph.from_scipy(G.to("cpu").to_scipy(), weights=False) if isinstance(G, Matrix) else as_graph(G)


def _numbers(found: Vector) -> Array:
    """A vector with an entry at every position, as an array on its device."""
    return found.arrays()[0] if found.count_if_known() == found.n else found.to_dense()


def vertex_scores(name: str, found: Vector, graph: Graph) -> VertexScores:
    """A vector with an entry at every position as a result on the graph's device; copied from a GPU when first read."""
    away = found.device == "cuda" and graph.device != "cuda"
    scores: Any = Deferred(lambda: on_host(_numbers(found))) if away else _numbers(found)
    vertices: Any = Deferred(lambda: np.arange(graph.n, dtype=np.int64))
    return VertexScores(name, scores, vertices, graph)


def clustering(G: Any, *, weights: Any = None, device: str = "auto") -> VertexScores:
    """Clustering coefficients: for each vertex, the share of pairs of neighbours that are adjacent to each other.

    The scores are between 0 and 1, as in NetworkX; 0 for a vertex without two neighbours. In a directed graph, every
    pair of arcs counts. The graph must not have parallel arcs; loops do not count.
    Weights are ignored; `weights=True` uses them.

    Parameters
    ----------
    weights : bool, array or str, optional
        Weights of the edges: a triangle counts the geometric mean of its three weights, divided by the largest weight
        of the graph. By default, every triangle counts 1.
    device : {"auto", "cpu", "cuda"}, optional
        Where to compute matrix products. "auto" is the graph's device.

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
    """Mean of the clustering coefficients. Weights are ignored; `weights=True` uses them.

    Parameters
    ----------
    count_zeros : bool, optional
        Whether the mean includes vertices without triangles.
    G, weights, device
        See `clustering`; the graph must have at least one vertex.

    Examples
    --------
    >>> round(hw.average_clustering(hw.datasets.load("karate")), 4)
    0.5706
    """
    scores = clustering(G, weights=weights, device=device).scores
    remedy = "count_zeros=True" if len(scores) else "a graph with vertices"
    if not flag("count_zeros", count_zeros):
        scores = scores[scores > 0]
    if not len(scores):
        raise GraphError(f"there is no vertex to average over; pass {remedy}")
    return float(scores.mean())


def transitivity(G: Any, *, device: str = "auto") -> float:
    """Transitivity of an undirected graph: three times the triangles over the pairs of edges with a common endpoint.

    The result is 0 if there are no such pairs. Loops do not count, and parallel edges raise an error. Unlike
    transitivity, `average_clustering` gives all vertices the same influence. Weights are ignored.

    Examples
    --------
    >>> hw.transitivity(hw.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3]))
    0.6
    """
    graph = undirected(as_graph(G), "transitivity")
    closed, possible = _clustering.corners(graph, False, product_device(graph, device))
    return int(closed.sum()) / max(1, int(possible.sum()))


def square_clustering(G: Any) -> VertexScores:
    """Square clustering: the fraction of possible squares at a vertex that exist, as in NetworkX.

    The graph must be undirected without parallel edges; loops do not count. Weights are ignored. Runs only on the CPU.

    Examples
    --------
    >>> hw.square_clustering(hw.generate.cycle(4)).scores.tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    from hopwave.engines.cpu.many.neighbours import count_squares  # compiled, so imported when first needed

    graph = undirected(as_graph(G), "square clustering")
    if graph.has_parallel_arcs:
        raise GraphError("square clustering does not support parallel edges; build the graph without repeats=")
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

    It is between −½ and 1, as in NetworkX. The graph must have an edge. `label_propagation` finds communities.
    Weights are used; `weights=False` ignores them.

    Parameters
    ----------
    communities : Communities, Components, array of int, dictionary, or list of sets of vertices
        Partition: a result of `label_propagation` or of a components function, one number per vertex in vertex order, a
        dictionary or Series from vertices to numbers or names, or the sets. It must contain every vertex exactly once.
    resolution : float, optional
        Weight of the expectation: below 1 favours large communities, above 1 small communities.

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
        raise GraphError(f"resolution={resolution!r} is not a factor; pass a number of at least 0, usually 1")
    if hasattr(G, "tocsr"):  # a symmetric matrix becomes an undirected graph
        G = Graph.from_scipy(G)
    graph, matrix = weighted(G, weights, "sum")
    values = matrix.to("cpu").rows.values if matrix.has_values else None
    return _components.modularity(graph, values, _labels(graph, communities), float(resolution))


def _labels(graph: Graph, communities: Any) -> npt.NDArray[Any]:
    """Community number of each vertex."""
    if isinstance(communities, Components):
        communities = communities.labels
    communities = by_index(graph, communities, "communities")
    if isinstance(communities, Mapping):
        return _labels_by_vertex(graph, communities)
    if hasattr(communities, "to_numpy") or (isinstance(communities, list) and any(map(is_whole, communities))):
        communities = as_column(communities, "communities")
    if isinstance(communities, np.ndarray):
        if communities.shape != (graph.n,) or communities.dtype.kind not in "iu":
            problem = f"communities has shape {communities.shape}, type {communities.dtype}"
            raise GraphError(f"{problem}; pass one integer for each of the {graph.n} vertices")
        return np.unique(communities, return_inverse=True)[1]
    if not isinstance(communities, Iterable):
        problem = f"communities is a {type(communities).__name__}"
        raise GraphError(f"{problem}; pass one list of vertices per community, or the community number of each vertex")
    members = [listed_vertices(graph, some) for some in communities]
    times = np.bincount(np.concatenate([np.zeros(0, np.int64), *members]), minlength=graph.n)
    wrong = np.flatnonzero(times != 1)
    if len(wrong):
        vertex = int(wrong[0])
        problem = f"vertex {graph.label(vertex)!r} is in {times[vertex]} communities"
        raise GraphError(f"{problem}; in a partition, every vertex is in one")
    label = np.empty(graph.n, np.int64)
    for number, some in enumerate(members):
        label[some] = number
    return label


def _labels_by_vertex(graph: Graph, communities: Mapping[Any, Any]) -> npt.NDArray[Any]:
    """Community number of each vertex, from a mapping of vertices to numbers or names."""
    label, numbers = np.full(graph.n, -1), dict[Any, int]()
    for vertex, community in communities.items():
        if not isinstance(community, str) and not is_whole(community):
            raise GraphError(
                f"communities[{vertex!r}] is {shown(community)}; pass an integer or a name for every vertex, or one "
                "list of vertices per community"
            )
        label[graph.index(vertex)] = numbers.setdefault(community, len(numbers))
    if (label < 0).any():
        vertex = graph.label(int(label.argmin()))
        raise GraphError(f"communities does not contain vertex {vertex!r}; a partition must cover every vertex")
    return label
