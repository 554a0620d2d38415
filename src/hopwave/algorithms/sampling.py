"""Which sources a sample draws, how wide its error bounds are, and when a betweenness sample is large enough."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from hopwave.algorithms.brandes import TOLERANCE, Certificate
from hopwave.algorithms.scaling import scale
from hopwave.checks.numbers import is_whole
from hopwave.errors import GraphError
from hopwave.planning.jobs import BetweennessJob, Floats, Integers

FIRST_SAMPLE = 128  # sources of the first round of an adaptive sample

# ------------------------------------------------------------------ drawing sources


def draw_sources(n: int, k: int | None, seed: Any) -> Integers | None:
    """k different vertices out of n, drawn as NetworkX draws them (`seed.sample(list(G), k)`); None stands for all.

    >>> draw_sources(10, 3, seed=1).tolist()
    [2, 1, 4]
    """
    if k is None or (is_whole(k) and k == n):
        return None
    if not is_whole(k) or not 0 <= k <= n:
        raise GraphError(
            f"k={k!r} sources cannot be drawn from {n} vertices; give a whole number from 0 to {n}, or None"
        )
    if isinstance(seed, np.random.RandomState) and seed is not np.random.mtrand._rand:
        return np.asarray(seed.choice(n, size=int(k), replace=False), np.int64)  # as NetworkX 3.2 and before
    return np.array(python_generator(seed).sample(range(n), int(k)), np.int64)


def draw_with_replacement(n: int, k: int, generator: np.random.Generator) -> Integers:
    """k vertices out of n, each drawn uniformly and independently of the others."""
    return np.asarray(generator.integers(0, n, k), np.int64)


class NumpyBits(random.Random):
    """Draws as Python does, with the random bits of a NumPy generator: what NetworkX makes of such a seed."""

    def __init__(self, source: Any) -> None:
        self._source = source

    def random(self) -> float:
        return float(self._source.random())

    def getrandbits(self, k: int) -> int:
        size = -(-k // 8)
        return int.from_bytes(self._source.bytes(size), "big") >> (8 * size - k)


def python_generator(seed: Any) -> random.Random:
    """A generator of Python for a seed: None (Python's own), a whole number, or a generator of Python or NumPy."""
    if seed is None:
        return random._inst  # Python's own generator, which NetworkX uses too
    if isinstance(seed, random.Random):
        return seed
    if isinstance(seed, np.random.Generator | np.random.RandomState):
        return NumpyBits(seed)
    if isinstance(seed, int | np.integer):
        return random.Random(int(seed))
    raise GraphError(f"seed={seed!r} is not a seed; give a whole number, a random.Random, a NumPy generator or None")


def numpy_generator(seed: Any) -> np.random.Generator:
    """A generator of NumPy for the same kinds of seeds.

    >>> numpy_generator(1).integers(100) == numpy_generator(1).integers(100)
    np.True_
    """
    if isinstance(seed, np.random.Generator):
        return seed
    return np.random.default_rng(None if seed is None else python_generator(seed).getrandbits(64))


# ------------------------------------------------------------------ samples that are large enough


def half_width(mean: Floats, square: Floats, k: int, risk: float) -> Floats:
    """How far the mean of k draws from [0, 1] may be from its expectation, except with that risk.

    The empirical Bernstein bound (Maurer & Pontil 2009, Theorem 4), for both sides. `square` is the mean of squares.

    >>> half_width(np.zeros(1), np.zeros(1), 1001, 0.01).round(4).tolist()
    [0.014]
    """
    variance = np.maximum(square - mean**2, 0.0) * k / (k - 1)
    weight = math.log(4 / risk)
    return np.asarray(np.sqrt(2 * variance * weight / k) + 7 * weight / (3 * (k - 1)))


def adaptive(
    add_up: Callable[[BetweennessJob, str], tuple[Floats, Certificate]],
    n: int,
    epsilon: float,
    delta: float,
    seed: Any,
    job: BetweennessJob,
) -> tuple[Floats, Floats, int, Certificate]:
    """Normalised betweenness within ±epsilon, for all vertices together with probability 1 − delta.

    Returns the scores, their bounds, the size of the sample and its certificate. `add_up(job, title)` runs a job.

    Sources are drawn in rounds, each of which doubles the sample. After a round, every vertex has a bound that fails
    with risk delta / (n · 2^round). The run ends when the widest bound is below epsilon. If the next round would take
    as many searches as all sources do, all sources are used, and the scores are exact.
    """
    generator = numpy_generator(seed)
    sums, squares = np.zeros(n), np.zeros(n)
    k, worst, so_far = 0, 0.0, ""
    for round_number in range(1, 64):
        more = FIRST_SAMPLE if k == 0 else k
        if n <= 2 or k + more >= n:
            break
        drawn = replace(job, sources=draw_with_replacement(n, more, generator), squares=True)
        total, certificate = add_up(drawn, f"betweenness, sample of {k + more:,} sources{so_far}")
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
    total, certificate = add_up(everything, "betweenness, all sources")
    return scale(total, n, normalized=True, directed=True, endpoints=False), np.zeros(n), n, certificate
