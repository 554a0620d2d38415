"""First and last steps of every operation (engine, formats, writing w⟨m⟩ ⊙= t); assign and extract.

t is the result of an operation. At positions i that the mask m allows:

    accum given       w(i) = accum(w(i), t(i)) if both have a value, else the only value, if any;
                      t(i) is converted to the type of w first, as in python-graphblas
    without accum     w(i) = t(i), and no value if t(i) has none

At other positions w(i) is unchanged, or removed with `replace`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypedDict, TypeVar, Unpack, cast

import numpy as np
import numpy.typing as npt

from hopwave.algebra.matrix import Matrix, as_matrix
from hopwave.algebra.operators import BinaryOp, Monoid, refuse_masked
from hopwave.algebra.vector import Format, Vector, as_vector
from hopwave.arrays import Array, checked_places, on_gpu
from hopwave.checks.keywords import shared
from hopwave.checks.options import flag
from hopwave.engines import Algebra, algebra
from hopwave.errors import EngineError, LinalgError
from hopwave.graph.csr import Rows
from hopwave.graph.row_operations import from_keys, inside, keys_of, union
from hopwave.planning.jobs import Allowed

P = ParamSpec("P")
R = TypeVar("R")


# ------------------------------------------------------------------ engines and formats


def choose(device: str, *operands: Any) -> Algebra:
    """The engine for these operands: the engine of their device, unless `device` names one."""
    if not isinstance(device, str):
        raise EngineError(f"device {device!r} is not known; use 'auto', 'cuda', 'cpu' or 'reference'")
    if device == "auto":
        device = "cuda" if any(getattr(operand, "device", None) == "cuda" for operand in operands) else "cpu"
    return algebra(device)


def compiling(operation: Callable[P, R]) -> Callable[P, R]:
    """Decorates an operation that may compile a user's function: Numba's errors become LinalgErrors."""

    @wraps(operation)
    def explained(*given: P.args, **more: P.kwargs) -> R:
        try:
            return operation(*given, **more)
        except Exception as error:
            if not type(error).__module__.startswith("numba."):
                raise
            said = (line.strip() for line in str(error).splitlines())
            reason = next((line for line in said if line and not line.startswith("Failed in ")), type(error).__name__)
            raise LinalgError(
                f"the function for {operation.__name__} cannot be compiled ({reason}); use numbers, arithmetic and "
                "functions compiled with numba.njit, or device='reference', which accepts any function"
            ) from error

    return explained


def listed(x: Vector, engine: Algebra) -> tuple[Array, Array]:
    """Positions and values, in no particular order; not copied if the vector is sparse."""
    return x.listed() if x.format == "sparse" else engine.collect(*x.arrays())[:2]


def arrays(x: Vector, engine: Algebra) -> tuple[Array, Array]:
    """n values and n bits, not copied if the vector is dense. Values without a bit are arbitrary."""
    return x.arrays() if x.format == "dense" else engine.spread(x.n, *x.listed())


def writable(x: Vector, engine: Algebra) -> tuple[Array, Array]:
    """Like `arrays`, but safe to write to: two distinct writable arrays that do not belong to the caller."""
    values, present = arrays(x, engine)
    if x.format == "sparse":
        return values, present
    if x._borrowed:
        return values.copy(), present.copy()
    if values is present or not getattr(values.flags, "writeable", True):
        values = values.copy()
    return values, present if getattr(present.flags, "writeable", True) else present.copy()


def convert(x: Vector, to: Format, engine: Algebra) -> None:
    """Convert the vector to this format in place."""
    if to == x.format:
        return
    if to == "dense":
        x._set_dense(*arrays(x, engine), x._count)
    else:
        x._set_sparse(*engine.collect(*x.arrays()))


def is_table(u: Any) -> bool:
    """Whether an operand is a Matrix, a Graph, or a sparse matrix of SciPy or CuPy."""
    return not isinstance(u, Vector) and (isinstance(u, Matrix) or hasattr(u, "indptr") or hasattr(u, "tocsr"))


# ------------------------------------------------------------------ masks


class Writes(TypedDict, total=False):
    """The keywords of every operation that control writing the result, for type checkers."""

    out: Any
    mask: Any
    complement: bool
    structural: bool
    accum: Any
    replace: bool


@shared("Writes")
class Writing(NamedTuple):
    """The keywords of `Writes` with their defaults."""

    out: Any = None
    mask: Any = None
    complement: bool = False
    structural: bool = False
    accum: BinaryOp | None = None
    replace: bool = False


def writing(given: Writing | None = None, **keywords: Any) -> Writing:
    """The keywords as a record, with an operator for `accum`; raises a LinalgError if one of them would be ignored."""
    given = Writing(**keywords) if given is None else given
    out, mask, accum = given.out, given.mask, cast(Any, given.accum)
    complement, structural, replace = (
        flag(name, getattr(given, name), LinalgError) for name in ("complement", "structural", "replace")
    )
    if out is not None and not isinstance(out, Vector | Matrix):
        raise LinalgError(f"out={out!r:.60} is neither a Vector nor a Matrix; pass one to write to, or None")
    if mask is None and (complement or structural):
        word = "complement" if complement else "structural"
        raise LinalgError(f"{word}=True needs a mask; pass mask=, or omit {word}=")
    if isinstance(accum, Monoid):
        accum = accum.op
    if accum is not None and (not isinstance(accum, BinaryOp) or accum.position):
        raise LinalgError(f"accum={accum!r} is not an operator on two values; use one such as linalg.binary.plus")
    if out is None and (accum is not None or replace):
        word = "replace=True" if replace else f"accum={accum}"
        raise LinalgError(f"{word} needs a result to write to; pass out=")
    return Writing(out, mask, complement, structural, accum, replace)


def allowed_places(how: Writing, n: int, engine: Algebra) -> Allowed | None:
    """The mask in the engines' format. A complemented mask becomes dense, because all of its bits are needed."""
    if how.mask is None:
        return None
    m = as_vector(how.mask, n, "mask").to(engine.name)
    return places_of(m, engine, how.complement, how.structural or m._present is m._values)


def places_of(m: Vector, engine: Algebra, complement: bool = False, structural: bool = True) -> Allowed:
    """The positions where m has a value (a true one, unless `structural`), or with `complement` all others."""
    if m.format == "sparse" and not complement:
        rows, values = m.listed()
        rows = rows if structural else rows[values.astype(bool)]
        return Allowed(rows=rows, ascending=m._ascending, count=len(rows))
    convert(m, "dense", engine)
    values, present = m.arrays()
    if not structural:
        return Allowed(bits=present & values.astype(bool), complement=complement)
    count = m.count_if_known()
    if count is not None and complement:
        count = m.n - count
    return Allowed(bits=present, complement=complement, count=count)


def write(t: Vector, how: Writing, allowed: Allowed | None, engine: Algebra) -> Vector:
    """Write t into how.out. t has no entries outside the mask."""
    out: Vector | None = how.out
    if out is None:
        return t
    if not isinstance(out, Vector):
        raise LinalgError("out is a matrix, but the result is a vector; pass a Vector")
    if out.n != t.n:
        raise LinalgError(f"out has length {out.n}, but the result has length {t.n}; pass a vector of length {t.n}")
    if out.device != t.device:
        out.replace(out.to(t.device))
    if t.dtype != out.dtype:
        t = t.astype(out.dtype)
    if how.accum is None and (allowed is None or how.replace):
        return out.replace(t)
    xp = engine.xp
    accum = None if how.accum is None else engine.binary(how.accum)
    if accum is not None and not how.replace and out.format == "dense" and t.format == "sparse":
        return _accumulate_list(out, t, accum, engine)
    t_values, t_present = arrays(t, engine)
    values, present = arrays(out, engine)
    if out._borrowed:
        present = present.copy()
    outside = None if allowed is None else ~allowed.as_bits(out.n, xp)
    if accum is not None and out.nnz == out.n and t.nnz == t.n:
        values = accum(values, t_values).astype(out.dtype, copy=False)
    else:  # values without a bit are arbitrary and not combined: they could cause NumPy warnings
        new, kept = xp.flatnonzero(t_present), values
        values = kept.copy()
        values[new] = t_values[new]
        if accum is not None:
            both = xp.flatnonzero(present & t_present)
            values[both] = accum(kept[both], t_values[both]).astype(out.dtype, copy=False)
            present = present | t_present
        else:
            present = t_present | (present & outside)
    if accum is not None and how.replace and outside is not None:
        present = present & ~outside
    out._set_dense(values, present, None)
    return out


def _accumulate_list(out: Vector, t: Vector, accum: Any, engine: Algebra) -> Vector:
    """Accumulate a list into a dense vector, in place."""
    xp = engine.xp
    places, new = t.listed()
    count = out.nnz  # before bits are set
    values, present = writable(out, engine)
    there = present[places]
    at = places[there]
    combined = accum(values[at], new[there]).astype(out.dtype, copy=False)
    values[places] = new
    values[at] = combined
    present[places] = True
    out._set_dense(values, present, count + len(places) - int(xp.count_nonzero(there)))
    return out


def let_through(t: Vector, allowed: Allowed | None, engine: Algebra) -> Vector:
    """The entries of t that the mask allows."""
    if allowed is None:
        return t
    bits = allowed.as_bits(t.n, engine.xp)
    if t.format == "sparse":
        places, values = t.listed()
        keep = bits[places]
        return Vector.sparse(t.n, places[keep], values[keep], ascending=t._ascending)._follow(t)
    values, present = t.arrays()
    return Vector.dense(values, present & bits)._follow(t)


# ------------------------------------------------------------------ matrices


def mask_rows(how: Writing, shape: tuple[int, int], engine: Algebra) -> Rows | None:
    """A matrix mask as a pattern: the entries that count as true."""
    if how.mask is None:
        return None
    m = as_matrix(how.mask).to(engine.name).checked()
    if m.shape != shape:
        problem = f"mask is {m.shape[0]} × {m.shape[1]}, but the result is {shape[0]} × {shape[1]}"
        raise LinalgError(f"{problem}; the shapes must match")
    if how.structural or not m.has_values:
        return m.rows._replace(values=None)
    true = m.stored_values().astype(bool)
    return from_keys(keys_of(m.rows, shape[1], engine.xp)[true], None, shape, engine.xp)


def write_matrix(t: Matrix, how: Writing, mask: Rows | None, engine: Algebra) -> Matrix:
    """how.out with t written over it, as a new matrix (matrices are immutable). t has no entries outside the mask."""
    out: Matrix | None = how.out
    if out is None:
        return t
    if not isinstance(out, Matrix):
        raise LinalgError("out is a vector, but the result is a matrix; pass a Matrix")
    if out.shape != t.shape:
        problem = f"out is {out.shape[0]} × {out.shape[1]}, but the result is {t.shape[0]} × {t.shape[1]}"
        raise LinalgError(f"{problem}; shapes must match")
    if t.dtype != out.dtype:
        t = t.astype(out.dtype)
    if how.accum is None and (mask is None or how.replace):
        return t
    xp, columns = engine.xp, t.shape[1]
    out = out.to(engine.name)
    keys, values = keys_of(out.rows, columns, xp), out.stored_values()
    t_keys, t_values = keys_of(t.rows, columns, xp), t.stored_values()
    if mask is not None and (how.replace or how.accum is None):
        keep = inside(keys, mask, columns, how.complement, xp)
        keep = keep if how.replace else ~keep
        keys, values = keys[keep], values[keep]
    op = engine.binary(how.accum) if how.accum is not None else None
    keys, values = union(keys, values, t_keys, t_values, op, out.dtype, xp)
    return Matrix.from_rows(from_keys(keys, values, t.shape, xp), t.shape)


def write_entries(keys: Any, values: Any, shape: tuple[int, int], how: Writing, engine: Algebra) -> Matrix:
    """Write those entries with these keys that the mask allows."""
    mask = mask_rows(how, shape, engine)
    if mask is not None:
        keep = inside(keys, mask, shape[1], how.complement, engine.xp)
        keys, values = keys[keep], None if values is None else values[keep]
    return write_matrix(Matrix.from_rows(from_keys(keys, values, shape, engine.xp), shape), how, mask, engine)


# ------------------------------------------------------------------ by position


def assign(
    w: Vector, value: Any, indices: Any = None, *, mask: Any = None, complement: bool = False,
    structural: bool = False, accum: Any = None, replace: bool = False, device: str = "auto",
) -> Vector:  # fmt: skip
    """w⟨mask⟩(indices) ⊙= value: a number for all of these positions, or a vector with one entry for each. Returns w.

    Without `indices`, all positions. If an index occurs twice, the last value is written; with accum, all values count.

    Parameters
    ----------
    w : Vector
        Vector to write to.
    value : number or Vector
        Value to write.
    indices : array of int, optional
        Positions to write; by default all.

    Examples
    --------
    >>> depth = la.Vector(4, "int32")
    >>> la.assign(depth, 0, [2]).to_dict()
    {2: 0}
    >>> la.assign(depth, 1, mask=la.Vector.from_entries([1, 3], True, n=4)).to_dense(-1).tolist()
    [-1, 1, 0, 1]
    """
    if not isinstance(w, Vector):
        raise LinalgError(f"assign writes to a Vector, not {type(w).__name__}; a Matrix is immutable: build a new one")
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
    """Raise a LinalgError unless the type can hold this number (integer types: after rounding towards 0)."""
    refuse_masked(value=value)
    if np.asarray(value).dtype.kind not in "biuf":
        raise LinalgError(f"{value!r} is not a 64-bit number; pass one, or a vector")
    held: Any = np.iinfo(dtype) if dtype.kind == "i" else np.finfo(dtype if dtype.kind == "f" else float)
    number = np.asarray(value).item()  # comparing a NumPy scalar could overflow
    if not int(held.min) <= number <= int(held.max) and (dtype.kind == "i" or np.isfinite(number)):
        raise LinalgError(f"{value!r} does not fit {dtype}; pass a smaller number, or use a vector of another type")


def fill(w: Vector, value: Any, allowed: Allowed, engine: Algebra) -> Vector:
    """Write one number at every position that the mask allows, in place."""
    values, present = writable(w, engine)
    w._set_dense(values, present, engine.fill(values, present, allowed, value))
    return w


def _places(indices: Any, n: int, engine: Algebra) -> Any:
    """Checked positions, or None for all."""
    if indices is None:
        return None
    xp = engine.xp
    places = checked_places(indices.indices if isinstance(indices, Vector) else indices, "indices", xp)
    if len(places) and not (int(places.min()) >= 0 and int(places.max()) < n):
        raise LinalgError(f"indices range from {int(places.min())} to {int(places.max())}; valid are 0 to {n - 1}")
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
        wide = np.result_type(w.dtype, how.accum.result_type(w.dtype, w.dtype))  # bool − bool is an integer
        sums = values.astype(wide, copy=False)
        _accumulate(how.accum, sums, present, to, new.astype(wide, copy=False), engine)
        if sums is not values:
            values[to] = sums[to].astype(w.dtype)
    w._set_dense(values, present, None)
    return w


def _accumulate(op: BinaryOp, values: Any, present: Any, places: Any, new: Any, engine: Algebra) -> None:
    """values[p] = op(values[p], new) for every position p in turn; an empty position gets its first new value."""
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
    """out⟨mask⟩ ⊙= u(indices). For a matrix, the rows `indices` and the columns `columns`, without repeats.

    Parameters
    ----------
    u : Vector or Matrix
        Vector or matrix to read.
    indices : array of int, optional
        The positions of a vector or the rows of a matrix; by default all.
    columns : array of int, optional
        The columns of a matrix; by default all.

    Returns
    -------
    Vector or Matrix
        Same type as the operand.

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
        raise LinalgError("columns= is only for matrices; for a vector, pass only indices")
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
    """Keys and values of some rows and columns, in the given order."""
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
            raise LinalgError("a row or column is listed twice; list each once")
        new.append(number[place])
        keep &= number[place] >= 0
    keys = (new[0] * shape[1] + new[1])[keep]
    order = xp.argsort(keys)
    return keys[order], None if values is None else values[keep][order], shape
