"""Which way to betweenness within ± epsilon is cheapest: all sources, a sample of sources, or a sample of paths.

Costs are predicted from sizes and from what a pilot counted, which takes no clock: the same call always makes the same
choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from hopwave.algorithms.betweenness_sampling.path_schedule import Goal, pilot_size
from hopwave.algorithms.betweenness_sampling.paths import Pilot
from hopwave.algorithms.betweenness_sampling.sources import FIRST_SAMPLE
from hopwave.algorithms.draws import half_width

Method = Literal["auto", "exact", "sources", "paths"]
METHODS: tuple[Method, ...] = ("auto", "exact", "sources", "paths")

SMALL = 0.04  # seconds up to which all sources are taken: no sample is worth planning
SOURCE_VARIANCE = 0.4  # of a vertex's share of the paths from a source, against a single path; 0.2 to 0.5 were seen


@dataclass(frozen=True)
class Costs:
    """Nanoseconds on an engine: of a source or a pair at least, and of an arc that it looks at, there and back."""

    source: float
    source_arc: float
    pair: float
    pair_arc: float

    def sources(self, count: int, arcs: int) -> float:
        """Seconds of that many sources of a graph with so many arcs."""
        return count * (self.source + self.source_arc * arcs) * 1e-9

    def pairs(self, count: int, arcs: float) -> float:
        """Seconds of that many pairs that look at so many arcs each."""
        return count * (self.pair + self.pair_arc * arcs) * 1e-9


# By the names of engines. On a CPU an arc took 7 to 20 ns, either way. On an H200, where sources share the arcs of a
# batch, and a pair has a warp to itself: see benchmarks/results/gpu-betweenness.md and gpu-paths.md.
ON_CPU = Costs(source=0.0, source_arc=10.0, pair=2000.0, pair_arc=10.0)
ON_GPU = Costs(source=4000.0, source_arc=0.006, pair=500.0, pair_arc=0.3)


@dataclass(frozen=True)
class Choice:
    """The method, and why."""

    method: Literal["exact", "sources", "paths"]
    why: str


def costs_on(engine: str) -> Costs:
    """The costs on the engine of that name."""
    return ON_GPU if engine == "cuda" else ON_CPU


def before_pilot(
    n: int, m: int, goal: Goal, engine: str, weighted: bool = False, continued: bool = False
) -> Choice | None:
    """What is cheaper than any pilot: all sources where they are few, sources on a GPU along weights; otherwise None.

    `continued`: the run has a checkpoint to continue from, which a sample of sources cannot.

    >>> before_pilot(100, 400, Goal(0.1, 0.1), "cpu").why
    'exact: all 100 sources are cheap'
    """
    costs = costs_on(engine)
    if weighted and engine == "cuda" and not continued:
        return Choice("sources", "along weights, a GPU goes from sources; paths are drawn on the CPU")
    if costs.sources(n, m) <= max(SMALL, costs.pairs(pilot_size(goal), 0.0)):
        return Choice("exact", f"exact: all {n:,} sources are cheap")
    return None


def after_pilot(n: int, m: int, pilot: Pilot, engine: str, continued: bool = False) -> Choice:
    """The cheapest of the three, by what the pilot found; with `continued`, of all but a sample of sources."""
    costs = costs_on(engine)
    goal, pairs = pilot.schedule.goal, pilot.schedule.first
    sources = sources_needed(n, goal, pilot.greatest)
    cost = {
        "paths": costs.pairs(pairs, pilot.arcs_per_pair),
        "sources": costs.sources(sources, m),
        "exact": costs.sources(n, m),
    }
    if cost["exact"] <= (cost["paths"] if continued else min(cost.values())):
        return Choice("exact", f"exact: all {n:,} sources cost less than about {pairs:,} paths")
    if cost["sources"] < cost["paths"] and not continued:
        return Choice("sources", f"about {sources:,} sources cost less than about {pairs:,} paths")
    return Choice("paths", f"about {pairs:,} paths cost less than about {sources:,} sources")


def sources_needed(n: int, goal: Goal, share: float) -> int:
    """How many sources `sources.adaptive` will draw if the highest vertex is on that share of all paths; at most n.

    >>> sources_needed(10**6, Goal(0.01, 0.1), 0.1) > sources_needed(10**6, Goal(0.02, 0.1), 0.1)
    True
    """
    mean: npt.NDArray[np.float64] = np.array([share])
    square = mean**2 + SOURCE_VARIANCE * mean * (1 - mean)
    k = FIRST_SAMPLE
    for round_number in range(1, 64):
        if k >= n:
            break
        if half_width(mean, square, k, goal.delta / (n * 2.0**round_number))[0] <= goal.epsilon:
            return k
        k *= 2
    return n
