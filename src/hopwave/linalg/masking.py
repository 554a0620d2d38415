"""Masks and write-back: w⟨m⟩ ⊙= t, which every operation ends with, written once for vectors and once for matrices.

With t the result of an operation, restricted to the places the mask lets through:

    accum given       w(i) = accum(w(i), t(i)) where both are, else the one that is
    without accum     w(i) = t(i), and no longer there where t is not
    elsewhere         w(i) stays, or goes where `replace` says so
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hopwave.engines import Algebra
from hopwave.errors import LinalgError
from hopwave.jobs import Allowed
from hopwave.linalg.matrix import Matrix, Rows
from hopwave.linalg.vector import Vector, as_vector
from hopwave.operators import BinaryOp, Monoid


@dataclass(frozen=True)
class Writing:
    """How a result is written: the keywords that every operation takes."""

    mask: Any = None
    complement: bool = False
    structural: bool = False
    accum: BinaryOp | None = None
    replace: bool = False


def writing(mask: Any, complement: bool, structural: bool, accum: Any, replace: bool, out: Any) -> Writing:
    """The keywords, checked against each other: what would be ignored is an error."""
    if mask is None and (complement or structural):
        word = "complement" if complement else "structural"
        raise LinalgError(f"{word}=True without a mask means nothing; give mask=, or leave it out")
    if isinstance(accum, Monoid):
        accum = accum.op
    if accum is not None and (not isinstance(accum, BinaryOp) or accum.position):
        raise LinalgError(f"accum={accum!r} is no operator on values; use one such as linalg.binary.plus")
    if out is None and (accum is not None or replace):
        word = "replace=True" if replace else f"accum={accum}"
        raise LinalgError(f"{word} needs something to write into; give out=")
    return Writing(mask, complement, structural, accum, replace)


def allowed_places(how: Writing, n: int, engine: Algebra) -> Allowed | None:
    """The mask as engines read it. A vector that is complemented becomes dense, once: its bits are needed all."""
    if how.mask is None:
        return None
    m = as_vector(how.mask, n, "mask").to(engine.name)
    if how.structural or m._present is m._values:
        return places_of(m, how.complement)
    if m.format == "sparse" and not how.complement:
        rows, values = m.listed()
        rows = rows[values.astype(bool)]
        return Allowed(rows=rows, ascending=m._ascending, count=len(rows))
    if m.format == "sparse":
        m._set_dense(*m.arrays(), m.nnz)
    values, present = m.arrays()
    return Allowed(bits=present & values.astype(bool), complement=how.complement)


def places_of(m: Vector, complement: bool = False) -> Allowed:
    """All the places where m has a value, or has none, whatever the values are."""
    if m.format == "sparse":
        if not complement:
            rows, _ = m.listed()
            return Allowed(rows=rows, ascending=m._ascending, count=len(rows))
        m._set_dense(*m.arrays(), m.nnz)
    _, present = m.arrays()
    count = m.count_if_known()
    if count is not None and complement:
        count = m.n - count
    return Allowed(bits=present, complement=complement, count=count)


def write(out: Vector | None, t: Vector, how: Writing, allowed: Allowed | None, engine: Algebra) -> Vector:
    """Write t, which has nothing outside the mask, into out."""
    if out is None:
        return t
    if out.n != t.n:
        raise LinalgError(f"out has {out.n} places, the result {t.n}; give one of the same length")
    if out.device != t.device:
        out.replace(out.to(t.device))
    if how.accum is None and (allowed is None or how.replace):
        return out.replace(t.astype(out.dtype))
    xp = engine.xp
    accum = None if how.accum is None else engine.binary(how.accum)
    if accum is not None and not how.replace and out.format == "dense" and t.format == "sparse":
        return _accumulate_list(out, t, accum, xp)
    t_values, t_present = t.arrays()
    values, present = out.arrays()
    outside = None if allowed is None else ~allowed.as_bits(out.n, xp)
    if accum is not None:
        both = accum(values, t_values)
        if out.nnz < out.n:
            values = xp.where(present & t_present, both, xp.where(t_present, t_values, values))
            present = present | t_present
        else:
            values = both if t.nnz == t.n else xp.where(t_present, both, values)
        if how.replace and outside is not None:
            present = present & ~outside
    else:
        values = xp.where(t_present, t_values, values)
        present = t_present | (present & outside)
    out._set_dense(values.astype(out.dtype, copy=False), present, None)
    return out


def _accumulate_list(out: Vector, t: Vector, accum: Any, xp: Any) -> Vector:
    """A few entries into a dense vector, in place."""
    places, new = t.listed()
    count = out.nnz  # before bits are set
    values, present = out.writable()
    old = values[places]
    there = present[places]
    values[places] = xp.where(there, accum(old, new), new).astype(out.dtype, copy=False)
    present[places] = True
    out._set_dense(values, present, count + len(places) - int(xp.count_nonzero(there)))
    return out


# ------------------------------------------------------------------ matrices


def keys_of(A: Matrix, xp: Any) -> Any:
    """One number an entry, ascending: row · columns + column."""
    indptr, indices, _ = A.rows
    return row_numbers(indptr, len(indices), xp) * A.shape[1] + indices


def row_numbers(indptr: Any, entries: int, xp: Any) -> Any:
    """The row of every entry."""
    if xp.__name__ == "numpy":
        return xp.repeat(xp.arange(len(indptr) - 1, dtype=xp.int64), xp.diff(indptr))
    places = xp.arange(entries, dtype=indptr.dtype)  # CuPy repeats by counts on the host alone
    return xp.searchsorted(indptr, places, side="right").astype(xp.int64, copy=False) - 1


def from_keys(keys: Any, values: Any, shape: tuple[int, int], xp: Any) -> Rows:
    """Rows again, from ascending keys."""
    rows = keys // max(shape[1], 1)
    indptr = xp.searchsorted(rows, xp.arange(shape[0] + 1)).astype(xp.int64 if len(keys) > 2**31 - 1 else xp.int32)
    return Rows(indptr, (keys - rows * shape[1]).astype(xp.int32), values)


def mask_rows(how: Writing, shape: tuple[int, int], engine: Algebra) -> Rows | None:
    """A matrix mask as a pattern: the entries that count as true."""
    from hopwave.linalg.matrix import as_matrix

    if how.mask is None:
        return None
    m = as_matrix(how.mask).to(engine.name).checked()
    if m.shape != shape:
        raise LinalgError(f"mask is {m.shape[0]} × {m.shape[1]}, the result {shape[0]} × {shape[1]}")
    if how.structural or not m.has_values:
        return m.rows._replace(values=None)
    true = m.stored_values().astype(bool)
    return from_keys(keys_of(m, engine.xp)[true], None, shape, engine.xp)


def inside(keys: Any, mask: Rows, shape: tuple[int, int], complement: bool, xp: Any) -> Any:
    """Which keys a mask lets through."""
    found = is_in(keys, keys_of(Matrix.from_rows(mask, shape), xp), xp)
    return ~found if complement else found


def is_in(keys: Any, among: Any, xp: Any) -> Any:
    """Which keys are among others, all ascending."""
    if len(among) == 0:
        return xp.zeros(len(keys), xp.bool_)
    place = xp.minimum(xp.searchsorted(among, keys), len(among) - 1)
    return among[place] == keys


def union(keys: Any, values: Any, other_keys: Any, other: Any, op: Any, dtype: Any, xp: Any) -> tuple[Any, Any]:
    """Entries of either, combined where both are; keys ascending."""
    twice, back = is_in(keys, other_keys, xp), is_in(other_keys, keys, xp)
    combined = values.astype(dtype)
    if bool(twice.any()):
        combined[twice] = op(values[twice], other[back]).astype(dtype)
    all_keys = xp.concatenate([keys, other_keys[~back]])
    all_values = xp.concatenate([combined, other[~back].astype(dtype)])
    order = xp.argsort(all_keys)
    return all_keys[order], all_values[order]


def write_matrix(out: Matrix | None, t: Matrix, how: Writing, mask: Rows | None, engine: Algebra) -> Matrix:
    """Write t, which has nothing outside the mask, over out: a new matrix, since matrices do not change."""
    if out is None:
        return t
    if out.shape != t.shape:
        raise LinalgError(f"out is {out.shape[0]} × {out.shape[1]}, the result {t.shape[0]} × {t.shape[1]}")
    if how.accum is None and (mask is None or how.replace):
        return t.astype(out.dtype) if t.dtype != out.dtype else t
    xp = engine.xp
    out = out.to(engine.name)
    keys, values = keys_of(out, xp), out.stored_values()
    t_keys, t_values = keys_of(t, xp), t.stored_values()
    if mask is not None and (how.replace or how.accum is None):
        keep = inside(keys, mask, t.shape, how.complement, xp)
        keep = keep if how.replace else ~keep
        keys, values = keys[keep], values[keep]
    op = engine.binary(how.accum) if how.accum is not None else None
    keys, values = union(keys, values, t_keys, t_values, op, out.dtype, xp)
    return Matrix.from_rows(from_keys(keys, values, t.shape, xp), t.shape)
