"""Functions of distances: bounds that save searches, ways to give weights, labels; tests/questions has the numbers."""

import math
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra
from test_many import weighted

import hopwave as hw
from hopwave import Graph, generate
from hopwave.algorithms import distances as algorithm
from hopwave.engines.cpu import Engine
from hopwave.engines.cpu.shortest_paths import deviations
from rejections.api import ALONG
from together import in_one_test


def strong() -> Graph:
    u, v = generate.uniform(500, edge_factor=2, directed=True).to_edges()
    ring = np.arange(500)
    return Graph.from_edges(np.append(u, ring), np.append(v, np.roll(ring, 1)), directed=True)


LARGER = {
    "grid": lambda: generate.grid(25, 30),
    "ring": lambda: generate.cycle(700),
    "directed ring": lambda: generate.cycle(400, directed=True),
    "small world": lambda: generate.smallworld(900, k=4, p=0.05),
    "delaunay": lambda: generate.delaunay(800),
    "tree": lambda: generate.barabasi_albert(700, 1),
    "scale-free": lambda: generate.barabasi_albert(800, 3),
    "kronecker": lambda: generate.kronecker(9, 4, seed=1).largest_component().relabel(None),
    "strong": strong,
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["hops", "whole", "fractions"])
@in_one_test("name", LARGER)
def test_bounds_are_exact(name: str, kind: str) -> None:
    """On graphs so large that not all searches are made: to the bit, also along weights."""
    graph = LARGER[name]() if kind == "hops" else weighted(LARGER[name](), kind)
    how, e = {"weights": kind != "hops"}, dijkstra(graph.to_scipy(np.float64)).max(1)
    assert np.array_equal(hw.eccentricity(graph, **how).scores, e)
    assert hw.diameter(graph, **how) == e.max() and hw.radius(graph, **how) == e.min()
    assert hw.center(graph, **how) == np.flatnonzero(e == e.min()).tolist()
    assert hw.periphery(graph, **how) == np.flatnonzero(e == e.max()).tolist()


def test_tiny_lengths_beside_an_unused_huge_one() -> None:
    """In units of the longest path these lengths are 0, and yet their sums are not exact."""
    lengths = 2.0**-200 * np.random.default_rng(2).random(400)
    roads = Graph.from_edges([*range(400), 0], [*range(1, 401), 400], weights=[*lengths, 2.0**960])
    e = dijkstra(roads.to_scipy(np.float64)).max(1)
    assert roads.n > algorithm.SMALL and np.array_equal(hw.eccentricity(roads, weights=True).scores, e)
    assert hw.periphery(roads, weights=True) == np.flatnonzero(e == e.max()).tolist()


@pytest.mark.parametrize("kind", ["hops", "whole"])
def test_bounds_save_searches(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A diameter takes less than a fifth of all searches."""
    graph = generate.barabasi_albert(3000, 2, seed=1) if kind == "hops" else weighted(generate.grid(60, 60), kind)
    made, plain = [], Engine.sweep

    def counted(self: Any, graph: Graph, job: Any, *rest: Any) -> Any:
        made.append(len(job.sources))
        return plain(self, graph, job, *rest)

    monkeypatch.setattr(Engine, "sweep", counted)
    assert hw.diameter(graph, weights=kind != "hops") > 4
    assert 1 < sum(made) < graph.n / 5


REPORTING = hw.betweenness_centrality, hw.closeness_centrality, hw.local_efficiency, hw.stress_centrality, hw.hyperball


@in_one_test("ask", REPORTING)
def test_progress_is_reported(ask: Any) -> None:
    told: list[tuple[int, int]] = []
    ask(generate.path(10), progress=lambda done, count: told.append((done, count)))
    assert told[-1][0] == told[-1][1] > 1 and told == sorted(told)


ROADS = Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 3], weights=[2, 2, 1, 9])


@in_one_test("name", ALONG)
def test_every_way_to_give_weights(name: str) -> None:
    ask = ALONG[name]
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
        with pytest.warns(hw.IgnoredWeightsWarning, match="pass weights=True to use them"):
            assert ask(ROADS) == hops


def test_a_graph_without_edges_has_lengths_too() -> None:
    """No edge lacks the attribute, so distances are lengths, as for every other graph."""
    for graph, weights in ((nx.empty_graph(2), "km"), (Graph.from_edges([], [], n=2, weights=[]), True)):
        ((_, rows),) = hw.distance_blocks(graph, weights=weights)
        assert rows.dtype == np.float64 and rows.tolist() == [[0.0, math.inf], [math.inf, 0.0]]
        assert hw.betweenness_centrality(graph, weights=weights).plan.name == "brandes-dijkstra"


def sevenths() -> Graph:
    source, target = generate.grid(6, 7).to_edges()
    return Graph.from_edges(source, target, weights=np.random.default_rng(1).integers(1, 99, len(source)) / 7)


def test_lengths_are_those_of_scipys_yen() -> None:
    yen = pytest.importorskip("scipy.sparse.csgraph").yen
    found = [one for one, _ in hw.k_shortest_paths(sevenths(), 0, 41, 30)]
    np.testing.assert_allclose(found, yen(sevenths().to_scipy(), 0, 41, 30), rtol=1e-12)
    assert hw.k_shortest_paths(sevenths(), 1, 1, 3) == [(0.0, [1])]


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
    expected = hw.k_shortest_paths(sevenths(), 0, 41, 40)

    class Small(deviations.Deviations):
        def find_lengths(self, spurs: Any, most: float) -> Any:
            self.heap = tuple(part[:4] for part in self.heap)
            return super().find_lengths(spurs, most)

        def find_paths(self, some: Any) -> None:
            self.heap = tuple(part[:4] for part in self.heap)
            super().find_paths(some)

    monkeypatch.setattr(deviations, "Deviations", Small)
    monkeypatch.setattr(deviations, "PIECE", 3)
    assert hw.k_shortest_paths(sevenths(), 0, 41, 40) == expected
