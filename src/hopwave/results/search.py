"""The result of a breadth-first search, and the base class that it shares with a search along weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hopwave.arrays import Deferring, ScaledCounts, on_host
from hopwave.checks.keywords import offers
from hopwave.display import drawing, html
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.graph.arrays import vertex_names
from hopwave.planning.plan import PlanUsed
from hopwave.planning.trace import Trace
from hopwave.results.tables import Keyed, by_vertex, first_names, named

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@offers
class SearchResult(Deferring, drawing.Plotted, Keyed):
    """Distances from the nearest source, and predecessors. Subclasses are frozen dataclasses with these attributes.

    A result reads like a dictionary of the distances of vertices that were reached: `result["ann"]`, `"ann" in result`.
    """

    graph: Graph
    distances: npt.NDArray[Any]
    predecessors: npt.NDArray[np.int32] | None
    sources: tuple[int, ...]

    @property
    def _has_path(self) -> npt.NDArray[np.bool_]:
        """Whether each vertex was reached."""
        raise NotImplementedError

    @property
    def _array(self) -> npt.NDArray[Any]:
        return self.distances

    def _place(self, key: Any) -> int:
        v = self.graph.index(key)
        if not 0 <= self.distances[v] < np.inf and v not in self.sources:
            raise GraphError(
                f"{key!r} was not reached by this search, so it has no distance; try another source or limit"
            )
        return v

    def __len__(self) -> int:
        return int(np.count_nonzero(on_host(self._has_path)))

    def path_to(self, vertex: Any) -> list[Any]:
        """One shortest path from a source to the vertex, as labels or ids. Needs predecessors.

        >>> hw.bfs(hw.generate.path(4), 0).path_to(3)
        [0, 1, 2, 3]
        """
        if self.predecessors is None:
            raise GraphError("this search kept no predecessors; call bfs(..., predecessors=True)")
        v, before = self.graph.index(vertex), on_host(self.predecessors)
        if before[v] < 0:
            raise GraphError(
                f"{vertex!r} was not reached by this search, so it has no path; try another source or limit"
            )
        path = [v]
        while before[v] != v:  # a source is its own predecessor
            v = int(before[v])
            path.append(v)
        return [self.graph.label(v) for v in reversed(path)]

    def to_dict(self) -> dict[Any, Any]:
        """The distance of every vertex that was reached, by label or id, as NetworkX returns it.

        >>> hw.bfs(hw.Graph.from_edges(["a"], ["b"]), "a").to_dict()
        {'a': 0, 'b': 1}
        """
        reached = np.flatnonzero(on_host(self._has_path))
        names = np.asarray(vertex_names(self.graph))[reached].tolist()
        return dict(zip(names, on_host(self.distances)[reached].tolist(), strict=True))

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with one row per vertex: distance, and predecessor and path count if the search has them.

        Predecessors are labels if the graph has labels; a vertex that was not reached then has None.
        """
        return by_vertex(self.graph, self._columns())


@dataclass(frozen=True, eq=False, init=False)
class BFSResult(SearchResult):
    """The result of `bfs`.

    `plot()` draws how many vertices are at each distance, after `trace=True` in the colour of each level's direction.

    Attributes
    ----------
    distances : array of int32
        Hops from the nearest source to every vertex; −1 for vertices that were not reached.
    predecessors : array of int32, or None
        The vertex before each one on a shortest path. A source is its own predecessor; −1 for vertices that were not
        reached. None if they were not requested.
    path_counts : array of float64, ScaledCounts, or None
        The number of shortest paths to every vertex. `ScaledCounts` if float64 would overflow; None if they were not
        requested.
    depth : int
        The greatest distance.
    reached : int
        How many vertices were reached, sources included.
    sources : tuple of int
        The ids of the sources.
    plan : PlanUsed
        Which plan ran and why. Compares equal to its name.
    engine : str
        "cuda", "cpu" or "reference".
    trace : Trace, or None
        What every level did, if `trace=True`.
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

    def __init__(
        self,
        distances: Any,
        predecessors: Any,
        path_counts: Any,
        depth: int,
        reached: int,
        sources: tuple[int, ...],
        plan: PlanUsed,
        engine: str,
        trace: Trace | None,
        graph: Graph,
    ) -> None:
        # Written out, because the __init__ of a frozen dataclass takes as long as the search of a small graph.
        self.__dict__.update(
            distances=distances,
            predecessors=predecessors,
            path_counts=path_counts,
            depth=depth,
            reached=reached,
            sources=sources,
            plan=plan,
            engine=engine,
            trace=trace,
            graph=graph,
        )
        if engine == "cuda":
            self._set_aside()  # an array that is still on the GPU is fetched when it is first read

    @property
    def _has_path(self) -> npt.NDArray[np.bool_]:
        return on_host(self.distances) >= 0

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
        directions = (
            ["source", *(steps.get(depth, "") for depth in range(1, len(counts)))] if steps else [""] * len(counts)
        )
        drawing.levels(axes, range(len(counts)), counts, directions)
        axes.set_xlabel("hops from the source")

    def _repr_html_(self) -> str:
        facts = [
            ("from", first_names(self.graph, self.sources)),
            ("reached", f"{self.reached:,} of {self.graph.n:,} vertices"),
            ("depth", self.depth),
            ("plan", self.plan),
            ("engine", self.engine),
        ]
        return html.table("Breadth-first search", facts)

    def __repr__(self) -> str:
        return f"BFSResult(reached={self.reached:,}, depth={self.depth}, plan={self.plan.name}, engine={self.engine})"
