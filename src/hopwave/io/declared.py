"""Formats that declare vertices and edges one by one: code shared by GraphML, GML and Pajek, and the last two formats.

GML       `graph [ directed 0 node [ id 0 label "x" ] edge [ source 0 target 1 weight 2.5 ] ]`
Pajek     `*Vertices n` with labels, then `*Arcs`, `*Edges`, `*Arcslist`, `*Edgeslist` or `*Matrix`
"""

import html
import math
import re
import sys
from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np

from hopwave.errors import FormatError
from hopwave.graph import Graph
from hopwave.graph.columns import object_array
from hopwave.io.format import Ids, Request, Target, plain_labels, weight_cells, write_columns
from hopwave.io.lines import LARGEST_NUMBER, LONE_RETURN, NUMBER, Problem, Source, float_of, short

# Integers in their usual spelling: "7" and "-7", but not "07" or "-0", which are names.
_WHOLE = re.compile(r"0|-?[1-9]\d{0,17}", re.ASCII)
_IDS = "ids"  # GML key of the graph; its value "text" marks labels that look like numbers as names
_TOKEN = re.compile(
    rf"""\s*+(?:\#[^\r\n]*+\s*+)*+(?:(?P<key>[A-Za-z_][\w.:-]*+)|(?P<number>{NUMBER}(?![\w.])|[+-](?:INF|inf)\b)"""
    r"""|"(?P<text>[^"]*+)"|(?P<list>[\[\]])|(?P<open>")|(?P<end>\Z)|(?P<odd>.))""",
    re.ASCII,
)
_WHOLE_ID = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_NOT_ASCII = re.compile('[^ -~]|[&"]')
_NAMES_MARK = "% ids: text"  # our comment in Pajek files if labels that look like numbers are names
_VERTEX = re.compile(r'\s*(\d{1,18})(?:\s+(?:"([^"]*)"|([^\s"]\S*))(?=\s|$)|\s*$)', re.ASCII)
MAX_UNLABELLED = 1_000_000  # maximum vertices labelled by their number: a small file must not fill the memory
_SECTIONS = ("*network", "*vertices", "*arcs", "*edges", "*arcslist", "*edgeslist", "*matrix")


class Declared:
    """The vertices and edges of a file as they are read. An edge may name a vertex before it is declared."""

    def __init__(self, source: Source, request: Request) -> None:
        self.source, self.request = source, request
        self.places: dict[str | int, int] | range = {}  # of vertices, by their ids in the file
        self.labels: list[str] = []
        self.lines: Any = array("q")  # line of each vertex
        self._ends: list[str | int] = []
        self._weights = array("d")  # NaN: none
        self._arcs = bytearray()
        self._edge_lines = array("q")

    def vertex(self, key: str | int, label: str, line: int) -> None:
        """Add a vertex."""
        assert isinstance(self.places, dict)
        if self.places.setdefault(key, len(self.labels)) < len(self.labels):
            raise self.source.fail(f"a second vertex with the id {short(key)}; ids must be unique", line)
        self.labels.append(label)
        self.lines.append(line)

    def edge(self, u: str | int, v: str | int, weight: str | None, arc: bool, line: int) -> None:
        """Add an edge between two vertices, given by their ids."""
        self._ends += (sys.intern(u), sys.intern(v)) if isinstance(u, str) and isinstance(v, str) else (u, v)
        self._weights.append(math.nan if weight is None else weight_of(self.source, weight, line))
        self._arcs.append(arc)
        self._edge_lines.append(line)

    def graph(self, names: bool | None, *, directed: bool, single: bool = False, weighted: bool = False) -> Graph:
        """The graph. If any edge is directed, each undirected edge becomes two arcs. Missing weights are 1.

        `directed` and `weighted` apply to a graph without edges. `single`: weights are float32 if they fit.
        """
        places, request = self.places, self.request
        try:
            u, v = np.array([places[end] for end in self._ends], np.int64).reshape(-1, 2).T  # type: ignore[index]
        except KeyError:
            at, end = next((i, end) for i, end in enumerate(self._ends) if end not in places)
            problem = f"an edge ends at {short(end)}; expected a declared vertex"
            raise self.source.fail(problem, self._edge_lines[at // 2]) from None
        order, labels = self._numbered(names) if self.labels and request.labels else (None, None)
        if order is not None:
            u, v = order[u], order[v]
        weights: Ids | None = None
        given = np.frombuffer(self._weights, np.float64)
        missing = np.isnan(given)
        if not missing.all() if len(given) else weighted:
            weights = np.where(missing, 1.0, given)
            finite = np.abs(weights[np.isfinite(weights)])
            if single and finite.max(initial=0) <= np.finfo(np.float32).max:
                weights = weights.astype(np.float32)
        arcs = np.frombuffer(self._arcs, np.bool_)
        directed = bool(arcs.any()) if len(arcs) else directed
        if directed and request.directed is not False and not arcs.all():
            back = ~arcs & (u != v)
            u, v = np.concatenate([u, v[back]]), np.concatenate([v, u[back]])
            weights = None if weights is None else np.concatenate([weights, weights[back]])
        n = len(places) if labels is not None else request.vertices(self.source, len(places))
        return request.graph(self.source, u, v, n, directed=directed, labels=labels, weights=weights)

    def _numbered(self, names: bool | None) -> tuple[Ids | None, Ids | None]:
        """The position of each vertex in the graph (None: unchanged), and the labels: none for integers 0 … n−1."""
        labels, seen = self.labels, dict[str, int]()
        for i, label in enumerate(labels):
            if seen.setdefault(label, i) != i:
                raise self.source.fail(
                    f"a second vertex is called {short(label)}; select another attribute with label=, "
                    "or drop the names with labels=False",
                    self.lines[i],
                )
        odd = 0 if names else next((i for i, label in enumerate(labels) if not _WHOLE.fullmatch(label)), None)
        if odd is not None and names is False:
            problem = f"vertex {short(labels[odd])} is not an integer"
            raise self.source.fail(f"{problem}; pass names=True to read names", self.lines[odd])
        if odd is not None:
            return None, object_array(labels)
        ids = np.array([int(label) for label in labels], np.int64)
        return (ids, None) if ids.min() == 0 and ids.max() == len(ids) - 1 else (None, ids)


def weight_of(source: Source, text: str, line: int) -> float:
    """The weight in a file as a number."""
    try:
        return float_of(text)
    except Problem as problem:
        raise source.fail(f"{problem} (weight= selects another attribute, weight=None ignores it)", line) from None


def texts_of(target: Target, graph: Graph) -> tuple[list[str], bool]:
    """The names of the vertices in a file, and whether they look like numbers and must be marked as names."""
    labels = plain_labels(target, graph, range(-LARGEST_NUMBER, LARGEST_NUMBER + 1))
    texts = list(map(str, range(graph.n) if labels is None else labels))
    return texts, isinstance((labels or [0])[0], str) and all(map(_WHOLE.fullmatch, texts))


# ---------------------------------------------------------------- GML


def _tokens(source: Source) -> Iterator[tuple[str, str, int]]:
    """The kind, the text and the line of every token; quotes are removed and entities replaced."""
    content = "".join(text for _, text in source.lines("GML"))
    at, line = 0, 1
    for found in _TOKEN.finditer(content):
        kind = found.lastgroup or ""
        text, start = found[kind], found.start(kind)
        line += content.count("\n", at, start)
        at = start
        if kind == "text" and "&" in text:
            try:
                text = html.unescape(text)
            except ValueError:  # a number of more than 4,300 digits
                raise source.fail("a character reference of over 4,300 digits, as in &#999...", line) from None
        elif kind == "open":
            raise source.fail("a text without a closing quote; add the quote", line)
        elif kind == "odd":
            what = content[at : at + 40].partition("\n")[0].strip()
            raise source.fail(f"found {what!r}; expected a key, a number, a text or a bracket", line)
        elif kind == "end":
            return
        yield kind, text, line


def _lists(source: Source, single: tuple[str | None, ...]) -> Iterator[tuple[int, str, dict[str, str], int]]:
    """Depth, key, entries and line of each list, when the list ends. `single`: keys that may occur once per list."""
    stack: list[tuple[str, dict[str, str], int]] = [("", {}, 1)]
    key, line, graphs = "", 1, 0
    for kind, text, line in _tokens(source):
        if not key and kind == "key":
            key = text
            continue
        if not key:
            if text != "]" or kind != "list" or len(stack) == 1:
                raise source.fail(f"found {text[:40]!r}; expected a key", line)
            yield len(stack) - 2, *stack.pop()
        elif kind == "list" and text == "[":
            graphs += len(stack) == 1 and key == "graph"
            if graphs > 1:
                raise source.fail("a second graph; a file must contain one graph", line)
            stack.append((key, {}, line))
        elif kind in ("number", "text") or (kind == "key" and text.upper() in ("INF", "NAN")):
            owner, entries, _ = stack[-1]
            if len(stack) == 2 and owner == "graph" and key in ("node", "edge"):
                raise source.fail(f"{key} is {text[:40]!r}; expected a list in brackets", line)
            if len(stack) == 3 and key in entries and key in single:
                raise source.fail(f"a second {key[:40]!r} in one {owner}; remove one of them", line)
            if len(stack) <= 3:  # deeper entries have no meaning here
                entries[key] = text
        else:
            raise source.fail(f"found {text[:40]!r} after {key[:40]!r}; expected a value", line)
        key = ""
    if key or len(stack) > 1:
        open_, begin = (key, line) if key else (stack[-1][0], stack[-1][2])
        raise source.fail(f"{open_[:40]!r} does not end; expected {'its value' if key else ']'}", begin)
    if not graphs:
        raise source.fail("no graph; expected 'graph [ ... ]'", 1)


def read_gml(
    source: Source,
    request: Request,
    *,
    label: str | None = "label",
    weight: str | None = "weight",
    names: bool | None = None,
) -> Graph:
    """Read GML. Vertices are named by their key `label`, or by their ids if no vertex has this key or `label=None`."""
    nodes, edges = [], []
    head: dict[str, str] = {}
    for depth, kind, item, line in _lists(source, ("id", "source", "target", label, weight)):
        if depth == 0 and kind == "graph":
            head = item
            if head.get("directed", "0") not in ("0", "1"):
                raise source.fail(f"directed is {head['directed'][:40]!r}; expected 0 or 1", line)
        elif depth == 1 and kind == "node":
            name = _id(source, item, "id", "node", line)
            nodes.append((name, item.get(label or "id"), line))
        elif depth == 1 and kind == "edge":
            u, v = (_id(source, item, end, "edge", line) for end in ("source", "target"))
            edges.append((u, v, item.get(weight or ""), line))
    lacking = [node for node in nodes if node[1] is None]
    if lacking and (len(lacking) < len(nodes) or label not in (None, "label")):
        message = f"{len(lacking):,} of {len(nodes):,} nodes have no {label!r}"
        raise source.fail(f"{message}; add the missing ones, or pass label=None to use ids", 1)
    if weight not in (None, "weight") and edges and all(edge[2] is None for edge in edges):
        raise source.fail(f"no edge has {weight!r}; pass another key as weight=, or weight=None to read no weights", 1)
    declared, directed = Declared(source, request), head.get("directed") == "1"
    for name, called, line in nodes:
        declared.vertex(name, str(name) if called is None else called, line)
    for u, v, text, line in edges:
        declared.edge(u, v, text, directed, line)
    return declared.graph(True if names is None and head.get(_IDS) == "text" else names, directed=directed)


def _id(source: Source, item: dict[str, str], key: str, what: str, line: int) -> int:
    if not _WHOLE_ID.fullmatch(item.get(key, "")):
        found = f"the {key} of the {what} is {item[key][:40]!r}" if key in item else f"the {what} has no {key}"
        raise source.fail(f"{found}; expected an integer", line)
    return int(item[key])


def write_gml(target: Target, graph: Graph) -> None:
    """Write GML with labels (or ids) and weights; characters outside ASCII become entities."""
    texts, marked = texts_of(target, graph)
    escaped = [_NOT_ASCII.sub(lambda found: f"&#{ord(found[0])};", text) for text in texts]
    for text, written in zip(texts, escaped, strict=True):
        if html.unescape(written) != text:
            raise target.fail(f"label {text[:40]!r} has a control character, which GML cannot store; use .csv or .npz")
    mark = f'  {_IDS} "text"\n' if marked else ""
    target.stream.write(f"graph [\n  directed {int(graph.directed)}\n{mark}".encode())
    node = '  node [\n    id %d\n    label "%s"\n  ]\n'
    write_columns(target, node, np.arange(graph.n), np.array(escaped, object))
    edges, line = graph.edges(), "  edge [\n    source %d\n    target %d\n"
    columns: list[Any] = [edges.source, edges.target]
    if edges.weights is not None:
        columns.append(np.array([_real(value) for value in edges.weights.tolist()], object))
        line += "    weight %s\n"
    write_columns(target, line + "  ]\n", *columns)
    target.stream.write(b"]\n")


def _real(value: float) -> str:
    """A number in GML's syntax: with a decimal point before any exponent."""
    if math.isinf(value):
        return "+INF" if value > 0 else "-INF"
    digits, mark, exponent = repr(value).partition("e")
    return f"{digits}{'' if '.' in digits else '.0'}{'E' if mark else ''}{exponent}"


# ---------------------------------------------------------------- Pajek


def read_pajek(source: Source, request: Request, *, names: bool | None = None) -> Graph:
    """Read a Pajek network. If it has arcs, the graph is directed, and each edge of `*Edges` becomes two arcs."""
    net = Declared(source, request)
    labels: dict[int, str] = {}
    lines: dict[int, int] = {}
    n, row, line, section, declared, arcs, two_mode = -1, 0, 1, "", 1, False, False  # n = -1: no *Vertices yet

    def fail(message: str) -> FormatError:
        return source.fail(message, line)

    def end(word: str) -> int:
        if not (word.isascii() and word.isdigit() and len(word) <= 18 and 1 <= int(word) <= n):
            raise fail(f"found {word[:40]!r}; expected a vertex from 1 to {n}")
        return int(word) - 1

    for line, raw in source.lines("Pajek"):
        text = raw.strip(" \t\n\r\v\f")  # not other spaces, such as U+00A0
        is_vertex = section == "*vertices" and text[:1] != "*"
        words = [] if is_vertex else [word.decode() for word in text.encode().split()]  # not at U+00A0, as str.split
        if "\r" in text:
            raise fail(LONE_RETURN)
        if text.lower() == _NAMES_MARK and names is None:
            names = True
        if not text or text.startswith(("%", "/*")):
            continue
        if text.startswith("*"):
            section = words[0].lower()
            if section not in _SECTIONS:
                raise fail(f"the section {words[0][:40]!r} is not known; expected one of {', '.join(_SECTIONS)}")
            if section == "*vertices":
                if n >= 0:
                    raise fail("a second *Vertices; a file must contain one network")
                if len(words) not in (2, 3) or not all(word.isdigit() and len(word) <= 18 for word in words[1:]):
                    raise fail(f"found {text[:40]!r}; expected '*Vertices N'")
                n, declared, two_mode = int(words[1]), line, len(words) == 3
                request.vertices(source, n, line)
            elif section != "*network" and n < 0:
                raise fail(f"{words[0]} before the vertices; expected '*Vertices N' first")
            if section == "*matrix" and two_mode:
                raise fail("a two-mode network as a matrix is not supported; use *Arcs or *Edges, or a square matrix")
            arcs = arcs or section in ("*arcs", "*arcslist", "*matrix")
        elif section in ("", "*network"):
            raise fail(f"found {text[:40]!r}; expected '*Vertices N'")
        elif is_vertex:
            found = _VERTEX.match(text)
            if found is None:
                raise fail(f"found {text[:40]!r}; expected a number and a label, in quotes if it has spaces")
            vertex = end(found[1])
            if vertex in lines:
                raise fail(f"vertex {found[1]} is listed a second time; remove one of the lines")
            lines[vertex] = line
            if found[2] is not None or found[3] is not None:
                labels[vertex] = found[3] if found[2] is None else found[2]
        elif section == "*matrix":
            if row == n or len(words) != n:
                raise fail(f"row {row + 1} has {len(words):,} numbers; expected {n:,} rows of {n:,} numbers")
            for column, word in enumerate(words):
                if word != "0" and (value := weight_of(source, word, line)) != 0:
                    net.edge(row, column, None if value == 1 else word, True, line)
            row += 1
        elif len(words) < 2 and not section.endswith("list"):
            raise fail(f"found {text[:40]!r}; expected two vertices and an optional weight")
        else:
            ends = list(map(end, words if section.endswith("list") else words[:2]))
            weight = words[2] if len(words) > 2 and not section.endswith("list") else None
            for other in ends[1:]:
                net.edge(ends[0], other, weight, section.startswith("*arcs"), line)
    if n < 0:
        raise fail("no *Vertices; expected '*Vertices N'")
    if section == "*matrix" and row < n:
        raise fail(f"the matrix ends after {row:,} rows; expected {n:,}")
    net.places = range(n)
    if labels and request.labels:
        if n > MAX_UNLABELLED + len(labels):
            message = f"{len(labels):,} of {n:,} vertices have a label; add the missing labels, or pass labels=False"
            raise source.fail(message, declared)
        net.labels = [labels.get(i, str(i + 1)) for i in range(n)]
        net.lines = [lines.get(i, declared) for i in range(n)]
    return net.graph(names, directed=arcs)


def write_pajek(target: Target, graph: Graph) -> None:
    """Write `*Vertices` with labels (or ids), then `*Arcs` or `*Edges`, with weights."""
    texts, marked = texts_of(target, graph)
    for text in texts:
        if '"' in text or text != text.strip() or len(text.splitlines()) != 1 or "\0" in text:
            problem = f"label {text[:40]!r} contains a quote, a line break or outer spaces, which Pajek cannot store"
            raise target.fail(f"{problem}; use .graphml or .npz, or labels=False")
    target.stream.write(f"{'% Ids: text' + chr(10) if marked else ''}*Vertices {graph.n}\n".encode())
    write_columns(target, '%d "%s"\n', np.arange(1, graph.n + 1), np.array(texts, object))
    edges = graph.edges()
    target.stream.write(b"*Arcs\n" if graph.directed else b"*Edges\n")
    cell, weights = weight_cells(edges.weights)
    ends = edges.source.astype(np.int64) + 1, edges.target.astype(np.int64) + 1
    write_columns(target, f"%d %d {cell}".rstrip() + "\n", *ends, *weights)
