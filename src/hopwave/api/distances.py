"""Distances over all pairs of vertices: their mean, sum and histogram, and efficiency."""

from __future__ import annotations

import math
from collections.abc import Iterable
from concurrent.futures import Executor
from typing import Any

import numpy as np

from hopwave.algorithms import distance_sampling as _estimates
from hopwave.algorithms import distances as _distances
from hopwave.algorithms import many_sources as _many
from hopwave.api.arguments import as_graph, sample_size, vertex_ids
from hopwave.api.choice import distance_engine, engine_for
from hopwave.api.weights import as_lengths
from hopwave.engines import Engine
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.planning.jobs import Progress
from hopwave.planning.many_sources import Sweep
from hopwave.results.estimates import DistanceHistogram, Estimate


def average_shortest_path_length(
    G: Any,
    k: int | None = None,
    seed: Any = None,
    delta: float = 0.1,
    device: str = "auto",
    progress: Progress = None,
    *,
    weights: Any = None,
    threads: int | None = None,
    interval: str = "guaranteed",
    executor: Executor | None = None,
) -> float | Estimate:
    """The mean distance over all ordered pairs of vertices of a connected graph.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        A connected graph with at least one vertex. A directed graph must be strongly connected.
        Weights are ignored unless `weights=` says otherwise.
    k : int, optional
        Estimate the mean from that many sources, drawn at random.
    seed : int, random.Random or NumPy generator, optional
        Makes the sample repeatable.
    delta : float, optional
        The risk that the exact mean lies outside the interval of an estimate.
    interval : {"guaranteed", "normal"}, optional
        The interval of an estimate. "guaranteed": it has the exact mean with probability 1 − delta, on any graph.
        "normal": with a probability of about 1 − delta, from the standard error; narrower, and measured, not proved.
    device, progress, weights, threads, executor
        As for `closeness_centrality`.

    Returns
    -------
    float, or Estimate if `k` is given
        The mean. An `Estimate` has its interval and standard error, too.

    See Also
    --------
    distance_histogram : also for graphs that are not connected.

    Examples
    --------
    >>> hw.average_shortest_path_length(hw.generate.path(3))
    1.3333333333333333
    """
    graph, weighted = as_lengths(G, weights)
    n = graph.n
    drawn = sample_size(graph, k, None, delta, interval)
    engine = distance_engine(weighted, device, graph, threads, drawn or n, executor)
    _distances.check_connected(engine, graph, "average shortest path length")
    if drawn is not None:
        sample = _estimates.Sample(engine, graph, drawn, seed, delta, interval, progress, threads, weighted)
        value, low, high, error = (float(part[0]) for part in _estimates.path_length(sample))
        return Estimate(value, low, high, error, drawn, delta, interval)
    total = _total(engine, graph, "average path length", progress, threads, weighted)
    mean = total / (n * (n - 1)) if n > 1 else 0.0
    return mean if k is None else Estimate(mean, mean, mean, 0.0, n, delta, interval)


def wiener_index(
    G: Any,
    device: str = "auto",
    progress: Progress = None,
    *,
    weights: Any = None,
    threads: int | None = None,
    executor: Executor | None = None,
) -> float:
    """The sum of distances over all pairs of vertices: ordered pairs in a directed graph, else unordered pairs.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        A graph with at least one vertex.
        Weights are ignored unless `weights=` says otherwise.
    device, progress, weights, threads, executor
        As for `closeness_centrality`.

    Returns
    -------
    float
        The sum; infinite if the graph is not connected (a directed graph: not strongly connected).

    See Also
    --------
    average_shortest_path_length

    Examples
    --------
    >>> hw.wiener_index(hw.generate.path(3))
    4.0
    """
    graph, weighted = as_lengths(G, weights)
    engine = distance_engine(weighted, device, graph, threads, graph.n, executor)
    if graph.n == 0:
        raise GraphError("this graph has no vertices, so it is neither connected nor disconnected; give at least one")
    if not _distances.connected(engine, graph):
        return float("inf")
    return _total(engine, graph, "Wiener index", progress, threads, weighted) / (1 if graph.directed else 2)


def _total(
    engine: Engine, graph: Graph, title: str, progress: Progress, threads: int | None, weighted: bool
) -> int | float:
    """The sum of distances over all ordered pairs."""
    job = Sweep(vertex_ids(graph, None), "sums", weighted=weighted)
    total = _many.sweep(engine, graph, job, title, progress, threads).total
    return math.fsum(total) if weighted else int(total.sum())


def global_efficiency(
    G: Any,
    device: str = "auto",
    progress: Progress = None,
    *,
    weights: Any = None,
    threads: int | None = None,
    executor: Executor | None = None,
) -> float:
    """The mean of 1/d over all ordered pairs of vertices; pairs without a path count as 0.

    Pairs at distance 0, which weights allow, count as 0, too.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        The graph.
        Weights are ignored unless `weights=` says otherwise.
    device, progress, weights, threads, executor
        As for `closeness_centrality`.

    Returns
    -------
    float
        Between 0 and 1; with `weights`, between 0 and 1 / the least weight.

    See Also
    --------
    local_efficiency, harmonic_centrality

    Examples
    --------
    >>> hw.global_efficiency(hw.generate.star(4))
    0.75
    """
    graph, weighted = as_lengths(G, weights)
    engine = distance_engine(weighted, device, graph, threads, graph.n, executor)
    n = graph.n
    if n < 2:
        return 0.0
    job = Sweep(vertex_ids(graph, None), "sums", weighted=weighted)
    found = _many.sweep(engine, graph, job, "efficiency", progress, threads)
    return float(found.inverse.sum() / (n * (n - 1)))


def local_efficiency(G: Any, device: str = "auto", progress: Progress = None, *, threads: int | None = None) -> float:
    """The mean over all vertices of the global efficiency among their neighbours (in a directed graph: successors).

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        A graph with at least one vertex. Weights are ignored: distances count hops.
    device : {"auto", "cpu"}, optional
        Where to compute. A GPU does not offer this.
    progress, threads
        As for `closeness_centrality`.

    Returns
    -------
    float
        Between 0 and 1.

    See Also
    --------
    global_efficiency

    Examples
    --------
    >>> hw.local_efficiency(hw.generate.complete(4)), hw.local_efficiency(hw.generate.star(5))
    (1.0, 0.0)
    """
    graph = as_graph(G)
    engine = engine_for("local_efficiencies", device, graph, threads, searches=0)
    if graph.n == 0:
        raise GraphError("this graph has no vertices, so there is no mean over them; give at least one")
    with _many.polled("local efficiency", graph.n, progress) as poll:
        return float(engine.local_efficiencies(graph, poll, threads).sum() / graph.n)


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
    executor: Executor | None = None,
) -> DistanceHistogram:
    """How many ordered pairs of vertices are at each distance.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        The graph. Weights are ignored: distances count hops. For lengths, give the rows of
        `distance_blocks(G, weights=True)` to `numpy.histogram`.
    sources : list of vertices, optional
        Only count pairs that start at these vertices.
    k, seed
        As for `average_shortest_path_length`: estimate the counts of all pairs from a sample.
    delta : float, optional
        The bounds of a sample hold for all distances together with probability 1 − delta.
    device, progress, threads, executor
        As for `closeness_centrality`.

    Returns
    -------
    DistanceHistogram
        `counts[d]` pairs at distance d; `bounds` if `k` is given, and in `beyond` how many pairs may be farther apart
        than the distances that the sample met.

    See Also
    --------
    average_shortest_path_length, diameter

    Examples
    --------
    >>> hw.distance_histogram(hw.generate.star(4)).counts.tolist()
    [4, 6, 6]
    """
    graph = as_graph(G)
    drawn = sample_size(graph, k, sources, delta)
    ids = vertex_ids(graph, sources)
    engine = distance_engine(False, device, graph, threads, drawn or len(ids), executor)
    if drawn is not None:
        counts, bounds, beyond = _estimates.histogram(engine, graph, drawn, seed, delta, progress, threads)
        return DistanceHistogram(counts, graph.n**2, bounds, beyond)
    found = _many.sweep(engine, graph, Sweep(ids, "sums"), "distances", progress, threads)
    exact = np.trim_zeros(found.histogram, "b")
    return DistanceHistogram(exact, len(ids) * graph.n, None if k is None else np.zeros(len(exact)))
