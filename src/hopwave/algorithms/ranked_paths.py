"""The k shortest simple paths between two vertices: Yen's algorithm, on what two searches leave of the graph.

    d_s(v), d_t(v)   distances from the source, and to the target

A path over v is at least d_s(v) + d_t(v) long, and the paths of the two trees over k different vertices, if they are
simple and different, bound the k-th length from above. Vertices and arcs beyond this bound are on none of the k paths
(Feng et al., PeeK, SC '23); on roads and social networks few remain. Yen's algorithm (1971) then takes the paths in
order: each new one leaves a known one at some vertex. A spur path goes on from the length of its root, so a length is
the float64 sum of its arcs from the source on. Every path is looked for once (Lawler, 1972): a path is only left from
the vertex at which it left its own parent.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.graph import Graph
from hopwave.planning.jobs import Floats

ROUNDING = 2.0**-50  # per vertex: by how much a sum of two distances may be off
TREE_PATHS = 64  # vertices looked at per wanted path for the bound; without it, nothing is left out


def ranked_paths(
    graph: Graph, weighted: bool, source: int, target: int, k: int | None
) -> Iterator[tuple[float, list[int]]]:
    """(length, ids) of the shortest simple paths, shortest first; at most k. Without k the graph is not cut down."""
    from hopwave.engines.cpu.shortest_paths import deviations, dijkstra

    def arcs(part: Graph, lengths: Floats) -> Any:
        return dijkstra.arcs((part.indptr, part.indices), lengths)

    lengths = np.asarray(graph.weights, np.float64) if weighted else np.empty(0)
    back = graph.reversed()
    in_lengths = np.asarray(back.weights, np.float64) if weighted else np.empty(0)
    _, to_target, after = dijkstra.dijkstra(arcs(back, in_lengths), (target,), math.inf, (), None)
    if to_target[source] == math.inf:
        return
    slack = 1.0 + ROUNDING * graph.n
    bound = math.inf
    if k is not None:
        _, from_source, before = dijkstra.dijkstra(arcs(graph, lengths), (source,), math.inf, (), None)
        bound = upper_bound(from_source, to_target, before, after, source, target, k) * slack
    search = deviations.Spurs(arcs(graph, lengths), to_target)
    yield from yen(search, graph, lengths, source, target, k, bound, slack)


def upper_bound(
    from_source: Floats,
    to_target: Floats,
    before: npt.NDArray[Any],
    after: npt.NDArray[Any],
    source: int,
    target: int,
    k: int,
) -> float:
    """A length that k different simple paths do not exceed; infinite if the trees do not have as many nearby."""
    through = from_source + to_target
    count = min(len(through), TREE_PATHS * k)
    nearest = np.argpartition(through, count - 1)[:count]
    found: set[tuple[int, ...]] = set()
    for v in nearest[np.argsort(through[nearest], kind="stable")].tolist():
        if through[v] == math.inf:
            break
        path = [v]
        while path[-1] != source:
            path.append(int(before[path[-1]]))
        path.reverse()
        while path[-1] != target:
            path.append(int(after[path[-1]]))
        if len(set(path)) == len(path):
            found.add(tuple(path))
            if len(found) == k:
                return float(through[v])
    return math.inf


def yen(
    search: Any, graph: Graph, lengths: Floats, source: int, target: int, k: int | None, bound: float, slack: float
) -> Iterator[tuple[float, list[int]]]:
    """The paths in order; of equally long ones, the one with the lowest ids at the first difference, of those known."""
    waiting: list[tuple[float, list[int], int]] = []
    left: dict[tuple[int, ...], list[int]] = {}  # root → heads of the arcs by which it was left
    taken = 0

    def leave(root: list[int], so_far: float) -> None:
        # `slack` again: what is left from a vertex is a sum from the other end
        found = search(root[-1], so_far, target, root[:-1], left.setdefault(tuple(root), []), bound * slack)
        if found is not None:
            heapq.heappush(waiting, (found[0], root[:-1] + found[1], len(root) - 1))

    leave([source], 0.0)
    while waiting and (k is None or taken < k):
        length, path, branch = heapq.heappop(waiting)
        yield length, path
        taken += 1
        if taken == k:
            return
        so_far = sums(graph, lengths, path)
        for i in range(branch, len(path) - 1):
            left.setdefault(tuple(path[: i + 1]), []).append(path[i + 1])
            leave(path[: i + 1], so_far[i])


def sums(graph: Graph, lengths: Floats, path: list[int]) -> list[float]:
    """The distance of every vertex of a path along it; of parallel arcs the shortest."""
    found = [0.0]
    for u, v in pairwise(path):
        row = slice(int(graph.indptr[u]), int(graph.indptr[u + 1]))
        here = lengths[row][np.asarray(graph.indices[row]) == v].min() if len(lengths) else 1.0
        found.append(found[-1] + float(here))
    return found
