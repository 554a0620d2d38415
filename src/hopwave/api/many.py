"""Distances from many sources, in hops or by weights: as a table, in blocks, or only for pairs within a distance."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, Literal, Unpack

import numpy as np
import numpy.typing as npt

from hopwave.algorithms import many_sources as _many
from hopwave.algorithms import tables as _tables
from hopwave.api.arguments import as_graph, check_distance, check_hops, in_direction, vertex_ids
from hopwave.api.choice import distance_engine
from hopwave.api.options import Run, Running
from hopwave.api.weights import own_lengths
from hopwave.arrays import on_host
from hopwave.checks.numbers import check_bytes
from hopwave.checks.options import flag, one_of
from hopwave.errors import FormatError, GraphError
from hopwave.graph import Graph
from hopwave.planning.jobs import Floats
from hopwave.planning.many_sources import Sweep
from hopwave.results.accessibility import DistanceTable
from hopwave.system.files import file_named

DTypeName = Literal["auto", "float32", "float64", "hops"]


def bfs_many(
    G: Any,
    sources: Iterable[Any],
    depth_limit: int | None = None,
    direction: Literal["out", "in"] = "out",
    *,
    targets: Iterable[Any] | None = None,
    **run: Unpack[Run],
) -> npt.NDArray[np.int32]:
    """Hops from each source to every vertex, as a table. Up to 64 searches share their steps if that is faster.

    Weights are ignored: distances count hops. `sssp_many` uses weights; `distance_blocks` returns a few rows at a
    time.

    Parameters
    ----------
    sources : list of vertices
        Vertices where the searches start.
    depth_limit : int, optional
        Maximum number of hops.
    targets : list of vertices, optional
        Columns of the table, in this order; default: all vertices.

    Returns
    -------
    array of int32, sources × vertices
        One row per source, in this order; −1 if there is no path. It needs 4 · sources · targets bytes.

    Examples
    --------
    >>> hw.bfs_many(hw.generate.path(4), [0, 2]).tolist()
    [[0, 1, 2, 3], [2, 1, 0, 1]]
    """
    graph, limit = in_direction(as_graph(G), direction), check_hops("depth_limit", depth_limit)
    found: npt.NDArray[np.int32] = _rows(graph, sources, targets, limit, False, Running(**run), np.int32)
    return found


def sssp_many(
    G: Any,
    sources: Iterable[Any],
    weights: Any = None,
    limit: float | None = None,
    direction: Literal["out", "in"] = "out",
    *,
    targets: Iterable[Any] | None = None,
    **run: Unpack[Run],
) -> Floats:
    """Length of a shortest path from each source to every vertex, as a table.

    A thread of a CPU searches from one source, or from 32 at once; a block of threads of a GPU from one. The shortest
    of parallel edges counts. Weights are used; `weights=False` ignores them.

    Parameters
    ----------
    sources : list of vertices
        Vertices where paths start.
    limit : float, optional
        Maximum length of a path. Vertices beyond it count as not reached.
    targets : list of vertices, optional
        Columns of the table, in this order; default: all vertices. A search ends when it has settled all targets.

    Returns
    -------
    array of float64, sources × vertices
        One row per source, in this order; infinite if there is no path. It needs 8 · sources · targets bytes.

    Examples
    --------
    >>> G = hw.Graph.from_edges(["a", "a", "b"], ["b", "c", "c"], weights=[1.0, 5.0, 2.0])
    >>> hw.sssp_many(G, ["a", "c"]).tolist()
    [[0.0, 1.0, 3.0], [3.0, 2.0, 0.0]]
    """
    graph, weighted = own_lengths(G, weights)
    longest = check_distance("limit", limit, True)
    if longest is not None and not weighted:
        longest = int(min(longest, graph.n))  # hops are integers
    graph = in_direction(graph, direction)
    found: Floats = _rows(graph, sources, targets, longest, weighted, Running(**run), np.float64)
    return found


def _rows(graph: Graph, sources: Any, targets: Any, limit: Any, weighted: bool, run: Running, dtype: Any) -> Any:
    """Distances from the sources to the targets."""
    ids = vertex_ids(graph, sources)
    engine = run.engine(weighted, graph, len(ids))
    if targets is None and (weighted or dtype == np.int32):
        return run.sweep(engine, graph, Sweep(ids, "rows", limit, weighted=weighted), "searches").rows
    aims = None if targets is None else vertex_ids(graph, targets)
    once, places = (None, None) if aims is None else np.unique(aims, return_inverse=True)
    table = _tables.Table(graph, engine, ids, once, limit, weighted, np.dtype(dtype), run.threads)
    return _tables.dense(_tables.one_by_one(table), run.progress, places)


def distance_table(
    G: Any,
    sources: Iterable[Any] | None = None,
    targets: Iterable[Any] | None = None,
    weights: Any = None,
    limit: float | None = None,
    direction: Literal["out", "in"] = "out",
    *,
    dtype: DTypeName = "auto",
    sparse: bool = False,
    out: str | os.PathLike[str] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    **run: Unpack[Run],
) -> DistanceTable | Path:
    """Distance from every source to every target, as a table with one row per source and one column per target.

    Weights are used; `weights=False` ignores them.

    Parameters
    ----------
    sources : list of vertices, optional
        Rows of the table; default: all vertices.
    targets : list of vertices, optional
        Columns of the table; default: all vertices. With weights, a search ends when it has settled all targets.
    limit : float, optional
        Maximum distance, inclusive. Targets beyond it count as not reached.
    direction : {"out", "in"}, optional
        "in" follows arcs backwards: distances from the targets to the sources.
    dtype : {"auto", "float64", "float32", "hops"}, optional
        Type of the distances: "auto" is float64 for weights, and int32 for hops. float32 is rounded once, at the end.
    sparse : bool, optional
        Whether to store only the pairs within the limit, as a SciPy CSR array; distances of 0 are also stored.
    out : path, optional
        File to which the table is written, block by block: an array (.npy), or the pairs within the limit as columns
        source, target, distance (.parquet, .csv). The call then returns the path.
    checkpoint : path, optional
        With `out`: file that records progress, updated every minute and on Ctrl-C. The same call resumes from the file,
        which is removed at the end.

    Returns
    -------
    DistanceTable or path
        `values` has one row per source and one column per target, in the caller's order; infinite (or −1 hops) if there
        is no path within the limit. With `out`, the path of the file.

    Raises
    ------
    FormatError
        The file cannot be written, or the checkpoint is damaged.

    Notes
    -----
    Every distance is the minimum over all paths of the sum of weights, added in path order in float64. It is bitwise
    identical to SciPy's `dijkstra`, for any device, number of threads and executor.

    Examples
    --------
    >>> roads = hw.Graph.from_edges(["a", "a", "b"], ["b", "c", "c"], weights=[1.0, 5.0, 2.0])
    >>> hw.distance_table(roads, ["a", "b"], ["c"]).values.tolist()
    [[3.0], [2.0]]
    >>> hw.distance_table(roads, ["a"], limit=2).to_pandas().loc["a"].to_dict()
    {'a': 0.0, 'b': 1.0, 'c': inf}
    """
    how, (graph, weighted) = Running(**run), own_lengths(G, weights)
    graph = in_direction(graph, direction)
    rows = vertex_ids(graph, sources)
    columns, places = vertex_ids(graph, targets), None
    different = None if targets is None else columns
    if different is not None and len(np.unique(columns)) < len(columns):  # each once
        different, places = np.unique(columns, return_inverse=True)
    longest = check_distance("limit", limit, weighted)
    file = _checked_file(out, checkpoint, flag("sparse", sparse), places is not None)
    engine = how.engine(weighted, graph, len(rows))
    table = _tables.Table(graph, engine, rows, different, longest, weighted, _dtype(dtype, weighted), how.threads)
    if file is not None:
        if file.suffix == ".npy":
            table = _tables.one_by_one(table)
        _tables.to_file(table, file, how.progress, checkpoint)
        return file
    if sparse:
        values = _tables.sparse(table, how.progress)
        return DistanceTable(values if places is None else values[:, places], rows, columns, graph)
    return DistanceTable(_tables.dense(_tables.one_by_one(table), how.progress, places), rows, columns, graph)


def _dtype(name: str, weighted: bool) -> np.dtype[Any]:
    one_of("dtype", name, ("auto", "float32", "float64", "hops"))
    if name == "hops" and weighted:
        raise GraphError("dtype='hops' cannot be combined with weights, whose sums are floats; pass weights=False")
    if name == "auto":
        name = "float64" if weighted else "hops"
    return np.dtype(np.int32 if name == "hops" else name)


def _checked_file(out: Any, checkpoint: Any, sparse: bool, repeats: bool) -> Path | None:
    """The file that `out` names, or None; raises an error for options that cannot be combined."""
    if out is None:
        if checkpoint is not None:
            raise GraphError("checkpoint= needs a table that is written to a file; pass out=, or omit checkpoint=")
        return None
    file = file_named(out, "out")
    if checkpoint is not None and file_named(checkpoint, "checkpoint").resolve() == file.resolve():
        raise FormatError("out= and checkpoint= are the same file; pass two different files", file)
    if file.suffix not in _tables.ENDINGS:
        raise FormatError("the extension is unknown; use .npy, .parquet or .csv", file)
    if sparse:
        raise GraphError("sparse=True cannot be combined with out=; .parquet and .csv files store only connected pairs")
    if repeats:
        raise GraphError("a target is listed twice, but a file has one column per target; omit repeated targets")
    return file


def distance_blocks(
    G: Any,
    sources: Iterable[Any] | None = None,
    depth_limit: float | None = None,
    direction: Literal["out", "in"] = "out",
    *,
    weights: Any = None,
    block_bytes: int = _many.BLOCK_BYTES,
    device: str = "auto",
    threads: int | None = None,
    executor: Executor | None = None,
) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
    """Rows of `bfs_many` or `sssp_many`, one block at a time.

    Weights are used; `weights=False` ignores them.

    Parameters
    ----------
    sources : list of vertices, optional
        Vertices where the searches start; default: all vertices.
    depth_limit : int, optional
        Maximum number of hops or, with weights, maximum length of a path.
    block_bytes : int, optional
        Maximum size of a block of rows; a block has at least one row.

    Returns
    -------
    iterator of (array, array of int32)
        The sources of each block, as labels, or as ids (int64) if the graph has no labels; and one row of distances
        per source. With weights, distances are float64, infinite if there is no path.

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
    G: Any, d: float, sources: Iterable[Any] | None = None, *, weights: Any = None, **run: Unpack[Run]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """All pairs of different vertices within a distance of each other.

    Weights are used; `weights=False` ignores them.

    Parameters
    ----------
    d : int
        Maximum distance in hops; with weights, any number of at least 0.
    sources : list of vertices, optional
        Vertices where pairs start; default: all vertices, and then each undirected pair appears once, lower id first.

    Returns
    -------
    source, target, distance : arrays
        One entry per pair, ordered by source, then nearest first. Vertices are labels, or ids (int32) if the graph has
        no labels; distances are int32, or float64 with weights.

    Examples
    --------
    >>> [column.tolist() for column in hw.pairs_within(hw.generate.path(4), 2)]
    [[0, 0, 1, 1, 2], [1, 2, 2, 3, 3], [1, 2, 1, 2, 1]]
    >>> [column.tolist() for column in hw.pairs_within(hw.Graph.from_edges(["ann"], ["bob"]), 1)]
    [['ann'], ['bob'], [1]]
    """
    how, (graph, weighted) = Running(**run), own_lengths(G, weights)
    limit = check_distance("d", d, weighted, otherwise="")
    ids = vertex_ids(graph, sources)
    engine = how.engine(weighted, graph, len(ids))
    job = Sweep(ids, "pairs", limit, upwards=not graph.directed and sources is None, weighted=weighted)
    found = how.sweep(engine, graph, job, "pairs")
    (target, distance), source = found.pairs, np.repeat(ids.astype(np.int32), found.reached)
    if (labels := graph.labels) is not None:
        source, target = labels[source], labels[on_host(target)]
    return source, target, distance
