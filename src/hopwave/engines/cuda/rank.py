"""One rank's part of a distributed graph on its GPU (kernels/rank/part.cuh), with the interface of the CPU's Part."""

from functools import cached_property

import cupy
import numpy as np

from hopwave.engines.cuda.launch import BLOCK, C_TYPES, NULL, WARP, kernels
from hopwave.engines.cuda.policy import LONG_CHECKED_ROW
from hopwave.engines.cuda.records import record

HEADER = "rank/part.cuh"
PACKED = "hopwave::Packed"  # offset type of packed rows (kernels/common/rows.cuh)
SORTED_TOGETHER = 1 << 20  # rows whose arcs are sorted at a time: limits memory, and keeps row · slots small


def long_rows(offsets):
    return cupy.flatnonzero(cupy.diff(offsets) > LONG_CHECKED_ROW)


def check(offsets, tails, levels, tail_levels, parents, linked, longs, slot=None):
    """Graph500's rules about arcs, like the CPU's check_rows: (count, row, tail) for each of three rules."""
    wrong = cupy.zeros((3, 3), np.uint64)
    shape, rows, count = f"{slot or C_TYPES[tails.dtype]}, {C_TYPES[levels.dtype]}", len(levels), len(longs)
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
        self.sorted_tails = None  # by descending in-degree: see sort_rows
        self.slot = C_TYPES[self.heads.dtype]

    def tidy(self):
        """Free the memory used for building: other ranks may share this GPU."""
        cupy.get_default_memory_pool().free_all_blocks()

    def finish(self):
        cupy.cuda.get_current_stream().synchronize()

    def push(self, frontier, sent, two_phase=False):
        """Return new (heads, tails), in any order, one per head; sets their bits in `sent`.

        two_phase: expand, then contract (Hiragushi, section 3.2); otherwise equal shares of arcs, in one kernel.
        """
        kind = self.heads.dtype
        if not len(frontier):
            return cupy.empty(0, kind), cupy.empty(0, kind)
        ends = cupy.cumsum(self.out_offsets[frontier + 1] - self.out_offsets[frontier])
        arcs, rows = int(ends[-1]), len(frontier)
        most = min(arcs, 64 * len(sent))
        found, parents = cupy.empty(most, kind), cupy.empty(most, kind)
        count, launch = cupy.zeros(2, np.uint64), kernels()
        if two_phase:
            targets, sources = cupy.empty(arcs, kind), cupy.empty(arcs, kind)
            given = (self.out_offsets, self.heads, frontier, np.uint64(rows), targets, sources, count[1:])
            launch(HEADER, "expand", rows, *given, shape=self.slot, blocks=min(rows, launch.blocks))
            given = (targets, sources, np.uint64(arcs), sent, found, parents, count)
            launch(HEADER, "contract", arcs, *given, shape=self.slot)
        else:
            sizes = np.int64(rows), np.int64(arcs)
            given = (self.out_offsets, self.heads, frontier, ends, *sizes, sent, found, parents, count)
            launch(HEADER, "push", arcs, *given, shape=self.slot)
        kept = int(count[0])
        return found[:kept], parents[:kept]

    def pull(self, first, closed, front, parents, compacted=False, sorted_rows=False):
        """Pull for the rows starting at slot `first`; sets parents, and bits in `closed`. Returns (found, arcs read).

        compacted: open rows are packed first (Hiragushi, Figure 3). sorted_rows: read rows in the order of sort_rows.
        """
        sums, launch = cupy.zeros(2, np.uint64), kernels()
        halves = 2 * len(closed)  # words of 32 vertices
        tails = self.sorted_tails if sorted_rows else self.tails
        given = (self.in_offsets, tails, np.int64(first), np.int64(halves), closed, front, parents, sums)
        if compacted:
            launch(HEADER, "pull_compacted", halves, *given, shape=self.slot)
        else:
            launch(HEADER, "pull", WARP * halves, *given, shape=self.slot)
        found, checked = sums.tolist()
        return found, checked

    def claim(self, heads, parents, visited, parent):
        """Return the unvisited vertices of this rank among `heads`; sets their parents, unless `parent` is None."""
        kept, tail = cupy.empty(len(heads), np.int64), cupy.zeros(1, np.uint64)
        identity = "int" if parent is None else C_TYPES[parent.dtype]
        given = (NULL, NULL) if parent is None else (parents, parent)
        arguments = (heads, given[0], np.int64(len(heads)), visited, given[1], kept, tail)
        kernels()(HEADER, "claim", len(heads), *arguments, shape=identity)
        return kept[: int(tail[0])]

    def hubs_first(self, weight):
        rows, shape = len(self.in_offsets) - 1, f"{C_TYPES[self.tails.dtype]}, unsigned char"
        given = self.in_offsets, self.tails, np.int64(rows), weight
        kernels()(HEADER, "hubs_first", WARP * rows, *given, shape=shape)

    def sort_rows(self, weight):
        """A second copy of the rows of `into`, with tails sorted by descending weight; ties by slot."""
        order = cupy.argsort(-weight.astype(np.int64), kind="stable")
        place = cupy.empty(len(order), np.int64)
        place[order] = cupy.arange(len(order))
        order = order.astype(self.tails.dtype)
        self.sorted_tails = cupy.empty_like(self.tails)
        for first in range(0, len(self.in_offsets) - 1, SORTED_TOGETHER):
            ends = self.in_offsets[first : first + SORTED_TOGETHER + 1]
            some = slice(*ends[[0, -1]].tolist())
            rows = cupy.searchsorted(ends[1:], cupy.arange(some.start, some.stop), side="right")
            keys = rows * len(order) + place[self.tails[some]]
            keys.sort()
            self.sorted_tails[some] = order[keys % len(order)]

    @cached_property
    def _longs(self):
        return long_rows(self.in_offsets)

    def check(self, levels, tail_levels, parents, linked):
        return check(self.in_offsets, self.tails, levels, tail_levels, parents, linked, self._longs)

    def lengths(self, out_names, into_names, n, start):
        return Lengths(self, out_names, into_names, n, start)


# ---------------------------------------------------------------- arcs with lengths

NAMES = record(HEADER, "Names", "ptr starts shifts", "i64 count")


class Lengths:
    """The lengths of a Part's arcs, and the steps of shortest paths that use them."""

    def __init__(self, part, out_names, into_names, n, start):
        self.part = part
        self.out = self._drawn(part.out_offsets, part.heads, *out_names, n, start)
        same = part.tails is part.heads
        self.into = self.out if same else self._drawn(part.in_offsets, part.tails, *into_names, n, start)

    def _launch(self, name, work, *arguments):
        kernels()(HEADER, name, work, *arguments, shape=self.part.slot)

    def _drawn(self, offsets, neighbours, rows, columns, n, start):
        lengths, count = cupy.empty(len(neighbours), np.uint32), len(offsets) - 1
        kept = [cupy.asarray(array) for array in (*rows, *columns)]
        names = np.zeros(2, NAMES)
        for i in range(2):
            names[i] = (kept[2 * i].data.ptr, kept[2 * i + 1].data.ptr, len(kept[2 * i]))
        given = (np.int64(count), names[:1], names[1:], np.uint64(n), np.uint64(start))
        self._launch("draw_lengths", WARP * count, offsets, neighbours, *given, lengths)
        self.part.finish()  # before the arrays to which the names point are freed
        return lengths

    def relax(self, rows, distances, best, who, touched):
        """Heads with a shorter path, in any order; sets best and who for them. `touched` is 0 before and after."""
        part = self.part
        if not len(rows):
            return cupy.empty(0, np.int64)
        ends = cupy.cumsum(part.out_offsets[rows + 1] - part.out_offsets[rows])
        arcs = int(ends[-1])
        found, tail = cupy.empty(min(len(best), arcs), np.int64), cupy.zeros(1, np.uint64)
        sizes = np.int64(len(rows)), np.int64(arcs)
        arguments = (part.out_offsets, part.heads, self.out, rows, distances, ends, *sizes, best, touched)
        self._launch("relax", arcs, *arguments, found, tail)
        self._launch("name_parents", arcs, *arguments, who)
        found = found[: int(tail[0])]
        touched[found >> 6] = 0
        return found

    def check(self, distances, tail_distances, parents, linked):
        wrong, part = cupy.zeros(3, np.uint64), self.part
        rows = len(part.in_offsets) - 1
        answers = (distances, tail_distances, parents, linked, wrong)
        self._launch("check_lengths", WARP * rows, part.in_offsets, part.tails, self.into, np.int64(rows), *answers)
        return wrong.tolist()
