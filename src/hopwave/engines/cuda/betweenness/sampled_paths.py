"""Sampling shortest paths on the GPU: thousands of concurrent pairs, one warp each (kernels: sampled_paths.cuh)."""

import time
from itertools import pairwise

import cupy
import numpy as np

from hopwave import engines
from hopwave.engines.cuda.buffers import free_memory
from hopwave.engines.cuda.errors import LESS_MEMORY, explained
from hopwave.engines.cuda.launch import WARP
from hopwave.engines.cuda.policy import PATHS
from hopwave.engines.cuda.records import filled, record
from hopwave.errors import EngineError, amount
from hopwave.planning.jobs import PATH_SUMS

HEADER = "betweenness/sampled_paths.cuh"
THREADS = 256  # PATH_THREADS in the kernels
NO_CUTOFF = np.iinfo(np.int32).max
BYTES_PER_VERTEX = 20  # bytes per vertex of a search: level, queue, path, path count

GRAPH = record(HEADER, "PathGraph<int>", "ptr offsets[2] neighbours[2]", "i64 n ascending degree_bits[2]")
WORK = record(
    HEADER, "PathWork", "ptr level queue path sigma counts sums next left left_count", "u64 start", "i64 last cutoff"
)


class PathSampling:
    """See planning.jobs.PathSampling. All sums are of integers, so that the order of pairs does not matter."""

    def __init__(self, graph, on_device, job):
        self.job, self.graph, self.device = job, graph, on_device
        n = self.device.n
        self.done, self.counts, self.sums = 0, np.zeros(n, np.int64), np.zeros(len(PATH_SUMS), np.int64)
        rows, columns = self.device.rows, self.device.columns
        offsets = [array.astype(rows[0].dtype, copy=False) for array in (rows[0], columns[0])]
        self.arrays = [*offsets, rows[1], columns[1]]  # kept alive: the record stores only their addresses
        self.rows = filled(
            GRAPH, offsets=[array.data.ptr for array in self.arrays[:2]],
            neighbours=[array.data.ptr for array in self.arrays[2:]], n=n,
            ascending=self.graph.order == "ascending",
            degree_bits=[degree_bits(degrees) for degrees in (self.graph.in_degrees, self.graph.degrees)],
        )  # fmt: skip
        self.searches = 0
        self.pace = PATHS.first_pairs  # pairs of the next launch

    def advance(self, until, poll):
        with explained("sampling paths", self.graph, LESS_MEMORY):
            self._allocate(until - self.done)
        paused = False
        while self.done < until and not paused:
            paused = self._draw(until, poll)
        return self.done

    def _draw(self, until, poll):
        """Launch for some time, then fetch all counts; after Ctrl-C, fetch nothing."""
        n, drawn, counts, sums, paused = self.device.n, self.done, 0, 0, False
        self.on_gpu.fill(0)
        end = time.perf_counter() + PATHS.seconds_per_fetch
        while drawn < until and not paused and time.perf_counter() < end:
            with explained("sampling paths", self.graph, LESS_MEMORY):
                began, last = time.perf_counter(), min(until, drawn + self.pace)
                left = self._launch(drawn, last)
            self.pace = int(self.pace * min(4.0, max(0.5, PATHS.seconds / (time.perf_counter() - began)))) + 1
            more = self._drawn_by_cpu(left)
            drawn, counts, sums = last, counts + more[0], sums + more[1]
            paused = poll(drawn)
        found = self.on_gpu.get()
        counts, sums = self.counts + found[:n] + counts, self.sums + found[n:] + sums
        self.counts, self.sums, self.done = counts, sums, drawn  # one assignment: Ctrl-C leaves all old or all new
        return paused

    def _allocate(self, pairs):
        """Allocate buffers for the concurrent searches: limited by the GPU, the memory, and the remaining pairs."""
        n = self.device.n
        limit = self.job.memory_limit
        usable = (free_memory() if limit is None else min(limit, free_memory())) * PATHS.share_of_memory
        wanted = min(self.device.device.multiprocessors * PATHS.warps, pairs)
        if wanted <= self.searches:
            return
        fit = int(usable) // (BYTES_PER_VERTEX * n)
        if fit < 1 and not self.searches:
            raise EngineError(
                f"sampling paths of this graph needs {amount(BYTES_PER_VERTEX * n)} on the GPU for one search and may "
                f"use {amount(int(usable))}; raise memory_limit=, or use device='cpu'"
            )
        if min(wanted, fit) <= self.searches:
            return
        self.searches, count = 0, min(wanted, fit)
        self.level = self.queue = self.path = self.sigma = None
        whole = scratch(count * n * BYTES_PER_VERTEX)
        cells = count * n
        self.sigma = whole[: 8 * cells].view(np.float64)
        self.level, self.queue, self.path = whole[8 * cells :].view(np.int32).reshape(3, cells)
        self.level.fill(0)
        self.searches = count
        self.on_gpu = cupy.empty(n + len(PATH_SUMS), np.int64)
        self.next, self.left_count = cupy.empty(1, np.uint64), cupy.empty(1, np.uint32)

    def _launch(self, first, last):
        """Draw the pairs from number first to last into on_gpu. Returns the pairs that the CPU must draw, ascending."""
        n = self.device.n
        left = cupy.empty(last - first, np.int64)
        self.next.fill(first)
        self.left_count.fill(0)
        work = filled(
            WORK, level=self.level, queue=self.queue, path=self.path, sigma=self.sigma, counts=self.on_gpu,
            sums=self.on_gpu[n:], next=self.next, left=left, left_count=self.left_count, start=self.job.start,
            last=last, cutoff=NO_CUTOFF if self.job.cutoff is None else int(min(self.job.cutoff, NO_CUTOFF)),
        )  # fmt: skip
        searches = min(self.searches, last - first)
        kernel = self.device.launch.get(HEADER, "sample_paths")
        kernel((-(-searches * WARP // THREADS),), (THREADS,), (self.rows, work, np.int64(searches)))
        count = int(self.left_count.get()[0])
        return np.sort(left[:count].get())

    def _drawn_by_cpu(self, pairs):
        if not len(pairs):
            return 0, 0
        run = engines.engine("cpu").path_sampling(self.graph, self.job)
        for begin, end in stretches(pairs):
            run.done = begin
            run.advance(end, lambda done: False)
        return run.counts, run.sums


def scratch(size):
    """`size` bytes from CUDA itself: CuPy's pool would keep them and put small arrays into them."""
    if size > cupy.cuda.runtime.memGetInfo()[0]:
        cupy.get_default_memory_pool().free_all_blocks()
    return cupy.ndarray(size, np.uint8, cupy.cuda.MemoryPointer(cupy.cuda.Memory(size), 0))


def degree_bits(degrees):
    """log2 of the largest degree, rounded up as in the CPU engine."""
    return int(np.ceil(np.log2(max(2, int(degrees.max(initial=0)) + 1))))


def stretches(pairs):
    """Ascending numbers as ranges [begin, end) without gaps."""
    breaks = np.flatnonzero(np.diff(pairs) > 1) + 1
    return [(int(pairs[a]), int(pairs[b - 1]) + 1) for a, b in pairwise([0, *breaks.tolist(), len(pairs)])]
