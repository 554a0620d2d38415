"""Simple paths between two vertices, shortest first (networkx.algorithms.simple_paths).

Yen's algorithm as NetworkX runs it, with compiled searches: equally long paths come in the order in which NetworkX
finds them. `hopwave.k_shortest_paths` leaves out most of the graph before it searches, and keeps no such order.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np

from hopwave.networkx_backend.convert import NetworkXGraph
from hopwave.networkx_backend.dispatch import named_weights, serves
from hopwave.networkx_backend.networkx_order import Closed, compiled, from_both_ends, pair
from hopwave.networkx_backend.notes import RANKED
from hopwave.networkx_backend.thresholds import PAIR_PATHS, unless_weighted

Find = Callable[[int, int, Closed], tuple[Any, list[int]] | None]  # (length, ids) of a shortest path, or None
Lengths = Callable[[list[int]], list[Any]]  # of the arcs of a path


@serves(can_run=named_weights, threshold=unless_weighted(PAIR_PATHS), notes=RANKED)
def shortest_simple_paths(G: NetworkXGraph, source: Any, target: Any, weight: Any = None) -> Iterator[list[Any]]:
    """Every path that visits no vertex twice, shortest first."""
    if weight is None:
        return _named(G, source, target, _fewest_hops(G), lambda path: [1] * (len(path) - 1))
    # May raise NotImplementedError, which NetworkX must see before the iterator starts.
    lengths, into, (indptr, indices) = G.lengths_of(weight), G.lengths_of(weight, into=True), G.out_rows

    def nearest(start: int, end: int, closed: Closed) -> tuple[Any, list[int]] | None:
        if start == end:
            return 0, [start]
        found = from_both_ends(G.out_rows, lengths.values, G.in_rows, into.values, start, end, closed)
        return None if found is None else (found[1], found[0])

    def along(path: list[int]) -> list[Any]:
        rows = ((slice(int(indptr[u]), int(indptr[u + 1])), v) for u, v in pairwise(path))
        return [float(lengths.values[row][indices[row] == v][0]) for row, v in rows]

    return _named(G, source, target, nearest, along)


def _fewest_hops(G: NetworkXGraph) -> Find:
    def find(start: int, end: int, closed: Closed) -> tuple[Any, list[int]] | None:
        path = pair(G.out_rows, G.in_rows, start, end, closed)
        return None if path is None else (len(path) - 1, path)

    return find


def _named(G: NetworkXGraph, source: Any, target: Any, find: Find, along: Lengths) -> Iterator[list[Any]]:
    for end, name in ((source, "source"), (target, "target")):
        if end not in G:
            raise nx.NodeNotFound(f"{name} node {end} not in graph")
    first = find(G.number[source], G.number[target], np.zeros(0, np.uint8))
    if first is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    yield from map(G.names, yen(len(G), first, find, along))


def yen(n: int, first: tuple[Any, list[int]], find: Find, along: Lengths) -> Iterator[list[int]]:
    """The paths as ids, beginning with the first. Of equally long ones, the one that was found first."""
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
