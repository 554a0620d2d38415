"""The arrays of a graph: adjacency lists on the host or the GPU, their transpose, and memory-mapped arrays."""

import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from hopwave.arrays import Prepared, module_of
from hopwave.checks.keywords import offers
from hopwave.display import html
from hopwave.errors import GraphError, explaining
from hopwave.graph.columns import constructor_of
from hopwave.graph.csr import Rows, arc_tails, builders, transposed
from hopwave.graph.naming import Named
from hopwave.graph.statistics import Statistics, measure

Order = Literal["ascending", "degree"]
Home = Literal["cpu", "cuda"]


@offers
class GraphArrays(Named):
    """The arrays of a graph, and its properties."""

    _n: int
    _m: int
    _host: Rows | None
    _gpu: Rows | None
    _columns: Rows | None  # the transpose on the host; identical to _host for an undirected graph
    _directed: bool
    _labels: npt.NDArray[Any] | None
    _order: Order
    _device: Home
    _prepared: Prepared

    def __init__(
        self,
        indptr: npt.NDArray[Any] | None = None,
        indices: npt.NDArray[np.int32] | None = None,
        *,
        directed: bool | None = None,
        weights: npt.NDArray[Any] | None = None,
        transpose: Rows | None = None,
    ) -> None:
        """Does not check its arguments; use `from_edges`, `from_csr`, `from_scipy` or `from_networkx` instead."""
        if indptr is None:
            raise GraphError(
                "Graph() has no edges, and graphs are immutable; use Graph.from_edges([(0, 1), (1, 2)]), "
                "Graph.from_networkx(g), hopwave.read(path) or another constructor"
            )
        if indices is None or directed is None:
            raise GraphError(f"Graph() needs the arrays of the adjacency lists; use {constructor_of(indptr)}")
        self._set(Rows(indptr, indices, weights), None, directed, None, "cpu", "ascending", transpose)

    @classmethod
    def _of(cls, *parts: Any) -> Self:
        """A graph from the arguments of `_set`."""
        graph = cls.__new__(cls)
        graph._set(*parts)
        return graph

    def _set(
        self,
        host: Rows | None,
        gpu: Rows | None,
        directed: bool,
        labels: npt.NDArray[Any] | None,
        device: Home,
        order: Order = "ascending",
        transpose: Rows | None = None,
    ) -> None:
        rows = host if host is not None else gpu
        assert rows is not None
        sizes = len(rows.indptr) - 1, len(rows.indices), rows.values is not None
        parts = host, gpu, transpose if directed else host, directed, labels, order, device
        self.__setstate__(dict(zip(_STATE, sizes + parts, strict=True)))

    # ---------------------------------------------------------------- properties

    @property
    def n(self) -> int:
        """The number of vertices."""
        return self._n

    @property
    def m(self) -> int:
        """The number of stored arcs; an undirected edge counts twice, a self-loop once."""
        return self._m

    @property
    def number_of_vertices(self) -> int:
        """The number of vertices, the same as `n` and `len(G)`."""
        return self.n

    @cached_property
    def number_of_edges(self) -> int:
        """The number of edges, each undirected edge counted once; parallel edges count one by one.

        >>> G = hw.Graph.from_edges([0, 1, 2], [1, 2, 2])
        >>> G.number_of_edges, G.m
        (3, 5)
        """
        return self._m if self._directed else (self._m + self._loops()) // 2

    @explaining("counting edges")
    def _loops(self) -> int:
        """Number of stored arcs that are self-loops, counted on the device of the adjacency lists, block by block."""
        rows = self._rows_somewhere
        xp, found = module_of(rows.indices), 0
        for first in range(0, self.n, _ROWS_AT_ONCE):
            ends = rows.indptr[first : first + _ROWS_AT_ONCE + 1]
            begin, end = int(ends[0]), int(ends[-1])
            some = Rows(ends - begin, rows.indices[begin:end])
            found += int(xp.count_nonzero(some.indices - first == arc_tails(some)))
        return found

    @property
    def directed(self) -> bool:
        """Whether the graph is directed, that is, an arc u → v need not have its reverse v → u."""
        return self._directed

    @property
    def is_weighted(self) -> bool:
        """Whether every arc has a weight."""
        return bool(self.__dict__["_weighted"])

    @property
    def labels(self) -> npt.NDArray[Any] | None:
        """Labels of the vertices, in vertex order; None if vertices are only numbered."""
        return self._labels

    @property
    def device(self) -> Home:
        """Device of the graph and of its results; "cuda" if it was built from GPU arrays or by `to("cuda")`."""
        return self._device

    @cached_property
    def is_mapped(self) -> bool:
        """Whether the adjacency lists are memory-mapped, as by `read(path, mmap=True)`. Engines do not copy them."""
        return self._host is not None and _mapping(self._host.indices) is not None

    @property
    def order(self) -> Order:
        """Order of the neighbours in each adjacency list, "ascending" or "degree" (see `arranged`)."""
        return self._order

    @property
    def indptr(self) -> npt.NDArray[Any]:
        """Offsets of the adjacency lists. The list of v begins at `indptr[v]` and ends before `indptr[v + 1]`."""
        indptr: npt.NDArray[Any] = self._offsets if self._host is None else self._host.indptr
        return indptr

    @property
    def indices(self) -> npt.NDArray[np.int32]:
        """The out-neighbours of all vertices, in vertex order."""
        indices: npt.NDArray[np.int32] = self._rows.indices
        return indices

    @property
    def weights(self) -> npt.NDArray[Any] | None:
        """Weight of each stored arc, parallel to `indices`, as float32 or float64; None for an unweighted graph.

        >>> hw.Graph.from_edges([2, 0], [1, 2], directed=True, weights=[7, 5]).weights.tolist()
        [5.0, 7.0]
        """
        return self._rows.values if self.is_weighted else None

    @property
    def in_indptr(self) -> npt.NDArray[Any]:
        """Offsets of in-neighbours. The list of v begins at `in_indptr[v]` and ends before `in_indptr[v + 1]`."""
        indptr: npt.NDArray[Any] = self._transposed().indptr
        return indptr

    @property
    def in_indices(self) -> npt.NDArray[np.int32]:
        """The in-neighbours of all vertices, in vertex order; the same array as `indices` for an undirected graph."""
        indices: npt.NDArray[np.int32] = self._transposed().indices
        return indices

    @property
    def in_weights(self) -> npt.NDArray[Any] | None:
        """Weight of each arc, parallel to `in_indices`; None for an unweighted graph."""
        return self._transposed().values if self.is_weighted else None

    @property
    def _rows(self) -> Rows:
        """The adjacency lists in host memory, copied from the GPU on first use."""
        if self._host is None:
            assert self._gpu is not None
            to_host = builders["cuda"]().to_host
            rest = (None if part is None else _read_only(to_host(part)) for part in self._gpu[1:])
            self.__dict__["_host"] = Rows(self._offsets, *rest)
        assert self._host is not None
        return self._host

    @property
    def _rows_somewhere(self) -> Rows:
        """The adjacency lists on the host, or on the GPU if they are only there."""
        return self._rows if self._host is not None or self._gpu is None else self._gpu

    @cached_property
    def _offsets(self) -> npt.NDArray[Any]:
        """The offsets of a GPU graph in host memory: a search needs the offsets there, but not the neighbours."""
        assert self._gpu is not None
        return _read_only(builders["cuda"]().to_host(self._gpu.indptr))

    def _transposed(self) -> Rows:
        if not self._directed:
            return self._rows
        if self._columns is None:
            self.__dict__["_columns"] = transposed(self._rows).each(_read_only)
        assert self._columns is not None
        return self._columns

    @cached_property
    def degrees(self) -> npt.NDArray[Any]:
        """Out-degree of each vertex, counted in stored arcs (a self-loop counts once)."""
        return _read_only(np.diff(self.indptr))

    @cached_property
    def in_degrees(self) -> npt.NDArray[Any]:
        """In-degree of each vertex; equal to `degrees` for an undirected graph."""
        return _read_only(np.diff(self.in_indptr)) if self._directed else self.degrees

    def stats(self) -> Statistics:
        """Sizes, degrees and the scale-free metric, computed once and cached.

        >>> hw.generate.star(5).stats().max_degree
        4
        """
        return self._statistics

    @cached_property
    def _statistics(self) -> Statistics:
        return measure(self)

    # ---------------------------------------------------------------- special methods

    def __repr__(self) -> str:
        words = ["directed" if self._directed else "undirected"]
        words += ["weighted"] * self.is_weighted + ["labelled"] * (self._labels is not None)
        words += ["on cuda"] * (self._device == "cuda")
        if self._directed or self._m <= _COUNTED or "number_of_edges" in self.__dict__:
            size = f"{self.number_of_edges:,} edge{'' if self.number_of_edges == 1 else 's'}"
        else:  # counting edges would need a pass over all arcs to find self-loops
            size = f"{self._m:,} stored arcs"
        return f"Graph({self.n:,} {'vertex' if self.n == 1 else 'vertices'}, {size}, {', '.join(words)})"

    def _repr_html_(self) -> str:
        weights = self.weights
        rows: list[tuple[str, object]] = [
            ("vertices", f"{self.n:,}"),
            ("edges", f"{self.number_of_edges:,}"),
            ("stored arcs", f"{self.m:,}"),
            ("directed", "yes" if self._directed else "no"),
        ]
        if weights is not None and len(weights):
            rows.append(("weights", f"{weights.dtype}, {weights.min():g} to {weights.max():g}"))
        if self._labels is not None and self.n:
            rows.append(("labels", f"{self.label(0)!r}, …"))
        return html.table("Graph", [*rows, ("device", self._device)])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GraphArrays):
            return NotImplemented
        mine, theirs = self._labels, other._labels
        return (
            self._directed == other._directed
            and self.is_weighted == other.is_weighted
            and np.array_equal(self.indptr, other.indptr)
            and np.array_equal(self.indices, other.indices)
            and (self.weights is None or np.array_equal(self.weights, other.weights))  # type: ignore[arg-type]
            and (mine is None) == (theirs is None)
            and (mine is None or theirs is None or mine.tolist() == theirs.tolist())
        )

    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return self.n

    def __iter__(self) -> Iterator[Any]:
        return iter(range(self.n) if self._labels is None else self._labels.tolist())

    def __getstate__(self) -> dict[str, Any]:
        state = {name: self.__dict__[name] for name in _STATE}
        places = {"_host": as_places(self._rows), "_columns": as_places(self._columns) if self._directed else None}
        return state | places | {"_gpu": None, "_device": "cpu"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # _prepared is the cache of engines for this graph (uploaded arrays, hub lists); it is freed with the graph.
        self.__dict__.update(state, _host=from_places(state["_host"]), _prepared=Prepared())
        self.__dict__["_columns"] = from_places(state["_columns"]) if self._directed else self._host
        for array in (*(self._host or ()), *(self._columns or ()), self._labels):
            if array is not None:
                _read_only(array)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a Graph is immutable: {name} cannot be set; build a new one with Graph.from_edges")


_COUNTED = 1 << 24  # maximum arcs of a graph whose `repr` counts edges
_ROWS_AT_ONCE = 1 << 20
_STATE = ("_n", "_m", "_weighted", "_host", "_gpu", "_columns", "_directed", "_labels", "_order", "_device")


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array.setflags(write=False)
    return array


def vertex_names(graph: GraphArrays) -> Any:
    """The labels of the vertices, or their ids if the graph has no labels."""
    return np.arange(graph.n, dtype=np.int32) if graph.labels is None else graph.labels


# ---------------------------------------------------------------- arrays mapped from a file


class Place(NamedTuple):
    """Position of an array in a file; `version` is the file's size and modification time, to detect changes."""

    path: str
    begin: int
    length: int
    dtype: str
    version: tuple[int, int]


def map_array(path: str | os.PathLike[str], begin: int, count: int, dtype: Any) -> npt.NDArray[Any]:
    """A read-only memory-mapped array that starts at byte `begin` of a file. Nothing is read until it is used."""
    found: Any = np.memmap(path, dtype, "r", begin, (count,))
    found.version = _version(path)
    return found  # type: ignore[no-any-return]


def place_of(array: Any) -> Place | None:
    """Position of an array in its file; None if it is not memory-mapped, or if its file has changed since."""
    root = _mapping(array)
    if root is None:
        return None
    version = getattr(root, "version", None)
    try:
        if version is None or _version(root.filename) != version:
            return None
    except OSError:
        return None
    begin = root.offset + array.ctypes.data - root.ctypes.data
    return Place(str(Path(root.filename).absolute()), begin, array.size, array.dtype.str, version)


def as_places(rows: Rows | None) -> Rows | None:
    """Rows to send to another process: each memory-mapped array is replaced by its Place."""
    return None if rows is None else Rows(*(part if (place := place_of(part)) is None else place for part in rows))


def from_places(rows: Rows | None) -> Rows | None:
    """Rows that another process sent, with each Place memory-mapped again."""
    return None if rows is None else Rows(*(_mapped_again(part) if isinstance(part, Place) else part for part in rows))


def _mapped_again(place: Place) -> npt.NDArray[Any]:
    path, begin, length, dtype, version = place
    try:
        same = _version(path) == version
    except OSError as error:
        raise GraphError(
            f"the graph is memory-mapped from {path}, but this process cannot open that file ({error.strerror}); "
            "move the file where all processes can read it, or read it without mmap=True"
        ) from None
    if not same:
        raise GraphError(f"{path} has changed since the graph was memory-mapped; read the file again")
    return map_array(path, begin, length, dtype)


def _mapping(array: Any) -> Any:
    """The full memory map of which an array is a view, or None."""
    root = None
    while array is not None:
        root = array if isinstance(array, np.memmap) else root
        array = getattr(array, "base", None)
    return root


def _version(path: Any) -> tuple[int, int]:
    about = Path(path).stat()
    return about.st_size, about.st_mtime_ns
