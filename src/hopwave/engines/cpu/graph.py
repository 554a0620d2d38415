"""A graph as the CPU engine reads it: unsigned arrays, data that speeds up a pull, and workspaces for searches."""

import sys
import threading
import weakref
from contextlib import contextmanager
from functools import cached_property

import numpy as np

from hopwave.engines.cpu import policy, views
from hopwave.engines.cpu.integers import ONE
from hopwave.engines.cpu.intrinsics import outer
from hopwave.engines.cpu.many.settling import short_arcs
from hopwave.engines.cpu.search.state import Adjacency, Workspace, workspace_arrays
from hopwave.engines.cpu.views import read_only, unsigned


def is_scattered(indptr, indices):
    """Whether most neighbours are so far apart that betweenness along weights gains from prefetching."""
    n, m = len(indptr) - 1, len(indices)
    if n <= policy.CACHED_VERTICES:
        return False
    arcs = np.linspace(0, m - 1, 4096).astype(np.int64)
    source = np.searchsorted(indptr, arcs, side="right") - 1
    return bool(np.median(np.abs(indices[arcs] - source)) * policy.SCATTERED > n)


class CpuGraph:
    """Adjacency arrays (created when first needed) and a stack of workspaces; thread-safe."""

    def __init__(self, graph):
        self._graph = weakref.ref(graph)  # the graph refers to this object: a reference cycle would delay freeing both
        self.n, self.m = graph.n, graph.m
        self.searches = 0
        self._lock = threading.Lock()
        self._adjacency = {}
        self._workspaces = []
        self._answers = {4: [], 8: []}  # by size of an entry (bytes)
        self._tables, self._table_size = [], 0
        self._spare = {}
        self._short, self.pairs = None, 0  # number of pairs whose shortest paths were requested
        degrees = graph.degrees
        self.irregular = self.m > 0 and int(degrees.max()) > policy.IRREGULAR * self.m / self.n
        self.flat = not self.irregular and self.m <= policy.FLAT_DEGREE * self.n
        self.degree_bits = int(np.ceil(np.log2(max(2, int(graph.in_degrees.max(initial=0)) + 1))))
        self.findable = int(np.count_nonzero(graph.in_degrees))
        self.scattered = int(is_scattered(graph.indptr, graph.indices))
        self._unvisited = read_only((-1 - degrees.astype(np.int64)).astype(np.int32))
        outside = np.ones(-(-self.n // 64) * 64, np.uint8)
        outside[: self.n] = 0
        closed = outside.copy()
        closed[: self.n] = graph.in_degrees == 0
        self._padding, self._closed = (
            read_only(np.packbits(bits, bitorder="little").view(np.uint64)) for bits in (outside, closed)
        )

    @property
    def graph(self):
        return self._graph()

    def adjacency(self, order, searches=1):
        """The arrays for searches. "degree": with hubs, except in the first search and on meshes; "paper": arranged."""
        with self._lock:
            hubs = not self.flat and (self.searches >= policy.SEARCHES_BEFORE_HUBS or self.graph.order == "degree")
            kind = "hubs" if order == "degree" and hubs else "arranged" if order == "paper" else "plain"
            self.searches += searches
            if kind not in self._adjacency:
                self._adjacency[kind] = self._prepare(kind, order)
            return self._adjacency[kind]

    @cached_property
    def rows(self):
        """Offsets and indices of the out-arcs, in the graph's order."""
        return views.unsigned_rows(self.graph)

    @cached_property
    def lengths(self):
        """The weights of the arcs as float64, in the order of `graph.indices`; empty if the graph has none."""
        weights = self.graph.weights
        return read_only(np.empty(0) if weights is None else np.asarray(weights, np.float64))

    @cached_property
    def length_range(self):
        """The smallest and the largest weight; infinity and 0 if there are none."""
        return float(self.lengths.min(initial=np.inf)), float(self.lengths.max(initial=0.0))

    def short_arcs(self, threads):
        """The rows without their long arcs, and the minimum length of a long arc; cached with the graph."""
        if self._short is None:
            self._short = short_arcs(*self.rows, self.lengths, threads)
        return self._short

    def _prepare(self, kind, order):
        graph = self.graph.arranged() if kind == "arranged" else self.graph
        hub = np.empty(0, np.uint32)
        indptr, in_indices = views.offsets(graph.indptr), unsigned(graph.in_indices)
        in_indptr = views.offsets(graph.in_indptr) if graph.in_indptr is not graph.indptr else indptr
        if kind == "plain" and order == "degree":  # load its machine code now: the second search should not wait
            find_hubs(in_indptr[:1], in_indices[:0], np.empty(0, np.int64), hub)
        elif kind == "hubs":
            hub = np.arange(self.n, dtype=np.uint32)  # a vertex without in-arcs is its own hub, which has no effect
            find_hubs(in_indptr, in_indices, self.graph.in_degrees.astype(np.int64), hub)
        rows = indptr, unsigned(graph.indices), in_indptr, in_indices
        return Adjacency(*rows, read_only(hub), self._unvisited, self._closed, self._padding)

    @contextmanager
    def workspace(self, threads, counting):
        """A workspace that no other search uses, with new arrays for the result."""
        with self._lock:
            kept = self._workspaces.pop() if self._workspaces else views.allocate(workspace_arrays(self.n, threads))
            parent, distance = self._answer(np.int32), self._answer(np.int32)
        if len(kept["buffers"]) < threads:
            kept["buffers"] = views.allocated(workspace_arrays(self.n, threads)["buffers"])
        yield Workspace(parent=parent, distance=distance, sigma=np.zeros(self.n if counting else 0), **kept)
        with self._lock:
            self._workspaces.append(kept)

    def spare(self, kind):
        """Arrays that an earlier run stored under this name, for exclusive use by this run; None if there are none."""
        with self._lock:
            return self._spare.pop(kind, None)

    def leave(self, kind, value, size):
        """Store arrays for a later run, because their pages are already mapped, unless they have too many bytes."""
        if size <= policy.BYTES_LEFT:
            with self._lock:
                self._spare[kind] = value

    def sums(self):
        """Zeros, one per vertex, in an array that the caller may keep."""
        with self._lock:
            found = self._answer(np.float64)
        found.fill(0.0)
        return found

    def table(self, rows, dtype):
        """A row of n numbers for each source, in an array that the caller may keep."""
        count = rows * self.n
        size = count * np.dtype(dtype).itemsize
        with self._lock:
            if size != self._table_size:
                self._tables, self._table_size = [], size
            most = min(policy.TABLES_KEPT, policy.BYTES_LEFT // max(1, size))
            return views.array_in(unkept(self._tables, size, most), count, dtype).reshape(rows, self.n)

    def _answer(self, dtype):
        """An array that the caller may keep."""
        size = np.dtype(dtype).itemsize
        return views.array_in(unkept(self._answers[size], size * self.n, policy.ANSWERS_KEPT), self.n, dtype)


def unkept(kept, size, most):
    """Memory for a result: one of up to `most` cached pieces that nothing else refers to, or new memory."""
    for memory in kept:
        if sys.getrefcount(memory) == UNSHARED:
            return memory
    memory = views.memory_for(size)
    if len(kept) < most:
        kept.append(memory)
    return memory


def _count_references(kept):
    """Python's reference count of an array that only a list contains, read in a loop over that list."""
    for memory in kept:
        return sys.getrefcount(memory)


UNSHARED = _count_references([np.empty(0)])


@outer
def find_hubs(in_indptr, in_indices, degrees, hub):
    """hub[v] = v's in-neighbour of highest degree; the first of them if there are several."""
    for v in range(hub.size):
        v = np.uint32(v)
        best = np.int64(-1)
        for j in range(np.int64(in_indptr[v]), np.int64(in_indptr[v + ONE])):
            u = in_indices[j]
            if degrees[u] > best:
                best = degrees[u]
                hub[v] = u
