"""Two colours (networkx.algorithms.bipartite.basic)."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from hopwave.networkx_backend import components
from hopwave.networkx_backend.convert import NetworkXGraph
from hopwave.networkx_backend.dispatch import serves
from hopwave.networkx_backend.networkx_order import search
from hopwave.networkx_backend.thresholds import ONE_SEARCH, TWO_SIDES

Colours = np.ndarray[Any, np.dtype[np.int32]]


def colours(G: NetworkXGraph) -> Colours | None:
    """1 at even levels, 0 at odd ones, of a search from the first vertex with out-arcs in each component; 0 elsewhere.

    None if two neighbours would have the same colour.
    """
    graph = G.both_ways
    label, _ = components.labelled(graph)
    starts = np.flatnonzero(np.diff(G.out_rows[0]) > 0)
    _, first = np.unique(label[starts], return_index=True)
    found = search((graph.indptr, graph.indices), starts[first].tolist())
    colour = np.zeros(len(G), np.int32)
    colour[found.order] = 1 - found.level % 2
    source = np.repeat(colour, np.diff(graph.indptr))
    return None if (source == colour[graph.indices]).any() else colour


@serves(threshold=TWO_SIDES, notes="In the order of the nodes.")
def color(G: NetworkXGraph) -> dict[Any, int]:
    """A colour, 1 or 0, for every vertex."""
    found = colours(G)
    if found is None:
        raise nx.NetworkXError("Graph is not bipartite.")
    return G.by_node(found)


@serves(threshold=TWO_SIDES)
def is_bipartite(G: NetworkXGraph) -> bool:
    """Whether two colours suffice."""
    return colours(G) is not None


@serves(threshold=ONE_SEARCH)
def sets(G: NetworkXGraph, top_nodes: Any = None) -> tuple[set[Any], set[Any]]:
    """The two sides."""
    if top_nodes is not None:
        top = set(top_nodes)
        return top, set(G) - top
    components.check_not_null(G)
    if not components.reaches_all((G.both_ways.indptr, G.both_ways.indices)):
        raise nx.AmbiguousSolution("Disconnected graph: Ambiguous solution for bipartite sets.")
    found = color(G)
    return {v for v, side in found.items() if side}, {v for v, side in found.items() if not side}
