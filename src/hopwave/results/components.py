"""Which vertices belong together: components and communities."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hopwave.algorithms import components as _components
from hopwave.graph import Graph, vertex_names

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, eq=False)
class Components:
    """The component of every vertex: `labels[v]` is its number, counted from that of vertex 0 on by lowest vertex.

    >>> import hopwave as hw
    >>> c = hw.connected_components(hw.Graph.from_edges([0, 2], [1, 3], n=5))
    >>> c.labels.tolist(), c.count, c.sizes.tolist()
    ([0, 0, 1, 1, 2], 3, [2, 2, 1])
    """

    labels: npt.NDArray[np.int32]
    graph: Graph = field(repr=False)

    @property
    def count(self) -> int:
        """How many components there are."""
        return len(self.sizes)

    @cached_property
    def sizes(self) -> npt.NDArray[np.int64]:
        """How many vertices each component has."""
        return np.bincount(self.labels).astype(np.int64) if len(self.labels) else np.zeros(0, np.int64)

    def largest(self) -> npt.NDArray[np.int64]:
        """The ids of the largest component's vertices, ascending; the first one, where several are as large.

        >>> import hopwave as hw
        >>> hw.connected_components(hw.Graph.from_edges([1], [2], n=4)).largest().tolist()
        [1, 2]
        """
        if not self.count:
            return np.zeros(0, np.int64)
        return np.flatnonzero(self.labels == np.argmax(self.sizes)).astype(np.int64)

    def members(self) -> list[npt.NDArray[np.intp]]:
        """The ids of every component's vertices, ascending."""
        return _components.members(self.labels)

    def sets(self) -> list[set[Any]]:
        """The components as sets of labels (or ids), as NetworkX gives them.

        >>> import hopwave as hw
        >>> hw.connected_components(hw.Graph.from_edges(["a"], ["b"])).sets() == [{"a", "b"}]
        True
        """
        names = np.asarray(vertex_names(self.graph))
        return [set(names[some].tolist()) for some in self.members()]

    def __len__(self) -> int:
        return self.count

    def __repr__(self) -> str:
        return f"Components(count={self.count:,}, largest={int(self.sizes.max(initial=0)):,})"


@dataclass(frozen=True, eq=False)
class Communities(Components):
    """The community of every vertex, numbered as components are. `settled`: nobody would move any more.

    >>> import hopwave as hw
    >>> hw.label_propagation(hw.generate.complete(5), seed=1)
    Communities(count=1, largest=5)
    """

    settled: bool = True

    def __repr__(self) -> str:
        state = "" if self.settled else ", not settled"
        return f"Communities(count={self.count:,}, largest={int(self.sizes.max(initial=0)):,}{state})"
