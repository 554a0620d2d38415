"""Shortest paths along arcs with weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hopwave.errors import GraphError
from hopwave.graph import Graph, vertex_names
from hopwave.matrix import Matrix
from hopwave.rows import kept, row_of_each

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class ShortestPaths:
    """The length of a shortest path from the source (of several, the nearest) to every vertex; infinite where none is.

    >>> import hopwave as hw
    >>> r = hw.sssp(hw.generate.path(3), 0, weights=[1.0, 1.0, 4.0, 4.0])
    >>> r.distances.tolist(), r.predecessors.tolist(), r.reached
    ([0.0, 1.0, 5.0], [0, 0, 1], 3)
    """

    distances: npt.NDArray[np.float64]
    sources: tuple[int, ...]
    method: str
    graph: Graph = field(repr=False)
    matrix: Matrix = field(repr=False)

    @property
    def reached(self) -> int:
        """How many vertices have a path from a source, the sources among them."""
        return int(np.count_nonzero(self._has_path))

    @cached_property
    def _has_path(self) -> npt.NDArray[np.bool_]:
        found = np.isfinite(self.distances)
        found[list(self.sources)] = True
        return found

    @cached_property
    def predecessors(self) -> npt.NDArray[np.int32]:
        """The vertex before each on a shortest path, of as few arcs as any; the source's own is itself, −1 for none.

        An arc u → v is on a shortest path where d(u) plus its length is d(v): a search over these arcs alone.
        """
        from hopwave.api.search import bfs

        part = self.matrix.to("cpu").rows
        d, length = self.distances, 1 if part.values is None else part.values
        tight = kept(part, d[row_of_each(part, np)] + length == d[part.indices], np)
        on_paths = Graph.from_csr(tight.indptr, tight.indices, directed=True, check=False)
        found = bfs(on_paths, self.sources).predecessors
        assert found is not None
        return np.where(self._has_path, found, np.int32(-1))

    def path_to(self, vertex: Any) -> list[Any]:
        """One shortest path from a source to the vertex, by label or id.

        >>> import hopwave as hw
        >>> hw.sssp(hw.generate.path(4), 0).path_to(2)
        [0, 1, 2]
        """
        v = self.graph.index(vertex)
        if not self._has_path[v]:
            raise GraphError(f"{vertex!r} was not reached, so it has no path; try another source")
        path = [v]
        while v not in self.sources:
            v = int(self.predecessors[v])
            path.append(v)
        return [self.graph.label(v) for v in reversed(path)]

    def to_dict(self) -> dict[Any, float]:
        """Distance by vertex (label or id), reached vertices alone, as NetworkX gives it."""
        reached = np.flatnonzero(self._has_path)
        names = np.asarray(vertex_names(self.graph))[reached].tolist()
        return dict(zip(names, self.distances[reached].tolist(), strict=True))

    def to_pandas(self) -> pd.DataFrame:
        """One row a vertex: its distance and the vertex before it."""
        import pandas as pd

        columns = {"distance": self.distances, "predecessor": self.predecessors}
        return pd.DataFrame(columns, index=pd.Index(vertex_names(self.graph), name="vertex"))

    def __repr__(self) -> str:
        return f"ShortestPaths(reached={self.reached:,}, method={self.method})"
