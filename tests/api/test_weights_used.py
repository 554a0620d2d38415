"""Weights are used where lengths matter and nowhere else: every way in, every form of weights=, and the traps."""

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

import hopwave as hw
from hopwave import Graph, GraphError
from hopwave import linalg as la
from hopwave.api.arguments import as_graph
from together import in_one_test

igraph, pl = (pytest.importorskip(name) for name in ("igraph", "polars"))

N = 40


def edges(directed: bool, seed: int = 3) -> tuple[Any, Any, Any]:
    """Some edges in random order, each once, with whole weights that every format can hold."""
    rng = np.random.default_rng(seed)
    pairs = {(int(u), int(v)) for u, v in rng.integers(0, N, (150, 2)) if directed or u <= v}
    src, dst = np.array(sorted(pairs, key=lambda _: rng.random())).T
    return src, dst, rng.integers(1, 100, len(src)).astype(np.float64)


def expected(directed: bool) -> Any:
    """SciPy's distances from vertex 0, computed from the edges."""
    src, dst, w = edges(directed)
    return dijkstra(sp.coo_array((w, (src, dst)), shape=(N, N)).tocsr(), directed=directed, indices=0)


def as_nx(directed: bool) -> Any:
    g = nx.DiGraph() if directed else nx.Graph()
    g.add_nodes_from(range(N))
    g.add_weighted_edges_from(zip(*(column.tolist() for column in edges(directed)), strict=True))
    return g


def made(directed: bool, convert: Callable[[Any], Any] = list) -> Graph:
    src, dst, w = map(convert, edges(directed))
    return Graph.from_edges(src, dst, N, directed, weights=w)


WAYS_IN: dict[str, Callable[[bool], Any]] = {  # tests/graph has the weights of other constructors
    "lists": lambda directed: made(directed, lambda column: column.tolist()),
    "pandas columns": lambda directed: made(directed, pd.Series),
    "polars": lambda directed: made(directed, pl.Series),
    "arrow": lambda directed: made(directed, pa.array),
    "polars table": lambda directed: Graph.from_pandas(
        pl.DataFrame(dict(zip("uvw", edges(directed), strict=True))), "u", "v", "w", directed, n=N
    ),
    "to igraph and back": lambda directed: Graph.from_igraph(made(directed).to_igraph()),
    "relabelled": lambda directed: made(directed).relabel([f"v{i}" for i in range(N)]).relabel(None),
    "reversed twice": lambda directed: made(directed).reverse().reverse(),
    "arranged": lambda directed: made(directed).arranged(),
    "a SciPy matrix itself": lambda directed: made(directed).to_scipy(),
    "a NetworkX graph itself": as_nx,
    "a linalg matrix": lambda directed: la.Matrix.from_graph(made(directed)),
}
either = pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])


@either
@in_one_test("way", WAYS_IN)
def test_distances_are_dijkstras_for_every_way_in(way: str, directed: bool) -> None:
    given = WAYS_IN[way](directed)
    right = expected(directed)
    for weights in (None, True):
        for method in ("dijkstra", "delta-stepping", "bellman-ford"):
            found = hw.sssp(given, 0, weights, method)
            assert np.array_equal(found.distances, right)
    hops = hw.sssp(given, 0, weights=False).distances
    assert np.array_equal(np.where(np.isinf(hops), -1, hops), hw.bfs(as_nx(directed), 0).distances)


@either
def test_parallel_edges_of_networkx(directed: bool) -> None:
    """NetworkX takes the least of parallel edges for distances, and their sum for ranks."""
    several = nx.MultiDiGraph() if directed else nx.MultiGraph()
    several.add_weighted_edges_from([(0, 1, 5), (0, 1, 2), (1, 0, 7), (1, 2, 1), (2, 2, 3), (2, 2, 4), (2, 0, 9)])
    several.add_edge(2, 3)
    assert hw.sssp(several, 0).to_dict() == nx.single_source_dijkstra_path_length(several, 0)
    bare = nx.MultiGraph([(0, 1), (0, 1), (1, 2)])
    for g, weights, name in ((several, None, "weight"), (several, False, None), (bare, None, "weight")):
        expected = list(nx.pagerank(g, tol=1e-10, max_iter=500, weight=name).values())
        assert np.allclose(hw.pagerank(g, tol=1e-10, max_iter=500, weights=weights).scores, expected)


def test_hops_never_refuse_weights() -> None:
    several = nx.MultiGraph([("a", "b", {"weight": 5}), ("a", "b", {"weight": 2}), ("b", "c", {"weight": "far"})])
    assert hw.bfs(several, "a").to_dict() == {"a": 0, "b": 1, "c": 2}
    assert not as_graph(several).is_weighted
    lopsided = sp.csr_array(np.array([[0.0, 3.0], [5.0, 0.0]]))  # the pattern is symmetric
    assert not as_graph(lopsided).directed and not as_graph(lopsided).is_weighted


DETOUR = Graph.from_edges(["a", "a", "c"], ["b", "c", "b"], weights=[10.0, 1.0, 1.0])


def test_paths_of_a_weighted_graph_follow_its_weights() -> None:
    for given in (DETOUR, DETOUR.to_networkx()):
        assert hw.shortest_path(given, "a", "b") == hw.sssp(given, "a").path_to("b") == ["a", "c", "b"]
        assert list(hw.all_shortest_paths(given, "a", "b")) == [["a", "c", "b"]]
        assert hw.nearest(given, "a", 3)["b"] == 2.0
        assert hw.shortest_path(given, "a", "b", weights=False) == ["a", "b"]
        assert list(hw.all_shortest_paths(given, "a", "b", weights=False)) == [["a", "b"]]
        assert hw.bfs(given, "a").to_dict() == {"a": 0, "b": 1, "c": 1}
    assert hw.shortest_path(DETOUR.to_scipy(), 0, 1) == [0, 2, 1]


def test_a_centrality_says_once_that_it_counts_hops() -> None:
    hw.diameter(DETOUR, weights=False)  # compile first: Numba resets filters, so that Python forgets what it warned of
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(2):
            hw.diameter(DETOUR)
        for quiet in (DETOUR.without_weights(), DETOUR.to_networkx(), DETOUR.to_scipy()):
            hw.diameter(quiet)
        hw.diameter(DETOUR, weights=False), hw.diameter(DETOUR, weights=True), hw.bfs(DETOUR, "a")
    assert [(one.category, one.filename) for one in caught] == [(hw.IgnoredWeightsWarning, __file__)]


QUESTIONS = {
    name: ask for name in hw.__all__
    if inspect.isfunction(ask := getattr(hw, name)) and "G" in inspect.signature(ask).parameters
    and name != "estimate_memory"  # its questions have their own
}  # fmt: skip
PATHS_AND_RANKS = {
    "sssp", "sssp_each", "sssp_many", "nearest", "shortest_path", "all_shortest_paths", "distance_blocks",
    "pairs_within", "distance_table", "accessibility", "nearest_of", "isochrone",
    "shortest_paths", "k_shortest_paths",
    "pagerank", "eigenvector_centrality", "katz_centrality", "hits", "modularity", "strength",
}  # fmt: skip


@in_one_test("name", QUESTIONS)
def test_every_docstring_states_the_rule_and_the_word_of_networkx_is_answered(name: str) -> None:
    text = QUESTIONS[name].__doc__ or ""
    if "weights" not in inspect.signature(QUESTIONS[name]).parameters:
        assert "Weights are ignored" in text, f"add `Weights are ignored.` to the docstring of hopwave.{name}"
        return
    rule = "used; `weights=False` ignores them" if name in PATHS_AND_RANKS else "ignored; `weights=True` uses them"
    assert f"Weights are {rule}" in text, f"add `Weights are {rule}` to the docstring of hopwave.{name}"
    with pytest.raises(TypeError, match=rf"{name}\(\) has no argument 'weight'; did you mean weights=\?"):
        QUESTIONS[name](DETOUR, weight="km")


def test_the_check_of_symmetry_is_right_for_large_arrays_of_any_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hopwave.graph.csr.COMPILED_FROM", 0)
    graph = made(False)
    assert graph.weights is not None
    for kind in ("float64", "float32", "int32", "int64", "uint8"):
        weights = graph.weights.astype(kind)
        assert np.array_equal(hw.sssp(graph.without_weights(), 0, weights).distances, expected(False))
        weights[np.flatnonzero(graph.indices != np.repeat(np.arange(N), graph.degrees))[0]] += 1
        with pytest.raises(GraphError, match="differ between the two arcs"):
            hw.sssp(graph, 0, weights)


@in_one_test("ask", [hw.betweenness_centrality, hw.edge_betweenness_centrality, hw.closeness_centrality, hw.pagerank])
def test_a_graph_without_edges_lacks_no_weights(ask: Any) -> None:
    nodes = nx.empty_graph(3)
    for graph in (Graph.from_networkx(nodes, weight="km"), Graph.from_edges([], [], n=3), nodes):
        assert ask(graph, weights=True).to_dict() == ask(graph, weights=False).to_dict()


@either
def test_the_values_of_a_graphs_matrix_are_its_weights(directed: bool) -> None:
    """The matrix used last is kept with the graph."""
    graph = made(directed)
    A, right = la.Matrix.from_graph(graph), graph.to_scipy().toarray()
    assert A.has_values and np.array_equal(A.to_dense(), right) and np.array_equal(A.T.to_dense(), right.T)
    assert np.array_equal(A.columns.values, A.T.rows.values) and la.reduce(graph) == right.sum()
    assert la.Matrix.from_graph(graph) is A
    pattern = la.Matrix.from_graph(graph, weights=False)
    for places in (A.pattern(), pattern):
        assert not places.has_values and np.array_equal(places.to_dense(), right != 0)
    assert la.Matrix.from_graph(graph, weights=False) is pattern
    assert la.Matrix.from_graph(graph) is not A and la.Matrix.from_graph(graph).has_values
