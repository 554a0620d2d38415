"""Betweenness with all threads on one source: for huge graphs and few sources.

The way forward is a search that counts paths. The way back goes over its levels, each vertex gathering from its
successors in the order of its row. Nothing is added up by atomics, so the number of threads changes no bit.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hopwave.engines.cpu.betweenness.run import Accumulation
from hopwave.engines.cpu.crew import (
    JOB_CHUNK,
    JOB_DEPTH,
    JOB_END,
    JOB_FLAGS,
    NEXT_CHUNK,
    Helpers,
    close_job,
    dismiss,
    join_job,
    leave_job,
    new_board,
    open_job,
)
from hopwave.engines.cpu.intrinsics import COMPILED, INNER, ONE, atomic_add, noinline, prefetch
from hopwave.engines.cpu.search.loop import gather_chunk
from hopwave.engines.cpu.search.state import OVERFLOWED, QUEUE_END, SEGMENTS
from hopwave.jobs import Question
from hopwave.machine_code import njit

GATHER_BACK = np.int64(1)  # the only kind of job here
ZERO = np.int64(0)


@njit(**INNER)
def gather_back(A, W, share, delta, targets, board):
    """One worker's part of a level: δ(u) = σ(u) Σ share(v) over the out-neighbours one level down.

    The job's depth is that of the level below, 0 for the last level; its flags are the power of two by which shares
    are scaled for the level above.
    """
    noinline()
    indptr, indices, queue, distance, sigma = A.indptr, A.indices, W.queue, W.distance, W.sigma
    end, size, below = board[JOB_END], board[JOB_CHUNK], np.int32(board[JOB_DEPTH])
    factor = 2.0 ** np.float64(board[JOB_FLAGS])
    while True:
        begin = atomic_add(board, NEXT_CHUNK, size)
        if begin >= end:
            return
        for i in range(begin, min(begin + size, end)):
            if i + 16 < end:
                prefetch(indptr, queue[i + 16])
                prefetch(indices, indptr[queue[i + 8]])
            u = queue[i]
            gathered = 0.0
            if below > 0:
                for j in range(np.int64(indptr[u]), np.int64(indptr[u + ONE])):
                    v = indices[j]
                    if distance[v] == below:
                        gathered += share[v]
            delta[u] = sigma[u] * gathered
            weight = 1.0 if targets.size == 0 else targets[u]
            share[u] = (weight + delta[u]) / sigma[u] * factor


@njit(**COMPILED)
def walk_back(A, W, share, delta, targets, levels, board, threads, me):
    """From the last level to the first behind the source. levels: where each begins in the queue, and its σ̂'s shift."""
    level, joined = levels.shape[0] - 2, 0
    while True:
        if me == 0:
            if level < 1:
                break
            begin, end = levels[level, 0], levels[level + 1, 0]
            size = gather_chunk(end - begin, threads)
            below = np.int64(level + 1) if level < levels.shape[0] - 2 else ZERO
            shift = levels[level - 1, 1] - levels[level, 1]
            open_job(board, GATHER_BACK, begin, end, size, below, shift, ZERO)
        else:
            joined = join_job(board, joined)
            if joined < 0:
                break
        gather_back(A, W, share, delta, targets, board)
        if me == 0:
            close_job(board)
            level -= 1
        else:
            leave_job(board)
    if me == 0:
        dismiss(board)


class WideAccumulation:
    """As Accumulation; every block is one source."""

    def __init__(self, engine, loaded, job, plan, threads):
        self.engine, self.loaded, self.job, self.plan, self.threads = engine, loaded, job, plan, threads
        self.blocks, self.size, self.extended = len(job.sources), 1, 0
        Accumulation._fitting(1, loaded.n, 0, loaded.n, job.memory_limit)  # or an error
        # Sums, and over how many sources. Replaced together, so that a Ctrl-C finds both old or both new.
        self._state = np.zeros(loaded.n), 0
        self.certificate = np.zeros((self.blocks, 2))
        self._targets = np.empty(0) if job.targets is None else job.targets.astype(np.float64)

    total = property(lambda self: self._state[0])
    done = property(lambda self: self._state[1])

    def advance(self, first, poll):
        self._state = self.total, first
        for number in range(first, self.blocks):
            if number > first and poll(number):  # at least one source, so that a caller who always pauses advances
                return number
            self._state = self.total + self._scores(number), number + 1
        return self.blocks

    def _scores(self, number):
        source, job = int(self.job.sources[number]), self.job
        question = Question(path_counts=True, depth_limit=job.cutoff)
        state = self.engine.start(self.loaded, (source,), question, self.threads)
        delta, share = np.zeros(self.loaded.n), np.empty(self.loaded.n)
        with self.engine.searched(state, self.plan) as W:
            here = state.here
            if here[OVERFLOWED]:
                return self._extended_scores(number)
            segments, end = W.segments[: here[SEGMENTS]], int(here[QUEUE_END])
            levels = np.vstack([segments[:, [0, 2]], [[end, 0]]])
            if levels[-2, 0] == end:  # the last level was looked for and not found
                levels = np.vstack([levels[:-2], [[end, 0]]])
            board, threads = new_board(), state.threads
            part = (state.A, W, share, delta, self._targets, np.ascontiguousarray(levels), board, threads)
            with Helpers(threads - 1, board, walk_back, part):
                walk_back(*part, 0)
            reached = W.queue[1:end].astype(np.int64)
            distance = W.distance[reached].astype(np.float64)
        weight = np.ones(len(reached)) if job.targets is None else self._targets[reached]
        self.certificate[number] = delta.sum(), ((distance - 1) * weight).sum()
        if job.endpoints:
            delta[reached] += weight
            delta[source] += weight.sum()
        return delta

    def _extended_scores(self, number):
        """A level is too wide for one scale: this source is left to one worker, which notices, too."""
        one = replace(self.job, sources=self.job.sources[number : number + 1])
        run = Accumulation(self.loaded, one, self.plan, 1)
        run.advance(0, lambda done: False)
        self.certificate[number] = run.certificate[0]
        self.extended += 1
        return run.total
