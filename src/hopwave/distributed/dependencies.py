"""Dependencies of one source on a graph in parts (Brandes): path counts forward, shares back, level by level.

    σ   path counts, kept as mantissa · 2^exponent a vertex: no graph overflows them
    δ   dependencies: δ(v) = σ(v) Σ (1 + δ(w)) / σ(w) over the successors w of v

Both ways are one operation: the vertices of a level give a number to all of their neighbours, each rank adds up what
it has for a vertex, and the vertex's owner adds up what ranks send. Forward, a rank sends to a vertex once: what it met
at an earlier level is visited. Back, the owner takes only what the level behind sends to the one before.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from hopwave.distributed import codec
from hopwave.distributed.graph import DistributedGraph
from hopwave.distributed.search import Side
from hopwave.distributed.wire import HostWire
from hopwave.engines.cpu.rank.path_sums import add_all, scatter

VALUE = np.dtype([("mantissa", "<f8"), ("exponent", "<i4")])  # 12 bytes: how a number travels
NOTHING = np.empty(0, np.uint64)


class Dependencies:
    """Σ δ over sources for own vertices, in `total`; every rank adds the same sources. Computes on the CPU."""

    def __init__(self, graph: DistributedGraph, cutoff: int | None, endpoints: bool) -> None:
        self.graph, self.cutoff, self.endpoints = graph, cutoff, endpoints
        part, self.wire = graph.part, HostWire(graph.world.crowded)
        out, into = (part.out_offsets, part.heads), (part.in_offsets, part.tails)
        if graph.device != "cpu":  # a copy in host memory, one where the two are one
            same = part.tails is part.heads
            out = tuple(array.get() for array in out)
            into = out if same else tuple(array.get() for array in into)
        self.out, self.into = out, into
        self.total = np.zeros(graph.own)
        size = max(graph.push_heads.group.size, graph.pull_tails.group.size)
        self.sums, self.powers = np.zeros(size), np.zeros(size, np.int32)
        self.touched = np.empty(size, graph.tail_type)

    def add(self, source: int) -> tuple[float, float]:
        """One source; returns both sides of its certificate: Σ δ(v), and Σ (d(v) − 1) over the vertices reached."""
        own = self.graph.own
        self.distance = np.full(own, -1, np.int32)
        self.mantissa, self.exponent = np.zeros(own), np.zeros(own, np.int64)
        levels = self._forward(source)
        delta = self._backward(levels)
        here = source - self.graph.first
        reached = self.distance > 0
        if 0 <= here < own:
            delta[here] = 0.0
        mine = np.array([delta.sum(), (self.distance[reached] - 1.0).sum(), np.count_nonzero(reached)])
        found, due, count = self.wire.tell(self.graph.world.comm, mine).sum(axis=0).tolist()
        if self.endpoints:
            delta[reached] += 1.0
            if 0 <= here < own:
                delta[here] += count
        self.total += delta
        return found, due

    def _forward(self, source: int) -> list[Any]:
        graph = self.graph
        levels: list[Any] = []
        here = source - graph.first
        frontier = np.array([here] if 0 <= here < graph.own else [], np.int64)
        self.distance[frontier], self.mantissa[frontier], self.exponent[frontier] = 0, 0.5, 1
        met = np.zeros(graph.push_heads.group.size // 64, np.uint64)
        while self.cutoff is None or len(levels) <= self.cutoff:
            if not any(self.wire.tell(graph.world.comm, np.array([len(frontier)], np.int64)).ravel()):
                break
            levels.append(frontier)
            if len(levels) - 1 == self.cutoff:
                break
            numbers = self.mantissa[frontier], self.exponent[frontier]
            places, mantissas, exponents = self._give(
                self.out, graph.push_tails, graph.push_heads, frontier, *numbers, met
            )
            new = places[self.distance[places] < 0]
            self.distance[new] = len(levels)
            take = self.distance[places] == len(levels)
            self.mantissa[places[take]], self.exponent[places[take]] = mantissas[take], exponents[take]
            frontier = new
        return levels

    def _backward(self, levels: list[Any]) -> Any:
        graph = self.graph
        delta = np.zeros(graph.own)
        for depth in range(len(levels) - 1, 0, -1):
            level = levels[depth]
            share, power = np.frexp((1.0 + delta[level]) / self.mantissa[level])
            numbers = share, power - self.exponent[level]
            places, mantissas, exponents = self._give(
                self.into, graph.pull_heads, graph.pull_tails, level, *numbers, NOTHING
            )
            take = self.distance[places] == depth - 1
            places = places[take]
            power = np.clip(self.exponent[places] + exponents[take], -2000, 2000).astype(np.int32)
            delta[places] = np.ldexp(self.mantissa[places] * mantissas[take], power)
        return delta

    def _give(
        self, rows: Any, near: Side, far: Side, own: Any, mantissas: Any, exponents: Any, met: Any
    ) -> tuple[Any, Any, Any]:
        """Numbers of own vertices to all of their neighbours: own vertices that got any, and the sums they got."""
        graph, wire = self.graph, self.wire
        if near.comm is not None:
            own, mantissas, exponents = self._shared(near, own, mantissas, exponents)
        count = scatter(*rows, own, mantissas, exponents.astype(np.int32), met, self.sums, self.powers, self.touched)
        touched = np.sort(self.touched[:count].astype(np.int64))
        values = np.empty(count, VALUE)
        values["mantissa"], values["exponent"] = self.sums[touched], self.powers[touched]
        self.sums[touched] = 0.0
        if met.size:
            met |= codec.bits_from(np, touched, far.group.size)
        if far.comm is None:
            return touched, values["mantissa"].copy(), values["exponent"].astype(np.int64)
        ends = np.searchsorted(touched, far.group.slots).tolist()
        shapes, packets = [], []
        for place, (begin, end) in enumerate(pairwise(ends)):
            columns = values[begin:end].view(np.uint8).reshape(-1, VALUE.itemsize)
            places = touched[begin:end] - int(far.group.slots[place])
            shape, data = codec.pack(np, places, columns, int(far.group.lengths[place]))
            shapes.append(shape)
            packets.append(data)
        mine = shapes[far.place], packets[far.place]
        arriving, pending = wire.deal(far.comm, shapes, packets, graph.own)
        received = pending()
        arriving[far.place], received[far.place] = mine  # what is ours never travelled
        return self._added(arriving, received)

    def _added(self, shapes: list[codec.Shape], packets: list[Any]) -> tuple[Any, Any, Any]:
        """The sums of what ranks sent, by own vertex."""
        own = self.graph.own
        sums, powers = np.zeros(own), np.zeros(own, np.int32)
        for shape, data in zip(shapes, packets, strict=True):
            places, columns = codec.unpack(np, shape, data, own)
            values = np.ascontiguousarray(columns).view(VALUE).ravel()
            add_all(places, values["mantissa"].copy(), values["exponent"].copy(), sums, powers)
        places = np.flatnonzero(sums)
        return places, sums[places], powers[places].astype(np.int64)

    def _shared(self, near: Side, own: Any, mantissas: Any, exponents: Any) -> tuple[Any, Any, Any]:
        """A level's vertices and numbers from all ranks of a side, by slot."""
        order = np.argsort(own)
        values = np.empty(len(own), VALUE)
        values["mantissa"], values["exponent"] = mantissas[order], exponents[order]
        columns = values.view(np.uint8).reshape(-1, VALUE.itemsize)
        shape, data = codec.pack(np, own[order], columns, self.graph.own)
        shapes, pending = self.wire.gather(near.comm, shape, data, near.group.lengths)
        slots, numbers = [], []
        for place, (one, piece) in enumerate(zip(shapes, pending(), strict=True)):
            places, columns = codec.unpack(np, one, piece, int(near.group.lengths[place]))
            slots.append(places + int(near.group.slots[place]))
            numbers.append(np.ascontiguousarray(columns).view(VALUE).ravel() if len(places) else np.empty(0, VALUE))
        joined = np.concatenate(numbers)
        return np.concatenate(slots), joined["mantissa"].copy(), joined["exponent"].astype(np.int64)
