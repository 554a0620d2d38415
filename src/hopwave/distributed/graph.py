"""DistributedGraph: a graph of which every rank holds one part."""

from __future__ import annotations

from itertools import count
from typing import Any, NamedTuple, TypedDict

import numpy as np
import numpy.typing as npt

from hopwave import engines
from hopwave.arrays import on_host
from hopwave.checks.keywords import shared
from hopwave.distributed.exchange import Blocks, build, weights
from hopwave.distributed.layout import Group, Layout, columns_for, slot_type
from hopwave.distributed.ranks import World
from hopwave.distributed.sides import allgather_values, reduce_to_owners, sides_of
from hopwave.distributed.wire import HostWire, wire_for
from hopwave.errors import EngineError
from hopwave.graph import Graph
from hopwave.graph.naming import Named

_numbers = count(1)  # ranks make their graphs together, so a graph has the same number on all of them


class Split(TypedDict, total=False):
    """Where ranks keep and search a graph, for type checkers: `**split: Unpack[Split]`."""

    layout: str | tuple[int, int] | Layout
    device: str
    threads: int | None


@shared("Split")
class Splitting(NamedTuple):
    """The same options with their defaults."""

    layout: str | tuple[int, int] | Layout = "1d"
    device: str = "cpu"
    threads: int | None = None


class DistributedGraph(Named):
    """A graph over the ranks of a job; made by `read`, `from_edges`, `kronecker` or `uniform`, on all ranks together.

    `n` and `m` count the vertices and the stored arcs of the whole graph. This rank owns `own` vertices, from id
    `first` on; `tuples` counts the input edges at each of them, repeats and loops included. `labels`: what the vertices
    of the whole graph are called, on every rank; None if they are only numbered.

    >>> G = distributed.from_edges([0, 1], [1, 2])
    >>> G.n, G.m
    (3, 4)
    """

    n: int
    labels: npt.NDArray[Any] | None

    def __init__(
        self, world: World, blocks: Blocks, n: int, directed: bool, split: Splitting, balance: bool = True,
        labels: npt.NDArray[Any] | None = None,
    ) -> None:  # fmt: skip
        layout, columns = split.layout, world.together(lambda: columns_for(split.layout, world.size, n))
        self.world, self.directed, self.labels, self.device = world, directed, labels, split.device
        if isinstance(layout, Layout):
            self.layout = layout
        elif balance and world.size > 1:
            self.layout = Layout.balanced(n, world.size, weights(world, blocks(), n), columns)
        else:
            self.layout = Layout.even(n, world.size, columns)
        self.n, self.first = n, int(self.layout.starts[world.rank])
        self.own = int(self.layout.starts[world.rank + 1]) - self.first
        self.words = -(-self.own // 64)
        self.push_tails, self.push_heads, self.pull_tails, self.pull_heads = sides_of(world, self.layout)
        self.wire: HostWire = wire_for(world, split.device)
        self.tail_type: Any = slot_type(max(side.group.size for side in (self.push_heads, self.pull_tails)))
        self.id_type: Any = np.int32 if n < 1 << 31 else np.int64
        made = build(world, self.layout, blocks(), directed, self.wire, self.tail_type)
        self.edges = made.edges
        self.part = self._part(made.out, made.into, split.threads)
        self._count(made.tuples)
        self.number: int = next(_numbers)
        self._tail_groups: dict[int, Group] = {}
        self._put_hubs_first()
        del made
        self.part.tidy()

    def _part(self, out: Any, into: Any, threads: int | None) -> Any:
        if self.device == "cuda":
            from hopwave.engines.cuda.rank import Part as CudaPart

            return CudaPart(out, into)
        from hopwave.engines.cpu.rank import Part

        return Part(out, into, rank_threads(self.world, self.device, threads))

    def _count(self, tuples: Any) -> None:
        """Degrees of own vertices, the arcs of the whole graph, and a bitmap of own vertices without in-arcs."""
        xp, part = self.part.xp, self.part
        self.degrees = reduce_to_owners(self, self.push_tails, xp.diff(part.out_offsets)).astype(np.int64)
        in_degrees = reduce_to_owners(self, self.pull_heads, xp.diff(part.in_offsets)).astype(np.int64)
        self.tuples = reduce_to_owners(self, self.push_tails, tuples).astype(np.int64)
        self.m = self.world.total(int(self.degrees.sum()))
        closed = xp.ones(self.words * 64, np.uint8)
        closed[: self.own] = in_degrees == 0
        self.closed = xp.packbits(closed, bitorder="little").view(np.uint64)

    def _put_hubs_first(self) -> None:
        """Put the neighbour of highest degree first in every row (Hiragushi, section 3.4).

        Ranks send each other their vertices' degrees in one byte per vertex, on a logarithmic scale.
        """
        xp = self.part.xp
        if self.m:
            classes = xp.minimum(xp.log2(xp.maximum(self.degrees, 1)) * 8, 255).astype(np.uint8)
            self.part.hubs_first(allgather_values(self, self.pull_tails, classes, unused=0))

    def sort_rows(self) -> None:
        """Copy the rows, sorted by descending in-degree (Hiragushi, section 3.4), once; called by all ranks."""
        if self.part.sorted_tails is None:
            self.world.agree("sort_rows", G=self.named)
            in_degrees = reduce_to_owners(self, self.pull_heads, self.part.xp.diff(self.part.in_offsets))
            self.part.sort_rows(allgather_values(self, self.pull_tails, in_degrees, unused=0))

    def tails_of(self, rank: int) -> Group:
        """The group in which another rank names its tails."""
        if rank not in self._tail_groups:
            self._tail_groups[rank] = self.layout.column(rank) if self.layout.columns else self.layout.alone(rank)
        return self._tail_groups[rank]

    def edges_within(self, reached: Any) -> int:
        """The number of input edges between reached vertices (one flag per own vertex); called by all ranks."""
        self.world.agree("edges_within", G=self.named)
        tuples = int((self.tuples * self.part.xp.asarray(reached)).sum())
        return self.world.total(tuples) // (1 if self.directed else 2)

    # ------------------------------------------------------------------ the whole graph

    def gather(self, values: Any) -> npt.NDArray[Any] | None:
        """One value per own vertex, joined into one array on rank 0; None on the others."""
        self.world.agree("gather", G=self.named)
        pieces = self.world.gather(np.ascontiguousarray(on_host(values)))
        return None if pieces is None else np.concatenate(pieces)

    def replicated(self) -> Graph:
        """The whole graph as a hopwave.Graph, on every rank."""
        self.world.agree("replicated", G=self.named)
        group, heads = self.tails_of(self.world.rank), self.push_heads.group
        offsets, neighbours = on_host(self.part.out_offsets), on_host(self.part.heads)
        tails = np.repeat(group.ids(np.arange(group.size)), np.diff(offsets))
        counts = np.array(self.world.allgather(len(tails)))
        u, v = (np.empty(int(counts.sum()), np.int32) for _ in range(2))
        for mine, everything in ((tails, u), (heads.ids(neighbours), v)):
            self.world.comm.Allgatherv(mine.astype(np.int32), [everything, counts])
        once = slice(None) if self.directed else u <= v
        return Graph.from_edges(u[once], v[once], n=self.n, directed=self.directed, labels=self.labels)

    @property
    def bytes(self) -> int:
        """The memory that this rank's arcs take."""
        part = self.part
        kept = (part.out_offsets, part.heads, part.in_offsets, part.tails, getattr(part, "sorted_tails", None))
        arrays = {id(a): a for a in kept if a is not None}
        return sum(int(a.nbytes) for a in arrays.values())

    @property
    def named(self) -> str:
        """What ranks compare to see that they mean the same graph. Sizes alone do not tell."""
        return f"{self!r} (graph {self.number} of this job)"

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        shape = f"{self.layout.rows} × {self.layout.columns}" if self.layout.columns else "1D"
        kind += ", labelled" * (self.labels is not None)
        return f"DistributedGraph({self.n:,} vertices, {self.m:,} arcs, {kind}, {self.world.size} ranks, {shape})"


def choose_device(world: World, device: str, threads: int | None) -> None:
    """Check the arguments device= and threads=, and take a GPU if the device is "cuda"."""
    if device not in ("cpu", "cuda"):
        raise EngineError(f"device={device!r} cannot hold a rank's part of a graph; use 'cpu' or 'cuda'")
    rank_threads(world, device, threads)


def rank_threads(world: World, device: str, threads: int | None) -> int | None:
    """The number of a CPU rank's threads: as given, or its share of the machine's. None for a rank on a GPU.

    Rank r of a machine takes GPU r mod (number of GPUs).
    """
    if device == "cpu":
        from hopwave.engines.cpu.crew import thread_count

        return int(thread_count(threads)) if threads is not None else max(1, int(thread_count() / world.ranks_per_core))
    if device == "cuda":
        if threads is not None:
            raise EngineError(f"threads={threads!r} are those of a CPU; leave them out, or use device='cpu'")
        engines.engine("cuda")  # raises an EngineError that says what is missing
        import cupy

        cupy.cuda.Device(world.machine_rank % cupy.cuda.runtime.getDeviceCount()).use()
    return threads
