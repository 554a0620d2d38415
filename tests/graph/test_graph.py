"""Graph constructors: every kind of input, kept exactly. tests/rejections/graph.py has what is refused."""

from __future__ import annotations

import datetime
import tracemalloc
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from columns import BIG, WEIGHTS

import hopwave as hw
from hopwave import Graph, GraphError
from hopwave.graph import csr
from together import in_one_test

pl = pytest.importorskip("polars")

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
SRC, DST = [0, 1, 2], [1, 2, 0]
TRIANGLE = Graph.from_edges(SRC, DST)


def rows(graph: Graph) -> list[list[int]]:
    return [graph.indices[graph.indptr[v] : graph.indptr[v + 1]].tolist() for v in range(graph.n)]


# ---------------------------------------------------------------- from_edges: columns of every kind

COLUMNS: dict[str, Any] = {
    "list": list,
    "tuple": tuple,
    "iterator": iter,
    "numpy strided": lambda column: np.repeat(np.array(column), 2)[::2],
    "numpy big-endian": lambda column: np.array(column, ">i4"),
    "whole floats": lambda column: np.array(column, np.float64),
    "list of numpy scalars": lambda column: [np.int16(v) for v in column],
    "pandas": pd.Series,
    "pandas index": pd.Index,
    "pandas nullable": lambda column: pd.Series(column, dtype="Int64"),
    "pandas arrow": lambda column: pd.Series(column, dtype="int64[pyarrow]"),
    "polars": pl.Series,
    "pyarrow array": pa.array,
    "pyarrow chunks": lambda column: pa.chunked_array([column[:1], column[1:]]),
    "pyarrow table": lambda column: pa.table({"v": column})["v"],
    **{f"numpy {kind}": (lambda column, kind=kind: np.array(column, kind)) for kind in INTEGERS},
}


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
def test_columns_of_whole_numbers(column: Any) -> None:
    graph = Graph.from_edges(column(SRC), column(DST))
    assert graph == TRIANGLE and graph.labels is None
    assert (graph.indptr.dtype, graph.indices.dtype) == (np.int32, np.int32)
    assert all(array.flags.c_contiguous for array in (graph.indptr, graph.indices))


STRINGS: dict[str, Any] = {
    "list": list,
    "numpy": np.array,
    "numpy objects": lambda column: np.array(column, object),
    "pandas": pd.Series,
    "pandas string": lambda column: pd.Series(column, dtype="string"),
    "pandas category": lambda column: pd.Series(column, dtype="category"),
    "polars": pl.Series,
    "polars category": lambda column: pl.Series(column, dtype=pl.Categorical),
    "pyarrow array": pa.array,
    "pyarrow chunks": lambda column: pa.chunked_array([column]),
    "pyarrow dictionary": lambda column: pa.array(column).dictionary_encode(),
}


@pytest.mark.parametrize("column", STRINGS.values(), ids=STRINGS)
def test_columns_of_strings_become_labels_in_order_of_appearance(column: Any) -> None:
    graph = Graph.from_edges(column(["cyd", "bob"]), column(["ann", "cyd"]), directed=True)
    assert list(graph) == ["cyd", "ann", "bob"] and rows(graph) == [[1], [], [0]]


TUPLES = [(0, 1), "b", 7, (2, 3)]
KINDS = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]
LOOPS = [0, 0, 0, 0, 1], [1, 0, 1, 0, 0]
WAY = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
ZERO = sp.csr_array((np.array([0, 1]), np.array([1, 2], np.int32), np.array([0, 1, 2, 2], np.int32)), shape=(3, 3))
# What makes a graph, its rows, and what its vertices are called.
MADE: list[tuple[Any, list[list[int]], list[Any] | None]] = [
    (lambda: Graph.from_edges(TUPLES[:3], TUPLES[1:]), [[1], [0, 2], [1, 3], [2]], TUPLES),
    (lambda: Graph.from_edges([1, 2], ["x", "x"]), [[1], [0, 2], [1]], [1, "x", 2]),
    (lambda: Graph.from_edges([0], [1], labels=["ann", "bob", "cyd"]), [[1], [0], []], ["ann", "bob", "cyd"]),
    (lambda: Graph.from_edges([0, 1], [1, 2]), [[1], [0, 2], [1]], None),
    (lambda: Graph.from_edges([0, 1], [1, 2], directed=True), [[1], [2], []], None),
    (lambda: Graph.from_edges(*LOOPS, directed=True), [[0, 1], [0]], None),
    (lambda: Graph.from_edges(*LOOPS, directed=True, repeats="keep"), [[0, 0, 1, 1], [0]], None),
    (lambda: Graph.from_edges(*LOOPS), [[0, 1], [0]], None),
    (lambda: Graph.from_edges(*LOOPS, repeats="keep"), [[0, 0, 1, 1, 1], [0, 0, 0]], None),
    (lambda: Graph.from_edges([1], [3], n=4), [[], [3], [], [1]], None),
    (lambda: Graph.from_edges([1], [3], n=np.int64(6)), [[], [3], [], [1], [], []], None),
    *((lambda empty=empty: Graph.from_edges(empty, empty, n=3), [[], [], []], None)
      for empty in ([], (), np.array([]), np.array([], np.int32), pd.Series([], dtype=object))),
    # CSR
    (lambda: Graph.from_csr([0, 4, 4, 6], [2, 1, 2, 0, 2, 0]), [[0, 1, 2], [], [0, 2]], None),
    (lambda: Graph.from_csr([0, 1, 1], [1], labels=["a", "b"]), [[1], []], ["a", "b"]),
    *((lambda kind=kind: Graph.from_csr(np.array([0, 1, 2], kind), np.array([1, 0], kind), False), [[1], [0]], None)
      for kind in INTEGERS),
    # SciPy
    *((lambda A=getattr(sp, f"{form}_{family}")(WAY): Graph.from_scipy(A), [[1], [2], []], None)
      for form in ("csr", "csc", "coo", "lil", "dok", "dia", "bsr") for family in ("array", "matrix")),
    (lambda: Graph.from_scipy(sp.csr_array(WAY), directed=False), [[1], [0, 2], [1]], None),
    (lambda: Graph.from_scipy(ZERO, directed=True), [[1], [2], []], None),
    (lambda: Graph.from_scipy(sp.csr_array(WAY + WAY.T)), [[1], [0, 2], [1]], None),
    (lambda: Graph.from_scipy(sp.bsr_array(np.kron(np.eye(2), [[0, 1.0], [2.0, 0]]), blocksize=(2, 2))),
     [[1], [0], [3], [2]], None),
    # NetworkX
    *((lambda kind=kind: Graph.from_networkx(kind([(2, 0), (0, 1), (2, 0)])),
       [[1], [], [0]] if kind().is_directed() else [[1, 2], [0], [0]], None) for kind in KINDS),
    *((lambda kind=kind: Graph.from_networkx(kind()), [], None) for kind in KINDS),
    *((lambda nodes=nodes: Graph.from_networkx(nx.path_graph(nodes)), [[1], [0, 2], [1]], nodes)
      for nodes in ([1, 2, 3], [0, 1, 5], [-1, 0, 1], [True, 2, 3], [(0, 0), (0, 1), "x"], [0.5, 1, 2])),
]  # fmt: skip


@in_one_test(("make", "expected", "names"), MADE)
def test_what_is_made(make: Any, expected: list[list[int]], names: list[Any] | None) -> None:
    graph = make()
    assert rows(graph) == expected and graph.m == sum(map(len, expected))
    assert (None if graph.labels is None else graph.labels.tolist()) == names
    assert names is None or [*map(graph.index, names)] == list(range(graph.n))
    if names is not None and not graph.directed and isinstance(names[0], int):
        assert type(graph.label(0)) is type(names[0])


def test_the_empty_graph_does_everything() -> None:
    graph = Graph.from_edges([], [])
    assert graph.arranged() == graph and graph.reversed() == graph
    assert graph.stats().scf == 0 and graph.stats().mean_degree == 0
    assert len(graph.to_networkx()) == 0 and graph.to_scipy().shape == (0, 0)
    assert [column.tolist() for column in graph.to_edges()] == [[], []]
    assert Graph.from_scipy(graph.to_scipy()) == graph


def test_wide_offsets(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of arcs decides when offsets become int64; the limit is lowered here, since 2³¹ arcs take 8 GB."""
    narrow = Graph.from_edges(SRC, DST, directed=True)
    kept = Graph.from_edges(SRC * 2, DST * 2, repeats="keep")
    monkeypatch.setattr(csr, "LARGEST_INT32_OFFSET", 2)
    wide = Graph.from_edges(SRC, DST, directed=True)
    assert (narrow.indptr.dtype, wide.indptr.dtype, wide.indices.dtype) == (np.int32, np.int64, np.int32)
    assert wide == narrow and wide.in_indptr.dtype == np.int64
    assert wide.arranged().indptr.dtype == wide.reversed().indptr.dtype == np.int64
    assert Graph.from_csr(narrow.indptr, narrow.indices).indptr.dtype == np.int64
    assert Graph.from_edges(SRC * 2, DST * 2, repeats="keep") == kept
    assert Graph.from_edges([0, 1], [1, 0], directed=True).indptr.dtype == np.int32


# ---------------------------------------------------------------- matrices and other graphs


def test_csr_copies_nothing_that_fits() -> None:
    indptr, indices = np.array([0, 2, 3, 3], np.int32), np.array([1, 2, 0], np.int32)
    graph = Graph.from_csr(indptr, indices)
    assert np.shares_memory(graph.indptr, indptr) and np.shares_memory(graph.indices, indices)
    assert indices.flags.writeable, "the caller's arrays stay the caller's"
    assert not graph.indices.flags.writeable
    assert Graph.from_csr(indptr, indices, check=False) == graph


def test_scipy_values_are_weights() -> None:
    A, B = sp.csr_array(np.array([[0.0, 2.5], [2.5, 0.0]])), sp.csr_array(np.array([[0.0, 2.0], [3.0, 0.0]]))
    graph = Graph.from_scipy(A)
    assert graph == Graph.from_edges([0], [1], weights=[2.5]) and (graph.to_scipy() != A).nnz == 0
    assert not Graph.from_scipy(A, weights=False).is_weighted and not Graph.from_scipy(A != 0).is_weighted
    assert Graph.from_scipy(A, directed=True).directed
    assert Graph.from_scipy(B).directed, "a symmetric pattern with other values is not undirected"
    with pytest.raises(GraphError, match="combine="):
        Graph.from_scipy(B, directed=False)
    assert Graph.from_scipy(B, directed=False, combine="max").weights.tolist() == [3.0, 3.0]  # type: ignore[union-attr]
    A *= 0
    assert graph.weights is not None and graph.weights.max() == 2.5, "the matrix may change later, the graph does not"


@pytest.mark.parametrize("form", ["coo", "csr", "csc"])
def test_entries_that_scipy_stores_twice(form: str) -> None:
    repeated = sp.coo_array((np.array([100, 27, 100], np.int8), ([0, 1, 0], [1, 0, 1])), shape=(2, 2))
    A = repeated if form == "coo" else getattr(sp, f"{form}_array")((repeated.data[[0, 2]], [1, 1], [0, 2, 2]), (2, 2))
    edge = (1, 0) if form == "csc" else (0, 1)
    for combine, weight in {None: 200.0, "min": 100.0, "sum": 200.0}.items():  # int8 holds no 200
        graph = Graph.from_scipy(A, True, combine=combine)  # type: ignore[arg-type]
        assert (*edge, weight) in list(graph.edges()), combine
    assert Graph.from_scipy(A, True, weights=False).degrees.sum() == graph.m
    assert hw.sssp(A, edge[0])[edge[1]] == hw.distance_table(A)[edge] == 200.0
    for kind, bits in {"int64": 62, "uint64": 63, "int32": 30, "int8": 6}.items():
        assert Graph.from_edges([0], [1], weights=[2.0**bits]).to_scipy(kind).max() == 2**bits
    true = sp.coo_array((np.array([True, True, False]), ([0, 0, 1], [1, 1, 2])), shape=(3, 3))
    assert Graph.from_scipy(true, weights=True) == Graph.from_scipy(true.tocsr(), weights=True)


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
        with pytest.raises(GraphError, match=r"1 is not a vertex .* position 1, pass G.label\(1\)"):
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
    assert Graph.from_pandas(Table(ends | {"Type": LikeCudf(["Directed"] * 2)}), "u", "v").m == 2
    assert hw.bfs(G, LikeCudf(["a", "c"])).distances.tolist() == [0, 1, 0]
    assert hw.distance_table(G, LikeCudf(["c"])).values.tolist() == [[2, 1, 0]]
    assert G.subgraph(LikeCudf(["a", "b"])).n == 2
    assert Graph.from_edges([0], [1], labels=LikeCudf(["p", "q"])).labels.tolist() == ["p", "q"]  # type: ignore[union-attr]
    with pytest.raises(GraphError, match=r"dst\[1\] is 'nan', which may be a missing value"):
        Graph.from_edges(LikeCudf(["a", "b"]), LikeCudf(["b", "nan"]))
