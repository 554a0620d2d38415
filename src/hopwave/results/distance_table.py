"""A table of distances: rows of sources, columns of targets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hopwave.arrays import on_host
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.graph.arrays import vertex_names
from hopwave.planning.jobs import Integers
from hopwave.results.tables import Tabled, first_names
from hopwave.system.optional import optional

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


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
        pandas = optional("pandas", "to_pandas")
        if self.is_sparse:
            long: pd.DataFrame = pandas.DataFrame({**self._names(), **self._columns()})
            return long
        names = np.asarray(vertex_names(self.graph))
        rows, columns = (
            pandas.Index(names[ids], name=what, tupleize_cols=False)
            for ids, what in ((self.sources, "source"), (self.targets, "target"))
        )
        wide: pd.DataFrame = pandas.DataFrame(on_host(self.values), rows, columns)
        return wide

    def to_polars(self) -> pl.DataFrame:
        """A polars DataFrame with one row per pair: source, target and distance, also where there is no path.

        A sparse table has the pairs that are connected within the limit alone.

        >>> hw.distance_table(hw.generate.path(3), [0], [1, 2]).to_polars().rows()
        [(0, 1, 1), (0, 2, 2)]
        """
        return super().to_polars()

    def _names(self) -> dict[str, npt.NDArray[Any]]:
        pairs = self.values.tocoo() if self.is_sparse else None
        rows, columns = np.indices(self.shape).reshape(2, -1) if pairs is None else (pairs.row, pairs.col)
        names = np.asarray(vertex_names(self.graph))
        return {"source": names[self.sources[rows]], "target": names[self.targets[columns]]}

    def _columns(self) -> dict[str, npt.NDArray[Any]]:
        return {"distance": self.values.tocoo().data if self.is_sparse else on_host(self.values).ravel()}
