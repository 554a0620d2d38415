"""What a breadth-first search comes back with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hopwave.arrays import DeferredArray, ScaledCounts, on_host
from hopwave.errors import GraphError
from hopwave.graph import Graph, vertex_names
from hopwave.plan import PlanUsed
from hopwave.trace import Trace

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class BFSResult:
    """The answer of a search.

    >>> import hopwave as hw
    >>> r = hw.bfs(hw.generate.path(4), 1)
    >>> r.distances.tolist(), r.predecessors.tolist(), r.depth, r.reached
    ([1, 0, 1, 2], [1, 1, 1, 2], 2, 4)
    """

    distances: npt.NDArray[np.int32]
    predecessors: npt.NDArray[np.int32] | None
    path_counts: npt.NDArray[np.float64] | ScaledCounts | None
    depth: int
    reached: int
    sources: tuple[int, ...]
    plan: PlanUsed
    engine: str
    trace: Trace | None
    graph: Graph = field(repr=False, compare=False)

    def __getattribute__(self, name: str) -> Any:
        value = object.__getattribute__(self, name)
        if isinstance(value, DeferredArray):
            value = value.fetch()
            object.__setattr__(self, name, value)
        return value

    def path_to(self, vertex: Any) -> list[Any]:
        """One shortest path from a source to the vertex, by label or id; needs predecessors.

        >>> import hopwave as hw
        >>> hw.bfs(hw.generate.path(4), 0).path_to(3)
        [0, 1, 2, 3]
        """
        if self.predecessors is None:
            raise GraphError("this search kept no predecessors; call bfs(..., predecessors=True)")
        v = self.graph.index(vertex)
        if self.distances[v] < 0:
            raise GraphError(
                f"{vertex!r} was not reached by this search, so it has no path; try another source or limit"
            )
        path = [v]
        while self.distances[v] > 0:
            v = int(self.predecessors[v])
            path.append(v)
        return [self._name(v) for v in reversed(path)]

    def to_dict(self) -> dict[Any, int]:
        """Distance by vertex (label or id), reached vertices alone, as NetworkX gives it.

        >>> import hopwave as hw
        >>> hw.bfs(hw.Graph.from_edges(["a"], ["b"]), "a").to_dict()
        {'a': 0, 'b': 1}
        """
        distances = on_host(self.distances)
        reached = np.flatnonzero(distances >= 0).tolist()
        return dict(zip(map(self._name, reached), distances[reached].tolist(), strict=True))

    def to_pandas(self) -> pd.DataFrame:
        """One row a vertex: distance, and predecessor and path count where they were asked for."""
        import pandas as pd

        columns: dict[str, Any] = {"distance": on_host(self.distances)}
        if self.predecessors is not None:
            columns["predecessor"] = on_host(self.predecessors)
        if isinstance(self.path_counts, ScaledCounts):
            columns["path_count_log2"] = self.path_counts.log2()
        elif self.path_counts is not None:
            columns["path_count"] = on_host(self.path_counts)
        return pd.DataFrame(columns, index=pd.Index(vertex_names(self.graph), name="vertex"))

    def _name(self, vertex: int) -> Any:
        return self.graph.label(vertex)

    def __repr__(self) -> str:
        return f"BFSResult(reached={self.reached:,}, depth={self.depth}, plan={self.plan.name}, engine={self.engine})"
