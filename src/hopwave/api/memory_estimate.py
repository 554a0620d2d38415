"""hw.estimate_memory: the peak memory of a call, without making the call."""

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from hopwave.algorithms.apart import most_sources
from hopwave.algorithms.many_sources import SHALLOW_WEIGHTED, SMALL_WEIGHTED, together
from hopwave.algorithms.reduction import ReducedJob, distance_sums, reduced, why_whole
from hopwave.algorithms.reduction.distance_sums import What
from hopwave.algorithms.tables import rows_at_once
from hopwave.api import choice
from hopwave.api.accessibility import columns_of, limits_of, with_counts
from hopwave.api.arguments import sample_size, source_ids, vertex_ids
from hopwave.api.connectivity import biconnected_components
from hopwave.api.search import bfs
from hopwave.api.shortest_paths import sssp
from hopwave.api.weights import as_lengths, own_lengths
from hopwave.checks.numbers import check_bytes
from hopwave.checks.options import check_thread_count, flag
from hopwave.engines import engine
from hopwave.engines.host_memory import available_memory
from hopwave.engines.ledger import Ask, Parts, Shape, total
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.graph.csr import offset_type
from hopwave.planning.jobs import BetweennessJob, Integers
from hopwave.planning.many_sources import Sweep
from hopwave.results.estimates import MemoryEstimate

MANY = ("k", "sources", "threads", "weights", "reduce")
# Arguments on which the estimate of each function depends.
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
DEFAULTS = {"path_counts": False, "predecessors": True, "directed": False, "reduce": True}  # None for other options
ONE_SOURCE = ("bfs", "sssp")
ON_PACKED_ROWS = (
    "bfs", "bfs_many", "closeness_centrality", "harmonic_centrality", "connected_components",
    "weakly_connected_components", "betweenness_centrality", "pagerank",
)  # fmt: skip
WITHOUT_A_SEARCH = ("bfs", "sssp", "pagerank", "connected_components", "weakly_connected_components")
BETWEENNESS = ("betweenness_centrality", "edge_betweenness_centrality")
SUMS: dict[str, What] = {"closeness_centrality": "total", "harmonic_centrality": "inverse"}
KNOWN_PLANS = ("hopwave-block", "hopwave-batch", "hopwave-wide", "brandes-dijkstra")
BY_WEIGHTS = ("sssp", "sssp_many", "distance_table", "accessibility", "pagerank")  # unless weights=False
NEAR = 8192  # an arc u → v is near if |u - v| is below this (engines/cuda/policy.py: POWER.near)
ARCS_SAMPLED = 1 << 16  # arcs sampled to estimate the share of near arcs
PAGES = 3 << 20  # bytes per worker lost to partly filled pages of 2 MB
BYTES_KEPT = 1 << 28  # maximum bytes of workers' arrays that are not freed before a table of hops becomes lengths
LARGEST_COUNT_BITS = 1000  # path counts above 2^1000 are stored with separate exponents


class Bytes(NamedTuple):
    """Bytes of one part: per vertex, per arc, per source and column, per worker and vertex, per worker and arc."""

    vertex: float = 0
    arc: float = 0
    entry: float = 0
    worker: float = 0
    worker_arc: float = 0


# Memory on the CPU by function, variant and part, without the graph's own arrays; measured (benchmarks/memory.py).
CPU: dict[str, dict[str, Bytes]] = {
    "bfs": {"prepared": Bytes(12), "queue, distances and predecessors": Bytes(14)},
    "path counts": {"path counts": Bytes(8)},
    "path counts beyond float64": {"path counts": Bytes(40)},
    "sums": {"prepared": Bytes(16), "histogram": Bytes(8), "workers": Bytes(worker=9)},
    "sums together": {"prepared": Bytes(32), "histogram": Bytes(8), "workers": Bytes(worker=32)},
    "rows": {"prepared": Bytes(24), "table of distances": Bytes(entry=4), "workers": Bytes(worker=5)},
    "rows together": {"prepared": Bytes(32), "table of distances": Bytes(entry=4), "workers": Bytes(worker=32)},
    "hops as lengths": {"distances as lengths": Bytes(entry=9)},
    "sums along weights": {"prepared": Bytes(8), "workers": Bytes(worker=28)},
    "sums along weights, mesh": {"prepared": Bytes(8), "workers": Bytes(worker=13)},
    "rows along weights": {"prepared": Bytes(8), "table of distances": Bytes(entry=8), "workers": Bytes(worker=20)},
    "rows along weights, mesh": {
        "prepared": Bytes(8),
        "table of distances": Bytes(entry=8),
        "workers": Bytes(worker=5),
    },
    "at once": {"distances from 32 sources": Bytes(worker=265)},
    "targets": {"targets": Bytes(6), "own distances": Bytes(worker=8)},
    "lengths of 1": {"lengths": Bytes(16, arc=8)},
    "betweenness": {"prepared": Bytes(12), "sums": Bytes(8), "workers": Bytes(worker=41, worker_arc=1.2)},
    "betweenness, mesh": {"prepared": Bytes(12), "sums": Bytes(8), "workers": Bytes(worker=41)},
    "betweenness along weights": {"prepared": Bytes(8), "sums": Bytes(8), "workers": Bytes(worker=81, worker_arc=1.4)},
    "edges": {
        "prepared": Bytes(12),
        "sums": Bytes(arc=8),
        "rows of sources": Bytes(192, entry=20),
        "workers": Bytes(worker=33, worker_arc=1.4),
    },
    "edges, mesh": {"prepared": Bytes(12), "sums": Bytes(arc=8), "workers": Bytes(worker=33, worker_arc=17)},
    "edges along weights": {"prepared": Bytes(8), "sums": Bytes(arc=8), "workers": Bytes(worker=65, worker_arc=18.5)},
    "counts along weights on a mesh": {"larger path counts": Bytes(worker=14)},
    "renumbered": {"renumbered rows": Bytes(40, arc=4)},
    "sssp": {"distances and bins": Bytes(12), "looking for predecessors": Bytes(arc=18.5)},
    "pagerank": {"factors and ranks": Bytes(40)},
    "pagerank by degree": {"arcs in the order of degrees": Bytes(32, arc=4)},
    "values of arcs": {"values of arcs in the order of degrees": Bytes(arc=8)},
    "components": {"labels and sizes": Bytes(14)},
    "from_edges": {"rows": Bytes(20, arc=8)},
    "weights of edges": {"weights": Bytes(arc=8)},
    "arcs by head": {"arcs by head": Bytes(8, arc=4)},
    "arcs by head, weights": {"arcs by head": Bytes(8, arc=12)},
    # Peak while arcs are sorted by head, before the other parts are allocated.
    "sorting": {"sorting arcs by head": Bytes(20, arc=12)},
    "sorting, weights": {"sorting arcs by head": Bytes(20, arc=24)},
}


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
    """Peak memory of a call, estimated without making the call.

    For functions of many sources and for betweenness, the estimate runs one search to find the depth of the graph. If
    the call would remove trees and chains first (`reduce`), the estimate does so too and describes the remaining graph.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph; for "from_edges" (vertices, edges)
        The graph. The estimate assumes that no earlier call has prepared it or moved it to a GPU.
    what : str or function
        The function: "bfs", "bfs_many", "sssp_many", "distance_table", "accessibility", "closeness_centrality",
        "harmonic_centrality", "betweenness_centrality", "edge_betweenness_centrality", "sssp", "pagerank",
        "connected_components", "weakly_connected_components", or "from_edges" for building a graph.
    device : {"auto", "cpu", "cuda"}, optional
        Device of the call. "cuda" needs no GPU: without one, the estimate assumes an H200.
    source, sources, targets, values, limit, k, weights, predecessors, path_counts, plan, threads, memory_limit, reduce
        Arguments of the call; see the function, which must accept them. `plan` is only for betweenness and must be one
        of hopwave's own plans.
    directed : bool, optional
        For "from_edges": whether every edge is one arc instead of two.

    Returns
    -------
    MemoryEstimate
        The peak in `bytes`, its `parts` by name, whether the call `fits`, and how a GPU would store the adjacency lists
        (`rows`). Measured peaks are within 25% or 16 MB of the estimate (benchmarks/results/memory.md).

    Raises
    ------
    GraphError
        estimate_memory does not support the function, or the function does not have one of the arguments.

    Examples
    --------
    >>> G = hw.generate.grid(1000, 1000)
    >>> needed = hw.estimate_memory(G, "bfs_many", sources=range(100), device="cpu")
    >>> needed.parts["table of distances"]
    400000000
    """
    name = what if isinstance(what, str) else getattr(what, "__name__", repr(what))
    if name not in OPTIONS:
        raise GraphError(f"estimate_memory does not support {name!r}; use one of {', '.join(map(repr, OPTIONS))}")
    predecessors, path_counts = flag("predecessors", predecessors), flag("path_counts", path_counts)
    directed, memory_limit = flag("directed", directed), check_bytes("memory_limit", memory_limit)
    reduce = flag("reduce", reduce)
    check_thread_count(threads)
    if not isinstance(plan, str) or (plan != "auto" and (name not in BETWEENNESS or plan not in KNOWN_PLANS)):
        known = ", ".join(map(repr, KNOWN_PLANS))
        problem = f"estimate_memory does not support {name} with plan={plan!r}"
        raise GraphError(f"{problem}; omit plan=, or for betweenness use {known}")
    given = {
        "source": source, "sources": sources, "targets": targets, "values": values, "limit": limit, "k": k,
        "weights": weights, "threads": threads, "memory_limit": memory_limit, "plan": None if plan == "auto" else plan,
        "path_counts": path_counts, "predecessors": predecessors, "directed": directed, "reduce": reduce,
    }  # fmt: skip
    for option, value in given.items():
        if value is not DEFAULTS.get(option) and option not in OPTIONS[name]:
            known = ", ".join(f"{one}=" for one in OPTIONS[name]) or "none"
            raise GraphError(f"estimates of {name} do not use {option}={value!r}; omit it (they use: {known})")
    auto = isinstance(device, str) and device == "auto"
    if not isinstance(device, str) or device not in ("auto", "cpu", "cuda"):
        raise GraphError(f"device={device!r} is not known here; use 'auto', 'cpu' or 'cuda'")
    if name == "from_edges":
        return _building(G, "cpu" if auto else device, weights, directed)
    own = own_lengths if name in BY_WEIGHTS else as_lengths
    graph, weighted = own(G, False if weights is None and own is as_lengths else weights)
    if source is not None:
        source_ids(graph, source)  # only checks that the source is a vertex
    drawn = sample_size(graph, k, sources, 0.1)
    ids = vertex_ids(graph, sources)
    count = 1 if name in ONE_SOURCE else drawn or len(ids)
    packed = name in ON_PACKED_ROWS and not weighted and not path_counts
    if auto:
        work = choice.search_work(graph, count, weighted and name != "sssp")
        if name in BETWEENNESS:
            work = choice.betweenness_work(graph, count)
        device = choice.choose_device(work, "auto", graph, threads, packed)
    from hopwave.engines.cpu.crew import thread_count

    ask = Ask(
        name, count, weighted, path_counts, name == "edge_betweenness_centrality", None if plan == "auto" else plan,
        max(1, min(threads or int(thread_count(None)), count)), memory_limit,
    )  # fmt: skip
    besides: Parts = {}
    if reduce and name in BETWEENNESS and plan == "auto" and k is None:
        job = BetweennessJob(ids, edges=ask.edges, weighted=weighted, memory_limit=memory_limit)
        parts = _reduced(graph, job, device, threads)
        if parts is not None and parts.core is not None:
            machine, free = _machine(device)
            return _told(name, device, _of_core(parts, device, ask.workers, machine, free), free)
        if parts is not None:
            besides = {"merging the parts": 24 * graph.n + 4 * graph.m} if device == "cpu" else {}
            graph, ask = parts.graph, replace(ask, sources=len(parts.job.sources))
    if reduce and name in SUMS and device == "cpu" and drawn is None:
        besides = _of_distances(graph, ids, SUMS[name], weighted, threads)
    shape = _shape(graph, path_counts or name not in WITHOUT_A_SEARCH)
    ask = replace(ask, together=not weighted and together(graph.n, shape.depth, count))
    if name == "distance_table":
        columns = None if targets is None else len(np.unique(vertex_ids(graph, targets)))
        by_lengths = columns is not None and not ask.together
        at_once = rows_at_once(columns if by_lengths and columns else graph.n, by_lengths, device)
        ask = replace(ask, targets=columns, at_once=at_once)
    if name == "accessibility":
        summed = with_counts(columns_of(graph, values)[1])[0]
        limits = limits_of("limit", limit)
        ask = replace(ask, values=len(summed), limits=len(limits))
        if weighted and max(limits) < math.inf and len(ids):
            far: Any = sssp(graph, graph.label(int(ids[0])), limit=max(limits), device="cpu").distances
            ask = replace(ask, reached=float(np.isfinite(far).mean()))
    return _estimated(ask, shape, device, graph if packed else None, besides)


def _shape(graph: Graph, searched: bool) -> Shape:
    """Sizes for the models. With `searched`, a search from the vertex of highest degree finds the depth."""
    degrees, depth = np.diff(graph.indptr), 0
    if searched and graph.m:
        busiest = graph.label(int(np.argmax(degrees)))
        depth = int(bfs(graph.without_weights(), busiest, predecessors=False).depth)
    arcs = np.linspace(0, max(0, graph.m - 1), min(graph.m, ARCS_SAMPLED)).astype(np.int64)
    tails = np.searchsorted(graph.indptr, arcs, side="right") - 1
    near = float(np.mean(np.abs(tails - graph.indices[arcs]) < NEAR)) if graph.m else 1.0
    greatest = int(degrees.max(initial=0))
    return Shape(graph.n, graph.m, graph.directed, graph.indptr.dtype.itemsize, depth, greatest, near)


def _building(size: Any, device: str, weights: Any, directed: bool) -> MemoryEstimate:
    try:
        n, edges = (int(number) for number in size)
    except (TypeError, ValueError):
        raise GraphError(f"{size!r} is not a size; for 'from_edges' pass (vertices, edges)") from None
    offset = np.dtype(offset_type(edges * (1 if directed else 2))).itemsize
    ask = Ask("from_edges", weighted=weights is not None and weights is not False)
    return _estimated(ask, Shape(n, edges, directed, offset), device)


def on_cpu(shape: Shape, ask: Ask) -> Parts:
    """The parts of one function at its peak on the CPU, from the table."""
    sorting = {}
    names = _variants(shape, ask)
    if shape.directed and ask.what not in ("sssp", "from_edges") and not ask.what.endswith("components"):
        weights = ", weights" if ask.weighted else ""
        names.append(f"arcs by head{weights}")
        if ask.what != "pagerank":
            sorting = CPU[f"sorting{weights}"]
    parts: Parts = {}
    for name in names:
        for part, each in CPU[name].items():
            parts[part] = parts.get(part, 0) + _bytes(each, shape, ask, PAGES if part == "workers" else 0)
    if ask.what == "accessibility":
        columns, width = ask.values, ask.values * ask.limits
        parts["values"] = (16 * columns + 9 * (columns - 1)) * shape.n + 8 * ask.sources * width
    if ask.what == "distance_table":
        whole = (8 if ask.weighted else 4) * ask.sources * (shape.n if ask.targets is None else ask.targets)
        parts |= {"table of distances": whole} if ask.weighted else {"the whole table": whole}
    if ask.what == "sssp_many" and not ask.weighted:
        parts["workers"] = min(parts["workers"], BYTES_KEPT)
    before = {part: _bytes(each, shape, ask) for part, each in sorting.items()} | (
        {"values": parts["values"]} if "values" in parts else {}
    )
    return max(parts, before, key=lambda held: sum(held.values()))


def _bytes(each: Bytes, shape: Shape, ask: Ask, pages: int = 0) -> int:
    """Bytes of a part, plus `pages` per worker. In from_edges, an undirected edge counts as two arcs."""
    n, m = shape.n, shape.m * (2 if ask.what == "from_edges" and not shape.directed else 1)
    rows, columns = ask.sources, n
    if ask.what == "distance_table" and not ask.weighted:
        rows = min(ask.sources, ask.at_once)
        columns = n if ask.together or ask.targets is None else ask.targets
    if ask.what in BETWEENNESS:
        rows = min(ask.sources, 16)  # sources whose edge scores are in memory simultaneously
    workers = ask.workers
    if ask.together and ask.what not in BETWEENNESS:
        workers = max(1, min(workers, ask.sources // 4))
    if ask.memory_limit is not None and each.worker:
        most = each.worker * n + max(4, each.worker_arc) * m
        workers = max(1, min(workers, int(ask.memory_limit // max(1, most))))
    own = (each.worker * n + each.worker_arc * m) * (0.3 + 0.7 * ask.reached)
    own += min(own, pages)
    return int(each.vertex * n + each.arc * m + each.entry * rows * columns + workers * own)


def _variants(shape: Shape, ask: Ask) -> list[str]:
    """The keys of the table CPU whose parts a function adds up."""
    what, mesh, weighted = ask.what, shape.mesh, " along weights" if ask.weighted else ""
    on_mesh = ", mesh" if mesh else ""
    at_once = ["at once"] if ask.weighted and ask.targets is None and _at_once(shape, ask) else []
    hubs = shape.irregular and shape.n > 1 << 15
    if what in BETWEENNESS:
        if ask.weighted:
            names = [f"{'edges' if ask.edges else 'betweenness'} along weights"]
            return [*names, "counts along weights on a mesh"] if mesh else names
        if ask.edges:
            return [f"edges{on_mesh}"]
        renumbered = hubs and ask.sources >= 32 and ask.memory_limit is None
        both = ["renumbered", "renumbered"] if shape.directed else ["renumbered"]
        return [f"betweenness{on_mesh}", *(both if renumbered else [])]
    if what == "bfs":
        bits = shape.depth * math.log2(max(1.0, shape.m / max(1, shape.n) / 2))
        counts = "path counts beyond float64" if bits > LARGEST_COUNT_BITS else "path counts"
        return ["bfs", counts] if ask.path_counts else ["bfs"]
    if what == "pagerank":
        return ["pagerank", *(["pagerank by degree", *["values of arcs"] * ask.weighted] if hubs else [])]
    if what.endswith("components"):
        return ["components"]
    if what in ("sssp", "from_edges"):
        return [what, *(["weights of edges"] if ask.weighted else [])]
    if what == "accessibility":
        return [f"sums along weights{on_mesh}", *(at_once if weighted else ["lengths of 1"])]
    if what in SUMS:
        return [f"sums along weights{on_mesh}" if weighted else "sums together" if ask.together else "sums", *at_once]
    aimed = ask.targets is not None and not ask.together
    if weighted or aimed:
        names = [f"rows along weights{on_mesh}", *at_once, *(["targets"] if aimed else [])]
        return names if weighted else [*names, "lengths of 1"]
    return ["rows together" if ask.together else "rows", *(["hops as lengths"] if what == "sssp_many" else [])]


def _at_once(shape: Shape, ask: Ask) -> bool:
    """Whether searches along weights share steps (policy.width_at_once, many_sources.prepared)."""
    from hopwave.engines.cpu import policy

    short = policy.short_arcs_first(shape.n, shape.m, shape.directed, ask.sources)
    few = shape.n <= SMALL_WEIGHTED or shape.depth <= SHALLOW_WEIGHTED
    return few and policy.width_at_once(shape.n, ask.sources // ask.workers, short) > 1


def _reduced(graph: Graph, job: BetweennessJob, device: str, threads: int | None) -> ReducedJob | None:
    """The reduced job, if a call would reduce it. The CPU finds the chains, also for a GPU."""
    if why_whole(graph, job, device, most_sources(engine("cpu"), graph, job.sources)) is not None:
        return None
    blocks = biconnected_components(graph, "cpu", threads=threads)
    return reduced(graph, job, blocks, threads, device, walked_by="cpu")


def _of_core(parts: ReducedJob, device: str, threads: int, machine: Any, free: int | None) -> Parts:
    """Memory of a run over the core, on the CPU or on a GPU."""
    core = parts.core
    if device == "cpu":
        core.prepare()
        workers = max(1, min(threads, core.blocks))
        return {
            "rows and searches of each thread": workers * total(core.state_arrays()),
            "sums": core.total.nbytes * (1 + max(2, min(2 * workers, core.blocks))),
            "the core and its chains": _held(core._C) + _held(core._found),
        }
    from hopwave.engines.cuda.betweenness import regimes

    machine = machine or regimes.Machine()
    free = machine.memory if free is None else free
    core.prepare(regimes.core_batch_size(core.K, regimes.MOST_CORE_ROWS, machine.memory, free))
    rows = total(regimes.core_arrays(core.K, core.rows, core.size, machine.multiprocessors))
    return {"rows of a batch": rows, "sums": 2 * core.total.nbytes, "the core and its chains": _held(core._C)}


def _of_distances(graph: Graph, ids: Integers, what: What, weighted: bool, threads: int | None) -> Parts:
    """Memory of closeness (what="total") or harmonic centrality ("inverse") on a CPU, besides the searches."""
    job, cpu = Sweep(ids, "sums", weighted=weighted), engine("cpu")
    found = distance_sums.core_sums(cpu, graph, job, what, threads) if distance_sums.may_pay(cpu, graph, job) else None
    if found is None:
        return {}
    rows = int(found.widest * found.graph.n * (8 if weighted else 4))
    return {"rows of distances": rows, "the core, its chains and the trees": found.nbytes}


def _held(arrays: Any) -> int:
    """Bytes of all arrays of a record."""
    return sum(one.nbytes for one in arrays if isinstance(one, np.ndarray))


def _machine(device: str) -> tuple[Any, int | None]:
    """(GPU, free memory). The GPU is None on a CPU; both are None for the H200 that is assumed without a GPU."""
    if device == "cpu" or not choice.has_gpu():
        return None, available_memory() if device == "cpu" else None
    from hopwave.engines.cuda.betweenness.run import machine

    return machine(), choice.free_on_gpu()


def _told(
    name: str, device: str, parts: Parts, free: int | None, rows: str | None = None, on_host: int = 0
) -> MemoryEstimate:
    held = dict(sorted(((part, size) for part, size in parts.items() if size > 0), key=lambda part: -part[1]))
    return MemoryEstimate(name, device, sum(held.values()), held, free, rows, on_host)


def _estimated(
    ask: Ask, shape: Shape, device: str, graph: Graph | None = None, besides: Parts | None = None
) -> MemoryEstimate:
    """`graph`: a graph that a GPU has compressed, or may compress to make it fit; `besides`: additional parts."""
    (machine, free), rows, on_host = _machine(device), None, 0
    if device == "cpu":
        parts = on_cpu(shape, ask) | (besides or {})
    else:
        from hopwave.engines.cuda import footprint as model
        from hopwave.engines.cuda.betweenness.regimes import Machine

        rows, parts = "plain", model.footprint(shape, ask, machine, free)
        if graph is not None:
            room = Machine.memory if free is None else free
            kept = choice.compressed_rows(graph)
            fits = sum(model.footprint(shape, Ask("bfs"), machine, free).values()) <= room  # decides for every function
            room = room if kept is None else 1 << 62
            found = None if fits and kept is None else model.in_fewer_bits(shape, ask, room, graph.indptr)
            if found is not None:
                parts, rows = model.footprint(found[0], ask, machine, free), "compressed"
                on_host = 0 if found[1] is None else parts.get("compressed rows", 0) - found[1]
                on_host = on_host if kept is None else kept.host_bytes
            if on_host:
                rows = "across the bus"
                parts["compressed rows"] -= on_host
    return _told(ask.what, device, parts, free, rows, on_host)
