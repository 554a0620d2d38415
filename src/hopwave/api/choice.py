"""Which engine and which plan run when the caller does not say, and on which device the result is returned."""

from __future__ import annotations

import sys
from concurrent.futures import Executor
from functools import cache
from typing import Any

from hopwave import engines
from hopwave.arrays import Deferred, on_gpu
from hopwave.checks.options import check_thread_count
from hopwave.engines.ledger import Ask, Shape
from hopwave.errors import EngineError, PlanError, too_large
from hopwave.executors import DealtEngine, RemoteEngine, check_executor
from hopwave.graph import Graph
from hopwave.graph.csr import ASK_FROM
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.catalogue import plan as named_plan
from hopwave.planning.jobs import BetweennessJob, SearchJob
from hopwave.planning.plan import Plan

# From these sizes on, a GPU repays the upload of the graph.
MIN_ARCS_FOR_GPU = 1 << 20  # arcs, for one search
MIN_SEARCHED_ARCS_FOR_GPU = 1 << 32  # searches × arcs, for many searches
MIN_WEIGHTED_ARCS_FOR_GPU = 1 << 28  # searches × arcs, for many searches along weights, which cost a CPU more per arc
MIN_BETWEENNESS_ARCS_FOR_GPU = 1 << 28  # sources × arcs, for betweenness
ON_PACKED_ROWS = ("sweep", "components", "shortest_path")  # operations for which a GPU may compress the rows
MIN_ARCS_TO_ASK = ASK_FROM

WEIGHTED_PLAN = "brandes-dijkstra"  # for betweenness along weights
DENSE_DEGREE = 16  # from this mean degree on, a pull on a CPU skips most of its rows, and pays sooner


@cache
def has_gpu() -> bool:
    """Whether the CUDA engine can run here. CuPy is only loaded if it is installed."""
    try:
        engines.engine("cuda")
    except EngineError:
        return False
    return True


Work = tuple[int, int]  # arcs that a call follows, and how many of them repay the upload to a GPU


def search_work(graph: Graph, searches: int = 1, weighted: bool = False) -> Work:
    """That many searches; 0 is less than a whole one, such as one path. Along weights, a GPU needs many to be busy."""
    least = max(1, min(searches * MIN_ARCS_FOR_GPU, MIN_SEARCHED_ARCS_FOR_GPU))
    return searches * graph.m, MIN_WEIGHTED_ARCS_FOR_GPU if weighted else least


def betweenness_work(graph: Graph, sources: int) -> Work:
    """A betweenness run over that many sources."""
    return sources * graph.m, MIN_BETWEENNESS_ARCS_FOR_GPU


def choose_device(work: Work, device: str, graph: Graph, threads: int | None, packed: bool = False) -> str:
    """The name of the engine for some work. `packed`: whether compressed rows are enough on a GPU.

    "auto" is a GPU if there is one and the work is worth the upload, else the CPU. threads= selects the CPU. A graph
    that a GPU cannot hold, or holds compressed for other work, is left to the CPU; or refused, if the GPU is named.
    """
    check_thread_count(threads)
    if not isinstance(device, str) or device != "auto":
        return _with_room(device, graph, packed)
    worth = threads is None and work[0] >= work[1] and has_gpu() and why_not_on_gpu(graph, packed) is None
    return "cuda" if worth and (packed or compressed_rows(graph) is None) else "cpu"


def choose_engine(
    work: Work,
    device: str,
    graph: Graph,
    threads: int | None,
    executor: Executor | None = None,
    operation: engines.Operation | None = None,
    packed: bool = False,
) -> engines.Engine:
    """The engine for some work: the one that device= names, or for "auto" the best one that offers the operation."""
    if executor is None:
        engine = engines.engine(choose_device(work, device, graph, threads, packed))
    else:
        engine = _dealt_engine(executor, device, graph, threads, packed)
    reason = None if operation is None else engine.why_not_operation(operation, graph)
    if reason is None:
        return engine
    if device == "auto" and executor is None:
        return engines.engine("cpu")
    raise EngineError(reason)


def why_not_on_gpu(graph: Graph, packed: bool = False) -> str | None:
    """Why the GPU is too small for this graph (with compressed rows, if `packed`), or None; also if it is there."""
    if graph.m < MIN_ARCS_TO_ASK or is_on_gpu(graph):
        return None
    from hopwave.engines.cuda.footprint import footprint, in_fewer_bits

    shape = Shape(graph.n, graph.m, graph.directed, graph.indptr.dtype.itemsize)
    needed, free = sum(footprint(shape, Ask("bfs")).values()), free_on_gpu()
    if needed <= free or (packed and in_fewer_bits(shape, Ask("bfs"), free, graph.indptr)):
        return None
    return str(
        too_large("a search of this graph on the GPU", needed, free, "use device='cpu', or split it over MPI ranks")
    )


def free_on_gpu() -> int:
    """Bytes that a run may take on the current GPU."""
    from hopwave.engines.cuda.buffers import free_memory

    return int(free_memory())


def is_on_gpu(graph: Graph) -> bool:
    """Whether the graph lives on a GPU, or an earlier call has uploaded it."""
    return graph.device == "cuda" or _uploaded(graph) is not None


def compressed_rows(graph: Graph) -> Any:
    """The graph's rows if a GPU keeps them compressed, else None."""
    found = _uploaded(graph)
    return None if found is None else found.compressed


def _uploaded(graph: Graph) -> Any:
    """The graph's arrays on a GPU, if there are any."""
    loaded: Any = sys.modules.get("hopwave.engines.cuda.graph")
    return None if loaded is None else graph._prepared.find(loaded.CudaGraph)


def _with_room(device: str, graph: Graph, packed: bool) -> str:
    """The device; raises an EngineError if it is not a name, or is a GPU that cannot hold the graph."""
    if not isinstance(device, str):
        raise EngineError(f"device {device!r} is not known; use 'auto', 'cuda', 'cpu' or 'reference'")
    if device == "cuda" and has_gpu() and (reason := why_not_on_gpu(graph, packed)):
        raise EngineError(reason)
    return device


def _dealt_engine(executor: Executor, device: str, graph: Graph, threads: int | None, packed: bool) -> DealtEngine:
    """The engine of an executor's workers. If this machine has no GPU, a worker decides what a GPU can do."""
    device = _with_room(check_executor(executor, device, threads), graph, packed)
    elsewhere = device == "cuda" and not has_gpu()
    engine: Any = RemoteEngine(device, executor, graph) if elsewhere else engines.engine(device)
    return DealtEngine(engine, executor)  # type: ignore[abstract]  # its __getattr__ has the rest


def engine_for(
    operation: engines.Operation,
    device: str,
    graph: Graph,
    threads: int | None,
    searches: int = 1,
    executor: Executor | None = None,
) -> engines.Engine:
    """The engine for an operation that takes that many searches."""
    work = search_work(graph, searches, operation == "weighted_sweep")
    return choose_engine(work, device, graph, threads, executor, operation, operation in ON_PACKED_ROWS)


def distance_engine(
    weighted: bool, device: str, graph: Graph, threads: int | None, searches: int = 1, executor: Executor | None = None
) -> engines.Engine:
    """The engine for that many searches: along weights, or counting hops."""
    return engine_for("weighted_sweep" if weighted else "sweep", device, graph, threads, searches, executor)


def betweenness_engine(
    device: str,
    graph: Graph,
    job: BetweennessJob,
    plan: str | Plan,
    threads: int | None,
    executor: Executor | None = None,
) -> engines.Engine:
    """The engine for a betweenness run. "auto" is a GPU only if that can run the plan."""
    if not isinstance(plan, str):
        plan = named_plan(plan)
    packed = plan in ("auto", "hopwave-block", "hopwave-wide") and not (job.edges or job.weighted)
    work = betweenness_work(graph, len(job.sources))
    engine = choose_engine(work, device, graph, threads, executor, packed=packed)
    if engine.name == "cpu" or device != "auto":
        return engine
    if plan == "auto" and job.weighted:
        plan = WEIGHTED_PLAN
    elif plan == "auto" and job.has_demand:
        plan = "hopwave-block"
    return engine if plan == "auto" or engine.why_not(named_plan(plan), job) is None else engines.engine("cpu")


def choose_plan(plan: str | Plan, question: SearchJob, graph: Graph, engine: engines.Engine) -> tuple[Plan, str]:
    """The plan for a search and why it was chosen; raises a PlanError that names what to use instead."""
    if isinstance(plan, str) and plan == "auto":
        if question.path_counts:
            return CATALOGUE["hopwave-paths"], "path counts need every term"
        if engine.name == "cuda":
            return CATALOGUE["hopwave-dense"], "the default on a GPU"
        if graph.m >= DENSE_DEGREE * max(graph.n, 1):
            return CATALOGUE["hopwave-dense"], f"the default for a mean degree from {DENSE_DEGREE} on"
        return CATALOGUE["hopwave"], "the default"
    chosen = named_plan(plan, "search")
    reason = engine.why_not(chosen, question)
    if reason:
        raise PlanError(reason)
    return chosen, "asked for"


def choose_betweenness_plan(
    plan: str | Plan, job: BetweennessJob, graph: Graph, engine: engines.Engine
) -> tuple[Plan, str]:
    """The plan for a betweenness run and why it was chosen; raises a PlanError that names what to use instead."""
    if plan == "auto" and job.weighted:
        chosen, why = CATALOGUE[WEIGHTED_PLAN], "weights are the lengths of arcs"
    elif plan == "auto":
        regime, why = engine.regime(graph, job, CATALOGUE["hopwave-block"]) or ("block", "one source per worker")
        chosen = CATALOGUE[f"hopwave-{regime}"]
    else:
        chosen, why = named_plan(plan, "betweenness"), "asked for"
    if chosen.task != "betweenness":
        what = "a search" if chosen.task == "search" else "for shortest paths"
        raise PlanError(
            f"plan {chosen.name!r} is {what}; for betweenness use 'auto', 'hopwave-block' or 'turbobc-sccsc'"
        )
    if job.weighted and chosen.lengths == "hops":
        raise PlanError(
            f"plan {chosen.name!r} goes level by level and counts hops, and weights= gives arcs lengths; use 'auto' or "
            f"{WEIGHTED_PLAN!r}, or leave out weights="
        )
    if not job.weighted and chosen.lengths == "weights":
        raise PlanError(f"plan {chosen.name!r} follows weights; give weights=, or use plan='auto' to count hops")
    reason = engine.why_not(chosen, job)
    if reason:
        raise PlanError(reason)
    return chosen, why


def product_device(graph: Graph, device: str, packed: bool = False) -> str:
    """Where products run: where the graph is, unless a device is named. `packed`: whether they read compressed rows."""
    there = graph.device == "cuda" and (packed or compressed_rows(graph) is None)
    return "cuda" if isinstance(device, str) and device == "auto" and there else device


def to_input_device(graph: Graph, engine: engines.Engine, array: Any) -> Any:
    """A result where the graph is. What a GPU computed for a graph of the host is copied when it is first read."""
    if array is None or engine.name != "cuda":
        return array
    if graph.device == "cuda":
        import cupy

        return cupy.asarray(array)
    if not on_gpu(array):
        return array
    from hopwave.engines.cuda.buffers import to_host

    return Deferred(lambda: to_host(array))
