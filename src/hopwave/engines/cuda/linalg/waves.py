"""Sequences of masked products on the GPU, each in one cooperative launch (kernels/linalg/waves.cuh)."""

import cupy
import numpy as np

from hopwave.algebra.vector import Vector
from hopwave.engines import FoundByWaves
from hopwave.engines.cuda import nvrtc
from hopwave.engines.cuda.buffers import allocate
from hopwave.engines.cuda.launch import NULL, PreparedLaunch, expression, kernels
from hopwave.engines.cuda.linalg.scratch import Pending, stream_scratch
from hopwave.engines.cuda.linalg.semiring_source import RING, c_type, ring_text
from hopwave.engines.cuda.policy import prepared_arrays
from hopwave.engines.cuda.records import filled
from hopwave.engines.cuda.search.by_level import LEVELS, by_level
from hopwave.engines.cuda.search.workspace import BLOCK, NO_LIMIT, PREPARING, LevelBuffers, graph_record, trace_table

HEADER = "linalg/waves.cuh"
PATTERN = np.dtype(np.bool_)
MOST_LAUNCHES = 64  # maximum number of launches cached with a matrix: streams × products


def instances(offset):
    ring = RING, offset
    names = ("waves", ring), ("fullest", (offset,)), ("sum_levels", ring)
    return [(HEADER, expression(HEADER, name, *arguments)) for name, arguments in names]


def waves(A, x, product, places, depth_limit, alpha, beta, trace):
    """See hopwave.engines.Algebra.waves. x is sparse."""
    if not A.shape[0]:
        return None
    prepared = A._prepared.made((Prepared, A._turned), lambda: Prepared(A))
    at_once = product.add.any_term and product.structure_only
    search = product if at_once else places
    kernel = kernel_of("waves", search, prepared, None)
    adding = None if at_once else kernel_of("sum_levels", product, prepared, A.rows.values)
    if kernel is None or (adding is None and not at_once):
        return None
    here, n, dtype = stream_scratch(), A.shape[0], product.dtype
    carries = not (at_once and product.term == "one")
    levels, present = cupy.empty(n, np.int32), cupy.empty(n, np.bool_)
    if not at_once:
        levels.data.memset_async(0xFF, levels.nbytes)  # -1: no level
    values = cupy.empty(n, dtype) if carries else NULL
    begun, pending = beginning(x, dtype, carries), Pending(here)
    buffers, rows = arena(here, n, prepared.m), trace_table() if trace else None
    launch = prepared.launch(kernel, buffers, alpha, beta)
    ids, given, only, only_value, count = map(launch.word, begun(search.dtype))
    while True:
        if rows is not None:
            launch.record("work", buffers.traced(rows))
        launch(
            levels=levels.data.ptr, values=launch.word(values) if at_once else 0, present=present.data.ptr,
            places=ids, x=given, only=only, only_value=only_value, count=count,
            depth_limit=NO_LIMIT if depth_limit is None else min(depth_limit, NO_LIMIT), host=int(pending.address),
        )  # fmt: skip
        if rows is None:
            break
        launch.record("work", buffers.work)
        pending.again()
        made = pending.counts[1]
        if made < len(rows):
            break
        rows = trace_table(made)  # more levels than rows of the table: repeat with enough rows
    if not at_once:
        part, made = prepared.pull, pending.wait()[1]
        order, starts, arcs = by_level(kernels(prepared.offset), part.indptr, levels, made)
        by = filled(LEVELS, order=order, starts=starts, arcs=arcs, count=made + 1)
        entries = part.indptr, part.indices, NULL if part.values is None else part.values
        adding((prepared.blocks,), (BLOCK,), (*entries, by, levels, values, *begun(dtype), buffers.counters))
    reached = Vector.dense(levels, present, pending.found)
    summed = Vector.dense(values, present.copy(), pending.found) if carries else None
    return FoundByWaves(reached, summed, None if rows is None else rows[:made].tolist())


def beginning(x, dtype, carries):
    """A function of the value type that returns x as kernel arguments: indices, values, one index, one value, count."""
    count = np.int32(x.nnz)
    if count == 1 and x.device == "cpu":  # the usual case: no upload
        (only,), (value,) = x.listed()
        return lambda kind: (NULL, NULL, np.int32(only), _plain(kind.type(value)), count)
    places, values = x.to("cuda").listed()
    values = values.astype(dtype, copy=False) if carries else NULL
    return lambda kind: (places, values, np.int32(-1), _plain(kind.type(0)), count)


def _plain(value):
    return value.view(np.int8) if value.itemsize == 1 else value


class Prepared:
    """Kernel inputs derived from a matrix: its entries by rows and by columns, hubs, and the empty rows."""

    def __init__(self, A):
        attributes = cupy.cuda.Device().attributes
        self.blocks = attributes["MultiProcessorCount"] if attributes["CooperativeLaunch"] else 0
        push, pull = A.columns, A.rows
        n, self.m = A.shape[0], len(push.indices)
        self.offset = c_type(push.indptr.dtype)
        self.push, self.pull = push, pull._replace(indptr=pull.indptr.astype(push.indptr.dtype, copy=False))
        self.hub, self.closed, findable = allocate(prepared_arrays(n, wide=False)).values()
        fullest = nvrtc.kernel(HEADER, expression(HEADER, "fullest", self.offset))
        fullest(
            (min(-(-n // PREPARING), 8 * attributes["MultiProcessorCount"]),), (PREPARING,),
            (push.indptr, self.pull.indptr, pull.indices, np.int64(n), self.hub, self.closed, findable),
        )  # fmt: skip
        rows, columns = (push.indptr, push.indices), (self.pull.indptr, pull.indices)
        self.graph = graph_record(len(rows[1]), rows, columns, self.hub, self.closed, int(findable[0]))
        self.launches = {}

    def launch(self, kernel, buffers, alpha, beta):
        key = kernel.handle, buffers.number, alpha, beta
        found = self.launches.get(key)
        if found is None:
            if len(self.launches) >= MOST_LAUNCHES:
                self.launches.clear()
            found = self.launches[key] = PreparedLaunch(
                kernel, self.blocks, BLOCK, graph=self.graph, work=buffers.work, levels=NULL, values=NULL,
                present=NULL, places=NULL, x=NULL, only=np.int32(0), only_value=NULL, count=np.int32(0),
                depth_limit=np.int32(0), alpha=np.float64(alpha), beta=np.float64(beta), host=NULL,
            )  # fmt: skip
        return found


def kernel_of(name, product, prepared, values):
    """The kernel for this arithmetic and these matrix values, if any; None if it cannot be launched."""

    def made():
        text = ring_text(product, PATTERN if values is None else values.dtype, product.dtype, values is None)
        kernel, fit = nvrtc.cooperative(HEADER, expression(HEADER, name, RING, prepared.offset), BLOCK, text)
        return kernel if fit else None

    key = name, cupy.cuda.runtime.getDevice(), prepared.offset, None if values is None else values.dtype.char
    return product.prepared.made(key, made) if prepared.blocks else None


def arena(here, n, m):
    found = here.arena
    if found is None or found.n < n or found.m < m:
        n, m = max(n, found.n if found else 0), max(m, found.m if found else 0)
        here.arena = None  # freed before the larger arena is allocated
        found = here.arena = LevelBuffers(n, m)
    return found
