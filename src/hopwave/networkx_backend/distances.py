"""Measures of distances (networkx.algorithms: distance_measures, wiener, centrality, bipartite, efficiency)."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt

import hopwave as hw
from hopwave.algorithms.distances import closeness
from hopwave.algorithms.many_sources import distance_blocks, sweep
from hopwave.algorithms.reduction import distance_sums
from hopwave.algorithms.reduction.distance_sums import What
from hopwave.api.choice import distance_engine
from hopwave.graph import Graph
from hopwave.networkx_backend import dispatch
from hopwave.networkx_backend.convert import NetworkXGraph
from hopwave.networkx_backend.dispatch import SINCE_3_7, of_one_or_all, serves
from hopwave.networkx_backend.paths import node_ids, shortest_path_length
from hopwave.networkx_backend.traversal import arc_labels, check_not_null, reaches_each_other, search
from hopwave.planning.jobs import Integers
from hopwave.planning.many_sources import Sweep, Swept

SINGLE_SOURCE = ("unweighted", "dijkstra", "bellman-ford")
ALL_PAIRS = ("floyd-warshall", "floyd-warshall-numpy")
NULL = "Cannot compute eccentricity of a null graph."  # NetworkX's message since version 3.7
Scores = dict[Any, float]


# ------------------------------------------------------------------ batches of searches


@dataclass(frozen=True, eq=False)
class Measured:
    """A graph, and whether distances are measured along an edge attribute; `whole`: NetworkX's distances are int."""

    graph: Graph
    weighted: bool
    whole: bool

    def reversed(self) -> "Measured":
        return replace(self, graph=self.graph.reversed())

    def total(self, values: npt.NDArray[Any]) -> int | float:
        return int(values.sum()) if self.whole else math.fsum(values)


def measured(G: NetworkXGraph, attribute: Any = None) -> Measured:
    """Measured along an edge attribute, or in hops if it is None; NotImplementedError for unsupported values."""
    whole = attribute is None or G.lengths_of(attribute).whole
    return Measured(G.weighted(attribute), attribute is not None, whole)


def sums(by: Measured, sources: list[int] | None = None, only: What | None = None, **place: Any) -> Swept:
    """For each source (None: all): vertices reached, Σ d, Σ 1/d, maximum d. With `only`, fewer searches may suffice."""
    engine, ids, threads = _prepared(by, sources, **place)
    job = Sweep(ids, "sums", weighted=by.weighted)
    if only is not None:
        return distance_sums.sums(engine, by.graph, job, only, "distances", False, threads)[0]
    return sweep(engine, by.graph, job, "distances", False, threads)


def blocks(by: Measured, sources: list[int] | None = None, **place: Any) -> Iterator[tuple[Integers, npt.NDArray[Any]]]:
    """(sources, their distances) in batches; unreachable vertices have −1 hops or infinite length."""
    engine, ids, threads = _prepared(by, sources, **place)
    return distance_blocks(engine, by.graph, ids, threads, weighted=by.weighted)


def _prepared(
    by: Measured, sources: list[int] | None, device: str = "auto", threads: int | None = None
) -> tuple[Any, Integers, int | None]:
    ids = np.arange(by.graph.n) if sources is None else np.array(sources, np.int64)
    return distance_engine(by.weighted, device, by.graph, threads, len(ids)), ids, threads


def chosen(G: NetworkXGraph, nbunch: Any) -> list[Any]:
    """The nodes that NetworkX reads from a node, a container of nodes, or None (all); unknown nodes are skipped."""
    return list(nx.Graph.nbunch_iter(G, nbunch))


# ------------------------------------------------------------------ eccentricity


@serves(threshold=of_one_or_all("v"), notes=dispatch.LENGTHS)
def eccentricity(G: NetworkXGraph, v: Any, weight: Any, **place: Any) -> Any:
    if SINCE_3_7:
        check_not_null(G, NULL)
    nodes = chosen(G, v)
    by = measured(G, weight)
    found = sums(by, [G.number[node] for node in nodes], only="farthest", **place)
    if (found.reached != len(G)).any():
        raise nx.NetworkXError(unreached(G))
    farthest = found.farthest.astype(np.int64) if by.whole else found.farthest
    far = dict(zip(nodes, farthest.tolist(), strict=True))
    return far[v] if v in G else far


def unreached(G: NetworkXGraph) -> str:
    kind = "digraph is not strongly connected" if G.directed else "graph is not connected"
    return f"Found infinite path length because the {kind}"


def _extreme(name: str, best: Callable[..., Any], lists: bool) -> None:
    """Register diameter, radius, periphery or center: the highest or lowest (`best`) eccentricity, or its vertices."""

    def found(G: NetworkXGraph, e: Any, usebounds: Any, weight: Any, **place: Any) -> Any:
        if e is not None:
            end = best(e.values())
            return [node for node in e if e[node] == end] if lists else end
        bounded = usebounds is True and not G.directed
        if name == "center" and len(G) == 0 and not bounded and not G.directed and weight is None:
            raise nx.NetworkXPointlessConcept("G has no nodes.")  # NetworkX first tests whether G is a tree
        if SINCE_3_7 and not bounded:
            check_not_null(G, NULL)
        if len(G) == 0:
            (max if bounded else best)({}.values())  # Python's message, which changes between versions
        if not reaches_each_other(G):
            raise nx.NetworkXError("Cannot compute metric because graph is not connected." if bounded else unreached(G))
        by = measured(G, weight)
        answer = getattr(hw, name)(by.graph, progress=False, weights=by.weighted, **place)
        if lists:
            return G.names(sorted(answer))
        return int(answer) if by.whole else answer

    serves(name, notes=dispatch.LENGTHS)(found)


for name, best in (("diameter", max), ("radius", min), ("periphery", max), ("center", min)):
    _extreme(name, best, lists=name in ("periphery", "center"))


# ------------------------------------------------------------------ sums of distances


@serves(notes=dispatch.LENGTHS)
def barycenter(G: NetworkXGraph, weight: Any, **place: Any) -> list[Any]:
    if len(G) == 0:
        if not G.directed and weight is None:
            raise nx.NetworkXPointlessConcept("G has no nodes.")
        return []
    found = sums(measured(G, weight), **place)
    if (found.reached < len(G)).any():
        raise nx.NetworkXNoPath(
            f"Input graph {G} is disconnected, so every induced subgraph has infinite barycentricity."
        )
    least = np.flatnonzero(found.total == found.total.min())
    if len(least) == 2 and not G.directed and weight is None and G.number_of_edges() == len(G) - 1:
        # NetworkX searches a tree from its first vertex and lists both centres in the order of discovery.
        level = np.empty(len(G), np.int32)
        walk = search(G.out_rows, [0])
        level[walk.order] = walk.level
        least = least[np.argsort(level[least])]
    return G.names(least)


# Before NetworkX 3.7, `centroid` was another function: the centroid of a tree.
serves("centroid", since=(3, 7), notes="Name of `barycenter` since NetworkX 3.7.")(barycenter)


NO_MATRIX = "method={method!r} is a matrix algorithm; hopwave supports only searches"


@serves(why_not=lambda of: NO_MATRIX.format(**of) if of["method"] in ALL_PAIRS else None, notes=dispatch.LENGTHS)
def average_shortest_path_length(G: NetworkXGraph, weight: Any, method: Any, **place: Any) -> float:
    if method is not None and method not in SINGLE_SOURCE + ALL_PAIRS:
        raise ValueError(f"method not supported: {method}")
    n = len(G)
    if n == 0:
        raise nx.NetworkXPointlessConcept("the null graph has no paths, thus there is no average shortest path length")
    if n == 1:
        return 0
    if not reaches_each_other(G):
        raise nx.NetworkXError(f"Graph is not {'strongly ' if G.directed else ''}connected.")
    by = measured(G, None if method == "unweighted" else weight)
    return by.total(sums(by, **place).total) / (n * (n - 1))


@serves(notes=dispatch.LENGTHS)
def harmonic_diameter(G: NetworkXGraph, weight: Any = None, **place: Any) -> float:
    n = len(G)
    total = float(sums(measured(G, weight), **place).inverse.sum())
    if total != 0:
        return n * (n - 1) / total
    return math.inf if n > 1 else math.nan


def _wiener(G: NetworkXGraph, by: Measured, place: Any) -> float:
    total = by.total(sums(by, **place).total)
    return total if G.directed else total / 2


def _hyper_wiener(G: NetworkXGraph, by: Measured, place: Any) -> float:
    """The sum of distances and their squares over all pairs."""
    if by.weighted:
        return math.fsum(math.fsum(row + row * row) for _, rows in blocks(by, **place) for row in rows) / 2
    pairs: list[int] = sums(by, **place).histogram.tolist()
    return sum(count * (hops + hops**2) for hops, count in enumerate(pairs)) / 2


def _gutman(G: NetworkXGraph, by: Measured, place: Any) -> float:
    """Σ d(u, v) · deg(u) · deg(v) over all pairs."""
    degree = degrees(G)
    return sum(by.total(degree[some] * (rows @ degree)) for some, rows in blocks(by, **place)) / 2


def _index(name: str, of: Callable[..., float]) -> None:
    """Register a sum over all pairs; infinite if the graph is not connected."""
    serves(f"{name}_index", notes=dispatch.LENGTHS)(
        lambda G, weight, **place: of(G, measured(G, weight), place) if reaches_each_other(G) else math.inf
    )


_index("wiener", _wiener)
_index("hyper_wiener", _hyper_wiener)
# Σ d · (deg(u) + deg(v)) / 2, which is a float
_index("schultz", lambda G, by, place: 2 * by.total(sums(by, **place).total * degrees(G)) / 2)
_index("gutman", _gutman)


def degrees(G: NetworkXGraph) -> Any:
    """Degrees as in NetworkX: a self-loop counts twice."""
    source, target = arc_labels(G, np.arange(len(G)))
    return np.bincount(source, minlength=len(G)) + np.bincount(source[source == target], minlength=len(G))


# ------------------------------------------------------------------ closeness


@serves(threshold=of_one_or_all("u"), notes=dispatch.LENGTHS)
def closeness_centrality(G: NetworkXGraph, u: Any, distance: Any, wf_improved: bool, **place: Any) -> Any:
    if u is not None and u not in G:
        raise nx.NodeNotFound(f"Source {u} is not in G" if distance is None else f"Node {u} not found in graph")
    found = sums(measured(G, distance).reversed(), None if u is None else [G.number[u]], only="total", **place)
    scores = closeness(found.reached, found.total, len(G), bool(wf_improved))
    return G.by_node(scores) if u is None else float(scores[0])


@serves(notes=dispatch.LENGTHS)
def harmonic_centrality(G: NetworkXGraph, nbunch: Any, distance: Any, sources: Any, **place: Any) -> Scores:
    # NetworkX also builds a set and returns nodes in its order.
    nodes = list(set(G.nodes if nbunch is None else chosen(G, nbunch)))
    ids = [G.number[node] for node in nodes]
    by = measured(G, distance)
    if sources is None:
        scores = sums(by.reversed(), ids, only="inverse", **place).inverse
    else:
        starts = list({G.number[node] for node in chosen(G, sources)})
        scores = np.zeros(len(nodes))
        for _, away in blocks(by, starts, **place):
            near = away[:, ids]
            scores += np.divide(1.0, near, out=np.zeros(near.shape), where=near > 0).sum(0)
    return {node: score or 0 for node, score in zip(nodes, scores.tolist(), strict=True)}


@serves(threshold=dispatch.MEANS, notes="Unweighted.")
def group_closeness_centrality(G: NetworkXGraph, S: Any) -> float:
    group = set(S)
    total = int(search(G.in_rows, node_ids(G, group)).level.sum())
    return (len(G) - len(group)) / total if total else 0


@serves(notes=dispatch.HOPS)
def bipartite_closeness_centrality(G: NetworkXGraph, nodes: Any, normalized: bool, **place: Any) -> Scores:
    top = set(nodes)
    bottom = set(G) - top
    for node in top:
        if node not in G:
            raise nx.NodeNotFound(f"Source {node} is not in G")
    found = sums(measured(G), **place)
    scores: Scores = {}
    for side, other in ((top, bottom), (bottom, top)):
        least = len(other) + 2 * (len(side) - 1)
        for node in side:
            v = G.number[node]
            total, reached = int(found.total[v]), int(found.reached[v])
            scores[node] = least / total if total else 0.0
            if normalized and total:
                scores[node] *= (reached - 1) / (len(G) - 1)
    return scores


@serves(threshold=dispatch.MEANS, notes="Unweighted, without `paths=`.")
def local_reaching_centrality(G: NetworkXGraph, v: Any, normalized: bool) -> float:
    check_size(G)
    if v not in G:
        raise nx.NodeNotFound(f"Source {v} not in G")
    level = search(G.out_rows, [G.number[v]]).level[1:]
    total = len(level) if G.directed else float((1 / level).sum())
    return total / (len(G) - 1)


@serves(notes=dispatch.HOPS)
def global_reaching_centrality(G: NetworkXGraph, normalized: bool, **place: Any) -> float:
    check_size(G)
    found = sums(measured(G), **place)
    local = (found.reached - 1 if G.directed else found.inverse) / (len(G) - 1)
    return float((local.max() - local).sum()) / (len(G) - 1)


def check_size(G: NetworkXGraph) -> None:
    """Raise NetworkX's errors if no edge leads to another vertex."""
    edges = G.number_of_edges()
    if edges > 0 and len(G) == 1:
        raise nx.NetworkXError("local_reaching_centrality of a single node with self-loop not well-defined")
    if edges <= 0:
        raise nx.NetworkXError("Size of G must be positive")


# ------------------------------------------------------------------ efficiency: the mean of 1 / hops


@serves(threshold=dispatch.PAIR, notes=dispatch.CONVERTED_BEFORE)
def efficiency(G: NetworkXGraph, u: Any, v: Any) -> float:
    try:
        return float(1 / shortest_path_length(G, u, v))
    except nx.NetworkXNoPath:
        return 0


@serves(notes=dispatch.HOPS)
def global_efficiency(G: NetworkXGraph, **place: Any) -> float:
    pairs = len(G) * (len(G) - 1)
    return float(sums(measured(G), **place).inverse.sum()) / pairs if pairs else 0


@serves(notes=dispatch.HOPS)
def local_efficiency(G: NetworkXGraph, **place: Any) -> float:
    if len(G) == 0:
        raise ZeroDivisionError("division by zero")
    return float(hw.local_efficiency(G.graph, progress=False, **place))
