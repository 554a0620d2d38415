"""Biconnected blocks on the CPU, compiled, for all threads: FAST-BCC (Dong, Wang, Gu and Sun, PPoPP 2023).

Two edges are in one block if a cycle contains both. Any spanning tree will do instead of a depth-first one; here it is
that of a breadth-first search, in which no edge outside of the tree joins a vertex with its ancestor. Vertices are
numbered such that a subtree is a range:

    first[v]         the number of v; its subtree is [first[v], first[v] + size[v])
    low[v], high[v]  the least and the greatest number of a neighbour of v's subtree, the edge to v's parent left out

The tree's edge from v to its parent u is a *fence* if no such neighbour is outside of u's subtree: it begins a block.
The components of the graph without the tree's fences are the blocks, each without its *head*, the vertex nearest to
the root, which may be the head of several blocks and belong to one more.
"""

import numpy as np

from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.components import largest_tree, link, root_of
from hopwave.engines.cpu.crew import NEXT_CHUNK, share
from hopwave.engines.cpu.intrinsics import COMPILED, atomic_add
from hopwave.system.numba_cache import njit

SAMPLED_ARCS = 2  # of every vertex, joined before the largest set is guessed (as for components)
NONE = np.int64(-1)


def blocks(loaded, parent, depth, threads=None):
    """The block that each vertex is a member of (−1: it is at most a head), and the head of each block.

    Blocks are numbered by their lowest members.

    `parent` and `depth` are those of a breadth-first search from one vertex of every component that has edges; a root
    is its own parent, and a vertex that was not reached has depth −1.
    """
    A, n = loaded.adjacency("any"), loaded.n
    first, size, low, high = (np.empty(n, np.int32) for _ in range(4))
    above = np.arange(n).astype(np.uint32)  # of every vertex, one of its set that is not greater
    label, head = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    with compiling(neighbour_range):
        order = number_subtrees(parent, depth, first, size)
        share(neighbour_range, (A.indptr, A.indices, parent, first, low, high), n, loaded.m, threads)
        join_tree(order, parent, first, size, low, high, above)
        rows = A.indptr, A.indices, parent, above
        share(join_rows, (*rows, True, NONE), n, SAMPLED_ARCS * n, threads)
        share(join_rows, (*rows, False, largest_set(above)), n, loaded.m, threads)
        count = number_blocks(parent, depth, above, label, head)
    return label, head[:count].copy()


@njit(**COMPILED)
def number_subtrees(parent, depth, first, size):
    """Vertices by depth. Fills the ranges of their subtrees."""
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


@njit(**COMPILED)
def neighbour_range(indptr, indices, parent, first, low, high, end, chunk, board):
    """The least and the greatest number among a vertex and its neighbours, except its parent."""
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


@njit(**COMPILED)
def join_tree(order, parent, first, size, low, high, above):
    """Spread low and high from the leaves to the roots, and join the ends of the tree's edges that are no fences."""
    for i in range(order.size - 1, -1, -1):
        v = order[i]
        u = np.uint32(parent[v])
        if u == v:
            continue
        low[u] = min(low[u], low[v])
        high[u] = max(high[u], high[v])
    for i in range(order.size):  # from the roots down, so that `above` leads straight to the top of a set
        v = order[i]
        u = np.uint32(parent[v])
        if u != v and (low[v] < first[u] or high[v] >= first[u] + size[u]):
            link(above, v, u)


@njit(**COMPILED)
def join_rows(indptr, indices, parent, above, sampled, skip, end, chunk, board):
    """Join the ends of edges that are not in the tree: the first arcs of each row, or the others.

    Rows of the set `skip` are left out: each of their arcs has a reverse elsewhere, or joins nothing new.
    """
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


@njit(**COMPILED)
def largest_set(above):
    """A vertex of the largest set, guessed from a sample."""
    return largest_tree(above)


@njit(**COMPILED)
def number_blocks(parent, depth, above, label, head):
    """Number the sets by their lowest vertices; returns their number. Roots are in none."""
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
