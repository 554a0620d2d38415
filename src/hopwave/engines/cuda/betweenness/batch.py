"""Betweenness for a batch of sources per search (kernels/betweenness/batch.cuh), for shallow graphs."""

from dataclasses import dataclass
from typing import Any

import cupy
import numpy as np

from hopwave.engines.cuda import nvrtc
from hopwave.engines.cuda.betweenness import regimes
from hopwave.engines.cuda.betweenness.block import NO_CUTOFF
from hopwave.engines.cuda.buffers import Pieces, Report, allocate, allocated, copied, copy_into
from hopwave.engines.cuda.launch import BLOCK, TILE, WARP, expression, kernels, together, truth
from hopwave.engines.cuda.records import address, filled, record

HEADER = "betweenness/batch.cuh"
together(HEADER, "sum_pieces", "scan_pieces", "write_pieces", "write_chunks")
CHUNK = record("betweenness/batch.cuh", "Chunk", "i64 begin", "i32 v length", "i32 slot padding")
LONG = record("betweenness/batch.cuh", "Long", "i32 v slot slots")


@dataclass(frozen=True)
class Lists:
    """Adjacency lists cut into chunks, longest first; `longs` are the lists of more than one chunk."""

    chunks: Any
    longs: Any
    slots: int
    neighbours: Any


def cut(launch, offsets, neighbours):
    """Every list in chunks of at most CHUNK_ARCS; an empty list is a chunk, too: its vertex still needs its δ."""
    n, most = len(offsets) - 1, np.int32(regimes.CHUNK_ARCS)
    rows, tiles = np.uint64(n), -(-n // TILE)
    sums, total = cupy.empty(tiles, np.uint64), cupy.zeros(1, np.uint64)
    launch(HEADER, "sum_pieces", BLOCK * tiles, offsets, rows, most, sums)
    launch(HEADER, "scan_pieces", BLOCK, sums, np.uint64(tiles), total)
    slots, long = divmod(int(total.get()[0]), 1 << 32)
    count = n + slots - long
    chunks, longs, keys = table(CHUNK, count), table(LONG, long), cupy.empty(count, np.uint64)
    slot_of = cupy.empty(n, np.int32)  # first slot of every list
    launch(HEADER, "write_pieces", BLOCK * tiles, offsets, rows, most, sums, keys, slot_of, longs)
    if count:
        keys.sort()
    launch(HEADER, "write_chunks", count, offsets, keys, np.uint64(count), most, slot_of, chunks)
    return Lists(chunks, longs, slots, neighbours)


def table(dtype, count):
    """Allocate records on the GPU, one row of 32-bit words each: CuPy has no structured arrays."""
    return cupy.empty((count, dtype.itemsize // 4), np.int32)


SMALL_BLOCK = 64  # threads per block if each of a batch's 64 sources has one thread

BATCH = record(
    HEADER, "Batch",
    "ptr chunks neighbours longs other mask visited alive X delta partials arcs targets origins found counted",
    "i64 n lanes chunk_count long_count slots",
    "i64 together",
    "i64 leaf",
)  # fmt: skip


def begin(edges):
    shaped = [("add_batches", "int"), ("set_sources", "int"), ("close_level", "int")]
    shaped += [("gather_level", "int, false, false"), ("gather_level", f"int, true, {truth(edges)}")]
    shaped += [("finish_longs", "int, false"), ("finish_longs", "int, true")]
    nvrtc.begin(HEADER, [expression(HEADER, name, shape) for name, shape in shaped])


def first_of_searches(job, sources):
    """The index of the first source of every search: one source each, or several with ascending components."""
    is_first = np.ones(len(sources), np.bool_)
    if job.shared:
        label = job.components[sources]
        is_first[1:] = label[1:] <= label[:-1]
    return np.flatnonzero(is_first)


def searches_of(job):
    return job.planned_sources if not job.shared else max(1, len(first_of_searches(job, job.sources)))


class Batches:
    """The batch regime on one graph for one job."""

    def __init__(self, loaded, job, machine, depth, budget, lanes, block_regime):
        self.loaded, self.job, self.block_regime = loaded, job, block_regime
        n, m, k = loaded.n, loaded.m, searches_of(job)
        at_once = regimes.batches_at_once(n, m, k, lanes, machine, job.edges)
        self.size = lanes * at_once * regimes.rounds(m, k, lanes * at_once) * -(-job.planned_sources // k)
        levels = min(depth, regimes.MAX_BATCH_LEVELS) + 2
        fixed = job.deterministic and job.edges  # a batch first adds up its own sources' flows over an arc
        self.lanes, self.at_once = regimes.batch_fit(n, m, lanes, at_once, levels, budget(), fixed)
        self.least = self.lanes if fixed else 1
        self.kernels = kernels()
        self.targets = None if job.targets is None else cupy.asarray(job.targets.astype(np.float64))
        counted = job.shared and job.targets is None and job.cutoff is None
        self.others = (np.bincount(job.components) - 1.0)[job.components] if counted else None
        count_levels = regimes.MAX_COUNT_BITS // max(1, loaded.on_device.degree_bits)
        self.levels = min(regimes.MAX_BATCH_LEVELS, count_levels)
        told = self.at_once * (regimes.MAX_BATCH_LEVELS + 2)  # number of counts: vertices found per level and batch
        self.report = Report(8 * told)
        self.told = self.report.view(np.uint64, told)
        self.back = self._lists("rows", loaded.offsets, loaded.neighbours)
        self.forward = self.back
        if loaded.directed:
            self.forward = self._lists("columns", loaded.in_offsets, loaded.in_neighbours)

    @property
    def extended(self):
        return self.block_regime.extended

    def _lists(self, name, offsets, neighbours):
        kept = self.loaded.kept
        if name not in kept:
            kept[name] = cut(self.loaded.on_device.launch, offsets, neighbours)
        return kept[name]

    def add(self, sources, total):
        """Add these sources' scores to total; return both sides of their certificates."""
        firsts = np.append(first_of_searches(self.job, sources), len(sources))
        pieces, sides = Pieces(len(firsts) - 1, self.lanes * self.at_once, self.least), {}
        for begin, end in pieces:
            with pieces.halving():
                sides[begin, end] = self._piece(sources, firsts[begin : end + 1], total, min(self.lanes, pieces.size))
        certificate = np.zeros((len(sources), 2))
        for side in sides.values():
            rows, both = side()
            certificate[rows] = both
        return certificate

    def _piece(self, sources, firsts, total, lanes):
        """Launch all levels of these searches, forward and backward. Return a function that fetches certificates."""
        count, sources = len(firsts) - 1, sources[firsts[0] : firsts[-1]]
        batches, job = -(-count // lanes), self.job
        origins = np.zeros(batches * lanes)
        origins[:count] = 1.0 if job.origins is None else job.origins[sources]
        state = State(self, batches, lanes, None if job.origins is None else cupy.asarray(origins))
        parts = cupy.empty((batches * lanes, min(-(-self.loaded.n // 64), 8 * self.loaded.device.multiprocessors)))
        searches = np.repeat(np.arange(count, dtype=np.int32), np.diff(firsts))
        masks = self._search(state, cupy.asarray(np.asarray(sources, np.int32)), cupy.asarray(searches))
        if masks is None:
            del state, parts
            own = copied(total)  # discarded if memory runs out: the piece is then halved and repeated
            both = self.block_regime.add(sources, own)
            copy_into(total, own)
            return lambda: (slice(firsts[0], firsts[-1]), both)
        for depth in range(len(masks) - 1, -1 if job.edges else 0, -1):
            leaf = depth == len(masks) - 1
            state.gather(self.back, masks[depth] if leaf else masks[depth + 1], masks[depth], True, leaf, total)
        due, reached = state.sums.reshape(2, -1)
        options = int(job.endpoints), int(job.squares), int(job.edges)
        arguments = state.fields(self.back, masks[0], masks[0]), masks[0], reached, batches, *options, total, parts
        self.kernels.exactly(HEADER, "add_batches", "int", (parts.shape[1],), BLOCK, arguments)

        def sides():
            ends = 2.0 * reached.get() * origins * job.endpoints  # endpoints are in the sums in addition to δ
            both = np.stack([parts.get().sum(1) - ends, due.get() * origins], 1)[:count]
            if self.others is not None:  # a source that did not start would be missing on both sides
                expected = np.add.reduceat(self.others[sources], firsts[:-1] - firsts[0])
                both[reached.get()[:count] != expected, 0] = np.nan
            return firsts[:-1], both

        return sides

    def _search(self, state, ids, searches):
        """Return the masks of every level, or None if the search must leave the batch regime."""
        limit = NO_CUTOFF if self.job.cutoff is None else self.job.cutoff
        masks, ended = [state.masks()], None
        fields, count = state.fields(self.forward, masks[0], masks[0]), len(ids)
        if count:  # each source reaches itself
            grid = (self.kernels.grid(count, SMALL_BLOCK),)
            self.kernels.exactly(HEADER, "set_sources", "int", grid, SMALL_BLOCK, (fields, ids, searches, count))
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
    def __init__(self, regime, batches, lanes, origins):
        self.regime, self.batches, self.lanes, self.origins = regime, batches, lanes, origins
        self.slots = max(1, regime.forward.slots, regime.back.slots)
        made = allocate(regimes.batch_arrays(regime.loaded.n, batches, lanes, self.slots))
        self.visited, self.alive, self.partials, self.sums = (
            made[name] for name in ("visited", "alive", "partials", "sums")
        )
        self.X, self.delta = made["counts"]
        self.found, self.counted = made["tallies"]
        self.told = regime.told[: batches * (regimes.MAX_BATCH_LEVELS + 2)].reshape(-1, batches)
        self.records = {}

    def masks(self):
        return allocated(regimes.mask_array(self.regime.loaded.n, self.batches))

    def fields(self, lists, other, mask, leaf=False, arcs=None):
        made = self.records.get(id(lists))
        if made is None:
            made = self.records[id(lists)] = self._constant_fields(lists)
        fields = made.copy()
        fields["other"], fields["mask"], fields["leaf"] = other.data.ptr, mask.data.ptr, leaf
        fields["arcs"] = address(arcs)
        return fields

    def _constant_fields(self, lists):
        regime = self.regime
        warps = self.blocks(lists) * BLOCK // WARP
        return filled(
            BATCH, chunks=lists.chunks, neighbours=lists.neighbours, longs=lists.longs, visited=self.visited,
            alive=self.alive, X=self.X, delta=self.delta, partials=self.partials, targets=regime.targets,
            origins=self.origins, found=self.found, counted=self.counted, n=regime.loaded.n, lanes=self.lanes,
            chunk_count=len(lists.chunks), long_count=len(lists.longs), slots=self.slots,
            together=max(1, min(32, len(lists.chunks) // (8 * warps))),
        )  # fmt: skip

    def blocks(self, lists):
        """Blocks per batch, such that all batches jointly fill the GPU."""
        warps = BLOCK // WARP
        return min(max(1, -(-len(lists.chunks) // warps)), max(1, self.regime.kernels.blocks // self.batches))

    def gather(self, lists, other, mask, back, leaf=False, total=None):
        launch, edges = self.regime.kernels.exactly, back and self.regime.job.edges
        fields = self.fields(lists, other, mask, leaf, total if edges else None)
        flags = f"int, {truth(back)}"
        if len(lists.chunks):
            grid = self.blocks(lists), self.batches
            launch(HEADER, "gather_level", f"{flags}, {truth(edges)}", grid, BLOCK, (fields,))
        if len(lists.longs):
            blocks = min(-(-len(lists.longs) * WARP // BLOCK), self.regime.kernels.blocks)
            launch(HEADER, "finish_longs", flags, (blocks, self.batches), BLOCK, (fields,))

    def close(self, depth):
        """After a level, find the sources that still found a vertex. Returns an event for the end of this step."""
        regime = self.regime
        fields = self.fields(regime.forward, self.visited, self.visited)
        distance = depth if regime.job.edges else depth - 1
        arguments = fields, distance, self.sums[0], self.sums[1], np.uint64(self.told[depth].ctypes.data)
        regime.kernels.exactly(HEADER, "close_level", "int", (1, self.batches), SMALL_BLOCK, arguments)
        event = cupy.cuda.Event(block=False, disable_timing=True)
        event.record()
        return event

    def found_any(self, event, depth):
        if event is None:
            return True
        event.synchronize()
        return bool(self.told[depth].any())
