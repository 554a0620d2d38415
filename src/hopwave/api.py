"""The public face: check what was asked, choose a plan and an engine, run, wrap."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from hopwave import engines
from hopwave.algorithms import bfs as _bfs
from hopwave.catalogue import CATALOGUE
from hopwave.catalogue import plan as named_plan
from hopwave.errors import GraphError, PlanError
from hopwave.graph import Graph
from hopwave.plan import Plan
from hopwave.result import BFSResult, PlanTable
from hopwave.semiring import Question


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
) -> BFSResult:
    """Hops from a source, or from the nearest of several, to every vertex.

    G is a Graph, a SciPy sparse matrix or a NetworkX graph. A source is a vertex id, or a label where the graph has
    labels; a list of them searches from all at once. `direction="in"` follows arcs backwards. `depth_limit` stops
    after that many hops. `plan` is a name from `hopwave.plans()`; `device` is "auto", "cpu", "cuda" or "reference".
    `trace=True` keeps what every level did.

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
    if depth_limit is not None and (not is_whole(depth_limit) or depth_limit < 0):
        raise GraphError(f"depth_limit={depth_limit!r} is not a number of hops; give a whole number from 0, or None")
    question = Question(predecessors, path_counts, None if depth_limit is None else int(depth_limit))
    sources = source_ids(graph, source)
    engine = engines.engine(choose_device(device))
    chosen, why = choose_plan(plan, question, engine)
    walked = graph.reversed() if direction == "in" else graph
    return _bfs.search(engine, walked, sources, question, chosen, why, trace)


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


def source_ids(graph: Graph, source: Any) -> tuple[int, ...]:
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
        raise GraphError("the list of sources is empty; a search needs at least one vertex to start from")
    return ids


def is_whole(value: Any) -> bool:
    """Whether value is a whole number; True and False are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_label(graph: Graph, value: Any) -> bool:
    try:
        return value in graph._numbers
    except TypeError:
        return False


def choose_device(device: str) -> str:
    """The engine that device= names; "auto" is the best one here."""
    return "cpu" if device == "auto" else device


def choose_plan(plan: str | Plan, question: Question, engine: engines.Engine) -> tuple[Plan, str]:
    """The plan to run and why, or a PlanError that names what to use instead."""
    if plan == "auto":
        if question.path_counts:
            return CATALOGUE["hopwave-paths"], "path counts need every term"
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
