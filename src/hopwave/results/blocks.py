"""Biconnected components: the block of every edge, and what follows from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hopwave.graph import Graph
from hopwave.graph.arrays import arc_tails, vertex_names
from hopwave.results.components import Parts
from hopwave.results.tables import Tabled
from hopwave.system.optional import optional

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Blocks(Parts, Tabled):
    """The biconnected components of a graph: two edges are in one of them if a cycle contains both.

    An edge belongs to one component, a vertex to several if it is an articulation point, and to none if it has no
    edges. Components are numbered in the order of their lowest vertices, the one nearest to the lowest vertex of the
    connected component (the *head*) left out.

    Attributes
    ----------
    count : int
        The number of components.
    sizes : array of int64
        How many vertices each component has, at least two.
    articulation_points : array of int64
        The ids of vertices in more than one component, ascending: without such a vertex, its neighbours fall apart.
    bridges : array of int64, two columns
        The ids of both ends of edges that are on no cycle, each edge once, the lower end first, ascending.
    graph : Graph
        The graph.

    Examples
    --------
    >>> found = hw.biconnected_components(hw.Graph.from_edges([(0, 1), (1, 2), (0, 2), (2, 3)]))
    >>> found, found.articulation_points.tolist(), found.bridges.tolist()
    (Blocks(count=2, largest=3), [2], [[2, 3]])
    >>> found.sets() == [{0, 1, 2}, {2, 3}]
    True
    """

    label: npt.NDArray[np.int32] = field(repr=False)  # of each vertex, the block that it is in and not the head of
    head: npt.NDArray[np.int32] = field(repr=False)  # of each block
    graph: Graph = field(repr=False)

    @property
    def count(self) -> int:
        """The number of components."""
        return len(self.head)

    @cached_property
    def sizes(self) -> npt.NDArray[np.int64]:
        """How many vertices each component has."""
        return np.bincount(self.label + 1, minlength=self.count + 1)[1:].astype(np.int64) + 1

    @cached_property
    def arc_labels(self) -> npt.NDArray[np.int32]:
        """The component of every stored arc, in the order of `graph.indices`; −1 for self-loops.

        >>> hw.biconnected_components(hw.generate.path(3)).arc_labels.tolist()
        [0, 0, 1, 1]
        """
        tail, end = arc_tails(self.graph), self.graph.indices
        if not self.count:
            return np.full(len(end), -1, np.int32)
        # Both ends have the label of the arc's block, or one of them is its head and has another label, or none (−1).
        outer = self.label[tail]
        found = np.where((outer >= 0) & (self.head[outer] == end), outer, self.label[end])
        return np.where(tail == end, -1, found).astype(np.int32)

    @cached_property
    def articulation_points(self) -> npt.NDArray[np.int64]:
        """The ids of vertices in more than one component, ascending."""
        shares = np.bincount(self.head, minlength=self.graph.n) + (self.label >= 0)
        return np.flatnonzero(shares > 1).astype(np.int64)

    @cached_property
    def bridges(self) -> npt.NDArray[np.int64]:
        """The ids of both ends of every edge that is on no cycle."""
        alone = np.flatnonzero((self.label >= 0) & (self.sizes == 2)[self.label]) if self.count else np.zeros(0, int)
        ends = np.sort(np.stack([self.head[self.label[alone]], alone], axis=1), axis=1).astype(np.int64)
        ends = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
        if self.graph.has_parallel_arcs:  # two edges between the same ends make a cycle
            tail, end = arc_tails(self.graph).astype(np.int64), self.graph.indices.astype(np.int64)
            pairs, times = np.unique(tail * self.graph.n + end, return_counts=True)
            several = pairs[times > 1]
            ends = ends[~np.isin(ends[:, 0] * self.graph.n + ends[:, 1], several)]
        return ends

    def _positions(self) -> list[npt.NDArray[np.int64]]:
        inside = np.flatnonzero(self.label >= 0)
        vertex = np.concatenate([inside, self.head])
        block = np.concatenate([self.label[inside], np.arange(self.count)])
        order = np.lexsort((vertex, block))
        return np.split(vertex[order].astype(np.int64), np.cumsum(self.sizes)[:-1]) if self.count else []

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with one row per vertex and component, by component.

        >>> hw.biconnected_components(hw.generate.path(3)).to_pandas()["vertex"].tolist()
        [0, 1, 1, 2]
        """
        frame: pd.DataFrame = optional("pandas", "to_pandas").DataFrame({**self._columns(), **self._names()})
        return frame

    def _columns(self) -> dict[str, npt.NDArray[Any]]:
        return {"component": np.repeat(np.arange(self.count), self.sizes)}

    def _names(self) -> dict[str, npt.NDArray[Any]]:
        vertex = np.concatenate([np.zeros(0, np.int64), *self._positions()])
        return {"vertex": np.asarray(vertex_names(self.graph))[vertex]}
