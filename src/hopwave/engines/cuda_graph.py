"""A graph on the GPU: its rows and columns without values, uploaded once and kept with the graph.

What a plan needs beyond them (neighbours by degree, a row for every arc, the vertices nothing reaches) is made on the
GPU when first asked for. Buffers that a search works in are kept too, and lent from one search to the next.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property

import cupy
import numpy as np

from hopwave.engines import nvrtc
from hopwave.graph import Graph
from hopwave.plan import Plan

BLOCK = 256  # kernels/atoms.cuh
NULL = np.uint64(0)


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
    """The arrays of one graph, whatever the plan."""

    def __init__(self, graph: Graph):
        self.n, self.m, self.directed = graph.n, graph.m, graph.directed
        self.device = Device()
        self.lock = threading.RLock()
        self.kept = {"any": {}, "degree": {}}
        self.workspaces = []
        given = graph._prepared.get("device")  # CuPy arrays that the graph was made of: no copy
        turned = graph.__dict__.get("_reversed")
        turned = turned._prepared.get("cuda") if graph.directed and turned is not None else None
        self.follows = given is not None or (turned is not None and turned.follows)
        if given is not None:
            self.rows = (given[0], given[1])
        elif turned is not None:
            self.rows = turned.columns
        else:
            self.rows = (cupy.asarray(graph.indptr), cupy.asarray(graph.indices))
        self.offset = "int" if self.rows[0].dtype == np.int32 else "long long"
        if not graph.directed:
            self.columns = self.rows
        elif turned is not None:
            self.columns = turned.rows
        elif graph._columns is not None:
            self.columns = (cupy.asarray(graph.in_indptr), cupy.asarray(graph.in_indices))

    def launch(self, header, name, work, *arguments, shape="", blocks=None):
        """Launch a kernel template's instance with a thread for each of `work` items, as far as the GPU holds them."""
        if work <= 0:
            return
        blocks = blocks or min(-(-int(work) // BLOCK), self.device.blocks)
        kernel = nvrtc.kernel(header, instance(name, self.offset, shape))
        kernel((blocks,), (BLOCK,), arguments)

    @cached_property
    def columns(self):
        """The in-neighbours of a directed graph: its arcs in the order of their heads."""
        offsets, neighbours = self.rows
        in_offsets = cupy.zeros(self.n + 1, offsets.dtype)
        if not self.m:
            return in_offsets, neighbours
        in_offsets[1:] = cupy.cumsum(cupy.bincount(neighbours, minlength=self.n))
        order = cupy.argsort(neighbours, kind="stable")
        return in_offsets, self.arc_rows(offsets)[order]

    def arc_rows(self, offsets):
        rows = cupy.empty(self.m, np.int32)
        self.launch("state.cuh", "arc_rows", 32 * self.n, offsets, np.int32(self.n), rows)
        return rows

    @cached_property
    def arc_columns(self):
        """The column of every arc, in column order (TurboBFS's COOC)."""
        return self.arc_rows(self.columns[0])

    @cached_property
    def arranged(self):
        """columns with every vertex's in-neighbours by descending in-degree (Hiragushi, section 3.4)."""
        in_offsets, in_neighbours = self.columns
        if not self.m:
            return self.columns
        by_degree = cupy.argsort(-cupy.diff(in_offsets).astype(np.int64), kind="stable").astype(np.int32)
        rank = cupy.empty_like(by_degree)
        rank[by_degree] = cupy.arange(self.n, dtype=np.int32)
        keys = self.arc_rows(in_offsets).astype(np.int64)
        keys *= self.n
        keys += rank[in_neighbours]
        keys.sort()
        keys %= self.n
        return in_offsets, by_degree[keys]

    @cached_property
    def closed(self):
        """The vertices that no search finds, as a bitmap."""
        bits = cupy.empty(-(-self.n // 32), np.uint32)
        self.launch("state.cuh", "closed_bits", self.n, self.columns[0], np.int32(self.n), bits)
        return bits

    @cached_property
    def degree_bits(self):
        """Bits of the greatest in-degree: how much a path count can grow in one level."""
        return int(cupy.diff(self.columns[0]).max()).bit_length() if self.n else 0

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

    @property
    def _rows(self):
        """Only a pull gains by an order; an undirected graph then uses the one array for both."""
        return self.on_device.rows if self.directed or self.plan.order == "any" else self._columns

    @property
    def _columns(self):
        return self.on_device.columns if self.plan.order == "any" else self.on_device.arranged


def instance(name, offset, shape=""):
    """The C++ name of a kernel template's instance; shape holds the arguments after the offset type."""
    return f"hopwave::{name}<{offset}{shape and ', ' + shape}>"
