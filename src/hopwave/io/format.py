"""What hopwave knows about a file format, and what its reader and its writer get."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from hopwave.csr import LARGEST_VERTEX_COUNT, Combine
from hopwave.errors import FormatError, GraphError
from hopwave.graph import Graph
from hopwave.io.source import Source

# A header may declare vertices without an edge, but not absurdly many: a number above both of these limits must be
# confirmed with n= before memory is spent on it.
MAX_UNCONFIRMED_VERTICES = 100_000_000
MAX_VERTICES_PER_BYTE = 100


@dataclass(frozen=True)
class Request:
    """What the caller of `read` wants, apart from the file: None leaves it to the file."""

    directed: bool | None = None
    n: int | None = None
    labels: bool = True
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
    ) -> Graph:
        """The graph of these edges, with checked ids; `directed` is what the file says, None if it says nothing.

        If the file says nothing, the caller decides, and the default is undirected. If the file says one kind and the
        caller wants the other, the graph is converted: reverse arcs are added, or every edge becomes two arcs.
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
        combine = None if weights is None else self.combine
        return self.turned(Graph.from_edges(u, v, n, directed_now, labels=names, weights=weights, combine=combine))

    def turned(self, graph: Graph) -> Graph:
        """The graph as the caller wants it, directed or not: reverse arcs are added, or every edge becomes two arcs."""
        if self.directed is None or self.directed == graph.directed:
            return graph
        if self.directed:
            return Graph.from_csr(
                graph.indptr, graph.indices, True, weights=graph.weights, labels=graph.labels, check=False
            )
        return graph.to_undirected(self.combine)


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
    content_decides: bool = False  # other formats use these extensions too: trust the content, not the name

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
                raise TypeError(f"{name}= is not an option of the format {self.name!r}; {has}")


def _own_options(function: Callable[..., Any]) -> tuple[str, ...]:
    parameters = inspect.signature(function).parameters.values()
    return tuple(parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY)


def write_pairs(target: Target, template: str, u: npt.NDArray[Any], v: npt.NDArray[Any]) -> None:
    """Write one line per edge from a template such as "%d %d\\n", 100,000 lines at a time to keep memory small."""
    step = 100_000
    for i in range(0, len(u), step):
        first, second = u[i : i + step].tolist(), v[i : i + step].tolist()
        ends: list[Any] = [None] * (2 * len(first))
        ends[0::2], ends[1::2] = first, second
        # Formatting many lines at once takes half the time of one line after the other.
        target.stream.write((template * len(first) % tuple(ends)).encode())


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
