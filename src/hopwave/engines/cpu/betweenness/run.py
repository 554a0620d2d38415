"""Sums of dependencies on the CPU: workers take blocks of sources; results are added up in the order of the blocks."""

from functools import lru_cache

import numpy as np

from hopwave.engines.cpu import policy
from hopwave.engines.cpu.betweenness import source as kernels
from hopwave.engines.cpu.betweenness import state
from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.crew import thread_count
from hopwave.engines.cpu.views import allocate, allocated
from hopwave.engines.cpu.workers import FINISHED, NEXT_BATCH, new_control, run_workers, workers_within
from hopwave.engines.ledger import total

NO_CUTOFF = np.iinfo(np.int32).max


class Accumulation:
    """A run over many sources that can stop after any block and go on. `total` is what the first blocks summed to."""

    kernel = property(lambda self: kernels.take_sources)
    reuses = True  # whether workers' arrays are left with the graph, to another run

    def __init__(self, loaded, job, plan, threads):
        n, m = loaded.n, loaded.m
        width = m if job.edges else n * (2 if job.squares else 1)
        self.job, self._loaded, self._n = job, loaded, n
        self._copies = state.ALL_ALIKE if job.copies is None else job.copies
        self.size = policy.block_size(job.planned_sources, flows=job.edges and not job.weighted and not loaded.flat)
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
            cutoff=self._hop_limit(),
            size=self.size,
            endpoints=bool(job.endpoints),
            edges=bool(job.edges),
            squares=bool(job.squares),
            degree_bits=loaded.degree_bits + (most - 1).bit_length(),
            findable=int(loaded.findable),
            pulls=policy.pulls_of(plan, loaded, job.edges),
            cached=n <= policy.CACHED_VERTICES,
            along_rows=policy.adds_along_rows(n, m, loaded.flat, job.planned_sources),
            directed=bool(loaded.graph.directed),
        )
        self._rule = np.array([plan.rule.code, *plan.rule.parameters()])
        self._demand = state.demand_of(job)
        self._states = []

    @property
    def done(self):
        """How many blocks are in the sums, counted by the code that adds them: Ctrl-C finds both agreeing."""
        return int(self._control[FINISHED])

    def _rows(self, loaded):
        """The graph as the kernel reads it."""
        return loaded.adjacency("any")

    def _hop_limit(self):
        return NO_CUTOFF if self.job.cutoff is None else min(self.job.cutoff, NO_CUTOFF)

    @staticmethod
    @lru_cache(maxsize=64)  # a call on a small graph takes no longer than the list of its arrays
    def bytes_per_worker(n, m, width, edges):
        """A worker's arrays and two rows of scores; `levels` does not count, since few of its rows are written."""
        arrays = state.worker_arrays(n, m)
        return total(arrays) - arrays["levels"].nbytes + 16 * width

    def advance(self, first, poll):
        """Blocks from number first on, until all are done or poll(done) returns true. Returns how many are done."""
        if first >= self.blocks:
            return first
        rows = state.scores_array(len(self.total), self.workers, self.blocks)
        control = new_control(state.READY + rows.shape[0])
        control[NEXT_BATCH] = control[FINISHED] = first
        self._control, kept = control, self._loaded.spare(("scores", *rows.shape))
        shared = state.SharedState(
            sources=self.job.sources,
            targets=self._demand[0],
            origins=self._demand[1],
            copies=self._copies,
            scores=allocated(rows) if kept is None else kept,  # zeros; whoever commits a block sets its row back
            total=self.total,
            certificate=self.certificate,
            control=control,
            rule=self._rule,
            blocks=self.blocks,
            limits=self._limits,
        )
        self._run(shared, poll)
        return self.done

    def _run(self, shared, poll):
        """Workers, from where the control cells say, until all is done or poll returns true."""
        if not self._states:
            self._states = (self.reuses and self._loaded.spare("workers")) or []
        while len(self._states) < self.workers:
            self._states.append(self._worker_state())
        states = self._states[: self.workers]
        try:
            with compiling(self.kernel):
                run_workers(self.kernel, self.A, states, shared, poll)
        finally:
            self.extended += int(shared.control[state.EXTENDED])
        self._check(shared.control)
        if self.reuses and self.done == self.blocks and self.job.memory_limit is None:
            self._leave_states()
            self._leave_scores(shared)

    def _leave_states(self):
        """Leave workers' arrays to another run."""
        states, self._states = self._states, []
        one = states[0]  # of successors, only those of pushed levels were written
        recorded = one.successors[: None if self._limits.pulls == policy.PULL_NEVER else 0]
        touched = one.sigma, one.gathered, one.queue, one.starts, recorded
        self._loaded.leave("workers", states, len(states) * sum(array.nbytes for array in touched))

    def _leave_scores(self, shared):
        """Leave the rows of blocks to another run."""
        self._loaded.leave(("scores", *shared.scores.shape), shared.scores, shared.scores.nbytes)

    def _check(self, control):
        """Raise an error if a worker found that the job cannot be done."""

    def _worker_state(self):
        return state.WorkerState(**allocate(state.worker_arrays(self._n, len(self.A.indices))))
