"""Dijkstra's algorithm on one core, nearest vertex first. It may stop early.

The heap is a four-ary tree of (distance, time of insertion, vertex), an order on which NetworkX's results depend.
"""

import numpy as np

from hopwave.engines.cpu.integers import ONE, U0, U1, U2, U4
from hopwave.engines.cpu.intrinsics import inner, outer
from hopwave.engines.cpu.shortest_paths.bins import Arcs
from hopwave.engines.cpu.views import read_only, unsigned


@inner
def add(keys, times, vertices, size, d, time, v):
    place = size
    while place > U0:
        parent = (place - U1) >> U2
        if keys[parent] < d or (keys[parent] == d and times[parent] <= time):
            break
        keys[place], times[place], vertices[place] = keys[parent], times[parent], vertices[parent]
        place = parent
    keys[place], times[place], vertices[place] = d, time, v


@inner
def drop_first(keys, times, vertices, size):
    """Remove the root of the heap, which then has that size: the last entry fills the gap."""
    d, time, v = keys[size], times[size], vertices[size]
    place = U0
    while True:
        child = (place << U2) + U1
        if child >= size:
            break
        best = child
        for other in range(child + U1, min(child + U4, size)):
            if keys[other] < keys[best] or (keys[other] == keys[best] and times[other] < times[best]):
                best = other
        if d < keys[best] or (d == keys[best] and time < times[best]):
            break
        keys[place], times[place], vertices[place] = keys[best], times[best], vertices[best]
        place = best
    keys[place], times[place], vertices[place] = d, time, v


@outer
def search(indptr, indices, lengths, sources, wanted, stop, limit, d, parent, order, keys, times, vertices):
    """Settle nearest first: stop[0] wanted vertices, or stop[1] and the ties (−1: all). Returns the number settled."""
    size, time, settled, last, ahead = U0, U0, 0, np.inf, stop[0]
    for s in sources:
        d[s] = 0.0
        parent[s] = np.int32(s)
        keys[size], times[size], vertices[size] = 0.0, time, s
        size += U1
        time += U1
    while size > U0:
        u, du = vertices[U0], keys[U0]
        if du > last:
            break
        size -= U1
        if size > U0:
            drop_first(keys, times, vertices, size)
        if du > d[u]:
            continue
        order[settled] = np.int32(u)
        settled += 1
        if ahead > 0 and wanted[u]:
            ahead -= 1
            if ahead == 0:
                last = du
        if settled == stop[1]:
            last = du
        for j in range(np.uint64(indptr[u]), np.uint64(indptr[u + ONE])):
            v = indices[j]
            offer = du + (lengths[j] if lengths.size else 1.0)
            if offer < d[v] and offer <= limit:
                d[v] = offer
                parent[v] = np.int32(u)
                add(keys, times, vertices, size, offer, time, v)
                size += U1
                time += U1
                if ahead == 1 and wanted[v]:
                    limit = offer  # larger distances are never settled
    return settled


def arcs(rows, lengths):
    return Arcs(*map(unsigned, rows), read_only(lengths))


def dijkstra(arcs, sources, limit, targets, most):
    """The settled vertices in order, the distances, infinite for unsettled vertices, and the predecessor of each."""
    n, m = len(arcs.indptr) - 1, len(arcs.indices)
    wanted = np.zeros(n if targets else 0, np.bool_)
    if targets:
        wanted[list(targets)] = True
    stop = np.array([np.count_nonzero(wanted) if targets else -1, -1 if most is None else most], np.int64)
    d, parent, order = np.full(n, np.inf), np.full(n, -1, np.int32), np.empty(n, np.int32)
    entries = m + len(sources)  # every arc adds at most one
    heap = np.empty(entries), np.empty(entries, np.uint64), np.empty(entries, np.uint32)
    settled = search(*arcs, np.asarray(sources, np.uint32), wanted, stop, float(limit), d, parent, order, *heap)
    order = order[:settled]
    if len(order) < n:
        final = np.full(n, np.inf)
        final[order] = d[order]
        before = np.full(n, -1, np.int32)
        before[order] = parent[order]
        return order, final, before
    return order, d, parent
