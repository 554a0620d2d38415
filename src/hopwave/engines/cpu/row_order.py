"""Sequential searches that keep the order of the rows they are given (the NetworkX face needs it).

Rows are any compressed-sparse-row pair; neighbours are visited as they stand, so a caller who keeps them in the order
of some other library gets that library's answer, tie for tie.
"""

from __future__ import annotations

import numba
import numpy as np

COMPILE = {"cache": True, "nogil": True}


@numba.njit(**COMPILE)
def search(indptr, indices, sources, limit, order, level, parent):
    """Fill order, level (−1 before) and parent; return how many vertices were found."""
    tail = 0
    for s in sources:
        if level[s] < 0:
            level[s] = 0
            parent[s] = s
            order[tail] = s
            tail += 1
    head = 0
    while head < tail:
        v = order[head]
        head += 1
        depth = level[v]
        if depth >= limit:
            break
        for j in range(indptr[v], indptr[v + 1]):
            w = indices[j]
            if level[w] < 0:
                level[w] = depth + 1
                parent[w] = v
                order[tail] = w
                tail += 1
    return tail


@numba.njit(**COMPILE)
def pair(indptr, indices, in_indptr, in_indices, source, target, before, after):
    """Search from both ends, the smaller fringe first, a level at a time; return the vertex where they meet, or −1.

    before and after hold the neighbour towards source and target; −1 is not seen, an end names itself.
    """
    n = len(indptr) - 1
    forward, backward = np.empty(n, np.int32), np.empty(n, np.int32)
    before[source], after[target] = source, target
    forward[0], backward[0] = source, target
    f0, f1, b0, b1 = 0, 1, 0, 1
    while f0 < f1 and b0 < b1:
        if f1 - f0 <= b1 - b0:
            end = f1
            for i in range(f0, end):
                v = forward[i]
                for j in range(indptr[v], indptr[v + 1]):
                    w = indices[j]
                    if before[w] < 0:
                        forward[f1] = w
                        f1 += 1
                        before[w] = v
                    if after[w] >= 0:
                        return w
            f0 = end
        else:
            end = b1
            for i in range(b0, end):
                v = backward[i]
                for j in range(in_indptr[v], in_indptr[v + 1]):
                    w = in_indices[j]
                    if after[w] < 0:
                        after[w] = v
                        backward[b1] = w
                        b1 += 1
                    if before[w] >= 0:
                        return w
            b0 = end
    return -1


@numba.njit(**COMPILE)
def strong_components(indptr, indices, label):
    """Tarjan's algorithm without recursion; label (−1 before) counts components as they close."""
    n = len(indptr) - 1
    number = np.zeros(n, np.int32)  # 0: not yet visited
    low = np.empty(n, np.int32)
    cursor = indptr[:-1].copy()
    path, waiting = np.empty(n, np.int32), np.empty(n, np.int32)
    visited, closed, waits = 0, 0, 0
    for root in range(n):
        if number[root]:
            continue
        depth = 0
        path[0] = root
        while depth >= 0:
            v = path[depth]
            if number[v] == 0:
                visited += 1
                number[v] = visited
                low[v] = visited
                waiting[waits] = v
                waits += 1
            deeper = False
            while cursor[v] < indptr[v + 1]:
                w = indices[cursor[v]]
                cursor[v] += 1
                if number[w] == 0:
                    depth += 1
                    path[depth] = w
                    deeper = True
                    break
                if label[w] < 0:
                    low[v] = min(low[v], number[w])
            if deeper:
                continue
            if low[v] == number[v]:
                while True:
                    waits -= 1
                    w = waiting[waits]
                    label[w] = closed
                    if w == v:
                        break
                closed += 1
            depth -= 1
            if depth >= 0:
                u = path[depth]
                low[u] = min(low[u], low[v])
    return closed


@numba.njit(**COMPILE)
def through_group(indptr, indices, sources, group, ends):
    """Σ over pairs from these sources of the part of their shortest paths that touches the group; pairs with an end in
    it if `ends`.

    Every vertex holds its path count, by a power of two per level, and the part of these paths that avoid the group.
    """
    n = len(indptr) - 1
    level, order, parent = np.full(n, -1, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    count, avoiding, source = np.zeros(n), np.zeros(n), np.empty(1, np.int32)
    total = 0.0
    for s in sources:
        if group[s] and not ends:
            continue
        source[0] = s
        found = search(indptr, indices, source, np.inf, order, level, parent)
        count[s], avoiding[s] = 1.0, 0.0 if group[s] else 1.0
        begin = 0
        while begin < found:
            end, greatest = begin, 0.0
            while end < found and level[order[end]] == level[order[begin]]:
                greatest = max(greatest, count[order[end]])
                end += 1
            scale = 2.0**-512 if greatest > 2.0**512 else 1.0
            for i in range(begin, end):
                v = order[i]
                if v != s:
                    avoiding[v] = 0.0 if group[v] else avoiding[v] / count[v]
                    if ends or not group[v]:
                        total += 1.0 - avoiding[v]
                for j in range(indptr[v], indptr[v + 1]):
                    w = indices[j]
                    if level[w] == level[v] + 1:
                        count[w] += count[v] * scale
                        avoiding[w] += count[v] * scale * avoiding[v]
            begin = end
        for i in range(found):
            v = order[i]
            level[v], count[v], avoiding[v] = -1, 0.0, 0.0
    return total


@numba.njit(**COMPILE)
def loads(indptr, indices, sources, limit, total):
    """Add these sources' even splits of loads to total."""
    n = len(indptr) - 1
    level, order, parent = np.full(n, -1, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    before = np.zeros(n, np.int32)  # how many vertices of the level before lead here
    load = np.empty(n)
    source = np.empty(1, np.int32)
    for s in sources:
        source[0] = s
        found = search(indptr, indices, source, limit, order, level, parent)
        for i in range(found):
            v = order[i]
            load[v] = 1.0
            if level[v] < limit:
                for j in range(indptr[v], indptr[v + 1]):
                    w = indices[j]
                    before[w] += level[w] == level[v] + 1
        # Farthest first: a vertex's load is whole when its turn comes, since it came from the level behind it.
        for i in range(found - 1, -1, -1):
            v = order[i]
            if level[v] < limit and i > 0:
                for j in range(indptr[v], indptr[v + 1]):
                    w = indices[j]
                    if level[w] == level[v] + 1:
                        load[v] += load[w] / before[w]
        for i in range(found):
            v = order[i]
            total[v] += load[v] - 1.0
            before[v] = 0
            level[v] = -1
