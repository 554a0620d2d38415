"""Components and communities: the number of the set that every vertex belongs to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hopwave.algorithms import components as _components
from hopwave.display import html
from hopwave.graph import Graph
from hopwave.results.tables import SHOWN, Tabled, by_vertex

if TYPE_CHECKING:
    import pandas as pd


class Parts(ABC):
    """What components, communities and blocks have in common: `sizes`, `members()` and a graph."""

    graph: Graph
    _kind = "component"

    @property
    @abstractmethod
    def sizes(self) -> npt.NDArray[np.int64]:
        """How many vertices each of them has."""

    @abstractmethod
    def _positions(self) -> list[Any]:
        """The vertices of each of them by their places in arrays, ascending."""

    def members(self) -> list[npt.NDArray[Any]]:
        """The vertices of each of them, as labels or ids, in the order of the graph.

        >>> [some.tolist() for some in hw.connected_components(hw.Graph.from_edges(["a"], ["b"])).members()]
        [['a', 'b']]
        """
        return [self._named(some) for some in self._positions()]

    def _named(self, positions: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return positions if self.graph.labels is None else self.graph.labels[positions]

    def sets(self) -> list[set[Any]]:
        """The components as sets of labels or ids, as NetworkX returns them.

        >>> parts = hw.connected_components(hw.Graph.from_edges(["a"], ["b"]))
        >>> parts.sets() == list(parts) == [{"a", "b"}]
        True
        """
        return [set(some.tolist()) for some in self.members()]

    def _repr_html_(self) -> str:
        largest = np.argsort(-self.sizes, kind="stable")[:SHOWN].tolist()
        rows = [(number, f"{self.sizes[number]:,}") for number in largest]
        return html.table(f"{self!r}, largest first", rows, (self._kind, "vertices"))

    def __len__(self) -> int:
        return len(self.sizes)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(count={len(self):,}, largest={int(self.sizes.max(initial=0)):,})"

    def __iter__(self) -> Iterator[set[Any]]:
        """Those of `sets()`."""
        return iter(self.sets())


@dataclass(frozen=True, eq=False, repr=False)
class Components(Parts, Tabled):
    """The components of a graph. They are numbered in the order of their lowest vertices.

    Attributes
    ----------
    labels : array of int32
        The number of the component of every vertex.
    count : int
        The number of components.
    sizes : array of int64
        How many vertices each component has.
    graph : Graph
        The graph.

    Examples
    --------
    >>> c = hw.connected_components(hw.Graph.from_edges([0, 2], [1, 3], n=5))
    >>> c.labels.tolist(), c.count, c.sizes.tolist()
    ([0, 0, 1, 1, 2], 3, [2, 2, 1])
    """

    labels: npt.NDArray[np.int32]
    graph: Graph = field(repr=False)

    @property
    def count(self) -> int:
        """The number of components."""
        return len(self.sizes)

    @cached_property
    def sizes(self) -> npt.NDArray[np.int64]:
        """How many vertices each component has."""
        return np.bincount(self.labels).astype(np.int64) if len(self.labels) else np.zeros(0, np.int64)

    def largest(self) -> npt.NDArray[Any]:
        """The vertices of the largest component, as labels or ids, in the order of the graph; of several, the first.

        >>> D = hw.Graph.from_edges(["a", "b", "c"], ["b", "c", "b"], directed=True)
        >>> D.subgraph(hw.strongly_connected_components(D).largest())
        Graph(2 vertices, 2 edges, directed, labelled)
        """
        most = int(self.sizes.argmax()) if self.count else 0
        return self._named(np.flatnonzero(self.labels == most).astype(np.int64))

    def _positions(self) -> list[npt.NDArray[np.intp]]:
        return _components.members(self.labels)

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with one row per vertex: the number of its component, or of its community.

        >>> hw.connected_components(hw.Graph.from_edges(["a"], ["b"])).to_pandas()["component"].to_dict()
        {'a': 0, 'b': 0}
        """
        return by_vertex(self.graph, self._columns())

    def _columns(self) -> dict[str, Any]:
        return {self._kind: self.labels}


@dataclass(frozen=True, eq=False)
class Communities(Components):
    """The communities of a graph, numbered like components.

    `settled` says whether the algorithm ended because no vertex would change its community any more.

    Examples
    --------
    >>> hw.label_propagation(hw.generate.complete(5), seed=1)
    Communities(count=1, largest=5)
    """

    settled: bool = True

    @cached_property
    def modularity(self) -> float:
        """The share of edges within communities, less what chance would put there (`hw.modularity` without weights).

        >>> two = hw.Graph.from_edges([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3])
        >>> round(hw.label_propagation(two, seed=1).modularity, 4)
        0.3571
        """
        return _components.modularity(self.graph, None, self.labels)

    _kind = "community"

    def __repr__(self) -> str:
        return super().__repr__() if self.settled else f"{super().__repr__()[:-1]}, not settled)"
