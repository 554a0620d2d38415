"""How far betweenness may be off after a sample of sources that is not adaptive (`k=`).

    X_s   what source s adds to a score, as a share of the most it can add: in [0, 1]
    N     the sources that a score is the mean of: the n − 1 others for inner vertices; all n for ends and for edges
    p     the mean of X over all N: the exact score, normalised        p̂   its mean over the k that were drawn
    w(p)  the share of the risk delta of a score that is p. All shares together are at most 1

Sources are drawn without replacement, so p̂ is farther above or below p with a probability of at most
exp(−k KL(p̂, p)), where KL(x, p) = x log(x / p) + (1 − x) log((1 − x) / (1 − p)): Chernoff's bound, by Hoeffding
(1963), Theorem 1, and Theorem 4 for draws without replacement. The bound of a score reaches as far as the last p with
k KL(p̂, p) ≤ log(2 / (delta w(p))). The N − k sources that were not drawn are such a sample, too: once they are fewer,
the bound follows from their mean, which p and p̂ imply, and shrinks to 0 as k grows to N. It needs no second moments.

Variance. X varies less than a coin with the same p, and a second bound uses that: the run adds up X², too. For a factor
l > 0 and y = l (X − p) ≥ −a, exp(y − c y²) ≤ 1 + y, where c = (−a − log(1 − a)) / a². The mean of the right side is
1, so that exp(Σ (y − c y²)) has a mean of at most 1, without replacement too (Hoeffding, Theorem 4, for the values
y − c y²), and exceeds 1 / risk with at most that risk. The sum needs k, p̂ and Σ X² alone. (Waudby-Smith & Ramdas 2024
call it a bet on p.) The factors are fixed for each p: the best ones, if the variance were one of VARIANCES. All of them
share half of the risk evenly, and Chernoff's bound has the other half. From SQUARES_FROM sources on, the highest scores
have both bounds, and the narrower one counts.

Shares. All p together are `load`, the mean number of vertices (or arcs) of a path that are counted, so few scores are
high: half of the risk is divided in proportion to p, w(p) = p / load, and half evenly. In an undirected graph, a path
may lead through any source s, so that Σ_uv d(u, v) ≤ 2 c Σ_t d(s, t) in a component of c vertices. What the sample
summed to therefore gives an upper bound of the load that never fails. Where there is none, all risk is divided evenly.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from hopwave.algorithms.scaling import scale
from hopwave.graph import Graph
from hopwave.jobs import Floats, Job

GRID = 2048  # means for which bounds are computed; others take those of the next, on the safe side
HALVINGS = 30  # of an interval that contains the end of a bound
ROUNDED = 1 + 1e-6  # more than rounding can take from a sum
SQUARES_FROM = 128  # sources: fewer say too little about how much they vary
REFINED = 4096  # scores that have the second bound: the highest ones, whose bounds are the widest
VARIANCES = (1, 1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32)  # of X, as shares of p (1 − p)
MOST_LOST = 0.8  # a above: the largest share that a bet may lose

Labels = Callable[[], npt.NDArray[np.int32]]


def sample_bounds(graph: Graph, job: Job, sums: Floats, labels: Labels, delta: float, normalized: bool) -> Floats:
    """The bound of each score of a sample, scaled as the scores are. NaN where no source counts for a score.

    `sums` over the sources of the job, both directions of an undirected edge added up, and behind them the sums of
    squares if the job has them. `labels()` returns the number of each vertex's component.
    """
    n, k, inner = graph.n, len(job.sources), not (job.endpoints or job.edges)
    sums, squares = (sums[:n], sums[n:]) if job.squares else (sums, None)
    N, most = (n - 1, n - 2) if inner else (n, n - 1)
    if most < 1:
        return np.zeros(len(sums))
    mean = scale(sums, n, normalized=True, directed=True, endpoints=not inner, sampled=job.sources)
    load = load_bound(graph, job, sums, labels, N * most)
    square = None if squares is None else squares / (k * float(most) ** 2)
    bounds = half_widths(mean, k, N, len(sums), load, delta, square)
    if inner:  # only the others count for a source
        own = None if square is None else square[job.sources] * (k / (k - 1))
        bounds[job.sources] = half_widths(mean[job.sources], k - 1, N, len(sums), load, delta, own)
        ends = graph.degrees < 2 if not graph.directed else (graph.degrees == 0) | (graph.in_degrees == 0)
        bounds[ends & ~np.isnan(bounds)] = 0.0  # never inside a path, whatever the sample
    return bounds if normalized else bounds * (N * most / (1 if graph.directed else 2))


def half_widths(
    mean: Floats, k: int, N: int, scores: int, load: float, delta: float, square: Floats | None = None
) -> Floats:
    """How far means over k of N draws from [0, 1] may be off, for all `scores` together, except with the risk delta.

    `square`: the means of their squares, for narrower bounds.

    >>> half_widths(np.array([0.0, 0.5]), 100, 10_000, 1000, np.inf, 0.1).round(3).tolist()
    [0.094, 0.212]
    >>> half_widths(np.array([0.0, 0.5]), 100, 100, 1000, np.inf, 0.1).tolist()
    [0.0, 0.0]
    """
    if k <= 0 or k == N:
        return np.full(len(mean), np.nan if k <= 0 else 0.0)
    mean = np.clip(mean, 0.0, 1.0)
    if square is not None:
        widths = half_widths(mean, k, N, scores, load, delta / 2)
        highest = np.argpartition(mean, -REFINED)[-REFINED:] if len(mean) > REFINED else np.arange(len(mean))
        low, high = _interval(mean[highest], k, N, scores, load, delta, square[highest])
        widths[highest] = np.maximum(high - mean[highest], mean[highest] - low)
        return widths
    if len(mean) <= GRID:
        low, high = _interval(mean, k, N, scores, load, delta)
    else:
        points = float(mean.max()) * np.linspace(0.0, 1.0, GRID) ** 2
        points[-1] = max(points[-1], float(mean.max()))
        low, high = _interval(points, k, N, scores, load, delta)
        place = np.searchsorted(points, mean)  # the first point that is not below
        low, high = low[np.where(points[place] > mean, place - 1, place)], high[place]
    return np.asarray(np.maximum(high - mean, mean - low))


def _interval(
    mean: Floats, k: int, N: int, scores: int, load: float, delta: float, square: Floats | None = None
) -> tuple[Floats, Floats]:
    """The lowest and the highest p that such means, and means of squares, do not exclude."""
    if square is not None:
        delta /= 2

    def allowed(p: Floats) -> npt.NDArray[np.bool_]:
        share = 1 / scores if math.isinf(load) else p / (2 * load) + 1 / (2 * scores)
        if 2 * k <= N:
            evidence = k * divergence(mean, p)
        else:
            rest = np.clip((N * p - k * mean) / (N - k), 0.0, 1.0)
            evidence = (N - k) * divergence(rest, p)
        needed = np.log(2 / (delta * share))
        fits = np.asarray(evidence <= needed)
        return fits if square is None else fits & (best_bet(mean, square, k, p, needed) <= needed)

    def end(outside: Floats) -> Floats:
        """From the mean, as far as p is allowed."""
        far, near = outside.copy(), mean.copy()
        done = allowed(far)
        for _ in range(HALVINGS):
            middle = (far + near) / 2
            fits = allowed(middle)
            near, far = np.where(fits, middle, near), np.where(fits, far, middle)
        return np.where(done, outside, far)

    # The sources that were not drawn add between nothing and as much as they can.
    return end(k * mean / N), end((k * mean + (N - k)) / N)


def best_bet(mean: Floats, square: Floats, k: int, p: Floats, needed: Floats) -> Floats:
    """The evidence against p of the best bet, less its price: log of the number of bets. `needed` sets their factors.

    >>> few, none = np.array([0.02]), np.array([np.log(1000.0)])
    >>> bool(best_bet(np.array([0.1]), few, 1000, np.array([0.12]), none)[0] > 0)
    True
    """
    price = math.log(len(VARIANCES))
    room = np.where(p > mean, 1 - p, p)  # how far a draw can be from p, against the bet
    spread = np.maximum(square - 2 * p * mean + p * p, 0.0) + 1e-14 * (square + mean * mean + p * p)  # for rounding
    best = np.zeros(len(mean))
    for variance in VARIANCES:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            factor = np.minimum(np.sqrt(2 * (needed + price) / (k * variance * p * (1 - p))), MOST_LOST / room)
            a = np.maximum(factor * room, 1e-6)
            c = (-a - np.log1p(-a)) / (a * a)
            evidence = k * factor * (np.abs(p - mean) - c * factor * spread)
        best = np.fmax(best, evidence)
    return np.asarray(best - price)


def divergence(x: Floats, p: Floats) -> Floats:
    """KL(x, p), the relative entropy of x and p: infinite where p is 0 or 1 and x is not.

    >>> divergence(np.array([0.5, 0.0]), np.array([0.5, 0.5])).round(4).tolist()
    [0.0, 0.6931]
    """
    from scipy.special import rel_entr  # a tenth of a second to import

    return np.asarray(rel_entr(x, p) + rel_entr(1 - x, 1 - p))


def load_bound(graph: Graph, job: Job, sums: Floats, labels: Labels, pairs: int) -> float:
    """At least Σ p over all scores, infinite where nothing is known: along weights, and in a directed graph.

    >>> path = Graph.from_edges([0, 1], [1, 2])
    >>> load_bound(path, Job(np.array([0])), np.array([0.0, 1.0, 0.0]), lambda: np.zeros(3, np.int32), 2) >= 1.0
    True
    """
    n, counted = graph.n, 0 if job.edges else 1 if job.endpoints else -1  # of a path, beside its hops
    if job.weighted:
        return math.inf
    if job.cutoff is not None:
        return max(float(job.cutoff) + counted, 0.0) * n * n / pairs + 1.0
    if graph.directed:
        return math.inf
    label = labels()
    size = np.bincount(label).astype(np.float64)
    drawn = np.bincount(label[job.sources], minlength=len(size))
    if job.edges:
        of_scores, sums = np.repeat(label, graph.degrees), sums / 2  # both arcs of an edge have its sum
    else:
        of_scores = label
    total = np.bincount(of_scores, sums, minlength=len(size)) * ROUNDED
    mean = total / np.maximum(drawn, 1)  # over the component's own sources, of Σ_t (d(s, t) + counted)
    through = 2 * (size - 1) * mean - counted * (size - 1) * (size - 2)
    return float(np.where(drawn > 0, through, size**3).sum()) / pairs + 1.0
