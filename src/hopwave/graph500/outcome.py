"""The report of a Graph500 run: the keys of the specification, in its order, with its statistics.

TEPS (traversed edges per second) are the input edges in the searched component, including repeats and self-loops,
divided by the time of the search. Their mean is harmonic; the specification defines its standard deviation (Norris
1940).
"""

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

NAMES = ("min", "firstquartile", "median", "thirdquartile", "max")


@dataclass(frozen=True)
class Searched:
    """One search: its root, its seconds, the input edges in its component, its depth, and the rules that it violated.

    waiting: the mean seconds that a rank waited in exchanges; None in one process.

    >>> from hopwave import graph500
    >>> [one.broken for one in graph500.run(6, device="cpu", roots=2).searches]
    [(), ()]
    """

    root: int
    seconds: float
    edges: int
    depth: int
    broken: tuple[str, ...] = ()
    waiting: float | None = None


class Kernel(Protocol):
    """A timed kernel, called once per root."""

    def search(self, root: int) -> Searched:
        """Search (timed), then validate (not timed)."""


@dataclass(frozen=True)
class Outcome:
    """The results of a run. `about` describes hardware and options.

    >>> one = Outcome(20, 16, 1.5, [Searched(3, 0.5, 100, 6), Searched(4, 0.25, 100, 6)])
    >>> one.values()["bfs_harmonic_mean_TEPS"], one.valid
    (266.6666666666667, True)
    """

    scale: int
    edge_factor: int
    construction_seconds: float
    searches: list[Searched]
    generation_seconds: float | None = None
    about: dict[str, Any] = field(default_factory=dict)
    paths: list[Searched] = field(default_factory=list)  # searches of the third kernel, if it ran

    @property
    def valid(self) -> bool:
        """Whether every search satisfied every rule."""
        return not any(one.broken for one in (*self.searches, *self.paths))

    @property
    def waiting_share(self) -> float | None:
        """The share of the searches' time that ranks spent waiting in exchanges; None in one process."""
        waited = [one.waiting for one in self.searches if one.waiting is not None]
        return sum(waited) / sum(one.seconds for one in self.searches) if waited else None

    def values(self) -> dict[str, int | float]:
        """All keys of the specification's output with their values."""
        found: dict[str, int | float] = {"SCALE": self.scale, "edgefactor": self.edge_factor}
        found["NBFS"] = len(self.searches)
        if self.generation_seconds is not None:
            found["graph_generation"] = self.generation_seconds
        found["construction_time"] = self.construction_seconds
        found |= _statistics(self.searches, "bfs")
        return found | _statistics(self.paths, "sssp") if self.paths else found

    def lines(self) -> list[str]:
        """The output in the specification's format: one key and value per line."""
        return [f"{key}: {one if isinstance(one, int) else f'{one:.12g}'}" for key, one in self.values().items()]


def harmonic(rates: npt.NDArray[np.float64]) -> tuple[float, float]:
    """The harmonic mean, and its standard deviation as the specification defines it."""
    if not len(rates) or not (rates > 0).all():
        return 0.0, 0.0
    mean = float(len(rates) / (1 / rates).sum())
    if len(rates) == 1:
        return mean, 0.0
    return mean, float(np.sqrt(((1 / rates - 1 / mean) ** 2).sum()) / (len(rates) - 1) * mean**2)


def _statistics(searches: list[Searched], kernel: str) -> dict[str, float]:
    seconds = np.array([one.seconds for one in searches])
    edges = np.array([float(one.edges) for one in searches])
    found: dict[str, float] = {}
    for what, values in (("time", seconds), ("nedge", edges), ("TEPS", edges / seconds)):
        quartiles = np.quantile(values, [0, 0.25, 0.5, 0.75, 1]).tolist()
        found |= {f"{kernel}_{name}_{what}": value for name, value in zip(NAMES, quartiles, strict=True)}
        if what != "TEPS":
            deviation = float(values.std(ddof=1)) if len(values) > 1 else 0.0
            found |= {f"{kernel}_mean_{what}": float(values.mean()), f"{kernel}_stddev_{what}": deviation}
    mean, deviation = harmonic(edges / seconds)
    return found | {f"{kernel}_harmonic_mean_TEPS": mean, f"{kernel}_harmonic_stddev_TEPS": deviation}
