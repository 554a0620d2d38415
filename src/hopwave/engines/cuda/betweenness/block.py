"""Betweenness, one block per source (kernels/betweenness/block.cuh): for small or deep graphs, and for overflow."""

from dataclasses import replace

import cupy
import numpy as np

from hopwave.engines.cuda import nvrtc
from hopwave.engines.cuda.betweenness import regimes
from hopwave.engines.cuda.buffers import Pieces, allocate
from hopwave.engines.cuda.launch import BLOCK, expression, kernels, offset_type, truth
from hopwave.engines.cuda.records import address, filled, record
from hopwave.engines.cuda.renumber import old_places, to_new_order, to_old_order
from hopwave.planning.jobs import component_ranges

HEADER = "betweenness/block.cuh"
EXTENDED = "hopwave::Extended"  # mantissa and exponent, for counts beyond float64
NO_CUTOFF = np.iinfo(np.int32).max
SUMMING = 1024  # threads per row of scores

GRAPH = record(
    "betweenness/brandes.cuh", "Graph<int>", "ptr offsets neighbours in_offsets in_neighbours",
    "i64 n m",
)  # fmt: skip
ALONE = record(
    HEADER, "Alone",
    "ptr sources which ticket targets places rows due status queue begins shifts X codes boards",
    "i64 count width words",
    "i64 cutoff endpoints edges directed degree_bits",
    "i64 group team",
)  # fmt: skip


def begin(loaded, job, runs):
    """Start compiling the block regime's kernels, in the usual shape. `runs`: False if it only serves as a fallback."""
    plain = truth(not (job.edges or loaded.directed))
    names = [expression(HEADER, "sources_alone", loaded.on_device.offset, "double", "true", plain, "false")]
    names += [expression(HEADER, name, "int") for name in ("add_rows", "sum_rows")] if runs else []
    nvrtc.begin(HEADER, names)


def add(rows, total, scores, squares=False, origins=None, places=None):
    """Add rows of scores, with these weights and places (kernels/betweenness/block.cuh), to their total."""
    if scores:
        given = (np.uint64(address(array)) for array in (origins, places))
        arguments = rows, *given, *rows.shape, scores, int(squares), total
        kernels().exactly(HEADER, "add_rows", "int", (kernels().grid(scores, BLOCK),), BLOCK, arguments)


class Blocks:
    """The block regime on one graph for one job."""

    header, kernel = HEADER, "sources_alone"

    def __init__(self, loaded, job, machine, depth, budget, numbers=None, at_once=None):
        self.loaded, self.job, self.numbers = loaded, job, numbers
        n, m, k = loaded.n, loaded.m, at_once or job.planned_sources
        self.ranges = None if job.shared else job.components  # of vertices: one per component
        self.reached = regimes.largest(job.components, n)
        self.scores = self.width = m if job.edges else n  # width: of a row of scores
        self.arcs = m  # that a search inspects at most
        if self.ranges is not None:
            bounds = np.searchsorted(self.ranges, np.arange(self.ranges[-1] + 2))
            self.arcs = int(np.diff(loaded.graph.indptr[bounds]).max())
            self.width = self.arcs if job.edges else self.reached
        self.kernels = kernels()
        self.offset = offset_type(loaded.offsets)
        threads = self.kernels.resident_threads(self.header, self.kernel, self._flags("double", True, 1))
        self.shape = self._shape(n, m, k, depth, replace(machine, threads=threads))
        self.size = regimes.block_size(
            k, self.width, self.shape, machine, regimes.MAX_ROUNDS * n // max(1, self.reached)
        )
        self.extended = 0
        self.graph = self._graph(numbers or loaded)
        targets = job.targets
        if numbers is not None and targets is not None:
            targets = targets[numbers.order.get()]
        self.targets = None if targets is None else cupy.asarray(targets.astype(np.float64))
        self.fit = regimes.block_fit(self._state_bytes(), self.width, self.shape, self.size, budget())

    def _shape(self, n, m, k, depth, machine):
        return regimes.block_shape(n, m, k, depth, machine, self.reached)

    def _state_bytes(self):
        return regimes.block_state(self.loaded.n, self.shape.shared)

    def _graph(self, arrays):
        """The kernels' struct Graph of these arrays; the caller keeps the arrays alive."""
        rows = {"offsets": arrays.offsets, "neighbours": arrays.neighbours}
        columns = {"in_offsets": arrays.offsets, "in_neighbours": arrays.neighbours}
        if self.loaded.directed:
            columns = {"in_offsets": arrays.in_offsets, "in_neighbours": arrays.in_neighbours}
        return filled(GRAPH, **rows, **columns, n=self.loaded.n, m=self.loaded.m)

    def _flags(self, number, shared, team):
        plain = number == "double" and not (self.job.edges or self.loaded.directed)
        return f"{self.offset}, {number}, {truth(shared > 0)}, {truth(plain)}, {truth(team > 1)}"

    def add(self, sources, total):
        origins = None if self.job.origins is None else self.job.origins[sources]
        if self.numbers is None:
            spans = None if self.ranges is None else component_ranges(self.ranges, sources)
            return self._add(cupy.asarray(np.asarray(sources, np.int32)), origins, total, spans)
        places = self._places()
        own = to_new_order(total, places)
        certificate = self._add(cupy.asarray(self.numbers.rank[sources]), origins, own)
        to_old_order(own, places, total)
        return certificate

    def _places(self):
        numbers, loaded = self.numbers, self.loaded
        if not self.job.edges:
            return numbers.order
        return old_places(loaded.on_device.launch, numbers.order, numbers.offsets, loaded.offsets, loaded.m)

    def _add(self, sources, origins, total, spans=None):
        pieces = Pieces(len(sources), self.fit[1])
        certificate = np.zeros((len(sources), 2))
        for begin, end in pieces:
            with pieces.halving():
                amounts = None if origins is None else origins[begin:end]
                some = None if spans is None else spans[begin:end]
                blocks = min(self.fit[0], pieces.size)
                certificate[begin:end] = self._piece(sources[begin:end], amounts, total, blocks, some)
        return certificate

    def _piece(self, sources, origins, total, blocks, spans):
        count, places = len(sources), None
        if spans is not None:
            places = cupy.asarray((self.loaded.graph.indptr[spans] if self.job.edges else spans).astype(np.int64))
        rows = cupy.zeros((count, self.width), np.float64)
        results = {"sources": sources, "rows": rows, "places": places, **self._new_results(count, spans)}
        self._run(results, None, count, blocks, "double", self.shape.shared, self.shape.team)
        overflowed = self._overflowed(results)
        if len(overflowed):
            again = len(overflowed)
            self.extended += again
            self._run(results, cupy.asarray(overflowed), again, min(blocks, again), EXTENDED, 0, 1)
            self._overflowed(results)  # raises an error if a count still overflows
        sums, grid = cupy.empty(count, np.float64), (self.kernels.grid(SUMMING * count, SUMMING),)
        amounts = None if origins is None else cupy.asarray(origins)
        add(rows, total, self.scores, self.job.squares, amounts, places)
        self.kernels.exactly(HEADER, "sum_rows", "int", grid, SUMMING, (rows, *rows.shape, sums))
        due = results["due"].get()
        sides = np.stack([sums.get() - 2.0 * due[:, 1] * self.job.endpoints, due[:, 0]], 1)
        return sides if origins is None else sides * origins[:, None]

    def _new_results(self, count, spans):
        return {"due": cupy.zeros((count, 2)), "status": cupy.zeros(count, np.int32)}

    def _overflowed(self, results):
        return np.flatnonzero(results["status"].get()).astype(np.int32)

    def _run(self, results, which, count, blocks, number, shared, team):
        """Run the sources of these rows (which: only some of them), with path counts of type `number`."""
        loaded, job, n = self.loaded, self.job, self.loaded.n
        blocks = min(blocks, count)
        state = allocate(regimes.block_arrays(n, blocks, 1 if number == "double" else 2, shared))
        numbers = {
            "count": count, "width": self.width, "words": regimes.code_words(n),
            "cutoff": NO_CUTOFF if job.cutoff is None else min(job.cutoff, NO_CUTOFF), "endpoints": job.endpoints,
            "edges": job.edges, "directed": loaded.directed, "degree_bits": loaded.on_device.degree_bits,
            "group": self.shape.group, "team": team,
        }  # fmt: skip
        arguments = self.graph, filled(ALONE, which=which, targets=self.targets, **results, **state, **numbers)
        flags, grid = self._flags(number, shared, team), (blocks * team,)
        self.kernels.exactly(
            HEADER, "sources_alone", flags, grid, self.shape.threads, arguments, shared, cooperative=team > 1
        )
