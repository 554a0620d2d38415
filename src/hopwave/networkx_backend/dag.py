"""Descendants, ancestors, and the order of acyclic graphs (networkx.algorithms.dag)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

from hopwave.networkx_backend.convert import NetworkXGraph
from hopwave.networkx_backend.dispatch import serves
from hopwave.networkx_backend.networkx_order import compiled
from hopwave.networkx_backend.thresholds import FOUND_BY_SEARCH, ONE_SEARCH
from hopwave.networkx_backend.traversal import tree


@serves(threshold=FOUND_BY_SEARCH)
def descendants(G: NetworkXGraph, source: Any) -> set[Any]:
    """Every vertex that the source reaches, except itself."""
    return set(G.names(tree(G, source).order[1:]))


@serves(threshold=FOUND_BY_SEARCH)
def ancestors(G: NetworkXGraph, source: Any) -> set[Any]:
    """Every vertex that reaches the source, except itself."""
    return set(G.names(tree(G, source, reverse=True).order[1:]))


@serves(threshold=ONE_SEARCH, notes="In NetworkX's order.")
def topological_sort(G: NetworkXGraph) -> Iterator[Any]:
    """The vertices of a directed acyclic graph, each before all that it has arcs to."""
    if not G.directed:
        raise nx.NetworkXError("Topological sort not defined on undirected graphs.")
    order = kahn(G)
    yield from G.names(order)
    if len(order) < len(G):
        raise nx.NetworkXUnfeasible("Graph contains a cycle or graph changed during iteration")


@serves(threshold=ONE_SEARCH)
def is_directed_acyclic_graph(G: NetworkXGraph) -> bool:
    """Whether the graph is directed and has no cycle."""
    return G.directed and len(kahn(G)) == len(G)


def kahn(G: NetworkXGraph) -> Any:
    """Vertices whose predecessors are listed before them, in NetworkX's order, as far as cycles let them."""
    order, left = np.empty(len(G), np.int32), np.diff(G.in_rows[0]).astype(np.int64)
    return order[: compiled().peel(*G.out_rows, left, order)]
