"""Betweenness centrality (Brandes; TurboBC, Algorithm 1): sums of dependencies over sources, then their scale.

    s, t   source and target        σ   number of shortest paths        δ_s(v)   = Σ_t σ_st(v) / σ_st, v's dependency

Engines add up δ_s(v) over the sources, in blocks and in order. What is done with the sums, how sources are drawn, when
a sample is large enough and what a result must satisfy is decided here, the same for every engine.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from hopwave.algorithms.checkpoint import Checkpoint
from hopwave.errors import EngineError, GraphError
from hopwave.io.progress import Meter
from hopwave.result import Certificate

TOLERANCE = 1e-9
FIRST_SAMPLE = 128

Progress = bool | None | Callable[[int, int], object]


@dataclass(frozen=True)
class Job:
    """What an engine is to sum up: δ over these sources, towards targets (all, if None), along paths up to cutoff.

    `edges` asks for one score an arc instead of one a vertex, `squares` for Σ δ² behind Σ δ, `endpoints` counts the
    ends of a path as vertices on it, `deterministic` wants the same bits from every run on the same device.
    """

    sources: npt.NDArray[np.int64]
    targets: npt.NDArray[np.bool_] | None = None
    cutoff: int | None = None
    endpoints: bool = False
    edges: bool = False
    squares: bool = False
    memory_limit: int | None = None
    deterministic: bool = False


class Accumulation(Protocol):
    """A run of an engine over a job, block of sources after block."""

    blocks: int
    size: int  # sources a block
    done: int
    total: npt.NDArray[np.float64]
    certificate: npt.NDArray[np.float64]

    def advance(self, first: int, poll: Callable[[int], bool]) -> int:
        """Run blocks from number first on, until all are done or poll(done) asks for a pause; returns those done."""


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


# ------------------------------------------------------------------ sources


def draw_sources(n: int, k: int | None, seed: Any) -> npt.NDArray[np.int64] | None:
    """k of n vertices as NetworkX draws them, or None for all: `seed.sample(list(G), k)`.

    >>> draw_sources(10, 3, seed=1).tolist()
    [2, 1, 4]
    """
    if k is None or k == n:
        return None
    if not isinstance(k, int | np.integer) or isinstance(k, bool) or not 0 <= k <= n:
        raise GraphError(
            f"k={k!r} sources cannot be drawn from {n} vertices; give a whole number from 0 to {n}, or None"
        )
    if isinstance(seed, np.random.RandomState) and seed is not np.random.mtrand._rand:
        return np.asarray(seed.choice(n, size=int(k), replace=False), np.int64)  # as NetworkX 3.2 and before
    return np.array(python_generator(seed).sample(range(n), int(k)), np.int64)


class NumpyBits(random.Random):
    """Python's way of drawing, with the bits of one of NumPy's generators: what NetworkX makes of such a seed."""

    def __init__(self, source: Any) -> None:
        self._source = source

    def random(self) -> float:
        return float(self._source.random())

    def getrandbits(self, k: int) -> int:
        size = -(-k // 8)
        return int.from_bytes(self._source.bytes(size), "big") >> (8 * size - k)


def python_generator(seed: Any) -> random.Random:
    """The generator a seed stands for: None (Python's own), a whole number, or a generator of Python's or NumPy's."""
    if seed is None:
        return random._inst  # Python's own generator, which NetworkX uses too
    if isinstance(seed, random.Random):
        return seed
    if isinstance(seed, np.random.Generator | np.random.RandomState):
        return NumpyBits(seed)
    if isinstance(seed, int | np.integer):
        return random.Random(int(seed))
    raise GraphError(f"seed={seed!r} is not a seed; give a whole number, a random.Random, a NumPy generator or None")


# ------------------------------------------------------------------ scale


def scale(
    sums: npt.NDArray[np.float64],
    n: int,
    *,
    normalized: bool,
    directed: bool,
    endpoints: bool,
    sampled: npt.NDArray[np.int64] | None = None,
) -> npt.NDArray[np.float64]:
    """Sums over all (or sampled) sources to betweenness, to the letter of NetworkX 3.6.1's `_rescale`.

    >>> scale(np.array([0.0, 2.0, 0.0]), 3, normalized=True, directed=False, endpoints=False).tolist()
    [0.0, 1.0, 0.0]
    """
    N = n if endpoints else n - 1
    if N < 2:
        return sums

    def factor(k: int) -> float:
        """What a sum over k sources is worth; NaN where there was none."""
        if k == 0:
            return math.nan
        return 1 / (k * (N - 1)) if normalized else N / (k * (1 if directed else 2))

    if sampled is None:
        return sums * factor(N)
    scaled = sums * factor(len(sampled))
    if not endpoints:
        # A sampled source is no end of its own paths, so it was looked at from one source fewer.
        scaled[sampled] = sums[sampled] * factor(len(sampled) - 1)
    return scaled


def scale_subset(
    sums: npt.NDArray[np.float64], n: int, *, normalized: bool, directed: bool, endpoints: bool
) -> npt.NDArray[np.float64]:
    """Sums over chosen sources (and targets), as NetworkX's `betweenness_centrality_subset` scales them. Edges always
    have endpoints; vertices have them where asked, which NetworkX does not offer here: all sources then give what no
    subset gives.

    >>> scale_subset(np.array([2.0]), 3, normalized=False, directed=False, endpoints=False).tolist()
    [1.0]
    """
    if normalized:
        pairs = n * (n - 1) if endpoints else (n - 1) * (n - 2)
        return sums / pairs if pairs > 0 else sums
    return sums if directed else sums * 0.5


# ------------------------------------------------------------------ samples that are large enough


def half_width(
    mean: npt.NDArray[np.float64], square: npt.NDArray[np.float64], k: int, risk: float
) -> npt.NDArray[np.float64]:
    """How far a mean of k draws from [0, 1] may be from its expectation, except with that risk (empirical Bernstein:
    Maurer & Pontil 2009, Theorem 4, both sides).

    >>> half_width(np.zeros(1), np.zeros(1), 1001, 0.01).round(4).tolist()
    [0.014]
    """
    variance = np.maximum(square - mean**2, 0.0) * k / (k - 1)
    weight = math.log(4 / risk)
    return np.asarray(np.sqrt(2 * variance * weight / k) + 7 * weight / (3 * (k - 1)))


def check_risk(delta: Any) -> None:
    """An error where delta is none, asked for or not."""
    if not isinstance(delta, int | float | np.number) or not 0 < delta < 1:
        raise GraphError(f"delta={delta!r} is not a risk; give a number between 0 and 1, for example 0.1")


def adaptive(
    start: Callable[[Job], Accumulation], n: int, epsilon: float, delta: float, seed: Any, job: Job, progress: Progress
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], int, Certificate]:
    """Normalised scores within ±epsilon of the truth, all at once with probability 1 − delta; their bounds; the sample.

    Sources are drawn in rounds that double the sample. After each, every vertex has a bound that holds with risk
    delta / (n · 2^round); the run ends when the widest is below epsilon, or, exactly, when all sources were cheaper.
    """
    if not isinstance(epsilon, int | float | np.number) or not 0 < epsilon < 1:
        raise GraphError(f"epsilon={epsilon!r} is no precision of a score; give a number between 0 and 1, say 0.01")
    if isinstance(seed, np.random.Generator):
        generator = seed
    else:
        generator = np.random.default_rng(None if seed is None else python_generator(seed).getrandbits(64))
    sums, squares = np.zeros(n), np.zeros(n)
    k, worst = 0, 0.0
    for round_number in range(1, 64):
        more = FIRST_SAMPLE if k == 0 else k
        if n <= 2 or k + more >= n:
            break
        drawn = replace(job, sources=np.asarray(generator.integers(0, n, more), np.int64), squares=True)
        run = start(drawn)
        round_error = accumulate(run, drawn, f"betweenness, sample of {k + more:,}", progress, None).error
        worst = max(worst, round_error)
        k += more
        sums += run.total[:n]
        squares += run.total[n:]
        mean, square = sums / ((n - 2) * k), squares / ((n - 2.0) ** 2 * k)
        bounds = half_width(mean, square, k, delta / (n * 2.0**round_number)) * (n / (n - 1))
        if bounds.max() <= epsilon:
            return mean * (n / (n - 1)), bounds, k, Certificate(worst, TOLERANCE, k)
    whole = replace(job, sources=np.arange(n, dtype=np.int64))
    run = start(whole)
    certificate = accumulate(run, whole, "betweenness, all sources", progress, None)
    return scale(run.total, n, normalized=True, directed=True, endpoints=False), np.zeros(n), n, certificate
