"""Weights are used where lengths matter and nowhere else: every way in, every form of weights=, and the traps."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from pathlib import Path
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

igraph, pl = pytest.importorskip("igraph"), pytest.importorskip("polars")

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


def as_igraph(directed: bool) -> Any:
    src, dst, w = edges(directed)
    g = igraph.Graph(n=N, edges=list(zip(src.tolist(), dst.tolist(), strict=True)), directed=directed)
    g.es["weight"] = w.tolist()
    return g


def as_scipy(directed: bool) -> Any:
    return Graph.from_edges(*edges(directed)[:2], N, directed, weights=edges(directed)[2]).to_scipy()


def table(directed: bool) -> dict[str, Any]:
    return dict(zip(("u", "v", "w"), edges(directed), strict=True))


def columns(convert: Callable[[Any], Any]) -> Callable[[bool], Graph]:
    def build(directed: bool) -> Graph:
        src, dst, w = map(convert, edges(directed))
        return Graph.from_edges(src, dst, N, directed, weights=w)

    return build


def by_rows(directed: bool) -> Graph:
    A = as_scipy(directed)
    return Graph.from_csr(A.indptr, A.indices, directed, weights=A.data)


WAYS_IN: dict[str, Callable[[bool], Any]] = {
    "lists": columns(lambda column: column.tolist()),
    "numpy": columns(lambda column: column),
    "pandas columns": columns(pd.Series),
    "polars": columns(pl.Series),
    "arrow": columns(pa.array),
    "csr": by_rows,
    "scipy": lambda directed: Graph.from_scipy(as_scipy(directed), directed),
    "networkx": lambda directed: Graph.from_networkx(as_nx(directed)),
    "pandas": lambda directed: Graph.from_pandas(pd.DataFrame(table(directed)), "u", "v", "w", directed, n=N),
    "polars table": lambda directed: Graph.from_pandas(pl.DataFrame(table(directed)), "u", "v", "w", directed, n=N),
    "igraph": lambda directed: Graph.from_igraph(as_igraph(directed)),
    "to igraph and back": lambda directed: Graph.from_igraph(Graph.from_networkx(as_nx(directed)).to_igraph()),
    "to networkx and back": lambda directed: Graph.from_networkx(columns(list)(directed).to_networkx()),
    "relabelled": lambda directed: columns(list)(directed).relabel([f"v{i}" for i in range(N)]).relabel(None),
    "reversed twice": lambda directed: columns(list)(directed).reverse().reverse(),
    "arranged": lambda directed: columns(list)(directed).arranged(),
    "a SciPy matrix itself": as_scipy,
    "a NetworkX graph itself": as_nx,
    "a linalg matrix": lambda directed: la.Matrix.from_graph(columns(list)(directed)),
}
either = pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])


@either
@pytest.mark.parametrize("way", WAYS_IN)
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
@pytest.mark.parametrize("name", ["roads.mtx", "roads.gr", "roads.csv"])
def test_distances_are_dijkstras_for_files(name: str, directed: bool, tmp_path: Path) -> None:
    graph = columns(list)(directed)
    hw.write(tmp_path / name, graph, directed=directed)
    again = hw.read(tmp_path / name, directed=directed, n=N)
    assert again.is_weighted
    assert np.array_equal(hw.sssp(again, 0).distances, expected(directed))
    assert not hw.read(tmp_path / name, directed=directed, n=N, weights=False).is_weighted


@either
def test_an_array_in_the_order_of_indices(directed: bool) -> None:
    graph = columns(list)(directed)
    bare = graph.without_weights()
    assert np.array_equal(hw.sssp(bare, 0, graph.weights).distances, expected(directed))
    assert np.array_equal(hw.sssp(bare.with_weights(graph.weights), 0).distances, expected(directed))
    instead = hw.sssp(graph, 0, np.ones(graph.m)).distances  # an array replaces the graph's own weights
    assert np.array_equal(instead, hw.sssp(graph, 0, weights=False).distances)


def test_ranks_follow_the_weights() -> None:
    for directed in (False, True):
        g = as_nx(directed)
        graph = Graph.from_networkx(g)
        for weights, name in ((None, "weight"), (True, "weight"), (False, None)):
            right = list(nx.pagerank(g, tol=1e-10, max_iter=500, weight=name).values())
            for given in (graph, g, la.Matrix.from_graph(graph)):
                assert np.allclose(hw.pagerank(given, tol=1e-10, max_iter=500, weights=weights).scores, right)


@either
def test_parallel_edges_of_networkx(directed: bool) -> None:
    """NetworkX takes the least of parallel edges for distances, and their sum for ranks."""
    g = nx.MultiDiGraph() if directed else nx.MultiGraph()
    g.add_weighted_edges_from([(0, 1, 5), (0, 1, 2), (1, 0, 7), (1, 2, 1), (2, 2, 3), (2, 2, 4), (2, 0, 9)])
    g.add_edge(2, 3)
    assert hw.sssp(g, 0).to_dict() == nx.single_source_dijkstra_path_length(g, 0)
    for weights, name in ((None, "weight"), ("weight", "weight"), (False, None)):
        right = list(nx.pagerank(g, tol=1e-10, max_iter=500, weight=name).values())
        assert np.allclose(hw.pagerank(g, tol=1e-10, max_iter=500, weights=weights).scores, right)
    bare = nx.MultiGraph([(0, 1), (0, 1), (1, 2)])
    right = list(nx.pagerank(bare, tol=1e-10, max_iter=500).values())
    assert np.allclose(hw.pagerank(bare, tol=1e-10, max_iter=500).scores, right)


# ------------------------------------------------------------------ hops


HOPS: dict[str, Callable[[Any], Any]] = {
    "bfs": lambda G: hw.bfs(G, 0, path_counts=True).to_pandas().to_dict(),
    "bfs_many": lambda G: hw.bfs_many(G, [0, 3]).tolist(),
    "betweenness": lambda G: hw.betweenness_centrality(G).scores.tolist(),
    "betweenness by degree": lambda G: hw.betweenness_centrality(G, plan="hopwave-wide").scores.tolist(),
    "edge betweenness": lambda G: hw.edge_betweenness_centrality(G).to_dict(),
    "closeness": lambda G: hw.closeness_centrality(G).scores.tolist(),
    "histogram": lambda G: hw.distance_histogram(G).counts.tolist(),
    "components": lambda G: hw.weakly_connected_components(G).labels.tolist(),
    "bipartite": lambda G: hw.is_bipartite(G),
    "path": lambda G: hw.has_path(G, 0, 5),
    "cores": lambda G: hw.core_numbers(G).scores.tolist(),
}
UNDIRECTED: dict[str, Callable[[Any], Any]] = {
    "triangles": lambda G: hw.triangles(G).scores.tolist(),
    "triangle count": lambda G: hw.triangle_count(G),
    "independent set": lambda G: hw.maximal_independent_set(G, seed=1).tolist(),
    "communities": lambda G: hw.label_propagation(G, seed=1).labels.tolist(),
    "linalg bfs": lambda G: la.bfs(G, 0).to_dense().tolist(),
    "linalg betweenness": lambda G: la.algorithms.betweenness(G).values.tolist(),
    "linalg components": lambda G: la.algorithms.connected_components(G).values.tolist(),
}


@pytest.mark.filterwarnings("ignore::hopwave.IgnoredWeightsWarning")
@either
@pytest.mark.parametrize("question", HOPS)
def test_hops_ignore_weights(question: str, directed: bool) -> None:
    graph, ask = columns(list)(directed), HOPS[question]
    assert ask(graph) == ask(graph.without_weights())
    assert ask(as_nx(directed)) == ask(graph.without_weights())


@pytest.mark.parametrize("question", UNDIRECTED)
def test_patterns_ignore_weights(question: str) -> None:
    graph, ask = columns(list)(False), UNDIRECTED[question]
    assert ask(graph) == ask(graph.without_weights())


def test_hops_never_refuse_weights() -> None:
    several = nx.MultiGraph([("a", "b", {"weight": 5}), ("a", "b", {"weight": 2}), ("b", "c", {"weight": "far"})])
    assert hw.bfs(several, "a").to_dict() == {"a": 0, "b": 1, "c": 2}
    assert not as_graph(several).is_weighted
    lopsided = sp.csr_array(np.array([[0.0, 3.0], [5.0, 0.0]]))  # the pattern is symmetric
    assert not as_graph(lopsided).directed and not as_graph(lopsided).is_weighted


# ------------------------------------------------------------------ the rule


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
    with pytest.raises(GraphError, match=r"weight -1 from 0 to 1 is negative; .* count hops with weights=False"):
        hw.shortest_path(Graph.from_edges([0], [1], weights=[-1.0]), 0, 1)


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


QUESTIONS = {name: ask for name in hw.__all__ if inspect.isfunction(ask := getattr(hw, name))}
PATHS_AND_RANKS = {
    "sssp", "sssp_each", "sssp_many", "nearest", "shortest_path", "all_shortest_paths", "distance_blocks",
    "pairs_within", "distance_table", "accessibility", "nearest_of", "isochrone",
    "shortest_paths", "k_shortest_paths",
    "pagerank", "eigenvector_centrality", "katz_centrality", "hits", "modularity",
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name, ask in QUESTIONS.items() if "G" in inspect.signature(ask).parameters])
def test_every_docstring_states_the_rule_on_one_line(name: str) -> None:
    text = QUESTIONS[name].__doc__ or ""
    if name == "estimate_memory":  # its questions have their own
        return
    if "weights" not in inspect.signature(QUESTIONS[name]).parameters:
        assert "Weights are ignored" in text
    elif name in PATHS_AND_RANKS:
        assert "Weights are followed; `weights=False` leaves them out.\n" in text
    else:
        assert "Weights are ignored unless `weights=` says otherwise.\n" in text


def test_the_word_of_networkx_is_answered() -> None:
    named = [name for name, ask in QUESTIONS.items() if {"G", "weights"} <= set(inspect.signature(ask).parameters)]
    assert len(named) > 20
    for name in set(named) - {"estimate_memory"}:
        with pytest.raises(TypeError, match=rf"{name}\(\) has no argument 'weight'; did you mean weights=\?"):
            QUESTIONS[name](DETOUR, weight="km")


# ------------------------------------------------------------------ traps


def test_weights_in_the_order_of_edges_are_refused() -> None:
    src, dst = [2, 0, 1], [3, 1, 2]
    graph = Graph.from_edges(src, dst)
    remedy = r"build the graph with Graph.from_edges\(src, dst, weights=...\)"
    for ask in (hw.sssp, hw.pagerank):
        arguments: dict[str, Any] = {"source": 0} if ask is hw.sssp else {}
        with pytest.raises(GraphError, match=rf"shape \(3,\), not one number for each of the 6 stored arcs.*{remedy}"):
            ask(graph, weights=[10.0, 1.0, 4.0], **arguments)
        with pytest.raises(GraphError, match=f"differ between the two arcs of an undirected edge.*{remedy}"):
            ask(graph, weights=[10.0, 1.0, 4.0, 10.0, 1.0, 4.0], **arguments)
    right = Graph.from_edges(src, dst, weights=[10.0, 1.0, 4.0])
    assert hw.sssp(right, 0).distances.tolist() == [0.0, 1.0, 5.0, 15.0]
    with pytest.raises(GraphError, match=r"weights\[1\] is NaN"):
        hw.sssp(graph, 0, weights=[1.0, np.nan, 1.0, 1.0, 1.0, 1.0])


def test_the_check_of_symmetry_is_right_for_large_arrays_of_any_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hopwave.graph.csr.COMPILED_FROM", 0)
    graph = columns(list)(False)
    assert graph.weights is not None
    for kind in ("float64", "float32", "int32", "int64", "uint8"):
        weights = graph.weights.astype(kind)
        assert np.array_equal(hw.sssp(graph.without_weights(), 0, weights).distances, expected(False))
        weights[np.flatnonzero(graph.indices != np.repeat(np.arange(N), graph.degrees))[0]] += 1
        with pytest.raises(GraphError, match="differ between the two arcs"):
            hw.sssp(graph, 0, weights)


@pytest.mark.parametrize("wrong", [-2.0, np.inf])
@pytest.mark.parametrize(
    "ask",
    [
        hw.pagerank,
        hw.eigenvector_centrality,
        hw.katz_centrality,
        hw.hits,
        lambda G: hw.sssp(G, "ann"),
        lambda G: hw.sssp_each(G, ["ann"]),
        lambda G: hw.nearest(G, "ann", 2),
        lambda G: hw.shortest_path(G, "ann", "bob"),
        lambda G: hw.betweenness_centrality(G, weights=True),
    ],
)
def test_a_weight_that_cannot_be_used_is_named_by_labels(ask: Any, wrong: float) -> None:
    graph = Graph.from_edges(["ann", "bob", "cyd"], ["bob", "cyd", "ann"], weights=[1.0, wrong, 3.0])
    with pytest.raises(GraphError, match=r"from 'bob' to 'cyd' is (negative|infinite); "):
        ask(graph)


@pytest.mark.parametrize(
    "ask", [hw.betweenness_centrality, hw.edge_betweenness_centrality, hw.closeness_centrality, hw.pagerank]
)
def test_a_graph_without_edges_lacks_no_weights(ask: Any) -> None:
    nodes = nx.empty_graph(3)
    for graph in (Graph.from_networkx(nodes, weight="km"), Graph.from_edges([], [], n=3), nodes):
        assert ask(graph, weights=True).to_dict() == ask(graph, weights=False).to_dict()


def test_missing_weights_are_refused() -> None:
    bare = Graph.from_edges([0], [1])
    with pytest.raises(GraphError, match="weights=True takes the graph's own weights, and it has none"):
        hw.sssp(bare, 0, weights=True)
    with pytest.raises(GraphError, match="weights=True takes a matrix's values"):
        hw.sssp(la.Matrix.from_graph(bare), 0, weights=True)
    with pytest.raises(GraphError, match="weights='km' names an edge attribute, and Graph has none"):
        hw.pagerank(bare, weights="km")
    with pytest.raises(GraphError, match="and Graph has none; give weights=True for its own weights"):
        hw.closeness_centrality(bare.with_weights([2.0, 2.0]), weights="km")
    for weights, name in (("km", "km"), (True, "weight")):
        with pytest.raises(GraphError, match=f"no edge has the attribute '{name}'"):
            hw.sssp(nx.path_graph(3), 0, weights=weights)
    assert hw.sssp(nx.path_graph(3), 0).distances.tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(GraphError, match="'far' somewhere, which is not a number"):
        hw.sssp(nx.Graph([(0, 1, {"weight": "far"})]), 0)


def test_a_distributed_graph_says_that_it_has_no_weights() -> None:
    distributed = pytest.importorskip("hopwave.distributed")
    graph = columns(list)(False)
    with pytest.raises(GraphError, match=r"leave them out with spread\(G.without_weights\(\)\)"):
        distributed.spread(graph)
    assert distributed.spread(graph.without_weights()).m == graph.m


# ------------------------------------------------------------------ matrices


@either
def test_the_values_of_a_graphs_matrix_are_its_weights(directed: bool) -> None:
    graph = columns(list)(directed)
    A = la.Matrix.from_graph(graph)
    right = as_scipy(directed).toarray()
    assert A.has_values and np.array_equal(A.to_dense(), right) and np.array_equal(A.T.to_dense(), right.T)
    assert np.array_equal(A.columns.values, A.T.rows.values)
    for pattern in (A.pattern(), la.Matrix.from_graph(graph, weights=False)):
        assert not pattern.has_values and np.array_equal(pattern.to_dense(), right != 0)
    assert not la.Matrix.from_graph(graph.without_weights()).has_values
    assert la.reduce(graph) == right.sum()


def test_the_matrix_used_last_is_kept_with_the_graph() -> None:
    graph = columns(list)(True)
    weighted = la.Matrix.from_graph(graph)
    assert la.Matrix.from_graph(graph) is weighted
    pattern = la.Matrix.from_graph(graph, weights=False)
    assert not pattern.has_values and la.Matrix.from_graph(graph, weights=False) is pattern
    assert la.Matrix.from_graph(graph) is not weighted and la.Matrix.from_graph(graph).has_values


def test_objects_of_other_libraries_are_answered_with_their_constructor() -> None:
    for ask in (lambda G: hw.bfs(G, 0), lambda G: hw.sssp(G, 0), hw.closeness_centrality, hw.pagerank):
        with pytest.raises(
            GraphError, match=r"igraph's Graph must be converted once, first; give Graph.from_igraph\(g\)"
        ):
            ask(as_igraph(False))
        for table_of in (pd.DataFrame, pl.DataFrame):
            with pytest.raises(
                GraphError, match=r"DataFrame must be converted once, first; give Graph.from_pandas\(table, "
            ):
                ask(table_of(table(False)))
