"""Scratch space of products on the GPU, one per thread and stream: counters, reusable buffers, launches."""

import threading

import cupy
import numpy as np

from hopwave.engines.cuda.buffers import NamedBuffers, Report
from hopwave.engines.cuda.launch import BLOCK, NULL, WARP, kernels
from hopwave.engines.cuda.linalg.semiring_source import RING, c_type
from hopwave.engines.cuda.records import record

PROGRESS = record("linalg/products.cuh", "Progress", "u64 found touched cut done")
PIECE = 512  # kernels/linalg/products.cuh
SLOTS = 64  # counts per page of pinned memory that may be in transfer to the host
SLOT = 32  # bytes per count: found, touched, pieces still to compute
LAST_STAMP = 2**32 - 4
_of_thread = threading.local()


def stream_scratch():
    key = cupy.cuda.runtime.getDevice(), cupy.cuda.get_current_stream().ptr
    streams = _of_thread.__dict__.setdefault("streams", {})
    found = streams.get(key)
    if found is None:
        found = streams[key] = StreamScratch()
    return found


def forget():
    """Drop the thread's scratch spaces: after an error, counters may not be zero."""
    _of_thread.__dict__.pop("streams", None)


class StreamScratch(NamedBuffers):
    def __init__(self):
        super().__init__()
        self.kernels = kernels()
        self.launch = self.kernels.launch
        self.device = cupy.cuda.runtime.getDevice()
        self.blocks = self.kernels.blocks
        self.warps = self.blocks * BLOCK // WARP
        self.stream = cupy.cuda.get_current_stream()
        self.progress = cupy.zeros(len(PROGRESS), np.uint64)
        self.pages, self.slots = [], []
        self.arena = None  # set by waves.py
        self.meeting = 1  # for power.py: number of the next barrier between blocks
        self.stamp = 0

    def array_kernel(self, name, text="", dtype=None):
        """A kernel on full arrays: for an operator, or for values of one type."""
        return self.kernels.get("linalg/arrays.cuh", name, RING if text else c_type(dtype), text)

    def group(self, count):
        """The number of rows, of `count`, that a warp processes at a time: fewer if there are few rows."""
        return min(WARP, -(-count // self.warps))

    def spread(self, count, group):
        return min(-(-count // (group * (BLOCK // WARP))), self.blocks)

    def marks(self, n):
        """A mark for each of n rows, and a stamp that is higher than all marks."""
        marks = self.arrays.get("marks")
        if marks is None or len(marks) < n or self.stamp >= LAST_STAMP:
            self.arrays["marks"] = marks = cupy.zeros(n, np.uint32)
            self.stamp = 0
        self.stamp += 2
        return marks, self.stamp

    def ones(self, size, dtype):
        ones = self.arrays.get(dtype)
        if ones is None or len(ones) < size:
            ones = self.arrays[dtype] = cupy.ones(max(size, 1024), dtype)
        return ones[:size]

    def slot(self):
        """A slot in host memory to which kernels write their counts."""
        if not self.slots:
            page = Report(SLOTS * SLOT)
            self.pages.append(page)
            view, begin = page.view(np.uint64, SLOTS * SLOT // 8), page.memory.ptr
            self.slots += [(view[4 * i : 4 * i + 3], np.uint64(begin + SLOT * i)) for i in range(SLOTS)]
        return self.slots.pop()


class Pending:
    """Counts that a kernel writes; the host waits for the kernel when it first reads them."""

    __slots__ = ("address", "counts", "scratch", "view")

    def __init__(self, scratch):
        self.scratch, self.counts, self.view = scratch, None, None
        self.view, self.address = scratch.slot()

    def wait(self):
        """(found, touched, pieces). If pieces remain, the first two are not final until a launch computes them."""
        if self.counts is None:
            self.again()
        return self.counts

    def again(self):
        self.scratch.stream.synchronize()
        self.counts = self.view.tolist()

    def found(self):
        return self.wait()[0]

    def touched(self):
        return self.wait()[1]

    def __del__(self):
        if getattr(self, "view", None) is not None:  # no view if Ctrl-C came during construction
            self.scratch.slots.append((self.view, self.address))


class Cuts:
    """The number of long rows of a compressed matrix, and the number of their pieces."""

    __slots__ = ("pieces", "rows")

    def __init__(self, lengths):
        long = lengths[lengths > PIECE]
        self.rows = len(long)
        self.pieces = int(((long + (PIECE - 1)) // PIECE).sum()) if self.rows else 0

    def arguments(self, scratch):
        """Kernel arguments: the ledger, and its capacity in rows and pieces."""
        if not self.rows:
            return NULL, np.int32(0), np.int32(0)
        ledger = scratch.take("ledger", 4 * self.rows + 2 * self.pieces, np.int32)
        return ledger, np.int32(self.rows), np.int32(self.pieces)

    def partial(self, scratch):
        return scratch.take("partial", 8 * self.pieces, np.uint8) if self.rows else NULL

    def grid(self, scratch):
        return (min(-(-self.pieces // (BLOCK // WARP)), scratch.blocks),)


def cuts_of(A, part, columns):
    """The cuts of A's rows or of its columns; `part` is these rows or columns."""
    return A._prepared.made((Cuts, A._turned != columns), lambda: Cuts(cupy.diff(part.indptr)))
