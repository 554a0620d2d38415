"""Betweenness along weights, compiled: shortest paths with their number, and dependencies.

    d(v)   length of a shortest path to v: float64 sums along arcs
    σ(v)   number of shortest paths to v            λ(v)   number of arcs on all of them in total

An arc u → v is on a shortest path if d(u) + its weight == d(v), exactly, as in NetworkX. λ(v) / σ(v) is the mean number
of arcs on the shortest paths to v, so Σ δ must equal Σ (λ(t) / σ(t) - 1) over the targets: the certificate.

σ and λ are plain float64 up to 2^LARGEST. A source with more paths is counted with an exponent per vertex. So is a
source from which an arc adds nothing to a distance, because its weight is 0 or too small: the vertices at the same
distance must be sorted first. If such arcs form a cycle, the number of shortest paths is undefined, and the run stops.
"""

import math
from collections import namedtuple

import numpy as np

from hopwave.engines import uncountable
from hopwave.engines.cpu import policy
from hopwave.engines.cpu.betweenness import state
from hopwave.engines.cpu.betweenness.run import Accumulation
from hopwave.engines.cpu.betweenness.state import CYCLE, copies_of, counts
from hopwave.engines.cpu.integers import ONE, U0, U1, U8
from hopwave.engines.cpu.intrinsics import atomic_add, atomic_or, compare_and_swap, inner, noinline, outer, prefetch
from hopwave.engines.cpu.many.settling import NONE, enter, new_waiting, put, remove_root, take_bucket, waiting_arrays
from hopwave.engines.cpu.path_counts import LARGEST, add_scaled, two_to
from hopwave.engines.cpu.views import allocate, unsigned_rows
from hopwave.engines.cpu.workers import FAILED, STOP
from hopwave.engines.ledger import Array, declare, total

# ------------------------------------------------------------------ forward

PATHS, TOTAL, DELTA = range(3)  # columns of nodes: σ, λ, and δ, which is 0 until the backward pass

# The graph as a worker reads it: rows, weights, maximum distance, buckets (policy.length_buckets), copies (state.py).
Lengths = namedtuple("Lengths", "indptr indices lengths cutoff buckets_per_length final scattered copies")
# Arcs on shortest paths. Every vertex stores the arc that first reached it (tail, and for edge scores its index) and
# the first of a list of ties; every tie stores an arc likewise, and the next tie.
Predecessors = namedtuple("Predecessors", "tail arc tie tie_tail tie_arc following")
# A worker's arrays. distance: infinite between sources; waiting: see many/settling.py; order: vertices as settled.
WeightedState = namedtuple("WeightedState", "distance nodes waiting before order")


def vertex_arrays(n):
    """The arrays of a WeightedState, except `waiting` and `before`."""
    return {"distance": Array(n, fill=np.inf), "nodes": Array((n, 3)), "order": Array(n, np.uint32)}


def predecessor_arrays(n, m, edges):
    """The arrays of Predecessors, with room for a tie of every arc; `edges`: for scores of edges."""
    number = np.uint32 if m + 1 < 2**32 else np.uint64  # type of the index of an arc or an entry
    return declare(np.uint32, tail=n, tie_tail=m + 2) | declare(
        number, arc=n if edges else 0, tie=n, tie_arc=m + 2 if edges else 0, following=m + 2
    )


def new_state(n, m, edges):
    waiting = new_waiting(m)
    waiting.vertex[0] = 0  # entry of NONE, which is prefetched
    before = Predecessors(**allocate(predecessor_arrays(n, m, edges)))
    return WeightedState(waiting=waiting, before=before, **allocate(vertex_arrays(n)))


def bytes_of_state(n, m, edges):
    return total(vertex_arrays(n)) + total(predecessor_arrays(n, m, edges)) + total(waiting_arrays(m))


@inner
def search(A, own, source, target):
    """Settle up to the cutoff or target. Returns number settled, largest λ + σ, whether a tying arc adds nothing."""
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
                continue  # its distance fell later, and it was settled with that distance
            if here > cutoff:  # settling the target has lowered the cutoff
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
                    continue  # no shortest path contains a loop
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


@inner
def forget(own, settled):
    """Reset all distances to infinity: only those of settled vertices if they are few."""
    noinline()
    distance, order = own.distance, own.order
    if settled < np.uint64(distance.size) >> np.uint64(3):
        for i in range(settled):
            distance[order[i]] = np.inf
    else:
        for v in range(np.uint64(distance.size)):
            distance[v] = np.inf


# ------------------------------------------------------------------ counts with exponents, and arcs that add nothing


@inner
def predecessors_of(before, v, is_source, tails, arcs):
    """Write the tails of the arcs by which shortest paths reach v, and for edge scores their indices."""
    count = U0
    edges = before.arc.size > 0
    if not is_source:
        tails[U0] = before.tail[v]
        if edges:
            arcs[U0] = before.arc[v]
        count = U1
    tie = np.uint64(before.tie[v])
    while tie != NONE:
        tails[count] = before.tie_tail[tie]
        if edges:
            arcs[count] = before.tie_arc[tie]
        count += U1
        tie = np.uint64(before.following[tie])
    return count


@inner
def sequence(own, settled):
    """Settled vertices, successors first (fewer if arcs form a cycle), and their numbers of unfinished successors."""
    noinline()
    order, before, n = own.order, own.before, own.distance.size
    unready, backwards = np.zeros(n, np.int64), np.empty(settled, np.uint32)
    tails, arcs = np.empty(before.tie_tail.size, np.uint32), np.empty(before.tie_arc.size, np.uint64)
    for i in range(settled):
        for p in range(predecessors_of(before, order[i], i == U0, tails, arcs)):
            unready[tails[p]] += 1
    tail, at = U0, U0
    for i in range(settled):
        if unready[order[i]] == 0:
            backwards[tail] = order[i]
            tail += U1
    while at < tail:
        v = backwards[at]
        at += U1
        for p in range(predecessors_of(before, v, v == order[U0], tails, arcs)):
            u = tails[p]
            unready[u] -= 1
            if unready[u] == 0:
                backwards[tail] = u
                tail += U1
    return backwards[:tail], unready


@inner
def report_cycle(own, shared, settled, unready):
    """Stop the run, and report an arc between vertices at the same distance that wait for each other."""
    noinline()
    distance, order, before, control = own.distance, own.order, own.before, shared.control
    atomic_or(control, STOP, FAILED)
    if not compare_and_swap(control, CYCLE, 0, 1):
        return
    control[CYCLE + 1] = np.int64(order[U0])
    tails, arcs = np.empty(before.tie_tail.size, np.uint32), np.empty(before.tie_arc.size, np.uint64)
    for i in range(settled):
        v = order[i]
        for p in range(predecessors_of(before, v, i == U0, tails, arcs)):
            u = tails[p]
            if unready[u] > 0 and unready[v] > 0 and distance[u] == distance[v]:
                control[CYCLE + 2], control[CYCLE + 3] = np.int64(u), np.int64(v)


@inner
def extended_counts(own, backwards, copies):
    """σ of every vertex as mantissa and exponent, and its mean number of arcs; `backwards` ends with the source."""
    noinline()
    before, n = own.before, own.distance.size
    mantissa, exponent, hops = np.zeros(n), np.zeros(n, np.int64), np.zeros(n)
    tails, arcs = np.empty(before.tie_tail.size, np.uint32), np.empty(before.tie_arc.size, np.uint64)
    at = np.uint64(backwards.size) - U1
    mantissa[backwards[at]], exponent[backwards[at]] = 0.5, 1
    while at > U0:
        at -= U1
        v = backwards[at]
        count = predecessors_of(before, v, False, tails, arcs)
        for p in range(count):
            u = tails[p]
            mantissa[v], exponent[v] = add_scaled(mantissa[v], exponent[v], mantissa[u], exponent[u])
        if copies.size:
            mantissa[v], power = math.frexp(mantissa[v] * copies[v])
            exponent[v] += power
        for p in range(count):
            u = tails[p]
            ratio = mantissa[u] / mantissa[v] * two_to(min(0, exponent[u] - exponent[v]))
            hops[v] += ratio * (hops[u] + 1.0) * copies_of(copies, v)
    return mantissa, exponent, hops


@inner
def extended_source(own, shared, demand, backwards, row, squares):
    """`walk_back` in the order of `backwards`, with exponents. Only ratios σ(u)/σ(v) ≤ 1 of neighbours are formed."""
    noinline()
    before, targets, n = own.before, shared.targets, own.distance.size
    edges, extra = shared.limits.edges, np.float64(shared.limits.endpoints)
    inner = 0.0 if edges else 1.0
    mantissa, exponent, hops = extended_counts(own, backwards, shared.copies)
    delta, source = np.zeros(n), backwards[backwards.size - 1]
    tails, arcs = np.empty(before.tie_tail.size, np.uint32), np.empty(before.tie_arc.size, np.uint64)
    found, due, counted = 0.0, 0.0, 0.0
    for at in range(np.uint64(backwards.size) - U1):
        v = backwards[at]
        weight, copies = counts(demand, targets, v), copies_of(shared.copies, v)
        for p in range(predecessors_of(before, v, False, tails, arcs)):
            u = tails[p]
            flow = mantissa[u] / mantissa[v] * two_to(min(0, exponent[u] - exponent[v])) * copies
            flow *= weight + delta[v]
            delta[u] += flow
            if edges:
                row[arcs[p]] += flow
                found += flow
        due += (hops[v] - inner) * weight
        counted += weight
        if not edges:
            found += delta[v]
            row[v] += delta[v] + extra * weight
            if squares.size:
                squares[v] += delta[v] * delta[v]
    if not edges:
        row[source] += extra * counted
    return found, due


# ------------------------------------------------------------------ backward, and runs

TOO_MANY = 2.0**LARGEST
EVERY = np.uint32(2**32 - 1)  # the target of a search that settles all vertices: no vertex has this number


@inner
def walk_back(own, shared, demand, settled, row, squares):
    """δ from the vertices settled last to the source. Returns Σ δ, and its required value."""
    noinline()
    nodes, order, before, targets = own.nodes, own.order, own.before, shared.targets
    edges, extra = shared.limits.edges, np.float64(shared.limits.endpoints)
    inner = 0.0 if edges else 1.0  # a path of h arcs has h - 1 inner vertices
    found, due, counted = 0.0, 0.0, 0.0
    i = settled
    while i > U1:
        i -= U1
        v = order[i]
        paths, delta = nodes[v, PATHS], nodes[v, DELTA]
        weight = counts(demand, targets, v)
        share = (weight + delta) / paths * copies_of(shared.copies, v)  # each predecessor u multiplies this by σ(u)
        u = before.tail[v]
        flow = nodes[u, PATHS] * share
        nodes[u, DELTA] += flow
        if edges:
            row[before.arc[v]] += flow
            found += flow
        tie = np.uint64(before.tie[v])
        while tie != NONE:
            u = before.tie_tail[tie]
            flow = nodes[u, PATHS] * share
            nodes[u, DELTA] += flow
            if edges:
                row[before.tie_arc[tie]] += flow
                found += flow
            tie = np.uint64(before.following[tie])
        due += (nodes[v, TOTAL] / paths - inner) * weight
        counted += weight
        if not edges:
            found += delta
            row[v] += delta + extra * weight
            if squares.size:
                squares[v] += delta * delta
    if not edges:
        row[order[U0]] += extra * counted  # the source is an endpoint of every path
    return found, due


@inner
def one_source(A, own, shared, number, row, squares):
    """Add one source's contribution to row. Returns both sides of its certificate; negative if it is undefined."""
    demand = state.demand_at(shared, number)
    settled, greatest, flat = search(A, own, shared.sources[number], EVERY)
    if not flat and greatest <= TOO_MANY:
        found, due = walk_back(own, shared, demand, settled, row, squares)
    else:
        backwards, unready = sequence(own, settled)
        if np.uint64(backwards.size) < settled:
            report_cycle(own, shared, settled, unready)
            return -1.0, -1.0
        atomic_add(shared.control, state.EXTENDED, 1)
        found, due = extended_source(own, shared, demand, backwards, row, squares)
    forget(own, settled)
    return found, due


take_blocks = state.blocks_of(one_source)


@outer
def take_weighted_sources(A, own, shared):
    take_blocks(A, own, shared, own.distance.size)


def rows_with_lengths(loaded, cutoff, copies=state.ALL_ALIKE):
    graph, lengths, farthest = loaded.graph, loaded.lengths, np.finfo(np.float64).max
    cutoff = farthest if cutoff is None else min(float(cutoff), farthest)
    per_length, final = policy.length_buckets(*loaded.length_range)
    return Lengths(*unsigned_rows(graph), lengths, cutoff, per_length, final, loaded.scattered, copies)


def check_cycle(graph, control):
    """Raise a GraphError if a worker found a cycle of arcs that add nothing to a distance."""
    if control[state.CYCLE]:
        source, u, v = (int(cell) for cell in control[state.CYCLE + 1 : state.CYCLE + 4])
        raise uncountable(graph, source, u, v)


class WeightedAccumulation(Accumulation):
    kernel = property(lambda self: take_weighted_sources)
    reuses = False

    def __init__(self, loaded, job, plan, threads):
        super().__init__(loaded, job, plan, threads)
        self._graph = loaded.graph

    @staticmethod
    def bytes_per_worker(n, m, width, edges):
        return bytes_of_state(n, m, edges) + 16 * width

    def _rows(self, loaded):
        return rows_with_lengths(loaded, self.job.cutoff, self._copies)

    def _worker_state(self):
        return new_state(self._n, len(self.A.indices), self.job.edges)

    def _check(self, control):
        check_cycle(self._graph, control)
