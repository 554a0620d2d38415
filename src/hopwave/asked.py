"""What questions about distances check before they are answered: the engine, the vertices, the sample."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from hopwave import engines
from hopwave.algorithms import sampled as _sampled
from hopwave.algorithms.brandes import check_risk
from hopwave.algorithms.many import Integers
from hopwave.api import choose_device
from hopwave.errors import EngineError, GraphError
from hopwave.graph import Graph


def answering(verb: str, device: str, graph: Graph, threads: int | None, sources: int = 1) -> engines.Engine:
    """The engine for a question that takes so many searches: the one device= names, or for "auto" the best one that
    answers it."""
    engine = engines.engine(choose_device(device, graph, threads, sources))
    reason = engine.declines(verb, graph)
    if reason is None:
        return engine
    if device == "auto":
        return engines.engine("cpu")
    raise EngineError(reason)


def walked(graph: Graph, direction: str) -> Graph:
    """The graph whose out-arcs a search in that direction follows."""
    if direction not in ("out", "in"):
        raise GraphError(f"direction={direction!r} is not known; use 'out' or 'in'")
    return graph.reversed() if direction == "in" else graph


def vertex_ids(graph: Graph, vertices: Iterable[Any] | None) -> Integers:
    """The ids of vertices in the order given, repeats kept; all of them for None."""
    if vertices is None:
        return np.arange(graph.n, dtype=np.int64)
    if isinstance(vertices, str | bytes) or not isinstance(vertices, Iterable):
        raise GraphError(f"{vertices!r} is not a list of vertices; for a single one give [{vertices!r}]")
    if isinstance(vertices, np.ndarray) and vertices.dtype.kind in "iu" and vertices.ndim == 1 and graph.labels is None:
        if len(vertices) and not 0 <= vertices.min() <= vertices.max() < graph.n:
            raise GraphError(
                f"vertices from {vertices.min()} to {vertices.max()} are not all in this graph; "
                f"its vertices are the numbers 0 to {graph.n - 1}"
            )
        return vertices.astype(np.int64)
    return np.fromiter((graph.index(vertex) for vertex in vertices), np.int64)


def sampling(graph: Graph, k: int | None, chosen: Any, delta: float) -> int | None:
    """How many sources to draw, where k was given and is less than all; else None."""
    check_risk(delta)
    if k is None:
        return None
    if chosen is not None:
        raise GraphError("k= draws its own sources, and others were chosen too; give one or the other")
    drawn = _sampled.check_sample(k)
    return drawn if drawn < graph.n else None
