"""The result of a search for shortest paths along arcs with weights."""

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
from hopwave.arrays import ignoring, on_host
from hopwave.display import drawing, html
from hopwave.graph import Graph
from hopwave.graph.row_operations import kept, row_of_each
from hopwave.planning.plan import PlanUsed
from hopwave.planning.trace import BucketTrace
from hopwave.results.search import SearchResult
from hopwave.results.tables import first_names, named

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class ShortestPaths(SearchResult):
    """The result of `sssp`. `plot()` draws a histogram of the distances.

    Attributes
    ----------
    distances : array of float64
        The length of a shortest path from the nearest source to every vertex; infinite if there is no path
        (within the limit). A CuPy array if the graph is on a GPU.
    predecessors : array of int32
        The vertex before each one on a shortest path; computed when first read.
    sources : tuple of int
        The ids of the sources.
    method : str
        The method of `sssp` that was chosen.
    plan : PlanUsed
        Which plan ran and why. Compares equal to its name, which is that of the method, or "dijkstra-buckets" if one
        core was faster than Δ-stepping on all cores.
    graph : Graph
        The graph that was searched.
    matrix : linalg.Matrix
        Its adjacency matrix with the weights.
    trace : BucketTrace, or None
        What every bucket did, if `trace=True`.

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
        self._set_aside()  # distances that are still on the GPU are fetched when they are first read

    def __getstate__(self) -> dict[str, Any]:
        """The state for pickles and copies. Predecessors that a GPU would compute later are computed now."""
        if self._choose is None:
            return super().__getstate__()
        return {**super().__getstate__(), "predecessors": self.predecessors, "_choose": None}

    @property
    def reached(self) -> int:
        """How many vertices have a path from a source, the sources included."""
        return int(np.count_nonzero(self._has_path))

    @cached_property
    def _has_path(self) -> npt.NDArray[np.bool_]:
        found = np.isfinite(self.distances)
        found[list(self.sources)] = True
        return found

    @cached_property
    @ignoring("over")  # a sum that overflows is not equal to any distance
    def predecessors(self) -> npt.NDArray[np.int32]:  # type: ignore[override]
        """The vertex before each one on a shortest path. A source is its own predecessor; −1 if there is no path.

        An arc u → v is on a shortest path if d(u) plus its length is d(v). A breadth-first search along these arcs
        alone finds, for every vertex, shortest paths with as few arcs as possible; of the vertices before it on these
        paths, the lowest is taken. A GPU takes the lowest such u with d(u) < d(v), or if there is none, one with
        d(u) = d(v). Both choices are the same in every run.
        """
        if self._choose is not None:
            chosen: npt.NDArray[np.int32] = self._choose()
            return chosen
        part = self.matrix.to("cpu").rows
        d, length = self.distances, 1 if part.values is None else part.values
        tight = kept(part, d[row_of_each(part, np)] + length == d[part.indices], np)
        on_paths = Graph.from_csr(tight.indptr, tight.indices, directed=True, check=False)
        hops = bfs.hops(engines.engine("cpu"), on_paths, self.sources)
        on_paths._prepared.clear()  # which refers to the graph: arrays in a circle stay until Python looks for circles
        del on_paths
        tails = row_of_each(tight, np)
        fewest = hops[tails] + 1 == hops[tight.indices]
        predecessors = np.full(len(hops), -1, np.int32)
        predecessors[tight.indices[fewest][::-1]] = tails[fewest][::-1]  # the last stays: tails ascend
        predecessors[list(self.sources)] = self.sources
        return np.where(self._has_path, predecessors, np.int32(-1))

    def _columns(self) -> dict[str, Any]:
        return {"distance": on_host(self.distances), "predecessor": named(self.graph, on_host(self.predecessors))}

    def _draw(self, axes: Axes) -> None:
        near = on_host(self.distances[np.isfinite(self.distances)])
        axes.hist(near, bins=min(60, max(1, len(near))), color=drawing.COLOURS["push"])
        axes.set_xlabel("distance from the source")
        axes.set_ylabel("vertices")
        axes.grid(axis="y", color=drawing.PALE)

    def _repr_html_(self) -> str:
        facts = [
            ("from", first_names(self.graph, self.sources)),
            ("reached", f"{self.reached:,} of {self.graph.n:,} vertices"),
            ("greatest distance", f"{on_host(self.distances[self._has_path]).max(initial=0.0):g}"),
            ("lengths", "the weights of the arcs" if self.matrix.has_values else "1 per arc"),
            ("plan", self.plan),
        ]
        return html.table("Shortest paths", facts)

    def __repr__(self) -> str:
        return f"ShortestPaths(reached={self.reached:,}, plan={self.plan.name})"
