"""hw.estimate_memory: the memory that a call would take, without making the call."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from hopwave.algorithms.many_sources import DEEP_SCATTERED, FEW_SOURCES, together
from hopwave.algorithms.reduction.distance_sums import What
from hopwave.algorithms.tables import rows_at_once
from hopwave.api import choice, memory_reduced
from hopwave.api.accessibility import columns_of, limits_of, with_counts
from hopwave.api.arguments import as_graph, sample_size, source_ids, vertex_ids
from hopwave.api.search import bfs
from hopwave.api.shortest_paths import sssp
from hopwave.api.weights import as_lengths, own_lengths
from hopwave.checks.numbers import check_bytes
from hopwave.checks.options import check_thread_count, flag
from hopwave.engines.host_memory import available_memory
from hopwave.engines.ledger import Ask, Ledger, Shape
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.graph.arrays import arc_tails
from hopwave.graph.csr import offset_type
from hopwave.planning.jobs import BetweennessJob
from hopwave.results.memory_estimate import MemoryEstimate

MANY = ("k", "sources", "threads", "weights", "reduce")
# Question → the arguments that an estimate of it takes.
OPTIONS = {
    "bfs": ("source", "predecessors", "path_counts", "plan", "threads"),
    "bfs_many": ("sources", "threads"),
    "sssp_many": ("sources", "threads", "weights"),
    "distance_table": ("sources", "targets", "weights", "threads"),
    "accessibility": ("values", "limit", "sources", "weights", "threads"),
    "closeness_centrality": MANY,
    "harmonic_centrality": MANY,
    "betweenness_centrality": (*MANY, "plan", "memory_limit"),
    "edge_betweenness_centrality": (*MANY, "plan", "memory_limit"),
    "sssp": ("source", "threads", "weights"),
    "pagerank": ("weights",),
    "connected_components": (),
    "weakly_connected_components": (),
    "from_edges": ("weights", "directed"),
}
WHAT = tuple(OPTIONS)
DEFAULTS = {"path_counts": False, "predecessors": True, "directed": False, "reduce": True}  # of others: None
ONE_SOURCE = ("bfs", "sssp")
ON_PACKED_ROWS = (
    "bfs", "bfs_many", "closeness_centrality", "harmonic_centrality", "connected_components",
    "weakly_connected_components", "betweenness_centrality", "pagerank",
)  # fmt: skip
WITHOUT_A_SEARCH = ("bfs", "sssp", "pagerank", "connected_components", "weakly_connected_components")
BETWEENNESS = ("betweenness_centrality", "edge_betweenness_centrality")
SUMS: dict[str, What] = {"closeness_centrality": "total", "harmonic_centrality": "inverse"}
KNOWN_PLANS = ("hopwave-block", "hopwave-batch", "hopwave-wide", "brandes-dijkstra")
BY_WEIGHTS = ("sssp", "pagerank")  # a graph's own weights count unless weights=False
NEAR = 8192  # an arc u → v is near if |u - v| is below this (engines/cuda/policy.py: POWER.near)
ARCS_LOOKED_AT = 1 << 16  # a sample, to estimate which share of the arcs leads one level further
ARCS_FOR_OFFERS = 2048  # a sample, to estimate how often a search along weights enters a vertex
SOURCES_LOOKED_AT = 4  # a sample, for searches along weights
ARCS_FOLLOWED = 1 << 24  # graphs with more arcs are not searched for that


def estimate_memory(
    G: Any,
    what: str | Callable[..., Any],
    *,
    device: str = "auto",
    source: Any = None,
    sources: Iterable[Any] | None = None,
    targets: Iterable[Any] | None = None,
    values: Any = None,
    limit: float | Iterable[float] | None = None,
    k: int | None = None,
    weights: Any = None,
    predecessors: bool = True,
    path_counts: bool = False,
    plan: str = "auto",
    threads: int | None = None,
    memory_limit: int | None = None,
    directed: bool = False,
    reduce: bool = True,
) -> MemoryEstimate:
    """The memory that a call would take at its peak; the call is not made.

    For questions about many sources and for betweenness, this makes one search to find the depth of the graph; along
    weights one more. Where a call would leave out trees and chains (`reduce`), they are found, and what remains counts.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph; for "from_edges" (vertices, edges)
        The graph. The estimate assumes that nothing is prepared for it, or on a GPU, yet.
    what : str or function
        The question: "bfs", "bfs_many", "sssp_many", "distance_table", "accessibility", "closeness_centrality",
        "harmonic_centrality", "betweenness_centrality", "edge_betweenness_centrality", "sssp", "pagerank",
        "connected_components", "weakly_connected_components", or "from_edges" for building a graph.
    device : {"auto", "cpu", "cuda"}, optional
        Where it would be computed. "cuda" needs no GPU: without one, an H200 is assumed.
    source, sources, targets, values, limit, k, weights, predecessors, path_counts, plan, threads, memory_limit, reduce
        As for the function that is named, which must have them. `plan` is for betweenness alone, and names one of
        hopwave's own plans.
    directed : bool, optional
        For "from_edges": whether every edge is one arc, instead of two.

    Returns
    -------
    MemoryEstimate
        `bytes` at the peak, `parts` by name, whether it `fits`, and how a GPU would keep the graph's `rows`. Measured
        peaks were within 15% of the estimate, or on a CPU, whose pages may have 2 MB, within 4 MB
        (benchmarks/results/memory-cpu.md, memory-cuda.md).

    Raises
    ------
    GraphError
        If there is no estimate for that function, or the function does not have one of the arguments.

    See Also
    --------
    devices : how much memory there is.

    Examples
    --------
    >>> G = hw.generate.grid(1000, 1000)
    >>> needed = hw.estimate_memory(G, "bfs_many", sources=range(100), device="cpu")
    >>> needed.parts["table of distances"]
    400000000
    """
    name = what if isinstance(what, str) else getattr(what, "__name__", repr(what))
    if name not in WHAT:
        raise GraphError(f"no memory is known of {name!r}; use one of {', '.join(map(repr, WHAT))}")
    predecessors, path_counts = flag("predecessors", predecessors), flag("path_counts", path_counts)
    directed, memory_limit = flag("directed", directed), check_bytes("memory_limit", memory_limit)
    reduce = flag("reduce", reduce)
    check_thread_count(threads)
    if not isinstance(plan, str):
        raise GraphError(f"plan={plan!r} is not the name of a plan; give one, or leave plan= out")
    _check_options(
        name, source=source, sources=sources, targets=targets, values=values, limit=limit, k=k, weights=weights,
        threads=threads, memory_limit=memory_limit, plan=None if plan == "auto" else plan, path_counts=path_counts,
        predecessors=predecessors, directed=directed, reduce=reduce,
    )  # fmt: skip
    if name == "from_edges":
        return _building(G, device, weights, directed)
    graph, weighted = _weighted(G, name, weights)
    if source is not None:
        source_ids(graph, source)  # checks that it is a vertex; the estimate does not depend on which
    drawn = sample_size(graph, k, sources, 0.1)
    ids = vertex_ids(graph, sources)
    count = 1 if name in ONE_SOURCE else drawn or len(ids)
    packed = name in ON_PACKED_ROWS and not weighted and not path_counts
    if isinstance(device, str) and device == "auto":
        work = choice.search_work(graph, count, weighted and name != "sssp")
        if name in BETWEENNESS:
            work = choice.betweenness_work(graph, count)
        device = choice.choose_device(work, "auto", graph, threads, packed)
    ask = Ask(
        name, count, weighted, predecessors, path_counts, _are_whole(graph) if weighted else True,
        name == "edge_betweenness_centrality", _plan(name, plan, device), threads, memory_limit,
    )  # fmt: skip
    beside: dict[str, int] = {}
    if reduce and name in BETWEENNESS and plan == "auto" and k is None and device in ("cpu", "cuda"):
        job = BetweennessJob(ids, edges=ask.edges, weighted=weighted, memory_limit=memory_limit)
        parts = memory_reduced.reduced_betweenness(graph, job, device, threads)
        if parts is not None and parts.core is not None:
            machine, free = _gpu(device)
            return _told(ask, device, memory_reduced.of_core(parts, device, threads, machine, free), free)
        if parts is not None:
            beside = {"what puts the parts back": 24 * graph.n + 4 * graph.m} if device == "cpu" else {}
            graph, ask = parts.graph, replace(ask, sources=len(parts.job.sources))
    if reduce and name in SUMS and device == "cpu" and drawn is None:
        beside = memory_reduced.of_distances(graph, ids, SUMS[name], weighted, threads)
    shape = _shape(graph, path_counts or name not in WITHOUT_A_SEARCH)
    probed = count >= FEW_SOURCES and graph.n > DEEP_SCATTERED
    ask = replace(ask, together=together(graph.n, shape.depth, count), probed=probed, named=sources is not None)
    longest = math.inf
    if name == "distance_table":
        columns = None if targets is None else len(np.unique(vertex_ids(graph, targets)))
        by_lengths = columns is not None and not ask.together
        at_once = rows_at_once(columns if by_lengths and columns else graph.n, by_lengths, device)
        ask = replace(ask, targets=columns, at_once=at_once)
    if name == "accessibility":
        limits = limits_of("limit", limit)
        longest, summed = max(limits), with_counts(columns_of(graph, values)[1])[0]
        ask = replace(ask, values=len(summed), limits=len(limits))
    if weighted and device == "cpu" and name not in WITHOUT_A_SEARCH and graph.m and not graph.directed:
        shape = _along_weights(graph, shape, ids, longest, counted=name in BETWEENNESS)
    return _estimated(ask, shape, device, graph if packed else None, beside)


def _check_options(name: str, **given: Any) -> None:
    """Raise a GraphError for an argument, other than its default, that an estimate of this question does not take."""
    for option, value in given.items():
        if value is not DEFAULTS.get(option) and option not in OPTIONS[name]:
            known = ", ".join(f"{one}=" for one in OPTIONS[name]) or "none"
            raise GraphError(f"{name} has no {option}={value!r}; leave it out (an estimate of it takes: {known})")


def _along_weights(graph: Graph, shape: Shape, ids: Any, longest: float, counted: bool) -> Shape:
    """The shape with what searches along weights do, looked at from a few sources; `counted`: paths are counted."""
    from hopwave.engines.cpu.short_arcs import short_length

    looked_at = ids[:: max(1, len(ids) // SOURCES_LOOKED_AT)][:SOURCES_LOOKED_AT]
    offers = np.array([np.zeros(4), *(_offers(graph, int(s), longest) for s in looked_at)])
    entries, waiting, ties, reached = offers.max(axis=0).tolist()
    short = short_length(np.asarray(graph.weights))[1]
    shape = replace(shape, entries=entries, waiting=waiting, ties=ties, reached=reached, short=short)
    if counted and graph.m <= ARCS_FOLLOWED and _may_outgrow_float64(shape):
        shape = replace(shape, path_bits=max((_path_bits(graph, int(s)) for s in looked_at), default=0.0))
    return shape


def _weighted(G: Any, name: str, weights: Any) -> tuple[Graph, bool]:
    """The graph, and whether the call uses its weights."""
    if name in ("sssp_many", "distance_table", "accessibility"):
        return own_lengths(G, weights)
    if name in BY_WEIGHTS:
        graph = as_graph(G)
        own = graph.weights is not None and weights is not False
        return graph, own or (weights is not None and weights is not False)
    return as_lengths(G, False if weights is None else weights)


def _are_whole(graph: Graph) -> bool:
    """Whether 32 bits hold every distance (engines/cuda/shortest_paths/search.py)."""
    if graph.weights is None:
        return False
    values = np.asarray(graph.weights)
    return bool((np.floor(values) == values).all()) and (float(values.max(initial=0)) + 1) * (graph.n + 1) < 2**32 - 1


def _plan(name: str, plan: str, device: str) -> str | None:
    """The name of the plan, or for "auto" the CPU's default; None if the GPU chooses."""
    if plan != "auto":
        if name not in BETWEENNESS or plan not in KNOWN_PLANS:
            known = ", ".join(map(repr, KNOWN_PLANS))
            raise GraphError(
                f"no memory is known of {name} by plan {plan!r}; leave plan= out, or for betweenness use {known}"
            )
        return plan
    return "hopwave-block" if name in BETWEENNESS and device == "cpu" else None


def _shape(graph: Graph, searched: bool) -> Shape:
    """The sizes that the memory models need. With `searched`, a search finds depth and tree."""
    transposed = graph._columns is not None  # before a search needs it
    depth, tree = _searched(graph) if searched and graph.m else (0, 0.5)
    greatest = int(np.diff(graph.indptr).max(initial=0))
    offset = graph.indptr.dtype.itemsize
    tails, heads = _some_arcs(graph)
    near = float(np.mean(np.abs(tails - heads) < NEAR)) if graph.m else 1.0
    return Shape(graph.n, graph.m, graph.directed, offset, depth, greatest, tree, transposed, near)


def _some_arcs(graph: Graph) -> tuple[Any, Any]:
    """Tails and heads of arcs, taken evenly from all."""
    arcs = np.linspace(0, max(0, graph.m - 1), min(graph.m, ARCS_LOOKED_AT)).astype(np.int64)
    return np.searchsorted(graph.indptr, arcs, side="right") - 1, graph.indices[arcs].astype(np.int64)


def _searched(graph: Graph) -> tuple[int, float]:
    """Levels from the vertex of highest degree, and the share of arcs that lead one level further."""
    found = bfs(graph.without_weights(), int(np.argmax(np.diff(graph.indptr))), predecessors=False)
    distances: Any = np.asarray(found.distances)
    tails, heads = _some_arcs(graph)
    return int(found.depth), float(np.mean(distances[heads] == distances[tails] + 1))


def _offers(graph: Graph, source: int, limit: float = math.inf) -> tuple[float, float, float, float]:
    """(entries per vertex, those that wait at a time, ties per arc, share of the vertices that is reached) of a search
    along weights.

    A vertex gets offers from its neighbours in the order in which these are settled. It is entered once for each offer
    that is shorter than all before, and the entry waits until the search is as far away as the offer; a tie is an offer
    equal to the shortest before. Estimated from the heads of some arcs: most ties are at vertices of high degree, of
    which a sample of vertices has too few.
    """
    lengths = np.asarray(graph.weights)
    far: Any = np.asarray(sssp(graph, graph.label(source), limit=limit, device="cpu").distances)
    some, times = np.unique(graph.indices[:: max(1, graph.m // ARCS_FOR_OFFERS)], return_counts=True)
    entered = ties = 0.0
    moments = [(0.0, 0.0)]  # how far away the search is, and by how much what waits then grows
    for v, seen in zip(some.tolist(), (times / times.sum()).tolist(), strict=True):
        row = slice(graph.indptr[v], graph.indptr[v + 1])
        before = far[graph.indices[row]]
        settled = np.argsort(before, kind="stable")[: int(np.count_nonzero(before <= far[v]))]
        offers = (before + lengths[row])[settled]
        if not len(offers) or not np.isfinite(far[v]):
            continue
        shortest, of_one_arc = np.minimum.accumulate(offers), seen / len(before)
        new = np.append(True, np.diff(shortest) < 0)
        entered += of_one_arc * np.count_nonzero(new)
        ties += of_one_arc * np.count_nonzero(offers[1:] == shortest[:-1])
        moments += [(begin, of_one_arc) for begin in before[settled][new].tolist()]
        moments += [(end, -of_one_arc) for end in offers[new].tolist()]
    waiting = float(np.cumsum([change for _, change in sorted(moments)]).max())
    return entered * graph.m / graph.n, waiting * graph.m / graph.n, ties, float(np.isfinite(far).mean())


def _may_outgrow_float64(shape: Shape) -> bool:
    """Whether a graph of this depth and degree could have more shortest paths than float64 can count."""
    from hopwave.engines.cpu.path_counts import LARGEST

    return shape.depth * math.log2(shape.greatest + 1) > LARGEST


def _path_bits(graph: Graph, source: int) -> float:
    """log2 of the greatest number of shortest paths along weights from a source to a vertex."""
    far: Any = np.asarray(sssp(graph, graph.label(source), device="cpu").distances)
    tails, heads = arc_tails(graph), graph.indices
    tight = np.flatnonzero(np.isfinite(far[tails]) & (far[tails] + np.asarray(graph.weights) == far[heads]))
    if not len(tight):
        return 0.0
    tight = tight[np.lexsort((heads[tight], far[heads[tight]]))]
    tails, heads = tails[tight], heads[tight]
    begins = np.flatnonzero(np.append(True, heads[1:] != heads[:-1]))  # the first of the arcs into each vertex
    found = far[heads[begins]]
    levels = np.flatnonzero(np.append(True, found[1:] != found[:-1]))  # the first of the vertices at each distance
    bits = np.full(graph.n, -np.inf)
    bits[source] = 0.0
    for level, following in zip(levels, np.append(levels[1:], len(begins)), strict=True):
        first, last = begins[level], begins[following] if following < len(begins) else len(heads)
        here = begins[level:following]
        bits[heads[here]] = np.logaddexp2.reduceat(bits[tails[first:last]], here - first)
    return float(bits.max())


def _building(size: Any, device: str, weights: Any, directed: bool) -> MemoryEstimate:
    try:
        n, edges = (int(number) for number in size)
    except (TypeError, ValueError):
        raise GraphError(f"{size!r} is no size; for 'from_edges' give (vertices, edges)") from None
    device = "cpu" if isinstance(device, str) and device == "auto" else device
    offset = np.dtype(offset_type(edges * (1 if directed else 2))).itemsize
    ask = Ask("from_edges", weighted=weights is not None and weights is not False)
    return _estimated(ask, Shape(n, edges, directed, offset), device)


def _gpu(device: str) -> tuple[Any, int | None]:
    """The GPU, and its free memory; None on a CPU, or for the H200 that is assumed if there is none."""
    if device == "cpu" or not choice.has_gpu():
        return None, available_memory() if device == "cpu" else None
    return importlib.import_module("hopwave.engines.cuda.betweenness.run").machine(), choice.free_on_gpu()


def _told(
    ask: Ask, device: str, run: Ledger, free: int | None, rows: str | None = None, on_host: int = 0
) -> MemoryEstimate:
    parts = dict(sorted(run.at_peak.items(), key=lambda part: -part[1]))
    return MemoryEstimate(ask.what, device, run.peak, parts, free, rows, on_host)


def _estimated(
    ask: Ask, shape: Shape, device: str, graph: Graph | None = None, beside: Mapping[str, int] | None = None
) -> MemoryEstimate:
    """graph: one whose rows a GPU has compressed, or will if they do not fit otherwise; beside: what else is held."""
    if not isinstance(device, str) or device not in ("cpu", "cuda"):
        raise GraphError(f"device={device!r} is not known here; use 'auto', 'cpu' or 'cuda'")
    model = importlib.import_module(f"hopwave.engines.{device}.footprint")
    (machine, free), rows, on_host = _gpu(device), None, 0
    if device == "cpu":
        run = model.footprint(shape, ask)
        run.at_peak |= beside or {}
        run.peak += sum((beside or {}).values())
    else:
        rows = "plain"
        run = model.footprint(shape, ask, machine, free)
        if graph is not None:
            room = (machine or model.regimes.Machine()).memory if free is None else free
            kept = choice.compressed_rows(graph)
            fits = model.footprint(shape, Ask("bfs"), machine, free).peak <= room  # what decides, whatever is asked
            room = room if kept is None else 1 << 62
            found = None if fits and kept is None else model.in_fewer_bits(shape, ask, room, graph.indptr)
            if found is not None:
                run, rows = model.footprint(found[0], ask, machine, free), "compressed"
                on_host = 0 if found[1] is None else run.at_peak.get("compressed rows", 0) - found[1]
                on_host = on_host if kept is None else kept.host_bytes
            if on_host:
                rows = "across the bus"
                run.at_peak["compressed rows"] -= on_host
                run.peak -= on_host
    return _told(ask, device, run, free, rows, on_host)
