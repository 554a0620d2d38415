"""Searches along weights, and betweenness along weights: one block or a team of blocks per source."""

from dataclasses import dataclass, replace
from typing import Any

import cupy
import numpy as np

from hopwave.engines import uncountable
from hopwave.engines.cuda import policy
from hopwave.engines.cuda.betweenness import regimes
from hopwave.engines.cuda.betweenness.block import Blocks
from hopwave.engines.cuda.buffers import allocate
from hopwave.engines.cuda.build import arc_rows
from hopwave.engines.cuda.launch import truth
from hopwave.engines.cuda.policy import length_arrays
from hopwave.engines.cuda.records import filled, record

SHORTEST = "common/shortest.cuh"
FAR = np.finfo(np.float64).max  # no distance is larger

GRAPH = record(
    SHORTEST, "WeightedGraph<int>", "ptr offsets neighbours lengths in_offsets in_neighbours in_lengths",
    "i64 n m",
)  # fmt: skip
STATE = record(
    SHORTEST, "PathState", "ptr distance near_stamp far_stamp lists boards",
    "f64 delta limit",
    "i64 group long_row team room",
)  # fmt: skip


@dataclass(frozen=True)
class Arcs:
    """A graph's arcs with their lengths on the GPU, and the minimum step of a search's bound."""

    arrays: tuple[Any, ...]  # kept alive: the record stores only their addresses
    graph: Any  # the kernels' struct WeightedGraph
    delta: float


def arcs_of(loaded):
    """Return the arcs of a loaded graph with weights; built once, and cached with the graph."""
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
        in_neighbours = arc_rows(offsets, loaded.m)[by_head]
        in_lengths = lengths[by_head]
    made = filled(
        GRAPH, offsets=offsets, neighbours=neighbours, lengths=lengths, in_offsets=in_offsets,
        in_neighbours=in_neighbours, in_lengths=in_lengths, n=loaded.n, m=loaded.m,
    )  # fmt: skip
    mean = float(lengths.mean()) if loaded.m else 0.0
    arrays = offsets, neighbours, lengths, in_offsets, in_neighbours, in_lengths
    step = mean * max(1.0, policy.ALONG_WEIGHTS.step * (loaded.n / max(1, loaded.m)) ** 2)  # of the near bound
    return Arcs(arrays, made, step)


class Searches:
    """The arrays in which several blocks or teams search at the same time, and the kernels' struct PathState."""

    def __init__(self, loaded, searches, shape, limit, room, own=True):
        self.arrays = allocate(length_arrays(room, searches, own))
        self.state = filled(
            STATE, **self.arrays, delta=arcs_of(loaded).delta, limit=FAR if limit is None else min(float(limit), FAR),
            group=shape.group, long_row=policy.ALONG_WEIGHTS.long_row * shape.group, team=shape.team, room=room,
        )  # fmt: skip


# ---------------------------------------------------------------- betweenness

HEADER, KERNEL = "betweenness/weighted.cuh", "sources_weighted"
TOO_MANY, CYCLE = 1, 2  # enum Status in the kernels

WEIGHTED = record(
    HEADER, "Weighted", "ptr sources which ticket targets spans places rows due status cycle X hops tight parts",
    "i64 count width words",
    "i64 endpoints edges directed",
)  # fmt: skip


class WeightedBlocks(Blocks):
    header, kernel = HEADER, KERNEL

    def _shape(self, n, m, k, depth, machine):
        return super()._shape(n, m, k, depth, replace(machine, shared=0))

    def _state_bytes(self):
        return regimes.weighted_state(self.reached, self.arcs)

    def _graph(self, arrays):
        return arcs_of(self.loaded).graph

    def _flags(self, number, shared, team):
        return f"{self.offset}, {number}, {truth(team > 1)}"

    def _new_results(self, count, spans):
        return {
            "spans": None if spans is None else cupy.asarray(spans),
            "due": cupy.zeros((count, 2), np.float64),
            "status": cupy.zeros(count, np.int32),
            "cycle": cupy.full(count, np.iinfo(np.uint64).max, np.uint64),
        }

    def _overflowed(self, results):
        status = results["status"].get()
        if (status == CYCLE).any():
            row = int(np.flatnonzero(status == CYCLE)[0])
            u, v = divmod(int(results["cycle"][row]), self.loaded.n)
            raise uncountable(self.loaded.graph, int(results["sources"][row]), u, v)
        return np.flatnonzero(status == TOO_MANY).astype(np.int32)

    def _run(self, results, which, count, blocks, number, shared, team):
        job, blocks = self.job, min(blocks, count)
        searches = Searches(self.loaded, blocks, replace(self.shape, team=team), job.cutoff, self.reached)
        state = allocate(regimes.weighted_arrays(self.reached, self.arcs, blocks, 1 if number == "double" else 2, team))
        numbers = {
            "count": count, "width": self.width, "words": state["tight"].shape[-1], "endpoints": job.endpoints,
            "edges": job.edges, "directed": self.loaded.directed,
        }  # fmt: skip
        given = {"which": which, "targets": self.targets, **results, **state, **numbers}
        arguments = self.graph, searches.state, filled(WEIGHTED, **given)
        flags, grid = self._flags(number, shared, team), (blocks * team,)
        self.kernels.exactly(HEADER, KERNEL, flags, grid, self.shape.threads, arguments, cooperative=team > 1)
