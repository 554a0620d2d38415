"""A sample of sources that grows until every betweenness score is within ± epsilon."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from hopwave.algorithms.brandes import TOLERANCE, Certificate, SourceRun
from hopwave.algorithms.draws import half_width, numpy_generator
from hopwave.algorithms.scaling import scale
from hopwave.planning.jobs import BetweennessJob, Floats, Progress

FIRST_SAMPLE = 128  # sources of the first round


def adaptive(
    run: SourceRun, job: BetweennessJob, epsilon: float, delta: float, seed: Any, progress: Progress
) -> tuple[Floats, Floats, int, Certificate]:
    """Normalised betweenness within ±epsilon, for all vertices together with probability 1 − delta.

    Returns the scores, their bounds, the size of the sample and its certificate.

    Sources are drawn in rounds, each of which doubles the sample. After a round, every vertex has a bound that fails
    with risk delta / (n · 2^round). The run ends when the widest bound is below epsilon. If the next sample would have
    n sources or more, all n vertices are used instead, and the scores are exact.
    """
    n, generator = run.graph.n, numpy_generator(seed)
    sums, squares = np.zeros(n), np.zeros(n)
    k, worst, so_far = 0, 0.0, ""
    for round_number in range(1, 64):
        more = FIRST_SAMPLE if k == 0 else k
        if n <= 2 or k + more >= n:
            break
        drawn = replace(job, sources=generator.integers(0, n, more), squares=True)  # some may come twice
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
