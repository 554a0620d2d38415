"""A four-ary heap of vertices, the nearest at its root. Every vertex knows its place in the heap.

heap       the vertices, as a tree: the children of place p are at 4p + 1 to 4p + 4
place_of   each vertex's place, NOWHERE if it is not in the heap
d          the distances that the heap is ordered by
"""

from __future__ import annotations

import numpy as np
from numba import njit

from hopwave.engines.cpu.intrinsics import INNER, U0, U1

NOWHERE = np.uint32(0xFFFFFFFF)
TWO, FOUR = np.uint64(2), np.uint64(4)


@njit(**INNER)
def rise(heap, place_of, d, place):
    """Move the vertex at that place towards the root, past vertices that are farther away."""
    v = heap[place]
    while place > U0:
        parent = (place - U1) >> TWO
        u = heap[parent]
        if d[u] <= d[v]:
            break
        heap[place] = u
        place_of[u] = np.uint32(place)
        place = parent
    heap[place] = v
    place_of[v] = np.uint32(place)


@njit(**INNER)
def sink(heap, place_of, d, size, v):
    """Put v at the root and move it down, past vertices that are nearer."""
    place = U0
    while True:
        child = (place << TWO) + U1
        if child >= size:
            break
        best = child
        for other in range(child + U1, min(child + FOUR, size)):
            if d[heap[other]] < d[heap[best]]:
                best = other
        u = heap[best]
        if d[v] <= d[u]:
            break
        heap[place] = u
        place_of[u] = np.uint32(place)
        place = best
    heap[place] = v
    place_of[v] = np.uint32(place)
