"""Graph500 over the ranks of an MPI job: every rank generates and holds its share of the graph."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.distributed import bfs, kronecker, world
from hopwave.distributed.search import Search, choose_plan, sorts_rows
from hopwave.distributed.validate import validate
from hopwave.graph500.outcome import Kernel, Searched
from hopwave.planning.plan import Plan


class OverRanks:
    """A distributed graph. Edges are generated while it is built, so construction time includes generation."""

    generation_seconds: float | None = None

    def __init__(
        self, scale: int, edge_factor: int, device: str, seed: int, layout: str, threads: int | None,
        plan: str | Plan = "auto",
    ) -> None:  # fmt: skip
        self.world = world()
        self.plan, _ = choose_plan(plan)
        warm = kronecker(4, edge_factor, seed, device=device, threads=threads, layout=layout)  # compiles everything
        for one in ("turbobfs-bu-sc", "merrill", self.plan):
            found = bfs(warm, 0, plan=one)
        validate(warm, found.sources, found.distances, found.predecessors)
        self.world.barrier()
        began = time.perf_counter()
        self.graph = kronecker(scale, edge_factor, seed, device=device, threads=threads, layout=layout)
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
        """Whether an own vertex has a self-loop. In every layout the loop is stored on the vertex's owner."""
        graph = self.graph
        row = graph.push_tails.first + own
        begin, end = graph.part.out_offsets[row : row + 2].tolist()
        return bool((graph.part.heads[begin:end] == graph.push_heads.first + own).any())

    def shortest(self, seed: int) -> Kernel:
        """The third kernel, over all ranks."""
        from hopwave.graph500.shortest import InParts

        return InParts(self.graph, self.graph.edges_within, seed)

    def search(self, root: int) -> Searched:
        """Distances and predecessors from one root, timed; then validated. The arrays stay on the graph's device.

        The time is that of the slowest rank. All ranks begin together, and a search ends on all of them at once.
        """
        self.world.barrier()
        began = time.perf_counter()
        found = Search(self.graph, (root,), True, None, True)
        found.run(self.plan)
        self.graph.part.finish()
        seconds = max(self.world.allgather(time.perf_counter() - began))
        verdict = validate(self.graph, (root,), found.distance, found.parent)
        edges = self.graph.edges_within(found.distance >= 0)
        waited = self.world.allgather(sum(level.waiting for level in found.levels))
        return Searched(root, seconds, edges, found.deepest, verdict.broken, sum(waited) / len(waited))
