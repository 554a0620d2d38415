"""Efficiency: the mean of one over the hops (networkx.algorithms.efficiency_measures)."""

from __future__ import annotations

from typing import Any

import networkx as nx

import hopwave as hw
from hopwave.networkx_backend.convert import NetworkXGraph
from hopwave.networkx_backend.dispatch import only_if_converted, serves
from hopwave.networkx_backend.generic import shortest_path_length
from hopwave.networkx_backend.hops import sums


@serves(should_run=only_if_converted)
def efficiency(G: NetworkXGraph, u: Any, v: Any) -> float:
    """One over the hops between two vertices; 0 where there is no way."""
    try:
        return float(1 / shortest_path_length(G, u, v))
    except nx.NetworkXNoPath:
        return 0


@serves()
def global_efficiency(G: NetworkXGraph, *, device: str = "auto", threads: int | None = None) -> float:
    """The mean efficiency of all pairs."""
    pairs = len(G) * (len(G) - 1)
    if pairs == 0:
        return 0
    return float(sums(G.graph, None, device, threads).inverse.sum()) / pairs


@serves()
def local_efficiency(G: NetworkXGraph, *, device: str = "auto", threads: int | None = None) -> float:
    """The mean over all vertices of the global efficiency among their neighbours."""
    if len(G) == 0:
        raise ZeroDivisionError("division by zero")
    return float(hw.local_efficiency(G.graph, device=device, progress=False, threads=threads))
