"""Betweenness over ranks, in two ways.

    split="sources"   every rank has the whole graph and takes blocks of sources as it gets through with them; the sums
                      of all ranks are added up once, at the end
    split="graph"     the graph stays in parts, and all ranks work on one source at a time (paths.py): for graphs that
                      one rank cannot hold

Scales, samples and the certificate are those of hopwave.algorithms.brandes, and path counts never overflow in either.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hopwave.algorithms import brandes, sampling, scaling
from hopwave.api.arguments import as_graph, check_hops
from hopwave.api.betweenness import check_request, choose_run
from hopwave.distributed.bfs import source_ids
from hopwave.distributed.dependencies import Dependencies
from hopwave.distributed.graph import DistributedGraph, choose_gpu
from hopwave.distributed.work_queue import Dealer
from hopwave.distributed.world import World, world
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.progress import Meter
from hopwave.results.betweenness import BetweennessResult

LARGEST_WHOLE = 1 << 31  # vertices that a rank can number by itself
BYTES_A_VERTEX, BYTES_AN_ARC = 80, 8  # of a rank with the whole graph: rows, and one worker's state


@dataclass(frozen=True, eq=False)
class DistributedBetweennessResult:
    """A rank's share of the scores: those of its own vertices, from number `first` on.

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


def betweenness_centrality(
    G: Any,
    k: int | None = None,
    sources: Any = None,
    normalized: bool = True,
    endpoints: bool = False,
    seed: Any = None,
    *,
    cutoff: int | None = None,
    split: Literal["auto", "sources", "graph"] = "auto",
    device: str = "cpu",
    threads: int | None = None,
    memory_limit: int | None = None,
    progress: bool | None = None,
) -> Any:
    """How many shortest paths lead through every vertex; arguments as for `hopwave.betweenness_centrality`.

    A hopwave.Graph that every rank has gives a BetweennessResult with all scores on every rank. A DistributedGraph
    gives a rank's own scores; split="auto" then makes it whole on every rank where it fits into memory_limit (by
    default a half of a rank's share of the free memory), and else leaves it in parts.
    `seed` must be a number where sources are drawn: every rank draws them for itself.

    >>> import hopwave as hw
    >>> hw.distributed.betweenness_centrality(hw.generate.path(3)).scores.tolist()
    [0.0, 1.0, 0.0]
    """
    joined = world()

    def check() -> None:
        if split not in ("auto", "sources", "graph"):
            raise GraphError(f"split={split!r} is not known; use 'auto', 'sources' or 'graph'")
        if k is not None and joined.size > 1 and not isinstance(seed, int | np.integer):
            raise GraphError(f"seed={seed!r} would draw other sources on every rank; give a whole number")

    joined.together(check)
    scaled = Scale(normalized, endpoints)
    if not isinstance(G, DistributedGraph):
        graph = joined.together(lambda: as_graph(G))
        if split == "graph":
            raise GraphError("split='graph' takes a graph in parts; make one with hopwave.distributed.spread")
        return _by_sources(joined, graph, k, sources, seed, cutoff, scaled, device, threads, memory_limit, progress)
    if split == "auto":
        split = "sources" if fits(G, memory_limit) else "graph"
    if split == "sources":
        whole = _by_sources(
            joined, G.replicated(), k, sources, seed, cutoff, scaled, device, threads, memory_limit, progress
        )
        own = whole.scores[G.first : G.first + G.own].copy()
        return DistributedBetweennessResult(own, G.first, whole.certificate, whole.sources, split, G)
    return _in_parts(G, k, sources, seed, check_hops("cutoff", cutoff), scaled, progress)


@dataclass(frozen=True)
class Scale:
    """What the sums are made into."""

    normalized: bool
    endpoints: bool

    def of(self, sums: Any, n: int, directed: bool, drawn: Any, subset: bool) -> npt.NDArray[np.float64]:
        """Scores; drawn: the places in sums of the sources of a sample, or None."""
        how = {"normalized": self.normalized, "directed": directed, "endpoints": self.endpoints}
        return scaling.scale(sums, n, **how, sampled=drawn, subset=subset)


def fits(G: DistributedGraph, memory_limit: int | None) -> bool:
    """Whether every rank can hold the whole graph and work on it."""
    from hopwave.engines.host_memory import available_memory

    room = memory_limit
    if room is None:
        free = available_memory()
        room = None if free is None else free // (2 * G.world.near)
    need = BYTES_A_VERTEX * G.n + BYTES_AN_ARC * G.m
    able = G.n < LARGEST_WHOLE and (room is None or need <= room)
    return all(G.world.allgather(able))


def _by_sources(
    joined: World,
    graph: Graph,
    k: int | None,
    sources: Any,
    seed: Any,
    cutoff: int | None,
    scaled: Scale,
    device: str,
    threads: int | None,
    memory_limit: int | None,
    progress: bool | None,
) -> BetweennessResult:
    request = check_request(graph, k, sources, None, seed, cutoff, memory_limit, False, endpoints=scaled.endpoints)
    job = request.job
    if device == "cuda":
        joined.together(lambda: choose_gpu(joined))
    if threads is None:
        from hopwave.engines.cpu.crew import thread_count

        threads = max(1, thread_count() // joined.near)
    run = choose_run(graph, job, device, "auto", threads if device == "cpu" else None)
    total = np.zeros(graph.n)
    worst = 0.0

    def take_sources() -> None:
        nonlocal worst
        with Meter("betweenness", len(job.sources), progress if joined.rank == 0 else False) as meter:
            for begin, end in taken:
                part = replace(job, sources=job.sources[begin:end])
                sums, found = run.add_up(part, "betweenness", False)
                worst = max(worst, found.error)
                total[:] += sums
                meter.update(end)

    with Dealer(joined, len(job.sources)) as taken:
        joined.together(stopping(take_sources, taken))
    sums = joined.add_up(total)
    certificate = brandes.Certificate(max(joined.allgather(worst)), brandes.TOLERANCE, len(job.sources))
    scores = request.scores(sums, scaled.normalized)
    return BetweennessResult(scores, certificate, len(job.sources), run.plan_used, run.engine.name, None, graph)


def stopping(work: Callable[[], None], taken: Dealer) -> Callable[[], None]:
    """The same work, that lets nobody begin on another block once it has failed here."""

    def guarded() -> None:
        try:
            work()
        except Exception:
            taken.stop()
            raise

    return guarded


def _in_parts(
    G: DistributedGraph,
    k: int | None,
    sources: Any,
    seed: Any,
    cutoff: int | None,
    scaled: Scale,
    progress: bool | None,
) -> DistributedBetweennessResult:
    if k is not None and sources is not None:
        raise GraphError("k= draws sources and sources= names them; give one of the two")
    drawn = None if sources is not None else sampling.draw_sources(G.n, k, seed)
    chosen = np.array(source_ids(G, sources), np.int64) if sources is not None else drawn
    count = G.n if chosen is None else len(chosen)
    run = Dependencies(G, cutoff, scaled.endpoints)
    both_sides = np.zeros((count, 2))
    with Meter("betweenness", count, progress if G.world.rank == 0 else False) as meter:
        for number, source in enumerate(range(G.n) if chosen is None else chosen.tolist()):
            both_sides[number] = run.add(source)
            meter.update(number + 1)
    certificate = brandes.certify(both_sides)
    places = None
    if drawn is not None:
        places = drawn[(drawn >= G.first) & (drawn < G.first + G.own)] - G.first
    # The scale knows a sample by its size: it is asked about all of it, for own vertices and for the sample's own.
    scores = _scaled_part(scaled, run.total, G, drawn, places, subset=sources is not None)
    return DistributedBetweennessResult(scores, G.first, certificate, count, "graph", G)


def _scaled_part(
    scaled: Scale, sums: npt.NDArray[np.float64], G: DistributedGraph, drawn: Any, places: Any, subset: bool
) -> npt.NDArray[np.float64]:
    """The scores of own vertices. Of a sampled source on another rank only the sample's size is seen here."""
    if drawn is None:
        return scaled.of(sums, G.n, G.directed, None, subset)
    padded = np.concatenate([sums, np.zeros(len(drawn) - len(places))])
    elsewhere = np.arange(len(sums), len(padded))
    return scaled.of(padded, G.n, G.directed, np.concatenate([places, elsewhere]), subset)[: len(sums)]
