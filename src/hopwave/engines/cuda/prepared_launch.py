"""A launch that is prepared once and made many times.

CuPy packs the arguments of every launch anew, which for records takes longer than a search of a small graph. Here they
are packed once, each at a place of its own. A launch writes those that have changed, and hands the driver the list.
"""

from __future__ import annotations

import ctypes
import threading

import cupy
import numpy as np
from cupy_backends.cuda.api import driver, runtime

ALIGNMENT = 16  # bytes: the strictest of any argument


class PreparedLaunch:
    """One kernel with its grid and its arguments by name, in the order of its parameters. Several threads may use it.

    Arguments are NumPy scalars and records. Those that change from launch to launch are whole numbers from 0: counts
    and addresses. `shared`: bytes of shared memory per block. `cooperative`: whether all blocks must run at once.
    """

    def __init__(self, kernel, blocks, threads, shared=0, cooperative=True, **arguments):
        self.cooperative = cooperative
        self.kernel = kernel  # a function that nobody holds is unloaded
        self.handle, self.blocks, self.threads, self.shared = kernel.handle, blocks, threads, shared
        packed = {name: np.atleast_1d(value).tobytes() for name, value in arguments.items()}
        starts, end = [], 0
        for value in packed.values():
            starts.append(end)
            end += -(-len(value) // ALIGNMENT) * ALIGNMENT
        self._memory = ctypes.create_string_buffer(end + ALIGNMENT)
        first = -ctypes.addressof(self._memory) % ALIGNMENT
        for start, value in zip(starts, packed.values(), strict=True):
            ctypes.memmove(ctypes.addressof(self._memory) + first + start, value, len(value))
        addresses = [ctypes.addressof(self._memory) + first + start for start in starts]
        self._list = (ctypes.c_void_p * len(addresses))(*addresses)
        self._list_address = ctypes.addressof(self._list)
        self._words = memoryview(self._memory).cast("B")[first : first + end].cast("Q")
        self._place = {name: start // 8 for name, start in zip(packed, starts, strict=True)}
        self._lock = threading.Lock()

    def __call__(self, **changed):
        """Put the kernel into the current stream, with these arguments; they stay for later launches too."""
        words, place = self._words, self._place
        with self._lock:
            for name, value in changed.items():
                words[place[name]] = value
            if not driver.ctxGetCurrent():  # a new thread: only calls of the runtime find the GPU by themselves
                runtime.setDevice(runtime.getDevice())
            stream, listed = cupy.cuda.get_current_stream().ptr, self._list_address
            shape = self.handle, self.blocks, 1, 1, self.threads, 1, 1, self.shared
            if self.cooperative:
                driver.launchCooperativeKernel(*shape, stream, listed)
            else:
                driver.launchKernel(*shape, stream, listed, 0)

    @staticmethod
    def word(argument):
        """An argument as launches take it: the address of an array, the bits of a scalar."""
        return argument.data.ptr if hasattr(argument, "get") else int.from_bytes(argument.tobytes(), "little")

    def record(self, name, value):
        """Replace a record."""
        packed = np.atleast_1d(value).tobytes()
        with self._lock:
            ctypes.memmove(self._list[list(self._place).index(name)], packed, len(packed))
