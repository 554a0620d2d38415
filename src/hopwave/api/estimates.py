"""Betweenness within ± epsilon: checks the arguments of an estimate, chooses a method, and runs it.

Also: how far a sample of k sources may be off.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from hopwave import engines
from hopwave.algorithms import method as _method
from hopwave.algorithms import sampled_paths, sampling, scaling
from hopwave.algorithms.brandes import Certificate
from hopwave.algorithms.checkpoint import Checkpoint
from hopwave.algorithms.path_sampling import Goal
from hopwave.algorithms.source_bounds import SQUARES_FROM, sample_bounds
from hopwave.api.arguments import check_probability
from hopwave.api.choice import path_engine, to_input_device
from hopwave.arrays import Deferred
from hopwave.checks.numbers import is_whole
from hopwave.checks.options import one_of
from hopwave.engines import Engine
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.planning.jobs import BetweennessJob, Floats, PathSampling, Progress, SampleJob
from hopwave.planning.plan import Plan, PlanUsed, Push
from hopwave.planning.rules import Always
from hopwave.results.betweenness import BetweennessResult

File = str | os.PathLike[str] | None

# Names the method in results. It is no plan to choose by plan=: method= does that.
PATHS = Plan(
    "path-sampling",
    "Borassi & Natale, KADABRA, ESA 2016",
    "3 and 4",
    "betweenness from random shortest paths, one pair of searches per worker",
    (Push("thread", "queue"),),
    Always(),
    task="betweenness",
)


class SourceRun(Protocol):
    """An engine and a plan that sum dependencies over sources (api.betweenness.Run)."""

    @property
    def engine(self) -> Engine:
        """Where it runs."""

    @property
    def plan_used(self) -> PlanUsed:
        """The plan and why."""

    def add_up(
        self, job: BetweennessJob, title: str, progress: Progress, checkpoint: File = None
    ) -> tuple[Floats, Certificate]:
        """The sums over the sources of a job."""


@dataclass(frozen=True)
class PathRun:
    """An engine that draws paths, and how a run over the pairs of a job begins."""

    engine: Engine
    begin: Callable[[SampleJob], PathSampling]


def choose_path_run(
    graph: Graph, job: BetweennessJob, device: str, threads: int | None, executor: Executor | None = None
) -> PathRun:
    """The engine that the caller names, or the best one."""
    engine = path_engine(device, graph, job, threads, executor)
    return PathRun(engine, lambda pairs: engine.path_sampling(graph, pairs, threads))


@dataclass(frozen=True)
class Estimate:
    """The arguments of an estimate, checked: scores within ± epsilon, except with risk delta."""

    graph: Graph
    job: BetweennessJob
    epsilon: float
    delta: float
    method: _method.Method
    top: int | None
    seed: Any
    normalized: bool

    @property
    def goal(self) -> Goal:
        """The same for the share of all pairs' paths that lead through a vertex, in place of scores."""
        n = self.graph.n
        return Goal(self.epsilon * (n - 2) / n, self.delta, self.top)

    @property
    def unit(self) -> float:
        """A normalised score of 1, as the caller wants scores."""
        n = self.graph.n
        return 1.0 if self.normalized else (n - 1) * (n - 2) / (1 if self.graph.directed else 2)


def check_method(method: Any, top: Any, epsilon: Any, k: Any) -> None:
    """Raise a GraphError if method= or top= is unknown, or does not fit the arguments beside it."""
    one_of("method", method, _method.METHODS)
    if epsilon is None and (method == "paths" or (method == "sources" and k is None)):
        raise GraphError(
            f"method={method!r} samples until scores are within ± epsilon; give epsilon=, for example 0.01"
        )
    if k is not None and method in ("paths", "exact"):
        raise GraphError(f"k= draws sources and method={method!r} does not; leave out one of them")
    if top is None:
        return
    if not is_whole(top) or top < 1:
        raise GraphError(f"top={top!r} is not a number of vertices; give a whole number from 1, or None")
    if epsilon is None:
        raise GraphError("top= ends a sample early, and equal scores are never apart; give epsilon=, too, as a limit")
    if method in ("sources", "exact"):
        raise GraphError(f"top= ends a sample of paths early; use method='paths' or 'auto' instead of {method!r}")


def check_epsilon(
    epsilon: Any, k: Any, sources: Any, targets: Any, endpoints: Any, checkpoint: Any, method: str, seed: Any
) -> None:
    """Raise a GraphError if epsilon= is not a precision, or comes with an argument that excludes it."""
    if k is not None or sources is not None or targets is not None or endpoints:
        raise GraphError(
            "epsilon= draws its own sample; leave out k, sources, targets and endpoints, or leave out epsilon"
        )
    if checkpoint is not None and method == "sources":
        raise GraphError(
            "a sample of sources that grows (epsilon=, method='sources') cannot be checkpointed; "
            "use method='paths' or 'auto', or k= with checkpoint="
        )
    if checkpoint is not None and method != "exact" and seed is None:
        raise GraphError("checkpoint= with epsilon= continues the same sample: give seed=, a whole number, too")
    check_probability("epsilon", epsilon, "the precision of a score", 0.01)
    sampling.python_generator(seed)  # an error, unless it is a seed


def estimated(
    asked: Estimate,
    sources: Callable[[bool], SourceRun],
    paths: Callable[[], PathRun],
    plan: str | Plan,
    progress: Progress,
    checkpoint: File,
) -> BetweennessResult:
    """Scores within ± epsilon. `sources(squares)` chooses a run over sources, and `paths()` one over paths."""
    graph, n = asked.graph, asked.graph.n
    choice = _method.Choice(asked.method, "asked for") if asked.method != "auto" else None
    if n <= 2:
        choice = _method.Choice("exact", "exact: no path has a vertex inside")
    elif choice is None:
        if plan != "auto" and checkpoint is not None:
            choice = _method.Choice("exact", "exact: plan= goes from sources, and a growing sample has no checkpoint")
        elif plan != "auto":
            choice = _method.Choice("sources", "plan= names a plan that goes from sources")
        elif asked.top is not None:
            choice = _method.Choice("paths", "top= ends a sample of paths")
        else:
            where = sources(True).engine.name
            choice = _method.before_pilot(n, graph.m, asked.goal, where, asked.job.weighted, checkpoint is not None)
    if choice is not None and choice.method != "paths":
        return _from_sources(asked, sources, choice, progress, checkpoint)
    if plan != "auto":
        raise GraphError(f"plan={plan!r} goes from sources, and method='paths' does not; leave out one of them")
    run = paths()
    engine = run.engine
    job = SampleJob(0, asked.job.cutoff, asked.job.memory_limit, asked.job.weighted)

    def begin(start: int) -> PathSampling:
        return run.begin(replace(job, start=start))

    seed = sampling.python_generator(asked.seed).getrandbits(64)
    pilot = sampled_paths.draw_pilot(begin, seed, asked.goal, progress)
    if choice is None:
        choice = _method.after_pilot(n, graph.m, pilot, engine.name, checkpoint is not None)
        if choice.method != "paths":
            return _from_sources(asked, sources, choice, progress, checkpoint)
    saved = None
    if checkpoint is not None:
        named = replace(asked.job, sources=np.array([seed], np.uint64).view(np.int64))
        saved = Checkpoint(checkpoint, graph, named, f"{PATHS.name} {asked.goal} on {engine.name}")
    found = sampled_paths.draw(begin, seed, pilot.schedule, progress, saved)
    scale = asked.unit * n / (n - 2)
    scores, bounds = (to_input_device(graph, engine, array * scale) for array in (found.shares, found.bounds))
    used = PlanUsed(PATHS, choice.why)
    pairs = found.pairs + pilot.pairs
    ties = None if asked.top is None else found.undecided.tolist()
    if ties and graph.labels is not None:
        ties = [graph.label(v) for v in ties]
    return BetweennessResult(
        scores, found.certificate, 0, used, engine.name, bounds, graph, pairs=pairs, delta=asked.delta, undecided=ties
    )


def _from_sources(
    asked: Estimate,
    sources: Callable[[bool], SourceRun],
    choice: _method.Choice,
    progress: Progress,
    checkpoint: File,
) -> BetweennessResult:
    graph, n = asked.graph, asked.graph.n
    run = sources(choice.method == "sources")
    if choice.method == "sources":
        scores, bounds, count, certificate = sampling.adaptive(
            lambda job, title: run.add_up(job, title, progress), n, asked.epsilon, asked.delta, asked.seed, asked.job
        )
        scores, bounds = scores * asked.unit, bounds * asked.unit
    else:
        sums, certificate = run.add_up(asked.job, "betweenness", progress, checkpoint)
        scores = scaling.scale(sums, n, normalized=asked.normalized, directed=graph.directed, endpoints=False)
        bounds, count = np.zeros(n), n
    scores, bounds = (to_input_device(graph, run.engine, array) for array in (scores, bounds))
    used = replace(run.plan_used, why=f"{choice.why}; {run.plan_used.why}")
    return BetweennessResult(scores, certificate, count, used, run.engine.name, bounds, graph, delta=asked.delta)


def with_squares(job: BetweennessJob, engine: Engine, plan: Plan) -> BetweennessJob:
    """The job of a sample (k=) whose run also adds up squares, for narrower bounds, where it is large enough for them
    and the engine does so."""
    if job.edges or job.endpoints or len(job.sources) < SQUARES_FROM:
        return job
    more = replace(job, squares=True)
    return job if engine.why_not(plan, more) else more


def bounds_of_sample(
    graph: Graph, job: BetweennessJob, sums: Floats, engine: Engine, delta: float, normalized: bool
) -> Any:
    """How far the scores of a sample of sources (k=) may be off: 0 if it has all, else computed when first read."""
    if len(job.sources) == graph.n:
        return to_input_device(graph, engine, np.zeros(len(sums) // (2 if job.squares else 1)))

    def labels() -> npt.NDArray[np.int32]:
        return engines.engine("cpu").components(graph, strong=False)

    def reach() -> npt.NDArray[np.int64]:
        return engines.engine("cpu").reach_bounds(graph)[1]

    def fetch() -> Any:
        found = sample_bounds(graph, job, sums, labels, reach, delta, bool(normalized))
        return to_input_device(graph, engine, found)

    return Deferred(fetch)
