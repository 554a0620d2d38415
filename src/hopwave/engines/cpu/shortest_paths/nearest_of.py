"""The k nearest of some vertices, for every vertex: one search from all of them, in which a vertex is settled k times.

The heap is a binary tree of (distance, number of the facility, vertex), nearest first, then lowest number. A vertex
passes on only its k nearest: whoever comes by it has these k at least as near.
"""

from __future__ import annotations

import numpy as np

from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.integers import ONE
from hopwave.engines.cpu.intrinsics import COMPILED, INNER
from hopwave.system.numba_cache import njit


@njit(**INNER)
def before(keys, numbers, i, j):
    """Whether entry i of the heap comes before entry j."""
    return keys[i] < keys[j] or (keys[i] == keys[j] and numbers[i] < numbers[j])


@njit(**INNER)
def swap(keys, numbers, vertices, i, j):
    """Exchange two entries."""
    keys[i], keys[j] = keys[j], keys[i]
    numbers[i], numbers[j] = numbers[j], numbers[i]
    vertices[i], vertices[j] = vertices[j], vertices[i]


@njit(**INNER)
def push(keys, numbers, vertices, size, d, number, v):
    """Put an entry into the heap, which has that size."""
    keys[size], numbers[size], vertices[size] = d, number, v
    place = size
    while place > 0 and before(keys, numbers, place, (place - 1) // 2):
        swap(keys, numbers, vertices, place, (place - 1) // 2)
        place = (place - 1) // 2


@njit(**INNER)
def pop(keys, numbers, vertices, size):
    """Take out the root; the heap then has that size, and the root is behind its end."""
    swap(keys, numbers, vertices, 0, size)
    place = 0
    while True:
        best = 2 * place + 1
        if best >= size:
            break
        if best + 1 < size and before(keys, numbers, best + 1, best):
            best += 1
        if not before(keys, numbers, best, place):
            break
        swap(keys, numbers, vertices, best, place)
        place = best


@njit(**COMPILED)
def search(indptr, indices, lengths, facilities, limit, d, found, count, keys, numbers, vertices):
    """Fill d and found, one row of k per vertex; count is how many of them there are, 0 before."""
    size, k = 0, d.shape[1]
    for number in range(facilities.size):
        push(keys, numbers, vertices, size, 0.0, number, facilities[number])
        size += 1
    while size:
        size -= 1
        pop(keys, numbers, vertices, size)
        here, number, u = keys[size], numbers[size], vertices[size]
        known = count[u]
        if known == k:
            continue
        seen = False
        for i in range(known):
            seen = seen or found[u, i] == number
        if seen:
            continue
        d[u, known], found[u, known], count[u] = here, number, known + 1
        for j in range(np.uint64(indptr[u]), np.uint64(indptr[u + ONE])):
            v = indices[j]
            offer = here + (lengths[j] if lengths.size else 1.0)
            if offer <= limit and count[v] < k:
                if k == 1:  # only what is nearer than all that wait for v can be its nearest
                    if offer > d[v, 0] or (offer == d[v, 0] and found[v, 0] <= number):
                        continue
                    d[v, 0], found[v, 0] = offer, number
                push(keys, numbers, vertices, size, offer, number, v)
                size += 1


def nearest_of(arcs, facilities, k, limit):
    """(distances, numbers of facilities): one row of k per vertex, nearest first; infinite and −1 past the last.

    `arcs` as dijkstra.arcs makes them; facilities are ids in ascending order.
    """
    n, m = len(arcs.indptr) - 1, len(arcs.indices)
    d, found, count = np.full((n, k), np.inf), np.full((n, k), -1, np.int32), np.zeros(n, np.int32)
    entries = k * m + len(facilities) + 1  # untouched pages cost nothing
    heap = np.empty(entries), np.empty(entries, np.int32), np.empty(entries, np.uint32)
    with compiling(search):
        search(*arcs, facilities.astype(np.uint32), limit, d, found, count, *heap)
    return d, found
