"""Spur paths of Yen's algorithm: a shortest path from a vertex to the target that avoids some vertices and arcs.

The search is led by what is left from each vertex without anything barred (A*; Hart, Nilsson and Raphael, 1968): it
looks at little beside the path. What is left was added up from the other end, and may be off in its last bits. So a
vertex may be settled again, and the search ends when nothing that waits is below `slack` times the length found; that
is 1 where sums are whole numbers. Of equals, the last offered is settled first: it is nearest to the target.
"""

from __future__ import annotations

import numpy as np

from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.integers import ONE, U0, U1
from hopwave.engines.cpu.intrinsics import COMPILED
from hopwave.engines.cpu.shortest_paths.dijkstra import drop_first
from hopwave.engines.cpu.shortest_paths.nearest_of import push
from hopwave.system.numba_cache import njit


@njit(**COMPILED)
def search(A, start, length, target, barred, first, rest, most, slack, d, final, parent, touched, heap):
    """From `start`, whose distance is `length`, to the target; returns the distance there, infinite if there is none.

    barred: vertices not to visit; first: heads to which no arc from `start` may lead; rest: a lower bound on what is
    left from each vertex, infinite where the target cannot be reached; most: the greatest length. d is infinite before
    and after; parent leads back from the target, and final has the distances of that path's vertices. Returns −1 if
    the heap is too small: then nothing is found.
    """
    keys, times, vertices = heap
    count, size, time = 1, U1, 0
    d[start], touched[0] = length, start
    keys[0], times[0], vertices[0] = length + rest[start], time, start
    found = length if start == target else np.inf
    while size > U0 and keys[0] < found * slack:
        u, key = vertices[0], keys[0]
        size -= U1
        if size > U0:
            drop_first(keys, times, vertices, size)
        here = d[u]
        if key > here + rest[u]:
            continue
        begin, end = np.uint64(A.indptr[u]), np.uint64(A.indptr[u + ONE])
        if size + end - begin > np.uint64(keys.size):
            found = -1.0
            break
        for j in range(begin, end):
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
            if v == target:
                found = offer
                continue
            time -= 1
            push(keys, times, vertices, size, offer + rest[v], time, v)
            size += U1
    for i in range(count):
        final[touched[i]] = d[touched[i]]
        d[touched[i]] = np.inf
    return found


class Spurs:
    """Searches on one graph, one after another; `rest` and `slack` as `search` has them."""

    def __init__(self, arcs, rest, slack):
        n, m = len(arcs.indptr) - 1, len(arcs.indices)
        whole = not (arcs.lengths % 1).any() and float(arcs.lengths.max(initial=0.0)) * m < 2.0**53
        self.arcs, self.rest, self.barred = arcs, rest, np.zeros(n, np.bool_)
        self.slack = 1.0 if whole else slack
        self.d, self.final = np.full(n, np.inf), np.empty(n)
        self.parent, self.touched = np.empty(n, np.int32), np.empty(n, np.uint32)
        self.heap = np.empty(m + 1), np.empty(m + 1, np.int64), np.empty(m + 1, np.uint32)

    def __call__(self, start, length, target, barred, first, most):
        """(distances, path from start to target) that visits no barred vertex and leaves start to none of `first`; None
        if there is none of at most that length. `barred` is an array."""
        self.barred[barred] = True
        found = -1.0
        with compiling(search):
            while found < 0:
                found = search(
                    self.arcs, np.uint64(start), length, target, self.barred, np.array(first, np.uint32), self.rest,
                    most, self.slack, self.d, self.final, self.parent, self.touched, self.heap,
                )  # fmt: skip
                if found < 0:
                    self.heap = tuple(np.resize(part, 2 * part.size) for part in self.heap)
        self.barred[barred] = False
        if found == np.inf:
            return None
        path = [target]
        while path[-1] != start:
            path.append(int(self.parent[path[-1]]))
        path.reverse()
        return self.final[path].tolist(), path
