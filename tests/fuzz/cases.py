"""The fuzzers' graphs, in every program's form, and the comparison of answers.

They are small and odd: loops, repeated edges, isolated vertices, many components, equal and very different weights.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np
from difference import Difference
from scipy.sparse import csgraph as scipy_graphs
from scipy.sparse import csr_array

from hopwave import Graph

CLOSE = {"rtol": 1e-9, "atol": 1e-12}


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
    """Lengths of edges: equal, whole, halves, or over many powers of ten. Their sums are equal or clearly differ."""
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
    """One graph in every program's form, and the random source of arguments."""

    n: int
    edges: list[tuple[int, int]]
    lengths: list[float]
    directed: bool
    draw: random.Random = field(repr=False)
    device: str = "cpu"

    @classmethod
    def drawn(cls, draw: random.Random, device: str = "cpu") -> Case:
        n = draw.choice((1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 33))
        listed = {}
        directed = draw.random() < 0.5
        for u, v in pairs(draw, n):  # one length per edge, however often and in whichever direction it is listed
            listed.setdefault((u, v) if directed or u <= v else (v, u), (u, v))
        edges = list(listed.values())
        return cls(n, edges, weights(draw, len(edges)), directed, draw, device)

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
        import igraph

        return igraph.Graph(n=self.n, edges=self.edges, directed=self.directed)

    @cached_property
    def hops(self) -> Any:
        """SciPy's table of distances; inf if there is no path."""
        u, v = zip(*self.edges, strict=True) if self.edges else ((), ())
        A = csr_array((np.ones(len(u)), (np.array(u, np.int32), np.array(v, np.int32))), shape=(self.n, self.n))
        return scipy_graphs.shortest_path(A, method="D", directed=self.directed, unweighted=True)

    @cached_property
    def km(self) -> Any:
        """SciPy's table of lengths; inf if there is no path."""
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
        """Random device and threads for a question."""
        threads = self.draw.choice((None, None, 1, 3))
        return {"device": self.device, **({"threads": threads} if self.device == "cpu" else {})}

    def engine(self) -> dict[str, Any]:
        """A random device for a search; the reference engine is one of them."""
        return {"device": "reference"} if self.draw.random() < 0.2 else self.options()


def same(found: Any, expected: Any, about: str = "") -> None:
    """Raise Difference unless all numbers are equal up to rounding."""
    mine, theirs = np.asarray(found, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    if mine.shape != theirs.shape or not np.allclose(mine, theirs, **CLOSE, equal_nan=True):
        raise Difference(f"{about} found {mine.tolist()}, expected {theirs.tolist()}")


def equal(found: Any, expected: Any, about: str = "") -> None:
    """Raise Difference unless both are equal."""
    if found != expected:
        raise Difference(f"{about} found {found}, expected {expected}")


def listed(scores: dict[int, float], n: int) -> list[float]:
    return [scores[v] for v in range(n)]
