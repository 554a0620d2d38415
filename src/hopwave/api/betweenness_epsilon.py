"""Betweenness within ± epsilon: chooses a method, and runs it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hopwave.algorithms.betweenness_sampling import costs, paths
from hopwave.algorithms.betweenness_sampling.costs import Choice, adaptive
from hopwave.algorithms.checkpoint import File
from hopwave.algorithms.draws import python_generator
from hopwave.api.betweenness_request import Request, Runs
from hopwave.api.choice import to_input_device
from hopwave.errors import GraphError
from hopwave.planning.jobs import Progress
from hopwave.planning.plan import PlanUsed
from hopwave.results.betweenness import BetweennessResult


def within_epsilon(request: Request, runs: Runs, progress: Progress, checkpoint: File) -> BetweennessResult:
    """Scores within ± epsilon, by the method that the caller names, or by the cheapest."""
    graph, n, precision = request.graph, request.graph.n, request.precision
    choice = _choose_before_pilot(request, runs, checkpoint)
    if choice is not None and choice.method != "paths":
        return _from_sources(request, runs, choice, progress, checkpoint)
    if runs.plan != "auto":
        raise GraphError(f"plan={runs.plan!r} goes from sources, and method='paths' does not; leave out one of them")
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
    """The method, if it can be chosen without a pilot; else None."""
    graph, job, precision, continued = request.graph, request.job, request.precision, checkpoint is not None
    if graph.n <= 2:
        return Choice("exact", "exact: no path has a vertex inside")
    if precision.method != "auto":
        return Choice(precision.method, "asked for")
    if runs.plan != "auto" and continued:
        return Choice("exact", "exact: plan= goes from sources, and a growing sample has no checkpoint")
    if runs.plan != "auto":
        return Choice("sources", "plan= names a plan that goes from sources")
    if precision.top is not None:
        return Choice("paths", "top= ends a sample of paths")
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
