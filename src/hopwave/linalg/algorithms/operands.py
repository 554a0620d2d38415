"""Operands of the algorithms: a square matrix on its device, checked, with cached properties."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from hopwave.algebra.matrix import Matrix, as_matrix
from hopwave.algebra.operators import monoid
from hopwave.arrays import module_of, seeded
from hopwave.checks.numbers import is_whole
from hopwave.engines import algebra
from hopwave.errors import GraphError, LinalgError
from hopwave.graph.row_operations import arc_in_words, from_keys, keys_of
from hopwave.linalg.products import reduce


def square(A: Any, device: str = "auto", weights: bool = False) -> Matrix:
    """The matrix of a graph, with the weights of a Graph if `weights`, on `device`; "auto" keeps its device."""
    matrix = as_matrix(A, weights)
    rows, columns = matrix.shape
    if rows != columns:
        raise LinalgError(f"the matrix is {rows} × {columns}; the matrix of a graph must be square")
    if isinstance(device, str) and device == "auto":
        return matrix
    if not isinstance(device, str) or device not in ("cpu", "cuda"):
        raise LinalgError(f"device={device!r} is not known; use 'auto', 'cpu' or 'cuda'")
    algebra(device)  # raises an error that names a missing library
    return matrix.to(device)


def generator(seed: Any) -> np.random.Generator:
    """NumPy's generator for a seed; a generator is returned unchanged."""
    try:
        return seeded(seed)
    except (TypeError, ValueError):
        problem = f"seed={seed!r} is not a seed"
        raise LinalgError(f"{problem}; pass an integer of at least 0, a NumPy generator, or None") from None


def place(A: Matrix, vertex: Any, what: str = "source") -> int:
    """The vertex as an int; raises a GraphError if it is not a vertex of the matrix."""
    n = A.shape[0]
    if not is_whole(vertex) or not 0 <= vertex < n:
        reach = f"vertices are 0 to {n - 1}" if n else "the matrix has no vertices"
        raise GraphError(f"{what} {vertex!r} is not a vertex; {reach}")
    return int(vertex)


def extremes(A: Matrix) -> tuple[float, float]:
    """(minimum, maximum) of the values, cached with the matrix; (1, 1) for a pattern. NaN if a value is NaN."""
    return A._prepared.made(extremes, lambda: _ends(A))


def _ends(A: Matrix) -> tuple[float, float]:
    if not A.nnz:
        return math.inf, -math.inf
    if not A.has_values:
        return 1.0, 1.0
    if A.device == "cpu":  # NumPy needs no compilation
        values: Any = A.rows.values
        return float(values.min()), float(values.max())
    return float(reduce(A, monoid.min)), float(reduce(A, monoid.max))


def check_weights(A: Matrix, what: str, finite: bool = False, called: Callable[[int], Any] = int) -> None:
    """Raise a GraphError for weights that are NaN or negative, or with `finite` infinite; `called` names vertices."""
    least, greatest = extremes(A)
    if math.isnan(least) or math.isnan(greatest):
        raise GraphError(f"a weight is NaN, so {what} is undefined; drop or replace such entries")
    if least < 0:
        raise GraphError(
            f"weight {least:g} {_arc(A, np.argmin, called)} is negative; {what} needs weights of at least 0: correct "
            "it, or ignore all weights with weights=False"
        )
    if finite and greatest == math.inf:
        raise GraphError(f"the weight {_arc(A, np.argmax, called)} is infinite; {what} needs finite weights")


def check_lengths(A: Matrix, called: Callable[[int], Any] = int) -> None:
    """Raise an error for weights that cannot be the lengths of arcs: NaN, less than 0, or infinite."""
    least, greatest = extremes(A)
    if least >= 0 and greatest < math.inf:  # neither is NaN
        return
    check_weights(A, "distance", called=called)
    raise GraphError(f"the weight {_arc(A, np.argmax, called)} is infinite; omit the arc to exclude it from paths")


def _arc(A: Matrix, choose: Callable[[Any], Any], called: Callable[[int], Any]) -> str:
    rows = A.to("cpu").rows
    return arc_in_words(rows, int(choose(np.asarray(rows.values))), called)


def without_repeats(A: Matrix) -> Matrix:
    """The pattern with each entry once; the matrix itself if no entry is repeated."""
    if A.is_ascending():
        return A
    xp = module_of(A.rows.indices)
    keys = keys_of(A.rows, A.shape[1], xp)
    return Matrix.from_rows(from_keys(xp.unique(keys), None, A.shape, xp), A.shape, ascending=True)


def is_symmetric(A: Matrix) -> bool:
    """Whether the pattern equals its transpose (the graph is undirected); cached with the matrix."""

    def compare() -> bool:
        rows, columns = A.rows, A.columns
        if rows.indices is columns.indices:
            return True
        return bool((rows.indptr == columns.indptr).all()) and bool((rows.indices == columns.indices).all())

    return A._prepared.made(is_symmetric, compare)
