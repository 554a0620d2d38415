"""Memory of a job: the arrays that engines declare and allocate; functions and graphs as inputs of memory models."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

Parts = dict[str, int]  # bytes by name


class Array(NamedTuple):
    """An array of a job. `fill`: initial value, or None. `huge`: aligned to a huge page of the CPU (cpu/views.py)."""

    shape: int | tuple[int, ...]
    dtype: Any = np.float64
    fill: float | None = None
    huge: bool = False

    @property
    def nbytes(self) -> int:
        entries = self.shape if isinstance(self.shape, int) else int(np.prod(self.shape, dtype=np.int64))
        return entries * int(np.dtype(self.dtype).itemsize)


def declare(dtype: Any, *, fill: float | None = None, huge: bool = False, **shapes: Any) -> dict[str, Array]:
    """Arrays of one kind, by name: declare(np.uint32, queue=100, stamps=(2, 100))."""
    return {name: Array(shape, dtype, fill, huge) for name, shape in shapes.items()}


def total(arrays: Mapping[str, Array]) -> int:
    return sum(array.nbytes for array in arrays.values())


@dataclass(frozen=True)
class Ask:
    """A call as a memory model sees it: the function's name, the number of sources, and options that affect memory."""

    what: str
    sources: int = 1
    weighted: bool = False
    path_counts: bool = False
    edges: bool = False
    plan: str | None = None
    workers: int = 1  # number of threads, limited by the available work
    memory_limit: int | None = None
    together: bool = False  # whether searches from several sources share their steps
    targets: int | None = None  # columns of a table; None: all vertices
    at_once: int = 1  # rows of a table of hops that are computed at a time
    values: int = 0  # number of columns to sum; `limits`: limits per column
    limits: int = 1
    reached: float = 1.0  # fraction of the vertices that a search within the limit reaches


@dataclass(frozen=True)
class Shape:
    """A graph as memory models see it."""

    n: int
    m: int
    directed: bool
    offset: int = 4  # bytes per offset
    depth: int = 0  # levels of a search from the vertex of highest degree
    greatest: int = 0  # length of the longest row
    near: float = 1.0  # fraction of arcs between near numbers
    packed: float = 0.0  # bits per arc if a GPU stores the rows compressed, otherwise 0

    @property
    def rows(self) -> int:
        return self.offset * (self.n + 1) + 4 * self.m

    @property
    def irregular(self) -> bool:
        return self.greatest * self.n > 8 * self.m

    @property
    def mesh(self) -> bool:
        """Whether all degrees are low, as in meshes and road networks."""
        return not self.irregular and self.m <= 7 * self.n
