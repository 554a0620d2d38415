"""Functions of distances with weights=, beside NetworkX and SciPy on random graphs; every way to give weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra

import hopwave as hw
from graphs import graphs
from hopwave import Graph, GraphError, generate
from hopwave.algorithms import distances as algorithm
from hopwave.api import choice

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


@st.composite
def weighted(draw: Any, joined: bool = False) -> Graph:
    """Random graphs with weights; if joined, a ring makes them (strongly) connected."""
    graph = draw(graphs(max_n=20))
    if joined:
        u, v = graph.to_edges()
        ring = np.array(draw(st.permutations(range(graph.n))))
        graph = Graph.from_edges(np.append(u, ring), np.append(v, np.roll(ring, 1)), graph.n, graph.directed)
    labels = [f"v{i}" for i in range(graph.n)] if draw(st.booleans()) else None
    return with_weights(graph, draw(st.sampled_from(sorted(KINDS))), draw(st.integers(0, 99)), labels)


def same(found: dict[Any, Any], expected: dict[Any, Any]) -> None:
    assert found.keys() == expected.keys()
    np.testing.assert_allclose(list(found.values()), [expected[v] for v in found], rtol=1e-12)


few = settings(max_examples=settings.default.max_examples // 2)


@few
@given(graph=weighted(), wf=st.booleans(), data=st.data())
def test_centralities_are_networkx(graph: Graph, wf: bool, data: Any) -> None:
    g = graph.to_networkx()
    same(
        hw.closeness_centrality(graph, wf_improved=wf, weights=True).to_dict(),
        nx.closeness_centrality(g, distance="weight", wf_improved=wf),
    )
    same(hw.harmonic_centrality(graph, weights=True).to_dict(), nx.harmonic_centrality(g, distance="weight"))
    some = data.draw(st.lists(st.sampled_from(list(graph)), min_size=1, unique=True))
    others = data.draw(st.lists(st.sampled_from(list(graph)), min_size=1, unique=True))
    same(
        hw.harmonic_centrality(graph, some, among=others, weights=True).to_dict(),
        nx.harmonic_centrality(g, nbunch=some, sources=others, distance="weight"),
    )
    d = dijkstra(graph.to_scipy(np.float64))
    inverse = np.divide(1.0, d, out=np.zeros(d.shape), where=d > 0).sum() / max(1, graph.n * (graph.n - 1))
    assert hw.global_efficiency(graph, weights=True) == pytest.approx(inverse, rel=1e-12)


@few
@given(graph=weighted(joined=True), small=st.booleans())
def test_extremes_and_sums_are_networkx(graph: Graph, small: bool) -> None:
    """Both with all searches at once, and with bounds that prune."""
    g = graph.to_networkx()
    right = nx.eccentricity(g, weight="weight")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(algorithm, "SMALL", 256 if small else 0)
        assert hw.eccentricity(graph, weights=True).to_dict() == right
        assert hw.diameter(graph, weights=True) == max(right.values())
        assert hw.radius(graph, weights=True) == min(right.values())
        assert hw.center(graph, weights=True) == nx.center(g, weight="weight")
        assert hw.periphery(graph, weights=True) == nx.periphery(g, weight="weight")
    assert hw.eccentricity(graph, [graph.label(0)], weights=True).to_dict() == {graph.label(0): right[graph.label(0)]}
    mean = hw.average_shortest_path_length(graph, weights=True)
    assert mean == pytest.approx(nx.average_shortest_path_length(g, weight="weight"), rel=1e-12)
    assert hw.wiener_index(graph, weights=True) == pytest.approx(nx.wiener_index(g, weight="weight"), rel=1e-12)
    d = dijkstra(graph.to_scipy(np.float64))
    sums = [math.fsum(row) for row in d]
    assert set(hw.barycenter(graph, weights=True)) == {graph.label(v) for v in np.flatnonzero(sums == np.min(sums))}


@few
@given(graph=weighted(), data=st.data())
def test_tables_are_scipys(graph: Graph, data: Any) -> None:
    sources = data.draw(st.lists(st.integers(0, graph.n - 1), min_size=1))
    names = [graph.label(s) for s in sources]
    right = dijkstra(graph.to_scipy(np.float64), indices=sources)
    assert np.array_equal(hw.sssp_many(graph, names), right)
    limit = data.draw(st.sampled_from([0.0, 0.3, 2, 1e9]))
    near = np.where(right <= limit, right, np.inf)
    assert np.array_equal(hw.sssp_many(graph, names, True, limit), near)
    assert np.array_equal(
        hw.sssp_many(graph, names, direction="in"), dijkstra(graph.reverse().to_scipy(np.float64), indices=sources)
    )
    blocks = list(hw.distance_blocks(graph, names, limit, weights=True, block_bytes=2 * 8 * graph.n))
    assert np.array_equal(np.concatenate([rows for _, rows in blocks]), near)
    assert [len(some) for some, _ in blocks[:-1]] == [2] * (len(blocks) - 1)
    assert [name for some, _ in blocks for name in some.tolist()] == names
    *ends, distance = hw.pairs_within(graph, limit, weights=True)
    source, target = (np.array([graph.index(v) for v in end.tolist()], int) for end in ends)
    whole = dijkstra(graph.to_scipy(np.float64))
    pairs = (whole <= limit) & ~np.eye(graph.n, dtype=bool)
    pairs &= graph.directed | np.triu(np.ones(pairs.shape, bool))
    assert len(source) == pairs.sum() and np.array_equal(whole[source, target], distance)


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


@pytest.mark.parametrize("kind", KINDS)
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
every_function = pytest.mark.parametrize("name", FUNCTIONS)


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


@pytest.mark.parametrize("ask", [hw.closeness_centrality, hw.harmonic_centrality])
def test_the_highest_along_weights(ask: Callable[..., Any]) -> None:
    every = ask(ROADS, weights=True)
    for top in (1, 3, 9):
        found = ask(ROADS, weights=True, top=top)
        assert list(found.to_dict().items()) == every.top(top)
        assert str(found.searches) == "4 searches whole, 0 cut off, 0 skipped"


@every_function
def test_weights_that_cannot_be_lengths(name: str) -> None:
    ask = FUNCTIONS[name]
    for weights, sentence in (
        ([-1.0], "weight -1 from 0 to 1 is negative; distances need weights of at least 0: correct it"),
        ([np.inf], "the weight from 0 to 1 is infinite; leave out an arc that no path can take"),
        ([1e308], r"weight 1e\+308 is so great that sums of distances may exceed float64"),
    ):
        with pytest.raises(GraphError, match=sentence):
            ask(Graph.from_edges([0], [1], n=4, weights=weights), weights=True)
    with pytest.raises(GraphError, match="weights=True takes the graph's own weights, and it has none"):
        ask(ROADS.without_weights(), weights=True)


@every_function
def test_a_gpu_has_weights_and_auto_takes_the_cpu_for_little_work(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
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


@pytest.mark.parametrize("limit", [-1, math.nan, "far", True])
def test_limits_that_are_no_lengths(limit: Any) -> None:
    for ask in (
        lambda: hw.sssp_many(ROADS, [0], limit=limit),
        lambda: hw.distance_blocks(ROADS, depth_limit=limit, weights=True),
        lambda: hw.pairs_within(ROADS, limit, weights=True),
    ):
        with pytest.raises(GraphError, match="is not a length; give a number from 0"):
            ask()


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


def test_graphs_that_are_not_connected_are_refused() -> None:
    apart = Graph.from_edges([0, 2], [1, 3], weights=[0.5, 0.5])
    for ask in (hw.diameter, hw.barycenter, hw.average_shortest_path_length):
        for device in ("cpu", "reference"):
            with pytest.raises(GraphError, match=r"the graph is not connected \(2 components\)"):
                ask(apart, weights=True, device=device)
    assert hw.wiener_index(apart, weights=True) == math.inf
    with pytest.raises(GraphError, match="eccentricity of 0 is infinite: it reaches 2"):
        hw.eccentricity(apart, [0], weights=True)
