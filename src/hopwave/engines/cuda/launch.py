"""Kernels by name, and their launches.

Kernels iterate over their items in grid-sized strides, so no grid needs more blocks than the GPU can hold.
"""

import ctypes
import re
import threading
from functools import cache, cached_property

import cupy
import numpy as np
from cupy_backends.cuda.api import driver, runtime

from hopwave.engines.cuda import nvrtc

BLOCK = 256  # threads per block (kernels/common/threads.cuh), unless a kernel overrides it
WARP = 32
NULL = np.uint64(0)  # a null pointer, as a kernel argument
TILE = 4096  # items per tile of a prefix sum (kernels/common/threads.cuh)
C_TYPES = {
    np.dtype(dtype): name
    for dtype, name in (
        (np.bool_, "bool"), (np.int8, "signed char"), (np.int16, "short"), (np.int32, "int"), (np.int64, "long long"),
        (np.uint32, "unsigned int"), (np.uint64, "unsigned long long"), (np.float32, "float"), (np.float64, "double"),
    )
}  # fmt: skip


def find_gpu():
    """Bind the GPU to a new thread: unlike the runtime's calls, the driver's calls do not do this themselves."""
    if not driver.ctxGetCurrent():
        runtime.setDevice(runtime.getDevice())


def expression(header, name, *arguments):
    """The C++ name of a kernel template's instance."""
    listed = ", ".join(str(argument) for argument in arguments if argument != "")
    return f"{nvrtc.qualified(header, name)}<{listed}>"


@cache
def parameters(header, name):
    """The names of a kernel's parameters, from its header."""
    text = (nvrtc.KERNELS / header).read_text(encoding="utf-8")
    (listed,) = re.findall(rf"__global__\s+void\s+(?:__launch_bounds__\([^)]*\)\s+)?{name}\(([^)]*)\)", text)
    return tuple(re.findall(r"(\w+)(?=,|$)", listed))


TOGETHER: dict[str, list[tuple[str, ...]]] = {}  # header → groups of its kernels that are used together


def together(header, *names):
    """Declare kernels of a header that one call uses: when the first is needed, all are compiled in parallel."""
    TOGETHER.setdefault(header, []).append(names)


def truth(value):
    return "true" if value else "false"


def offset_type(offsets):
    """The C++ type of an array of row offsets; unsigned for packed rows (kernels/common/rows.cuh)."""
    return C_TYPES[offsets.dtype]


class Device:
    def __init__(self):
        attributes = cupy.cuda.Device().attributes
        self.multiprocessors = attributes["MultiProcessorCount"]
        self.cooperative = bool(attributes["CooperativeLaunch"])
        self.blocks = self.multiprocessors * max(1, attributes["MaxThreadsPerMultiProcessor"] // BLOCK)


class Kernels:
    """Instances of kernel templates on one GPU: each is compiled at its first use, and cached.

    `offset` is the first template argument of every instance: the type of row offsets. If it is "", a kernel's `shape`
    contains all of its template arguments.
    """

    def __init__(self, offset=""):
        self.offset = offset
        self.blocks = Device().blocks
        self._found = {}

    @cached_property
    def attributes(self):
        """CUDA's attributes of this GPU, cached: CuPy copies them at every access."""
        return cupy.cuda.Device().attributes

    def get(self, header, name, shape="", text=""):
        """One instance, to be called with grid, block and arguments; `text` as for nvrtc.module."""
        key = header, name, shape, text
        kernel = self._found.get(key)
        if kernel is None:
            if not (shape or text):
                for group in TOGETHER.get(header, ()):
                    if name in group:
                        self.begin(header, group)
            kernel = self._found[key] = nvrtc.kernel(header, expression(header, name, self.offset, shape), text)
        return kernel

    def begin(self, header, group=None):
        """Start compiling the kernels of a header that are used together: one group, or the only group."""
        (group,) = TOGETHER[header] if group is None else (group,)
        nvrtc.begin(header, [expression(header, name, self.offset) for name in group])

    def grid(self, work, threads=BLOCK):
        return min(-(-int(work) // threads), self.blocks * BLOCK // threads)

    def __call__(self, header, name, work, *arguments, shape="", blocks=None):
        """Launch a kernel with one thread per item of work, or with `blocks` blocks; without work, do nothing."""
        if work <= 0:
            return
        kernel = self._found.get((header, name, shape, ""))  # inlines get() and grid(): called for every level
        if kernel is None:
            kernel = self.get(header, name, shape)
        kernel((blocks or min(-(-int(work) // BLOCK), self.blocks),), (BLOCK,), arguments)

    def launch(self, kernel, work, arguments):
        kernel((min(-(-work // BLOCK), self.blocks),), (BLOCK,), arguments)

    # ---------------------------------------------------------------- launches with an explicit grid

    def configurable(self, header, name, shape="", cooperative=False):
        key = header, name, shape, cooperative
        kernel = self._found.get(key)
        if kernel is None:
            instance = expression(header, name, self.offset, shape)
            kernel = self._found[key] = nvrtc.configurable(header, instance, cooperative)
        return kernel

    def exactly(self, header, name, shape, grid, threads, arguments, shared=0, cooperative=False):
        """Launch with this grid and `shared` bytes of shared memory per block; Python ints are passed as 64 bits."""
        kernel = self.configurable(header, name, shape, cooperative)
        kernel.allow_shared(shared)
        arguments = tuple(np.int64(a) if isinstance(a, int) else a for a in arguments)
        kernel(grid, (threads,), arguments, shared_mem=shared)

    def resident_threads(self, header, name, shape=""):
        registers = -(-self.configurable(header, name, shape).registers // 8) * 8  # allocated in units of eight
        most = self.attributes["MaxRegistersPerMultiprocessor"] // max(1, registers)
        return min(self.attributes["MaxThreadsPerMultiProcessor"], most // WARP * WARP)


@cache
def _kernels(offset, device):
    return Kernels(offset)


def kernels(offset=""):
    return _kernels(offset, cupy.cuda.runtime.getDevice())


def forget():
    """Drop every loaded kernel: after a GPU is lost, kernels belong to a context that no longer exists."""
    _kernels.cache_clear()
    nvrtc.forget()


# ---------------------------------------------------------------- launches with packed arguments
#
# CuPy packs the arguments of every launch again, which for records takes longer than a search of a small graph.

ALIGNMENT = 16  # bytes: the largest alignment of any argument


class PreparedLaunch:
    """One kernel with its grid and its arguments by name, in the order of its parameters. Thread-safe.

    Arguments are NumPy scalars and records; arguments that change between launches are counts and addresses.
    """

    def __init__(self, kernel, blocks, threads, shared=0, cooperative=True, **arguments):
        self.cooperative = cooperative
        self.kernel = kernel  # without a reference, CUDA unloads the function
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
        """Launch the kernel in the current stream with these arguments, which later launches keep."""
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
        packed = np.atleast_1d(value).tobytes()
        with self._lock:
            ctypes.memmove(self._list[list(self._place).index(name)], packed, len(packed))


class PackedLaunch:
    """One kernel with plain arguments: arrays, and NumPy scalars of up to 8 bytes. Not thread-safe."""

    def __init__(self, function, count):
        self.function, self.handle = function, function.ptr  # without a reference, CUDA unloads the function
        self._memory = (ctypes.c_int64 * count)()
        first = ctypes.addressof(self._memory)
        self._list = (ctypes.c_void_p * count)(*range(first, first + 8 * count, 8))
        self._list_address = ctypes.addressof(self._list)
        self._words = memoryview(self._memory).cast("B").cast("q")

    def __call__(self, blocks, threads, stream, arguments):
        words = self._words
        for place, one in enumerate(arguments):
            try:
                words[place] = one.data.ptr if type(one) is cupy.ndarray else one
            except (TypeError, ValueError):  # a float, or a 64-bit number
                words[place] = int.from_bytes(one.tobytes(), "little", signed=True)
        driver.launchKernel(self.handle, blocks, 1, 1, threads, 1, 1, 0, stream, self._list_address, 0)


class PackedLaunches:
    """Launches kernels like `launch.Kernels`, but for one search at a time: all its launches use one stream."""

    def __init__(self, kernels):
        self.get, self.grid, self._most = kernels.get, kernels.grid, kernels.blocks
        self._made = {}
        self._stream = 0

    def begin(self):
        find_gpu()
        self._stream = cupy.cuda.get_current_stream().ptr

    def __call__(self, header, name, work, /, *arguments, shape="", blocks=None, text="", **named):
        """Launch a kernel with one thread per item of work, or with `blocks` blocks."""
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
    """Raise TypeError unless these are the kernel's parameter names, in order, starting at parameter `first`."""
    right = parameters(header, name)[first:]
    if tuple(named) != right:
        raise TypeError(f"{name} of {header} has the parameters {', '.join(right)}, not {', '.join(named)}")
