"""Products by definition, in NumPy only: compute every term, sort by row, add up. The specification, not fast."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from hopwave import engines
from hopwave.algebra.matrix import Matrix
from hopwave.algebra.operators import BinaryOp, Monoid, UnaryOp
from hopwave.algebra.vector import Vector
from hopwave.arrays import Array
from hopwave.engines import NoShortcuts
from hopwave.graph.csr import Rows, offset_type
from hopwave.graph.row_operations import Place, by_place
from hopwave.planning.jobs import Allowed, Direction, Product, Touched


class Algebra(NoShortcuts):
    """See hopwave.engines.Algebra."""

    name = "reference"
    xp: Any = np

    def missing(self) -> str | None:
        return None

    def push(
        self, A: Matrix, x: Vector, product: Product, allowed: Allowed | None, threads: int | None
    ) -> tuple[Vector, Touched]:
        """All terms of the columns in which x has entries."""
        places, values = x.entries()
        part = A.columns
        inner, entry = expand(part.indptr, places)
        touched = Touched(len(entry))
        if allowed is not None:
            keep = allowed.as_bits(A.shape[0], np)[part.indices[entry]]
            inner, entry = inner[keep], entry[keep]
        return self._sums(A.shape[0], part.indices[entry], places[inner], values[inner], part, entry, product), touched

    def pull(
        self, A: Matrix, x: Vector, product: Product, allowed: Allowed | None, threads: int | None
    ) -> tuple[Vector, Touched]:
        """All terms of the allowed rows, without early exit: the sum is the same."""
        values, present = x.arrays()
        part = A.rows
        rows = np.arange(A.shape[0]) if allowed is None else np.flatnonzero(allowed.as_bits(A.shape[0], np))
        row, entry = expand(part.indptr, rows)
        there = present[part.indices[entry]]
        row, entry = row[there], entry[there]
        inner = part.indices[entry]
        return self._sums(A.shape[0], rows[row], inner, values[inner], part, entry, product), Touched(len(entry))

    def _sums(self, n: int, out: Array, inner: Array, x: Array, part: Rows, entry: Array, product: Product) -> Vector:
        a = np.ones(len(entry), np.bool_) if part.values is None else part.values[entry]
        rows, sums = self.add_up(product.add, out, self.terms(product, out, inner, np.zeros(len(out), np.int32), a, x))
        return Vector.sparse(n, rows.astype(np.int32), sums)

    def terms(self, product: Product, out: Array, inner: Array, zero: Array, a: Array, x: Array) -> Array:
        """The terms of the sum, one per entry."""
        found = {"one": np.True_, "x": x, "a": a, "out": out, "inner": inner, "zero": zero}.get(product.term)
        if found is None:
            function = self.binary(product.multiply)
            found = function(x, a) if product.flip else function(a, x)
        return np.broadcast_to(found, out.shape).astype(product.dtype)

    def add_up(self, add: Monoid, keys: Array, terms: Array) -> tuple[Array, Array]:
        """Sums of the terms with equal keys, in their order."""
        order = np.argsort(keys, kind="stable")
        keys, terms = keys[order], terms[order]
        first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else np.empty(0, np.int64)
        if add.any_term or not len(keys):
            return keys[first], terms[first]
        return keys[first], ufunc(add.op).reduceat(terms, first).astype(terms.dtype)

    def multiply(
        self,
        A: Matrix,
        B: Matrix,
        product: Product,
        mask: Rows | None,
        complement: bool,
        by: Direction,
        threads: int | None,
    ) -> tuple[Rows, Touched]:
        """Every term of every entry; `by` only determines which terms are reported as read."""
        m, n = A.shape[0], B.shape[1]
        left, right = A.rows, B.rows
        i = np.repeat(np.arange(m, dtype=np.int64), np.diff(left.indptr))
        which, entry = expand(right.indptr, left.indices)
        out, inner, column = i[which], left.indices[which], right.indices[entry]
        a = A.stored_values()[which]
        x = B.stored_values()[entry]
        terms = self.terms(product, out, inner, column, a, x)
        keys, sums = self.add_up(product.add, out * n + column, terms)
        if mask is not None:
            row = np.repeat(np.arange(m, dtype=np.int64), np.diff(mask.indptr))
            keep = np.isin(keys, row * n + mask.indices) != complement
            keys, sums = keys[keep], sums[keep]
        indptr = np.searchsorted(keys // max(n, 1), np.arange(m + 1)).astype(offset_type(len(keys)))
        direction = "pull" if by != "push" and mask is not None and not complement else "push"
        return Rows(indptr, (keys % max(n, 1)).astype(np.int32), sums), Touched(len(entry), notes=[direction])

    def binary(self, op: BinaryOp) -> Callable[[Array, Array], Array]:
        if op.built_in and op.name in ("first", "any"):
            return lambda x, y: np.broadcast_arrays(x, y)[0].copy()
        if op.built_in and op.name == "second":
            return lambda x, y: np.broadcast_arrays(x, y)[1].copy()
        if op.built_in and op.name == "pair":
            return lambda x, y: np.ones(np.broadcast_shapes(np.shape(x), np.shape(y)), np.bool_)
        if op.array is None:
            return lambda x, y: ufunc(op)(x, y).astype(op.result_type(np.asarray(x).dtype, np.asarray(y).dtype))
        found: Callable[..., Array] = getattr(np, op.array)
        if op.name in ("plus", "minus", "times"):  # numeric, even if both operands are Boolean
            return lambda x, y: found(x, y, dtype=op.result_type(np.asarray(x).dtype, np.asarray(y).dtype))
        return found

    def unary(self, op: UnaryOp) -> Callable[[Array], Array]:
        if op.array:
            function: Callable[[Array], Array] = getattr(np, op.array)
            if op.kind == "bool":
                return function
            return lambda values: function(values.astype(op.result_type(values.dtype), copy=False))
        return lambda values: np.array([op.function(v) for v in values.tolist()]).astype(
            unary_type(op, values), copy=False
        )

    def reduce(self, add: Monoid, values: Array, dtype: np.dtype[Any]) -> Any:
        if add.any_term:
            return values[0].item()
        total = ufunc(add.op).reduce(values.astype(dtype, copy=False))
        return dtype.type(total).item()

    def fill(self, values: Array, present: Array, allowed: Allowed, value: Any) -> int | None:
        bits = allowed.as_bits(len(values), np)
        np.copyto(values, values.dtype.type(value), where=bits)
        present |= bits
        return None

    def scatter(self, op: BinaryOp, target: Array, places: Array, values: Array) -> None:
        if op.built_in and op.name in ("any", "first"):
            return
        if op.built_in and op.name == "second":
            target[places] = values
        elif op.array and op.kind == "same":
            getattr(np, op.array).at(target, places, values)
        else:
            for place, value in zip(places.tolist(), values, strict=True):
                target[place] = op.function(target[place], value)

    def collect(self, values: Array, present: Array) -> tuple[Array, Array, bool]:
        places = np.flatnonzero(present).astype(np.int32)
        return places, values[places], True

    def spread(self, n: int, places: Array, values: Array) -> tuple[Array, Array]:
        everywhere, present = np.zeros(n, values.dtype), np.zeros(n, np.bool_)
        everywhere[places] = values
        present[places] = True
        return everywhere, present

    def by_place(self, part: Rows, where: Place, diagonal: int) -> Rows:
        return by_place(part, where, diagonal, np)


def expand(indptr: Array, rows: Array) -> tuple[Array, Array]:
    """The entries of these rows, concatenated: (index into `rows`, index of the entry)."""
    begin = indptr[rows].astype(np.int64)
    counts = indptr[np.asarray(rows) + 1].astype(np.int64) - begin
    which = np.repeat(np.arange(len(rows)), counts)
    ends = np.cumsum(counts)
    entry = np.arange(len(which)) - np.repeat(ends - counts, counts) + begin[which]
    return which, entry


def ufunc(op: BinaryOp) -> Any:
    return getattr(np, op.array) if op.array else np.frompyfunc(op.function, 2, 1)


def unary_type(op: UnaryOp, values: Array) -> np.dtype[Any]:
    """The type of a unary operator's results. A user's function may return another type, tested on the first value."""
    given: np.dtype[Any] = values.dtype
    if op.kind != "same" or not len(values):
        return op.result_type(given)
    kind = np.asarray(op.function(values[0].item())).dtype
    whole = kind.kind in "iu" and given.kind in "if"
    return given if whole or kind.kind == given.kind else kind


if TYPE_CHECKING:
    _: engines.Algebra = Algebra()  # mypy checks the protocol
