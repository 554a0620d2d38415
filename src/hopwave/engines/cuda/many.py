"""Searches from many sources on the GPU: groups of up to 1024 sources, each group one launch (kernels/many/search.cuh).

No answer depends on which sources share a group: a bit never sees another, and what is added up is whole numbers, but
for Σ 1/d, which belongs to one source and is added level by level in the order of the CPU engine. So both engines give
the same bits.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from hopwave.engines.cuda import nvrtc
from hopwave.engines.host_memory import check_memory
from hopwave.jobs import Swept

HEADER = "many/search.cuh"
BLOCK = 256
WORDS = (2, 16)  # of 64 sources, that a vertex may have: the kernel's instances
SUMS, COLUMNS, ROWS, PAIRS = 1, 2, 4, 8
KEEP = {"sums": SUMS, "columns": SUMS | COLUMNS, "rows": ROWS, "pairs": PAIRS}
NO_LIMIT = np.iinfo(np.int32).max

LONG_ROW = 256  # arcs from which a row is shared out
PUSH_COST = 3  # of an arc, against one that a pull looks at
PULL_SHARE = 2  # a first pull is expected to look at this part of the arcs
DEEP = 32  # levels from which a group's sources had better be neighbours, and a level has few vertices
ROWS_A_TEAM, ROWS_A_TEAM_DEEP = 32, 128  # vertices for every team of a part of the grid: more would wait at barriers
TURNS = 4  # groups that a part takes in one launch
IN_FLIGHT = 2  # launches that the device may be behind: so soon does it stop after Ctrl-C
TABLE_BYTES = 1 << 30  # of distances on the device at a time, on their way to the host
FIRST_ROOM = 1 << 20  # pairs that a group is expected to find at most

# The kernel's records Many and Counters; every field of the first is 8 bytes wide.
ARCS = ("offsets", "neighbours", "in_offsets", "in_neighbours", "long_rows")
WORK = ("state", "touched", "lists", "longs", "counts", "counters", "sources", "places", "reach")
ANSWERS = ("reached", "total", "farthest", "inverse", "histogram", "columns", "rows", "pairs")
GROUPS = ("n", "grids", "first", "last", "width", "count")
SIZES = ("long_count", "long_row", "long_room", "limit", "keep", "hops", "shift", "upwards", "room")
RULE = ("vertex_bits", "depth_bits", "push_cost", "expected")
MANY = np.dtype([(name, np.int64) for name in (*ARCS, *WORK, *ANSWERS, *GROUPS, *SIZES, *RULE)])
COUNTERS_BYTES = 5 * 128
LISTED = 4 * 128  # where the number of pairs stands in it


def words_for(sources, n, free):
    """Words a vertex: as many as the sources fill, where three rows of them for every vertex fit into that many bytes.

    >>> words_for(100, 10**6, 10**11), words_for(10_000, 10**6, 10**11), words_for(10_000, 10**9, 10**11)
    (2, 16, 2)
    """
    few, many = WORDS
    return many if sources > 64 * few and 24 * many * n < free * 3 // 4 else few


def parts_for(n, words, groups, depth, blocks, free):
    """Parts of a grid of so many blocks, each for a group at a time, and blocks a part.

    >>> parts_for(36_692, 16, 36, 9, 528, 10**11), parts_for(10**6, 16, 1, 9, 528, 10**11)
    ((7, 75), (1, 528))
    >>> parts_for(114_599, 16, 112, 1000, 528, 10**11), parts_for(34, 2, 1, 5, 528, 10**11)
    ((9, 58), (1, 1))
    """
    rows = ROWS_A_TEAM_DEEP if depth >= DEEP else ROWS_A_TEAM
    enough = max(1, min(blocks, -(-n * words // (BLOCK * rows))))
    parts = max(1, min(blocks // enough, groups, free * 3 // 4 // max(1, (24 * words + 17) * n)))
    return parts, max(1, min(blocks // parts, -(-n * words // BLOCK)))


def pair_bits(n, limit, width):
    """Bits of a vertex and of a distance in a pair's number, and how many sources a group may have beside them.

    >>> pair_bits(1000, 2, 1024), pair_bits(2**31 - 2, None, 1024)
    ((10, 2, 1024), (31, 31, 4))
    """
    vertex = max(1, (n - 1).bit_length())
    depth = max(1, (n if limit is None else min(limit, n)).bit_length())
    return vertex, depth, min(width, 1 << (64 - vertex - depth))


def sweep(loaded, job, labels, poll):
    """All searches of the job; poll(sources done) is called now and then. See hopwave.algorithms.many_sources."""
    k, n = len(job.sources), loaded.n
    follows = loaded.on_device.follows
    run = Run(loaded, job, labels)
    if job.keep != "rows":
        run.groups(0, k, poll)
        return run.swept()
    if not follows:
        check_memory(4 * n * k, f"a table of {k:,} × {n:,} distances")
    answer = None if follows else np.empty((k, n), np.int32)
    size = max(1, k) if follows else max(run.width, TABLE_BYTES // (4 * max(1, n)) // run.width * run.width)
    for first in range(0, max(1, k), size):
        table = run.table(min(size, k - first))
        run.groups(first, min(first + size, k), poll)
        if follows:
            answer = table
        elif table.size:
            table.get(out=answer[first : first + size])
    return run.swept(answer)


class Run:
    """A job's arrays on the device, lent to one group of sources after another."""

    def __init__(self, loaded, job, labels):
        import cupy

        from hopwave.engines.cuda.graph import long_rows

        n, m, k = loaded.n, loaded.m, len(job.sources)
        self.loaded, self.job, self.labels = loaded, job, labels
        free = cupy.cuda.runtime.memGetInfo()[0] + cupy.get_default_memory_pool().free_bytes()
        words = words_for(k, n, free)
        self.vertex_bits, self.depth_bits, self.width = pair_bits(n, job.limit, 64 * words)
        if job.keep != "pairs":
            self.width = 64 * words
        offset = "int" if loaded.offsets.dtype == np.int32 else "long long"
        self.kernel, most = nvrtc.cooperative(HEADER, f"hopwave::search_many<{offset}, {words}>", BLOCK)
        groups = 1 if job.keep == "pairs" else max(1, -(-k // self.width))
        self.parts, blocks = parts_for(n, words, groups, job.depth, most, free)
        self.blocks = self.parts * blocks

        summed = KEEP[job.keep] & SUMS
        self.longest = long_rows(loaded.in_offsets, LONG_ROW)
        long_room = min(n, m // LONG_ROW + 1)
        self.sums = cupy.zeros((4, k if summed else 0), np.int64)  # reached, Σ d, greatest d; Σ 1/d as float64
        self.histogram = cupy.zeros(n + 1 if summed else 0, np.int64)
        self.columns = cupy.zeros((n if job.keep == "columns" else 0, 3), np.int64)
        self.state = cupy.empty((self.parts, 3, n, words), np.uint64)
        self.touched = cupy.zeros((self.parts, -(-n // 32)), np.uint32)
        self.lists = cupy.empty((self.parts, 2, n), np.int32)
        self.longs = cupy.empty((self.parts, 2, long_room), np.int32)
        self.counts = cupy.zeros((self.parts, 2, 64 * words), np.uint32)
        self.counters = cupy.empty((self.parts, COUNTERS_BYTES), np.uint8)
        self.found = []
        self.arguments = np.zeros(1, MANY)
        self.fill(
            offsets=loaded.offsets, neighbours=loaded.neighbours, in_offsets=loaded.in_offsets,
            in_neighbours=loaded.in_neighbours, long_rows=self.longest, state=self.state, touched=self.touched,
            lists=self.lists, longs=self.longs, counts=self.counts, counters=self.counters, reached=self.sums[0],
            total=self.sums[1], farthest=self.sums[2], inverse=self.sums[3], histogram=self.histogram,
            columns=self.columns, n=n, grids=self.parts, width=self.width, long_count=len(self.longest),
            long_row=LONG_ROW, long_room=long_room, limit=NO_LIMIT if job.limit is None else min(job.limit, NO_LIMIT),
            keep=KEEP[job.keep], hops=job.weight == "hops", shift=job.shift, upwards=job.upwards,
            vertex_bits=self.vertex_bits, depth_bits=self.depth_bits, push_cost=PUSH_COST, expected=m // PULL_SHARE,
        )  # fmt: skip
        if loaded.directed:  # a vertex that no arc leads to is found by itself alone
            in_degrees = cupy.diff(loaded.in_offsets)
            findable = int(cupy.count_nonzero(in_degrees))
            self.reach = findable + (in_degrees[cupy.asarray(job.sources)].get() == 0)
        else:
            self.reach = np.bincount(labels)[labels[job.sources]] if n else np.zeros(0, np.int64)

    def fill(self, **fields):
        """Set fields of the kernel's record: numbers, or the addresses of arrays."""
        for name, value in fields.items():
            self.arguments[name] = value.data.ptr if hasattr(value, "get") else value

    def table(self, rows):
        """A place for the distances of that many sources."""
        import cupy

        self.rows = cupy.full((rows, self.loaded.n), -1, np.int32)
        self.fill(rows=self.rows)
        return self.rows

    def order(self, first, last):
        """The sources from first to last, those together that gain by it."""
        sources = self.job.sources[first:last]
        if last - first <= self.width or self.job.keep == "pairs":
            return np.arange(last - first)
        if self.job.depth >= DEEP:
            from hopwave.engines.cpu.graph import CpuGraph
            from hopwave.engines.cpu.many.run import neighbourhood_rank

            return np.argsort(neighbourhood_rank(CpuGraph(self.loaded.graph))[sources], kind="stable")
        if self.loaded.directed:
            return np.arange(last - first)
        return np.argsort(self.labels[sources], kind="stable")  # a vertex with all that can reach it is done

    def groups(self, first, last, poll):
        """The searches from these sources."""
        import cupy

        self.places = places = self.order(first, last)
        starts = np.arange(0, last - first, self.width)
        reach = np.add.reduceat(self.reach[first:last][places], starts) if len(starts) else starts
        ids, rows, most = (
            cupy.asarray(array)
            for array in (self.job.sources[first:last][places].astype(np.int32), places, reach.astype(np.int64))
        )
        self.fill(sources=ids, places=rows, reach=most, count=last - first)
        running = deque()
        size = 1 if self.job.keep == "pairs" else TURNS * self.parts
        for begin in range(0, len(starts), size):
            self.fill(first=begin, last=min(begin + size, len(starts)))
            if self.job.keep == "pairs":
                self.found.append(self.pairs())
            else:
                self.launch()
            running.append((min(first + (begin + size) * self.width, last), cupy.cuda.Event()))
            running[-1][1].record()
            while len(running) > (IN_FLIGHT if begin + size < len(starts) else 0):
                done, event = running.popleft()
                event.synchronize()
                poll(done)

    def launch(self):
        """Some groups, in the current stream."""
        self.counters.data.memset_async(0, self.counters.nbytes)
        self.kernel((self.blocks,), (BLOCK,), (self.arguments,))

    def pairs(self):
        """One group's pairs, sorted, on the host: once more with room for all where there was too little."""
        import cupy

        room = FIRST_ROOM
        while True:
            found = cupy.empty(room, np.uint64)
            self.fill(pairs=found, room=room)
            self.launch()
            count = int(self.counters[0, LISTED : LISTED + 8].view(np.uint64)[0])
            if count <= room:
                check_memory(16 * count, f"{count:,} pairs")
                return cupy.sort(found[:count]).get()
            room = count

    def swept(self, rows=None):
        """What was kept, one entry a source in the order asked for."""
        k = len(self.job.sources)
        sums = np.zeros((4, k), np.int64)
        if self.sums.size:
            sums[:, self.places] = self.sums.get()
        pairs = np.empty(0, np.int32), np.empty(0, np.int32)
        if self.job.keep == "pairs" and self.found:
            sources = [packed >> np.uint64(self.vertex_bits + self.depth_bits) for packed in self.found]
            counts = [
                np.bincount(some.astype(np.int64), minlength=min(self.width, k - i * self.width))
                for i, some in enumerate(sources)
            ]
            sums[0] = np.concatenate(counts)
            packed = np.concatenate(self.found)
            depths = packed >> np.uint64(self.vertex_bits) & np.uint64((1 << self.depth_bits) - 1)
            pairs = (packed & np.uint64((1 << self.vertex_bits) - 1)).astype(np.int32), depths.astype(np.int32)
        return Swept(
            reached=sums[0],
            total=sums[1],
            farthest=sums[2],
            inverse=sums[3].view(np.float64),
            histogram=self.histogram.get(),
            columns=self.columns.get(),
            rows=np.empty((0, 0), np.int32) if rows is None else rows,
            pairs=pairs,
        )


def instances(offset):
    """(header, name) of every kernel here: what the compile test compiles."""
    return [(HEADER, f"hopwave::search_many<{offset}, {words}>") for words in WORDS]
