"""Graph500 in one process: the CPU engine, and a compiled validator."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave import engines
from hopwave.algorithms import bfs
from hopwave.engines.cpu import neighbour_order
from hopwave.engines.cpu.crew import thread_count
from hopwave.engines.cpu.rank.part import check_rows
from hopwave.engines.host_memory import check_memory
from hopwave.generate.recursive import kronecker_edges
from hopwave.graph import Graph
from hopwave.graph.csr_compiled import sorted_rows
from hopwave.graph500.outcome import Kernel, Searched
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import SearchJob
from hopwave.planning.plan import Plan
from hopwave.system.threads import each

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
        broken = validated(self.graph, root, distances, predecessors, thread_count(self.threads))
        return Searched(root, seconds, edges, found["depth"], broken)


def validated(graph: Graph, root: int, distances: Any, predecessors: Any, threads: int) -> tuple[str, ...]:
    """The names of the rules that a search broke. Compiled: much faster than hopwave.validate, without sentences."""
    ids = np.arange(graph.n)
    # A vertex that is its own predecessor is checked below; a self-loop must not count as its link.
    parents = np.where(predecessors == ids, -1, predecessors).astype(np.int64)
    linked = np.zeros(graph.n, np.uint8)
    offsets, tails = graph.in_indptr, graph.in_indices.view(np.uint32)
    cuts = np.linspace(0, graph.n, 4 * threads + 1).astype(np.int64).tolist()

    def judge(begin: int, end: int) -> Any:
        wrong = np.zeros((3, 3), np.int64)
        levels, part = distances[begin:end], parents[begin:end]
        check_rows(offsets, tails, begin, levels, distances, part, linked[begin:end], wrong)
        return wrong[:, 0]

    edges, span, levels = sum(each(threads, pairwise(cuts), lambda ends: judge(*ends)))
    reached = distances >= 0
    at_root = ids == root
    found = {
        "roots": int(predecessors[root] != root) + np.count_nonzero(~at_root & (predecessors == ids)),
        "levels": levels + np.count_nonzero((distances == 0) != at_root) + np.count_nonzero(distances < -1),
        "edges": edges,
        "span": span + np.count_nonzero(reached != (predecessors >= 0)),
        "links": np.count_nonzero(reached & ~at_root & (linked == 0)),
    }
    return tuple(rule for rule, count in found.items() if count)
