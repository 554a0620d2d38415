"""Results of products over a semiring, without weights: triangles, cores, independent sets, communities.

Each function checks its arguments, runs an algorithm of `hopwave.linalg` and wraps the result. Here G may also be a
`linalg.Matrix`, and device="auto" is the device of the matrix.
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
    """Number of triangles at each vertex of an undirected graph, as in NetworkX.

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
    """Core numbers: for every vertex, the largest k such that it belongs to the k-core.

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
    """The k-core: the largest subgraph in which every vertex has at least k neighbours, as for `core_numbers`.

    Weights are ignored, and kept in the result.

    Parameters
    ----------
    k : int, optional
        Minimum number of neighbours; by default the largest core number, for the innermost core.

    Returns
    -------
    Graph
        It keeps labels, loops, and the weights of a Graph. Without labels, ids become labels (see `Graph.subgraph`).

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
    """Maximal independent set of an undirected graph: no two vertices are neighbours, and no vertex can be added.

    Luby's algorithm. Self-loops do not count. Weights are ignored.

    Parameters
    ----------
    seed : int, optional
        The same seed gives the same set, on every machine.

    Returns
    -------
    array
        Labels, or ids (int32) if the graph has no labels, in vertex order.

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
    seed : int, optional
        The same seed gives the same communities, on every machine.
    max_rounds : int, optional
        Maximum number of rounds.

    Returns
    -------
    Communities
        `labels`, the number of the community of every vertex. `settled` says whether the algorithm ended before
        `max_rounds`, `modularity` how good the partition is.

    Notes
    -----
    Initially, every vertex has its own label. In each round, a vertex finds the most frequent labels among its
    neighbours. If its own is not one of them, it may take the last of them in a random order of labels; a coin toss
    decides. The algorithm ends when no vertex would change its label.

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
