"""A file being read, compressed or not, and text with one edge per line: its grammar and its reader."""

import errno
import io
import math
import os
import re
import stat
import sys
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from hopwave.errors import FormatError
from hopwave.graph.columns import EXACT_UP_TO
from hopwave.graph.csr import LARGEST_VERTEX_COUNT
from hopwave.system.files import GZIP, Unpacked
from hopwave.system.progress import Meter
from hopwave.system.threads import Pool, Task

BLOCK = 4 << 20  # bytes: a few hundred thousand edges, about ten milliseconds of work
LONGEST_HEADER_LINE = 1 << 20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # UTF-8 byte-order mark, which some editors write before the first character
LONE_RETURN = "a carriage return inside the line; convert the line endings to newlines"
# A compressed graph is 3 to 20 times smaller, and gzip reaches a ratio of at most about 1000. A file (.gz, .npz,
# .parquet) above this ratio repeats one byte and may expand to terabytes. In a .gz, the first bytes reveal most such
# files.
MOST_TIMES_UNPACKED = 300
FIRST_BYTES = 1 << 16
FREE_BYTES = 1 << 26  # unpacked bytes below which the ratio is not checked: little of the file was read
MIN_BYTES_FOR_SCANNER = 1 << 20  # reading fewer bytes takes less time than importing Numba
LARGEST_NUMBER = 10**18 - 1  # 18 digits
Item = TypeVar("Item")
Result = TypeVar("Result")
# Possessive (++, *+, ?+): a plain \d+\.?\d* tries every split of a long digit sequence before it fails.
NUMBER = r"[+-]?(?:\d++\.?+\d*+|\.\d++)(?:[eE][+-]?\d++)?+"
NUMERIC = re.compile(rf"\s*+{NUMBER}\s*+", re.ASCII)  # a number in a cell: an id or a weight


class Source:
    """One graph file. Content in gzip format is decompressed, whatever the extension."""

    def __init__(self, path: Path, meter: Meter) -> None:
        self.path = path
        self.meter = meter
        self._unpacked = 0
        unreadable = PermissionError(errno.EACCES, "not readable; ask its owner for permission", str(path))
        try:
            status = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            absent = "no such file; check the spelling and the folder"
            raise FileNotFoundError(errno.ENOENT, absent, str(path)) from None
        except PermissionError:  # permission of a parent folder
            raise unreadable from None
        if stat.S_ISDIR(status.st_mode):
            raise FormatError("is a folder; pass the path of a graph file", path)
        if not stat.S_ISREG(status.st_mode):
            raise FormatError("is a pipe or a device; save the data to a regular file first", path)
        self.size = status.st_size
        try:
            with path.open("rb") as raw:
                first = raw.read(FIRST_BYTES)
        except PermissionError:
            raise unreadable from None
        self.packed = first[:2] == b"\x1f\x8b"
        if self.packed and len(first) > FIRST_BYTES >> 3:
            most = MOST_TIMES_UNPACKED * len(first)
            with suppress(zlib.error):  # the reader will raise this error with its line
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
        """Like `open`, but skips a byte-order mark."""
        with self.open() as stream:
            if self.take(stream, len(BYTE_ORDER_MARK), 1) != BYTE_ORDER_MARK:
                stream.seek(0)
            yield stream

    def take(self, stream: IO[bytes], size: int, line: int | None = None) -> bytes:
        """At most `size` of the next bytes."""
        data = self._read(stream, stream.read, size, line)
        self.meter.update(self._raw.tell())
        return data

    def whole(self, stream: IO[bytes]) -> bytes:
        """All bytes after the stream's position."""
        return b"".join(iter(lambda: self.take(stream, BLOCK), b""))

    def _read(self, stream: IO[bytes], read: Callable[[int], bytes], size: int, line: int | None) -> bytes:
        """The result of `read`; damaged data or an excessive compression ratio raise an error."""
        try:
            data = read(size)
        except (EOFError, zlib.error) as error:
            raise self._broken(error, line) from None
        if self.packed and stream.tell() > max(FREE_BYTES, MOST_TIMES_UNPACKED * self._raw.tell()):
            raise self._bomb(line)
        return data

    def unpack(self, size: int) -> None:
        """Raise a FormatError before unpacking `size` bytes of a container if its compression ratio is excessive."""
        self._unpacked += size
        if self._unpacked > max(FREE_BYTES, MOST_TIMES_UNPACKED * self.size):
            raise self._bomb(None)

    def _bomb(self, line: int | None) -> FormatError:
        return self.fail(
            f"unpacks to more than {MOST_TIMES_UNPACKED} times its size, as no graph should; if it is one, unpack it "
            "(gunzip), or save it without compression (numpy.savez), and read the result",
            line,
        )

    def line(self, stream: IO[bytes], number: int) -> bytes:
        """The next line of a header with its newline, b"" after the last; long lines and lone returns are errors."""
        data = self._read(stream, stream.readline, LONGEST_HEADER_LINE, number)
        if len(data) == LONGEST_HEADER_LINE:
            raise self.fail(f"a header line of over {LONGEST_HEADER_LINE:,} bytes; expected a text file", number)
        if b"\r" in data.rstrip(b"\r\n"):
            raise self.fail(LONE_RETURN, number)
        return data

    def first_line(self, stream: IO[bytes], comment: bytes, number: int = 1) -> tuple[int, bytes]:
        """The number and text of the next line that is neither blank nor a comment; (last line, b"") at the end."""
        while (text := self.line(stream, number)) and (not text.strip() or text.lstrip().startswith(comment)):
            number += 1
        return (number if text else max(number - 1, 1)), text

    def start(self, size: int = 1 << 16) -> bytes:
        """The first bytes of the content, to detect the format. A truncated file gives fewer."""
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
            pieces = [data]
            while not pieces[-1].endswith(b"\n"):  # the last line of the file gets a newline
                pieces.append(self._read(stream, stream.readline, BLOCK, line) or b"\n")
            data = b"".join(pieces)
            if self.packed:  # only errors about damaged gzip streams need this count; decompression takes far longer
                line += data.count(b"\n")
            yield data

    def lines(self, format: str) -> Iterator[tuple[int, str]]:
        """The number and the text of every line of a file in this format, decoded as UTF-8; NUL is an error."""
        with self.text() as stream:
            for number, raw in enumerate((raw for block in self.blocks(stream) for raw in io.BytesIO(block)), start=1):
                try:
                    text = raw.decode()
                except UnicodeDecodeError:
                    latin = f"not UTF-8 (as Latin-1, the line is {short(raw.decode('latin-1').strip())})"
                    which = "UTF-16" if number == 1 and raw[:2] in (b"\xff\xfe", b"\xfe\xff") else latin
                    problem = f"the encoding is {which}; save the file as UTF-8"
                    raise self.fail(problem, number) from None
                if "\0" in text:
                    raise self.fail(f"a NUL byte in the text; expected {format}", number)
                yield number, text

    def exactly(self, stream: IO[bytes], size: int, what: str) -> bytes:
        """Exactly `size` bytes, or an error that names the missing part. A false size allocates no memory."""
        if not self.packed and size > self.size:
            raise self.fail(f"has {self.size:,} bytes; expected {size:,} bytes of {what}: truncated, or another format")
        pieces, missing = [], size
        while missing and (piece := self.take(stream, min(missing, BLOCK))):
            pieces.append(piece)
            missing -= len(piece)
        if missing:
            raise self.fail(f"ends {missing:,} bytes early; expected {size:,} bytes of {what}: truncated")
        return b"".join(pieces)

    def _broken(self, error: Exception, line: int | None) -> FormatError:
        if not isinstance(error, EOFError):
            return self.fail(f"the gzip stream is damaged ({error}); expected a complete .gz file", line)
        where = "" if line is None else " somewhere after this line"
        return self.fail(f"the gzip stream ends too early{where}; download the file again", line)


# ---------------------------------------------------------------- lines


class Problem(Exception):
    """An error in a line. The reader adds the file and the line number and raises a FormatError."""


def float_of(text: str, *, whole: bool = False, real: bool = False, needed: bool = True) -> float:
    """Parse a number. `whole`: it must be an integer. `real`, or not `needed`: it may be rounded.

    A number with a point or an exponent is rounded to the nearest float64; an integer must be exact.
    """
    digits = text.strip().lstrip("+-")
    try:
        if not text.isascii() or "_" in text or (whole and not digits.isdecimal()):
            raise ValueError
        value = float(text)
    except ValueError:
        raise Problem(f"found {short(text)} as the value; expected {'an integer' if whole else 'a number'}") from None
    if math.isnan(value):
        raise Problem("the value is NaN; drop or replace the entry")
    if needed and math.isinf(value) and digits[:1].lower() != "i":
        raise Problem(f"the value {short(text)} is too large for float64; it must be below 1.8e308")
    exact = real or not needed or not digits.isdecimal() or abs(value) < EXACT_UP_TO
    if not exact and int(digits.lstrip("0")) != abs(value):
        otherwise = "" if whole else ", or write it with a point, as in 1.0, to round it"
        problem = f"the value {short(text)} is an integer that float64 cannot represent exactly"
        raise Problem(f"{problem}; use a smaller one{otherwise}")
    return value


def short(found: str | int) -> str:
    """A text or a number for an error message."""
    return repr(found if isinstance(found, int) or len(found) <= 40 else f"{found[:40]}...")


def shown(text: bytes) -> str:
    """A piece of a file for an error message: short and on one line, whatever bytes it contains."""
    return short(text.strip(b"\r\n").decode("utf-8", "backslashreplace"))


def counts(words: list[bytes]) -> list[int]:
    """The counts of a header; empty if a word is not a count."""
    return [int(word) for word in words] if all(word.isdigit() and len(word) <= 40 for word in words) else []


@dataclass(frozen=True)
class Grammar:
    """Syntax of the line of an edge: [prefix] number number [values]."""

    expected: str  # description of a correct line in error messages
    first: int = 0  # smallest vertex id in the file
    last: int = LARGEST_VERTEX_COUNT - 1
    comments: bytes = b"#%"  # one or two characters that start a comment
    prefix: bytes = b""  # a letter before every edge
    delimiter: bytes = b""  # empty: spaces and tabs
    values: int | None = None  # number of values after the vertices; None: the rest of the line is ignored
    whole: bool = False  # values must be integers
    lone: bool = False  # the second cell may be empty, for an isolated vertex; the second endpoint is then -1
    real: bool = False  # values are declared as real: integers are also rounded to the nearest float64
    weight: int = 0  # column of the weight after the two vertices, from 1; 0: every weight is 1
    plain: bool = False  # an id with a leading zero, as in 01, is rejected: it may be a name
    columns: int = 0  # maximum cells per line; 0: any number

    def row(self, line: bytes) -> tuple[int, int, float] | None:
        """The edge of one line, with vertices counted from 0, and its weight; None for an empty line or a comment."""
        text = line.strip(b" \t\r\n")
        if b"\r" in text:
            raise Problem(LONE_RETURN)
        if not text or text[0] in self.comments:
            return None
        if b"\0" in text:
            raise Problem(f"a NUL byte in the text; expected {self.expected}")
        if self.prefix:
            if text[:1] != self.prefix or not text[1:2].isspace():
                raise Problem(f"found {shown(line)}; expected {self.expected}")
            text = text[1:]
        if self.delimiter:
            if b'"' in text:
                raise Problem(f"found {shown(line)}; remove the quotes")
            fields = [field.strip() for field in text.split(self.delimiter)]
        else:
            fields = text.split()
        if self.lone and len(fields) > 1 and fields[0] and not any(fields[1:]):
            return self._vertex(fields[0], line), -1, 1.0
        if len(fields) < 2 or (self.values is not None and len(fields) != 2 + self.values):
            raise Problem(f"found {shown(line)}; expected {self.expected}")
        if self.columns and any(fields[self.columns :]):
            raise Problem(f"{len(fields)} cells; expected {self.columns}")
        u, v = self._vertex(fields[0], line), self._vertex(fields[1], line)
        if self.weight and not any(fields[1 + self.weight : 2 + self.weight]):
            raise Problem(f"found {shown(line)} without a weight; expected {self.expected}")
        read = range(2, len(fields)) if self.values else [1 + self.weight] if self.weight else []
        numbers = {i: self._value(fields[i]) for i in read}
        return u, v, numbers.get(1 + self.weight, 1.0)

    def as_numbers(self) -> tuple[Any, ...]:
        """The fields of `scan.Shape`, for the compiled scanner."""
        comments = (self.comments * 2)[:2] or b"\n\n"  # a newline starts no comment
        tab = b" " if self.delimiter == b"\t" else b"\t"
        marks = ord(self.delimiter or b"\0"), ord(tab), *comments, ord(self.prefix or b"\0")
        values = -1 if self.values is None else self.values
        lone = self.lone and self.delimiter not in (b"", b"\t")  # a tab at the end of a line is white space
        return self.first, self.last, *marks, values, self.whole, self.weight, lone, self.plain, self.columns

    def _vertex(self, field: bytes, line: bytes) -> int:
        if self.plain and len(field) > 1 and field[:1] == b"0":
            raise Problem(f"found {shown(field)} in {shown(line)}; expected an id without a leading zero")
        if not field.isdigit():
            negative = field[:1] == b"-" and field[1:].isdigit()
            found = (
                f"vertex {field[:40].decode()} is negative" if negative else f"found {shown(field)} in {shown(line)}"
            )
            raise Problem(f"{found}; expected {self.expected}")
        number = int(field) if len(field) <= 40 else sys.maxsize
        if not self.first <= number <= self.last:
            told = field.decode() if len(field) <= 40 else f"a number of {len(field)} digits"
            which = f"large: the last is {self.last}" if number > self.last else f"small: the first is {self.first}"
            raise Problem(f"vertex {told} is too {which}; expected {self.expected}")
        return number - self.first

    def _value(self, field: bytes) -> float:
        text = field.decode("utf-8", "backslashreplace")
        return float_of(text, whole=self.whole, real=self.real, needed=bool(self.weight))


class Parsed(NamedTuple):
    """The edges of a block up to the first line with an error, the number of lines read, and that error."""

    u: npt.NDArray[Any]
    v: npt.NDArray[Any]
    w: npt.NDArray[np.float64]  # empty if the grammar has no weight
    lines: int
    trouble: str | None = None


def read_edges(
    source: Source, stream: IO[bytes], line: int, grammar: Grammar, declared: int | None = None, what: str = "edges"
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[np.float64] | None, int]:
    """All edges from the stream's position, the start of `line`: both ends, the weights if any, and the last line.

    `declared` is the number of `what` in the file's header; another number raises an error.
    """
    wide = np.int64 if grammar.last - grammar.first >= LARGEST_VERTEX_COUNT else np.int32
    parts, total = [Parsed(np.empty(0, wide), np.empty(0, wide), np.empty(0), 0)], 0
    for block, parsed in threaded(source.blocks(stream, line), lambda data, fast: _parse(data, grammar, wide, fast)):
        if declared is not None and total + len(parsed.u) > declared:
            rows = (number for number, text in enumerate(block.split(b"\n"), line) if grammar.row(text) is not None)
            surplus = next(islice(rows, declared - total, None))
            raise source.fail(f"more {what} than the {declared:,} in the header; correct one of them", surplus)
        line += parsed.lines
        if parsed.trouble is not None:
            raise source.fail(parsed.trouble, line)
        parts.append(parsed)
        total += len(parsed.u)
    last = max(line - 1, 1)
    if declared is not None and total < declared:
        raise source.fail(f"ends after {total:,} {what}; the header declares {declared:,}", last)
    u, v, w = (np.concatenate([part[i] for part in parts]) for i in range(3))
    return u, v, w if grammar.weight else None, last


def threaded(blocks: Iterator[bytes], work: Callable[[bytes, bool], Result]) -> Iterator[tuple[bytes, Result]]:
    """(block, work(block, fast)) for each block, in order. A file of one small block is read without threads."""
    first = next(blocks, b"")
    if len(first) >= MIN_BYTES_FOR_SCANNER:
        yield from pipelined(chain([first], blocks), lambda block: work(block, True))
    elif first:  # a second block exists only after a short read
        yield from ((block, work(block, False)) for block in chain([first], blocks))


def pipelined(items: Iterable[Item], work: Callable[[Item], Result]) -> Iterator[tuple[Item, Result]]:
    """(item, work(item)) for each item, in order, computed by all cores; at most two items per core are pending."""
    pool = Pool(min(os.cpu_count() or 1, 16))
    waiting: deque[tuple[Item, Task[Result]]] = deque()
    try:
        for item in items:
            waiting.append((item, pool.begin(work, item)))
            if len(waiting) > 2 * pool.threads:
                done, task = waiting.popleft()
                yield done, task.result()
        while waiting:
            done, task = waiting.popleft()
            yield done, task.result()
    finally:
        pool.stopped = True


def _parse(block: bytes, grammar: Grammar, wide: type[Any], fast: bool) -> Parsed:
    room = len(block) // 2 + 1  # the shortest line is a digit and a newline; unused pages use no memory
    u, v, w = np.empty(room, wide), np.empty(room, wide), np.empty(room if grammar.weight else 0)
    data, bits = np.frombuffer(block, np.uint8), w.view(np.uint64) if grammar.weight else None
    if fast:
        from hopwave.io import scan

        shape = scan.Shape(*grammar.as_numbers())
    position = row = lines = 0
    trouble = None
    while position < len(block):
        if fast:
            position, row, passed = scan.pairs(data, position, u, v, bits, row, shape)
            lines += passed
            if position >= len(block):
                break
        end = block.index(b"\n", position)
        try:
            edge = grammar.row(block[position:end])
        except Problem as problem:
            trouble = str(problem)
            break
        if edge is not None:
            u[row], v[row] = edge[:2]
            w[row : row + 1] = edge[2]
            row += 1
        position = end + 1
        lines += 1
    return Parsed(u[:row], v[:row], w[:row], lines, trouble)
