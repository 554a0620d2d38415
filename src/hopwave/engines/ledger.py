"""The arrays of a job, declared once: its engine allocates them, and its engine's footprint adds them up.

Array     one array, as an engine's module declares it (`declare`; `worker_arrays`, `batch_arrays`, …)
Ledger    what a run holds, in the order in which it takes and drops it; the greatest sum is its peak
Ask       a question, and Shape a graph, as footprints see them
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np


class Array(NamedTuple):
    """An array that a job needs. `fill`: what is in it at first; None if that does not matter. `huge`: on a CPU, it
    begins at a huge page (engines/cpu/views.py).

    >>> Array((4, 100), np.uint32).nbytes, Array(100).nbytes
    (1600, 800)
    """

    shape: int | tuple[int, ...]
    dtype: Any = np.float64
    fill: float | None = None
    huge: bool = False

    @property
    def nbytes(self) -> int:
        """Bytes that it takes."""
        sides = self.shape if isinstance(self.shape, tuple) else (self.shape,)
        return math.prod(sides) * int(np.dtype(self.dtype).itemsize)


def declare(dtype: Any, *, fill: float | None = None, huge: bool = False, **shapes: Any) -> dict[str, Array]:
    """Arrays of one kind, by name.

    >>> declare(np.uint32, queue=100, stamps=(2, 100))["stamps"].nbytes
    800
    """
    return {name: Array(shape, dtype, fill, huge) for name, shape in shapes.items()}


def total(arrays: Mapping[str, Array]) -> int:
    """Bytes of arrays that were declared."""
    return sum(array.nbytes for array in arrays.values())


@dataclass
class Ledger:
    """Bytes held now, by name, and at the peak.

    >>> run = Ledger()
    >>> run.take("keys", 80)
    >>> run.drop("keys")
    >>> run.take("answer", 30)
    >>> run.peak, run.at_peak, run.held
    (80, {'keys': 80}, {'answer': 30})
    """

    held: dict[str, int] = field(default_factory=dict)
    peak: int = 0
    at_peak: dict[str, int] = field(default_factory=dict)

    def take(self, name: str, size: float) -> None:
        """Allocate; a name that is held already grows."""
        if size <= 0:
            return
        self.held[name] = self.held.get(name, 0) + int(size)
        now = sum(self.held.values())
        if now > self.peak:
            self.peak, self.at_peak = now, dict(self.held)

    def drop(self, *names: str) -> None:
        """Free."""
        for name in names:
            self.held.pop(name, None)

    def passing(self, name: str, size: float) -> None:
        """Take and drop again."""
        self.take(name, size)
        self.drop(name)


@dataclass(frozen=True)
class Ask:
    """A question as the models see it: the function's name, how many sources, and what changes how it runs."""

    what: str
    sources: int = 1
    weighted: bool = False
    predecessors: bool = True
    path_counts: bool = False
    whole_lengths: bool = False  # all of them whole numbers whose sums fit into 32 bits
    edges: bool = False
    plan: str | None = None
    threads: int | None = None
    memory_limit: int | None = None
    together: bool = False  # whether searches from several sources share their steps
    probed: bool = False  # whether a search finds the depth beforehand
    named: bool = True  # whether the caller named the sources
    targets: int | None = None  # columns of a table; None: all vertices
    at_once: int = 1  # rows of a table of hops that are computed at a time
    values: int = 0  # columns of numbers that are added up, and the limits for which they are
    limits: int = 1


@dataclass(frozen=True)
class Shape:
    """A graph as the models see it.

    `depth`: levels of a search from its hub. `tree`: the share of its arcs that lead one level further in that search.
    `greatest`: the longest row. `transposed`: whether its arcs are there by head already. `near`: the share of its arcs
    between near numbers. `entries`: how often a search along weights enters a vertex, which is when it is offered a
    shorter way. `waiting`: how many such entries wait at a time, per vertex; 0 if that is not known. `ties`: the share
    of arcs that then offer one as short. `path_bits`: log2 of the most
    shortest paths along weights to a vertex. `packed`: bits of an arc if a GPU keeps the rows compressed, else 0.
    `reached`: the share of the vertices that a search within the limit comes to. `short`: the share of the arcs that a
    search along weights follows first.
    """

    n: int
    m: int
    directed: bool
    offset: int = 4  # bytes
    depth: int = 0
    greatest: int = 0
    tree: float = 0.5
    transposed: bool = False
    near: float = 1.0
    entries: float = 1.25  # measured
    waiting: float = 0.0
    ties: float = 0.18  # measured
    path_bits: float = 0.0
    packed: float = 0.0
    reached: float = 1.0
    short: float = 0.125

    @property
    def mean(self) -> float:
        """The mean length of a row."""
        return self.m / max(1, self.n)

    @property
    def rows(self) -> int:
        """Bytes of offsets and neighbours."""
        return self.offset * (self.n + 1) + 4 * self.m
