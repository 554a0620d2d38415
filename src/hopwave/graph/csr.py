"""Builds compressed sparse rows (CSR), the form in which a graph is stored, from two columns of endpoints."""

import sys
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from hopwave.arrays import Array, module_of
from hopwave.errors import GraphError, gpu_part

LARGEST_VERTEX_COUNT = 2**31 - 2
LARGEST_INT32_OFFSET = 2**31 - 1  # above this number of arcs, offsets are int64
# Minimum edges for which the compiled builder is faster than SciPy's, including the import of Numba.
COMPILED_FROM = 2_000_000
COMPILED_FROM_IF_LOADED = 200_000
# Minimum entries for which SciPy's counting sort is faster than NumPy's sorts, including the import of SciPy.
SCIPY_FROM = 1_000_000
SCIPY_FROM_IF_LOADED = 20_000

Combine = Literal["min", "max", "sum", "first"]
COMBINE = get_args(Combine)


class Rows(NamedTuple):
    """Compressed sparse rows: the columns of row i are indices[indptr[i] : indptr[i + 1]], ascending and unique."""

    indptr: Array
    indices: Array  # int32
    values: Array | None = None  # weights of a graph, parallel to indices; None if every entry counts as 1 (True)

    def each(self, change: Callable[[Array], Array]) -> "Rows":
        """The rows with each array changed by this function, for example copied to another device."""
        return Rows(*(None if part is None else change(part) for part in self))


class Conflict(Exception):
    """Repeated edges have different weights, but `combine` is None. `args`: the row and the neighbour."""


# Builders of rows from columns, by device: columns.py adds the builder of the CPU; that of the GPU is cuda/build.py.
builders: dict[str, Callable[[], Any]] = {"cuda": lambda: gpu_part("build")}
ASK_FROM = 1 << 27  # minimum arcs for a query of free GPU memory: fewer always fit, and a query costs a small search


def is_compiled_faster(edges: int) -> bool:
    """Whether compiled code is faster than NumPy and SciPy for that many edges, including imports."""
    return edges >= (COMPILED_FROM_IF_LOADED if "numba" in sys.modules else COMPILED_FROM)


def rows_of(
    source: npt.NDArray[Any],
    target: npt.NDArray[Any],
    n: int,
    *,
    symmetric: bool,
    merge: bool,
    weights: npt.NDArray[Any] | None = None,
    combine: str | None = None,
) -> Rows:
    """The n rows of these arcs. `symmetric` adds the reverse of every arc, `merge` stores repeated arcs once.

    `combine` selects the weight of a merged arc (sums follow the order of the edges); if it is None, different weights
    raise a Conflict.
    """
    if is_compiled_faster(len(source)):
        from hopwave.graph.csr_compiled import sorted_rows

        indptr, indices, kept, place = sorted_rows(
            source, target, n, symmetric=symmetric, merge=merge, weights=weights, combine=combine
        )
        if place >= 0:
            raise Conflict(row_of(indptr, place), int(indices[place]))
        return Rows(indptr.astype(offset_type(len(indices)), copy=False), indices, kept)
    if weights is None and by_scipy(len(source)):
        return _counted(source, target, n, symmetric, merge)
    # A stable sort of row · n + neighbour. An edge and its reverse have the same position in the input.
    source, target = source.astype(np.int64, copy=False), target.astype(np.int64, copy=False)
    keys, edge = source * n + target, np.arange(len(source))
    if symmetric:
        back = np.flatnonzero(source != target)
        keys, edge = np.concatenate([keys, (target * n + source)[back]]), np.concatenate([edge, back])
    if weights is None:
        keys.sort()
    else:
        order = np.lexsort((edge, keys)) if symmetric else np.argsort(keys, kind="stable")
        keys, weights = keys[order], weights[edge[order]]
    if merge and len(keys):
        begins = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
        if weights is not None and len(begins) < len(keys):
            first = weights[begins]
            if combine is None:
                lengths = np.diff(np.append(begins, len(keys)))
                differ = np.flatnonzero(weights != np.repeat(first, lengths))
                if len(differ):
                    raise Conflict(*divmod(int(keys[differ[0]]), n))
            weights = first if combine in (None, "first") else _REDUCE[combine](weights, begins)
        keys = keys[begins]
    indptr = np.zeros(n + 1, offset_type(len(keys)))
    np.cumsum(np.bincount(keys // n, minlength=n) if n else [], out=indptr[1:])
    indices = (keys % n).astype(np.int32) if n else np.empty(0, np.int32)
    return Rows(indptr, indices, weights)


def by_scipy(entries: int) -> bool:
    """Whether SciPy sorts this number of entries faster than NumPy."""
    return entries >= (SCIPY_FROM_IF_LOADED if "scipy.sparse" in sys.modules else SCIPY_FROM)


def _counted(source: npt.NDArray[Any], target: npt.NDArray[Any], n: int, symmetric: bool, merge: bool) -> Rows:
    """Rows by SciPy's counting sort, which adds up values of repeats: bools merge them, counts preserve them."""
    import scipy.sparse as sp

    source, target = source.astype(np.int32, copy=False), target.astype(np.int32, copy=False)
    if symmetric:
        back = slice(None) if merge else source != target  # a self-loop is its own reverse, and is stored once
        source, target = np.concatenate([source, target[back]]), np.concatenate([target, source[back]])
    ones: npt.NDArray[Any] = np.ones(len(source), np.bool_ if merge else np.int32)
    A = sp.coo_array((ones, (source, target)), shape=(n, n)).tocsr()
    indptr, indices = A.indptr, A.indices.astype(np.int32, copy=False)
    if not merge and len(indices) < len(source):
        times = A.data
        indices = np.repeat(indices, times)
        indptr = np.concatenate([[0], np.cumsum(times, dtype=np.int64)])[indptr]
    return Rows(indptr.astype(offset_type(len(indices)), copy=False), indices)


def _sum_in_order(weights: npt.NDArray[Any], begins: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Sums from left to right; np.add.reduceat adds in another order, which changes the last bits."""
    total = np.zeros(len(begins), weights.dtype)
    np.add.at(total, np.repeat(np.arange(len(begins)), np.diff(np.append(begins, len(weights)))), weights)
    return total


_REDUCE: dict[str, Callable[[Any, Any], Any]] = {
    "min": np.minimum.reduceat,
    "max": np.maximum.reduceat,
    "sum": _sum_in_order,
}


def row_of(indptr: Array, place: int) -> int:
    """The row of the entry at that position."""
    return int(np.searchsorted(indptr, place, side="right")) - 1


def arc_tails(rows: Any, dtype: npt.DTypeLike = np.int32) -> npt.NDArray[Any]:
    """The tail of each stored arc (the row of each entry). `rows`: Rows on any device, or a graph."""
    offsets, xp = rows.indptr, module_of(rows.indptr)
    if xp is np:
        return np.repeat(np.arange(len(offsets) - 1, dtype=dtype), np.diff(offsets))
    entries = xp.arange(len(rows.indices), dtype=offsets.dtype)  # CuPy's repeat accepts counts only on the host
    found: npt.NDArray[Any] = (xp.searchsorted(offsets, entries, side="right") - 1).astype(dtype, copy=False)
    return found


def transposed(rows: Rows, columns: int | None = None) -> Rows:
    """The transpose: every arc is reversed. `columns`: the number of columns of a matrix that is not square."""
    n, m, xp = len(rows.indptr) - 1, len(rows.indices), module_of(rows.indices)
    columns = n if columns is None else columns
    if xp is np and by_scipy(m):
        kind = None if rows.values is None else rows.values.dtype
        if m >= COMPILED_FROM and columns == n and kind in (None, np.float32, np.float64):
            return rows_of(rows.indices, arc_tails(rows), n, symmetric=False, merge=False, weights=rows.values)
        import scipy.sparse as sp

        values = np.ones(m, np.bool_) if rows.values is None else rows.values
        A = sp.csr_array((values, rows.indices, rows.indptr), shape=(n, columns)).tocsc()
        weights = None if rows.values is None else A.data
        return Rows(A.indptr.astype(rows.indptr.dtype), A.indices.astype(np.int32, copy=False), weights)
    order = xp.argsort(rows.indices, kind="stable")
    # searchsorted, because CuPy's bincount allocates a histogram of all columns per thread block.
    indptr = xp.searchsorted(rows.indices[order], xp.arange(columns + 1, dtype=np.int64))
    weights = None if rows.values is None else rows.values[order]
    return Rows(indptr.astype(rows.indptr.dtype), arc_tails(rows)[order], weights)


def offset_type(m: int) -> type[np.int32] | type[np.int64]:
    """The narrowest type of offsets for m arcs."""
    return np.int64 if m > LARGEST_INT32_OFFSET else np.int32


def check_rows(offsets: npt.NDArray[Any], neighbours: npt.NDArray[Any], n: int) -> None:
    """Raise a GraphError unless offsets rise from 0 to the number of neighbours, and all neighbours are vertices."""
    if offsets[0] != 0 or offsets[-1] != len(neighbours) or (np.diff(offsets) < 0).any():
        problem = f"indptr goes from {offsets[0]} to {offsets[-1]}"
        raise GraphError(f"{problem}; it must rise from 0 to len(indices) = {len(neighbours)}")
    if len(neighbours) and not (neighbours.min() >= 0 and neighbours.max() < n):
        bad = neighbours.min() if neighbours.min() < 0 else neighbours.max()
        raise GraphError(f"indices contains {bad}, which is not a vertex; vertices are 0 to {n - 1}")


def is_ascending(offsets: npt.NDArray[Any], neighbours: npt.NDArray[np.int32]) -> bool:
    """Whether every row is strictly ascending: values may fall only at the beginning of a row."""
    falls = neighbours[1:] <= neighbours[:-1]
    begins = offsets[1:-1]
    falls[begins[(begins > 0) & (begins < len(neighbours))] - 1] = False
    return not falls.any()


def is_symmetric(rows: Rows) -> bool:
    """Whether every arc has a reverse arc of the same weight, so that the transpose is identical."""
    if is_compiled_faster(len(rows.indices)):
        from hopwave.graph.csr_compiled import is_symmetric_pattern

        known = is_symmetric_pattern(rows.indptr, rows.indices)
        if known is False or (known and rows.values is None):
            return known
    turned = transposed(rows)
    return all(mine is None or np.array_equal(mine, theirs) for mine, theirs in zip(rows, turned, strict=True))
