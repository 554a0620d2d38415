"""A file read by several ranks: each reads its share of the bytes, which begins where a line or an edge begins.

Only files that can be read from the middle are split: Matrix Market and SNAP edge lists of integers, unpacked, and
Graph500's binary lists. Rank 0 reads any other file whole, with its labels. A share is read by the same grammar as a
whole file.
"""

from __future__ import annotations

import io
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.distributed.ranks import World
from hopwave.errors import FormatError
from hopwave.io import by_title, detect, edge_list, matrix_market, read
from hopwave.io.format import TABLE_PER_ID
from hopwave.io.lines import read_edges
from hopwave.io.source import Source
from hopwave.io.suites import columns_of
from hopwave.system.progress import Meter

Ids = npt.NDArray[np.int64]
LINES = ("matrix-market", "snap")


@dataclass(frozen=True)
class Share:
    """What one rank read: its edges by id, and what the file declares: vertices, directedness, number of edges.

    `both_ways`: the file's edges are undirected and a directed graph is wanted, so each edge becomes two arcs.
    `lone`: vertices that the file lists. `gaps`: numbers that are not 0 … n−1 are labels, unless all are below n.
    `labels`: what the vertices are called, if rank 0 has read a whole file that names them, or by `numbered`.
    """

    u: Ids
    v: Ids
    n: int
    directed: bool
    declared: int | None = None
    both_ways: bool = False
    lone: Ids | None = None
    gaps: bool = False
    labels: npt.NDArray[Any] | None = None

    def arcs(self) -> tuple[Ids, Ids]:
        """The edges; with `both_ways`, each of them in both directions."""
        if not self.both_ways:
            return self.u, self.v
        return np.concatenate([self.u, self.v]), np.concatenate([self.v, self.u])


def numbered(joined: World, share: Share, edges: int, path: str | os.PathLike[str]) -> Share:
    """The share with the n of all ranks, and labels instead of ids with gaps, as `hopwave.read` has them."""
    columns = (share.u, share.v, *([] if share.lone is None else [share.lone]))
    own = joined.together(lambda: np.unique(np.concatenate(columns)))
    most = 1 + max(joined.allgather(int(own[-1]) if len(own) else -1))
    if not share.gaps or most <= share.n:
        return replace(share, n=max(joined.allgather(max(share.n, most))))
    if most < TABLE_PER_ID * edges + 1024:  # a bit for each number
        present = np.zeros(most, np.bool_)
        present[own] = True
        labels = np.flatnonzero(np.unpackbits(joined.allreduce(np.packbits(present), "BOR"), count=most))
    else:
        labels = np.unique(np.concatenate(joined.allgather(own)))
    n = len(labels)

    def check() -> None:
        if share.n and n > share.n:
            raise FormatError(f"{n:,} different vertices; expected the {share.n:,} of the comment 'Nodes:'", path)

    joined.together(check)
    if n == most:
        return replace(share, n=n)
    u, v = (np.searchsorted(labels, ends) for ends in (share.u, share.v))
    return replace(share, u=u, v=v, n=n, labels=labels if joined.rank == 0 else None)


def read_share(path: str | os.PathLike[str], format: str | None, directed: bool | None, rank: int, size: int) -> Share:
    """A rank's share of a file. If the file cannot be split, rank 0 gets all of it and the others nothing."""
    source = Source(Path(path), Meter("", None, False))
    if source.size == 0:
        raise source.fail("empty; expected a graph", 1)
    chosen = by_title(format) if format is not None else detect(source)
    if source.packed or chosen.name not in (*LINES, "graph500"):
        return _whole(path, format, directed, rank)
    if chosen.name == "graph500":
        return _records(source, directed, rank, size)
    return _lines(source, chosen.name, directed, rank, size)


def _whole(path: str | os.PathLike[str], format: str | None, directed: bool | None, rank: int) -> Share:
    if rank:
        nothing = np.empty(0, np.int64)
        return Share(nothing, nothing, 0, False)
    graph = read(path, format, directed, weights=False, progress=False)
    u, v = graph.to_edges()
    return Share(u.astype(np.int64), v.astype(np.int64), graph.n, graph.directed, labels=graph.labels)


def _records(source: Source, directed: bool | None, rank: int, size: int) -> Share:
    """Graph500 edges of 16 bytes, or of 12 if the file's size is a multiple of 12 only."""
    width = 16 if source.size % 16 == 0 else 12
    if source.size % width:
        raise source.fail(
            f"{source.size:,} bytes; expected a multiple of 12 or 16, the bytes per edge: is it truncated?"
        )
    count = source.size // width
    begin, end = rank * count // size, (rank + 1) * count // size
    with source.open() as stream:
        stream.seek(begin * width)
        data = source.exactly(stream, (end - begin) * width, "edges")
    u, v = (np.asarray(ends, np.int64) for ends in columns_of(data, packed=width == 12))
    for ends in (u, v):
        if len(ends) and int(ends.min()) < 0:
            raise source.fail(f"edge {begin + int(ends.argmin())} has the end {int(ends.min())}; expected ids from 0")
    return Share(u, v, 0, bool(directed))


def _lines(source: Source, format: str, directed: bool | None, rank: int, size: int) -> Share:
    """The lines that begin in the rank-th of `size` equal ranges of bytes after the header."""
    declared: int | None
    lone: Ids | None = None
    says: bool | None  # whether the file is directed; None if it does not declare that
    with source.text() as stream:
        first = stream.tell()
        if format == "matrix-market":
            entries = matrix_market.read_header(source, stream)
            grammar, says = entries.grammar(), entries.symmetry == "general"
            start, n, declared = stream.tell(), entries.size, entries.entries
        else:
            header = edge_list.read_header(source, stream)
            if header.names or not all(end.lstrip(b"-").isdigit() for end in header.first_row.split()[:2]):
                return _whole(source.path, format, directed, rank)
            grammar, says = edge_list.integer_grammar(), header.directed
            lone = edge_list.listed_numbers(source, header)
            start, n, declared = first, header.nodes or 0, header.edges
        begin, end = (
            _next_line(stream, start + (source.size - start) * index // size, start) for index in (rank, rank + 1)
        )
        stream.seek(begin)
        share = io.BytesIO(stream.read(end - begin))
        try:
            edges = read_edges(source, share, 1, grammar)
        except FormatError as error:
            stream.seek(0)  # lines are counted from the file's beginning
            what = str(error).removeprefix(f"{source.path}:{error.line}: ")
            raise source.fail(what, (error.line or 1) + stream.read(begin).count(b"\n")) from None
    wanted = bool(says) if directed is None else directed
    ends, both_ways = (edges.u.astype(np.int64), edges.v.astype(np.int64)), wanted and says is False
    return Share(*ends, n, wanted, declared, both_ways, lone, gaps=format == "snap")


def _next_line(stream: Any, position: int, start: int) -> int:
    """The start of the first line that begins at or after this position."""
    if position <= start:
        return start
    stream.seek(position - 1)
    stream.readline()
    return int(stream.tell())
