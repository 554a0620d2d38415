"""Shortest paths over ranks, for Graph500's third kernel: Δ-stepping's buckets (Meyer and Sanders 2003).

    d   a vertex's distance so far, a whole number of units      Δ   the width of a bucket

The vertices of the nearest bucket whose distance became shorter offer their neighbours a way, until none is left in the
bucket; then the next one. A rank sends (vertex, distance, parent) to the vertex's owner, once a round, sorted by
destination, and only where that is shorter than anything the rank has seen for that vertex. Lengths are whole numbers,
so an answer is the same to the last bit on any number of ranks, and validation needs no tolerance.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from hopwave.distributed import codec
from hopwave.distributed.layout import Group
from hopwave.distributed.search import Side
from hopwave.distributed.validate import any_of_row, of_side, slots_of

UNIT = 1 << 24  # the longest arc
NEVER = 1 << 62  # the distance of what was not reached
DELTA = UNIT // 32  # with lengths even in (0, 1] and some 30 arcs a vertex: not many rounds, few arcs followed twice


class Parts(Protocol):
    """What this needs of a DistributedGraph; one GPU's graph can be dressed up as one."""

    n: int
    first: int
    own: int
    words: int
    id_type: Any
    world: Any
    wire: Any
    part: Any
    push_tails: Side
    push_heads: Side
    pull_tails: Side
    pull_heads: Side

    def tails_of(self, rank: int) -> Group:
        """The group in which another rank names its tails."""


class Paths:
    """Shortest paths from one source after another, over arcs whose lengths are drawn from `start` on.

    `distance` (in units; NEVER where there is no path) and `parent` are of own vertices, where the graph lies.
    """

    def __init__(self, graph: Parts, start: int) -> None:
        self.graph, self.xp = graph, graph.part.xp
        out = _names(graph.push_tails.group), _names(graph.push_heads.group)
        into = _names(graph.pull_heads.group), _names(graph.pull_tails.group)
        self.lengths = graph.part.lengths(out, into, graph.n, start)
        size = graph.push_heads.group.size
        self.best, self.who = self.xp.empty(size, np.int64), self.xp.empty(size, np.int64)
        self.touched = self.xp.zeros(-(-size // 64), np.uint64)

    def run(self, source: int) -> None:
        """All shortest paths from one vertex."""
        graph, xp = self.graph, self.xp
        self.distance, self.parent = xp.full(graph.own, NEVER, np.int64), xp.full(graph.own, -1, graph.id_type)
        self.waiting = xp.zeros(graph.own, bool)
        self.best.fill(NEVER)
        here = xp.arange(1) + (source - graph.first)
        if 0 <= source - graph.first < graph.own:
            self._better(here, here * 0, here + graph.first)
        end = DELTA
        while True:
            frontier = xp.flatnonzero(self.waiting & (self.distance < end))
            if self._everybody(len(frontier)).sum():
                self.waiting[frontier] = False
                self._relax(frontier, end + UNIT)
                continue
            nearest = self._everybody(int(xp.where(self.waiting, self.distance, NEVER).min()) if graph.own else NEVER)
            if nearest.min() == NEVER:
                return
            end = int(nearest.min()) + DELTA

    def _everybody(self, number: int) -> Any:
        return self.graph.wire.tell(self.graph.world.comm, np.array([number], np.int64))

    def _relax(self, frontier: Any, below: int) -> None:
        """Offers from these own vertices, all of them shorter than `below`, to wherever their arcs lead."""
        graph, xp, heads = self.graph, self.xp, self.graph.push_heads
        width = -(-below.bit_length() // 8)
        rows, distances = self._shared(graph.push_tails, frontier, width)
        found = xp.sort(self.lengths.relax(rows, distances, self.best, self.who, self.touched))
        ends = (
            xp.searchsorted(found, xp.asarray(heads.group.slots)).tolist()
            if len(found)
            else [0] * len(heads.group.slots)
        )
        shapes: list[codec.Shape] = []
        packets: list[Any] = []
        for place, (begin, end) in enumerate(pairwise(ends)):
            mine = found[begin:end]
            places, offers, tails = mine - int(heads.group.slots[place]), self.best[mine], self.who[mine]
            if place == heads.place:
                own = places, offers, graph.push_tails.group.ids(tails)
                places, offers, tails = places[:0], offers[:0], tails[:0]
            values = xp.concatenate([codec.rows_of(offers, width), codec.columns(xp, tails)], axis=1)
            shape, data = codec.pack(xp, places, values, int(heads.group.lengths[place]))
            shapes.append(shape)
            packets.append(data)
        others = None if heads.comm is None else graph.wire.deal(heads.comm, shapes, packets, graph.own)
        self._better(*own)  # while the rest is on its way
        if others is None:
            return
        arriving, pending = others
        for place, (shape, data) in enumerate(zip(arriving, pending(), strict=True)):
            if shape[0]:
                places, values = codec.unpack(xp, shape, data, graph.own)
                offers, tails = (codec.numbers(xp, part) for part in (values[:, :width], values[:, width:]))
                self._better(places, offers, graph.tails_of(heads.group.ranks[place]).ids(tails))

    def _better(self, places: Any, offers: Any, parents: Any) -> None:
        """Own vertices that were offered a way take it if it is shorter; none stands here twice."""
        shorter = offers < self.distance[places]
        places, offers = places[shorter], offers[shorter]
        self.distance[places], self.waiting[places] = offers, True
        self.parent[places] = parents[shorter].astype(self.graph.id_type)
        self.best[places + self.graph.push_heads.first] = offers

    def _shared(self, side: Side, own: Any, width: int) -> tuple[Any, Any]:
        """A frontier and its distances from all ranks of a side, by slot."""
        if side.comm is None:
            return own, self.distance[own]
        values = codec.rows_of(self.distance[own], width)
        shape, data = codec.pack(self.xp, own, values, self.graph.own)
        shapes, pending = self.graph.wire.gather(side.comm, shape, data, side.group.lengths)
        slots, distances = [], []
        for place, (one, piece) in enumerate(zip(shapes, pending(), strict=True)):
            places, values = codec.unpack(self.xp, one, piece, int(side.group.lengths[place]))
            slots.append(places + int(side.group.slots[place]))
            distances.append(codec.numbers(self.xp, values))
        return self.xp.concatenate(slots), self.xp.concatenate(distances)

    # ------------------------------------------------------------------ validation

    def broken(self, source: int) -> tuple[str, ...]:
        """The rules that the last run broke, by name, the same on every rank: Graph500's five, lengths for levels.

        Every link of a tree adds a length of at least one unit, so a tree whose links are right has no cycle.
        """
        graph, xp, d = self.graph, self.xp, self.distance
        parents = self.parent.astype(np.int64)
        ids = xp.arange(graph.own) + graph.first
        tails, heads = graph.pull_tails, graph.pull_heads
        head_parents = of_side(graph, parents, heads)
        itself = head_parents == heads.group.ids(xp.arange(len(head_parents)))
        links = xp.where(itself, -1, slots_of(xp, tails, head_parents))
        linked = xp.zeros(len(head_parents), np.uint8)
        edges, span, levels = self.lengths.check(of_side(graph, d, heads), of_side(graph, d, tails), links, linked)
        linked = any_of_row(graph, linked)
        root, reached = ids == source, d != NEVER
        found = {
            "roots": root & (parents != ids) | ~root & (parents == ids),
            "levels": (d == 0) != root,
            "edges": d < 0,
            "span": reached != (parents >= 0),
            "links": reached & ~root & (linked == 0),
        }
        mine = [int(xp.count_nonzero(bad)) for bad in found.values()]
        arcs = {"levels": levels, "edges": edges, "span": span}
        counts = np.array([count + arcs.get(rule, 0) for rule, count in zip(found, mine, strict=True)], np.int64)
        total = graph.wire.tell(graph.world.comm, counts).sum(axis=0)
        return tuple(rule for rule, count in zip(found, total.tolist(), strict=True) if count)


def _names(group: Group) -> tuple[Any, Any]:
    """What makes ids of a group's slots: where its ranges begin, and what to add there. Empty ranges hold none."""
    some = np.diff(group.slots) > 0
    some[0] |= not some.any()
    return group.slots[:-1][some], (group.firsts - group.slots[:-1])[some]
