"""DIMACS: `.gr` of the shortest-path challenge (`p sp`, arcs `a u v w`), `.col` of colouring (`p edge`, `e u v`).

A `.gr` file lists arcs. Our writer stores an undirected edge as two arcs, and says so in a comment line. So it does
for a graph without weights, whose arcs have the weight 1.
"""

from __future__ import annotations

from hopwave.graph import Graph
from hopwave.io.format import Format, Request, Target, whole_weights, write_columns
from hopwave.io.lines import Grammar, read_edges, shown
from hopwave.io.source import Source

_UNDIRECTED = b"c undirected: every edge is written as two arcs"
_UNWEIGHTED = b"c unweighted: every arc has the weight 1"
LARGEST_WEIGHT = 2**53  # float64 holds every integer up to here
_KINDS = {b"sp": (b"a", "an arc 'a u v weight'"), b"edge": (b"e", "an edge 'e u v'"), b"col": (b"e", "an edge 'e u v'")}


def read(source: Source, request: Request) -> Graph:
    """Read a DIMACS file: `p sp` is directed, `p edge` and `p col` are not."""
    directed = weighted = True
    line = 1
    with source.text() as stream:
        while text := source.line(stream, line):
            words = text.split()
            if words[:1] == [b"p"]:
                break
            if words and not words[0].startswith(b"c"):
                raise source.fail(f"found {shown(text)}; expected a problem line such as 'p sp 5 7' first", line)
            directed &= text.strip() != _UNDIRECTED
            weighted &= text.strip() != _UNWEIGHTED
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
            weight=int(shortest and weighted and request.weights),
        )
        what = "arcs" if shortest else "edges"
        edges = read_edges(source, stream, line + 1, grammar, declared=declared, what=what)
    return request.graph(
        source, edges.u, edges.v, n, directed=directed and shortest, weights=edges.weights,
        both_ways=shortest and not directed,
    )  # fmt: skip


def write_gr(target: Target, graph: Graph) -> None:
    """Write arcs with whole weights; an undirected edge becomes two, as in the challenge's road networks."""
    if not graph.directed:
        target.stream.write(_UNDIRECTED + b"\n")
        graph = Graph.from_csr(graph.indptr, graph.indices, directed=True, weights=graph.weights, check=False)
    weights = whole_weights(target, graph, 0, LARGEST_WEIGHT, ".mtx, .csv or .npz")
    if weights is None:
        target.stream.write(_UNWEIGHTED + b"\n")
    u, v = graph.to_edges()
    target.stream.write(f"p sp {graph.n} {len(u)}\n".encode())
    ends = u.astype("int64") + 1, v.astype("int64") + 1
    if weights is None:
        return write_columns(target, "a %d %d 1\n", *ends)
    return write_columns(target, "a %d %d %d\n", *ends, weights)


def write_col(target: Target, graph: Graph) -> None:
    """Write undirected edges, each once."""
    if graph.directed:
        raise target.fail("a directed graph; DIMACS .col stores undirected ones: write .gr instead")
    u, v = graph.to_edges()
    target.stream.write(f"p edge {graph.n} {len(u)}\n".encode())
    write_columns(target, "e %d %d\n", u.astype("int64") + 1, v.astype("int64") + 1)


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
    holds_weights=False,
    directedness="`p edge`, `p col`: undirected",
    read=read,
    write=write_col,
)
