"""Betweenness centrality of vertices and edges.

Both go through the same four steps, which `hopwave.distributed` uses too. `check_request` checks the arguments and
makes a job, `choose_run` picks an engine and a plan, `Run.add_up` sums dependencies over the sources of the job, and
`Request.scores` scales the sums.
"""

from __future__ import annotations

import os
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.algorithms import brandes, sampling, scaling
from hopwave.algorithms.brandes import Certificate
from hopwave.algorithms.checkpoint import Checkpoint
from hopwave.algorithms.method import Method
from hopwave.api import estimates
from hopwave.api.arguments import check_bytes, check_distance, check_risk, order_of_nodes, source_ids
from hopwave.api.choice import betweenness_engine, choose_betweenness_plan, to_input_device
from hopwave.api.estimates import Estimate, File, bounds_of_sample, check_epsilon, check_method, estimated
from hopwave.api.weights import as_lengths, takes_weights
from hopwave.checks.options import flag
from hopwave.engines import Engine
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.graph.arrays import arc_tails
from hopwave.planning.jobs import BetweennessJob, Floats, Integers, Progress
from hopwave.planning.plan import Plan, PlanUsed
from hopwave.results.betweenness import BetweennessResult, EdgeBetweennessResult

MIN_WORK_FOR_METER = 1 << 20  # sources × (vertices and arcs): less is done long before progress would be shown


@takes_weights
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
) -> BetweennessResult:
    """Betweenness centrality: how many shortest paths lead through every vertex, as NetworkX 3.6.1 defines it.

    All vertices are sources unless `k`, `sources` or `epsilon` says otherwise.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        The graph.
        Weights are ignored unless `weights=` says otherwise.
    k : int, optional
        Draw that many sources, as NetworkX does with the same `seed`, and scale up. The result has `bounds` (Notes).
    sources, targets : vertices, optional
        Only count paths from these sources to these targets (NetworkX's `betweenness_centrality_subset`).
    normalized : bool, optional
        Divide by the number of pairs, so that scores are between 0 and 1.
    endpoints : bool, optional
        Count the two ends of a path as vertices on it.
    seed : int, random.Random or NumPy generator, optional
        Makes the sample of `k` or `epsilon` repeatable.
    epsilon : float, optional
        Sample until every normalised score is within ±epsilon with probability 1 − `delta`. The result then has
        `bounds`.
    delta : float, optional
        The risk that some score is farther off than its bound says, after a sample.
    device : {"auto", "cpu", "cuda"}, optional
        Where to compute. "auto" is a GPU if there is one and the work is worth it, else the CPU.
    plan : str or Plan, optional
        The name of a betweenness plan of `hopwave.plans()`.
    progress : bool or callable, optional
        None shows a progress bar on a terminal after two seconds, True at once, False never. A function is called with
        (sources done, all sources).
    checkpoint : path, optional
        A file that the run writes every minute and on Ctrl-C, and continues from when it is called again. The result is
        the same, bit for bit.
    cutoff : int or float, optional
        Only count paths of up to that many hops, or, along weights, of up to that length.
    threads : int, optional
        Threads of the CPU engine; by default HOPWAVE_NUM_THREADS, else every core. The result does not depend on it.
    memory_limit : int, optional
        How many bytes the run may use.
    deterministic : bool, optional
        Refuse everything that may give other bits on the next run: TurboBC's atomics, and on a GPU, choices that depend
        on free memory.
    weights : bool, array or str, optional
        None and False count hops. True takes the graph's own weights as the lengths of its arcs. An array has one
        length per arc, in the order of `G.indices`; a string names an edge attribute of a NetworkX graph.
    method : {"auto", "paths", "sources", "exact"}, optional
        How to get within ±epsilon. "paths" draws random pairs and one shortest path of each; along weights, on the CPU
        alone. "sources" draws sources and counts all their paths. "exact" takes all sources. "auto" takes the one with
        the lowest predicted cost; `result.plan.why` says which and why.
    top : int, optional
        With `epsilon`: a sample of paths may end as soon as that many vertices are known to have the highest scores,
        in whatever order. `result.undecided` lists the vertices that are too close to tell.
    executor : concurrent.futures.Executor, optional
        Whose workers compute in place of this process, on their CPUs, or on their GPUs with device="cuda": see
        docs/executors.md. The result is the same, bit for bit. Leave out `threads`.

    Returns
    -------
    BetweennessResult
        `scores`, one per vertex, and a `certificate` of their accuracy.

    Raises
    ------
    GraphError
        An argument cannot be used, or two exclude each other; a weight is negative or infinite; or shortest paths
        cannot be counted, because a cycle of arcs adds nothing to their length.
    PlanError
        The plan is unknown, or cannot do this.
    EngineError
        The device is missing or out of memory, or the result failed its certificate.

    See Also
    --------
    edge_betweenness_centrality : the same for edges.

    Notes
    -----
    Path counts never overflow, whatever the graph: they are rescaled when they become too large for float64.

    With `k`, every score has a bound, and all of them hold together with probability 1 − `delta`: Chernoff's bound for
    draws without replacement (Hoeffding 1963), which needs the score alone, and from 128 sources on a bound that uses
    how much the draws vary, whichever is narrower. The risk is divided among the vertices, in an undirected graph half
    of it in proportion to their scores. Bounds are 0 when all sources are drawn, and are computed when they are first
    read.

    Along weights, two paths are equally long if their float64 sums from the source on are equal, as in NetworkX. A
    weight may be 0 if it is on no cycle of length 0. An undirected edge of weight 0 is such a cycle: a path can go
    there and back any number of times, the number of shortest paths is not defined, and the call raises a GraphError.
    So it does if a weight is too small to change the lengths that it is added to, and its arc is on a cycle of such.

    Examples
    --------
    >>> import hopwave as hw
    >>> b = hw.betweenness_centrality(hw.generate.path(5), normalized=False)
    >>> b.scores.tolist(), b.certificate.error
    ([0.0, 3.0, 4.0, 3.0, 0.0], 0.0)
    >>> detour = hw.Graph.from_edges([0, 1, 0], [1, 2, 2], weights=[1.0, 1.0, 5.0])  # 0 to 2 is shorter over 1
    >>> hw.betweenness_centrality(detour, normalized=False, weights=True).scores.tolist()
    [0.0, 1.0, 0.0]
    """
    graph, weighted = as_lengths(G, weights)
    normalized, endpoints = flag("normalized", normalized), flag("endpoints", endpoints)
    check_risk(delta)
    check_method(method, top, epsilon, k)
    if epsilon is not None:
        check_epsilon(epsilon, k, sources, targets, endpoints, checkpoint, method, seed)
    request = check_request(
        graph, k, sources, targets, seed, cutoff, memory_limit, deterministic, endpoints=endpoints,
        weighted=weighted, checkpoint=checkpoint, order=order_of_nodes(G, graph),
    )  # fmt: skip
    if epsilon is not None:
        asked = Estimate(graph, request.job, epsilon, delta, method, top, seed, normalized)

        def sourced(squares: bool) -> Run:
            return choose_run(graph, replace(request.job, squares=squares), device, plan, threads, executor)

        def paths() -> estimates.PathRun:
            return estimates.choose_path_run(graph, request.job, device, threads, executor)

        return estimated(asked, sourced, paths, plan, progress, checkpoint)
    run = choose_run(graph, request.job, device, plan, threads, executor)
    job = request.job if k is None else estimates.with_squares(request.job, run.engine, run.plan)
    sums, certificate = run.add_up(job, "betweenness", progress, checkpoint, fetch=k is not None)
    scores = to_input_device(graph, run.engine, request.scores(sums[: graph.n], normalized))
    bounds = None if k is None else bounds_of_sample(graph, job, sums, run.engine, delta, normalized)
    risk, count = None if k is None else delta, len(request.job.sources)
    return BetweennessResult(scores, certificate, count, run.plan_used, run.engine.name, bounds, graph, delta=risk)


@takes_weights
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
) -> EdgeBetweennessResult:
    """Edge betweenness centrality: how many shortest paths lead over every edge, as NetworkX 3.6.1 defines it.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        The graph.
        Weights are ignored unless `weights=` says otherwise.
    k, sources, normalized, seed, device, plan, progress, checkpoint
        As for `betweenness_centrality`.
    targets, cutoff, threads, memory_limit, deterministic, weights, executor
        As for `betweenness_centrality`.
    delta : float, optional
        With `k`: the risk that some score is farther off than its bound says.

    Returns
    -------
    EdgeBetweennessResult
        `scores`, one per stored arc; `edges`, the ends of the arcs; and a `certificate` of their accuracy.

    Raises
    ------
    GraphError
        If `G` is no graph, or an argument has a value that it cannot have.

    See Also
    --------
    betweenness_centrality : the same for vertices.

    Notes
    -----
    With `targets` the result follows the definition. NetworkX's `edge_betweenness_centrality_subset` differs from it
    for paths that lead through vertices that are not targets.

    Examples
    --------
    >>> import hopwave as hw
    >>> hw.edge_betweenness_centrality(hw.generate.path(4), normalized=False).to_dict()
    {(0, 1): 3.0, (1, 2): 4.0, (2, 3): 3.0}
    """
    graph, weighted = as_lengths(G, weights)
    normalized = flag("normalized", normalized)
    check_risk(delta)
    request = check_request(
        graph, k, sources, targets, seed, cutoff, memory_limit, deterministic, edges=True,
        weighted=weighted, checkpoint=checkpoint, order=order_of_nodes(G, graph),
    )  # fmt: skip
    run = choose_run(graph, request.job, device, plan, threads, executor)
    found = run.add_up(request.job, "edge betweenness", progress, checkpoint)
    return edge_result(request, run, found, None if k is None else delta, normalized)


def edge_result(
    request: Request, run: estimates.SourceRun, found: tuple[Floats, Certificate], delta: float | None, normalized: bool
) -> EdgeBetweennessResult:
    """Sums of arcs as scores of edges, with bounds after a sample, which has a delta."""
    graph, engine, (sums, certificate) = request.graph, run.engine, found
    if not graph.directed:
        sums = sums + scaling.of_reverse_arcs(graph, sums)
    arrays = request.scores(sums, normalized), arc_tails(graph), graph.indices
    scores, tails, heads = (to_input_device(graph, engine, array) for array in arrays)
    bounds = None if delta is None else bounds_of_sample(graph, request.job, sums, engine, delta, normalized)
    about = certificate, len(request.job.sources), run.plan_used, engine.name
    return EdgeBetweennessResult(scores, (tails, heads), *about, bounds, graph, delta)


# ------------------------------------------------------------------ arguments


@dataclass(frozen=True)
class Request:
    """A betweenness computation whose arguments were checked.

    `drawn` are the sources of a sample (k=), else None. `subset`: the caller named sources or targets.
    """

    graph: Graph
    job: BetweennessJob
    drawn: Integers | None
    subset: bool

    def scores(self, sums: Floats, normalized: bool) -> Floats:
        """Sums over the sources of the job as scores, scaled as NetworkX scales them."""
        directed, endpoints = self.graph.directed, self.job.endpoints or self.job.edges
        how = {"normalized": normalized, "directed": directed, "endpoints": endpoints, "subset": self.subset}
        return scaling.scale(sums, self.graph.n, sampled=self.drawn, **how)


def check_request(
    graph: Graph,
    k: int | None,
    sources: Any,
    targets: Any,
    seed: Any,
    cutoff: float | None,
    memory_limit: int | None,
    deterministic: bool,
    *,
    endpoints: bool = False,
    edges: bool = False,
    weighted: bool = False,
    checkpoint: Any = None,
    order: Integers | None = None,
) -> Request:
    """Check the arguments that vertices and edges have in common, and draw the sample.

    `order` is the vertices in the order to draw from, where that is not 0 … n − 1.
    """
    if k is not None and sources is not None:
        raise GraphError("k= draws sources and sources= names them; give one of the two")
    if k is not None and targets is not None:
        raise GraphError("k= samples all pairs and targets= chooses some; give sources= with targets=")
    subset = sources is not None or targets is not None
    drawn = None if subset else sampling.draw_sources(graph.n, k, seed)
    if drawn is not None and checkpoint is not None and seed is None:
        raise GraphError(
            "k= without seed= draws other sources in every run, so that none can continue from the checkpoint of "
            "another; give seed= with checkpoint="
        )
    if drawn is not None and order is not None:
        drawn = order[drawn]
    job = BetweennessJob(
        _sources(graph, sources, drawn),
        _mask(graph, targets),
        check_distance("cutoff", cutoff, weighted),
        endpoints=endpoints,
        edges=edges,
        memory_limit=check_bytes("memory_limit", memory_limit),
        deterministic=flag("deterministic", deterministic),
        weighted=weighted,
    )
    return Request(graph, job, drawn, subset)


def _sources(graph: Graph, sources: Any, drawn: Integers | None) -> Integers:
    """The sources that the caller named, or those that were drawn, or all."""
    if sources is not None:
        return np.array(source_ids(graph, sources), np.int64)
    return np.arange(graph.n, dtype=np.int64) if drawn is None else drawn


def _mask(graph: Graph, targets: Any) -> npt.NDArray[np.bool_] | None:
    """True for every target; None if all vertices are targets."""
    if targets is None:
        return None
    mask = np.zeros(graph.n, np.bool_)
    mask[list(source_ids(graph, targets, "targets"))] = True
    return mask


# ------------------------------------------------------------------ runs


@dataclass(frozen=True)
class Run:
    """The engine and the plan for a betweenness job."""

    graph: Graph
    engine: Engine
    plan: Plan
    why: str
    threads: int | None

    def add_up(
        self, job: BetweennessJob, title: str, progress: Progress, checkpoint: File = None, fetch: bool = True
    ) -> tuple[Floats, Certificate]:
        """The sums of dependencies, checked; with fetch=False they may be on a device. The title is for progress."""
        run = self.engine.accumulation(self.graph, job, self.plan, self.threads)
        saved, work = None, len(job.sources) * (self.graph.n + self.graph.m)
        if checkpoint is None:
            progress = False if progress is None and work < MIN_WORK_FOR_METER else progress
        else:
            saved = Checkpoint(checkpoint, self.graph, job, f"{self.plan.name} on {self.engine.name}")
        certificate = brandes.accumulate(run, job, title, progress, saved)
        return run.total if fetch else brandes.sums_of(run), certificate

    @property
    def plan_used(self) -> PlanUsed:
        """Which plan ran, and why, for the result."""
        return PlanUsed(self.plan, self.why, self.engine.without(self.plan))


def choose_run(
    graph: Graph,
    job: BetweennessJob,
    device: str,
    plan: str | Plan,
    threads: int | None,
    executor: Executor | None = None,
) -> Run:
    """The engine and the plan that the caller names, or the best ones for the job."""
    engine = betweenness_engine(device, graph, job, plan, threads, executor)
    chosen, why = choose_betweenness_plan(plan, job, graph, engine)
    return Run(graph, engine, chosen, why, threads)
