"""The vertices that a search reached, level after level (kernels/one_launch/by_level.cuh)."""

import cupy
import numpy as np

from hopwave.engines.cuda.launch import BLOCK, together

HEADER = "one_launch/by_level.cuh"
CLASSES = 4  # kernels/one_launch/by_level.cuh
together(HEADER, "count_levels", "scan_levels", "fill_levels")


def by_level(launch, in_offsets, distance, depth):
    """(order, starts, arcs): reached vertices by level, long in-rows first; where levels begin; in-arcs of each level.

    `depth` is the greatest distance. `starts` has depth + 2 items: the last one is the end of the last level.
    """
    n, levels = len(distance), depth + 1
    order, starts = cupy.empty(n, np.int32), cupy.empty(levels + 1, np.int64)
    bins, arcs = cupy.zeros(CLASSES * levels, np.uint32), cupy.zeros(levels, np.int64)
    sizes = np.uint64(n), np.uint64(levels)
    launch(HEADER, "count_levels", n, in_offsets, distance, *sizes, bins, arcs)
    launch(HEADER, "scan_levels", BLOCK, bins, sizes[1], starts)
    launch(HEADER, "fill_levels", n, in_offsets, distance, *sizes, bins, order)
    return order, starts, arcs
