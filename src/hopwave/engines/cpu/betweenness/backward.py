"""Betweenness from one source, the way back: dependencies δ, from the last level. See betweenness/state.py.

Shares are kept with a minus sign. An arc leads at most one level further, and only levels further on have shares yet:
"is a successor" is the sign, and no branch depends on it.
"""

import numpy as np

from hopwave.engines.cpu.betweenness import state
from hopwave.engines.cpu.integers import ONE, U1, U4, U8, U16
from hopwave.engines.cpu.intrinsics import INNER, noinline, prefetch, prefetch_to_write
from hopwave.system.numba_cache import njit


@njit(**INNER)
def back_by_successors(own, begin, end, row, squares, extra, demand, targets, cached):
    """δ of a level that was pushed: nothing but its successors is read. Returns Σ δ."""
    noinline()
    sigma, queue, starts, successors = own.sigma, own.queue, own.starts, own.successors
    total = 0.0
    end = np.uint64(end)
    for i in range(np.uint64(begin), end):
        if not cached and i + U8 < end:
            prefetch_to_write(sigma, queue[i + U8])
            prefetch_to_write(row, queue[i + U8])
            prefetch(sigma, successors[starts[i + U4]])
        u = queue[i]
        gathered = 0.0
        for p in range(np.uint64(starts[i]), np.uint64(starts[i + U1])):
            gathered -= sigma[successors[p]]
        paths = sigma[u]
        delta = paths * gathered
        weight = state.counts(demand, targets, u)
        sigma[u] = -((weight + delta) / paths)
        row[u] += delta + extra * weight
        if squares.size:
            squares[u] += delta * delta
        total += delta
    return total


@njit(**INNER)
def back_by_arcs(A, own, begin, end, row, demand, targets):
    """δ of a level that was pushed, and for edge scores the flow through each arc. Returns the sum of all flows."""
    noinline()
    indices, sigma, queue = A.indices, own.sigma, own.queue
    starts, successors = own.starts, own.successors
    total = 0.0
    for i in range(begin, end):
        u = queue[i]
        paths = sigma[u]
        gathered = 0.0
        for p in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            j = successors[p]
            flow = -sigma[indices[j]]
            row[j] += paths * flow
            gathered += flow
        total += paths * gathered
        weight = state.counts(demand, targets, u)
        sigma[u] = -((weight + paths * gathered) / paths)
    return total


@njit(**INNER)
def back_by_rows(A, own, begin, end, stop, gather, edges, row, squares, extra, demand, targets):
    """δ of a level that was pulled, queue[begin:end]. Its successors are among the level behind it, queue[end:stop].

    gather: whether vertices gather from their successors; else successors scatter to them. edges: row takes the flow
    through each arc, and vertices must gather. Returns Σ δ.
    """
    noinline()
    sigma, gathered, queue = own.sigma, own.gathered, own.queue
    total = 0.0
    begin, end, stop = np.uint64(begin), np.uint64(end), np.uint64(stop)
    if gather:
        indptr, indices = A.indptr, A.indices
        for i in range(begin, end):
            if i + U16 < end:
                prefetch(indptr, queue[i + U16])
                prefetch(indices, indptr[queue[i + U8]])
            u = queue[i]
            paths, sum_ = sigma[u], 0.0
            for j in range(np.uint64(indptr[u]), np.uint64(indptr[u + ONE])):
                share = sigma[indices[j]]
                flow = share if share < 0.0 else 0.0
                sum_ -= flow
                if edges:
                    row[j] -= paths * flow
            gathered[u] = sum_
    else:
        in_indptr, in_indices = A.in_indptr, A.in_indices
        for i in range(begin, end):
            gathered[queue[i]] = 0.0
        for i in range(end, stop):
            if i + U16 < stop:
                prefetch(in_indptr, queue[i + U16])
                prefetch(in_indices, in_indptr[queue[i + U8]])
            v = queue[i]
            share = sigma[v]
            for j in range(np.uint64(in_indptr[v]), np.uint64(in_indptr[v + ONE])):
                gathered[in_indices[j]] -= share  # also of other levels, which set it anew before they read it
    for i in range(begin, end):  # only now: no vertex may take another of its level for a successor
        u = queue[i]
        delta = sigma[u] * gathered[u]
        weight = state.counts(demand, targets, u)
        sigma[u] = -((weight + delta) / sigma[u])
        total += delta
        if not edges:
            row[u] += delta + extra * weight
        if squares.size:
            squares[u] += delta * delta
    return total


@njit(**INNER)
def last_level(own, begin, end, row, extra, demand, targets):
    """δ is 0, since there are no successors."""
    noinline()
    sigma, queue = own.sigma, own.queue
    for i in range(begin, end):
        u = queue[i]
        weight = state.counts(demand, targets, u)
        sigma[u] = -(weight / sigma[u])
        if extra != 0.0:
            row[u] += extra * weight


@njit(**INNER)
def backward(A, own, shared, demand, count, row, squares):
    """From the last level back to the source: δ is added to row, δ² to squares unless that is empty.

    Returns Σ δ, and what it must be: Σ (d - 1) over the targets.
    """
    sigma, queue, levels, targets = own.sigma, own.queue, own.levels, shared.targets
    edges, extra = shared.limits.edges, np.float64(shared.limits.endpoints)
    cached = shared.limits.cached
    found, due, counted = 0.0, 0.0, 0.0
    for level in range(count - 1, -1, -1):
        begin, end = levels[level, state.BEGINS], levels[level + 1, state.BEGINS]
        reached = demand * np.float64(end - begin)
        if targets.size:
            reached = 0.0
            for i in range(begin, end):
                reached += demand * targets[queue[i]]
        if level:
            due += (level if edges else level - 1) * reached
            counted += reached
        if level == 0 and not edges:
            row[queue[0]] += extra * counted  # the source is an end of every path
        elif level == count - 1:
            last_level(own, begin, end, row, 0.0 if edges else extra, demand, targets)
        elif levels[level, state.IS_PULLED]:
            stop, fewer = levels[level + 2, state.BEGINS], levels[level, state.ARCS] <= levels[level + 1, state.ARCS]
            found += back_by_rows(A, own, begin, end, stop, edges or fewer, edges, row, squares, extra, demand, targets)
        elif edges:
            found += back_by_arcs(A, own, begin, end, row, demand, targets)
        else:
            found += back_by_successors(own, begin, end, row, squares, extra, demand, targets, cached)
        if shared.copies.size:
            state.multiply(sigma, queue, begin, end, shared.copies)
        if levels[level, state.SHIFT]:  # this level was scaled: the one before must see it in its own scale
            factor = 2.0 ** np.float64(-levels[level, state.SHIFT])
            for i in range(begin, end):
                sigma[queue[i]] *= factor
    return found, due
