"""Degree centralities: the share of other vertices that a vertex has edges with."""

from __future__ import annotations

from typing import Any

import numpy as np

from hopwave.algorithms import components as _components
from hopwave.api.arguments import as_graph, vertex_ids
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.planning.jobs import Integers
from hopwave.results.scores import VertexScores


def degree_centrality(G: Any) -> VertexScores:
    """Degree centrality: the degree of every vertex, divided by n − 1.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        The graph. In a directed graph, arcs in and arcs out both count. A loop counts twice, parallel arcs count one by
        one. Weights are ignored.

    Returns
    -------
    VertexScores
        One score per vertex, the same as NetworkX's. Loops and parallel arcs can make it greater than 1.

    See Also
    --------
    in_degree_centrality, out_degree_centrality : for directed graphs.

    Examples
    --------
    >>> hw.degree_centrality(hw.generate.star(5)).scores.tolist()
    [1.0, 0.25, 0.25, 0.25, 0.25]
    """
    graph = as_graph(G)
    if graph.directed:
        return _share("degree", graph, graph.degrees.astype(np.int64) + graph.in_degrees)
    return _share("degree", graph, _components.degrees_with_loops(graph))


def in_degree_centrality(G: Any) -> VertexScores:
    """In-degree centrality: the number of arcs into every vertex, divided by n − 1.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        A directed graph. Weights are ignored.

    See Also
    --------
    degree_centrality, out_degree_centrality

    Examples
    --------
    >>> hw.in_degree_centrality(hw.generate.path(3, directed=True)).scores.tolist()
    [0.0, 0.5, 0.5]
    """
    graph = _directed(as_graph(G))
    return _share("in-degree", graph, graph.in_degrees)


def out_degree_centrality(G: Any) -> VertexScores:
    """Out-degree centrality: the number of arcs out of every vertex, divided by n − 1.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        A directed graph. Weights are ignored.

    See Also
    --------
    degree_centrality, in_degree_centrality

    Examples
    --------
    >>> hw.out_degree_centrality(hw.generate.path(3, directed=True)).scores.tolist()
    [0.5, 0.5, 0.0]
    """
    graph = _directed(as_graph(G))
    return _share("out-degree", graph, graph.degrees)


def _directed(graph: Graph) -> Graph:
    if not graph.directed:
        raise GraphError("an edge of an undirected graph leads in and out; use degree_centrality")
    return graph


def _share(name: str, graph: Graph, degrees: Integers) -> VertexScores:
    """Degrees times 1 / (n − 1), by NetworkX's own operations; 1 for a vertex that is alone."""
    scores = np.ones(graph.n) if graph.n <= 1 else degrees * (1.0 / (graph.n - 1))
    return VertexScores(name, scores, vertex_ids(graph, None), graph)
