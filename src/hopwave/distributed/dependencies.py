"""Dependencies if every rank has a part of the graph (Brandes): path counts forward, dependencies backward.

    σ   path counts, stored as mantissa · 2^exponent per vertex, so that they never overflow
    δ   dependencies: δ(v) = σ(v) Σ (1 + δ(w)) / σ(w) over the successors w of v

In both directions, the vertices of a level send a number to all of their neighbours, and each vertex's owner sums
the numbers from the ranks. An exchange serves a batch of sources: a vertex has one *cell* per source, vertex · width +
number of the source. Cells replace vertices everywhere below.
"""

from typing import Any

import numpy as np

from hopwave.arrays import on_host
from hopwave.distributed import codec
from hopwave.distributed.graph import DistributedGraph
from hopwave.distributed.layout import Group
from hopwave.distributed.wire import HostWire, Side, allgather_slots, send_to_owners
from hopwave.engines.cpu.rank import add_all, scatter

VALUE = np.dtype([("mantissa", "<f8"), ("exponent", "<i4")])  # a number in 12 bytes, as sent
NO_BITMAP = np.empty(0, np.uint64)
MOST_CELLS = 1 << 20  # maximum cells over all ranks, about 60 bytes each
WIDEST = 128  # maximum sources per batch


class Dependencies:
    """`total[v]` = Σ δ(v) over sources, for own vertices v, on the CPU; `width`: maximum sources per batch."""

    def __init__(self, graph: DistributedGraph, cutoff: int | None, endpoints: bool, sources: int) -> None:
        self.graph, self.cutoff, self.endpoints = graph, cutoff, endpoints
        self.width = max(1, min(WIDEST, sources, MOST_CELLS // max(graph.n, 1)))
        self.cells = graph.own * self.width
        sides = graph.push_tails, graph.push_heads, graph.pull_tails, graph.pull_heads
        self.push_tails, self.push_heads, self.pull_tails, self.pull_heads = (
            _of_cells(side, self.width) for side in sides
        )
        part, self.wire = graph.part, HostWire(graph.world.oversubscribed)
        same = part.tails is part.heads  # copied to host memory once
        self.out = on_host(part.out_offsets), on_host(part.heads)
        self.into = self.out if same else (on_host(part.in_offsets), on_host(part.tails))
        self.total = np.zeros(graph.own)
        size = max(self.push_heads.group.size, self.pull_tails.group.size)
        self.sums, self.powers = np.zeros(size), np.zeros(size, np.int32)
        self.touched = np.empty(size, graph.tail_type)

    def add(self, sources: Any) -> Any:
        """Add a batch of sources; returns both sides of each source's certificate: Σ δ(v) and Σ (d(v) − 1)."""
        own, width = self.graph.own, self.width
        self.distance = np.full(self.cells, -1, np.int32)
        self.mantissa, self.exponent = np.zeros(self.cells), np.zeros(self.cells, np.int64)
        numbers = np.flatnonzero((sources >= self.graph.first) & (sources < self.graph.first + own))
        here = (sources[numbers] - self.graph.first) * width + numbers
        delta = self._backward(self._forward(here))
        delta[here] = 0.0
        table, distance = delta.reshape(own, width), self.distance.reshape(own, width)
        reached = distance > 0
        mine = np.stack([table.sum(axis=0), np.where(reached, distance - 1.0, 0.0).sum(axis=0), reached.sum(axis=0)])
        everyone = self.wire.allgather(self.graph.world.comm, mine.ravel())
        found, expected, count = everyone.sum(axis=0).reshape(3, width)[:, : len(sources)]
        if self.endpoints:
            table[reached] += 1.0
            delta[here] += count[numbers]
        for column in range(len(sources)):  # one after the other, so that results do not depend on the batch width
            self.total += table[:, column]
        return np.stack([found, expected], axis=1)

    def _forward(self, frontier: Any) -> list[Any]:
        """Distances and path counts from own cells; returns own cells level by level."""
        graph = self.graph
        levels: list[Any] = []
        self.distance[frontier], self.mantissa[frontier], self.exponent[frontier] = 0, 0.5, 1
        met = np.zeros(self.push_heads.group.size // 64, np.uint64)
        while self.cutoff is None or len(levels) <= self.cutoff:
            if not any(self.wire.allgather(graph.world.comm, np.array([len(frontier)], np.int64)).ravel()):
                break
            levels.append(frontier)
            if len(levels) - 1 == self.cutoff:
                break
            numbers = self.mantissa[frontier], self.exponent[frontier]
            reached, mantissas, exponents = self._send_along(
                self.out, self.push_tails, self.push_heads, frontier, *numbers, met
            )
            new = reached[self.distance[reached] < 0]
            self.distance[new] = len(levels)
            take = self.distance[reached] == len(levels)
            self.mantissa[reached[take]], self.exponent[reached[take]] = mantissas[take], exponents[take]
            frontier = new
        return levels

    def _backward(self, levels: list[Any]) -> Any:
        delta = np.zeros(self.cells)
        for depth in range(len(levels) - 1, 0, -1):
            level = levels[depth]
            share, power = np.frexp((1.0 + delta[level]) / self.mantissa[level])
            numbers = share, power - self.exponent[level]
            reached, mantissas, exponents = self._send_along(
                self.into, self.pull_heads, self.pull_tails, level, *numbers, NO_BITMAP
            )
            take = self.distance[reached] == depth - 1
            reached = reached[take]
            power = np.clip(self.exponent[reached] + exponents[take], -2000, 2000).astype(np.int32)
            delta[reached] = np.ldexp(self.mantissa[reached] * mantissas[take], power)
        return delta

    def _send_along(
        self, rows: Any, near: Side, far: Side, own: Any, mantissas: Any, exponents: Any, met: Any
    ) -> tuple[Any, Any, Any]:
        """Send own cells' numbers to the far side; returns own cells reached and sums. met: far slots to skip."""
        if near.comm is not None:
            order = np.argsort(own)
            values = codec.as_rows(_values(mantissas[order], exponents[order]))
            own, found = allgather_slots(self.wire, near, self.cells, own[order], values)
            mantissas, exponents = _columns(codec.as_values(found, VALUE))
        count = scatter(
            *rows, self.width, own, mantissas, exponents.astype(np.int32), met, self.sums, self.powers, self.touched
        )
        slots = np.sort(self.touched[:count].astype(np.int64))
        values = _values(self.sums[slots], self.powers[slots])
        self.sums[slots] = 0.0
        if met.size:
            met |= codec.bitmap(np, slots, far.group.size)
        if far.comm is None:
            return slots, *_columns(values)
        sent = send_to_owners(self.wire, far, self.cells, slots, lambda some: codec.as_rows(values[some]))
        sums, powers = np.zeros(self.cells), np.zeros(self.cells, np.int32)
        add_all(slots[sent.own] - far.first, *_columns(values[sent.own]), sums, powers)
        for _, positions, found in sent.receive():
            add_all(positions, *_columns(codec.as_values(found, VALUE)), sums, powers)
        reached = np.flatnonzero(sums)
        return reached, sums[reached], powers[reached]


def _of_cells(side: Side, width: int) -> Side:
    group = side.group
    return Side(
        side.comm, Group(group.ranks, group.firsts * width, group.lengths * width, group.slots * width), side.index
    )


def _values(mantissas: Any, exponents: Any) -> Any:
    values = np.empty(len(mantissas), VALUE)
    values["mantissa"], values["exponent"] = mantissas, exponents
    return values


def _columns(values: Any) -> tuple[Any, Any]:
    return values["mantissa"].copy(), values["exponent"].copy()
