"""Betweenness over ranks, in two ways.

    split="sources"   Every rank has the whole graph, and takes blocks of sources from a queue until none is left; the
                      sums of all ranks are added once, at the end.
    split="graph"     Every rank has a part of the graph, and all ranks work on one source at a time (dependencies.py):
                      for graphs that one rank cannot hold.

Scales, samples and the certificate are those of hopwave.algorithms.brandes, and path counts overflow in neither.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hopwave.algorithms import brandes, sampling, scaling
from hopwave.api.arguments import as_graph, check_hops
from hopwave.api.betweenness import check_request, choose_run
from hopwave.api.estimates import bounds_of_sample
from hopwave.api.weights import lengths
from hopwave.distributed.bfs import source_ids
from hopwave.distributed.dependencies import Dependencies
from hopwave.distributed.graph import DistributedGraph, choose_gpu, rank_threads
from hopwave.distributed.work_queue import WorkQueue
from hopwave.distributed.world import World, world
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.progress import Meter
from hopwave.results.betweenness import BetweennessResult

MAX_WHOLE_VERTICES = 1 << 31  # a hopwave.Graph numbers its vertices with 31 bits
DELTA = 0.1  # the risk of the bounds of a sample (k=)
BYTES_PER_VERTEX, BYTES_PER_ARC = 80, 8  # on a rank with the whole graph: rows, and one worker's state


@dataclass(frozen=True, eq=False)
class DistributedBetweennessResult:
    """A rank's share of the scores: those of its own vertices, from id `first` on.

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

    def gather(self) -> npt.NDArray[np.float64] | None:
        """All scores, on rank 0; None on the others."""
        return self.graph.gather(self.scores)


@dataclass(frozen=True)
class Options:
    """The arguments of `betweenness_centrality` that both ways use."""

    k: int | None
    sources: Any
    seed: Any
    cutoff: float | None
    normalized: bool
    endpoints: bool
    progress: bool | None
    weighted: bool

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
    cutoff: float | None = None,
    split: Literal["auto", "sources", "graph"] = "auto",
    device: str = "cpu",
    threads: int | None = None,
    memory_limit: int | None = None,
    progress: bool | None = None,
    weights: Any = None,
) -> Any:
    """How many shortest paths lead through every vertex; arguments as for `hopwave.betweenness_centrality`.

    For a hopwave.Graph, which every rank must have, returns a BetweennessResult with all scores, on every rank. For a
    DistributedGraph, returns each rank's own scores; split="auto" then copies the whole graph to every rank if it fits
    into memory_limit (by default half of a rank's share of the free memory), and else leaves it in parts.
    With k=, `seed` must be a whole number, so that every rank draws the same sources; a BetweennessResult then has
    bounds that hold with probability 0.9. `weights` is for a hopwave.Graph; a DistributedGraph has none.

    Parameters
    ----------
    G : Graph or DistributedGraph
        The graph; a Graph must be the same on every rank.
    k, sources, normalized, endpoints, seed, cutoff
        As for `hopwave.betweenness_centrality`.
    split : {"auto", "sources", "graph"}, optional
        Whether ranks share out the sources, each with the whole graph, or the graph stays in parts.
    device, threads, memory_limit, progress, weights
        As for `hopwave.betweenness_centrality`; `memory_limit` is per rank.

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
    if isinstance(sources, Iterator):
        sources = list(sources)
    about = {"k": k, "sources": sources, "normalized": bool(normalized), "endpoints": bool(endpoints), "seed": seed}
    about |= {"cutoff": cutoff, "split": split, "device": device, "weights": weights}
    joined.agree("betweenness_centrality", G=_compared(G), **about)

    def check() -> None:
        if split not in ("auto", "sources", "graph"):
            raise GraphError(f"split={split!r} is not known; use 'auto', 'sources' or 'graph'")
        if k is not None and joined.size > 1 and not isinstance(seed, int | np.integer):
            raise GraphError(f"seed={seed!r} would draw different sources on every rank; give a whole number")
        if isinstance(G, DistributedGraph) and weights is not None and weights is not False:
            raise GraphError(
                "a DistributedGraph has no weights; give every rank the hopwave.Graph, or leave out weights="
            )

    joined.together(check)
    distributed = isinstance(G, DistributedGraph)
    graph, weighted = (G, False) if distributed else joined.together(lambda: lengths(G, weights))
    options = Options(k, sources, seed, cutoff, normalized, endpoints, progress, weighted)
    if not distributed:
        if split == "graph":
            raise GraphError("split='graph' needs a DistributedGraph; make one with hopwave.distributed.spread")
        return _by_sources(joined, graph, options, device, threads, memory_limit)
    if split == "auto":
        split = "sources" if fits(G, memory_limit) else "graph"
    if split == "sources":
        whole = _by_sources(joined, G.replicated(), options, device, threads, memory_limit)
        own = whole.scores[G.first : G.first + G.own].copy()
        return DistributedBetweennessResult(own, G.first, whole.certificate, whole.sources, split, G)
    return _in_parts(G, options)


def _compared(G: Any) -> Any:
    """What all ranks must have in common of a graph. What is no graph is refused later, on all ranks."""
    if isinstance(G, DistributedGraph):
        return repr(G)
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
    here = G.n < MAX_WHOLE_VERTICES and (limit is None or need <= limit)
    return all(G.world.allgather(here))


# ------------------------------------------------------------------ the whole graph on every rank


def _by_sources(
    joined: World, graph: Graph, options: Options, device: str, threads: int | None, memory_limit: int | None
) -> BetweennessResult:
    request = check_request(
        graph, options.k, options.sources, None, options.seed, options.cutoff, memory_limit, False,
        endpoints=options.endpoints, weighted=options.weighted,
    )  # fmt: skip
    job = request.job
    if device == "cuda":
        joined.together(lambda: choose_gpu(joined))
    run = choose_run(graph, job, device, "auto", rank_threads(joined, threads) if device == "cpu" else None)
    total = np.zeros(graph.n)
    worst = 0.0

    def take_blocks() -> None:
        nonlocal worst
        with options.meter(joined, len(job.sources)) as meter:
            for begin, end in queue:
                block = replace(job, sources=job.sources[begin:end])
                sums, found = run.add_up(block, "betweenness", False)
                worst = max(worst, found.error)
                total[:] += sums
                meter.update(end)

    with WorkQueue(joined, len(job.sources)) as queue:
        joined.together(_stopping(take_blocks, queue))
    sums = joined.allreduce(total)
    certificate = brandes.Certificate(max(joined.allgather(worst)), brandes.TOLERANCE, len(job.sources))
    scores = request.scores(sums, options.normalized)
    sampled, count = options.k is not None, len(job.sources)
    bounds = bounds_of_sample(graph, job, sums, run.engine, DELTA, options.normalized) if sampled else None
    risk = DELTA if sampled else None
    return BetweennessResult(scores, certificate, count, run.plan_used, run.engine.name, bounds, graph, delta=risk)


def _stopping(work: Callable[[], None], queue: WorkQueue) -> Callable[[], None]:
    """The same work; if it fails on this rank, the queue gives no rank another block."""

    def guarded() -> None:
        try:
            work()
        except Exception:
            queue.stop()
            raise

    return guarded


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
