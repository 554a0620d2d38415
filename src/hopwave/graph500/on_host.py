"""Graph500 in host memory: the CPU engine in one process, and the ranks of an MPI job, which store parts of the graph.

The third kernel finds shortest paths along edges of random length, from the same roots. The length of an edge is a hash
of its two endpoints, uniform in (0, 1], with 24 bits. All repeats of an edge therefore have the same length (the
reference generator draws separate lengths), and distances are exact sums, identical on every machine.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave import distributed, engines
from hopwave.algorithms import bfs
from hopwave.api.shortest_paths import sssp
from hopwave.api.validate import validate
from hopwave.distributed.delta_stepping import NEVER, UNIT, Paths
from hopwave.distributed.search import Search, choose_plan, sorts_rows
from hopwave.distributed.validate import validate as validate_parts
from hopwave.engines.cpu import neighbour_order
from hopwave.engines.cpu.crew import thread_count
from hopwave.engines.host_memory import check_memory
from hopwave.generate import counter
from hopwave.generate.recursive import kronecker_edges
from hopwave.graph import Graph
from hopwave.graph.csr import arc_tails
from hopwave.graph.csr_compiled import sorted_rows
from hopwave.graph500.outcome import Kernel, Searched
from hopwave.linalg import Matrix
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import SearchJob
from hopwave.planning.plan import Plan

# Peak bytes per edge: to build adjacency lists from edges; for shortest paths, in addition to the lists.
BUILDING, WEIGHTED = 42, 102
STREAM = "graph500 lengths"
WARM_UP = 8  # vertices of a small graph whose search compiles everything


class OnCpu:
    """The graph in host memory. `tuples`: number of input edges at each vertex."""

    def __init__(
        self, scale: int, edge_factor: int, seed: int, threads: int | None, plan: Plan = CATALOGUE["hopwave"]
    ) -> None:
        self.engine, self.plan, self.threads = engines.engine("cpu"), plan, threads
        n = 1 << scale
        check_memory(BUILDING * edge_factor * n, f"the edges of scale {scale}", "use a smaller scale, or MPI ranks")
        self._warm_up()
        began = time.perf_counter()
        u, v = kronecker_edges(scale, edge_factor, seed)
        self.generation_seconds: float | None = time.perf_counter() - began
        self.tuples = np.bincount(u, minlength=n) + np.bincount(v, minlength=n)
        began = time.perf_counter()
        self.graph = Graph.from_csr(*sorted_rows(u, v, n, symmetric=True)[:2], directed=False, check=False)
        self.arranged = self.graph.arranged()  # sorting lists and hubs is part of kernel 1, not of searches
        self.engine.load(self.arranged, plan).adjacency(neighbour_order(plan))
        self.construction_seconds = time.perf_counter() - began
        self.about: dict[str, Any] = {"device": "cpu", "ranks": 1, "plan": plan.name, "threads": thread_count(threads)}

    def _warm_up(self) -> None:
        """Compile everything before the timed kernels."""
        ends = np.arange(WARM_UP, dtype=np.int32)
        small = Graph.from_csr(
            *sorted_rows(ends[:-1].copy(), ends[1:].copy(), WARM_UP, symmetric=True)[:2], directed=False, check=False
        )
        bfs.search(self.engine, small, (0,), SearchJob(), self.plan, threads=1)

    def can_start(self, vertices: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Which vertices have an edge to another vertex. Self-loops are stored once, as degree 1."""
        degrees, first = self.graph.degrees[vertices], self.graph.indptr[vertices]
        alone = self.graph.indices[np.minimum(first, max(self.graph.m - 1, 0))] == vertices
        return np.asarray((degrees > 1) | ((degrees == 1) & ~alone))

    def shortest(self, seed: int) -> Kernel:
        """The third kernel, by hopwave.sssp, the fastest method in one process."""
        check_memory(WEIGHTED * int(self.tuples.sum()) // 2, "edges with lengths", "use a smaller scale, or MPI ranks")
        return ShortestPaths(self.graph, self.tuples, seed)

    def search(self, root: int) -> Searched:
        """Distances and predecessors from one root, timed; then validated."""
        began = time.perf_counter()
        found, _ = bfs.search(self.engine, self.arranged, (root,), SearchJob(), self.plan, threads=self.threads)
        seconds = time.perf_counter() - began
        distances, predecessors = found["distances"], found["predecessors"]
        edges = int(self.tuples[distances >= 0].sum()) // 2
        verdict = validate(self.graph, root, distances, predecessors)
        return Searched(root, seconds, edges, found["depth"], verdict.broken)


class OverRanks:
    """A distributed graph. Edges are generated while it is built, so construction time includes generation."""

    generation_seconds: float | None = None

    def __init__(
        self, scale: int, edge_factor: int, device: str, seed: int, layout: str, threads: int | None,
        plan: str | Plan = "auto",
    ) -> None:  # fmt: skip
        self.world = distributed.world()
        self.plan, _ = choose_plan(plan)
        options: dict[str, Any] = {"device": device, "threads": threads, "layout": layout}
        warm = distributed.kronecker(4, edge_factor, seed, **options)  # warm-up: compiles everything
        for one in ("turbobfs-bu-sc", "merrill", self.plan):
            found = distributed.bfs(warm, 0, plan=one)
        validate_parts(warm, found.sources, found.distances, found.predecessors)
        self.world.barrier()
        began = time.perf_counter()
        self.graph = distributed.kronecker(scale, edge_factor, seed, **options)
        if sorts_rows(self.plan):
            self.graph.sort_rows()
        self.world.barrier()
        self.construction_seconds = time.perf_counter() - began
        self.about: dict[str, Any] = {
            "device": device, "ranks": self.world.size, "layout": layout, "plan": self.plan.name,
            "transport": self.graph.wire.name, "bytes_per_rank": max(self.world.allgather(self.graph.bytes)),
        }  # fmt: skip
        if device == "cpu":
            self.about["threads"] = self.graph.part.threads

    def can_start(self, vertices: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Which vertices have an edge to another vertex. The owner of a vertex knows its degree and its self-loops."""
        graph, answer = self.graph, np.zeros(len(vertices), np.uint8)
        for number, vertex in enumerate((vertices - graph.first).tolist()):
            if 0 <= vertex < graph.own:
                degree = int(graph.degrees[vertex])
                answer[number] = degree > 1 or (degree == 1 and not self._has_loop(vertex))
        return np.asarray(self.world.allreduce(answer) > 0)

    def _has_loop(self, own: int) -> bool:
        """Whether an own vertex has a self-loop. In every layout, the self-loop is stored on the vertex's owner."""
        graph = self.graph
        row = graph.push_tails.first + own
        begin, end = graph.part.out_offsets[row : row + 2].tolist()
        return bool((graph.part.heads[begin:end] == graph.push_heads.first + own).any())

    def shortest(self, seed: int) -> Kernel:
        """The third kernel, over all ranks."""
        return InParts(self.graph, self.graph.edges_within, seed)

    def search(self, root: int) -> Searched:
        """Distances and predecessors from one root, timed by the slowest rank; then validated."""
        self.world.barrier()
        began = time.perf_counter()
        found = Search(self.graph, (root,), True, None, True)
        found.run(self.plan)
        self.graph.part.finish()
        seconds = max(self.world.allgather(time.perf_counter() - began))
        verdict = validate_parts(self.graph, (root,), found.distance, found.parent)
        edges = self.graph.edges_within(found.distance >= 0)
        waited = self.world.allgather(sum(level.waiting for level in found.levels))
        return Searched(root, seconds, edges, found.deepest, verdict.broken, sum(waited) / len(waited))


# ------------------------------------------------------------------ the third kernel


class ShortestPaths:
    """The graph with edge lengths, in one process. `tuples`: see OnCpu."""

    def __init__(self, graph: Graph, tuples: Any, seed: int) -> None:
        self.graph, self.tuples = graph, tuples
        self.tails = arc_tails(graph)
        self.lengths = lengths(self.tails, graph.indices, graph.n, seed)
        self.matrix = Matrix.from_graph(graph, self.lengths)

    def search(self, root: int) -> Searched:
        """Distances and predecessors from one root, timed; then validated."""
        began = time.perf_counter()
        found = sssp(self.matrix, root, device="cpu")
        parents = found.predecessors
        seconds = time.perf_counter() - began
        edges = int(self.tuples[np.isfinite(found.distances)].sum()) // 2
        return Searched(root, seconds, edges, 0, self.broken(root, found.distances, parents))

    def broken(self, root: int, distances: npt.NDArray[np.float64], parents: Any) -> tuple[str, ...]:
        """Names of the rules that a result violates: Graph500's five, with distances instead of levels."""
        reached = np.isfinite(distances)
        ids = np.arange(self.graph.n)
        at_root, heads = ids == root, self.graph.indices
        through = distances[self.tails] + self.lengths
        linked = np.zeros(self.graph.n, bool)
        is_link = parents[heads] == self.tails
        linked[heads[is_link]] = True
        found = {
            "roots": (parents[root] != root) or bool((~at_root & (parents == ids)).any()),
            "levels": distances[root] != 0 or bool((is_link & (through != distances[heads]) & (heads != root)).any()),
            "edges": bool((through < distances[heads]).any()),
            "span": bool((reached != (parents >= 0)).any() or (reached[self.tails] & ~reached[heads]).any()),
            "links": bool((reached & ~at_root & ~linked).any()),
        }
        return tuple(rule for rule, failed in found.items() if failed)


class InParts:
    """The third kernel over ranks, or on one GPU. edges_within(reached): input edges between reached vertices."""

    def __init__(self, graph: Any, edges_within: Callable[[Any], int], seed: int) -> None:
        self.graph, self.edges_within = graph, edges_within
        self.paths = Paths(graph, counter.start(seed, STREAM))

    def search(self, root: int) -> Searched:
        """Distances and predecessors from one root, timed over all ranks; then validated."""
        world, paths = self.graph.world, self.paths
        world.barrier()
        began = time.perf_counter()
        paths.run(root)
        self.graph.part.finish()
        seconds = max(world.allgather(time.perf_counter() - began))
        return Searched(root, seconds, self.edges_within(paths.distance != NEVER), 0, paths.broken(root))


def lengths(u: Any, v: Any, n: int, seed: int) -> npt.NDArray[np.float64]:
    """The length of every arc u → v, equal to the length of v → u: a multiple of 2^-24 in (0, 1]."""
    pair = np.minimum(u, v).astype(np.uint64) * np.uint64(n) + np.maximum(u, v).astype(np.uint64)
    drawn = counter.mixed(pair, seed, STREAM) >> np.uint64(40)
    return (drawn + np.uint64(1)).astype(np.float64) / UNIT
