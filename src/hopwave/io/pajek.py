"""Pajek `.net`: `*Vertices n` with labels, then `*Arcs`, `*Edges`, `*Arcslist`, `*Edgeslist` or `*Matrix`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from hopwave.graph import Graph
from hopwave.io.declared import Edges, numbered, texts_of, weight_of
from hopwave.io.format import Format, Request, Target, write_columns
from hopwave.io.source import LONE_RETURN, Source

_NAMES_MARK = "% ids: text"  # our comment where labels that look like numbers are names
_VERTEX = re.compile(r'\s*(\d{1,18})(?:\s+(?:"([^"]*)"|([^\s"]\S*))(?=\s|$)|\s*$)', re.ASCII)
MAX_UNLABELLED = 1_000_000  # vertices that get their number as a label: more would fill the memory from a small file
ASCII_BLANKS = " \t\n\r\v\f"  # `str.strip` also takes other characters for blanks, such as U+00A0
_SECTIONS = ("*vertices", "*arcs", "*edges", "*arcslist", "*edgeslist", "*matrix")


@dataclass
class _Network:
    """What has been read so far."""

    n: int = -1  # no *Vertices yet
    line: int = 1  # of *Vertices
    first_mode: int | None = None  # of a two-mode network: the number of vertices of the first kind
    labels: dict[int, str] = field(default_factory=dict)
    lines: dict[int, int] = field(default_factory=dict)
    edges: Edges = field(default_factory=Edges)
    row: int = 0  # of the matrix
    arcs: bool = False  # whether there is a section of arcs
    names: bool | None = None


def _lines(source: Source) -> Iterator[tuple[int, str]]:
    """The number and the text of every line that is not blank; comments keep only our mark."""
    for number, line in source.lines("Pajek"):
        text = line.strip(ASCII_BLANKS)
        if "\0" in text:
            raise source.fail("a NUL byte in the text; expected Pajek", number)
        if "\r" in text:
            raise source.fail(LONE_RETURN, number)
        if text and not text.startswith("/*"):
            yield number, text


def read(source: Source, request: Request, *, names: bool | None = None) -> Graph:
    """Read a Pajek network. Arcs make it directed, and then every edge of `*Edges` is two arcs.

    The third number of a line is its weight. `names=True` reads every label as a name, `names=False` requires integers.
    """
    net = _Network(names=names)
    section, number = "", 1
    for number, text in _lines(source):
        if text.startswith("%"):
            if text.lower() == _NAMES_MARK and names is None:
                net.names = True
        elif text.startswith("*"):
            section = _begin(source, request, net, text, number)
        elif section == "*vertices":
            _vertex(source, net, text, number)
        elif section in ("*arcs", "*edges"):
            _pair(source, net, section == "*arcs", text, number)
        elif section in ("*arcslist", "*edgeslist"):
            ends = [_end(source, net, word, number) for word in _words(text)]
            for v in ends[1:]:
                net.edges.add(ends[0], v, None, section == "*arcslist")
        elif section == "*matrix":
            _matrix_row(source, net, text, number)
        elif section == "":
            raise source.fail(f"found {text[:40]!r}; expected '*Vertices N'", number)
    if net.n < 0:
        raise source.fail("no *Vertices; expected '*Vertices N'", number)
    if section == "*matrix" and net.row < net.n:
        raise source.fail(f"the matrix ends after {net.row:,} rows; expected {net.n:,}", number)
    return _graph(source, request, net)


def _graph(source: Source, request: Request, net: _Network) -> Graph:
    places = labels = None
    if net.labels and request.labels:
        if net.n > MAX_UNLABELLED + len(net.labels):
            raise source.fail(
                f"{len(net.labels):,} of {net.n:,} vertices have a label; expected one for each, or labels=False",
                net.line,
            )
        texts = [net.labels.get(i, str(i + 1)) for i in range(net.n)]
        lines = [net.lines.get(i, net.line) for i in range(net.n)]
        places, labels = numbered(source, texts, lines, net.names)
    n = net.n if labels is not None else request.vertices(source, net.n, net.line)
    return net.edges.graph(source, request, n, directed=net.arcs, places=places, labels=labels)


def _begin(source: Source, request: Request, net: _Network, text: str, line: int) -> str:
    """The section that a line with a star begins."""
    words = text.split()
    section = words[0].lower()
    if section == "*network":
        return ""
    if section not in _SECTIONS:
        known = "*Vertices, *Arcs, *Edges, *Arcslist, *Edgeslist or *Matrix"
        raise source.fail(f"the section {words[0][:40]!r}; expected one of {known}", line)
    if section == "*vertices":
        if net.n >= 0:
            raise source.fail("a second *Vertices; expected one network per file", line)
        if len(words) not in (2, 3) or not all(word.isdigit() and len(word) <= 18 for word in words[1:]):
            raise source.fail(f"found {text[:40]!r}; expected '*Vertices N'", line)
        net.n, net.line = int(words[1]), line
        net.first_mode = int(words[2]) if len(words) == 3 else None
        request.vertices(source, net.n, line)
    elif net.n < 0:
        raise source.fail(f"{words[0]} before the vertices; expected '*Vertices N' first", line)
    if section == "*matrix" and net.first_mode is not None:
        raise source.fail("the matrix of a two-mode network; expected *Arcs or *Edges, or a square matrix", line)
    net.arcs = net.arcs or section in ("*arcs", "*arcslist", "*matrix")
    return section


def _vertex(source: Source, net: _Network, text: str, line: int) -> None:
    found = _VERTEX.match(text)
    if found is None:
        raise source.fail(f"found {text[:40]!r}; expected a number and a label, in quotes if it has spaces", line)
    vertex = _end(source, net, found[1], line)
    if vertex in net.lines:
        raise source.fail(f"vertex {found[1]} a second time; expected it once", line)
    net.lines[vertex] = line
    label = found[2] if found[2] is not None else found[3]
    if label is not None:
        net.labels[vertex] = label


def _pair(source: Source, net: _Network, arc: bool, text: str, line: int) -> None:
    words = _words(text)
    if len(words) < 2:
        raise source.fail(f"found {text[:40]!r}; expected two vertices and perhaps a weight", line)
    weight = weight_of(source, words[2], line) if len(words) > 2 else None
    net.edges.add(_end(source, net, words[0], line), _end(source, net, words[1], line), weight, arc)


def _matrix_row(source: Source, net: _Network, text: str, line: int) -> None:
    words = _words(text)
    if net.row == net.n or len(words) != net.n:
        raise source.fail(f"row {net.row + 1} of {len(words):,} numbers; expected {net.n:,} rows of {net.n:,}", line)
    for column, word in enumerate(words):
        if word != "0" and (value := weight_of(source, word, line)) != 0:
            net.edges.add(net.row, column, None if value == 1 else value, True)
    net.row += 1


def _words(text: str) -> list[str]:
    """What blanks separate; `str.split` also takes other characters for blanks, such as U+00A0."""
    return [word.decode() for word in text.encode().split()]


def _end(source: Source, net: _Network, word: str, line: int) -> int:
    if not (word.isascii() and word.isdigit() and len(word) <= 18 and 1 <= int(word) <= net.n):
        raise source.fail(f"found {word[:40]!r}; expected a vertex from 1 to {net.n}", line)
    return int(word) - 1


def write(target: Target, graph: Graph) -> None:
    """Write `*Vertices` with labels (the ids where there are none), then `*Arcs` or `*Edges`, with weights."""
    texts, marked = texts_of(target, graph)
    for text in texts:
        if '"' in text or text != text.strip() or len(text.splitlines()) != 1 or "\0" in text:
            raise target.fail(
                f"label {text[:40]!r} has a quote, a line break or spaces around it, which Pajek cannot store; use "
                ".graphml or .npz, or labels=False"
            )
    put = target.stream.write
    if marked:
        put(b"% Ids: text\n")
    put(f"*Vertices {graph.n}\n".encode())
    write_columns(target, '%d "%s"\n', np.arange(1, graph.n + 1), np.array(texts, object))
    edges = graph.edges()
    put(b"*Arcs\n" if graph.directed else b"*Edges\n")
    ends = edges.source.astype(np.int64) + 1, edges.target.astype(np.int64) + 1
    if edges.weights is None:
        return write_columns(target, "%d %d\n", *ends)
    return write_columns(target, "%d %d %r\n", *ends, edges.weights)


FORMAT = Format(
    name="pajek",
    title="Pajek",
    extensions=(".net", ".pajek"),
    holds_labels=True,
    directedness="`*Arcs`: directed; `*Edges` alone: undirected",
    read=read,
    write=write,
)
