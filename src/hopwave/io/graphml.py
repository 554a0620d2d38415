"""GraphML: XML with declared attributes. Nested graphs, hyperedges, ports and entities are rejected."""

import re
from typing import Any, NamedTuple
from xml.parsers import expat

import numpy as np

from hopwave.errors import FormatError
from hopwave.graph import Graph
from hopwave.io.declared import Declared, texts_of
from hopwave.io.format import Request, Target, write_columns
from hopwave.io.lines import Source

_IDS = "ids"  # attribute of the graph; its value "text" marks names that look like numbers
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PARENTS: dict[str, tuple[str | None, ...]] = {
    "graphml": (None,), "key": ("graphml",), "default": ("key",), "graph": ("graphml",), "node": ("graph",),
    "edge": ("graph",), "data": ("graph", "node", "edge"),
}  # fmt: skip
_PORT = "a port, which is not supported; remove the ports first"
_REASONS = {"hyperedge": "a hyperedge, which is not supported; convert hyperedges to edges first", "port": _PORT}


class _Element(NamedTuple):
    """An element that the reader uses."""

    name: str
    attributes: dict[str, str]
    line: int
    text: list[str]
    children: "list[_Element | None]"  # data and defaults; None: an element that the reader ignores


class _Key(NamedTuple):
    """The declaration of an attribute of "node", "edge", "graph" or "all"."""

    domain: str
    name: str
    kind: str
    default: str | None


class _Reader:
    """Handlers of the XML parser for one file."""

    def __init__(self, source: Source, request: Request, label: str | None, weight: str | None) -> None:
        self.source, self.request, self.declared = source, request, Declared(source, request)
        self.wanted = {"node": label, "edge": weight}  # names of the attributes to read
        self.found: dict[str, _Key | None] = {}  # declarations of these attributes
        self.keys: dict[str, _Key] = {}
        self.outer: _Element | None = None  # the <graph> element
        self.directed = False
        self.single = True  # all weights are declared as float
        self._depth = 0  # nesting depth of ignored elements, whose content is skipped
        self._open: list[_Element] = []
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler, self.parser.EndElementHandler = self._start, self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.EntityDeclHandler = self.parser.SkippedEntityHandler = self._entity

    def fail(self, message: str) -> FormatError:
        return self.source.fail(message, self.parser.CurrentLineNumber)

    def _entity(self, *_: Any) -> None:
        raise self.fail("declares or uses an entity, which is not supported; replace entities by their text")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(":")[2]
        parent = self._open[-1].name if self._open else None
        if self._depth:
            self._depth += 1
            return
        if parent is None and name != "graphml":
            raise self.fail(f"the document is <{name[:40]}>; expected <graphml>")
        if name in _REASONS and parent in ("graph", "node"):
            raise self.fail(_REASONS[name])
        if name == "graph" and parent != "graphml":
            raise self.fail("a graph inside another; nested graphs are not supported")
        if parent not in _PARENTS.get(name, ()):
            self._depth = 1
            self._open[-1].children.append(None)
            return
        element = _Element(name, attributes, self.parser.CurrentLineNumber, [], [])
        self._open.append(element)
        if name == "graph":
            self._begin_graph(element)
        elif name == "data" and self._needed(element, "key") not in self.keys:
            key = attributes["key"][:40]
            raise self.fail(f"data for the key {key!r}; declare it with a <key> before the graph")
        elif "sourceport" in attributes or "targetport" in attributes:
            raise self.fail(_PORT)

    def _begin_graph(self, graph: _Element) -> None:
        if self.outer is not None:
            raise self.fail("a second graph; a file must contain one graph")
        self.outer, direction = graph, graph.attributes.get("edgedefault")
        if direction not in ("directed", "undirected") and self.request.directed is None:
            found = "is missing" if direction is None else f"is {direction[:40]!r}"
            raise self.fail(f"edgedefault {found}; expected 'directed' or 'undirected'; or pass directed=")
        self.directed = bool(self.request.directed) if direction is None else direction == "directed"
        for domain, name in self.wanted.items():
            keys = (key for key in self.keys.values() if key.name == name and key.domain in (domain, "all"))
            self.found[domain] = next(keys, None)

    def _characters(self, text: str) -> None:
        if not self._depth and self._open and self._open[-1].name in ("data", "default"):
            self._open[-1].text.append(text)

    def _end(self, _: str) -> None:
        if self._depth:
            self._depth -= 1
            return
        element = self._open.pop()
        if element.name in ("data", "default"):
            self._open[-1].children.append(element)
        elif element.name in ("key", "node", "edge"):
            getattr(self, f"_add_{element.name}")(element)

    def _add_key(self, element: _Element) -> None:
        if self.outer is not None:
            raise self.fail("a <key> after the graph; move it before the graph")
        key, attributes = self._needed(element, "id"), element.attributes
        name, kind = attributes.get("attr.name", key), attributes.get("attr.type", "string")
        texts = [self._text(child, name, "key") for child in element.children if child is not None]
        self.keys[key] = _Key(attributes.get("for", "all"), name, kind, texts[-1] if texts else None)

    def _add_node(self, element: _Element) -> None:
        key = self._needed(element, "id")
        label = key if self.wanted["node"] is None else self._value(element)[0]
        if label is None:
            message = f"node {key[:40]!r} has no attribute {self.wanted['node']!r}; add it, or pass label=None"
            raise self.source.fail(message, element.line)
        self.declared.vertex(key, label, element.line)

    def _add_edge(self, element: _Element) -> None:
        u, v = (self._needed(element, end) for end in ("source", "target"))
        own = element.attributes.get("directed")
        if own not in (None, "true", "false", "1", "0"):
            raise self.source.fail(f"directed={own[:40]!r}; expected 'true' or 'false'", element.line)
        weight, kind = self._value(element)
        self.single = self.single and kind == "float"
        self.declared.edge(u, v, weight, self.directed if own is None else own in ("true", "1"), element.line)

    def _value(self, element: _Element) -> tuple[str | None, str]:
        """A node's or an edge's attribute, or its default, and its declared type ("float" without either)."""
        name, declared = self.wanted[element.name], self.found[element.name]
        found = []
        for child in element.children:
            key = None if child is None else self.keys[child.attributes["key"]]
            if child is not None and key is not None and key.name == name and key.domain in (element.name, "all"):
                found.append((self._text(child, key.name, element.name), key.kind))
        if len(found) > 1:
            raise self.source.fail(f"a second {str(name)[:40]!r} in one {element.name}; remove one", element.line)
        if not found and declared is not None and declared.default is not None:
            return declared.default, declared.kind
        return found[0] if found else (None, "float")

    def _text(self, element: _Element, name: str, owner: str) -> str:
        if element.children and name in self.wanted.values():
            message = f"{name[:40]!r} of the {owner} contains elements; expected only text"
            raise self.source.fail(message, element.line)
        return "".join(element.text)

    def _needed(self, element: _Element, name: str) -> str:
        if name not in element.attributes:
            raise self.source.fail(f"a <{element.name}> without {name}=; add the attribute", element.line)
        return element.attributes[name]

    def graph(self, names: bool | None) -> Graph:
        """The graph of the file."""
        if self.outer is None:
            raise self.fail("no <graph>; expected one <graph> element")
        key, weight = self.found["edge"], self.wanted["edge"]
        if key is None and weight not in (None, "weight"):
            has = ", ".join(repr(key.name) for key in self.keys.values() if key.domain in ("edge", "all")) or "none"
            raise self.fail(f"no edge attribute {weight!r}; pass one of the declared attributes: {has}")
        for child in self.outer.children if names is None else ():
            if child is not None and self.keys[child.attributes["key"]].name == _IDS and child.text == ["text"]:
                names = True
        return self.declared.graph(names, directed=self.directed, single=self.single, weighted=key is not None)


def read(
    source: Source,
    request: Request,
    *,
    label: str | None = None,
    weight: str | None = "weight",
    names: bool | None = None,
) -> Graph:
    """Read GraphML. Vertices are named by their ids, or by the node attribute `label`."""
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
    from xml.sax.saxutils import quoteattr  # imports urllib

    texts, marked = texts_of(target, graph)
    for text in texts:
        if _NOT_IN_XML.search(text):
            raise target.fail(f"label {text[:40]!r} has a character that XML cannot store; use .npz, or labels=False")
    edges = graph.edges()
    head = ['<?xml version="1.0" encoding="UTF-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
    line, weights = "", tuple[Any, ...]()
    if edges.weights is not None:
        kind = "float" if edges.weights.dtype.itemsize == 4 else "double"
        head.append(f'  <key id="weight" for="edge" attr.name="weight" attr.type="{kind}"/>')
        line, weights = '<data key="weight">%r</data>', (edges.weights,)
    mark = f'  <key id="{_IDS}" for="graph" attr.name="{_IDS}" attr.type="string"/>'
    head += [mark] * marked + [f'  <graph edgedefault="{"directed" if graph.directed else "undirected"}">']
    head += [f'    <data key="{_IDS}">text</data>'] * marked
    target.stream.write(("\n".join(head) + "\n").encode())
    quoted = np.array([quoteattr(text, {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}) for text in texts], object)
    write_columns(target, "    <node id=%s/>\n", quoted)
    ends = quoted[edges.source], quoted[edges.target]
    write_columns(target, f"    <edge source=%s target=%s>{line}</edge>\n", *ends, *weights)
    target.stream.write(b"  </graph>\n</graphml>\n")
