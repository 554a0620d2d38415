"""Text with one edge a line: what a line may hold, and how millions of them are read.

`Grammar.row` defines what is right, one line at a time. Large files go through `scan.pairs`, which reads the plain
lines of a block fast and hands every other line back to `Grammar.row`; small files never wake the compiler.
"""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import IO, Any, TypeVar

import numpy as np
import numpy.typing as npt

from hopwave.csr import LARGEST_VERTEX_COUNT
from hopwave.io.source import Source

COMPILED_FROM = 1 << 20  # bytes; below, Python is done before Numba is imported
LARGEST_NUMBER = 10**18 - 1  # what fits 18 digits
Result = TypeVar("Result")


class Problem(Exception):
    """What is wrong with a line; whoever knows the file and the line's number makes a FormatError of it."""


@dataclass(frozen=True)
class Grammar:
    """What a line with an edge looks like: [prefix] number number [values].

    >>> Grammar("two vertices", first=1, last=9).row(b"3 4")
    (2, 3)
    """

    expected: str  # how an error message calls a right line
    first: int = 0  # the number of the first vertex in the file
    last: int = LARGEST_VERTEX_COUNT - 1
    comments: bytes = b"#%"  # one or two characters that start a comment
    prefix: bytes = b""  # a letter in front of every edge
    delimiter: bytes = b""  # empty: spaces and tabs
    values: int | None = None  # how many numbers follow; None: anything may, and is not looked at
    whole: bool = False  # those numbers are integers
    lone: bool = False  # a line with only the first vertex names a vertex; its second end is -1

    def row(self, line: bytes) -> tuple[int, int] | None:
        """The edge of one line, counted from 0; None for an empty line or a comment."""
        text = line.strip(b" \t\r\n")
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
        if self.lone and fields[0] and not any(fields[1:]):
            return self._vertex(fields[0], line), -1
        if len(fields) < 2 or (self.values is not None and len(fields) != 2 + self.values):
            raise Problem(f"found {shown(line)}; expected {self.expected}")
        edge = self._vertex(fields[0], line), self._vertex(fields[1], line)
        for field in fields[2:] if self.values else ():
            self._value(field)
        return edge

    def _vertex(self, field: bytes, line: bytes) -> int:
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

    def _value(self, field: bytes) -> None:
        try:
            value = int(field) if self.whole else float(field)
            if b"_" in field:
                raise ValueError
        except ValueError:
            kind = "an integer" if self.whole else "a number"
            raise Problem(f"found {shown(field)} as the value; expected {kind}") from None
        if math.isnan(value):
            raise Problem("the value is NaN; expected a number: drop or replace the entry")


@dataclass
class _Parsed:
    """A block's edges, its number of lines, and the trouble that ended it: (lines before it, what is wrong)."""

    u: npt.NDArray[Any]
    v: npt.NDArray[Any]
    lines: int
    trouble: tuple[int, str] | None = None


def read_rows(
    source: Source,
    stream: IO[bytes],
    line: int,
    grammar: Grammar,
    *,
    declared: int | None = None,
    what: str = "edges",
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], int]:
    """All edges from `line`, where the stream stands, to the end; with them the number of the last line.

    `declared` is how many of `what` the file's header announces: more or fewer are an error.
    """
    wide = np.int64 if grammar.last - grammar.first >= LARGEST_VERTEX_COUNT else np.int32
    us: list[npt.NDArray[Any]] = []
    vs: list[npt.NDArray[Any]] = []
    total = 0
    for block, parsed in in_threads(source.blocks(stream, line), lambda data, fast: _parse(data, grammar, wide, fast)):
        if declared is not None and total + len(parsed.u) > declared:
            surplus = line + _lines_before(block, grammar, declared - total)
            raise source.fail(f"more {what} than the {declared:,} that the header declares; expected the end", surplus)
        if parsed.trouble is not None:
            raise source.fail(parsed.trouble[1], line + parsed.trouble[0])
        us.append(parsed.u)
        vs.append(parsed.v)
        total += len(parsed.u)
        line += parsed.lines
    last = max(line - 1, 1)
    if declared is not None and total < declared:
        raise source.fail(f"ends after {total:,} {what}; expected the {declared:,} that the header declares", last)
    empty = np.empty(0, wide)
    return np.concatenate([empty, *us]), np.concatenate([empty, *vs]), last


def in_threads(blocks: Iterator[bytes], work: Callable[[bytes, bool], Result]) -> Iterator[tuple[bytes, Result]]:
    """(block, work(block, fast)) for each block, in order. A file of one small block is worked on here and now."""
    first = next(blocks, None)
    if first is None:
        return
    if len(first) < COMPILED_FROM:
        yield first, work(first, False)
        for block in blocks:  # none, unless one enormous line made the first block short
            yield block, work(block, False)
        return
    workers = min(os.cpu_count() or 1, 16)
    waiting: deque[tuple[bytes, Future[Result]]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        try:
            waiting.append((first, pool.submit(work, first, True)))
            for block in blocks:
                waiting.append((block, pool.submit(work, block, True)))
                if len(waiting) > 2 * workers:
                    done, future = waiting.popleft()
                    yield done, future.result()
            while waiting:
                done, future = waiting.popleft()
                yield done, future.result()
        finally:
            for _, future in waiting:
                future.cancel()


def _parse(block: bytes, grammar: Grammar, wide: type[Any], fast: bool) -> _Parsed:
    room = len(block) // 2 + 1  # the shortest line is a digit and its end; untouched pages cost nothing
    u, v = np.empty(room, wide), np.empty(room, wide)
    data = np.frombuffer(block, np.uint8)
    comments = (grammar.comments * 2)[:2] or b"\n\n"
    position = row = lines = 0
    while position < len(block):
        if fast:
            from hopwave.io import scan

            position, row, passed = scan.pairs(
                data, position, u, v, row, grammar.first, grammar.last,
                ord(grammar.delimiter or b"\0"), comments[0], comments[1], ord(grammar.prefix or b"\0"),
                -1 if grammar.values is None else grammar.values, grammar.whole,
            )  # fmt: skip
            lines += passed
            if position >= len(block):
                break
        end = block.index(b"\n", position)
        try:
            edge = grammar.row(block[position:end])
        except Problem as problem:
            return _Parsed(u[:row], v[:row], lines, (lines, str(problem)))
        if edge is not None:
            u[row], v[row] = edge
            row += 1
        position = end + 1
        lines += 1
    return _Parsed(u[:row], v[:row], lines)


def _lines_before(block: bytes, grammar: Grammar, edges: int) -> int:
    """How many lines of a block stand before its edge number `edges`."""
    for number, line in enumerate(block.split(b"\n")):
        if grammar.row(line) is not None:
            if edges == 0:
                return number
            edges -= 1
    return 0


def shown(text: bytes) -> str:
    """A piece of a file as an error message can show it: short, on one line, whatever bytes it holds."""
    short = text.strip(b"\r\n")
    return repr((short if len(short) <= 40 else short[:40] + b"...").decode("utf-8", "backslashreplace"))
