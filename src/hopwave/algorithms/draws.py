"""Sampling of sources from a seed, and the error bound of a sample mean."""

import math
import random
from typing import Any

import numpy as np

from hopwave.arrays import seeded
from hopwave.checks.numbers import is_whole
from hopwave.errors import GraphError
from hopwave.planning.jobs import Floats, Integers


def check_sample(n: int, k: Any) -> None:
    """Raise a GraphError unless k vertices, at least one, can be drawn out of n."""
    if not is_whole(k) or not 1 <= k <= n:
        raise GraphError(f"cannot draw k={k!r} of {n} vertices; pass an integer from 1 to {n}, or None for all")


def draw_sources(n: int, k: int | None, seed: Any) -> Integers | None:
    """k different vertices out of n, drawn as NetworkX draws them (`seed.sample(list(G), k)`); None means all."""
    if k is None or (is_whole(k) and k == n):
        return None
    check_sample(n, k)
    if isinstance(seed, np.random.RandomState) and seed is not np.random.mtrand._rand:
        return np.asarray(seed.choice(n, size=int(k), replace=False), np.int64)  # as NetworkX 3.2 and before
    return np.array(python_generator(seed).sample(range(n), int(k)), np.int64)


class NumpyBits(random.Random):
    """Python's random.Random with the random bits of a NumPy generator, as NetworkX uses such a seed."""

    def __init__(self, source: Any) -> None:
        self._source = source

    def random(self) -> float:
        return float(self._source.random())

    def getrandbits(self, k: int) -> int:
        size = -(-k // 8)
        return int.from_bytes(self._source.bytes(size), "big") >> (8 * size - k)


def python_generator(seed: Any) -> random.Random:
    """A Python generator for a seed: None (Python's global one), an integer, or a generator of Python or NumPy."""
    if seed is None:
        return random._inst  # Python's global generator, as in NetworkX
    if isinstance(seed, random.Random):
        return seed
    if isinstance(seed, np.random.Generator | np.random.RandomState):
        return NumpyBits(seed)
    if isinstance(seed, int | np.integer):
        return random.Random(int(seed))
    raise GraphError(f"seed={seed!r} is not a seed; pass an integer, a random.Random, a NumPy generator or None")


def numpy_generator(seed: Any) -> np.random.Generator:
    """A NumPy generator for any seed that `python_generator` accepts."""
    if isinstance(seed, np.random.Generator):
        return seed
    return seeded(None if seed is None else python_generator(seed).getrandbits(64))


def half_width(mean: Floats, square: Floats, k: int, risk: float) -> Floats:
    """Error bound for the mean of k draws from [0, 1]; fails with probability at most `risk`.

    The empirical Bernstein bound (Maurer & Pontil 2009, Theorem 4), for both sides. `square` is the mean of squares.
    """
    variance = np.maximum(square - mean**2, 0.0) * k / (k - 1)
    weight = math.log(4 / risk)
    return np.asarray(np.sqrt(2 * variance * weight / k) + 7 * weight / (3 * (k - 1)))
