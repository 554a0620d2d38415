"""Arcs with lengths in a rank's part on its GPU (kernels/rank/part.cuh), like the CPU's rank/lengths.py."""

import cupy
import numpy as np

from hopwave.engines.cuda.launch import WARP, kernels
from hopwave.engines.cuda.records import record

HEADER = "rank/part.cuh"
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
        self.part.finish()  # before the arrays that the names point to are freed
        return lengths

    def relax(self, rows, distances, best, who, touched):
        """Heads that got a shorter path, in any order; sets best and who for them. `touched` is 0 before and after."""
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
        """Count the arcs that break each of three rules: see the CPU's rank/lengths.check_rows."""
        wrong, part = cupy.zeros(3, np.uint64), self.part
        rows = len(part.in_offsets) - 1
        answers = (distances, tail_distances, parents, linked, wrong)
        self._launch("check_lengths", WARP * rows, part.in_offsets, part.tails, self.into, np.int64(rows), *answers)
        return wrong.tolist()
