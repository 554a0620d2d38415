"""Distances from many sources, in hops or along weights: as a whole table, in blocks, or only pairs that are near."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hopwave.algorithms import many_sources as _many
from hopwave.algorithms import tables as _tables
from hopwave.api.arguments import as_graph, check_distance, check_hops, in_direction, vertex_ids
from hopwave.api.choice import distance_engine
from hopwave.api.weights import own_lengths
from hopwave.arrays import on_host
from hopwave.checks.numbers import check_bytes
from hopwave.graph import Graph
from hopwave.planning.jobs import Floats, Progress
from hopwave.planning.many_sources import Sweep


def bfs_many(
    G: Any,
    sources: Iterable[Any],
    depth_limit: int | None = None,
    direction: Literal["out", "in"] = "out",
    device: str = "auto",
    progress: Progress = None,
    *,
    targets: Iterable[Any] | None = None,
    threads: int | None = None,
    executor: Executor | None = None,
) -> npt.NDArray[np.int32]:
    """Hops from each source to every vertex, as a table.

    Searches share their steps, up to 64 at a time, if that is faster.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        The graph. Weights are ignored: distances count hops.
    sources : list of vertices
        Where the searches start.
    depth_limit, direction, device, threads
        As for `bfs`.
    progress : bool or callable, optional
        None shows a progress bar on a terminal after two seconds, True at once, False never. A function is called with
        (sources done, all sources).
    targets : list of vertices, optional
        Only these columns, in the order given; by default all vertices.
    executor : concurrent.futures.Executor, optional
        Its workers compute instead of this process, on their CPUs, or on their GPUs with device="cuda": see
        docs/executors.md. The result is the same, bit for bit. Leave out `threads`.

    Returns
    -------
    array of int32, sources × vertices
        One row per source, in the order given; −1 if there is no path. It takes 4 · sources · n bytes, or 4 · sources ·
        targets.

    See Also
    --------
    sssp_many : distances along weights.
    distance_blocks : the same, a few rows at a time.

    Examples
    --------
    >>> hw.bfs_many(hw.generate.path(4), [0, 2]).tolist()
    [[0, 1, 2, 3], [2, 1, 0, 1]]
    """
    graph, limit = in_direction(as_graph(G), direction), check_hops("depth_limit", depth_limit)
    if targets is not None:
        return to_targets(graph, sources, targets, limit, False, device, progress, threads, executor)
    job = Sweep(vertex_ids(graph, sources), "rows", limit)
    engine = distance_engine(False, device, graph, threads, len(job.sources), executor)
    return _many.sweep(engine, graph, job, "searches", progress, threads).rows


def sssp_many(
    G: Any,
    sources: Iterable[Any],
    weights: Any = None,
    limit: float | None = None,
    direction: Literal["out", "in"] = "out",
    device: str = "auto",
    progress: Progress = None,
    *,
    targets: Iterable[Any] | None = None,
    threads: int | None = None,
    executor: Executor | None = None,
) -> Floats:
    """The length of a shortest path from each source to every vertex, as a table.

    One search by Dijkstra's algorithm per source, one source per thread; on a GPU one block of threads per source.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        The graph. The values of a matrix are its weights, and so is the edge attribute "weight" of a NetworkX graph:
        1 if an edge lacks it, the least of parallel edges.
        Weights are followed; `weights=False` leaves them out.
    sources : list of vertices
        Where paths start.
    weights : bool, array or str, optional
        The lengths of the arcs, as for `sssp`: by default the graph's own weights, or 1 everywhere if it has none.
    limit : float, optional
        The greatest length of a path. Vertices farther away count as not reached.
    direction : {"out", "in"}, optional
        "in" follows arcs backwards.
    device : {"auto", "cpu", "cuda", "reference"}, optional
        Where to compute. "auto" is a GPU if there is one and the work is worth it, else the CPU.
    progress : bool or callable, optional
        As for `bfs_many`.
    targets : list of vertices, optional
        Only these columns, in the order given; by default all vertices. A search ends when it has settled them.
    threads : int, optional
        Threads of the CPU engine; by default HOPWAVE_NUM_THREADS, else every core.
    executor : concurrent.futures.Executor, optional
        As for `bfs_many`.

    Returns
    -------
    array of float64, sources × vertices
        One row per source, in the order given; infinite if there is no path. It takes 8 · sources · n bytes.

    Raises
    ------
    EngineError
        The table does not fit into memory, or the device is missing.

    See Also
    --------
    sssp : one search, with predecessors and paths.
    bfs_many : hops.
    distance_blocks : the same, a few rows at a time.

    Examples
    --------
    >>> G = hw.Graph.from_edges(["a", "a", "b"], ["b", "c", "c"], weights=[1.0, 5.0, 2.0])
    >>> hw.sssp_many(G, ["a", "c"]).tolist()
    [[0.0, 1.0, 3.0], [3.0, 2.0, 0.0]]
    """
    graph, weighted = own_lengths(G, weights)
    graph = in_direction(graph, direction)
    longest = check_distance("limit", limit, True)
    if longest is not None and not weighted:
        longest = int(min(longest, graph.n))  # hops are whole numbers
    if targets is not None:
        found = to_targets(graph, sources, targets, longest, weighted, device, progress, threads, executor)
        return found if weighted else np.where(found < 0, np.inf, found)
    job = Sweep(vertex_ids(graph, sources), "rows", longest, weighted=weighted)
    engine = distance_engine(weighted, device, graph, threads, len(job.sources), executor)
    rows = _many.sweep(engine, graph, job, "searches", progress, threads).rows
    if not weighted:
        unreached, rows = rows < 0, rows.astype(np.float64)
        rows[unreached] = np.inf
    return rows


def to_targets(
    graph: Graph,
    sources: Iterable[Any],
    targets: Iterable[Any],
    limit: float | None,
    weighted: bool,
    device: str,
    progress: Progress,
    threads: int | None,
    executor: Executor | None,
) -> npt.NDArray[Any]:
    """Distances from the sources to the targets: float64 along weights, whole numbers for hops."""
    ids, columns = vertex_ids(graph, sources), vertex_ids(graph, targets)
    once, places = np.unique(columns, return_inverse=True)
    engine = distance_engine(weighted, device, graph, threads, len(ids), executor)
    dtype = np.dtype(np.float64 if weighted else np.int32)
    table = _tables.one_by_one(_tables.Table(graph, engine, ids, once, limit, weighted, dtype, threads))
    return _tables.dense(table, progress)[:, places]


def distance_blocks(
    G: Any,
    sources: Iterable[Any] | None = None,
    depth_limit: float | None = None,
    direction: Literal["out", "in"] = "out",
    device: str = "auto",
    *,
    weights: Any = None,
    block_bytes: int = _many.BLOCK_BYTES,
    threads: int | None = None,
    executor: Executor | None = None,
) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
    """The distances of `bfs_many` or `sssp_many`, a few rows at a time.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        The graph.
        Weights are followed; `weights=False` leaves them out.
    sources : list of vertices, optional
        Where the searches start; by default everywhere.
    depth_limit : int, optional
        Stop after that many hops. Along weights, the greatest length of a path.
    direction, device, threads
        As for `bfs`.
    weights : bool, array or str, optional
        The lengths of the arcs, as for `sssp`: by default the graph's own weights. False counts hops.
    block_bytes : int, optional
        The greatest size of a block of rows; a block has at least one row.
    executor : concurrent.futures.Executor, optional
        As for `bfs_many`.

    Returns
    -------
    iterator of (array, array of int32)
        The sources of each block, as labels, or as ids (int64) if the graph has no labels; and one row of distances
        per source. Along weights, distances are of float64, infinite if there is no path.

    See Also
    --------
    bfs_many, pairs_within

    Examples
    --------
    >>> for some, rows in hw.distance_blocks(hw.generate.path(3), block_bytes=24):
    ...     print(some.tolist(), rows.tolist())
    [0, 1] [[0, 1, 2], [1, 0, 1]]
    [2] [[2, 1, 0]]
    """
    graph, weighted = own_lengths(G, weights)
    graph = in_direction(graph, direction)
    ids, limit = vertex_ids(graph, sources), check_distance("depth_limit", depth_limit, weighted)
    if check_bytes("block_bytes", block_bytes, least=0) is None:
        block_bytes = _many.BLOCK_BYTES
    engine = distance_engine(weighted, device, graph, threads, len(ids), executor)
    blocks = _many.distance_blocks(engine, graph, ids, threads, limit, block_bytes, weighted)
    return blocks if (labels := graph.labels) is None else ((labels[some], rows) for some, rows in blocks)


def pairs_within(
    G: Any,
    d: float,
    sources: Iterable[Any] | None = None,
    device: str = "auto",
    progress: Progress = None,
    *,
    weights: Any = None,
    threads: int | None = None,
    executor: Executor | None = None,
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """All pairs of different vertices within d hops, or a length d, of one another.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        The graph.
        Weights are followed; `weights=False` leaves them out.
    d : int
        The greatest distance. Along weights, any number from 0.
    sources : list of vertices, optional
        Where pairs start; by default everywhere. An undirected pair then appears once, in the order of the vertices.
    device, progress, threads, executor
        As for `bfs_many`.
    weights : bool, array or str, optional
        The lengths of the arcs, as for `sssp`: by default the graph's own weights. False counts hops.

    Returns
    -------
    source, target, distance : arrays
        One entry per pair, ordered by source, then nearest first. Vertices are labels, or ids (int32) if the graph has
        no labels; distances are of int32, along weights of float64.

    See Also
    --------
    k_hop, distance_blocks

    Examples
    --------
    >>> [column.tolist() for column in hw.pairs_within(hw.generate.path(4), 2)]
    [[0, 0, 1, 1, 2], [1, 2, 2, 3, 3], [1, 2, 1, 2, 1]]
    >>> [column.tolist() for column in hw.pairs_within(hw.Graph.from_edges(["ann"], ["bob"]), 1)]
    [['ann'], ['bob'], [1]]
    """
    graph, weighted = own_lengths(G, weights)
    limit = check_distance("d", d, weighted, otherwise="")
    ids = vertex_ids(graph, sources)
    engine = distance_engine(weighted, device, graph, threads, len(ids), executor)
    job = Sweep(ids, "pairs", limit, upwards=not graph.directed and sources is None, weighted=weighted)
    found = _many.sweep(engine, graph, job, "pairs", progress, threads)
    (target, distance), source = found.pairs, np.repeat(ids.astype(np.int32), found.reached)
    if (labels := graph.labels) is not None:
        source, target = labels[source], labels[on_host(target)]
    return source, target, distance
