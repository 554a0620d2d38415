"""Sequences of masked products on the GPU: all of them in one cooperative launch (kernels/linalg/waves.cuh), or in two
where every term counts (kernels/linalg/sums.cuh).

What a matrix needs beside its entries is made once and kept with it: each row's entry in the fullest column, the rows
without any, two bitmaps, a queue. A call then costs Python a launch or two, and nothing waits for the GPU.
"""

from __future__ import annotations

import cupy
import numpy as np

from hopwave.engines.cuda import nvrtc
from hopwave.engines.cuda.launch import NULL, expression
from hopwave.engines.cuda.linalg.scratch import Pending, room
from hopwave.engines.cuda.linalg.semiring_source import c_type, ring_text
from hopwave.engines.cuda.search.workspace import (
    BLOCK,
    NO_LIMIT,
    PREPARING,
    LevelBuffers,
    bitmap_words,
    graph_record,
    trace_table,
)
from hopwave.linalg.products import arithmetic
from hopwave.linalg.vector import Vector
from hopwave.semiring import any_pair

HEADER, SUMS = "linalg/waves.cuh", "linalg/sums.cuh"
PATTERN = np.dtype(np.bool_)


def instances(offset):
    """(header, name) of every kernel here, for tests."""
    ring = "hopwave::Ring", offset
    names = (HEADER, "waves", ring), (HEADER, "fullest", (offset,)), (SUMS, "sum_levels", ring)
    return [(header, expression(header, name, *arguments)) for header, name, arguments in names]


def waves(A, x, product, depth_limit, alpha, beta, trace):
    """Levels, values (None where ⊕.⊗ carries none), and what each product was (trace); None where it takes a loop.

    Where every term counts, or A's values do, levels are found over any_pair, and a second launch adds up.
    """
    if not A.shape[0]:
        return None
    prepared = A.prepared.get(("waves", A.turned)) or Prepared(A)
    at_once = product.add.any_term and product.structure_only
    search = product if at_once else arithmetic(any_pair, A, PATTERN, True, None, True, True)
    kernel = kernel_of(HEADER, "waves", search, prepared, None)
    adding = None if at_once else kernel_of(SUMS, "sum_levels", product, prepared, A.rows.values)
    if kernel is None or (adding is None and not at_once):
        return None
    here, n, dtype = room(), A.shape[0], product.dtype
    carries = not (at_once and product.term == "one")
    levels, present = cupy.empty(n, np.int32), cupy.empty(n, np.bool_)
    values = cupy.empty(n, dtype) if carries else NULL
    begun, told = beginning(x, dtype, carries), Pending(here)
    buffers, rows = arena(here, n, prepared.m), trace_table() if trace else None
    while True:
        work = buffers.work if rows is None else buffers.traced(rows)
        kernel(
            (prepared.blocks,), (BLOCK,),
            (prepared.graph, work, levels, values if at_once else NULL, present, *begun(search.dtype),
             np.int32(NO_LIMIT if depth_limit is None else min(depth_limit, NO_LIMIT)),
             np.float64(alpha), np.float64(beta), told.address),
        )  # fmt: skip
        if rows is None:
            break
        told.again()
        made = told.counts[1]
        if made < len(rows):
            break
        rows = trace_table(made)  # a deep one: once more, with a row for every level
    if not at_once:
        part = prepared.pull
        adding(
            (prepared.blocks,), (BLOCK,),
            (part.indptr, part.indices, NULL if part.values is None else part.values, np.int64(n), levels, present,
             values, *begun(dtype), *buffers.order(), told.address),
        )  # fmt: skip
    reached = Vector.dense(levels, present, told.found)
    summed = Vector.dense(values, present.copy(), told.found) if carries else None
    return reached, summed, None if rows is None else rows[:made].tolist()


def beginning(x, dtype, carries):
    """x as kernels take it, given the type of their values: places and values, or one of each, and how many."""
    count = np.int32(x.nnz)
    if count == 1 and x.device == "cpu":  # the usual question, which need not be uploaded
        (only,), (value,) = x.listed()
        return lambda kind: (NULL, NULL, np.int32(only), _plain(kind.type(value)), count)
    places, values = x.to("cuda").listed()
    values = values.astype(dtype, copy=False) if carries else NULL
    return lambda kind: (places, values, np.int32(-1), _plain(kind.type(0)), count)


def _plain(value):
    """A truth as kernels take it."""
    return value.view(np.int8) if value.itemsize == 1 else value


class Prepared:
    """What a matrix needs for this: its entries both ways, hubs, and which rows have none. Kept with the matrix."""

    def __init__(self, A):
        attributes = cupy.cuda.Device().attributes
        self.blocks = attributes["MultiProcessorCount"] if attributes["CooperativeLaunch"] else 0
        push, pull = A.columns, A.rows
        n, self.m = A.shape[0], len(push.indices)
        self.offset = c_type(push.indptr.dtype)
        self.push, self.pull = push, pull._replace(indptr=pull.indptr.astype(push.indptr.dtype, copy=False))
        self.hub, self.closed = cupy.empty(n, np.int32), cupy.empty(bitmap_words(n), np.uint32)
        findable = cupy.zeros(1, np.uint64)
        fullest = nvrtc.kernel(HEADER, expression(HEADER, "fullest", self.offset))
        fullest(
            (min(-(-n // PREPARING), 8 * attributes["MultiProcessorCount"]),), (PREPARING,),
            (push.indptr, self.pull.indptr, pull.indices, np.int64(n), self.hub, self.closed, findable),
        )  # fmt: skip
        rows, columns = (push.indptr, push.indices), (self.pull.indptr, pull.indices)
        self.graph = graph_record(rows, columns, self.hub, self.closed, int(findable[0]))
        A.prepared["waves", A.turned] = self


def kernel_of(header, name, product, prepared, values):
    """The kernel for this arithmetic on a matrix with these values or none; None where it cannot be launched."""
    kept = product.__dict__.setdefault("_waves", {})
    key = name, cupy.cuda.runtime.getDevice(), prepared.offset, None if values is None else values.dtype.char
    if key not in kept:
        kept[key] = None
        if prepared.blocks:
            a = PATTERN if values is None else values.dtype
            text = ring_text(product, a, product.dtype, values is None)
            instance = expression(header, name, "hopwave::Ring", prepared.offset)
            kernel, fit = nvrtc.cooperative(header, instance, BLOCK, text)
            kept[key] = kernel if fit else None
    return kept[key]


class Arena(LevelBuffers):
    """Buffers for matrices of up to n rows and m entries, and what sorting their places by level takes."""

    def __init__(self, n, m):
        super().__init__(n, m)
        self.sorting = None

    def order(self):
        """What places are sorted by level with, and the counters that blocks meet at."""
        if self.sorting is None:
            bins = 2 * self.n + 3
            order, entries = cupy.empty(self.n, np.int32), cupy.empty(self.n + 1, np.uint64)
            self.sorting = order, cupy.empty(bins, np.uint32), cupy.empty(bins, np.uint32), entries, self.counters
        return self.sorting


def arena(here, n, m):
    """The room's, made anew where it is too small."""
    found = here.arena
    if found is None or found.n < n or found.m < m:
        n, m = max(n, found.n if found else 0), max(m, found.m if found else 0)
        here.arena = None  # before the larger one is asked for
        found = here.arena = Arena(n, m)
    return found
