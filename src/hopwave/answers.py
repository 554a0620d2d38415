"""What questions about distances come back with: a score a vertex, an estimate with its error, components, counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hopwave.algorithms import components as _components
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.linalg.matrix import Matrix
from hopwave.linalg.parts import kept, row_of_each
from hopwave.result import on_host, vertex_names

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class VertexScores:
    """One number for each of some vertices, in the order of `vertices` (ids; all of them unless some were chosen).

    `bounds` are half-widths after a sample (k=), else None: each exact score lies within its bound, all of them
    together except with the risk delta=.

    >>> import hopwave as hw
    >>> c = hw.closeness_centrality(hw.generate.star(5))
    >>> c.scores.round(2).tolist(), c.top(1)
    ([1.0, 0.57, 0.57, 0.57, 0.57], [(0, 1.0)])
    """

    name: str
    scores: npt.NDArray[Any]
    vertices: npt.NDArray[np.int64]
    graph: Graph = field(repr=False)
    bounds: npt.NDArray[np.float64] | None = None

    def top(self, k: int = 10) -> list[tuple[Any, Any]]:
        """The k vertices of highest score, by label or id, highest first; ties in vertex order."""
        scores = on_host(self.scores)
        best = np.argsort(-scores, kind="stable")[:k]
        return [(self.graph.label(int(self.vertices[i])), scores[i].item()) for i in best]

    def to_dict(self) -> dict[Any, Any]:
        """Score by vertex (label or id), as NetworkX gives it."""
        return dict(zip(self._names().tolist(), self.scores.tolist(), strict=True))

    def to_pandas(self) -> pd.DataFrame:
        """One row a vertex: its score, and the bound where there is one."""
        import pandas as pd

        columns = {self.name: on_host(self.scores)}
        if self.bounds is not None:
            columns["bound"] = on_host(self.bounds)
        return pd.DataFrame(columns, index=pd.Index(self._names(), name="vertex"))

    def _names(self) -> npt.NDArray[Any]:
        return np.asarray(vertex_names(self.graph))[self.vertices]

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        sampled = "" if self.bounds is None else f", bounds up to {on_host(self.bounds).max(initial=0.0):.3g}"
        return f"VertexScores({self.name}, {len(self.scores):,} vertices{sampled})"


@dataclass(frozen=True)
class Estimate:
    """A number known to within ±error, except with the risk delta=, from that many sampled sources. `float()` works.

    >>> import hopwave as hw
    >>> mean = hw.average_shortest_path_length(hw.generate.grid(30, 30), k=200, seed=1)
    >>> low, high = mean.bounds
    >>> low < 20.0 < high
    True
    """

    value: float
    error: float
    sources: int
    risk: float

    @property
    def bounds(self) -> tuple[float, float]:
        """value − error and value + error."""
        return self.value - self.error, self.value + self.error

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.value:.6g} ± {self.error:.2g}"


@dataclass(frozen=True, eq=False)
class DistanceHistogram:
    """How many ordered pairs (source, target) lie at each distance: counts[d], from counts[0], the sources themselves.

    `bounds` are half-widths of the counts after a sample (k=), else None; `pairs` is the number of all pairs, with
    those that have no way between them.

    >>> import hopwave as hw
    >>> h = hw.distance_histogram(hw.generate.path(4))
    >>> h.counts.tolist(), h.unreached
    ([4, 6, 4, 2], 0)
    """

    counts: npt.NDArray[Any]
    pairs: int
    bounds: npt.NDArray[np.float64] | None = None

    @property
    def unreached(self) -> Any:
        """Pairs without a way from source to target."""
        return self.pairs - self.counts.sum().item()

    def mean(self) -> float:
        """The mean distance over all pairs of different vertices that have a way between them; NaN where there is none.

        >>> import hopwave as hw
        >>> hw.distance_histogram(hw.generate.path(3)).mean()
        1.3333333333333333
        """
        reached = self.counts[1:].sum()
        return float(self.counts @ np.arange(len(self.counts)) / reached) if reached else float("nan")

    def to_pandas(self) -> pd.DataFrame:
        """One row a distance: pairs, and the bound where there is one."""
        import pandas as pd

        columns = {"pairs": self.counts}
        if self.bounds is not None:
            columns["bound"] = self.bounds
        return pd.DataFrame(columns, index=pd.RangeIndex(len(self.counts), name="distance"))

    def __repr__(self) -> str:
        return f"DistanceHistogram(depth={max(0, len(self.counts) - 1)}, pairs={self.pairs:,})"


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
        from hopwave.api import bfs

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
