"""A betweenness call in three records: the required accuracy (Precision), the job (Request) and the engines (Runs).

Precision and Request are tuples, because a frozen dataclass costs microseconds, and a small call takes about 60 µs.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hopwave.algorithms import brandes
from hopwave.algorithms.betweenness_sampling.costs import METHODS, Method
from hopwave.algorithms.betweenness_sampling.paths import Goal, PathRun
from hopwave.algorithms.brandes import SourceRun
from hopwave.algorithms.checkpoint import File
from hopwave.algorithms.draws import draw_sources, python_generator
from hopwave.api.arguments import check_distance, check_probability, check_risk, source_ids
from hopwave.api.choice import betweenness_engine, betweenness_work, choose_betweenness_plan, choose_engine
from hopwave.api.weights import not_negative
from hopwave.arrays import Array
from hopwave.checks.numbers import check_bytes, is_whole
from hopwave.checks.options import flag, one_of
from hopwave.engines import Operation
from hopwave.errors import GraphError
from hopwave.executors import dealt_core
from hopwave.graph import Graph
from hopwave.planning.jobs import Accumulation, BetweennessJob, Integers, SampleJob
from hopwave.planning.plan import Plan


class Precision(NamedTuple):
    """The caller's arguments for the paths that count and the accuracy of the scores."""

    k: int | None = None
    sources: Any = None
    targets: Any = None
    seed: Any = None
    epsilon: float | None = None
    delta: float = 0.1
    method: Method = "auto"
    top: int | None = None
    source_weights: Any = None
    target_weights: Any = None

    @property
    def is_subset(self) -> bool:
        """Whether the caller passed sources or targets."""
        return self.sources is not None or self.targets is not None

    def check(self, endpoints: bool = False, checkpoint: File = None) -> None:
        """Raise a GraphError if an argument is invalid, or cannot be combined with another."""
        check_risk(self.delta)
        k, method, top, sampled = self.k, self.method, self.top, self.epsilon is not None
        if k is None and top is None and not sampled and isinstance(method, str) and method == "auto":
            return
        one_of("method", method, METHODS)
        if top is not None and (not is_whole(top) or top < 1):
            raise GraphError(f"top={top!r} is not a number of vertices; pass an integer of at least 1, or None")
        saved, demand = checkpoint is not None, self.source_weights is not None or self.target_weights is not None
        rules = (
            (not sampled and (method == "paths" or (method == "sources" and k is None)),
             f"method={method!r} needs epsilon=, the error at which sampling stops; pass, for example, epsilon=0.01"),
            (k is not None and method in ("paths", "exact"),
             f"k={k!r} cannot be combined with method={method!r}, which draws no sources; omit one of them"),
            (top is not None and not sampled, f"top={top!r} needs epsilon=: tied scores never separate, so sampling "
             "would not end; pass, for example, epsilon=0.01"),
            (top is not None and method in ("sources", "exact"),
             f"top={top!r} cannot be combined with method={method!r}; use method='paths' or 'auto'"),
            (sampled and demand, "epsilon= cannot be combined with source_weights= or target_weights=: its bounds "
             "assume that all pairs count equally; use k= instead of epsilon="),
            (sampled and (k is not None or self.is_subset or endpoints),
             "epsilon= cannot be combined with k=, sources=, targets= or endpoints=: it samples all pairs; omit one"),
            (sampled and saved and method == "sources", "method='sources' with epsilon= does not support checkpoint=, "
             "because its sample grows; use method='paths' or 'auto', or k= with checkpoint="),
            (sampled and saved and method != "exact" and self.seed is None,
             "checkpoint= with epsilon= needs seed= to resume the same sample; pass an integer as seed="),
            (k is not None and self.sources is not None,
             "k= cannot be combined with sources=: k= draws its own sources; omit one of them"),
            (k is not None and self.targets is not None,
             "k= cannot be combined with targets=: samples are scaled to all pairs; use sources= with targets="),
        )  # fmt: skip
        for broken, why in rules:
            if broken:
                raise GraphError(why)
        if sampled:
            check_probability("epsilon", self.epsilon, "an error bound", 0.01)
            python_generator(self.seed)  # raises an error if the seed is invalid


class Request(NamedTuple):
    """A betweenness computation with checked arguments. `drawn` are the sampled sources (k=), else None.

    `demand`: power of 2 by which the caller's weights of pairs were divided, so that none exceeds 1.
    """

    graph: Graph
    job: BetweennessJob
    precision: Precision
    normalized: bool
    drawn: Integers | None
    demand: float = 1.0
    reduce: bool = True

    def scores(self, sums: Array) -> Array:
        """Scores from sums over the sources of the job, scaled as in NetworkX."""
        graph, job, subset = self.graph, self.job, self.precision.is_subset
        scores = brandes.scale(
            sums, graph.n, normalized=self.normalized, directed=graph.directed, endpoints=job.endpoints or job.edges,
            sampled=self.drawn, subset=subset,
        )  # fmt: skip
        return scores if self.demand == 1.0 else brandes.times(scores, self.demand)

    @property
    def goal(self) -> Goal:
        """The goal for p(v), the share of all pairs' paths through a vertex: score = p · n / (n − 2)."""
        n, precision = self.graph.n, self.precision
        assert precision.epsilon is not None
        return Goal(max(precision.epsilon * (n - 2) / n, 1e-300), precision.delta, precision.top)

    @property
    def unit(self) -> float:
        """The factor from normalised scores to the requested scores."""
        n = self.graph.n
        return 1.0 if self.normalized else (n - 1) * (n - 2) / (1 if self.graph.directed else 2)


def check_request(
    graph: Graph,
    precision: Precision,
    normalized: bool,
    *,
    cutoff: float | None = None,
    memory_limit: int | None = None,
    deterministic: bool = False,
    endpoints: bool = False,
    edges: bool = False,
    weighted: bool = False,
    checkpoint: File = None,
    order: Integers | None = None,
    reduce: bool = True,
) -> Request:
    """Check the arguments of vertex and edge betweenness, and draw the sample; `order` is the order of vertices."""
    normalized, endpoints = flag("normalized", normalized), flag("endpoints", endpoints)
    precision.check(endpoints, checkpoint)
    drawn = draw_sources(graph.n, precision.k, precision.seed)
    if drawn is not None and checkpoint is not None and precision.seed is None:
        problem = "checkpoint= with k= needs seed=: without it, every call draws different sources and cannot resume"
        raise GraphError(f"{problem}; pass an integer as seed=")
    if drawn is not None and order is not None:
        drawn = order[drawn]
    if precision.sources is not None:
        sources = np.array(source_ids(graph, precision.sources), np.int64)
    else:
        sources = np.arange(graph.n, dtype=np.int64) if drawn is None else drawn
    targets: Any = None  # mask of the targets; None if all vertices are targets
    if precision.targets is not None:
        targets = np.zeros(graph.n, np.bool_)
        targets[list(source_ids(graph, precision.targets, "targets"))] = True
    origins, demand = None, 1.0
    if precision.source_weights is not None or precision.target_weights is not None:
        chosen = None if precision.sources is None else sources
        origins, sent = _demand(graph, "source", precision.source_weights, chosen)
        wanted, taken = _demand(graph, "target", precision.target_weights, targets)
        demand = sent * taken
        if origins is not None and drawn is None:
            sources = sources[origins[sources] > 0]  # other sources add nothing
        if wanted is not None:
            targets = wanted if targets is None else wanted * targets
    job = BetweennessJob(
        sources,
        targets,
        check_distance("cutoff", cutoff, weighted),
        endpoints=endpoints,
        edges=edges,
        memory_limit=check_bytes("memory_limit", memory_limit),
        deterministic=flag("deterministic", deterministic),
        weighted=weighted,
        origins=origins,
    )
    return Request(graph, job, precision, normalized, drawn, demand, flag("reduce", reduce))


def _demand(graph: Graph, end: str, weights: Any, chosen: Any) -> tuple[Any, float]:
    """(weights divided by a power of 2, so that all are in [0, 1], and that power); (None, 1) if all weights are 1."""
    if weights is None:
        return None, 1.0
    found = not_negative(graph, weights, f"{end}_weights")
    if chosen is not None and not found[chosen].any():
        problem = f"{end}_weights= is 0 for all of {end}s=, so that no pair counts"
        raise GraphError(f"{problem}; pass a positive number for at least one, or omit {end}s=")
    greatest = float(found.max(initial=0.0))
    unit = 2.0 ** min(1023.0, float(np.ceil(np.log2(greatest)))) if greatest > 0 else 1.0
    return found / unit, unit


@dataclass
class Runs:
    """Engines of a call: the caller's device and plan, or the best device and plan for each job."""

    graph: Graph
    device: str
    plan: str | Plan
    threads: int | None
    executor: Executor | None = None

    def over_sources(self, job: BetweennessJob) -> SourceRun:
        """A run that sums over the sources of the job."""
        engine = betweenness_engine(self.device, self.graph, job, self.plan, self.threads, self.executor)
        plan, why = choose_betweenness_plan(self.plan, job, self.graph, engine)
        return SourceRun(self.graph, engine, plan, why, self.threads)

    def over_batches(self, graph: Graph, job: BetweennessJob, run: Accumulation) -> Accumulation:
        """A run over the core of a reduced job, on the workers of the executor if there is one."""
        return run if self.executor is None else dealt_core(self.executor, graph, job, run)

    def over_paths(self, job: BetweennessJob) -> PathRun:
        """A run that samples shortest paths, in hops or by weights as the job counts them."""
        operation: Operation = "weighted_path_sampling" if job.weighted else "path_sampling"
        work = betweenness_work(self.graph, len(job.sources))
        engine = choose_engine(work, self.device, self.graph, self.threads, self.executor, operation)
        pairs = SampleJob(0, job.cutoff, job.memory_limit, job.weighted)
        return PathRun(self.graph, engine, pairs, self.threads)
