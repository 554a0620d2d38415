"""Dependencies of one source when every rank has a part of the graph (Brandes): path counts forward, dependencies back.

    σ   path counts, kept as mantissa · 2^exponent per vertex, so that they never overflow
    δ   dependencies: δ(v) = σ(v) Σ (1 + δ(w)) / σ(w) over the successors w of v

Forward and back, a level is the same operation: its vertices send a number to all of their neighbours, each rank sums
what it has for a vertex, and the vertex's owner sums what the ranks send. Forward, a rank sends to a vertex at one
level only: if it met the vertex earlier, the vertex is already visited. Back, an owner ignores numbers for vertices
that are not in the level before.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hopwave.distributed import codec
from hopwave.distributed.graph import DistributedGraph
from hopwave.distributed.sides import Side, allgather_slots, send_to_owners
from hopwave.distributed.wire import HostWire
from hopwave.engines.cpu.rank.path_sums import add_all, scatter

VALUE = np.dtype([("mantissa", "<f8"), ("exponent", "<i4")])  # a number in 12 bytes, as it is sent
NO_BITMAP = np.empty(0, np.uint64)


class Dependencies:
    """`total[v]` = Σ δ(v) over sources, for own vertices v. Every rank adds the same sources. Computes on the CPU."""

    def __init__(self, graph: DistributedGraph, cutoff: int | None, endpoints: bool) -> None:
        self.graph, self.cutoff, self.endpoints = graph, cutoff, endpoints
        part, self.wire = graph.part, HostWire(graph.world.oversubscribed)
        out, into = (part.out_offsets, part.heads), (part.in_offsets, part.tails)
        if graph.device != "cpu":  # copy to host memory, once if out and into are the same arrays
            same = part.tails is part.heads
            out = tuple(array.get() for array in out)
            into = out if same else tuple(array.get() for array in into)
        self.out, self.into = out, into
        self.total = np.zeros(graph.own)
        size = max(graph.push_heads.group.size, graph.pull_tails.group.size)
        self.sums, self.powers = np.zeros(size), np.zeros(size, np.int32)
        self.touched = np.empty(size, graph.tail_type)

    def add(self, source: int) -> tuple[float, float]:
        """Add one source; returns both sides of its certificate: Σ δ(v), and Σ (d(v) − 1) over reached vertices."""
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
        found, expected, count = self.wire.allgather(self.graph.world.comm, mine).sum(axis=0).tolist()
        if self.endpoints:
            delta[reached] += 1.0
            if 0 <= here < own:
                delta[here] += count
        self.total += delta
        return found, expected

    def _forward(self, source: int) -> list[Any]:
        """Distances and path counts; returns own vertices level by level."""
        graph = self.graph
        levels: list[Any] = []
        here = source - graph.first
        frontier = np.array([here] if 0 <= here < graph.own else [], np.int64)
        self.distance[frontier], self.mantissa[frontier], self.exponent[frontier] = 0, 0.5, 1
        met = np.zeros(graph.push_heads.group.size // 64, np.uint64)
        while self.cutoff is None or len(levels) <= self.cutoff:
            if not any(self.wire.allgather(graph.world.comm, np.array([len(frontier)], np.int64)).ravel()):
                break
            levels.append(frontier)
            if len(levels) - 1 == self.cutoff:
                break
            numbers = self.mantissa[frontier], self.exponent[frontier]
            reached, mantissas, exponents = self._send_along(
                self.out, graph.push_tails, graph.push_heads, frontier, *numbers, met
            )
            new = reached[self.distance[reached] < 0]
            self.distance[new] = len(levels)
            take = self.distance[reached] == len(levels)
            self.mantissa[reached[take]], self.exponent[reached[take]] = mantissas[take], exponents[take]
            frontier = new
        return levels

    def _backward(self, levels: list[Any]) -> Any:
        """Dependencies of own vertices, from the last level to the first."""
        graph = self.graph
        delta = np.zeros(graph.own)
        for depth in range(len(levels) - 1, 0, -1):
            level = levels[depth]
            share, power = np.frexp((1.0 + delta[level]) / self.mantissa[level])
            numbers = share, power - self.exponent[level]
            reached, mantissas, exponents = self._send_along(
                self.into, graph.pull_heads, graph.pull_tails, level, *numbers, NO_BITMAP
            )
            take = self.distance[reached] == depth - 1
            reached = reached[take]
            power = np.clip(self.exponent[reached] + exponents[take], -2000, 2000).astype(np.int32)
            delta[reached] = np.ldexp(self.mantissa[reached] * mantissas[take], power)
        return delta

    def _send_along(
        self, rows: Any, near: Side, far: Side, own: Any, mantissas: Any, exponents: Any, met: Any
    ) -> tuple[Any, Any, Any]:
        """Send the numbers of own vertices along all of their arcs, from the near side to the far side.

        Returns the own vertices that numbers were sent to, and the sums (mantissas, exponents). met: a bitmap of far
        slots to leave out, or NO_BITMAP; the slots reached are added to it.
        """
        if near.comm is not None:
            own, mantissas, exponents = self._level_of(near, own, mantissas, exponents)
        count = scatter(*rows, own, mantissas, exponents.astype(np.int32), met, self.sums, self.powers, self.touched)
        slots = np.sort(self.touched[:count].astype(np.int64))
        values = _values(self.sums[slots], self.powers[slots])
        self.sums[slots] = 0.0
        if met.size:
            met |= codec.bitmap(np, slots, far.group.size)
        if far.comm is None:
            return slots, values["mantissa"].copy(), values["exponent"].astype(np.int64)
        sent = send_to_owners(self.wire, far, self.graph.own, slots, lambda some: _as_bytes(values[some]))
        sums, powers = np.zeros(self.graph.own), np.zeros(self.graph.own, np.int32)
        _add(slots[sent.own] - far.first, values[sent.own], sums, powers)
        for _, positions, rows_of_bytes in sent.receive():
            _add(positions, _from_bytes(rows_of_bytes), sums, powers)
        reached = np.flatnonzero(sums)
        return reached, sums[reached], powers[reached].astype(np.int64)

    def _level_of(self, near: Side, own: Any, mantissas: Any, exponents: Any) -> tuple[Any, Any, Any]:
        """The vertices of a level and their numbers, from all ranks of a side, as slots."""
        order = np.argsort(own)
        values = _as_bytes(_values(mantissas[order], exponents[order]))
        slots, rows = allgather_slots(self.wire, near, self.graph.own, own[order], values)
        numbers = _from_bytes(rows)
        return slots, numbers["mantissa"].copy(), numbers["exponent"].astype(np.int64)


def _values(mantissas: Any, exponents: Any) -> Any:
    values = np.empty(len(mantissas), VALUE)
    values["mantissa"], values["exponent"] = mantissas, exponents
    return values


def _as_bytes(values: Any) -> Any:
    return values.view(np.uint8).reshape(len(values), VALUE.itemsize)


def _from_bytes(rows: Any) -> Any:
    return np.ascontiguousarray(rows).view(VALUE).ravel()


def _add(positions: Any, values: Any, sums: Any, powers: Any) -> None:
    """Add numbers to the sums of own vertices."""
    add_all(positions, values["mantissa"].copy(), values["exponent"].copy(), sums, powers)
