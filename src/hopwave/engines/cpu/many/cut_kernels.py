"""Searches that are cut off once their source cannot be among the highest, compiled.

    found    vertices up to the current level, with Σ d and Σ 1/d over them
    ahead    how many vertices the next level can have: arcs that lead on from the current one, less those that were
             followed and led to no new vertex
    r        how many vertices the source reaches: between low and high

All others are at least one level further on, and only `ahead` of them so near: that is an upper bound of the score,
tested after every CHECK arcs (the neighbourhood-based cut of Bergamini, Borassi, Crescenzi, Marino & Meyerhenke 2019).
If r is not known, closeness is highest for the least r, for the greatest, or where `ahead` is used up.
"""

from collections import namedtuple

import numpy as np

from hopwave.engines.cpu.integers import ONE
from hopwave.engines.cpu.intrinsics import COMPILED, INNER, atomic_add, noinline, ordered_load
from hopwave.engines.cpu.workers import FINISHED, NEXT_BATCH, STOP
from hopwave.system.numba_cache import njit

CHECK = 128  # arcs between two looks at the bound
CLOSENESS, WASSERMAN_FAUST, HARMONIC = range(3)  # the score: (r − 1) / Σ d; times (r − 1) / (n − 1); Σ 1/d

WorkerState = namedtuple("WorkerState", "depth queue")
# low, high: of every vertex, how many it reaches. sums: reached, Σ d, arcs looked at, and whether it is whole.
# back: arcs of a vertex other than the source that lead back for certain: 1 in an undirected graph.
SharedState = namedtuple("SharedState", "sources low high sums inverse control score least back")
REACHED, TOTAL, ARCS, WHOLE = range(4)


@njit(**INNER)
def closeness_of(r, total, n, wasserman_faust):
    """As algorithms.distances.closeness computes it, in the same order."""
    if total <= 0:
        return 0.0 if r <= 1 else np.inf
    score = (r - 1.0) / total
    return score * ((r - 1.0) / (n - 1.0)) if wasserman_faust else score


@njit(**INNER)
def highest_score(score, n, found, total, inverse, level, ahead, low, high):
    """An upper bound on the score of a source, from what its search has found so far."""
    if score == HARMONIC:
        rest = high - found
        near = min(ahead, rest)
        return inverse + near / (level + 1.0) + (rest - near) / (level + 2.0)
    best = 0.0
    for choice in range(3):
        r = low if choice == 0 else high if choice == 1 else min(max(found + ahead, low), high)
        r = max(r, found)
        rest = r - found
        near = min(ahead, rest)
        least = total + (level + 1) * near + (level + 2) * (rest - near)
        best = max(best, closeness_of(r, least, n, score == WASSERMAN_FAUST))
    return best


@njit(**INNER)
def cut_search(A, own, shared, number):
    """One search; depth is -1 everywhere before and after."""
    noinline()
    indptr, indices, depth, queue = A.indptr, A.indices, own.depth, own.queue
    source, score, least, n = shared.sources[number], shared.score, shared.least, own.depth.size
    low, high = shared.low[source], shared.high[source]
    depth[source] = 0
    queue[0] = np.uint32(source)
    begin, end, tail, level, total, inverse, arcs, whole = 0, 1, 1, 0, 0, 0.0, 0, True
    ahead = np.int64(indptr[source + 1]) - np.int64(indptr[source])
    while whole and end > begin and end < high:
        if highest_score(score, n, end, total, inverse, level, ahead, low, high) < least:
            whole = False
            break
        start, due, back = arcs, arcs + CHECK, shared.back if level else 0
        for i in range(begin, end):
            u = queue[i]
            first, last = np.int64(indptr[u]), np.int64(indptr[u + ONE])
            for j in range(first, last):
                v = indices[j]
                if depth[v] < 0:
                    depth[v] = level + 1
                    queue[tail] = v
                    tail += 1
            arcs += last - first
            if arcs >= due:
                due = arcs + CHECK
                if tail >= high:  # no vertex is left to find
                    break
                led = arcs - start - back * (i + 1 - begin)  # that many of `ahead` are followed
                left = ahead - led + tail - end
                if highest_score(score, n, end, total, inverse, level, left, low, high) < least:
                    whole = False
                    break
        if not whole:
            break
        begin, end = end, tail
        level += 1
        total += level * (end - begin)
        inverse += (end - begin) * (1.0 / level)
        ahead = 0
        if end < high:
            for i in range(begin, end):
                u = queue[i]
                ahead += np.int64(indptr[u + ONE]) - np.int64(indptr[u]) - shared.back
    sums = shared.sums[number]
    sums[REACHED], sums[TOTAL], sums[ARCS], sums[WHOLE] = end, total, arcs, whole
    shared.inverse[number] = inverse
    for i in range(tail):
        depth[queue[i]] = -1


@njit(**COMPILED)
def take_searches(A, own, shared):
    """A worker: one search after another until none is left."""
    control, size = shared.control, shared.sources.size
    while ordered_load(control, STOP) == 0:
        number = atomic_add(control, NEXT_BATCH, 1)
        if number >= size:
            break
        cut_search(A, own, shared, number)
        atomic_add(control, FINISHED, 1)


@njit(**COMPILED)
def reach_along(indptr, indices, label, order, giant, low, high):
    """The least and the greatest number of vertices that each strong component may reach.

    `label` counts components in reverse topological order, `order` lists the vertices by component. What the largest,
    `giant`, reaches is known exactly: r vertices. A component that reaches `giant` reaches these r, its own vertices,
    and at most the sum of what its successors reach beside the r.
    """
    n, count = label.size, low.size
    size, extra = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for v in range(n):
        size[label[v]] += 1
    inside, mark = np.zeros(count, np.bool_), np.full(count, -1, np.int64)
    inside[giant] = True  # what giant reaches
    towards = np.zeros(count, np.bool_)  # what reaches giant
    towards[giant] = True
    for i in range(n - 1, -1, -1):
        v = order[i]
        if inside[label[v]]:
            for j in range(np.int64(indptr[v]), np.int64(indptr[v + 1])):
                inside[label[indices[j]]] = True
    r = np.int64(0)
    for c in range(count):
        if inside[c]:
            r += size[c]
    at = 0
    for c in range(count):
        own = size[c]
        least, most, more = np.int64(0), np.int64(0), np.int64(0)
        while at < n and label[order[at]] == c:
            v = order[at]
            at += 1
            for j in range(np.int64(indptr[v]), np.int64(indptr[v + 1])):
                d = label[indices[j]]
                if d != c and mark[d] != c:
                    mark[d] = c
                    towards[c] = towards[c] or towards[d]
                    least = max(least, low[d])
                    most = min(most + high[d], n)
                    more = min(more + extra[d], n)
        extra[c] = min(more + (0 if inside[c] else own), n - r)
        if towards[c]:
            low[c] = r + (0 if inside[c] else own)
            high[c] = r + extra[c]
        else:
            low[c] = own + least
            high[c] = min(own + most, n)
