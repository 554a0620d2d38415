"""Read graphs from files and write them to files: `read`, `write`, `formats`. Each format has its own module here."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

from hopwave.checks.numbers import is_whole
from hopwave.checks.options import flag, flag_or_none
from hopwave.errors import FormatError, GraphError, LostDirectionWarning, warn
from hopwave.graph import Graph
from hopwave.graph.columns import constructor_of
from hopwave.graph.construct import check_combine
from hopwave.graph.csr import LARGEST_VERTEX_COUNT, Combine
from hopwave.io.detect import FORMATS, by_name, by_title, detect, unknown
from hopwave.io.format import Format, Request, Target
from hopwave.io.source import Source
from hopwave.system.files import replacing
from hopwave.system.progress import Meter

__all__ = ["Format", "formats", "read", "replacing", "write"]


def formats() -> tuple[Format, ...]:
    """Every format that `read` and `write` know.

    Returns
    -------
    tuple of Format
        Names, file extensions, and what each can hold.

    See Also
    --------
    read, write

    Examples
    --------
    >>> [known.name for known in formats()][:3]
    ['matrix-market', 'snap', 'table']
    """
    return FORMATS


def read(
    path: str | os.PathLike[str],
    format: str | None = None,
    directed: bool | None = None,
    *,
    n: int | None = None,
    labels: bool = True,
    weights: bool = True,
    combine: Combine | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Graph:
    """Read a graph from a file in any of the formats of `formats()`, compressed with gzip or not.

    Repeated edges are merged, unless the file says that they are parallel (.npz and .parquet can). Weights are float64,
    or float32 where the file holds them so. Questions about hops (`bfs`, betweenness, …) ignore them; `sssp` and
    `pagerank` use them.

    Parameters
    ----------
    path : str or path
        The file; its extension and its first bytes decide the format.
    format : str, optional
        The format's name, if neither is known.
    directed : bool, optional
        None follows the file, or else the format's default; False adds the missing reverse arcs; True keeps every edge
        as arcs.
    n : int, optional
        The number of vertices, if there are more than the file shows; integer ids below n are then used unchanged.
    labels : bool, optional
        False drops names and uses integer ids unchanged as vertices.
    weights : bool, optional
        False leaves out the weights that the file has; `G.is_weighted` says whether it had any.
    combine : {"min", "max", "sum", "first"}, optional
        What to keep of the weights of repeated edges. Without it, repeated edges with different weights raise
        FormatError. In an undirected graph u, v repeats v, u.
    progress : bool, optional
        None shows a bar (lines, if stderr is not a terminal) after two seconds, True at once, False never.
    **options
        Options of this format alone, for example `source=` and `target=` for the columns of a table, or `mmap=True` to
        map an .npz file, unchecked, instead of reading it.

    Raises
    ------
    FormatError
        The file has a mistake in it (its line is named), or its format is not known.

    See Also
    --------
    write : the way back.
    formats : what can be read and written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(f"{folder}/path.mtx.gz", Graph.from_edges([0, 1], [1, 2]))
    ...     read(f"{folder}/path.mtx.gz")
    Graph(3 vertices, 2 edges, undirected)
    """
    directed, labels, weights = flag_or_none("directed", directed), flag("labels", labels), flag("weights", weights)
    if n is not None and not (is_whole(n) and 0 <= n <= LARGEST_VERTEX_COUNT):
        raise GraphError(f"n={n!r} is not a number of vertices; give a whole number up to {LARGEST_VERTEX_COUNT}")
    check_combine(combine, True, "merge")
    place = _path(path)
    with Meter(f"reading {place.name}", None, progress) as meter:
        source = Source(place, meter)
        if source.size == 0:
            raise source.fail("empty; expected a graph", 1)
        chosen = by_title(format) if format is not None else detect(source)
        chosen.check_options(chosen.read, options)
        meter.stage(f"reading {place.name}", source.size)
        try:
            return chosen.read(source, Request(directed, n, labels, weights, combine), **options)
        except MemoryError:
            raise source.fail("does not fit into memory; expected a smaller graph, or a larger machine") from None


def write(
    path: str | os.PathLike[str],
    graph: Graph,
    format: str | None = None,
    directed: bool | None = None,
    *,
    labels: bool = True,
    weights: bool = True,
    **options: Any,
) -> None:
    """Write a graph to a file. A file that is already there is replaced only when the new one is complete.

    Parameters
    ----------
    path : str or path
        The file; its extension decides the format, and `.gz` at the end compresses it.
    graph : Graph
        The graph.
    format : str, optional
        The format's name, if the extension is not a known one.
    directed : bool, optional
        What the graph is. Give it where the format cannot say it, as CSV and edge lists of GAPBS and Graph500, and read
        the file with the same; without it, a `LostDirectionWarning` says so if the file would be read as another kind.
    labels : bool, optional
        False drops them; otherwise a format that cannot store labels raises FormatError for a labelled graph.
    weights : bool, optional
        False drops them; otherwise a format that cannot store weights raises FormatError for a weighted graph.
    **options
        Options of this format alone, for example `packed=True` for Graph500.

    Raises
    ------
    FormatError
        The format cannot store this graph, or is not known.

    See Also
    --------
    read : the way back.

    Examples
    --------
    >>> write("web.metis", Graph.from_edges([0], [1], directed=True))
    Traceback (most recent call last):
    hopwave.errors.FormatError: web.metis: a directed graph; METIS stores undirected ones: write .mtx or .npz instead
    """
    if not isinstance(graph, Graph):
        raise TypeError(
            f"write(path, graph) takes a hopwave Graph, not {type(graph).__module__}.{type(graph).__name__}; "
            f"path comes first, then a graph: {constructor_of(graph)}"
        )
    labels, weights, directed = flag("labels", labels), flag("weights", weights), flag_or_none("directed", directed)
    if directed not in (None, graph.directed):
        raise GraphError(f"directed={directed} is not what the graph is; leave it out, or convert the graph first")
    place = _path(path)
    chosen = by_title(format) if format is not None else by_name(place)
    if chosen is None:
        raise unknown(place)
    chosen.check_options(chosen.write, options)
    if graph.labels is not None and not labels:
        graph = graph.relabel(None)
    if not weights:
        graph = graph.without_weights()
    if graph.labels is not None and not chosen.holds_labels:
        able = ", ".join(known.extensions[0] for known in FORMATS if known.holds_labels)
        raise FormatError(f"{chosen.title} cannot store labels; use {able}, or drop them with labels=False", place)
    if graph.is_weighted and not chosen.holds_weights:
        able = ", ".join(known.extensions[0] for known in FORMATS if known.holds_weights)
        raise FormatError(f"{chosen.title} cannot store weights; use {able}, or drop them with weights=False", place)
    if graph.has_parallel_arcs and not chosen.holds_parallel:
        able = ", ".join(known.extensions[0] for known in FORMATS if known.holds_parallel)
        raise FormatError(
            f"the graph has parallel arcs, which {chosen.title} cannot tell from repeats; use {able}, or merge them: "
            "Graph.from_edges(*G.to_edges(), G.n, G.directed)",
            place,
        )
    try:
        place.stat()
    except OSError as error:  # most often, there is no such file yet
        if error.errno == errno.ELOOP:
            raise FormatError("a link that leads back to itself; give the name of a file", place) from None
    with replacing(place, packed=place.name.lower().endswith(".gz")) as stream:
        chosen.write(Target(place, stream), graph, **options)
    if directed is None and chosen.assumes not in (None, graph.directed):
        kind = "directed" if graph.directed else "undirected"
        warn(
            f"{place}: {chosen.title} cannot say that a graph is {kind}; read it with directed={graph.directed}, and "
            "give the same to write",
            LostDirectionWarning,
        )


def _path(given: Any) -> Path:
    """The name of a file as a path."""
    if not isinstance(given, str | os.PathLike):
        raise FormatError(f"path={given!r} is not the name of a file; give a string or a path")
    try:
        if b"\0" in os.fsencode(given):
            raise ValueError("a NUL character")
    except ValueError as error:  # half of a surrogate pair, where names are UTF-8
        raise FormatError(f"path={given!r} cannot be the name of a file ({error}); give another") from None
    return Path(os.fsdecode(given))
