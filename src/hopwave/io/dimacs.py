"""DIMACS: `.gr` of the shortest-path challenge (`p sp`, arcs `a u v w`), `.col` of colouring (`p edge`, `e u v`).

A `.gr` file lists arcs. Our writer stores an undirected edge as two arcs, and says so in a comment line.
"""

from __future__ import annotations

from hopwave.graph import Graph
from hopwave.io.format import Format, Request, Target, write_pairs
from hopwave.io.rows import Grammar, read_rows, shown
from hopwave.io.source import Source

_UNDIRECTED = b"c undirected: every edge is written as two arcs"
_KINDS = {b"sp": (b"a", "an arc 'a u v weight'"), b"edge": (b"e", "an edge 'e u v'"), b"col": (b"e", "an edge 'e u v'")}


def read(source: Source, request: Request) -> Graph:
    """Read a DIMACS file: `p sp` is directed, `p edge` and `p col` are not."""
    directed = True
    line = 1
    with source.open() as stream:
        while text := source.line(stream, line):
            words = text.split()
            if words[:1] == [b"p"]:
                break
            if words and not words[0].startswith(b"c"):
                raise source.fail(f"found {shown(text)}; expected a problem line such as 'p sp 5 7' first", line)
            directed &= text.strip() != _UNDIRECTED
            line += 1
        else:
            raise source.fail("no problem line; expected 'p sp N M' or 'p edge N M'", max(line - 1, 1))
        if len(words) != 4 or words[1] not in _KINDS or not all(w.isdigit() and len(w) <= 40 for w in words[2:]):
            raise source.fail(f"found {shown(text)}; expected 'p sp N M' or 'p edge N M', with two counts", line)
        letter, expected = _KINDS[words[1]]
        size, declared = int(words[2]), int(words[3])
        n = request.vertices(source, size, line)
        shortest = letter == b"a"
        grammar = Grammar(
            expected=f"{expected} with vertices from 1 to {size}",
            first=1,
            last=size,
            comments=b"c",
            prefix=letter,
            values=1 if shortest else 0,
        )
        what = "arcs" if shortest else "edges"
        u, v, _ = read_rows(source, stream, line + 1, grammar, declared=declared, what=what)
    return request.graph(source, u, v, n, directed=directed and shortest)


def write_gr(target: Target, graph: Graph) -> None:
    """Write arcs of weight 1; an undirected edge becomes two, as in the challenge's road networks."""
    if not graph.directed:
        target.stream.write(_UNDIRECTED + b"\n")
        graph = Graph.from_csr(graph.indptr, graph.indices, directed=True, check=False)
    u, v = graph.to_edges()
    target.stream.write(f"p sp {graph.n} {len(u)}\n".encode())
    write_pairs(target, "a %d %d 1\n", u.astype("int64") + 1, v.astype("int64") + 1)


def write_col(target: Target, graph: Graph) -> None:
    """Write undirected edges, each once."""
    if graph.directed:
        raise target.fail("a directed graph; DIMACS .col stores undirected ones: write .gr instead")
    u, v = graph.to_edges()
    target.stream.write(f"p edge {graph.n} {len(u)}\n".encode())
    write_pairs(target, "e %d %d\n", u.astype("int64") + 1, v.astype("int64") + 1)


SHORTEST_PATHS = Format(
    name="dimacs",
    title="DIMACS shortest paths",
    extensions=(".gr",),
    holds_labels=False,
    directedness="`p sp`: directed, unless our comment says that each edge is two arcs",
    read=read,
    write=write_gr,
)
COLOURING = Format(
    name="dimacs-col",
    title="DIMACS colouring",
    extensions=(".col",),
    holds_labels=False,
    directedness="`p edge`, `p col`: undirected",
    read=read,
    write=write_col,
)
