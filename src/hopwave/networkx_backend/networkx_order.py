"""Searches in NetworkX's own order: one vertex after another, its neighbours in the order in which they were added.

hopwave's engines find a level in whatever order is fast. Some results of NetworkX depend on the order: the edges of a
search, which of several shortest paths is returned, the sequence of strong components. For these, sequential kernels
walk the rows that `convert` kept in NetworkX's order. Numba compiles them on first use and keeps them on disk.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.networkx_backend.convert import Rows

Ids = npt.NDArray[np.int32]
Closed = npt.NDArray[np.uint8]  # per vertex: whether paths may visit it (engines/cpu/row_order.py)
OPEN: Closed = np.zeros(0, np.uint8)


@dataclass(frozen=True, eq=False)
class Search:
    """Vertices in the order found; for each, its level and the vertex that found it (a source: itself)."""

    order: Ids
    level: Ids
    parent: Ids


def max_levels(cutoff: Any) -> float:
    """How many levels NetworkX's loops run for a cutoff: at least one, and all levels for 0 or None."""
    return max(1, cutoff) if cutoff else float("inf")


def search(rows: Rows, sources: list[int], limit: float = float("inf")) -> Search:
    """Breadth first from the sources in their order, `limit` hops deep."""
    n = len(rows[0]) - 1
    level, parent, order = np.full(n, -1, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    found = compiled().search(*rows, np.array(sources, np.int32), float(limit), order, level, parent)
    order = order[:found]
    return Search(order, level[order], parent[order])


def settle(
    rows: Rows, lengths: npt.NDArray[np.float64], sources: list[int], limit: float, target: int | None
) -> tuple[Ids, npt.NDArray[np.float64], Ids]:
    """Dijkstra's algorithm. Returns the vertices in the order in which NetworkX settles them, and for every vertex its
    distance from the nearest source and its predecessor. Ends once the target and all vertices at its distance are
    settled."""
    found: tuple[Ids, npt.NDArray[np.float64], Ids]
    found = along_lengths().dijkstra(_arcs(rows, lengths), sources, limit, () if target is None else (target,), None)
    return found


def from_both_ends(
    out_rows: Rows,
    lengths: npt.NDArray[np.float64],
    in_rows: Rows,
    in_lengths: npt.NDArray[np.float64],
    source: int,
    target: int,
    closed: Closed = OPEN,
) -> tuple[list[int], float] | None:
    """The path that NetworkX finds from both ends along lengths, and its length; None if there is no path."""
    ways = _arcs(out_rows, lengths), _arcs(in_rows, in_lengths)
    found: tuple[list[int], float] | None
    found = along_lengths().path_from_both_ends(*ways, source, target, closed)
    return found


def _arcs(rows: Rows, lengths: npt.NDArray[np.float64]) -> Any:
    return along_lengths().arcs(rows, lengths)


def pair(out_rows: Rows, in_rows: Rows, source: int, target: int, closed: Closed = OPEN) -> list[int] | None:
    """The shortest path that NetworkX's search from both ends finds first, or None."""
    from hopwave.engines.cpu.bidirectional import path_between

    found: list[int] | None = path_between(out_rows, in_rows, source, target, closed, by_vertices=True)
    return found


def strong_components(rows: Rows) -> tuple[Ids, int]:
    """The number of every vertex's strong component, in the order in which a depth-first search closes them, and how
    many there are."""
    label = np.full(len(rows[0]) - 1, -1, np.int32)
    return label, int(compiled().strong_components(*rows, label))


@dataclass(frozen=True, eq=False)
class Blocks:
    """The edges of all biconnected components one after another, where each ends, and the articulation points."""

    tails: Ids
    heads: Ids
    ends: Ids
    points: Ids


def blocks(rows: Rows) -> Blocks:
    """Biconnected components in the order in which NetworkX's depth-first search closes them."""
    n, m = len(rows[0]) - 1, len(rows[1])
    tails, heads, ends, points = (np.empty(size, np.int32) for size in (m, m, n, n))
    count, cuts = compiled().close_blocks(*rows, tails, heads, ends, points)
    edges = int(ends[count - 1]) if count else 0
    return Blocks(tails[:edges], heads[:edges], ends[:count], points[:cuts])


@cache
def compiled() -> Any:
    """The kernels. Imported when first needed, because importing Numba takes long."""
    from hopwave.engines.cpu import row_order

    return row_order


@cache
def along_lengths() -> Any:
    """The kernels for paths along lengths."""
    from hopwave.engines.cpu.shortest_paths import dijkstra

    return dijkstra
