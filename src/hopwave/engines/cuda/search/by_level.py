"""The levels of a search: their counters, their vertices in order, and path counts that never overflow.

σ̂ = σ / 2^shift   with one shift per level, if all counts of the level then fit into float64
m · 2^e           mantissa and exponent per vertex, otherwise (docs/betweenness.md)
"""

import math
from dataclasses import replace
from itertools import pairwise

import cupy
import numpy as np

from hopwave.arrays import ScaledCounts
from hopwave.engines.cuda.launch import BLOCK, together
from hopwave.engines.cuda.records import record

FOUND, EDGES, CHECKED, AHEAD, AHEAD_EDGES, TAIL, GATHERED, TICKET, GREATEST, LEAST, COUNTERS = range(11)


# ---------------------------------------------------------------- vertices by level (kernels/one_launch/by_level.cuh)

HEADER = "one_launch/by_level.cuh"
CLASSES = 4  # kernels/one_launch/by_level.cuh
LEVELS = record(HEADER, "Levels", "ptr order starts arcs shifts", "i64 count degree_bits", "ptr scaling")
together(HEADER, "count_levels", "scan_levels", "fill_levels")


def by_level(launch, in_offsets, distance, depth):
    """(order, starts, arcs): reached vertices by level, long in-rows first; starts and end of levels; their in-arcs."""
    n, levels = len(distance), depth + 1
    order, starts = cupy.empty(n, np.int32), cupy.empty(levels + 1, np.int64)
    bins, arcs = cupy.zeros(CLASSES * levels, np.uint32), cupy.zeros(levels, np.int64)
    sizes = np.uint64(n), np.uint64(levels)
    launch(HEADER, "count_levels", n, in_offsets, distance, *sizes, bins, arcs)
    launch(HEADER, "scan_levels", BLOCK, bins, sizes[1], starts)
    launch(HEADER, "fill_levels", n, in_offsets, distance, *sizes, bins, order)
    return order, starts, arcs


def recounted(search, levels):
    """The levels of a search whose queues contained duplicates, with their true numbers of vertices and arcs."""
    if not search.depth:
        return levels
    count = search.depth + 1
    bins, arcs = cupy.zeros(CLASSES * count, np.uint32), cupy.zeros(count, np.int64)
    search.launch(
        HEADER, "count_levels", search.n, search.loaded.offsets, search.distance, np.uint64(search.n),
        np.uint64(count), bins, arcs,
    )  # fmt: skip
    vertices, edges = bins.get().reshape(count, CLASSES).sum(axis=1).tolist(), arcs.get().tolist()
    search.reached = sum(vertices)
    left, exact = search.loaded.m, []
    for level in levels:
        here = level.depth - 1
        left -= edges[here]
        sizes = {"vertices": vertices[here], "edges": edges[here], "unvisited_edges": left}
        exact.append(replace(level, found=vertices[level.depth], **sizes))
    return exact


# ---------------------------------------------------------------- path counts

STATE = "steps/state.cuh"

# A level is scaled down when a count of the next level might exceed 2^LARGEST. A count then below 2^SMALLEST would lose
# precision. engines/cpu/search/loop.py and kernels/common/counts.cuh use the same bounds.
LARGEST, SMALLEST = 1000, -900


class LevelScaling:
    """The shift of every level so far, and a bound on the last level's counts."""

    def __init__(self, degree_bits):
        self.bits = max(1, degree_bits)  # bits by which a count can grow per level
        self.shifts = [0]
        self.bound = 0  # upper bound on log2 of the last level's counts

    def add_level(self):
        self.shifts.append(self.shifts[-1])
        self.bound += self.bits

    def safe_levels(self):
        """Number of levels that can follow before the counts must be measured."""
        return (LARGEST - self.bound) // self.bits

    def rescale(self, launch, n, level, counts, cleared_counters):
        """Scale the last level down if the next might overflow; False if the level spans more than float64."""
        if self.safe_levels() >= 1:
            return True
        counters = cleared_counters()
        launch(STATE, "level_extent", n, *level, counts[0], counters)
        extent = counters.get()[[GREATEST, LEAST]]
        extent[1] = ~extent[1]  # stored inverted, so that both counters start at 0
        greatest, least = extent.view(np.float64).tolist()
        self.bound = math.ceil(math.log2(greatest))
        if self.safe_levels() >= 1:
            return True
        target = max(LARGEST // 2, LARGEST - 64 * self.bits)  # low enough for several more levels
        shift = self.bound - target
        if math.log2(least) - shift < SMALLEST:
            return False
        factor = np.float64(math.ldexp(1.0, -shift))
        for array in counts:
            launch(STATE, "scale_level", n, *level, factor, array)
        self.bound = target
        self.shifts[-1] += shift
        return True


def unscaled(sigma, distance, shifts):
    """σ on the host, from σ̂, the distances and the levels' shifts: float64, or mantissa and exponent."""
    mantissa, exponent = np.frexp(sigma.get())
    shifts = np.append(np.asarray(shifts, np.int64), 0)  # the last entry is for distance -1
    return ScaledCounts.plain(mantissa, exponent + shifts[distance.get()])


def extended_counts(launch, in_rows, distance, depth):
    """σ on the host, counted again level by level with mantissa and exponent; in_rows: offsets and in-neighbours."""
    order, starts, _ = by_level(launch, in_rows[0], distance, depth)
    mantissa, exponent = cupy.zeros(len(distance), np.float64), cupy.zeros(len(distance), np.int64)
    for level, (begin, end) in enumerate(pairwise(starts.get().tolist())):
        launch(
            STATE, "count_extended", end - begin, *in_rows, order[begin:end], np.uint64(end - begin), np.int32(level),
            distance, mantissa, exponent,
        )  # fmt: skip
    return ScaledCounts.plain(mantissa.get(), exponent.get())
