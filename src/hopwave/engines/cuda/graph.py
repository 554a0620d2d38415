"""A graph on the GPU: its rows and columns without values, uploaded once and kept with the graph.

What a plan needs beyond them (neighbours by degree, a row for every arc, the vertices nothing reaches) is made on the
GPU when first asked for. Buffers that a search works in are kept too, and lent from one search to the next.
"""

from __future__ import annotations

import threading
import weakref
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import cupy
import numpy as np

from hopwave.engines.cuda import nvrtc
from hopwave.graph import Graph
from hopwave.plan import Plan

BLOCK = 256  # kernels/common/atoms.cuh
NULL = np.uint64(0)
PINNED = 128
STRETCH = 1 << 27


class Device:
    """The current GPU: how many blocks fill it."""

    def __init__(self):
        self.number = cupy.cuda.runtime.getDevice()
        attributes = cupy.cuda.Device().attributes
        self.multiprocessors = attributes["MultiProcessorCount"]
        self.cooperative = bool(attributes["CooperativeLaunch"])
        self.blocks = self.multiprocessors * max(1, attributes["MaxThreadsPerMultiProcessor"] // BLOCK)


class Workspace:
    """Named buffers that grow and are used again."""

    def __init__(self):
        self.arrays = {}
        self.events = cupy.cuda.Event(), cupy.cuda.Event()
        self.pinned = cupy.cuda.alloc_pinned_memory(PINNED)
        self.host = np.frombuffer(self.pinned, np.uint64, PINNED // 8)  # where a level's counters arrive
        self.host_address = self.host.ctypes.data

    def take(self, name, length, dtype, fill=None):
        """At least that many items; filled once, when made. The kernel that uses a filled one leaves it so."""
        array = self.arrays.get(name)
        if array is None or len(array) < length:
            self.arrays.pop(name, None)  # before the larger one is asked for
            array = cupy.empty(max(length, 1), dtype)
            if fill is not None:
                array.fill(fill)
            self.arrays[name] = array
        return array

    @property
    def bytes(self):
        return sum(array.nbytes for array in self.arrays.values())


class CudaGraph:
    """The arrays of one graph, whatever the plan; each is made when first asked for."""

    def __init__(self, graph: Graph):
        self.n, self.m, self.directed = graph.n, graph.m, graph.directed
        self.graph = weakref.ref(graph)  # which keeps this: a strong one would keep both until the next collection
        self.device = Device()
        self.lock = threading.RLock()
        self.kept = {"any": {}, "degree": {}}
        self.workspaces = []
        self.kernels = {}
        # The graph's own arrays on this device, used without a copy; None where it has none there.
        self.given = None if graph._gpu is None or graph.order != "ascending" else graph._gpu[:2]
        turned = graph.__dict__.get("_reversed") if graph.directed else None
        self.turned = turned._prepared.find(CudaGraph) if turned is not None else None
        self.follows = graph.device == "cuda" or (self.turned is not None and self.turned.follows)
        offsets = graph.indptr if self.given is None else self.given[0]
        self.offset = "int" if offsets.dtype == np.int32 else "long long"

    def launch(self, header, name, work, *arguments, shape="", blocks=None):
        """Launch a kernel template's instance with a thread for each of `work` items, as far as the GPU holds them."""
        if work <= 0:
            return
        kernel = self.kernels.get((name, shape))
        if kernel is None:
            kernel = self.kernels[name, shape] = nvrtc.kernel(header, instance(name, self.offset, shape))
        kernel((blocks or min(-(-int(work) // BLOCK), self.device.blocks),), (BLOCK,), arguments)

    @cached_property
    def rows(self):
        """Offsets and out-neighbours."""
        if self.given is not None:
            return self.given
        if self.turned is not None:
            return self.turned.columns
        graph = self.graph()
        return cupy.asarray(graph.indptr), cupy.asarray(graph.indices)

    @cached_property
    def columns(self):
        """Offsets and in-neighbours: the arcs of a directed graph in the order of their heads."""
        if not self.directed:
            return self.rows
        if self.turned is not None:
            return self.turned.rows
        graph = self.graph()
        if graph._columns is not None:
            return cupy.asarray(graph.in_indptr), cupy.asarray(graph.in_indices)
        offsets, neighbours = self.rows
        in_offsets = cupy.zeros(self.n + 1, offsets.dtype)
        if not self.m:
            return in_offsets, neighbours
        order = cupy.argsort(neighbours, kind="stable")
        # Looked up, not counted: CuPy's bincount keeps a histogram of n for every thread block.
        in_offsets[: self.n] = cupy.searchsorted(neighbours[order], cupy.arange(self.n, dtype=neighbours.dtype))
        in_offsets[self.n] = self.m
        return in_offsets, self.arc_rows(offsets, self.m)[order]

    def columns_alone(self):
        """columns; rows that were only a way to them are let go (TurboBC, section 3.4: one format is enough)."""
        unasked = self.directed and "rows" not in self.__dict__
        columns = self.columns
        if unasked:
            self.__dict__.pop("rows", None)
        return columns

    @property
    def in_offsets(self):
        """Of whichever in-neighbours are here already."""
        return (self.__dict__.get("arranged") or self.columns)[0]

    def arc_rows(self, offsets, arcs):
        """The row of every arc, counted from the first of these rows."""
        rows = cupy.empty(arcs, np.int32)
        count = len(offsets) - 1
        self.launch("steps/state.cuh", "arc_rows", 32 * count, offsets, np.int32(count), rows)
        return rows

    @cached_property
    def arc_columns(self):
        """The column of every arc, in column order (TurboBFS's COOC)."""
        return self.arc_rows(self.columns[0], self.m)

    @cached_property
    def arranged(self):
        """columns with every vertex's in-neighbours by descending in-degree (Hiragushi, section 3.4).

        The order they came in is let go again, unless some plan without an order has asked for it: a search needs one.
        """
        unasked = [name for name in ("rows", "columns") if name not in self.__dict__]
        in_offsets, in_neighbours = self.columns
        if not self.m:
            return self.columns
        by_degree = cupy.argsort(-cupy.diff(in_offsets).astype(np.int64), kind="stable").astype(np.int32)
        rank = cupy.empty_like(by_degree)
        rank[by_degree] = cupy.arange(self.n, dtype=np.int32)
        arranged = cupy.empty_like(in_neighbours)
        for first, last, begin, end in self.stretches(in_offsets):
            keys = self.arc_rows(in_offsets[first : last + 1], end - begin).astype(np.int64)
            keys *= self.n
            keys += rank[in_neighbours[begin:end]]
            keys.sort()  # by row, then by rank
            keys %= self.n
            arranged[begin:end] = by_degree[keys]
        for name in unasked:
            if name == "columns" or not self.directed:
                self.__dict__.pop(name, None)
        return in_offsets, arranged

    @staticmethod
    def stretches(offsets):
        """Rows [first, last) with arcs [begin, end), about STRETCH of them at a time: a sort needs 24 bytes an arc."""
        rows, arcs = len(offsets) - 1, int(offsets[-1])
        edges = cupy.searchsorted(offsets, cupy.arange(STRETCH, arcs, STRETCH, dtype=np.int64)).tolist()
        for first, last in pairwise(dict.fromkeys([0, *edges, rows])):
            yield first, last, int(offsets[first]), int(offsets[last])

    @cached_property
    def closed(self):
        """The vertices that no search finds, as a bitmap."""
        bits = cupy.empty(-(-self.n // 32), np.uint32)
        self.launch("steps/state.cuh", "closed_bits", self.n, self.in_offsets, np.int32(self.n), bits)
        return bits

    @cached_property
    def degree_bits(self):
        """Bits of the greatest in-degree: how much a path count can grow in one level."""
        return int(cupy.diff(self.in_offsets).max()).bit_length() if self.n else 0

    @property
    def bytes(self):
        """Device memory held for this graph: arcs in every order asked for so far, and idle buffers."""
        arrays = {id(a): a for name in ("rows", "columns", "arranged") for a in self.__dict__.get(name, ())}
        arrays |= {id(a): a for name in ("arc_columns", "closed") if (a := self.__dict__.get(name)) is not None}
        return sum(a.nbytes for a in arrays.values()) + sum(work.bytes for work in self.workspaces)


@dataclass(frozen=True)
class Loaded:
    """A graph as one plan wants it."""

    graph: Graph
    plan: Plan
    on_device: CudaGraph

    n = property(lambda self: self.on_device.n)
    m = property(lambda self: self.on_device.m)
    directed = property(lambda self: self.on_device.directed)
    device = property(lambda self: self.on_device.device)
    lock = property(lambda self: self.on_device.lock)
    kept = property(lambda self: self.on_device.kept[self.plan.order])
    offsets = property(lambda self: self._rows[0])
    neighbours = property(lambda self: self._rows[1])
    in_offsets = property(lambda self: self._columns[0])
    in_neighbours = property(lambda self: self._columns[1])

    def ready(self):
        """Everything uploaded or made that the plan will read."""
        if self.plan.regime == "source" and self.plan.task == "betweenness":
            return self.on_device.columns_alone()
        arrays = self._rows
        if any(step.direction == "pull" or step.mapping == "edge" for step in self.plan.steps):
            arrays += self._columns
        return arrays

    @cached_property
    def _rows(self):
        """Only a pull gains by an order; an undirected graph then uses the one array for both."""
        return self.on_device.rows if self.directed or self.plan.order == "any" else self._columns

    @cached_property
    def _columns(self):
        if self.plan.order == "any":
            return self.on_device.columns
        with self.lock:
            return self.on_device.arranged


def long_rows(offsets, length):
    """The rows of more than that many arcs, the longest first."""
    lengths = cupy.diff(offsets)
    count = int(cupy.count_nonzero(lengths > length))
    return cupy.argsort(-lengths)[:count].astype(np.int32) if count else cupy.empty(0, np.int32)


def instance(name, offset, shape=""):
    """The C++ name of a kernel template's instance; shape holds the arguments after the offset type."""
    return f"hopwave::{name}<{offset}{shape and ', ' + shape}>"
