"""Betweenness centrality of vertices and edges: `scored` computes a checked `Request` on the engines of `Runs`."""

from __future__ import annotations

import math
import os
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from hopwave.algorithms import brandes
from hopwave.algorithms.apart import most_sources
from hopwave.algorithms.betweenness_sampling import costs, paths
from hopwave.algorithms.betweenness_sampling.costs import Choice, Method, adaptive
from hopwave.algorithms.betweenness_sampling.source_bounds import deferred_bounds, with_squares
from hopwave.algorithms.brandes import Certificate, SourceRun
from hopwave.algorithms.checkpoint import File
from hopwave.algorithms.draws import python_generator
from hopwave.algorithms.reduction import ReducedJob, is_compiled_later, reduced, why_whole
from hopwave.api.arguments import order_of_nodes
from hopwave.api.betweenness_request import Precision, Request, Runs, check_request
from hopwave.api.choice import to_input_device
from hopwave.api.connectivity import biconnected_components
from hopwave.api.options import Run, Running
from hopwave.api.weights import as_lengths, not_negative
from hopwave.arrays import Deferred, on_gpu, on_host, uploaded
from hopwave.errors import GraphError
from hopwave.graph.csr import arc_tails
from hopwave.planning.jobs import Progress
from hopwave.planning.plan import Plan, PlanUsed
from hopwave.results.scores import BetweennessResult, EdgeBetweennessResult


def betweenness_centrality(
    G: Any,
    k: int | None = None,
    sources: Any = None,
    normalized: bool = True,
    endpoints: bool = False,
    seed: Any = None,
    epsilon: float | None = None,
    delta: float = 0.1,
    device: str = "auto",
    plan: str | Plan = "auto",
    progress: Progress = None,
    checkpoint: str | os.PathLike[str] | None = None,
    *,
    targets: Any = None,
    cutoff: float | None = None,
    threads: int | None = None,
    memory_limit: int | None = None,
    deterministic: bool = False,
    weights: Any = None,
    method: Method = "auto",
    top: int | None = None,
    executor: Executor | None = None,
    source_weights: Any = None,
    target_weights: Any = None,
    reduce: bool = True,
) -> BetweennessResult:
    """Betweenness centrality: the share of shortest paths through each vertex, as NetworkX 3.6.1 defines it.

    All vertices are sources unless `k`, `sources` or `epsilon` is passed.
    Weights are ignored; `weights=True` uses them.

    Parameters
    ----------
    k : int, optional
        Number of sources to sample: the same sources as NetworkX with the same `seed`. The result has `bounds` (Notes).
    sources, targets : vertices, optional
        Count only paths from these sources to these targets (NetworkX's `betweenness_centrality_subset`).
    normalized : bool, optional
        Whether to divide by the number of pairs, so that scores are between 0 and 1.
    endpoints : bool, optional
        Whether a path also counts for its endpoints.
    seed : int, random.Random or NumPy generator, optional
        Seed of the sample (`k` or `epsilon`), which makes results reproducible.
    epsilon : float, optional
        Sample until every normalised score is within ±epsilon with probability at least 1 − `delta`. The result then
        has `bounds`.
    delta : float, optional
        Probability that at least one score of a sample exceeds its error bound.
    plan : str or Plan, optional
        Name of a betweenness plan of `hopwave.plans()`.
    checkpoint : path, optional
        File for checkpoints, written every minute and on Ctrl-C. The same call resumes from it, with bitwise identical
        results.
    cutoff : int or float, optional
        Maximum length of the paths that count, in hops or, with weights, as a sum of weights.
    memory_limit : int, optional
        Maximum number of bytes that the call may use.
    deterministic : bool, optional
        Whether to reject options that may change the last bits: TurboBC's atomics, and choices by free GPU memory.
    method : {"auto", "paths", "sources", "exact"}, optional
        How to reach ±epsilon. "paths" samples pairs and one shortest path of each pair; with weights, only on the CPU.
        "sources" samples sources and counts all their paths. "exact" uses all sources. "auto" selects the method with
        the lowest predicted cost; `result.plan.why` gives the reason.
    top : int, optional
        With `epsilon`: sampling of paths may end as soon as the set of the `top` highest scores is known.
        `result.undecided` lists the vertices whose scores are too close to decide.
    source_weights, target_weights : array, dict or pandas Series, optional
        Demand: a pair (s, t) counts source_weights[s] · target_weights[t] instead of 1, for example trips from homes to
        offices. Nonnegative numbers, as an array or by vertex (0 for missing vertices). Not with `epsilon`.
    reduce : bool, optional
        Whether to simplify an undirected graph first if that saves work: blocks are solved separately, trees need no
        search, chains of degree-2 vertices become single edges, and on the CPU vertices with the same neighbours become
        one. This needs plan="auto", many sources, and hops or lengths with exact sums. `result.reduction` describes the
        remaining graph. Scores are the same up to rounding.

    Returns
    -------
    BetweennessResult
        `scores`, one per vertex, and a `certificate` of their accuracy.

    Raises
    ------
    GraphError
        Two arguments cannot be combined, or a cycle of length 0 makes the number of shortest paths undefined.
    PlanError
        The plan is unknown, or does not support the call.
    EngineError
        The device is missing or out of memory, or the result failed its certificate.

    Notes
    -----
    Path counts never overflow. With `k`, every score has an error bound, computed when first read. All bounds hold
    simultaneously with probability at least 1 − `delta` (docs/betweenness.md).

    With weights, two paths are equally long if their float64 sums from the source are equal, as in NetworkX. On a cycle
    of length 0, the number of shortest paths is undefined, and the call raises a GraphError. An undirected edge of
    weight 0 is such a cycle, and so is a cycle of weights too small to change the float64 sums that they are added to.
    Other weights of 0 are allowed. With an executor on GPUs, results are the same up to rounding if one process would
    contract chains (`reduce`), and bitwise identical otherwise.

    Examples
    --------
    >>> b = hw.betweenness_centrality(hw.generate.path(5), normalized=False)
    >>> b.scores.tolist(), b.certificate.error
    ([0.0, 3.0, 4.0, 3.0, 0.0], 0.0)
    >>> detour = hw.Graph.from_edges([0, 1, 0], [1, 2, 2], weights=[1.0, 1.0, 5.0])  # 0 to 2 is shorter over 1
    >>> hw.betweenness_centrality(detour, normalized=False, weights=True).scores.tolist()
    [0.0, 1.0, 0.0]
    >>> trips = {"source_weights": {0: 10.0}, "target_weights": {3: 2.0, 4: 0.5}}  # 20 from 0 to 3, 5 from 0 to 4
    >>> hw.betweenness_centrality(hw.generate.path(5, directed=True), normalized=False, **trips).scores.tolist()
    [0.0, 25.0, 25.0, 5.0, 0.0]
    """
    graph, weighted = as_lengths(G, weights)
    precision = Precision(k, sources, targets, seed, epsilon, delta, method, top, source_weights, target_weights)
    request = check_request(
        graph, precision, normalized, cutoff=cutoff, memory_limit=memory_limit, deterministic=deterministic,
        endpoints=endpoints, weighted=weighted,
        checkpoint=checkpoint, order=None if k is None else order_of_nodes(G, graph), reduce=reduce,
    )  # fmt: skip
    found: BetweennessResult = scored(request, Runs(graph, device, plan, threads, executor), progress, checkpoint)
    return found


def edge_betweenness_centrality(
    G: Any,
    k: int | None = None,
    sources: Any = None,
    normalized: bool = True,
    seed: Any = None,
    device: str = "auto",
    plan: str | Plan = "auto",
    progress: Progress = None,
    checkpoint: str | os.PathLike[str] | None = None,
    *,
    targets: Any = None,
    cutoff: float | None = None,
    threads: int | None = None,
    memory_limit: int | None = None,
    deterministic: bool = False,
    weights: Any = None,
    delta: float = 0.1,
    executor: Executor | None = None,
    source_weights: Any = None,
    target_weights: Any = None,
    reduce: bool = True,
) -> EdgeBetweennessResult:
    """Edge betweenness centrality: the share of shortest paths over each edge, as NetworkX 3.6.1 defines it.

    The result has `scores`, one per stored arc, the `edges`, and a `certificate` of the accuracy.
    Weights are ignored; `weights=True` uses them.

    Parameters
    ----------
    k, sources, normalized, seed, plan, checkpoint, targets, cutoff, memory_limit, deterministic, delta
        See `betweenness_centrality`.
    source_weights, target_weights, reduce
        See `betweenness_centrality`.

    Notes
    -----
    With `targets`, the result follows the definition. NetworkX's `edge_betweenness_centrality_subset` differs from the
    definition for paths through vertices that are not targets.

    Parallel edges of a NetworkX multigraph are merged and have one score, which NetworkX divides among their keys. In a
    graph of `from_edges(..., repeats="keep")`, each parallel edge has a score, by (source, target, key).

    Examples
    --------
    >>> hw.edge_betweenness_centrality(hw.generate.path(4), normalized=False).to_dict()
    {(0, 1): 3.0, (1, 2): 4.0, (2, 3): 3.0}
    """
    graph, weighted = as_lengths(G, weights)
    demand = {"source_weights": source_weights, "target_weights": target_weights}
    request = check_request(
        graph, Precision(k, sources, targets, seed, delta=delta, **demand), normalized, cutoff=cutoff,
        memory_limit=memory_limit, deterministic=deterministic, edges=True, weighted=weighted, checkpoint=checkpoint,
        order=None if k is None else order_of_nodes(G, graph), reduce=reduce,
    )  # fmt: skip
    found: EdgeBetweennessResult = scored(request, Runs(graph, device, plan, threads, executor), progress, checkpoint)
    return found


def percolation_centrality(
    G: Any,
    states: Any = None,
    checkpoint: str | os.PathLike[str] | None = None,
    *,
    weights: Any = None,
    **run: Unpack[Run],
) -> BetweennessResult:
    """Percolation centrality: betweenness with sources weighted by their percolation (infection), as in NetworkX.

    The score of v is the sum of x(s) · σ_st(v) / σ_st over all pairs (s, t), divided by (n − 2) · (Σ x − x(v)). A
    vertex with x(v) = Σ x scores 0. Weights are ignored; `weights=True` uses them.

    Parameters
    ----------
    states : array, dict or pandas Series, optional
        x, nonnegative numbers as an array or by vertex (0 for missing vertices). Default: 1 for every vertex, which
        gives betweenness.
    checkpoint
        See `betweenness_centrality`.

    Examples
    --------
    >>> hw.percolation_centrality(hw.generate.path(4), [1.0, 0.0, 0.0, 0.5]).scores.round(4).tolist()
    [0.0, 0.8333, 0.6667, 0.0]
    """
    how, (graph, weighted) = Running(**run), as_lengths(G, weights)
    states = np.ones(graph.n) if states is None else not_negative(graph, states, "states")
    states = np.ldexp(states, -math.frexp(states.max(initial=0.0))[1])  # scores do not depend on the scale of states
    request = check_request(graph, Precision(source_weights=states), True, weighted=weighted, checkpoint=checkpoint)
    runs = Runs(graph, how.device, "auto", how.threads, how.executor)
    found: BetweennessResult = scored(request, runs, how.progress, checkpoint)
    others = states.sum() - states  # found.scores are normalised by (n - 1) (n - 2)
    share = np.divide(graph.n - 1, others, out=np.zeros(graph.n), where=others > 0)
    on_device = uploaded(share) if on_gpu(found.scores) else share
    return replace(found, scores=found.scores * on_device)


def scored(request: Request, runs: Runs, progress: Progress, checkpoint: File = None) -> Any:
    """The result for vertices or edges, with bounds if sampled. Both arcs of an undirected edge get the same sum."""
    graph, job, precision = request.graph, request.job, request.precision
    if precision.epsilon is not None:
        return within_epsilon(request, runs, progress, checkpoint)
    run, sampled = runs.over_sources(job), precision.k is not None
    parts, title = in_parts(request, runs, run, checkpoint), "edge betweenness" if job.edges else "betweenness"
    if sampled and not job.edges:
        job = with_squares(run, job)
    if parts is None:
        sums, certificate = run.add_up(job, title, progress, checkpoint, fetch=sampled and not job.edges)
    else:
        there = runs if run.engine.name == "cpu" else replace(runs, device=run.engine.name)
        sums, certificate = _add_up(parts, there, title, progress, checkpoint)
    if job.edges and not graph.directed:
        sums = brandes.of_both_directions(graph, sums)
    scores: Any = to_input_device(graph, run.engine, request.scores(sums if job.edges else sums[: graph.n]))
    about = certificate, len(job.sources), run.plan_used, run.engine.name
    more: dict[str, Any] = {"bounds": None, "graph": graph, "reduction": None if parts is None else parts.about}
    if sampled:
        scale = precision.delta, request.normalized, request.demand
        more |= {"bounds": deferred_bounds(graph, job, sums, *scale, on_gpu(scores)), "delta": precision.delta}
    if not job.edges:
        return BetweennessResult(scores, *about, **more)
    ends: Any = Deferred(
        lambda: tuple(to_input_device(graph, run.engine, end) for end in (arc_tails(graph), graph.indices))
    )
    return EdgeBetweennessResult(scores, *about, **more, edges=ends)


def in_parts(request: Request, runs: Runs, run: SourceRun, checkpoint: File) -> ReducedJob | None:
    """The reduced job (hopwave.algorithms.reduction), if a reduction is possible and saves work; else None."""
    graph, job, engine = request.graph, request.job, run.engine.name
    if not request.reduce or request.precision.k is not None or runs.plan != "auto":
        return None
    reason = why_whole(graph, job, engine, most_sources(run.engine, graph, job.sources))
    alone = runs.executor is None and type(runs) is Runs  # on GPUs, workers and ranks divide only the sources

    def divided() -> ReducedJob | None:
        blocks = biconnected_components(graph, "cpu", threads=runs.threads)
        return reduced(graph, job, blocks, runs.threads, engine if engine == "cpu" or alone else None)

    repeated = checkpoint is not None or job.deterministic  # another process, with compiled code, must do the same
    if reason is None and engine == "cuda" and not repeated and is_compiled_later(graph, job, divided):
        reason = "its code is not compiled yet: see hopwave warmup"
    if reason is not None:
        run.why += f"; not reduced, because {reason}" if reason else ""
        return None
    return divided()


def _add_up(parts: ReducedJob, runs: Runs, title: str, progress: Progress, checkpoint: File) -> tuple[Any, Certificate]:
    """The sums of the original job, from the sums of the reduced job."""
    by_core = parts.by_core(runs.over_batches, title, progress, checkpoint)
    if by_core is not None:
        return by_core
    run = replace(runs, graph=parts.graph).over_sources(parts.job)
    sums, certificate = run.add_up(parts.job, title, progress, checkpoint, fetch=False)
    return parts.put_back(on_host(sums)), certificate


def within_epsilon(request: Request, runs: Runs, progress: Progress, checkpoint: File) -> BetweennessResult:
    """Scores within ± epsilon, by the caller's method or the cheapest method."""
    graph, n, precision = request.graph, request.graph.n, request.precision
    choice = _choose_before_pilot(request, runs, checkpoint)
    if choice is not None and choice.method != "paths":
        return _from_sources(request, runs, choice, progress, checkpoint)
    if runs.plan != "auto":
        raise GraphError(f"plan={runs.plan!r} cannot be combined with method='paths', which has no plan; omit one")
    run, seed = runs.over_paths(request.job), python_generator(precision.seed).getrandbits(64)
    pilot = paths.draw_pilot(run, seed, request.goal, progress)
    if choice is None:
        choice = costs.after_pilot(n, graph.m, pilot, run.engine.name, checkpoint is not None)
        if choice.method != "paths":
            return _from_sources(request, runs, choice, progress, checkpoint)
    found = paths.draw(run, seed, pilot.schedule, progress, checkpoint)
    scale = request.unit * n / (n - 2)
    scores, bounds = (to_input_device(graph, run.engine, array * scale) for array in (found.shares, found.bounds))
    used = PlanUsed(paths.PATHS, choice.why)
    ties = None if precision.top is None else found.undecided.tolist()
    if ties and graph.labels is not None:
        ties = [graph.label(v) for v in ties]
    return BetweennessResult(
        scores, found.certificate, 0, used, run.engine.name, bounds, graph,
        pairs=found.pairs + pilot.pairs, delta=precision.delta, undecided=ties,
    )  # fmt: skip


def _choose_before_pilot(request: Request, runs: Runs, checkpoint: File) -> Choice | None:
    """The method, if it can be chosen without a pilot sample; else None."""
    graph, job, precision, continued = request.graph, request.job, request.precision, checkpoint is not None
    if graph.n <= 2:
        return Choice("exact", "exact: no path has an inner vertex")
    if precision.method != "auto":
        return Choice(precision.method, "requested")
    if runs.plan != "auto" and continued:
        return Choice("exact", "exact: plan= needs a sample of sources, and a growing sample has no checkpoint")
    if runs.plan != "auto":
        return Choice("sources", "plan= names a plan that searches from sources")
    if precision.top is not None:
        return Choice("paths", "top= needs a sample of paths")
    engine = runs.over_sources(replace(job, squares=True)).engine
    return costs.before_pilot(graph.n, graph.m, request.goal, engine.name, job.weighted, continued)


def _from_sources(
    request: Request, runs: Runs, choice: Choice, progress: Progress, checkpoint: File
) -> BetweennessResult:
    graph, job, precision = request.graph, request.job, request.precision
    sampled = choice.method == "sources"
    run = runs.over_sources(replace(job, squares=sampled))
    if sampled:
        assert precision.epsilon is not None
        scores, bounds, count, certificate = adaptive(
            run, job, precision.epsilon, precision.delta, precision.seed, progress
        )
        scores, bounds = scores * request.unit, bounds * request.unit
    else:
        sums, certificate = run.add_up(job, "betweenness", progress, checkpoint)
        scores, bounds, count = request.scores(sums), np.zeros(graph.n), graph.n
    scores, bounds = (to_input_device(graph, run.engine, array) for array in (scores, bounds))
    used = replace(run.plan_used, why=f"{choice.why}; {run.plan_used.why}")
    return BetweennessResult(scores, certificate, count, used, run.engine.name, bounds, graph, delta=precision.delta)
