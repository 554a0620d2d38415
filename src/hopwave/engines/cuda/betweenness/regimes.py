"""How a GPU computes betweenness: the regime for a graph, the number of concurrent sources, the memory.

n, m, k   vertices, arcs, sources        depth   levels of a search from the vertex of highest degree
block     one block or team per source   batch   up to 64 sources share every read   wide   the full GPU on one source
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from hopwave.engines.cuda.policy import length_arrays
from hopwave.engines.cuda.records import record
from hopwave.engines.ledger import Array, declare, total
from hopwave.errors import EngineError, too_large

Regime = Literal["block", "batch", "wide"]

LANES = 64  # maximum number of sources in a batch: one bit each in a 64-bit mask
CHUNK_ARCS = 512  # maximum arcs of a chunk, which one warp processes
MAX_BATCH_LEVELS = 48  # a batch stores one mask per level and vertex; the block regime takes deeper searches
MAX_COUNT_BITS = 1000  # a batch's path counts are plain float64; if they might exceed 2^1000, the block regime is used
MAX_WIDE_SOURCES = 4  # maximum number of sources at which each uses the full GPU
PIECE_ARCS = 1024  # maximum arcs of a piece of a long row, which one warp processes, in the wide regime
PUSH_COST = 4  # cost of pushing a path count along an arc, by atomics, relative to pulling along an arc
PUSH_BACK_COST = 32  # cost of pushing a share along an arc: two atomics, many of them at the same hubs
MAX_SMALL_ARCS = 1 << 20  # the block regime takes graphs with fewer arcs, and less than SPARSE_DEGREE per vertex
SPARSE_DEGREE = 4
MIN_ARCS_TO_RENUMBER = 1 << 27  # minimum sources × arcs at which renumbering pays off, on a deep graph
MIN_NEAR_SHARE = 0.25  # minimum share of arcs between near numbers in a good order (renumber.neighbours_near)
MAX_ORDERED_VERTICES = 1 << 19  # a graph with more vertices is renumbered regardless of its order
MAX_THREADS = 1024  # threads per block
MIN_THREADS = 64, 32  # threads per block: by hops, along weights
MAX_TEAM = 32  # blocks per source
MAX_BATCHES = 32  # batches per launch
BATCH_ARCS = 1 << 25  # arcs × batches that fill the GPU: more concurrent batches are not faster
MAX_ROUNDS = 8  # launches between two checks of the clock, which update progress and handle Ctrl-C
MAX_ROUND_ARCS = 1 << 36  # maximum sources × arcs between two checks
FLOAT = 8  # bytes of a float64
ROW_OVERHEAD = 64  # bytes per source in addition to its row of scores: certificate, status, id
MAPPED = 16  # levels with a bitmap, in the wide regime

# Structs that are array elements.
SPAN = record("common/threads.cuh", "Span", "i32 begin end")
BOARD = record(
    "betweenness/block.cuh", "Board", "f64 due counted", "u32 item arrived", "i32 found[3]", "i32 high low", size=128
)
PIECE = record("betweenness/wide.cuh", "Piece", "i32 v", "u32 index pieces first")
BUCKETS = 4 * (MAX_BATCH_LEVELS + 1)
SHARED = record(
    "betweenness/wide.cuh", "Shared", "i32 depth", "u32 found arrived left", f"u32 counts[{2 * BUCKETS}]",
    "u32 exponents[2]", "u64 due reached",
)  # fmt: skip


@dataclass(frozen=True)
class Machine:
    """A GPU: multiprocessors, shared memory and threads of each, memory, whether it can launch cooperatively."""

    multiprocessors: int = 132
    shared: int = 227 << 10
    threads: int = 2048
    memory: int = 1 << 37
    cooperative: bool = True


@dataclass(frozen=True)
class Shape:
    threads: int  # per block
    group: int  # lanes per vertex
    blocks: int  # concurrent sources: one block or one team per source
    shared: int  # bytes of codes per block in shared memory; 0: codes are in global memory
    team: int = 1  # blocks per source


def power_of_two(x: float) -> int:
    """The largest power of two that is not above x, at least 1."""
    return 1 << max(0, int(x).bit_length() - 1)


def is_deep(depth: int) -> bool:
    """Whether searches may be too deep for batches: a search may be twice as deep as the probe."""
    return depth > MAX_BATCH_LEVELS // 2


def is_small(n: int, m: int) -> bool:
    return m < SPARSE_DEGREE * n and m < MAX_SMALL_ARCS


def choose(n: int, m: int, k: int, depth: int, budget: int) -> tuple[Regime, str]:
    if is_deep(depth):
        return "block", f"a probe is {depth} levels deep"
    if is_small(n, m):
        return "block", f"{m:,} arcs: one block per source is enough"
    if k <= MAX_WIDE_SOURCES:
        return "wide", f"{k} source{'s' * (k != 1)} on a graph of {m:,} arcs"
    if batch_bytes(n, m, lanes_for(k), depth + 2) > budget:
        return "wide", f"a batch of {k} sources does not fit into memory"
    return "batch", f"{k} sources on a graph of {m:,} arcs, {depth} levels deep"


# ---------------------------------------------------------------- the block regime


def code_words(n: int) -> int:
    """32-bit words for two bits per vertex, or for two bitmaps."""
    return 2 * max(1, -(-n // 32))


def block_shape(n: int, m: int, k: int, depth: int, machine: Machine, reached: int | None = None) -> Shape:
    """Blocks about twice as wide as the mean level, but narrower if searches are shallow, since threads then often wait
    for others. Few sources use large blocks, or teams of blocks.

    `reached`: the most vertices that a search reaches, if fewer than n.
    """
    group = min(32, power_of_two(m / max(1, n) / 6))  # a lane processes about six arcs or more
    shared = 4 * code_words(n)
    if shared > machine.shared:
        shared = 0
    resident = machine.shared // (shared + 1024) if shared else 32  # blocks; CUDA reserves 1 kB for each
    reached = reached or n
    least, most = (MIN_THREADS[0], 4.5 * reached**0.5) if shared else (MIN_THREADS[1], reached**0.625)
    level = reached / (depth + 1) * group  # lanes that a mean level occupies
    threads = max(
        power_of_two(min(2.25 * level, most)),
        power_of_two(machine.threads / max(1, resident)),  # otherwise a multiprocessor is not filled
        power_of_two(machine.threads * machine.multiprocessors / max(1, k)),  # otherwise the GPU is not filled
    )
    threads = min(MAX_THREADS, max(least, threads))
    blocks = max(1, min(resident, machine.threads // threads)) * machine.multiprocessors
    if threads == MAX_THREADS and machine.cooperative:
        widest, available = power_of_two(4 * level / MAX_THREADS), power_of_two(machine.multiprocessors / max(1, k))
        team = min(MAX_TEAM, widest, available)
        if team > 1:
            return Shape(threads, group, k, 0, team)
    return Shape(threads, group, max(1, min(k, blocks)), shared)


def largest(components: Any, n: int) -> int:
    """The most vertices that a search reaches: those of the largest component, if the components are given."""
    return n if components is None else int(np.bincount(components).max())


def worth_renumbering(n: int, m: int, k: int, depth: int, budget: int) -> bool:
    """Whether renumbering a deep graph may pay off: it needs four searches, a sort, and a copy of the graph."""
    return is_deep(depth) and k * m >= MIN_ARCS_TO_RENUMBER and 64 * (m + n) <= budget


def scattered(n: int, near: float) -> bool:
    """Whether the graph's order is worse than the Morton order; `near`: share of its arcs between near numbers."""
    return near < MIN_NEAR_SHARE or n > MAX_ORDERED_VERTICES


def block_arrays(n: int, blocks: int, numbers: int, shared: int) -> dict[str, Array]:
    """The arrays of blocks or teams. numbers: bytes per path count. shared: whether codes are in shared memory."""
    return (
        declare(np.uint32, fill=0, ticket=1)
        | declare(np.int32, queue=(blocks, n), begins=(blocks, n + 2), shifts=(blocks, n + 2))
        | declare(np.float64, X=(blocks, n, numbers))
        | ({} if shared else declare(np.uint32, codes=(blocks, code_words(n))))
        | declare(BOARD, fill=0, boards=(blocks,))
    )


def weighted_arrays(n: int, m: int, blocks: int, numbers: int, team: int) -> dict[str, Array]:
    """The arrays of blocks or teams along weights, besides policy.length_arrays; `tight`: two bitmaps of arcs."""
    return (
        declare(np.uint32, fill=0, ticket=1)
        | declare(np.float64, X=(blocks, n, numbers), hops=(blocks, n))
        | declare(np.uint32, fill=0, tight=(blocks, 2, m // 32 + 2))
        | declare(np.float64, parts=(blocks * team, 2))
    )


def block_state(n: int, shared: int) -> int:
    return total(block_arrays(n, 1, 1, shared))


def weighted_state(n: int, m: int) -> int:
    return total(length_arrays(n, 1, own=True)) + total(weighted_arrays(n, m, 1, 1, 1))


def block_size(k: int, width: int, shape: Shape, machine: Machine, rounds: int = MAX_ROUNDS) -> int:
    """Sources between two checks of the clock: rounds of all blocks, if their rows fit into an eighth of the memory."""
    rows = machine.memory // 8 // max(1, FLOAT * width)
    return max(1, min(k, rounds * shape.blocks, rows))


def block_fit(state: int, width: int, shape: Shape, size: int, budget: int) -> tuple[int, int]:
    """The number of blocks of `state` bytes, and of rows of scores, that fit: first reduce rows, then both."""
    row = FLOAT * width + ROW_OVERHEAD
    if state + row > budget:
        raise _too_little(state + row, "one source", budget)
    blocks = min(shape.blocks, size, budget // (state + row))
    return blocks, max(blocks, min(size, (budget - blocks * state) // row))


# ---------------------------------------------------------------- the batch regime


def lanes_for(k: int) -> int:
    return min(LANES, 1 << max(0, k - 1).bit_length())


def batch_arrays(n: int, batches: int, lanes: int, slots: int) -> dict[str, Array]:
    """The arrays of batches; each level needs one more mask. slots: of partial sums, for cut lists."""
    return (
        {"visited": mask_array(n, batches)}
        | declare(np.uint64, fill=0, alive=batches)
        | declare(np.float64, counts=(2, batches, n, lanes), partials=(batches, slots, lanes))
        | declare(np.uint64, fill=0, tallies=(2, batches, lanes))
        | declare(np.float64, fill=0, sums=(2, batches, lanes))
    )


def mask_array(n: int, batches: int) -> Array:
    return Array((batches, n), np.uint64, fill=0)


def batch_bytes(n: int, m: int, lanes: int, levels: int) -> int:
    slots = max(1, 2 * m // CHUNK_ARCS)  # a list of more than CHUNK_ARCS has less than two chunks per CHUNK_ARCS arcs
    return total(batch_arrays(n, 1, lanes, slots)) + levels * mask_array(n, 1).nbytes


def batches_at_once(n: int, m: int, k: int, lanes: int, machine: Machine, edges: bool) -> int:
    """Batches per launch: a small graph needs several to fill the GPU. Scores of arcs allow only one."""
    if edges:
        return 1
    in_memory = machine.memory // 8 // batch_bytes(n, m, lanes, MAX_BATCH_LEVELS)
    return max(1, min(-(-k // lanes), MAX_BATCHES, BATCH_ARCS // max(1, m), in_memory))


def rounds(m: int, k: int, sources: int) -> int:
    """Launches (of `sources` each) between two checks of the clock: the host need not wait after each launch."""
    work = sources * max(1, m)
    return max(1, min(-(-k // sources), MAX_ROUNDS, MAX_ROUND_ARCS // work))


def batch_fit(
    n: int, m: int, lanes: int, batches: int, levels: int, budget: int, fixed: bool = False
) -> tuple[int, int]:
    """Sources per batch, and concurrent batches, that fit: first reduce the batches, then their size."""
    least = lanes if fixed else 1
    while batches > 1 and batches * batch_bytes(n, m, lanes, levels) > budget:
        batches //= 2
    while lanes > least and batch_bytes(n, m, lanes, levels) > budget:
        lanes //= 2
    needed = batch_bytes(n, m, lanes, levels)
    if needed > budget:
        what = f"{lanes} sources that deterministic=True keeps together" if fixed else "one source"
        raise _too_little(needed, what, budget)
    return lanes, batches


# ---------------------------------------------------------------- the wide regime


def most_pieces(m: int) -> int:
    """An upper bound on the number of pieces: a row that is cut has less than two per PIECE_ARCS arcs."""
    return max(1, 2 * m // PIECE_ARCS)


def wide_arrays(n: int, m: int, directed: bool, multiprocessors: int) -> dict[str, Array]:
    """The arrays of the wide regime: levels as bytes and bitmaps, sorted lists, pieces of long rows, σ and δ, sums."""
    lists, pieces = 2 if directed else 1, most_pieces(m)
    return (
        declare(np.uint8, level=n)
        | declare(np.uint32, bits=(MAPPED, -(-n // 32)))
        | declare(np.int32, lists=(lists, n))
        | declare(PIECE, pieces=(lists, pieces))
        | declare(np.float64, partials=pieces)
        | declare(np.uint32, fill=0, tickets=pieces)
        | declare(np.float64, counts=(2, n))
        | declare(np.uint64, sums=(n, 2))
        | declare(np.float64, parts=multiprocessors)
        | declare(SHARED, fill=0, shared=())
    )


def wide_bytes(n: int, m: int, directed: bool) -> int:
    return total(wide_arrays(n, m, directed, Machine.multiprocessors))


def check_wide(n: int, m: int, directed: bool, memory_limit: int | None) -> None:
    if memory_limit is not None and (needed := wide_bytes(n, m, directed)) > memory_limit:
        raise _too_little(needed, "one source", memory_limit)


def _too_little(needed: int, what: str, budget: int) -> EngineError:
    return too_large("betweenness of this graph", needed, budget, "raise memory_limit=, or use device='cpu'", what)


# ---------------------------------------------------------------- the core of a graph (core_run.py)

MOST_CORE_ROWS = 1 << 14  # maximum core vertices per batch: more do not improve the GPU's utilisation
DEMAND_BLOCKS = 8  # blocks per multiprocessor of the kernel that adds up demand
ROW_BYTES = 28  # bytes per core vertex and row: d, s, T, queue, begins


def core_batch_size(vertices: int, most: int, memory: int, free: int) -> int:
    """Core vertices per batch, at most `most`: a third of the memory is for their rows."""
    return max(1, min(most, min(memory // 3, free // 2) // (ROW_BYTES * max(1, vertices))))


def core_arrays(vertices: int, rows: int, members: int, multiprocessors: int) -> dict[str, Array]:
    shape, grid = (rows, vertices), min(members, DEMAND_BLOCKS * multiprocessors)
    return (
        declare(np.int32, d=shape, queue=shape, begins=(rows, vertices + 1))
        | declare(np.float64, s=shape, T=shape)
        | declare(np.uint64, inner=(grid, vertices, 2))
    )
