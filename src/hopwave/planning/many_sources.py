"""Searches from many sources: records of the engines' jobs and results."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from hopwave.planning.jobs import Floats, Integers

Poll = Callable[[int], object]  # called periodically with the number of completed sources
NONE, EXPONENTIAL, GAUSSIAN, POWER = range(4)  # codes in kernels
KINDS = {"exponential": EXPONENTIAL, "gaussian": GAUSSIAN, "power": POWER}


@dataclass(frozen=True)
class Decay:
    """f(d) by kind: 1, exp(−d / scale), exp(−d² / (2 · scale²)), or max(d, least)^−scale."""

    kind: int = NONE
    scale: float = 1.0
    least: float = 1.0

    def __call__(self, d: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """f of the distances d."""
        if self.kind == EXPONENTIAL:
            return np.exp(-d / self.scale)
        if self.kind == GAUSSIAN:
            return np.exp(-0.5 * (d / self.scale) ** 2)
        if self.kind == POWER:
            return np.maximum(d, self.least) ** -self.scale
        return np.ones(len(d))


@dataclass(frozen=True)
class Valued:
    """Σ value · f(d) over the vertices within each limit (ascending), for every column of values."""

    columns: npt.NDArray[np.float64]  # columns × vertices
    limits: npt.NDArray[np.float64]
    decay: Decay = Decay()


@dataclass(frozen=True)
class Sweep:
    """Searches from these sources, up to `limit` hops. `keep` selects the results:

    "sums"     per source: vertices reached, Σ d, Σ 1/d, the largest d; and the number of pairs at each distance
    "columns"  the sums, and per vertex: sources that reach it, Σ w(d), Σ w(d)²; weight "hops" is w(d) = d and
               "inverse" is w(d) = 1 / d in units of 2^-shift
    "rows"     all distances, or distances to distinct `targets`, in that order
    "pairs"    (target, distance) of each source in turn, nearest first; with `upwards` only targets above their source
    "values"   per source, column and limit of `valued` the sum of values; only along weights

    `together` lets searches share their steps, and `depth` is the expected number of levels, if known; both change the
    time, never the results. `weighted` measures along the graph's weights: `limit` is then a length, w(d) = d is also
    in units of 2^-shift, pairs at distance 0 have no 1/d, and there is no histogram. Columns are then summed block by
    block, `block` sources each: results do not depend on where. `out_of` and `components`: see BetweennessJob.
    """

    sources: Integers
    keep: Literal["sums", "columns", "rows", "pairs", "values"]
    limit: float | None = None
    together: bool = True
    weight: Literal["hops", "inverse"] = "hops"
    shift: int = 0
    upwards: bool = False
    depth: int = 0
    weighted: bool = False
    block: int | None = None
    out_of: int | None = None
    components: npt.NDArray[np.int32] | None = None
    targets: Integers | None = None
    valued: Valued | None = None

    @property
    def planned_sources(self) -> int:
        """The number of sources for which launches are planned."""
        return len(self.sources) if self.out_of is None else self.out_of

    def chosen(self, found: "Swept") -> "Swept":
        """The result of searches in hops, with only the columns of the targets."""
        return found if self.weighted or self.targets is None else replace(found, rows=found.rows[:, self.targets])


@dataclass(frozen=True)
class Swept:
    """The arrays that the job's `keep` requests; others are empty. One entry per source, in their order, or per vertex.

    The second of two types is for a weighted sweep. Unreachable is −1 in rows, infinity in weighted rows.
    """

    reached: Integers
    total: Integers | Floats
    farthest: Integers | Floats
    inverse: Floats
    histogram: Integers
    columns: Integers | Floats
    rows: npt.NDArray[Any]  # int32 or float64
    pairs: tuple[npt.NDArray[np.int32], npt.NDArray[Any]]  # targets, and their distances as int32 or float64
    values: Floats = field(default_factory=lambda: np.zeros((0, 0, 0)))  # sources × columns × limits

    @classmethod
    def of(cls, k: int, weighted: bool, **found: Any) -> "Swept":
        """The results from k sources; arrays that are not passed are zero or empty."""
        number, distance = (np.float64, np.float64) if weighted else (np.int64, np.int32)
        empty: dict[str, Any] = {
            "reached": np.zeros(k, np.int64), "total": np.zeros(k, number), "farthest": np.zeros(k, number),
            "inverse": np.zeros(k), "histogram": np.zeros(0, np.int64), "columns": np.zeros((0, 3), number),
            "rows": np.empty((0, 0), distance), "pairs": (np.empty(0, np.int32), np.empty(0, distance)),
        }  # fmt: skip
        return cls(**empty | found)


CentralityScore = Literal["closeness", "wasserman_faust", "harmonic"]


@dataclass(frozen=True)
class CutSweep:
    """Searches, each stopped once its score is known to be < `least`. A vertex reaches `low` to `high` vertices."""

    sources: Integers
    score: CentralityScore
    least: float
    low: Integers
    high: Integers


class CutSwept(NamedTuple):
    """Sums over the targets of each source, as in Swept; valid only if the search is `whole` (was not stopped)."""

    reached: Integers
    total: Integers
    inverse: Floats
    whole: npt.NDArray[np.bool_]
    arcs: int  # inspected by all searches


@dataclass(frozen=True)
class PathSums:
    """Sums over all sources: of paths through every vertex (stress), or of flow through it (load).

    For a group: per source, the fraction of its shortest paths through the group, with `endpoints` including endpoints.
    """

    kind: Literal["stress", "load", "group"]
    cutoff: int | None = None
    group: npt.NDArray[np.bool_] | None = None
    endpoints: bool = False


@dataclass(frozen=True)
class HyperBallJob:
    """One run of HyperBall: counters of 2^precision registers, hashes that begin at `seed`."""

    precision: int
    seed: int


class Balls(NamedTuple):
    """Estimates of HyperBall: pairs within t hops for every t, and sums over the vertices that reach v."""

    around: Floats
    reached: Floats
    total: Floats
    inverse: Floats
