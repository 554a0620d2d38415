"""Searches that stop once their source cannot be among the highest: one at a time per worker.

    found    vertices up to the current level, with Σ d and Σ 1/d over them
    ahead    maximum size of the next level: arcs out of this level, less those without a new vertex
    r        number of vertices that the source reaches: between low and high

All other vertices are at least one level deeper, and at most `ahead` of them only one: an upper bound on the score,
tested after every CHECK arcs (the neighbourhood-based cut of Bergamini, Borassi, Crescenzi, Marino & Meyerhenke 2019).
If r is unknown, closeness is highest for the smallest r, for the largest, or if `ahead` is used up.
"""

from collections import namedtuple

import numpy as np

from hopwave.engines.cpu import policy
from hopwave.engines.cpu.crew import thread_count
from hopwave.engines.cpu.integers import ONE
from hopwave.engines.cpu.intrinsics import atomic_add, inner, noinline, outer
from hopwave.engines.cpu.workers import FINISHED, new_control, next_batch, run_workers
from hopwave.engines.host_memory import workers_that_fit
from hopwave.planning.many_sources import CutSwept

CHECK = 128  # arcs between two tests of the bound
CLOSENESS, WASSERMAN_FAUST, HARMONIC = range(3)  # the score: (r − 1) / Σ d; times (r − 1) / (n − 1); Σ 1/d

WorkerState = namedtuple("WorkerState", "depth queue")
# low, high: bounds on the number of vertices that each vertex reaches. sums: reached, Σ d, arcs read, and whether the
# search is complete. back: arcs of a vertex other than the source that certainly lead back: 1 in an undirected graph.
SharedState = namedtuple("SharedState", "sources low high sums inverse control score least back")
REACHED, TOTAL, ARCS, WHOLE = range(4)


@inner
def highest_score(score, n, found, total, inverse, level, ahead, low, high):
    """An upper bound on the score of a source, from the results of its search so far."""
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
        if least > 0:  # as algorithms.distances.closeness computes it, in the same order
            found_here = (r - 1.0) / least
            best = max(best, found_here * ((r - 1.0) / (n - 1.0)) if score == WASSERMAN_FAUST else found_here)
        elif r > 1:
            best = np.inf
    return best


@inner
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
                if tail >= high:  # no vertex remains to be found
                    break
                led = arcs - start - back * (i + 1 - begin)  # this many arcs of `ahead` have been followed
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


@outer
def take_searches(A, own, shared):
    control, size = shared.control, shared.sources.size
    while True:
        number, stop = next_batch(control, 1, size)
        if number == stop:
            return
        cut_search(A, own, shared, number)
        atomic_add(control, FINISHED, 1)


@outer
def reach_along(indptr, indices, label, order, giant, low, high):
    """Bounds on the number of vertices that each strong component reaches; the largest, `giant`, reaches exactly r."""
    n, count = label.size, low.size
    size, extra = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for v in range(n):
        size[label[v]] += 1
    inside, mark = np.zeros(count, np.bool_), np.full(count, -1, np.int64)
    inside[giant] = True  # components that giant reaches
    towards = np.zeros(count, np.bool_)  # components that reach giant
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


SCORES = {"closeness": CLOSENESS, "wasserman_faust": WASSERMAN_FAUST, "harmonic": HARMONIC}
BYTES_PER_VERTEX = 8  # bytes per vertex of one worker's arrays


def cut_sweep(loaded, job, poll, threads=None):
    n, k = loaded.n, len(job.sources)
    alone = k * (n + loaded.m) <= policy.SMALL_JOB
    workers = 1 if alone else workers_that_fit(max(1, min(thread_count(threads), k)), 0, BYTES_PER_VERTEX * n)
    shared = SharedState(
        sources=job.sources,
        low=job.low,
        high=job.high,
        sums=np.zeros((k, 4), np.int64),
        inverse=np.zeros(k),
        control=new_control(),
        score=np.int64(SCORES[job.score]),
        least=np.float64(job.least),
        back=np.int64(not loaded.graph.directed),
    )
    states = [WorkerState(np.full(n, -1, np.int32), np.empty(n, np.uint32)) for _ in range(workers)]
    run_workers(take_searches, loaded.rows, states, shared, poll, alone)
    sums = shared.sums
    return CutSwept(
        reached=sums[:, REACHED],
        total=sums[:, TOTAL],
        inverse=shared.inverse,
        whole=sums[:, WHOLE] != 0,
        arcs=int(sums[:, ARCS].sum()),
    )


def reach_bounds(loaded):
    """Minimum and maximum number of vertices that each vertex reaches; equal if the graph is undirected."""
    from hopwave.engines.cpu.components import close_components
    from hopwave.engines.cpu.many.run import component_labels

    if not loaded.graph.directed:
        label = component_labels(loaded.graph, strong=False)
        size = np.bincount(label)[label].astype(np.int64)
        return size, size
    indptr, indices = loaded.rows
    label = np.empty(loaded.n, np.int32)
    count = close_components(indptr, indices, label)
    low, high = np.zeros(count, np.int64), np.zeros(count, np.int64)
    giant = np.int64(np.argmax(np.bincount(label))) if loaded.n else np.int64(0)
    reach_along(indptr, indices, label, np.argsort(label, kind="stable"), giant, low, high)
    return low[label], high[label]
