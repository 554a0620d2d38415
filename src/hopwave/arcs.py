"""From two columns of edge ends, as people bring them, to the sorted rows that a graph keeps."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from hopwave.errors import GraphError

LARGEST_VERTEX_COUNT = 2**31 - 2


def as_column(values: Any, name: str) -> npt.NDArray[Any]:
    """One NumPy array out of a list, an array, or a CuPy, pandas, polars or Arrow column."""
    if not isinstance(values, np.ndarray):
        if hasattr(values, "get") and hasattr(values, "__cuda_array_interface__"):
            values = values.get()  # CuPy
        elif hasattr(values, "to_numpy"):
            values = values.to_numpy()  # pandas, polars, Arrow
        else:
            values = list(values) if not isinstance(values, list | tuple | range) else values
            kind = {type(value) for value in values}
            # np.array would turn [1, "b"] into strings and unpack tuples: such columns stay objects.
            plain = all(issubclass(k, bool | int | float | np.number | np.bool_) for k in kind)
            if plain or (kind and all(issubclass(k, str) for k in kind)):
                values = np.array(values) if len(values) else np.empty(0, np.int64)
            else:
                column = np.empty(len(values), object)
                for i, value in enumerate(values):
                    column[i] = value
                values = column
    if values.ndim != 1:
        raise GraphError(f"{name} has {values.ndim} dimensions; give one column")
    return np.asarray(values)


def whole_numbers(values: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    """The column as integers; whole floats (what pandas makes of integers beside missing values) are taken too."""
    kind = values.dtype.kind
    if kind == "i" or (kind == "u" and values.dtype.itemsize < 8):
        return values
    if kind == "u":
        if len(values) and int(values.max()) > LARGEST_VERTEX_COUNT:
            raise GraphError(f"{name} holds {values.max()}, more than int32 ids can name; renumber sparse ids first")
        return values.astype(np.int64)
    if kind == "f":
        if not np.isfinite(values).all():
            raise GraphError(f"{name} holds NaN or infinity; drop the rows that miss an end")
        whole = values.astype(np.int64)
        if not np.array_equal(whole, values):
            bad = values[whole != values][0]
            raise GraphError(f"{name} holds {bad}, which is no whole number; vertices are numbered 0, 1, 2, …")
        return whole
    if len(values) == 0:
        return values.astype(np.int64)
    raise GraphError(f"{name} holds {values.dtype}; vertices are whole numbers, strings or other labels")


def factorize(
    source: npt.NDArray[Any], target: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[Any]]:
    """Numbers for labels, in the order of first appearance, reading edge by edge."""
    ends = np.empty(2 * len(source), object)
    ends[0::2], ends[1::2] = source, target
    number: dict[Any, int] = {}
    try:
        codes = np.fromiter((number.setdefault(end, len(number)) for end in ends.tolist()), np.int64, len(ends))
    except TypeError as error:
        raise GraphError(f"a label cannot be hashed ({error}); use strings, numbers or tuples") from None
    for label in number:
        if label is None or label != label:  # None, NaN and pandas' NA are missing values
            raise GraphError(f"{label!r} stands where a vertex should; drop the rows that miss an end")
    labels = np.empty(len(number), object)
    labels[:] = list(number) if all(isinstance(x, str) for x in number) else [None] * len(number)
    if labels.size and labels[0] is None:
        for label, i in number.items():
            labels[i] = label
    return codes[0::2], codes[1::2], labels


def rows_of(
    source: npt.NDArray[Any], target: npt.NDArray[Any], n: int, *, symmetric: bool, merge: bool
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32]]:
    """Offsets and ascending neighbours of n rows; with every arc's reverse when symmetric, without repeats when merged.

    SciPy's counting sort does the work. It adds up the values of repeats: bits stay bits when they are merged, and
    counts say how often each neighbour is to be written when they are kept.
    """
    source, target = source.astype(np.int32, copy=False), target.astype(np.int32, copy=False)
    if symmetric:
        back = slice(None) if merge else source != target  # a self-loop is its own reverse, and stands once
        source, target = np.concatenate([source, target[back]]), np.concatenate([target, source[back]])
    ones: npt.NDArray[Any] = np.ones(len(source), np.bool_ if merge else np.int32)
    A = sp.coo_array((ones, (source, target)), shape=(n, n)).tocsr()
    indptr, indices = A.indptr, A.indices.astype(np.int32, copy=False)
    if not merge and len(indices) < len(source):
        times = A.data
        indices = np.repeat(indices, times)
        indptr = np.concatenate([[0], np.cumsum(times, dtype=np.int64)])[indptr]
    wide = np.int64 if len(indices) > np.iinfo(np.int32).max else np.int32
    return indptr.astype(wide, copy=False), indices
