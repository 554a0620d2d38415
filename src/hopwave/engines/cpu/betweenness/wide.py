"""Betweenness with all threads on one source: where sources are fewer than threads, and on huge graphs.

The way forward is a search that counts paths, the way back goes over its levels. Every sum that is rounded is in the
order of a row, so the number of threads changes no bit. Neither does the choice between this and one source per thread
(betweenness/run.py), which adds in that order, too, where path counts pass 2^53 and sources may be few
(policy.adds_along_rows).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hopwave.engines.cpu import policy
from hopwave.engines.cpu.betweenness import wide_kernels as kernels
from hopwave.engines.cpu.betweenness.run import NO_CUTOFF, Accumulation
from hopwave.engines.cpu.betweenness.wide_levels import LEVEL_COLUMNS, SUM_COLUMNS, WideState
from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.crew import new_board, thread_count
from hopwave.engines.cpu.search.state import BUFFER_CELLS
from hopwave.engines.cpu.team import helped
from hopwave.engines.cpu.views import new_array


class WideAccumulation:
    """As Accumulation; every block is one source."""

    def __init__(self, loaded, job, plan, threads):
        n = loaded.n
        self.loaded, self.job, self.plan = loaded, job, plan
        self.blocks, self.size, self.extended = len(job.sources), 1, 0
        Accumulation._fitting(1, n, 0, n, job.memory_limit)  # or an error
        worth = n // policy.VERTICES_PER_THREAD + loaded.m // policy.ARCS_PER_WIDE_THREAD
        self.workers = max(1, min(thread_count(threads), worth, policy.MAX_TEAM + 1))
        self.total = np.zeros(n) if job.memory_limit is not None else loaded.sums()
        self.certificate = np.zeros((self.blocks, 2))
        self._done = np.zeros(2, np.int64)  # counted by compiled code, so that Ctrl-C finds it and the total agreeing
        self._limits = np.zeros(kernels.LIMIT_CELLS, np.int64)
        self._limits[kernels.CUTOFF] = NO_CUTOFF if job.cutoff is None else min(job.cutoff, NO_CUTOFF)
        self._limits[kernels.THREADS] = self.workers
        self._limits[kernels.ENDPOINTS] = job.endpoints
        self._limits[kernels.DEGREE_BITS] = loaded.degree_bits
        self._limits[kernels.FINDABLE] = loaded.findable
        self._limits[kernels.PULLS] = policy.pulls_of(plan, loaded)
        self._limits[kernels.BUCKET_BITS] = policy.bucket_bits(n)
        self._rule = np.array([plan.rule.code, *plan.rule.parameters()])
        self._state = None

    done = property(lambda self: int(self._done[kernels.DONE]))

    def advance(self, first, poll):
        self._done[kernels.DONE] = first
        for number in range(first, self.blocks):
            if number > first and poll(number):  # at least one source, so that a caller who always pauses advances
                return number
            self._add(number)
        if self._state is not None and self.job.memory_limit is None:
            left, self._state = self._state._replace(total=np.empty(0), targets=np.empty(0)), None
            self.loaded.leave(("wide", self.workers), left, sum(array.nbytes for array in left))
        return self.blocks

    def _add(self, number):
        A, kind = self.loaded.adjacency("any"), kernels.take_part
        if self._state is None:
            self._state = self._reused_state() or self._new_state(A)
        source, helpers = np.int64(self.job.sources[number]), self.workers - 1
        part = A, self._state, new_board(), source, self._limits, self._rule, self.certificate[number], self._done
        with compiling(kind), helped(helpers, kind, part, (A.indptr.itemsize, A.in_indptr.itemsize)) as team:
            kind(*part, team, helpers, 0)
        if self._done[kernels.OUTCOME] == kernels.TOO_WIDE:
            self._add_by_one(number)

    def _add_by_one(self, number):
        """Path counts are too large for this way: the source is left to one worker, which knows others."""
        one = replace(self.job, sources=self.job.sources[number : number + 1])
        run = Accumulation(self.loaded, one, self.plan, 1)
        run.advance(0, lambda done: False)
        self.certificate[number] = run.certificate[0]
        self.extended += run.extended
        self.total, self._done = self.total + run.total, np.array([number + 1, 0])
        self._state = self._state._replace(total=self.total)

    def _reused_state(self):
        """The arrays that an earlier run has left, or None."""
        left = self.loaded.spare(("wide", self.workers))
        return left and left._replace(total=self.total, targets=self._targets())

    def _targets(self):
        targets = self.job.targets
        return np.empty(0) if targets is None else targets.astype(np.float64)

    def _new_state(self, A):
        n, words = self.loaded.n, len(A.padding)
        sorted_ = policy.sorted_arcs(self.loaded.m) if self.job.memory_limit is None else 0
        buckets = 1 + (n - 1 >> policy.bucket_bits(n))
        return WideState(
            parent=new_array(n, np.int32),
            queue=new_array(n, np.uint32),
            visited=np.empty(words, np.uint64),
            buffers=np.empty((self.workers, BUFFER_CELLS), np.uint32),
            sigma=new_array(2 * n, np.float64).reshape(2, n),
            total=self.total,
            targets=self._targets(),
            sums=np.zeros((self.workers, SUM_COLUMNS)),
            levels=np.empty((n + 3, LEVEL_COLUMNS), np.int64),
            getters=new_array(sorted_, np.uint32),
            values=new_array(sorted_, np.float64),
            runs=np.empty((buckets, buckets + 1), np.int64),
            cursors=np.empty((self.workers, buckets), np.int64),
            gathered=new_array(n, np.float64),
        )
