"""What Yen's algorithm searches for: paths over given vertices, and spurs, which avoid some vertices and arcs.

A search for a spur is led by what is left from each vertex without anything barred (A*; Hart, Nilsson and Raphael,
1968): it looks at little beside the path. What is left was added up from the other end, and may be off in its last
bits. So a vertex may be settled again, and the search ends when nothing that waits is below `slack` times the length
found; that is 1 where sums are whole numbers. Of equals, the last offered is settled first: it is nearest to the
target.
"""

import numpy as np

from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.integers import ONE, U0, U1
from hopwave.engines.cpu.intrinsics import COMPILED
from hopwave.engines.cpu.shortest_paths.dijkstra import drop_first
from hopwave.engines.cpu.shortest_paths.nearest_of import are_whole, push
from hopwave.system.numba_cache import njit


@njit(**COMPILED)
def search(A, start, length, target, barred, first, rest, most, slack, work):
    """From `start`, whose distance is `length`, to the target; returns the distance there, infinite if there is none.

    barred: vertices not to visit; first: heads to which no arc from `start` may lead; rest: a lower bound on what is
    left from each vertex, infinite where the target cannot be reached; most: the greatest length. d is infinite before
    and after; parent leads back from the target, and final has the distances of that path's vertices. Returns −1 if
    the heap is too small: then nothing is found.
    """
    d, final, parent, touched, keys, times, vertices = work
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
            offer = here + A.lengths[j]
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


@njit(**COMPILED)
def search_each(A, path, so_far, branch, closed, ends, target, barred, rest, most, slack, work, found):
    """The lengths of the spurs from every vertex of a path, from number `branch` on; returns how many, fewer if the
    heap is too small. closed: heads to which no arc from that vertex may lead, those of one vertex after another."""
    done = found.size
    for i in range(branch):
        barred[path[i]] = True
    for i in range(found.size):
        start = path[branch + i]
        first = closed[ends[i] : ends[i + 1]]
        found[i] = search(A, np.uint64(start), so_far[branch + i], target, barred, first, rest, most, slack, work)
        barred[start] = True
        if found[i] < 0.0:
            done = i
            break
    for i in range(path.size):
        barred[path[i]] = False
    return done


class Spurs:
    """Searches on one graph, one after another; `rest` and `slack` as `search` has them."""

    def __init__(self, arcs, rest, slack):
        n, m = len(arcs.indptr) - 1, len(arcs.indices)
        self.arcs, self.rest, self.barred = arcs, rest, np.zeros(n, np.bool_)
        self.slack = 1.0 if are_whole(arcs.lengths) else slack
        self.final, self.parent = np.empty(n), np.empty(n, np.int32)
        self.vertex_arrays = np.full(n, np.inf), self.final, self.parent, np.empty(n, np.uint32)
        self.heap = np.empty(m + 1), np.empty(m + 1, np.int64), np.empty(m + 1, np.uint32)

    def lengths(self, path, so_far, branch, closed, target, most):
        """The lengths of the spurs from every vertex of a path, from number `branch` on; infinite if there is none of
        at most that length. so_far: distances of the path's vertices; closed: for each spur the heads not to go to."""
        path, so_far = np.array(path, np.uint32), np.array(so_far)
        ends = np.cumsum([0, *map(len, closed)])
        heads = np.array([head for heads in closed for head in heads], np.uint32)
        found, done = np.empty(len(closed)), 0
        with compiling(search_each):
            while True:
                done += search_each(
                    self.arcs, path, so_far, branch + done, heads, ends[done:], target, self.barred, self.rest, most,
                    self.slack, (*self.vertex_arrays, *self.heap), found[done:],
                )  # fmt: skip
                if done == len(closed):
                    return found.tolist()
                self.heap = tuple(np.resize(part, 2 * part.size) for part in self.heap)

    def path(self, path, so_far, branch, heads, target, length):
        """(distances, path) of one of these spurs, from its vertex on, given its length."""
        self.lengths(path[: branch + 1], so_far, branch, [heads], target, length * self.slack)
        found = [target]
        while found[-1] != path[branch]:
            found.append(int(self.parent[found[-1]]))
        found.reverse()
        return self.final[found].tolist(), found


@njit(**COMPILED)
def next_on_trees(A, d, end):
    """For every vertex the next one on a way to the end of a search that found d, along these arcs; −1 where only arcs
    of length 0 lead on."""
    found = np.full(d.size, -1, np.int32)
    for u in range(d.size):
        for j in range(np.uint64(A.indptr[u]), np.uint64(A.indptr[u + 1])):
            v = A.indices[j]
            if d[v] < d[u] and d[v] + (A.lengths[j] if A.lengths.size else 1.0) == d[u]:
                found[u] = np.int32(v)
                break
    found[end] = end
    return found


@njit(**COMPILED)
def last_of(order, first, last, source, target, k):
    """The k-th of the vertices in this order over which the path of two trees is simple, and different from those of
    the vertices before; −1 if there are fewer. first, last: the next vertices on the way to the source, to the target.

    The paths over u and over v, its next vertex, are the same if each is the other's neighbour in its tree; so paths
    are told apart by the first vertex that is joined to v in this way.
    """
    known, seen = np.zeros(first.size, np.bool_), np.full(first.size, -1, np.int32)
    count = 0
    for v in order:
        u = v
        while not known[u] and u != source and first[u] >= 0 and last[first[u]] == u:
            known[u] = True
            u = first[u]
        is_new = not known[u]
        known[u] = True
        if not is_new or (first[v] == last[v] and v != source and v != target):
            continue
        u = v
        while u >= 0 and seen[u] != v:
            seen[u] = np.int32(v)
            u = np.int64(first[u])
        u, simple = np.int64(last[v]), u >= 0  # it has come to the source
        while simple and u != target:
            simple = u >= 0 and seen[u] != v
            u = np.int64(last[u]) if simple else u
        if simple and (v == target or seen[target] != v):
            count += 1
            if count == k:
                return v
    return -1


def tree_paths(out, into, from_source, to_target, ends, k, most):
    """A length that k different simple paths do not exceed, each over one of the `most` nearest vertices; infinite if
    these do not have as many."""
    through = from_source + to_target
    order = np.argsort(through, kind="stable")[:most]
    with compiling(next_on_trees), compiling(last_of):
        first, last = next_on_trees(into, from_source, ends[0]), next_on_trees(out, to_target, ends[1])
        v = last_of(order, first, last, *ends, k)
    return np.inf if v < 0 else float(through[v])
