"""Searches from many sources on the GPU: groups of up to 1024 sources, one launch each (kernels/many/search.cuh)."""

from collections import deque

import cupy
import numpy as np

from hopwave.engines.cuda import build, nvrtc, policy
from hopwave.engines.cuda.betweenness.run import machine
from hopwave.engines.cuda.buffers import allocate, free_memory, to_host
from hopwave.engines.cuda.launch import BLOCK, expression, kernels, offset_type
from hopwave.engines.cuda.policy import most_long_rows, sweep_arrays
from hopwave.engines.cuda.records import fill, filled, record
from hopwave.engines.host_memory import check_memory
from hopwave.planning.jobs import component_ranges
from hopwave.planning.many_sources import Swept

HEADER = "many/search.cuh"
SUMS, COLUMNS, ROWS, PAIRS = 1, 2, 4, 8  # enum Keep in kernels/many/search.cuh
KEEP = {"sums": SUMS, "columns": SUMS | COLUMNS, "rows": ROWS, "pairs": PAIRS}
NO_LIMIT = np.iinfo(np.int32).max

MANY = record(
    "many/search.cuh", "Many<int>",
    "ptr offsets neighbours in_offsets in_neighbours long_rows",
    "ptr state touched lists longs counts counters sources places reach",
    "ptr reached total farthest inverse histogram columns rows pairs",
    "i64 n grids first last width count",
    "i64 long_count long_row long_room limit keep hops shift upwards room",
    "i64 vertex_bits depth_bits push_cost expected",
)  # fmt: skip
COUNTERS = record("many/search.cuh", "Counters", "u64 listed", offsets=[512], size=640)


def sweep(loaded, job, labels, poll):
    """Run all searches of the job; call poll(sources done) from time to time. See hopwave.algorithms.many_sources."""
    k, n = len(job.sources), loaded.n
    follows = loaded.on_device.follows
    run = Run(loaded, job, labels)
    if job.keep != "rows":
        run.search(0, k, poll)
        return run.swept()
    groups = policy.SWEEP.table_bytes // (4 * max(1, n)) // run.width  # whose distances are on the GPU at a time
    size = max(1, k) if follows else max(1, groups) * run.width
    answer = None if size >= k else np.empty((k, n), np.int32)
    for first in range(0, max(1, k), size):
        table = run.new_table(min(size, k - first))
        run.search(first, min(first + size, k), poll)
        if answer is None:
            return run.swept(table if follows else to_host(table))
        table.get(out=answer[first : first + size])
    return run.swept(answer)


def begin(offset, sources):
    """Start compiling the kernels for a job of `sources` sources; one source is usually a probe for a larger job."""
    few, many = policy.SWEEP.words
    needed = (few, many) if sources == 1 else (many,) if sources > policy.WORD * few else (few,)
    nvrtc.begin(HEADER, [expression(HEADER, "search_many", offset, words) for words in needed])
    kernels(offset).begin(build.HEADER)


class Run:
    """A job's arrays on the GPU, reused by one group of sources after another."""

    def __init__(self, loaded, job, labels):
        self.loaded, self.job, self.labels = loaded, job, labels
        k, free = len(job.sources), free_memory()
        words = policy.words_for(k, loaded.n, free)
        self.vertex_bits, self.depth_bits, self.width = policy.pair_bits(loaded.n, job.limit, policy.WORD * words)
        if job.keep != "pairs":
            self.width = policy.WORD * words
        name = expression(HEADER, "search_many", offset_type(loaded.offsets), words)
        self.kernel, most = nvrtc.cooperative(HEADER, name, BLOCK)
        groups = 1 if job.keep == "pairs" else max(1, -(-k // self.width))
        self.subgrids, blocks = policy.subgrids_for(loaded.n, words, groups, job.depth, most, free, BLOCK)
        self.blocks = self.subgrids * blocks
        self.found = []
        self.counters = cupy.empty((self.subgrids, COUNTERS.itemsize), np.uint8)
        long_row = policy.SWEEP.long_row
        self.longest = build.long_rows(loaded.on_device.launch, loaded.in_offsets, loaded.m, long_row)
        # Over the sources: number reached, Σ d, maximum d; Σ 1/d as float64.
        sums, histogram = (k, loaded.n + 1) if job.keep in ("sums", "columns") else (0, 0)
        columns = loaded.n if job.keep == "columns" else 0
        self.sums, self.histogram = cupy.zeros((4, sums), np.int64), cupy.zeros(histogram, np.int64)
        self.columns = cupy.zeros((columns, 3), np.int64)
        reached, total, farthest, inverse = self.sums
        self.buffers = allocate(sweep_arrays(loaded.n, loaded.m, self.subgrids, words))
        self.arguments = filled(
            MANY, counters=self.counters, n=loaded.n, grids=self.subgrids, width=self.width, offsets=loaded.offsets,
            neighbours=loaded.neighbours, in_offsets=loaded.in_offsets, in_neighbours=loaded.in_neighbours,
            long_rows=self.longest, long_count=len(self.longest), long_row=long_row,
            long_room=most_long_rows(loaded.n, loaded.m), reached=reached, total=total, farthest=farthest,
            inverse=inverse, histogram=self.histogram, columns=self.columns, **self.buffers,
            limit=NO_LIMIT if job.limit is None else min(job.limit, NO_LIMIT), keep=KEEP[job.keep],
            hops=job.weight == "hops", shift=job.shift, upwards=job.upwards, vertex_bits=self.vertex_bits,
            depth_bits=self.depth_bits, push_cost=policy.SWEEP.push_cost,
            expected=loaded.m // policy.SWEEP.pull_divisor,
        )  # fmt: skip
        self.reachable = self._reachable()

    def _reachable(self):
        loaded, sources = self.loaded, self.job.sources
        if not loaded.directed:
            if "sizes" not in loaded.kept:  # of components
                loaded.kept["sizes"] = np.bincount(self.labels)
            return loaded.kept["sizes"][self.labels[sources]]
        # A vertex without in-arcs is reached only from itself.
        bits = loaded.on_device.closed.get().view(np.uint8)
        closed = np.unpackbits(bits, count=loaded.n, bitorder="little")
        return loaded.n - np.count_nonzero(closed) + closed[sources].astype(np.int64)

    # ---------------------------------------------------------------- searching

    def new_table(self, rows):
        self.rows = cupy.empty((rows, self.loaded.n), np.int32)
        self.rows.data.memset_async(0xFF, self.rows.nbytes)  # -1 everywhere
        fill(self.arguments, rows=self.rows)
        return self.rows

    def order(self, first, last):
        """The order in which to search from sources first to last, so that similar searches share a group."""
        sources = self.job.sources[first:last]
        if last - first <= self.width or self.job.keep == "pairs":
            return np.arange(last - first)
        if self.job.depth >= policy.SWEEP.deep:
            from hopwave.engines.cpu.graph import CpuGraph
            from hopwave.engines.cpu.many.run import neighbourhood_rank

            return np.argsort(neighbourhood_rank(CpuGraph(self.loaded.graph))[sources], kind="stable")
        if self.loaded.directed:
            return np.arange(last - first)
        # Sort by component: a vertex is done when all sources that can reach it have reached it.
        return np.argsort(self.labels[sources], kind="stable")

    def search(self, first, last, poll):
        """Search from these sources, a few launches ahead of the GPU."""
        starts = np.arange(0, last - first, self.width)
        uploaded = self._set_sources(first, last, starts)
        running = deque()
        pairs = self.job.keep == "pairs"
        size = 1 if pairs else policy.SWEEP.turns * self.subgrids
        for begin in range(0, len(starts), size):
            fill(self.arguments, first=begin, last=min(begin + size, len(starts)))
            if pairs:
                self.found.append(self.pairs())
            else:
                self.launch()
            running.append((min(first + (begin + size) * self.width, last), cupy.cuda.Event()))
            running[-1][1].record()
            while len(running) > (policy.SWEEP.launches_ahead if begin + size < len(starts) else 0):
                done, event = running.popleft()
                event.synchronize()
                poll(done)
        del uploaded  # not before: the GPU has read it only now

    def _set_sources(self, first, last, starts):
        """Upload the sources in order, their indices in the result, and the maximum number of pairs per group."""
        self.places = places = self.order(first, last)
        most = np.add.reduceat(self.reachable[first:last][places], starts) if len(starts) else starts
        ids = self.job.sources[first:last][places].astype(np.int32)
        uploaded = [cupy.asarray(array) for array in (ids, places, most.astype(np.int64))]
        fill(self.arguments, sources=uploaded[0], places=uploaded[1], reach=uploaded[2], count=last - first)
        return uploaded

    def launch(self):
        self.counters.data.memset_async(0, self.counters.nbytes)
        self.kernel((self.blocks,), (BLOCK,), (self.arguments,))

    def pairs(self):
        """One group's pairs, sorted, on the host. Repeats the search if the array was too short."""
        length = policy.SWEEP.first_pairs
        while True:
            found = cupy.empty(length, np.uint64)
            fill(self.arguments, pairs=found, room=length)
            self.launch()
            count = int(self.counters[:1].get().view(COUNTERS)["listed"][0, 0])
            if count <= length:
                check_memory(16 * count, f"{count:,} pairs")
                found = found[:count]
                if count:
                    found.sort()
                return found.get()
            length = count

    # ---------------------------------------------------------------- the result

    def swept(self, rows=None):
        sums, histogram = np.zeros((4, len(self.job.sources)), np.int64), np.zeros(len(self.histogram), np.int64)
        if self.sums.size:
            sums[:, self.places] = self.sums.get()
            histogram[: sums[2].max() + 1] = self.histogram[: sums[2].max() + 1].get()  # zero beyond
        more = {} if rows is None else {"rows": rows}
        if self.found:
            sums[0] = self._pairs_per_source()
            more["pairs"] = self._unpacked()
        return Swept.of(
            len(self.job.sources), weighted=False, reached=sums[0], total=sums[1], farthest=sums[2],
            inverse=sums[3].view(np.float64), histogram=histogram, columns=self.columns.get(), **more,
        )  # fmt: skip

    def _pairs_per_source(self):
        k, shift = len(self.job.sources), np.uint64(self.vertex_bits + self.depth_bits)
        return np.concatenate([
            np.bincount((packed >> shift).astype(np.int64), minlength=min(self.width, k - group * self.width))
            for group, packed in enumerate(self.found)
        ])  # fmt: skip

    def _unpacked(self):
        packed = np.concatenate(self.found)
        vertices = packed & np.uint64((1 << self.vertex_bits) - 1)
        distances = packed >> np.uint64(self.vertex_bits) & np.uint64((1 << self.depth_bits) - 1)
        return vertices.astype(np.int32), distances.astype(np.int32)


# ---------------------------------------------------------------- one block per source

EACH, SUMMED = "many/each.cuh", ("reached", "total", "farthest", "inverse")
EACH_JOB = record(
    EACH, "Each", "ptr sources spans ticket spill reached total farthest inverse histogram rows",
    "i64 n most count limit words room",
)  # fmt: skip


def one_block_each(graph, job):
    return job.keep in ("sums", "rows") and policy.one_block_each(graph.n, graph.m, job.depth, machine().shared)


def sweep_each(loaded, job, poll):
    """Run all searches of the job; see hopwave.algorithms.many_sources. Results are bitwise identical to `sweep`."""
    n, k, follows = loaded.n, len(job.sources), loaded.on_device.follows
    kernel = nvrtc.configurable(EACH, expression(EACH, "search_each", offset_type(loaded.offsets)))
    ranges = None if job.components is None else component_ranges(job.components, job.sources)
    most = n if ranges is None else int(np.diff(ranges).max())
    words, shared = -(-most // 32), policy.each_shared(most)
    kernel.allow_shared(shared)
    gpu = machine()
    blocks, threads = policy.each_grid(most, k, gpu.multiprocessors, gpu.threads, gpu.shared, free_memory())
    ids, ticket = cupy.asarray(job.sources.astype(np.int32)), cupy.zeros(1, np.uint32)
    summed = job.keep == "sums"
    sums, histogram = cupy.zeros((4, k * summed), np.int64), cupy.zeros((most + 1) * summed, np.int64)
    spill = cupy.empty((blocks, 2, most), np.int32)
    spans = None if ranges is None else cupy.asarray(ranges)
    given = filled(
        EACH_JOB, n=n, most=most, words=words, room=policy.SWEEP.room, ticket=ticket, spill=spill,
        limit=NO_LIMIT if job.limit is None else min(job.limit, NO_LIMIT),
        histogram=histogram if job.keep == "sums" else None,
    )  # fmt: skip
    step = policy.SWEEP.rounds * blocks * n // max(1, most)  # sources per launch: Ctrl-C waits for the end of a launch
    if job.keep == "rows":
        step = max(1, min(step, policy.SWEEP.table_bytes // (4 * max(1, n)))) if not follows else max(1, k)
    answer = np.empty((k, n), np.int32) if job.keep == "rows" and step < k else None
    for first in range(0, max(1, k), step):
        last = min(k, first + step)
        ticket.data.memset_async(0, 4)
        given["sources"], given["count"] = ids[first:].data.ptr, last - first
        given["spans"] = 0 if spans is None else spans[first:].data.ptr
        if job.keep == "rows":
            table = cupy.empty((last - first, n), np.int32)
            table.data.memset_async(0xFF, table.nbytes)  # -1 everywhere
            given["rows"] = table.data.ptr
        else:
            for name, row in zip(SUMMED, sums, strict=True):
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
    found = dict(zip(SUMMED, sums.get(), strict=True))
    return Swept.of(k, False, histogram=histogram.get(), **found | {"inverse": found["inverse"].view(np.float64)})
