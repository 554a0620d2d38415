"""The k nearest of some vertices by all cores: a search around each facility, in rounds of growing radius.

    d, found   for every vertex its k nearest so far, by distance and then by number: distances, numbers of facilities
    done       whether a vertex had k of them when the round began
    labels     what a worker found in this round: vertices, numbers of facilities, distances

A search goes on through a vertex that is done only if its facility is among the vertex's k nearest: so searches stay
small where rows are short, as on roads. Sums of fractions are rounded, and two facilities that differ in the last bits
at a vertex may be equally far from the next. There a search goes on unless its facility is farther than the k-th by
more than `slack`. A search begins anew in every round, and only what lies beyond the radius before is new. Which
vertices are done is known before a round, and rows are filled between searches, each by one worker: answers do not
depend on threads.
"""

from __future__ import annotations

import sys

import numpy as np

from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.integers import ONE, U0, U1
from hopwave.engines.cpu.intrinsics import COMPILED
from hopwave.engines.cpu.shortest_paths.dijkstra import add, drop_first
from hopwave.engines.cpu.shortest_paths.nearest_of import NONE, is_new, slack_of
from hopwave.system.numba_cache import njit
from hopwave.system.threads import each

GROWTH = 1.4  # of the radius: on a plane, twice as many vertices
ROOM = 1 << 18  # labels of a worker before they are put into rows


@njit(**COMPILED)
def search(A, facilities, numbers, place, stride, before, radius, slack, d, found, done, beyond, work, labels):
    """Search around every stride-th of the facilities with these numbers, from `place` on.

    beyond: for each of them the nearest distance past the radius. near is infinite before and after. Returns where to
    go on and the number of labels, if the heap or the labels have no room for the next facility.
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


@njit(**COMPILED)
def put(labels, count, begin, end, d, found):
    """Put the labels of vertices from begin to end into their rows."""
    where, who, length = labels
    last = d.shape[1] - 1
    for i in range(count):
        v, number, offer = where[i], who[i], length[i]
        if begin <= v < end and (offer < d[v, last] or (offer == d[v, last] and number < found[v, last])):
            is_new(d, found, v, offer, number)


class Worker:
    """What one thread searches in; where it is in a round, and how many labels it has."""

    def __init__(self, n):
        self.vertex_arrays = np.full(n, np.inf), np.empty(n, np.uint32)
        self.place, self.count = 0, 0
        self.make_room(ROOM)

    def make_room(self, room):
        self.work = *self.vertex_arrays, np.empty(room), np.empty(room, np.uint64), np.empty(room, np.uint32)
        self.labels = np.empty(room, np.uint32), np.empty(room, np.int32), np.empty(room)


def nearest_in_rounds(arcs, facilities, k, limit, threads):
    """(distances, numbers of facilities): one row of k per vertex, nearest first; infinite and NONE past the last.

    `arcs` as dijkstra.arcs makes them; facilities are ids in ascending order.
    """
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
            worker.place, worker.count = search(
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
        with compiling(search), compiling(put):
            while any(worker.place < numbers.size for worker in workers):
                each(threads, range(threads), go_on)
                each(threads, range(threads), fill)
        done[:] = found[:, -1] != NONE
        numbers, before, radius = numbers[beyond <= limit], radius, max(GROWTH * radius, float(beyond.min()))
    return d, found
