"""Host memory to which kernels report, also after their call was interrupted or its result dropped.

Kernels that are queued write to it later. CuPy's own pool would hand it out again at once, as the buffer of an upload
for example, whose bytes would change before they are sent. So it comes from a pool of its own, and its next user first
waits for everything that the GPU has to do. It cannot wait for one stream: that may have been a caller's, and be gone.
"""

import cupy
import numpy as np

_pool = cupy.cuda.PinnedMemoryPool()
_waiting = {}  # size → memory that is no longer used, with the device whose kernels may still write to it


class Report:
    """`size` bytes of pinned memory, to which kernels of the current device write."""

    def __init__(self, size):
        self.size, self.device = size, cupy.cuda.Device()
        self._waiting = _waiting.setdefault(size, [])
        try:
            self.memory, before = self._waiting.pop()
        except IndexError:
            self.memory = _pool.malloc(size)
        else:
            before.synchronize()

    def view(self, dtype, count):
        """The memory as an array."""
        return np.frombuffer(self.memory, dtype, count)

    def __del__(self):
        if "memory" in self.__dict__:
            self._waiting.append((self.memory, self.device))
