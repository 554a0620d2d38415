"""Fuzzing of graphs × questions: hopwave's answers beside NetworkX, igraph, SciPy and exact fractions.

Graphs are small and odd: loops, repeated edges, isolated vertices, many components, equal and very different weights.
Every question that fits a graph is asked about it, with arguments drawn at random.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import igraph
import networkx as nx
import numpy as np
from difference import Attempt, Difference
from scipy.sparse import csgraph as scipy_graphs
from scipy.sparse import csr_array

import hopwave as hw
import oracle
from hopwave import Graph

CLOSE = {"rtol": 1e-9, "atol": 1e-12}


# ---------------------------------------------------------------- graphs


def pairs(draw: random.Random, n: int) -> list[tuple[int, int]]:
    """The edges of one graph of some kind, with repeats and loops."""
    kind = draw.choice(("random", "random", "sparse", "dense", "tree", "path", "cycle", "star", "layers", "pieces"))
    if kind == "random":
        edges = [(draw.randrange(n), draw.randrange(n)) for _ in range(draw.randint(0, 2 * n))]
    elif kind == "sparse":
        edges = [(draw.randrange(n), draw.randrange(n)) for _ in range(n // 2)]
    elif kind == "dense":
        edges = [(u, v) for u in range(n) for v in range(n) if draw.random() < 0.6]
    elif kind == "tree":
        edges = [(draw.randrange(v), v) for v in range(1, n)]
    elif kind == "path":
        edges = [(v, v + 1) for v in range(n - 1)]
    elif kind == "cycle":
        edges = [(v, (v + 1) % n) for v in range(n)]
    elif kind == "star":
        edges = [(0, v) for v in range(1, n)]
    elif kind == "layers":
        width = draw.randint(1, 4)
        edges = [(u, v) for u in range(n) for v in range(n) if v // width == u // width + 1]
    else:
        edges = [(u, v) for u in range(n) for v in range(u) if u // 4 == v // 4 and draw.random() < 0.7]
    names = list(range(n))
    if draw.random() < 0.7:
        draw.shuffle(names)
    edges = [(names[u], names[v]) if draw.random() < 0.8 else (names[v], names[u]) for u, v in edges]
    return edges + [draw.choice(edges) for _ in range(draw.choice((0, 0, 3))) if edges]


def weights(draw: random.Random, count: int) -> list[float]:
    """Lengths of edges: equal, whole, halves, or over many powers of ten. All sums of them are told apart or equal."""
    kind = draw.choice(("ones", "whole", "halves", "powers"))
    if kind == "ones":
        return [1.0] * count
    if kind == "whole":
        return [float(draw.randint(1, 5)) for _ in range(count)]
    if kind == "halves":
        return [draw.randint(1, 40) / 8 for _ in range(count)]
    return [float(2 ** draw.randint(-8, 12)) for _ in range(count)]


@dataclass
class Case:
    """One graph in every program's form, and where arguments are drawn from."""

    n: int
    edges: list[tuple[int, int]]
    lengths: list[float]
    directed: bool
    draw: random.Random = field(repr=False)

    @classmethod
    def drawn(cls, draw: random.Random) -> Case:
        n = draw.choice((1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 33))
        listed = {}
        directed = draw.random() < 0.5
        for u, v in pairs(draw, n):  # one length per edge, however often and in which direction it is listed
            listed.setdefault((u, v) if directed or u <= v else (v, u), (u, v))
        edges = list(listed.values())
        return cls(n, edges, weights(draw, len(edges)), directed, draw)

    @cached_property
    def plain(self) -> Graph:
        u, v = zip(*self.edges, strict=True) if self.edges else ((), ())
        again = self.draw.sample(range(len(u)), min(2, len(u)))  # repeated edges are one edge
        return Graph.from_edges(
            [*u, *(u[i] for i in again)], [*v, *(v[i] for i in again)], n=self.n, directed=self.directed
        )

    @cached_property
    def weighted(self) -> Graph:
        u, v = zip(*self.edges, strict=True) if self.edges else ((), ())
        return Graph.from_edges(list(u), list(v), n=self.n, directed=self.directed, weights=self.lengths)

    @cached_property
    def nx(self) -> Any:
        G = nx.DiGraph() if self.directed else nx.Graph()
        G.add_nodes_from(range(self.n))
        G.add_weighted_edges_from((u, v, w) for (u, v), w in zip(self.edges, self.lengths, strict=True))
        return G

    @cached_property
    def igraph(self) -> Any:
        return igraph.Graph(n=self.n, edges=self.edges, directed=self.directed)

    @cached_property
    def hops(self) -> Any:
        """SciPy's table of distances; inf where there is no path."""
        u, v = zip(*self.edges, strict=True) if self.edges else ((), ())
        A = csr_array((np.ones(len(u)), (np.array(u, np.int32), np.array(v, np.int32))), shape=(self.n, self.n))
        return scipy_graphs.shortest_path(A, method="D", directed=self.directed, unweighted=True)

    @cached_property
    def km(self) -> Any:
        """SciPy's table of lengths; inf where there is no path."""
        u, v = zip(*self.edges, strict=True) if self.edges else ((), ())
        A = csr_array((np.array(self.lengths), (np.array(u, np.int32), np.array(v, np.int32))), shape=(self.n, self.n))
        return scipy_graphs.shortest_path(A, method="D", directed=self.directed)

    @property
    def connected(self) -> bool:
        return bool(np.isfinite(self.hops).all())

    def vertex(self) -> int:
        return self.draw.randrange(self.n)

    def some(self) -> list[int]:
        return self.draw.sample(range(self.n), self.draw.randint(1, self.n))

    def options(self) -> dict[str, Any]:
        """Where a question is answered."""
        return {"device": "cpu", "threads": self.draw.choice((None, None, 1, 3))}

    def engine(self) -> dict[str, Any]:
        """Where a search is answered: by the specification, too."""
        return {"device": "reference"} if self.draw.random() < 0.2 else self.options()


def same(found: Any, expected: Any, about: str = "") -> None:
    """Raise Difference unless all numbers are equal up to rounding."""
    mine, theirs = np.asarray(found, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    if mine.shape != theirs.shape or not np.allclose(mine, theirs, **CLOSE, equal_nan=True):
        raise Difference(f"{about} found {mine.tolist()}, expected {theirs.tolist()}")


def equal(found: Any, expected: Any, about: str = "") -> None:
    """Raise Difference unless the two are equal."""
    if found != expected:
        raise Difference(f"{about} found {found}, expected {expected}")


def listed(scores: dict[int, float], n: int) -> list[float]:
    return [scores[v] for v in range(n)]


# ---------------------------------------------------------------- questions about hops


def search(case: Case) -> int:
    s, direction = case.vertex(), case.draw.choice(("out", "in"))
    limit = case.draw.choice((None, None, 0, 1, 2, 5, case.n))
    found = hw.bfs(
        case.plain, s, path_counts=case.draw.random() < 0.5, depth_limit=limit, direction=direction, **case.engine()
    )
    row = (case.hops if direction == "out" else case.hops.T)[s]
    due = np.where(row <= (math.inf if limit is None else limit), row, -1)
    due = np.where(np.isfinite(due), due, -1)
    same(found.distances, due, f"distances from {s} {direction} within {limit}")
    equal((found.depth, found.reached), (int(due.max()), int((due >= 0).sum())))
    arcs = {(u, v) if direction == "out" else (v, u) for u, v in case.edges}
    arcs |= set() if case.directed else {(v, u) for u, v in arcs}
    for v, p in enumerate(found.predecessors.tolist()):
        right = p == -1 if due[v] < 0 else p in (s, -1) if v == s else (p, v) in arcs and due[p] == due[v] - 1
        equal(right, True, f"predecessor {p} of {v}")
    return 1


def path_counts(case: Case) -> int:
    sources = case.some()[:3]
    found = hw.bfs(case.plain, sources, path_counts=True, **case.engine())
    equal([int(count) for count in found.path_counts], oracle.path_counts(case.plain, sources), f"counts {sources}")
    same(found.distances, oracle.distances(case.plain, sources))
    return 1


def many(case: Case) -> int:
    sources = case.some()
    table = case.hops[sources]
    same(hw.bfs_many(case.plain, sources, **case.options()), np.where(np.isfinite(table), table, -1), f"{sources}")
    return 1


def histogram(case: Case) -> int:
    found = hw.distance_histogram(case.plain, **case.options())
    away = case.hops[np.isfinite(case.hops) & ~np.eye(case.n, dtype=bool)].astype(int)
    due = np.bincount(away, minlength=len(found.counts))
    same(np.asarray(found.counts)[1:], due[1:], "numbers of pairs")
    return 1


def neighbourhood(case: Case) -> int:
    v, k = case.vertex(), case.draw.randint(0, 4)
    equal(sorted(hw.k_hop(case.plain, v, k, **case.options()).tolist()), np.flatnonzero(case.hops[v] <= k).tolist())
    return 1


def one_path(case: Case) -> int:
    s, t = case.vertex(), case.vertex()
    equal(hw.has_path(case.plain, s, t, device="cpu"), bool(np.isfinite(case.hops[s, t])))
    for G, far, name in ((case.plain, case.hops, None), (case.weighted, case.km, "weight")):
        try:
            path = hw.shortest_path(G, s, t, device="cpu", weights=name is not None or None)
        except hw.GraphError:
            equal(bool(np.isfinite(far[s, t])), False, f"no path {s} to {t}")
            continue
        due = sum(case.nx[u][v]["weight"] if name else 1 for u, v in pairwise(path))
        equal((path[0], path[-1]), (s, t))
        same(due, far[s, t], f"path {path}")
    return 3


def all_paths(case: Case) -> int:
    s, t = case.vertex(), case.vertex()
    if s == t or not np.isfinite(case.hops[s, t]) or case.n > 12:
        return 0
    for G, name in ((case.plain, None), (case.weighted, "weight")):
        found = sorted(hw.all_shortest_paths(G, s, t, device="cpu", weights=name is not None or None))
        equal(found, sorted(nx.all_shortest_paths(case.nx, s, t, weight=name)), f"{s} to {t}, {name}")
    return 2


def pairs_near(case: Case) -> int:
    d = case.draw.randint(0, 4)
    u, v, far = hw.pairs_within(case.plain, d, **case.options())
    found = sorted(zip(u.tolist(), v.tolist(), far.tolist(), strict=True))
    table = case.hops
    due = [(s, t, int(table[s, t])) for s in range(case.n) for t in range(case.n) if table[s, t] <= d]
    once = [row for row in due if (row[0] != row[1] if case.directed else row[0] < row[1])]  # no vertex with itself
    equal(found, once, f"within {d}")
    return 1


# ---------------------------------------------------------------- questions about components


def partition(labels: Sequence[int]) -> list[int]:
    """Labels by lowest vertex: equal for equal partitions."""
    first: dict[int, int] = {}
    return [first.setdefault(label, v) for v, label in enumerate(labels)]


def components(case: Case) -> int:
    if case.directed:
        for call, mode in ((hw.weakly_connected_components, "weak"), (hw.strongly_connected_components, "strong")):
            theirs = case.igraph.connected_components(mode=mode).membership
            equal(partition(call(case.plain, device="cpu").labels.tolist()), partition(theirs), mode)
        equal(hw.is_strongly_connected(case.plain, device="cpu"), nx.is_strongly_connected(case.nx))
    else:
        theirs = case.igraph.connected_components().membership
        equal(partition(hw.connected_components(case.plain, device="cpu").labels.tolist()), partition(theirs))
        equal(hw.is_connected(case.plain, device="cpu"), nx.is_connected(case.nx))
    return 3 if case.directed else 2


def sides(case: Case) -> int:
    found = hw.is_bipartite(case.plain, device="cpu")
    equal(found, nx.is_bipartite(case.nx))
    if found:
        colour = hw.bipartite_sides(case.plain, device="cpu")
        equal(all(colour[u] != colour[v] for u, v in case.edges), True)
    return 1 + found


def triangles(case: Case) -> int:
    if case.directed:
        return 0
    G = nx.Graph(case.nx)
    G.remove_edges_from(list(nx.selfloop_edges(G)))
    same(hw.triangles(case.plain).scores, listed(nx.triangles(G), case.n))
    same(hw.core_numbers(case.plain).scores, listed(nx.core_number(G), case.n))
    return 2


# ---------------------------------------------------------------- betweenness


def betweenness(case: Case) -> int:
    given: dict[str, Any] = {"normalized": case.draw.random() < 0.5, "endpoints": case.draw.random() < 0.3}
    sources = case.some() if case.draw.random() < 0.4 else None
    targets = case.some() if case.draw.random() < 0.3 else None
    cutoff = case.draw.choice((None, None, 1, 2, 3))
    limits = {"sources": sources, "targets": targets, "cutoff": cutoff}
    found = hw.betweenness_centrality(case.plain, **given, **limits, **case.options())
    exact = oracle.betweenness(case.plain, sources, targets, cutoff=cutoff, **given)
    same(found.scores, [float(score) for score in exact], f"{given} {limits}")
    if sources is targets is cutoff is None:
        same(found.scores, listed(nx.betweenness_centrality(case.nx, **given), case.n), f"{given}")
    return 1


def betweenness_of_igraph(case: Case) -> int:
    cutoff = case.draw.choice((None, 1, 2, 4))
    found = hw.betweenness_centrality(case.plain, normalized=False, cutoff=cutoff, **case.options()).scores
    if case.n >= 3:
        same(found, case.igraph.betweenness(directed=case.directed, cutoff=cutoff), f"cutoff {cutoff}")
    return 1


def edge_betweenness(case: Case) -> int:
    normalized = case.draw.random() < 0.5
    found = hw.edge_betweenness_centrality(case.plain, normalized=normalized, **case.options()).to_dict()
    due = nx.edge_betweenness_centrality(case.nx, normalized=normalized)
    order = sorted(found)
    keys = [e if e in due else (e[1], e[0]) for e in order]
    same([found[e] for e in order], [due[e] for e in keys], f"edges {order}")
    equal(len(found), len(due))
    return 1


def weighted_betweenness(case: Case) -> int:
    given = {"normalized": case.draw.random() < 0.5, "endpoints": case.draw.random() < 0.3}
    found = hw.betweenness_centrality(case.weighted, weights=True, **given, **case.options())
    same(found.scores, listed(nx.betweenness_centrality(case.nx, weight="weight", **given), case.n), f"{given}")
    return 1


def sample(case: Case) -> int:
    k, seed = case.draw.randint(1, case.n), case.draw.randrange(1000)
    if k == 1:
        return 0  # NetworkX divides by zero for the source itself
    found = hw.betweenness_centrality(case.plain, k=k, seed=seed, **case.options())
    same(found.scores, listed(nx.betweenness_centrality(case.nx, k=k, seed=seed), case.n), f"k={k} seed={seed}")
    return 1


# ---------------------------------------------------------------- closeness and distances


def closeness(case: Case) -> int:
    improved, length = case.draw.random() < 0.5, case.draw.choice((None, "weight"))
    G = case.weighted if length else case.plain
    found = hw.closeness_centrality(G, wf_improved=improved, weights=True if length else None, **case.options())
    due = nx.closeness_centrality(case.nx, distance=length, wf_improved=improved)
    same(found.scores, listed(due, case.n), f"{length} {improved}")
    found = hw.harmonic_centrality(G, weights=True if length else None, **case.options())
    same(found.scores, listed(nx.harmonic_centrality(case.nx, distance=length), case.n), f"{length}")
    return 2


def highest(case: Case) -> int:
    top = case.draw.randint(1, case.n)
    for call, theirs in (
        (hw.closeness_centrality, nx.closeness_centrality),
        (hw.harmonic_centrality, nx.harmonic_centrality),
    ):
        found = call(case.plain, top=top, **case.options())
        scores = np.asarray(found.scores)
        best = sorted(theirs(case.nx).values(), reverse=True)[:top]
        same(sorted(scores[~np.isnan(scores)].tolist(), reverse=True)[:top], best, f"top={top}")
    return 2


def of_connected(case: Case) -> int:
    if not case.connected or case.n < 2:
        return 0
    G, N, options = case.plain, case.nx, case.options()
    far = nx.eccentricity(N)
    same(hw.eccentricity(G, **options).scores, listed(far, case.n))
    equal((hw.diameter(G, **options), hw.radius(G, **options)), (nx.diameter(N, far), nx.radius(N, far)))
    equal(sorted(hw.center(G, **options)), sorted(nx.center(N, far)))
    equal(sorted(hw.periphery(G, **options)), sorted(nx.periphery(N, far)))
    same(hw.average_shortest_path_length(G, **options), nx.average_shortest_path_length(N))
    same(hw.wiener_index(G, **options), nx.wiener_index(N))
    same(hw.eccentricity(case.weighted, weights=True, **options).scores, case.km.max(axis=1))
    return 8


def efficiency(case: Case) -> int:
    if case.directed or case.n < 2:
        return 0
    same(hw.global_efficiency(case.plain, **case.options()), nx.global_efficiency(case.nx))
    same(hw.local_efficiency(case.plain, **case.options()), nx.local_efficiency(case.nx))
    return 2


# ---------------------------------------------------------------- along weights, ranks


def shortest(case: Case) -> int:
    s = case.vertex()
    method = case.draw.choice(("auto", "dijkstra", "delta-stepping", "bellman-ford"))
    found = hw.sssp(case.weighted, s, weights=True, method=method, device="cpu")
    same(found.distances, case.km[s], f"from {s} by {method}")
    for v, p in enumerate(found.predecessors.tolist()):
        if v != s and np.isfinite(case.km[s, v]):
            same(case.km[s, p] + case.nx[p][v]["weight"], case.km[s, v], f"predecessor {p} of {v}")
    return 1


def many_shortest(case: Case) -> int:
    sources, limit = case.some(), case.draw.choice((None, None, 0.5, 3.0, 20.0))
    found = hw.sssp_many(case.weighted, sources, weights=True, limit=limit, **case.options())
    table = case.km[sources]
    same(found, table if limit is None else np.where(table <= limit, table, np.inf), f"{sources} within {limit}")
    return 1


def near(case: Case) -> int:
    s, limit = case.vertex(), case.draw.choice((1.0, 5.0, 100.0))
    found = hw.nearest(case.weighted, s, limit=limit, weights=True)
    due = nx.single_source_dijkstra_path_length(case.nx, s, cutoff=limit)
    equal(sorted(found), sorted(due), f"from {s} within {limit}")
    same([found[v] for v in sorted(found)], [due[v] for v in sorted(due)])
    return 1


def pagerank(case: Case) -> int:
    alpha, length = case.draw.choice((0.3, 0.5, 0.85)), case.draw.choice((None, "weight"))
    found = hw.pagerank(case.weighted if length else case.plain, alpha=alpha, tol=1e-13, max_iter=500, device="cpu")
    due = nx.pagerank(case.nx, alpha=alpha, tol=1e-13, max_iter=500, weight=length)
    same(found.scores, listed(due, case.n), f"alpha={alpha} {length}")
    return 1


def katz(case: Case) -> int:
    if case.n == 1:
        return 0  # which NetworkX cannot do
    greatest = max((case.igraph.maxdegree(loops=True), 1))
    alpha = 0.5 / greatest
    found = hw.katz_centrality(case.plain, alpha=alpha, tol=1e-13, device="cpu")
    due = nx.katz_centrality_numpy(case.nx, alpha=alpha, weight=None)
    same(found.scores, listed(due, case.n), f"alpha={alpha}")
    return 1


QUESTIONS: tuple[Callable[[Case], int], ...] = (
    search, path_counts, many, histogram, neighbourhood, one_path, all_paths, pairs_near,
    components, sides, triangles,
    betweenness, betweenness_of_igraph, edge_betweenness, weighted_betweenness, sample,
    closeness, highest, of_connected, efficiency,
    shortest, many_shortest, near, pagerank, katz,
)  # fmt: skip


def ask(question: Callable[[Case], int], case: Case) -> int:
    """One kind of question about one graph. Returns how many answers of hopwave were compared."""
    try:
        return question(case)
    except Exception as error:  # ours or another program's: both are worth a look
        name = type(error).__name__
        raise Difference(f"{question.__name__} of {case}: {name}: {error}") from error


def inputs(draw: random.Random, folder: Path, of: Iterable[Any] = QUESTIONS) -> Iterator[Attempt]:
    """One question after another about one graph after another."""
    while True:
        case = Case.drawn(draw)
        for question in of:
            yield lambda question=question, case=case: ask(question, case)
