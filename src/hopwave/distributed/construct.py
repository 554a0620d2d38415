"""Distributed graphs from arrays, from generators, from files: every rank brings its part, none sees the whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from hopwave.distributed.exchange import BLOCK, Edges, in_blocks
from hopwave.distributed.file_shares import read_part
from hopwave.distributed.graph import DistributedGraph, choose_device
from hopwave.distributed.layout import Layout
from hopwave.distributed.memory import check_memory
from hopwave.distributed.world import World, world
from hopwave.errors import FormatError, GraphError
from hopwave.generate.randoms import uniform_edges
from hopwave.generate.recursive import kronecker_edges


def from_edges(
    source: Any,
    target: Any,
    n: int | None = None,
    directed: bool = False,
    *,
    layout: str | tuple[int, int] | Layout = "1d",
    balance: bool = True,
    device: str = "cpu",
    threads: int | None = None,
) -> DistributedGraph:
    """A graph of the edges that all ranks bring: each gives its own part, possibly none. Ids are whole numbers from 0.

    n: the number of vertices; by default one more than the greatest id on any rank.
    layout: "1d", "2d" (the squarest grid), or (rows, columns). balance: give ranks ranges of about equally many
    arcs instead of equally many vertices. device: "cpu" or "cuda"; ranks of one machine share its cores and GPUs.

    >>> from hopwave import distributed
    >>> distributed.from_edges([0, 5], [5, 7], directed=True).n
    8
    """
    joined = world()

    def columns() -> Edges:
        ends = tuple(np.asarray(side) for side in (source, target))
        for side in ends:
            if side.ndim != 1 or (side.size and side.dtype.kind not in "iu"):
                raise GraphError("source and target must be columns of whole numbers; number labels first")
        if len(ends[0]) != len(ends[1]):
            raise GraphError(f"source has {len(ends[0])} entries and target {len(ends[1])}; give one of each an edge")
        return ends[0].astype(np.int64), ends[1].astype(np.int64)

    u, v = joined.together(columns)
    return _from_columns(joined, u, v, n, directed, layout=layout, balance=balance, device=device, threads=threads)


def _from_columns(joined: World, u: Any, v: Any, n: int | None, directed: bool, **options: Any) -> DistributedGraph:
    greatest = max((int(side.max()) for side in (u, v) if len(side)), default=-1)
    if n is None:
        n = max(joined.allgather(greatest)) + 1
    return DistributedGraph(joined, lambda: in_blocks(u, v), n, directed, **options)


def read(
    path: str | os.PathLike[str],
    format: str | None = None,
    directed: bool | None = None,
    *,
    layout: str | tuple[int, int] | Layout = "1d",
    balance: bool = True,
    device: str = "cpu",
    threads: int | None = None,
) -> DistributedGraph:
    """The graph in a file that all ranks can see, each of them reading its share of the bytes.

    Matrix Market, SNAP edge lists of integers and Graph500's binary lists are read in parts; what cannot be cut (packed
    with gzip, or in another format) is read by rank 0 and dealt out. A damaged file raises on every rank.

    >>> import hopwave as hw, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     hw.write(f"{folder}/path.mtx", hw.generate.path(3))
    ...     hw.distributed.read(f"{folder}/path.mtx").m
    4
    """
    joined = world()
    part = joined.together(lambda: read_part(path, format, directed, joined.rank, joined.size))
    sizes = joined.allgather(Path(path).stat().st_size)
    if len(set(sizes)) > 1:
        joined.together(lambda: _differing(path, sizes))
    found, n, kind = joined.total(len(part.u)), part.n, bool(joined.allgather(part.directed)[0])
    if part.declared is not None and found != part.declared:
        joined.together(lambda: _truncated(path, found, part.declared))
    n = max(n, 1 + max((int(ends.max()) for ends in (part.u, part.v) if len(ends)), default=-1))
    n = max(joined.allgather(n))
    options = {"layout": layout, "balance": balance, "device": device, "threads": threads}
    return _from_columns(joined, part.u, part.v, n, kind, **options)


def _differing(path: Any, sizes: list[int]) -> None:
    other = next(rank for rank, size in enumerate(sizes) if size != sizes[0])
    raise FormatError(
        f"{sizes[0]:,} bytes long on rank 0 and {sizes[other]:,} on rank {other}; expected the same file on all", path
    )


def _truncated(path: Any, found: int, declared: int | None) -> None:
    raise FormatError(f"holds {found:,} edges; expected the {declared:,} that its header declares", path)


def kronecker(
    scale: int,
    edge_factor: int = 16,
    seed: int = 1,
    directed: bool = False,
    *,
    layout: str | tuple[int, int] | Layout = "1d",
    device: str = "cpu",
    threads: int | None = None,
) -> DistributedGraph:
    """The graph of `hopwave.generate.kronecker`, every rank drawing its share of the edges in place.

    Its ids are shuffled, so ranges of equally many vertices have about equally many arcs.

    >>> from hopwave import distributed
    >>> distributed.kronecker(5).n
    32
    """
    joined = world()
    joined.together(lambda: kronecker_edges(scale, edge_factor, seed, 0, 0))  # refuses what cannot be, before any work
    n, edges = 1 << scale, edge_factor << scale
    _prepare(joined, n, edges, directed, layout, device)

    def draw(first: int, count: int) -> Edges:
        if device == "cuda":
            from hopwave.engines.cuda.kronecker import edges as drawn_there

            return drawn_there(scale, seed, first, count)  # type: ignore[no-any-return]
        return kronecker_edges(scale, edge_factor, seed, first, count)

    return DistributedGraph(
        joined,
        lambda: _drawn(joined, edges, draw),
        n,
        directed,
        layout=layout,
        balance=False,
        device=device,
        threads=threads,
    )


def uniform(
    n: int,
    edge_factor: int = 16,
    seed: int = 1,
    directed: bool = False,
    *,
    layout: str | tuple[int, int] | Layout = "1d",
    device: str = "cpu",
    threads: int | None = None,
) -> DistributedGraph:
    """The graph of `hopwave.generate.uniform`, every rank drawing its share of the edges in place.

    >>> from hopwave import distributed
    >>> distributed.uniform(100, edge_factor=2).n
    100
    """
    joined = world()
    joined.together(lambda: uniform_edges(n, edge_factor, seed, 0, 0))
    _prepare(joined, n, n * edge_factor, directed, layout, device)
    return DistributedGraph(
        joined,
        lambda: _drawn(joined, n * edge_factor, lambda first, count: uniform_edges(n, edge_factor, seed, first, count)),
        n,
        directed,
        layout=layout,
        balance=False,
        device=device,
        threads=threads,
    )


def _prepare(joined: World, n: int, edges: int, directed: bool, layout: Any, device: str) -> None:
    joined.together(lambda: choose_device(joined, device))
    check_memory(joined, n, edges, directed, layout, device)


def _drawn(joined: World, edges: int, draw: Any) -> Iterator[Edges]:
    """This rank's share of a generator's edges, a block at a time."""
    begin, end = joined.rank * edges // joined.size, (joined.rank + 1) * edges // joined.size
    for first in range(begin, end, BLOCK):
        yield draw(first, min(BLOCK, end - first))


def spread(graph: Any, **options: Any) -> DistributedGraph:
    """A whole hopwave.Graph that every rank has (or that only rank 0 gives, None elsewhere), dealt out to all.

    >>> import hopwave as hw
    >>> hw.distributed.spread(hw.generate.path(4)).m
    6
    """
    joined = world()
    given = joined.allgather(None if graph is None else (graph.n, graph.directed))
    n, directed = next(about for about in given if about is not None)
    first = next(rank for rank, about in enumerate(given) if about is not None)
    u, v = graph.to_edges() if joined.rank == first else (np.empty(0, np.int64), np.empty(0, np.int64))
    return _from_columns(joined, u.astype(np.int64), v.astype(np.int64), n, directed, **options)
