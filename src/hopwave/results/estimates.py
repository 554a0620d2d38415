"""Results about all pairs of vertices: a single estimate with its interval, a histogram of distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hopwave.arrays import on_host
from hopwave.display import drawing, html
from hopwave.results.tables import SHOWN, polars_frame
from hopwave.system.optional import optional

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from matplotlib.axes import Axes


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

        >>> hw.distance_histogram(hw.generate.path(3)).mean()
        1.3333333333333333
        """
        reached = self.counts[1:].sum()
        return float(self.counts @ np.arange(len(self.counts)) / reached) if reached else float("nan")

    def to_pandas(self) -> pd.DataFrame:
        """A DataFrame with one row per distance: pairs, and the bound if there is one."""
        pandas = optional("pandas", "to_pandas")
        return pandas.DataFrame(self._columns(), index=pandas.RangeIndex(len(self.counts), name="distance"))

    def to_polars(self) -> pl.DataFrame:
        """A polars DataFrame with one row per distance: distance, pairs, and the bound if there is one."""
        return polars_frame({"distance": np.arange(len(self.counts)), **self._columns()})

    def _columns(self) -> dict[str, npt.NDArray[Any]]:
        bounds = {} if self.bounds is None else {"bound": on_host(self.bounds)}
        return {"pairs": on_host(self.counts), **bounds}

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
