"""The GAP benchmark suite's own formats: `.el`, plain pairs of ids, and `.sg`, its arrays as they are in memory.

`.wel` and `.wsg` are the same with weights, which GAPBS keeps as int32: a third number per line, and pairs of neighbour
and weight instead of neighbours.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.io.format import Format, Request, Target, require_last_vertex, whole_weights, write_columns
from hopwave.io.lines import Grammar, read_edges
from hopwave.io.source import Source

# bool directed, int64 arcs, int64 vertices; then int64 offsets[n + 1], int32 neighbours, and the same for the in-arcs.
_HEADER = struct.Struct("<?qq")
_NEIGHBOUR = np.dtype([("vertex", "<i4"), ("weight", "<i4")])  # of a .wsg file
_LEAST, _MOST = -(2**31), 2**31 - 1


def read_el(source: Source, request: Request) -> Graph:
    """Read a list of pairs. Ids are used unchanged, and n is the largest plus one."""
    return _read_list(source, request, "two vertex ids from 0 and nothing else", 0)


def read_wel(source: Source, request: Request) -> Graph:
    """Read a list of pairs with a weight each."""
    return _read_list(source, request, "two vertex ids from 0, a weight and nothing else", 1)


def _read_list(source: Source, request: Request, expected: str, values: int) -> Graph:
    grammar = Grammar(expected, comments=b"", values=values, weight=int(values and request.weights))
    with source.text() as stream:
        u, v, weights, line = read_edges(source, stream, 1, grammar)
    if len(u) == 0:
        raise source.fail(f"contains no edge; expected lines of {expected}", 1)
    n = max(int(u.max()), int(v.max())) + 1
    return request.graph(source, u, v, request.vertices(source, n, line), directed=True, weights=weights)


def write_el(target: Target, graph: Graph, *, isolated: bool = True) -> None:
    """Write one pair per line; `isolated=False` drops last vertices without an edge, which this format cannot store."""
    require_last_vertex(target, graph, isolated)
    write_columns(target, "%d %d\n", *graph.to_edges())


def write_wel(target: Target, graph: Graph, *, isolated: bool = True) -> None:
    """Write one pair and its weight, an int32, per line."""
    require_last_vertex(target, graph, isolated)
    write_columns(target, "%d %d %d\n", *graph.to_edges(), _int32_weights(target, graph, ".el"))


def _int32_weights(target: Target, graph: Graph, bare: str) -> npt.NDArray[np.int64]:
    weights = whole_weights(target, graph, _LEAST, _MOST, ".mtx, .csv or .npz")
    if weights is None:
        raise target.fail(f"a graph without weights; expected one with weights: write {bare} instead")
    return weights


def read_sg(source: Source, request: Request) -> Graph:
    """Read a serialised GAPBS graph. The second half of a directed one, its transpose, is not needed."""
    return _read_arrays(source, request, np.dtype("<i4"), "not a .sg file, or a weighted one (.wsg)")


def read_wsg(source: Source, request: Request) -> Graph:
    """Read a serialised GAPBS graph with weights."""
    return _read_arrays(source, request, _NEIGHBOUR, "not a .wsg file")


def _read_arrays(source: Source, request: Request, kind: np.dtype[Any], otherwise: str) -> Graph:
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
        arcs = np.frombuffer(source.exactly(stream, kind.itemsize * m, f"neighbours on {m} arcs"), kind)
        if directed:
            source.exactly(stream, 8 * (n + 1) + kind.itemsize * m, "in-arcs")
        if source.take(stream, 1):
            raise source.fail(f"continues after its {m} arcs; expected the end: {otherwise}")
    indices, weights = (arcs["vertex"], arcs["weight"]) if kind.names else (arcs, None)
    if not request.weights:
        weights = None
    combine = None if weights is None else request.combine
    try:
        graph = Graph.from_csr(offsets, indices, directed=directed, weights=weights, combine=combine)
    except GraphError as error:
        raise source.fail(f"the arrays are not a graph; expected offsets and vertices in range: {error}") from None
    return request.turned(source, graph)


def write_sg(target: Target, graph: Graph) -> None:
    """Write the arrays that GAPBS maps into memory; for a directed graph also its transpose."""
    _write_arrays(target, graph, np.dtype("<i4"))


def write_wsg(target: Target, graph: Graph) -> None:
    """Write the arrays with int32 weights."""
    _int32_weights(target, graph, ".sg")
    _write_arrays(target, graph, _NEIGHBOUR)


def _write_arrays(target: Target, graph: Graph, kind: np.dtype[Any]) -> None:
    target.stream.write(_HEADER.pack(graph.directed, graph.m, graph.n))
    halves = [(graph.indptr, graph.indices, graph.weights)]
    if graph.directed:
        halves.append((graph.in_indptr, graph.in_indices, graph.in_weights))
    for offsets, neighbours, weights in halves:
        arcs = np.empty(graph.m, kind)
        if kind.names:
            arcs["vertex"], arcs["weight"] = neighbours, weights
        else:
            arcs[:] = neighbours
        target.stream.write(np.ascontiguousarray(offsets, "<i8").data)
        target.stream.write(arcs.data)


EDGE_LIST = Format(
    name="gapbs-el",
    title="GAPBS edge list",
    extensions=(".el",),
    holds_labels=False,
    holds_weights=False,
    directedness="not in the file; directed",
    read=read_el,
    write=write_el,
)
SERIALISED = Format(
    name="gapbs-sg",
    title="GAPBS serialised graph",
    extensions=(".sg",),
    holds_labels=False,
    holds_weights=False,
    directedness="the file says",
    read=read_sg,
    write=write_sg,
)
WEIGHTED_EDGE_LIST = Format(
    name="gapbs-wel",
    title="GAPBS weighted edge list",
    extensions=(".wel",),
    holds_labels=False,
    directedness="not in the file; directed",
    read=read_wel,
    write=write_wel,
)
WEIGHTED_SERIALISED = Format(
    name="gapbs-wsg",
    title="GAPBS serialised weighted graph",
    extensions=(".wsg",),
    holds_labels=False,
    directedness="the file says",
    read=read_wsg,
    write=write_wsg,
)
