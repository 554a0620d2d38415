"""Triangles, squares, clustering and cores (networkx.algorithms.cluster and core)."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

import hopwave as hw
from hopwave.graph.arrays import arc_tails
from hopwave.networkx_backend.convert import NetworkXGraph
from hopwave.networkx_backend.dispatch import serves
from hopwave.networkx_backend.notes import CORNERS
from hopwave.networkx_backend.thresholds import CORES, SQUARES, TRIANGLES, Arguments


def of_all_vertices(arguments: Arguments) -> str | None:
    """Why not, if some vertices are asked for (hopwave counts the triangles of all), or edges are parallel."""
    if arguments["nodes"] is not None:
        return "nodes= asks for some vertices, and NetworkX looks at their neighbours alone"
    return "hopwave does not count triangles over parallel edges" if arguments["G"].is_multigraph() else None


@serves(can_run=of_all_vertices, threshold=TRIANGLES, notes="Of all vertices, in graphs without parallel edges.")
def triangles(G: NetworkXGraph, nodes: Any = None) -> dict[Any, int]:
    """How many triangles every vertex is in."""
    return G.by_node(hw.triangles(G.graph).scores)


def undirected_hops(arguments: Arguments) -> str | None:
    """Why not, if the graph is directed, or weights are asked for."""
    if arguments.get("weight") is not None:
        return f"weight={arguments['weight']!r} asks for weighted triangles; hopwave counts triangles"
    if arguments["G"].is_directed():
        return "hopwave does not count triangles of arcs"
    return of_all_vertices(arguments | {"nodes": arguments.get("nodes")})


@serves(can_run=undirected_hops, notes=CORNERS)
def clustering(G: NetworkXGraph, nodes: Any = None, weight: Any = None) -> dict[Any, Any]:
    """The share of pairs of a vertex's neighbours that are neighbours themselves; 0 if there are no triangles."""
    twice, pairs = _corners(G)
    return {v: t / p if t else 0 for v, t, p in zip(G.nodes, twice, pairs, strict=True)}


@serves(can_run=undirected_hops, notes=CORNERS)
def average_clustering(G: NetworkXGraph, nodes: Any = None, weight: Any = None, count_zeros: Any = True) -> Any:
    """The mean of `clustering` over all vertices; with count_zeros=False, over those whose value is not 0."""
    found = [c for c in clustering(G).values() if count_zeros or c]
    return sum(found) / len(found)


@serves(can_run=undirected_hops, notes="Undirected graphs without parallel edges.")
def transitivity(G: NetworkXGraph) -> Any:
    """3 × triangles / pairs of edges that share a vertex; 0 if there are no triangles."""
    twice, pairs = _corners(G)
    return sum(twice) / sum(pairs) if any(twice) else 0


def _corners(G: NetworkXGraph) -> tuple[list[int], list[int]]:
    """Per vertex: 2 × triangles, and deg·(deg − 1), loops ignored."""
    graph = G.graph
    loops = graph.indices == arc_tails(graph)
    degrees = graph.degrees - np.bincount(graph.indices[loops], minlength=graph.n)
    return (2 * hw.triangles(graph).scores).tolist(), (degrees * (degrees - 1)).tolist()


def undirected_of_all(arguments: Arguments) -> str | None:
    """Why not, if some vertices are asked for, or the graph is directed. Parallel edges count once, as in NetworkX."""
    if arguments["nodes"] is not None:
        return "nodes= asks for some vertices, and NetworkX looks at their surroundings alone"
    return "hopwave does not count squares of arcs" if arguments["G"].is_directed() else None


@serves(can_run=undirected_of_all, threshold=SQUARES, notes="Of all vertices, in undirected graphs.")
def square_clustering(G: NetworkXGraph, nodes: Any = None) -> dict[Any, Any]:
    """Squares / possible squares at each vertex; 0 if none is possible."""
    from hopwave.engines.cpu.squares import count_squares  # compiled, so imported when first needed

    squares, possible = count_squares(G.graph)
    found = zip(G.nodes, squares.tolist(), possible.tolist(), strict=True)
    return {v: there / could if could > 0 else 0 for v, there, could in found}


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
