"""Packets and wires: packing loses nothing, and everything sent arrives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from rank_setup import DEVICE, WORLD

from hopwave.distributed import codec, wire


def check_packets() -> None:
    """Packed ids unpack unchanged, as gaps or as a bitmap, on the CPU and on the GPU."""
    random = np.random.default_rng(WORLD.rank)
    xp = wire.wire_for(WORLD, DEVICE).xp
    forms = set()
    for length in (1, 63, 64, 65, 1000, 300_000):
        for share in (0.0, 0.001, 0.1, 0.9, 1.0):
            heads = np.flatnonzero(random.random(length) < share)
            values = random.integers(0, 1 << random.integers(1, 40), len(heads))
            given, numbers = xp.asarray(heads), xp.asarray(values)
            for compress in (True, False):
                shape, data = codec.pack(xp, given, codec.to_bytes(xp, numbers, compress), length, compress)
                forms.add(shape[1])
                assert len(data) == codec.packed_size(shape, length)
                assert not compress or len(data) <= 8 * len(heads) + 8 * (len(heads) > 0) + -(-length // 64) * 8
                back, columns = codec.unpack(xp, shape, data, length)
                assert back.tolist() == heads.tolist() and codec.from_bytes(xp, columns).tolist() == values.tolist()
                bits = codec.bitmap(xp, given, length)
                shape, data = codec.pack_bitmap(xp, bits, length, compress)
                assert len(data) == codec.packed_size(shape, length) <= bits.nbytes
                assert codec.unpack_bitmap(xp, shape, data, length).tolist() == bits.tolist()
    assert forms >= {0, 1, 2, 8}
    wide = xp.asarray(np.array([0, 1 << 33, (1 << 40) - 1]))
    shape, data = codec.pack(xp, wide, codec.to_bytes(xp, wide), 1 << 40)
    back, columns = codec.unpack(xp, shape, data, 1 << 40)
    assert shape == (3, 8, 5) and back.tolist() == codec.from_bytes(xp, columns).tolist() == wide.tolist()


def wires() -> Iterator[tuple[wire.HostWire, Any]]:
    """Every wire that can be tested here. NCCL needs one GPU per rank, so each rank tests it alone."""
    yield wire.wire_for(WORLD, DEVICE), WORLD.comm
    if DEVICE == "cuda":
        yield wire.PinnedWire(), WORLD.comm
        if wire.has_nccl():
            from mpi4py import MPI

            yield wire.NcclWire(), MPI.COMM_SELF


def check_wires() -> None:
    """Packets of several sizes, empty ones too, arrive whole and at the right rank."""
    for line, comm in wires():
        size, me = comm.Get_size(), comm.Get_rank()

        def packet(frm: int, to: int, line: wire.HostWire = line) -> Any:  # (frm + to) % 3 = 0: an empty packet
            return line.xp.full(8 * ((frm + to) % 3) * 1000, 10 * frm + to, np.uint8)

        def same_bytes(found: Any, right: Any) -> None:
            assert found.dtype == right.dtype and found.tolist() == right.tolist()

        sizes = [len(packet(rank, 7)) for rank in range(size)]
        found = line.allgatherv(comm, packet(me, 7), sizes)()
        same_bytes(found, line.xp.concatenate([packet(rank, 7) for rank in range(size)]))
        shapes = [(len(packet(me, to)) // 8, 8, 0) for to in range(size)]
        _, pending = line.alltoall_packets(comm, shapes, [packet(me, to) for to in range(size)], 1 << 20)
        for rank, piece in enumerate(pending()):
            same_bytes(piece, packet(rank, me) if rank != me else packet(rank, me)[:0])
        shape, pending = line.pass_packet(comm, (len(packet(me, 0)) // 8, 8, 0), packet(me, 0), 1 << 20)
        passed = pending()
        same_bytes(passed, packet((me + 1) % size, 0))
        assert shape == (len(passed) // 8, 8, 0)
