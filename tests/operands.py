"""Small matrices and vectors for the tests of linalg: drawn by hypothesis, or from a fixed seed."""

from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from hopwave import EngineError
from hopwave import linalg as la
from hopwave.engines import algebra
from together import PROFILE

WORDS = ("bool", "int32", "int64", "float32", "float64")
# Semirings with types of matrix (None: no values) and vector: some are tested on every engine, more on engines that do
# not compile. Compiling takes the CPU engine half a second per kernel.
TRIED = [
    ("any_pair", None, "bool"),
    ("any_secondi", None, "bool"),
    ("or_and", "bool", "bool"),
    ("plus_times", "float64", "float64"),
    ("plus_second", None, "float64"),
    ("min_plus", "int64", "int64"),
    ("max_times", "int32", "int64"),
    ("min_first", None, "int32"),
]
MORE = [
    ("any_second", "int32", "int32"),
    ("plus_times", "int32", "float32"),
    ("plus_first", "int64", "bool"),
    ("plus_pair", None, "bool"),
    ("min_plus", "float32", "float32"),
    ("max_min", "float64", "float64"),
    ("min_secondi", None, "bool"),
    ("max_second", "bool", "float64"),
]
MATRICES = [TRIED[i] for i in (0, 3, 5, 1)]


def missing(device: str) -> str:
    """Why an engine cannot run here; empty if it can."""
    try:
        algebra(device)
    except EngineError as error:
        return str(error)
    return ""


MACHINES = ("reference", "cpu", "cuda")
GPU = [pytest.mark.gpu, pytest.mark.skipif(bool(missing("cuda")), reason=missing("cuda").partition(" (")[0])]


def on(device: str, *others: Any) -> Any:
    """A case for one engine. GPU cases are marked; without a GPU they are skipped with the engine's reason."""
    return pytest.param(device, *others, marks=GPU if device == "cuda" else [])


machines = pytest.mark.parametrize("device", [on(name) for name in MACHINES])
devices = pytest.mark.parametrize("device", [on("cpu"), on("cuda")])  # the engines that run algorithms


def with_semirings(everywhere: Any) -> Any:
    """Cases of (device, semiring, type of the matrix, type of the vector); `make test` compiles three of four."""
    compiled = everywhere[: len(everywhere) if PROFILE == "complete" else 3 * len(everywhere) // 4]
    cases = [on(name, *one) for name in MACHINES for one in (compiled if name == "cpu" else TRIED + MORE)]
    return pytest.mark.parametrize("device, ring, a, x", cases)


def values_of(dtype: str, count: int, draw: Any) -> np.ndarray[Any, Any]:
    """Small whole numbers of this type, so that sums are exact in every order."""
    return np.array([draw(-3, 4) for _ in range(count)]).astype(dtype)


def matrix(rows: int, columns: int, dtype: str | None, draw: Any) -> la.Matrix:
    """A matrix with about half of its entries present; some of them are zero."""
    bits = np.array([draw(0, 1) for _ in range(rows * columns)], bool).reshape(rows, columns)
    values = values_of(dtype or "bool", rows * columns, draw).reshape(rows, columns)
    A = la.Matrix.from_dense(values, bits)
    return A if dtype else A.pattern()


def vector(n: int, dtype: str, draw: Any) -> la.Vector:
    """A vector with about half of its entries present, some of them zero; stored sparse or dense."""
    bits = np.array([draw(0, 1) for _ in range(n)], bool)
    v = la.Vector.from_dense(values_of(dtype, n, draw), bits)
    v.convert("dense" if draw(0, 1) else "sparse")
    return v


def drawn(data: st.DataObject) -> Any:
    return lambda least, most: data.draw(st.integers(least, most))


def fixed(seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return lambda least, most: int(rng.integers(least, most + 1))
