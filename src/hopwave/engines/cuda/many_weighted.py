"""Distances along weights from many sources on the GPU: one block or team per source (kernels/many/lengths.cuh)."""

import math
from dataclasses import replace

import cupy
import numpy as np

from hopwave.algebra.matrix import Matrix
from hopwave.engines.cuda import policy
from hopwave.engines.cuda import shortest_paths as paths
from hopwave.engines.cuda.betweenness import regimes
from hopwave.engines.cuda.betweenness.run import machine
from hopwave.engines.cuda.betweenness.weighted import Searches, arcs_of
from hopwave.engines.cuda.buffers import CopiesBeside, Pieces, free_memory, pinned
from hopwave.engines.cuda.launch import kernels, offset_type, truth
from hopwave.engines.cuda.policy import length_arrays
from hopwave.engines.cuda.records import filled, record
from hopwave.engines.cuda.search.one_launch import probed_depth
from hopwave.engines.host_memory import check_memory
from hopwave.engines.ledger import total
from hopwave.errors import EngineError, amount
from hopwave.planning.jobs import ShortestPathsJob, component_ranges
from hopwave.planning.many_sources import Swept
from hopwave.system.threads import each

HEADER = "many/lengths.cuh"
PARTS = 6  # float64 numbers per struct Sums

LENGTHS = record(
    HEADER, "Lengths", "ptr sources spans ticket rows reached total inverse farthest parts", "i64 count"
)  # fmt: skip


def sweep(loaded, job, poll):
    run = Run(loaded, job)
    pieces = Pieces(len(job.sources), run.at_once)
    for begin, end in pieces:
        with pieces.halving():
            run.piece(begin, end, min(run.searches, pieces.size))
        if pieces.done:
            poll(end)
    return run.swept()


def one_by_one(graph, follows, job, poll):
    """A table of distances by searches that each use the full GPU, or a large part of it: bitwise identical results."""
    k, n = len(job.sources), graph.n
    A, limit = Matrix.from_graph(graph).to("cuda"), math.inf if job.limit is None else float(job.limit)
    size = max(1, k if follows else policy.ALONG_WEIGHTS.table_bytes // (8 * max(1, n)))
    answer = np.empty((k, n)) if size < k else None
    for first in range(0, max(1, k), size):
        sources = job.sources[first : first + size].tolist()
        table = cupy.empty((len(sources), n), np.float64)
        copies = None if follows or answer is not None else CopiesBeside(table)
        for row in _filled(A, sources, limit, table):
            if copies is not None:
                copies.up_to(row)
            if row % policy.ALONG_WEIGHTS.rounds == 0:
                cupy.cuda.get_current_stream().synchronize()  # Ctrl-C waits for the searches in the stream
            poll(first + row)
        if answer is not None:
            table.get(out=answer[first : first + size])
        else:
            answer = table if copies is None else copies.finished()
    return Swept.of(k, weighted=True, rows=answer)


def _filled(A, sources, limit, table):
    """Search from the sources into the rows of the table; yields the number of finished rows, in the current stream."""
    here, together = cupy.cuda.get_current_stream(), policy.ALONG_WEIGHTS.together
    if len(sources) < together:
        for row, source in enumerate(sources):
            paths.search(A, ShortestPathsJob((source,), limit), None, False, table[row])
            yield row + 1
        return
    arcs, beside = paths.arcs_of(A), paths.searches_beside(A, together)
    for first in range(0, len(sources), len(beside)):
        some = sources[first : first + len(beside)]
        for row, (source, (stream, buffers)) in enumerate(zip(some, beside, strict=False), first):
            with stream:
                paths.launch(arcs, buffers, ShortestPathsJob((source,), limit), arcs.width, False, table[row])
            here.wait_event(stream.record())
        yield first + len(some)


class WeightedRun:
    """Searches of a job along weights by a kernel of a header, one block or team of blocks per source."""

    header, kernel = HEADER, "search_lengths"

    def __init__(self, loaded, job):
        self.loaded, self.job, self.kernels, self.arcs = loaded, job, kernels(), arcs_of(loaded)

    def _flags(self, team):
        return f"{offset_type(self.loaded.offsets)}, {truth(team > 1)}"

    def shape_of_blocks(self):
        loaded, sources = self.loaded, max(1, self.job.planned_sources)
        resident = self.kernels.resident_threads(self.header, self.kernel, self._flags(1))
        here = replace(machine(), shared=0, threads=resident)
        self.room = regimes.largest(self.job.components, loaded.n)
        self.rounds = policy.ALONG_WEIGHTS.rounds * loaded.n // max(1, self.room)  # sources per block and launch
        return regimes.block_shape(loaded.n, loaded.m, sources, probed_depth(loaded), here, self.room)

    @staticmethod
    def require(needed, budget):
        if needed > budget:
            raise EngineError(
                f"a search along weights needs {amount(needed)} on this graph, but {amount(budget)} of the GPU's "
                "memory are free; free GPU arrays of your own, or use device='cpu'"
            )

    def launch_searches(self, searches, state, results):
        team = self.shape.team
        self.kernels.exactly(
            self.header, self.kernel, self._flags(team), (searches * team,), self.shape.threads,
            (self.arcs.graph, state.state, results), cooperative=team > 1,
        )  # fmt: skip


class Run(WeightedRun):
    """A job and its results so far: `at_once` sources per launch, of which `searches` run at the same time."""

    def __init__(self, loaded, job):
        super().__init__(loaded, job)
        n, k = loaded.n, len(job.sources)
        self.table, self.summed = job.keep != "sums", job.keep in ("sums", "columns")
        self.sums = np.zeros((3, k))  # Σ d, Σ 1/d, maximum d
        self.reached = np.zeros(k, np.int64)
        self.columns, self.of_block = cupy.zeros((2, n if job.keep == "columns" else 0, 3), np.float64)
        self.pairs = []
        table = job.keep == "rows"
        self.rows = (cupy if table and loaded.on_device.follows else np).empty((k, n) if table else (0, 0), np.float64)
        self.shape = self.shape_of_blocks()
        self.searches, self.at_once = self._fit(free_memory())

    def _fit(self, budget):
        n, k = self.loaded.n, max(1, len(self.job.sources))
        state, row = total(length_arrays(self.room, 1, not self.table)), 8 * n if self.table else 0
        self.require(state + row, budget)
        searches = min(self.shape.blocks, k, budget // (state + row))
        most = self.rounds * self.shape.blocks
        if self.table:
            most = min(most, min(policy.ALONG_WEIGHTS.table_bytes, budget - searches * state) // max(1, row))
        return searches, max(1, min(k, max(searches, most)))

    def piece(self, begin, end, searches):
        count, n, team = end - begin, self.loaded.n, self.shape.team
        searches = min(searches, count)
        some, label = self.job.sources[begin:end], self.job.components
        sources = cupy.asarray(some.astype(np.int32))
        spans = None if label is None else cupy.asarray(component_ranges(label, some))
        rows = cupy.full((count, n), np.inf) if self.table else None
        reached = cupy.zeros(count, np.int64) if self.summed else None
        sums = cupy.zeros((3, count), np.float64)
        state = Searches(self.loaded, searches, self.shape, self.job.limit, self.room, own=not self.table)
        found = filled(
            LENGTHS, sources=sources, spans=spans, rows=rows, reached=reached,
            ticket=(ticket := cupy.zeros(1, np.uint32)), total=sums[0], inverse=sums[1], farthest=sums[2],
            parts=(parts := cupy.empty((searches * team, PARTS), np.float64)), count=count,
        )  # fmt: skip
        self.launch_searches(searches, state, found)
        if self.summed:
            self.reached[begin:end], self.sums[:, begin:end] = reached.get(), sums.get()
        if self.job.keep == "rows":
            self.rows[begin:end] = rows if self.loaded.on_device.follows else rows.get()
        elif self.job.keep == "columns":
            self._add_columns(begin, end, rows)
        elif self.job.keep == "pairs":
            self._list_pairs(begin, end, sources, rows)
        del ticket, parts, spans  # not before: the GPU has read them only now

    def _add_columns(self, begin, end, rows):
        """Add to the sums over sources: within a block of the job source by source, from 0; then block by block."""
        job, n, k = self.job, self.loaded.n, len(self.job.sources)
        size = job.block or k
        while begin < end:
            stop = min(end, begin - begin % size + size)
            some, rows = rows[: stop - begin], rows[stop - begin :]
            numbers = (np.int64(x) for x in (stop - begin, n, job.weight == "inverse", job.shift))
            self.kernels(HEADER, "add_columns", n, some, *numbers, self.of_block, shape="int")
            if stop % size == 0 or stop == k:
                self.columns += self.of_block
                self.of_block[:] = 0.0
            begin = stop

    def _list_pairs(self, begin, end, sources, rows):
        rows[cupy.arange(len(rows)), sources] = np.inf
        if self.job.upwards:
            rows[cupy.arange(self.loaded.n)[None, :] < sources[:, None]] = np.inf
        row, vertex = cupy.nonzero(cupy.isfinite(rows))
        length = rows[row, vertex]
        check_memory(12 * (len(row) + sum(len(part[0]) for part in self.pairs)), f"{len(row):,} more pairs")
        order = cupy.lexsort(cupy.stack([vertex.astype(np.float64), length, row.astype(np.float64)]))
        self.reached[begin:end] = cupy.bincount(row, minlength=end - begin).get()
        self.pairs.append((vertex[order].astype(np.int32).get(), length[order].get()))

    def swept(self):
        total, inverse, farthest = self.sums
        more = {"columns": self.columns.get()} if self.columns.size else {}
        if self.pairs:
            more["pairs"] = tuple(np.concatenate(parts) for parts in zip(*self.pairs, strict=True))
        return Swept.of(
            len(self.reached), weighted=True, reached=self.reached, total=total, farthest=farthest, inverse=inverse,
            rows=self.rows, **more,
        )  # fmt: skip


# ---------------------------------------------------------------- distances to some targets, and sums of values
#
# Only the columns of the targets, or the sums, are copied from the GPU. While one piece of the sources is copied to the
# host, the next is searched.

SOME_PARTS = 8  # float64 numbers per struct SomeSums
WORTH_STAGING = 1 << 26  # minimum bytes of a piece for copying it through pinned memory
COPIERS = 4  # threads that copy from pinned memory: the first write to each page of a new array is slow

CHOSEN = record(HEADER, "Chosen", "ptr sources targets ticket rows", "i64 count width")
VALUES = record(
    HEADER, "Values", "ptr sources ticket columns limits sums parts", "f64 scale least",
    "i64 count width limit_count decay",
)  # fmt: skip


def sweep_chosen(loaded, job, poll):
    run = ChosenRun(loaded, job)
    pieces, under_way = Pieces(len(job.sources), run.at_once), None
    for begin, end in pieces:
        with pieces.halving():
            following = begin, end, *run.launch(begin, end, min(run.searches, pieces.size))
        if pieces.done:
            if under_way is not None:
                run.fetch(*under_way)
                poll(begin)
            under_way = following
    if under_way is not None:
        run.fetch(*under_way)
        poll(len(job.sources))
    return run.swept()


class ChosenRun(WeightedRun):
    """A job and its results so far: `at_once` sources per launch, of which `searches` run at the same time."""

    def __init__(self, loaded, job):
        super().__init__(loaded, job)
        self.copies = cupy.cuda.Stream(non_blocking=True)
        self.staging = None  # pinned memory for a piece
        k = len(job.sources)
        if job.valued is None:
            self.kernel, self.targets = "search_targets", cupy.asarray(job.targets.astype(np.int32))
            self.width, follows = (len(job.targets),), loaded.on_device.follows
        else:
            self.kernel, follows = "search_values", False
            self.columns, self.limits = cupy.asarray(job.valued.columns), cupy.asarray(job.valued.limits)
            self.width = (len(self.columns), len(self.limits))
        self.found = (cupy if follows else np).empty((k, *self.width), np.float64)
        self.shape = self.shape_of_blocks()
        self.searches, self.at_once = self._fit(free_memory())

    def _fit(self, budget):
        """The number of concurrent searches, and of sources per launch, that fit; two pieces are in progress."""
        k, row = max(1, len(self.job.sources)), 8 * max(1, int(np.prod(self.width)))
        state = total(length_arrays(self.room, 1, True))
        self.require(state + row, budget // 2)
        return policy.table_fit(k, self.shape.blocks, state, row, budget)

    def launch(self, begin, end, searches):
        """Start searching from sources begin to end. Returns the arrays of the results, and the event after them."""
        count, team, decay = end - begin, self.shape.team, self.job.valued and self.job.valued.decay
        searches = min(searches, count)
        sources, ticket = cupy.asarray(self.job.sources[begin:end].astype(np.int32)), cupy.zeros(1, np.uint32)
        piece = cupy.empty((count, *self.width), np.float64)
        state = Searches(self.loaded, searches, self.shape, self.job.limit, self.room)
        shared = {"sources": sources, "ticket": ticket, "count": count, "width": self.width[0]}
        if decay is None:
            wanted = filled(CHOSEN, targets=self.targets, rows=piece, **shared)
        else:
            parts = cupy.empty((searches * team, SOME_PARTS), np.float64)
            wanted = filled(
                VALUES, columns=self.columns, limits=self.limits, sums=piece, parts=parts, scale=decay.scale,
                least=decay.least, limit_count=self.width[1], decay=decay.kind, **shared,
            )  # fmt: skip
        self.launch_searches(searches, state, wanted)
        return piece, cupy.cuda.get_current_stream().record()

    def fetch(self, begin, end, piece, there):
        if isinstance(self.found, cupy.ndarray):
            self.found[begin:end] = piece
            return
        self.copies.wait_event(there)
        rows = self.found[begin:end]
        if self.staging is None and piece.nbytes >= WORTH_STAGING:
            self.staging = pinned.array(piece.shape, piece.dtype)
        if self.staging is None or len(self.staging) < len(piece):
            piece.get(stream=self.copies, out=rows)
            return
        staged = self.staging[: len(piece)]
        piece.get(stream=self.copies, out=staged)
        share = -(-len(piece) // COPIERS)
        each(COPIERS, range(0, len(piece), share), lambda i: np.copyto(rows[i : i + share], staged[i : i + share]))

    def swept(self):
        kept = "rows" if self.job.valued is None else "values"
        return Swept.of(len(self.job.sources), weighted=True, **{kept: self.found})
