"""Kronecker graphs drawn and built on the GPU: edges bitwise identical to hopwave.generate.kronecker."""

import math

import cupy
import numpy as np

from hopwave.engines.cuda import buffers, build, policy, rank
from hopwave.engines.cuda.compressed import ByDegree, PackedRows
from hopwave.engines.cuda.launch import C_TYPES, NULL, WARP, kernels
from hopwave.engines.cuda.records import filled, record
from hopwave.errors import EngineError
from hopwave.generate import counter
from hopwave.generate.recursive import GRAPH500, cell_borders

HEADER = "generate/kronecker.cuh"
RECIPE = record(HEADER, "Recipe", "u64 start", "u64 multiply[4] add[4]", "u32 borders[3]", "i32 scale")
ROUNDS = 4  # rounds of the permutation of ids
MOST_SCALE = 30  # maximum scale: ids have 31 bits, and n itself must fit
# Upper bounds on the bytes for the rows, a search with predecessors and its validation.
BYTES_PER_ARC = 4.1  # a neighbour, and lists of the pieces that long rows are cut into
BYTES_PER_VERTEX = 72  # offset 8, degree 6, hub 4, queue 4, number and id 8, result 16, bitmaps 1, validation 25
PACKED_PER_VERTEX = 44  # bytes per vertex with packed rows: a result is validated in ranges of rows
DRAWN_ARCS = 1 << 27, 3 << 29  # minimum and maximum arcs that are drawn, sorted and packed at a time
SPARE = 1 << 32  # bytes that stay free while rows are packed
PACKING = 20  # bytes per vertex while rows are packed
CHECKED_ROWS = 1 << 26  # rows that are validated at a time
BUILDING = 48, 24  # peak while building: bytes per vertex, bytes per arc of one sorted part


def recipe(scale, seed):
    made = filled(RECIPE)
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
    kernels()(HEADER, "draw_edges", count, *arguments, shape=C_TYPES[np.dtype(id_type)])
    return source, target


def packed_bits(scale, edge_factor):
    """Approximate bits per arc in packed rows; measured at scales 16 to 20, plus a margin."""
    return max(4.0, 7.4 + 0.6 * scale - math.log2(edge_factor))


def bytes_needed(scale, edge_factor, compressed=False):
    """Bytes on the GPU to build a graph of this scale, search it with predecessors, and validate the result.

    >>> [round(bytes_needed(scale, 16) / 2**30) for scale in (26, 29, 30)]
    [14, 102, 203]
    >>> round(bytes_needed(30, 16, compressed=True) / 2**30)
    130
    """
    n, arcs = 1 << scale, 2 * edge_factor << scale
    if compressed:
        rows = int(arcs * packed_bits(scale, edge_factor) / 8)
        return max(BUILDING[0] * n, rows + beside_packed(scale, edge_factor))
    building = BUILDING[0] * n + BUILDING[1] * min(arcs, policy.SORTED_ARCS)
    return int(arcs * BYTES_PER_ARC) + max(building, BYTES_PER_VERTEX * n)


def beside_packed(scale, edge_factor):
    """Bytes on the GPU besides packed rows, while they are built or searched."""
    building = PACKING * (1 << scale) + BUILDING[1] * min(2 * edge_factor << scale, DRAWN_ARCS[0])
    return max(building, PACKED_PER_VERTEX << scale)


def must_pack(scale, edge_factor):
    return bytes_needed(scale, edge_factor) > buffers.free_memory()


class Rows:
    """A Graph500 graph on the GPU, with the fields that search/workspace.Workspace reads. It is undirected.

    vertices: 2^scale. n: number of rows; isolated vertices share one. by_degree: if False, rows in the order of ids.
    compressed: whether rows are packed; None: only if they do not fit otherwise. memory_limit: bytes of packed rows on
    the GPU, by default the free memory; the other rows are read from host memory.
    """

    graph = None
    directed = False

    def __init__(self, scale, edge_factor, seed, by_degree=True, compressed=None, memory_limit=None):
        n, count = 1 << scale, edge_factor << scale
        if scale > MOST_SCALE:
            raise EngineError(
                f"scale {scale} has ids of more than 31 bits, which one GPU does not support; use a scale up to "
                f"{MOST_SCALE}, several ranks (mpiexec -n 4 hopwave graph500 ...), or device='cpu'"
            )
        if compressed is None:
            compressed = by_degree and must_pack(scale, edge_factor)
        needed, free = bytes_needed(scale, edge_factor, compressed), buffers.free_memory()
        if compressed and memory_limit is None and needed > free:
            memory_limit = max(0, free - beside_packed(scale, edge_factor))
        if memory_limit is not None:
            needed = max(BUILDING[0] * n, beside_packed(scale, edge_factor))
        buffers.require(
            needed,
            f"a Kronecker graph of scale {scale} with edge factor {edge_factor}",
            "use a smaller scale, or several GPUs (mpiexec -n 4 hopwave graph500 ...)",
        )  # fmt: skip
        made = recipe(scale, seed)
        self.vertices, self.m, self.edges = n, 2 * count, count
        self.degrees = cupy.zeros(n, np.uint32)
        _launch("count_ends", count, made, np.int64(count), self.degrees)
        self.numbering, numbers, self.ids = None, NULL, NULL
        if by_degree:
            self.numbering = ByDegree(self.degrees)
            numbers, self.ids = self.numbering.numbers, self.numbering.ids
            self.degrees = self.degrees[self.ids]
        self.n = len(self.degrees)
        self.offsets = build.offsets_of(self.degrees, self.n, np.int64)
        self._recipe, self.packed = made, None
        if compressed:
            self._pack(numbers, memory_limit)
        else:
            self.neighbours = cupy.empty(self.m, np.int32)
            filled = cupy.zeros(self.n, np.uint32)
            _launch("fill_rows", count, made, np.int64(count), numbers, self.offsets, filled, self.neighbours)
            del filled
            if by_degree:
                build.by_degree(self.offsets, self.neighbours, out=self.neighbours)
        cupy.cuda.get_current_stream().synchronize()
        self.in_offsets, self.in_neighbours = self.offsets, self.neighbours
        self.longs = rank.long_rows(self.offsets)
        self.kept = {}

    def _pack(self, numbers, limit):
        """Draw the edges again for every range of rows; sort and pack its arcs."""
        self.packed = PackedRows(self.m, limit)
        coming = self.m * packed_bits(self.vertices.bit_length() - 1, self.edges // self.vertices) / 8
        at_once = int(buffers.free_memory() - coming - SPARE) // BUILDING[1]
        at_once = max(DRAWN_ARCS[0], min(DRAWN_ARCS[1], at_once))
        for first, last, begin, end in build.stretches(self.offsets, self.m, at_once):
            keys, filled = cupy.empty(end - begin, np.uint64), cupy.zeros(1, np.uint64)
            rows = np.int64(first), np.int64(last)
            _launch("draw_keys", self.edges, self._recipe, np.int64(self.edges), numbers, *rows, keys, filled)
            self.packed.add_keys(keys)
        self.neighbours = self.packed.finish().heads
        self.offsets = self.offsets.view(np.uint64)

    def row(self, number):
        begin, end = self.offsets[number : number + 2].tolist()
        return self.neighbours[begin:end] if self.packed is None else self.packed.unpacked(begin, end)

    @property
    def bytes(self):
        return self.offsets.nbytes + (self.neighbours.nbytes if self.packed is None else self.packed.bytes)

    def check(self):
        sums = cupy.zeros(2, np.uint64)
        _launch("sum_edges", self.edges, self._recipe, np.int64(self.edges), sums)
        given = self.offsets, self.neighbours, self.ids, np.int64(self.n), sums[1:]
        kernels()(HEADER, "sum_rows", WARP * self.n, *given, shape="int" if self.packed is None else rank.PACKED)
        listed, stored = sums.tolist()
        if listed != stored:
            raise EngineError("the graph on the GPU differs from the edges drawn; please report this bug")

    def edges_within(self, reached):
        """The number of input edges between two reached vertices; `reached[id]` is True or False."""
        return int((self.degrees * reached[self.ids]).sum(dtype=np.int64)) // 2

    def check_answer(self, levels, parent):
        """rank.check for a result by id: how often each rule is violated, and which vertices have their parent."""
        linked, levels, wrong = cupy.zeros(self.vertices, np.uint8), levels[self.ids], 0
        for first in range(0, self.n, CHECKED_ROWS):
            last = min(self.n, first + CHECKED_ROWS)
            ids, mine = self.ids[first:last], cupy.zeros(last - first, np.uint8)
            parents = parent[ids]
            parents = self.numbering.numbers_of(cupy.where(parents == ids, -1, parents))
            longs = self.longs[(self.longs >= first) & (self.longs < last)] - first
            given = self.offsets[first : last + 1], self.neighbours, levels[first:last], levels, parents, mine, longs
            wrong = wrong + rank.check(*given, None if self.packed is None else rank.PACKED)[:, 0]
            linked[ids] = mine
        return wrong.tolist(), linked


def _launch(name, work, *arguments):
    kernels()(HEADER, name, work, *arguments, shape="int")
