"""A radix sort of vertices, each with a value or without, by as many bits as their ids have (steps/radix.cuh)."""

from __future__ import annotations

import cupy
import numpy as np

from hopwave.engines.cuda.launch import BLOCK, NULL, truth

HEADER = "steps/radix.cuh"
TILE = 16 * BLOCK  # keys per block: SORT_TILE of the header
DIGIT = 8  # bits of a digit, at most


def digits(n):
    """Bits of the ids below n, and bits per digit: as few digits as possible, as even as possible.

    >>> digits(1 << 21), digits(1)
    ((21, 7), (1, 1))
    """
    bits = max(1, (n - 1).bit_length())
    return bits, -(-bits // -(-bits // DIGIT))


def sort(search, count, keys, values=None):
    """The first `count` of the search's buffer of that name, sorted, and of the values that go with them.

    Equal keys keep their order. What is returned may lie in other buffers than before; the names are those of the
    sorted ones.
    """
    bits, width = digits(search.n)
    arrays, pairs, size = search.work.arrays, truth(values is not None), np.uint64(count)
    if count > TILE:
        names = [keys] if values is None else [keys, values]
        tiles = -(-count // TILE)
        counts = search.work.take("digit counts", tiles << width, np.int64)[: tiles << width]
        for shift in range(0, bits, width):
            digit = np.int32(shift), np.uint32((1 << width) - 1)
            search.launch(HEADER, "digit_counts", count, arrays[keys], size, *digit, counts, blocks=tiles)
            sums = cupy.cumsum(counts)
            sorted_ = [search.work.take(f"sorted {name}", count, np.int32) for name in names]
            given = [arrays[name] for name in names] + [NULL] * (values is None)
            search.launch(
                HEADER, "digit_scatter", count, *given, size, *digit, sums, *sorted_, *[NULL] * (values is None),
                shape=pairs, blocks=tiles,
            )  # fmt: skip
            for name in names:
                arrays[name], arrays[f"sorted {name}"] = arrays[f"sorted {name}"], arrays[name]
    else:
        given = arrays[keys], NULL if values is None else arrays[values]
        search.launch(HEADER, "sort_tile", count, *given, size, np.int32(bits), np.int32(width), shape=pairs, blocks=1)
    return arrays[keys], NULL if values is None else arrays[values]
