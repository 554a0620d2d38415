"""Closeness, eccentricity, efficiency and other functions of distances, compared with NetworkX.

On every trap, and with labels. tests/fuzz/score_questions.py has random graphs for those without.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hopwave as hw
from graphs import TRAPS, graphs
from hopwave import EngineError, Graph, GraphError, generate

SMALL = [name for name, make in TRAPS.items() if make().n <= 220]


@st.composite
def labelled(draw: Any, directed: bool | None = None, max_n: int = 20) -> Graph:
    """Random graphs, half of them with labels."""
    graph = draw(graphs(max_n=max_n, directed=directed))
    if draw(st.booleans()):
        return graph
    names: list[Any] = [f"v{i}" if i % 2 else (i, "x") for i in range(graph.n)]
    return Graph.from_edges(*graph.to_edges(), n=graph.n, directed=graph.directed, labels=names)


def same(found: dict[Any, Any], expected: dict[Any, Any]) -> None:
    assert found.keys() == expected.keys()
    for vertex, value in expected.items():
        assert math.isclose(found[vertex], value, rel_tol=1e-12, abs_tol=1e-12), vertex


def names(graph: Graph) -> list[Any]:
    return [graph.label(v) for v in range(graph.n)]


# ---------------------------------------------------------------- centralities


@given(graph=labelled(), data=st.data())
def test_harmonic(graph: Graph, data: Any) -> None:
    g = graph.to_networkx()
    same(hw.harmonic_centrality(graph).to_dict(), nx.harmonic_centrality(g))
    some = st.lists(st.sampled_from(names(graph)), min_size=1, unique=True)
    nbunch, among = data.draw(some), data.draw(some)
    same(hw.harmonic_centrality(graph, nbunch).to_dict(), nx.harmonic_centrality(g, nbunch=nbunch))
    same(hw.harmonic_centrality(graph, among=among).to_dict(), nx.harmonic_centrality(g, sources=among))
    same(
        hw.harmonic_centrality(graph, nbunch, among=among).to_dict(),
        nx.harmonic_centrality(g, nbunch=nbunch, sources=among),
    )


@pytest.mark.parametrize("name", SMALL)
def test_centralities_of_traps(name: str) -> None:
    graph = TRAPS[name]()
    g = graph.to_networkx()
    assert hw.closeness_centrality(graph).to_dict() == nx.closeness_centrality(g)
    same(hw.harmonic_centrality(graph).to_dict(), nx.harmonic_centrality(g))


# ---------------------------------------------------------------- eccentricity

FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "diameter": (hw.diameter, nx.diameter),
    "radius": (hw.radius, nx.radius),
    "center": (lambda G: sorted(hw.center(G), key=str), lambda g: sorted(nx.center(g), key=str)),
    "periphery": (hw.periphery, nx.periphery),
    "barycenter": (lambda G: sorted(hw.barycenter(G), key=str), lambda g: sorted(nx.barycenter(g), key=str)),
    "average": (hw.average_shortest_path_length, nx.average_shortest_path_length),
    "wiener": (hw.wiener_index, nx.wiener_index),
}


@pytest.mark.parametrize("name", [name for name in SMALL if "directed" not in name])
def test_eccentricities_of_traps(name: str) -> None:
    graph = TRAPS[name]()
    if not hw.is_connected(graph):
        assert hw.wiener_index(graph) == math.inf
        for ask in (hw.eccentricity, hw.diameter, hw.radius, hw.center, hw.barycenter, hw.average_shortest_path_length):
            with pytest.raises(GraphError, match="is infinite: the graph is not connected"):
                ask(graph)
        return
    g = graph.to_networkx()
    assert hw.eccentricity(graph).to_dict() == nx.eccentricity(g)
    for ours, theirs in FUNCTIONS.values():
        assert ours(graph) == theirs(g)


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
    return [pytest.param(graph, id=name) for name, graph in shapes.items()]


@pytest.mark.parametrize("graph", bigger())
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


# ---------------------------------------------------------------- sums over all pairs


@pytest.mark.parametrize("name", [name for name in SMALL if "directed" not in name])
def test_efficiencies_of_traps(name: str) -> None:
    g = TRAPS[name]().to_networkx()
    assert math.isclose(hw.global_efficiency(TRAPS[name]()), nx.global_efficiency(g), rel_tol=1e-12)
    assert math.isclose(hw.local_efficiency(TRAPS[name]()), nx.local_efficiency(g), rel_tol=1e-12)


def test_local_efficiency_of_a_vertex_with_many_neighbours() -> None:
    """More neighbours than a word has bits; the number of threads does not matter."""
    graph = generate.barabasi_albert(600, 4, seed=2)
    assert graph.degrees.max() > 64
    found = {hw.local_efficiency(graph, threads=threads) for threads in (1, 2, 3)}
    assert len(found) == 1
    assert math.isclose(found.pop(), nx.local_efficiency(graph.to_networkx()), rel_tol=1e-12)


@given(graph=labelled(), data=st.data())
def test_histogram(graph: Graph, data: Any) -> None:
    chosen = data.draw(st.none() | st.lists(st.sampled_from(names(graph))))
    lengths = dict(nx.all_pairs_shortest_path_length(graph.to_networkx()))
    found = hw.distance_histogram(graph, chosen)
    rows = [lengths[v] for v in (names(graph) if chosen is None else chosen)]
    everything = [d for row in rows for d in row.values()]
    assert found.counts.tolist() == (np.bincount(everything).tolist() if everything else [])
    assert found.unreached == len(rows) * graph.n - len(everything)
    assert found.to_pandas()["pairs"].sum() == len(everything)
    if any(everything):
        assert math.isclose(found.mean(), sum(everything) / sum(d > 0 for d in everything))
    else:
        assert math.isnan(found.mean())


# ---------------------------------------------------------------- neighbourhoods


@given(graph=labelled(), d=st.integers(0, 4), data=st.data())
def test_neighbourhoods(graph: Graph, d: int, data: Any) -> None:
    g = graph.to_networkx()
    v = data.draw(st.sampled_from(names(graph)))
    within = nx.single_source_shortest_path_length(g, v, cutoff=d)
    assert hw.k_hop(graph, v, d).tolist() == sorted(within, key=graph.index)
    pairs = {
        (s, t): length
        for s, row in nx.all_pairs_shortest_path_length(g, cutoff=d)
        for t, length in row.items()
        if s != t and (graph.directed or graph.index(s) < graph.index(t))
    }
    source, target, distance = hw.pairs_within(graph, d)
    assert dict(zip(zip(source.tolist(), target.tolist(), strict=True), distance.tolist(), strict=True)) == pairs
    assert len(source) == len(pairs)
    places = [graph.index(s) for s in source.tolist()]
    assert np.array_equal(np.lexsort((distance, places)), np.arange(len(source))), "by source, nearest first"
    source, target, distance = hw.pairs_within(graph, d, [v])
    assert dict(zip(target.tolist(), distance.tolist(), strict=True)) == {
        t: length for t, length in within.items() if t != v
    }


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


# ---------------------------------------------------------------- arguments and results


def test_results_do_not_depend_on_threads() -> None:
    graph = generate.kronecker(9, 5, seed=3)
    for ask in (hw.closeness_centrality, hw.harmonic_centrality):
        assert len({ask(graph, threads=threads).scores.tobytes() for threads in (1, 2, 3)}) == 1
    assert len({hw.global_efficiency(graph, threads=threads) for threads in (1, 2, 3)}) == 1


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


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda: hw.bfs_many(P3, 1), r"1 is not a list of vertices; for a single one give \[1\]"),
        (lambda: hw.bfs_many(P3, [9]), "9 is not a vertex of this graph; its vertices are the numbers 0 to 2"),
        (lambda: hw.bfs_many(P3, np.array([0, 9])), "vertices from 0 to 9 are not all in this graph"),
        (lambda: hw.bfs_many(P3, [0], direction="up"), "direction='up' is not known; use 'out' or 'in'"),
        (lambda: hw.bfs_many(P3, [0], depth_limit=-1), "depth_limit=-1 is not a number of hops"),
        (lambda: hw.k_hop(P3, 0, 1.5), "k=1.5 is not a number of hops"),
        (lambda: hw.k_hop(P3, 0, None), "k=None is not a number of hops"),
        (lambda: hw.pairs_within(P3, None), "d=None is not a number of hops"),
        (
            lambda: hw.closeness_centrality(P3, k=0),
            "k=0 sources cannot be drawn from 3 vertices; give a whole number from 1",
        ),
        (lambda: hw.closeness_centrality(P3, k=1, delta=2), "delta=2 is not a risk"),
        (lambda: hw.closeness_centrality(P3, delta=2), "delta=2 is not a risk"),
        (lambda: hw.harmonic_centrality(P3, [0], k=1), "k= draws its own sources"),
        (lambda: hw.harmonic_centrality(P3, among=[0], k=1), "k= draws its own sources"),
        (lambda: hw.diameter(EMPTY), "this graph has no vertices, so it has no diameter"),
        (lambda: hw.wiener_index(EMPTY), "this graph has no vertices"),
        (lambda: hw.local_efficiency(EMPTY), "this graph has no vertices"),
        (lambda: hw.eccentricity(generate.path(3, directed=True), [1]), "eccentricity of 1 is infinite: it reaches 2"),
        (lambda: hw.diameter(generate.path(3, directed=True)), r"take its largest strong component, .*\.largest\(\)"),
    ],
)
def test_errors(ask: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(GraphError, match=sentence):
        ask()


def test_empty_graphs_have_empty_results() -> None:
    assert hw.closeness_centrality(EMPTY).to_dict() == {}
    assert hw.harmonic_centrality(EMPTY).to_dict() == {}
    assert hw.eccentricity(EMPTY).to_dict() == {}
    assert hw.barycenter(EMPTY) == []
    assert hw.global_efficiency(EMPTY) == 0.0
    assert hw.distance_histogram(EMPTY).counts.tolist() == []
    assert hw.bfs_many(EMPTY, []).shape == (0, 0)


def test_an_engine_without_the_operation_says_so() -> None:
    with pytest.raises(EngineError, match="device='reference' answers one search at a time; use device='cpu'"):
        hw.closeness_centrality(P3, device="reference")


def test_graphs_of_other_libraries() -> None:
    right = hw.closeness_centrality(P3).scores.tolist()
    assert hw.closeness_centrality(P3.to_scipy()).scores.tolist() == right
    assert hw.closeness_centrality(P3.to_networkx()).scores.tolist() == right
