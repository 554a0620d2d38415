"""Triangles and cores (networkx.algorithms.cluster and core)."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

import hopwave as hw
from hopwave.networkx_backend.convert import NetworkXGraph
from hopwave.networkx_backend.dispatch import Arguments, serves


def of_all_vertices(arguments: Arguments) -> str | None:
    """hopwave counts the triangles of all vertices at once."""
    if arguments["nodes"] is not None:
        return "nodes= asks for some vertices, and NetworkX looks at their neighbours alone"
    return "hopwave does not count triangles over parallel edges" if arguments["G"].is_multigraph() else None


@serves(can_run=of_all_vertices)
def triangles(G: NetworkXGraph, nodes: Any = None) -> dict[Any, int]:
    """How many triangles every vertex is in."""
    return G.by_node(hw.triangles(G.graph).scores)


@serves()
def core_number(G: NetworkXGraph) -> dict[Any, int]:
    """The largest k such that a vertex is in the k-core."""
    graph = G.graph
    if bool((graph.indices == np.repeat(np.arange(graph.n, dtype=np.int32), graph.degrees)).any()):
        raise nx.NetworkXNotImplemented(
            "Input graph has self loops which is not permitted; "
            "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )
    return G.by_node(hw.core_numbers(graph).scores)
