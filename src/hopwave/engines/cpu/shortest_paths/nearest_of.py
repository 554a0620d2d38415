"""The k nearest of some vertices, for every vertex: one search from all of them, in which a vertex is settled k times.

    d, found   for every vertex its k nearest so far, by distance and then by number: distances, numbers of facilities

A vertex passes on only its k nearest. Others are not needed: to a vertex behind it, these k are at least as near. Sums
of fractions are rounded, and two facilities that differ in the last bits at a vertex may be equally far from the next:
so a vertex keeps SPARE more that are hardly farther than its k-th. Where arcs have lengths, a heap of (distance,
number, vertex), nearest first, then lowest number, says which is next; hops go level by level. For k = 1 along lengths,
the facility follows from the distances of a search on all cores, if no arc joins two vertices that are equally far.
"""

import numpy as np

from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.crew import thread_count
from hopwave.engines.cpu.integers import ONE, U0, U1
from hopwave.engines.cpu.intrinsics import COMPILED, INNER
from hopwave.engines.cpu.policy import path_threads
from hopwave.engines.cpu.shortest_paths.dijkstra import add, drop_first
from hopwave.system.numba_cache import njit
from hopwave.system.threads import each

NONE = np.iinfo(np.int32).max  # the number of no facility
ROUNDING = 2.0**-40  # by how much distances may differ that are the same in the end
SPARE = 2  # no vertex was seen with more than two others as near as its k-th up to rounding


def are_whole(lengths):
    """Whether all sums of lengths along paths are exact.

    >>> are_whole(np.array([1.0, 3.0])), are_whole(np.array([0.5])), are_whole(np.array([2.0**53]))
    (True, False, False)
    """
    return not (lengths % 1).any() and float(lengths.max(initial=0.0)) * len(lengths) < 2.0**53


def slack_of(lengths):
    """By which factor distances may differ that are the same in the end; 1 if sums are exact."""
    return 1.0 if are_whole(lengths) else 1.0 + ROUNDING


@njit(**INNER)
def is_new(d, found, v, offer, number):
    """Whether an offer that comes before the last of v's k nearest is new to them; it is put into them then."""
    place = d.shape[1] - 1
    for i in range(place):
        if found[v, i] == number:
            if d[v, i] <= offer:
                return False
            place = i  # it was known, and farther away
    while place > 0 and (offer < d[v, place - 1] or (offer == d[v, place - 1] and number < found[v, place - 1])):
        d[v, place], found[v, place] = d[v, place - 1], found[v, place - 1]
        place -= 1
    d[v, place], found[v, place] = offer, number
    return True


@njit(**COMPILED)
def by_levels(indptr, indices, facilities, limit, d, found, queue, following, waits):
    """Fill d and found with hops. waits: whether a vertex is in `following` already, False before."""
    count, level, last = facilities.size, 0.0, d.shape[1] - 1
    for number in range(count):
        u = facilities[number]
        d[u, 0], found[u, 0], queue[number] = 0.0, number, u
    while count and level < limit:
        more, offer = 0, level + 1.0
        for place in range(count):
            u = queue[place]
            for i in range(d.shape[1]):
                if d[u, i] != level:
                    continue
                number = found[u, i]
                for j in range(np.uint64(indptr[u]), np.uint64(indptr[u + ONE])):
                    v = indices[j]  # arrays are passed to a function only where it is needed: that takes longer
                    if offer > d[v, last] or (offer == d[v, last] and number >= found[v, last]):
                        continue
                    if is_new(d, found, v, offer, number) and not waits[v]:
                        waits[v] = True
                        following[more] = v
                        more += 1
        queue, following, count, level = following, queue, more, offer
        for place in range(count):
            waits[queue[place]] = False


@njit(**COMPILED)
def by_heap(indptr, indices, lengths, limit, k, slack, d, found, size, keys, numbers, vertices):
    """Go on with a heap of that size until it is empty, or has no room for the next row: returns its size."""
    last = d.shape[1] - 1
    while size > U0:
        here, number, u = keys[0], numbers[0], vertices[0]
        begin, end = np.uint64(indptr[u]), np.uint64(indptr[u + ONE])
        if size + end - begin > np.uint64(keys.size):
            return size
        size -= U1
        if size > U0:
            drop_first(keys, numbers, vertices, size)
        final = False
        for i in range(d.shape[1]):
            final = final or (found[u, i] == number and d[u, i] == here)
        if not final:
            continue
        for j in range(begin, end):
            v = indices[j]
            offer = here + lengths[j]
            if offer > limit or offer > d[v, last] or (offer == d[v, last] and number >= found[v, last]):
                continue
            if offer > d[v, k - 1] * slack:
                continue
            if is_new(d, found, v, offer, number):
                add(keys, numbers, vertices, size, offer, number, v)
                size += U1
    return size


@njit(**COMPILED)
def read_off(indptr, indices, lengths, first, last, d, found, stack, places, lowest):
    """Find the lowest number of a nearest facility for some vertices, from final distances.

    `indptr` and `indices` are arcs into vertices. A number is the lowest of those one step before on shortest paths,
    which are found first: until then a vertex waits on the stack, with its place in its row and the lowest number so
    far. Other threads may find the same. Returns False if an arc joins two that are equally far.
    """
    for v in range(first, last):
        if d[v] == 0.0:  # a facility may have another one of a lower number beside it
            for j in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
                if lengths.size and lengths[j] == 0.0 and d[indices[j]] == 0.0 and indices[j] != v:
                    return False
        if d[v] == np.inf or found[v] != NONE:
            continue
        top, u, j, least = 0, v, np.uint64(indptr[v]), NONE
        while top >= 0:
            here, end = d[u], np.uint64(indptr[u + ONE])
            while j < end:
                w = indices[j]
                if d[w] + (lengths[j] if lengths.size else 1.0) == here:
                    if d[w] == here:
                        return False
                    if found[w] == NONE:
                        break
                    least = min(least, found[w])
                j += U1
            if j < end:
                stack[top], places[top], lowest[top] = u, j, least
                top += 1
                u, j, least = indices[j], np.uint64(indptr[indices[j]]), NONE
                continue
            found[u] = least
            top -= 1
            if top >= 0:
                u, j, least = stack[top], places[top], lowest[top]
    return True


def nearest_by_distances(into, facilities, d):
    """The lowest number of a nearest facility for every vertex, from final distances and the arcs into vertices; None
    if an arc joins two vertices that are equally far."""
    n = len(d)
    found = np.full((n, 1), NONE, np.int32)
    found[facilities, 0] = np.arange(len(facilities))
    workers = min(thread_count(None), path_threads(len(into.indices)))
    bounds = np.linspace(0, n, workers + 1).astype(np.uint32)
    whole = [False] * workers

    def some(i):
        stack = np.empty(n, np.uint32), np.empty(n, np.uint64), np.empty(n, np.int32)
        whole[i] = read_off(*into, bounds[i], bounds[i + 1], d, found[:, 0], *stack)

    with compiling(read_off):
        each(workers, range(workers), some)
    return found if all(whole) else None


def nearest_of(arcs, facilities, k, limit):
    """(distances, numbers of facilities): one row of k per vertex, nearest first; infinite and NONE past the last.

    `arcs` as dijkstra.arcs makes them; facilities are ids in ascending order.
    """
    n, ids = len(arcs.indptr) - 1, facilities.astype(np.uint32)
    d, found = np.full((n, k), np.inf), np.full((n, k), NONE, np.int32)
    if not len(arcs.lengths):
        queues = np.empty(n, np.uint32), np.empty(n, np.uint32), np.zeros(n, np.bool_)
        with compiling(by_levels):
            by_levels(arcs.indptr, arcs.indices, ids, limit, d, found, *queues)
        return d, found
    slack = slack_of(arcs.lengths)
    if slack > 1.0:
        d, found = np.full((n, k + SPARE), np.inf), np.full((n, k + SPARE), NONE, np.int32)
    d[facilities, 0], found[facilities, 0] = 0.0, np.arange(len(ids))
    size, room = np.uint64(len(ids)), len(arcs.indices) + len(ids)
    heap = np.zeros(room), np.arange(room, dtype=np.int32), np.resize(ids, room)
    with compiling(by_heap):
        while size := by_heap(*arcs, limit, k, slack, d, found, size, *heap):
            heap = tuple(np.resize(part, 2 * part.size) for part in heap)
    return np.ascontiguousarray(d[:, :k]), np.ascontiguousarray(found[:, :k])
