"""Which format a file is in: its name says so, and its first bytes must agree."""

from __future__ import annotations

import re
from pathlib import Path

from hopwave.errors import FormatError
from hopwave.io import (
    dimacs,
    edge_list,
    gapbs,
    gml,
    graph500,
    graphml,
    matrix_market,
    metis,
    npz,
    pajek,
    parquet,
    table,
)
from hopwave.io.format import Format
from hopwave.io.source import BYTE_ORDER_MARK, Source

FORMATS = (
    matrix_market.FORMAT,
    edge_list.FORMAT,
    table.FORMAT,
    parquet.FORMAT,
    npz.FORMAT,
    metis.FORMAT,
    dimacs.SHORTEST_PATHS,
    dimacs.COLOURING,
    gapbs.EDGE_LIST,
    gapbs.SERIALISED,
    gapbs.WEIGHTED_EDGE_LIST,
    gapbs.WEIGHTED_SERIALISED,
    graph500.FORMAT,
    graphml.FORMAT,
    gml.FORMAT,
    pajek.FORMAT,
)
# What comes instead of a file, and may be read as an edge list of words: how it begins, what it is, what to do.
NO_GRAPHS = (
    (b"version https://git-lfs", "a pointer of Git LFS, not the file itself", "git lfs pull fetches it"),
    (b"<!doctype html", "a page of HTML", "download the file again"),
    (b"<html", "a page of HTML", "download the file again"),
)
# Possessive patterns (*+): what follows an empty line or a comment is looked at once, however many of them there are.
# Comments, then the problem line.
_DIMACS = re.compile(rb"(?:c[^\n]*+\n|[^\S\n]*+\n)*+p[ \t]++(sp|edge|col)[ \t]")
# Declarations and comments, then the element of the whole document.
_GRAPHML = re.compile(rb"\s*+(?:<[?!][^>]*+>\s*+)*+<(?:\w++:)?+graphml\b")
# Comments, `Creator "..."` or `Version 1`, then the list of the graph.
_GML = re.compile(rb"\s*+(?:#[^\n]*+\n\s*+|(?:Creator|Version|comment)[ \t][^\n]*+\n\s*+)*+graph\s*+\[", re.IGNORECASE)
_PAJEK = re.compile(rb"(?:%[^\n]*+\n|\s++)*+\*(?:network|vertices)\b", re.IGNORECASE)


def by_name(path: Path) -> Format | None:
    """The format that a file's extension stands for; a `.gz` at the end is ignored.

    >>> by_name(Path("web.MTX.gz")).name
    'matrix-market'
    """
    name = path.name.lower().removesuffix(".gz")
    for known in FORMATS:
        if name.endswith(known.extensions):
            return known
    return None


def by_title(name: str) -> Format:
    """The format of this name, as in `format="metis"`.

    >>> by_title("metis").extensions
    ('.graph', '.metis')
    """
    for known in FORMATS:
        if isinstance(name, str) and known.name == name:
            return known
    raise FormatError(f"format={name!r} is not known; use one of {', '.join(known.name for known in FORMATS)}")


def by_content(start: bytes) -> Format | None:
    """The format whose signature a file begins with; None if there is none, as in most text files.

    A byte-order mark before it does not count.

    >>> by_content(b"%%MatrixMarket matrix").name
    'matrix-market'
    """
    start = start.removeprefix(BYTE_ORDER_MARK)
    if start[: len(matrix_market.BANNER)].lower() == matrix_market.BANNER.lower():
        return matrix_market.FORMAT
    if start.startswith(npz.MAGIC):
        return npz.FORMAT
    if start.startswith(parquet.MAGIC):
        return parquet.FORMAT
    if found := _DIMACS.match(start):
        return dimacs.SHORTEST_PATHS if found[1] == b"sp" else dimacs.COLOURING
    for pattern, known in ((_GRAPHML, graphml.FORMAT), (_GML, gml.FORMAT), (_PAJEK, pajek.FORMAT)):
        if pattern.match(start):
            return known
    return None


def detect(source: Source) -> Format:
    """The format to read a file in. A name that contradicts the content is an error: hopwave does not guess."""
    start = source.start()
    for mark, found, remedy in NO_GRAPHS:
        if start.removeprefix(BYTE_ORDER_MARK).lstrip()[: len(mark)].lower() == mark:
            raise source.fail(f"is {found}; expected a graph: {remedy}", 1)
    named, marked = by_name(source.path), by_content(start)
    if named is None and marked is None:
        raise unknown(source.path)
    if marked is None or named is None:
        return named or marked  # type: ignore[return-value]
    same_reader = marked.read is named.read
    if same_reader or named.content_decides:
        return marked
    remedy = f"rename it, or pass format={marked.name!r}"
    raise source.fail(
        f"is named like {named.title} but contains {marked.title}; expected the two to agree: {remedy}", 1
    )


def unknown(path: Path) -> FormatError:
    """The error for a name without a known extension; it lists the known ones."""
    known = "; ".join(f"{known.name} ({' '.join(known.extensions)})" for known in FORMATS)
    return FormatError(f"the name has no known extension; rename the file or pass format=, one of: {known}", path)
