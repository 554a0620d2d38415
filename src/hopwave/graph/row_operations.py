"""Operations on compressed sparse rows of NumPy or CuPy. The key of an entry is row · columns + column; keys ascend."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hopwave.arrays import Array, module_of
from hopwave.errors import GraphError
from hopwave.graph import csr
from hopwave.graph.csr import Rows, arc_tails, check_rows, is_compiled_faster, offset_type, row_of

Place = Literal["tril", "triu", "diag", "offdiag"]
PLACES: tuple[Place, ...] = ("tril", "triu", "diag", "offdiag")


def arc_in_words(rows: Any, arc: int, called: Callable[[int], Any]) -> str:
    """The endpoints of a stored arc, for messages. `rows`: an object with `indptr` and `indices`, such as a graph."""
    return f"from {called(row_of(rows.indptr, arc))!r} to {called(int(rows.indices[arc]))!r}"


def kept(part: Rows, keep: Array) -> Rows:
    """The entries for which `keep` is True."""
    xp = module_of(keep)
    before = xp.zeros(len(keep) + 1, part.indptr.dtype)
    xp.cumsum(keep, out=before[1:])
    indptr, indices = before[part.indptr], part.indices[keep]
    values = None if part.values is None else part.values[keep]
    return Rows(indptr.astype(offset_type(len(indices)), copy=False), indices, values)


def rest_of(part: Rows, columns: int, xp: Any) -> Rows:
    """The complement of a pattern: the positions without an entry."""
    rows = len(part.indptr) - 1
    free = xp.ones(rows * columns, xp.bool_)
    free[keys_of(part, columns, xp)] = False
    return from_keys(xp.flatnonzero(free), None, (rows, columns), xp)


def by_place(part: Rows, where: Place, diagonal: int, xp: Any) -> Rows:
    """The entries on and below a diagonal ("tril"), on and above it ("triu"), on it ("diag"), or off it ("offdiag")."""
    offset = part.indices - arc_tails(part) - diagonal
    tests = {"tril": xp.less_equal, "triu": xp.greater_equal, "diag": xp.equal, "offdiag": xp.not_equal}
    return kept(part, tests[where](offset, 0))


def transposed(part: Rows, shape: tuple[int, int]) -> Rows:
    """The rows of the transpose of a matrix with these rows and this shape."""
    if module_of(part.indices) is np:
        check_rows(part.indptr, part.indices, shape[1])
    return csr.transposed(part, shape[1])


def check_sparse(A: Any) -> None:
    """Raise a GraphError for a sparse matrix with indices outside its shape: SciPy and CuPy do not check them."""
    if A.format in ("csr", "csc"):
        major, minor = A.shape if A.format == "csr" else A.shape[::-1]
        entries = int(A.indptr[-1]) if len(A.indptr) == major + 1 else -1
        if not 0 <= entries <= min(len(A.indices), len(A.data)):
            raise GraphError(
                f"the {A.format} matrix of shape {A.shape} has {len(A.indptr)} offsets, {len(A.indices)} indices and "
                f"{len(A.data)} values, which is inconsistent; build it again from its entries"
            )
        check_rows(A.indptr, A.indices[:entries], minor)
    elif A.format == "coo":
        for ends, size in zip((A.row, A.col), A.shape, strict=True):
            if len(ends) and not 0 <= int(ends.min()) <= int(ends.max()) < size:
                raise GraphError(
                    f"the matrix of shape {A.shape} has an entry in row or column "
                    f"{int(ends.min()) if ends.min() < 0 else int(ends.max())}; pass entries inside the shape"
                )
    elif A.format == "bsr":
        try:
            A.check_format(full_check=True)
        except ValueError as error:
            raise GraphError(f"the bsr matrix is damaged ({error}); build it again from its entries") from None


def unblocked(A: Any) -> Any:
    """A sparse matrix as CSR. Zeros in BSR are dropped, because they only fill blocks."""
    made = A.tocsr()
    if A.format == "bsr":
        made.eliminate_zeros()
    return made


# ------------------------------------------------------------------ keys


def keys_of(part: Rows, columns: int, xp: Any) -> Array:
    """One number per entry, ascending: row · columns + column."""
    return arc_tails(part, np.int64) * columns + part.indices


def from_keys(keys: Array, values: Array | None, shape: tuple[int, int], xp: Any) -> Rows:
    """Rows from ascending keys."""
    rows = keys // max(shape[1], 1)
    indptr = xp.searchsorted(rows, xp.arange(shape[0] + 1)).astype(xp.int64 if len(keys) > 2**31 - 1 else xp.int32)
    return Rows(indptr, (keys - rows * shape[1]).astype(xp.int32), values)


def is_in(keys: Array, among: Array, xp: Any) -> Array:
    """Mask of the keys that are in `among`; both ascend."""
    if len(among) == 0:
        return xp.zeros(len(keys), xp.bool_)
    place = xp.minimum(xp.searchsorted(among, keys), len(among) - 1)
    return among[place] == keys


def inside(keys: Array, mask: Rows, columns: int, complement: bool, xp: Any) -> Array:
    """Mask of the keys that the mask allows."""
    found = is_in(keys, keys_of(mask, columns, xp), xp)
    return ~found if complement else found


def union(
    keys: Array, values: Array, other_keys: Array, other: Array, op: Any, dtype: Any, xp: Any
) -> tuple[Array, Array]:
    """Entries of both, combined by `op` if both have the same key; keys ascend."""
    twice, back = is_in(keys, other_keys, xp), is_in(other_keys, keys, xp)
    combined = values.astype(dtype)
    if bool(twice.any()):
        combined[twice] = op(values[twice], other[back]).astype(dtype)
    all_keys = xp.concatenate([keys, other_keys[~back]])
    all_values = xp.concatenate([combined, other[~back].astype(dtype)])
    order = xp.argsort(all_keys)
    return all_keys[order], all_values[order]


# ------------------------------------------------------------------ other graphs from a graph's rows


def induced(rows: Rows, vertices: npt.NDArray[np.int64]) -> Rows:
    """The rows of the induced subgraph on these vertices (ascending, unique), renumbered 0, 1, 2, …"""
    n = len(rows.indptr) - 1
    number = np.full(n, -1, np.int32)
    number[vertices] = np.arange(len(vertices), dtype=np.int32)
    if is_compiled_faster(len(rows.indices)):
        from hopwave.graph.csr_compiled import induced_rows

        lengths, neighbours, values = induced_rows(*rows, vertices, number)
    else:
        inner = kept(rows, (number[rows.indices] >= 0) & (number >= 0)[arc_tails(rows)])
        lengths, neighbours, values = np.diff(inner.indptr)[vertices], number[inner.indices], inner.values
    indptr = np.zeros(len(vertices) + 1, offset_type(len(neighbours)))
    np.cumsum(lengths, out=indptr[1:])
    return Rows(indptr, neighbours, values)


def without_directions(rows: Rows) -> Rows | None:
    """Ascending unweighted rows with the reverse of every arc added; None if another method is faster or needed."""
    if rows.values is not None or not is_compiled_faster(len(rows.indices)):
        return None
    from hopwave.graph.csr_compiled import without_directions

    found = without_directions(rows.indptr, rows.indices)
    return None if found is None else Rows(found[0].astype(offset_type(len(found[1])), copy=False), found[1])


def by_number(rows: Rows, keys: npt.NDArray[np.int32] | None = None) -> Rows:
    """Each row sorted by neighbour, or by keys below n. The sort is stable.

    Two transposes are a stable counting sort.
    """
    n, places = len(rows.indptr) - 1, np.arange(len(rows.indices), dtype=offset_type(len(rows.indices)))
    from scipy.sparse import csr_array

    order = csr_array((places, rows.indices if keys is None else keys, rows.indptr), shape=(n, n)).tocsc().tocsr().data
    return Rows(rows.indptr, rows.indices[order], None if rows.values is None else rows.values[order])


def by_degree(rows: Rows, in_degrees: npt.NDArray[Any]) -> Rows:
    """Each row in descending order of in-degree, ties by number (Hiragushi, section 3.4)."""
    rank = np.empty(len(in_degrees), np.int32)
    rank[np.argsort(-in_degrees.astype(np.int64), kind="stable")] = np.arange(len(rank), dtype=np.int32)
    return by_number(rows, rank[rows.indices])


def largest_component(rows: Rows, directed: bool) -> npt.NDArray[np.int64]:
    """The vertices of the largest component (weak if directed), ascending; of equally large ones, the first."""
    n = len(rows.indptr) - 1
    if n == 0:
        return np.empty(0, np.int64)
    import scipy.sparse as sp

    A = sp.csr_array((np.ones(len(rows.indices), np.bool_), rows.indices, rows.indptr), shape=(n, n))
    _, number = sp.csgraph.connected_components(A, directed=directed, connection="weak")
    sizes = np.bincount(number)
    first = np.full(len(sizes), n)
    np.minimum.at(first, number, np.arange(n))
    best = min(np.flatnonzero(sizes == sizes.max()).tolist(), key=lambda component: first[component])
    return np.flatnonzero(number == best)
