"""The correct results, computed in a slow and simple way.

There are three arithmetics, from simple to fast. They compute the same sums, so that each can check the next:

    exact    σ as Python integers, δ as fractions, without any rounding; for graphs of a few hundred vertices
    long     σ as Python integers, δ as floats from correctly rounded ratios of σ; about 10,000 vertices per source
    scaled   σ as float64 mantissa and int64 exponent, in NumPy, level by level; millions of arcs per source

Letters as in Brandes (2001): d distance, σ number of shortest paths, P predecessors, δ dependency of the source on a
vertex. Repeated arcs count once and self-loops never, as in NetworkX. Nothing here uses hopwave's engines.
"""

import math
from collections import deque
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from hopwave import Graph

Number = Fraction | float


# ---------------------------------------------------------------- searching, O(n + m)


def adjacency(graph: Graph, direction: str = "out") -> list[list[int]]:
    """The distinct neighbours of each vertex, from the edge list only."""
    neighbours: list[set[int]] = [set() for _ in range(graph.n)]
    for u, v in zip(*(column.tolist() for column in graph.to_edges()), strict=True):
        if direction == "out" or not graph.directed:
            neighbours[u].add(v)
        if direction == "in" or not graph.directed:
            neighbours[v].add(u)
    return [sorted(row) for row in neighbours]


def search(
    neighbours: list[list[int]], sources: Iterable[int], depth_limit: int | None = None
) -> tuple[list[int], list[int], list[int], list[list[int]]]:
    """Breadth-first search with a queue: the order of visits, d (-1: not reached), σ and P."""
    sources = dict.fromkeys(sources)
    d, sigma = [-1] * len(neighbours), [0] * len(neighbours)
    P: list[list[int]] = [[] for _ in neighbours]
    for s in sources:
        d[s], sigma[s] = 0, 1
    order, queue = [], deque(sources)
    while queue:
        v = queue.popleft()
        order.append(v)
        if d[v] == depth_limit:
            continue
        for w in neighbours[v]:
            if d[w] == -1:
                d[w] = d[v] + 1
                queue.append(w)
            if d[w] == d[v] + 1:
                sigma[w] += sigma[v]
                P[w].append(v)
    return order, d, sigma, P


def distances(
    graph: Graph, sources: int | Sequence[int], depth_limit: int | None = None, direction: str = "out"
) -> list[int]:
    """Hops from the nearest source to every vertex; -1 if there is no path (within the limit)."""
    return search(adjacency(graph, direction), _several(sources), depth_limit)[1]


def path_counts(
    graph: Graph, sources: int | Sequence[int], depth_limit: int | None = None, direction: str = "out"
) -> list[int]:
    """The exact number of shortest paths from the nearest sources to every vertex, however large it is."""
    return search(adjacency(graph, direction), _several(sources), depth_limit)[2]


def _several(sources: int | Sequence[int]) -> list[int]:
    return [sources] if isinstance(sources, int) else list(sources)


# ---------------------------------------------------------------- betweenness, O(n m) operations on long integers


def dependencies(
    neighbours: list[list[int]],
    s: int,
    targets: Iterable[int] | None = None,
    cutoff: int | None = None,
    exact: bool = True,
) -> tuple[list[Number], dict[tuple[int, int], Number], list[int]]:
    """δ of one source for vertices and for arcs (v, w) on shortest paths, and the targets that were counted.

    δ(v) = Σ over w that v precedes: σ(v)/σ(w) · ([w is a target] + δ(w)). A cutoff counts targets up to that many hops.
    """
    wanted = set(range(len(neighbours)) if targets is None else targets) - {s}
    order, _, sigma, P = search(neighbours, [s], cutoff)
    delta: list[Number] = [Fraction(0) if exact else 0.0] * len(neighbours)
    flow: dict[tuple[int, int], Number] = {}
    for w in reversed(order):
        for v in P[w]:
            # Python divides integers with a single rounding, however long they are.
            ratio = Fraction(sigma[v], sigma[w]) if exact else sigma[v] / sigma[w]
            flow[v, w] = ratio * ((w in wanted) + delta[w])
            delta[v] += flow[v, w]
    return delta, flow, [t for t in order if t in wanted]


def betweenness(
    graph: Graph,
    sources: Iterable[int] | None = None,
    targets: Iterable[int] | None = None,
    *,
    cutoff: int | None = None,
    endpoints: bool = False,
    normalized: bool = True,
    sampled: bool = False,
    exact: bool = True,
) -> list[Number]:
    """Betweenness of every vertex, scaled like NetworkX 3.6.1.

    sampled=False: sources and targets are subsets (betweenness_centrality_subset); None means all vertices.
    sampled=True: the sources are a sample of k vertices that represents all (betweenness_centrality with k).
    """
    chosen = list(range(graph.n)) if sources is None else list(sources)
    neighbours = adjacency(graph)
    total: list[Number] = [Fraction(0) if exact else 0.0] * graph.n
    for s in chosen:
        delta, _, counted = dependencies(neighbours, s, targets, cutoff, exact)
        for v in range(graph.n):
            if v != s:
                total[v] += delta[v]
        if endpoints:
            total[s] += len(counted)
            for t in counted:
                total[t] += 1
    scale = rescaling(graph, chosen if sampled else None, normalized, endpoints)
    return [score * factor for score, factor in zip(total, scale, strict=True)]


def edge_betweenness(
    graph: Graph,
    sources: Iterable[int] | None = None,
    targets: Iterable[int] | None = None,
    *,
    cutoff: int | None = None,
    normalized: bool = True,
    sampled: bool = False,
    exact: bool = True,
) -> dict[tuple[int, int], Number]:
    """Betweenness of every edge, in the order of `graph.to_edges()`; an undirected edge sums both directions.

    With targets, this is the definition. NetworkX's edge_betweenness_centrality_subset differs from it if a vertex that
    is not a target has several predecessors.
    """
    chosen = list(range(graph.n)) if sources is None else list(sources)
    neighbours = adjacency(graph)
    total: dict[tuple[int, int], Number] = {
        edge: Fraction(0) if exact else 0.0
        for edge in zip(*(column.tolist() for column in graph.to_edges()), strict=True)
    }
    for s in chosen:
        for (v, w), amount in dependencies(neighbours, s, targets, cutoff, exact)[1].items():
            total[(v, w) if graph.directed or v < w else (w, v)] += amount
    factor = rescaling(graph, chosen if sampled else None, normalized, endpoints=True)[0] if total else 1
    return {edge: score * factor for edge, score in total.items()}


def rescaling(graph: Graph, sample: list[int] | None, normalized: bool, endpoints: bool) -> list[Number]:
    """NetworkX 3.6.1's factor for each vertex; `sample` is None, or the k sources that represent all vertices.

    N is n with endpoints, and always for edges; else n - 1. Without endpoints, a sampled vertex cannot lie inside its
    own paths, so only the k - 1 other sources count for it; if there are none, its factor is NaN.
    """
    N = graph.n if endpoints else graph.n - 1
    halves = 1 if graph.directed else 2
    if N < 2:
        return [Fraction(1)] * graph.n
    if sample is not None and len(sample) == graph.n:
        sample = None

    def factor(sources: int) -> Number:
        if sources == 0:
            return math.nan
        return Fraction(1, sources * (N - 1)) if normalized else Fraction(N, sources * halves)

    if sample is None:
        return [factor(N)] * graph.n
    k = len(sample)
    if endpoints:
        return [factor(k)] * graph.n
    inside = set(sample)
    return [factor(k - 1 if v in inside else k) for v in range(graph.n)]


# ---------------------------------------------------------------- large graphs, O(m log m) per source


class Scaled:
    """σ and δ of one source on a graph of any size: σ(v) = mantissa[v] · 2^exponent[v], mantissa in [½, 1) or 0.

    All terms are positive, so relative errors stay below a few ulp times the depth (1e-12 on a 1000 × 1000 grid). σ
    cannot overflow. A δ below 1e-308 may become 0, which does not change a sum over sources. `flow`: δ per stored arc.
    """

    def __init__(self, graph: Graph, s: int) -> None:
        self.distances = np.full(graph.n, -1, dtype=np.int64)
        self.mantissa = np.zeros(graph.n)
        self.exponent = np.zeros(graph.n, dtype=np.int64)
        self.delta = np.zeros(graph.n)
        self.flow = np.zeros(graph.m)
        self._forward(graph, s)
        self._backward()

    def _forward(self, graph: Graph, s: int) -> None:
        d = self.distances
        d[s], self.mantissa[s], self.exponent[s] = 0, 0.5, 1
        frontier, depth = np.array([s]), 0
        self._levels: list[tuple[Any, Any, Any, Any]] = []
        while frontier.size:
            degree = graph.degrees[frontier].astype(np.int64)
            position = np.repeat(graph.indptr[frontier] - (np.cumsum(degree) - degree), degree) + np.arange(
                degree.sum()
            )
            tail, head = np.repeat(frontier, degree), graph.indices[position].astype(np.int64)
            depth += 1
            onward = d[head] == -1
            # Sorted by head, so that all arcs to one head are consecutive; unique, so that repeated arcs count once.
            _, kept = np.unique(head[onward] * graph.n + tail[onward], return_index=True)
            tail, head, position = tail[onward][kept], head[onward][kept], position[onward][kept]
            self._levels.append((frontier, tail, head, position))
            begins = np.flatnonzero(np.diff(head, prepend=-1))
            frontier = head[begins]
            if not frontier.size:
                break
            d[frontier] = depth
            largest = np.maximum.reduceat(self.exponent[tail], begins)
            shift = self.exponent[tail] - np.repeat(largest, np.diff(np.append(begins, head.size)))
            total = np.add.reduceat(_times_power(self.mantissa[tail], shift), begins)
            self.mantissa[frontier], extra = np.frexp(total)
            self.exponent[frontier] = largest + extra

    def _backward(self) -> None:
        for frontier, tail, head, position in reversed(self._levels):
            ratio = _times_power(self.mantissa[tail] / self.mantissa[head], self.exponent[tail] - self.exponent[head])
            self.flow[position] = ratio * (1 + self.delta[head])
            self.delta[frontier] = np.bincount(
                np.searchsorted(frontier, tail), weights=self.flow[position], minlength=frontier.size
            )


def _times_power(values: Any, exponents: Any) -> Any:
    return np.ldexp(values, np.maximum(exponents, -2000).astype(np.int32))


def scaled_betweenness(graph: Graph, sources: Iterable[int]) -> Any:
    """`betweenness` in scaled arithmetic, not normalized: a float64 array."""
    total = np.zeros(graph.n)
    for s in sources:
        delta = Scaled(graph, s).delta
        delta[s] = 0
        total += delta
    return total * np.array(rescaling(graph, None, normalized=False, endpoints=False), dtype=np.float64)
