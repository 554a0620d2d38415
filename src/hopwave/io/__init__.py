"""Read graphs from files and write them to files: `read`, `write`, `formats`. Each format has its own module here."""

import os
import re
from functools import partial
from pathlib import Path
from typing import Any, cast

from hopwave.checks.numbers import is_whole
from hopwave.checks.options import flag, flag_or_none
from hopwave.errors import FormatError, GraphError, LostDirectionWarning, warn
from hopwave.graph import Graph
from hopwave.graph.columns import constructor_of
from hopwave.graph.construct import check_combine
from hopwave.graph.csr import LARGEST_VERTEX_COUNT, Combine
from hopwave.io import declared, edge_list, graphml, npz, parquet, suites, table
from hopwave.io.format import Format, Request, Target
from hopwave.io.lines import BYTE_ORDER_MARK, Source
from hopwave.system.files import file_named, replacing
from hopwave.system.progress import Meter

__all__ = ["Format", "formats", "read", "replacing", "write"]

# Signatures use possessive patterns (*+), whose time is linear in the number of empty lines and comments.
_DIMACS = rb"(?:c[^\n]*+\n|[^\S\n]*+\n)*+p[ \t]++(?:%b)[ \t]"  # comments, then the problem line
_LIST = "not in the file; directed"
_SG, _WSG = suites.PLAIN, suites.WEIGHTED
FORMATS = (
    Format(
        "matrix-market", "Matrix Market", (".mtx", ".mm"), False,
        "symmetric, skew-symmetric, hermitian: undirected; general: directed", suites.read_matrix, suites.write_matrix,
        signature=b"(?i)" + suites.BANNER,
    ),
    Format(
        "snap", "SNAP edge list", (".txt", ".edges", ".edgelist", ".snap"), True,
        "in its comments; otherwise undirected", edge_list.read, edge_list.write, content_decides=True,
    ),
    Format(
        "table", "CSV and TSV", (".csv", ".tsv"), True, "not in the file; undirected", table.read, table.write,
        signature=table.LISTS_VERTICES.encode(),
    ),
    Format(
        "parquet", "Apache Parquet", (".parquet", ".pq"), True, "in its metadata; otherwise undirected",
        parquet.read, parquet.write, holds_parallel=True, signature=b"PAR1",
    ),
    Format(
        "npz", "NumPy archive", (".npz",), True, "in the file; SciPy's archives: undirected if symmetric",
        npz.read, npz.write, holds_parallel=True, signature=b"PK(?:\x03\x04|\x05\x06)",  # a zip archive, an empty one
    ),
    Format(
        "metis", "METIS", (".graph", ".metis"), False, "always undirected", suites.read_metis, suites.write_metis,
        content_decides=True,
    ),
    Format(
        "dimacs", "DIMACS shortest paths", (".gr",), False,
        "`p sp`: directed, unless our comment says that each edge is two arcs", suites.read_dimacs, suites.write_gr,
        signature=_DIMACS % b"sp",
    ),
    Format(
        "dimacs-col", "DIMACS colouring", (".col",), False, "`p edge`, `p col`: undirected",
        suites.read_dimacs, suites.write_col, holds_weights=False, signature=_DIMACS % b"edge|col",
    ),
    Format(
        "gapbs-el", "GAPBS edge list", (".el",), False, _LIST,
        partial(suites.read_list, 0), partial(suites.write_list, 0), holds_weights=False,
    ),
    Format(
        "gapbs-sg", "GAPBS serialised graph", (".sg",), False, "in the file",
        partial(suites.read_arrays, _SG), partial(suites.write_arrays, _SG), holds_weights=False,
    ),
    Format(
        "gapbs-wel", "GAPBS weighted edge list", (".wel",), False, _LIST,
        partial(suites.read_list, 1), partial(suites.write_list, 1),
    ),
    Format(
        "gapbs-wsg", "GAPBS serialised weighted graph", (".wsg",), False, "in the file",
        partial(suites.read_arrays, _WSG), partial(suites.write_arrays, _WSG),
    ),
    Format(
        "graph500", "Graph500 edge list", (".graph500", ".g500", ".bin"), False, "not in the file; undirected",
        suites.read_graph500, suites.write_graph500, holds_weights=False, content_decides=True,
    ),
    Format(
        "graphml", "GraphML", (".graphml",), True, "in the file", graphml.read, graphml.write,
        signature=rb"\s*+(?:<[?!][^>]*+>\s*+)*+<(?:\w++:)?+graphml\b",  # declarations, comments, the outer element
    ),
    Format(
        "gml", "GML", (".gml",), True, "in the file; undirected without `directed 1`",
        declared.read_gml, declared.write_gml,
        # Comments, `Creator "..."` or `Version 1`, then the list of the graph.
        signature=rb"(?i)\s*+(?:#[^\n]*+\n\s*+|(?:Creator|Version|comment)[ \t][^\n]*+\n\s*+)*+graph\s*+\[",
    ),
    Format(
        "pajek", "Pajek", (".net", ".pajek"), True, "`*Arcs`: directed; only `*Edges`: undirected",
        declared.read_pajek, declared.write_pajek, signature=rb"(?i)(?:%[^\n]*+\n|\s++)*+\*(?:network|vertices)\b",
    ),
)  # fmt: skip
# Downloads that are not graphs but could be read as edge lists of words: first bytes, description, remedy.
NO_GRAPHS = (
    (b"version https://git-lfs", "a Git LFS pointer instead of the file", "run git lfs pull"),
    (b"<!doctype html", "an HTML page", "download the file again"),
    (b"<html", "an HTML page", "download the file again"),
    (b".xlsx", "an Excel workbook", "save it as CSV"),  # an extension: the content is any zip archive
)


def formats() -> tuple[Format, ...]:
    """All formats that `read` and `write` support.

    Returns
    -------
    tuple of Format
        The name, the file extensions and the features of each format.

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

    Repeated edges are merged, unless the file marks them as parallel (.npz and .parquet only). Weights are float64,
    or float32 if the file stores float32. Functions that count hops (`bfs`, betweenness, …) ignore weights; `sssp` and
    `pagerank` use them.

    Parameters
    ----------
    path : str or path
        The file; its extension and its first bytes decide the format.
    format : str, optional
        The format's name, if the extension and the first bytes do not identify it.
    directed : bool, optional
        None follows the file, or else the format's default; False adds the missing reverse arcs; True keeps every edge
        as arcs.
    n : int, optional
        The number of vertices, if larger than in the file; integer ids below n are then used unchanged.
    labels : bool, optional
        False drops names and uses integer ids unchanged as vertices.
    weights : bool, optional
        False drops the weights of the file.
    combine : {"min", "max", "sum", "first"}, optional
        How the weights of repeated edges are merged; by default, different weights raise FormatError. In an
        undirected graph, the edge v, u repeats the edge u, v.
    progress : bool, optional
        None shows a bar (lines, if stderr is not a terminal) after two seconds, True at once, False never.
    **options
        Options of the format, for example `source=` and `target=` for the columns of a table, or `mmap=True` to map an
        .npz file, unchecked, instead of reading it.

    Raises
    ------
    FormatError
        The file contains an error (the message names the line), or its format is unknown.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(f"{folder}/path.mtx.gz", Graph.from_edges([0, 1], [1, 2]))
    ...     read(f"{folder}/path.mtx.gz")
    Graph(3 vertices, 2 edges, undirected)
    """
    if isinstance(cast(Any, weights), str):
        raise GraphError(f"weights={weights!r} is neither True nor False; for that column, pass weight={weights!r}")
    directed, labels, weights = flag_or_none("directed", directed), flag("labels", labels), flag("weights", weights)
    if n is not None and not (is_whole(n) and 0 <= n <= LARGEST_VERTEX_COUNT):
        raise GraphError(f"n={n!r} is not a number of vertices; pass an integer up to {LARGEST_VERTEX_COUNT}")
    check_combine(combine, True, "merge")
    place = file_named(path)
    with Meter(f"reading {place.name}", None, progress) as meter:
        source = Source(place, meter)
        if source.size == 0:
            raise source.fail("is empty; expected a graph", 1)
        chosen = by_title(format) if format is not None else detect(source)
        chosen.check_options(chosen.read, options)
        meter.stage(f"reading {place.name}", source.size)
        try:
            return chosen.read(source, Request(directed, n, labels, weights, combine), **options)
        except MemoryError:
            raise source.fail("the graph does not fit into memory; use a machine with more memory") from None


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
    """Write a graph to a file. An existing file is replaced only when the new one is complete.

    Parameters
    ----------
    path : str or path
        The file; its extension decides the format, and `.gz` at the end compresses it.
    graph : Graph
        The graph.
    format : str, optional
        The format's name, if the extension is not known.
    directed : bool, optional
        Whether the graph is directed. Pass it to `write` and `read` if the format cannot record it (CSV, GAPBS and
        Graph500 edge lists); otherwise a `LostDirectionWarning` is issued if reading the file would change it.
    labels : bool, optional
        False drops the labels; otherwise a format that cannot store labels raises FormatError for a labelled graph.
    weights : bool, optional
        False drops the weights; otherwise a format that cannot store weights raises FormatError for a weighted graph.
    **options
        Options of the format, for example `packed=True` for Graph500.

    Raises
    ------
    FormatError
        The format cannot store this graph, or is not known.

    Examples
    --------
    >>> write("web.metis", Graph.from_edges([0], [1], directed=True))
    Traceback (most recent call last):
    hopwave.errors.FormatError: web.metis: METIS cannot store a directed graph; write .mtx or .npz instead
    """
    if not isinstance(graph, Graph):
        raise TypeError(
            f"write(path, graph) needs a Graph as the second argument, not {type(graph).__module__}."
            f"{type(graph).__name__}; use {constructor_of(graph)}"
        )
    labels, weights, directed = flag("labels", labels), flag("weights", weights), flag_or_none("directed", directed)
    if directed not in (None, graph.directed):
        raise GraphError(f"directed={directed} contradicts graph.directed; omit directed=, or convert the graph first")
    place = file_named(path)
    chosen = by_title(format) if format is not None else by_name(place)
    if chosen is None:
        raise unknown(place)
    chosen.check_options(chosen.write, options)
    graph = graph if labels or graph.labels is None else graph.relabel(None)
    graph = graph if weights else graph.without_weights()
    for what, has, problem, remedy in (
        ("labels", graph.labels is not None, "{} cannot store labels", "drop them with labels=False"),
        ("weights", graph.is_weighted, "{} cannot store weights", "drop them with weights=False"),
        ("parallel", graph.has_parallel_arcs, "{} cannot store parallel arcs",
         "merge them: Graph.from_edges(*G.to_edges(), G.n, G.directed)"),
    ):  # fmt: skip
        if has and not getattr(chosen, f"holds_{what}"):
            able = ", ".join(known.extensions[0] for known in FORMATS if getattr(known, f"holds_{what}"))
            raise FormatError(f"{problem.format(chosen.title)}; use {able}, or {remedy}", place)
    with replacing(place, packed=place.name.lower().endswith(".gz")) as stream:
        chosen.write(Target(place, stream), graph, **options)
    if directed is None and chosen.assumes not in (None, graph.directed):
        kind = "directed" if graph.directed else "undirected"
        reason = f"{place}: {chosen.title} does not record that a graph is {kind}"
        warn(f"{reason}; pass directed={graph.directed} to read and to write", LostDirectionWarning)


# ---------------------------------------------------------------- which format a file is in


def by_name(path: Path) -> Format | None:
    """The format that a file's extension stands for; a `.gz` at the end is ignored."""
    name = path.name.lower().removesuffix(".gz")
    return next((known for known in FORMATS if name.endswith(known.extensions)), None)


def by_title(name: str) -> Format:
    """The format of this name, as in `format="metis"`."""
    for known in FORMATS:
        if isinstance(name, str) and known.name == name:
            return known
    raise FormatError(f"format={name!r} is not known; use one of {', '.join(known.name for known in FORMATS)}")


def by_content(start: bytes) -> Format | None:
    """The format whose signature a file begins with, after a byte-order mark; None for most text files."""
    start = start.removeprefix(BYTE_ORDER_MARK)
    return next((known for known in FORMATS if known.signature and re.match(known.signature, start)), None)


def detect(source: Source) -> Format:
    """The format to read a file in. An extension that contradicts the content raises an error."""
    start = source.start()
    extension, head = os.fsencode(source.path.suffix.lower()), start.removeprefix(BYTE_ORDER_MARK).lstrip().lower()
    for mark, found, remedy in NO_GRAPHS:
        if extension == mark or head.startswith(mark):
            raise source.fail(f"the file is {found}; {remedy}", 1)
    named, marked = by_name(source.path), by_content(start)
    chosen = marked or named
    if chosen is None:
        raise unknown(source.path)
    if named is None or chosen.read is named.read or named.content_decides:
        return chosen
    problem = f"the extension says {named.title} but the content is {chosen.title}"
    raise source.fail(f"{problem}; rename the file, or pass format={chosen.name!r}", 1)


def unknown(path: Path) -> FormatError:
    """The error for an unknown extension; it lists the known extensions."""
    known = "; ".join(f"{known.name} ({' '.join(known.extensions)})" for known in FORMATS)
    return FormatError(f"the extension is not known; rename the file or pass format=, one of: {known}", path)
