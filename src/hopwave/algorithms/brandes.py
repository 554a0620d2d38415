"""Betweenness centrality (Brandes; TurboBC, Algorithm 1): running the sum over all sources, and checking it.

    s, t   source and target        σ   number of shortest paths        δ_s(v)   = Σ_t σ_st(v) / σ_st, v's dependency

Engines add up δ_s(v) over the sources, block after block and always in the same order. What every engine has in common
is here: progress, checkpoints, and the identity that every correct run satisfies. `draws` draws the sources, `scaling`
turns sums into scores.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hopwave import engines
from hopwave.algebra.operators import monoid
from hopwave.algorithms.checkpoint import Checkpoint, File, key_of
from hopwave.arrays import Array, on_gpu
from hopwave.engines import Engine
from hopwave.errors import EngineError, ExecutorError
from hopwave.graph import Graph
from hopwave.planning.jobs import Accumulation, BetweennessJob, Progress
from hopwave.planning.plan import Plan, PlanUsed
from hopwave.system.parts import parted
from hopwave.system.progress import Meter, quietly, say

TOLERANCE = 1e-9


@dataclass(frozen=True)
class Certificate:
    """How far a betweenness run is from the identity that every correct run satisfies.

    For each source s, Σ_v δ_s(v) over v ≠ s equals Σ_t (h(s, t) − 1) over the reached targets (for edges: Σ_t h(s, t)).
    A pair that counts a(s) · b(t) does so on both sides.
    h(s, t) is the number of hops, d(s, t). Along weights, shortest paths differ in their number of hops, and h(s, t) is
    the mean over all of them: with σ the number of shortest paths from s, h(s, v) = Σ_u σ(u) (h(s, u) + 1) / σ(v) over
    the predecessors u of v. Both sides are by-products of the run. A run whose error exceeds the tolerance raises an
    EngineError instead of returning.

    Attributes
    ----------
    error : float
        The greatest relative difference between the two sides, over all sources and for their total.
    tolerance : float
        The greatest error that is accepted.
    sources : int
        How many sources were checked.

    Examples
    --------
    >>> hw.betweenness_centrality(hw.generate.path(4)).certificate.error
    0.0
    """

    error: float
    tolerance: float
    sources: int

    def __str__(self) -> str:
        return f"arithmetic checked to {self.error:.1e} (tolerance {self.tolerance:g})"


@dataclass
class SourceRun:
    """The engine and the plan that sum dependencies over sources."""

    graph: Graph
    engine: Engine
    plan: Plan
    why: str
    threads: int | None

    def add_up(
        self, job: BetweennessJob, title: str, progress: Progress, checkpoint: File = None, fetch: bool = True
    ) -> tuple[Array, Certificate]:
        """The sums over the sources of a job, and their certificate; with fetch=False the sums may stay on a device."""
        run = self.engine.accumulation(self.graph, job, self.plan, self.threads)
        saved = None
        if checkpoint is None:
            progress = quietly(progress, len(job.sources) * (self.graph.n + self.graph.m))
        else:
            what = (job.cutoff, job.endpoints, job.edges, job.squares, self.plan.name, self.engine.name)
            demand = job.targets, job.origins, job.copies
            saved = Checkpoint(checkpoint, key_of(self.graph, job.weighted, job.sources, *demand, what))
        certificate = accumulate(run, job, title, progress, saved)
        return run.total if fetch else sums_of(run), certificate

    @property
    def plan_used(self) -> PlanUsed:
        """Which plan ran, and why, for the result."""
        return PlanUsed(self.plan, self.why, self.engine.without(self.plan))


def accumulate(
    run: Accumulation, job: BetweennessJob, title: str, progress: Progress, checkpoint: Checkpoint | None
) -> Certificate:
    """Run a job to its end and check it. The sums are then in run.total.

    A checkpoint is read at the start, and written from time to time, on Ctrl-C, and when an executor is lost.
    """
    done = checkpoint.load(run) if checkpoint else 0
    sources = len(job.sources)
    if checkpoint and done and progress is not False:
        say(checkpoint.continues(f"{min(done * run.size, sources):,} of {sources:,} sources"))
    show = None if callable(progress) else progress
    with Meter(title, sources, show) as meter:

        def poll(blocks: int) -> bool:
            reached = min(blocks * run.size, sources)
            meter.update(reached)
            if callable(progress):
                progress(reached, sources)
            return checkpoint is not None and checkpoint.is_due()

        try:
            while done < run.blocks:
                done = run.advance(done, poll)
                if checkpoint:
                    checkpoint.save(run, done)
        except (KeyboardInterrupt, ExecutorError) as error:
            if checkpoint:
                checkpoint.save_and_tell(error, run, max(done, run.done))  # run.done is 0 until the run has begun
            raise
        if callable(progress):
            progress(sources, sources)
    sums = None if job.endpoints else sums_of(run)  # with endpoints the sums are not Σ δ, so the total is not checked
    if sums is not None and job.squares:
        sums = sums[: len(sums) // 2]
    return certify(run.certificate, sums)


def sums_of(run: Accumulation) -> Array:
    """The sums of a run, without a copy: on the device if the run left them there, else on the host."""
    left: Array = getattr(run, "sums_on_device", None)
    return run.total if left is None else left


def _sum(values: Array) -> float:
    """Σ values. On a GPU by a kernel of ours: CuPy would first compile one."""
    if not on_gpu(values):
        return float(sum(parted(np.add.reduce, values)))
    return float(engines.algebra("cuda").reduce(monoid.plus, values, np.dtype(np.float64))) if len(values) else 0.0


def _apart(found: float, due: float) -> float:
    """The relative difference of two sums, NaN if one of them is."""
    return abs(found - due) / max(due, 1.0)


def certify(both_sides: npt.NDArray[np.float64], sums: Array = None, whose: str = "source") -> Certificate:
    """Compare Σ_v δ_s(v) of each source with Σ_t (h(s, t) − 1); raise an EngineError if they differ too much.

    `both_sides` has one row per source, or per what `whose` says. Also checks the total over all sources, if the `sums`
    per vertex are given: a lost or repeated addition would change it.

    >>> certify(np.array([[3.0, 3.0], [0.0, 0.0]]), np.array([1.0, 2.0])).error
    0.0
    """
    found, due = both_sides[:, 0], both_sides[:, 1]
    if len(both_sides) == 1:  # without NumPy's functions, which take longer than the search of a small graph
        right: float = due.item()
        worst = _apart(found.item(), right)
    else:
        right = float(np.add.reduce(due))
        worst = float(np.maximum.reduce(np.abs(found - due) / np.maximum(due, 1.0), initial=0.0))  # .max(), 2 µs faster
    if not worst <= TOLERANCE:  # NaN fails too
        error = np.abs(found - due) / np.maximum(due, 1.0)
        bad = int(np.argmax(np.where(np.isnan(error), np.inf, error)))
        raise EngineError(
            f"betweenness failed its own check: {whose} number {bad} sums to {found[bad]!r} instead of {due[bad]!r}; "
            "this is a fault of hopwave or of the hardware: please report it, and try another device="
        )
    if sums is not None:
        whole = _sum(sums)
        apart = _apart(whole, right)
        if not apart <= TOLERANCE:
            raise EngineError(
                f"betweenness failed its own check: all sources together sum to {whole!r} instead of {right!r}; "
                "this is a fault of hopwave or of the hardware: please report it, and try another device="
            )
        worst = max(worst, apart)
    return Certificate(worst, TOLERANCE, len(both_sides))
