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
from hopwave.results.tables import first_names
from hopwave.system.optional import optional

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class DistanceTable:
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
        names = np.asarray(vertex_names(self.graph))
        sources, targets = names[self.sources], names[self.targets]
        if self.is_sparse:
            pairs = self.values.tocoo()
            columns = {"source": sources[pairs.row], "target": targets[pairs.col], "distance": pairs.data}
            long: pd.DataFrame = pandas.DataFrame(columns)
            return long
        index = pandas.Index(sources, name="source", tupleize_cols=False)
        wide: pd.DataFrame = pandas.DataFrame(
            on_host(self.values), index, pandas.Index(targets, name="target", tupleize_cols=False)
        )
        return wide
