"""Results derived from component or community numbers; sides of bipartite graphs, order of acyclic graphs."""

from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.arrays import Structure, ignoring
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.graph.csr import arc_tails, is_compiled_faster


def roots(label: npt.NDArray[np.int32]) -> npt.NDArray[np.intp]:
    """The lowest vertex of every component."""
    first = np.zeros(int(label.max(initial=-1)) + 1, np.intp)
    first[label[::-1]] = np.arange(len(label))[::-1]  # the lowest vertex is written last
    return first


def members(label: npt.NDArray[np.int32]) -> list[npt.NDArray[np.intp]]:
    """The vertices of every component, ascending."""
    if not len(label):
        return []
    order = np.argsort(label, kind="stable")
    return np.split(order, np.cumsum(np.bincount(label))[:-1])


def sides(graph: Graph, distances: npt.NDArray[np.int32]) -> npt.NDArray[np.int8] | tuple[int, int]:
    """The side of each vertex, the parity of its distance from its component's root; or an edge within one side."""
    from hopwave.engines.cpu.arc_passes import arc_within  # compiled, so imported when first needed

    found: tuple[int, int] | None = arc_within(graph, distances)
    return (distances & 1 & ~(distances >> 31)).astype(np.int8) if found is None else found


def shows_triangle(graph: Graph, vertex: int) -> bool:
    """Whether a quick check of a vertex's neighbours finds a triangle; False is inconclusive."""
    from hopwave.engines.cpu.arc_passes import shows_triangle

    return bool(shows_triangle(graph, vertex))


def sides_on_gpu(graph: Graph) -> npt.NDArray[np.int8] | None:
    """The side of each vertex, found on a GPU without a search; None if the graph has a cycle of odd length."""
    from hopwave.engines.cuda.components import sides

    found: npt.NDArray[np.int8] | None = sides(graph)
    return found


def arcs_between(graph: Graph, label: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """The components of both endpoints of every arc between components; arcs may repeat."""
    tail, head = label[arc_tails(graph)], label[graph.indices]
    across = tail != head
    return tail[across], head[across]


def topological_order(graph: Graph) -> npt.NDArray[np.int32]:
    """The vertices of a directed graph, each before its out-neighbours; without vertices on or behind a cycle."""
    from hopwave.engines.cpu.row_order import peel  # compiled, so imported when first needed

    order, left = np.empty(graph.n, np.int32), graph.in_degrees.astype(np.int64)
    return order[: peel(graph.indptr, graph.indices, left, order)]


@ignoring("over")
def modularity(
    graph: Graph, weights: npt.NDArray[Any] | None, label: npt.NDArray[Any], resolution: float = 1.0
) -> float:
    """Σ over communities c of L(c) / m − γ · out(c) · in(c) / m² (Newman 2004; directed: Leicht and Newman 2008).

    L(c): the weight of the arcs within c; out(c), in(c): of arcs that leave and enter its vertices; m: of all. Each
    edge of an undirected graph is two arcs; a self-loop is stored as one arc and counts twice.
    """
    count = int(label.max(initial=-1)) + 1
    if weights is None:
        degrees = graph.degrees if graph.directed else degrees_with_loops(graph)
        out = np.bincount(label, degrees, count)
        into = np.bincount(label, graph.in_degrees, count) if graph.directed else out
        m = float(degrees.sum())
        within = arcs_within(graph, label) + m - graph.m
    else:
        tail, head = arc_tails(graph), graph.indices
        w = np.asarray(weights, np.float64)
        if not graph.directed:
            w = np.where(tail == head, 2 * w, w)
        m = float(w.sum())
        tail, head = label[tail], label[head]
        within = float(w[tail == head].sum())
        out, into = (np.bincount(end, w, count) for end in (tail, head))
    if not 0 < m < np.inf:
        raise GraphError(f"the weights of all edges add up to {m:g}, so modularity is undefined; pass other weights")
    return within / m - resolution * float((out / m) @ (into / m))


def arcs_within(graph: Graph, label: npt.NDArray[Any]) -> int:
    """The number of arcs between vertices with the same label."""
    if not is_compiled_faster(graph.m):
        return int(np.count_nonzero(label[arc_tails(graph)] == label[graph.indices]))
    from hopwave.engines.cpu.arc_passes import arcs_within

    return int(arcs_within(graph, label))


def degrees_with_loops(graph: Graph) -> npt.NDArray[np.int64]:
    """The degrees of an undirected graph; a self-loop, which is stored as one arc, counts twice."""
    kept = graph._prepared.record(Structure)
    if kept.loops is None:
        kept.loops = graph.indices[graph.indices == arc_tails(graph)]
    return graph.degrees + np.bincount(kept.loops, minlength=graph.n)
