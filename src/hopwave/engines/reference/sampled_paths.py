"""Random shortest paths, one whole search per pair: what the CPU engine's two short searches must agree with.

Pairs are those of the CPU engine. Paths are not: they are drawn from the same distribution with other random numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from hopwave.engines.reference.betweenness import arcs_of, counted, distances, predecessors
from hopwave.generate.counter import sequence
from hopwave.graph import Graph
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import PATH_SUMS, SampleJob, SearchJob

PAIRS_PER_POLL = 16


class PathSampling:
    """See hopwave.planning.jobs.PathSampling."""

    def __init__(self, engine: Any, graph: Graph, job: SampleJob) -> None:
        self.job = job
        self.done = 0
        self.counts = np.zeros(graph.n, np.int64)
        self.sums = np.zeros(len(PATH_SUMS), np.int64)
        self._engine, self._graph, self._plan = engine, graph, CATALOGUE["hopwave-paths"]
        self._loaded = engine.load(graph, self._plan)
        self._out = arcs_of(graph) if job.weighted else []

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
        path = (self._along if self.job.weighted else self._by_hops)(s, t, random[2:])
        self.sums[PATH_SUMS.index("arcs")] += graph.m
        if path is None:
            self.sums[PATH_SUMS.index("unconnected")] += 1
            return
        np.add.at(self.counts, path[1:-1], 1)
        self.sums[PATH_SUMS.index("inner_vertices")] += len(path) - 2
        self.sums[PATH_SUMS.index("wrong")] += path[-1] != s

    def _by_hops(self, s: int, t: int, random: Any) -> list[int] | None:
        """The vertices of one shortest path, from t back to s."""
        graph = self._graph
        limit = None if self.job.cutoff is None else int(self.job.cutoff)
        search = self._engine.start(self._loaded, (s,), SearchJob(path_counts=True, depth_limit=limit))
        self._engine.run(search, self._plan, False)
        if search.d[t] < 0:
            return None
        path = [t]
        for hop in range(int(search.d[t])):
            v = path[-1]
            before = graph.in_indices[graph.in_indptr[v] : graph.in_indptr[v + 1]]
            before = before[search.d[before] == search.d[v] - 1]
            weight = np.ldexp(search.mantissa[before], np.maximum(search.exponent[before] - search.exponent[v], -2000))
            place = np.searchsorted(np.cumsum(weight), random[hop] * weight.sum(), side="right")
            path.append(int(before[min(int(place), len(before) - 1)]))
        return path

    def _along(self, s: int, t: int, random: Any) -> list[int] | None:
        """The same along weights."""
        d = distances(self._out, s, math.inf if self.job.cutoff is None else self.job.cutoff)
        if t not in d:
            return None
        P = predecessors(self._out, d)
        sigma, path = counted(self._graph, P, s), [t]
        while path[-1] != s:
            v = path[-1]
            chosen = int(random[len(path) - 1] * 2**53) * sigma[v] // 2**53  # one of the paths that end here
            for u, _ in P[v]:
                chosen -= sigma[u]
                if chosen < 0:
                    break
            path.append(u)
        return path
