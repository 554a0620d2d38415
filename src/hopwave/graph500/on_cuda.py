"""Graph500 on one GPU. The graph is generated, built, searched and validated there, and never copied to the host."""

import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.graph500.outcome import Kernel, Searched
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import SearchJob

CHECKED = 1 << 27  # vertices checked at a time, to limit memory


class OnCuda:
    """The graph on the GPU with all input edges, including repeats and self-loops."""

    generation_seconds: float | None = None

    def __init__(
        self, scale: int, edge_factor: int, seed: int, compressed: bool | None = None, memory_limit: int | None = None
    ) -> None:
        import cupy

        from hopwave.engines.cuda.kronecker import Rows, must_pack
        from hopwave.engines.cuda.search.workspace import NumberedWorkspace

        self.cp, self.plan = cupy, CATALOGUE["hopwave-dense"]
        self.drawn = scale, edge_factor, seed
        compressed = must_pack(scale, edge_factor) if compressed is None else compressed
        # Warm-up: compiles everything before the timed kernels.
        self._warm_up(Rows(4, edge_factor, seed, compressed=compressed))
        began = time.perf_counter()
        self.graph: Any = Rows(scale, edge_factor, seed, compressed=compressed, memory_limit=memory_limit)
        self.searches = NumberedWorkspace(self.graph)
        self.searches.prepared(True, self.plan)  # load the kernel outside the timed searches
        cupy.cuda.get_current_stream().synchronize()
        self.construction_seconds = time.perf_counter() - began
        self.graph.check()
        self.distance = cupy.empty(self.graph.vertices, np.int32)
        self.parent = cupy.empty(self.graph.vertices, np.int32)
        free, total = cupy.cuda.runtime.memGetInfo()
        name = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.runtime.getDevice())["name"].decode()
        self.about: dict[str, Any] = {"device": f"cuda ({name})", "ranks": 1, "device_bytes_used": total - free}
        if compressed:
            self.about["rows"] = f"compressed, {8 * self.graph.bytes / self.graph.m:.1f} bits per arc"

    def _warm_up(self, graph: Any) -> None:
        from hopwave.engines.cuda.search.workspace import NumberedWorkspace

        graph.check()
        distance, parent = (self.cp.empty(graph.vertices, np.int32) for _ in range(2))
        NumberedWorkspace(graph).launch(distance, parent, (0,), SearchJob(), self.plan)
        broken_rules(graph, distance, parent, 0)

    def can_start(self, vertices: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Which vertices have an edge to another vertex."""
        answer = np.zeros(len(vertices), bool)
        for i, row in enumerate(self.graph.numbering.numbers[self.cp.asarray(vertices)].tolist()):
            answer[i] = bool((self.graph.row(row) != row).any())
        return answer

    def shortest(self, seed: int) -> Kernel:
        """The third kernel, as over ranks, with the graph as one part. Lengths depend on ids, so ids are kept."""
        from hopwave.engines.cuda.kronecker import Rows
        from hopwave.graph500.on_host import InParts

        return InParts(OnePart(Rows(*self.drawn, by_degree=False)), self.graph.edges_within, seed)

    def search(self, root: int) -> Searched:
        """Distances and predecessors from one root, on the GPU. The host measures the time from launch to end."""
        self.cp.cuda.get_current_stream().synchronize()
        began = time.perf_counter()
        ending = self.searches.launch(self.distance, self.parent, (root,), SearchJob(), self.plan)
        self.cp.cuda.get_current_stream().synchronize()
        seconds = time.perf_counter() - began
        edges = self.graph.edges_within(self.distance >= 0)
        broken = broken_rules(self.graph, self.distance, self.parent, root)
        return Searched(root, seconds, edges, ending.depth(), broken)


class OnePart:
    """A graph of engines/cuda/kronecker.Rows, wrapped as a DistributedGraph of one rank, for delta_stepping."""

    first, id_type = 0, np.int32

    def __init__(self, graph: Any) -> None:
        import cupy

        from hopwave.distributed.layout import Layout
        from hopwave.distributed.wire import HostWire, Side
        from hopwave.engines.cuda.rank import Part

        self.n = self.own = graph.n
        self.words = -(-graph.n // 64)
        self.group = Layout.even(graph.n, 1).alone(0)
        self.push_tails = self.push_heads = self.pull_tails = self.pull_heads = Side(None, self.group, 0)
        rows = graph.offsets, graph.neighbours.view(np.uint32)
        self.part, self.wire = Part(rows, rows), HostWire()
        self.world = SimpleNamespace(comm=None, barrier=lambda: None, allgather=lambda mine: [mine])
        self.wire.xp = cupy

    def tails_of(self, rank: int) -> Any:
        return self.group


def broken_rules(graph: Any, distance: Any, parent: Any, root: int) -> tuple[str, ...]:
    """Names of the rules that a search violates on a graph of engines.cuda.kronecker.Rows; computed on the GPU."""
    import cupy as cp

    deepest = int(distance.max())
    kind = np.int8 if deepest < 1 << 7 else np.int16 if deepest < 1 << 15 else np.int32
    wrong, linked = graph.check_answer(distance.astype(kind), parent)
    edges, span, levels = wrong
    found = {"roots": int(int(parent[root]) != root), "levels": levels, "edges": edges, "span": span, "links": 0}
    for first in range(0, graph.vertices, CHECKED):
        some = slice(first, min(graph.vertices, first + CHECKED))
        ids = cp.arange(some.start, some.stop, dtype=np.int32)
        levels, parents, has_link = distance[some], parent[some], linked[some]
        at_root, reached = ids == root, levels >= 0
        found["roots"] += int(((parents == ids) & ~at_root).sum())
        found["levels"] += int((((levels == 0) != at_root) | (levels < -1)).sum())
        found["span"] += int((reached != (parents >= 0)).sum())
        found["links"] += int((reached & ~at_root & (has_link == 0)).sum())
    return tuple(rule for rule, count in found.items() if count)
