"""The specification of `hopwave.linalg` in plain Python: a matrix is a list of rows, with None for a missing entry.

A result is a table of *sets*: ⊕ = ANY may give any of its terms, so each set holds all correct values of an entry.
"""

from collections.abc import Callable, Iterable
from functools import reduce
from itertools import product
from typing import Any

import numpy as np

from hopwave.algebra.operators import BinaryOp, Monoid
from hopwave.algebra.semiring import Semiring
from hopwave.linalg import Matrix, Vector

Table = list[list[Any]]  # rows of values or None
NOTHING = frozenset([None])


def table(thing: Matrix | Vector) -> Table:
    """A matrix, or a vector as one column."""
    if isinstance(thing, Vector):
        found = thing.to_dict()
        return [[found.get(i)] for i in range(thing.n)]
    rows: Table = [[None] * thing.shape[1] for _ in range(thing.shape[0])]
    A = thing.to("cpu").to_scipy().tocoo()
    for i, j, value in zip(A.row.tolist(), A.col.tolist(), A.data.tolist(), strict=True):
        rows[i][j] = value
    return rows


def turned(A: Table, columns: int) -> Table:
    return [[row[j] for row in A] for j in range(columns)]


def multiplied(A: Table, B: Table, ring: Semiring, dtype: np.dtype[Any], columns: int) -> list[list[frozenset[Any]]]:
    """C(i,j) = ⊕ₖ A(i,k) ⊗ B(k,j), with terms and sums of type `dtype`."""

    def entry(i: int, j: int) -> frozenset[Any]:
        terms = [
            cast(one_term(ring.multiply, A[i][k], B[k][j], i, k, j), dtype)
            for k in range(len(B))
            if A[i][k] is not None and B[k][j] is not None
        ]
        return added(ring.add, terms, dtype)

    return [[entry(i, j) for j in range(columns)] for i in range(len(A))]


def one_term(op: BinaryOp, a: Any, b: Any, i: int, k: int, j: int) -> Any:
    return {"firsti": i, "firstj": k, "secondi": k, "secondj": j}[op.position] if op.position else op(a, b)


def added(add: Monoid, terms: list[Any], dtype: np.dtype[Any]) -> frozenset[Any]:
    if not terms:
        return NOTHING
    if add.any_term:
        return frozenset(terms)
    return frozenset([reduce(lambda s, t: cast(add.op(s, t), dtype), terms)])


def cast(value: Any, dtype: np.dtype[Any]) -> Any:
    return np.asarray(value).astype(dtype).item()


def lets(mask: Table | None, i: int, j: int, complement: bool, structural: bool) -> bool:
    if mask is None:
        return True
    value = mask[i][j]
    return (value is not None and (structural or bool(value))) != complement


def written(
    out: Table | None, found: list[list[frozenset[Any]]], mask: Table | None, dtype: np.dtype[Any],
    complement: bool = False, structural: bool = False, accum: BinaryOp | None = None, replace: bool = False,
) -> list[list[frozenset[Any]]]:  # fmt: skip
    """out⟨mask⟩ ⊙= found."""

    def entry(i: int, j: int) -> frozenset[Any]:
        old = None if out is None else out[i][j]
        if not lets(mask, i, j, complement, structural):
            return frozenset([None if replace else old])
        right = set()
        for new in found[i][j]:
            if accum is None or old is None or new is None:
                value = new if accum is None or old is None else old
            else:
                value = accum(old, new)
            right.add(None if value is None else cast(value, dtype))
        return frozenset(right)

    return [[entry(i, j) for j in range(len(row))] for i, row in enumerate(found)]


def elementwise(A: Table, B: Table, op: BinaryOp, either: bool) -> list[list[frozenset[Any]]]:
    def entry(a: Any, b: Any) -> frozenset[Any]:
        if a is None or b is None:
            return frozenset([(b if a is None else a) if either else None])
        return frozenset([op(a, b)])

    return [[entry(a, b) for a, b in zip(*rows, strict=True)] for rows in zip(A, B, strict=True)]


def mapped(A: Table, function: Callable[[Any], Any]) -> list[list[frozenset[Any]]]:
    return [[frozenset([None if a is None else function(a)]) for a in row] for row in A]


def agree(thing: Matrix | Vector, right: list[list[frozenset[Any]]]) -> None:
    """Every entry is one of its correct values."""
    have = table(thing)
    assert len(have) == len(right)
    for i, (row, sets) in enumerate(zip(have, right, strict=True)):
        for j, (value, allowed) in enumerate(zip(row, sets, strict=True)):
            assert same(value, allowed), f"at ({i}, {j}): {value!r}, expected one of {set(allowed)}"


def same(value: Any, allowed: Iterable[Any]) -> bool:
    return any((value is None) == (a is None) and (value is None or value == a) for a in allowed)


def every(**choices: Iterable[Any]) -> list[dict[str, Any]]:
    """All combinations of keywords."""
    return [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]
