"""The ranks on one side of an exchange, and the exchanges in which vertices are named by their slots there.

An arc has a side of tails and a side of heads, for pushes and for pulls. In a 1D layout one of the two is this rank
alone and the other is all ranks; in a 2D layout they are this rank's column and its row of the grid (layout.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from hopwave.distributed import codec
from hopwave.distributed.layout import Group, Layout
from hopwave.distributed.ranks import World
from hopwave.distributed.wire import HostWire, Pending

Received = Iterator[tuple[int, Any, Any]]  # from each rank: its number, positions of own vertices, values as bytes


@dataclass(frozen=True)
class Side:
    """Ranks that exchange something: their communicator (None if this rank is alone), vertices, and our index there."""

    comm: Any
    group: Group
    index: int

    @property
    def first(self) -> int:
        return int(self.group.slots[self.index])


def sides_of(world: World, layout: Layout) -> tuple[Side, Side, Side, Side]:
    """The sides of pushes (tails, heads) and of pulls (tails, heads)."""
    rank = world.rank
    if not layout.columns:
        alone = Side(None, layout.alone(rank), 0)
        all_ranks = Side(world.comm, layout.world, rank) if world.size > 1 else alone
        return alone, all_ranks, all_ranks, alone
    row, column = layout.row(rank), layout.column(rank)
    i, j = divmod(rank, layout.columns)
    row_comm, column_comm = world.grid(layout.columns)
    along_row = Side(row_comm if len(row.ranks) > 1 else None, row, j)
    along_column = Side(column_comm if len(column.ranks) > 1 else None, column, i)
    return along_column, along_row, along_column, along_row


# ---------------------------------------------------------------- some vertices, as packets


def allgather_slots(
    wire: HostWire, side: Side, own: int, positions: Any, values: Any = None, compress: bool = True
) -> tuple[Any, Any]:
    """Gathers vertices from all ranks of a side: their slots, and their values as rows of bytes (None without values).

    own: the number of this rank's vertices. positions: which of them to send, sorted if they have values.
    """
    xp = wire.xp
    if values is None:
        shape, data = codec.pack_set(xp, positions, own, compress)
    else:
        shape, data = codec.pack(xp, positions, values, own, compress)
    shapes, pending = wire.allgather_packets(side.comm, shape, data, side.group.lengths)
    slots, rows = [xp.empty(0, np.int64)], [] if values is None else [values[:0]]
    for index, (one, packet) in enumerate(zip(shapes, pending(), strict=True)):
        if one[0]:
            found, theirs = codec.unpack(xp, one, packet, int(side.group.lengths[index]))
            slots.append(found + int(side.group.slots[index]))
            rows.append(theirs)
    return xp.concatenate(slots), None if values is None else xp.concatenate(rows)


class Sent(NamedTuple):
    """Messages on their way to the owners of vertices. `own`: the slice of messages to ourselves, never sent."""

    own: slice
    value_bytes: int
    receive: Callable[[], Received]  # waits for what the other ranks sent us


def send_to_owners(
    wire: HostWire, side: Side, own: int, slots: Any, values: Callable[[slice], Any], compress: bool = True
) -> Sent:
    """Begin to send messages about vertices of a side, sorted by slot, to their owners.

    values(some) returns the values of a slice of the messages as rows of bytes, or None. own: this rank's vertex count.
    """
    xp, group = wire.xp, side.group
    cuts = [0] * len(group.ranks)
    if len(slots):
        cuts = xp.searchsorted(slots, xp.asarray(group.slots[:-1]).astype(slots.dtype)).tolist()
    ranges = [slice(begin, end) for begin, end in pairwise([*cuts, len(slots)])]
    if side.comm is None:
        return Sent(ranges[side.index], 0, lambda: iter(()))
    shapes: list[codec.Shape] = []
    packets: list[Any] = []
    for index, some in enumerate(ranges):
        if index == side.index:
            shape, data = codec.EMPTY, xp.empty(0, np.uint8)
        else:
            positions = slots[some].astype(np.int64) - int(group.slots[index])
            shape, data = codec.pack(xp, positions, values(some), int(group.lengths[index]), compress)
        shapes.append(shape)
        packets.append(data)
    arriving, pending = wire.alltoall_packets(side.comm, shapes, packets, own)
    return Sent(
        ranges[side.index], sum(map(codec.value_bytes, shapes)), lambda: unpacked(wire, side, own, arriving, pending)
    )


def unpacked(wire: HostWire, side: Side, own: int, shapes: list[codec.Shape], pending: Pending) -> Received:
    """What each other rank of a side sent about our own vertices, once it has arrived."""
    for index, (shape, data) in enumerate(zip(shapes, pending(), strict=True)):
        if shape[0] and index != side.index:
            positions, values = codec.unpack(wire.xp, shape, data, own)
            yield side.group.ranks[index], positions, values


# ---------------------------------------------------------------- one value per vertex


def allgather_values(graph: Any, side: Side, values: Any, unused: int = -1) -> Any:
    """One value per slot of a side, from each rank's values of its own vertices. Slots of no vertex get `unused`."""
    padded = graph.part.xp.full(graph.words * 64, unused, values.dtype)
    padded[: graph.own] = values
    if side.comm is None:
        return padded
    sizes = (np.diff(side.group.slots) * values.itemsize).tolist()
    return graph.wire.allgatherv(side.comm, padded.view(np.uint8), sizes)().view(values.dtype)


def reduce_to_owners(graph: Any, side: Side, values: Any, greatest: bool = False) -> Any:
    """The sum (or the greatest) over a side's ranks of one value per slot, for this rank's own vertices."""
    xp = graph.part.xp
    if side.comm is not None:
        from mpi4py import MPI

        host = np.ascontiguousarray(values if xp is np else values.get())
        reduced = np.empty_like(host)
        graph.world.barrier()
        side.comm.Allreduce(host, reduced, op=MPI.MAX if greatest else MPI.SUM)
        values = xp.asarray(reduced)
    return values[side.first : side.first + graph.own]
