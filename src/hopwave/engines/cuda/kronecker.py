"""Kronecker graphs drawn and built on the GPU: the edges of hopwave.generate.kronecker, bit for bit.

Edges are drawn twice instead of stored, so that building a graph of 2^29 vertices and 2^34 arcs needs little more
memory than the graph. Rows keep loops and repeats, as Graph500 lists them. For searches vertices are numbered by degree
(numbering.py); rows, and neighbours within rows, are in that order. Answers are by id.
"""

from __future__ import annotations

import cupy
import numpy as np

from hopwave.engines.cuda import buffers, build, policy
from hopwave.engines.cuda.launch import NULL, WARP, expression, kernels
from hopwave.engines.cuda.numbering import ByDegree
from hopwave.engines.cuda.rank import part
from hopwave.engines.cuda.records import record
from hopwave.engines.cuda.search.workspace import Workspace
from hopwave.errors import EngineError
from hopwave.generate import counter
from hopwave.generate.recursive import GRAPH500, cell_borders

HEADER = "generate/kronecker.cuh"
RECIPE = record(HEADER, "Recipe", "u64 start", "u64 multiply[4] add[4]", "u32 borders[3]", "i32 scale")
ROUNDS = 4  # rounds of the permutation of ids
IDS = {np.dtype(np.int32): "int", np.dtype(np.int64): "long long"}
MOST_SCALE = 30  # ids have 31 bits, and the number after the last must fit too
# Upper bounds on the bytes for the rows, a search with predecessors and its validation together.
BYTES_PER_ARC = 4.1  # a neighbour, and lists of the pieces that long rows are cut into
BYTES_PER_VERTEX = 72  # offset 8, degree 6, hub 4, queue 4, number and id 8, answer 16, bitmaps 1, validation 25
BUILDING = 48, 24  # peak while building: bytes per vertex, bytes per arc of one sorted part


def instances():
    """Every kernel of this module: header and name expression."""
    for identity in IDS.values():
        yield HEADER, expression(HEADER, "draw_edges", identity)
    for name in ("count_ends", "fill_rows", "sum_edges", "sum_rows"):
        yield HEADER, expression(HEADER, name, "int")


def recipe(scale, seed):
    """The kernels' struct Recipe for a scale and a seed."""
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
    """Bytes on the GPU to build a graph of this scale, search it with predecessors, and validate the answer.

    >>> [round(bytes_needed(scale, 16) / 2**30) for scale in (26, 29, 30)]
    [14, 102, 203]
    """
    n, arcs = 1 << scale, 2 * edge_factor << scale
    building = BUILDING[0] * n + BUILDING[1] * min(arcs, policy.SORTED_ARCS)
    return int(arcs * BYTES_PER_ARC) + max(building, BYTES_PER_VERTEX * n)


class Rows:
    """A Graph500 graph on the GPU, with the fields that search/workspace.Workspace reads. It is undirected.

    vertices: 2^scale, as in the edge list. n: rows; vertices without arcs share one row. by_degree: if False, one row
    per vertex, in the order of ids, with neighbours in any order.
    """

    graph = None
    directed = False

    def __init__(self, scale, edge_factor, seed, by_degree=True):
        n, count = 1 << scale, edge_factor << scale
        if scale > MOST_SCALE:
            raise EngineError(
                f"scale {scale} has ids of more than 31 bits, which one GPU does not search; use a scale up to "
                f"{MOST_SCALE}, several ranks (mpiexec -n 4 hopwave graph500 ...), or device='cpu'"
            )
        buffers.require(
            bytes_needed(scale, edge_factor), f"a Kronecker graph of scale {scale} with edge factor {edge_factor}",
            "use a smaller scale, or several GPUs (mpiexec -n 4 hopwave graph500 ...)",
        )  # fmt: skip
        made = recipe(scale, seed)
        self.vertices, self.m, self.edges = n, 2 * count, count
        self.degrees = build.zeros(n, np.uint32)
        _launch("count_ends", count, made, np.int64(count), self.degrees)
        self.numbering, numbers, self.ids = None, NULL, NULL
        if by_degree:
            self.numbering = ByDegree(self.degrees)
            numbers, self.ids = self.numbering.numbers, self.numbering.ids
            self.degrees = self.degrees[self.ids]
        self.n = len(self.degrees)
        self.offsets = build.offsets_of(self.degrees, self.n, np.int64)
        self.neighbours = cupy.empty(self.m, np.int32)
        filled = build.zeros(self.n, np.uint32)
        _launch("fill_rows", count, made, np.int64(count), numbers, self.offsets, filled, self.neighbours)
        del filled
        if by_degree:
            build.by_degree(self.offsets, self.neighbours, out=self.neighbours)
        cupy.cuda.get_current_stream().synchronize()
        self.in_offsets, self.in_neighbours = self.offsets, self.neighbours
        self.longs = part.long_rows(self.offsets)
        self.kept = {}
        self._recipe = made

    def check(self):
        """Raise unless the rows hold exactly the edges of the list, with their repeats."""
        sums = cupy.zeros(2, np.uint64)
        _launch("sum_edges", self.edges, self._recipe, np.int64(self.edges), sums)
        _launch("sum_rows", WARP * self.n, self.offsets, self.neighbours, self.ids, np.int64(self.n), sums[1:])
        listed, stored = sums.tolist()
        if listed != stored:
            raise EngineError("the graph on the GPU is not the one that was drawn; please report this")

    def edges_within(self, reached):
        """How many input edges join two reached vertices; `reached[id]` is True or False."""
        return int((self.degrees * reached[self.ids]).sum(dtype=np.int64)) // 2

    def check_answer(self, levels, parents):
        """rank.part.check for an answer by id: how often each rule is broken, and which vertices have their parent."""
        linked, mine = cupy.zeros(self.vertices, np.uint8), cupy.zeros(self.n, np.uint8)
        levels, parents = levels[self.ids], self.numbering.numbers_of(parents[self.ids])
        wrong = part.check(self.offsets, self.neighbours, levels, levels, parents, mine, self.longs)
        linked[self.ids] = mine
        return wrong[:, 0].tolist(), linked


class Searches:
    """Searches of a Rows graph, one at a time; the answers are by id."""

    def __init__(self, rows):
        self.numbering, self.workspace = rows.numbering, Workspace(rows)
        self.found = cupy.empty(rows.n, np.int32), cupy.empty(rows.n, np.int32)

    def launch(self, distance, parent, root, question, plan):
        """Put one search into the current stream, like Workspace.launch; root: a vertex with an arc."""
        distances, parents = self.found[0], None if parent is None else self.found[1]
        number = self.numbering.numbers[root : root + 1]
        ending = self.workspace.launch(distances, parents, number, question, plan)
        self.numbering.spread(distances, distance)
        if parents is not None:
            self.numbering.spread(parents, parent, are_numbers=True)
        return ending

    @property
    def bytes(self):
        """Device memory held, without the rows."""
        return sum(array.nbytes for array in self.found) + self.workspace.bytes + self.numbering.bytes


def _launch(name, work, *arguments):
    kernels()(HEADER, name, work, *arguments, shape="int")
