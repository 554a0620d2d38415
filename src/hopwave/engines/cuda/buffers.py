"""Memory: budget of a run, declared arrays, work that shrinks until it fits, cached buffers, and pinned host memory."""

import threading
import weakref
from contextlib import contextmanager
from math import prod

import cupy
import numpy as np

from hopwave.errors import too_large

SPARE = 1 << 28  # bytes of GPU memory reserved for other programs


def free_memory():
    """Bytes that a run may use: free memory on the GPU and in CuPy's pool, minus SPARE."""
    pool = cupy.get_default_memory_pool()
    free = cupy.cuda.runtime.memGetInfo()[0] + pool.free_bytes() - SPARE
    limit = pool.get_limit()
    if limit:
        free = min(free, limit - pool.used_bytes())
    return max(0, free)


def require(needed, what, remedy):
    free = free_memory()
    if needed > free:
        raise too_large(f"{what} on the GPU", needed, free, f"{remedy}, or use device='cpu'")


def allocate(arrays):
    return {name: allocated(array) for name, array in arrays.items()}


def allocated(array):
    shape, dtype = array.shape, np.dtype(array.dtype)
    if dtype.names:  # CuPy has no structured arrays: a struct is a row of bytes
        shape, dtype = (*(shape if isinstance(shape, tuple) else (shape,)), dtype.itemsize), np.uint8
    if array.fill is None:
        return cupy.empty(shape, dtype)
    return cupy.full(shape, array.fill, dtype) if array.fill else cupy.zeros(shape, dtype)


class NamedBuffers:
    """Reusable arrays by name; an array is replaced if a larger one is needed."""

    def __init__(self):
        self.arrays = {}

    def take(self, name, length, dtype, fill=None):
        """An array of at least `length` items. Only a new array is filled with `fill`; kernels must restore it."""
        array = self.arrays.get(name)
        if array is None or len(array) < length:
            self.arrays.pop(name, None)  # freed before the larger one is allocated
            array = cupy.empty(max(length, 1), dtype)
            if fill is not None:
                array.fill(fill)
            self.arrays[name] = array
        return array


class Pieces:
    """Ranges [begin, end) that cover `count` items, `size` at a time."""

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
        """A context that processes one piece. If it runs out of memory, it must not have changed a result."""
        try:
            yield
        except cupy.cuda.memory.OutOfMemoryError:
            if self.size // 2 < self.least:
                raise
            self.size, self.done = self.size // 2, False


def copied(array):
    """A copy of an array; array.copy() would first compile a kernel of CuPy's."""
    made = cupy.empty_like(array)
    copy_into(made, array)
    return made


def copy_into(target, array):
    target.data.copy_from_device_async(array.data, array.nbytes)


# ---------------------------------------------------------------- results on the host

LEAST_PINNED = 1 << 16  # minimum bytes of a pinned result; copying a smaller one takes no longer than a launch
MOST_ANSWERS = 8  # maximum number of pinned results at the same time
MOST_BYTES = 1 << 30  # maximum bytes of pinned memory, which the system cannot swap out


class PinnedAnswers:
    def __init__(self):
        self.lock = threading.Lock()
        self.count = self.bytes = 0

    def array(self, shape, dtype):
        """An array in pinned memory; None if the limits are reached."""
        size = prod(shape) * dtype.itemsize
        with self.lock:
            if size < LEAST_PINNED or self.count >= MOST_ANSWERS or self.bytes + size > MOST_BYTES:
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
    """A copy of a GPU array as a NumPy array. Waits for the stream, by default the current stream."""
    out = pinned.array(array.shape, array.dtype) if array.flags.c_contiguous else None
    return array.get(stream=stream) if out is None else array.get(stream=stream, out=out)


class CopiesBeside:
    """A copy of a table whose rows are copied as they are filled, while the GPU computes the next rows."""

    def __init__(self, table):
        self.table, self.done = table, 0
        self.host = pinned.array(table.shape, table.dtype)  # only pinned memory is copied asynchronously
        self.stream = None if self.host is None else cupy.cuda.Stream(non_blocking=True)

    def up_to(self, row):
        if self.stream is not None:
            some = slice(self.done, row)
            self.stream.wait_event(cupy.cuda.get_current_stream().record())
            self.table[some].get(stream=self.stream, out=self.host[some], blocking=False)
            self.done = row

    def finished(self):
        if self.stream is None:
            return self.table.get()
        self.up_to(len(self.table))
        self.stream.synchronize()
        return self.host


# ---------------------------------------------------------------- host memory to which kernels write

_pool = cupy.cuda.PinnedMemoryPool()
_waiting = {}  # size → unused memory, with the device whose kernels may still write to it


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
        return np.frombuffer(self.memory, dtype, count)

    def __del__(self):
        if "memory" in self.__dict__:
            self._waiting.append((self.memory, self.device))
