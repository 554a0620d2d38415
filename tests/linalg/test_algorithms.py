"""linalg.algorithms beyond tests/questions, which compares them with oracles: variants, directions, seeds, ties."""

import importlib
import inspect
import math
import random
import runpy
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings

import hopwave as hw
from graphs import TRAPS, graphs
from hopwave import ConvergenceError, GraphError
from hopwave import linalg as la
from hopwave.engines import algebra
from hopwave.linalg import algorithms
from operands import devices
from questions.cases import Case
from questions.values import ROWS
from together import in_one_test

CLIQUE_AND_CHAIN = np.concatenate([np.transpose(np.triu_indices(30, 1)), np.stack([range(29, 229), range(30, 230)], 1)])


def host(vector: la.Vector, missing: Any = 0) -> Any:
    return vector.to("cpu").to_dense(missing)


# ------------------------------------------------------------------ independent sets and labels: many are right


@in_one_test("trap", [trap for trap, make in TRAPS.items() if not make().directed])
@devices
def test_sets_and_labels_are_the_same_on_every_device(trap: str, device: str) -> None:
    graph = TRAPS[trap]()
    found = hw.maximal_independent_set(graph, seed=1, device=device)
    assert found.tolist() == hw.maximal_independent_set(graph, seed=1, device="cpu").tolist()
    labels = hw.label_propagation(graph, seed=2, device=device)
    assert labels.settled
    assert labels.labels.tolist() == hw.label_propagation(graph, seed=2, device="cpu").labels.tolist()


def test_seeds_draw_different_sets_and_no_round_leaves_everybody_alone() -> None:
    graph = hw.generate.cycle(50)
    assert len({tuple(hw.maximal_independent_set(graph, seed).tolist()) for seed in range(5)}) > 1
    found = hw.label_propagation(hw.generate.path(3), seed=0, max_rounds=0)
    assert (found.count, found.settled) == (3, False) and "not settled" in repr(found)


# ------------------------------------------------------------------ cores, triangles, betweenness


def test_arcs_both_ways_count_twice_in_a_directed_graph() -> None:
    graph = hw.Graph.from_edges([0, 1], [1, 0], directed=True)
    assert hw.core_numbers(graph).scores.tolist() == [2, 2]
    assert hw.core_numbers(la.Matrix.from_graph(graph)).scores.tolist() == [1, 1]  # a matrix has no directions


@devices
@given(graph=graphs(directed=False))
@settings(max_examples=settings.default.max_examples // 2)
def test_triangles_do_not_depend_on_order_or_kernels(device: str, graph: hw.Graph) -> None:
    """Also if vertices are sorted by degree; a list in small pieces has each once, in ascending order."""
    expected = list(nx.triangles(graph.to_networkx()).values())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(algebra("cpu")), "count_triangles", lambda *_: None)
        assert hw.triangle_count(graph) == sum(expected) // 3
        space = inspect.unwrap(algorithms.triangles).__globals__
        patch.setitem(space, "WORTH_SORTING", -1)
        patch.setitem(space, "PIECE", 3)
        assert hw.triangles(graph).scores.tolist() == expected and hw.triangle_count(graph) == sum(expected) // 3
        found = algorithms.triangle_list(graph, device=device).tolist()
    assert all(a < b < c for a, b, c in found) and all(one < other for one, other in pairwise(found))
    assert len(found) == sum(expected) // 3


@devices
def test_levels_of_betweenness_change_direction(device: str) -> None:
    """Push-pull, section 5.6: the first levels push, the large level in the middle pulls, and counts stay the same."""
    graph = hw.generate.kronecker(8, edge_factor=16, seed=1)
    B = la.Matrix.from_graph(graph).to(device)
    hub = int(np.argmax(graph.degrees))
    next_to_it = int(graph.indices[graph.indptr[hub]])
    F = P = la.Matrix.from_edges([0, 1], [hub, next_to_it], [1.0, 1.0], shape=(2, graph.n)).to(device)
    ways = []
    while F.nnz:
        given = {"mask": P, "complement": True, "structural": True, "explain": True, "device": device}
        pushed, _ = la.mxm(F, B, la.semiring.plus_first, direction="push", **given)
        F, why = la.mxm(F, B, la.semiring.plus_first, **given)
        assert (F.to("cpu").to_scipy() != pushed.to("cpu").to_scipy()).nnz == 0 and F.nnz == pushed.nnz
        ways.append(why.direction)
        P = la.ewise_add(P, F)
    assert ways[0] == "push" and "pull" in ways


def test_a_matrix_of_ones_and_its_graph_give_the_same() -> None:
    graph = hw.generate.kronecker(7, edge_factor=4, seed=5)
    for given_as in (la.Matrix.from_graph(graph), graph.to_scipy(np.float64), graph.to_networkx()):
        assert hw.triangles(given_as).scores.tolist() == hw.triangles(graph).scores.tolist()
        assert hw.core_numbers(given_as).scores.tolist() == hw.core_numbers(graph).scores.tolist()
        assert hw.maximal_independent_set(given_as, 1).tolist() == hw.maximal_independent_set(graph, 1).tolist()


# ------------------------------------------------------------------ shortest paths


def test_the_number_of_arcs_decides_the_method(monkeypatch: pytest.MonkeyPatch) -> None:
    star, path = hw.generate.star(50), hw.generate.path(50)
    assert hw.sssp(star, 1).plan == hw.sssp(path, 1).method == "dijkstra"
    assert hw.sssp(star, 1).plan.why == "the graph is small"
    with_delta = hw.sssp(star, 1, delta=2)
    assert with_delta.method == with_delta.plan.name == "delta-stepping" and with_delta.plan.why == "delta= is set"
    monkeypatch.setattr("hopwave.algorithms.shortest_paths.MIN_ARCS_FOR_BUCKETS", 50)
    assert (hw.sssp(star, 1).method, hw.sssp(path, 1).method) == ("delta-stepping", "delta-stepping")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("method", ["bellman-ford", "delta-stepping", "dijkstra"])
def test_infinite_sums_are_no_path(method: Any) -> None:
    found = hw.sssp(hw.generate.path(5, directed=True), 0, [1e308] * 4, method)
    assert found.distances.tolist() == [0.0, 1e308, *[math.inf] * 3]
    assert found.predecessors.tolist() == [0, 0, -1, -1, -1]


def test_lengths_too_different_to_be_added_end_all_the_same() -> None:
    """A bucket narrower than a distance's last bit, and arcs too short to change a distance: the search still ends."""
    W = la.Matrix.from_graph(hw.generate.path(6, directed=True), [1e300, 1e-300, 5.0, 0.0, 1e300])
    for delta in (1e-300, 1.0, 1e308):
        assert host(algorithms.delta_stepping(W, 0, delta)).tolist() == [0.0, *[1e300] * 4, 2e300]


def test_the_vector_of_a_search_changes_direction() -> None:
    """A frontier of most vertices is pulled: every arc is read once per round, and the answer is the same."""
    assert np.array_equal(host(algorithms.sssp(hw.generate.complete(40), 0)), np.minimum(np.arange(40), 1.0))


# ------------------------------------------------------------------ PageRank


def test_ranks_with_everything_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """By products, one by one, instead of all rounds in one call of the engine."""
    monkeypatch.setattr(type(algebra("cpu")), "power_iteration", lambda *_: None)
    (row,) = (row for row in ROWS if row.call == "hw.pagerank")
    assert sum(row.ask(Case.drawn(random.Random(f"ranks {number}"))) for number in range(20)) == 20


@pytest.mark.parametrize("weighted", [False, True])
def test_personalised_ranks_change_direction(weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Push-pull, section 5.6: from one vertex the first rounds push, the others pull; the ranks equal NetworkX's."""
    place = np.arange(1600).reshape(40, 40)  # arcs to the right and down: the last vertex is a dead end
    tails, heads = np.append(place[:, :-1], place[:-1]), np.append(place[:, 1:], place[1:])
    weights = np.arange(len(tails)) % 5 + 1.0 if weighted else None
    arcs = hw.Graph.from_edges(tails, heads, n=1600, directed=True, weights=weights)
    start = {int(v): float(v == 7) for v in range(arcs.n)}
    rounds: list[str] = []
    module = importlib.import_module("hopwave.linalg.algorithms.random_walk")

    def counted(*operands: Any, direction: str, **options: Any) -> Any:
        rounds.append(direction)
        return la.vxm(*operands, direction=direction, **options)

    monkeypatch.setattr(module, "vxm", counted)
    monkeypatch.setattr(module, "PUSHED_FROM", 0)
    from_one: Any = {"personalization": start, "nstart": start}
    found = hw.pagerank(arcs, device="cpu", tol=1e-10, max_iter=300, **from_one)
    expected = nx.pagerank(arcs.to_networkx(), tol=1e-10, max_iter=300, **from_one)
    assert np.allclose(found.scores, list(expected.values()), rtol=1e-9, atol=1e-14)
    assert 3 < len(rounds) < 30 and set(rounds) == {"push"}
    with pytest.raises(ConvergenceError, match="round 2 changed"):
        hw.pagerank(arcs, tol=1e-10, max_iter=2, device="cpu", **from_one)
    near = hw.pagerank(arcs, tol=1e-3, device="cpu", **from_one).scores  # converges while it pushes
    assert near[7] > 0 and math.isclose(near.sum(), 1, rel_tol=1e-9)


def test_settled_ranks_are_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long chain attached to a clique: the clique settles first, the chain later; the limit is the same.

    Operand reuse (push-pull, 5.6): the operand is the whole vector of ranks, never the frontier of changed ones.
    """
    graph = hw.Graph.from_edges(*CLIQUE_AND_CHAIN.T)
    exact = hw.pagerank(graph, tol=1e-13, max_iter=1000).scores
    seen: list[tuple[int, int]] = []
    space = inspect.unwrap(algorithms.pagerank).__globals__
    product = space["vxm"]

    def recorded(w: Any, *arguments: Any, **options: Any) -> Any:
        seen.append((w.nnz, options["mask"].nnz if options.get("mask") is not None else graph.n))
        return product(w, *arguments, **options)

    monkeypatch.setitem(space, "vxm", recorded)
    found = hw.pagerank(graph, tol=1e-10, max_iter=1000, adaptive=True, device="cpu").scores
    assert np.abs(found - exact).sum() < graph.n * 1e-10 / 0.15
    assert {operand for operand, _ in seen} == {graph.n} and min(written for _, written in seen) < graph.n // 2


# ------------------------------------------------------------------ eigenvector, Katz, hubs and authorities


def test_of_several_authorities_the_nearest_to_the_start() -> None:
    """Two stars: any division of authority between their centres is a solution."""
    two = hw.Graph.from_edges([1, 2, 4, 5], [0, 0, 3, 3], directed=True)
    assert hw.hits(two).authorities.scores.round(12).tolist() == [0.5, 0, 0, 0.5, 0, 0]
    assert hw.hits(two, nstart={0: 3, 3: 1}).authorities.scores.round(12).tolist() == [0.75, 0, 0, 0.25, 0, 0]


def test_hubs_need_few_rounds_where_singular_values_are_close() -> None:
    """A path with a loop at one end: power iteration alone would take tens of thousands of products."""
    path = hw.Graph.from_edges([*range(150), 0], [*range(1, 151), 0])
    found = hw.hits(path, max_iter=60, normalized=False).authorities.scores
    exact = np.abs(np.linalg.svd(path.to_scipy().toarray().astype(float))[2][0])
    assert np.abs(found - exact).sum() < 1e-6


def test_parallel_edges_are_added_up() -> None:
    G = nx.MultiDiGraph([(0, 1), (0, 1), (1, 2), (2, 0), (2, 0), (2, 0), (0, 0)])
    G.add_edge(1, 0, weight=0.5)
    one = nx.from_numpy_array(nx.to_numpy_array(G), create_using=nx.DiGraph)
    for found, right in (
        (hw.eigenvector_centrality(G), nx.eigenvector_centrality(one, weight="weight")),
        (hw.katz_centrality(G, 0.05), nx.katz_centrality(one, 0.05, weight="weight")),
        (hw.hits(G).hubs, nx.hits(G)[0]),
    ):
        assert np.allclose(found.scores, list(right.values()))


@pytest.mark.slow
def test_more_paths_than_float64_counts_are_an_error() -> None:
    with pytest.raises(GraphError, match="shortest paths exceeds float64"):
        algorithms.betweenness(hw.generate.diamonds(1100), [0])


def test_masked_inference_reads_less_and_gives_the_same(root: Path) -> None:
    """The example of masked products in a sparse neural network, run unchanged."""
    pytest.importorskip("matplotlib").use("Agg")
    ran = runpy.run_path(str(root / "docs" / "gallery" / "sparse_network.py"))
    assert np.allclose(ran["found"], ran["right"], rtol=1e-9) and np.count_nonzero(ran["right"]) > 10
    assert 0 < ran["reads"] < ran["all_reads"] / 5
    assert [part.nnz for part in ran["needed"]][-1] == len(ran["wanted"])
    outside = np.setdiff1d(np.arange(ran["NEURONS"]), ran["wanted"])
    assert ran["some"].to_scipy().toarray()[:, outside].sum() == 0
