"""Matrix products under a complemented mask: push, or pull at the places that the mask allows."""

from __future__ import annotations

import numpy as np

from hopwave.algebra.matrix import Matrix
from hopwave.engines import Algebra
from hopwave.errors import LinalgError
from hopwave.graph.csr import Rows
from hopwave.graph.row_operations import row_of_each
from hopwave.planning.jobs import Direction

MOST_PLACES = 1 << 31  # places of a pulled result; each takes an int64 key, and a byte while the mask is inverted


def check_places(direction: Direction, shape: tuple[int, int]) -> None:
    """Raise a LinalgError if a pull under a complemented mask, which numbers every place, has too many places."""
    if direction == "pull" and shape[0] * shape[1] > MOST_PLACES:
        raise LinalgError(
            f"direction='pull' under a complemented mask numbers all {shape[0]} × {shape[1]} places, more than "
            f"{MOST_PLACES}; use direction='push', or fewer rows"
        )


def rest_is_less_work(A: Matrix, B: Matrix, mask: Rows, engine: Algebra) -> bool:
    """Whether dot products at the places outside a mask read fewer entries of B than a push of A does.

    As in a search, which compares arcs into unvisited vertices with arcs out of the frontier (push-pull, section 5.6).
    """
    xp, places = engine.xp, A.shape[0] * B.shape[1]
    pushed = int(xp.diff(B.rows.indptr)[A.rows.indices].sum()) if A.nnz else 0
    if pushed <= places or places > MOST_PLACES:  # a pull reads at least one entry per place
        return False
    there = xp.diff(A.rows.indptr) > 0  # rows of A without entries give no sums
    lengths = xp.diff(B.columns.indptr).astype(np.int64)
    shut = int(lengths[mask.indices][there[row_of_each(mask, xp)]].sum())
    return int(there.sum()) * B.nnz - shut + places <= pushed
