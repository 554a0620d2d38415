"""Parts of a matrix: the entries that pass a test, by value or by place. Arrays of NumPy or CuPy alike."""

from __future__ import annotations

from typing import Any

from hopwave.arrays import Array
from hopwave.engines import Algebra
from hopwave.errors import LinalgError
from hopwave.linalg.matrix import Rows

SELECTORS = ("tril", "triu", "diag", "offdiag")


def by_place(part: Rows, where: str, diagonal: int, engine: Algebra) -> Rows:
    """The entries on and below a diagonal, on and above it, on it, or off it."""
    if where not in SELECTORS:
        raise LinalgError(f"{where!r} is not known; use {', '.join(SELECTORS)}, an operator or a function")
    xp = engine.xp
    if where in ("tril", "triu") and hasattr(engine, "triangle"):
        found: Rows = engine.triangle(part, where == "tril", diagonal)
        return found
    offset = part.indices - row_of_each(part, xp) - diagonal
    tests = {"tril": xp.less_equal, "triu": xp.greater_equal, "diag": xp.equal, "offdiag": xp.not_equal}
    return kept(part, tests[where](offset, 0), xp)


def kept(part: Rows, keep: Array, xp: Any) -> Rows:
    """The entries for which `keep` holds."""
    before = xp.zeros(len(keep) + 1, part.indptr.dtype)
    xp.cumsum(keep, out=before[1:])
    values = None if part.values is None else part.values[keep]
    return Rows(before[part.indptr], part.indices[keep], values)


def row_of_each(part: Rows, xp: Any) -> Array:
    """The row of every entry."""
    rows = xp.arange(len(part.indptr) - 1, dtype=xp.int32)
    if xp.__name__ == "numpy":
        return xp.repeat(rows, xp.diff(part.indptr))
    entries = xp.arange(len(part.indices), dtype=part.indptr.dtype)  # CuPy repeats by a list alone
    return (xp.searchsorted(part.indptr, entries, side="right") - 1).astype(xp.int32)
