"""The results of betweenness centrality: scores of vertices or edges, with the certificate of their arithmetic."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hopwave.algorithms.brandes import Certificate
from hopwave.arrays import Deferring, on_host
from hopwave.display import html
from hopwave.display.scores import highest, plot_scores
from hopwave.graph import Graph
from hopwave.graph.arrays import vertex_names
from hopwave.planning.plan import PlanUsed
from hopwave.results.tables import SHOWN, by_vertex
from hopwave.system.optional import optional

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class BetweennessResult(Deferring):
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

    Examples
    --------
    >>> import hopwave as hw
    >>> b = hw.betweenness_centrality(hw.generate.star(5))
    >>> b.scores.tolist(), b.top(1)
    ([1.0, 0.0, 0.0, 0.0, 0.0], [(0, 1.0)])
    """

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

    def __post_init__(self) -> None:
        self._set_aside()

    def top(self, k: int = 10) -> list[tuple[Any, float]]:
        """The k vertices with the highest scores, by label or id, highest first. Ties are in vertex order.

        >>> import hopwave as hw
        >>> hw.betweenness_centrality(hw.generate.path(3)).top(1)
        [(1, 1.0)]
        """
        scores = on_host(self.scores)
        return [(self.graph.label(v), float(scores[v])) for v in highest(scores, k)]

    def to_dict(self) -> dict[Any, float]:
        """The score of every vertex, by label or id, as NetworkX returns it."""
        return dict(zip(np.asarray(vertex_names(self.graph)).tolist(), self.scores.tolist(), strict=True))

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with one row per vertex: its score, and its bound if there is one."""
        columns = {"betweenness": on_host(self.scores)}
        if self.bounds is not None:
            columns["bound"] = on_host(self.bounds)
        return by_vertex(self.graph, columns)

    def plot(self, ax: Axes | None = None, *, top: int | None = None) -> Axes:
        """Draw the distribution of the scores, or the highest of them with error bars. Needs matplotlib.

        The distribution shows, for every score, the share of vertices with at least that score.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure of pyplot.
        top : int, optional
            Draw that many of the highest scores as bars. After a sample, error bars show their bounds.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        EngineError
            matplotlib is not installed.
        GraphError
            `top` is not a whole number from 1.

        Examples
        --------
        >>> import hopwave as hw
        >>> ax = hw.betweenness_centrality(hw.generate.star(5)).plot(top=2)
        >>> [round(float(bar.get_width()), 2) for bar in ax.patches][::-1]
        [1.0, 0.0]
        """
        scores = on_host(self.scores)
        return plot_scores(ax, "betweenness", scores, self.bounds, lambda v: str(self.graph.label(v)), top)

    def _repr_html_(self) -> str:
        rows = [(vertex, f"{score:.6g}") for vertex, score in self.top(SHOWN)]
        title = f"Betweenness of {len(self.scores):,} vertices, highest first; {describe(self)}; {self.certificate}"
        return html.table(title, rows, ("vertex", "betweenness"))

    def __repr__(self) -> str:
        return f"BetweennessResult({len(self.scores):,} vertices; {describe(self)}; {self.certificate})"


@dataclass(frozen=True, eq=False)
class EdgeBetweennessResult(Deferring):
    """The result of `edge_betweenness_centrality`. Both arcs of an undirected edge have the score of the edge.

    Attributes
    ----------
    scores : array of float64
        One score per stored arc, in the order of `Graph.indices`.
    edges : pair of arrays of int32
        The two ends of every arc, in the same order.
    certificate : Certificate
        How accurate the arithmetic is.
    sources : int
        How many searches were made.
    plan : PlanUsed
        Which plan ran and why. Compares equal to its name.
    engine : str
        "cuda" or "cpu".
    bounds : array of float64, or None
        After a sample (`k=`): how far the score of each arc may be off. Else None.
    graph : Graph
        The graph.
    delta : float or None
        After a sample: all bounds hold together with probability 1 − delta.

    Examples
    --------
    >>> import hopwave as hw
    >>> e = hw.edge_betweenness_centrality(hw.generate.path(3), normalized=False)
    >>> e.to_dict()
    {(0, 1): 2.0, (1, 2): 2.0}
    """

    scores: npt.NDArray[np.float64]
    edges: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]
    certificate: Certificate
    sources: int
    plan: PlanUsed
    engine: str
    bounds: npt.NDArray[np.float64] | None
    graph: Graph = field(repr=False, compare=False)
    delta: float | None = None

    def __post_init__(self) -> None:
        self._set_aside()

    def _once(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.float64]]:
        """Ends and scores of every edge once: for an undirected graph, those of the arcs with src ≤ dst."""
        source, target, scores = (on_host(array)[self._rows()] for array in (*self.edges, self.scores))
        return source, target, scores

    def _rows(self) -> Any:
        """A slice or mask of arcs that selects each edge once."""
        return slice(None) if self.graph.directed else on_host(self.edges[0]) <= on_host(self.edges[1])

    def top(self, k: int = 10) -> list[tuple[tuple[Any, Any], float]]:
        """The k edges with the highest scores, highest first."""
        source, target, scores = self._once()
        label = self.graph.label
        return [((label(int(source[j])), label(int(target[j]))), float(scores[j])) for j in highest(scores, k)]

    def to_dict(self) -> dict[tuple[Any, ...], float]:
        """The score of every edge (u, v), as NetworkX returns it. An undirected edge appears once, with u before v.

        With parallel edges (`repeats="keep"`) the keys are (u, v, 0), (u, v, 1), …, as in a NetworkX MultiGraph.

        >>> import hopwave as hw
        >>> twice = hw.Graph.from_edges([0, 0], [1, 1], repeats="keep")
        >>> hw.edge_betweenness_centrality(twice, normalized=False).to_dict()
        {(0, 1, 0): 0.5, (0, 1, 1): 0.5}
        """
        source, target, scores = self._once()
        names = np.asarray(vertex_names(self.graph)).tolist()
        ends = [[names[v] for v in column.tolist()] for column in (source, target)]
        repeats = np.concatenate([[False], (source[1:] == source[:-1]) & (target[1:] == target[:-1])])
        if repeats.any():
            places = np.arange(len(repeats))
            ends.append((places - np.maximum.accumulate(np.where(repeats, 0, places))).tolist())
        return dict(zip(zip(*ends, strict=True), scores.tolist(), strict=True))

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with one row per edge: source, target, betweenness, and its bound if there is one."""
        pandas = optional("pandas", "to_pandas")
        source, target, scores = self._once()
        names = np.asarray(vertex_names(self.graph))
        columns = {"source": names[source], "target": names[target], "betweenness": scores}
        if self.bounds is not None:
            columns["bound"] = on_host(self.bounds)[self._rows()]
        return pandas.DataFrame(columns)

    def plot(self, ax: Axes | None = None, *, top: int | None = None) -> Axes:
        """Draw the distribution of the scores, or the highest of them with error bars. Needs matplotlib.

        The distribution shows, for every score, the share of edges with at least that score.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure of pyplot.
        top : int, optional
            Draw that many of the highest scores as bars. After a sample, error bars show their bounds.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        EngineError
            matplotlib is not installed.
        GraphError
            `top` is not a whole number from 1.

        Examples
        --------
        >>> import hopwave as hw
        >>> ax = hw.edge_betweenness_centrality(hw.generate.path(4)).plot(top=2)
        >>> [round(float(bar.get_width()), 2) for bar in ax.patches][::-1]
        [0.67, 0.5]
        """
        source, target, scores = self._once()
        bounds = None if self.bounds is None else on_host(self.bounds)[self._rows()]

        def label(j: int) -> str:
            return f"{self.graph.label(int(source[j]))} – {self.graph.label(int(target[j]))}"

        return plot_scores(ax, "betweenness", scores, bounds, label, top)

    def _repr_html_(self) -> str:
        rows = [(u, v, f"{score:.6g}") for (u, v), score in self.top(SHOWN)]
        title = f"Betweenness of {len(self._once()[2]):,} edges, highest first; {describe(self)}; {self.certificate}"
        return html.table(title, rows, ("source", "target", "betweenness"))

    def __repr__(self) -> str:
        return f"EdgeBetweennessResult({len(self.scores):,} arcs; {describe(self)}; {self.certificate})"


def drawn(result: BetweennessResult | EdgeBetweennessResult) -> str:
    """How many sources were used, or how many pairs were drawn, in words.

    >>> import hopwave as hw
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

    >>> import hopwave as hw
    >>> describe(hw.betweenness_centrality(hw.generate.path(50), epsilon=0.1, seed=1))
    'all 50 sources; scores exact'
    """
    widest = widest_bound(result)
    if widest is None or result.delta is None:
        return drawn(result)
    sure = f"scores ± {widest:.2g} ({100 * (1 - result.delta):.4g}%)" if widest else "scores exact"
    return f"{drawn(result)}; {sure}"


def widest_bound(result: BetweennessResult | EdgeBetweennessResult) -> float | None:
    """The greatest bound, NaN ignored; None if nothing was sampled, or every bound is NaN."""
    if result.bounds is None:
        return None
    known = on_host(result.bounds)
    known = known[~np.isnan(known)]
    return float(known.max(initial=0.0)) if len(known) or not len(result.bounds) else None
