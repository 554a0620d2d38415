"""From two columns of edge ends to compressed sparse rows (CSR), the form in which a graph is stored.

indptr    offsets: the neighbours of vertex v are indices[indptr[v] : indptr[v + 1]]
indices   the neighbours, row after row, ascending within each row
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from hopwave.errors import GraphError

LARGEST_VERTEX_COUNT = 2**31 - 2  # vertex ids are int32
LARGEST_INT32_OFFSET = 2**31 - 1  # with more arcs than this, offsets are int64


def as_column(values: Any, name: str) -> npt.NDArray[Any]:
    """A list, an array, or a CuPy, pandas, polars or Arrow column as one NumPy array."""
    if not isinstance(values, np.ndarray):
        if hasattr(values, "__cuda_array_interface__"):
            values = values.get()  # CuPy
        elif hasattr(values, "to_pylist"):
            values = values.to_numpy(zero_copy_only=False)  # Arrow
        elif hasattr(values, "to_numpy"):
            values = values.to_numpy()  # pandas, polars
        else:
            values = _array_of(values, name)
    if values.ndim != 1:
        raise GraphError(f"{name} has {values.ndim} dimensions; give one column")
    return np.asarray(values)


def _array_of(values: Any, name: str) -> npt.NDArray[Any]:
    """A plain sequence as an array. Tuples and mixed types stay Python objects.

    NumPy alone would turn tuples into columns, and numbers beside strings into strings.
    """
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise GraphError(f"{name}={values!r} is not a column; give a list or an array with one entry per edge")
    values = list(values)
    kinds = {type(value) for value in values}
    if not values:
        return np.empty(0, np.int64)
    if all(issubclass(kind, bool | int | float | np.number | np.bool_) for kind in kinds):
        whole = [value for value in values if isinstance(value, int)]
        if whole and max(map(abs, whole)) > LARGEST_VERTEX_COUNT:
            raise GraphError(
                f"{name} holds {max(whole, key=abs)}, more than int32 ids can name; renumber sparse ids first"
            )
        return np.array(values)
    if all(issubclass(kind, str) for kind in kinds):
        return np.array(values)
    return object_array(values)


def object_array(values: Sequence[Any]) -> npt.NDArray[Any]:
    """A column of Python objects. It is filled one by one, because NumPy would unpack tuples."""
    array = np.empty(len(values), object)
    for i, value in enumerate(values):
        array[i] = value
    return array


def factorize(
    source: npt.NDArray[Any], target: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[Any]]:
    """Number the labels in the order of their first appearance, reading edge by edge.

    Returns the numbers of both ends of each edge, and the labels by number.
    """
    ends = np.empty(2 * len(source), object)
    ends[0::2], ends[1::2] = source, target
    number: dict[Any, int] = {}
    try:
        codes = np.fromiter((number.setdefault(end, len(number)) for end in ends.tolist()), np.int64, len(ends))
    except TypeError as error:
        raise GraphError(f"a label cannot be hashed ({error}); use strings, numbers or tuples") from None
    for label in number:
        if label is None or _is_missing(label):
            raise GraphError(f"{label!r} is not the label of a vertex; drop the rows that miss an end")
    return codes[0::2], codes[1::2], object_array(list(number))


def _is_missing(label: Any) -> bool:
    """Whether a label is NaN, which differs from itself, or pandas' NA, which cannot be compared at all."""
    try:
        return bool(label != label)
    except (TypeError, ValueError):
        return True


def rows_of(
    source: npt.NDArray[Any], target: npt.NDArray[Any], n: int, *, symmetric: bool, merge: bool
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32]]:
    """Offsets and ascending neighbours of n rows.

    `symmetric` adds the reverse of every arc, `merge` drops repeats. SciPy's counting sort does the work, and it adds
    up the values of repeated arcs. To merge repeats, the values are booleans, which stay True. To keep them, the values
    are counts, which say how often to write each neighbour.
    """
    source, target = source.astype(np.int32, copy=False), target.astype(np.int32, copy=False)
    if symmetric:
        back = slice(None) if merge else source != target  # a self-loop is its own reverse: stored once
        source, target = np.concatenate([source, target[back]]), np.concatenate([target, source[back]])
    ones: npt.NDArray[Any] = np.ones(len(source), np.bool_ if merge else np.int32)
    A = sp.coo_array((ones, (source, target)), shape=(n, n)).tocsr()
    indptr, indices = A.indptr, A.indices.astype(np.int32, copy=False)
    if not merge and len(indices) < len(source):
        times = A.data
        indices = np.repeat(indices, times)
        indptr = np.concatenate([[0], np.cumsum(times, dtype=np.int64)])[indptr]
    return indptr.astype(offset_type(len(indices)), copy=False), indices


def offset_type(m: int) -> type[np.int32] | type[np.int64]:
    """The narrowest integer type that can count m arcs."""
    return np.int64 if m > LARGEST_INT32_OFFSET else np.int32


def check_rows(offsets: npt.NDArray[Any], neighbours: npt.NDArray[Any], n: int) -> None:
    """Raise a GraphError unless offsets rise from 0 to the number of neighbours, and all neighbours are vertices."""
    if offsets[0] != 0 or offsets[-1] != len(neighbours) or (np.diff(offsets) < 0).any():
        raise GraphError(
            f"indptr runs from {offsets[0]} to {offsets[-1]}; it must rise from 0 to len(indices) = {len(neighbours)}"
        )
    if len(neighbours) and not (neighbours.min() >= 0 and neighbours.max() < n):
        bad = neighbours.min() if neighbours.min() < 0 else neighbours.max()
        raise GraphError(f"indices holds {bad}, which is not a vertex; vertices are 0 to {n - 1}")


def is_ascending(offsets: npt.NDArray[Any], neighbours: npt.NDArray[np.int32]) -> bool:
    """Whether every row is strictly ascending: values may fall only where a new row begins."""
    falls = np.flatnonzero(neighbours[1:] <= neighbours[:-1]) + 1
    return bool(np.isin(falls, offsets).all())


def is_symmetric(offsets: npt.NDArray[Any], neighbours: npt.NDArray[np.int32]) -> bool:
    """Whether every arc has its reverse, that is, whether the matrix equals its transpose."""
    n = len(offsets) - 1
    ones = np.ones(len(neighbours), np.bool_)
    turned = sp.csr_array((ones, neighbours, offsets), shape=(n, n)).tocsc()
    return bool(np.array_equal(turned.indptr, offsets) and np.array_equal(turned.indices, neighbours))
