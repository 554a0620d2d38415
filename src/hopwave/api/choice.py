"""Choice of the engine and the plan if the caller names none, and of the device that returns the result."""

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

# Minimum sizes at which a GPU repays the upload of the graph.
MIN_ARCS_FOR_GPU = 1 << 20  # arcs, for one search
MIN_SEARCHED_ARCS_FOR_GPU = 1 << 32  # searches × arcs, for many searches
MIN_WEIGHTED_ARCS_FOR_GPU = 1 << 28  # searches × arcs, for many weighted searches, which cost a CPU more per arc
MIN_BETWEENNESS_ARCS_FOR_GPU = 1 << 28  # sources × arcs, for betweenness
ON_PACKED_ROWS = ("sweep", "components", "shortest_path")  # operations that a GPU can run on compressed adjacency lists
MIN_ARCS_TO_ASK = ASK_FROM

WEIGHTED_PLAN = "brandes-dijkstra"  # plan for weighted betweenness
DENSE_DEGREE = 16  # minimum mean degree at which a pull on a CPU skips most of each adjacency list, and pays sooner


@cache
def has_gpu() -> bool:
    """Whether the CUDA engine is usable on this machine. Imports CuPy only if it is installed."""
    try:
        engines.engine("cuda")
    except EngineError:
        return False
    return True


Work = tuple[int, int]  # number of arcs that a call visits, and the minimum number that repays the upload to a GPU


def search_work(graph: Graph, searches: int = 1, weighted: bool = False) -> Work:
    """Work of a number of searches; 0 is a partial search, such as one path. A few weighted searches run on a CPU."""
    least = max(1, min(searches * MIN_ARCS_FOR_GPU, MIN_SEARCHED_ARCS_FOR_GPU))
    return searches * graph.m, MIN_WEIGHTED_ARCS_FOR_GPU if weighted else least


def betweenness_work(graph: Graph, sources: int) -> Work:
    """Work of betweenness over that many sources."""
    return sources * graph.m, MIN_BETWEENNESS_ARCS_FOR_GPU


def choose_device(work: Work, device: str, graph: Graph, threads: int | None, packed: bool = False) -> str:
    """The name of the engine for some work. `packed`: whether the work can use compressed adjacency lists on a GPU.

    "auto" is a GPU if there is one, threads= is None, the work repays the upload, the graph fits, and the GPU does not
    store the graph compressed for other work. Otherwise "auto" is the CPU. "cuda" raises an error if it does not fit.
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
    """The engine for some work: the engine that device= names, or for "auto" the best that supports the operation."""
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
    """Why the graph does not fit on the GPU (compressed if `packed`); None if it fits or is already there."""
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
    """Number of bytes that a call may use on the current GPU."""
    from hopwave.engines.cuda.buffers import free_memory

    return int(free_memory())


def is_on_gpu(graph: Graph) -> bool:
    """Whether the graph is on a GPU, or an earlier call has uploaded it."""
    return graph.device == "cuda" or _uploaded(graph) is not None


def compressed_rows(graph: Graph) -> Any:
    """The compressed adjacency lists of the graph on a GPU; None if they are not compressed or not on a GPU."""
    found = _uploaded(graph)
    return None if found is None else found.compressed


def _uploaded(graph: Graph) -> Any:
    """The arrays of the graph on a GPU, or None."""
    loaded: Any = sys.modules.get("hopwave.engines.cuda.graph")
    return None if loaded is None else graph._prepared.find(loaded.CudaGraph)


def _with_room(device: str, graph: Graph, packed: bool) -> str:
    """The device; raises an EngineError if it is not a string, or is a GPU that is too small for the graph."""
    if not isinstance(device, str):
        raise EngineError(f"device {device!r} is not known; use 'auto', 'cuda', 'cpu' or 'reference'")
    if device == "cuda" and has_gpu() and (reason := why_not_on_gpu(graph, packed)):
        raise EngineError(reason)
    return device


def _dealt_engine(executor: Executor, device: str, graph: Graph, threads: int | None, packed: bool) -> DealtEngine:
    """The engine of an executor's workers. If this machine has no GPU, a worker reports what its GPU supports."""
    device = _with_room(check_executor(executor, device, threads), graph, packed)
    elsewhere = device == "cuda" and not has_gpu()
    engine: Any = RemoteEngine(device, executor, graph) if elsewhere else engines.engine(device)
    return DealtEngine(engine, executor)  # type: ignore[abstract]  # __getattr__ provides the other methods


def engine_for(
    operation: engines.Operation,
    device: str,
    graph: Graph,
    threads: int | None,
    searches: int = 1,
    executor: Executor | None = None,
) -> engines.Engine:
    """The engine for an operation that needs that many searches."""
    work = search_work(graph, searches, operation == "weighted_sweep")
    return choose_engine(work, device, graph, threads, executor, operation, operation in ON_PACKED_ROWS)


def distance_engine(
    weighted: bool, device: str, graph: Graph, threads: int | None, searches: int = 1, executor: Executor | None = None
) -> engines.Engine:
    """The engine for that many searches, by weights or by hops."""
    return engine_for("weighted_sweep" if weighted else "sweep", device, graph, threads, searches, executor)


def betweenness_engine(
    device: str,
    graph: Graph,
    job: BetweennessJob,
    plan: str | Plan,
    threads: int | None,
    executor: Executor | None = None,
) -> engines.Engine:
    """The engine for a betweenness run. "auto" is a GPU only if the GPU supports the plan."""
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
    """(plan for a search, reason of the choice); raises a PlanError that names an alternative."""
    if isinstance(plan, str) and plan == "auto":
        if question.path_counts:
            return CATALOGUE["hopwave-paths"], "path counts need every term"
        if engine.name == "cuda":
            return CATALOGUE["hopwave-dense"], "the default on a GPU"
        if graph.m >= DENSE_DEGREE * max(graph.n, 1):
            return CATALOGUE["hopwave-dense"], f"the default for a mean degree of at least {DENSE_DEGREE}"
        return CATALOGUE["hopwave"], "the default"
    chosen = named_plan(plan, "search")
    reason = engine.why_not(chosen, question)
    if reason:
        raise PlanError(reason)
    return chosen, "requested"


def choose_betweenness_plan(
    plan: str | Plan, job: BetweennessJob, graph: Graph, engine: engines.Engine
) -> tuple[Plan, str]:
    """(plan for a betweenness run, reason of the choice); raises a PlanError that names an alternative."""
    if plan == "auto" and job.weighted:
        chosen, why = CATALOGUE[WEIGHTED_PLAN], "weights are the lengths of arcs"
    elif plan == "auto":
        regime, why = engine.regime(graph, job, CATALOGUE["hopwave-block"]) or ("block", "one source per worker")
        chosen = CATALOGUE[f"hopwave-{regime}"]
    else:
        chosen, why = named_plan(plan, "betweenness"), "requested"
    if chosen.task != "betweenness":
        what = "a search" if chosen.task == "search" else "for shortest paths"
        problem = f"plan {chosen.name!r} is {what}"
        raise PlanError(f"{problem}; for betweenness use 'auto', 'hopwave-block' or 'turbobc-sccsc'")
    if job.weighted and chosen.lengths == "hops":
        problem = f"plan {chosen.name!r} cannot be combined with weights=, because it counts hops"
        raise PlanError(f"{problem}; use 'auto' or {WEIGHTED_PLAN!r}, or omit weights=")
    if not job.weighted and chosen.lengths == "weights":
        raise PlanError(f"plan {chosen.name!r} needs weights; pass weights=, or use plan='auto' to count hops")
    reason = engine.why_not(chosen, job)
    if reason:
        raise PlanError(reason)
    return chosen, why


def product_device(graph: Graph, device: str, packed: bool = False) -> str:
    """Device for products: the graph's unless one is named. `packed`: whether they read compressed adjacency lists."""
    there = graph.device == "cuda" and (packed or compressed_rows(graph) is None)
    return "cuda" if isinstance(device, str) and device == "auto" and there else device


def to_input_device(graph: Graph, engine: engines.Engine, array: Any) -> Any:
    """A result on the graph's device. If the graph is on the host, results of a GPU are copied when first read."""
    if array is None or engine.name != "cuda":
        return array
    if graph.device == "cuda":
        import cupy

        return cupy.asarray(array)
    if not on_gpu(array):
        return array
    from hopwave.engines.cuda.buffers import to_host

    return Deferred(lambda: to_host(array))
