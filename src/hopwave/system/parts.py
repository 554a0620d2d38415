"""Long arrays in equal parts, on all cores."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.system.devices import host_cores
from hopwave.system.threads import Result, each

MOST_THREADS = 64
PARTS_PER_THREAD = 4
LONG = 1 << 21  # entries from which on threads are worth waking for one operation of NumPy


def thread_count() -> int:
    """How many threads share the work."""
    return min(host_cores(), MOST_THREADS)


def parted(work: Callable[[npt.NDArray[Any]], Result], column: npt.NDArray[Any]) -> list[Result]:
    """[work(part)] on all cores, as `in_parts`, if the column is long; else it is one part.

    >>> parted(len, np.arange(3))
    [3]
    """
    return [work(column)] if len(column) < LONG else in_parts(work, column)


def in_parts(work: Callable[..., Result], *columns: npt.NDArray[Any]) -> list[Result]:
    """[work(part of each column)] on all cores; the parts are equal stretches of the columns.

    >>> sum(in_parts(np.sum, np.arange(1000)))
    np.int64(499500)
    """
    threads = thread_count()
    cuts = np.linspace(0, len(columns[0]), PARTS_PER_THREAD * threads + 1).astype(np.int64).tolist()
    return each(threads, pairwise(cuts), lambda ends: work(*(column[slice(*ends)] for column in columns)))
