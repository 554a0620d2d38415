"""Descendants, ancestors and cycles (networkx.algorithms.dag).

`topological_sort` is left to NetworkX, which raises an error where the graph changes between two vertices of the order.
"""

from __future__ import annotations

from typing import Any

import hopwave as hw
from hopwave.networkx_backend.convert import NetworkXGraph
from hopwave.networkx_backend.dispatch import serves
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


@serves(threshold=ONE_SEARCH)
def is_directed_acyclic_graph(G: NetworkXGraph) -> bool:
    """Whether the graph is directed and has no cycle."""
    return hw.is_directed_acyclic_graph(G.graph)
