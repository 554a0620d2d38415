"""A graph on the GPU: its rows and columns without values, uploaded once and cached with the graph."""

import threading
import weakref
from dataclasses import dataclass
from functools import cached_property

import cupy
import numpy as np

from hopwave.engines.cuda import build
from hopwave.engines.cuda.build import arc_rows, greatest_length
from hopwave.engines.cuda.launch import Device, kernels, offset_type
from hopwave.errors import EngineError
from hopwave.graph import Graph
from hopwave.planning.plan import Plan
from hopwave.planning.rules import Growing

STATE = "steps/state.cuh"


class made_once(cached_property):
    """A cached_property with a lock, unlike Python's since 3.12: kernels may already use the first thread's arrays."""

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        with instance.lock:
            if self.attrname not in instance.__dict__:
                instance.__dict__[self.attrname] = self.func(instance)
            return instance.__dict__[self.attrname]


class CudaGraph:
    """The arrays of one graph for all plans, each created when first needed; compressed: its packed rows, if any."""

    def __init__(self, graph: Graph, compressed=None):
        self.n, self.m, self.directed = graph.n, graph.m, graph.directed
        self.graph = weakref.ref(graph)  # the graph refers to this object: a cycle would delay freeing both
        self.device = Device()
        self.lock = threading.RLock()
        self.kept = {"any": {}, "degree": {}}
        self.workspaces = []
        # The graph's own arrays on this device, used without a copy; None if this device has none.
        self.given = None if graph._gpu is None or graph.order != "ascending" else graph._gpu[:2]
        turned = graph._known_reverse() if graph.directed else None
        self.turned = turned._prepared.find(CudaGraph) if turned is not None else None
        self.reverse = None if self.turned is None else turned  # alive while this object reads its arrays
        if self.turned is not None and self.turned.compressed is not None:
            compressed = self.turned.compressed.turned()
        self.compressed = compressed
        # Results stay on the GPU if the graph, or the graph that it reverses, came from a GPU.
        self.follows = "cuda" in (graph.device, "cpu" if turned is None else turned.device)
        given = graph.indptr if self.given is None else self.given[0]
        self.offset = offset_type(given if compressed is None else compressed.offsets)
        self.launch = kernels(self.offset)

    @made_once
    def rows(self):
        self.refuse_compressed()
        if self.given is not None:
            return self.given
        if self.turned is not None:
            return self.turned.columns
        graph = self.graph()
        return cupy.asarray(graph.indptr), cupy.asarray(graph.indices)

    @property
    def numbering(self):
        return None if self.compressed is None else self.compressed.numbering

    def refuse_compressed(self):
        """Raise EngineError if the rows are packed; called by functions that cannot read packed rows."""
        if self.compressed is not None:
            raise EngineError(
                "this graph's rows are compressed on the GPU; only searches by plan 'hopwave-dense', searches from "
                "many sources and betweenness of vertices without weights, components and PageRank support this; use "
                "device='cpu', or G.to('cpu').to('cuda') if the plain rows fit"
            )

    @made_once
    def columns(self):
        """Offsets and in-neighbours: the arcs of a directed graph in the order of their heads."""
        if not self.directed:
            return self.rows
        self.refuse_compressed()
        if self.turned is not None:
            return self.turned.rows
        graph = self.graph()
        if graph._columns is not None:
            return cupy.asarray(graph.in_indptr), cupy.asarray(graph.in_indices)
        offsets, neighbours = self.rows
        heads = build.rows_of(neighbours, arc_rows(offsets, self.m), self.n, symmetric=False, merge=False)
        return heads.indptr.astype(offsets.dtype, copy=False), heads.indices

    @made_once
    def row_offsets(self):
        self.refuse_compressed()
        if not self.directed or self.given is not None or self.turned is not None or "rows" in self.__dict__:
            return self.rows[0]
        return cupy.asarray(self.graph().indptr)

    def columns_alone(self):
        """Columns; rows that were only needed to build them are freed (TurboBC, section 3.4: one format suffices)."""
        with self.lock:
            rows_unused = self.directed and "rows" not in self.__dict__
            columns = self.columns
            if rows_unused:
                self.__dict__.pop("rows", None)
            return columns

    @property
    def in_offsets(self):
        """Offsets of the in-neighbours; uses the columns in whichever order is already on the GPU."""
        if self.compressed is not None:
            return self.compressed.in_offsets
        return (self.__dict__.get("arranged") or self.columns)[0]

    @made_once
    def arc_columns(self):
        """The column of every arc, in column order (TurboBFS's COOC)."""
        return arc_rows(self.columns[0], self.m)

    @made_once
    def arc_values(self):
        """The values of the matrix, all 1: push-pull's baseline reads them, as a product over any semiring must."""
        return cupy.ones(self.m, np.int32)

    @made_once
    def arranged(self):
        """Columns with every vertex's in-neighbours by descending in-degree (Hiragushi, section 3.4)."""
        unused = [name for name in ("rows", "columns") if name not in self.__dict__]
        in_offsets, in_neighbours = self.columns
        if not self.m:
            return self.columns
        arranged = build.by_degree(in_offsets, in_neighbours)
        for name in unused:
            if name == "columns" or not self.directed:
                self.__dict__.pop(name, None)
        return in_offsets, arranged

    @made_once
    def closed(self):
        """Bitmap of the vertices without in-arcs, which no search finds."""
        bits = cupy.empty(-(-self.n // 32), np.uint32)
        self.launch(STATE, "closed_bits", self.n, self.in_offsets, np.int32(self.n), bits)
        return bits

    @made_once
    def degree_bits(self):
        """Bits of the largest in-degree: a path count grows by at most this many bits per level."""
        return greatest_length(self.launch, self.in_offsets).bit_length()


def uploaded(graph: Graph) -> CudaGraph:
    return graph._prepared.find(CudaGraph) or graph._prepared.keep(CudaGraph(graph))


@dataclass(frozen=True)
class Loaded:
    graph: Graph
    plan: Plan
    on_device: CudaGraph

    n = property(lambda self: self.on_device.n)
    m = property(lambda self: self.on_device.m)
    directed = property(lambda self: self.on_device.directed)
    device = property(lambda self: self.on_device.device)
    lock = property(lambda self: self.on_device.lock)
    kept = property(lambda self: self.on_device.kept[self.plan.order])
    offsets = property(lambda self: self.on_device.row_offsets if self.reads_columns_alone else self._rows[0])
    neighbours = property(lambda self: self._rows[1])
    in_offsets = property(lambda self: self._columns[0])
    in_neighbours = property(lambda self: self._columns[1])
    numbering = property(lambda self: self.on_device.numbering)

    @cached_property
    def packed(self):
        """The packed rows, if the graph has them and the plan's kernels read them; otherwise None."""
        if self.on_device.compressed is None:
            return None
        own = self.plan.task == "betweenness" and self.plan.loop == "device" and self.plan.regime != "batch"
        one_launch = self.plan.loop == "device" and isinstance(self.plan.rule, Growing)
        return self.on_device.compressed if (one_launch or own) and self.device.cooperative else None

    def ready(self):
        if self.plan.regime == "source" and self.plan.task == "betweenness":
            return self.on_device.columns_alone()
        if self.reads_columns_alone:
            return (*self.on_device.columns_alone(), self.offsets)
        arrays = self._rows
        if any(step.direction == "pull" or step.mapping == "edge" for step in self.plan.steps):
            arrays += self._columns
        return arrays

    @cached_property
    def reads_columns_alone(self):
        """Whether no step follows out-arcs (TurboBFS, section III: one format). Only out-degrees are then needed."""
        plain = self.plan.order == "any" and self.plan.loop == "host"
        return plain and all(step.direction == "pull" or step.mapping == "edge" for step in self.plan.steps)

    @cached_property
    def _rows(self):
        """Offsets and out-neighbours. Undirected rows are also the columns, which a plan may order by degree."""
        if self.packed is not None:
            return self.packed.offsets, self.packed.neighbours
        return self.on_device.rows if self.directed or self.plan.order == "any" else self._columns

    @cached_property
    def _columns(self):
        if self.packed is not None:
            return self.packed.in_offsets, self.packed.in_neighbours
        if self.plan.order == "any":
            return self.on_device.columns
        with self.lock:
            return self.on_device.arranged
