"""Sums of dependencies on the CPU: sources dealt to workers in blocks, results added up in the blocks' order."""

from __future__ import annotations

import threading

import numpy as np

from hopwave.engines.cpu.betweenness import source as kernels
from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.crew import thread_count, workers
from hopwave.engines.host_memory import available_memory
from hopwave.errors import EngineError, amount
from hopwave.plan import Pull

NO_CUTOFF = np.iinfo(np.int32).max
POLL_SECONDS = 0.05
FLAT_DEGREE = 7.0  # meshes and roads have a lower mean degree, and no frontier that a pull would be cheaper for


def block_size(sources):
    """Sources a block; a function of their number alone, so that threads change no result."""
    return max(1, min(32, sources // 256))


class Accumulation:
    """A run over many sources that can stop after any block and go on. `total` is what the first blocks summed to."""

    def __init__(self, loaded, job, plan, threads):
        self.job = job
        n, m = loaded.n, loaded.m
        width = m if job.edges else n * (2 if job.squares else 1)
        size = block_size(len(job.sources))
        self.blocks = -(-len(job.sources) // size)
        self.size = size
        self.total = np.zeros(width)
        self.certificate = np.zeros((len(job.sources), 2))
        self.done = self.extended = 0
        self.workers = self._fitting(min(thread_count(threads), self.blocks), n, m, width, job.memory_limit)
        self.A = loaded.adjacency("any")
        self._limits = np.zeros(9, np.int64)
        self._limits[kernels.CUTOFF] = NO_CUTOFF if job.cutoff is None else job.cutoff
        self._limits[kernels.BLOCK] = size
        self._limits[kernels.ENDPOINTS] = job.endpoints
        self._limits[kernels.EDGES] = job.edges
        self._limits[kernels.SQUARES] = job.squares
        self._limits[kernels.DEGREE_BITS] = loaded.degree_bits
        self._limits[kernels.FINDABLE] = loaded.findable
        self._limits[kernels.PULLS] = 0 if job.edges else self._pulls(plan, loaded)
        self._rule = np.array([plan.rule.code, *plan.rule.parameters()])
        self._n = n
        self._targets = np.empty(0) if job.targets is None else job.targets.astype(np.float64)
        self._desks = []

    @staticmethod
    def _pulls(plan, loaded):
        if len(plan.steps) == 1:
            return 2 * isinstance(plan.steps[0], Pull)
        return 1 if loaded.irregular or loaded.m > FLAT_DEGREE * loaded.n else 0

    @staticmethod
    def _fitting(workers, n, m, width, limit):
        """As many workers as there is memory for; each has its own state, successors and two rows of scores."""
        room = available_memory() if limit is None else limit
        if room is None:
            return max(1, workers)
        each = 40 * n + 4 * m + 16 * width
        share = room if limit is not None else room * 3 // 4
        if each > share:
            raise EngineError(
                f"betweenness of this graph needs {amount(each)} for one worker and may use {amount(share)}; "
                "raise memory_limit=, or use a machine with more memory"
            )
        return max(1, min(workers, share // max(1, each)))

    def advance(self, first, poll):
        """Blocks from number first on, until all are done or poll(done) says pause. Returns how many are done then."""
        self.done = first
        if first >= self.blocks:
            return first
        rows = max(2, min(2 * self.workers, self.blocks))
        control = np.zeros(kernels.READY + rows, np.int64)
        control[kernels.NEXT_BLOCK] = control[kernels.COMMITTED] = first
        limits = self._limits.copy()
        limits[kernels.BLOCKS] = self.blocks
        task = kernels.Task(
            self.job.sources,
            self._targets,
            np.zeros((rows, len(self.total))),
            self.total,
            self.certificate,
            control,
            self._rule,
            limits,
        )
        while len(self._desks) < self.workers:
            self._desks.append(self._desk())
        with compiling(kernels.take_sources):
            team = Team(self.workers)
            workers.call(self.workers, team.work, kernels.take_sources, self.A, self._desks, task)
            try:
                while not team.finished.wait(POLL_SECONDS):
                    if poll(int(control[kernels.COMMITTED])):
                        control[kernels.STOP] |= 1
            except BaseException:  # Ctrl-C: workers finish their block, so that what is committed is whole
                control[kernels.STOP] |= 1
                team.wait()
                raise
            finally:
                self.done = int(control[kernels.COMMITTED])
                self.extended += int(control[kernels.EXTENDED])
        if team.error:
            raise team.error
        return self.done

    def _desk(self):
        n, m = self._n, len(self.A.indices)
        words = len(self.A.padding)
        return kernels.Desk(
            depth=np.empty(n, np.int32),
            sigma=np.empty(n),
            share=np.empty(n),
            queue=np.empty(n + 1, np.uint32),
            starts=np.empty(n + 1, np.int64),
            successors=np.empty(m + 1, np.uint32 if m < 2**32 else np.uint64),
            levels=np.empty((n + 3, 4), np.int64),
            visited=np.empty(words, np.uint64),
            front=np.empty(words, np.uint64),
        )


class Team:
    """Counts its members out, and keeps what went wrong."""

    def __init__(self, members):
        self.error = None
        self.finished = threading.Event()
        self._left = members
        self._lock = threading.Lock()

    def wait(self):
        """Until all are done, through any further Ctrl-C: who left now would save sums that are still being written."""
        while not self.finished.is_set():
            try:
                self.finished.wait()
            except KeyboardInterrupt:
                continue

    def work(self, function, A, desks, task, number):
        try:
            function(A, desks[number - 1], task)
        except BaseException as error:
            self.error = error
            task.control[kernels.STOP] |= kernels.FAILED
        with self._lock:
            self._left -= 1
            if not self._left:
                self.finished.set()
