"""Graph500 in this process: the CPU engine, and a compiled validator."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave import engines
from hopwave.algorithms.bfs import search as bfs_search
from hopwave.catalogue import CATALOGUE
from hopwave.csr_compiled import sorted_rows
from hopwave.engines.cpu.crew import thread_count
from hopwave.engines.cpu.rank.part import check_rows
from hopwave.engines.host_memory import check_room
from hopwave.generate.recursive import kronecker_edges
from hopwave.graph import Graph
from hopwave.graph500.outcome import Kernel, Searched
from hopwave.jobs import Question

BUILDING, WEIGHTED = 42, 102  # bytes an edge at their peak: from a list to rows; shortest paths, beside the rows
WARM_UP = 8  # vertices of a graph whose search compiles what there is to compile


class OnCpu:
    """The graph in host memory. `tuples`: at how many ends of input edges each vertex stands."""

    def __init__(self, scale: int, edge_factor: int, seed: int, threads: int | None) -> None:
        self.engine, self.plan, self.threads = engines.engine("cpu"), CATALOGUE["hopwave"], threads
        n = 1 << scale
        check_room(BUILDING * edge_factor * n, f"the edges of scale {scale}", "take a smaller scale, or ranks")
        self._warm_up()
        began = time.perf_counter()
        u, v = kronecker_edges(scale, edge_factor, seed)
        self.generation_seconds: float | None = time.perf_counter() - began
        self.tuples = np.bincount(u, minlength=n) + np.bincount(v, minlength=n)
        began = time.perf_counter()
        self.graph = Graph.from_csr(*sorted_rows(u, v, n, symmetric=True)[:2], directed=False, check=False)
        self.engine.load(self.graph, self.plan)
        self.construction_seconds = time.perf_counter() - began
        self.about: dict[str, Any] = {"device": "cpu", "ranks": 1, "threads": thread_count(threads)}

    def _warm_up(self) -> None:
        """Compiling is no part of any kernel."""
        ends = np.arange(WARM_UP, dtype=np.int32)
        small = Graph.from_csr(
            *sorted_rows(ends[:-1].copy(), ends[1:].copy(), WARM_UP, symmetric=True)[:2], directed=False, check=False
        )
        bfs_search(self.engine, small, (0,), Question(), self.plan, "", False, 1)

    def can_start(self, vertices: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Rows have no repeats, so a vertex with nothing but a loop has one neighbour: itself."""
        degrees, first = self.graph.degrees[vertices], self.graph.indptr[vertices]
        alone = self.graph.indices[np.minimum(first, max(self.graph.m - 1, 0))] == vertices
        return np.asarray((degrees > 1) | ((degrees == 1) & ~alone))

    def shortest(self, seed: int) -> Kernel:
        """By hopwave.sssp, the way that is fastest in one process."""
        from hopwave.graph500.shortest import ShortestPaths

        check_room(WEIGHTED * int(self.tuples.sum()) // 2, "edges with lengths", "take a smaller scale, or ranks")
        return ShortestPaths(self.graph, self.tuples, seed)

    def search(self, root: int) -> Searched:
        """Distances and predecessors of one root."""
        began = time.perf_counter()
        found = bfs_search(self.engine, self.graph, (root,), Question(), self.plan, "", False, self.threads)
        seconds = time.perf_counter() - began
        assert found.predecessors is not None
        edges = int(self.tuples[found.distances >= 0].sum()) // 2
        broken = validated(self.graph, root, found.distances, found.predecessors, thread_count(self.threads))
        return Searched(root, seconds, edges, found.depth, broken)


def validated(graph: Graph, root: int, distances: Any, predecessors: Any, threads: int) -> tuple[str, ...]:
    """The rules that a search broke, by name; compiled, where hopwave.validate would explain at length."""
    ids = np.arange(graph.n)
    # A vertex that is its own predecessor is judged below; an arc to itself says nothing about it.
    parents = np.where(predecessors == ids, -1, predecessors).astype(np.int64)
    linked = np.zeros(graph.n, np.uint8)
    offsets, tails = graph.in_indptr, graph.in_indices.view(np.uint32)
    cuts = np.linspace(0, graph.n, 4 * threads + 1).astype(np.int64).tolist()

    def judge(begin: int, end: int) -> Any:
        wrong = np.zeros((3, 3), np.int64)
        levels, part = distances[begin:end], parents[begin:end]
        check_rows(offsets, tails, begin, levels, distances, part, linked[begin:end], wrong)
        return wrong[:, 0]

    with ThreadPoolExecutor(threads) as pool:
        edges, span, levels = sum(pool.map(judge, cuts[:-1], cuts[1:]))
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
