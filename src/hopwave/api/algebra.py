"""What products over a semiring compute without weights: triangles, cores, independent sets, communities.

Each function checks its arguments, runs an algorithm of `hopwave.linalg` and wraps the result. Here G may also be a
`linalg.Matrix`, and device="auto" is the device on which the matrix is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.algebra.matrix import Matrix
from hopwave.algebra.vector import Vector
from hopwave.api.arguments import as_graph, undirected
from hopwave.api.choice import product_device
from hopwave.arrays import Array, Deferred, module_of, on_host
from hopwave.checks.numbers import is_whole
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.linalg import algorithms
from hopwave.results.components import Communities
from hopwave.results.scores import VertexScores
from hopwave.results.tables import named


def triangles(G: Any, *, device: str = "auto") -> VertexScores:
    """How many triangles each vertex of an undirected graph is in.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix, linalg.Matrix or NetworkX graph
        An undirected graph. Self-loops do not count. Weights are ignored.
    device : {"auto", "cpu", "cuda"}, optional
        Where to compute. "auto" is where the matrix is.

    Returns
    -------
    VertexScores
        One number per vertex, the same as NetworkX's.

    See Also
    --------
    triangle_count : how many there are in the whole graph.

    Examples
    --------
    >>> hw.triangles(hw.generate.complete(4)).to_dict()
    {0: 3, 1: 3, 2: 3, 3: 3}
    """
    graph = undirected(_pattern(G), "counting triangles")
    return vertex_scores("triangles", algorithms.triangles(graph, device=product_device(graph, device)), graph)


def triangle_count(G: Any, *, device: str = "auto") -> int:
    """How many triangles an undirected graph has.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix, linalg.Matrix or NetworkX graph
        An undirected graph. Self-loops do not count. Weights are ignored.
    device
        As for `triangles`.

    See Also
    --------
    triangles : for every vertex.

    Examples
    --------
    >>> hw.triangle_count(hw.generate.complete(4))
    4
    """
    graph = undirected(_pattern(G), "counting triangles")
    return algorithms.triangle_count(graph, device=product_device(graph, device))


def core_numbers(G: Any, *, device: str = "auto") -> VertexScores:
    """Core numbers: for every vertex, the largest k such that it belongs to the k-core.

    The k-core is the largest subgraph in which every vertex has at least k neighbours.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix, linalg.Matrix or NetworkX graph
        The graph. In a directed graph, arcs in and arcs out both count. Self-loops do not count (NetworkX's
        `core_number` refuses them), parallel arcs count as one. Weights are ignored.
    device
        As for `triangles`.

    See Also
    --------
    triangles, hopwave.linalg.algorithms.core_numbers

    Examples
    --------
    >>> hw.core_numbers(hw.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3])).scores.tolist()
    [2, 2, 2, 1]
    """
    graph = _pattern(G)
    found = algorithms.core_numbers(graph, graph.directed, device=product_device(graph, device))
    return vertex_scores("core number", found, graph)


def k_core(G: Any, k: int | None = None, *, device: str = "auto") -> Graph:
    """The k-core: the largest subgraph in which every vertex has at least k neighbours.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix, linalg.Matrix or NetworkX graph
        The graph. What counts as a neighbour is as for `core_numbers`.
        Weights are ignored, and kept.
    k : int, optional
        By default the greatest core number: the innermost core.
    device
        As for `triangles`.

    Returns
    -------
    Graph
        It keeps labels, loops, and the weights of a Graph. Without labels, ids become labels (see `Graph.subgraph`).

    See Also
    --------
    core_numbers

    Examples
    --------
    >>> hw.k_core(hw.Graph.from_edges(["a", "b", "c", "c"], ["b", "c", "a", "d"])).labels.tolist()
    ['a', 'b', 'c']
    """
    if k is not None and (not is_whole(k) or k < 0):
        raise GraphError(f"k={k!r} is not a number of neighbours; give a whole number from 0, or None")
    graph = _pattern(G)
    cores = on_host(core_numbers(graph, device=device).scores)
    return graph._induced(np.flatnonzero(cores >= (cores.max(initial=0) if k is None else k)))


def maximal_independent_set(G: Any, seed: Any = None, *, device: str = "auto") -> npt.NDArray[Any]:
    """A set of vertices of which no two are neighbours, and to which no vertex can be added.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix, linalg.Matrix or NetworkX graph
        An undirected graph. Self-loops do not count. Weights are ignored.
    seed : int, optional
        The same seed gives the same set, on every machine.
    device
        As for `triangles`.

    Returns
    -------
    array
        Their labels, or their ids (int32) if the graph has no labels, in the order of the vertices.

    See Also
    --------
    hopwave.linalg.algorithms.maximal_independent_set

    Notes
    -----
    Luby's algorithm.

    Examples
    --------
    >>> hw.maximal_independent_set(hw.generate.star(5), seed=2).tolist()
    [1, 2, 3, 4]
    """
    graph = undirected(_pattern(G), "an independent set")
    found = algorithms.maximal_independent_set(graph, seed, device=product_device(graph, device))
    return named(graph, np.asarray(found.to("cpu").indices, np.int32))


def label_propagation(G: Any, seed: Any = None, max_rounds: int = 100, *, device: str = "auto") -> Communities:
    """Communities of an undirected graph by label propagation.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix, linalg.Matrix or NetworkX graph
        An undirected graph. Weights are ignored.
    seed : int, optional
        The same seed gives the same communities, on every machine.
    max_rounds : int, optional
        The greatest number of rounds.
    device
        As for `triangles`.

    Returns
    -------
    Communities
        `labels`, the number of the community of every vertex. `settled` says whether the algorithm ended before
        `max_rounds`, `modularity` how good the partition is.

    See Also
    --------
    modularity, connected_components, hopwave.linalg.algorithms.label_propagation

    Notes
    -----
    At first, every vertex has its own label. In each round, a vertex looks at the most frequent labels among its
    neighbours. If its own is not one of them, it takes the one that comes first in a random order, provided that a coin
    toss says so. The algorithm ends when no vertex would change its label.

    Examples
    --------
    >>> two = hw.Graph.from_edges([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3])
    >>> hw.label_propagation(two, seed=1).sets()
    [{0, 1, 2}, {3, 4, 5}]
    """
    if not is_whole(max_rounds) or max_rounds < 0:
        raise GraphError(f"max_rounds={max_rounds!r} is not a number of rounds; give a whole number from 0")
    graph = undirected(_pattern(G), "label propagation")
    found, settled = algorithms.label_propagation(graph, seed, max_rounds, device=product_device(graph, device))
    return Communities(_by_lowest_vertex(found.arrays()[0]), graph, settled)


def _by_lowest_vertex(label: Array) -> npt.NDArray[np.int32]:
    """Renumber the communities in the order of their lowest vertices, where the labels are."""
    n, xp = len(label), module_of(label)
    vertices, first = xp.arange(n, dtype=np.int32), xp.full(n, n, np.int32)
    if xp is np:
        first[label[::-1]] = vertices[::-1]  # the lowest vertex with each label is written last, and stays
    else:
        xp.minimum.at(first, label, vertices)
    lowest = first[label]
    found: npt.NDArray[np.int32] = on_host((xp.cumsum(lowest == vertices, dtype=np.int32) - 1)[lowest])
    return found


def _pattern(G: Any) -> Graph:
    """The graph, for algorithms that ignore weights. It is undirected if the pattern of a matrix is symmetric."""
    return Graph.from_scipy(G.to("cpu").to_scipy(), weights=False) if isinstance(G, Matrix) else as_graph(G)


def _numbers(found: Vector) -> Array:
    """A vector with an entry everywhere, as an array on its device."""
    return found.arrays()[0] if found.count_if_known() == found.n else found.to_dense()


def vertex_scores(name: str, found: Vector, graph: Graph) -> VertexScores:
    """A vector with an entry everywhere, as the result of a public function.

    What a GPU computed stays there if the graph is there, and is copied when it is first read otherwise.
    """
    away = found.device == "cuda" and graph.device != "cuda"
    scores: Any = Deferred(lambda: on_host(_numbers(found))) if away else _numbers(found)
    vertices: Any = Deferred(lambda: np.arange(graph.n, dtype=np.int64))
    return VertexScores(name, scores, vertices, graph)
