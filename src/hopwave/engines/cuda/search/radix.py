"""A radix sort of vertices, with or without values, by the bits of their ids (steps/sorted.cuh)."""

import numpy as np

from hopwave.engines.cuda.launch import BLOCK, NULL, truth

HEADER = "steps/sorted.cuh"
TILE = 16 * BLOCK  # keys per block: SORT_TILE in the header
DIGIT = 8  # most bits of a digit
DIGITS = 1 << DIGIT


def digits(n):
    """Bits of the ids below n, and bits per digit: as few digits as possible, of about equal size.

    >>> digits(1 << 21), digits(1)
    ((21, 7), (1, 1))
    """
    bits = max(1, (n - 1).bit_length())
    return bits, -(-bits // -(-bits // DIGIT))


def sort(search, count, keys, values=None):
    """Sort the first `count` keys of the search's buffer `keys`, and their values. Equal keys keep their order.

    Returns both arrays. They may be in other buffers than before; the buffers' names then belong to the sorted arrays.
    """
    bits, width = digits(search.n)
    arrays, pairs, size = search.work.arrays, truth(values is not None), np.uint64(count)
    names = [keys] if values is None else [keys, values]
    if count > TILE:
        tiles, passes = -(-count // TILE), -(-bits // width)
        # For each digit: a ticket, the count of each value, and the progress of tiles. All are 0 at first.
        words = passes * DIGITS * (1 + tiles) + passes
        counts = search.work.take("digit counts", words, np.uint64)
        counts.data.memset_async(0, 8 * words)

        def place(word):
            """The address of a number in the array: to slice the array would take longer than a launch."""
            return np.uint64(counts.data.ptr + 8 * word)

        search.launch(
            HEADER, "digit_totals", count, arrays[keys], size, np.int32(bits), np.int32(width), place(passes),
            blocks=min(tiles, search.on_device.device.blocks),
        )  # fmt: skip
        for number in range(passes):
            sorted_ = [search.work.take(f"sorted {name}", count, np.int32) for name in names]
            nothing = [NULL] * (values is None)
            search.launch(
                HEADER, "digit_scatter", count, *(arrays[name] for name in names), *nothing, size,
                np.int32(number * width), np.uint32((1 << width) - 1), place(passes + number * DIGITS), place(number),
                place(passes * (1 + DIGITS) + number * DIGITS * tiles), *sorted_, *nothing, shape=pairs, blocks=tiles,
            )  # fmt: skip
            for name in names:
                arrays[name], arrays[f"sorted {name}"] = arrays[f"sorted {name}"], arrays[name]
    else:
        given = arrays[keys], NULL if values is None else arrays[values]
        search.launch(HEADER, "sort_tile", count, *given, size, np.int32(bits), np.int32(width), shape=pairs, blocks=1)
    return arrays[keys], NULL if values is None else arrays[values]
