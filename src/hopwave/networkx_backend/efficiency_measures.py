"""Efficiency: the mean of 1 / hops (networkx.algorithms.efficiency_measures)."""

from __future__ import annotations

from typing import Any, Unpack

import networkx as nx

import hopwave as hw
from hopwave.networkx_backend.convert import NetworkXGraph
from hopwave.networkx_backend.dispatch import Place, serves
from hopwave.networkx_backend.generic import shortest_path_length
from hopwave.networkx_backend.hops import measured, sums
from hopwave.networkx_backend.notes import CONVERTED_BEFORE, HOPS
from hopwave.networkx_backend.thresholds import PAIR


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
