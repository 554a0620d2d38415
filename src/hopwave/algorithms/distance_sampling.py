"""Estimates from a sample of sources, with intervals for the exact values; docs/bounds.md explains the intervals.

k   sources drawn, uniformly from all n vertices, without replacement        X_s   contribution of source s
δ   the risk: with probability 1 − δ all guaranteed intervals hold; each normal interval holds with about 1 − δ
c   the vertex of highest degree, also a source of a search
"""

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hopwave.algorithms.distances import connected, counting_hops
from hopwave.algorithms.draws import numpy_generator
from hopwave.algorithms.many_sources import block_rows, sweep
from hopwave.arrays import ignoring, module_of, on_host
from hopwave.engines import Engine
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.planning.jobs import Floats, Integers, Progress
from hopwave.planning.many_sources import Sweep

# ---------------------------------------------------------------- intervals for the mean of N numbers

#     m, v   the mean and the variance (divided by k) of the k drawn numbers        p   the mean of all N
#     ρ      the finite population: min(1 − (k − 1)/N, (1 − k/N)(1 + 1/k)), which falls to 0 as k grows to N. The second
#            is smaller exactly if k > N/2, so this equals the case distinction of Bardenet & Maillard (2015).
#
# `guaranteed` is the narrowest of three intervals, each with a third of the risk, and of a certain interval: the
# N − k numbers that were not drawn are at least 0 and at most 1.
#
# - Hoeffding and Serfling: m ± √(ρ L / 2k), where each side fails with probability exp(−L) (Corollary 2.5 there).
# - Empirical Bernstein, by Maurer & Pontil (2009), without replacement: m ± (√(2 ρ v L / k) + κ L / k) with
#   κ = 7/3 + 3/√2, where each side fails with probability 5 exp(−L) (Theorem 4.3 there; v is divided by k, equation
#   26). Best if k is much of N.
# - Bets on p, best if k is small (Waudby-Smith & Ramdas 2024). For a factor l > 0 and y = l (p − X) ≥ −a,
#   exp(y − c y²) ≤ 1 + y, where c = (−a − log(1 − a)) / a². The mean of the right side is 1, so that exp(Σ (y − c y²))
#   has a mean of at most 1, also without replacement (Hoeffding 1963, Theorem 4): it seldom exceeds 1 / risk.
#   The sum is k (l g − c l² (v + g²)), where g = p − m: p is excluded if g lies between the two roots of a quadratic.
#   [0, 1] is cut into bins. Each bin has its own bets, one for each of VARIANCES: the best one if X had that variance.
#   The bets share the risk evenly. The bins are checked one by one, so that no p is missed.
#
# For the other side, take 1 − X.


BINS = np.sin(np.linspace(0, np.pi / 2, 33)) ** 2  # narrower towards both ends
VARIANCES = (1, 1 / 6, 1 / 36, 1 / 216)  # of X, as multiples of p (1 − p)
MOST_LOST = 0.9  # maximum `a`: the largest share that a bet may lose
KAPPA = 7 / 3 + 3 / math.sqrt(2)
CHUNK = 1 << 14  # means per chunk, which fit into a core's cache

Interval = tuple[Floats, Floats]


def guaranteed(mean: Any, variance: Any, k: Any, N: Any, risk: float) -> Interval:
    """(lowest, highest) p for each mean; each fails with probability at most `risk`. All arguments may be arrays."""
    mean, variance, k, N = np.broadcast_arrays(*(np.asarray(part, np.float64) for part in (mean, variance, k, N)))
    low, high = np.zeros(len(mean)), np.ones(len(mean))
    for drawn in np.unique(k):
        if drawn < 1:
            continue
        every = np.flatnonzero(k == drawn)
        for first in range(0, len(every), CHUNK):
            some = every[first : first + CHUNK]
            part = variance[some], float(drawn), N[some], risk
            m = np.clip(mean[some], 0.0, 1.0)
            low[some], high[some] = 1 - _upper(1 - m, *part), _upper(m, *part)
    return low, high


def normal(mean: Any, variance: Any, k: Any, N: Any, risk: float) -> tuple[Floats, Floats, Floats]:
    """(lowest, highest, standard error) for each mean, assuming normality; the standard error of a single draw is NaN.

    m ± t s √((1 − k/N) / k), with s² = v k / (k − 1) and t Student's factor for k − 1 degrees of freedom.
    """
    from scipy.special import stdtrit  # importing takes 0.1 s

    mean, variance, k, N = np.broadcast_arrays(*(np.asarray(part, np.float64) for part in (mean, variance, k, N)))
    freedom = np.maximum(k - 1, 1)
    error = np.where(k > 1, np.sqrt(variance / freedom * np.maximum(1 - k / N, 0.0)), np.nan)
    half = np.where(k > 1, error * stdtrit(freedom, 1 - risk / 2), np.inf)
    return mean - half, mean + half, error


def left_over(k: Any, N: Any) -> Any:
    """ρ of k draws from N numbers."""
    return np.maximum(np.minimum(1 - (k - 1) / N, (1 - k / N) * (1 + 1 / k)), 0.0)


def _upper(m: Floats, v: Floats, k: float, N: Floats, risk: float) -> Floats:
    """The highest p that none of the three intervals excludes."""
    left = left_over(k, N)
    serfling = np.sqrt(left * math.log(6 / risk) / (2 * k))
    L = math.log(30 / risk)  # a third of the risk, five events on each of two sides
    bernstein = np.sqrt(2 * left * v * L / k) + KAPPA * L / k
    certain = np.where(k < N, (k * m + (N - k)) / N, m)
    outer = np.minimum(m + np.minimum(serfling, bernstein), certain)
    needed = math.log(6 * len(VARIANCES) / risk) / k
    found = m.copy()
    for begin, end in pairwise(BINS.tolist()):
        here = np.flatnonzero((outer > begin) & (m < end))
        if len(here):
            last = _last_allowed(m[here], v[here], np.minimum(outer[here], end), begin, end, needed)
            found[here] = np.where(last >= begin, last, found[here])
    return found


def _last_allowed(m: Floats, v: Floats, end: Floats, begin: float, ends: float, needed: float) -> Floats:
    """The last p up to `end` that the bets of a bin do not exclude; less than `begin` if they exclude the full bin."""
    room, middle = 1 - begin, (begin + ends) / 2  # X − p is at most `room`
    gap, last = end - m, end
    for variance in VARIANCES:
        factor = min(math.sqrt(2 * needed / (variance * middle * (1 - middle))), MOST_LOST / room)
        a = factor * room
        square = (-a - math.log1p(-a)) / (a * a) * factor * factor  # c l²: the bet is l g − square (v + g²) − needed
        inner = factor * factor - 4 * square * (square * v + needed)
        root = np.sqrt(np.maximum(inner, 0.0))
        excluded = (inner > 0) & (np.abs(2 * square * gap - factor) < root)
        last = np.where(excluded, np.minimum(last, m + (factor - root) / (2 * square)), last)
    return np.asarray(last)


BITS = 62  # bits of the integer that stores the sum of k reciprocals
ROUNDED = 1e-6  # upper bound on the relative rounding error of a path's length
LAST_BITS = 2.0**-48  # upper bound for a score, which is computed in fewer steps
PIVOTS = 16  # maximum searches for certain bounds


class Sample(NamedTuple):
    """A sample: graph, engine and drawn sources; the risk and the kind of the intervals."""

    engine: Engine
    graph: Graph
    k: int
    seed: Any
    delta: float
    interval: str
    progress: Progress
    threads: int | None
    weighted: bool


class Estimated(NamedTuple):
    """Estimates with an interval for each, and their standard errors (NaN with fewer than two draws)."""

    value: Floats
    low: Floats
    high: Floats
    standard_error: Floats


def widened(found: Estimated) -> Estimated:
    """The intervals, widened for rounding: the exact score is computed in other steps, so its last bits may differ."""
    return found._replace(low=found.low * (1 - LAST_BITS), high=found.high * (1 + LAST_BITS))


def draw(n: int, k: int, seed: Any) -> Integers:
    """k different vertices, drawn uniformly from all n."""
    return np.asarray(numpy_generator(seed).choice(n, k, replace=False), np.int64)


def interval_of(
    interval: str, mean: Floats, square: Floats, k: Any, N: Any, span: tuple[Any, Any], risk: float, means: int
) -> Estimated:
    """Intervals for means of N numbers in `span`, from means and mean squares of k; joint risk for all `means`."""
    least, width = span[0], np.where(span[1] > span[0], span[1] - span[0], 1.0)
    unit = (mean - least) / width
    variance = np.maximum(square - mean**2, 0.0) / width**2
    low, high, error = normal(unit, variance, k, N, risk)
    if interval == "guaranteed":
        low, high = guaranteed(unit, variance, k, N, risk / means)
    low, high = (least + width * np.clip(end, 0.0, 1.0) for end in (low, high))
    return Estimated(mean, low, high, width * error)


@ignoring("divide", "invalid", "over")  # the derivative of 1 / μ; scores beyond float64 are infinite
def closeness(sample: Sample, wf_improved: bool) -> Estimated:
    """Scores. μ(v) is the mean distance to v from the r − 1 others in its component; along weights it may be 0."""
    engine, graph, k, seed, delta, interval, progress, threads, weighted = sample
    if graph.directed and not connected(engine, graph):
        problem = "the graph is not strongly connected, and infinite distances cannot be estimated"
        raise GraphError(f"{problem}; use harmonic_centrality(k=...), or closeness_centrality without k")
    n = graph.n
    sources = draw(n, k, seed)
    shift = arc_lengths(graph, weighted)[2]
    job = Sweep(sources, "columns", weighted=weighted, shift=shift)
    found = sweep(engine, graph, job, "closeness, sampled", progress, threads)
    label = np.zeros(n, np.int32) if graph.directed else counting_hops(engine, graph).components(graph, strong=False)
    others = np.bincount(label)[label] - 1.0
    drawn = found.columns[:, 0].astype(np.float64)
    drawn[sources] -= 1  # a vertex is not a source for itself
    mean, square = (found.columns[:, i] / np.maximum(drawn, 1) for i in (1, 2))
    mean, square = np.ldexp(mean, -shift), np.ldexp(square, -2 * shift)
    known = certain_means(engine, graph, sources, label, threads, weighted)
    about = interval_of(interval, mean, square, drawn, np.maximum(others, 1), (known.least, known.farthest), delta, n)
    near, far = np.clip(about.low, known.low, known.high), np.clip(about.high, known.low, known.high)
    mu = np.where(drawn > 0, np.clip(mean, near, far), (near + far) / 2)
    error = np.where(near == far, 0.0, about.standard_error)

    def score(mean_distance: Floats, at_zero: float) -> Floats:
        value = np.where(mean_distance > 0, 1 / np.where(mean_distance > 0, mean_distance, 1.0), at_zero)
        value[known.high == 0] = 0.0  # no other vertex in the component, or all distances are 0
        return value * others / (n - 1) if wf_improved and n > 1 else value

    value = score(mu, 0.0)
    error = np.where(error > 0, value * error / mu, error)
    return widened(Estimated(value, score(far, 0.0), score(near, math.inf), error))


def arc_lengths(graph: Graph, weighted: bool) -> tuple[float, float, int]:
    """(shortest arc, longest arc, shift): distances times 2^shift are at most 1, so that squares do not overflow."""
    if not weighted:
        return 1.0, 1.0, 0
    weights = np.asarray(graph.weights, np.float64)
    least, greatest = float(weights.min(initial=np.inf)), float(weights.max(initial=0.0))
    return min(least, greatest), greatest, -math.frexp(graph.n * greatest)[1]


class Certain(NamedTuple):
    """Bounds independent of the sample: low ≤ μ ≤ high, distances from `least` to `farthest`, and μ ≤ `most`."""

    low: Floats
    high: Floats
    least: float
    farthest: Floats
    most: float


def certain_means(
    engine: Engine, graph: Graph, sources: Integers, label: npt.NDArray[np.int32], threads: Any, weighted: bool
) -> Certain:
    """Bounds of mean distances by the triangle inequality, from searches at the vertex of highest degree and pivots."""
    n, (least, greatest, _) = graph.n, arc_lengths(graph, weighted)
    others = np.bincount(label)[label] - 1.0
    low, high, farthest = np.full(n, least), greatest * (others + 1) / 2, greatest * others
    if not weighted:  # only neighbours are at distance 1
        low = np.maximum(low, 2 - graph.in_degrees / np.maximum(others, 1))
    count = min(PIVOTS, len(sources) + 1, block_rows(n, weighted=weighted))
    pivots = np.concatenate([[np.argmax(graph.degrees)], sources])[:count].astype(np.int64)
    job = Sweep(pivots, "rows", weighted=weighted)
    away = sweep(engine, graph, job, "bounds", False, threads).rows
    back = sweep(engine, graph.reversed(), job, "bounds", False, threads).rows if graph.directed else away
    xp = module_of(away)  # rows stay on their device: only their extremes are copied
    lowest, highest = xp.full(n, -np.inf), xp.full(n, np.inf)
    most = greatest * n / 2
    for place, (to, into) in enumerate(zip(away, back, strict=True)):
        reached = (to >= 0) & (to < np.inf)
        mean = float(xp.where(reached, into, 0).sum()) / max(1, int(reached.sum()) - 1)
        lowest = xp.maximum(lowest, xp.where(reached, mean - into, -np.inf))
        highest = xp.minimum(highest, xp.where(reached, mean + to, np.inf))
        if place == 0:
            bound = float(xp.where(reached, into, 0).max()) + to
            farthest = np.minimum(farthest, on_host(xp.where(reached, bound, np.inf)))
            most = min(most, mean + float(xp.where(reached, to, 0).max()))
            lowest = xp.where(
                reached, mean_gap(into[reached], xp.where(reached, into, 0), both=not graph.directed), lowest
            )
    low, high = np.maximum(low, on_host(lowest)), np.minimum(high, on_host(highest))
    if weighted:  # sums are rounded
        low, high, farthest = low * (1 - ROUNDED), high * (1 + ROUNDED), farthest * (1 + ROUNDED)
        most *= 1 + ROUNDED
    low, high = (np.where(others > 0, end, 0.0) for end in (low, high))
    return Certain(np.minimum(low, high), high, least, np.maximum(farthest, least), most)


def mean_gap(others: Any, own: Any, both: bool) -> Any:
    """Per `own`, the mean excess (difference, if `both`) of `others`, which is ≤ μ(v): d(s, v) ≥ d(s, c) − d(v, c)."""
    xp = module_of(others)
    ordered = xp.sort(others).astype(np.float64)
    sums = xp.concatenate([xp.zeros(1), xp.cumsum(ordered)])
    at = xp.searchsorted(ordered, own)
    above = sums[-1] - sums[at] - (len(ordered) - at) * own
    return (above + (at * own - sums[at] if both else 0.0)) / len(ordered)


@ignoring("invalid", "over")
def harmonic(sample: Sample) -> Estimated:
    """Scores: n − 1 times the mean of X_s = 1/d(s, v)."""
    engine, graph, k, seed, delta, interval, progress, threads, weighted = sample
    n = graph.n
    shift, scale, greatest, apart = reciprocal_bits(k), 0, np.ones(n), True
    if weighted:  # choose the scale so that w(d) = 2^scale / d is at most 1
        nearest = least_arcs_into(graph)
        shift = scale = math.frexp(float(nearest.min(initial=np.inf)) if n else 1.0)[1] - 1
        greatest, apart = math.ldexp(1.0, scale) / nearest, False
    sources = draw(n, k, seed)
    job = Sweep(sources, "columns", weight="inverse", shift=shift, weighted=weighted)
    found = sweep(engine, graph, job, "harmonic centrality, sampled", progress, threads)
    drawn = np.full(n, float(k))
    drawn[sources] -= 1  # a vertex is not a source for itself
    unit = 1.0 if weighted else 2.0**shift  # hops: columns are Σ 2^shift / d and Σ 2^shift / d²
    mean, square = (found.columns[:, i] / (unit * np.maximum(drawn, 1)) for i in (1, 2))
    about = interval_of(interval, mean, square, drawn, n - 1, (0.0, greatest), delta, n)
    most = greatest
    if apart:  # only neighbours have 1/d above 1/2
        most = np.minimum(1.0, (1 + graph.in_degrees / max(1, n - 1)) / 2)
    value, low, high = (np.minimum(part, most) for part in about[:3])
    return widened(Estimated(*(np.ldexp((n - 1) * part, -scale) for part in (value, low, high, about.standard_error))))


def least_arcs_into(graph: Graph) -> Floats:
    """A lower bound on positive distances to each vertex: its shortest in-arc, or the graph's shortest positive arc."""
    back = graph.reversed()
    weights = np.asarray(back.weights, np.float64)
    least = float(weights[weights > 0].min(initial=weights.max(initial=1.0))) or 1.0
    nearest = np.full(graph.n, np.inf)
    np.minimum.at(nearest, np.repeat(np.arange(graph.n), back.degrees), weights)
    return np.where((nearest > 0) & (nearest < np.inf), nearest, least)


def reciprocal_bits(k: int) -> int:
    """The number of binary digits of 1/d such that the sum of k reciprocals does not overflow."""
    return BITS - k.bit_length()


@ignoring("invalid", "over")
def path_length(sample: Sample) -> Estimated:
    """The mean of X_s = Σ_t d(s, t) / (n − 1) over all s, in a connected graph: one value."""
    engine, graph, k, seed, delta, interval, progress, threads, weighted = sample
    n = graph.n
    sources = draw(n, k, seed)
    job = Sweep(sources, "sums", weighted=weighted)
    found = sweep(engine, graph, job, "average path length, sampled", progress, threads)
    X = found.total / (n - 1)
    known = certain_means(engine, graph.reversed(), sources, np.zeros(n, np.int32), threads, weighted)
    mean, square = X.mean(keepdims=True), (X**2).mean(keepdims=True)
    about = interval_of(interval, mean, square, k, n, (known.least, known.most), delta, 1)
    low, high = (np.clip(end, known.low.mean(), known.high.mean()) for end in (about.low, about.high))
    return widened(Estimated(np.clip(mean, low, high), low, high, about.standard_error))


def histogram(
    engine: Engine, graph: Graph, k: int, seed: Any, delta: float, progress: Progress, threads: Any
) -> tuple[Floats, Floats, float]:
    """Pairs at each distance, half-widths, and a bound on pairs farther apart than any sampled pair.

    By Hoeffding and Serfling. Half of the risk is for the share of vertices at distance d, half for the share at
    distance d or more. Distance d gets 6 / (π² (d + 1)²) of each half; these shares add up to 1.
    """
    n = graph.n
    found = sweep(engine, graph, Sweep(draw(n, k, seed), "sums"), "distances, sampled", progress, threads)
    seen = np.trim_zeros(found.histogram, "b")
    counts = np.asarray(seen * (n / k), np.float64)
    risk = delta / 2 * 6 / (math.pi * (np.arange(len(counts) + 1) + 1.0)) ** 2
    factor = n * n * math.sqrt(left_over(k, n) / (2 * k))
    rest = float(n - k) * (n - 1)
    bounds = np.minimum(factor * np.sqrt(np.log(2 / risk[:-1])), np.maximum(counts - seen, seen + rest - counts))
    bounds[:1] = 0.0  # only the source is at distance 0
    beyond = min(factor * math.sqrt(math.log(1 / risk[-1])), rest) if len(counts) < n else 0.0
    return counts, bounds, beyond
