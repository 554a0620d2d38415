"""Breadth-first search over ranks (Hiragushi, section 4, after Beamer et al. 2013), one level at a time.

    push   Every rank follows the out-arcs of the frontier and sends (vertex, parent) to the vertex's owner, once per
           vertex (section 4.1). A rank handles messages to itself during the exchange.
    pull   All ranks receive the frontier, or all visited vertices, as a bitmap, and every rank scans the
           in-arcs of its unvisited vertices (section 4.2). In 2D the ranks of a row share these in-arcs, so the
           bitmap of a rank's unvisited vertices travels around its row.

In a pull each rank sends at most n/8 · (R + C - 1)/(R C) bytes of bitmaps on a grid of R × C ranks, at most n/8.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.api.arguments import check_hops, source_ids
from hopwave.arrays import on_host
from hopwave.distributed import codec
from hopwave.distributed.graph import DistributedGraph
from hopwave.distributed.layout import Group
from hopwave.distributed.wire import Pending, Received, Side, allgather_slots, send_to_owners, unpacked
from hopwave.errors import GraphError, PlanError
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.catalogue import plan as named_plan
from hopwave.planning.jobs import SearchJob
from hopwave.planning.plan import Plan, PlanUsed, Pull, Push, Step
from hopwave.planning.rules import Sizes
from hopwave.planning.trace import Level, Trace


@dataclass(frozen=True, eq=False)
class DistributedBFSResult:
    """A rank's share of a search: a distance and a predecessor (global id) per own vertex, starting with id `first`.

    `graph.label(id)` is the label of a vertex. `gather()` joins the shares on rank 0. The other attributes are
    equal on every rank.

    >>> r = distributed.bfs(distributed.from_edges([0, 1], [1, 2]), 0)
    >>> r.distances.tolist(), r.depth, r.reached
    ([0, 1, 2], 2, 3)
    """

    distances: npt.NDArray[np.int32]
    predecessors: npt.NDArray[Any] | None
    first: int
    depth: int
    reached: int
    sources: tuple[int, ...]
    plan: PlanUsed
    trace: Trace
    graph: DistributedGraph = field(repr=False)

    def gather(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any] | None] | None:
        """All distances and predecessors on rank 0; None on other ranks."""
        distances = self.graph.gather(self.distances)
        predecessors = None if self.predecessors is None else self.graph.gather(self.predecessors)
        return None if distances is None else (distances, predecessors)

    def edges(self) -> int:
        """The number of input edges between reached vertices, with repeats and self-loops; call it on all ranks."""
        return self.graph.edges_within(self.distances >= 0)

    def __repr__(self) -> str:
        return f"DistributedBFSResult(reached={self.reached:,}, depth={self.depth}, plan={self.plan.name})"


def bfs(
    G: DistributedGraph,
    source: Any,
    predecessors: bool = True,
    depth_limit: int | None = None,
    plan: str | Plan = "auto",
    *,
    compress: bool = True,
) -> DistributedBFSResult:
    """Hops from a source, or from the nearest of several, to every vertex; called by all ranks with the same arguments.

    The result's `plan.without` lists the plan's choices that ranks do not follow. Its trace has the steps that ran,
    and the bytes that each level sent.

    Parameters
    ----------
    G : DistributedGraph
        The graph.
    source : vertex or list of vertices
        Start vertices.
    predecessors : bool, optional
        Whether to compute the predecessor of each vertex.
    depth_limit : int, optional
        Maximum number of hops.
    plan : str or Plan, optional
        Any plan without look-ahead and queue reuse: "auto", "hiragushi-hybrid", "pushpull", ...
    compress : bool, optional
        False sends ids as 64-bit integers, to measure the effect of compression.

    Raises
    ------
    PlanError
        The plan cannot run over ranks.

    Examples
    --------
    >>> distributed.bfs(distributed.kronecker(5), 3).trace[0].vertices
    1
    """
    if not isinstance(G, DistributedGraph):
        raise GraphError(
            f"{G!r:.60} is not a DistributedGraph; create one with hopwave.distributed.spread, or call hopwave.bfs"
        )
    if isinstance(source, Iterator):
        source = list(source)
    options = {"predecessors": predecessors, "depth_limit": depth_limit, "plan": plan, "compress": compress}
    G.world.agree("bfs", G=G.named, source=source, **options)
    sources, limit, (chosen, why) = G.world.together(
        lambda: (source_ids(G, source), check_hops("depth_limit", depth_limit), choose_plan(plan))
    )
    search = Search(G, sources, predecessors, limit, compress)
    search.run(chosen)
    distances, parents = map(on_host, (search.distance, search.parent))
    used = PlanUsed(chosen, why, without(chosen, G.part.device, grid=G.layout.columns > 1))
    return DistributedBFSResult(
        distances, parents, G.first, search.deepest, search.reached, sources, used, Trace(search.levels), G
    )


def choose_plan(plan: str | Plan) -> tuple[Plan, str]:
    if plan == "auto":
        return CATALOGUE["hopwave"], "the default"
    chosen = named_plan(plan)
    if reason := why_not(chosen):
        raise PlanError(reason)
    return chosen, "requested"


# ---------------------------------------------------------------- support of plans


def why_not(plan: Plan) -> str | None:
    """The reason why a plan cannot run over ranks, or None."""
    if reason := plan.why_not(SearchJob()):
        return reason
    found = ""
    for step in plan.steps:
        if isinstance(step, Pull) and step.asynchronous:
            found = "looks ahead into the next level, which ranks do not support"
        elif isinstance(step, Push) and step.output == "reuse":
            found = found or "pushes from the queue of a pull, which pulls over ranks do not create"
    return f"plan {plan.name!r} {found}; use 'auto' or 'hiragushi-hybrid'" if found else None


def as_run(step: Step, device: str) -> Step:
    """The step that ranks on this device actually run: on GPUs, every pull is masked and has early exit."""
    if device == "cuda" and isinstance(step, Pull):
        return replace(step, rows="compacted" if step.rows == "compacted" else "unvisited", early_exit=True)
    return step


def kernels_of(step: Step, device: str, sorted_rows: bool) -> dict[str, bool]:
    """The options of a rank's push or pull for this step."""
    if isinstance(step, Push):
        return {"two_phase": step.mapping == "twc"} if device == "cuda" else {}
    if device == "cuda":
        return {"compacted": step.rows == "compacted", "sorted_rows": sorted_rows}
    return {"all_rows": step.rows == "all", "early_exit": step.early_exit, "sorted_rows": sorted_rows}


def sorts_rows(plan: Plan) -> bool:
    """Whether rows are sorted by in-degree, as in the plan's paper, or only start with their highest degree."""
    pulls = any(isinstance(step, Pull) for step in plan.steps)
    return pulls and plan.order == "degree" and plan.loop == "host"


def without(plan: Plan, device: str, grid: bool) -> tuple[str, ...]:
    """The plan's choices that ranks on this device do not follow; grid: whether the layout is 2D."""
    pushes = [step for step in plan.steps if isinstance(step, Push)]
    pulls = [step for step in plan.steps if isinstance(step, Pull)]
    left_out = ["thread mappings", "queue making"]
    if device == "cuda":
        other = any(step.mapping not in ("twc", "merge") for step in pushes) or any(
            step.mapping != "thread" for step in pulls
        )
        left_out = ["thread mappings"] * other + ["queue making"] * any(step.output != "queue" for step in pushes)
        left_out += ["unmasked rows"] * any(step.rows == "all" for step in pulls)
        left_out += ["rows read to the end"] * any(not step.early_exit for step in pulls)
    elif grid and any(not step.early_exit for step in pulls):
        left_out.append("rows read to the end on every rank of a grid's row")
    if pulls and not sorts_rows(plan):
        left_out.append("neighbour order")
    return tuple(left_out)


# ---------------------------------------------------------------- levels


class Search:
    """One search: the state of this rank's own vertices, and the levels so far."""

    def __init__(
        self, graph: DistributedGraph, sources: tuple[int, ...], predecessors: bool, limit: int | None, compress: bool
    ) -> None:
        self.graph, self.part, self.wire = graph, graph.part, graph.wire
        self.limit, self.compress = limit, compress
        xp = self.xp = self.part.xp
        self.distance = xp.full(graph.own, -1, np.int32)
        self.parent = xp.full(graph.own, -1, graph.id_type) if predecessors else None
        self.visited = graph.closed.copy()
        self.sent = xp.zeros(graph.push_heads.group.size // 64, np.uint64)  # pushes skip these
        self.levels: list[Level] = []
        self.depth = self.reached = self.for_parents = 0
        mine = np.array([s - graph.first for s in sources if graph.first <= s < graph.first + graph.own], np.int64)
        self.frontier = xp.asarray(np.sort(mine))
        self.own_sources = codec.bitmap(xp, self.frontier, graph.own)
        self.visited |= self.own_sources
        self.looks: dict[str, bool] = {}  # options of how a pull reads rows
        if self.parent is not None:
            self.parent[self.frontier] = (self.frontier + graph.first).astype(graph.id_type)
        self._mark_sent(self.frontier)

    # ------------------------------------------------------------------ the loop

    def run(self, plan: Plan) -> None:
        """Search level by level; before each level the plan's rule chooses the step."""
        device, sort_rows = self.part.device, sorts_rows(plan)
        if sort_rows:
            self.graph.sort_rows()
        nf0 = mf0 = checked = 0
        last = -1
        nf, mf, *_ = self._sums(checked)
        mu = self.graph.m - mf
        self.reached = nf
        while nf and (self.limit is None or self.depth < self.limit):
            began, self.wire.sent, self.wire.waited, self.for_parents = time.perf_counter(), 0, 0.0, 0
            choice = plan.rule.choose(Sizes(self.graph.n, self.graph.m, nf, mf, mu, nf0, mf0, last))
            step = as_run(plan.steps[choice], device)
            how = kernels_of(step, device, sort_rows)
            checked = self._push(how) if isinstance(step, Push) else self._pull(step, how)
            self.depth += 1
            found, edges, looked, traffic = self._sums(checked)
            seconds = time.perf_counter() - began
            sizes = nf, mf, mu, found, looked, seconds
            self.levels.append(Level(self.depth, choice, str(step), *sizes, waiting=self.wire.waited, **traffic))
            nf0, mf0, last = nf, mf, choice
            nf, mf = found, edges
            mu -= edges
            self.reached += found
        self._write_distances()

    @property
    def deepest(self) -> int:
        """The largest distance, usually depth - 1, because the last level finds no vertex."""
        return self.depth - bool(self.levels and not self.levels[-1].found)

    def _sums(self, checked: int) -> tuple[int, int, int, dict[str, int]]:
        """Sums over all ranks: vertices in the frontier, their arcs, arcs inspected; and a dict of bytes sent."""
        by_this = 40 * (self.graph.world.size - 1)  # the bytes of this exchange
        arcs = int(self.graph.degrees[self.frontier].sum())
        mine = len(self.frontier), arcs, checked, self.wire.sent + by_this, self.for_parents
        by_rank = self.wire.allgather(self.graph.world.comm, np.array(mine, np.int64))
        found, edges, looked, sent, for_parents = by_rank.sum(axis=0).tolist()
        most = {"sent_by_one": by_rank[:, 3], "sets_by_one": by_rank[:, 3] - by_rank[:, 4]}
        traffic = {"sent": sent, "sent_for_parents": for_parents} | {name: int(one.max()) for name, one in most.items()}
        return found, edges, looked, traffic

    def _write_distances(self) -> None:
        """Set the frontier's distances. Levels call this during an exchange."""
        self.distance[self.frontier] = self.depth

    def _mark_sent(self, own: Any) -> None:
        """Mark own vertices, so that pushes do not send them."""
        first = self.graph.push_heads.first // 64
        self.sent[first : first + self.graph.words] |= codec.bitmap(self.xp, own, self.graph.own)

    def _claim(self, positions: Any, tail_slots: Any, tails: Group) -> Any:
        """Visit own vertices; their parents are these slots of `tails`. Returns the vertices not visited before."""
        ids = None if self.parent is None else tails.ids(tail_slots).astype(self.graph.id_type)
        return self.part.claim(positions, ids, self.visited, self.parent)

    def _claim_received(self, received: Received) -> list[Any]:
        """Visit own vertices that other ranks found; returns the vertices not visited before, one array per rank."""
        return [
            self._claim(positions, codec.from_bytes(self.xp, values), self.graph.tails_of(rank))
            for rank, positions, values in received
        ]

    # ------------------------------------------------------------------ push

    def _push(self, how: dict[str, bool]) -> int:
        """Make the next frontier by a push; returns the number of arcs inspected."""
        graph, xp = self.graph, self.xp
        tails, heads = graph.push_tails, graph.push_heads
        frontier = self.frontier
        if tails.comm is not None:
            frontier, _ = allgather_slots(self.wire, tails, graph.own, frontier, compress=self.compress)
        self._write_distances()
        found, parents = sort_by_head(xp, *self.part.push(frontier, self.sent, **how))

        def parents_of(some: slice) -> Any:
            return None if self.parent is None else codec.to_bytes(xp, parents[some], self.compress)

        sent = send_to_owners(self.wire, heads, graph.own, found, parents_of, self.compress)
        self.for_parents += sent.value_bytes
        own = found[sent.own].astype(np.int64) - heads.first
        new = [self._claim(own, parents[sent.own], tails.group)]  # during the exchange
        self.frontier = xp.concatenate(new + self._claim_received(sent.receive()))
        self._mark_sent(self.frontier)
        return int((self.part.out_offsets[frontier + 1] - self.part.out_offsets[frontier]).sum())

    # ------------------------------------------------------------------ pull

    def _pull(self, step: Pull, how: dict[str, bool]) -> int:
        """Make the next frontier by a pull; returns the number of arcs inspected."""
        self.looks = how
        graph, xp = self.graph, self.xp
        tails, heads = graph.pull_tails, graph.pull_heads
        front = self._bitmap_of(tails, all_visited=step.operand == "visited")
        if tails.group.ranks == graph.push_heads.group.ranks:
            self.sent |= front  # already visited: later pushes skip these
        if heads.comm is None:
            slots = xp.empty(graph.own, graph.tail_type)
            before = self.visited.copy()
            _, checked = self.part.pull(0, self.visited, front, slots, **self.looks)
            self.frontier = codec.set_positions(xp, self.visited ^ before)
            if self.parent is not None:
                self.parent[self.frontier] = tails.group.ids(slots[self.frontier]).astype(graph.id_type)
        else:
            checked = self._pull_round_row(tails.group, heads, front)
        self._mark_sent(self.frontier)
        return int(checked)

    def _pull_round_row(self, tails: Group, row: Side, front: Any) -> int:
        """Pass each rank's bitmap around the row. With predecessors, owners receive parents instead of the bitmap."""
        graph, xp, size, wanted = self.graph, self.xp, len(row.group.ranks), self.parent is not None
        closed, checked = self.visited.copy(), 0
        shapes: list[codec.Shape] = [codec.EMPTY] * size
        packets: list[Any] = [xp.empty(0, np.uint8)] * size
        new: list[Any] = []
        for turn in range(size):
            index = (row.index + turn) % size
            length = int(row.group.lengths[index])
            slots, before = xp.empty(length, graph.tail_type), closed.copy()
            _, looked = self.part.pull(int(row.group.slots[index]), closed, front, slots, **self.looks)
            checked += looked
            coming = self._pass_on(row, closed, index) if turn < size - 1 or not wanted else None
            if wanted:
                found = codec.set_positions(xp, closed ^ before)  # during the exchange
                if index == row.index:
                    new.append(self._claim(found, slots[found], tails))
                else:
                    values = codec.to_bytes(xp, slots[found], self.compress)
                    shapes[index], packets[index] = codec.pack(xp, found, values, length, self.compress)
            if coming is not None:
                closed = coming()
        if not wanted:
            self.frontier = codec.set_positions(xp, closed ^ self.visited)
            self.visited = closed
            return checked
        before_parents = self.wire.sent
        arriving, pending = self.wire.alltoall_packets(row.comm, shapes, packets, graph.own)
        self.for_parents += self.wire.sent - before_parents
        self.frontier = xp.concatenate(
            new + self._claim_received(unpacked(self.wire, row, graph.own, arriving, pending))
        )
        return checked

    def _pass_on(self, row: Side, closed: Any, index: int) -> Pending:
        """Start to send the bitmap of one rank's vertices; the wait returns the bitmap of the next rank's vertices."""
        group, following = row.group, (index + 1) % len(row.group.ranks)
        shape, data = codec.pack_bitmap(self.xp, ~closed, int(group.lengths[index]), self.compress)
        length = int(group.lengths[following])
        arriving, pending = self.wire.pass_packet(row.comm, shape, data, length)
        return lambda: ~codec.unpack_bitmap(self.xp, arriving, pending(), length)

    def _bitmap_of(self, side: Side, all_visited: bool) -> Any:
        """The frontier, or all visited vertices, of the ranks of a side, as a bitmap of the side's slots."""
        xp, group, own = self.xp, side.group, self.graph.own
        # Vertices without in-arcs are initially marked as visited, although only sources among them are.
        visited = self.visited & ~self.graph.closed | self.own_sources if all_visited else None
        if side.comm is None:
            self._write_distances()
            return codec.bitmap(xp, self.frontier, own) if visited is None else visited
        if visited is None:
            shape, data = codec.pack_set(xp, self.frontier, own, self.compress)
        else:
            shape, data = codec.pack_bitmap(xp, visited, own, self.compress)
        shapes, pending = self.wire.allgather_packets(side.comm, shape, data, group.lengths)
        self._write_distances()
        bits = xp.zeros(group.size // 64, np.uint64)
        for index, (one, packet) in enumerate(zip(shapes, pending(), strict=True)):
            first, words = int(group.slots[index]) // 64, group.words(index)
            if one[0]:
                bits[first : first + words] = codec.unpack_bitmap(xp, one, packet, int(group.lengths[index]))
        return bits


def sort_by_head(xp: Any, heads: Any, tails: Any) -> tuple[Any, Any]:
    """Sort messages by head, and thereby by destination. 32-bit heads sort as one number, head << 32 | tail."""
    if not len(heads):
        return heads, tails
    if heads.dtype == np.uint32:
        keys = (heads.astype(np.uint64) << np.uint64(32)) | tails.astype(np.uint64)
        keys.sort()
        return (keys >> np.uint64(32)).astype(np.uint32), keys & np.uint64(0xFFFFFFFF)
    order = xp.argsort(heads)
    return heads[order], tails[order]
