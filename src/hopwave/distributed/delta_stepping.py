"""Shortest paths over ranks, for Graph500's third kernel: Δ-stepping (Meyer and Sanders 2003).

    d   a vertex's distance so far, an integer in units         Δ   the width of a bucket of distances

In each round, the vertices of the nearest bucket whose distance was shortened relax all of their arcs. A rank sends
(vertex, distance, parent) to the vertex's owner if the distance is the shortest that the rank has seen for this vertex.
Lengths are integers, so distances are identical for any number of ranks.
"""

from typing import Any

import numpy as np

from hopwave.distributed import codec, wire
from hopwave.distributed.layout import Group
from hopwave.distributed.validate import parent_slots

UNIT = 1 << 24  # length of the longest arc
NEVER = 1 << 62  # the distance of a vertex that was not reached
DELTA = UNIT // 32  # for lengths uniform in (0, 1] and about 30 arcs per vertex: few rounds, few arcs relaxed twice


class Paths:
    """Shortest paths from one source after another, over arcs with random lengths (seed: `start`).

    `distance` (in units; NEVER if unreachable) and `parent` have one entry per own vertex, on the graph's device.
    """

    def __init__(self, graph: Any, start: int) -> None:
        self.graph, self.xp = graph, graph.part.xp
        out = _slot_shifts(graph.push_tails.group), _slot_shifts(graph.push_heads.group)
        into = _slot_shifts(graph.pull_heads.group), _slot_shifts(graph.pull_tails.group)
        self.lengths = graph.part.lengths(out, into, graph.n, start)
        size = graph.push_heads.group.size
        self.best, self.who = self.xp.empty(size, np.int64), self.xp.empty(size, np.int64)
        self.touched = self.xp.zeros(-(-size // 64), np.uint64)

    def run(self, source: int) -> None:
        """All shortest paths from one vertex."""
        graph, xp = self.graph, self.xp
        self.distance, self.parent = xp.full(graph.own, NEVER, np.int64), xp.full(graph.own, -1, graph.id_type)
        self.waiting = xp.zeros(graph.own, bool)  # vertices whose distance was shortened since their arcs were relaxed
        self.best.fill(NEVER)
        here = xp.arange(1) + (source - graph.first)
        if 0 <= source - graph.first < graph.own:
            self._take_shorter(here, here * 0, here + graph.first)
        end = DELTA
        while True:
            frontier = xp.flatnonzero(self.waiting & (self.distance < end))
            if self._by_rank(len(frontier)).sum():
                self.waiting[frontier] = False
                self._relax(frontier, end + UNIT)
                continue
            nearest = self._by_rank(int(xp.where(self.waiting, self.distance, NEVER).min()) if graph.own else NEVER)
            if nearest.min() == NEVER:
                return
            end = int(nearest.min()) + DELTA

    def _by_rank(self, number: int) -> Any:
        return self.graph.wire.allgather(self.graph.world.comm, np.array([number], np.int64))

    def _relax(self, frontier: Any, below: int) -> None:
        """Relax all arcs of these own vertices. Every path offered is shorter than `below`."""
        graph, xp, heads = self.graph, self.xp, self.graph.push_heads
        width = -(-below.bit_length() // 8)
        rows, distances = frontier, self.distance[frontier]
        if graph.push_tails.comm is not None:
            values = codec.to_bytes_of(distances, width)
            rows, received = wire.allgather_slots(graph.wire, graph.push_tails, graph.own, frontier, values)
            distances = codec.from_bytes(xp, received)
        found = xp.sort(self.lengths.relax(rows, distances, self.best, self.who, self.touched))

        def offers(some: slice) -> Any:
            slots = found[some]
            lengths, tails = codec.to_bytes_of(self.best[slots], width), codec.to_bytes(xp, self.who[slots])
            return xp.concatenate([lengths, tails], axis=1)

        sent = wire.send_to_owners(graph.wire, heads, graph.own, found, offers)
        own = found[sent.own]  # handled during the exchange
        self._take_shorter(own - heads.first, self.best[own], graph.push_tails.group.ids(self.who[own]))
        for rank, positions, values in sent.receive():
            lengths, tails = (codec.from_bytes(xp, rows) for rows in (values[:, :width], values[:, width:]))
            self._take_shorter(positions, lengths, graph.tails_of(rank).ids(tails))

    def _take_shorter(self, positions: Any, lengths: Any, parents: Any) -> None:
        """Update own vertices for which the offered path is shorter. No position may occur twice."""
        shorter = lengths < self.distance[positions]
        positions, lengths = positions[shorter], lengths[shorter]
        self.distance[positions], self.waiting[positions] = lengths, True
        self.parent[positions] = parents[shorter].astype(self.graph.id_type)
        self.best[positions + self.graph.push_heads.first] = lengths

    def broken(self, source: int) -> tuple[str, ...]:
        """Names of Graph500's five rules that the last run violated (distances replace levels), on every rank."""
        graph, xp, d = self.graph, self.xp, self.distance
        parents = self.parent.astype(np.int64)
        ids = xp.arange(graph.own) + graph.first
        slots = parent_slots(graph, parents)
        linked = xp.zeros(len(slots), np.uint8)
        tail_distances, head_distances = (
            wire.allgather_values(graph, side, d) for side in (graph.pull_tails, graph.pull_heads)
        )
        edges, span, levels = self.lengths.check(head_distances, tail_distances, slots, linked)
        linked = wire.reduce_to_owners(graph, graph.pull_heads, linked, greatest=True)
        root, reached = ids == source, d != NEVER
        wrong = {
            "roots": root & (parents != ids) | ~root & (parents == ids),
            "levels": (d == 0) != root,
            "edges": d < 0,
            "span": reached != (parents >= 0),
            "links": reached & ~root & (linked == 0),
        }
        arcs = {"levels": levels, "edges": edges, "span": span}
        counts = np.array([int(xp.count_nonzero(bad)) + arcs.get(rule, 0) for rule, bad in wrong.items()], np.int64)
        total = graph.wire.allgather(graph.world.comm, counts).sum(axis=0)
        return tuple(rule for rule, count in zip(wrong, total.tolist(), strict=True) if count)


def _slot_shifts(group: Group) -> tuple[Any, Any]:
    """(first slot of each range, id - slot in that range), without the group's empty ranges."""
    some = np.diff(group.slots) > 0
    some[0] |= not some.any()
    return group.slots[:-1][some], (group.firsts - group.slots[:-1])[some]
