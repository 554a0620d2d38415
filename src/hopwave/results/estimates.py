"""Estimates: a number with an interval, a histogram of distances, HyperBall, and the memory of a call."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hopwave.algorithms import hyperball as _hyperball
from hopwave.arrays import on_host
from hopwave.checks.keywords import offers
from hopwave.display import drawing, html
from hopwave.errors import GraphError, amount
from hopwave.results.scores import VertexScores
from hopwave.results.tables import SHOWN, Tabled, surely

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Estimate:
    """A number estimated from a sample. `float()` returns its value.

    Attributes
    ----------
    value : float
        The estimate from a sample of `sources` sources.
    low, high : float
        Interval that contains the exact number with probability at least 1 − `risk` (`delta=`), or with about that
        probability if `interval` is "normal" instead of "guaranteed".
    standard_error : float
        Estimated standard error of the value. NaN after a single draw.

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
        """The interval, (low, high)."""
        return self.low, self.high

    @property
    def error(self) -> float:
        """Error bound of the value, the larger of high − value and value − low."""
        return max(self.high - self.value, self.value - self.low)

    def __float__(self) -> float:
        return self.value

    def _repr_html_(self) -> str:
        interval = f"{self.low:.6g} to {self.high:.6g} ({surely(self.interval, self.risk)})"
        first = [("value", f"{self.value:.6g}"), ("interval", interval)]
        more = [("standard error", f"{self.standard_error:.2g}"), ("sources drawn", f"{self.sources:,}")]
        return html.table("Estimate", first + more)

    def __str__(self) -> str:
        return f"{self.value:.6g} ± {self.error:.2g} ({surely(self.interval, self.risk)})"


@dataclass(frozen=True, eq=False)
class DistanceHistogram(drawing.Plotted, Tabled):
    """Number of ordered pairs (source, target) at each distance.

    `plot()` draws the counts for distances of at least 1, with error bars after a sample.

    Attributes
    ----------
    counts : array
        `counts[d]` is the number of pairs at distance d. `counts[0]` counts the sources themselves.
    pairs : int
        Number of all pairs, including pairs without a path.
    bounds : array of float64, or None
        Half-widths of the confidence intervals of the counts after a sample (`k=`); otherwise None.
    beyond : float
        Upper bound on the pairs at larger distances than listed, with the same confidence; 0 without a sample.

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
        """Number of pairs without a path from source to target."""
        return self.pairs - self.counts.sum().item()

    def mean(self) -> float:
        """Mean distance over all pairs of different vertices with a path; NaN if there are none.

        >>> hw.distance_histogram(hw.generate.path(3)).mean()
        1.3333333333333333
        """
        reached = self.counts[1:].sum()
        return float(self.counts @ np.arange(len(self.counts)) / reached) if reached else float("nan")

    def _columns(self) -> dict[str, npt.NDArray[Any]]:
        bounds = {} if self.bounds is None else {"bound": on_host(self.bounds)}
        return {"pairs": on_host(self.counts), **bounds}

    def _names(self) -> dict[str, npt.NDArray[Any]]:
        return {"distance": np.arange(len(self.counts))}

    def _draw(self, axes: Axes) -> None:
        counts = on_host(self.counts)[1:]
        sampled: Any = {}
        if self.bounds is not None:
            bounds = on_host(self.bounds)[1:]
            sampled = {"yerr": [np.minimum(counts, bounds), bounds], "ecolor": drawing.INK, "capsize": 2}
        drawing.bars(axes, range(1, len(self.counts)), counts, **sampled)
        axes.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)  # type: ignore[call-arg]
        axes.set(xlabel="distance", ylabel="pairs")

    def _repr_html_(self) -> str:
        first = self.counts[: 2 * SHOWN].tolist()
        shown = [(str(distance), f"{count:,}") for distance, count in enumerate(first)]
        if len(shown) < len(self.counts):
            shown.append(("…", ""))
        return html.table(f"Distances of {self.pairs:,} pairs", shown, ("distance", "pairs"))

    def __repr__(self) -> str:
        return f"DistanceHistogram(depth={max(0, len(self.counts) - 1)}, pairs={self.pairs:,})"


@offers
@dataclass(frozen=True, eq=False)
class HyperBall:
    """Estimates of distances from HyperLogLog counters.

    Standard errors come from the spread of the runs. With 8 runs, two standard errors cover about 90% of exact values.

    Attributes
    ----------
    pairs : array of float64, one row per run
        Number of ordered pairs at most 0, 1, 2, … hops apart, including each vertex paired with itself.
    closeness, harmonic : VertexScores
        Estimates of `closeness_centrality` and `harmonic_centrality`.
    closeness_errors, harmonic_errors : array of float64
        Standard errors of the estimates, per vertex.
    precision : int
        Logarithm of the registers of a counter.

    Examples
    --------
    >>> ball = hw.hyperball(hw.generate.grid(30, 30), seed=1)
    >>> mean, error = ball.mean_distance
    >>> abs(mean - 20) < 3 * error < 3
    True
    """

    pairs: npt.NDArray[np.float64] = field(repr=False)
    closeness: VertexScores = field(repr=False)
    closeness_errors: npt.NDArray[np.float64] = field(repr=False)
    harmonic: VertexScores = field(repr=False)
    harmonic_errors: npt.NDArray[np.float64] = field(repr=False)
    precision: int

    @property
    def neighbourhood(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """The neighbourhood function (the mean of `pairs` over the runs) and its standard errors."""
        return _hyperball.jackknife(self.pairs, lambda N: N)

    @property
    def mean_distance(self) -> tuple[float, float]:
        """(mean distance, standard error) over all pairs of different vertices with a path."""
        return _hyperball.jackknife(self.pairs, _hyperball.mean_distance)

    def effective_diameter(self, share: float = 0.9) -> tuple[float, float]:
        """(effective diameter, standard error): the number of hops that reaches this share of all pairs with a path.

        Pairs include each vertex with itself. The value is interpolated between integers.

        >>> value, error = hw.hyperball(hw.generate.complete(50), seed=1).effective_diameter()
        >>> round(value, 1)
        0.9
        """
        if not 0 < share <= 1:
            raise GraphError(f"share={share!r} is not a share of pairs; pass a number above 0 and at most 1")
        return _hyperball.jackknife(self.pairs, lambda N: _hyperball.effective_diameter(N, share))

    def _facts(self) -> list[tuple[str, str]]:
        found = {"mean distance": self.mean_distance, "effective diameter": self.effective_diameter()}
        facts = [(name, f"{value:.4g} ± {error:.2g}") for name, (value, error) in found.items()]
        return [*facts, ("runs", f"{len(self.pairs)} with counters of {1 << self.precision} bytes")]

    def _repr_html_(self) -> str:
        return html.table("HyperBall, ± one standard error", self._facts())

    def __repr__(self) -> str:
        return f"HyperBall({', '.join(f'{name} {value}' for name, value in self._facts())})"


@dataclass(frozen=True)
class MemoryEstimate:
    """The peak memory of a call. `int()` returns its bytes.

    Attributes
    ----------
    what, device : str
        The function, and "cpu" or "cuda".
    bytes : int
        Peak of the process's resident memory without the graph's own arrays, or of the GPU's memory.
    parts : dict of str to int
        Bytes of the arrays that exist at the peak, largest first.
    free : int, or None
        Bytes that are free on the device now; None if unknown.
    rows : str, or None
        How a GPU would store the adjacency lists: "plain"; "compressed", if they do not fit otherwise; or "across the
        bus", with `host_bytes` of the compressed lists in pinned host memory. None on a CPU.

    Examples
    --------
    >>> needed = hw.estimate_memory(hw.generate.grid(500, 500), "bfs", device="cpu")
    >>> 5e6 < needed.bytes < 12e6, needed.fits
    (True, True)
    """

    what: str
    device: str
    bytes: int
    parts: dict[str, int]
    free: int | None = None
    rows: str | None = None
    host_bytes: int = 0

    @property
    def fits(self) -> bool:
        """Whether the device has `bytes` of free memory; True if `free` is unknown."""
        return self.free is None or self.bytes <= self.free

    def __int__(self) -> int:
        return self.bytes

    def __str__(self) -> str:
        most = ", ".join(f"{name} {amount(size)}" for name, size in list(self.parts.items())[:4])
        where = "the GPU" if self.device == "cuda" else "the CPU"
        free = "" if self.free is None else f"; {amount(self.free)} are free"
        rows = "; its rows are compressed" if self.rows in ("compressed", "across the bus") else ""
        if self.rows == "across the bus":
            rows += f", and {amount(self.host_bytes)} of them are read across the bus"
        return f"{self.what} on {where}: {amount(self.bytes)} at its peak ({most}){free}{rows}"

    def _repr_html_(self) -> str:
        sizes = {"peak": self.bytes, **self.parts, "free": self.free}
        facts = [(name, amount(size)) for name, size in sizes.items() if size is not None]
        rows = [] if self.rows is None else [("rows", self.rows)]
        return html.table(f"Memory of {self.what} on {self.device}", facts + rows)
