"""The algorithms of linalg.algorithms against NetworkX, hopwave's own searches and their definitions."""

from __future__ import annotations

import inspect
from collections import Counter
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hopwave as hw
from graphs import TRAPS, graphs
from hopwave import GraphError, LinalgError
from hopwave import linalg as la
from hopwave.engines import NoShortcuts, algebra
from hopwave.linalg import algorithms
from operands import devices
from together import in_one_test

traps = in_one_test("trap", TRAPS)
undirected_traps = in_one_test("trap", [trap for trap, make in TRAPS.items() if not make().directed])


def without_loops(graph: hw.Graph) -> nx.Graph:
    g = graph.to_networkx()
    g.remove_edges_from(list(nx.selfloop_edges(g)))
    return g


def host(vector: la.Vector) -> Any:
    return vector.to("cpu").to_dense()


# ------------------------------------------------------------------ components, cores


def check_components(graph: hw.Graph, device: str = "cpu") -> None:
    found = host(algorithms.connected_components(graph, device=device))
    components = hw.weakly_connected_components(graph)
    lowest = np.array([part[0] for part in components.members()], np.int64)
    assert np.array_equal(found, lowest[components.labels])


@traps
@devices
def test_components_are_named_by_their_lowest_vertex(trap: str, device: str) -> None:
    check_components(TRAPS[trap](), device)


@given(graphs())
def test_components_of_random_graphs(graph: hw.Graph) -> None:
    check_components(graph)


def check_cores(graph: hw.Graph, device: str = "cpu") -> None:
    found = hw.core_numbers(graph, device=device)
    assert found.to_dict() == nx.core_number(without_loops(graph))


@traps
@devices
def test_core_numbers_are_those_of_networkx(trap: str, device: str) -> None:
    check_cores(TRAPS[trap](), device)


def test_arcs_both_ways_count_twice_in_a_directed_graph() -> None:
    graph = hw.Graph.from_edges([0, 1], [1, 0], directed=True)
    check_cores(graph)
    assert hw.core_numbers(graph).scores.tolist() == [2, 2]
    assert hw.core_numbers(la.Matrix.from_graph(graph)).scores.tolist() == [1, 1]  # a matrix has no directions


# ------------------------------------------------------------------ triangles


@undirected_traps
@devices
def test_triangles_are_those_of_networkx(trap: str, device: str) -> None:
    graph = TRAPS[trap]()
    expected = nx.triangles(graph.to_networkx())
    assert hw.triangles(graph, device=device).to_dict() == expected
    assert hw.triangle_count(graph, device=device) == sum(expected.values()) // 3


@undirected_traps
@devices
@pytest.mark.parametrize(("sorting", "piece"), [(250, 1 << 22), (-1, 3)], ids=["as they are", "by degree, in pieces"])
def test_triangles_are_listed_once(trap: str, device: str, sorting: int, piece: int) -> None:
    graph = TRAPS[trap]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(inspect.unwrap(algorithms.triangle_list).__globals__, "WORTH_SORTING", sorting)
        patch.setitem(inspect.unwrap(algorithms.triangle_list).__globals__, "PIECE", piece)
        found = algorithms.triangle_list(graph, device=device).tolist()
    assert found == sorted(found) and all(a < b < c for a, b, c in found)
    assert len(set(map(tuple, found))) == len(found) == hw.triangle_count(graph)
    counts = np.bincount(np.array(found, int).ravel(), minlength=graph.n)
    assert counts.tolist() == hw.triangles(graph).scores.tolist()


@devices
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weights", [False, True])
def test_clustering_is_that_of_networkx(device: str, directed: bool, weights: bool) -> None:
    rng = np.random.default_rng(4)
    u, v = rng.integers(0, 40, (2, 200))
    graph = hw.Graph.from_edges(u, v, directed=directed, weights=rng.random(200), combine="min")
    expected = nx.clustering(graph.to_networkx(), weight="weight" if weights else None)
    assert hw.clustering(graph, weights=weights, device=device).to_dict() == pytest.approx(expected)


@given(graphs(directed=False))
@settings(max_examples=settings.default.max_examples // 2)
def test_triangles_are_the_same_with_and_without_making_the_product(graph: hw.Graph) -> None:
    one_pass = hw.triangle_count(graph)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(algebra("cpu")), "count_triangles", NoShortcuts.count_triangles)
        assert hw.triangle_count(graph) == one_pass


@given(graphs(directed=False))
@settings(max_examples=settings.default.max_examples // 2)
def test_triangles_do_not_depend_on_the_order_of_vertices(graph: hw.Graph) -> None:
    expected = list(nx.triangles(graph.to_networkx()).values())
    assert hw.triangles(graph).scores.tolist() == expected
    with pytest.MonkeyPatch.context() as patch:
        # Graphs of any size are sorted by degree.
        patch.setitem(inspect.unwrap(algorithms.triangles).__globals__, "WORTH_SORTING", -1)
        assert hw.triangles(graph).scores.tolist() == expected
        assert hw.triangle_count(graph) == sum(expected) // 3


@pytest.mark.parametrize(("hubs", "sorts"), [((1500, 1501), True), ((2998, 2999), False)])
def test_hubs_are_put_first_where_many_rows_meet_them(hubs: tuple[int, int], sorts: bool) -> None:
    """Two hubs adjacent to all. Half of the vertices read half of a hub's row; none do if hubs come last."""
    everybody = np.arange(3000)
    graph = hw.Graph.from_edges(np.repeat(hubs, 3000), np.tile(everybody, 2), n=3000)
    lower = inspect.unwrap(algorithms.triangles).__globals__["lower"]
    assert (lower(la.Matrix.from_graph(graph))[1] is not None) == sorts
    expected = list(nx.triangles(graph.to_networkx()).values())
    assert hw.triangles(graph).scores.tolist() == expected
    assert hw.triangle_count(graph) == sum(expected) // 3


# ------------------------------------------------------------------ independent sets


def check_independent(graph: hw.Graph, found: np.ndarray[Any, Any]) -> None:
    g, chosen = without_loops(graph), set(found.tolist())
    assert not any(u in chosen and v in chosen for u, v in g.edges)
    assert all(v in chosen or any(u in chosen for u in g[v]) for v in g)


@undirected_traps
@devices
def test_independent_sets_are_independent_and_maximal(trap: str, device: str) -> None:
    graph = TRAPS[trap]()
    found = hw.maximal_independent_set(graph, seed=1, device=device)
    check_independent(graph, found)
    assert found.tolist() == hw.maximal_independent_set(graph, seed=1, device="cpu").tolist()


@given(graphs(directed=False), st.integers(0, 1000))
def test_independent_sets_of_random_graphs(graph: hw.Graph, seed: int) -> None:
    check_independent(graph, hw.maximal_independent_set(graph, seed))


def test_seeds_draw_different_sets() -> None:
    graph = hw.generate.cycle(50)
    assert len({tuple(hw.maximal_independent_set(graph, seed).tolist()) for seed in range(5)}) > 1


# ------------------------------------------------------------------ label propagation


def check_settled(graph: hw.Graph, found: hw.Communities) -> None:
    """Every vertex has a most frequent label among its neighbours."""
    g, label = without_loops(graph), found.labels
    for v in g:
        met = Counter(label[u] for u in g[v])
        assert not met or met[label[v]] == max(met.values())


@undirected_traps
@devices
def test_labels_settle_where_most_neighbours_agree(trap: str, device: str) -> None:
    graph = TRAPS[trap]()
    found = hw.label_propagation(graph, seed=2, device=device)
    assert found.settled
    check_settled(graph, found)
    assert found.labels.tolist() == hw.label_propagation(graph, seed=2, device="cpu").labels.tolist()
    first = [part[0] for part in found.members()]
    assert first == sorted(first)


@given(graphs(directed=False), st.integers(0, 1000))
@settings(max_examples=settings.default.max_examples // 2)
def test_labels_of_random_graphs(graph: hw.Graph, seed: int) -> None:
    found = hw.label_propagation(graph, seed)
    if found.settled:
        check_settled(graph, found)


def test_no_round_leaves_everybody_alone() -> None:
    found = hw.label_propagation(hw.generate.path(3), seed=0, max_rounds=0)
    assert (found.count, found.settled) == (3, False)
    assert "not settled" in repr(found)


# ------------------------------------------------------------------ betweenness


@traps
@devices
def test_betweenness_is_that_of_the_dedicated_run(trap: str, device: str) -> None:
    graph = TRAPS[trap]()
    if graph.n > 400:
        graph = hw.generate.uniform(60, edge_factor=2, seed=len(trap), directed=graph.directed)
    found = host(algorithms.betweenness(graph, batch=50, device=device)) / (1 if graph.directed else 2)
    assert np.allclose(found, hw.betweenness_centrality(graph, normalized=False).scores, rtol=1e-12, atol=1e-12)


@devices
def test_levels_of_betweenness_change_direction(device: str) -> None:
    """Push-pull, section 5.6: the first levels push, the large level in the middle pulls, and counts stay the same."""
    graph = hw.generate.kronecker(8, edge_factor=16, seed=1)
    A = la.Matrix.from_graph(graph).to(device)
    hub = int(np.argmax(graph.degrees))
    next_to_it = int(graph.indices[graph.indptr[hub]])
    F = P = la.Matrix.from_edges([0, 1], [hub, next_to_it], [1.0, 1.0], shape=(2, graph.n)).to(device)
    ways = []
    while F.nnz:
        given = {"mask": P, "complement": True, "structural": True, "explain": True, "device": device}
        pushed, _ = la.mxm(F, A, la.semiring.plus_first, direction="push", **given)
        F, why = la.mxm(F, A, la.semiring.plus_first, **given)
        assert (F.to("cpu").to_scipy() != pushed.to("cpu").to_scipy()).nnz == 0 and F.nnz == pushed.nnz
        ways.append(why.direction)
        P = la.ewise_add(P, F)
    assert ways[0] == "push" and "pull" in ways


@given(graphs(max_n=12), st.integers(1, 5), st.data())
@settings(max_examples=settings.default.max_examples // 2)
def test_betweenness_from_some_sources_in_any_batches(graph: hw.Graph, batch: int, data: Any) -> None:
    sources = data.draw(st.lists(st.integers(0, graph.n - 1), min_size=1, unique=True))
    found = host(algorithms.betweenness(graph, sources, batch)) / (1 if graph.directed else 2)
    expected = hw.betweenness_centrality(graph, sources=sources, normalized=False).scores
    assert np.allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.slow
def test_more_paths_than_float64_counts_are_an_error() -> None:
    with pytest.raises(GraphError, match="more shortest paths than float64"):
        algorithms.betweenness(hw.generate.diamonds(1100), [0])


# ------------------------------------------------------------------ impossible arguments


def test_directed_graphs_are_refused_where_only_edges_make_sense() -> None:
    graph = hw.Graph.from_edges([0], [1], directed=True)
    for ask in (hw.triangles, hw.triangle_count, hw.maximal_independent_set, hw.label_propagation):
        with pytest.raises(GraphError, match="undirected"):
            ask(graph)


def test_matrices_that_are_no_graphs_are_refused() -> None:
    tall = la.Matrix.from_dense(np.ones((3, 2)))
    for ask in (
        algorithms.connected_components,
        algorithms.core_numbers,
        algorithms.triangle_count,
        algorithms.triangle_list,
    ):
        with pytest.raises(LinalgError, match="3 × 2"):
            ask(tall)
    with pytest.raises(LinalgError, match="device='abacus'"):
        algorithms.core_numbers(hw.generate.path(2), device="abacus")
    with pytest.raises(GraphError, match="max_rounds=-1"):
        hw.label_propagation(hw.generate.path(2), max_rounds=-1)
    with pytest.raises(GraphError, match="batch=0"):
        algorithms.betweenness(hw.generate.path(2), batch=0)


def test_graphs_without_vertices() -> None:
    nobody = hw.Graph.from_edges([], [], n=0)
    assert (
        hw.triangle_count(nobody) == 0 == len(hw.maximal_independent_set(nobody)) == hw.label_propagation(nobody).count
    )
    for found in (hw.triangles(nobody), hw.core_numbers(nobody), hw.pagerank(nobody)):
        assert len(found) == 0
    assert algorithms.connected_components(nobody).nnz == algorithms.betweenness(nobody).nnz == 0


def test_a_matrix_of_ones_and_its_graph_give_the_same() -> None:
    graph = hw.generate.kronecker(7, edge_factor=4, seed=5)
    for given_as in (la.Matrix.from_graph(graph), graph.to_scipy(np.float64), graph.to_networkx()):
        assert hw.triangles(given_as).scores.tolist() == hw.triangles(graph).scores.tolist()
        assert hw.core_numbers(given_as).scores.tolist() == hw.core_numbers(graph).scores.tolist()
        assert hw.maximal_independent_set(given_as, 1).tolist() == hw.maximal_independent_set(graph, 1).tolist()
