"""Results with one number per vertex or edge: centralities, and betweenness with its certificate."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import EllipsisType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hopwave.algorithms.brandes import Certificate
from hopwave.algorithms.reduction import Reduction
from hopwave.algorithms.top_scores import Searches
from hopwave.arrays import Deferring, on_host
from hopwave.checks.keywords import offers
from hopwave.display import html
from hopwave.display.drawing import highest_places, plot_scores
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.graph.arrays import vertex_names
from hopwave.planning.plan import PlanUsed
from hopwave.results.tables import SHOWN, Keyed, draw_map, surely

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@offers
class Scores(Deferring, Keyed):
    """One score per vertex or per edge. Subclasses are frozen dataclasses with these attributes.

    Scores behave like a dictionary by label or id: `scores["ann"]`, `"ann" in scores`, `max(scores, key=scores.get)`,
    `dict(scores)`. NumPy, and by DLPack also PyTorch, JAX and CuPy, read them as an array without a copy.
    """

    name: str
    scores: npt.NDArray[Any]
    bounds: npt.NDArray[np.float64] | None
    graph: Graph

    def __post_init__(self) -> None:
        self._set_aside()

    def top(self, k: int | EllipsisType = ...) -> list[tuple[Any, Any]]:
        """(vertex or edge, score) of the k highest scores, by label or id, highest first; ties in vertex order.

        Default: all scores if only the highest were computed (`closeness_centrality(G, top=20)`), else 10.

        >>> hw.betweenness_centrality(hw.generate.path(3)).top(1)
        [(1, 1.0)]
        """
        scores = self._listed(self.scores)
        if isinstance(k, EllipsisType):
            k = len(scores) if self._are_the_highest else 10
        best = highest_places(scores, k)
        keys = (row if len(row) > 1 else row[0] for row in self._rows(best))
        return list(zip(keys, scores[best].tolist(), strict=True))

    def __len__(self) -> int:
        return len(self._listed(self.scores))

    def plot(self, ax: Axes | None = None, *, top: int | None = None, xy: Any = None) -> Axes:
        """Draw the distribution of the scores, the highest scores with error bars, or a map. Needs matplotlib.

        The distribution shows, for each score, the share of vertices (or edges) with at least that score.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; default: those of a new figure. To save it: `scores.plot().figure.savefig("x.svg")`.
        top : int, optional
            Number of highest scores to draw as bars, with their intervals as error bars after a sample. A map shows
            only these scores.
        xy : array of vertices × 2, mapping or DataFrame, optional
            Coordinates for a map; see `Isochrone.plot`. Vertices are dots and edges are lines, coloured by score.

        Examples
        --------
        >>> ax = hw.closeness_centrality(hw.generate.star(5)).plot(top=2)
        >>> [round(float(bar.get_width()), 2) for bar in ax.patches][::-1]
        [1.0, 0.57]
        """
        columns, ends = self._columns(), None
        scores = columns[self.name]
        if "bound" in columns:
            ends = [columns.get("low", scores - columns["bound"]), columns.get("high", scores + columns["bound"])]
        if top is None and self._are_the_highest:
            top = max(1, len(scores))
        if xy is not None:
            best = highest_places(scores, len(scores) if top is None else top)[::-1]
            return draw_map(self.graph, xy, ax, self.name, self._ids()[best], scores[best])

        def names(places: list[int]) -> list[str]:
            return [" – ".join(map(str, row)) for row in self._rows(places)]

        return plot_scores(ax, self.name, scores, ends, names, top)

    def _repr_html_(self) -> str:
        scores = self._listed(self.scores)
        best, form = highest_places(scores, SHOWN), ".6g" if scores.dtype.kind == "f" else ","
        rows = [(*row, f"{score:{form}}") for row, score in zip(self._rows(best), scores[best], strict=True)]
        heads = [*self._heads, self.name]
        if self.bounds is not None:
            off = self._listed(self.bounds)[best].tolist()
            rows, heads = [(*row, f"{bound:.2g}") for row, bound in zip(rows, off, strict=True)], [*heads, "±"]
        title = f"{self.name.capitalize()} of {len(self):,} {self._things}, highest first"
        return html.table("; ".join([title, *self._about(), *self._advised()]), rows, heads)

    def _columns(self) -> dict[str, npt.NDArray[Any]]:
        """The columns of a table: the scores and, after a sample, the bounds."""
        columns = {self.name: self._listed(self.scores)}
        if self.bounds is not None:
            columns["bound"] = self._listed(self.bounds)
        return columns

    _numbers, _things = "scores", "vertices"
    _advice = "pass a larger k= for narrower bounds"
    _heads: tuple[str, ...] = ("vertex",)

    @property
    def _are_the_highest(self) -> bool:
        """Whether only the highest scores were computed."""
        return getattr(self, "searches", None) is not None

    def _listed(self, array: Any) -> npt.NDArray[Any]:
        """Scores or bounds, one per row of a table."""
        return on_host(array)

    def _rows(self, places: list[int]) -> list[tuple[Any, ...]]:
        """The vertex, or both endpoints of the edge, of each of these rows of a table."""
        return list(zip(*(column[places].tolist() for column in self._names().values()), strict=True))

    def _ids(self) -> npt.NDArray[Any]:
        """The id of the vertex, or the ids of both endpoints of the edge, of each row of a table."""
        ids: npt.NDArray[Any] = np.arange(self.graph.n)[self._vertices]
        return ids

    def _about(self) -> list[str]:
        """Phrases about all scores, for the title of a table."""
        raise NotImplementedError

    def _advised(self) -> list[str]:
        """Advice on narrower bounds, if bounds are wider than half of the highest score."""
        if self.bounds is None or getattr(self, "interval", None) == "normal":
            return []
        widest, highest = (float(np.nan_to_num(on_host(part)).max(initial=0.0)) for part in (self.bounds, self.scores))
        return [self._advice] if widest > highest / 2 else []


@dataclass(frozen=True, eq=False)
class VertexScores(Scores):
    """One number per vertex, for all vertices or some.

    Attributes
    ----------
    name : str
        Name of the numbers, for example "closeness".
    scores : array
        The numbers, in the order of `vertices`.
    vertices : array of int64
        Ids of the vertices. With `top=`, the vertices with the highest scores, highest first.
    graph : Graph
        The graph.
    bounds : array of float64, or None
        After a sample (`k=`): error bound of each score, the larger of `high - scores` and `scores - low`; see
        `interval`. Otherwise None, like all attributes below.
    searches : Searches, or None
        With `top=`: numbers of completed, pruned and skipped searches.
    low, high : array of float64, or None
        After a sample: lower and upper end of the interval of each score.
    standard_errors : array of float64, or None
        After a sample: estimated standard error of each score. NaN after a single draw.
    interval, delta : str and float, or None
        After a sample, "guaranteed": all exact scores are in their intervals *simultaneously* with probability at least
        1 − `delta`. "normal": *each* exact score is in its interval with probability about 1 − `delta`.
    reduction : Reduction or None
        What `reduce` removed before the searches, and what remained; None if nothing was removed.

    Examples
    --------
    >>> c = hw.closeness_centrality(hw.generate.star(5))
    >>> c.scores.round(2).tolist(), c.top(1)
    ([1.0, 0.57, 0.57, 0.57, 0.57], [(0, 1.0)])
    """

    name: str
    scores: npt.NDArray[Any]
    vertices: npt.NDArray[np.int64]
    graph: Graph = field(repr=False)
    bounds: npt.NDArray[np.float64] | None = None
    searches: Searches | None = None
    low: npt.NDArray[np.float64] | None = None
    high: npt.NDArray[np.float64] | None = None
    standard_errors: npt.NDArray[np.float64] | None = None
    interval: str | None = None
    delta: float | None = None
    reduction: Reduction | None = None

    _advice = 'pass interval="normal" for narrower bounds'

    def _columns(self) -> dict[str, npt.NDArray[Any]]:
        more = {"low": self.low, "high": self.high, "standard_error": self.standard_errors}
        return super()._columns() | {name: on_host(found) for name, found in more.items() if found is not None}

    @property
    def _vertices(self) -> npt.NDArray[np.int64]:
        return self.vertices

    def _about(self) -> list[str]:
        if self.bounds is None:
            return [str(about) for about in (self.searches, self.reduction) if about is not None]
        widest, sure = on_host(self.bounds).max(initial=0.0), surely(self.interval, self.delta, "all simultaneously")
        return ["scores exact"] if not widest else [f"scores ± {widest:.3g} at most ({sure})"]

    def _place(self, key: Any) -> int:
        found = np.flatnonzero(self.vertices == self.graph.index(key))
        if not len(found):
            raise GraphError(f"{key!r} has no score: only {len(self):,} of {self.graph.n:,} vertices have one")
        return int(found[0])

    def __repr__(self) -> str:
        count = f"the {len(self):,} highest of {self.graph.n:,}" if self._are_the_highest else f"{len(self):,}"
        return f"VertexScores({'; '.join([f'{self.name}, {count} vertices', *self._about(), *self._advised()])})"


class HubsAndAuthorities(NamedTuple):
    """The result of `hits`: a tuple of hubs and authorities.

    Attributes
    ----------
    hubs : VertexScores
        Hub score of each vertex: high if its arcs lead to good authorities.
    authorities : VertexScores
        Authority score of each vertex: high if arcs from good hubs lead to it.

    Examples
    --------
    >>> hw.hits(hw.Graph.from_edges([1, 2], [0, 0], directed=True)).authorities.scores.tolist()
    [1.0, 0.0, 0.0]
    """

    hubs: VertexScores
    authorities: VertexScores


@dataclass(frozen=True, eq=False, repr=False)
class Certified(Scores):
    """Base class of the results of vertex and edge betweenness."""

    scores: npt.NDArray[np.float64]
    certificate: Certificate
    sources: int
    plan: PlanUsed
    engine: str
    bounds: npt.NDArray[np.float64] | None
    graph: Graph
    delta: float | None = None
    reduction: Reduction | None = None

    name = "betweenness"

    @property
    def _widest_bound(self) -> float | None:
        """The largest bound, ignoring NaN; None if nothing was sampled, or every bound is NaN."""
        if self.bounds is None:
            return None
        known = on_host(self.bounds)
        known = known[~np.isnan(known)]
        return float(known.max(initial=0.0)) if len(known) or not len(self.bounds) else None

    def _drawn(self) -> str:
        """The number of sources or of drawn pairs in words, for example "10 of 50 sources"."""
        n, pairs = self.graph.n, getattr(self, "pairs", None)
        if pairs is not None:
            return f"{pairs:,} of {n * (n - 1):,} pairs" if pairs <= n * (n - 1) else f"{pairs:,} draws of pairs"
        return f"all {n:,} sources" if self.sources == n else f"{self.sources:,} of {n:,} sources"

    def _about(self) -> list[str]:
        drawn, widest = self._drawn(), self._widest_bound
        if widest is not None and self.delta is not None:
            sure = f"scores ± {widest:.2g} ({100 * (1 - self.delta):.4g}%)" if widest else "scores exact"
            return [drawn, sure, str(self.certificate)]
        return [drawn if self.reduction is None else f"{drawn}, {self.reduction}", str(self.certificate)]

    def __repr__(self) -> str:
        parts = [f"{len(self):,} {self._things}", *self._about(), *self._advised()]
        return f"{type(self).__name__}({'; '.join(parts)})"


@dataclass(frozen=True, eq=False, repr=False)
class BetweennessResult(Certified):
    """The result of `betweenness_centrality`.

    Attributes
    ----------
    scores : array of float64
        One score per vertex, in vertex order.
    certificate : Certificate
        Accuracy of the arithmetic; after a sample of paths, the number of paths that were checked.
    sources : int
        Number of sources; 0 after a sample of paths.
    plan : PlanUsed
        Plan that ran, and why. Compares equal to its name.
    engine : str
        "cuda" or "cpu".
    bounds : array of float64, or None
        After a sample (`epsilon=`, `k=`): error bound of each score; NaN for a score of NaN. With `k=`, bounds are
        computed when first read. None without a sample.
    graph : Graph
        The graph.
    pairs : int or None
        Number of pairs that a sample of paths drew, including its pilot; otherwise None.
    delta : float or None
        After a sample: all bounds hold simultaneously with probability at least 1 − delta.
    undecided : list or None
        With `top=`: vertices that may or may not be among the highest; empty if the set is certain. Otherwise None.
    reduction : Reduction or None
        What `reduce=` removed before the searches, and what remained; None if nothing was removed.

    Examples
    --------
    >>> b = hw.betweenness_centrality(hw.generate.star(5))
    >>> b.scores.tolist(), b.top(1)
    ([1.0, 0.0, 0.0, 0.0, 0.0], [(0, 1.0)])
    """

    pairs: int | None = None
    undecided: list[Any] | None = None
    _advice = "pass epsilon=0.01 instead of k= for narrower bounds"


@dataclass(frozen=True, eq=False, repr=False)
class EdgeBetweennessResult(Certified):
    """The result of `edge_betweenness_centrality`. Both arcs of an undirected edge have the score of the edge.

    Attributes
    ----------
    scores : array of float64
        One score per stored arc, in the order of `Graph.indices`.
    edges : pair of arrays of int32
        Sources and targets of the arcs, in the same order.
    certificate, sources, plan, engine, graph, delta, reduction
        See `BetweennessResult`.
    bounds : array of float64, or None
        After a sample (`k=`): error bound of the score of each arc. Otherwise None.

    Examples
    --------
    >>> e = hw.edge_betweenness_centrality(hw.generate.path(3), normalized=False)
    >>> e.to_dict()
    {(0, 1): 2.0, (1, 2): 2.0}
    """

    edges: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]] = field(kw_only=True)

    def to_dict(self) -> dict[tuple[Any, ...], float]:
        """Score of each edge (u, v), in NetworkX's form. An undirected edge appears once, with u before v.

        With parallel edges (`repeats="keep"`), the keys are (u, v, 0), (u, v, 1), …, as in a NetworkX MultiGraph.

        >>> twice = hw.Graph.from_edges([0, 0], [1, 1], repeats="keep")
        >>> hw.edge_betweenness_centrality(twice, normalized=False).to_dict()
        {(0, 1, 0): 0.5, (0, 1, 1): 0.5}
        """
        (source, target), ends = self._ends(), [column.tolist() for column in self._names().values()]
        repeats = np.concatenate([[False], (source[1:] == source[:-1]) & (target[1:] == target[:-1])])
        if repeats.any():
            places = np.arange(len(repeats))
            ends.append((places - np.maximum.accumulate(np.where(repeats, 0, places))).tolist())
        return dict(zip(zip(*ends, strict=True), self._listed(self.scores).tolist(), strict=True))

    def _names(self) -> dict[str, npt.NDArray[Any]]:
        return {head: vertex_names(self.graph)[ends] for head, ends in zip(self._heads, self._ends(), strict=True)}

    def _place(self, key: Any) -> int:
        """Position of an edge (u, v) among the scores (the first of parallel edges); a GraphError if there is none."""
        if not isinstance(key, tuple) or len(key) != 2:
            raise GraphError(f"{key!r} is not an edge; pass two vertices, (u, v)")
        u, v = (self.graph.index(end) for end in key)
        begin, end = self.graph.indptr[u : u + 2].tolist()
        found = np.flatnonzero(self.graph.indices[begin:end] == v)
        if not len(found):
            raise GraphError(f"{key!r} is not an edge of this graph; G.edges() lists the edges")
        return int(begin + found[0])

    _things = "edges"
    _heads = ("source", "target")

    def _listed(self, array: Any) -> npt.NDArray[Any]:
        """One entry per edge: in an undirected graph, the entry of the arc with source ≤ target."""
        values = on_host(array)
        return values if self.graph.directed else values[on_host(self.edges[0]) <= on_host(self.edges[1])]

    def _ids(self) -> npt.NDArray[Any]:
        return np.stack(self._ends(), -1)

    def _ends(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        return self._listed(self.edges[0]), self._listed(self.edges[1])
