"""Shortest paths along an edge attribute (networkx.algorithms: shortest_paths.weighted, simple_paths).

Dijkstra's algorithm settles vertices in NetworkX's order, so dictionaries have its order, and among several shortest
paths the one that NetworkX returns is chosen. Simple paths come from Yen's algorithm as NetworkX runs it, with compiled
searches. (`hopwave.k_shortest_paths` searches far less, but promises no order of equally long paths.)
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt

from hopwave.networkx_backend import dispatch
from hopwave.networkx_backend.convert import Lengths, NetworkXGraph, Rows
from hopwave.networkx_backend.dispatch import serve, serves, unless_weighted
from hopwave.networkx_backend.traversal import Ids, arcs_from, compiled

Paths = dict[Any, list[Any]]
Closed = npt.NDArray[np.uint8]  # per vertex: whether paths may visit it (engines/cpu/row_order.py)
OPEN: Closed = np.zeros(0, np.uint8)
PAIRED = dispatch.ALONG + " " + dispatch.CONVERTED_BEFORE


@cache
def along_lengths() -> Any:
    """The kernels for paths along lengths."""
    from hopwave.engines.cpu.shortest_paths import dijkstra

    return dijkstra


def check_ends(G: NetworkXGraph, source: Any, target: Any) -> None:
    """Raises NetworkX's error if an end is not a node."""
    for role, node in (("Source", source), ("Target", target)):
        if node not in G:
            raise nx.NodeNotFound(f"{role} {node} is not in G")


def from_both_ends(G: NetworkXGraph, weight: Any) -> Callable[..., tuple[list[int], float] | None]:
    """A function of source, target and `Closed` vertices: the path that NetworkX finds from both ends, and its length.

    The function returns None if there is no path. Lengths are read once.
    """
    from hopwave.engines.cpu.shortest_paths.between import path_from_both_ends

    kernels, into = along_lengths(), G.lengths_of(weight, into=True)
    arcs = kernels.arcs(G.out_rows, G.lengths_of(weight).values), kernels.arcs(G.in_rows, into.values)
    return partial(path_from_both_ends, *arcs)


def pair(out_rows: Rows, in_rows: Rows, source: int, target: int, closed: Closed = OPEN) -> list[int] | None:
    """The shortest path that NetworkX's search from both ends finds first, or None."""
    from hopwave.engines.cpu.shortest_paths.between import path_between

    found: list[int] | None = path_between(out_rows, in_rows, source, target, closed, by_vertices=True)
    return found


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
        return self.G.in_rows if self.backwards else self.G.out_rows

    @cached_property
    def lengths(self) -> Lengths:
        return self.G.lengths_of(self.attribute, into=self.backwards)

    @cached_property
    def found(self) -> tuple[Ids, npt.NDArray[np.float64], Ids]:
        """The vertices in the order settled; for every vertex, its distance and its predecessor.

        The search ends once the target and all vertices at its distance are settled.
        """
        arcs = along_lengths().arcs(self.rows, self.lengths.values)
        targets = () if self.target is None else (self.target,)
        found: tuple[Ids, npt.NDArray[np.float64], Ids]
        found = along_lengths().dijkstra(arcs, self.sources, self.limit, targets, None)
        return found

    def distances(self) -> dict[Any, Any]:
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
        """The distance of the target; None if it was not settled, or is not a node."""
        d = self.found[1]
        if self.target is None or self.target < 0 or math.isinf(d[self.target]):
            return None
        return self.lengths.numbers(d[[self.target]])[0]

    def predecessors(self) -> Paths:
        """For each vertex, all its predecessors on shortest paths, in NetworkX's order."""
        order, d, _ = self.found
        tail, head, arcs = arcs_from(self.rows, order)
        offer = d[tail] + self.lengths.values[arcs]
        near = offer <= self.limit
        tight = near & (offer == d[head])
        seen, place = np.unique(head[near], return_index=True)
        discovered = [*self.sources, *(v for v in seen[np.argsort(place)].tolist() if v not in self.sources)]
        by_id: dict[int, list[Any]] = {v: [] for v in discovered}
        for v, u in zip(head[tight].tolist(), self.G.names(tail[tight]), strict=True):
            by_id[v].append(u)
        return dict(zip(self.G.names(list(by_id)), by_id.values(), strict=True))


def node_ids(G: NetworkXGraph, nodes: Collection[Any]) -> list[int]:
    """The ids of sources, each once; raises NetworkX's errors."""
    if not nodes:
        raise ValueError("sources must not be empty")
    for node in nodes:
        if node not in G:
            raise nx.NodeNotFound(f"Node {node} not found in graph")
    return list(dict.fromkeys(G.number[node] for node in nodes))


def search(G: NetworkXGraph, sources: Collection[Any], weight: Any, cutoff: Any = None, target: Any = None) -> Search:
    """A search from nodes of the graph; a target that is not a node is never found."""
    limit = math.inf if cutoff is None else float(cutoff)
    return Search(G, weight, node_ids(G, sources), limit, None if target is None else G.number.get(target, -1))


def searches(G: NetworkXGraph, cutoff: Any, weight: Any) -> Iterator[tuple[Any, Search]]:
    """A search from every node in turn. Lengths are read now, so that NetworkX sees a NotImplementedError at once."""
    G.lengths_of(weight)
    return ((node, search(G, [node], weight, cutoff)) for node in G.nodes)


# ------------------------------------------------------------------ from several sources, one, or all


def _family(read: Callable[[Search], Any], suffix: str) -> None:
    """Functions of several sources, of one and of all that return what `read` finds in a search."""
    some: dict[str, Any] = {
        f"multi_source_dijkstra{suffix}": lambda G, sources, cutoff, weight: read(search(G, sources, weight, cutoff)),
        f"single_source_dijkstra{suffix}": lambda G, source, cutoff, weight: read(search(G, {source}, weight, cutoff)),
    }
    if suffix:
        serve(some, threshold=dispatch.DIJKSTRA, notes=dispatch.ALONG)
    every: dict[str, Any] = {
        f"all_pairs_dijkstra{suffix}": lambda G, cutoff, weight: (
            (node, read(run)) for node, run in searches(G, cutoff, weight)
        )
    }
    serve(every, notes=dispatch.ALONG)


_family(lambda run: (run.distances(), run.paths()), "")
_family(Search.distances, "_path_length")
_family(Search.paths, "_path")


@serves(threshold=dispatch.DIJKSTRA, notes=dispatch.ALONG)
def multi_source_dijkstra(G: NetworkXGraph, sources: Any, target: Any, cutoff: Any, weight: Any) -> Any:
    run = search(G, sources, weight, cutoff, target)
    if target is None:
        return run.distances(), run.paths()
    if target in sources:
        return 0, [target]
    if run.distance() is None:
        raise nx.NetworkXNoPath(f"No path to {target}.")
    return run.distance(), run.path()


@serves(threshold=dispatch.DIJKSTRA, notes=dispatch.ALONG)
def single_source_dijkstra(G: NetworkXGraph, source: Any, target: Any, cutoff: Any, weight: Any) -> Any:
    return multi_source_dijkstra(G, {source}, target, cutoff, weight)


@serves(threshold=dispatch.DIJKSTRA, notes=dispatch.ALONG)
def dijkstra_predecessor_and_distance(
    G: NetworkXGraph, source: Any, cutoff: Any, weight: Any
) -> tuple[Paths, dict[Any, Any]]:
    if source not in G:
        raise nx.NodeNotFound(f"Node {source} is not found in the graph")
    run = search(G, [source], weight, cutoff)
    return run.predecessors(), run.distances()


# ------------------------------------------------------------------ one pair


@serves(threshold=dispatch.DIJKSTRA_PAIR, notes=PAIRED)
def dijkstra_path(G: NetworkXGraph, source: Any, target: Any, weight: Any) -> Any:
    return multi_source_dijkstra(G, {source}, target, None, weight)[1]


@serves(threshold=dispatch.DIJKSTRA_PAIR, notes=PAIRED)
def dijkstra_path_length(G: NetworkXGraph, source: Any, target: Any, weight: Any) -> Any:
    run = search(G, [source], weight, target=target)
    if source == target:
        return 0
    if run.distance() is None:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return run.distance()


@serves(threshold=dispatch.DIJKSTRA_PAIR, notes=PAIRED)
def bidirectional_dijkstra(G: NetworkXGraph, source: Any, target: Any, weight: Any) -> tuple[Any, list[Any]]:
    check_ends(G, source, target)
    if source == target:
        return 0, [source]
    found = from_both_ends(G, weight)(G.number[source], G.number[target], OPEN)
    if found is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    path, length = found
    return G.lengths_of(weight).numbers(np.array([length]))[0], G.names(path)


# ------------------------------------------------------------------ simple paths, shortest first

Find = Callable[[int, int, Closed], tuple[Any, list[int]] | None]  # (length, ids) of a shortest path, or None


@serves(
    threshold=unless_weighted(dispatch.PAIR_PATHS),
    notes="In hops, or along an edge attribute; equally long paths in NetworkX's order.",
)
def shortest_simple_paths(G: NetworkXGraph, source: Any, target: Any, weight: Any) -> Iterator[list[Any]]:
    if weight is None:

        def find(start: int, end: int, closed: Closed) -> tuple[Any, list[int]] | None:
            path = pair(G.out_rows, G.in_rows, start, end, closed)
            return None if path is None else (len(path) - 1, path)

        return _named(G, source, target, find, lambda path: [1] * (len(path) - 1))
    # May raise NotImplementedError, which NetworkX must see before the iterator starts.
    between, lengths, (indptr, indices) = from_both_ends(G, weight), G.lengths_of(weight), G.out_rows

    def nearest(start: int, end: int, closed: Closed) -> tuple[Any, list[int]] | None:
        found = ([start], 0) if start == end else between(start, end, closed)
        return None if found is None else (found[1], found[0])

    def along(path: list[int]) -> list[Any]:
        rows = ((slice(int(indptr[u]), int(indptr[u + 1])), v) for u, v in pairwise(path))
        return [float(lengths.values[row][indices[row] == v][0]) for row, v in rows]

    return _named(G, source, target, nearest, along)


def _named(
    G: NetworkXGraph, source: Any, target: Any, find: Find, along: Callable[[list[int]], list[Any]]
) -> Iterator[list[Any]]:
    for end, name in ((source, "source"), (target, "target")):
        if end not in G:
            raise nx.NodeNotFound(f"{name} node {end} not in graph")
    first = find(G.number[source], G.number[target], OPEN)
    if first is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    yield from map(G.names, yen(len(G), first, find, along))


def yen(
    n: int, first: tuple[Any, list[int]], find: Find, along: Callable[[list[int]], list[Any]]
) -> Iterator[list[int]]:
    """The paths as ids, beginning with the first. `along` lists the lengths of a path's arcs.

    Of equally long paths, the one that was found first comes first.
    """
    barred, head = compiled().BARRED, compiled().HEAD
    waiting, known, found = [(first[0], 0, first[1])], {tuple(first[1])}, 1
    left: dict[tuple[int, ...], list[int]] = {}  # root → heads of the arcs by which it was left
    closed = np.zeros(n, np.uint8)
    while waiting:
        _, _, path = heapq.heappop(waiting)
        yield path
        known.discard(tuple(path))
        lengths = along(path)
        for i in range(len(path) - 1):
            root = tuple(path[: i + 1])
            heads = left.setdefault(root, [])
            heads.append(path[i + 1])
            closed[heads] = head
            spur = find(path[i], path[-1], closed)
            closed[heads] = 0
            closed[path[i]] = barred
            if spur is None:
                continue
            new = (*root[:-1], *spur[1])
            if new not in known:
                heapq.heappush(waiting, (sum(lengths[:i]) + spur[0], found, list(new)))
                known.add(new)
                found += 1
        closed[path] = 0
