"""Matrix Market `.mtx`: the coordinate format of the SuiteSparse collection. Every stored entry is an arc, even a 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

import numpy as np

from hopwave.graph import Graph
from hopwave.io.format import Request, Target, weight_cells, write_columns
from hopwave.io.lines import Grammar, read_edges, shown
from hopwave.io.source import Source

BANNER = b"%%MatrixMarket"
_VALUES = {"pattern": 0, "real": 1, "double": 1, "integer": 1, "unsigned-integer": 1, "complex": 2}
_SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")


def read(source: Source, request: Request) -> Graph:
    """Read a square sparse matrix. Symmetric ones are undirected graphs, general ones are directed by default."""
    with source.text() as stream:
        header = read_header(source, stream)
        n = request.vertices(source, header.size, header.line)
        weighted = request.weights and header.field != "pattern"
        skew = weighted and header.symmetry == "skew-symmetric"
        if weighted and header.field == "complex":
            raise source.fail("complex values; expected real ones as weights: weights=False reads the pattern alone", 1)
        if skew and not request.directed:
            message = "a skew-symmetric matrix: the two directions of an edge have opposite weights"
            raise source.fail(f"{message}; pass directed=True for both arcs, or weights=False for the pattern alone", 1)
        grammar = header.grammar(weighted)
        edges = read_edges(source, stream, header.line + 1, grammar, declared=header.entries, what="entries")
    u, v, weights = edges.u, edges.v, edges.weights
    if skew and weights is not None:  # directed=True: the arcs below the diagonal and their negatives above it
        u, v, weights = np.concatenate([u, v]), np.concatenate([v, u]), np.concatenate([weights, -weights])
    return request.graph(source, u, v, n, directed=skew or header.symmetry == "general", weights=weights)


@dataclass(frozen=True)
class Header:
    """What the lines before the first entry say; `line` is the last of them."""

    field: str
    symmetry: str
    size: int
    entries: int
    line: int

    def grammar(self, weighted: bool = False) -> Grammar:
        """What the line of an entry looks like; `weighted`: its value is a weight."""
        values = _VALUES[self.field]
        return Grammar(
            expected=f"row and column from 1 to {self.size}"
            + (f", then {values} {self.field} value(s)" if values else ""),
            first=1,
            last=self.size,
            comments=b"%",
            values=values,
            whole="integer" in self.field,
            real=self.field == "real",
            weight=int(weighted),
        )


def read_header(source: Source, stream: IO[bytes]) -> Header:
    """The banner and the size line."""
    text = source.line(stream, 1)
    words = text.decode("utf-8", "replace").lower().split()
    if len(words) != 5 or words[:2] != [BANNER.decode().lower(), "matrix"]:
        message = "expected '%%MatrixMarket matrix coordinate FIELD SYMMETRY'"
        raise source.fail(f"the banner is {shown(text)}; {message}", 1)
    layout, field, symmetry = words[2:]
    if layout == "array":
        raise source.fail("a dense matrix ('array'); expected a sparse one, 'coordinate': a graph is sparse", 1)
    for word, known in ((layout, ("coordinate",)), (field, tuple(_VALUES)), (symmetry, _SYMMETRIES)):
        if word not in known:
            raise source.fail(f"{word!r} in the banner; expected one of {', '.join(known)}", 1)
    line, text = source.first_line(stream, b"%", 2)
    numbers = text.split()
    if len(numbers) != 3 or not all(number.isdigit() and len(number) <= 40 for number in numbers):
        raise source.fail(f"the size line is {shown(text)}; expected 'rows columns entries', three counts", line)
    rows, columns, entries = (int(number) for number in numbers)
    if rows != columns:
        raise source.fail(
            f"{rows} rows and {columns} columns; expected equal numbers: the matrix of a graph is square", line
        )
    return Header(field, symmetry, rows, entries, line)


def write(target: Target, graph: Graph) -> None:
    """Write a general matrix if the graph is directed, else the lower triangle of a symmetric one.

    Its values are the weights, integers if all of them are whole; without weights it is a pattern.
    """
    edges = graph.edges()
    cell, weights = weight_cells(edges.weights)
    field = {"": "pattern", "%d": "integer", "%r": "real"}[cell]
    symmetry = "general" if graph.directed else "symmetric"
    target.stream.write(f"%%MatrixMarket matrix coordinate {field} {symmetry}\n".encode())
    target.stream.write(f"{graph.n} {graph.n} {len(edges)}\n".encode())
    u, v = edges.source.astype("int64") + 1, edges.target.astype("int64") + 1
    # u <= v in an undirected graph, and the lower triangle has row >= column
    rows, columns = (u, v) if graph.directed else (v, u)
    write_columns(target, f"%d %d {cell}".rstrip() + "\n", rows, columns, *weights)
