"""Betweenness from one source where a level is too wide for one scale: see betweenness/state.py, path_counts.py."""

import math

import numpy as np

from hopwave.engines.cpu.betweenness.state import copies_of, counts
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
def extended_source(A, own, shared, demand, source, row, squares, depth, mantissa, exponent, shares):
    """source.one_source with σ as mantissa · 2^exponent per vertex: slower, and right however much a level spans.

    A share is (t + δ) / mantissa: a predecessor takes its own mantissa times that, times 2 to the power of what their
    exponents differ by, which is at most 0, so that δ itself needs no exponent. The last four arrays are filled here.
    """
    noinline()
    indptr, indices, queue, targets, copies = A.indptr, A.indices, own.queue, shared.targets, shared.copies
    depth[:] = -1
    mantissa[:] = 0.0
    tail = count_outward(A, queue, source, shared.limits.cutoff, copies, depth, mantissa, exponent)
    edges, extra = shared.limits.edges, np.float64(shared.limits.endpoints)
    found, due, counted = 0.0, 0.0, 0.0
    for i in range(tail - 1, -1, -1):
        u = queue[i]
        delta = 0.0
        for j in range(np.int64(indptr[u]), np.int64(indptr[u + ONE])):
            v = indices[j]
            if depth[v] == depth[u] + 1:
                flow = mantissa[u] * shares[v] * two_to(min(0, np.int64(exponent[u]) - np.int64(exponent[v])))
                delta += flow
                if edges:
                    row[j] += flow
                    found += flow
        weight = counts(demand, targets, u)
        shares[u] = (weight + delta) / mantissa[u] * copies_of(copies, u)
        if i > 0:
            due += (depth[u] if edges else depth[u] - 1) * weight
            counted += weight
            if not edges:
                found += delta
                row[u] += delta + extra * weight
                if squares.size:
                    squares[u] += delta * delta
        elif not edges:
            row[u] += extra * counted
    return found, due
