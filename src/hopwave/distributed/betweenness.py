"""Betweenness over ranks, in two ways.

    split="sources"   Every rank has the whole graph and an equal share of the sources; the sums of all ranks are added
                      once, at the end. With epsilon=, also blocks of random pairs, whose
                      counts are added at every look (split_runs.py).
    split="graph"     Every rank has a part of the graph, and all ranks work on one batch of sources (dependencies.py):
                      for graphs that one rank cannot hold.

Both scale, sample and certify as hopwave.algorithms.brandes does, and in neither can path counts overflow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hopwave.algorithms import brandes
from hopwave.algorithms.betweenness_sampling.costs import Method
from hopwave.algorithms.draws import draw_sources
from hopwave.api.arguments import as_graph, check_hops, source_ids
from hopwave.api.betweenness import score_edges, score_vertices
from hopwave.api.betweenness_request import Precision, Request, check_request
from hopwave.api.weights import as_lengths
from hopwave.checks.numbers import check_bytes
from hopwave.distributed.dependencies import Dependencies
from hopwave.distributed.graph import DistributedGraph, choose_gpu, rank_threads
from hopwave.distributed.ranks import World, world
from hopwave.distributed.split_runs import SplitRuns
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.graph.csr import LARGEST_VERTEX_COUNT
from hopwave.results.scores import EdgeBetweennessResult
from hopwave.system.progress import Meter

ONLY_WHOLE = ("epsilon", "targets", "source_weights", "target_weights")  # need a graph that every rank has whole
BYTES_PER_VERTEX, BYTES_PER_ARC = 80, 8  # on a rank with the whole graph: rows, and one worker's state


@dataclass(frozen=True, eq=False)
class DistributedBetweennessResult:
    """A rank's share of the scores: those of its own vertices, from id `first` on.

    After a sample with the whole graph on every rank, `bounds` has one error bound per score; `pairs` and `undecided`
    are as in BetweennessResult.

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
    source_weights: Any = None,
    target_weights: Any = None,
) -> Any:
    """How many shortest paths lead through every vertex; arguments as for `hopwave.betweenness_centrality`.

    For a hopwave.Graph, which every rank must have, returns a BetweennessResult with all scores, on every rank. For a
    DistributedGraph, returns each rank's own scores; split="auto" then copies the whole graph to every rank if it fits
    into memory_limit (by default half of a rank's share of the free memory), and else leaves it in parts.
    With k= and epsilon=, `seed` must be a whole number, so that every rank draws the same sample. epsilon= needs the
    whole graph on every rank, and so do targets= and demand; a sample of paths is the same for any number of ranks, bit
    for bit. `weights` is for a hopwave.Graph; a DistributedGraph has none.

    Parameters
    ----------
    G : Graph or DistributedGraph
        The graph; a Graph must be the same on every rank.
    k, sources, normalized, endpoints, seed, targets, cutoff, source_weights, target_weights
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

    See Also
    --------
    hopwave.betweenness_centrality, bfs

    Examples
    --------
    >>> hw.distributed.betweenness_centrality(hw.generate.path(3)).scores.tolist()
    [0.0, 1.0, 0.0]
    """
    joined = world()
    sources, targets = (list(some) if isinstance(some, Iterator) else some for some in (sources, targets))
    precision = Precision(k, sources, targets, seed, epsilon, delta, method, top, source_weights, target_weights)
    about = {"normalized": bool(normalized), "endpoints": bool(endpoints), "cutoff": cutoff, "weights": weights}
    joined.agree("betweenness_centrality", G=_compared(G), **precision._asdict(), **about, split=split, device=device)
    only_whole = [name for name in ONLY_WHOLE if getattr(precision, name) is not None]

    def check() -> None:
        if split not in ("auto", "sources", "graph"):
            raise GraphError(f"split={split!r} is not known; use 'auto', 'sources' or 'graph'")
        check_bytes("memory_limit", memory_limit)
        precision.check(endpoints)
        _check_seed(joined, seed, k is not None or epsilon is not None)
        if split == "graph" and only_whole:
            raise GraphError(
                f"{only_whole[0]}= needs a graph that every rank has whole, and split='graph' leaves it in parts; "
                f"use split='sources'{', or k=' if only_whole[0] == 'epsilon' else ''}"
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
    if not distributed and split == "graph":
        raise GraphError("split='graph' needs a DistributedGraph; make one with hopwave.distributed.spread")
    if distributed and split == "auto":
        split = "sources" if only_whole or fits(G, memory_limit) else "graph"
    if split == "graph":
        return _in_parts(G, precision, bool(normalized), bool(endpoints), cutoff, progress)
    request = check_request(
        G.replicated() if distributed else graph, precision, bool(normalized), endpoints=bool(endpoints),
        cutoff=cutoff, memory_limit=memory_limit, weighted=weighted,
    )  # fmt: skip
    whole = score_vertices(request, _runs(joined, request.graph, device, threads), _shown(joined, progress))
    if not distributed:
        return whole
    mine = slice(G.first, G.first + G.own)
    bounds = None if whole.bounds is None else whole.bounds[mine].copy()
    return DistributedBetweennessResult(
        whole.scores[mine].copy(), G.first, whole.certificate, whole.sources, split, G, bounds, whole.pairs,
        whole.undecided,
    )  # fmt: skip


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
    source_weights: Any = None,
    target_weights: Any = None,
) -> EdgeBetweennessResult:
    """How many shortest paths lead over every edge of a hopwave.Graph; ranks share out the sources.

    Parameters
    ----------
    G : Graph
        The graph, the same on every rank.
    k, sources, normalized, seed, targets, cutoff, device, threads, memory_limit, progress, weights, delta
    source_weights, target_weights
        As for `hopwave.edge_betweenness_centrality`; `memory_limit` is per rank. `seed`, with k=: a whole number.

    Returns
    -------
    EdgeBetweennessResult
        All scores, on every rank.

    Raises
    ------
    GraphError
        The graph is in parts.

    See Also
    --------
    hopwave.edge_betweenness_centrality, betweenness_centrality

    Examples
    --------
    >>> hw.distributed.edge_betweenness_centrality(hw.generate.path(3), normalized=False).to_dict()
    {(0, 1): 2.0, (1, 2): 2.0}
    """
    joined = world()
    sources, targets = (list(some) if isinstance(some, Iterator) else some for some in (sources, targets))
    demand = {"source_weights": source_weights, "target_weights": target_weights}
    precision = Precision(k, sources, targets, seed, delta=delta, **demand)
    about = {"normalized": bool(normalized), "cutoff": cutoff, "device": device, "weights": weights}
    joined.agree("edge_betweenness_centrality", G=_compared(G), **precision._asdict(), **about)

    def check() -> Request:
        precision.check()
        _check_seed(joined, seed, k is not None)
        if isinstance(G, DistributedGraph):
            raise GraphError("edges are scored on a graph that every rank has whole; give every rank the hopwave.Graph")
        graph, weighted = as_lengths(G, weights)
        return check_request(
            graph, precision, bool(normalized), cutoff=cutoff, memory_limit=memory_limit, edges=True, weighted=weighted
        )

    request = joined.together(check)
    return score_edges(request, _runs(joined, request.graph, device, threads), _shown(joined, progress))


def _runs(joined: World, graph: Graph, device: str, threads: int | None) -> SplitRuns:
    """Runs that are split among all ranks, each with its share of the threads or with a GPU."""
    workers = joined.together(lambda: rank_threads(joined, device, threads))
    if device == "cuda":
        joined.together(lambda: choose_gpu(joined))
    return SplitRuns(graph, device, "auto", workers, world=joined)


def _shown(joined: World, progress: bool | None) -> bool | None:
    """Progress is shown on rank 0 alone."""
    return progress if joined.rank == 0 else False


def _check_seed(joined: World, seed: Any, sampled: bool) -> None:
    if sampled and joined.size > 1 and not isinstance(seed, int | np.integer):
        raise GraphError(f"seed={seed!r} would draw a different sample on every rank; give a whole number")


def _compared(G: Any) -> Any:
    """What ranks compare to see that they give the same graph. Other objects are refused later, on all ranks."""
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


# ------------------------------------------------------------------ a part of the graph on every rank


def _in_parts(
    G: DistributedGraph,
    precision: Precision,
    normalized: bool,
    endpoints: bool,
    cutoff: float | None,
    progress: bool | None,
) -> DistributedBetweennessResult:
    drawn, hops = draw_sources(G.n, precision.k, precision.seed), check_hops("cutoff", cutoff)
    chosen = drawn if precision.sources is None else np.array(source_ids(G, precision.sources), np.int64)
    count = G.n if chosen is None else len(chosen)
    run = Dependencies(G, hops, endpoints, count)
    both_sides = np.zeros((count, 2))
    with Meter("betweenness", count, _shown(G.world, progress)) as meter:
        for begin in range(0, count, run.width):
            end = min(begin + run.width, count)
            both_sides[begin:end] = run.add(np.arange(begin, end) if chosen is None else chosen[begin:end])
            meter.update(end)
    certificate, own, sums = brandes.certify(both_sides), len(run.total), run.total
    if drawn is not None:
        # The scale needs the size of the sample, and which own vertices are in it: one zero is appended to the sums
        # for each sampled source on another rank.
        here = drawn[(drawn >= G.first) & (drawn < G.first + own)] - G.first
        sums = np.concatenate([sums, np.zeros(len(drawn) - len(here))])
        drawn = np.concatenate([here, np.arange(own, len(sums))])
    how = {"normalized": normalized, "directed": G.directed, "endpoints": endpoints, "subset": precision.is_subset}
    scores = brandes.scale(sums, G.n, sampled=drawn, **how)[:own]
    return DistributedBetweennessResult(scores, G.first, certificate, count, "graph", G)
