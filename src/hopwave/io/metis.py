"""METIS `.graph` (also KaHIP, DIMACS10): line v lists the neighbours of vertex v, counted from 1; undirected, no loops.

The header is `n m [fmt [ncon]]`. The three digits of fmt, each 0 or 1, say what else a line contains: 1xx the size of
the vertex, x1x ncon weights of the vertex (one if ncon is missing), both before the neighbours; xx1 a weight after each
neighbour.
"""

from __future__ import annotations

import io
from contextlib import suppress
from itertools import islice, pairwise
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.io.format import PRINTED_FROM, Request, Target, whole_weights
from hopwave.io.lines import LARGEST_NUMBER, LONE_RETURN, Source, counts, in_threads, pipelined, shown

MOST_WEIGHTS_PER_VERTEX = 1_000_000  # METIS itself expects a handful
STEP = 10_000  # lines written at a time
LARGEST_WEIGHT = 2**31 - 1  # METIS reads 32-bit integers unless it was built with wider ones


class _Header(NamedTuple):
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
        values, per_line = _read_lines(source, stream, header)
    odd = (per_line < header.skip) | ((per_line - header.skip) % header.stride != 0)
    if odd.any():
        line = _line_of(source, header, int(odd.argmax()))
        raise source.fail("a weight is missing; expected as many numbers as fmt in the header says", line)
    if header.skip:
        # The position of a number on its line decides what it is.
        place = np.arange(len(values)) - np.repeat(np.cumsum(per_line) - per_line, per_line)
        values = values[place >= header.skip]
    listed, lengths = values[:: header.stride], (per_line - header.skip) // header.stride
    weights = values[1::2] if header.stride == 2 and request.weights else None
    rows = np.repeat(np.arange(header.n, dtype=np.int32), lengths)

    def refuse(wrong: npt.NDArray[np.bool_], message: str) -> None:
        """Raise an error about the first neighbour that is wrong, {1}, and its vertex, {0}."""
        if wrong.any():
            at = int(wrong.argmax())
            raise source.fail(message.format(rows[at] + 1, listed[at]), _line_of(source, header, int(rows[at])))

    refuse(
        (listed < 1) | (listed > header.n), f"neighbour {{1}} of vertex {{0}}; expected vertices from 1 to {header.n}"
    )
    neighbours = (listed - 1).astype(np.int32)
    refuse(rows == neighbours, "vertex {0} lists itself; expected no self-loops in METIS")
    if len(neighbours) != 2 * header.edges:
        wanted = f"{2 * header.edges:,}, both ends of {header.edges:,} edges"
        raise source.fail(f"{len(neighbours):,} neighbours are listed; expected {wanted}", header.line)
    offsets = np.full(n + 1, len(neighbours), np.int64)
    offsets[0] = 0
    np.cumsum(lengths, out=offsets[1 : header.n + 1])
    with suppress(GraphError):  # one end does not list an edge, or the weights at its two ends differ
        return request.turned(source, Graph.from_csr(offsets, neighbours, directed=False, weights=weights))
    lonely = ~np.isin(rows * np.int64(n) + neighbours, neighbours * np.int64(n) + rows)
    refuse(lonely, "vertex {0} lists {1}, which does not list it; expected both ends to list every edge")
    return request.graph(source, rows, neighbours, n, directed=False, weights=weights, both_ways=True)


def _read_header(source: Source, stream: IO[bytes]) -> _Header:
    line, text = source.first_line(stream, b"%")
    words = text.split()
    numbers = counts(words)
    if not 2 <= len(numbers) <= 4:
        raise source.fail(f"the header is {shown(text)}; expected 'vertices edges [fmt [ncon]]'", line)
    kind = words[2].decode().zfill(3) if len(words) > 2 else "000"
    if len(kind) != 3 or set(kind) - {"0", "1"}:
        raise source.fail(f"fmt is {words[2].decode()}; expected up to three digits 0 or 1", line)
    constraints = numbers[3] if len(words) > 3 else 1
    if constraints > MOST_WEIGHTS_PER_VERTEX:
        most = f"{MOST_WEIGHTS_PER_VERTEX:,} weights per vertex"
        raise source.fail(f"ncon is {constraints}; expected at most {most}", line)
    skip = int(kind[0]) + int(kind[1]) * constraints
    return _Header(numbers[0], numbers[1], skip, 1 + int(kind[2]), line)


def _read_lines(
    source: Source, stream: IO[bytes], header: _Header
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """All numbers one after the other, and how many of them are on each vertex's line."""
    values, counted = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    line, rows = header.line + 1, 0
    for _, (block_values, ends, lines, trouble) in in_threads(source.blocks(stream, line), _parse):
        line += lines
        if trouble is not None:
            found = f"found {shown(trouble)}; expected vertices from 1 to {header.n}"
            raise source.fail(LONE_RETURN if b"\r" in trouble else found, line)
        block_counts = np.diff(ends, prepend=0)
        surplus = block_counts[max(header.n - rows, 0) :]  # empty lines after the last vertex are allowed
        if surplus.any():
            number = _line_of(source, header, max(header.n, rows) + int((surplus > 0).argmax()))
            raise source.fail(f"a line after vertex {header.n}; expected the end of the file", number)
        values.append(block_values)
        counted.append(block_counts[: max(header.n - rows, 0)])
        rows += len(block_counts)
    if rows < header.n:
        raise source.fail(f"ends after {rows:,} vertices; expected one line for each of {header.n:,}", max(line - 1, 1))
    return np.concatenate(values), np.concatenate(counted)


def _line_of(source: Source, header: _Header, row: int) -> int:
    """The line of a vertex, which is counted from 0; comments do not count."""
    with source.text() as stream:
        lines = enumerate((raw for block in source.blocks(stream) for raw in io.BytesIO(block)), start=1)
        rows = (number for number, raw in lines if number > header.line and not raw.startswith(b"%"))
        return next(islice(rows, row, None))


class _Parsed(NamedTuple):
    values: npt.NDArray[Any]  # the numbers of a block
    ends: npt.NDArray[Any]  # where each vertex's line ends among them
    lines: int
    trouble: bytes | None = None  # what is wrong on the next line


def _parse(block: bytes, fast: bool) -> _Parsed:
    values, ends = np.empty(len(block) // 2 + 1, np.int64), np.empty(block.count(b"\n"), np.int64)
    position = count = row = lines = 0
    while position < len(block):
        if fast:  # as far as the scanner is sure; the next line is read here
            from hopwave.io import scan

            data = np.frombuffer(block, np.uint8)
            position, count, row, passed = scan.lists(data, position, values, count, ends, row, ord("%"))
            lines += passed
            if position >= len(block):
                break
        end = block.index(b"\n", position)
        text = block[position:end].rstrip(b" \t\r")
        words = text.split()
        wrong = [word for word in words if not word.isdigit() or len(word) > len(str(LARGEST_NUMBER))][:1]
        if b"\r" in text or (wrong and not text.startswith(b"%")):
            return _Parsed(values[:count], ends[:row], lines, text if b"\r" in text else wrong[0])
        if not text.startswith(b"%"):
            values[count : count + len(words)] = [int(word) for word in words]
            count += len(words)
            ends[row] = count
            row += 1
        position = end + 1
        lines += 1
    return _Parsed(values[:count], ends[:row], lines)


def write(target: Target, graph: Graph) -> None:
    """Write the adjacency lists, with vertices counted from 1, and positive whole weights of edges."""
    if graph.directed:
        raise target.fail("a directed graph; METIS stores undirected ones: write .mtx or .npz instead")
    u, v = graph.to_edges()
    if (u == v).any():
        raise target.fail(f"vertex {u[u == v][0]} has a self-loop, which METIS does not allow; use .mtx or .npz")
    whole_weights(target, graph, 1, LARGEST_WEIGHT)
    target.stream.write(f"{graph.n} {len(u)}{' 1' if graph.is_weighted else ''}\n".encode())
    starts = range(0, graph.n, STEP)
    if graph.m >= PRINTED_FROM:
        from hopwave.io.scan import printed_lists

        parts = pipelined(starts, lambda start: printed_lists(*_lists(graph, start)))
        return target.stream.writelines(made.data for _, made in parts)
    for start in starts:
        values, ends = _lists(graph, start)
        words = list(map(str, values.tolist()))
        lines = [" ".join(words[a:b]) for a, b in pairwise([0, *ends.tolist()])]
        target.stream.write(("\n".join(lines) + "\n").encode())
    return None


def _lists(graph: Graph, start: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The numbers on the lines of some vertices, and where each line ends among them."""
    offsets = graph.indptr[start : start + STEP + 1].astype(np.int64)
    part, ends = slice(offsets[0], offsets[-1]), offsets[1:] - offsets[0]
    values = graph.indices[part].astype(np.int64) + 1
    if graph.weights is None:
        return values, ends
    # METIS: fmt 1, the weight of the edge after each neighbour
    return np.column_stack([values, graph.weights[part].astype(np.int64)]).reshape(-1), 2 * ends
