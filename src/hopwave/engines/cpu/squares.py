"""Squares at every vertex, compiled: for each vertex at the opposite corner, the neighbours that the two share.

A vertex v is a corner of Σ c(c − 1)/2 squares, where c counts the neighbours that v shares with another vertex x. How
many more there could be is counted as in NetworkX (Zhang et al., Physica A, 2008): over all pairs u, w of neighbours of
v, deg(u) + deg(w) − 2, less 2 if u and w are neighbours themselves, less the squares that there are. Loops count
nothing.
"""

from collections import namedtuple

import numpy as np

from hopwave.engines.cpu import policy
from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.crew import crew_size
from hopwave.engines.cpu.integers import ONE
from hopwave.engines.cpu.intrinsics import COMPILED, INNER, atomic_add, noinline, ordered_load
from hopwave.engines.cpu.views import unsigned_rows
from hopwave.engines.cpu.workers import FINISHED, NEXT_BATCH, STOP, new_control, run_workers
from hopwave.system.numba_cache import njit

WorkerState = namedtuple("WorkerState", "shared_with touched")  # neighbours shared with v, 0 between two vertices
SharedState = namedtuple("SharedState", "squares possible control chunk")


def count_squares(graph):
    """How many squares every vertex of an undirected graph is in, and how many more there could be, int64."""
    n, degrees = graph.n, graph.degrees.astype(np.float64)
    work = float(degrees @ degrees)
    workers = min(crew_size(work, None), 1 + n // (4 * policy.VERTICES_PER_SQUARES_CHUNK))
    states = [WorkerState(np.zeros(n, np.uint32), np.empty(n, np.uint32)) for _ in range(workers)]
    shared = SharedState(np.zeros(n, np.int64), np.zeros(n, np.int64), new_control(), policy.VERTICES_PER_SQUARES_CHUNK)
    with compiling(take_vertices):
        run_workers(
            take_vertices, unsigned_rows(graph), states, shared, lambda done: False, alone=work <= policy.SMALL_JOB
        )
    return shared.squares, shared.possible


@njit(**INNER)
def one_vertex(indptr, indices, own, v):
    """The squares at v, and those that could be there but are not."""
    noinline()
    shared_with, touched = own.shared_with, own.touched
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


@njit(**COMPILED)
def take_vertices(A, own, shared):
    """A worker: chunk after chunk of vertices until none is left."""
    indptr, indices = A
    squares, possible, control, chunk = shared.squares, shared.possible, shared.control, shared.chunk
    n = squares.size
    while ordered_load(control, STOP) == 0:
        first = atomic_add(control, NEXT_BATCH, 1) * chunk
        if first >= n:
            break
        last = min(first + chunk, n)
        for v in range(first, last):
            squares[v], possible[v] = one_vertex(indptr, indices, own, np.uint32(v))
        atomic_add(control, FINISHED, last - first)
