"""Which sources share a word of 64 bits: neighbours."""

import numpy as np

from hopwave.engines.cpu.integers import ONE
from hopwave.engines.cpu.intrinsics import COMPILED
from hopwave.engines.cpu.many.kernels import LANES
from hopwave.system.numba_cache import njit


@njit(**COMPILED)
def neighbourhoods(indptr, indices, order):
    """Fill order with all vertices: every 64 are grown around their first by breadth-first search, next to the last 64.

    Sources that lie close together are active for the same vertices at almost the same time, which is what makes 64
    searches at once cheap where levels are many.
    """
    n = order.size
    state = np.zeros(n, np.uint8)  # 1: waiting, next to a placed vertex; 2: placed
    waiting = np.empty(n, np.uint32)
    first, last, lowest, placed = 0, 0, 0, 0
    while placed < n:
        group = placed
        stop = min(group + LANES, n)
        head = group
        while placed < stop:
            if head == placed:  # nothing to grow from: take the next that waits, else any
                while first < last and state[waiting[first]] == 2:
                    first += 1
                if first < last:
                    v = waiting[first]
                else:
                    while state[lowest] == 2:
                        lowest += 1
                    v = np.uint32(lowest)
                state[v] = 2
                order[placed] = v
                placed += 1
                continue
            u = order[head]
            head += 1
            for j in range(np.int64(indptr[u]), np.int64(indptr[u + ONE])):
                w = indices[j]
                if state[w] != 2 and placed < stop:
                    state[w] = 2
                    order[placed] = w
                    placed += 1
        for i in range(group, placed):
            u = order[i]
            for j in range(np.int64(indptr[u]), np.int64(indptr[u + ONE])):
                w = indices[j]
                if state[w] == 0:
                    state[w] = 1
                    waiting[last] = w
                    last += 1
