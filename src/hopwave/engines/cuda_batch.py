"""Betweenness with a batch of sources at once (kernels/brandes_batch.cuh), or with the whole GPU on one: shallow graphs.

Python leads the levels; a level is a launch or two, for all batches at once. Lists are cut into chunks when a graph comes here
first. A search that is deeper than a batch keeps masks for, or whose path counts might pass float64, is left to the block
regime.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cupy
import numpy as np

from hopwave.algorithms import regimes
from hopwave.engines.cuda_block import NO_CUTOFF
from hopwave.engines.cuda_launch import Kernels, Pieces, record

HEADER = "brandes_batch.cuh"
THREADS = 256
BATCH = (
    "chunks", "neighbours", "longs", "other", "mask", "visited", "alive", "X", "delta", "partials", "arcs", "targets",
    "found", "counted", "n", "lanes", "chunk_count", "long_count", "slots", "stride", "leaf",
)  # fmt: skip
CHUNK = np.dtype([("begin", np.int64), ("v", np.int32), ("length", np.int32), ("slot", np.int32), ("padding", np.int32)])


def instances():
    """Every kernel of the batch regime: header and name expression."""
    for lanes in (1, regimes.LANES):
        for back, edges in (("false", "false"), ("true", "false"), ("true", "true")):
            yield HEADER, f"hopwave::brandes::gather_level<int, {lanes}, {back}, {edges}>"
        for back in ("false", "true"):
            yield HEADER, f"hopwave::brandes::finish_longs<int, {lanes}, {back}>"
    for name in ("stand", "close_level", "add_batches"):
        yield HEADER, f"hopwave::brandes::{name}<int>"


@dataclass(frozen=True)
class Lists:
    """Neighbour lists cut into chunks, longest first; `longs` are the lists that are more than one."""

    chunks: Any
    longs: Any
    slots: int
    neighbours: Any


def cut(offsets, neighbours):
    """Every list in chunks of at most regimes.CHUNK arcs; an empty one is a chunk too, for the way back ends there."""
    offsets = offsets.astype(np.int64)
    degrees = cupy.diff(offsets)
    pieces = cupy.maximum(-(-degrees // regimes.CHUNK), 1)
    ends = cupy.cumsum(pieces)
    count = int(ends[-1]) if len(ends) else 0
    number = cupy.arange(count, dtype=np.int64)
    v = cupy.searchsorted(ends, number, side="right")
    place = number - (ends - pieces)[v]
    begin = offsets[v] + place * regimes.CHUNK
    length = cupy.minimum(offsets[v + 1] - begin, regimes.CHUNK)
    several = cupy.where(pieces > 1, pieces, 0)
    slot = cupy.cumsum(several) - several
    of_chunk = cupy.where(pieces[v] > 1, slot[v] + place, -1)
    order = cupy.argsort(-length)
    chunks = cupy.empty((count, 6), np.int32)
    chunks[:, :2] = begin[order].view(np.int32).reshape(count, 2)
    chunks[:, 2], chunks[:, 3], chunks[:, 4], chunks[:, 5] = v[order], length[order], of_chunk[order], 0
    long = cupy.flatnonzero(several)
    longs = cupy.stack([long, slot[long], several[long]], 1).astype(np.int32)
    return Lists(chunks, longs, int(several.sum()), neighbours)


class Batches:
    """The batch regime on one graph for one job; with one lane, the wide one. `alone` does what leaves a batch."""

    def __init__(self, loaded, job, machine, depth, room, lanes, alone):
        self.loaded, self.job, self.alone = loaded, job, alone
        n, m, k = loaded.n, loaded.m, len(job.sources)
        at_once = regimes.batches_at_once(n, m, k, lanes, machine, job.edges)
        self.size = lanes * at_once
        levels = min(depth, regimes.LEVELS) + 2
        self.lanes, self.at_once = regimes.batch_fit(n, m, lanes, at_once, levels, room())
        self.kernels = Kernels(loaded)
        self.targets = None if job.targets is None else cupy.asarray(job.targets.view(np.uint8))
        self.levels = min(regimes.LEVELS, regimes.BITS // max(1, loaded.on_device.degree_bits))
        self.back = self._lists("rows", loaded.offsets, loaded.neighbours)
        self.forward = self.back
        if loaded.directed:
            self.forward = self._lists("columns", loaded.in_offsets, loaded.in_neighbours)

    @property
    def extended(self):
        return self.alone.extended

    def _lists(self, name, offsets, neighbours):
        kept = self.loaded.kept
        if name not in kept:
            kept[name] = cut(offsets, neighbours)
        return kept[name]

    def add(self, sources, total):
        """Add these sources' scores to total; returns both sides of their certificates."""
        pieces = Pieces(len(sources), self.lanes * self.at_once)
        certificate = np.zeros((len(sources), 2))
        for begin, end in pieces:
            with pieces.halving():
                certificate[begin:end] = self._piece(sources[begin:end], total, min(self.lanes, pieces.size))
        return certificate

    def _piece(self, sources, total, lanes):
        batches = -(-len(sources) // lanes)
        blocks = min(-(-self.loaded.n // 64), 8 * self.loaded.device.multiprocessors)
        state, parts = State(self, batches, lanes), cupy.empty((batches * lanes, blocks), np.float64)
        masks = self._search(state, sources)
        if masks is None:
            del state
            return self.alone.add(sources, total)
        edges = self.job.edges
        for depth in range(len(masks) - 1, -1 if edges else 0, -1):
            leaf = depth == len(masks) - 1
            state.gather(self.back, masks[depth] if leaf else masks[depth + 1], masks[depth], True, leaf, total)
        self.kernels.launch(
            HEADER, "add_batches<int>", (blocks,), THREADS,
            (state.fields(self.back, masks[0], masks[0]), masks[0], batches, int(self.job.endpoints),
             int(self.job.squares), int(edges), total, parts),
        )  # fmt: skip
        due, counted = state.due.get().ravel(), state.reached.get().ravel()
        if self.job.endpoints:  # a source is an end of all its paths
            ids = np.asarray(sources)
            ends = np.bincount(ids, counted[: len(ids)], minlength=self.loaded.n)
            total[: self.loaded.n] += cupy.asarray(ends)
        found = parts.get().sum(1)
        return np.stack([found, due.astype(np.float64)], 1)[: len(sources)]

    def _search(self, state, sources):
        """The masks of every level, or None where the search must leave the batch."""
        limit = NO_CUTOFF if self.job.cutoff is None else self.job.cutoff
        masks = [state.masks()]
        ids = cupy.asarray(np.asarray(sources, np.int32))
        self.kernels(
            HEADER, "stand<int>", len(ids), 64, state.fields(self.forward, masks[0], masks[0]), ids, len(ids)
        )  # fmt: skip
        while len(masks) <= limit:
            if len(masks) > self.levels:
                return None
            masks.append(state.masks())
            state.gather(self.forward, masks[-2], masks[-1], False)
            self.kernels.launch(
                HEADER, "close_level<int>", (1, state.batches), 64,
                (state.fields(self.forward, masks[-1], masks[-1]), len(masks) - (1 if self.job.edges else 2),
                 state.due, state.reached),
            )  # fmt: skip
            if not state.alive.get().any():
                return masks[:-1]
        return masks


class State:
    """The arrays of some batches under way."""

    def __init__(self, regime, batches, lanes):
        self.regime, self.batches, self.lanes = regime, batches, lanes
        n = regime.loaded.n
        self.kernel_lanes = 1 if lanes == 1 else regimes.LANES
        self.visited, self.alive = self.masks(), cupy.zeros(batches, np.uint64)
        self.X, self.delta = cupy.empty((2, batches, n, lanes), np.float64)
        slots = max(regime.forward.slots, regime.back.slots)
        self.partials = cupy.empty((batches, max(1, slots), lanes), np.float64)
        self.slots = slots
        self.found, self.counted = cupy.zeros((2, batches, lanes), np.uint64)
        self.due, self.reached = cupy.zeros((2, batches, lanes), np.int64)

    def masks(self):
        """A mask a vertex, nothing in it."""
        return cupy.zeros((self.batches, self.regime.loaded.n), np.uint64)

    def fields(self, lists, other, mask, leaf=False, arcs=None):
        """The kernels' struct Batch."""
        regime = self.regime
        warps = regime.kernels.blocks * 8
        values = {
            "chunks": lists.chunks, "neighbours": lists.neighbours, "longs": lists.longs, "other": other, "mask": mask,
            "visited": self.visited, "alive": self.alive, "X": self.X, "delta": self.delta, "partials": self.partials,
            "arcs": arcs, "targets": regime.targets, "found": self.found, "counted": self.counted,
            "n": regime.loaded.n, "lanes": self.lanes, "chunk_count": len(lists.chunks),
            "long_count": len(lists.longs), "slots": self.slots, "leaf": leaf,
            "stride": max(1, min(32, len(lists.chunks) // (8 * warps))),
        }  # fmt: skip
        return record(BATCH, values)

    def gather(self, lists, other, mask, back, leaf=False, total=None):
        """One level, either way."""
        regime = self.regime
        edges = back and regime.job.edges
        fields = self.fields(lists, other, mask, leaf, total if edges else None)
        words = [str(self.kernel_lanes), "true" if back else "false"]
        blocks = min(max(1, -(-len(lists.chunks) // 8)), max(1, regime.kernels.blocks // self.batches))
        name = f"gather_level<int, {', '.join(words)}, {'true' if edges else 'false'}>"
        if len(lists.chunks):
            regime.kernels.launch(HEADER, name, (blocks, self.batches), THREADS, (fields,))
        if len(lists.longs):
            blocks = min(-(-len(lists.longs) // 8), regime.kernels.blocks)
            name = f"finish_longs<int, {', '.join(words)}>"
            regime.kernels.launch(HEADER, name, (blocks, self.batches), THREADS, (fields,))
