"""One shortest path on the CPU, compiled: two searches, from both ends, until they meet."""

import numpy as np

from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.integers import ONE
from hopwave.engines.cpu.intrinsics import COMPILED, INNER, noinline
from hopwave.system.numba_cache import njit


def shortest_path(loaded, source, target):
    """The vertices of one shortest path, both ends included, or None. Always the same one."""
    A = loaded.adjacency("any")
    before, after = np.full(loaded.n, -1, np.int32), np.full(loaded.n, -1, np.int32)
    with compiling(meet):
        middle = meet(A.indptr, A.indices, A.in_indptr, A.in_indices, before, after, source, target)
    if middle < 0:
        return None
    path = [int(middle)]
    while path[-1] != source:
        path.append(int(before[path[-1]]))
    path.reverse()
    while path[-1] != target:
        path.append(int(after[path[-1]]))
    return path


@njit(**INNER)
def expand(indptr, indices, mine, theirs, queue, begin, end):
    """One level from one side. Returns the new end of its queue, the arcs that leave what it found, and where the sides
    meet, or -1."""
    noinline()
    tail = end
    arcs = 0
    for i in range(begin, end):
        u = queue[i]
        for j in range(np.int64(indptr[u]), np.int64(indptr[u + ONE])):
            v = indices[j]
            if mine[v] < 0:
                mine[v] = np.int32(u)
                if theirs[v] >= 0:
                    return tail, arcs, np.int64(v)
                queue[tail] = v
                tail += 1
                arcs += np.int64(indptr[v + ONE]) - np.int64(indptr[v])
    return tail, arcs, np.int64(-1)


@njit(**COMPILED)
def meet(indptr, indices, in_indptr, in_indices, before, after, source, target):
    """A vertex in the middle of a shortest path, or -1; before and after lead from it to both ends.

    The side whose next level has fewer arcs goes on. Both have finished their levels without meeting, so the first
    vertex that a new level shares with the other side lies on a shortest path.
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
        if arcs <= back_arcs:
            tail, arcs, middle = expand(indptr, indices, before, after, queue, begin, end)
            begin, end = end, tail
        else:
            tail, back_arcs, middle = expand(in_indptr, in_indices, after, before, back, back_begin, back_end)
            back_begin, back_end = back_end, tail
        if middle >= 0:
            return middle
    return np.int64(-1)
