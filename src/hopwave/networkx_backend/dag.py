"""Descendants and ancestors (networkx.algorithms.dag)."""

from __future__ import annotations

from typing import Any

from hopwave.networkx_backend.convert import NetworkXGraph
from hopwave.networkx_backend.dispatch import serves
from hopwave.networkx_backend.thresholds import FOUND_BY_SEARCH
from hopwave.networkx_backend.traversal import tree


@serves(threshold=FOUND_BY_SEARCH)
def descendants(G: NetworkXGraph, source: Any) -> set[Any]:
    """Every vertex that the source reaches, except itself."""
    return set(G.names(tree(G, source).order[1:]))


@serves(threshold=FOUND_BY_SEARCH)
def ancestors(G: NetworkXGraph, source: Any) -> set[Any]:
    """Every vertex that reaches the source, except itself."""
    return set(G.names(tree(G, source, reverse=True).order[1:]))
