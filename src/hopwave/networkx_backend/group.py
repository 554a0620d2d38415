"""Betweenness of groups of vertices (networkx.algorithms.centrality.group), by the definition.

Before NetworkX 3.7, its own values differ from the definition for some groups of three and more, and in directed graphs
that are not strongly connected, where it counts paths back that do not exist. With endpoints, NetworkX 3.7 scales by
all vertices.
"""

from __future__ import annotations

from typing import Any

import networkx as nx

import hopwave as hw
from hopwave.networkx_backend.convert import NetworkXGraph
from hopwave.networkx_backend.dispatch import SINCE_3_7, serves, unweighted


@serves(
    can_run=unweighted,
    notes="Unweighted. By the definition, where NetworkX's own values before 3.7 differ from it: for some groups of "
    "three and more, and in directed graphs that are not strongly connected.",
)
def group_betweenness_centrality(
    G: NetworkXGraph, C: Any, normalized: bool = True, weight: Any = None, endpoints: bool = False
) -> Any:
    """How many shortest paths lead through a vertex of the group: one number, or one per group of a list."""
    several = not any(member in G for member in C)
    groups = [set(group) for group in (C if several else [C])]
    lost = {node for group in groups for node in group if node not in G}
    if lost:
        raise nx.NodeNotFound(f"The node(s) {lost} are in C but not in G.")
    if SINCE_3_7 and len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    scores = []
    for group in groups:
        members = [G.number[node] for node in group]
        score = 0.0  # of an empty group
        if members:
            score = hw.group_betweenness_centrality(G.graph, members, False, bool(endpoints), progress=False)
        if normalized:
            rest = len(G) if endpoints and SINCE_3_7 else len(G) - len(group)
            pairs = rest * (rest - 1)
            score *= 1 if G.directed else 2
            score = score / pairs if SINCE_3_7 else score * (1 / pairs)
        scores.append(score)
    return scores if several else scores[0]
