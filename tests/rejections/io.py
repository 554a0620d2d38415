"""Rejections by readers and writers. tests/io/test_io_malformed.py has the files with errors, and their lines."""

import math
import os
import sys
from pathlib import Path

import networkx as nx

import hopwave as hw
from hopwave import EngineError, FormatError, Graph, GraphError
from hopwave.distributed.construct import read_share
from rejections import Row, each, file

EDGE = Graph.from_edges([0], [1])
NAMED = Graph.from_edges(["ann"], ["bob"])
MTX = b"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n"
NO_EDGES = (b"# nothing\n", b"\n\n", b"# Directed graph\n")
LEAST = {"gr": 0, "metis": 1, "wel": -(2**31), "wsg": -(2**31)}  # the smallest weights that these formats store


def heavy(weight: float) -> Graph:
    return Graph.from_edges([0, 1], [1, 2], weights=[1, weight])


def round_link(tmp: Path) -> Path:
    (tmp / "a.csv").symlink_to(tmp / "b.csv")
    (tmp / "b.csv").symlink_to(tmp / "a.csv")
    return tmp / "a.csv"


ROWS: list[Row] = [
    (lambda tmp: hw.read(tmp / "none.mtx"), FileNotFoundError, "check the spelling"),
    (lambda tmp: hw.write(tmp / "none" / "g.mtx", EDGE), FileNotFoundError, "the folder does not exist"),
    (lambda tmp: hw.read(tmp), FormatError, "is a folder; pass the path of a graph file"),
    (lambda tmp: ((tmp / "a.mtx").mkdir(), hw.write(tmp / "a.mtx", EDGE)), IsADirectoryError, "is a folder"),
    (lambda tmp: (os.mkfifo(tmp / "a.mtx"), hw.read(tmp / "a.mtx")), FormatError, "pipe or a device; save"),
    (lambda tmp: hw.write(round_link(tmp), EDGE), FormatError, "link leads back to itself"),
    (lambda tmp: hw.read(round_link(tmp)), FormatError, "link leads back to itself"),
    *each(lambda name: hw.read(name), [7, None, ["a.mtx"], b"a.mtx"], FormatError, "is not a file name"),
    (lambda: hw.read("web.csv", weights="km"), GraphError, "for that column, pass weight='km'"),
    (lambda tmp: hw.read(file(tmp, "a.xlsx", "PK")), FormatError, "an Excel workbook; save it as CSV"),
    *each(lambda name: hw.read(name), ["a\0b.csv", "\ud800.csv"], FormatError, "is not a valid file name"),
    *each(lambda name: hw.write(name, EDGE), ["a\0b.csv", "\ud800.csv"], FormatError, "; pass another"),
    *each(lambda name, tmp: hw.write(tmp / name, EDGE), ["g", "g.xyz", "g.gz", "mtx"], FormatError, "pass format="),
    *each(lambda name, tmp: hw.read(file(tmp, name, "0 1")), ["g", "g.xyz", "g.gz", "mtx"], FormatError, "pass"),
    (lambda tmp: hw.read(file(tmp, "a.mtx", MTX), format="yaml"), FormatError, "use one of matrix-market"),
    (lambda tmp: hw.read(file(tmp, "a.mtx", MTX), packed=True), TypeError, "of the format 'matrix-market'; it has"),
    (lambda tmp: hw.read(file(tmp, "a.mtx", MTX), mmap=True), TypeError, "mmap= is not an option"),
    (lambda tmp: hw.read(file(tmp, "a.mtx", MTX), combine="mean"), GraphError, "combine='mean' is not known"),
    *each(lambda n, tmp: hw.read(file(tmp, "a.mtx", MTX), n=n), [1, -1, 2.0, True, 2**31], GraphError, "n="),
    (lambda tmp: hw.write(tmp / "a.mtx", EDGE, isolated=False), TypeError, "isolated= is not an option"),
    (lambda tmp: hw.write(EDGE, tmp / "a.mtx"), TypeError, "as the second argument"),
    (lambda tmp: hw.write(tmp / "a.mtx", nx.path_graph(3)), TypeError, "use Graph.from_networkx(g)"),
    (lambda tmp: hw.write(tmp / "a.npz", EDGE, directed=True), GraphError, "directed=True contradicts graph.directed"),
    (lambda tmp: hw.write(tmp / "a.csv", EDGE, delimiter="x"), TypeError, "use one of , ; | or a tab"),
    *each(lambda x, tmp: hw.read(file(tmp, "a.csv", "0,1"), sep=x), [",,", 3, ""], TypeError, "is not one character"),
    (lambda tmp: hw.read(file(tmp, "a.csv", "0,1"), sep=",", delimiter=","), TypeError, "pass one of them"),
    (lambda tmp: hw.read(file(tmp, "a.csv", "0,1"), decimal="'"), TypeError, "pass '.' or ','"),
    (lambda tmp, patch: (patch.setitem(sys.modules, "pyarrow", None), hw.write(tmp / "a.parquet", EDGE)), EngineError,
     'run: pip install "hopwave[io]"'),
    (lambda tmp: hw.read(file(tmp, "a.csv", "0 1 2"), weight=2, weights=False), TypeError, "omit one of them"),
    *each(lambda column, tmp: hw.read(file(tmp, "a.txt", "0 1 2"), weight=column), [1, True, "2"], TypeError, "pass 2"),
    *each(lambda text, tmp: hw.read(file(tmp, "a.txt", text)), NO_EDGES, FormatError, "contains no edge"),
    *each(lambda text, tmp: read_share(file(tmp, "a.txt", text), None, None, 1, 2), NO_EDGES, FormatError, "no edge"),
    # what a format cannot store
    *each(lambda end, tmp: hw.write(tmp / f"a.{end}", heavy(2)), ["el", "sg", "col", "bin"], FormatError, "weights=Fa"),
    *each(lambda end, tmp: hw.write(tmp / f"a.{end}", EDGE), ["wel", "wsg"], FormatError, "the graph has no weights"),
    *each(lambda w, tmp: hw.write(tmp / "a.gr", heavy(w)), [0.5, math.inf, -1e300, -1], FormatError, "stores integers"),
    *each(lambda end, tmp: hw.write(tmp / f"a.{end}", heavy(LEAST[end] - 1)), LEAST, FormatError, "this format stores"),
    *each(lambda end, tmp: hw.write(tmp / f"a.{end}", heavy(0.5)), LEAST, FormatError, "or drop the weights with"),
    *each(lambda end, tmp: hw.write(tmp / f"a.{end}", NAMED), ["mtx", "metis", "gr", "el", "bin"], FormatError, "labe"),
]  # fmt: skip
