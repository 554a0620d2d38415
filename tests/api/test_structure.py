"""Clustering, modularity, degrees, cores and acyclic graphs, compared with NetworkX on random labelled graphs."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_distances import EMPTY, labelled, names, same

import hopwave as hw
from graphs import TRAPS
from hopwave import Graph, GraphError, LinalgError, generate

PARALLEL = Graph.from_edges([0, 0, 1, 0], [1, 1, 2, 2], repeats="keep")


def with_lengths(graph: Graph, seed: int) -> Graph:
    """The same graph with one weight per edge: 0 for some, 1 at least for one."""
    u, v = graph.to_edges()
    lengths = np.random.default_rng(seed).integers(0, 5, len(u)) / 4
    lengths[:1] = 1.0
    return Graph.from_edges(u, v, n=graph.n, directed=graph.directed, labels=graph.labels, weights=lengths)


# ---------------------------------------------------------------- clustering


@given(graph=labelled(), seed=st.integers(0, 99))
def test_clustering(graph: Graph, seed: int) -> None:
    g, heavy = graph.to_networkx(), with_lengths(graph, seed)
    found, expected = hw.clustering(graph).to_dict(), nx.clustering(g)
    same(found, expected)
    same(hw.clustering(heavy, weights=True).to_dict(), nx.clustering(heavy.to_networkx(), weight="weight"))
    same(hw.clustering(heavy).to_dict(), expected)
    assert hw.average_clustering(graph) == pytest.approx(nx.average_clustering(g))
    if any(expected.values()):
        assert hw.average_clustering(graph, False) == pytest.approx(nx.average_clustering(g, count_zeros=False))
    if not graph.directed:
        assert hw.transitivity(graph) == pytest.approx(nx.transitivity(g))
        same(hw.square_clustering(graph).to_dict(), nx.square_clustering(g))


@pytest.mark.parametrize("name", TRAPS)
def test_clustering_of_traps(name: str) -> None:
    graph = TRAPS[name]()
    same(hw.clustering(graph).to_dict(), nx.clustering(graph.to_networkx()))


def test_clustering_of_other_inputs() -> None:
    g = nx.karate_club_graph()
    expected = nx.clustering(g, weight="weight")
    same(hw.clustering(g, weights="weight").to_dict(), expected)
    same(hw.clustering(nx.to_scipy_sparse_array(g, dtype=float), weights=True).to_dict(), expected)


# ---------------------------------------------------------------- modularity


@given(graph=labelled(), seed=st.integers(0, 99), resolution=st.sampled_from([1, 0.5, 2.0]))
def test_modularity(graph: Graph, seed: int, resolution: float) -> None:
    if not graph.m:
        return
    heavy = with_lengths(graph, seed)
    label = np.random.default_rng(seed).integers(0, 4, graph.n)
    sets = [{name for name, one in zip(names(graph), label, strict=True) if one == c} for c in range(4)]
    for one in (graph, heavy):
        g = one.to_networkx()
        expected = nx.community.modularity(g, sets, resolution=resolution)
        assert hw.modularity(one, sets, resolution) == pytest.approx(expected, abs=1e-12)
        assert hw.modularity(one, label * 7, resolution) == pytest.approx(expected, abs=1e-12)
        unweighted = nx.community.modularity(g, sets, weight=None)
        assert hw.modularity(one, sets, weights=False) == pytest.approx(unweighted, abs=1e-12)


def test_modularity_of_found_communities_and_other_inputs() -> None:
    g = nx.karate_club_graph()
    G = Graph.from_networkx(g)
    found = hw.label_propagation(G, seed=1)
    assert found.modularity == hw.modularity(G, found, weights=False)
    assert found.modularity == pytest.approx(nx.community.modularity(g, found.sets(), weight=None))
    assert hw.modularity(nx.to_scipy_sparse_array(g), found) == pytest.approx(nx.community.modularity(g, found.sets()))
    assert hw.modularity(g, found, weights="weight") == pytest.approx(nx.community.modularity(g, found.sets()))
    several = nx.MultiGraph([(0, 1), (0, 1), (1, 2), (2, 2)])
    halves: list[set[int]] = [{0, 1}, {2}]
    assert hw.modularity(several, halves) == pytest.approx(nx.community.modularity(several, halves))


# ---------------------------------------------------------------- degrees and cores


@given(graph=labelled())
def test_degree_centralities(graph: Graph) -> None:
    g = graph.to_networkx()
    same(hw.degree_centrality(graph).to_dict(), nx.degree_centrality(g))
    if graph.directed:
        same(hw.in_degree_centrality(graph).to_dict(), nx.in_degree_centrality(g))
        same(hw.out_degree_centrality(graph).to_dict(), nx.out_degree_centrality(g))


def test_degrees_of_parallel_edges() -> None:
    expected = nx.degree_centrality(nx.MultiGraph([(0, 1), (0, 1), (1, 2), (0, 2)]))
    same(hw.degree_centrality(PARALLEL).to_dict(), expected)
    several = nx.MultiDiGraph([("a", "b"), ("a", "b"), ("b", "c"), ("c", "c"), ("c", "c")])
    for name in ("degree_centrality", "in_degree_centrality", "out_degree_centrality"):
        same(getattr(hw, name)(several).to_dict(), getattr(nx, name)(several))
    both_ways = several.to_undirected()
    same(hw.degree_centrality(both_ways).to_dict(), nx.degree_centrality(both_ways))


@given(graph=labelled(), k=st.one_of(st.none(), st.integers(0, 4)))
def test_cores(graph: Graph, k: int | None) -> None:
    g = graph.to_networkx()
    g.remove_edges_from(list(nx.selfloop_edges(g)))
    found, expected = hw.k_core(graph, k), nx.k_core(g, k)
    assert set(names(found)) == set(expected)
    assert found.directed == graph.directed
    u, v = found.to_edges()
    edges = {(names(found)[a], names(found)[b]) for a, b in zip(u.tolist(), v.tolist(), strict=True) if a != b}
    assert len(edges) == expected.number_of_edges() and all(expected.has_edge(*edge) for edge in edges)


def test_a_core_keeps_weights() -> None:
    G = Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], weights=[1, 2, 3, 4])
    assert sorted(np.unique(hw.k_core(G).weights).tolist()) == [1.0, 2.0, 3.0]


# ---------------------------------------------------------------- acyclic graphs


@given(graph=labelled(directed=True))
def test_orders_and_condensations(graph: Graph) -> None:
    g = graph.to_networkx()
    acyclic = nx.is_directed_acyclic_graph(g)
    assert hw.is_directed_acyclic_graph(graph) == acyclic
    if acyclic:
        place = {vertex: i for i, vertex in enumerate(hw.topological_order(graph))}
        assert set(place) == set(g) and all(place[u] < place[v] for u, v in g.edges)
    else:
        with pytest.raises(GraphError, match="on a cycle or behind one"):
            hw.topological_order(graph)
    C, components = hw.condensation(graph)
    theirs = nx.condensation(g)
    number = {frozenset(some): i for i, some in enumerate(components.sets())}
    mine = {i: number[frozenset(theirs.nodes[i]["members"])] for i in theirs}
    assert {(mine[u], mine[v]) for u, v in theirs.edges} == set(C.edges())
    assert C.n == len(theirs) and hw.is_directed_acyclic_graph(C)


def test_deep_orders() -> None:
    deep = generate.path(100_000, directed=True)
    assert hw.topological_order(deep) == list(range(100_000))
    u = np.arange(99_999)
    assert hw.topological_order(Graph.from_edges(u + 1, u, directed=True))[0] == 99_999


# ---------------------------------------------------------------- errors

ARCS = generate.path(3, directed=True)
EDGES = generate.path(3)


@pytest.mark.parametrize(
    "ask, message",
    [
        (lambda: hw.transitivity(ARCS), "transitivity needs an undirected graph"),
        (lambda: hw.square_clustering(ARCS), "square clustering needs an undirected graph"),
        (lambda: hw.square_clustering(PARALLEL), "some are there twice"),
        (lambda: hw.average_clustering(EMPTY), "no vertex is there .* give a graph with one"),
        (lambda: hw.average_clustering(EDGES, count_zeros=False), "no vertex is there .* give count_zeros=True"),
        (lambda: hw.clustering(EDGES, weights=np.zeros(4)), "every weight is 0"),
        (lambda: hw.clustering(EDGES, weights=-np.ones(4)), "negative"),
        (lambda: hw.in_degree_centrality(EDGES), "use degree_centrality"),
        (lambda: hw.out_degree_centrality(EDGES), "use degree_centrality"),
        (lambda: hw.k_core(EDGES, -1), "not a number of neighbours"),
        (lambda: hw.k_core(EDGES, True), "not a number of neighbours"),
        (lambda: hw.modularity(EDGES, [{0, 1}]), "vertex 2 is in 0 communities"),
        (lambda: hw.modularity(EDGES, [{0, 1}, {1, 2}]), "vertex 1 is in 2 communities"),
        (lambda: hw.modularity(EDGES, [{0, 1, 2, 9}]), "9"),
        (lambda: hw.modularity(EDGES, np.zeros(2, int)), "one whole number for each of the 3 vertices"),
        (lambda: hw.modularity(EDGES, np.zeros(3)), "one whole number for each"),
        (lambda: hw.modularity(EDGES, [{0, 1, 2}], -1), "resolution=-1"),
        (lambda: hw.modularity(EDGES, [{0, 1, 2}], True), "resolution=True"),
        (lambda: hw.modularity(EMPTY, []), "sum up to 0"),
        (lambda: hw.topological_order(EDGES), "needs a directed graph"),
        (lambda: hw.condensation(EDGES), "needs a directed graph"),
    ],
)
def test_errors(ask: Any, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        ask()


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weights", [False, True])
def test_parallel_edges_are_refused_by_clustering(directed: bool, weights: bool) -> None:
    G = Graph.from_edges([0, 0, 1], [1, 1, 2], repeats="keep", directed=directed, weights=[1, 1, 1])
    with pytest.raises(LinalgError, match=r"twice|more than once"):
        hw.clustering(G, weights=weights)


def test_graphs_without_vertices() -> None:
    assert hw.clustering(EMPTY).to_dict() == hw.degree_centrality(EMPTY).to_dict() == {}
    assert hw.transitivity(EMPTY) == 0.0 and hw.k_core(EMPTY).n == 0
    none = Graph.from_edges([], [], n=0, directed=True)
    assert hw.topological_order(none) == [] and hw.condensation(none)[0].n == 0
    assert hw.degree_centrality(Graph.from_edges([], [], n=1)).to_dict() == {0: 1.0}
