"""Names of vertices in files: from the ids in a file to 0 … n−1, and back to what a text file can store."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.graph import Graph
from hopwave.graph.columns import NOTHING
from hopwave.graph.csr import COMPILED_FROM
from hopwave.io.format import Target

# Up to this many table entries per id, renumbering uses a table of all ids from 0 to the greatest.
TABLE_PER_ID = 16


def compact(
    u: npt.NDArray[Any], v: npt.NDArray[Any], lone: npt.NDArray[Any]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], int, npt.NDArray[np.int64] | None]:
    """Renumber non-negative integer ids 0 … n−1 in ascending order: u, v, n, and labels, None if nothing changed.

    >>> compact(np.array([7, 3]), np.array([3, 9]), np.array([], int))[2:]
    (3, array([3, 7, 9]))
    """
    columns = (u, v, lone)
    greatest = max((int(ids.max()) for ids in columns if len(ids)), default=-1)
    if greatest < TABLE_PER_ID * sum(map(len, columns)) + 1024:
        # Dense enough for a lookup table: a tenth of the time of sorting.
        present = np.zeros(greatest + 1, np.bool_)
        compiled = len(u) >= COMPILED_FROM
        if compiled:
            from hopwave.graph import csr_compiled  # which brings Numba
        for ids in columns:
            if compiled and len(ids):
                csr_compiled.mark_ids(ids, present)
            else:
                present[ids] = True
        if present.all():
            return u, v, greatest + 1, None
        labels = np.flatnonzero(present)
        number: npt.NDArray[Any] = np.cumsum(present, dtype=np.int32 if len(labels) < 2**31 else np.int64)
        number -= 1
        u, v = (csr_compiled.looked_up(ids, number) if compiled else number[ids] for ids in (u, v))
        return u, v, len(labels), labels
    # The rank of every id, found while sorting: searching for each of them afterwards takes several times as long.
    kind = columns[0].dtype if len({column.dtype for column in columns}) == 1 else np.int64
    ids = np.concatenate([column.astype(kind, copy=False) for column in columns])
    order = np.argsort(ids)
    ids = ids[order]
    is_new = np.ones(len(ids), np.bool_)
    np.not_equal(ids[1:], ids[:-1], out=is_new[1:])
    labels = ids[is_new].astype(np.int64, copy=False)
    rank: npt.NDArray[Any] = np.cumsum(is_new, dtype=np.int32 if len(labels) < 2**31 else np.int64)
    rank -= 1
    numbers = np.empty_like(rank)
    numbers[order] = rank
    return numbers[: len(u)], numbers[len(u) : len(u) + len(v)], len(labels), labels


def check_missing(*ends: str) -> None:
    """Refuse an end that other programs write for a missing one: all edges that miss an end would meet there.

    >>> check_missing("Oslo", "NaN")
    Traceback (most recent call last):
    ValueError: 'NaN' may be a missing end; expected a vertex: drop the row, or give names=True if it is a name
    """
    for end in ends:
        if end and end in NOTHING:  # a CSV row without a second end is a vertex without edges
            raise ValueError(
                f"{end!r} may be a missing end; expected a vertex: drop the row, or give names=True if it is a name"
            )


class Numbering:
    """Numbers for names, in the order of first appearance.

    >>> names = Numbering()
    >>> names["ann"], names["bob"], names["ann"]
    (0, 1, 0)
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __getitem__(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers))

    def __len__(self) -> int:
        return len(self._numbers)

    def labels(self) -> npt.NDArray[Any]:
        """The names, in the order of their numbers."""
        array = np.empty(len(self._numbers), object)
        array[:] = list(self._numbers)
        return array


def plain_labels(target: Target, graph: Graph, *, encoded: bool = True) -> list[str] | list[int] | None:
    """The labels as Python strings or as Python integers; no other type can be stored safely.

    `encoded`: the file stores text as UTF-8, which has no half of a surrogate pair.
    """
    if graph.labels is None:
        return None
    values: list[Any] = graph.labels.tolist()
    if all(type(value) is str for value in values):
        if encoded:
            odd = next((value for value in values if not _is_text(value)), None)
            if odd is not None:
                raise target.fail(
                    f"label {odd!r} has half of a surrogate pair, which is no text; relabel, or drop labels with "
                    "labels=False"
                )
        return values
    if all(type(value) is int and -(2**63) <= value < 2**63 for value in values):
        return values
    odd = next(v for v in values if type(v) is not (int if isinstance(values[0], int) else str) or isinstance(v, int))
    message = f"label {odd!r} is a {type(odd).__name__}; files store labels that are all strings or all 64-bit integers"
    raise target.fail(f"{message}; relabel, or drop them with labels=False")


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def listed_first(
    graph: Graph, names: Iterable[Any] | None, u: npt.NDArray[Any], v: npt.NDArray[Any]
) -> npt.NDArray[np.int64]:
    """The vertices that a file must list before its edges, so that reading it back gives the same numbering.

    Integers are numbered in ascending order, so only vertices without an edge are listed. Strings are numbered in the
    order of first appearance: if that is not already the graph's order, all vertices are listed.
    """
    touched = np.zeros(graph.n, np.bool_)
    touched[u] = touched[v] = True
    if names is None or not all(isinstance(name, str) for name in names):
        return np.flatnonzero(~touched)
    ends = np.column_stack([u, v]).ravel()
    first_met = ends[np.sort(np.unique(ends, return_index=True)[1])]
    return np.arange(0 if np.array_equal(first_met, np.arange(graph.n)) else graph.n)
