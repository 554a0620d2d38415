"""hw.sssp against SciPy's Dijkstra, hw.pagerank against NetworkX; both against python-graphblas if installed."""

from __future__ import annotations

import importlib
import inspect
import itertools
import math
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra

import hopwave as hw
from graphs import TRAPS, graphs
from hopwave import GraphError, LinalgError
from hopwave import linalg as la
from hopwave.algorithms.brandes import of_reverse_arcs as reverse_arcs
from hopwave.engines import NoShortcuts, algebra
from hopwave.linalg import algorithms
from operands import devices
from together import in_one_test

METHODS = ("bellman-ford", "delta-stepping", "dijkstra")
traps = in_one_test("trap", TRAPS)
lengths = st.one_of(st.integers(0, 9), st.floats(0, 100, allow_subnormal=False))


def some_weights(graph: hw.Graph, seed: int = 1) -> np.ndarray[Any, Any]:
    return of_edges(graph, np.random.default_rng(seed).integers(1, 256, graph.m).astype(np.float64))


def of_edges(graph: hw.Graph, weights: Any) -> np.ndarray[Any, Any]:
    """Weights with equal numbers for both arcs of an undirected edge."""
    weights = np.asarray(weights, np.float64)
    return weights if graph.directed else np.maximum(weights, reverse_arcs(graph, weights))


def check_paths(graph: hw.Graph, weights: np.ndarray[Any, Any], found: hw.ShortestPaths) -> None:
    A = sp.csr_array((np.asarray(weights, np.float64), graph.indices, graph.indptr), shape=(graph.n, graph.n))
    expected = dijkstra(A, indices=list(found.sources), min_only=True)
    assert np.allclose(found.distances, expected, rtol=1e-12)
    entries = A.tocoo()
    length = dict(zip(zip(entries.row, entries.col, strict=True), entries.data, strict=True))
    for v in np.flatnonzero(np.isfinite(expected)).tolist():
        path = found.path_to(v)
        assert path[0] in found.sources and len(set(path)) == len(path)
        assert math.isclose(sum(length[arc] for arc in itertools.pairwise(path)), expected[v], abs_tol=1e-9)
    assert (found.predecessors == -1).tolist() == np.isinf(expected).tolist()


@traps
@devices
def test_distances_are_those_of_dijkstra(trap: str, device: str) -> None:
    graph = TRAPS[trap]()
    weights = some_weights(graph)
    for method in METHODS if device == "cpu" else METHODS[:2]:
        found = hw.sssp(graph, 0, weights, method, device=device)
        assert found.method == method
        if graph.n < 200:
            check_paths(graph, weights, found)
        else:
            A = sp.csr_array((weights, graph.indices, graph.indptr), shape=(graph.n, graph.n))
            assert np.array_equal(found.distances, dijkstra(A, indices=0))


def test_the_number_of_arcs_decides_the_method(monkeypatch: pytest.MonkeyPatch) -> None:
    star, path = hw.generate.star(50), hw.generate.path(50)
    assert (hw.sssp(star, 1).method, hw.sssp(path, 1).method) == ("dijkstra", "dijkstra")
    assert hw.sssp(star, 1).plan == "dijkstra" and hw.sssp(star, 1).plan.why == "the graph is small"
    with_delta = hw.sssp(star, 1, delta=2)
    assert with_delta.method == with_delta.plan.name == "delta-stepping" and with_delta.plan.why == "delta= is given"
    monkeypatch.setattr("hopwave.algorithms.shortest_paths.MIN_ARCS_FOR_BUCKETS", 50)
    assert (hw.sssp(star, 1).method, hw.sssp(path, 1).method) == ("delta-stepping", "delta-stepping")


@given(graphs(max_n=14), st.floats(1e-3, 1e3), st.data())
def test_random_lengths_buckets_and_sources(graph: hw.Graph, delta: float, data: Any) -> None:
    weights = of_edges(graph, data.draw(st.lists(lengths, min_size=graph.m, max_size=graph.m)))
    sources = data.draw(st.lists(st.integers(0, graph.n - 1), min_size=1, max_size=3, unique=True))
    found = hw.sssp(graph, sources, weights, delta=delta)
    check_paths(graph, weights, found)
    for method in METHODS:
        assert np.array_equal(hw.sssp(graph, sources, weights, method).distances, found.distances)
    by_products = algorithms.delta_stepping(la.Matrix.from_graph(graph, weights), sources, delta)
    assert np.array_equal(host(by_products), found.distances)


def test_arcs_without_weights_are_hops() -> None:
    graph = hw.generate.kronecker(8, edge_factor=4, seed=2)
    hops = hw.bfs(graph, 3).distances
    for method in METHODS:
        found = hw.sssp(graph, 3, method=method).distances
        assert np.array_equal(np.where(np.isinf(found), -1, found), hops)


def test_every_way_to_give_weights() -> None:
    g = nx.Graph()
    g.add_weighted_edges_from([("a", "b", 4), ("b", "c", 1), ("a", "c", 7)], weight="km")
    g.add_edge("c", "d")  # no length: 1
    graph = hw.Graph.from_networkx(g)
    by_name = hw.sssp(g, "a", weights="km")
    assert by_name.to_dict() == nx.single_source_dijkstra_path_length(g, "a", weight="km")
    A = nx.to_scipy_sparse_array(g, weight="km", format="csr")
    weights = A[np.repeat(np.arange(4), graph.degrees), graph.indices]
    for kind in ("int32", "float32", "uint8", "float64"):
        assert hw.sssp(graph, "a", weights.astype(kind)).to_dict() == by_name.to_dict()
    for matrix in (A, sp.csc_array(A), la.Matrix.from_scipy(A), la.Matrix.from_graph(graph, weights)):
        assert hw.sssp(matrix, 0).distances.tolist() == by_name.distances.tolist()
    several = nx.MultiGraph([("a", "b", {"km": 5}), ("a", "b", {"km": 2})])
    assert hw.sssp(several, "a", weights="km").to_dict() == {"a": 0.0, "b": 2.0}
    assert by_name.to_pandas().loc["c", "distance"] == 5.0


def test_bad_lengths_are_refused() -> None:
    graph = hw.generate.path(3)
    for weights, why in (
        ([-2, -2, 1, 1], "weight -2.* is negative"),
        ([1, math.nan, 1, 1], "NaN"),
        ([1, 2], r"shape \(2,\)"),
        (["long"] * 4, "are not numbers"),
        ("km", "names an edge attribute"),
    ):
        for method in METHODS:
            with pytest.raises(GraphError, match=why):
                hw.sssp(graph, 0, weights, method)
    with pytest.raises(GraphError, match="leave out weights"):
        hw.sssp(graph.to_scipy(np.float64), 0, weights=[1.0] * 4)
    with pytest.raises(GraphError, match="'far' somewhere, which is not a number"):
        hw.sssp(nx.Graph([(0, 1, {"km": "far"})]), 0, weights="km")
    with pytest.raises(GraphError, match="square"):
        hw.sssp(sp.csr_array(np.ones((2, 3))), 0)


def test_bad_options_of_sssp_are_refused() -> None:
    graph = hw.generate.path(3)
    for delta in (0, -1.0, math.inf, math.nan):
        with pytest.raises(GraphError, match="not a bucket width"):
            hw.sssp(graph, 0, delta=delta)
    with pytest.raises(GraphError, match="leave it out"):
        hw.sssp(graph, 0, method="bellman-ford", delta=1.0)
    with pytest.raises(GraphError, match="'magic' is not known"):
        hw.sssp(graph, 0, method="magic")  # type: ignore[arg-type]
    with pytest.raises(GraphError, match="runs on the CPU"):
        hw.sssp(graph, 0, method="dijkstra", device="cuda")
    with pytest.raises(GraphError, match="9 is not a vertex"):
        hw.sssp(graph, 9)
    with pytest.raises(GraphError, match="source 9 is no vertex"):
        algorithms.sssp(graph, 9)
    with pytest.raises(GraphError, match="was not reached"):
        hw.sssp(hw.generate.path(3, directed=True), 2).path_to(0)
    with pytest.raises(LinalgError, match="device='abacus'"):
        hw.sssp(graph, 0, device="abacus")


def test_lengths_too_different_to_be_added_end_all_the_same() -> None:
    """A bucket narrower than a distance's last bit, and arcs too short to change a distance: the search still ends."""
    graph = hw.generate.path(6, directed=True)
    weights = [1e300, 1e-300, 5.0, 0.0, 1e300]
    for delta in (1e-300, 1.0, 1e308):
        assert hw.sssp(graph, 0, weights, delta=delta).distances.tolist() == [0.0, *[1e300] * 4, 2e300]
    assert hw.sssp(graph, 0, weights).path_to(5) == [0, 1, 2, 3, 4, 5]


@pytest.mark.filterwarnings("error")
def test_infinite_lengths_are_refused_and_infinite_sums_are_no_path() -> None:
    graph = hw.generate.path(4, directed=True)
    even = hw.generate.path(5, directed=True)
    for method in METHODS:
        found = hw.sssp(even, 0, [1e308] * 4, method)
        assert found.distances[2] == math.inf and found.predecessors.tolist() == [0, 0, -1, -1, -1]
        with pytest.raises(GraphError, match=r"the weight from .* is infinite; leave out an arc that no path can take"):
            hw.sssp(graph, 0, [2.0, math.inf, 1.0], method)
        assert hw.sssp(graph, 0, [1e308] * 3, method).distances.tolist() == [0.0, 1e308, math.inf, math.inf]


def test_the_vector_of_a_search_changes_direction() -> None:
    """A frontier of most vertices is pulled: every arc is read once per round, and the answer is the same."""
    graph = hw.generate.complete(40)
    assert np.array_equal(host(algorithms.sssp(graph, 0)), np.minimum(np.arange(40), 1.0))


def host(vector: la.Vector) -> Any:
    return vector.to("cpu").to_dense()


# ------------------------------------------------------------------ PageRank


@traps
@devices
def test_ranks_are_those_of_networkx(trap: str, device: str) -> None:
    graph = TRAPS[trap]()
    expected = np.array(list(nx.pagerank(graph.to_networkx(), tol=1e-9, max_iter=500).values()))
    found = hw.pagerank(graph, tol=1e-9, max_iter=500, device=device)
    assert np.allclose(found.scores, expected, rtol=1e-11, atol=1e-15)
    adaptive = hw.pagerank(graph, tol=1e-9, max_iter=2000, adaptive=True, device=device).scores
    assert np.abs(adaptive - expected).sum() <= 2 * graph.n * 1e-9 / 0.15
    assert math.isclose(found.scores.sum(), 1, rel_tol=1e-9)


shares = st.lists(st.floats(0, 10).map(lambda x: round(x, 3)), min_size=14, max_size=14).filter(lambda w: w[0] > 0)


@given(graphs(max_n=14), st.floats(0, 0.95), st.data())
@settings(max_examples=settings.default.max_examples // 2)
def test_ranks_with_everything_given(graph: hw.Graph, alpha: float, data: Any) -> None:
    weights = of_edges(graph, data.draw(st.lists(st.integers(0, 5), min_size=graph.m, max_size=graph.m)))
    g = graph.to_networkx()
    row = np.repeat(np.arange(graph.n), graph.degrees)
    for u, v, weight in zip(row.tolist(), graph.indices.tolist(), weights.tolist(), strict=True):
        g[u][v]["weight"] = weight
    names = ("personalization", "dangling", "nstart")
    options = {name: dict(enumerate(data.draw(shares)[: graph.n])) for name in names if data.draw(st.booleans())}
    expected = list(nx.pagerank(g, alpha, max_iter=1000, tol=1e-9, **options).values())
    found = hw.pagerank(graph, alpha, max_iter=1000, tol=1e-9, weights=weights, **options)
    assert np.allclose(found.scores, expected, rtol=1e-9, atol=1e-14)
    arrays = {name: list(given.values()) for name, given in options.items()}
    assert np.array_equal(
        hw.pagerank(g, alpha, max_iter=1000, tol=1e-9, weights="weight", **arrays).scores, found.scores
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_personalised_ranks_change_direction(weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Push-pull, section 5.6: from one vertex the first rounds push, the others pull; the ranks equal NetworkX's."""
    place = np.arange(1600).reshape(40, 40)  # arcs to the right and down: the last vertex is a dead end
    tails, heads = np.append(place[:, :-1], place[:-1]), np.append(place[:, 1:], place[1:])
    arcs = hw.Graph.from_edges(tails, heads, n=1600, directed=True)
    weights = np.arange(arcs.m) % 5 + 1.0 if weighted else None
    start = {int(v): float(v == 7) for v in range(arcs.n)}
    rounds: list[str] = []
    module = importlib.import_module("hopwave.linalg.algorithms.random_walk")

    def counted(*operands: Any, direction: str, **options: Any) -> Any:
        rounds.append(direction)
        return la.vxm(*operands, direction=direction, **options)

    monkeypatch.setattr(module, "vxm", counted)
    monkeypatch.setattr(module, "PUSHED_FROM", 0)
    g = arcs.to_networkx()
    row = np.repeat(np.arange(arcs.n), arcs.degrees)
    for arc, (u, v) in enumerate(zip(row.tolist(), arcs.indices.tolist(), strict=True)):
        g[u][v]["weight"] = 1.0 if weights is None else float(weights[arc])
    given = {"personalization": start, "nstart": start, "tol": 1e-10, "max_iter": 300}
    found = hw.pagerank(arcs, weights=weights, device="cpu", **given)
    expected = nx.pagerank(g, **given)
    assert np.allclose(found.scores, list(expected.values()), rtol=1e-9, atol=1e-14)
    assert 3 < len(rounds) < 30 and set(rounds) == {"push"}
    with pytest.raises(hw.ConvergenceError, match="after 2 rounds"):
        hw.pagerank(arcs, personalization=start, nstart=start, tol=1e-10, max_iter=2, device="cpu")
    near = hw.pagerank(
        arcs, personalization=start, nstart=start, tol=1e-3, device="cpu"
    ).scores  # converges while it pushes
    assert near[7] > 0 and math.isclose(near.sum(), 1, rel_tol=1e-9)


@given(graphs(max_n=14), st.floats(0, 0.95), st.data())
@settings(max_examples=settings.default.max_examples // 2)
def test_ranks_are_the_same_by_products_and_in_one_pass(graph: hw.Graph, alpha: float, data: Any) -> None:
    weights = data.draw(st.none() | st.lists(st.integers(0, 5), min_size=graph.m, max_size=graph.m))
    weights = None if weights is None else of_edges(graph, weights)
    options = {name: data.draw(st.none() | shares) for name in ("personalization", "dangling", "nstart")}
    options = {name: given and given[: graph.n] for name, given in options.items()}
    one_pass = hw.pagerank(graph, alpha, tol=1e-9, max_iter=1000, weights=weights, **options).scores
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(algebra("cpu")), "power_iteration", NoShortcuts.power_iteration)
        found = hw.pagerank(graph, alpha, tol=1e-9, max_iter=1000, weights=weights, **options).scores
    assert np.allclose(found, one_pass, rtol=1e-9, atol=1e-14)


def test_threads_change_no_bit_of_a_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = hw.generate.kronecker(13, edge_factor=10, seed=3, directed=True)
    ranks = []
    for threads in ("1", "3"):
        monkeypatch.setenv("HOPWAVE_NUM_THREADS", threads)
        ranks.append(hw.pagerank(graph).scores)
    assert np.array_equal(*ranks)


def test_bad_arguments_of_pagerank_are_refused() -> None:
    graph = hw.generate.path(3, directed=True)
    for options, why in (
        ({"alpha": 1.5}, "alpha=1.5"),
        ({"tol": -1}, "tol=-1"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"tol": 0, "max_iter": 3}, "after 3 rounds"),
        ({"tol": 0, "max_iter": 3, "adaptive": True}, "after 3 rounds"),
        ({"personalization": {7: 1}}, "7 is not a vertex"),
        ({"personalization": {0: 0}}, "adds up to 0"),
        ({"dangling": [1, -1, 1]}, "least -1"),
        ({"nstart": [1, math.nan, 1]}, "nstart"),
        ({"nstart": [1, 2]}, r"shape \(2,\)"),
        ({"weights": [1, -1]}, "weight -1.* is negative"),
        ({"weights": [1, math.nan]}, "NaN"),
        ({"weights": [1, math.inf]}, "infinite"),
        ({"weights": [1, 1e300]}, "scale them"),
        ({"weights": [1, 1e-300]}, "scale them"),
    ):
        with pytest.raises(GraphError, match=why):
            hw.pagerank(graph, **options)  # type: ignore[arg-type]


def test_settled_ranks_are_not_computed_again() -> None:
    """A long chain attached to a clique: the clique settles first, the chain later; the limit is the same."""
    clique = hw.generate.complete(30)
    u, v = clique.to_edges()
    chain = np.arange(29, 230)
    graph = hw.Graph.from_edges(np.concatenate([u, chain[:-1]]), np.concatenate([v, chain[1:]]))
    exact = hw.pagerank(graph, tol=1e-13, max_iter=1000).scores
    found = hw.pagerank(graph, tol=1e-10, max_iter=1000, adaptive=True).scores
    assert np.abs(found - exact).sum() < graph.n * 1e-10 / 0.15


def test_a_round_reads_all_ranks_and_writes_those_that_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """Operand reuse (push-pull, 5.6): the operand is the whole vector of ranks, never the frontier of changed ones."""
    clique = hw.generate.complete(30)
    u, v = clique.to_edges()
    chain = np.arange(29, 230)
    graph = hw.Graph.from_edges(np.concatenate([u, chain[:-1]]), np.concatenate([v, chain[1:]]))
    seen: list[tuple[int, int]] = []
    product = inspect.unwrap(la.algorithms.pagerank).__globals__["vxm"]

    def recorded(w: Any, *arguments: Any, **options: Any) -> Any:
        seen.append((w.nnz, options["mask"].nnz if options.get("mask") is not None else graph.n))
        return product(w, *arguments, **options)

    monkeypatch.setitem(inspect.unwrap(la.algorithms.pagerank).__globals__, "vxm", recorded)
    la.algorithms.pagerank(graph, tol=1e-10, max_iter=1000, adaptive=True, device="cpu")
    assert {operand for operand, _ in seen} == {graph.n} and min(written for _, written in seen) < graph.n // 2


# ------------------------------------------------------------------ others


def test_python_graphblas_agrees() -> None:
    gb = pytest.importorskip("graphblas")
    graph = hw.generate.kronecker(9, edge_factor=8, seed=4)
    weights = some_weights(graph)
    rows = np.repeat(np.arange(graph.n), graph.degrees)
    W = gb.Matrix.from_coo(rows, graph.indices, weights, nrows=graph.n, ncols=graph.n)
    d = gb.Vector(float, graph.n)
    source = int(np.argmax(graph.degrees))
    d[source] = 0
    for _ in range(graph.n):
        before = d.dup()
        d(gb.binary.min) << d.vxm(W, gb.semiring.min_plus)
        if d.isequal(before):
            break
    assert np.array_equal(d.to_dense(math.inf), hw.sssp(graph, source, weights).distances)
    L = W.select("tril", -1).new()
    C = gb.Matrix("INT64", graph.n, graph.n)
    C(L.S) << L.mxm(L.T, gb.semiring.plus_pair)
    assert hw.triangle_count(graph) == C.reduce_scalar().new().value


def test_a_real_graph(data: Path) -> None:
    graph = hw.read(data / "email-Enron.mtx.gz", progress=False)
    weights = some_weights(graph)
    A = sp.csr_array((weights, graph.indices, graph.indptr), shape=(graph.n, graph.n))
    expected = dijkstra(A, indices=0)
    for method in METHODS:
        assert np.array_equal(hw.sssp(graph, 0, weights, method).distances, expected)
    assert hw.triangle_count(graph) == 727044 == hw.triangles(graph).scores.sum() // 3
    lowest = host(algorithms.connected_components(graph))
    assert np.array_equal(np.unique(lowest, return_inverse=True)[1], hw.connected_components(graph).labels)
