"""Betweenness along weights, one block or a team of blocks per source (kernels/betweenness/weighted.cuh).

Blocks of sources, rows of scores and their sums are as in the block regime (block.py).
"""

from dataclasses import replace

import cupy
import numpy as np

from hopwave.engines import uncountable
from hopwave.engines.cuda.along_weights import Searches, arcs_of
from hopwave.engines.cuda.betweenness import regimes
from hopwave.engines.cuda.betweenness.block import Blocks
from hopwave.engines.cuda.buffers import allocate
from hopwave.engines.cuda.launch import truth
from hopwave.engines.cuda.records import filled, record

HEADER, KERNEL = "betweenness/weighted.cuh", "sources_weighted"
TOO_MANY, CYCLE = 1, 2  # enum Status in the kernels

WEIGHTED = record(
    HEADER, "Weighted", "ptr sources which ticket targets rows due status cycle X hops tight parts",
    "i64 count width words",
    "i64 endpoints edges directed",
)  # fmt: skip


class WeightedBlocks(Blocks):
    """Like Blocks, along the graph's weights."""

    header, kernel = HEADER, KERNEL

    def _shape(self, n, m, k, depth, machine):
        """No state is in shared memory."""
        return regimes.block_shape(n, m, k, depth, replace(machine, shared=0))

    def _state_bytes(self):
        return regimes.weighted_state(self.loaded.n, self.loaded.m)

    def _graph(self, arrays):
        return arcs_of(self.loaded).graph

    def _flags(self, number, shared, team):
        return f"{self.offset}, {number}, {truth(team > 1)}"

    def _new_results(self, count):
        return {
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

    def _check_again(self, results):
        self._overflowed(results)

    def _run(self, results, which, count, blocks, number, shared, team):
        job, n, m = self.job, self.loaded.n, self.loaded.m
        blocks = min(blocks, count)
        searches = Searches(self.loaded, blocks, replace(self.shape, team=team), job.cutoff)
        state = allocate(regimes.weighted_arrays(n, m, blocks, 1 if number == "double" else 2, team))
        numbers = {
            "count": count, "width": self.width, "words": state["tight"].shape[-1], "endpoints": job.endpoints,
            "edges": job.edges, "directed": self.loaded.directed,
        }  # fmt: skip
        given = {"which": which, "targets": self.targets, **results, **state, **numbers}
        arguments = self.graph, searches.state, filled(WEIGHTED, **given)
        flags, grid = self._flags(number, shared, team), (blocks * team,)
        self.kernels.exactly(HEADER, KERNEL, flags, grid, self.shape.threads, arguments, cooperative=team > 1)
