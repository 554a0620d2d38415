"""Tables of edges as text: CSV, TSV and similar, with or without a header, with numbers or names as vertices.

A row with an empty second cell is a vertex without an edge; a row with one cell is an error. Blanks around a cell are
no part of it, unless it is in quotes. Tables do not say whether the graph is directed.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.errors import FormatError
from hopwave.graph import Graph
from hopwave.io.edge_columns import Column
from hopwave.io.format import Format, Request, Target, weight_cells, write_columns
from hopwave.io.lines import LARGEST_NUMBER, Grammar, read_edges
from hopwave.io.numbers import NUMERIC, Problem, float_of
from hopwave.io.source import BYTE_ORDER_MARK, Source
from hopwave.io.table_layout import DECIMAL_COMMA, DELIMITERS, POINTED, Layout, Wanted, is_number, layout_of, trimmed
from hopwave.io.vertices import Numbering, check_missing, compact, listed_first, plain_labels


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
    layout = layout_of(file, request, Wanted(source, target, weight, delimiter, header, names))
    if not layout.names and (layout.first, layout.second) == (0, 1) and layout.weight not in (0, 1):
        try:
            columns = _read_fast(file, layout)
        except FormatError:
            pass  # quotes, or an error: the careful reader below finds out which, and on which line
        else:
            return _numbered(file, request, *columns)
    return _read_carefully(file, request, layout)


def _read_fast(
    source: Source, layout: Layout
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
        for number in range(layout.before):
            source.line(stream, number + 1)
        skipped = layout.before
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


def _read_carefully(source: Source, request: Request, layout: Layout) -> Graph:
    """Read row by row with Python's csv module: it knows quotes, names, any columns, and the line of every error."""
    numbers = Numbering()
    u: list[int] = []
    v: list[int] = []
    w: list[float] = []
    number: Callable[[str], int] = numbers.__getitem__ if layout.names else _plain if layout.plain else _integer
    for line, row, quoted in _rows(source, layout):
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
    u_kept, v_kept, w_kept = ends[0][keep], ends[1][keep], None if weights is None else weights[keep]
    return request.graph(source, u_kept, v_kept, len(numbers), directed=None, labels=numbers.labels(), weights=w_kept)


def _check_lone(row: Sequence[str], layout: Layout) -> None:
    """A row that has a weight, or a number that may be one, is an edge, and its second end is missing."""
    after = range(max(layout.first, layout.second) + 1, len(row))
    for column in after if layout.weight is None else (layout.weight,):
        if column < len(row) and NUMERIC.fullmatch(row[column]):
            raise ValueError(
                f"an empty cell before {row[column].strip()[:40]!r}; expected the second vertex "
                "(all cells after a vertex without edges are empty)"
            )


def _weight(row: Sequence[str], column: int, layout: Layout) -> float:
    if column >= len(row):
        raise ValueError(f"too few cells: {len(row)}; expected {layout.columns}, the weight among them")
    text = row[column].strip()
    if text.lower() in ("", "na", "n/a", "null", "none"):
        raise ValueError(f"found {text!r} as the weight; expected a number: fill it in, or drop the row")
    if DECIMAL_COMMA.fullmatch(text):
        whole, _, digits = text[:40].partition(",")
        thousands = f", or {whole}{digits} if these are thousands" if len(digits) == 3 else ""
        raise ValueError(f"found {text[:40]!r} as the weight; expected a decimal point: {whole}.{digits}{thousands}")
    try:
        return float_of(text)
    except Problem as problem:
        raise ValueError(f"{problem} (weight= names another column, weights=False leaves them out)") from None


def _check_width(row: Sequence[str], layout: Layout) -> None:
    """Every row has both ends, and no more cells than the first: one with the delimiter in it would be cut."""
    if len(row) <= max(layout.first, layout.second):
        raise ValueError(
            f"too few cells: {len(row)}; expected {layout.columns} (a vertex without edges has an empty second cell)"
        )
    if any(cell.strip() for cell in row[layout.columns :]):
        remedy = "put a name with the delimiter in it in quotes" if layout.names else "write decimals with a point"
        raise ValueError(f"{len(row)} cells; expected {layout.columns}: {remedy}")


def _plain(cell: str) -> int:
    text = cell.strip()
    if len(text) > 1 and text[0] == "0" and is_number(text):
        raise ValueError(
            f"vertex {text[:40]} has a zero before it, which a number would lose; expected names=True to keep it, "
            "or names=False to read numbers"
        )
    return _integer(cell)


def _integer(cell: str) -> int:
    text = cell.strip()
    if POINTED.fullmatch(text):
        raise ValueError(
            f"vertex {text[:40]} has a point or an exponent, as pandas writes ids beside an empty cell, and Excel long "
            "ones; expected whole numbers: astype('Int64') before to_csv, or names=True to keep it as a name"
        )
    if not is_number(text):
        raise ValueError(
            f"found {cell[:40]!r}; expected a vertex id, a whole number as in the first row (or names=True)"
        )
    if text.startswith("-"):
        raise ValueError(f"vertex {text[:40]} is negative; expected ids from 0")
    if len(text) > len(str(LARGEST_NUMBER)):
        raise ValueError(f"vertex {text[:40]} is too large; expected at most 18 digits")
    return int(text)


def _rows(source: Source, layout: Layout) -> Iterator[tuple[int, list[str], bool]]:
    """For every row except blank ones and the header: the line where it ends, its cells, and whether it has quotes."""

    line = ""  # the last one that was read: the whole row, if it has no quotes

    def lines() -> Iterator[str]:
        nonlocal line
        number = 0
        with source.text() as stream:
            for block in source.blocks(stream):
                for raw in io.BytesIO(block):
                    number += 1
                    if number <= layout.before:
                        yield "\n"
                        continue
                    if number == layout.before + 1:
                        raw = raw.removeprefix(BYTE_ORDER_MARK)
                    if b"\0" in raw:
                        raise source.fail("a NUL byte in the text; expected a table", number)
                    try:
                        line = raw.decode()
                    except UnicodeDecodeError:
                        problem = "bytes that are not UTF-8 text; expected a table: save it as UTF-8"
                        raise source.fail(problem, number) from None
                    yield line

    reader = csv.reader(lines(), delimiter=layout.delimiter, skipinitialspace=True, strict=True)
    header = layout.header
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
