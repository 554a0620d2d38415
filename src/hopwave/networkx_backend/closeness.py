"""Closeness and related measures (networkx.algorithms.centrality: closeness, harmonic, group, reaching; bipartite), and
efficiency, the mean of 1 / hops (networkx.algorithms.efficiency_measures).
"""

from __future__ import annotations

from typing import Any, Unpack

import networkx as nx
import numpy as np

import hopwave as hw
from hopwave.algorithms.distances import closeness
from hopwave.networkx_backend.convert import NetworkXGraph
from hopwave.networkx_backend.dispatch import Place, named_weights, serves, unweighted
from hopwave.networkx_backend.generic import shortest_path_length
from hopwave.networkx_backend.hops import blocks, chosen, measured, sums
from hopwave.networkx_backend.networkx_order import search
from hopwave.networkx_backend.notes import CONVERTED_BEFORE, HOPS, LENGTHS
from hopwave.networkx_backend.thresholds import MEANS, PAIR, Arguments, of_one_or_all

Scores = dict[Any, float]


def without_paths(arguments: Arguments) -> str | None:
    """Why not, if the caller gives paths: these need not be shortest paths."""
    return unweighted(arguments) if arguments["paths"] is None else "paths= gives the paths: nothing is left to search"


@serves(can_run=named_weights, threshold=of_one_or_all("u"), notes=LENGTHS)
def closeness_centrality(
    G: NetworkXGraph, u: Any = None, distance: Any = None, wf_improved: bool = True, **place: Unpack[Place]
) -> Any:
    """For each vertex, 1 / (mean distance from the vertices that reach it)."""
    if u is not None and u not in G:
        raise nx.NodeNotFound(f"Source {u} is not in G" if distance is None else f"Node {u} not found in graph")
    found = sums(measured(G, distance).reversed(), None if u is None else [G.number[u]], only="total", **place)
    scores = closeness(found.reached, found.total, len(G), bool(wf_improved))
    return G.by_node(scores) if u is None else float(scores[0])


@serves(can_run=named_weights, notes=LENGTHS)
def harmonic_centrality(
    G: NetworkXGraph, nbunch: Any = None, distance: Any = None, sources: Any = None, **place: Unpack[Place]
) -> Scores:
    """For each vertex, the sum of 1 / distance over the sources that reach it."""
    # NetworkX makes a set, too, and returns nodes in the order of this set.
    nodes = list(set(G.nodes if nbunch is None else chosen(G, nbunch)))
    ids = [G.number[node] for node in nodes]
    by = measured(G, distance)
    if sources is None:
        scores = sums(by.reversed(), ids, only="inverse", **place).inverse
    else:
        starts = list({G.number[node] for node in chosen(G, sources)})
        scores = np.zeros(len(nodes))
        for _, away in blocks(by, starts, **place):
            near = away[:, ids]
            scores += np.divide(1.0, near, out=np.zeros(near.shape), where=near > 0).sum(0)
    return {node: score or 0 for node, score in zip(nodes, scores.tolist(), strict=True)}


@serves(can_run=unweighted, threshold=MEANS, notes="Unweighted.")
def group_closeness_centrality(G: NetworkXGraph, S: Any, weight: Any = None) -> float:
    """How close the other vertices are to the nearest vertex of a group."""
    group = set(S)
    if not group:
        raise ValueError("sources must not be empty")
    for node in group:
        if node not in G:
            raise nx.NodeNotFound(f"Node {node} not found in graph")
    total = int(search(G.in_rows, [G.number[node] for node in group]).level.sum())
    return (len(G) - len(group)) / total if total else 0


@serves(notes=HOPS)
def bipartite_closeness_centrality(
    G: NetworkXGraph, nodes: Any, normalized: bool = True, **place: Unpack[Place]
) -> Scores:
    """Closeness, divided by the greatest value that is possible on the vertex's side."""
    top = set(nodes)
    bottom = set(G) - top
    for node in top:
        if node not in G:
            raise nx.NodeNotFound(f"Source {node} is not in G")
    found = sums(measured(G, None), **place)
    scores: Scores = {}
    for side, other in ((top, bottom), (bottom, top)):
        least = len(other) + 2 * (len(side) - 1)
        for node in side:
            v = G.number[node]
            total, reached = int(found.total[v]), int(found.reached[v])
            scores[node] = least / total if total else 0.0
            if normalized and total:
                scores[node] *= (reached - 1) / (len(G) - 1)
    return scores


@serves(can_run=without_paths, threshold=MEANS, notes="Unweighted, without given paths.")
def local_reaching_centrality(
    G: NetworkXGraph, v: Any, paths: Any = None, weight: Any = None, normalized: bool = True
) -> float:
    """The fraction of a directed graph that v reaches; in an undirected graph the mean of 1 / hops."""
    check_size(G)
    if v not in G:
        raise nx.NodeNotFound(f"Source {v} not in G")
    level = search(G.out_rows, [G.number[v]]).level[1:]
    total = len(level) if G.directed else float((1 / level).sum())
    return total / (len(G) - 1)


@serves(can_run=unweighted, notes=HOPS)
def global_reaching_centrality(
    G: NetworkXGraph, weight: Any = None, normalized: bool = True, **place: Unpack[Place]
) -> float:
    """The mean difference from the greatest local reaching centrality."""
    check_size(G)
    found = sums(measured(G, None), **place)
    local = (found.reached - 1 if G.directed else found.inverse) / (len(G) - 1)
    return float((local.max() - local).sum()) / (len(G) - 1)


def check_size(G: NetworkXGraph) -> None:
    """Raises NetworkX's errors if there is no edge to another vertex."""
    edges = G.number_of_edges()
    if edges > 0 and len(G) == 1:
        raise nx.NetworkXError("local_reaching_centrality of a single node with self-loop not well-defined")
    if edges <= 0:
        raise nx.NetworkXError("Size of G must be positive")


# ------------------------------------------------------------------ efficiency


@serves(threshold=PAIR, notes=CONVERTED_BEFORE)
def efficiency(G: NetworkXGraph, u: Any, v: Any) -> float:
    """1 / hops between two vertices; 0 if there is no path."""
    try:
        return float(1 / shortest_path_length(G, u, v))
    except nx.NetworkXNoPath:
        return 0


@serves(notes=HOPS)
def global_efficiency(G: NetworkXGraph, **place: Unpack[Place]) -> float:
    """The mean efficiency of all pairs."""
    pairs = len(G) * (len(G) - 1)
    if pairs == 0:
        return 0
    return float(sums(measured(G, None), **place).inverse.sum()) / pairs


@serves(notes=HOPS)
def local_efficiency(G: NetworkXGraph, **place: Unpack[Place]) -> float:
    """The mean over all vertices of the global efficiency among their neighbours."""
    if len(G) == 0:
        raise ZeroDivisionError("division by zero")
    return float(hw.local_efficiency(G.graph, progress=False, **place))
