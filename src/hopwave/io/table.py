"""Tables of edges as text: CSV, TSV and similar, with or without a header, with numbers or names as vertices.

`sheet_of` finds delimiter, comments and header of any table, `rows` reads its cells with their line numbers. A row with
an empty second cell is an isolated vertex; a row with one cell is an error. Tables do not say whether the graph is
directed.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hopwave.errors import FormatError
from hopwave.graph import Graph
from hopwave.io.columns import Column, Table, choose, filled, has_titles, is_header
from hopwave.io.format import (
    Format,
    Numbering,
    Request,
    Target,
    check_missing,
    listed_first,
    plain_labels,
    weight_cells,
    write_columns,
)
from hopwave.io.lines import LARGEST_NUMBER, NUMERIC, Grammar, Problem, float_of, read_edges
from hopwave.io.source import BYTE_ORDER_MARK, LONE_RETURN, Source

DELIMITERS = ",;\t|"
SAMPLE = 50  # rows that are inspected
MARK = BYTE_ORDER_MARK.decode()
QUOTED = re.compile(r'(?:^|(?<=[,;\t| ]))"[^"]*+"', re.MULTILINE)
# An id as pandas writes it in a column with an empty cell, 1.0, or Excel if it is long, 1.2E+11.
POINTED = re.compile(r"\s*+-?\d++(?:\.0*+|(?:\.\d*+)?[eE][+-]?\d++)\s*+", re.ASCII)
SEPARATOR = re.compile("sep=(.)", re.IGNORECASE)  # Excel's first line, which names the delimiter
DECIMAL_COMMA = re.compile(r"[+-]?\d++,\d++", re.ASCII)
MISSING = ("", "na", "n/a", "null", "none")  # what other programs write for a missing weight


class Sheet(NamedTuple):
    """How the text of a table is laid out, according to its first lines."""

    delimiter: str
    before: int  # lines before the first row: blank lines, comments, Excel's sep=
    header: bool  # the first row is a header
    titles: list[str]  # of the columns; their positions as text, if there is no header
    titled: bool
    below: list[list[str]]  # the first rows below the header
    starts: list[str]  # the first character of each of them: csv removes quotes from cells

    @property
    def line(self) -> int:
        """The line of the first row."""
        return self.before + 1

    def table(self) -> Table:
        """What `choose` needs to know."""
        return Table(
            self.titles, self.titled, lambda place: _are_numbers(filled(self.below, place)),
            lambda place: filled(self.below, place), self.line,
        )  # fmt: skip


def sheet_of(source: Source, delimiter: str | None = None, header: bool | None = None) -> Sheet:
    """The layout of a table; `delimiter` and `header` are what the caller says about it."""
    opening, text = _opening(source)
    if delimiter is not None and len(delimiter) != 1:
        raise TypeError(f"delimiter={delimiter!r} is not one character; leave it out to have it detected")
    if delimiter is None:
        delimiter = _delimiter(source, opening, text)
    rows, starts = _sample(text, delimiter)
    if titles := _titles_in_comments(source, opening, rows, delimiter, header):
        return Sheet(delimiter, len(opening), False, titles, True, rows, starts)
    if header is None:
        header = is_header(rows)
    if header is None:
        shown = ", ".join(repr(cell[:40]) for cell in rows[0][:2])
        raise source.fail(
            f"the first row ({shown}) may be a header or an edge; expected to be told: pass header=True or "
            "header=False",
            len(opening) + 1,
        )
    titles = rows[0] if header else [str(i) for i in range(len(rows[0]))]
    return Sheet(delimiter, len(opening), header, titles, header, rows[header:], starts[header:])


def _opening(source: Source) -> tuple[list[str], str]:
    """The blank lines and comments before the first row, and the other complete lines among the first bytes."""
    raw = source.start(1 << 16)
    if not raw.strip():
        raise source.fail("empty; expected rows with the two ends of an edge", 1)
    if b"\0" in raw:
        problem = "a NUL byte in the text; expected a table: save it as UTF-8"
        raise source.fail(problem, raw[: raw.index(b"\0")].count(b"\n") + 1)
    whole = raw if len(raw) < 1 << 16 or b"\n" not in raw else raw[: raw.rindex(b"\n") + 1]
    lines = list(io.StringIO(whole.decode("utf-8-sig", "replace"), newline="\n"))
    for before, line in enumerate(lines):
        bare = line.removeprefix(MARK).strip()
        if bare and bare[0] != "#" and (before or not SEPARATOR.fullmatch(bare)):
            return lines[:before], "".join(lines[before:]).removeprefix(MARK)
        if "\r" in line.rstrip("\r\n"):
            raise source.fail(LONE_RETURN, before + 1)
    raise source.fail(
        "begins with comments and no row; expected rows with the two ends of an edge: put a name that begins with # "
        "in quotes", 1,
    )  # fmt: skip


def _delimiter(source: Source, opening: list[str], text: str) -> str:
    """What Excel's line or the extension says, else the only delimiter in the first row, or a space if it has none."""
    if opening and (said := SEPARATOR.fullmatch(opening[0].removeprefix(MARK).strip("\r\n"))):
        return said[1]
    if ".tsv" in map(str.lower, source.path.suffixes):
        return "\t"
    first = QUOTED.sub("", text).partition("\n")[0]
    found = [mark for mark in DELIMITERS if mark in first]
    if len(found) > 1:
        raise source.fail(
            f"the first row contains {' and '.join(map(repr, found))}; pass delimiter=, the one between cells",
            len(opening) + 1,
        )
    return found[0] if found else " "


def _titles_in_comments(
    source: Source, opening: list[str], rows: list[list[str]], delimiter: str, header: bool | None
) -> list[str]:
    """The titles that the last comment has, as in `#source,target`; none if the first row is a header itself.

    A comment like `#a,b` without known titles may as well be an edge, and is rejected.
    """
    comments = [i for i, line in enumerate(opening) if line.removeprefix(MARK).strip().startswith("#")]
    for i in comments:
        text = opening[i].removeprefix(MARK).strip(" \r\n").removeprefix("#")
        cells = _sample(text.strip(" "), delimiter)[0][0]
        if len(cells) < 2 or len(cells) != len(rows[0]) or any(map(NUMERIC.fullmatch, cells)):
            continue
        if i == comments[-1] and header is not False and has_titles(cells):
            return [] if is_header(rows) else cells
        if not text[:1].isspace():
            raise source.fail(
                f"found {opening[i].strip()[:40]!r}, a comment or an edge; expected a space after the # of a comment, "
                "quotes around a name that begins with #, or known titles in the last such line",
                i + 1,
            )
    return []


def _sample(text: str, delimiter: str) -> tuple[list[list[str]], list[str]]:
    """The first rows that are not blank, and the first character of each."""
    lines = list(io.StringIO(text, newline="\n"))  # only a newline ends a line, as in the reader
    rows: list[list[str]] = []
    starts: list[str] = []
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    begin = 0
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append(trimmed(row, lines[begin]))
                starts.append(lines[begin].lstrip()[:1])
            begin = reader.line_num
            if len(rows) == SAMPLE:
                break
    except csv.Error:  # `rows` reports it, with its line
        pass
    return rows or [[text[:40]]], starts or [""]


def rows(source: Source, sheet: Sheet) -> Iterator[tuple[int, list[str], bool]]:
    """For every row except blank ones and the header: the line where it ends, its cells, and whether it has quotes."""
    line = ""  # the last one that was read: the whole row, if it has no quotes

    def lines() -> Iterator[str]:
        nonlocal line
        number = 0
        with source.text() as stream:
            for block in source.blocks(stream):
                for raw in io.BytesIO(block):
                    number += 1
                    if number <= sheet.before:
                        yield "\n"
                        continue
                    if number == sheet.line:
                        raw = raw.removeprefix(BYTE_ORDER_MARK)
                    if b"\0" in raw:
                        raise source.fail("a NUL byte in the text; expected a table", number)
                    try:
                        line = raw.decode()
                    except UnicodeDecodeError:
                        problem = "bytes that are not UTF-8 text; expected a table: save it as UTF-8"
                        raise source.fail(problem, number) from None
                    yield line

    reader = csv.reader(lines(), delimiter=sheet.delimiter, skipinitialspace=True, strict=True)
    header = sheet.header
    try:
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            if header:
                header = False
                continue
            yield reader.line_num, trimmed(row, line), '"' in line
    except csv.Error as error:
        raise source.fail(f"{error}; expected a closing quote and then a delimiter", max(reader.line_num, 1)) from None


def trimmed(row: list[str], line: str) -> list[str]:
    """The cells without the spaces around them; those of a line with quotes stay: csv has removed the quotes."""
    return row if '"' in line else [cell.strip(" \xa0") for cell in row]  # Excel writes spaces that do not break


def _are_numbers(cells: list[str]) -> bool:
    return bool(cells) and all(NUMERIC.fullmatch(cell) or DECIMAL_COMMA.fullmatch(cell) for cell in cells)


def is_number(cell: str) -> bool:
    """Whether a cell is an integer."""
    text = cell.strip().removeprefix("-")
    return text.isascii() and text.isdigit()


# ---------------------------------------------------------------- edges


@dataclass(frozen=True)
class Layout:
    """Where the edges are in a table."""

    sheet: Sheet
    first: int
    second: int
    weight: int | None
    names: bool
    plain: bool  # ids are numbers because they look like numbers: 01 is rejected
    columns: int


def read(
    file: Source,
    request: Request,
    *,
    source: Column = None,
    target: Column = None,
    weight: Column = None,
    delimiter: str | None = None,
    header: bool | None = None,
    names: bool | None = None,
) -> Graph:
    """Read a table of edges, undirected by default.

    Delimiter and header are detected if not given; the columns are those with known titles, or the only two besides
    the weights. `names=True` reads every id as a name, `names=False` requires integers; by default the first row
    decides: if it has numbers without quotes, all ids must be numbers.
    """
    if header is None and any(isinstance(column, str) for column in (source, target, weight)):
        header = True
    sheet = sheet_of(file, delimiter, header)
    ends = choose(file, request, sheet.table(), (source, target, weight))
    plain = names is None
    if names is None:
        names = bool(sheet.below) and _has_names(sheet.below[0], sheet.starts[0], ends[:2])
    layout = Layout(sheet, *ends, names, plain, len(sheet.titles))
    if not names and ends[:2] == (0, 1) and layout.weight not in (0, 1):
        try:
            u, v, weights = _read_fast(file, layout)
        except FormatError:
            pass  # quotes, or an error: the careful reader below finds out which, and on which line
        else:
            return _numbered(file, request, u, v, weights)
    return _read_carefully(file, request, layout)


def _has_names(cells: list[str], start: str, ends: tuple[int, int]) -> bool:
    """Whether the vertices of a row are names: it starts with a quote, or an end is no number, not even 1.0."""
    given = [cells[i] for i in ends if i < len(cells) and cells[i].strip()]
    return start == '"' or not all(is_number(cell) or POINTED.fullmatch(cell) for cell in given)


def _read_fast(
    source: Source, layout: Layout
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64] | None]:
    grammar = Grammar(
        expected="two vertex ids" + ("" if layout.weight is None else " and a weight"),
        last=LARGEST_NUMBER,
        comments=b"",
        delimiter=layout.sheet.delimiter.encode().replace(b" ", b""),
        lone=True,
        weight=0 if layout.weight is None else layout.weight - 1,
        plain=layout.plain,
        columns=layout.columns,
    )
    with source.text() as stream:
        skipped = layout.sheet.before
        for number in range(skipped):
            source.line(stream, number + 1)
        while layout.sheet.header and not source.line(stream, skipped + 1).strip():
            skipped += 1
        u, v, weights, _ = read_edges(source, stream, skipped + 1, grammar)
    return u.astype(np.int64, copy=False), v.astype(np.int64, copy=False), weights


def _numbered(
    source: Source, request: Request, u: npt.NDArray[Any], v: npt.NDArray[Any], weights: npt.NDArray[Any] | None
) -> Graph:
    """The graph of integer ids; rows without a second end are isolated vertices."""
    is_edge = v >= 0
    kept = None if weights is None else weights[is_edge]
    return request.numbered(source, u[is_edge], v[is_edge], u[~is_edge], directed=None, weights=kept)


def _read_carefully(source: Source, request: Request, layout: Layout) -> Graph:
    """Read row by row with Python's csv module: it knows quotes, names, any columns, and the line of every error."""
    numbers = Numbering()
    u: list[int] = []
    v: list[int] = []
    w: list[float] = []
    number: Callable[[str], int] = numbers.__getitem__ if layout.names else _plain if layout.plain else _integer
    for line, row, quoted in rows(source, layout.sheet):
        try:
            _check_width(row, layout)
            first, second = row[layout.first], row[layout.second]
            if not first.strip():
                raise ValueError("an empty cell; expected a vertex: drop the row")
            if layout.names and layout.plain and not quoted:
                check_missing(first, second)
            u.append(number(first))
            if not second.strip():
                _check_lone(row, layout)
            v.append(number(second) if second.strip() else -1)
            if layout.weight is not None:
                w.append(_weight(row, layout.weight, layout) if second.strip() else 1.0)
        except ValueError as error:
            raise source.fail(str(error), line) from None
    ends = np.array(u, np.int64), np.array(v, np.int64)
    weights = None if layout.weight is None else np.array(w)
    if not layout.names:
        return _numbered(source, request, *ends, weights)
    keep = ends[1] >= 0
    kept = None if weights is None else weights[keep]
    return request.graph(
        source, ends[0][keep], ends[1][keep], len(numbers), directed=None, labels=numbers.labels(), weights=kept
    )


def _check_width(row: Sequence[str], layout: Layout) -> None:
    """Every row has both ends, and no more cells than the first: one with the delimiter in it would be cut."""
    if len(row) <= max(layout.first, layout.second):
        raise ValueError(
            f"too few cells: {len(row)}; expected {layout.columns} (an isolated vertex has an empty second cell)"
        )
    if any(cell.strip() for cell in row[layout.columns :]):
        remedy = "put a name with the delimiter in it in quotes" if layout.names else "write decimals with a point"
        raise ValueError(f"{len(row)} cells; expected {layout.columns}: {remedy}")


def _check_lone(row: Sequence[str], layout: Layout) -> None:
    """A row that has a weight, or a number that may be one, is an edge, and its second end is missing."""
    after = range(max(layout.first, layout.second) + 1, len(row))
    for column in after if layout.weight is None else (layout.weight,):
        if column < len(row) and NUMERIC.fullmatch(row[column]):
            raise ValueError(
                f"an empty cell before {row[column].strip()[:40]!r}; expected the second vertex "
                "(all cells after an isolated vertex are empty)"
            )


def _weight(row: Sequence[str], column: int, layout: Layout) -> float:
    if column >= len(row):
        raise ValueError(f"too few cells: {len(row)}; expected {layout.columns}, the weight among them")
    text = row[column].strip()
    if text.lower() in MISSING:
        raise ValueError(f"found {text!r} as the weight; expected a number: fill it in, or drop the row")
    if DECIMAL_COMMA.fullmatch(text):
        whole, _, digits = text[:40].partition(",")
        thousands = f", or {whole}{digits} if these are thousands" if len(digits) == 3 else ""
        raise ValueError(f"found {text[:40]!r} as the weight; expected a decimal point: {whole}.{digits}{thousands}")
    try:
        return float_of(text)
    except Problem as problem:
        raise ValueError(f"{problem} (weight= names another column, weights=False leaves them out)") from None


def _plain(cell: str) -> int:
    text = cell.strip()
    if len(text) > 1 and text[0] == "0" and is_number(text):
        raise ValueError(
            f"vertex {text[:40]!r} has a leading zero, which an integer id would lose; pass names=True to keep it as "
            f"text, or names=False to read it as {int(text[:40])}"
        )
    return _integer(cell)


def _integer(cell: str) -> int:
    text = cell.strip()
    if POINTED.fullmatch(text):
        raise ValueError(
            f"vertex {text[:40]} has a point or an exponent, as pandas writes ids in a column with an empty cell, and "
            "Excel long ones; write integers with astype('Int64') before to_csv, or pass names=True to keep it as text"
        )
    if not is_number(text):
        raise ValueError(f"found {cell[:40]!r}; expected a vertex id, an integer as in the first row (or names=True)")
    if text.startswith("-"):
        raise ValueError(f"vertex {text[:40]} is negative; expected ids from 0")
    if len(text) > len(str(LARGEST_NUMBER)):
        raise ValueError(f"vertex {text[:40]} is too large; expected at most 18 digits")
    return int(text)


def write(target: Target, graph: Graph, *, delimiter: str | None = None) -> None:
    """Write a header `source,target` or `source,target,weight`, and one row per edge.

    Strings are quoted, so that they are not read back as numbers.
    """
    if delimiter is None:
        delimiter = "\t" if ".tsv" in map(str.lower, target.path.suffixes) else ","
    elif delimiter not in DELIMITERS:
        raise TypeError(f"delimiter={delimiter!r} is not known; use one of , ; | or a tab")
    edges = graph.edges()
    u, v = edges.source, edges.target
    names = plain_labels(target, graph)
    cell, weights = weight_cells(edges.weights)
    end = f"{delimiter}{cell}\n" if cell else "\n"
    target.stream.write(f"source{delimiter}target{end.replace(cell, 'weight') if cell else end}".encode())
    lone = listed_first(graph, names, u, v)
    no_edge = f"{delimiter}%s{end.replace(cell, '') if cell else end}", np.full(len(lone), "")
    if names is None:
        write_columns(target, "%d" + no_edge[0], lone, no_edge[1])
        return write_columns(target, f"%d{delimiter}%d{end}", u, v, *weights)
    cells = np.array([_cell(target, name) for name in names], object)
    write_columns(target, "%s" + no_edge[0], cells[lone], no_edge[1])
    return write_columns(target, f"%s{delimiter}%s{end}", cells[u], cells[v], *weights)


def _cell(target: Target, name: str | int) -> str:
    if isinstance(name, int):
        if not 0 <= name <= LARGEST_NUMBER:
            raise target.fail(
                f"label {name}; integer ids in tables must be from 0 to 10^18 - 1; use .npz, or labels=False"
            )
        return str(name)
    if not name.strip() or "\0" in name:
        raise target.fail(f"label {name!r} would be an empty cell; use .npz, or drop labels with labels=False")
    return '"' + name.replace('"', '""') + '"'


FORMAT = Format(
    name="table",
    title="CSV and TSV",
    extensions=(".csv", ".tsv"),
    holds_labels=True,
    directedness="not in the file; undirected",
    read=read,
    write=write,
)
