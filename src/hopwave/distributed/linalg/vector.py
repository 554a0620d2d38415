"""DistributedVector: every rank has the values of its own places."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.algebra.vector import CONVERT, Shares, Vector
from hopwave.arrays import checked_places
from hopwave.distributed.layout import Layout
from hopwave.distributed.ranks import World
from hopwave.errors import LinalgError


class DistributedVector:
    """n places over the ranks of a job, some with a value. `own` is a `linalg.Vector` of this rank's places.

    This rank's places are those from `first` on. `own` may be changed by every operation of `hopwave.linalg`, which
    needs no exchange. `like` makes another vector over the same places.

    >>> A = da.DistributedMatrix.from_matrix(hw.generate.path(4))
    >>> A.vector([2], 7).gather().to_dict()
    {2: 7}
    """

    world: World
    layout: Layout
    own: Vector
    rule: Shares
    before: int  # entries when the rule last chose
    was_dense: bool  # what it chose

    def __init__(self, world: World, layout: Layout, own: Vector) -> None:
        """For internal use; `DistributedMatrix.vector` and `full` make one."""
        self.world, self.layout, self.own = world, layout, own
        self.rule, self.before, self.was_dense = CONVERT, 0, False

    @classmethod
    def from_entries(
        cls, world: World, layout: Layout, indices: Any, values: Any, dtype: npt.DTypeLike | None, device: str
    ) -> DistributedVector:
        """Values at some places of the whole vector; every rank gives the same, and keeps its own."""
        places = checked_places(indices, "indices").astype(np.int64)
        if len(places) and not (int(places.min()) >= 0 and int(places.max()) < layout.n):
            raise LinalgError(f"places run from {places.min()} to {places.max()}; this vector has 0 to {layout.n - 1}")
        first, end = layout.starts[world.rank : world.rank + 2].tolist()
        mine = (places >= first) & (places < end)
        given = np.asarray(values)
        some = given if given.ndim == 0 else given[mine]
        return cls(world, layout, Vector.from_entries(places[mine] - first, some, end - first, dtype).to(device))

    @property
    def n(self) -> int:
        """The number of places on all ranks."""
        return self.layout.n

    @property
    def first(self) -> int:
        """This rank's first place."""
        return int(self.layout.starts[self.world.rank])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values."""
        return self.own.dtype

    @property
    def nnz(self) -> int:
        """How many places have a value, on all ranks; read by all of them together."""
        return self.world.total(self.own.nnz)

    def like(self, own: Vector) -> DistributedVector:
        """A vector over the same places, with these values on this rank; it follows this vector's rule."""
        if own.n != self.own.n:
            raise LinalgError(f"{own.n} places where this rank has {self.own.n}; give a vector of that length")
        return DistributedVector(self.world, self.layout, own).follow(self)

    def follow(self, other: DistributedVector) -> DistributedVector:
        """Continue the sequence that `other` belongs to: take its rule, and what that rule last saw."""
        self.rule, self.before, self.was_dense = other.rule, other.before, other.was_dense
        return self

    def dense(self) -> bool:
        """Whether the rule takes the vector for a dense one, by its entries on all ranks (push-pull, section 6.3)."""
        count = self.nnz
        self.was_dense = self.rule.dense(self.n, count, self.before, self.was_dense)
        self.before = count
        return self.was_dense

    def gather(self) -> Vector | None:
        """The whole vector, on rank 0; None on the other ranks."""
        places, values = self.own.to("cpu").entries()
        pieces = self.world.gather((places.astype(np.int64) + self.first, values))
        if pieces is None:
            return None
        joined = [np.concatenate(columns) for columns in zip(*pieces, strict=True)]
        return Vector.from_entries(joined[0], joined[1], self.n)

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        return f"DistributedVector(n={self.n}, {self.dtype}, {self.own.n} places on this rank)"
