"""From edges on any rank to rows of neighbours on the ranks that search them.

Edges come in blocks, each rank's own. Every arc goes to the rank that keeps it (layout.py), named by slots; there the
arcs are sorted into rows, and repeats are merged. All ranks take part in as many exchanges as the busiest needs.

An arc is (row, column), two slots. If slots have 32 bits, an arc is one 64-bit number, row << 32 | column: such arcs
sort in place and never take more than 8 bytes. Arcs of 64-bit slots are kept in a table with two columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from hopwave.distributed.layout import Layout, bucket_size
from hopwave.distributed.ranks import World, wait_for
from hopwave.distributed.wire import HostWire
from hopwave.errors import GraphError

Rows = tuple[Any, Any]  # offsets, neighbours
HALF = np.uint64(32)
Edges = tuple[Any, Any]
Blocks = Callable[[], Iterable[Edges]]  # called again each time the edges are needed

BLOCK = 1 << 21  # edges that are exchanged at a time


class Built(NamedTuple):
    """A rank's arcs: heads by tail for pushes (`out`), tails by head for pulls (`into`); `edges` of all ranks.

    `tuples`: per tail slot, the number of input edges at that vertex, repeats and loops included; an undirected edge
    counts at both ends.
    """

    out: Rows
    into: Rows
    tuples: Any
    edges: int


def in_blocks(source: Any, target: Any) -> Iterator[Edges]:
    """Yields two columns of edge ends in blocks of BLOCK edges; one empty block if there are no edges."""
    for begin in range(0, max(len(source), 1), BLOCK):
        yield source[begin : begin + BLOCK], target[begin : begin + BLOCK]


def weights(world: World, blocks: Iterable[Edges], n: int) -> Any:
    """The work in each bucket of ids, over all ranks: 1 for every vertex and 1 for every end of an edge."""
    size = bucket_size(n)
    count = -(-n // size)
    counted = np.zeros(count, np.int64)

    def count_ends() -> None:
        for block in blocks:
            for ends in _checked(block, n) or ():
                counted[:] += np.bincount(ends // size, minlength=count)

    world.together(count_ends)
    return world.allreduce(counted) + size


def build(
    world: World, layout: Layout, blocks: Iterable[Edges], directed: bool, wire: HostWire, slot_type: Any
) -> Built:
    """Send every arc to its rank, and sort what arrives into rows; blocks hold this rank's edges by global ids."""
    xp, wide, columns = wire.xp, slot_type != np.uint32, layout.columns
    out_arcs: list[Any] = []  # (tail, head)
    in_arcs: list[Any] = []  # (head, tail), filled only for directed graphs in 1D
    edges, wanted = 0, [out_arcs, in_arcs] if directed and not columns else [out_arcs]
    for u, v in _in_step(world, blocks, layout.n):
        u, v = xp.asarray(u, dtype=np.int64), xp.asarray(v, dtype=np.int64)
        edges += len(u)
        if not directed:
            u, v = xp.concatenate([u, v]), xp.concatenate([v, u])
        for kept, (names, rank) in zip(wanted, layout.destinations(u, v), strict=False):
            row_first = names if kept is out_arcs else names[::-1]
            kept.append(sent_to_ranks(world, wire, rank, pack_arcs(xp, *row_first, wide)))
    if columns:
        tails, heads = layout.column(world.rank).size, layout.row(world.rank).size
    else:
        tails = heads = layout.alone(world.rank).size
    into, arcs, tuples = sort_into_rows(xp, _joined(xp, out_arcs, wide), tails)
    out = into
    if columns:
        into, _, _ = sort_into_rows(xp, transpose(xp, arcs), heads)
    elif directed:
        del arcs
        into, _, _ = sort_into_rows(xp, _joined(xp, in_arcs, wide), heads)
    return Built(out, into, tuples, world.total(edges))


def _in_step(world: World, blocks: Iterable[Edges], n: int) -> Iterator[Edges]:
    """This rank's blocks, then empty ones until every rank is done; ids are checked on all ranks together."""
    rest = iter(blocks)
    empty = np.empty(0, np.int64)
    while True:
        block = world.together(lambda: _checked(next(rest, None), n))
        if not world.total(int(block is not None)):
            return
        yield block if block is not None else (empty, empty)


def _checked(block: Edges | None, n: int) -> Edges | None:
    for ends in block or ():
        if len(ends) and not (int(ends.min()) >= 0 and int(ends.max()) < n):
            bad = int(ends.min()) if int(ends.min()) < 0 else int(ends.max())
            raise GraphError(
                f"edge end {bad} is not a vertex; the vertices are 0 to {n - 1}: give a larger n, or fix the edge"
            )
    return block


def sent_to_ranks(world: World, wire: HostWire, rank: Any, arcs: Any) -> Any:
    """Send each arc, or any other number of 64 bits, to its rank; returns those that all ranks sent to us."""
    if world.size == 1:
        return arcs
    xp = wire.xp
    counts = xp.bincount(rank, minlength=world.size)
    counts = np.asarray(counts if xp is np else counts.get(), np.int64)
    arriving = np.empty_like(counts)
    wait_for(world.comm.Ialltoall(counts, arriving), world.oversubscribed)
    # NumPy sorts 16-bit numbers in two counting passes.
    order = xp.argsort(rank.astype(np.int16) if world.size < 1 << 15 else rank, kind="stable")
    width = arcs.itemsize * arcs.ndim  # a table of wide slots has two columns
    out, into = (counts * width).tolist(), (arriving * width).tolist()
    data = wire.alltoallv(world.comm, arcs[order].ravel().view(np.uint8), out, into)()
    return data.view(np.uint64).reshape(-1, *arcs.shape[1:])


def _joined(xp: Any, pieces: list[Any], wide: bool) -> Any:
    """One array of all pieces; the list is emptied, so that their memory is free for the sort."""
    arcs = xp.concatenate([xp.empty((0, 2) if wide else 0, np.uint64), *pieces])
    pieces.clear()
    return arcs


# ---------------------------------------------------------------- arcs into rows


def pack_arcs(xp: Any, row: Any, column: Any, wide: bool) -> Any:
    """Arcs from their rows and columns."""
    row, column = row.astype(np.uint64), column.astype(np.uint64)
    return xp.stack([row, column], axis=1) if wide else row << HALF | column


def transpose(xp: Any, arcs: Any) -> Any:
    """Exchange the rows and columns of arcs; overwrites the arcs given."""
    if arcs.ndim == 2:
        return xp.ascontiguousarray(arcs[:, ::-1])
    rows = arcs << HALF
    arcs >>= HALF
    rows |= arcs
    return rows


def sort_into_rows(xp: Any, arcs: Any, count: int) -> tuple[Rows, Any, Any]:
    """Sorted rows without repeats, the arcs without repeats, and each row's number of arcs with repeats.

    The arcs given may be sorted in place.
    """
    if arcs.ndim == 2:
        arcs = arcs[xp.lexsort(xp.stack([arcs[:, 1], arcs[:, 0]]))]
    else:
        arcs.sort()
    had = xp.diff(_offsets(xp, arcs, count))
    new = xp.ones(len(arcs), bool)
    new[1:] = (arcs[1:] != arcs[:-1]) if arcs.ndim == 1 else (arcs[1:] != arcs[:-1]).any(axis=1)
    arcs = arcs[new]
    column = arcs.astype(np.uint32) if arcs.ndim == 1 else arcs[:, 1].copy()  # the lower half
    return (_offsets(xp, arcs, count), column), arcs, had


def _offsets(xp: Any, arcs: Any, count: int) -> Any:
    """The position of each row's first arc in sorted arcs, and the end.

    Found by binary search: CuPy's bincount keeps a histogram per thread block, which takes too much GPU memory.
    """
    rows = xp.arange(count, dtype=np.uint64)
    offsets = xp.full(count + 1, len(arcs), np.int64)
    if len(arcs):
        first = xp.searchsorted(arcs, rows << HALF) if arcs.ndim == 1 else xp.searchsorted(arcs[:, 0].copy(), rows)
        offsets[:count] = first
    return offsets
