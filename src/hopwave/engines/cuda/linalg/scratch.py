"""What products on the GPU work in: counters, the place where the host reads them, buffers used again, launches.

Every thread has a room for every stream, so that nothing in it is shared by kernels that run at the same time.
"""

from __future__ import annotations

import threading

import cupy
import numpy as np

from hopwave.engines.cuda.launch import BLOCK, NULL, WARP, kernels
from hopwave.engines.cuda.linalg.semiring_source import c_type
from hopwave.engines.cuda.memory import NamedBuffers

PIECE = 512  # kernels/linalg/products.cuh
SLOTS = 64  # counts that can be on their way to the host before more room is made for them
SLOT = 32  # bytes of one: found, touched, pieces still to come
LAST_STAMP = 2**32 - 4
_rooms = threading.local()


def room():
    """The current thread's, on the current device and stream."""
    key = cupy.cuda.runtime.getDevice(), cupy.cuda.get_current_stream().ptr
    rooms = _rooms.__dict__.setdefault("rooms", {})
    found = rooms.get(key)
    if found is None:
        found = rooms[key] = Room()
    return found


def forget():
    """Leave all rooms: after an error, counters may not be zero."""
    _rooms.__dict__.pop("rooms", None)


class Room(NamedBuffers):
    def __init__(self):
        super().__init__()
        self.kernels = kernels()
        self.launch = self.kernels.launch
        self.device = cupy.cuda.runtime.getDevice()
        self.blocks = self.kernels.blocks
        self.warps = self.blocks * BLOCK // WARP
        self.stream = cupy.cuda.get_current_stream()
        self.progress = cupy.zeros(4, np.uint64)
        self.pages, self.slots = [], []
        self.arena = None  # of waves.py
        self.stamp = 0

    def array_kernel(self, name, text="", dtype=None):
        """A kernel on whole arrays: of an operator, or of values of one type."""
        return self.kernels.get("linalg/arrays.cuh", name, "hopwave::Ring" if text else c_type(dtype), text)

    def group(self, count):
        """How many of `count` rows a warp takes at a time: few where there are few."""
        return min(WARP, -(-count // self.warps))

    def spread(self, count, group):
        """Blocks for that many rows, so many a warp."""
        return min(-(-count // (group * (BLOCK // WARP))), self.blocks)

    def marks(self, n):
        """A number for each of n rows, all below the stamp that comes with them."""
        marks = self.arrays.get("marks")
        if marks is None or len(marks) < n or self.stamp >= LAST_STAMP:
            self.arrays["marks"] = marks = cupy.zeros(n, np.uint32)
            self.stamp = 0
        self.stamp += 2
        return marks, self.stamp

    def truths(self, size, dtype):
        """So many ones for kernels to read, all from one array."""
        ones = self.arrays.get(dtype)
        if ones is None or len(ones) < size:
            ones = self.arrays[dtype] = cupy.ones(max(size, 1024), dtype)
        return ones[:size]

    def slot(self):
        """A place in memory of the host that kernels write their counts to."""
        if not self.slots:
            page = cupy.cuda.alloc_pinned_memory(SLOTS * SLOT)
            self.pages.append(page)
            view = np.frombuffer(page, np.uint64, SLOTS * SLOT // 8)
            self.slots += [(view[4 * i : 4 * i + 3], np.uint64(page.ptr + SLOT * i)) for i in range(SLOTS)]
        return self.slots.pop()


class Pending:
    """Counts that a kernel will have told by the time they are asked for."""

    __slots__ = ("address", "counts", "room", "view")

    def __init__(self, room):
        self.room, self.counts, self.view = room, None, None
        self.view, self.address = room.slot()

    def wait(self):
        """Found, touched, and pieces that another launch must compute before these are right."""
        if self.counts is None:
            self.again()
        return self.counts

    def again(self):
        self.room.stream.synchronize()
        self.counts = self.view.tolist()

    def found(self):
        return self.wait()[0]

    def touched(self):
        return self.wait()[1]

    def __del__(self):
        if self.view is not None:
            self.room.slots.append((self.view, self.address))


class Cuts:
    """How much room the rows of a compressed matrix need that are cut into pieces: none where none is long."""

    __slots__ = ("pieces", "rows")

    def __init__(self, lengths):
        long = lengths[lengths > PIECE]
        self.rows = len(long)
        self.pieces = int(((long + (PIECE - 1)) // PIECE).sum()) if self.rows else 0

    def arguments(self, room):
        """As kernels want them: the ledger, and for how many rows and pieces it is."""
        if not self.rows:
            return NULL, np.int32(0), np.int32(0)
        ledger = room.take("ledger", 4 * self.rows + 2 * self.pieces, np.int32)
        return ledger, np.int32(self.rows), np.int32(self.pieces)

    def grid(self, room):
        """Blocks for the pieces: a warp each, as far as the GPU holds them."""
        return (min(-(-self.pieces // (BLOCK // WARP)), room.blocks),)
