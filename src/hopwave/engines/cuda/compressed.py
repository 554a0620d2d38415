"""Compressed graphs: vertices numbered by descending degree, and packed rows of these numbers."""

import logging
from copy import copy
from dataclasses import replace

import cupy
import numpy as np

from hopwave.engines.cuda import buffers, build, footprint, policy
from hopwave.engines.cuda.errors import LESS_MEMORY, explained
from hopwave.engines.cuda.graph import CudaGraph
from hopwave.engines.cuda.graph import uploaded as plain
from hopwave.engines.cuda.launch import BLOCK, NULL, WARP, kernels, offset_type
from hopwave.engines.cuda.records import record
from hopwave.engines.ledger import Ask, Shape
from hopwave.errors import amount
from hopwave.graph.csr import ASK_FROM

HEADER = "build/rows.cuh"


class ByDegree:
    """numbers[id] and ids[number]. share: whether isolated vertices share one number, whose id is one of them."""

    def __init__(self, degrees, share=True):
        n = len(degrees)
        order, self.numbers = build.ranks_by_degree(build.offsets_of(degrees, n, np.int64))
        if not share:
            self.ids = order
            return
        last = min(n - 1, int(cupy.count_nonzero(degrees)))
        cupy.minimum(self.numbers, np.int32(last), out=self.numbers)
        self.ids = order[: last + 1].copy()

    def numbers_of(self, vertices):
        """The numbers of these vertices, as int64; -1 for an id without a vertex."""
        known = (vertices >= 0) & (vertices < len(self.numbers))
        return cupy.where(known, self.numbers[cupy.where(known, vertices, 0)], -1).astype(np.int64)

    def spread(self, values, out, are_numbers=False):
        """Write one value per number to an array by id; with are_numbers, values are numbers and become ids."""
        n, ids = len(self.numbers), self.ids if are_numbers else NULL
        kernels()(HEADER, "spread", -(-n // 4), self.numbers, values, ids, np.int64(n), out, shape="int")

    # ---------------------------------------------------------------- results by number, on the host

    def job(self, job):
        """A job for many sources with numbers instead of ids; `swept` drops pairs from a higher to a lower id."""
        sources = self.numbers[cupy.asarray(job.sources)].get().astype(job.sources.dtype)
        return replace(job, sources=sources, components=None, upwards=False)

    def betweenness(self, job):
        ids = self.ids.get()
        targets, origins = (None if one is None else one[ids] for one in (job.targets, job.origins))
        sources = self.numbers[cupy.asarray(job.sources)].get().astype(np.int64)
        return replace(job, sources=sources, targets=targets, origins=origins)

    def swept(self, found, job):
        """The result of self.job(job) by id."""
        numbers = self.numbers.get()
        columns = found.columns[numbers] if len(found.columns) else found.columns
        rows = found.rows
        if rows.size:
            rows = rows[:, numbers if isinstance(rows, np.ndarray) else self.numbers]
        reached, (vertices, distances) = found.reached, found.pairs
        if len(vertices):  # order: source, ascending distance, id
            vertices, source = self.ids.get()[vertices], np.repeat(np.arange(len(reached)), reached)
            order = np.lexsort((vertices, distances, source))
            if job.upwards:
                order = order[vertices[order] > job.sources[source[order]]]
            reached = np.bincount(source[order], minlength=len(reached))
            vertices, distances = vertices[order], distances[order]
        return replace(found, reached=reached, columns=columns, rows=rows, pairs=(vertices, distances))


# ---------------------------------------------------------------- packed rows

HEAD = record("common/rows.cuh", "Packed", "u64 head")
GROUP = 32  # arcs that share a base and a width
BLOCK_GROUPS = 1 << 16  # kernels/common/rows.cuh
BLOCK_ARCS = GROUP * BLOCK_GROUPS
HEADS = BLOCK_GROUPS + 1  # words before the groups' heads: the address of the block


class PackedRows:
    """The neighbours of m arcs: `add` receives them, in order; after `finish`, kernels read `heads`."""

    def __init__(self, m, limit=None):
        self.m, self.limit = m, limit
        groups = max(1, -(-m // GROUP))
        self.heads = cupy.zeros(groups + -(-groups // BLOCK_GROUPS), HEAD["head"])
        self.device_bytes = self.host_bytes = 0  # bytes of words
        self._words = []  # keeps the memory of words alive
        self._groups = 0
        self._carried = cupy.empty(0, np.int32)

    def add(self, values):
        """Pack more neighbours; the neighbours of an incomplete block wait for more."""
        values = cupy.concatenate((self._carried, values))
        whole = len(values) // BLOCK_ARCS * BLOCK_ARCS
        self._pack(values[:whole])
        self._carried = values[whole:].copy()

    def add_keys(self, keys):
        """Sort 64-bit keys, and pack their lower halves."""
        keys.sort()
        for some in range(0, len(keys), policy.SORTED_ARCS):
            self.add(keys[some : some + policy.SORTED_ARCS].view(np.int32)[::2])

    def finish(self):
        self._pack(self._carried)
        self._carried = None
        return self

    def _pack(self, values):
        count = len(values)
        if not count:
            return
        groups, first = -(-count // GROUP), self._groups
        blocks, block = -(-groups // BLOCK_GROUPS), first // BLOCK_GROUPS
        sizes = cupy.empty(blocks, np.uint64)
        given = values, np.int64(count), np.int64(first), np.int64(groups), self.heads
        _launch("measure_groups", WARP * groups, *given)
        _launch("place_groups", BLOCK * blocks, np.int64(block), np.int64(blocks), np.int64(groups), self.heads, sizes)
        places = self._places(4 * sizes.get().astype(np.int64))
        self.heads[block * HEADS : (block + blocks - 1) * HEADS + 1 : HEADS] = cupy.asarray(places)
        _launch("pack_groups", WARP * groups, *given)
        self._groups += groups

    def _places(self, sizes):
        """Memory for blocks of these sizes (bytes); returns the address of each."""
        room = int(sizes.sum()) if self.limit is None else self.limit - self.device_bytes
        here = int(np.searchsorted(np.cumsum(sizes), room, side="right"))
        places = []
        for some, host in ((sizes[:here], False), (sizes[here:], True)):
            needed = int(some.sum())
            if needed:
                memory = cupy.cuda.PinnedMemory(needed) if host else cupy.cuda.alloc(needed)
                self._words.append(memory)
                places.append(memory.ptr + np.cumsum(some) - some)
                self.host_bytes += needed * host
                self.device_bytes += needed * (not host)
        return np.concatenate(places).astype(np.uint64)

    def unpacked(self, first=0, last=None):
        count = (self.m if last is None else last) - first
        values = cupy.empty(count, np.int32)
        _launch("unpack", count, self.heads, np.int64(first), np.int64(count), values)
        return values

    @property
    def bytes(self):
        return self.heads.nbytes + self.device_bytes


def _launch(name, work, *arguments):
    kernels()(HEADER, name, work, *arguments, shape="int")


# ---------------------------------------------------------------- graphs with packed rows

log = logging.getLogger("hopwave")
BFS = Ask("bfs")
UPLOADED = 1 << 26  # arcs per upload


class CompressedRows:
    """numbering; offsets, neighbours, in_offsets and in_neighbours for kernels. limit: see PackedRows."""

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
            for v, w, here, there in build.stretches(indptr, self.m, UPLOADED):
                some = cupy.asarray(indices[here:there])
                given = offsets, some, *map(np.int64, (v, w, here)), self.numbering.numbers, places
                given += np.int64(first), np.int64(last), keys
                kernels()(HEADER, "number_keys", WARP * (w - v), *given, shape=offset_type(offsets))
            packed.add_keys(keys)
        return places.view(np.uint64), packed.finish()

    def turned(self):
        """The rows of the reverse graph."""
        made = copy(self)
        made.offsets, made.neighbours, made.packed = self.in_offsets, self.in_neighbours, self.in_packed
        made.in_offsets, made.in_neighbours, made.in_packed = self.offsets, self.neighbours, self.packed
        return made

    @property
    def all_packed(self):
        return [self.packed] if self.packed is self.in_packed else [self.packed, self.in_packed]

    @property
    def host_bytes(self):
        return sum(packed.host_bytes for packed in self.all_packed)


def compress(graph, memory_limit=None):
    with explained("compressing the graph", graph, LESS_MEMORY):
        graph._prepared.keep(CudaGraph(graph, CompressedRows(graph, memory_limit)))


def compress_if_needed(graph):
    """Compress a graph whose plain rows exceed the free memory. Returns whether it is compressed."""
    shape, free = Shape(graph.n, graph.m, graph.directed, graph.indptr.dtype.itemsize), buffers.free_memory()
    needed = sum(footprint.footprint(shape, BFS).values())
    found = None if needed <= free else footprint.in_fewer_bits(shape, BFS, free, graph.indptr)
    if found is None:
        return False
    rest = "" if found[1] is None else f"; all but {amount(found[1])} of them stay on the host"
    words = "a search of this graph needs %s on the GPU, but %s are free: its rows are compressed%s"
    log.warning(words, amount(needed), amount(free), rest)
    compress(graph, found[1])
    return True


def uploaded(graph):
    """The arrays of a graph on the GPU, cached with it: compressed rows if the plain rows do not fit."""
    if graph.m >= ASK_FROM and graph._gpu is None and graph._prepared.find(CudaGraph) is None:
        compress_if_needed(graph)
    return plain(graph)
