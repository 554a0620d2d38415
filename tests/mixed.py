"""One call of every kind, for tests of concurrent calls and of calls after a fault.

`QUESTIONS[name](graph, device=…)` returns the answer as a NumPy array. One engine gives the same answer on every call;
two engines differ at most in the last bits of float64.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import hopwave as hw
from hopwave import Graph
from hopwave import linalg as la
from hopwave.arrays import on_host

Answer = Any
SearchJob = Callable[..., Answer]


def graph() -> Graph:
    """A directed graph with weights, small enough for every question: searches go the way of small graphs."""
    pattern = hw.generate.kronecker(9, 8, seed=4, directed=True)
    weights = np.random.default_rng(4).integers(1, 9, pattern.m).astype(np.float64)
    return Graph.from_csr(pattern.indptr, pattern.indices, directed=True, weights=weights)


def undirected() -> Graph:
    return hw.generate.kronecker(9, 8, seed=5)


def fresh(G: Graph) -> Graph:
    """A copy of the graph with nothing prepared."""
    weights = None if G.weights is None else G.weights.copy()
    return Graph.from_csr(G.indptr.copy(), G.indices.copy(), directed=G.directed, weights=weights)


def uploaded(G: Graph) -> Any:
    """What a GPU holds of the graph."""
    from hopwave.engines.cuda.graph import CudaGraph

    return G._prepared.find(CudaGraph)


def vector(n: int) -> la.Vector:
    """Values at every third place."""
    return la.Vector.from_entries(np.arange(0, n, 3), np.arange(0, n, 3) % 5 + 1.0, n)


def _product(semiring: str) -> SearchJob:
    def product(G: Graph, device: str) -> Answer:
        A = la.Matrix.from_graph(G, G.weights)
        return la.mxv(A, vector(G.n), la.semiring[semiring], device=device).to("cpu").to_dense(-1.0)

    return product


def _square(G: Graph, device: str) -> Answer:
    A = la.Matrix.from_graph(G)
    C = la.mxm(A, A, la.semiring.plus_pair, mask=A, structural=True, device=device).to("cpu")
    return np.concatenate([C.rows.indptr, C.rows.indices, C.stored_values()])


SOURCES = list(range(0, 400, 9))

QUESTIONS: dict[str, SearchJob] = {
    "search": lambda G, device: hw.bfs(G, 0, device=device).distances,
    "path counts": lambda G, device: hw.bfs(G, 0, path_counts=True, device=device).path_counts,
    "searches in turn": lambda G, device: [on_host(r.distances) for r in hw.bfs_each(G, range(9), device=device)],
    "searches at once": lambda G, device: hw.bfs_many(G, SOURCES, device=device),
    "shortest paths": lambda G, device: hw.sssp(G, 0, device=device).distances,
    "many shortest paths": lambda G, device: hw.sssp_many(G, SOURCES[:9], device=device),
    "betweenness": lambda G, device: hw.betweenness_centrality(G, sources=SOURCES, weights=False, device=device).scores,
    "betweenness of one source": lambda G, device: (
        hw.betweenness_centrality(G, sources=[1], weights=False, device=device).scores
    ),
    "betweenness of edges": lambda G, device: (
        hw.edge_betweenness_centrality(G, k=40, seed=1, weights=False, device=device).scores
    ),
    "weighted betweenness": lambda G, device: (
        hw.betweenness_centrality(G, sources=SOURCES[:20], weights=True, device=device).scores
    ),
    "sampled paths": lambda G, device: (
        hw.betweenness_centrality(G, epsilon=0.05, method="paths", seed=1, weights=False, device=device).scores
    ),
    "closeness": lambda G, device: hw.closeness_centrality(G, weights=False, device=device).scores,
    "weighted closeness": lambda G, device: hw.closeness_centrality(G, weights=True, device=device).scores,
    "distances counted": lambda G, device: hw.distance_histogram(G, device=device).counts,
    "pagerank": lambda G, device: hw.pagerank(G, tol=1e-12, device=device).scores,
    "hits": lambda G, device: hw.hits(G, tol=1e-12, device=device).hubs.scores,
    "weak components": lambda G, device: hw.weakly_connected_components(G, device=device).labels,
    "strongly connected": lambda G, device: int(hw.is_strongly_connected(G, device=device)),
    "product": _product("plus_times"),
    "product of minima": _product("min_plus"),
    "masked square": _square,
    "waves": lambda G, device: la.bfs(la.Matrix.from_graph(G), 0, device=device).to("cpu").to_dense(-1),
}


def answer(name: str, G: Graph, device: str) -> Any:
    """One answer, on the host."""
    return np.asarray(on_host(QUESTIONS[name](G, device=device)))


def agree(found: Any, expected: Any) -> bool:
    """Whether two answers are the same, up to rounding."""
    same = np.allclose(found, expected, rtol=1e-9, atol=1e-12, equal_nan=True)
    return bool(found.shape == expected.shape and same)


def wrong_in_eight_threads(graph: Graph, shared: bool, device: str, right: dict[str, Any]) -> list[list[str]]:
    """Eight threads ask everything at once, each starting with another question. Returns the wrong answers of each."""
    names, one = list(right), fresh(graph)

    def ask(thread: int) -> list[str]:
        mine = one if shared else fresh(graph)
        turn = [names[(thread * 5 + i) % len(names)] for i in range(len(names))]
        return [name for name in turn if not agree(answer(name, mine, device), right[name])]

    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(ask, range(8)))


class Events:
    """Counts events, and raises an error at the event that is to fail; `forget` drops what earlier calls have left."""

    def __init__(self, error: Callable[[], BaseException], forget: Callable[[], None] = lambda: None) -> None:
        self.error, self.forget, self.count, self.fails = error, forget, 0, 0

    def __call__(self) -> None:
        self.count += 1
        if self.count == self.fails:
            raise self.error()

    def begin(self, fails: int) -> None:
        self.count, self.fails = 0, fails
        self.forget()
