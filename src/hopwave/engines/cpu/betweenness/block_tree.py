"""What lies behind the vertices of blocks: demand of whole branches of the tree of blocks, in two linear passes.

The tree is that of engines/cpu/blocks.py: a block hangs on its head, its other vertices are its members. Every sum over
all branches but one is a sum of the others, never a difference: nothing is lost where one branch is tiny.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hopwave.engines.cpu.intrinsics import COMPILED
from hopwave.system.numba_cache import njit

Floats = npt.NDArray[np.float64]


class Behind(NamedTuple):
    """Demand as (source, target), two columns.

    `below`: per vertex, its own demand and that of all vertices below it. `at_head`: per block, the demand of its head
    and of all vertices that are not below the block. `others`: per vertex, the demand of all other vertices of its
    component. `passes`: per vertex, the demand that passes it from one of its branches to another.
    """

    below: Floats
    at_head: Floats
    others: Floats
    passes: Floats


def behind(label: npt.NDArray[np.int32], head: npt.NDArray[np.int32], own: Floats) -> Behind:
    """`label`: of each vertex the block that it is a member of, or −1; `head`: of each block; `own`: demand."""
    n, blocks = len(label), len(head)
    inside = np.flatnonzero(label >= 0)
    members = inside[np.argsort(label[inside], kind="stable")]
    begins = np.concatenate([[0], np.cumsum(np.bincount(label[inside], minlength=blocks))])
    hanging = np.argsort(head, kind="stable")
    of_vertex = np.concatenate([[0], np.cumsum(np.bincount(head, minlength=n))])
    found = Behind(own.copy(), np.zeros((blocks, 2)), np.zeros((n, 2)), np.zeros(n))
    add_branches(label, head, own, members, begins, hanging, of_vertex, *found)
    return found


@njit(**COMPILED)
def add_branches(label, head, own, members, begins, hanging, of_vertex, below, at_head, others, passes):
    """Fill the arrays of Behind: from the leaves to the roots, and back."""
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
    for i in range(n):  # a vertex is in the queue once all below it were
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
    for i in range(n - 1, -1, -1):  # others[v] is what is not below v, until v's turn
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
