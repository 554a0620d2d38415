"""Every check of an argument, once: graphs, vertices, directions, numbers of hops, samples."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Literal

import numpy as np

from hopwave.algorithms.draws import check_sample
from hopwave.checks.numbers import is_number, is_whole
from hopwave.checks.options import one_of
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.graph.columns import CONSTRUCTORS, check_not_table
from hopwave.graph.construct import networkx_columns
from hopwave.graph.csr import LARGEST_VERTEX_COUNT
from hopwave.graph.naming import Named
from hopwave.planning.jobs import Integers


def as_graph(G: Any, repeats: Literal["merge", "keep"] = "merge") -> Graph:
    """G itself if it is a Graph; others are converted without weights. `repeats`: of a NetworkX multigraph's edges."""
    if isinstance(G, Graph):
        return G
    if hasattr(G, "tocsr"):
        return Graph.from_scipy(G, weights=False)
    if is_networkx(G):
        source, target, _, labels, n = networkx_columns(G, None)
        return Graph.from_edges(source, target, n, G.is_directed(), labels=labels, repeats=repeats)
    library = type(G).__module__.partition(".")[0].removeprefix("_")
    if library in CONSTRUCTORS:
        raise GraphError(f"{library}'s {type(G).__name__} must be converted once, first; give {CONSTRUCTORS[library]}")
    raise GraphError(
        f"{type(G).__name__} is not a graph; pass hopwave.read(path), a Graph, a SciPy matrix or a NetworkX graph"
    )


def is_networkx(G: Any) -> bool:
    """Whether G looks like a NetworkX graph."""
    return hasattr(G, "is_multigraph") and hasattr(G, "edges")


def order_of_nodes(G: Any, graph: Graph) -> Integers | None:
    """The vertices in the order of a NetworkX graph's nodes, of which NetworkX draws a sample; None if 0 … n − 1."""
    if not is_networkx(G) or graph.labels is not None:
        return None
    order = np.fromiter(G, np.int64, graph.n)
    return None if bool((order[1:] > order[:-1]).all()) else order


def in_direction(graph: Graph, direction: str) -> Graph:
    """The graph whose out-arcs a search in that direction follows: itself for "out", its reverse for "in"."""
    if direction.__class__ is not str or direction not in ("out", "in"):
        one_of("direction", direction, ("out", "in"))
    return graph.reversed() if direction == "in" else graph


def undirected(graph: Graph, what: str) -> Graph:
    """The graph; raises a GraphError if it is directed. `what` needs it, for the message."""
    if graph.directed:
        raise GraphError(
            f"{what} needs an undirected graph; drop the directions with G.without_weights().to_undirected()"
        )
    return graph


def source_ids(graph: Named, source: Any, name: str = "sources") -> tuple[int, ...]:
    """The ids of one vertex, or of several, each once, in the order given; of a set, which has none, ascending."""
    if graph.labels is None:  # the usual cases, first because they are fast
        if type(source) is int and 0 <= source < graph.n:
            return (source,)
        if type(source) is list and source:
            return tuple(dict.fromkeys(graph._positions(source)))
    several = isinstance(source, Iterable) and not isinstance(source, str | bytes)
    if several and graph.labels is not None:
        with suppress(TypeError):  # it cannot be hashed
            several = source not in graph._numbers  # a tuple may be one vertex's label
    check_not_table(source, "a list of vertices")
    if isinstance(source, np.ndarray) and source.ndim == 0:
        source, several = source[()], False
    if not several:
        return (graph.index(source),)
    if isinstance(source, np.ndarray) and source.ndim == 1:
        source = listed_vertices(graph, source).tolist()
        ids = tuple(dict.fromkeys(source))
    else:
        found = dict.fromkeys(graph._positions(source))
        ids = tuple(sorted(found) if isinstance(source, set | frozenset) else found)
    if not ids:
        remedy = (
            "a search needs at least one vertex to start from" if name == "sources" else f"leave out {name}= for all"
        )
        raise GraphError(f"the list of {name} is empty; {remedy}")
    return ids


def vertex_ids(graph: Graph, vertices: Iterable[Any] | None) -> Integers:
    """The ids of a list of vertices in the order given, with repeats; None stands for all vertices."""
    return np.arange(graph.n, dtype=np.int64) if vertices is None else listed_vertices(graph, vertices)


def listed_vertices(graph: Named, vertices: Iterable[Any]) -> Integers:
    """The ids of a list of vertices in the order given, with repeats; of a set, ascending. A single one is refused."""
    check_not_table(vertices, "a list of vertices")
    is_one = isinstance(vertices, np.ndarray) and not vertices.ndim
    if isinstance(vertices, str | bytes) or is_one or not isinstance(vertices, Iterable):
        raise GraphError(f"{vertices!r} is not a list of vertices; for a single one give [{vertices!r}]")
    if isinstance(vertices, np.ma.MaskedArray):
        vertices = vertices.tolist(None)  # a masked vertex becomes None, which graph.index refuses
    if isinstance(vertices, np.ndarray) and vertices.dtype.kind in "iu" and vertices.ndim == 1 and graph.labels is None:
        if len(vertices) and not 0 <= vertices.min() <= vertices.max() < graph.n:
            raise GraphError(
                f"vertices from {vertices.min()} to {vertices.max()} are not all in this graph; "
                f"its vertices are the numbers 0 to {graph.n - 1}"
            )
        return vertices.astype(np.int64)
    ids = np.array(graph._positions(vertices), np.int64)
    return np.sort(ids) if isinstance(vertices, set | frozenset) else ids


def check_hops(name: str, value: Any) -> int | None:
    """A limit on the number of hops, or None. One that no path can reach becomes None: engines count in 32 bits."""
    limit = None if value is None else required_hops(name, value, ", or None")
    return None if limit == LARGEST_VERTEX_COUNT else limit


def required_hops(name: str, value: Any, otherwise: str = "") -> int:
    """A number of hops: a whole number from 0, also as a float. `otherwise` names what else is allowed."""
    if (not is_whole(value) and not (is_number(value) and float(value).is_integer())) or value < 0:
        raise GraphError(f"{name}={value!r} is not a number of hops; give a whole number from 0{otherwise}")
    return min(int(value), LARGEST_VERTEX_COUNT)  # no shortest path is longer


def check_distance(name: str, value: Any, weighted: bool, otherwise: str = ", or None") -> float | None:
    """A limit on distances: a number of hops, or along weights a length ≥ 0."""
    if not weighted:
        return None if value is None and otherwise else required_hops(name, value, otherwise)
    if value is None and otherwise:
        return None
    if not (is_number(value) or is_whole(value)) or value < 0:
        raise GraphError(f"{name}={value!r} is not a length; give a number from 0{otherwise}")
    return float(value) if is_number(value) else math.inf  # no float64 holds 10**400


def check_probability(name: str, value: Any, what: str, example: float) -> None:
    """Raise a GraphError unless the value is a number between 0 and 1."""
    if not isinstance(value, int | float | np.number) or not 0 < value < 1:
        raise GraphError(f"{name}={value!r} is not {what}; give a number between 0 and 1, for example {example:g}")


def check_risk(delta: Any) -> None:
    """Raise a GraphError unless delta is a probability of failure. It is checked even if nothing is sampled."""
    check_probability("delta", delta, "a risk", 0.1)


def sample_size(graph: Graph, k: int | None, chosen: Any, delta: float, interval: Any = "guaranteed") -> int | None:
    """How many sources to draw; None for all, if k is None or n. `chosen`: sources that the caller names, or None."""
    check_risk(delta)
    one_of("interval", interval, ("guaranteed", "normal"))
    if interval == "normal" and (k is None or k == 1):
        few = "one source has no spread to estimate it from" if k == 1 else "without k= scores are exact"
        raise GraphError(f"interval='normal' is of a sample, and {few}; give k= of 2 or more, or leave interval= out")
    if k is None:
        return None
    if chosen is not None:
        raise GraphError("k= draws its own sources, and others were chosen too; give one or the other")
    if is_whole(k) and k == graph.n:
        return None
    check_sample(graph.n, k)
    return int(k)
