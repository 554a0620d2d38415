"""How far betweenness may be off after a sample of sources that is not adaptive (`k=`).

    X_s   what source s adds to a score, as a share of the n − 2 (or n − 1) targets: in [0, R]
    R     the share of the targets that lie behind a vertex (or an arc), at most: see "Reach" below
    N     the sources that a score is the mean of: the n − 1 others for inner vertices; all n for ends and for edges
    p     the mean of X over all N: the exact score, normalised        p̂   its mean over the k that were drawn
    w(p)  the share of the risk delta of a score that is p. All shares together are at most 1

Let R be 1 first. Sources are drawn without replacement, so p̂ is farther above or below p with a probability of at most
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
Vertices that can be inside no path need no share.

Both ways. Without weights, or if these are whole numbers, the paths of an undirected graph from s to t are those from t
to s: the X_s of all s are the row sums of a symmetric matrix with entries from 0 to 1, over N. Let H be the sources
whose X is above t, and h their share of all. They cannot add much unless the others do, too, in the columns of H.
Y = min(X, t) has a mean q with q ≥ p − h (1 − t), as X ≤ 1; with q ≥ (p − h²) / 2 + h t, as the rows of H have at most
h² in their own columns, and in the others at most what the other rows have in all, q − h t; and with q ≥ h t. The
lowest q that they allow is where the first two meet, at h = 1 − √(1 − p), or the last two, at h = √p: the smaller of
p − h (1 − t) and t √p. Y is in [0, t], and its mean over the draws is at most p̂: Chernoff's bound for Y / t. For each t
it excludes a p̂ below some number, and so does the bound of X: they share one risk. (With R, h² is h² / R, and h is
R − √(R² − R p) or √(R p).)

Reach. A path goes on from a vertex to what the vertex reaches, and R is the share of all targets which that is at most:
those of its component, or in a directed graph, those that are counted along its strong components (reach_bounds). The
bounds are those of X / R, times R. To have few different R, they are rounded up to halves of the largest, its quarters
and so on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from hopwave import engines
from hopwave.algorithms.brandes import SourceRun
from hopwave.algorithms.scaling import scale
from hopwave.arrays import Array, Deferred, uploaded
from hopwave.graph import Graph
from hopwave.planning.jobs import BetweennessJob, Floats

GRID = 2048  # means for which bounds are computed; others take those of the next, on the safe side
HALVINGS = 30  # of an interval that contains the end of a bound
ROUNDED = 1 + 1e-6  # more than rounding can take from a sum
SQUARES_FROM = 128  # sources: fewer say too little about how much they vary
REFINED = 4096  # scores that have the second bound: the highest ones, whose bounds are the widest
VARIANCES = (1, 1 / 5, 1 / 25)  # of X, as shares of p (1 − p)
CAPS = (0.4, 0.5, 0.6, 0.7, 0.85, 1.0, 1.4)  # of rows, as shares of √(p / R)
MOST_LOST = 0.9  # a above: the largest share that a bet may lose


@dataclass(frozen=True)
class Sample:
    """What the bounds of all scores share: k draws out of N, and a risk delta that so many `scores` divide by `load`.

    `both_ways`: the draws are row sums of a symmetric matrix ("Both ways" above) divided by this number, or None.
    """

    k: int
    N: int
    scores: int
    load: float
    delta: float
    both_ways: float | None = None

    def needed(self, p: Floats) -> Floats:
        """The evidence that excludes p: it is wrong with no more than the share of the risk that a score of p has."""
        share = 1 / self.scores if math.isinf(self.load) else p / (2 * self.load) + 1 / (2 * self.scores)
        return np.asarray(np.log(2 / (self.delta * share)))


def with_squares(run: SourceRun, job: BetweennessJob) -> BetweennessJob:
    """The job of a sample, which also adds up squares if the sample is large enough for them and the engine can."""
    if job.edges or job.endpoints or len(job.sources) < SQUARES_FROM:
        return job
    more = replace(job, squares=True)
    return job if run.engine.why_not(run.plan, more) else more


def deferred_bounds(
    graph: Graph, job: BetweennessJob, sums: Floats, delta: float, normalized: bool, upload: bool
) -> Array:
    """The bounds of a sample, Deferred: computed when they are first read. `upload`: they are wanted on the GPU."""

    def fetch() -> Array:
        found = sample_bounds(graph, job, sums, delta, normalized)
        return uploaded(found) if upload else found

    return Deferred(fetch)


def sample_bounds(graph: Graph, job: BetweennessJob, sums: Floats, delta: float, normalized: bool) -> Floats:
    """The bound of each score of a sample, scaled as the scores are. NaN where no source counts for a score.

    `sums` over the sources of the job, both directions of an undirected edge added up, and behind them the sums of
    squares if the job has them.
    """
    n, k, inner = graph.n, len(job.sources), not (job.endpoints or job.edges)
    sums, squares = (sums[:n], sums[n:]) if job.squares else (sums, None)
    N, most = (n - 1, n - 2) if inner else (n, n - 1)
    if most < 1 or k == n:  # no score, or none that the sample could miss
        return np.zeros(len(sums))
    mean = scale(sums, n, normalized=True, directed=True, endpoints=not inner, sampled=job.sources)
    load = load_bound(graph, job, sums, N * most)
    square = None if squares is None else squares / (k * float(most) ** 2)
    ranges = ranges_of(graph, job, engines.engine("cpu").reach_bounds(graph)[1], most)
    scores = int(np.count_nonzero(ranges)) // (2 if job.edges and not graph.directed else 1)
    sample = Sample(k, N, scores, load, delta, both_ways=1.0 if leads_back(graph, job) else None)
    bounds = half_widths(mean, sample, square, ranges)
    if inner:  # only the others count for a source
        own, others = job.sources, replace(sample, k=k - 1)
        squares = None if square is None else square[own] * (k / (k - 1))
        bounds[own] = half_widths(mean[own], others, squares, ranges[own])
    return bounds if normalized else bounds * (N * most / (1 if graph.directed else 2))


def leads_back(graph: Graph, job: BetweennessJob) -> bool:
    """Whether the shortest paths from t to s are those from s to t. Along weights, sums must not be rounded, because
    they are added up in the order of the path: whole numbers are not.

    >>> road, job = Graph.from_edges([0, 1], [1, 2], weights=[1.0, 2.0]), BetweennessJob(np.array([0]), weighted=True)
    >>> leads_back(road, job), leads_back(road.with_weights(road.weights / 10), job)
    (True, False)
    """
    if graph.directed or not job.weighted:
        return not graph.directed
    lengths = np.asarray(graph.weights)
    whole: bool = np.array_equal(lengths, np.floor(lengths))
    return whole and float(lengths.max(initial=0.0)) * graph.n < 2.0**53


def ranges_of(graph: Graph, job: BetweennessJob, reach: npt.NDArray[np.int64], most: int) -> Floats:
    """R of each score: 0 for vertices that can be inside no path, else the largest R, or a half of it, a quarter …

    >>> two = Graph.from_edges([0, 1, 3], [1, 2, 4])  # a path of three vertices, and an edge
    >>> ranges_of(two, BetweennessJob(np.array([0])), np.array([3, 3, 3, 2, 2]), 3).round(2).tolist()
    [0.0, 0.33, 0.0, 0.0, 0.0]
    """
    # What is behind a vertex, itself not included; with a path's end and for arcs, itself included. In an undirected
    # graph, what is behind a vertex is neither the source nor before it.
    behind = reach[graph.indices] if job.edges else reach if job.endpoints else reach - 1
    ranges = np.asarray(np.minimum(behind - (0 if graph.directed else 1), most) / most)
    if not (job.edges or job.endpoints):
        ends = graph.degrees < 2 if not graph.directed else (graph.degrees == 0) | (graph.in_degrees == 0)
        ranges[ends] = 0.0
    largest = float(ranges.max(initial=0.0))
    with np.errstate(divide="ignore", invalid="ignore"):  # where a range is 0, or all are
        halvings = np.floor(np.log2(largest / ranges))
    return np.where(ranges > 0, largest * np.exp2(-halvings), 0.0)


def half_widths(mean: Floats, sample: Sample, square: Floats | None = None, ranges: Floats | None = None) -> Floats:
    """How far the means of a sample may be off, for all scores together, except with the risk delta.

    `square`: the means of their squares, for narrower bounds. `ranges`: the draws are from 0 to so much; 1 if None.

    >>> means, sample = np.array([0.0, 0.5]), Sample(100, 10_000, scores=1000, load=np.inf, delta=0.1)
    >>> half_widths(means, sample).round(3).tolist()
    [0.094, 0.212]
    >>> half_widths(means, replace(sample, k=10_000)).tolist()
    [0.0, 0.0]
    >>> half_widths(np.array([0.25]), sample, ranges=np.array([0.5])).round(3).tolist()
    [0.106]
    """
    if sample.k <= 0 or sample.k == sample.N:
        return np.full(len(mean), np.nan if sample.k <= 0 else 0.0)
    if ranges is None:
        return _unit_half_widths(mean, sample, square)
    widths = np.zeros(len(mean))
    for R in np.unique(ranges[ranges > 0]):
        of = ranges == R
        both_ways = None if sample.both_ways is None else sample.both_ways * float(R)
        scaled = replace(sample, load=sample.load / R, both_ways=both_ways)
        squares = None if square is None else square[of] / R**2
        widths[of] = R * _unit_half_widths(mean[of] / R, scaled, squares)
    return widths


def _unit_half_widths(mean: Floats, sample: Sample, square: Floats | None) -> Floats:
    """The same for draws from 0 to 1."""
    mean = np.clip(mean, 0.0, 1.0)
    if square is not None:
        half = replace(sample, delta=sample.delta / 2)  # the other half is for the bound by squares
        widths = _unit_half_widths(mean, half, None)
        highest = np.argpartition(mean, -REFINED)[-REFINED:] if len(mean) > REFINED else np.arange(len(mean))
        low, high = _interval(mean[highest], half, square[highest])
        widths[highest] = np.maximum(high - mean[highest], mean[highest] - low)
        return widths
    if len(mean) <= GRID:
        low, high = _interval(mean, sample)
    else:
        points = float(mean.max()) * np.linspace(0.0, 1.0, GRID) ** 2
        points[-1] = max(points[-1], float(mean.max()))
        low, high = _interval(points, sample)
        place = np.searchsorted(points, mean)  # the first point that is not below
        low, high = low[np.where(points[place] > mean, place - 1, place)], high[place]
    return np.asarray(np.maximum(high - mean, mean - low))


def _interval(mean: Floats, sample: Sample, square: Floats | None = None) -> tuple[Floats, Floats]:
    """The lowest and the highest p that such means, and means of squares, do not exclude."""
    k, N = sample.k, sample.N

    def allowed(p: Floats) -> npt.NDArray[np.bool_]:
        if 2 * k <= N:
            evidence = k * divergence(mean, p)
        else:
            rest = np.clip((N * p - k * mean) / (N - k), 0.0, 1.0)
            evidence = (N - k) * divergence(rest, p)
        if sample.both_ways is not None and (p > mean).any():
            evidence = np.maximum(evidence, k * of_rows(mean, p, sample.both_ways))
        needed = sample.needed(p)
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


def of_rows(mean: Floats, p: Floats, R: float) -> Floats:
    """The evidence of one draw against a p above the mean, where draws are row sums of a symmetric matrix, over R.

    >>> few, much = np.array([0.03]), np.array([0.12])
    >>> (divergence(few, much) < of_rows(few, much, 1.0)).tolist()
    [True]
    """
    best = np.zeros(len(mean))
    p = np.minimum(p, R)  # what excludes this p excludes every larger one
    heavy = R * (1 - np.sqrt(1 - p / R))
    for cap in CAPS:
        t = np.minimum(cap * np.sqrt(p / R), 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            drawn, least = mean / t, np.minimum(p - heavy * (1 - t), t * np.sqrt(R * p)) / t
            found = divergence(np.minimum(drawn, 1.0), np.minimum(least, 1.0))
        best = np.where(drawn < least, np.fmax(best, found), best)
    return best


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


def load_bound(graph: Graph, job: BetweennessJob, sums: Floats, pairs: int) -> float:
    """At least Σ p over all scores, infinite where nothing is known: along weights, and in a directed graph.

    >>> path = Graph.from_edges([0, 1], [1, 2])
    >>> job, sums = BetweennessJob(np.array([0])), np.array([0.0, 1.0, 0.0])
    >>> load_bound(path, job, sums, 2) >= 1.0
    True
    """
    n, counted = graph.n, 0 if job.edges else 1 if job.endpoints else -1  # of a path, beside its hops
    if job.weighted:
        return math.inf
    if job.cutoff is not None:
        return max(float(job.cutoff) + counted, 0.0) * n * n / pairs + 1.0
    if graph.directed:
        return math.inf
    label = engines.engine("cpu").components(graph, strong=False)
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
