"""One shortest path between two vertices along weights: searches from both ends, then the exact length from the source.

    d[0], d[1]   distances from the source along arcs, and from the target against them
    bound        the least d[0] + d[1] that was met, widened by what rounding may amount to

The sum of two halves is rounded otherwise than a path's length from the source on. So the search from the source goes
on after both have met: over vertices that the other has settled, and only where d[0] + d[1] is within the bound. What
it finds at the target is the length that Dijkstra's algorithm finds, to the last bit.

A vertex that is settled follows its short arcs (short_arcs.py), and waits once more for its long ones, until Δ/2 later:
most searches have met by then. When the distances of both searches add up to the length of a path, each of its arcs of
length Δ or more between the two was followed from one end at least. So where the search from the source must still look
at long arcs, d[0] + d[1] is within the bound.
"""

from collections import namedtuple

import numpy as np

from hopwave.engines.cpu import policy
from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.integers import ONE, U0, U1
from hopwave.engines.cpu.intrinsics import COMPILED, INNER
from hopwave.engines.cpu.short_arcs import ShortArcs
from hopwave.engines.cpu.shortest_paths.dijkstra import add, drop_first
from hopwave.system.numba_cache import njit

# Arrays of two rows, one per end. touched: the vertices whose distances must be infinite again before the next search.
State = namedtuple("State", "d parent settled touched keys times vertices")
LONG = np.uint32(1 << 31)  # marks a vertex that waits for its long arcs
# The arcs from one end on: all, the short ones, and half the length from which an arc is long (infinite: none is).
Side = namedtuple("Side", "all short half")
BYTES_PER_VERTEX = 2 * (8 + 4 + 1 + 4 + 20)  # of a State, with an entry of each vertex
ROUNDING = 8 * 2.0**-53  # per arc of a path, both halves and the bound together


def new_state(n, m):
    """Room for searches one after another on a graph of n vertices and m arcs. Untouched pages cost nothing."""
    return State(
        d=np.full((2, n), np.inf),
        parent=np.empty((2, n), np.int32),
        settled=np.zeros((2, n), np.bool_),
        touched=np.empty((2, n), np.uint32),
        keys=np.empty((2, n + m + 1)),
        times=np.empty((2, n + m + 1), np.uint64),
        vertices=np.empty((2, n + m + 1), np.uint32),
    )


def side(loaded, arcs, pairs, threads):
    """The arcs of a graph for searches, with the short ones apart once enough pairs were asked for."""
    loaded.pairs += pairs
    rows, split = (
        ShortArcs(*arcs),
        policy.short_arcs_first(loaded.n, arcs.lengths.size, False, loaded.pairs, loaded.graph.is_mapped),
    )
    short, delta = loaded.short_arcs(threads) if split else (rows, np.inf)
    return Side(rows, short, delta / 2)


@njit(**INNER)
def offer(S, end, count, size, time, u, v, length):
    """A shorter way to v over u; returns how many vertices the search has touched."""
    if S.d[end, v] == np.inf:
        S.touched[end, count] = v
        count += 1
    S.d[end, v], S.parent[end, v] = length, np.int32(u)
    add(S.keys[end], S.times[end], S.vertices[end], size, length, time, v)
    return count


@njit(**COMPILED)
def search(out, back, source, target, S, path):
    """Fill path with a shortest path, the target first; returns how many vertices it has, 0 if there is none."""
    n = S.d.shape[1]
    size, count = np.zeros(2, np.uint64), np.zeros(2, np.int64)
    ends = (source, target)
    for end in range(2):
        count[end] = offer(S, end, 0, U0, U0, ends[end], np.uint64(ends[end]), 0.0)
        size[end] = U1
    time, met, slack = U1, np.inf, 1.0 + n * ROUNDING
    if source == target:
        met = 0.0
    while size[0] > U0 and size[1] > U0 and S.keys[0, 0] + S.keys[1, 0] <= met * slack:
        end = 0 if size[0] <= size[1] else 1
        u, here = S.vertices[end, 0], S.keys[end, 0]
        size[end] -= U1
        if size[end] > U0:
            drop_first(S.keys[end], S.times[end], S.vertices[end], size[end])
        A = out if end == 0 else back
        rows = A.short
        if u & LONG:
            u &= ~LONG
            here, rows = S.d[end, u], A.all
        elif S.settled[end, u]:
            continue
        else:
            S.settled[end, u] = True
            if here + 2 * A.half <= met * slack and A.half < np.inf:
                add(S.keys[end], S.times[end], S.vertices[end], size[end], here + A.half, time, u | LONG)
                size[end] += U1
                time += U1
        for j in range(np.uint64(rows.indptr[u]), np.uint64(rows.indptr[u + ONE])):
            v = rows.indices[j]
            length = here + (rows.lengths[j] if rows.lengths.size else 1.0)
            if length < S.d[end, v]:
                if met < np.inf and rows.lengths.size:  # by hops it costs more than it saves
                    left = S.d[1 - end, v] if S.settled[1 - end, v] else S.keys[1 - end, 0]
                    if length + left > met * slack:
                        continue  # the other end is too far away: no shortest path leads over v
                count[end] = offer(S, end, count[end], size[end], time, u, v, length)
                size[end] += U1
                time += U1
                met = min(met, length + S.d[1 - end, v])
    bound, rows = met * slack, out.all
    while size[0] > U0 and met < np.inf:
        u, here = S.vertices[0, 0], S.keys[0, 0]
        if here > bound or here >= S.d[0, target]:
            break
        size[0] -= U1
        if size[0] > U0:
            drop_first(S.keys[0], S.times[0], S.vertices[0], size[0])
        waited = u & LONG != 0
        u &= ~LONG
        if S.d[0, u] + S.d[1, u] > bound or (not waited and (here > S.d[0, u] or not S.settled[1, u])):
            continue
        for j in range(np.uint64(rows.indptr[u]), np.uint64(rows.indptr[u + ONE])):
            v = rows.indices[j]
            length = S.d[0, u] + (rows.lengths[j] if rows.lengths.size else 1.0)
            if length < S.d[0, v] and S.settled[1, v]:
                count[0] = offer(S, 0, count[0], size[0], time, u, v, length)
                size[0] += U1
                time += U1
    vertices = 0
    if met < np.inf:
        v = np.int64(target)
        path[0], vertices = v, 1
        while v != source:
            v = np.int64(S.parent[0, v])
            path[vertices] = v
            vertices += 1
    for end in range(2):
        for i in range(count[end]):
            v = S.touched[end, i]
            S.d[end, v], S.settled[end, v] = np.inf, False
    return vertices


def shortest_path(out, back, source, target, state, room):
    """The ids of one shortest path, both ends included, or None. `room`: an array of n int32."""
    with compiling(search):
        count = search(out, back, source, target, state, room)
    return room[:count][::-1].tolist() if count else None
