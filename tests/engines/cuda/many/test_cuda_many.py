"""Questions about many distances on a GPU: the same bits as the CPU engine's, however a level is computed."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

import hopwave as hw
from graphs import TRAPS
from hopwave import Graph, engines, generate
from hopwave.engines.cuda import policy
from hopwave.planning.many_sources import Sweep, Swept

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu")]

SOME = ["kronecker", "kronecker-directed", "delaunay", "hub-with-pendant", "hub-with-pendant-directed"]
FIELDS = ("reached", "total", "farthest", "inverse", "histogram", "columns", "rows")


def swept(device: str, graph: Graph, sources: Any, keep: Any, **more: Any) -> Swept:
    job = Sweep(np.asarray(sources, np.int64), keep, **more)
    return engines.engine(device).sweep(graph, job, lambda done: None, None)


def check(graph: Graph, sources: Any, keep: Any, **more: Any) -> None:
    """Equal to the CPU engine bit for bit, with plain and with compressed rows.

    Pairs at one distance are in any order on the CPU, and ascending on the GPU.
    """
    right = swept("cpu", graph, sources, keep, **more)
    for there in (graph, graph.to("cuda", compressed=True)):
        found = swept("cuda", there, sources, keep, **more)
        if keep == "pairs":
            assert np.array_equal(found.reached, right.reached)
            row = np.repeat(np.arange(len(sources)), right.reached)
            order = np.lexsort((right.pairs[0], right.pairs[1], row))
            assert all(np.array_equal(a, b[order]) for a, b in zip(found.pairs, right.pairs, strict=True))
            continue
        for field in FIELDS if keep != "rows" else ("rows",):
            assert getattr(found, field).tobytes() == getattr(right, field).tobytes(), field


def sweep(**changes: Any) -> dict[str, Any]:
    return {"SWEEP": replace(policy.SWEEP, **changes)}


def subgrids(count: int, blocks: int) -> dict[str, Any]:
    return {"subgrids_for": lambda *sizes: (count, blocks)}


def words(count: int) -> dict[str, Any]:
    return {"words_for": lambda sources, n, free: count}


# Changes of the policy that make a search go one way.
WAYS: dict[str, dict[str, Any]] = {
    "only pushes": sweep(push_cost=0), "only pulls": sweep(push_cost=1 << 40), "rows cut short": sweep(long_row=3),
    "few words": words(2), "many words": words(16), "little room": sweep(first_pairs=5, table_bytes=1),
    "counters overflow": subgrids(1, 1),  # a lane group has more than 63 rows
    "two subgrids": words(2) | subgrids(2, 3),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("keep", ["sums", "columns", "rows", "pairs"])
@pytest.mark.parametrize("name", SOME)
def test_every_way_gives_the_same_bits(name: str, keep: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for changed, value in WAYS[way].items():
        monkeypatch.setattr(policy, changed, value)
    graph = TRAPS[name]()
    sources = np.random.default_rng(2).integers(0, graph.n, 300)
    check(graph, sources, keep, limit=5)


@pytest.mark.parametrize("depth", [0, 100], ids=["as they come", "neighbours together"])
@pytest.mark.parametrize("keep", ["sums", "columns", "rows", "pairs"])
@pytest.mark.parametrize("name", ["kronecker", "kronecker-directed", "delaunay"])
def test_several_groups(name: str, keep: str, depth: int) -> None:
    graph = TRAPS[name]()
    sources = np.random.default_rng(3).integers(0, graph.n, 2500)
    check(graph, sources, keep, depth=depth)


LARGER: dict[str, Callable[[], Graph]] = {
    "kronecker": lambda: generate.kronecker(14, 16),
    "kronecker directed": lambda: generate.kronecker(16, 24, directed=True),
    "grid": lambda: generate.grid(200, 190, missing=0.03, seed=1),
    "star": lambda: generate.star(70_000),
}


@pytest.mark.parametrize("name", LARGER)
@pytest.mark.parametrize("grid", [None, (1, 1), (5, 7)], ids=str)
def test_larger_graphs(name: str, grid: tuple[int, int] | None, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = LARGER[name]()
    if grid is not None:
        monkeypatch.setattr(policy, "subgrids_for", lambda *sizes: grid)
    sources = np.random.default_rng(4).integers(0, graph.n, 1500)
    check(graph, sources, "sums", depth=50)
    check(graph, sources, "columns", weight="inverse", shift=40)
    check(graph, sources[:40], "rows")
    check(graph, sources[:40], "pairs", limit=2, upwards=True)


def test_a_long_row_is_looked_through_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a hub's row, early neighbours have the sources of every word's lower half, late ones the upper half."""
    monkeypatch.setattr(policy, "SWEEP", WAYS["only pulls"]["SWEEP"])
    hub, arms = 0, np.arange(1, 6001)
    ends = arms + len(arms)
    graph = Graph.from_edges(np.concatenate([np.full(len(arms), hub), arms]), np.concatenate([arms, ends]))
    place = np.arange(1024)
    sources = ends[np.where(place % 64 < 32, place, 4500 + place)]
    check(graph, sources, "sums")


def test_an_interrupted_run_stops_and_the_next_is_whole() -> None:
    graph, poll = generate.delaunay(4000), Mock(side_effect=KeyboardInterrupt)
    job = Sweep(np.tile(np.arange(graph.n, dtype=np.int64), 4), "sums")
    for there in (graph, graph.to("cuda", compressed=True)):
        with pytest.raises(KeyboardInterrupt):
            engines.engine("cuda").sweep(there, job, poll, None)
        assert swept("cuda", there, [0, 1], "sums").reached.tolist() == [4000, 4000]


@pytest.mark.parametrize("call", [hw.closeness_centrality, hw.connected_components, hw.distance_histogram])
def test_a_graph_without_vertices(call: Callable[..., Any]) -> None:
    graph = Graph.from_edges([], [], n=0)
    for there in (graph, graph.to("cuda", compressed=True)):
        assert str(call(there, device="cuda")) == str(call(graph, device="cpu"))


ROADS = {
    "grid": lambda: generate.grid(40, 50),
    "directed": lambda: generate.uniform(512, 3, seed=2, directed=True),
    "apart": lambda: Graph.from_edges([0, 2, 3], [1, 3, 4], n=6),
}


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("name", ROADS)
def test_tables_along_weights_have_the_cpus_bits(name: str, ties: bool) -> None:
    (source, target), rng = ROADS[name]().to_edges(), np.random.default_rng(3)
    lengths = np.floor(3 * rng.random(len(source))) if ties else rng.random(len(source))
    graph = Graph.from_edges(source, target, ROADS[name]().n, ROADS[name]().directed, weights=lengths)
    for count, targets, limit in ((300, 40, None), (3, 1, None), (1, 200, None), (300, 40, 1.0)):
        ask: Any = {"sources": rng.integers(0, graph.n, count), "targets": rng.permutation(graph.n)[:targets]}
        found, due = (hw.distance_table(graph, device=on, limit=limit, **ask).values for on in ("cuda", "cpu"))
        assert (found == due).all()
    values = rng.integers(0, 9, (graph.n, 3)).astype(float)
    for decay in (None, ("exponential", 0.7), ("gaussian", 0.7), ("power", 1.5), np.cos):
        more: Any = {"limit": [0.5, 1.0], "decay": decay}
        found, due = (hw.accessibility(graph, values, device=on, **more).sums for on in ("cuda", "cpu"))
        np.testing.assert_allclose(found, due, rtol=1e-14 if decay else 0, atol=1e-13 if decay else 0)
