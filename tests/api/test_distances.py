"""Functions of distances: bounds that save searches, ways to give weights, labels; tests/questions has the numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra

import hopwave as hw
from hopwave import Graph, generate
from hopwave.algorithms import distances as algorithm
from hopwave.api import choice
from hopwave.engines.cpu.shortest_paths import deviations
from together import in_one_test


def bigger() -> list[Any]:
    shapes = {
        "grid": generate.grid(25, 30),
        "ring": generate.cycle(700),
        "directed-ring": generate.cycle(400, directed=True),
        "small-world": generate.smallworld(900, k=4, p=0.05),
        "delaunay": generate.delaunay(800),
        "tree": generate.barabasi_albert(700, 1),
        "scale-free": generate.barabasi_albert(800, 3),
    }
    u, v = generate.uniform(500, edge_factor=2, directed=True).to_edges()
    ring = np.arange(500)
    shapes["strong"] = Graph.from_edges(np.append(u, ring), np.append(v, np.roll(ring, 1)), directed=True)
    return list(shapes.values())


@in_one_test("graph", bigger())
def test_bounds_are_exact(graph: Graph) -> None:
    """On graphs so large that not all searches are made."""
    right = hw.bfs_many(graph, range(graph.n)).max(axis=1)
    assert np.array_equal(hw.eccentricity(graph).scores, right)
    assert hw.diameter(graph) == right.max()
    assert hw.radius(graph) == right.min()
    assert hw.center(graph) == np.flatnonzero(right == right.min()).tolist()
    assert hw.periphery(graph) == np.flatnonzero(right == right.max()).tolist()


def test_bounds_save_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """The diameter of a scale-free graph takes less than a fifth of its 3000 searches."""
    from hopwave.engines.cpu import Engine

    made = []
    plain = Engine.sweep

    def counted(self: Any, graph: Graph, job: Any, *rest: Any) -> Any:
        made.append(len(job.sources))
        return plain(self, graph, job, *rest)

    monkeypatch.setattr(Engine, "sweep", counted)
    assert hw.diameter(generate.barabasi_albert(3000, 2, seed=1)) > 4
    assert 1 < sum(made) < 600


def test_local_efficiency_of_a_vertex_with_many_neighbours() -> None:
    """More neighbours than a word has bits; the number of threads does not matter."""
    graph = generate.barabasi_albert(600, 4, seed=2)
    assert graph.degrees.max() > 64
    found = {hw.local_efficiency(graph, threads=threads) for threads in (1, 2, 3)}
    assert len(found) == 1
    assert math.isclose(found.pop(), nx.local_efficiency(graph.to_networkx()), rel_tol=1e-12)


def test_neighbourhoods_name_vertices_by_labels() -> None:
    numbers = Graph.from_edges([0, 1, 2, 2], [2, 3, 1, 3], labels=[0, 1, 7, 2])
    assert hw.k_hop(numbers, 7, 1).tolist() == [0, 1, 7, 2]
    assert hw.k_hop(numbers, 0, 1, direction="in").tolist() == [0, 7]
    arcs = Graph.from_edges(["ann", "bob"], ["bob", "cyd"], directed=True)
    assert hw.k_hop(arcs, "cyd", 1, direction="in").tolist() == ["bob", "cyd"]
    assert [column.tolist() for column in hw.pairs_within(arcs, 1)] == [["ann", "bob"], ["bob", "cyd"], [1, 1]]
    source, target, _ = hw.pairs_within(arcs, 0)
    assert len(source) == len(target) == 0
    plain = Graph.from_edges([0, 1], [1, 2])
    assert hw.k_hop(plain, 0, 1).dtype == np.int64
    assert [column.dtype for column in hw.pairs_within(plain, 1)] == [np.int32] * 3


@given(n=st.integers(1, 70), block=st.integers(0, 3000))
def test_blocks_keep_to_their_size(n: int, block: int) -> None:
    graph = generate.path(n)
    seen = []
    for ids, rows in hw.distance_blocks(graph, block_bytes=block):
        assert rows.nbytes <= max(block, 4 * n)
        assert np.array_equal(rows, np.abs(ids[:, None] - np.arange(n)))
        seen += ids.tolist()
    assert seen == list(range(n))


def test_progress_is_reported() -> None:
    told: list[tuple[int, int]] = []
    hw.closeness_centrality(generate.path(10), progress=lambda done, count: told.append((done, count)))
    assert told[-1] == (10, 10)
    hw.local_efficiency(generate.path(10), progress=lambda done, count: told.append((done, count)))
    assert told[-1] == (10, 10)


def test_methods_of_scores() -> None:
    scores = hw.closeness_centrality(Graph.from_edges(["hub", "hub"], ["a", "b"]))
    assert scores.top(1) == [("hub", 1.0)]
    assert len(scores) == 3
    assert "closeness, 3 vertices" in repr(scores)
    assert scores.to_pandas().index.tolist() == ["hub", "a", "b"]


P3 = generate.path(3)


EMPTY = Graph.from_edges([], [], n=0)


def test_empty_graphs_have_empty_results() -> None:
    assert hw.closeness_centrality(EMPTY).to_dict() == {}
    assert hw.harmonic_centrality(EMPTY).to_dict() == {}
    assert hw.eccentricity(EMPTY).to_dict() == {}
    assert hw.barycenter(EMPTY) == []
    assert math.isnan(hw.distance_histogram(Graph.from_edges([], [], n=3)).mean())
    assert hw.distance_histogram(P3).mean() == hw.distance_histogram(P3).to_pandas()["pairs"].dot([0, 1, 2]) / 6
    assert hw.global_efficiency(EMPTY) == 0.0
    assert hw.distance_histogram(EMPTY).counts.tolist() == []
    assert hw.bfs_many(EMPTY, []).shape == (0, 0)


def test_graphs_of_other_libraries() -> None:
    right = hw.closeness_centrality(P3).scores.tolist()
    assert hw.closeness_centrality(P3.to_scipy()).scores.tolist() == right
    assert hw.closeness_centrality(P3.to_networkx()).scores.tolist() == right


KINDS: dict[str, Callable[[Any], Any]] = {
    "whole": lambda x: np.ceil(5 * x),
    "zeros and ties": lambda x: np.floor(3 * x),
    "fractions": lambda x: x,
    "tiny beside huge": lambda x: np.where(x < 0.5, 1e-12 * x, 1e12 * x),
}


def with_weights(graph: Graph, kind: str, seed: int, labels: Any = None) -> Graph:
    source, target = graph.to_edges()
    numbers = np.random.default_rng(seed).random(len(source))
    return Graph.from_edges(source, target, graph.n, graph.directed, weights=KINDS[kind](numbers), labels=labels)


def test_pruning_keeps_the_bits_on_larger_graphs() -> None:
    """Graphs where only some searches are made: the extremes are those of a search from every vertex."""
    for graph in (generate.grid(30, 30), generate.delaunay(600), generate.kronecker(9, 4, seed=1).largest_component()):
        for kind in ("fractions", "whole"):
            roads = with_weights(graph, kind, 5)
            e = dijkstra(roads.to_scipy(np.float64)).max(1)
            assert hw.diameter(roads, weights=True) == e.max() and hw.radius(roads, weights=True) == e.min()
            assert hw.periphery(roads, weights=True) == np.flatnonzero(e == e.max()).tolist()
            assert hw.center(roads, weights=True) == np.flatnonzero(e == e.min()).tolist()
            assert np.array_equal(hw.eccentricity(roads, weights=True).scores, e)
    ring = generate.cycle(500, directed=True).with_weights(np.random.default_rng(1).random(500))
    e = dijkstra(ring.to_scipy(np.float64)).max(1)
    assert hw.diameter(ring, weights=True) == e.max() and hw.radius(ring, weights=True) == e.min()


def test_tiny_lengths_beside_an_unused_huge_one() -> None:
    """In units of the longest path these lengths are 0, and yet their sums are not exact."""
    lengths = 2.0**-200 * np.random.default_rng(2).random(400)
    roads = Graph.from_edges([*range(400), 0], [*range(1, 401), 400], weights=[*lengths, 2.0**960])
    e = dijkstra(roads.to_scipy(np.float64)).max(1)
    assert roads.n > algorithm.SMALL and np.array_equal(hw.eccentricity(roads, weights=True).scores, e)
    assert hw.periphery(roads, weights=True) == np.flatnonzero(e == e.max()).tolist()


def test_pruning_saves_searches() -> None:
    roads = with_weights(generate.grid(60, 60), "whole", 1)
    searched: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        sweep = algorithm.sweep
        patch.setattr(algorithm, "sweep", lambda *a: (searched.append(len(a[2].sources)), sweep(*a))[1])
        hw.diameter(roads, weights=True)
    assert 0 < sum(searched) < roads.n / 10


@in_one_test("kind", KINDS)
@pytest.mark.parametrize("shape", ["mesh", "components", "strong"])
def test_estimates_are_within_their_bounds(kind: str, shape: str) -> None:
    graph = {
        "mesh": lambda: generate.delaunay(300),
        "components": lambda: Graph.from_edges([0, 1, 2, 5, 6], [1, 2, 3, 6, 7], n=9),
        "strong": lambda: generate.cycle(60, directed=True),
    }[shape]()
    roads = with_weights(graph, kind, 3)
    for ask in (hw.closeness_centrality, hw.harmonic_centrality):
        exact = ask(roads, weights=True).scores
        for k in (2, min(120, graph.n - 1)):
            found = ask(roads, k=k, seed=2, weights=True)
            assert found.bounds is not None and not np.isnan(found.scores).any()
            assert (np.abs(found.scores - exact) <= found.bounds * (1 + 1e-9) + 1e-12 * (1 + exact)).all()
    if shape != "components":
        mean = hw.average_shortest_path_length(roads, k=50, seed=2, weights=True)
        assert isinstance(mean, hw.Estimate)
        assert mean.bounds[0] <= hw.average_shortest_path_length(roads, weights=True) <= mean.bounds[1]  # type: ignore[operator]


ROADS = Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 3], weights=[2, 2, 1, 9])


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "closeness": lambda G, **how: hw.closeness_centrality(G, **how).scores.tolist(),
    "harmonic": lambda G, **how: hw.harmonic_centrality(G, **how).scores.tolist(),
    "barycenter": hw.barycenter,
    "eccentricity": lambda G, **how: hw.eccentricity(G, **how).scores.tolist(),
    "diameter": hw.diameter,
    "radius": hw.radius,
    "center": hw.center,
    "periphery": hw.periphery,
    "mean": hw.average_shortest_path_length,
    "sum": hw.wiener_index,
    "efficiency": hw.global_efficiency,
    "blocks": lambda G, **how: [rows.tolist() for _, rows in hw.distance_blocks(G, **how)],
    "pairs": lambda G, **how: [column.tolist() for column in hw.pairs_within(G, 2, **how)],
    "table": lambda G, **how: hw.sssp_many(G, [0, 3], **how).tolist(),
}


every_function = in_one_test("name", FUNCTIONS)


@every_function
def test_every_way_to_give_weights(name: str) -> None:
    ask = FUNCTIONS[name]
    right = ask(ROADS, weights=True)
    assert right == ask(ROADS.without_weights(), weights=ROADS.weights)
    g = ROADS.to_networkx()
    nx.set_edge_attributes(g, nx.get_edge_attributes(g, "weight"), "km")
    assert right == ask(g, weights="km") == ask(g, weights=np.bool_(True)) == ask(ROADS.to_scipy(), weights=True)
    hops = ask(ROADS.without_weights())
    assert hops == ask(ROADS, weights=False) != right
    assert right == ask(ROADS, weights=True, device="reference") == ask(ROADS, weights=True, threads=2)
    if name in ("blocks", "pairs", "table"):  # tables follow the graph's own weights, as sssp does
        assert ask(ROADS) == right
    else:
        with pytest.warns(hw.IgnoredWeightsWarning, match="give weights=True to follow them"):
            assert ask(ROADS) == hops


@in_one_test("ask", [hw.closeness_centrality, hw.harmonic_centrality])
def test_the_highest_along_weights(ask: Callable[..., Any]) -> None:
    every = ask(ROADS, weights=True)
    for top in (1, 3, 9):
        found = ask(ROADS, weights=True, top=top)
        assert list(found.to_dict().items()) == every.top(top)
        assert str(found.searches) == "4 searches whole, 0 cut off, 0 skipped"


@every_function
def test_a_gpu_has_weights_and_auto_takes_the_cpu_for_little_work(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Which engine is asked can be seen without a GPU."""
    cuda = pytest.importorskip("hopwave.engines.cuda").Engine()
    engine, asked = choice.engines.engine, []
    monkeypatch.setattr(choice.engines, "engine", lambda device: cuda if device == "cuda" else engine(device))
    monkeypatch.setattr(choice, "has_gpu", lambda: True)
    monkeypatch.setattr(cuda, "_cooperative", lambda: True)
    monkeypatch.setattr(cuda, "components", engine("cpu").components)
    monkeypatch.setattr(cuda, "sweep", lambda *given: asked.append(given) or engine("cpu").sweep(*given))
    on_gpu = FUNCTIONS[name](ROADS, weights=True, device="cuda")
    assert asked and on_gpu == FUNCTIONS[name](ROADS, weights=True, device="cpu")
    asked.clear()
    assert FUNCTIONS[name](ROADS, weights=True) == on_gpu and not asked


def test_tables_of_graphs_without_weights_count_hops() -> None:
    path = Graph.from_edges([0, 1], [1, 2], n=4)
    assert hw.sssp_many(path, [0]).tolist() == [[0.0, 1.0, 2.0, math.inf]]
    assert hw.sssp_many(path, [0], limit=1.5).tolist() == [[0.0, 1.0, math.inf, math.inf]]
    assert hw.sssp_many(ROADS, [0], weights=False).tolist() == hw.bfs_many(ROADS, [0]).tolist()
    assert hw.sssp_many(path, []).shape == (0, 4)


def test_a_graph_without_edges_has_lengths_too() -> None:
    """No edge lacks the attribute, so distances are lengths, as for every other graph."""
    for graph, weights in ((nx.empty_graph(2), "km"), (Graph.from_edges([], [], n=2, weights=[]), True)):
        ((_, rows),) = hw.distance_blocks(graph, weights=weights)
        assert rows.dtype == np.float64 and rows.tolist() == [[0.0, math.inf], [math.inf, 0.0]]
        assert hw.eccentricity(nx.empty_graph(1), weights="km").scores.dtype == np.float64
        assert hw.betweenness_centrality(graph, weights=weights).plan.name == "brandes-dijkstra"


def test_a_sum_over_parts() -> None:
    apart = Graph.from_edges([0, 2], [1, 3], weights=[0.5, 0.5])
    assert hw.wiener_index(apart, weights=True) == math.inf


def test_lengths_are_those_of_scipys_yen() -> None:
    yen = pytest.importorskip("scipy.sparse.csgraph").yen
    source, target = generate.grid(6, 7).to_edges()
    graph = Graph.from_edges(source, target, weights=np.random.default_rng(1).integers(1, 99, len(source)) / 7)
    expected = yen(graph.to_scipy(), 0, 41, 30)
    np.testing.assert_allclose([one for one, _ in hw.k_shortest_paths(graph, 0, 41, 30)], expected, rtol=1e-12)


@pytest.mark.parametrize("directed", [False, True])
def test_what_is_left_over_holds_every_path_within_the_bound(directed: bool) -> None:
    """Arcs of length 0, parallel arcs and many ties: the k lengths are those without any bound."""
    draw = np.random.default_rng(7)
    for seed in range(8):
        u, v = draw.integers(0, 14, (2, 40))
        graph = Graph.from_edges(u, v, 14, directed, weights=draw.integers(0, 3, 40), repeats="keep")
        if not hw.has_path(graph, 0, 13):
            continue
        every = hw.k_shortest_paths(graph, 0, 13, 100_000)  # the trees have fewer paths: no bound
        for k in (1, 2, 7, 20):
            found = hw.k_shortest_paths(graph, 0, 13, k)
            assert [one for one, _ in found] == [one for one, _ in every[:k]], (seed, k)


def test_too_small_heaps_grow_and_calls_end_in_between(monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = generate.grid(6, 7).to_edges()
    graph = Graph.from_edges(source, target, weights=np.random.default_rng(2).integers(1, 99, len(source)) / 7)
    expected = hw.k_shortest_paths(graph, 0, 41, 40)

    class Small(deviations.Deviations):
        def find_lengths(self, spurs: Any, most: float) -> Any:
            self.heap = tuple(part[:4] for part in self.heap)
            return super().find_lengths(spurs, most)

        def find_paths(self, some: Any) -> None:
            self.heap = tuple(part[:4] for part in self.heap)
            super().find_paths(some)

    monkeypatch.setattr(deviations, "Deviations", Small)
    monkeypatch.setattr(deviations, "PIECE", 3)
    assert hw.k_shortest_paths(graph, 0, 41, 40) == expected


def test_paths_of_pairs_without_a_path() -> None:
    two = Graph.from_edges([0], [1], n=3, weights=[1.0])
    assert hw.shortest_paths(two, [(0, 2), (1, 1)]) == [None, [1]]
    assert hw.k_shortest_paths(two, 1, 1, 3) == [(0.0, [1])]
