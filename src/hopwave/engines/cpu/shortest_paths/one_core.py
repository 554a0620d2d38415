"""Distances from one source on one core: Dijkstra's algorithm with a ring of buckets, for weights that span little.

No weight is narrower than a bucket (policy.length_buckets), so that the vertices of a bucket may be settled in any
order, and no heap is needed; see many/waiting.py for the ring. Beside that:

    entries   come from a list of free ones: as many as wait at a time, not as many as there were, and in a cache
    rows      of the bucket's vertices are fetched while others are read
    chains    in thin graphs, whoever reaches a vertex with two neighbours goes on to the other one at once: only ends
              of chains wait. A chain is walked once from each end. Lengths are added up in the order of the path, so
              that distances are those of Dijkstra's algorithm to the last bit.
"""

import numpy as np

from hopwave.engines.cpu.integers import ONE, U0, U1
from hopwave.engines.cpu.intrinsics import COMPILED, INNER, prefetch
from hopwave.engines.cpu.many.settling import forget
from hopwave.engines.cpu.many.waiting import LAST, NONE, put, take_bucket
from hopwave.engines.cpu.policy import CHAIN_DEGREE
from hopwave.system.numba_cache import njit

U2 = np.uint64(2)


@njit(**INNER)
def walk(A, d, bucket, limit, before, v, offer):
    """From v, which was just reached from `before`, along a chain: its end, and how far away that is.

    A negative length says that nothing has to wait: the chain ends in a leaf, or was walked from the other side. It
    ends early where the ring of buckets does not reach farther.
    """
    indptr, indices, lengths = A.indptr, A.indices, A.lengths
    while True:
        j, end = np.uint64(indptr[v]), np.uint64(indptr[v + ONE])
        if end - j > U2:
            return v, offer
        if end - j == U2:
            if indices[j] == before:
                j += U1
            elif indices[j + U1] != before:
                return v, offer
        elif end == j or indices[j] == before:
            return v, -1.0
        farther = offer + lengths[j]
        if np.uint64(farther * A.per_length) - bucket >= LAST:
            return v, offer
        if farther >= d[indices[j]] or farther > limit:
            return v, -1.0
        before, v, offer = v, indices[j], farther
        d[v] = offer


@njit(**COMPILED)
def search(A, d, waiting, source, limit, targets):
    """Fill d, infinite before, with the distances up to the limit. A is many.settling.Arcs, in any order.

    With targets, the search ends after the bucket of the last of them.
    """
    indptr, indices, lengths = A.indptr, A.indices, A.lengths
    first, marks, following = waiting.first, waiting.marks, waiting.following
    vertex, key = waiting.vertex, waiting.key
    chains = indices.size < CHAIN_DEGREE * indptr.size
    d[source] = 0.0
    vertex[U1], key[U1], following[U1] = source, 0.0, NONE
    entry, free, entries, filled, bucket, settled = U1, NONE, U1, U0, U0, 0
    while True:
        if entry == NONE:
            if filled == U0:
                break
            bucket, entry = take_bucket(first, marks, bucket)
            filled -= U1
            while settled < targets.size and d[targets[settled]] * A.per_length < bucket:
                settled += 1
            if targets.size > 0 and settled == targets.size:
                forget(d, waiting, entry, bucket, filled, U0)
                break
            after = entry
            while after != NONE:
                prefetch(indptr, vertex[after])
                prefetch(d, vertex[after])
                after = np.uint64(following[after])
        u, here, after = vertex[entry], key[entry], np.uint64(following[entry])
        following[entry] = free
        free, entry = entry, after
        if after != NONE:
            row = np.uint64(indptr[vertex[after]])
            prefetch(indices, row)
            prefetch(lengths, row)
        if here != d[u]:
            continue  # it became nearer since, and was settled before
        for j in range(np.uint64(indptr[u]), np.uint64(indptr[u + ONE])):
            v = indices[j]
            offer = here + lengths[j]
            if offer >= d[v] or offer > limit:
                continue
            d[v] = offer
            if chains:
                v, offer = walk(A, d, bucket, limit, u, v, offer)
                if offer < 0.0:
                    continue
            if free != NONE:
                new = free
                free = np.uint64(following[free])
            else:
                entries += U1
                new = entries
            into = np.uint64(offer * A.per_length)
            filled += put(first, marks, vertex, key, following, new, v, offer, into)
