"""Connected components on the CPU, compiled: hooking (Afforest) for weak ones, Tarjan's algorithm for strong ones.

Components are numbered by their lowest vertex, however they were found: that of vertex 0 is number 0.
"""

from __future__ import annotations

import numpy as np

from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.integers import ONE
from hopwave.engines.cpu.intrinsics import COMPILED, INNER, noinline
from hopwave.system.numba_cache import njit

SAMPLED_ARCS = 2  # of every vertex, hooked before the largest component is guessed (Afforest)
SAMPLE = 1024  # vertices by which it is guessed


def components(loaded, strong):
    """The number of every vertex's component, int32."""
    A = loaded.adjacency("any")
    label = np.empty(loaded.n, np.int32)
    directed = loaded.graph.directed
    with compiling(tarjan if strong and directed else hook):
        if strong and directed:
            tarjan(A.indptr, A.indices, label)
        else:
            hook(A.indptr, A.indices, label, directed)
    return label


# ------------------------------------------------------------------ weak


@njit(**INNER)
def root_of(parent, v):
    while parent[v] != v:
        parent[v] = parent[parent[v]]
        v = parent[v]
    return v


@njit(**INNER)
def hook_rows(indptr, indices, parent, sampled, skip):
    """Join the trees of both ends of arcs, the greater root under the lower: the first arcs of each row, or the others.

    Rows of the tree `skip` are left out: in an undirected graph, each of their arcs has a reverse elsewhere.
    """
    noinline()
    for v in range(parent.size):
        v = np.uint32(v)
        begin = np.int64(indptr[v])
        end = np.int64(indptr[v + ONE])
        cut = min(begin + SAMPLED_ARCS, end)
        if sampled:
            end = cut
        else:
            begin = cut
            if begin == end or np.int64(root_of(parent, v)) == skip:
                continue
        for j in range(begin, end):
            a = root_of(parent, v)
            b = root_of(parent, indices[j])
            if a < b:
                parent[b] = a
            elif b < a:
                parent[a] = b


@njit(**COMPILED)
def hook(indptr, indices, label, directed):
    """Weak components, numbered by their lowest vertex."""
    n = label.size
    parent = np.arange(n).astype(np.uint32)
    hook_rows(indptr, indices, parent, True, np.int64(-1))
    giant = np.int64(-1)
    if not directed and n:
        best = 0
        votes = np.zeros(n, np.int32)
        for i in range(min(SAMPLE, n)):  # spread evenly over all vertices
            root = root_of(parent, np.uint32(i * n // min(SAMPLE, n)))
            votes[root] += 1
            if votes[root] > best:
                best = votes[root]
                giant = np.int64(root)
    hook_rows(indptr, indices, parent, False, giant)
    count = 0
    for v in range(n):  # a root is the lowest vertex of its tree, so it comes first
        root = root_of(parent, np.uint32(v))
        if np.int64(root) == v:
            label[v] = count
            count += 1
        else:
            label[v] = label[root]


# ------------------------------------------------------------------ strong


@njit(**COMPILED)
def close_components(indptr, indices, label):
    """Tarjan (1972): a component is what stands on the stack above the first of its vertices that was met.

    time[v]   when v was first met, from 1; 0 before        low[v]   the earliest still on the stack that v leads to

    label counts components in the order in which they are closed, which is a reverse topological one. Rows are walked
    in their own order. Returns the number of components.
    """
    n = label.size
    time = np.zeros(n, np.uint32)
    low = np.zeros(n, np.uint32)
    arc = indptr[:n].copy()  # the next arc of v to look at
    path = np.empty(n, np.uint32)  # from the root down to the current vertex
    stack = np.empty(n, np.uint32)
    label[:] = -1
    clock = np.uint32(0)
    height, found = 0, 0
    for root in range(n):
        if time[root] != 0:
            continue
        deep = 0
        entering = np.uint32(root)
        while True:
            clock += ONE
            time[entering] = low[entering] = clock
            path[deep] = entering
            deep += 1
            stack[height] = entering
            height += 1
            descended = False
            while deep > 0 and not descended:
                v = path[deep - 1]
                lowest = low[v]
                j = arc[v]
                end = indptr[v + ONE]
                while j < end:
                    w = indices[j]
                    j += ONE
                    if time[w] == 0:
                        entering = w
                        descended = True
                        break
                    if label[w] < 0:  # still on the stack
                        lowest = min(lowest, time[w])
                arc[v] = j
                low[v] = lowest
                if descended:
                    break
                deep -= 1
                if deep > 0:
                    above = path[deep - 1]
                    low[above] = min(low[above], lowest)
                if lowest == time[v]:
                    while True:
                        height -= 1
                        w = stack[height]
                        label[w] = found
                        if w == v:
                            break
                    found += 1
            if not descended:
                break
    return found


@njit(**COMPILED)
def tarjan(indptr, indices, label):
    """Strong components, numbered by their lowest vertex."""
    found = close_components(indptr, indices, label)
    number = np.full(found, -1, np.int32)
    count = 0
    for v in range(label.size):
        if number[label[v]] < 0:
            number[label[v]] = count
            count += 1
        label[v] = number[label[v]]
