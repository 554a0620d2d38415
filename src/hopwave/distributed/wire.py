"""Exchanges between ranks: bytes, from host memory or from a GPU, and vertices, identified by slots on a side of arcs.

Arrays on a GPU use the best of three methods: NCCL, if every rank has its own GPU; an MPI that declares support for
device pointers; else a copy through pinned host memory. Exchanges are asynchronous, so that a rank
can compute meanwhile.
"""

import ctypes
import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from hopwave.distributed import codec
from hopwave.distributed.codec import Shape
from hopwave.distributed.layout import Group, Layout
from hopwave.distributed.ranks import World, wait_for

RING = 3  # MPI tag of packets in a ring
Pending = Callable[[], Any]  # waits for an exchange and returns the received data
Received = Iterator[tuple[int, Any, Any]]  # from each rank: its number, positions of own vertices, values as bytes


class HostWire:
    """Exchanges between ranks; `sent`: bytes sent by this rank; `waited`: seconds of waiting, except for NCCL."""

    name = "host memory"
    xp: Any = np

    def __init__(self, oversubscribed: bool = False) -> None:
        self.sent: int = 0
        self.waited: float = 0.0
        self.oversubscribed: bool = oversubscribed

    def _wait_for(self, request: Any) -> None:
        began = time.perf_counter()
        wait_for(request, self.oversubscribed)
        self.waited += time.perf_counter() - began

    def allgather(self, comm: Any, numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The numbers of all ranks, one row per rank; always from the host."""
        numbers = np.ascontiguousarray(numbers)
        if comm is None or comm.Get_size() == 1:
            return numbers.reshape(1, -1)
        by_rank = np.empty((comm.Get_size(), numbers.size), numbers.dtype)
        self._wait_for(comm.Iallgather(numbers, by_rank))
        self.sent += numbers.nbytes * (comm.Get_size() - 1)
        return by_rank

    # -------------------------------------------------------------- packets

    def allgather_packets(self, comm: Any, shape: Shape, data: Any, lengths: Any) -> tuple[list[Shape], Pending]:
        """Start to send one packet to all ranks; the wait returns all packets, of positions below their lengths."""
        shapes = [tuple(row) for row in self.allgather(comm, np.array(shape, np.int64)).tolist()]
        sizes = [codec.packed_size(one, int(length)) for one, length in zip(shapes, lengths, strict=True)]
        self.sent += len(data) * (len(sizes) - 1)
        return shapes, self._split(self.allgatherv(comm, data, sizes), sizes)

    def alltoall_packets(
        self, comm: Any, shapes: list[Shape], packets: list[Any], length: int
    ) -> tuple[list[Shape], Pending]:
        """Start to send each other rank its packet; the wait returns the packets for this rank."""
        table = np.array(shapes, np.int64)
        theirs = np.empty_like(table)
        self._wait_for(comm.Ialltoall(table, theirs))
        me = comm.Get_rank()
        out = [len(packet) if rank != me else 0 for rank, packet in enumerate(packets)]
        arriving: list[Shape] = [tuple(row) for row in theirs.tolist()]
        sizes = [codec.packed_size(shape, length) if rank != me else 0 for rank, shape in enumerate(arriving)]
        self.sent += table[0].nbytes * (len(out) - 1) + sum(out)
        data = self.xp.concatenate([p if r != me else p[:0] for r, p in enumerate(packets)])
        return arriving, self._split(self.alltoallv(comm, data, out, sizes), sizes)

    def pass_packet(self, comm: Any, shape: Shape, data: Any, length: int) -> tuple[Shape, Pending]:
        """Start to send a packet to the previous rank in the ring; the wait returns the packet of the next rank."""
        size, me = comm.Get_size(), comm.Get_rank()
        previous, following = (me - 1) % size, (me + 1) % size
        mine, theirs = np.array(shape, np.int64), np.empty(3, np.int64)
        for request in (comm.Irecv(theirs, following, RING), comm.Isend(mine, previous, RING)):
            self._wait_for(request)
        arriving: Shape = (int(theirs[0]), int(theirs[1]), int(theirs[2]))
        out, into = [0] * size, [0] * size
        out[previous], into[following] = len(data), codec.packed_size(arriving, length)
        self.sent += mine.nbytes + len(data)
        return arriving, self.alltoallv(comm, data, out, into)

    def _split(self, pending: Pending, sizes: list[int]) -> Pending:
        return lambda: self.xp.split(pending(), _starts(sizes)[1:])

    def _after(self, request: Any, received: Any, sent: Any) -> Pending:
        def wait() -> Any:
            nonlocal sent
            self._wait_for(request)
            sent = None  # MPI may read it until now
            return received

        return wait

    # -------------------------------------------------------------- bytes; other wires override these

    def buffer(self, size: int) -> Any:
        return np.empty(size, np.uint8)

    def allgatherv(self, comm: Any, data: Any, sizes: list[int]) -> Pending:
        """Start to send bytes to all ranks; sizes: the number of bytes from each."""
        received = self.buffer(sum(sizes))
        request = comm.Iallgatherv(data, [received, sizes])
        return self._after(request, received, data)

    def alltoallv(self, comm: Any, data: Any, out: list[int], into: list[int]) -> Pending:
        """Start to send each rank its bytes; out and into: the number of bytes to and from each."""
        received = self.buffer(sum(into))
        request = comm.Ialltoallv([data, out], [received, into])
        return self._after(request, received, data)


def _starts(sizes: list[int]) -> list[int]:
    return [0, *np.cumsum(sizes)[:-1].tolist()]


class PinnedWire(HostWire):
    """Arrays on a GPU, copied through pinned host memory: works with every MPI, and for ranks that share a GPU."""

    name = "pinned host memory"

    def __init__(self, oversubscribed: bool = False) -> None:
        super().__init__(oversubscribed)
        import cupy

        self.xp = cupy

    def buffer(self, size: int) -> Any:
        from cupyx import empty_pinned

        return empty_pinned((size,), np.uint8) if size else np.empty(0, np.uint8)

    def allgatherv(self, comm: Any, data: Any, sizes: list[int]) -> Pending:
        return self._to_gpu(super().allgatherv(comm, self._to_host(data), sizes))

    def alltoallv(self, comm: Any, data: Any, out: list[int], into: list[int]) -> Pending:
        return self._to_gpu(super().alltoallv(comm, self._to_host(data), out, into))

    def _to_host(self, data: Any) -> Any:
        host = self.buffer(data.size)
        if data.size:
            data.get(out=host)
        return host

    def _to_gpu(self, pending: Pending) -> Pending:
        def wait() -> Any:
            host = pending()
            there = self.xp.asarray(host)
            self.xp.cuda.get_current_stream().synchronize()  # CuPy copies asynchronously and does not keep `host` alive
            return there

        return wait


class CudaAwareWire(PinnedWire):
    """Pass device pointers to an MPI that declares support for them, after synchronising the stream."""

    name = "CUDA-aware MPI"

    def buffer(self, size: int) -> Any:
        return self.xp.empty(size, np.uint8)

    def _to_host(self, data: Any) -> Any:
        self.xp.cuda.get_current_stream().synchronize()  # MPI does not know about streams
        return data

    def _to_gpu(self, pending: Pending) -> Pending:
        return pending


class NcclWire(PinnedWire):
    """NCCL, with one GPU per rank. Each group of ranks creates an NCCL communicator on first use."""

    name = "NCCL"

    def __init__(self, oversubscribed: bool = False) -> None:
        super().__init__(oversubscribed)
        self._communicators: dict[int, Any] = {}

    def communicator(self, comm: Any) -> Any:
        from cupy.cuda import nccl

        if comm.handle not in self._communicators:
            number = comm.bcast(nccl.get_unique_id() if comm.Get_rank() == 0 else None)
            self._communicators[comm.handle] = nccl.NcclCommunicator(comm.Get_size(), number, comm.Get_rank())
        return self._communicators[comm.handle]

    def allgatherv(self, comm: Any, data: Any, sizes: list[int]) -> Pending:
        return self._send_and_receive(comm, [(data, 0, len(data))] * len(sizes), sizes)

    def alltoallv(self, comm: Any, data: Any, out: list[int], into: list[int]) -> Pending:
        slices = [(data, start, size) for start, size in zip(_starts(out), out, strict=True)]
        return self._send_and_receive(comm, slices, into)

    def _send_and_receive(self, comm: Any, slices: list[tuple[Any, int, int]], into: list[int]) -> Pending:
        """Send and receive in one NCCL group; slices: (array, first byte, number of bytes) for each rank."""
        from cupy.cuda import nccl

        communicator = self.communicator(comm)
        received = self.xp.empty(sum(into), np.uint8)
        stream = self.xp.cuda.get_current_stream().ptr
        nccl.groupStart()
        for peer, ((data, start, size), begin, length) in enumerate(zip(slices, _starts(into), into, strict=True)):
            if size:
                communicator.send(data.data.ptr + start, size, nccl.NCCL_UINT8, peer, stream)
            if length:
                communicator.recv(received.data.ptr + begin, length, nccl.NCCL_UINT8, peer, stream)
        nccl.groupEnd()
        return lambda: received  # no wait: later work in the same stream is ordered after it


def wire_for(joined: World, device: str) -> HostWire:
    """The best wire between these ranks for arrays on that device; all ranks choose the same one."""
    if device != "cuda":
        return HostWire(joined.oversubscribed)
    import cupy

    used = joined.allgather((platform.node(), str(cupy.cuda.Device().pci_bus_id)))
    if len(set(used)) == joined.size > 1 and has_nccl():  # no two ranks use the same GPU
        return NcclWire(joined.oversubscribed)
    aware = joined.total(int(takes_device_pointers())) == joined.size
    return CudaAwareWire(joined.oversubscribed) if aware else PinnedWire(joined.oversubscribed)


def has_nccl() -> bool:
    try:
        from cupy.cuda import nccl
    except ImportError:
        return False
    return bool(getattr(nccl, "available", False))


def takes_device_pointers() -> bool:
    """Whether this MPI declares support for device pointers, by MPI 4.1's info key or by its own extension."""
    from mpi4py import MPI

    kinds = MPI.COMM_WORLD.Get_info().Get("mpi_memory_alloc_kinds") or ""
    if any(kind.strip().startswith("cuda") for kind in kinds.split(",")):
        return True
    try:
        library = ctypes.CDLL(MPI.__file__)
        if MPI.get_vendor()[0] == "Open MPI":
            return bool(library.MPIX_Query_cuda_support())
        supported = ctypes.c_int(0)
        return library.MPIX_GPU_query_support(0, ctypes.byref(supported)) == 0 and bool(supported.value)
    except (AttributeError, OSError):
        return False


# ---------------------------------------------------------------- sides of arcs


@dataclass(frozen=True)
class Side:
    """Ranks that exchange data: their communicator (None for one rank), their vertices, and this rank's index.

    In 1D, one side of the arcs is this rank and the other all ranks; in 2D, the sides are its grid column and grid row.
    """

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


# ---------------------------------------------------------------- sets of vertices as packets


def allgather_slots(
    wire: HostWire, side: Side, own: int, positions: Any, values: Any = None, compress: bool = True
) -> tuple[Any, Any]:
    """Gather vertices from all ranks of a side: their slots, and their values as rows of bytes (None without values).

    own: the number of this rank's vertices. positions: the vertices to send, sorted if they have values.
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
    """Messages in transit to the owners of vertices. `own`: the slice of messages to this rank, never sent."""

    own: slice
    value_bytes: int
    receive: Callable[[], Received]  # waits for the messages of other ranks


def send_to_owners(
    wire: HostWire, side: Side, own: int, slots: Any, values: Callable[[slice], Any], compress: bool = True
) -> Sent:
    """Start to send messages about vertices of a side, sorted by slot, to their owners.

    values(some) returns the values of a slice of the messages as rows of bytes, or None. own: this rank's vertex count.
    """
    xp, group = wire.xp, side.group
    cuts = [0] * len(group.ranks)
    if len(slots):
        cuts = xp.searchsorted(slots, xp.asarray(group.slots[:-1]).astype(slots.dtype)).tolist()
    ranges = [slice(begin, end) for begin, end in pairwise([*cuts, len(slots)])]
    if side.comm is None:
        return Sent(ranges[side.index], 0, lambda: iter(()))
    shapes: list[Shape] = []
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


def unpacked(wire: HostWire, side: Side, own: int, shapes: list[Shape], pending: Pending) -> Received:
    """Wait for the messages of the other ranks of a side about this rank's vertices."""
    for index, (shape, data) in enumerate(zip(shapes, pending(), strict=True)):
        if shape[0] and index != side.index:
            positions, values = codec.unpack(wire.xp, shape, data, own)
            yield side.group.ranks[index], positions, values


# ---------------------------------------------------------------- one value per vertex


def allgather_values(graph: Any, side: Side, values: Any, unused: int = -1) -> Any:
    """One value per slot of a side, from each rank's values of its own vertices. Unused slots get `unused`."""
    padded = graph.part.xp.full(graph.words * 64, unused, values.dtype)
    padded[: graph.own] = values
    if side.comm is None:
        return padded
    sizes = (np.diff(side.group.slots) * values.itemsize).tolist()
    return graph.wire.allgatherv(side.comm, padded.view(np.uint8), sizes)().view(values.dtype)


def reduce_to_owners(graph: Any, side: Side, values: Any, greatest: bool = False) -> Any:
    """The sum (or maximum) over a side's ranks of one value per slot, for this rank's vertices."""
    xp = graph.part.xp
    if side.comm is not None:
        from mpi4py import MPI

        host = np.ascontiguousarray(values if xp is np else values.get())
        reduced = np.empty_like(host)
        graph.world.barrier()
        side.comm.Allreduce(host, reduced, op=MPI.MAX if greatest else MPI.SUM)
        values = xp.asarray(reduced)
    return values[side.first : side.first + graph.own]
