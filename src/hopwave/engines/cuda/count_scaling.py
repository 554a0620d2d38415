"""Path counts that never overflow (docs/betweenness.md).

σ̂ = σ / 2^shift   with one shift per level, if all counts of the level then fit into float64
m · 2^e           mantissa and exponent per vertex, if they do not
"""

import math
from itertools import pairwise

import cupy
import numpy as np

from hopwave.arrays import ScaledCounts
from hopwave.engines.cuda.counters import GREATEST, LEAST
from hopwave.engines.cuda.search.by_level import by_level

HEADER = "steps/state.cuh"

# A level is scaled down when a count of the next one might pass 2^LARGEST. A count that is then below 2^SMALLEST would
# lose precision. engines/cpu/search/loop.py and kernels/common/counts.cuh have the same bounds.
LARGEST, SMALLEST = 1000, -900


class LevelScaling:
    """The shift of every level so far, and a bound on the last level's counts."""

    def __init__(self, degree_bits):
        self.bits = max(1, degree_bits)  # bits by which a count can grow in one level
        self.shifts = [0]
        self.bound = 0  # upper bound of log2 of the last level's counts

    def add_level(self):
        """Begin the next level, with the shift of the level before."""
        self.shifts.append(self.shifts[-1])
        self.bound += self.bits

    def safe_levels(self):
        """How many levels can follow before the counts must be measured."""
        return (LARGEST - self.bound) // self.bits

    def rescale(self, launch, n, level, counts, cleared_counters):
        """Scale the last level down if the next might overflow. Returns False if the level spans more than float64.

        level: distances, n and the level's depth, as kernel arguments. counts: σ̂ and the arrays that are scaled with
        it. cleared_counters(): returns an array of counters, all 0; called only if the counts must be measured.
        """
        if self.safe_levels() >= 1:
            return True
        greatest, least = _extent(launch, n, level, counts[0], cleared_counters())
        self.bound = math.ceil(math.log2(greatest))
        if self.safe_levels() >= 1:
            return True
        target = max(LARGEST // 2, LARGEST - 64 * self.bits)  # low enough for some further levels
        shift = self.bound - target
        if math.log2(least) - shift < SMALLEST:
            return False
        factor = np.float64(math.ldexp(1.0, -shift))
        for array in counts:
            launch(HEADER, "scale_level", n, *level, factor, array)
        self.bound = target
        self.shifts[-1] += shift
        return True


def _extent(launch, n, level, sigma, counters):
    """The greatest and the least count of a level."""
    launch(HEADER, "level_extent", n, *level, sigma, counters)
    extent = counters.get()[[GREATEST, LEAST]]
    extent[1] = ~extent[1]  # stored inverted, so that both counters start from 0
    return extent.view(np.float64).tolist()


def unscaled(sigma, distance, shifts):
    """σ on the host, from σ̂, the distances and the levels' shifts: float64, or mantissa and exponent."""
    mantissa, exponent = np.frexp(sigma.get())
    shifts = np.append(np.asarray(shifts, np.int64), 0)  # the last one is for distance -1
    return ScaledCounts.plain(mantissa, exponent + shifts[distance.get()])


def extended_counts(launch, in_rows, distance, depth):
    """σ on the host, counted again level by level with mantissa and exponent; in_rows: offsets and in-neighbours."""
    order, starts, _ = by_level(launch, in_rows[0], distance, depth)
    mantissa, exponent = cupy.zeros(len(distance), np.float64), cupy.zeros(len(distance), np.int64)
    for level, (begin, end) in enumerate(pairwise(starts.get().tolist())):
        launch(
            HEADER, "count_extended", end - begin, *in_rows, order[begin:end], np.uint64(end - begin), np.int32(level),
            distance, mantissa, exponent,
        )  # fmt: skip
    return ScaledCounts.plain(mantissa.get(), exponent.get())
