"""A rank's part of a graph on its GPU: kernels/rank/part.cuh behind the same face as the CPU's rank/part.Part."""

from __future__ import annotations

from functools import cache, cached_property

import cupy
import numpy as np

from hopwave.engines.cuda import nvrtc

HEADER = "rank/part.cuh"
BLOCK = 256
SLOTS = {np.dtype(np.uint32): "unsigned int", np.dtype(np.uint64): "unsigned long long", np.dtype(np.int32): "int"}
IDS = {np.dtype(np.int32): "int", np.dtype(np.int64): "long long"}
LEVELS = {np.dtype(np.int8): "signed char", np.dtype(np.int16): "short", np.dtype(np.int32): "int"}
WEIGHTS = {np.dtype(np.uint8): "unsigned char", np.dtype(np.uint32): "unsigned int"}
NULL = np.uint64(0)
LONGEST = 1 << 15  # arcs of a row that one warp judges; longer ones get a block


def instances():
    """Every kernel there is: header and name expression."""
    for slot in SLOTS.values():
        for weight in WEIGHTS.values():
            yield HEADER, f"hopwave_part::hubs_first<{slot}, {weight}>"
        for level in LEVELS.values():
            yield HEADER, f"hopwave_part::check<{slot}, {level}>"
            yield HEADER, f"hopwave_part::check_long<{slot}, {level}>"
        if slot != "int":
            yield HEADER, f"hopwave_part::push<{slot}>"
            yield HEADER, f"hopwave_part::pull<{slot}>"
    for identity in IDS.values():
        yield HEADER, f"hopwave_part::claim<{identity}>"


def launch(name, work, *arguments, header=HEADER):
    """A kernel with a thread for each of `work` items, as far as the GPU holds them."""
    if work <= 0:
        return
    blocks = min(-(-int(work) // BLOCK), _blocks(cupy.cuda.runtime.getDevice()))
    nvrtc.kernel(header, name)((blocks,), (BLOCK,), arguments)


@cache
def _blocks(device):
    """How many blocks fill the GPU."""
    attributes = cupy.cuda.Device(device).attributes
    return attributes["MultiProcessorCount"] * max(1, attributes["MaxThreadsPerMultiProcessor"] // BLOCK)


def hubs_first(offsets, neighbours, weight):
    """Every row's heaviest neighbour to its front."""
    rows = len(offsets) - 1
    name = f"hopwave_part::hubs_first<{SLOTS[neighbours.dtype]}, {WEIGHTS[weight.dtype]}>"
    launch(name, 32 * rows, offsets, neighbours, np.int64(rows), weight)


def long_rows(offsets):
    """The rows of more than LONGEST arcs."""
    return cupy.flatnonzero(cupy.diff(offsets) > LONGEST)


def check(offsets, tails, levels, tail_levels, parents, linked, longs):
    """Graph500's rules about arcs, as the CPU's check_rows: a row of (count, row, tail) for each of three rules.

    longs: long_rows(offsets).
    """
    wrong = cupy.zeros((3, 3), np.uint64)
    kind, rows = f"<{SLOTS[tails.dtype]}, {LEVELS[levels.dtype]}>", len(levels)
    answers = (levels, tail_levels, parents, linked, wrong)
    first = np.int64(0)
    launch(f"hopwave_part::check{kind}", 32 * rows, offsets, tails, first, np.int64(rows), np.int64(LONGEST), *answers)
    count = len(longs)
    launch(f"hopwave_part::check_long{kind}", BLOCK * count, offsets, tails, first, longs, np.int64(count), *answers)
    return wrong.astype(np.int64)


class Part:
    """The arrays of one rank on its GPU, and what a search does to them."""

    xp = cupy
    device = "cuda"

    def __init__(self, out, into):
        (self.out_offsets, self.heads), (self.in_offsets, self.tails) = out, into
        self.slot = SLOTS[self.heads.dtype]

    def tidy(self):
        """Give back what building took: other ranks may share this GPU."""
        cupy.get_default_memory_pool().free_all_blocks()

    def finish(self):
        """Wait until everything asked of the GPU is done."""
        cupy.cuda.get_current_stream().synchronize()

    def push(self, frontier, sent):
        """New (heads, tails), in no order, one for each head; their bits in sent are set."""
        if not len(frontier):
            return cupy.empty(0, self.heads.dtype), cupy.empty(0, np.int64)
        ends = cupy.cumsum(self.out_offsets[frontier + 1] - self.out_offsets[frontier])
        arcs = int(ends[-1])
        room = min(arcs, 64 * len(sent))
        found, parents = cupy.empty(room, self.heads.dtype), cupy.empty(room, np.int64)
        count = cupy.zeros(1, np.uint64)
        rows = np.int64(len(frontier))
        arguments = (self.out_offsets, self.heads, frontier, ends, rows, np.int64(arcs), sent, found, parents, count)
        launch(f"hopwave_part::push<{self.slot}>", arcs, *arguments)
        kept = int(count[0])
        return found[:kept], parents[:kept]

    def pull(self, first, closed, front, parents):
        """Rows from slot `first` on: parents of those found, their bits in closed. Returns how many, and arcs seen."""
        sums = cupy.zeros(2, np.uint64)
        halves = 2 * len(closed)
        arguments = (self.in_offsets, self.tails, np.int64(first), np.int64(halves), closed, front, parents, sums)
        launch(f"hopwave_part::pull<{self.slot}>", 32 * halves, *arguments)
        found, checked = sums.tolist()
        return found, checked

    def claim(self, heads, parents, visited, parent):
        """Those of the own vertices `heads` that were not visited; parent (an array, or None) is set for them."""
        kept, tail = cupy.empty(len(heads), np.int64), cupy.zeros(1, np.uint64)
        identity = "int" if parent is None else IDS[parent.dtype]
        given = (NULL, NULL) if parent is None else (parents, parent)
        arguments = (heads, given[0], np.int64(len(heads)), visited, given[1], kept, tail)
        launch(f"hopwave_part::claim<{identity}>", len(heads), *arguments)
        return kept[: int(tail[0])]

    def hubs_first(self, weight):
        """Arrange the rows of `into`."""
        hubs_first(self.in_offsets, self.tails, weight)

    @cached_property
    def _longs(self):
        return long_rows(self.in_offsets)

    def check(self, levels, tail_levels, parents, linked):
        """See check."""
        return check(self.in_offsets, self.tails, levels, tail_levels, parents, linked, self._longs)

    def lengths(self, out_names, into_names, n, start):
        """Lengths for all arcs: see Lengths."""
        from hopwave.engines.cuda.rank.lengths import Lengths

        return Lengths(self, out_names, into_names, n, start)
