"""Results as pandas and polars tables, and as dictionaries. Vertices are labels if the graph has labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from hopwave.arrays import on_host
from hopwave.checks.keywords import offers
from hopwave.checks.numbers import shown
from hopwave.display.drawing import plot_map
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.graph.arrays import vertex_names
from hopwave.graph.columns import library_columns
from hopwave.graph.naming import by_index
from hopwave.system.optional import optional

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from matplotlib.axes import Axes

SHOWN = 10  # maximum rows of a result that a notebook shows
SOURCES_SHOWN = 5  # maximum sources that a repr names


class Tabled:
    """A result that is a table: one row per vertex, edge, pair or distance."""

    graph: Graph
    _indexed = True  # whether the column that names the rows becomes the index of a DataFrame

    def to_pandas(self) -> pd.DataFrame:
        """A pandas DataFrame. If each row is one vertex (or one distance), the vertices (or distances) are the index.

        Vertices are labels if the graph has labels; a missing vertex is then None. Needs pandas.

        >>> hw.bfs(hw.Graph.from_edges(["ann"], ["bob"]), "ann").to_pandas()["distance"].to_dict()
        {'ann': 0, 'bob': 1}
        >>> hw.nearest_of(hw.generate.path(3), [0]).to_pandas()["distance 1"].tolist()
        [0.0, 1.0, 2.0]
        """
        pandas, names, columns = optional("pandas", "to_pandas"), self._names(), self._columns()
        if len(names) != 1 or not self._indexed:
            return pandas.DataFrame({**names, **columns})
        [(name, rows)] = names.items()
        index = pandas.Index(rows, name=name, tupleize_cols=False)  # a label may be a tuple
        return pandas.DataFrame(columns, index=index)

    def to_polars(self) -> pl.DataFrame:
        """A polars DataFrame: the columns that name the rows, then the columns of `to_pandas`. Needs polars.

        >>> hw.bfs(hw.Graph.from_edges(["ann"], ["bob"]), "ann").to_polars().rows()
        [('ann', 0, 'ann'), ('bob', 1, 'ann')]
        """
        return polars_frame({**self._names(), **self._columns()})

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The table for libraries that read Arrow streams: `pyarrow.table(result)`. Needs pyarrow."""
        return arrow_stream({**self._names(), **self._columns()}, requested_schema)

    def _columns(self) -> dict[str, npt.NDArray[Any]]:
        """Columns of the table, without the names of its rows."""
        raise NotImplementedError

    def _names(self) -> dict[str, npt.NDArray[Any]]:
        """Columns that name the rows."""
        return {"vertex": vertex_names(self.graph)[self._vertices]}

    @property
    def _vertices(self) -> Any:
        """Ids of the vertices in the order of the rows, or a slice."""
        return slice(None)


@offers
class Keyed(Tabled):
    """Numbers by vertex or by edge. They behave like the dictionary of `to_dict`; NumPy reads them as an array."""

    _numbers: ClassVar[str]  # name of the attribute with all numbers

    @property
    def _array(self) -> Any:
        return getattr(self, self._numbers)

    def _place(self, key: Any) -> int:
        """Position of the number of a vertex or an edge; raises a GraphError if it has none."""
        return self.graph.index(key)

    def to_dict(self) -> dict[Any, Any]:
        """The number of each vertex, by label or id, in NetworkX's form."""
        return dict(zip(self._names()["vertex"].tolist(), self._array.tolist(), strict=True))

    def __getitem__(self, key: Any) -> Any:
        """The number of a vertex (a label or id), or of an edge (u, v)."""
        return self._array[self._place(key)].item()

    def __contains__(self, key: Any) -> bool:
        try:
            self._place(key)
        except GraphError:
            return False
        return True

    def __iter__(self) -> Iterator[Any]:
        """The vertices (or edges) that have a number, in the order of `to_dict`."""
        return iter(self.to_dict())

    def keys(self) -> Any:
        """The vertices (or edges) that have a number."""
        return self.to_dict().keys()

    def values(self) -> Any:
        """The numbers."""
        return self.to_dict().values()

    def items(self) -> Any:
        """Pairs of a vertex (or edge) and its number."""
        return self.to_dict().items()

    def get(self, key: Any, default: Any = None) -> Any:
        """The number of a vertex (or edge), or `default` if it has none.

        >>> scores = hw.closeness_centrality(hw.Graph.from_edges(["ann", "bob"], ["bob", "cyd"]))
        >>> scores["bob"], scores.get("zoe"), max(scores, key=scores.get)
        (1.0, None, 'bob')
        """
        try:
            return self[key]
        except GraphError:
            return default

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(on_host(self._array), dtype, copy=copy)

    def __dlpack__(self, **options: Any) -> Any:
        """The numbers for PyTorch, JAX or CuPy without a copy: `torch.from_dlpack(result)`."""
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


@offers
class Mapped:
    """A result that `plot` draws as a map; the docstring of each subclass describes the colours."""

    graph: Graph

    def plot(self, ax: Axes | None = None, *, xy: Any) -> Axes:
        """Draw a map: the edges of the graph in grey, with the result on top. Needs matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; default: those of a new figure.
        xy : array of vertices × 2, mapping or DataFrame
            Coordinates of all vertices in vertex order, or (x, y) by vertex: a mapping, or a pandas DataFrame of two
            columns indexed by vertex. Vertices of the result need coordinates; grey edges without them are omitted.

        >>> ax = hw.isochrone(hw.generate.cycle(4), 0, 1.5).plot(xy=[(0, 0), (1, 0), (1, 1), (0, 1)])
        """
        return draw_map(self.graph, xy, ax, *self._on_map())

    def _on_map(self) -> tuple[Any, ...]:
        """(title of the colours, ids of the dots or of the endpoints of lines, their numbers, drawn share of lines)."""
        raise NotImplementedError


def draw_map(graph: Graph, xy: Any, ax: Axes | None, title: str, ids: Any, numbers: Any, share: Any = 1.0) -> Axes:
    """A map with dots at vertices (ids: k) or lines between vertices (ids: k × 2); `share`: drawn part of lines."""
    known = np.isfinite(numbers)
    ids, numbers, places = np.asarray(ids)[known], np.asarray(numbers)[known], _places(graph, xy)
    for v in np.unique(ids[~np.isfinite(places[ids]).all(-1)]).tolist():
        raise GraphError(f"xy has no coordinates for {shown(graph.label(v))}, which is on the map; pass its (x, y)")
    marks, edges = places[ids], places[np.stack(graph.to_edges(), -1)]
    if ids.ndim == 2:
        marks[:, 1] = marks[:, 0] + np.broadcast_to(share, known.shape)[known, None] * (marks[:, 1] - marks[:, 0])
    return plot_map(ax, edges[np.isfinite(edges).all((1, 2))], marks, numbers, title)


def _places(graph: Graph, xy: Any) -> npt.NDArray[np.float64]:
    """The coordinates of all vertices; NaN for vertices that a mapping does not contain."""
    remedy = f"pass {graph.n} × 2 numbers, or (x, y) by vertex: a mapping, or a table indexed by vertex (set_index)"
    xy = by_index(graph, xy, "xy")
    if isinstance(xy, Mapping):
        given = {graph.index(vertex): place for vertex, place in xy.items()}
        xy = [given.get(v, (np.nan, np.nan)) for v in range(graph.n)]
    try:
        places: npt.NDArray[np.float64] = np.asarray(xy, np.float64)
    except (TypeError, ValueError):
        raise GraphError(f"xy={shown(xy)} is not numbers only; {remedy}") from None
    if places.shape != (graph.n, 2):
        raise GraphError(f"xy has shape {places.shape}; {remedy}")
    return places


def surely(interval: str | None, risk: float | None, together: str = "") -> str:
    """The confidence of an interval in words: "all simultaneously 90%, guaranteed", or "about 95%, normal"."""
    share = f"{100 * (1 - (risk or 0.0)):.4g}%"
    return f"about {share}, normal" if interval == "normal" else f"{together} {share}, guaranteed".strip()


def arrow_stream(columns: Mapping[str, Any], schema: Any) -> Any:
    """A capsule with an Arrow stream of these columns; numbers are not copied."""
    arrow = optional("pyarrow", "an Arrow stream")
    return arrow.table(library_columns(columns, arrow.array, "to_pylist")).__arrow_c_stream__(schema)


def polars_frame(columns: Mapping[str, Any]) -> pl.DataFrame:
    """A polars DataFrame of these columns."""
    polars = optional("polars", "to_polars")
    made: pl.DataFrame = polars.DataFrame(library_columns(columns, polars.Series, "to_list"))
    return made


def named(graph: Graph, ids: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The labels of vertices, None for an id of −1. Without labels, the ids themselves."""
    if graph.labels is None:
        return ids
    found: npt.NDArray[Any] = graph.labels[ids].astype(object)
    found[ids < 0] = None
    return found


def first_names(graph: Graph, ids: tuple[int, ...]) -> str:
    """The names of vertices in one line; only the first few if there are many."""
    names = ", ".join(str(graph.label(v)) for v in ids[:SOURCES_SHOWN])
    return names if len(ids) <= SOURCES_SHOWN else f"{names}, … ({len(ids):,} in total)"
