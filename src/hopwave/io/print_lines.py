"""Compiled printing of whole numbers, so that all cores write the lines of a large text file.

A template such as "a %d %d 1\\n" is cut at every %d into literal pieces: one before each number, one after the last.
"""

# This module is imported only when a graph is large: `import hopwave` stays free of Numba.
from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.system.numba_cache import njit

MOST_DIGITS = 20  # of a 64-bit number with its sign
TEN = np.uint64(10)
ZERO, MINUS, SPACE, NEWLINE = 48, 45, 32, 10


@njit(nogil=True, cache=True, inline="always")
def _digits(number: Any, out: Any, place: int) -> int:
    """Write a number from `place` on; returns the place after it."""
    if number < 0:
        out[place] = MINUS
        place += 1
    left = np.uint64(-number) if number < 0 else np.uint64(number)
    end, rest = place + 1, left
    while rest >= TEN:
        rest //= TEN
        end += 1
    for at in range(end - 1, place - 1, -1):
        rest = left // TEN
        out[at] = ZERO + (left - rest * TEN)
        left = rest
    return end


@njit(nogil=True, cache=True)
def _print_rows(cells: Any, literals: Any, cuts: Any, out: Any) -> int:
    """One line for every column of `cells`, its numbers from top to bottom; returns the bytes written."""
    place = 0
    for line in range(cells.shape[1]):
        for number in range(cells.shape[0] + 1):
            for at in range(cuts[number], cuts[number + 1]):
                out[place] = literals[at]
                place += 1
            if number < cells.shape[0]:
                place = _digits(cells[number, line], out, place)
    return place


@njit(nogil=True, cache=True)
def _print_lists(values: Any, ends: Any, out: Any) -> int:
    """One line for every list, with spaces between its numbers; `ends`: where each list ends in `values`."""
    place = begin = 0
    for end in ends:
        for at in range(begin, end):
            if at > begin:
                out[place] = SPACE
                place += 1
            place = _digits(values[at], out, place)
        out[place] = NEWLINE
        place += 1
        begin = end
    return place


def rows(template: str, columns: tuple[npt.NDArray[Any], ...]) -> npt.NDArray[np.uint8]:
    """The lines of a template with these columns of whole numbers."""
    pieces = [piece.encode() for piece in template.split("%d")]
    cells = np.empty((len(columns), len(columns[0])), np.int64)
    for number, column in enumerate(columns):
        cells[number] = column
    literals = b"".join(pieces)
    out = np.empty(cells.shape[1] * (len(literals) + MOST_DIGITS * len(columns)), np.uint8)
    cuts = np.cumsum([0, *map(len, pieces)])
    return out[: _print_rows(cells, np.frombuffer(literals, np.uint8), cuts, out)]


def lists(values: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
    """One line for every list of whole numbers."""
    out = np.empty(len(values) * (MOST_DIGITS + 1) + len(ends), np.uint8)
    return out[: _print_lists(values, ends, out)]
