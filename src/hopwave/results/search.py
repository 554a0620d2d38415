"""Results of breadth-first search and of weighted shortest paths."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hopwave import engines
from hopwave.algebra.matrix import Matrix
from hopwave.algorithms import bfs
from hopwave.arrays import Deferring, ScaledCounts, ignoring, on_host
from hopwave.checks.keywords import offers
from hopwave.display import drawing, html
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.graph.arrays import vertex_names
from hopwave.graph.csr import arc_tails
from hopwave.graph.row_operations import kept
from hopwave.planning.plan import PlanUsed
from hopwave.planning.trace import BucketTrace, Trace
from hopwave.results.tables import Keyed, first_names, named

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@offers
class SearchResult(Deferring, drawing.Plotted, Keyed):
    """Distances from the nearest source, and predecessors. Subclasses are frozen dataclasses with these attributes.

    A result behaves like a dictionary of the distances of reached vertices: `result["ann"]`, `"ann" in result`.
    """

    graph: Graph
    distances: npt.NDArray[Any]
    predecessors: npt.NDArray[np.int32] | None
    sources: tuple[int, ...]
    plan: PlanUsed
    _numbers = "distances"

    @cached_property
    def _has_path(self) -> npt.NDArray[np.bool_]:
        """Whether each vertex was reached."""
        distances = on_host(self.distances)
        found = (distances >= 0) & (distances < np.inf)
        found[list(self.sources)] = True  # even if the distance of a source is infinite
        return found

    def _place(self, key: Any, what: str = "distance") -> int:
        v = self.graph.index(key)
        if not 0 <= self.distances[v] < np.inf and v not in self.sources:
            raise GraphError(f"this search did not reach {key!r}, so it has no {what}; try another source or limit")
        return v

    def __len__(self) -> int:
        return int(np.count_nonzero(self._has_path))

    def _table(self, title: str, *facts: tuple[str, object]) -> str:
        """The result as an HTML table that includes the rows `facts`."""
        reached = f"{len(self):,} of {self.graph.n:,} vertices"
        first = [("from", first_names(self.graph, self.sources)), ("reached", reached)]
        return html.table(title, [*first, *facts, ("plan", self.plan)])

    def path_to(self, vertex: Any) -> list[Any]:
        """One shortest path from a source to the vertex, as labels or ids. Needs predecessors.

        >>> hw.bfs(hw.generate.path(4), 0).path_to(3)
        [0, 1, 2, 3]
        """
        if self.predecessors is None:
            raise GraphError("this search has no predecessors; call bfs(..., predecessors=True)")
        v, before = self._place(vertex, "path"), on_host(self.predecessors)
        path = [v]
        while before[v] != v:  # a source is its own predecessor
            v = int(before[v])
            path.append(v)
        return [self.graph.label(v) for v in reversed(path)]

    def to_dict(self) -> dict[Any, Any]:
        """Distance of each reached vertex, by label or id, in NetworkX's form.

        >>> hw.bfs(hw.Graph.from_edges(["a"], ["b"]), "a").to_dict()
        {'a': 0, 'b': 1}
        """
        reached = np.flatnonzero(self._has_path)
        names = vertex_names(self.graph)[reached].tolist()
        return dict(zip(names, on_host(self.distances)[reached].tolist(), strict=True))


@dataclass(frozen=True, eq=False, init=False)
class BFSResult(SearchResult):
    """The result of `bfs`.

    `plot()` draws the number of vertices at each distance; after `trace=True`, colours show each level's direction.

    Attributes
    ----------
    distances : array of int32
        Hops from the nearest source to each vertex; −1 for unreached vertices.
    predecessors : array of int32, or None
        Predecessor of each vertex on a shortest path. A source is its own predecessor; −1 for unreached vertices. None
        if not requested.
    path_counts : array of float64, ScaledCounts, or None
        Number of shortest paths to each vertex, if requested. `ScaledCounts` if float64 would overflow.
    depth, reached : int
        The largest distance, and the number of reached vertices, sources included.
    sources : tuple of int
        Ids of the sources.
    plan : PlanUsed
        Plan that ran, and why. Compares equal to its name.
    engine : str
        "cuda", "cpu" or "reference".
    trace : Trace, or None
        Record of each level, if `trace=True`.
    graph : Graph
        The graph that was searched.

    Examples
    --------
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

    def __init__(self, *, engine: str, **fields: Any) -> None:
        # Hand-written, because the __init__ of a frozen dataclass takes as long as the search of a small graph.
        self.__dict__.update(fields, engine=engine)
        if engine == "cuda":
            self._set_aside()  # arrays on the GPU are fetched when first read

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"distance": on_host(self.distances)}
        if self.predecessors is not None:
            columns["predecessor"] = named(self.graph, on_host(self.predecessors))
        if isinstance(self.path_counts, ScaledCounts):
            columns["path_count_log2"] = self.path_counts.log2()
        elif self.path_counts is not None:
            columns["path_count"] = on_host(self.path_counts)
        return columns

    def _draw(self, axes: Axes) -> None:
        distances = on_host(self.distances)
        counts = np.bincount(distances[distances >= 0]).tolist()
        steps = {level.depth: level.direction for level in self.trace or ()}
        directions = ["source" if steps else "", *(steps.get(depth, "") for depth in range(1, len(counts)))]
        drawing.levels(axes, range(len(counts)), counts, directions[: len(counts)])
        axes.set_xlabel("hops from the source")

    def _repr_html_(self) -> str:
        return self._table("Breadth-first search", ("depth", self.depth), ("engine", self.engine))

    def __repr__(self) -> str:
        return f"BFSResult(reached={self.reached:,}, depth={self.depth}, plan={self.plan.name}, engine={self.engine})"


@dataclass(frozen=True, eq=False)
class ShortestPaths(SearchResult):
    """The result of `sssp`. `plot()` draws a histogram of the distances.

    Attributes
    ----------
    distances : array of float64
        Length of a shortest path from the nearest source to each vertex; infinite if there is no path (within the
        limit). A CuPy array if the graph is on a GPU.
    predecessors : array of int32
        Predecessor of each vertex on a shortest path; computed when first read.
    sources : tuple of int
        Ids of the sources.
    method : str
        Method of `sssp` that was chosen.
    plan : PlanUsed
        Plan that ran, and why. Compares equal to its name: the method, or "dijkstra-buckets" if one core is faster than
        Δ-stepping on all cores.
    graph : Graph
        The graph that was searched.
    matrix : linalg.Matrix
        Adjacency matrix of the graph with the weights.
    trace : BucketTrace, or None
        Record of each bucket, if `trace=True`.

    Examples
    --------
    >>> r = hw.sssp(hw.Graph.from_edges([0, 1], [1, 2], weights=[1.0, 4.0]), 0)
    >>> r.distances.tolist(), r.predecessors.tolist(), r.reached
    ([0.0, 1.0, 5.0], [0, 0, 1], 3)
    """

    distances: npt.NDArray[np.float64]
    sources: tuple[int, ...]
    method: str
    plan: PlanUsed
    graph: Graph = field(repr=False)
    matrix: Matrix = field(repr=False)
    trace: BucketTrace | None = field(default=None, repr=False)
    _choose: Callable[[], Any] | None = field(default=None, repr=False)  # computes predecessors on the GPU

    def __post_init__(self) -> None:
        self._set_aside()  # distances on the GPU are fetched when first read

    def __getstate__(self) -> dict[str, Any]:
        """The state for pickling and copying, after a GPU has computed the predecessors."""
        if self._choose is None:
            return super().__getstate__()
        return {**super().__getstate__(), "predecessors": self.predecessors, "_choose": None}

    @property
    def reached(self) -> int:
        """Number of vertices with a path from a source, sources included."""
        return len(self)

    @cached_property
    @ignoring("over")  # an overflowing sum equals no distance
    def predecessors(self) -> npt.NDArray[np.int32]:  # type: ignore[override]
        """Predecessor of each vertex on a shortest path. A source is its own predecessor; −1 if there is no path.

        The CPU chooses the lowest predecessor among the shortest paths with the fewest arcs. A GPU chooses the
        predecessor of lowest id that is nearer to the source than the vertex. If there is none (arcs of length 0), it
        chooses one at the same distance. Both choices are deterministic.
        """
        if self._choose is not None:
            chosen: npt.NDArray[np.int32] = self._choose()
            return chosen
        part = self.matrix.to("cpu").rows
        d, length = self.distances, 1 if part.values is None else part.values
        tight = kept(part, d[arc_tails(part)] + length == d[part.indices])
        on_paths = Graph.from_csr(tight.indptr, tight.indices, directed=True, check=False)
        hops = bfs.hops(engines.engine("cpu"), on_paths, self.sources)
        on_paths._prepared.clear()  # breaks a cycle of references, which would delay freeing the arrays
        del on_paths
        tails = arc_tails(tight)
        fewest = hops[tails] + 1 == hops[tight.indices]
        predecessors = np.full(len(hops), -1, np.int32)
        predecessors[tight.indices[fewest][::-1]] = tails[fewest][::-1]  # the lowest tail is written last
        predecessors[list(self.sources)] = self.sources
        return np.where(self._has_path, predecessors, np.int32(-1))

    def _columns(self) -> dict[str, Any]:
        return {"distance": on_host(self.distances), "predecessor": named(self.graph, on_host(self.predecessors))}

    def _draw(self, axes: Axes) -> None:
        near = on_host(self.distances[np.isfinite(self.distances)])
        axes.hist(near, bins=min(60, max(1, len(near))), color=drawing.COLOURS["push"])
        axes.set(xlabel="distance from the source", ylabel="vertices")
        axes.grid(axis="y", color=drawing.PALE)

    def _repr_html_(self) -> str:
        farthest = on_host(self.distances)[self._has_path].max(initial=0.0)
        lengths = "the weights of the arcs" if self.matrix.has_values else "1 per arc"
        return self._table("Shortest paths", ("largest distance", f"{farthest:g}"), ("lengths", lengths))

    def __repr__(self) -> str:
        return f"ShortestPaths(reached={self.reached:,}, plan={self.plan.name})"
