"""Everything that a sweep from many sources keeps, by hops and along weights, against a table of distances."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra
from test_search import on

import hopwave as hw
import oracle
from graphs import TRAPS, graphs
from hopwave import Graph, engines, generate
from hopwave.algorithms import apart
from hopwave.algorithms.distances import rounding
from hopwave.arrays import on_host
from hopwave.engines.cpu import policy
from hopwave.planning.many_sources import Sweep, Swept
from questions import available
from together import PROFILE

PACKED = ", compressed rows"


machines = on([name for name in ("cuda", "cpu", f"cuda{PACKED}") if available(name.removesuffix(PACKED))])


def run(device: str, graph: Graph, sources: Any, keep: Any, threads: int | None = None, **more: Any) -> Swept:
    job = Sweep(np.asarray(sources, np.int64), keep, **more)
    if device.endswith(PACKED):
        device, graph = "cuda", graph.to("cuda", compressed=True)
    found = engines.engine(device).sweep(graph, job, lambda done: None, threads)
    return replace(found, rows=on_host(found.rows))


def table(graph: Graph, sources: Any, limit: int | None = None) -> Any:
    neighbours = oracle.adjacency(graph)
    rows = [oracle.search(neighbours, [int(s)], limit)[1] for s in sources]
    d = np.array(rows, float).reshape(len(rows), graph.n)
    return np.where(d < 0, np.inf, d)


def check(ask: Callable[..., Swept], sources: Any, d: Any, shifts: tuple[int, int] = (0, 40)) -> None:
    """Compare everything that can be kept with the distances d; ask(keep, …) makes the sweep."""
    there, apart, hops = np.isfinite(d), np.isfinite(d) & (d > 0), shifts[0] == 0
    inverse, lengths = np.divide(1.0, d, out=np.zeros(d.shape), where=apart), np.where(there, d, 0.0)
    rows = ask("rows").rows
    assert np.array_equal(np.where(rows < 0, np.inf, rows), d)
    found = ask("sums")
    assert np.array_equal(found.reached, there.sum(1))
    assert np.array_equal(found.farthest, lengths.max(1, initial=0))
    np.testing.assert_allclose(found.total, [math.fsum(row) for row in lengths], rtol=2e-16)
    np.testing.assert_allclose(found.inverse, [math.fsum(row) for row in inverse], rtol=1e-13)
    if hops:
        assert np.array_equal(np.trim_zeros(found.histogram, "b"), np.bincount(d[there].astype(int)) if len(d) else [])
    scaled = np.ldexp(lengths, shifts[0])
    expected = np.stack([there.sum(0), scaled.sum(0), (scaled**2).sum(0)], 1)
    np.testing.assert_allclose(ask("columns", shift=shifts[0]).columns, expected, rtol=1e-13)
    part = ask("columns", weight="inverse", shift=shifts[1]).columns
    np.testing.assert_allclose(part[:, 1], np.ldexp(inverse, shifts[1]).sum(0), rtol=1e-9, atol=2e3 * hops)
    if hops:
        np.testing.assert_allclose(np.ldexp(part[:, 2], -shifts[1]), (inverse**2).sum(0), rtol=1e-9, atol=1e-9)
    pairs = ask("pairs")
    others = there & (np.arange(d.shape[1]) != np.asarray(sources, np.int64).reshape(-1, 1))
    assert np.array_equal(pairs.reached, others.sum(1))
    row = np.repeat(np.arange(len(d)), pairs.reached)
    assert np.array_equal(d[row, pairs.pairs[0]], pairs.pairs[1])
    assert len(set(zip(row.tolist(), pairs.pairs[0].tolist(), strict=True))) == len(row)
    assert hops or (np.diff(pairs.pairs[1])[np.diff(row) == 0] >= 0).all()


@machines
@given(graph=graphs(max_n=90), data=st.data())
def test_random_graphs(device: str, graph: Graph, data: Any) -> None:
    """Sources in any order, repeated too; any limit; any number of threads."""
    sources = data.draw(st.lists(st.integers(0, graph.n - 1), max_size=150))
    limit = data.draw(st.none() | st.integers(0, 4))
    given: dict[str, Any] = {"together": data.draw(st.booleans()), "limit": limit}
    if device == "cpu":
        given["threads"] = data.draw(st.sampled_from([1, 2, 3]))
    check(lambda keep, **how: run(device, graph, sources, keep, **given, **how), sources, table(graph, sources, limit))


def test_counters_of_lanes_do_not_overflow() -> None:
    """One level has more vertices than a byte can count, for all 64 lanes."""
    found = run("cpu", generate.star(5000), np.arange(64), "sums", 1)
    assert found.reached.tolist() == [5000] * 64
    assert found.total.tolist() == [4999] + [1 + 2 * 4998] * 63


def test_a_table_that_is_kept_is_not_written_to_again() -> None:
    graph = generate.kronecker(9, seed=1)
    kept = [hw.bfs_many(graph, [v], device="cpu") for v in range(4)]
    part = hw.bfs_many(graph, [4], device="cpu")[0, 5:9]  # a view keeps the whole table
    hw.bfs_many(graph, [5], device="cpu")
    right = [hw.bfs(graph, v, device="cpu").distances for v in range(5)]
    assert all((table[0] == row).all() for table, row in zip(kept, right[:4], strict=True))
    assert (part == right[4][5:9]).all()


# ---------------------------------------------------------------- along weights

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


def weighted(graph: Graph, kind: str) -> Graph:
    source, target = graph.to_edges()
    numbers = np.random.default_rng(7).random(len(source))
    return Graph.from_edges(source, target, graph.n, graph.directed, weights=WEIGHTS[kind](numbers))


def lengths(graph: Graph, sources: Any, limit: float | None = None) -> Any:
    """SciPy's distances. Like hopwave, it reads stored zeros as arcs of length 0."""
    d = dijkstra(graph.to_scipy(np.float64), indices=sources, limit=np.inf if limit is None else limit)
    return d.reshape(len(sources), graph.n)


def check_lengths(device: str, graph: Graph, sources: Any, limit: float | None = None, **given: Any) -> None:
    ask = partial(run, device, graph, sources, weighted=True, limit=limit, **given)
    check(ask, sources, lengths(graph, sources, limit), (-970, -1000))


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("share", [None, 0.1, 0.6, 1])
@pytest.mark.parametrize("kind", WEIGHTS)
def test_weights(kind: str, share: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a share: short arcs first, as in graphs of many arcs, with and without pulls, to a limit or to targets. With
    a share of 1: 32 searches at once; on the long path, they give up.
    """
    if share == 1:
        monkeypatch.setattr(policy, "width_at_once", lambda *given: policy.SOURCES_AT_ONCE)
    elif share is not None:
        monkeypatch.setattr(policy, "short_arcs_first", lambda n, m, directed, *_: not directed and m > 0)
        monkeypatch.setattr(policy, "SHORT_SHARE", share)
    few, some = np.array([3, 5, 6]), SMALL if PROFILE == "complete" else SMALL[len(kind) % 2 :: 2]
    made = generate.kronecker(7), generate.grid(9, 9), generate.path(400)
    for graph in (*(TRAPS[name]() for name in some), *made):
        graph = weighted(graph, kind)
        sources = np.arange(0, graph.n, 3)
        check_lengths("reference" if share is None and graph.n < 40 else "cpu", graph, sources)
        check_lengths("cpu", graph, np.repeat(sources[::-1], 2), 0.7, threads=2, block=7)
        if graph.n > 6:
            found = run("cpu", graph, sources, "rows", targets=few, weighted=True).rows
            assert np.array_equal(found, lengths(graph, sources)[:, few])


@pytest.mark.parametrize("kind", ["zeros and ties", "whole", "fractions"])
def test_numbers_of_vertices_change_no_bit(kind: str) -> None:
    """Rounding errors are carried along, so the order of additions does not matter."""
    graph = weighted(generate.delaunay(300), kind)
    sources, place = np.random.default_rng(1).integers(0, graph.n, 200), np.random.default_rng(2).permutation(graph.n)
    source, target = graph.to_edges()
    moved = Graph.from_edges(place[source], place[target], graph.n, weights=graph.edges().weights)
    one = run("cpu", graph, sources, "sums", 1, weighted=True)
    two = run("cpu", moved, place[sources], "sums", 2, weighted=True)
    assert one.total.tobytes() == two.total.tobytes() and one.inverse.tobytes() == two.inverse.tobytes()


def test_where_sums_of_weights_are_exact() -> None:
    for weights, exact in (([1, 2, 3], True), ([0.5, 0.25, 7], True), ([0.1, 1, 1], False), ([1, 2.0**52, 1], False)):
        assert (rounding(Graph.from_edges([0, 1, 2], [1, 2, 3], weights=weights)) == 0) == exact


@on([name for name in ("cuda", "cpu") if available(name)])
def test_searches_in_parts_agree_with_searches_of_the_full_graph(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    sizes = rng.integers(1, 120, 40)
    first, size, name = np.repeat(np.cumsum(sizes) - sizes, sizes), np.repeat(sizes, sizes), rng.permutation(sum(sizes))
    ends = np.tile(name, 3), np.concatenate([name[first + rng.integers(0, size)] for _ in range(3)])
    both, weights = (False, True), rng.integers(1, 9, len(ends[0]))
    for ask, directed, weighted in product((hw.closeness_centrality, hw.betweenness_centrality), both, both):
        G = Graph.from_edges(*ends, directed=directed, weights=weights, combine="min")
        parts = ask(G, weights=weighted, device=device).scores
        with monkeypatch.context() as patch:
            patch.setattr(apart, "LEAST_GAIN", np.inf)
            assert np.allclose(parts, ask(G, weights=weighted, device=device).scores, rtol=1e-12, atol=0)
