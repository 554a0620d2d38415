"""One number per vertex, an estimate with its error, a histogram of distances."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hopwave.arrays import on_host
from hopwave.graph import Graph, vertex_names

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class VertexScores:
    """One number for each of some vertices, in the order of `vertices` (ids; all of them unless some were chosen).

    `bounds` are half-widths after a sample (k=), else None: each exact score lies within its bound, all of them
    together except with the risk delta=.

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

    def top(self, k: int = 10) -> list[tuple[Any, Any]]:
        """The k vertices of highest score, by label or id, highest first; ties in vertex order."""
        scores = on_host(self.scores)
        best = np.argsort(-scores, kind="stable")[:k]
        return [(self.graph.label(int(self.vertices[i])), scores[i].item()) for i in best]

    def to_dict(self) -> dict[Any, Any]:
        """Score by vertex (label or id), as NetworkX gives it."""
        return dict(zip(self._names().tolist(), self.scores.tolist(), strict=True))

    def to_pandas(self) -> pd.DataFrame:
        """One row a vertex: its score, and the bound where there is one."""
        import pandas as pd

        columns = {self.name: on_host(self.scores)}
        if self.bounds is not None:
            columns["bound"] = on_host(self.bounds)
        return pd.DataFrame(columns, index=pd.Index(self._names(), name="vertex"))

    def _names(self) -> npt.NDArray[Any]:
        return np.asarray(vertex_names(self.graph))[self.vertices]

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        sampled = "" if self.bounds is None else f", bounds up to {on_host(self.bounds).max(initial=0.0):.3g}"
        return f"VertexScores({self.name}, {len(self.scores):,} vertices{sampled})"


@dataclass(frozen=True)
class Estimate:
    """A number known to within ±error, except with the risk delta=, from that many sampled sources. `float()` works.

    >>> import hopwave as hw
    >>> mean = hw.average_shortest_path_length(hw.generate.grid(30, 30), k=200, seed=1)
    >>> low, high = mean.bounds
    >>> low < 20.0 < high
    True
    """

    value: float
    error: float
    sources: int
    risk: float

    @property
    def bounds(self) -> tuple[float, float]:
        """value − error and value + error."""
        return self.value - self.error, self.value + self.error

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.value:.6g} ± {self.error:.2g}"


@dataclass(frozen=True, eq=False)
class DistanceHistogram:
    """How many ordered pairs (source, target) lie at each distance: counts[d], from counts[0], the sources themselves.

    `bounds` are half-widths of the counts after a sample (k=), else None; `pairs` is the number of all pairs, with
    those that have no way between them.

    >>> import hopwave as hw
    >>> h = hw.distance_histogram(hw.generate.path(4))
    >>> h.counts.tolist(), h.unreached
    ([4, 6, 4, 2], 0)
    """

    counts: npt.NDArray[Any]
    pairs: int
    bounds: npt.NDArray[np.float64] | None = None

    @property
    def unreached(self) -> Any:
        """Pairs without a way from source to target."""
        return self.pairs - self.counts.sum().item()

    def mean(self) -> float:
        """The mean distance over all pairs of different vertices that have a way between them; NaN where there is none.

        >>> import hopwave as hw
        >>> hw.distance_histogram(hw.generate.path(3)).mean()
        1.3333333333333333
        """
        reached = self.counts[1:].sum()
        return float(self.counts @ np.arange(len(self.counts)) / reached) if reached else float("nan")

    def to_pandas(self) -> pd.DataFrame:
        """One row a distance: pairs, and the bound where there is one."""
        import pandas as pd

        columns = {"pairs": self.counts}
        if self.bounds is not None:
            columns["bound"] = self.bounds
        return pd.DataFrame(columns, index=pd.RangeIndex(len(self.counts), name="distance"))

    def __repr__(self) -> str:
        return f"DistanceHistogram(depth={max(0, len(self.counts) - 1)}, pairs={self.pairs:,})"
