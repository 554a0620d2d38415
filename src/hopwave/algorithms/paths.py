"""All shortest paths between two vertices, one at a time, from the distances of one search."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from hopwave.graph import Graph


def all_paths(graph: Graph, distances: npt.NDArray[np.int32], target: int) -> Iterator[list[int]]:
    """Every shortest path from a vertex at distance 0 to the target, as ids. Needs memory for one path only.

    Walks backwards from the target. Each step goes to a neighbour one level nearer, and every such step leads to a
    source, so there are no dead ends.
    """
    path = [target]
    choices = [_nearer(graph, distances, target)]
    if distances[target] == 0:
        yield path
        return
    while choices:
        u = next(choices[-1], None)
        if u is None:
            choices.pop()
            path.pop()
        elif distances[u] == 0:
            yield [u, *reversed(path)]
        else:
            path.append(u)
            choices.append(_nearer(graph, distances, u))


def _nearer(graph: Graph, distances: npt.NDArray[np.int32], v: int) -> Iterator[int]:
    neighbours = graph.in_indices[graph.in_indptr[v] : graph.in_indptr[v + 1]]
    return iter(np.unique(neighbours[distances[neighbours] == distances[v] - 1]).tolist())
