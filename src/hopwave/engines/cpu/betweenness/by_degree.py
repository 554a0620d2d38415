"""Betweenness on the same graph with its vertices numbered by degree.

Most arcs of an irregular graph lead to few vertices. Numbered at random, each of these shares its cache lines with
vertices that are rarely read; numbered one after another, the vertices read most lie together: 1.6 to 1.9 times faster
on Kronecker graphs (benchmarks/results/cpu-ranked.md). Renumbering runs on one core and takes as long as ten sources do
on two; the result is kept with the graph. policy.worth_renumbering decides.
"""

from dataclasses import replace

import numpy as np

from hopwave.engines.cpu.betweenness.run import Accumulation
from hopwave.engines.cpu.graph import CpuGraph
from hopwave.engines.cpu.integers import U1
from hopwave.engines.cpu.intrinsics import COMPILED
from hopwave.engines.cpu.views import unsigned
from hopwave.graph import Graph
from hopwave.graph.csr import Rows
from hopwave.system.numba_cache import njit


class RenumberedGraph:
    """rank[v] is the new number of v, order[i] the old number of i; loaded is the graph in the new numbers."""

    def __init__(self, graph):
        self.order = np.argsort(-(graph.degrees.astype(np.int64) + graph.in_degrees), kind="stable")
        self.rank = np.empty(graph.n, np.int32)
        self.rank[self.order] = np.arange(graph.n, dtype=np.int32)
        rows = self._numbered(graph.degrees, graph.in_indptr, graph.in_indices)
        columns = self._numbered(graph.in_degrees, graph.indptr, graph.indices) if graph.directed else None
        self.graph = Graph(*rows, directed=graph.directed, transpose=columns and Rows(*columns))
        self.loaded = CpuGraph(self.graph)

    def _numbered(self, degrees, across, entries):
        """Offsets and indices of rows with these lengths, filled from their transpose."""
        offsets = np.zeros(len(across), across.dtype)
        np.cumsum(degrees[self.order], dtype=offsets.dtype, out=offsets[1:])
        numbered = np.empty_like(entries)
        turn_rows(unsigned(across), unsigned(entries), self.order, self.rank, offsets[:-1].copy(), numbered)
        return offsets, numbered


class RenumberedAccumulation:
    """An accumulation in the new numbers. Between calls of advance, `total` is in the old ones."""

    def __init__(self, renumbered, job, plan, threads):
        given = {name: getattr(job, name) for name in ("targets", "origins", "copies")}
        turned = {name: values[renumbered.order] for name, values in given.items() if values is not None}
        inner = replace(job, sources=renumbered.rank[job.sources].astype(np.int64), **turned)
        self._run = Accumulation(renumbered.loaded, inner, plan, threads)
        self._old = order = renumbered.order
        if job.squares:
            self._old = np.concatenate([order, order + renumbered.loaded.n])
        self.total = np.zeros_like(self._run.total)
        self.blocks, self.size, self.certificate = self._run.blocks, self._run.size, self._run.certificate

    done = property(lambda self: self._run.done)
    extended = property(lambda self: self._run.extended)
    workers = property(lambda self: self._run.workers)

    def advance(self, first, poll):
        np.take(self.total, self._old, out=self._run.total)
        try:
            return self._run.advance(first, poll)
        finally:  # after Ctrl-C, too: what is committed is saved
            self.total[self._old] = self._run.total


@njit(**COMPILED)
def turn_rows(across, entries, order, rank, cursor, numbered):
    """Append every new number, ascending, to the rows of its neighbours: they are then sorted, hubs first."""
    for i in range(order.size):
        v = np.uint64(order[i])
        for j in range(np.int64(across[v]), np.int64(across[v + U1])):
            row = np.uint32(rank[entries[j]])
            numbered[np.uint64(cursor[row])] = i
            cursor[row] += 1
