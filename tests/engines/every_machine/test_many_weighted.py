"""Distances along weights from many sources: everything that a sweep keeps, against SciPy's table of distances."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import test_many
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra

from graphs import TRAPS, graphs
from hopwave import Graph, generate
from hopwave.algorithms.distances import rounding
from hopwave.engines.cpu import policy
from hopwave.planning.many_sources import Swept
from together import in_one_test

SMALL = [name for name, make in TRAPS.items() if 0 < make().n <= 65]
# Each kind of weights is a different trap; all are made from one number per edge, the same for both directions.
WEIGHTS = {
    "equal": lambda x: np.full(len(x), 0.1),
    "whole": lambda x: np.ceil(5 * x),
    "zero": lambda x: np.zeros(len(x)),
    "zeros and ties": lambda x: np.floor(3 * x),
    "tiny beside huge": lambda x: np.where(x < 0.3, 1e-300, np.where(x < 0.6, 1e-9 * x, 1e290)),
    "fractions": lambda x: x,
}
kinds = pytest.mark.parametrize("kind", WEIGHTS)


def weighted(graph: Graph, kind: str, seed: int = 7) -> Graph:
    source, target = graph.to_edges()
    numbers = np.random.default_rng(seed).random(len(source))
    return Graph.from_edges(source, target, graph.n, graph.directed, weights=WEIGHTS[kind](numbers))


def run(device: str, graph: Graph, sources: Any, keep: Any, threads: int | None = None, **more: Any) -> Swept:
    return test_many.run(device, graph, sources, keep, threads, weighted=True, **more)


def table(graph: Graph, sources: Any, limit: float | None = None) -> Any:
    """SciPy's distances. Like hopwave, it reads stored zeros as arcs of length 0."""
    d = dijkstra(graph.to_scipy(np.float64), indices=sources, limit=np.inf if limit is None else limit)
    return d.reshape(len(sources), graph.n)


def check(device: str, graph: Graph, sources: Any, limit: float | None = None, **given: Any) -> None:
    def ask(keep: str, **how: Any) -> Swept:
        return run(device, graph, sources, keep, limit=limit, **given, **how)

    test_many.check(ask, sources, table(graph, sources, limit), (-970, -1000))


@pytest.mark.parametrize("share", [None, 0.1, 0.6])
@kinds
def test_traps(kind: str, share: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a share: short arcs first, as in graphs of many arcs, with and without pulls, to a limit or to targets."""
    if share is not None:
        monkeypatch.setattr(policy, "short_arcs_first", lambda n, m, directed, *_: not directed and m > 0)
        monkeypatch.setattr(policy, "SHORT_SHARE", share)
    few = np.array([3, 5, 6])
    for make in (*(TRAPS[name] for name in SMALL), lambda: generate.kronecker(7), lambda: generate.grid(9, 9)):
        graph = weighted(make(), kind)
        sources = np.arange(0, graph.n, 3)
        check("cpu", graph, sources)
        if share is not None:
            check("cpu", graph, sources, 0.7, threads=2)
            if graph.n > 6:
                found = run("cpu", graph, sources, "rows", targets=few).rows
                assert np.array_equal(found, table(graph, sources)[:, few])


@kinds
@in_one_test("name", ["source-of-in-degree-0-directed", "repeats", "barbell", "layers-directed"])
def test_the_reference_is_the_plain_version(kind: str, name: str) -> None:
    graph = weighted(TRAPS[name](), kind)
    for limit in (None, 0.4):
        check("reference", graph, np.arange(0, graph.n, 2), limit)


@settings(max_examples=settings.default.max_examples // 2)
@given(graph=graphs(max_n=40), data=st.data())
def test_random_graphs(graph: Graph, data: Any) -> None:
    """Sources in any order, repeated too; any limit; any number of threads; columns in several blocks."""
    graph = weighted(graph, data.draw(st.sampled_from(sorted(WEIGHTS))), data.draw(st.integers(0, 99)))
    sources = data.draw(st.lists(st.integers(0, graph.n - 1), max_size=60))
    limit = data.draw(st.none() | st.sampled_from([0.0, 0.1, 0.5, 2.0]))
    threads, block = data.draw(st.sampled_from([1, 2, 3])), data.draw(st.sampled_from([1, 7, None]))
    check("cpu", graph, sources, limit, threads=threads, block=block)


@pytest.mark.parametrize("kind", ["zeros and ties", "whole", "fractions"])
@in_one_test("keep", ["sums", "columns", "rows", "pairs"])
def test_threads_and_numbers_of_vertices_change_no_bit(kind: str, keep: str) -> None:
    graph = weighted(generate.delaunay(300), kind)
    sources = np.random.default_rng(1).integers(0, graph.n, 200)
    first, second = (run("cpu", graph, sources, keep, threads) for threads in (1, 3))
    assert all(getattr(first, name).tobytes() == getattr(second, name).tobytes() for name in test_many.FIELDS)
    assert all(np.array_equal(a, b) for a, b in zip(first.pairs, second.pairs, strict=True))
    if keep == "sums":  # rounding errors are carried along, so the order of additions does not matter
        place = np.random.default_rng(2).permutation(graph.n)
        source, target = graph.to_edges()
        moved = Graph.from_edges(place[source], place[target], graph.n, weights=graph.edges().weights)
        other = run("cpu", moved, place[sources], keep, 2)
        assert first.total.tobytes() == other.total.tobytes() and first.inverse.tobytes() == other.inverse.tobytes()


def test_where_sums_of_weights_are_exact() -> None:
    for weights, exact in (([1, 2, 3], True), ([0.5, 0.25, 7], True), ([0.1, 1, 1], False), ([1, 2.0**52, 1], False)):
        assert (rounding(Graph.from_edges([0, 1, 2], [1, 2, 3], weights=weights)) == 0) == exact
