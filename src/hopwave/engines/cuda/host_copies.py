"""Copies of answers from the GPU to the host.

A copy into pinned memory runs at the full speed of the bus, several times faster than others. Pinning takes longer than
one copy saves, so it pays only for memory that is used again: a few answers are pinned at a time, and when an answer is
no longer referenced, the next one uses its memory. A caller who keeps more answers gets plain arrays.
"""

import threading
import weakref
from math import prod

import cupy
import numpy as np

LEAST = 1 << 16  # bytes from which an answer is pinned; a smaller copy takes no longer than a launch
MOST_ANSWERS = 8  # most answers that are pinned at the same time
MOST_BYTES = 1 << 30  # most bytes of pinned memory: the system cannot swap it out


class PinnedAnswers:
    """The number of pinned answers, and their bytes."""

    def __init__(self):
        self.lock = threading.Lock()
        self.count = self.bytes = 0

    def array(self, shape, dtype):
        """An array in pinned memory; None if there are too many already."""
        size = prod(shape) * dtype.itemsize
        with self.lock:
            if size < LEAST or self.count >= MOST_ANSWERS or self.bytes + size > MOST_BYTES:
                return None
            self.count, self.bytes = self.count + 1, self.bytes + size
        try:
            memory = cupy.cuda.alloc_pinned_memory(size)
        except cupy.cuda.runtime.CUDARuntimeError:  # the system allows no more pinned memory
            self._released(size)
            return None
        flat = np.frombuffer(memory, dtype, prod(shape))
        weakref.finalize(flat, self._released, size)  # called when the last view of `flat` is gone
        return flat.reshape(shape)

    def _released(self, size):
        with self.lock:
            self.count, self.bytes = self.count - 1, self.bytes - size


pinned = PinnedAnswers()


def to_host(array, stream=None):
    """A copy of a GPU array as a NumPy array. Waits for the stream, by default the current one."""
    out = pinned.array(array.shape, array.dtype) if array.flags.c_contiguous else None
    return array.get(stream=stream) if out is None else array.get(stream=stream, out=out)


class CopiesBeside:
    """A copy of a table whose rows are copied as they are filled, while the GPU computes the next."""

    def __init__(self, table):
        self.table, self.done = table, 0
        self.host = pinned.array(table.shape, table.dtype)  # plain memory is not copied beside anything
        self.stream = None if self.host is None else cupy.cuda.Stream(non_blocking=True)

    def up_to(self, row):
        """The rows before this one are filled when the work in the current stream is done: copy them then."""
        if self.stream is not None:
            some = slice(self.done, row)
            self.stream.wait_event(cupy.cuda.get_current_stream().record())
            self.table[some].get(stream=self.stream, out=self.host[some], blocking=False)
            self.done = row

    def finished(self):
        """The whole table on the host."""
        if self.stream is None:
            return self.table.get()
        self.up_to(len(self.table))
        self.stream.synchronize()
        return self.host
