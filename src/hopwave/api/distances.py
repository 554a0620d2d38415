"""Distances over all pairs: eccentricity, diameter, radius; means, sums, histograms, efficiency; HyperBall."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from hopwave.algorithms import distance_sampling as _estimates
from hopwave.algorithms import distances as _distances
from hopwave.algorithms import hyperball as _hyperball
from hopwave.algorithms import many_sources as _many
from hopwave.algorithms.reduction.distance_sums import sums
from hopwave.api.arguments import as_graph, sample_size, vertex_ids
from hopwave.api.choice import engine_for, to_input_device
from hopwave.api.options import Run, Running
from hopwave.api.weights import as_lengths
from hopwave.checks.numbers import is_whole
from hopwave.engines import Engine
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.planning.jobs import Progress
from hopwave.planning.many_sources import Sweep
from hopwave.results.estimates import DistanceHistogram, Estimate, HyperBall
from hopwave.results.scores import VertexScores

MOST_RUNS = 1 << 16


def eccentricity(
    G: Any, vertices: Iterable[Any] | None = None, *, weights: Any = None, reduce: bool = True, **run: Unpack[Run]
) -> VertexScores:
    """Eccentricity of every vertex: the largest distance from it to another vertex.

    The graph must be connected, and a directed graph strongly connected.
    Weights are ignored; `weights=True` uses them.

    Parameters
    ----------
    vertices : list of vertices, optional
        Vertices whose eccentricity to compute; default: all vertices.
    reduce : bool, optional
        Whether to skip trees and chains, as `closeness_centrality` does, if that saves work and the bounds leave many
        vertices to search from (Notes). Results do not change.

    Notes
    -----
    Each search bounds the eccentricities of all vertices (Takes & Kosters 2013), so that few searches are needed. The
    result is exact; with weights, it is bitwise identical to the result of a search from every vertex. With weights,
    all eccentricities need one search per vertex, unless every sum is exact, as with integers.

    Examples
    --------
    >>> hw.eccentricity(hw.generate.path(4)).to_dict()
    {0: 3, 1: 2, 2: 2, 3: 3}
    """
    how, (graph, weighted) = Running(**run), as_lengths(G, weights)
    ids = vertex_ids(graph, vertices)
    engine = how.engine(weighted, graph, _distances.BATCH if vertices is None else len(ids))
    kind = np.float64 if weighted else np.int64
    if not len(ids):
        return VertexScores("eccentricity", np.zeros(0, kind), ids, graph)
    if vertices is None:
        _distances.check_connected(engine, graph, "eccentricity")
        farthest, _, about = _distances.bounded_eccentricities(
            engine, graph, "eccentricity", how.progress, how.threads, weighted, how.alone, reduce
        )
        farthest = farthest.astype(kind)
    else:
        job = Sweep(ids, "sums", weighted=weighted)
        found, about = sums(
            engine, graph, job, "farthest", "eccentricity", how.progress, how.threads, how.alone, reduce
        )
        if (found.reached < graph.n).any():
            lost = int(np.argmax(found.reached < graph.n))
            raise GraphError(
                f"eccentricity of {graph.label(int(ids[lost]))!r} is infinite: only {found.reached[lost]:,} of "
                f"{graph.n:,} vertices are reached; pass a connected component, for example G.largest_component()"
            )
        farthest = found.farthest
    return VertexScores("eccentricity", to_input_device(graph, engine, farthest), ids, graph, reduction=about)


def diameter(G: Any, *, weights: Any = None, **run: Unpack[Run]) -> float:
    """Diameter: the largest eccentricity, which is the largest distance between two vertices.

    The graph must have a vertex and be connected, or strongly connected if it is directed.
    Weights are ignored; `weights=True` uses them.

    Examples
    --------
    >>> hw.diameter(hw.generate.grid(3, 4))
    5
    """
    _, low, _ = _bounds(G, "diameter", weights, Running(**run))
    largest: float = low.max().item()
    return largest


def radius(G: Any, *, weights: Any = None, **run: Unpack[Run]) -> float:
    """Radius: the smallest eccentricity.

    The requirements are those of `diameter`. Weights are ignored; `weights=True` uses them.

    Examples
    --------
    >>> hw.radius(hw.generate.path(5))
    2
    """
    _, _, high = _bounds(G, "radius", weights, Running(**run))
    smallest: float = high.min().item()
    return smallest


def center(G: Any, *, weights: Any = None, **run: Unpack[Run]) -> list[Any]:
    """Center: the vertices whose eccentricity is the radius, by label or id, in vertex order.

    The requirements are those of `diameter`. Weights are ignored; `weights=True` uses them.

    Examples
    --------
    >>> hw.center(hw.generate.path(4))
    [1, 2]
    """
    graph, _, high = _bounds(G, "center", weights, Running(**run))
    return [graph.label(v) for v in np.flatnonzero(high == high.min()).tolist()]


def periphery(G: Any, *, weights: Any = None, **run: Unpack[Run]) -> list[Any]:
    """Periphery: the vertices whose eccentricity is the diameter, by label or id, in vertex order.

    The requirements are those of `diameter`. Weights are ignored; `weights=True` uses them.

    Examples
    --------
    >>> hw.periphery(hw.generate.path(4))
    [0, 3]
    """
    graph, low, _ = _bounds(G, "periphery", weights, Running(**run))
    return [graph.label(v) for v in np.flatnonzero(low == low.max()).tolist()]


def _bounds(
    G: Any, goal: _distances.Goal, weights: Any, run: Running
) -> tuple[Graph, npt.NDArray[Any], npt.NDArray[Any]]:
    """The graph, and lower and upper bounds on its eccentricities that are tight enough for the goal."""
    graph, weighted = as_lengths(G, weights)
    engine = run.engine(weighted, graph, _distances.BATCH)
    _distances.check_connected(engine, graph, goal)
    low, high, _ = _distances.bounded_eccentricities(
        engine, graph, goal, run.progress, run.threads, weighted, run.alone
    )
    return graph, low, high


def average_shortest_path_length(
    G: Any,
    k: int | None = None,
    seed: Any = None,
    delta: float = 0.1,
    *,
    weights: Any = None,
    interval: str = "guaranteed",
    **run: Unpack[Run],
) -> float | Estimate:
    """Mean distance over all ordered pairs of vertices of a connected graph.

    The requirements are those of `diameter`; `distance_histogram` also accepts graphs that are not connected.
    Weights are ignored; `weights=True` uses them.

    Parameters
    ----------
    k : int, optional
        Number of random sources from which to estimate the mean. The result is then an `Estimate`, with an interval and
        a standard error.
    delta, interval
        Probability that the exact mean is outside the interval, and kind of the interval; see `closeness_centrality`.

    Examples
    --------
    >>> hw.average_shortest_path_length(hw.generate.path(3))
    1.3333333333333333
    """
    how, (graph, weighted) = Running(**run), as_lengths(G, weights)
    n = graph.n
    drawn = sample_size(graph, k, None, delta, interval)
    engine = how.engine(weighted, graph, drawn or n)
    _distances.check_connected(engine, graph, "average shortest path length")
    if drawn is not None:
        sample = _estimates.Sample(engine, graph, drawn, seed, delta, interval, how.progress, how.threads, weighted)
        value, low, high, error = (float(part[0]) for part in _estimates.path_length(sample))
        return Estimate(value, low, high, error, drawn, delta, interval)
    total, _ = _from_all(how, engine, graph, "average path length", weighted)
    mean = total / (n * (n - 1)) if n > 1 else 0.0
    return mean if k is None else Estimate(mean, mean, mean, 0.0, n, delta, interval)


def wiener_index(G: Any, *, weights: Any = None, **run: Unpack[Run]) -> float:
    """Wiener index: the sum of distances over all pairs of vertices (ordered pairs in a directed graph).

    The graph must have a vertex. The index is infinite if the graph is not connected (if directed: strongly connected).
    Weights are ignored; `weights=True` uses them.

    Examples
    --------
    >>> hw.wiener_index(hw.generate.path(3))
    4.0
    """
    how, (graph, weighted) = Running(**run), as_lengths(G, weights)
    engine = how.engine(weighted, graph, graph.n)
    if graph.n == 0:
        raise GraphError("this graph has no vertices, so connectivity is undefined; pass a graph with vertices")
    if not _distances.connected(engine, graph):
        return float("inf")
    return _from_all(how, engine, graph, "Wiener index", weighted)[0] / (1 if graph.directed else 2)


def global_efficiency(G: Any, *, weights: Any = None, **run: Unpack[Run]) -> float:
    """Global efficiency: the mean of 1/d over all ordered pairs of vertices.

    Pairs without a path count 0, and so do pairs at distance 0, which weights allow. The result is between 0 and 1 or,
    with weights, between 0 and 1 / the smallest weight. Weights are ignored; `weights=True` uses them.

    Examples
    --------
    >>> hw.global_efficiency(hw.generate.star(4))
    0.75
    """
    how, (graph, weighted) = Running(**run), as_lengths(G, weights)
    engine, n = how.engine(weighted, graph, graph.n), graph.n
    if n < 2:
        return 0.0
    return _from_all(how, engine, graph, "efficiency", weighted)[1] / (n * (n - 1))


def _from_all(how: Running, engine: Engine, graph: Graph, title: str, weighted: bool) -> tuple[int | float, float]:
    """The sums of d and of 1/d over all ordered pairs."""
    found = how.sweep(engine, graph, Sweep(vertex_ids(graph, None), "sums", weighted=weighted), title)
    return math.fsum(found.total) if weighted else int(found.total.sum()), float(found.inverse.sum())


def local_efficiency(G: Any, device: str = "auto", progress: Progress = None, *, threads: int | None = None) -> float:
    """Local efficiency: the mean over all vertices of the global efficiency among their neighbours (or successors).

    The graph needs at least one vertex. Weights are ignored: distances count hops. This runs only on the CPU.

    Examples
    --------
    >>> hw.local_efficiency(hw.generate.complete(4)), hw.local_efficiency(hw.generate.star(5))
    (1.0, 0.0)
    """
    graph = as_graph(G)
    engine = engine_for("local_efficiencies", device, graph, threads, searches=0)
    if graph.n == 0:
        raise GraphError("this graph has no vertices to average over; pass a graph with vertices")
    with _many.polled("local efficiency", graph.n, progress) as poll:
        return float(engine.local_efficiencies(graph, poll, threads).sum() / graph.n)


def distance_histogram(
    G: Any,
    sources: Iterable[Any] | None = None,
    k: int | None = None,
    seed: Any = None,
    delta: float = 0.1,
    **run: Unpack[Run],
) -> DistanceHistogram:
    """Histogram of distances: the number of ordered pairs of vertices at each distance.

    Weights are ignored: distances count hops. For lengths, pass the rows of `distance_blocks` to `numpy.histogram`.

    Parameters
    ----------
    sources : list of vertices, optional
        Vertices where pairs start; default: all vertices.
    k, seed
        Number of random sources from which to estimate the counts of all pairs, and the seed of the sample.
    delta : float, optional
        Risk of a sample: all bounds hold simultaneously with probability at least 1 − delta.

    Returns
    -------
    DistanceHistogram
        `counts[d]` is the number of pairs at distance d. With `k`, it also has `bounds`, and `beyond`, the number of
        pairs that may be farther apart than all distances in the sample.

    Examples
    --------
    >>> hw.distance_histogram(hw.generate.star(4)).counts.tolist()
    [4, 6, 6]
    """
    how, graph = Running(**run), as_graph(G)
    drawn = sample_size(graph, k, sources, delta)
    ids = vertex_ids(graph, sources)
    engine = how.engine(False, graph, drawn or len(ids))
    if drawn is not None:
        counts, bounds, beyond = _estimates.histogram(engine, graph, drawn, seed, delta, how.progress, how.threads)
        return DistanceHistogram(counts, graph.n**2, bounds, beyond)
    exact = np.trim_zeros(how.sweep(engine, graph, Sweep(ids, "sums"), "distances").histogram, "b")
    return DistanceHistogram(exact, len(ids) * graph.n, None if k is None else np.zeros(len(exact)))


def hyperball(
    G: Any,
    precision: int = 8,
    runs: int = 8,
    seed: Any = None,
    device: str = "auto",
    progress: Progress = None,
    *,
    threads: int | None = None,
) -> HyperBall:
    """Mean distance, effective diameter, closeness and harmonic centrality of all vertices, estimated by HyperBall.

    One counter per vertex estimates how many vertices reach it within t hops. The number of steps is the depth of the
    graph, so HyperBall is for shallow graphs that are too large for a search from every vertex. It runs only on the
    CPU. Distances *into* a vertex count; for distances out of it, pass `G.reverse()`. Weights are ignored.

    Parameters
    ----------
    precision : int, optional
        Logarithm of the registers per counter, from 4 to 16. In one run, the relative standard error of a counter is
        1.04 / √2^precision; all counters need 2 · n · 2^precision bytes.
    runs : int, optional
        Number of runs with different hash functions, from 2 to 65,536. Their spread gives the standard errors.

    Returns
    -------
    HyperBall
        `mean_distance`, `effective_diameter()`, `neighbourhood`, `closeness` and `harmonic`, all with standard errors.

    Raises
    ------
    EngineError
        The counters do not fit into memory.

    Notes
    -----
    Boldi and Vigna, In-core computation of geometric centralities with HyperBall (2013), with Ertl's estimator (2017).

    Examples
    --------
    >>> G = hw.generate.smallworld(2000, 6, 0.1, seed=1)
    >>> value, error = hw.hyperball(G, seed=1).mean_distance
    >>> abs(value - hw.average_shortest_path_length(G)) < 3 * error
    True
    """
    graph = as_graph(G)
    for name, value, least, most in (("precision", precision, 4, 16), ("runs", runs, 2, MOST_RUNS)):
        if not is_whole(value) or not least <= value <= most:
            raise GraphError(f"{name}={value!r} is out of range; pass an integer from {least} to {most}")
    if graph.n == 0:
        raise GraphError("this graph has no vertices, so it has no distances; pass a graph with vertices")
    engine = engine_for("hyperball", device, graph, threads, int(runs))
    found = _hyperball.estimate(engine, graph, int(precision), int(runs), seed, progress, threads)
    (near, near_errors), (inverse, inverse_errors) = found.closeness, found.harmonic
    ids = vertex_ids(graph, None)
    return HyperBall(
        found.pairs,
        VertexScores("closeness", near, ids, graph),
        near_errors,
        VertexScores("harmonic", inverse, ids, graph),
        inverse_errors,
        int(precision),
    )
