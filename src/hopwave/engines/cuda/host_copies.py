"""Copies of answers from the GPU to the host.

A copy into pinned memory runs at the full speed of the bus, a multiple of any other copy's. Pinning memory takes longer
than it saves, so it pays only for memory that is used again: a few answers are pinned at a time, and the memory of one
that nobody holds any more serves the next. A caller who keeps more of them gets plain arrays.
"""

from __future__ import annotations

import threading
import weakref
from math import prod

import cupy
import numpy as np

LEAST = 1 << 16  # bytes from which an answer is pinned: below, a copy takes as long as a launch
MOST_ANSWERS = 8  # that are pinned at the same time
MOST_BYTES = 1 << 30  # of pinned memory in use: the system cannot swap it out


class PinnedAnswers:
    """How many answers are pinned, and how large they are."""

    def __init__(self):
        self.lock = threading.Lock()
        self.count = self.bytes = 0

    def array(self, shape, dtype):
        """An array in pinned memory; None if enough of them are in use."""
        size = prod(shape) * dtype.itemsize
        with self.lock:
            if size < LEAST or self.count >= MOST_ANSWERS or self.bytes + size > MOST_BYTES:
                return None
            self.count, self.bytes = self.count + 1, self.bytes + size
        try:
            memory = cupy.cuda.alloc_pinned_memory(size)
        except cupy.cuda.runtime.CUDARuntimeError:  # the system allows no more of it
            self._released(size)
            return None
        flat = np.frombuffer(memory, dtype, prod(shape))
        weakref.finalize(flat, self._released, size)  # every view of it keeps it
        return flat.reshape(shape)

    def _released(self, size):
        with self.lock:
            self.count, self.bytes = self.count - 1, self.bytes - size


pinned = PinnedAnswers()


def to_host(array, stream=None):
    """A copy of an array of the GPU as NumPy's. Waits for the work of the stream; by default the current one."""
    out = pinned.array(array.shape, array.dtype) if array.flags.c_contiguous else None
    return array.get(stream=stream) if out is None else array.get(stream=stream, out=out)
