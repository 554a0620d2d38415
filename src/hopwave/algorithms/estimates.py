"""Estimates from a sample of sources, with error bars that hold.

    k   sources drawn, each uniformly from all n vertices, with replacement        X_s   what source s contributes
    δ   the risk that any of the bars fails to cover its exact value

X_s lies in [0, D]. The mean of k draws is within D·h of its expectation, except with risk ρ, where h is the lesser of
Hoeffding's bound (better for small k) and the empirical Bernstein bound (better where X varies little). Both hold for
half the risk each. D comes from the searches themselves: no distance exceeds e(s) + e(s), by way of s.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.algorithms.distances import Floats, check_connected, connected
from hopwave.algorithms.many_sources import sweep
from hopwave.algorithms.sampling import half_width, python_generator
from hopwave.engines import Engine
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.jobs import Integers, Progress, Sweep, Swept

BITS = 62  # of a whole number that sums up to k reciprocals


def check_sample(k: Any) -> int:
    """k, or an error."""
    if not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 1:
        raise GraphError(f"k={k!r} is not a number of sources to draw; give a whole number from 1, or None for all")
    return int(k)


def draw(n: int, k: int, seed: Any) -> Integers:
    """k vertices, each uniformly from all.

    >>> draw(10, 3, seed=1).tolist() == draw(10, 3, seed=1).tolist()
    True
    """
    if isinstance(seed, np.random.Generator):
        generator = seed
    else:
        generator = np.random.default_rng(None if seed is None else python_generator(seed).getrandbits(64))
    return np.asarray(generator.integers(0, n, k), np.int64)


def width(mean: Floats, square: Floats, k: Any, risk: float) -> Floats:
    """h for means of k draws from [0, 1]; k may differ from mean to mean, and 1 says nothing.

    >>> zero = np.zeros(1)
    >>> width(zero, zero, 10, 0.1).round(3).tolist(), width(zero, zero, 9999, 0.1).round(4).tolist()
    ([0.429], [0.001])
    """
    enough = np.maximum(k, 2)
    hoeffding = np.sqrt(math.log(4 / risk) / (2 * np.maximum(k, 1)))
    least: Floats = np.minimum(hoeffding, half_width(mean, square, enough, risk / 2))
    return np.where(np.asarray(k) < 2, hoeffding, least)


def closeness(
    engine: Engine, graph: Graph, k: int, seed: Any, delta: float, wf_improved: bool, progress: Progress, threads: Any
) -> tuple[Floats, Floats]:
    """Scores and half-widths. μ(v), the mean distance from the r vertices of v's component, gives Σ d = r·μ."""
    if graph.directed and not connected(engine, graph):
        raise GraphError(
            "a sample says little about distances that may be infinite, and this graph is not strongly connected; "
            "use harmonic_centrality(k=...), or closeness_centrality without k"
        )
    n = graph.n
    sources = draw(n, k, seed)
    found = sweep(engine, graph, Sweep(sources, "columns"), "closeness, sampled", progress, threads)
    label = np.zeros(n, np.int32) if graph.directed else engine.components(graph, strong=False)
    r = np.bincount(label)[label].astype(np.float64)
    drawn = found.columns[:, 0]
    longest = longest_distance(engine, graph, label, sources, found, threads)[label]
    mean, square = (np.where(drawn > 0, found.columns[:, i] / np.maximum(drawn, 1), 0.0) for i in (1, 2))
    h = longest * width(mean / longest, square / longest**2, drawn, delta / n)
    least, most = (r - 1) / r, np.minimum(longest, r / 2) * (r - 1) / r  # a star's centre; the end of a path
    near = np.where(drawn > 0, np.clip(mean - h, least, most), least)
    far = np.where(drawn > 0, np.clip(mean + h, least, most), most)
    mu = np.where(drawn > 0, np.clip(mean, near, far), (near + far) / 2)
    alone = r == 1

    def score(mean_distance: Floats) -> Floats:
        value = np.where(alone, 0.0, (r - 1) / np.where(alone, 1.0, r * mean_distance))
        return value * (r - 1) / (n - 1) if wf_improved and n > 1 else value

    value = score(mu)
    return value, np.maximum(score(near) - value, value - score(far))


def longest_distance(
    engine: Engine, graph: Graph, label: npt.NDArray[np.int32], sources: Integers, found: Swept, threads: Any
) -> Floats:
    """An upper bound on the distances within each component: there and back again by way of a sampled vertex."""
    sizes = np.bincount(label)
    if graph.directed:  # strongly connected: one component
        best = int(np.argmin(found.farthest))
        one = Sweep(sources[best : best + 1], "sums")
        back = sweep(engine, graph.reversed(), one, "bound", False, threads).farthest[0]
        return np.array([max(1, int(found.farthest[best] + back))], np.float64)
    bound = np.maximum(sizes - 1, 1)
    np.minimum.at(bound, label[sources], np.maximum(2 * found.farthest, 1))
    return bound.astype(np.float64)


def harmonic(
    engine: Engine, graph: Graph, k: int, seed: Any, delta: float, progress: Progress, threads: Any
) -> tuple[Floats, Floats]:
    """Scores and half-widths: n times the mean of X_s = 1/d(s, v), which lies in [0, 1] on any graph."""
    n = graph.n
    shift = reciprocal_bits(k)
    job = Sweep(draw(n, k, seed), "columns", weight="inverse", shift=shift)
    found = sweep(engine, graph, job, "harmonic centrality, sampled", progress, threads)
    mean, square = (found.columns[:, i] / (2.0**shift * k) for i in (1, 2))
    return n * mean, n * width(mean, square, k, delta / n)


def reciprocal_bits(k: int) -> int:
    """Binary places of 1/d such that k of them add up without overflow.

    >>> reciprocal_bits(1), reciprocal_bits(1000)
    (61, 52)
    """
    return BITS - k.bit_length()


def path_length(
    engine: Engine, graph: Graph, k: int, seed: Any, delta: float, progress: Progress, threads: Any
) -> tuple[float, float]:
    """The mean of X_s = Σ_t d(s, t) / (n − 1), and its half-width."""
    check_connected(engine, graph, "average shortest path length")
    n = graph.n
    sources = draw(n, k, seed)
    found = sweep(engine, graph, Sweep(sources, "sums"), "average path length, sampled", progress, threads)
    longest = longest_distance(engine, graph, np.zeros(n, np.int32), sources, found, threads)
    X = found.total / max(1, n - 1) / longest
    h = width(X.mean(keepdims=True), (X**2).mean(keepdims=True), k, delta)
    return float(X.mean() * longest[0]), float(h[0] * longest[0])


def histogram(
    engine: Engine, graph: Graph, k: int, seed: Any, delta: float, progress: Progress, threads: Any
) -> tuple[Floats, Floats]:
    """Pairs at each distance and half-widths, by Hoeffding: X_s is the part of all vertices at distance d from s.

    The risk is dealt out as 6 / (π² (d + 1)²), so that the bars hold for all distances together, however many.
    """
    n = graph.n
    found = sweep(engine, graph, Sweep(draw(n, k, seed), "sums"), "distances, sampled", progress, threads)
    counts = np.trim_zeros(found.histogram, "b")
    risk = delta * 6 / (math.pi * (np.arange(len(counts)) + 1.0)) ** 2
    bars = n * n * np.sqrt(np.log(2 / risk) / (2 * k))
    bars[:1] = 0.0  # every vertex is at distance 0 from itself alone
    return np.asarray(counts * (n / k), np.float64), bars
