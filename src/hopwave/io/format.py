"""What hopwave knows about a file format, and what its reader and its writer get."""

from __future__ import annotations

import inspect
import os
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from hopwave.checks.keywords import meant
from hopwave.errors import FormatError, GraphError, IgnoredColumnWarning, warn
from hopwave.graph import Graph
from hopwave.graph.columns import EXACT_UP_TO
from hopwave.graph.csr import LARGEST_VERTEX_COUNT, Combine
from hopwave.io.source import Source
from hopwave.system.threads import Pool, Task

# A header may declare vertices without an edge, but not absurdly many: a number above both of these limits must be
# confirmed with n= before memory is spent on it.
MAX_UNCONFIRMED_VERTICES = 100_000_000
MAX_VERTICES_PER_BYTE = 100
ARGUMENTS = ("format", "directed", "n", "labels", "weights", "combine", "progress")  # of `read` and `write` themselves
IDS = ("id", "index", "row", "no", "nr")  # titles of columns that number the rows
STEP = 100_000  # lines that are written at a time
PRINTED_FROM = 500_000  # lines; with fewer, Python has finished before Numba is imported


def warn_ignored(source: Source, columns: dict[int | str, str]) -> None:
    """Say which columns of numbers, known by place or title, were not read: one may be weights. {column: its numbers}.

    A column that is called id is named only if there is no other.
    """
    found = {column: text for column, text in columns.items() if str(column).strip().lower() not in IDS} or columns
    if not found:
        return
    shown = [
        f"{repr(column) if isinstance(column, str) else column + 1} may be weights ({text})"
        for column, text in found.items()
    ]
    was = "was not read, because nothing says that it is" if len(found) == 1 else "none was read"
    warn(
        f"{source.path}: column {', column '.join(shown)} and {was}; "
        f"give {' or '.join(f'weight={column!r}' for column in found)} to read it, or weights=False to leave it out",
        IgnoredColumnWarning,
    )


@dataclass(frozen=True)
class Request:
    """What the caller of `read` wants, apart from the file: None leaves it to the file."""

    directed: bool | None = None
    n: int | None = None
    labels: bool = True
    weights: bool = True  # False leaves out the weights that the file has
    combine: Combine | None = None  # what to do with the weights of repeated edges

    def vertices(self, source: Source, n: int, line: int | None = None) -> int:
        """The number of vertices of the graph, from the number that the file declares or implies."""
        if n > LARGEST_VERTEX_COUNT:
            raise source.fail(
                f"{n:,} vertices; expected at most {LARGEST_VERTEX_COUNT:,}, the limit of 32-bit ids", line
            )
        if n > max(MAX_UNCONFIRMED_VERTICES, MAX_VERTICES_PER_BYTE * source.size) and self.n != n:
            message = f"declares {n:,} vertices in {source.size:,} bytes; expected fewer: pass n={n} if that is right"
            raise source.fail(message, line)
        if self.n is None:
            return n
        if self.n < n:
            raise GraphError(
                f"n={self.n} is less than the {n} vertices of {source.path}; leave n out, or give a larger one"
            )
        if self.n > LARGEST_VERTEX_COUNT:
            raise GraphError(
                f"n={self.n} is more than {LARGEST_VERTEX_COUNT}, the limit of 32-bit ids; give a smaller one"
            )
        return self.n

    def graph(
        self,
        source: Source,
        u: npt.NDArray[Any],
        v: npt.NDArray[Any],
        n: int,
        *,
        directed: bool | None,
        labels: npt.NDArray[Any] | None = None,
        weights: npt.NDArray[Any] | None = None,
        both_ways: bool = False,
        parallel: bool = False,
    ) -> Graph:
        """The graph of these edges, with checked ids; `directed` is what the file says, None if it says nothing.

        If the file says nothing, the caller decides, and the default is undirected. If the file says one kind and the
        caller wants the other, the graph is converted: reverse arcs are added, or every edge becomes two arcs.
        `both_ways`: the file is undirected and lists each edge once per direction, which is no repeat. `parallel`: it
        says that repeated edges are parallel ones; they are merged if the caller gives a rule, or makes arcs edges.
        """
        if directed is None:
            directed = bool(self.directed)
        if labels is not None and self.n is not None and self.n != n:
            raise GraphError(
                f"n={self.n} adds vertices without a label to the {n} labels of {source.path}; leave n out"
            )
        source.meter.stage(f"building the graph of {source.path.name}")
        directed_now = directed if self.directed is None else directed and self.directed
        names = labels if self.labels else None
        if not self.weights:
            weights = None
        if weights is not None and both_ways:
            u, v, weights = _each_once(u, v, weights)
        combine = None if weights is None else self.combine
        keep = parallel and combine is None and directed_now == directed
        try:
            graph = Graph.from_edges(
                u, v, n, directed_now, labels=names, weights=weights, combine=combine,
                repeats="keep" if keep else "merge",
            )  # fmt: skip
        except GraphError as error:
            raise self.unusable(source, error) from None
        return self.turned(source, graph)

    def turned(self, source: Source, graph: Graph) -> Graph:
        """The graph as the caller wants it, directed or not: reverse arcs are added, or every edge becomes two arcs."""
        if not self.weights:
            graph = graph.without_weights()
        if self.directed is None or self.directed == graph.directed:
            return graph
        if self.directed:
            return Graph.from_csr(
                graph.indptr, graph.indices, True, weights=graph.weights, labels=graph.labels, check=False
            )
        try:
            return graph.to_undirected(self.combine if graph.is_weighted else None)
        except GraphError as error:
            raise self.unusable(source, error) from None

    @staticmethod
    def unusable(source: Source, error: GraphError) -> FormatError:
        """The error for edges that are not a graph; what it says about repeated edges are options of `read`."""
        of_from_edges = "keep all with Graph.from_edges(…, repeats='keep')"
        return source.fail(str(error).replace(of_from_edges, "leave weights out with weights=False"))


def _each_once(
    u: npt.NDArray[Any], v: npt.NDArray[Any], weights: npt.NDArray[Any]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """The edges of a list that has each of them in both directions, each once. Any other list is returned as it is.

    With combine="sum", an edge that is listed in both directions would count twice.
    """
    forth, back = u < v, u > v
    order = np.lexsort((weights[forth], v[forth], u[forth]))
    other = np.lexsort((weights[back], u[back], v[back]))
    pairs = ((u[forth], v[back]), (v[forth], u[back]), (weights[forth], weights[back]))
    if len(order) == len(other) and all(np.array_equal(a[order], b[other]) for a, b in pairs):
        once = ~back
        return u[once], v[once], weights[once]
    return u, v, weights


@dataclass(frozen=True)
class Target:
    """A file being written: its stream, and its path for error messages."""

    path: Path
    stream: IO[bytes]

    def fail(self, message: str) -> FormatError:
        """The error to raise: it names the file."""
        return FormatError(message, self.path)


@dataclass(frozen=True)
class Format:
    """A file format: its name, the extensions of its files, and what it can store.

    >>> import hopwave.io
    >>> hopwave.io.formats()[0].name
    'matrix-market'
    """

    name: str
    title: str
    extensions: tuple[str, ...]
    holds_labels: bool
    directedness: str  # how a reader knows whether the graph is directed
    read: Callable[..., Graph]
    write: Callable[..., None]
    holds_weights: bool = True  # those of edges
    holds_parallel: bool = False  # arcs that stand more than once: the file says whether it keeps them
    content_decides: bool = False  # other formats use these extensions too: trust the content, not the name

    @property
    def assumes(self) -> bool | None:
        """Whether graphs are read as directed ones where neither the file nor the caller says it; None if files say it.

        >>> import hopwave.io
        >>> [known.assumes for known in hopwave.io.formats() if known.name in ("npz", "table", "gapbs-el")]
        [False, None, True]
        """
        found = self.directedness.partition("not in the file; ")[2]
        return found == "directed" if found else None

    def read_options(self) -> tuple[str, ...]:
        """The names of the options that `read` takes for this format only."""
        return _own_options(self.read)

    def write_options(self) -> tuple[str, ...]:
        """The names of the options that `write` takes for this format only."""
        return _own_options(self.write)

    def check_options(self, function: Callable[..., Any], given: dict[str, Any]) -> None:
        """Raise TypeError for an option that this function does not take: none is silently ignored."""
        known = _own_options(function)
        for name in given:
            if name not in known:
                has = f"it takes {', '.join(known)}" if known else "it takes none of its own"
                near = meant(name, [*known, *ARGUMENTS])
                raise TypeError(f"{name}= is not an option of the format {self.name!r}; {near or has}")


def _own_options(function: Callable[..., Any]) -> tuple[str, ...]:
    parameters = inspect.signature(function).parameters.values()
    return tuple(parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY)


def write_columns(target: Target, template: str, *columns: npt.NDArray[Any]) -> None:
    """Write one line per edge from a template such as "%d %d\\n", STEP lines at a time to keep memory small.

    Many lines of whole numbers are printed by compiled code, on all cores.
    """
    begins = range(0, len(columns[0]), STEP)
    if len(columns[0]) >= PRINTED_FROM and template.count("%") == template.count("%d") == len(columns):
        from hopwave.io import print_lines

        return write_in_threads(
            target, begins, lambda i: print_lines.rows(template, tuple(column[i : i + STEP] for column in columns))
        )
    for i in begins:
        parts = [column[i : i + STEP].tolist() for column in columns]
        cells: list[Any] = [None] * (len(columns) * len(parts[0]))
        for place, part in enumerate(parts):
            cells[place :: len(columns)] = part
        # Formatting many lines at once takes half the time of one line after the other.
        target.stream.write((template * len(parts[0]) % tuple(cells)).encode())


def write_in_threads(target: Target, begins: Iterable[int], text: Callable[[int], npt.NDArray[np.uint8]]) -> None:
    """Write text(begin) for every begin, in order, made by all cores."""
    pool = Pool(min(os.cpu_count() or 1, 16))
    waiting: deque[Task[npt.NDArray[np.uint8]]] = deque()
    try:
        for begin in begins:
            waiting.append(pool.begin(text, begin))
            if len(waiting) > 2 * pool.threads:
                target.stream.write(waiting.popleft().result().data)
        while waiting:
            target.stream.write(waiting.popleft().result().data)
    finally:
        pool.stopped = True


def weight_cells(weights: npt.NDArray[Any] | None) -> tuple[str, tuple[npt.NDArray[Any], ...]]:
    """How to write weights so that they are read back bit for bit: a template, and the column for `write_columns`.

    Integers if all of them are whole, else the shortest text that gives the same float64; "" and no column without
    weights.

    >>> weight_cells(np.array([2.0, 0.0]))
    ('%d', (array([2, 0]),))
    >>> weight_cells(np.array([0.1], "f4"))[0] % 0.1
    '0.1'
    """
    if weights is None:
        return "", ()
    if are_whole(weights) and not (np.signbit(weights) & (weights == 0)).any():
        return "%d", (weights.astype(np.int64),)
    return "%r", (weights,)


def are_whole(weights: npt.NDArray[Any]) -> bool:
    """Whether all weights are integers that float64 holds exactly."""
    return bool((np.abs(weights) <= EXACT_UP_TO).all() and (weights == np.trunc(weights)).all())


def whole_weights(target: Target, graph: Graph, least: int, most: int, instead: str) -> npt.NDArray[np.int64] | None:
    """The weights of the edges for a format that stores integers from `least` to `most`; any others are refused."""
    weights = graph.edges().weights
    if weights is None:
        return None
    wrong = (
        (weights < least) | (weights > most) | (weights != np.trunc(weights)) | (np.signbit(weights) & (weights == 0))
    )
    if wrong.any():
        message = f"the weight {float(weights[wrong][0])!r}; this format stores whole numbers from {least} to {most:,}"
        raise target.fail(f"{message}: write {instead}, or drop the weights with weights=False")
    return weights.astype(np.int64)


def require_last_vertex(target: Target, graph: Graph, isolated: bool) -> None:
    """For formats that only list edges: refuse a graph whose last vertices have no edge, unless isolated=False."""
    if graph.m == 0:
        raise target.fail(
            "a graph without edges; in this format it is the same as an empty file: use .npz, .mtx or .sg"
        )
    last = max(int(np.flatnonzero(graph.degrees)[-1]), int(graph.indices.max()))
    if isolated and last + 1 < graph.n:
        message = f"vertices {last + 1} to {graph.n - 1} have no edge and this format lists edges only"
        raise target.fail(f"{message}; use .npz, .mtx or .sg, or drop them with isolated=False")
