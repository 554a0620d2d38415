"""Searches from many sources: every engine that can, in shared or single searches, on every trap, against the oracle.

The expected results (sums, columns, rows, pairs) are computed here from a plain table of distances.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
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
from hopwave.engines.cpu.policy import batch_width
from hopwave.planning.many_sources import Sweep, Swept
from together import in_one_test

SMALL = [name for name, make in TRAPS.items() if make().n <= 220]
LARGE = [name for name in TRAPS if name not in SMALL]


def able(device: str) -> bool:
    """Whether an engine is available and searches from many sources."""
    try:
        return engines.engine(device.removesuffix(PACKED)).why_not_operation("sweep", TRAPS["path"]()) is None
    except EngineError:
        return False


PACKED = ", compressed rows"
machines = pytest.mark.parametrize(
    "device",
    [
        pytest.param(name, marks=pytest.mark.gpu) if "cuda" in name else name
        for name in (*engines.NAMES, f"cuda{PACKED}")
        if able(name)
    ],
)
shared_or_alone = pytest.mark.parametrize("together", [True, False], ids=["shared", "alone"])


def run(device: str, graph: Graph, sources: Any, keep: Any, threads: int | None = None, **more: Any) -> Swept:
    job = Sweep(np.asarray(sources, np.int64), keep, **more)
    if device.endswith(PACKED):
        device, graph = "cuda", graph.to("cuda", compressed=True)
    found = engines.engine(device).sweep(graph, job, lambda done: None, threads)
    return replace(found, rows=on_host(found.rows))


def table(graph: Graph, sources: Any, limit: int | None = None) -> Any:
    neighbours = oracle.adjacency(graph)
    rows = [oracle.search(neighbours, [int(s)], limit)[1] for s in sources]
    return np.array(rows, np.int64).reshape(len(rows), graph.n)


def check(device: str, graph: Graph, sources: Any, d: Any, limit: int | None = None, **how: Any) -> None:
    """Compare everything that can be kept with the distances d."""
    there = d > 0
    inverse = np.where(there, 1 / np.maximum(d, 1), 0.0)
    assert np.array_equal(run(device, graph, sources, "rows", limit=limit, **how).rows, d)
    found = run(device, graph, sources, "sums", limit=limit, **how)
    assert np.array_equal(found.reached, (d >= 0).sum(1))
    assert np.array_equal(found.total, np.where(there, d, 0).sum(1))
    assert np.array_equal(found.farthest, d.max(1, initial=0))
    np.testing.assert_allclose(found.inverse, inverse.sum(1), rtol=1e-13)
    assert np.array_equal(np.trim_zeros(found.histogram, "b"), np.bincount(d[d >= 0]) if len(d) else [])
    hops = run(device, graph, sources, "columns", limit=limit, **how).columns
    assert np.array_equal(hops, np.stack([(d >= 0).sum(0), (d * there).sum(0), (d * d * there).sum(0)], axis=1))
    part = run(device, graph, sources, "columns", limit=limit, weight="inverse", shift=40, **how).columns
    np.testing.assert_allclose(part[:, 1] / 2.0**40, inverse.sum(0), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(part[:, 2] / 2.0**40, (inverse**2).sum(0), rtol=1e-9, atol=1e-9)
    pairs = run(device, graph, sources, "pairs", limit=limit, **how)
    assert np.array_equal(pairs.reached, there.sum(1))
    row = np.repeat(np.arange(len(d)), pairs.reached)
    assert np.array_equal(d[row, pairs.pairs[0]], pairs.pairs[1])
    assert len(set(zip(row.tolist(), pairs.pairs[0].tolist(), strict=True))) == len(row)


@machines
@shared_or_alone
@in_one_test("name", SMALL)
def test_traps(device: str, together: bool, name: str) -> None:
    graph = TRAPS[name]()
    sources = np.arange(graph.n)
    check(device, graph, sources, distances(name), together=together)


@cache
def distances(name: str) -> Any:
    graph = TRAPS[name]()
    return table(graph, range(graph.n))


@machines
@shared_or_alone
@in_one_test("name", LARGE)
def test_large_traps_from_a_few_sources(device: str, together: bool, name: str) -> None:
    graph = TRAPS[name]()
    sources = np.unique(np.linspace(0, graph.n - 1, 5).astype(np.int64))
    check(device, graph, sources, table(graph, sources), together=together)


@machines
@given(graph=graphs(max_n=90), data=st.data())
def test_random_graphs(device: str, graph: Graph, data: Any) -> None:
    """Sources in any order, repeated too; any limit; any number of threads."""
    sources = data.draw(st.lists(st.integers(0, graph.n - 1), max_size=150))
    limit = data.draw(st.none() | st.integers(0, 4))
    how = {"together": data.draw(st.booleans())}
    if device == "cpu":
        how["threads"] = data.draw(st.sampled_from([1, 2, 3]))
    check(device, graph, sources, table(graph, sources, limit), limit, **how)


@in_one_test("keep", ["sums", "columns", "rows", "pairs"])
@pytest.mark.parametrize("name", ["kronecker", "kronecker-directed", "delaunay", "hub-with-pendant"])
def test_threads_and_sharing_change_no_bit(name: str, keep: str) -> None:
    graph = TRAPS[name]()
    sources = np.random.default_rng(1).integers(0, graph.n, 700)
    first = run("cpu", graph, sources, keep, 1, together=True, limit=4)
    for threads in (1, 2, 3):
        for together in (True, False):
            other = run("cpu", graph, sources, keep, threads, together=together, limit=4)
            for field in ("reached", "total", "farthest", "inverse", "histogram", "columns", "rows"):
                assert getattr(first, field).tobytes() == getattr(other, field).tobytes(), field
            assert all(np.array_equal(a, b) for a, b in zip(first.pairs, other.pairs, strict=True))


def test_counters_of_lanes_do_not_overflow() -> None:
    """One level has more vertices than a byte can count, for all 64 lanes."""
    graph = generate.star(5000)
    found = run("cpu", graph, np.arange(64), "sums", 1)
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
    apart = [hw.bfs(grid, int(group[0])).distances[group].max() for group in groups]
    assert np.median(apart) <= 16


@given(sources=st.integers(1, 10**6), workers=st.integers(1, 64))
def test_batches_are_dealt_evenly(sources: int, workers: int) -> None:
    width = batch_width(sources, workers, together=True)
    batches = -(-sources // width)
    assert 2 <= width <= 64
    assert batch_width(sources, workers, together=False) == 1
    if 2 * workers <= sources < 8 * workers * 64:
        assert batches <= workers * -(-sources // (workers * 64))


def test_an_interrupted_run_stops_and_says_so() -> None:
    """An exception from poll is passed on after the workers have left; the next run is complete."""
    graph = generate.delaunay(4000)

    def poll(done: int) -> None:
        raise KeyboardInterrupt

    job = Sweep(np.tile(np.arange(graph.n, dtype=np.int64), 40), "sums", together=False)
    with pytest.raises(KeyboardInterrupt):
        engines.engine("cpu").sweep(graph, job, poll, 2)
    assert run("cpu", graph, [0, 1], "sums").reached.tolist() == [4000, 4000]


def test_a_table_that_is_kept_is_not_written_to_again() -> None:
    graph = generate.kronecker(9, seed=1)
    kept = [hw.bfs_many(graph, [v], device="cpu") for v in range(4)]
    part = hw.bfs_many(graph, [4], device="cpu")[0, 5:9]  # a view keeps the whole table
    hw.bfs_many(graph, [5], device="cpu")
    right = [hw.bfs(graph, v, device="cpu").distances for v in range(5)]
    assert all((table[0] == row).all() for table, row in zip(kept, right[:4], strict=True))
    assert (part == right[4][5:9]).all()
