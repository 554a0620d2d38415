"""Many searches at once, for the families that need them: one row of sums per source, or distances block by block."""

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


def sums(graph: Graph, sources: list[int] | None = None, device: str = "auto", threads: int | None = None) -> Swept:
    """For each source (all, if None): how many vertices it reaches, Σ d, Σ 1/d, the greatest d."""
    ids = _ids(graph, sources)
    engine = engine_for("sweep", device, graph, threads, len(ids))
    return sweep(engine, graph, Sweep(ids, "sums"), "distances", False, threads)


def blocks(
    graph: Graph, sources: list[int] | None = None, device: str = "auto", threads: int | None = None
) -> Iterator[tuple[Integers, npt.NDArray[np.int32]]]:
    """(sources, their distances), a few sources at a time; −1 where there is no path."""
    ids = _ids(graph, sources)
    return distance_blocks(engine_for("sweep", device, graph, threads, len(ids)), graph, ids, threads)


def chosen(G: NetworkXGraph, nbunch: Any) -> list[Any]:
    """The nodes that NetworkX reads from a node, a container of nodes, or None; unknown ones are skipped."""
    return list(nx.Graph.nbunch_iter(G, nbunch))


def _ids(graph: Graph, sources: list[int] | None) -> Integers:
    return np.arange(graph.n, dtype=np.int64) if sources is None else np.array(sources, np.int64)
