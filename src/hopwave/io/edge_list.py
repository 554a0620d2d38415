"""Edge lists as SNAP publishes them: comments with `#` or `%`, then lines of two ids. The rest of a line is ignored.

hopwave reads and writes these comments: `# Nodes: 5 Edges: 7`, `# Directed graph` or `# Undirected graph`, and three
of our own: `# Node: NAME` lists a vertex before the edges, `# Ids: text` marks ids as names, and
`# Weights: third column` marks weights. KONECT's files describe the third column in line 1, as in `% sym signed`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np

from hopwave.graph import Graph
from hopwave.graph.columns import object_array
from hopwave.io.columns import is_header
from hopwave.io.format import IDS, Request, Target, listed_first, numbering, plain_labels, weight_cells, write_columns
from hopwave.io.lines import LARGEST_NUMBER, LONE_RETURN, NUMERIC, Grammar, Source, read_edges, shown
from hopwave.io.table import SAMPLE, Layout, Row, columns_of, is_number

_NODES = re.compile(rb"nodes:?\s*(\d{1,40})", re.IGNORECASE)
# KONECT's words for networks whose third column is a weight or a rating; in other networks it is a count or absent.
_KONECT_WEIGHTED = (b"posweighted", b"signed", b"multisigned", b"weighted", b"multiweighted")
_WORD = re.compile(r"[^ \t\n\r\f\v]+")  # str.split also splits at U+00A0
_EDGES = re.compile(rb"edges:?\s*(\d{1,40})", re.IGNORECASE)


@dataclass
class _Header:
    """Contents of the comments before the first edge, and the line of that edge."""

    nodes: int | None = None
    edges: int | None = None
    line: int = 1  # line of the counts of vertices and edges
    directed: bool | None = None
    names: bool = False
    weighted: bool | None = None  # whether the third column is the weight; None: the file does not say
    listed: list[bytes] = field(default_factory=list)  # vertices listed before the edges
    first_row: bytes = b""
    row: int = 1  # the line of the first edge


def read(source: Source, request: Request, *, names: bool | None = None, weight: int | None = None) -> Graph:
    """Read an edge list: undirected, unless its comments say otherwise. `weight=2` is the third column."""
    if weight is not None and (isinstance(weight, bool) or not isinstance(weight, int) or weight < 2):
        raise TypeError(f"weight={weight!r} is not a column after the two ids; pass 2 for the third column")
    with source.text() as stream:
        header = read_header(source, stream)
        some = [header.first_row, *(source.line(stream, header.row + i) for i in range(1, SAMPLE))]
    first = [words for text in some if (words := _words(text.decode("utf-8", "replace")))]
    shown_first = shown(header.first_row)
    if first and not header.names and is_header(first):  # a header read as an edge would turn all ids into names
        problem = f"found {shown_first}, which looks like a header"
        raise source.fail(f"{problem}; pass format='table', and also header=False if the line is an edge", header.row)
    column = (weight or (2 if header.weighted else 0)) if request.weights else 0
    third = next((words[2] for words in first if len(words) > 2), "{}")  # NetworkX: {} for an edge without attributes
    if request.weights and not column and header.weighted is None and third != "{}":
        raise source.fail(
            f"column 3 may be weights ({third[:40]}, …); pass weight=2 to read it, weights=False to ignore everything "
            "after the two ends, or format='table' to choose columns (Graph.from_scipy reads a matrix)",
            header.row,
        )
    ends = [] if header.names or not first else [end for end in first[0][:2] if not is_number(end)]
    if names is None and any(NUMERIC.fullmatch(end) or re.search('[,;|"]', end) for end in ends):
        raise source.fail(
            f"found {shown_first}; expected two integers or two words; pass format='table' to read quotes and commas "
            "between cells, or names=True to keep them in names (numpy.savetxt writes integers with fmt='%d')",
            header.row,
        )
    if header.names or ends if names is None else names:
        numbers = numbering()
        for name in header.listed:
            numbers[name.decode("utf-8", "replace")]
        layout = Layout(0, 1, column or None, None, True, names is None and bool(ends))
        u, v, weights, _ = columns_of(source, lambda: _rows(source), layout, numbers)
        for found, said, what in ((len(u), header.edges, "Edges"), (len(numbers), header.nodes, "Nodes")):
            if said is not None and (found > said if what == "Nodes" else found != said):
                raise source.fail(f"{found:,} {what.lower()}; the comment '{what}:' declares {said:,}", header.line)
        labels = object_array(list(numbers))
        return request.graph(source, u, v, len(labels), directed=header.directed, labels=labels, weights=weights)
    with source.text() as stream:
        u, v, weights, line = read_edges(source, stream, 1, integer_grammar(column), declared=header.edges)
    line = line if header.nodes is None else header.line
    about: dict[str, Any] = {"declared": header.nodes, "line": line, "directed": header.directed, "weights": weights}
    return request.numbered(source, u, v, listed_numbers(source, header), **about)


def read_header(source: Source, stream: IO[bytes]) -> _Header:
    """Read the comments before the first edge. Without edges, a comment must declare the number of vertices."""
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
        raise source.fail("contains no edge; expected lines of two vertices or the comment '# Nodes: N Edges: M'", 1)
    return header


def _words(text: str) -> list[str]:
    """The cells of a line; none for a comment."""
    words = _WORD.findall(text)
    return words if words and words[0][0] not in "#%" else []


def listed_numbers(source: Source, header: _Header) -> Any:
    """The vertices that comments list before the edges, for integer ids."""
    try:
        return np.array([int(name) for name in header.listed], np.int64)
    except (ValueError, OverflowError):
        raise source.fail("a '# Node:' comment without an integer id; write one, as in the edges", 1) from None


def integer_grammar(column: int = 0) -> Grammar:
    """Lines of two integer ids; `column` is the column of the weights, 0 without weights."""
    expected = "two vertex ids, integers from 0" + (f", and a weight in column {column + 1}" if column else "")
    return Grammar(expected=expected, last=LARGEST_NUMBER, weight=max(column - 1, 0))


def _rows(source: Source) -> Iterator[Row]:
    """Every line that is not a comment."""
    for number, text in source.lines("the names of vertices"):
        if "\r" in text.strip(" \t\r\n"):
            raise source.fail(LONE_RETURN, number)
        if words := _words(text):
            yield Row(number, words)


def write(target: Target, graph: Graph) -> None:
    """Write an edge list, with the comments that `read` needs to restore the same graph."""
    edges = graph.edges()
    u, v = edges.source, edges.target
    cell, weights = weight_cells(edges.weights)
    end = f"\t{cell}\n" if cell else "\n"
    names = plain_labels(target, graph, IDS)
    kind = "Directed graph" if graph.directed else "Undirected graph: each edge is written once"
    target.stream.write(f"# {kind}\n# Nodes: {graph.n} Edges: {len(u)}\n".encode())
    if cell:
        target.stream.write(b"# Weights: third column\n")
    if names is None:
        return write_columns(target, f"%d\t%d{end}", u, v, *weights)
    texts = [name for name in names if isinstance(name, str)]
    for name in texts:  # only a single word that starts no comment is read back unchanged
        if name[:1] in "#%" or "\0" in name or not name.strip() or name.encode().split() != [name.encode()]:
            raise target.fail(f"label {name!r} is not one word; use .csv or .npz, or drop all labels with labels=False")
    if texts:
        target.stream.write(b"# Ids: text\n")
    for vertex in listed_first(graph, names, u, v).tolist():
        target.stream.write(f"# Node: {names[vertex]}\n".encode())
    table = np.array(names, object)
    return write_columns(target, f"%s\t%s{end}", table[u], table[v], *weights)
