"""PageRank, HITS, eigenvector and Katz centrality; triangles, squares, clustering, cores, degrees, modularity
(networkx.algorithms: link_analysis, centrality, cluster, core, community.quality).
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
from hopwave.graph.arrays import arc_tails
from hopwave.networkx_backend import dispatch
from hopwave.networkx_backend.convert import NetworkXGraph
from hopwave.networkx_backend.dispatch import SINCE_3_7, Arguments, WhyNot, serves, simple

CORNERS = "Unweighted, of all vertices, in graphs without parallel edges."
SIMPLE = "Graphs without parallel edges, if a converted graph is cached."
EVERY_NODE = "If `nstart` is not given, or names every node."
Scores = dict[Any, float]


# ------------------------------------------------------------------ ranks by rounds of products

SUMS = simple("this adds up the weights of parallel edges, which hopwave does not keep")


def complete_start(arguments: Arguments) -> str | None:
    """Why not, if nstart does not name every node once: NetworkX's result then depends on the missing nodes."""
    start = arguments["nstart"]
    if start is not None and not (isinstance(start, Mapping) and set(start) == set(arguments["G"])):
        return "nstart does not name every node once, and hopwave starts from all"
    return SUMS(arguments)


@serves(why_not=SUMS, threshold=dispatch.DIJKSTRA, notes="In graphs without parallel edges.")
def pagerank(
    G: NetworkXGraph, alpha: Any, personalization: Any, max_iter: Any, tol: Any, nstart: Any, weight: Any, dangling: Any
) -> Scores:
    if len(G) == 0:
        return {}
    graph = G.weighted(weight)
    jumps = _per_vertex(G, personalization)
    if jumps is not None and jumps.sum() == 0:
        raise ZeroDivisionError
    start, ends = _per_vertex(G, nstart), _per_vertex(G, dangling)
    with _errors_of_networkx(max_iter):
        return G.by_node(hw.pagerank(graph, alpha, jumps, max_iter, tol, start, dangling=ends).scores)


@serves(why_not=complete_start, threshold=dispatch.POWERS, notes=EVERY_NODE)
def eigenvector_centrality(G: NetworkXGraph, max_iter: Any, tol: Any, nstart: Any, weight: Any) -> Scores:
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("cannot compute centrality for the null graph")
    if nstart is not None and all(value == 0 for value in nstart.values()):
        raise nx.NetworkXError("initial vector cannot have all zero values")
    graph, start = G.weighted(weight or None), _per_vertex(G, nstart)
    with _errors_of_networkx(max_iter):
        return _in_order(G, hw.eigenvector_centrality(graph, max_iter, tol, start), nstart)


@serves(why_not=complete_start, threshold=dispatch.POWERS, notes=EVERY_NODE)
def katz_centrality(
    G: NetworkXGraph, alpha: Any, beta: Any, max_iter: Any, tol: Any, nstart: Any, normalized: Any, weight: Any
) -> Scores:
    if len(G) == 0:
        return {}
    try:
        own: Any = float(beta)
    except (TypeError, ValueError, AttributeError) as error:
        if set(beta) != set(G.nodes):
            raise nx.NetworkXError("beta dictionary must have a value for every node") from error
        own = _per_vertex(G, beta)
    graph, start = G.weighted(weight), _per_vertex(G, nstart)
    with _errors_of_networkx(max_iter):
        return _in_order(G, hw.katz_centrality(graph, alpha, own, max_iter, tol, start, bool(normalized)), nstart)


@serves(
    why_not=complete_start,
    threshold=dispatch.SINGULAR,
    notes="In graphs without parallel edges. Where several answers are right, as in undirected bipartite graphs, the "
    "one nearest to `nstart`; NetworkX's is random.",
)
def hits(G: NetworkXGraph, max_iter: Any, tol: Any, nstart: Any, normalized: Any) -> tuple[Scores, Scores]:
    if len(G) == 0:
        return {}, {}
    if SINCE_3_7 and nstart is not None and (missing := set(G.nodes) - nstart.keys()):
        raise nx.NetworkXError(f"nstart must have a value for every node; missing: {missing}")
    if len(G) == 1 or len(G.out_rows[1]) == 0:
        raise NotImplementedError("SciPy, which NetworkX calls here, has no answer for so small a matrix")
    with _errors_of_networkx(max_iter):
        hubs, authorities = hw.hits(G.weighted("weight"), max_iter, tol, _per_vertex(G, nstart), bool(normalized))
    both = hubs.scores, authorities.scores
    if SINCE_3_7 and not normalized:  # the largest number is 1
        both = both[0] / both[0].max(), both[1] / both[1].max()
    return G.by_node(both[0]), G.by_node(both[1])


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


def _in_order(G: NetworkXGraph, found: Any, start: Any) -> Scores:
    """The scores in the order of the nodes of `start`, if it is given, as in NetworkX."""
    scores = G.by_node(found.scores)
    return scores if start is None else {node: scores[node] for node in start}


# ------------------------------------------------------------------ triangles, squares, cores, degrees


SINGLE_EDGES = simple("hopwave does not count triangles over parallel edges")


@serves(why_not=SINGLE_EDGES, threshold=dispatch.TRIANGLES, notes="Of all vertices, in graphs without parallel edges.")
def triangles(G: NetworkXGraph) -> dict[Any, int]:
    return G.by_node(hw.triangles(G.graph).scores)


def shares(G: NetworkXGraph, found: Any) -> dict[Any, Any]:
    """Scores by node; 0 is an int, as in NetworkX."""
    return {node: score or 0 for node, score in zip(G.nodes, found.scores.tolist(), strict=True)}


@serves(why_not=SINGLE_EDGES, notes=CORNERS)
def clustering(G: NetworkXGraph) -> dict[Any, Any]:
    return shares(G, hw.clustering(G.graph))


@serves(why_not=SINGLE_EDGES, notes=CORNERS)
def average_clustering(G: NetworkXGraph, count_zeros: Any) -> Any:
    found = [c for c in clustering(G).values() if count_zeros or c]
    return sum(found) / len(found)


def undirected(what: str) -> WhyNot:
    """Why not, if the graph is directed."""
    return lambda arguments: f"hopwave does not count {what} of arcs" if arguments["G"].is_directed() else None


@serves(
    why_not=lambda arguments: undirected("triangles")(arguments) or SINGLE_EDGES(arguments),
    notes="Undirected graphs without parallel edges.",
)
def transitivity(G: NetworkXGraph) -> Any:
    return hw.transitivity(G.graph) or 0


@serves(
    why_not=undirected("squares"),
    threshold=dispatch.SQUARES,
    notes="Of all vertices, in undirected graphs; 0 is an int.",
)
def square_clustering(G: NetworkXGraph) -> dict[Any, Any]:
    return shares(G, hw.square_clustering(G.graph))  # parallel edges count once, as in NetworkX


@serves(threshold=dispatch.CORES)
def core_number(G: NetworkXGraph) -> dict[Any, int]:
    if bool((G.graph.indices == arc_tails(G.graph)).any()):
        raise nx.NetworkXNotImplemented(
            "Input graph has self loops which is not permitted; "
            "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )
    return G.by_node(hw.core_numbers(G.graph).scores)


ONCE = simple("hopwave counts parallel edges once")


def _degrees(name: str) -> None:
    def shares(G: NetworkXGraph) -> Scores:
        """Degrees over n − 1, by node; of a single node NetworkX has the int 1."""
        return G.by_node(getattr(hw, name)(G.graph).scores) if len(G) > 1 else dict.fromkeys(G.nodes, 1)

    serves(name, why_not=ONCE, threshold=dispatch.DEGREES, notes=SIMPLE)(shares)


for name in ("degree_centrality", "in_degree_centrality", "out_degree_centrality"):
    _degrees(name)


@serves(why_not=ONCE, threshold=dispatch.DEGREES, notes=SIMPLE)
def modularity(G: NetworkXGraph, communities: Any, weight: Any, resolution: Any) -> float:
    communities = list(communities)
    listed = [node for some in communities for node in some]
    if not len(G) == len({node for node in listed if node in G}) == len(listed):
        raise nx.community.quality.NotAPartition(G, communities)
    if not G.number_of_edges():
        raise ZeroDivisionError("division by zero")
    sets = [[G.number[node] for node in some] for some in communities]
    return hw.modularity(G.weighted(weight), sets, resolution, weights=weight is not None)
