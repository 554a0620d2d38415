"""Sums of dependencies on the CPU: workers process blocks of sources; results are added in the order of blocks."""

from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from hopwave.engines.cpu import policy
from hopwave.engines.cpu.betweenness import source as kernels
from hopwave.engines.cpu.betweenness import state
from hopwave.engines.cpu.crew import thread_count
from hopwave.engines.cpu.graph import CpuGraph
from hopwave.engines.cpu.integers import U1
from hopwave.engines.cpu.intrinsics import callback, outer
from hopwave.engines.cpu.views import allocate, unsigned
from hopwave.engines.cpu.workers import FINISHED, NEXT_BATCH, new_control, run_workers, workers_within
from hopwave.engines.ledger import total
from hopwave.graph import Graph
from hopwave.graph.csr import Rows
from hopwave.system.compile_notice import First

FIRST = First(kernels.take_sources)


class Accumulation:
    """A run over many sources that can stop after any block and resume. `total`: the sum of the first blocks."""

    kernel = property(lambda self: kernels.take_sources)
    reuses = True  # whether workers' arrays are cached with the graph, for another run
    at_once = 0  # sources per block; 0: policy.block_size decides

    def __init__(self, loaded, job, plan, threads):
        n, m = loaded.n, loaded.m
        width = m if job.edges else n * (2 if job.squares else 1)
        self.job, self._loaded, self._n = job, loaded, n
        self._copies = state.ALL_ALIKE if job.copies is None else job.copies
        self.size = self.at_once or policy.block_size(job.planned_sources)
        self.blocks = -(-len(job.sources) // self.size)
        self.total = np.zeros(width)
        self.certificate = np.zeros((len(job.sources), 2))
        self.extended = 0
        self._control = new_control()
        each = self.bytes_per_worker(n, m, width, job.edges)
        self.workers = workers_within(job.memory_limit, min(thread_count(threads), self.blocks), each)
        self.A = self._rows(loaded)
        most = 1 if job.copies is None else int(job.copies.max(initial=1))
        self._limits = state.Limits(
            cutoff=state.hop_limit(job.cutoff),
            size=self.size,
            endpoints=bool(job.endpoints),
            edges=bool(job.edges),
            squares=bool(job.squares),
            degree_bits=loaded.degree_bits + (most - 1).bit_length(),
            findable=int(loaded.findable),
            pulls=policy.pulls_of(plan, loaded),
            cached=n <= policy.CACHED_VERTICES,
            along_rows=policy.adds_along_rows(n, m, loaded.flat, job.planned_sources),
            call=0,
        )
        self._rule = np.array([plan.rule.code, *plan.rule.parameters()])
        self._demand = state.demand_of(job)
        self._ranges = columns = state.ranges_of(job, self.size)
        if job.edges or job.squares:
            columns = loaded.graph.indptr[columns].astype(np.uint64) if job.edges else columns[:0]
        self._columns = columns
        self._states = []

    @property
    def done(self):
        """The number of blocks in the sums, counted by the code that adds them: consistent after Ctrl-C."""
        return int(self._control[FINISHED])

    def _rows(self, loaded):
        return loaded.adjacency("any")

    @staticmethod
    @lru_cache(maxsize=64)  # cached: listing the arrays takes as long as a call on a small graph
    def bytes_per_worker(n, m, width, edges):
        """A worker's arrays and two rows of scores; `levels` is not counted, because few of its rows are written."""
        arrays = state.worker_arrays(n, m)
        return total(arrays) - arrays["levels"].nbytes + 16 * width

    def advance(self, first, poll):
        """Process blocks starting at `first`, until all are done or poll(done) is true. Returns the number done."""
        if first >= self.blocks:
            return first
        rows = max(2, min(2 * self.workers, self.blocks))  # two per worker, so that a block may wait for earlier blocks
        control = new_control(state.READY + rows)
        control[NEXT_BATCH] = control[FINISHED] = first
        cells = state.score_cells(self._columns, len(self.total), rows)
        self._control, kept = control, self._loaded.spare(("scores", cells))
        shared = state.SharedState(
            sources=self.job.sources,
            targets=self._demand[0],
            origins=self._demand[1],
            copies=self._copies,
            scores=np.zeros(cells) if kept is None else kept,  # a commit resets its row to 0
            total=self.total,
            certificate=self.certificate,
            control=control,
            rule=self._rule,
            blocks=self.blocks,
            limits=self._limits,
            ranges=self._ranges,
            columns=self._columns,
        )
        self._run(shared, poll)
        self._leave(("scores", *shared.scores.shape), shared.scores, shared.scores.nbytes)
        return self.done

    def _run(self, shared, poll):
        if not self._states:
            self._states = (self.reuses and self._loaded.spare("workers")) or []
        while len(self._states) < self.workers:
            self._states.append(self._worker_state())
        states = self._states[: self.workers]
        try:
            with callback(partial(self._extended, shared), 1) as address:
                shared = shared._replace(limits=shared.limits._replace(call=address))
                run_workers(self.kernel, self.A, states, shared, poll)
        finally:
            self.extended += int(shared.control[state.EXTENDED])
        self._check(shared.control)

    def _extended(self, shared, number):
        """Process a source with exponents, for compiled code."""
        n, rows, sizes = self._n, len(shared.control) - state.READY, (len(shared.scores), len(self.total))
        row = shared.scores[state.row_start(shared.columns, number // self.size, rows, *sizes) :]
        scaled = np.full(n, -1, np.int32), np.zeros(n), np.empty(n, np.int64), np.empty(n)
        given = np.empty(n, np.uint32), row, row[n:] if self.job.squares else row[:0], *scaled
        shared.certificate[number] = kernels.extended_source(self.A, shared, number, *given)[:2]
        return 0

    def _leave(self, kind, arrays, size):
        """Cache arrays for another run, if this run is complete."""
        if not self.reuses or self.done < self.blocks or self.job.memory_limit is not None:
            return
        states, self._states = self._states, []
        one = states[0]  # untouched pages, such as successors of pulled levels, do not count
        recorded = one.successors[: None if self._limits.pulls == policy.PULL_NEVER else 0]
        touched = one.sigma, one.gathered, one.queue, one.starts, recorded
        self._loaded.leave("workers", states, len(states) * sum(array.nbytes for array in touched))
        self._loaded.leave(kind, arrays, size)

    def _check(self, control):
        """Raise an error if a worker found that the job is impossible."""

    def _worker_state(self):
        return state.WorkerState(**allocate(state.worker_arrays(self._n, len(self.A.indices))))


# ------------------------------------------------------------------ the graph numbered by degree


class RenumberedGraph:
    """rank[v] is the new number of v, order[i] the old number of i; loaded is the graph in the new numbers."""

    def __init__(self, graph):
        self.order = np.argsort(-(graph.degrees.astype(np.int64) + graph.in_degrees), kind="stable")
        self.rank = np.empty(graph.n, np.int32)
        self.rank[self.order] = np.arange(graph.n, dtype=np.int32)
        rows = self._numbered(graph.degrees, graph.in_indptr, graph.in_indices)
        columns = self._numbered(graph.in_degrees, graph.indptr, graph.indices) if graph.directed else None
        self.graph = Graph(*rows, directed=graph.directed, transpose=columns and Rows(*columns))
        self.loaded = CpuGraph(self.graph)

    def _numbered(self, degrees, across, entries):
        """Offsets and indices of the renumbered rows, from their transpose; `degrees`: lengths of the old rows."""
        offsets = np.zeros(len(across), across.dtype)
        np.cumsum(degrees[self.order], dtype=offsets.dtype, out=offsets[1:])
        numbered = np.empty_like(entries)
        turn_rows(unsigned(across), unsigned(entries), self.order, self.rank, offsets[:-1].copy(), numbered)
        return offsets, numbered


class RenumberedAccumulation:
    """An accumulation in the new numbers. Between calls of advance, `total` is in the old order."""

    def __init__(self, renumbered, job, plan, threads):
        given = {name: getattr(job, name) for name in ("targets", "origins", "copies")}
        turned = {name: values[renumbered.order] for name, values in given.items() if values is not None}
        inner = replace(job, sources=renumbered.rank[job.sources].astype(np.int64), components=None, **turned)
        self._run = Accumulation(renumbered.loaded, inner, plan, threads)
        self._old = order = renumbered.order
        if job.squares:
            self._old = np.concatenate([order, order + renumbered.loaded.n])
        self.total = np.zeros_like(self._run.total)
        self.blocks, self.size, self.certificate = self._run.blocks, self._run.size, self._run.certificate

    done = property(lambda self: self._run.done)
    extended = property(lambda self: self._run.extended)
    workers = property(lambda self: self._run.workers)

    def advance(self, first, poll):
        np.take(self.total, self._old, out=self._run.total)
        try:
            return self._run.advance(first, poll)
        finally:  # also after Ctrl-C: committed blocks are saved
            self.total[self._old] = self._run.total


@outer
def turn_rows(across, entries, order, rank, cursor, numbered):
    """Append every new number, ascending, to the rows of its neighbours: rows are then sorted, hubs first."""
    for i in range(order.size):
        v = np.uint64(order[i])
        for j in range(np.int64(across[v]), np.int64(across[v + U1])):
            row = np.uint32(rank[entries[j]])
            numbered[np.uint64(cursor[row])] = i
            cursor[row] += 1
