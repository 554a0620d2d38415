"""Triangles, squares, clustering, cores, degrees, modularity (networkx.algorithms.cluster, core, community.quality)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx

import hopwave as hw
from hopwave.graph.arrays import arc_tails
from hopwave.networkx_backend.convert import NetworkXGraph
from hopwave.networkx_backend.dispatch import named_weights, serves
from hopwave.networkx_backend.notes import CORNERS, SIMPLE
from hopwave.networkx_backend.thresholds import CORES, DEGREES, SQUARES, TRIANGLES, Arguments


def of_all_vertices(arguments: Arguments) -> str | None:
    """Why not, if some vertices are asked for (hopwave counts the triangles of all), or edges are parallel."""
    if arguments["nodes"] is not None:
        return "nodes= asks for some vertices, and NetworkX looks at their neighbours alone"
    return "hopwave does not count triangles over parallel edges" if arguments["G"].is_multigraph() else None


@serves(can_run=of_all_vertices, threshold=TRIANGLES, notes="Of all vertices, in graphs without parallel edges.")
def triangles(G: NetworkXGraph, nodes: Any = None) -> dict[Any, int]:
    """How many triangles every vertex is in."""
    return G.by_node(hw.triangles(G.graph).scores)


def triangles_of_hops(arguments: Arguments) -> str | None:
    """Why not, if weights are asked for."""
    if arguments.get("weight") is not None:
        return f"weight={arguments['weight']!r} asks for weighted triangles; hw.clustering(G, weights=...) has them"
    return of_all_vertices(arguments | {"nodes": arguments.get("nodes")})


@serves(can_run=triangles_of_hops, notes=CORNERS)
def clustering(G: NetworkXGraph, nodes: Any = None, weight: Any = None) -> dict[Any, Any]:
    """The share of pairs of a vertex's neighbours that are neighbours themselves; 0 if there are no triangles."""
    return {v: share or 0 for v, share in zip(G.nodes, hw.clustering(G.graph).scores.tolist(), strict=True)}


@serves(can_run=triangles_of_hops, notes=CORNERS)
def average_clustering(G: NetworkXGraph, nodes: Any = None, weight: Any = None, count_zeros: Any = True) -> Any:
    """The mean of `clustering` over all vertices; with count_zeros=False, over those whose value is not 0."""
    found = [c for c in clustering(G).values() if count_zeros or c]
    return sum(found) / len(found)


def undirected_hops(arguments: Arguments) -> str | None:
    """NetworkX's transitivity of a directed graph follows arcs out alone."""
    return "hopwave does not count triangles of arcs" if arguments["G"].is_directed() else triangles_of_hops(arguments)


@serves(can_run=undirected_hops, notes="Undirected graphs without parallel edges.")
def transitivity(G: NetworkXGraph) -> Any:
    """3 × triangles / pairs of edges that share a vertex; 0 if there are no triangles."""
    return hw.transitivity(G.graph) or 0


def undirected_of_all(arguments: Arguments) -> str | None:
    """Why not, if some vertices are asked for, or the graph is directed. Parallel edges count once, as in NetworkX."""
    if arguments["nodes"] is not None:
        return "nodes= asks for some vertices, and NetworkX looks at their surroundings alone"
    return "hopwave does not count squares of arcs" if arguments["G"].is_directed() else None


@serves(can_run=undirected_of_all, threshold=SQUARES, notes="Of all vertices, in undirected graphs; 0 is an int.")
def square_clustering(G: NetworkXGraph, nodes: Any = None) -> dict[Any, Any]:
    """Squares / possible squares at each vertex; 0 if none is possible."""
    found = hw.square_clustering(G.graph).scores.tolist()
    return {v: share or 0 for v, share in zip(G.nodes, found, strict=True)}


@serves(threshold=CORES)
def core_number(G: NetworkXGraph) -> dict[Any, int]:
    """The largest k such that a vertex is in the k-core."""
    graph = G.graph
    if bool((graph.indices == arc_tails(graph)).any()):
        raise nx.NetworkXNotImplemented(
            "Input graph has self loops which is not permitted; "
            "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )
    return G.by_node(hw.core_numbers(graph).scores)


def of_edges(arguments: Arguments) -> str | None:
    """A converted graph counts parallel edges once."""
    return "hopwave counts parallel edges once" if arguments["G"].is_multigraph() else named_weights(arguments)


def shares(G: NetworkXGraph, ask: Callable[[hw.Graph], hw.VertexScores]) -> dict[Any, float]:
    """Degrees over n − 1, by node; of a single node NetworkX has the int 1."""
    return G.by_node(ask(G.graph).scores) if len(G) > 1 else dict.fromkeys(G.nodes, 1)


@serves(can_run=of_edges, threshold=DEGREES, notes=SIMPLE)
def degree_centrality(G: NetworkXGraph) -> dict[Any, float]:
    """Degrees over n − 1."""
    return shares(G, hw.degree_centrality)


@serves(can_run=of_edges, threshold=DEGREES, notes=SIMPLE)
def in_degree_centrality(G: NetworkXGraph) -> dict[Any, float]:
    """In-degrees over n − 1."""
    return shares(G, hw.in_degree_centrality)


@serves(can_run=of_edges, threshold=DEGREES, notes=SIMPLE)
def out_degree_centrality(G: NetworkXGraph) -> dict[Any, float]:
    """Out-degrees over n − 1."""
    return shares(G, hw.out_degree_centrality)


@serves(can_run=of_edges, threshold=DEGREES, notes=SIMPLE)
def modularity(G: NetworkXGraph, communities: Any, weight: Any = "weight", resolution: Any = 1) -> float:
    """The share of edges within communities, less what chance would put there."""
    communities = list(communities)
    listed = [node for some in communities for node in some]
    if not len(G) == len({node for node in listed if node in G}) == len(listed):
        raise nx.community.quality.NotAPartition(G, communities)
    if not G.number_of_edges():
        raise ZeroDivisionError("division by zero")
    graph = G.graph if weight is None else G.weighted(weight)
    sets = [[G.number[node] for node in some] for some in communities]
    return hw.modularity(graph, sets, resolution, weights=weight is not None)
