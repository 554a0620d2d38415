"""Betweenness over ranks, with the scaling, sampling and certificates of hopwave.algorithms.brandes.

split="sources"   Every rank stores the full graph and computes a share of the sources, or of the random pairs
split="graph"     Every rank stores a part of the graph, and all ranks compute one batch of sources (dependencies.py)
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hopwave.algorithms import brandes
from hopwave.algorithms.betweenness_sampling.costs import Method
from hopwave.algorithms.betweenness_sampling.paths import PathRun
from hopwave.algorithms.brandes import SourceRun
from hopwave.algorithms.draws import draw_sources
from hopwave.api.arguments import as_graph, check_hops, source_ids
from hopwave.api.betweenness import scored
from hopwave.api.betweenness_request import Precision, Runs, check_request
from hopwave.api.weights import as_lengths
from hopwave.checks.numbers import check_bytes
from hopwave.checks.options import one_of
from hopwave.distributed.dependencies import Dependencies
from hopwave.distributed.graph import DistributedGraph, rank_threads
from hopwave.distributed.ranks import World, world
from hopwave.engines.host_memory import available_memory
from hopwave.errors import GraphError
from hopwave.executors.deal import source_block
from hopwave.graph import Graph
from hopwave.graph.csr import LARGEST_VERTEX_COUNT
from hopwave.planning.jobs import Accumulation, BetweennessJob, PathSampling, SampleJob
from hopwave.planning.plan import Plan
from hopwave.results.scores import EdgeBetweennessResult
from hopwave.system.progress import Meter

ONLY_WHOLE = ("epsilon", "targets", "source_weights", "target_weights")  # need the full graph on every rank
BYTES_PER_VERTEX, BYTES_PER_ARC = 80, 8  # on a rank with the full graph: adjacency lists, and one worker's state
ROUNDS = 4  # maximum rounds of a run: each ends with an exchange, in which ranks also report errors
LEAST_BLOCK = 16  # minimum sources of a block, because an engine allocates arrays for each block


@dataclass(frozen=True, eq=False)
class DistributedBetweennessResult:
    """A rank's share of the scores: one per own vertex, starting with id `first`.

    After sampling with the full graph on every rank, `bounds` has one error bound per score; `pairs` and `undecided`
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
        """All scores on rank 0; None on other ranks."""
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
    """Betweenness centrality of every vertex, computed by all ranks, as `hopwave.betweenness_centrality` defines it.

    `weights`, `epsilon`, `targets` and demand need the full graph on every rank. With k= and epsilon=, `seed` must be
    an integer, so that every rank draws the same sample. A sample of paths is bitwise identical for any number of
    ranks.

    Parameters
    ----------
    G : Graph or DistributedGraph
        The graph; a Graph must be the same on every rank. A DistributedGraph has no weights.
    k, sources, normalized, endpoints, seed, targets, cutoff, source_weights, target_weights
    device, threads, memory_limit, progress, weights, epsilon, delta, method, top
        As in `hopwave.betweenness_centrality`; `memory_limit` is per rank.
    split : {"auto", "sources", "graph"}, optional
        "sources": every rank stores the full graph and computes a share of the sources. "graph": a DistributedGraph
        stays split, and every rank computes with one CPU thread. "auto" copies a DistributedGraph to every rank if it
        fits into `memory_limit` (by default half of a rank's share of the free memory).

    Returns
    -------
    BetweennessResult or DistributedBetweennessResult
        For a Graph, all scores on every rank; for a DistributedGraph, each rank's own scores.

    Examples
    --------
    >>> hw.distributed.betweenness_centrality(hw.generate.path(3)).scores.tolist()
    [0.0, 1.0, 0.0]
    """
    in_parts = isinstance(G, DistributedGraph)
    precision = Precision(k, sources, targets, seed, epsilon, delta, method, top, source_weights, target_weights)
    about: dict[str, Any] = {"normalized": bool(normalized), "endpoints": bool(endpoints), "cutoff": cutoff}
    only_whole = [name for name in ONLY_WHOLE if getattr(precision, name) is not None]

    def check() -> None:
        one_of("split", split, ("auto", "sources", "graph"))
        check_bytes("memory_limit", memory_limit)
        if split == "graph" and only_whole:
            reason = f"{only_whole[0]}= needs the full graph on every rank, so it cannot be combined with split='graph'"
            raise GraphError(f"{reason}; use split='sources'{', or k=' if only_whole[0] == 'epsilon' else ''}")
        if split == "graph" and (threads is not None or device == "cuda"):
            problem = "split='graph' computes with one CPU thread per rank"
            raise GraphError(f"{problem}; omit threads= and device=, or use split='sources'")
        if in_parts and weights is not None and weights is not False:
            raise GraphError("a DistributedGraph has no weights; pass a hopwave.Graph on every rank, or omit weights=")
        if split == "graph" and not in_parts:
            raise GraphError("split='graph' needs a DistributedGraph; create one with hopwave.distributed.spread")

    call = "betweenness_centrality"
    joined, precision, graph, weighted = _begun(call, G, precision, weights, check, about, split=split, device=device)
    if split == "graph" or (in_parts and split == "auto" and not only_whole and not fits(G, memory_limit)):
        return _of_parts(G, precision, progress, **about)
    whole = graph.replicated() if in_parts else graph
    about |= {"memory_limit": memory_limit, "weighted": weighted}
    found = _scored(joined, whole, precision, about, device, threads, progress)
    if not in_parts:
        return found
    mine = slice(G.first, G.first + G.own)
    bounds = None if found.bounds is None else found.bounds[mine].copy()
    return DistributedBetweennessResult(
        found.scores[mine].copy(), G.first, found.certificate, found.sources, "sources", G, bounds, found.pairs,
        found.undecided,
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
    """Edge betweenness centrality of a hopwave.Graph; sources are split over ranks, and every rank gets all scores.

    Parameters
    ----------
    G : Graph
        The graph, the same on every rank.
    k, sources, normalized, seed, targets, cutoff, device, threads, memory_limit, progress, weights, delta
    source_weights, target_weights
        As in `hopwave.edge_betweenness_centrality`; `memory_limit` is per rank. With k=, `seed` must be an integer.

    Raises
    ------
    GraphError
        The graph is a DistributedGraph.

    Examples
    --------
    >>> hw.distributed.edge_betweenness_centrality(hw.generate.path(3), normalized=False).to_dict()
    {(0, 1): 2.0, (1, 2): 2.0}
    """
    demand = {"source_weights": source_weights, "target_weights": target_weights}
    precision = Precision(k, sources, targets, seed, delta=delta, **demand)
    about: dict[str, Any] = {"normalized": bool(normalized), "cutoff": cutoff}

    def check() -> None:
        if isinstance(G, DistributedGraph):
            raise GraphError("edge betweenness needs the full graph; pass the hopwave.Graph on every rank")

    call = "edge_betweenness_centrality"
    joined, precision, graph, weighted = _begun(call, G, precision, weights, check, about, device=device)
    about |= {"memory_limit": memory_limit, "edges": True, "weighted": weighted}
    found: EdgeBetweennessResult = _scored(joined, graph, precision, about, device, threads, progress)
    return found


def _begun(
    call: str, G: Any, given: Precision, weights: Any, check: Callable[[], None], about: dict[str, Any], **more: Any
) -> tuple[World, Precision, Any, bool]:
    """The ranks after they agreed on the call, the checked arguments, the graph, and whether it is weighted."""
    joined = world()
    lists: dict[str, Any] = {name: list(some) for name, some in given._asdict().items() if isinstance(some, Iterator)}
    precision = given._replace(**lists)
    joined.agree(call, G=_compared(G), **precision._asdict(), **about, weights=weights, **more)
    seed, sampled = precision.seed, precision.k is not None or precision.epsilon is not None

    def checked() -> tuple[Any, bool]:
        precision.check(about.get("endpoints", False))
        check()
        if sampled and joined.size > 1 and not isinstance(seed, int | np.integer):
            raise GraphError(f"seed={seed!r} would draw a different sample on every rank; pass an integer")
        return (G, False) if isinstance(G, DistributedGraph) else as_lengths(G, weights)

    graph, weighted = joined.together(checked)
    return joined, precision, graph, weighted


def _compared(G: Any) -> Any:
    """The key by which ranks check that they pass the same graph. Other objects are rejected later, on all ranks."""
    if isinstance(G, DistributedGraph):
        return G.named
    try:
        return as_graph(G)
    except GraphError:
        return type(G).__name__


def fits(G: DistributedGraph, memory_limit: int | None) -> bool:
    """Whether the full graph and its working memory fit on every rank."""
    free = available_memory()
    limit = memory_limit if memory_limit is not None or free is None else free // (2 * G.world.machine_size)
    need = BYTES_PER_VERTEX * G.n + BYTES_PER_ARC * G.m
    here = G.n <= LARGEST_VERTEX_COUNT and (limit is None or need <= limit)
    return all(G.world.allgather(here))


def _of_parts(
    G: DistributedGraph, precision: Precision, progress: bool | None, normalized: bool, endpoints: bool, cutoff: Any
) -> DistributedBetweennessResult:
    drawn, hops = draw_sources(G.n, precision.k, precision.seed), check_hops("cutoff", cutoff)
    chosen = drawn if precision.sources is None else np.array(source_ids(G, precision.sources), np.int64)
    count = G.n if chosen is None else len(chosen)
    run = Dependencies(G, hops, endpoints, count)
    both_sides = np.zeros((count, 2))
    with Meter("betweenness", count, progress if G.world.rank == 0 else False) as meter:
        for begin in range(0, count, run.width):
            end = min(begin + run.width, count)
            both_sides[begin:end] = run.add(np.arange(begin, end) if chosen is None else chosen[begin:end])
            meter.update(end)
    certificate, own, sums = brandes.certify(both_sides), len(run.total), run.total
    if drawn is not None:
        # Scaling needs the size of the sample and its own vertices: one zero is appended to the sums
        # for each sampled source on another rank.
        here = drawn[(drawn >= G.first) & (drawn < G.first + own)] - G.first
        sums = np.concatenate([sums, np.zeros(len(drawn) - len(here))])
        drawn = np.concatenate([here, np.arange(own, len(sums))])
    how = {"normalized": normalized, "directed": G.directed, "endpoints": endpoints, "subset": precision.is_subset}
    scores = brandes.scale(sums, G.n, sampled=drawn, **how)[:own]
    return DistributedBetweennessResult(scores, G.first, certificate, count, "graph", G)


# ------------------------------------------------------------------ the full graph on every rank
#
# Every rank computes a block in each of a few rounds, and ranks exchange their errors after each round. Then every rank
# gets the sums over all ranks, so that all stop at the same point.


def _scored(
    joined: World, graph: Graph, precision: Precision, about: dict[str, Any], device: str, threads: int | None,
    progress: bool | None,
) -> Any:  # fmt: skip
    request = joined.together(lambda: check_request(graph, precision, **about))
    workers = joined.together(lambda: rank_threads(joined, device, threads))
    runs = SplitRuns(graph, device, "auto", workers, world=joined)
    return scored(request, runs, progress if joined.rank == 0 else False)


@dataclass(kw_only=True)
class SplitRuns(Runs):
    """Runs whose sources, batches or pairs are split among all ranks."""

    world: World

    def over_sources(self, job: BetweennessJob) -> SourceRun:
        run = Runs.over_sources(self, job)
        return replace(run, engine=SplitEngine(run.engine, self.world))

    def over_batches(self, graph: Graph, job: BetweennessJob, run: Any) -> Accumulation:
        return SplitSums(self.world, run.blocks, run.batches, run.total, run.certificate, self.threads or 1, run.size)

    def over_paths(self, job: BetweennessJob) -> PathRun:
        run = self.world.together(lambda: Runs.over_paths(self, job))
        return replace(run, engine=SplitEngine(run.engine, self.world))


class SplitEngine:
    """See hopwave.engines.Engine. Betweenness is split among all ranks; `engine` computes everything else."""

    def __init__(self, engine: Any, world: World) -> None:
        self.engine, self.world = engine, world

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)

    def accumulation(self, graph: Graph, job: BetweennessJob, plan: Plan, threads: int | None = None) -> Accumulation:
        count, certificate = len(job.sources), np.zeros((len(job.sources), 2))

        def part(begin: int, end: int) -> Any:
            some = replace(job, sources=job.sources[begin:end])
            sums, certificate[begin:end] = source_block(some, plan, self.engine, graph, threads)
            return sums

        total = np.zeros(graph.m if job.edges else graph.n * (2 if job.squares else 1))
        return SplitSums(self.world, count, part, total, certificate)

    def path_sampling(self, graph: Graph, job: SampleJob, threads: int | None = None) -> PathSampling:
        return SplitPaths(self.world, self.world.together(lambda: self.engine.path_sampling(graph, job, threads)))


def in_rounds(world: World, count: int, work: Callable[[int, int], None], least: int = LEAST_BLOCK) -> None:
    """Call work(begin, end) for this rank's blocks of `count` items. If one rank fails, all ranks raise its error."""
    rounds = max(1, min(ROUNDS, count // (least * world.size)))
    step = -(-count // (rounds * world.size))
    for first in range(0, count, step * world.size):
        begin = min(first + world.rank * step, count)
        end = min(begin + step, count)
        world.together(lambda begin=begin, end=end: work(begin, end) if begin < end else None)  # type: ignore[misc]


class SplitSums:
    """See planning.jobs.Accumulation. part(begin, end): sums of some blocks. Ranks never pause."""

    def __init__(
        self, world: World, blocks: int, part: Callable[[int, int], Any], total: Any, certificate: Any,
        least: int = LEAST_BLOCK, size: int = 1,
    ) -> None:  # fmt: skip
        self.blocks, self.size, self.total, self.certificate, self.done = blocks, size, total, certificate, 0
        self._world, self._part, self._least = world, part, least

    def advance(self, first: int, poll: Callable[[int], bool]) -> int:
        def work(begin: int, end: int) -> None:
            self.total += self._part(begin, end)
            poll(end)

        in_rounds(self._world, self.blocks, work, self._least)
        self.total, self.certificate = map(self._world.allreduce, (self.total, self.certificate))
        self.done = self.blocks
        return self.done


class SplitPaths:
    """See planning.jobs.PathSampling. Pairs are numbered and counts are integers, so ranks do not change the result."""

    def __init__(self, world: World, run: PathSampling) -> None:
        self.done, self._world, self._run = 0, world, run
        self.counts, self.sums = np.zeros_like(run.counts), np.zeros_like(run.sums)

    def advance(self, until: int, poll: Callable[[int], bool]) -> int:
        first, run = self.done, self._run

        def work(begin: int, end: int) -> None:
            run.done = first + begin
            while run.done < first + end:
                run.advance(first + end, lambda done: False)
            poll(first + end)

        if until > first:
            in_rounds(self._world, until - first, work)
            for sums, mine in ((self.counts, run.counts), (self.sums, run.sums)):
                sums += self._world.allreduce(mine)
                mine[:] = 0
            self.done = until
        return self.done
