"""State of a one-launch search besides the graph: created once, cached with the graph, used by one search at a time."""

import time
from itertools import count

import cupy
import numpy as np

from hopwave.engines.cuda import nvrtc
from hopwave.engines.cuda.buffers import Report, allocate
from hopwave.engines.cuda.launch import NULL, PreparedLaunch, expression, offset_type, truth
from hopwave.engines.cuda.policy import level_arrays, level_split, prepared_arrays
from hopwave.engines.cuda.records import address, filled, record
from hopwave.errors import EngineError

# ---------------------------------------------------------------- how searches ended
#
# Kernels write this record into host memory; only a caller that reads it waits.

TOLD = record("one_launch/state.cuh", "Told", "u64 depth nf reached levels")
WORDS = len(TOLD)
SLOTS = 64  # searches whose ends may be unread; one more search first reads the oldest
SPINS = 1500  # reads of the words before other threads run: about 100 µs
PAUSE = 2e-5  # seconds between further reads
LAST_STAMP = 2**32 - 1


class Ending:
    __slots__ = ("_endings", "_found", "_slot", "_stamp", "_stream")

    def __init__(self, endings, slot, stamp, stream):
        self._endings, self._slot, self._stamp, self._stream = endings, slot, stamp, stream
        self._found = None

    def found(self):
        """The fields of the kernels' struct Told by name. Waits for the search."""
        words, first, stamp, spins = self._endings.words, self._slot * WORDS, self._stamp, 0
        while self._found is None:
            told = words[first : first + WORDS].tolist()
            if all(word >> 32 == stamp for word in told):
                self._found = {name: word & LAST_STAMP for name, word in zip(TOLD.names, told, strict=True)}
                self._stream = None
                break
            spins += 1
            if spins > SPINS:
                self._look_at_stream()
        return self._found

    def _look_at_stream(self):
        """Let other threads run. Raise if the stream has ended without writing this search's words."""
        stream = self._stream
        if stream is None or not stream.done:
            time.sleep(PAUSE)
        elif self._found is None and self._endings.words[self._slot * WORDS] >> 32 != self._stamp:
            stream.synchronize()  # raises the error
            raise EngineError("a search on the GPU ended without a result; try again, or use device='cpu'")

    def depth(self):
        """The maximum distance: one less than the depth if the last level is empty."""
        found = self.found()
        return found["depth"] - (not found["nf"] and found["depth"] > 0)

    def reached(self):
        return self.found()["reached"]


class Endings:
    """Slots of pinned memory for the ends of searches that use one workspace, one after another."""

    def __init__(self):
        self.report = Report(SLOTS * TOLD.itemsize)
        array = self.report.view(np.uint64, SLOTS * WORDS)
        array.fill(0)
        self.words = memoryview(array)
        self.taken = [None] * SLOTS
        self.stamp = 0

    def take(self, stream):
        """The address and stamp for the next search, and its Ending. The caller holds the workspace's lock."""
        self.stamp = self.stamp % LAST_STAMP + 1  # 0 is not a stamp
        slot = self.stamp % SLOTS
        if self.taken[slot] is not None:
            self.taken[slot].found()  # read the slot before it is overwritten
        self.taken[slot] = Ending(self, slot, self.stamp, stream)
        return self.report.memory.ptr + slot * TOLD.itemsize, self.stamp, self.taken[slot]


# ---------------------------------------------------------------- shared by the searches of a graph

HEADER = "one_launch/search.cuh"
BLOCK = 1024  # THREADS in kernels/one_launch/state.cuh
PREPARING = 256  # threads per block of the kernel that prepares a graph
NO_LIMIT = np.iinfo(np.int32).max
TRACE_COLUMNS = 9  # depth, choice, nf, mf, mu, found, checked, blocks, nanoseconds
TRACE_ROWS = 1 << 14

GRAPH = record(
    "one_launch/state.cuh", "Graph<int>", "ptr offsets neighbours in_offsets in_neighbours hub closed degrees",
    "i64 n m findable",
)  # fmt: skip
WORK = record(
    "one_launch/state.cuh", "Work", "ptr even odd queue chunks rest counters trace", "i64 trace_rows",
    "i64 chunk long_row alone few share team",
)  # fmt: skip


class NoCooperativeLaunch(RuntimeError):
    """This GPU cannot run all blocks of a grid concurrently; the host must run the search level by level."""


def graph_record(m, rows, columns, hub, closed, findable, degrees=None):
    """The kernels' struct Graph of m arcs: offsets and neighbours in both directions, and the arrays of `prepare`."""
    return filled(
        GRAPH, offsets=rows[0], neighbours=rows[1], in_offsets=columns[0], in_neighbours=columns[1], hub=hub,
        closed=closed, degrees=degrees, n=len(hub), m=m, findable=findable,
    )  # fmt: skip


_numbers = count()


class LevelBuffers:
    """Buffers for graphs of up to n vertices and m arcs, and the kernels' record of them; `number` is unique."""

    def __init__(self, n, m, split=None):
        self.n, self.m, self.number = n, m, next(_numbers)
        split = split or level_split(m)
        self.fills = n >= split.fill
        fields = {name: value for name, value in vars(split).items() if name in WORK.names}
        self.arrays = allocate(level_arrays(n, m, split))
        even, odd = self.arrays["bitmaps"]
        others = {name: self.arrays[name] for name in ("queue", "chunks", "rest", "counters")}
        self.work = filled(WORK, even=even, odd=odd, **others, **fields)

    counters = property(lambda self: self.arrays["counters"])

    def traced(self, trace):
        work = self.work.copy()
        work["trace"], work["trace_rows"] = address(trace), len(trace) - 1
        return work


def trace_table(levels=TRACE_ROWS):
    return cupy.empty((levels + 1, TRACE_COLUMNS), np.int64)


class Workspace:
    """State shared by the searches of one graph: derived arrays, buffers, kernels."""

    def __init__(self, loaded, split=None):
        self.multiprocessors = cupy.cuda.Device().attributes["MultiProcessorCount"]
        if not cupy.cuda.Device().attributes["CooperativeLaunch"]:
            raise NoCooperativeLaunch("this GPU cannot launch cooperatively")
        self.loaded, self.n, self.m = loaded, loaded.n, loaded.m
        self.offset = offset_type(loaded.offsets)
        self.launches = {}
        self.hub, self.closed, findable = self._prepared(loaded)
        self.buffers = LevelBuffers(self.n, self.m, split)
        self.endings = Endings()
        self.stream = None  # of the last search
        rows, columns = (loaded.offsets, loaded.neighbours), (loaded.in_offsets, loaded.in_neighbours)
        self.graph = graph_record(self.m, rows, columns, self.hub, self.closed, findable, self.degrees)

    def _prepared(self, loaded):
        """Every vertex's first in-neighbour, the bitmap of vertices without one, and the number of other vertices."""
        made = allocate(prepared_arrays(self.n, self.offset != "int"))
        hub, closed, findable, self.degrees = made["hub"], made["closed"], made["findable"], made.get("degrees")
        self.function("prepare", cooperative=False)(
            (min(-(-self.n // PREPARING), self.multiprocessors),), (PREPARING,),
            (loaded.in_offsets, loaded.in_neighbours, loaded.offsets, np.int64(self.n), hub, closed, findable,
             NULL if self.degrees is None else self.degrees),
        )  # fmt: skip
        return hub, closed, int(findable[0])

    def function(self, name, *arguments, cooperative=True):
        instance = expression(HEADER, name, self.offset, *arguments)
        return nvrtc.configurable(HEADER, instance, cooperative)

    def prepared(self, parents, plan):
        """The launch of searches by this plan, with or without predecessors; its kernel is loaded at first use."""
        alpha, beta = plan.rule.parameters()
        key = parents, alpha, beta
        found = self.launches.get(key)
        if found is None:
            kernel = self.function("search", truth(parents), truth(self.buffers.fills))
            if not nvrtc.resident_blocks(kernel, BLOCK):
                raise NoCooperativeLaunch("this GPU cannot hold a block of the search")
            found = self.launches[key] = PreparedLaunch(
                kernel, self.multiprocessors, BLOCK, graph=self.graph, work=self.buffers.work, distance=NULL,
                parent=NULL, sources=NULL, only=np.int32(0), source_count=np.int32(1), depth_limit=np.int32(NO_LIMIT),
                alpha=np.float64(alpha), beta=np.float64(beta), out=NULL, stamp=np.uint32(0),
            )  # fmt: skip
        return found

    def launch(self, distance, parent, sources, question, plan, trace=None):
        """Launch one search in the current stream; sources: a tuple of ids, or a CuPy int32 array. The Ending waits."""
        prepared = self.prepared(parent is not None, plan)
        limit = NO_LIMIT if question.depth_limit is None else min(question.depth_limit, NO_LIMIT)
        only, ids = 0, None
        if isinstance(sources, tuple) and len(sources) == 1:
            only = sources[0]
        else:
            ids = cupy.asarray(np.array(sources, np.int32)) if isinstance(sources, tuple) else sources
        stream = cupy.cuda.get_current_stream()
        if self.stream is not None and self.stream.ptr != stream.ptr:
            self.stream.synchronize()  # buffers serve one search at a time
        self.stream = stream
        if trace is not None:
            prepared.record("work", self.buffers.traced(trace))
        out, stamp, ending = self.endings.take(stream)
        try:
            prepared(
                distance=distance.data.ptr, parent=address(parent), sources=address(ids), only=only,
                source_count=len(sources), depth_limit=limit, out=out, stamp=stamp,
            )  # fmt: skip
        except BaseException:
            self.endings.taken[ending._slot] = None  # the search was not launched and will not write
            raise
        finally:
            if trace is not None:
                prepared.record("work", self.buffers.work)
        return ending


class NumberedWorkspace(Workspace):
    """Searches of a graph numbered by degree: sources and results are ids, rows and neighbours are numbers."""

    def __init__(self, loaded, split=None):
        super().__init__(loaded, split)
        self.numbering = loaded.numbering
        self.found = cupy.empty(self.n, np.int32), cupy.empty(self.n, np.int32)  # distances and parents by number

    def launch(self, distance, parent, sources, question, plan, trace=None):
        """Launch one search in the current stream. Vertices that share a number share a result."""
        numbers = self.numbering.numbers
        if isinstance(sources, tuple) and len(sources) == 1:
            sources = numbers[sources[0] : sources[0] + 1]
        else:
            sources = numbers[cupy.asarray(sources)]
        distances, parents = self.found[0], None if parent is None else self.found[1]
        ending = super().launch(distances, parents, sources, question, plan, trace)
        self.numbering.spread(distances, distance)
        if parents is not None:
            self.numbering.spread(parents, parent, are_numbers=True)
        return ending
