"""Random shortest paths, one whole search per pair: what the CPU engine's two short searches must agree with.

It draws the pairs that the CPU engine draws, but other paths, from the same distribution.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from hopwave.engines.reference.betweenness import arcs_of, count_paths, hops, lengths, predecessors
from hopwave.generate.counter import sequence
from hopwave.graph import Graph
from hopwave.planning.jobs import PATH_SUMS, Integers, SampleJob

PAIRS_PER_POLL = 16


class PathSampling:
    """See hopwave.planning.jobs.PathSampling."""

    def __init__(self, graph: Graph, job: SampleJob) -> None:
        self.job = job
        self.done = 0
        self.counts = np.zeros(graph.n, np.int64)
        self.sums = np.zeros(len(PATH_SUMS), np.int64)
        self._graph, self._cutoff = graph, math.inf if job.cutoff is None else job.cutoff
        self._out, self._distances = arcs_of(graph, job.weighted), lengths if job.weighted else hops

    def advance(self, until: int, poll: Callable[[int], bool]) -> int:
        """Draw pairs up to number `until`, or until poll(done) returns true. Returns how many are done."""
        while self.done < until:
            counts, sums = self.counts.copy(), self.sums.copy()
            self._draw(self.done, counts, sums)
            self.counts, self.sums, self.done = counts, sums, self.done + 1  # together: a Ctrl-C finds all old or new
            if self.done % PAIRS_PER_POLL == 0 and poll(self.done):
                break
        return self.done

    def _draw(self, number: int, counts: Integers, sums: Integers) -> None:
        n, graph = self._graph.n, self._graph
        random = sequence(self.job.start, number, n + 2)
        s = min(int(random[0] * n), n - 1)
        t = min(int(random[1] * (n - 1)), n - 2)
        t += t >= s
        path = self._path(s, t, random[2:])
        sums[PATH_SUMS.index("arcs")] += graph.m
        if path is None:
            sums[PATH_SUMS.index("unconnected")] += 1
            return
        np.add.at(counts, path[1:-1], 1)
        sums[PATH_SUMS.index("inner_vertices")] += len(path) - 2
        sums[PATH_SUMS.index("wrong")] += path[-1] != s

    def _path(self, s: int, t: int, random: Any) -> list[int] | None:
        """The vertices of one shortest path, from t back to s; None if there is no path."""
        d = self._distances(self._out, s, self._cutoff)
        if t not in d:
            return None
        P = predecessors(self._out, d)
        sigma, path = count_paths(self._graph, P, s), [t]
        while path[-1] != s:
            v = path[-1]
            chosen = int(random[len(path) - 1] * 2**53) * sigma[v] // 2**53  # one of the paths that end here
            for u, _ in P[v]:
                chosen -= sigma[u]
                if chosen < 0:
                    break
            path.append(u)
        return path
