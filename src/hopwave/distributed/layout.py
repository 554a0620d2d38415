"""Who owns which vertex, and which rank keeps which arc.

    n, P     vertices and ranks         u → v    an arc, from its tail u to its head v
    R × C    the grid of a 2D layout: rank r stands in row r // C and column r % C

Every rank owns a range of vertex ids. In a 1D layout it keeps the out-arcs of its vertices for pushes and their in-arcs
for pulls (the same ones, where the graph is undirected). In a 2D layout (Yoo et al. 2005; Beamer et al. 2013) the arc
u → v lies on the rank in the row of v's owner and the column of u's owner: a push then gathers its frontier along
columns and sends what it found along rows, so that a rank talks to R + C others instead of R · C.

Ids are 64 bits wide. Inside a group of ranks a vertex is known by its *slot*: the ranges of the group's ranks one after
another, each starting at a multiple of 64, so that a slot is also a place in a bitmap. Slots have 32 bits where a group
has no more than 2^32 of them, else 64.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.errors import GraphError

Ids = npt.NDArray[np.int64]

NARROW = 1 << 32  # slots that 32 bits can name
BUCKETS = 1 << 16  # places between which a range may end when ranges are balanced


@dataclass(frozen=True)
class Group:
    """Some ranks' vertices, one range after another. `slots`: where each range begins, and the end."""

    ranks: tuple[int, ...]
    firsts: Ids
    lengths: Ids
    slots: Ids

    @property
    def size(self) -> int:
        """Slots in all, with the unused ones between ranges."""
        return int(self.slots[-1])

    @property
    def slot_type(self) -> Any:
        """The unsigned type that holds a slot."""
        return np.uint32 if self.size <= NARROW else np.uint64

    def words(self, place: int) -> int:
        """Words of 64 vertices that the range of the place-th rank takes in a bitmap."""
        return int(self.slots[place + 1] - self.slots[place]) // 64

    def ids(self, slots: Any) -> Any:
        """The vertices that stand in these slots.

        >>> Layout.even(10, 2).world.ids(np.array([0, 64, 68])).tolist()
        [0, 5, 9]
        """
        xp = _library(slots)
        slots = slots.astype(np.int64)
        if len(self.ranks) == 1:
            return slots + int(self.firsts[0])
        place = xp.searchsorted(xp.asarray(self.slots[1:-1]), slots, side="right")
        return slots + xp.asarray(self.firsts - self.slots[:-1])[place]


@dataclass(frozen=True)
class Layout:
    """Ranges of vertices, and the grid that the ranks stand in; columns = 0 for a 1D layout.

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
        """Ranges of about equal weight; weights: one number for each of equally many ids, `bucket(n)` at a time.

        >>> Layout.balanced(8, 2, np.array([9, 1, 1, 1, 1, 1, 1, 1])).starts.tolist()
        [0, 1, 8]
        """
        total = np.concatenate([[0.0], np.cumsum(weights, dtype=np.float64)])
        cuts = [int(np.argmin(np.abs(total - total[-1] * r / size))) for r in range(1, size)]
        inner = [min(cut * bucket(n), n) for cut in np.maximum.accumulate([0, *cuts]).tolist()[1:]]
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
        xp = _library(ids)
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
    def _bases(self) -> dict[str, Ids]:
        """What to add to an id to get its slot in the world, in its owner's row, column, or range, by owner."""
        base = {"world": self.world.slots[:-1], "alone": np.zeros(self.size, np.int64)}
        if self.columns:
            for name, group_of in (("row", self.row), ("column", self.column)):
                base[name] = np.array(
                    [(g := group_of(rank)).slots[g.ranks.index(rank)] for rank in range(self.size)], np.int64
                )
        return {name: starts - self.starts[:-1] for name, starts in base.items()}

    def slots(self, ids: Any, owner: Any, kind: str) -> Any:
        """The slots of vertices in their owners' "world", "row", "column" or "alone" group."""
        base = self._bases[kind]
        return ids + (int(base[0]) if self.size == 1 else _library(ids).asarray(base)[owner])


def bucket(n: int) -> int:
    """How many ids stand together when ranges are balanced.

    >>> bucket(100), bucket(10 * BUCKETS)
    (1, 10)
    """
    return -(-n // BUCKETS) or 1


def grid_columns(layout: str | tuple[int, int], size: int) -> int:
    """The columns of the grid that `layout` asks for: "1d" gives 0, "2d" the grid nearest to a square.

    >>> grid_columns("1d", 6), grid_columns("2d", 6), grid_columns((2, 3), 6)
    (0, 2, 3)
    """
    if layout == "1d":
        return 0
    if layout == "2d":
        return max(c for c in range(1, size + 1) if size % c == 0 and c * c <= size)
    if isinstance(layout, tuple) and len(layout) == 2 and layout[0] * layout[1] == size and min(layout) > 0:
        return int(layout[1])
    raise GraphError(f"layout={layout!r} does not fit {size} ranks; use '1d', '2d' or (rows, columns) of that product")


def _library(array: Any) -> Any:
    """NumPy, or CuPy for arrays on a GPU."""
    if isinstance(array, np.ndarray | np.generic):
        return np
    import cupy

    return cupy
