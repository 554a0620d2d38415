"""The k shortest simple paths between two vertices: Yen's algorithm, on what two searches leave of the graph.

    d_s(v), d_t(v)   distances from the source, and to the target

A path over v is at least d_s(v) + d_t(v) long, and the paths of the two trees over k different vertices, if they are
simple and different, bound the k-th length from above. Vertices and arcs beyond this bound are on none of the k paths;
what is left becomes a graph of its own (Feng et al., PeeK, SC '23); on roads and social networks that is little. The
two searches run on a GPU or on all cores; of a graph on a GPU, only the rows of near vertices come to the host. Yen's
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
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hopwave.algebra.matrix import Matrix
from hopwave.algorithms.shortest_paths import Way, choose, distances
from hopwave.graph import Graph
from hopwave.graph.csr import Rows
from hopwave.graph.reshape import selected, sources
from hopwave.planning.jobs import Floats, ShortestPathsJob

ROUNDING = 2.0**-50  # per vertex: by how much a sum of two distances may be off
TREE_PATHS = (1, 4, 16, 64)  # vertices looked at per wanted path for the bound; without it, nothing is left out


def ranked_paths(
    graph: Graph, weighted: bool, source: int, target: int, k: int, device: str
) -> Iterator[tuple[float, list[int]]]:
    """(length, ids) of the shortest simple paths, shortest first; at most k. The device is that of the two searches."""
    from hopwave.engines.cpu.shortest_paths import deviations, dijkstra

    graph = graph if weighted else graph.without_weights()
    A, way = Matrix.from_graph(graph), choose(graph, "auto", None, device, None, False)
    to_target, from_source = _distances(A.T, target, way), _distances(A, source, way)
    if to_target[source] == math.inf:
        return
    slack = 1.0 + ROUNDING * graph.n
    part, bound = left_over(graph, from_source, to_target, (source, target), k, slack)
    rows = arcs_within(part, bound * slack)
    lengths = np.empty(0) if rows.values is None else np.asarray(rows.values, np.float64)
    search = deviations.Spurs(dijkstra.arcs(rows[:2], lengths), part.to_target, slack)
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
    through = from_source + to_target

    def within(most: float) -> Part:
        ids = np.flatnonzero(through <= min(most, sys.float_info.max))
        source, target = np.searchsorted(ids, ends).tolist()
        return Part(graph._induced(ids), ids, from_source[ids], to_target[ids], (source, target))

    for many in TREE_PATHS:
        count = min(graph.n, many * k)
        near = float(np.partition(through, count - 1)[count - 1])
        part = within(near * slack)
        bound = upper_bound(part, k, count) * slack
        if max(near, bound) < math.inf or near == math.inf:
            return part, bound
    return within(math.inf), math.inf


class Tree:
    """One shortest path from every vertex to the end of a search, looked up where it is asked for.

    `graph` has the arcs along which a walk leads back, and d the distances that the search found.
    """

    def __init__(self, graph: Graph, d: Floats, end: int) -> None:
        self.graph, self.d, self.following = graph, d, {end: end}

    def after(self, u: int) -> int:
        """The next vertex on the way from u to the end; −1 where only arcs of length 0 lead on."""
        if u not in self.following:
            row = slice(int(self.graph.indptr[u]), int(self.graph.indptr[u + 1]))
            heads: Any = self.graph.indices[row]
            lengths = 1.0 if self.graph.weights is None else np.asarray(self.graph.weights[row], np.float64)
            tight = heads[(self.d[heads] + lengths == self.d[u]) & (self.d[heads] < self.d[u])]
            self.following[u] = int(tight[0]) if len(tight) else -1
        return self.following[u]

    def walk(self, u: int) -> list[int]:
        """All vertices after u, the end included; −1 is the last where there is no way."""
        path = []
        while self.after(u) != u:
            u = self.after(u)
            path.append(u)
            if u < 0:
                break
        return path


def upper_bound(part: Part, k: int, count: int) -> float:
    """A length that k different simple paths do not exceed; infinite if the nearest vertices do not have as many.

    The paths over u and over v, its next vertex, are the same if each is the other's neighbour in its tree; so paths
    are told apart by the first vertex that is joined to v in this way.
    """
    through, (source, target) = part.from_source + part.to_target, part.ends
    first, last = Tree(part.graph.reversed(), part.from_source, source), Tree(part.graph, part.to_target, target)
    begins: dict[int, int] = {}
    found = 0
    for v in np.argsort(through, kind="stable")[:count].tolist():
        u, joined = v, []
        while u not in begins and u != source and first.after(u) >= 0 and last.after(first.after(u)) == u:
            joined.append(u)
            u = first.after(u)
        is_new = u not in begins
        begins.update(dict.fromkeys((u, *joined), begins.get(u, u)))
        if is_new and (first.after(v) != last.after(v) or v in (source, target)):
            path = [*first.walk(v), v, *last.walk(v)]
            found += -1 not in path and len(set(path)) == len(path)
            if found == k:
                return float(through[v])
    return math.inf


def arcs_within(part: Part, bound: float) -> Rows:
    """The arcs over which a path may be within the bound."""
    rows = part.graph._rows
    along = 1.0 if rows.values is None else np.asarray(rows.values, np.float64)
    return selected(rows, part.from_source[sources(rows)] + along + part.to_target[rows.indices] <= bound)


def yen(search: Any, source: int, target: int, k: int, bound: float, slack: float) -> Iterator[tuple[float, list[int]]]:
    """The paths in order; of equally long ones, the one with the lowest ids at the first difference, of those known.

    Of those that are known, as many as are still wanted bound the length of others: `slack` times that, because what
    is left from a vertex is a sum from the other end.
    """
    # A path that waits: its length, itself, where it left its parent, that root's number, distances from there on.
    waiting: list[tuple[float, list[int], int, int, list[float]]] = []
    shortest: list[float] = []  # the lengths of those that wait, in order
    numbers: dict[tuple[int, int], int] = {}  # (number of a root, the next vertex) → number of the longer root
    left: dict[int, list[int]] = {}  # number of a root → heads of the arcs by which it was left
    wanted = k

    def leave(path: list[int], barred: Any, root: int, so_far: float) -> None:
        most = bound if len(shortest) < wanted else min(bound, shortest[wanted - 1] * slack)
        branch = len(barred)
        found = search(path[branch], so_far, target, barred, left.setdefault(root, []), most)
        if found is not None:
            distances, rest = found
            heapq.heappush(waiting, (distances[-1], path[:branch] + rest, branch, root, distances))
            insort(shortest, distances[-1])

    leave([source], np.empty(0, np.int64), 0, 0.0)
    while waiting and wanted:
        length, path, branch, root, distances = heapq.heappop(waiting)
        del shortest[0]
        wanted -= 1
        yield length, path
        before = np.array(path)
        for i in range(branch, len(path) - 1 if wanted else 0):
            left.setdefault(root, []).append(path[i + 1])
            leave(path, before[:i], root, distances[i - branch])
            root = numbers.setdefault((root, path[i + 1]), len(numbers) + 1)
