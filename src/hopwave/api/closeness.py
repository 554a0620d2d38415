"""Centralities from distances and paths: closeness, harmonic, barycenter; stress, load; group centralities."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Executor
from typing import Any, Unpack

import numpy as np

from hopwave.algorithms import brandes as _sums
from hopwave.algorithms import distance_sampling as _estimates
from hopwave.algorithms import distances as _distances
from hopwave.algorithms import top_scores as _top
from hopwave.algorithms.reduction.distance_sums import sums
from hopwave.algorithms.top_scores import Searches
from hopwave.api.arguments import as_graph, check_hops, check_risk, listed_vertices, sample_size, vertex_ids
from hopwave.api.choice import engine_for, to_input_device
from hopwave.api.options import Run, Running
from hopwave.api.search import bfs
from hopwave.api.weights import as_lengths
from hopwave.arrays import ignoring, on_host
from hopwave.checks.numbers import is_whole
from hopwave.checks.options import flag, one_of
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
    *,
    weights: Any = None,
    top: int | None = None,
    interval: str = "guaranteed",
    reduce: bool = True,
    **run: Unpack[Run],
) -> VertexScores:
    """Closeness centrality: the reciprocal of the mean distance to a vertex, as NetworkX 3.6.1 defines it.

    Distances *into* a vertex count; for distances out of it, pass `G.reverse()`. For graphs that are not connected,
    `harmonic_centrality` is often better. Weights are ignored; `weights=True` uses them.

    Parameters
    ----------
    sources : list of vertices, optional
        Vertices whose closeness to compute; default: all vertices.
    wf_improved : bool, optional
        Whether to scale by the share of vertices that can reach a vertex (Wasserman and Faust).
    k : int, optional
        Number of random sources from which to estimate all scores. The result then has `bounds`.
    delta : float, optional
        Probability that the bounds of a sample do not hold: for any score, or for each (see `interval`).
    interval : {"guaranteed", "normal"}, optional
        Kind of the bounds of a sample. "guaranteed": all exact scores are within their bounds *simultaneously* with
        probability at least 1 − delta, on any graph. "normal": *each* score is within its bound with probability about
        1 − delta; these bounds are far narrower, but measured, not proved. Both kinds give `standard_errors`.
    top : int, optional
        Number of highest scores to find, highest first: exactly `result.top(top)` of a full computation. Searches that
        cannot reach these scores are pruned or skipped (Bergamini et al. 2019); `result.searches` counts them. Without
        weights, only on the CPU; with weights, no search is pruned.
    reduce : bool, optional
        Whether to skip searches from trees of an undirected graph and, on the CPU, from chains of degree-2 vertices, if
        that saves work. This needs many sources, and hops or lengths with exact sums. `result.reduction` describes the
        remaining graph. Scores by hops are unchanged; scores by weights are the same up to rounding.

    Raises
    ------
    GraphError
        `k` is passed for a directed graph that is not strongly connected.

    Examples
    --------
    >>> hw.closeness_centrality(hw.generate.path(3)).to_dict()
    {0: 0.6666666666666666, 1: 1.0, 2: 0.6666666666666666}
    >>> hw.closeness_centrality(hw.generate.star(1000), top=1).to_dict()
    {0: 1.0}
    """
    wf_improved = flag("wf_improved", wf_improved)
    score: CentralityScore = "wasserman_faust" if wf_improved else "closeness"
    chosen = sources, None, k, seed, delta, interval, top, reduce
    return _nearness("closeness", score, G, weights, chosen, Running(**run))


def harmonic_centrality(
    G: Any,
    sources: Iterable[Any] | None = None,
    k: int | None = None,
    seed: Any = None,
    delta: float = 0.1,
    *,
    among: Iterable[Any] | None = None,
    weights: Any = None,
    top: int | None = None,
    interval: str = "guaranteed",
    reduce: bool = True,
    **run: Unpack[Run],
) -> VertexScores:
    """Harmonic centrality: Σ 1/d over all vertices that can reach a vertex, as NetworkX 3.6.1 defines it.

    Distances *into* a vertex count, as in `closeness_centrality`. Vertices at distance 0, which weights allow, add
    nothing. Weights are ignored; `weights=True` uses them.

    Parameters
    ----------
    sources : list of vertices, optional
        Vertices whose centrality to compute (NetworkX's `nbunch`); default: all vertices.
    among : list of vertices, optional
        Vertices to sum over (NetworkX's `sources`); default: all vertices.
    k, seed, delta, interval, top, reduce
        See `closeness_centrality`.

    Examples
    --------
    >>> hw.harmonic_centrality(hw.generate.path(3)).scores.tolist()
    [1.5, 2.0, 1.5]
    """
    chosen = sources, among, k, seed, delta, interval, top, reduce
    return _nearness("harmonic", "harmonic", G, weights, chosen, Running(**run))


def _nearness(
    name: str, score: CentralityScore, G: Any, weights: Any, chosen: tuple[Any, ...], run: Running
) -> VertexScores:
    """Closeness or harmonic centrality: of all, some or the highest vertices, or from a sample."""
    (sources, among, k, seed, delta, interval, top, reduce), closeness = chosen, name == "closeness"
    graph, weighted = as_lengths(G, weights)
    if top is not None:
        check_risk(delta)
        check_top(top, None if weighted else run.executor, interval, sources=sources, k=k, among=among)
        if not weighted:
            engine = engine_for("cut_sweep", run.device, graph, run.threads, 0)
            best = _top.highest(engine, graph.reversed(), int(top), score, f"highest {name}", run.progress, run.threads)
            return VertexScores(name, best.scores, best.vertices, graph, None, best.searches)
    drawn = sample_size(graph, k, sources if among is None else among, delta, interval)
    ids = vertex_ids(graph, sources)
    some = None if among is None else np.unique(vertex_ids(graph, among))
    engine = run.engine(weighted, graph, drawn or len(ids if some is None else some))
    sample = _estimates.Sample(engine, graph, drawn or 0, seed, delta, interval, run.progress, run.threads, weighted)
    if drawn is not None:
        found = _estimates.closeness(sample, score == "wasserman_faust") if closeness else _estimates.harmonic(sample)
        return _sampled(name, found, ids, sample)
    if some is not None:
        shift = 0 if weighted else _estimates.reciprocal_bits(len(some))
        job = Sweep(some, "columns", weight="inverse", shift=shift, weighted=weighted)
        columns = run.sweep(engine, graph, job, "harmonic centrality").columns
        return VertexScores(name, to_input_device(graph, engine, columns[ids, 1] / 2.0**shift), ids, graph)
    job, title = Sweep(ids, "sums", weighted=weighted), name if closeness else "harmonic centrality"
    swept, about = sums(
        engine, graph.reversed(), job, "total" if closeness else "inverse", title, run.progress, run.threads, run.alone,
        reduce,
    )  # fmt: skip
    scores = swept.inverse
    if closeness:
        scores = _distances.closeness(swept.reached, swept.total, graph.n, score == "wasserman_faust")
    if k is not None:
        return _sampled(name, _estimates.Estimated(scores, scores, scores, np.zeros(len(scores))), ids, sample)
    searches = None
    if top is not None:  # with weights, all scores were computed
        made = len(ids) if about is None else about.vertices
        first, searches = np.argsort(-scores, kind="stable")[: int(top)], Searches(made, 0, len(ids) - made)
        scores, ids = scores[first], ids[first]
    return VertexScores(name, to_input_device(graph, engine, scores), ids, graph, None, searches, reduction=about)


def barycenter(G: Any, *, weights: Any = None, **run: Unpack[Run]) -> list[Any]:
    """Barycenter: the vertices whose distances to all others have the smallest sum, by label or id, in vertex order.

    The graph must be connected, or strongly connected if it is directed. Sums of weights are tied only if they are
    equal as float64. Weights are ignored; `weights=True` uses them.

    Examples
    --------
    >>> hw.barycenter(hw.generate.path(5))
    [2]
    """
    how, (graph, weighted) = Running(**run), as_lengths(G, weights)
    engine = how.engine(weighted, graph, graph.n)
    if graph.n == 0:
        return []
    _distances.check_connected(engine, graph, "the sum of distances")
    found = how.sweep(engine, graph, Sweep(vertex_ids(graph, None), "sums", weighted=weighted), "barycenter")
    return [graph.label(v) for v in np.flatnonzero(found.total == found.total.min()).tolist()]


def check_top(top: Any, executor: Executor | None, interval: Any = "guaranteed", **others: Any) -> None:
    """Raise a GraphError if top= is not a number of vertices, or cannot be combined with another argument."""
    if not is_whole(top) or top < 1:
        raise GraphError(f"top={top!r} is not a number of vertices; pass an integer of at least 1, or None for all")
    one_of("interval", interval, ("guaranteed",))
    if executor is not None:
        raise GraphError(
            f"top={top!r} cannot be combined with executor=: each search depends on the results of earlier searches; "
            "omit one of them"
        )
    for name, value in others.items():
        if value is not None:
            raise GraphError(f"top= cannot be combined with {name}=: it compares all exact scores; omit one of them")


@ignoring("invalid")  # the upper end of an interval may be infinite
def _sampled(name: str, found: _estimates.Estimated, ids: Integers, sample: _estimates.Sample) -> VertexScores:
    bounds = np.maximum(found.high - found.value, found.value - found.low)
    arrays = (found.value, bounds, found.low, found.high, found.standard_error)
    scores, bounds, low, high, errors = (to_input_device(sample.graph, sample.engine, array) for array in arrays)
    about = sample.interval, sample.delta
    return VertexScores(name, scores, ids, sample.graph, bounds, None, low, high, errors, *about)


def stress_centrality(
    G: Any, device: str = "auto", progress: Progress = None, *, threads: int | None = None
) -> VertexScores:
    """Stress centrality: the number of shortest paths through each vertex.

    Betweenness divides by the number of shortest paths between the same endpoints; stress does not. In an undirected
    graph, every pair of endpoints counts once. Parallel arcs make separate paths; loops make none. Weights are ignored.

    Parameters
    ----------
    device : {"auto", "cpu", "reference"}, optional
        Where to compute; GPUs are not supported. "reference" is exact until the final rounding, for small graphs.

    Raises
    ------
    GraphError
        A score exceeds float64 (1.8e308), as on a grid of 520 × 520: path counts grow fast.

    Notes
    -----
    Scores up to 2⁵³ are exact. Larger scores are rounded: all terms are positive, so the relative error is at most
    about (n + 2 D Δ) · 2⁻⁵³, where D is the diameter and Δ the largest degree.

    Examples
    --------
    >>> hw.stress_centrality(hw.generate.cycle(4)).scores.tolist()  # two paths between opposite corners
    [1.0, 1.0, 1.0, 1.0]
    """
    graph = as_graph(G)
    engine = engine_for("path_sums", device, graph, threads, graph.n)
    scores = _sums.stress(engine, graph, progress, threads)
    return VertexScores("stress", scores, vertex_ids(graph, None), graph)


def load_centrality(
    G: Any,
    cutoff: int | None = None,
    normalized: bool = True,
    device: str = "auto",
    progress: Progress = None,
    *,
    threads: int | None = None,
) -> VertexScores:
    """Load centrality: flow through a vertex if each vertex sends to all and flow splits evenly at each fork.

    As in NetworkX. Betweenness splits by the number of shortest paths instead. Parallel arcs each get a share.
    Weights are ignored.

    Parameters
    ----------
    cutoff : int, optional
        Maximum number of hops of the paths that count.
    normalized : bool, optional
        Whether to divide by (n − 1)(n − 2), the largest possible load.
    device : {"auto", "cpu", "reference"}, optional
        Where to compute; GPUs are not supported. "reference" computes with fractions, for small graphs.

    Examples
    --------
    >>> hw.load_centrality(hw.generate.path(4)).scores.round(4).tolist()
    [0.0, 0.6667, 0.6667, 0.0]
    """
    graph = as_graph(G)
    cutoff, normalized = check_hops("cutoff", cutoff), flag("normalized", normalized)
    engine = engine_for("path_sums", device, graph, threads, graph.n)
    scores = _sums.load(engine, graph, cutoff, normalized, progress, threads)
    return VertexScores("load", scores, vertex_ids(graph, None), graph)


def group_betweenness_centrality(
    G: Any,
    group: Iterable[Any],
    normalized: bool = True,
    endpoints: bool = False,
    device: str = "auto",
    progress: Progress = None,
    *,
    threads: int | None = None,
) -> float:
    """Group betweenness: the share of shortest paths between other vertices that visit a vertex of the group.

    The result follows the definition. NetworkX's values differ for some groups, and before version 3.7 in directed
    graphs that are not strongly connected. Weights are ignored.

    Parameters
    ----------
    group : list of vertices
        The group.
    normalized : bool, optional
        Whether to divide by the number of pairs, so that 1 means all paths. Otherwise, every pair of an undirected
        graph counts once.
    endpoints : bool, optional
        Whether paths that begin or end in the group also count.

    Examples
    --------
    >>> hw.group_betweenness_centrality(hw.generate.star(5), [0])
    1.0
    """
    graph = as_graph(G)
    members = _group(graph, group)
    normalized, endpoints = flag("normalized", normalized), flag("endpoints", endpoints)
    engine = engine_for("path_sums", device, graph, threads, graph.n)
    total = _sums.through_group(engine, graph, members, endpoints, progress, threads)
    if not normalized:
        return total if graph.directed else total / 2
    others = graph.n if endpoints else graph.n - len(members)
    return total / (others * (others - 1)) if others > 1 else 0.0


def group_closeness_centrality(G: Any, group: Iterable[Any], device: str = "auto") -> float:
    """Group closeness: the reciprocal of the mean distance from other vertices to the nearest group member.

    As in NetworkX, vertices without a path to the group count as distance 0. If all distances are 0, the result is 0.
    Weights are ignored.

    Parameters
    ----------
    group : list of vertices
        The group.

    Examples
    --------
    >>> hw.group_closeness_centrality(hw.generate.path(5), [1, 3])
    1.0
    """
    graph = as_graph(G)
    members = _group(graph, group)
    names = members.tolist() if graph.labels is None else [graph.label(v) for v in members.tolist()]
    distances = on_host(bfs(graph.reversed(), names, predecessors=False, device=device).distances)
    total = int(distances[distances > 0].sum(dtype=np.int64))
    return (graph.n - len(members)) / total if total else 0.0


def _group(graph: Graph, group: Iterable[Any]) -> Integers:
    """The ids of a group's vertices, each once."""
    members = np.unique(listed_vertices(graph, group))
    if not len(members):
        raise GraphError("the group is empty; pass at least one vertex")
    return members
