"""Questions about many distances on a GPU: the same bits as the CPU engine's, however a level is computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import hopwave as hw
import mixed
from graphs import TRAPS
from hopwave import EngineError, Graph, engines, generate
from hopwave.engines.cuda import policy
from hopwave.planning.many_sources import Sweep, Swept

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu")]

SOME = [
    "kronecker",
    "kronecker-directed",
    "delaunay",
    "hub-with-pendant",
    "hub-with-pendant-directed",
    "two-components",
]
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


def set_policy(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    monkeypatch.setattr(policy, "SWEEP", replace(policy.SWEEP, **changes))


def set_subgrids(monkeypatch: pytest.MonkeyPatch, subgrids: int, blocks: int) -> None:
    monkeypatch.setattr(policy, "subgrids_for", lambda *sizes: (subgrids, blocks))


def only_pushes(monkeypatch: pytest.MonkeyPatch) -> None:
    set_policy(monkeypatch, push_cost=0)


def only_pulls(monkeypatch: pytest.MonkeyPatch) -> None:
    set_policy(monkeypatch, push_cost=1 << 40)


def rows_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    set_policy(monkeypatch, long_row=3)


def few_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "words_for", lambda sources, n, free: 2)


def many_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "words_for", lambda sources, n, free: 16)


def little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    set_policy(monkeypatch, first_pairs=5, table_bytes=1)


def one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a lane group more than 63 rows, so that its counters overflow."""
    set_subgrids(monkeypatch, 1, 1)


def two_subgrids(monkeypatch: pytest.MonkeyPatch) -> None:
    few_words(monkeypatch)
    set_subgrids(monkeypatch, 2, 3)


WAYS = [only_pushes, only_pulls, rows_cut_short, few_words, many_words, little_room, one_block, two_subgrids]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("keep", ["sums", "columns", "rows", "pairs"])
@pytest.mark.parametrize("name", SOME)
def test_every_way_gives_the_same_bits(
    name: str, keep: str, way: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    way(monkeypatch)
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
@pytest.mark.parametrize("subgrids", [None, (1, 1), (5, 7)], ids=str)
def test_larger_graphs(name: str, subgrids: tuple[int, int] | None, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = LARGER[name]()
    if subgrids is not None:
        set_subgrids(monkeypatch, *subgrids)
    sources = np.random.default_rng(4).integers(0, graph.n, 1500)
    check(graph, sources, "sums", depth=50)
    check(graph, sources, "columns", weight="inverse", shift=40)
    check(graph, sources[:40], "rows")
    check(graph, sources[:40], "pairs", limit=2, upwards=True)


def test_a_long_row_is_looked_through_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a hub's row, early neighbours have the sources of every word's lower half, late ones the upper half."""
    only_pulls(monkeypatch)
    hub, arms = 0, np.arange(1, 6001)
    ends = arms + len(arms)
    graph = Graph.from_edges(np.concatenate([np.full(len(arms), hub), arms]), np.concatenate([arms, ends]))
    place = np.arange(1024)
    sources = ends[np.where(place % 64 < 32, place, 4500 + place)]
    check(graph, sources, "sums")


# ---------------------------------------------------------------- components and paths


def test_components_of_many_parts() -> None:
    rng = np.random.default_rng(1)
    graph = Graph.from_edges(rng.integers(0, 100_000, 60_000), rng.integers(0, 100_000, 60_000), n=100_000)
    right = hw.connected_components(mixed.fresh(graph), device="cpu").labels
    for there in (graph, graph.to("cuda", compressed=True)):
        assert np.array_equal(hw.connected_components(there, device="cuda").labels, right)


# ---------------------------------------------------------------- every question, through the public functions


@pytest.mark.parametrize("call", [hw.closeness_centrality, hw.connected_components, hw.distance_histogram])
def test_a_graph_without_vertices(call: Callable[..., Any]) -> None:
    graph = Graph.from_edges([], [], n=0)
    for there in (graph, graph.to("cuda", compressed=True)):
        assert str(call(there, device="cuda")) == str(call(graph, device="cpu"))


# ---------------------------------------------------------------- where answers are, errors, Ctrl-C


def test_distances_stay_where_the_graph_is() -> None:
    cupy = pytest.importorskip("cupy")
    graph = TRAPS["kronecker"]()
    there = Graph.from_csr(cupy.asarray(graph.indptr), cupy.asarray(graph.indices), directed=False)
    rows = hw.bfs_many(there, range(200), device="cuda")
    assert isinstance(rows, cupy.ndarray)
    assert np.array_equal(rows.get(), hw.bfs_many(graph, range(200), device="cpu"))
    assert isinstance(hw.k_hop(there, 0, 1, device="cuda"), cupy.ndarray)
    giant = hw.connected_components(there, device="cuda").largest()
    assert isinstance(giant, np.ndarray)
    assert hw.diameter(fresh_grid(cupy), device="cuda") == 30


@pytest.mark.parametrize(
    "call",
    [
        hw.betweenness_centrality,
        hw.edge_betweenness_centrality,
        hw.closeness_centrality,
        lambda G, **where: hw.closeness_centrality(G, k=20, seed=1, **where),
        hw.harmonic_centrality,
        hw.eccentricity,
    ],
)
def test_scores_stay_where_the_graph_is(call: Any) -> None:
    cupy = pytest.importorskip("cupy")
    there, here = call(fresh_grid(cupy), device="cuda"), call(generate.grid(21, 11), device="cuda")
    assert isinstance(there.scores, cupy.ndarray) and isinstance(here.scores, np.ndarray)
    assert np.array_equal(there.scores.get(), here.scores)
    assert there.to_dict() == here.to_dict() and there.top(3) == here.top(3) and repr(there) == repr(here)
    assert there.to_pandas().equals(here.to_pandas())


def fresh_grid(cupy: Any) -> Graph:
    graph = generate.grid(21, 11)
    return Graph.from_csr(cupy.asarray(graph.indptr), cupy.asarray(graph.indices), directed=False)


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (lambda G: hw.local_efficiency(G, device="cuda"), "no local efficiency"),
        (lambda G: hw.closeness_centrality(G, device="cuda", threads=2), "threads=2"),
    ],
    ids=["local efficiency", "threads"],
)
def test_what_a_gpu_does_not_do_is_one_sentence(call: Callable[[Graph], Any], why: str) -> None:
    with pytest.raises(EngineError, match=rf"{why}.*device='cpu'"):
        call(TRAPS["kronecker-directed"]())


def test_an_interrupted_run_stops_and_the_next_is_whole() -> None:
    graph = generate.delaunay(4000)

    def poll(done: int) -> None:
        raise KeyboardInterrupt

    job = Sweep(np.tile(np.arange(graph.n, dtype=np.int64), 4), "sums")
    for there in (graph, graph.to("cuda", compressed=True)):
        with pytest.raises(KeyboardInterrupt):
            engines.engine("cuda").sweep(there, job, poll, None)
        assert swept("cuda", there, [0, 1], "sums").reached.tolist() == [4000, 4000]
