"""Which way to betweenness within ± epsilon is cheapest: all sources, a sample of sources, or a sample of paths.

Costs are predicted in arcs looked at, which takes no clock: the same call always makes the same choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from hopwave.algorithms.path_sampling import Goal, pilot_size
from hopwave.algorithms.sampled_paths import Pilot
from hopwave.algorithms.sampling import FIRST_SAMPLE, half_width

Method = Literal["auto", "exact", "sources", "paths"]
METHODS: tuple[Method, ...] = ("auto", "exact", "sources", "paths")

SMALL = 1 << 22  # sources × arcs up to which all sources take some hundredths of a second: no sample is worth planning
ARCS_PER_PAIR = 200  # that drawing a pair costs in addition to the arcs it looks at
PAIR_ARC = 1.0  # an arc looked at between a pair, against one from a source, there and back: 7 to 20 ns, both
SOURCE_VARIANCE = 0.4  # of a vertex's share of the paths from a source, against a single path; 0.2 to 0.5 were seen


@dataclass(frozen=True)
class Choice:
    """The method, and why."""

    method: Literal["exact", "sources", "paths"]
    why: str


def before_pilot(n: int, m: int, goal: Goal) -> Choice | None:
    """All sources, where that is cheaper than any sample; otherwise None.

    >>> before_pilot(100, 400, Goal(0.1, 0.1)).why
    'exact: all 100 sources are cheap'
    """
    if n * m <= max(SMALL, ARCS_PER_PAIR * pilot_size(goal)):
        return Choice("exact", f"exact: all {n:,} sources are cheap")
    return None


def after_pilot(n: int, m: int, pilot: Pilot) -> Choice:
    """The cheapest of the three, by what the pilot found."""
    goal, pairs = pilot.schedule.goal, pilot.schedule.first
    sources = sources_needed(n, goal, pilot.greatest)
    cost = {
        "paths": pairs * (PAIR_ARC * pilot.arcs_per_pair + ARCS_PER_PAIR),
        "sources": float(sources * m),
        "exact": float(n * m),
    }
    if cost["exact"] <= min(cost.values()):
        return Choice("exact", f"exact: all {n:,} sources cost less than about {pairs:,} paths")
    if cost["sources"] < cost["paths"]:
        return Choice("sources", f"about {sources:,} sources cost less than about {pairs:,} paths")
    return Choice("paths", f"about {pairs:,} paths cost less than about {sources:,} sources")


def sources_needed(n: int, goal: Goal, share: float) -> int:
    """How many sources `sampling.adaptive` will draw if the highest vertex is on that share of all paths; at most n.

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
