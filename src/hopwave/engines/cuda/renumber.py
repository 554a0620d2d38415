"""Vertices renumbered so that neighbours are close in memory: meshes and roads then read fewer memory sectors."""

from dataclasses import dataclass
from typing import Any

import cupy
import numpy as np

from hopwave.engines.cuda import build
from hopwave.engines.cuda.launch import WARP, kernels, offset_type, together

HEADER = "betweenness/renumber.cuh"
together(
    HEADER, "count_near", "find_farthest", "morton_keys", "ranks_and_lengths", "row_lengths", "move_rows", "old_places",
    "to_new_order", "to_old_order",
)  # fmt: skip
BITS = 16  # bits per coordinate: two interleaved coordinates have 32 bits


@dataclass(frozen=True)
class Renumbered:
    """A graph with new vertex numbers. order[new] is the old number; rank[old] is the new number, on the host."""

    order: Any
    rank: Any
    offsets: Any
    neighbours: Any
    in_offsets: Any
    in_neighbours: Any


def neighbours_near(launch, offsets, neighbours, reach=64):
    """The fraction of arcs whose endpoint numbers differ by less than `reach`."""
    n, near = len(offsets) - 1, cupy.zeros(1, np.uint64)
    launch(HEADER, "count_near", WARP * n, offsets, neighbours, np.int64(n), np.int32(reach), near)
    return int(near.get()[0]) / max(1, len(neighbours))


def farthest(launch, one, other):
    """(v, distance) with the largest min(one[v], other[v]); ties by lowest v."""
    found = cupy.zeros(1, np.uint64)
    launch(HEADER, "find_farthest", len(one), one, other, np.uint64(len(one)), found)
    distance, vertex = divmod(int(found.get()[0]), 1 << 32)
    return 0xFFFFFFFF - vertex, distance - 1


def morton_order(launch, both, offsets):
    """The vertices in the Morton order of two distances; if both arrays are equal, in the order of that distance."""
    n = len(offsets) - 1
    most = [farthest(launch, distance, distance)[1] for distance in both]
    step = (max(most) + 1 >> BITS) + 1
    keys, lengths = cupy.empty(n, np.uint64), cupy.empty(n, np.uint32)
    order, rank = cupy.empty(n, np.int32), cupy.empty(n, np.int32)
    launch(HEADER, "morton_keys", n, *both, np.uint64(n), *map(np.int32, (*most, step)), keys)
    keys.sort()
    launch(HEADER, "ranks_and_lengths", n, keys, offsets, np.uint64(n), order, rank, lengths)
    return order, rank, lengths


def moved_rows(launch, offsets, neighbours, order, rank, lengths):
    n = len(offsets) - 1
    fresh, there = build.offsets_of(lengths, n, offsets.dtype), cupy.empty_like(neighbours)
    launch(HEADER, "move_rows", WARP * n, fresh, offsets, neighbours, order, rank, np.int64(n), there)
    return fresh, there


def renumbered(loaded, search):
    """The graph in the Morton order of distances; search(v): distances from v, as an array on the GPU."""
    launch, n = loaded.on_device.launch, loaded.n
    # Two vertices that are far apart, but not at opposite ends of the graph.
    one = search(int(loaded.graph.degrees.argmax()))
    one = search(farthest(launch, one, one)[0])
    other = search(farthest(launch, one, one)[0])
    other = search(farthest(launch, one, other)[0])
    order, rank, lengths = morton_order(launch, (one, other), loaded.offsets)
    rows = columns = moved_rows(launch, loaded.offsets, loaded.neighbours, order, rank, lengths)
    if loaded.directed:
        launch(HEADER, "row_lengths", n, order, loaded.in_offsets, np.uint64(n), lengths)
        columns = moved_rows(launch, loaded.in_offsets, loaded.in_neighbours, order, rank, lengths)
    return Renumbered(order, rank.get(), *rows, *columns)


def old_places(launch, order, fresh, offsets, m):
    """The old index of each of the m arcs; fresh: offsets in the new order, offsets: in the old order."""
    n, places = len(order), cupy.empty(m, np.int64)
    launch(HEADER, "old_places", WARP * n, fresh, offsets, order, np.int64(n), places)
    return places


def to_new_order(scores, places):
    moved = cupy.empty_like(scores)
    sizes = np.uint64(len(places)), np.uint64(len(scores))
    kernels(offset_type(places))(HEADER, "to_new_order", len(scores), scores, places, *sizes, moved)
    return moved


def to_old_order(moved, places, scores):
    sizes = np.uint64(len(places)), np.uint64(len(scores))
    kernels(offset_type(places))(HEADER, "to_old_order", len(scores), moved, places, *sizes, scores)
