"""Dijkstra's algorithm on one core, nearest vertex first. It may stop early, or start from both ends of a path.

The heap is a four-ary tree of (distance, when it was offered, vertex), nearest first, then earliest first. Of equals,
the first offered is settled first, as in NetworkX, whose results depend on that order. A vertex has an entry for every
time its distance became shorter; all but the last are stale and skipped.
"""

import numpy as np

from hopwave.engines.cpu.bidirectional import path_over
from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.integers import ONE, U0, U1
from hopwave.engines.cpu.intrinsics import COMPILED, INNER
from hopwave.engines.cpu.row_order import is_closed
from hopwave.engines.cpu.shortest_paths.bins import Arcs
from hopwave.engines.cpu.views import read_only, unsigned
from hopwave.system.numba_cache import njit

U2, U4 = np.uint64(2), np.uint64(4)


@njit(**INNER)
def add(keys, times, vertices, size, d, time, v):
    """Put an entry into the heap, which has that size."""
    place = size
    while place > U0:
        parent = (place - U1) >> U2
        if keys[parent] < d or (keys[parent] == d and times[parent] <= time):
            break
        keys[place], times[place], vertices[place] = keys[parent], times[parent], vertices[parent]
        place = parent
    keys[place], times[place], vertices[place] = d, time, v


@njit(**INNER)
def drop_first(keys, times, vertices, size):
    """Take the root out of the heap, which then has that size: the last entry fills the gap."""
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


@njit(**COMPILED)
def search(indptr, indices, lengths, sources, wanted, stop, limit, d, parent, order, keys, times, vertices):
    """Settle vertices nearest first; returns how many. Before, d is infinite everywhere.

    stop is two numbers, (a, b): the search ends when it has settled a of the wanted vertices, or b of all, and those
    that are as far away as the last of them; −1: it has no such end. Distances of vertices that are not in `order` are
    not final.
    """
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
                    limit = offer  # what is further away than that is never settled
    return settled


def arcs(rows, lengths):
    """Offsets, indices and float64 lengths as kernels read them."""
    return Arcs(*map(unsigned, rows), read_only(lengths))


def dijkstra(arcs, sources, limit, targets, most):
    """The settled vertices in order, the distances, infinite where none was settled, and the vertex before each."""
    n, m = len(arcs.indptr) - 1, len(arcs.indices)
    wanted = np.zeros(n if targets else 0, np.bool_)
    if targets:
        wanted[list(targets)] = True
    stop = np.array([np.count_nonzero(wanted) if targets else -1, -1 if most is None else most], np.int64)
    d, parent, order = np.full(n, np.inf), np.full(n, -1, np.int32), np.empty(n, np.int32)
    entries = m + len(sources)  # every arc adds at most one
    heap = np.empty(entries), np.empty(entries, np.uint64), np.empty(entries, np.uint32)
    with compiling(search):
        settled = search(*arcs, np.asarray(sources, np.uint32), wanted, stop, limit, d, parent, order, *heap)
    order = order[:settled]
    if len(order) < n:
        final = np.full(n, np.inf)
        final[order] = d[order]
        before = np.full(n, -1, np.int32)
        before[order] = parent[order]
        return order, final, before
    return order, d, parent


@njit(**COMPILED)
def meet(out, back, source, target, closed, seen, before, settled, keys, times, vertices):
    """From both ends in turn, as NetworkX does: the vertex where a shortest path's halves meet, the vertices before it
    on both halves, and the length; −1 if they do not meet.

    The vertices before it are those of the time when they met: one half may become shorter by so little that the sum
    does not, and NetworkX then keeps the path. All arrays but closed (row_order.is_closed) have two rows, one per end:
    seen is infinite, settled is 0 everywhere; before leads to the end.
    """
    size = np.array([1, 1], np.uint64)
    ends = (source, target)
    for end in range(2):
        seen[end, ends[end]] = 0.0
        before[end, ends[end]] = np.int32(ends[end])
        keys[end, 0], times[end, 0], vertices[end, 0] = 0.0, np.uint64(end), np.uint32(ends[end])
    time, middle, length, end = np.uint64(2), np.int64(-1), np.inf, 1
    left, right = np.int32(-1), np.int32(-1)
    while size[0] > U0 and size[1] > U0:
        end = 1 - end
        u, du = vertices[end, 0], keys[end, 0]
        size[end] -= U1
        if size[end] > U0:
            drop_first(keys[end], times[end], vertices[end], size[end])
        if settled[end, u]:
            continue
        settled[end, u] = 1
        if settled[1 - end, u]:
            return middle, left, right, length
        A = out if end == 0 else back
        for j in range(np.uint64(A.indptr[u]), np.uint64(A.indptr[u + ONE])):
            v = A.indices[j]
            offer = du + A.lengths[j]
            if offer < seen[end, v] and not settled[end, v] and not is_closed(closed, source, np.int64(u), np.int64(v)):
                seen[end, v] = offer
                before[end, v] = np.int32(u)
                add(keys[end], times[end], vertices[end], size[end], offer, time, v)
                size[end] += U1
                time += U1
                if offer + seen[1 - end, v] < length:
                    length = offer + seen[1 - end, v]
                    middle = np.int64(v)
                    left, right = before[0, v], before[1, v]
    return np.int64(-1), left, right, np.inf


def path_from_both_ends(out, back, source, target, closed):
    """The path that NetworkX's bidirectional_dijkstra finds and its length, or None. `back` has the arcs backwards;
    closed: see row_order.is_closed."""
    n, entries = len(out.indptr) - 1, len(out.indices) + 1
    seen, before, settled = np.full((2, n), np.inf), np.full((2, n), -1, np.int32), np.zeros((2, n), np.uint8)
    heap = np.empty((2, entries)), np.empty((2, entries), np.uint64), np.empty((2, entries), np.uint32)
    with compiling(meet):
        middle, left, right, length = meet(out, back, source, target, closed, seen, before, settled, *heap)
    if middle < 0:
        return None
    before[:, middle] = left, right
    return path_over(middle, *before, source, target), float(length)
