"""Which engine and which plan answer a question when the caller leaves the choice to us."""

from __future__ import annotations

from functools import cache

from hopwave import engines
from hopwave.catalogue import CATALOGUE
from hopwave.catalogue import plan as named_plan
from hopwave.errors import EngineError, PlanError
from hopwave.graph import Graph
from hopwave.jobs import Job, Question
from hopwave.plan import Plan

# Arcs from which a search on the GPU pays for the upload; and searches times arcs, where there are many searches.
MIN_ARCS_FOR_GPU = 1 << 20

MIN_SEARCHED_ARCS_FOR_GPU = 1 << 32

# Sources times arcs from which betweenness does.
MIN_BETWEENNESS_ARCS_FOR_GPU = 1 << 28

# With fewer sources than this on a graph of that many arcs, all threads work on one source at a time. Not a question of
# how many threads there are: they must change no bit of a result.
WIDE_SOURCES = 4

WIDE_ARCS = 1 << 20


def betweenness_engine(device: str, graph: Graph, job: Job, plan: str | Plan, threads: int | None) -> engines.Engine:
    """The engine for a betweenness run: for "auto" a GPU that takes the plan, where sources × arcs are worth it."""
    if device != "auto":
        return engines.engine(device)
    if threads is None and len(job.sources) * graph.m >= MIN_BETWEENNESS_ARCS_FOR_GPU and has_gpu():
        gpu = engines.engine("cuda")
        if plan == "auto" or gpu.why_not(named_plan(plan), job) is None:
            return gpu
    return engines.engine("cpu")


def choose_betweenness_plan(plan: str | Plan, job: Job, graph: Graph, engine: engines.Engine) -> tuple[Plan, str]:
    """The plan to run and why, or a PlanError that names what to use instead."""
    own = engine.regime(graph, job, CATALOGUE["hopwave-block"]) if plan == "auto" else None
    if own is not None:
        regime, why = own
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
    reason = engine.why_not(chosen, job)
    if reason:
        raise PlanError(reason)
    return chosen, why


def choose_device(device: str, graph: Graph, threads: int | None, sources: int = 1) -> str:
    """The engine that device= names. "auto" is a GPU where there is one and so many searches are worth the trip, else
    the CPU; 0 stands for less than a search, such as one path. Who says threads= means the CPU."""
    if device != "auto":
        return device
    worth = sources > 0 and (graph.m >= MIN_ARCS_FOR_GPU or sources * graph.m >= MIN_SEARCHED_ARCS_FOR_GPU)
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
    reason = engine.why_not(chosen, question)
    if reason:
        raise PlanError(reason)
    return chosen, "asked for"


def engine_for(
    operation: engines.Operation, device: str, graph: Graph, threads: int | None, sources: int = 1
) -> engines.Engine:
    """The engine for a question that takes so many searches: the one device= names, or for "auto" the best one that
    answers it."""
    engine = engines.engine(choose_device(device, graph, threads, sources))
    reason = engine.why_not_operation(operation, graph)
    if reason is None:
        return engine
    if device == "auto":
        return engines.engine("cpu")
    raise EngineError(reason)
