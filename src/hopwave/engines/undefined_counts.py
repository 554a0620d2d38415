"""The error for shortest paths whose number is not defined."""

from __future__ import annotations

import numpy as np

from hopwave.errors import GraphError
from hopwave.graph import Graph


def uncountable(graph: Graph, source: int, u: int, v: int) -> GraphError:
    """For a cycle of arcs that add nothing to the distance from the source; u → v is such an arc."""
    if not graph.directed:
        u, v = min(u, v), max(u, v)
    begin, end = int(graph.indptr[u]), int(graph.indptr[u + 1])
    weight = float(np.asarray(graph.weights)[begin:end][graph.indices[begin:end] == v].min())
    arc = f"{graph.label(u)!r} {'→' if graph.directed else '–'} {graph.label(v)!r}"
    return GraphError(
        f"shortest paths from {graph.label(source)!r} cannot be counted: weight {weight:g} of {arc} adds nothing to "
        "the length of a path, which can then go round a cycle any number of times; merge vertices at distance 0, or "
        "give all arcs weights above 0 that differ less in size"
    )
