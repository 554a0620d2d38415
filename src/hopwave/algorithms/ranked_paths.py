"""The k shortest simple paths between two vertices: Yen's algorithm, on what two searches leave of the graph.

    d_s(v), d_t(v)   distances from the source, and to the target

A path over v is at least d_s(v) + d_t(v) long, and the paths of the two trees over k different vertices, if they are
simple and different, bound the k-th length from above. Vertices and arcs beyond this bound are on none of the k paths;
what is left becomes a graph of its own (Feng et al., PeeK, SC '23); on roads and social networks that is little. The
two searches run on a GPU or on all cores, and near vertices are cut out of the graph where its rows are. Yen's
algorithm (1971) then takes the paths in order: each new one leaves a known one at some vertex. A spur path goes on from
the length of its root, so a length is the float64 sum of its arcs from the source on. Every path is looked for once
(Lawler, 1972): a path is only left from the vertex at which it left its own parent.
"""

from __future__ import annotations

import heapq
import math
import sys
from bisect import insort
from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hopwave.algebra.matrix import Matrix
from hopwave.algorithms.shortest_paths import Way, choose, distances
from hopwave.graph import Graph
from hopwave.graph.reshape import selected, sources
from hopwave.planning.jobs import Floats, ShortestPathsJob

ROUNDING = 2.0**-50  # per vertex: by how much a sum of two distances may be off
TREE_PATHS = (16, 64, 256, 1024)  # vertices looked at per wanted path for the bound; without it, nothing is left out


def ranked_paths(
    graph: Graph, weighted: bool, source: int, target: int, k: int, device: str
) -> Iterator[tuple[float, list[int]]]:
    """(length, ids) of the shortest simple paths, shortest first; at most k. The device is that of the two searches."""
    from hopwave.engines.cpu.shortest_paths.deviations import Spurs

    graph = graph if weighted else graph.without_weights()
    A, way = Matrix.from_graph(graph), choose(graph, "auto", None, device, None, False)
    to_target, from_source = _distances(A.T, target, way), _distances(A, source, way)
    if to_target[source] == math.inf:
        return
    slack = 1.0 + ROUNDING * graph.n
    part, bound = left_over(graph, from_source, to_target, (source, target), k, slack)
    search = Spurs(arcs_within(part, bound * slack), part.to_target, slack)
    for length, path in yen(search, *part.ends, k, bound * slack, slack):
        yield length, part.ids[path].tolist()


def _distances(A: Matrix, source: int, way: Way) -> Floats:
    """Of all vertices, on the host."""
    found = distances(A, ShortestPathsJob((source,)), way)
    return found.to_host(found.distances)


class Part(NamedTuple):
    """Some vertices as a graph of their own: their ids, their distances, and the ends of the paths."""

    graph: Graph
    ids: npt.NDArray[np.int64]
    from_source: Floats
    to_target: Floats
    ends: tuple[int, int]


def left_over(
    graph: Graph, from_source: Floats, to_target: Floats, ends: tuple[int, int], k: int, slack: float
) -> tuple[Part, float]:
    """The vertices over which one of the k paths may go, and a length that none of these exceeds.

    A tree's path over v has vertices at least as near as v. So the bound is looked for among the nearest vertices, and
    among more of them where they have too few paths.
    """
    from hopwave.engines.cpu.shortest_paths.deviations import tree_paths

    through = from_source + to_target

    def within(most: float) -> Part:
        ids = np.flatnonzero(through <= min(most, sys.float_info.max))
        source, target = np.searchsorted(ids, ends).tolist()
        return Part(graph._induced(ids), ids, from_source[ids], to_target[ids], (source, target))

    for many in TREE_PATHS:
        most = min(graph.n, many * k)
        near = float(np.partition(through, most - 1)[most - 1])
        part = within(near * slack)
        d = part.from_source, part.to_target
        bound = tree_paths(_arcs(part.graph), _arcs(part.graph.reversed()), *d, part.ends, k, most) * slack
        if bound < math.inf or near == math.inf:
            return part, bound
    return within(math.inf), math.inf


def _arcs(graph: Graph) -> Any:
    from hopwave.engines.cpu.shortest_paths import dijkstra

    lengths = np.empty(0) if graph.weights is None else np.asarray(graph.weights, np.float64)
    return dijkstra.arcs((graph.indptr, graph.indices), lengths)


def arcs_within(part: Part, bound: float) -> Any:
    """The arcs over which a path may be within the bound."""
    from hopwave.engines.cpu.shortest_paths import dijkstra

    rows = part.graph._rows
    lengths = np.ones(1) if rows.values is None else np.asarray(rows.values, np.float64)
    rows = selected(
        rows._replace(values=np.broadcast_to(lengths, len(rows.indices))),
        part.from_source[sources(rows)] + lengths + part.to_target[rows.indices] <= bound,
    )
    return dijkstra.arcs(rows[:2], rows.values)


class Spur(NamedTuple):
    """A path that is known by its length: it leaves another one at a vertex, by none of some arcs."""

    length: float
    number: int  # of equally long ones, the first found comes first
    path: list[int]  # that it leaves
    so_far: list[float]  # the distances of that path's vertices
    branch: int  # the vertex at which it leaves it
    root: int  # the number of its vertices up to there, as a sequence
    left: int  # how many of the arcs that leave this root are closed


def yen(search: Any, source: int, target: int, k: int, bound: float, slack: float) -> Iterator[tuple[float, list[int]]]:
    """The paths in order. Only the lengths of spurs are found at first, and the path when its turn has come.

    Of those that are known, as many as are still wanted bound the length of others: `slack` times that, because what
    is left from a vertex is a sum from the other end.
    """
    waiting: list[Spur] = []
    shortest: list[float] = []  # the lengths of those that wait, in order
    numbers: dict[tuple[int, int], int] = {}  # (number of a root, the next vertex) → number of the longer root
    left: dict[int, list[int]] = {}  # number of a root → heads of the arcs by which it was left
    order = count()

    def leave(path: list[int], so_far: list[float], branch: int, roots: list[int]) -> None:
        """Find the lengths of the spurs from every vertex of a path, from number `branch` on, that has a root."""
        most = bound if len(shortest) < wanted else min(bound, shortest[wanted - 1] * slack)
        closed = [left.setdefault(root, []) for root in roots]
        for i, length in enumerate(search.lengths(path, so_far, branch, closed, target, most)):
            if length < math.inf:
                heapq.heappush(waiting, Spur(length, next(order), path, so_far, branch + i, roots[i], len(closed[i])))
                insort(shortest, length)

    wanted = k
    leave([source], [0.0], 0, [0])
    while waiting and wanted:
        spur = heapq.heappop(waiting)
        del shortest[0]
        wanted -= 1
        head, begun = spur.path[: spur.branch], spur.so_far[: spur.branch]
        heads = left[spur.root][: spur.left]
        distances, rest = search.path(spur.path, spur.so_far, spur.branch, heads, target, spur.length)
        path, so_far = head + rest, begun + distances
        yield spur.length, path
        if not wanted or source == target:
            break
        roots = [spur.root]
        for u in path[spur.branch + 1 : -1]:
            left.setdefault(roots[-1], []).append(u)
            roots.append(numbers.setdefault((roots[-1], u), len(numbers) + 1))
        left.setdefault(roots[-1], []).append(target)
        leave(path, so_far, spur.branch, roots)
