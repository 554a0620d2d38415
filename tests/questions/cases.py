"""The graphs of the table of questions, in every program's form, and the source of arguments.

Random graphs are small and odd: loops, repeated edges, isolated vertices, many components, equal and very different
weights. A trap of tests/graphs.py becomes a case with random lengths.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np
from scipy.sparse import csgraph as scipy_graphs
from scipy.sparse import csr_matrix

from hopwave import Graph
from hopwave import linalg as la

LARGE = 220  # vertices, above which no table of all distances is made


def pairs(draw: random.Random, n: int) -> list[tuple[int, int]]:
    """The edges of one graph of some kind, with repeats and loops."""
    every = [(u, v) for u in range(n) for v in range(n)]
    kinds: dict[str, Callable[[], list[tuple[int, int]]]] = {
        "random": lambda: [(draw.randrange(n), draw.randrange(n)) for _ in range(draw.randint(0, 2 * n))],
        "sparse": lambda: [(draw.randrange(n), draw.randrange(n)) for _ in range(n // 2)],
        "dense": lambda: [edge for edge in every if draw.random() < 0.6],
        "tree": lambda: [(draw.randrange(v), v) for v in range(1, n)],
        "path": lambda: [(v, v + 1) for v in range(n - 1)],
        "cycle": lambda: [(v, (v + 1) % n) for v in range(n)],
        "star": lambda: [(0, v) for v in range(1, n)],
        "layers": lambda: [(u, v) for width in [draw.randint(1, 4)] for u, v in every if v // width == u // width + 1],
        "pieces": lambda: [(u, v) for u, v in every if v < u and u // 4 == v // 4 and draw.random() < 0.7],
    }
    edges = kinds[draw.choice(("random", *kinds))]()
    names = list(range(n))
    if draw.random() < 0.7:
        draw.shuffle(names)
    edges = [(names[u], names[v]) if draw.random() < 0.8 else (names[v], names[u]) for u, v in edges]
    return edges + [draw.choice(edges) for _ in range(draw.choice((0, 0, 3))) if edges]


# Lengths of edges. Sums of those above the line are equal or clearly differ, in whichever order they are added.
LENGTHS: dict[str, Any] = {
    "ones": lambda draw: 1.0,
    "whole": lambda draw: float(draw.randint(1, 5)),
    "halves": lambda draw: draw.randint(1, 40) / 8,
    "powers": lambda draw: float(2 ** draw.randint(-8, 12)),
    # ----
    "zeros": lambda draw: draw.randint(0, 2) * 1.5,
    "fractions": lambda draw: draw.randint(1, 30) / 10,
    "last bits": lambda draw: 1 + draw.randint(0, 3) * 2.0**-52,
    "tiny beside huge": lambda draw: 10.0 ** draw.randint(-12, 9),
    "random": lambda draw: draw.random() + 0.01,
}
SAFE = tuple(LENGTHS)[:4]


@dataclass
class Case:
    """One graph in every program's form, and the random source of arguments."""

    n: int
    edges: list[tuple[int, int]]
    directed: bool
    draw: random.Random = field(repr=False)
    device: str = "cpu"
    kind: str = "ones"
    lengths: list[float] = field(default_factory=list)
    plain_graph: Graph | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.memory: dict[Any, Any] = {}
        self.lengths = self.lengths or [LENGTHS[self.kind](self.draw) for _ in self.edges]

    @classmethod
    def drawn(cls, draw: random.Random, device: str = "cpu") -> Case:
        n = draw.choice((1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 33))
        listed = {}
        directed = draw.random() < 0.5
        for u, v in pairs(draw, n):  # one length per edge, however often and in whichever direction it is listed
            listed.setdefault((u, v) if directed or u <= v else (v, u), (u, v))
        return cls(n, list(listed.values()), directed, draw, device, draw.choice((*SAFE, *LENGTHS)))

    @classmethod
    def of(cls, graph: Graph, draw: random.Random, device: str = "cpu", kind: str = "halves") -> Case:
        """A graph of tests/graphs.py; loops and repeated edges of it are kept in `plain`."""
        edges = list(dict.fromkeys(zip(*(column.tolist() for column in graph.to_edges()), strict=True)))
        return cls(graph.n, edges, graph.directed, draw, device, kind, plain_graph=graph)

    def asked(self, row: Any) -> tuple[dict[str, Any], Any]:
        """Arguments of a row and the oracle's answer; rows that share both functions share them."""
        key = row.given, row.due
        if key not in self.memory:
            given = row.given(self)
            self.memory[key] = given, None if row.due is None else row.due(self, **given)
        given, due = self.memory[key]
        return dict(given), due

    def where(self, options: Any) -> dict[str, Any]:
        """The device, and a random number of threads, for a function that has these options."""
        threads = self.draw.choice((None, None, 1, 3)) if self.device == "cpu" else None
        found = {"device": self.device} if "device" in options else {}
        return found | ({"threads": threads} if threads and "threads" in options else {})

    # ---------------------------------------------------------------- arguments

    def vertex(self) -> int:
        return self.draw.randrange(self.n)

    def some(self, most: int | None = None) -> list[int]:
        return self.draw.sample(range(self.n), self.draw.randint(1, min(self.n, most or 12)))

    def maybe(self, value: Any, chance: float = 0.5) -> Any:
        """The value, or None."""
        return value if self.draw.random() < chance else None

    def flag(self, chance: float = 0.5) -> bool:
        return self.draw.random() < chance

    # ---------------------------------------------------------------- the graph, in every form

    @cached_property
    def ends(self) -> Any:
        return np.array(self.edges, np.int64).reshape(-1, 2).T

    @cached_property
    def plain(self) -> Graph:
        if self.plain_graph is not None:
            return self.plain_graph
        again = self.draw.sample(range(len(self.edges)), min(2, len(self.edges)))  # repeated edges are one edge
        u, v = np.concatenate([self.ends, self.ends[:, again]], axis=1)
        return Graph.from_edges(u, v, n=self.n, directed=self.directed)

    @cached_property
    def weighted(self) -> Graph:
        return Graph.from_edges(*self.ends, n=self.n, directed=self.directed, weights=np.array(self.lengths))

    @cached_property
    def matrix(self) -> la.Matrix:
        """The lengths; entry (u, v) is that of the arc from u to v."""
        return la.Matrix.from_graph(self.weighted)

    @cached_property
    def dense(self) -> Any:
        A = np.zeros((self.n, self.n))
        for (u, v), w in zip(self.edges, self.lengths, strict=True):
            A[u, v] = w
            A[v, u] = A[v, u] if self.directed else w
        return A

    @cached_property
    def nx(self) -> Any:
        G = nx.DiGraph() if self.directed else nx.Graph()
        G.add_nodes_from(range(self.n))
        G.add_weighted_edges_from((u, v, w) for (u, v), w in zip(self.edges, self.lengths, strict=True))
        return G

    @cached_property
    def simple(self) -> Any:
        """NetworkX's graph without loops."""
        G = self.nx.copy()
        G.remove_edges_from(list(nx.selfloop_edges(G)))
        return G

    @cached_property
    def igraph(self) -> Any:
        import igraph

        return igraph.Graph(n=self.n, edges=self.edges, directed=self.directed)

    @cached_property
    def arcs(self) -> set[tuple[int, int]]:
        return set(self.edges) if self.directed else {*self.edges, *((v, u) for u, v in self.edges)}

    def neighbours(self) -> dict[int, set[int]]:
        found: dict[int, set[int]] = {v: set() for v in range(self.n)}
        for u, v in self.arcs:
            if u != v:
                found[u].add(v)
        return found

    # ---------------------------------------------------------------- distances, by SciPy

    def _table(self, lengths: Any, sources: Any, backwards: bool) -> Any:
        u, v = self.ends
        loops = u == v
        if not self.directed:
            u, v, lengths = np.append(u, v[~loops]), np.append(v, u[~loops]), np.append(lengths, lengths[~loops])
        A = csr_matrix((lengths, (v, u) if backwards else (u, v)), shape=(self.n, self.n))
        return scipy_graphs.dijkstra(A, indices=sources)

    @cached_property
    def hops(self) -> Any:
        """All distances; inf if there is no path."""
        return self._table(np.ones(len(self.edges)), None, False)

    @cached_property
    def km(self) -> Any:
        """All lengths; inf if there is no path."""
        return self._table(np.array(self.lengths), None, False)

    def far(self, sources: list[int], direction: str = "out", weights: bool = False) -> Any:
        """Rows of the table of distances, also of a large graph."""
        lengths = np.array(self.lengths) if weights else np.ones(len(self.edges))
        return self._table(lengths, sources, direction == "in").reshape(len(sources), self.n)

    @property
    def connected(self) -> bool:
        return bool(np.isfinite(self.hops).all())

    @property
    def safe(self) -> bool:
        """Whether sums of lengths do not depend on the order in which they are added."""
        return self.kind in SAFE

    def listed(self, values: dict[int, Any]) -> list[Any]:
        return [values[v] for v in range(self.n)]
