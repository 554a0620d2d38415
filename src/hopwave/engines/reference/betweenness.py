"""The specification of betweenness, by hops and along weights (Brandes 2001), short enough to read first.

    d   length of a shortest path from the source s          σ   number of shortest paths, a whole number of any size
    P   predecessors: u with d(u) + length == d(v), exactly  δ   dependency: Σ_t share of the paths to t that visit v
    h   mean number of arcs on a shortest path               t   what a path from s to this target counts: mostly 1

By hops, every arc has length 1. Arcs that are kept several times are several paths. Self-loops are on none.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush

import numpy as np
import numpy.typing as npt

from hopwave.engines.undefined_counts import uncountable
from hopwave.graph import Graph
from hopwave.planning.jobs import BetweennessJob

Arcs = list[list[tuple[int, float, int]]]  # per vertex: (head, length, number of the arc)
Predecessors = dict[int, list[tuple[int, int]]]  # per vertex that is reached: (tail, number of the arc)


def hops(out: Arcs, s: int, cutoff: float) -> dict[int, float]:
    """Breadth-first search: d of every vertex up to the cutoff."""
    d, queue = {s: 0.0}, [s]
    for u in queue:  # which grows
        for v, _, _ in out[u]:
            if v not in d and d[u] + 1 <= cutoff:
                d[v] = d[u] + 1
                queue.append(v)
    return d


def lengths(out: Arcs, s: int, cutoff: float) -> dict[int, float]:
    """Dijkstra's algorithm: d of every vertex up to the cutoff."""
    d: dict[int, float] = {}
    heap = [(0.0, s)]
    while heap:
        here, u = heappop(heap)
        if u in d:
            continue
        d[u] = here
        for v, length, _ in out[u]:
            if v not in d and here + length <= cutoff:
                heappush(heap, (here + length, v))
    return d


def predecessors(out: Arcs, d: dict[int, float]) -> Predecessors:
    """P of every vertex."""
    P: Predecessors = {v: [] for v in d}
    for u in d:
        for v, length, arc in out[u]:
            if v != u and d.get(v) == d[u] + length:
                P[v].append((u, arc))
    return P


def arcs_of(graph: Graph, weighted: bool) -> Arcs:
    """The arcs that leave every vertex, as long as their weights or 1."""
    length = (np.asarray(graph.weights, np.float64) if weighted else np.ones(graph.m)).tolist()
    heads, begins = graph.indices.tolist(), graph.indptr.tolist()
    return [[(heads[j], length[j], j) for j in range(begins[u], begins[u + 1])] for u in range(graph.n)]


def count_paths(graph: Graph, P: Predecessors, s: int) -> dict[int, int]:
    """σ of every vertex, predecessors first. Raises a GraphError if arcs that add no length form a cycle."""
    try:
        order = list(TopologicalSorter({v: [u for u, _ in P[v]] for v in P}).static_order())
    except CycleError as error:
        u, v = error.args[1][:2]  # each is a predecessor of the next
        raise uncountable(graph, s, u, v) from None
    sigma: dict[int, int] = {}
    for v in order:
        sigma[v] = 1 if v == s else sum(sigma[u] for u, _ in P[v])
    return sigma


def mean_arcs(P: Predecessors, sigma: dict[int, int], s: int) -> dict[int, float]:
    """h of every vertex; sigma is in the order of `count_paths`."""
    h = {s: 0.0}
    for v in sigma:
        if v != s:
            h[v] = sum(sigma[u] / sigma[v] * (h[u] + 1) for u, _ in P[v])
    return h


class Accumulation:
    """One source after another; see hopwave.planning.jobs.Accumulation."""

    size = 1

    def __init__(self, graph: Graph, job: BetweennessJob) -> None:
        self.graph, self.job = graph, job
        self.blocks, self.done = len(job.sources), 0
        self.total = np.zeros(graph.m if job.edges else graph.n * (2 if job.squares else 1))
        self.certificate = np.zeros((self.blocks, 2))
        self._out, self._distances = arcs_of(graph, job.weighted), lengths if job.weighted else hops

    def advance(self, first: int, poll: Callable[[int], bool]) -> int:
        """See hopwave.planning.jobs.Accumulation.advance."""
        for number in range(first, self.blocks):
            if number > first and poll(number):
                return number
            total = self.total.copy()
            self.certificate[number] = self.add(int(self.job.sources[number]), total)
            self.total, self.done = total, number + 1  # together: a Ctrl-C finds both old or both new
        return self.blocks

    def add(self, s: int, total: npt.NDArray[np.float64]) -> tuple[float, float]:
        """Add what one source contributes; returns both sides of its certificate."""
        job, n = self.job, self.graph.n
        d = self._distances(self._out, s, math.inf if job.cutoff is None else job.cutoff)
        P = predecessors(self._out, d)
        sigma, delta = count_paths(self.graph, P, s), dict.fromkeys(d, 0.0)
        h = mean_arcs(P, sigma, s) if job.weighted else d
        demand = 1.0 if job.origins is None else float(job.origins[s])
        t = {v: demand * (1.0 if job.targets is None else float(job.targets[v])) for v in d}
        found = due = ends = 0.0
        for v in reversed(sigma):
            for u, arc in P[v]:
                flow = sigma[u] / sigma[v] * (t[v] + delta[v])
                delta[u] += flow
                if job.edges:
                    total[arc] += flow
                    found += flow
            if v == s:
                continue
            due += t[v] * (h[v] if job.edges else h[v] - 1)
            if not job.edges:
                found += delta[v]
                total[v] += delta[v] + job.endpoints * t[v]
                ends += job.endpoints * t[v]
                if job.squares:
                    total[n + v] += delta[v] ** 2
        if not job.edges:
            total[s] += ends  # the source is an end of every path
        return found, due
