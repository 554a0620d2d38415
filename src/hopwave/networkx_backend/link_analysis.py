"""PageRank (networkx.algorithms.link_analysis)."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt

import hopwave as hw
from hopwave.errors import GraphError
from hopwave.linalg.algorithms.pagerank import Unsettled
from hopwave.networkx_backend.convert import NetworkXGraph
from hopwave.networkx_backend.dispatch import named_weights, serves
from hopwave.networkx_backend.pays import Arguments


def simple_graph(arguments: Arguments) -> str | None:
    """A converted graph has the least weight of parallel edges, and ranks need their sum."""
    if arguments["G"].is_multigraph():
        return "PageRank adds up the weights of parallel edges, which hopwave does not keep"
    return named_weights(arguments)


@serves(can_run=simple_graph)
def pagerank(
    G: NetworkXGraph,
    alpha: Any = 0.85,
    personalization: Any = None,
    max_iter: Any = 100,
    tol: Any = 1.0e-6,
    nstart: Any = None,
    weight: Any = "weight",
    dangling: Any = None,
) -> dict[Any, float]:
    """How often a random walk visits every vertex. What hopwave refuses, NetworkX computes or refuses itself."""
    if len(G) == 0:
        return {}
    graph = G.graph if weight is None else G.weighted(weight)
    jumps = _per_vertex(G, personalization)
    if jumps is not None and jumps.sum() == 0:
        raise ZeroDivisionError
    start, ends = _per_vertex(G, nstart), _per_vertex(G, dangling)
    try:
        found = hw.pagerank(graph, alpha, jumps, max_iter, tol, start, dangling=ends)
    except Unsettled as error:
        raise nx.PowerIterationFailedConvergence(max_iter) from error
    except GraphError as error:
        raise NotImplementedError(str(error)) from error
    return G.by_node(found.scores)


def _per_vertex(G: NetworkXGraph, given: Any) -> npt.NDArray[np.float64] | None:
    """One number per vertex, 0 for those that the mapping does not have."""
    return None if given is None else np.array([given.get(node, 0) for node in G.nodes], np.float64)
