"""The counts of XBFS's Figures 9 and 10 and Lemma 3, from the distances of a search. `xp` is NumPy or CuPy."""

from __future__ import annotations

from typing import Any


def arcs_into(xp: Any, indptr: Any, indices: Any, distances: Any, level: int) -> tuple[Any, Any]:
    """The arcs (row, place) whose neighbour is in `level`, in the order of the rows."""
    arcs = xp.flatnonzero(distances[indices] == level)
    return xp.searchsorted(indptr, arcs.astype(indptr.dtype), side="right") - 1, arcs


def looks(xp: Any, indptr: Any, indices: Any, distances: Any, level: int) -> tuple[Any, Any]:
    """Degree and work of every row that bottom-up reads to find the vertices of `level` (Figure 9).

    The work is the number of neighbours read until one of the level before is found; all of them if none is.
    """
    row, arc = arcs_into(xp, indptr, indices, distances, level - 1)
    degrees = xp.diff(indptr)
    work = degrees.copy()
    first = xp.ones(len(row), bool)
    first[1:] = row[1:] != row[:-1]
    work[row[first]] = arc[first] - indptr[row[first]] + 1
    waiting = (distances < 0) | (distances >= level)
    return degrees[waiting], work[waiting]


def chance_ahead(xp: Any, indptr: Any, indices: Any, distances: Any, level: int) -> float:
    """Lemma 3: the mean probability that a vertex of level + 1 is found while bottom-up looks for `level`.

    P = 1 - (1 - s/|Q|)^N, where s is a vertex's place in the queue Q of unvisited vertices, and N the number of its
    neighbours in `level`. (The lemma prints (1 - s/|Q|)^N, and its proof ends with |Q_l| instead of |Q|; by the proof's
    own equation 3 the share of the level before place s is s/|Q|.)
    """
    row, _ = arcs_into(xp, indptr, indices, distances, level)
    neighbours = xp.diff(xp.searchsorted(row, xp.arange(len(distances) + 1)))  # rows ascend
    waiting = (distances < 0) | (distances >= level)
    place = (xp.cumsum(waiting) - 1) / max(int(waiting.sum()), 1)
    there = distances == level + 1
    return float((1 - (1 - place[there]) ** neighbours[there]).mean())
