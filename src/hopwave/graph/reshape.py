"""Other graphs from the rows of one: parts of it, turned round, without loops, with neighbours in another order."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.graph.csr import Rows, is_ascending, is_compiled_faster, offset_type


def sources(rows: Rows) -> npt.NDArray[np.int32]:
    """The row of every stored arc."""
    return np.repeat(np.arange(len(rows.indptr) - 1, dtype=np.int32), np.diff(rows.indptr))


def selected(rows: Rows, arcs: npt.NDArray[np.bool_]) -> Rows:
    """The same rows with the chosen arcs only."""
    n = len(rows.indptr) - 1
    indptr = np.zeros(n + 1, offset_type(int(np.count_nonzero(arcs))))
    np.cumsum(np.bincount(sources(rows)[arcs], minlength=n), out=indptr[1:])
    return Rows(indptr, rows.indices[arcs], None if rows.values is None else rows.values[arcs])


def induced(rows: Rows, vertices: npt.NDArray[np.int64]) -> Rows:
    """The rows of these vertices (ascending, each once) and the arcs between them, renumbered 0, 1, 2, …"""
    n = len(rows.indptr) - 1
    number = np.full(n, -1, np.int32)
    number[vertices] = np.arange(len(vertices), dtype=np.int32)
    if is_compiled_faster(len(rows.indices)):
        from hopwave.graph.csr_compiled import induced_rows

        lengths, neighbours, values = induced_rows(*rows, vertices, number)
    else:
        both = number[rows.indices] >= 0
        both &= (number >= 0)[sources(rows)]
        kept = selected(rows, both)
        lengths, neighbours, values = np.diff(kept.indptr)[vertices], number[kept.indices], kept.values
    indptr = np.zeros(len(vertices) + 1, offset_type(len(neighbours)))
    np.cumsum(lengths, out=indptr[1:])
    return Rows(indptr, neighbours, values)


def without_loops(rows: Rows) -> Rows:
    """The same rows without arcs from a vertex to itself."""
    return selected(rows, sources(rows) != rows.indices)


def without_directions(rows: Rows) -> Rows | None:
    """Every arc of ascending rows without weights both ways, each once; None if this is not made from rows."""
    if rows.values is not None or not is_compiled_faster(len(rows.indices)):
        return None
    from hopwave.graph.arcs_compiled import without_directions

    found = without_directions(rows.indptr, rows.indices)
    if found is None:
        return None
    ends, neighbours = found
    return Rows(ends.astype(offset_type(len(neighbours))), neighbours, None)


def by_number(rows: Rows) -> Rows:
    """Every row's neighbours in ascending order; parallel arcs stay in theirs."""
    return _sorted(rows, rows.indices)


def by_degree(rows: Rows, in_degrees: npt.NDArray[Any]) -> Rows:
    """Every row's neighbours in descending order of in-degree, ties by number (Hiragushi, section 3.4)."""
    n = len(rows.indptr) - 1
    order = np.argsort(-in_degrees.astype(np.int64), kind="stable").astype(np.int32)
    rank = np.empty_like(order)
    rank[order] = np.arange(n, dtype=np.int32)
    if rows.values is not None and not is_ascending(rows.indptr, rows.indices):
        return _sorted(rows, rank[rows.indices])  # parallel arcs, which SciPy's sort does not keep in order
    values = np.ones(len(rows.indices), np.bool_) if rows.values is None else rows.values.copy()
    from scipy.sparse import csr_array

    ranked = csr_array((values, rank[rows.indices], rows.indptr.copy()), shape=(n, n))
    ranked.sort_indices()
    return Rows(rows.indptr, order[ranked.indices], None if rows.values is None else ranked.data)


def _sorted(rows: Rows, keys: npt.NDArray[np.int32]) -> Rows:
    """Every row's neighbours and weights by their keys, below n; equal ones stay in their order.

    By two transposes: each is a counting sort, which is stable.
    """
    n, m = len(rows.indptr) - 1, len(keys)
    places = np.arange(m, dtype=offset_type(m))
    from scipy.sparse import csr_array

    order = csr_array((places, keys, rows.indptr), shape=(n, n)).tocsc().tocsr().data
    return Rows(rows.indptr, rows.indices[order], None if rows.values is None else rows.values[order])


def largest_component(rows: Rows, directed: bool) -> npt.NDArray[np.int64]:
    """The vertices of the largest component (weak, if the graph is directed), ascending; the first of several."""
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
