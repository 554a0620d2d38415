"""Estimates from a sample of sources, with error bounds that hold.

    k   sources drawn, each uniformly from all n vertices, with replacement        X_s   what source s contributes
    δ   the risk that any of the bounds fails to cover its exact value

X_s lies in [0, D]. The mean of k draws is within D·h of its expectation, except with risk ρ. h is the lesser of
Hoeffding's bound (better for small k) and the empirical Bernstein bound (better if X varies little); each of the two
gets half the risk. D comes from the searches themselves: every path may lead through s, so no distance exceeds twice
the eccentricity of s.

`weighted` measures distances along the graph's weights. Bounds on hops are then multiplied by a weight: n − 1 arcs are
at most (n − 1) · greatest long, and a distance above 0 is at least the least weight above 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.algorithms.distances import check_connected, connected, counting_hops
from hopwave.algorithms.draws import draw_with_replacement, half_width, numpy_generator
from hopwave.algorithms.many_sources import sweep
from hopwave.engines import Engine
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.planning.jobs import Floats, Integers, Progress, Sweep, Swept

BITS = 62  # bits of an integer that holds the sum of k reciprocals
ROUNDED = 1e-6  # more than the relative rounding error of a path's length


def draw(n: int, k: int, seed: Any) -> Integers:
    """k vertices, each drawn uniformly from all n, with replacement.

    >>> draw(10, 3, seed=1).tolist() == draw(10, 3, seed=1).tolist()
    True
    """
    return draw_with_replacement(n, k, numpy_generator(seed))


def width(mean: Floats, square: Floats, k: Any, risk: float) -> Floats:
    """h for means of k draws from [0, 1]. k may differ from mean to mean; if it is 1, h is Hoeffding's bound.

    >>> zero = np.zeros(1)
    >>> width(zero, zero, 10, 0.1).round(3).tolist(), width(zero, zero, 9999, 0.1).round(4).tolist()
    ([0.429], [0.001])
    """
    enough = np.maximum(k, 2)
    hoeffding = np.sqrt(math.log(4 / risk) / (2 * np.maximum(k, 1)))
    least: Floats = np.minimum(hoeffding, half_width(mean, square, enough, risk / 2))
    return np.where(np.asarray(k) < 2, hoeffding, least)


def closeness(
    engine: Engine,
    graph: Graph,
    k: int,
    seed: Any,
    delta: float,
    wf_improved: bool,
    progress: Progress,
    threads: Any,
    weighted: bool = False,
) -> tuple[Floats, Floats]:
    """Scores and half-widths. μ(v) is the mean distance to v from the r vertices of its component, so Σ d = r·μ.

    If distances may be 0, μ may be arbitrarily small, and a bound may be infinite.
    """
    if graph.directed and not connected(engine, graph):
        raise GraphError(
            "distances that may be infinite cannot be estimated, and this graph is not strongly connected; "
            "use harmonic_centrality(k=...), or closeness_centrality without k"
        )
    n = graph.n
    sources = draw(n, k, seed)
    least_arc, greatest_arc, shift = arc_lengths(graph, weighted)
    job = Sweep(sources, "columns", weighted=weighted, shift=shift)
    found = sweep(engine, graph, job, "closeness, sampled", progress, threads)
    label = np.zeros(n, np.int32) if graph.directed else counting_hops(engine, graph).components(graph, strong=False)
    r = np.bincount(label)[label].astype(np.float64)
    drawn = found.columns[:, 0]
    longest = longest_distance(engine, graph, label, sources, found, threads, weighted)[label]
    scaled = np.ldexp(longest, shift)
    mean, square = (np.where(drawn > 0, found.columns[:, i] / np.maximum(drawn, 1), 0.0) for i in (1, 2))
    h = longest * width(mean / scaled, square / scaled**2, drawn, delta / n)
    mean = np.ldexp(mean, -shift)
    # The extremes of μ: the centre of a star has the least, the end of a path the greatest.
    least, most = least_arc * (r - 1) / r, np.minimum(longest, greatest_arc * r / 2) * (r - 1) / r
    near = np.where(drawn > 0, np.clip(mean - h, least, most), least)
    far = np.where(drawn > 0, np.clip(mean + h, least, most), most)
    mu = np.where(drawn > 0, np.clip(mean, near, far), (near + far) / 2)
    alone = most == 0  # no other vertex in the component, or all distances are 0

    def score(mean_distance: Floats, at_zero: float) -> Floats:
        none = alone | (mean_distance == 0)
        value = np.where(none, at_zero, (r - 1) / np.where(none, 1.0, r * mean_distance))
        value[alone] = 0.0
        return value * (r - 1) / (n - 1) if wf_improved and n > 1 else value

    value = score(mu, 0.0)
    return value, np.maximum(score(near, math.inf) - value, value - score(far, 0.0))


def arc_lengths(graph: Graph, weighted: bool) -> tuple[float, float, int]:
    """(least arc length, greatest arc length, shift). Distances times 2^shift are at most 1, so that their squares
    neither over- nor underflow.

    >>> arc_lengths(Graph.from_edges([0, 1], [1, 2], weights=[3, 4]), True)
    (3.0, 4.0, -4)
    """
    if not weighted:
        return 1.0, 1.0, 0
    weights = np.asarray(graph.weights, np.float64)
    least, greatest = float(weights.min(initial=np.inf)), float(weights.max(initial=0.0))
    return min(least, greatest), greatest, -math.frexp(graph.n * greatest)[1]


def longest_distance(
    engine: Engine,
    graph: Graph,
    label: npt.NDArray[np.int32],
    sources: Integers,
    found: Swept,
    threads: Any,
    weighted: bool = False,
) -> Floats:
    """An upper bound on the distances within each component: d(u, v) ≤ d(u, s) + d(s, v) for a sampled vertex s.

    The bound is 1 for a component whose distances are all 0.
    """
    sizes = np.bincount(label)
    greatest = arc_lengths(graph, weighted)[1]
    if graph.directed:  # strongly connected: one component
        best = int(np.argmin(found.farthest))
        one = Sweep(sources[best : best + 1], "sums", weighted=weighted)
        back = sweep(engine, graph.reversed(), one, "bound", False, threads).farthest[0]
        bound: Floats = np.array([found.farthest[best] + back], np.float64)
    else:
        bound = np.asarray((sizes - 1) * greatest, np.float64)
        np.minimum.at(bound, label[sources], 2.0 * found.farthest)
    return np.where(bound > 0, bound * (1 + ROUNDED * weighted), 1.0)


def harmonic(
    engine: Engine,
    graph: Graph,
    k: int,
    seed: Any,
    delta: float,
    progress: Progress,
    threads: Any,
    weighted: bool = False,
) -> tuple[Floats, Floats]:
    """Scores and half-widths: n times the mean of X_s = 1/d(s, v), in [0, 1] for hops, else in [0, 1/least weight]."""
    n = graph.n
    shift = reciprocal_bits(k)
    if weighted:  # choose shift so that w(d) = 2^shift / d is at most 1
        weights = np.asarray(graph.weights, np.float64)
        shift = math.frexp(weights[weights > 0].min(initial=weights.max(initial=1.0)))[1] - 1
    job = Sweep(draw(n, k, seed), "columns", weight="inverse", shift=shift, weighted=weighted)
    found = sweep(engine, graph, job, "harmonic centrality, sampled", progress, threads)
    if weighted:  # columns are Σ w(d) and Σ w(d)², which scale by 2^shift and 4^shift
        mean, square = (found.columns[:, i] / k for i in (1, 2))
        return np.ldexp(n * mean, -shift), np.ldexp(n * width(mean, square, k, delta / n), -shift)
    mean, square = (found.columns[:, i] / (2.0**shift * k) for i in (1, 2))
    return n * mean, n * width(mean, square, k, delta / n)


def reciprocal_bits(k: int) -> int:
    """How many binary places of 1/d to keep, so that the sum of k reciprocals does not overflow.

    >>> reciprocal_bits(1), reciprocal_bits(1000)
    (61, 52)
    """
    return BITS - k.bit_length()


def path_length(
    engine: Engine,
    graph: Graph,
    k: int,
    seed: Any,
    delta: float,
    progress: Progress,
    threads: Any,
    weighted: bool = False,
) -> tuple[float, float]:
    """The mean of X_s = Σ_t d(s, t) / (n − 1), and its half-width."""
    check_connected(engine, graph, "average shortest path length")
    n = graph.n
    sources = draw(n, k, seed)
    job = Sweep(sources, "sums", weighted=weighted)
    found = sweep(engine, graph, job, "average path length, sampled", progress, threads)
    longest = longest_distance(engine, graph, np.zeros(n, np.int32), sources, found, threads, weighted)
    X = found.total / max(1, n - 1) / longest
    h = width(X.mean(keepdims=True), (X**2).mean(keepdims=True), k, delta)
    return float(X.mean() * longest[0]), float(h[0] * longest[0])


def histogram(
    engine: Engine, graph: Graph, k: int, seed: Any, delta: float, progress: Progress, threads: Any
) -> tuple[Floats, Floats, float]:
    """Pairs at each distance, half-widths, and how many pairs may be farther apart than any pair of the sample.

    By Hoeffding. Half of the risk is for X_s = the share of all vertices at distance d from s. Distance d gets the
    share 6 / (π² (d + 1)²) of it; the shares add up to 1, so the bounds hold for all distances together. The other
    half, divided in the same way, is for X_s = the share of vertices at distance d or more: the greatest distance of
    the sample is not known beforehand, so that this bound must hold for every d.
    """
    n = graph.n
    found = sweep(engine, graph, Sweep(draw(n, k, seed), "sums"), "distances, sampled", progress, threads)
    counts = np.trim_zeros(found.histogram, "b")
    risk = delta / 2 * 6 / (math.pi * (np.arange(len(counts) + 1) + 1.0)) ** 2
    bounds = n * n * np.sqrt(np.log(2 / risk[:-1]) / (2 * k))
    bounds[:1] = 0.0  # exactly one vertex is at distance 0: the source itself
    beyond = n * n * math.sqrt(math.log(1 / risk[-1]) / (2 * k)) if len(counts) < n else 0.0
    return np.asarray(counts * (n / k), np.float64), bounds, beyond
