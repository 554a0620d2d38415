"""Sampling of paths: the pilot, the stopping rule, progress, checkpoints, and the check of every path."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.algorithms.betweenness_sampling.source_bounds import divergence
from hopwave.algorithms.brandes import Certificate
from hopwave.algorithms.checkpoint import Checkpoint, File, key_of
from hopwave.engines import Engine
from hopwave.errors import EngineError, ExecutorError
from hopwave.generate.counter import start
from hopwave.graph import Graph
from hopwave.planning.jobs import PATH_SUMS, Floats, Integers, PathSampling, Progress, SampleJob
from hopwave.planning.plan import Plan, Push
from hopwave.planning.rules import Always
from hopwave.system.progress import Meter, say

# ---------------------------------------------------------------- betweenness from random shortest paths

#     s, t   a pair of different vertices, drawn uniformly        N   pairs drawn        c(v)   paths with v inside
#     p(v)   the probability that v is inside (not at an end of) a drawn path. The score is p · n / (n − 2), because
#            NetworkX does not count pairs with the endpoint v
#
# Each pair contributes one of its shortest paths, drawn uniformly, so c(v) is binomial: N draws with probability p(v).
# A pair without a path counts for no vertex. The stopping rule has the two phases of KADABRA (Borassi & Natale 2016):
#
# 1. A pilot sample estimates every p(v). It determines the number of pairs N of the first look and how the risk is
#    divided among the vertices: vertices inside many paths get most of it. The pilot's counts are then discarded.
# 2. New pairs are drawn, with looks after N, N · GROWTH, N · GROWTH², … pairs. Look j may err with probability
#    delta / ((j + 1)(j + 2)); these risks add up to delta. With its share of this risk, each side of each vertex gets
#    the exact interval of Clopper and Pearson for p(v). The run ends when all intervals are within ± epsilon.
#
# KADABRA tests a martingale bound instead, which is wider but may be tested after every sample, and stops at the
# latest after a number of samples that follows from the diameter. Here the looks and the shares are fixed before the
# first pair of phase 2 is drawn, so a union bound over looks, vertices and sides proves the guarantee.


PILOT = 8.0  # the pilot has PILOT / epsilon pairs: a few per cent of all pairs, enough to hit a hub some dozen times
GROWTH = 1.2  # ratio of pairs between successive looks: less wastes risk, more wastes pairs
LIKELY, AT_MOST = 1.0, 3.0  # standard deviations added to the pilot's p, for N and for the shares
EVEN = 0.1  # share of the risk that is divided evenly, in case the pilot was wrong about a vertex
MAX_PAIRS = 1 << 50


@dataclass(frozen=True)
class Goal:
    """A sample ends when, except with risk delta, every p(v) is within ± epsilon or the `top` highest are certain."""

    epsilon: float
    delta: float
    top: int | None = None


@dataclass(frozen=True)
class Look:
    """The intervals after a look: low ≤ p ≤ high of the vertices `met`, ascending; all others share one interval."""

    pairs: int
    widest: float
    met: npt.NDArray[np.intp]
    low: Floats
    high: Floats
    others: tuple[float, float]

    def half_widths(self, counts: Integers) -> Floats:
        """Error bounds of the shares of all vertices."""
        share = counts[self.met] / self.pairs
        widths = np.full(len(counts), self.others[1])
        widths[self.met] = np.maximum(self.high - share, share - self.low)
        return widths


def pilot_size(goal: Goal) -> int:
    """The number of pairs of the pilot."""
    return math.ceil(PILOT / goal.epsilon)


def look_risk(delta: float, look: int) -> float:
    """The risk of a look, counted from 0. The risks of all looks add up to delta."""
    return delta / ((look + 1) * (look + 2))


def interval(hits: Integers, pairs: int, risk: Floats) -> tuple[Floats, Floats]:
    """Clopper and Pearson's interval for the probability of a hit: each side errs with at most `risk`."""
    from scipy.special import betaincinv  # importing takes 0.1 s

    k, misses = np.asarray(hits, np.float64), pairs - np.asarray(hits, np.float64)
    low = np.where(k > 0, betaincinv(np.maximum(k, 1), misses + 1, risk), 0.0)
    high = np.where(misses > 0, 1.0 - betaincinv(np.maximum(misses, 1), k + 1, risk), 1.0)
    return low, high


@dataclass(frozen=True)
class Schedule:
    """The number of pairs of the first look, and shares[group[v]], a vertex's share of a look's risk for one side."""

    goal: Goal
    first: int
    group: npt.NDArray[np.intp]
    shares: Floats

    def looks(self) -> Iterator[tuple[int, float]]:
        """Yield (number of pairs, risk) of each look, practically without end."""
        pairs = float(self.first)
        for number in range(10_000):
            yield math.ceil(pairs), look_risk(self.goal.delta, number)
            pairs *= GROWTH

    def look(self, counts: Integers, pairs: int, risk: float) -> Look:
        """The intervals after `pairs` pairs. Vertices with equal group and count have one interval, computed once."""
        met = np.flatnonzero((counts != 0) | (self.group != 0))
        kinds, inverse = np.unique(counts[met] * len(self.shares) + self.group[met], return_inverse=True)
        kinds = np.append(kinds, 0)  # for `others`: count 0, group 0 (the fewest hits in the pilot)
        hits, group = kinds // len(self.shares), kinds % len(self.shares)
        low, high = interval(hits, pairs, risk * self.shares[group])
        width = np.maximum(high - hits / pairs, hits / pairs - low)
        widest = float(width[: None if len(met) < len(counts) else -1].max(initial=0.0))
        return Look(pairs, widest, met, low[inverse], high[inverse], (float(low[-1]), float(high[-1])))


def undecided(look: Look, counts: Integers, top: int | None) -> npt.NDArray[np.intp]:
    """The vertices that may or may not be among the `top` highest; all vertices if top is None."""
    n, met = len(counts), look.met
    if top is None:
        return np.arange(n)
    if top >= n:
        return np.arange(0)
    order = np.argsort(-counts[met], kind="stable")
    best, rest = order[:top], order[top:]
    barrier, floor = look.high[rest].max(initial=0.0), look.low[best].min(initial=1.0)
    if len(met) < n:
        barrier = max(barrier, look.others[1])
        floor = floor if top <= len(met) else look.others[0]
    near = np.concatenate([best[look.low[best] < barrier], rest[look.high[rest] > floor]])
    if len(met) == n or look.others[1] <= floor:
        return np.sort(met[near])
    is_met = np.zeros(n, np.bool_)
    is_met[met] = True
    return np.sort(np.concatenate([met[near], np.flatnonzero(~is_met)]))


def schedule(counts: Integers, pairs: int, goal: Goal) -> Schedule:
    """The size of the first look and the shares of the risk, from a pilot's counts over `pairs` pairs."""
    times = np.bincount(counts)  # times[c]: number of vertices hit c times
    hits = np.flatnonzero(times)
    many, group = times[hits], (np.cumsum(times > 0) - 1)[counts]
    guess, most = (np.minimum((hits + sigmas * np.sqrt(hits + 1.0)) / pairs, 1.0) for sigmas in (LIKELY, AT_MOST))

    def enough(size: int) -> bool:
        shares = divide(most, many, size, goal.epsilon)
        expected = np.minimum(np.round(guess * size), size).astype(np.int64)
        low, high = interval(expected, size, look_risk(goal.delta, 0) * shares)
        widest = float(np.maximum(high - expected / size, expected / size - low).max(initial=0.0))
        return widest <= goal.epsilon or (goal.top is not None and apart(low, high, many, goal.top))

    size = _least(enough)
    return Schedule(goal, size, group, divide(most, many, size, goal.epsilon))


def apart(low: Floats, high: Floats, many: Integers, top: int) -> bool:
    """Whether no other vertex can be above the `top` highest. Groups of `many` vertices each, lowest estimate first."""
    above = np.cumsum(many[::-1])[::-1]  # number of vertices in a group and all groups above it
    place = np.flatnonzero(above == top)
    if not len(place):
        return bool(top >= above[0])  # no group begins at `top`: certain only without other vertices
    cut = int(place[0])
    return bool(high[:cut].max(initial=0.0) <= low[cut:].min())


def divide(guess: Floats, many: Integers, size: int, epsilon: float) -> Floats:
    """Per group of `many` vertices with equal estimated p: the share of the risk for one vertex and one side.

    It is proportional to exp(−size · E), E the relative entropy of p and p ± epsilon; a share EVEN is divided evenly.
    """
    rate = np.full(len(guess), np.inf)
    for q in (guess + epsilon, guess - epsilon):
        inside = (q > 0) & (q < 1)
        rate[inside] = np.minimum(rate[inside], divergence(guess[inside], q[inside]))
    least = rate.min(initial=np.inf)
    weight = np.exp(-size * (rate - least)) if least < np.inf else np.ones(len(rate))  # else no vertex can err
    return np.asarray((1 - EVEN) * weight / (2 * (weight @ many)) + EVEN / (2 * many.sum()))


def _least(enough: Any) -> int:
    """The smallest sufficient size, to within one per cent."""
    high = 64
    while not enough(high) and high < MAX_PAIRS:
        high *= 2
    low = high // 2
    while high - low > max(1, high // 100):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


# Names the method in results. Users select it with method=, not with plan=.
PATHS = Plan(
    "path-sampling",
    "Borassi & Natale, KADABRA, ESA 2016",
    "3 and 4",
    "betweenness from random shortest paths, one pair of searches per worker",
    (Push("thread", "queue"),),
    Always(),
    task="betweenness",
)


@dataclass(frozen=True)
class PathRun:
    """The engine that samples paths, and the kind of paths."""

    graph: Graph
    engine: Engine
    job: SampleJob
    threads: int | None

    def begin(self, start: int) -> PathSampling:
        """A run over the random pairs of the seed `start`."""
        return self.engine.path_sampling(self.graph, replace(self.job, start=start), self.threads)


@dataclass(frozen=True)
class PathCertificate(Certificate):
    """Checks of a sample of paths. A sample that fails a check raises an EngineError.

    Every sampled path leads from its source to its target, has as many arcs as their distance, and its arcs exist in
    the graph. The sum of all counts is the number of inner vertices of all paths.

    Attributes
    ----------
    paths : int
        Number of paths checked.
    error, tolerance : float
        0.0, because counts are integers.
    sources : int
        0, because paths are sampled between pairs.

    Examples
    --------
    >>> str(PathCertificate(0.0, 0.0, 0, 2000))
    '2,000 drawn paths checked'
    """

    paths: int

    def __str__(self) -> str:
        return f"{self.paths:,} drawn paths checked"


@dataclass(frozen=True)
class Pilot:
    """Results of the pilot: a schedule, the number of pairs, their mean number of arcs, and the highest share p."""

    schedule: Schedule
    pairs: int
    arcs_per_pair: float
    greatest: float


@dataclass(frozen=True)
class Sample:
    """Estimates of p, half-widths of their intervals, and the vertices that may or may not be among the highest."""

    shares: Floats
    bounds: Floats
    pairs: int
    certificate: PathCertificate
    undecided: npt.NDArray[np.intp]


def draw_pilot(run: PathRun, seed: int, goal: Goal, progress: Progress) -> Pilot:
    """Draw the pilot, and schedule the sample."""
    drawn, size = run.begin(start(seed, "pilot pairs")), pilot_size(goal)
    with Meter("betweenness, pilot sample", size, None if callable(progress) else progress) as meter:
        _draw_until(drawn, size, meter, progress, None)
    check(drawn)
    arcs = int(drawn.sums[PATH_SUMS.index("arcs")]) / size
    return Pilot(schedule(drawn.counts, size, goal), size, arcs, float(drawn.counts.max()) / size)


def draw(run: PathRun, seed: int, plan: Schedule, progress: Progress, checkpoint: File) -> Sample:
    """Draw pairs until a look is enough. A checkpoint is read at the start and written during the run."""
    first, goal, saved = start(seed, "sample pairs"), plan.goal, None
    drawn = run.begin(first)
    if checkpoint is not None:
        what = (PATHS.name, first, run.job.cutoff, goal, run.engine.name)
        saved = Checkpoint(checkpoint, key_of(run.graph, run.job.weighted, what))
        drawn.done = saved.load(saved_of(drawn))
        if drawn.done and progress is not False:
            say(saved.continues(f"{drawn.done:,} pairs"))
    with Meter("", None, None if callable(progress) else progress) as meter:
        widest = ""
        for size, risk in plan.looks():
            if drawn.done > size:  # the resumed run had passed this look
                continue
            meter.stage(f"betweenness, sample of {size:,} pairs{widest}", size)
            _draw_until(drawn, size, meter, progress, saved)
            look = plan.look(drawn.counts, size, risk)
            certain = goal.top is not None and not len(undecided(look, drawn.counts, goal.top))
            if certain or look.widest <= goal.epsilon:
                break
            widest = f", ± {look.widest:.2g} so far"
    certificate, counts = check(drawn), drawn.counts
    ties = np.arange(0) if goal.top is None else undecided(look, counts, goal.top)
    return Sample(counts / drawn.done, look.half_widths(counts), drawn.done, certificate, ties)


def _draw_until(run: PathSampling, size: int, meter: Meter, progress: Progress, checkpoint: Checkpoint | None) -> None:
    def poll(done: int) -> bool:
        meter.update(done)
        if callable(progress):
            progress(done, size)
        return checkpoint is not None and checkpoint.is_due()

    try:
        while run.done < size:
            run.advance(size, poll)
            if checkpoint:
                checkpoint.save(saved_of(run), run.done)
    except (KeyboardInterrupt, ExecutorError) as error:
        if checkpoint:
            checkpoint.save_and_tell(error, saved_of(run), run.done)
        raise
    if callable(progress):
        progress(run.done, size)


def saved_of(run: PathSampling) -> SimpleNamespace:
    """The contents of a checkpoint: a block is one pair, and counts replace sums."""
    return SimpleNamespace(size=1, blocks=2**53, total=run.counts, certificate=run.sums)


def check(run: PathSampling) -> PathCertificate:
    """Raise an EngineError unless every path is correct and all inner vertices were counted once."""
    sums = dict(zip(PATH_SUMS, run.sums.tolist(), strict=True))
    counted = int(run.counts.sum())
    if sums["wrong"] or counted != sums["inner_vertices"]:
        found = (
            f"{sums['wrong']:,} of {run.done:,} drawn paths are not shortest paths of the graph"
            if sums["wrong"]
            else f"{counted:,} vertices were counted on paths with {sums['inner_vertices']:,} inner vertices"
        )
        raise EngineError(
            f"the sample of paths failed its check: {found}; "
            "this is a bug in hopwave or a hardware fault: please report it, and try method='sources'"
        )
    return PathCertificate(0.0, 0.0, 0, run.done - sums["unconnected"])
