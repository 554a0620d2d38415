"""Sampling shortest paths on the CPU: workers take pairs, and their counts are added up at the end of a block."""

import numpy as np

from hopwave.engines.cpu.betweenness import sampled_path_kernels as kernels
from hopwave.engines.cpu.betweenness.state import READY
from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.crew import thread_count
from hopwave.engines.cpu.workers import FINISHED, NEXT_BATCH, new_control, run_workers, workers_within

NO_CUTOFF = np.iinfo(np.int32).max
BYTES_PER_VERTEX = 48  # of one worker's arrays
PAIRS_PER_WORKER = 64  # at least


class PathSampling:
    """See hopwave.planning.jobs.PathSampling. Whole numbers are added up, so that threads and blocks change nothing."""

    kernel = property(lambda self: kernels.take_pairs)

    def __init__(self, loaded, job, threads):
        self.job, self._n, self._threads = job, loaded.n, threads
        # Counts, sums, and of how many pairs. Replaced together, so that a Ctrl-C finds all of them old or new.
        self._state = np.zeros(loaded.n, np.int64), np.zeros(kernels.SUM_CELLS, np.int64), 0
        self._graph = self._rows(loaded)
        self._states = []

    counts = property(lambda self: self._state[0])
    sums = property(lambda self: self._state[1])

    @property
    def done(self):
        """Pairs drawn."""
        return self._state[2]

    @done.setter
    def done(self, pairs):
        self._state = *self._state[:2], pairs

    def _rows(self, loaded):
        A, graph = loaded.adjacency("any"), loaded.graph
        out_bits = int(np.ceil(np.log2(max(2, int(graph.degrees.max(initial=0)) + 1))))
        return kernels.Graph(
            (A.indptr, A.in_indptr),
            (A.indices, A.in_indices),
            (loaded.degree_bits, out_bits),
            graph._order == "ascending",
        )

    def advance(self, until, poll):
        """Pairs up to number `until`, or until poll(done) returns true. Returns how many are done."""
        if until <= self.done:
            return self.done
        workers = min(thread_count(self._threads), (until - self.done) // PAIRS_PER_WORKER)
        workers = workers_within(self.job.memory_limit, workers, self._bytes_per_worker(), "sampling paths")
        while len(self._states) < workers:
            self._states.append(self._worker_state())
        states = self._states[:workers]
        control = new_control(READY)
        control[NEXT_BATCH] = control[FINISHED] = self.done
        shared = kernels.SharedState(control, np.uint64(self.job.start), np.int64(until), self._hop_limit())
        try:
            with compiling(self.kernel):
                run_workers(self.kernel, self._graph, states, shared, poll)
        finally:  # after Ctrl-C, too: workers finished their batches, and batches are taken in order
            counts = self.counts + sum(state.counts for state in states)
            sums = self.sums + sum(state.sums for state in states)
            self._state = counts, sums, int(control[FINISHED])
            for state in states:
                state.counts[:] = 0
                state.sums[:] = 0
        self._check(control)
        return self.done

    def _check(self, control):
        """Raise an error if a worker found that the job cannot be done."""

    def _bytes_per_worker(self):
        return BYTES_PER_VERTEX * self._n

    def _hop_limit(self):
        return np.int64(NO_CUTOFF if self.job.cutoff is None else min(self.job.cutoff, NO_CUTOFF))

    def _worker_state(self):
        n = self._n
        return kernels.WorkerState(
            level=np.zeros(n, np.int32),
            sigma=np.empty(n),
            exponent=np.empty(n, np.int64),
            queues=(np.empty(n, np.uint32), np.empty(n, np.uint32)),
            here=np.zeros((2, kernels.HERE_CELLS), np.int64),
            before=np.empty(n),
            path=np.empty(n, np.uint32),
            counts=np.zeros(n, np.int64),
            sums=np.zeros(kernels.SUM_CELLS, np.int64),
        )
