"""Edge betweenness on the CPU: sources as for vertices, 16 at a time; then one pass over all arcs adds up their flows.

What one source sends through an arc u → v that leads one level further is σ̂(u) times the share of v (state.py). Workers
keep σ̂, shares and levels of 16 sources. Then they put the shares of each vertex side by side, and its levels into one
word: it tells for which sources an arc leads further. At last they share the rows: an arc's sum is read and written
once per 16 sources, whose flows are added in their order. No bit depends on the number of threads, or on who did a
block.

Counts that float64 does not hold are kept as mantissa and exponent, per vertex, and the exponents are put together when
flows are formed.
"""

from collections import namedtuple

import numpy as np

from hopwave.engines.cpu import policy
from hopwave.engines.cpu.betweenness import state
from hopwave.engines.cpu.betweenness.run import Accumulation
from hopwave.engines.cpu.betweenness.source import backward, extended_source, forget, forward
from hopwave.engines.cpu.crew import thread_count
from hopwave.engines.cpu.integers import ONE, U0, U1
from hopwave.engines.cpu.intrinsics import (
    atomic_add,
    compare_and_swap,
    inner,
    noinline,
    ordered_add,
    ordered_load,
    ordered_store,
    outer,
    pause,
    prefetch,
    trailing_zeros,
    uncounted,
)
from hopwave.engines.cpu.path_counts import two_to
from hopwave.engines.cpu.views import allocate
from hopwave.engines.cpu.workers import FAILED, FINISHED, NEXT_BATCH, STOP, new_control
from hopwave.engines.ledger import declare

AT_ONCE = policy.SOURCES_OF_FLOWS
ROWS_PER_CHUNK = 512

WIDTH, LINE, AHEAD = np.uint64(AT_ONCE), np.uint64(8), np.uint64(8)  # numbers of a vertex, and of a line; arcs
U16, U32, U48 = np.uint64(16), np.uint64(32), np.uint64(48)
SOURCES = np.uint64((1 << AT_ONCE) - 1)
FEW = 4  # sources whose flows are added up one by one

# Cells of control: sources that are done; chunks of vertices whose numbers are being put side by side, taken and done;
# chunks of rows whose flows are being added up, taken and done.
SOLVED, TURNING, TURNED, TAKEN, ADDED = range(state.READY, state.READY + 80, 16)
CELLS = state.READY + 80

# What is kept of each source: σ̂ and shares (mantissas where counts are extended), levels, exponents, whether extended;
# and of each vertex its shares, and by its level modulo 4 the sources that reach it: 16 bits for each of the four.
Kept = namedtuple("Kept", "paths shares depth exponent extended beside classes")
SharedState = namedtuple(
    "SharedState", "sources targets origins copies kept total certificate control rule blocks limits"
)


def kept_arrays(n):
    """The arrays of Kept. Pages of exponents that nobody writes to cost nothing."""
    return (
        declare(np.float64, huge=True, paths=(AT_ONCE, n), shares=(AT_ONCE, n), beside=n * AT_ONCE)
        | declare(np.int32, huge=True, depth=(AT_ONCE, n))
        | declare(np.uint64, huge=True, classes=n)
        | declare(np.int32, exponent=(AT_ONCE, n))
        | declare(np.uint8, extended=AT_ONCE)
    )


@inner
def keep_levels(own, count, paths, depth):
    """σ̂ and level of every vertex that was reached; the level of others is -1."""
    noinline()
    depth[:] = -1
    for level in range(count):
        for i in range(own.levels[level, state.BEGINS], own.levels[level + 1, state.BEGINS]):
            v = own.queue[i]
            depth[v] = level
            paths[v] = own.sigma[v]


@inner
def solve(A, own, shared, number, row):
    """One source: what is kept of it, and both sides of its certificate. row: n numbers that nobody reads."""
    kept, place, source = shared.kept, number % AT_ONCE, shared.sources[number]
    paths, shares, depth = kept.paths[place], kept.shares[place], kept.depth[place]
    kept.extended[place] = 0
    demand = state.demand_at(shared, number)
    count = forward(A, own, shared, source)
    if count < 0:
        forget(own.sigma, own.queue, own.levels[1 - count, state.BEGINS])
        atomic_add(shared.control, state.EXTENDED, 1)
        kept.extended[place] = 1
        exponent = kept.exponent[place]
        found, due = extended_source(A, own, shared, demand, source, row, row[:0], depth, paths, exponent, shares)
    else:
        keep_levels(own, count, paths, depth)
        found, due = backward(A, own, shared, demand, count, row, row[:0])
        for i in range(1, own.levels[count, state.BEGINS]):
            shares[own.queue[i]] = -own.sigma[own.queue[i]]
        forget(own.sigma, own.queue, own.levels[count, state.BEGINS])
    ends = 0.0  # what every vertex passes on for itself
    for v in range(depth.size):
        if depth[v] > 0:
            ends += state.counts(demand, shared.targets, v)
    shared.certificate[number, 0], shared.certificate[number, 1] = found + ends, due + ends


@inner
def put_beside(kept, sources, low, high):
    """The shares of the vertices [low, high), side by side, and one bit for each source that reaches them."""
    noinline()
    kept.classes[low:high] = U0
    for s in range(sources):
        for v in range(low, high):
            level = kept.depth[s, v]
            if level >= 0:
                kept.beside[v * AT_ONCE + s] = kept.shares[s, v]
                kept.classes[v] |= U1 << np.uint64((level & 3) * AT_ONCE + s)


@inner
def add_flows(A, kept, total, directed, low, high):
    """The flows of all sources, through the arcs of the rows [low, high).

    Of two neighbours, levels differ by one at most, so that levels modulo 4 tell which leads further; in a directed
    graph an arc may also lead back by more, and the levels themselves are compared. Shares are fetched some arcs ahead:
    how many are used is chance, and a wrong guess of the processor ends what it would have fetched by itself.
    """
    noinline()
    indptr, indices, beside, classes = A.indptr, A.indices, kept.beside, kept.classes
    sigma, depth = np.empty(AT_ONCE), np.empty(AT_ONCE, np.int32)
    last = np.uint64(max(indices.size, 1) - 1)
    for u in range(np.uint64(low), np.uint64(high)):
        here = classes[u]
        if here == U0:
            continue
        for s in range(AT_ONCE):
            sigma[s], depth[s] = kept.paths[s, u], kept.depth[s, u]
        for j in range(np.uint64(indptr[u]), np.uint64(indptr[u + U1])):
            v, later = np.uint64(indices[j]), np.uint64(indices[min(j + AHEAD, last)]) * WIDTH
            prefetch(beside, later)
            prefetch(beside, later + LINE)
            there = classes[v]
            both = here & ((there >> U16) | (there << U48))
            both |= both >> U32
            both = (both | (both >> U16)) & SOURCES
            flow = 0.0
            while both != U0:
                s = trailing_zeros(both)
                both &= both - U1
                if not directed or kept.depth[s, v] == depth[s] + 1:
                    flow += sigma[s] * beside[v * WIDTH + s]
            total[j] += flow


@inner
def add_flows_one_by_one(A, kept, sources, total, low, high):
    """The flows of the first `sources` that are kept, through the arcs of the rows [low, high).

    They are summed up before they are added to the total: a block that another process did adds the same bits.
    """
    noinline()
    indptr, indices = A.indptr, A.indices
    begin, end = np.uint64(indptr[low]), np.uint64(indptr[high])
    flows = np.zeros(np.int64(end - begin))
    for s in range(sources):
        paths, shares, depth, exponent = kept.paths[s], kept.shares[s], kept.depth[s], kept.exponent[s]
        extended = kept.extended[s]
        for u in range(np.uint32(low), np.uint32(high)):
            if depth[u] < 0:
                continue
            further, sigma = depth[u] + np.int32(1), paths[u]
            for j in range(np.uint64(indptr[u]), np.uint64(indptr[u + ONE])):
                v = indices[j]
                if depth[v] == further:
                    flow = sigma * shares[v]
                    if extended:
                        flow *= two_to(min(0, np.int64(exponent[u]) - np.int64(exponent[v])))
                    flows[j - begin] += flow
    for j in range(begin, end):
        total[j] += flows[j - begin]


@inner
def add_block(A, shared, block):
    """Take chunks of rows for a block whose sources are all done, until none remains. Returns whether one was."""
    control, n = shared.control, A.indptr.size - 1
    sources = min(AT_ONCE, shared.sources.size - block * AT_ONCE)
    if ordered_load(control, SOLVED) < block * AT_ONCE + sources:
        return False
    chunks = (n + ROWS_PER_CHUNK - 1) // ROWS_PER_CHUNK
    together = sources >= FEW and not shared.kept.extended[:sources].any()
    any_taken = False
    while together:
        chunk = ordered_load(control, TURNING)
        if chunk >= (block + 1) * chunks:
            break
        if compare_and_swap(control, TURNING, chunk, chunk + 1):
            any_taken = True
            low = (chunk - block * chunks) * ROWS_PER_CHUNK
            put_beside(shared.kept, sources, low, min(low + ROWS_PER_CHUNK, n))
            ordered_add(control, TURNED, 1)
    if together and ordered_load(control, TURNED) < (block + 1) * chunks:
        return any_taken
    while True:
        chunk = ordered_load(control, TAKEN)
        if chunk >= (block + 1) * chunks:
            return any_taken
        if compare_and_swap(control, TAKEN, chunk, chunk + 1):
            any_taken = True
            low = (chunk - block * chunks) * ROWS_PER_CHUNK
            high = min(low + ROWS_PER_CHUNK, n)
            if together:
                add_flows(A, shared.kept, shared.total, shared.limits.directed, low, high)
            else:
                add_flows_one_by_one(A, shared.kept, sources, shared.total, low, high)
            if ordered_add(control, ADDED, 1) + 1 == (block + 1) * chunks:
                ordered_store(control, TURNING, (block + 1) * chunks)  # also where none was
                ordered_store(control, TURNED, (block + 1) * chunks)
                ordered_store(control, FINISHED, block + 1)


@outer
def take_edge_sources(A, own, shared):
    """A worker: sources one by one; after each 16 all workers add up their flows, before the next are begun."""
    A, own, shared = uncounted(A), uncounted(own), uncounted(shared)
    control, sources = shared.control, shared.sources.size
    n = own.sigma.size
    row = np.zeros(n)
    forget(own.sigma, own.queue, n)
    while True:
        number = sources if ordered_load(control, STOP) != 0 else atomic_add(control, NEXT_BATCH, 1)
        last = number // AT_ONCE if number < sources else shared.blocks
        while ordered_load(control, FINISHED) < last:
            block = ordered_load(control, FINISHED)
            if not add_block(A, shared, block):
                stopped = ordered_load(control, STOP)
                solved = min((block + 1) * AT_ONCE, sources)
                if stopped & FAILED or (stopped != 0 and ordered_load(control, SOLVED) < solved):
                    return  # that block will not be done; nothing of it is in the sums
                pause()
        if number >= sources:
            return
        solve(A, own, shared, number, row)
        ordered_add(control, SOLVED, 1)


class EdgeAccumulation(Accumulation):
    """Sums of flows through arcs. A block is what is kept at once; see betweenness/run.Accumulation."""

    kernel = property(lambda self: take_edge_sources)

    def __init__(self, loaded, job, plan, threads):
        super().__init__(loaded, job, plan, threads)
        self.workers = max(1, min(thread_count(threads), len(job.sources)))
        self._limits = self._limits._replace(edges=False, pulls=policy.pulls_of(plan, loaded))  # as for vertices

    def advance(self, first, poll):
        """See the base class."""
        if first >= self.blocks:
            return first
        control = new_control(CELLS)
        control[NEXT_BATCH] = control[SOLVED] = first * AT_ONCE
        control[[TURNING, TURNED, TAKEN, ADDED]] = first * -(-self._n // ROWS_PER_CHUNK)
        control[FINISHED] = first
        self._control = control
        kept = self._loaded.spare("flows") or Kept(**allocate(kept_arrays(self._n)))
        given = self.job.sources, *self._demand, self._copies
        sums = kept, self.total, self.certificate, control
        shared = SharedState(*given, *sums, self._rule, self.blocks, self._limits)
        self._run(shared, poll)
        self._loaded.leave("flows", kept, sum(array.nbytes for array in kept) - kept.exponent.nbytes)
        return self.done

    def _leave_scores(self, shared):
        """There are none."""
