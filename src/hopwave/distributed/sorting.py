"""Arcs as single numbers, and rows made of them: how a rank turns what it was dealt into what a search wants.

An arc is (row, column), two slots. Where slots have 32 bits, one 64-bit number holds both, row first: such arcs sort in
place, and take 8 bytes from the exchange to the end. Wide slots stand side by side in a table instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Rows = tuple[Any, Any]  # offsets, neighbours

HALF = np.uint64(32)


def packed(xp: Any, row: Any, column: Any, wide: bool) -> Any:
    """Arcs out of their ends.

    >>> packed(np, np.array([1]), np.array([2]), wide=False).tolist() == [(1 << 32) + 2]
    True
    """
    row, column = row.astype(np.uint64), column.astype(np.uint64)
    return xp.stack([row, column], axis=1) if wide else row << HALF | column


def turned(xp: Any, arcs: Any) -> Any:
    """The same arcs with rows and columns exchanged; those given are used up.

    >>> turned(np, packed(np, np.array([1]), np.array([2]), wide=False)).tolist() == [(2 << 32) + 1]
    True
    """
    if arcs.ndim == 2:
        return xp.ascontiguousarray(arcs[:, ::-1])
    rows = arcs << HALF
    arcs >>= HALF
    rows |= arcs
    return rows


def rows_from(xp: Any, arcs: Any, count: int) -> tuple[Rows, Any, Any]:
    """Sorted rows without repeats, the arcs that are left of these, and how many each row had with the repeats.

    The arcs given may be sorted in place.

    >>> rows, left, had = rows_from(np, packed(np, np.array([1, 0, 1]), np.array([2, 5, 2]), False), 3)
    >>> [part.tolist() for part in rows], len(left), had.tolist()
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
    """Where each row begins in sorted arcs, and the end.

    Looked up, not counted: CuPy's bincount keeps a histogram for every thread block, which no GPU has room for.
    """
    rows = xp.arange(count, dtype=np.uint64)
    offsets = xp.full(count + 1, len(arcs), np.int64)
    if len(arcs):
        first = xp.searchsorted(arcs, rows << HALF) if arcs.ndim == 1 else xp.searchsorted(arcs[:, 0].copy(), rows)
        offsets[:count] = first
    return offsets
