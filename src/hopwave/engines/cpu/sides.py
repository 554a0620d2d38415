"""The first arc within one side of a graph whose vertices have two, compiled and on all cores."""

from __future__ import annotations

import numpy as np

from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.crew import NEXT_CHUNK, share
from hopwave.engines.cpu.integers import ONE
from hopwave.engines.cpu.intrinsics import COMPILED, atomic_add, compare_and_swap
from hopwave.engines.cpu.views import unsigned_rows
from hopwave.system.numba_cache import njit


@njit(**COMPILED)
def look_within(indptr, indices, distances, first, end, size, board):
    """first[0] = the lowest vertex with an arc whose ends are at distances of the same parity; both were reached."""
    while True:
        begin = atomic_add(board, NEXT_CHUNK, size)
        if begin >= min(end, first[0]):
            break
        for u in range(begin, min(begin + size, end)):
            u = np.uint32(u)
            if distances[u] < 0:
                continue
            for j in range(np.uint64(indptr[u]), np.uint64(indptr[u + ONE])):
                d = distances[indices[j]]
                if d >= 0 and (d ^ distances[u]) & 1 == 0:
                    before = first[0]
                    while np.int64(u) < before and not compare_and_swap(first, 0, before, np.int64(u)):
                        before = first[0]
                    return


def arc_within(graph, distances):
    """The first arc (u, v) of the graph whose ends were reached at distances of the same parity, or None."""
    first = np.full(1, graph.n)
    with compiling(look_within):
        share(look_within, (*unsigned_rows(graph), distances, first), graph.n, graph.m, None)
    u = int(first[0])
    if u == graph.n:
        return None
    row = graph.indices[graph.indptr[u] : graph.indptr[u + 1]]
    same = (distances[row] >= 0) & ((distances[row] ^ distances[u]) & 1 == 0)
    return u, int(row[np.argmax(same)])
