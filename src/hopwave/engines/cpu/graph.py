"""A graph as the CPU engine wants it: unsigned, with what speeds up a pull, and with workspaces to search in."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager

import numpy as np
from numba import njit

from hopwave.engines.cpu.intrinsics import COMPILED, ONE
from hopwave.engines.cpu.search.steps import BUFFER, Adjacency, Workspace

# What is prepared for a graph must be earned back: hubs cost about one pass over the arcs, an arrangement several.
SEARCHES_BEFORE_HUBS = 1
SEARCHES_BEFORE_ARRANGING = 16
NEAR = 1 << 15  # vertices up to which all that a search touches stays in a core's own cache
ANSWERS_KEPT = 4  # arrays of distances or predecessors that wait to be used again
IRREGULAR = 8.0  # greatest degree over mean degree from which pulls gain by either


def preparation(searches, irregular, order):
    """What a search may use: "plain" rows, "hubs" beside them, or "arranged" rows with hubs.

    A plan that orders neighbours by degree as its paper does says order="paper" and has them from the start.
    """
    if order == "paper":
        return "arranged"
    if order == "any" or not irregular:
        return "plain"
    if searches < SEARCHES_BEFORE_HUBS:
        return "plain"
    return "hubs" if searches < SEARCHES_BEFORE_ARRANGING else "arranged"


def is_scattered(graph):
    """Whether the numbers of neighbours are mostly so far apart that Brandes' passes must ask memory ahead of time.

    Not on graphs numbered along their shape (grids, roads), where neighbours share cache lines, nor on those that fit
    into a cache: there asking ahead costs a third. (A plain search gains by it on all of them.)
    """
    if graph.n <= NEAR:
        return False
    arcs = np.linspace(0, graph.m - 1, 4096).astype(np.int64)
    source = np.searchsorted(graph.indptr, arcs, side="right") - 1
    return bool(np.median(np.abs(graph.indices[arcs] - source)) * 64 > graph.n)


def unsigned(array):
    """The same memory, read as unsigned numbers."""
    return array.view(np.uint32 if array.dtype.itemsize == 4 else np.uint64)


def read_only(array):
    array.setflags(write=False)
    return array


class CpuGraph:
    """Adjacency arrays (made when first needed) and a stack of workspaces, safe to use from several threads."""

    def __init__(self, graph):
        self.graph = graph
        self.n, self.m = graph.n, graph.m
        self.searches = 0
        self._lock = threading.Lock()
        self._adjacency = {}
        self._workspaces = []
        self._answers = []
        degrees = graph.degrees
        self.irregular = self.m > 0 and int(degrees.max()) > IRREGULAR * self.m / self.n
        self.degree_bits = int(np.ceil(np.log2(max(2, int(graph.in_degrees.max(initial=0)) + 1))))
        self.findable = int(np.count_nonzero(graph.in_degrees))
        self.scattered = int(is_scattered(graph))
        self._unvisited = read_only((-1 - degrees.astype(np.int64)).astype(np.int32))
        outside = np.ones(-(-self.n // 64) * 64, np.uint8)
        outside[: self.n] = 0
        closed = outside.copy()
        closed[: self.n] = graph.in_degrees == 0
        self._padding, self._closed = (
            read_only(np.packbits(bits, bitorder="little").view(np.uint64)) for bits in (outside, closed)
        )

    def adjacency(self, order):
        """The arrays for the next search. The hub and the order of neighbours never change an answer."""
        with self._lock:
            kind = preparation(self.searches, self.irregular, order)
            self.searches += 1
            if kind not in self._adjacency:
                self._adjacency[kind] = self._prepare(kind)
            return self._adjacency[kind]

    def _prepare(self, kind):
        graph = self.graph.arranged() if kind == "arranged" else self.graph
        hub = read_only(np.empty(0, np.uint32))
        in_indptr, in_indices = unsigned(graph.in_indptr), unsigned(graph.in_indices)
        if kind != "plain":
            hub = np.arange(self.n, dtype=np.uint32)  # a vertex without in-arcs looks at itself, in vain
            find_hubs(in_indptr, in_indices, self.graph.in_degrees.astype(np.int64), hub)
            hub = read_only(hub)
        return Adjacency(
            unsigned(graph.indptr),
            unsigned(graph.indices),
            in_indptr,
            in_indices,
            hub,
            int(kind == "arranged"),
            self._unvisited,
            self._closed,
            self._padding,
            self.scattered,
        )

    @contextmanager
    def workspace(self, threads, counting):
        """A workspace nobody else uses, with fresh arrays for the answer."""
        with self._lock:
            kept = self._workspaces.pop() if self._workspaces else self._new_workspace()
            parent, distance = self._answer(), self._answer()
        queue, visited, bitmaps, segments, buffers = kept
        if len(buffers) < threads:
            buffers = np.empty((threads, BUFFER), np.uint32)
        yield Workspace(
            parent=parent,
            distance=distance,
            queue=queue,
            visited=visited,
            bitmaps=bitmaps,
            buffers=buffers,
            segments=segments,
            sigma=np.zeros(self.n if counting else 0),
        )
        with self._lock:
            self._workspaces.append((queue, visited, bitmaps, segments, buffers))

    def _answer(self):
        """An array for the caller to keep. One that nobody kept is used again: its pages are there already.

        Whoever holds an answer, or a view of one, holds a reference to it.
        """
        for answer in self._answers:
            if sys.getrefcount(answer) == UNSHARED:
                return answer
        answer = np.empty(self.n, np.int32)
        if len(self._answers) < ANSWERS_KEPT:
            self._answers.append(answer)
        return answer

    def _new_workspace(self):
        words = len(self._padding)
        return (
            np.empty(self.n, np.uint32),
            np.empty(words, np.uint64),
            np.empty((4, words), np.uint64),
            np.empty((self.n + 3, 3), np.int64),  # as many segments as levels; pages not touched cost nothing
            np.empty((0, BUFFER), np.uint32),
        )


def _count_references(kept):
    """References to an array that nobody but a list holds, as a loop over that list sees them in this Python."""
    for answer in kept:
        return sys.getrefcount(answer)


UNSHARED = _count_references([np.empty(0)])


@njit(**COMPILED)
def find_hubs(in_indptr, in_indices, degrees, hub):
    """hub[v]: v's in-neighbour of highest degree, its first one where several are."""
    for v in range(hub.size):
        v = np.uint32(v)
        best = np.int64(-1)
        for j in range(np.int64(in_indptr[v]), np.int64(in_indptr[v + ONE])):
            u = in_indices[j]
            if degrees[u] > best:
                best = degrees[u]
                hub[v] = u
