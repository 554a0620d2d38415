"""What follows from the numbers of components: their vertices, and the two sides of a bipartite graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.graph import Graph
from hopwave.graph.arrays import arc_tails


def roots(label: npt.NDArray[np.int32]) -> npt.NDArray[np.intp]:
    """The lowest vertex of every component.

    >>> roots(np.array([0, 0, 1, 0, 2], np.int32)).tolist()
    [0, 2, 4]
    """
    count = int(label.max(initial=-1)) + 1
    first = np.zeros(count, np.intp)
    first[label[::-1]] = np.arange(len(label))[::-1]  # the lowest vertex is written last, and stays
    return first


def members(label: npt.NDArray[np.int32]) -> list[npt.NDArray[np.intp]]:
    """The vertices of every component, ascending.

    >>> [some.tolist() for some in members(np.array([0, 1, 0], np.int32))]
    [[0, 2], [1]]
    """
    if not len(label):
        return []
    order = np.argsort(label, kind="stable")
    return np.split(order, np.cumsum(np.bincount(label))[:-1])


def sides(graph: Graph, distances: npt.NDArray[np.int32]) -> npt.NDArray[np.int8] | tuple[int, int]:
    """The side of each vertex, 0 or 1: the parity of its distance from its component's root.

    Returns an edge instead if its ends are on one side: the graph then has a cycle of odd length. Every cycle of odd
    length has such an edge.
    """
    side = (distances & 1).astype(np.int8)
    tail = arc_tails(graph)
    same: Any = side[tail] == side[graph.indices]
    if same.any():
        arc = int(np.argmax(same))
        return int(tail[arc]), int(graph.indices[arc])
    return side
