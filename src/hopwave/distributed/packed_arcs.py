"""Arcs as single numbers, and the sorting that turns them into rows of neighbours.

An arc is (row, column), two slots. If slots have 32 bits, an arc is one 64-bit number, row << 32 | column: such arcs
sort in place and never take more than 8 bytes. Arcs of 64-bit slots are kept in a table with two columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Rows = tuple[Any, Any]  # offsets, neighbours

HALF = np.uint64(32)


def pack_arcs(xp: Any, row: Any, column: Any, wide: bool) -> Any:
    """Arcs from their rows and columns.

    >>> pack_arcs(np, np.array([1]), np.array([2]), wide=False).tolist() == [(1 << 32) + 2]
    True
    """
    row, column = row.astype(np.uint64), column.astype(np.uint64)
    return xp.stack([row, column], axis=1) if wide else row << HALF | column


def transpose(xp: Any, arcs: Any) -> Any:
    """Exchange the rows and columns of arcs; overwrites the arcs given.

    >>> transpose(np, pack_arcs(np, np.array([1]), np.array([2]), wide=False)).tolist() == [(2 << 32) + 1]
    True
    """
    if arcs.ndim == 2:
        return xp.ascontiguousarray(arcs[:, ::-1])
    rows = arcs << HALF
    arcs >>= HALF
    rows |= arcs
    return rows


def sort_into_rows(xp: Any, arcs: Any, count: int) -> tuple[Rows, Any, Any]:
    """Returns sorted rows without repeats, the arcs without repeats, and each row's number of arcs with repeats.

    The arcs given may be sorted in place.

    >>> rows, left, had = sort_into_rows(np, pack_arcs(np, np.array([1, 0, 1]), np.array([2, 5, 2]), False), 3)
    >>> [array.tolist() for array in rows], len(left), had.tolist()
    ([[0, 1, 2, 2], [5, 2]], 2, [1, 2, 0])
    """
    if arcs.ndim == 2:
        arcs = arcs[xp.lexsort(xp.stack([arcs[:, 1], arcs[:, 0]]))]
    else:
        arcs.sort()
    had = xp.diff(_offsets(xp, arcs, count))
    new = xp.ones(len(arcs), bool)
    new[1:] = (arcs[1:] != arcs[:-1]) if arcs.ndim == 1 else (arcs[1:] != arcs[:-1]).any(axis=1)
    arcs = arcs[new]
    column = arcs.astype(np.uint32) if arcs.ndim == 1 else arcs[:, 1].copy()  # the lower half
    return (_offsets(xp, arcs, count), column), arcs, had


def _offsets(xp: Any, arcs: Any, count: int) -> Any:
    """The position of each row's first arc in sorted arcs, and the end.

    Found by binary search: CuPy's bincount keeps a histogram per thread block, which takes too much GPU memory.
    """
    rows = xp.arange(count, dtype=np.uint64)
    offsets = xp.full(count + 1, len(arcs), np.int64)
    if len(arcs):
        first = xp.searchsorted(arcs, rows << HALF) if arcs.ndim == 1 else xp.searchsorted(arcs[:, 0].copy(), rows)
        offsets[:count] = first
    return offsets
