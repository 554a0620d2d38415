"""Distances along weights from many sources: the CPU and reference engines against SciPy, on traps and random graphs.

The expected results (sums, columns, rows, pairs) are computed here from SciPy's table of distances.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra

from graphs import TRAPS, graphs
from hopwave import Graph, engines, generate
from hopwave.algorithms.distances import rounding
from hopwave.engines.cpu import policy
from hopwave.planning.many_sources import Sweep, Swept
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
    job = Sweep(np.asarray(sources, np.int64), keep, weighted=True, **more)
    return engines.engine(device).sweep(graph, job, lambda done: None, threads)


def table(graph: Graph, sources: Any, limit: float | None = None) -> Any:
    """SciPy's distances. Like hopwave, it reads stored zeros as arcs of length 0."""
    d = dijkstra(graph.to_scipy(np.float64), indices=sources, limit=np.inf if limit is None else limit)
    return d.reshape(len(sources), graph.n)


def check(device: str, graph: Graph, sources: Any, d: Any, limit: float | None = None, **how: Any) -> None:
    """Compare everything that can be kept with the distances d."""
    there, apart = np.isfinite(d), np.isfinite(d) & (d > 0)
    inverse = np.divide(1.0, d, out=np.zeros(d.shape), where=apart)
    lengths = np.where(there, d, 0.0)
    assert np.array_equal(run(device, graph, sources, "rows", limit=limit, **how).rows, d)
    found = run(device, graph, sources, "sums", limit=limit, **how)
    assert np.array_equal(found.reached, there.sum(1))
    assert np.array_equal(found.farthest, lengths.max(1, initial=0.0))
    np.testing.assert_allclose(found.total, [math.fsum(row) for row in lengths], rtol=2e-16)
    np.testing.assert_allclose(found.inverse, [math.fsum(row) for row in inverse], rtol=1e-15)
    columns = run(device, graph, sources, "columns", limit=limit, shift=-970, **how).columns
    scaled = np.ldexp(lengths, -970)
    np.testing.assert_allclose(columns, np.stack([there.sum(0), scaled.sum(0), (scaled**2).sum(0)], 1), rtol=1e-13)
    part = run(device, graph, sources, "columns", limit=limit, weight="inverse", shift=-1000, **how).columns
    np.testing.assert_allclose(part[:, 1], np.ldexp(inverse, -1000).sum(0), rtol=1e-13)
    pairs = run(device, graph, sources, "pairs", limit=limit, **how)
    others = there & (np.arange(graph.n) != np.asarray(sources).reshape(-1, 1))
    assert np.array_equal(pairs.reached, others.sum(1))
    row = np.repeat(np.arange(len(d)), pairs.reached)
    assert np.array_equal(d[row, pairs.pairs[0]], pairs.pairs[1])
    assert len(set(zip(row.tolist(), pairs.pairs[0].tolist(), strict=True))) == len(row)
    assert (np.diff(pairs.pairs[1])[np.diff(row) == 0] >= 0).all()


@kinds
@in_one_test("name", SMALL)
def test_traps(kind: str, name: str) -> None:
    graph = weighted(TRAPS[name](), kind)
    sources = np.arange(graph.n)
    check("cpu", graph, sources, table(graph, sources))


@kinds
@pytest.mark.parametrize("share", [0.1, 0.6])
def test_short_arcs_first(kind: str, share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in graphs of many arcs: with and without pulls, up to a limit, and up to some targets."""
    monkeypatch.setattr(policy, "short_arcs_first", lambda n, m, directed, *_: not directed and m > 0)
    monkeypatch.setattr(policy, "SHORT_SHARE", share)
    few = np.array([3, 5, 6])
    for make in (*(TRAPS[name] for name in SMALL[::3]), lambda: generate.kronecker(7), lambda: generate.grid(9, 9)):
        graph = weighted(make(), kind)
        sources = np.arange(0, graph.n, 3)
        d = table(graph, sources)
        check("cpu", graph, sources, d)
        check("cpu", graph, sources, table(graph, sources, 0.7), 0.7, threads=2)
        if graph.n > 6:
            assert np.array_equal(run("cpu", graph, sources, "rows", targets=few).rows, d[:, few])


@kinds
@in_one_test("name", ["source-of-in-degree-0-directed", "repeats", "barbell", "layers-directed"])
def test_the_reference_is_the_plain_version(kind: str, name: str) -> None:
    graph = weighted(TRAPS[name](), kind)
    sources = np.arange(0, graph.n, 2)
    check("reference", graph, sources, table(graph, sources))
    check("reference", graph, sources, table(graph, sources, 0.4), 0.4)


@settings(max_examples=settings.default.max_examples // 2)
@given(graph=graphs(max_n=40), data=st.data())
def test_random_graphs(graph: Graph, data: Any) -> None:
    """Sources in any order, repeated too; any limit; any number of threads; columns in several blocks."""
    graph = weighted(graph, data.draw(st.sampled_from(sorted(WEIGHTS))), data.draw(st.integers(0, 99)))
    sources = data.draw(st.lists(st.integers(0, graph.n - 1), max_size=60))
    limit = data.draw(st.none() | st.sampled_from([0.0, 0.1, 0.5, 2.0]))
    threads = data.draw(st.sampled_from([1, 2, 3]))
    block = data.draw(st.sampled_from([1, 7, None]))
    check("cpu", graph, sources, table(graph, sources, limit), limit, threads=threads, block=block)


@pytest.mark.parametrize("kind", ["zeros and ties", "whole", "fractions"])
@in_one_test("keep", ["sums", "columns", "rows", "pairs"])
def test_threads_and_numbers_of_vertices_change_no_bit(kind: str, keep: str) -> None:
    graph = weighted(generate.delaunay(300), kind)
    sources = np.random.default_rng(1).integers(0, graph.n, 200)
    first = run("cpu", graph, sources, keep, 1)
    for threads in (2, 3):
        other = run("cpu", graph, sources, keep, threads)
        for field in ("reached", "total", "farthest", "inverse", "columns", "rows"):
            assert getattr(first, field).tobytes() == getattr(other, field).tobytes(), field
        assert all(np.array_equal(a, b) for a, b in zip(first.pairs, other.pairs, strict=True))
    if keep == "sums":  # rounding errors are carried along, so the order of additions does not matter
        place = np.random.default_rng(2).permutation(graph.n)
        source, target = graph.to_edges()
        moved = Graph.from_edges(place[source], place[target], graph.n, weights=graph.edges().weights)
        other = run("cpu", moved, place[sources], keep, 2)
        assert first.total.tobytes() == other.total.tobytes() and first.inverse.tobytes() == other.inverse.tobytes()


def test_where_sums_of_weights_are_exact() -> None:
    for exact in ([1, 2, 3], [0.5, 0.25, 7], [0, 0, 0]):
        assert rounding(Graph.from_edges([0, 1, 2], [1, 2, 3], weights=exact)) == 0
    for rounded in ([0.1, 1, 1], [1, 2.0**52, 1]):
        assert rounding(Graph.from_edges([0, 1, 2], [1, 2, 3], weights=rounded)) > 0
