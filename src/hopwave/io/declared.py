"""Files that declare vertices and edges one by one: what GraphML, GML and Pajek share, and the last two formats.

GML       `graph [ directed 0 node [ id 0 label "x" ] edge [ source 0 target 1 weight 2.5 ] ]`
Pajek     `*Vertices n` with labels, then `*Arcs`, `*Edges`, `*Arcslist`, `*Edgeslist` or `*Matrix`
"""

from __future__ import annotations

import html
import math
import re
from array import array
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hopwave.errors import FormatError
from hopwave.graph import Graph
from hopwave.io.format import STEP, Format, Request, Target, plain_labels, write_columns
from hopwave.io.lines import NUMBER, Problem, float_of
from hopwave.io.source import LONE_RETURN, Source

# Integers in their usual spelling: "7" and "-7", but not "07" or "-0", which are names.
_WHOLE = re.compile(r"0|-?[1-9]\d{0,17}", re.ASCII)
_IDS = "ids"  # the key of a GML graph that says "text" if labels that look like numbers are names
_TOKEN = re.compile(
    rf"""\s*+(?:\#[^\r\n]*+\s*+)*+(?:(?P<key>[A-Za-z_][\w.:-]*+)|(?P<number>{NUMBER}(?![\w.])|[+-](?:INF|inf)\b)"""
    r"""|"(?P<text>[^"]*+)"|(?P<list>[\[\]])|(?P<open>")|(?P<end>\Z)|(?P<odd>.))""",
    re.ASCII,
)
_WHOLE_ID = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_NOT_ASCII = re.compile('[^ -~]|[&"]')
_NAMES_MARK = "% ids: text"  # our comment in Pajek files if labels that look like numbers are names
_VERTEX = re.compile(r'\s*(\d{1,18})(?:\s+(?:"([^"]*)"|([^\s"]\S*))(?=\s|$)|\s*$)', re.ASCII)
MAX_UNLABELLED = 1_000_000  # vertices that get their number as a label: more would fill the memory from a small file
_SECTIONS = ("*vertices", "*arcs", "*edges", "*arcslist", "*edgeslist", "*matrix")


class Vertices:
    """The vertices that a file declares, by their ids there. Edges may mention a vertex before it is declared."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._numbers: dict[str | int, int] = {}
        self._undeclared: dict[str | int, int] = {}  # the line that mentions it first
        self._order = array("q")  # numbers of the declared vertices, in the order of the file
        self.labels: list[str] = []
        self.lines = array("q")

    def mention(self, key: str | int, line: int) -> int:
        """The number of the vertex at the end of an edge."""
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._numbers)
            self._undeclared[key] = line
        return number

    def declare(self, key: str | int, label: str, line: int) -> None:
        """A vertex of the file."""
        number = self.mention(key, line)
        if self._undeclared.pop(key, None) is None:
            raise self._source.fail(f"a second vertex with the id {_short(key)}; expected different ids", line)
        self._order.append(number)
        self.labels.append(label)
        self.lines.append(line)

    def places(self) -> npt.NDArray[np.int64]:
        """From the numbers of `mention` to the order of the file."""
        for key, line in self._undeclared.items():
            raise self._source.fail(f"an edge ends at {_short(key)}; expected a declared vertex", line)
        place = np.empty(len(self._order), np.int64)
        place[np.frombuffer(self._order, np.int64)] = np.arange(len(self._order))
        return place


class Edges:
    """The edges of a file as they are read: arcs and undirected edges, with weights or without."""

    def __init__(self) -> None:
        self._u, self._v = array("q"), array("q")
        self._weights = array("d")  # NaN: none
        self._arcs = bytearray()

    def add(self, u: int, v: int, weight: float | None, arc: bool) -> None:
        """An edge between two numbers."""
        self._u.append(u)
        self._v.append(v)
        self._weights.append(math.nan if weight is None else weight)
        self._arcs.append(arc)

    def between(self, vertices: Vertices, request: Request, names: bool | None, **said: Any) -> Graph:
        """The graph of these edges and vertices; `said` as in `graph`."""
        source, n = vertices._source, len(vertices.labels)
        places, labels = vertices.places(), None
        if request.labels:
            order, labels = numbered(source, vertices.labels, vertices.lines, names)
            places = places if order is None else order[places]
        n = n if labels is not None else request.vertices(source, n)
        return self.graph(source, request, n, places=places, labels=labels, **said)

    def graph(
        self,
        source: Source,
        request: Request,
        n: int,
        *,
        directed: bool,
        places: npt.NDArray[np.int64] | None = None,
        labels: npt.NDArray[Any] | None = None,
        default: float | None = None,
        single: bool = False,
        weighted: bool = False,
    ) -> Graph:
        """The graph. `directed` is for a file without edges; arcs among edges make every edge two arcs.

        `places` renumbers the ends. If only some edges have a weight, the others get the default, or else 1. `single`:
        weights are float32 if they fit; `weighted`: a graph without edges has weights.
        """
        u, v = np.frombuffer(self._u, np.int64), np.frombuffer(self._v, np.int64)
        if places is not None:
            u, v = places[u], places[v]
        weights: npt.NDArray[Any] | None = None
        given = np.frombuffer(self._weights, np.float64)
        missing = np.isnan(given)
        if (default is not None or not missing.all()) if len(given) else weighted:
            weights = np.where(missing, 1.0 if default is None else default, given)
            finite = np.abs(weights[np.isfinite(weights)])
            if single and finite.max(initial=0) <= np.finfo(np.float32).max:
                weights = weights.astype(np.float32)
        arcs = np.frombuffer(self._arcs, np.bool_)
        if len(arcs):
            directed = bool(arcs.any())
        if directed and request.directed is not False and not arcs.all():
            back = ~arcs & (u != v)
            u, v = np.concatenate([u, v[back]]), np.concatenate([v, u[back]])
            weights = None if weights is None else np.concatenate([weights, weights[back]])
        return request.graph(source, u, v, n, directed=directed, labels=labels, weights=weights)


def weight_of(source: Source, text: str, line: int) -> float:
    """The number that a file gives as a weight."""
    try:
        return float_of(text)
    except Problem as problem:
        raise source.fail(f"{problem} (weight= names another attribute, weight=None leaves them out)", line) from None


def numbered(
    source: Source, labels: Sequence[str], lines: Sequence[int], names: bool | None
) -> tuple[npt.NDArray[np.int64] | None, npt.NDArray[Any] | None]:
    """The position of each vertex of the file in the graph (None: unchanged), and the labels.

    Integers that are exactly 0 … n−1 are the vertices themselves. Other integers are integer labels, anything else is a
    name. names=True makes all of them names, names=False requires integers.
    """
    seen: dict[str, int] = {}
    for i, label in enumerate(labels):
        if seen.setdefault(label, i) != i:
            raise source.fail(
                f"a second vertex is called {_short(label)}; expected different names: choose others with label=, or "
                "drop them with labels=False",
                lines[i],
            )
    odd = 0 if names else next((i for i, label in enumerate(labels) if not _WHOLE.fullmatch(label)), None)
    if odd is not None and names is False:
        raise source.fail(f"vertex {_short(labels[odd])}; expected a whole number, or names=True", lines[odd])
    if names or odd is not None:
        texts = np.empty(len(labels), object)
        texts[:] = labels
        return None, texts
    ids = np.array([int(label) for label in labels], np.int64)
    if len(ids) == 0 or (ids.min() == 0 and ids.max() == len(ids) - 1):
        return ids, None
    return None, ids


def texts_of(target: Target, graph: Graph) -> tuple[list[str], bool]:
    """What to call the vertices in a file, and whether that must be marked as names: they look like numbers."""
    labels = plain_labels(target, graph)
    if labels is None:
        return [str(i) for i in range(graph.n)], False
    texts = [str(label) for label in labels]
    whole = all(_WHOLE.fullmatch(text) for text in texts)
    if not whole and labels and isinstance(labels[0], int):
        raise target.fail("a label of more than 18 digits; use .npz, or drop labels with labels=False")
    return texts, whole and isinstance(labels[0] if labels else 0, str)


def _short(key: str | int) -> str:
    text = repr(key)
    return text if len(text) <= 40 else text[:40] + "..."


# ---------------------------------------------------------------- GML


class _List(NamedTuple):
    """A list of a GML file that is still open."""

    key: str
    entries: dict[str, str]
    line: int


def _tokens(source: Source) -> Iterator[tuple[str, str, int]]:
    """The kind, the text and the line of every token; texts have lost their quotes and entities."""
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
                raise source.fail("a character of thousands of digits, as in &#999...; expected a text", line) from None
        elif kind in ("open", "odd"):
            what = content[at : at + 40].partition("\n")[0].strip()
            told = f"found {what!r}; expected a key, a number, a text or a bracket"
            raise source.fail("a text without a closing quote; expected one" if kind == "open" else told, line)
        elif kind == "end":
            return
        yield kind, text, line


def _lists(source: Source, single: tuple[str | None, ...]) -> Iterator[tuple[int, _List]]:
    """Every list when it ends, and how deep it lies. `single`: keys that a node or an edge may have once."""
    stack = [_List("", {}, 1)]
    key, line, graphs = "", 1, 0
    for kind, text, line in _tokens(source):
        if not key:
            if kind == "key":
                key = text
            elif text == "]" and kind == "list" and len(stack) > 1:
                yield len(stack) - 2, stack.pop()
            else:
                raise source.fail(f"found {text[:40]!r}; expected a key", line)
        elif kind == "list" and text == "[":
            graphs += len(stack) == 1 and key == "graph"
            if graphs > 1:
                raise source.fail("a second graph; expected one per file", line)
            stack.append(_List(key, {}, line))
            key = ""
        elif kind in ("number", "text") or (kind == "key" and text.upper() in ("INF", "NAN")):
            top = stack[-1]
            if len(stack) == 2 and top.key == "graph" and key in ("node", "edge"):
                raise source.fail(f"{key} is {text[:40]!r}; expected a list in brackets", line)
            if len(stack) == 3 and key in top.entries and key in single:
                raise source.fail(f"a second {key[:40]!r} of one {top.key}; expected one", line)
            if len(stack) <= 3:  # deeper entries have no meaning here
                top.entries[key] = text
            key = ""
        else:
            raise source.fail(f"found {text[:40]!r} after {key[:40]!r}; expected a value", line)
    if key:
        raise source.fail(f"ends after {key[:40]!r}; expected its value", line)
    if len(stack) > 1:
        raise source.fail(f"the list {stack[-1].key[:40]!r} does not end; expected ]", stack[-1].line)
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
    """Read GML. Vertices are called by their key `label`, or by their ids if none has it, or if `label=None`.

    The edges' key `weight` holds the weights, if there are any; `weight=None` leaves them out. `names=True` reads
    every label as a name, `names=False` requires integers.
    """
    vertices, edges = Vertices(source), Edges()
    labelled, weighted = 0, False
    pairs: list[tuple[int, int, float | None]] = []
    head: dict[str, str] = {}
    for depth, (kind, item, line) in _lists(source, ("id", "source", "target", label, weight)):
        if depth == 0 and kind == "graph":
            head = item
            if head.get("directed", "0") not in ("0", "1"):
                raise source.fail(f"directed is {head['directed'][:40]!r}; expected 0 or 1", line)
        elif depth == 1 and kind == "node":
            name = _id(source, item, "id", "node", line)
            labelled += label is not None and label in item
            vertices.declare(name, item.get(label or "id", str(name)), line)
        elif depth == 1 and kind == "edge":
            u, v = (vertices.mention(_id(source, item, end, "edge", line), line) for end in ("source", "target"))
            given = weight_of(source, item[weight], line) if weight in item else None
            weighted = weighted or given is not None
            pairs.append((u, v, given))
    n = len(vertices.labels)
    if 0 < labelled < n or (label not in (None, "label") and n and not labelled):
        raise source.fail(
            f"{n - labelled:,} of {n:,} nodes have no {label!r}; expected it in all of them, or label=None", 1
        )
    if weight not in (None, "weight") and pairs and not weighted:
        raise source.fail(f"no edge has {weight!r}; expected it: name another with weight=, or None for none", 1)
    directed = head.get("directed") == "1"
    for pair in pairs:
        edges.add(*pair, directed)
    names = True if names is None and head.get(_IDS) == "text" else names
    return edges.between(vertices, request, names, directed=directed)


def _id(source: Source, item: dict[str, str], key: str, what: str, line: int) -> int:
    if key not in item:
        raise source.fail(f"the {what} has no {key}; expected a whole number", line)
    if not _WHOLE_ID.fullmatch(item[key]):
        raise source.fail(f"the {key} of the {what} is {item[key][:40]!r}; expected a whole number", line)
    return int(item[key])


def write_gml(target: Target, graph: Graph) -> None:
    """Write GML, with labels (the ids if there are none) and weights; other characters than ASCII as entities."""
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
    if edges.weights is None:
        write_columns(target, line + "  ]\n", edges.source, edges.target)
    else:
        for i in range(0, len(edges), STEP):  # texts of all weights would take much memory
            values = np.array([_real(value) for value in edges.weights[i : i + STEP].tolist()], object)
            ends = edges.source[i : i + STEP], edges.target[i : i + STEP]
            write_columns(target, line + "    weight %s\n  ]\n", *ends, values)
    target.stream.write(b"]\n")


def _real(value: float) -> str:
    """A number as GML wants it: with a decimal point before any exponent."""
    if math.isinf(value):
        return "+INF" if value > 0 else "-INF"
    digits, mark, exponent = repr(value).partition("e")
    return f"{digits}{'' if '.' in digits else '.0'}{'E' if mark else ''}{exponent}"


# ---------------------------------------------------------------- Pajek


class _Network:
    """A Pajek file, line by line."""

    def __init__(self, source: Source, request: Request, names: bool | None) -> None:
        self.source, self.request, self.names = source, request, names
        self.n, self.row = -1, 0  # vertices, rows of the matrix; -1: no *Vertices yet
        self.declared, self.line = 1, 1  # the lines of *Vertices and of what is read
        self.two_mode = self.arcs = False
        self.labels: dict[int, str] = {}
        self.lines: dict[int, int] = {}
        self.edges = Edges()

    def fail(self, message: str) -> FormatError:
        return self.source.fail(message, self.line)

    def begin(self, text: str) -> str:
        """The section that a line with a star begins."""
        words = text.split()
        section = words[0].lower()
        if section == "*network":
            return ""
        if section not in _SECTIONS:
            known = "*Vertices, *Arcs, *Edges, *Arcslist, *Edgeslist or *Matrix"
            raise self.fail(f"the section {words[0][:40]!r}; expected one of {known}")
        if section == "*vertices":
            if self.n >= 0:
                raise self.fail("a second *Vertices; expected one network per file")
            if len(words) not in (2, 3) or not all(word.isdigit() and len(word) <= 18 for word in words[1:]):
                raise self.fail(f"found {text[:40]!r}; expected '*Vertices N'")
            self.n, self.declared, self.two_mode = int(words[1]), self.line, len(words) == 3
            self.request.vertices(self.source, self.n, self.line)
        elif self.n < 0:
            raise self.fail(f"{words[0]} before the vertices; expected '*Vertices N' first")
        if section == "*matrix" and self.two_mode:
            raise self.fail("the matrix of a two-mode network; expected *Arcs or *Edges, or a square matrix")
        self.arcs = self.arcs or section in ("*arcs", "*arcslist", "*matrix")
        return section

    def add(self, section: str, text: str) -> None:
        """A line of a section."""
        words = [word.decode() for word in text.encode().split()]  # str.split also splits at U+00A0
        if section == "":
            raise self.fail(f"found {text[:40]!r}; expected '*Vertices N'")
        if section == "*vertices":
            self.vertex(text)
        elif section == "*matrix":
            self.matrix_row(words)
        elif section in ("*arcslist", "*edgeslist"):
            ends = list(map(self.end, words))
            for v in ends[1:]:
                self.edges.add(ends[0], v, None, section == "*arcslist")
        else:
            if len(words) < 2:
                raise self.fail(f"found {text[:40]!r}; expected two vertices and perhaps a weight")
            weight = weight_of(self.source, words[2], self.line) if len(words) > 2 else None
            self.edges.add(self.end(words[0]), self.end(words[1]), weight, section == "*arcs")

    def vertex(self, text: str) -> None:
        found = _VERTEX.match(text)
        if found is None:
            raise self.fail(f"found {text[:40]!r}; expected a number and a label, in quotes if it has spaces")
        vertex = self.end(found[1])
        if vertex in self.lines:
            raise self.fail(f"vertex {found[1]} a second time; expected it once")
        self.lines[vertex] = self.line
        label = found[2] if found[2] is not None else found[3]
        if label is not None:
            self.labels[vertex] = label

    def matrix_row(self, words: list[str]) -> None:
        if self.row == self.n or len(words) != self.n:
            raise self.fail(f"row {self.row + 1} of {len(words):,} numbers; expected {self.n:,} rows of {self.n:,}")
        for column, word in enumerate(words):
            if word != "0" and (value := weight_of(self.source, word, self.line)) != 0:
                self.edges.add(self.row, column, None if value == 1 else value, True)
        self.row += 1

    def end(self, word: str) -> int:
        if not (word.isascii() and word.isdigit() and len(word) <= 18 and 1 <= int(word) <= self.n):
            raise self.fail(f"found {word[:40]!r}; expected a vertex from 1 to {self.n}")
        return int(word) - 1

    def graph(self) -> Graph:
        places = labels = None
        if self.labels and self.request.labels:
            if self.n > MAX_UNLABELLED + len(self.labels):
                message = f"{len(self.labels):,} of {self.n:,} vertices have a label; expected one for each"
                raise self.source.fail(f"{message}, or labels=False", self.declared)
            texts = [self.labels.get(i, str(i + 1)) for i in range(self.n)]
            lines = [self.lines.get(i, self.declared) for i in range(self.n)]
            places, labels = numbered(self.source, texts, lines, self.names)
        n = self.n if labels is not None else self.request.vertices(self.source, self.n, self.declared)
        return self.edges.graph(self.source, self.request, n, directed=self.arcs, places=places, labels=labels)


def read_pajek(source: Source, request: Request, *, names: bool | None = None) -> Graph:
    """Read a Pajek network. Arcs make it directed, and then every edge of `*Edges` is two arcs.

    The third number of a line is its weight. `names=True` reads every label as a name, `names=False` requires integers.
    """
    net, section = _Network(source, request, names), ""
    for net.line, line in source.lines("Pajek"):
        text = line.strip(" \t\n\r\v\f")  # not other spaces, such as U+00A0
        if "\0" in text:
            raise net.fail("a NUL byte in the text; expected Pajek")
        if "\r" in text:
            raise net.fail(LONE_RETURN)
        if text.startswith("*"):
            section = net.begin(text)
        elif text.lower() == _NAMES_MARK and names is None:
            net.names = True
        elif text and not text.startswith(("%", "/*")):
            net.add(section, text)
    if net.n < 0:
        raise net.fail("no *Vertices; expected '*Vertices N'")
    if section == "*matrix" and net.row < net.n:
        raise net.fail(f"the matrix ends after {net.row:,} rows; expected {net.n:,}")
    return net.graph()


def write_pajek(target: Target, graph: Graph) -> None:
    """Write `*Vertices` with labels (the ids if there are none), then `*Arcs` or `*Edges`, with weights."""
    texts, marked = texts_of(target, graph)
    for text in texts:
        if '"' in text or text != text.strip() or len(text.splitlines()) != 1 or "\0" in text:
            raise target.fail(
                f"label {text[:40]!r} has a quote, a line break or spaces around it, which Pajek cannot store; use "
                ".graphml or .npz, or labels=False"
            )
    target.stream.write(f"{'% Ids: text' + chr(10) if marked else ''}*Vertices {graph.n}\n".encode())
    write_columns(target, '%d "%s"\n', np.arange(1, graph.n + 1), np.array(texts, object))
    edges = graph.edges()
    target.stream.write(b"*Arcs\n" if graph.directed else b"*Edges\n")
    ends = edges.source.astype(np.int64) + 1, edges.target.astype(np.int64) + 1
    if edges.weights is None:
        return write_columns(target, "%d %d\n", *ends)
    return write_columns(target, "%d %d %r\n", *ends, edges.weights)


FORMATS = (
    Format(
        name="gml",
        title="GML",
        extensions=(".gml",),
        holds_labels=True,
        directedness="the file says; undirected without `directed 1`",
        read=read_gml,
        write=write_gml,
    ),
    Format(
        name="pajek",
        title="Pajek",
        extensions=(".net", ".pajek"),
        holds_labels=True,
        directedness="`*Arcs`: directed; `*Edges` alone: undirected",
        read=read_pajek,
        write=write_pajek,
    ),
)
