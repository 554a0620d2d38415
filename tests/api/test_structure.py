"""Components, blocks, clusters, degrees and order: larger graphs, other inputs, odd cases of tests/questions."""

from __future__ import annotations

import inspect
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

import hopwave as hw
from hopwave import Graph, generate
from together import in_one_test

EMPTY = Graph.from_edges([], [], n=0)
PARALLEL = Graph.from_edges([0, 0, 1, 0], [1, 1, 2, 2], repeats="keep")


@pytest.mark.parametrize("directed", [False, True])
def test_components_of_larger_graphs(directed: bool) -> None:
    """Many components of all sizes, around the density at which a giant one appears."""
    rng = np.random.default_rng(5)
    graph = Graph.from_edges(
        *rng.integers(0, 20_000, (2, 14_000 if not directed else 30_000)), n=20_000, directed=directed
    )
    for strong, kind in ((False, "weak"), (True, "strong")):
        ask = hw.strongly_connected_components if strong else hw.weakly_connected_components
        count, label = connected_components(graph.to_scipy(float), directed=True, connection=kind)
        assert 1 < count < graph.n
        assert len(set(zip(ask(graph).labels.tolist(), label.tolist(), strict=True))) == count == ask(graph).count


def test_deep_components_need_no_recursion() -> None:
    n = 200_000
    ring = generate.cycle(n, directed=True)
    assert hw.strongly_connected_components(ring).count == 1
    assert hw.strongly_connected_components(generate.path(n, directed=True)).count == n


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


def test_repeated_arcs_give_one_path() -> None:
    graph = Graph.from_edges([0, 0, 1], [1, 1, 2], repeats="keep")
    assert list(hw.all_shortest_paths(graph, 0, 2)) == [[0, 1, 2]]
    assert hw.local_efficiency(graph) == 0.0


def test_threads_find_the_same_blocks() -> None:
    for graph in (generate.barabasi_albert(3000, 2, seed=3), generate.kronecker(11, 2, seed=1)):
        one, *others = (hw.biconnected_components(graph, threads=threads) for threads in (1, 2, 4))
        assert all((one.label == other.label).all() and (one.head == other.head).all() for other in others)


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu")
def test_a_gpu_finds_the_same_blocks() -> None:
    for graph in (
        *(generate.kronecker(12, 2, seed=seed) for seed in range(3)),
        generate.barabasi_albert(3000, 1, seed=1),
    ):
        right = hw.biconnected_components(graph, "cpu")
        for some in (graph, graph.to("cuda")):
            found = hw.biconnected_components(some, "cuda")
            assert found.label.tolist() == right.label.tolist() and found.sizes.tolist() == right.sizes.tolist()
            assert found.bridges.tolist() == right.bridges.tolist()


def test_labels_and_parallel_edges() -> None:
    graph = hw.Graph.from_edges([("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")])
    assert hw.articulation_points(graph) == ["c"] and hw.bridges(graph) == [("c", "d")]
    assert hw.biconnected_components(graph).sets() == [{"a", "b", "c"}, {"c", "d"}]
    twice = hw.Graph.from_edges([(0, 1), (0, 1), (1, 2)], repeats="keep")
    assert hw.bridges(twice) == [(1, 2)] and hw.articulation_points(twice) == [1]


def test_what_has_no_blocks() -> None:
    for graph in (hw.Graph.from_edges([], [], n=0), hw.Graph.from_edges([], [], n=3), hw.Graph.from_edges([(1, 1)])):
        found = hw.biconnected_components(graph)
        assert found.count == 0 and found.members() == [] and len(found.bridges) == 0


def test_blocks_as_tables_and_html() -> None:
    pandas = pytest.importorskip("pandas")
    found = hw.biconnected_components(hw.generate.path(3))
    frame = found.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and frame["component"].tolist() == [0, 0, 1, 1]
    assert "Blocks(count=2, largest=2)" in found._repr_html_()
    pytest.importorskip("polars")
    assert found.to_polars().rows() == [(0, 0), (1, 0), (1, 1), (2, 1)]


FUNCTIONS = (
    "biconnected_component_edges", "biconnected_components", "articulation_points", "is_biconnected", "bridges",
    "has_bridges",
)  # fmt: skip


def outcome(function: Any, graph: Any, **keywords: Any) -> Any:
    try:
        found = function(graph, **keywords)
        return found if isinstance(found, bool) else list(found)
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph, nx.DiGraph])
@in_one_test("seed", range(12))
def test_blocks_of_networkx_are_in_the_same_order(seed: int, kind: Any) -> None:
    random = np.random.default_rng(seed)
    n = int(random.integers(0, 14))
    nodes = [f"v{i}" for i in random.permutation(n)]
    graph = kind()
    graph.add_nodes_from(nodes)
    for _ in range(int(random.integers(0, 2 * n + 1))):
        graph.add_edge(*(nodes[i] for i in random.integers(0, n, 2)))
    with nx.config(warnings_to_ignore={"cache"}):
        for name in FUNCTIONS:
            function = getattr(nx, name)
            assert outcome(function, graph) == outcome(function, graph, backend="hopwave"), name
    if kind is nx.MultiGraph:
        expected = set(map(frozenset, nx.bridges(graph)))
        assert set(map(frozenset, hw.bridges(graph))) == expected
        assert len(hw.biconnected_components(graph).bridges) == len(expected)


def test_clustering_of_other_inputs() -> None:
    g = nx.karate_club_graph()
    expected = nx.clustering(g, weight="weight")
    assert hw.clustering(g, weights="weight").to_dict() == pytest.approx(expected)
    assert hw.clustering(nx.to_scipy_sparse_array(g, dtype=float), weights=True).to_dict() == pytest.approx(expected)


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


def test_degrees_of_parallel_edges() -> None:
    expected = nx.degree_centrality(nx.MultiGraph([(0, 1), (0, 1), (1, 2), (0, 2)]))
    assert hw.degree_centrality(PARALLEL).to_dict() == pytest.approx(expected)
    several = nx.MultiDiGraph([("a", "b"), ("a", "b"), ("b", "c"), ("c", "c"), ("c", "c")])
    for name in ("degree_centrality", "in_degree_centrality", "out_degree_centrality"):
        assert getattr(hw, name)(several).to_dict() == pytest.approx(getattr(nx, name)(several))
    both_ways = several.to_undirected()
    assert hw.degree_centrality(both_ways).to_dict() == pytest.approx(nx.degree_centrality(both_ways))


def test_a_core_keeps_weights() -> None:
    G = Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], weights=[1, 2, 3, 4])
    assert sorted(np.unique(hw.k_core(G).weights).tolist()) == [1.0, 2.0, 3.0]


def test_deep_orders() -> None:
    deep = generate.path(100_000, directed=True)
    assert hw.topological_order(deep) == list(range(100_000))
    u = np.arange(99_999)
    assert hw.topological_order(Graph.from_edges(u + 1, u, directed=True))[0] == 99_999


def test_graphs_without_vertices() -> None:
    found = hw.connected_components(EMPTY)
    assert (found.count, found.sets(), found.largest().tolist()) == (0, [], [])
    assert hw.is_bipartite(EMPTY) and hw.bipartite_sides(EMPTY).tolist() == []
    assert hw.clustering(EMPTY).to_dict() == hw.degree_centrality(EMPTY).to_dict() == {}
    assert hw.transitivity(EMPTY) == 0.0 and hw.k_core(EMPTY).n == 0
    none = Graph.from_edges([], [], n=0, directed=True)
    assert hw.topological_order(none) == [] and hw.condensation(none)[0].n == 0
    assert hw.degree_centrality(Graph.from_edges([], [], n=1)).to_dict() == {0: 1.0}
