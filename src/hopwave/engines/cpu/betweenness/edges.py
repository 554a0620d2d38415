"""Edge betweenness on the CPU: sources as for vertices, 16 at a time; then threads share the rows and add up flows.

A source sends σ̂(u) times the share of v (state.py) through an arc u → v to the next level. Shares and levels of all
sources are adjacent: an arc's total is read and written once per 16 sources. Results do not depend on threads.
"""

from collections import namedtuple

import numpy as np

from hopwave.engines.cpu import intrinsics as asm
from hopwave.engines.cpu import policy
from hopwave.engines.cpu.betweenness import source as kernels
from hopwave.engines.cpu.betweenness import state
from hopwave.engines.cpu.betweenness.run import Accumulation
from hopwave.engines.cpu.crew import FOUND, NEXT_CHUNK, share, thread_count
from hopwave.engines.cpu.integers import U1
from hopwave.engines.cpu.intrinsics import inner, noinline, outer
from hopwave.engines.cpu.path_counts import two_to
from hopwave.engines.cpu.views import allocate
from hopwave.engines.cpu.workers import FINISHED, NEXT_BATCH, new_control, next_batch, workers_within
from hopwave.engines.ledger import declare, total

AT_ONCE = policy.SOURCES_OF_FLOWS
ROWS_PER_CHUNK = 128
NOWHERE = -2  # the level of unreached vertices: no level follows it

# Per source: σ̂, shares, levels, and exponents if counts are `extended`. Per vertex: beside and levels, the shares and
# levels of all sources that are not extended.
Kept = namedtuple("Kept", "paths shares depth exponent extended beside levels")
SharedState = namedtuple("SharedState", "sources targets origins copies kept certificate control rule limits ranges")


def kept_arrays(n):
    """The arrays of Kept; untouched pages of exponents use no memory."""
    return (
        declare(np.float64, huge=True, paths=(AT_ONCE, n), shares=(AT_ONCE, n), beside=(n, AT_ONCE))
        | declare(np.int32, huge=True, depth=(AT_ONCE, n), levels=(n, AT_ONCE))
        | declare(np.int64, exponent=(AT_ONCE, n))
        | declare(np.bool_, extended=AT_ONCE)
    )


@inner
def solve(A, own, shared, number):
    """Process one source: store its arrays, and both sides of its certificate. Its δ are written over or unused."""
    noinline()
    kept, place = shared.kept, number % AT_ONCE
    paths, shares, depth = kept.paths[place], kept.shares[place], kept.depth[place]
    queue, sigma, levels, demand = own.queue, own.sigma, own.levels, state.demand_at(shared, number)
    count = kernels.forward(A, own, shared, number)
    low, high = state.bounds(shared.ranges, number // AT_ONCE, depth.size)
    for v in range(low, high):
        depth[v] = NOWHERE
    kept.extended[place] = count < 0
    if count < 0:
        kernels.forget(sigma, queue, levels[1 - count, state.BEGINS])
        paths[:] = 0.0
        state.extended(shared, number)
        return
    for level in range(count):
        for i in range(levels[level, state.BEGINS], levels[level + 1, state.BEGINS]):
            depth[queue[i]], paths[queue[i]] = level, sigma[queue[i]]
    found, due, ends = kernels.backward(A, own, shared, demand, count, shares, sigma[:0])
    for i in range(1, levels[count, state.BEGINS]):
        shares[queue[i]] = -sigma[queue[i]]
    kernels.forget(sigma, queue, levels[count, state.BEGINS])
    shared.certificate[number, 0], shared.certificate[number, 1] = found + ends, due + ends


@outer
def solve_sources(A, own, shared):
    A, own, shared = asm.uncounted(A), asm.uncounted(own), asm.uncounted(shared)
    kernels.forget(own.sigma, own.queue, own.sigma.size)
    while True:
        number, stop = next_batch(shared.control, 1, shared.sources.size)
        if number == stop:
            return
        solve(A, own, shared, number)


@inner
def put_beside(kept, count, low, high):
    """Interleave the stored arrays of the vertices [low, high) for the first `count` sources."""
    noinline()
    depth, shares, beside, levels = kept.depth, kept.shares, kept.beside, kept.levels
    for s in range(AT_ONCE):
        stored = s < count and not kept.extended[s]
        for v in range(low, high):
            levels[v, s] = depth[s, v] if stored else NOWHERE
            if stored:
                beside[v, s] = shares[s, v]


@inner
def extended_flow(kept, u, v):
    noinline()
    flow = 0.0
    for s in range(AT_ONCE):
        if kept.extended[s] and kept.depth[s, v] == kept.depth[s, u] + 1:
            lower = min(0, kept.exponent[s, u] - kept.exponent[s, v])
            flow += kept.paths[s, u] * kept.shares[s, v] * two_to(lower)
    return flow


@inner
def add_rows(A, kept, total, low, high, some_extended):
    """The flows of all sources through the arcs of the rows [low, high)."""
    noinline()
    indptr, indices, beside, levels = A.indptr, A.indices, kept.beside, kept.levels
    paths, further = np.empty(AT_ONCE), np.empty(AT_ONCE, np.int32)
    for u in range(np.uint64(low), np.uint64(high)):
        for s in range(AT_ONCE):
            further[s] = levels[u, s] + np.int32(1)
            paths[s] = kept.paths[s, u] if further[s] > 0 else 0.0
        for j in range(np.uint64(indptr[u]), np.uint64(indptr[u + U1])):
            v = np.uint64(indices[j])
            flow = asm.dot_where_equal(v, paths, beside, levels, further)
            if some_extended:
                flow += extended_flow(kept, u, v)
            total[j] += flow


@outer
def add_flows(A, kept, count, total, control, first, end, size, board):
    """Interleave `end` vertices if count > 0, else add up rows (−1: some are extended); the last one reports it."""
    A, kept = asm.uncounted(A), asm.uncounted(kept)
    while True:
        low = asm.atomic_add(board, NEXT_CHUNK, size)
        if low >= end:
            return
        high = low + size if low + size < end else end
        if count > 0:
            put_beside(kept, count, first + low, first + high)
        else:
            add_rows(A, kept, total, first + low, first + high, count < 0)
            if asm.ordered_add(board, FOUND, high - low) + high - low == end:
                asm.ordered_add(control, FINISHED, 1)


class EdgeAccumulation(Accumulation):
    """Sums of flows through arcs, if levels are pulled. A block contains the sources stored at a time."""

    kernel = property(lambda self: solve_sources)
    at_once = AT_ONCE

    def __init__(self, loaded, job, plan, threads):
        super().__init__(loaded, job, plan, threads)
        self._threads, arrays = thread_count(threads), kept_arrays(loaded.n)
        limit, fixed = job.memory_limit, total(arrays) - arrays["exponent"].nbytes
        each = self.bytes_per_worker(loaded.n, loaded.m, loaded.n, False)
        workers_within(limit, 1, each + fixed)  # or raises an error
        self.workers = workers_within(limit and limit - fixed, min(self._threads, len(job.sources)), each)
        self._limits = self._limits._replace(edges=False)  # the search from a source is the same as for vertices

    @staticmethod
    def bytes_per_worker(n, m, width, edges):
        return Accumulation.bytes_per_worker(n, m, n, False)

    def _extended(self, shared, number):
        kept, place, unused = shared.kept, number % AT_ONCE, np.empty(self._n)
        scaled = kept.depth[place], kept.paths[place], kept.exponent[place], kept.shares[place]
        given = np.empty(self._n, np.uint32), unused, unused[:0], *scaled
        found, due, ends = kernels.extended_source(self.A, shared, number, *given)
        shared.certificate[number] = found + ends, due + ends
        return 0

    def advance(self, first, poll):
        if first >= self.blocks:
            return first
        kept = self._loaded.spare("flows") or Kept(**allocate(kept_arrays(self._n)))
        sources, indptr = self.job.sources, self._loaded.graph.indptr
        for block in range(first, self.blocks):
            begin, end = block * self.size, min((block + 1) * self.size, len(sources))
            low, high = map(int, state.bounds.py_func(self._ranges, block, self._n))
            rows, work = high - low, max(high - low, int(indptr[high] - indptr[low]))
            kept.extended[:] = False
            self._control = control = new_control(state.READY)
            control[NEXT_BATCH], control[FINISHED] = begin, block
            given = sources[:end], *self._demand, self._copies, kept, self.certificate
            shared = SharedState(*given, control, self._rule, self._limits, self._ranges)
            # At least one block, so that a caller that always pauses makes progress.
            self._run(shared, lambda done, block=block: poll(done) and block > first)
            if control[NEXT_BATCH] < end:
                break
            for count in (end - begin, -int(kept.extended.any())):
                given = self.A, kept, count, self.total, control, low
                share(add_flows, given, rows, work, self._threads, ROWS_PER_CHUNK)
            if poll(self.done):
                break
        self._leave("flows", kept, sum(array.nbytes for array in kept) - kept.exponent.nbytes)
        return self.done
