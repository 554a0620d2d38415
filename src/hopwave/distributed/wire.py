"""How bytes get from rank to rank, from wherever they lie.

Arrays in host memory go to MPI as they are. Arrays on a GPU take the best of three ways: NCCL, where every rank has a
GPU of its own; an MPI that says it takes device pointers; else a copy through pinned host memory. A device pointer is
never handed to an MPI that did not say so. Exchanges are begun here and waited for later: what a rank has to do anyway
it does meanwhile.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from hopwave.distributed.codec import Shape, packed_size
from hopwave.distributed.world import World, wait_for

TURN = 3  # the tag of what goes round a ring
Pending = Callable[[], Any]  # call it to wait for what was begun, and to get it


class HostWire:
    """Exchanges between ranks; `sent` counts the bytes that left this rank."""

    name = "host memory"
    xp: Any = np

    def __init__(self, crowded: bool = False) -> None:
        self.sent, self.crowded = 0, crowded

    # -------------------------------------------------------------- small numbers, always on the host

    def tell(self, comm: Any, numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Everybody's numbers, a row a rank."""
        numbers = np.ascontiguousarray(numbers)
        if comm is None or comm.Get_size() == 1:
            return numbers.reshape(1, -1)
        everybody = np.empty((comm.Get_size(), numbers.size), numbers.dtype)
        wait_for(comm.Iallgather(numbers, everybody), self.crowded)
        self.sent += numbers.nbytes * (comm.Get_size() - 1)
        return everybody

    # -------------------------------------------------------------- packets

    def gather(self, comm: Any, shape: Shape, data: Any, lengths: Any) -> tuple[list[Shape], Pending]:
        """Begin to give one packet to all; the call ends with everybody's packets, in the order of ranks."""
        shapes = [tuple(row) for row in self.tell(comm, np.array(shape, np.int64)).tolist()]
        sizes = [packed_size(one, int(length)) for one, length in zip(shapes, lengths, strict=True)]
        self.sent += len(data) * (len(sizes) - 1)
        return shapes, _cut(self.all_to_one(comm, data, sizes), sizes)

    def deal(self, comm: Any, shapes: list[Shape], packets: list[Any], length: int) -> tuple[list[Shape], Pending]:
        """Begin to give each rank its own packet; the call ends with those for us, all about places below length."""
        table = np.array(shapes, np.int64)
        theirs = np.empty_like(table)
        wait_for(comm.Ialltoall(table, theirs), self.crowded)
        me = comm.Get_rank()
        out = [len(packet) if rank != me else 0 for rank, packet in enumerate(packets)]
        arriving: list[Shape] = [tuple(row) for row in theirs.tolist()]
        sizes = [packed_size(shape, length) if rank != me else 0 for rank, shape in enumerate(arriving)]
        self.sent += table[0].nbytes * (len(out) - 1) + sum(out)
        data = self.xp.concatenate([p if r != me else p[:0] for r, p in enumerate(packets)])
        return arriving, _cut(self.one_to_one(comm, data, out, sizes), sizes)

    def turn(self, comm: Any, shape: Shape, data: Any, length: int) -> tuple[Shape, Pending]:
        """Begin to give a packet to the rank before us in the ring; the call ends with that of the rank behind, about
        places below length.

        In a ring of one, what was given comes back.
        """
        size, me = comm.Get_size(), comm.Get_rank()
        before, behind = (me - 1) % size, (me + 1) % size
        mine, theirs = np.array(shape, np.int64), np.empty(3, np.int64)
        requests = [comm.Irecv(theirs, behind, TURN), comm.Isend(mine, before, TURN)]
        for request in requests:
            wait_for(request, self.crowded)
        count, gap, value = theirs.tolist()
        arriving = (count, gap, value)
        out, into = [0] * size, [0] * size
        out[before], into[behind] = len(data), packed_size(arriving, length)
        self.sent += mine.nbytes + len(data)
        return arriving, self.one_to_one(comm, data, out, into)

    def _after(self, request: Any, received: Any, kept: Any) -> Pending:
        def wait() -> Any:
            nonlocal kept
            wait_for(request, self.crowded)
            kept = None  # MPI may read it until now
            return received

        return wait

    # -------------------------------------------------------------- how; other wires do this their own way

    def room(self, size: int) -> Any:
        """So many bytes that MPI can write to."""
        return np.empty(size, np.uint8)

    def all_to_one(self, comm: Any, data: Any, sizes: list[int]) -> Pending:
        """Allgatherv of bytes."""
        received = self.room(sum(sizes))
        request = comm.Iallgatherv([data, len(data), _byte()], [received, sizes, _starts(sizes), _byte()])
        return self._after(request, received, data)

    def one_to_one(self, comm: Any, data: Any, out: list[int], into: list[int]) -> Pending:
        """Alltoallv of bytes."""
        received = self.room(sum(into))
        request = comm.Ialltoallv([data, out, _starts(out), _byte()], [received, into, _starts(into), _byte()])
        return self._after(request, received, data)


def _byte() -> Any:
    from mpi4py import MPI

    return MPI.BYTE


def _starts(sizes: list[int]) -> list[int]:
    return [0, *np.cumsum(sizes)[:-1].tolist()]


def _cut(pending: Pending, sizes: list[int]) -> Pending:
    def wait() -> list[Any]:
        data = pending()
        return [data[start : start + size] for start, size in zip(_starts(sizes), sizes, strict=True)]

    return wait


class PinnedWire(HostWire):
    """Arrays on a GPU, staged through pinned host memory: works with every MPI, and for ranks that share a GPU."""

    name = "pinned host memory"

    def __init__(self, crowded: bool = False) -> None:
        super().__init__(crowded)
        import cupy

        self.xp = cupy

    def room(self, size: int) -> Any:
        """Pinned, so that the way up is as fast as the way down."""
        from cupyx import empty_pinned

        return empty_pinned((size,), np.uint8) if size else np.empty(0, np.uint8)

    def all_to_one(self, comm: Any, data: Any, sizes: list[int]) -> Pending:
        """Down, across, and up again."""
        return self._up(super().all_to_one(comm, self._down(data), sizes))

    def one_to_one(self, comm: Any, data: Any, out: list[int], into: list[int]) -> Pending:
        """Down, across, and up again."""
        return self._up(super().one_to_one(comm, self._down(data), out, into))

    def _down(self, data: Any) -> Any:
        host = self.room(data.size)
        if data.size:
            data.get(out=host)
        return host

    def _up(self, pending: Pending) -> Pending:
        def wait() -> Any:
            host = pending()
            there = self.xp.asarray(host)
            self.xp.cuda.get_current_stream().synchronize()  # CuPy reads pinned memory later, and does not keep it
            return there

        return wait


class AwareWire(PinnedWire):
    """Device pointers straight to an MPI that has said it can take them."""

    name = "CUDA-aware MPI"

    def room(self, size: int) -> Any:
        """On the GPU."""
        return self.xp.empty(size, np.uint8)

    def all_to_one(self, comm: Any, data: Any, sizes: list[int]) -> Pending:
        """As between hosts, once the stream is through: MPI knows nothing of streams."""
        self.xp.cuda.get_current_stream().synchronize()
        return HostWire.all_to_one(self, comm, data, sizes)

    def one_to_one(self, comm: Any, data: Any, out: list[int], into: list[int]) -> Pending:
        """As between hosts, once the stream is through."""
        self.xp.cuda.get_current_stream().synchronize()
        return HostWire.one_to_one(self, comm, data, out, into)


class NcclWire(PinnedWire):
    """NCCL, a GPU a rank. Its communicators are made beside MPI's, one for each group, when first used."""

    name = "NCCL"

    def __init__(self, crowded: bool = False) -> None:
        super().__init__(crowded)
        self._lines: dict[int, Any] = {}

    def line(self, comm: Any) -> Any:
        """The NCCL communicator of the same ranks."""
        from cupy.cuda import nccl

        if comm.handle not in self._lines:
            number = comm.bcast(nccl.get_unique_id() if comm.Get_rank() == 0 else None)
            self._lines[comm.handle] = nccl.NcclCommunicator(comm.Get_size(), number, comm.Get_rank())
        return self._lines[comm.handle]

    def all_to_one(self, comm: Any, data: Any, sizes: list[int]) -> Pending:
        """As one packet to each."""
        mine = len(data)
        return self._pairs(comm, [(data, 0, mine)] * len(sizes), sizes)

    def one_to_one(self, comm: Any, data: Any, out: list[int], into: list[int]) -> Pending:
        """Sends and receives of one group."""
        return self._pairs(comm, [(data, start, size) for start, size in zip(_starts(out), out, strict=True)], into)

    def _pairs(self, comm: Any, leaving: list[tuple[Any, int, int]], into: list[int]) -> Pending:
        from cupy.cuda import nccl

        line = self.line(comm)
        received = self.xp.empty(sum(into), np.uint8)
        stream = self.xp.cuda.get_current_stream().ptr
        nccl.groupStart()
        for peer, ((data, start, size), begin, length) in enumerate(zip(leaving, _starts(into), into, strict=True)):
            if size:
                line.send(data.data.ptr + start, size, nccl.NCCL_UINT8, peer, stream)
            if length:
                line.recv(received.data.ptr + begin, length, nccl.NCCL_UINT8, peer, stream)
        nccl.groupEnd()
        return lambda: received  # what follows in the stream waits by itself


def wire_for(joined: World, device: str) -> HostWire:
    """The best way between these ranks for arrays of that device; all ranks choose the same one."""
    if device != "cuda":
        return HostWire(joined.crowded)
    if _own_gpus(joined) and has_nccl():
        return NcclWire(joined.crowded)
    aware = joined.total(int(takes_device_pointers())) == joined.size
    return AwareWire(joined.crowded) if aware else PinnedWire(joined.crowded)


def _own_gpus(joined: World) -> bool:
    """Whether no two ranks use the same GPU."""
    import cupy

    device = cupy.cuda.Device()
    everybody = joined.allgather((_host(), str(device.pci_bus_id)))
    return len(set(everybody)) == joined.size > 1


def _host() -> str:
    from mpi4py import MPI

    return str(MPI.Get_processor_name())


def has_nccl() -> bool:
    """Whether CuPy finds NCCL."""
    try:
        from cupy.cuda import nccl
    except ImportError:
        return False
    return bool(getattr(nccl, "available", False))


def takes_device_pointers() -> bool:
    """Whether this MPI says that it takes device pointers: by MPI 4.1's info key, or by its own extension."""
    from mpi4py import MPI

    kinds = MPI.COMM_WORLD.Get_info().Get("mpi_memory_alloc_kinds") or ""
    if any(kind.strip().startswith("cuda") for kind in kinds.split(",")):
        return True
    try:
        library = ctypes.CDLL(MPI.__file__)
        if MPI.get_vendor()[0] == "Open MPI":
            return bool(library.MPIX_Query_cuda_support())
        answer = ctypes.c_int(0)
        return library.MPIX_GPU_query_support(0, ctypes.byref(answer)) == 0 and bool(answer.value)
    except (AttributeError, OSError):
        return False
