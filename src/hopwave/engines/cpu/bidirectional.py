"""One shortest path on the CPU, compiled: two searches, from both ends, until they meet."""

import numpy as np

from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.integers import ONE
from hopwave.engines.cpu.intrinsics import COMPILED, INNER, noinline
from hopwave.engines.cpu.row_order import is_closed
from hopwave.system.numba_cache import njit

OPEN = np.empty(0, np.uint8)  # no arc is closed


def shortest_path(loaded, source, target):
    """The vertices of one shortest path, both ends included, or None. Always the same one."""
    A = loaded.adjacency("any")
    return path_between((A.indptr, A.indices), (A.in_indptr, A.in_indices), source, target, OPEN, False)


def path_between(out, into, source, target, closed, by_vertices):
    """`shortest_path` in these rows, those of arcs and of reversed arcs. closed: see row_order.is_closed.

    by_vertices: the side whose frontier has fewer vertices goes on, as in NetworkX, so that its path is found.
    """
    n = len(out[0]) - 1
    before, after = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    with compiling(meet):
        middle = meet(*out, *into, before, after, source, target, closed, by_vertices)
    return None if middle < 0 else path_over(middle, before, after, source, target)


def path_over(middle, before, after, source, target):
    """The path over a vertex from which `before` leads to the source, and `after` to the target."""
    path = [int(middle)]
    while path[-1] != source:
        path.append(int(before[path[-1]]))
    path.reverse()
    while path[-1] != target:
        path.append(int(after[path[-1]]))
    return path


@njit(**INNER)
def expand(indptr, indices, mine, theirs, queue, begin, end, source, closed):
    """One level from one side. Returns the new end of its queue, the arcs that leave what it found, and where the sides
    meet, or -1."""
    noinline()
    tail, arcs, shut = end, 0, closed.size > 0
    for i in range(begin, end):
        u = queue[i]
        for j in range(np.int64(indptr[u]), np.int64(indptr[u + ONE])):
            v = indices[j]
            if mine[v] < 0:
                if shut and is_closed(closed, source, np.int64(u), np.int64(v)):
                    continue
                mine[v] = np.int32(u)
                if theirs[v] >= 0:
                    return tail, arcs, np.int64(v)
                queue[tail] = v
                tail += 1
                arcs += np.int64(indptr[v + ONE]) - np.int64(indptr[v])
    return tail, arcs, np.int64(-1)


@njit(**COMPILED)
def meet(indptr, indices, in_indptr, in_indices, before, after, source, target, closed, by_vertices):
    """A vertex in the middle of a shortest path, or -1; before and after lead from it to both ends.

    The side whose next level has fewer arcs goes on, or fewer vertices. Both have finished their levels without
    meeting, so the first vertex that a new level shares with the other side lies on a shortest path.
    """
    before[source] = np.int32(source)
    after[target] = np.int32(target)
    if source == target:
        return source
    queue, back = np.empty(before.size, np.uint32), np.empty(before.size, np.uint32)
    queue[0] = np.uint32(source)
    back[0] = np.uint32(target)
    begin, end, back_begin, back_end = 0, 1, 0, 1
    arcs = np.int64(indptr[source + 1]) - np.int64(indptr[source])
    back_arcs = np.int64(in_indptr[target + 1]) - np.int64(in_indptr[target])
    while arcs > 0 and back_arcs > 0:
        if end - begin <= back_end - back_begin if by_vertices else arcs <= back_arcs:
            tail, arcs, middle = expand(indptr, indices, before, after, queue, begin, end, source, closed)
            begin, end = end, tail
        else:
            tail, back_arcs, middle = expand(
                in_indptr, in_indices, after, before, back, back_begin, back_end, source, closed
            )
            back_begin, back_end = back_end, tail
        if middle >= 0:
            return middle
    return np.int64(-1)
