"""Betweenness runs whose sources or pairs are split among ranks that all have the whole graph.

Every rank computes a block in each of a few rounds, and ranks share their errors after each round. Then the sums of all
ranks are added, and every rank gets the total. All ranks decide from that total, so that they stop, or continue, at the
same point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hopwave.algorithms import brandes
from hopwave.algorithms.betweenness_sampling.paths import PathRun
from hopwave.algorithms.brandes import SourceRun
from hopwave.algorithms.checkpoint import File
from hopwave.api.betweenness_request import Runs
from hopwave.distributed.ranks import World
from hopwave.graph import Graph
from hopwave.planning.jobs import Accumulation, BetweennessJob, Floats, Integers, PathSampling, Progress
from hopwave.system.progress import Meter

ROUNDS = 4  # most rounds of a run: each ends with an exchange, and an error on one rank waits for the others until then
LEAST_BLOCK = 16  # sources of a block, at least, because an engine allocates arrays for each block


def in_rounds(world: World, count: int, work: Callable[[int, int], None], least: int = LEAST_BLOCK) -> None:
    """Call work(begin, end) for this rank's blocks of `count` items; all ranks raise the error of one."""
    rounds = max(1, min(ROUNDS, count // (least * world.size)))
    step = -(-count // (rounds * world.size))
    for first in range(0, count, step * world.size):
        begin = min(first + world.rank * step, count)
        end = min(begin + step, count)
        world.together(lambda begin=begin, end=end: work(begin, end) if begin < end else None)  # type: ignore[misc]


@dataclass(kw_only=True)
class SplitRuns(Runs):
    """Runs whose sources or pairs are split among all ranks."""

    world: World

    def over_sources(self, job: BetweennessJob) -> SourceRun:
        """The run that sums over the sources of the job, on all ranks."""
        return SplitSources(**vars(super().over_sources(job)), world=self.world)

    def over_batches(self, graph: Graph, job: BetweennessJob, run: Any) -> Accumulation:
        """A run over the core of the graph of a reduced job, on all ranks."""
        return SplitBatches(self.world, run, self.threads or 1)

    def over_paths(self, job: BetweennessJob) -> PathRun:
        """The run that draws random paths, on all ranks."""
        return SplitPathRun(**vars(self.world.together(lambda: Runs.over_paths(self, job))), world=self.world)


@dataclass(kw_only=True)
class SplitSources(SourceRun):
    """A run with the sources of a job split among all ranks."""

    world: World

    def add_up(
        self, job: BetweennessJob, title: str, progress: Progress, checkpoint: File = None, fetch: bool = True
    ) -> tuple[Floats, brandes.Certificate]:
        """The sums over all sources of the job, and their certificate. Rank 0 shows progress. No checkpoints."""
        assert checkpoint is None
        graph = self.graph
        total = np.zeros(graph.m if job.edges else graph.n * (2 if job.squares else 1))
        worst, shown = 0.0, progress if isinstance(progress, bool | None) and self.world.rank == 0 else False

        def work(begin: int, end: int) -> None:
            nonlocal worst
            block = replace(job, sources=job.sources[begin:end])
            sums, found = SourceRun.add_up(self, block, title, False)
            worst = max(worst, found.error)
            total[:] += sums
            meter.update(end)

        with Meter(title, len(job.sources), shown) as meter:
            in_rounds(self.world, len(job.sources), work)
        sums = self.world.allreduce(total)
        return sums, brandes.Certificate(max(self.world.allgather(worst)), brandes.TOLERANCE, len(job.sources))


class SplitBatches:
    """See planning.jobs.Accumulation. Ranks share out the batches of a run over the core of a graph."""

    def __init__(self, world: World, run: Any, threads: int) -> None:
        self.size, self.blocks, self.certificate, self.total = run.size, run.blocks, run.certificate, run.total
        self.done, self._world, self._run, self._threads = 0, world, run, threads

    def advance(self, first: int, poll: Callable[[int], bool]) -> int:
        """All batches. No rank pauses alone, so what poll returns is ignored."""
        found, too_many = np.zeros_like(self.total), 0

        def work(begin: int, end: int) -> None:
            nonlocal too_many
            try:
                found[:] += self._run.batches(begin, end)
            except OverflowError:
                too_many = 1
            poll(end)

        in_rounds(self._world, self.blocks, work, self._threads)
        if self._world.total(too_many):
            raise OverflowError("a number of shortest paths in the core outgrew float64")
        self.total, self.done = self._world.allreduce(found), self.blocks
        return self.done


@dataclass(frozen=True, kw_only=True)
class SplitPathRun(PathRun):
    """A run with the pairs split among all ranks."""

    world: World

    def begin(self, start: int) -> PathSampling:
        """A run over the random pairs of the seed `start`."""
        return SplitPaths(self.world, self.world.together(lambda: PathRun.begin(self, start)))


class SplitPaths:
    """See planning.jobs.PathSampling. Pairs are numbered and counts are integers: ranks do not change the result."""

    def __init__(self, world: World, run: PathSampling) -> None:
        self.done, self._world, self._run = 0, world, run
        self.counts: Integers = np.zeros_like(run.counts)
        self.sums: Integers = np.zeros_like(run.sums)

    def advance(self, until: int, poll: Callable[[int], bool]) -> int:
        """Sample pairs up to number `until`. No rank pauses alone, so what poll returns is ignored."""
        first, run = self.done, self._run
        if until <= first:
            return first

        def work(begin: int, end: int) -> None:
            run.done = first + begin
            while run.done < first + end:
                run.advance(first + end, lambda done: False)
            poll(first + end)

        in_rounds(self._world, until - first, work)
        found = self._world.allreduce(np.concatenate([run.counts, run.sums]))
        self.counts += found[: len(self.counts)]
        self.sums += found[len(self.counts) :]
        run.counts[:] = 0
        run.sums[:] = 0
        self.done = until
        return until
