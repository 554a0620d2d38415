"""How far apart: eccentricities, and sums over all pairs. Arguments are those of hopwave.questions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave import engines
from hopwave.algorithms import distances as _distances
from hopwave.algorithms import many as _many
from hopwave.algorithms import sampled as _sampled
from hopwave.algorithms.brandes import Progress
from hopwave.algorithms.many import Sweep
from hopwave.answers import Estimate, VertexScores
from hopwave.api import as_graph, beside
from hopwave.asked import answering, sampling, vertex_ids
from hopwave.errors import GraphError
from hopwave.graph import Graph

# ------------------------------------------------------------------ eccentricity and what follows from it


def eccentricity(
    G: Any,
    vertices: Iterable[Any] | None = None,
    device: str = "auto",
    progress: Progress = None,
    *,
    threads: int | None = None,
) -> VertexScores:
    """The distance from every vertex (or each of `vertices`) to the one farthest from it.

    The graph must be connected, a directed one strongly. Bounds from a few searches settle most vertices.

    >>> import hopwave as hw
    >>> hw.eccentricity(hw.generate.path(4)).to_dict()
    {0: 3, 1: 2, 2: 2, 3: 3}
    """
    graph = as_graph(G)
    ids = vertex_ids(graph, vertices)
    engine = answering("sweep", device, graph, threads, _distances.BATCH if vertices is None else len(ids))
    if not len(ids):
        return VertexScores("eccentricity", np.zeros(0, np.int64), ids, graph)
    if vertices is None:
        _distances.check_connected(engine, graph, "eccentricity")
        exact, _ = _distances.bounded_eccentricities(engine, graph, "eccentricity", progress, threads)
        return VertexScores("eccentricity", beside(graph, engine, exact.astype(np.int64)), ids, graph)
    found = _many.sweep(engine, graph, Sweep(ids, "sums"), "eccentricity", progress, threads)
    if (found.reached < graph.n).any():
        lost = int(np.argmax(found.reached < graph.n))
        raise GraphError(
            f"eccentricity of {graph.label(int(ids[lost]))!r} is infinite: it reaches {found.reached[lost]:,} of "
            f"{graph.n:,} vertices; take a connected component"
        )
    return VertexScores("eccentricity", beside(graph, engine, found.farthest), ids, graph)


def diameter(G: Any, device: str = "auto", progress: Progress = None, *, threads: int | None = None) -> int:
    """The greatest distance in a connected graph; found from few searches, exact.

    >>> import hopwave as hw
    >>> hw.diameter(hw.generate.grid(3, 4))
    5
    """
    _, low, _ = _bounded(G, "diameter", device, progress, threads)
    return int(low.max())


def radius(G: Any, device: str = "auto", progress: Progress = None, *, threads: int | None = None) -> int:
    """The least eccentricity in a connected graph.

    >>> import hopwave as hw
    >>> hw.radius(hw.generate.path(5))
    2
    """
    _, _, high = _bounded(G, "radius", device, progress, threads)
    return int(high.min())


def center(G: Any, device: str = "auto", progress: Progress = None, *, threads: int | None = None) -> list[Any]:
    """The vertices whose eccentricity is the radius, by label or id, in vertex order.

    >>> import hopwave as hw
    >>> hw.center(hw.generate.path(4))
    [1, 2]
    """
    graph, _, high = _bounded(G, "center", device, progress, threads)
    return [graph.label(v) for v in np.flatnonzero(high == high.min()).tolist()]


def periphery(G: Any, device: str = "auto", progress: Progress = None, *, threads: int | None = None) -> list[Any]:
    """The vertices whose eccentricity is the diameter, by label or id, in vertex order.

    >>> import hopwave as hw
    >>> hw.periphery(hw.generate.path(4))
    [0, 3]
    """
    graph, low, _ = _bounded(G, "periphery", device, progress, threads)
    return [graph.label(v) for v in np.flatnonzero(low == low.max()).tolist()]


def _bounded(
    G: Any, goal: _distances.Goal, device: str, progress: Progress, threads: int | None
) -> tuple[Graph, npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    graph = as_graph(G)
    engine = answering("sweep", device, graph, threads, _distances.BATCH)
    _distances.check_connected(engine, graph, goal)
    return graph, *_distances.bounded_eccentricities(engine, graph, goal, progress, threads)


# ------------------------------------------------------------------ sums over all pairs


def barycenter(G: Any, device: str = "auto", progress: Progress = None, *, threads: int | None = None) -> list[Any]:
    """The vertices whose distances to all others have the least sum, by label or id, in vertex order.

    >>> import hopwave as hw
    >>> hw.barycenter(hw.generate.path(5))
    [2]
    """
    graph = as_graph(G)
    engine = answering("sweep", device, graph, threads, graph.n)
    if graph.n == 0:
        return []
    _distances.check_connected(engine, graph, "the sum of distances")
    found = _many.sweep(engine, graph, Sweep(vertex_ids(graph, None), "sums"), "barycenter", progress, threads)
    return [graph.label(v) for v in np.flatnonzero(found.total == found.total.min()).tolist()]


def average_shortest_path_length(
    G: Any,
    k: int | None = None,
    seed: Any = None,
    delta: float = 0.1,
    device: str = "auto",
    progress: Progress = None,
    *,
    threads: int | None = None,
) -> float | Estimate:
    """The mean distance over all ordered pairs of a connected graph, a directed one strongly.

    `k` estimates it from that many sources: the answer is then an `Estimate` with its error.

    >>> import hopwave as hw
    >>> hw.average_shortest_path_length(hw.generate.path(3))
    1.3333333333333333
    """
    graph = as_graph(G)
    n = graph.n
    drawn = sampling(graph, k, None, delta) if n > 1 else None
    engine = answering("sweep", device, graph, threads, drawn or n)
    _distances.check_connected(engine, graph, "average shortest path length")
    if drawn is not None:
        value, error = _sampled.path_length(engine, graph, drawn, seed, delta, progress, threads)
        return Estimate(value, error, drawn, delta)
    mean = _total(engine, graph, "average path length", progress, threads) / (n * (n - 1)) if n > 1 else 0.0
    return mean if k is None else Estimate(mean, 0.0, n, delta)


def wiener_index(G: Any, device: str = "auto", progress: Progress = None, *, threads: int | None = None) -> float:
    """The sum of distances over all pairs: unordered ones of an undirected graph, ordered ones of a directed graph.

    Infinite for a graph that is not connected (a directed one: strongly).

    >>> import hopwave as hw
    >>> hw.wiener_index(hw.generate.path(3))
    4.0
    """
    graph = as_graph(G)
    engine = answering("sweep", device, graph, threads, graph.n)
    if graph.n == 0:
        raise GraphError("this graph has no vertices, so it is neither connected nor not; give at least one")
    if not _distances.connected(engine, graph):
        return float("inf")
    return _total(engine, graph, "Wiener index", progress, threads) / (1 if graph.directed else 2)


def _total(engine: engines.Engine, graph: Graph, title: str, progress: Progress, threads: int | None) -> int:
    found = _many.sweep(engine, graph, Sweep(vertex_ids(graph, None), "sums"), title, progress, threads)
    return int(found.total.sum())


def global_efficiency(G: Any, device: str = "auto", progress: Progress = None, *, threads: int | None = None) -> float:
    """The mean of 1/d over all ordered pairs, 0 for pairs without a way.

    >>> import hopwave as hw
    >>> hw.global_efficiency(hw.generate.star(4))
    0.75
    """
    graph = as_graph(G)
    engine = answering("sweep", device, graph, threads, graph.n)
    n = graph.n
    if n < 2:
        return 0.0
    found = _many.sweep(engine, graph, Sweep(vertex_ids(graph, None), "sums"), "efficiency", progress, threads)
    return float(found.inverse.sum() / (n * (n - 1)))


def local_efficiency(G: Any, device: str = "auto", progress: Progress = None, *, threads: int | None = None) -> float:
    """The mean over all vertices of the global efficiency among their neighbours (successors, in a directed graph).

    >>> import hopwave as hw
    >>> hw.local_efficiency(hw.generate.complete(4)), hw.local_efficiency(hw.generate.star(5))
    (1.0, 0.0)
    """
    graph = as_graph(G)
    engine = answering("local_efficiencies", device, graph, threads, sources=0)
    if graph.n == 0:
        raise GraphError("this graph has no vertices, so there is no mean over them; give at least one")
    with _many.polled("local efficiency", graph.n, progress) as poll:
        return float(engine.local_efficiencies(graph, poll, threads).sum() / graph.n)
