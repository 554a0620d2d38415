"""Text with one edge per line: what a line may contain, and how millions of lines are read.

`Grammar.row` defines what a correct line is. For large files, `scan.pairs` reads the simple lines of a block fast and
leaves every other line to `Grammar.row`. Small files never start the compiler.
"""

from __future__ import annotations

import math
import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import IO, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from hopwave.graph.columns import EXACT_UP_TO
from hopwave.graph.csr import LARGEST_VERTEX_COUNT
from hopwave.io.source import LONE_RETURN, Source
from hopwave.system.threads import Pool, Task

MIN_BYTES_FOR_SCANNER = 1 << 20  # with fewer, Python has finished before Numba is imported
LARGEST_NUMBER = 10**18 - 1  # 18 digits
Item = TypeVar("Item")
Result = TypeVar("Result")
# Possessive (++, *+, ?+): a plain \d+\.?\d* tries every way to cut a long row of digits in two before it gives up.
NUMBER = r"[+-]?(?:\d++\.?+\d*+|\.\d++)(?:[eE][+-]?\d++)?+"
NUMERIC = re.compile(rf"\s*+{NUMBER}\s*+", re.ASCII)  # a number in a cell: an id or a weight


class Problem(Exception):
    """What is wrong with a line. The reader, which knows the file and the line number, turns it into a FormatError."""


def float_of(text: str, *, whole: bool = False, real: bool = False) -> float:
    """The number that a text is. `whole`: it must be an integer. `real`: it stands for the nearest float64.

    Any number with a point or an exponent stands for the nearest float64; an integer only for itself.
    """
    value = rounded(text, whole=whole)
    digits = text.strip().lstrip("+-")
    if math.isinf(value) and digits[:1].lower() != "i":
        raise Problem(f"the value {short(text)} is too large for float64; expected less than 1.8e308")
    if digits.isdecimal() and not real and abs(value) >= EXACT_UP_TO and int(digits.lstrip("0")) != abs(value):
        otherwise = "" if whole else ", or one with a point, as in 1.0, which is rounded"
        raise Problem(
            f"the value {short(text)} is an integer that float64 cannot hold exactly; expected a smaller one{otherwise}"
        )
    return value


def rounded(text: str, *, whole: bool = False) -> float:
    """The float64 nearest to a number, infinity for one that is too large."""
    try:
        if not text.isascii() or "_" in text or (whole and not text.strip().lstrip("+-").isdecimal()):
            raise ValueError
        value = float(text)
    except ValueError:
        raise Problem(f"found {short(text)} as the value; expected {'an integer' if whole else 'a number'}") from None
    if math.isnan(value):
        raise Problem("the value is NaN; expected a number: drop or replace the entry")
    return value


def short(text: str) -> str:
    """A text for an error message."""
    return repr(text if len(text) <= 40 else f"{text[:40]}...")


@dataclass(frozen=True)
class Grammar:
    """What the line of an edge looks like: [prefix] number number [values]."""

    expected: str  # how an error message describes a correct line
    first: int = 0  # the number of the first vertex in the file
    last: int = LARGEST_VERTEX_COUNT - 1
    comments: bytes = b"#%"  # one or two characters that start a comment
    prefix: bytes = b""  # a letter before every edge
    delimiter: bytes = b""  # empty: spaces and tabs
    values: int | None = None  # how many numbers follow; None: anything may follow and is ignored
    whole: bool = False  # those numbers are integers
    lone: bool = False  # the second cell may be empty: a vertex without an edge; the second end is then -1
    real: bool = False  # they are declared as real: an integer among them, too, stands for the nearest float64
    weight: int = 0  # which column after the two vertices is the weight, counted from 1; 0: none, every weight is 1
    plain: bool = False  # an id with a zero before it, as in 01, is refused: it may be a name
    columns: int = 0  # the most cells of a line; 0: any number

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
                raise Problem(f"found {shown(line)}; expected no quotes")
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
        values = [self.value(field) for field in fields[2:]] if self.values else []
        if not self.weight:
            return u, v, 1.0
        if self.values:
            return u, v, values[self.weight - 1]
        if len(fields) < 2 + self.weight or not fields[1 + self.weight]:
            raise Problem(f"found {shown(line)} without a weight; expected {self.expected}")
        return u, v, self.value(fields[1 + self.weight])

    def as_numbers(self) -> tuple[int, int, int, int, int, int, int, bool, int, bool, bool, int]:
        """The fields of `scan.Shape`, for the compiled scanner."""
        comment, other_comment = (self.comments * 2)[:2] or b"\n\n"  # no comment starts with a newline
        delimiter, prefix = ord(self.delimiter or b"\0"), ord(self.prefix or b"\0")
        values = -1 if self.values is None else self.values
        lone = self.lone and self.delimiter not in (b"", b"\t")  # a tab at the end of a line is a blank
        marks = delimiter, comment, other_comment, prefix
        return self.first, self.last, *marks, values, self.whole, self.weight, lone, self.plain, self.columns

    def _vertex(self, field: bytes, line: bytes) -> int:
        if self.plain and len(field) > 1 and field[:1] == b"0":
            raise Problem(f"found {shown(field)} in {shown(line)}; expected an id without a zero before it")
        if field.isdigit() and len(field) <= 18 and self.first <= int(field) <= self.last:
            return int(field) - self.first
        if not field.isdigit():
            if field[:1] == b"-" and field[1:].isdigit():
                raise Problem(f"vertex {field.decode()} is negative; expected {self.expected}")
            raise Problem(f"found {shown(field)} in {shown(line)}; expected {self.expected}")
        if len(field) > 40 or int(field) > self.last:
            number = field.decode() if len(field) <= 40 else f"a number of {len(field)} digits"
            raise Problem(f"vertex {number} is too large: the last is {self.last}; expected {self.expected}")
        if int(field) < self.first:
            raise Problem(f"vertex {field.decode()} is too small: the first is {self.first}; expected {self.expected}")
        return int(field) - self.first  # a number with many leading zeros

    def value(self, field: bytes) -> float:
        """A number after the two vertices."""
        text = field.decode("utf-8", "backslashreplace")
        if not self.weight:  # nobody reads it: no matter how large it is
            return rounded(text, whole=self.whole)
        return float_of(text, whole=self.whole, real=self.real)


class EdgeColumns(NamedTuple):
    """The edges of a file: both ends, the weights if the grammar has them, and the number of the last line."""

    u: npt.NDArray[Any]
    v: npt.NDArray[Any]
    weights: npt.NDArray[np.float64] | None
    line: int


@dataclass
class _Parsed:
    """A block's edges and its number of lines; `trouble` is (lines before the bad line, what is wrong with it)."""

    u: npt.NDArray[Any]
    v: npt.NDArray[Any]
    w: npt.NDArray[np.float64]  # empty if the grammar has no weight
    lines: int
    trouble: tuple[int, str] | None = None


def read_edges(
    source: Source,
    stream: IO[bytes],
    line: int,
    grammar: Grammar,
    *,
    declared: int | None = None,
    what: str = "edges",
) -> EdgeColumns:
    """All edges from the stream's position, which is the start of `line`, to its end.

    `declared` is the number of `what` that the file's header declares: more or fewer are an error.
    """
    wide = np.int64 if grammar.last - grammar.first >= LARGEST_VERTEX_COUNT else np.int32
    parts, total = [_Parsed(np.empty(0, wide), np.empty(0, wide), np.empty(0), 0)], 0
    for block, parsed in in_threads(source.blocks(stream, line), lambda data, fast: _parse(data, grammar, wide, fast)):
        if declared is not None and total + len(parsed.u) > declared:
            surplus = line + _lines_before(block, grammar, declared - total)
            raise source.fail(
                f"more {what} than the {declared:,} that the header declares; expected the end of the file", surplus
            )
        if parsed.trouble is not None:
            raise source.fail(parsed.trouble[1], line + parsed.trouble[0])
        parts.append(parsed)
        total += len(parsed.u)
        line += parsed.lines
    last = max(line - 1, 1)
    if declared is not None and total < declared:
        raise source.fail(f"ends after {total:,} {what}; expected the {declared:,} that the header declares", last)
    u, v, w = (np.concatenate([getattr(part, name) for part in parts]) for name in "uvw")
    return EdgeColumns(u, v, w if grammar.weight else None, last)


def in_threads(blocks: Iterator[bytes], work: Callable[[bytes, bool], Result]) -> Iterator[tuple[bytes, Result]]:
    """(block, work(block, fast)) for each block, in order. A file of one small block is read without threads."""
    first = next(blocks, None)
    if first is None:
        return
    if len(first) < MIN_BYTES_FOR_SCANNER:
        yield first, work(first, False)
        for block in blocks:  # none, unless a read came back short
            yield block, work(block, False)
        return
    yield from pipelined(chain([first], blocks), lambda block: work(block, True))


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


def _parse(block: bytes, grammar: Grammar, wide: type[Any], fast: bool) -> _Parsed:
    room = len(block) // 2 + 1  # the shortest line is a digit and a newline; unused pages cost nothing
    u, v, w = np.empty(room, wide), np.empty(room, wide), np.empty(room if grammar.weight else 0)
    data = np.frombuffer(block, np.uint8)
    if fast:
        from hopwave.io import scan

        shape = scan.Shape(*grammar.as_numbers())
    position = row = lines = 0
    while position < len(block):
        if fast:
            bits = w.view(np.uint64) if grammar.weight else None
            position, row, passed = scan.pairs(data, position, u, v, bits, row, shape)
            lines += passed
            if position >= len(block):
                break
        end = block.index(b"\n", position)
        try:
            edge = grammar.row(block[position:end])
        except Problem as problem:
            return _Parsed(u[:row], v[:row], w[:row], lines, (lines, str(problem)))
        if edge is not None:
            u[row], v[row] = edge[:2]
            if grammar.weight:
                w[row] = edge[2]
            row += 1
        position = end + 1
        lines += 1
    return _Parsed(u[:row], v[:row], w[:row], lines)


def _lines_before(block: bytes, grammar: Grammar, edges: int) -> int:
    """How many lines of a block come before its edge number `edges`."""
    for number, line in enumerate(block.split(b"\n")):
        if grammar.row(line) is not None:
            if edges == 0:
                return number
            edges -= 1
    return 0


def shown(text: bytes) -> str:
    """A piece of a file for an error message: short and on one line, whatever bytes it contains."""
    short = text.strip(b"\r\n")
    return repr((short if len(short) <= 40 else short[:40] + b"...").decode("utf-8", "backslashreplace"))
