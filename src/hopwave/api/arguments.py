"""Checks of the arguments that functions share: graphs, vertices, directions, numbers of hops, samples."""

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
    """G if it is a Graph, else a graph converted from G without weights. `repeats` is for NetworkX multigraphs."""
    if isinstance(G, Graph):
        return G
    if hasattr(G, "tocsr"):
        return Graph.from_scipy(G, weights=False)
    if is_networkx(G):
        source, target, _, labels, n = networkx_columns(G, None)
        return Graph.from_edges(source, target, n, G.is_directed(), labels=labels, repeats=repeats)
    library = type(G).__module__.partition(".")[0].removeprefix("_")
    if library in CONSTRUCTORS:
        raise GraphError(f"{library}'s {type(G).__name__} must be converted first; pass {CONSTRUCTORS[library]}")
    problem = f"{type(G).__name__} is not a graph"
    raise GraphError(f"{problem}; pass hopwave.read(path), a Graph, a SciPy matrix or a NetworkX graph")


def is_networkx(G: Any) -> bool:
    """Whether G looks like a NetworkX graph."""
    return not isinstance(G, Graph) and hasattr(G, "is_multigraph") and hasattr(G, "edges")


def order_of_nodes(G: Any, graph: Graph) -> Integers | None:
    """Vertices in the node order of a NetworkX graph, from which NetworkX draws samples; None if that is 0 … n − 1."""
    if not is_networkx(G) or graph.labels is not None:
        return None
    order = np.fromiter(G, np.int64, graph.n)
    return None if bool((order[1:] > order[:-1]).all()) else order


def in_direction(graph: Graph, direction: str) -> Graph:
    """The graph whose out-arcs a search in that direction follows: the graph for "out", its reverse for "in"."""
    if direction.__class__ is not str or direction not in ("out", "in"):
        one_of("direction", direction, ("out", "in"))
    return graph.reversed() if direction == "in" else graph


def undirected(graph: Graph, what: str) -> Graph:
    """The graph; raises a GraphError if it is directed. `what` names the function in the message."""
    if graph.directed:
        raise GraphError(f"{what} needs an undirected graph; drop directions with G.without_weights().to_undirected()")
    return graph


def source_ids(graph: Named, source: Any, name: str = "sources") -> tuple[int, ...]:
    """Ids of one or several vertices, each once, in the caller's order (ascending for a set)."""
    if graph.labels is None:  # fast paths for the usual cases
        if type(source) is int and 0 <= source < graph.n:
            return (source,)
        if type(source) is list and source:
            return tuple(dict.fromkeys(graph._positions(source)))
    several = isinstance(source, Iterable) and not isinstance(source, str | bytes)
    if several and graph.labels is not None:
        with suppress(TypeError):  # an unhashable source is not a label
            several = source not in graph._numbers  # a tuple may be the label of one vertex
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
        remedy = "pass at least one vertex to start from" if name == "sources" else f"omit {name}= for all vertices"
        raise GraphError(f"the list of {name} is empty; {remedy}")
    return ids


def vertex_ids(graph: Graph, vertices: Iterable[Any] | None) -> Integers:
    """Ids of a list of vertices in the caller's order, with repeats; None means all vertices."""
    return np.arange(graph.n, dtype=np.int64) if vertices is None else listed_vertices(graph, vertices)


def listed_vertices(graph: Named, vertices: Iterable[Any]) -> Integers:
    """Ids of a list of vertices in the caller's order (ascending for a set), with repeats. Rejects a single vertex."""
    check_not_table(vertices, "a list of vertices")
    is_one = isinstance(vertices, np.ndarray) and not vertices.ndim
    if isinstance(vertices, str | bytes) or is_one or not isinstance(vertices, Iterable):
        raise GraphError(f"{vertices!r} is not a list of vertices; for a single vertex pass [{vertices!r}]")
    if isinstance(vertices, np.ma.MaskedArray):
        vertices = vertices.tolist(None)  # a masked vertex becomes None, which graph.index rejects
    if isinstance(vertices, np.ndarray) and vertices.dtype.kind in "iu" and vertices.ndim == 1 and graph.labels is None:
        if len(vertices) and not 0 <= vertices.min() <= vertices.max() < graph.n:
            problem = f"vertices from {vertices.min()} to {vertices.max()} are not all in this graph"
            raise GraphError(f"{problem}; its vertices are the numbers 0 to {graph.n - 1}")
        return vertices.astype(np.int64)
    ids = np.array(graph._positions(vertices), np.int64)
    return np.sort(ids) if isinstance(vertices, set | frozenset) else ids


def check_hops(name: str, value: Any) -> int | None:
    """A limit on the number of hops, or None. A limit that no path can reach becomes None: engines use 32 bits."""
    limit = None if value is None else required_hops(name, value, ", or None")
    return None if limit == LARGEST_VERTEX_COUNT else limit


def required_hops(name: str, value: Any, otherwise: str = "") -> int:
    """A number of hops: a nonnegative integer, possibly as a float. `otherwise` names other allowed values."""
    if (not is_whole(value) and not (is_number(value) and float(value).is_integer())) or value < 0:
        raise GraphError(f"{name}={value!r} is not a number of hops; pass an integer of at least 0{otherwise}")
    return min(int(value), LARGEST_VERTEX_COUNT)  # no shortest path is longer


def check_distance(name: str, value: Any, weighted: bool, otherwise: str = ", or None") -> float | None:
    """A limit on distances: a number of hops or, with weights, a length of at least 0."""
    if not weighted:
        return None if value is None and otherwise else required_hops(name, value, otherwise)
    if value is None and otherwise:
        return None
    if not (is_number(value) or is_whole(value)) or value < 0:
        raise GraphError(f"{name}={value!r} is not a length; pass a number of at least 0{otherwise}")
    return float(value) if is_number(value) else math.inf  # 10**400 exceeds float64


def check_probability(name: str, value: Any, what: str, example: float) -> None:
    """Raise a GraphError unless the value is a number between 0 and 1."""
    if not isinstance(value, int | float | np.number) or not 0 < value < 1:
        raise GraphError(f"{name}={value!r} is not {what}; pass a number between 0 and 1, for example {example:g}")


def check_risk(delta: Any) -> None:
    """Raise a GraphError unless delta is a probability of failure. It is checked even without sampling."""
    check_probability("delta", delta, "a probability", 0.1)


def sample_size(graph: Graph, k: int | None, chosen: Any, delta: float, interval: Any = "guaranteed") -> int | None:
    """Number of sources to draw; None means all (k is None or n). `chosen`: sources that the caller names, or None."""
    check_risk(delta)
    one_of("interval", interval, ("guaranteed", "normal"))
    if interval == "normal" and (k is None or k == 1):
        why = "one source gives no standard error" if k == 1 else "scores are exact without k="
        raise GraphError(f"interval='normal' needs a sample, but {why}; pass k= of at least 2, or omit interval=")
    if k is None:
        return None
    if chosen is not None:
        raise GraphError("k= cannot be combined with chosen sources: k= draws its own; omit one of them")
    if is_whole(k) and k == graph.n:
        return None
    check_sample(graph.n, k)
    return int(k)
