"""Sets of vertices as few bytes: the gaps between them, or a bitmap, whichever is shorter; with a value each, or none.

A set is a sorted list of places below some length. Its gaps take 1, 2, 4 or 8 bytes each, as the widest needs; once it
holds more than an eighth of its range, or so, a bitmap is shorter. A value is a row of bytes; numbers such as parents
keep as many as the greatest needs: three, mostly, where 64-bit ids would take eight. The same code runs on NumPy and on
CuPy arrays.

A packet is described by (count, bytes a gap, bytes a value); a gap of 0 bytes means a bitmap.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Shape = tuple[int, int, int]

PLAIN = 8  # bytes a vertex and a number when nothing is compressed


def _width(greatest: int) -> int:
    return 1 if greatest < 1 << 8 else 2 if greatest < 1 << 16 else 4 if greatest < 1 << 32 else 8


def _round(size: int) -> int:
    """Packets stand at multiples of 8, so that a column of them can be read in place."""
    return -(-size // 8) * 8


def packed_size(shape: Shape, length: int) -> int:
    """The bytes of a packet about places below length.

    >>> packed_size((10, 1, 3), 1000), packed_size((500, 0, 0), 1000)
    (48, 128)
    """
    count, gap, value = shape
    heads = -(-length // 64) * 8 if gap == 0 and count else count * gap
    return _round(heads) + _round(count * value)


def pack(xp: Any, heads: Any, values: Any | None, length: int, compress: bool = True) -> tuple[Shape, Any]:
    """Sorted places below length, and their values (`columns`), as a packet: its description and its bytes."""
    count = len(heads)
    if count == 0:
        return (0, 0, 0), xp.empty(0, np.uint8)
    heads = heads.astype(np.int64)
    gaps = xp.diff(heads, prepend=heads[:1] * 0 - 1) - 1
    gap = _width(int(gaps.max())) if compress else PLAIN
    if compress and -(-length // 64) * 8 < count * gap:
        gap = 0
    shape = (count, gap, 0 if values is None else values.shape[1])
    data = xp.zeros(packed_size(shape, length), np.uint8)
    if gap == 0:
        middle = -(-length // 64) * 8
        data[:middle] = bits_from(xp, heads, length).view(np.uint8)
    else:
        middle = _round(count * gap)
        data[: count * gap] = gaps.astype(f"u{gap}").view(np.uint8)
    if values is not None:
        data[middle : middle + values.size] = xp.ascontiguousarray(values).ravel()
    return shape, data


def pack_set(xp: Any, heads: Any, length: int, compress: bool = True) -> tuple[Shape, Any]:
    """Places in any order, without values: a bitmap needs none, and only gaps have to be sorted."""
    if compress and len(heads) > -(-length // 64) * 8:
        return (len(heads), 0, 0), bits_from(xp, heads, length).view(np.uint8)
    return pack(xp, xp.sort(heads), None, length, compress)


def pack_bits(xp: Any, words: Any, length: int, compress: bool = True) -> tuple[Shape, Any]:
    """A bitmap as a packet: as it is, unless it is so sparse that gaps are shorter.

    >>> pack_bits(np, np.array([0, 0, 0, 2], np.uint64), 256)[0], pack_bits(np, np.array([7], np.uint64), 3)[0]
    ((1, 1, 0), (3, 1, 0))
    """
    listed = places(xp, words)
    if not compress or len(listed) > 8 * len(words):
        return (len(listed), 0, 0), words.view(np.uint8)[: words.nbytes if len(listed) else 0]
    return pack(xp, listed, None, length)


def unpack_bits(xp: Any, shape: Shape, data: Any, length: int) -> Any:
    """The bitmap that a packet holds."""
    if shape[0] and shape[1] == 0:
        return data.view(np.uint64)
    return bits_from(xp, unpack(xp, shape, data, length)[0], length)


def unpack(xp: Any, shape: Shape, data: Any, length: int) -> tuple[Any, Any]:
    """The places and the values of a packet.

    >>> shape, data = pack(np, np.array([1, 2, 900]), columns(np, np.array([7, 70_000, 8])), 1000)
    >>> places, values = unpack(np, shape, data, 1000)
    >>> shape, places.tolist(), numbers(np, values).tolist()
    ((3, 2, 3), [1, 2, 900], [7, 70000, 8])
    """
    count, gap, width = shape
    if count == 0:
        return xp.empty(0, np.int64), xp.empty((0, width), np.uint8)
    if gap == 0:
        middle = -(-length // 64) * 8
        heads = places(xp, data[:middle].view(np.uint64))
    else:
        middle = _round(count * gap)
        heads = xp.cumsum(data[: count * gap].view(f"u{gap}").astype(np.int64) + 1) - 1
    return heads, data[middle : middle + count * width].reshape(count, width)


def columns(xp: Any, values: Any, compress: bool = True) -> Any:
    """Numbers from 0 as rows of bytes, as few as the greatest needs."""
    if len(values) == 0:
        return xp.empty((0, 1), np.uint8)
    return rows_of(values, max(1, -(-int(values.max()).bit_length() // 8)) if compress else PLAIN)


def rows_of(values: Any, width: int) -> Any:
    """Numbers from 0 as rows of so many bytes, the lowest first.

    >>> rows_of(np.array([1, 256]), 2).tolist()
    [[1, 0], [0, 1]]
    """
    return values.astype(np.uint64).view(np.uint8).reshape(len(values), 8)[:, :width]


def numbers(xp: Any, rows: Any) -> Any:
    """The numbers that rows of bytes hold."""
    wide = xp.zeros((len(rows), 8), np.uint8)
    wide[:, : rows.shape[1]] = rows
    return wide.ravel().view(np.int64)


def bits_from(xp: Any, heads: Any, length: int) -> Any:
    """A bitmap of words of 64 with these places set."""
    if xp is np:
        words = np.zeros(-(-length // 64), np.uint64)
        _compiled().set_places(words, heads)
        return words
    if length == 0:
        return xp.empty(0, np.uint64)
    flags = xp.zeros(-(-length // 64) * 64, np.uint8)
    flags[heads] = 1
    return xp.packbits(flags, bitorder="little").view(np.uint64)


def places(xp: Any, words: Any) -> Any:
    """The places of the set bits of a bitmap, ascending.

    >>> places(np, np.array([5, 1], np.uint64)).tolist()
    [0, 2, 64]
    """
    if xp is np:
        return _compiled().list_places(words)
    if words.size == 0:
        return xp.empty(0, np.int64)
    return xp.flatnonzero(xp.unpackbits(words.view(np.uint8), bitorder="little"))


def _compiled() -> Any:
    """The CPU's loops over bitmaps, imported when first needed: with them comes the compiler."""
    from hopwave.engines.cpu.rank import part

    return part
