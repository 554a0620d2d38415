"""Arrays in one file, as numpy.load reads them."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

LOCAL_HEADER = struct.Struct("<26xHH")  # of an entry in a zip archive: the lengths of its name and of its other fields
_ALIGNED = 64  # bytes, as NumPy aligns what follows the header of an array
_FILLING = 0xD935  # the kind of a field that only fills up, as Android's zipalign writes it
_LARGE_SIZES = 20  # bytes of the field for sizes above 4 GB, which comes last


def write_arrays(stream: Any, arrays: Mapping[str, Any], *, packed: bool) -> None:
    """Write arrays by name to an .npz archive; `packed` compresses them. Others begin at multiples of 64 bytes, so that
    they can be mapped into memory.

    numpy.savez leaves an archive behind if a write fails, whose deletion fails again, with a traceback on stderr.
    """
    with Archive(stream, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy")
            entry.compress_type = archive.compression
            fixed = LOCAL_HEADER.size + len(entry.filename.encode()) + 6 + _LARGE_SIZES
            fill = -(archive.fp.tell() + fixed) % _ALIGNED  # type: ignore[union-attr]
            entry.extra = struct.pack("<HHH", _FILLING, 2 + fill, _ALIGNED) + bytes(fill)
            with archive.open(entry, "w", force_zip64=True) as place:
                _write_array(place, np.asanyarray(array))


def _write_array(place: Any, array: Any) -> None:
    """Write one array; numpy.lib.format.write_array would copy it in small pieces."""
    if array.dtype.hasobject or not array.flags.c_contiguous or not array.size:
        np.lib.format.write_array(place, array, allow_pickle=False)
        return
    about = np.lib.format.header_data_from_array_1_0(array)
    np.lib.format.write_array_header_1_0(place, about)
    place.write(array.reshape(-1).view(np.uint8).data)


def joined_crc(first: int, second: int, size: int) -> int:
    """The CRC-32 of two pieces of data one after the other, from that of each; `size`: the bytes of the second.

    >>> import zlib
    >>> joined_crc(zlib.crc32(b"hop"), zlib.crc32(b"wave"), 4) == zlib.crc32(b"hopwave")
    True
    """
    shift, power, left = 1 << 31, 1 << 30, 8 * size  # x⁰ and x¹: the highest bit is the coefficient of x⁰
    while left:
        if left & 1:
            shift = _product(power, shift)
        power, left = _product(power, power), left >> 1
    return _product(shift, first) ^ second


def _product(a: int, b: int) -> int:
    """The product of two polynomials over GF(2), modulo that of CRC-32."""
    found = 0
    for bit in range(31, -1, -1):
        if a >> bit & 1:
            found ^= b
        b = b >> 1 ^ (0xEDB88320 if b & 1 else 0)
    return found


class Archive(zipfile.ZipFile):
    """An archive that does nothing when it is deleted, where zipfile's complains if Ctrl-C came while it was made.

    It is read and written in `with` blocks: its end is written where it is closed.
    """

    def __del__(self) -> None:
        """Do nothing."""
