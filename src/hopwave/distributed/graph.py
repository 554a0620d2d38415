"""DistributedGraph: a graph of which every rank stores one part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Any, NamedTuple, TypedDict

import numpy as np
import numpy.typing as npt

from hopwave import engines
from hopwave.arrays import on_host
from hopwave.checks.keywords import shared
from hopwave.distributed.layout import Group, Layout, bucket_size, grid_columns, slot_type
from hopwave.distributed.ranks import World, wait_for
from hopwave.distributed.wire import HostWire, allgather_values, reduce_to_owners, sides_of, wire_for
from hopwave.errors import EngineError, GraphError
from hopwave.graph import Graph
from hopwave.graph.naming import Named

Rows = tuple[Any, Any]  # offsets, neighbours
HALF = np.uint64(32)
Edges = tuple[Any, Any]
Blocks = Callable[[], Iterable[Edges]]  # called again each time the edges are needed

BLOCK = 1 << 21  # edges per exchange
_numbers = count(1)  # all ranks create graphs in the same order, so a graph has the same number on all ranks


class Split(TypedDict, total=False):
    """Options for splitting a graph, for type checkers: `**split: Unpack[Split]`."""

    layout: str | tuple[int, int] | Layout
    device: str
    threads: int | None


@shared("Split")
class Splitting(NamedTuple):
    """The options of `Split` with their defaults."""

    layout: str | tuple[int, int] | Layout = "1d"
    device: str = "cpu"
    threads: int | None = None


class DistributedGraph(Named):
    """A graph over the ranks of a job; created by `read`, `from_edges`, `kronecker` or `uniform` on all ranks.

    `n` and `m` count the vertices and the stored arcs of the full graph. This rank owns `own` vertices, starting at id
    `first`; `tuples` counts the input edges at each of these, including repeats and self-loops. `labels`: labels of all
    vertices, on every rank; None without labels.

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
        layout, columns = split.layout, world.together(lambda: grid_columns(split.layout, world.size, n))
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
        rows, tuples, self.edges = build(world, self.layout, blocks(), directed, self.wire, self.tail_type)
        self.part = self._part(*rows, split.threads)
        self._count(tuples)
        self.number: int = next(_numbers)
        self._tail_groups: dict[int, Group] = {}
        if self.m:
            # The neighbour of highest degree comes first in every row (Hiragushi, section 3.4), by classes of one byte.
            xp = self.part.xp
            classes = xp.minimum(xp.log2(xp.maximum(self.degrees, 1)) * 8, 255).astype(np.uint8)
            self.part.hubs_first(allgather_values(self, self.pull_tails, classes, unused=0))
        del rows
        self.part.tidy()

    def _part(self, out: Any, into: Any, threads: int | None) -> Any:
        if self.device == "cuda":
            from hopwave.engines.cuda.rank import Part as CudaPart

            return CudaPart(out, into)
        from hopwave.engines.cpu.rank import Part

        return Part(out, into, rank_threads(self.world, self.device, threads))

    def _count(self, tuples: Any) -> None:
        """Compute degrees of own vertices, the total number of arcs, and a bitmap of own vertices without in-arcs."""
        xp, part = self.part.xp, self.part
        self.degrees = reduce_to_owners(self, self.push_tails, xp.diff(part.out_offsets)).astype(np.int64)
        in_degrees = reduce_to_owners(self, self.pull_heads, xp.diff(part.in_offsets)).astype(np.int64)
        self.tuples = reduce_to_owners(self, self.push_tails, tuples).astype(np.int64)
        self.m = self.world.total(int(self.degrees.sum()))
        closed = xp.ones(self.words * 64, np.uint8)
        closed[: self.own] = in_degrees == 0
        self.closed = xp.packbits(closed, bitorder="little").view(np.uint64)

    def sort_rows(self) -> None:
        """Copy the rows, sorted by descending in-degree (Hiragushi, section 3.4), once; called by all ranks."""
        if self.part.sorted_tails is None:
            self.world.agree("sort_rows", G=self.named)
            in_degrees = reduce_to_owners(self, self.pull_heads, self.part.xp.diff(self.part.in_offsets))
            self.part.sort_rows(allgather_values(self, self.pull_tails, in_degrees, unused=0))

    def tails_of(self, rank: int) -> Group:
        """The group of ranks that defines the slots of a rank's tails."""
        group_of = self.layout.column if self.layout.columns else self.layout.alone
        return self._tail_groups.get(rank) or self._tail_groups.setdefault(rank, group_of(rank))

    def edges_within(self, reached: Any) -> int:
        """The number of input edges between reached vertices (one flag per own vertex); called by all ranks."""
        self.world.agree("edges_within", G=self.named)
        tuples = int((self.tuples * self.part.xp.asarray(reached)).sum())
        return self.world.total(tuples) // (1 if self.directed else 2)

    # ------------------------------------------------------------------ the full graph

    def gather(self, values: Any) -> npt.NDArray[Any] | None:
        """One value per own vertex, joined into one array on rank 0; None on other ranks."""
        self.world.agree("gather", G=self.named)
        pieces = self.world.gather(np.ascontiguousarray(on_host(values)))
        return None if pieces is None else np.concatenate(pieces)

    def replicated(self) -> Graph:
        """The full graph as a hopwave.Graph, on every rank."""
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
        """Memory of this rank's arcs."""
        part = self.part
        kept = (part.out_offsets, part.heads, part.in_offsets, part.tails, getattr(part, "sorted_tails", None))
        return sum(int(a.nbytes) for a in {id(a): a for a in kept if a is not None}.values())

    @property
    def named(self) -> str:
        """A name of this graph in the job, by which ranks check that all of them pass the same graph."""
        return f"{self!r} (graph {self.number} of this job)"

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        shape = f"{self.layout.rows} × {self.layout.columns}" if self.layout.columns else "1D"
        kind += ", labelled" * (self.labels is not None)
        return f"DistributedGraph({self.n:,} vertices, {self.m:,} arcs, {kind}, {self.world.size} ranks, {shape})"


def choose_device(world: World, device: str, threads: int | None) -> None:
    """Check device= and threads=, and select a GPU if the device is "cuda"."""
    if device not in ("cpu", "cuda"):
        raise EngineError(f"device={device!r} cannot store a rank's part of a graph; use 'cpu' or 'cuda'")
    rank_threads(world, device, threads)


def rank_threads(world: World, device: str, threads: int | None) -> int | None:
    """Threads of a CPU rank: `threads`, or its share of the machine's. For "cuda", selects a GPU and returns None."""
    if device == "cpu":
        from hopwave.engines.cpu.crew import thread_count

        return int(thread_count(threads)) if threads is not None else max(1, int(thread_count() / world.ranks_per_core))
    if device == "cuda":
        if threads is not None:
            raise EngineError(f"threads={threads!r} cannot be combined with device='cuda'; omit one of them")
        engines.engine("cuda")  # raises an EngineError that names a missing library
        import cupy

        cupy.cuda.Device(world.machine_rank % cupy.cuda.runtime.getDeviceCount()).use()
    return threads


# ---------------------------------------------------------------- from edges to adjacency lists of their owners
#
# An arc is (row, column), two slots. If slots have 32 bits, an arc is one 64-bit number, row << 32 | column: such arcs
# sort in place. Arcs of 64-bit slots are stored in a table with two columns.


def in_blocks(source: Any, target: Any) -> Iterator[Edges]:
    """Yield two columns of endpoints in blocks of BLOCK edges; one empty block without edges."""
    for begin in range(0, max(len(source), 1), BLOCK):
        yield source[begin : begin + BLOCK], target[begin : begin + BLOCK]


def weights(world: World, blocks: Iterable[Edges], n: int) -> Any:
    """The work in each bucket of ids, over all ranks: 1 for every vertex and 1 for every endpoint."""
    size = bucket_size(n)
    count = -(-n // size)
    counted = np.zeros(count, np.int64)

    def count_ends() -> None:
        for block in blocks:
            for ends in _checked(block, n) or ():
                counted[:] += np.bincount(ends // size, minlength=count)

    world.together(count_ends)
    return world.allreduce(counted) + size


def build(
    world: World, layout: Layout, blocks: Iterable[Edges], directed: bool, wire: HostWire, slot_type: Any
) -> tuple[tuple[Rows, Rows], Any, int]:
    """Send every arc to its rank, and sort received arcs into rows; blocks contain this rank's edges by global ids.

    Returns heads by tail for pushes and tails by head for pulls; per tail slot, the number of input edges at that
    vertex, including repeats and self-loops (an undirected edge counts at both); and the number of edges of all ranks.
    """
    xp, wide, columns = wire.xp, slot_type != np.uint32, layout.columns
    out_arcs: list[Any] = []  # (tail, head)
    in_arcs: list[Any] = []  # (head, tail), filled only for directed graphs in 1D
    edges, wanted = 0, [out_arcs, in_arcs] if directed and not columns else [out_arcs]
    for u, v in _in_step(world, blocks, layout.n):
        u, v = xp.asarray(u, dtype=np.int64), xp.asarray(v, dtype=np.int64)
        edges += len(u)
        if not directed:
            u, v = xp.concatenate([u, v]), xp.concatenate([v, u])
        for kept, (names, rank) in zip(wanted, layout.destinations(u, v), strict=False):
            row_first = names if kept is out_arcs else names[::-1]
            kept.append(sent_to_ranks(world, wire, rank, pack_arcs(xp, *row_first, wide)))
    if columns:
        tails, heads = layout.column(world.rank).size, layout.row(world.rank).size
    else:
        tails = heads = layout.alone(world.rank).size
    into, arcs, tuples = sort_into_rows(xp, _joined(xp, out_arcs, wide), tails)
    out = into
    if columns:
        into, _, _ = sort_into_rows(xp, transpose(xp, arcs), heads)
    elif directed:
        del arcs
        into, _, _ = sort_into_rows(xp, _joined(xp, in_arcs, wide), heads)
    return (out, into), tuples, world.total(edges)


def _in_step(world: World, blocks: Iterable[Edges], n: int) -> Iterator[Edges]:
    """This rank's blocks, then empty ones until every rank is done; an invalid id raises an error on all ranks."""
    rest = iter(blocks)
    empty = np.empty(0, np.int64)
    while True:
        block = world.together(lambda: _checked(next(rest, None), n))
        if not world.total(int(block is not None)):
            return
        yield block if block is not None else (empty, empty)


def _checked(block: Edges | None, n: int) -> Edges | None:
    for ends in block or ():
        if len(ends) and not (int(ends.min()) >= 0 and int(ends.max()) < n):
            bad = int(ends.min()) if int(ends.min()) < 0 else int(ends.max())
            raise GraphError(f"endpoint {bad} is not a vertex (0 to {n - 1}); pass a larger n, or correct the edge")
    return block


def sent_to_ranks(world: World, wire: HostWire, rank: Any, arcs: Any) -> Any:
    """Send each arc, or any other 64-bit number, to its rank; returns the numbers sent to this rank."""
    if world.size == 1:
        return arcs
    xp = wire.xp
    counts = xp.bincount(rank, minlength=world.size)
    counts = np.asarray(counts if xp is np else counts.get(), np.int64)
    arriving = np.empty_like(counts)
    wait_for(world.comm.Ialltoall(counts, arriving), world.oversubscribed)
    # NumPy sorts 16-bit numbers in two counting passes.
    order = xp.argsort(rank.astype(np.int16) if world.size < 1 << 15 else rank, kind="stable")
    width = arcs.itemsize * arcs.ndim  # a table of wide slots has two columns
    out, into = (counts * width).tolist(), (arriving * width).tolist()
    data = wire.alltoallv(world.comm, arcs[order].ravel().view(np.uint8), out, into)()
    return data.view(np.uint64).reshape(-1, *arcs.shape[1:])


def _joined(xp: Any, pieces: list[Any], wide: bool) -> Any:
    """One array of all pieces; the list is emptied to free memory for the sort."""
    arcs = xp.concatenate([xp.empty((0, 2) if wide else 0, np.uint64), *pieces])
    pieces.clear()
    return arcs


# ---------------------------------------------------------------- arcs into rows


def pack_arcs(xp: Any, row: Any, column: Any, wide: bool) -> Any:
    row, column = row.astype(np.uint64), column.astype(np.uint64)
    return xp.stack([row, column], axis=1) if wide else row << HALF | column


def transpose(xp: Any, arcs: Any) -> Any:
    """Exchange the rows and columns of arcs; overwrites `arcs`."""
    if arcs.ndim == 2:
        return xp.ascontiguousarray(arcs[:, ::-1])
    rows = arcs << HALF
    arcs >>= HALF
    rows |= arcs
    return rows


def sort_into_rows(xp: Any, arcs: Any, count: int) -> tuple[Rows, Any, Any]:
    """Sorted rows and arcs without repeats, and each row's number of arcs with repeats; may sort `arcs` in place."""
    if arcs.ndim == 2:
        arcs = arcs[xp.lexsort(xp.stack([arcs[:, 1], arcs[:, 0]]))]
    else:
        arcs.sort()
    had = xp.diff(_offsets(xp, arcs, count))
    new = xp.ones(len(arcs), bool)
    new[1:] = (arcs[1:] != arcs[:-1]) if arcs.ndim == 1 else (arcs[1:] != arcs[:-1]).any(axis=1)
    arcs = arcs[new]
    column = arcs.astype(np.uint32) if arcs.ndim == 1 else arcs[:, 1].copy()  # the lower 32 bits
    return (_offsets(xp, arcs, count), column), arcs, had


def _offsets(xp: Any, arcs: Any, count: int) -> Any:
    """The position of each row's first arc in sorted arcs, and the total.

    Uses binary search: CuPy's bincount allocates a histogram per thread block, which needs too much GPU memory.
    """
    rows = xp.arange(count, dtype=np.uint64)
    offsets = xp.full(count + 1, len(arcs), np.int64)
    if len(arcs):
        first = xp.searchsorted(arcs, rows << HALF) if arcs.ndim == 1 else xp.searchsorted(arcs[:, 0].copy(), rows)
        offsets[:count] = first
    return offsets
