"""Drawing paths until they are enough: the pilot, the looks, progress, checkpoints, and the check of every path."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.algorithms.betweenness_sampling.path_schedule import Goal, Schedule, pilot_size, schedule, undecided
from hopwave.algorithms.brandes import Certificate
from hopwave.algorithms.checkpoint import Checkpoint, File, key_of
from hopwave.engines import Engine
from hopwave.errors import EngineError, ExecutorError
from hopwave.generate.counter import start
from hopwave.graph import Graph
from hopwave.planning.jobs import PATH_SUMS, Floats, PathSampling, Progress, SampleJob
from hopwave.planning.plan import Plan, Push
from hopwave.planning.rules import Always
from hopwave.system.progress import Meter, say

# Names the method in results. Users choose it by method=, not by plan=.
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
    """The engine that draws random paths, and the job that says what kind of paths."""

    graph: Graph
    engine: Engine
    job: SampleJob
    threads: int | None

    def begin(self, start: int) -> PathSampling:
        """A run over the random pairs of the seed `start`."""
        return self.engine.path_sampling(self.graph, replace(self.job, start=start), self.threads)


@dataclass(frozen=True)
class PathCertificate(Certificate):
    """What was checked of a sample of paths. A sample that fails raises an EngineError instead of returning.

    Every drawn path leads from its source to its target, has as many arcs as their distance, and all its arcs are in
    the graph. The sum of all counts is the number of inner vertices of all paths.

    Attributes
    ----------
    paths : int
        How many paths were checked.
    error, tolerance : float
        0.0: counts are whole numbers.
    sources : int
        0: paths were drawn between pairs.

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
    """What the pilot found: the schedule of the sample, the number of pairs drawn, the mean number of arcs that a pair
    looked at, and the highest share: the busiest vertex was inside this share of the paths."""

    schedule: Schedule
    pairs: int
    arcs_per_pair: float
    greatest: float


@dataclass(frozen=True)
class Sample:
    """A sample that is large enough: estimates of p, half-widths of their intervals, and what was checked.

    `undecided`: vertices that may or may not be among the highest (Goal.top).
    """

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
    """Draw pairs until a look is enough. A checkpoint is read at the start, and written as the run goes on."""
    first, goal, saved = start(seed, "sample pairs"), plan.goal, None
    drawn = run.begin(first)
    if checkpoint is not None:
        what = (PATHS.name, first, run.job.cutoff, goal, run.engine.name)
        saved = Checkpoint(checkpoint, key_of(run.graph, run.job.weighted, what))
        drawn.done = saved.load(Saved(drawn))
        if drawn.done and progress is not False:
            say(saved.continues(f"{drawn.done:,} pairs"))
    with Meter("", None, None if callable(progress) else progress) as meter:
        widest = ""
        for size, risk in plan.looks():
            if drawn.done > size:  # a continued run was here already
                continue
            meter.stage(f"betweenness, sample of {size:,} pairs{widest}", size)
            _draw_until(drawn, size, meter, progress, saved)
            look = plan.look(drawn.counts, size, risk)
            if plan.is_enough(look, drawn.counts):
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
                checkpoint.save(Saved(run), run.done)
    except (KeyboardInterrupt, ExecutorError) as error:
        if checkpoint:
            checkpoint.save_and_tell(error, Saved(run), run.done)
        raise
    if callable(progress):
        progress(run.done, size)


class Saved:
    """What a checkpoint stores of a path sampling: a block is one pair, and counts take the place of sums."""

    size = 1
    blocks = int(np.iinfo(np.int64).max)

    def __init__(self, run: PathSampling) -> None:
        self.total: npt.NDArray[Any] = run.counts
        self.certificate: npt.NDArray[Any] = run.sums


def check(run: PathSampling) -> PathCertificate:
    """Raise an EngineError unless every path was right and all inner vertices were counted once."""
    sums = dict(zip(PATH_SUMS, run.sums.tolist(), strict=True))
    counted = int(run.counts.sum())
    if sums["wrong"] or counted != sums["inner_vertices"]:
        found = (
            f"{sums['wrong']:,} of {run.done:,} drawn paths are not shortest paths of the graph"
            if sums["wrong"]
            else f"{counted:,} vertices were counted on paths with {sums['inner_vertices']:,} inner vertices"
        )
        raise EngineError(
            f"the sample of paths failed its own check: {found}; "
            "this is a fault of hopwave or of the hardware: please report it, and try method='sources'"
        )
    return PathCertificate(0.0, 0.0, 0, run.done - sums["unconnected"])
