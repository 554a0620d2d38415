"""Searches from many sources of a deep graph on the GPU, one block for each (kernels/many/each.cuh)."""

from __future__ import annotations

import cupy
import numpy as np

from hopwave.engines.cuda import nvrtc, policy
from hopwave.engines.cuda.buffers import allocate, free_memory
from hopwave.engines.cuda.host_copies import to_host
from hopwave.engines.cuda.launch import PLAIN_SHARED, expression, offset_type
from hopwave.engines.cuda.records import filled, record
from hopwave.engines.host_memory import check_memory
from hopwave.engines.ledger import declare
from hopwave.planning.jobs import Swept

HEADER = "many/each.cuh"
THREADS = 128  # EACH in the kernel
NO_LIMIT = np.iinfo(np.int32).max
JOB = record(
    HEADER, "Each", "ptr sources ticket spill reached total farthest inverse histogram rows",
    "i64 n count limit words room",
)  # fmt: skip


def each_arrays(n, k, keep, blocks):
    """The arrays of k searches, of which `blocks` run at the same time."""
    sums, histogram = (k, n + 1) if keep == "sums" else (0, 0)
    return (
        declare(np.int64, fill=0, sums=(4, sums), histogram=histogram)
        | declare(np.int32, spill=(blocks, 2, n))
        | declare(np.uint32, fill=0, ticket=1)
    )


def possible(graph, job):
    """Whether these searches are faster with one block for each."""
    return job.keep in ("sums", "rows") and policy.one_block_each(graph.n, graph.m, job.depth, _shared())


def _shared():
    return cupy.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"]


def sweep(loaded, job, poll):
    """Run all searches of the job; see hopwave.algorithms.many_sources. Answers have the bits of many.py."""
    n, k, follows = loaded.n, len(job.sources), loaded.on_device.follows
    if job.keep == "rows" and not follows:
        check_memory(4 * n * k, f"a table of {k:,} × {n:,} distances")
    words, room = -(-n // 32), policy.SWEEP.room
    shared = 4 * words + 8 * room
    kernel = nvrtc.configurable(HEADER, expression(HEADER, "search_each", offset_type(loaded.offsets)))
    if shared > PLAIN_SHARED:
        kernel.allow_shared(shared)
    attributes = cupy.cuda.Device().attributes
    per = min(attributes["MaxThreadsPerMultiProcessor"] // THREADS, _shared() // (shared + 1024))
    blocks = max(1, min(k, per * attributes["MultiProcessorCount"], free_memory() // 2 // max(1, 8 * n)))
    arrays = allocate(each_arrays(n, k, job.keep, blocks))
    sums, ids = arrays["sums"], cupy.asarray(job.sources.astype(np.int32))
    given = filled(
        JOB, n=n, words=words, room=room, limit=NO_LIMIT if job.limit is None else min(job.limit, NO_LIMIT),
        ticket=arrays["ticket"], spill=arrays["spill"],
        histogram=arrays["histogram"] if job.keep == "sums" else None,
    )  # fmt: skip
    table = cupy.empty((k, n), np.int32) if job.keep == "rows" else None
    if table is not None:
        table.data.memset_async(0xFF, table.nbytes)  # -1 everywhere
    step = policy.SWEEP.rounds * blocks
    for first in range(0, k, step):  # a launch takes so many sources that Ctrl-C need not wait long
        last = min(k, first + step)
        arrays["ticket"].data.memset_async(0, 4)
        given["sources"], given["count"] = ids[first:].data.ptr, last - first
        if table is not None:
            given["rows"] = table[first:].data.ptr
        else:
            for name, row in zip(("reached", "total", "farthest", "inverse"), sums, strict=True):
                given[name] = row[first:].data.ptr
        kernel((min(blocks, last - first),), (THREADS,), (loaded.offsets, loaded.neighbours, given), shared)
        cupy.cuda.get_current_stream().synchronize()
        poll(last)
    return _swept(sums.get(), arrays["histogram"].get(), table if follows or table is None else to_host(table), k)


def _swept(sums, histogram, table, k):
    sums = sums if sums.size else np.zeros((4, k), np.int64)
    return Swept(
        reached=sums[0],
        total=sums[1],
        farthest=sums[2],
        inverse=sums[3].view(np.float64),
        histogram=histogram,
        columns=np.zeros((0, 3), np.int64),
        rows=np.empty((0, 0), np.int32) if table is None else table,
        pairs=(np.empty(0, np.int32), np.empty(0, np.int32)),
    )


def instances(offset):
    """(header, name) of every kernel here, for the compile test."""
    return [(HEADER, expression(HEADER, "search_each", offset))]
