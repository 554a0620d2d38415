"""Description of a file format, the arguments of its reader and writer, and the numbering of vertices."""

import inspect
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from hopwave.checks.keywords import meant
from hopwave.errors import FormatError, GraphError
from hopwave.graph import Graph
from hopwave.graph.columns import EXACT_UP_TO
from hopwave.graph.csr import COMPILED_FROM, LARGEST_VERTEX_COUNT, Combine
from hopwave.io.lines import LARGEST_NUMBER, Source, pipelined

# A header may declare isolated vertices, but not absurdly many: a number above both of these limits must be confirmed
# with n= before memory is spent on it.
MAX_UNCONFIRMED_VERTICES = 100_000_000
MAX_VERTICES_PER_BYTE = 100
ARGUMENTS = ("format", "directed", "n", "labels", "weights", "combine", "progress")  # not options of a format
STEP = 100_000  # lines written at a time
PRINTED_FROM = 500_000  # minimum lines for the compiled printer: importing Numba takes longer than printing fewer
TABLE_PER_ID = 16  # maximum entries per id of the lookup table for renumbering

Ids = npt.NDArray[Any]
NO_IDS = np.empty(0, np.int64)
IDS, INT64 = range(LARGEST_NUMBER + 1), range(-(2**63), 2**63)  # range of integer labels in text and in binary files


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
    holds_weights: bool = True  # weights of edges
    holds_parallel: bool = False  # repeated arcs: the file records whether they are parallel
    content_decides: bool = False  # other formats also use these extensions: the content decides
    signature: bytes = b""  # regular expression for the first bytes, if they identify the format

    @property
    def assumes(self) -> bool | None:
        """Whether graphs are directed if neither the file nor the caller specifies it; None if files specify it.

        >>> import hopwave.io
        >>> [known.assumes for known in hopwave.io.formats() if known.name in ("npz", "table", "gapbs-el")]
        [False, None, True]
        """
        found = self.directedness.partition("not in the file; ")[2]
        return found == "directed" if found else None

    def read_options(self) -> tuple[str, ...]:
        """The names of `read`'s options for this format only."""
        return _own_options(self.read)

    def write_options(self) -> tuple[str, ...]:
        """The names of `write`'s options for this format only."""
        return _own_options(self.write)

    def check_options(self, function: Callable[..., Any], given: dict[str, Any]) -> None:
        """Raise TypeError for an option that this function does not have."""
        known = _own_options(function)
        for name in given:
            if name not in known:
                has = f"its options are {', '.join(known)}" if known else "it has no options"
                near = meant(name, [*known, *ARGUMENTS])
                raise TypeError(f"{name}= is not an option of the format {self.name!r}; {near or has}")


def _own_options(function: Callable[..., Any]) -> tuple[str, ...]:
    parameters = inspect.signature(function).parameters.values()
    return tuple(parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY)


# ---------------------------------------------------------------- reading


@dataclass(frozen=True)
class Request:
    """The arguments of `read` besides the path; None means that the file decides."""

    directed: bool | None = None
    n: int | None = None
    labels: bool = True
    weights: bool = True  # False drops the weights of the file
    combine: Combine | None = None  # how to merge the weights of repeated edges

    def vertices(self, source: Source, n: int, line: int | None = None) -> int:
        """The number of vertices of the graph, from the number that the file declares or implies."""
        message = None
        if n > LARGEST_VERTEX_COUNT:
            message = f"{n:,} vertices; expected at most {LARGEST_VERTEX_COUNT:,}, because ids are 32-bit"
        elif n > max(MAX_UNCONFIRMED_VERTICES, MAX_VERTICES_PER_BYTE * source.size) and self.n != n:
            message = f"declares {n:,} vertices in only {source.size:,} bytes; pass n={n} if the number is right"
        if message is not None:
            raise source.fail(message, line)
        if self.n is not None and self.n < n:
            less = f"n={self.n} is less than the {n} vertices of {source.path}"
            raise GraphError(f"{less}; omit n=, or pass a larger number")
        return n if self.n is None else self.n

    def check_n(self, source: Source, n: int) -> None:
        """Raise a GraphError if the caller's n differs from that of a file that lists all vertices."""
        if self.n not in (None, n):
            raise GraphError(f"n={self.n}, but {source.path} has {n} vertices; omit n=")

    def numbered(
        self,
        source: Source,
        u: Ids,
        v: Ids,
        lone: Ids = NO_IDS,
        declared: int | None = None,
        line: int | None = None,
        **said: Any,
    ) -> Graph:
        """The graph of integer ids. Ids are vertices if all are below n; otherwise they become labels.

        `lone`: vertices that the file lists. `declared`: the number of vertices in its header, in line `line`.
        """
        largest = max((int(ids.max()) for ids in (u, v, lone) if len(ids)), default=-1)
        if not self.labels or largest < max(declared or 0, self.n or 0):
            return self.graph(source, u, v, self.vertices(source, max(largest + 1, declared or 0), line), **said)
        u, v, n, labels = compact(u, v, lone)
        if declared is not None and n > declared:
            raise source.fail(f"{n:,} different vertices; the file declares {declared:,}", line)
        return self.graph(source, u, v, self.vertices(source, n, line), labels=labels, **said)

    def graph(
        self,
        source: Source,
        u: Ids,
        v: Ids,
        n: int,
        *,
        directed: bool | None,
        labels: npt.NDArray[Any] | None = None,
        weights: npt.NDArray[Any] | None = None,
        both_ways: bool = False,
        parallel: bool = False,
    ) -> Graph:
        """The graph of these edges, with checked ids; `directed` is the direction in the file, None if it has none.

        `both_ways`: the file is undirected and lists each edge once per direction, not as a repeat. `parallel`:
        repeated edges are parallel; they are merged only with `combine` or if directed arcs become edges.
        """
        directed = bool(self.directed) if directed is None else directed
        if labels is not None and self.n not in (None, n):
            adds = f"n={self.n} adds vertices without a label to the {n} labels of {source.path}"
            raise GraphError(f"{adds}; omit n=")
        source.meter.stage(f"building the graph of {source.path.name}")
        directed_now = directed if self.directed is None else directed and self.directed
        weights = weights if self.weights else None
        if weights is not None and both_ways:
            u, v, weights = _each_once(u, v, weights)
        combine = None if weights is None else self.combine
        keep = parallel and combine is None and directed_now == directed
        with explained(source):
            graph = Graph.from_edges(
                u, v, n, directed_now, labels=labels if self.labels else None, weights=weights, combine=combine,
                repeats="keep" if keep else "merge",
            )  # fmt: skip
        return self.turned(source, graph)

    def turned(self, source: Source, graph: Graph) -> Graph:
        """The graph with the caller's direction: adds reverse arcs, or turns every edge into two arcs."""
        graph = graph if self.weights else graph.without_weights()
        if self.directed is None or self.directed == graph.directed:
            return graph
        if self.directed:
            about: dict[str, Any] = {"weights": graph.weights, "labels": graph.labels}
            return Graph.from_csr(graph.indptr, graph.indices, True, check=False, **about)
        with explained(source):
            return graph.to_undirected(self.combine if graph.is_weighted else None)


@contextmanager
def explained(source: Source) -> Iterator[None]:
    """Raise errors about edges as FormatError, with the options of `read` instead of those of `from_edges`."""
    try:
        yield
    except GraphError as error:
        of_from_edges = "keep all with Graph.from_edges(…, repeats='keep')"
        message = str(error).replace(of_from_edges, "drop the weights with weights=False")
        raise source.fail(message) from None


def _each_once(u: Ids, v: Ids, weights: npt.NDArray[Any]) -> tuple[Ids, Ids, npt.NDArray[Any]]:
    """Each edge once, if the list contains every edge in both directions: combine="sum" would count it twice."""
    forth, back = u < v, u > v
    order = np.lexsort((weights[forth], v[forth], u[forth]))
    other = np.lexsort((weights[back], u[back], v[back]))
    pairs = ((u[forth], v[back]), (v[forth], u[back]), (weights[forth], weights[back]))
    if len(order) == len(other) and all(np.array_equal(a[order], b[other]) for a, b in pairs):
        return u[~back], v[~back], weights[~back]
    return u, v, weights


def compact(u: Ids, v: Ids, lone: Ids) -> tuple[Ids, Ids, int, npt.NDArray[np.int64] | None]:
    """Renumber non-negative integer ids 0 … n−1 in ascending order: u, v, n, and labels, None if nothing changed."""
    columns = (u, v, lone)
    largest = max((int(ids.max()) for ids in columns if len(ids)), default=-1)
    if largest < TABLE_PER_ID * sum(map(len, columns)) + 1024:
        # Dense enough for a lookup table: a tenth of the time of sorting.
        present = np.zeros(largest + 1, np.bool_)
        compiled = len(u) >= COMPILED_FROM
        if compiled:
            from hopwave.graph import csr_compiled  # imports Numba
        for ids in columns:
            if compiled and len(ids):
                csr_compiled.mark_ids(ids, present)
            else:
                present[ids] = True
        if present.all():
            return u, v, largest + 1, None
        labels = np.flatnonzero(present)
        number: Ids = np.cumsum(present, dtype=np.int32 if len(labels) < 2**31 else np.int64)
        number -= 1
        u, v = (csr_compiled.looked_up(ids, number) if compiled else number[ids] for ids in (u, v))
        return u, v, len(labels), labels
    every = np.concatenate([column.astype(np.int64, copy=False) for column in columns])
    labels, numbers = np.unique(every, return_inverse=True)
    numbers = numbers.astype(np.int32 if len(labels) < 2**31 else np.int64)
    return numbers[: len(u)], numbers[len(u) : len(u) + len(v)], len(labels), labels


def numbering() -> defaultdict[str, int]:
    """Numbers for names, in the order of first appearance."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    return numbers


# ---------------------------------------------------------------- writing


@dataclass(frozen=True)
class Target:
    """A file being written: its stream, and its path for error messages."""

    path: Path
    stream: IO[bytes]

    def fail(self, message: str) -> FormatError:
        """The error to raise: it names the file."""
        return FormatError(message, self.path)


def write_columns(target: Target, template: str, *columns: npt.NDArray[Any]) -> None:
    """Write one line per edge from a template such as "%d %d\\n"; many lines of integers are formatted on all cores."""
    begins = range(0, len(columns[0]), STEP)
    if len(columns[0]) >= PRINTED_FROM and template.count("%") == template.count("%d") == len(columns):
        from hopwave.io.scan import printed_rows

        parts = pipelined(begins, lambda i: printed_rows(template, [column[i : i + STEP] for column in columns]))
        return target.stream.writelines(made.data for _, made in parts)
    for i in begins:
        # Formatting many lines in one call takes half the time of one call per line.
        rows = zip(*(column[i : i + STEP].tolist() for column in columns), strict=True)
        cells = tuple(chain.from_iterable(rows))
        target.stream.write((template * (len(cells) // len(columns)) % cells).encode())
    return None


def weight_cells(weights: npt.NDArray[Any] | None) -> tuple[str, tuple[npt.NDArray[Any], ...]]:
    """A template and a column for `write_columns` that preserve every bit; "" and no column without weights."""
    if weights is None:
        return "", ()
    if (np.abs(weights) <= EXACT_UP_TO).all() and not _inexact(weights).any():
        return "%d", (weights.astype(np.int64),)
    return "%r", (weights,)


def _inexact(weights: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which weights an integer cannot represent: fractions and −0.0."""
    found: npt.NDArray[np.bool_] = (weights != np.trunc(weights)) | (np.signbit(weights) & (weights == 0))
    return found


def whole_weights(target: Target, graph: Graph, least: int, most: int) -> npt.NDArray[np.int64] | None:
    """The weights for a format that stores integers from `least` to `most`; other weights raise an error."""
    weights = graph.edges().weights
    if weights is None:
        return None
    wrong = (weights < least) | (weights > most) | _inexact(weights)
    if wrong.any():
        message = f"the weight is {float(weights[wrong][0])!r}; this format stores integers from {least} to {most:,}"
        raise target.fail(f"{message}: write .mtx, .csv or .npz, or drop the weights with weights=False")
    return weights.astype(np.int64)


def check_last(target: Target, graph: Graph, isolated: bool) -> None:
    """For formats that only list edges: reject a graph whose last vertices are isolated, unless isolated=False."""
    if graph.m == 0:
        same = "this format would store an empty file"
        raise target.fail(f"a graph without edges; {same}: use .npz, .mtx or .sg")
    last = max(int(np.flatnonzero(graph.degrees)[-1]), int(graph.indices.max()))
    if isolated and last + 1 < graph.n:
        message = f"vertices {last + 1} to {graph.n - 1} have no edge and this format lists edges only"
        raise target.fail(f"{message}; use .npz, .mtx or .sg, or drop these vertices with isolated=False")


def plain_labels(
    target: Target, graph: Graph, ids: range = INT64, *, encoded: bool = True
) -> list[str] | list[int] | None:
    """The labels as Python strings, or integers in a range; other types raise an error. `encoded`: as UTF-8."""
    if graph.labels is None:
        return None
    values: list[Any] = graph.labels.tolist()
    whole = bool(values) and type(values[0]) is int
    for value in values:
        problem = None
        if type(value) is not (int if whole else str):
            problem = f" is a {type(value).__name__}; files store labels that are all strings or all 64-bit integers"
        elif whole and value not in ids:
            other = "" if ids == INT64 else ": use .npz"
            problem = f"; integer labels in this format must be from {ids[0]} to {ids[-1]}{other}"
        elif encoded and isinstance(value, str) and value.encode(errors="ignore").decode() != value:
            problem = " contains half of a surrogate pair, which is not text"
        if problem is not None:
            raise target.fail(f"label {value!r}{problem}; relabel the graph, or drop labels with labels=False")
    return values


def listed_first(graph: Graph, names: Iterable[Any] | None, u: Ids, v: Ids) -> npt.NDArray[np.int64]:
    """The vertices that a file must list before its edges, so that reading it back gives the same numbering.

    Integers are numbered in ascending order, so only isolated vertices are listed. Strings are numbered in order of
    first appearance: if that is not the graph's order, all vertices are listed.
    """
    touched = np.zeros(graph.n, np.bool_)
    touched[u] = touched[v] = True
    if names is None or not all(isinstance(name, str) for name in names):
        return np.flatnonzero(~touched)
    ends = np.column_stack([u, v]).ravel()
    first_met = ends[np.sort(np.unique(ends, return_index=True)[1])]
    return np.arange(0 if np.array_equal(first_met, np.arange(graph.n)) else graph.n)
