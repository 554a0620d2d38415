"""Tables of distances from sources to targets."""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, Literal

import numpy as np

from hopwave.algorithms import tables as _tables
from hopwave.api.arguments import check_distance, in_direction, vertex_ids
from hopwave.api.choice import distance_engine
from hopwave.api.weights import own_lengths
from hopwave.checks.options import flag, one_of
from hopwave.errors import FormatError, GraphError
from hopwave.planning.jobs import Integers, Progress
from hopwave.results.distance_table import DistanceTable

DTypeName = Literal["auto", "float32", "float64", "hops"]


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
    device: str = "auto",
    progress: Progress = None,
    threads: int | None = None,
    executor: Executor | None = None,
) -> DistanceTable | Path:
    """The distance from every source to every target, as a table with these rows and columns alone.

    Parameters
    ----------
    G : Graph, SciPy sparse matrix or NetworkX graph
        The graph.
        Weights are followed; `weights=False` leaves them out.
    sources : list of vertices, optional
        The rows; by default all vertices.
    targets : list of vertices, optional
        The columns; by default all vertices. A search along weights ends when it has settled them.
    limit : float, optional
        The greatest distance. Targets farther away count as not reached; one at exactly that distance is reached.
    direction : {"out", "in"}, optional
        "in" follows arcs backwards: distances from the targets to the sources.
    dtype : {"auto", "float64", "float32", "hops"}, optional
        The type of the distances: "auto" is float64 along weights, and whole numbers (int32) for hops. float32 takes
        half the memory; distances are computed in float64 and rounded once.
    sparse : bool, optional
        Store only the pairs that are connected within the limit, in compressed rows of SciPy. A distance of 0 is an
        entry too. Searches then end at the limit, and not at the targets.
    out : path, optional
        Write the table to this file, block by block, and return its path: an array (.npy), or the pairs that are
        connected within the limit as columns source, target, distance (.parquet, .csv).
    checkpoint : path, optional
        With `out`: a file that knows how far the table is, written every minute and on Ctrl-C. The same call goes on
        from there; at the end, the file is removed.
    weights, device, progress, threads, executor
        As for `sssp_many`.

    Returns
    -------
    DistanceTable or path
        `values` has one row per source and one column per target, in the order given; infinite (or −1 hops) if there
        is no path within the limit. With `out`, the path of the file.

    Raises
    ------
    EngineError
        The table does not fit into memory, or the device is missing.
    FormatError
        The file cannot be written, or the checkpoint is damaged.

    See Also
    --------
    sssp_many, distance_blocks, pairs_within, accessibility

    Notes
    -----
    Every distance is the least sum of weights over all paths, added in path order in float64: the bits of SciPy's
    `dijkstra`. Neither device, threads nor executor change them.

    Examples
    --------
    >>> roads = hw.Graph.from_edges(["a", "a", "b"], ["b", "c", "c"], weights=[1.0, 5.0, 2.0])
    >>> hw.distance_table(roads, ["a", "b"], ["c"]).values.tolist()
    [[3.0], [2.0]]
    >>> hw.distance_table(roads, ["a"], limit=2).to_pandas().loc["a"].to_dict()
    {'a': 0.0, 'b': 1.0, 'c': inf}
    """
    graph, weighted = own_lengths(G, weights)
    graph = in_direction(graph, direction)
    rows = vertex_ids(graph, sources)
    columns, different, places = _different(vertex_ids(graph, targets), targets is None)
    longest = check_distance("limit", limit, weighted)
    file = _checked_file(out, checkpoint, flag("sparse", sparse), places is not None)
    engine = distance_engine(weighted, device, graph, threads, len(rows), executor)
    table = _tables.Table(graph, engine, rows, different, longest, weighted, _dtype(dtype, weighted), threads)
    if file is not None:
        if file.suffix == ".npy":
            table = _tables.one_by_one(table)
        _tables.to_file(table, file, progress, checkpoint)
        return file
    values = _tables.sparse(table, progress) if sparse else _tables.dense(_tables.one_by_one(table), progress)
    return DistanceTable(values if places is None else values[:, places], rows, columns, graph)


def _different(targets: Integers, every: bool) -> tuple[Integers, Integers | None, Integers | None]:
    """(targets as given, each once or None for all vertices, the column of each as given or None if none repeats)."""
    if every:
        return targets, None, None
    once, places = np.unique(targets, return_inverse=True)
    return (targets, targets, None) if len(once) == len(targets) else (targets, once, places)


def _dtype(name: str, weighted: bool) -> np.dtype[Any]:
    one_of("dtype", name, ("auto", "float32", "float64", "hops"))
    if name == "hops" and weighted:
        raise GraphError("dtype='hops' is for whole numbers, and distances along weights are not; give weights=False")
    if name == "auto":
        name = "float64" if weighted else "hops"
    return np.dtype(np.int32 if name == "hops" else name)


def _checked_file(out: Any, checkpoint: Any, sparse: bool, repeats: bool) -> Path | None:
    """The file that `out` names, if any; raises an error for options that do not fit together."""
    if out is None:
        if checkpoint is not None:
            raise GraphError("checkpoint= is for a table that goes to a file; give out=, or leave out checkpoint=")
        return None
    if not isinstance(out, str | os.PathLike):
        raise FormatError(f"out={out!r} is not the name of a file; give a path that ends in .npy, .parquet or .csv")
    file = Path(out)
    if file.suffix not in _tables.ENDINGS:
        raise FormatError("an unknown extension; use .npy, .parquet or .csv", file)
    if sparse:
        raise GraphError("sparse=True is for tables in memory; .parquet and .csv files have the connected pairs alone")
    if repeats:
        raise GraphError("a target is listed twice, and a file has one column for each; leave out the second")
    return file
