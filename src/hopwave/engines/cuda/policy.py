"""How the GPU's work is cut up: the thresholds of the CUDA engine, with their reasons. None of them changes an answer.

Betweenness has its own in betweenness/regimes.py. Which step a level takes is a plan's rule (planning/rules.py).
"""

from __future__ import annotations

from dataclasses import dataclass

WORD = 64  # sources per word of a vertex's row: one bit each


@dataclass(frozen=True)
class LevelSplit:
    """How a search in one launch shares out its levels; but for `fill`, fields of kernels/one_launch/state.cuh."""

    chunk: int = 256  # a list of this many out-arcs is long: it is cut into pieces of half that
    long_row: int = 2048  # in-arcs after which a row that has found nothing yet is left to the whole grid
    alone: int = 512  # arcs up to which one block takes a level by itself
    few: int = 2048  # arcs up to which `team` blocks take it
    share: int = 512  # arcs per block up to which all blocks take it as one team
    team: int = 16  # blocks: 8, 24, 32 and 64 were slower on an H200
    fill: int = 1 << 23  # vertices from which the first pull writes every answer: fewer answers fit into the L2 cache


def level_split(m: int) -> LevelSplit:
    """For a graph of m arcs. Where there are very many, larger chunks keep the list of chunks small.

    >>> level_split(1 << 20).chunk, level_split(1 << 31).chunk
    (256, 1024)
    """
    return LevelSplit(chunk=256 if m < 1 << 30 else 1024)


@dataclass(frozen=True)
class SweepPolicy:
    """Searches from many sources (kernels/many)."""

    words: tuple[int, int] = (2, 16)  # per vertex: what the kernel is compiled for, few or many sources
    long_row: int = 256  # arcs from which a row is shared out among threads
    push_cost: int = 3  # cost of an arc of a push; an arc that a pull looks at costs 1
    pull_divisor: int = 2  # the first pull is expected to look at this fraction of the arcs: 1 / pull_divisor
    deep: int = 32  # levels from which sources near each other share a group: their frontiers then overlap
    # Vertices for every lane group (the threads that share a vertex's row). With fewer, blocks wait at barriers.
    vertices_per_group: int = 32
    vertices_per_group_deep: int = 128  # levels of a deep graph hold few of the vertices
    turns: int = 4  # groups of sources that a subgrid takes in one launch
    launches_ahead: int = 2  # launches queued on the GPU: it stops this soon after Ctrl-C
    table_bytes: int = 1 << 30  # of distances on the GPU at a time, on their way to the host
    first_pairs: int = 1 << 20  # pairs that one group of sources is expected to find at most


SWEEP = SweepPolicy()


def words_for(sources: int, n: int, free: int) -> int:
    """Words per vertex: as many as the sources fill, if three rows of them per vertex fit into the free bytes.

    >>> words_for(100, 10**6, 10**11), words_for(10_000, 10**6, 10**11), words_for(10_000, 10**9, 10**11)
    (2, 16, 2)
    """
    few, many = SWEEP.words
    return many if sources > WORD * few and 24 * many * n < free * 3 // 4 else few


def subgrids_for(n: int, words: int, groups: int, depth: int, blocks: int, free: int, threads: int) -> tuple[int, int]:
    """How many subgrids a grid of `blocks` blocks is cut into, and the blocks of each; every one takes its own groups.

    >>> subgrids_for(36_692, 16, 36, 9, 528, 10**11, 256), subgrids_for(10**6, 16, 1, 9, 528, 10**11, 256)
    ((7, 75), (1, 528))
    >>> subgrids_for(114_599, 16, 112, 1000, 528, 10**11, 256), subgrids_for(34, 2, 1, 5, 528, 10**11, 256)
    ((9, 58), (1, 1))
    """
    vertices = SWEEP.vertices_per_group_deep if depth >= SWEEP.deep else SWEEP.vertices_per_group
    enough = max(1, min(blocks, -(-n * words // (threads * vertices))))
    state = (24 * words + 17) * n  # bytes: three rows, two lists, a list of long rows, a bitmap
    subgrids = max(1, min(blocks // enough, groups, free * 3 // 4 // max(1, state)))
    return subgrids, max(1, min(blocks // subgrids, -(-n * words // threads)))


def pair_bits(n: int, limit: int | None, width: int) -> tuple[int, int, int]:
    """A pair's 64-bit number is source, distance, vertex: the bits of a vertex and of a distance, and how many sources
    of a group of `width` the remaining bits can tell apart.

    >>> pair_bits(1000, 2, 1024), pair_bits(2**31 - 2, None, 1024)
    ((10, 2, 1024), (31, 31, 4))
    """
    vertex = max(1, (n - 1).bit_length())
    depth = max(1, (n if limit is None else min(limit, n)).bit_length())
    return vertex, depth, min(width, 1 << (64 - vertex - depth))


@dataclass(frozen=True)
class PathSplit:
    """How a search for shortest paths shares out its phases; the fields of that name in shortest_paths/state.cuh."""

    chunk: int = 128  # arcs from which a row is long: it is cut into pieces of this many
    enter: int = 256  # entries up to which one block goes on alone: it needs no barrier between blocks
    alone: int = 512  # entries up to which it stays alone; with 2048 of them a grid took nearly twice as long
    pile: int = 8192  # entries of a far pile that it looks through alone
    local: int = 512  # entries per block up to which every block goes on with what it finds itself
    subrounds: int = 0  # for that many rounds
    arcs: int = 2048  # as long as they have no more arcs than this: two for every thread
    share: int = 8  # entries that a block has at least


LOW_DEGREE = 8.0  # mean degree up to which a graph is as good as a mesh: blocks find their own next entries


def path_split(degree: float) -> PathSplit:
    """For that mean degree. On meshes, a block that goes on by itself saves barriers: with 64 rounds a grid took 7.4 ms
    on an H200, without any 12.4. Where degrees are high, blocks then wait for the one that found most.

    >>> path_split(4.0).subrounds, path_split(10.0).subrounds
    (64, 0)
    """
    return PathSplit(subrounds=64 if degree <= LOW_DEGREE else 0)


# A bucket's width in mean lengths: the first over the squared mean degree, or the second over the mean degree,
# whichever is more. On an H200, 60 to 250 mean lengths were best for roads (degree 2), 16 for grids (4), 1.6 and more
# for degree 10, 0.1 to 0.4 for Kronecker graphs (degree 80).
PATH_WIDTHS = 256.0, 16.0


def path_width(mean_length: float, degree: float) -> float:
    """The width of a bucket. Wide buckets have few rounds, narrow ones follow few arcs twice: where degrees are low,
    few arcs are followed at all, and rounds decide.

    >>> path_width(128.0, 4.0), path_width(128.0, 64.0), path_width(0.0, 4.0)
    (2048.0, 32.0, 1.0)
    """
    low, high = PATH_WIDTHS
    degree = max(1.0, degree)
    return mean_length * max(low / degree**2, high / degree) if mean_length > 0 else 1.0


@dataclass(frozen=True)
class ComponentsPolicy:
    """Weak components by hooking (kernels/components)."""

    sampled_arcs: int = 2  # of every vertex, hooked before the giant component is looked for
    sampled_vertices: int = 1024  # whose roots vote on which component is the giant
    long_row: int = 4096  # arcs from which all threads share a row


COMPONENTS = ComponentsPolicy()

LONG_CHECKED_ROW = 1 << 15  # arcs of a row that one warp validates (kernels/rank/part.cuh); longer ones get a block

# Merrill's contract, where duplicates stay in the queue: the more blocks are at work at once, the more duplicates stay.
# Arcs that a block takes at least, and blocks per multiprocessor at most.
CULLING_SHARE = 2048
CULLING_BLOCKS = 2

# Push-pull's column product. Lists whose lengths one block sums: a prefix sum by CuPy is three launches. Arcs that one
# block gathers, sorts and reduces in one launch: with more, many blocks save what four launches cost.
FEW_LISTS = 4096
FEW_ARCS = 1024

# One part of a build takes 16 bytes per arc while it is sorted, 44 with weights. An eighth of all arcs keeps that below
# what the rows themselves take; fewer than so many arcs are not worth a part of their own (build.py).
PARTS = 8
LEAST_ARCS = 1 << 22
SORTING, SORTING_WEIGHTED = 16, 44
SORTED_ARCS = 1 << 27  # arcs that are arranged by degree at a time: sorting takes 24 bytes per arc


@dataclass(frozen=True)
class AlongWeightsPolicy:
    """Searches along weights, many sources at a time (kernels/common/shortest.cuh)."""

    arcs_within_delta: int = 32  # the bound moves by the mean weight times this over the mean degree, as Davidson's did
    long_row: int = 32  # arcs per lane of a group from which a row gets a whole warp
    lists: int = 4  # LISTS: piles of a search
    rounds: int = 8  # sources that every block takes between two looks at the clock
    table_bytes: int = 1 << 31  # of distances on the GPU at a time


ALONG_WEIGHTS = AlongWeightsPolicy()


def moved_bound(mean: float, n: int, m: int) -> float:
    """How far the bound between near and far distances moves at least, for weights of that mean.

    >>> moved_bound(2.0, 1000, 4000), moved_bound(2.0, 10, 1000), moved_bound(0.0, 0, 0)
    (16.0, 2.0, 0.0)
    """
    return mean * max(1.0, ALONG_WEIGHTS.arcs_within_delta * n / max(1, m))


@dataclass(frozen=True)
class PowerPolicy:
    """Power iterations in one launch (kernels/linalg/power.cuh)."""

    short_row: int = 32  # entries up to which rows are not sorted by their length
    # From this many vertices on, such rows are numbered by their distance from one vertex, if less than `near_share` of
    # the entries lie within `near` of their row, and if they are `deep`: meshes in any order are then read from the L1
    # cache of the block. A search and a copy, a few ms, are made once per matrix.
    order_vertices: int = 1 << 18
    near: int = 8192  # numbers: a quarter of an H200's L1 cache
    near_share: float = 0.5
    deep: int = 64  # levels
    # Entries that one warp adds up in the time of a round of a small graph. In a large one, a row is cut if it has more
    # than a warp's share of all entries: with a quarter of that, kron 18 took 14% longer on an H200.
    least_cut: int = 1024
    hot: int = 24576  # numbers of the longest rows that a block keeps in shared memory: what a Hopper has room for
    hot_arcs: int = 1 << 16  # arcs per block from which that pays


POWER = PowerPolicy()


@dataclass(frozen=True)
class PathsPolicy:
    """Shortest paths of random pairs (kernels/betweenness/sampled_paths.cuh)."""

    warps: int = 32  # searches per multiprocessor at a time: as many as have registers
    share_of_memory: float = 0.75  # of what is free, for the searches' arrays
    first_pairs: int = 1 << 12  # pairs of the first launch
    seconds: float = 0.1  # that a launch should take: it can be stopped after each
    seconds_per_fetch: float = 1.0  # of launches, after which counts are fetched: Ctrl-C loses at most as much


PATHS = PathsPolicy()
