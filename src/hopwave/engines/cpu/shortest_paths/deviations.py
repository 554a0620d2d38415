"""Spur paths of Yen's algorithm: a shortest path from a vertex to the target that avoids some vertices and arcs."""

import numpy as np

from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.integers import ONE, U0, U1
from hopwave.engines.cpu.intrinsics import COMPILED
from hopwave.engines.cpu.shortest_paths.dijkstra import add, drop_first
from hopwave.system.numba_cache import njit


@njit(**COMPILED)
def search(A, start, length, target, barred, first, rest, most, d, final, parent, touched, keys, times, vertices):
    """From `start`, whose distance is `length`, to the target; returns the distance there, infinite if there is none.

    barred: vertices not to visit; first: heads to which no arc from `start` may lead; rest: a lower bound on what is
    left from each vertex, infinite where the target cannot be reached; most: the greatest length. d is infinite before
    and after; parent leads back from the target, and final has the distances of that path's vertices.
    """
    count, size, time = 1, U1, U1
    d[start], touched[0] = length, start
    keys[0], times[0], vertices[0] = length, U0, start
    found = np.inf
    while size > U0:
        u, here = vertices[0], keys[0]
        size -= U1
        if size > U0:
            drop_first(keys, times, vertices, size)
        if here > d[u]:
            continue
        if u == target:
            found = here
            break
        for j in range(np.uint64(A.indptr[u]), np.uint64(A.indptr[u + ONE])):
            v = A.indices[j]
            offer = here + (A.lengths[j] if A.lengths.size else 1.0)
            if offer >= d[v] or barred[v] or offer + rest[v] > most:
                continue
            if u == start:
                closed = False
                for i in range(first.size):
                    closed = closed or first[i] == v
                if closed:
                    continue
            if d[v] == np.inf:
                touched[count] = v
                count += 1
            d[v], parent[v] = offer, np.int32(u)
            add(keys, times, vertices, size, offer, time, v)
            size += U1
            time += U1
    for i in range(count):
        final[touched[i]] = d[touched[i]]
        d[touched[i]] = np.inf
    return found


class Spurs:
    """Searches on one graph, one after another; `rest` as `search` has it."""

    def __init__(self, arcs, rest):
        n, m = len(arcs.indptr) - 1, len(arcs.indices)
        self.arcs, self.rest, self.barred = arcs, rest, np.zeros(n, np.bool_)
        self.d, self.final = np.full(n, np.inf), np.empty(n)
        self.parent, self.touched = np.empty(n, np.int32), np.empty(n, np.uint32)
        self.heap = np.empty(m + 1), np.empty(m + 1, np.uint64), np.empty(m + 1, np.uint32)

    def __call__(self, start, length, target, barred, first, most):
        """(distances, path from start to target) that visits no barred vertex and leaves start to none of `first`; None
        if there is none of at most that length. `barred` is an array."""
        self.barred[barred] = True
        with compiling(search):
            found = search(
                self.arcs, np.uint64(start), length, target, self.barred, np.array(first, np.uint32), self.rest, most,
                self.d, self.final, self.parent, self.touched, *self.heap,
            )  # fmt: skip
        self.barred[barred] = False
        if found == np.inf:
            return None
        path = [target]
        while path[-1] != start:
            path.append(int(self.parent[path[-1]]))
        path.reverse()
        return self.final[path].tolist(), path
