"""Tables of distances, sums within limits, the nearest facilities, and isochrones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hopwave.arrays import ignoring, on_host
from hopwave.checks.keywords import offers
from hopwave.checks.numbers import shown
from hopwave.display.drawing import plot_map
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.graph.arrays import vertex_names
from hopwave.graph.naming import by_index
from hopwave.planning.jobs import Floats, Integers
from hopwave.results.tables import Tabled, first_names, named, polars_frame
from hopwave.system.optional import optional

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class DistanceTable(Tabled):
    """Distances from each source to each target. It is an array to NumPy, and reads like one by labels or ids.

    >>> table = hw.distance_table(hw.Graph.from_edges(["a", "b"], ["b", "c"], weights=[1.5, 2.0]), ["a"], ["c", "b"])
    >>> table["a", "c"], table.values.tolist()
    (3.5, [[3.5, 1.5]])
    """

    values: Any  # sources × targets: an array, or a SciPy array of compressed rows
    sources: Integers  # ids
    targets: Integers
    graph: Graph = field(repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        """Sources and targets."""
        return len(self.sources), len(self.targets)

    @property
    def is_sparse(self) -> bool:
        """Whether only pairs that are connected within the limit are stored."""
        return hasattr(self.values, "tocoo")

    def __getitem__(self, pair: tuple[Any, Any]) -> Any:
        """The distance of a pair (source, target), by labels or ids; infinite, or −1 hops, if there is no path."""
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise GraphError(f"{pair!r} is not a pair; give table[source, target], or a whole row by to_pandas().loc")
        places = []
        for vertices, vertex, what in zip((self.sources, self.targets), pair, ("source", "target"), strict=True):
            found = np.flatnonzero(vertices == self.graph.index(vertex))
            if not len(found):
                raise GraphError(f"{vertex!r} is no {what} of this table; give one of its {what}s")
            places.append(int(found[0]))
        if not self.is_sparse:
            return self.values[places[0], places[1]].item()
        row = slice(*self.values.indptr[places[0] : places[0] + 2])
        there = self.values.data[row][self.values.indices[row] == places[1]]
        return there[0].item() if len(there) else (np.inf if self.values.dtype.kind == "f" else -1)

    def __repr__(self) -> str:
        ends = [
            f"{len(ids):,} {what}{'' if len(ids) == 1 else 's'} ({first_names(self.graph, tuple(ids.tolist()))})"
            for ids, what in ((self.sources, "source"), (self.targets, "target"))
        ]
        return f"DistanceTable({' × '.join(ends)}{', sparse' if self.is_sparse else ''})"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if self.is_sparse:
            raise GraphError("a sparse table is no array; call distance_table without sparse=True, or use .values")
        return np.array(on_host(self.values), dtype, copy=copy)

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with sources as index and targets as columns; a sparse table gives one row per pair.

        >>> hw.distance_table(hw.generate.path(3), [0], [1, 2]).to_pandas().loc[0].tolist()
        [1, 2]
        """
        if self.is_sparse:
            return super().to_pandas()
        pandas, names = optional("pandas", "to_pandas"), vertex_names(self.graph)
        rows, columns = (
            pandas.Index(names[ids], name=what, tupleize_cols=False)
            for ids, what in ((self.sources, "source"), (self.targets, "target"))
        )
        wide: pd.DataFrame = pandas.DataFrame(on_host(self.values), rows, columns)
        return wide

    def _names(self) -> dict[str, npt.NDArray[Any]]:
        pairs = self.values.tocoo() if self.is_sparse else None
        rows, columns = np.indices(self.shape).reshape(2, -1) if pairs is None else (pairs.row, pairs.col)
        names = vertex_names(self.graph)
        return {"source": names[self.sources[rows]], "target": names[self.targets[columns]]}

    def _columns(self) -> dict[str, npt.NDArray[Any]]:
        return {"distance": self.values.tocoo().data if self.is_sparse else on_host(self.values).ravel()}


def titles_of(names: tuple[Any, ...], limits: tuple[float, ...]) -> list[str]:
    """Titles of the sums of each column within each limit; two equal ones are an error, as is that of the vertices."""
    within = [f" within {str(limit).removesuffix('.0')}" if limit < np.inf else "" for limit in limits]
    titles = [f"{name}{part}" for name in names for part in within]
    for place, title in enumerate(titles):
        if title in ("vertex", *titles[:place]):
            raise GraphError(f"two columns of the result would be called {title!r}; rename a column of values=")
    return titles


@offers
@dataclass(frozen=True, eq=False)
class Accessibility(Tabled):
    """Sums, counts and means of values within each limit: arrays of sources × columns × limits.

    >>> hw.accessibility(hw.generate.path(4), [1, 2, 3, 4], limit=1).means[:, 0, 0].tolist()
    [1.5, 2.0, 3.0, 3.5]
    """

    sums: Floats  # Σ value · f(distance)
    counts: Floats  # how many vertices with a value there are; with a decay, Σ f(distance) over them
    limits: tuple[float, ...]
    names: tuple[Any, ...]  # of the columns of values
    sources: Integers = field(repr=False)  # ids
    graph: Graph = field(repr=False)

    @property
    @ignoring("invalid", "divide")
    def means(self) -> Floats:
        """Sums by counts; not a number where no vertex with a value is within the limit."""
        return self.sums / self.counts

    def _columns(self) -> dict[str, npt.NDArray[Any]]:
        titles = titles_of(self.names, self.limits)
        return dict(zip(titles, self.sums.reshape(len(self.sums), len(titles)).T, strict=True))

    @property
    def _vertices(self) -> Integers:
        return self.sources

    def __repr__(self) -> str:
        return f"Accessibility({len(self.sources):,} sources; {', '.join(self._columns())})"

    def plot(self, ax: Axes | None = None, *, xy: Any, column: int = 0, limit: int = -1) -> Axes:
        """Draw a map: one dot per source at its coordinates, coloured by its sum. Needs matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        xy : array of vertices × 2, mapping or DataFrame
            The coordinates of all vertices in vertex order, or (x, y) by vertex, at least of the sources: in a mapping,
            or in two columns of pandas whose index names the vertices.
        column, limit : int, optional
            The number of the column of values, and of the limit; by default the first, and the last.
        """
        places = self._places(xy)
        titles = np.array(list(self._columns())).reshape(len(self.names), len(self.limits))
        return plot_map(places[self.sources], self.sums[:, column, limit], str(titles[column, limit]), ax)

    def _places(self, xy: Any) -> Floats:
        """The coordinates of the vertices, from an array or a mapping, which may leave out all but the sources."""
        remedy = f"give two numbers for each of the {self.graph.n} vertices, or a mapping from vertices to (x, y)"
        xy = by_index(self.graph, xy, "xy")
        if isinstance(xy, Mapping):
            given = {self.graph.index(vertex): place for vertex, place in xy.items()}
            for v in self.sources.tolist():
                if v not in given:
                    lost = f"{self.graph.label(v)!r}, which is a source"
                    raise GraphError(f"xy has no place for {lost}; give every source its (x, y)")
            xy = [given.get(v, (0.0, 0.0)) for v in range(self.graph.n)]
        try:
            places: Floats = np.asarray(xy, np.float64)
        except (TypeError, ValueError):
            raise GraphError(f"xy={shown(xy)} is not an array of numbers; {remedy}") from None
        if places.shape != (self.graph.n, 2):
            raise GraphError(f"xy has shape {places.shape}; {remedy}")
        return places


@dataclass(frozen=True, eq=False)
class NearestOf(Tabled):
    """The k nearest facilities of every vertex, nearest first, then lowest id: arrays of vertices × k.

    >>> hw.nearest_of(hw.generate.path(4), [0, 3], k=2).ids.tolist()
    [[0, 3], [0, 3], [3, 0], [3, 0]]
    """

    distances: Floats  # infinite where there are no more
    ids: npt.NDArray[np.int32]  # −1 where there are no more
    graph: Graph = field(repr=False)

    def __repr__(self) -> str:
        n, k = self.ids.shape
        return f"NearestOf({n:,} vertices, the {k:,} nearest of {len(np.unique(self.ids[self.ids >= 0])):,} facilities)"

    @property
    def facilities(self) -> npt.NDArray[Any]:
        """The labels or ids of the facilities; None or −1 where there are no more."""
        return named(self.graph, self.ids)

    def _columns(self) -> dict[str, npt.NDArray[Any]]:
        places = self.facilities
        found: dict[str, npt.NDArray[Any]] = {}
        for i in range(self.ids.shape[1]):
            found |= {f"facility {i + 1}": places[:, i], f"distance {i + 1}": self.distances[:, i]}
        return found


class ReachedArcs(NamedTuple):
    """Arcs by labels or ids, and how much of each is reached from its tail: more than 0, at most 1."""

    tail: npt.NDArray[Any]
    head: npt.NDArray[Any]
    fraction: Floats


@offers
@dataclass(frozen=True, eq=False)
class Isochrone:
    """What a source reaches within each limit: vertices, and arcs with the fraction that is reached.

    >>> hw.isochrone(hw.generate.path(4), 0, [1, 2]).vertices(1).tolist()
    [0, 1]
    """

    distances: Floats  # infinite beyond the greatest limit
    limits: tuple[float, ...]
    lengths: Floats = field(repr=False)  # of the arcs, in the order of `graph.indices`
    graph: Graph = field(repr=False)

    def __repr__(self) -> str:
        within = ", ".join(f"{np.count_nonzero(self.distances <= limit):,} within {limit:g}" for limit in self.limits)
        return f"Isochrone(of {self.graph.n:,} vertices, {within})"

    def vertices(self, limit: float | None = None) -> npt.NDArray[Any]:
        """The labels or ids of the vertices within a limit, by default the greatest; nearest first, then lowest id."""
        within = np.flatnonzero(self.distances <= self._known(limit))
        order = within[np.lexsort((within, self.distances[within]))]
        found: npt.NDArray[Any] = vertex_names(self.graph)[order]
        return found

    @ignoring("invalid", "divide")
    def arcs(self, limit: float | None = None) -> ReachedArcs:
        """The arcs that a limit, by default the greatest, reaches from their tails, in the order of `graph.indices`.

        An arc of length w from a vertex at distance d is reached up to (limit − d) / w, at most 1. An undirected edge
        is two arcs, and may be reached from both ends; an arc whose tail is at the limit itself is not reached.
        """
        graph, most = self.graph, self._known(limit)
        tail = np.repeat(np.arange(graph.n), np.diff(graph.indptr))
        left = np.where(self.distances[tail] <= most, most - self.distances[tail], 0.0)
        fraction = np.where(left >= self.lengths, 1.0, left / self.lengths)
        fraction[self.distances[tail] > most] = 0.0
        there = np.flatnonzero(fraction > 0)
        names = vertex_names(graph)
        return ReachedArcs(names[tail[there]], names[np.asarray(graph.indices)[there]], fraction[there])

    def to_pandas(self, limit: float | None = None) -> pd.DataFrame:
        """A DataFrame with one row per reached arc: tail, head and fraction."""
        made: pd.DataFrame = optional("pandas", "to_pandas").DataFrame(self.arcs(limit)._asdict())
        return made

    def to_polars(self, limit: float | None = None) -> pl.DataFrame:
        """A polars DataFrame with the columns of `to_pandas`."""
        return polars_frame(self.arcs(limit)._asdict())

    def _known(self, limit: float | None) -> float:
        if limit is None:
            return max(self.limits)
        if limit not in self.limits:
            raise GraphError(f"limit={limit!r} is none of this isochrone's; give one of {list(self.limits)}")
        return limit
