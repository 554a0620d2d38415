"""Power iterations in one launch: rows of every length, the same bits in every run, the ranks of a direct solver."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve

import hopwave as hw
from hopwave import linalg as la
from hopwave.engines import NoShortcuts, algebra
from hopwave.planning.jobs import PowerJob

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu")]

EXACT: dict[str, Any] = {"tol": 1e-15, "max_iter": 1000}


def lengths() -> hw.Graph:
    """Vertices with 0 … 70, 1,023 … 1,026 and 20,000 in-arcs, and vertices without out-arcs."""
    rng = np.random.default_rng(5)
    n, wanted = 30_000, [*range(71), 127, 128, 129, 511, 512, 513, 1023, 1024, 1025, 1026, 2047, 2048, 2049, 20_000]
    tails = np.concatenate([rng.choice(n - 1000, length, replace=False) for length in wanted])
    heads = np.repeat(rng.choice(n, len(wanted), replace=False), wanted)
    return hw.Graph.from_edges(tails, heads, n=n, directed=True)


GRAPHS = {
    "lengths": lengths,
    "star": lambda: hw.generate.star(5000),
    "all into one": lambda: hw.Graph.from_edges(np.arange(1, 9000), np.zeros(8999, int), directed=True),
    "kronecker": lambda: hw.generate.kronecker(10, 16, seed=2),
    "kronecker directed": lambda: hw.generate.kronecker(11, 8, seed=3, directed=True),
    "grid": lambda: hw.generate.grid(90, 70, missing=0.1, seed=1),
    "path": lambda: hw.generate.path(1000, directed=True),
    "loop": lambda: hw.Graph.from_edges([0], [0], directed=True),
}
graphs = pytest.mark.parametrize("name", GRAPHS)


def solved(graph: hw.Graph, alpha: float, weights: Any = None, p: Any = None, q: Any = None) -> Any:
    """The ranks by SciPy's direct solver: x = α (x/S A + (Σ x at dead ends) q) + (1 − α) p, where Σ x = 1."""
    n = graph.n
    p = np.full(n, 1 / n) if p is None else p / p.sum()
    q = p if q is None else q / q.sum()
    A = sp.csr_array((np.ones(graph.m) if weights is None else weights, graph.indices, graph.indptr), shape=(n, n))
    S = A.sum(axis=1)
    follow = sp.diags_array(np.divide(alpha, S, out=np.zeros(n), where=S > 0)) @ A
    base, lost = spsolve((sp.eye_array(n) - follow.T).tocsc(), np.stack([(1 - alpha) * p, alpha * q], 1)).T
    dead = S == 0
    return base + lost * base[dead].sum() / (1 - lost[dead].sum())


@graphs
@pytest.mark.parametrize("weighted", [False, True])
def test_ranks_are_those_of_a_direct_solver(name: str, weighted: bool) -> None:
    graph, rng = GRAPHS[name](), np.random.default_rng(1)
    weights = None
    if weighted:
        rows = np.repeat(np.arange(graph.n), graph.degrees)
        weights = 1.0 + (rows * graph.indices) % 7
    given = {what: rng.random(graph.n) * (rng.random(graph.n) < 0.5) + 1e-9 for what in ("personalization", "dangling")}
    plain = hw.pagerank(graph, weights=weights, device="cuda", **EXACT).scores
    assert np.allclose(plain, solved(graph, 0.85, weights), rtol=1e-9, atol=1e-13)
    found = hw.pagerank(graph, 0.6, weights=weights, device="cuda", **EXACT, **given).scores
    assert np.allclose(found, solved(graph, 0.6, weights, *given.values()), rtol=1e-9, atol=1e-13)


@graphs
def test_rounds_are_those_of_products(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compares the numbers after a few rounds and after more: one round too many or too few would show."""
    graph = GRAPHS[name]()
    start = np.random.default_rng(4).random(graph.n)

    def all_three(change: float) -> list[Any]:
        options: dict[str, Any] = {"tol": change / graph.n, "nstart": start, "device": "cuda", "max_iter": 5000}
        return [
            hw.pagerank(graph, **options).scores,
            hw.eigenvector_centrality(graph, **options).scores,
            hw.katz_centrality(graph, 1e-4, start, **options).scores,
        ]

    for change in (0.3, 0.02):
        runs = [all_three(change) for _ in range(4)]
        with monkeypatch.context() as patch:
            patch.setattr(type(algebra("cuda")), "power_iteration", NoShortcuts.power_iteration)
            in_turn = all_three(change)
        for mine, theirs in zip(runs[0], in_turn, strict=True):
            assert np.allclose(mine, theirs, rtol=1e-11, atol=1e-15)
        assert all(np.array_equal(*pair) for run in runs for pair in zip(run, runs[0], strict=True)), "other bits"


def test_the_transpose_has_ranks_of_its_own() -> None:
    A = la.Matrix.from_graph(GRAPHS["kronecker directed"]())
    for matrix in (A, A.T, A):
        right = la.algorithms.pagerank(matrix, tol=1e-12).to_dense()
        found = la.algorithms.pagerank(matrix, tol=1e-12, device="cuda").to("cpu").to_dense()
        assert np.allclose(found, right, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("kind", ["grid", "grid directed", "pieces"])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_numbered_by_distance_give_the_same_ranks(
    kind: str, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large mesh whose vertices are numbered at random gets numbered by distance."""
    from dataclasses import replace

    from hopwave.engines.cuda.linalg import power

    monkeypatch.setattr(power, "POWER", replace(power.POWER, order_vertices=100, near=50, deep=8))
    mesh = hw.generate.grid(60, 50, missing=0.05, seed=3)
    n, edges = mesh.n, np.array(list(mesh.edges())).T
    if kind == "pieces":  # a second mesh that the first vertex does not reach, and vertices without arcs
        n, edges = 2 * n + 30, np.concatenate([edges, edges + n], axis=1)
    tails, heads = np.random.default_rng(4).permutation(n)[edges]
    graph = hw.Graph.from_edges(tails, heads, n=n, directed=kind == "grid directed")
    rows = np.repeat(np.arange(graph.n), graph.degrees)
    weights = 1.0 + (rows * graph.indices) % 7 if weighted else None
    matrix = la.Matrix.from_graph(graph, weights).to("cuda") if weighted else la.Matrix.from_graph(graph).to("cuda")
    assert power.dealt_columns(matrix, PowerJob(1.0, 0.0, 1)).order is not None
    for given in ({}, {"personalization": {7: 1.0, 11: 2.0}}):
        found = hw.pagerank(graph, weights=weights, device="cuda", **EXACT, **given).scores
        right = hw.pagerank(graph, weights=weights, device="cpu", **EXACT, **given).scores
        assert np.allclose(found, right, rtol=1e-9, atol=1e-15)
