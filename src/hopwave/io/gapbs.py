"""The GAP benchmark suite's own formats: `.el`, plain pairs of ids, and `.sg`, its arrays as they are in memory."""

from __future__ import annotations

import struct

import numpy as np

from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.io.format import Format, Request, Target, require_last_vertex, write_pairs
from hopwave.io.rows import Grammar, read_rows
from hopwave.io.source import Source

# bool directed, int64 arcs, int64 vertices; then int64 offsets[n + 1], int32 neighbours, and the same for the in-arcs.
_HEADER = struct.Struct("<?qq")


def read_el(source: Source, request: Request) -> Graph:
    """Read a list of pairs. Ids are used unchanged, and n is the largest plus one."""
    with source.open() as stream:
        grammar = Grammar(expected="two vertex ids from 0 and nothing else", comments=b"", values=0)
        u, v, line = read_rows(source, stream, 1, grammar)
    if len(u) == 0:
        raise source.fail("contains no edge; expected lines of two vertex ids", 1)
    n = max(int(u.max()), int(v.max())) + 1
    return request.graph(source, u, v, request.vertices(source, n, line), directed=True)


def write_el(target: Target, graph: Graph, *, isolated: bool = True) -> None:
    """Write one pair per line; `isolated=False` drops last vertices without an edge, which this format cannot store."""
    require_last_vertex(target, graph, isolated)
    write_pairs(target, "%d %d\n", *graph.to_edges())


def read_sg(source: Source, request: Request) -> Graph:
    """Read a serialised GAPBS graph. The second half of a directed one, its transpose, is not needed."""
    with source.open() as stream:
        head = source.exactly(stream, _HEADER.size, "header")
        if head[0] > 1:
            raise source.fail(f"the first byte is {head[0]}; expected 0 (undirected) or 1 (directed): not a .sg file")
        directed, m, n = _HEADER.unpack(head)
        if n < 0 or m < 0:
            raise source.fail(f"declares {n} vertices and {m} arcs; expected no negative counts: not a .sg file")
        if request.n is not None and request.n != n:
            raise GraphError(f"n={request.n}, but {source.path} has {n} vertices; leave n out")
        request.vertices(source, n)
        offsets = np.frombuffer(source.exactly(stream, 8 * (n + 1), f"offsets of {n} vertices"), "<i8")
        indices = np.frombuffer(source.exactly(stream, 4 * m, f"neighbours on {m} arcs"), "<i4")
        if directed:
            source.exactly(stream, 8 * (n + 1) + 4 * m, "in-arcs")
        if source.take(stream, 1):
            raise source.fail(
                f"continues after its {m} arcs; expected the end: not a .sg file, or a weighted one (.wsg)"
            )
    try:
        return request.turned(Graph.from_csr(offsets, indices, directed=directed))
    except GraphError as error:
        raise source.fail(f"the arrays are not a graph; expected offsets and vertices in range: {error}") from None


def write_sg(target: Target, graph: Graph) -> None:
    """Write the arrays that GAPBS maps into memory; for a directed graph also its transpose."""
    target.stream.write(_HEADER.pack(graph.directed, graph.m, graph.n))
    halves = [(graph.indptr, graph.indices)]
    if graph.directed:
        halves.append((graph.in_indptr, graph.in_indices))
    for offsets, neighbours in halves:
        target.stream.write(np.ascontiguousarray(offsets, "<i8").data)
        target.stream.write(np.ascontiguousarray(neighbours, "<i4").data)


EDGE_LIST = Format(
    name="gapbs-el",
    title="GAPBS edge list",
    extensions=(".el",),
    holds_labels=False,
    directedness="not in the file; directed",
    read=read_el,
    write=write_el,
)
SERIALISED = Format(
    name="gapbs-sg",
    title="GAPBS serialised graph",
    extensions=(".sg",),
    holds_labels=False,
    directedness="the file says",
    read=read_sg,
    write=write_sg,
)
