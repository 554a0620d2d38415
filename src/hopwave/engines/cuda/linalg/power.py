"""Power iterations on the GPU, all rounds in one cooperative launch (kernels/linalg/power.cuh)."""

import struct

import cupy
import numpy as np

from hopwave.algebra.matrix import Matrix, _Store
from hopwave.engines.cuda import build, nvrtc, renumber
from hopwave.engines.cuda import shortest_paths as paths
from hopwave.engines.cuda.build import greatest_length
from hopwave.engines.cuda.compressed import uploaded
from hopwave.engines.cuda.launch import C_TYPES, NULL, WARP, PreparedLaunch, expression, kernels, offset_type, truth
from hopwave.engines.cuda.linalg.scratch import Pending, stream_scratch
from hopwave.engines.cuda.policy import POWER
from hopwave.engines.cuda.records import address, filled, record
from hopwave.errors import EngineError
from hopwave.graph.csr import Rows
from hopwave.planning.jobs import PowerEnd, PowerJob, ShortestPathsJob

HEADER = "linalg/power.cuh"
THREADS, BLOCKS = 1024, 1  # POWER_THREADS per block and POWER_BLOCKS per multiprocessor in the kernels
KINDS = 7  # TILE_KINDS in the kernels: pieces of cut rows; rows with 32, 16, 8, 4, 2 threads and 1 thread each
ROW_BOUNDS = (6, 12, 24, 48, 96)  # maximum entries of a row for 1, 2, 4, 8, 16 threads: AHEAD per thread
MOST_ROUNDS = np.iinfo(np.int64).max
OTHER_SHARED = 2048  # bytes of shared memory that a block needs for its sums
MOST_LAUNCHES = 64  # maximum number of launches cached with a matrix: streams × kernels

DEALT = record(
    HEADER, "DealtRows<int>", "ptr offsets columns values order piece_row first_piece inverse",
    "i64 n cut_rows piece together hot", f"i64 tiles[{KINDS}]", f"i64 rows[{KINDS + 1}]",
)  # fmt: skip
POWERS = record(
    HEADER, "Powers", "ptr start base dead base_row dead_row x out even odd partial brought sums slots host",
    "f64 start_all base_all dead_all factor enough", "i64 most_rounds", "u64 meeting",
)  # fmt: skip
PACKED = struct.Struct("".join({"u": "Q", "f": "d", "i": "q"}[POWERS[name].kind] for name in POWERS.names))


def iterate(A, job):
    """See hopwave.engines.Algebra.power_iteration."""
    begun = begin(A, job)
    if begun is None:
        return None
    out, pending = begun
    rounds, change, _ = pending.wait()
    pending.scratch.meeting += rounds + 2  # at least the number of barriers that took place
    return PowerEnd(out, rounds, float(np.uint64(change).view(np.float64)))


def product(x, A, rounds=1):
    """x · A, or x · A · A …, without waiting; None if `iterate` would return None."""
    begun = begin(A, PowerJob(x, 0.0, rounds))
    if begun is None:
        return None
    out, pending = begun
    pending.scratch.meeting += rounds + 2
    return out


def begin(A, job):
    """Launch a power iteration; returns its result and pending counts, or None if one launch is not possible."""
    if not A.nnz:
        return None
    try:
        dealt = dealt_columns(A, job)
    except (cupy.cuda.memory.OutOfMemoryError, EngineError):
        return None  # too large to copy; products need no copy
    narrow = dealt.is_narrow(job)
    kernel, fit = dealt.kernel(job)
    if not fit:
        return None
    here, n, grid, sorted_rows = stream_scratch(), dealt.n, min(dealt.blocks, fit), dealt.order is not None
    out, pending = cupy.empty(n, np.float64), Pending(here)
    take, cut_rows = here.take, dealt.cut_rows
    numbers = dict.fromkeys(POWERS.names, 0)
    numbers.update(
        out=out.data.ptr, x=take("power x", n, np.float64).data.ptr if sorted_rows else out.data.ptr,
        even=take("power even", n, np.float64).data.ptr, odd=take("power odd", n, np.float64).data.ptr,
        slots=take("power slots", 8 * grid, np.uint64, fill=0).data.ptr, host=int(pending.address),
        factor=job.factor, enough=job.enough, most_rounds=int(min(job.max_iter, MOST_ROUNDS)), meeting=here.meeting,
    )  # fmt: skip
    if cut_rows:
        numbers.update(
            partial=take("power partial", dealt.pieces, np.float64).data.ptr,
            brought=take("power brought", cut_rows, np.uint32, fill=0).data.ptr,
            sums=take("power sums", 4 * cut_rows, np.float64).data.ptr,
        )
    for name in ("start", "base", "dead"):
        given = getattr(job, name)
        if isinstance(given, float):
            numbers[f"{name}_all"] = given
            continue
        numbers[name] = given.data.ptr
        if name != "start":
            rows = take(f"power {name}", n, np.float64) if sorted_rows else given
            numbers[f"{name}_row"] = rows.data.ptr
    inverse = None if job.totals is None else dealt.inverse(A, job.totals)
    launch = dealt.launch(kernel, grid, here, inverse, narrow)
    launch.record("powers", np.frombuffer(PACKED.pack(*numbers.values()), np.uint8))
    launch()
    return out, pending


class Dealt:
    """The columns of a matrix (the arcs into each vertex) as tiles of the kernel; order: ids of packed rows."""

    def __init__(self, part: Rows, m: int, job: PowerJob, order=None):
        attributes = cupy.cuda.Device().attributes
        self.can_launch = bool(attributes["CooperativeLaunch"])
        blocks = BLOCKS * attributes["MultiProcessorCount"]
        self.n, self.m = len(part.indptr) - 1, m
        # Maximum entries of a row that is not cut into pieces: an equal share of all entries per warp.
        self.cut = max(POWER.least_cut, self.m // (blocks * (THREADS // WARP)))
        self.order, piece_row, first_piece = order, None, None
        self.pieces = self.hot = 0
        values = None if part.values is None else part.values.astype(np.float64, copy=False)
        self.offsets, self.columns, self.values = part.indptr, part.indices, values
        short = order is None and greatest_length(kernels(offset_type(part.indptr)), part.indptr) <= POWER.short_row
        if not short and self.m >= POWER.hot_arcs * blocks:
            room = (attributes["MaxSharedMemoryPerBlockOptin"] - OTHER_SHARED) // 8
            self.hot = max(0, min(self.n, POWER.hot, room))
        offset = offset_type(part.indptr)
        copied = order is None and not short
        sorted_offset = C_TYPES[np.dtype(build.offset_dtype(self.m))] if copied else offset
        inverts = [] if job.totals is None else [expression(HEADER, "invert", offset)]
        nvrtc.begin(HEADER, [self.instance(job, sorted_offset), *inverts])  # while rows are being sorted
        if short:
            rows = unsorted_rows(self.n, self.m)
            self.order_by_distance()
        else:
            rows = self.sort()
            lengths = np.diff(self.offsets[: rows[1] + 1].get().astype(np.int64))
            piece_row, first_piece = pieces_of(lengths, self.cut // 2)
            self.pieces = len(piece_row)
        self.cut_rows, self.tiles = rows[1], tiles_of(rows, self.pieces)
        self.blocks = max(1, min(blocks, -(-self.tiles[-1] * WARP // THREADS)))
        self.arrays = [None if array is None else cupy.asarray(array) for array in (piece_row, first_piece)]
        self.record = filled(
            DEALT, offsets=self.offsets, columns=self.columns, values=self.values, order=self.order,
            piece_row=self.arrays[0], first_piece=self.arrays[1], n=self.n, cut_rows=self.cut_rows,
            piece=self.cut // 2, together=short, hot=self.hot, tiles=self.tiles, rows=rows,
        )  # fmt: skip
        self.kept, self.launches = {}, {}

    def order_by_distance(self):
        """Copy the matrix with rows numbered by distance from the first row, if neighbours are then close in memory."""
        launch, offsets = kernels(offset_type(self.offsets)), self.offsets
        if self.n < POWER.order_vertices:
            return
        if renumber.neighbours_near(launch, offsets, self.columns, POWER.near) >= POWER.near_share:
            return
        distance = hops(Rows(offsets, self.columns, None))
        if renumber.farthest(launch, distance, distance)[1] < POWER.deep:
            return
        self.order, rank, lengths = renumber.morton_order(launch, (distance, distance), offsets)
        moved = renumber.moved_rows(launch, offsets, self.columns, self.order, rank, lengths)
        if self.values is not None:
            self.values = self.values[renumber.old_places(launch, self.order, moved[0], offsets, self.m)]
        self.offsets, self.columns = moved

    def sort(self):
        """Copy the matrix with rows sorted by length, if they are not. Returns the first row of each kind of tile."""
        launch, offsets = kernels(offset_type(self.offsets)), self.offsets
        keys, longer = cupy.empty(self.n, np.uint64), cupy.zeros(KINDS - 1, np.uint64)
        launch(HEADER, "length_keys", self.n, offsets, np.uint64(self.n), np.uint64(self.cut), keys, longer)
        if self.order is not None:
            return [0, *longer.get().tolist(), self.n]
        self.order, rank = build.ranks_of(keys)
        tails, heads = cupy.empty(self.m, np.int32), cupy.empty(self.m, np.int32)
        arcs = offsets, self.columns, np.int64(self.n), rank, tails, heads
        launch(HEADER, "number_arcs", WARP * self.n, *arcs)
        moved = build.rows_of(tails, heads, self.n, symmetric=False, merge=False, weights=self.values)
        self.offsets, self.columns, self.values = moved
        return [0, *longer.get().tolist(), self.n]

    def is_narrow(self, job):
        return self.hot > 0 and self.values is None and not job.normed and job.enough >= POWER.narrow_change

    def instance(self, job, offset):
        word = "float" if self.is_narrow(job) else "double"
        return expression(HEADER, "power", offset, truth(self.values is not None), truth(job.normed), word)

    def kernel(self, job):
        if not self.can_launch:
            return None, 0
        return nvrtc.cooperative(HEADER, self.instance(job, offset_type(self.offsets)), THREADS)

    def launch(self, kernel, grid, here, inverse, narrow):
        """The launch of a kernel on this matrix, in one stream; narrow: w is in float32."""
        key = kernel.handle, grid, here, inverse is None
        found = self.launches.get(key)
        if found is None:
            if len(self.launches) >= MOST_LAUNCHES:
                self.launches.clear()
            rows, shared = self.record.copy(), 8 * self.hot
            if narrow:
                rows["hot"] = min(self.n, 2 * self.hot)
            if inverse is not None:
                rows["inverse"] = address(inverse)
            kernel.allow_shared(shared)
            blank = np.zeros(1, POWERS)
            found = PreparedLaunch(kernel, grid, THREADS, shared, rows=rows, powers=blank)
            self.launches[key] = found
        return found

    def inverse(self, A, totals):
        """1 / the sum of each vertex's out-weights, 0 for dead ends, in the order of rows; cached."""
        if "inverse" not in self.kept:
            packed, made = getattr(A, "packed", None), cupy.empty(self.n, np.float64)
            offsets = A.rows.indptr if packed is None else packed.offsets
            total = totals() if A.has_values else NULL
            order = NULL if self.order is None or packed is not None else self.order
            kernels(offset_type(offsets))(HEADER, "invert", self.n, offsets, total, order, np.uint64(self.n), made)
            self.kept.setdefault("inverse", made)  # the first array stays: other threads' launches may use its address
        return self.kept["inverse"]


def hops(rows):
    """The distance of every vertex from the first, as int32; -1 if no path exists."""
    arcs = paths.Arcs(rows)
    buffers = paths.Buffers(arcs)
    paths.launch(arcs, buffers, ShortestPathsJob((0,)), arcs.width, trace=False)
    return buffers.whole.view(np.int32)  # no path: all bits are set, which is -1


def unsorted_rows(n, m):
    """The first row of each kind of tile, if the mean length decides the number of threads for every row.

    >>> unsorted_rows(100, 600), unsorted_rows(100, 700)
    ([0, 0, 0, 0, 0, 0, 0, 100], [0, 0, 0, 0, 0, 0, 100, 100])
    """
    kind = KINDS - 1 - int(np.searchsorted(ROW_BOUNDS, m / n))
    return [0] * (kind + 1) + [n] * (KINDS - kind)


def tiles_of(rows, pieces):
    """For each kind of tile, the number of tiles up to and including it; rows: the first row of each kind, and n.

    >>> tiles_of([0, 2, 5, 5, 5, 5, 5, 70], 9)
    [9, 12, 12, 12, 12, 12, 15]
    """
    tiles = [pieces]
    for kind in range(1, KINDS):
        tiles.append(tiles[-1] + -(-(rows[kind + 1] - rows[kind]) // (1 << (kind - 1))))
    return tiles


def pieces_of(lengths, piece):
    """(the row of every piece; the first piece of every row, and the end), as int32.

    >>> [array.tolist() for array in pieces_of(np.array([30, 11]), 10)]
    [[0, 0, 0, 1, 1], [0, 3, 5]]
    """
    pieces = -(-lengths // piece)
    first = np.concatenate([[0], np.cumsum(pieces)]).astype(np.int32)
    return np.repeat(np.arange(len(lengths), dtype=np.int32), pieces), first


def dealt_columns(A, job):
    """The tiles of A's columns, cached with A; the first job's kernel is compiled while the tiles are built."""

    def made():
        packed = getattr(A, "packed", None)
        if packed is None:
            return Dealt(A.columns, A.nnz, job)
        return Dealt(Rows(packed.in_offsets, packed.in_neighbours, None), A.nnz, job, packed.numbering.ids)

    return A._prepared.made((Dealt, A._turned), made)


# ---------------------------------------------------------------- packed rows


class PackedMatrix(Matrix):
    """A pattern. Code that cannot read packed rows uses `rows` or `columns`, which uploads the plain rows."""

    __slots__ = ("nnz", "packed", "plain")
    device, dtype, has_values = "cuda", np.dtype(np.bool_), False

    def __init__(self, plain, packed):
        super().__init__(_Store(plain.shape, None, None))
        self.plain, self.packed, self.nnz = plain, packed, plain.nnz

    T = property(lambda self: self.plain.to("cuda").T)

    def pattern(self):
        return self

    def _any(self):
        return self.plain.to("cuda")._any()

    def _part(self, columns):
        return self.plain.to("cuda")._part(columns)


def matrix_of(graph, A):
    """A, the matrix of this graph; a PackedMatrix if it has no values and the graph's rows are packed, or must be."""
    if A.has_values or A.device == "cuda" or not graph.m:
        return A
    packed = uploaded(graph).compressed
    if packed is None:
        return A
    return graph._prepared.find(PackedMatrix) or graph._prepared.keep(PackedMatrix(A, packed))
