"""Shortest paths by products: hops; lengths over min-plus, by Bellman-Ford's rounds and Δ-stepping; betweenness.

A   weights: A(u, v) is the length of the arc u → v, never negative      d   the distances found so far
f   the vertices whose distance was shortened, with the new one         t   offers: the distances through f
Δ   the width of a bucket        L, H   the light arcs of A, at most Δ long, and the heavy ones

Hops: push-pull, Algorithm 1, which is `linalg.waves` over any_pair.
Bellman-Ford: Kepner and Gilbert, Graph Algorithms in the Language of Linear Algebra (2011), chapter 5. The vector is
sparse while few distances change, so that a round is cheap, and dense otherwise (push-pull, section 6.3).
Δ-stepping: Meyer and Sanders, Δ-stepping: a parallelizable shortest path algorithm (2003); as products: Sridhar et al.,
Delta-stepping SSSP: from vertices and edges to GraphBLAS implementations (2019), figure 2.
Betweenness: Brandes, A faster algorithm for betweenness centrality (2001); as products: Buluç and Gilbert, The
Combinatorial BLAS (2011), section 5.1, and LAGr_Betweenness. A masked product advances several sources by a level. It
pulls if fewer arcs enter unvisited vertices than leave the level before (push-pull, section 5.6).

F   F(s, v): the number of shortest paths from source s to v, for v of one level        P   F of all levels so far
D   D(s, v): the dependency of s on v, for one level: Σ_{w after v} σ(v)/σ(w) · (1 + D(s, w))
"""

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hopwave.algebra.matrix import Matrix, as_matrix
from hopwave.algebra.operators import binary, monoid, refuse_masked, unary
from hopwave.algebra.semiring import any_pair, semiring
from hopwave.algebra.vector import Shares, Vector
from hopwave.arrays import as_array
from hopwave.checks.numbers import is_number, is_whole
from hopwave.errors import GraphError
from hopwave.linalg.algorithms.operands import check_lengths, extremes, place, square
from hopwave.linalg.elementwise import apply, ewise_add, ewise_mult, select
from hopwave.linalg.fixpoint import waves
from hopwave.linalg.masking import assign
from hopwave.linalg.products import mxm, reduce, vxm

min_plus, plus_first, least, less = semiring.min_plus, semiring.plus_first, binary.min, binary.lt
# A pull has no early exit here and reads every arc, so it is faster only if a push would read about as many.
CONVERT = Shares(rising=0.3, falling=0.2)  # the rule of the plan bellman-ford
MANY = 1000  # if a bucket has less than 1/MANY of the vertices, the next bucket is twice as wide
WIDE, CHAINS = 2, 48  # Δ = max(WIDE, CHAINS / (mean degree)²) · longest arc


def bfs(A: Any, source: int, *, device: str = "auto") -> Vector:
    """Hops from the source to every vertex it reaches, as a vector of int32.

    `hopwave.bfs` also accepts labels and returns a result object; this function returns a plain vector.

    Parameters
    ----------
    A : Matrix, Graph, or SciPy or CuPy sparse matrix
        The graph: an entry (i, j) is an arc from i to j.
    source : int
        Start vertex.
    device : {"auto", "cpu", "cuda"}, optional
        Device to run on; by default the device of `A`.

    Returns
    -------
    Vector
        Hops, int32; no entry for unreachable vertices.

    Examples
    --------
    >>> hw.linalg.bfs(hw.generate.grid(3, 3), 0).to_dense().tolist()
    [0, 1, 2, 1, 2, 3, 2, 3, 4]
    """
    A = as_matrix(A, weights=False)
    refuse_masked(source=source)
    f = Vector.from_entries([source], True, A.shape[0])
    levels: Vector = waves(f, A, any_pair, device=device).levels
    return levels


def sssp(A: Any, source: int | Sequence[int], *, device: str = "auto") -> Vector:
    """The length of a shortest path from the source to every vertex, infinite if there is none (Bellman-Ford).

    The values of the matrix (the weights of a Graph) are the lengths of the arcs. Without values every arc has length
    1.

    Parameters
    ----------
    source : int or list of int
        Start vertices of paths; with several sources, distances are from the nearest.

    Examples
    --------
    >>> A = la.Matrix.from_edges([0, 0, 1], [1, 2, 2], [1.0, 5.0, 2.0], shape=4)
    >>> la.algorithms.sssp(A, 0).to_dense().tolist()
    [0.0, 1.0, 3.0, inf]
    """
    A, d, f = _begin(A, source, device)
    while f.nnz:
        # A pull may read d instead of f: offers from vertices outside f are not shorter than d.
        t = vxm(d, A, min_plus, direction="pull") if f._decide() == "dense" else vxm(f, A, min_plus, direction="push")
        f = select(t, less, d)._follow(f)
        assign(d, f, accum=least)
    return d


def delta_stepping(A: Any, source: int | Sequence[int], delta: float | None = None, *, device: str = "auto") -> Vector:
    """Like `sssp`, nearest vertices first: one bucket of distances after another, each Δ wide.

    Light arcs may lead back into the bucket, so they are relaxed until the bucket no longer changes; heavy arcs lead
    out of it, and are relaxed once. A small Δ relaxes few arcs twice (like Dijkstra's algorithm), a large Δ has few
    buckets (like Bellman-Ford).

    Parameters
    ----------
    delta : float, optional
        Δ, the width of a bucket; by default chosen from the weights.
    A, source, device
        As in `sssp`.

    Examples
    --------
    >>> A = la.Matrix.from_edges([0, 0, 1], [1, 2, 2], [1.0, 5.0, 2.0], shape=4)
    >>> la.algorithms.delta_stepping(A, 0, delta=2.0).to_dense().tolist()
    [0.0, 1.0, 3.0, inf]
    """
    A, d, f = _begin(A, source, device)
    given = delta is not None
    if delta is not None and not (is_number(delta) and 0 < delta < math.inf):
        raise GraphError(f"delta={delta!r} is not a bucket width; pass a number above 0, or omit it")
    delta = default_delta(A) if delta is None else float(delta)
    L, H = split(A, delta)
    waiting = f  # the vertices whose arcs have not been relaxed
    while waiting.nnz:
        nearest = reduce(waiting, monoid.min)
        end = max(nearest + delta, math.nextafter(nearest, math.inf))  # no bucket is empty, however small Δ is
        bucket = select(waiting, less, end)
        while bucket.nnz:
            t = select(vxm(bucket, L, min_plus), less, d)
            assign(d, t, accum=least)
            assign(waiting, t, accum=least)
            bucket = select(t, less, end)._follow(bucket)
        settled = select(waiting, less, end)
        waiting = select(waiting, binary.ge, end)
        if not given and settled.nnz * MANY < A.shape[0]:
            # L is not rebuilt: arcs that became light stay in H, which is harmless.
            delta = min(2 * delta, sys.float_info.max)
        if H.nnz:
            t = select(vxm(settled, H, min_plus), less, d)
            assign(d, t, accum=least)
            assign(waiting, t, accum=least)
    return d


@dataclass
class LastSplit:
    """Cached with a matrix: the last Δ, whether the transpose was split, the light arcs and the heavy arcs."""

    split: tuple[float, bool, Matrix, Matrix] | None = None


def split(A: Matrix, delta: float) -> tuple[Matrix, Matrix]:
    """The light and the heavy arcs, cached with the matrix for the next source."""
    record = A._prepared.record(LastSplit)
    kept = record.split
    if kept is None or kept[:2] != (delta, A._turned):
        light = A if extremes(A)[1] <= delta else select(A, binary.le, delta)
        kept = record.split = (delta, A._turned, light, select(A, binary.gt, delta))
    return kept[2:]


def default_delta(A: Matrix) -> float:
    """A few times the longest arc. Each bucket costs a scan of all vertices, so buckets are wide if the mean degree is
    low: relaxing an arc twice then seldom causes further relaxations."""
    longest = extremes(A)[1]
    degree = A.nnz / max(A.shape[0], 1)
    return min(max(WIDE, CHAINS / max(degree, 1) ** 2) * longest, sys.float_info.max) if longest > 0 else 1.0


def _begin(A: Any, source: int | Sequence[int], device: str) -> tuple[Matrix, Vector, Vector]:
    """Returns the checked matrix; d, 0 at the sources and infinite elsewhere; f, which contains only the sources."""
    A = square(A, device, weights=True)
    check_lengths(A)
    d = Vector.full(A.shape[0], math.inf, device=A.device)
    refuse_masked(source=source)
    sources = np.unique([place(A, one) for one in np.atleast_1d(as_array(source, "source", GraphError)).tolist()])
    f = Vector.from_entries(sources.astype(np.int32), 0.0, A.shape[0]).to(A.device)
    f.rule = CONVERT
    return A, assign(d, f, accum=least), f


# ------------------------------------------------------------------ betweenness


def betweenness(A: Any, sources: Iterable[int] | None = None, batch: int = 32, *, device: str = "auto") -> Vector:
    """Σ_s D(s, v) for every v: betweenness without scaling; both directions of a pair count.

    This is the textbook form, `batch` sources at a time. hopwave.betweenness_centrality also normalises, is faster, and
    never overflows; here path counts that exceed float64 raise an error.

    Parameters
    ----------
    sources : iterable of int, optional
        Start vertices of paths; by default every vertex.
    batch : int, optional
        Number of sources per batch.

    Examples
    --------
    >>> la.algorithms.betweenness(hw.generate.path(4)).values.tolist()
    [0.0, 4.0, 4.0, 0.0]
    """
    if not is_whole(batch) or batch < 1:
        raise GraphError(f"batch={batch!r} is not a number of sources; pass an integer of at least 1")
    A = square(A, device)
    n = A.shape[0]
    if sources is not None and (not isinstance(sources, Iterable) or getattr(sources, "ndim", 1) == 0):
        raise GraphError(f"{sources!r} is not a list of vertices; for a single vertex, pass [{sources!r}]")
    all_of_them = np.array(range(n) if sources is None else [place(A, s) for s in sources], np.int64)
    total = Vector.full(n, 0.0, device=A.device)
    for some in (all_of_them[i : i + batch] for i in range(0, len(all_of_them), batch)):
        levels = forward(A, some)
        for D in backward(A, levels):
            assign(total, reduce(D, monoid.plus, axis=0), accum=binary.plus)
    return total


def forward(A: Matrix, sources: Any) -> list[Matrix]:
    """F of every level, beginning with the sources themselves."""
    count = len(sources)
    F = P = Matrix.from_edges(np.arange(count), sources, np.ones(count), shape=(count, A.shape[0])).to(A.device)
    levels = []
    while F.nnz:
        levels.append(F)
        F = mxm(F, A, plus_first, mask=P, complement=True, structural=True)
        P = ewise_add(P, F)
    if not math.isfinite(reduce(P, monoid.max)):
        raise GraphError("the number of shortest paths exceeds float64; use hopwave.betweenness_centrality")
    return levels


def backward(A: Matrix, levels: list[Matrix]) -> Iterable[Matrix]:
    """D of every level, from the last but one to the first after the sources."""
    D = None
    for F, nearer in zip(levels[:1:-1], levels[-2:0:-1], strict=True):
        ones = apply(F, unary.one, dtype="float64")
        W = ewise_mult(ones if D is None else ewise_add(D, ones), F, binary.div)  # (1 + D) / σ
        D = ewise_mult(mxm(W, A.T, plus_first, mask=nearer, structural=True), nearer)
        yield D
