"""One search along weights by Dijkstra's algorithm, compiled; many/weighted.py contains the arrays and the runs.

**Short arcs first.** In graphs with many arcs, arcs below Δ suffice to find the vertices within Δ of the nearest
unsettled vertex (Meyer and Sanders, Δ-stepping, 2003). After such a round, its vertices push along their long arcs; or,
if fewer arcs lead to the remaining vertices, each remaining vertex pulls from its settled neighbours.

**Waiting.** Vertices wait by distance, in a ring of buckets of equal width; an entry whose key is no longer the
vertex's distance is skipped. The nearest bucket is moved to a four-ary heap, unless no weight is below the width of a
bucket: the children of position p are at 4p + 1 to 4p + 4; the four behind the last are infinite.
"""

from collections import namedtuple

import numpy as np

from hopwave.engines.cpu import policy
from hopwave.engines.cpu.crew import NEXT_CHUNK, share
from hopwave.engines.cpu.integers import ONE, U0, U1, U6, U63
from hopwave.engines.cpu.intrinsics import atomic_add, inner, noinline, outer, prefetch, trailing_zeros
from hopwave.engines.cpu.views import allocate, read_only
from hopwave.engines.ledger import declare

# ------------------------------------------------------------------ short arcs

ShortArcs = namedtuple("ShortArcs", "indptr indices lengths")


def short_arcs(indptr, indices, lengths, threads):
    some = lengths[:: max(1, len(lengths) // policy.LENGTHS_LOOKED_AT)]
    delta = float(np.quantile(some, policy.SHORT_SHARE, method="higher"))
    starts, nothing = np.zeros(len(indptr), indptr.dtype), (np.empty(0, indices.dtype), np.empty(0))
    for to in (nothing, None):
        if to is None:
            np.cumsum(starts, out=starts)
            to = np.empty(int(starts[-1]), indices.dtype), np.empty(int(starts[-1]))
        share(take_short, ((indptr, indices, lengths), delta, starts, to), len(indptr) - 1, len(indices), threads)
    return ShortArcs(*map(read_only, (starts, *to))), delta


@outer
def take_short(rows, delta, starts, to, end, chunk, board):
    """Copy the arcs shorter than delta of all rows, or count those of row u in starts[u + 1] while `to` is empty."""
    indptr, indices, lengths = rows
    while True:
        begin = atomic_add(board, NEXT_CHUNK, chunk)
        if begin >= end:
            break
        for u in range(begin, min(begin + chunk, end)):
            place = np.uint64(starts[u]) if to[1].size else np.uint64(0)
            for j in range(np.uint64(indptr[u]), np.uint64(indptr[u + 1])):
                if lengths[j] < delta:
                    if to[1].size:
                        to[0][place], to[1][place] = indices[j], lengths[j]
                    place += np.uint64(1)
            if to[1].size == 0:
                starts[u + 1] = place


# ------------------------------------------------------------------ waiting

LAST = np.uint64(policy.LENGTH_BUCKETS - 1)
NONE, ALL = U0, ~U0  # no entry; all bits
TWO, THREE, FOUR = np.uint64(2), np.uint64(3), np.uint64(4)

# first, marks: the first entry of every bucket, and a bit for each bucket in use; vertex, key, following: per entry the
# vertex, its distance and the next entry; keys, items: the heap.
Waiting = namedtuple("Waiting", "first marks vertex key following keys items")


def waiting_arrays(m):
    """The arrays of Waiting on a graph of m arcs: a search may create an entry per arc. Unused pages use no memory."""
    number = np.uint32 if m + 2 < 2**32 else np.uint64
    return (
        declare(number, fill=0, first=policy.LENGTH_BUCKETS)
        | declare(np.uint64, fill=0, marks=policy.LENGTH_BUCKETS // 64)
        | declare(np.uint32, vertex=m + 2, items=m + 6)
        | declare(np.float64, key=m + 2, keys=m + 6)
        | declare(number, following=m + 2)
    )


def new_waiting(m):
    """Space for any number of consecutive searches on a graph of m arcs."""
    made = Waiting(**allocate(waiting_arrays(m)))
    made.keys[:4] = np.inf
    return made


@inner
def take_bucket(first, marks, bucket):
    """Empty the next non-empty bucket, which must exist; returns it and its first entry."""
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


@inner
def put(first, marks, vertex, key, following, entry, u, distance, bucket):
    """Put a vertex into a bucket, as that entry. Returns 1 if the bucket was empty, otherwise 0."""
    place = bucket & LAST
    behind = np.uint64(first[place])
    marks[place >> U6] |= U1 << (place & U63)
    vertex[entry], key[entry], following[entry] = u, distance, behind
    first[place] = entry
    return np.uint64(behind == NONE)


@inner
def put_back(first, marks, entry, bucket):
    place = bucket & LAST
    marks[place >> U6] |= U1 << (place & U63)
    first[place] = entry


@inner
def put_new(waiting, entries, free, u, distance, bucket):
    """`put` with a free entry or a new one. Returns the number of entries, the next free one, and `put`'s result."""
    following = waiting.following
    if free == NONE:
        entries += U1
        entry = entries
    else:
        entry, free = free, np.uint64(following[free])
    added = put(waiting.first, waiting.marks, waiting.vertex, waiting.key, following, entry, u, distance, bucket)
    return entries, free, added


@inner
def enter(keys, items, size, key, item):
    keys[size + FOUR] = np.inf
    place = size
    while place > U0:
        parent = (place - U1) >> TWO
        if keys[parent] <= key:
            break
        keys[place], items[place] = keys[parent], items[parent]
        place = parent
    keys[place], items[place] = key, item


@inner
def remove_root(keys, items, size):
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


# ------------------------------------------------------------------ one search

# per_length: buckets per unit of length; in_any_order: whether the vertices of a bucket may be settled in any order;
# scattered: whether rows are prefetched; short: the rows that are relaxed immediately, with all arcs or only those
# shorter than `span` buckets.
Arcs = namedtuple("Arcs", "indptr indices lengths per_length in_any_order scattered short span")
ENDLESS = np.uint64(1 << 62)


@inner
def settle(A, d, own, source, limit, wanted, ahead):
    """Fill d and order up to the limit, or to `ahead` wanted vertices (−1: all). Returns the number settled."""
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
            after = entry if A.scattered else NONE
            while after != NONE:
                prefetch(indptr, vertex[after])
                after = np.uint64(following[after])
        if entry != NONE:
            u, here = vertex[entry], key[entry]
            after = np.uint64(following[entry])
            following[entry], free = free, entry  # reused: few entries stay in a core's cache
            entry = after
            if A.scattered and after != NONE:
                row = np.uint64(indptr[vertex[after]])
                prefetch(indices, row)
                prefetch(lengths, row)
            if here != d[u]:
                continue  # its distance fell later, and it was settled with that distance
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
        if here > limit:  # settling the last wanted vertex lowered the limit
            d[u] = np.inf
            continue
        order[count] = u
        count += 1
        if ahead > 0 and wanted[u]:
            ahead -= 1
            limit = limit if ahead > 0 else here
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


@inner
def follow_long(A, d, own, limit, followed, count, boundary, entries, free, filled, left):
    """Relax the long arcs of order[followed:count]. Returns entries, first free entry, filled buckets, arcs left."""
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


@inner
def forget(d, waiting, entry, bucket, filled):
    """After a search that ended early: empty the buckets, and reset the distances there to infinity."""
    vertex, key = waiting.vertex, waiting.key
    while True:
        while entry != NONE:
            if key[entry] == d[vertex[entry]]:
                d[vertex[entry]] = np.inf
            entry = np.uint64(waiting.following[entry])
        if filled == U0:
            break
        bucket, entry = take_bucket(waiting.first, waiting.marks, bucket)
        filled -= U1


@outer
def search(A, d, own, source, limit):
    """One search, for callers in Python (shortest_paths/delta_stepping.py)."""
    return settle(A, d, own, source, limit, d, -1)
