"""What callers pass, checked once: graphs, vertices, limits, samples."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from hopwave import engines
from hopwave.algorithms import estimates as _sampled
from hopwave.algorithms.sampling import check_risk
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.jobs import Integers
from hopwave.prepared import DeviceInput


def to_input_device(graph: Graph, engine: engines.Engine, array: Any) -> Any:
    """An answer where the graph came from: a CuPy array if it was made of such and the GPU computed, else as it is."""
    if array is None or engine.name != "cuda" or graph._prepared.find(DeviceInput) is None:
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
