"""DistributedMatrix and DistributedVector: a square matrix and vectors over ranks, laid out like a DistributedGraph.

A rank stores blocks: matrices whose rows are slots of a side of tails and whose columns are slots of a side of heads
(wire.py). In 1D a rank has two blocks, the rows and the columns of its vertices; in 2D one, of its grid row and column.
"""

from __future__ import annotations

from itertools import count
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hopwave.algebra.matrix import Matrix, as_matrix
from hopwave.algebra.vector import CONVERT, Shares, Vector
from hopwave.arrays import checked_places
from hopwave.distributed.graph import DistributedGraph, choose_device, pack_arcs, sent_to_ranks, weights
from hopwave.distributed.layout import Layout, grid_columns
from hopwave.distributed.ranks import World, world
from hopwave.distributed.wire import HostWire, Side, sides_of, wire_for
from hopwave.errors import LinalgError
from hopwave.graph.csr import LARGEST_VERTEX_COUNT, Rows, offset_type

_numbers = count(1)  # all ranks create matrices in the same order, so a matrix has the same number on all ranks


class DistributedVector:
    """A vector of length n over the ranks of a job. `own` is a `linalg.Vector` of this rank's positions.

    The positions start at `first`. Every operation of `hopwave.linalg` may change `own`, without an exchange.

    >>> A = da.DistributedMatrix.from_matrix(hw.generate.path(4))
    >>> A.vector([2], 7).gather().to_dict()
    {2: 7}
    """

    def __init__(self, world: World, layout: Layout, own: Vector) -> None:
        """For internal use; users call `DistributedMatrix.vector` or `full`."""
        self.world, self.layout, self.own = world, layout, own
        self.rule: Shares = CONVERT
        self.before, self.was_dense = 0, False  # entries at the rule's last choice, and whether it chose dense

    @property
    def n(self) -> int:
        """The length over all ranks."""
        return self.layout.n

    @property
    def first(self) -> int:
        """This rank's first position."""
        return int(self.layout.starts[self.world.rank])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values."""
        return self.own.dtype

    @property
    def nnz(self) -> int:
        """The number of positions with a value, over all ranks; read by all ranks."""
        return self.world.total(self.own.nnz)

    def like(self, own: Vector) -> DistributedVector:
        """A vector with the same layout and rule, with these values on this rank."""
        if own.n != self.own.n:
            raise LinalgError(f"the vector has length {own.n}; pass one of length {self.own.n}, this rank's share")
        made = DistributedVector(self.world, self.layout, own)
        made.rule, made.before, made.was_dense = self.rule, self.before, self.was_dense
        return made

    def dense(self) -> bool:
        """Whether the rule chooses dense, from the entries on all ranks (push-pull, section 6.3)."""
        count = self.nnz
        self.was_dense = self.rule.dense(self.n, count, self.before, self.was_dense)
        self.before = count
        return self.was_dense

    def gather(self) -> Vector | None:
        """The full vector on rank 0; None on other ranks."""
        places, values = self.own.to("cpu").entries()
        pieces = self.world.gather((places.astype(np.int64) + self.first, values))
        if pieces is None:
            return None
        joined = [np.concatenate(columns) for columns in zip(*pieces, strict=True)]
        return Vector.from_entries(joined[0], joined[1], self.n)

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        return f"DistributedVector(n={self.n}, {self.dtype}, {self.own.n} on this rank)"


class Block(NamedTuple):
    """The entries of a rank between a side of tails and a side of heads."""

    matrix: Matrix
    tails: Side
    heads: Side


class DistributedMatrix:
    """A square sparse matrix over the ranks of a job; all ranks create it jointly.

    >>> A = da.DistributedMatrix.from_graph(distributed.kronecker(5))
    >>> A.n, A.has_values
    (32, False)
    """

    def __init__(self, world: World, layout: Layout, wire: HostWire, device: str, blocks: tuple[Block, ...]) -> None:
        """For internal use; users call `from_graph`, `from_matrix` or `from_entries`."""
        self.world, self.layout, self.wire, self.device, self.blocks = world, layout, wire, device, blocks
        self.number = next(_numbers)

    @classmethod
    def from_graph(cls, G: DistributedGraph) -> DistributedMatrix:
        """The adjacency matrix of a distributed graph, a pattern; it shares the graph's arrays."""
        if not isinstance(G, DistributedGraph):
            raise LinalgError(f"{G!r:.60} is not a DistributedGraph; use from_matrix, or hopwave.distributed.spread")
        G.world.together(lambda: check_slots(G.push_heads, G.pull_tails))
        out = _pattern(G.part.out_offsets, G.part.heads, G.push_tails, G.push_heads)
        blocks: tuple[Block, ...] = (Block(out, G.push_tails, G.push_heads),)
        if not G.layout.columns:
            into = _pattern(G.part.in_offsets, G.part.tails, G.pull_heads, G.pull_tails)
            blocks += (Block(into.T, G.pull_tails, G.pull_heads),)
        return cls(G.world, G.layout, G.wire, G.device, blocks)

    @classmethod
    def from_matrix(
        cls, A: Any, *, layout: str | tuple[int, int] = "1d", device: str = "cpu", weights: bool = True
    ) -> DistributedMatrix:
        """Split a Matrix, Graph or SciPy matrix that rank 0 passes; the others pass it also, or None."""
        joined = world()
        joined.agree("from_matrix", layout=layout, device=device, weights=weights)
        given = joined.together(lambda: _given(A, joined.rank, weights))
        n, kind = joined.allgather(None if given is None else (given.shape[0], given.has_values and given.dtype.str))[0]
        rows, columns = np.empty((2, 0), np.int64)
        values = np.empty(0, np.dtype(kind)) if kind else None
        if given is not None:
            indptr, columns, values = given.rows
            rows = np.repeat(np.arange(n), np.diff(indptr))
        return cls.from_entries(rows, columns, values, n, layout=layout, device=device)

    @classmethod
    def from_entries(
        cls, rows: Any, columns: Any, values: Any = None, n: int | None = None, *,
        layout: str | tuple[int, int] = "1d", device: str = "cpu",
    ) -> DistributedMatrix:  # fmt: skip
        """Entries at (rows[i], columns[i]) of each rank; repeats are summed, or merged if there are no values."""
        joined = world()
        joined.agree("from_entries", n=n, layout=layout, device=device, values=values is not None)
        u, v, given = joined.together(lambda: _checked(rows, columns, values))
        top = max(joined.allgather(int(max(u.max(initial=-1), v.max(initial=-1))))) + 1
        size = top if n is None else n

        def check() -> int:
            if size < top:
                raise LinalgError(f"n={size} is too small for index {top - 1}; pass a larger n, or omit it")
            choose_device(joined, device, None)
            return grid_columns(layout, joined.size, size)

        grid = joined.together(check)
        if joined.size > 1:
            made = Layout.balanced(size, joined.size, weights(joined, [(u, v)], size), grid)
        else:
            made = Layout.even(size, joined.size, grid)
        push_tails, push_heads, pull_tails, pull_heads = sides_of(joined, made)
        joined.together(lambda: check_slots(push_heads, pull_tails))
        wire = HostWire(joined.oversubscribed)  # entries are sent from the host, even if products run on GPUs
        sides = [(push_tails, push_heads)] if grid else [(push_tails, push_heads), (pull_tails, pull_heads)]
        blocks = tuple(
            Block(_received(joined, wire, there, names, given, *pair).to(device), *pair)
            for pair, (names, there) in zip(sides, made.destinations(u, v), strict=True)
        )
        return cls(joined, made, wire_for(joined, device), device, blocks)

    @property
    def n(self) -> int:
        """The number of rows and of columns."""
        return self.layout.n

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values; bool for a pattern."""
        return self.blocks[0].matrix.dtype

    @property
    def has_values(self) -> bool:
        """Whether entries have values; False for a pattern."""
        return self.blocks[0].matrix.has_values

    @property
    def named(self) -> str:
        """The key by which ranks compare the matrices of a call."""
        return f"matrix {self.number}"

    @property
    def own(self) -> int:
        """The number of positions that this rank owns."""
        return int(np.diff(self.layout.starts)[self.world.rank])

    def vector(self, indices: Any = (), values: Any = True, dtype: npt.DTypeLike | None = None) -> DistributedVector:
        """A vector with the matrix's layout: empty, or with values at `indices`, the same on all ranks."""
        places = checked_places(indices, "indices").astype(np.int64)
        if len(places) and not (int(places.min()) >= 0 and int(places.max()) < self.n):
            raise LinalgError(f"indices range from {places.min()} to {places.max()}; valid are 0 to {self.n - 1}")
        first, end = self.layout.starts[self.world.rank : self.world.rank + 2].tolist()
        mine = (places >= first) & (places < end)
        given = np.asarray(values)
        some = given if given.ndim == 0 else given[mine]
        own = Vector.from_entries(places[mine] - first, some, end - first, dtype).to(self.device)
        return DistributedVector(self.world, self.layout, own)

    def full(self, value: Any, dtype: npt.DTypeLike | None = None) -> DistributedVector:
        """A vector with the matrix's layout and the same value at every position."""
        return DistributedVector(self.world, self.layout, Vector.full(self.own, value, dtype, device=self.device))

    def block(self, forward: bool, pull: bool) -> Block:
        """The block of a product along the arcs (vxm) or against them (mxv), pushed or pulled."""
        return self.blocks[-1 if forward == pull else 0]

    def __repr__(self) -> str:
        kind = str(self.dtype) if self.has_values else "pattern"
        return f"DistributedMatrix({self.n} × {self.n}, {kind}, {self.world.size} ranks)"


def check_slots(*sides: Side) -> None:
    """Raise a LinalgError unless slots fit 32-bit integers, as products require."""
    most = max(side.group.size for side in sides)
    if most > LARGEST_VERTEX_COUNT:
        raise LinalgError(f"{most} slots on one side exceed {LARGEST_VERTEX_COUNT}; use layout='2d'")


def _pattern(offsets: Any, places: Any, rows: Side, columns: Side) -> Matrix:
    """A block of a graph as a pattern: 32-bit slots below 2³¹ have the same bits signed or unsigned."""
    indices = places.view(np.int32) if places.dtype == np.uint32 else places.astype(np.int32)
    narrow = offsets.astype(offset_type(len(indices)), copy=False)
    return Matrix.from_rows(Rows(narrow, indices, None), (rows.group.size, columns.group.size))


def _given(A: Any, rank: int, weighted: bool) -> Matrix | None:
    """The matrix that this rank contributes: all of it on rank 0, None on others."""
    if rank:
        return None
    found = as_matrix(A, weights=weighted).to("cpu")
    if found.shape[0] != found.shape[1]:
        raise LinalgError(f"the matrix has shape {found.shape}; a distributed matrix must be square")
    return found


def _checked(rows: Any, columns: Any, values: Any) -> tuple[Any, Any, Any]:
    u, v = (checked_places(given, name).astype(np.int64) for given, name in ((rows, "rows"), (columns, "columns")))
    given = None if values is None else np.asarray(values)
    if len(u) != len(v) or (given is not None and given.shape != u.shape):
        raise LinalgError(f"{len(u)} rows, {len(v)} columns, values of shape {np.shape(values)}; lengths must match")
    if len(u) and min(int(u.min()), int(v.min())) < 0:
        raise LinalgError("a row or column is negative; indices must be at least 0")
    return u, v, given


def _received(
    world: World, wire: HostWire, there: Any, names: tuple[Any, Any], values: Any, tails: Side, heads: Side
) -> Matrix:
    """Send every entry to its rank; returns the block of received entries."""
    arcs = sent_to_ranks(world, wire, there, pack_arcs(np, *names, wide=False))
    i, j = (arcs >> np.uint64(32)).astype(np.int64), (arcs & np.uint64(0xFFFFFFFF)).astype(np.int64)
    shape = tails.group.size, heads.group.size
    if values is None:
        return Matrix.from_edges(i, j, shape=shape)
    wide = values.astype(np.float64 if values.dtype.kind == "f" else np.int64)
    came = sent_to_ranks(world, wire, there, wide.view(np.uint64)).view(wide.dtype).astype(values.dtype)
    return Matrix.from_edges(i, j, came, shape=shape)
