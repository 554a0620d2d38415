"""The k shortest simple paths between two vertices: Yen's algorithm, on what two searches leave of the graph.

    d_s(v), d_t(v)   distances from the source, and to the target

A path over v is at least d_s(v) + d_t(v) long, and the paths of the two trees over k different vertices, if they are
simple and different, bound the k-th length from above. Vertices and arcs beyond this bound are on none of the k paths;
what is left becomes a graph of its own (Feng et al., PeeK, SC '23); on roads and social networks that is little. The
two searches run on a GPU or on all cores, and near vertices are cut out of the graph where its rows are. In Yen's
algorithm (1971), each new path leaves a known one at some vertex. A spur path goes on from the length of its root, so a
length is the float64 sum of its arcs from the source on. Every path is looked for once (Lawler, 1972): a path is only
left from the vertex at which it left its own parent. Paths are left in rounds, many at a time.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hopwave.algebra.matrix import Matrix
from hopwave.algorithms.shortest_paths import Way, choose, distances
from hopwave.graph import Graph
from hopwave.graph.reshape import selected, sources
from hopwave.planning.jobs import Floats, ShortestPathsJob

ROUNDING = 2.0**-50  # per vertex: by how much a sum of two distances may be off
AT_ONCE = 2  # a round takes the shorter half of the waiting spurs: it may find some that are shorter than the rest
TREE_PATHS = (16, 64, 256, 1024)  # vertices looked at per wanted path for the bound; without it, nothing is left out


def ranked_paths(
    graph: Graph, weighted: bool, source: int, target: int, k: int, device: str
) -> Iterator[tuple[float, list[int]]]:
    """(length, ids) of the shortest simple paths, shortest first; at most k. The device is that of the two searches."""
    from hopwave.engines.cpu.shortest_paths.deviations import Deviations

    if source == target:
        yield 0.0, [source]
        return
    graph = graph if weighted else graph.without_weights()
    A, way = Matrix.from_graph(graph), choose(graph, "auto", None, device, None, False)
    to_target, from_source = _distances(A.T, target, way), _distances(A, source, way)
    if to_target[source] == math.inf:
        return
    slack = 1.0 + ROUNDING * graph.n
    part, bound = left_over(graph, from_source, to_target, (source, target), k, slack)
    most, elsewhere = bound * slack, None
    if device == "cuda":
        from hopwave.engines.cuda.shortest_paths import spurs

        elsewhere = spurs.Spurs
    search = Deviations(arcs_within(part, most), part.to_target, slack, *part.ends, most, elsewhere)
    for spur in yen(search, k, most, slack):
        yield float(search.lengths[spur]), part.ids[search.path(spur)].tolist()


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


def yen(search: Any, k: int, bound: float, slack: float) -> list[int]:
    """The numbers of the k shortest spurs, shortest first, with their paths.

    A spur stands for a set of paths. Once its shortest path is found, the others are divided among the spurs that leave
    this path. So waiting spurs can be taken in any order, and many at a time. When k are known, others may be no longer
    than the k-th: `slack` times that, because distances to the target are sums from the other end.
    """
    ranked = np.arange(len(search.lengths))
    while True:
        waiting = ranked[: k - 1][search.path_of[ranked[: k - 1]] == 0]  # no shorter path leaves the last one
        if not len(waiting):
            break
        most = bound if len(ranked) < k else min(bound, search.lengths[ranked[-1]] * slack)
        found = search.leave(waiting[: -(-len(waiting) // AT_ONCE)], most)
        ranked = np.concatenate([ranked, found])
        ranked = ranked[np.argsort(search.lengths[ranked], kind="stable")[:k]]
    search.find_paths(ranked[search.path_of[ranked] == 0])
    return ranked.tolist()
