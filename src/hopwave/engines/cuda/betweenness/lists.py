"""Neighbour lists cut into chunks for batches (kernels/betweenness/batch.cuh); made once per graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cupy
import numpy as np

from hopwave.engines.cuda.betweenness import regimes
from hopwave.engines.cuda.launch import BLOCK, TILE, together
from hopwave.engines.cuda.records import record

HEADER = "betweenness/batch.cuh"
together(HEADER, "sum_pieces", "scan_pieces", "write_pieces", "write_chunks")
CHUNK = record("betweenness/batch.cuh", "Chunk", "i64 begin", "i32 v length", "i32 slot padding")
LONG = record("betweenness/batch.cuh", "Long", "i32 v slot slots")


@dataclass(frozen=True)
class Lists:
    """Neighbour lists cut into chunks, longest first; `longs` are the lists of more than one chunk.

    `slots`: places for the partial sums of these lists' chunks.
    """

    chunks: Any
    longs: Any
    slots: int
    neighbours: Any


def cut(launch, offsets, neighbours):
    """Every list in chunks of at most CHUNK_ARCS; an empty list is a chunk too: its vertex still gets its δ."""
    n, most = len(offsets) - 1, np.int32(regimes.CHUNK_ARCS)
    rows, tiles = np.uint64(n), -(-n // TILE)
    sums, total = cupy.empty(tiles, np.uint64), cupy.zeros(1, np.uint64)
    launch(HEADER, "sum_pieces", BLOCK * tiles, offsets, rows, most, sums)
    launch(HEADER, "scan_pieces", BLOCK, sums, np.uint64(tiles), total)
    slots, long = divmod(int(total.get()[0]), 1 << 32)
    count = n + slots - long
    chunks, longs, keys = table(CHUNK, count), table(LONG, long), cupy.empty(count, np.uint64)
    slot_of = cupy.empty(n, np.int32)  # the first slot of every list
    launch(HEADER, "write_pieces", BLOCK * tiles, offsets, rows, most, sums, keys, slot_of, longs)
    if count:
        keys.sort()
    launch(HEADER, "write_chunks", count, offsets, keys, np.uint64(count), most, slot_of, chunks)
    return Lists(chunks, longs, slots, neighbours)


def table(dtype, count):
    """Allocate records on the GPU, one row of 32-bit words each: CuPy has no structured arrays."""
    return cupy.empty((count, dtype.itemsize // 4), np.int32)
