"""Launches that are prepared once and made many times.

CuPy packs the arguments of every launch again; for records that takes longer than a search of a small graph. Here
arguments are packed once, each at its own place. A launch writes those that have changed, and passes the list to the
driver. PackedLaunch writes all arguments every time, which still takes half as long as CuPy's packing.
"""

import ctypes
import threading

import cupy
import numpy as np
from cupy_backends.cuda.api import driver

from hopwave.engines.cuda.context import find_gpu
from hopwave.engines.cuda.launch import BLOCK, parameters

ALIGNMENT = 16  # bytes: the greatest alignment of any argument


class PreparedLaunch:
    """One kernel with its grid and its arguments by name, in the order of its parameters. Several threads may use it.

    Arguments are NumPy scalars and records. Arguments that change from launch to launch are whole numbers from 0 on:
    counts and addresses. `shared`: bytes of shared memory per block. `cooperative`: whether all blocks must run at
    once.
    """

    def __init__(self, kernel, blocks, threads, shared=0, cooperative=True, **arguments):
        self.cooperative = cooperative
        self.kernel = kernel  # without a reference to it, a function is unloaded
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
        """Put the kernel into the current stream, with these arguments; later launches keep them."""
        words, place = self._words, self._place
        with self._lock:
            for name, value in changed.items():
                words[place[name]] = value
            find_gpu()
            stream, listed = cupy.cuda.get_current_stream().ptr, self._list_address
            shape = self.handle, self.blocks, 1, 1, self.threads, 1, 1, self.shared
            if self.cooperative:
                driver.launchCooperativeKernel(*shape, stream, listed)
            else:
                driver.launchKernel(*shape, stream, listed, 0)

    @staticmethod
    def word(argument):
        """An argument as a launch writes it: the address of an array, or the bits of a scalar."""
        return argument.data.ptr if hasattr(argument, "get") else int.from_bytes(argument.tobytes(), "little")

    def record(self, name, value):
        """Replace a record argument."""
        packed = np.atleast_1d(value).tobytes()
        with self._lock:
            ctypes.memmove(self._list[list(self._place).index(name)], packed, len(packed))


class PackedLaunch:
    """One kernel with plain arguments: arrays, and NumPy scalars of up to 8 bytes. For one thread at a time."""

    def __init__(self, function, count):
        self.function, self.handle = function, function.ptr  # without a reference to it, a function is unloaded
        self._memory = (ctypes.c_int64 * count)()
        first = ctypes.addressof(self._memory)
        self._list = (ctypes.c_void_p * count)(*range(first, first + 8 * count, 8))
        self._list_address = ctypes.addressof(self._list)
        self._words = memoryview(self._memory).cast("B").cast("q")

    def __call__(self, blocks, threads, stream, arguments):
        """Put the kernel into this stream."""
        words = self._words
        for place, one in enumerate(arguments):
            try:
                words[place] = one.data.ptr if type(one) is cupy.ndarray else one
            except (TypeError, ValueError):  # a float, or a number of 64 bits
                words[place] = int.from_bytes(one.tobytes(), "little", signed=True)
        driver.launchKernel(self.handle, blocks, 1, 1, threads, 1, 1, 0, stream, self._list_address, 0)


class PackedLaunches:
    """Launches kernels like `launch.Kernels`, but for one search at a time: all of its launches go into one stream."""

    def __init__(self, kernels):
        self.get, self.grid, self._most = kernels.get, kernels.grid, kernels.blocks
        self._made = {}
        self._stream = 0

    def begin(self):
        """Launch into the current stream from now on."""
        find_gpu()
        self._stream = cupy.cuda.get_current_stream().ptr

    def __call__(self, header, name, work, /, *arguments, shape="", blocks=None, text="", **named):
        """Launch a kernel with one thread per item of work, or with `blocks` blocks. Without work nothing is launched.

        All arguments, also named ones, are in the order of the kernel's parameters: the first launch compares their
        names with the header's. shape, text: as for Kernels.get.
        """
        if work <= 0:
            return
        key = header, name, shape, text
        launch = self._made.get(key)
        if launch is None:
            if named:
                check_names(header, name, named, len(arguments))
            launch = self._made[key] = PackedLaunch(self.get(*key), len(arguments) + len(named))
        launch(blocks or min(-(-int(work) // BLOCK), self._most), BLOCK, self._stream, (*arguments, *named.values()))


def check_names(header, name, named, first=0):
    """Raise TypeError unless these are the kernel's parameter names from number `first` on, in order."""
    right = parameters(header, name)[first:]
    if tuple(named) != right:
        raise TypeError(f"{name} of {header} has the parameters {', '.join(right)}, not {', '.join(named)}")
