"""The results of betweenness centrality: scores of vertices or edges, with the certificate of their arithmetic."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hopwave.algorithms.brandes import Certificate
from hopwave.algorithms.reduction import Reduction
from hopwave.arrays import on_host
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.graph.arrays import vertex_names
from hopwave.planning.plan import PlanUsed
from hopwave.results.scores import Scores
from hopwave.system.optional import optional

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class BetweennessResult(Scores):
    """The result of `betweenness_centrality`.

    Attributes
    ----------
    scores : array of float64
        One score per vertex, in vertex order.
    certificate : Certificate
        How accurate the arithmetic is; after a sample of paths, how many paths were checked.
    sources : int
        How many sources were used; 0 after a sample of paths.
    plan : PlanUsed
        Which plan ran and why. Compares equal to its name.
    engine : str
        "cuda" or "cpu".
    bounds : array of float64, or None
        After a sample (`epsilon=`, `k=`): how far each score may be off; NaN for a score of NaN. With `k=` the bounds
        are computed when they are first read. None if nothing was sampled.
    graph : Graph
        The graph.
    pairs : int or None
        How many pairs of vertices a sample of paths drew, its pilot included, else None.
    delta : float or None
        After a sample: all bounds hold together with probability 1 − delta.
    undecided : list or None
        With `top=`: the vertices that may or may not be among the highest; empty if all is certain. Else None.
    reduction : Reduction or None
        What was left to search, if blocks were solved one by one (`reduce=`), else None.

    Examples
    --------
    >>> b = hw.betweenness_centrality(hw.generate.star(5))
    >>> b.scores.tolist(), b.top(1)
    ([1.0, 0.0, 0.0, 0.0, 0.0], [(0, 1.0)])
    """

    name = "betweenness"
    scores: npt.NDArray[np.float64]
    certificate: Certificate
    sources: int
    plan: PlanUsed
    engine: str
    bounds: npt.NDArray[np.float64] | None
    graph: Graph = field(repr=False, compare=False)
    pairs: int | None = None
    delta: float | None = None
    undecided: list[Any] | None = None
    reduction: Reduction | None = None

    def _about(self) -> list[str]:
        return [describe(self), str(self.certificate)]

    def __repr__(self) -> str:
        return f"BetweennessResult({len(self.scores):,} vertices; {describe(self)}; {self.certificate})"


@dataclass(frozen=True, eq=False)
class EdgeBetweennessResult(Scores):
    """The result of `edge_betweenness_centrality`. Both arcs of an undirected edge have the score of the edge.

    Attributes
    ----------
    scores : array of float64
        One score per stored arc, in the order of `Graph.indices`.
    edges : pair of arrays of int32
        The two ends of every arc, in the same order.
    certificate, sources, plan, engine, graph, delta, reduction
        As of a `BetweennessResult`.
    bounds : array of float64, or None
        After a sample (`k=`): how far the score of each arc may be off. Else None.

    Examples
    --------
    >>> e = hw.edge_betweenness_centrality(hw.generate.path(3), normalized=False)
    >>> e.to_dict()
    {(0, 1): 2.0, (1, 2): 2.0}
    """

    name = "betweenness"
    scores: npt.NDArray[np.float64]
    edges: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]
    certificate: Certificate
    sources: int
    plan: PlanUsed
    engine: str
    bounds: npt.NDArray[np.float64] | None
    graph: Graph = field(repr=False, compare=False)
    delta: float | None = None
    reduction: Reduction | None = None

    def to_dict(self) -> dict[tuple[Any, ...], float]:
        """The score of every edge (u, v), as NetworkX returns it. An undirected edge appears once, with u before v.

        With parallel edges (`repeats="keep"`) the keys are (u, v, 0), (u, v, 1), …, as in a NetworkX MultiGraph.

        >>> twice = hw.Graph.from_edges([0, 0], [1, 1], repeats="keep")
        >>> hw.edge_betweenness_centrality(twice, normalized=False).to_dict()
        {(0, 1, 0): 0.5, (0, 1, 1): 0.5}
        """
        source, target = self._ends()
        names = np.asarray(vertex_names(self.graph)).tolist()
        ends = [[names[v] for v in column.tolist()] for column in (source, target)]
        repeats = np.concatenate([[False], (source[1:] == source[:-1]) & (target[1:] == target[:-1])])
        if repeats.any():
            places = np.arange(len(repeats))
            ends.append((places - np.maximum.accumulate(np.where(repeats, 0, places))).tolist())
        return dict(zip(zip(*ends, strict=True), self._listed(self.scores).tolist(), strict=True))

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with one row per edge: source, target, betweenness, and its bound if there is one."""
        pandas = optional("pandas", "to_pandas")
        return pandas.DataFrame({**self._names(), **self._columns()})

    def _names(self) -> dict[str, npt.NDArray[Any]]:
        names, (source, target) = np.asarray(vertex_names(self.graph)), self._ends()
        return {"source": names[source], "target": names[target]}

    def _place(self, key: Any) -> int:
        """The place of an edge (u, v) among the scores; the first of parallel ones. Raises a GraphError if absent."""
        if not isinstance(key, tuple) or len(key) != 2:
            raise GraphError(f"{key!r} is not an edge; give two vertices, (u, v)")
        u, v = (self.graph.index(end) for end in key)
        begin, end = self.graph.indptr[u : u + 2].tolist()
        found = np.flatnonzero(self.graph.indices[begin:end] == v)
        if not len(found):
            raise GraphError(f"{key!r} is not an edge of this graph; `edges()` lists them")
        return int(begin + found[0])

    _things = "edges"
    _heads = ("source", "target")

    def _listed(self, array: Any) -> npt.NDArray[Any]:
        """One entry per edge: in an undirected graph, that of the arc with source ≤ target."""
        values = on_host(array)
        return values if self.graph.directed else values[on_host(self.edges[0]) <= on_host(self.edges[1])]

    def _ends(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        return self._listed(self.edges[0]), self._listed(self.edges[1])

    def _labels(self, places: list[int]) -> list[Any]:
        source, target = (map(self.graph.label, ends[places].tolist()) for ends in self._ends())
        return list(zip(source, target, strict=True))

    def _cells(self, label: Any) -> tuple[Any, ...]:
        return tuple(label)

    def _about(self) -> list[str]:
        return [describe(self), str(self.certificate)]

    def __repr__(self) -> str:
        edges = self.graph.number_of_edges
        return f"EdgeBetweennessResult({edges:,} edges; {describe(self)}; {self.certificate})"


def drawn(result: BetweennessResult | EdgeBetweennessResult) -> str:
    """How many sources were used, or how many pairs were drawn, in words.

    >>> drawn(hw.betweenness_centrality(hw.generate.path(50), k=10, seed=1))
    '10 of 50 sources'
    """
    n, sources = result.graph.n, result.sources
    if isinstance(result, BetweennessResult) and result.pairs is not None:
        every = n * (n - 1)
        return f"{result.pairs:,} of {every:,} pairs" if result.pairs <= every else f"{result.pairs:,} draws of pairs"
    return f"all {n:,} sources" if sources == n else f"{sources:,} of {n:,} sources"


def describe(result: BetweennessResult | EdgeBetweennessResult) -> str:
    """What was drawn, and how far scores may be off, in one line.

    >>> describe(hw.betweenness_centrality(hw.generate.path(50), epsilon=0.1, seed=1))
    'all 50 sources; scores exact'
    """
    widest = widest_bound(result)
    if widest is None or result.delta is None:
        return drawn(result) if result.reduction is None else f"{drawn(result)}, {result.reduction}"
    sure = f"scores ± {widest:.2g} ({100 * (1 - result.delta):.4g}%)" if widest else "scores exact"
    return f"{drawn(result)}; {sure}"


def widest_bound(result: BetweennessResult | EdgeBetweennessResult) -> float | None:
    """The greatest bound, NaN ignored; None if nothing was sampled, or every bound is NaN."""
    if result.bounds is None:
        return None
    known = on_host(result.bounds)
    known = known[~np.isnan(known)]
    return float(known.max(initial=0.0)) if len(known) or not len(result.bounds) else None
