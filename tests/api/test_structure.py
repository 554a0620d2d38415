"""Clustering, modularity, degrees, cores and acyclic graphs: traps, other inputs, errors.

tests/fuzz/structure_questions.py compares them with NetworkX on random graphs.
"""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from test_distances import EMPTY, same

import hopwave as hw
from graphs import TRAPS
from hopwave import Graph, GraphError, LinalgError, generate

PARALLEL = Graph.from_edges([0, 0, 1, 0], [1, 1, 2, 2], repeats="keep")


# ---------------------------------------------------------------- clustering


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


def test_degrees_of_parallel_edges() -> None:
    expected = nx.degree_centrality(nx.MultiGraph([(0, 1), (0, 1), (1, 2), (0, 2)]))
    same(hw.degree_centrality(PARALLEL).to_dict(), expected)
    several = nx.MultiDiGraph([("a", "b"), ("a", "b"), ("b", "c"), ("c", "c"), ("c", "c")])
    for name in ("degree_centrality", "in_degree_centrality", "out_degree_centrality"):
        same(getattr(hw, name)(several).to_dict(), getattr(nx, name)(several))
    both_ways = several.to_undirected()
    same(hw.degree_centrality(both_ways).to_dict(), nx.degree_centrality(both_ways))


def test_a_core_keeps_weights() -> None:
    G = Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], weights=[1, 2, 3, 4])
    assert sorted(np.unique(hw.k_core(G).weights).tolist()) == [1.0, 2.0, 3.0]


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
        (lambda: hw.topological_order(generate.cycle(3, directed=True)), "on a cycle or behind one"),
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
