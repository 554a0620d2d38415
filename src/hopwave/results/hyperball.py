"""What HyperBall estimates, with standard errors."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from hopwave.algorithms import hyperball as _hyperball
from hopwave.checks.keywords import offers
from hopwave.display import html
from hopwave.errors import GraphError
from hopwave.results.scores import VertexScores


@offers
@dataclass(frozen=True, eq=False)
class HyperBall:
    """Estimates of distances from HyperLogLog counters.

    Every standard error comes from the spread of the runs. A difference of two standard errors or less is usual: with 8
    runs, about nine of ten exact values are within that.

    Attributes
    ----------
    pairs : array of float64, one row per run
        How many ordered pairs of vertices are at most 0, 1, 2, … hops apart, each vertex with itself included.
    closeness, harmonic : VertexScores
        Estimates of `closeness_centrality` and `harmonic_centrality`.
    closeness_errors, harmonic_errors : array of float64
        Their standard errors, per vertex.
    precision : int
        The logarithm of the registers of a counter.

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
        """The neighbourhood function, which is the mean of `pairs` over the runs, and its standard errors."""
        value, error = _hyperball.jackknife(self.pairs, lambda N: N)
        return value, error

    @property
    def mean_distance(self) -> tuple[float, float]:
        """The mean distance of all pairs of different vertices with a path, and its standard error."""
        value, error = _hyperball.jackknife(self.pairs, _hyperball.mean_distance)
        return value, float(error)

    def effective_diameter(self, share: float = 0.9) -> tuple[float, float]:
        """The number of hops within which that share of all pairs with a path lie, and its standard error.

        Each vertex with itself is a pair. Between two numbers of hops, the value is interpolated.

        >>> value, error = hw.hyperball(hw.generate.complete(50), seed=1).effective_diameter()
        >>> round(value, 1)
        0.9
        """
        if not 0 < share <= 1:
            raise GraphError(f"share={share!r} is not a share of pairs; give a number above 0 and up to 1")
        value, error = _hyperball.jackknife(self.pairs, lambda N: _hyperball.effective_diameter(N, share))
        return value, float(error)

    def _facts(self) -> list[tuple[str, str]]:
        mean, diameter = self.mean_distance, self.effective_diameter()
        return [
            ("mean distance", f"{mean[0]:.4g} ± {mean[1]:.2g}"),
            ("effective diameter", f"{diameter[0]:.4g} ± {diameter[1]:.2g}"),
            ("runs", f"{len(self.pairs)} with counters of {1 << self.precision} bytes"),
        ]

    def _repr_html_(self) -> str:
        return html.table("HyperBall, ± one standard error", self._facts())

    def __repr__(self) -> str:
        return f"HyperBall({', '.join(f'{name} {value}' for name, value in self._facts())})"
