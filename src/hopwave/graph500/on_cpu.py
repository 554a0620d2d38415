"""Graph500 in one process: the CPU engine."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave import engines
from hopwave.algorithms import bfs
from hopwave.api.validate import validate
from hopwave.engines.cpu import neighbour_order
from hopwave.engines.cpu.crew import thread_count
from hopwave.engines.host_memory import check_memory
from hopwave.generate.recursive import kronecker_edges
from hopwave.graph import Graph
from hopwave.graph.csr_compiled import sorted_rows
from hopwave.graph500.outcome import Kernel, Searched
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import SearchJob
from hopwave.planning.plan import Plan

# Peak bytes per edge: to build rows from a list of edges; for shortest paths, in addition to the rows.
BUILDING, WEIGHTED = 42, 102
WARM_UP = 8  # vertices of a small graph; searching it compiles everything


class OnCpu:
    """The graph in host memory. `tuples`: how often each vertex is an end of an input edge."""

    def __init__(
        self, scale: int, edge_factor: int, seed: int, threads: int | None, plan: Plan = CATALOGUE["hopwave"]
    ) -> None:
        self.engine, self.plan, self.threads = engines.engine("cpu"), plan, threads
        n = 1 << scale
        check_memory(BUILDING * edge_factor * n, f"the edges of scale {scale}", "take a smaller scale, or ranks")
        self._warm_up()
        began = time.perf_counter()
        u, v = kronecker_edges(scale, edge_factor, seed)
        self.generation_seconds: float | None = time.perf_counter() - began
        self.tuples = np.bincount(u, minlength=n) + np.bincount(v, minlength=n)
        began = time.perf_counter()
        self.graph = Graph.from_csr(*sorted_rows(u, v, n, symmetric=True)[:2], directed=False, check=False)
        loaded = self.engine.load(self.graph, self.plan)
        loaded.prepare(neighbour_order(self.plan))  # sorts the rows: a part of kernel 1, and of no search
        self.construction_seconds = time.perf_counter() - began
        self.about: dict[str, Any] = {"device": "cpu", "ranks": 1, "plan": plan.name, "threads": thread_count(threads)}

    def _warm_up(self) -> None:
        """Compile everything now, so that it is not part of any timed kernel."""
        ends = np.arange(WARM_UP, dtype=np.int32)
        small = Graph.from_csr(
            *sorted_rows(ends[:-1].copy(), ends[1:].copy(), WARM_UP, symmetric=True)[:2], directed=False, check=False
        )
        bfs.search(self.engine, small, (0,), SearchJob(), self.plan, threads=1)

    def can_start(self, vertices: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Which vertices have an edge to another vertex. A row has no repeats, so a lone self-loop makes degree 1."""
        degrees, first = self.graph.degrees[vertices], self.graph.indptr[vertices]
        alone = self.graph.indices[np.minimum(first, max(self.graph.m - 1, 0))] == vertices
        return np.asarray((degrees > 1) | ((degrees == 1) & ~alone))

    def shortest(self, seed: int) -> Kernel:
        """The third kernel, by hopwave.sssp: the fastest way in one process."""
        from hopwave.graph500.shortest import ShortestPaths

        check_memory(WEIGHTED * int(self.tuples.sum()) // 2, "edges with lengths", "take a smaller scale, or ranks")
        return ShortestPaths(self.graph, self.tuples, seed)

    def search(self, root: int) -> Searched:
        """Distances and predecessors from one root, timed; then validated."""
        began = time.perf_counter()
        found, _ = bfs.search(self.engine, self.graph, (root,), SearchJob(), self.plan, threads=self.threads)
        seconds = time.perf_counter() - began
        distances, predecessors = found["distances"], found["predecessors"]
        edges = int(self.tuples[distances >= 0].sum()) // 2
        verdict = validate(self.graph, root, distances, predecessors)
        return Searched(root, seconds, edges, found["depth"], verdict.broken)
