"""A rank's part of a graph on its GPU (kernels/rank/part.cuh), with the interface of the CPU's rank/part.Part."""

from __future__ import annotations

from functools import cached_property

import cupy
import numpy as np

from hopwave.engines.cuda.launch import BLOCK, NULL, WARP, expression, kernels
from hopwave.engines.cuda.policy import LONG_CHECKED_ROW
from hopwave.engines.cuda.rank.lengths import Lengths

HEADER = "rank/part.cuh"
SLOTS = {np.dtype(np.uint32): "unsigned int", np.dtype(np.uint64): "unsigned long long", np.dtype(np.int32): "int"}
IDS = {np.dtype(np.int32): "int", np.dtype(np.int64): "long long"}
LEVELS = {np.dtype(np.int8): "signed char", np.dtype(np.int16): "short", np.dtype(np.int32): "int"}


def instances():
    """Every kernel of this module: header and name expression."""
    for slot in SLOTS.values():
        for level in LEVELS.values():
            yield HEADER, expression(HEADER, "check", slot, level)
            yield HEADER, expression(HEADER, "check_long", slot, level)
        if slot != "int":
            yield HEADER, expression(HEADER, "hubs_first", slot, "unsigned char")
            yield HEADER, expression(HEADER, "push", slot)
            yield HEADER, expression(HEADER, "pull", slot)
    for identity in IDS.values():
        yield HEADER, expression(HEADER, "claim", identity)


def hubs_first(offsets, neighbours, weight):
    """Move every row's heaviest neighbour to the front; weights are bytes."""
    rows, shape = len(offsets) - 1, f"{SLOTS[neighbours.dtype]}, unsigned char"
    kernels()(HEADER, "hubs_first", WARP * rows, offsets, neighbours, np.int64(rows), weight, shape=shape)


def long_rows(offsets):
    """The rows that a whole block must check."""
    return cupy.flatnonzero(cupy.diff(offsets) > LONG_CHECKED_ROW)


def check(offsets, tails, levels, tail_levels, parents, linked, longs):
    """Check Graph500's rules about arcs, like the CPU's check_rows: (count, row, tail) for each of three rules.

    longs: long_rows(offsets).
    """
    wrong = cupy.zeros((3, 3), np.uint64)
    shape, rows, count = f"{SLOTS[tails.dtype]}, {LEVELS[levels.dtype]}", len(levels), len(longs)
    answers = (levels, tail_levels, parents, linked, wrong)
    arcs = (offsets, tails, np.int64(0))  # the first row's number is 0
    sizes = np.int64(rows), np.int64(LONG_CHECKED_ROW)
    kernels()(HEADER, "check", WARP * rows, *arcs, *sizes, *answers, shape=shape)
    kernels()(HEADER, "check_long", BLOCK * count, *arcs, longs, np.int64(count), *answers, shape=shape)
    return wrong.astype(np.int64)


class Part:
    """The arrays of one rank on its GPU, and the steps of a search on them."""

    xp = cupy
    device = "cuda"

    def __init__(self, out, into):
        (self.out_offsets, self.heads), (self.in_offsets, self.tails) = out, into
        self.slot = SLOTS[self.heads.dtype]

    def tidy(self):
        """Free the memory that building took: other ranks may share this GPU."""
        cupy.get_default_memory_pool().free_all_blocks()

    def finish(self):
        """Wait until the GPU has done everything launched so far."""
        cupy.cuda.get_current_stream().synchronize()

    def push(self, frontier, sent):
        """Return new (heads, tails), in any order, one per head; sets their bits in `sent`."""
        if not len(frontier):
            return cupy.empty(0, self.heads.dtype), cupy.empty(0, np.int64)
        ends = cupy.cumsum(self.out_offsets[frontier + 1] - self.out_offsets[frontier])
        arcs = int(ends[-1])
        most = min(arcs, 64 * len(sent))
        found, parents = cupy.empty(most, self.heads.dtype), cupy.empty(most, np.int64)
        count = cupy.zeros(1, np.uint64)
        rows = np.int64(len(frontier))
        arguments = (self.out_offsets, self.heads, frontier, ends, rows, np.int64(arcs), sent, found, parents, count)
        kernels()(HEADER, "push", arcs, *arguments, shape=self.slot)
        kept = int(count[0])
        return found[:kept], parents[:kept]

    def pull(self, first, closed, front, parents):
        """Pull for the rows from slot `first` on; sets parents, and bits in `closed`. Returns (found, arcs read)."""
        sums = cupy.zeros(2, np.uint64)
        halves = 2 * len(closed)  # words of 32 vertices
        arguments = (self.in_offsets, self.tails, np.int64(first), np.int64(halves), closed, front, parents, sums)
        kernels()(HEADER, "pull", 32 * halves, *arguments, shape=self.slot)
        found, checked = sums.tolist()
        return found, checked

    def claim(self, heads, parents, visited, parent):
        """Return the unvisited ones of this rank's vertices `heads`; sets their parents, unless `parent` is None."""
        kept, tail = cupy.empty(len(heads), np.int64), cupy.zeros(1, np.uint64)
        identity = "int" if parent is None else IDS[parent.dtype]
        given = (NULL, NULL) if parent is None else (parents, parent)
        arguments = (heads, given[0], np.int64(len(heads)), visited, given[1], kept, tail)
        kernels()(HEADER, "claim", len(heads), *arguments, shape=identity)
        return kept[: int(tail[0])]

    def hubs_first(self, weight):
        """Move the heaviest neighbour of every row of `into` to the front."""
        hubs_first(self.in_offsets, self.tails, weight)

    @cached_property
    def _longs(self):
        return long_rows(self.in_offsets)

    def check(self, levels, tail_levels, parents, linked):
        """See check()."""
        return check(self.in_offsets, self.tails, levels, tail_levels, parents, linked, self._longs)

    def lengths(self, out_names, into_names, n, start):
        """Lengths for all arcs: see Lengths."""
        return Lengths(self, out_names, into_names, n, start)
