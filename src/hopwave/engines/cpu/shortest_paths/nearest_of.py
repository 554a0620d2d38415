"""The k nearest of some facilities, for every vertex: one search from all facilities that settles vertices k times.

    d, found   per vertex, its k nearest so far, by distance and then by number: distances, numbers of facilities

A vertex passes on only its k nearest facilities. Two facilities whose distances at a vertex differ by rounding may be
equally far from the next vertex, so a vertex stores SPARE more that are hardly farther than its k-th. For k = 1 along
lengths, the facility follows from the distances of a search on all cores, if no arc joins two equally distant vertices.
All cores find the k nearest in rounds of growing radius, one search per facility (`search_around`).
"""

import sys

import numpy as np

from hopwave.engines.cpu.crew import thread_count
from hopwave.engines.cpu.integers import ONE, U0, U1
from hopwave.engines.cpu.intrinsics import inner, outer
from hopwave.engines.cpu.policy import path_threads
from hopwave.engines.cpu.shortest_paths.dijkstra import add, drop_first
from hopwave.system.threads import each

NONE = np.iinfo(np.int32).max  # number that means no facility
ROUNDING = 2.0**-40  # maximum relative difference of distances that are equal up to rounding
GROWTH = 1.4  # growth factor of the radius of rounds: on a plane, twice as many vertices
ROOM = 1 << 18  # labels of a worker before they are written to rows
SPARE = 2  # no vertex was observed with more than two others as near as its k-th up to rounding


def are_whole(lengths):
    """Whether all sums of lengths along paths are exact."""
    return not (lengths % 1).any() and float(lengths.max(initial=0.0)) * len(lengths) < 2.0**53


def slack_of(lengths):
    """The factor by which distances that are equal up to rounding may differ; 1 if sums are exact."""
    return 1.0 if are_whole(lengths) else 1.0 + ROUNDING


@inner
def is_new(d, found, v, offer, number):
    """Whether an offer is new and nearer than the last of v's k nearest; if so, it is inserted."""
    place = d.shape[1] - 1
    for i in range(place):
        if found[v, i] == number:
            if d[v, i] <= offer:
                return False
            place = i  # known, but farther away
    while place > 0 and (offer < d[v, place - 1] or (offer == d[v, place - 1] and number < found[v, place - 1])):
        d[v, place], found[v, place] = d[v, place - 1], found[v, place - 1]
        place -= 1
    d[v, place], found[v, place] = offer, number
    return True


@outer
def by_levels(indptr, indices, facilities, limit, d, found, queue, following, waits):
    """Fill d and found with hops. waits: whether a vertex is already in `following`, False before."""
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
                    v = indices[j]  # arrays are passed to a function only if needed: a call takes longer
                    if offer > d[v, last] or (offer == d[v, last] and number >= found[v, last]):
                        continue
                    if is_new(d, found, v, offer, number) and not waits[v]:
                        waits[v] = True
                        following[more] = v
                        more += 1
        queue, following, count, level = following, queue, more, offer
        for place in range(count):
            waits[queue[place]] = False


@outer
def by_heap(indptr, indices, lengths, limit, k, slack, d, found, size, keys, numbers, vertices):
    """Continue with a heap of that size until it is empty, or has no space for the next row: returns its size."""
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


@outer
def read_off(indptr, indices, lengths, first, last, d, found, stack, places, lowest):
    """The lowest nearest facility of [first, last), by distances. False: an arc joins equally distant vertices."""
    for v in range(first, last):
        if d[v] == 0.0:  # a facility may coincide with one of a lower number
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
    """The lowest number of a nearest facility, from final distances; None if an arc joins equally distant vertices."""
    n = len(d)
    found = np.full((n, 1), NONE, np.int32)
    found[facilities, 0] = np.arange(len(facilities))
    workers = min(thread_count(None), path_threads(len(into.indices)))
    bounds = np.linspace(0, n, workers + 1).astype(np.uint32)

    def some(i):
        stack = np.empty(n, np.uint32), np.empty(n, np.uint64), np.empty(n, np.int32)
        return read_off(*into, bounds[i], bounds[i + 1], d, found[:, 0], *stack)

    return found if all(each(workers, range(workers), some)) else None


def nearest_of(arcs, facilities, k, limit):
    """(distances, facilities), k per vertex, nearest first; `arcs` are dijkstra.arcs, facilities ascending."""
    n, ids = len(arcs.indptr) - 1, facilities.astype(np.uint32)
    d, found = np.full((n, k), np.inf), np.full((n, k), NONE, np.int32)
    if not len(arcs.lengths):
        queues = np.empty(n, np.uint32), np.empty(n, np.uint32), np.zeros(n, np.bool_)
        by_levels(arcs.indptr, arcs.indices, ids, float(limit), d, found, *queues)
        return d, found
    slack = slack_of(arcs.lengths)
    if slack > 1.0:
        d, found = np.full((n, k + SPARE), np.inf), np.full((n, k + SPARE), NONE, np.int32)
    d[facilities, 0], found[facilities, 0] = 0.0, np.arange(len(ids))
    size, room = len(ids), len(arcs.indices) + len(ids)
    heap = np.zeros(room), np.arange(room, dtype=np.int32), np.resize(ids, room)
    while size := by_heap(*arcs, float(limit), k, slack, d, found, np.uint64(size), *heap):
        heap = tuple(np.resize(part, 2 * part.size) for part in heap)
    return np.ascontiguousarray(d[:, :k]), np.ascontiguousarray(found[:, :k])


# ------------------------------------------------------------------ rounds of growing radius


@outer
def search_around(A, facilities, numbers, place, stride, before, radius, slack, d, found, done, beyond, work, labels):
    """Search around every stride-th of the facilities with these numbers; returns where to resume, and label counts.

    done: whether a vertex had its k nearest before the round; a search continues there only for these, up to `slack`.
    labels: a worker's finds beyond the previous radius. beyond: each facility's nearest distance past the radius.
    """
    near, touched, keys, times, vertices = work
    where, who, length = labels
    last, count = d.shape[1] - 1, 0
    while place < numbers.size:
        number, whole, next_one, begun = numbers[place], True, np.inf, count
        size, time, marked = U1, U1, 1
        keys[0], times[0], vertices[0] = 0.0, U0, facilities[number]
        near[vertices[0]], touched[0] = 0.0, vertices[0]
        while size > U0 and whole:
            here, u = keys[0], vertices[0]
            size -= U1
            if size > U0:
                drop_first(keys, times, vertices, size)
            if here > near[u]:
                continue
            begin, end = np.uint64(A.indptr[u]), np.uint64(A.indptr[u + ONE])
            whole = count < where.size and size + end - begin <= np.uint64(keys.size)
            if not whole:
                break
            if not done[u] and here > before:
                where[count], who[count], length[count] = u, number, here
                count += 1
            for j in range(begin, end):
                v = A.indices[j]
                offer = here + (A.lengths[j] if A.lengths.size else 1.0)
                if offer >= near[v]:
                    continue
                if done[v]:
                    exact_tie = slack == 1.0 and offer == d[v, last]
                    if offer > d[v, last] * slack or (exact_tie and number > found[v, last]):
                        continue
                if offer > radius:
                    next_one = min(next_one, offer)
                    continue
                if near[v] == np.inf:
                    touched[marked] = v
                    marked += 1
                near[v] = offer
                add(keys, times, vertices, size, offer, time, v)
                size += U1
                time += U1
        for i in range(marked):
            near[touched[i]] = np.inf
        if not whole:
            return place, begun
        beyond[place] = next_one
        place += stride
    return place, count


@outer
def put(labels, count, begin, end, d, found):
    where, who, length = labels
    last = d.shape[1] - 1
    for i in range(count):
        v, number, offer = where[i], who[i], length[i]
        if begin <= v < end and (offer < d[v, last] or (offer == d[v, last] and number < found[v, last])):
            is_new(d, found, v, offer, number)


class Worker:
    """Search state of one thread: its position in a round, and the number of its labels."""

    def __init__(self, n):
        self.vertex_arrays = np.full(n, np.inf), np.empty(n, np.uint32)
        self.place, self.count = 0, 0
        self.make_room(ROOM)

    def make_room(self, room):
        self.work = *self.vertex_arrays, np.empty(room), np.empty(room, np.uint64), np.empty(room, np.uint32)
        self.labels = np.empty(room, np.uint32), np.empty(room, np.int32), np.empty(room)


def nearest_in_rounds(arcs, facilities, k, limit, threads):
    n, ids = len(arcs.indptr) - 1, facilities.astype(np.uint32)
    d, found = np.full((n, k), np.inf), np.full((n, k), NONE, np.int32)
    done, workers = np.zeros(n, np.bool_), [Worker(n) for _ in range(threads)]
    bounds = np.linspace(0, n, threads + 1).astype(np.uint32)
    slack = slack_of(arcs.lengths)
    positive = arcs.lengths[arcs.lengths > 0]
    before, radius = -1.0, float(np.median(positive)) if positive.size else 1.0
    numbers, limit = np.arange(ids.size, dtype=np.int32), min(limit, sys.float_info.max)
    while numbers.size:
        radius, beyond = min(radius, limit), np.full(numbers.size, np.inf)

        def go_on(i, numbers=numbers, before=before, radius=radius, beyond=beyond):
            worker, began = workers[i], workers[i].place
            worker.place, worker.count = search_around(
                arcs, ids, numbers, worker.place, threads, before, radius, slack, d, found, done, beyond, worker.work,
                worker.labels,
            )  # fmt: skip
            if began == worker.place < numbers.size:
                worker.make_room(2 * worker.labels[0].size)

        def fill(i):
            for worker in workers:
                put(worker.labels, worker.count, bounds[i], bounds[i + 1], d, found)

        for i, worker in enumerate(workers):
            worker.place = i
        while any(worker.place < numbers.size for worker in workers):
            each(threads, range(threads), go_on)
            each(threads, range(threads), fill)
        done[:] = found[:, -1] != NONE
        numbers, before, radius = numbers[beyond <= limit], radius, max(GROWTH * radius, float(beyond.min()))
    return d, found
