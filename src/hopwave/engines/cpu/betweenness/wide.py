"""Betweenness with several threads on one source: where sources are fewer than threads, and on huge graphs.

All threads share one source after another, or, on meshes, whose levels are small, teams of them have a source each.
The way forward is a search that counts paths, the way back goes over its levels. Every sum that is rounded is in the
order of a row, so the number of threads changes no bit. Neither does the choice between this and one source per thread
(betweenness/run.py), which adds in that order, too, where path counts pass 2^53 and sources may be few
(policy.adds_along_rows).
"""

from collections import namedtuple
from dataclasses import replace

import numpy as np

from hopwave.engines.cpu import policy, team
from hopwave.engines.cpu.betweenness import wide_kernels as kernels
from hopwave.engines.cpu.betweenness.run import NO_CUTOFF, Accumulation
from hopwave.engines.cpu.betweenness.state import demand_of
from hopwave.engines.cpu.betweenness.wide_levels import WideState, wide_arrays
from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.crew import new_board, thread_count
from hopwave.engines.cpu.views import allocate
from hopwave.engines.cpu.workers import FINISHED, new_control, run_workers, workers_within
from hopwave.engines.ledger import total

NOTHING = np.empty(0)
Shared = namedtuple("Shared", "control")  # see workers.run_workers


class WideAccumulation:
    """Like Accumulation; every block is one source."""

    def __init__(self, loaded, job, plan, threads):
        n = loaded.n
        self.loaded, self.job, self.plan = loaded, job, plan
        self.blocks, self.size, self.extended = len(job.sources), 1, 0
        threads = thread_count(threads)
        worth = n // policy.VERTICES_PER_THREAD + loaded.m // policy.ARCS_PER_WIDE_THREAD
        together = plan.regime == "wide" or job.memory_limit is not None
        self.teams = 1 if together else policy.sources_at_once(loaded.flat, self.blocks, threads)
        self.workers = max(1, min(threads // self.teams, worth, policy.MAX_TEAM + 1))
        arrays = self._arrays()
        workers_within(job.memory_limit, 1, total(arrays) - arrays["levels"].nbytes + 8 * n)  # or an error
        self.total = np.zeros(n) if job.memory_limit is not None else loaded.sums()
        self.certificate = np.zeros((self.blocks, 2))
        self._done = np.zeros(2, np.int64)  # counted by compiled code, so that Ctrl-C finds it and the total agreeing
        self._limits = kernels.Limits(
            cutoff=NO_CUTOFF if job.cutoff is None else min(job.cutoff, NO_CUTOFF),
            threads=self.workers,
            endpoints=int(job.endpoints),
            degree_bits=loaded.degree_bits,
            findable=int(loaded.findable),
            pulls=policy.pulls_of(plan, loaded),
            bucket_bits=policy.bucket_bits(n),
        )
        self._rule = np.array([plan.rule.code, *plan.rule.parameters()])
        self._targets, self._origins = demand_of(job)
        self._states = []

    done = property(lambda self: int(self._done[kernels.DONE]))

    def advance(self, first, poll):
        self._done[kernels.DONE] = first
        if first < self.blocks and not self._states:
            self._states = self.loaded.spare(self._kind) or [
                WideState(targets=NOTHING, **allocate(self._arrays())) for _ in range(self.teams)
            ]
        while self.done < self.blocks:
            number = self.done
            if number > first and poll(number):  # at least one source, so that a caller who always pauses advances
                return number
            if self.teams == 1:
                self._add(number)
            else:
                self._add_at_once(number, poll)
        if self._states and self.job.memory_limit is None:
            states, self._states = self._states, []
            self.loaded.leave(self._kind, states, len(states) * sum(array.nbytes for array in states[0]))
        return self.blocks

    def _add(self, number):
        """Add one source to the total, all threads on it."""
        state = self._states[0]._replace(total=self.total)
        if not self._work_on(number, state, self._done):
            self._add_by_one(number)

    def _add_at_once(self, number, poll):
        """Add as many sources as there are teams, each by a team of its own; their sums join the total in order."""
        numbers = range(number, min(number + self.teams, self.blocks))
        states = self._states
        counted, control = [False] * len(numbers), new_control()
        control[FINISHED] = number

        def lead(A, i, shared):
            states[i].total.fill(0.0)
            counted[i] = self._work_on(numbers[i], states[i], np.zeros(2, np.int64))

        run_workers(lead, None, range(len(numbers)), Shared(control), poll)
        for i, one in enumerate(numbers):
            if counted[i]:
                kernels.commit(self.total, states[i].total, self._done)
            else:
                self._add_by_one(one)

    def _work_on(self, number, state, done):
        """One team's source, in compiled code. Returns whether its path counts are small enough for this way."""
        A, kind, helpers = self.loaded.adjacency("any"), kernels.take_part, self.workers - 1
        source = np.int64(self.job.sources[number])
        demand = self._origins[number] if self._origins.size else 1.0
        targets = self._targets if self._targets.size or demand == 1.0 else np.ones(self.loaded.n)
        state = state._replace(targets=targets if demand == 1.0 else demand * targets)
        part = A, state, new_board(), source, self._limits, self._rule, self.certificate[number], done
        with compiling(kind):
            team.lead(helpers, kind, part, (A.indptr.itemsize, A.in_indptr.itemsize))
        return done[kernels.OUTCOME] != kernels.TOO_WIDE

    def _add_by_one(self, number):
        """Leave a source whose path counts are too large to one worker, which can scale them."""
        one = replace(self.job, sources=self.job.sources[number : number + 1])
        run = Accumulation(self.loaded, one, self.plan, 1)
        run.advance(0, lambda done: False)
        self.certificate[number] = run.certificate[0]
        self.extended += run.extended
        self.total, self._done = self.total + run.total, np.array([number + 1, 0])

    @property
    def _kind(self):
        """The name under which the arrays of all teams are left to the next run."""
        return "wide", self.teams, self.workers

    def _arrays(self):
        limited = self.job.memory_limit is not None
        return wide_arrays(self.loaded.n, self.loaded.m, self.teams, self.workers, limited)
