"""Betweenness centrality (Brandes; TurboBC, Algorithm 1): sums of dependencies over sources, then their scale.

    s, t   source and target        σ   number of shortest paths        δ_s(v)   = Σ_t σ_st(v) / σ_st, v's dependency

Engines add up δ_s(v) over the sources, in blocks and in order. What is done with the sums, how sources are drawn, when
a sample is large enough and what a result must satisfy is decided here, the same for every engine.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hopwave.algorithms.checkpoint import Checkpoint
from hopwave.errors import EngineError
from hopwave.jobs import Accumulation, Job, Progress
from hopwave.progress import Meter
from hopwave.results.betweenness import Certificate

TOLERANCE = 1e-9


def accumulate(
    run: Accumulation, job: Job, title: str, progress: Progress, checkpoint: Checkpoint | None
) -> Certificate:
    """Run a job to its end, with progress, from and to a checkpoint. The sums are in run.total."""
    done = checkpoint.load(run) if checkpoint else 0
    sources = len(job.sources)
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
        except KeyboardInterrupt:
            if checkpoint:
                checkpoint.save(run, run.done)
            raise
        if callable(progress):
            progress(sources, sources)
    sums = run.total[: len(run.total) // 2] if job.squares else run.total
    return certify(run.certificate, None if job.endpoints else sums)  # the ends of paths are in the sums, too


def certify(both_sides: npt.NDArray[np.float64], sums: npt.NDArray[np.float64] | None = None) -> Certificate:
    """How far each source's Σ δ is from what it must be, Σ (d − 1); an error where that is too far. So it is with the
    sums over all sources, which a lost or repeated addition would change.

    >>> certify(np.array([[3.0, 3.0], [0.0, 0.0]]), np.array([1.0, 2.0])).error
    0.0
    """
    found, due = both_sides[:, 0], both_sides[:, 1]
    error = np.abs(found - due) / np.maximum(due, 1.0)
    worst = float(error.max(initial=0.0))
    if not worst <= TOLERANCE:  # NaN fails too
        bad = int(np.argmax(np.where(np.isnan(error), np.inf, error)))
        raise EngineError(
            f"betweenness failed its own check: source number {bad} sums to {found[bad]!r} instead of {due[bad]!r}; "
            "this is a fault of hopwave or of the hardware: please report it, and try another device="
        )
    if sums is not None:
        whole, right = float(sums.sum()), float(due.sum())
        apart = abs(whole - right) / max(right, 1.0)
        if not apart <= TOLERANCE:
            raise EngineError(
                f"betweenness failed its own check: all sources together sum to {whole!r} instead of {right!r}; "
                "this is a fault of hopwave or of the hardware: please report it, and try another device="
            )
        worst = max(worst, apart)
    return Certificate(worst, TOLERANCE, len(both_sides))
