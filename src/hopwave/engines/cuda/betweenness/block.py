"""Betweenness, one block per source (kernels/betweenness/block.cuh): small or deep graphs, and what overflows.

Every source has a row of scores. Rows are added to the total one after another, in the order of the sources, so that
neither the number of blocks nor the memory there was for them changes a bit.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

import cupy
import numpy as np

from hopwave.engines.cuda.betweenness import regimes
from hopwave.engines.cuda.launch import Kernels, Pieces, record
from hopwave.engines.cuda.renumber import arcs_of

HEADER = "betweenness/block.cuh"
NO_CUTOFF = np.iinfo(np.int32).max
ALONE = (
    "sources", "which", "ticket", "targets", "rows", "due", "status", "queue", "begins", "shifts", "X", "codes",
    "boards", "count", "width", "words", "cutoff", "endpoints", "edges", "directed", "degree_bits", "group", "team",
)  # fmt: skip
BOARD = 128  # bytes
EXTENDED = "hopwave::brandes::Extended"


def instances():
    """Every kernel of the block regime: header and name expression."""
    for offset in ("int", "long long"):
        for shared, plain, team in itertools.product(("false", "true"), repeat=3):
            if not (shared == team == "true"):
                yield HEADER, f"hopwave::brandes::sources_alone<{offset}, double, {shared}, {plain}, {team}>"
        yield HEADER, f"hopwave::brandes::sources_alone<{offset}, {EXTENDED}, false, false, false>"
    yield HEADER, "hopwave::brandes::add_rows<int>"
    yield HEADER, "hopwave::brandes::sum_rows<int>"


class Blocks:
    """The block regime on one graph for one job."""

    def __init__(self, loaded, job, machine, depth, room, numbers=None, at_once=None):
        self.loaded, self.job, self.numbers = loaded, job, numbers
        n, m, k = loaded.n, loaded.m, at_once or len(job.sources)
        self.width = m if job.edges else n
        self.kernels = Kernels(loaded)
        threads = self.kernels.threads(HEADER, self._kernel("double", True, 1))
        self.shape = regimes.block_shape(n, m, k, depth, replace(machine, threads=threads))
        self.size = regimes.block_size(k, self.width, self.shape, machine)
        self.extended = 0
        self.graph = self.kernels.graph(numbers or loaded)
        self.targets = None if job.targets is None else cupy.asarray(job.targets.view(np.uint8))
        if numbers is not None and self.targets is not None:
            self.targets = self.targets[numbers.order]
        self.fit = regimes.block_fit(n, self.width, self.shape, self.size, room())

    def _kernel(self, number, shared, team):
        plain = number == "double" and not (self.job.edges or self.loaded.directed)
        flags = (str(flag).lower() for flag in (shared > 0, plain, team > 1))
        return f"sources_alone<{self.kernels.offset}, {number}, {', '.join(flags)}>"

    def add(self, sources, total):
        """Add these sources' scores to total; returns both sides of their certificates."""
        if self.numbers is None:
            return self._add(cupy.asarray(np.asarray(sources, np.int32)), total)
        places = self.places()
        own = total.reshape(-1, self.width)[:, places].ravel()
        certificate = self._add(self.numbers.rank[cupy.asarray(sources)], own)
        total.reshape(-1, self.width)[:, places] = own.reshape(-1, self.width)
        return certificate

    def places(self):
        """Where the scores under our numbers belong."""
        numbers, loaded = self.numbers, self.loaded
        if not self.job.edges:
            return numbers.order
        return arcs_of(loaded.on_device, numbers.offsets, loaded.offsets, numbers.order, loaded.m)

    def _add(self, sources, total):
        pieces = Pieces(len(sources), self.fit[1])
        certificate = np.zeros((len(sources), 2))
        for begin, end in pieces:
            with pieces.halving():
                certificate[begin:end] = self._piece(sources[begin:end], total, min(self.fit[0], pieces.size))
        return certificate

    def _piece(self, sources, total, blocks):
        count = len(sources)
        rows = cupy.zeros((count, self.width), np.float64)
        due, status = cupy.zeros((count, 2), np.int64), cupy.zeros(count, np.int32)
        results = {"sources": sources, "rows": rows, "due": due, "status": status}
        self._run(results, None, count, blocks, "double", self.shape.shared, self.shape.team)
        wide = np.flatnonzero(status.get()).astype(np.int32)
        if len(wide):
            self.extended += len(wide)
            self._run(results, cupy.asarray(wide), len(wide), min(blocks, len(wide)), EXTENDED, 0, 1)
        sums = cupy.empty(count, np.float64)
        self.kernels(HEADER, "add_rows<int>", self.width, 256, rows, count, self.width, int(self.job.squares), total)
        self.kernels(HEADER, "sum_rows<int>", 1024 * count, 1024, rows, count, self.width, sums)
        due = due.get()
        return np.stack([sums.get() - 2.0 * due[:, 1] * self.job.endpoints, due[:, 0].astype(np.float64)], 1)

    def _run(self, results, which, count, blocks, number, shared, team):
        """The sources of these rows, with path counts kept in that kind of number."""
        loaded, job, n = self.loaded, self.job, self.loaded.n
        blocks, codes = min(blocks, count), regimes.code_words(n)
        state = {
            "which": which,
            "ticket": cupy.zeros(1, np.uint32),
            "targets": self.targets,
            "queue": cupy.empty((blocks, n), np.int32),
            "begins": cupy.empty((blocks, n + 2), np.int32),
            "shifts": cupy.empty((blocks, n + 2), np.int32),
            "X": cupy.empty((blocks, n, 1 if number == "double" else 2), np.float64),
            "codes": None if shared else cupy.empty((blocks, codes), np.uint32),
            "boards": cupy.zeros((blocks, BOARD), np.uint8),
        }
        numbers = {
            "count": count, "width": self.width, "words": codes,
            "cutoff": NO_CUTOFF if job.cutoff is None else min(job.cutoff, NO_CUTOFF), "endpoints": job.endpoints,
            "edges": job.edges, "directed": loaded.directed, "degree_bits": loaded.on_device.degree_bits,
            "group": self.shape.group, "team": team,
        }  # fmt: skip
        self.kernels.launch(
            HEADER,
            self._kernel(number, shared, team),
            (blocks * team,),
            self.shape.threads,
            (self.graph, record(ALONE, {**results, **state, **numbers})),
            shared,
            cooperative=team > 1,
        )
