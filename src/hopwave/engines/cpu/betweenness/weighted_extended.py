"""Betweenness along weights from one source where float64 cannot hold σ, or where distances give no order.

See betweenness/dijkstra.py. Arcs between vertices at the same distance (their weight is 0, or too small beside it) are
followed in an order of their own.
"""

import math

import numpy as np

from hopwave.engines.cpu.betweenness.dijkstra import NONE
from hopwave.engines.cpu.betweenness.state import CYCLE, copies_of, counts
from hopwave.engines.cpu.integers import U0, U1
from hopwave.engines.cpu.intrinsics import INNER, atomic_or, compare_and_swap, noinline
from hopwave.engines.cpu.path_counts import add_scaled, two_to
from hopwave.engines.cpu.workers import FAILED, STOP
from hopwave.system.numba_cache import njit


@njit(**INNER)
def predecessors_of(before, v, is_source, tails, arcs):
    """Fill in the tails of the arcs by which shortest paths reach v, and for edge scores their numbers."""
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


@njit(**INNER)
def sequence(own, settled):
    """The settled vertices, successors before predecessors; fewer than there are where arcs form a cycle.

    Also returns for every vertex how many successors it still waits for.
    """
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


@njit(**INNER)
def report_cycle(own, shared, settled, unready):
    """Stop the run, and name an arc between vertices at the same distance that wait for each other."""
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


@njit(**INNER)
def extended_counts(own, backwards, copies):
    """σ of every vertex as a mantissa and an exponent; `backwards` ends with the source."""
    noinline()
    before, n = own.before, own.distance.size
    mantissa, exponent = np.zeros(n), np.zeros(n, np.int64)
    tails, arcs = np.empty(before.tie_tail.size, np.uint32), np.empty(before.tie_arc.size, np.uint64)
    at = np.uint64(backwards.size) - U1
    mantissa[backwards[at]], exponent[backwards[at]] = 0.5, 1
    while at > U0:
        at -= U1
        v = backwards[at]
        for p in range(predecessors_of(before, v, False, tails, arcs)):
            u = tails[p]
            mantissa[v], exponent[v] = add_scaled(mantissa[v], exponent[v], mantissa[u], exponent[u])
        if copies.size:
            mantissa[v], power = math.frexp(mantissa[v] * copies[v])
            exponent[v] += power
    return mantissa, exponent


@njit(**INNER)
def extended_source(own, shared, demand, backwards, row, squares):
    """What a source contributes, `backwards` from the last vertices to it. Returns Σ δ, and what it must be.

    Only ratios σ(u)/σ(v) ≤ 1 of neighbours are formed, so that δ and the mean number of arcs need no exponent.
    """
    noinline()
    before, targets, n = own.before, shared.targets, own.distance.size
    edges, extra = shared.limits.edges, np.float64(shared.limits.endpoints)
    inner = 0.0 if edges else 1.0
    mantissa, exponent = extended_counts(own, backwards, shared.copies)
    hops, delta = np.zeros(n), np.zeros(n)
    tails, arcs = np.empty(before.tie_tail.size, np.uint32), np.empty(before.tie_arc.size, np.uint64)
    at = np.uint64(backwards.size) - U1
    source = backwards[at]
    while at > U0:
        at -= U1
        v = backwards[at]
        for p in range(predecessors_of(before, v, False, tails, arcs)):
            u = tails[p]
            ratio = mantissa[u] / mantissa[v] * two_to(min(0, exponent[u] - exponent[v]))
            hops[v] += ratio * (hops[u] + 1.0) * copies_of(shared.copies, v)
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
