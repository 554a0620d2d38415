"""How a GPU goes about betweenness: which regime for which graph, how many sources at a time, in how much memory.

    n, m     vertices and arcs              k       sources
    depth    of one search, from the vertex of highest degree: what a probe found

Nothing here changes a score by more than rounding; all of it is decided before the run, by these functions alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hopwave.errors import EngineError, amount

Regime = Literal["block", "batch", "wide"]

LANES = 64  # sources that share a mask
CHUNK = 512  # arcs of a list that a warp takes at once
LEVELS = 48  # a batch keeps a mask a level, so a deeper search leaves it
BITS = 1000  # path counts of a batch are plain float64: a search whose counts might pass 2^BITS leaves it
FEW = 4  # sources up to which each has the whole GPU
SMALL = 1 << 20  # arcs up to which a sparse graph is a block's work
RENUMBERING = 1 << 27  # sources times arcs from which a deep graph is renumbered
NEAR, SCATTERED = 0.25, 1 << 19  # part of the arcs, and vertices, from which on an order is good enough; is not
MOST = 1024  # threads a block
TEAM = 32  # blocks a source
NUMBER = 8  # bytes


@dataclass(frozen=True)
class Machine:
    """What a GPU has: multiprocessors, of each its shared memory and threads, memory, and launches of a whole grid."""

    multiprocessors: int = 132
    shared: int = 227 << 10
    threads: int = 2048
    memory: int = 1 << 37
    cooperative: bool = True


@dataclass(frozen=True)
class Shape:
    """How the block regime is launched: `threads` a block, `group` lanes a vertex, `blocks` or teams of `team` blocks
    at once, each on a source, `shared` bytes of codes a block (0: they are in global memory)."""

    threads: int
    group: int
    blocks: int
    shared: int
    team: int = 1


def power_of_two(x: float) -> int:
    """The greatest power of two that is not above x, at least 1.

    >>> power_of_two(100), power_of_two(0.3)
    (64, 1)
    """
    return 1 << max(0, int(x).bit_length() - 1)


def choose(n: int, m: int, k: int, depth: int, free: int) -> tuple[Regime, str]:
    """The regime for k sources, and why.

    >>> choose(1 << 20, 1 << 25, 64, depth=6, free=1 << 36)[0]
    'batch'
    >>> choose(1 << 20, 6 << 20, 64, depth=400, free=1 << 36)[0]
    'block'
    """
    if depth > LEVELS // 2:
        return "block", f"a probe is {depth} levels deep"
    if m < 4 * n and m < SMALL:
        return "block", f"{m:,} arcs: a source fits a block"
    if k <= FEW:
        return "wide", f"{k} source{'s' * (k != 1)} on a graph of {m:,} arcs"
    if batch_bytes(n, m, lanes_for(k), depth + 2) > free:
        return "wide", f"{k} sources do not fit together"
    return "batch", f"{k} sources on a graph of {m:,} arcs, {depth} levels deep"


def code_words(n: int) -> int:
    """Words of two bits a vertex, which also hold two bitmaps.

    >>> code_words(33)
    4
    """
    return 2 * max(1, -(-n // 32))


def block_shape(n: int, m: int, k: int, depth: int, machine: Machine) -> Shape:
    """For levels about twice as wide as the mean one; few sources get large blocks, or teams of them.

    >>> block_shape(32768, 196548, 32768, 86, Machine()).threads
    512
    """
    group = min(32, power_of_two(m / max(1, n) / 6))
    shared = 4 * code_words(n)
    if shared > machine.shared:
        shared = 0
    room = machine.shared // (shared + 1024) if shared else 16
    level = n / (depth + 1) * group
    threads = power_of_two(2.25 * level)
    threads = max(threads, power_of_two(machine.threads / max(1, room)))
    threads = max(threads, power_of_two(machine.threads * machine.multiprocessors / max(1, k)))
    threads = min(MOST, max(64, threads))
    blocks = max(1, min(room, machine.threads // threads)) * machine.multiprocessors
    if threads == MOST and machine.cooperative:
        team = min(TEAM, power_of_two(4 * level / MOST), power_of_two(machine.multiprocessors / max(1, k)))
        if team > 1:
            return Shape(threads, group, k, 0, team)
    return Shape(threads, group, max(1, min(k, blocks)), shared)


def worth_renumbering(n: int, m: int, k: int, depth: int, room: int) -> bool:
    """Whether a deep graph's vertices may get an order of their own first: four searches and a sort, and a copy.

    >>> [worth_renumbering(1 << 20, 6 << 20, k, 376, 1 << 36) for k in (2, 64)]
    [False, True]
    """
    return depth > LEVELS // 2 and k * m >= RENUMBERING and 64 * (m + n) <= room


def scattered(n: int, near: float) -> bool:
    """Whether the order that a graph came in is worse than ours; `near` is the part of its arcs between near numbers.

    >>> scattered(1 << 15, 0.6), scattered(1 << 15, 0.01), scattered(1 << 20, 0.6)
    (False, True, True)
    """
    return near < NEAR or n > SCATTERED


def block_state(n: int, number: int, shared: int) -> int:
    """Bytes of one block's own arrays: queue, levels, shifts, numbers, codes.

    >>> block_state(100, NUMBER, 0)
    2048
    """
    return 4 * n + 8 * (n + 2) + number * n + (0 if shared else 4 * code_words(n))


def block_size(k: int, width: int, shape: Shape, machine: Machine) -> int:
    """Sources between two looks at the clock: some rounds of all blocks, as far as an eighth of the memory holds rows.

    >>> block_size(10**6, 1 << 15, Shape(256, 2, 1056, 8192), Machine())
    8448
    """
    rows = machine.memory // 8 // max(1, NUMBER * width)
    return max(1, min(k, 8 * shape.blocks, rows))


def block_fit(n: int, width: int, shape: Shape, size: int, room: int) -> tuple[int, int]:
    """Blocks at once and rows of scores that fit into so many bytes: rows go first, then both.

    >>> block_fit(1000, 1000, Shape(256, 1, 132, 512), 1056, 1 << 20)
    (37, 38)
    """
    state, row = block_state(n, NUMBER, shape.shared), NUMBER * width + 64
    if state + row > room:
        raise EngineError(
            f"betweenness of this graph needs {amount(state + row)} for one source and may use "
            f"{amount(room)}; raise memory_limit=, or use device='cpu'"
        )
    blocks = min(shape.blocks, size, room // (state + row))
    return blocks, max(blocks, min(size, (room - blocks * state) // row))


def lanes_for(k: int) -> int:
    """Sources a batch: a power of two, 64 at most.

    >>> lanes_for(1), lanes_for(3), lanes_for(1000)
    (1, 4, 64)
    """
    return min(LANES, 1 << max(0, k - 1).bit_length())


def batch_bytes(n: int, m: int, lanes: int, levels: int) -> int:
    """Bytes of a batch: σ and δ, masks, and what lists leave that were cut.

    >>> batch_bytes(1000, 10_000, 64, 8)
    1135936
    """
    return n * (2 * NUMBER * lanes + 8 * (levels + 1)) + m // CHUNK * 2 * NUMBER * lanes + 2 * NUMBER * lanes * 20


def batches_at_once(n: int, m: int, k: int, lanes: int, machine: Machine, edges: bool) -> int:
    """Batches a launch: a small graph does not fill the machine alone. Scores of arcs are added up by one at a time.

    >>> batches_at_once(1 << 15, 1 << 19, 10**5, 64, Machine(), False)
    32
    """
    if edges or lanes == 1:
        return 1
    most = min(-(-k // lanes), 32, (1 << 25) // max(1, m), machine.memory // 8 // batch_bytes(n, m, lanes, LEVELS))
    return max(1, most)


def rounds(m: int, k: int, sources: int) -> int:
    """Launches of so many sources between two looks at the clock: the host then need not wait after every one.

    >>> rounds(1 << 19, 10**6, 1024), rounds(1 << 28, 10**6, 64), rounds(1 << 19, 2000, 1024)
    (8, 4, 2)
    """
    work = sources * max(1, m)
    return max(1, min(-(-k // sources), 8, (1 << 36) // work))


def batch_fit(n: int, m: int, lanes: int, batches: int, levels: int, room: int, fixed: bool = False) -> tuple[int, int]:
    """Sources a batch and batches at once that fit: fewer batches first, then smaller ones, but never one source, which
    would be added up in another order. Scores of arcs are: `fixed` keeps a batch's size for those who mind.

    >>> batch_fit(1000, 10_000, 64, 16, 8, 3 << 20), batch_fit(1000, 10_000, 64, 16, 8, 1 << 20)
    ((64, 2), (32, 1))
    """
    least = lanes if fixed else min(lanes, 2)
    while batches > 1 and batches * batch_bytes(n, m, lanes, levels) > room:
        batches //= 2
    while lanes > least and batch_bytes(n, m, lanes, levels) > room:
        lanes //= 2
    if batch_bytes(n, m, lanes, levels) > room:
        what = f"{lanes} sources that deterministic=True keeps together" if fixed else "one source"
        raise EngineError(
            f"betweenness of this graph needs {amount(batch_bytes(n, m, lanes, levels))} for {what} and may "
            f"use {amount(room)}; raise memory_limit=, or use device='cpu'"
        )
    return lanes, batches
