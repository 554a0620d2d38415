"""Results that are numbers: one per vertex, a single estimate with its error, a histogram of distances."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hopwave.algorithms.top_scores import Searches
from hopwave.arrays import Deferring, on_host
from hopwave.display import drawing, html
from hopwave.display.scores import highest, plot_scores
from hopwave.graph import Graph
from hopwave.graph.arrays import vertex_names
from hopwave.results.tables import SHOWN, by_vertex
from hopwave.system.optional import optional

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


class Scores(Deferring):
    """One score per vertex or per edge. Subclasses are frozen dataclasses with these attributes."""

    name: str
    scores: npt.NDArray[Any]
    bounds: npt.NDArray[np.float64] | None
    graph: Graph

    def __post_init__(self) -> None:
        self._set_aside()

    def top(self, k: int = 10) -> list[tuple[Any, Any]]:
        """(vertex or edge, score) of the k highest scores, by label or id, highest first; equal ones in vertex order.

        >>> import hopwave as hw
        >>> hw.betweenness_centrality(hw.generate.path(3)).top(1)
        [(1, 1.0)]
        """
        scores = self._listed(self.scores)
        best = highest(scores, k)
        return list(zip(self._labels(best), scores[best].tolist(), strict=True))

    def to_dict(self) -> dict[Any, Any]:
        """The score of every vertex, by label or id, as NetworkX returns it."""
        names = np.asarray(vertex_names(self.graph))[self._vertices]
        return dict(zip(names.tolist(), self.scores.tolist(), strict=True))

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with one row per vertex: its score; after a sample also how far it may be off."""
        return by_vertex(self.graph, self._columns(), self._vertices)

    def plot(self, ax: Axes | None = None, *, top: int | None = None) -> Axes:
        """Draw the distribution of the scores, or the highest of them with error bars. Needs matplotlib.

        The distribution shows, for every score, the share of vertices (or edges) with at least that score.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure of pyplot.
        top : int, optional
            Draw that many of the highest scores as bars. After a sample, error bars show where the exact scores lie.

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
        >>> ax = hw.closeness_centrality(hw.generate.star(5)).plot(top=2)
        >>> [round(float(bar.get_width()), 2) for bar in ax.patches][::-1]
        [1.0, 0.57]
        """
        columns = self._columns()
        if top is None and self._are_the_highest:
            top = max(1, len(self.scores))

        def names(places: list[int]) -> list[str]:
            return [" – ".join(map(str, self._cells(label))) for label in self._labels(places)]

        return plot_scores(ax, self.name, columns[self.name], self._error_bars(columns), names, top)

    def _repr_html_(self) -> str:
        rows = [
            (*self._cells(label), f"{score:,}" if isinstance(score, int) else f"{score:.6g}")
            for label, score in self.top(SHOWN)
        ]
        title = f"{self.name.capitalize()} of {len(self._listed(self.scores)):,} {self._things}, highest first"
        return html.table("; ".join([title, *self._about()]), rows, (*self._heads, self.name))

    def _columns(self) -> dict[str, npt.NDArray[Any]]:
        """The columns of a table: the scores, and the bounds if there are any."""
        columns = {self.name: self._listed(self.scores)}
        if self.bounds is not None:
            columns["bound"] = self._listed(self.bounds)
        return columns

    def _error_bars(self, columns: dict[str, npt.NDArray[Any]]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]] | None:
        """The ends of error bars, given the columns of a table; None if nothing was sampled."""
        if "bound" not in columns:
            return None
        return columns[self.name] - columns["bound"], columns[self.name] + columns["bound"]

    # ---- scores are those of vertices; a subclass for edges overrides these

    _things = "vertices"
    _heads: tuple[str, ...] = ("vertex",)

    @property
    def _vertices(self) -> npt.NDArray[np.int64]:
        """The ids of the vertices, in the order of the scores."""
        return np.arange(self.graph.n)

    @property
    def _are_the_highest(self) -> bool:
        """Whether only the highest scores were computed."""
        return False

    def _listed(self, array: Any) -> npt.NDArray[Any]:
        """Scores or bounds, one per row of a table."""
        return on_host(array)

    def _labels(self, places: list[int]) -> list[Any]:
        """The labels of the vertices (or edges) in these rows of a table."""
        return [self.graph.label(v) for v in self._vertices[places].tolist()]

    def _cells(self, label: Any) -> tuple[Any, ...]:
        """A label as cells of a table, below `_heads`."""
        return (label,)

    def _about(self) -> list[str]:
        """Phrases about all scores, for the title of a table."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class VertexScores(Scores):
    """One number per vertex, for all vertices or for some.

    Attributes
    ----------
    name : str
        What the numbers are, for example "closeness".
    scores : array
        The numbers, in the order of `vertices`.
    vertices : array of int64
        The ids of the vertices. With `top=`, those with the highest scores, highest first.
    graph : Graph
        The graph.
    bounds : array of float64, or None
        After a sample (`k=`): every exact score lies within ± its bound, as surely as `interval` says: the larger of
        `high - scores` and `scores - low`. Otherwise None, as all attributes below.
    searches : Searches, or None
        With `top=`: how many searches ran to their end, were cut off, or were skipped. Otherwise None.
    low, high : array of float64, or None
        After a sample: the ends of the interval of each score.
    standard_errors : array of float64, or None
        After a sample: how far the score of such a sample typically is from the exact one. NaN after a single draw.
    interval : str or None
        After a sample, "guaranteed": all exact scores lie in their intervals *together* with probability 1 − `delta`.
        "normal": *each* lies in its own with a probability of about 1 − `delta`.
    delta : float or None
        After a sample: the risk of its intervals.

    Examples
    --------
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
    searches: Searches | None = None
    low: npt.NDArray[np.float64] | None = None
    high: npt.NDArray[np.float64] | None = None
    standard_errors: npt.NDArray[np.float64] | None = None
    interval: str | None = None
    delta: float | None = None

    def _columns(self) -> dict[str, npt.NDArray[Any]]:
        more = {"low": self.low, "high": self.high, "standard_error": self.standard_errors}
        return super()._columns() | {name: on_host(found) for name, found in more.items() if found is not None}

    def _error_bars(self, columns: dict[str, npt.NDArray[Any]]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]] | None:
        return None if self.low is None else (columns["low"], columns["high"])

    @property
    def _vertices(self) -> npt.NDArray[np.int64]:
        return self.vertices

    @property
    def _are_the_highest(self) -> bool:
        return self.searches is not None

    def _about(self) -> list[str]:
        if self.bounds is None:
            return [] if self.searches is None else [str(self.searches)]
        widest = on_host(self.bounds).max(initial=0.0)
        return ["scores exact"] if not widest else [f"scores ± {widest:.3g} at most ({self._sure()})"]

    def _sure(self) -> str:
        """How sure an interval is, in words."""
        return surely(self.interval, self.delta, "all together")

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        sampled = "" if self.bounds is None else f"; {self._about()[0]}"
        if self.searches is not None:
            return f"VertexScores({self.name}, the {len(self):,} highest of {self.graph.n:,} vertices; {self.searches})"
        return f"VertexScores({self.name}, {len(self.scores):,} vertices{sampled})"


class HubsAndAuthorities(NamedTuple):
    """The result of `hits`, a tuple of two.

    Attributes
    ----------
    hubs : VertexScores
        For every vertex, how good the authorities are that it has arcs to.
    authorities : VertexScores
        For every vertex, how good the hubs are that have arcs to it.

    Examples
    --------
    >>> import hopwave as hw
    >>> hw.hits(hw.Graph.from_edges([1, 2], [0, 0], directed=True)).authorities.scores.tolist()
    [1.0, 0.0, 0.0]
    """

    hubs: VertexScores
    authorities: VertexScores


@dataclass(frozen=True)
class Estimate:
    """A number that was estimated from a sample. `float()` returns its value.

    Attributes
    ----------
    value : float
        The estimate.
    low, high : float
        The exact number lies between these two with probability 1 − risk, or about that if `interval` is "normal".
    standard_error : float
        How far the value of such a sample typically is from the exact number. NaN after a single draw.
    sources : int
        How many sources were drawn.
    risk : float
        The probability that the exact number lies outside (`delta=`).
    interval : str
        "guaranteed" or "normal" (`interval=`).

    Examples
    --------
    >>> import hopwave as hw
    >>> mean = hw.average_shortest_path_length(hw.generate.grid(30, 30), k=200, seed=1)
    >>> low, high = mean.bounds
    >>> low < 20.0 < high
    True
    """

    value: float
    low: float
    high: float
    standard_error: float
    sources: int
    risk: float
    interval: str

    @property
    def bounds(self) -> tuple[float, float]:
        """The ends of the interval, low and high."""
        return self.low, self.high

    @property
    def error(self) -> float:
        """How far the value may be off, the larger of high − value and value − low."""
        return max(self.high - self.value, self.value - self.low)

    def __float__(self) -> float:
        return self.value

    def _repr_html_(self) -> str:
        facts = [
            ("value", f"{self.value:.6g}"),
            ("interval", f"{self.low:.6g} to {self.high:.6g} ({surely(self.interval, self.risk)})"),
            ("standard error", f"{self.standard_error:.2g}"),
            ("sources drawn", f"{self.sources:,}"),
        ]
        return html.table("Estimate", facts)

    def __str__(self) -> str:
        return f"{self.value:.6g} ± {self.error:.2g} ({surely(self.interval, self.risk)})"


def surely(interval: str | None, risk: float | None, together: str = "") -> str:
    """How sure an interval is, in words.

    >>> surely("guaranteed", 0.1, "all together"), surely("normal", 0.05)
    ('all together 90%, guaranteed', 'about 95%, normal')
    """
    share = f"{100 * (1 - (risk or 0.0)):.4g}%"
    return f"about {share}, normal" if interval == "normal" else f"{together} {share}, guaranteed".strip()


@dataclass(frozen=True, eq=False)
class DistanceHistogram(drawing.Plotted):
    """How many ordered pairs (source, target) are at each distance.

    `plot()` draws them from distance 1 on; after a sample, with error bars.

    Attributes
    ----------
    counts : array
        `counts[d]` pairs are at distance d. `counts[0]` counts the sources themselves.
    pairs : int
        The number of all pairs, including those without a path between them.
    bounds : array of float64, or None
        Half-widths of the confidence intervals of the counts after a sample (`k=`), else None.
    beyond : float
        How many pairs may be farther apart than the last distance listed, with the same confidence; 0 without a sample.

    Examples
    --------
    >>> import hopwave as hw
    >>> h = hw.distance_histogram(hw.generate.path(4))
    >>> h.counts.tolist(), h.unreached
    ([4, 6, 4, 2], 0)
    """

    counts: npt.NDArray[Any]
    pairs: int
    bounds: npt.NDArray[np.float64] | None = None
    beyond: float = 0.0

    @property
    def unreached(self) -> Any:
        """How many pairs have no path from source to target."""
        return self.pairs - self.counts.sum().item()

    def mean(self) -> float:
        """The mean distance over all pairs of different vertices with a path between them; NaN without such pairs.

        >>> import hopwave as hw
        >>> hw.distance_histogram(hw.generate.path(3)).mean()
        1.3333333333333333
        """
        reached = self.counts[1:].sum()
        return float(self.counts @ np.arange(len(self.counts)) / reached) if reached else float("nan")

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with one row per distance: pairs, and the bound if there is one."""
        pandas = optional("pandas", "to_pandas")
        columns = {"pairs": self.counts}
        if self.bounds is not None:
            columns["bound"] = self.bounds
        return pandas.DataFrame(columns, index=pandas.RangeIndex(len(self.counts), name="distance"))

    def _draw(self, axes: Axes) -> None:
        bounds = None if self.bounds is None else on_host(self.bounds)[1:]
        drawing.histogram(axes, on_host(self.counts)[1:], bounds, 1, "distance", "pairs")

    def _repr_html_(self) -> str:
        first = self.counts[: 2 * SHOWN].tolist()
        shown = [(str(distance), f"{count:,}") for distance, count in enumerate(first)]
        if len(shown) < len(self.counts):
            shown.append(("…", ""))
        return html.table(f"Distances of {self.pairs:,} pairs", shown, ("distance", "pairs"))

    def __repr__(self) -> str:
        return f"DistanceHistogram(depth={max(0, len(self.counts) - 1)}, pairs={self.pairs:,})"
