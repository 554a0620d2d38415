"""Random shortest paths, one whole search per pair: what the CPU engine's two short searches must agree with.

Pairs are those of the CPU engine. Paths are not: they are drawn from the same distribution with other random numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hopwave.catalogue import CATALOGUE
from hopwave.generate.counter import sequence
from hopwave.graph import Graph
from hopwave.jobs import PATH_SUMS, PathJob, Question

PAIRS_PER_POLL = 16


class PathSampling:
    """See hopwave.jobs.PathSampling."""

    def __init__(self, engine: Any, graph: Graph, job: PathJob) -> None:
        self.job = job
        self.done = 0
        self.counts = np.zeros(graph.n, np.int64)
        self.sums = np.zeros(len(PATH_SUMS), np.int64)
        self._engine, self._graph, self._plan = engine, graph, CATALOGUE["hopwave-paths"]
        self._loaded = engine.load(graph, self._plan)

    def advance(self, until: int, poll: Callable[[int], bool]) -> int:
        """Draw pairs up to number `until`, or until poll(done) returns true. Returns how many are done."""
        while self.done < until:
            self._draw(self.done)
            self.done += 1
            if self.done % PAIRS_PER_POLL == 0 and poll(self.done):
                break
        return self.done

    def _draw(self, number: int) -> None:
        n, graph = self._graph.n, self._graph
        random = sequence(self.job.start, number, n + 2)
        s = min(int(random[0] * n), n - 1)
        t = min(int(random[1] * (n - 1)), n - 2)
        t += t >= s
        search = self._engine.start(self._loaded, (s,), Question(path_counts=True, depth_limit=self.job.cutoff))
        self._engine.run(search, self._plan, False)
        distance = int(search.d[t])
        self.sums[PATH_SUMS.index("arcs")] += graph.m
        if distance < 0:
            self.sums[PATH_SUMS.index("unconnected")] += 1
            return
        v = t
        for hop in range(distance):
            before = graph.in_indices[graph.in_indptr[v] : graph.in_indptr[v + 1]]
            before = before[search.d[before] == search.d[v] - 1]
            weight = np.ldexp(search.mantissa[before], np.maximum(search.exponent[before] - search.exponent[v], -2000))
            place = np.searchsorted(np.cumsum(weight), random[2 + hop] * weight.sum(), side="right")
            v = int(before[min(int(place), len(before) - 1)])
            self.counts[v] += v != s
        self.sums[PATH_SUMS.index("inner_vertices")] += distance - 1
        self.sums[PATH_SUMS.index("wrong")] += v != s
