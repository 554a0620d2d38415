"""Components on the GPU: weak (by hooking, kernels/components/hooking.cuh), strong and biconnected."""

import cupy
import numpy as np

from hopwave.engines.cuda import nvrtc, policy
from hopwave.engines.cuda.buffers import allocate, copied
from hopwave.engines.cuda.build import long_rows
from hopwave.engines.cuda.errors import explained
from hopwave.engines.cuda.graph import uploaded
from hopwave.engines.cuda.launch import BLOCK, NULL, TILE, WARP, expression, kernels, together
from hopwave.engines.cuda.records import filled, record
from hopwave.engines.ledger import declare
from hopwave.generate import counter

HEADER, STRONG = "components/hooking.cuh", "components/strong.cuh"
together(
    HEADER, "plant", "hook_first", "hook_rest", "flatten", "sample_roots", "count_roots", "scan_roots", "number_roots",
    "write_labels", "hook_sides_first", "hook_sides", "write_sides",
)  # fmt: skip


def components(on_device):
    """The component number of every vertex, int32 on the host; components are ordered by their lowest vertices."""
    few, vertices = np.int32(policy.SAMPLED_ARCS), np.int32(on_device.n)
    n, launch, long = on_device.n, on_device.launch, policy.LONG_HOOKED_ROW
    if not n:
        return np.zeros(0, np.int32)
    rows = on_device.__dict__.get("arranged") if not on_device.directed else None
    packed = on_device.compressed
    offsets, neighbours = rows or (on_device.rows if packed is None else (packed.offsets, packed.neighbours))
    parent = cupy.empty(n, np.int32)
    launch(HEADER, "plant", n, vertices, parent)
    launch(HEADER, "hook_first", n, offsets, neighbours, vertices, few, parent)
    launch(HEADER, "flatten", n, vertices, parent)
    giant = -1 if on_device.directed else most_frequent(launch, parent)
    longest = long_rows(launch, offsets, on_device.m, long)
    launch(
        HEADER, "hook_rest", WARP * n, offsets, neighbours, vertices, few, np.int32(giant), longest,
        np.uint64(len(longest)), np.uint64(long), parent,
    )  # fmt: skip
    launch(HEADER, "flatten", n, vertices, parent)
    if packed is None:
        return labels(launch, parent).get()
    return labels_by_lowest(kernels("int"), parent[packed.numbering.numbers]).get()


def sides(graph):
    """The side of every vertex, int8 on the host; a component's lowest vertex is on side 0. None if a cycle is odd."""
    with explained("testing whether the graph is bipartite", graph):
        on_device = uploaded(graph)
        n, launch = on_device.n, on_device.launch
        vertices, nodes = np.int32(n), 2 * n
        rows = (on_device.__dict__.get("arranged") if not on_device.directed else None) or on_device.rows
        parent, found, odd = cupy.empty(nodes, np.int32), cupy.empty(n, np.int8), cupy.zeros(1, np.int32)
        launch(HEADER, "plant", nodes, np.int32(nodes), parent)
        for name, most, count in (
            ("hook_sides_first", n, np.int32(policy.SAMPLED_ARCS)),
            ("hook_sides", on_device.m, np.uint64(on_device.m)),
        ):
            launch(HEADER, name, most, *rows, vertices, count, parent)
            launch(HEADER, "flatten", nodes, np.int32(nodes), parent)
            launch(HEADER, "write_sides", n, vertices, parent, found, odd)
            if int(odd.get()[0]):  # in most graphs with an odd cycle, the first arcs contain one
                return None
        return found.get()


def most_frequent(launch, parent):
    n = len(parent)
    count = min(policy.SAMPLED_VERTICES, n)
    roots = cupy.empty(count, np.int32)
    launch(HEADER, "sample_roots", count, np.uint64(n), parent, np.uint64(count), roots)
    found, votes = np.unique(roots.get(), return_counts=True)
    return int(found[np.argmax(votes)])


def labels_by_lowest(launch, part):
    n, lowest = len(part), cupy.full(len(part), len(part), np.int32)
    launch(STRONG, "find_lowest", n, np.int32(n), part, lowest)
    launch(STRONG, "name_by_lowest", n, np.int32(n), lowest, part)
    return labels(launch, part)


def labels(launch, parent):
    """Turn every vertex's root into the number of its tree; overwrites `parent`."""
    n, tiles = np.uint64(len(parent)), -(-len(parent) // TILE)
    sums, found = cupy.empty(tiles, np.uint64), cupy.empty(len(parent), np.int32)
    launch(HEADER, "count_roots", BLOCK * tiles, n, parent, sums)
    launch(HEADER, "scan_roots", BLOCK, sums, np.uint64(tiles))
    launch(HEADER, "number_roots", BLOCK * tiles, n, sums, parent)
    launch(HEADER, "write_labels", len(parent), n, parent, found)
    return found


# ---------------------------------------------------------------- strong components

STRONG_KERNELS = (
    "count_open", "close_reached", "regroup", "find_lowest", "name_by_lowest",
    "trim", "reach", "spread_colours", "close_colours",
)  # fmt: skip
PIECE = 512  # ROW_PIECE in kernels/common/rows.cuh
PER_MULTIPROCESSOR = 2  # blocks of a cooperative launch: with more, barriers are slower
ROUNDS = record(STRONG, "Rounds", "ptr lists", "u64 room", "ptr counts arrived")
FORWARDS, BACKWARDS = np.uint32(1), np.uint32(2)


class Strong:
    """One job: the vertices whose components are known, in `part`, and the launches that find more."""

    def __init__(self, on_device):
        n, m = on_device.n, on_device.m
        self.device, self.n, self.m = on_device, n, m
        nvrtc.begin(STRONG, [expression(STRONG, name, on_device.offset) for name in STRONG_KERNELS])
        self.rows, self.columns = on_device.rows, on_device.columns
        made = (
            declare(np.int32, fill=-1, part=n) | declare(np.int32, fill=0, group=n) | declare(np.int32, out=n, into=n)
        )
        made |= declare(np.uint32, fill=0, marks=n) | declare(np.uint32, listed=n, counts=8)
        made |= declare(np.uint64, colour=n, lists=(2, 2 * (n + m // PIECE)))  # pieces of rows and columns
        self.arrays = allocate(made)
        self.part, self.group = self.arrays["part"], self.arrays["group"]
        lists, self.counts = self.arrays["lists"], self.arrays["counts"]
        self.rounds = filled(ROUNDS, lists=lists, room=lists.shape[1], counts=self.counts, arrived=self.counts[4:])
        self.vertices = np.int32(self.n)

    def launch(self, name, work, *arguments):
        self.device.launch(STRONG, name, work, *arguments)

    def together(self, name, *arguments):
        """Launch a cooperative kernel that works in rounds."""
        kernel, fit = nvrtc.cooperative(STRONG, expression(STRONG, name, self.device.offset), BLOCK)
        self.counts.data.memset_async(0, self.counts.nbytes)
        blocks = min(fit, PER_MULTIPROCESSOR * self.device.device.multiprocessors)
        kernel((blocks,), (BLOCK,), (*arguments, self.rounds))

    def trim(self):
        out, into = self.arrays["out"], self.arrays["into"]
        for count in (out, into):
            count.data.memset_async(0, count.nbytes)
        arcs = self.vertices, np.uint64(self.m)
        self.launch("count_open", self.m, *self.rows, *arcs, self.part, self.group, out, into)
        self.together("trim", *self.rows, *self.columns, self.vertices, self.group, self.part, out, into)

    def largest(self):
        """Close the component of the open vertex with the most pairs of an in-arc and an out-arc."""
        out, into, marks = self.arrays["out"], self.arrays["into"], self.arrays["marks"]
        pairs = cupy.where(self.part < 0, out.astype(np.int64) * into, -1)
        pivot = np.int32(int(pairs.argmax()))
        for bit, arcs in ((FORWARDS, self.rows), (BACKWARDS, self.columns)):
            self.together("reach", *arcs, pivot, bit, self.part, self.group, marks)
        self.launch("close_reached", self.n, self.vertices, pivot, marks, self.part, self.group)

    def coloured(self, seed):
        """Close the component of every vertex whose colour is its own priority."""
        colour, listed = self.arrays["colour"], self.arrays["listed"]
        state = self.vertices, np.uint64(seed), self.part, self.group, colour, listed
        self.together("spread_colours", *self.rows, *state)
        self.together("close_colours", *self.columns, self.vertices, self.part, self.group, colour)

    def open(self, colour=NULL):
        """The number of open vertices; their colours, if passed, become their groups."""
        count = cupy.zeros(1, np.uint32)
        self.launch("regroup", self.n, self.vertices, self.part, colour, self.group, count)
        return int(count.get()[0])


def strong_components(on_device):
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
    return labels_by_lowest(on_device.launch, run.part).get()


# ---------------------------------------------------------------- biconnected components

together(HEADER, "neighbour_range", "join_others")


def blocks(on_device, parent, depth):
    """Like hopwave.engines.cpu.blocks.blocks: the GPU reads all arcs, and the host walks the tree."""
    from hopwave.engines.cpu import blocks as tree

    on_device.refuse_compressed()
    n, launch, size = on_device.n, on_device.launch, np.empty(on_device.n, np.int32)
    first, label, head = np.zeros(n, np.int32), np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    order = tree.number_subtrees(parent, depth, first, size)
    numbers, up = cupy.asarray(first), cupy.asarray(parent.astype(np.int32))
    low, high = copied(numbers), copied(numbers)
    arcs = *on_device.rows, np.int32(n), np.uint64(on_device.m), up
    launch(HEADER, "neighbour_range", on_device.m, *arcs, numbers, low, high)
    above = np.arange(n).astype(np.uint32)
    tree.join_tree(order, parent, first, size, low.get(), high.get(), above)
    sets = cupy.asarray(above.view(np.int32))
    launch(HEADER, "join_others", on_device.m, *arcs, sets)
    launch(HEADER, "flatten", n, np.int32(n), sets)
    count = tree.number_blocks(parent, depth, sets.get().view(np.uint32), label, head)
    return label, head[:count].copy()
