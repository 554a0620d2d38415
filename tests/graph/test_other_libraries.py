"""Graphs and results for other libraries: DLPack (PyTorch, JAX), PyTorch Geometric, Arrow streams (DuckDB), polars."""

from collections.abc import Callable
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import hopwave as hw
from hopwave import Graph, GraphError, generate

pl = pytest.importorskip("polars")
NAMED = Graph.from_edges(["ann", "ann", "bob", "cyd"], ["bob", "cyd", "dan", "dan"], weights=[1.0, 2.5, 3.0, 4.0])


# ---------------------------------------------------------------- scores, as a dictionary


@pytest.mark.parametrize("ask", [hw.closeness_centrality, hw.betweenness_centrality, hw.edge_betweenness_centrality])
def test_scores_read_like_a_dictionary(ask: Any) -> None:
    scores = ask(NAMED, weights=False)
    expected = scores.to_dict()
    assert dict(scores) == dict(scores.items()) == expected and len(scores) == len(expected)
    assert list(scores) == list(scores.keys()) == list(expected) and list(scores.values()) == list(expected.values())
    assert all(key in scores and scores[key] == value == scores.get(key) for key, value in expected.items())
    assert expected[max(scores, key=scores.get)] == max(expected.values())
    assert "zoe" not in scores and scores.get("zoe", 7) == 7 and [] not in scores
    with pytest.raises(GraphError, match="'zoe' is not"):
        scores["zoe"]


def test_an_edge_is_found_from_both_ends() -> None:
    scores = hw.edge_betweenness_centrality(NAMED, weights=False)
    assert scores["ann", "bob"] == scores["bob", "ann"] and ("ann", "dan") not in scores
    with pytest.raises(GraphError, match="is not an edge of this graph"):
        scores["ann", "dan"]
    arcs = hw.edge_betweenness_centrality(generate.path(3, directed=True))
    assert (0, 1) in arcs and (1, 0) not in arcs


def test_vertices_without_a_score() -> None:
    best = hw.closeness_centrality(generate.star(9), top=1)
    assert list(best) == [0] and best[0] == 1.0 and 3 not in best and 99 not in best
    with pytest.raises(GraphError, match="3 has no score: only 1 of 9 vertices have one"):
        best[3]
    some = hw.closeness_centrality(generate.path(5), [3, 1])
    assert list(some) == [3, 1] and some[1] == hw.closeness_centrality(generate.path(5))[1]


# ---------------------------------------------------------------- arrays, without a copy


def test_scores_are_arrays_without_a_copy() -> None:
    scores = hw.pagerank(NAMED)
    assert np.shares_memory(np.from_dlpack(scores), scores.scores)  # type: ignore[arg-type]
    assert np.shares_memory(np.asarray(scores), scores.scores)
    assert pa.table(scores)["pagerank"].chunk(0).buffers()[1].address == scores.scores.ctypes.data
    assert np.array(scores, np.float32).dtype == np.float32
    assert scores.__dlpack_device__() == (1, 0), "the CPU, in DLPack's numbers"


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_scores_go_to_other_libraries(library: str) -> None:
    scores = hw.pagerank(NAMED)
    there = getattr(pytest.importorskip(library), "dlpack", pytest.importorskip(library)).from_dlpack(scores)
    assert np.allclose(np.asarray(there), scores.scores)


# ---------------------------------------------------------------- PyTorch Geometric


@pytest.mark.parametrize("directed", [False, True])
def test_edge_index_and_back(directed: bool) -> None:
    graph = generate.uniform(40, 120, directed=directed, seed=1)
    graph = graph.with_weights(np.minimum(*np.nonzero(np.ones((40, 40)))).reshape(40, 40)[graph.to_scipy().nonzero()])
    index = graph.to_edge_index()
    assert index.shape == (2, graph.m) and index.dtype == np.int64
    assert Graph.from_edge_index(index, graph.n, directed, weights=graph.weights) == graph
    assert Graph.from_edge_index(index.tolist() and np.asfortranarray(index)).directed


def test_edge_index_of_pytorch() -> None:
    torch = pytest.importorskip("torch")
    graph = Graph.from_edge_index(torch.tensor([[0, 1], [1, 2]]), weights=torch.tensor([0.5, 2.0]))
    assert list(graph.edges()) == [(0, 1, 0.5), (1, 2, 2.0)]
    assert torch.from_dlpack(graph.to_edge_index()).tolist() == [[0, 1], [1, 2]]


# ---------------------------------------------------------------- Arrow streams and polars


COLUMNS = {"a": ["ann", "bob"], "b": ["bob", "cyd"], "km": [1.5, 2.0]}
TABLE, FRAME = pa.table(COLUMNS), pl.DataFrame(COLUMNS)
STREAMS: dict[str, Callable[[], Any]] = {
    "table": lambda: TABLE,
    "reader": TABLE.to_reader,
    "chunks": lambda: pa.concat_tables([TABLE.slice(0, 1), TABLE.slice(1)]),
    "polars": lambda: FRAME,
    "categories": lambda: FRAME.with_columns(pl.col("a", "b").cast(pl.Categorical)),
}


@pytest.mark.parametrize("make", STREAMS.values(), ids=STREAMS)
def test_arrow_streams(make: Callable[[], Any]) -> None:
    graph = Graph.from_arrow(make(), "a", "b", "km", directed=True)
    assert list(graph.edges()) == [("ann", "bob", 1.5), ("bob", "cyd", 2.0)] and graph.directed


def test_arrow_streams_of_duckdb() -> None:
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql("select i as source, i + 1 as target, i + 1.5 as weight from range(4) t(i)")
    graph = Graph.from_arrow(relation, weight="weight")
    assert graph.edges().weights.tolist() == [1.5, 2.5, 3.5, 4.5]


def test_decimal_weights(tmp_path: Any) -> None:
    """What DuckDB makes of `1.5` in a query; they are read as the same text is, and never left out silently."""
    table = pa.table({"a": ["ann", "bob"], "b": ["bob", "cyd"], "km": [Decimal("0.10"), Decimal("2.00")]})
    parquet.write_table(table, tmp_path / "d.parquet")
    options = {"source": "a", "target": "b"}
    for graph in (Graph.from_arrow(table, "a", "b", "km"), hw.read(tmp_path / "d.parquet", weight="km", **options)):
        assert graph.edges().weights.tolist() == [0.1, 2.0]
    with pytest.warns(hw.IgnoredColumnWarning, match="column 'km' may contain weights"):
        assert not Graph.from_arrow(table, "a", "b").is_weighted
    with pytest.raises(hw.FormatError, match="column 'km' may be weights"):
        hw.read(tmp_path / "d.parquet", **options)


def test_tables_of_polars() -> None:
    search = hw.bfs(NAMED, "ann").to_polars()
    assert search.columns == ["vertex", "distance", "predecessor"] and search["vertex"].to_list() == list(NAMED)
    path = hw.sssp(NAMED, "ann").to_polars()
    assert path.filter(path["vertex"] == "dan")["distance"].to_list() == [4.0]
    edges = hw.edge_betweenness_centrality(NAMED, weights=False)
    assert edges.to_polars().columns == ["source", "target", "betweenness"]
    sample = hw.closeness_centrality(generate.grid(5, 5), k=9, seed=1).to_polars()
    assert sample.columns == ["vertex", "closeness", "bound", "low", "high", "standard_error"] and len(sample) == 25
    assert hw.connected_components(NAMED).to_polars()["component"].to_list() == [0] * 4
    assert NAMED.edges().to_polars().rows()[0] == ("ann", "bob", 1.0)
    assert hw.distance_histogram(generate.path(3)).to_polars().rows() == [(0, 3), (1, 4), (2, 2)]
    table = hw.distance_table(NAMED, ["cyd", "ann"], ["bob", "ann", "bob"])
    assert table.to_polars().rows()[2:5] == [("cyd", "bob", 3.5), ("ann", "bob", 1.0), ("ann", "ann", 0.0)]
    near = hw.distance_table(NAMED, ["cyd", "ann"], ["bob", "ann"], limit=2, sparse=True)
    assert near.to_polars().rows() == [("ann", "bob", 1.0), ("ann", "ann", 0.0)]
    assert near.to_polars().rows() == list(near.to_pandas().itertuples(index=False, name=None))
    reached = hw.isochrone(NAMED, ["ann"], [1.5, 9.0])
    assert reached.to_polars(1.5).rows() == list(reached.to_pandas(1.5).itertuples(index=False, name=None)) != []


# ---------------------------------------------------------------- what tables and columns may hold


@pytest.mark.parametrize(
    ("title", "cells", "arcs"),
    [
        ("oneway", ["yes", "No", "-1", "no"], "ab1 bc2 cb2 ca3 cc4"),
        ("OneWay", [1, 0, -1.0, 0], "ab1 bc2 cb2 ca3 cc4"),
        ("directed", [True, False, False, False], "ab1 bc2 cb2 ac3 ca3 cc4"),
        ("Type", ["Undirected", "Directed", "Directed", "Undirected"], "ab1 ba1 bc2 ac3 cc4"),
        ("Type", ["Undirected", "friend", "x", "y"], None),  # of another kind: undirected
        ("oneway", ["no"] * 4, None),
    ],
)
def test_a_column_says_which_edges_are_directed(title: str, cells: list[Any], arcs: str | None, tmp_path: Path) -> None:
    columns: dict[str, Any] = {"source": [*"abac"], "target": [*"bccc"], title: cells, "weight": [1.0, 2.0, 3.0, 4.0]}
    frame = pd.DataFrame(columns)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    ways: list[Any] = [
        partial(Graph.from_pandas, frame, weight="weight", repeats="keep"),
        partial(Graph.from_pandas, pl.DataFrame(columns, strict=False), weight="weight", combine="sum"),
        partial(Graph.from_arrow, pa.table(frame), weight="weight"),
        partial(hw.read, tmp_path / "t.csv", combine="sum"),
        partial(hw.read, tmp_path / "t.parquet"),
    ]
    for way in ways:
        found = {f"{u}{v}{w:g}" for u, v, w in way().edges()}
        assert found == set((arcs or "ab1 bc2 ac3 cc4").split()) and way().directed == (arcs is not None)
        assert way(directed=True).m == 4 and not way(directed=False).directed  # the caller decides


def test_arrow_arrays_and_scalars_name_vertices() -> None:
    assert hw.bfs_many(generate.path(3), pa.array([0, 2])).tolist() == [[0, 1, 2], [2, 1, 0]]
    assert hw.bfs(generate.path(3), pa.scalar(2)).distances.tolist() == [2, 1, 0]
    assert hw.bfs(NAMED, pa.chunked_array([["ann"], ["bob"]]))["dan"] == 1
    for wrong in (pa.array(["zoe"]), pa.array([None, "ann"])):
        with pytest.raises(GraphError, match=r"is not a vertex of this graph; its vertices have labels such as 'ann'"):
            hw.bfs(NAMED, wrong)


@pytest.mark.parametrize("nothing", ["", " ", "nan", "NaN", "None", "NA", "null", "<NA>", "NaT"])
def test_texts_for_a_missing_end_are_refused(nothing: str, tmp_path: Path) -> None:
    """At every door of tables: all edges that miss an end would meet there. `names=True` says that it is a name."""
    table = {"source": ["ann", "bob", nothing], "target": ["bob", "dan", "dan"]}
    ways: list[tuple[Callable[..., Graph], Any]] = [
        (Graph.from_pandas, pd.DataFrame(table)),
        (Graph.from_pandas, pl.DataFrame(table)),
        (Graph.from_arrow, pa.table(table)),
        (Graph.from_edges, list(zip(*table.values(), strict=True))),
    ]
    for make, given in ways:
        with pytest.raises(GraphError, match=r"src\[2\] is '.*', which may be a missing value: .* names=True if it is"):
            make(given)
        assert make(given, names=True).labels.tolist() == ["ann", "bob", "dan", nothing]  # type: ignore[union-attr]
    path = tmp_path / "foreign.parquet"
    parquet.write_table(pa.table(table), path)
    with pytest.raises(
        hw.FormatError, match=r"foreign.parquet: source\[2\] is .* drop the rows .*from_arrow.*names=True"
    ):
        hw.read(path)


def test_names_makes_labels_of_numbers() -> None:
    """As `hw.read` does: in ascending order, and ids from 1 leave no vertex 0 without edges."""
    for of in (list, np.array, lambda column: np.array(column, float)):
        graph = Graph.from_edges(of([1, 2, 3]), of([2, 7, 1]), names=True, weights=[1, 2, 3])
        assert graph.labels.tolist() == [1, 2, 3, 7] and graph.degrees.min() > 0  # type: ignore[union-attr]
        assert hw.bfs(graph, 3)[7] == 3
    assert Graph.from_edges([-5, 10**12], [10**12, 0], names=True).labels.tolist() == [-5, 0, 10**12]  # type: ignore[union-attr]
    assert Graph.from_edges([], [], names=True).n == 0


def test_weights_in_a_column_of_objects_are_not_dropped_silently() -> None:
    for title, values in (("km", [Decimal("1.5"), None]), ("km", [1, 2.5]), ("Weight", ["1.5", "2"])):
        table = pd.DataFrame({"source": [0, 1], "target": [1, 2], title: pd.Series(values, dtype=object)})
        with pytest.warns(hw.IgnoredColumnWarning, match=f"column '{title}' may contain weights, but was not read"):
            assert not Graph.from_pandas(table).is_weighted
    table = pd.DataFrame({"source": [0, 1], "target": [1, 2], "length": [2.5, 1.0], "time": [3, 4]})
    with pytest.warns(hw.IgnoredColumnWarning, match="'length' or 'time' may contain .* or weight='time' to read"):
        assert not Graph.from_pandas(table).is_weighted
    table = pd.DataFrame({"source": [0, 1], "target": [1, 2], "collect": ["a", None]})  # a title is no method
    assert Graph.from_pandas(table).n == 3
