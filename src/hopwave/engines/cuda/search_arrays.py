"""The arrays of searches on the GPU, declared once and without CuPy; betweenness/regimes.py has those of betweenness.
Engines allocate them (buffers.allocate), and footprint.py adds up their bytes, also on machines without a GPU.
"""

import numpy as np

from hopwave.engines.cuda import policy
from hopwave.engines.cuda.records import record
from hopwave.engines.ledger import declare

# ---------------------------------------------------------------- searches in one launch (search/workspace.py)

CHUNK = record("one_launch/state.cuh", "Chunk", "i32 v length", "i64 begin")
COUNTERS = record("one_launch/state.cuh", "Counters", "u32 arrived left tail", offsets=[0, 128, 256], size=1792)


def bitmap_words(n):
    """32-bit words of a bitmap of n vertices, a multiple of eight."""
    return -(-n // 256) * 8


def prepared_arrays(n, wide):
    """The arrays made of a graph before its first search; wide: whether its offsets have 64 bits."""
    return (
        declare(np.int32, hub=n)
        | declare(np.uint32, closed=bitmap_words(n))
        | declare(np.uint64, fill=0, findable=1)
        | (declare(np.uint16, degrees=n) if wide else {})
    )


def level_arrays(n, m, split):
    """The buffers of a search. Every launch leaves the first bitmap empty.

    A piece is half a chunk; a long list has at least two full pieces, so at most three pieces for every two full ones.
    """
    return (
        declare(np.uint32, fill=0, bitmaps=(2, bitmap_words(n)))
        | declare(np.int32, queue=n)
        | declare(CHUNK, chunks=3 * (m // split.chunk) + 3, rest=2 * (m // split.long_row) + 2)
        | declare(COUNTERS, fill=0, counters=())
    )


# ---------------------------------------------------------------- many sources (many.py)


def most_long_rows(n, m):
    """An upper bound on the rows that whole blocks take."""
    return min(n, m // policy.SWEEP.long_row + 1)


def sweep_arrays(n, m, subgrids, words):
    """The arrays of groups of sources; one group per subgrid at a time."""
    return (
        declare(np.uint64, state=(subgrids, 3, n, words))
        | declare(np.uint32, fill=0, touched=(subgrids, -(-n // 32)))
        | declare(np.int32, lists=(subgrids, 2, n), longs=(subgrids, 2, most_long_rows(n, m)))
        | declare(np.uint32, fill=0, counts=(subgrids, 2, policy.WORD * words))
    )


def sum_arrays(n, k, keep):
    """The sums over k sources. sums: reached, Σ d, the greatest d; Σ 1/d as float64."""
    sums, histogram = (k, n + 1) if keep in ("sums", "columns") else (0, 0)
    columns = n if keep == "columns" else 0
    return declare(np.int64, fill=0, sums=(4, sums), histogram=histogram, columns=(columns, 3))


def each_arrays(n, k, keep, blocks):
    """The arrays of k searches, of which `blocks` run at the same time."""
    sums, histogram = (k, n + 1) if keep == "sums" else (0, 0)
    return (
        declare(np.int64, fill=0, sums=(4, sums), histogram=histogram)
        | declare(np.int32, spill=(blocks, 2, n))
        | declare(np.uint32, fill=0, ticket=1)
    )


# ---------------------------------------------------------------- many searches along weights (betweenness/weighted.py)

BOARD = record(
    "common/shortest.cuh", "PathBoard", "u64 low[2]", "u32 item arrived", "i32 near[3]", "i32 far[2]", "i32 found[3]",
    "i32 reached overflowed", size=128,
)  # fmt: skip


def length_arrays(n, searches, own):
    """The arrays of blocks or teams that search. own: whether they need their own distances."""
    return (
        (declare(np.float64, fill=np.inf, distance=(searches, n)) if own else {})
        | declare(np.uint32, fill=0, near_stamp=(searches, n), far_stamp=(searches, n))
        | declare(np.int32, lists=(searches, policy.ALONG_WEIGHTS.lists * (n + 2)))
        | declare(BOARD, fill=0, boards=(searches,))
    )


# ---------------------------------------------------------------- shortest paths (shortest_paths/search.py)

PATH_CHUNK = record("shortest_paths/state.cuh", "Chunk", "u64 d", "i64 begin", "i32 v length")
PATH_COUNTERS = record(
    "shortest_paths/state.cuh", "Counters", "u32 arrived left near[3]", offsets=[0, 128, 256], size=1280
)
REPORT = record("shortest_paths/state.cuh", "Report", "u64 buckets rounds grid_phases rebuilds")
ENTRIES_PER_VERTEX = 2  # entries per queue or pile: a vertex has one for every time that its distance became shorter
SPARE_ENTRIES = 1 << 16  # more entries, for small graphs


def path_capacity(n):
    """Entries per queue or pile."""
    return ENTRIES_PER_VERTEX * n + SPARE_ENTRIES


def path_arrays(n, m, whole, split, capacity):
    """The arrays that a search writes. whole: distances are whole numbers of 32 bits, so that an entry has 8 bytes."""
    return (
        declare(np.uint8, entries=(4, capacity * (8 if whole else 16)))
        | declare(PATH_CHUNK, chunks=(2, 2 * (m // split.chunk) + 64))
        | declare(PATH_COUNTERS, fill=0, counters=())
        | declare(np.uint32, whole=n if whole else 0)
        | declare(REPORT, report=())
    )


def spur_arrays(n, searches):
    """The arrays of warps that search for spurs (shortest_paths/spurs.py)."""
    return (
        declare(np.float64, fill=np.inf, distance=(searches, n))
        | declare(np.uint32, fill=0, near_stamp=(searches, n), far_stamp=(searches, n), rounds=searches)
        | declare(np.int32, lists=(searches, policy.SPURS.lists, n))
    )
