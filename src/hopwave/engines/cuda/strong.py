"""Strongly connected components on the GPU: trimming, one search forwards and backwards, colours.

kernels/components/strong.cuh explains the steps. The host only reads, after each, how many vertices are left.
"""

import cupy
import numpy as np

from hopwave.engines.cuda import nvrtc
from hopwave.engines.cuda.buffers import allocate
from hopwave.engines.cuda.components import labels_by_lowest
from hopwave.engines.cuda.launch import BLOCK, NULL, expression
from hopwave.engines.cuda.records import filled, record
from hopwave.engines.ledger import declare
from hopwave.generate import counter

HEADER = "components/strong.cuh"
KERNELS = (
    "count_open", "close_reached", "regroup", "find_lowest", "name_by_lowest",
    "trim", "reach", "spread_colours", "close_colours",
)  # fmt: skip
PIECE = 512  # ROW_PIECE in kernels/common/arcs.cuh
PER_MULTIPROCESSOR = 2  # blocks of a cooperative launch: with more, barriers take longer
ROUNDS = record(HEADER, "Rounds", "ptr lists", "u64 room", "ptr counts arrived")
FORWARDS, BACKWARDS = np.uint32(1), np.uint32(2)


def strong_arrays(n, m):
    """The arrays of one run; lists hold pieces of rows and columns."""
    return (
        declare(np.int32, fill=-1, part=n)
        | declare(np.int32, fill=0, group=n)
        | declare(np.int32, out=n, into=n)
        | declare(np.uint32, fill=0, marks=n)
        | declare(np.uint32, listed=n, counts=8)
        | declare(np.uint64, colour=n, lists=(2, 2 * (n + m // PIECE)))
    )


class Strong:
    """One run: the vertices whose components are known, in `part`, and the launches that find more."""

    def __init__(self, on_device):
        self.device, self.n, self.m = on_device, on_device.n, on_device.m
        nvrtc.begin(HEADER, [expression(HEADER, name, on_device.offset) for name in KERNELS])
        self.rows, self.columns = on_device.rows, on_device.columns
        self.arrays = allocate(strong_arrays(self.n, self.m))
        self.part, self.group = self.arrays["part"], self.arrays["group"]
        lists, self.counts = self.arrays["lists"], self.arrays["counts"]
        self.rounds = filled(ROUNDS, lists=lists, room=lists.shape[1], counts=self.counts, arrived=self.counts[4:])
        self.vertices = np.int32(self.n)

    def launch(self, name, work, *arguments):
        """Launch a plain kernel."""
        self.device.launch(HEADER, name, work, *arguments)

    def together(self, name, *arguments):
        """Launch a cooperative kernel that works in rounds."""
        kernel, fit = nvrtc.cooperative(HEADER, expression(HEADER, name, self.device.offset), BLOCK)
        self.counts.data.memset_async(0, self.counts.nbytes)
        blocks = min(fit, PER_MULTIPROCESSOR * self.device.device.multiprocessors)
        kernel((blocks,), (BLOCK,), (*arguments, self.rounds))

    def trim(self):
        """Close the open vertices that are on no cycle of their group."""
        out, into = self.arrays["out"], self.arrays["into"]
        for count in (out, into):
            count.data.memset_async(0, count.nbytes)
        arcs = self.vertices, np.uint64(self.m)
        self.launch("count_open", self.m, *self.rows, *arcs, self.part, self.group, out, into)
        self.together("trim", *self.rows, *self.columns, self.vertices, self.group, self.part, out, into)

    def largest(self):
        """Close the component of the open vertex with most pairs of an arc in and an arc out."""
        out, into, marks = self.arrays["out"], self.arrays["into"], self.arrays["marks"]
        pairs = cupy.where(self.part < 0, out.astype(np.int64) * into, -1)
        pivot = np.int32(int(pairs.argmax()))
        for bit, arcs in ((FORWARDS, self.rows), (BACKWARDS, self.columns)):
            self.together("reach", *arcs, pivot, bit, self.part, self.group, marks)
        self.launch("close_reached", self.n, self.vertices, pivot, marks, self.part, self.group)

    def coloured(self, seed):
        """Close the component of every vertex whose colour is its own."""
        colour, listed = self.arrays["colour"], self.arrays["listed"]
        state = self.vertices, np.uint64(seed), self.part, self.group, colour, listed
        self.together("spread_colours", *self.rows, *state)
        self.together("close_colours", *self.columns, self.vertices, self.part, self.group, colour)

    def open(self, colour=NULL):
        """How many vertices are open; their colours, if given, become their groups."""
        count = cupy.zeros(1, np.uint32)
        self.launch("regroup", self.n, self.vertices, self.part, colour, self.group, count)
        return int(count.get()[0])

    def numbers(self):
        """The number of every vertex's component, by the lowest vertices."""
        return labels_by_lowest(self.device.launch, self.part)


def components(on_device):
    """The number of every vertex's strong component, int32 on the host; ordered by their lowest vertices."""
    if not on_device.n:
        return np.zeros(0, np.int32)
    run = Strong(on_device)
    run.trim()
    if run.open():
        run.largest()
        run.trim()
    turn, left = 0, run.open()
    while left:
        run.coloured(counter.start(turn, "colours"))
        left = run.open(run.arrays["colour"])
        if left:
            run.trim()
            left = run.open()
        turn += 1
    return run.numbers().get()
