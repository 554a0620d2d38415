"""Choice of the cheapest method for betweenness within ± epsilon: all sources, sampled sources, or sampled paths."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hopwave.algorithms.betweenness_sampling.paths import Goal, Pilot, pilot_size
from hopwave.algorithms.brandes import TOLERANCE, Certificate, SourceRun, scale
from hopwave.algorithms.draws import half_width, numpy_generator
from hopwave.planning.jobs import BetweennessJob, Floats, Progress

FIRST_SAMPLE = 128  # sources of the first round


def adaptive(
    run: SourceRun, job: BetweennessJob, epsilon: float, delta: float, seed: Any, progress: Progress
) -> tuple[Floats, Floats, int, Certificate]:
    """Normalised scores within ± epsilon, bounds, sample size and certificate; bounds fail with risk at most delta.

    Each round doubles the sample and bounds each vertex with risk delta / (n · 2^round), until all sources cost less.
    """
    n, generator = run.graph.n, numpy_generator(seed)
    sums, squares = np.zeros(n), np.zeros(n)
    k, worst, so_far = 0, 0.0, ""
    for round_number in range(1, 64):
        more = FIRST_SAMPLE if k == 0 else k
        if n <= 2 or k + more >= n:
            break
        drawn = replace(job, sources=generator.integers(0, n, more), squares=True)  # with replacement
        total, certificate = run.add_up(drawn, f"betweenness, sample of {k + more:,} sources{so_far}", progress)
        worst = max(worst, certificate.error)
        k += more
        sums += total[:n]
        squares += total[n:]
        mean, square = sums / ((n - 2) * k), squares / ((n - 2.0) ** 2 * k)
        bounds = half_width(mean, square, k, delta / (n * 2.0**round_number)) * (n / (n - 1))
        if bounds.max() <= epsilon:
            return mean * (n / (n - 1)), bounds, k, Certificate(worst, TOLERANCE, k)
        so_far = f", ± {bounds.max():.2g} so far"
    everything = replace(job, sources=np.arange(n, dtype=np.int64))
    total, certificate = run.add_up(everything, "betweenness, all sources", progress)
    return scale(total, n, normalized=True, directed=True, endpoints=False), np.zeros(n), n, certificate


Method = Literal["auto", "exact", "sources", "paths"]
METHODS: tuple[Method, ...] = ("auto", "exact", "sources", "paths")

SMALL = 0.04  # seconds; if all sources take less time, sampling is not worthwhile
SOURCE_VARIANCE = 0.4  # variance of one source's contribution to a score, relative to one path; measured: 0.2 to 0.5


@dataclass(frozen=True)
class Costs:
    """Nanoseconds on an engine: fixed per source or pair, and per arc inspected, for both passes."""

    source: float
    source_arc: float
    pair: float
    pair_arc: float

    def sources(self, count: int, arcs: int) -> float:
        """Seconds for `count` sources of a graph with `arcs` arcs."""
        return count * (self.source + self.source_arc * arcs) * 1e-9

    def pairs(self, count: int, arcs: float) -> float:
        """Seconds for `count` pairs that inspect `arcs` arcs each."""
        return count * (self.pair + self.pair_arc * arcs) * 1e-9


# Measured. CPU: 7 to 20 ns per arc, for sources and for pairs. GPU: an H200, on which the sources of a batch share the
# work on an arc and each pair has its own warp (benchmarks/results/gpu-betweenness.md and gpu-paths.md).
ON_CPU = Costs(source=0.0, source_arc=10.0, pair=2000.0, pair_arc=10.0)
ON_GPU = Costs(source=4000.0, source_arc=0.006, pair=500.0, pair_arc=0.3)


@dataclass(frozen=True)
class Choice:
    """The method, and the reason."""

    method: Literal["exact", "sources", "paths"]
    why: str


def costs_on(engine: str) -> Costs:
    """The costs on the engine with this name."""
    return ON_GPU if engine == "cuda" else ON_CPU


def before_pilot(
    n: int, m: int, goal: Goal, engine: str, weighted: bool = False, continued: bool = False
) -> Choice | None:
    """The method, if it is clear without a pilot; else None. `continued`: a checkpoint excludes sampled sources."""
    costs = costs_on(engine)
    if weighted and engine == "cuda" and not continued:
        return Choice("sources", "with weights, a GPU samples sources; only the CPU samples paths")
    if costs.sources(n, m) <= max(SMALL, costs.pairs(pilot_size(goal), 0.0)):
        return Choice("exact", f"exact: all {n:,} sources are cheap")
    return None


def after_pilot(n: int, m: int, pilot: Pilot, engine: str, continued: bool = False) -> Choice:
    """The cheapest method according to the pilot; with `continued`, never sampled sources."""
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
    """The number of sources that `adaptive` will draw if the highest score is `share`; at most n."""
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
