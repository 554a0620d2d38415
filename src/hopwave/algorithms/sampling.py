"""Which sources a sample draws, how wide its error bars are, and when it has drawn enough."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.algorithms.brandes import TOLERANCE, accumulate
from hopwave.algorithms.scaling import scale
from hopwave.errors import GraphError
from hopwave.jobs import Accumulation, Job, Progress
from hopwave.results.betweenness import Certificate

FIRST_SAMPLE = 128


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
