"""Bins of vertices by distance, one set per worker. They form a radix heap with digits of six bits.

A distance d belongs to bucket k = ⌊d / Δ⌋. The six-bit digits of k and of the current bucket, `now`, agree down to some
position; that position is the level, and k's digit there the bin. Level 0 therefore has one bucket per bin; a bin of a
higher level contains a range of buckets, which are spread when `now` arrives there.

Entries (vertex, distance) are stored in blocks of 64, a bin is a chain of blocks, and threads share work by blocks. If
the pool has fewer blocks than a vertex's arcs could fill, its worker stops, and Python enlarges the pool.
"""

from collections import namedtuple

import numpy as np

from hopwave.engines.cpu.crew import POOL_NEXT
from hopwave.engines.cpu.integers import U0, U1, U6, U63
from hopwave.engines.cpu.intrinsics import atomic_add, compare_and_swap, inner, noinline, ordered_load, trailing_zeros
from hopwave.engines.cpu.views import allocate
from hopwave.engines.ledger import declare

BLOCK = np.uint64(64)  # entries per block
LEVELS = 10
BINS = np.uint64(64 * LEVELS)
FARTHEST = float(1 << 59)  # the last bucket, which also contains all larger distances

# A worker's row: the position after the last entry of each bin, the first block of each, one bit per non-empty bin,
# then the cells below.
HEADS = BINS
MASKS = np.uint64(2 * 64 * LEVELS)
FREE, FREE_COUNT, LEFT, VERTICES, ARCS = (MASKS + np.uint64(LEVELS + i) for i in range(5))
ROW_CELLS = 2 * 64 * LEVELS + 32
QUEUE = np.uint64(ROW_CELLS - 9)  # alone in its cache line: other workers also take blocks from the queue
# FREE: a chain of free blocks. LEFT: the chain of blocks that the worker could not finish, 0 if none. QUEUE: the chain
# of blocks of the current job that the worker filled earlier.

BLOCKS_AT_ONCE = 16  # blocks that a worker takes from the pool

# Rows. lengths: float64. If it is None, the lower halves of `indices` are the heads, the upper halves integer lengths
# XOR 1: heads without upper halves have arcs of length 1.
Arcs = namedtuple("Arcs", "indptr indices lengths")

# The blocks. link: the next block of the chain, 0 at its end: block 0 is unused; begin, end: of the remaining entries
Pool = namedtuple("Pool", "link begin end vertex distance")


def new_pool(blocks, distances, old=None):
    """A pool of that many blocks, with the entries of a smaller one."""
    arrays = declare(np.uint32, link=blocks, vertex=64 * blocks) | declare(np.uint8, begin=blocks, end=blocks)
    made = Pool(**allocate(arrays | declare(distances, distance=64 * blocks)))
    if old is not None:
        for array, before in zip(made, old, strict=True):
            array[: before.size] = before
    return made


@inner
def reserve(pool, row, board, count):
    """Whether the worker now has that many free blocks."""
    while row[FREE_COUNT] < count:
        first = atomic_add(board, POOL_NEXT, BLOCKS_AT_ONCE)
        last = min(first + BLOCKS_AT_ONCE, pool.link.size)
        if first >= last:
            return False
        for b in range(first, last):
            release(pool, row, np.uint64(b))
    return True


@inner
def release(pool, row, b):
    pool.link[b] = np.uint32(row[FREE])
    row[FREE] = b
    row[FREE_COUNT] += U1


@inner
def bucket_of(d, per_length):
    return np.uint64(np.int64(min(d * per_length, FARTHEST)))


@inner
def take_block(pool, row, entries):
    b = row[FREE]
    row[FREE] = np.uint64(pool.link[b])
    row[FREE_COUNT] -= U1
    pool.link[b] = np.uint32(0)
    pool.begin[b] = np.uint8(0)
    pool.end[b] = np.uint8(entries)
    return b


@inner
def open_block(pool, row, bin, at):
    """The position of the next entry of a bin that has no block yet, or a full block."""
    noinline()
    b = take_block(pool, row, BLOCK)
    if at == U0:
        row[HEADS + bin] = b
        row[MASKS + (bin >> U6)] |= U1 << (bin & U63)
    else:
        pool.link[(at - U1) >> U6] = np.uint32(b)
    return b << U6


@inner
def push(pool, row, now, per_length, v, d):
    """Put a vertex into the bin of its distance. A free block must exist."""
    k = bucket_of(d, per_length)
    level, digit, differ = U0, k, k ^ now
    while differ > U63:
        differ >>= U6
        digit >>= U6
        level += U1
    digit &= U63
    bin = (level << U6) + digit
    at = row[bin]
    if at & U63 == U0:
        at = open_block(pool, row, bin, at)
    pool.vertex[at] = v
    pool.distance[at] = d
    row[bin] = at + U1


@inner
def take_bin(pool, row, level, digit):
    """Empty a bin; returns its first block, 0 if it is empty."""
    if (row[MASKS + level] >> digit) & U1 == U0:
        return U0
    bin = (level << U6) + digit
    at = row[bin] - U1
    pool.end[at >> U6] = np.uint8((at & U63) + U1)
    row[MASKS + level] &= ~(U1 << digit)
    row[bin] = U0
    return row[HEADS + bin]


@inner
def take_queued(pool, cells, place):
    """Take the first block of the queue at cells[place], 0 if it is empty. The block never returns to this queue."""
    while True:
        b = ordered_load(cells, place)
        if b == U0 or compare_and_swap(cells, place, b, np.uint64(pool.link[b])):
            return b


@inner
def first_bin(rows, workers):
    """The level and digit of the first non-empty bin of any worker; level LEVELS if all are empty."""
    for level in range(np.uint64(LEVELS)):
        mask = U0
        for w in range(workers):
            mask |= rows[w, MASKS + level]
        if mask != U0:
            return level, np.uint64(trailing_zeros(mask))
    return np.uint64(LEVELS), U0


@inner
def moved_to(now, level, digit):
    place = U6 * level
    return (((now >> place) >> U6) << U6 | digit) << place
