"""Searches from many sources: records of what engines compute, and of what they return."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from hopwave.planning.jobs import Floats, Integers

Poll = Callable[[int], object]  # called now and then with the number of sources that are done
NONE, EXPONENTIAL, GAUSSIAN, POWER = range(4)  # as kernels know them
KINDS = {"exponential": EXPONENTIAL, "gaussian": GAUSSIAN, "power": POWER}


@dataclass(frozen=True)
class Decay:
    """f(d) by kind: 1, exp(−d / scale), exp(−d² / (2 · scale²)), or max(d, least)^−scale."""

    kind: int = NONE
    scale: float = 1.0
    least: float = 1.0

    def __call__(self, d: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """f of some distances."""
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
    """Searches from these sources, up to `limit` hops. `keep` says what to return:

    "sums"     per source: how many it reached, Σ d, Σ 1/d, the greatest d; and how many pairs are at each distance
    "columns"  the sums, and per vertex: how many sources reach it, Σ w(d), Σ w(d)², where weight "hops" is w(d) = d and
               "inverse" is w(d) = 1 / d in units of 2^-shift
    "rows"     every distance, or those to different `targets`, in that order
    "pairs"    (target, distance) of each source in turn, nearest first; with `upwards` only targets above their source
    "values"   per source, column and limit of `valued` the sum of values; along weights only

    `together` lets searches share their steps, and `depth` is the number of levels to expect, if known; both change how
    long the searches take, never what they find. `weighted` measures along the graph's weights: `limit` is then a
    length, w(d) = d is in units of 2^-shift too, pairs at distance 0 have no 1/d, and there is no histogram. Columns
    are then summed block by block, `block` sources each, so that bits do not depend on where a block is computed.
    `out_of`: see BetweennessJob.
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
    targets: Integers | None = None
    valued: Valued | None = None

    @property
    def planned_sources(self) -> int:
        """The number of sources that launches are planned for."""
        return len(self.sources) if self.out_of is None else self.out_of

    def chosen(self, found: Swept) -> Swept:
        """What searches that count hops found, with the columns of the targets alone."""
        return found if self.weighted or self.targets is None else replace(found, rows=found.rows[:, self.targets])


@dataclass(frozen=True)
class Swept:
    """The arrays that the job's `keep` asks for; the others are empty. One entry per source, in their order, or vertex.

    The second of two types is that of a weighted sweep. No path is −1 in rows, infinity in weighted rows.
    """

    reached: Integers
    total: Integers | Floats
    farthest: Integers | Floats
    inverse: Floats
    histogram: Integers
    columns: Integers | Floats
    rows: npt.NDArray[Any]  # of int32 or float64
    pairs: tuple[npt.NDArray[np.int32], npt.NDArray[Any]]  # targets, and their distances as int32 or float64
    values: Floats = field(default_factory=lambda: np.zeros((0, 0, 0)))  # sources × columns × limits

    @classmethod
    def of(cls, k: int, weighted: bool, **found: Any) -> Swept:
        """What was found from k sources; zeros, or nothing, where nothing is given."""
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
    """Searches, each cut off once its score is known to be < `least`. A vertex reaches `low` to `high` vertices."""

    sources: Integers
    score: CentralityScore
    least: float
    low: Integers
    high: Integers


class CutSwept(NamedTuple):
    """Sums over the targets of each source, as in Swept; only valid if the source's search is `whole` (not cut off)."""

    reached: Integers
    total: Integers
    inverse: Floats
    whole: npt.NDArray[np.bool_]
    arcs: int  # looked at by all searches


@dataclass(frozen=True)
class PathSums:
    """Sums over all sources: of paths through every vertex (stress), or of what they send through it (load).

    For a group: per source, the part of its shortest paths that touch it, with `endpoints` also at their ends.
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
    """What a run of HyperBall estimates: pairs within t hops for every t, and sums over the vertices that reach v."""

    around: Floats
    reached: Floats
    total: Floats
    inverse: Floats
