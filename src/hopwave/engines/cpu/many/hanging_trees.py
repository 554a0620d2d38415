"""Trees that hang on the rest of a graph: found by taking away vertices of one neighbour, again and again.

A tree's distances need no search of its own. Along the edge from p to v, of length ℓ, the `size` vertices of v's branch
come nearer and all others move away: Σ d(v) = Σ d(p) + ℓ · (reached − 2 · size). A component that is a tree keeps one
vertex.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hopwave.engines.cpu.betweenness.core_graph import arrays_of
from hopwave.engines.cpu.intrinsics import COMPILED
from hopwave.system.numba_cache import njit


class Trees(NamedTuple):
    """`order`: the vertices that were taken away, from the leaves inwards. For every vertex: `parent`, or −1 if it was
    not taken away; `length` of the edge to it; `root` and `depth`, where its tree hangs, and how far away; `size` and
    `height` of its branch, and `second`, the height of its second highest branch."""

    order: Any
    parent: Any
    length: Any
    root: Any
    depth: Any
    size: Any
    height: Any
    second: Any


def hanging_trees(graph: Any, weighted: bool) -> Trees:
    """All trees of an undirected graph without parallel edges; depths in its own lengths, or in hops."""
    lengths = np.asarray(graph.weights, np.float64) if weighted else np.zeros(0)
    return Trees(*arrays_of(take_away, graph.indptr, graph.indices, lengths))


@njit(**COMPILED)
def take_away(indptr, indices, lengths):
    """The arrays of Trees."""
    n = indptr.size - 1
    left, queue, tail = np.zeros(n, np.int64), np.empty(n, np.int64), 0  # left: neighbours that are still there
    for v in range(n):
        for j in range(np.int64(indptr[v]), np.int64(indptr[v + 1])):
            left[v] += np.int64(indices[j]) != v
        if left[v] == 1:
            queue[tail] = v
            tail += 1
    order, parent, length, count, i = np.empty(n, np.int64), np.full(n, -1, np.int64), np.zeros(n), 0, 0
    size, height, second = np.ones(n), np.zeros(n), np.zeros(n)
    while i < tail:
        v = queue[i]
        i += 1
        if left[v] == 0:  # the last vertex of a component
            continue
        for j in range(np.int64(indptr[v]), np.int64(indptr[v + 1])):
            p = np.int64(indices[j])
            if p != v and left[p] > 0 and parent[p] < 0:
                break
        order[count], parent[v], left[v] = v, p, 0
        count += 1
        length[v] = lengths[j] if lengths.size else 1.0
        size[p] += size[v]
        reach = height[v] + length[v]
        second[p] = max(second[p], min(height[p], reach))
        height[p] = max(height[p], reach)
        left[p] -= 1
        if left[p] == 1:
            queue[tail] = p
            tail += 1
    root, depth = np.arange(n), np.zeros(n)
    for i in range(count - 1, -1, -1):
        v = order[i]
        root[v], depth[v] = root[parent[v]], depth[parent[v]] + length[v]
    return order[:count], parent, length, root, depth, size, height, second


@njit(**COMPILED)
def down_the_trees(order, parent, length, size, height, second, reached, total, outside):
    """From the roots outwards: Σ d, and the greatest distance to what is not in a vertex's branch (`outside`)."""
    for i in range(order.size - 1, -1, -1):
        v = order[i]
        p = parent[v]
        total[v] = total[p] + length[v] * (reached[v] - 2.0 * size[v])
        beside = second[p] if height[v] + length[v] == height[p] else height[p]
        outside[v] = length[v] + max(outside[p], beside)
