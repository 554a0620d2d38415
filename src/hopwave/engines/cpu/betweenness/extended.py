"""Betweenness from one source where a level is too wide for one scale: see betweenness/state.py, path_counts.py."""

import math

import numpy as np

from hopwave.engines.cpu.betweenness.state import CUTOFF, EDGES, ENDPOINTS, copies_of, counts
from hopwave.engines.cpu.integers import ONE
from hopwave.engines.cpu.intrinsics import INNER, noinline
from hopwave.engines.cpu.path_counts import add_scaled, two_to
from hopwave.system.numba_cache import njit


@njit(**INNER)
def count_outward(A, queue, source, cutoff, copies, depth, mantissa, exponent):
    """Search from the source; depth is -1 everywhere before. Returns the end of the queue."""
    noinline()
    indptr, indices = A.indptr, A.indices
    depth[source], mantissa[source], exponent[source] = 0, 0.5, 1
    queue[0] = np.uint32(source)
    tail, i = 1, 0
    while i < tail:
        u = queue[i]
        i += 1
        if copies.size and i > 1:
            mantissa[u], power = math.frexp(mantissa[u] * copies[u])
            exponent[u] += power
        if depth[u] == cutoff:
            break
        for j in range(np.int64(indptr[u]), np.int64(indptr[u + ONE])):
            v = indices[j]
            if depth[v] < 0:
                depth[v] = depth[u] + 1
                queue[tail] = v
                tail += 1
            if depth[v] == depth[u] + 1:
                mantissa[v], exponent[v] = add_scaled(mantissa[v], exponent[v], mantissa[u], exponent[u])
    return tail


@njit(**INNER)
def extended_source(A, own, shared, source, row, squares):
    """source.one_source with σ as mantissa · 2^exponent per vertex: slower, and right however much a level spans.

    Only ratios σ(v)/σ(w) ≤ 1 of neighbours are ever formed, so that δ itself needs no exponent.
    """
    noinline()
    indptr, indices, queue, targets, copies = A.indptr, A.indices, own.queue, shared.targets, shared.copies
    n, demand = own.sigma.size, own.demand[0]
    depth, delta = np.full(n, -1, np.int64), np.zeros(n)
    mantissa, exponent = np.zeros(n), np.zeros(n, np.int64)
    tail = count_outward(A, queue, source, shared.limits[CUTOFF], copies, depth, mantissa, exponent)
    edges, extra = shared.limits[EDGES] != 0, np.float64(shared.limits[ENDPOINTS])
    found, due, counted = 0.0, 0.0, 0.0
    for i in range(tail - 1, -1, -1):
        u = queue[i]
        for j in range(np.int64(indptr[u]), np.int64(indptr[u + ONE])):
            v = indices[j]
            if depth[v] == depth[u] + 1:
                weight = counts(demand, targets, v)
                ratio = mantissa[u] / mantissa[v] * two_to(min(0, exponent[u] - exponent[v])) * copies_of(copies, v)
                share = ratio * (weight + delta[v])
                delta[u] += share
                if edges:
                    row[j] += share
                    found += share
        weight = counts(demand, targets, u)
        if i > 0:
            due += (depth[u] if edges else depth[u] - 1) * weight
            counted += weight
            if not edges:
                found += delta[u]
                row[u] += delta[u] + extra * weight
                if squares.size:
                    squares[u] += delta[u] * delta[u]
        elif not edges:
            row[u] += extra * counted
    return found, due
