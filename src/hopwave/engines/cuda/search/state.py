"""The state of a search on the GPU: its arrays, the forms of its frontier, its path counts."""

import cupy
import numpy as np

from hopwave.engines.cuda.buffers import NamedBuffers, Report
from hopwave.engines.cuda.launch import BLOCK, NULL, PackedLaunches
from hopwave.engines.cuda.search import by_level
from hopwave.engines.cuda.search.by_level import COUNTERS
from hopwave.planning.plan import Push

HEADER = "steps/state.cuh"
COUNTER_BYTES = 8 * COUNTERS
MOST_AHEAD = 64  # maximum levels whose counters are read together; each has a row of counters
BENIGN = Push("twc", "queue", "benign")  # created once: checking the words of a step takes longer than a small level


class SearchBuffers(NamedBuffers):
    def __init__(self, kernels):
        super().__init__()
        self.launch = PackedLaunches(kernels)
        self.counters = self.take("counters", COUNTERS * MOST_AHEAD, np.uint64)
        self.rows = [self.counters[first : first + COUNTERS] for first in range(0, COUNTERS * MOST_AHEAD, COUNTERS)]
        self.made_events = []
        self.report = Report(COUNTER_BYTES * MOST_AHEAD)
        self.host = self.report.view(np.uint64, COUNTERS * MOST_AHEAD).reshape(MOST_AHEAD, COUNTERS)
        self.host_address = self.host.ctypes.data

    def events(self, count):
        while len(self.made_events) < count:
            self.made_events.append(cupy.cuda.Event())
        return self.made_events[:count]


class Search:
    """A search and its state; the GPU does not run before the first step."""

    def __init__(self, loaded, sources, question):
        self.loaded, self.question, self.sources = loaded, question, sources
        self.on_device = loaded.on_device
        self.launch = loaded.on_device.launch
        self.n, self.words = loaded.n, -(-loaded.n // 32)
        host = loaded.graph.indptr
        self.depth, self.nf = 0, len(sources)
        self.mf = sum(int(host[s + 1]) - int(host[s]) for s in sources)
        self.mu = loaded.m - self.mf
        self.reached = len(sources)
        self.early = self.early_edges = 0  # found early by an asynchronous pull: vertices, and their arcs
        self.distance = cupy.empty(self.n, np.int32)
        self.parent = cupy.empty(self.n, np.int32) if question.predecessors else None
        self.sigma = self.counts = self.work = None
        self.ran_whole = False  # set by one_launch.py
        self.timed = True  # whether events time the levels: only for a trace (Engine.run)
        self.ahead = False  # whether levels are launched before earlier counters have been read (ahead.py)
        self.scaling, self.overflowed = None, False  # of path counts
        # A plan that scans the status array, or looks ahead in it, claims vertices there; other plans use a bitmap.
        steps = loaded.plan.steps
        self.scans = any(
            step.output in ("scan", "reuse") if isinstance(step, Push) else step.asynchronous for step in steps
        )
        # Duplicates may stay in a queue that only BENIGN pushes read. A pull needs an exact bitmap, a rule needs exact
        # sizes, and a path must not be counted twice (Hiragushi, section 3.2).
        self.duplicates = not question.path_counts and steps == (BENIGN,)
        self.queues = any(isinstance(step, Push) and step.mapping != "edge" for step in steps)
        self.has_queue = self.has_frontier_bits = self.visited_exact = False
        self.waiting = 0  # length of the pull's queue of unvisited vertices, 0 if there is none

    def begin(self):
        if self.work is not None:
            return
        try:
            self.work = self.on_device.workspaces.pop()
        except IndexError:  # the first search, or searches in other threads use all buffers
            self.work = SearchBuffers(self.launch)
        n, take, self.launch = self.n, self.work.take, self.work.launch
        self.launch.begin()
        self.all_counters = self.work.counters
        self.take_row(0)
        self.next_row = MOST_AHEAD
        # Pulls and products over all arcs need no queue; only the sources are written to one.
        self.queue = take("queue", n if self.queues else self.nf, np.int32)
        self.next_queue = take("next queue", n, np.int32) if self.queues else None
        self.marks = False  # whether every set bit of the visited bitmap is right; bits may be missing
        self.distance.data.memset_async(0xFF, self.distance.nbytes)
        if self.parent is not None:
            self.parent.data.memset_async(0xFF, self.parent.nbytes)
        if self.question.path_counts:
            self.sigma = cupy.zeros(n, np.float64)
            self.scaling = by_level.LevelScaling(self.on_device.degree_bits)
        several = len(self.sources) > 1
        sources = cupy.asarray(np.array(self.sources, np.int32)) if several else NULL
        self.launch(
            HEADER, "set_sources", self.nf, sources, np.int32(self.sources[0]), np.uint64(self.nf), self.distance,
            self.parents, self.sigmas, self.queue,
        )  # fmt: skip
        self.has_queue = True

    # Kernel arguments.
    level = property(lambda self: np.int32(self.depth))
    parents = property(lambda self: NULL if self.parent is None else self.parent)
    sigmas = property(lambda self: NULL if self.sigma is None else self.sigma)
    counting = property(lambda self: "false" if self.sigma is None else "true")
    vertices = property(lambda self: np.int32(self.n))

    @property
    def answer(self):
        return {"distance": self.distance, "parent": self.parents, "sigma": self.sigmas}

    def equal_shares(self, arcs):
        """Blocks for equal shares of arcs: four arcs per thread, at most four times the GPU's resident blocks."""
        return min(-(-arcs // (4 * BLOCK)), 4 * self.on_device.device.blocks)

    # ---------------------------------------------------------------- counters

    def clear_counters(self):
        """Switch to the next row of counters. Clearing all rows takes no longer than clearing one."""
        if self.ahead:
            return self.counters
        if self.next_row == MOST_AHEAD:
            self.all_counters.data.memset_async(0, COUNTER_BYTES * MOST_AHEAD)
            self.next_row = 0
        self.counters = self.work.rows[self.next_row]
        self.next_row += 1
        return self.counters

    def read_counters(self, levels):
        """Wait until `levels` levels have ended: levels launched ahead, or the level just computed."""
        stream = cupy.cuda.get_current_stream()
        counters = self.counters if levels == 1 else self.all_counters
        counters.data.copy_to_host_async(self.work.host_address, COUNTER_BYTES * levels, stream)
        stream.synchronize()
        return self.work.host[:levels].tolist()

    def take_row(self, number):
        """Use row `number` of the counters, which is clear; `before` becomes the row of the previous level."""
        self.before = self.counters if number else NULL
        self.counters = self.work.rows[number]

    # ---------------------------------------------------------------- the forms of a frontier

    def bits(self, name):
        return self.work.take(name, self.words, np.uint32)

    def need_queue(self):
        """Create the frontier's queue: from its bitmap by population count and scan, or from the status array."""
        if self.has_queue:
            return
        self.clear_counters()
        if self.has_frontier_bits:
            self.launch(
                HEADER, "bits_to_queue", self.words, self.bits("frontier"), np.uint64(self.words), self.queue,
                self.counters,
            )  # fmt: skip
        else:
            self.launch(
                HEADER, "single_scan", self.n, self.loaded.offsets, self.distance, self.vertices, self.level,
                self.queue, self.counters,
            )  # fmt: skip
        self.has_queue = True

    def need_marks(self):
        """Create a bitmap in which only visited vertices have bits; some may be missing."""
        if not self.marks:
            self.bits("visited").data.memset_async(0, 4 * self.words)
            self.marks = True

    def need_visited(self):
        if self.visited_exact:
            return
        self.launch(
            HEADER, "status_to_bits", self.n, self.distance, self.vertices, self.level, self.bits("visited"),
            self.bits("frontier"),
        )  # fmt: skip
        self.visited_exact = self.has_frontier_bits = self.marks = True

    def need_frontier_bits(self):
        self.need_visited()
        if self.has_frontier_bits:
            return
        self.bits("frontier").data.memset_async(0, 4 * self.words)
        self.launch(HEADER, "queue_to_bits", self.nf, self.queue, np.uint64(self.nf), self.bits("frontier"))
        self.has_frontier_bits = True

    def set_forms(self, *, queue=False, bits=False, visited=False, waiting=0):
        """Declare the forms of the new frontier; the buffers that contain them become the current buffers."""
        self.has_queue, self.has_frontier_bits, self.visited_exact, self.waiting = queue, bits, visited, waiting
        if queue:
            self.queue, self.next_queue = self.next_queue, self.queue
        if bits:
            self.bits("frontier")
            arrays = self.work.arrays
            arrays["frontier"], arrays["next bits"] = arrays["next bits"], arrays["frontier"]

    # ---------------------------------------------------------------- path counts

    def rescale(self):
        self.scaling.add_level()
        if self.overflowed or not self.nf:
            return
        level = self.distance, self.vertices, self.level
        self.overflowed = not self.scaling.rescale(self.launch, self.n, level, (self.sigma,), self.clear_counters)

    def path_counts(self):
        """σ from σ̂ and each level's shift; counted again with mantissa and exponent if a level spans too much."""
        if self.overflowed:
            in_rows = self.loaded.in_offsets, self.loaded.in_neighbours
            return by_level.extended_counts(self.launch, in_rows, self.distance, self.depth)
        if not any(self.scaling.shifts):
            return self.sigma
        return by_level.unscaled(self.sigma, self.distance, self.scaling.shifts)
