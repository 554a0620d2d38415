"""What a graph takes in the GPU's memory (graph.py, build.py, compressed.py), for footprint.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.engines.cuda import policy
from hopwave.engines.ledger import Ledger, Shape


def packed_bits(lengths: npt.NDArray[Any]) -> float:
    """About how many bits an arc takes in packed rows (packed.py), of the lengths of all rows.

    A group of 32 arcs spans the numbers of 32 gaps in a long row, and of all vertices in short rows; a group's head
    takes two more bits per arc. Measured graphs took up to 15% less.

    >>> packed_bits(np.full(1024, 4)), packed_bits(np.full(1024, 1024))
    (12.0, 7.0)
    """
    lengths = lengths[lengths > 0].astype(np.float64)
    most = np.ceil(np.log2(max(2, len(lengths))))
    spans = np.minimum(most, np.log2(32 * max(1, len(lengths)) / lengths))
    return float(2 + (lengths * spans).sum() / max(1.0, lengths.sum()))


def packed_rows(run: Ledger, shape: Shape) -> None:
    """Rows and columns in fewer bits (compressed.py)."""
    if "compressed rows" in run.held:
        return
    n, sides = shape.n, 2 if shape.directed else 1
    run.take("degrees", 4 * sides * n)
    run.passing("sorting", 24 * n)
    run.take("numbers", 8 * n)
    run.take("offsets", 8 * sides * (n + 1))
    run.take("compressed rows", sides * shape.m * shape.packed / 8)
    run.passing("keys of a part", policy.PACKING * min(shape.m, policy.PACKED_ARCS[0]))
    run.drop("degrees")


def upload(run: Ledger, shape: Shape) -> None:
    """The rows as they are."""
    if shape.packed:
        packed_rows(run, shape)
    elif "rows" not in run.held:
        run.take("rows", shape.rows)


def columns(run: Ledger, shape: Shape) -> None:
    """Arcs by head; for an undirected graph, its rows."""
    upload(run, shape)
    if not shape.directed or "columns" in run.held or shape.packed:
        return
    if shape.transposed:
        run.take("columns", shape.rows)
        return
    run.take("row of each arc", 4 * shape.m)
    sort_rows(run, "columns", shape.n, shape.m, shape.offset)
    run.drop("row of each arc")


def sort_rows(run: Ledger, name: str, n: int, arcs: int, offset: int, weight: int = 0) -> None:
    """build.rows_of: sorted rows; assumes that no arc is repeated."""
    part = min(arcs, max(policy.LEAST_ARCS, -(-arcs // policy.PARTS)))
    run.take("degrees", 4 * n)
    run.take(name, (4 + weight) * arcs)
    run.passing("keys of a part", part * (policy.SORTING_WEIGHTED if weight else policy.SORTING))
    run.take(name, offset * (n + 1))
    run.drop("degrees")


def arranged(run: Ledger, shape: Shape) -> None:
    """Rows with neighbours by descending degree, for plan hopwave-dense."""
    if shape.packed:
        packed_rows(run, shape)
        return
    if "arranged" in run.held:
        return
    had = set(run.held)
    columns(run, shape)
    if not shape.m:
        return
    n, some = shape.n, min(shape.m, policy.SORTED_ARCS)
    run.take("degree keys", 8 * n)
    run.passing("sorting", 8 * n)
    run.take("ranks", 8 * n)
    run.take("arranged", 4 * shape.m)
    run.take("arc keys", 8 * some)
    run.drop("degree keys")
    run.passing("sorting", 8 * some)
    run.drop("arc keys", "ranks")
    if shape.directed and "columns" not in had:
        run.drop("columns")
        run.take("arranged", shape.offset * (n + 1))
    elif not shape.directed and "rows" not in had:
        run.drop("rows")
        run.take("arranged", shape.offset * (n + 1))
