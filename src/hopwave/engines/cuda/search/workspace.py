"""What a search in one launch needs in addition to a graph: made once, kept with it, used by one search at a time.

`LevelBuffers` also serves sequences of masked products, whose levels are the same (linalg/waves.py).
"""

from __future__ import annotations

import cupy
import numpy as np

from hopwave.engines.cuda import nvrtc
from hopwave.engines.cuda.launch import NULL, expression, offset_type, truth
from hopwave.engines.cuda.policy import level_split
from hopwave.engines.cuda.records import address, filled, record

HEADER = "one_launch/search.cuh"
BLOCK = 1024  # threads per block (HOPWAVE_BLOCK in kernels/one_launch/state.cuh)
PREPARING = 256  # threads per block where a graph is prepared
NO_LIMIT = np.iinfo(np.int32).max
TRACE_COLUMNS = 9  # depth, choice, nf, mf, mu, found, checked, blocks, nanoseconds
TRACE_ROWS = 1 << 14

GRAPH = record(
    "one_launch/state.cuh", "Graph<int>", "ptr offsets neighbours in_offsets in_neighbours hub closed",
    "i64 n m findable",
)  # fmt: skip
WORK = record(
    "one_launch/state.cuh", "Work", "ptr even odd queue chunks rest counters trace", "i64 trace_rows",
    "i64 chunk long_row alone few share team",
)  # fmt: skip
STANDING = record(
    "one_launch/state.cuh", "Standing", "u64 mf mu findable", "u32 nf nf0 reached begin tail big chunks",
    "i32 depth last levels which queued refused",
)  # fmt: skip
CHUNK = record("one_launch/state.cuh", "Chunk", "i32 v length", "i64 begin")
COUNTERS = record("one_launch/state.cuh", "Counters", "u32 arrived left tail", offsets=[0, 128, 256], size=1792)


class NoCooperativeLaunch(RuntimeError):
    """This GPU cannot keep a whole grid at work at once; the host must run the search level by level."""


def instances(offset):
    """(header, name) of every kernel of a search in one launch."""
    for parents in (False, True):
        yield HEADER, expression(HEADER, "search", offset, truth(parents))
    yield HEADER, expression(HEADER, "prepare", offset)
    yield HEADER, expression(HEADER, "count_paths", offset)


def graph_record(rows, columns, hub, closed, findable):
    """The kernels' struct Graph: offsets and neighbours both ways, and what `prepare` made of the columns."""
    return filled(
        GRAPH, offsets=rows[0], neighbours=rows[1], in_offsets=columns[0], in_neighbours=columns[1], hub=hub,
        closed=closed, n=len(hub), m=len(rows[1]), findable=findable,
    )  # fmt: skip


def bitmap_words(n):
    """32-bit words of a bitmap of n vertices, in whole lines of eight."""
    return -(-n // 256) * 8


class LevelBuffers:
    """Buffers for graphs of up to n vertices and m arcs, and the kernels' record of them."""

    def __init__(self, n, m, split=None):
        self.n, self.m = n, m
        split = split or level_split(m)
        self.bitmaps = cupy.zeros((2, bitmap_words(n)), np.uint32)  # every launch leaves the first of them so
        self.queue = cupy.empty(n, np.int32)
        # A long list is cut into at most three pieces for every two halves that it has in full.
        self.chunks = cupy.empty((3 * (m // split.chunk) + 3) * CHUNK.itemsize, np.uint8)
        self.rest = cupy.empty((2 * (m // split.long_row) + 2) * CHUNK.itemsize, np.uint8)
        self.counters = cupy.zeros(COUNTERS.itemsize, np.uint8)
        self.work = filled(
            WORK, even=self.bitmaps[0], odd=self.bitmaps[1], queue=self.queue, chunks=self.chunks, rest=self.rest,
            counters=self.counters, **vars(split),
        )  # fmt: skip

    def traced(self, trace):
        """The record for a launch that writes its levels into `trace`; the last row is for the time when it began."""
        work = self.work.copy()
        work["trace"], work["trace_rows"] = address(trace), len(trace) - 1
        return work

    @property
    def bytes(self):
        """Device memory held."""
        return sum(a.nbytes for a in (self.bitmaps, self.queue, self.chunks, self.rest, self.counters))


def trace_table(levels=TRACE_ROWS):
    """An array for the trace of that many levels."""
    return cupy.empty((levels + 1, TRACE_COLUMNS), np.int64)


class Workspace:
    """What searches of one graph share: derived arrays, buffers, kernels. One search at a time.

    loaded: n, m, offsets, neighbours, in_offsets and in_neighbours. options: for the compiler.
    """

    def __init__(self, loaded, split=None, options=()):
        self.multiprocessors = cupy.cuda.Device().attributes["MultiProcessorCount"]
        if not cupy.cuda.Device().attributes["CooperativeLaunch"]:
            raise NoCooperativeLaunch("this GPU cannot launch cooperatively")
        self.loaded, self.n, self.m = loaded, loaded.n, loaded.m
        self.offset = offset_type(loaded.offsets)
        self.module = nvrtc.module(HEADER, [name for _, name in instances(self.offset)], options)
        self.kernels = {}
        self.hub, self.closed, findable = self._prepared(loaded)
        self.buffers = LevelBuffers(self.n, self.m, split)
        self.out = cupy.empty(STANDING.itemsize, np.uint8)
        rows, columns = (loaded.offsets, loaded.neighbours), (loaded.in_offsets, loaded.in_neighbours)
        self.graph = graph_record(rows, columns, self.hub, self.closed, findable)

    def _prepared(self, loaded):
        """Every vertex's first in-neighbour, the bitmap of vertices without any, and the number of the others."""
        hub, closed = cupy.empty(self.n, np.int32), cupy.empty(bitmap_words(self.n), np.uint32)
        findable = cupy.zeros(1, np.uint64)
        self.function("prepare")(
            (min(-(-self.n // PREPARING), self.multiprocessors),), (PREPARING,),
            (loaded.in_offsets, loaded.in_neighbours, np.int64(self.n), hub, closed, findable),
        )  # fmt: skip
        return hub, closed, int(findable[0])

    def function(self, name, *arguments):
        """One of this workspace's kernels."""
        return self.module.get_function(expression(HEADER, name, self.offset, *arguments))

    @property
    def bytes(self):
        """Device memory held, without the graph's own arrays."""
        return self.hub.nbytes + self.closed.nbytes + self.buffers.bytes

    def kernel(self, parents):
        """The search with or without predecessors; loaded when first needed."""
        if parents not in self.kernels:
            kernel = self.function("search", truth(parents))
            if not nvrtc.resident_blocks(kernel, BLOCK):
                raise NoCooperativeLaunch("this GPU cannot hold a block of the search")
            self.kernels[parents] = kernel
        return self.kernels[parents]

    def launch(self, distance, parent, sources, question, plan, trace=None):
        """Put one search into the current stream; sources: ids as a CuPy int32 array."""
        kernel = self.kernel(parent is not None)
        work = self.buffers.work if trace is None else self.buffers.traced(trace)
        limit = NO_LIMIT if question.depth_limit is None else min(question.depth_limit, NO_LIMIT)
        alpha, beta = plan.rule.parameters()
        kernel(
            (self.multiprocessors,), (BLOCK,),
            (self.graph, work, distance, NULL if parent is None else parent, sources, np.int32(len(sources)),
             np.int32(limit), np.float64(alpha), np.float64(beta), self.out),
        )  # fmt: skip

    def standing(self):
        """Where the last search ended. Waits for it."""
        return self.out.get().view(STANDING)[0]


def deepest(standing):
    """The greatest distance: the last level looked for more and found none, unless something stopped it before."""
    return int(standing["depth"]) - (not standing["nf"] and standing["depth"] > 0)
