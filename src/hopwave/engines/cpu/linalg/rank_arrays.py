"""The arrays of power iteration on the CPU, and what their cells are."""

from __future__ import annotations

from typing import Any, NamedTuple

BEGIN, ROUND, END = range(3)  # jobs
SCALE, LOST, MOMENTUM, BOUND, CHANGE, ROUNDS, SLOPE, NOW_CELLS = range(8)  # cells of Ranks.now


class Arcs(NamedTuple):
    """The arcs into every vertex; no values where all are 1."""

    indptr: Any
    indices: Any
    values: Any
    totals: Any  # the sum of every vertex's weights; empty if that is the length of its row
    bounds: Any  # where blocks of rows begin
    order: Any  # the vertex of every row; empty if rows are in the order of vertices


class Ranks(NamedTuple):
    """The arrays of one run. start, base and dead have one entry per vertex, or one for all."""

    w: Any  # two rows: the ranks, and those before or after them
    start: Any
    base: Any
    dead: Any
    sums: Any  # of every block: all changes, and what is at its dead ends
    x: Any  # the answer
    now: Any  # where the run stands
