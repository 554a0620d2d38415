"""Biconnected blocks on the CPU, compiled, for all threads: FAST-BCC (Dong, Wang, Gu and Sun, PPoPP 2023).

Two edges are in one block if a cycle contains both. The spanning tree is a breadth-first search tree. Vertices are
numbered such that each subtree is a range:

    first[v]         the number of v; its subtree is [first[v], first[v] + size[v])
    low[v], high[v]  the smallest and largest number of a neighbour of v's subtree, except v's parent

The tree edge from v to its parent u is a *fence* if no such neighbour is outside u's subtree: it starts a block.
The components of the graph without fences are the blocks, each without its *head*, the vertex nearest to the root. A
vertex may be the head of several blocks and a member of one more.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hopwave.engines.cpu.components import largest_tree, link, root_of
from hopwave.engines.cpu.crew import NEXT_CHUNK, share
from hopwave.engines.cpu.intrinsics import atomic_add, outer

SAMPLED_ARCS = 2  # arcs per vertex that are joined before the largest set is guessed (as for components)
NONE = np.int64(-1)


def blocks(loaded, parent, depth, threads=None):
    """The block of each vertex (−1: at most a head), and each block's head, from `parent` and `depth` of searches."""
    A, n = loaded.adjacency("any"), loaded.n
    first, size, low, high = (np.empty(n, np.int32) for _ in range(4))
    above = np.arange(n).astype(np.uint32)  # for every vertex, a vertex of its set that is not higher
    label, head = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    order = number_subtrees(parent, depth, first, size)
    share(neighbour_range, (A.indptr, A.indices, parent, first, low, high), n, loaded.m, threads)
    join_tree(order, parent, first, size, low, high, above)
    rows = A.indptr, A.indices, parent, above
    share(join_rows, (*rows, True, NONE), n, SAMPLED_ARCS * n, threads)
    share(join_rows, (*rows, False, largest_set(above)), n, loaded.m, threads)
    count = number_blocks(parent, depth, above, label, head)
    return label, head[:count].copy()


@outer
def number_subtrees(parent, depth, first, size):
    """Returns the vertices by depth. Fills the ranges of their subtrees."""
    n = depth.size
    deepest = 0
    for v in range(n):
        deepest = max(deepest, depth[v])
    begin = np.zeros(deepest + 2, np.int64)
    reached = 0
    for v in range(n):
        if depth[v] >= 0:
            begin[depth[v] + 1] += 1
            reached += 1
    for level in range(deepest + 1):
        begin[level + 1] += begin[level]
    order = np.empty(reached, np.uint32)
    for v in range(n):
        size[v] = 1
        if depth[v] >= 0:
            order[begin[depth[v]]] = v
            begin[depth[v]] += 1
    for i in range(reached - 1, -1, -1):
        v = order[i]
        if depth[v] > 0:
            size[parent[v]] += size[v]
    free = np.empty(n, np.int32)  # the next number for a child of v
    start = 0
    for i in range(reached):
        v = order[i]
        if depth[v] == 0:
            first[v] = start
            start += size[v]
        else:
            above = parent[v]
            first[v] = free[above]
            free[above] += size[v]
        free[v] = first[v] + 1
    return order


@outer
def neighbour_range(indptr, indices, parent, first, low, high, end, chunk, board):
    """The smallest and largest number among a vertex and its neighbours, except its parent."""
    while True:
        begin = atomic_add(board, NEXT_CHUNK, chunk)
        if begin >= end:
            break
        for v in range(begin, min(begin + chunk, end)):
            least = most = first[v]
            above = np.int64(parent[v])
            for j in range(np.int64(indptr[v]), np.int64(indptr[v + 1])):
                w = np.int64(indices[j])
                if w != above:
                    least = min(least, first[w])
                    most = max(most, first[w])
            low[v] = least
            high[v] = most


@outer
def join_tree(order, parent, first, size, low, high, above):
    """Propagate low and high from the leaves to the roots, and join the endpoints of tree edges that are not fences."""
    for i in range(order.size - 1, -1, -1):
        v = order[i]
        u = np.uint32(parent[v])
        if u == v:
            continue
        low[u] = min(low[u], low[v])
        high[u] = max(high[u], high[v])
    for i in range(order.size):  # from the roots down, so that `above` leads directly to the top of a set
        v = order[i]
        u = np.uint32(parent[v])
        if u != v and (low[v] < first[u] or high[v] >= first[u] + size[u]):
            link(above, v, u)


@outer
def join_rows(indptr, indices, parent, above, sampled, skip, end, chunk, board):
    """Join the endpoints of non-tree edges: the first arcs of each row, or the others, except of the set `skip`."""
    while True:
        begin = atomic_add(board, NEXT_CHUNK, chunk)
        if begin >= end:
            break
        for row in range(begin, min(begin + chunk, end)):
            v = np.uint32(row)
            start = np.int64(indptr[row])
            stop = np.int64(indptr[row + 1])
            cut = min(start + SAMPLED_ARCS, stop)
            if sampled:
                stop = cut
            else:
                start = cut
                if start == stop or (skip >= 0 and root_of(above, v) == root_of(above, np.uint32(skip))):
                    continue
            up = np.int64(parent[row])
            for j in range(start, stop):
                w = np.int64(indices[j])
                if w != up and np.int64(parent[w]) != row and w != row:
                    link(above, v, np.uint32(w))


@outer
def largest_set(above):
    """A vertex of the largest set, guessed from a sample."""
    return largest_tree(above)


@outer
def number_blocks(parent, depth, above, label, head):
    """Number the sets by their lowest vertices; returns their number. Roots are in no set."""
    count = 0
    for v in range(label.size):
        if depth[v] <= 0:
            continue
        top = np.int64(root_of(above, np.uint32(v)))
        if top == v:
            label[v] = count
            count += 1
        else:
            label[v] = label[top]
        u = np.int64(parent[v])
        if np.int64(root_of(above, np.uint32(u))) != top:
            head[label[v]] = u
    return count


# ------------------------------------------------------------------ demand of branches of the block tree

Floats = npt.NDArray[np.float64]


class Behind(NamedTuple):
    """Demand as two columns, source and target. `below`: a vertex and all vertices below it; `at_head`: the head of a
    block and all vertices not below the block; `others`: all other vertices of a vertex's component; `passes`: what
    passes a vertex from one of its branches to another."""

    below: Floats
    at_head: Floats
    others: Floats
    passes: Floats


def behind(label: npt.NDArray[np.int32], head: npt.NDArray[np.int32], own: Floats) -> Behind:
    """`label`: the block of which each vertex is a member, or −1; `head`: the head of each block; `own`: demand."""
    n, blocks = len(label), len(head)
    inside = np.flatnonzero(label >= 0)
    members = inside[np.argsort(label[inside], kind="stable")]
    begins = np.concatenate([[0], np.cumsum(np.bincount(label[inside], minlength=blocks))])
    hanging = np.argsort(head, kind="stable")
    of_vertex = np.concatenate([[0], np.cumsum(np.bincount(head, minlength=n))])
    found = Behind(own.copy(), np.zeros((blocks, 2)), np.zeros((n, 2)), np.zeros(n))
    add_branches(label, head, own, members, begins, hanging, of_vertex, *found)
    return found


@outer
def add_branches(label, head, own, members, begins, hanging, of_vertex, below, at_head, others, passes):
    n = label.size
    under = np.zeros((head.size, 2))
    pending = np.zeros(n, np.int64)
    for v in range(n):
        if label[v] >= 0:
            pending[head[label[v]]] += 1
    order, tail = np.empty(n, np.int64), 0
    for v in range(n):
        if pending[v] == 0:
            order[tail] = v
            tail += 1
    for i in range(n):  # a vertex is queued after all vertices below it
        v = order[i]
        c = label[v]
        if c >= 0:
            u = head[c]
            for k in range(2):
                under[c, k] += below[v, k]
                below[u, k] += below[v, k]
            pending[u] -= 1
            if pending[u] == 0:
                order[tail] = u
                tail += 1
    for i in range(n - 1, -1, -1):  # others[v] is the demand not below v, until v is processed
        v = order[i]
        first, last = of_vertex[v], of_vertex[v + 1]
        for j in range(first, last):
            c = hanging[j]
            passes[v] += others[v, 0] * under[c, 1] + under[c, 0] * others[v, 1]
            for k in range(2):
                at_head[c, k] = own[v, k] + others[v, k]
                others[v, k] += under[c, k]
        for k in range(2):
            later = 0.0
            for j in range(last - 1, first - 1, -1):
                at_head[hanging[j], k] += later
                later += under[hanging[j], k]
        for j in range(first, last):
            c = hanging[j]
            for k in range(2):
                seen = at_head[c, k]
                for p in range(begins[c], begins[c + 1]):
                    others[members[p], k] = seen
                    seen += below[members[p], k]
                seen = 0.0
                for p in range(begins[c + 1] - 1, begins[c] - 1, -1):
                    others[members[p], k] += seen
                    seen += below[members[p], k]
