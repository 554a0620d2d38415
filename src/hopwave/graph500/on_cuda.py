"""Graph500 on one GPU. The graph is generated, built, searched and validated there and never copied to the host."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.catalogue import CATALOGUE
from hopwave.graph500.outcome import Kernel, Searched
from hopwave.jobs import Question
from hopwave.rules import Growing

# Less than half of the plan's alpha: these rows have only their first neighbour in place, so that a pull whose frontier
# is small looks through many of them to the end.
RULE = Growing(5, 18)


class OnCuda:
    """The graph on the GPU with all input edges, including repeats and self-loops."""

    generation_seconds: float | None = None

    def __init__(self, scale: int, edge_factor: int, seed: int) -> None:
        import cupy

        from hopwave.engines.cuda.kronecker import Rows
        from hopwave.engines.cuda.search.workspace import Workspace

        self.cp, self.plan = cupy, replace(CATALOGUE["hopwave-gpu"], rule=RULE)
        warm = Rows(4, edge_factor, seed)  # compiles everything, so that it is not part of any timed kernel
        warm.check()
        self._warm_up(Workspace(warm), warm)
        del warm
        began = time.perf_counter()
        self.graph = Rows(scale, edge_factor, seed)
        self.workspace = Workspace(self.graph)
        self.workspace.prepared(True, self.plan)  # the kernel is loaded here, not in the first search's time
        cupy.cuda.get_current_stream().synchronize()
        self.construction_seconds = time.perf_counter() - began
        self.graph.check()
        self.distance = cupy.empty(self.graph.n, np.int32)
        self.parent = cupy.empty(self.graph.n, np.int32)
        free, total = cupy.cuda.runtime.memGetInfo()
        name = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.runtime.getDevice())["name"].decode()
        self.about: dict[str, Any] = {"device": f"cuda ({name})", "ranks": 1, "device_bytes_used": total - free}

    def _warm_up(self, workspace: Any, graph: Any) -> None:
        distance, parent = self.cp.empty(graph.n, np.int32), self.cp.empty(graph.n, np.int32)
        workspace.launch(distance, parent, (0,), Question(), self.plan)
        broken_rules(graph, distance, parent, 0)

    def can_start(self, vertices: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Which vertices have an edge to another one."""
        answer = np.zeros(len(vertices), bool)
        for number, vertex in enumerate(vertices.tolist()):
            begin, end = self.graph.offsets[vertex : vertex + 2].tolist()
            answer[number] = bool((self.graph.neighbours[begin:end] != vertex).any())
        return answer

    def shortest(self, seed: int) -> Kernel:
        """The third kernel, as over ranks, with the whole graph in one part."""
        from hopwave.graph500.shortest import InParts

        return InParts(OnePart(self.graph), self._edges_within, seed)

    def _edges_within(self, reached: Any) -> int:
        return int((self.graph.degrees * reached).sum(dtype=np.int64)) // 2

    def search(self, root: int) -> Searched:
        """Distances and predecessors from one root, on the GPU. The host measures the time, from launch to end."""
        self.cp.cuda.get_current_stream().synchronize()
        began = time.perf_counter()
        self.workspace.launch(self.distance, self.parent, (root,), Question(), self.plan)
        self.cp.cuda.get_current_stream().synchronize()
        seconds = time.perf_counter() - began
        standing = self.workspace.standing()
        edges = self._edges_within(self.distance >= 0)
        broken = broken_rules(self.graph, self.distance, self.parent, root)
        from hopwave.engines.cuda.search.standing import deepest

        return Searched(root, seconds, edges, deepest(standing), broken)


class OnePart:
    """A graph of engines/cuda/kronecker.Rows as a distributed one on one rank (distributed/sides.GraphInParts)."""

    first, id_type = 0, np.int32

    def __init__(self, graph: Any) -> None:
        import cupy

        from hopwave.distributed.layout import Layout
        from hopwave.distributed.sides import Side
        from hopwave.distributed.wire import HostWire
        from hopwave.distributed.world import Alone
        from hopwave.engines.cuda.rank.part import Part

        self.n = self.own = graph.n
        self.words = -(-graph.n // 64)
        self.group = Layout.even(graph.n, 1).alone(0)
        self.push_tails = self.push_heads = self.pull_tails = self.pull_heads = Side(None, self.group, 0)
        rows = graph.offsets, graph.neighbours.view(np.uint32)
        self.part, self.world, self.wire = Part(rows, rows), Alone(), HostWire()
        self.wire.xp = cupy

    def tails_of(self, rank: int) -> Any:
        """The only group there is."""
        return self.group


def broken_rules(graph: Any, distance: Any, parent: Any, root: int) -> tuple[str, ...]:
    """The names of the rules that a search on a graph of engines.cuda.kronecker.Rows broke; computed on the GPU."""
    import cupy as cp

    from hopwave.engines.cuda.rank.part import check

    n, deepest = graph.n, int(distance.max())
    kind = np.int8 if deepest < 1 << 7 else np.int16 if deepest < 1 << 15 else np.int32
    levels = distance.astype(kind)
    linked = cp.zeros(n, np.uint8)
    ids = cp.arange(n, dtype=np.int32)
    itself = parent == ids
    parents = cp.where(itself, -1, parent).astype(np.int64)
    wrong = check(graph.offsets, graph.neighbours, levels, levels, parents, linked, graph.longs)[:, 0].tolist()
    del parents
    at_root, reached = ids == root, distance >= 0
    found = {
        "roots": int(parent[root]) != root or int((itself & ~at_root).sum()),
        "levels": wrong[2] or int(((distance == 0) != at_root).sum()) or int((distance < -1).sum()),
        "edges": wrong[0],
        "span": wrong[1] or int((reached != (parent >= 0)).sum()),
        "links": int((reached & ~at_root & (linked == 0)).sum()),
    }
    return tuple(rule for rule, count in found.items() if count)
