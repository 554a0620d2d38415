"""gzip streams. Python's own stand behind buffers in C, which drop a Ctrl-C that comes while they begin or end."""

from __future__ import annotations

import io
import zlib
from typing import IO, Any

PIECE = 1 << 18  # packed bytes per step, between which a signal is handled
GZIP = 31  # zlib's `wbits` for a stream with the header and the checksum of gzip


class Unpacked:
    """The content of a gzip file, from its beginning on; files that were packed one by one and joined are one content.

    A damaged file raises zlib.error, one that ends too early EOFError.
    """

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self.seek(0)

    def seek(self, place: int) -> None:
        """Go back to the beginning; there is no other place to go to."""
        assert place == 0
        self._raw.seek(0)
        self._unpacker: Any = None  # None between two members
        self._packed = self._ready = b""  # read and not yet unpacked, unpacked and not yet given
        self._place = 0

    def tell(self) -> int:
        """The number of bytes that were given."""
        return self._place

    def read(self, size: int) -> bytes:
        """The next `size` bytes, fewer at the end."""
        pieces, missing = [], size
        while missing and (piece := self._next(missing)):
            pieces.append(piece)
            missing -= len(piece)
        return b"".join(pieces)

    def readline(self, size: int) -> bytes:
        """The next bytes up to a newline, at most `size` of them."""
        pieces, missing = [], size
        while missing and (piece := self._next(missing, b"\n")):
            pieces.append(piece)
            missing -= len(piece)
            if piece.endswith(b"\n"):
                break
        return b"".join(pieces)

    def _next(self, most: int, end: bytes | None = None) -> bytes:
        """Some of the next bytes, none after `end`; b"" if there are no more."""
        ready = self._ready or self._unpack(most if end is None else PIECE)
        stop = most if end is None else ready.find(end, 0, most) + 1 or most
        self._ready = ready[stop:]
        self._place += min(stop, len(ready))
        return ready[:stop]

    def _unpack(self, most: int) -> bytes:
        while data := self._packed or self._raw.read(PIECE):
            if self._unpacker is None:
                self._packed = data.lstrip(b"\0")  # members may be padded
                self._unpacker = zlib.decompressobj(GZIP) if self._packed else None
                continue
            found: bytes = self._unpacker.decompress(data, most)
            if self._unpacker.eof:
                self._packed, self._unpacker = self._unpacker.unused_data, None
            else:
                self._packed = self._unpacker.unconsumed_tail
            if found:
                return found
        if self._unpacker is not None:
            raise EOFError("the end mark is missing")
        return b""


class Packed(io.BufferedIOBase):
    """Packs what is written to it. Neither name nor time is inside, so that equal contents give equal files."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._packer = zlib.compressobj(6, zlib.DEFLATED, GZIP)  # a third of the time of level 9, for 1% more bytes

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, data: Any) -> int:
        """Pack these bytes."""
        given = memoryview(data).cast("B")
        for begin in range(0, len(given), PIECE):
            self._raw.write(self._packer.compress(given[begin : begin + PIECE]))
        return len(given)

    def finish(self) -> None:
        """Write what is left, and the end mark."""
        self._raw.write(self._packer.flush())
