"""Options with impossible values: every public function, every flag, word and number of threads."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hopwave as hw
from hopwave import Graph, generate
from hopwave import linalg as la
from public_calls import MATRIX, SQUARE, VECTOR, functions, required

RING = generate.cycle(4, directed=True)
TWO = np.array([1, 0])
BAD_FLAGS = ("no", "", 2, float("nan"), TWO, [True], np.ma.masked)
BAD_WORDS = ("misspelt", 3, TWO, ["cpu"], None)
BAD_THREADS = ("2", "", 2.5, 2.0, True, 0, -1, TWO, np.ma.masked)
WORDS = ("device", "direction", "interval", "method", "plan", "repeats", "combine")
NONE_IS_KNOWN = {"combine"}


def cases() -> Iterator[Any]:
    """Every option of every function that is a flag, one of several words, or a number of threads."""
    for name, function in functions():
        for option in inspect.signature(function).parameters.values():
            kind = str(option.annotation)
            if option.name == "threads":
                values: tuple[Any, ...] = BAD_THREADS
            elif kind in ("bool", "bool | None"):
                values = BAD_FLAGS
            elif option.name in WORDS:
                values = tuple(v for v in BAD_WORDS if v is not None or option.name not in NONE_IS_KNOWN)
            else:
                continue
            yield pytest.param(function, option.name, values, id=f"{name} {option.name}")


@pytest.mark.parametrize(("function", "option", "values"), list(cases()))
def test_a_value_that_it_cannot_have(function: Callable[..., Any], option: str, values: tuple[Any, ...]) -> None:
    """hopwave's own error names the value and a remedy; no guess, and no error from NumPy."""
    given = required(function)
    if option == "complement":
        given["mask"] = VECTOR
    if function is hw.estimate_memory and option == "directed":
        given |= {"G": (3, 4), "what": "from_edges"}
    if "strong" in function.__name__ or "weak" in function.__name__:
        given["G"] = RING
    for value in values:
        with pytest.raises(hw.HopwaveError) as error:
            found = function(**given | {option: value})
            list(found) if hasattr(found, "__next__") else None
        assert "; " in str(error.value) or " use " in str(error.value), error.value


@pytest.mark.parametrize("value", [1, 0, np.True_, np.False_, np.int8(1), 1.0])
def test_numbers_and_bools_of_numpy_are_flags(value: Any) -> None:
    assert Graph.from_edges([0], [1], directed=value).directed is bool(value)
    scores = [hw.betweenness_centrality(SQUARE, normalized=flag).scores.tolist() for flag in (value, bool(value))]
    assert scores[0] == scores[1]
    assert (hw.bfs(SQUARE, 0, path_counts=value, device="cpu").path_counts is not None) is bool(value)


def test_masked_arrays_are_refused() -> None:
    """Their hidden entries would be used as places, values and names."""
    places, number = np.ma.array([1, 2], mask=[True, False]), np.ma.masked
    with pytest.raises(hw.LinalgError, match=r"indices\[0\] is masked; leave such places out"):
        la.assign(VECTOR.copy(), 9.0, places)
    with pytest.raises(hw.LinalgError, match=r"indices\[0\] is masked"):
        la.extract(VECTOR, places)
    with pytest.raises(hw.LinalgError, match="value is masked"):
        la.assign(VECTOR.copy(), number)
    with pytest.raises(hw.LinalgError, match="missing is masked"):
        VECTOR.to_dense(number)
    with pytest.raises(hw.GraphError, match=r"labels\[0\] is masked; give every vertex a name"):
        Graph.from_edges([0], [1], labels=np.ma.array(["a", "b"], mask=[True, False]))
    for names in ([float("nan"), 1.0], np.array([1.0, np.nan])):
        with pytest.raises(hw.GraphError, match="a label is None or NaN, which names no vertex"):
            Graph.from_edges([0], [1], labels=names)


def test_what_is_written_into_and_its_type() -> None:
    for out in (3, "x", TWO, [1.0]):
        with pytest.raises(hw.LinalgError, match="is neither a Vector nor a Matrix; give one to write into"):
            la.mxv(MATRIX, VECTOR, out=out)  # type: ignore[arg-type]
    with pytest.raises(hw.LinalgError, match="the result is a vector, and out is a matrix"):
        la.mxv(MATRIX, VECTOR, out=MATRIX)  # type: ignore[arg-type]
    with pytest.raises(hw.LinalgError, match="the result is a matrix, and out is a vector"):
        la.mxm(MATRIX, MATRIX, out=VECTOR)  # type: ignore[arg-type]
    for kind in ("misspelt", 3, TWO, "complex128"):
        for call in (VECTOR.astype, MATRIX.astype, lambda kind: la.Vector.from_dense([1.0], dtype=kind)):
            with pytest.raises(hw.LinalgError, match="is not a type of linalg; use bool, int32"):
                call(kind)
    with pytest.raises(hw.LinalgError, match="is not one number; for different ones use from_dense"):
        la.Vector.full(3, [1, 2])
    with pytest.raises(hw.LinalgError, match="Graph; use Matrix"):
        la.Matrix.from_graph(3)  # type: ignore[arg-type]
    with pytest.raises(hw.LinalgError, match="is not a shape"):
        la.Matrix.from_edges([0], [1], shape=2.5)  # type: ignore[arg-type]
    with pytest.raises(hw.LinalgError, match="values has shape"):
        la.Matrix.from_edges([0, 1], [1, 0], [1.0, 2.0, 3.0])


RAGGED = [[1], [1, 2]]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: hw.sssp(SQUARE, 0, weights=RAGGED), "weights has lists of different lengths; give one number in each"),
        (lambda: hw.pagerank(SQUARE, nstart=RAGGED), "nstart has lists of different lengths"),
        (lambda: la.extract(VECTOR, [0], mask=RAGGED), "values has lists of different lengths"),
        (lambda: la.extract(7, [0]), "u is a int; give a Vector or an array of values"),
        (lambda: la.ewise_add(7, 7), "u is a int; give a Vector or an array of values"),
        (lambda: la.apply(2.5, la.unary.negate), "u is a float; give a Vector"),
        (lambda: la.ewise_add(VECTOR, VECTOR, len), "is not a function of two numbers; give one, such as lambda x, y"),
        (lambda: la.reduce(MATRIX, axis=TWO), "is not known; use 0 for every column, 1 for every row, or None"),
        (lambda: hw.modularity(SQUARE, 7), "communities is a int; give lists of vertices, one per community"),
        (lambda: hw.hyperball(SQUARE, runs=1 << 63), "cannot be used; give a whole number from 2 to 65536"),
    ],
)
def test_what_numpy_and_python_would_refuse(call: Callable[[], Any], words: str) -> None:
    """Found by tests/fuzz/promises.py: hopwave's error, not theirs."""
    with pytest.raises(hw.HopwaveError, match=words):
        call()


def test_numbers_that_are_none() -> None:
    with pytest.raises(hw.GraphError, match="tol='x' is not a tolerance; give a number from 0"):
        hw.pagerank(SQUARE, tol="x")  # type: ignore[arg-type]
    with pytest.raises(hw.GraphError, match="max_iter=0 is not a number of rounds"):
        hw.hits(SQUARE, max_iter=0)
    for beta in ("2", np.datetime64("2020-01-01"), np.ma.masked, {0: "x"}):
        with pytest.raises(hw.GraphError, match="beta"):
            hw.katz_centrality(SQUARE, beta=beta)
    with pytest.raises(hw.FormatError, match="checkpoint=7 is not the name of a file"):
        hw.betweenness_centrality(SQUARE, checkpoint=7)  # type: ignore[arg-type]
    for wrong in ({"k": 0}, {"k": "x"}, {"sources": [99]}, {"memory_limit": -1}):
        with pytest.raises(hw.GraphError, match=next(iter(wrong)) if "sources" not in wrong else "99"):
            hw.estimate_memory(SQUARE, "betweenness_centrality", device="cpu", **wrong)  # type: ignore[arg-type]


def test_files(tmp_path: Path) -> None:
    name = tmp_path / "square.npz"
    hw.write(name, SQUARE)
    for wrong in ({"directed": "no"}, {"labels": 3}, {"weights": None}, {"progress": "yes"}, {"combine": TWO}):
        with pytest.raises(hw.GraphError, match=f"{next(iter(wrong))}="):
            hw.read(name, **wrong)  # type: ignore[arg-type]
    for wrong in ({"labels": "no"}, {"weights": TWO}):
        with pytest.raises(hw.GraphError, match="is neither True nor False"):
            hw.write(name, SQUARE, **wrong)  # type: ignore[arg-type]
    for format in ("misspelt", 3, TWO, ["npz"]):
        with pytest.raises(hw.FormatError, match="is not known; use one of"):
            hw.read(name, format=format)  # type: ignore[arg-type]
    for path in (3, None, b"square.npz", ["square.npz"]):
        with pytest.raises(hw.FormatError, match="is not the name of a file"):
            hw.read(path)  # type: ignore[arg-type]
        with pytest.raises(hw.FormatError, match="is not the name of a file"):
            hw.write(path, SQUARE)  # type: ignore[arg-type]
    text = tmp_path / "edges.txt"
    text.write_text("0 1\n1 2\n")
    assert hw.read(text, n=np.int64(9)).n == 9
