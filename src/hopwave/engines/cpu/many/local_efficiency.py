"""Efficiency among the neighbours of every vertex, compiled: each is a small graph, searched 64 sources at once."""

from collections import namedtuple

import numpy as np

from hopwave.engines.cpu import policy
from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.crew import thread_count
from hopwave.engines.cpu.integers import ONE, U0, U1
from hopwave.engines.cpu.intrinsics import COMPILED, INNER, atomic_add, count_ones, noinline, ordered_load
from hopwave.engines.cpu.many.kernels import LANES
from hopwave.engines.cpu.workers import FINISHED, NEXT_BATCH, STOP, new_control, run_workers
from hopwave.system.numba_cache import njit

WorkerState = namedtuple("WorkerState", "place")  # of a vertex among the neighbours; -1 for others
SharedState = namedtuple("SharedState", "efficiency control chunk")


def local_efficiencies(loaded, poll, threads=None):
    """The efficiency of the graph that each vertex's out-neighbours induce, float64."""
    A, chunk = loaded.adjacency("any"), policy.VERTICES_PER_EFFICIENCY_CHUNK
    workers = max(1, min(thread_count(threads), loaded.n // (4 * chunk)))
    states = [WorkerState(np.full(loaded.n, -1, np.int32)) for _ in range(workers)]
    shared = SharedState(np.zeros(loaded.n), new_control(), chunk)
    with compiling(take_vertices):
        run_workers(take_vertices, (A.indptr, A.indices), states, shared, poll)
    return shared.efficiency


@njit(**INNER)
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


@njit(**INNER)
def one_vertex(indptr, indices, place, v):
    """The efficiency among v's neighbours; place is -1 everywhere before and after."""
    noinline()
    begin, end = np.int64(indptr[v]), np.int64(indptr[v + ONE])
    members = np.empty(end - begin, np.uint32)
    k, most = 0, 0
    for j in range(begin, end):
        u = indices[j]
        if place[u] < 0:  # an arc may be there twice
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


@njit(**COMPILED)
def take_vertices(A, own, shared):
    """A worker: chunk after chunk of vertices until none is left."""
    indptr, indices = A
    place, efficiency, control, chunk = own.place, shared.efficiency, shared.control, shared.chunk
    n = efficiency.size
    while ordered_load(control, STOP) == 0:
        first = atomic_add(control, NEXT_BATCH, 1) * chunk
        if first >= n:
            break
        last = min(first + chunk, n)
        for v in range(first, last):
            efficiency[v] = one_vertex(indptr, indices, place, np.uint32(v))
        atomic_add(control, FINISHED, last - first)
