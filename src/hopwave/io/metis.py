"""METIS `.graph` (also KaHIP, DIMACS10): line v lists the neighbours of vertex v, counted from 1; undirected, no loops.

The header is `n m [fmt [ncon]]`. The three digits of fmt, each 0 or 1, say what else a line contains: 1xx the size of
the vertex, x1x ncon weights of the vertex (one if ncon is missing), both before the neighbours; xx1 a weight after each
neighbour.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.graph.csr import is_ascending
from hopwave.io.format import PRINTED_FROM, Format, Request, Target, whole_weights, write_in_threads
from hopwave.io.lines import LARGEST_NUMBER, in_threads, shown
from hopwave.io.source import LONE_RETURN, Source

MOST_WEIGHTS_PER_VERTEX = 1_000_000  # METIS itself expects a handful
LARGEST_WEIGHT = 2**31 - 1  # METIS reads 32-bit integers unless it was built with wider ones


@dataclass(frozen=True)
class _Header:
    n: int
    edges: int
    skip: int  # how many numbers at the start of each line are not neighbours
    stride: int  # 2 if a weight follows each neighbour, else 1
    line: int


def read(source: Source, request: Request) -> Graph:
    """Read a METIS file; weights of vertices are ignored. Both ends of every edge must list it."""
    with source.text() as stream:
        header = _read_header(source, stream)
        n = request.vertices(source, header.n, header.line)
        values, counts, lines = _read_lines(source, stream, header)
    graph = _in_order(header, n, values, counts, request.weights)
    if graph is not None:
        return request.turned(source, graph)
    ends = np.cumsum(counts)
    # The position of a number on its line decides what it is.
    place = np.arange(len(values)) - np.repeat(ends - counts, counts)
    is_neighbour = (place >= header.skip) & ((place - header.skip) % header.stride == 0)
    rows = np.repeat(np.arange(len(counts)), counts)[is_neighbour]
    neighbours = values[is_neighbour]
    odd = (counts < header.skip) | ((counts - header.skip) % header.stride != 0)
    if odd.any():
        raise source.fail(
            "a weight is missing; expected as many numbers as fmt in the header says", int(lines[odd.argmax()])
        )
    _check(source, header, rows, neighbours, lines)
    weights = values[np.flatnonzero(is_neighbour) + 1] if header.stride == 2 and request.weights else None
    return request.graph(source, rows, neighbours - 1, n, directed=False, weights=weights, both_ways=True)


def _in_order(
    header: _Header, n: int, values: npt.NDArray[Any], counts: npt.NDArray[Any], weights: bool
) -> Graph | None:
    """The graph of lists that are its rows as they stand, ascending and whole; None if they are not."""
    if header.skip or len(values) != 2 * header.edges * header.stride or (counts % header.stride).any():
        return None
    neighbours, lengths = values[:: header.stride], counts // header.stride
    if not len(values) or neighbours.min() < 1 or neighbours.max() > header.n:
        return None
    neighbours = (neighbours - 1).astype(np.int32)
    if (np.repeat(np.arange(header.n, dtype=np.int32), lengths) == neighbours).any():
        return None
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum(lengths, out=offsets[1 : header.n + 1])
    offsets[header.n + 1 :] = offsets[header.n]
    if not is_ascending(offsets, neighbours):
        return None
    lengths_of_edges = values[1::2] if header.stride == 2 and weights else None
    try:
        return Graph.from_csr(offsets, neighbours, directed=False, weights=lengths_of_edges)
    except GraphError:  # the slow way finds the line
        return None


def _read_header(source: Source, stream: IO[bytes]) -> _Header:
    line = 1
    while (text := source.line(stream, line)) and (text.startswith(b"%") or not text.strip()):
        line += 1
    words = text.split()
    if not 2 <= len(words) <= 4 or not all(word.isdigit() and len(word) <= 40 for word in words):
        raise source.fail(
            f"the header is {shown(text)}; expected 'vertices edges [fmt [ncon]]'", max(line - (not text), 1)
        )
    kind = words[2].decode().zfill(3) if len(words) > 2 else "000"
    if len(kind) != 3 or set(kind) - {"0", "1"}:
        raise source.fail(f"fmt is {words[2].decode()}; expected up to three digits 0 or 1", line)
    constraints = int(words[3]) if len(words) > 3 else 1
    if constraints > MOST_WEIGHTS_PER_VERTEX:
        raise source.fail(
            f"ncon is {constraints}; expected at most {MOST_WEIGHTS_PER_VERTEX:,} weights per vertex", line
        )
    skip = int(kind[0]) + (constraints if kind[1] == "1" else 0)
    return _Header(int(words[0]), int(words[1]), skip, 1 + int(kind[2]), line)


def _read_lines(
    source: Source, stream: IO[bytes], header: _Header
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """All numbers one after the other, how many of them are on each vertex's line, and the numbers of these lines."""
    values = [np.empty(0, np.int64)]
    counts = [np.empty(0, np.int64)]
    lines = [np.empty(0, np.int64)]
    line = header.line + 1
    rows = 0
    for _, (block_values, block_ends, places, newlines, trouble) in in_threads(source.blocks(stream, line), _parse):
        numbers = line + places
        if trouble is not None:
            found = f"found {shown(trouble[1])}; expected vertices from 1 to {header.n}"
            raise source.fail(LONE_RETURN if b"\r" in trouble[1] else found, line + trouble[0])
        block_counts = np.diff(block_ends, prepend=0)
        spare = rows + len(block_counts) - header.n
        if spare > 0:  # empty lines after the last vertex are allowed
            if block_counts[-spare:].any():
                surplus = int(numbers[len(numbers) - spare + int((block_counts[-spare:] > 0).argmax())])
                raise source.fail(f"a line after vertex {header.n}; expected the end of the file", surplus)
            block_counts, numbers = block_counts[:-spare], numbers[:-spare]
        values.append(block_values)
        counts.append(block_counts)
        lines.append(numbers)
        rows += len(block_counts)
        line += newlines
    if rows < header.n:
        raise source.fail(f"ends after {rows:,} vertices; expected one line for each of {header.n:,}", max(line - 1, 1))
    return np.concatenate(values), np.concatenate(counts), np.concatenate(lines)


def _vertex_lines(block: bytes) -> npt.NDArray[np.int64]:
    """The lines of a block that are not comments, counted from 0."""
    if not block:
        return np.empty(0, np.int64)
    data = np.frombuffer(block, np.uint8)
    starts = np.concatenate([[0], np.flatnonzero(data == ord("\n"))[:-1] + 1])
    return np.flatnonzero(data[starts] != ord("%"))


class _Parsed(NamedTuple):
    values: npt.NDArray[Any]  # the numbers of a block
    ends: npt.NDArray[Any]  # where each vertex's line ends among them
    places: npt.NDArray[Any]  # the lines that are not comments, counted from 0
    newlines: int
    trouble: tuple[int, bytes] | None = None  # the line that cannot be read, and what is wrong on it


def _parse(block: bytes, fast: bool) -> _Parsed:
    places = _vertex_lines(block)
    newlines = block.count(b"\n")
    values, ends = np.empty(len(block) // 2 + 1, np.int64), np.empty(newlines, np.int64)
    position = count = row = lines = 0
    while position < len(block):
        if fast:  # as far as the scanner is sure; the next line is read here
            from hopwave.io import scan

            position, count, row, passed = scan.lists(
                np.frombuffer(block, np.uint8), position, values, count, ends, row, ord("%")
            )
            lines += passed
            if position >= len(block):
                break
        end = block.index(b"\n", position)
        text = block[position:end].rstrip(b" \t\r")
        if b"\r" in text:
            return _Parsed(values[:count], ends[:row], places, newlines, (lines, text))
        if not text.startswith(b"%"):
            words = text.split()
            odd = next((word for word in words if not word.isdigit() or len(word) > len(str(LARGEST_NUMBER))), None)
            if odd is not None:
                return _Parsed(values[:count], ends[:row], places, newlines, (lines, odd))
            values[count : count + len(words)] = [int(word) for word in words]
            count += len(words)
            ends[row] = count
            row += 1
        position = end + 1
        lines += 1
    return _Parsed(values[:count], ends[:row], places, newlines)


def _check(
    source: Source, header: _Header, rows: npt.NDArray[Any], neighbours: npt.NDArray[Any], lines: npt.NDArray[Any]
) -> None:
    wrong = (neighbours < 1) | (neighbours > header.n)
    if wrong.any():
        at = int(wrong.argmax())
        message = f"neighbour {neighbours[at]} of vertex {rows[at] + 1}; expected vertices from 1 to {header.n}"
        raise source.fail(message, int(lines[rows[at]]))
    loops = rows == neighbours - 1
    if loops.any():
        at = int(loops.argmax())
        raise source.fail(f"vertex {rows[at] + 1} lists itself; expected no self-loops in METIS", int(lines[rows[at]]))
    if len(neighbours) != 2 * header.edges:
        wanted = f"{2 * header.edges:,}, both ends of {header.edges:,} edges"
        message = f"{len(neighbours):,} neighbours are listed; expected {wanted}"
        raise source.fail(message, header.line)
    try:
        one_way = Graph.from_edges(rows, neighbours - 1, header.n, directed=True, repeats="keep")
        Graph.from_csr(one_way.indptr, one_way.indices, directed=False)
    except GraphError:
        back = np.lexsort((rows, neighbours))
        there = np.lexsort((neighbours, rows))
        differ = (rows[there] != neighbours[back] - 1) | (neighbours[there] != rows[back] + 1)
        at = there[int(differ.argmax())]
        message = f"the edge {rows[at] + 1} – {neighbours[at]} or the one next to it in the list is on one side only"
        raise source.fail(f"{message}; expected both ends to list every edge", int(lines[rows[at]])) from None


def write(target: Target, graph: Graph) -> None:
    """Write the adjacency lists, with vertices counted from 1, and positive whole weights of edges."""
    if graph.directed:
        raise target.fail("a directed graph; METIS stores undirected ones: write .mtx or .npz instead")
    u, v = graph.to_edges()
    if (u == v).any():
        raise target.fail(f"vertex {u[u == v][0]} has a self-loop, which METIS does not allow; use .mtx or .npz")
    whole_weights(target, graph, 1, LARGEST_WEIGHT, ".mtx, .csv or .npz")
    target.stream.write(f"{graph.n} {len(u)}{' 1' if graph.is_weighted else ''}\n".encode())
    step = 10_000
    if graph.m >= PRINTED_FROM:
        return write_in_threads(target, range(0, graph.n, step), lambda start: _printed(graph, start, start + step))
    for start in range(0, graph.n, step):
        offsets = graph.indptr[start : min(start + step, graph.n) + 1].astype(np.int64)
        part = slice(offsets[0], offsets[-1])
        words = list(map(str, (graph.indices[part].astype(np.int64) + 1).tolist()))
        if graph.weights is not None:  # METIS: fmt 1, the weight of the edge after each neighbour
            words = [f"{v} {w}" for v, w in zip(words, graph.weights[part].astype(np.int64).tolist(), strict=True)]
        cuts = (offsets - offsets[0]).tolist()
        lines = [" ".join(words[a:b]) for a, b in pairwise(cuts)]
        target.stream.write(("\n".join(lines) + "\n").encode())


def _printed(graph: Graph, start: int, end: int) -> npt.NDArray[np.uint8]:
    """The lines of some vertices, by compiled code."""
    from hopwave.io import print_lines

    offsets = graph.indptr[start : end + 1].astype(np.int64)
    part = slice(offsets[0], offsets[-1])
    values = graph.indices[part].astype(np.int64) + 1
    if graph.weights is None:
        return print_lines.lists(values, offsets[1:] - offsets[0])
    both = np.column_stack([values, graph.weights[part].astype(np.int64)])
    return print_lines.lists(both.reshape(-1), 2 * (offsets[1:] - offsets[0]))


FORMAT = Format(
    name="metis",
    title="METIS",
    extensions=(".graph", ".metis"),
    holds_labels=False,
    directedness="always undirected",
    read=read,
    write=write,
    content_decides=True,
)
