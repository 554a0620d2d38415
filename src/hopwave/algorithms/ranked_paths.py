"""The k shortest simple paths between two vertices: Yen's algorithm, on what two searches leave of the graph.

    d_s(v), d_t(v)   distances from the source, and to the target

A path over v is at least d_s(v) + d_t(v) long, and the paths of the two trees over k different vertices, if they are
simple and different, bound the k-th length from above. Vertices and arcs beyond this bound are on none of the k paths;
what is left becomes a graph of its own (Feng et al., PeeK, SC '23); on roads and social networks that is little. Yen's
algorithm (1971) then takes the paths in order: each new one leaves a known one at some vertex. A spur path goes on from
the length of its root, so a length is the float64 sum of its arcs from the source on. Every path is looked for once
(Lawler, 1972): a path is only left from the vertex at which it left its own parent.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.algebra.matrix import Matrix
from hopwave.algorithms.shortest_paths import choose, distances
from hopwave.graph import Graph
from hopwave.planning.jobs import Floats, ShortestPathsJob

ROUNDING = 2.0**-50  # per vertex: by how much a sum of two distances may be off
TREE_PATHS = 64  # vertices looked at per wanted path for the bound; without it, nothing is left out


def ranked_paths(
    graph: Graph, weighted: bool, source: int, target: int, k: int, device: str
) -> Iterator[tuple[float, list[int]]]:
    """(length, ids) of the shortest simple paths, shortest first; at most k. The device is that of the two searches."""
    from hopwave.engines.cpu.shortest_paths import deviations, dijkstra

    graph = graph if weighted else graph.without_weights()
    back = graph.reversed()
    to_target, from_source = (_distances(*ends, device) for ends in ((back, target), (graph, source)))
    if to_target[source] == math.inf:
        return
    slack = 1.0 + ROUNDING * graph.n
    bound = upper_bound(graph, back, from_source, to_target, source, target, k) * slack
    rows, lengths, ids = left_over(graph, from_source, to_target, bound * slack)
    start, end = np.searchsorted(ids, [source, target]).tolist()
    search = deviations.Spurs(dijkstra.arcs(rows, lengths), to_target[ids])
    # `slack` again: what is left from a vertex is a sum from the other end
    for length, path in yen(search, rows, lengths, start, end, k, bound * slack):
        yield length, ids[path].tolist()


def _distances(graph: Graph, source: int, device: str) -> Floats:
    """Of all vertices, on the host."""
    way = choose(graph, "auto", None, device, None, False)
    found = distances(Matrix.from_graph(graph), ShortestPathsJob((source,)), way)
    return found.to_host(found.distances)


def upper_bound(
    graph: Graph, back: Graph, from_source: Floats, to_target: Floats, source: int, target: int, k: int
) -> float:
    """A length that k different simple paths do not exceed; infinite if the trees do not have as many nearby."""
    through = from_source + to_target
    count = min(len(through), TREE_PATHS * k)
    nearest = np.argpartition(through, count - 1)[:count]
    before: dict[int, int | None] = {source: source}
    after: dict[int, int | None] = {target: target}
    found: set[tuple[int, ...]] = set()
    for v in nearest[np.argsort(through[nearest], kind="stable")].tolist():
        if through[v] == math.inf:
            break
        first, last = _walk(back, from_source, before, v, source), _walk(graph, to_target, after, v, target)
        if first is None or last is None:
            continue
        path = (*first[::-1], *last[1:])
        if len(set(path)) == len(path):
            found.add(path)
            if len(found) == k:
                return float(through[v])
    return math.inf


def _walk(graph: Graph, d: Floats, nearer: dict[int, int | None], v: int, end: int) -> list[int] | None:
    """From v to the end of the search that found these distances, along one of its trees, which `nearer` keeps; None
    where only arcs of length 0 lead on."""
    path = [v]
    while path[-1] != end:
        u = path[-1]
        if u not in nearer:
            row = slice(int(graph.indptr[u]), int(graph.indptr[u + 1]))
            heads: Any = graph.indices[row]
            lengths = 1.0 if graph.weights is None else np.asarray(graph.weights[row], np.float64)
            tight = heads[(d[heads] + lengths == d[u]) & (d[heads] < d[u])]
            nearer[u] = int(tight[0]) if len(tight) else None
        following = nearer[u]
        if following is None:
            return None
        path.append(following)
    return path


Rows = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]


def left_over(graph: Graph, from_source: Floats, to_target: Floats, bound: float) -> tuple[Rows, Floats, Any]:
    """Rows and lengths of the vertices and arcs over which a path may be within the bound, and the vertices' ids."""
    lengths = np.empty(0) if graph.weights is None else np.asarray(graph.weights, np.float64)
    ids = np.flatnonzero(from_source + to_target <= bound)
    counts = np.diff(graph.indptr)[ids].astype(np.int64)
    ends = np.cumsum(counts)
    arcs = np.arange(int(counts.sum())) + np.repeat(graph.indptr[ids] - (ends - counts), counts)
    tails, heads = np.repeat(np.arange(len(ids)), counts), graph.indices[arcs]
    along = lengths[arcs] if len(lengths) else np.float64(1.0)
    kept = from_source[ids][tails] + along + to_target[heads] <= bound
    indptr = np.zeros(len(ids) + 1, np.int64)
    np.cumsum(np.bincount(tails[kept], minlength=len(ids)), out=indptr[1:])
    indices = np.searchsorted(ids, heads[kept]).astype(np.int32)
    return (indptr, indices), lengths[arcs[kept]] if len(lengths) else lengths, ids


def yen(
    search: Any, rows: Rows, lengths: Floats, source: int, target: int, k: int, bound: float
) -> Iterator[tuple[float, list[int]]]:
    """The paths in order. Of two known paths of one length, the one with the lower id at the first difference leads."""
    waiting: list[tuple[float, list[int], int]] = []
    left: dict[tuple[int, ...], list[int]] = {}  # root → heads of the arcs by which it was left

    def leave(root: list[int], so_far: float) -> None:
        found = search(root[-1], so_far, target, root[:-1], left.setdefault(tuple(root), []), bound)
        if found is not None:
            heapq.heappush(waiting, (found[0], root[:-1] + found[1], len(root) - 1))

    leave([source], 0.0)
    for taken in range(1, k + 1):
        if not waiting:
            return
        length, path, branch = heapq.heappop(waiting)
        yield length, path
        if taken == k:
            return
        so_far = sums(rows, lengths, path)
        for i in range(branch, len(path) - 1):
            left.setdefault(tuple(path[: i + 1]), []).append(path[i + 1])
            leave(path[: i + 1], so_far[i])


def sums(rows: Rows, lengths: Floats, path: list[int]) -> list[float]:
    """The distances along a path, of each of its vertices; of parallel arcs, the shortest counts."""
    indptr, indices = rows
    found = [0.0]
    for u, v in pairwise(path):
        row = slice(int(indptr[u]), int(indptr[u + 1]))
        here = lengths[row][indices[row] == v].min() if len(lengths) else 1.0
        found.append(found[-1] + float(here))
    return found
