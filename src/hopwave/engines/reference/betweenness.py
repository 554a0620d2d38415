"""The specification of betweenness, by hops and along weights (Brandes 2001), short enough to read first.

    d   length of a shortest path from the source s          σ   number of shortest paths, an integer of any size
    P   predecessors: u with d(u) + length == d(v), exactly  δ   dependency: Σ_t share of the paths to t that visit v
    h   mean number of arcs on a shortest path               t   weight of a path from s to this target: usually 1

By hops, every arc has length 1. Parallel arcs are separate paths. No shortest path contains a self-loop.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.engines import uncountable
from hopwave.generate.counter import sequence
from hopwave.graph import Graph
from hopwave.planning.jobs import PATH_SUMS, BetweennessJob, Floats, Integers, SampleJob
from hopwave.planning.many_sources import PathSums, Poll, Sweep, Swept

Arcs = list[list[tuple[int, float, int]]]  # per vertex: (head, length, index of the arc)
Predecessors = dict[int, list[tuple[int, int]]]  # per reached vertex: (tail, index of the arc)


def distances(out: Arcs, s: int, cutoff: float | None) -> dict[int, float]:
    """Dijkstra's algorithm: d of every vertex up to the cutoff, nearest first."""
    d: dict[int, float] = {}
    heap, most = [(0.0, s)], math.inf if cutoff is None else cutoff
    while heap:
        here, u = heappop(heap)
        if u in d:
            continue
        d[u] = here
        for v, length, _ in out[u]:
            if v not in d and here + length <= most:
                heappush(heap, (here + length, v))
    return d


def arcs_of(graph: Graph, weighted: bool) -> Arcs:
    """The out-arcs of every vertex; their lengths are their weights, or 1."""
    length = (np.asarray(graph.weights, np.float64) if weighted else np.ones(graph.m)).tolist()
    heads, begins = graph.indices.tolist(), graph.indptr.tolist()
    return [[(heads[j], length[j], j) for j in range(begins[u], begins[u + 1])] for u in range(graph.n)]


def count_paths(graph: Graph, out: Arcs, d: dict[int, float], s: int) -> tuple[Predecessors, dict[int, int]]:
    """P and σ of every vertex, predecessors first. Raises a GraphError if arcs that add no length form a cycle."""
    P: Predecessors = {v: [] for v in d}
    for u in d:
        for v, length, arc in out[u]:
            if v != u and d.get(v) == d[u] + length:
                P[v].append((u, arc))
    try:
        order = list(TopologicalSorter({v: [u for u, _ in P[v]] for v in P}).static_order())
    except CycleError as error:
        u, v = error.args[1][:2]  # each vertex is a predecessor of the next
        raise uncountable(graph, s, u, v) from None
    sigma: dict[int, int] = {}
    for v in order:
        sigma[v] = 1 if v == s else sum(sigma[u] for u, _ in P[v])
    return P, sigma


class Accumulation:
    """One source after another; see hopwave.planning.jobs.Accumulation."""

    size = 1

    def __init__(self, graph: Graph, job: BetweennessJob) -> None:
        self.graph, self.job = graph, job
        self.blocks, self.done = len(job.sources), 0
        self.total = np.zeros(graph.m if job.edges else graph.n * (2 if job.squares else 1))
        self.certificate = np.zeros((self.blocks, 2))
        self._out = arcs_of(graph, job.weighted)

    def advance(self, first: int, poll: Callable[[int], bool]) -> int:
        for number in range(first, self.blocks):
            if number > first and poll(number):
                return number
            total = self.total.copy()
            self.certificate[number] = self.add(int(self.job.sources[number]), total)
            self.total, self.done = total, number + 1  # Ctrl-C leaves both old or both new
        return self.blocks

    def add(self, s: int, total: npt.NDArray[np.float64]) -> tuple[float, float]:
        """Add the contribution of one source; returns both sides of its certificate."""
        job, n = self.job, self.graph.n
        d = distances(self._out, s, job.cutoff)
        (P, sigma), delta = count_paths(self.graph, self._out, d, s), dict.fromkeys(d, 0.0)
        h = dict(d)
        for v in sigma:  # predecessors first
            if v != s and job.weighted:
                h[v] = sum(sigma[u] / sigma[v] * (h[u] + 1) for u, _ in P[v])
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
            total[s] += ends  # the source is an endpoint of every path
        return found, due


# ---------------------------------------------------------------- the specification of stress

# σ(v)   shortest paths from s to v, some of which avoid the group      τ(v)   see cpu/betweenness/path_sums.py

LARGEST = Fraction(np.finfo(np.float64).max)


def path_sums(graph: Graph, job: PathSums, poll: Poll) -> Floats:
    """Stress or load of every vertex; for a group, the sum over the targets of each source."""
    n, arcs = graph.n, arcs_of(graph, False)
    member = [False] * n if job.group is None else job.group.tolist()
    score: list[Fraction] = [Fraction(0)] * n
    for s in range(n):
        d = distances(arcs, s, job.cutoff)
        after = {v: [w for w, _, _ in arcs[v] if d.get(w) == d[v] + 1] for v in d}
        into = {w: sum(row.count(w) for row in after.values()) for w in d} if job.kind == "load" else {}
        sigma, avoiding = dict.fromkeys(d, 0), dict.fromkeys(d, 0)
        sigma[s], avoiding[s] = 1, int(not member[s])
        for v in d:
            for w in after[v]:
                sigma[w] += sigma[v]
                avoiding[w] += 0 if member[w] else avoiding[v]
        if job.kind == "group":
            ends = [t for t in d if t != s and (job.endpoints or not (member[s] or member[t]))]
            score[s] = sum((1 - Fraction(avoiding[t], sigma[t]) for t in ends), Fraction(0))
        else:
            tau = dict.fromkeys(d, Fraction(0))
            for v in reversed(d):  # farthest first
                tau[v] = sum((Fraction(1 + tau[w], into.get(w, 1)) for w in after[v]), Fraction(0))
                if v != s:
                    score[v] += tau[v] * (1 if job.kind == "load" else sigma[v])
        poll(s + 1)
    return np.array([float(x) if x < LARGEST else math.inf for x in score], np.float64)


# ---------------------------------------------------------------- random shortest paths, one full search per pair

PAIRS_PER_POLL = 16


class PathSampling:
    """See hopwave.planning.jobs.PathSampling. Pairs match the CPU engine; paths are other draws."""

    def __init__(self, graph: Graph, job: SampleJob) -> None:
        self.job, self.done = job, 0
        self.counts, self.sums = np.zeros(graph.n, np.int64), np.zeros(len(PATH_SUMS), np.int64)
        self._graph, self._out = graph, arcs_of(graph, job.weighted)

    def advance(self, until: int, poll: Callable[[int], bool]) -> int:
        while self.done < until:
            counts, sums = self.counts.copy(), self.sums.copy()
            self._draw(self.done, counts, sums)
            self.counts, self.sums, self.done = counts, sums, self.done + 1  # Ctrl-C leaves all old or all new
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
        """The vertices of one shortest path, from t back to s; None if no path exists."""
        d = distances(self._out, s, self.job.cutoff)
        if t not in d:
            return None
        (P, sigma), path = count_paths(self._graph, self._out, d, s), [t]
        while path[-1] != s:
            v = path[-1]
            chosen = int(random[len(path) - 1] * 2**53) * sigma[v] // 2**53  # one of the paths that end here
            for u, _ in P[v]:
                chosen -= sigma[u]
                if chosen < 0:
                    break
            path.append(u)
        return path


# ---------------------------------------------------------------- distances along weights from many sources


def sweep(graph: Graph, job: Sweep, poll: Poll) -> Swept:
    """All searches of the job, and the results that it selects (see `Sweep`)."""
    n, k = graph.n, len(job.sources)
    out = arcs_of(graph, weighted=True)
    reached, (total, inverse, farthest) = np.zeros(k, np.int64), np.zeros((3, k))
    rows = np.full((k if job.keep == "rows" else 0, n), np.inf)
    valued = job.valued
    values = np.zeros((k, len(valued.columns), len(valued.limits)) if valued else (0, 0, 0))
    columns, of_block = np.zeros((2, n if job.keep == "columns" else 0, 3))
    targets: list[int] = []
    far: list[float] = []
    for i, source in enumerate(job.sources.tolist()):
        found = distances(out, source, job.limit)
        total[i], farthest[i] = math.fsum(found.values()), max(found.values())
        inverse[i], reached[i] = math.fsum(1 / d for d in found.values() if d > 0), len(found)
        if job.keep == "rows":
            rows[i, list(found)] = list(found.values())
        if job.keep == "columns":
            for v, d in found.items():
                weight = math.ldexp(d, job.shift)
                if job.weight == "inverse":
                    weight = math.ldexp(1.0, job.shift) / d if d > 0 else 0.0
                of_block[v] += 1, weight, weight * weight
            if i + 1 == k or (i + 1) % (job.block or k) == 0:
                columns += of_block
                of_block[:] = 0.0
        if valued is not None:
            away = np.array(list(found.values()))
            terms = valued.columns[:, list(found)] * valued.decay(away)
            values[i] = [[math.fsum(row[away <= limit]) for limit in valued.limits] for row in terms]
        if job.keep == "pairs":
            listed = [v for v in found if v != source and not (job.upwards and v < source)]
            targets += listed
            far += [found[v] for v in listed]
            reached[i] = len(listed)
        poll(i + 1)
    pairs: Any = np.array(targets, np.int32), np.array(far, np.float64)
    rows = rows if job.targets is None else rows[:, job.targets]
    return Swept(reached, total, farthest, inverse, np.zeros(0, np.int64), columns, rows, pairs, values)
