"""Sums over a monoid: of all values of a vector or matrix, or of every row or column."""

from __future__ import annotations

from typing import Any

import numpy as np

from hopwave.algebra.matrix import Matrix, as_matrix
from hopwave.algebra.operators import BinaryOp, Monoid, binary, monoid
from hopwave.algebra.semiring import Semiring
from hopwave.algebra.vector import Vector
from hopwave.checks.numbers import is_whole
from hopwave.errors import LinalgError
from hopwave.linalg.elementwise import is_table
from hopwave.linalg.engine import choose, compiling
from hopwave.linalg.formats import arrays, listed
from hopwave.linalg.products import mxv


@compiling
def reduce(u: Any, add: Any = monoid.plus, *, axis: int | None = None, device: str = "auto") -> Any:
    """⊕ of all values of a vector or matrix, or of every row (axis=1) or column (axis=0) of a matrix.

    The sum of no values is the monoid's identity; a row or column without entries has no sum.

    Parameters
    ----------
    u : Vector or Matrix
    add : Monoid or BinaryOp, optional
        ⊕.
    axis : {None, 0, 1}, optional
        None: one sum of all values. 0: one per column. 1: one per row.
    device
        As for `mxv`.

    Returns
    -------
    number or Vector
        One sum, or one for every row or column that has entries.

    See Also
    --------
    apply, mxv

    Examples
    --------
    >>> A = la.Matrix.from_dense([[1, 2], [0, 4]])
    >>> la.reduce(A), la.reduce(A, la.monoid.max, axis=1).to_dict()
    (7, {0: 2, 1: 4})
    """
    if axis is not None and (not is_whole(axis) or axis not in (0, 1)):
        raise LinalgError(f"axis={axis!r} is not known; use 0 for every column, 1 for every row, or None for all")
    if isinstance(add, BinaryOp):
        known = monoid.get(add.name)
        if known is None or known.op is not add:
            raise LinalgError(f"{add.name} has no known identity; give a Monoid, such as Monoid({add.name}, 0)")
        add = known
    if not isinstance(add, Monoid):
        raise LinalgError(f"{add!r} is not a monoid; use one of linalg.monoid, such as linalg.monoid.plus")
    engine = choose(device, u)
    if axis is not None:
        if not is_table(u):
            raise LinalgError(f"axis={axis} is for matrices; leave it out for a vector")
        A = as_matrix(u)
        A = A if axis == 1 else A.T
        ones = Vector.full(A.shape[1], True, device=engine.name)
        ring = Semiring(f"{add.name}_first", add, binary.first)
        return mxv(A, ones, ring, direction="pull", device=engine.name)
    values = (u if isinstance(u, Vector) else as_matrix(u)).to(engine.name)
    if isinstance(values, Matrix):
        array = values.stored_values()
    else:
        array = arrays(values, engine)[0] if values.nnz == values.n else listed(values, engine)[1]
    kind = add.sum_type(np.dtype(array.dtype))
    return engine.reduce(add, array, kind) if len(array) else add.identity(kind)
