"""Betweenness with a batch of sources at once (kernels/betweenness/batch.cuh), or the whole GPU on one: shallow graphs.

Python leads the levels; a level is a launch or two, for all batches at once. Lists are cut into chunks when a graph
comes here first. A search that is deeper than a batch keeps masks for, or whose path counts might pass float64, is left
to the block regime.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cupy
import numpy as np

from hopwave.engines.cuda.betweenness import regimes
from hopwave.engines.cuda.betweenness.block import NO_CUTOFF
from hopwave.engines.cuda.launch import Kernels, Pieces, record

HEADER = "betweenness/batch.cuh"
THREADS = 256
BATCH = (
    "chunks", "neighbours", "longs", "other", "mask", "visited", "alive", "X", "delta", "partials", "arcs", "targets",
    "found", "counted", "n", "lanes", "chunk_count", "long_count", "slots", "together", "leaf",
)  # fmt: skip
CHUNK = np.dtype(
    [("begin", np.int64), ("v", np.int32), ("length", np.int32), ("slot", np.int32), ("padding", np.int32)]
)


def instances():
    """Every kernel of the batch regime: header and name expression."""
    for lanes in (1, regimes.LANES):
        for back, edges in (("false", "false"), ("true", "false"), ("true", "true")):
            yield HEADER, f"hopwave::brandes::gather_level<int, {lanes}, {back}, {edges}>"
        for back in ("false", "true"):
            yield HEADER, f"hopwave::brandes::finish_longs<int, {lanes}, {back}>"
    for name in ("stand", "close_level", "add_batches", "add_one"):
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
        self.size = lanes * at_once * regimes.rounds(m, k, lanes * at_once)
        levels = min(depth, regimes.LEVELS) + 2
        fixed = job.deterministic and job.edges  # a batch adds its sources' flows over an arc among themselves first
        self.lanes, self.at_once = regimes.batch_fit(n, m, lanes, at_once, levels, room(), fixed)
        self.least = self.lanes if fixed else 1
        self.kernels = Kernels(loaded)
        self.targets = None if job.targets is None else cupy.asarray(job.targets.view(np.uint8))
        self.levels = min(regimes.LEVELS, regimes.BITS // max(1, loaded.on_device.degree_bits))
        # Where kernels tell the host what a level found. Some may still be to run when a batch's other arrays are gone.
        self.pinned = cupy.cuda.alloc_pinned_memory(8 * self.at_once * (regimes.LEVELS + 2))
        self.told = np.frombuffer(self.pinned, np.uint64, self.at_once * (regimes.LEVELS + 2))
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
        """Add these sources' scores to total; returns both sides of their certificates.

        What a batch was certified with is fetched when all are on their way: the GPU need not wait for the host.
        """
        pieces, sides = Pieces(len(sources), self.lanes * self.at_once, self.least), {}
        for begin, end in pieces:
            with pieces.halving():
                lanes = min(self.lanes, max(2, pieces.size))  # one alone would be added up in another order
                sides[begin, end] = self._piece(sources[begin:end], total, lanes)
        certificate = np.zeros((len(sources), 2))
        for (begin, end), side in sides.items():
            certificate[begin:end] = side()
        return certificate

    def _piece(self, sources, total, lanes):
        batches, job = -(-len(sources) // lanes), self.job
        blocks = min(-(-self.loaded.n // 64), 8 * self.loaded.device.multiprocessors)
        state, parts = State(self, batches, lanes), cupy.empty((batches * lanes, blocks), np.float64)
        ids = cupy.asarray(np.asarray(sources, np.int32))
        masks = self._search(state, ids)
        if masks is None:
            del state, parts
            own = total.copy()  # forgotten where memory runs out: the piece is then halved and done again
            both = self.alone.add(sources, own)
            total[:] = own
            return lambda: both
        for depth in range(len(masks) - 1, -1 if job.edges else 0, -1):
            leaf = depth == len(masks) - 1
            state.gather(self.back, masks[depth] if leaf else masks[depth + 1], masks[depth], True, leaf, total)
        due, reached = state.sums.reshape(2, -1)
        asked = int(job.endpoints), int(job.squares), int(job.edges)
        arguments = state.fields(self.back, masks[0], masks[0]), masks[0], reached, batches, *asked, total, parts
        name = "add_one<int>" if lanes == 1 else "add_batches<int>"
        self.kernels.launch(HEADER, name, (blocks,), THREADS, arguments)

        def sides():
            ends = 2.0 * reached.get() * job.endpoints  # those that the sums hold beside δ
            return np.stack([parts.get().sum(1) - ends, due.get().astype(np.float64)], 1)[: len(sources)]

        return sides

    def _search(self, state, ids):
        """The masks of every level, or None where the search must leave the batch.

        The host is always a level behind: it learns what a level found when the next one is on its way.
        """
        limit = NO_CUTOFF if self.job.cutoff is None else self.job.cutoff
        masks, ended = [state.masks()], None
        fields = state.fields(self.forward, masks[0], masks[0])
        self.kernels(HEADER, "stand<int>", len(ids), 64, fields, ids, len(ids))
        while len(masks) <= limit:
            if len(masks) > self.levels:
                return masks if not state.found_any(ended, len(masks) - 1) else None
            masks.append(state.masks())
            state.gather(self.forward, masks[-2], masks[-1], False)
            before, ended = ended, state.close(len(masks) - 1)
            if before is not None and not state.found_any(before, len(masks) - 2):
                return masks[:-2]
        return masks


class State:
    """The arrays of some batches under way."""

    def __init__(self, regime, batches, lanes):
        self.regime, self.batches, self.lanes = regime, batches, lanes
        n = regime.loaded.n
        self.kernel_lanes = 1 if lanes == 1 else regimes.LANES
        self.visited, self.alive = self.masks(), cupy.zeros(batches, np.uint64)
        self.X, self.delta = cupy.empty((2, batches, n, lanes), np.float64)
        self.slots = max(1, regime.forward.slots, regime.back.slots)
        self.partials = cupy.empty((batches, self.slots, lanes), np.float64)
        self.found, self.counted = cupy.zeros((2, batches, lanes), np.uint64)
        self.sums = cupy.zeros((2, batches, lanes), np.int64)  # Σ (d - 1) or Σ d, and the targets reached
        self.told = regime.told[: batches * (regimes.LEVELS + 2)].reshape(-1, batches)
        self.records = {}

    def masks(self):
        """A mask a vertex, nothing in it; for one source a bit."""
        n = self.regime.loaded.n
        return cupy.zeros((self.batches, n if self.lanes > 1 else -(-n // 64)), np.uint64)

    def fields(self, lists, other, mask, leaf=False, arcs=None):
        """The kernels' struct Batch."""
        if id(lists) not in self.records:
            regime = self.regime
            warps = self.blocks(lists) * THREADS // 32
            values = {
                "chunks": lists.chunks, "neighbours": lists.neighbours, "longs": lists.longs, "other": None,
                "mask": None, "visited": self.visited, "alive": self.alive, "X": self.X, "delta": self.delta,
                "partials": self.partials, "arcs": None, "targets": regime.targets, "found": self.found,
                "counted": self.counted, "n": regime.loaded.n, "lanes": self.lanes, "chunk_count": len(lists.chunks),
                "long_count": len(lists.longs), "slots": self.slots, "leaf": False,
                "together": max(1, min(32, len(lists.chunks) // (8 * warps))),
            }  # fmt: skip
            self.records[id(lists)] = record(BATCH, values)
        fields = self.records[id(lists)].copy()
        fields["other"], fields["mask"], fields["leaf"] = other.data.ptr, mask.data.ptr, leaf
        fields["arcs"] = 0 if arcs is None else arcs.data.ptr
        return fields

    def blocks(self, lists):
        """Blocks for each batch: together as many as the GPU holds."""
        warps = THREADS // 32
        return min(max(1, -(-len(lists.chunks) // warps)), max(1, self.regime.kernels.blocks // self.batches))

    def gather(self, lists, other, mask, back, leaf=False, total=None):
        """One level, either way."""
        launch, edges = self.regime.kernels.launch, back and self.regime.job.edges
        fields = self.fields(lists, other, mask, leaf, total if edges else None)
        words = f"int, {self.kernel_lanes}, {str(back).lower()}"
        if len(lists.chunks):
            name = f"gather_level<{words}, {str(edges).lower()}>"
            launch(HEADER, name, (self.blocks(lists), self.batches), THREADS, (fields,))
        if len(lists.longs):
            blocks = min(-(-len(lists.longs) * 32 // THREADS), self.regime.kernels.blocks)
            launch(HEADER, f"finish_longs<{words}>", (blocks, self.batches), THREADS, (fields,))

    def close(self, depth):
        """After a level, who is still alive; an event that tells when that is known."""
        regime = self.regime
        fields = self.fields(regime.forward, self.visited, self.visited)
        distance = depth if regime.job.edges else depth - 1
        arguments = fields, distance, self.sums[0], self.sums[1], np.uint64(self.told[depth].ctypes.data)
        regime.kernels.launch(HEADER, "close_level<int>", (1, self.batches), 64, arguments)
        event = cupy.cuda.Event(block=False, disable_timing=True)
        event.record()
        return event

    def found_any(self, event, depth):
        """Whether any batch found a vertex at that depth."""
        if event is None:
            return True
        event.synchronize()
        return bool(self.told[depth].any())
