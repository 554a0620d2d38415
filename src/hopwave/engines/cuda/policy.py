"""How the GPU's work is divided: thresholds, which do not affect results, and the arrays of searches."""

from dataclasses import dataclass

import numpy as np

from hopwave.engines.cuda.records import record
from hopwave.engines.ledger import declare

WORD = 64  # sources per word of a vertex's row: one bit each


@dataclass(frozen=True)
class LevelSplit:
    """How a one-launch search divides its levels; all fields except `fill` are also in kernels/one_launch/state.cuh."""

    chunk: int = 256  # minimum out-arcs of a long list, which is cut into pieces of half this length
    long_row: int = 256  # minimum in-arcs of a row that the full grid continues after a first part without a match
    alone: int = 512  # maximum arcs of a level for one block
    few: int = 2048  # maximum arcs of a level for `team` blocks
    share: int = 512  # maximum arcs per block of a level for all blocks as one team
    team: int = 16  # blocks per team: 8, 24, 32 and 64 were slower on an H200
    fill: int = 1 << 23  # minimum vertices at which the first pull writes all results; fewer fit into the L2 cache


def level_split(m: int) -> LevelSplit:
    """The split for a graph of m arcs. If m is very large, larger pieces keep the lists of pieces small."""
    return LevelSplit() if m < 1 << 30 else LevelSplit(chunk=1024, long_row=2048)


@dataclass(frozen=True)
class SweepPolicy:
    """Searches from many sources (kernels/many)."""

    words: tuple[int, int] = (2, 16)  # words per vertex that the kernel is compiled for: few or many sources
    long_row: int = 256  # minimum arcs of a row that several threads share
    push_cost: int = 3  # cost of an arc of a push, relative to an arc that a pull reads
    pull_divisor: int = 2  # the first pull is expected to read 1 / pull_divisor of the arcs
    deep: int = 32  # minimum depth (levels) at which nearby sources share a group: their frontiers then overlap
    # Vertices per lane group (the threads that share a vertex's row). With fewer, blocks wait at barriers.
    vertices_per_group: int = 32
    vertices_per_group_deep: int = 128  # vertices per lane group in a deep graph, whose levels contain few vertices
    turns: int = 4  # groups of sources per subgrid and launch
    launches_ahead: int = 2  # launches queued on the GPU, which still run after Ctrl-C
    table_bytes: int = 1 << 30  # maximum bytes of distances on the GPU at a time, before they are copied to the host
    first_pairs: int = 1 << 20  # expected upper bound on the pairs that one group of sources finds
    # One block for each source (kernels/many/each.cuh):
    each_deep: int = 128  # minimum depth (levels) at which one block per source is faster
    each_blocks: int = 4  # minimum number of these blocks that must fit into a multiprocessor's shared memory
    each_threads: tuple[int, int] = (128, 1024)  # minimum and maximum threads of a block with its own source
    room: int = 512  # capacity of a list in shared memory (entries)
    rounds: int = 16  # sources per block in one launch


SWEEP = SweepPolicy()


def one_block_each(n: int, m: int, depth: int, shared: int) -> bool:
    """Whether each source uses its own block: many levels, short rows, and bitmaps that fit into shared memory."""
    fits = SWEEP.each_blocks * (each_shared(n) + SHARED_OF_CUDA) <= shared
    return depth >= SWEEP.each_deep and m <= LOW_DEGREE * n and fits


SHARED_OF_CUDA = 1024  # bytes of shared memory that CUDA reserves in every block


def each_shared(n: int) -> int:
    return 4 * -(-n // 32) + 8 * SWEEP.room


def each_grid(n: int, sources: int, multiprocessors: int, threads: int, shared: int, free: int) -> tuple[int, int]:
    """(concurrent blocks, threads per block): as many blocks as shared memory and half of the free memory allow.

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
    """(subgrids, blocks per subgrid) for a grid of `blocks` blocks; each subgrid has its own groups of sources."""
    vertices = SWEEP.vertices_per_group_deep if depth >= SWEEP.deep else SWEEP.vertices_per_group
    enough = max(1, min(blocks, -(-n * words // (threads * vertices))))
    state = (24 * words + 17) * n  # bytes: three rows, two lists, a list of long rows, a bitmap
    subgrids = max(1, min(blocks // enough, groups, free * 3 // 4 // max(1, state)))
    return subgrids, max(1, min(blocks // subgrids, -(-n * words // threads)))


def pair_bits(n: int, limit: int | None, width: int) -> tuple[int, int, int]:
    """(bits of vertex, bits of distance, sources per group): a 64-bit pair has the source on top, then the distance.

    >>> pair_bits(1000, 2, 1024), pair_bits(2**31 - 2, None, 1024)
    ((10, 2, 1024), (31, 31, 4))
    """
    vertex = max(1, (n - 1).bit_length())
    depth = max(1, (n if limit is None else min(limit, n)).bit_length())
    return vertex, depth, min(width, 1 << (64 - vertex - depth))


@dataclass(frozen=True)
class PathSplit:
    """How a search for shortest paths divides its phases; shortest_paths/state.cuh has fields of the same names."""

    chunk: int = 128  # minimum arcs of a long row, which is cut into pieces of this length
    enter: int = 256  # maximum entries at which one block begins to work alone, without grid barriers
    alone: int = 512  # maximum entries at which one block continues alone; 2048 made a grid almost 2× slower
    pile: int = 8192  # maximum entries of a far pile that one block splits without the others
    local: int = 512  # maximum entries per block at which every block continues with its own finds
    subrounds: int = 0  # rounds for which a block continues with its own finds
    arcs: int = 2048  # maximum arcs of a block's own finds: two per thread
    share: int = 8  # minimum entries per block


LOW_DEGREE = 8.0  # maximum mean degree of a mesh: blocks then continue with their own finds


def path_split(degree: float) -> PathSplit:
    """The split for a mean degree. On meshes, a block that continues with its own finds saves barriers."""
    return PathSplit(subrounds=64 if degree <= LOW_DEGREE else 0)


# Bucket width in mean lengths: max(first / degree², second / degree) for the mean degree.
PATH_WIDTHS = 256.0, 16.0


def path_width(mean_length: float, degree: float) -> float:
    """The width of a bucket: wide buckets need fewer rounds, narrow buckets relax fewer arcs twice."""
    low, high = PATH_WIDTHS
    degree = max(1.0, degree)
    return mean_length * max(low / degree**2, high / degree) if mean_length > 0 else 1.0


# Components:
SAMPLED_ARCS = 2  # arcs per vertex that are hooked before the giant component is determined
SAMPLED_VERTICES = 1024  # vertices whose roots vote on the giant component
LONG_HOOKED_ROW = 4096  # minimum arcs of a row that all threads share

LONG_CHECKED_ROW = 1 << 15  # maximum arcs of a row that one warp checks (kernels/rank/part.cuh); a block checks others

# Merrill's contract leaves duplicates in the queue: more concurrent blocks leave more duplicates. Minimum arcs per
# block, and maximum blocks per multiprocessor.
CULLING_SHARE = 2048
CULLING_BLOCKS = 2

# Push-pull's column product:
FEW_LISTS = 4096  # maximum number of lists whose lengths one block sums
FEW_ARCS = 1024  # maximum arcs that one block gathers, sorts and reduces in one launch

# One part of a build needs 16 bytes per arc while it is sorted, 44 with weights. With an eighth of the arcs per part,
# this is less than the rows need; build.py also sets a minimum number of arcs per part.
PARTS = 8
LEAST_ARCS = 1 << 22
SORTING, SORTING_WEIGHTED = 16, 44
PACKED_ARCS = 1 << 27, 1 << 30  # minimum and maximum arcs that are sorted and packed at a time
PACKING = 24  # bytes per arc while it is sorted and packed
SORTED_ARCS = 1 << 27  # arcs that are sorted by degree at a time: sorting needs 24 bytes per arc


@dataclass(frozen=True)
class AlongWeightsPolicy:
    """Searches along weights, many sources at a time (kernels/common/shortest.cuh)."""

    step: int = 64  # the bound moves by mean weight × this / mean degree²; Davidson et al.: × 32 / mean degree
    long_row: int = 32  # minimum arcs per lane of a group at which a row uses a full warp
    lists: int = 4  # LISTS in the kernel: piles of a search
    rounds: int = 8  # sources per block between two checks of the clock
    table_bytes: int = 1 << 31  # maximum bytes of distances on the GPU at a time
    piece_bytes: int = 1 << 29  # maximum bytes of a table that are copied while the next piece is searched
    arcs_of_a_gpu: int = 1 << 20  # minimum arcs at which one search of a high-degree graph fills a GPU
    together: int = 4  # concurrent searches of a high-degree graph, each on a part of the GPU


ALONG_WEIGHTS = AlongWeightsPolicy()


@dataclass(frozen=True)
class SpurPolicy:
    """Searches for spurs of the k shortest paths (kernels/shortest_paths/spurs.cuh)."""

    least: int = 256  # minimum number of searches for the GPU
    fewest: int = 256  # minimum number of concurrent searches that must fit; otherwise all run on the CPU
    at_once: int = 4096  # maximum number of concurrent searches
    piece: int = 1 << 16  # maximum searches per launch: Ctrl-C waits for the end of a launch
    total_bytes: int = 1 << 30  # maximum bytes of the searches' arrays
    steps: int = 16  # steps of the bound between near and far distances, from the smallest length to the largest
    lists: int = 4  # SPUR_LISTS in the kernel


SPURS = SpurPolicy()


def one_by_one(n: int, m: int) -> bool:
    """Whether searches along weights run one after another, each on the full GPU: many arcs, high mean degree."""
    return m >= ALONG_WEIGHTS.arcs_of_a_gpu and m > LOW_DEGREE * n


def table_fit(sources: int, blocks: int, state: int, row: int, budget: int) -> tuple[int, int]:
    """(concurrent searches of `state` bytes each, sources per piece of a table with `row` bytes per source)."""
    searches = min(blocks, sources, budget // 2 // (state + row))
    room = min(ALONG_WEIGHTS.piece_bytes, budget // 2 - searches * state) // row
    return searches, max(1, min(sources, max(searches, min(ALONG_WEIGHTS.rounds * blocks, room))))


@dataclass(frozen=True)
class PowerPolicy:
    """Power iterations in one launch (kernels/linalg/power.cuh)."""

    short_row: int = 32  # maximum entries of a short row; only matrices with longer rows are sorted by length
    # With at least this many vertices, short rows are numbered by distance from one vertex, if less than `near_share`
    # of the entries are within `near` of their row, and the graph is `deep`: blocks then read from their L1 cache.
    order_vertices: int = 1 << 18
    near: int = 8192  # maximum difference of numbers: a quarter of an H200's L1 cache
    near_share: float = 0.5
    deep: int = 64  # minimum depth (levels)
    least_cut: int = 1024  # minimum entries of a cut row; larger graphs: an equal share per warp and round
    hot: int = 24576  # entries of the longest rows in a block's shared memory; so many fit on a Hopper GPU
    hot_arcs: int = 1 << 16  # minimum arcs per block at which `hot` pays off
    narrow_change: float = 1e-6  # minimum sum of changes at which products read x in float32; sums stay in float64


POWER = PowerPolicy()


@dataclass(frozen=True)
class PathsPolicy:
    """Shortest paths of random pairs (kernels/betweenness/sampled_paths.cuh)."""

    warps: int = 32  # concurrent searches per multiprocessor: limited by registers
    share_of_memory: float = 0.75  # share of the free memory for the searches' arrays
    first_pairs: int = 1 << 12  # pairs of the first launch
    seconds: float = 0.1  # target time of one launch: a run can stop after each launch
    seconds_per_fetch: float = 1.0  # launch time between two fetches of counts: Ctrl-C loses at most this much


PATHS = PathsPolicy()


# ---------------------------------------------------------------- searches in one launch (search/workspace.py)

CHUNK = record("one_launch/state.cuh", "Chunk", "i32 v length", "i64 begin")
LEVEL_COUNTERS = record("one_launch/state.cuh", "Counters", "u32 arrived left tail", offsets=[0, 128, 256], size=1792)


def bitmap_words(n):
    """32-bit words of a bitmap of n vertices, a multiple of eight."""
    return -(-n // 256) * 8


def prepared_arrays(n, wide):
    """The arrays derived from a graph before its first search; wide: whether its offsets have 64 bits."""
    return (
        declare(np.int32, hub=n)
        | declare(np.uint32, closed=bitmap_words(n))
        | declare(np.uint64, fill=0, findable=1)
        | (declare(np.uint16, degrees=n) if wide else {})
    )


def level_arrays(n, m, split):
    """The buffers of a search: a long list has at most three pieces, of half a chunk, per chunk of its arcs."""
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
ENTRIES_PER_VERTEX = 2  # entries per queue or pile: a vertex has one for every decrease of its distance
SPARE_ENTRIES = 1 << 16  # additional entries, for small graphs


def path_capacity(n):
    return ENTRIES_PER_VERTEX * n + SPARE_ENTRIES


def path_arrays(n, m, whole, split, capacity):
    """The arrays that a search writes. whole: distances are 32-bit integers, so that an entry has 8 bytes."""
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
