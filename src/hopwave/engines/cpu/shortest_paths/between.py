"""One shortest path between two vertices, by searches from both ends.

By hops, the first vertex that both sides reach is on a shortest path (`shortest_path`). To return NetworkX's path, the
searches follow the order of its rows and its choice of side (`path_between`, and `path_from_both_ends` along lengths).
For several pairs along lengths (`State`), the search also finds the exact length from the source:

    d[0], d[1]   distances from the source along arcs, and from the target against them
    bound        the smallest d[0] + d[1] found, widened by the maximum rounding error

After both searches have met, the search from the source continues over vertices that the other has settled and where
d[0] + d[1] is within the bound. Its length is bitwise identical to Dijkstra's. A settled vertex relaxes its
short arcs (many/settling.py), and waits Δ/2 longer for its long arcs: most searches have met by then.
"""

from collections import namedtuple

import numpy as np

from hopwave.engines.cpu import policy
from hopwave.engines.cpu.integers import ONE, U0, U1
from hopwave.engines.cpu.intrinsics import inner, noinline, outer
from hopwave.engines.cpu.many.settling import ShortArcs
from hopwave.engines.cpu.row_order import is_closed
from hopwave.engines.cpu.shortest_paths.dijkstra import add, drop_first

OPEN = np.empty(0, np.uint8)  # no arc is closed
# Arrays of two rows, one per end. touched: the vertices whose distances must be reset before the next search.
State = namedtuple("State", "d parent settled touched keys times vertices")
LONG = np.uint32(1 << 31)  # marks a vertex that waits for its long arcs
# The arcs from one end: all, the short arcs, and half the minimum length of a long arc (infinite: none is long).
Side = namedtuple("Side", "all short half")
BYTES_PER_VERTEX = 2 * (8 + 4 + 1 + 4 + 20)  # bytes of a State, with one entry per vertex
ROUNDING = 8 * 2.0**-53  # per arc of a path, for both halves and the bound


# ------------------------------------------------------------------ by hops


def shortest_path(loaded, source, target):
    """The vertices of one shortest path, including both endpoints, or None. Deterministic."""
    A = loaded.adjacency("any")
    return path_between((A.indptr, A.indices, A.in_indptr, A.in_indices), source, target, OPEN, False)


def path_between(rows, source, target, closed, by_vertices):
    """`shortest_path` with unsigned rows. by_vertices: the side with fewer vertices continues, as in NetworkX."""
    n = len(rows[0]) - 1
    before, after = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    middle = meet(*rows, before, after, source, target, closed, by_vertices)
    return None if middle < 0 else path_over(middle, before, after, source, target)


def path_over(middle, before, after, source, target):
    """The path through a vertex from which `before` leads to the source, and `after` to the target."""
    path = [int(middle)]
    while path[-1] != source:
        path.append(int(before[path[-1]]))
    path.reverse()
    while path[-1] != target:
        path.append(int(after[path[-1]]))
    return path


@inner
def expand(indptr, indices, mine, theirs, queue, begin, end, source, closed):
    """One level from one side. Returns its queue's new end, its finds' out-arcs, and where both sides meet, or -1."""
    noinline()
    tail, arcs, shut = end, 0, closed.size > 0
    for i in range(begin, end):
        u = queue[i]
        for j in range(np.int64(indptr[u]), np.int64(indptr[u + ONE])):
            v = indices[j]
            if mine[v] < 0:
                if shut and is_closed(closed, source, np.int64(u), np.int64(v)):
                    continue
                mine[v] = np.int32(u)
                if theirs[v] >= 0:
                    return tail, arcs, np.int64(v)
                queue[tail] = v
                tail += 1
                arcs += np.int64(indptr[v + ONE]) - np.int64(indptr[v])
    return tail, arcs, np.int64(-1)


@outer
def meet(indptr, indices, in_indptr, in_indices, before, after, source, target, closed, by_vertices):
    """A vertex in the middle of a shortest path, or -1. The side whose next level has fewer arcs (vertices) is next."""
    before[source] = np.int32(source)
    after[target] = np.int32(target)
    if source == target:
        return source
    queue, back = np.empty(before.size, np.uint32), np.empty(before.size, np.uint32)
    queue[0] = np.uint32(source)
    back[0] = np.uint32(target)
    begin, end, back_begin, back_end = 0, 1, 0, 1
    arcs = np.int64(indptr[source + 1]) - np.int64(indptr[source])
    back_arcs = np.int64(in_indptr[target + 1]) - np.int64(in_indptr[target])
    while arcs > 0 and back_arcs > 0:
        if end - begin <= back_end - back_begin if by_vertices else arcs <= back_arcs:
            tail, arcs, middle = expand(indptr, indices, before, after, queue, begin, end, source, closed)
            begin, end = end, tail
        else:
            tail, back_arcs, middle = expand(
                in_indptr, in_indices, after, before, back, back_begin, back_end, source, closed
            )
            back_begin, back_end = back_end, tail
        if middle >= 0:
            return middle
    return np.int64(-1)


# ------------------------------------------------------------------ along lengths, NetworkX's path


@outer
def meet_along_lengths(out, back, source, target, closed, seen, before, settled, keys, times, vertices):
    """Search from both ends in turn, like NetworkX. Returns where the halves meet, or −1, predecessors, length."""
    size = np.array([1, 1], np.uint64)
    ends = (source, target)
    for end in range(2):
        seen[end, ends[end]] = 0.0
        before[end, ends[end]] = np.int32(ends[end])
        keys[end, 0], times[end, 0], vertices[end, 0] = 0.0, np.uint64(end), np.uint32(ends[end])
    time, middle, length, end = np.uint64(2), np.int64(-1), np.inf, 1
    left, right = np.int32(-1), np.int32(-1)
    while size[0] > U0 and size[1] > U0:
        end = 1 - end
        u, du = vertices[end, 0], keys[end, 0]
        size[end] -= U1
        if size[end] > U0:
            drop_first(keys[end], times[end], vertices[end], size[end])
        if settled[end, u]:
            continue
        settled[end, u] = 1
        if settled[1 - end, u]:
            return middle, left, right, length
        A = out if end == 0 else back
        for j in range(np.uint64(A.indptr[u]), np.uint64(A.indptr[u + ONE])):
            v = A.indices[j]
            offer = du + A.lengths[j]
            if offer < seen[end, v] and not settled[end, v] and not is_closed(closed, source, np.int64(u), np.int64(v)):
                seen[end, v] = offer
                before[end, v] = np.int32(u)
                add(keys[end], times[end], vertices[end], size[end], offer, time, v)
                size[end] += U1
                time += U1
                if offer + seen[1 - end, v] < length:
                    length = offer + seen[1 - end, v]
                    middle = np.int64(v)
                    left, right = before[0, v], before[1, v]
    return np.int64(-1), left, right, np.inf


def path_from_both_ends(out, back, source, target, closed):
    """The path that NetworkX's bidirectional_dijkstra finds and its length, or None. `back`: the reverse arcs."""
    n, entries = len(out.indptr) - 1, len(out.indices) + 1
    seen, before, settled = np.full((2, n), np.inf), np.full((2, n), -1, np.int32), np.zeros((2, n), np.uint8)
    heap = np.empty((2, entries)), np.empty((2, entries), np.uint64), np.empty((2, entries), np.uint32)
    middle, left, right, length = meet_along_lengths(out, back, source, target, closed, seen, before, settled, *heap)
    if middle < 0:
        return None
    before[:, middle] = left, right
    return path_over(middle, *before, source, target), float(length)


# ------------------------------------------------------------------ along lengths, consecutive pairs


def new_state(n, m):
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
    """The arcs of a graph for searches; short arcs are separate once more than one pair was requested."""
    loaded.pairs += pairs
    rows, m, mapped = ShortArcs(*arcs), arcs.lengths.size, loaded.graph.is_mapped
    split = loaded.pairs > 1 and policy.short_arcs_first(loaded.n, m, False, policy.SOURCES_BEFORE_SPLITTING, mapped)
    short, delta = loaded.short_arcs(threads) if split else (rows, np.inf)
    return Side(rows, short, delta / 2)


@inner
def offer(S, end, count, size, time, u, v, length):
    if S.d[end, v] == np.inf:
        S.touched[end, count] = v
        count += 1
    S.d[end, v], S.parent[end, v] = length, np.int32(u)
    add(S.keys[end], S.times[end], S.vertices[end], size, length, time, v)
    return count


@outer
def search(out, back, source, target, S, path, patience):
    """Fill path with a shortest path, target first. Returns its number of vertices, 0 without a path, and its length.

    Returns −1 if `patience` (then twice as many, …) steps found no path and reached few vertices, as in a mesh.
    """
    n = S.d.shape[1]
    size, count = np.zeros(2, np.uint64), np.zeros(2, np.int64)
    ends = (source, target)
    for end in range(2):
        count[end] = offer(S, end, 0, U0, U0, ends[end], np.uint64(ends[end]), 0.0)
        size[end] = U1
    time, met, slack, taken, ended = U1, np.inf, 1.0 + n * ROUNDING, 0, True
    if source == target:
        met = 0.0
    while size[0] > U0 and size[1] > U0 and S.keys[0, 0] + S.keys[1, 0] <= met * slack:
        taken += 1
        if taken == patience:
            patience *= 2
            ended = met < np.inf or count[0] + count[1] >= patience
            if not ended:
                break
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
                if met < np.inf and rows.lengths.size:  # by hops, this test costs more than it saves
                    left = S.d[1 - end, v] if S.settled[1 - end, v] else S.keys[1 - end, 0]
                    if length + left > met * slack:
                        continue  # the other end is too far away: no shortest path passes v
                count[end] = offer(S, end, count[end], size[end], time, u, v, length)
                size[end] += U1
                time += U1
                met = min(met, length + S.d[1 - end, v])
    bound, rows = met * slack, out.all
    while size[0] > U0 and met < np.inf and ended:
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
    vertices, length = 0 if ended else -1, S.d[0, target]
    if met < np.inf and ended:
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
    return vertices, length


@outer
def walk_back(A, d, source, target, path):
    """Like `search`, by the distances d of the path's vertices; −1 if an arc is too short to order its endpoints."""
    if d[target] == np.inf:
        return 0, np.inf
    v, path[0], vertices = target, target, 1
    while v != source:
        j, end = np.uint64(A.indptr[v]), np.uint64(A.indptr[v + 1])
        while j < end and not (d[A.indices[j]] < d[v] == d[A.indices[j]] + (A.lengths[j] if A.lengths.size else 1.0)):
            j += U1
        if j == end:
            return -1, np.inf
        v = np.int64(A.indices[j])
        path[vertices] = v
        vertices += 1
    return vertices, d[target]
