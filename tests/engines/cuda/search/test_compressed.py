"""Packed rows, on the GPU and across the bus: what they hold, searches of them, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_search import SEARCHES, expect, expect_trace, expected, questions, ready

import hopwave as hw
import mixed
import oracle
from graphs import TRAPS
from hopwave import EngineError, GraphError
from hopwave.api import choice
from hopwave.planning.jobs import SearchJob
from hopwave.planning.plan import Plan
from together import in_one_test

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not choice.has_gpu(), reason="no GPU")]

BLOCK_ARCS = 1 << 21
PLACES = {"on the GPU": None, "across the bus": 0}
SAID = r"rows are compressed on the GPU.* use device='cpu'"


@pytest.mark.parametrize("limit", [None, 0, 3 << 20], ids=["GPU", "host", "both"])
@pytest.mark.parametrize("count", [1, 31, 32, 33, BLOCK_ARCS - 1, 2 * BLOCK_ARCS + 17])
def test_packed_rows_hold_every_neighbour(count: int, limit: int | None) -> None:
    import cupy

    from hopwave.engines.cuda.compressed import PackedRows, head_bytes

    rng = np.random.default_rng(count)
    bits = rng.integers(1, 32, -(-count // 1000)).repeat(1000)[:count]
    values = (rng.integers(0, 2**31, count) >> (31 - bits)).astype(np.int32)
    packed = PackedRows(count, limit)
    for some in np.array_split(values, [count // 3, count // 2]):
        packed.add(cupy.asarray(some))
    np.testing.assert_array_equal(packed.finish().unpacked().get(), values)
    np.testing.assert_array_equal(packed.unpacked(count // 2, count).get(), values[count // 2 :])
    assert packed.bytes == head_bytes(count) + packed.device_bytes
    if limit is not None:
        assert packed.device_bytes <= limit and packed.host_bytes + packed.device_bytes > 0


def test_sorted_neighbours_take_few_bits() -> None:
    import cupy

    from hopwave.engines.cuda.compressed import PackedRows

    packed = PackedRows(1 << 16)
    packed.add(cupy.arange(1 << 16, dtype=np.int32))
    assert packed.finish().bytes * 8 < 8 * (1 << 16)  # five bits of an arc, two of a head


def compressed(graph: hw.Graph, place: str) -> hw.Graph:
    made = graph.to("cuda", compressed=True, memory_limit=PLACES[place])
    assert made.device == "cuda" and made.m == graph.m
    return made


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("plan", SEARCHES, ids=str)
@in_one_test("trap", TRAPS)
def test_searches_of_packed_rows(trap: str, plan: Plan, place: str) -> None:
    """Every plan: those of one launch read packed rows, and the others say that they do not."""
    from hopwave.engines.cuda.compressed import compress

    ready("cuda", plan, SearchJob())
    graph = mixed.fresh(TRAPS[trap]())
    compress(graph, PLACES[place])
    if plan.loop == "host":
        with pytest.raises(EngineError, match=SAID):
            hw.bfs(graph, 0, plan=plan, device="cuda")
        return
    for sources, options in questions(graph):
        right = expected(trap, tuple(sources), **options)[0]
        found = hw.bfs(graph, sources, plan=plan, device="cuda", trace=True, **options)
        expect(found, graph, sources, right, **options)
        expect_trace(found, graph, **options)
        bare = hw.bfs(graph, sources, plan=plan, predecessors=False, device="cuda", **options)
        np.testing.assert_array_equal(bare.distances, right)


@pytest.mark.parametrize("place", ["plain", *PLACES])
def test_rows_side_by_side_that_are_long_and_search_in_vain(place: str) -> None:
    """Where vertices are numbered by degree, all rows of a warp are long: the whole grid shares them."""
    first, second, last = np.split(np.arange(1, 4065), [2000, 4000])
    ways = [(0 * first, first), (first, second), (first, np.roll(second, 1))]
    ways += [(second[begin : begin + 600], np.full(600, hub)) for begin, hub in enumerate(last)]
    graph = hw.Graph.from_edges(*map(np.concatenate, zip(*ways, strict=True)), directed=True)
    there = graph.to("cuda") if place == "plain" else compressed(graph, place)
    found = hw.bfs(there, 0, device="cuda", trace=True)
    np.testing.assert_array_equal(found.distances.get(), oracle.distances(graph, 0))
    pull = found.trace[1]
    assert pull.direction == "pull" and pull.found == 2000 and pull.checked >= 64 * 600


MANY: dict[str, Callable[[hw.Graph, str], Any]] = {
    "sums": lambda G, device: hw.closeness_centrality(G, device=device).scores,
    "columns": lambda G, device: hw.harmonic_centrality(G, k=9, seed=1, device=device).scores,
    "rows": lambda G, device: hw.bfs_many(G, [1, 5, G.n - 1], device=device),
    "pairs": lambda G, device: np.unique(hw.pairs_within(G, 2, device=device), axis=1),  # in any order
    "pairs from": lambda G, device: np.unique(hw.pairs_within(G, 2, [7, 3], device=device), axis=1),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("asked", MANY)
@pytest.mark.parametrize("name", ["undirected", "directed", "deep"])
def test_many_sources_of_packed_rows(name: str, asked: str, place: str) -> None:
    """A deep graph has one block for each source."""
    graph = hw.generate.grid(150, 3) if name == "deep" else hw.generate.kronecker(9, 8, directed=name == "directed")
    found, right = MANY[asked](compressed(graph, place), "cuda"), MANY[asked](graph, "cpu")
    np.testing.assert_array_equal(found.get() if hasattr(found, "get") else found, right)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("trap", TRAPS)
def test_components_of_packed_rows(trap: str, place: str) -> None:
    graph = TRAPS[trap]()
    right = hw.weakly_connected_components(graph, device="cpu").labels
    np.testing.assert_array_equal(hw.weakly_connected_components(compressed(graph, place), "cuda").labels, right)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("plan", ["hopwave-block", "hopwave-wide", "auto"])
@pytest.mark.parametrize("trap", TRAPS)
def test_betweenness_on_packed_rows(trap: str, plan: str, place: str) -> None:
    import cupy

    graph = TRAPS[trap]()
    some = sorted({0, graph.n // 3, graph.n - 1})
    packed = compressed(graph, place)
    questions: list[dict[str, Any]] = [{"sources": some[:1]}, {"sources": some, "targets": some}]
    questions.append({"k": min(graph.n, 7), "seed": 1})
    if plan != "hopwave-wide":  # which has no demand
        questions.append({"sources": some, "source_weights": 0.5 + np.arange(graph.n) % 3})
    for asked in questions:
        found = hw.betweenness_centrality(packed, plan=plan, device="cuda", **asked)
        right = hw.betweenness_centrality(graph, device="cpu", **asked)
        np.testing.assert_allclose(cupy.asnumpy(found.scores), right.scores, rtol=1e-11, atol=1e-12)


def test_the_regime_of_betweenness_on_packed_rows() -> None:
    """Batches, which plain rows get, do not read packed ones."""
    graph = hw.generate.kronecker(12, 16, seed=3)
    found = [
        hw.betweenness_centrality(one, k=20, seed=1, device="cuda") for one in (graph, compressed(graph, "on the GPU"))
    ]
    assert [one.plan.name for one in found] == ["hopwave-batch", "hopwave-wide"]
    np.testing.assert_allclose(found[1].scores.get(), found[0].scores, rtol=1e-11)


RANKED = {
    **TRAPS,
    "cut rows": lambda: hw.Graph.from_edges(np.arange(1, 9000), np.zeros(8999, int), directed=True),
    "hot rows": lambda: hw.generate.kronecker(17, 16, seed=2),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", RANKED)
def test_ranks_of_packed_rows(name: str, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain rows are not uploaded. Rounds are those of plain rows: both end when the ranks change by less than tol."""
    import cupy

    from hopwave.algebra.matrix import Matrix

    graph = RANKED[name]()
    packed, rng = compressed(graph, place), np.random.default_rng(1)
    asked: list[dict[str, Any]] = [{}, {"tol": 1e-14, "max_iter": 500}]
    asked.append({"personalization": rng.random(graph.n) + 1e-9, "dangling": rng.random(graph.n) + 1e-9, "alpha": 0.6})
    right = [hw.pagerank(graph, device="cuda", **one).scores for one in asked]
    monkeypatch.setattr(Matrix, "to", lambda self, device: self)
    for one, ranks in zip(asked, right, strict=True):
        found = cupy.asnumpy(hw.pagerank(packed, **one).scores)  # without arcs, it is an array of the host
        np.testing.assert_allclose(found, ranks, rtol=1e-6 if not one else 1e-10)


@pytest.mark.parametrize(
    "ask",
    [
        lambda G: hw.eigenvector_centrality(G, max_iter=1000, device="cuda").scores,
        lambda G: hw.katz_centrality(G, 0.01, device="cuda").scores,
        lambda G: hw.pagerank(G, adaptive=True, device="cuda").scores,  # this and the next upload the plain rows
        lambda G: hw.hits(G, device="cuda").hubs.scores,
    ],
    ids=["eigenvector", "Katz", "adaptive", "hubs"],
)
def test_other_ranks_of_packed_rows(ask: Any) -> None:
    graph = hw.generate.kronecker(8, 8, seed=3, directed=True)
    np.testing.assert_allclose(ask(compressed(graph, "on the GPU")).get(), ask(graph), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("way", ["plain", "compressed", "across the bus"])
def test_rows_take_the_way_that_the_estimate_names(
    way: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    import cupy

    from hopwave.engines.cuda.graph import uploaded

    graph, free = hw.generate.kronecker(10, 64), [10**9]
    monkeypatch.setattr("hopwave.engines.cuda.policy.PACKED_ARCS", (1, 1))  # of a small graph, few are sorted at a time
    for place in ("hopwave.graph.graph", "hopwave.engines.cuda.compressed"):
        monkeypatch.setattr(f"{place}.ASK_FROM", 1)
    for name in ("hopwave.engines.cuda.buffers.free_memory", "hopwave.api.choice.free_on_gpu"):
        monkeypatch.setattr(name, lambda: free[0])
    if way != "plain":
        free[0] = hw.estimate_memory(graph, "bfs", device="cuda").bytes - 1
    if way == "across the bus":
        said = hw.estimate_memory(graph, "bfs", device="cuda")
        free[0] = said.bytes - said.parts["compressed rows"] // 2
    assert hw.estimate_memory(graph, "bfs", device="cuda").rows == way
    right = hw.bfs(graph, 0, device="cpu").distances
    for there in (graph, graph.to("cuda")):
        found = hw.bfs(there, 0, device="cuda").distances
        np.testing.assert_array_equal(cupy.asnumpy(found), right)
        held = uploaded(there).compressed
        assert (held is not None) == (way != "plain")
        assert (held is not None and held.host_bytes > 0) == (way == "across the bus")
    assert ("its rows are compressed" in caplog.text) == (way != "plain")
    assert ("stay on the host" in caplog.text) == (way == "across the bus")


def test_the_cpu_still_searches_it() -> None:
    graph = hw.generate.kronecker(8, seed=3)
    packed = graph.to("cuda", compressed=True)
    np.testing.assert_array_equal(hw.bfs(packed, 1, device="cpu").distances, hw.bfs(graph, 1, device="cpu").distances)
    assert packed.to("cpu").to("cuda")._gpu is not None


@pytest.mark.parametrize(
    "ask",
    [
        lambda G: hw.bfs(G, 0, path_counts=True, device="cuda"),
        lambda G: hw.betweenness_centrality(G, plan="hopwave-batch", device="cuda"),
        lambda G: hw.edge_betweenness_centrality(G, device="cuda"),
        lambda G: hw.strongly_connected_components(G, device="cuda"),
        lambda G: hw.betweenness_centrality(G, plan="turbobc-sccsc", device="cuda"),
        lambda G: hw.betweenness_centrality(G, epsilon=0.1, method="paths", seed=1, device="cuda"),
    ],
    ids=["path counts", "another regime", "edges", "strong components", "TurboBC", "sampled paths"],
)
def test_what_does_not_run_on_packed_rows_says_so(ask: Any) -> None:
    with pytest.raises(EngineError, match=SAID):
        ask(hw.generate.kronecker(8, seed=3, directed=True).to("cuda", compressed=True))


def test_wrong_options_are_refused() -> None:
    graph = hw.generate.path(5)
    with pytest.raises(GraphError, match="device='cpu' has no compressed rows"):
        graph.to("cpu", compressed=True)
    with pytest.raises(GraphError, match="memory_limit=-1 is not a number of bytes"):
        graph.to("cuda", memory_limit=-1)
