"""HyperBall: sizes of the balls around all vertices, from small counters (see engines/cpu/many/hyperball.py).

    N(t)   ordered pairs of vertices at most t hops apart, including each vertex with itself: the neighbourhood function
    R      runs, each with different hashes

Every estimate is computed from the mean N over the runs. Its standard error is the jackknife's: its variation if one
run is omitted (Boldi, Rosa and Vigna, HyperANF, 2011, section 5).
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from hopwave.algorithms.distances import closeness
from hopwave.algorithms.many_sources import polled
from hopwave.engines import Engine
from hopwave.graph import Graph
from hopwave.linalg.algorithms.operands import generator
from hopwave.planning.jobs import Floats, Progress
from hopwave.planning.many_sources import HyperBallJob


class Found(NamedTuple):
    """N of every run, one row each; per vertex, the mean over the runs and its standard error."""

    pairs: Floats
    closeness: tuple[Floats, Floats]
    harmonic: tuple[Floats, Floats]


def estimate(
    engine: Engine, graph: Graph, precision: int, runs: int, seed: Any, progress: Progress, threads: int | None
) -> Found:
    """All runs, one after another. The same seed gives the same numbers for any number of threads."""
    seeds = generator(seed).integers(0, 2**63, runs).tolist()
    rows, near, inverse = [], _Mean(graph.n), _Mean(graph.n)
    with polled("HyperBall", runs, progress) as poll:
        for run, start in enumerate(seeds):
            ahead = partial(lambda run, done: poll(run), run)  # a run reports no progress until it ends
            found = engine.hyperball(graph, HyperBallJob(precision, start), ahead, threads)
            rows.append(found.around)
            near.add(closeness(found.reached, found.total, graph.n, True))
            inverse.add(found.inverse)
    pairs = np.empty((runs, max(map(len, rows))))
    for filled, row in zip(pairs, rows, strict=True):
        filled[: len(row)], filled[len(row) :] = row, row[-1]
    return Found(pairs, near.result(), inverse.result())


class _Mean:
    """Running mean of arrays and its standard error (Welford)."""

    def __init__(self, n: int) -> None:
        self._count, self._mean, self._squares = 0, np.zeros(n), np.zeros(n)

    def add(self, values: Floats) -> None:
        self._count += 1
        off = values - self._mean
        self._mean += off / self._count
        self._squares += off * (values - self._mean)

    def result(self) -> tuple[Floats, Floats]:
        return self._mean, np.sqrt(self._squares / (self._count * (self._count - 1)))


def jackknife(pairs: Floats, ask: Callable[[Floats], Any]) -> tuple[Any, Any]:
    """ask(N) for the mean N over the runs, and its standard error."""
    runs, total = len(pairs), pairs.sum(0)
    without = np.array([ask((total - row) / (runs - 1)) for row in pairs])
    error = np.sqrt((runs - 1) * without.var(0))
    return ask(total / runs), error if without.ndim > 1 else float(error)


def mean_distance(N: Floats) -> float:
    """The mean distance over all connected pairs of different vertices; NaN if no pair is connected."""
    return float(np.arange(1, len(N)) @ np.diff(N)) / float(N[-1] - N[0]) if N[-1] > N[0] else math.nan


def effective_diameter(N: Floats, share: float) -> float:
    """The interpolated number of hops that covers `share` of all connected pairs, including each vertex with itself."""
    wanted = share * N[-1]
    t = int(np.argmax(wanted <= N))
    return t - 1 + float((wanted - N[t - 1]) / (N[t] - N[t - 1])) if t else 0.0
