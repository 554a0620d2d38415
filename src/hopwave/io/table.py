"""Tables of edges as text: CSV, TSV and similar, with or without a header, with numbers or names as vertices."""

import csv
import re
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, suppress
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from hopwave.checks.options import flag_or_none
from hopwave.errors import FormatError
from hopwave.graph import Graph
from hopwave.graph.columns import NOTHING, by_direction, object_array
from hopwave.io.columns import Column, Table, choose, filled, has_titles, is_header
from hopwave.io.format import (
    IDS,
    Request,
    Target,
    explained,
    listed_first,
    numbering,
    plain_labels,
    weight_cells,
    write_columns,
)
from hopwave.io.lines import LARGEST_NUMBER, LONE_RETURN, NUMERIC, Grammar, Problem, Source, float_of, read_edges

DELIMITERS = ",;\t|"
SAMPLE = 50  # number of rows inspected to detect the layout
QUOTED = re.compile(r'(?:^|(?<=[,;\t| ]))"[^"]*+(?:"|$)')
# An id as pandas writes it in a column with empty cells (1.0), or as Excel writes a long one (1.2E+11).
POINTED = re.compile(r"\s*+-?\d++(?:\.0*+|(?:\.\d*+)?[eE][+-]?\d++)\s*+", re.ASCII)
SEPARATOR = re.compile("sep=(.)", re.IGNORECASE)  # Excel's first line, which names the delimiter
DECIMAL_COMMA = re.compile(r"[+-]?\d++,\d++", re.ASCII)
NO_ROW = "contains no row besides comments; quote names that begin with #"
LISTS_VERTICES = "# Vertices: rows without a target"  # hopwave's comment before the header if the table has such rows
MISSING = ("", "na", "n/a", "null", "none")  # notations of other programs for a missing weight


class Row(NamedTuple):
    """A row of a table: its last line, its cells without quotes, and its text with quotes."""

    line: int
    cells: list[str]
    text: str = ""
    delimiter: str = " "

    def quoted(self) -> list[bool]:
        """Which cells are quoted."""
        if '"' not in self.text:
            return [False] * len(self.cells)
        mark = re.escape(self.delimiter)
        found = re.findall(rf' *+("(?:[^"]|"")*+"[^{mark}]*+|[^{mark}]*+)(?:{mark}|$)', self.text.rstrip("\r\n"))
        return [cell.startswith('"') for cell in found][: len(self.cells)]


class Sheet(NamedTuple):
    """The layout of a table, detected from its first lines."""

    delimiter: str
    before: list[str]  # lines before the first row: blank lines, comments, Excel's sep=
    below: list[Row]  # the first rows below the header
    table: Table


def sheet_of(source: Source, delimiter: str | None = None, header: bool | None = None, decimal: str = ".") -> Sheet:
    """The layout of a table; `delimiter`, `header` and `decimal` are the caller's arguments."""
    if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter) != 1):
        raise TypeError(f"delimiter={delimiter!r} is not one character; omit it to detect the delimiter")
    if decimal not in (".", ","):
        raise TypeError(f"decimal={decimal!r} is not known; pass '.' or ','")
    opening, first = _opening(source)
    delimiter = delimiter or _delimiter(source, opening, first, decimal)
    found = list(islice(rows(source, delimiter, len(opening)), SAMPLE))
    cells = [row.cells for row in found]
    if not found:
        raise source.fail(NO_ROW, 1)
    for number, comment in enumerate(opening, start=1):
        words = next(csv.reader([comment.lstrip("# ")], delimiter=delimiter), [])
        if len(words) != len(cells[0]) or any(map(NUMERIC.fullmatch, words)) or has_titles(cells[0]):
            continue
        if comment.startswith("#") and (not comment[1:2].isspace() or has_titles(words)):
            raise source.fail(
                f"found {comment[:40]!r}, which may be a comment, a header or an edge; remove the # of a header, quote "
                "a name that begins with #, or put a space after the # of a comment",
                number,
            )
    header = is_header(cells) if header is None else header
    if header is None:
        row = f"the first row ({', '.join(repr(cell[:40]) for cell in cells[0][:2])}) may be a header or an edge"
        raise source.fail(f"{row}; pass header=True or header=False", len(opening) + 1)
    titles = cells[0] if header else [str(i) for i in range(len(cells[0]))]
    columns = [filled(cells[header:], place) for place in range(len(titles))]

    def is_number(place: int) -> bool:
        found = columns[place]
        return bool(found) and all(NUMERIC.fullmatch(cell) or DECIMAL_COMMA.fullmatch(cell) for cell in found)

    table = Table(titles, header, is_number, len(opening) + 1)
    return Sheet(delimiter, opening, found[header:], table)


def _opening(source: Source) -> tuple[list[str], str]:
    """The blank lines and comments before the first row, and its first line."""
    opening: list[str] = []
    for number, line in source.lines("a table"):
        text = line.strip()
        if text and text[0] != "#" and (opening or not SEPARATOR.fullmatch(text)):
            return opening, line
        if "\r" in line.rstrip("\r\n"):
            raise source.fail(LONE_RETURN, number)
        opening.append(text)
    raise source.fail(NO_ROW, 1)


def _delimiter(source: Source, opening: list[str], first: str, decimal: str) -> str:
    """The delimiter of Excel's sep= line or of the extension, else the only one in the first row, else a space."""
    if opening and (said := SEPARATOR.fullmatch(opening[0])):
        return said[1]
    if ".tsv" in map(str.lower, source.path.suffixes):
        return "\t"
    bare = QUOTED.sub("", first)
    found = [mark for mark in DELIMITERS if mark in bare]
    found = [mark for mark in found if mark != decimal or len(found) == 1]
    if len(found) > 1:
        marks, line = " and ".join(map(repr, found)), len(opening) + 1
        problem = f"the first row contains {marks}"
        raise source.fail(f"{problem}; pass the delimiter between cells as delimiter=, or decimal=','", line)
    return found[0] if found else " "


def rows(source: Source, delimiter: str, before: int = 0) -> Iterator[Row]:
    """Every row that is not blank, after `before` lines; unquoted cells lose outer spaces."""
    whole = ""  # the text of the row so far: a name in quotes may contain a newline

    def lines() -> Generator[str, None, None]:
        nonlocal whole
        for number, line in source.lines("a table"):
            whole += line
            yield line if number > before else "\n"

    with closing(lines()) as text:  # close the file after an error
        reader = csv.reader(text, delimiter=delimiter, skipinitialspace=True, strict=True)
        try:
            for row in reader:
                found = Row(reader.line_num, [cell.strip(" \xa0") for cell in row], whole, delimiter)
                whole = ""
                if '"' in found.text and found.cells != row:  # Excel writes non-breaking spaces
                    kept = zip(row, found.cells, found.quoted(), strict=True)
                    found = found._replace(cells=[cell if quoted else bare for cell, bare, quoted in kept])
                if any(cell.strip() for cell in row):
                    yield found
        except csv.Error as error:
            problem = f"{error}; expected a closing quote followed by a delimiter"
            raise source.fail(problem, max(reader.line_num, 1)) from None


def is_number(cell: str) -> bool:
    """Whether a cell is an integer."""
    text = cell.strip().removeprefix("-")
    return text.isascii() and text.isdigit()


# ---------------------------------------------------------------- edges


Columns = tuple[Any, Any, Any, list[str]]  # both endpoints, weights or None, and cells of the direction column


class Layout(NamedTuple):
    """Positions of endpoints, weight and direction in a row."""

    first: int
    second: int
    weight: int | None
    way: int | None  # column that marks directed edges
    names: bool
    plain: bool  # names= was not passed: 01 and NA are ambiguous and rejected
    columns: int | None = None  # maximum cells per row; None: any number
    decimal: str = "."  # decimal mark of weights
    lone: bool = False  # a row without a second endpoint lists a vertex, as in hopwave's files


def read(
    file: Source,
    request: Request,
    *,
    source: Column = None,
    target: Column = None,
    weight: Column = None,
    delimiter: str | None = None,
    sep: str | None = None,
    decimal: str = ".",
    header: bool | None = None,
    names: bool | None = None,
    isolated: bool | None = None,
) -> Graph:
    """Read a table of edges; by default, the first row decides whether ids are names. `sep` means `delimiter`."""
    isolated = flag_or_none("isolated", isolated)
    if sep is not None and delimiter is not None:
        raise TypeError(f"sep={sep!r} and delimiter={delimiter!r} are the same option; pass one of them")
    if header is None and any(isinstance(column, str) for column in (source, target, weight)):
        header = True
    sheet = sheet_of(file, delimiter if sep is None else sep, header, decimal)
    ends = choose(file, request, sheet.table, (source, target, weight))
    plain = names is None
    if names is None:  # names are quoted, or are not numbers such as 1.0
        row = sheet.below[0] if sheet.below else Row(0, [])
        given = [i for i in ends[:2] if i < len(row.cells) and row.cells[i].strip()]
        names = any(row.quoted()[i] or not (is_number(row.cells[i]) or POINTED.fullmatch(row.cells[i])) for i in given)
    listed = LISTS_VERTICES in sheet.before if isolated is None else isolated
    layout = Layout(*ends, names, plain, len(sheet.table.titles), decimal, listed)
    known = numbering() if names else None
    found: Columns | None = None
    if not names and ends[:2] == (0, 1) and layout.weight not in (0, 1) and layout.way is None and decimal == ".":
        with suppress(FormatError):  # quotes or an error: the row reader below handles both
            found = _read_fast(file, sheet, layout)
    if found is None:

        def below() -> Iterator[Row]:
            return islice(rows(file, sheet.delimiter, len(sheet.before)), int(sheet.table.titled), None)

        found = columns_of(file, below, layout, known)
    u, v, weights, cells = found
    is_edge = v >= 0  # a row without a second endpoint lists an isolated vertex
    alone, u, v, weights = u[~is_edge], u[is_edge], v[is_edge], None if weights is None else weights[is_edge]
    directed = None
    if layout.way is not None:
        with explained(file):
            u, v, weights, directed = by_direction(sheet.table.titles[layout.way], cells, u, v, weights)
    if known is None:
        return request.numbered(file, u, v, alone, directed=directed, weights=weights)
    labels = object_array(list(known))
    return request.graph(file, u, v, len(known), directed=directed, labels=labels, weights=weights)


def _read_fast(source: Source, sheet: Sheet, layout: Layout) -> Columns:
    expected = "two vertex ids" + ("" if layout.weight is None else " and a weight")
    grammar = Grammar(
        expected, last=LARGEST_NUMBER, comments=b"", delimiter=sheet.delimiter.encode().replace(b" ", b""),
        lone=layout.lone, weight=0 if layout.weight is None else layout.weight - 1, plain=layout.plain,
        columns=layout.columns or 0,
    )  # fmt: skip
    with source.text() as stream:
        skipped = len(sheet.before)
        for number in range(skipped):
            source.line(stream, number + 1)
        while sheet.table.titled and not source.line(stream, skipped + 1).strip():
            skipped += 1
        return *read_edges(source, stream, skipped + 1, grammar)[:3], []


def columns_of(
    source: Source, rows: Callable[[], Iterator[Row]], layout: Layout, names: dict[str, int] | None
) -> Columns:
    """The columns of a table, read row by row: supports quotes and names, and reports the line of an error."""
    u, v, w, ways = list[int](), list[int](), list[float](), list[str]()
    number: Callable[[str], int] = partial(_integer, plain=layout.plain) if names is None else names.__getitem__
    ends, guessed = (layout.first, layout.second), layout.names and layout.plain
    needed, most = max(*ends, layout.weight or 0, layout.way or 0), layout.columns or sys.maxsize
    for line, row, *raw in rows():  # no variable holds the iterator, so an error closes the file
        try:
            if not needed < len(row) <= most:
                _check_width(row, layout)
            first, second = row[layout.first], row[layout.second]
            lone = not second.strip()
            if not first.strip():
                raise ValueError("an empty cell instead of a vertex; drop the row")
            missing = [row[i] for i in ends if guessed and row[i] in NOTHING and row[i]]
            if missing and not all(Row(line, row, *raw).quoted()[i] for i in ends if row[i] in missing):
                remedy = "drop the row, or pass names=True if it is a name"
                raise ValueError(f"{missing[0]!r} may be a missing endpoint; {remedy}")
            if lone:
                _check_lone(row, layout)
            u.append(number(first))
            v.append(-1 if lone else number(second))
            if layout.weight is not None:
                w.append(1.0 if lone else _weight(row, layout.weight, layout.decimal))
            if layout.way is not None and not lone:
                ways.append(row[layout.way] if layout.way < len(row) else "")
        except ValueError as error:
            raise source.fail(str(error), line) from None
    return np.array(u, np.int64), np.array(v, np.int64), None if layout.weight is None else np.array(w), ways


def _check_width(row: Sequence[str], layout: Layout) -> None:
    """Check the number of cells: at least endpoints and weight, at most those of the first row."""
    columns, needed = layout.columns, max(layout.first, layout.second)
    if len(row) <= needed:
        raise ValueError(f"too few cells: {len(row)}; expected {columns or needed + 1}")
    if any(cell.strip() for cell in row[columns:] if columns):
        remedy = "quote names that contain the delimiter" if layout.names else "write decimals with a point"
        raise ValueError(f"{len(row)} cells; expected {columns}: {remedy}")
    if layout.weight is not None and layout.weight >= len(row) and row[layout.second].strip():
        raise ValueError(f"too few cells: {len(row)}; expected {columns or layout.weight + 1}, including the weight")


def _check_lone(row: Sequence[str], layout: Layout) -> None:
    """Reject an empty second endpoint in a row with a weight or a number that may be a weight."""
    if not layout.lone:
        remedy = "drop the row, or pass isolated=True if such rows list isolated vertices"
        raise ValueError(f"an empty cell after {row[layout.first][:40]!r} instead of the second vertex; {remedy}")
    after = range(max(layout.first, layout.second) + 1, len(row))
    for column in after if layout.weight is None else (layout.weight,):
        if column < len(row) and NUMERIC.fullmatch(row[column]):
            raise ValueError(
                f"an empty cell before {row[column].strip()[:40]!r} instead of the second vertex "
                "(all cells after an isolated vertex must be empty)"
            )


def _weight(row: Sequence[str], column: int, decimal: str) -> float:
    text = row[column].strip()
    if decimal == ",":
        if "." in text:
            raise ValueError(f"found {text[:40]!r} as the weight; omit decimal=',' or the point")
        text = text.replace(",", ".", 1)
    if text.lower() in MISSING:
        raise ValueError(f"found {text!r} as the weight; enter a number, or drop the row")
    if DECIMAL_COMMA.fullmatch(text):
        whole, _, digits = text[:40].partition(",")
        thousands = f", or {whole}{digits} if these are thousands" if len(digits) == 3 else ""
        point = f"a decimal point: {whole}.{digits}{thousands}"
        raise ValueError(f"found {text[:40]!r} as the weight; expected {point}, or pass decimal=','")
    try:
        return float_of(text)
    except Problem as problem:
        raise ValueError(f"{problem} (weight= selects another column, weights=False ignores weights)") from None


def _integer(cell: str, plain: bool) -> int:
    text = cell.strip()
    if plain and len(text) > 1 and text[0] == "0" and is_number(text):
        raise ValueError(
            f"vertex {text[:40]!r} has a leading zero, which an integer id would lose; pass names=True to keep it as "
            f"text, or names=False to read it as {int(text[:40])}"
        )
    if POINTED.fullmatch(text):
        raise ValueError(
            f"vertex {text[:40]} has a point or an exponent: pandas adds a point if a column has empty cells, Excel "
            "an exponent to long ids; call astype('Int64') before to_csv, or pass names=True to keep it as text"
        )
    if not is_number(text):
        raise ValueError(f"found {cell[:40]!r}; expected an integer as in the first row; pass names=True to read names")
    if text.startswith("-"):
        raise ValueError(f"vertex {text[:40]} is negative; ids must be at least 0")
    if len(text) > len(str(LARGEST_NUMBER)):
        raise ValueError(f"vertex {text[:40]} is too large; ids have at most 18 digits")
    return int(text)


def write(target: Target, graph: Graph, *, delimiter: str | None = None) -> None:
    """Write a header and one row per edge; strings are quoted, so that they are not read back as numbers."""
    if delimiter is None:
        delimiter = "\t" if ".tsv" in map(str.lower, target.path.suffixes) else ","
    elif delimiter not in DELIMITERS:
        raise TypeError(f"delimiter={delimiter!r} is not known; use one of , ; | or a tab")
    edges = graph.edges()
    u, v = edges.source, edges.target
    names = plain_labels(target, graph, IDS)
    cell, weights = weight_cells(edges.weights)
    end = delimiter + "{}\n" if cell else "\n"
    lone = listed_first(graph, names, u, v)
    mark = f"{LISTS_VERTICES}\n" if len(lone) else ""
    target.stream.write(f"{mark}source{delimiter}target{end.format('weight')}".encode())
    mark, cells = "%d", np.arange(graph.n)
    if names is not None:
        mark, cells = "%s", np.array([_cell(target, name) for name in names], object)
    write_columns(target, f"{mark}{delimiter}%s{end.format('')}", cells[lone], np.full(len(lone), ""))
    write_columns(target, f"{mark}{delimiter}{mark}{end.format(cell)}", cells[u], cells[v], *weights)


def _cell(target: Target, name: str | int) -> str:
    if isinstance(name, int):
        return str(name)
    if not name.strip() or "\0" in name:
        raise target.fail(f"label {name!r} would be an empty cell; use .npz, or drop labels with labels=False")
    return '"' + name.replace('"', '""') + '"'
