"""Arcs turned round, compiled and on all cores: the value of every arc's reverse, and graphs without directions.

Each thread counts the heads of its own rows; then it knows where its first arc into each vertex goes, and writes.
"""

# Imported only when a graph is large: `import hopwave` stays free of Numba.
from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.system.numba_cache import njit
from hopwave.system.threads import PARTS_PER_THREAD, each, thread_count

ARCS_PER_PLACE = 2  # places are as many as vertices for each thread: at most twice as many as there are arcs

U1 = np.uint64(1)
Part = tuple[int, tuple[int, int]]


def reverse_values(
    indptr: npt.NDArray[Any], indices: npt.NDArray[np.int32], values: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """The value of every arc's reverse, for symmetric, ascending rows; parallel arcs in their order."""
    found = np.empty_like(values)
    _with_reverses(indptr, indices, lambda *part: _turn(indptr, indices, values, *part, found))
    return found


def add_reverse_values(
    indptr: npt.NDArray[Any], indices: npt.NDArray[np.int32], values: npt.NDArray[np.float64]
) -> None:
    """To the value of every arc that of its reverse is added, in place: new memory would take longer to fill."""
    _with_reverses(indptr, indices, lambda *part: _add_both(indptr, indices, values, *part))


def _with_reverses(indptr: Any, indices: Any, work: Any) -> None:
    """work(first row, end, where the reverse of the next arc into each vertex is), for parts of the rows."""
    threads = thread_count()
    parts, places = _counted(indptr, indices, threads)
    _place(places, indptr, threads)
    each(threads, parts, lambda part: work(*part[1], places[part[0]]))


def without_directions(
    indptr: npt.NDArray[Any], indices: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]] | None:
    """Offsets and ascending neighbours of the graph in which every arc of ascending rows leads both ways, each once.

    None if it is built in less memory from edges.
    """
    threads, n = thread_count(), len(indptr) - 1
    if threads * n > ARCS_PER_PLACE * len(indices):
        return None
    parts, places = _counted(indptr, indices, threads)
    into = np.zeros(n + 1, np.int64)
    each(threads, _columns(places, threads), lambda some: _sum_up(places, *some, into[1:]))
    np.cumsum(into, out=into)
    _place(places, into, threads)
    tails = np.empty(len(indices), np.int32)
    each(threads, parts, lambda part: _write_tails(indptr, indices, *part[1], places[part[0]], tails))
    rows = indptr, indices, into, tails
    begins = indptr + into
    cuts = np.searchsorted(begins, np.linspace(0, 2 * len(indices), PARTS_PER_THREAD * threads + 1)[1:-1])
    pieces = list(pairwise([0, *cuts.tolist(), n]))
    ends, both = np.zeros(n + 1, np.int64), np.empty(2 * len(indices), np.int32)
    each(threads, pieces, lambda piece: _unite(*rows, *piece, ends, both))
    np.cumsum(ends, out=ends)
    found = np.empty(int(ends[-1]), np.int32)

    def copy(piece: tuple[int, int]) -> None:
        low, high = ends[list(piece)]
        found[low:high] = both[begins[piece[0]] :][: high - low]

    each(threads, pieces, copy)
    return ends, found


def _counted(indptr: Any, indices: Any, threads: int) -> tuple[list[Part], npt.NDArray[Any]]:
    """A part of the rows for every thread, and how many arcs of each lead to each vertex."""
    cuts = np.searchsorted(indptr, np.linspace(0, len(indices), threads + 1)[1:-1].astype(np.int64))
    parts = list(enumerate(pairwise([0, *cuts.tolist(), len(indptr) - 1])))
    places = np.empty((threads, len(indptr) - 1), indptr.dtype)  # each thread fills its own row
    each(threads, parts, lambda part: _count_heads(indptr, indices, *part[1], places[part[0]]))
    return parts, places


def _place(places: npt.NDArray[Any], begins: npt.NDArray[Any], threads: int) -> None:
    """Turn counts of arcs into places: where each part writes its first arc into v, the first part at begins[v]."""
    each(threads, _columns(places, threads), lambda some: _add_before(begins, *some, places))


def _columns(places: npt.NDArray[Any], threads: int) -> list[tuple[int, int]]:
    """A stretch of the vertices for every thread."""
    return list(pairwise(np.linspace(0, places.shape[1], threads + 1).astype(np.int64).tolist()))


def count_heads(indptr: Any, indices: Any, low: int, high: int, counts: Any) -> None:
    """How many arcs of the rows [low, high) lead to each vertex."""
    counts[:] = 0
    for j in range(indptr[low], indptr[high]):
        counts[indices[j]] += 1


def sum_up(places: Any, low: int, high: int, into: Any) -> None:
    """into[v] = the arcs of all parts into v, from 0, for the vertices [low, high)."""
    for part in range(len(places)):
        for v in range(low, high):
            into[v] += places[part, v]


def add_before(begins: Any, low: int, high: int, places: Any) -> None:
    """Counts of arcs into the vertices [low, high), one row per part, become the place of each part's first."""
    before = begins[low:high].copy()
    for part in range(len(places)):
        for v in range(low, high):
            count = places[part, v]
            places[part, v] = before[v - low]
            before[v - low] += count


def turn(indptr: Any, indices: Any, values: Any, low: int, high: int, places: Any, found: Any) -> None:
    """found[arc] = values[its reverse], for the arcs of the rows [low, high)."""
    for j in range(indptr[low], indptr[high]):
        v = indices[j]
        found[j] = values[places[v]]
        places[v] += 1


def add_both(indptr: Any, indices: Any, values: Any, low: int, high: int, places: Any) -> None:
    """values[arc] = values[its reverse] = their sum, for the arcs u → v of the rows [low, high) with u ≤ v."""
    for u in range(low, high):
        for j in range(indptr[u], indptr[u + 1]):
            v = indices[j]
            if u <= v:
                values[places[v]] = values[j] = values[places[v]] + values[j]
            places[v] += 1


def write_tails(indptr: Any, indices: Any, low: int, high: int, places: Any, tails: Any) -> None:
    """The tails of the arcs of the rows [low, high), at the places of their heads."""
    for u in range(low, high):
        for j in range(indptr[u], indptr[u + 1]):
            v = indices[j]
            tails[places[v]] = u
            places[v] += 1


def write_rest(row: Any, i: Any, end: Any, both: Any, place: Any, last: Any) -> Any:
    """What is left of one of two rows, row[i:end], behind what was written; returns the place and the last number."""
    while i < end:
        w = row[i]
        i += U1
        both[place] = w
        place += np.uint64(w != last)
        last = w
    return place, last


def unite(indptr: Any, indices: Any, into: Any, tails: Any, low: int, high: int, ends: Any, both: Any) -> None:
    """The union of the rows [low, high) of both, ascending, without branches; ends[v + 1]: its size in row v."""
    i, j = np.uint64(indptr[low]), np.uint64(into[low])
    place = i + j
    for v in range(low, high):
        begin, last = place, np.int32(-1)
        end, other_end = np.uint64(indptr[v + 1]), np.uint64(into[v + 1])
        while i < end and j < other_end:
            a, b = indices[i], tails[j]
            w = min(a, b)
            i += np.uint64(a <= b)
            j += np.uint64(b <= a)
            both[place] = w
            place += np.uint64(w != last)
            last = w
        place, last = _write_rest(indices, i, end, both, place, last)
        place, last = _write_rest(tails, j, other_end, both, place, last)
        i, j = end, other_end
        ends[v + 1] = place - begin


_compile = njit(nogil=True, cache=True, boundscheck=False)
_count_heads, _sum_up, _add_before = _compile(count_heads), _compile(sum_up), _compile(add_before)
_turn, _add_both = _compile(turn), _compile(add_both)
_write_tails, _write_rest, _unite = _compile(write_tails), _compile(write_rest), _compile(unite)
