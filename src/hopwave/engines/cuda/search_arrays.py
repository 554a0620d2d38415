"""The arrays that searches work in on the GPU, declared once and without CuPy: betweenness/regimes.py has those of
betweenness. Engines allocate them (buffers.allocate), and footprint.py adds them up, on machines without a GPU too.
"""

from __future__ import annotations

import numpy as np

from hopwave.engines.cuda import policy
from hopwave.engines.cuda.records import record
from hopwave.engines.ledger import Array

# ---------------------------------------------------------------- searches in one launch (search/workspace.py)

CHUNK = record("one_launch/state.cuh", "Chunk", "i32 v length", "i64 begin")
COUNTERS = record("one_launch/state.cuh", "Counters", "u32 arrived left tail", offsets=[0, 128, 256], size=1792)


def bitmap_words(n):
    """32-bit words of a bitmap of n vertices, in whole lines of eight."""
    return -(-n // 256) * 8


def prepared_arrays(n, wide):
    """What is made of a graph before its first search; wide: whether its offsets have 64 bits."""
    arrays = {
        "hub": Array(n, np.int32),
        "closed": Array(bitmap_words(n), np.uint32),
        "findable": Array(1, np.uint64, fill=0),
    }
    return arrays | ({"degrees": Array(n, np.uint16)} if wide else {})


def level_arrays(n, m, split):
    """The buffers of a search. Every launch leaves the first bitmap empty.

    A long list is cut into at most three pieces for every two halves that it has in full.
    """
    return {
        "bitmaps": Array((2, bitmap_words(n)), np.uint32, fill=0),
        "queue": Array(n, np.int32),
        "chunks": Array(3 * (m // split.chunk) + 3, CHUNK),
        "rest": Array(2 * (m // split.long_row) + 2, CHUNK),
        "counters": Array((), COUNTERS, fill=0),
    }


# ---------------------------------------------------------------- many sources (many.py)


def most_long_rows(n, m):
    """Rows that whole blocks take, at most."""
    return min(n, m // policy.SWEEP.long_row + 1)


def sweep_arrays(n, m, subgrids, words):
    """What groups of sources search in, one group per subgrid at a time."""
    return {
        "state": Array((subgrids, 3, n, words), np.uint64),
        "touched": Array((subgrids, -(-n // 32)), np.uint32, fill=0),
        "lists": Array((subgrids, 2, n), np.int32),
        "longs": Array((subgrids, 2, most_long_rows(n, m)), np.int32),
        "counts": Array((subgrids, 2, policy.WORD * words), np.uint32, fill=0),
    }


def sum_arrays(n, k, keep):
    """What is added up of k sources. sums: reached, Σ d, the greatest d; Σ 1/d as float64."""
    summed = keep in ("sums", "columns")
    return {
        "sums": Array((4, k if summed else 0), np.int64, fill=0),
        "histogram": Array(n + 1 if summed else 0, np.int64, fill=0),
        "columns": Array((n if keep == "columns" else 0, 3), np.int64, fill=0),
    }


# ---------------------------------------------------------------- many searches along weights (along_weights.py)

BOARD = record(
    "common/shortest.cuh", "PathBoard", "u64 low[2]", "u32 item arrived", "i32 near[3]", "i32 far[2]", "i32 found[3]",
    "i32 reached overflowed", size=128,
)  # fmt: skip


def length_arrays(n, searches, own):
    """What blocks or teams search in. own: whether they need distances of their own."""
    distance = {"distance": Array((searches, n), fill=np.inf)} if own else {}
    return distance | {
        "near_stamp": Array((searches, n), np.uint32, fill=0),
        "far_stamp": Array((searches, n), np.uint32, fill=0),
        "lists": Array((searches, policy.ALONG_WEIGHTS.lists * (n + 2)), np.int32),
        "boards": Array((searches,), BOARD, fill=0),
    }


# ---------------------------------------------------------------- shortest paths (shortest_paths/search.py)

PATH_CHUNK = record("shortest_paths/state.cuh", "Chunk", "u64 d", "i64 begin", "i32 v length")
PATH_COUNTERS = record(
    "shortest_paths/state.cuh", "Counters", "u32 arrived left near[3]", offsets=[0, 128, 256], size=1280
)
REPORT = record("shortest_paths/state.cuh", "Report", "u64 buckets rounds grid_phases rebuilds")
ENTRIES_PER_VERTEX = 2  # of every queue and pile: a vertex has an entry for every time its distance became shorter
SPARE_ENTRIES = 1 << 16  # of small graphs


def path_capacity(n):
    """Entries of a queue or pile."""
    return ENTRIES_PER_VERTEX * n + SPARE_ENTRIES


def path_arrays(n, m, whole, split, capacity):
    """What a search writes to. whole: whether distances are whole numbers of 32 bits, so that an entry has 8 bytes."""
    return {
        "entries": Array((4, capacity * (8 if whole else 16)), np.uint8),
        "chunks": Array((2, 2 * (m // split.chunk) + 64), PATH_CHUNK),
        "counters": Array((), PATH_COUNTERS, fill=0),
        "whole": Array(n if whole else 0, np.uint32),
        "report": Array((), REPORT),
    }
