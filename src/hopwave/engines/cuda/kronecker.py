"""Kronecker graphs drawn and built on the GPU: the edges of hopwave.generate.kronecker, bit for bit.

Edges are drawn twice instead of kept, so that a graph of 2^29 vertices and 2^34 arcs is built in the memory that it
takes. Rows keep loops and repeats, as Graph500 lists them, and begin with their neighbour of highest degree.
"""

from __future__ import annotations

import cupy
import numpy as np

from hopwave.engines.cuda import build, memory
from hopwave.engines.cuda.launch import WARP, expression, kernels
from hopwave.engines.cuda.rank import part
from hopwave.engines.cuda.records import record
from hopwave.errors import EngineError
from hopwave.generate import counter
from hopwave.generate.recursive import GRAPH500, cell_borders

HEADER = "generate/kronecker.cuh"
RECIPE = record(HEADER, "Recipe", "u64 start", "u64 multiply[4] add[4]", "u32 borders[3]", "i32 scale")
ROUNDS = 4  # of the permutation of ids
IDS = {np.dtype(np.int32): "int", np.dtype(np.int64): "long long"}
MOST_SCALE = 30  # ids have 31 bits, and one more number is needed for the end
# Bytes that rows, a search with predecessors and its validation take together at most.
BYTES_PER_ARC = 4.1  # a neighbour, and lists of the pieces that long rows are cut into
BYTES_PER_VERTEX = 52  # offset 8, degree 6, hub 4, queue 4, answer 8, bitmaps 1, validation 20


def instances():
    """Every kernel there is: header and name expression."""
    for identity in IDS.values():
        yield HEADER, expression(HEADER, "draw_edges", identity)
    for name in ("count_ends", "fill_rows", "sum_edges", "sum_rows"):
        yield HEADER, expression(HEADER, name, "int")


def recipe(scale, seed):
    """What the kernels need to know of a scale and a seed."""
    made = np.zeros(1, RECIPE)
    mask = (1 << max(scale, 1)) - 1
    made["start"] = counter.start(seed, "kronecker")
    made["multiply"] = [(counter.start(seed, f"multiply {turn}") | 1) & mask for turn in range(ROUNDS)]
    made["add"] = [counter.start(seed, f"add {turn}") & mask for turn in range(ROUNDS)]
    made["borders"] = cell_borders(GRAPH500)[1]
    made["scale"] = max(scale, 1)
    return made


def edges(scale, seed, first, count, id_type=np.int64):
    """Edges first ... first + count - 1 of generate.kronecker_edges(scale, seed=seed), as two arrays on the GPU."""
    source, target = cupy.empty(count, id_type), cupy.empty(count, id_type)
    arguments = (recipe(scale, seed), np.uint64(first), np.int64(count), source, target)
    kernels()(HEADER, "draw_edges", count, *arguments, shape=IDS[np.dtype(id_type)])
    return source, target


def bytes_needed(scale, edge_factor):
    """Of the GPU's memory, to build such a graph, search it with predecessors, and validate that.

    >>> [round(bytes_needed(scale, 16) / 2**30) for scale in (26, 29, 30)]
    [11, 92, 183]
    """
    return int(2 * (edge_factor << scale) * BYTES_PER_ARC + (1 << scale) * BYTES_PER_VERTEX)


class Rows:
    """A Graph500 graph on the GPU, with the fields that search/workspace.Workspace reads; rows are columns too."""

    graph = None
    directed = False

    def __init__(self, scale, edge_factor, seed):
        n, count = 1 << scale, edge_factor << scale
        if scale > MOST_SCALE:
            raise EngineError(
                f"scale {scale} has ids of more than 31 bits, which one GPU does not search; use a scale up to "
                f"{MOST_SCALE}, several ranks (mpiexec -n 4 hopwave graph500 ...), or device='cpu'"
            )
        memory.require(
            bytes_needed(scale, edge_factor), f"a Kronecker graph of scale {scale} with edge factor {edge_factor}",
            "use a smaller scale, or several GPUs (mpiexec -n 4 hopwave graph500 ...)",
        )  # fmt: skip
        made = recipe(scale, seed)
        self.n, self.m, self.edges = n, 2 * count, count
        self.degrees = build.zeros(n, np.uint32)
        _launch("count_ends", count, made, np.int64(count), self.degrees)
        self.offsets = build.offsets_of(self.degrees, n, np.int64)
        self.neighbours = cupy.empty(self.m, np.int32)
        filled = build.zeros(n, np.uint32)
        _launch("fill_rows", count, made, np.int64(count), self.offsets, filled, self.neighbours)
        del filled
        part.hubs_first(self.offsets, self.neighbours, self.degrees)
        cupy.cuda.get_current_stream().synchronize()
        self.in_offsets, self.in_neighbours = self.offsets, self.neighbours
        self.longs = part.long_rows(self.offsets)
        self.kept = {}
        self._recipe = made

    def check(self):
        """That the rows hold every edge of the list, as often as it is listed, and nothing else."""
        sums = cupy.zeros(2, np.uint64)
        _launch("sum_edges", self.edges, self._recipe, np.int64(self.edges), sums)
        _launch("sum_rows", WARP * self.n, self.offsets, self.neighbours, np.int64(self.n), sums[1:])
        listed, stored = sums.tolist()
        if listed != stored:
            raise EngineError("the graph on the GPU is not the one that was drawn; please report this")


def _launch(name, work, *arguments):
    kernels()(HEADER, name, work, *arguments, shape="int")
