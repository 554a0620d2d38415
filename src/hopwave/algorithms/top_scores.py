"""The vertices with the highest closeness or harmonic centrality, without full searches from all vertices.

    r(v)       number of vertices that v reaches, including v: between low(v) and high(v)
    bound(v)   an upper bound of the score of v
    least      the k-th highest score so far

Scores and their order are exact (Bergamini, Borassi, Crescenzi, Marino & Meyerhenke 2019). Three bounds skip or end
searches:

1. By degrees. v has d(v) neighbours, and at most Σ (d(u) − 1) vertices are two hops away; all others are farther.
2. By levels, in undirected graphs. A full search from a pivot gives levels: a vertex of level i is at least |i − j|
   away from a vertex of level j, and at least 2 unless they are neighbours. Half of the pivots are the vertices with
   the best bounds so far, the others are as far as possible from all pivots.
3. By the progress of a search (engines/cpu/many/cut.py): it is stopped once its score is below `least`.

Searches start from vertices in descending order of bounds, until the next bound is below `least`; equal scores are
never skipped. Full searches share their steps, 64 at a time; searches that may stop early do not. So every round begins
with a few that may stop early, and continues with full searches if these inspect fewer arcs.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hopwave.algorithms import distances
from hopwave.algorithms.many_sources import block_rows, polled, probed_depth, sweep
from hopwave.engines import Engine
from hopwave.graph import Graph
from hopwave.planning.jobs import Floats, Integers, Progress
from hopwave.planning.many_sources import CentralityScore, CutSweep, Poll, Sweep

SMALL = 256  # up to this many vertices, all searches run in one batch
PIVOTS = 16  # pivots with the best bounds, and as many far from all others
MAX_LEVELS = 2048  # maximum levels of a pivot's search: bounds by levels need levels² steps
PROBE = 16  # searches at the start of a round that may stop early
ROUND, GROWTH = 512, 2  # searches of the first round, and growth per round: `least` changes little later
ROUNDED = 1e-10  # upper bound on the relative rounding error of a score


def shared_arc(depth: int) -> float:
    """Cost of an arc per search if 64 searches share their steps, relative to one that may stop early; measured."""
    return min(0.5, max(1 / 32, depth / 256))


@dataclass(frozen=True)
class Searches:
    """The numbers of full searches, of searches stopped early, and of skipped searches.

    >>> str(Searches(32, 1200, 35460))
    '32 full searches, 1,200 stopped early, 35,460 skipped'
    """

    whole: int
    cut_off: int
    skipped: int

    def __str__(self) -> str:
        return f"{self.whole:,} full searches, {self.cut_off:,} stopped early, {self.skipped:,} skipped"


class Best:
    """The highest scores found so far, highest first; ties in vertex order."""

    def __init__(self, top: int) -> None:
        self.top, self.least = top, 0.0
        self.searched = np.empty(0, np.int64)  # the vertices with full searches
        self.vertices, self.scores = np.empty(0, np.int64), np.empty(0)
        self.searches = Searches(0, 0, 0)

    def add(self, vertices: Integers, scores: Floats) -> None:
        """Add vertices with full searches, and their scores."""
        self.searched = np.append(self.searched, vertices)
        vertices, scores = np.append(self.vertices, vertices), np.append(self.scores, scores)
        best = np.lexsort((vertices, -scores))[: self.top]
        self.vertices, self.scores = vertices[best], scores[best]
        if len(best) == self.top:
            self.least = float(self.scores[-1]) * (1 - ROUNDED)


def highest(
    engine: Engine,
    graph: Graph,
    top: int,
    score: CentralityScore,
    title: str,
    progress: Progress = None,
    threads: int | None = None,
) -> Best:
    """The `top` vertices with the highest scores, by distances along the arcs *out of* a vertex."""
    n, best = graph.n, Best(top)

    def search_all(some: Integers, progress: Progress) -> None:
        found = sweep(engine, graph, Sweep(some, "sums"), title, progress, threads)
        best.add(some, scores_of(score, found.reached, found.total, found.inverse, n))

    if n <= SMALL or 2 * top >= n:
        search_all(np.arange(n, dtype=np.int64), progress)
        best.searches = Searches(n, 0, 0)
        return best
    low, high = engine.reach_bounds(graph)
    bound = degree_bounds(graph, score, low, high)
    if not graph.directed:
        tighten(engine, graph, score, high, bound, best, threads)
    order = np.argsort(-bound, kind="stable").astype(np.int64)
    order = order[~np.isin(order, best.searched)]
    share = shared_arc(probed_depth(engine, graph, threads)) * graph.m
    at, cut_off, size = 0, 0, ROUND

    def search_cut(some: Integers, poll: Poll) -> int:
        nonlocal cut_off
        job = CutSweep(some, score, best.least, low, high)
        found = engine.cut_sweep(graph, job, lambda now: poll(at + now), threads)
        scores = scores_of(score, found.reached, found.total, found.inverse, n)
        best.add(some[found.whole], scores[found.whole])
        cut_off += int((~found.whole).sum())
        return found.arcs

    with polled(title, n, progress) as poll:
        while at < len(order) and bound[order[at]] >= best.least:
            some = order[at : at + (PROBE if best.least else top)]
            if not best.least:  # the first `top` scores come from full searches: `least` is not known yet
                search_all(some, False)
                at += len(some)
                continue
            arcs = search_cut(some, poll)
            at += len(some)
            rest = order[at : at + size]
            rest = rest[bound[rest] >= best.least]
            if arcs <= share * len(some):
                search_cut(rest, poll)
            else:
                search_all(rest, False)
            at, size = at + len(rest), GROWTH * size
            poll(at)
    whole = len(best.searched)
    best.searches = Searches(whole, cut_off, n - whole - cut_off)
    return best


def scores_of(score: CentralityScore, reached: Integers, total: Integers | Floats, inverse: Floats, n: int) -> Floats:
    """Scores from sums over distances."""
    if score == "harmonic":
        return inverse
    return distances.closeness(reached, total, n, score == "wasserman_faust")


def degree_bounds(graph: Graph, score: CentralityScore, low: Integers, high: Integers) -> Floats:
    """An upper bound of the score of each vertex, from its degree and its neighbours' degrees."""
    n, degree = graph.n, graph.degrees.astype(np.int64)
    back = 0 if graph.directed else 1  # one arc of each neighbour leads back
    running = np.concatenate([[0], np.cumsum(degree[graph.indices] - back)])
    second = running[graph.indptr[1:]] - running[graph.indptr[:-1]]

    def at(r: Integers) -> Floats:
        """The score if v reaches r vertices at the smallest possible distances."""
        near = np.minimum(degree, r - 1)
        far = np.minimum(second, r - 1 - near)
        rest = r - 1 - near - far
        return scores_of(score, r, near + 2 * far + 3 * rest, np.asarray(near + far / 2 + rest / 3), n)

    if score == "harmonic":
        return at(high) * (1 + ROUNDED)
    # As r grows, the distance per vertex rises at 1 + degree and at 1 + degree + second. Closeness is highest at one
    # of these, or at either end.
    turning = np.clip(1 + degree, low, high), np.clip(1 + degree + second, low, high)
    return np.asarray(np.max([at(r) for r in (low, high, *turning)], axis=0)) * (1 + ROUNDED)


def level_bounds(row: npt.NDArray[np.int32], degree: Integers, score: CentralityScore, r: int, n: int) -> Floats:
    """An upper bound of the score of each vertex that a pivot reaches. row, degree: their levels and degrees."""
    sizes = np.bincount(row).astype(np.float64)
    gaps = np.maximum(np.abs(np.arange(1.0 - len(sizes), len(sizes))), 2)
    weights = 1 / gaps if score == "harmonic" else gaps
    summed = np.convolve(sizes, weights)[len(sizes) - 1 : 2 * len(sizes) - 1][row]
    # `summed` counts the vertex and its neighbours at distance 2: correct both.
    inverse = summed - 0.5 + degree / 2
    total = np.maximum(summed - 2 - degree, r - 1)
    return scores_of(score, np.full(len(row), r), total, inverse, n) * (1 + ROUNDED)


def tighten(
    engine: Engine, graph: Graph, score: CentralityScore, r: Integers, bound: Floats, best: Best, threads: int | None
) -> None:
    """Lower the bounds of all vertices by full searches from pivots, and add the pivots' scores to `best`."""
    n, degree = graph.n, graph.degrees.astype(np.int64)
    near = np.full(n, np.iinfo(np.int32).max, np.int32)  # distance to the nearest pivot

    def search(pivots: Integers) -> None:
        rows = sweep(engine, graph, Sweep(pivots, "rows"), "pivots", False, threads).rows
        for pivot, row in zip(pivots, rows, strict=True):
            inside = np.flatnonzero(row >= 0)
            levels = row[inside]
            sizes = np.bincount(levels)
            depths = np.arange(len(sizes))
            inverse = np.cumsum(sizes[1:] * (1.0 / depths[1:]))[-1:].sum()  # summed in the engines' order
            sums = np.array([len(inside)]), np.array([sizes @ depths]), np.array([inverse])
            best.add(np.array([pivot]), scores_of(score, *sums, n))
            np.minimum(near, row, out=near)
            if len(sizes) <= MAX_LEVELS:
                found = level_bounds(levels, degree[inside], score, int(r[pivot]), n)
                bound[inside] = np.minimum(bound[inside], found)

    search(np.argsort(-bound, kind="stable")[: min(PIVOTS, block_rows(n))].astype(np.int64))
    for _ in range(PIVOTS):
        farthest = int(np.argmax(near))
        if near[farthest] < 2:
            return
        search(np.array([farthest], np.int64))
