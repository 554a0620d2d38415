"""Dijkstra's algorithm on one core."""

from __future__ import annotations

import numpy as np
from numba import njit

from hopwave.engines.cpu.heap import NOWHERE, rise, sink
from hopwave.engines.cpu.intrinsics import COMPILED, ONE, U0, U1
from hopwave.engines.cpu.views import unsigned_rows


@njit(**COMPILED)
def search(indptr, indices, weights, sources, d, heap, place_of):
    """Fill d with distances; before, d is infinite and place_of is NOWHERE everywhere."""
    size = U0
    for s in sources:
        d[s] = 0.0
        heap[size] = s
        place_of[s] = np.uint32(size)
        size += U1
    while size > U0:
        u = heap[U0]
        size -= U1
        if size > U0:
            sink(heap, place_of, d, size, heap[size])
        place_of[u] = NOWHERE
        for j in range(np.uint64(indptr[u]), np.uint64(indptr[u + ONE])):
            v = indices[j]
            offer = d[u] + (weights[j] if weights.size else 1.0)
            if offer < d[v]:
                d[v] = offer
                if place_of[v] == NOWHERE:
                    heap[size] = v
                    place_of[v] = np.uint32(size)
                    size += U1
                rise(heap, place_of, d, np.uint64(place_of[v]))


def dijkstra(part, sources):
    """The distance of every vertex from the nearest source; weights must not be negative."""
    n = len(part.indptr) - 1
    d, heap, place_of = np.full(n, np.inf), np.empty(n, np.uint32), np.full(n, NOWHERE, np.uint32)
    weights = np.empty(0) if part.values is None else part.values.astype(np.float64, copy=False)
    search(*unsigned_rows(part), weights, np.asarray(sources, np.uint32), d, heap, place_of)
    return d
