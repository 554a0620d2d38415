"""Formats of matrix collections and benchmark suites: Matrix Market, METIS, DIMACS, GAPBS and Graph500.

METIS     line v lists the neighbours of vertex v, counted from 1. The header is `n m [fmt [ncon]]`. fmt
          adds numbers to a line: 1xx the size of the vertex, x1x ncon weights of the vertex (one without ncon),
          both before the neighbours; xx1 a weight after each neighbour.
DIMACS    `p sp` and arcs `a u v w` for shortest paths, `p edge` and edges `e u v` for colouring. Our comments mark
          `.gr` files that store every undirected edge as two arcs, or weights of 1 for an unweighted graph.
GAPBS     plain pairs of ids, or a copy of its arrays in memory; weights are int32.
Graph500  binary pairs without a header. An edge is two int64, or packed into three little-endian uint32: the low 32
          bits of both ends, then the next 16 bits of each. The weights, one float32 per edge, are in a file of the same
          name followed by `.weights`.
"""

import io
import struct
from contextlib import suppress
from itertools import islice, pairwise
from typing import IO, Any, NamedTuple

import numpy as np

from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.graph.csr import LARGEST_VERTEX_COUNT
from hopwave.io.format import PRINTED_FROM, Ids, Request, Target, check_last, weight_cells, whole_weights, write_columns
from hopwave.io.lines import (
    LARGEST_NUMBER,
    LONE_RETURN,
    Grammar,
    Source,
    counts,
    pipelined,
    read_edges,
    shown,
    threaded,
)

BANNER = b"%%MatrixMarket"
_VALUES = {"pattern": 0, "real": 1, "double": 1, "integer": 1, "unsigned-integer": 1, "complex": 2}
_SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")
_UNDIRECTED = b"c undirected: every edge is written as two arcs"
_UNWEIGHTED = b"c unweighted: every arc has the weight 1"
_KINDS = {b"sp": (b"a", "an arc 'a u v weight'"), b"edge": (b"e", "an edge 'e u v'"), b"col": (b"e", "an edge 'e u v'")}
LARGEST_WEIGHT = 2**53  # float64 represents every integer up to here
# GAPBS: bool directed, int64 arcs, int64 vertices; then int64 offsets[n + 1], int32 neighbours; then both for in-arcs.
_HEADER = struct.Struct("<?qq")
PLAIN, WEIGHTED = np.dtype("<i4"), np.dtype([("vertex", "<i4"), ("weight", "<i4")])
MOST_WEIGHTS_PER_VERTEX = 1_000_000  # METIS itself expects a handful
STEP = 10_000  # lines of METIS written at a time
LARGEST_METIS_WEIGHT = 2**31 - 1  # METIS reads 32-bit integers unless it was built with wider ones


# ---------------------------------------------------------------- Matrix Market


def read_matrix(source: Source, request: Request) -> Graph:
    """Read a square sparse matrix. Symmetric ones are undirected graphs, general ones are directed by default."""
    with source.text() as stream:
        header = read_banner(source, stream)
        n = request.vertices(source, header.size, header.line)
        weighted = request.weights and header.field != "pattern"
        skew = weighted and header.symmetry == "skew-symmetric"
        if weighted and header.field == "complex":
            raise source.fail("complex values, which cannot be weights; pass weights=False to read only the pattern", 1)
        if skew and not request.directed:
            message = "a skew-symmetric matrix: the two directions of an edge have opposite weights"
            raise source.fail(f"{message}; pass directed=True for both arcs, or weights=False for only the pattern", 1)
        grammar = header.grammar(weighted)
        u, v, weights, _ = read_edges(source, stream, header.line + 1, grammar, header.entries, "entries")
    if skew and weights is not None:  # directed=True: arcs below the diagonal, and above it their negatives
        u, v, weights = np.concatenate([u, v]), np.concatenate([v, u]), np.concatenate([weights, -weights])
    return request.graph(source, u, v, n, directed=skew or header.symmetry == "general", weights=weights)


class Header(NamedTuple):
    """Contents of the lines before the first entry; `line` is the last of these lines."""

    field: str
    symmetry: str
    size: int
    entries: int
    line: int

    def grammar(self, weighted: bool = False) -> Grammar:
        """Syntax of the line of an entry; `weighted`: its value is a weight."""
        values = _VALUES[self.field]
        then = f", then {values} {self.field} value(s)" if values else ""
        return Grammar(
            f"row and column from 1 to {self.size}{then}", first=1, last=self.size, comments=b"%", values=values,
            whole="integer" in self.field, real=self.field == "real", weight=int(weighted),
        )  # fmt: skip


def read_banner(source: Source, stream: IO[bytes]) -> Header:
    """The banner and the size line."""
    text = source.line(stream, 1)
    words = text.decode("utf-8", "replace").lower().split()
    if len(words) != 5 or words[:2] != [BANNER.decode().lower(), "matrix"]:
        expected = "expected '%%MatrixMarket matrix coordinate FIELD SYMMETRY'"
        raise source.fail(f"the banner is {shown(text)}; {expected}", 1)
    layout, field, symmetry = words[2:]
    if layout == "array":
        raise source.fail("a dense matrix ('array'); expected a sparse matrix ('coordinate')", 1)
    for word, known in ((layout, ("coordinate",)), (field, tuple(_VALUES)), (symmetry, _SYMMETRIES)):
        if word not in known:
            raise source.fail(f"{word!r} in the banner; expected one of {', '.join(known)}", 1)
    line, text = source.first_line(stream, b"%", 2)
    numbers = counts(text.split())
    if len(numbers) != 3:
        raise source.fail(f"the size line is {shown(text)}; expected 'rows columns entries', three counts", line)
    if numbers[0] != numbers[1]:
        found = f"{numbers[0]} rows and {numbers[1]} columns"
        raise source.fail(f"{found}; the matrix of a graph must be square", line)
    return Header(field, symmetry, numbers[1], numbers[2], line)


def write_matrix(target: Target, graph: Graph) -> None:
    """Write a general matrix if the graph is directed, else the lower triangle of a symmetric one."""
    edges = graph.edges()
    cell, weights = weight_cells(edges.weights)
    field = {"": "pattern", "%d": "integer", "%r": "real"}[cell]
    symmetry = "general" if graph.directed else "symmetric"
    head = f"%%MatrixMarket matrix coordinate {field} {symmetry}\n{graph.n} {graph.n} {len(edges)}\n"
    target.stream.write(head.encode())
    ends = edges.source.astype("int64") + 1, edges.target.astype("int64") + 1
    # u <= v in an undirected graph, and the lower triangle has row >= column
    write_columns(target, f"%d %d {cell}".rstrip() + "\n", *ends[:: 1 if graph.directed else -1], *weights)


# ---------------------------------------------------------------- METIS


class _Counts(NamedTuple):
    n: int
    edges: int
    skip: int  # count of numbers before the neighbours in each line
    stride: int  # 2 if a weight follows each neighbour, else 1
    line: int


def read_metis(source: Source, request: Request) -> Graph:
    """Read a METIS file; weights of vertices are ignored. Both ends of every edge must list it."""
    with source.text() as stream:
        header = _counts(source, stream)
        n = request.vertices(source, header.n, header.line)
        values, per_line = _metis_lines(source, stream, header)
    odd = (per_line < header.skip) | ((per_line - header.skip) % header.stride != 0)
    if odd.any():
        line = _line_of(source, header, int(odd.argmax()))
        raise source.fail("a weight is missing; fmt in the header declares one after each neighbour", line)
    if header.skip:
        # The position of a number on its line decides what it is.
        place = np.arange(len(values)) - np.repeat(np.cumsum(per_line) - per_line, per_line)
        values = values[place >= header.skip]
    listed, lengths = values[:: header.stride], (per_line - header.skip) // header.stride
    weights = values[1::2] if header.stride == 2 and request.weights else None
    rows = np.repeat(np.arange(header.n, dtype=np.int32), lengths)

    def refuse(wrong: Ids, message: str) -> None:
        """Raise an error about the first neighbour that is wrong, {1}, and its vertex, {0}."""
        if wrong.any():
            at = int(wrong.argmax())
            raise source.fail(message.format(rows[at] + 1, listed[at]), _line_of(source, header, int(rows[at])))

    refuse(
        (listed < 1) | (listed > header.n), f"neighbour {{1}} of vertex {{0}}; expected vertices from 1 to {header.n}"
    )
    neighbours = (listed - 1).astype(np.int32)
    refuse(rows == neighbours, "vertex {0} lists itself; METIS files cannot store self-loops")
    if len(neighbours) != 2 * header.edges:
        wanted = f"{2 * header.edges:,}, both ends of {header.edges:,} edges"
        raise source.fail(f"{len(neighbours):,} neighbours are listed; expected {wanted}", header.line)
    offsets = np.full(n + 1, len(neighbours), np.int64)
    offsets[0] = 0
    np.cumsum(lengths, out=offsets[1 : header.n + 1])
    with suppress(GraphError):  # one end does not list an edge, or the weights at its two ends differ
        return request.turned(source, Graph.from_csr(offsets, neighbours, directed=False, weights=weights))
    lonely = ~np.isin(rows * np.int64(n) + neighbours, neighbours * np.int64(n) + rows)
    refuse(lonely, "vertex {0} lists {1}, which does not list it; both endpoints must list every edge")
    return request.graph(source, rows, neighbours, n, directed=False, weights=weights, both_ways=True)


def _counts(source: Source, stream: IO[bytes]) -> _Counts:
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
    return _Counts(numbers[0], numbers[1], skip, 1 + int(kind[2]), line)


def _metis_lines(source: Source, stream: IO[bytes], header: _Counts) -> tuple[Ids, Ids]:
    """All numbers one after the other, and how many of them are on each vertex's line."""
    values, counted = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    line, rows = header.line + 1, 0
    for _, (block_values, ends, lines, trouble) in threaded(source.blocks(stream, line), parse_lists):
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


def _line_of(source: Source, header: _Counts, row: int) -> int:
    """The line of vertex `row`, counted from 0; comments are skipped."""
    with source.text() as stream:
        lines = enumerate((raw for block in source.blocks(stream) for raw in io.BytesIO(block)), start=1)
        rows = (number for number, raw in lines if number > header.line and not raw.startswith(b"%"))
        return next(islice(rows, row, None))


class Lists(NamedTuple):
    values: Ids  # the numbers of a block
    ends: Ids  # end of each vertex's line in `values`
    lines: int
    trouble: bytes | None = None  # the erroneous next line


def parse_lists(block: bytes, fast: bool) -> Lists:
    values, ends = np.empty(len(block) // 2 + 1, np.int64), np.empty(block.count(b"\n"), np.int64)
    position = count = row = lines = 0
    while position < len(block):
        if fast:  # the scanner stops at the first uncertain line, which is read here
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
            return Lists(values[:count], ends[:row], lines, text if b"\r" in text else wrong[0])
        if not text.startswith(b"%"):
            values[count : count + len(words)] = [int(word) for word in words]
            count += len(words)
            ends[row] = count
            row += 1
        position = end + 1
        lines += 1
    return Lists(values[:count], ends[:row], lines)


def write_metis(target: Target, graph: Graph) -> None:
    """Write the adjacency lists, with vertices counted from 1, and positive integer weights of edges."""
    if graph.directed:
        raise target.fail("METIS cannot store a directed graph; write .mtx or .npz instead")
    u, v = graph.to_edges()
    if (u == v).any():
        raise target.fail(f"vertex {u[u == v][0]} has a self-loop, which METIS does not allow; use .mtx or .npz")
    whole_weights(target, graph, 1, LARGEST_METIS_WEIGHT)
    target.stream.write(f"{graph.n} {len(u)}{' 1' if graph.is_weighted else ''}\n".encode())
    starts = range(0, graph.n, STEP)
    if graph.m >= PRINTED_FROM:
        from hopwave.io.scan import printed_lists

        parts = pipelined(starts, lambda start: printed_lists(*_numbers(graph, start)))
        return target.stream.writelines(made.data for _, made in parts)
    for start in starts:
        values, ends = _numbers(graph, start)
        words = list(map(str, values.tolist()))
        lines = [" ".join(words[a:b]) for a, b in pairwise([0, *ends.tolist()])]
        target.stream.write(("\n".join(lines) + "\n").encode())
    return None


def _numbers(graph: Graph, start: int) -> tuple[Ids, Ids]:
    """The numbers on the lines of some vertices, and the end of each line among these numbers."""
    offsets = graph.indptr[start : start + STEP + 1].astype(np.int64)
    part, ends = slice(offsets[0], offsets[-1]), offsets[1:] - offsets[0]
    values = graph.indices[part].astype(np.int64) + 1
    if graph.weights is None:
        return values, ends
    # METIS: fmt 1, the weight of the edge after each neighbour
    return np.column_stack([values, graph.weights[part].astype(np.int64)]).reshape(-1), 2 * ends


# ---------------------------------------------------------------- DIMACS


def read_dimacs(source: Source, request: Request) -> Graph:
    """Read a DIMACS file: `p sp` is directed, `p edge` and `p col` are undirected."""
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
        numbers = counts(words[2:])
        if len(words) != 4 or len(numbers) != 2 or words[1] not in _KINDS:
            raise source.fail(f"found {shown(text)}; expected 'p sp N M' or 'p edge N M', with two counts", line)
        letter, expected = _KINDS[words[1]]
        n = request.vertices(source, numbers[0], line)
        shortest = letter == b"a"
        grammar = Grammar(
            f"{expected} with vertices from 1 to {numbers[0]}", first=1, last=numbers[0], comments=b"c", prefix=letter,
            values=int(shortest), weight=int(shortest and weighted and request.weights),
        )  # fmt: skip
        what = "arcs" if shortest else "edges"
        u, v, weights, _ = read_edges(source, stream, line + 1, grammar, numbers[1], what)
    both_ways = shortest and not directed
    return request.graph(source, u, v, n, directed=directed and shortest, weights=weights, both_ways=both_ways)


def write_gr(target: Target, graph: Graph) -> None:
    """Write arcs with integer weights; an undirected edge becomes two arcs, as in the DIMACS road networks."""
    if not graph.directed:
        target.stream.write(_UNDIRECTED + b"\n")
        graph = Graph.from_csr(graph.indptr, graph.indices, directed=True, weights=graph.weights, check=False)
    weights = whole_weights(target, graph, 0, LARGEST_WEIGHT)
    if weights is None:
        target.stream.write(_UNWEIGHTED + b"\n")
    u, v = graph.to_edges()
    target.stream.write(f"p sp {graph.n} {len(u)}\n".encode())
    weights = np.ones(len(u), np.int64) if weights is None else weights
    write_columns(target, "a %d %d %d\n", u.astype("int64") + 1, v.astype("int64") + 1, weights)


def write_col(target: Target, graph: Graph) -> None:
    """Write undirected edges, each once."""
    if graph.directed:
        raise target.fail("DIMACS .col cannot store a directed graph; write .gr instead")
    u, v = graph.to_edges()
    target.stream.write(f"p edge {graph.n} {len(u)}\n".encode())
    write_columns(target, "e %d %d\n", u.astype("int64") + 1, v.astype("int64") + 1)


# ---------------------------------------------------------------- GAPBS


def read_list(values: int, source: Source, request: Request) -> Graph:
    """Read pairs of ids, each with `values` weights (0 or 1). Ids are used unchanged; n is the largest id plus 1."""
    expected = f"two vertex ids from 0{', a weight' * values} and nothing else"
    grammar = Grammar(expected, comments=b"", values=values, weight=int(values and request.weights))
    with source.text() as stream:
        u, v, weights, line = read_edges(source, stream, 1, grammar)
    if len(u) == 0:
        raise source.fail(f"the file contains no edge; expected lines of {expected}", 1)
    n = max(int(u.max()), int(v.max())) + 1
    return request.graph(source, u, v, request.vertices(source, n, line), directed=True, weights=weights)


def write_list(values: int, target: Target, graph: Graph, *, isolated: bool = True) -> None:
    """Write one pair per line, with its weight if `values` is 1; `isolated=False` drops isolated last vertices."""
    check_last(target, graph, isolated)
    weights = (_int32_weights(target, graph, ".el"),) if values else ()
    write_columns(target, f"%d %d{' %d' * values}\n", *graph.to_edges(), *weights)


def _int32_weights(target: Target, graph: Graph, bare: str) -> Ids:
    weights = whole_weights(target, graph, -(2**31), 2**31 - 1)
    if weights is None:
        raise target.fail(f"the graph has no weights; write {bare} instead")
    return weights


def read_arrays(kind: np.dtype[Any], source: Source, request: Request) -> Graph:
    """Read a serialised GAPBS graph. The transpose of a directed graph is skipped."""
    with source.open() as stream:
        head = source.exactly(stream, _HEADER.size, "header")
        if head[0] > 1:
            raise source.fail(f"the first byte is {head[0]}; expected 0 (undirected) or 1 (directed): not a .sg file")
        directed, m, n = _HEADER.unpack(head)
        if n < 0 or m < 0:
            raise source.fail(f"declares {n} vertices and {m} arcs; counts must not be negative: not a .sg file")
        request.check_n(source, n)
        request.vertices(source, n)
        offsets = np.frombuffer(source.exactly(stream, 8 * (n + 1), f"offsets of {n} vertices"), "<i8")
        arcs = np.frombuffer(source.exactly(stream, kind.itemsize * m, f"neighbours on {m} arcs"), kind)
        if directed:
            source.exactly(stream, 8 * (n + 1) + kind.itemsize * m, "in-arcs")
        if source.take(stream, 1):
            other = "not a .wsg file" if kind.names else "not a .sg file, or a weighted one (.wsg)"
            raise source.fail(f"continues after its {m} arcs: {other}")
    indices, weights = (arcs["vertex"], arcs["weight"]) if kind.names else (arcs, None)
    weights = weights if request.weights else None
    combine = None if weights is None else request.combine
    try:
        graph = Graph.from_csr(offsets, indices, directed=directed, weights=weights, combine=combine)
    except GraphError as error:
        raise source.fail(f"the arrays are not a graph: {error}") from None
    return request.turned(source, graph)


def write_arrays(kind: np.dtype[Any], target: Target, graph: Graph) -> None:
    """Write the arrays that GAPBS maps into memory; a directed graph also needs its transpose."""
    if kind.names:
        _int32_weights(target, graph, ".sg")
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


# ---------------------------------------------------------------- Graph500


def read_graph500(source: Source, request: Request, *, packed: bool = False) -> Graph:
    """Read a Graph500 edge list, undirected by default; n is the largest id plus 1, or `n=`."""
    with source.open() as stream:
        data = source.whole(stream)
    size = 12 if packed else 16
    if not data or len(data) % size:
        other = f"truncated, or the other layout (pass packed={not packed})"
        raise source.fail(f"{len(data):,} bytes; expected a multiple of {size}, the bytes of one edge: {other}")
    u, v = columns_of(data, packed)
    for ends in (u, v):
        bad = (ends < 0) | (ends >= LARGEST_VERTEX_COUNT)
        if bad.any():
            at = int(bad.argmax())
            message = f"edge {at} has the endpoint {ends[at]}; expected ids from 0 to {LARGEST_VERTEX_COUNT - 1}"
            raise source.fail(f"{message} (packed={not packed} reads the other layout)")
    n = max(int(u.max()), int(v.max())) + 1
    weights = _weights(source, len(u)) if request.weights else None
    return request.graph(source, u, v, request.vertices(source, n), directed=None, weights=weights)


def _weights(source: Source, edges: int) -> Ids | None:
    """The weights in the file next to the list, None without such a file."""
    path = source.path.with_name(source.path.name + ".weights")
    if not path.exists():
        return None
    other = Source(path, source.meter)
    with other.open() as stream:
        weights = np.frombuffer(other.exactly(stream, 4 * edges, f"weights of {edges} edges"), "<f4")
        if other.take(stream, 1):
            raise other.fail(f"continues after {edges} weights; expected one float32 per edge of {source.path.name}")
    return weights.astype(np.float32)


def columns_of(data: bytes, packed: bool) -> tuple[Ids, Ids]:
    """The two endpoints of every edge, as two arrays."""
    if not packed:
        edges = np.frombuffer(data, "<i8").reshape(-1, 2)
        return edges[:, 0], edges[:, 1]
    words = np.frombuffer(data, "<u4").reshape(-1, 3)
    high = words[:, 2].astype(np.int64)
    return words[:, 0] | (high & 0xFFFF) << 32, words[:, 1] | (high >> 16) << 32


def write_graph500(target: Target, graph: Graph, *, packed: bool = False, isolated: bool = True) -> None:
    """Write edges as pairs of int64, or packed; `isolated=False` drops isolated last vertices."""
    check_last(target, graph, isolated)
    u, v = graph.to_edges()
    edges = np.column_stack([u, v, np.zeros_like(u)]).astype("<u4") if packed else np.column_stack([u, v]).astype("<i8")
    # Write an edge whose head is not 0 first: reading it without packed=True then fails because its ids are too large.
    first = int((v != 0).argmax()) if packed else 0  # if all heads are 0, the tails are not, which also fails
    edges[[0, first]] = edges[[first, 0]]
    target.stream.write(edges.tobytes())
