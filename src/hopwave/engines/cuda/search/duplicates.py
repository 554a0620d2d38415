"""Exact sizes of levels whose queues held duplicates, counted after the search."""

from dataclasses import replace

import cupy
import numpy as np

from hopwave.engines.cuda.search.by_level import CLASSES, HEADER


def recounted(search, levels):
    """The levels with their true numbers of vertices and arcs; arcs that were checked twice stay counted twice."""
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
