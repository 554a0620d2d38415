"""The neighbourhood of a vertex (networkx.generators.ego)."""

from __future__ import annotations

from typing import Any

import networkx as nx

from hopwave.networkx_backend.convert import NetworkXGraph, convert_to_nx
from hopwave.networkx_backend.dispatch import serves, unweighted
from hopwave.networkx_backend.networkx_order import search
from hopwave.networkx_backend.thresholds import NEAR_GRAPH


@serves(can_run=unweighted, threshold=NEAR_GRAPH, notes="Unweighted; the attributes are copied from the graph itself.")
def ego_graph(
    G: NetworkXGraph, n: Any, radius: Any = 1, center: bool = True, undirected: bool = False, distance: Any = None
) -> nx.Graph:
    """The subgraph of the vertices within `radius` hops of n, as a NetworkX graph with its attributes."""
    if n not in G:
        raise nx.NodeNotFound(f"Source {n} is not in G")
    rows = (G.both_ways.indptr, G.both_ways.indices) if undirected and G.directed else G.out_rows
    near = search(rows, [G.number[n]], float("inf") if radius is None else radius)
    original = convert_to_nx(G) if G.original is None else G.original
    H = original.subgraph(G.names(near.order)).copy()
    if not center:
        H.remove_node(n)
    return H
