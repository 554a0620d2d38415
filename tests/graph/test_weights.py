"""Weights belong to a graph: constructors keep them, changes of shape carry them along, compiled or not."""

import operator
import pickle
import warnings
from functools import partial, reduce
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hopwave as hw
from graphs import TRAPS
from hopwave import Graph, GraphError, SparseIdsWarning
from hopwave.algorithms.brandes import of_reverse_arcs
from hopwave.graph import csr, csr_compiled
from hopwave.linalg import Matrix
from together import in_one_test

igraph = pytest.importorskip("igraph")
RULES: dict[str, Any] = {  # not Python's sum, which rounds less
    "min": min, "max": max, "first": lambda values: values[0], "sum": partial(reduce, operator.add)
}  # fmt: skip


def slow(edges: list[tuple[int, int, float]], directed: bool, combine: str) -> dict[tuple[int, int], float]:
    """Arc → weight, computed edge by edge."""
    found: dict[tuple[int, int], list[float]] = {}
    for u, v, w in edges:
        for arc in {(u, v)} if directed else {(u, v), (v, u)}:
            found.setdefault(arc, []).append(w)
    return {arc: RULES[combine](values) for arc, values in found.items()}


def arcs(graph: Graph) -> dict[tuple[int, int], float]:
    """Arc → weight of a graph."""
    assert graph.weights is not None
    source = np.repeat(np.arange(graph.n), graph.degrees)
    return dict(zip(zip(source.tolist(), graph.indices.tolist(), strict=True), graph.weights.tolist(), strict=True))


weighted_edges = st.integers(1, 9).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.lists(
            st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.sampled_from([0.0, 0.1, 0.2, 0.7, 1.0, 3.0])),
            max_size=30,
        ),
    )
)


@given(weighted_edges, st.booleans(), st.sampled_from(["min", "max", "sum", "first"]))
def test_repeated_edges_are_combined_as_asked(given_edges: Any, directed: bool, combine: Any) -> None:
    n, edges = given_edges
    u, v, w = ([edge[i] for edge in edges] for i in range(3))
    graph = Graph.from_edges(u, v, n, directed, weights=w, combine=combine)
    assert arcs(graph) == slow(edges, directed, combine)
    assert graph.without_weights() == Graph.from_edges(u, v, n, directed)
    if directed:
        turned = graph.reverse()
        assert arcs(turned) == {(b, a): weight for (a, b), weight in arcs(graph).items()}
        both = graph.to_undirected("max")
        assert both.without_weights().with_weights(both.weights) == both
        assert graph.in_weights is not None and graph.in_weights.tolist() == turned.weights.tolist()  # type: ignore[union-attr]
    arranged = graph.arranged()
    assert arcs(arranged) == arcs(graph)
    assert pickle.loads(pickle.dumps(graph)) == graph


@given(weighted_edges, st.booleans())
def test_different_weights_of_one_edge_are_refused(given_edges: Any, directed: bool) -> None:
    n, edges = given_edges
    u, v, w = ([edge[i] for edge in edges] for i in range(3))
    least, most = slow(edges, directed, "min"), slow(edges, directed, "max")
    if least == most:
        assert arcs(Graph.from_edges(u, v, n, directed, weights=w)) == least
        return
    with pytest.raises(GraphError, match=r"appears more than once, with different weights; .* combine='min'"):
        Graph.from_edges(u, v, n, directed, weights=w)


@given(weighted_edges, st.booleans(), st.booleans(), st.sampled_from([None, "min", "max", "sum", "first"]))
@settings(max_examples=40)
def test_the_compiled_builder_does_the_same(given_edges: Any, symmetric: bool, merge: bool, combine: Any) -> None:
    n, edges = given_edges
    u, v = (np.array([edge[i] for edge in edges], np.int64) for i in range(2))
    w = np.array([edge[2] for edge in edges], np.float32)
    indptr, indices, weights, place = csr_compiled.sorted_rows(
        u, v, n, symmetric=symmetric, merge=merge, weights=w, combine=combine, threads=3
    )
    try:
        rows = csr.rows_of(u, v, n, symmetric=symmetric, merge=merge, weights=w, combine=combine)
    except csr.Conflict as conflict:
        assert place >= 0 and (csr.row_of(indptr, place), indices[place]) == conflict.args
        return
    assert weights is not None and rows.values is not None and weights.dtype == rows.values.dtype == np.float32
    assert indptr.tolist() == rows.indptr.tolist() and indices.tolist() == rows.indices.tolist()
    assert weights.tolist() == rows.values.tolist() and place == -1
    plain = csr._counted(u, v, n, symmetric, merge)
    bare = csr_compiled.sorted_rows(u, v, n, symmetric=symmetric, merge=merge, threads=2)
    assert bare[0].tolist() == plain.indptr.tolist() and bare[1].tolist() == plain.indices.tolist()
    small = csr.rows_of(u, v, n, symmetric=symmetric, merge=merge)
    assert small.indptr.tolist() == plain.indptr.tolist() and small.indices.tolist() == plain.indices.tolist()
    turned = [csr.transposed(rows)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csr, "SCIPY_FROM_IF_LOADED", 0)
        turned.append(csr.transposed(rows))
    assert [array.tolist() for array in turned[0]] == [array.tolist() for array in turned[1]]


def parts(graph: Graph) -> list[list[float] | None]:
    return [None if array is None else array.tolist() for array in (graph.indptr, graph.indices, graph.weights)]


@pytest.mark.parametrize("name", TRAPS)
def test_compiled_passes_agree_with_numpy(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = TRAPS[name]()
    halves: list[list[int]] = [[], list(range(0, graph.n, 2))]
    weighted = graph.with_weights(np.arange(graph.m)) if graph.directed else graph
    found = hw.bfs(graph, 0, device="cpu")
    wrong = np.where(found.distances == 1, 3, found.distances)
    cut = hw.bfs(graph, 0, depth_limit=1, device="cpu")
    numbers = np.arange(float(graph.m))

    def answers() -> list[object]:
        given = [found.distances, wrong, cut.distances]
        limits = [None, None, 1]
        said = [
            hw.validate(graph, 0, levels, tree, depth_limit=limit).failures
            for levels, limit in zip(given, limits, strict=True)
            for tree in (None, found.predecessors)
        ]

        kept = [parts(one.subgraph(some)) for some in halves for one in (graph, weighted)]
        turned = [] if graph.directed else of_reverse_arcs(graph, numbers).tolist()
        return [said, kept, turned, parts(graph.to_undirected())]

    expected = answers()
    monkeypatch.setattr(csr, "COMPILED_FROM_IF_LOADED", 0)
    monkeypatch.setattr(csr_compiled, "ARCS_PER_PLACE", 1000)
    assert answers() == expected


@in_one_test("name", TRAPS)
def test_symmetric_patterns_are_known_from_sums(name: str) -> None:
    graph = TRAPS[name]()
    turned = csr.transposed(csr.Rows(graph.indptr, graph.indices, None))
    same = np.array_equal(turned.indptr, graph.indptr) and np.array_equal(turned.indices, graph.indices)
    assert csr_compiled.is_symmetric_pattern(graph.indptr, graph.indices) == same


def test_one_arc_less_or_elsewhere_is_not_symmetric() -> None:
    grid = hw.generate.grid(4, 4)
    source, target = grid.indices, np.repeat(np.arange(grid.n), np.diff(grid.indptr))
    for arc in range(grid.m):
        keep = np.arange(grid.m) != arc
        less = Graph.from_edges(source[keep], target[keep], grid.n, directed=True)
        assert csr_compiled.is_symmetric_pattern(less.indptr, less.indices) is False
        moved = grid.indices.copy()
        moved[arc] = 15 - moved[arc]
        assert not csr_compiled.is_symmetric_pattern(grid.indptr, moved)
    unsorted = np.array([0, 2, 3, 4], np.int32), np.array([2, 1, 0, 0], np.int32)
    assert csr_compiled.is_symmetric_pattern(*unsorted) is None


# ---------------------------------------------------------------- constructors


@pytest.mark.parametrize(
    ("given", "kept"), [(np.float32, "f4"), (np.float16, "f4"), (np.float64, "f8"), (np.int32, "f8"), (np.bool_, "f8")]
)
def test_types_of_weights(given: Any, kept: str) -> None:
    graph = Graph.from_edges([0], [1], weights=np.ones(1, given))
    assert graph.weights is not None and graph.weights.dtype == np.dtype(kept)
    assert graph.weights.flags.writeable is False


@pytest.mark.parametrize(("make", "expected"), [
    # The trap: the order in which edges are given is not the order of G.indices.
    (lambda: Graph.from_edges([2, 0, 1], [0, 1, 2], 3, True, weights=[8, 1, 9]), [(0, 1, 1), (1, 2, 9), (2, 0, 8)]),
    (lambda: Graph.from_csr([0, 2, 2, 2], [2, 1], weights=[5.0, 4.0]), [(0, 1, 4.0), (0, 2, 5.0)]),
    (lambda: Graph.from_edges([0, 0], [1, 1], weights=[9, -np.inf], repeats="keep"), [(0, 1, 9), (0, 1, -np.inf)]),
])  # fmt: skip
def test_weights_stay_with_their_edges(make: Any, expected: Any) -> None:
    assert list(make().edges()) == expected


def test_networkx_weights() -> None:
    g = nx.Graph()
    g.add_edge("a", "b", weight=3)
    g.add_edge("b", "c")
    graph = Graph.from_networkx(g)
    assert list(graph.edges()) == [("a", "b", 3.0), ("b", "c", 1.0)]
    assert graph.to_networkx()["a"]["b"]["weight"] == 3.0
    assert not Graph.from_networkx(g, weight=None).is_weighted
    assert Graph.from_networkx(nx.empty_graph(3), weight="km").n == 3  # no edge could have the attribute
    assert not Graph.from_networkx(nx.path_graph(3)).is_weighted  # the usual attribute name is not used unasked
    many = nx.MultiGraph([(0, 1, {"weight": 1}), (0, 1, {"weight": 5})])
    assert Graph.from_networkx(many, combine="sum").weights.tolist() == [6.0, 6.0]  # type: ignore[union-attr]


def test_pandas_and_igraph() -> None:
    table = pd.DataFrame({"from": ["x", "y"], "to": ["y", "z"], "km": [1.5, 2.0]})
    graph = Graph.from_pandas(table, "from", "to", "km")
    assert list(graph.edges()) == [("x", "y", 1.5), ("y", "z", 2.0)]
    table.columns = ["source", "target", "weight"]
    assert graph.edges().to_pandas().to_dict("list") == table.to_dict("list")
    assert Graph.from_igraph(graph.to_igraph()) == graph
    assert Graph.from_igraph(igraph.Graph(directed=True, edges=[(0, 1)])).directed


# ---------------------------------------------------------------- sparse ids


def test_sparse_ids_become_labels_and_say_so() -> None:
    with pytest.warns(SparseIdsWarning, match=r"ids reach 1,000,000,000, but only 3 differ"):
        graph = Graph.from_edges([10**9, 5], [5, 7], weights=[1, 2])
    assert graph.n == 3 and list(graph.edges()) == [(5, 7, 2.0), (5, 10**9, 1.0)]
    with pytest.warns(SparseIdsWarning, match="the ids start at 1, so vertex 0 is isolated; pass n=4"):
        assert not hw.is_connected(Graph.from_edges([1, 2, 3], [2, 3, 1]))
    with pytest.warns(SparseIdsWarning):
        assert Graph.from_edges([10**15], [3]).labels.tolist() == [3, 10**15]  # type: ignore[union-attr]


def test_dense_ids_and_given_n_stay_numbers() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Graph.from_edges([1000], [0]).n == 1001
        assert Graph.from_edges([9_000_000], [2], n=9_000_001).n == 9_000_001


# ---------------------------------------------------------------- what users expect of a graph


def test_the_callers_weights_stay_their_own() -> None:
    """A graph does not change with the caller's array, and the caller may change that array."""
    graph = Graph.from_edges([0, 1], [1, 2])
    weights = np.ones(graph.m)
    heavier = graph.with_weights(weights)
    hw.betweenness_centrality(graph, weights=weights)
    hw.closeness_centrality(graph, weights=weights)
    weights[:] = 5.0
    assert heavier.weights is not None and heavier.weights.tolist() == [1.0] * 4


@pytest.mark.parametrize("directed", [False, True])
def test_parallel_arcs_become_edges_of_a_multigraph(directed: bool) -> None:
    ends, weights = ([0, 0, 1, 2, 2], [1, 1, 2, 2, 2]), [1.0, 2.0, 3.0, 4.0, 5.0]
    g = Graph.from_edges(*ends, weights=weights, repeats="keep", directed=directed).to_networkx()
    assert type(g) is (nx.MultiDiGraph if directed else nx.MultiGraph)
    assert sorted(g.edges(data="weight")) == sorted(zip(*ends, weights, strict=True))
    merged = Graph.from_edges(*ends, directed=directed)
    assert type(merged.to_networkx()) is (nx.DiGraph if directed else nx.Graph)


@pytest.mark.parametrize("directed", [False, True])
def test_parallel_arcs_stay_in_graphs_made_of_others(directed: bool) -> None:
    graph = Graph.from_edges([0, 0, 1, 2], [1, 1, 2, 2], weights=[1, 2, 3, 4], repeats="keep", directed=directed)
    assert graph.with_weights(graph.weights) == graph
    assert graph.without_weights().with_weights(graph.weights) == graph
    arranged = graph.arranged()
    assert arranged.subgraph([0, 1, 2]) == graph and arranged.largest_component() == graph
    assert arranged.remove_self_loops() == graph.remove_self_loops() and graph.remove_self_loops().m == graph.m - 1
    assert arranged.reverse().m == graph.m and arranged.reverse().subgraph([0, 1, 2]) == graph.reverse()
    assert Matrix.from_graph(arranged).stored_values().tolist() == graph.weights.tolist()  # type: ignore[union-attr]
    ends = [0] * 90 + [1, 2], [1, 2, 3] * 30 + [3, 3]  # 3 has the highest in-degree, so it comes first
    many = Graph.from_edges(*ends, weights=np.arange(92), repeats="keep", directed=True)
    assert many.arranged().subgraph(range(4)) == many


def test_container_methods() -> None:
    graph = Graph.from_edges(["ann", "bob"], ["bob", "cyd"], weights=[1, 2])
    assert "ann" in graph and "zoe" not in graph and [] not in graph and 2 not in graph
    assert list(graph) == ["ann", "bob", "cyd"] and len(graph) == 3
    assert graph.neighbors("bob").tolist() == ["ann", "cyd"] and graph.degree("bob") == 2
    assert len(graph.edges()) == 2 and "2 of Graph" in repr(graph.edges())
    plain = Graph.from_edges([0], [1])
    assert 1 in plain and 2 not in plain and "0" not in plain and list(plain) == [0, 1]


@given(weighted_edges, st.booleans(), st.data())
def test_subgraphs_are_those_of_networkx(given_edges: Any, directed: bool, data: Any) -> None:
    n, edges = given_edges
    u, v, w = ([edge[i] for edge in edges] for i in range(3))
    graph = Graph.from_edges(u, v, n, directed, weights=w, combine="min")
    graph = graph.relabel([f"v{i}" for i in range(n)]) if data.draw(st.booleans()) else graph
    chosen = data.draw(st.lists(st.sampled_from(list(graph)), unique=True))
    part = graph.subgraph(chosen)
    expected = graph.to_networkx().subgraph(chosen)
    assert sorted(part) == sorted(expected)
    found = {frozenset(edge[:2]) if not directed else edge[:2]: edge[2] for edge in part.edges()}
    assert found == {
        (frozenset((a, b)) if not directed else (a, b)): weight for a, b, weight in expected.edges(data="weight")
    }


def test_the_largest_component() -> None:
    graph = Graph.from_edges([0, 1, 4, 5], [1, 2, 5, 6], weights=[1, 2, 3, 4])
    largest = graph.largest_component()
    assert largest.n == 3 and largest.labels is None, "of two equal ones the first"
    other = Graph.from_edges([0, 4, 5], [1, 5, 6], directed=True).largest_component()
    assert list(other) == [4, 5, 6] and other.directed
    assert Graph.from_edges([], [], n=0).largest_component().n == 0


def test_loops_direction_and_names() -> None:
    graph = Graph.from_edges([0, 0, 1], [0, 1, 0], directed=True, weights=[9, 1, 2])
    assert list(graph.remove_self_loops().edges()) == [(0, 1, 1.0), (1, 0, 2.0)]
    with pytest.raises(GraphError, match="combine="):
        graph.to_undirected()
    assert list(graph.to_undirected("min").edges()) == [(0, 0, 9.0), (0, 1, 1.0)]
    named = graph.relabel(["x", "y"])
    assert list(named.edges())[1] == ("x", "y", 1.0) and named.relabel(None) == graph
    assert list(named.relabel({"x": "z"})) == ["z", "y"]


def test_html() -> None:
    text = Graph.from_edges(["<a>"], ["b"], weights=[2])._repr_html_()
    assert "&lt;a&gt;" in text and "<a>" not in text and "weights" in text
