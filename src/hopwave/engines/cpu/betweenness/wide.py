"""Betweenness with the whole crew on one source: for huge graphs and few sources.

The way forward is a search that counts paths; the way back goes over its levels, each vertex gathering from its
successors in the order of its row. Nothing is added up by atomics, so the number of threads changes no bit.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numba import njit

from hopwave.engines.cpu.betweenness.run import Accumulation
from hopwave.engines.cpu.crew import CHUNK, JOB, close_job, crew, dismiss, join_job, leave_job, new_board, open_job
from hopwave.engines.cpu.intrinsics import COMPILED, INNER, ONE, atomic_add, kept_apart, prefetch
from hopwave.engines.cpu.search import loop as search
from hopwave.jobs import Question


@njit(**INNER)
def gather_back(A, W, share, delta, targets, board):
    """One worker's part of a level: δ(u) = σ(u) Σ share(v) over the out-neighbours one level down."""
    kept_apart()
    indptr, indices, queue, distance, sigma = A.indptr, A.indices, W.queue, W.distance, W.sigma
    end, size, below, factor = (
        board[JOB + 1],
        board[JOB + 2],
        np.int32(board[JOB + 3]),
        2.0 ** np.float64(board[JOB + 4]),
    )
    while True:
        begin = atomic_add(board, CHUNK, size)
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
def walk_back(A, W, share, delta, targets, levels, board, size, me):
    """From the last level to the first behind the source. levels: begin in the queue, and the shift of σ̂ there."""
    level, joined = levels.shape[0] - 2, 0
    while True:
        if me == 0:
            if level < 1:
                break
            begin, end = levels[level, 0], levels[level + 1, 0]
            chunk = max(16, min(512, (end - begin) // (8 * size)))
            below = np.int64(level + 1) if level < levels.shape[0] - 2 else np.int64(0)
            shift = levels[level - 1, 1] - levels[level, 1]
            open_job(board, np.int64(1), begin, end, chunk, below, shift, np.int64(0))
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
    """As Accumulation, a block being one source."""

    def __init__(self, engine, loaded, job, plan, threads):
        self.engine, self.loaded, self.job, self.plan, self.threads = engine, loaded, job, plan, threads
        self.blocks, self.size, self.extended = len(job.sources), 1, 0
        Accumulation._fitting(1, loaded.n, 0, loaded.n, job.memory_limit)  # or an error
        # Sums, and of how many sources: one takes the place of the other, so that a Ctrl-C finds both or neither.
        self._state = np.zeros(loaded.n), 0
        self.certificate = np.zeros((self.blocks, 2))
        self._targets = np.empty(0) if job.targets is None else job.targets.astype(np.float64)

    total = property(lambda self: self._state[0])
    done = property(lambda self: self._state[1])

    def advance(self, first, poll):
        self._state = self.total, first
        for number in range(first, self.blocks):
            if number > first and poll(number):  # at least one, so that a caller who always pauses gets on
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
            if here[search.OVERFLOWED]:
                return self._extended_scores(number)
            segments, end = W.segments[: here[search.SEGMENTS]], int(here[search.QUEUE_END])
            levels = np.vstack([segments[:, [0, 2]], [[end, 0]]])
            if levels[-2, 0] == end:  # the last level was looked for and not found
                levels = np.vstack([levels[:-2], [[end, 0]]])
            board, size = new_board(), state.crew
            part = (state.A, W, share, delta, self._targets, np.ascontiguousarray(levels), board, size)
            crew.call(size - 1, walk_back, *part)
            try:
                walk_back(*part, 0)
            finally:
                dismiss(board)  # after a Ctrl-C, too, or the helpers wait for ever
            reached = W.queue[1:end].astype(np.int64)
            distance = W.distance[reached].astype(np.float64)
        weight = np.ones(len(reached)) if job.targets is None else self._targets[reached]
        self.certificate[number] = delta.sum(), ((distance - 1) * weight).sum()
        if job.endpoints:
            delta[reached] += weight
            delta[source] += weight.sum()
        return delta

    def _extended_scores(self, number):
        """A level spans more than float64: the careful way, one thread."""
        one = replace(self.job, sources=self.job.sources[number : number + 1])
        careful = Accumulation(self.loaded, one, self.plan, 1)
        careful.advance(0, lambda done: False)
        self.certificate[number] = careful.certificate[0]
        self.extended += 1
        return careful.total
