"""Betweenness centrality of vertices and edges: check what was asked, choose, run, scale, wrap."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.algorithms import brandes as _brandes
from hopwave.algorithms import sampling, scaling
from hopwave.algorithms.checkpoint import Checkpoint
from hopwave.api.arguments import as_graph, hops, is_whole, source_ids, to_input_device
from hopwave.api.choice import betweenness_engine, choose_betweenness_plan
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.jobs import Job, Progress
from hopwave.plan import Plan, PlanUsed
from hopwave.results.betweenness import BetweennessResult, EdgeBetweennessResult


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
    cutoff: int | None = None,
    threads: int | None = None,
    memory_limit: int | None = None,
    deterministic: bool = False,
) -> BetweennessResult:
    """How many shortest paths lead through every vertex, as NetworkX 3.6.1 counts and scales them.

    All sources by default. `k` draws that many as NetworkX does with the same `seed`, and scales up. `sources` and
    `targets` look at paths between those alone (NetworkX's `betweenness_centrality_subset`). `epsilon` draws sources
    until every normalised score is within ±epsilon with probability 1 − delta; `result.bounds` then holds what each
    score is known to. `cutoff` counts paths of up to that many hops. `endpoints` counts a path's ends too.

    `progress` is None (a bar on a terminal after two seconds), True, False, or a function of (sources done, all).
    `checkpoint` names a file that the run writes every minute and on Ctrl-C, and goes on from when called again; the
    result is the same, bit for bit. `memory_limit` is in bytes. `threads` changes no bit either. `deterministic=True`
    refuses what may give other bits on the next run: TurboBC's atomics, and on a GPU ways that depend on free memory.

    Path counts never overflow, whatever the graph; every result carries a certificate.

    >>> import hopwave as hw
    >>> b = hw.betweenness_centrality(hw.generate.path(5), normalized=False)
    >>> b.scores.tolist(), b.certificate.error
    ([0.0, 3.0, 4.0, 3.0, 0.0], 0.0)
    """
    graph = as_graph(G)
    n = graph.n
    if epsilon is not None and not (k is None and sources is None and targets is None and not endpoints):
        raise GraphError(
            "epsilon= draws its own sample; leave out k, sources, targets and endpoints, or leave out epsilon"
        )
    if epsilon is not None and checkpoint is not None:
        raise GraphError("an adaptive sample (epsilon=) cannot be checkpointed; use k= with checkpoint=")
    sampling.check_risk(delta)
    job, drawn, subset = betweenness_job(graph, k, sources, targets, seed, cutoff, memory_limit, deterministic)
    endpoints = bool(endpoints)
    job = replace(job, endpoints=endpoints)
    engine = betweenness_engine(device, graph, job, plan, threads)
    if epsilon is not None:
        exact = replace(job, squares=True)
        chosen, why = choose_betweenness_plan(plan, exact, graph, engine)
        mean, bounds, count, certificate = sampling.adaptive(
            lambda sample: engine.accumulation(graph, sample, chosen, threads), n, epsilon, delta, seed, job, progress
        )
        pairs = 1.0 if normalized else (n - 1) * (n - 2) / (1 if graph.directed else 2)
        scores, bounds = mean * pairs, bounds * pairs
    else:
        chosen, why = choose_betweenness_plan(plan, job, graph, engine)
        run = engine.accumulation(graph, job, chosen, threads)
        saved = None if checkpoint is None else Checkpoint(checkpoint, graph, job, f"{chosen.name} on {engine.name}")
        certificate = _brandes.accumulate(run, job, "betweenness", progress, saved)
        bounds, count = None, len(job.sources)
        if subset:
            scores = scaling.scale_subset(
                run.total, n, normalized=normalized, directed=graph.directed, endpoints=endpoints
            )
        else:
            scores = scaling.scale(
                run.total, n, normalized=normalized, directed=graph.directed, endpoints=endpoints, sampled=drawn
            )
    scores, bounds = (to_input_device(graph, engine, array) for array in (scores, bounds))
    return BetweennessResult(
        scores, certificate, count, PlanUsed(chosen, why, engine.without(chosen)), engine.name, bounds, graph
    )


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
    cutoff: int | None = None,
    threads: int | None = None,
    memory_limit: int | None = None,
    deterministic: bool = False,
) -> EdgeBetweennessResult:
    """How many shortest paths lead over every edge; arguments as for `betweenness_centrality`.

    With `targets` the answer is the definition's; NetworkX's `edge_betweenness_centrality_subset` differs from it for
    paths that pass through vertices that are no targets.

    >>> import hopwave as hw
    >>> hw.edge_betweenness_centrality(hw.generate.path(4), normalized=False).to_dict()
    {(0, 1): 3.0, (1, 2): 4.0, (2, 3): 3.0}
    """
    graph = as_graph(G)
    job, drawn, subset = betweenness_job(graph, k, sources, targets, seed, cutoff, memory_limit, deterministic)
    job = replace(job, edges=True)
    engine = betweenness_engine(device, graph, job, plan, threads)
    chosen, why = choose_betweenness_plan(plan, job, graph, engine)
    run = engine.accumulation(graph, job, chosen, threads)
    saved = None if checkpoint is None else Checkpoint(checkpoint, graph, job, f"{chosen.name} on {engine.name}")
    certificate = _brandes.accumulate(run, job, "edge betweenness", progress, saved)
    source = np.repeat(np.arange(graph.n, dtype=np.int32), graph.degrees)
    sums = run.total if graph.directed else run.total + reverse_arcs(graph, run.total)
    if subset:
        scores = scaling.scale_subset(sums, graph.n, normalized=normalized, directed=graph.directed, endpoints=True)
    else:
        scores = scaling.scale(
            sums, graph.n, normalized=normalized, directed=graph.directed, endpoints=True, sampled=drawn
        )
    return EdgeBetweennessResult(
        to_input_device(graph, engine, scores),
        (to_input_device(graph, engine, source), to_input_device(graph, engine, graph.indices)),
        certificate,
        len(job.sources),
        PlanUsed(chosen, why, engine.without(chosen)),
        engine.name,
        graph,
    )


def betweenness_job(
    graph: Graph,
    k: int | None,
    sources: Any,
    targets: Any,
    seed: Any,
    cutoff: int | None,
    memory_limit: int | None,
    deterministic: bool,
) -> tuple[Job, npt.NDArray[np.int64] | None, bool]:
    """The job, the sources drawn by k (None for all), and whether sources or targets were chosen by the caller."""
    if k is not None and sources is not None:
        raise GraphError("k= draws sources and sources= names them; give one of the two")
    if memory_limit is not None and (not is_whole(memory_limit) or memory_limit <= 0):
        raise GraphError(f"memory_limit={memory_limit!r} is not a number of bytes; give a whole number, or None")
    subset = sources is not None or targets is not None
    if subset and k is not None:
        raise GraphError("k= samples all pairs and targets= chooses some; give sources= with targets=")
    drawn = None if subset else sampling.draw_sources(graph.n, k, seed)
    if sources is not None:
        chosen = np.array(source_ids(graph, sources), np.int64)
    else:
        chosen = np.arange(graph.n, dtype=np.int64) if drawn is None else drawn
    mask = None
    if targets is not None:
        mask = np.zeros(graph.n, np.bool_)
        mask[list(source_ids(graph, targets, "targets"))] = True
    limit = hops("cutoff", cutoff)
    return Job(chosen, mask, limit, memory_limit=memory_limit, deterministic=deterministic), drawn, subset


def reverse_arcs(graph: Graph, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """For every arc of an undirected graph the value of its reverse.

    The arcs sorted by (target, source) are the reverses in the order of the arcs themselves.
    """
    source = np.repeat(np.arange(graph.n, dtype=np.int32), graph.degrees)
    return values[np.lexsort((source, graph.indices))]
