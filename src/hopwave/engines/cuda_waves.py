"""Sequences of masked products on the GPU: all of them in one cooperative launch (kernels/linalg_waves.cuh).

What a matrix needs beside its entries is made once and kept with it: each row's entry in the fullest column, the rows
without any, two bitmaps, a queue. A call then costs Python one launch, and nothing waits for the GPU.
"""

from __future__ import annotations

import cupy
import numpy as np

from hopwave.engines import nvrtc
from hopwave.engines.cuda_graph import NULL
from hopwave.engines.cuda_hopwave import (
    BLOCK,
    COUNTERS_BYTES,
    GRAPH,
    NO_LIMIT,
    SIZES,
    TRACE_COLUMNS,
    TRACE_ROWS,
    WORK,
    Sizes,
)
from hopwave.engines.cuda_rings import c_type, ring_text
from hopwave.engines.cuda_room import Pending, room
from hopwave.linalg.vector import Vector

HEADER = "linalg_waves.cuh"
PATTERN = np.dtype(np.bool_)
PREPARING = 256  # threads a block


def instances(offset):
    """(header, name) of every kernel here, for tests."""
    return [(HEADER, f"waves<hopwave::Ring, {offset}>"), (HEADER, f"fullest<{offset}>")]


def waves(A, x, product, depth_limit, alpha, beta, trace):
    """Levels, values (None where ⊕.⊗ carries none), and what each product was (trace); None where it takes a loop."""
    if not product.add.any_term or not product.structure_only or not A.shape[0]:
        return None
    prepared = A.prepared.get(("waves", A.turned)) or Prepared(A)
    found = kernel_of(product, prepared)
    if found is None:
        return None
    kernel, blocks = found
    here, n, dtype = room(), A.shape[0], product.dtype
    carries = product.term != "one"
    levels, present = cupy.empty(n, np.int32), cupy.empty(n, np.bool_)
    values = cupy.empty(n, dtype) if carries else None
    places, given, only, value = NULL, NULL, -1, dtype.type(0)
    if x.nnz == 1 and x.device == "cpu":  # the usual question, which need not be uploaded
        (only,), (value,) = x.listed()
        value = dtype.type(value)
    else:
        places, given = x.to("cuda").listed()
        given = given.astype(dtype, copy=False) if carries else NULL
    told = Pending(here)
    work, rows = arena(here, n, prepared.m).work, None
    if trace:
        rows = cupy.empty((TRACE_ROWS + 1, TRACE_COLUMNS), np.int64)
    while True:
        if rows is not None:
            work = work.copy()
            work["trace"], work["trace_rows"] = rows.data.ptr, len(rows) - 1
        kernel(
            (blocks,), (BLOCK,),
            (prepared.graph, work, levels, values if carries else NULL, present, places, given, np.int32(only),
             value.view(np.int8) if value.itemsize == 1 else value, np.int32(x.nnz),
             np.int32(NO_LIMIT if depth_limit is None else min(depth_limit, NO_LIMIT)),
             np.float64(alpha), np.float64(beta), told.address),
        )  # fmt: skip
        if rows is None:
            break
        told.again()
        made = told.counts[1]
        if made < len(rows):
            break
        rows = cupy.empty((made + 1, TRACE_COLUMNS), np.int64)  # a deep one: once more, with room for every level
    reached = Vector.dense(levels, present, told.found)
    summed = Vector.dense(values, present.copy(), told.found) if carries else None
    return reached, summed, None if rows is None else rows[:made].tolist()


class Prepared:
    """What a matrix needs for this: its entries both ways, hubs, and which rows have none. Kept with the matrix."""

    def __init__(self, A):
        push, pull = A.columns, A.rows
        n, m = A.shape[0], len(push.indices)
        offset = push.indptr.dtype
        self.m, self.offset = m, c_type(offset)
        self.hub, self.closed = cupy.empty(n, np.int32), cupy.empty(-(-n // 256) * 8, np.uint32)
        self.kept = push, pull = push, pull._replace(indptr=pull.indptr.astype(offset, copy=False))
        findable = cupy.zeros(1, np.uint64)
        fullest = nvrtc.kernel(HEADER, f"fullest<{self.offset}>")
        fullest(
            (min(-(-n // PREPARING), 8 * cupy.cuda.Device().attributes["MultiProcessorCount"]),), (PREPARING,),
            (push.indptr, pull.indptr, pull.indices, np.int64(n), self.hub, self.closed, findable),
        )  # fmt: skip
        arrays = (push.indptr, push.indices, pull.indptr, pull.indices, self.hub, self.closed)
        self.graph = np.zeros(1, GRAPH)
        self.graph[0] = (*(array.data.ptr for array in arrays), n, m, int(findable[0]))
        A.prepared["waves", A.turned] = self


def kernel_of(product, prepared):
    """The kernel for this arithmetic and how many blocks of it to launch; None where not all can be at work at once."""
    kept = product.__dict__.setdefault("_waves", {})
    key = cupy.cuda.runtime.getDevice(), prepared.offset
    if key not in kept:
        attributes, kept[key] = cupy.cuda.Device().attributes, None
        if attributes["CooperativeLaunch"]:
            text = ring_text(product, PATTERN, product.dtype, True)
            kernel, fit = nvrtc.cooperative(HEADER, f"waves<hopwave::Ring, {prepared.offset}>", BLOCK, text)
            if fit:
                kept[key] = kernel, attributes["MultiProcessorCount"]
    return kept[key]


class Arena:
    """Buffers for matrices of up to n rows and m entries, and the kernel's record of them."""

    def __init__(self, n, m):
        self.n, self.m = n, m
        sizes = Sizes(chunk=256 if m < 1 << 30 else 1024)
        bitmaps = cupy.zeros((2, -(-n // 256) * 8), np.uint32)  # as every launch leaves the first of them
        # A long list is cut into at most three pieces for every two halves that it has in full.
        pieces = [3 * (m // sizes.chunk) + 3, 2 * (m // sizes.long_row) + 2]
        chunks, rest = (cupy.empty(16 * count, np.uint8) for count in pieces)
        queue, counters = cupy.empty(n, np.int32), cupy.zeros(COUNTERS_BYTES, np.uint8)
        self.buffers = bitmaps[0], bitmaps[1], queue, chunks, rest, counters
        self.work = np.zeros(1, WORK)
        pointers = (array.data.ptr for array in self.buffers)
        self.work[0] = (*pointers, 0, 0, *(getattr(sizes, name) for name in SIZES))


def arena(here, n, m):
    """The room's, made anew where it is too small."""
    found = here.arena
    if found is None or found.n < n or found.m < m:
        n, m = max(n, found.n if found else 0), max(m, found.m if found else 0)
        here.arena = None  # before the larger one is asked for
        found = here.arena = Arena(n, m)
    return found
