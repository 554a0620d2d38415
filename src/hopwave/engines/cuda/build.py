"""Sorted rows from edges on the GPU, part by part, in little more memory than the rows need (kernels/build/rows.cuh).

CuPy's binding to Thrust, which is already compiled, sorts the keys of each part.
"""

from itertools import pairwise

import cupy
import numpy as np

from hopwave.arrays import fetched, is_on_gpu
from hopwave.checks.numbers import whole_numbers
from hopwave.engines.cuda import buffers, nvrtc, policy
from hopwave.engines.cuda.launch import BLOCK, C_TYPES, NULL, TILE, WARP, expression, kernels, offset_type, together
from hopwave.engines.cuda.policy import LEAST_ARCS, PARTS, SORTING, SORTING_WEIGHTED
from hopwave.errors import EngineError, GraphError
from hopwave.graph.columns import as_column
from hopwave.graph.csr import Conflict, Rows

HEADER, ARCS, STATE = "build/rows.cuh", "build/arcs.cuh", "steps/state.cuh"
BUCKETS = 4096  # kernels/build/rows.cuh
KEEP, MERGE, SAME, MIN, MAX, SUM, FIRST = range(7)  # kernels/build/rows.cuh
COMBINE = {None: SAME, "min": MIN, "max": MAX, "sum": SUM, "first": FIRST}
PER_BLOCK = 4 * BLOCK  # items that a block processes in one iteration
ASK_FROM = 1 << 27  # minimum arcs for checking free memory first
SPARE = 0.125  # maximum unused share of an array behind the rows (room for repeats); above it, rows are copied


def launch(name, kind, blocks, *arguments):
    kernels().get(HEADER, name, kind)((int(blocks),), (BLOCK,), arguments)


def grid_for(items, per_block):
    return max(1, min(kernels().blocks, -(-items // per_block)))


def column(values, name):
    """A column of any library as a CuPy array: used in place if it is on this GPU, otherwise uploaded."""
    if not is_on_gpu(values):
        return uploaded(np.ascontiguousarray(as_column(values, name)))
    if hasattr(values, "null_count") and values.null_count:  # cuDF
        raise GraphError(f"{name} has {values.null_count} missing values; drop the rows without a value")
    array = cupy.asarray(values) if hasattr(values, "__cuda_array_interface__") else cupy.from_dlpack(values)
    if array.ndim != 1:
        raise GraphError(f"{name} has {array.ndim} dimensions; pass one column")
    if name not in ("src", "dst"):
        return cupy.ascontiguousarray(array)
    if array.dtype.kind not in "iu":
        return uploaded(whole_numbers(cupy.asnumpy(array), name))
    if array.dtype == np.uint64 and len(array) and int(array.max()) >= 2**63:
        raise GraphError(f"{name} contains {int(array.max())}, which exceeds 63 bits; renumber sparse ids first")
    kind = np.int32 if array.dtype.itemsize < 4 or array.dtype == np.int32 else np.int64
    return cupy.ascontiguousarray(array.astype(kind, copy=False))


def uploaded(array):
    """A copy of a host array on the GPU; ids narrower than 32 bits are widened."""
    if array.dtype.kind in "iu" and array.dtype not in (np.int32, np.int64):
        array = array.astype(np.int32 if array.dtype.itemsize < 4 else np.int64)
    there = cupy.empty(array.shape, array.dtype)
    there.data.copy_from_host(array.ctypes.data, array.nbytes)
    return there


to_host = fetched


def extent(*columns):
    found = cupy.asarray(np.array([np.iinfo(np.int64).max, np.iinfo(np.int64).min], np.int64))
    for column in columns:
        if len(column):
            blocks = grid_for(len(column), BLOCK)
            launch("extent", C_TYPES[column.dtype], blocks, column, np.uint64(len(column)), found)
    least, greatest = found.get().tolist()
    return (0, -1) if greatest < least else (least, greatest)


def first_nan(weights):
    found = cupy.asarray(np.array([len(weights)], np.uint64))
    if len(weights):
        blocks = grid_for(len(weights), BLOCK)
        launch("find_nan", C_TYPES[weights.dtype], blocks, weights, np.uint64(len(weights)), found)
    place = int(found.get()[0])
    return place if place < len(weights) else None


def rows_of(source, target, n, *, symmetric, merge, weights=None, combine=None):
    """Sorted rows, as from `hopwave.graph.csr.rows_of`; ids are int32 or int64, from 0 to n − 1."""
    edges = len(source)
    if weights is not None and edges >= 1 << 32:
        raise EngineError(f"{edges:,} weighted edges exceed what the GPU can sort; use device='cpu'")
    if source.dtype != target.dtype:
        source, target = (column.astype(np.int64, copy=False) for column in (source, target))
    kind = C_TYPES[source.dtype]
    rule = np.int32((MERGE if weights is None else COMBINE[combine]) if merge else KEEP)
    begin_rows_of(kind, None if weights is None else C_TYPES[weights.dtype], edges * (1 + symmetric))
    grid = grid_for(edges, PER_BLOCK)
    columns = (source, target, np.uint64(edges), np.int32(symmetric))
    shift = max(0, max(n - 1, 0).bit_length() - BUCKETS.bit_length() + 1)
    counts = cupy.zeros(BUCKETS, np.uint64)
    launch("count_buckets", kind, grid, *columns, np.int32(shift), counts)
    arcs_in = counts.get().astype(np.int64)
    arcs = int(arcs_in.sum())
    cuts = parts(arcs_in, arcs)
    if arcs >= ASK_FROM:
        needed = bytes_needed(n, arcs_in, cuts, 0 if weights is None else weights.dtype.itemsize)
        buffers.require(needed, f"sorting {arcs:,} arcs into rows", "free GPU arrays of your own")
    bits = np.int32(max(1, max(n - 1, 0).bit_length()))
    degrees = cupy.zeros(n, np.uint32)
    neighbours = cupy.empty(arcs, np.int32)
    kept_weights = None if weights is None else cupy.empty(arcs, weights.dtype)
    conflict = cupy.asarray(np.array([arcs], np.uint64))
    begins = cupy.empty(grid + 1, np.uint64)
    size = 0
    for first, last in cuts:
        rows = (np.int64(first << shift), np.int64(min(n, last << shift)))
        launch("count_part", kind, grid, *columns, *rows, begins)
        launch("scan", "int", 1, begins, np.uint64(grid))
        here = int(arcs_in[first:last].sum())
        keys = cupy.empty(here, np.uint64)
        edge = None if weights is None else cupy.empty(here, np.uint32)
        launch("write_part", kind, grid, *columns, *rows, bits, begins, keys, NULL if edge is None else edge)
        order = NULL
        if weights is None:
            keys.sort()
        else:
            order = keys.argsort()
        share = grid_for(here, PER_BLOCK)
        kept = cupy.empty(share + 1, np.uint64)
        launch("count_kept", "int", share, keys, order, np.uint64(here), rule, kept)
        launch("scan", "int", 1, kept, np.uint64(share))
        arguments = (keys, order, np.uint64(here), rule)
        launch("write_kept", "int", share, *arguments, bits, rows[0], kept, np.uint64(size), neighbours, degrees)
        if weights is not None:
            launch(
                "write_weights", C_TYPES[weights.dtype], share, *arguments, kept, np.uint64(size), edge, weights,
                kept_weights, conflict,
            )  # fmt: skip
        size += here if rule == KEEP else int(kept[share : share + 1].get()[0])
        del keys, edge, order, kept, arguments
    rows = Rows(offsets_of(degrees, n, offset_dtype(size)), trimmed(neighbours, size), trimmed(kept_weights, size))
    place = int(conflict.get()[0])
    if place < arcs:
        row = int(np.searchsorted(cupy.asnumpy(rows.indptr), place, side="right")) - 1
        raise Conflict(row, int(rows.indices[place]))
    return rows


def begin_rows_of(kind, weight, arcs):
    names = [expression(HEADER, name, kind) for name in ("count_buckets", "count_part", "write_part")]
    names += [expression(HEADER, name, "int") for name in ("scan", "count_kept", "write_kept", "sum_degrees")]
    names.append(expression(HEADER, "write_offsets", C_TYPES[np.dtype(offset_dtype(arcs))]))
    nvrtc.begin(HEADER, names if weight is None else [*names, expression(HEADER, "write_weights", weight)])


def tails(rows):
    return arc_rows(rows.indptr, len(rows.indices))


def arc_rows(offsets, arcs):
    """The row of every arc, counted from the first of these rows."""
    count, found = len(offsets) - 1, cupy.empty(arcs, np.int32)
    kernels(offset_type(offsets))(STATE, "arc_rows", WARP * count, offsets, np.int32(count), found)
    return found


def induced(rows, vertices):
    """The rows of these vertices (ascending, without repeats) with the arcs between them, renumbered 0, 1, 2, …"""
    offsets, neighbours, weights = rows
    launch, count = kernels(offset_type(offsets)), len(vertices)
    chosen = cupy.asarray(vertices).astype(np.int32)
    numbers = cupy.full(len(offsets) - 1, -1, np.int32)
    numbers[chosen] = cupy.arange(count, dtype=np.int32)
    inside = offsets, neighbours, chosen, np.uint64(count), numbers
    degrees = cupy.empty(count, np.uint32)
    launch(ARCS, "count_inside", WARP * count, *inside, degrees)
    places = offsets_of(degrees, count, offsets.dtype)
    arcs = int(places[-1])
    found = cupy.empty(arcs, np.int32)
    kept = None if weights is None else cupy.empty(arcs, weights.dtype)
    size = np.int32(0 if weights is None else weights.itemsize)
    both = (NULL, NULL) if weights is None else (weights, kept)
    launch(ARCS, "write_inside", WARP * count, *inside, places, found, size, *both)
    return Rows(places.astype(offset_dtype(arcs), copy=False), found, kept)


def ranks_by_degree(offsets):
    n = len(offsets) - 1
    keys = cupy.empty(n, np.uint64)
    launch("degree_keys", C_TYPES[offsets.dtype], grid_for(n, BLOCK), offsets, np.uint64(n), keys)
    return ranks_of(keys)


def ranks_of(keys):
    """Sorts keys, whose lower halves are vertices. Returns the vertices in this order, and each vertex's rank."""
    n = len(keys)
    order, rank = cupy.empty(n, np.int32), cupy.empty(n, np.int32)
    keys.sort()
    launch("ranks", "int", grid_for(n, BLOCK), keys, np.uint64(n), order, rank)
    return order, rank


def by_degree(offsets, neighbours, out=None):
    """Each row's neighbours by descending length of the neighbour's row, ties by number."""
    kind = C_TYPES[offsets.dtype]
    order, rank = ranks_by_degree(offsets)
    arranged = cupy.empty_like(neighbours) if out is None else out
    for first, last, begin, end in stretches(offsets, len(neighbours)):
        keys = cupy.empty(end - begin, np.uint64)
        rows = (np.int64(first), np.int64(last))
        launch("rank_keys", kind, grid_for(WARP * (last - first), BLOCK), offsets, neighbours, *rows, rank, keys)
        keys.sort()  # by row, then by rank
        count = np.uint64(end - begin)
        launch("neighbours_of_ranks", kind, grid_for(end - begin, BLOCK), keys, count, order, arranged[begin:end])
    return arranged


def stretches(offsets, arcs, size=None):
    """Ranges of rows [first, last) and their arcs [begin, end), about `size` (policy.SORTED_ARCS) arcs each."""
    rows, size, xp = len(offsets) - 1, size or policy.SORTED_ARCS, cupy.get_array_module(offsets)
    if arcs <= size:
        return [(0, rows, 0, arcs)]
    cuts = xp.searchsorted(offsets, xp.arange(size, arcs, size, dtype=offsets.dtype)).tolist()
    cuts = list(dict.fromkeys([0, *cuts, rows]))
    starts = offsets[xp.asarray(cuts)].tolist()
    return [(*pair, *where) for pair, where in zip(pairwise(cuts), pairwise(starts), strict=True)]


def parts(arcs_in, arcs):
    most = max(LEAST_ARCS, -(-arcs // PARTS))
    cuts, filled = [0], 0
    for bucket, count in enumerate(arcs_in.tolist()):
        if filled and filled + count > most:
            cuts.append(bucket)
            filled = 0
        filled += count
    return [pair for pair in pairwise([*cuts, len(arcs_in)]) if arcs_in[slice(*pair)].any()]


def bytes_needed(n, arcs_in, cuts, weight):
    """Bytes on the GPU besides the edges: the rows, and the largest part while it is sorted; weight: bytes each."""
    largest = max((int(arcs_in[first:last].sum()) for first, last in cuts), default=0)
    return 12 * n + int(arcs_in.sum()) * (4 + weight) + largest * (SORTING_WEIGHTED if weight else SORTING)


def offset_dtype(arcs):
    return np.int64 if arcs > np.iinfo(np.int32).max else np.int32


def offsets_of(degrees, n, offset):
    offsets = cupy.empty(n + 1, offset)
    tiles = max(1, -(-n // TILE))
    sums = cupy.zeros(tiles + 1, np.uint64)
    blocks = grid_for(tiles, 1)
    launch("sum_degrees", "int", blocks, degrees, np.uint64(n), sums)
    launch("scan", "int", 1, sums, np.uint64(tiles if n else 0))
    launch("write_offsets", C_TYPES[np.dtype(offset)], blocks, degrees, np.uint64(n), sums, offsets)
    return offsets


def trimmed(array, size):
    """The first `size` items; copied if much memory behind them would stay unused."""
    if array is None or len(array) - size <= SPARE * size:
        return None if array is None else array[:size]
    exact = cupy.empty(size, array.dtype)
    exact.data.copy_from_device_async(array.data, exact.nbytes)
    return exact


# ---------------------------------------------------------------- the lengths of rows

together(HEADER, "greatest_length", "find_long", "rows_of_keys")


def greatest_length(launch, offsets):
    """The length of the longest row; 0 without rows."""
    n, greatest = len(offsets) - 1, cupy.zeros(1, np.uint64)
    launch(HEADER, "greatest_length", n, offsets, np.uint64(n), greatest)
    return int(greatest.get()[0])


def long_rows(launch, offsets, arcs, length):
    """The rows of more than `length` arcs, the longest first; `arcs` is the total number of arcs."""
    n = len(offsets) - 1
    most = min(n, arcs // (length + 1))
    if not most:
        return cupy.empty(0, np.int32)
    keys, count = cupy.empty(most, np.uint64), cupy.zeros(1, np.uint64)
    launch(HEADER, "find_long", n, offsets, np.uint64(n), np.uint64(length), keys, count)
    keys = keys[: int(count.get()[0])]
    if len(keys):
        keys.sort()
    rows = cupy.empty(len(keys), np.int32)
    launch(HEADER, "rows_of_keys", len(keys), keys, np.uint64(len(keys)), rows)
    return rows
