"""Searches from many sources: everything that a sweep keeps, on every engine that can, against a table of distances."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hopwave as hw
import oracle
from graphs import TRAPS, graphs
from hopwave import EngineError, Graph, engines, generate
from hopwave.arrays import on_host
from hopwave.engines.cpu.many.run import neighbourhoods
from hopwave.planning.many_sources import Sweep, Swept
from together import in_one_test

PACKED = ", compressed rows"
FIELDS = "reached", "total", "farthest", "inverse", "histogram", "columns", "rows"


def able(device: str) -> bool:
    """Whether an engine is available and searches from many sources."""
    try:
        return engines.engine(device.removesuffix(PACKED)).why_not_operation("sweep", TRAPS["path"]()) is None
    except EngineError:
        return False


machines = pytest.mark.parametrize(
    "device",
    [
        pytest.param(name, marks=pytest.mark.gpu) if "cuda" in name else name
        for name in (*engines.NAMES, f"cuda{PACKED}")
        if able(name)
    ],
)


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
@pytest.mark.parametrize("together", [True, False], ids=["shared", "alone"])
@in_one_test("name", TRAPS)
def test_traps(device: str, together: bool, name: str) -> None:
    graph = TRAPS[name]()
    sources = np.unique(np.linspace(0, graph.n - 1, min(graph.n, 70 if graph.n <= 220 else 5)).astype(np.int64))
    check(
        lambda keep, **how: run(device, graph, sources, keep, together=together, **how), sources, table(graph, sources)
    )


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


@in_one_test("keep", ["sums", "columns", "rows", "pairs"])
@pytest.mark.parametrize("name", ["kronecker", "kronecker-directed", "delaunay", "hub-with-pendant"])
def test_threads_and_sharing_change_no_bit(name: str, keep: str) -> None:
    graph = TRAPS[name]()
    sources = np.random.default_rng(1).integers(0, graph.n, 700)
    first = run("cpu", graph, sources, keep, 1, together=True, limit=4)
    for threads, together in ((1, False), (2, True), (3, False), (3, True)):
        other = run("cpu", graph, sources, keep, threads, together=together, limit=4)
        assert all(getattr(first, field).tobytes() == getattr(other, field).tobytes() for field in FIELDS)
        assert all(np.array_equal(a, b) for a, b in zip(first.pairs, other.pairs, strict=True))


def test_counters_of_lanes_do_not_overflow() -> None:
    """One level has more vertices than a byte can count, for all 64 lanes."""
    found = run("cpu", generate.star(5000), np.arange(64), "sums", 1)
    assert found.reached.tolist() == [5000] * 64
    assert found.total.tolist() == [4999] + [1 + 2 * 4998] * 63


def test_neighbourhoods_hold_every_vertex_once_and_are_near() -> None:
    """On a grid most of a group's 64 sources are within a few hops of its first vertex."""
    grid = generate.grid(64, 64)
    for graph in (generate.kronecker(10, 8), Graph.from_edges([1], [2], n=200), grid):
        order = np.empty(graph.n, np.uint32)
        neighbourhoods(graph.indptr.view(np.uint32), graph.indices.view(np.uint32), order)
        assert np.array_equal(np.sort(order), np.arange(graph.n))
    groups = order.reshape(-1, 64).astype(np.int64)
    assert np.median([hw.bfs(grid, int(group[0])).distances[group].max() for group in groups]) <= 16


def test_a_table_that_is_kept_is_not_written_to_again() -> None:
    graph = generate.kronecker(9, seed=1)
    kept = [hw.bfs_many(graph, [v], device="cpu") for v in range(4)]
    part = hw.bfs_many(graph, [4], device="cpu")[0, 5:9]  # a view keeps the whole table
    hw.bfs_many(graph, [5], device="cpu")
    right = [hw.bfs(graph, v, device="cpu").distances for v in range(5)]
    assert all((table[0] == row).all() for table, row in zip(kept, right[:4], strict=True))
    assert (part == right[4][5:9]).all()
