"""Error bounds of betweenness from a fixed number of sampled sources (`k=`); docs/bounds.md contains the proofs.

X_s   contribution of source s to a score, as a share of the n − 2 (or n − 1) targets: in [0, R]
R     upper bound on the share of targets behind a vertex (or an arc)
N     a score is a mean over N sources: all vertices but its own (n − 1); with endpoints and for edges all (n)
p     the mean of X over all N sources: the exact score, normalised        p̂   its mean over the k drawn sources
w(p)  share of the risk delta for a score of p; the shares of all scores add up to at most 1
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from hopwave import engines
from hopwave.algorithms.brandes import SourceRun, scale
from hopwave.arrays import Array, Deferred, ignoring, on_host, uploaded
from hopwave.graph import Graph
from hopwave.planning.jobs import BetweennessJob, Floats

GRID = 2048  # number of means with computed bounds; other means use the bounds of the next, on the safe side
HALVINGS = 30  # steps of the bisection for the endpoint of an interval
ROUNDED = 1 + 1e-6  # factor that makes a rounded sum an upper bound
SQUARES_FROM = 128  # minimum sources for estimating the variance
REFINED = 4096  # number of scores with a second bound: the highest, whose bounds are the widest
VARIANCES = (1, 1 / 5, 1 / 25)  # of X, as multiples of p (1 − p)
CAPS = (0.4, 0.5, 0.6, 0.7, 0.85, 1.0, 1.4)  # t of "Symmetric graphs", as multiples of √(p / R)
MOST_LOST = 0.9  # maximum `a` of "Variance": the largest share that a bet may lose


@dataclass(frozen=True)
class Sample:
    """A sample of k of N sources; `scores` scores share the risk delta. `load`; `both_ways`: R or None (see above)."""

    k: int
    N: int
    scores: int
    load: float
    delta: float
    both_ways: float | None = None

    def needed(self, p: Floats) -> Floats:
        """The evidence that excludes p: log(2 / (delta · w(p)))."""
        share = 1 / self.scores if math.isinf(self.load) else p / (2 * self.load) + 1 / (2 * self.scores)
        return np.asarray(np.log(2 / (self.delta * share)))


def with_squares(run: SourceRun, job: BetweennessJob) -> BetweennessJob:
    """The job, with sums of squares if the sample is large enough and the engine supports them."""
    if job.edges or job.endpoints or len(job.sources) < SQUARES_FROM:
        return job
    more = replace(job, squares=True)
    return job if run.engine.why_not(run.plan, more) else more


def deferred_bounds(
    graph: Graph, job: BetweennessJob, sums: Floats, delta: float, normalized: bool, demand: float, upload: bool
) -> Array:
    """The bounds of a sample times `demand`, computed when first read. `upload`: whether to copy them to the GPU."""

    def fetch() -> Array:
        found = sample_bounds(graph, job, on_host(sums), delta, normalized) * demand
        return uploaded(found) if upload else found

    return Deferred(fetch)


def sample_bounds(graph: Graph, job: BetweennessJob, sums: Floats, delta: float, normalized: bool) -> Floats:
    """The bound of each score, scaled like the scores, from the sums (and sums of squares); NaN without a draw."""
    n, k, inner = graph.n, len(job.sources), not (job.endpoints or job.edges)
    sums, squares = (sums[:n], sums[n:]) if job.squares else (sums, None)
    N, most = (n - 1, n - 2) if inner else (n, n - 1)
    if most < 1 or k == n:  # no pairs exist, or the scores are exact
        return np.zeros(len(sums))
    mean = scale(sums, n, normalized=True, directed=True, endpoints=not inner, sampled=job.sources)
    load = load_bound(graph, job, sums, N * most)
    square = None if squares is None else squares / (k * float(most) ** 2)
    ranges = ranges_of(graph, job, engines.engine("cpu").reach_bounds(graph)[1], most)
    scores = int(np.count_nonzero(ranges)) // (2 if job.edges and not graph.directed else 1)
    sample = Sample(k, N, scores, load, delta, both_ways=1.0 if leads_back(graph, job) else None)
    bounds = half_widths(mean, sample, square, ranges)
    if inner:  # a drawn source adds nothing to its own score
        own, others = job.sources, replace(sample, k=k - 1)
        squares = None if square is None else square[own] * (k / (k - 1))
        bounds[own] = half_widths(mean[own], others, squares, ranges[own])
    return bounds if normalized else bounds * (N * most / (1 if graph.directed else 2))


def leads_back(graph: Graph, job: BetweennessJob) -> bool:
    """Whether shortest paths from t to s are reverses of those from s to t. Sums of non-integer weights are rounded."""
    if graph.directed or job.has_demand:
        return False
    if not job.weighted:
        return True
    lengths = np.asarray(graph.weights)
    whole: bool = np.array_equal(lengths, np.floor(lengths))
    return whole and float(lengths.max(initial=0.0)) * graph.n < 2.0**53


@ignoring("divide", "invalid")  # ranges may be 0
def ranges_of(graph: Graph, job: BetweennessJob, reach: npt.NDArray[np.int64], most: int) -> Floats:
    """R of each score: 0 for vertices that are inside no path, else the largest R divided by a power of 2."""
    # Targets behind a vertex: those it reaches, and the vertex itself only with endpoints and for arcs. In an
    # undirected graph a vertex also reaches the source, which is not a target.
    behind = reach[graph.indices] if job.edges else reach if job.endpoints else reach - 1
    ranges = np.asarray(np.minimum(behind - (0 if graph.directed else 1), most) / most)
    if not (job.edges or job.endpoints):
        ends = graph.degrees < 2 if not graph.directed else (graph.degrees == 0) | (graph.in_degrees == 0)
        ranges[ends] = 0.0
    largest = float(ranges.max(initial=0.0))
    halvings = np.floor(np.log2(largest / ranges))
    return np.where(ranges > 0, largest * np.exp2(-halvings), 0.0)


def half_widths(mean: Floats, sample: Sample, square: Floats | None = None, ranges: Floats | None = None) -> Floats:
    """Simultaneous error bounds of all means, from means of squares and `ranges` (R of each score)."""
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
    """`half_widths` for draws in [0, 1]."""
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
        place = np.searchsorted(points, mean)  # the first point at or above the mean
        low, high = low[np.where(points[place] > mean, place - 1, place)], high[place]
    return np.asarray(np.maximum(high - mean, mean - low))


def _interval(mean: Floats, sample: Sample, square: Floats | None = None) -> tuple[Floats, Floats]:
    """The lowest and the highest p that these means (and means of squares) do not exclude."""
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
        """The most distant allowed p between the mean and `outside`, by bisection."""
        far, near = outside.copy(), mean.copy()
        done = allowed(far)
        for _ in range(HALVINGS):
            middle = (far + near) / 2
            fits = allowed(middle)
            near, far = np.where(fits, middle, near), np.where(fits, far, middle)
        return np.where(done, outside, far)

    # The X of the N − k sources that were not drawn are all 0 at one end, and all 1 at the other.
    return end(k * mean / N), end((k * mean + (N - k)) / N)


@ignoring("divide", "invalid")
def of_rows(mean: Floats, p: Floats, R: float) -> Floats:
    """The evidence per draw against a p above the mean, if draws are row sums of a symmetric matrix, divided by R."""
    best = np.zeros(len(mean))
    p = np.minimum(p, R)  # evidence against this p excludes every larger p
    heavy = R * (1 - np.sqrt(1 - p / R))
    for cap in CAPS:
        t = np.minimum(cap * np.sqrt(p / R), 1.0)
        drawn, least = mean / t, np.minimum(p - heavy * (1 - t), t * np.sqrt(R * p)) / t
        found = divergence(np.minimum(drawn, 1.0), np.minimum(least, 1.0))
        best = np.where(drawn < least, np.fmax(best, found), best)
    return best


@ignoring("divide", "invalid", "over")
def best_bet(mean: Floats, square: Floats, k: int, p: Floats, needed: Floats) -> Floats:
    """The evidence of the best bet against p, minus log(number of bets). The bets' factors depend on `needed`."""
    price = math.log(len(VARIANCES))
    room = np.where(p > mean, 1 - p, p)  # how far a draw can be from p, against the bet
    spread = np.maximum(square - 2 * p * mean + p * p, 0.0) + 1e-14 * (square + mean * mean + p * p)  # for rounding
    best = np.zeros(len(mean))
    for variance in VARIANCES:
        factor = np.minimum(np.sqrt(2 * (needed + price) / (k * variance * p * (1 - p))), MOST_LOST / room)
        a = np.maximum(factor * room, 1e-6)
        c = (-a - np.log1p(-a)) / (a * a)
        evidence = k * factor * (np.abs(p - mean) - c * factor * spread)
        best = np.fmax(best, evidence)
    return np.asarray(best - price)


def divergence(x: Floats, p: Floats) -> Floats:
    """KL(x, p), the relative entropy of x and p: infinite if p is 0 or 1 and x is not."""
    from scipy.special import rel_entr  # importing takes 0.1 s

    return np.asarray(rel_entr(x, p) + rel_entr(1 - x, 1 - p))


def load_bound(graph: Graph, job: BetweennessJob, sums: Floats, pairs: int) -> float:
    """An upper bound of Σ p over all scores; infinite if none is known: along weights, with demand, or if directed."""
    n, counted = graph.n, 0 if job.edges else 1 if job.endpoints else -1  # contribution of a path: hops + counted
    if job.weighted or job.has_demand:
        return math.inf
    if job.cutoff is not None:
        return max(float(job.cutoff) + counted, 0.0) * n * n / pairs + 1.0
    if graph.directed:
        return math.inf
    label = engines.engine("cpu").components(graph, strong=False)
    size = np.bincount(label).astype(np.float64)
    drawn = np.bincount(label[job.sources], minlength=len(size))
    if job.edges:
        of_scores, sums = np.repeat(label, graph.degrees), sums / 2  # each edge's sum is stored at both of its arcs
    else:
        of_scores = label
    total = np.bincount(of_scores, sums, minlength=len(size)) * ROUNDED
    mean = total / np.maximum(drawn, 1)  # of Σ_t (d(s, t) + counted) over the sources s in the component
    through = 2 * (size - 1) * mean - counted * (size - 1) * (size - 2)
    return float(np.where(drawn > 0, through, size**3).sum()) / pairs + 1.0
