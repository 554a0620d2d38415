"""What the betweenness regimes share: kernels by name, records of pointers and numbers, work that shrinks to fit."""

from __future__ import annotations

from contextlib import contextmanager

import cupy
import numpy as np

from hopwave.engines.cuda import nvrtc
from hopwave.engines.cuda.betweenness.regimes import Machine

GRAPH = ("offsets", "neighbours", "in_offsets", "in_neighbours", "n", "m")
SPARE = 1 << 28  # bytes of the GPU's memory that are left to others


def record(names, values):
    """A kernel's struct: pointers and numbers, 8 bytes each, in that order."""
    fields = np.zeros(1, np.dtype([(name, np.int64) for name in names]))
    fields[0] = tuple(_field(values[name]) for name in names)
    return fields


def _field(value):
    return 0 if value is None else value.data.ptr if isinstance(value, cupy.ndarray) else int(value)


def machine():
    """The current GPU, as the policy looks at it."""
    attributes = cupy.cuda.Device().attributes
    return Machine(
        attributes["MultiProcessorCount"],
        attributes["MaxSharedMemoryPerBlockOptin"],
        attributes["MaxThreadsPerMultiProcessor"],
        cupy.cuda.runtime.memGetInfo()[1],
        bool(attributes["CooperativeLaunch"]),
    )


def free_memory():
    """Bytes that a run may take: what the GPU and CuPy's pool have free, less a little."""
    pool = cupy.get_default_memory_pool()
    free = cupy.cuda.runtime.memGetInfo()[0] + pool.free_bytes() - SPARE
    limit = pool.get_limit()
    if limit:
        free = min(free, limit - pool.used_bytes())
    return max(0, free)


class Kernels:
    """Instances of the templates in kernels/brandes*.cuh for one graph."""

    def __init__(self, loaded):
        self.loaded = loaded
        self.offset = loaded.on_device.offset
        self.kept = loaded.on_device.kernels
        self.blocks = loaded.device.blocks

    def graph(self, arrays):
        """The struct Graph of a graph's arrays, which must be kept alive."""
        loaded, names = self.loaded, GRAPH[:4]
        if not loaded.directed:
            names = names[:2] * 2
        fields = dict(zip(GRAPH, (getattr(arrays, name) for name in names), strict=False))
        return record(GRAPH, {**fields, "n": loaded.n, "m": loaded.m})

    def get(self, header, name, cooperative=False):
        """The kernel of that name, compiled when first asked for."""
        if name not in self.kept:
            full = f"hopwave::brandes::{name}"
            self.kept[name] = nvrtc.module(header, (full,), cooperative=cooperative).get_function(full)
        return self.kept[name]

    def threads(self, header, name):
        """How many threads of that kernel a multiprocessor has registers for."""
        attributes = cupy.cuda.Device().attributes
        registers = -(-self.get(header, name).num_regs // 8) * 8
        most = attributes["MaxRegistersPerMultiprocessor"] // max(1, registers)
        return min(attributes["MaxThreadsPerMultiProcessor"], most // 32 * 32)

    def launch(self, header, name, grid, threads, arguments, shared=0, cooperative=False):
        """Launch with exactly that grid, all of it at once if cooperative; plain whole numbers are 64 bits wide."""
        kernel = self.get(header, name, cooperative)
        if shared > 48 << 10:
            kernel.max_dynamic_shared_size_bytes = shared
        arguments = tuple(np.int64(a) if isinstance(a, int) else a for a in arguments)
        kernel(grid, (threads,), arguments, shared_mem=shared)

    def __call__(self, header, name, work, threads, *arguments):
        """Launch a thread for each of `work` items, as far as the GPU holds them."""
        if work > 0:
            blocks = min(-(-work // threads), self.blocks * 256 // threads)
            self.launch(header, name, (blocks,), threads, arguments)


class Pieces:
    """[begin, end) after [begin, end) of so many items; halved, down to `least`, and tried again if memory ran out."""

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
        """Around the work on one piece. What it adds to must not have been touched when memory runs out."""
        try:
            yield
        except cupy.cuda.memory.OutOfMemoryError:
            if self.size // 2 < self.least:
                raise
            self.size, self.done = self.size // 2, False
