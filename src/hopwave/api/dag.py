"""Directed acyclic graphs: a topological order, and the condensation, which makes one of any directed graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from hopwave.algorithms import components as _components
from hopwave.api.arguments import as_graph
from hopwave.api.connectivity import strongly_connected_components
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.results.components import Components


def topological_order(G: Any) -> list[Any]:
    """The vertices of a directed acyclic graph, each before all that it has arcs to.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        A directed graph without cycles. Weights are ignored.

    Returns
    -------
    list
        Labels or ids: first those without arcs into them, then those whose arcs come from these alone, and so on.

    Raises
    ------
    GraphError
        The graph is undirected or has a cycle; the message names a vertex on one or behind one.

    See Also
    --------
    is_directed_acyclic_graph, condensation

    Examples
    --------
    >>> hw.topological_order(hw.Graph.from_edges([2, 0], [0, 1], directed=True))
    [2, 0, 1]
    """
    graph = _directed(as_graph(G), "a topological order")
    order = _components.topological_order(graph)
    if len(order) < graph.n:
        left = np.ones(graph.n, np.bool_)
        left[order] = False
        vertex = graph.label(int(np.argmax(left)))
        raise GraphError(
            f"vertex {vertex!r} is on a cycle or behind one, so there is no order; condensation(G) joins cycles"
        )
    return order.tolist() if graph.labels is None else [graph.label(v) for v in order.tolist()]


def is_directed_acyclic_graph(G: Any) -> bool:
    """Whether a graph is directed and has no cycle.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        The graph. Weights are ignored.

    See Also
    --------
    topological_order

    Examples
    --------
    >>> hw.is_directed_acyclic_graph(hw.generate.path(3, directed=True))
    True
    """
    graph = as_graph(G)
    return graph.directed and len(_components.topological_order(graph)) == graph.n


def condensation(G: Any) -> tuple[Graph, Components]:
    """The acyclic graph of strong components, with an arc wherever one leads from a component to another.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        A directed graph. Weights are ignored.

    Returns
    -------
    (Graph, Components)
        Vertex i of the graph is component i: `components.members()[i]` are its vertices.

    See Also
    --------
    strongly_connected_components, topological_order

    Examples
    --------
    >>> C, components = hw.condensation(hw.Graph.from_edges([0, 1, 1], [1, 0, 2], directed=True))
    >>> list(C.edges()), components.sets()
    ([(0, 1)], [{0, 1}, {2}])
    """
    graph = _directed(as_graph(G), "a condensation")
    found = strongly_connected_components(graph)
    return Graph.from_edges(*_components.arcs_between(graph, found.labels), n=found.count, directed=True), found


def _directed(graph: Graph, what: str) -> Graph:
    if not graph.directed:
        raise GraphError(f"{what} needs a directed graph, and this one is undirected; see connected_components")
    return graph
