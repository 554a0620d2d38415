"""The search of a small graph: one compiled call on the calling thread, every level pushed, in a microsecond or two."""

from functools import partial

import numpy as np

from hopwave.engines.cpu import policy
from hopwave.engines.cpu.crew import check_threads
from hopwave.engines.cpu.integers import ONE, U1
from hopwave.engines.cpu.intrinsics import outer
from hopwave.engines.cpu.views import unsigned, unsigned_rows

NO_LIMIT = np.iinfo(np.int32).max


class SmallSearch:
    """Searches of one small graph: a hopwave.engines.DirectSearch. Thread-safe."""

    without = ("direction rule",)

    def __init__(self, graph, question, threads):
        self._n = graph.n
        self._rows = unsigned_rows(graph)
        self._columns = (unsigned(graph.in_indptr), unsigned(graph.in_indices)) if question.path_counts else None
        self._predecessors = question.predecessors
        check_threads(threads)

    def __call__(self, sources, limit):
        n, count = self._n, len(sources)
        parent, distance, queue = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.uint32)
        if count > 1:
            queue[:count] = sources
        hops = NO_LIMIT if limit is None else min(limit, NO_LIMIT)
        reached, depth = push_all(*self._rows, queue, sources[0], count, hops, parent, distance)
        counts = None
        if self._columns:
            counts = np.empty(n)
            if not count_all(*self._columns, queue, count, reached, distance, counts):
                return None
        return {
            "distances": distance,
            "predecessors": parent if self._predecessors else None,
            "path_counts": counts,
            "depth": depth,
            "reached": reached,
        }


class FirstSearches(SmallSearch):
    """Searches before the loop of large searches is compiled. search(sources) uses the loop."""

    def __init__(self, graph, question, threads, first, search):
        super().__init__(graph, question, threads)
        self._first, self._search = first, search
        self._seconds = (graph.n + graph.m) * policy.SECONDS_PER_PUSHED_ARC

    def __call__(self, sources, limit):
        avoids = self._first.avoids(self._seconds, partial(self._search, sources))
        return super().__call__(sources, limit) if avoids else None


@outer
def push_all(indptr, indices, queue, first, count, limit, parent, distance):
    """Search from the first source and queue[1:count]. Returns the number of vertices reached, and the depth."""
    queue[0] = np.uint32(first)
    n = np.uint64(parent.size)
    for v in range(n):
        parent[v] = -1
        distance[v] = -1
    begin, end = np.uint64(0), np.uint64(count)
    for i in range(end):
        parent[queue[i]] = np.int32(queue[i])
        distance[queue[i]] = 0
    depth = np.int32(0)
    while begin < end and end < n and depth < limit:
        depth += np.int32(1)
        tail = end
        for i in range(begin, end):
            u = queue[i]
            for j in range(np.uint64(indptr[u]), np.uint64(indptr[u + ONE])):
                v = indices[j]
                if distance[v] < 0:
                    distance[v] = depth
                    parent[v] = np.int32(u)
                    queue[tail] = v
                    tail += U1
        begin, end = end, tail
    return np.int64(end), np.int64(distance[queue[end - U1]])


@outer
def count_all(in_indptr, in_indices, queue, count, reached, distance, sigma):
    """Paths to queue[:reached], summed in the order of rows like `steps.count_paths`. Returns whether all fit."""
    for v in range(np.uint64(sigma.size)):
        sigma[v] = 0.0
    for i in range(np.uint64(count)):
        sigma[queue[i]] = 1.0
    fits = True
    for i in range(np.uint64(count), np.uint64(reached)):
        v = queue[i]
        total = 0.0
        for j in range(np.uint64(in_indptr[v]), np.uint64(in_indptr[v + ONE])):
            u = in_indices[j]
            if distance[u] == distance[v] - 1:
                total += sigma[u]
        sigma[v] = total
        fits &= total < np.inf
    return fits
