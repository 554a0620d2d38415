"""Edge lists as SNAP publishes them: comments with `#` or `%`, then lines of two ids. The rest of a line is ignored.

These comments are understood, and written: `# Nodes: 5 Edges: 7`, `# Directed graph` or `# Undirected graph`, and three
of our own: `# Node: NAME` lists a vertex before the edges, `# Ids: text` says that the ids are names, not numbers, and
`# Weights: third column` says what the third column is. In KONECT's files the first line says it, as in `% sym signed`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from hopwave.graph import Graph
from hopwave.io.columns import is_header
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
from hopwave.io.lines import LARGEST_NUMBER, NUMERIC, Grammar, Problem, read_edges, shown
from hopwave.io.source import LONE_RETURN, Source
from hopwave.io.table import SAMPLE, is_number

_NODES = re.compile(rb"nodes:?\s*(\d{1,40})", re.IGNORECASE)
# KONECT's words for networks whose third column is a weight (or a rating); in the others it is a count or nothing.
_KONECT_WEIGHTED = (b"posweighted", b"signed", b"multisigned", b"weighted", b"multiweighted")
_EDGES = re.compile(rb"edges:?\s*(\d{1,40})", re.IGNORECASE)


@dataclass
class _Header:
    """What the comments before the first edge say, and the line of that edge."""

    nodes: int | None = None
    edges: int | None = None
    line: int = 1  # the line with these two counts
    directed: bool | None = None
    names: bool = False
    weighted: bool | None = None  # whether the third column is the weight; None: the file does not say
    listed: list[bytes] = field(default_factory=list)  # vertices listed before the edges
    first_row: bytes = b""
    row: int = 1  # the line of the first edge


def read(source: Source, request: Request, *, names: bool | None = None, weight: int | None = None) -> Graph:
    """Read an edge list: undirected, unless its comments say otherwise.

    `names=True` reads every id as a name, `names=False` requires integers; by default the first edge decides.
    `weight=2` takes the third column as weights, `weight=3` the fourth; by default the comments decide.
    """
    if weight is not None and (isinstance(weight, bool) or not isinstance(weight, int) or weight < 2):
        raise TypeError(f"weight={weight!r} is not a column after the two ids; pass 2 for the third column")
    with source.text() as stream:
        header = read_header(source, stream)
    rows = _first_rows(source, header)
    if rows and not header.names and is_header(rows):  # read as an edge, titles would make names of all ids
        raise source.fail(
            f"found {shown(header.first_row)}, which looks like titles; expected an edge: format='table' reads titles, "
            "and with header=False an edge of such names",
            header.row,
        )
    column = (weight or (2 if header.weighted else 0)) if request.weights else 0
    guessed = False
    if names is None:
        ends = header.first_row.decode("utf-8", "replace").split()[:2]
        names = header.names or (bool(ends) and not all(map(is_number, ends)))
        guessed = names and not header.names
        if guessed:
            _check_names(source, header, rows, ends)
    third = next((row[2] for row in rows if len(row) > 2), "{}")  # NetworkX writes {} for an edge without attributes
    if request.weights and not column and header.weighted is None and third != "{}":
        raise source.fail(
            f"column 3 may be weights ({third[:40]}, …); pass weight=2 to read it, weights=False to ignore everything "
            "after the two ends, or format='table' to choose columns (Graph.from_scipy reads a matrix)",
            header.row,
        )
    if names:
        return _read_names(source, request, header, column, guessed)
    with source.text() as stream:
        u, v, weights, line = read_edges(source, stream, 1, integer_grammar(column), declared=header.edges)
    line = line if header.nodes is None else header.line
    said: dict[str, Any] = {"declared": header.nodes, "line": line, "directed": header.directed, "weights": weights}
    return request.numbered(source, u, v, listed_numbers(source, header), **said)


def read_header(source: Source, stream: IO[bytes]) -> _Header:
    """Read the comments before the first edge. Without an edge, one of them must say how many vertices there are."""
    header = _Header()
    number = 1
    while text := source.line(stream, number):
        comment = text.strip()
        if comment and comment[:1] not in b"#%":
            header.first_row, header.row = comment, number
            break
        words = comment.lstrip(b"#% ").lower()
        if words.startswith(b"node: "):
            header.listed.append(comment.lstrip(b"#% ")[len(b"node: ") :].strip())
        elif words.startswith(b"ids: text"):
            header.names = True
        elif words.startswith(b"weights: third column"):
            header.weighted = True
        elif words.startswith((b"undirected", b"sym ")):  # the second form is KONECT's
            header.directed = False
        elif words.startswith((b"directed", b"asym ")):
            header.directed = True
        elif nodes := _NODES.match(words):
            edges = _EDGES.search(words)
            header.nodes, header.edges, header.line = int(nodes[1]), int(edges[1]) if edges else None, number
        if words.startswith((b"sym ", b"asym ")):
            header.weighted = words.split()[1] in _KONECT_WEIGHTED
        number += 1
    if not header.first_row and header.nodes is None and not header.listed:
        raise source.fail("contains no edge; expected lines of two vertices, or a comment '# Nodes: N Edges: M'", 1)
    return header


def _first_rows(source: Source, header: _Header) -> list[list[str]]:
    """The words of the first lines, those of the first edge at least, which may stand behind long comments."""
    start = source.start()
    whole = start if len(start) < 1 << 16 else start[: start.rfind(b"\n") + 1]
    lines = whole.decode("utf-8-sig", "replace").split("\n")[header.row - 1 :][:SAMPLE]
    rows = [line.split() for line in lines if line.lstrip()[:1] not in ("", "#", "%") and "\r" not in line.strip()]
    return rows or [words for words in [header.first_row.decode("utf-8", "replace").split()] if words]


def _check_names(source: Source, header: _Header, rows: list[list[str]], ends: list[str]) -> None:
    """Names that are numbers with a point, or have commas or quotes around them, are another format's."""
    line = shown(header.first_row)
    if all(map(NUMERIC.fullmatch, ends)):
        raise source.fail(
            f"found {line}, numbers with a point or an exponent; expected integers, or names=True to keep them "
            "as names: numpy.savetxt writes integers with fmt='%d'",
            header.row,
        )
    if all(row[0][-1] in ",;" or row[0][0] == '"' or (len(row) == 1 and re.search("[,;|]", row[0])) for row in rows):
        raise source.fail(
            f"found {line}; expected two ids with spaces between them: format='table' reads quotes, and commas between "
            "cells (names=True keeps them in names)",
            header.row,
        )


def listed_numbers(source: Source, header: _Header) -> npt.NDArray[np.int64]:
    """The vertices that comments list before the edges, where ids are numbers."""
    try:
        return np.array([int(name) for name in header.listed], np.int64)
    except (ValueError, OverflowError):
        raise source.fail("a '# Node:' comment without a whole number; expected one, as in the edges", 1) from None


def integer_grammar(column: int = 0) -> Grammar:
    """Lines of two ids that are numbers; `column` is that of the weights, 0 if there are none."""
    expected = "two vertex ids, whole numbers from 0" + (f", and a weight in column {column + 1}" if column else "")
    return Grammar(expected=expected, last=LARGEST_NUMBER, weight=max(column - 1, 0))


def _read_names(source: Source, request: Request, header: _Header, column: int, guessed: bool) -> Graph:
    """Edges between names; `guessed`: neither the caller nor the file says that they are."""
    numbers = Numbering()
    for name in header.listed:
        numbers[_text(source, name, header.line)]
    u, v, w = [], [], []
    grammar = integer_grammar(column)
    number = 0
    for number, fields in _rows(source):
        if len(fields) < 2:
            raise source.fail(f"found {shown(b' '.join(fields))}; expected two vertices", number)
        ends = [_text(source, field, number) for field in fields[:2]]
        if guessed:
            try:
                check_missing(*ends)
            except ValueError as error:
                raise source.fail(str(error), number) from None
        u.append(numbers[ends[0]])
        v.append(numbers[ends[1]])
        if column:
            try:
                w.append(grammar.value(fields[column] if column < len(fields) else b""))
            except Problem as problem:
                raise source.fail(str(problem), number) from None
    if header.edges is not None and header.edges != len(u):
        raise source.fail(f"{len(u):,} edges; expected the {header.edges:,} of the comment 'Edges:'", max(number, 1))
    if header.nodes is not None and len(numbers) > header.nodes:
        raise source.fail(f"{len(numbers):,} different vertices; expected {header.nodes:,}, see 'Nodes:'", header.line)
    return request.graph(
        source, np.array(u, np.int64), np.array(v, np.int64), len(numbers), directed=header.directed,
        labels=numbers.labels(), weights=np.array(w) if column else None,
    )  # fmt: skip


def _rows(source: Source) -> Iterator[tuple[int, list[bytes]]]:
    """The number and the fields of every line that is not a comment."""
    number = 0
    with source.text() as stream:
        for block in source.blocks(stream):
            for text in block.split(b"\n")[:-1]:
                number += 1
                if b"\r" in text.strip(b" \t\r\n"):
                    raise source.fail(LONE_RETURN, number)
                fields = text.split()
                if fields and fields[0][:1] not in b"#%":
                    yield number, fields


def _text(source: Source, name: bytes, line: int) -> str:
    if b"\0" in name:
        raise source.fail(f"a NUL byte in {shown(name)}; expected text", line)
    try:
        return name.decode()
    except UnicodeDecodeError:
        raise source.fail(
            f"{shown(name)} is not UTF-8 text; expected the name of a vertex: save it as UTF-8", line
        ) from None


def _is_word(name: str) -> bool:
    """Whether a name is read back as it is: one word without white space around it, and no comment."""
    return name[:1] not in ("#", "%") and "\0" not in name and name.encode().split() == [name.encode()]


def write(target: Target, graph: Graph) -> None:
    """Write an edge list, with the comments that are needed to read back the same graph."""
    edges = graph.edges()
    u, v = edges.source, edges.target
    cell, weights = weight_cells(edges.weights)
    end = f"\t{cell}\n" if cell else "\n"
    names = plain_labels(target, graph)
    kind = "Directed graph" if graph.directed else "Undirected graph: each edge is written once"
    target.stream.write(f"# {kind}\n# Nodes: {graph.n} Edges: {len(u)}\n".encode())
    if cell:
        target.stream.write(b"# Weights: third column\n")
    if names is None:
        return write_columns(target, f"%d\t%d{end}", u, v, *weights)
    for name in names:
        if isinstance(name, int) and not 0 <= name <= LARGEST_NUMBER:
            raise target.fail(
                f"label {name}; integer ids in this format must be from 0 to 10^18 - 1; use .npz, or labels=False"
            )
        if isinstance(name, str) and not _is_word(name):
            raise target.fail(
                f"label {name!r} is not a single word; use .csv or .npz, or drop labels with labels=False"
            )
    if any(isinstance(name, str) for name in names):
        target.stream.write(b"# Ids: text\n")
    for vertex in listed_first(graph, names, u, v).tolist():
        target.stream.write(f"# Node: {names[vertex]}\n".encode())
    table = np.array(names, object)
    return write_columns(target, f"%s\t%s{end}", table[u], table[v], *weights)


FORMAT = Format(
    name="snap",
    title="SNAP edge list",
    extensions=(".txt", ".edges", ".edgelist", ".snap"),
    holds_labels=True,
    directedness="its comments say; undirected without them",
    read=read,
    write=write,
    content_decides=True,
)
