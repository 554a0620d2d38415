"""What a graph is made of: its rows, on the host or the GPU, its transpose, and arrays that are mapped from a file."""

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
    """The arrays of a graph, and everything about it that needs no other graph."""

    _n: int
    _m: int
    _host: Rows | None
    _gpu: Rows | None
    _columns: Rows | None  # of the host; the same as _host for an undirected graph
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
        """Trusts its arguments; callers use `from_edges`, `from_csr`, `from_scipy` or `from_networkx`."""
        if indptr is None:
            raise GraphError(
                "Graph() has no edges, and a graph does not change; give Graph.from_edges([(0, 1), (1, 2)]), "
                "Graph.from_networkx(g), hopwave.read(path) or another constructor"
            )
        if indices is None or directed is None:
            raise GraphError(f"Graph() takes the arrays of a graph's rows; give {constructor_of(indptr)}")
        self._set(Rows(indptr, indices, weights), None, directed, None, "cpu", "ascending", transpose)

    @classmethod
    def _of(cls, *parts: Any) -> Self:
        """A graph of parts; they are those of `_set`."""
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

    # ---------------------------------------------------------------- what it is

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
        """How many stored arcs are self-loops, counted where the rows are, some rows at a time."""
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
        """Whether an arc u → v may stand without its reverse."""
        return self._directed

    @property
    def is_weighted(self) -> bool:
        """Whether every arc has a weight."""
        return bool(self.__dict__["_weighted"])

    @property
    def labels(self) -> npt.NDArray[Any] | None:
        """What the vertices are called, in vertex order, or None where they are only numbered."""
        return self._labels

    @property
    def device(self) -> Home:
        """Where the graph lives and answers go, "cuda" if it was made of a GPU's arrays or by `to("cuda")`."""
        return self._device

    @cached_property
    def is_mapped(self) -> bool:
        """Whether the neighbours stay in a file, as `read(path, mmap=True)` leaves them. No engine then copies them."""
        return self._host is not None and _mapping(self._host.indices) is not None

    @property
    def order(self) -> Order:
        """How each row's neighbours are ordered, "ascending", or "degree" (see `arranged`)."""
        return self._order

    @property
    def indptr(self) -> npt.NDArray[Any]:
        """Where each vertex's out-neighbours begin in `indices`; n + 1 offsets."""
        indptr: npt.NDArray[Any] = self._offsets if self._host is None else self._host.indptr
        return indptr

    @property
    def indices(self) -> npt.NDArray[np.int32]:
        """The out-neighbours, row after row."""
        indices: npt.NDArray[np.int32] = self._rows.indices
        return indices

    @property
    def weights(self) -> npt.NDArray[Any] | None:
        """The weight of every stored arc, beside `indices`, in float32 or float64. None where there are none.

        >>> hw.Graph.from_edges([2, 0], [1, 2], directed=True, weights=[7, 5]).weights.tolist()
        [5.0, 7.0]
        """
        return self._rows.values if self.is_weighted else None

    @property
    def in_indptr(self) -> npt.NDArray[Any]:
        """Where each vertex's in-neighbours begin in `in_indices`."""
        indptr: npt.NDArray[Any] = self._transposed().indptr
        return indptr

    @property
    def in_indices(self) -> npt.NDArray[np.int32]:
        """The in-neighbours, row after row; the same array as `indices` for an undirected graph."""
        indices: npt.NDArray[np.int32] = self._transposed().indices
        return indices

    @property
    def in_weights(self) -> npt.NDArray[Any] | None:
        """The weight of every arc, beside `in_indices`."""
        return self._transposed().values if self.is_weighted else None

    @property
    def _rows(self) -> Rows:
        """The rows in the host's memory, copied there when first asked for."""
        if self._host is None:
            assert self._gpu is not None
            to_host = builders["cuda"]().to_host
            rest = (None if part is None else _read_only(to_host(part)) for part in self._gpu[1:])
            self.__dict__["_host"] = Rows(self._offsets, *rest)
        assert self._host is not None
        return self._host

    @property
    def _rows_somewhere(self) -> Rows:
        """The rows, on the GPU if they are only there."""
        return self._rows if self._host is not None or self._gpu is None else self._gpu

    @cached_property
    def _offsets(self) -> npt.NDArray[Any]:
        """The offsets of a graph on the GPU, in the host's memory: a search needs them, but not the neighbours."""
        assert self._gpu is not None
        return _read_only(builders["cuda"]().to_host(self._gpu.indptr))

    def _transposed(self) -> Rows:
        if not self._directed:
            return self._rows
        if self._columns is None:
            columns = transposed(self._rows)
            self.__dict__["_columns"] = Rows(*(None if part is None else _read_only(part) for part in columns))
        assert self._columns is not None
        return self._columns

    @cached_property
    def degrees(self) -> npt.NDArray[Any]:
        """The out-degree of every vertex, counted in stored arcs (a self-loop counts once)."""
        return _read_only(np.diff(self.indptr))

    @cached_property
    def in_degrees(self) -> npt.NDArray[Any]:
        """The in-degree of every vertex; the degrees of an undirected graph."""
        return _read_only(np.diff(self.in_indptr)) if self._directed else self.degrees

    def stats(self) -> Statistics:
        """Sizes, degrees and the scale-free metric, computed once.

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
        else:  # self-loops would have to be counted
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
        # Engines keep what they prepared for this graph in _prepared (uploaded arrays, hub lists): it goes with it.
        self.__dict__.update(state, _host=from_places(state["_host"]), _prepared=Prepared())
        self.__dict__["_columns"] = from_places(state["_columns"]) if self._directed else self._host
        for array in (*(self._host or ()), *(self._columns or ()), self._labels):
            if array is not None:
                _read_only(array)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a Graph does not change: {name} cannot be set; make a new one with Graph.from_edges")


_COUNTED = 1 << 24  # most arcs of a graph whose `repr` counts edges
_ROWS_AT_ONCE = 1 << 20
_STATE = ("_n", "_m", "_weighted", "_host", "_gpu", "_columns", "_directed", "_labels", "_order", "_device")


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array.setflags(write=False)
    return array


def vertex_names(graph: GraphArrays) -> Any:
    """The vertices' labels, or their ids."""
    return np.arange(graph.n, dtype=np.int32) if graph.labels is None else graph.labels


# ---------------------------------------------------------------- arrays mapped from a file


class Place(NamedTuple):
    """Where an array lies in a file; the file's size and time of change tell whether it is still the same."""

    path: str
    begin: int
    length: int
    dtype: str
    version: tuple[int, int]


def map_array(path: str | os.PathLike[str], begin: int, count: int, dtype: Any) -> npt.NDArray[Any]:
    """A read-only array of a file's bytes from `begin` on. Nothing is read until it is used."""
    found: Any = np.memmap(path, dtype, "r", begin, (count,))
    found.version = _version(path)
    return found  # type: ignore[no-any-return]


def place_of(array: Any) -> Place | None:
    """Where in its file an array lies; None if it is not mapped, or its file was replaced or changed since."""
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
    """Rows to send to another process: mapped arrays become their places."""
    return None if rows is None else Rows(*(part if (place := place_of(part)) is None else place for part in rows))


def from_places(rows: Rows | None) -> Rows | None:
    """Rows as another process sent them, mapped again."""
    return None if rows is None else Rows(*(_mapped_again(part) if isinstance(part, Place) else part for part in rows))


def _mapped_again(place: Place) -> npt.NDArray[Any]:
    path, begin, length, dtype, version = place
    try:
        same = _version(path) == version
    except OSError as error:
        raise GraphError(
            f"the graph is mapped from {path}, and this process cannot open that ({error.strerror}); "
            "put the file where all processes see it, or read it without mmap=True"
        ) from None
    if not same:
        raise GraphError(f"{path} changed after the graph was mapped from it; read it again")
    return map_array(path, begin, length, dtype)


def _mapping(array: Any) -> Any:
    """The whole mapping that an array is a view of, or None."""
    root = None
    while array is not None:
        root = array if isinstance(array, np.memmap) else root
        array = getattr(array, "base", None)
    return root


def _version(path: Any) -> tuple[int, int]:
    about = Path(path).stat()
    return about.st_size, about.st_mtime_ns
