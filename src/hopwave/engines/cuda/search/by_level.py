"""The vertices that a search reached, level after level (kernels/one_launch/by_level.cuh)."""

from dataclasses import replace

import cupy
import numpy as np

from hopwave.engines.cuda.launch import BLOCK, together
from hopwave.engines.cuda.records import record

HEADER = "one_launch/by_level.cuh"
CLASSES = 4  # kernels/one_launch/by_level.cuh
LEVELS = record(HEADER, "Levels", "ptr order starts arcs shifts", "i64 count degree_bits", "ptr scaling")
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


def recounted(search, levels):
    """The levels of a search whose queues held duplicates, with their true numbers of vertices and arcs.

    Arcs that were checked twice stay counted twice.
    """
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
