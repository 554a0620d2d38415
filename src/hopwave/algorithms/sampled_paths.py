"""Drawing paths until they are enough: the pilot, the looks, progress, checkpoints, and the check of every path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.algorithms.brandes import Certificate
from hopwave.algorithms.checkpoint import Checkpoint
from hopwave.algorithms.path_sampling import Goal, Look, Schedule, pilot_size, schedule, undecided
from hopwave.errors import EngineError, ExecutorError
from hopwave.generate.counter import start
from hopwave.planning.jobs import PATH_SUMS, Floats, Integers, PathSampling, Progress
from hopwave.system.progress import Meter, say

Begin = Callable[[int], PathSampling]  # a run over the pairs that follow from that start


@dataclass(frozen=True)
class PathCertificate(Certificate):
    """What was checked of a sample of paths. A sample that fails raises an EngineError instead of returning.

    Every drawn path leads from its source to its target, has as many arcs as their distance, and all its arcs are in
    the graph. All vertices together were counted as often as the paths have inner vertices.

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
    """What the pilot found: the schedule of the sample, how many pairs it drew, how many arcs each looked at, and the
    share of its paths that the busiest vertex is inside of."""

    schedule: Schedule
    pairs: int
    arcs_per_pair: float
    greatest: float


@dataclass(frozen=True)
class Sample:
    """A sample that is large enough: estimates of p, half-widths of their intervals, and what was checked.

    `undecided`: vertices that may or may not be among the highest that were wanted apart (Goal.top).
    """

    shares: Floats
    bounds: Floats
    pairs: int
    certificate: PathCertificate
    undecided: npt.NDArray[np.intp]


def draw_pilot(begin: Begin, seed: int, goal: Goal, progress: Progress) -> Pilot:
    """Draw the pilot, and plan the sample by it."""
    run, size = begin(start(seed, "pilot pairs")), pilot_size(goal)
    with Meter("betweenness, pilot sample", size, None if callable(progress) else progress) as meter:
        _draw_until(run, size, meter, progress, None)
    check(run)
    arcs = int(run.sums[PATH_SUMS.index("arcs")]) / size
    return Pilot(schedule(run.counts, size, goal), size, arcs, float(run.counts.max()) / size)


def draw(begin: Begin, seed: int, plan: Schedule, progress: Progress, checkpoint: Checkpoint | None) -> Sample:
    """Draw pairs until a look is enough. A checkpoint is read at the start, and written as the run goes on."""
    run = begin(start(seed, "sample pairs"))
    if checkpoint:
        run.done = checkpoint.load(Saved(run))
        if run.done and progress is not False:
            say(checkpoint.continues(f"{run.done:,} pairs"))
    with Meter("", None, None if callable(progress) else progress) as meter:
        widest = ""
        for size, risk in plan.looks():
            if run.done > size:  # a continued run was here already
                continue
            meter.stage(f"betweenness, sample of {size:,} pairs{widest}", size)
            _draw_until(run, size, meter, progress, checkpoint)
            look = plan.look(run.counts, size, risk)
            if plan.is_enough(look, run.counts):
                break
            widest = f", ± {look.widest:.2g} so far"
    certificate = check(run)
    shares = run.counts / run.done
    return Sample(shares, look.half_widths(run.counts), run.done, certificate, _ties(look, run.counts, plan.goal))


def _ties(look: Look, counts: Integers, goal: Goal) -> npt.NDArray[np.intp]:
    return np.arange(0) if goal.top is None else undecided(look, counts, goal.top)


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
    """A path sampling as a checkpoint stores it: blocks of one pair, counts in place of sums."""

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
