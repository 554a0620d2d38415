"""Searches of Yen's algorithm: spurs, which leave a path at one of its vertices, and the resulting paths.

The part of the path before that vertex is the spur's root. A search is guided by each vertex's distance to the target
(A*; Hart, Nilsson and Raphael, 1968). These distances are summed from the other end and may differ by rounding: a
vertex may be settled again, and the search ends when no waiting vertex is below `slack` times the length found.
"""

from collections import namedtuple

import numpy as np

from hopwave.engines.cpu.integers import ONE, U0, U1
from hopwave.engines.cpu.intrinsics import outer
from hopwave.engines.cpu.shortest_paths.dijkstra import add, drop_first
from hopwave.engines.cpu.shortest_paths.nearest_of import are_whole

PIECE = 4096  # searches per compiled call: Ctrl-C waits for its end


@outer
def search(A, start, length, target, place, at, first, rest, most, slack, work):
    """Search from `start`, at distance `length`. Returns the distance of the target, or infinity; −1: the heap is full.

    place: index on the spur's path, n elsewhere; below `at` is the root. first: forbidden heads. rest: bounds.
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
            if offer >= d[v] or place[v] < at or offer + rest[v] > most:
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
            add(keys, times, vertices, size, offer + rest[v], time, v)
            size += U1
    for i in range(count):
        final[touched[i]] = d[touched[i]]
        d[touched[i]] = np.inf
    return found


# Concatenated paths: their vertices, the distances of these, and the start of each path.
Paths = namedtuple("Paths", "vertices so_far begins")

# Per spur: the path that it leaves, the index of the spur vertex, and the previous spur with its root, or −1. Its first
# arc differs from that of its path, and from those of the paths that earlier spurs of its root leave.
Spurs = namedtuple("Spurs", "path at before")


@outer
def mark(paths, path, place, off):
    begin = paths.begins[path]
    for j in range(begin, paths.begins[path + 1]):
        place[paths.vertices[j]] = np.int32(place.size if off else j - begin)


@outer
def search_spur(A, paths, known, spur, target, rest, most, slack, place, heads, work):
    """The length of a spur (path, at, before), like `search`. Its path is marked; earlier spurs' paths are known."""
    path, at, before = spur
    count, begin = 0, paths.begins[path]
    start = begin + at
    while True:
        if begin + at + 1 < paths.begins[path + 1]:
            heads[count] = paths.vertices[begin + at + 1]
            count += 1
        if before < 0:
            break
        path, before = known.path[before], known.before[before]
        begin = paths.begins[path]
    first = heads[:count]
    return search(
        A, np.uint64(paths.vertices[start]), paths.so_far[start], target, place, at, first, rest, most, slack, work
    )


@outer
def find_lengths(A, paths, known, spurs, target, rest, most, slack, place, heads, work, found):
    """Find the lengths of spurs. Returns their number: fewer if the heap is too small."""
    marked, done = np.int64(-1), found.size
    for i in range(found.size):
        spur = spurs.path[i], spurs.at[i], spurs.before[i]
        if spur[0] != marked:
            if marked >= 0:
                mark(paths, marked, place, True)
            marked = spur[0]
            mark(paths, marked, place, False)
        found[i] = search_spur(A, paths, known, spur, target, rest, most, slack, place, heads, work)
        if found[i] < 0.0:
            done = i
            break
    if marked >= 0:
        mark(paths, marked, place, True)
    return done


@outer
def find_paths(A, paths, count, known, lengths, some, target, rest, slack, place, heads, work):
    final, parent = work[1], work[2]
    for i in range(some.size):
        path, at, before = known.path[some[i]], known.at[some[i]], known.before[some[i]]
        begin, end = paths.begins[path], paths.begins[count + i]
        if end + at + place.size > paths.vertices.size:
            return i
        most = lengths[some[i]] * slack
        mark(paths, path, place, False)
        found = search_spur(A, paths, known, (path, at, before), target, rest, most, slack, place, heads, work)
        mark(paths, path, place, True)
        if found < 0.0:
            return i
        for j in range(at + 1):
            paths.vertices[end + j], paths.so_far[end + j] = paths.vertices[begin + j], paths.so_far[begin + j]
        start, size, v = np.int64(paths.vertices[begin + at]), at + 1, np.int64(target)
        while v != start:
            v = np.int64(parent[v])
            size += 1
        paths.begins[count + i + 1] = end + size
        v = np.int64(target)
        while v != start:
            size -= 1
            paths.vertices[end + size], paths.so_far[end + size] = np.uint32(v), final[v]
            v = np.int64(parent[v])
    return some.size


class Deviations:
    """Spurs with their lengths, and some paths. Spur 0 leaves the source by any arc. `elsewhere`: a GPU's search."""

    def __init__(self, arcs, rest, slack, source, target, most, elsewhere=None):
        n, m = len(arcs.indptr) - 1, len(arcs.indices)
        self.arcs, self.rest, self.target = arcs, rest, target
        self.slack = 1.0 if are_whole(arcs.lengths) else slack
        self.vertex_arrays = np.full(n, np.inf), np.empty(n), np.empty(n, np.int32), np.empty(n, np.uint32)
        self.heap = np.empty(m + 1), np.empty(m + 1, np.int64), np.empty(m + 1, np.uint32)
        self.place, self.heads = np.full(n, n, np.int32), np.empty(n, np.uint32)
        self.count, self.paths = 1, Paths(np.full(2 * n, source, np.uint32), np.zeros(2 * n), np.array([0, 1]))
        self.spurs, self.lengths, self.path_of = Spurs(*np.empty((3, 0), np.int64)), np.empty(0), np.empty(0, np.int64)
        self.elsewhere = elsewhere and elsewhere(arcs, rest, self.slack, target)
        self._add(Spurs(*np.array([[0], [0], [-1]])), most)

    def leave(self, some, most):
        """Find the paths of some spurs; returns the spurs that leave these paths, of length at most `most`."""
        first = self.count
        self.find_paths(some)
        at = self.spurs.at[some]
        sizes = np.diff(self.paths.begins[first : self.count + 1]) - 1 - at
        path, begins = np.repeat(np.arange(first, self.count), sizes), np.cumsum(sizes) - sizes
        before = np.full(len(path), -1)
        before[begins] = some
        return self._add(Spurs(path, np.arange(len(path)) - np.repeat(begins - at, sizes), before), most)

    def _add(self, spurs, most):
        """Keep spurs of length at most `most`; returns their indices."""
        found = self.find_lengths(spurs, most)
        kept, known = np.flatnonzero(found < np.inf), len(self.lengths)
        parts = zip(self.spurs, spurs, strict=True)
        self.spurs = Spurs(*(np.concatenate([old, new[kept]]) for old, new in parts))
        self.lengths = np.concatenate([self.lengths, found[kept]])
        self.path_of = np.concatenate([self.path_of, np.zeros(len(kept), np.int64)])
        return np.arange(known, len(self.lengths))

    def find_lengths(self, spurs, most):
        """The lengths of spurs that leave known paths; infinite for spurs longer than `most`."""
        if self.elsewhere is not None and self.elsewhere.are_worth_it(len(spurs.path)):
            return self.elsewhere.lengths(self.paths, self.spurs, spurs, most)
        found, done = np.empty(len(spurs.path)), 0
        while done < len(found):
            some, end = Spurs(*(part[done : done + PIECE] for part in spurs)), min(done + PIECE, len(found))
            done += find_lengths(
                self.arcs, self.paths, self.spurs, some, self.target, self.rest, most, self.slack, self.place,
                self.heads, (*self.vertex_arrays, *self.heap), found[done:end],
            )  # fmt: skip
            if done < end:
                self.heap = _twice(self.heap)
        return found

    def find_paths(self, some):
        done, last = 0, self.count + len(some)
        self.paths = self.paths._replace(begins=np.resize(self.paths.begins, last + 1))
        while done < len(some):
            end = min(done + PIECE, len(some))
            done += find_paths(
                self.arcs, self.paths, self.count + done, self.spurs, self.lengths, some[done:end], self.target,
                self.rest, self.slack, self.place, self.heads, (*self.vertex_arrays, *self.heap),
            )  # fmt: skip
            if done < end:
                self.heap, self.paths = _twice(self.heap), Paths(*_twice(self.paths[:2]), self.paths.begins)
        self.path_of[some] = np.arange(self.count, last)
        self.count = last

    def path(self, spur):
        number = self.path_of[spur]
        return self.paths.vertices[self.paths.begins[number] : self.paths.begins[number + 1]]


def _twice(arrays):
    return tuple(np.concatenate([array, np.empty_like(array)]) for array in arrays)


@outer
def next_on_trees(A, d, end):
    """For every vertex, the next one on a shortest path to the start of d; −1 if only arcs of length 0 lead there."""
    found = np.full(d.size, -1, np.int32)
    for u in range(d.size):
        for j in range(np.uint64(A.indptr[u]), np.uint64(A.indptr[u + 1])):
            v = A.indices[j]
            if d[v] < d[u] and d[v] + (A.lengths[j] if A.lengths.size else 1.0) == d[u]:
                found[u] = np.int32(v)
                break
    found[end] = end
    return found


@outer
def last_of(order, first, last, source, target, k):
    """The k-th vertex through which the path of two trees is simple and new, or −1; first, last: next on the trees."""
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
        u, simple = np.int64(last[v]), u >= 0  # the walk has reached the source
        while simple and u != target:
            simple = u >= 0 and seen[u] != v
            u = np.int64(last[u]) if simple else u
        if simple and (v == target or seen[target] != v):
            count += 1
            if count == k:
                return v
    return -1


def tree_paths(out, into, from_source, to_target, ends, k, most):
    """A length that k different simple paths via the `most` nearest vertices do not exceed; infinite if fewer exist."""
    through = from_source + to_target
    order = np.argsort(through, kind="stable")[:most]
    first, last = next_on_trees(into, from_source, ends[0]), next_on_trees(out, to_target, ends[1])
    v = last_of(order, first, last, *ends, k)
    return np.inf if v < 0 else float(through[v])
