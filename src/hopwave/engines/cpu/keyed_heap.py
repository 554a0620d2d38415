"""A four-ary heap of vertices with their keys beside them: comparing reads no other array.

keys    the distances, as a tree: the children of place p are at 4p + 1 to 4p + 4; infinite in the four places behind
        the last entry, so that every place with one child has four
items   the vertices, in the same places

A vertex whose distance falls is entered once more. Whoever takes it out the second time sees that its key is no longer
its distance.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from hopwave.engines.cpu.intrinsics import INNER, U0, U1

TWO, THREE, FOUR = np.uint64(2), np.uint64(3), np.uint64(4)
PADDING = 4  # places that a heap needs behind its last entry, infinite while it is empty


@njit(**INNER)
def enter(keys, items, size, key, item):
    """Add an entry to a heap of that size."""
    keys[size + FOUR] = np.inf
    place = size
    while place > U0:
        parent = (place - U1) >> TWO
        if keys[parent] <= key:
            break
        keys[place], items[place] = keys[parent], items[parent]
        place = parent
    keys[place], items[place] = key, item


@njit(**INNER)
def remove_root(keys, items, size):
    """Take out the root; the heap then has that size."""
    key, item = keys[size], items[size]
    keys[size] = np.inf
    place, child = U0, U1
    while child < size:
        left = child + np.uint64(keys[child + U1] < keys[child])
        right = child + TWO + np.uint64(keys[child + THREE] < keys[child + TWO])
        best = right if keys[right] < keys[left] else left
        if key <= keys[best]:
            break
        keys[place], items[place] = keys[best], items[best]
        place = best
        child = (place << TWO) + U1
    if size > U0:
        keys[place], items[place] = key, item
