"""Betweenness over ranks, in two ways.

    split="sources"   Every rank has the whole graph, and takes blocks of sources from a queue until none is left; the
                      sums of all ranks are added once, at the end. With epsilon=, also blocks of random pairs, whose
                      counts are added at every look (split_runs.py).
    split="graph"     Every rank has a part of the graph, and all ranks work on one source at a time (dependencies.py):
                      for graphs that one rank cannot hold.

Scales, samples and the certificate are those of hopwave.algorithms.brandes, and path counts overflow in neither.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hopwave.algorithms import brandes, sampling, scaling
from hopwave.algorithms.method import Method
from hopwave.api import estimates
from hopwave.api.arguments import as_graph, check_bytes, check_hops, check_risk
from hopwave.api.betweenness import Request, check_request, choose_run, edge_result
from hopwave.api.estimates import Estimate, bounds_of_sample, check_epsilon, check_method, estimated
from hopwave.api.weights import as_lengths
from hopwave.distributed.bfs import source_ids
from hopwave.distributed.dependencies import Dependencies
from hopwave.distributed.graph import DistributedGraph, choose_gpu, rank_threads
from hopwave.distributed.split_runs import SplitPaths, SplitSources
from hopwave.distributed.world import World, world
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.graph.csr import LARGEST_VERTEX_COUNT
from hopwave.planning.jobs import SampleJob
from hopwave.results.betweenness import BetweennessResult, EdgeBetweennessResult
from hopwave.system.progress import Meter

BYTES_PER_VERTEX, BYTES_PER_ARC = 80, 8  # on a rank with the whole graph: rows, and one worker's state


@dataclass(frozen=True, eq=False)
class DistributedBetweennessResult:
    """A rank's share of the scores: those of its own vertices, from id `first` on.

    After a sample with the whole graph on every rank, `bounds` are those of the same vertices; `pairs` and `undecided`
    are as in BetweennessResult.

    >>> from hopwave import distributed
    >>> distributed.betweenness_centrality(distributed.from_edges([0, 1], [1, 2])).scores.tolist()
    [0.0, 1.0, 0.0]
    """

    scores: npt.NDArray[np.float64]
    first: int
    certificate: brandes.Certificate
    sources: int
    split: str
    graph: DistributedGraph = field(repr=False)
    bounds: npt.NDArray[np.float64] | None = field(default=None, repr=False)
    pairs: int | None = None
    undecided: list[Any] | None = field(default=None, repr=False)

    def gather(self) -> npt.NDArray[np.float64] | None:
        """All scores, on rank 0; None on the others."""
        return self.graph.gather(self.scores)


@dataclass(frozen=True)
class Options:
    """The arguments of `betweenness_centrality` that both ways use."""

    k: int | None
    sources: Any
    targets: Any
    seed: Any
    cutoff: float | None
    normalized: bool
    endpoints: bool
    progress: bool | None
    weighted: bool
    epsilon: float | None
    delta: float
    method: Method
    top: int | None

    def scores(self, sums: Any, n: int, directed: bool, drawn: Any) -> npt.NDArray[np.float64]:
        """Sums as scores; drawn: the positions in sums of a sample's sources, or None."""
        how = {"normalized": self.normalized, "directed": directed, "endpoints": self.endpoints}
        return scaling.scale(sums, n, **how, sampled=drawn, subset=self.sources is not None)

    def meter(self, joined: World, total: int) -> Meter:
        """The progress of this rank's work, shown on rank 0 alone."""
        return Meter("betweenness", total, self.progress if joined.rank == 0 else False)


def betweenness_centrality(
    G: Any,
    k: int | None = None,
    sources: Any = None,
    normalized: bool = True,
    endpoints: bool = False,
    seed: Any = None,
    *,
    targets: Any = None,
    cutoff: float | None = None,
    split: Literal["auto", "sources", "graph"] = "auto",
    device: str = "cpu",
    threads: int | None = None,
    memory_limit: int | None = None,
    progress: bool | None = None,
    weights: Any = None,
    epsilon: float | None = None,
    delta: float = 0.1,
    method: Method = "auto",
    top: int | None = None,
) -> Any:
    """How many shortest paths lead through every vertex; arguments as for `hopwave.betweenness_centrality`.

    For a hopwave.Graph, which every rank must have, returns a BetweennessResult with all scores, on every rank. For a
    DistributedGraph, returns each rank's own scores; split="auto" then copies the whole graph to every rank if it fits
    into memory_limit (by default half of a rank's share of the free memory), and else leaves it in parts.
    With k= and epsilon=, `seed` must be a whole number, so that every rank draws the same sample. epsilon= needs the
    whole graph on every rank, and so does targets=; a sample of paths is the same for any number of ranks, bit for bit.
    `weights` is for a hopwave.Graph; a DistributedGraph has none.

    Parameters
    ----------
    G : Graph or DistributedGraph
        The graph; a Graph must be the same on every rank.
    k, sources, normalized, endpoints, seed, targets, cutoff
        As for `hopwave.betweenness_centrality`.
    split : {"auto", "sources", "graph"}, optional
        Whether ranks share out the sources, each with the whole graph, or the graph stays in parts.
    device, threads, memory_limit, progress, weights, epsilon, delta, method, top
        As for `hopwave.betweenness_centrality`; `memory_limit` is per rank. A graph that stays in parts is computed
        with one CPU thread per rank.

    Returns
    -------
    BetweennessResult or DistributedBetweennessResult
        All scores on every rank for a Graph, each rank's own for a DistributedGraph.

    Raises
    ------
    GraphError
        If an argument has a value that it cannot have, or ranks give different ones.

    See Also
    --------
    hopwave.betweenness_centrality, bfs

    Examples
    --------
    >>> import hopwave as hw
    >>> hw.distributed.betweenness_centrality(hw.generate.path(3)).scores.tolist()
    [0.0, 1.0, 0.0]
    """
    joined = world()
    sources, targets = (list(some) if isinstance(some, Iterator) else some for some in (sources, targets))
    about = {"k": k, "sources": sources, "normalized": bool(normalized), "endpoints": bool(endpoints), "seed": seed}
    about |= {"targets": targets}
    about |= {"cutoff": cutoff, "split": split, "device": device, "weights": weights}
    about |= {"epsilon": epsilon, "delta": delta, "method": method, "top": top}
    joined.agree("betweenness_centrality", G=_compared(G), **about)

    def check() -> None:
        if split not in ("auto", "sources", "graph"):
            raise GraphError(f"split={split!r} is not known; use 'auto', 'sources' or 'graph'")
        check_risk(delta)
        check_bytes("memory_limit", memory_limit)
        check_method(method, top, epsilon, k)
        if epsilon is not None:
            check_epsilon(epsilon, k, sources, targets, endpoints, None, method, seed)
        _check_seed(joined, seed, k is not None or epsilon is not None)
        for name, given, instead in (("epsilon", epsilon, ", or k="), ("targets", targets, "")):
            if given is not None and split == "graph":
                raise GraphError(
                    f"{name}= needs a graph that every rank has whole, and split='graph' leaves it in parts; "
                    f"use split='sources'{instead}"
                )
        if split == "graph" and (threads is not None or device == "cuda"):
            raise GraphError(
                "split='graph' computes with one CPU thread per rank; leave out threads= and device=, or use "
                "split='sources'"
            )
        if isinstance(G, DistributedGraph) and weights is not None and weights is not False:
            raise GraphError(
                "a DistributedGraph has no weights; give every rank the hopwave.Graph, or leave out weights="
            )

    joined.together(check)
    distributed = isinstance(G, DistributedGraph)
    graph, weighted = (G, False) if distributed else joined.together(lambda: as_lengths(G, weights))
    options = Options(
        k, sources, targets, seed, cutoff, bool(normalized), bool(endpoints), progress, weighted, epsilon, delta,
        method, top,
    )  # fmt: skip
    if not distributed:
        if split == "graph":
            raise GraphError("split='graph' needs a DistributedGraph; make one with hopwave.distributed.spread")
        return _by_sources(joined, graph, options, device, threads, memory_limit)
    if split == "auto":
        whole_only = epsilon is not None or targets is not None
        split = "sources" if whole_only or fits(G, memory_limit) else "graph"
    if split == "sources":
        whole = _by_sources(joined, G.replicated(), options, device, threads, memory_limit)
        mine = slice(G.first, G.first + G.own)
        bounds = None if whole.bounds is None else whole.bounds[mine].copy()
        return DistributedBetweennessResult(
            whole.scores[mine].copy(), G.first, whole.certificate, whole.sources, split, G, bounds, whole.pairs,
            whole.undecided,
        )  # fmt: skip
    return _in_parts(G, options)


def edge_betweenness_centrality(
    G: Any,
    k: int | None = None,
    sources: Any = None,
    normalized: bool = True,
    seed: Any = None,
    *,
    targets: Any = None,
    cutoff: float | None = None,
    device: str = "cpu",
    threads: int | None = None,
    memory_limit: int | None = None,
    progress: bool | None = None,
    weights: Any = None,
    delta: float = 0.1,
) -> EdgeBetweennessResult:
    """How many shortest paths lead over every edge of a hopwave.Graph; ranks share out the sources.

    Parameters
    ----------
    G : Graph
        The graph, the same on every rank.
    k, sources, normalized, seed, targets, cutoff, device, threads, memory_limit, progress, weights, delta
        As for `hopwave.edge_betweenness_centrality`; `memory_limit` is per rank. `seed`, with k=: a whole number.

    Returns
    -------
    EdgeBetweennessResult
        All scores, on every rank.

    Raises
    ------
    GraphError
        If an argument has a value that it cannot have, ranks give different ones, or the graph is in parts.

    See Also
    --------
    hopwave.edge_betweenness_centrality, betweenness_centrality

    Examples
    --------
    >>> import hopwave as hw
    >>> hw.distributed.edge_betweenness_centrality(hw.generate.path(3), normalized=False).to_dict()
    {(0, 1): 2.0, (1, 2): 2.0}
    """
    joined = world()
    sources, targets = (list(some) if isinstance(some, Iterator) else some for some in (sources, targets))
    about = {"k": k, "sources": sources, "targets": targets, "normalized": bool(normalized), "seed": seed}
    about |= {"cutoff": cutoff, "device": device, "weights": weights, "delta": delta}
    joined.agree("edge_betweenness_centrality", G=_compared(G), **about)

    def check() -> Request:
        check_risk(delta)
        _check_seed(joined, seed, k is not None)
        if isinstance(G, DistributedGraph):
            raise GraphError("edges are scored on a graph that every rank has whole; give every rank the hopwave.Graph")
        graph, weighted = as_lengths(G, weights)
        return check_request(
            graph, k, sources, targets, seed, cutoff, memory_limit, False, edges=True, weighted=weighted
        )

    request = joined.together(check)
    workers = joined.together(lambda: rank_threads(joined, device, threads))
    if device == "cuda":
        joined.together(lambda: choose_gpu(joined))
    run = SplitSources(joined, choose_run(request.graph, request.job, device, "auto", workers))
    shown = progress if joined.rank == 0 else False
    found = run.add_up(request.job, "edge betweenness", shown)
    return edge_result(request, run, found, None if k is None else delta, normalized)


def _check_seed(joined: World, seed: Any, sampled: bool) -> None:
    if sampled and joined.size > 1 and not isinstance(seed, int | np.integer):
        raise GraphError(f"seed={seed!r} would draw a different sample on every rank; give a whole number")


def _compared(G: Any) -> Any:
    """What all ranks must have in common of a graph. What is no graph is refused later, on all ranks."""
    if isinstance(G, DistributedGraph):
        return G.named
    try:
        return as_graph(G)
    except GraphError:
        return type(G).__name__


def fits(G: DistributedGraph, memory_limit: int | None) -> bool:
    """Whether every rank can hold the whole graph and work on it."""
    from hopwave.engines.host_memory import available_memory

    limit = memory_limit
    if limit is None:
        free = available_memory()
        limit = None if free is None else free // (2 * G.world.machine_size)
    need = BYTES_PER_VERTEX * G.n + BYTES_PER_ARC * G.m
    here = G.n <= LARGEST_VERTEX_COUNT and (limit is None or need <= limit)
    return all(G.world.allgather(here))


# ------------------------------------------------------------------ the whole graph on every rank


def _by_sources(
    joined: World, graph: Graph, options: Options, device: str, threads: int | None, memory_limit: int | None
) -> BetweennessResult:
    request = check_request(
        graph, options.k, options.sources, options.targets, options.seed, options.cutoff, memory_limit, False,
        endpoints=options.endpoints, weighted=options.weighted,
    )  # fmt: skip
    job = request.job
    workers = joined.together(lambda: rank_threads(joined, device, threads))
    if device == "cuda":
        joined.together(lambda: choose_gpu(joined))

    def sourced(squares: bool) -> SplitSources:
        return SplitSources(joined, choose_run(graph, replace(job, squares=squares), device, "auto", workers))

    progress = options.progress if joined.rank == 0 else False
    if options.epsilon is not None:
        drawn = joined.together(lambda: estimates.choose_path_run(graph, job, device, workers))

        def begin(pairs: SampleJob) -> SplitPaths:
            return SplitPaths(joined, joined.together(lambda: drawn.begin(pairs)))

        asked = Estimate(
            graph, job, options.epsilon, options.delta, options.method, options.top, options.seed, options.normalized
        )
        return estimated(asked, sourced, lambda: replace(drawn, begin=begin), "auto", progress, None)
    run, sampled = sourced(False), options.k is not None
    if sampled:
        job = estimates.with_squares(job, run.engine, run.run.plan)
    sums, certificate = run.add_up(job, "betweenness", progress)
    scores = request.scores(sums[: graph.n], options.normalized)
    count = len(job.sources)
    bounds = bounds_of_sample(graph, job, sums, run.engine, options.delta, options.normalized) if sampled else None
    risk = options.delta if sampled else None
    return BetweennessResult(scores, certificate, count, run.plan_used, run.engine.name, bounds, graph, delta=risk)


# ------------------------------------------------------------------ a part of the graph on every rank


def _in_parts(G: DistributedGraph, options: Options) -> DistributedBetweennessResult:
    cutoff = check_hops("cutoff", options.cutoff)
    if options.k is not None and options.sources is not None:
        raise GraphError("k= draws sources and sources= names them; give one of the two")
    drawn = None if options.sources is not None else sampling.draw_sources(G.n, options.k, options.seed)
    chosen = drawn if options.sources is None else np.array(source_ids(G, options.sources), np.int64)
    count = G.n if chosen is None else len(chosen)
    run = Dependencies(G, cutoff, options.endpoints)
    both_sides = np.zeros((count, 2))
    with options.meter(G.world, count) as meter:
        for number, source in enumerate(range(G.n) if chosen is None else chosen.tolist()):
            both_sides[number] = run.add(source)
            meter.update(number + 1)
    certificate = brandes.certify(both_sides)
    scores = _own_scores(G, options, run.total, drawn)
    return DistributedBetweennessResult(scores, G.first, certificate, count, "graph", G)


def _own_scores(
    G: DistributedGraph, options: Options, sums: npt.NDArray[np.float64], drawn: Any
) -> npt.NDArray[np.float64]:
    """The scores of own vertices.

    The scale needs the size of the sample, and which own vertices are in it. Sources on other ranks are stood in for by
    zeros after the sums.
    """
    if drawn is None:
        return options.scores(sums, G.n, G.directed, None)
    own = drawn[(drawn >= G.first) & (drawn < G.first + G.own)] - G.first
    padded = np.concatenate([sums, np.zeros(len(drawn) - len(own))])
    elsewhere = np.arange(len(sums), len(padded))
    return options.scores(padded, G.n, G.directed, np.concatenate([own, elsewhere]))[: len(sums)]
