"""GraphML: XML with declared attributes. Nested graphs, hyperedges, ports and entities are rejected."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from xml.parsers import expat

import numpy as np

from hopwave.errors import FormatError
from hopwave.graph import Graph
from hopwave.io.declared import Edges, Vertices, texts_of, weight_of
from hopwave.io.format import Format, Request, Target, write_columns
from hopwave.io.source import Source

_IDS = "ids"  # the graph's attribute that says "text" where names look like numbers
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PARENTS: dict[str, tuple[str | None, ...]] = {
    "graphml": (None,), "key": ("graphml",), "default": ("key",), "graph": ("graphml",), "node": ("graph",),
    "edge": ("graph",), "data": ("graph", "node", "edge"),
}  # fmt: skip
_REASONS = {
    "hyperedge": "a hyperedge; expected edges with two ends: convert hyperedges first",
    "port": "a port; expected vertices without ports: remove them first",
}


@dataclass
class _Key:
    """The declaration of an attribute."""

    domain: str  # "node", "edge", "graph" or "all"
    name: str
    kind: str
    line: int
    default: str | None = None


class _Reader:
    """Follows the parser through one file."""

    def __init__(self, source: Source, request: Request, label: str | None, weight: str | None) -> None:
        self.source, self.request, self.label, self.weight = source, request, label, weight
        self.vertices = Vertices(source)
        self.edges = Edges()
        self.keys: dict[str, _Key] = {}
        self.directed: bool | None = None
        self.names: bool | None = None
        self.single = True
        self._depth = 0  # of elements without a meaning here; everything in them is skipped
        self._open: list[str] = []
        self._attributes: dict[str, str] = {}
        self._key: _Key | None = None
        self._text: list[str] | None = None
        self._has_elements = False  # within the present text
        self._value: str | None = None  # of the label or the weight of the present node or edge
        self._line = 0
        self._seen_graph = False
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler, self.parser.EndElementHandler = self._start, self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.EntityDeclHandler = self.parser.SkippedEntityHandler = self._entity

    def fail(self, message: str) -> FormatError:
        return self.source.fail(message, self.parser.CurrentLineNumber)

    def _entity(self, *_: Any) -> None:
        raise self.fail("declares or uses an entity; expected none: entities are not expanded")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(":")[2]
        parent = self._open[-1] if self._open else None
        if self._depth:
            self._depth += 1
            return
        if parent is None and name != "graphml":
            raise self.fail(f"the document is <{name[:40]}>; expected <graphml>")
        if name in _REASONS and parent in ("graph", "node"):
            raise self.fail(_REASONS[name])
        if name == "graph" and parent != "graphml":
            raise self.fail("a graph inside another; expected one flat graph: nested graphs are not supported")
        if parent not in _PARENTS.get(name, ()):
            self._depth = 1
            self._has_elements = True
            return
        self._open.append(name)
        begin = getattr(self, f"_begin_{name}", None)
        if begin is not None:
            begin(attributes)

    def _end(self, _: str) -> None:
        if self._depth:
            self._depth -= 1
            return
        finish = getattr(self, f"_finish_{self._open.pop()}", None)
        if finish is not None:
            finish()

    def _characters(self, text: str) -> None:
        if self._text is not None and not self._depth:
            self._text.append(text)

    # Each element that matters: what its start and its end mean.

    def _begin_key(self, attributes: dict[str, str]) -> None:
        key = self._needed(attributes, "id", "key")
        name, kind = attributes.get("attr.name", key), attributes.get("attr.type", "string")
        self._key = self.keys[key] = _Key(attributes.get("for", "all"), name, kind, self.parser.CurrentLineNumber)

    def _begin_default(self, _: dict[str, str]) -> None:
        self._text, self._has_elements = [], False

    def _finish_default(self) -> None:
        assert self._key is not None
        if self._has_elements and self._key.name in (self.label, self.weight):
            raise self.fail(f"the default of {self._key.name[:40]!r} has elements in it; expected text alone")
        self._key.default = self._taken()

    def _begin_graph(self, attributes: dict[str, str]) -> None:
        if self._seen_graph:
            raise self.fail("a second graph; expected one per file")
        direction, self._seen_graph = attributes.get("edgedefault"), True
        if direction not in ("directed", "undirected") and self.request.directed is None:
            found = "is missing" if direction is None else f"is {direction[:40]!r}"
            raise self.fail(f"edgedefault {found}; expected 'directed' or 'undirected', or pass directed=")
        self.directed = bool(self.request.directed) if direction is None else direction == "directed"

    def _begin_node(self, attributes: dict[str, str]) -> None:
        self._attributes, self._line, self._value = attributes, self.parser.CurrentLineNumber, None

    def _finish_node(self) -> None:
        key = self._needed(self._attributes, "id", "node")
        label: str | None = key
        if self.label is not None:
            declared = self.key_of("node", self.label)
            label = self._value if self._value is not None or declared is None else declared.default
            if label is None:
                raise self.source.fail(
                    f"node {key[:40]!r} has no attribute {self.label!r}; expected one in each, or label=None",
                    self._line,
                )
        self.vertices.declare(key, label or "", self._line)

    def _begin_edge(self, attributes: dict[str, str]) -> None:
        self._attributes, self._line, self._value = attributes, self.parser.CurrentLineNumber, None
        if "sourceport" in attributes or "targetport" in attributes:
            raise self.fail(_REASONS["port"])

    def _finish_edge(self) -> None:
        attributes = self._attributes
        u, v = (self._needed(attributes, end, "edge") for end in ("source", "target"))
        own = attributes.get("directed")
        if own not in (None, "true", "false", "1", "0"):
            raise self.source.fail(f"directed={own[:40]!r}; expected 'true' or 'false'", self._line)
        arc = bool(self.directed) if own is None else own in ("true", "1")
        value = None if self._value is None else weight_of(self.source, self._value, self._line)
        line = self._line
        self.edges.add(self.vertices.mention(u, line), self.vertices.mention(v, line), value, arc)

    def _begin_data(self, attributes: dict[str, str]) -> None:
        key = self._needed(attributes, "key", "data")
        if key not in self.keys:
            raise self.fail(f"data for the key {key[:40]!r}; expected a <key> with that id before the graph")
        self._key = self.keys[key]
        self._text, self._has_elements = [], False

    def _finish_data(self) -> None:
        assert self._key is not None
        text, owner = self._taken(), self._open[-1]
        if owner == "graph":
            if self._key.name == _IDS and text == "text":
                self.names = True
        elif self._key.domain in (owner, "all") and self._key.name == (self.label if owner == "node" else self.weight):
            what = repr(self._key.name[:40])
            if self._has_elements:
                raise self.fail(f"{what} of the {owner} has elements in it; expected text alone")
            if self._value is not None:
                raise self.fail(f"a second {what} of one {owner}; expected one")
            self._value = text
            if owner == "edge":
                self.single = self.single and self._key.kind == "float"

    def _needed(self, attributes: dict[str, str], name: str, tag: str) -> str:
        if name not in attributes:
            raise self.fail(f"a <{tag}> without {name}=; expected one")
        return attributes[name]

    def _taken(self) -> str:
        text = "".join(self._text or ())
        self._text = None
        return text

    def key_of(self, domain: str, name: str | None) -> _Key | None:
        """The declaration of an attribute of nodes or of edges."""
        return next((key for key in self.keys.values() if key.name == name and key.domain in (domain, "all")), None)

    def graph(self, names: bool | None) -> Graph:
        """The graph of the file."""
        if not self._seen_graph:
            raise self.fail("no <graph>; expected one")
        key = self.key_of("edge", self.weight)
        if key is None and self.weight not in (None, "weight"):
            has = ", ".join(repr(key.name) for key in self.keys.values() if key.domain in ("edge", "all")) or "none"
            raise self.fail(f"no edge attribute {self.weight!r}; expected one of those declared: {has}")
        default = None
        if key is not None and key.default is not None:
            default = weight_of(self.source, key.default, key.line)
            self.single = self.single and key.kind == "float"
        return self.edges.between(
            self.vertices, self.request, self.names if names is None else names, directed=bool(self.directed),
            default=default, single=self.single, weighted=key is not None,
        )  # fmt: skip


def read(
    source: Source,
    request: Request,
    *,
    label: str | None = None,
    weight: str | None = "weight",
    names: bool | None = None,
) -> Graph:
    """Read GraphML. Vertices are called by their ids, or by the node attribute `label`.

    The edge attribute `weight` holds the weights, if it is declared; `weight=None` leaves them out. `names=True` reads
    every id as a name, `names=False` requires integers.
    """
    reader = _Reader(source, request, label, weight)
    line = 1
    with source.open() as stream:
        try:
            while block := source.take(stream, 1 << 20, line):
                reader.parser.Parse(block, False)
                line = reader.parser.CurrentLineNumber
            reader.parser.Parse(b"", True)
        except expat.ExpatError as error:
            reason = expat.errors.messages.get(error.code, "unknown error")
            raise source.fail(f"not well-formed XML ({reason}); expected GraphML", error.lineno) from None
        except (LookupError, UnicodeError, ValueError) as error:
            if isinstance(error, FormatError):
                raise
            reason = str(error).splitlines()[0][:80]
            raise source.fail(f"text that cannot be decoded ({reason}); expected GraphML", line) from None
    return reader.graph(names)


def write(target: Target, graph: Graph) -> None:
    """Write GraphML: the labels are the ids of the nodes, the weights an attribute of the edges."""
    texts, marked = texts_of(target, graph)
    for text in texts:
        if _NOT_IN_XML.search(text):
            raise target.fail(f"label {text[:40]!r} has a character that XML cannot store; use .npz, or labels=False")
    put = target.stream.write
    put(b'<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
    edges = graph.edges()
    weights = edges.weights
    if weights is not None:
        kind = "float" if weights.dtype.itemsize == 4 else "double"
        put(f'  <key id="weight" for="edge" attr.name="weight" attr.type="{kind}"/>\n'.encode())
    if marked:
        put(f'  <key id="{_IDS}" for="graph" attr.name="{_IDS}" attr.type="string"/>\n'.encode())
    put(f'  <graph edgedefault="{"directed" if graph.directed else "undirected"}">\n'.encode())
    if marked:
        put(f'    <data key="{_IDS}">text</data>\n'.encode())
    from xml.sax.saxutils import quoteattr  # it imports urllib

    quoted = np.array([quoteattr(text, {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}) for text in texts], object)
    write_columns(target, "    <node id=%s/>\n", quoted)
    ends = quoted[edges.source], quoted[edges.target]
    if weights is None:
        write_columns(target, "    <edge source=%s target=%s/>\n", *ends)
    else:
        line = '    <edge source=%s target=%s><data key="weight">%r</data></edge>\n'
        write_columns(target, line, *ends, weights)
    put(b"  </graph>\n</graphml>\n")


FORMAT = Format(
    name="graphml",
    title="GraphML",
    extensions=(".graphml",),
    holds_labels=True,
    directedness="the file says",
    read=read,
    write=write,
)
