"""Questions that distances answer: closeness, eccentricity, path lengths, efficiency."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hopwave import engines
from hopwave.algorithms import distances as _distances
from hopwave.algorithms import estimates as _sampled
from hopwave.algorithms import many_sources as _many
from hopwave.api.arguments import as_graph, hops, sampling, to_input_device, vertex_ids
from hopwave.api.choice import engine_for
from hopwave.api.search import bfs
from hopwave.engines import Engine
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.jobs import Integers, Progress, Sweep
from hopwave.results.scores import DistanceHistogram, Estimate, VertexScores

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
    engine = engine_for("sweep", device, graph, threads, _distances.BATCH if vertices is None else len(ids))
    if not len(ids):
        return VertexScores("eccentricity", np.zeros(0, np.int64), ids, graph)
    if vertices is None:
        _distances.check_connected(engine, graph, "eccentricity")
        exact, _ = _distances.bounded_eccentricities(engine, graph, "eccentricity", progress, threads)
        return VertexScores("eccentricity", to_input_device(graph, engine, exact.astype(np.int64)), ids, graph)
    found = _many.sweep(engine, graph, Sweep(ids, "sums"), "eccentricity", progress, threads)
    if (found.reached < graph.n).any():
        lost = int(np.argmax(found.reached < graph.n))
        raise GraphError(
            f"eccentricity of {graph.label(int(ids[lost]))!r} is infinite: it reaches {found.reached[lost]:,} of "
            f"{graph.n:,} vertices; take a connected component"
        )
    return VertexScores("eccentricity", to_input_device(graph, engine, found.farthest), ids, graph)


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
    engine = engine_for("sweep", device, graph, threads, _distances.BATCH)
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
    engine = engine_for("sweep", device, graph, threads, graph.n)
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
    engine = engine_for("sweep", device, graph, threads, drawn or n)
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
    engine = engine_for("sweep", device, graph, threads, graph.n)
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
    engine = engine_for("sweep", device, graph, threads, graph.n)
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
    engine = engine_for("local_efficiencies", device, graph, threads, sources=0)
    if graph.n == 0:
        raise GraphError("this graph has no vertices, so there is no mean over them; give at least one")
    with _many.polled("local efficiency", graph.n, progress) as poll:
        return float(engine.local_efficiencies(graph, poll, threads).sum() / graph.n)


# ------------------------------------------------------------------ centralities


def closeness_centrality(
    G: Any,
    sources: Iterable[Any] | None = None,
    wf_improved: bool = True,
    k: int | None = None,
    seed: Any = None,
    delta: float = 0.1,
    device: str = "auto",
    progress: Progress = None,
    *,
    threads: int | None = None,
) -> VertexScores:
    """How near every vertex (or each of `sources`) is to those that can reach it, as NetworkX 3.6.1 defines it.

    Distances *into* a vertex count: for those out of it, give `G.reversed()`. `k` estimates all scores from that many
    sources; `bounds` then hold together with probability 1 − delta.

    >>> import hopwave as hw
    >>> hw.closeness_centrality(hw.generate.path(3)).to_dict()
    {0: 0.6666666666666666, 1: 1.0, 2: 0.6666666666666666}
    """
    graph = as_graph(G)
    drawn = sampling(graph, k, sources, delta)
    ids = vertex_ids(graph, sources)
    engine = engine_for("sweep", device, graph, threads, drawn or len(ids))
    if drawn is not None:
        found = _sampled.closeness(engine, graph, drawn, seed, delta, wf_improved, progress, threads)
        return _scores("closeness", *found, ids, graph, engine)
    sums = _many.sweep(engine, graph.reversed(), Sweep(ids, "sums"), "closeness", progress, threads)
    scores = _distances.closeness(sums.reached, sums.total, graph.n, wf_improved)
    return _scores("closeness", scores, None if k is None else np.zeros(len(ids)), ids, graph, engine)


def harmonic_centrality(
    G: Any,
    sources: Iterable[Any] | None = None,
    k: int | None = None,
    seed: Any = None,
    delta: float = 0.1,
    device: str = "auto",
    progress: Progress = None,
    *,
    among: Iterable[Any] | None = None,
    threads: int | None = None,
) -> VertexScores:
    """Σ 1/d over all that can reach a vertex, for every vertex or each of `sources` (NetworkX's `nbunch`).

    `among` sums over those vertices alone (NetworkX's `sources`). `k` estimates all scores from that many sources;
    `bounds` then hold together with probability 1 − delta.

    >>> import hopwave as hw
    >>> hw.harmonic_centrality(hw.generate.path(3)).scores.tolist()
    [1.5, 2.0, 1.5]
    """
    graph = as_graph(G)
    drawn = sampling(graph, k, sources if among is None else among, delta)
    ids = vertex_ids(graph, sources)
    chosen = None if among is None else np.unique(vertex_ids(graph, among))
    engine = engine_for("sweep", device, graph, threads, drawn or len(ids if chosen is None else chosen))
    if drawn is not None:
        estimate = _sampled.harmonic(engine, graph, drawn, seed, delta, progress, threads)
        return _scores("harmonic", *estimate, ids, graph, engine)
    if chosen is not None:
        shift = _sampled.reciprocal_bits(len(chosen))
        job = Sweep(chosen, "columns", weight="inverse", shift=shift)
        columns = _many.sweep(engine, graph, job, "harmonic centrality", progress, threads).columns
        return _scores("harmonic", columns[ids, 1] / 2.0**shift, None, ids, graph, engine)
    found = _many.sweep(engine, graph.reversed(), Sweep(ids, "sums"), "harmonic centrality", progress, threads)
    return _scores("harmonic", found.inverse, None if k is None else np.zeros(len(ids)), ids, graph, engine)


def _scores(name: str, scores: Any, bounds: Any, ids: Integers, graph: Graph, engine: Engine) -> VertexScores:
    scores, bounds = (to_input_device(graph, engine, array) for array in (scores, bounds))
    return VertexScores(name, scores, ids, graph, bounds)


# ------------------------------------------------------------------ distances counted


def distance_histogram(
    G: Any,
    sources: Iterable[Any] | None = None,
    k: int | None = None,
    seed: Any = None,
    delta: float = 0.1,
    device: str = "auto",
    progress: Progress = None,
    *,
    threads: int | None = None,
) -> DistanceHistogram:
    """How many ordered pairs lie at each distance, from all sources or from those given.

    `k` estimates the counts for all sources from that many; `bounds` then hold together with probability 1 − delta.

    >>> import hopwave as hw
    >>> hw.distance_histogram(hw.generate.star(4)).counts.tolist()
    [4, 6, 6]
    """
    graph = as_graph(G)
    drawn = sampling(graph, k, sources, delta)
    ids = vertex_ids(graph, sources)
    engine = engine_for("sweep", device, graph, threads, drawn or len(ids))
    if drawn is not None:
        counts, bounds = _sampled.histogram(engine, graph, drawn, seed, delta, progress, threads)
        return DistanceHistogram(counts, graph.n**2, bounds)
    found = _many.sweep(engine, graph, Sweep(ids, "sums"), "distances", progress, threads)
    exact = np.trim_zeros(found.histogram, "b")
    return DistanceHistogram(exact, len(ids) * graph.n, None if k is None else np.zeros(len(exact)))


# ------------------------------------------------------------------ neighbourhoods


def k_hop(
    G: Any,
    vertex: Any,
    k: int,
    direction: Literal["out", "in"] = "out",
    device: str = "auto",
    *,
    threads: int | None = None,
) -> npt.NDArray[np.int64]:
    """The ids of all vertices within k hops of a vertex (or of the nearest of several), itself included, ascending.

    >>> import hopwave as hw
    >>> hw.k_hop(hw.generate.path(6), 2, 1).tolist()
    [1, 2, 3]
    """
    if k is None:
        raise GraphError("k=None is not a number of hops; give a whole number from 0")
    found = bfs(
        G, vertex, predecessors=False, depth_limit=hops("k", k), direction=direction, device=device, threads=threads
    )
    return (found.distances >= 0).nonzero()[0].astype(np.int64)  # CuPy's, where distances are


def pairs_within(
    G: Any,
    d: int,
    sources: Iterable[Any] | None = None,
    device: str = "auto",
    progress: Progress = None,
    *,
    threads: int | None = None,
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """All pairs of different vertices within d hops of one another, as columns (source, target, distance) of ids.

    By source, and then nearest first. An undirected pair comes once, lower id first, unless `sources` are chosen.

    >>> import hopwave as hw
    >>> [column.tolist() for column in hw.pairs_within(hw.generate.path(4), 2)]
    [[0, 0, 1, 1, 2], [1, 2, 2, 3, 3], [1, 2, 1, 2, 1]]
    """
    graph = as_graph(G)
    limit = hops("d", d)
    if limit is None:
        raise GraphError("d=None is not a number of hops; give a whole number from 0")
    ids = vertex_ids(graph, sources)
    engine = engine_for("sweep", device, graph, threads, len(ids))
    job = Sweep(ids, "pairs", limit, upwards=not graph.directed and sources is None)
    found = _many.sweep(engine, graph, job, "pairs", progress, threads)
    return np.repeat(ids.astype(np.int32), found.reached), *found.pairs
