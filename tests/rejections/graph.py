"""Rejections by Graph: constructors, conversions and methods."""

import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp

import hopwave as hw
from hopwave import EngineError, Graph, GraphError, generate
from rejections import Row, each, masked

igraph, pl = (pytest.importorskip(name) for name in ("igraph", "polars"))
PATH = generate.path(4)
NAMED = Graph.from_edges(["a"], ["b"])
HEAVY = nx.Graph([("a", "b", {"weight": "heavy"})])
MANY = nx.MultiGraph([(0, 1, {"weight": 1}), (0, 1, {"weight": 5})])
TABLE = pd.DataFrame({"u": [0, 1, 2], "v": [1, 2, 3], "km": [7.0, 5.0, 6.0]})
ODD_NUMBERS = [1 + 2j, np.complex128(1 + 2j), np.timedelta64(3, "s"), "1", None, Fraction(1, 2), np.datetime64("2026")]
NO_ROWS = [type("Frame", (), {way: None, "columns": ["a", "b"]})() for way in ("toPandas", "compute", "collect")]
KINDS = [("a", "string"), ("a", "category"), (1, "Int64"), (1, "float64")]
COLUMNS = [pd.Series, pl.Series, pa.array]
COUNTS = {"a": [0, 1], "b": [1, 2]}
TABLES = [pd.DataFrame(COUNTS), pl.DataFrame(COUNTS), pa.table(COUNTS)]
NUMBERED = {2: "c", 0: "a", 1: "b"}
LENGTHS = pd.Series({(2, 3): 1.0, (1, 2): 5.0, (0, 1): 7.0, (1, 0): 1.0, (2, 1): 5.0, (3, 2): 7.0})
LONG = [third for third in [np.longdouble(1) / 3] if third != float(third)]  # if longdouble is longer than float64
DAYS = [np.array(["2026", "NaT"], kind) for kind in ("M8[D]", "M8[ns]")]
HALF = sp.csr_array(np.array([[0, 1.5], [1.5, 0]]))


def weighted(weights: Any) -> Graph:
    return Graph.from_edges([0, 1], [1, 2], weights=weights)


def missing(kind: tuple[Any, str]) -> Graph:
    return Graph.from_edges(pd.Series([kind[0], None], dtype=kind[1]), pd.Series([kind[0]] * 2, dtype=kind[1]))


def networkx_weight(weight: Any) -> Graph:
    return Graph.from_networkx(nx.Graph([(0, 1, {"weight": weight}), (1, 2, {"weight": 1.0})]))


ROWS: list[Row] = [
    # weights
    (lambda: Graph.from_edges(masked([0, 1, 2]), [1, 2, 3]), GraphError, "src[0] is masked"),
    (lambda: Graph.from_edges([1, 2, 3], masked([0, 1, 2])), GraphError, "dst[0] is masked"),
    (lambda: weighted(masked([0, 1])), GraphError, "weights[0] is masked"),
    (lambda: PATH.with_weights(masked(np.ones(PATH.m))), GraphError, "masked"),
    (lambda: weighted([1.0, float("nan")]), GraphError, "weights[1] is NaN"),
    (lambda: weighted([1.0]), GraphError, "1 entries for 2 edges"),
    *each(lambda odd: weighted([odd, 1.0]), ODD_NUMBERS, GraphError, "not a number"),
    *each(lambda odd: weighted(np.array([odd, 1.0, None], object)[:2]), ODD_NUMBERS, GraphError, "not a number"),
    *each(networkx_weight, ODD_NUMBERS, GraphError, "not a number"),
    (lambda: weighted(np.array([1 + 2j, 1])), GraphError, "weights must be numbers, not complex128"),
    (lambda: weighted(np.array(["a", "b"])), GraphError, "weights must be numbers, not text"),
    *each(lambda x: weighted([x, 1]), [2**60 + 1, Decimal(2**53 + 1), Decimal("1e400")], GraphError, "exact in float"),
    *each(lambda kind: weighted(np.array([np.iinfo(kind).max, 1], kind)), ["i8", "u8"], GraphError, "exact in float64"),
    *each(lambda x: weighted(np.array([x, x])), LONG, GraphError, "exact in float64"),
    (lambda: weighted([10**5000, 1]), GraphError, "a number of 5001 digits, which is not exact"),
    (lambda: weighted([Decimal("NaN"), 1]), GraphError, "is NaN"),
    (lambda: Graph.from_edges([0], [1], combine="min"), GraphError, "there are none"),
    (lambda: Graph.from_edges([0], [1], weights=[1], combine="min", repeats="keep"), GraphError, "repeats='keep'"),
    # Machines that cut it to the greatest make 2⁶³ − 1 of 2⁶³, which is equal as float64.
    *each(lambda kind: Graph.from_edges([0], [1], weights=[np.iinfo(kind).max + 1.0]).to_scipy(kind),
          ["int8", "int32", "int64", "uint64"], GraphError, "is not exact in "),
    *each(lambda w: Graph.from_edges([0], [1], weights=[w]).to_scipy("int8"), [300, 1.5, float("inf")], GraphError, ""),
    # edges
    (lambda: Graph.from_edges([0, -3], [1, 1]), GraphError, "vertex id -3 is negative"),
    (lambda: Graph.from_edges([0], [5], n=3), GraphError, "vertex id 5 is too large for n=3; ids must"),
    (lambda: Graph.from_edges([0], [1], n=2**31), GraphError, "2147483648 vertices are more than 2147483646"),
    (lambda: Graph.from_edges([2**70], [0]), GraphError, "1180591620717411303424, which exceeds 64 bits"),
    *each(lambda big: Graph.from_edges(np.array([big]), [0]), [np.uint64(2**64 - 1), 1e300], GraphError, "renumber"),
    *each(lambda bad: Graph.from_edges([0], [bad]), [np.nan, np.inf], GraphError, "dst contains NaN or infinity; drop"),
    *each(lambda odd: Graph.from_edges([0, odd], [1, 1]), [1.5, np.float16(0.5)], GraphError, "not an integer"),
    *each(lambda odd: Graph.from_edges([2**53 + 1, odd], [0, 1.0]), [0.5, np.float32(3e38)], GraphError, "an integer"),
    (lambda: Graph.from_edges([True], [False]), GraphError, "src has type bool; vertices must be integers, strings or"),
    *each(lambda none: Graph.from_edges(["a", none], ["b"] * 2), [None, np.nan], GraphError, "which is not a vertex"),
    *each(lambda more: Graph.from_edges([0], [1], names=True, **more), [{"n": 3}, {"labels": "ab"}], GraphError,
          "is for integer ids; omit one"),
    (lambda: Graph.from_edges([0, 1], [1]), GraphError, "src has 2 entries, but dst has 1"),
    (lambda: Graph.from_edges(np.zeros((2, 2), int), [0, 1]), GraphError, "src has 2 dimensions; pass one column"),
    (lambda: Graph.from_edges([[0], [1]], [1, 2]), GraphError, "a label cannot be hashed"),
    *each(lambda no: Graph.from_edges(no, no), [0, "ab"], GraphError, "is not a column; pass a list or an array"),
    *each(lambda n: Graph.from_edges([0], [1], n=n), [-1, 2.0, True], GraphError, "is not a number of vertices; pass"),
    *each(lambda n: Graph.from_edges(["a"], ["b"], n=n), [5, "x"], GraphError, "does not match the 2 different labels"),
    (lambda: Graph.from_edges(["a"], ["b"], labels=["x", "y"]), GraphError, "already contain labels; omit labels="),
    (lambda: Graph.from_edges([0], [2], labels=["x", "y"]), GraphError, "2 labels do not match 3 vertices; pass"),
    (lambda: Graph.from_edges([0], [1], 2, labels=list("xyz")), GraphError, "3 labels do not match 2 vertices; pass"),
    (lambda: Graph.from_edges([0], [1], labels=["x", "x"]), GraphError, "two vertices have the same label, 'x'"),
    *each(lambda names: Graph.from_edges([0], [1], labels=names), [[[1], [2]], np.zeros((2, 2))], GraphError, "hashed"),
    *each(lambda names: Graph.from_edges([0], [1], labels=names), [7, np.array("x")], GraphError, "is not a list of"),
    # ends
    *each(lambda days: Graph.from_edges(days, [0, 1]), DAYS, GraphError, "drop the rows without an endpoint"),
    *each(lambda days: Graph.from_edges([0], [1], labels=days), DAYS, GraphError, "a label is None or NaN"),
    *each(missing, KINDS, GraphError, "drop the rows without an endpoint"),
    *each(lambda of: Graph.from_edges(of([0, None]), of([0, 0])), COLUMNS, GraphError, "without an endpoint"),
    *each(lambda of: Graph.from_edges(of(["a", None]), of(["a"] * 2)), COLUMNS, GraphError, "without an endpoint"),
    *each(lambda bits: Graph.from_edges(np.array([2**bits + 2], f"f{ {11: 2, 24: 4, 53: 8}[bits]}"), [0]), [11, 24, 53],
          GraphError, "rounds integers above 2^"),
    *each(lambda one: Graph.from_edges([one, "x"], ["x", "1"]), [1, 1.0, np.int64(1)], GraphError, "a number and a"),
    (lambda: Graph.from_edges(np.array([1, 2]), np.array(["1", "x"])), GraphError, "are both vertices"),
    (lambda: Graph.from_edges([b"a", "b"], ["b", "a"]), GraphError, "b'a' and 'a' are both vertices, bytes and a text"),
    (lambda: Graph.from_edges(TABLE.u, TABLE.v, weights=TABLE.km.sort_values()), GraphError, "src and weights have"),
    (lambda: Graph.from_edges(TABLE.u, TABLE.v.sort_values(ascending=False)), GraphError, "src and dst have different"),
    # an order that the caller's columns do not have, and tables, whose titles would be read
    *each(lambda names: Graph.from_edges([0, 1], [1, 2], labels=names), [NUMBERED, {"a", "b", "c"}], GraphError,
          "whose order is arbitrary; pass a list or an array, or G.relabel a dictionary"),
    *each(lambda names: Graph.from_csr([0, 1, 3, 4], [1, 0, 2, 1], labels=names), [NUMBERED, {"a", "b", "c"}],
          GraphError, "whose order is arbitrary"),
    (lambda: Graph.from_edges([0, 1], [1, 2], labels=pd.Series(NUMBERED)), GraphError, "G.relabel(labels)"),
    (lambda: PATH.relabel({"w", "x", "y", "z"}), GraphError, "is a set, whose order is arbitrary"),
    (lambda: Graph.from_edges({(0, 1), (1, 2)}, weights=[1.0, 2.0]), GraphError, "is a set, whose order is arbitrary"),
    (lambda: PATH.with_weights(LENGTHS), GraphError, "weights has a pandas index"),
    (lambda: hw.sssp(PATH, 0, weights=LENGTHS), GraphError, "weights has a pandas index"),
    *each(lambda table: hw.bfs(PATH, table), TABLES, GraphError, "is not a list of vertices; pass one of its columns"),
    *each(lambda table: hw.distance_table(PATH, table), TABLES, GraphError, "is not a list of vertices; pass one of"),
    *each(PATH.subgraph, TABLES, GraphError, "is not a list of vertices; pass one of its columns"),
    *each(PATH.relabel, TABLES, GraphError, "is not a list of names; pass one of its columns"),
    *each(lambda table: Graph.from_edges([0], [1], labels=table), TABLES, GraphError, "is not a list of names; pass"),
    *each(lambda table: Graph.from_edges(table, table), TABLES, GraphError, "is not one column (src); pass one of"),
    *each(lambda table: weighted(table), TABLES, GraphError, "is not one column (weights); pass one of its columns"),
    *each(Graph.from_edges, [[0, 1], "ab", [(0, 1, 2.5)], np.zeros((2, 3)), {0: 1}, 7], GraphError, "a list of pairs"),
    (lambda: Graph.from_edges(TABLE), GraphError, "use Graph.from_pandas(table, source"),
    # arrays and matrices
    (lambda: Graph.from_csr([], []), GraphError, "indptr is empty; pass n + 1 offsets"),
    *each(lambda indptr: Graph.from_csr(indptr, [0, 0]), [[1, 2], [0, 3], [0, 2, 1, 3]], GraphError, "it must rise"),
    (lambda: Graph.from_csr(np.array([0, 2**33], np.uint64), [0]), GraphError, "must rise from 0 to len(indices) = 1"),
    *each(lambda index: Graph.from_csr([0, 1], [index]), [4, -4], GraphError, "which is not a vertex; vertices are 0"),
    (lambda: Graph.from_csr([0, 1], [0.5]), GraphError, "indices contains 0.5, which is not an integer"),
    (lambda: Graph.from_csr([0, 1, 1], [1], directed=False), GraphError, "some arc has no reverse; pass directed=True"),
    (lambda: Graph.from_csr([0, 1, 2], [1, 0], directed=False, weights=[1, 2]), GraphError, "two different weights"),
    (lambda: Graph.from_csr([0, 1, 2], [1, 0], weights=[1, 2, 3]), GraphError, "3 entries for 2 stored arcs"),
    (lambda: Graph.from_csr(7, [0]), GraphError, "indptr=7 is not a column"),
    *each(Graph.from_scipy, [sp.csr_array((2, 3)), sp.coo_array(np.array([0, 1]))], GraphError, "is not square"),
    (lambda: Graph.from_scipy(sp.csr_array(np.array([[0, np.nan], [0, 0]]))), GraphError, "the matrix contains NaN"),
    (lambda: Graph.from_scipy(HALF * 1j), GraphError, "complex"),
    (lambda: Graph.from_scipy(np.eye(2)), GraphError, "not ndarray; use scipy.sparse.csr_array(A)"),
    *each(Graph.from_edge_index, [np.zeros((3, 4), int), np.zeros(4, int), [[0, 1], [1, 2]]], GraphError, "shape (2"),
    *each(lambda device: PATH.to(device), ["tpu", "disk", 0], GraphError, "is not known"),
    # graphs of other libraries, and tables
    *each(lambda make: make(nx.path_graph(3)), [Graph.from_igraph, Graph.from_scipy], GraphError, "Graph.from_network"),
    (lambda: Graph.from_networkx(igraph.Graph([(0, 1)])), GraphError, "use Graph.from_igraph(g)"),
    (lambda: Graph.from_networkx(5), GraphError, "needs a NetworkX graph, not int"),
    (lambda: Graph.from_networkx(nx.path_graph(3), "km"), GraphError, "no edge has the attribute 'km'; pass"),
    *each(lambda name: Graph.from_networkx(HEAVY, name), [False, np.True_, ["weight"]], GraphError, "an edge"),
    (lambda: Graph.from_networkx(HEAVY), GraphError, "'weight' of some edge is 'heavy'"),
    (lambda: Graph.from_networkx(nx.path_graph(3), combine="least"), GraphError, "combine='least' is not known"),
    (lambda: Graph.from_networkx(MANY), GraphError, "combine="),
    (lambda: Graph(), GraphError, "Graph() has no edges"),
    (lambda: Graph(directed=True), GraphError, "Graph() has no edges"),
    (lambda: Graph(TABLE), GraphError, "Graph.from_pandas(table, source, target, weight)"),
    (lambda: Graph(igraph.Graph([(0, 1)])), GraphError, "Graph.from_igraph(g)"),
    (lambda: Graph(HALF), GraphError, "Graph.from_scipy(A)"),
    (lambda: Graph(HEAVY), GraphError, "Graph.from_networkx(g)"),
    (lambda: Graph([(0, 1)]), GraphError, "Graph.from_edges(src, dst)"),
    (lambda: Graph.from_arrow(np.zeros((2, 2))), GraphError, "is not an Arrow stream; use Graph.from_edges"),
    (lambda: Graph.from_arrow(pa.table({"a": [0]})), GraphError, "has no column 'source'; pass source="),
    (lambda: Graph.from_pandas(TABLE), GraphError, "the columns are 'u', 'v', 'km'"),
    (lambda: Graph.from_pandas(TABLE, "u", "u", False), GraphError, "'u' is both source= and target="),
    (lambda: Graph.from_pandas(TABLE.set_index(["u", "v"]), "u", "v"), GraphError, "pass table.reset_index()"),
    *each(lambda no: Graph.from_pandas(no, "u", "v"), [{"u": [0]}, np.zeros((2, 2))], GraphError, "is not a table"),
    *each(lambda frame: Graph.from_pandas(frame, "a", "b"), NO_ROWS, GraphError, "a Frame has no rows yet; pass"),
    *each(lambda frame: hw.bfs(PATH, frame), NO_ROWS, GraphError, "a Frame is not a list of"),
    *each(lambda frame: Graph.from_edges([0], [1], labels=frame), NO_ROWS, GraphError, "a Frame is not a list of"),
    (lambda patch: (patch.setitem(sys.modules, "polars", None), hw.bfs(PATH, 0).to_polars()), EngineError, "pip"),
    # vertices
    *each(PATH.index, [-1, 4, 1.0, True, "a", None, [0], np.array([0])], GraphError, "its vertices are the numbers 0"),
    *each(NAMED.index, ["z", 5, -1, ("a",), ["a"]], GraphError, "its vertices have labels such as 'a'"),
    *each(lambda v: Graph.from_edges([], []).index(v), [0, "a", 1.5], GraphError, "not a vertex of this graph; the"),
    *each(NAMED.subgraph, ["a", 5], GraphError, "is not a list of vertices"),
    *each(lambda wrong: NAMED.relabel(wrong), [{"q": "z"}, ["x"]], GraphError, "ve"),
    (lambda: NAMED.subgraph(["z"]), GraphError, "'z' is not a vertex"),
    (lambda: PATH.with_weights([1.0, 2.0]), GraphError, "weights has 2 entries for"),
    (lambda: Graph.from_edges([0], [1], labels=[30, 10]).index(0), GraphError, "its vertices have labels such as 30"),
    *each(PATH.label, [-1, 4, 99], GraphError, "is not a position in this graph"),
    *each(NAMED.label, [-1, 2, 99], GraphError, "is not a position in this graph"),
    *each(lambda ask: ask(PATH, pd.DataFrame([3])), [hw.bfs, hw.bfs_many, hw.closeness_centrality, Graph.subgraph],
          GraphError, "a DataFrame is not a list of vertices; pass one of its columns"),
]  # fmt: skip
