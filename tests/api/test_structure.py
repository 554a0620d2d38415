"""Components, blocks, clusters, degrees and order: larger graphs, other inputs, odd cases of tests/questions."""

from __future__ import annotations

import inspect
import math

import networkx as nx
import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

import hopwave as hw
from hopwave import Graph, generate
from hopwave.linalg import algorithms

EMPTY = Graph.from_edges([], [], n=0)


@pytest.mark.parametrize("directed", [False, True])
def test_components_of_larger_graphs(directed: bool) -> None:
    """Many components of all sizes, around the density at which a giant one appears."""
    ends = np.random.default_rng(5).integers(0, 20_000, (2, 30_000 if directed else 14_000))
    graph = Graph.from_edges(*ends, n=20_000, directed=directed)
    for ask, kind in ((hw.weakly_connected_components, "weak"), (hw.strongly_connected_components, "strong")):
        count, label = connected_components(graph.to_scipy(float), directed=True, connection=kind)
        assert 1 < count < graph.n
        assert len(set(zip(ask(graph).labels.tolist(), label.tolist(), strict=True))) == count == ask(graph).count


def test_deep_graphs_need_no_recursion() -> None:
    n = 200_000
    assert hw.strongly_connected_components(generate.cycle(n, directed=True)).count == 1
    assert hw.strongly_connected_components(generate.path(n, directed=True)).count == n
    u = np.arange(n - 1)
    assert hw.topological_order(Graph.from_edges(u + 1, u, directed=True)) == list(range(n))[::-1]


def test_components_are_a_copy() -> None:
    graph = generate.path(3)
    hw.connected_components(graph).labels[:] = 7
    assert hw.connected_components(graph).labels.tolist() == [0, 0, 0]


def test_all_paths_come_one_at_a_time() -> None:
    """A chain of 1100 diamonds has 2^1100 shortest paths."""
    chain = generate.diamonds(1100)
    paths = hw.all_shortest_paths(chain, 0, chain.n - 1)
    assert inspect.isgenerator(paths)
    first, second = next(paths), next(paths)
    assert len(first) == len(second) and first != second


def test_parallel_edges() -> None:
    """They are one neighbour, one step and one path, no bridge, and count one by one in degrees."""
    twice = Graph.from_edges([0, 0, 1], [1, 1, 2], repeats="keep", weights=[1.0, 1.0, 1.0])
    assert hw.core_numbers(twice).scores.tolist() == [1, 1, 1] and hw.local_efficiency(twice) == 0.0
    for weights in (False, True):
        assert list(hw.all_shortest_paths(twice, 0, 2, weights=weights)) == [[0, 1, 2]]
    assert hw.bridges(twice) == [(1, 2)] == list(map(tuple, hw.biconnected_components(twice).bridges.tolist()))
    assert hw.articulation_points(twice) == [1]
    several = nx.MultiDiGraph([("a", "b"), ("a", "b"), ("b", "c"), ("c", "c"), ("c", "c")])
    for name in ("degree_centrality", "in_degree_centrality", "out_degree_centrality"):
        assert getattr(hw, name)(several).to_dict() == pytest.approx(getattr(nx, name)(several))
    both_ways = several.to_undirected()
    assert hw.degree_centrality(both_ways).to_dict() == pytest.approx(nx.degree_centrality(both_ways))
    assert hw.degree_centrality(twice).scores.tolist() == [1.0, 1.5, 0.5]


def test_threads_find_the_same_blocks() -> None:
    for graph in (generate.barabasi_albert(3000, 2, seed=3), generate.kronecker(11, 2, seed=1)):
        one, *others = (hw.biconnected_components(graph, threads=threads) for threads in (1, 2, 4))
        assert all((one.label == other.label).all() and (one.head == other.head).all() for other in others)


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu")
def test_a_gpu_finds_the_same_blocks() -> None:
    for graph in (*(generate.kronecker(12, 2, seed=s) for s in range(3)), generate.barabasi_albert(3000, 1, seed=1)):
        right = hw.biconnected_components(graph, "cpu")
        for some in (graph, graph.to("cuda")):
            found = hw.biconnected_components(some, "cuda")
            assert found.label.tolist() == right.label.tolist() and found.sizes.tolist() == right.sizes.tolist()
            assert found.bridges.tolist() == right.bridges.tolist()


def test_blocks_as_labels_tables_and_html() -> None:
    graph = Graph.from_edges([("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")])
    assert hw.articulation_points(graph) == ["c"] and hw.bridges(graph) == [("c", "d")]
    assert hw.biconnected_components(graph).sets() == [{"a", "b", "c"}, {"c", "d"}]
    found = hw.biconnected_components(generate.path(3))
    assert found.to_pandas()["component"].tolist() == [0, 0, 1, 1]
    assert found.to_polars().rows() == [(0, 0), (1, 0), (1, 1), (2, 1)]
    assert "Blocks(count=2, largest=2)" in found._repr_html_()
    for alone in (EMPTY, Graph.from_edges([], [], n=3), Graph.from_edges([(1, 1)])):
        found = hw.biconnected_components(alone)
        assert found.count == 0 and found.members() == [] and len(found.bridges) == 0


def test_clusters_of_other_inputs() -> None:
    g = nx.karate_club_graph()
    expected = nx.clustering(g, weight="weight")
    assert hw.clustering(g, weights="weight").to_dict() == pytest.approx(expected)
    assert hw.clustering(nx.to_scipy_sparse_array(g, dtype=float), weights=True).to_dict() == pytest.approx(expected)
    G = Graph.from_networkx(g)
    found = hw.label_propagation(G, seed=1)
    assert found.modularity == hw.modularity(G, found, weights=False)
    right = nx.community.modularity(g, found.sets())
    assert hw.modularity(nx.to_scipy_sparse_array(g), found) == pytest.approx(right)
    assert hw.modularity(g, found, weights="weight") == pytest.approx(right)
    several, halves = nx.MultiGraph([(0, 1), (0, 1), (1, 2), (2, 2)]), [{0, 1}, {2}]
    assert hw.modularity(several, halves) == pytest.approx(nx.community.modularity(several, halves))


def test_a_core_keeps_weights() -> None:
    G = Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], weights=[1, 2, 3, 4])
    assert sorted(np.unique(hw.k_core(G).weights).tolist()) == [1.0, 2.0, 3.0]


def test_graphs_without_vertices_or_without_paths() -> None:
    for ask in (
        hw.closeness_centrality, hw.harmonic_centrality, hw.eccentricity, hw.barycenter, hw.stress_centrality,
        hw.load_centrality, hw.clustering, hw.degree_centrality, hw.triangles, hw.core_numbers, hw.pagerank,
        hw.eigenvector_centrality, hw.katz_centrality, hw.maximal_independent_set, hw.label_propagation,
        hw.bipartite_sides, hw.connected_components, lambda G: hw.connected_components(G).largest(),
        lambda G: hw.distance_histogram(G).counts, lambda G: hw.bfs_many(G, []), lambda G: hw.hits(G).hubs,
        algorithms.connected_components, algorithms.betweenness,
    ):  # fmt: skip
        assert len(ask(EMPTY)) == 0
    for ask in (hw.global_efficiency, hw.transitivity, hw.triangle_count, lambda G: hw.k_core(G).n):
        assert ask(EMPTY) == 0
    none = Graph.from_edges([], [], n=0, directed=True)
    assert hw.is_bipartite(EMPTY) and hw.topological_order(none) == [] and hw.condensation(none)[0].n == 0
    alone = Graph.from_edges([], [], n=3)
    assert math.isnan(hw.distance_histogram(alone).mean()) and not hw.load_centrality(alone).scores.any()
    assert hw.degree_centrality(Graph.from_edges([], [], n=1)).to_dict() == {0: 1.0}
    assert hw.group_betweenness_centrality(generate.path(2), [0]) == 0.0
