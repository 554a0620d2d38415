"""Many searches at once: sums over the distances of each source, or the distances block by block."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt

from hopwave.algorithms.many_sources import distance_blocks, sweep
from hopwave.algorithms.reduction import distance_sums
from hopwave.algorithms.reduction.distance_sums import What
from hopwave.api.choice import distance_engine
from hopwave.graph import Graph
from hopwave.networkx_backend.convert import NetworkXGraph
from hopwave.networkx_backend.lengths import plain_numbers
from hopwave.planning.jobs import Integers
from hopwave.planning.many_sources import Sweep, Swept


@dataclass(frozen=True, eq=False)
class Measured:
    """A graph and how distances on it are measured: in hops, or along an edge attribute.

    `whole` says whether NetworkX's distances are int.
    """

    graph: Graph
    weighted: bool
    whole: bool

    def reversed(self) -> Measured:
        """Distances along reversed arcs."""
        return Measured(self.graph.reversed(), self.weighted, self.whole)

    def numbers(self, values: npt.NDArray[Any]) -> list[Any]:
        """Distances as NetworkX returns them."""
        return plain_numbers(values, self.whole)

    def total(self, values: npt.NDArray[Any]) -> int | float:
        """The sum of all values."""
        return int(values.sum()) if self.whole else math.fsum(values)


def measured(G: NetworkXGraph, attribute: Any) -> Measured:
    """By an edge attribute, or in hops if it is None. Raises NotImplementedError if only NetworkX can use it."""
    if attribute is None:
        return Measured(G.graph, weighted=False, whole=True)
    return Measured(G.weighted(attribute), weighted=True, whole=G.lengths_of(attribute).whole)


def sums(
    by: Measured,
    sources: list[int] | None = None,
    device: str = "auto",
    threads: int | None = None,
    only: What | None = None,
) -> Swept:
    """For each source (all, if None): how many vertices it reaches, Σ d, Σ 1/d, the greatest d.

    `only` one of these may need fewer searches.
    """
    ids = _ids(by.graph, sources)
    engine = distance_engine(by.weighted, device, by.graph, threads, len(ids))
    job = Sweep(ids, "sums", weighted=by.weighted)
    if only is not None:
        return distance_sums.sums(engine, by.graph, job, only, "distances", False, threads)[0]
    return sweep(engine, by.graph, job, "distances", False, threads)


def blocks(
    by: Measured, sources: list[int] | None = None, device: str = "auto", threads: int | None = None
) -> Iterator[tuple[Integers, npt.NDArray[Any]]]:
    """(sources, their distances), a few sources at a time; without a path −1 hops, or an infinite length."""
    ids = _ids(by.graph, sources)
    engine = distance_engine(by.weighted, device, by.graph, threads, len(ids))
    return distance_blocks(engine, by.graph, ids, threads, weighted=by.weighted)


def chosen(G: NetworkXGraph, nbunch: Any) -> list[Any]:
    """The nodes that NetworkX reads from a node, a container of nodes, or None (all); unknown nodes are skipped."""
    return list(nx.Graph.nbunch_iter(G, nbunch))


def _ids(graph: Graph, sources: list[int] | None) -> Integers:
    return np.arange(graph.n, dtype=np.int64) if sources is None else np.array(sources, np.int64)
