"""The public face: check what was asked, choose a plan and an engine, run, wrap."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hopwave import engines
from hopwave.algorithms import bfs as _bfs
from hopwave.algorithms import brandes as _brandes
from hopwave.algorithms.brandes import Job, Progress
from hopwave.algorithms.checkpoint import Checkpoint
from hopwave.catalogue import CATALOGUE
from hopwave.catalogue import plan as named_plan
from hopwave.errors import EngineError, GraphError, PlanError
from hopwave.graph import Graph
from hopwave.plan import Plan
from hopwave.result import BetweennessResult, BFSResult, EdgeBetweennessResult, PlanTable, Ran
from hopwave.semiring import Question

# Arcs from which a search on the GPU pays for the upload; and searches times arcs, where there are many searches.
WORTH_A_TRIP = 1 << 20
WORTH_A_TRIP_TOGETHER = 1 << 32
# Sources times arcs from which betweenness does.
WORTH_BETWEENNESS = 1 << 28
# With fewer sources than this on a graph of that many arcs, all threads work on one source at a time. Not a question of
# how many threads there are: they must change no bit of a result.
WIDE_SOURCES = 4
WIDE_ARCS = 1 << 20


def bfs(
    G: Any,
    source: Any,
    predecessors: bool = True,
    path_counts: bool = False,
    depth_limit: int | None = None,
    direction: Literal["out", "in"] = "out",
    plan: str | Plan = "auto",
    device: str = "auto",
    trace: bool = False,
    *,
    threads: int | None = None,
) -> BFSResult:
    """Hops from a source, or from the nearest of several, to every vertex.

    G is a Graph, a SciPy sparse matrix or a NetworkX graph. A source is a vertex id, or a label where the graph has
    labels; a list of them searches from all at once. `direction="in"` follows arcs backwards. `depth_limit` stops
    after that many hops. `plan` is a name from `hopwave.plans()`; `device` is "auto", "cpu", "cuda" or "reference".
    `trace=True` keeps what every level did. `threads` are the CPU engine's: by default the environment variable
    HOPWAVE_NUM_THREADS, else every core.

    >>> import hopwave as hw
    >>> r = hw.bfs(hw.generate.grid(3, 3), 0, path_counts=True)
    >>> r.distances.tolist()
    [0, 1, 2, 1, 2, 3, 2, 3, 4]
    >>> r.path_counts[8]
    np.float64(6.0)
    """
    graph = as_graph(G)
    if direction not in ("out", "in"):
        raise GraphError(f"direction={direction!r} is not known; use 'out' or 'in'")
    question = Question(predecessors, path_counts, hops("depth_limit", depth_limit))
    sources = source_ids(graph, source)
    engine = engines.engine(choose_device(device, graph, threads))
    chosen, why = choose_plan(plan, question, engine)
    walked = graph.reversed() if direction == "in" else graph
    return _bfs.search(engine, walked, sources, question, chosen, why, trace, threads)


def bfs_each(
    G: Any,
    sources: Iterable[Any],
    predecessors: bool = True,
    path_counts: bool = False,
    depth_limit: int | None = None,
    direction: Literal["out", "in"] = "out",
    plan: str | Plan = "auto",
    device: str = "auto",
    *,
    threads: int | None = None,
) -> Iterator[BFSResult]:
    """One search after another, each from its own source: one upload, workspaces used again, checks made once.

    Arguments as for `bfs`. Every source is checked before the first search begins.

    >>> import hopwave as hw
    >>> [r.depth for r in hw.bfs_each(hw.generate.path(4), [0, 1])]
    [3, 2]
    """
    graph = as_graph(G)
    if direction not in ("out", "in"):
        raise GraphError(f"direction={direction!r} is not known; use 'out' or 'in'")
    question = Question(predecessors, path_counts, hops("depth_limit", depth_limit))
    ids = [(graph.index(source),) for source in sources]
    engine = engines.engine(choose_device(device, graph, threads))
    chosen, why = choose_plan(plan, question, engine)
    walked = graph.reversed() if direction == "in" else graph
    return (_bfs.search(engine, walked, one, question, chosen, why, False, threads) for one in ids)


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
    _brandes.check_risk(delta)
    job, drawn, subset = betweenness_job(graph, k, sources, targets, seed, cutoff, memory_limit, deterministic)
    endpoints = bool(endpoints)
    job = replace(job, endpoints=endpoints)
    engine = betweenness_engine(device, graph, job, plan, threads)
    if epsilon is not None:
        exact = replace(job, squares=True)
        chosen, why = choose_betweenness_plan(plan, exact, graph, engine)
        mean, bounds, count, certificate = _brandes.adaptive(
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
            scores = _brandes.scale_subset(
                run.total, n, normalized=normalized, directed=graph.directed, endpoints=endpoints
            )
        else:
            scores = _brandes.scale(
                run.total, n, normalized=normalized, directed=graph.directed, endpoints=endpoints, sampled=drawn
            )
    scores, bounds = (beside(graph, engine, array) for array in (scores, bounds))
    return BetweennessResult(
        scores, certificate, count, Ran(chosen, why, engine.without(chosen)), engine.name, bounds, graph
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
        scores = _brandes.scale_subset(sums, graph.n, normalized=normalized, directed=graph.directed, endpoints=True)
    else:
        scores = _brandes.scale(
            sums, graph.n, normalized=normalized, directed=graph.directed, endpoints=True, sampled=drawn
        )
    return EdgeBetweennessResult(
        beside(graph, engine, scores),
        (beside(graph, engine, source), beside(graph, engine, graph.indices)),
        certificate,
        len(job.sources),
        Ran(chosen, why, engine.without(chosen)),
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
    drawn = None if subset else _brandes.draw_sources(graph.n, k, seed)
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


def betweenness_engine(device: str, graph: Graph, job: Job, plan: str | Plan, threads: int | None) -> engines.Engine:
    """The engine for a betweenness run: for "auto" a GPU that takes the plan, where sources × arcs are worth it."""
    if device != "auto":
        return engines.engine(device)
    if threads is None and len(job.sources) * graph.m >= WORTH_BETWEENNESS and has_gpu():
        gpu = engines.engine("cuda")
        if plan == "auto" or gpu.refuses(named_plan(plan), job) is None:
            return gpu
    return engines.engine("cpu")


def choose_betweenness_plan(plan: str | Plan, job: Job, graph: Graph, engine: engines.Engine) -> tuple[Plan, str]:
    """The plan to run and why, or a PlanError that names what to use instead."""
    if plan == "auto" and isinstance(engine, engines.Regimes):
        regime, why = engine.regime(graph, job, CATALOGUE["hopwave-block"])
        chosen = CATALOGUE[f"hopwave-{regime}"]
    elif plan == "auto":
        few = len(job.sources) < WIDE_SOURCES and graph.m >= WIDE_ARCS
        if few and not job.edges and not job.squares:
            chosen, why = CATALOGUE["hopwave-wide"], f"{len(job.sources)} sources on a graph of {graph.m:,} arcs"
        else:
            chosen, why = CATALOGUE["hopwave-block"], "a source a worker"
    else:
        chosen, why = named_plan(plan), "asked for"
    if chosen.task != "betweenness":
        raise PlanError(
            f"plan {chosen.name!r} is a search; for betweenness use 'auto', 'hopwave-block' or 'turbobc-sccsc'"
        )
    reason = engine.refuses(chosen, job)
    if reason:
        raise PlanError(reason)
    return chosen, why


def reverse_arcs(graph: Graph, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """For every arc of an undirected graph the value of its reverse.

    The arcs sorted by (target, source) are the reverses in the order of the arcs themselves.
    """
    source = np.repeat(np.arange(graph.n, dtype=np.int32), graph.degrees)
    return values[np.lexsort((source, graph.indices))]


def beside(graph: Graph, engine: engines.Engine, array: Any) -> Any:
    """An answer where the graph came from: a CuPy array if it was made of such and the GPU computed, else as it is."""
    if array is None or engine.name != "cuda" or "device" not in graph._prepared:
        return array
    import cupy

    return cupy.asarray(array)


def hops(name: str, value: Any) -> int | None:
    """A limit of hops: None, or a whole number from 0."""
    if value is None:
        return None
    if not is_whole(value) or value < 0:
        raise GraphError(f"{name}={value!r} is not a number of hops; give a whole number from 0, or None")
    return int(value)


def as_graph(G: Any) -> Graph:
    """G itself, or the Graph of a SciPy matrix or a NetworkX graph."""
    if isinstance(G, Graph):
        return G
    if hasattr(G, "tocsr"):
        return Graph.from_scipy(G)
    if hasattr(G, "is_multigraph") and hasattr(G, "edges"):
        return Graph.from_networkx(G)
    raise GraphError(
        f"{type(G).__name__} is not a graph; give a hopwave.Graph, a SciPy sparse matrix or a NetworkX graph"
    )


def source_ids(graph: Graph, source: Any, what: str = "sources") -> tuple[int, ...]:
    """The ids of one source, or of several without repeats, in the order given."""
    several = isinstance(source, Iterable) and not isinstance(source, str | bytes)
    if several and graph.labels is not None and _is_label(graph, source):
        several = False  # a tuple may be one vertex's label
    if isinstance(source, np.ndarray) and source.ndim == 0:
        source, several = source[()], False
    if not several:
        return (graph.index(source),)
    ids = tuple(dict.fromkeys(graph.index(one) for one in source))
    if not ids:
        remedy = (
            "a search needs at least one vertex to start from" if what == "sources" else f"leave out {what}= for all"
        )
        raise GraphError(f"the list of {what} is empty; {remedy}")
    return ids


def is_whole(value: Any) -> bool:
    """Whether value is a whole number; True and False are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_label(graph: Graph, value: Any) -> bool:
    try:
        return value in graph._numbers
    except TypeError:
        return False


def choose_device(device: str, graph: Graph, threads: int | None, sources: int = 1) -> str:
    """The engine that device= names. "auto" is a GPU where there is one and so many searches are worth the trip, else
    the CPU; 0 stands for less than a search, such as one path. Who says threads= means the CPU."""
    if device != "auto":
        return device
    worth = sources > 0 and (graph.m >= WORTH_A_TRIP or sources * graph.m >= WORTH_A_TRIP_TOGETHER)
    return "cuda" if threads is None and worth and has_gpu() else "cpu"


@cache
def has_gpu() -> bool:
    """Whether the CUDA engine can run here; CuPy is looked for, and loaded only where it is installed."""
    try:
        engines.engine("cuda")
    except EngineError:
        return False
    return True


def choose_plan(plan: str | Plan, question: Question, engine: engines.Engine) -> tuple[Plan, str]:
    """The plan to run and why, or a PlanError that names what to use instead."""
    if plan == "auto":
        if question.path_counts:
            return CATALOGUE["hopwave-paths"], "path counts need every term"
        if engine.name == "cuda":
            return CATALOGUE["hopwave-gpu"], "the default on a GPU"
        return CATALOGUE["hopwave"], "the default"
    chosen = named_plan(plan)
    reason = engine.supports(chosen, question)
    if reason:
        raise PlanError(reason)
    return chosen, "asked for"


def plans() -> PlanTable:
    """Every plan there is; prints as a table.

    >>> import hopwave as hw
    >>> "xbfs" in [plan.name for plan in hw.plans()]
    True
    """
    return PlanTable(CATALOGUE.values())
