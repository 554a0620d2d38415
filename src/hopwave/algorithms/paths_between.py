"""All shortest paths between two vertices, one at a time, from the distances of one search."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from hopwave.graph import Graph

Vertex = TypeVar("Vertex", bound=Hashable)
NO_MORE: Any = object()  # the end of an iterator; not None, which may be a vertex


def all_paths(graph: Graph, distances: npt.NDArray[np.int32], source: int, target: int) -> Iterator[list[int]]:
    """Every shortest path from the source to the target, counted in hops, as ids."""

    def nearer(v: int) -> Iterator[int]:
        neighbours = graph.in_indices[graph.in_indptr[v] : graph.in_indptr[v + 1]]
        return iter(np.unique(neighbours[distances[neighbours] == distances[v] - 1]).tolist())

    return simple_paths(nearer, source, target)


def simple_paths(
    before: Callable[[Vertex], Iterator[Vertex]], source: Vertex, target: Vertex
) -> Iterator[list[Vertex]]:
    """Every path from the source to the target that visits no vertex twice; before(v) yields v's possible predecessors.

    Walks backwards from the target. Needs memory for one path only.

    >>> list(simple_paths(lambda v: iter([v - 1, v - 2] if v > 1 else [v - 1]), 0, 3))
    [[0, 1, 2, 3], [0, 2, 3], [0, 1, 3]]
    """
    path, on_path = [target], {target}
    choices = [before(target)]
    if source == target:
        yield path
        return
    while choices:
        u = next(choices[-1], NO_MORE)
        if u is NO_MORE:
            choices.pop()
            on_path.discard(path.pop())
        elif u == source:
            yield [u, *reversed(path)]
        elif u not in on_path:
            path.append(u)
            on_path.add(u)
            choices.append(before(u))
