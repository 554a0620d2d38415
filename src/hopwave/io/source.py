"""Source: a file being read, compressed or not, which makes the error messages that name it."""

from __future__ import annotations

import errno
import io
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from hopwave.errors import FormatError
from hopwave.system.files import GZIP, Unpacked
from hopwave.system.progress import Meter

BLOCK = 4 << 20  # bytes: a few hundred thousand edges, about ten milliseconds of work
LONGEST_HEADER_LINE = 1 << 20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # of UTF-8: some editors write it before the first character
LONE_RETURN = "a carriage return inside the line; expected lines that end in a newline: convert the line ends"
# A packed graph is 3 to 20 times smaller, and gzip packs nothing more than 1000 times: a file (.gz, .npz, .parquet)
# that unpacks to more than this is one byte again and again, and may be terabytes. In a .gz, the first bytes show most
# of them at once.
MOST_TIMES_UNPACKED = 300
FIRST_BYTES = 1 << 16
FREE_BYTES = 1 << 26  # unpacked, which no ratio is asked of: little was read of the file
_GZIP_ERRORS = (EOFError, zlib.error)


class Source:
    """One graph file. It is decompressed if its content is gzip's, whatever the file is called."""

    def __init__(self, path: Path, meter: Meter) -> None:
        self.path = path
        self.meter = meter
        self._unpacked = 0
        unreadable = PermissionError(errno.EACCES, "not readable; ask its owner for permission", str(path))
        try:
            status = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            raise FileNotFoundError(
                errno.ENOENT, "no such file; check the spelling and the folder", str(path)
            ) from None
        except PermissionError:  # of a folder above it
            raise unreadable from None
        if stat.S_ISDIR(status.st_mode):
            raise FormatError("is a folder; expected a graph file", path)
        if not stat.S_ISREG(status.st_mode):
            raise FormatError("is a pipe or a device; expected a regular file: save the data to one first", path)
        self.size = status.st_size
        try:
            with path.open("rb") as raw:
                first = raw.read(FIRST_BYTES)
        except PermissionError:
            raise unreadable from None
        self.packed = first[:2] == b"\x1f\x8b"
        if self.packed and len(first) > FIRST_BYTES >> 3:
            most = MOST_TIMES_UNPACKED * len(first)
            with suppress(zlib.error):  # the reader will meet the same error and name the line
                if len(zlib.decompressobj(GZIP).decompress(first, most)) == most:
                    raise self._bomb(None)

    def fail(self, message: str, line: int | None = None) -> FormatError:
        """The error to raise: it names the file and the line."""
        return FormatError(message, self.path, line)

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """The content from its beginning, decompressed."""
        with self.path.open("rb") as raw:
            self._raw = raw
            yield Unpacked(raw) if self.packed else raw  # type: ignore[misc]

    @contextmanager
    def text(self) -> Iterator[IO[bytes]]:
        """Like `open`, from the first character on: a byte-order mark is skipped."""
        with self.open() as stream:
            if self.take(stream, len(BYTE_ORDER_MARK), 1) != BYTE_ORDER_MARK:
                stream.seek(0)
            yield stream

    def take(self, stream: IO[bytes], size: int, line: int | None = None) -> bytes:
        """The next bytes, at most `size` of them."""
        data = self._read(stream, stream.read, size, line)
        self.meter.update(self._raw.tell())
        return data

    def whole(self, stream: IO[bytes]) -> bytes:
        """All bytes from the stream's position on."""
        return b"".join(iter(lambda: self.take(stream, BLOCK), b""))

    def _read(self, stream: IO[bytes], read: Callable[[int], bytes], size: int, line: int | None) -> bytes:
        """What `read` returns, unless it is damaged, or little has become far too much."""
        try:
            data = read(size)
        except _GZIP_ERRORS as error:
            raise self._broken(error, line) from None
        if self.packed and stream.tell() > max(FREE_BYTES, MOST_TIMES_UNPACKED * self._raw.tell()):
            raise self._bomb(line)
        return data

    def unpack(self, size: int) -> None:
        """Before unpacking `size` bytes of a container: a FormatError where all together are far too much for it."""
        self._unpacked += size
        if self._unpacked > max(FREE_BYTES, MOST_TIMES_UNPACKED * self.size):
            raise self._bomb(None)

    def _bomb(self, line: int | None) -> FormatError:
        return self.fail(
            f"unpacks to more than {MOST_TIMES_UNPACKED} times its size; expected a graph: if that is right, unpack it "
            "(gunzip), or save it without compression (numpy.savez), and read that",
            line,
        )

    def line(self, stream: IO[bytes], number: int) -> bytes:
        """The next line with its newline, b"" after the last. It is for headers: a very long line is an error.

        So is a carriage return inside the line: it may end a line of the header, or even all lines of the file.
        """
        data = self._read(stream, stream.readline, LONGEST_HEADER_LINE, number)
        if len(data) == LONGEST_HEADER_LINE:
            raise self.fail(f"a header line of over {LONGEST_HEADER_LINE:,} bytes; expected a text file", number)
        if b"\r" in data.rstrip(b"\r\n"):
            raise self.fail(LONE_RETURN, number)
        return data

    def first_line(self, stream: IO[bytes], comment: bytes, number: int = 1) -> tuple[int, bytes]:
        """The next line that is neither blank nor a comment, and its number; the last line and b"" without one."""
        while (text := self.line(stream, number)) and (not text.strip() or text.lstrip().startswith(comment)):
            number += 1
        return (number if text else max(number - 1, 1)), text

    def start(self, size: int = 1 << 16) -> bytes:
        """The first bytes of the content, to detect the format. A truncated file gives what it has."""
        with self.path.open("rb") as raw:
            data = raw.read(size)
        if not self.packed:
            return data
        try:
            return zlib.decompressobj(GZIP).decompress(data, size)
        except zlib.error as error:
            raise self._broken(error, None) from None

    def blocks(self, stream: IO[bytes], line: int = 1) -> Iterator[bytes]:
        """The rest of the content in blocks of whole lines; the last line gets a newline if it has none."""
        while data := self.take(stream, BLOCK, line):
            if not data.endswith(b"\n"):
                data = b"".join([data, *self._rest_of_line(stream, line)])
                if not data.endswith(b"\n"):
                    data += b"\n"
            if self.packed:  # only a damaged gzip stream needs this count, and decompressing takes far longer
                line += data.count(b"\n")
            yield data

    def lines(self, format: str) -> Iterator[tuple[int, str]]:
        """The number and the text of every line of a file in this format, which is UTF-8."""
        with self.text() as stream:
            for number, raw in enumerate((raw for block in self.blocks(stream) for raw in io.BytesIO(block)), start=1):
                try:
                    yield number, raw.decode()
                except UnicodeDecodeError:
                    problem = f"bytes that are not UTF-8 text; expected {format}: save it as UTF-8"
                    raise self.fail(problem, number) from None

    def _rest_of_line(self, stream: IO[bytes], line: int) -> Iterator[bytes]:
        """Up to the newline, or the end of the file, in pieces."""
        piece = b" " * BLOCK
        while len(piece) == BLOCK and not piece.endswith(b"\n"):
            piece = self._read(stream, stream.readline, BLOCK, line)
            yield piece

    def exactly(self, stream: IO[bytes], size: int, what: str) -> bytes:
        """Exactly `size` bytes, or an error that says what is missing. A false size allocates no memory."""
        if not self.packed and size > self.size:
            raise self.fail(
                f"has {self.size:,} bytes; expected {size:,} bytes of {what} in it: truncated, or not this format"
            )
        pieces, missing = [], size
        while missing and (piece := self.take(stream, min(missing, BLOCK))):
            pieces.append(piece)
            missing -= len(piece)
        if missing:
            raise self.fail(f"ends {missing:,} bytes early; expected {size:,} bytes of {what}: truncated")
        return b"".join(pieces)

    def _broken(self, error: Exception, line: int | None) -> FormatError:
        if isinstance(error, EOFError):
            where = "" if line is None else " somewhere after this line"
            return self.fail(
                f"the gzip stream ends too early{where}; expected its end mark: download the file again", line
            )
        return self.fail(f"the gzip stream is damaged ({error}); expected a complete .gz file", line)
