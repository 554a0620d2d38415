"""Lengths of shortest paths between all pairs (networkx.algorithms.shortest_paths.weighted)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from hopwave.networkx_backend.convert import NetworkXGraph
from hopwave.networkx_backend.dispatch import named_weights, serves
from hopwave.networkx_backend.lengths import Lengths
from hopwave.networkx_backend.order import searches_by_length

Table = Iterator[tuple[Any, dict[Any, Any]]]


@serves(can_run=named_weights)
def all_pairs_dijkstra_path_length(G: NetworkXGraph, cutoff: Any = None, weight: Any = "weight") -> Table:
    """(source, lengths from it, nearest first) for every source."""
    return _table(G, G.lengths_of(weight), math.inf if cutoff is None else float(cutoff))


def _table(G: NetworkXGraph, lengths: Lengths, cutoff: float) -> Table:
    for node, (order, distances) in zip(G, searches_by_length(G.out_rows, lengths.values, cutoff), strict=True):
        yield node, dict(zip(G.names(order), lengths.numbers(distances), strict=True))
