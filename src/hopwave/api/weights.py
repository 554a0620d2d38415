"""Graphs with weights: a hopwave Graph has none, so they come beside it, or in a matrix's values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.api.arguments import as_graph
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.matrix import Matrix
from hopwave.operators import DTYPES


def weighted(G: Any, weights: Any) -> tuple[Graph, Matrix]:
    """The graph, for its names, and its matrix with the weights, if any.

    weights are an array, one a stored arc of a Graph in the order of `G.indices`; the name of an edge attribute of a
    NetworkX graph; or None: then a matrix's values are the weights, and a graph has none.
    """
    if isinstance(G, Matrix) or hasattr(G, "tocsr"):
        if weights is not None:
            raise GraphError("a matrix's values are its weights; leave out weights=, or give a Graph")
        matrix = G if isinstance(G, Matrix) else Matrix.from_scipy(G)
        if matrix.shape[0] != matrix.shape[1]:
            raise GraphError(f"a graph's matrix is square, this one is {matrix.shape}; give a row and column a vertex")
        return named(matrix), matrix
    graph = as_graph(G)
    if weights is None:
        return graph, Matrix.from_graph(graph)
    if isinstance(weights, str):
        weights = attribute(G, graph, weights)
    return graph, Matrix.from_graph(graph, per_arc(graph, weights))


@dataclass
class NamedGraphs:
    """Kept with a matrix: its graph under False, that of its transpose under True."""

    graphs: dict[bool, Graph] = field(default_factory=dict)


def named(matrix: Matrix) -> Graph:
    """The graph whose vertices a matrix's rows are, kept with it; from the matrix of a Graph, that Graph's arrays."""
    kept = matrix.prepared.record(NamedGraphs).graphs
    if matrix.turned not in kept:
        rows = matrix.to("cpu").rows
        kept[matrix.turned] = Graph.from_csr(rows.indptr, rows.indices, directed=True)
    return kept[matrix.turned]


def per_arc(graph: Graph, weights: Any) -> npt.NDArray[Any]:
    """One number a stored arc, of a type that products have."""
    array = np.asarray(weights)
    if array.dtype.kind not in "biuf":
        raise GraphError(f"weights of type {array.dtype} are no numbers; give an array of whole numbers or floats")
    if array.shape != (graph.m,):
        raise GraphError(
            f"weights has shape {array.shape}; give one for each of the {graph.m} stored arcs in the order of indices"
        )
    return array if array.dtype in DTYPES else array.astype(np.float64)


def attribute(g: Any, graph: Graph, name: str) -> npt.NDArray[np.float64]:
    """The edge attribute of a NetworkX graph, arc by arc; 1 where an edge lacks it, the least of parallel edges."""
    if not hasattr(g, "edges"):
        raise GraphError(f"weights={name!r} names an edge attribute, and {type(g).__name__} has none; give an array")
    number = {node: i for i, node in enumerate(g)} if graph.labels is not None else None
    ends, values = [], []
    for u, v, value in g.edges(data=name, default=1):
        ends.append((u, v) if number is None else (number[u], number[v]))
        values.append(value)
    found = np.full(graph.m, np.inf)
    if not ends:
        return found
    try:
        length = np.array(values, np.float64)
    except (TypeError, ValueError):
        raise GraphError(f"edge attribute {name!r} is not a number everywhere; give an array of weights") from None
    source, target = np.array(ends, np.int64).T
    keys = np.repeat(np.arange(graph.n, dtype=np.int64), graph.degrees) * graph.n + graph.indices
    np.minimum.at(found, np.searchsorted(keys, source * graph.n + target), length)
    if not graph.directed:
        np.minimum.at(found, np.searchsorted(keys, target * graph.n + source), length)
    return found


def per_vertex(graph: Graph, given: Any, what: str) -> npt.NDArray[np.float64] | None:
    """One number a vertex, from a mapping by vertex (0 for those it does not name), or from an array of all."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        found = np.zeros(graph.n)
        for vertex, value in given.items():
            found[graph.index(vertex)] = value
        return found
    array = np.asarray(given)
    if array.shape != (graph.n,) or array.dtype.kind not in "biuf":
        raise GraphError(
            f"{what} has shape {array.shape}, type {array.dtype}; give a mapping, or {graph.n} numbers in vertex order"
        )
    return array.astype(np.float64)
