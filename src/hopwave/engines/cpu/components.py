"""Connected components on the CPU, compiled: Tarjan's algorithm for strong ones (weak ones: hooking.py).

Components are numbered by their lowest vertex, however they were found: that of vertex 0 is number 0.
"""

import numpy as np

from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.hooking import weak_components
from hopwave.engines.cpu.integers import ONE
from hopwave.engines.cpu.intrinsics import COMPILED
from hopwave.engines.cpu.views import unsigned_rows
from hopwave.system.numba_cache import njit


def components(graph, strong):
    """The number of every vertex's component, int32: two equal arrays, one to keep and one to give away."""
    if not (strong and graph.directed):
        return weak_components(graph)
    label = np.empty(graph.n, np.int32)
    with compiling(tarjan):
        tarjan(*unsigned_rows(graph), label)
    return label, label.copy()


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
