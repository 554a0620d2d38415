"""hopwave's own plan on the GPU: a whole search is one cooperative launch (kernels/one_launch/search.cuh).

What a graph needs beside its arcs is made once and kept with it: every vertex's first in-neighbour, the vertices
without any, two bitmaps, a queue. A search then costs Python one launch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hopwave.arrays import ScaledCounts
from hopwave.engines.cuda import nvrtc
from hopwave.plan import Pull, Push
from hopwave.rules import Growing
from hopwave.trace import Level

HEADER = "one_launch/search.cuh"
BLOCK = 1024
NO_LIMIT = np.iinfo(np.int32).max
TRACE_COLUMNS = 9  # depth, choice, nf, mf, mu, found, checked, blocks, nanoseconds
TRACE_ROWS = 1 << 14
COUNTERS_BYTES = 4096

# The kernel's structs Graph, Work and Standing; every field of the first two is 8 bytes wide.
ARRAYS = ("offsets", "neighbours", "in_offsets", "in_neighbours", "hub", "closed")
BUFFERS = ("even", "odd", "queue", "chunks", "rest", "counters")
SIZES = ("chunk", "long_row", "alone", "few", "share", "team")
GRAPH = np.dtype([(name, np.int64) for name in (*ARRAYS, "n", "m", "findable")])
WORK = np.dtype([(name, np.int64) for name in (*BUFFERS, "trace", "trace_rows", *SIZES)])
STANDING = np.dtype(
    [(name, np.uint64) for name in ("mf", "mu", "findable")]
    + [(name, np.uint32) for name in ("nf", "nf0", "reached", "begin", "tail", "big", "chunks")]
    + [(name, np.int32) for name in ("depth", "last", "levels", "which", "queued", "refused", "padding")]
)

LEVELS = np.dtype([(name, np.int64) for name in ("order", "starts", "arcs", "shifts", "count", "degree_bits", "tally")])
TALLY = np.dtype([("greatest", np.uint64, 2), ("overflowed", np.int32), ("bound", np.int32), ("shift", np.int64)])


class NoCooperativeLaunch(RuntimeError):
    """This device cannot keep a whole grid at work at once; the host must lead the search."""


@dataclass(frozen=True)
class Sizes:
    """How levels are shared out; they change the time of a search, never its answer.

    `chunk`: out-arcs from which a list is dealt out in pieces of that size. `long_row`: in-arcs after which a row that
    found nothing is left to the whole grid. `alone`: arcs up to which one block takes a level by itself; `few`: arcs up
    to which `team` blocks take it; `share`: arcs a block up to which all take it as a team.
    """

    chunk: int = 256
    long_row: int = 2048
    alone: int = 512
    few: int = 2048
    share: int = 512
    team: int = 16


def why_not(plan, question):
    """None, or why this loop cannot run the plan.

    >>> import hopwave as hw
    >>> from hopwave.jobs import Question
    >>> why_not(hw.plan("hopwave"), Question()) is None
    True
    """
    kinds = tuple(type(step) for step in plan.steps)
    if plan.loop != "device" or kinds != (Push, Pull) or not isinstance(plan.rule, Growing):
        return f"plan {plan.name!r} is not a push and a pull under the rule Growing, with its loop on the device"
    return None


def instances():
    """Every kernel there is: header and name expression."""
    for offset in ("int", "long long"):
        for parents in ("false", "true"):
            yield HEADER, f"search<{offset}, {parents}>"
        yield HEADER, f"prepare<{offset}>"
        yield HEADER, f"count_paths<{offset}>"


class Workspace:
    """What searches of one graph share: derived arrays, buffers, kernels. One search at a time."""

    def __init__(self, loaded, sizes=None, options=()):
        import cupy

        if not cupy.cuda.Device().attributes["CooperativeLaunch"]:
            raise NoCooperativeLaunch("this GPU cannot launch cooperatively")
        self.loaded, self.n, self.m = loaded, loaded.n, loaded.m
        self.offset = "int" if loaded.offsets.dtype == np.int32 else "long long"
        sizes = sizes or Sizes(chunk=256 if self.m < 1 << 30 else 1024)
        names = [name for _, name in instances() if f"<{self.offset}" in name]
        self.module = nvrtc.module(HEADER, names, options)
        self.kernels = {}
        words = -(-self.n // 256) * 8
        self.hub = cupy.empty(self.n, np.int32)
        self.closed = cupy.empty(words, np.uint32)
        findable = cupy.zeros(1, np.uint64)
        prepare = self.module.get_function(f"prepare<{self.offset}>")
        prepare(
            (min(-(-self.n // 256), cupy.cuda.Device().attributes["MultiProcessorCount"]),),
            (256,),
            (loaded.in_offsets, loaded.in_neighbours, np.int64(self.n), self.hub, self.closed, findable),
        )
        self.bitmaps = cupy.zeros((2, words), np.uint32)  # as every search leaves the first of them
        self.queue = cupy.empty(self.n, np.int32)
        # A long list is cut into at most three pieces for every two halves that it has in full.
        self.chunks = cupy.empty((3 * (self.m // sizes.chunk) + 3) * 16, np.uint8)
        self.rest = cupy.empty((2 * (self.m // sizes.long_row) + 2) * 16, np.uint8)
        self.counters = cupy.zeros(COUNTERS_BYTES, np.uint8)
        self.out = cupy.empty(STANDING.itemsize, np.uint8)
        arrays = (loaded.offsets, loaded.neighbours, loaded.in_offsets, loaded.in_neighbours, self.hub, self.closed)
        self.graph = np.zeros(1, GRAPH)
        self.graph[0] = (*(array.data.ptr for array in arrays), self.n, self.m, int(findable[0]))
        buffers = (self.bitmaps[0], self.bitmaps[1], self.queue, self.chunks, self.rest, self.counters)
        self.work = np.zeros(1, WORK)
        pointers = (array.data.ptr for array in buffers)
        self.work[0] = (*pointers, 0, 0, *(getattr(sizes, name) for name in SIZES))
        self.source = cupy.zeros(1, np.int32)

    @property
    def bytes(self):
        """Device memory beside the graph's own arrays."""
        arrays = (self.hub, self.closed, self.bitmaps, self.queue, self.chunks, self.rest, self.counters)
        return sum(array.nbytes for array in arrays)

    def kernel(self, parents):
        """The search with or without predecessors, and how many blocks of it the device holds at once."""
        import cupy
        from cupy_backends.cuda.api import driver

        if parents not in self.kernels:
            kernel = self.module.get_function(f"search<{self.offset}, {str(parents).lower()}>")
            fit = driver.occupancyMaxActiveBlocksPerMultiprocessor(kernel.kernel.ptr, BLOCK, 0)
            if not fit:
                raise NoCooperativeLaunch("this GPU has no room for a block of the search")
            self.kernels[parents] = kernel, cupy.cuda.Device().attributes["MultiProcessorCount"]
        return self.kernels[parents]

    def launch(self, distance, parent, sources, question, plan, trace=None, out=None):
        """Put one search into the current stream; sources: ids as a CuPy int32 array."""
        kernel, blocks = self.kernel(parent is not None)
        work = self.work
        if trace is not None:
            work = work.copy()
            work["trace"], work["trace_rows"] = trace.data.ptr, len(trace) - 1
        limit = NO_LIMIT if question.depth_limit is None else min(question.depth_limit, NO_LIMIT)
        alpha, beta = plan.rule.parameters()
        kernel(
            (blocks,),
            (BLOCK,),
            (
                self.graph,
                work,
                distance,
                np.uint64(0) if parent is None else parent,
                sources,
                np.int32(len(sources)),
                np.int32(limit),
                np.float64(alpha),
                np.float64(beta),
                self.out if out is None else out,
            ),
        )

    def standing(self, out=None):
        """Where the last search ended. Waits for it."""
        return (self.out if out is None else out).get().view(STANDING)[0]


def workspace(loaded):
    """The graph's workspace, made at its first search."""
    if "hopwave" not in loaded.kept:
        loaded.kept["hopwave"] = Workspace(loaded)
    return loaded.kept["hopwave"]


def deepest(standing):
    """The greatest distance: the last level looked for more and found none, unless something stopped it before."""
    return int(standing["depth"]) - (not standing["nf"] and standing["depth"] > 0)


def run(search, plan, trace):
    """The whole search; its levels when they are traced. Sets search.depth, .reached and .counts."""
    import cupy

    W = workspace(search.loaded)
    sources = cupy.asarray(np.array(search.sources, np.int32))
    rows = None
    if trace:
        rows = cupy.empty((TRACE_ROWS + 1, TRACE_COLUMNS), np.int64)
    W.launch(search.distance, search.parent, sources, search.question, plan, rows)
    standing = W.standing()
    if trace and standing["levels"] > TRACE_ROWS:  # a deep graph: once more, with room for every level
        rows = cupy.empty((int(standing["levels"]) + 1, TRACE_COLUMNS), np.int64)
        W.launch(search.distance, search.parent, sources, search.question, plan, rows)
        standing = W.standing()
    search.depth, search.reached = deepest(standing), int(standing["reached"])
    search.counts = path_counts(W, search.distance, search.depth) if search.question.path_counts else None
    return levels(rows, int(standing["levels"]), plan) if trace else []


def levels(rows, count, plan):
    """The device's trace as Levels."""
    began = int(rows[-1, -1])
    traced = []
    for depth, choice, nf, mf, mu, found, checked, _blocks, ended in rows[:count].tolist():
        traced.append(Level(depth, choice, str(plan.steps[choice]), nf, mf, mu, found, checked, (ended - began) * 1e-9))
        began = ended
    return traced


def path_counts(W, distance, depth):
    """σ along a finished search: a float64 array on the device, or on the host where a level had to be scaled."""
    import cupy

    loaded = W.loaded
    in_degrees = cupy.diff(loaded.in_offsets).astype(np.int64)
    reached = cupy.flatnonzero(distance >= 0).astype(np.int32)
    depths, rows = distance[reached].astype(np.int64), in_degrees[reached]
    order = reached[cupy.argsort((depths << 32) - rows)]
    starts = cupy.zeros(depth + 2, np.int64)
    starts[1:] = cupy.cumsum(cupy.bincount(depths, minlength=depth + 1))
    ends = cupy.concatenate([cupy.zeros(1, np.int64), cupy.cumsum(in_degrees[order])])
    arcs = cupy.diff(ends[starts])
    shifts, tally = cupy.empty(depth + 1, np.int64), cupy.zeros(TALLY.itemsize, np.uint8)
    sigma = cupy.empty(W.n, np.float64)
    arguments = np.zeros(1, LEVELS)
    pointers = [array.data.ptr for array in (order, starts, arcs, shifts)]
    arguments[0] = (*pointers, depth + 1, int(in_degrees.max()).bit_length(), tally.data.ptr)
    kernel = W.module.get_function(f"count_paths<{W.offset}>")
    blocks = cupy.cuda.Device().attributes["MultiProcessorCount"]
    kernel((blocks,), (BLOCK,), (W.graph, arguments, W.counters, distance, sigma))
    if tally.get().view(TALLY)[0]["overflowed"]:
        return extended_counts(loaded.graph, order.get(), distance.get())
    shifts = shifts.get()
    if not shifts.any():
        return sigma
    mantissa, exponent = np.frexp(sigma.get())
    exponent = exponent.astype(np.int64)
    distance = distance.get()
    exponent[distance >= 0] += shifts[distance[distance >= 0]]
    return ScaledCounts.plain(mantissa, exponent)


def extended_counts(graph, order, distance):
    """σ by mantissa and exponent a vertex, where one level spans more than float64 does: the CPU engine's code."""
    from hopwave.engines.cpu.graph import CpuGraph
    from hopwave.engines.cpu.search.loop import count_extended

    mantissa, exponent = np.zeros(len(distance)), np.zeros(len(distance), np.int64)
    count_extended(CpuGraph(graph).adjacency("any"), order.astype(np.uint32), distance, mantissa, exponent)
    return ScaledCounts.plain(mantissa, exponent)


def each(loaded, sources, question, plan):
    """One search after another, each source alone: what it found, as `fetch` gives it, with arrays on the device."""
    import cupy

    W = workspace(loaded)
    ids = cupy.asarray(np.asarray(sources, np.int32))
    ahead = None  # the device is at work on this search while the caller looks at the one before
    for i in range(len(ids) + 1):
        begun = None
        if i < len(ids):
            distance = cupy.empty(loaded.n, np.int32)
            parent = cupy.empty(loaded.n, np.int32) if question.predecessors else None
            out = cupy.empty(STANDING.itemsize, np.uint8)
            W.launch(distance, parent, ids[i : i + 1], question, plan, out=out)
            begun = distance, parent, out
        if ahead is not None:
            distance, parent, out = ahead
            standing = W.standing(out)
            yield {
                "distances": distance,
                "predecessors": parent,
                "path_counts": path_counts(W, distance, deepest(standing)) if question.path_counts else None,
                "depth": deepest(standing),
                "reached": int(standing["reached"]),
            }
        ahead = begun
