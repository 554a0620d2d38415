"""Vertices renumbered so that near ones lie near each other in memory: meshes and roads are then read in fewer sectors.

Distances from two landmarks far apart serve as coordinates. Interleaving their bits (Morton's order) gives every patch
of the graph consecutive numbers, whichever way a search crosses it. Lists keep their order, so no sum changes a bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cupy
import numpy as np

BITS = 16  # per coordinate: two of them interleaved fill 32


@dataclass(frozen=True)
class Renumbered:
    """A graph with new vertex numbers. order[new] is the old number, rank[old] the new one."""

    order: Any
    rank: Any
    offsets: Any
    neighbours: Any
    in_offsets: Any
    in_neighbours: Any

    @property
    def bytes(self):
        """Device memory held."""
        arrays = {id(array): array for array in vars(self).values()}
        return sum(array.nbytes for array in arrays.values())


def neighbours_near(loaded, reach=64):
    """The share of the arcs whose ends' numbers differ by less than `reach`."""
    rows = loaded.on_device.arc_rows(loaded.offsets, loaded.m)
    return float((cupy.abs(rows - loaded.neighbours) < reach).mean())


def interleaved(x, y):
    """The bits of x and y interleaved, x's lowest bit first.

    >>> interleaved(np.array([0, 1, 3]), np.array([1, 0, 3])).tolist()
    [2, 1, 15]
    """

    def spread(x):
        x = x.astype(np.uint32)
        for shift, mask in ((8, 0x00FF00FF), (4, 0x0F0F0F0F), (2, 0x33333333), (1, 0x55555555)):
            x = (x | x << np.uint32(shift)) & np.uint32(mask)
        return x

    return spread(x) | spread(y) << np.uint32(1)


def landmarks(search, first):
    """Distances from two vertices that are far apart, but not at opposite ends of the graph; -1 where not reached.

    The second landmark is chosen far from the first and also far from the vertex that is farthest from the first.
    """
    start = search(first)
    one = search(int(start.argmax()))
    other = search(int(one.argmax()))
    return one, search(int(cupy.minimum(one, other).argmax()))


def renumbered(loaded, search):
    """The graph in Morton's order of distances; search(v): distances from v, as an array on the GPU."""
    on_device, n, m = loaded.on_device, loaded.n, loaded.m
    one, other = (cupy.where(d < 0, d.max() + 1, d) for d in landmarks(search, int(loaded.graph.degrees.argmax())))
    step = max(1, -(-int(max(one.max(), other.max())) // (1 << BITS)))
    order = cupy.argsort(interleaved(one // step, other // step)).astype(np.int32)
    rank = cupy.empty_like(order)
    rank[order] = cupy.arange(n, dtype=np.int32)

    def moved(offsets, neighbours):
        fresh = cupy.zeros(n + 1, offsets.dtype)
        fresh[1:] = cupy.cumsum(cupy.diff(offsets)[order])
        return fresh, rank[neighbours[arcs_of(on_device, fresh, offsets, order, m)]]

    rows = moved(loaded.offsets, loaded.neighbours)
    columns = moved(loaded.in_offsets, loaded.in_neighbours) if loaded.directed else rows
    return Renumbered(order, rank, *rows, *columns)


def arcs_of(on_device, fresh, offsets, order, m):
    """Where every arc was before, in the new order."""
    rows = on_device.arc_rows(fresh, m)
    return cupy.arange(m, dtype=np.int64) + (offsets[order].astype(np.int64) - fresh[:-1])[rows]
