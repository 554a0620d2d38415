"""Sums of dependencies on the GPU: three regimes behind one class (regimes.py chooses a regime)."""

from functools import cache

import cupy
import numpy as np

from hopwave.arrays import Structure
from hopwave.engines.cuda import build, nvrtc
from hopwave.engines.cuda.betweenness import batch, block, regimes, weighted, wide
from hopwave.engines.cuda.buffers import free_memory, to_host
from hopwave.engines.cuda.errors import LESS_MEMORY, explained
from hopwave.engines.cuda.launch import expression
from hopwave.engines.cuda.renumber import neighbours_near, renumbered
from hopwave.engines.cuda.search.one_launch import distances_from, probed_depth
from hopwave.engines.cuda.search.workspace import NoCooperativeLaunch


def why_not(plan, job):
    if not job.has_demand:
        return None
    if plan.regime == "wide":
        return f"plan {plan.name!r} does not support weighted pairs on a GPU; use plan='auto' or 'hopwave-block'"
    if job.endpoints and job.deterministic:
        return "endpoints of weighted pairs are summed by atomics on a GPU, in no fixed order; use device='cpu'"
    return None


def machine():
    return _machine(cupy.cuda.runtime.getDevice())


@cache
def _machine(device):
    attributes = cupy.cuda.Device(device).attributes
    return regimes.Machine(
        attributes["MultiProcessorCount"],
        attributes["MaxSharedMemoryPerBlockOptin"],
        attributes["MaxThreadsPerMultiProcessor"],
        cupy.cuda.runtime.memGetInfo()[1],
        bool(attributes["CooperativeLaunch"]),
    )


def memory_budget(job):
    return free_memory() if job.memory_limit is None else job.memory_limit


def choose(loaded, job):
    """The regime for a job, and why. Regimes differ in rounding, so deterministic=True ignores the free memory."""
    n, m, k = loaded.n, loaded.m, len(job.sources)
    few = k <= regimes.MAX_WIDE_SOURCES  # the choice does not depend on the free memory, so it is not queried
    demand = job.has_demand
    if few and not demand and not regimes.is_small(n, m) and loaded.graph._prepared.record(Structure).depth is None:
        begin(loaded, job, "wide")  # while the probe's kernels are being compiled
    budget = machine().memory if job.deterministic or few else memory_budget(job)
    name, why = regimes.choose(n, m, k, probed_depth(loaded), budget)
    if name == "batch" and loaded.packed:
        name, why = "wide", "batches do not read compressed rows"
    return ("block", "pairs have weights") if name == "wide" and demand else (name, why)


def renumbered_if_worth(loaded, job, depth):
    """The graph renumbered so that neighbours are close in memory, or None if not worthwhile; cached with the graph."""
    n, m, budget = loaded.n, loaded.m, memory_budget(job)
    whole = not loaded.packed and job.components is None
    if not (whole and regimes.worth_renumbering(n, m, job.planned_sources, depth, budget)):
        return None
    with loaded.lock:  # a thread that did not wait would use the old numbers and round differently
        if "near" not in loaded.kept:
            near = neighbours_near(loaded.on_device.launch, loaded.offsets, loaded.neighbours)
            found = None
            if regimes.scattered(loaded.n, near):
                found = renumbered(loaded, lambda source: distances_from(loaded, source)[0])
            loaded.kept["near"] = found
        return loaded.kept["near"]


def begin(loaded, job, name):
    """Start compiling a regime's kernels, before its first run on a graph; the slowest to compile come first."""
    key = "begun", name, job.edges
    if key in loaded.kept:
        return
    loaded.kept[key] = True
    if name == "wide":
        wide.begin(loaded.on_device.offset)
        if job.planned_sources > regimes.rounds(loaded.m, job.planned_sources, 1):  # the job has several blocks
            nvrtc.begin(block.HEADER, [expression(block.HEADER, "add_rows", "int")])
    else:
        if name == "batch":
            batch.begin(job.edges)
            loaded.on_device.launch.begin(batch.HEADER)
        block.begin(loaded, job, name == "block")
    loaded.on_device.launch.begin(build.HEADER)


def regime(loaded, job, name):
    def budget():
        return min(memory_budget(job), free_memory())

    if job.weighted:
        return weighted.WeightedBlocks(loaded, job, machine(), probed_depth(loaded), budget)
    begin(loaded, job, name)
    here, depth = machine(), probed_depth(loaded)

    def blocks():
        at_once = 1 if name == "wide" else job.planned_sources
        return block.Blocks(loaded, job, here, depth, budget, renumbered_if_worth(loaded, job, depth), at_once)

    if name == "block" or depth > regimes.MAX_BATCH_LEVELS:
        return blocks()
    if name == "batch":
        return batch.Batches(loaded, job, here, depth, budget, regimes.lanes_for(batch.searches_of(job)), blocks())
    try:
        return wide.Wide(loaded, job, blocks)
    except NoCooperativeLaunch:
        return blocks()


class Accumulation:
    """A run over many sources that can pause after any block and resume: see hopwave.algorithms.brandes."""

    def __init__(self, loaded, job, plan):
        self.numbering = loaded.numbering  # with packed rows, sources and targets are numbers until the sums are done
        if self.numbering is not None:
            if job.edges:
                loaded.on_device.refuse_compressed()
            job = self.numbering.betweenness(job)
        self.loaded, self.job = loaded, job
        n, m, k = loaded.n, loaded.m, len(job.sources)
        self.width = m if job.edges else n * (2 if job.squares else 1)
        self.certificate = np.zeros((k, 2))
        self._state = None, 0  # sums on the GPU (None: all are 0), and the number of blocks in them
        self._fetched = None, None  # sums on the GPU, and their copy on the host
        self.regime = regime(loaded, job, plan.regime)
        self.size = self.regime.size
        self.blocks = -(-k // self.size)

    done = property(lambda self: self._state[1])
    extended = property(lambda self: self.regime.extended)

    @property
    def total(self):
        sums, (of, copy) = self._state[0], self._fetched
        if copy is None or of is not sums:
            with explained("fetching the sums", self.loaded.graph, LESS_MEMORY):
                copy = np.zeros(self.width) if sums is None else to_host(sums)
            self._fetched = sums, copy
        return copy

    @property
    def sums_on_device(self):
        """The sums on the GPU if the graph came from there, or if they are sums of arcs; otherwise None."""
        return self._state[0] if self.job.edges or self.loaded.graph.device == "cuda" else None

    def advance(self, first, poll):
        with explained("adding up dependencies", self.loaded.graph, LESS_MEMORY), self.loaded.lock:
            # A block has its own array. The old sums are added to it, then it replaces them. After Ctrl-C, the sums
            # therefore contain a complete block or nothing of it.
            self._state = cupy.asarray(self.total) if first else None, first
            for number in range(first, self.blocks):
                if number > first and poll(number):
                    break
                self._block(number)
        return self.done

    def _block(self, number):
        sums, total = self._state[0], cupy.zeros(self.width, np.float64)
        begin = number * self.size
        end = min(begin + self.size, len(self.job.sources))
        self.certificate[begin:end] = self.regime.add(self.job.sources[begin:end], total)
        if self.numbering is not None:
            total = total.reshape(-1, self.loaded.n)[:, self.numbering.numbers].ravel()
        if sums is not None:
            block.add(sums[None], total, len(total))
        self._state = total, number + 1
