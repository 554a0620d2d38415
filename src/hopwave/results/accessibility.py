"""Tables of distances, sums within limits, the nearest facilities, and isochrones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hopwave.arrays import ignoring, on_host
from hopwave.checks.keywords import offers
from hopwave.display import html
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.graph.arrays import vertex_names
from hopwave.graph.csr import arc_tails
from hopwave.planning.jobs import Floats, Integers
from hopwave.results.tables import SHOWN, Mapped, Tabled, arrow_stream, draw_map, first_names, named, polars_frame
from hopwave.system.optional import optional

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class DistanceTable(Mapped, Tabled):
    """Distances from each source to each target. NumPy reads it as an array; `table[source, target]` is one distance.

    `plot(xy=)` colours each target by its distance from the nearest source.

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
        """Number of sources and number of targets."""
        return len(self.sources), len(self.targets)

    @property
    def is_sparse(self) -> bool:
        """Whether the table stores only the pairs within the limit."""
        return hasattr(self.values, "tocoo")

    def __getitem__(self, pair: tuple[Any, Any]) -> Any:
        """The distance of a pair (source, target), by labels or ids; infinite, or −1 hops, if there is no path."""
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise GraphError(f"{pair!r} is not a pair; use table[source, target], or to_pandas().loc for a full row")
        places = []
        for vertices, vertex, what in zip((self.sources, self.targets), pair, ("source", "target"), strict=True):
            found = np.flatnonzero(vertices == self.graph.index(vertex))
            if not len(found):
                raise GraphError(f"{vertex!r} is not a {what} of this table; pass one of its {what}s")
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

    def _repr_html_(self) -> str:
        rows, columns = ([self.graph.label(v) for v in ids[:SHOWN].tolist()] for ids in (self.sources, self.targets))
        cells = [(s, *(f"{self[s, t]:g}" for t in columns)) for s in rows]
        return html.table(repr(self), cells, ("from", *map(str, columns)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if self.is_sparse:
            raise GraphError("a sparse table is not an array; call distance_table without sparse=True, or use .values")
        return np.array(on_host(self.values), dtype, copy=copy)

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with sources as index and targets as columns, or with one row per pair for a sparse table.

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
        return pandas.DataFrame(on_host(self.values), rows, columns)

    def _names(self) -> dict[str, npt.NDArray[Any]]:
        pairs = self.values.tocoo() if self.is_sparse else None
        rows, columns = np.indices(self.shape).reshape(2, -1) if pairs is None else (pairs.row, pairs.col)
        names = vertex_names(self.graph)
        return {"source": names[self.sources[rows]], "target": names[self.targets[columns]]}

    def _columns(self) -> dict[str, npt.NDArray[Any]]:
        return {"distance": self.values.tocoo().data if self.is_sparse else on_host(self.values).ravel()}

    def _on_map(self) -> tuple[Any, ...]:
        column = self.values.tocoo().col if self.is_sparse else np.indices(self.shape)[1].ravel()
        distances, nearest = self._columns()["distance"], np.full(self.shape[1], np.inf)
        np.minimum.at(nearest, column, np.where(distances < 0, np.inf, distances))
        return "distance from the nearest source", self.targets, nearest


def titles_of(names: tuple[Any, ...], limits: tuple[float, ...]) -> list[str]:
    """Titles of the sums of each column within each limit. Equal titles, and the title "vertex", raise an error."""
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
    counts: Floats  # number of vertices with a value; with a decay, Σ f(distance) over these vertices
    limits: tuple[float, ...]
    names: tuple[Any, ...]  # names of the columns of values
    sources: Integers = field(repr=False)  # ids
    graph: Graph = field(repr=False)

    @property
    @ignoring("invalid", "divide")
    def means(self) -> Floats:
        """Sums divided by counts; NaN if no vertex with a value is within the limit."""
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
        """Draw a map: the edges of the graph in grey, and one dot per source, coloured by its sum. Needs matplotlib.

        Parameters
        ----------
        ax, xy
            See `Isochrone.plot`.
        column, limit : int, optional
            Positions of the column of values and of the limit; default: the first column and the last limit.
        """
        titles = np.array(list(self._columns())).reshape(len(self.names), len(self.limits))
        sums = self.sums[:, column, limit]
        order = np.argsort(sums, kind="stable")
        return draw_map(self.graph, xy, ax, str(titles[column, limit]), self.sources[order], sums[order])


@dataclass(frozen=True, eq=False)
class NearestOf(Mapped, Tabled):
    """The k nearest facilities of each vertex, nearest first, ties by lowest id: arrays of vertices × k.

    `plot(xy=)` colours each vertex by its distance to the nearest facility.

    >>> hw.nearest_of(hw.generate.path(4), [0, 3], k=2).ids.tolist()
    [[0, 3], [0, 3], [3, 0], [3, 0]]
    """

    distances: Floats  # infinite if fewer than k facilities are within reach
    ids: npt.NDArray[np.int32]  # −1 if fewer than k facilities are within reach
    graph: Graph = field(repr=False)

    def __repr__(self) -> str:
        n, k = self.ids.shape
        return f"NearestOf({n:,} vertices, the {k:,} nearest of {len(np.unique(self.ids[self.ids >= 0])):,} facilities)"

    @property
    def facilities(self) -> npt.NDArray[Any]:
        """Labels or ids of the facilities; None or −1 if fewer than k are within reach."""
        return named(self.graph, self.ids)

    def _columns(self) -> dict[str, npt.NDArray[Any]]:
        places = self.facilities
        found: dict[str, npt.NDArray[Any]] = {}
        for i in range(self.ids.shape[1]):
            found |= {f"facility {i + 1}": places[:, i], f"distance {i + 1}": self.distances[:, i]}
        return found

    def _on_map(self) -> tuple[Any, ...]:
        return "distance to the nearest facility", np.arange(self.graph.n), self.distances[:, 0]


class Routes(Mapped, list[tuple[float, list[Any]]]):
    """The result of `k_shortest_paths`: a list of (length, path). `plot(xy=)` colours each path by its length.

    >>> hw.k_shortest_paths(hw.generate.cycle(5), 0, 2, 2)
    [(2.0, [0, 1, 2]), (3.0, [0, 4, 3, 2])]
    """

    def __init__(self, found: Iterable[tuple[float, list[Any]]], graph: Graph) -> None:
        super().__init__(found)
        self.graph = graph

    def _on_map(self) -> tuple[Any, ...]:
        steps = [(length, *step) for length, path in reversed(self) for step in pairwise(map(self.graph.index, path))]
        lengths, *ends = np.array(steps).reshape(-1, 3).T
        return "length of the path", np.stack(ends, -1).astype(int), lengths


class ReachedArcs(NamedTuple):
    """Arcs by labels or ids, and the fraction of each that is reached from its tail: more than 0, at most 1."""

    tail: npt.NDArray[Any]
    head: npt.NDArray[Any]
    fraction: Floats


@offers
@dataclass(frozen=True, eq=False)
class Isochrone(Mapped):
    """The vertices and arcs that a source reaches within each limit, with the reached fraction of each arc.

    `plot(xy=)` draws the reached part of each arc, in the colour of the smallest limit that reaches it.

    >>> hw.isochrone(hw.generate.path(4), 0, [1, 2]).vertices(1).tolist()
    [0, 1]
    """

    distances: Floats  # infinite beyond the largest limit
    limits: tuple[float, ...]
    lengths: Floats = field(repr=False)  # lengths of the arcs, in the order of `graph.indices`
    graph: Graph = field(repr=False)

    def __repr__(self) -> str:
        within = ", ".join(f"{np.count_nonzero(self.distances <= limit):,} within {limit:g}" for limit in self.limits)
        return f"Isochrone(of {self.graph.n:,} vertices, {within})"

    def vertices(self, limit: float | None = None) -> npt.NDArray[Any]:
        """Labels or ids of the vertices within a limit (default: the largest), nearest first, ties by lowest id."""
        within = np.flatnonzero(self.distances <= self._known(limit))
        order = within[np.lexsort((within, self.distances[within]))]
        return vertex_names(self.graph)[order]  # type: ignore[no-any-return]

    def arcs(self, limit: float | None = None) -> ReachedArcs:
        """The arcs reached within a limit (default: the largest), in the order of `graph.indices`.

        The fraction of an arc of length w from a vertex at distance d is (limit − d) / w, at most 1. An undirected edge
        is two arcs, and may be reached from both endpoints. An arc whose tail is exactly at the limit is not reached.
        """
        names, (ends, fraction) = vertex_names(self.graph), self._reached(self._known(limit))
        return ReachedArcs(names[ends[:, 0]], names[ends[:, 1]], fraction)

    @ignoring("invalid", "divide", "over")
    def _reached(self, most: float) -> tuple[npt.NDArray[Any], Floats]:
        """(ids of tail and head, reached fraction) of each arc that a limit reaches."""
        tail = arc_tails(self.graph)
        left = np.where(self.distances[tail] <= most, most - self.distances[tail], 0.0)
        fraction = np.where(left >= self.lengths, 1.0, left / self.lengths)
        fraction[self.distances[tail] > most] = 0.0
        there = np.flatnonzero(fraction > 0)
        return np.stack([tail[there], np.asarray(self.graph.indices)[there]], -1), fraction[there]

    def _on_map(self) -> tuple[Any, ...]:
        found = [(*self._reached(limit), limit) for limit in sorted(self.limits, reverse=True)]
        ends, fraction, limits = zip(*((*part, np.full(len(part[1]), limit)) for *part, limit in found), strict=True)
        return "within", *map(np.concatenate, (ends, limits, fraction))

    def to_pandas(self, limit: float | None = None) -> pd.DataFrame:
        """A DataFrame with one row per reached arc: tail, head and fraction."""
        return optional("pandas", "to_pandas").DataFrame(self.arcs(limit)._asdict())

    def to_polars(self, limit: float | None = None) -> pl.DataFrame:
        """A polars DataFrame with the columns of `to_pandas`."""
        return polars_frame(self.arcs(limit)._asdict())

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return arrow_stream(self.arcs()._asdict(), requested_schema)

    def _known(self, limit: float | None) -> float:
        if limit is None:
            return max(self.limits)
        if limit not in self.limits:
            raise GraphError(f"limit={limit!r} is not a limit of this isochrone; use one of {list(self.limits)}")
        return limit
