"""Graph constructors: every kind of input. tests/rejections/graph.py has what is refused."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp

import hopwave as hw
from hopwave import Graph, GraphError
from hopwave.graph import csr

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
    (lambda: Graph.from_edges([1], [3]), [[], [3], [], [1]], None),
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


@pytest.mark.parametrize(("make", "expected", "names"), MADE)
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
