"""A search under way on the GPU: its arrays, the forms its frontier has, its path counts.

The status array `distance` always says who is where. A queue of the frontier, its bitmap and the bitmap of the visited
vertices are made when a step asks for them and are not there already.
"""

from __future__ import annotations

import math
from itertools import pairwise

import cupy
import numpy as np

from hopwave.arrays import ScaledCounts
from hopwave.engines.cuda.graph import NULL, Workspace
from hopwave.plan import Push

# The counters of kernels/common/atoms.cuh.
FOUND, EDGES, CHECKED, AHEAD, AHEAD_EDGES, TAIL, GATHERED, TICKET, GREATEST, LEAST, COUNTERS = range(11)

# As in engines/cpu/search/loop.py: a level is scaled down when the next might pass 2^LARGEST; what is below 2^SMALLEST
# afterwards would lose its ratio to its neighbours.
LARGEST, SMALLEST = 1000, -900


class Search:
    """A search from its sources on; nothing runs on the GPU before the first step."""

    def __init__(self, loaded, sources, question):
        self.loaded, self.question, self.sources = loaded, question, sources
        self.on_device = loaded.on_device
        self.n, self.words = loaded.n, -(-loaded.n // 32)
        host = loaded.graph.indptr
        self.depth, self.nf = 0, len(sources)
        self.mf = sum(int(host[s + 1]) - int(host[s]) for s in sources)
        self.mu = loaded.m - self.mf
        self.reached = len(sources)
        self.early = self.early_edges = 0  # vertices of the level after next that an asynchronous pull has found
        self.distance = cupy.empty(self.n, np.int32)
        self.parent = cupy.empty(self.n, np.int32) if question.predecessors else None
        self.sigma = self.counts = self.work = None
        self.ran_whole = False  # by one_launch.py
        self.shifts, self.bound, self.overflowed = [0], 0, False
        # A plan that scans the status array claims there; others keep a bitmap.
        steps = loaded.plan.steps
        self.scans = any(isinstance(step, Push) and step.output in ("scan", "reuse") for step in steps)
        self.has_queue = self.has_frontier_bits = self.visited_exact = False
        self.waiting = 0  # length of the queue of unvisited vertices that the pull before went through, 0 for none

    def begin(self):
        """Stand at the sources."""
        if self.work is not None:
            return
        try:
            self.work = self.on_device.workspaces.pop()
        except IndexError:  # the first search, or others under way in other threads have them all
            self.work = Workspace()
        n, take = self.n, self.work.take
        self.counters = take("counters", COUNTERS, np.uint64)
        self.queue, self.next_queue = take("queue", n, np.int32), take("next queue", n, np.int32)
        self.marks = False  # whether the bitmap of the visited is at least never wrong
        self.distance.data.memset_async(0xFF, self.distance.nbytes)
        if self.parent is not None:
            self.parent.data.memset_async(0xFF, self.parent.nbytes)
        if self.question.path_counts:
            self.sigma = cupy.zeros(n, np.float64)
        several = len(self.sources) > 1
        sources = cupy.asarray(np.array(self.sources, np.int32)) if several else NULL
        self.launch(
            "steps/state.cuh", "stand", self.nf, sources, np.int32(self.sources[0]), np.uint64(self.nf), self.distance,
            self.parents, self.sigmas, self.queue,
        )  # fmt: skip
        self.has_queue = True
        self.began, self.ended = self.work.events

    def launch(self, header, name, work, *arguments, shape="", blocks=None):
        self.on_device.launch(header, name, work, *arguments, shape=shape, blocks=blocks)

    # Arguments as kernels want them.
    parents = property(lambda self: NULL if self.parent is None else self.parent)
    sigmas = property(lambda self: NULL if self.sigma is None else self.sigma)
    counting = property(lambda self: "false" if self.sigma is None else "true")
    level = property(lambda self: np.int32(self.depth))
    vertices = property(lambda self: np.int32(self.n))

    # ---------------------------------------------------------------- counters

    def clear_counters(self):
        self.counters.data.memset_async(0, COUNTERS * 8)

    def read_counters(self):
        """Waits for the level to end."""
        stream = cupy.cuda.get_current_stream()
        self.counters.data.copy_to_host_async(self.work.host_address, 8 * COUNTERS, stream)
        stream.synchronize()
        return self.work.host[:COUNTERS].tolist()

    # ---------------------------------------------------------------- the forms of a frontier

    def bits(self, name):
        return self.work.take(name, self.words, np.uint32)

    def need_queue(self):
        """The frontier as a queue: from its bitmap by population count and scan, or from the status array."""
        if self.has_queue:
            return
        self.clear_counters()
        if self.has_frontier_bits:
            self.launch(
                "steps/state.cuh", "bits_to_queue", self.words, self.bits("frontier"), np.uint64(self.words),
                self.queue,
                self.counters,
            )  # fmt: skip
        else:
            self.launch(
                "steps/state.cuh", "single_scan", self.n, self.loaded.offsets, self.distance, self.vertices, self.level,
                self.queue, self.counters,
            )  # fmt: skip
        self.has_queue = True

    def need_marks(self):
        """A bitmap that holds no vertex that is not visited, though perhaps not all that are."""
        if not self.marks:
            self.bits("visited").data.memset_async(0, 4 * self.words)
            self.marks = True

    def need_visited(self):
        """The exact bitmap of the visited vertices; the frontier's falls out where it had to be made."""
        if self.visited_exact:
            return
        self.launch(
            "steps/state.cuh", "status_to_bits", self.n, self.distance, self.vertices, self.level, self.bits("visited"),
            self.bits("frontier"),
        )  # fmt: skip
        self.visited_exact = self.has_frontier_bits = self.marks = True

    def need_frontier_bits(self):
        """The frontier as a bitmap: sparse to dense."""
        self.need_visited()
        if self.has_frontier_bits:
            return
        self.bits("frontier").data.memset_async(0, 4 * self.words)
        self.launch("steps/state.cuh", "queue_to_bits", self.nf, self.queue, np.uint64(self.nf), self.bits("frontier"))
        self.has_frontier_bits = True

    def stands(self, *, queue=False, bits=False, visited=False, waiting=0):
        """Which forms the new frontier has."""
        self.has_queue, self.has_frontier_bits, self.visited_exact, self.waiting = queue, bits, visited, waiting
        if queue:
            self.queue, self.next_queue = self.next_queue, self.queue
        if bits:
            self.bits("frontier")
            arrays = self.work.arrays
            arrays["frontier"], arrays["next bits"] = arrays["next bits"], arrays["frontier"]

    # ---------------------------------------------------------------- path counts

    def rescale(self):
        """Scale the new level's counts down where the next one might overflow."""
        self.shifts.append(self.shifts[-1])
        bits = self.on_device.degree_bits
        self.bound += bits
        if self.overflowed or not self.nf or self.bound + bits <= LARGEST:
            return
        self.clear_counters()  # the bound is rough: look
        arguments = (self.distance, self.vertices, self.level)
        self.launch("common/counts.cuh", "level_extent", self.n, *arguments, self.sigma, self.counters)
        self.read_counters()
        extent = self.work.host[[GREATEST, LEAST]]
        extent[1] = ~extent[1]  # kept upside down
        greatest, least = extent.view(np.float64).tolist()
        self.bound = math.ceil(math.log2(greatest))
        if self.bound + bits <= LARGEST:
            return
        target = max(LARGEST // 2, LARGEST - 64 * bits)  # some way down, so that it is not needed at every level
        shift = self.bound - target
        if math.log2(least) - shift < SMALLEST:
            self.overflowed = True
            return
        self.launch(
            "common/counts.cuh", "scale_level", self.n, *arguments, np.float64(math.ldexp(1.0, -shift)), self.sigma
        )
        self.bound = target
        self.shifts[-1] += shift

    def path_counts(self):
        """σ from σ̂ and each level's shift; counted again by mantissa and exponent where a level spans too much."""
        if self.overflowed:
            return self.extended_counts()
        if not any(self.shifts):
            return self.sigma
        distance = self.distance.get()
        mantissa, exponent = np.frexp(self.sigma.get())
        shifts = np.array([*self.shifts, 0], np.int64)  # the last for distance -1
        return ScaledCounts.plain(mantissa, exponent + shifts[distance])

    def extended_counts(self):
        order = cupy.argsort(self.distance).astype(np.int32)
        ends = np.searchsorted(self.distance[order].get(), np.arange(self.depth + 2))
        mantissa, exponent = cupy.zeros(self.n, np.float64), cupy.zeros(self.n, np.int64)
        for depth, (begin, end) in enumerate(pairwise(ends)):
            self.launch(
                "common/counts.cuh", "count_extended", end - begin, self.loaded.in_offsets, self.loaded.in_neighbours,
                order[begin:end], np.uint64(end - begin), np.int32(depth), self.distance, mantissa, exponent,
            )  # fmt: skip
        return ScaledCounts.plain(mantissa.get(), exponent.get())
