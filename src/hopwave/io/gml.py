"""GML: `graph [ directed 0 node [ id 0 label "x" ] edge [ source 0 target 1 weight 2.5 ] ]`."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterator

import numpy as np

from hopwave.graph import Graph
from hopwave.io.declared import Edges, Vertices, numbered, texts_of, weight_of
from hopwave.io.format import STEP, Format, Request, Target, write_columns
from hopwave.io.numbers import NUMBER
from hopwave.io.source import LONE_RETURN, Source

_OPEN = "a list begins"  # compared by identity: a text may say the same
_IDS = "ids"  # the graph's key that says "text" where labels that look like numbers are names
_TOKEN = re.compile(
    rf"""\s*+(?:(?P<key>[A-Za-z_][\w.:-]*+)|(?P<number>{NUMBER}(?![\w.])|[+-](?:INF|inf)\b)"""
    r"""|(?P<text>"[^"]*+")|(?P<list>[\[\]])|(?P<comment>\#.*+)|(?P<open>"))""",
    re.ASCII,
)
_WHOLE_ID = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_ESCAPED = re.compile('[^ -~]|[&"]')


def _tokens(source: Source) -> Iterator[tuple[str, str, int]]:
    """The kind, the text and the line of every token; texts have lost their quotes and entities."""
    begun: list[str] = []  # a text that goes on over several lines
    start = 0
    for number, text in source.lines("GML"):
        line, at = text.rstrip("\r\n"), 0
        if begun:
            at = line.find('"') + 1
            begun.append(line[: at - 1] if at else line)
            if not at:
                continue
            yield "text", _unescaped(source, "\n".join(begun), start), start
            begun = []
        end = len(line.rstrip())
        while at < end:
            found = _TOKEN.match(line, at, end)
            if found is None:
                what = line[at : at + 40].strip()
                raise source.fail(f"found {what!r}; expected a key, a number, a text or a bracket", number)
            kind = str(found.lastgroup)
            at = found.end()
            if kind == "open":
                begun, start = [line[at:]], number
                break
            if kind == "text":
                yield kind, _unescaped(source, found["text"][1:-1], number), number
            elif kind != "comment":
                yield kind, found[kind], number
            elif "\r" in found[kind]:
                raise source.fail(LONE_RETURN, number)
    if begun:
        raise source.fail("a text without a closing quote; expected one", start)


def _unescaped(source: Source, text: str, line: int) -> str:
    try:
        return html.unescape(text)
    except ValueError:  # a number of more than 4,300 digits
        raise source.fail("a character of thousands of digits, as in &#999...; expected a text", line) from None


def _entries(source: Source) -> Iterator[tuple[tuple[str, ...], str, str | None, int]]:
    """(keys of the lists around it, key, value, line) of every entry. A list begins with _OPEN and ends with None.

    Only the three outermost keys are given: what is deeper has no meaning here.
    """
    path: list[str] = []
    starts: list[int] = []
    key, line = "", 1
    for kind, text, line in _tokens(source):
        if not key:
            if kind == "list" and text == "]" and path:
                closed = path.pop()
                starts.pop()
                yield tuple(path[:3]), closed, None, line
            elif kind == "key":
                key = text
            else:
                raise source.fail(f"found {text[:40]!r}; expected a key", line)
        elif kind == "list" and text == "[":
            yield tuple(path[:3]), key, _OPEN, line
            path.append(key)
            starts.append(line)
            key = ""
        elif kind in ("number", "text") or (kind == "key" and text.upper() in ("INF", "NAN")):
            yield tuple(path[:3]), key, text, line
            key = ""
        else:
            raise source.fail(f"found {text[:40]!r} after {key[:40]!r}; expected a value", line)
    if key:
        raise source.fail(f"ends after {key[:40]!r}; expected its value", line)
    if path:
        raise source.fail(f"the list {path[-1][:40]!r} does not end; expected ]", starts[-1])


def read(
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
    directed, graphs, labelled, weighted = False, 0, 0, False
    item: dict[str, str] = {}
    begin = 1
    pairs: list[tuple[int, int, float | None]] = []
    for path, key, value, line in _entries(source):
        if path == () and key == "graph":
            graphs += value is _OPEN
            if graphs > 1:
                raise source.fail("a second graph; expected one per file", line)
        elif path == ("graph",) and key in ("node", "edge"):
            if value is _OPEN:
                item, begin = {}, line
            elif value is not None:
                raise source.fail(f"{key} is {value[:40]!r}; expected a list in brackets", line)
            elif key == "node":
                name = _id(source, item, "id", "node", begin)
                if label is not None and label in item:
                    labelled += 1
                vertices.declare(name, item.get(label or "id", str(name)), begin)
            else:
                u, v = (vertices.mention(_id(source, item, end, "edge", begin), begin) for end in ("source", "target"))
                given = weight_of(source, item[weight], begin) if weight in item else None
                weighted = weighted or given is not None
                pairs.append((u, v, given))
        elif path in (("graph", "node"), ("graph", "edge")):
            if value is not None and value is not _OPEN:
                if key in item and key in ("id", "source", "target", label, weight):
                    raise source.fail(f"a second {key[:40]!r} of one {path[1]}; expected one", line)
                item[key] = value
        elif path == ("graph",) and key == "directed":
            if value not in ("0", "1"):
                raise source.fail(f"directed is {str(value)[:40]!r}; expected 0 or 1", line)
            directed = value == "1"
        elif path == ("graph",) and key == _IDS and value == "text" and names is None:
            names = True
    if not graphs:
        raise source.fail("no graph; expected 'graph [ ... ]'", 1)
    n = len(vertices.labels)
    if 0 < labelled < n or (label not in (None, "label") and n and not labelled):
        raise source.fail(
            f"{n - labelled:,} of {n:,} nodes have no {label!r}; expected it in all of them, or label=None", 1
        )
    if weight not in (None, "weight") and pairs and not weighted:
        raise source.fail(f"no edge has {weight!r}; expected it: name another with weight=, or None for none", 1)
    for pair in pairs:
        edges.add(*pair, directed)
    places, found = vertices.places(), None
    if request.labels:
        order, found = numbered(source, vertices.labels, vertices.lines, names)
        places = places if order is None else order[places]
    n = request.vertices(source, n) if found is None else n
    return edges.graph(source, request, n, directed=directed, places=places, labels=found)


def _id(source: Source, item: dict[str, str], key: str, what: str, line: int) -> int:
    if key not in item:
        raise source.fail(f"the {what} has no {key}; expected a whole number", line)
    if not _WHOLE_ID.fullmatch(item[key]):
        raise source.fail(f"the {key} of the {what} is {item[key][:40]!r}; expected a whole number", line)
    return int(item[key])


def write(target: Target, graph: Graph) -> None:
    """Write GML, with labels (the ids where there are none) and weights; other characters than ASCII as entities."""
    texts, marked = texts_of(target, graph)
    for text in texts:
        if html.unescape(_escaped(text)) != text:
            raise target.fail(f"label {text[:40]!r} has a control character, which GML cannot store; use .csv or .npz")
    put = target.stream.write
    put(f"graph [\n  directed {int(graph.directed)}\n".encode())
    if marked:
        put(f'  {_IDS} "text"\n'.encode())
    labels = np.array([_escaped(text) for text in texts], object)
    write_columns(target, '  node [\n    id %d\n    label "%s"\n  ]\n', np.arange(graph.n), labels)
    edges, line = graph.edges(), "  edge [\n    source %d\n    target %d\n"
    if edges.weights is None:
        write_columns(target, line + "  ]\n", edges.source, edges.target)
    else:
        for i in range(0, len(edges), STEP):  # texts of all weights would take much memory
            values = np.array([_real(value) for value in edges.weights[i : i + STEP].tolist()], object)
            ends = edges.source[i : i + STEP], edges.target[i : i + STEP]
            write_columns(target, line + "    weight %s\n  ]\n", *ends, values)
    put(b"]\n")


def _escaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: f"&#{ord(found[0])};", text)


def _real(value: float) -> str:
    """A number as GML wants it: with a decimal point before any exponent."""
    if math.isinf(value):
        return "+INF" if value > 0 else "-INF"
    digits, mark, exponent = repr(value).partition("e")
    return f"{digits}{'' if '.' in digits else '.0'}{'E' if mark else ''}{exponent}"


FORMAT = Format(
    name="gml",
    title="GML",
    extensions=(".gml",),
    holds_labels=True,
    directedness="the file says; undirected without `directed 1`",
    read=read,
    write=write,
)
