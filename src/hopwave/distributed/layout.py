"""Assignment of vertices and arcs to ranks.

    R × C    the grid of a 2D layout: rank r is in row r // C and column r % C

Every rank owns a range of vertex ids. In a 1D layout it stores the out-arcs of its vertices for pushes and the in-arcs
for pulls. In a 2D layout (Yoo et al. 2005; Beamer et al. 2013) the arc u → v is on the rank in the row of v's owner and
the column of u's owner, so that a rank communicates with R + C others instead of R · C.

Within a group of ranks a vertex is identified by its *slot*: the ranges of the group's ranks are concatenated, each
starting at a multiple of 64, so that a slot is also a position in a bitmap.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.arrays import module_of
from hopwave.errors import GraphError

Ids = npt.NDArray[np.int64]

MAX_NARROW_SLOTS = 1 << 32  # more slots need 64-bit numbers
MAX_BUCKETS = 1 << 16  # maximum buckets of ids; balanced ranges consist of complete buckets


def slot_type(size: int) -> Any:
    """The unsigned integer type for the slots of a group of this size."""
    return np.uint32 if size <= MAX_NARROW_SLOTS else np.uint64


@dataclass(frozen=True)
class Group:
    """The vertices of some ranks, one range after another. `slots`: the first slot of each range, and the end."""

    ranks: tuple[int, ...]
    firsts: Ids
    lengths: Ids
    slots: Ids

    @property
    def size(self) -> int:
        """The number of slots, including unused ones between ranges."""
        return int(self.slots[-1])

    def words(self, index: int) -> int:
        """The number of 64-bit words of the index-th rank's range in a bitmap."""
        return int(self.slots[index + 1] - self.slots[index]) // 64

    def ids(self, slots: Any) -> Any:
        """The vertices in these slots."""
        xp = module_of(slots)
        slots, shifts = slots.astype(np.int64), self.firsts - self.slots[:-1]
        if (shifts == shifts[0]).all() or not len(slots):  # as if every range begins at a multiple of 64
            return slots + int(shifts[0])
        index = xp.searchsorted(xp.asarray(self.slots[1:-1]), slots, side="right")
        return slots + xp.asarray(shifts)[index]

    def slots_of(self, ids: Any) -> Any:
        """The slots of these vertices; -1 for a vertex outside the group."""
        if not len(ids):
            return ids
        xp = module_of(ids)
        firsts, lengths, slots = (xp.asarray(column) for column in (self.firsts, self.lengths, self.slots))
        index = xp.clip(xp.searchsorted(firsts, ids, side="right") - 1, 0, None)
        offset = ids - firsts[index]
        inside = (offset >= 0) & (offset < lengths[index]) & (ids >= 0)
        return xp.where(inside, offset + slots[index], -1)


@dataclass(frozen=True)
class Layout:
    """The range of vertices of every rank, and the grid of ranks; columns = 0 for a 1D layout.

    >>> Layout.even(10, 3).starts.tolist()
    [0, 3, 6, 10]
    """

    starts: Ids  # rank r owns starts[r] ... starts[r + 1] - 1
    columns: int = 0

    @classmethod
    def even(cls, n: int, size: int, columns: int = 0) -> Layout:
        """Ranges of equal length."""
        return cls(np.array([r * n // size for r in range(size + 1)], np.int64), columns)

    @classmethod
    def balanced(cls, n: int, size: int, weights: npt.NDArray[Any], columns: int = 0) -> Layout:
        """Ranges of about equal weight; weights: one number per bucket of `bucket_size(n)` ids.

        >>> Layout.balanced(8, 2, np.array([9, 1, 1, 1, 1, 1, 1, 1])).starts.tolist()
        [0, 1, 8]
        """
        total = np.concatenate([[0.0], np.cumsum(weights, dtype=np.float64)])
        cuts = [int(np.argmin(np.abs(total - total[-1] * r / size))) for r in range(1, size)]
        inner = [min(cut * bucket_size(n), n) for cut in np.maximum.accumulate([0, *cuts]).tolist()[1:]]
        return cls(np.array([0, *inner, n], np.int64), columns)

    @cached_property
    def n(self) -> int:
        """The number of vertices."""
        return int(self.starts[-1])

    @cached_property
    def size(self) -> int:
        """The number of ranks."""
        return len(self.starts) - 1

    @cached_property
    def rows(self) -> int:
        """Rows of the grid; 0 for a 1D layout."""
        return self.size // self.columns if self.columns else 0

    def owner(self, ids: Any) -> Any:
        """The rank that owns each vertex."""
        xp = module_of(ids)
        if self.size == 1 or not len(ids):
            return xp.zeros(len(ids), np.int32)
        return xp.searchsorted(xp.asarray(self.starts[1:-1]), ids, side="right").astype(np.int32)

    def _group(self, ranks: list[int]) -> Group:
        lengths = np.diff(self.starts)[ranks]
        slots = np.concatenate([[0], np.cumsum(-(-lengths // 64) * 64)]).astype(np.int64)
        return Group(tuple(ranks), self.starts[ranks], lengths, slots)

    @cached_property
    def world(self) -> Group:
        """All ranks."""
        return self._group(list(range(self.size)))

    def alone(self, rank: int) -> Group:
        """One rank."""
        return self._group([rank])

    def row(self, rank: int) -> Group:
        """The ranks in this rank's row of the grid."""
        first = rank // self.columns * self.columns
        return self._group(list(range(first, first + self.columns)))

    def column(self, rank: int) -> Group:
        """The ranks in this rank's column of the grid."""
        return self._group(list(range(rank % self.columns, self.size, self.columns)))

    @cached_property
    def _shifts(self) -> dict[str, Ids]:
        """For each kind of group and rank: the number to add to a vertex id for its slot in that group."""
        starts = {"world": self.world.slots[:-1], "alone": np.zeros(self.size, np.int64)}
        for name, group_of in (("row", self.row), ("column", self.column)) if self.columns else ():
            groups = enumerate(map(group_of, range(self.size)))
            starts[name] = np.array([group.slots[group.ranks.index(rank)] for rank, group in groups], np.int64)
        return {name: slots - self.starts[:-1] for name, slots in starts.items()}

    def slots(self, ids: Any, owner: Any, kind: str) -> Any:
        """The slots of vertices in their owners' "world", "row", "column" or "alone" group."""
        shifts = self._shifts[kind]
        return ids + (int(shifts[0]) if self.size == 1 else module_of(ids).asarray(shifts)[owner])

    def destinations(self, u: Any, v: Any) -> Iterator[tuple[tuple[Any, Any], Any]]:
        """Destinations of arcs u → v: (tails and heads as slots there, the rank of each arc); two per arc in 1D."""
        of_u, of_v = self.owner(u), self.owner(v)
        if self.columns:
            rank = of_v // self.columns * self.columns + of_u % self.columns
            kinds = [("column", "row", rank)]
        else:
            kinds = [("alone", "world", of_u), ("world", "alone", of_v)]
        return (((self.slots(u, of_u, tail), self.slots(v, of_v, head)), rank) for tail, head, rank in kinds)


def bucket_size(n: int) -> int:
    """The number of consecutive ids per bucket for balanced ranges: 1, or a multiple of 64.

    Ranges of complete words have no unused slots between them, so a slot among all ranks is the vertex's id.
    """
    return -(-n // (64 * MAX_BUCKETS)) * 64 if n > MAX_BUCKETS else 1


def grid_columns(layout: str | tuple[int, int] | Layout, size: int, n: int = 0) -> int:
    """The number of columns of a layout's grid: 0 for "1d"; for "2d", the columns of the grid nearest to a square."""
    if layout == "1d":
        return 0
    if layout == "2d":
        return max(c for c in range(1, size + 1) if size % c == 0 and c * c <= size)
    if isinstance(layout, Layout):
        if layout.size != size or layout.n != n:
            raise GraphError(
                f"this layout is for {layout.size} ranks and {layout.n} vertices, but the graph has {n} on {size} "
                "ranks; create a Layout for these numbers"
            )
        return layout.columns
    if isinstance(layout, tuple) and len(layout) == 2 and layout[0] * layout[1] == size and min(layout) > 0:
        return int(layout[1])
    problem = f"layout={layout!r} does not fit {size} ranks"
    raise GraphError(f"{problem}; use '1d', '2d', or (rows, columns) whose product is {size}")
