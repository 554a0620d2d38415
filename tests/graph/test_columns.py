"""Ids, labels and weights in the caller's types: exact or refused, never rounded, merged or truncated."""

from __future__ import annotations

import datetime
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from columns import WEIGHTS

import hopwave as hw
from hopwave import Graph, GraphError

pl = pytest.importorskip("polars")
BIG = 2**53


# ---------------------------------------------------------------- only labels name vertices that have them


TEXTS = Graph.from_edges(["1", "2", "0"], ["2", "0", "7"])


def test_a_number_is_never_a_position() -> None:
    assert "7" in TEXTS and all(position not in TEXTS for position in range(4))
    assert hw.shortest_path(TEXTS, "1", "0") == ["1", "2", "0"]
    for ask in (
        lambda: hw.shortest_path(TEXTS, 1, 0), lambda: hw.bfs(TEXTS, 1), lambda: hw.bfs(TEXTS, [1, 2]),
        lambda: hw.bfs(TEXTS, np.array([1])), lambda: hw.bfs_many(TEXTS, [1]), lambda: hw.sssp(TEXTS, 1),
        lambda: hw.pagerank(TEXTS, nstart={1: 1.0}), lambda: hw.bfs(TEXTS, "1").path_to(1),
        lambda: TEXTS.subgraph([1, 2]), lambda: TEXTS.neighbors(1), lambda: TEXTS.relabel({1: "one"}),
    ):  # fmt: skip
        with pytest.raises(GraphError, match=r"1 is not a vertex .* position 1, give G.label\(1\)"):
            ask()
    assert hw.bfs(TEXTS, TEXTS.label(1)).distances.tolist() == hw.bfs(TEXTS, "2").distances.tolist()


def test_float_labels_are_labels() -> None:
    graph = Graph.from_edges([0, 1], [1, 2], labels=[2.0, 3.0, 4.5])
    with pytest.raises(GraphError, match=r"1 is not a vertex of this graph; its vertices have labels such as 2\.0"):
        hw.bfs(graph, 1)
    assert graph.index(3) == graph.index(3.0) == 1, "equal numbers are one label, as in a dictionary"


@pytest.mark.parametrize("kind", ["M8[D]", "M8[s]", "M8[us]", "M8[ns]", "m8[h]"])
def test_dates_are_labels_and_ends_of_edges(kind: str) -> None:
    days = np.array(["2026-01-01", "2026-01-02", "2026-01-05"], "M8[h]" if kind == "m8[h]" else kind)
    days = days - days[0] if kind == "m8[h]" else days
    of = [np.asarray, list, *([pd.Series, pl.Series] if kind == "M8[ns]" else [])]
    for graph in (
        Graph.from_edges([0, 1], [1, 2], labels=days), *(Graph.from_edges(as_(days[:2]), as_(days[1:])) for as_ in of)
    ):  # fmt: skip
        assert [graph.index(day) for day in days] == [graph.index(graph.label(i)) for i in range(3)] == [0, 1, 2]
    if kind[3:-1] in ("s", "us", "ns"):
        assert graph.index(datetime.datetime(2026, 1, 2)) == graph.index(pd.Timestamp("2026-01-02")) == 1
    fine = np.array([1, 2], "M8[ns]")  # Python's dates have no nanoseconds
    assert [Graph.from_edges([0], [1], labels=fine).index(one) for one in fine] == [0, 1]


# ---------------------------------------------------------------- ids and labels


def test_ids_beside_a_float_stay_apart() -> None:
    with pytest.warns(hw.SparseIdsWarning):
        graph = Graph.from_edges([BIG, BIG + 1], [1.0, 4])
    assert graph.labels is not None and graph.labels.tolist() == [1, 4, BIG, BIG + 1]
    with pytest.warns(hw.SparseIdsWarning):
        graph = Graph.from_edges([BIG, BIG + 1, 1.0], [0, 0, 0])
    assert graph.n == 4


@pytest.mark.parametrize("of", [list, lambda names: np.array(names, object), pd.Series, pa.array])
def test_names_that_end_in_nul_differ(of: Any) -> None:
    graph = Graph.from_edges(of(["a", "a\0"]), of(["b", "b"]))
    assert graph.labels is not None and graph.labels.tolist() == ["a", "b", "a\0"]
    assert graph.index("a\0") == 2


def test_a_long_label_takes_no_more_than_itself(tmp_path: Path) -> None:
    long = "x" * 100_000
    names = [f"v{i}" for i in range(4000)]
    tracemalloc.start()
    graph = Graph.from_edges([long, *names], [*names, "v0"])
    hw.write(tmp_path / "long.npz", graph)
    back = hw.read(tmp_path / "long.npz")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert back == graph
    assert peak < 20_000_000, "NumPy's text of one width would take 1.6 GB"


# ---------------------------------------------------------------- weights


WAYS = {name: way for name, way in WEIGHTS.items() if name != "numpy"}  # whose arrays may be rounded already


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_weights_that_float64_holds_are_kept(way: Any) -> None:
    exact = [BIG, 2**60, -(2**62), True, 0.1, np.float32(0.1), np.int8(-3), np.bool_(True), float("inf"), 2**70]
    graph = way(exact)
    assert sorted(graph.edges().weights.tolist()) == sorted(map(float, exact))


def test_pairs_are_edges() -> None:
    right = Graph.from_edges([0, 1], [1, 2])
    for pairs in ([(0, 1), (1, 2)], [[0, 1], [1, 2]], np.array([[0, 1], [1, 2]]), zip([0, 1], [1, 2], strict=True)):
        assert Graph.from_edges(pairs) == right
    named = Graph.from_edges([("ann", "bob"), ("bob", "cyd")], directed=True, weights=[2.0, 3.0])
    assert list(named.edges()) == [("ann", "bob", 2.0), ("bob", "cyd", 3.0)]
    assert Graph.from_edges([], n=3).m == 0


# ---------------------------------------------------------------- an order that the caller's columns do not have


def test_labels_are_in_the_order_of_the_vertices() -> None:
    names = {2: "c", 0: "a", 1: "b"}
    for make in (
        lambda given: Graph.from_edges([0, 1], [1, 2], labels=given),
        lambda given: Graph.from_csr([0, 1, 3, 4], [1, 0, 2, 1], labels=given),
    ):
        right = make(["a", "b", "c"])
        assert make(pd.Series(["a", "b", "c"])) == make(pd.Index(["a", "b", "c"])) == right
        assert make(None).relabel(names) == make(None).relabel(pd.Series(names)) == right
    assert Graph.from_edges({(0, 1), (1, 2)}).number_of_edges == 2
    G = Graph.from_edges([2, 0, 1], [3, 1, 2], directed=True)
    assert hw.sssp(G, 0, weights=pd.Series([7.0, 5.0, 1.0])).distances.tolist() == [0.0, 7.0, 12.0, 13.0]


def test_a_column_may_have_the_name_of_an_attribute() -> None:
    table = pd.DataFrame({"columns": [0, 1], "column_names": [1, 2], "index": [1.5, 2.5]})
    graph = Graph.from_pandas(table, "columns", "column_names", "index")
    assert list(graph.edges()) == [(0, 1, 1.5), (1, 2, 2.5)]


def test_a_set_of_vertices_is_listed_in_the_order_of_the_graph() -> None:
    names = [f"v{i}" for i in range(40)]
    G = hw.generate.path(40).relabel(names)
    for vertices in (set(names[20:]), frozenset(names[20:])):
        assert hw.distance_table(G, vertices, vertices).sources.tolist() == list(range(20, 40))
        assert hw.bfs_many(G, vertices).argmin(axis=1).tolist() == list(range(20, 40))


def test_a_number_of_which_python_writes_no_text() -> None:
    """Beyond 4,300 digits str() raises a ValueError."""
    huge = 10**5000
    assert Graph.from_edges([huge, "x"], ["x", "1"]).index(huge) == 0


class LikeCudf:
    """A Series of cuDF, as far as hopwave reads it: it has an index, and cannot be iterated over."""

    def __init__(self, values: Any) -> None:
        self.series = pd.Series(values)
        self.index = self.series.index
        self.dtype = self.series.dtype if self.series.dtype.kind in "iuf" else np.dtype(object)
        self.to_numpy, self.items = self.series.to_numpy, self.series.items

    def __len__(self) -> int:
        return len(self.series)

    def __iter__(self) -> Any:
        raise TypeError("Series object is not iterable")

    def __getitem__(self, part: slice) -> LikeCudf:
        return LikeCudf(self.series[part])

    def to_pandas(self) -> pd.Series[Any]:
        return self.series


def test_columns_that_cannot_be_iterated_over() -> None:
    """Series of cuDF as ends, beside others in their table, as vertices and as labels."""

    class Table(dict[str, LikeCudf]):
        columns = property(dict.keys)

    ends = {"u": LikeCudf(["a", "b"]), "v": LikeCudf(["b", "c"])}
    G = Graph.from_pandas(Table(ends | {"note": LikeCudf(["x", "y"])}), "u", "v")
    assert G.labels.tolist() == ["a", "b", "c"]  # type: ignore[union-attr]
    with pytest.warns(hw.IgnoredColumnWarning, match="column 'Type' has 'Directed'"):
        Graph.from_pandas(Table(ends | {"Type": LikeCudf(["Directed"] * 2)}), "u", "v")
    assert hw.bfs(G, LikeCudf(["a", "c"])).distances.tolist() == [0, 1, 0]
    assert hw.distance_table(G, LikeCudf(["c"])).values.tolist() == [[2, 1, 0]]
    assert G.subgraph(LikeCudf(["a", "b"])).n == 2
    assert Graph.from_edges([0], [1], labels=LikeCudf(["p", "q"])).labels.tolist() == ["p", "q"]  # type: ignore[union-attr]
    with pytest.raises(GraphError, match=r"dst\[1\] is 'nan', which may be a missing end"):
        Graph.from_edges(LikeCudf(["a", "b"]), LikeCudf(["b", "nan"]))
