"""Graphs and vertices as callers give them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from hopwave.errors import GraphError
from hopwave.graph import Graph


def as_graph(G: Any) -> Graph:
    """G itself, or the Graph of a SciPy matrix or a NetworkX graph, converted without its weights.

    It serves questions about hops, which ignore weights; `api.weights.weighted` serves those that use them.
    """
    if isinstance(G, Graph):
        return G
    if hasattr(G, "tocsr"):
        return Graph.from_scipy(G, weights=False)
    if is_networkx(G):
        return Graph.from_networkx(G, weight=None)
    raise GraphError(
        f"{type(G).__name__} is not a graph; give a hopwave.Graph, a SciPy sparse matrix or a NetworkX graph"
    )


def is_networkx(G: Any) -> bool:
    """Whether G looks like a NetworkX graph."""
    return hasattr(G, "is_multigraph") and hasattr(G, "edges")


def source_ids(graph: Graph, source: Any, name: str = "sources") -> tuple[int, ...]:
    """The ids of one vertex, or of several in the order given, without repeats.

    `name` is the argument's name, for error messages.
    """
    if type(source) is int and graph.labels is None:  # the usual case, without further questions
        return (graph.index(source),)
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
            "a search needs at least one vertex to start from" if name == "sources" else f"leave out {name}= for all"
        )
        raise GraphError(f"the list of {name} is empty; {remedy}")
    return ids


def _is_label(graph: Graph, value: Any) -> bool:
    try:
        return value in graph._numbers
    except TypeError:
        return False
