"""What the families below ask of many searches at once: one row of sums a source, or whole distances block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt

from hopwave.algorithms.many_sources import distance_blocks, sweep
from hopwave.api.choice import engine_for
from hopwave.graph import Graph
from hopwave.jobs import Integers, Sweep, Swept
from hopwave.networkx_backend.convert import NetworkXGraph


def sums(graph: Graph, sources: list[int] | None, device: str, threads: int | None) -> Swept:
    """For each source (all, if None): how many vertices it reaches, Σ d, Σ 1/d, the greatest d."""
    ids = _ids(graph, sources)
    engine = engine_for("sweep", device, graph, threads, len(ids))
    return sweep(engine, graph, Sweep(ids, "sums"), "distances", False, threads)


def blocks(
    graph: Graph, sources: list[int] | None, device: str, threads: int | None
) -> Iterator[tuple[Integers, npt.NDArray[np.int32]]]:
    """Distances (−1: no way) of a few sources at a time."""
    ids = _ids(graph, sources)
    return distance_blocks(engine_for("sweep", device, graph, threads, len(ids)), graph, ids, threads)


def chosen(G: NetworkXGraph, nbunch: Any) -> list[Any]:
    """The nodes that NetworkX reads out of a node, a container of nodes, or None; those unknown are skipped."""
    return list(nx.Graph.nbunch_iter(G, nbunch))


def is_connected(G: NetworkXGraph) -> bool:
    """Whether every vertex of a graph that has some reaches every other."""
    from hopwave.networkx_backend import components

    return components.is_strongly_connected(G) if G.directed else components.is_connected(G)


def _ids(graph: Graph, sources: list[int] | None) -> Integers:
    return np.arange(graph.n, dtype=np.int64) if sources is None else np.array(sources, np.int64)
