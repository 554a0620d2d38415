"""Sequential searches that visit neighbours in the order of their rows: with rows in another library's order, they
return that library's result, including ties."""

import numpy as np

from hopwave.engines.cpu.components import close_components
from hopwave.engines.cpu.intrinsics import inner, outer

BARRED, HEAD = 1, 2  # marks: no path may visit this vertex; no path may start with the arc from the source to it
strong_components = close_components  # counts components as they close, in the order of rows


@outer
def search(indptr, indices, sources, limit, order, level, parent):
    """Fill order, level (−1 before) and parent; return the number of vertices found."""
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


@outer
def close_blocks(indptr, indices, tails, heads, ends, points):
    """Hopcroft and Tarjan (1973): edges by biconnected component, the end of each, articulation points; counts."""
    n = len(indptr) - 1
    time = np.zeros(n, np.int64)  # discovery time of a vertex, starting at 1
    low = np.zeros(n, np.int64)  # the earliest vertex that its subtree leads to
    arc = indptr[:n].copy()  # the next arc to follow
    path = np.empty(n, np.int64)  # from the root down
    entered = np.zeros(n, np.int64)  # stack index of the edge to each vertex of the path
    open_tail, open_head = np.empty(len(indices), np.int32), np.empty(len(indices), np.int32)
    is_point = np.zeros(n, np.bool_)
    clock, height, done, count, cut = 0, 0, 0, 0, 0
    for root in range(n):
        if time[root] != 0:
            continue
        clock += 1
        time[root] = low[root] = clock
        path[0] = root
        deep, branches = 1, 0
        while deep > 0:
            v = path[deep - 1]
            above = path[deep - 2] if deep > 1 else v
            if arc[v] < indptr[v + 1]:
                w = indices[arc[v]]
                arc[v] += 1
                if w == above:
                    continue
                if time[w] == 0:
                    clock += 1
                    time[w] = low[w] = clock
                    path[deep] = w
                    entered[deep] = height
                    deep += 1
                elif time[w] <= time[v]:
                    low[v] = min(low[v], time[w])
                else:
                    continue
                open_tail[height] = v
                open_head[height] = w
                height += 1
                continue
            deep -= 1
            if deep == 0:
                break
            if deep == 1 or low[v] >= time[above]:
                begin = entered[deep]
                for i in range(begin, height):
                    tails[done] = open_tail[i]
                    heads[done] = open_head[i]
                    done += 1
                height = begin
                ends[count] = done
                count += 1
                branches += deep == 1
                if deep > 1 and not is_point[above]:
                    is_point[above] = True
                    points[cut] = above
                    cut += 1
            low[above] = min(low[above], low[v])
        if branches > 1:
            points[cut] = root
            cut += 1
    return count, cut


@outer
def peel(indptr, indices, left, order):
    """Kahn (1962): list vertices without arcs from unlisted ones (`left`), oldest first; return their number."""
    tail = 0
    for v in range(len(left)):
        if left[v] == 0:
            order[tail] = v
            tail += 1
    head = 0
    while head < tail:
        v = order[head]
        head += 1
        for j in range(indptr[v], indptr[v + 1]):
            w = indices[j]
            left[w] -= 1
            if left[w] == 0:
                order[tail] = w
                tail += 1
    return tail


@inner
def is_closed(closed, source, u, v):
    """Whether no path may follow an arc between u and v, in either direction; closed is empty if all arcs are open."""
    if closed.size == 0:
        return False
    return closed[v] == BARRED or (u == source and closed[v] == HEAD) or (v == source and closed[u] == HEAD)
