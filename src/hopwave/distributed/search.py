"""Breadth-first search over ranks (Hiragushi, section 4, after Beamer et al. 2013): one level after another, together.

    push   every rank walks along the out-arcs of the frontier, and sends (vertex, parent) to the vertex's owner: once
           for each vertex, sorted by destination, so that what one rank gets lies together (section 4.1)
    pull   the frontier goes to all as a bitmap; every rank looks through the in-arcs of its unvisited vertices for a
           bit that is set (section 4.2). In a 2D layout a vertex's in-arcs lie on the ranks of one row: its open bits
           go round that row, so that each rank looks only for those that none before it has found

On a grid of R × C ranks a pull's bitmaps are n/8 · (R + C - 1)/(R C) bytes from each rank, or less: never over n/8.
What tells owners their vertices' parents is counted apart: a search for distances alone does not send it.

Sums over all ranks go into the rule, so every rank chooses the same step. What a rank sends itself never travels, and
is claimed while the rest is on its way.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hopwave.distributed import codec
from hopwave.distributed.layout import Group
from hopwave.distributed.wire import Pending
from hopwave.errors import PlanError
from hopwave.plan import Plan, Pull, Push
from hopwave.rules import Sizes
from hopwave.trace import Level

if TYPE_CHECKING:
    from hopwave.distributed.graph import DistributedGraph


@dataclass(frozen=True)
class Side:
    """Ranks that exchange something, their vertices as a group, and our place among them; comm is None for us alone."""

    comm: Any
    group: Group
    place: int

    @property
    def first(self) -> int:
        """The slot of our own first vertex."""
        return int(self.group.slots[self.place])


def why_not(plan: Plan) -> str | None:
    """Why a plan cannot lead a search over ranks, or None: it must choose between a push and a pull, or have only one.

    >>> import hopwave as hw
    >>> why_not(hw.plan("hiragushi-hybrid")) is None, why_not(hw.plan("xbfs")) is None
    (True, False)
    """
    kinds = [type(step) for step in plan.steps]
    if plan.task == "search" and kinds in ([Push], [Pull], [Push, Pull]):
        return None
    return f"plan {plan.name!r} is no choice between one push and one pull; over ranks use 'auto' or 'hiragushi-hybrid'"


class Search:
    """One search: this rank's share of its state, and the levels so far."""

    def __init__(
        self, graph: DistributedGraph, sources: tuple[int, ...], predecessors: bool, limit: int | None, compress: bool
    ) -> None:
        self.graph, self.part, self.wire = graph, graph.part, graph.wire
        self.limit, self.compress = limit, compress
        xp = self.xp = self.part.xp
        self.distance = xp.full(graph.own, -1, np.int32)
        self.parent = xp.full(graph.own, -1, graph.id_type) if predecessors else None
        self.visited = graph.closed.copy()
        self.sent = xp.zeros(graph.push_heads.group.size // 64, np.uint64)
        self.levels: list[Level] = []
        self.depth = self.reached = self.for_parents = 0
        mine = np.array([s - graph.first for s in sources if graph.first <= s < graph.first + graph.own], np.int64)
        self.frontier = xp.asarray(np.sort(mine))
        self.visited |= codec.bits_from(xp, self.frontier, graph.own)
        if self.parent is not None:
            self.parent[self.frontier] = (self.frontier + graph.first).astype(graph.id_type)
        self._mark_sent(self.frontier)

    # ------------------------------------------------------------------ the loop

    def run(self, plan: Plan) -> None:
        """Level after level, the rule asked before each."""
        reason = why_not(plan)
        if reason:
            raise PlanError(reason)
        nf0 = mf0 = checked = 0
        last = -1
        nf, mf, *_ = self._sums(checked)
        mu = self.graph.m - mf
        self.reached = nf
        while nf and (self.limit is None or self.depth < self.limit):
            began, self.wire.sent, self.for_parents = time.perf_counter(), 0, 0
            choice = plan.rule.choose(Sizes(self.graph.n, self.graph.m, nf, mf, mu, nf0, mf0, last))
            step = plan.steps[choice]
            checked = self._push() if isinstance(step, Push) else self._pull()
            self.depth += 1
            found, edges, looked, traffic = self._sums(checked)
            seconds = time.perf_counter() - began
            self.levels.append(Level(self.depth, choice, str(step), nf, mf, mu, found, looked, seconds, **traffic))
            nf0, mf0, last = nf, mf, choice
            nf, mf = found, edges
            mu -= edges
            self.reached += found
        self._settle()

    @property
    def deepest(self) -> int:
        """The greatest distance: the last level looked for more, and mostly found none."""
        return self.depth - bool(self.levels and not self.levels[-1].found)

    def _sums(self, checked: int) -> tuple[int, int, int, dict[str, int]]:
        """Over all ranks: the frontier's vertices and arcs, arcs looked at; bytes sent, by all and by the busiest."""
        told = 40 * (self.graph.world.size - 1)  # by this very exchange
        arcs = int(self.graph.degrees[self.frontier].sum())
        mine = len(self.frontier), arcs, checked, self.wire.sent + told, self.for_parents
        everybody = self.wire.tell(self.graph.world.comm, np.array(mine, np.int64))
        found, edges, looked, sent, for_parents = everybody.sum(axis=0).tolist()
        traffic = {
            "sent": sent,
            "sent_for_parents": for_parents,
            "sent_by_one": int(everybody[:, 3].max()),
            "sets_by_one": int((everybody[:, 3] - everybody[:, 4]).max()),
        }
        return found, edges, looked, traffic

    def _settle(self) -> None:
        """Write the frontier's distances: at the end of a search, or while its bitmap is on its way to the others."""
        self.distance[self.frontier] = self.depth

    def _mark_sent(self, own: Any) -> None:
        """Nobody needs to tell us of our own vertices."""
        heads = self.graph.push_heads
        words = self.graph.words
        first = heads.first // 64
        self.sent[first : first + words] |= codec.bits_from(self.xp, own, self.graph.own)

    # ------------------------------------------------------------------ push

    def _push(self) -> int:
        graph, xp = self.graph, self.xp
        tails, heads = graph.push_tails, graph.push_heads
        frontier = self._frontier_of(tails)
        self._settle()
        found, parents = by_head(xp, *self.part.push(frontier, self.sent))
        wanted = self.parent is not None
        ends = [0] * len(heads.group.ranks)
        if len(found):
            ends = xp.searchsorted(found, xp.asarray(heads.group.slots[:-1]).astype(found.dtype)).tolist()
        packets: list[Any] = []
        shapes: list[codec.Shape] = []
        own: tuple[Any, Any] | None = None
        for place, (begin, end) in enumerate(zip(ends, [*ends[1:], len(found)], strict=True)):
            offsets = found[begin:end].astype(np.int64) - int(heads.group.slots[place])
            if place == heads.place:
                own = offsets, parents[begin:end]
                shape, data = (0, 0, 0), xp.empty(0, np.uint8)
            else:
                length = int(heads.group.lengths[place])
                values = codec.columns(xp, parents[begin:end], self.compress) if wanted else None
                shape, data = codec.pack(xp, offsets, values, length, self.compress)
                self.for_parents += len(data) - codec.packed_size((*shape[:2], 0), length)
            shapes.append(shape)
            packets.append(data)
        assert own is not None
        others = None if heads.comm is None else self.wire.deal(heads.comm, shapes, packets, graph.own)
        new = [self._claim(own[0], own[1], tails.group)]  # while the rest is on its way
        if others is not None:
            arriving, pending = others
            for place, (shape, data) in enumerate(zip(arriving, pending(), strict=True)):
                if place != heads.place and shape[0]:
                    vertices, values = codec.unpack(xp, shape, data, graph.own)
                    slots = codec.numbers(xp, values)
                    new.append(self._claim(vertices, slots, graph.tails_of(heads.group.ranks[place])))
        self.frontier = xp.concatenate(new)
        self._mark_sent(self.frontier)
        return int((self.part.out_offsets[frontier + 1] - self.part.out_offsets[frontier]).sum())

    def _claim(self, heads: Any, slots: Any, group: Group) -> Any:
        """Those of the own vertices that are new; their parents stand in slots of that group."""
        ids = None if self.parent is None else group.ids(slots).astype(self.graph.id_type)
        return self.part.claim(heads, ids, self.visited, self.parent)

    def _frontier_of(self, side: Side) -> Any:
        """The frontier of all ranks of a side, as slots."""
        if side.comm is None:
            return self.frontier
        shape, data = codec.pack_set(self.xp, self.frontier, self.graph.own, self.compress)
        shapes, pending = self.wire.gather(side.comm, shape, data, side.group.lengths)
        lists = [
            codec.unpack(self.xp, one, piece, int(length))[0] + int(slot)
            for one, piece, length, slot in zip(shapes, pending(), side.group.lengths, side.group.slots, strict=False)
        ]
        return self.xp.concatenate(lists)

    # ------------------------------------------------------------------ pull

    def _pull(self) -> int:
        graph, xp = self.graph, self.xp
        tails, heads = graph.pull_tails, graph.pull_heads
        front = self._bitmap_of(tails)
        if tails.group.ranks == graph.push_heads.group.ranks:
            self.sent |= front  # known to be visited: no later push needs to send them
        if heads.comm is None:
            slots = xp.empty(graph.own, graph.tail_type)
            before = self.visited.copy()
            _, checked = self.part.pull(0, self.visited, front, slots)
            self.frontier = codec.places(xp, self.visited ^ before)
            if self.parent is not None:
                self.parent[self.frontier] = tails.group.ids(slots[self.frontier]).astype(graph.id_type)
        else:
            checked = self._pull_round(tails.group, heads, front)
        self._mark_sent(self.frontier)
        return int(checked)

    def _pull_round(self, tails: Group, row: Side, front: Any) -> int:
        """Open bits go round the row, and home again; where parents are wanted, each rank tells owners what it found
        for them, and then the bits need not come home.
        """
        graph, xp, size, wanted = self.graph, self.xp, len(row.group.ranks), self.parent is not None
        closed, checked = self.visited.copy(), 0
        shapes: list[codec.Shape] = [(0, 0, 0)] * size
        packets: list[Any] = [xp.empty(0, np.uint8)] * size
        new: list[Any] = []
        for turn in range(size):
            place = (row.place + turn) % size
            length = int(row.group.lengths[place])
            slots, before = xp.empty(length, graph.tail_type), closed.copy()
            _, looked = self.part.pull(int(row.group.slots[place]), closed, front, slots)
            checked += looked
            coming = self._turned(row, closed, place) if turn < size - 1 or not wanted else None
            if wanted:  # packed while the bits are on their way
                found = codec.places(xp, closed ^ before)
                if place == row.place:
                    new.append(self._claim(found, slots[found], tails))
                else:
                    values = codec.columns(xp, slots[found], self.compress)
                    shapes[place], packets[place] = codec.pack(xp, found, values, length, self.compress)
            if coming is not None:
                closed = coming()
        if not wanted:
            self.frontier = codec.places(xp, closed ^ self.visited)
            self.visited = closed
            return int(checked)
        sent = self.wire.sent
        arriving, pending = self.wire.deal(row.comm, shapes, packets, graph.own)
        self.for_parents += self.wire.sent - sent
        for place, (shape, data) in enumerate(zip(arriving, pending(), strict=True)):
            if shape[0]:
                vertices, values = codec.unpack(xp, shape, data, graph.own)
                new.append(self._claim(vertices, codec.numbers(xp, values), graph.tails_of(row.group.ranks[place])))
        self.frontier = xp.concatenate(new)
        return int(checked)

    def _turned(self, row: Side, closed: Any, place: int) -> Pending:
        """The bitmap of one rank's vertices goes on round the row; the call ends with that of the next rank's."""
        group, behind = row.group, (place + 1) % len(row.group.ranks)
        shape, data = codec.pack_bits(self.xp, ~closed, int(group.lengths[place]), self.compress)
        length = int(group.lengths[behind])
        arriving, pending = self.wire.turn(row.comm, shape, data, length)
        return lambda: ~codec.unpack_bits(self.xp, arriving, pending(), length)

    def _bitmap_of(self, side: Side) -> Any:
        """The frontier of all ranks of a side, as a bitmap of its slots; distances are written meanwhile."""
        xp, group = self.xp, side.group
        if side.comm is None:
            self._settle()
            return codec.bits_from(xp, self.frontier, self.graph.own)
        shape, data = codec.pack_set(xp, self.frontier, self.graph.own, self.compress)
        shapes, pending = self.wire.gather(side.comm, shape, data, group.lengths)
        self._settle()
        bits = xp.zeros(group.size // 64, np.uint64)
        for place, (one, piece) in enumerate(zip(shapes, pending(), strict=True)):
            first, words = int(group.slots[place]) // 64, group.words(place)
            if one[0]:
                bits[first : first + words] = codec.unpack_bits(xp, one, piece, int(group.lengths[place]))
        return bits


def by_head(xp: Any, heads: Any, tails: Any) -> tuple[Any, Any]:
    """Messages sorted by their head, and so by destination: as one number each where both halves fit into it.

    >>> [column.tolist() for column in by_head(np, np.array([5, 2], np.uint32), np.array([7, 8]))]
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
