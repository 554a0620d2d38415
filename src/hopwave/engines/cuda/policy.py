"""How the GPU's work is divided: thresholds, which change no result, and the arrays of searches, declared once."""

from dataclasses import dataclass

import numpy as np

from hopwave.engines.cuda.records import record
from hopwave.engines.ledger import declare

WORD = 64  # sources per word of a vertex's row: one bit each


@dataclass(frozen=True)
class LevelSplit:
    """How a search in one launch divides its levels; all but `fill` are fields in kernels/one_launch/state.cuh."""

    chunk: int = 256  # out-arcs from which a list is long: it is cut into pieces of half this length
    long_row: int = 256  # in-arcs from which the whole grid searches a row that has begun in vain
    alone: int = 512  # most arcs of a level for one block
    few: int = 2048  # most arcs of a level for `team` blocks
    share: int = 512  # most arcs per block of a level for all blocks as one team
    team: int = 16  # blocks: 8, 24, 32 and 64 were slower on an H200
    fill: int = 1 << 23  # vertices from which the first pull writes every answer; fewer answers fit into the L2 cache


def level_split(m: int) -> LevelSplit:
    """The split for a graph of m arcs. If m is very large, larger pieces keep their lists small."""
    return LevelSplit() if m < 1 << 30 else LevelSplit(chunk=1024, long_row=2048)


@dataclass(frozen=True)
class SweepPolicy:
    """Searches from many sources (kernels/many)."""

    words: tuple[int, int] = (2, 16)  # words per vertex that the kernel is compiled for: few or many sources
    long_row: int = 256  # arcs from which threads share a row
    push_cost: int = 3  # cost of an arc of a push; an arc that a pull reads costs 1
    pull_divisor: int = 2  # the first pull is expected to read 1 / pull_divisor of the arcs
    deep: int = 32  # levels from which sources near each other share a group: their frontiers then overlap
    # Vertices per lane group (the threads that share a vertex's row). With fewer, blocks wait at barriers.
    vertices_per_group: int = 32
    vertices_per_group_deep: int = 128  # levels of a deep graph hold few of the vertices
    turns: int = 4  # groups of sources that a subgrid takes in one launch
    launches_ahead: int = 2  # launches queued on the GPU: those still run after Ctrl-C
    table_bytes: int = 1 << 30  # most bytes of distances on the GPU at a time, before they go to the host
    first_pairs: int = 1 << 20  # expected upper bound on the pairs that one group of sources finds
    # One block for each source (kernels/many/each.cuh):
    each_deep: int = 128  # levels from which that is faster
    each_blocks: int = 4  # least such blocks that the shared memory of a multiprocessor holds
    each_threads: tuple[int, int] = (128, 1024)  # least and most threads of such a block
    room: int = 512  # entries of a list in shared memory
    rounds: int = 16  # sources per block in one launch


SWEEP = SweepPolicy()


def one_block_each(n: int, m: int, depth: int, shared: int) -> bool:
    """Whether each source gets its own block: many levels, short rows, and bitmaps that fit into shared memory."""
    fits = SWEEP.each_blocks * (each_shared(n) + SHARED_OF_CUDA) <= shared
    return depth >= SWEEP.each_deep and m <= LOW_DEGREE * n and fits


SHARED_OF_CUDA = 1024  # bytes of shared memory that CUDA takes of every block


def each_shared(n: int) -> int:
    return 4 * -(-n // 32) + 8 * SWEEP.room


def each_grid(n: int, sources: int, multiprocessors: int, threads: int, shared: int, free: int) -> tuple[int, int]:
    """(blocks at the same time, threads of each): as many blocks as shared memory and half of the free memory allow.

    >>> each_grid(114_599, 8192, 132, 2048, 232_448, 10**11), each_grid(404_060, 8192, 132, 2048, 232_448, 10**11)
    ((1452, 128), (528, 512))
    """
    least, most = SWEEP.each_threads
    each = min(threads // least, shared // (each_shared(n) + SHARED_OF_CUDA))
    blocks = max(1, min(sources, each * multiprocessors, free // 2 // max(1, 8 * n)))
    return blocks, min(most, max(least, 1 << (threads // each).bit_length() - 1))


def words_for(sources: int, n: int, free: int) -> int:
    """Words per vertex: many if the sources need them and three such rows per vertex fit into the free bytes."""
    few, many = SWEEP.words
    return many if sources > WORD * few and 24 * many * n < free * 3 // 4 else few


def subgrids_for(n: int, words: int, groups: int, depth: int, blocks: int, free: int, threads: int) -> tuple[int, int]:
    """(subgrids, blocks per subgrid) for a grid of `blocks` blocks; each subgrid takes its own groups of sources."""
    vertices = SWEEP.vertices_per_group_deep if depth >= SWEEP.deep else SWEEP.vertices_per_group
    enough = max(1, min(blocks, -(-n * words // (threads * vertices))))
    state = (24 * words + 17) * n  # bytes: three rows, two lists, a list of long rows, a bitmap
    subgrids = max(1, min(blocks // enough, groups, free * 3 // 4 // max(1, state)))
    return subgrids, max(1, min(blocks // subgrids, -(-n * words // threads)))


def pair_bits(n: int, limit: int | None, width: int) -> tuple[int, int, int]:
    """(bits of a vertex, bits of a distance, sources per group) of 64-bit pairs: source above distance above vertex.

    >>> pair_bits(1000, 2, 1024), pair_bits(2**31 - 2, None, 1024)
    ((10, 2, 1024), (31, 31, 4))
    """
    vertex = max(1, (n - 1).bit_length())
    depth = max(1, (n if limit is None else min(limit, n)).bit_length())
    return vertex, depth, min(width, 1 << (64 - vertex - depth))


@dataclass(frozen=True)
class PathSplit:
    """How a search for shortest paths divides its phases; fields of the same names are in shortest_paths/state.cuh."""

    chunk: int = 128  # arcs from which a row is long: it is cut into pieces of this length
    enter: int = 256  # entries up to which one block goes on alone, which needs no barrier between blocks
    alone: int = 512  # entries up to which that block stays alone; 2048 took a grid nearly twice as long
    pile: int = 8192  # entries of a far pile up to which that block takes it alone
    local: int = 512  # entries per block up to which every block goes on with what it finds itself
    subrounds: int = 0  # rounds for which a block goes on so
    arcs: int = 2048  # most arcs of these entries: two per thread
    share: int = 8  # least entries per block


LOW_DEGREE = 8.0  # mean degree up to which a graph is treated as a mesh: blocks go on with what they find themselves


def path_split(degree: float) -> PathSplit:
    """The split for a mean degree. On meshes, a block that continues by itself saves barriers."""
    return PathSplit(subrounds=64 if degree <= LOW_DEGREE else 0)


# A bucket's width in mean lengths is max(first / degree², second / degree), with the mean degree.
PATH_WIDTHS = 256.0, 16.0


def path_width(mean_length: float, degree: float) -> float:
    """The width of a bucket: wide ones need fewer rounds, narrow ones follow fewer arcs twice."""
    low, high = PATH_WIDTHS
    degree = max(1.0, degree)
    return mean_length * max(low / degree**2, high / degree) if mean_length > 0 else 1.0


# Components:
SAMPLED_ARCS = 2  # arcs per vertex that are hooked before the giant component is sought
SAMPLED_VERTICES = 1024  # vertices whose roots vote on the giant component
LONG_HOOKED_ROW = 4096  # arcs from which all threads share a row

LONG_CHECKED_ROW = 1 << 15  # most arcs of a row that one warp checks (kernels/rank/part.cuh); longer rows get a block

# Merrill's contract, which leaves duplicates in the queue: the more blocks run at once, the more duplicates. Least arcs
# per block, and most blocks per multiprocessor.
CULLING_SHARE = 2048
CULLING_BLOCKS = 2

# Push-pull's column product:
FEW_LISTS = 4096  # most lists whose lengths one block sums
FEW_ARCS = 1024  # most arcs that one block gathers, sorts and reduces in one launch

# One part of a build takes 16 bytes per arc while it is sorted, 44 with weights. With an eighth of the arcs per part,
# that is less than the rows take; a part has a least number of arcs too (build.py).
PARTS = 8
LEAST_ARCS = 1 << 22
SORTING, SORTING_WEIGHTED = 16, 44
PACKED_ARCS = 1 << 27, 1 << 30  # least and most arcs that are sorted and packed at a time
PACKING = 24  # bytes per arc that is sorted, and then packed
SORTED_ARCS = 1 << 27  # arcs that are sorted by degree at a time: sorting takes 24 bytes per arc


@dataclass(frozen=True)
class AlongWeightsPolicy:
    """Searches along weights, many sources at a time (kernels/common/shortest.cuh)."""

    arcs_within_delta: int = 32  # the bound moves by mean weight × this / mean degree, as Davidson's does
    long_row: int = 32  # arcs per lane of a group from which a row gets a whole warp
    lists: int = 4  # LISTS in the kernel: piles of a search
    rounds: int = 8  # sources per block between two checks of the clock
    table_bytes: int = 1 << 31  # most bytes of distances on the GPU at a time
    piece_bytes: int = 1 << 29  # most bytes of a table that are copied while the next piece is searched
    arcs_of_a_gpu: int = 1 << 20  # arcs from which one search of a graph of high degree fills a GPU
    together: int = 4  # searches of such a graph at the same time, each on a part of the GPU


ALONG_WEIGHTS = AlongWeightsPolicy()


@dataclass(frozen=True)
class SpurPolicy:
    """Searches for spurs of the k shortest paths (kernels/shortest_paths/spurs.cuh)."""

    least: int = 256  # searches at a time from which they run on the GPU
    fewest: int = 256  # searches that must have room at the same time, else all run on the CPU
    at_once: int = 4096  # most searches at the same time
    piece: int = 1 << 16  # most searches in one launch: Ctrl-C waits for its end
    total_bytes: int = 1 << 30  # most bytes of their arrays
    steps: int = 16  # steps of the bound between near and far distances, from the least length to the greatest
    lists: int = 4  # SPUR_LISTS in the kernel


SPURS = SpurPolicy()


def one_by_one(n: int, m: int) -> bool:
    """Whether searches along weights run one after another, each on the whole GPU: many arcs, high mean degree."""
    return m >= ALONG_WEIGHTS.arcs_of_a_gpu and m > LOW_DEGREE * n


def table_fit(sources: int, blocks: int, state: int, row: int, budget: int) -> tuple[int, int]:
    """(searches of `state` bytes at the same time, sources per piece of a table with `row` bytes per source)."""
    searches = min(blocks, sources, budget // 2 // (state + row))
    room = min(ALONG_WEIGHTS.piece_bytes, budget // 2 - searches * state) // row
    return searches, max(1, min(sources, max(searches, min(ALONG_WEIGHTS.rounds * blocks, room))))


def moved_bound(mean: float, n: int, m: int) -> float:
    """The least step of the bound between near and far distances, for weights of this mean."""
    return mean * max(1.0, ALONG_WEIGHTS.arcs_within_delta * n / max(1, m))


@dataclass(frozen=True)
class PowerPolicy:
    """Power iterations in one launch (kernels/linalg/power.cuh)."""

    short_row: int = 32  # entries up to which a row is short; only matrices with longer rows are sorted by length
    # From this many vertices on, short rows are numbered by their distance from one vertex, if less than `near_share`
    # of the entries lie within `near` of their row, and the graph is `deep`: blocks then read from their L1 cache.
    order_vertices: int = 1 << 18
    near: int = 8192  # numbers: a quarter of an H200's L1 cache
    near_share: float = 0.5
    deep: int = 64  # levels
    least_cut: int = 1024  # entries that one warp adds up in one round of a small graph; of a large one, an equal share
    hot: int = 24576  # numbers of the longest rows that a block keeps in shared memory: what fits on a Hopper
    hot_arcs: int = 1 << 16  # arcs per block from which `hot` pays
    narrow_change: float = 1e-6  # sum of changes from which such products read x in float32; sums stay in float64


POWER = PowerPolicy()


@dataclass(frozen=True)
class PathsPolicy:
    """Shortest paths of random pairs (kernels/betweenness/sampled_paths.cuh)."""

    warps: int = 32  # searches per multiprocessor at a time: limited by registers
    share_of_memory: float = 0.75  # of the free memory, for the searches' arrays
    first_pairs: int = 1 << 12  # pairs of the first launch
    seconds: float = 0.1  # aim for one launch: a run can stop after each
    seconds_per_fetch: float = 1.0  # of launches between two fetches of counts: Ctrl-C loses at most this much


PATHS = PathsPolicy()


# ---------------------------------------------------------------- searches in one launch (search/workspace.py)

CHUNK = record("one_launch/state.cuh", "Chunk", "i32 v length", "i64 begin")
LEVEL_COUNTERS = record("one_launch/state.cuh", "Counters", "u32 arrived left tail", offsets=[0, 128, 256], size=1792)


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
    """The buffers of a search: at most three pieces, of half a chunk, for every two full ones of a long list."""
    return (
        declare(np.uint32, fill=0, bitmaps=(2, bitmap_words(n)))
        | declare(np.int32, queue=n)
        | declare(CHUNK, chunks=3 * (m // split.chunk) + 3, rest=2 * (m // split.long_row) + 2)
        | declare(LEVEL_COUNTERS, fill=0, counters=())
    )


# ---------------------------------------------------------------- many sources (many.py)


def most_long_rows(n, m):
    return min(n, m // SWEEP.long_row + 1)


def sweep_arrays(n, m, subgrids, words):
    return (
        declare(np.uint64, state=(subgrids, 3, n, words))
        | declare(np.uint32, fill=0, touched=(subgrids, -(-n // 32)))
        | declare(np.int32, lists=(subgrids, 2, n), longs=(subgrids, 2, most_long_rows(n, m)))
        | declare(np.uint32, fill=0, counts=(subgrids, 2, WORD * words))
    )


# ---------------------------------------------------------------- many searches along weights (betweenness/weighted.py)

PATH_BOARD = record(
    "common/shortest.cuh", "PathBoard", "u64 low[2]", "u32 item arrived", "i32 near[3]", "i32 far[2]", "i32 found[3]",
    "i32 reached overflowed", size=128,
)  # fmt: skip


def length_arrays(n, searches, own):
    """The arrays of blocks or teams that search. own: whether they need their own distances."""
    return (
        (declare(np.float64, fill=np.inf, distance=(searches, n)) if own else {})
        | declare(np.uint32, fill=0, near_stamp=(searches, n), far_stamp=(searches, n))
        | declare(np.int32, lists=(searches, ALONG_WEIGHTS.lists * (n + 2)))
        | declare(PATH_BOARD, fill=0, boards=(searches,))
    )


# ---------------------------------------------------------------- shortest paths (shortest_paths.py)

PATH_CHUNK = record("shortest_paths/state.cuh", "Chunk", "u64 d", "i64 begin", "i32 v length")
PATH_COUNTERS = record(
    "shortest_paths/state.cuh", "Counters", "u32 arrived left near[3]", offsets=[0, 128, 256], size=1280
)
PATH_REPORT = record("shortest_paths/state.cuh", "Report", "u64 buckets rounds grid_phases rebuilds")
ENTRIES_PER_VERTEX = 2  # entries per queue or pile: a vertex has one for every time that its distance became shorter
SPARE_ENTRIES = 1 << 16  # more entries, for small graphs


def path_capacity(n):
    return ENTRIES_PER_VERTEX * n + SPARE_ENTRIES


def path_arrays(n, m, whole, split, capacity):
    """The arrays that a search writes. whole: distances are whole numbers of 32 bits, so that an entry has 8 bytes."""
    return (
        declare(np.uint8, entries=(4, capacity * (8 if whole else 16)))
        | declare(PATH_CHUNK, chunks=(2, 2 * (m // split.chunk) + 64))
        | declare(PATH_COUNTERS, fill=0, counters=())
        | declare(np.uint32, whole=n if whole else 0)
        | declare(PATH_REPORT, report=())
    )


def spur_arrays(n, searches):
    return (
        declare(np.float64, fill=np.inf, distance=(searches, n))
        | declare(np.uint32, fill=0, near_stamp=(searches, n), far_stamp=(searches, n), rounds=searches)
        | declare(np.int32, lists=(searches, SPURS.lists, n))
    )
