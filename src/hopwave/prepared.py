"""Records that are computed once for a graph, a matrix or a product and kept with it: one of each class, or by key.

Engines keep their own records here (uploaded arrays, hub lists, workspaces). The owner need not know their classes; a
record is looked up by its class, so its type is known.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Record = TypeVar("Record")


class Prepared:
    """Records by their class."""

    __slots__ = ("_records",)

    def __init__(self) -> None:
        self._records: dict[Any, Any] = {}  # by class, or by key

    def find(self, kind: type[Record]) -> Record | None:
        """The record of that class, or None."""
        return self._records.get(kind)

    def keep(self, record: Record) -> Record:
        """Keep a record, unless another thread was quicker; returns the one that is kept."""
        kept: Record = self._records.setdefault(type(record), record)
        return kept

    def record(self, kind: type[Record]) -> Record:
        """The record of that class; made by calling the class without arguments when first needed."""
        found = self._records.get(kind)
        return self.keep(kind()) if found is None else found

    def made(self, key: Hashable, make: Callable[[], Record]) -> Record:
        """The record under a key, such as a class and whether a matrix is transposed; made when first needed."""
        found: Record | None = self._records.get(key)
        return self._records.setdefault(key, make()) if found is None else found

    def drop(self, kind: type) -> None:
        """Forget the record of that class, if there is one."""
        self._records.pop(kind, None)

    def clear(self) -> None:
        """Forget all records."""
        self._records.clear()


@dataclass
class Structure:
    """What was found out about a graph; it does not depend on the engine."""

    # The number of every vertex's component, in the order of lowest vertices: weak (key False) or strong (key True).
    components: dict[bool, npt.NDArray[np.int32]] = field(default_factory=dict)
    depth: int | None = None  # levels of a search from the vertex of highest degree
    loops: npt.NDArray[np.int32] | None = None  # the vertex of every loop of an undirected graph
