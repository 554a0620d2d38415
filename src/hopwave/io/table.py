"""Tables of edges as text: CSV, TSV and similar, with or without a header, with numbers or names as vertices.

A row with an empty second cell is a vertex without an edge; a row with one cell is an error. Tables do not say whether
the graph is directed.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hopwave.errors import FormatError
from hopwave.graph import Graph
from hopwave.io.edge_columns import PAIRS, Column, choose, is_index, warn_of_guess
from hopwave.io.format import Format, Request, Target, warn_ignored, weight_cells, write_columns
from hopwave.io.lines import LARGEST_NUMBER, Grammar, read_edges
from hopwave.io.numbers import NUMERIC, Problem, float_of
from hopwave.io.source import Source
from hopwave.io.vertices import Numbering, compact, listed_first, plain_labels

DELIMITERS = ",;\t| "


class _Wanted(NamedTuple):
    """What the caller says about a table. None: look at its first lines."""

    first: Column
    second: Column
    weight: Column
    delimiter: str | None
    header: bool | None
    names: bool | None


@dataclass(frozen=True)
class _Layout:
    """How the table is laid out, according to its first lines."""

    delimiter: str
    header: bool
    first: int
    second: int
    names: bool
    columns: int
    weight: int | None
    plain: bool  # ids are numbers because they look like it: 01 is refused


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

    Delimiter, header and columns are detected if not given. `names=True` reads every id as a name, `names=False`
    requires integers; by default the first row decides: if it has numbers without quotes, all ids must be numbers.
    Weights are the column `weight=`, or one that the header calls weight or similar; any other column is ignored.
    """
    layout = _layout(file, request, _Wanted(source, target, weight, delimiter, header, names))
    if not layout.names and (layout.first, layout.second) == (0, 1) and layout.weight not in (0, 1):
        try:
            columns = _read_fast(file, layout)
        except FormatError:
            pass  # quotes, or an error: the careful reader below finds out which, and on which line
        else:
            return _numbered(file, request, *columns)
    return _read_carefully(file, request, layout)


def _layout(source: Source, request: Request, wanted: _Wanted) -> _Layout:
    """What the caller says about the table; the rest is guessed from its first lines."""
    text = _first_lines(source)
    delimiter = wanted.delimiter
    if delimiter is None:
        delimiter = "\t" if ".tsv" in map(str.lower, source.path.suffixes) else _guess_delimiter(text)
    elif len(delimiter) != 1:
        raise TypeError(f"delimiter={delimiter!r} is not one character; leave it out to have it detected")
    rows, starts = _sample(text, delimiter)
    header = wanted.header
    if header is None:
        by_name = any(isinstance(column, str) for column in (wanted.first, wanted.second, wanted.weight))
        header = by_name or _has_header(source, rows)
    titles = rows[0] if header else [str(i) for i in range(len(rows[0]))]
    chosen = choose(source, request, titles, (wanted.first, wanted.second, wanted.weight), 1)
    ends, weight, _ = chosen
    if header and chosen.guessed:
        warn_of_guess(source, titles, [_kind(_filled(rows[1:], i)) for i in range(len(titles))], chosen)
    if request.weights and weight is None:
        _warn_of_numbers(source, rows, header, ends)
    names = wanted.names
    if names is None:
        row = 1 if header else 0
        names = row < len(rows) and _has_names(rows[row], starts[row], ends)
    return _Layout(delimiter, header, *ends, names, len(rows[0]), weight, wanted.names is None)


def _warn_of_numbers(source: Source, rows: list[list[str]], header: bool, ends: tuple[int, int]) -> None:
    """Warn of the columns of numbers that are neither end of an edge."""
    found: dict[int | str, str] = {}
    for column, title in enumerate(rows[0]):
        cells = _filled(rows[1:] if header else rows, column)
        if column not in ends and cells and all(map(NUMERIC.fullmatch, cells)) and not (header and is_index(title)):
            found[title if header and rows[0].count(title) == 1 else column] = f"{cells[0].strip()}, …"
    warn_ignored(source, found)


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
        raise source.fail("a NUL byte in the text; expected a table", raw[: raw.index(b"\0")].count(b"\n") + 1)
    whole = raw if len(raw) < 1 << 16 or b"\n" not in raw else raw[: raw.rindex(b"\n") + 1]
    return whole.decode("utf-8-sig", "replace")


def _has_names(cells: list[str], start: str, ends: tuple[int, int]) -> bool:
    """Whether the vertices of a row are names: it starts with a quote, or an end is no number."""
    given = [cells[i] for i in ends if i < len(cells) and cells[i].strip()]
    return bool(cells) and (start == '"' or not all(map(_is_number, given)))


def _has_header(source: Source, rows: list[list[str]]) -> bool:
    """Whether the first row is a header, if that is certain: known column names, or text above a column of numbers.

    Text above text may be either, and a wrong guess would add an edge or lose one.
    """
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
    if len(first) < 2:
        return False  # an error, and `choose` says which
    shown = ", ".join(repr(cell[:40]) for cell in first[:2])
    raise source.fail(
        f"the first row ({shown}) may be a header or an edge; expected to be told: give header=True or header=False", 1
    )


def _guess_delimiter(text: str) -> str:
    """The first delimiter that splits all rows into the same number of cells; else the commonest in the first line."""
    for delimiter in DELIMITERS:
        widths = {len(row) for row in _sample(text, delimiter)[0]}
        if len(widths) == 1 and widths.pop() > 1:
            return delimiter
    return max(DELIMITERS, key=text.lstrip().partition("\n")[0].count)


def _sample(text: str, delimiter: str) -> tuple[list[list[str]], list[str]]:
    """The first rows that are not blank, and the first character of each: csv removes quotes from cells."""
    lines = list(io.StringIO(text, newline="\n"))  # only a newline ends a line, as in the reader
    rows: list[list[str]] = []
    starts: list[str] = []
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=delimiter == " ")
    begin = 0
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append(row)
                starts.append(lines[begin].lstrip()[:1])
            begin = reader.line_num
            if len(rows) == 50:
                break
    except csv.Error:  # the careful reader reports it, with its line
        pass
    return rows or [[text[:40]]], starts or [""]


def _is_number(cell: str) -> bool:
    text = cell.strip().removeprefix("-")
    return text.isascii() and text.isdigit()


def _read_fast(
    source: Source, layout: _Layout
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64] | None]:
    grammar = Grammar(
        expected="two vertex ids" + ("" if layout.weight is None else " and a weight"),
        last=LARGEST_NUMBER,
        comments=b"",
        delimiter=layout.delimiter.encode().replace(b" ", b""),
        lone=True,
        weight=0 if layout.weight is None else layout.weight - 1,
        plain=layout.plain,
        columns=layout.columns,
    )
    with source.text() as stream:
        skipped = 0
        while layout.header and not source.line(stream, skipped + 1).strip():
            skipped += 1
        u, v, weights, _ = read_edges(source, stream, skipped + 1, grammar)
    return u.astype(np.int64, copy=False), v.astype(np.int64, copy=False), weights


def _numbered(
    source: Source, request: Request, u: npt.NDArray[Any], v: npt.NDArray[Any], weights: npt.NDArray[Any] | None
) -> Graph:
    is_edge = v >= 0
    lone = u[~is_edge]
    u, v, weights = u[is_edge], v[is_edge], None if weights is None else weights[is_edge]
    greatest = max((int(ids.max()) for ids in (u, v, lone) if len(ids)), default=-1)
    if not request.labels or (request.n is not None and greatest < request.n):
        return request.graph(source, u, v, request.vertices(source, greatest + 1), directed=None, weights=weights)
    u, v, n, labels = compact(u, v, lone)
    return request.graph(source, u, v, request.vertices(source, n), directed=None, labels=labels, weights=weights)


def _read_carefully(source: Source, request: Request, layout: _Layout) -> Graph:
    """Read row by row with Python's csv module: it knows quotes, names, any columns, and the line of every error."""
    numbers = Numbering()
    u: list[int] = []
    v: list[int] = []
    w: list[float] = []
    number: Callable[[str], int] = numbers.__getitem__ if layout.names else _plain if layout.plain else _integer
    for line, row in _rows(source, layout):
        try:
            _check_width(row, layout)
            first, second = row[layout.first], row[layout.second]
            if not first.strip():
                raise ValueError("an empty cell; expected a vertex")
            u.append(number(first))
            if not second.strip():
                _check_lone(row, layout)
            v.append(number(second) if second.strip() else -1)
            if layout.weight is not None:
                w.append(_weight(row, layout.weight) if second.strip() else 1.0)
        except ValueError as error:
            raise source.fail(str(error), line) from None
    ends = np.array(u, np.int64), np.array(v, np.int64)
    weights = None if layout.weight is None else np.array(w)
    if not layout.names:
        return _numbered(source, request, *ends, weights)
    keep = ends[1] >= 0
    u_kept, v_kept, w_kept = ends[0][keep], ends[1][keep], None if weights is None else weights[keep]
    return request.graph(source, u_kept, v_kept, len(numbers), directed=None, labels=numbers.labels(), weights=w_kept)


def _check_lone(row: Sequence[str], layout: _Layout) -> None:
    """A row that has a weight, or a number that may be one, is an edge, and its second end is missing."""
    after = range(max(layout.first, layout.second) + 1, len(row))
    for column in after if layout.weight is None else (layout.weight,):
        if column < len(row) and NUMERIC.fullmatch(row[column]):
            raise ValueError(
                f"an empty cell before {row[column].strip()[:40]!r}; expected the second vertex "
                "(all cells after a vertex without edges are empty)"
            )


def _weight(row: Sequence[str], column: int) -> float:
    try:
        return float_of(row[column].strip() if column < len(row) else "")
    except Problem as problem:
        raise ValueError(f"{problem} (weight= names another column, weights=False leaves them out)") from None


def _check_width(row: Sequence[str], layout: _Layout) -> None:
    """Every row has both ends, and no more cells than the first: one with the delimiter in it would be cut."""
    if len(row) <= max(layout.first, layout.second):
        cells = "1 cell" if len(row) == 1 else f"{len(row)} cells"
        raise ValueError(f"{cells}; expected {layout.columns} (a vertex without edges has an empty second cell)")
    if any(cell.strip() for cell in row[layout.columns :]):
        remedy = "put a name with the delimiter in it in quotes" if layout.names else "write decimals with a point"
        raise ValueError(f"{len(row)} cells; expected {layout.columns}: {remedy}")


def _plain(cell: str) -> int:
    text = cell.strip()
    if len(text) > 1 and text[0] == "0" and _is_number(text):
        raise ValueError(
            f"vertex {text[:40]} has a zero before it, which a number would lose; expected names=True to keep it, "
            "or names=False to read numbers"
        )
    return _integer(cell)


def _integer(cell: str) -> int:
    text = cell.strip()
    if not _is_number(text):
        raise ValueError(
            f"found {cell[:40]!r}; expected a vertex id, a whole number as in the first row (or names=True)"
        )
    if text.startswith("-"):
        raise ValueError(f"vertex {text[:40]} is negative; expected ids from 0")
    if len(text) > len(str(LARGEST_NUMBER)):
        raise ValueError(f"vertex {text[:40]} is too large; expected at most 18 digits")
    return int(text)


def _rows(source: Source, layout: _Layout) -> Iterator[tuple[int, list[str]]]:
    """For every row except blank ones and the header: the line where it ends, and its cells."""

    def lines() -> Iterator[str]:
        number = 0
        with source.text() as stream:
            for block in source.blocks(stream):
                for raw in io.BytesIO(block):
                    number += 1
                    if b"\0" in raw:
                        raise source.fail("a NUL byte in the text; expected a table", number)
                    try:
                        yield raw.decode()
                    except UnicodeDecodeError:
                        raise source.fail("bytes that are not UTF-8 text; expected a table", number) from None

    reader = csv.reader(lines(), delimiter=layout.delimiter, skipinitialspace=layout.delimiter == " ", strict=True)
    header = layout.header
    try:
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            if header:
                header = False
                continue
            yield reader.line_num, row
    except csv.Error as error:
        raise source.fail(f"{error}; expected a closing quote and then a delimiter", max(reader.line_num, 1)) from None


def write(target: Target, graph: Graph, *, delimiter: str | None = None) -> None:
    """Write a header `source,target` or `source,target,weight`, and one row per edge.

    Strings are quoted, so that they are not read back as numbers.
    """
    if delimiter is None:
        delimiter = "\t" if ".tsv" in map(str.lower, target.path.suffixes) else ","
    elif delimiter not in DELIMITERS or delimiter == " ":
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
