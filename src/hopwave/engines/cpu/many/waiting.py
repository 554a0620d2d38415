"""Vertices that wait for Dijkstra's algorithm: by distance, in a ring of buckets of equal width, and in a small heap.

The ring reaches from the nearest bucket that is not empty to the greatest weight further on. A bucket is a list of
entries. A vertex whose distance falls is entered once more; an entry whose key is no longer the vertex's distance is
passed over. The nearest bucket is emptied into a heap, from which vertices are taken in order. If no weight is below
the width of a bucket, no arc leads from a bucket into itself: its vertices may be taken in any order, without a heap.

The heap is a four-ary tree with the keys beside the vertices: the children of place p are at 4p + 1 to 4p + 4. The four
places behind the last entry are infinite, so that every place with one child has four.
"""

from collections import namedtuple

import numpy as np

from hopwave.engines.cpu import policy
from hopwave.engines.cpu.integers import U0, U1, U6, U63
from hopwave.engines.cpu.intrinsics import INNER, trailing_zeros
from hopwave.engines.cpu.views import allocate
from hopwave.engines.ledger import declare
from hopwave.system.numba_cache import njit

LAST = np.uint64(policy.LENGTH_BUCKETS - 1)
NONE, ALL = U0, ~U0  # no entry; all bits
TWO, THREE, FOUR = np.uint64(2), np.uint64(3), np.uint64(4)

# first, marks: the first entry of every bucket, and a bit for each bucket in use. vertex, key, following: of every
# entry the vertex, its distance and the entry after it. keys, items: the heap.
Waiting = namedtuple("Waiting", "first marks vertex key following keys items")


def waiting_arrays(m):
    """The arrays of Waiting on a graph of m arcs: a search may make an entry for each. Untouched pages cost nothing."""
    number = np.uint32 if m + 2 < 2**32 else np.uint64
    return (
        declare(number, fill=0, first=policy.LENGTH_BUCKETS)
        | declare(np.uint64, fill=0, marks=policy.LENGTH_BUCKETS // 64)
        | declare(np.uint32, vertex=m + 2, items=m + 6)
        | declare(np.float64, key=m + 2, keys=m + 6)
        | declare(number, following=m + 2)
    )


def new_waiting(m):
    """Room for any number of searches on a graph of m arcs, one after another."""
    made = Waiting(**allocate(waiting_arrays(m)))
    made.keys[:4] = np.inf
    return made


@njit(**INNER)
def take_bucket(first, marks, bucket):
    """The next bucket that is not empty, and its first entry; it is empty then. At least one is not empty."""
    place = bucket & LAST
    w = place >> U6
    word = marks[w] & (ALL << (place & U63))
    while word == U0:
        w = (w + U1) & (LAST >> U6)
        word = marks[w]
    found = (w << U6) + trailing_zeros(word)
    marks[w] &= ~(U1 << (found & U63))
    entry = np.uint64(first[found])
    first[found] = NONE
    return bucket + ((found - place) & LAST), entry


@njit(**INNER)
def put(first, marks, vertex, key, following, entry, u, distance, bucket):
    """Put a vertex into a bucket, as that entry. Returns 1 if the bucket was empty, else 0."""
    place = bucket & LAST
    behind = np.uint64(first[place])
    marks[place >> U6] |= U1 << (place & U63)
    vertex[entry], key[entry], following[entry] = u, distance, behind
    first[place] = entry
    return np.uint64(behind == NONE)


@njit(**INNER)
def put_back(first, marks, entry, bucket):
    """Undo take_bucket."""
    place = bucket & LAST
    marks[place >> U6] |= U1 << (place & U63)
    first[place] = entry


@njit(**INNER)
def put_new(waiting, entries, free, u, distance, bucket):
    """Put a vertex into a bucket, as an entry of the free ones or a new one; `entries` were made. Returns both, and
    what `put` does."""
    following = waiting.following
    if free == NONE:
        entries += U1
        entry = entries
    else:
        entry, free = free, np.uint64(following[free])
    added = put(waiting.first, waiting.marks, waiting.vertex, waiting.key, following, entry, u, distance, bucket)
    return entries, free, added


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
