"""The edges of a graph as columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave import reshape
from hopwave.graph_arrays import GraphArrays, vertex_names
from hopwave.optional import optional


@dataclass(frozen=True, eq=False)
class Edges:
    """The edges of a graph as columns, made when they are first read: `source`, `target` (ids) and `weights`.

    Iterating gives pairs of labels (ids without labels), or triples with the weight.

    >>> import hopwave as hw
    >>> edges = hw.Graph.from_edges([2, 0], [1, 2], weights=[7, 5]).edges()
    >>> edges.source.tolist(), edges.target.tolist(), list(edges)
    ([0, 1], [2, 2], [(0, 2, 5.0), (1, 2, 7.0)])
    """

    graph: GraphArrays

    @cached_property
    def _once(self) -> npt.NDArray[np.bool_] | None:
        """Which stored arcs stand for an edge: all of a directed graph, those with source ≤ target else."""
        return None if self.graph.directed else self._all_sources <= self.graph.indices

    @cached_property
    def _all_sources(self) -> npt.NDArray[np.int32]:
        return reshape.sources(self.graph._rows)

    @cached_property
    def source(self) -> npt.NDArray[np.int32]:
        """The id of each edge's first end."""
        return self._all_sources if self._once is None else self._all_sources[self._once]

    @cached_property
    def target(self) -> npt.NDArray[np.int32]:
        """The id of each edge's second end."""
        return self.graph.indices.copy() if self._once is None else self.graph.indices[self._once]

    @cached_property
    def weights(self) -> npt.NDArray[Any] | None:
        """The weight of each edge, or None."""
        weights = self.graph.weights
        if weights is None:
            return None
        return weights.copy() if self._once is None else weights[self._once]

    def to_pandas(self) -> Any:
        """A DataFrame with the columns source and target (labels where there are any) and weight.

        >>> import hopwave as hw
        >>> hw.Graph.from_edges(["ann"], ["bob"], weights=[3]).edges().to_pandas().columns.tolist()
        ['source', 'target', 'weight']
        """
        pandas = optional("pandas", "to_pandas")
        names = vertex_names(self.graph)
        columns = {"source": names[self.source], "target": names[self.target]}
        return pandas.DataFrame(columns if self.weights is None else columns | {"weight": self.weights})

    def __len__(self) -> int:
        return len(self.source)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        names = vertex_names(self.graph)
        columns = [names[self.source].tolist(), names[self.target].tolist()]
        if self.weights is not None:
            columns.append(self.weights.tolist())
        return iter(zip(*columns, strict=True))

    def __repr__(self) -> str:
        return f"Edges({len(self):,} of {self.graph!r})"
