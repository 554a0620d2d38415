"""PageRank, HITS, eigenvector and Katz centrality (networkx.algorithms.link_analysis and centrality).

If hopwave refuses a call, NetworkX computes the answer, or refuses too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt

import hopwave as hw
from hopwave.errors import ConvergenceError, GraphError
from hopwave.graph import Graph
from hopwave.networkx_backend.convert import NetworkXGraph
from hopwave.networkx_backend.dispatch import SINCE_3_7, named_weights, serves
from hopwave.networkx_backend.notes import EVERY_NODE
from hopwave.networkx_backend.thresholds import DIJKSTRA, POWERS, SINGULAR, Arguments


def simple_graph(arguments: Arguments) -> str | None:
    """Why not, if the graph is a multigraph: of parallel edges hopwave keeps the least weight, not the sum."""
    if arguments["G"].is_multigraph():
        return "this adds up the weights of parallel edges, which hopwave does not keep"
    return named_weights(arguments)


def complete_start(arguments: Arguments) -> str | None:
    """Why not, if nstart does not name every node once: what NetworkX does then depends on the nodes left out."""
    start = arguments["nstart"]
    if start is not None and not (isinstance(start, Mapping) and set(start) == set(arguments["G"])):
        return "nstart does not name every node once, and hopwave starts from all"
    return simple_graph(arguments)


@serves(can_run=simple_graph, threshold=DIJKSTRA, notes="In graphs without parallel edges.")
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
    """How often a random walk visits every vertex."""
    if len(G) == 0:
        return {}
    graph = _graph(G, weight)
    jumps = _per_vertex(G, personalization)
    if jumps is not None and jumps.sum() == 0:
        raise ZeroDivisionError
    start, ends = _per_vertex(G, nstart), _per_vertex(G, dangling)
    with _errors_of_networkx(max_iter):
        return G.by_node(hw.pagerank(graph, alpha, jumps, max_iter, tol, start, dangling=ends).scores)


@serves(can_run=complete_start, threshold=POWERS, notes=EVERY_NODE)
def eigenvector_centrality(
    G: NetworkXGraph, max_iter: Any = 100, tol: Any = 1.0e-6, nstart: Any = None, weight: Any = None
) -> dict[Any, float]:
    """Proportional to the sum over the vertices with arcs to it. In the order of `nstart`, as in NetworkX."""
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("cannot compute centrality for the null graph")
    if nstart is not None and all(value == 0 for value in nstart.values()):
        raise nx.NetworkXError("initial vector cannot have all zero values")
    graph = _graph(G, weight or None)
    with _errors_of_networkx(max_iter):
        found = hw.eigenvector_centrality(graph, max_iter, tol, _per_vertex(G, nstart)).scores
    return _in_order(G.by_node(found), nstart)


@serves(can_run=complete_start, threshold=POWERS, notes=EVERY_NODE)
def katz_centrality(
    G: NetworkXGraph,
    alpha: Any = 0.1,
    beta: Any = 1.0,
    max_iter: Any = 1000,
    tol: Any = 1.0e-6,
    nstart: Any = None,
    normalized: Any = True,
    weight: Any = None,
) -> dict[Any, float]:
    """How many walks lead to a vertex; long walks count less. In the order of `nstart`, as in NetworkX."""
    if len(G) == 0:
        return {}
    try:
        own: Any = float(beta)
    except (TypeError, ValueError, AttributeError) as error:
        if set(beta) != set(G.nodes):
            raise nx.NetworkXError("beta dictionary must have a value for every node") from error
        own = _per_vertex(G, beta)
    graph = _graph(G, weight)
    with _errors_of_networkx(max_iter):
        start = _per_vertex(G, nstart)
        found = hw.katz_centrality(graph, alpha, own, max_iter, tol, start, bool(normalized)).scores
    return _in_order(G.by_node(found), nstart)


@serves(
    can_run=complete_start,
    threshold=SINGULAR,
    notes="In graphs without parallel edges. Where several answers are right, as in undirected bipartite graphs, the "
    "one nearest to `nstart`; NetworkX's is random.",
)
def hits(
    G: NetworkXGraph, max_iter: Any = 100, tol: Any = 1.0e-8, nstart: Any = None, normalized: Any = True
) -> tuple[dict[Any, float], dict[Any, float]]:
    """Hubs and authorities. If several solutions exist, the one nearest to the start.

    NetworkX before 3.7 returns a random solution. Since 3.7 `normalized=False` scales the greatest number to 1.
    """
    if len(G) == 0:
        return {}, {}
    if SINCE_3_7 and nstart is not None and (missing := set(G.nodes) - nstart.keys()):
        raise nx.NetworkXError(f"nstart must have a value for every node; missing: {missing}")
    if len(G) == 1 or len(G.out_rows[1]) == 0:
        raise NotImplementedError("SciPy, which NetworkX calls here, has no answer for so small a matrix")
    with _errors_of_networkx(max_iter):
        hubs, authorities = hw.hits(G.weighted("weight"), max_iter, tol, _per_vertex(G, nstart), bool(normalized))
    both = hubs.scores, authorities.scores
    if SINCE_3_7 and not normalized:
        both = both[0] / both[0].max(), both[1] / both[1].max()
    return G.by_node(both[0]), G.by_node(both[1])


def _graph(G: NetworkXGraph, weight: Any) -> Graph:
    return G.graph if weight is None else G.weighted(weight)


@contextmanager
def _errors_of_networkx(max_iter: Any) -> Iterator[None]:
    """Turns errors of hopwave into NetworkX's, or into NotImplementedError, after which NetworkX answers the call."""
    if max_iter <= 0:
        raise nx.PowerIterationFailedConvergence(max_iter)
    try:
        yield
    except ConvergenceError as error:
        raise nx.PowerIterationFailedConvergence(max_iter) from error
    except GraphError as error:
        raise NotImplementedError(str(error)) from error


def _per_vertex(G: NetworkXGraph, given: Any) -> npt.NDArray[np.float64] | None:
    """One number per vertex, 0 for nodes that the mapping does not have."""
    return None if given is None else np.array([given.get(node, 0) for node in G.nodes], np.float64)


def _in_order(found: dict[Any, float], start: Any) -> dict[Any, float]:
    """The values in the order of the nodes of `start`, if it is given."""
    return found if start is None else {node: found[node] for node in start}
