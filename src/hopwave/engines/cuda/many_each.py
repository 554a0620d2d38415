"""Searches from many sources of a deep graph on the GPU, one block for each (kernels/many/each.cuh)."""

import cupy
import numpy as np

from hopwave.engines.cuda import nvrtc, policy
from hopwave.engines.cuda.buffers import allocate, free_memory
from hopwave.engines.cuda.host_copies import to_host
from hopwave.engines.cuda.launch import PLAIN_SHARED, expression, kernels, offset_type
from hopwave.engines.cuda.records import filled, record
from hopwave.engines.cuda.search_arrays import each_arrays
from hopwave.engines.host_memory import check_memory
from hopwave.planning.many_sources import Swept

HEADER = "many/each.cuh"
NO_LIMIT = np.iinfo(np.int32).max
JOB = record(
    HEADER, "Each", "ptr sources ticket spill reached total farthest inverse histogram rows",
    "i64 n count limit words room",
)  # fmt: skip


def possible(graph, job):
    """Whether these searches are faster with one block for each."""
    return job.keep in ("sums", "rows") and policy.one_block_each(graph.n, graph.m, job.depth, _machine()[2])


def _machine():
    """Multiprocessors, threads that one holds, and bytes of shared memory that a block may have."""
    attributes = kernels().attributes
    names = "MultiProcessorCount", "MaxThreadsPerMultiProcessor", "MaxSharedMemoryPerBlockOptin"
    return tuple(attributes[name] for name in names)


def sweep(loaded, job, poll):
    """Run all searches of the job; see hopwave.algorithms.many_sources. Answers have the bits of many.py."""
    n, k, follows = loaded.n, len(job.sources), loaded.on_device.follows
    if job.keep == "rows" and not follows:
        check_memory(4 * n * k, f"a table of {k:,} × {n:,} distances")
    kernel = nvrtc.configurable(HEADER, expression(HEADER, "search_each", offset_type(loaded.offsets)))
    words, shared = -(-n // 32), policy.each_shared(n)
    if shared > PLAIN_SHARED:
        kernel.allow_shared(shared)
    blocks, threads = policy.each_grid(n, k, *_machine(), free_memory())
    arrays = allocate(each_arrays(n, k, job.keep, blocks))
    ids, sums, histogram = cupy.asarray(job.sources.astype(np.int32)), arrays["sums"], arrays["histogram"]
    given = filled(
        JOB, n=n, words=words, room=policy.SWEEP.room, ticket=arrays["ticket"], spill=arrays["spill"],
        limit=NO_LIMIT if job.limit is None else min(job.limit, NO_LIMIT),
        histogram=histogram if job.keep == "sums" else None,
    )  # fmt: skip
    step = policy.SWEEP.rounds * blocks  # sources per launch: Ctrl-C waits for the launch
    if job.keep == "rows":
        step = max(1, min(step, policy.SWEEP.table_bytes // (4 * max(1, n)))) if not follows else max(1, k)
    answer = np.empty((k, n), np.int32) if job.keep == "rows" and step < k else None
    for first in range(0, max(1, k), step):
        last = min(k, first + step)
        arrays["ticket"].data.memset_async(0, 4)
        given["sources"], given["count"] = ids[first:].data.ptr, last - first
        if job.keep == "rows":
            table = cupy.empty((last - first, n), np.int32)
            table.data.memset_async(0xFF, table.nbytes)  # -1 everywhere
            given["rows"] = table.data.ptr
        else:
            for name, row in zip(("reached", "total", "farthest", "inverse"), sums, strict=True):
                given[name] = row[first:].data.ptr
        if last > first:
            kernel((min(blocks, last - first),), (threads,), (loaded.offsets, loaded.neighbours, given), shared)
        if answer is not None:
            table.get(out=answer[first:last])
        elif job.keep == "rows":
            answer = table if follows else to_host(table)
        cupy.cuda.get_current_stream().synchronize()
        poll(last)
    if job.keep == "rows":
        return Swept.of(k, weighted=False, rows=answer, histogram=histogram.get())
    reached, total, farthest, inverse = sums.get()
    found = {"reached": reached, "total": total, "farthest": farthest, "inverse": inverse.view(np.float64)}
    return Swept.of(k, weighted=False, histogram=histogram.get(), **found)
