"""One search along weights by Dijkstra's algorithm, compiled; many/weighted.py has the arrays and the runs.

In graphs of many arcs, vertices are settled by short arcs first (short_arcs.py), in rounds of Δ, which long ones have
at least. After a round, its vertices push along their long arcs; or, where fewer arcs lead to all vertices that are
left, each of these pulls from its settled neighbours. On kron 17, a search looks at a quarter of the arcs.
"""

from collections import namedtuple

import numpy as np

from hopwave.engines.cpu.integers import ONE, U0, U1
from hopwave.engines.cpu.intrinsics import COMPILED, INNER, noinline, prefetch
from hopwave.engines.cpu.many.waiting import NONE, enter, put_back, put_new, remove_root, take_bucket
from hopwave.system.numba_cache import njit

# per_length: buckets per unit of length; in_any_order: whether the vertices of a bucket may be settled in any order;
# short: the rows that are followed at once, of all arcs or of those that are shorter than `span` buckets.
Arcs = namedtuple("Arcs", "indptr indices lengths per_length in_any_order short span")
ENDLESS = np.uint64(1 << 62)


@njit(**INNER)
def settle(A, d, own, source, limit, wanted, ahead):
    """Fill d with the distances up to the limit, and order with the vertices there. Returns how many they are.

    The search ends when it has settled `ahead` vertices that are wanted; −1: it has no such end.
    """
    noinline()
    indptr, indices, lengths, per_length = A.short.indptr, A.short.indices, A.short.lengths, A.per_length
    first, marks, vertex, key = own.waiting.first, own.waiting.marks, own.waiting.vertex, own.waiting.key
    following, keys, items, order = own.waiting.following, own.waiting.keys, own.waiting.items, own.order
    d[source] = 0.0
    vertex[U1], key[U1], following[U1] = source, 0.0, NONE
    entry, entries, filled, bucket, free = U1, U1, U0, U0, NONE
    size, count, followed, left, boundary = U0, 0, 0, A.indices.size, A.span
    while True:
        if entry == NONE and size == U0:
            if filled != U0:
                bucket, entry = take_bucket(first, marks, bucket)
                filled -= U1
            if entry == NONE or bucket >= boundary:
                if A.span != ENDLESS and followed < count:
                    if entry != NONE:
                        put_back(first, marks, entry, bucket)
                        entry, filled = NONE, filled + U1
                    bucket = boundary
                    entries, free, filled, left = follow_long(
                        A, d, own, limit, followed, count, boundary, entries, free, filled, left
                    )
                    followed = count
                    continue
                if entry == NONE:
                    break
                boundary = bucket + A.span
            after = entry
            while after != NONE:
                prefetch(indptr, vertex[after])
                after = np.uint64(following[after])
        if entry != NONE:
            u, here = vertex[entry], key[entry]
            after = np.uint64(following[entry])
            following[entry], free = free, entry  # used again: few entries stay in a core's cache
            entry = after
            if after != NONE:
                row = np.uint64(indptr[vertex[after]])
                prefetch(indices, row)
                prefetch(lengths, row)
            if here != d[u]:
                continue  # it became nearer since, and was settled before
            if not A.in_any_order:
                enter(keys, items, size, here, u)
                size += U1
                continue
        else:
            u, here = items[U0], keys[U0]
            size -= U1
            remove_root(keys, items, size)
            if here != d[u]:
                continue
        order[count] = u
        count += 1
        if ahead >= 0 and wanted[u]:
            ahead -= 1
            if ahead == 0:
                forget(d, own.waiting, entry, bucket, filled, size)
                break
        for j in range(np.uint64(indptr[u]), np.uint64(indptr[u + ONE])):
            v = indices[j]
            offer = here + lengths[j]
            if offer < d[v] and offer <= limit:
                d[v] = offer
                into = np.uint64(offer * per_length)
                if into == bucket:
                    enter(keys, items, size, offer, v)
                    size += U1
                    continue
                entries, free, added = put_new(own.waiting, entries, free, v, offer, into)
                filled += added
    return count


@njit(**INNER)
def follow_long(A, d, own, limit, followed, count, boundary, entries, free, filled, left):
    """The long arcs of the vertices that were settled last: order[followed:count], all nearer than the boundary.

    left: how many arcs the vertices have that were not settled before them. Returns the number of entries, the first
    free one, the number of filled buckets, and `left` without the arcs of these vertices.
    """
    noinline()
    indptr, indices, lengths, order, near = A.indptr, A.indices, A.lengths, own.order, np.float64(boundary)
    arcs, n = 0, d.size
    for i in range(followed, count):
        u = order[i]
        arcs += np.int64(indptr[u + ONE]) - np.int64(indptr[u])
    left -= arcs
    if arcs > left + n // 4:
        for v in range(np.uint32(n)):
            nearest = d[v]
            if nearest * A.per_length < near:
                continue
            for j in range(np.uint64(indptr[v]), np.uint64(indptr[v + ONE])):
                here = d[indices[j]]
                if here * A.per_length < near:
                    nearest = min(nearest, here + lengths[j])
            if nearest < d[v] and nearest <= limit:
                d[v] = nearest
                bucket = np.uint64(nearest * A.per_length)
                entries, free, added = put_new(own.waiting, entries, free, v, nearest, bucket)
                filled += added
        return entries, free, filled, left
    for i in range(followed, count):
        u = order[i]
        for j in range(np.uint64(indptr[u]), np.uint64(indptr[u + ONE])):
            v = indices[j]
            offer = d[u] + lengths[j]
            if offer < d[v] and offer <= limit:
                d[v] = offer
                bucket = np.uint64(offer * A.per_length)
                entries, free, added = put_new(own.waiting, entries, free, v, offer, bucket)
                filled += added
    return entries, free, filled, left


@njit(**INNER)
def forget(d, waiting, entry, bucket, filled, size):
    """Empty what waits, and make the distances of its vertices infinite again: a search has ended early.

    Vertices that are settled keep theirs: entries of them that still wait are of greater distances.
    """
    vertex, key, keys, items = waiting.vertex, waiting.key, waiting.keys, waiting.items
    while True:
        while entry != NONE:
            if key[entry] == d[vertex[entry]]:
                d[vertex[entry]] = np.inf
            entry = np.uint64(waiting.following[entry])
        if filled == U0:
            break
        bucket, entry = take_bucket(waiting.first, waiting.marks, bucket)
        filled -= U1
    for i in range(size):
        if keys[i] == d[items[i]]:
            d[items[i]] = np.inf
        keys[i] = np.inf


@njit(**COMPILED)
def search(A, d, own, source, limit):
    """One search, for callers in Python (shortest_paths/delta_stepping.py)."""
    return settle(A, d, own, source, limit, d, -1)
