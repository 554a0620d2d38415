"""Searches along weights, one block or team of blocks per source: used by betweenness and by sums over many sources.

kernels/common/shortest.cuh is the search. Hundreds of searches run at a time, each with its own arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cupy
import numpy as np

from hopwave.engines.cuda import policy
from hopwave.engines.cuda.buffers import allocate
from hopwave.engines.cuda.records import filled, record
from hopwave.engines.cuda.search_arrays import length_arrays

HEADER = "common/shortest.cuh"
FAR = np.finfo(np.float64).max  # no distance is greater

GRAPH = record(
    HEADER, "WeightedGraph<int>", "ptr offsets neighbours lengths in_offsets in_neighbours in_lengths",
    "i64 n m",
)  # fmt: skip
STATE = record(
    HEADER, "PathState", "ptr distance near_stamp far_stamp lists boards",
    "f64 delta limit",
    "i64 group long_row team",
)  # fmt: skip


@dataclass(frozen=True)
class Arcs:
    """A graph's arcs with their lengths on the GPU, and the least distance by which a search's bound moves."""

    arrays: tuple[Any, ...]  # kept alive: the record holds addresses
    graph: Any  # the kernels' struct WeightedGraph
    delta: float


def arcs_of(loaded):
    """Return the arcs of a loaded graph with weights; made once, and kept with the graph."""
    with loaded.lock:
        if "lengths" not in loaded.kept:
            loaded.kept["lengths"] = _uploaded(loaded)
        return loaded.kept["lengths"]


def _uploaded(loaded):
    graph, device = loaded.graph, loaded.on_device
    weights = graph.weights if device.given is None else graph._gpu.values
    offsets, neighbours = loaded.offsets, loaded.neighbours
    lengths = cupy.asarray(weights).astype(np.float64, copy=False) if loaded.m else cupy.empty(0, np.float64)
    in_offsets, in_neighbours, in_lengths = offsets, neighbours, lengths
    if loaded.directed and loaded.m:
        by_head = cupy.argsort(neighbours)
        in_offsets = loaded.in_offsets
        in_neighbours = device.arc_rows(offsets, loaded.m)[by_head]
        in_lengths = lengths[by_head]
    made = filled(
        GRAPH, offsets=offsets, neighbours=neighbours, lengths=lengths, in_offsets=in_offsets,
        in_neighbours=in_neighbours, in_lengths=in_lengths, n=loaded.n, m=loaded.m,
    )  # fmt: skip
    mean = float(lengths.mean()) if loaded.m else 0.0
    arrays = offsets, neighbours, lengths, in_offsets, in_neighbours, in_lengths
    return Arcs(arrays, made, policy.moved_bound(mean, loaded.n, loaded.m))


class Searches:
    """The arrays in which a number of blocks or teams search at the same time, and the kernels' struct PathState.

    own: whether searches need their own array of distances, or write distances where the kernel says.
    """

    def __init__(self, loaded, searches, shape, limit, own=True):
        self.arrays = allocate(length_arrays(loaded.n, searches, own))
        self.state = filled(
            STATE, **self.arrays, delta=arcs_of(loaded).delta, limit=FAR if limit is None else min(float(limit), FAR),
            group=shape.group, long_row=policy.ALONG_WEIGHTS.long_row * shape.group, team=shape.team,
        )  # fmt: skip
