"""Sequential searches that keep the order of the rows they are given, as the NetworkX backend needs it.

Rows are compressed rows, two arrays. Neighbours are visited in the order of their row, so that a caller whose rows have
the order of another library gets that library's answer, ties included.
"""

from __future__ import annotations

import numpy as np

from hopwave.engines.cpu.components import close_components
from hopwave.engines.cpu.intrinsics import COMPILED
from hopwave.engines.cpu.path_counts import rescale_level
from hopwave.system.numba_cache import njit

strong_components = close_components  # counts components as they close, rows in the order given


@njit(**COMPILED)
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


@njit(**COMPILED)
def pair(indptr, indices, in_indptr, in_indices, source, target, before, after):
    """Search from both ends, the smaller frontier first, one level at a time; return where they meet, or −1.

    before and after hold the neighbour towards source and target; −1 where not seen, and each end itself.
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


@njit(**COMPILED)
def through_group(indptr, indices, sources, group, ends):
    """Σ over pairs from these sources of the part of their shortest paths that touches the group; pairs with an end in
    it if `ends`.

    Every vertex holds its path count, scaled per level (path_counts.rescale_level), and the part of its paths that
    avoid the group. Where counts in one level differ by more than 2^1400, those of the rarest are approximate.
    """
    n = len(indptr) - 1
    level, order, parent = np.full(n, -1, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    count, avoiding, source = np.zeros(n), np.zeros(n), np.empty(1, np.int32)
    bits = np.int64(np.ceil(np.log2(len(indices) + 1)))  # what a count can gain from one level to the next
    total = 0.0
    for s in sources:
        if group[s] and not ends:
            continue
        source[0] = s
        found = search(indptr, indices, source, np.inf, order, level, parent)
        count[s], avoiding[s] = 1.0, 0.0 if group[s] else 1.0
        begin = 0
        while begin < found:
            end = begin
            while end < found and level[order[end]] == level[order[begin]]:
                v = order[end]
                if v != s:
                    avoiding[v] = 0.0 if group[v] else avoiding[v] / count[v]
                    if ends or not group[v]:
                        total += 1.0 - avoiding[v]
                end += 1
            rescale_level(count, order, begin, end, bits)
            for i in range(begin, end):
                v = order[i]
                for j in range(indptr[v], indptr[v + 1]):
                    w = indices[j]
                    if level[w] == level[v] + 1:
                        count[w] += count[v]
                        avoiding[w] += count[v] * avoiding[v]
            begin = end
        for i in range(found):
            v = order[i]
            level[v], count[v], avoiding[v] = -1, 0.0, 0.0
    return total


@njit(**COMPILED)
def loads(indptr, indices, sources, limit, total):
    """Add the loads that these sources send out to total: each is split evenly over the vertices one level nearer."""
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
        # Farthest first: a vertex's load is complete when its turn comes, since it came from the level behind it.
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
