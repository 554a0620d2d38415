"""Kernels by name, and their launches: one way for the whole engine.

Kernels go through their items in strides of the grid, so no grid needs more blocks than the GPU holds at once.
"""

from __future__ import annotations

import re
from functools import cache, cached_property

import cupy
import numpy as np

from hopwave.engines.cuda import nvrtc

BLOCK = 256  # threads per block (kernels/common/threads.cuh), unless a kernel says otherwise
WARP = 32
NULL = np.uint64(0)  # a null pointer, as a kernel argument
TILE = 4096  # items per tile of a prefix sum (kernels/common/threads.cuh)
OFFSETS = {
    np.dtype(np.int32): "int", np.dtype(np.int64): "long long", np.dtype(np.uint64): "unsigned long long",
}  # fmt: skip
PLAIN_SHARED = 48 << 10  # bytes of shared memory that a block may use without asking CUDA for more


def expression(header, name, *arguments):
    """The C++ name of a kernel template's instance.

    >>> expression("many/search.cuh", "search_many", "int", 16)
    'hopwave::many::search_many<int, 16>'
    """
    listed = ", ".join(str(argument) for argument in arguments if argument != "")
    return f"{nvrtc.qualified(header, name)}<{listed}>"


@cache
def parameters(header, name):
    """The names of a kernel's parameters, from its header.

    >>> parameters("steps/state.cuh", "merge_bits")
    ('visited', 'found', 'words')
    """
    text = (nvrtc.KERNELS / header).read_text(encoding="utf-8")
    (listed,) = re.findall(rf"__global__\s+void\s+(?:__launch_bounds__\([^)]*\)\s+)?{name}\(([^)]*)\)", text)
    return tuple(re.findall(r"(\w+)(?=,|$)", listed))


TOGETHER: dict[str, list[tuple[str, ...]]] = {}  # header → groups of its kernels that are used together


def together(header, *names):
    """Declare kernels of a header that one call uses: when the first is needed, all are compiled at the same time."""
    TOGETHER.setdefault(header, []).append(names)


def truth(value):
    """A bool as C++ spells it."""
    return "true" if value else "false"


def offset_type(offsets):
    """The type of an array of row offsets, in C++; unsigned for packed rows (kernels/common/rows.cuh)."""
    return OFFSETS[offsets.dtype]


class Device:
    """The current GPU: its multiprocessors, and how many blocks of BLOCK threads it holds at once."""

    def __init__(self):
        attributes = cupy.cuda.Device().attributes
        self.multiprocessors = attributes["MultiProcessorCount"]
        self.cooperative = bool(attributes["CooperativeLaunch"])
        self.blocks = self.multiprocessors * max(1, attributes["MaxThreadsPerMultiProcessor"] // BLOCK)


class Kernels:
    """Instances of kernel templates on one GPU: each is compiled when it is first used, and kept.

    `offset` is the first template argument of all of them: the type of row offsets. If it is "", a kernel's `shape`
    holds all of its template arguments.
    """

    def __init__(self, offset=""):
        self.offset = offset
        self.blocks = Device().blocks
        self._found = {}

    @cached_property
    def attributes(self):
        """What CUDA says of this GPU: CuPy copies it each time that it is asked."""
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
        """Start to compile the kernels of a header that are used together: one group, or its only one."""
        (group,) = TOGETHER[header] if group is None else (group,)
        nvrtc.begin(header, [expression(header, name, self.offset) for name in group])

    def grid(self, work, threads=BLOCK):
        """Blocks for one thread per item of work, at most as many as the GPU holds."""
        return min(-(-int(work) // threads), self.blocks * BLOCK // threads)

    def __call__(self, header, name, work, *arguments, shape="", blocks=None):
        """Launch a kernel with one thread per item of work, or with `blocks` blocks; with no work, launch nothing."""
        if work <= 0:
            return
        kernel = self._found.get((header, name, shape, ""))  # inlines get() and grid(): this is called for every level
        if kernel is None:
            kernel = self.get(header, name, shape)
        kernel((blocks or min(-(-int(work) // BLOCK), self.blocks),), (BLOCK,), arguments)

    def launch(self, kernel, work, arguments):
        """Launch a kernel that `get` has found, with one thread per item of work."""
        kernel((min(-(-work // BLOCK), self.blocks),), (BLOCK,), arguments)

    # ---------------------------------------------------------------- grids of exact size

    def configurable(self, header, name, shape="", cooperative=False):
        """One instance with the attributes that `exactly` and `resident_threads` need."""
        key = header, name, shape, cooperative
        kernel = self._found.get(key)
        if kernel is None:
            instance = expression(header, name, self.offset, shape)
            kernel = self._found[key] = nvrtc.configurable(header, instance, cooperative)
        return kernel

    def exactly(self, header, name, shape, grid, threads, arguments, shared=0, cooperative=False):
        """Launch with this grid and `shared` bytes of shared memory per block; all blocks run at once if cooperative.

        Python ints are passed as 64 bits.
        """
        kernel = self.configurable(header, name, shape, cooperative)
        if shared > PLAIN_SHARED:
            kernel.allow_shared(shared)
        arguments = tuple(np.int64(a) if isinstance(a, int) else a for a in arguments)
        kernel(grid, (threads,), arguments, shared_mem=shared)

    def resident_threads(self, header, name, shape=""):
        """How many threads of this kernel a multiprocessor has registers for."""
        registers = -(-self.configurable(header, name, shape).registers // 8) * 8  # allocated by eights
        most = self.attributes["MaxRegistersPerMultiprocessor"] // max(1, registers)
        return min(self.attributes["MaxThreadsPerMultiProcessor"], most // WARP * WARP)


@cache
def _kernels(offset, device):
    return Kernels(offset)


def kernels(offset=""):
    """The current GPU's kernels for this type of offsets."""
    return _kernels(offset, cupy.cuda.runtime.getDevice())


def forget():
    """Drop every loaded kernel: when a GPU is lost, they belong to a context that no longer exists."""
    _kernels.cache_clear()
    nvrtc.forget()
