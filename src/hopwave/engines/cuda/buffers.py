"""The GPU's memory: how much a run may take, declared arrays, work that shrinks until it fits, and buffers that are
used again.
"""

from contextlib import contextmanager

import cupy
import numpy as np

from hopwave.errors import too_large

SPARE = 1 << 28  # bytes of the GPU's memory left to other programs


def free_memory():
    """Bytes that a run may take: what is free on the GPU and in CuPy's pool, minus SPARE."""
    pool = cupy.get_default_memory_pool()
    free = cupy.cuda.runtime.memGetInfo()[0] + pool.free_bytes() - SPARE
    limit = pool.get_limit()
    if limit:
        free = min(free, limit - pool.used_bytes())
    return max(0, free)


def require(needed, what, remedy):
    """Raise EngineError unless `needed` bytes are free; called before any allocation."""
    free = free_memory()
    if needed > free:
        raise too_large(f"{what} on the GPU", needed, free, f"{remedy}, or use device='cpu'")


def allocate(arrays):
    """Allocate declared arrays (engines/ledger.py); returned by name, in their order."""
    return {name: allocated(array) for name, array in arrays.items()}


def allocated(array):
    """Allocate one declared array."""
    shape, dtype = array.shape, np.dtype(array.dtype)
    if dtype.names:  # CuPy has no structured arrays: a struct is a row of bytes
        shape, dtype = (*(shape if isinstance(shape, tuple) else (shape,)), dtype.itemsize), np.uint8
    if array.fill is None:
        return cupy.empty(shape, dtype)
    return cupy.full(shape, array.fill, dtype) if array.fill else cupy.zeros(shape, dtype)


class NamedBuffers:
    """Arrays by name that are used again, and replaced when a larger one is needed."""

    def __init__(self):
        self.arrays = {}

    def take(self, name, length, dtype, fill=None):
        """An array of at least `length` items. Only a new array is filled with `fill`; kernels must leave it so."""
        array = self.arrays.get(name)
        if array is None or len(array) < length:
            self.arrays.pop(name, None)  # freed before the larger one is allocated
            array = cupy.empty(max(length, 1), dtype)
            if fill is not None:
                array.fill(fill)
            self.arrays[name] = array
        return array

    @property
    def bytes(self):
        """Device memory held."""
        return sum(array.nbytes for array in self.arrays.values())


class Pieces:
    """Ranges [begin, end) that cover `count` items, `size` at a time.

    A piece for which memory runs out is tried again with half the size, as long as that is at least `least`.
    """

    def __init__(self, count, size, least=1):
        self.count, self.size, self.least = count, max(1, min(size, count)), least
        self.done = True

    def __iter__(self):
        begin = 0
        while begin < self.count:
            end = min(begin + self.size, self.count)
            yield begin, end
            if self.done:
                begin = end
            self.done = True

    @contextmanager
    def halving(self):
        """A context that works on one piece. When it runs out of memory, it must not have changed a result."""
        try:
            yield
        except cupy.cuda.memory.OutOfMemoryError:
            if self.size // 2 < self.least:
                raise
            self.size, self.done = self.size // 2, False


def copied(array):
    """A copy; for array.copy() CuPy would first compile a kernel."""
    made = cupy.empty_like(array)
    copy_into(made, array)
    return made


def copy_into(target, array):
    """Copy one whole array over another, without a kernel from CuPy."""
    target.data.copy_from_device_async(array.data, array.nbytes)
