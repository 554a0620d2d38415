"""Components, communities and biconnected components of a graph."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.algorithms import components as _components
from hopwave.display import html
from hopwave.graph import Graph
from hopwave.graph.csr import arc_tails
from hopwave.results.tables import SHOWN, Tabled


class Parts(Tabled):
    """Base class of components, communities and blocks: `sizes`, `members()` and a graph."""

    sizes: Any
    _kind = "component"

    def _positions(self) -> list[Any]:
        """The ids of the vertices of each component, ascending."""
        raise NotImplementedError

    @property
    def count(self) -> int:
        """The number of components."""
        return len(self.sizes)

    def members(self) -> list[npt.NDArray[Any]]:
        """The vertices of each component, as labels or ids, in vertex order.

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
        """Iterate over `sets()`."""
        return iter(self.sets())


@dataclass(frozen=True, eq=False, repr=False)
class Components(Parts):
    """The components of a graph, numbered in the order of their lowest vertices.

    Attributes
    ----------
    labels : array of int32
        Component number of each vertex.
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

    @cached_property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Number of vertices of each component."""
        return np.bincount(self.labels).astype(np.int64)

    def largest(self) -> npt.NDArray[Any]:
        """The vertices of the largest component (the first, if tied), as labels or ids, in vertex order.

        >>> D = hw.Graph.from_edges(["a", "b", "c"], ["b", "c", "b"], directed=True)
        >>> D.subgraph(hw.strongly_connected_components(D).largest())
        Graph(2 vertices, 2 edges, directed, labelled)
        """
        most = int(self.sizes.argmax()) if self.count else 0
        return self._named(np.flatnonzero(self.labels == most).astype(np.int64))

    def _positions(self) -> list[npt.NDArray[np.intp]]:
        return _components.members(self.labels)

    def _columns(self) -> dict[str, Any]:
        return {self._kind: self.labels}


@dataclass(frozen=True, eq=False)
class Communities(Components):
    """The communities of a graph, numbered like components.

    `settled` is True if the algorithm ended because no vertex would change its community.

    Examples
    --------
    >>> hw.label_propagation(hw.generate.complete(5), seed=1)
    Communities(count=1, largest=5)
    """

    settled: bool = True

    @cached_property
    def modularity(self) -> float:
        """Modularity of the communities, as `hw.modularity` without weights.

        >>> two = hw.Graph.from_edges([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3])
        >>> round(hw.label_propagation(two, seed=1).modularity, 4)
        0.3571
        """
        return _components.modularity(self.graph, None, self.labels)

    _kind = "community"

    def __repr__(self) -> str:
        return super().__repr__() if self.settled else f"{super().__repr__()[:-1]}, not settled)"


@dataclass(frozen=True, eq=False, repr=False)
class Blocks(Parts):
    """The biconnected components of a graph: two edges are in one of them if a cycle contains both.

    An edge belongs to one component. A vertex belongs to several if it is an articulation point, and to none if it is
    isolated. The *head* of a component is its vertex nearest to the lowest vertex of the connected component.
    Components are numbered in the order of their lowest vertices other than the head.

    Examples
    --------
    >>> found = hw.biconnected_components(hw.Graph.from_edges([(0, 1), (1, 2), (0, 2), (2, 3)]))
    >>> found, found.articulation_points.tolist(), found.bridges.tolist()
    (Blocks(count=2, largest=3), [2], [[2, 3]])
    >>> found.sets() == [{0, 1, 2}, {2, 3}]
    True
    """

    label: npt.NDArray[np.int32] = field(repr=False)  # for each vertex, the block that contains it other than as head
    head: npt.NDArray[np.int32] = field(repr=False)  # head of each block
    graph: Graph = field(repr=False)

    @cached_property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Number of vertices of each component."""
        return np.bincount(self.label + 1, minlength=len(self.head) + 1)[1:].astype(np.int64) + 1

    @cached_property
    def arc_labels(self) -> npt.NDArray[np.int32]:
        """Component number of each stored arc, in the order of `graph.indices`; −1 for self-loops.

        >>> hw.biconnected_components(hw.generate.path(3)).arc_labels.tolist()
        [0, 0, 1, 1]
        """
        tail, end = arc_tails(self.graph), self.graph.indices
        if not self.count:
            return np.full(len(end), -1, np.int32)
        # Both endpoints have the label of the arc's block, unless one is its head, with another label or none (−1).
        outer = self.label[tail]
        found = np.where((outer >= 0) & (self.head[outer] == end), outer, self.label[end])
        return np.where(tail == end, -1, found).astype(np.int32)

    @cached_property
    def articulation_points(self) -> npt.NDArray[np.int64]:
        """Ids of the articulation points, ascending. These vertices are in more than one component."""
        shares = np.bincount(self.head, minlength=self.graph.n) + (self.label >= 0)
        return np.flatnonzero(shares > 1).astype(np.int64)

    @cached_property
    def bridges(self) -> npt.NDArray[np.int64]:
        """Ids of both endpoints of each bridge (an edge on no cycle), in two columns, the lower endpoint first."""
        alone = np.flatnonzero((self.label >= 0) & (self.sizes == 2)[self.label]) if self.count else np.zeros(0, int)
        ends = np.sort(np.stack([self.head[self.label[alone]], alone], axis=1), axis=1).astype(np.int64)
        ends = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
        if self.graph.has_parallel_arcs:  # parallel edges form a cycle
            arcs = arc_tails(self.graph).astype(np.int64) * self.graph.n + self.graph.indices
            pairs, times = np.unique(arcs, return_counts=True)
            ends = ends[~np.isin(ends[:, 0] * self.graph.n + ends[:, 1], pairs[times > 1])]
        return ends

    def _positions(self) -> list[npt.NDArray[np.int64]]:
        inside = np.flatnonzero(self.label >= 0)
        vertex = np.concatenate([inside, self.head])
        block = np.concatenate([self.label[inside], np.arange(self.count)])
        order = np.lexsort((vertex, block))
        return np.split(vertex[order].astype(np.int64), np.cumsum(self.sizes)[:-1]) if self.count else []

    _indexed = False  # a vertex may be in several components

    def _columns(self) -> dict[str, npt.NDArray[Any]]:
        return {"component": np.repeat(np.arange(self.count), self.sizes)}

    @property
    def _vertices(self) -> npt.NDArray[np.int64]:
        return np.concatenate([np.zeros(0, np.int64), *self._positions()])
