"""Distributed graphs from arrays, generators and files. Every rank contributes its share of the edges."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from hashlib import file_digest
from io import BytesIO
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from hopwave.distributed.graph import BLOCK, DistributedGraph, Edges, Split, Splitting, choose_device, in_blocks
from hopwave.distributed.layout import Ids, grid_columns, slot_type
from hopwave.distributed.ranks import World, everywhere, plain, world
from hopwave.engines.host_memory import available_memory
from hopwave.errors import EngineError, FormatError, GraphError
from hopwave.generate.recursive import kronecker_edges
from hopwave.generate.shapes import uniform_edges
from hopwave.graph import Graph
from hopwave.io import by_title, detect, edge_list, suites
from hopwave.io import read as read_whole
from hopwave.io.format import MAX_UNCONFIRMED_VERTICES, TABLE_PER_ID
from hopwave.io.lines import Source, read_edges
from hopwave.system.files import expanded
from hopwave.system.progress import Meter

# Peak memory while a graph is built (docs/distributed.md), in bytes, with slots of 32 bits.
PEAK_BYTES_PER_ARC, PEAK_BYTES_PER_ARC_2D = 22, 31
BYTES_PER_VERTEX = 44  # offsets, degrees, distance, predecessor


def from_edges(
    source: Any, target: Any, n: int | None = None, directed: bool = False, *, balance: bool = True,
    **split: Unpack[Split],
) -> DistributedGraph:  # fmt: skip
    """A graph of the edges of all ranks: each rank passes its share, possibly none. Ids are integers from 0.

    Repeated edges are merged.

    Parameters
    ----------
    source, target : array of int
        The edges of this rank.
    n : int, optional
        The number of vertices; by default one more than the largest id on any rank.
    directed : bool, optional
        Whether the graph is directed.
    layout : {"1d", "2d"}, pair of int or Layout, optional
        How vertices are split over the ranks; "2d" is the grid nearest to a square, a pair is (rows, columns).
    balance : bool, optional
        Whether ranks get about the same number of arcs, instead of the same number of vertices.
    device : {"cpu", "cuda"}, optional
        Device of the ranks; the ranks of one machine share its cores and GPUs.
    threads : int, optional
        Threads of each rank; by default its share of the cores.

    Examples
    --------
    >>> distributed.from_edges([0, 5], [5, 7], directed=True).n
    8
    """
    joined, how = _begin("from_edges", split, n=n, directed=directed, balance=balance)

    def columns() -> Edges:
        ends = tuple(np.asarray(side) for side in (source, target))
        for side in ends:
            if side.ndim != 1 or (side.size and side.dtype.kind not in "iu"):
                raise GraphError(
                    "source and target must be arrays of integers; for names, build the full graph on one rank: "
                    "spread(hopwave.Graph.from_edges(source, target)), and call spread(None) on the others"
                )
        if len(ends[0]) != len(ends[1]):
            raise GraphError(f"source has {len(ends[0])} entries and target {len(ends[1])}; pass one of each per edge")
        return ends[0].astype(np.int64), ends[1].astype(np.int64)

    u, v = joined.together(columns)
    return _from_columns(joined, how, u, v, n, directed, balance)


def _begin(call: str, split: Split, **about: Any) -> tuple[World, Splitting]:
    """The ranks after they agreed on the call, and how they split the graph."""
    joined, how = world(), Splitting(**split)
    joined.agree(call, **about, layout=how.layout, device=how.device)
    return joined, how


def _from_columns(
    joined: World, how: Splitting, u: Any, v: Any, n: int | None, directed: bool, balance: bool, labels: Any = None
) -> DistributedGraph:
    greatest = max((int(side.max()) for side in (u, v) if len(side)), default=-1)
    if n is None:
        n = max(joined.allgather(greatest)) + 1
    check_memory(joined, how, n, joined.total(len(u)), directed)
    return DistributedGraph(joined, lambda: in_blocks(u, v), n, directed, how, balance, labels)


def read(
    path: str | os.PathLike[str], format: str | None = None, directed: bool | None = None, *, balance: bool = True,
    **split: Unpack[Split],
) -> DistributedGraph:  # fmt: skip
    """The graph in a file that all ranks can access; each rank reads its share of the bytes.

    Matrix Market, SNAP edge lists of integers and Graph500's lists of int64 are read in parallel. Files that cannot be
    split (compressed, in another format, or with names) are read by rank 0, which sends the arcs to the others,
    and the labels to all ranks. Vertices are named as in `hopwave.read(path)`: in an edge list, ids with gaps
    are labels. A distributed graph has no weights: the weights of the file are dropped.

    Parameters
    ----------
    path : str or path
        The file.
    format, directed
        As in `hopwave.read`.
    balance
        As in `from_edges`.

    Raises
    ------
    FormatError
        The file is damaged; raised on every rank.

    Examples
    --------
    >>> import hopwave as hw, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     hw.write(f"{folder}/path.mtx", hw.generate.path(3))
    ...     hw.distributed.read(f"{folder}/path.mtx").m
    4
    """
    # Paths are not compared: each machine may store the file in another folder.
    joined, how = _begin("read", split, format=format, directed=directed, balance=balance)
    share = joined.together(lambda: read_share(path, format, directed, joined.rank, joined.size))
    _check_same_file(joined, path)
    found, is_directed = joined.total(len(share.u)), bool(joined.allgather(share.directed)[0])
    if share.declared is not None and found != share.declared:
        message = f"contains {found:,} edges, but its header declares {share.declared:,}; correct one of them"
        raise everywhere(FormatError(message, path))
    share = numbered(joined, share, found, path)
    labels = joined.shared(share.labels)
    return _from_columns(joined, how, *share.arcs(), share.n, is_directed, balance, labels)


def _check_same_file(joined: World, path: Any) -> None:
    """Raise a FormatError if ranks read different files. Possible copies are compared by checksum."""
    about = joined.together(lambda: expanded(path).stat())
    seen = joined.allgather((about.st_ino, about.st_mtime_ns, about.st_size))
    if len(set(seen)) == 1:  # one file on a shared disk
        return

    def digest() -> str:
        with expanded(path).open("rb") as stream:
            return file_digest(stream, "sha256").hexdigest()

    digests = joined.allgather(joined.together(digest))
    if len(set(digests)) > 1:
        other = next(rank for rank, one in enumerate(digests) if one != digests[0])
        message = f"differs between rank {other} and rank 0; copy the same file to all machines"
        raise everywhere(FormatError(message, path))


def kronecker(
    scale: int, edge_factor: int = 16, seed: int = 1, directed: bool = False, **split: Unpack[Split]
) -> DistributedGraph:
    """The graph of `hopwave.generate.kronecker`; every rank generates its share of the edges.

    Its ids are shuffled, so ranges with the same number of vertices have about the same number of arcs.

    Parameters
    ----------
    scale, edge_factor, seed, directed
        As in `hopwave.generate.kronecker`.

    Examples
    --------
    >>> distributed.kronecker(5).n
    32
    """
    joined, how = _begin("kronecker", split, scale=scale, edge_factor=edge_factor, seed=seed, directed=directed)
    joined.together(lambda: kronecker_edges(scale, edge_factor, seed, 0, 0))  # checks the arguments; generates no edge
    scale, edge_factor, seed = int(scale), int(edge_factor), int(seed)

    def draw(first: int, count: int) -> Edges:
        if how.device == "cuda":
            from hopwave.engines.cuda.kronecker import edges as edges_on_gpu

            return edges_on_gpu(scale, seed, first, count)  # type: ignore[no-any-return]
        return kronecker_edges(scale, edge_factor, seed, first, count)

    return _generated(joined, how, 1 << scale, edge_factor << scale, draw, directed)


def uniform(
    n: int, edge_factor: int = 16, seed: int = 1, directed: bool = False, **split: Unpack[Split]
) -> DistributedGraph:
    """The graph of `hopwave.generate.uniform`; every rank generates its share of the edges.

    Parameters
    ----------
    n, edge_factor, seed, directed
        As in `hopwave.generate.uniform`.

    Examples
    --------
    >>> distributed.uniform(100, edge_factor=2).n
    100
    """
    joined, how = _begin("uniform", split, n=n, edge_factor=edge_factor, seed=seed, directed=directed)
    joined.together(lambda: uniform_edges(n, edge_factor, seed, 0, 0))
    n, edge_factor = int(n), int(edge_factor)
    return _generated(joined, how, n, n * edge_factor, partial(uniform_edges, n, edge_factor, seed), directed)


def _generated(
    joined: World, how: Splitting, n: int, edges: int, draw: Callable[[int, int], Edges], directed: bool
) -> DistributedGraph:
    """A graph of random edges, if it fits into memory. draw(first, count) returns the edges first ... first+count-1."""
    check_memory(joined, how, n, edges, directed)
    begin, end = joined.rank * edges // joined.size, (joined.rank + 1) * edges // joined.size

    def blocks() -> Iterator[Edges]:
        return (draw(first, min(BLOCK, end - first)) for first in range(begin, end, BLOCK))

    return DistributedGraph(joined, blocks, n, directed, how, balance=False)


def spread(graph: Any, *, balance: bool = True, **split: Unpack[Split]) -> DistributedGraph:
    """Split a hopwave.Graph into one part per rank. Every rank passes the graph, or one rank does and the others None.

    Every rank stores the graph's labels. A distributed graph has no weights, so a weighted graph is rejected: pass
    `graph.without_weights()`. Parallel edges of the graph (`repeats="keep"`) are
    merged and count as one path.

    Parameters
    ----------
    graph : Graph or None
        The graph, or None on a rank that does not have it.
    balance
        As in `from_edges`.

    Examples
    --------
    >>> hw.distributed.spread(hw.generate.path(4)).m
    6
    """
    joined, how = _begin("spread", split, balance=balance)
    joined.together(lambda: _check_unweighted(graph))
    given = joined.allgather(None if graph is None else (graph.n, graph.directed, *plain(graph)[1:]))
    givers = [rank for rank, about in enumerate(given) if about is not None]
    if not givers:
        raise everywhere(GraphError("no rank passes a graph to spread; pass it on at least one rank"))
    first = givers[0]
    for other in givers:
        if given[other] != given[first]:
            message = f"ranks {first} and {other} pass different graphs to spread; pass the same graph, or only one"
            raise everywhere(GraphError(message))
    u, v = (side.astype(np.int64) for side in (graph.to_edges() if joined.rank == first else np.empty((2, 0))))
    labels = joined.shared(None if graph is None else graph.labels, first)
    n, directed = given[first][:2]
    return _from_columns(joined, how, u, v, n, directed, balance, labels)


def _check_unweighted(graph: Any) -> None:
    if graph is not None and not isinstance(graph, Graph):
        raise GraphError(f"{graph!r:.60} is not a hopwave.Graph; convert it, for example with Graph.from_networkx")
    if graph is not None and graph.is_weighted:
        raise GraphError("a distributed graph has no weights; drop them with spread(G.without_weights())")


# ---------------------------------------------------------------- a file read by several ranks


@dataclass(frozen=True)
class Share:
    """The data that one rank read: its edges by id, and the counts that the file declares."""

    u: Ids
    v: Ids
    n: int
    directed: bool
    declared: int | None = None  # number of edges
    both_ways: bool = False  # the file is undirected and the caller wants a directed graph: each edge becomes two arcs
    lone: Ids | None = None  # vertices that the file lists
    gaps: bool = False  # ids other than 0 … n−1 are labels, unless all are below n
    labels: npt.NDArray[Any] | None = None  # on rank 0

    def arcs(self) -> tuple[Ids, Ids]:
        if not self.both_ways:
            return self.u, self.v
        return np.concatenate([self.u, self.v]), np.concatenate([self.v, self.u])


def numbered(joined: World, share: Share, edges: int, path: str | os.PathLike[str]) -> Share:
    """The share with the n of all ranks, and labels instead of ids with gaps, as in `hopwave.read`."""
    columns = (share.u, share.v, *([] if share.lone is None else [share.lone]))
    own = joined.together(lambda: np.unique(np.concatenate(columns)))
    most = 1 + max(joined.allgather(int(own[-1]) if len(own) else -1))
    if not share.gaps or most <= share.n:
        return replace(share, n=max(joined.allgather(max(share.n, most))))
    if most < TABLE_PER_ID * edges + 1024:  # a bitmap of all ids is smaller
        present = np.zeros(most, np.bool_)
        present[own] = True
        labels = np.flatnonzero(np.unpackbits(joined.allreduce(np.packbits(present), "BOR"), count=most))
    else:
        labels = np.unique(np.concatenate(joined.allgather(own)))
    n = len(labels)
    if share.n and n > share.n:
        message = f"{n:,} different vertices; the comment 'Nodes:' declares {share.n:,}"
        raise everywhere(FormatError(message, path))
    if n == most:
        return replace(share, n=n)
    u, v = (np.searchsorted(labels, ends) for ends in (share.u, share.v))
    return replace(share, u=u, v=v, n=n, labels=labels if joined.rank == 0 else None)


def read_share(path: str | os.PathLike[str], format: str | None, directed: bool | None, rank: int, size: int) -> Share:
    """A rank's share of a file. If the file cannot be split, rank 0 gets all of it and the others nothing."""
    source = Source(expanded(path), Meter("", None, False))
    if source.size == 0:
        raise source.fail("is empty; expected a graph", 1)
    chosen = by_title(format) if format is not None else detect(source)
    if source.packed or chosen.name not in ("matrix-market", "snap", "graph500"):
        return _whole(path, format, directed, rank)
    if chosen.name == "graph500":
        return _records(source, directed, rank, size)
    return _lines(source, chosen.name, directed, rank, size)


def _whole(path: str | os.PathLike[str], format: str | None, directed: bool | None, rank: int) -> Share:
    if rank:
        nothing = np.empty(0, np.int64)
        return Share(nothing, nothing, 0, False)
    graph = read_whole(path, format, directed, weights=False, progress=False)
    u, v = graph.to_edges()
    return Share(u.astype(np.int64), v.astype(np.int64), graph.n, graph.directed, labels=graph.labels)


def _records(source: Source, directed: bool | None, rank: int, size: int) -> Share:
    """Graph500 edges, two int64 each."""
    other = "packed edges (read them on one rank, hopwave.read(path, packed=True), and spread the graph)"
    if source.size % 16:
        raise source.fail(f"{source.size:,} bytes; expected a multiple of 16 (one edge): truncated, or {other}")
    count = source.size // 16
    begin, end = rank * count // size, (rank + 1) * count // size
    with source.open() as stream:
        stream.seek(begin * 16)
        data = source.exactly(stream, (end - begin) * 16, "edges")
    u, v = (np.asarray(ends, np.int64) for ends in suites.columns_of(data, packed=False))
    most = max(MAX_UNCONFIRMED_VERTICES, source.size)  # read as a pair, the first packed edge has an id above 2³²
    for ends in (u, v):
        wrong = (ends < 0) | (ends >= most)
        if wrong.any():
            at = int(wrong.argmax())
            raise source.fail(f"edge {begin + at} has the endpoint {ends[at]}; expected 0 to {most - 1}, or {other}")
    return Share(u, v, 0, bool(directed))


def _lines(source: Source, format: str, directed: bool | None, rank: int, size: int) -> Share:
    """The lines that begin in the rank-th of `size` equal ranges of bytes after the header."""
    declared: int | None
    lone: Ids | None = None
    says: bool | None  # whether the file is directed; None if it does not declare it
    with source.text() as stream:
        first = stream.tell()
        if format == "matrix-market":
            entries = suites.read_banner(source, stream)
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
        share = BytesIO(stream.read(end - begin))
        try:
            u, v = read_edges(source, share, 1, grammar)[:2]
        except FormatError as error:
            stream.seek(0)  # lines are counted from the file's beginning
            what = str(error).removeprefix(f"{source.path}:{error.line}: ")
            raise source.fail(what, (error.line or 1) + stream.read(begin).count(b"\n")) from None
    wanted = bool(says) if directed is None else directed
    ends, both_ways = (u.astype(np.int64), v.astype(np.int64)), wanted and says is False
    return Share(*ends, n, wanted, declared, both_ways, lone, gaps=format == "snap")


def _next_line(stream: Any, position: int, start: int) -> int:
    """The position of the first line that starts at or after `position`."""
    if position <= start:
        return start
    stream.seek(position - 1)
    stream.readline()
    return int(stream.tell())


# ---------------------------------------------------------------- memory check before a graph is built


def bytes_per_rank(n: int, edges: int, directed: bool, columns: int, size: int) -> int:
    """Estimated bytes that each of `size` ranks needs to build and search a graph. columns: 0 for a 1D layout."""
    arcs = edges * (1 if directed and columns else 2) // size
    group = n // min(columns, size // columns) if columns else n
    widths = int(np.dtype(slot_type(group)).itemsize) // 4  # 1, or 2 with slots of 64 bits
    per_arc = (PEAK_BYTES_PER_ARC_2D if columns else PEAK_BYTES_PER_ARC) * widths
    offsets = 16 * group if columns else 0  # for the vertices in a row and in a column of ranks
    return arcs * per_arc + offsets + BYTES_PER_VERTEX * n // size + group // 4


def check_memory(world: World, how: Splitting, n: int, edges: int, directed: bool) -> None:
    """Raise an error on all ranks if the options are invalid, or if a rank has too little memory for its share."""

    def check() -> None:
        choose_device(world, how.device, how.threads)
        columns, starts = grid_columns(how.layout, world.size, n), getattr(how.layout, "starts", (0, n))
        need = bytes_per_rank(int(starts[-1] - starts[0]), edges, directed, columns, world.size)
        if how.device == "cuda":
            need += need // 2  # a GPU does not sort in place
        have = _free(world, how.device)
        if have is not None and need > have:
            raise EngineError(
                f"{n:,} vertices and {edges:,} edges on {world.size} ranks need about {need / 1e9:,.1f} GB per rank "
                f"while the graph is built, but {have / 1e9:,.1f} GB are free; use more ranks on more machines, "
                "or a smaller graph"
            )

    world.together(check)


def _free(world: World, device: str) -> int | None:
    """This rank's share of the free memory of its machine or its GPU; None if unknown."""
    if device == "cuda":
        import cupy

        sharing = -(-world.machine_size // int(cupy.cuda.runtime.getDeviceCount()))
        pooled = int(cupy.get_default_memory_pool().free_bytes())  # cached by CuPy for this process
        return int(cupy.cuda.runtime.memGetInfo()[0]) // sharing + pooled
    free = available_memory()
    return None if free is None else int(free) // world.machine_size
