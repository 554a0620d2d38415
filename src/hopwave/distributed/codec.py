"""Sets of vertices in few bytes: gaps or a bitmap, whichever is shorter, and optionally one value per vertex.

A set is a sorted list of positions below some length. The widest gap decides whether gaps use 1, 2, 4 or 8 bytes each.
A value is a row of bytes; numbers such as parents use as many bytes as the largest needs. A packet is described by
(count, bytes per gap, bytes per value); 0 bytes per gap means a bitmap.
"""

from functools import partial
from typing import Any

import numpy as np

from hopwave.arrays import module_of
from hopwave.system.threads import imported

Shape = tuple[int, int, int]

EMPTY: Shape = (0, 0, 0)
PLAIN = 8  # bytes per vertex and per number without compression
compiled = partial(imported, "hopwave.engines.cpu.rank")  # its loops over bitmaps; importing Numba is slow


def _width(greatest: int) -> int:
    return 1 if greatest < 1 << 8 else 2 if greatest < 1 << 16 else 4 if greatest < 1 << 32 else 8


def _round(size: int) -> int:
    """Gaps, bitmaps and values start at multiples of 8, so that they can be read in place."""
    return -(-size // 8) * 8


def _bitmap_bytes(length: int) -> int:
    return -(-length // 64) * 8


def packed_size(shape: Shape, length: int) -> int:
    """The bytes of a packet of positions below length."""
    count, gap, value = shape
    positions = _bitmap_bytes(length) if gap == 0 and count else count * gap
    return _round(positions) + _round(count * value)


def value_bytes(shape: Shape) -> int:
    return _round(shape[0] * shape[2])


def as_rows(values: Any) -> Any:
    """Values of any type as rows of bytes, as stored in packets."""
    return module_of(values).ascontiguousarray(values).view(np.uint8).reshape(len(values), values.dtype.itemsize)


def as_values(rows: Any, dtype: np.dtype[Any]) -> Any:
    return module_of(rows).ascontiguousarray(rows).reshape(-1).view(dtype)


def pack(xp: Any, positions: Any, values: Any | None, length: int, compress: bool = True) -> tuple[Shape, Any]:
    """Pack sorted positions below length, and their values as rows of bytes. Returns (shape, bytes) of the packet."""
    count = len(positions)
    if count == 0:
        return EMPTY, xp.empty(0, np.uint8)
    positions = positions.astype(np.int64)
    gaps = xp.diff(positions, prepend=positions[:1] * 0 - 1) - 1
    gap = _width(int(gaps.max())) if compress else PLAIN
    if compress and _bitmap_bytes(length) < count * gap:
        gap = 0
    shape = (count, gap, 0 if values is None else values.shape[1])
    data = xp.zeros(packed_size(shape, length), np.uint8)
    packed = gaps.astype(f"u{gap}") if gap else bitmap(xp, positions, length)
    data[: packed.nbytes] = packed.view(np.uint8)
    middle = _round(packed.nbytes)
    if values is not None:
        data[middle : middle + values.size] = xp.ascontiguousarray(values).ravel()
    return shape, data


def pack_set(xp: Any, positions: Any, length: int, compress: bool = True) -> tuple[Shape, Any]:
    """Pack positions in any order, without values. Sorts them only if gaps are shorter than a bitmap."""
    if compress and len(positions) > _bitmap_bytes(length):
        return (len(positions), 0, 0), bitmap(xp, positions, length).view(np.uint8)
    return pack(xp, xp.sort(positions), None, length, compress)


def pack_bitmap(xp: Any, words: Any, length: int, compress: bool = True) -> tuple[Shape, Any]:
    """Pack a bitmap: unchanged, unless gaps are shorter."""
    count = count_set(xp, words)
    if not compress or count > 8 * len(words):
        return (count, 0, 0), words.view(np.uint8)[: words.nbytes if count else 0]
    return pack(xp, set_positions(xp, words), None, length)


def unpack_bitmap(xp: Any, shape: Shape, data: Any, length: int) -> Any:
    """The set in a packet, as a bitmap."""
    if shape[0] and shape[1] == 0:
        return data.view(np.uint64)
    return bitmap(xp, unpack(xp, shape, data, length)[0], length)


def unpack(xp: Any, shape: Shape, data: Any, length: int) -> tuple[Any, Any]:
    """The positions and the values of a packet.

    >>> shape, data = pack(np, np.array([1, 2, 900]), to_bytes(np, np.array([7, 70_000, 8])), 1000)
    >>> positions, values = unpack(np, shape, data, 1000)
    >>> shape, positions.tolist(), from_bytes(np, values).tolist()
    ((3, 2, 3), [1, 2, 900], [7, 70000, 8])
    """
    count, gap, width = shape
    if count == 0:
        return xp.empty(0, np.int64), xp.empty((0, width), np.uint8)
    if gap == 0:
        middle = _bitmap_bytes(length)
        positions = set_positions(xp, data[:middle].view(np.uint64))
    else:
        middle = _round(count * gap)
        positions = xp.cumsum(data[: count * gap].view(f"u{gap}").astype(np.int64) + 1) - 1
    return positions, data[middle : middle + count * width].reshape(count, width)


def to_bytes(xp: Any, values: Any, compress: bool = True) -> Any:
    """Numbers ≥ 0 as rows of bytes; a row is as wide as the largest number needs."""
    if len(values) == 0:
        return xp.empty((0, 1), np.uint8)
    return to_bytes_of(values, max(1, -(-int(values.max()).bit_length() // 8)) if compress else PLAIN)


def to_bytes_of(values: Any, width: int) -> Any:
    """Numbers ≥ 0 as rows of `width` bytes, the lowest first."""
    return values.astype(np.uint64).view(np.uint8).reshape(len(values), 8)[:, :width]


def from_bytes(xp: Any, rows: Any) -> Any:
    wide = xp.zeros((len(rows), 8), np.uint8)
    wide[:, : rows.shape[1]] = rows
    return wide.ravel().view(np.int64)


def bitmap(xp: Any, positions: Any, length: int) -> Any:
    """A bitmap of 64-bit words with these positions set."""
    if xp is np:
        words = np.zeros(-(-length // 64), np.uint64)
        compiled().set_places(words, positions)
        return words
    if length == 0:
        return xp.empty(0, np.uint64)
    flags = xp.zeros(-(-length // 64) * 64, np.uint8)
    flags[positions] = 1
    return xp.packbits(flags, bitorder="little").view(np.uint64)


def count_set(xp: Any, words: Any) -> int:
    if xp is np:
        return int(compiled().count_places(words))
    return int(xp.unpackbits(words.view(np.uint8)).sum(dtype=np.int64)) if words.size else 0


def set_positions(xp: Any, words: Any) -> Any:
    """The positions of a bitmap's set bits, ascending."""
    if xp is np:
        return compiled().list_places(words)
    if words.size == 0:
        return xp.empty(0, np.int64)
    return xp.flatnonzero(xp.unpackbits(words.view(np.uint8), bitorder="little"))
