"""By place: assign values to some places of a vector, extract some places of a vector or some rows of a matrix."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from hopwave.algebra.matrix import Matrix, as_matrix
from hopwave.algebra.operators import BinaryOp, refuse_masked
from hopwave.algebra.vector import Vector, as_vector
from hopwave.arrays import checked_places, on_gpu
from hopwave.engines import Algebra
from hopwave.errors import LinalgError
from hopwave.graph.row_operations import keys_of
from hopwave.linalg.masking import (
    Writes,
    Writing,
    allowed_places,
    arrays,
    choose,
    is_table,
    let_through,
    writable,
    write,
    write_entries,
    writing,
)
from hopwave.planning.jobs import Allowed


def assign(
    w: Vector, value: Any, indices: Any = None, *, mask: Any = None, complement: bool = False,
    structural: bool = False, accum: Any = None, replace: bool = False, device: str = "auto",
) -> Vector:  # fmt: skip
    """w⟨mask⟩(indices) ⊙= value: a number for all of these places, or a vector with one entry for each. Returns w.

    Without `indices`, all places. If an index appears twice, the last value counts; with accum, all values do.

    Parameters
    ----------
    w : Vector
        Vector to write to.
    value : number or Vector
        Value to write.
    indices : array of int, optional
        Places; by default all.

    Examples
    --------
    >>> depth = la.Vector(4, "int32")
    >>> la.assign(depth, 0, [2]).to_dict()
    {2: 0}
    >>> la.assign(depth, 1, mask=la.Vector.from_entries([1, 3], True, n=4)).to_dense(-1).tolist()
    [-1, 1, 0, 1]
    """
    if not isinstance(w, Vector):
        raise LinalgError(
            f"assign writes to a Vector, not {type(w).__name__}; a Matrix never changes: make another one"
        )
    how = writing(out=w, mask=mask, complement=complement, structural=structural, accum=accum, replace=replace)
    engine = choose(device, w, value, mask)
    if w.device != ("cuda" if engine.name == "cuda" else "cpu"):
        w.replace(w.to(engine.name))
    allowed = allowed_places(how, w.n, engine)
    scalar = not isinstance(value, Vector | list | tuple) and np.ndim(value) == 0
    if scalar and not on_gpu(value):
        _check_number(value, w.dtype)
    if scalar and indices is None and how.accum is None and not how.replace and allowed is not None:
        return fill(w, value, allowed, engine)
    places, xp = _places(indices, w.n, engine), engine.xp
    count = w.n if places is None else len(places)
    if scalar:
        u = Vector.dense(xp.full(count, value, w.dtype), xp.ones(count, xp.bool_), count)
    else:
        u = as_vector(value, count, "value").to(engine.name)
    return _assign_list(w, u, places, how, allowed, engine)


def _check_number(value: Any, dtype: np.dtype[Any]) -> None:
    """Raise a LinalgError unless the type can hold this number (whole types: after rounding towards 0)."""
    refuse_masked(value=value)
    if np.asarray(value).dtype.kind not in "biuf":
        raise LinalgError(f"{value!r} is not a number of 64 bits; give one, or a vector")
    if dtype.kind == "i" and not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
        raise LinalgError(f"{value!r} does not fit {dtype}; give a smaller number, or a vector of another type")


def fill(w: Vector, value: Any, allowed: Allowed, engine: Algebra) -> Vector:
    """Write one number at every place that the mask allows, in place."""
    values, present = writable(w, engine)
    w._set_dense(values, present, engine.fill(values, present, allowed, value))
    return w


def _places(indices: Any, n: int, engine: Algebra) -> Any:
    """Checked places, or None for all."""
    if indices is None:
        return None
    xp = engine.xp
    places = checked_places(indices.indices if isinstance(indices, Vector) else indices, "indices", xp)
    if len(places) and not (int(places.min()) >= 0 and int(places.max()) < n):
        raise LinalgError(f"indices run from {int(places.min())} to {int(places.max())}; places are 0 to {n - 1}")
    return places.astype(xp.int32, copy=False)


def _assign_list(w: Vector, u: Vector, places: Any, how: Writing, allowed: Allowed | None, engine: Algebra) -> Vector:
    xp = engine.xp
    if places is None:
        return write(let_through(u.copy(), allowed, engine), how, allowed, engine)
    region = xp.zeros(w.n, xp.bool_)
    region[places] = True
    let = None if allowed is None else allowed.as_bits(w.n, xp)
    if let is not None:
        region &= let
    values, present = writable(w, engine)
    new, there = arrays(u, engine)
    there = there & region[places]
    to, new = places[there], new[there].astype(w.dtype, copy=False)
    if how.replace and let is not None:
        present &= let  # before w is written to, because the mask may be w itself
    if how.accum is None:
        present &= ~region
        values[to] = new
        present[to] = True
    else:
        wide = np.result_type(w.dtype, how.accum.result_type(w.dtype, w.dtype))  # bool − bool is a whole number
        sums = values.astype(wide, copy=False)
        _accumulate(how.accum, sums, present, to, new.astype(wide, copy=False), engine)
        if sums is not values:
            values[to] = sums[to].astype(w.dtype)
    w._set_dense(values, present, None)
    return w


def _accumulate(op: BinaryOp, values: Any, present: Any, places: Any, new: Any, engine: Algebra) -> None:
    """values[p] = op(values[p], new) for every place p in turn; an empty place takes its first new value."""
    xp = engine.xp
    missing = xp.flatnonzero(~present[places])
    if len(missing):
        at = places[missing]
        first = missing[xp.unique(at, return_index=True)[1]]
        values[places[first]] = new[first]
        present[places[first]] = True
        keep = xp.ones(len(places), xp.bool_)
        keep[first] = False
        places, new = places[keep], new[keep]
    engine.scatter(op, values, places, new)


def extract(u: Any, indices: Any = None, columns: Any = None, *, device: str = "auto", **how: Unpack[Writes]) -> Any:
    """out⟨mask⟩ ⊙= u(indices). Of a matrix: the rows `indices` and the columns `columns`, none of them repeated.

    Parameters
    ----------
    u : Vector or Matrix
        Vector or matrix to read.
    indices : array of int, optional
        The places, or the rows; by default all.
    columns : array of int, optional
        The columns of a matrix; by default all.

    Returns
    -------
    Vector or Matrix
        As the operand.

    Examples
    --------
    >>> la.extract(la.Vector.from_dense([10, 20, 30]), [2, 2, 0]).to_dict()
    {0: 30, 1: 30, 2: 10}
    >>> la.extract(la.Matrix.from_dense([[1, 2], [3, 4]]), [1], [0, 1]).to_dense().tolist()
    [[3, 4]]
    """
    writes, engine = writing(**how), choose(device, u)
    if is_table(u):
        A = as_matrix(u).to(engine.name).checked()
        keys, values, shape = _submatrix(
            A, _places(indices, A.shape[0], engine), _places(columns, A.shape[1], engine), engine.xp
        )
        return write_entries(keys, values, shape, writes, engine)
    if columns is not None:
        raise LinalgError("columns= is for matrices; a vector's places are its indices")
    u = as_vector(u, None, "u").to(engine.name)
    places = _places(indices, u.n, engine)
    if places is None:
        t = u.copy()
    else:
        values, present = arrays(u, engine)
        t = Vector.dense(values[places], present[places])
    allowed = allowed_places(writes, t.n, engine)
    return write(let_through(t, allowed, engine), writes, allowed, engine)


def _submatrix(A: Matrix, rows: Any, columns: Any, xp: Any) -> tuple[Any, Any, tuple[int, int]]:
    """Keys and values of some rows and columns, in the order they were named."""
    keys, values = keys_of(A.rows, A.shape[1], xp), A.stored_values() if A.has_values else None
    i, j = keys // max(A.shape[1], 1), keys % max(A.shape[1], 1)
    shape = (A.shape[0] if rows is None else len(rows), A.shape[1] if columns is None else len(columns))
    keep = xp.ones(len(keys), xp.bool_)
    new = []
    for place, chosen, size in ((i, rows, A.shape[0]), (j, columns, A.shape[1])):
        if chosen is None:
            new.append(place)
            continue
        number: npt.NDArray[Any] = xp.full(size, -1, xp.int64)
        number[chosen] = xp.arange(len(chosen))
        if bool((number[chosen] != xp.arange(len(chosen))).any()):
            raise LinalgError("a row or column is named twice; name each once")
        new.append(number[place])
        keep &= number[place] >= 0
    keys = (new[0] * shape[1] + new[1])[keep]
    order = xp.argsort(keys)
    return keys[order], None if values is None else values[keep][order], shape
