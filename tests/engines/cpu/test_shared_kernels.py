"""Components, triangles and ranks by several threads, beside SciPy; and what must not depend on threads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

import hopwave as hw
from graphs import TRAPS
from hopwave.engines.cpu import policy

GRAPHS: dict[str, Callable[[], hw.Graph]] = {
    "hubs": lambda: hw.generate.kronecker(12, 8, seed=2),
    "hubs, directed": lambda: hw.generate.kronecker(12, 2, seed=1, directed=True),
    "thin": lambda: hw.generate.uniform(20_000, 1, seed=1),
    "grid": lambda: hw.generate.grid(90, 90, missing=0.1, seed=1),
    "mesh": lambda: hw.generate.delaunay(5000, seed=2),
    "small world": lambda: hw.generate.smallworld(5000, 10, 0.1, seed=1),
}
ALL = {**TRAPS, **GRAPHS}
every = pytest.mark.parametrize("name", ALL)


@pytest.fixture(autouse=True)
def _several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPWAVE_NUM_THREADS", "4")
    monkeypatch.setattr(policy, "ENTRIES_PER_THREAD", 1)


def matrix(graph: hw.Graph) -> sp.csr_matrix:
    return sp.csr_matrix((np.ones(graph.m), graph.indices, graph.indptr), shape=(graph.n, graph.n))


@every
def test_components_by_all_threads_are_those_of_scipy(name: str) -> None:
    graph = ALL[name]()
    found = hw.weakly_connected_components(graph, device="cpu").labels
    _, expected = connected_components(matrix(graph), connection="weak")
    first = np.unique(expected, return_index=True)[1]
    assert np.array_equal(found, np.argsort(np.argsort(first))[expected])
    again = hw.weakly_connected_components(graph, device="cpu").labels
    found[:] = -1  # the caller's own: no later answer changes
    assert again.min(initial=0) >= 0 and hw.weakly_connected_components(graph, device="cpu").count == len(first)


@pytest.mark.parametrize(("short", "looks"), [(1 << 30, 24), (0, 1 << 30), (0, 0)], ids=["walked", "marked", "sorted"])
@every
def test_triangles_are_counted_alike_in_every_way(
    name: str, short: int, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = ALL[name]()
    if graph.directed or graph.has_parallel_arcs:
        pytest.skip("triangles of undirected graphs without parallel arcs are counted")
    monkeypatch.setattr(policy, "SHORT_ROWS", short)
    monkeypatch.setattr(policy, "LOOKS_WORTH_SORTING", looks)
    A = matrix(graph)
    A.setdiag(0)
    corners = np.asarray((A @ A).multiply(A).sum(axis=1)).ravel() / 2
    assert hw.triangle_count(graph, device="cpu") == round(corners.sum() / 3)
    assert np.array_equal(hw.triangles(graph, device="cpu").scores, corners)


@pytest.mark.parametrize("by_degree", [False, True])
@pytest.mark.parametrize("name", GRAPHS)
def test_accelerated_ranks_keep_the_rule(name: str, by_degree: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another plain round changes them by less than the rule allows, and no bit depends on threads."""
    graph = GRAPHS[name]()
    monkeypatch.setattr(policy, "ARCS_TO_ACCELERATE", 0)
    if by_degree:
        monkeypatch.setattr(policy, "IRREGULAR", 0.0)
        monkeypatch.setattr(policy, "CACHED_VERTICES", 0)
        monkeypatch.setattr(policy, "SCATTERED", graph.n)
    degrees, jumps = np.diff(graph.indptr), np.random.default_rng(1).random(graph.n)
    follow = matrix(graph).T @ sp.diags(np.divide(1.0, degrees, out=np.zeros(graph.n), where=degrees > 0))
    for p, weights in ((None, None), (jumps, None), (jumps, np.full(graph.m, 2.0))):
        given = {"personalization": p, "tol": 1e-9 / graph.n, "weights": weights, "max_iter": 300, "device": "cpu"}
        x = hw.pagerank(graph, **given).scores  # type: ignore[arg-type]
        share = np.full(graph.n, 1 / graph.n) if p is None else p / p.sum()
        y = 0.85 * (follow @ x + x[degrees == 0].sum() * share) + 0.15 * share
        assert np.abs(y - x).sum() < 1e-9
        assert np.isclose(x.sum(), 1, rtol=1e-12)
        with monkeypatch.context() as patch:
            patch.setenv("HOPWAVE_NUM_THREADS", "1")
            assert np.array_equal(hw.pagerank(graph, **given).scores, x)  # type: ignore[arg-type]
