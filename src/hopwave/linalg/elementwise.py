"""Element-wise operations: union, intersection, apply, select, on arrays of NumPy or CuPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from hopwave.algebra.matrix import Matrix, as_matrix
from hopwave.algebra.operators import BinaryOp, Monoid, UnaryOp, binary, checked_dtype
from hopwave.algebra.vector import Vector, as_vector
from hopwave.arrays import as_array, ignoring, module_of, on_gpu
from hopwave.checks.numbers import is_whole
from hopwave.engines import Algebra
from hopwave.errors import LinalgError
from hopwave.graph.row_operations import PLACES, is_in, kept, keys_of, union
from hopwave.linalg.masking import (
    Writes,
    Writing,
    allowed_places,
    arrays,
    choose,
    compiling,
    is_table,
    let_through,
    write,
    write_entries,
    writing,
)


@compiling
def ewise_add(u: Any, v: Any, op: Any = binary.plus, *, device: str = "auto", **how: Unpack[Writes]) -> Any:
    """out⟨mask⟩ ⊙= u ∪ v: op where both have a value, the only value where one has. For two vectors or two matrices.

    Parameters
    ----------
    u, v : Vector or Matrix
        Two vectors, or two matrices.
    op : BinaryOp or Monoid, optional
        Operator on two values.

    Returns
    -------
    Vector or Matrix
        Same type as the operands.

    Examples
    --------
    >>> u, v = la.Vector.from_entries([0, 1], [1, 2], n=3), la.Vector.from_entries([1, 2], [10, 20], n=3)
    >>> la.ewise_add(u, v).to_dict()
    {0: 1, 1: 12, 2: 20}
    """
    return _two(u, v, op, True, writing(**how), device)


@compiling
def ewise_mult(u: Any, v: Any, op: Any = binary.times, *, device: str = "auto", **how: Unpack[Writes]) -> Any:
    """out⟨mask⟩ ⊙= u ∩ v: op where both have a value, no entry elsewhere. For two vectors or two matrices.

    Parameters
    ----------
    u, v, op
        As in `ewise_add`.

    Returns
    -------
    Vector or Matrix
        Same type as the operands.

    Examples
    --------
    >>> u, v = la.Vector.from_entries([0, 1], [1, 2], n=3), la.Vector.from_entries([1, 2], [10, 20], n=3)
    >>> la.ewise_mult(u, v).to_dict()
    {1: 20}
    """
    return _two(u, v, op, False, writing(**how), device)


def _two(u: Any, v: Any, op: Any, either: bool, how: Writing, device: str) -> Any:
    op = _operator(op)
    if not isinstance(v, Vector) and is_table(u):
        return _two_matrices(as_matrix(u), as_matrix(v), op, either, how, device)
    u = as_vector(u, v.n if isinstance(v, Vector) and not isinstance(u, Vector) else None, "u")
    n = u.n
    v = as_vector(v, n, "v")
    engine = choose(device, u, v)
    u, v = u.to(engine.name), v.to(engine.name)
    xp, function = engine.xp, engine.binary(op)
    kind = op.result_type(u.dtype, v.dtype)
    if either:
        kind = np.result_type(kind, u.dtype, v.dtype) if op.kind != "bool" else kind
    allowed = allowed_places(how, n, engine)
    if not either and "sparse" in (u.format, v.format):
        found = _at_list(u, v, function, kind, engine)
    else:
        a, here = arrays(u, engine)
        b, there = arrays(v, engine)
        full = u.nnz == n == v.nnz
        if full:
            values = function(a, b).astype(kind, copy=False)
        else:  # values at positions without a bit are arbitrary: some would cause NumPy warnings
            both = xp.flatnonzero(here & there)
            values = xp.where(here, a.astype(kind), b.astype(kind)) if either else xp.zeros(n, kind)
            values[both] = function(a[both], b[both]).astype(kind, copy=False)
        present = here | there if either else here & there
        found = Vector.dense(values, present, n if full else None)
    return write(let_through(found, allowed, engine), how, allowed, engine)


def _at_list(u: Vector, v: Vector, function: Any, kind: Any, engine: Algebra) -> Vector:
    """op at common positions: each position of the sparse vector is looked up in the other vector."""
    sparse, other = (u, v) if u.format == "sparse" else (v, u)
    places, values = sparse.entries()
    others, present = arrays(other, engine)
    both = present[places]
    places, mine, theirs = places[both], values[both], others[places[both]]
    found = function(mine, theirs) if sparse is u else function(theirs, mine)
    return Vector.sparse(u.n, places, found.astype(kind, copy=False))


def _two_matrices(A: Matrix, B: Matrix, op: BinaryOp, either: bool, how: Writing, device: str) -> Matrix:
    if A.shape != B.shape:
        raise LinalgError(f"the shapes {A.shape} and {B.shape} differ; element-wise operands must have the same shape")
    engine = choose(device, A, B)
    A, B = A.to(engine.name).checked(), B.to(engine.name).checked()
    xp, function = engine.xp, engine.binary(op)
    kind = op.result_type(A.dtype, B.dtype)
    columns = A.shape[1]
    keys, others = keys_of(A.rows, columns, xp), keys_of(B.rows, columns, xp)
    values, their = A.stored_values(), B.stored_values()
    if either:
        kind = np.result_type(kind, A.dtype, B.dtype) if op.kind != "bool" else kind
        keys, values = union(keys, values, others, their, function, kind, xp)
    else:
        both, back = is_in(keys, others, xp), is_in(others, keys, xp)
        keys, values = keys[both], function(values[both], their[back]).astype(kind, copy=False)
    return write_entries(keys, values, A.shape, how, engine)


@compiling
def apply(
    u: Any, op: UnaryOp | BinaryOp | Callable[[Any], Any], *, left: Any = None, right: Any = None,
    dtype: npt.DTypeLike | None = None, device: str = "auto", **how: Unpack[Writes],
) -> Any:  # fmt: skip
    """out⟨mask⟩ ⊙= op(u), value by value. A binary operator also needs left= or right=.

    Parameters
    ----------
    u : Vector or Matrix
        The operand.
    op : UnaryOp, BinaryOp or function
        Function of each value.
    left, right : number, optional
        The other operand of a binary operator.

    Returns
    -------
    Vector or Matrix
        Same type as the operand.

    Examples
    --------
    >>> u = la.Vector.from_entries([1], [4.0], n=2)
    >>> la.apply(u, la.unary.sqrt)[1], la.apply(u, la.binary.plus, right=1)[1]
    (2.0, 5.0)
    """
    writes = writing(**how)
    engine = choose(device, u)
    if not isinstance(op, UnaryOp | BinaryOp | Monoid):
        op = UnaryOp.define(getattr(op, "__name__", "function"), op)
    if isinstance(op, Monoid):
        op = op.op
    if isinstance(op, UnaryOp):
        if left is not None or right is not None:
            raise LinalgError(f"{op.name} takes one value; omit left= and right=")
        function = engine.unary(op)
    elif (left is None) == (right is None):
        raise LinalgError(f"{op.name} takes two values; pass one of left= and right=")
    else:
        two = engine.binary(op)

        def function(values: Any) -> Any:
            bound = engine.xp.asarray(_in_type(left if right is None else right, values.dtype))
            return two(bound, values) if right is None else two(values, bound)

    def changed(values: Any) -> Any:
        found = function(values)
        kind = checked_dtype(found.dtype if dtype is None else dtype)
        return found.astype(kind, copy=False) if found is not values else found.astype(kind)

    if is_table(u):
        A = as_matrix(u).to(engine.name)
        keys = keys_of(A.rows, A.shape[1], engine.xp)
        return write_entries(keys, changed(A.stored_values()), A.shape, writes, engine)
    u = as_vector(u, None, "u").to(engine.name)
    allowed = allowed_places(writes, u.n, engine)
    return write(let_through(_mapped(u, changed), allowed, engine), writes, allowed, engine)


@ignoring("over")
def _in_type(value: Any, dtype: np.dtype[Any]) -> Any:
    """The fixed operand, converted to the type of the values if it fits, so that it does not widen the result."""
    bound = value if on_gpu(value) else as_array(value, "the operand", LinalgError)
    if bound.ndim or bound.dtype.kind not in "biuf":
        raise LinalgError(f"{value!r} is not a 64-bit number; pass one as left= or right=")
    if bound.dtype.kind != dtype.kind and dtype.kind != "f":
        return bound
    cast = bound.astype(dtype)
    xp = module_of(bound)
    fits = xp.isfinite(cast) == xp.isfinite(bound) if dtype.kind == "f" else cast == bound
    return cast if bool(fits.all()) else bound


def _mapped(u: Vector, function: Any) -> Vector:
    """Apply a function only to present values: arbitrary values at other positions might overflow."""
    if u.format == "sparse":
        places, values = u.listed()
        return Vector.sparse(u.n, places.copy(), function(values), ascending=u._ascending)._follow(u)
    values, present = u.arrays()
    if u.nnz == u.n:
        return Vector.dense(function(values), present.copy(), u.n)._follow(u)
    some = function(values[present])
    everywhere = module_of(some).zeros(u.n, some.dtype)
    everywhere[present] = some
    return Vector.dense(everywhere, present.copy(), u.nnz)._follow(u)


@compiling
def select(
    u: Any, predicate: str | BinaryOp | Callable[[Any], Any], thunk: Any = None, *, device: str = "auto",
    **how: Unpack[Writes],
) -> Any:  # fmt: skip
    """out⟨mask⟩ ⊙= the entries of u that pass a test.

    The test is by value (an operator with a thunk, or a function), or for a matrix by position ("tril", "triu", "diag",
    "offdiag"; the thunk is then the number of the diagonal, by default 0). The thunk for a vector may be a vector: each
    entry is compared with the thunk's entry at the same position, and fails if the thunk has no entry there.

    Parameters
    ----------
    u : Vector or Matrix
        The operand.
    predicate : str, BinaryOp or function
        The test.
    thunk : number or Vector, optional
        Number that values are compared with, or the number of a diagonal.

    Returns
    -------
    Vector or Matrix
        Same type as the operand.

    Examples
    --------
    >>> u = la.Vector.from_entries([0, 2], [1, 5], n=3)
    >>> la.select(u, la.binary.gt, 3).to_dict()
    {2: 5}
    >>> la.select(la.Matrix.from_dense([[1, 2], [3, 4]]), "tril", -1).to_dense().tolist()
    [[0, 0], [3, 0]]
    """
    writes = writing(**how)
    engine = choose(device, u)
    if is_table(u):
        return _select_entries(as_matrix(u).to(engine.name), predicate, thunk, writes, engine)
    if isinstance(predicate, str):
        raise LinalgError(f"{predicate!r} selects by position in a matrix; use an operator such as linalg.binary.gt")
    u = as_vector(u, None, "u").to(engine.name)
    allowed = allowed_places(writes, u.n, engine)
    if u.format == "sparse":
        places, values = u.listed()
        keep = _passing(engine, predicate, thunk, values, places)
        some = Vector.sparse(u.n, places[keep], values[keep], ascending=u._ascending)
    else:
        values, present = u.arrays()
        places = engine.xp.flatnonzero(present)  # only these positions have a value to test
        bits = engine.xp.zeros(u.n, engine.xp.bool_)
        bits[places] = _passing(engine, predicate, thunk, values[places], places)
        some = Vector.dense(values.copy(), bits)
    return write(let_through(some._follow(u), allowed, engine), writes, allowed, engine)


def _select_entries(A: Matrix, predicate: Any, thunk: Any, how: Writing, engine: Algebra) -> Matrix:
    if isinstance(thunk, Vector):
        raise LinalgError("entries of a matrix can only be compared with a number; pass a number as the thunk")
    if not isinstance(predicate, str):
        rows = kept(A.rows, _passing(engine, predicate, thunk, A.stored_values()))
    elif predicate in PLACES:
        diagonal = 0 if thunk is None else thunk
        if not is_whole(diagonal):
            raise LinalgError(f"thunk={thunk!r} is not the number of a diagonal; pass an integer")
        rows = engine.by_place(A.rows, predicate, max(-A.shape[0], min(int(diagonal), A.shape[1])))
    else:
        raise LinalgError(f"{predicate!r} is not known; use {', '.join(PLACES)}, an operator or a function")
    if how.mask is None and how.out is None:
        return Matrix.from_rows(rows, A.shape, A._store.ascending or None)  # a part of an ascending matrix is ascending
    return write_entries(keys_of(rows, A.shape[1], engine.xp), rows.values, A.shape, how, engine)


def _passing(engine: Algebra, predicate: Any, thunk: Any, values: Any, places: Any = None) -> Any:
    """For each value, whether it passes the test. `places`: positions of the values in the vector."""
    if isinstance(predicate, BinaryOp):
        if thunk is None:
            raise LinalgError(f"{predicate.name} compares two values; pass the second as thunk=")
        if isinstance(thunk, Vector):
            others, there = arrays(thunk.to(engine.name), engine)
            there = there[places]
            passed = there.copy()
            passed[there] = engine.binary(predicate)(values[there], others[places[there]]).astype(bool)
            return passed
        bound = thunk if on_gpu(thunk) else as_array(thunk, "thunk", LinalgError)
        if bound.ndim or bound.dtype.kind not in "biuf":
            raise LinalgError(f"thunk={thunk!r} is not a number; pass a number or a Vector")
        return engine.binary(predicate)(values, engine.xp.asarray(bound)).astype(bool)
    if thunk is not None:
        raise LinalgError(f"this predicate takes one argument, so thunk={thunk!r} is unused; omit thunk=")
    if not isinstance(predicate, UnaryOp):
        predicate = UnaryOp.define(getattr(predicate, "__name__", "predicate"), predicate, "bool")
    return engine.unary(predicate)(values).astype(bool)


def joined(op: BinaryOp, left: Any, right: Any) -> Any:
    """left + right, or left * right: of two vectors or matrices, or of one and a number."""
    if isinstance(right, int | float | np.number):
        return apply(left, op, right=right)
    return (ewise_add if op is binary.plus else ewise_mult)(left, right, op)


def _operator(op: Any) -> BinaryOp:
    op = op.op if isinstance(op, Monoid) else op
    if not isinstance(op, BinaryOp) and callable(op):
        op = BinaryOp.define(getattr(op, "__name__", "function"), op)
    if not isinstance(op, BinaryOp) or op.position:
        raise LinalgError(f"{op!r} is not an operator on two values; use one such as linalg.binary.plus")
    return op
