"""Shortest paths along weights from one source, with their number: the way out of weighted betweenness, compiled.

    d(v)   length of a shortest path to v: float64 sums along arcs
    σ(v)   number of shortest paths to v            λ(v)   number of arcs on all of them together

An arc u → v is on a shortest path if d(u) + its weight == d(v), exactly, as in NetworkX. Over these arcs,
σ(v) = Σ σ(u) and λ(v) = Σ λ(u) + σ(u).

Encodings
    distance   d, infinite before and after a source; most arcs that are looked at need nothing else.
    nodes      the rest, one row per vertex.
    tail, arc  of every vertex the arc by which it was reached first; arcs that tie with it are in a list, from tie on.
    waiting    vertices that were reached and are not settled yet, in buckets by distance (many/waiting.py).
"""

from collections import namedtuple

import numpy as np

from hopwave.engines.cpu.integers import ONE, U0, U1, U8
from hopwave.engines.cpu.intrinsics import INNER, noinline, prefetch
from hopwave.engines.cpu.many.waiting import NONE, enter, new_waiting, put, remove_root, take_bucket, waiting_arrays
from hopwave.engines.cpu.views import allocate
from hopwave.engines.ledger import Array, declare, total
from hopwave.system.numba_cache import njit

PATHS, TOTAL, DELTA = range(3)  # columns of nodes: σ, λ, and δ, which is 0 until the way back

# The graph as a worker reads it: rows, weights, how far to go, the buckets (policy.length_buckets), copies (state.py).
Lengths = namedtuple("Lengths", "indptr indices lengths cutoff buckets_per_length final scattered copies")
# Arcs on shortest paths. Every vertex has one arc (its tail, its number) and the first of a list of ties; every tie has
# an arc likewise, and the tie after it. Numbers of arcs are kept for edge scores alone.
Predecessors = namedtuple("Predecessors", "tail arc tie tie_tail tie_arc following")
# A worker's own arrays. order: the vertices in the order in which they were settled.
WeightedState = namedtuple("WeightedState", "distance nodes waiting before order")


def vertex_arrays(n):
    """The arrays of a WeightedState, except `waiting` and `before`."""
    return {"distance": Array(n, fill=np.inf), "nodes": Array((n, 3)), "order": Array(n, np.uint32)}


def predecessor_arrays(n, m, edges):
    """The arrays of Predecessors; `edges`: for scores of edges. There is room for a tie of every arc."""
    number = np.uint32 if m + 1 < 2**32 else np.uint64  # of an arc or an entry
    return declare(np.uint32, tail=n, tie_tail=m + 2) | declare(
        number, arc=n if edges else 0, tie=n, tie_arc=m + 2 if edges else 0, following=m + 2
    )


def new_state(n, m, edges):
    """The arrays of one worker for n vertices and m arcs; `edges`: for scores of edges."""
    waiting = new_waiting(m)
    waiting.vertex[0] = 0  # of NONE, which is looked at ahead of time
    before = Predecessors(**allocate(predecessor_arrays(n, m, edges)))
    return WeightedState(waiting=waiting, before=before, **allocate(vertex_arrays(n)))


def bytes_of_state(n, m, edges):
    """What new_state takes at most; pages that no entry reaches cost nothing."""
    return total(vertex_arrays(n)) + total(predecessor_arrays(n, m, edges)) + total(waiting_arrays(m))


@njit(**INNER)
def search(A, own, source, target):
    """Settle all vertices up to the cutoff; only those up to the distance of `target`, if it is a vertex.

    Returns how many they are, the greatest λ + σ, and whether an arc ties that adds nothing to a distance. If so, σ and
    λ are not right yet: they may have been passed on before they were complete.
    """
    noinline()
    indptr, indices, lengths, cutoff = A.indptr, A.indices, A.lengths, A.cutoff
    per_length, final, scattered, copies = A.buckets_per_length, A.final, A.scattered, A.copies
    distance, nodes, order, before, edges = own.distance, own.nodes, own.order, own.before, own.before.arc.size > 0
    first, marks, vertex, key = own.waiting.first, own.waiting.marks, own.waiting.vertex, own.waiting.key
    following, keys, items = own.waiting.following, own.waiting.keys, own.waiting.items
    source = np.uint32(source)
    distance[source], nodes[source, PATHS], nodes[source, TOTAL] = 0.0, 1.0, 0.0
    vertex[U1], key[U1], following[U1] = source, 0.0, NONE
    nodes[source, DELTA], before.tie[source] = 0.0, NONE
    entry, entries, filled, bucket = U1, U1, U0, U0
    size, settled, ties, flat, greatest = U0, U0, U0, False, 0.0
    while True:
        if entry == NONE and size == U0:
            if filled == U0:
                break
            bucket, entry = take_bucket(first, marks, bucket)
            filled -= U1
        if entry != NONE:
            u, here = vertex[entry], key[entry]
            entry = np.uint64(following[entry])
            if here != distance[u]:
                continue  # it became nearer since, and was settled before
            if here > cutoff:  # the target was settled since
                distance[u] = np.inf
                continue
            if not final:
                enter(keys, items, size, here, u)
                size += U1
                continue
            if scattered and entry != NONE:
                x = vertex[entry]
                begin = np.uint64(indptr[x])
                for j in range(begin, min(begin + U8, np.uint64(indptr[x + ONE]))):
                    prefetch(distance, indices[j])
                x = vertex[following[entry]]
                prefetch(nodes, x)
                prefetch(indices, indptr[x])
                prefetch(lengths, indptr[x])
        else:
            u, here = items[U0], keys[U0]
            size -= U1
            remove_root(keys, items, size)
            if here != distance[u]:
                continue
            if here > cutoff:
                distance[u] = np.inf
                continue
        if u == target:
            cutoff = here
        if copies.size and settled:
            nodes[u, PATHS] *= copies[u]
            nodes[u, TOTAL] *= copies[u]
        paths = nodes[u, PATHS]
        longer = nodes[u, TOTAL] + paths
        greatest = max(greatest, longer)
        order[settled] = u
        settled += U1
        for j in range(np.uint64(indptr[u]), np.uint64(indptr[u + ONE])):
            v = indices[j]
            offer = here + lengths[j]
            known = distance[v]
            if offer > known or offer > cutoff:
                continue
            if offer == known:
                if v == u:
                    continue  # a loop is on no path
                flat |= offer == here
                nodes[v, PATHS] += paths
                nodes[v, TOTAL] += longer
                ties += U1
                before.tie_tail[ties], before.following[ties] = u, before.tie[v]
                before.tie[v] = ties
                if edges:
                    before.tie_arc[ties] = j
                continue
            distance[v], nodes[v, PATHS], nodes[v, TOTAL], nodes[v, DELTA] = offer, paths, longer, 0.0
            before.tail[v], before.tie[v] = u, NONE
            if edges:
                before.arc[v] = j
            into = np.uint64(offer * per_length)
            if into == bucket:
                enter(keys, items, size, offer, v)
                size += U1
                continue
            entries += U1
            filled += put(first, marks, vertex, key, following, entries, v, offer, into)
    return settled, greatest, flat


@njit(**INNER)
def forget(own, settled):
    """Make all distances infinite again: only those of settled vertices if they are few."""
    noinline()
    distance, order = own.distance, own.order
    if settled < np.uint64(distance.size) >> np.uint64(3):
        for i in range(settled):
            distance[order[i]] = np.inf
    else:
        for v in range(np.uint64(distance.size)):
            distance[v] = np.inf
