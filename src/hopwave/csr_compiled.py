"""From millions of edges to sorted rows: what `csr.rows_of` does, compiled and on all cores.

A plain counting sort would write all over memory. Instead, arcs are distributed into buckets twice: first by target,
then by source. There are few enough buckets that each keeps one cache line open, and each bucket is small enough to fit
into the cache, where it is sorted by source. The first round leaves the rows of a bucket nearly sorted by target, so
the final insertion sort has little left to do.
"""

# Imported only when a graph is large, like `io.scan`, so that `import hopwave` does not load Numba.
from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from hopwave.csr import offset_type

MOST_BUCKETS = 512
LARGEST_GAP = 6  # nearly sorted rows of up to 2^6 neighbours are short enough for insertion sort alone


def sorted_rows(
    u: npt.NDArray[np.int32], v: npt.NDArray[np.int32], n: int, *, symmetric: bool
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32]]:
    """Offsets and ascending neighbours of n rows, without repeats; `symmetric` adds the reverse of every arc.

    >>> [part.tolist() for part in sorted_rows(np.array([1, 1], "i4"), np.array([0, 0], "i4"), 2, symmetric=True)]
    [[0, 1, 2], [1, 0]]
    """
    shift = max(0, max(n - 1, 0).bit_length() - MOST_BUCKETS.bit_length() + 1)
    buckets = (max(n - 1, 0) >> shift) + 1
    degrees, kept = np.zeros(n, np.int64), np.zeros(buckets, np.int64)
    with ThreadPoolExecutor(min(os.cpu_count() or 1, 16)) as pool:
        arcs, _ = _into_buckets(pool, _packed(pool, u, v, symmetric), shift, buckets)
        arcs, starts = _into_buckets(pool, arcs, shift, buckets)
        indices = np.empty(len(arcs), np.int32)

        def sort(b: int) -> None:
            part, rows = slice(starts[b], starts[b + 1]), slice(b << shift, (b + 1) << shift)
            _sort_bucket(arcs[part], indices[part], b << shift, degrees[rows], kept[b : b + 1])

        list(pool.map(sort, range(buckets)))
    if kept.sum() < len(arcs):
        indices = np.concatenate([indices[begin : begin + size] for begin, size in zip(starts, kept, strict=False)])
    indptr = np.zeros(n + 1, offset_type(len(indices)))
    np.cumsum(degrees, out=indptr[1:])
    return indptr, indices


def _packed(
    pool: ThreadPoolExecutor, u: npt.NDArray[Any], v: npt.NDArray[Any], symmetric: bool
) -> npt.NDArray[np.uint64]:
    """Each arc as one 64-bit word: its target in the high half, its source in the low half."""
    m = len(u)
    arcs = np.empty(2 * m if symmetric else m, np.uint64)

    def pack(part: slice) -> None:
        for half, high, low in ((arcs[:m], v, u), (arcs[m:], u, v))[: 2 if symmetric else 1]:
            half[part] = high[part]
            half[part] <<= np.uint64(32)
            half[part] |= low[part].view(np.uint32)

    list(pool.map(pack, _parts(m)))
    return arcs


def _into_buckets(
    pool: ThreadPoolExecutor, arcs: npt.NDArray[np.uint64], shift: int, buckets: int
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """The arcs ordered by the bucket of their high halves, and where each bucket begins.

    Within a bucket the order is kept. The two halves of every word change places, so that a second call sorts by
    the other half.
    """
    parts = _parts(len(arcs))
    counts = np.zeros((len(parts), buckets), np.int64)
    list(pool.map(lambda t: _count(arcs[parts[t]], shift, counts[t]), range(len(parts))))
    # Within a bucket, the arcs of one part of the input come after those of the parts before it.
    places = (np.cumsum(counts.T) - counts.T.ravel()).reshape(buckets, len(parts)).T.copy()
    bucketed = np.empty_like(arcs)
    list(pool.map(lambda t: _move(arcs[parts[t]], shift, places[t], bucketed), range(len(parts))))
    return bucketed, np.concatenate([[0], np.cumsum(counts.sum(axis=0))])


def _parts(size: int) -> list[slice]:
    cuts = np.linspace(0, size, 2 * min(os.cpu_count() or 1, 16) + 1).astype(np.int64).tolist()
    return [slice(begin, end) for begin, end in pairwise(cuts)]


def count(arcs: Any, shift: int, counts: Any) -> None:
    """Count the arcs of each bucket."""
    for i in range(arcs.size):
        counts[np.int64(arcs[i] >> np.uint64(32)) >> shift] += 1


def move(arcs: Any, shift: int, places: Any, bucketed: Any) -> None:
    """Move each arc to the next free place of its bucket, with its halves exchanged."""
    for i in range(arcs.size):
        high = arcs[i] >> np.uint64(32)
        bucket = np.int64(high) >> shift
        bucketed[places[bucket]] = (arcs[i] << np.uint64(32)) | high
        places[bucket] += 1


def sort_bucket(arcs: Any, indices: Any, first: int, degrees: Any, kept: Any) -> None:
    """Sort one bucket by source (the low half), then each row by target, and drop repeats.

    What is kept fills `indices` from the front. `degrees` gets the length of each row, `kept` the sum of them.
    """
    low = np.uint64(0xFFFFFFFF)
    ends = np.zeros(degrees.size + 1, np.int64)
    for i in range(arcs.size):
        ends[np.int64(arcs[i] & low) - first + 1] += 1
    for r in range(degrees.size):
        ends[r + 1] += ends[r]
    fill = ends[:-1].copy()
    for i in range(arcs.size):
        row = np.int64(arcs[i] & low) - first
        indices[fill[row]] = np.int32(arcs[i] >> np.uint64(32))
        fill[row] += 1
    size = 0
    for r in range(degrees.size):
        begin, end = ends[r], ends[r + 1]
        gap = 1
        while gap < (end - begin) >> LARGEST_GAP:
            gap = 3 * gap + 1
        while gap > 0:  # Shell sort; most rows only need the last round, which is insertion sort
            for i in range(begin + gap, end):
                value = indices[i]
                j = i
                while j >= begin + gap and indices[j - gap] > value:
                    indices[j] = indices[j - gap]
                    j -= gap
                indices[j] = value
            gap //= 3
        front = size
        for i in range(begin, end):
            if i == begin or indices[i] != indices[size - 1]:
                indices[size] = indices[i]
                size += 1
        degrees[r] = size - front
    kept[0] = size


_compile = numba.njit(nogil=True, cache=True)
_count, _move, _sort_bucket = _compile(count), _compile(move), _compile(sort_bucket)
