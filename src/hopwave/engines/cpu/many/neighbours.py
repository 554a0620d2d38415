"""Measures of every vertex's neighbourhood, compiled: efficiency, and squares.

A vertex v is a corner of Σ c(c − 1)/2 squares, where c counts the neighbours that v shares with another vertex x. The
number of possible squares follows NetworkX (Zhang et al., Physica A, 2008): over all pairs u, w of neighbours of v,
deg(u) + deg(w) − 2, less 2 if u and w are adjacent, less the existing squares. Loops are ignored.
"""

from collections import namedtuple

import numpy as np

from hopwave.engines.cpu import policy
from hopwave.engines.cpu.crew import crew_size, thread_count
from hopwave.engines.cpu.integers import ONE, U0, U1
from hopwave.engines.cpu.intrinsics import atomic_add, count_ones, inner, noinline, outer
from hopwave.engines.cpu.many.kernels import LANES
from hopwave.engines.cpu.views import unsigned_rows
from hopwave.engines.cpu.workers import FINISHED, new_control, next_batch, run_workers

# place: index of a vertex among the neighbours, else -1; shared_with: neighbours shared with v, 0 between vertices.
Efficiency = namedtuple("Efficiency", "place")
Squares = namedtuple("Squares", "shared_with touched")
Efficiencies = namedtuple("Efficiencies", "efficiency control")
SquareCounts = namedtuple("SquareCounts", "squares possible control")


def local_efficiencies(loaded, poll, threads=None):
    A, n = loaded.adjacency("any"), loaded.n
    workers = max(1, min(thread_count(threads), n // (4 * policy.VERTICES_PER_EFFICIENCY_CHUNK)))
    states = [Efficiency(np.full(n, -1, np.int32)) for _ in range(workers)]
    shared = Efficiencies(np.zeros(n), new_control())
    run_workers(take_efficiencies, (A.indptr, A.indices), states, shared, poll)
    return shared.efficiency


def count_squares(graph):
    """The number of squares at every vertex of an undirected graph, and of further possible squares, int64."""
    n, degrees = graph.n, graph.degrees.astype(np.float64)
    work = float(degrees @ degrees)
    workers = min(crew_size(work, None), 1 + n // (4 * policy.VERTICES_PER_SQUARES_CHUNK))
    states = [Squares(np.zeros(n, np.uint32), np.empty(n, np.uint32)) for _ in range(workers)]
    shared = SquareCounts(np.zeros(n, np.int64), np.zeros(n, np.int64), new_control())
    alone = work <= policy.SMALL_JOB
    run_workers(take_squares, unsigned_rows(graph), states, shared, lambda done: False, alone=alone)
    return shared.squares, shared.possible


@inner
def among(starts, heads, k):
    """Σ 1/d over all ordered pairs of the small graph's k vertices."""
    noinline()
    seen, front, fresh = np.empty(k, np.uint64), np.empty(k, np.uint64), np.empty(k, np.uint64)
    total = 0.0
    for first in range(0, k, LANES):
        seen[:] = U0
        front[:] = U0
        fresh[:] = U0
        for lane in range(min(LANES, k - first)):
            front[first + lane] = seen[first + lane] = U1 << np.uint64(lane)
        depth, pairs = 0, 1
        while pairs > 0:
            depth += 1
            pairs = 0
            for u in range(k):
                lanes = front[u]
                if lanes != U0:
                    for j in range(starts[u], starts[u + 1]):
                        fresh[heads[j]] |= lanes
            for u in range(k):
                new = fresh[u] & ~seen[u]
                seen[u] |= new
                front[u] = new
                fresh[u] = U0
                pairs += count_ones(new)
            total += pairs / depth
    return total


@inner
def efficiency_at(indptr, indices, place, v):
    """The efficiency among v's neighbours; place is -1 everywhere before and after."""
    noinline()
    begin, end = np.int64(indptr[v]), np.int64(indptr[v + ONE])
    members = np.empty(end - begin, np.uint32)
    k, most = 0, 0
    for j in range(begin, end):
        u = indices[j]
        if place[u] < 0:  # an arc may occur twice
            place[u] = k
            members[k] = u
            k += 1
            most += np.int64(indptr[u + ONE]) - np.int64(indptr[u])
    result = 0.0
    if k > 1:
        starts, heads = np.empty(k + 1, np.int64), np.empty(most, np.int32)
        tail = 0
        for i in range(k):
            starts[i] = tail
            u = members[i]
            for j in range(np.int64(indptr[u]), np.int64(indptr[u + ONE])):
                w = place[indices[j]]
                if w >= 0 and w != i:
                    heads[tail] = w
                    tail += 1
        starts[k] = tail
        if tail:
            result = among(starts, heads, k) / (np.float64(k) * (k - 1))
    for i in range(k):
        place[members[i]] = -1
    return result


@inner
def squares_at(indptr, indices, shared_with, touched, v):
    """The number of squares at v, and of possible squares that do not exist."""
    noinline()
    degree = around = triangles = squares = found = 0
    for i in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
        u = indices[i]
        if u == v:
            continue
        degree += 1
        for j in range(np.uint64(indptr[u]), np.uint64(indptr[u + ONE])):
            x = indices[j]
            if x == u:
                continue
            around += 1
            if x != v:
                if shared_with[x] == 0:
                    touched[found] = x
                    found += 1
                shared_with[x] += ONE
    for i in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
        triangles += np.int64(shared_with[indices[i]])
    for k in range(found):
        c = np.int64(shared_with[touched[k]])
        shared_with[touched[k]] = 0
        squares += c * (c - 1)
    squares //= 2
    return squares, (degree - 1) * (around - degree) - triangles - squares


@outer
def take_efficiencies(A, own, shared):
    indptr, indices = A
    efficiency, control = shared.efficiency, shared.control
    while True:
        first, last = next_batch(control, policy.VERTICES_PER_EFFICIENCY_CHUNK, efficiency.size)
        if first == last:
            return
        for v in range(first, last):
            efficiency[v] = efficiency_at(indptr, indices, own.place, np.uint32(v))
        atomic_add(control, FINISHED, last - first)


@outer
def take_squares(A, own, shared):
    indptr, indices = A
    squares, possible, control = shared.squares, shared.possible, shared.control
    while True:
        first, last = next_batch(control, policy.VERTICES_PER_SQUARES_CHUNK, squares.size)
        if first == last:
            return
        for v in range(first, last):
            squares[v], possible[v] = squares_at(indptr, indices, own.shared_with, own.touched, np.uint32(v))
        atomic_add(control, FINISHED, last - first)
