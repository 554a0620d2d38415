"""A graph whose rows are packed (packed.py): vertices are numbered by in-degree, rows and neighbours are numbers.

It is made of the rows in host memory, in passes: each pass takes the rows of some numbers, reads every row by id once,
sorts the arcs, and packs them.
"""

import logging
from copy import copy
from itertools import pairwise

import cupy
import numpy as np

from hopwave.engines.cuda import buffers, build, footprint, policy
from hopwave.engines.cuda.errors import LESS_MEMORY, explained
from hopwave.engines.cuda.graph import CudaGraph
from hopwave.engines.cuda.graph import uploaded as plain
from hopwave.engines.cuda.launch import WARP, kernels, offset_type
from hopwave.engines.cuda.numbering import ByDegree
from hopwave.engines.cuda.packed import HEADER, PackedRows
from hopwave.engines.ledger import Ask, Shape
from hopwave.errors import amount
from hopwave.graph.csr import ASK_FROM

log = logging.getLogger("hopwave")
BFS = Ask("bfs")
UPLOADED = 1 << 26  # arcs that are uploaded at a time


class CompressedRows:
    """numbering; offsets, neighbours, in_offsets and in_neighbours, as kernels read them. limit: see PackedRows."""

    def __init__(self, graph, limit=None):
        rows = [(graph.indptr, graph.indices)]
        if graph.directed:
            rows.append((graph.in_indptr, graph.in_indices))
            limit = None if limit is None else limit // 2
        lengths = [cupy.diff(cupy.asarray(indptr)).astype(np.uint32) for indptr, _ in rows]
        self.n, self.m = graph.n, graph.m
        self.numbering = ByDegree(lengths[-1], share=False)
        made = [self._packed(*pair, length, limit) for pair, length in zip(rows, lengths, strict=True)]
        (self.offsets, self.packed), (self.in_offsets, self.in_packed) = made[0], made[-1]
        self.neighbours, self.in_neighbours = self.packed.heads, self.in_packed.heads

    def _packed(self, indptr, indices, lengths, limit):
        places = build.offsets_of(lengths[self.numbering.ids], self.n, np.int64)
        offsets, packed = cupy.asarray(indptr), PackedRows(self.m, limit)
        coming = 4 * self.m if limit is None else min(limit, 4 * self.m)
        at_once = min(policy.PACKED_ARCS[1], (buffers.free_memory() - coming) // policy.PACKING)
        for first, last, begin, end in build.stretches(places, self.m, max(policy.PACKED_ARCS[0], at_once)):
            keys = cupy.empty(end - begin, np.uint64)
            for v, w, here, there in parts(indptr, self.m):
                some = cupy.asarray(indices[here:there])
                given = offsets, some, *map(np.int64, (v, w, here)), self.numbering.numbers, places
                given += np.int64(first), np.int64(last), keys
                kernels()(HEADER, "number_keys", WARP * (w - v), *given, shape=offset_type(offsets))
            packed.add_keys(keys)
        return places.view(np.uint64), packed.finish()

    def turned(self):
        """The same rows for the graph whose arcs are turned round."""
        made = copy(self)
        made.offsets, made.neighbours, made.packed = self.in_offsets, self.in_neighbours, self.in_packed
        made.in_offsets, made.in_neighbours, made.in_packed = self.offsets, self.neighbours, self.packed
        return made

    @property
    def all_packed(self):
        """The packed rows; an undirected graph has them once."""
        return [self.packed] if self.packed is self.in_packed else [self.packed, self.in_packed]

    @property
    def bytes(self):
        """Device memory held."""
        return self.numbering.bytes + sum(self.offsets.nbytes + packed.bytes for packed in self.all_packed)

    @property
    def host_bytes(self):
        """Host memory held, which the GPU reads across the bus."""
        return sum(packed.host_bytes for packed in self.all_packed)


def compress(graph, memory_limit=None):
    """Keep packed rows with a graph, for what runs on them on the GPU."""
    with explained("compressing the graph", graph, LESS_MEMORY):
        graph._prepared.keep(CudaGraph(graph, CompressedRows(graph, memory_limit)))


def compress_if_needed(graph):
    """Compress a graph whose plain rows do not fit into the free memory. Returns whether it is compressed."""
    shape, free = Shape(graph.n, graph.m, graph.directed, graph.indptr.dtype.itemsize), buffers.free_memory()
    needed = sum(footprint.footprint(shape, BFS).values())
    found = None if needed <= free else footprint.in_fewer_bits(shape, BFS, free, graph.indptr)
    if found is None:
        return False
    rest = "" if found[1] is None else f"; all but {amount(found[1])} of them stay on the host"
    words = "a search of this graph needs %s on the GPU, and %s are free: its rows are compressed%s"
    log.warning(words, amount(needed), amount(free), rest)
    compress(graph, found[1])
    return True


def uploaded(graph):
    """The arrays of a graph on the GPU, kept with it: compressed rows if the plain ones do not fit."""
    if graph.m >= ASK_FROM and graph._gpu is None and graph._prepared.find(CudaGraph) is None:
        compress_if_needed(graph)
    return plain(graph)


def parts(indptr, m):
    """Ranges of rows [v, w) and their arcs [begin, end), which are uploaded together.

    >>> parts(np.array([0, 2, 3]), 3)
    [(0, 2, 0, 3)]
    """
    n = len(indptr) - 1
    cuts = np.unique([0, *np.searchsorted(indptr, np.arange(UPLOADED, m, UPLOADED)), n]).tolist()
    return [(v, w, int(indptr[v]), int(indptr[w])) for v, w in pairwise(cuts)]
