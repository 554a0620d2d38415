"""Rejections by values that NumPy or Python would refuse, or use: of options, numbers, files and operands."""

from pathlib import Path
from typing import Any

import numpy as np

import hopwave as hw
from hopwave import Graph, generate
from hopwave import linalg as la
from public_calls import MATRIX, SQUARE, VECTOR
from rejections import Row, each, file

RAGGED: Any = [[1], [1, 2]]
TWO = np.array([1, 0])
HIDDEN: Any = np.ma.array([1, 2], mask=[True, False])
NO_NUMBERS = ["2", np.datetime64("2020-01-01"), np.ma.masked, {0: "x"}, object(), 1j]
TABLE = {"origin": ["a", "b"], "dest": ["b", "c"], "year": ["x", "y"], "km": [3, 4]}


def read(tmp: Path, name: str = "f.csv", **options: Any) -> Any:
    return hw.read(file(tmp, name, "source,target\n0,1\n"), **options)


def keywords() -> list[Row]:
    """Calls with a keyword that the function does not have; the error names the one that was meant."""
    import pandas as pd

    star: Any = generate.star
    table = pd.DataFrame(TABLE)
    pairs = np.zeros((2, 1), int)
    return [
        (lambda: star(3, colour="red"), TypeError, "star() has no argument 'colour'; its arguments are n"),
        *each(lambda x: hw.pagerank(SQUARE, **{x: 0.9}), ["damping", "damping_factor"], TypeError, "mean alpha=?"),
        (lambda: SQUARE.degree(), TypeError, "Graph.degree() missing 1 required positional argument: 'vertex'"),
        (lambda: Graph.from_edges(), TypeError, "Graph.from_edges() missing 1 required"),
        (lambda: SQUARE.neighbors(0, 1), TypeError, "Graph.neighbors() takes 2 positional arguments"),
        (lambda: hw.bfs(SQUARE), TypeError, "missing 1 required positional argument: 'source'"),
        (lambda tmp: read(tmp, direct=True), TypeError, "did you mean directed="),
        (lambda tmp: read(tmp, delim=","), TypeError, "did you mean delimiter="),
        (lambda: Graph.from_pandas(table, "origin", "dest", weights="km"), TypeError, "did you mean weight=?"),
        (lambda: Graph.from_edge_index(pairs, weight=[1]), TypeError, "did you mean weights=?"),
        (lambda: Graph.from_pandas(table), hw.GraphError, "no column 'source'"),
    ]


ROWS: list[Row] = [
    *keywords(),
    # Hidden entries of masked arrays would be used as places, values and names.
    (lambda: la.assign(VECTOR.copy(), 9.0, HIDDEN), hw.LinalgError, "indices[0] is masked"),
    (lambda: la.extract(VECTOR, HIDDEN), hw.LinalgError, "indices[0] is masked"),
    (lambda: la.assign(VECTOR.copy(), np.ma.masked), hw.LinalgError, "value is masked"),
    (lambda: VECTOR.to_dense(np.ma.masked), hw.LinalgError, "missing is masked"),
    (lambda: Graph.from_edges([0], [1], labels=np.ma.array(["a", "b"], mask=[1, 0])), hw.GraphError, "labels[0]"),
    *each(
        lambda names: Graph.from_edges([0], [1], labels=names),
        [[float("nan"), 1.0], np.array([1.0, np.nan])],
        hw.GraphError,
        "None or NaN",
    ),
    *each(lambda out: la.mxv(MATRIX, VECTOR, out=out), [3, "x", TWO, [1.0]], hw.LinalgError, "to write to"),
    (lambda: la.mxv(MATRIX, VECTOR, out=MATRIX), hw.LinalgError, "out is a matrix"),
    (lambda: la.mxm(MATRIX, MATRIX, out=VECTOR), hw.LinalgError, "out is a vector"),
    *each(VECTOR.astype, ["misspelt", 3, TWO, "complex128"], hw.LinalgError, "use bool, int32"),
    *each(MATRIX.astype, ["misspelt", 3, TWO, "complex128"], hw.LinalgError, "use bool, int32"),
    (lambda: la.Vector.from_dense([1.0], dtype="misspelt"), hw.LinalgError, "use bool, int32"),
    (lambda: la.Vector.full(3, [1, 2]), hw.LinalgError, "from_dense"),
    (lambda: la.Matrix.from_graph(3), hw.LinalgError, "use Matrix"),
    (lambda: la.Matrix.from_edges([0], [1], shape=2.5), hw.LinalgError, "is not a shape"),
    (lambda: la.Matrix.from_edges([0, 1], [1, 0], [1.0, 2.0, 3.0]), hw.LinalgError, "values has shape"),
    (lambda: hw.sssp(SQUARE, 0, weights=RAGGED), hw.HopwaveError, "weights has nested lists of different lengths"),
    (lambda: hw.pagerank(SQUARE, nstart=RAGGED), hw.HopwaveError, "nstart has nested lists of different lengths"),
    (lambda: la.extract(VECTOR, [0], mask=RAGGED), hw.HopwaveError, "values has nested lists of different lengths"),
    (lambda: la.extract(7, [0]), hw.HopwaveError, "u is a int"),
    (lambda: la.ewise_add(7, 7), hw.HopwaveError, "u is a int"),
    (lambda: la.apply(2.5, la.unary.negate), hw.HopwaveError, "u is a float"),
    (lambda: la.ewise_add(VECTOR, VECTOR, len), hw.HopwaveError, "a function of two numbers"),
    (lambda: la.reduce(MATRIX, axis=TWO), hw.HopwaveError, "use 0 for every column"),
    (lambda: hw.modularity(SQUARE, 7), hw.HopwaveError, "communities is a int"),
    (lambda: hw.hits(SQUARE, max_iter=0), hw.GraphError, "max_iter=0"),
    *each(lambda beta: hw.katz_centrality(SQUARE, beta=beta), NO_NUMBERS, hw.GraphError, "beta"),
    (lambda: hw.betweenness_centrality(SQUARE, checkpoint=7), hw.FormatError, "checkpoint=7"),
    *each(
        lambda given: hw.estimate_memory(SQUARE, "betweenness_centrality", device="cpu", **given),
        [{"k": 0}, {"k": "x"}, {"sources": [99]}, {"memory_limit": -1}],
        hw.GraphError,
        "",
    ),
    (lambda tmp: read(tmp, directed="no"), hw.GraphError, "directed="),
    (lambda tmp: read(tmp, weights=TWO), hw.GraphError, "weights="),
    (lambda tmp: read(tmp, progress="yes"), hw.GraphError, "progress="),
    (lambda tmp: read(tmp, format=["npz"]), hw.FormatError, "use one of"),
    (lambda tmp: hw.write(tmp / "a.npz", SQUARE, labels="no"), hw.GraphError, "neither True nor False"),
    *each(lambda path: hw.write(path, SQUARE), [3, None, b"a.npz"], hw.FormatError, "is not a file name"),
]
