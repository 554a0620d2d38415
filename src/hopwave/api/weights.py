"""Weights in every form that callers pass: the graph's own, an array, an edge attribute, the values of a matrix.

By default, functions for paths, travel tables and PageRank use weights. Functions that count hops or components ignore
weights, and so do centralities and measures of distances unless the caller passes `weights=` (api/options.py).
"""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hopwave.algebra.matrix import Matrix
from hopwave.algebra.operators import DTYPES
from hopwave.api.arguments import as_graph, is_networkx
from hopwave.arrays import as_array, float64s, masked_place, on_gpu, on_host
from hopwave.checks.numbers import is_number, shown
from hopwave.errors import GraphError, IgnoredWeightsWarning, warn
from hopwave.graph import Graph
from hopwave.graph.columns import check_index, check_numbers, first_nan
from hopwave.graph.construct import networkx_columns
from hopwave.graph.csr import Rows, is_symmetric
from hopwave.graph.naming import by_index

Parallel = Literal["min", "sum"]  # how to combine the weights of parallel edges of a NetworkX multigraph


def weighted(G: Any, weights: Any, parallel: Parallel) -> tuple[Graph, Matrix]:
    """The graph, and its adjacency matrix with the weights that `weights` selects."""
    if isinstance(weights, np.bool_):
        weights = bool(weights)
    if isinstance(G, Matrix) or (not isinstance(G, Graph) and hasattr(G, "tocsr")):
        matrix = _chosen_values(G if isinstance(G, Matrix) else Matrix.from_scipy(G), weights)
        if matrix.shape[0] != matrix.shape[1]:
            problem = f"a matrix of shape {matrix.shape} is not square"
            raise GraphError(f"{problem}; pass a matrix with one row and one column per vertex")
        return graph_of(matrix), matrix
    if not isinstance(G, Graph) and is_networkx(G):
        if weights is None or isinstance(weights, bool | str):
            graph = _from_networkx(G, weights, parallel)
            return graph, Matrix.from_graph(graph)
    elif isinstance(weights, str):
        own = "pass weights=True for its own weights" if isinstance(G, Graph) and G.is_weighted else ""
        raise GraphError(
            f"weights={weights!r} names an edge attribute, but a {type(G).__name__} has none; "
            + (own or "build the graph with Graph.from_edges(src, dst, weights=...)")
        )
    graph = as_graph(G)
    if weights is None or weights is False:
        return graph, Matrix.from_graph(graph, weights=weights is None)
    if weights is True:
        if not graph.m and not graph.is_weighted:
            graph = graph.with_weights(np.empty(0))  # a graph without arcs counts as weighted
        if not graph.is_weighted:
            problem = "weights=True uses the graph's own weights, but this graph has none"
            raise GraphError(f"{problem}; build it with Graph.from_edges(src, dst, weights=...), or omit weights=")
        return graph, Matrix.from_graph(graph)
    return graph, Matrix.from_graph(graph, per_arc(graph, weights))


def as_lengths(G: Any, weights: Any) -> tuple[Graph, bool]:
    """(graph with the weights that `weights` selects, whether it has lengths or counts hops).

    None and False count hops; None issues a warning if the graph has weights. Parallel edges get their minimum weight.
    """
    if weights is None or weights is False or (isinstance(weights, np.bool_) and not weights):
        graph = as_graph(G)
        if weights is None and graph.is_weighted:
            warn(
                "this function ignores the graph's weights and counts hops; pass weights=True to use them, or "
                "weights=False to silence this warning",
                IgnoredWeightsWarning,
            )
        return graph, False
    if isinstance(G, Matrix):
        raise GraphError("this function does not accept a linalg.Matrix; pass a hopwave.Graph or SciPy sparse matrix")
    if isinstance(weights, np.bool_):
        weights = True
    if hasattr(G, "tocsr"):
        _chosen_values(Matrix.from_scipy(G), weights)  # raises an error if weights= does not fit a matrix
        graph = Graph.from_scipy(G)
    elif is_networkx(G) and isinstance(weights, bool | str):
        graph = _from_networkx(G, weights, "min")
        if not graph.is_weighted:  # the graph has no edges
            graph = graph.with_weights(np.empty(0))
    else:
        graph, matrix = weighted(G, weights, "min")
        if weights is not True:
            graph = graph.with_weights(matrix.to("cpu").rows.values)
    _check_lengths(graph)
    return graph, True


def own_lengths(G: Any, weights: Any) -> tuple[Graph, bool]:
    """Like `as_lengths`, but None selects the graph's own weights, or hops if it has none."""
    if weights is not None:
        return as_lengths(G, weights)
    if is_networkx(G):
        graph = _from_networkx(G, None, "min")
    else:
        graph = Graph.from_scipy(G) if not isinstance(G, Graph) and hasattr(G, "tocsr") else as_graph(G)
    if graph.is_weighted:
        _check_lengths(graph)
    return graph, graph.is_weighted


def _check_lengths(graph: Graph) -> None:
    """Raise a GraphError if weights cannot be lengths. A passed check is cached with the graph."""
    graph._prepared.made(_check_lengths, lambda: _can_be_lengths(graph))


def _can_be_lengths(graph: Graph) -> bool:
    """Raise a GraphError if a weight is negative or infinite, or if sums of distances could exceed float64."""
    from hopwave.linalg.algorithms.operands import check_lengths, extremes

    A = Matrix.from_graph(graph)
    check_lengths(A, graph.label)
    greatest = extremes(A)[1] if graph.m else 0.0
    if np.isinf(greatest * graph.n * graph.n):
        raise GraphError(f"weight {greatest:g} is too large: sums of distances may exceed float64; scale weights down")
    return True


def _chosen_values(matrix: Matrix, weights: Any) -> Matrix:
    """The matrix with its values (weights None or True) or as a pattern (False); raises a GraphError otherwise."""
    if weights is False:
        return matrix.pattern() if matrix.has_values else matrix
    if weights is True and not matrix.has_values:
        raise GraphError("weights=True uses the values of a matrix, but this matrix has none; omit weights=")
    if weights is not None and weights is not True:
        raise GraphError("the values of a matrix are its weights; omit weights=, or pass a Graph")
    return matrix


def _from_networkx(g: Any, weights: Any, parallel: Parallel) -> Graph:
    """A NetworkX graph with the edge attribute that `weights` names; None and True mean "weight"."""
    name = weights if isinstance(weights, str) else None if weights is False else "weight"
    source, target, values, labels, n = networkx_columns(g, name)
    if values is None and weights is not None and weights is not False and len(source):
        raise GraphError(f"no edge has the attribute {name!r}; name another attribute, or omit weights=")
    if values is None and parallel == "sum" and g.is_multigraph():
        values = np.ones(len(source))  # parallel edges count once each
    return Graph.from_edges(
        source, target, n, g.is_directed(), weights=values, labels=labels,
        combine=None if values is None else parallel,
    )  # fmt: skip


def graph_of(matrix: Matrix) -> Graph:
    """The graph with this adjacency matrix, cached with the matrix. It shares the arrays of the matrix."""

    def make() -> Graph:
        rows = matrix.to("cpu").rows
        return Graph.from_csr(rows.indptr, rows.indices, directed=True)

    return matrix._prepared.made((graph_of, matrix._turned), make)


def per_arc(graph: Graph, weights: Any) -> npt.NDArray[Any]:
    """The weights as an array with one number per stored arc, of a type that `linalg` supports.

    In an undirected graph, both arcs of an edge must have the same weight; this detects most arrays in another order.
    """
    remedy = "for weights in the order of the edges, build the graph with Graph.from_edges(src, dst, weights=...)"
    if (place := masked_place(weights)) is not None:
        raise GraphError(f"weights[{place}] is masked; pass a weight for every arc, or omit arcs without a weight")
    check_index(weights, "weights", "in the order of G.indices", f"; {remedy}")
    array: npt.NDArray[Any] = as_array(weights, "weights", GraphError)
    if array.dtype.kind not in "biuf":
        raise GraphError(f"weights of type {array.dtype} are not numbers; pass an array of integers or floats")
    if array.shape != (graph.m,):
        raise GraphError(
            f"weights has shape {array.shape}, not one number for each of the {graph.m} stored arcs in the order of "
            f"G.indices; {remedy}"
        )
    if array.dtype not in DTYPES:
        array = np.asarray(float64s(array))
    check_numbers(first_nan(array), "weights")
    numbers = array if array.dtype == np.float32 else array.astype(np.float64, copy=False)
    sorted_rows = graph.order == "ascending"  # for other orders, Matrix.from_graph rejects values
    if not graph.directed and sorted_rows and not is_symmetric(Rows(graph.indptr, graph.indices, numbers)):
        problem = "weights differ between the two arcs of an undirected edge, so they are not in the order of G.indices"
        raise GraphError(f"{problem}; {remedy}")
    return array


def per_vertex(graph: Graph, given: Any, what: str) -> npt.NDArray[np.float64] | None:
    """One number per vertex, from an array, a mapping or a pandas Series (0 for vertices that it does not contain)."""
    if given is None:
        return None
    given = by_index(graph, on_host(given) if on_gpu(given) else given, what)
    if isinstance(given, Mapping):
        found = np.zeros(graph.n)
        for vertex, value in given.items():
            if not is_number(value):
                about = f"{what}[{vertex!r}] is {shown(value)}"
                raise GraphError(f"{about}, which is not a 64-bit number; pass a number, or omit this vertex")
            found[graph.index(vertex)] = value
        return found
    if (place := masked_place(given)) is not None:
        raise GraphError(f"{what}[{place}] is masked; pass a number for every vertex, or a mapping without the vertex")
    array: npt.NDArray[Any] = as_array(given, what, GraphError)
    if array.shape != (graph.n,) or array.dtype.kind not in "biuf":
        problem = f"{what} has shape {array.shape}, type {array.dtype}"
        raise GraphError(f"{problem}; pass a mapping, or {graph.n} numbers in vertex order")
    return np.array(float64s(array))


def not_negative(graph: Graph, given: Any, what: str) -> npt.NDArray[np.float64]:
    """One finite nonnegative number per vertex, read by `per_vertex`."""
    found = per_vertex(graph, given, what)
    assert found is not None
    wrong = np.flatnonzero(~((found >= 0) & np.isfinite(found)))
    if len(wrong):
        vertex = graph.label(int(wrong[0]))
        raise GraphError(f"{what}= is {found[wrong[0]]} for vertex {vertex!r}; pass finite numbers of at least 0")
    return found
