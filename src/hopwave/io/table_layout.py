"""How a table of edges as text is laid out: comments, delimiter, header and columns, guessed from its first lines."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from typing import NamedTuple

from hopwave.graph.columns import says_direction, warn_of_direction
from hopwave.io.edge_columns import PAIRS, Column, choose, is_index, warn_of_guess
from hopwave.io.format import Request, warn_ignored
from hopwave.io.numbers import NUMERIC
from hopwave.io.source import BYTE_ORDER_MARK, LONE_RETURN, Source

DELIMITERS = ",;\t| "
SAMPLE = 50  # rows that are looked at
MARK = BYTE_ORDER_MARK.decode()
# An id as pandas writes it beside an empty cell, 1.0, or Excel if it is long, 1.2E+11.
POINTED = re.compile(r"\s*+-?\d++(?:\.0*+|(?:\.\d*+)?[eE][+-]?\d++)\s*+", re.ASCII)
SEPARATOR = re.compile("sep=.", re.IGNORECASE)  # Excel's first line, which names the delimiter
DECIMAL_COMMA = re.compile(r"[+-]?\d++,\d++", re.ASCII)


class Wanted(NamedTuple):
    """What the caller says about a table. None: look at its first lines."""

    first: Column
    second: Column
    weight: Column
    delimiter: str | None
    header: bool | None
    names: bool | None


@dataclass(frozen=True)
class Layout:
    """How the table is laid out, according to its first lines."""

    delimiter: str
    header: bool
    first: int
    second: int
    names: bool
    columns: int
    weight: int | None
    plain: bool  # ids are numbers because they look like it: 01 is refused
    before: int  # lines before the first row: blank ones, comments, and titles after a #


def layout_of(source: Source, request: Request, wanted: Wanted) -> Layout:
    """What the caller says about the table; the rest is guessed from its first lines."""
    opening, text = _opening(source)
    delimiter = wanted.delimiter
    if delimiter is None:
        delimiter = "\t" if ".tsv" in map(str.lower, source.path.suffixes) else _guess_delimiter(text)
    elif len(delimiter) != 1:
        raise TypeError(f"delimiter={delimiter!r} is not one character; leave it out to have it detected")
    rows, starts = _sample(text, delimiter)
    hashed = _titles_after_hash(source, opening, rows, delimiter, wanted)
    if hashed:
        rows, starts = [hashed, *rows], ["#", *starts]
    line = len(opening) + (not hashed)
    header = True if hashed else wanted.header
    if header is None:
        by_name = any(isinstance(column, str) for column in (wanted.first, wanted.second, wanted.weight))
        header = by_name or _has_header(source, rows, line)
    titles = rows[0] if header else [str(i) for i in range(len(rows[0]))]
    below = rows[1:] if header else rows
    chosen = choose(
        source, request, titles, (wanted.first, wanted.second, wanted.weight), line,
        is_number=lambda place: _are_numbers(_filled(below, place)),
    )  # fmt: skip
    if (wanted.first, wanted.second, wanted.weight) == (None, None, None) and chosen.guessed:
        check_no_matrix(source, rows, line, "source=0 and target=1")
    ends, weight, _ = chosen
    if header and chosen.guessed:
        warn_of_guess(source, titles, [_kind(_filled(rows[1:], i)) for i in range(len(titles))], chosen)
    for column, title in enumerate(titles if request.directed is None else ()):
        if column not in ends and says_direction(title):
            warn_of_direction(title, _filled(rows[1:], column), f"{source.path}: ")
    if request.weights and weight is None:
        _warn_of_numbers(source, rows, header, ends)
    names = wanted.names
    if names is None:
        row = 1 if header else 0
        names = row < len(rows) and _has_names(rows[row], starts[row], ends)
    plain = wanted.names is None
    return Layout(delimiter, header and not hashed, *ends, names, len(rows[0]), weight, plain, len(opening))


def _opening(source: Source) -> tuple[list[str], str]:
    """The blank lines and comments before the first row, and the other whole lines among the first bytes."""
    lines = list(io.StringIO(_first_lines(source), newline="\n"))
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


def _titles_after_hash(
    source: Source, opening: list[str], rows: list[list[str]], delimiter: str, wanted: Wanted
) -> list[str]:
    """The cells of the last comment, if they are titles: as many as the first row has, which is not a header itself.

    A comment like `#a,b` that has no known titles may as well be an edge, and is refused.
    """
    named = {column for column in (wanted.first, wanted.second, wanted.weight) if isinstance(column, str)}
    numbers = [i for i, line in enumerate(opening) if line.removeprefix(MARK).strip().startswith("#")]
    for i in numbers:
        text = opening[i].removeprefix(MARK).strip(" \r\n").removeprefix("#")
        cells = _sample(text.strip(" "), delimiter)[0][0]
        if len(cells) < 2 or len(cells) != len(rows[0]) or any(map(NUMERIC.fullmatch, cells)):
            continue
        if i == numbers[-1] and wanted.header is not False:
            return [] if (named and named.issubset(rows[0])) or is_header(rows) else cells
        if not text[:1].isspace():
            raise source.fail(
                f"found {opening[i].strip()[:40]!r}, a comment or an edge; expected a blank after the # of a comment, "
                "quotes around a name that begins with #, or titles in the last such line (without header=False)",
                i + 1,
            )
    return []


def _warn_of_numbers(source: Source, rows: list[list[str]], header: bool, ends: tuple[int, int]) -> None:
    """Warn of the columns of numbers that are neither end of an edge."""
    found: dict[int | str, str] = {}
    for column, title in enumerate(rows[0]):
        cells = _filled(rows[1:] if header else rows, column)
        if column not in ends and _are_numbers(cells) and not (header and is_index(title)):
            found[title if header and rows[0].count(title) == 1 else column] = f"{cells[0].strip()}, …"
    warn_ignored(source, found)


def _are_numbers(cells: list[str]) -> bool:
    return bool(cells) and all(NUMERIC.fullmatch(cell) or DECIMAL_COMMA.fullmatch(cell) for cell in cells)


def _kind(cells: list[str]) -> str:
    """The kind of a column's cells: "id", "text" or "" for neither."""
    if all(cell.strip().isdecimal() for cell in cells):
        return "id" if cells else ""
    return "" if any(map(NUMERIC.fullmatch, cells)) else "text"


def _filled(rows: list[list[str]], column: int) -> list[str]:
    """The cells of a column that are not empty."""
    return [row[column] for row in rows if column < len(row) and row[column].strip()]


def _first_lines(source: Source) -> str:
    """The whole lines among the first bytes of the file."""
    raw = source.start(1 << 16)
    if not raw.strip():
        raise source.fail("empty; expected rows with the two ends of an edge", 1)
    if b"\0" in raw:
        problem = "a NUL byte in the text; expected a table: save it as UTF-8"
        raise source.fail(problem, raw[: raw.index(b"\0")].count(b"\n") + 1)
    whole = raw if len(raw) < 1 << 16 or b"\n" not in raw else raw[: raw.rindex(b"\n") + 1]
    return whole.decode("utf-8-sig", "replace")


def _has_names(cells: list[str], start: str, ends: tuple[int, int]) -> bool:
    """Whether the vertices of a row are names: it starts with a quote, or an end is no number, not even 1.0."""
    given = [cells[i] for i in ends if i < len(cells) and cells[i].strip()]
    return bool(cells) and (start == '"' or not all(is_number(cell) or POINTED.fullmatch(cell) for cell in given))


def _has_header(source: Source, rows: list[list[str]], line: int) -> bool:
    """Whether the first row is a header. Text above text may be either: a wrong guess would add an edge or lose one."""
    found = is_header(rows)
    if found is not None:
        return found
    shown = ", ".join(repr(cell[:40]) for cell in rows[0][:2])
    told = "expected to be told: give header=True or header=False"
    raise source.fail(f"the first row ({shown}) may be a header or an edge; {told}", line)


def is_header(rows: list[list[str]]) -> bool | None:
    """Whether the first row is a header: it has known column names, or text above a column of numbers. None: unsure."""
    first, below = rows[0], rows[1:]
    found = {cell.strip().lower() for cell in first}
    if "weight" in found or any(found.issuperset(pair) for pair in PAIRS):
        return True
    if any(NUMERIC.fullmatch(cell) for cell in first):
        return False
    for column, title in enumerate(first):
        cells = _filled(below, column)
        if title.strip() and cells and all(NUMERIC.fullmatch(cell) for cell in cells):
            return True
    return False if len(first) < 2 else None  # one cell is an error, and `choose` says which


def check_no_matrix(source: Source, rows: list[list[str]], line: int, otherwise: str) -> None:
    """Refuse an adjacency matrix, with or without the names of its vertices: its rows are no edges.

    `otherwise` is what to give if the first two columns are the ends of edges.
    """
    titles, below = rows[0], rows[1:]
    names = [row[0] for row in below][: len(titles) - 1]
    named = len(titles) > 2 and names == titles[1:][: len(below)] and not NUMERIC.fullmatch(titles[0])
    if named and are_numbers([row[1:] for row in below]) and len(below[0]) == len(titles):
        made = "table = pandas.read_csv(…, index_col=0) and Graph.from_scipy(csr_array(table)).relabel(list(table))"
    elif is_square(rows) or is_square(below):
        made = "Graph.from_scipy(csr_array(numpy.loadtxt(…)))"
    else:
        return
    raise source.fail(
        f"{len(titles)} columns that look like an adjacency matrix; expected a list of edges: {made}, with "
        f"scipy.sparse.csr_array, reads a matrix; give {otherwise} if the first two columns are the ends of an edge",
        line,
    )


def is_square(rows: list[list[str]]) -> bool:
    """Whether the first rows of a file may be a matrix: as many as columns, the diagonal constant, and symmetric or 0.

    A table of as many columns as the sample has rows, or more, is no list of edges: other rows are not needed.

    >>> is_square([["0", "1", "5"], ["1", "0", "2"], ["5", "2", "0"]])
    True
    >>> is_square([["1", "2", "3"], ["2", "3", "1"], ["3", "1", "2"]])  # edges of a triangle, with weights
    False
    """
    size = len(rows[0]) if rows else 0
    if size < 3 or not are_numbers(rows) or size >= SAMPLE:
        return size >= SAMPLE and are_numbers(rows)
    values = [[float(cell) for cell in row] for row in rows]
    if len(rows) != size or any(values[i][i] != values[0][0] for i in range(size)):
        return False
    return values == [list(column) for column in zip(*values, strict=True)] or (size > 3 and values[0][0] == 0)


def are_numbers(rows: list[list[str]]) -> bool:
    """Whether all cells are numbers, in rows of the same length."""
    return len(set(map(len, rows))) == 1 and all(NUMERIC.fullmatch(cell) for row in rows for cell in row)


def _guess_delimiter(text: str) -> str:
    """The first delimiter that splits all rows into the same number of cells; else the commonest in the first line.

    In `1;2;3,5` the comma is no delimiter: it is not in the first cell, and the semicolon makes more cells.
    """
    widths: dict[str, int] = {}
    for delimiter in DELIMITERS:
        rows = _sample(text, delimiter)[0]
        if len(rows[0]) > 1 and len(set(map(len, rows))) == 1:
            widths[delimiter] = len(rows[0])
            if delimiter == ";" and "," in widths and any("," in row[0] for row in rows):
                del widths[delimiter]
    if widths.get(";", 0) > widths.get(",", 0):
        return ";"
    return next(iter(widths), max(DELIMITERS, key=text.lstrip().partition("\n")[0].count))


def _sample(text: str, delimiter: str) -> tuple[list[list[str]], list[str]]:
    """The first rows that are not blank, and the first character of each: csv removes quotes from cells."""
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
    except csv.Error:  # the careful reader reports it, with its line
        pass
    return rows or [[text[:40]]], starts or [""]


def trimmed(row: list[str], line: str) -> list[str]:
    """The cells without the blanks around them; those of a line with quotes stay: csv has removed the quotes.

    >>> trimmed(["a ", "b"], "a , b"), trimmed(["a ", "b"], '"a ", b')
    (['a', 'b'], ['a ', 'b'])
    """
    return row if '"' in line else [cell.strip(" \xa0") for cell in row]  # of Excel, a blank that does not break


def is_number(cell: str) -> bool:
    """Whether a cell is a whole number."""
    text = cell.strip().removeprefix("-")
    return text.isascii() and text.isdigit()
