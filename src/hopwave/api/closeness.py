"""Which vertices are near all others: closeness and harmonic centrality, and the barycenter."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Executor
from typing import Any

import numpy as np

from hopwave.algorithms import distance_sampling as _estimates
from hopwave.algorithms import distances as _distances
from hopwave.algorithms import many_sources as _many
from hopwave.algorithms import top_scores as _top
from hopwave.algorithms.reduction import Reduction
from hopwave.algorithms.reduction.distance_sums import sums
from hopwave.algorithms.top_scores import Searches
from hopwave.api.arguments import check_risk, sample_size, vertex_ids
from hopwave.api.choice import distance_engine, engine_for, to_input_device
from hopwave.api.weights import as_lengths
from hopwave.arrays import ignoring
from hopwave.checks.numbers import is_whole
from hopwave.checks.options import flag, one_of
from hopwave.engines import Engine
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.planning.jobs import Integers, Progress
from hopwave.planning.many_sources import CentralityScore, Sweep
from hopwave.results.scores import VertexScores


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
    weights: Any = None,
    threads: int | None = None,
    top: int | None = None,
    interval: str = "guaranteed",
    executor: Executor | None = None,
    reduce: bool = True,
) -> VertexScores:
    """Closeness centrality: one over the mean distance to a vertex, as NetworkX 3.6.1 defines it.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        The graph. Distances *into* a vertex count; for distances out of it, give `G.reverse()`.
        Weights are ignored unless `weights=` says otherwise.
    sources : list of vertices, optional
        Whose closeness to compute; by default that of all vertices.
    wf_improved : bool, optional
        Scale by the share of vertices that can reach a vertex (Wasserman and Faust).
    k : int, optional
        Estimate all scores from that many sources, drawn at random. The result then has `bounds`.
    seed : int, random.Random or NumPy generator, optional
        Makes the sample repeatable.
    delta : float, optional
        The risk of the intervals of a sample.
    device : {"auto", "cpu", "cuda"}, optional
        Where to compute. "auto" is a GPU if there is one and the work is worth it, else the CPU.
    progress : bool or callable, optional
        None shows a progress bar on a terminal after two seconds, True at once, False never. A function is called with
        (sources done, all sources).
    weights : bool, array or str, optional
        The lengths of the arcs: True for the graph's own weights, one number per stored arc in the order of
        `G.indices`, or the name of an edge attribute of a NetworkX graph. By default distances count hops.
    threads : int, optional
        Threads of the CPU engine; by default HOPWAVE_NUM_THREADS, else every core.
    interval : {"guaranteed", "normal"}, optional
        What the bounds of a sample are. "guaranteed": all exact scores are within their bounds *together* with
        probability 1 − delta, on any graph. "normal": *each* is within its own with a probability of about 1 − delta,
        from its standard error; far narrower, and measured, not proved. Either way, `standard_errors` are there.
    top : int, optional
        Only find the `top` vertices with the highest scores, highest first: exactly those that `result.top(top)` has
        when all scores are computed. Searches that cannot reach these scores are cut off or skipped (Bergamini et al.
        2019); `result.searches` says how many. For hops, on the CPU only; along weights every search is whole.
    executor : concurrent.futures.Executor, optional
        Its workers compute instead of this process, on their CPUs, or on their GPUs with device="cuda": see
        docs/executors.md. The result is the same, bit for bit. Leave out `threads`.
    reduce : bool, optional
        Where that is less work, do not search from trees of an undirected graph and, on the CPU, from chains of
        vertices of degree two: all vertices or many of them, hops or lengths whose sums are exact. `result.reduction`
        says what remained. Sums of hops are the same; others are up to rounding.

    Returns
    -------
    VertexScores
        One score per vertex, or the highest with `top`.

    Raises
    ------
    GraphError
        `k` is given for a directed graph that is not strongly connected.

    See Also
    --------
    harmonic_centrality : for graphs that are not connected.

    Examples
    --------
    >>> hw.closeness_centrality(hw.generate.path(3)).to_dict()
    {0: 0.6666666666666666, 1: 1.0, 2: 0.6666666666666666}
    >>> hw.closeness_centrality(hw.generate.star(1000), top=1).to_dict()
    {0: 1.0}
    """
    graph, weighted = as_lengths(G, weights)
    wf_improved = flag("wf_improved", wf_improved)
    if top is not None:
        check_risk(delta)
        check_top(top, None if weighted else executor, interval, sources=sources, k=k)
        if not weighted:
            score: CentralityScore = "wasserman_faust" if wf_improved else "closeness"
            return _highest("closeness", score, graph, top, device, progress, threads)
    drawn = sample_size(graph, k, sources, delta, interval)
    ids = vertex_ids(graph, sources)
    engine = distance_engine(weighted, device, graph, threads, drawn or len(ids), executor)
    sample = _estimates.Sample(engine, graph, drawn or 0, seed, delta, interval, progress, threads, weighted)
    if drawn is not None:
        return _sampled("closeness", _estimates.closeness(sample, wf_improved), ids, sample)
    job, alone = Sweep(ids, "sums", weighted=weighted), executor is None
    found, about = sums(engine, graph.reversed(), job, "total", "closeness", progress, threads, alone, reduce)
    scores = _distances.closeness(found.reached, found.total, graph.n, wf_improved)
    if k is not None:
        return _sampled("closeness", _exact(scores), ids, sample)
    return _scores("closeness", scores, ids, graph, engine, top, about)


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
    weights: Any = None,
    threads: int | None = None,
    top: int | None = None,
    interval: str = "guaranteed",
    executor: Executor | None = None,
    reduce: bool = True,
) -> VertexScores:
    """Harmonic centrality: Σ 1/d over all vertices that can reach a vertex, as NetworkX 3.6.1 defines it.

    Vertices at distance 0, which weights allow, add nothing.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        The graph. Distances *into* a vertex count; for distances out of it, give `G.reverse()`.
        Weights are ignored unless `weights=` says otherwise.
    sources : list of vertices, optional
        Whose centrality to compute (NetworkX's `nbunch`); by default that of all vertices.
    k, seed, delta, interval, device, progress, weights, threads, top, executor, reduce
        As for `closeness_centrality`.
    among : list of vertices, optional
        Only sum over these vertices (NetworkX's `sources`).

    See Also
    --------
    closeness_centrality : one over the mean distance.

    Examples
    --------
    >>> hw.harmonic_centrality(hw.generate.path(3)).scores.tolist()
    [1.5, 2.0, 1.5]
    """
    graph, weighted = as_lengths(G, weights)
    if top is not None:
        check_risk(delta)
        check_top(top, None if weighted else executor, interval, sources=sources, k=k, among=among)
        if not weighted:
            return _highest("harmonic", "harmonic", graph, top, device, progress, threads)
    drawn = sample_size(graph, k, sources if among is None else among, delta, interval)
    ids = vertex_ids(graph, sources)
    chosen = None if among is None else np.unique(vertex_ids(graph, among))
    searches = drawn or len(ids if chosen is None else chosen)
    engine = distance_engine(weighted, device, graph, threads, searches, executor)
    sample = _estimates.Sample(engine, graph, drawn or 0, seed, delta, interval, progress, threads, weighted)
    if drawn is not None:
        return _sampled("harmonic", _estimates.harmonic(sample), ids, sample)
    if chosen is not None:
        shift = 0 if weighted else _estimates.reciprocal_bits(len(chosen))
        job = Sweep(chosen, "columns", weight="inverse", shift=shift, weighted=weighted)
        columns = _many.sweep(engine, graph, job, "harmonic centrality", progress, threads).columns
        return _scores("harmonic", columns[ids, 1] / 2.0**shift, ids, graph, engine)
    job, alone = Sweep(ids, "sums", weighted=weighted), executor is None
    found, about = sums(
        engine, graph.reversed(), job, "inverse", "harmonic centrality", progress, threads, alone, reduce
    )
    if k is not None:
        return _sampled("harmonic", _exact(found.inverse), ids, sample)
    return _scores("harmonic", found.inverse, ids, graph, engine, top, about)


def barycenter(
    G: Any,
    device: str = "auto",
    progress: Progress = None,
    *,
    weights: Any = None,
    threads: int | None = None,
    executor: Executor | None = None,
) -> list[Any]:
    """The vertices whose distances to all others have the least sum.

    Sums along weights are equal only if they are the same float64 numbers.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        A connected graph. A directed graph must be strongly connected.
        Weights are ignored unless `weights=` says otherwise.
    device, progress, weights, threads, executor
        As for `closeness_centrality`.

    Returns
    -------
    list
        Labels or ids, in vertex order.

    See Also
    --------
    center, closeness_centrality

    Examples
    --------
    >>> hw.barycenter(hw.generate.path(5))
    [2]
    """
    graph, weighted = as_lengths(G, weights)
    engine = distance_engine(weighted, device, graph, threads, graph.n, executor)
    if graph.n == 0:
        return []
    _distances.check_connected(engine, graph, "the sum of distances")
    job = Sweep(vertex_ids(graph, None), "sums", weighted=weighted)
    found = _many.sweep(engine, graph, job, "barycenter", progress, threads)
    return [graph.label(v) for v in np.flatnonzero(found.total == found.total.min()).tolist()]


def check_top(top: Any, executor: Executor | None, interval: Any = "guaranteed", **others: Any) -> None:
    """Raise a GraphError if top= is no number of vertices, or does not fit the arguments beside it."""
    if not is_whole(top) or top < 1:
        raise GraphError(f"top={top!r} is not a number of vertices; give a whole number from 1, or None for all")
    one_of("interval", interval, ("guaranteed",))
    if executor is not None:
        raise GraphError(
            "top= chooses each search by what the ones before it found, and executor= deals searches that are known "
            "beforehand; leave out one of them"
        )
    for name, value in others.items():
        if value is not None:
            raise GraphError(f"top= compares all vertices exactly, and {name}= takes some; leave out one of them")


def _highest(
    name: str, score: CentralityScore, graph: Graph, top: int, device: str, progress: Progress, threads: int | None
) -> VertexScores:
    engine = engine_for("cut_sweep", device, graph, threads, 0)
    found = _top.highest(engine, graph.reversed(), int(top), score, f"highest {name}", progress, threads)
    return VertexScores(name, found.scores, found.vertices, graph, None, found.searches)


def _exact(scores: Any) -> _estimates.Estimated:
    """Scores from all sources where the caller wanted a sample (k=)."""
    return _estimates.Estimated(scores, scores, scores, np.zeros(len(scores)))


@ignoring("invalid")  # an interval may have no upper end
def _sampled(name: str, found: _estimates.Estimated, ids: Integers, sample: _estimates.Sample) -> VertexScores:
    bounds = np.maximum(found.high - found.value, found.value - found.low)
    arrays = (found.value, bounds, found.low, found.high, found.standard_error)
    scores, bounds, low, high, errors = (to_input_device(sample.graph, sample.engine, array) for array in arrays)
    about = sample.interval, sample.delta
    return VertexScores(name, scores, ids, sample.graph, bounds, None, low, high, errors, *about)


def _scores(
    name: str,
    scores: Any,
    ids: Integers,
    graph: Graph,
    engine: Engine,
    top: int | None = None,
    reduction: Reduction | None = None,
) -> VertexScores:
    searches = None
    if top is not None:  # along weights all scores were computed
        made = len(ids) if reduction is None else reduction.vertices
        best, searches = np.argsort(-scores, kind="stable")[: int(top)], Searches(made, 0, len(ids) - made)
        scores, ids = scores[best], ids[best]
    there = to_input_device(graph, engine, scores)
    return VertexScores(name, there, ids, graph, None, searches, reduction=reduction)
