"""Stress, load and the paths through a group, compiled: one search per source, then sums over its levels.

σ(v)   stress: shortest paths from s to v                       load: neighbours of v one level nearer to s
τ(v)   stress: shortest paths from v to all vertices behind it  load: flow from these vertices to v

stress   τ(v) = Σ 1 + τ(w),           the source adds σ(v) · τ(v)      (Brandes 2008, section 3.1)
load     τ(v) = Σ (1 + τ(w)) / σ(w),  the source adds τ(v)             (section 3.3; NetworkX's load)
"""

from collections import namedtuple

import numpy as np

from hopwave.engines.cpu import policy
from hopwave.engines.cpu.crew import thread_count
from hopwave.engines.cpu.intrinsics import atomic_add, inner, noinline, ordered_load, outer
from hopwave.engines.cpu.path_counts import rescale_level
from hopwave.engines.cpu.row_order import search
from hopwave.engines.cpu.views import allocate
from hopwave.engines.cpu.workers import FINISHED, STOP, new_control, next_batch, run_workers
from hopwave.engines.host_memory import check_memory
from hopwave.engines.ledger import declare

STRESS, LOAD, GROUP = 0, 1, 2
KINDS = {"stress": STRESS, "load": LOAD, "group": GROUP}
WorkerState = namedtuple("WorkerState", "level order parent sigma tau source")
SharedState = namedtuple("SharedState", "parts kind limit member ends degree_bits control")


def path_sums(loaded, job, poll, threads=None):
    """Sums of a PathSums job: per vertex, over all sources; for a group, per source, over its targets."""
    n = loaded.n
    A = loaded.adjacency("any")
    count = min(policy.PARTS_OF_PATH_SUMS, n)
    rows = 1 if job.kind == "group" else count
    small = n * (n + loaded.m) <= policy.SMALL_JOB
    workers = 1 if small and threads is None else max(1, min(thread_count(threads), count))
    check_memory((8 * rows + 28 * workers) * n, f"{job.kind} over {n:,} sources", "use a subgraph")
    parts = np.zeros((rows, n))
    arrays = declare(np.int32, fill=-1, level=n) | declare(np.int32, order=n, parent=n, source=1)
    arrays |= declare(np.float64, fill=0, sigma=n, tau=n)
    states = [WorkerState(**allocate(arrays)) for _ in range(workers)]
    shared = SharedState(
        parts=parts,
        kind=KINDS[job.kind],
        limit=np.inf if job.cutoff is None else float(job.cutoff),
        member=np.zeros(0, np.bool_) if job.group is None else job.group,
        ends=job.endpoints,
        degree_bits=loaded.degree_bits,
        control=new_control(),
    )
    run_workers(add_sources, (A.indptr, A.indices), states, shared, poll, alone=small and workers == 1)
    return parts.sum(0)


@inner
def add_source(indptr, indices, own, found, load, scores):
    """Add the contributions of the search `own.order[:found]` to every vertex between its source and others."""
    noinline()
    level, order, sigma, tau = own.level, own.order, own.sigma, own.tau
    sigma[order[0]] = 1.0
    for i in range(found):
        v = order[i]
        for j in range(np.uint64(indptr[v]), np.uint64(indptr[v + 1])):
            w = indices[j]
            if level[w] == level[v] + 1:
                sigma[w] += 1.0 if load else sigma[v]
    # Farthest first: τ(v) is a sum over the next level, so it is complete when v is processed.
    for i in range(found - 1, 0, -1):
        v = order[i]
        for j in range(np.uint64(indptr[v]), np.uint64(indptr[v + 1])):
            w = indices[j]
            if level[w] == level[v] + 1:
                tau[v] += (1.0 + tau[w]) / sigma[w] if load else 1.0 + tau[w]
        scores[v] += tau[v] if load else sigma[v] * tau[v]


@inner
def share_of_group(indptr, indices, own, found, shared):
    """Σ over the targets of a search: the fraction of their shortest paths that visit the group; τ: that avoid it."""
    noinline()
    level, order, sigma, tau, member = own.level, own.order, own.sigma, own.tau, shared.member
    s = order[0]
    sigma[s], tau[s] = 1.0, 0.0 if member[s] else 1.0
    total, begin = 0.0, 0
    while begin < found:
        end = begin
        while end < found and level[order[end]] == level[order[begin]]:
            v = order[end]
            if v != s:
                tau[v] = 0.0 if member[v] else tau[v] / sigma[v]
                if shared.ends or not member[v]:
                    total += 1.0 - tau[v]
            end += 1
        rescale_level(sigma, order, begin, end, shared.degree_bits)
        for i in range(begin, end):
            v = order[i]
            for j in range(np.uint64(indptr[v]), np.uint64(indptr[v + 1])):
                w = indices[j]
                if level[w] == level[v] + 1:
                    sigma[w] += sigma[v]
                    tau[w] += sigma[v] * tau[v]
        begin = end
    return total


@outer
def add_sources(A, own, shared):
    indptr, indices = A
    control, kind = shared.control, shared.kind
    n = own.level.size
    count = min(policy.PARTS_OF_PATH_SUMS, n)
    while True:
        part, stop = next_batch(control, 1, count)
        if part == stop:
            return
        for s in range(part * n // count, (part + 1) * n // count):
            if ordered_load(control, STOP) != 0:
                return
            if kind != GROUP or shared.ends or not shared.member[s]:
                own.source[0] = s
                found = search(indptr, indices, own.source, shared.limit, own.order, own.level, own.parent)
                if kind == GROUP:
                    shared.parts[0, s] = share_of_group(indptr, indices, own, found, shared)
                else:
                    add_source(indptr, indices, own, found, kind == LOAD, shared.parts[part])
                for i in range(found):
                    v = own.order[i]
                    own.level[v], own.sigma[v], own.tau[v] = -1, 0.0, 0.0
            atomic_add(control, FINISHED, 1)
