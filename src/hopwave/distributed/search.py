"""Breadth-first search over ranks (Hiragushi, section 4, after Beamer et al. 2013), one level at a time.

    push   Every rank follows the out-arcs of the frontier and sends (vertex, parent) to the vertex's owner: once per
           vertex, sorted by destination, so that each rank's messages are contiguous (section 4.1).
    pull   The frontier, or all visited vertices if the plan's operand is "visited", goes to all ranks as a bitmap.
           Every rank looks through the in-arcs of its unvisited vertices for a bit that is set (section 4.2). In a 2D
           layout a vertex's in-arcs are on the ranks of one row: the bitmap of its owner's unvisited vertices goes
           round that row, and each rank looks only for vertices that are not found yet.

distributed/steps.py says which of a plan's other choices ranks follow.

On a grid of R × C ranks each rank sends at most n/8 · (R + C - 1)/(R C) bytes of bitmaps in a pull, never over n/8.
Messages with parents are counted apart: a search for distances alone has none.

The rule gets sums over all ranks, so every rank chooses the same step. A rank does not send messages to itself: it
handles them while the others are on their way.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from hopwave.distributed import codec
from hopwave.distributed.graph import DistributedGraph
from hopwave.distributed.layout import Group
from hopwave.distributed.sides import Received, Side, allgather_slots, send_to_owners, unpacked
from hopwave.distributed.steps import as_run, kernels_of, sorts_rows, why_not
from hopwave.distributed.wire import Pending
from hopwave.errors import PlanError
from hopwave.planning.plan import Plan, Pull, Push
from hopwave.planning.rules import Sizes
from hopwave.planning.trace import Level


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
        self.sent = xp.zeros(graph.push_heads.group.size // 64, np.uint64)  # no push needs to send these again
        self.levels: list[Level] = []
        self.depth = self.reached = self.for_parents = 0
        mine = np.array([s - graph.first for s in sources if graph.first <= s < graph.first + graph.own], np.int64)
        self.frontier = xp.asarray(np.sort(mine))
        self.own_sources = codec.bitmap(xp, self.frontier, graph.own)
        self.visited |= self.own_sources
        self.looks: dict[str, bool] = {}  # how a pull reads rows
        if self.parent is not None:
            self.parent[self.frontier] = (self.frontier + graph.first).astype(graph.id_type)
        self._mark_sent(self.frontier)

    # ------------------------------------------------------------------ the loop

    def run(self, plan: Plan) -> None:
        """Search level by level; before each level the plan's rule chooses the step."""
        reason = why_not(plan)
        if reason:
            raise PlanError(reason)
        device = self.part.device
        sort_rows = sorts_rows(plan)
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
        """The greatest distance. It is usually depth - 1, because the last level finds no vertex."""
        return self.depth - bool(self.levels and not self.levels[-1].found)

    def _sums(self, checked: int) -> tuple[int, int, int, dict[str, int]]:
        """Sums over all ranks: vertices in the frontier, their arcs, arcs looked at; and a dict of bytes sent."""
        by_this = 40 * (self.graph.world.size - 1)  # the bytes of this exchange itself
        arcs = int(self.graph.degrees[self.frontier].sum())
        mine = len(self.frontier), arcs, checked, self.wire.sent + by_this, self.for_parents
        by_rank = self.wire.allgather(self.graph.world.comm, np.array(mine, np.int64))
        found, edges, looked, sent, for_parents = by_rank.sum(axis=0).tolist()
        traffic = {
            "sent": sent,
            "sent_for_parents": for_parents,
            "sent_by_one": int(by_rank[:, 3].max()),
            "sets_by_one": int((by_rank[:, 3] - by_rank[:, 4]).max()),
        }
        return found, edges, looked, traffic

    def _write_distances(self) -> None:
        """Set the frontier's distances. Levels call this while an exchange is under way."""
        self.distance[self.frontier] = self.depth

    def _mark_sent(self, own: Any) -> None:
        """Mark own vertices: pushes never send a rank its own vertices back."""
        heads = self.graph.push_heads
        words = self.graph.words
        first = heads.first // 64
        self.sent[first : first + words] |= codec.bitmap(self.xp, own, self.graph.own)

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
        """Make the next frontier by a push; returns the number of arcs looked at."""
        graph, xp = self.graph, self.xp
        tails, heads = graph.push_tails, graph.push_heads
        frontier = self._frontier_of(tails)
        self._write_distances()
        found, parents = sort_by_head(xp, *self.part.push(frontier, self.sent, **how))

        def parents_of(some: slice) -> Any:
            return None if self.parent is None else codec.to_bytes(xp, parents[some], self.compress)

        sent = send_to_owners(self.wire, heads, graph.own, found, parents_of, self.compress)
        self.for_parents += sent.value_bytes
        own = found[sent.own].astype(np.int64) - heads.first
        new = [self._claim(own, parents[sent.own], tails.group)]  # while the rest is on its way
        self.frontier = xp.concatenate(new + self._claim_received(sent.receive()))
        self._mark_sent(self.frontier)
        return int((self.part.out_offsets[frontier + 1] - self.part.out_offsets[frontier]).sum())

    def _frontier_of(self, side: Side) -> Any:
        """The frontier of all ranks of a side, as slots."""
        if side.comm is None:
            return self.frontier
        return allgather_slots(self.wire, side, self.graph.own, self.frontier, compress=self.compress)[0]

    # ------------------------------------------------------------------ pull

    def _pull(self, step: Pull, how: dict[str, bool]) -> int:
        """Make the next frontier by a pull; returns the number of arcs looked at."""
        self.looks = how
        graph, xp = self.graph, self.xp
        tails, heads = graph.pull_tails, graph.pull_heads
        front = self._bitmap_of(tails, all_visited=step.operand == "visited")
        if tails.group.ranks == graph.push_heads.group.ranks:
            self.sent |= front  # these are visited: no later push needs to send them
        if heads.comm is None:
            slots = xp.empty(graph.own, graph.tail_type)
            before = self.visited.copy()
            _, checked = self.part.pull(0, self.visited, front, slots, **self.looks)
            self.frontier = codec.set_positions(xp, self.visited ^ before)
            if self.parent is not None:
                self.parent[self.frontier] = tails.group.ids(slots[self.frontier]).astype(graph.id_type)
        elif self.parent is None:
            checked = self._pull_round_row(heads, front)
        else:
            checked = self._pull_round_row_with_parents(tails.group, heads, front)
        self._mark_sent(self.frontier)
        return int(checked)

    def _pull_round_row(self, row: Side, front: Any) -> int:
        """Pass each rank's bitmap round the row once; it comes back with the vertices that any rank found."""
        size, closed, checked = len(row.group.ranks), self.visited.copy(), 0
        for turn in range(size):
            index = (row.index + turn) % size
            slots = self.xp.empty(int(row.group.lengths[index]), self.graph.tail_type)
            _, looked = self.part.pull(int(row.group.slots[index]), closed, front, slots, **self.looks)
            checked += looked
            closed = self._pass_on(row, closed, index)()
        self.frontier = codec.set_positions(self.xp, closed ^ self.visited)
        self.visited = closed
        return checked

    def _pull_round_row_with_parents(self, tails: Group, row: Side, front: Any) -> int:
        """Pass each rank's bitmap round the row; each rank sends the owners the parents that it found for them.

        The bitmap need not come back: the parents tell the owner what was found.
        """
        graph, xp, size = self.graph, self.xp, len(row.group.ranks)
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
            coming = self._pass_on(row, closed, index) if turn < size - 1 else None
            found = codec.set_positions(xp, closed ^ before)  # while the bitmap is on its way
            if index == row.index:
                new.append(self._claim(found, slots[found], tails))
            else:
                values = codec.to_bytes(xp, slots[found], self.compress)
                shapes[index], packets[index] = codec.pack(xp, found, values, length, self.compress)
            if coming is not None:
                closed = coming()
        before_parents = self.wire.sent
        arriving, pending = self.wire.alltoall_packets(row.comm, shapes, packets, graph.own)
        self.for_parents += self.wire.sent - before_parents
        new += self._claim_received(unpacked(self.wire, row, graph.own, arriving, pending))
        self.frontier = xp.concatenate(new)
        return checked

    def _pass_on(self, row: Side, closed: Any, index: int) -> Pending:
        """Begin to pass on the bitmap of one rank's vertices; the wait returns that of the next rank's vertices."""
        group, following = row.group, (index + 1) % len(row.group.ranks)
        shape, data = codec.pack_bitmap(self.xp, ~closed, int(group.lengths[index]), self.compress)
        length = int(group.lengths[following])
        arriving, pending = self.wire.pass_packet(row.comm, shape, data, length)
        return lambda: ~codec.unpack_bitmap(self.xp, arriving, pending(), length)

    def _bitmap_of(self, side: Side, all_visited: bool) -> Any:
        """The frontier of all ranks of a side, or all their visited vertices, as a bitmap of the side's slots.

        Distances are written during the exchange.
        """
        xp, group, own = self.xp, side.group, self.graph.own
        # Vertices without in-arcs are marked as visited from the start; only sources among them really are.
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
    """Sorts messages by head, and thereby by destination. 32-bit heads sort as one number, head << 32 | tail.

    >>> [column.tolist() for column in sort_by_head(np, np.array([5, 2], np.uint32), np.array([7, 8]))]
    [[2, 5], [8, 7]]
    """
    if not len(heads):
        return heads, tails
    if heads.dtype == np.uint32:
        keys = (heads.astype(np.uint64) << np.uint64(32)) | tails.astype(np.uint64)
        keys.sort()
        return (keys >> np.uint64(32)).astype(np.uint32), keys & np.uint64(0xFFFFFFFF)
    order = xp.argsort(heads)
    return heads[order], tails[order]
