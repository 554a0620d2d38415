"""Shortest paths along an edge attribute, by Dijkstra's algorithm (networkx.algorithms.shortest_paths.weighted).

Vertices are settled in NetworkX's order, so dictionaries have its order, and among several shortest paths the one that
NetworkX returns is chosen.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt

from hopwave.networkx_backend.convert import NetworkXGraph, Rows
from hopwave.networkx_backend.dispatch import named_weights, serves
from hopwave.networkx_backend.lengths import Lengths
from hopwave.networkx_backend.networkx_order import Ids, from_both_ends, settle
from hopwave.networkx_backend.notes import ALONG, CONVERTED_BEFORE
from hopwave.networkx_backend.thresholds import DIJKSTRA, DIJKSTRA_PAIR

Numbers = dict[Any, Any]
Paths = dict[Any, list[Any]]


@dataclass(frozen=True, eq=False)
class Search:
    """A search along an edge attribute; it runs when a result is read. `backwards` follows arcs from head to tail."""

    G: NetworkXGraph
    attribute: Any
    sources: list[int]
    limit: float = math.inf
    target: int | None = None
    backwards: bool = False

    @property
    def rows(self) -> Rows:
        """The rows that were followed."""
        return self.G.in_rows if self.backwards else self.G.out_rows

    @cached_property
    def lengths(self) -> Lengths:
        """The lengths of the arcs of `rows`."""
        return self.G.lengths_of(self.attribute, into=self.backwards)

    @cached_property
    def found(self) -> tuple[Ids, npt.NDArray[np.float64], Ids]:
        """The vertices in the order settled; for every vertex, its distance and its predecessor."""
        return settle(self.rows, self.lengths.values, self.sources, self.limit, self.target)

    def distances(self) -> Numbers:
        """The distance of every vertex that was settled, nearest first."""
        order, d, _ = self.found
        return dict(zip(self.G.names(order), self.lengths.numbers(d[order]), strict=True))

    def paths(self) -> Paths:
        """A path to every vertex that was settled; sources in the order given, then nearest first."""
        order, _, before = self.found
        sources = set(self.sources)
        by_id = {v: [self.G.nodes[v]] for v in self.sources}
        for v in order.tolist():
            if v not in sources:
                by_id[v] = [*by_id[int(before[v])], self.G.nodes[v]]
        return dict(zip(self.G.names(list(by_id)), by_id.values(), strict=True))

    def path(self) -> list[Any]:
        """The path to the target, which was settled."""
        _, _, before = self.found
        assert self.target is not None
        path = [self.target]
        while path[-1] != int(before[path[-1]]):
            path.append(int(before[path[-1]]))
        return self.G.names(path[::-1])

    def distance(self) -> Any:
        """The distance of the target; None if it was not settled, or is no node."""
        d = self.found[1]
        if self.target is None or self.target < 0 or math.isinf(d[self.target]):
            return None
        return self.lengths.numbers(d[[self.target]])[0]

    def predecessors(self) -> Paths:
        """For each vertex, all its predecessors on shortest paths, in NetworkX's order."""
        order, d, _ = self.found
        (indptr, indices), lengths = self.rows, self.lengths.values
        counts = np.diff(indptr)[order]
        first = np.repeat(indptr[:-1][order], counts)
        arcs = first + np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts)
        tail, head = np.repeat(order, counts), indices[arcs]
        offer = d[tail] + lengths[arcs]
        near = offer <= self.limit
        tight = near & (offer == d[head])
        seen, place = np.unique(head[near], return_index=True)
        discovered = [*self.sources, *(v for v in seen[np.argsort(place)].tolist() if v not in self.sources)]
        by_id: dict[int, list[Any]] = {v: [] for v in discovered}
        for v, u in zip(head[tight].tolist(), self.G.names(tail[tight]), strict=True):
            by_id[v].append(u)
        return dict(zip(self.G.names(list(by_id)), by_id.values(), strict=True))


def search(G: NetworkXGraph, sources: Collection[Any], weight: Any, cutoff: Any = None, target: Any = None) -> Search:
    """A search from nodes of the graph; a target that is not a node is never found."""
    if not sources:
        raise ValueError("sources must not be empty")
    for source in sources:
        if source not in G:
            raise nx.NodeNotFound(f"Node {source} not found in graph")
    ids = list(dict.fromkeys(G.number[source] for source in sources))
    limit = math.inf if cutoff is None else float(cutoff)
    return Search(G, weight, ids, limit, None if target is None else G.number.get(target, -1))


# ------------------------------------------------------------------ from several sources, or one


@serves(can_run=named_weights, threshold=DIJKSTRA, notes=ALONG)
def multi_source_dijkstra(
    G: NetworkXGraph, sources: Any, target: Any = None, cutoff: Any = None, weight: Any = "weight"
) -> Any:
    """Lengths and paths from the nearest source, to all vertices or to the target."""
    run = search(G, sources, weight, cutoff, target)
    if target is None:
        return run.distances(), run.paths()
    if target in sources:
        return 0, [target]
    if run.distance() is None:
        raise nx.NetworkXNoPath(f"No path to {target}.")
    return run.distance(), run.path()


@serves(can_run=named_weights, threshold=DIJKSTRA, notes=ALONG)
def multi_source_dijkstra_path(G: NetworkXGraph, sources: Any, cutoff: Any = None, weight: Any = "weight") -> Paths:
    """Paths from the nearest source."""
    return search(G, sources, weight, cutoff).paths()


@serves(can_run=named_weights, threshold=DIJKSTRA, notes=ALONG)
def multi_source_dijkstra_path_length(
    G: NetworkXGraph, sources: Any, cutoff: Any = None, weight: Any = "weight"
) -> Numbers:
    """Lengths from the nearest source."""
    return search(G, sources, weight, cutoff).distances()


@serves(can_run=named_weights, threshold=DIJKSTRA, notes=ALONG)
def single_source_dijkstra(
    G: NetworkXGraph, source: Any, target: Any = None, cutoff: Any = None, weight: Any = "weight"
) -> Any:
    """Lengths and paths from the source, to all vertices or to the target."""
    return multi_source_dijkstra(G, {source}, target, cutoff, weight)


@serves(can_run=named_weights, threshold=DIJKSTRA, notes=ALONG)
def single_source_dijkstra_path(G: NetworkXGraph, source: Any, cutoff: Any = None, weight: Any = "weight") -> Paths:
    """Paths from the source."""
    return search(G, {source}, weight, cutoff).paths()


@serves(can_run=named_weights, threshold=DIJKSTRA, notes=ALONG)
def single_source_dijkstra_path_length(
    G: NetworkXGraph, source: Any, cutoff: Any = None, weight: Any = "weight"
) -> Numbers:
    """Lengths from the source."""
    return search(G, {source}, weight, cutoff).distances()


@serves(can_run=named_weights, threshold=DIJKSTRA, notes=ALONG)
def dijkstra_predecessor_and_distance(
    G: NetworkXGraph, source: Any, cutoff: Any = None, weight: Any = "weight"
) -> tuple[Paths, Numbers]:
    """All predecessors on shortest paths from the source, and the lengths of these paths."""
    if source not in G:
        raise nx.NodeNotFound(f"Node {source} is not found in the graph")
    run = search(G, [source], weight, cutoff)
    return run.predecessors(), run.distances()


# ------------------------------------------------------------------ one pair


@serves(can_run=named_weights, threshold=DIJKSTRA_PAIR, notes=ALONG + " " + CONVERTED_BEFORE)
def dijkstra_path(G: NetworkXGraph, source: Any, target: Any, weight: Any = "weight") -> list[Any]:
    """A shortest path."""
    path: list[Any] = single_source_dijkstra(G, source, target, weight=weight)[1]
    return path


@serves(can_run=named_weights, threshold=DIJKSTRA_PAIR, notes=ALONG + " " + CONVERTED_BEFORE)
def dijkstra_path_length(G: NetworkXGraph, source: Any, target: Any, weight: Any = "weight") -> Any:
    """The length of a shortest path."""
    if source not in G:
        raise nx.NodeNotFound(f"Node {source} not found in graph")
    if source == target:
        return 0
    run = search(G, [source], weight, target=target)
    if run.distance() is None:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return run.distance()


@serves(can_run=named_weights, threshold=DIJKSTRA_PAIR, notes=ALONG + " " + CONVERTED_BEFORE)
def bidirectional_dijkstra(G: NetworkXGraph, source: Any, target: Any, weight: Any = "weight") -> tuple[Any, list[Any]]:
    """The length of a shortest path, and the path, found from both ends."""
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} is not in G")
    if target not in G:
        raise nx.NodeNotFound(f"Target {target} is not in G")
    if source == target:
        return 0, [source]
    out, back = G.lengths_of(weight), G.lengths_of(weight, into=True)
    ends = G.number[source], G.number[target]
    found = from_both_ends(G.out_rows, out.values, G.in_rows, back.values, *ends)
    if found is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    path, length = found
    return out.numbers(np.array([length]))[0], G.names(path)


# ------------------------------------------------------------------ all pairs


@serves(can_run=named_weights, notes=ALONG)
def all_pairs_dijkstra(
    G: NetworkXGraph, cutoff: Any = None, weight: Any = "weight"
) -> Iterator[tuple[Any, tuple[Numbers, Paths]]]:
    """(source, (lengths, paths) from it) for every source."""
    runs = _searches(G, cutoff, weight)
    return ((node, (run.distances(), run.paths())) for node, run in runs)


@serves(can_run=named_weights, notes=ALONG)
def all_pairs_dijkstra_path_length(
    G: NetworkXGraph, cutoff: Any = None, weight: Any = "weight"
) -> Iterator[tuple[Any, Numbers]]:
    """(source, lengths from it, nearest first) for every source."""
    return ((node, run.distances()) for node, run in _searches(G, cutoff, weight))


@serves(can_run=named_weights, notes=ALONG)
def all_pairs_dijkstra_path(
    G: NetworkXGraph, cutoff: Any = None, weight: Any = "weight"
) -> Iterator[tuple[Any, Paths]]:
    """(source, paths from it) for every source."""
    return ((node, run.paths()) for node, run in _searches(G, cutoff, weight))


def _searches(G: NetworkXGraph, cutoff: Any, weight: Any) -> Iterator[tuple[Any, Search]]:
    """A search from every node in turn. Lengths are read now, so that NetworkX sees a NotImplementedError at once."""
    G.lengths_of(weight)
    return ((node, search(G, [node], weight, cutoff)) for node in G.nodes)
